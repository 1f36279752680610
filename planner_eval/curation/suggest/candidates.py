"""What a wrong name or reference may be meant for: names that are alike, tools, and outputs that fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from heapq import nsmallest
from typing import NamedTuple

from planner_eval.base.text import differing_letters, edit_distance, is_swap, words_of_name
from planner_eval.catalogs.catalog import ANY, Catalog, Parameter, Tool, Type
from planner_eval.catalogs.check import find_tool
from planner_eval.catalogs.value_errors import is_compatible
from planner_eval.curation.audit.words import TABLES, word_set
from planner_eval.curation.suggest.faults import declares_output
from planner_eval.plan.inference import last_name
from planner_eval.plan.model import WHOLE_RESULT_NAMES, Call, Path, Plan, Ref, references

# ----------------------------------------------------------------------
# How alike two names are, and which of many come closest, in time that does not grow with their length.
_MAX_COMPARED_CHARACTERS = 80
"""Characters of a name that are compared."""

_MAX_TYPO_EDITS, _MIN_LETTERS_FOR_ONE_EDIT, _MIN_LETTERS_FOR_TWO_EDITS = 2, 5, 9
"""Edits of a typo at most; letters of a word in which one may be wrong, and of one in which two may be."""

_SYNONYM_GROUP = {
    word: group for group, line in enumerate(TABLES["synonyms"].splitlines()) for word in line.split()
}
"""Words that people put for one another in the names of tools and arguments, by what they mean."""


def words(name: str) -> tuple[str, ...]:
    """The words of a name, in small letters.

    >>> words("searchFlight_v2"), words("HTTPServer")
    (('search', 'flight', 'v', '2'), ('http', 'server'))
    """
    return tuple(words_of_name(name[:_MAX_COMPARED_CHARACTERS]))


def normalize_name(name: str) -> str:
    """A name without case and signs, by which ``getUser`` is ``get_user``."""
    return "".join(words(name))


@lru_cache(maxsize=1 << 16)
def name_similarity(name: str, other: str) -> float:
    """How alike two names are, from 0 to 1: by letters or by words, whichever says more.

    >>> (
    ...     name_similarity("getUser", "get_user"),
    ...     name_similarity("fetch_user", "get_user") > name_similarity("fetch_user", "get_room")
    ... )
    (1.0, True)
    """
    left_words, right_words = words(name), words(other)
    left, right = "".join(left_words), "".join(right_words)
    if left == right:
        return 1.0 if left or name == other else 0.0
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    letters = matcher.ratio() if matcher.quick_ratio() > 0.4 else 0.0
    return max(letters, 0.95 * _word_similarity(left_words, right_words))


def _word_similarity(left_words: Sequence[str], right_words: Sequence[str]) -> float:
    """The share of words that two names have in common, words of one meaning for most of one."""
    if not left_words or not right_words:
        return 0.0
    left, right = Counter(left_words), Counter(right_words)
    same = left & right
    shared = float(same.total())
    left_meanings, right_meanings = (
        Counter(_SYNONYM_GROUP[word] for word in (side - same).elements() if word in _SYNONYM_GROUP)
        for side in (left, right)
    )
    shared += 0.85 * (left_meanings & right_meanings).total()
    return 2 * shared / (len(left_words) + len(right_words))


def is_typo(word: str, intended: str) -> bool:
    """Whether a word is another one with an edit or two in it.

    The first letter stays, or is exchanged with the second: people and models seldom mistake it, and another
    one makes another word (``lock`` and ``block``, ``get`` and ``set``). A word that is known here is no
    typo. In short words only a letter doubled or not, or two exchanged, are one; in long ones two edits are.

    >>> is_typo("serch", "search"), is_typo("pya", "pay"), is_typo("bok", "book")
    (True, True, True)
    >>> is_typo("deny", "delay"), is_typo("move", "remove"), is_typo("look", "lock")
    (False, False, False)
    """
    if word == intended or word in _KNOWN_WORDS or not (word.isalpha() and intended.isalpha()):
        return word == intended
    short, long = sorted((word, intended), key=len)
    if len(long) - len(short) > _MAX_TYPO_EDITS or len(short) < 2:
        return False
    if _is_negated(word, intended) or _is_negated(intended, word):
        return False
    start, left, right = differing_letters(word, intended)
    if is_swap(left, right):
        return True
    if word[0] != intended[0]:
        return False
    if len(left) == len(right) == 1:
        return len(long) >= _MIN_LETTERS_FOR_ONE_EDIT
    if len(left) + len(right) == 1:
        return len(short) >= _MIN_LETTERS_FOR_ONE_EDIT - 1 or long[start] == long[start - 1]
    return len(short) >= _MIN_LETTERS_FOR_TWO_EDITS and edit_distance(word, intended) <= _MAX_TYPO_EDITS


@lru_cache(maxsize=1 << 14)
def find_stray_words(
    name: str, other: str, *, synonyms: bool = True
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of each of two names that the other has not: neither so, nor misspelt, nor as a synonym.

    Args:
        name: A name.
        other: Another.
        synonyms: Whether a word of one meaning will do.

    >>> find_stray_words("fetch_users", "getUser"), find_stray_words("reject_invite", "accept_invite")
    (((), ()), (('reject',), ('accept',)))
    >>> (
    ...     find_stray_words("get_weather", "get_current_weather"),
    ...     find_stray_words("searchhotels", "search_hotel")
    ... )
    (((), ('current',)), ((), ()))
    """
    left_words, right_words = list(words(name)), list(words(other))
    left, right = "".join(left_words), "".join(right_words)
    if left == right or (
        len(left_words) != len(right_words)
        and len(left) >= _MIN_LETTERS_FOR_TWO_EDITS
        and is_typo(left, right)
    ):
        return (), ()
    if (
        _DIRECTIONS & {*left_words}
        and left_words != right_words
        and sorted(left_words) == sorted(right_words)
    ):
        return tuple(left_words), tuple(right_words)  # pdf_to_text is no text_to_pdf
    tests: list[Callable[[str, str], bool]] = [str.__eq__, _is_same_stem, is_typo]
    if synonyms:
        tests.append(lambda word, partner: _SYNONYM_GROUP.get(word, word) == _SYNONYM_GROUP.get(partner))
    for same in tests:
        for word in [*left_words]:
            partner = next((candidate for candidate in right_words if same(word, candidate)), None)
            if partner is not None:
                left_words.remove(word)
                right_words.remove(partner)
    return tuple(left_words), tuple(right_words)


_DIRECTIONS = frozenset(["to", "from"])


def _is_same_stem(word: str, other: str) -> bool:
    """Whether two words are one but for number: ``rates`` and ``rate``, ``cities`` and ``city``."""
    short, long = sorted((word, other), key=len)
    plural = f"{short[:-1]}ies" if short.endswith("y") else f"{short}es"
    return len(short) > 2 and long in (f"{short}s", plural)


_NEGATIONS = word_set("negations")
_NEGATIVE_PREFIXES = word_set("negative_prefixes")
_OPPOSITES = frozenset(frozenset(pair.split("/")) for pair in TABLES["contraries"].split())
_KNOWN_WORDS = frozenset({*_SYNONYM_GROUP, *(word for pair in _OPPOSITES for word in pair)})


@lru_cache(maxsize=1 << 14)
def are_opposites(name: str, other: str) -> bool:
    """Whether two names differ by what turns one into its opposite: a negation, or a word for its contrary.

    >>> (
    ...     are_opposites("unavailable", "available"), are_opposites("non-vegetarian", "vegetarian"),
    ...     are_opposites("min", "max")
    ... )
    (True, True, True)
    >>> are_opposites("economy class", "Economy"), are_opposites("under_score", "score")
    (False, False)
    """
    left_words, right_words = words(name), words(other)
    if "".join(left_words) == "".join(right_words):
        return False
    if len(_NEGATIONS & {*left_words}) != len(_NEGATIONS & {*right_words}):
        return True
    left_only, right_only = (
        [word for word in left_words if word not in right_words],
        [word for word in right_words if word not in left_words],
    )
    return any(
        frozenset((left, right)) in _OPPOSITES or _is_negated(left, right) or _is_negated(right, left)
        for left in left_only
        for right in right_only
    )


def _is_negated(word: str, stem: str) -> bool:
    """Whether a word is a stem, or one near it, with a prefix that turns its meaning."""
    for prefix in _NEGATIVE_PREFIXES:
        remainder = word.removeprefix(prefix)
        if remainder != word and len(remainder) > 2:
            ends = next(
                (stem[len(start) :] for start in (prefix, "en", "in") if stem.startswith(start)), stem
            )
            if (
                remainder in (stem, ends)
                or SequenceMatcher(None, remainder, stem, autojunk=False).ratio() >= 0.85
            ):
                return True
    return False


@lru_cache(maxsize=1 << 14)
def name_features(name: str) -> frozenset[str]:
    """The pairs of letters of a name, its words with what they mean, and all of it."""
    text = f"^{normalize_name(name)}$"
    pairs = {text[start : start + 2] for start in range(len(text) - 1)}
    meanings = {f"={_SYNONYM_GROUP[word]}" for word in words(name) if word in _SYNONYM_GROUP}
    return frozenset({*pairs, *words(name), *meanings, text[1:-1]})


def nearest_names(name: str, names: Sequence[str], most: int) -> list[int]:
    """The positions of the names that share most with one, the nearest first.

    >>> nearest_names("serchFlight", ["book_hotel", "search_flight"], 1)
    [1]
    """
    features = name_features(name)
    shares = [
        (-2 * len(features & other) / (len(features) + len(other)), position)
        for position, other in enumerate(map(name_features, names))
    ]
    return [position for share, position in nsmallest(most, shares) if share]


# ----------------------------------------------------------------------
# Which tools and arguments a name may mean, and what names say of one another.
MAX_TOOLS = 20
"""Tools that are looked at for one that is unknown."""

MAX_NAME_CHARACTERS = 40
"""Characters of a name in a sentence."""

_MEANINGLESS_NAMES = word_set("meaningless_names")
MIN_LETTER_SIMILARITY = 0.4
"""How alike names are before it is told, and before it says which is which."""

_MIN_WORD_SIMILARITY = 0.8
"""How alike the words of arguments' names are that may be one, with a letter left out of a short one."""


class ToolIndex:
    """The tools of a catalog, by what their names and arguments are like.

    Args:
        catalog: The tools.

    >>> [tool.name for tool in ToolIndex(Catalog((Tool("add"), Tool("divide")))).near(Call("1", "ad"))]
    ['add']
    """

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._names = [tool.name for tool in catalog.tools]

    def near(self, call: Call) -> list[Tool]:
        """The tools that a call of an unknown one may mean: by name, and by the arguments it gives."""
        positions = nearest_names(call.name, self._names, MAX_TOOLS)
        positions += nearest_names(call.tool, self._names, 3) if call.app else []
        arguments = [name for name, _ in call.arguments[:MAX_TOOLS]]
        shared = (
            (-sum(find_parameter(tool, name) is not None for name in arguments), position)
            for position, tool in enumerate(self.catalog.tools)
        )
        positions += [position for count, position in nsmallest(MAX_TOOLS, shared) if count]
        return [self.catalog.tools[position] for position in dict.fromkeys(positions)]


def argument_fit(call: Call, tool: Tool) -> float:
    """How well the arguments of a call are those that a tool takes and needs."""
    given_names = {name for name, _ in call.arguments}
    parameter_names = {p.name for p in tool.parameters}
    needed = {p.name for p in tool.parameters if p.required}
    all_names = given_names | needed
    if not all_names:
        return 1.0
    accepted = given_names if tool.open else given_names & parameter_names
    return len(accepted) / len(all_names)


def describe_stray_words(call: Call, tool: Tool) -> str | None:
    """What a tool's name says that the call's does not, or the other way round; None where both say the same.

    However many letters two names share: who calls ``get_order`` does not mean ``cancel_order``.
    """
    bare = call.name.rpartition(".")[2]
    pairs = ((call.name, tool.name), (bare, tool.name), (call.tool, tool.full_name))
    strays_by_pair = [find_stray_words(call_name, tool_name) for call_name, tool_name in dict.fromkeys(pairs)]
    if ((), ()) in strays_by_pair:
        return None
    call_text, tool_text = (
        " ".join(stray_words)[:MAX_NAME_CHARACTERS] for stray_words in strays_by_pair[bare != call.name]
    )
    if call_text and tool_text:
        return f"but {call_text!r} is not {tool_text!r}"
    return f"but nothing mentions {tool_text!r}" if tool_text else f"but it does not mention {call_text!r}"


def is_meaningless_name(name: str) -> bool:
    """Whether an argument's name tells nothing of what it holds, as ``arg_0`` and ``x`` do."""
    bare = "".join(word for word in words(name) if not word.isdecimal())
    return len(bare) < 2 or bare in _MEANINGLESS_NAMES


def is_other_word(name: str, other: str) -> bool:
    """Whether a word of an argument's name stands for another one; no tool runs for a short word misspelt."""
    name_words, other_words = find_stray_words(name, other)
    return bool(other_words) and any(
        max(name_similarity(word, other_word) for other_word in other_words) < _MIN_WORD_SIMILARITY
        for word in name_words
    )


def strip_number(name: str) -> str:
    """A name without the number at its end."""
    return name.rstrip("0123456789")


def is_numbered_otherwise(names: Sequence[str], other_names: Sequence[str]) -> bool:
    """Whether both are one name with numbers that count otherwise: ``var_1, var_2`` and ``arg_0, arg_1``.

    A number then says nothing: the first of these is the first of those.
    """
    if len(names) < 2 or any(len({*map(strip_number, series)}) != 1 for series in (names, other_names)):
        return False
    counts = [{n[len(strip_number(n)) :] for n in series} for series in (names, other_names)]
    return all(map(all, counts)) and not counts[0] <= counts[1]


def find_parameter(tool: Tool | None, name: str) -> Parameter | None:
    """What a tool declares for an argument; None where it does not, or nobody knows the tool."""
    return next((p for p in tool.parameters if p.name == name), None) if tool is not None else None


def has_parameter(tool: Tool, name: str) -> bool:
    """Whether a tool takes an argument of a name."""
    return tool.open or find_parameter(tool, name) is not None


# ----------------------------------------------------------------------
# Outputs that an argument may be meant to take: by name, type, place, and whether anything takes them.
_MAX_CALLS = 400
"""Earlier calls that are looked at, the nearest first."""

_MAX_OUTPUTS = 60


class ExpectedOutput(NamedTuple):
    """What is known of the output that an argument should take.

    Args:
        call: The position of the call with the argument; the number of calls for the answer.
        argument: The argument's name.
        type: What it takes.
        name: What the broken reference is called; None where there is none.
        path: The way into the result that the broken reference has; None where there is none.
        producer: The call that it names all the same.
    """

    call: int
    argument: str
    type: Type
    name: str | None = None
    path: Path | None = None
    producer: int | None = None


class OutputCandidate(NamedTuple):
    """An output that may be meant.

    Args:
        ref: The reference to it.
        score: How likely it is, from 0 to 1.
        reason: Why.
        told: Whether more than the type speaks for it: a name, or what the reference itself says.
    """

    ref: Ref
    score: float
    reason: str
    told: bool

    @property
    def unasked(self) -> float:
        """The score where no reference stood: a result that merely fits, as most texts do, is unlikely."""
        return self.score if self.told else 0.6 * self.score


class Producers:
    """The outputs of a plan's calls.

    Args:
        plan: The plan.
        catalog: The tools it may call.
    """

    def __init__(self, plan: Plan, catalog: Catalog) -> None:
        self.plan, self._catalog = plan, catalog
        self.texts = catalog.text_values
        self.tools: list[Tool | None] = [find_tool(call, catalog) for call in plan.calls]
        self._used: list[dict[Path, None]] = [{} for _ in plan.calls]
        for position, arguments in enumerate([*(call.arguments for call in plan.calls), plan.answer or ()]):
            for _, value in arguments:
                for _, ref in references(value):
                    if isinstance(ref, Ref) and ref.call < position:
                        self._used[ref.call][ref.path] = None
        paths = Counter(path for paths in self._used for path in paths)
        whole_paths = [
            path for path, _ in paths.most_common() if len(path) == 1 and path[0] in WHOLE_RESULT_NAMES
        ]
        self._whole: Path = whole_paths[0] if whole_paths else ()

    def outputs(self, position: int) -> dict[Path, None]:
        """The ways into a call's result that there are: declared by its tool, by the call, or used."""
        tool = self.tools[position]
        fields = tool.returns.unfolded.fields if tool is not None else ()
        names = [field.name for field in fields] or self.plan.calls[position].returns
        paths: dict[Path, None] = dict.fromkeys((name,) for name in names[:_MAX_OUTPUTS])
        if not fields and (tool is None or tool.only_output == "" or not paths):
            paths[self._whole] = None
        return paths | self._used[position]

    def candidates(self, target: ExpectedOutput) -> list[OutputCandidate]:
        """What an argument may be meant to take, the likeliest first.

        Args:
            target: What is known of it.
        """
        outputs: list[OutputCandidate] = []
        last = min(target.call, len(self.plan.calls))
        for position in range(max(0, last - _MAX_CALLS), last):
            paths = self.outputs(position)
            if target.path is not None and self.has(position, target.path):
                paths[target.path] = None
            for path in paths:
                output = self.type_of(Ref(position, path))
                if output is not None and is_compatible(output, target.type, texts=self.texts):
                    outputs.append(self._weigh(Ref(position, path), output, target))
        return sorted(
            outputs, key=lambda candidate: (-candidate.score, -candidate.ref.call, str(candidate.ref.path))
        )

    def has(self, position: int, path: Path) -> bool:
        """Whether a call may have an output."""
        tool = self.tools[position]
        return tool is None or tool.output(path) is not None

    def type_of(self, ref: Ref) -> Type | None:
        """The type of an output; None where there can be none of that name."""
        tool = self.tools[ref.call]
        if tool is None:
            return ANY
        output, fields = tool.output(ref.path), tool.returns.fields
        return fields[0].type if output is not None and not ref.path and len(fields) == 1 else output

    def _weigh(self, ref: Ref, output: Type, target: ExpectedOutput) -> OutputCandidate:
        call, used, last = self.plan.calls[ref.call], self._used[ref.call], last_name(ref.path)
        generic = not last or last in WHOLE_RESULT_NAMES
        declared = declares_output(self.plan, ref.call, ref.path, self._catalog)
        likeness = name_similarity(target.argument, call.name if generic else last)
        more, reasons = self._as_written(ref, target, declared=declared)
        score = 0.22 + more + (0.08 + 0.072 * likeness if generic else 0.25 * likeness)
        score += 0.2 * (likeness > 0.99 and not generic)
        same_kind = not {*output.kinds}.isdisjoint(target.type.kinds)
        score += 0.08 * (same_kind and output.format == target.type.format)
        score += 0.03 * (ref.path not in used) if used else 0.22
        score += 0.1 / (target.call - ref.call)
        if likeness > 0.6:
            name = call.name if generic else last
            reasons.append((0.65 if generic else likeness, f"{name} has a name like the argument's"))
        has_evidence = bool(reasons)
        if not declared:
            score *= 1.0 if has_evidence else 0.75
            reasons.append((0.84, f"the outputs of {call.name} are unknown"))
        elif not has_evidence:
            typed = output.kinds and target.type.kinds
            reasons.append((0.8, "only the type matches" if typed else "it fits"))
        reasons += [] if used else [(0.7, "its result is otherwise unused")]
        text = ", ".join(text for _, text in sorted(reasons, reverse=True)[:2])
        return OutputCandidate(ref, min(score, 0.97), text, has_evidence)

    def _as_written(
        self, ref: Ref, target: ExpectedOutput, *, declared: bool
    ) -> tuple[float, list[tuple[float, str]]]:
        """What the broken reference itself tells: how much it adds, and the reasons with their weights."""
        more, reasons = 0.0, list[tuple[float, str]]()
        call, last = self.plan.calls[ref.call], last_name(ref.path)
        if ref.path == target.path:
            more += 0.22 if declared or not target.path else 0.05
            reasons += [(0.8, "it has the requested output")] if target.path and declared else []
        elif target.path and last:
            likeness = name_similarity(last_name(target.path), last)
            more += 0.18 * likeness
            reasons += [(0.75, f"{last} has a name like the requested one")] if likeness > 0.6 else []
        if target.producer == ref.call:
            more += 0.14
            reasons.append((0.6, "it is the named call"))
        if target.name:
            numbers = ["".join(filter(str.isdigit, text)) for text in (target.name, call.id)]
            labels = name_similarity(target.name, call.id)
            labels *= 1 if numbers[0] == numbers[1] else 0.2  # var_1 is var1 and Var_1, and no var_2
            tool = 0.9 * name_similarity(target.name, call.name)
            field = name_similarity(target.name, last) if last else 0.0
            more += 0.2 * max(labels, tool if tool > 0.55 else 0.0, field if field > 0.6 else 0.0)
            if max(labels, tool, field) > 0.6:
                what = call.id if labels >= max(tool, field) else call.name if tool >= field else last
                reasons.append((0.85, f"{what} has a name like the reference's"))
        return more, reasons
