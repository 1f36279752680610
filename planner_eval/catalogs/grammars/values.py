"""Values of a catalog's types as rules; types that need themselves have none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from planner_eval.base.frozen import replace
from planner_eval.catalogs.catalog import ANY, KINDS, Parameter, RecursiveType, Type
from planner_eval.catalogs.grammars.rules import (
    EMPTY,
    FORMATS,
    KEY,
    MAX_LENGTH,
    NEVER,
    Expr,
    Repeat,
    Rules,
    Symbol,
    ValueForm,
    alt,
    integer,
    number,
    one_of_texts,
    opt,
    quote_json,
    regex,
    seq,
)
from planner_eval.catalogs.type_words import any_item
from planner_eval.catalogs.value_errors import find_problem
from planner_eval.plan.model import Value


# ----------------------------------------------------------------------
# Types that need themselves: no value of one comes to an end, so none can be written.
@dataclass(frozen=True, slots=True)
class FiniteTypes:
    """Whether values of types come to an end, as a notation writes them.

    Args:
        form: How it writes values.
    """

    form: ValueForm
    _known: set[tuple[int, str]] = field(default_factory=set)

    def __call__(self, kind: Type, inside: tuple[RecursiveType, ...] = ()) -> bool:
        """Whether some value of a type ends without a reference in it.

        Args:
            kind: The type.
            inside: What it is a part of, none of which ends that way.

        >>> from planner_eval.catalogs.json_schema.types import type_of
        >>> from planner_eval.catalogs.grammars.rules import value_form
        >>> node = {"type": "object", "properties": {"next": {"$ref": "#/node"}}}
        >>> ends = FiniteTypes(value_form("json"))
        >>> ends(type_of({"$ref": "#/node", "node": node}))
        True
        >>> ends(type_of({"$ref": "#/node", "node": {**node, "required": ["next"]}}))
        False
        """
        if kind.again is None:
            return self._ends(kind, inside)
        key = (id(kind.again.root), kind.again.reference)
        if key not in self._known:
            if kind.again in inside or not self._ends(kind.again.type, (*inside, kind.again)):
                return False
            self._known.add(key)
        return True

    def _ends(self, kind: Type, inside: tuple[RecursiveType, ...]) -> bool:
        if kind.enum is not None:
            return any(self.form.constant(value) is not None for value in kind.enum)
        if kind.any_of and not kind.kinds:
            return any(self(option, inside) for option in kind.any_of)
        if not kind.kinds or not {"array", "object"}.issuperset(kind.kinds):
            return True
        if "array" in kind.kinds and (not kind.size[0] or self(any_item(kind), inside)):
            return True
        needed = [field for field in kind.fields if field.required]
        return (
            self.form.objects
            and "object" in kind.kinds
            and all(f.name not in self.form.marks and self(f.type, inside) for f in needed)
        )


# ----------------------------------------------------------------------
# What those who write types share, whatever they write them as.
@dataclass(slots=True, kw_only=True)
class TypeWriter:
    """Writes values of types in one grammar, and keeps where it holds them looser or narrower.

    Args:
        form: How the notation writes values.
        texts: Whether the catalog writes every value as text.
        loose: Sentences on what is not enforced, with the codes of ``planeval check`` that find it.
        narrow: Sentences on what is not allowed, although the catalog does.
        ends: Whether values of a type come to an end.
    """

    form: ValueForm
    texts: bool = False
    loose: dict[str, tuple[str, ...]] = field(default_factory=dict)
    narrow: dict[str, None] = field(default_factory=dict)
    ends: FiniteTypes = field(init=False)

    def __post_init__(self) -> None:
        self.ends = FiniteTypes(self.form)

    def say(self, text: str, *codes: str) -> None:
        """Note what is not enforced."""
        self.loose[text] = codes

    def simple(self, kind: Type) -> list[Type]:
        """The types of which one has to hold, without alternatives; what comes again stays what it is."""
        if not kind.any_of:
            limited = not kind.kinds and kind.enum is None and kind.again is None and kind != ANY
            return [replace(kind, kinds=EVERY_KIND) if limited else kind]
        if kind.kinds or kind.enum is not None:
            self.say(
                "alternatives beside a type are not enforced",
                *("check.wrong_type", "check.enum", "check.missing_argument", "check.unknown_argument"),
            )
            return [replace(kind, any_of=())]
        if kind != Type(any_of=kind.any_of):
            self.say(
                "limits beside alternatives are not enforced",
                *("check.out_of_range", "check.format", "check.missing_argument", "check.unknown_argument"),
            )
        return [simple for option in kind.any_of for simple in self.simple(option)]

    def constants(self, kind: Type) -> list[tuple[Value, str]]:
        """The values that a type lists, each as the notation writes it."""
        plain = Type(kind.kinds, format=kind.format)
        listed = [v for v in kind.enum or () if find_problem(v, plain, texts=self.texts) is None]
        written = [(value, text) for value in listed if (text := self.form.constant(value)) is not None]
        if len(written) < len(listed):
            self.narrow["a listed value that the notation cannot write is left out"] = None
        return written

    def can_end(self, recursion: RecursiveType) -> bool:
        """Whether some value of what leads back to itself ends; notes where none does."""
        ends = self.ends(Type(again=recursion))
        if not ends:
            self.narrow["values whose type requires itself, so that they never end, are left out"] = None
        return ends


# ----------------------------------------------------------------------
# Values of a catalog's types as rules.
EVERY_KIND = tuple(kind for kind in KINDS if kind != "integer")
_NUMBER_KINDS = frozenset(("integer", "number"))
_MAX_ITEMS = 32
_MAX_LISTED_NUMBERS = 256
_MIXED_FIELDS = "fields of several types of objects may be mixed"
UNLISTED_FIELDS = "fields that an object does not list are left out, even where it allows them"


@dataclass(slots=True, kw_only=True)
class ValueRules(TypeWriter):
    """Makes rules for the values of one grammar.

    Args:
        rules: Where they go.
        refers: What a reference may be at a call's place; NEVER where there is none.
        opened: A call's place and what leads back to itself → its rule there; any value does, which has
            no document and no name.
    """

    rules: Rules
    refers: Callable[[int], Expr] = lambda position: NEVER
    opened: dict[tuple[int, int, str], Symbol] = field(default_factory=dict)

    def value(self, kind: Type, position: int) -> Expr:
        """A value of a type, or a reference, for a call at a place."""
        if kind.again is not None:
            return self._again(kind.again, position)
        alternatives = [*self._literals(kind, position), self.refers(position)]
        return self.rules.rule(f"value_{_hint(kind)}_{position}", alt(alternatives))

    # ------------------------------------------------------------ what a type allows
    def _literals(self, kind: Type, position: int) -> list[Expr]:
        every = self.simple(kind)
        simple = [t for t in every if t.again is None]
        if any(t.kinds == () and t.enum is None for t in simple):
            return [self._anything(position)]
        constants = [text for t in simple for _, text in self.constants(t)]
        tokens = _without_covered(
            [c for c in constants if c[0] not in "[{"],
            [p for t in self._one_number(simple) if t.enum is None for p in self._patterns(t)],
        )
        arrays = [t for t in simple if t.enum is None and "array" in t.kinds]
        objects = [t for t in simple if t.enum is None and "object" in t.kinds]
        alternatives = [self.rules.token(f"is_{_hint(kind)}", tokens)]
        for bracket in "[{":  # a token of its own, as of any list or object: engines do not go back behind it
            remainder = one_of_texts(c[1:] for c in constants if c[0] == bracket)
            alternatives.append(seq(bracket, self.rules.token("listed_rest", remainder)))
        if arrays:
            alternatives.append(self._array(arrays, position))
        if objects and self.form.objects:
            alternatives.append(self._object(objects, position))
        return alternatives + [self._again(t.again, position) for t in every if t.again is not None]

    def _patterns(self, kind: Type) -> list[Expr]:
        """The tokens of a type's kinds."""
        form, tokens = self.form, []
        if "null" in kind.kinds:
            tokens.append(form.bare(form.null))
        if "boolean" in kind.kinds:
            tokens.append(form.bare(one_of_texts(form.booleans)))
        if "number" in kind.kinds or "integer" in kind.kinds:
            tokens.append(form.bare(self._number(kind)))
        if "string" in kind.kinds and (token := FORMATS.get(kind.format or "")):
            tokens.append(seq(form.quote, token(), form.quote))
        elif "string" in kind.kinds:
            if any(limit is not None and limit > MAX_LENGTH for limit in kind.length):
                self.say(
                    f"lengths of more than {MAX_LENGTH} characters are not enforced", "check.out_of_range"
                )
            tokens.append(form.text(kind.length))
        return tokens

    def _one_number(self, simple: Sequence[Type]) -> Sequence[Type]:
        """The types with one kind of number: of several the first that fits would end the token too early."""
        numeric = [t for t in simple if t.enum is None and _NUMBER_KINDS.intersection(t.kinds)]
        if len(numeric) < 2:
            return simple
        self.say(
            "any number is allowed where a value may have several types of numbers",
            "check.wrong_type",
            "check.out_of_range",
        )
        kind = "number" if any("number" in t.kinds for t in numeric) else "integer"
        left = [
            replace(t, kinds=tuple(name for name in t.kinds if name not in _NUMBER_KINDS)) for t in simple
        ]
        return [t for t in left if t.kinds or t.enum is not None] + [Type((kind,))]

    def _number(self, kind: Type) -> Expr:
        low, high = kind.minimum, kind.maximum
        is_integer = "number" not in kind.kinds
        if is_integer and low is not None and high is not None and high - low < _MAX_LISTED_NUMBERS:
            plain = Type(("integer",), minimum=low, maximum=high, exclusive=kind.exclusive)
            numbers = range(int(low) - 1, int(high) + 2)
            return one_of_texts(str(n) for n in numbers if find_problem(n, plain) is None)
        if low is not None or high is not None:
            self.say(
                "limits of numbers are enforced only for whole numbers in a short range",
                "check.out_of_range",
            )
        make = integer if is_integer else number
        return make(negative=low is None or low < 0)

    # ------------------------------------------------------------ lists and objects
    def _array(self, arrays: Sequence[Type], position: int) -> Expr:
        items = [any_item(t) for t in arrays]
        size = arrays[0].size
        if len(arrays) > 1:
            self.say("items of several types of lists may be mixed", "check.wrong_type", "check.enum",
                      "check.out_of_range", "check.format")  # fmt: skip
            size = (None, None)
        item = self.value(items[0] if len(items) == 1 else Type(any_of=tuple(items)), position)
        if any(limit is not None and limit > _MAX_ITEMS for limit in size):
            self.say(f"sizes of more than {_MAX_ITEMS} items are not enforced", "check.out_of_range")
        least = min(size[0] or 0, _MAX_ITEMS)
        most = size[1] if size[1] is not None and size[1] <= _MAX_ITEMS else None
        if most is not None and most < least:
            return NEVER
        following: Expr = Repeat(seq(", ", item)) if most is None and item != NEVER else EMPTY
        for _ in range((most or 0) - max(least, 1)):
            following = self.rules.rule(f"items_{position}", opt(seq(", ", item, following)))
        needed = seq(item, *(seq(", ", item) for _ in range(least - 1)), following)
        return seq("[", EMPTY if most == 0 else needed if least else opt(needed), "]")

    def _object(self, objects: Sequence[Type], position: int) -> Expr:
        if any(not t.fields for t in objects):
            if any(not t.fields and not t.open for t in objects) and len(objects) == 1:
                return seq("{", "}")
            additional = objects[0].others if len(objects) == 1 else None
            if additional is None and any(t.others for t in objects):
                self.say(_MIXED_FIELDS, *MERGED_VARIANT_CODES)
            return seq("{", self.free(position, additional), "}")
        if len(objects) > 1:
            self.say(_MIXED_FIELDS, *MERGED_VARIANT_CODES)
        if any(t.open for t in objects):
            self.narrow[UNLISTED_FIELDS] = None
        fields = merge_parameters([t.fields for t in objects]) if len(objects) > 1 else objects[0].fields
        if any(field.required and field.name in self.form.marks for field in fields):
            return NEVER
        keyed = [
            (f"{quote_json(field.name)}{self.form.keyed}", field)
            for field in fields
            if field.name not in self.form.marks
        ]
        return seq("{", self.ordered(keyed, position), "}")

    def ordered(self, fields: Sequence[tuple[str, Parameter]], position: int, hint: str = "a_field") -> Expr:
        """Arguments or fields in their order, those that are optional given or left out.

        Args:
            fields: What stands before each value, and what it is.
            position: The call's place.
            hint: What to call the rules.
        """
        written = [(seq(key, self.value(field.type, position)), field.required) for key, field in fields]
        if any(required and item == NEVER for item, required in written):
            return NEVER
        needed = choice = False
        next_: Expr = NEVER  # an item that stands here or later
        after_comma: Expr = EMPTY  # the same after a comma
        for item, required in reversed([pair for pair in written if pair[0] != NEVER]):
            item_here = seq(item, self.rules.rule(f"{hint}_rest", after_comma) if choice else after_comma)
            next_ = item_here if required else alt((item_here, self.rules.rule(f"{hint}_next", next_)))
            needed, choice = needed or required, choice or not required
            after_comma = seq(", ", next_) if needed else opt(seq(", ", next_))
        return next_ if needed else opt(next_)

    # ------------------------------------------------------------ what leads back to itself
    def _again(self, recursion: RecursiveType, position: int) -> Expr:
        key = (position, id(recursion.root), recursion.reference)
        if key not in self.opened:
            if self.refers(position) == NEVER and not self.can_end(recursion):
                return NEVER
            named = recursion.reference.rpartition("/")[2]
            name = self.opened[key] = self.rules.open(f"again_{named}_{position}")
            literals = [each for each in self._literals(recursion.type, position) if each != name]
            self.rules.close(name, alt([*literals, self.refers(position)]))
        return self.opened[key]

    def _anything(self, position: int) -> Expr:
        opened = self.opened.get((position, 0, ""))
        if opened is not None:
            return opened
        name = self.opened[position, 0, ""] = self.rules.open(f"anything_{position}")
        kinds = tuple(kind for kind in KINDS if kind not in ("integer", "array", "object"))
        simple = self.rules.token("is_anything", _without_covered([], self._patterns(Type(kinds))))
        inner = alt((name, self.refers(position)))
        alternatives = [simple, seq("[", opt(seq(inner, Repeat(seq(", ", inner)))), "]")]
        if self.form.objects:
            alternatives.append(seq("{", self.free(position, None), "}"))
        self.rules.close(name, alt(alternatives))
        return name

    def free(self, position: int, additional: Type | None) -> Expr:
        """The fields of an object that lists none, of this type; of any, where it is None."""
        self.say("an object of any fields may have a name twice", "value.duplicate", "argument.duplicate")
        field = seq(self.rules.token("key", KEY), self.form.keyed, self.value(additional or ANY, position))
        return opt(seq(field, Repeat(seq(", ", field))))


MERGED_VARIANT_CODES = (
    *("check.missing_argument", "check.unknown_argument", "check.wrong_type"),
    *("check.enum", "check.out_of_range", "check.format"),
)
"""What may be wrong where variants were made one."""


def merge_parameters(variants: Sequence[Sequence[Parameter]]) -> tuple[Parameter, ...]:
    """The parameters of several variants: needed are those that each needs.

    >>> one, two = Parameter("a"), Parameter("b")
    >>> [(each.name, each.required) for each in merge_parameters([[one], [one, two]])]
    [('a', True), ('b', False)]
    """
    by_name: dict[str, list[Parameter]] = {}
    for variant in variants:
        for parameter in variant:
            by_name.setdefault(parameter.name, []).append(parameter)
    parameters = []
    for name, same_named in by_name.items():
        types = list({repr(p.type): p.type for p in same_named}.values())
        kind = types[0] if len(types) == 1 else Type(any_of=tuple(types))
        required = len(same_named) == len(variants) and all(p.required for p in same_named)
        parameters.append(Parameter(name, kind, required))
    return tuple(parameters)


def _without_covered(constants: Iterable[str], patterns: Iterable[Expr]) -> Expr:
    """Listed values, and tokens of kinds, as one token; what a kind covers is not listed too."""
    kinds = list(patterns)
    covering = [re.compile(regex(kind)) for kind in kinds if kind != NEVER]
    left = [text for text in constants if not any(pattern.fullmatch(text) for pattern in covering)]
    return alt((one_of_texts(left), *kinds)) if left else alt(kinds)


def _hint(kind: Type) -> str:
    if kind.enum is not None:
        return "listed"
    return kind.format or "_or_".join(kind.kinds) or ("either" if kind.any_of else "anything")
