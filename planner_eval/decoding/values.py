"""Values of a catalog's types as rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from planner_eval.catalogs.catalog import ANY, KINDS, Again, Parameter, Type
from planner_eval.catalogs.values import problem
from planner_eval.decoding.endless import Ends
from planner_eval.decoding.terms import EMPTY, NEVER, Expr, Named, Repeat, Rules, alt, opt, seq, words
from planner_eval.decoding.texts import FORMATS, KEY, LONGEST, Form, integer, number, quoted
from planner_eval.decoding.written import regex

_NUMBERS = frozenset(("integer", "number"))
_MOST_ITEMS = 32
_MOST_NUMBERS = 256
_MIX = "of several types of objects one may mix the fields"
UNLISTED = "fields that an object does not list are left out, also where it takes them"
ENDLESS = "values that never end, for their type needs itself, are left out"


@dataclass(slots=True)
class Values:
    """Makes rules for the values of one grammar.

    Args:
        rules: Where they go.
        form: How the notation writes values.
        texts: Whether the catalog writes every value as text.
        refers: What a reference may be at a call's place; NEVER where there is none.
        loose: Sentences on what is not held, with the codes of ``planeval check`` that find it.
        narrow: Sentences on what is not allowed, although the catalog does.
        opened: A call's place and what leads back to itself → its rule there; any value does, which has
            no document and no name.
        ends: Whether values of a type come to an end.
    """

    rules: Rules
    form: Form
    texts: bool = False
    refers: Callable[[int], Expr] = lambda at: NEVER
    loose: dict[str, tuple[str, ...]] = field(default_factory=dict)
    narrow: dict[str, None] = field(default_factory=dict)
    opened: dict[tuple[int, int, str], Named] = field(default_factory=dict)
    ends: Ends = field(init=False)

    def __post_init__(self) -> None:
        self.ends = Ends(self.form)

    def value(self, kind: Type, at: int) -> Expr:
        """A value of a type, or a reference, for a call at a place."""
        if kind.again is not None:
            return self._again(kind.again, at)
        made = [*self._literals(kind, at), self.refers(at)]
        return self.rules.rule(f"value_{_hint(kind)}_{at}", alt(made))

    # ------------------------------------------------------------ what a type allows
    def _literals(self, kind: Type, at: int) -> list[Expr]:
        simple = self._simple(kind)
        if any(each.kinds == () and each.enum is None for each in simple):
            return [self._anything(at)]
        constants = [one for each in simple for one in self._constants(each)]
        tokens = _without_covered(
            [one for one in constants if one[0] not in "[{"],
            [one for each in self._one_number(simple) if each.enum is None for one in self._patterns(each)],
        )
        arrays = [each for each in simple if each.enum is None and "array" in each.kinds]
        objects = [each for each in simple if each.enum is None and "object" in each.kinds]
        made = [self.rules.token(f"is_{_hint(kind)}", tokens)]
        for bracket in "[{":  # a token of its own, as of any list or object: engines do not go back behind it
            rest = words(one[1:] for one in constants if one[0] == bracket)
            made.append(seq(bracket, self.rules.token("listed_rest", rest)))
        if arrays:
            made.append(self._array(arrays, at))
        if objects and self.form.objects:
            made.append(self._object(objects, at))
        return made

    def _simple(self, kind: Type) -> list[Type]:
        """The type without alternatives: those of which one has to hold."""
        kind = kind.unfolded
        if not kind.any_of:
            return [kind]
        if kind.kinds or kind.enum is not None:
            self._say(
                "alternatives beside a type are not held",
                *("check.wrong_type", "check.enum", "check.missing_argument", "check.unknown_argument"),
            )
            return [replace(kind, any_of=())]
        return [one for each in kind.any_of for one in self._simple(each)]

    def _constants(self, kind: Type) -> list[str]:
        """The values that a type lists, as they are written."""
        listed = kind.enum or ()
        plain = Type(kind.kinds, format=kind.format)
        texts = [
            self.form.constant(value) for value in listed if problem(value, plain, texts=self.texts) is None
        ]
        if None in texts:
            self.narrow["a listed value that the notation cannot write is left out"] = None
        return [text for text in texts if text is not None]

    def _patterns(self, kind: Type) -> list[Expr]:
        """The tokens of a type's kinds."""
        form, found = self.form, []
        if "null" in kind.kinds:
            found.append(form.bare(form.null))
        if "boolean" in kind.kinds:
            found.append(form.bare(words(form.booleans)))
        if "number" in kind.kinds or "integer" in kind.kinds:
            found.append(form.bare(self._number(kind)))
        if "string" in kind.kinds:
            found.append(self._text(kind))
        return found

    def _one_number(self, simple: Sequence[Type]) -> Sequence[Type]:
        """The types with one kind of number: of several the first that fits would end the token too early."""
        several = [each for each in simple if each.enum is None and _NUMBERS.intersection(each.kinds)]
        if len(several) < 2:
            return simple
        self._say("of several types of numbers any number is taken", "check.wrong_type", "check.out_of_range")
        kind = "number" if any("number" in each.kinds for each in several) else "integer"
        left = [
            replace(each, kinds=tuple(one for one in each.kinds if one not in _NUMBERS)) for each in simple
        ]
        return [each for each in left if each.kinds or each.enum is not None] + [Type((kind,))]

    def _text(self, kind: Type) -> Expr:
        if kind.format is not None and kind.format in FORMATS:
            return seq(self.form.quote, FORMATS[kind.format](), self.form.quote)
        if any(limit is not None and limit > LONGEST for limit in kind.length):
            self._say(f"lengths of more than {LONGEST} characters are not held", "check.out_of_range")
        return self.form.text(kind.length)

    def _number(self, kind: Type) -> Expr:
        low, high = kind.minimum, kind.maximum
        whole = "number" not in kind.kinds
        if whole and low is not None and high is not None and high - low < _MOST_NUMBERS:
            plain = Type(("integer",), minimum=low, maximum=high, exclusive=kind.exclusive)
            near = range(int(low) - 1, int(high) + 2)
            return words(str(one) for one in near if problem(one, plain) is None)
        if low is not None or high is not None:
            self._say(
                "limits of numbers are not held, but for whole ones between two near", "check.out_of_range"
            )
        make = integer if whole else number
        return make(negative=low is None or low < 0)

    # ------------------------------------------------------------ lists and objects
    def _array(self, arrays: Sequence[Type], at: int) -> Expr:
        items = [each.items or ANY for each in arrays]
        size = arrays[0].size
        if len(arrays) > 1:
            self._say("of several types of lists one may mix the items", "check.wrong_type", "check.enum",
                      "check.out_of_range", "check.format")  # fmt: skip
            size = (None, None)
        item = self.value(items[0] if len(items) == 1 else Type(any_of=tuple(items)), at)
        if any(limit is not None and limit > _MOST_ITEMS for limit in size):
            self._say(f"sizes of more than {_MOST_ITEMS} items are not held", "check.out_of_range")
        return seq("[", self._several(item, size, at), "]")

    def _several(self, item: Expr, size: tuple[int | None, int | None], at: int) -> Expr:
        least = min(size[0] or 0, _MOST_ITEMS)
        most = size[1] if size[1] is not None and size[1] <= _MOST_ITEMS else None
        if most is not None and most < least:
            return NEVER
        rest: Expr = Repeat(seq(", ", item)) if most is None and item != NEVER else EMPTY
        for _ in range((most or 0) - max(least, 1)):
            rest = self.rules.rule(f"items_{at}", opt(seq(", ", item, rest)))
        needed = seq(item, *(seq(", ", item) for _ in range(least - 1)), rest)
        return EMPTY if most == 0 else needed if least else opt(needed)

    def _object(self, objects: Sequence[Type], at: int) -> Expr:
        if any(not each.fields for each in objects):
            if any(not each.fields and not each.open for each in objects) and len(objects) == 1:
                return seq("{", "}")
            others = objects[0].others if len(objects) == 1 else None
            if others is None and any(each.others for each in objects):
                self._say(_MIX, *MIXED)
            return seq("{", self.free(at, others), "}")
        if len(objects) > 1:
            self._say(_MIX, *MIXED)
        if any(each.open for each in objects):
            self.narrow[UNLISTED] = None
        fields = merged([each.fields for each in objects]) if len(objects) > 1 else objects[0].fields
        if any(each.required and each.name in self.form.marks for each in fields):
            return NEVER
        keyed = [
            (f"{quoted(one.name)}{self.form.keyed}", one) for one in fields if one.name not in self.form.marks
        ]
        return seq("{", self.ordered(keyed, at), "}")

    def ordered(self, fields: Sequence[tuple[str, Parameter]], at: int, hint: str = "a_field") -> Expr:
        """Arguments or fields in their order, those that are optional given or left out.

        Args:
            fields: What stands before each value, and what it is.
            at: The call's place.
            hint: What to call the rules.
        """
        made = [(seq(key, self.value(each.type, at)), each.required) for key, each in fields]
        if any(required and item == NEVER for item, required in made):
            return NEVER
        return self.listed([(item, required) for item, required in made if item != NEVER], hint)

    def listed(self, items: Sequence[tuple[Expr, bool]], hint: str) -> Expr:
        """Items in their order, with commas; of each pair the second says whether it must be there."""
        needed = choice = False
        next_: Expr = NEVER  # an item that stands here or later
        rest: Expr = EMPTY  # the same after a comma
        for item, required in reversed(items):
            here = seq(item, self.rules.rule(f"{hint}_rest", rest) if choice else rest)
            next_ = here if required else alt((here, self.rules.rule(f"{hint}_next", next_)))
            needed, choice = needed or required, choice or not required
            rest = seq(", ", next_) if needed else opt(seq(", ", next_))
        return next_ if needed else opt(next_)

    # ------------------------------------------------------------ what leads back to itself
    def _again(self, again: Again, at: int) -> Expr:
        key = (at, id(again.root), again.reference)
        if key not in self.opened:
            if self.refers(at) == NEVER and not self.ends(Type(again=again)):
                self.narrow[ENDLESS] = None
                return NEVER
            named = again.reference.rpartition("/")[2]
            name = self.opened[key] = self.rules.open(f"again_{named}_{at}")
            self.rules.close(name, alt([*self._literals(again.type, at), self.refers(at)]))
        return self.opened[key]

    def _anything(self, at: int) -> Expr:
        known = self.opened.get((at, 0, ""))
        if known is not None:
            return known
        name = self.opened[at, 0, ""] = self.rules.open(f"anything_{at}")
        kinds = tuple(kind for kind in KINDS if kind not in ("integer", "array", "object"))
        simple = self.rules.token("is_anything", _without_covered([], self._patterns(Type(kinds))))
        inner = alt((name, self.refers(at)))
        made = [simple, seq("[", opt(seq(inner, Repeat(seq(", ", inner)))), "]")]
        if self.form.objects:
            made.append(seq("{", self.free(at, None), "}"))
        self.rules.close(name, alt(made))
        return name

    def free(self, at: int, others: Type | None) -> Expr:
        """The fields of an object that lists none, of this type; of any, where it is None."""
        self._say("an object of any fields may have a name twice", "value.duplicate", "argument.duplicate")
        field = seq(self.rules.token("key", KEY), self.form.keyed, self.value(others or ANY, at))
        return opt(seq(field, Repeat(seq(", ", field))))

    def _say(self, text: str, *codes: str) -> None:
        self.loose[text] = (*self.loose.get(text, ()), *codes)


MIXED = (
    *("check.missing_argument", "check.unknown_argument", "check.wrong_type"),
    *("check.enum", "check.out_of_range", "check.format"),
)
"""What may be wrong where variants were made one."""


def merged(variants: Sequence[Sequence[Parameter]]) -> tuple[Parameter, ...]:
    """The parameters of several variants: needed are those that each needs.

    >>> one, two = Parameter("a"), Parameter("b")
    >>> [(each.name, each.required) for each in merged([[one], [one, two]])]
    [('a', True), ('b', False)]
    """
    found: dict[str, list[Parameter]] = {}
    for variant in variants:
        for each in variant:
            found.setdefault(each.name, []).append(each)
    made = []
    for name, several in found.items():
        types = list({repr(each.type): each.type for each in several}.values())
        kind = types[0] if len(types) == 1 else Type(any_of=tuple(types))
        required = len(several) == len(variants) and all(each.required for each in several)
        made.append(Parameter(name, kind, required))
    return tuple(made)


def _without_covered(constants: Iterable[str], patterns: Iterable[Expr]) -> Expr:
    """Listed values, and tokens of kinds, as one token; what a kind covers is not listed too."""
    kinds = list(patterns)
    known = [re.compile(regex(each)) for each in kinds if each != NEVER]
    left = [text for text in constants if not any(each.fullmatch(text) for each in known)]
    return alt((words(left), *kinds)) if left else alt(kinds)


def _hint(kind: Type) -> str:
    if kind.enum is not None:
        return "listed"
    return kind.format or "_or_".join(kind.kinds) or ("either" if kind.any_of else "anything")
