"""Gold that is doubtful by its shape: calls for nothing, and records of one question with other plans.

What is said here is proved from the plan and from what is known of its tools, without running anything:
without the call, the plan comes to the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import format_count, one_line_json, shorten, text_hash
from planner_eval.catalogs.check import find_tool
from planner_eval.comparison.policy.values import number_of
from planner_eval.curation.audit.subject import AuditedRecord
from planner_eval.curation.audit.words import is_readable, words
from planner_eval.execution.program import producers
from planner_eval.execution.terms import SymbolicRun, symbolic
from planner_eval.plan.canonical import EquivalenceClasses
from planner_eval.plan.graph import blocked_positions, circles
from planner_eval.plan.model import Call, Plan, Ref, Unresolved, Value, is_dependent
from planner_eval.reading.files.context import question_template
from planner_eval.results.findings import Confidence, GoldFinding

# ----------------------------------------------------------------------
# Calls that gold makes for nothing: results that nobody gets, equal calls, values that are there already.
_WIDTH = 60

CODES = ("gold.unresolved", "gold.cycle", "gold.dead", "gold.repeated", "gold.shorter")


def find_surplus(subject: AuditedRecord) -> Iterator[GoldFinding]:
    """What a plan could do without, and what of it can never run.

    Args:
        subject: The record.

    >>> from planner_eval.reading.dialects.read import parse
    >>> plan = parse([{"name": "add", "label": "$a", "arguments": {"arg_0": 1, "arg_1": 2}},
    ...               {"name": "multiply", "arguments": {"arg_0": "$a.result$", "arg_1": 1}}])
    >>> [(found.code, found.call) for found in find_surplus(AuditedRecord("q1", plan, basic=True))]
    [('gold.shorter', 1)]
    """
    plan = subject.plan
    for d in plan.diagnostics:
        if d.code == "reference.unresolved":
            yield GoldFinding("gold.unresolved", d.message, "high", d.call, d.argument)
    needs = producers(plan)
    if blocked_positions(needs):
        first = min(
            min(circle) for circle in circles(needs) if len(circle) > 1 or circle[0] in needs[circle[0]]
        )
        text = f"{_format_call(plan, first)} depends on its own result, so it and its consumers never run"
        yield GoldFinding("gold.cycle", text, "high", first)
        return
    acts = {call.tool for call in plan.calls if subject.looks(call) is False}
    terms = symbolic(plan, answer="last" if subject.ends else "sinks", acts=acts)
    yield from _find_dead_results(subject, terms)
    yield from _find_repeated_calls(subject, terms)
    for position, call in enumerate(plan.calls):
        if subject.arithmetic(call) and (reason := _describe_redundant_call(plan, terms, call)):
            yield GoldFinding("gold.shorter", f"{_format_call(plan, position)} {reason}", "medium", position)


def _find_dead_results(subject: AuditedRecord, terms: SymbolicRun) -> Iterator[GoldFinding]:
    """Results that nobody gets: sure where the plan names its answer, which says what the user gets.

    Where the last call is the answer, a user may have asked for more than one thing all the same.
    """
    plan = subject.plan
    named = plan.answer is not None
    used = {edge.producer for edge in plan.edges}
    for position in terms.dead:
        if position in used:
            continue  # it is dead for the sake of another, of which it is said
        confidence: Confidence = "high" if named else "low"
        what = "the answer" if named else "the last call, whose value is the answer,"
        text = f"nothing uses the result of {_format_call(plan, position)}, and {what} does not use it"
        yield GoldFinding("gold.dead", text, confidence, position)


def _find_repeated_calls(subject: AuditedRecord, terms: SymbolicRun) -> Iterator[GoldFinding]:
    """Equal calls, each group told once; of groups that are only part of larger ones the largest."""
    plan = subject.plan
    repeated_positions = {position for group in terms.duplicated for position in group[1:]}
    users: dict[int, set[int]] = {}
    for edge in plan.edges:
        users.setdefault(edge.producer, set()).add(edge.consumer)
    for group in terms.duplicated:
        repeats = [p for p in group[1:] if not users.get(p) or not users[p] <= repeated_positions]
        call = plan.calls[group[0]]
        looks = subject.looks(call)
        if not repeats or looks is False:
            continue
        confidence: Confidence = "medium" if looks else "low"
        text = (
            f"{_format_calls(plan, repeats)} {'makes' if len(repeats) == 1 else 'make'} the same call as "
            f"{_format_call(plan, group[0])}, whose result could be reused"
        )
        yield GoldFinding("gold.repeated", text, confidence, repeats[0])


# ---------------------------------------------------------------- what arithmetic gives back
_IDENTITY_OPERANDS: dict[str, tuple[tuple[int, int], ...]] = {
    "add": ((0, 0), (1, 0)),
    "subtract": ((1, 0),),
    "multiply": ((0, 1), (1, 1)),
    "divide": ((1, 1),),
    "power": ((1, 1),),
}
"""Functions that give back one operand where the other, at a place, is a number."""

_OPERATION_WORDS = {"add": "plus", "subtract": "minus", "multiply": "times", "divide": "divided by"}

_INVERSES: dict[str, tuple[tuple[str, int, int], ...]] = {
    "subtract": (("add", 0, 1), ("add", 1, 0)),
    "add": (("subtract", 0, 1),),
    "divide": (("multiply", 0, 1), ("multiply", 1, 0)),
    "multiply": (("divide", 0, 1),),
}
"""What undoes what: the function whose result is the first operand, which of its operands comes back, and
which of them stands as the second operand too."""

_UNARY_INVERSES = {"negate": "negate", "inverse": "inverse", "floor": "floor"}
"""Functions of one operand whose result, given to the other, comes back as it was, or as it is."""


def _describe_redundant_call(plan: Plan, terms: SymbolicRun, call: Call) -> str | None:
    """Why a call gives back a value that is there already; None where it does not."""
    arguments = [value for _, value in call.arguments]
    for index, number in _IDENTITY_OPERANDS.get(call.name, ()):
        if (
            len(arguments) == 2
            and number_of(arguments[index]) == number
            and isinstance(arguments[1 - index], Ref)
        ):
            producer = _format_call(plan, arguments[1 - index].call)
            operation = _OPERATION_WORDS.get(call.name, "to the power of")
            return f"returns the result of {producer}: {operation} {number}"
    if not arguments or not isinstance(arguments[0], Ref):
        return None
    maker = plan.calls[arguments[0].call]
    if len(arguments) == 1 and _UNARY_INVERSES.get(call.name) == maker.name:
        if call.name == "floor":
            return f"returns the result of {_format_call(plan, arguments[0].call)}, which is already complete"
        return f"undoes {_format_call(plan, arguments[0].call)}, and returns its input"
    operands = [value for _, value in maker.arguments]
    for name, back, other in _INVERSES.get(call.name, ()):
        fits = maker.name == name and len(arguments) == len(operands) == 2 and isinstance(operands[back], Ref)
        if fits and _value_key(terms, operands[other]) == _value_key(terms, arguments[1]):
            return f"undoes {_format_call(plan, arguments[0].call)}, and returns its input"
    return None


def _value_key(terms: SymbolicRun, value: Any) -> Any:
    """What a value is, the same for equal values: of a reference the term that it stands for."""
    if isinstance(value, Ref):
        return ("ref", terms.keys[value.call])
    return value if not isinstance(value, Unresolved) else object()


# ---------------------------------------------------------------- words
def _format_call(plan: Plan, position: int) -> str:
    return f"call {position + 1} ({shorten(plan.calls[position].tool, _WIDTH)})"


def _format_calls(plan: Plan, positions: Sequence[int]) -> str:
    if len(positions) == 1:
        return _format_call(plan, positions[0])
    numbers = [str(position + 1) for position in positions]
    if len(numbers) > 5:
        numbers[4:] = [format_count(len(numbers) - 4, "more")]
    tool = shorten(plan.calls[positions[0]].tool, _WIDTH)
    return f"calls {', '.join(numbers[:-1])} and {numbers[-1]} ({tool})"


# ----------------------------------------------------------------------
# Records of one question, up to values, whose gold plans are of different shape: one may be wrong.
TWIN_CODES = ("gold.twin",)
MAX_NAMED_RECORDS = 4
"""So many records are named in a message and in `related`, the first ones."""


class ShapeSummary(NamedTuple):
    """What is told of plans of one shape.

    Args:
        tools: What they call, as the first of them writes it.
        given: What their calls are given.
        bare: Their shape, whatever they answer with.
    """

    tools: tuple[str, ...]
    given: tuple[tuple[str, str], ...]
    bare: str


class _Item(NamedTuple):
    """A record of a group of one question, up to values: its place, name and shape."""

    number: int
    record: str
    shape: str


class TwinFinder:
    """Records whose plan has another shape than those of records with the same question, up to values.

    Questions are alike as :func:`planner_eval.reading.files.context.question_template` says; shapes
    are those of :class:`planner_eval.plan.canonical.EquivalenceClasses`, up to values. Where one shape is
    that of more than half of a group, the others are doubtful: of three or more and at least three in
    four that agree, ``medium``; of a smaller majority, and where there is none (all are then named),
    ``low``. Never ``high``: a question up to values may ask for other calls where a value decides which;
    of questions that are not in English always ``low``, for what is a name or a number is known of
    English. No more is kept of records than their names and shapes, and a sketch of each shape.

    >>> from planner_eval.reading.dialects.read import parse
    >>> twins = TwinFinder()
    >>> for place, plan in enumerate(["f(x=3)", "f(x=5)", "g(x=7)"]):
    ...     twins.add(place, AuditedRecord(f"q{place}", parse(plan), f"Take {place} off."))
    >>> [(place, found.related) for place, found in twins.found()]
    [(2, ('q0', 'q1'))]
    """

    def __init__(self) -> None:
        self._shapes = EquivalenceClasses(values=False)
        self._sketches: dict[str, ShapeSummary] = {}
        self._groups: dict[tuple[str, str], list[_Item]] = {}
        self._foreign: set[tuple[str, str]] = set()

    def add(self, number: int, subject: AuditedRecord) -> None:
        """Look at one more record, if it asks something; `number` is its position."""
        if subject.query is None:
            return
        shape = self._shapes.of(subject.plan)
        if shape not in self._sketches:
            plan = subject.plan
            self._sketches[shape] = ShapeSummary(
                tuple(call.tool for call in plan.calls),
                tuple(sorted((call.tool, name) for call in plan.calls for name, _ in call.arguments)),
                shape if plan.answer is None else self._shapes.of(replace(plan, answer=None)),
            )
        tools = subject.catalog.tools if subject.catalog is not None else ()
        names = sorted((tool.app or "", tool.name) for tool in tools)  # those on offer
        key = text_hash(question_template(subject.query)), text_hash(repr(names))
        group = self._groups.setdefault(key, [])
        if group and group[0].shape != shape and not is_readable([*words(subject.query)]):
            self._foreign.add(key)
        group.append(_Item(number, subject.record, shape))

    def found(self) -> Iterator[tuple[int, GoldFinding]]:
        """The findings, each with the number of its record."""
        for key, group in self._groups.items():
            counts = Counter(item.shape for item in group)
            if len(counts) < 2:
                continue
            (first, most), (_, second) = counts.most_common(2)
            usual = first if most > second and 2 * most > len(group) else None
            agree = usual is not None and most >= 3 and 4 * most >= 3 * len(group)
            confidence: Confidence = "medium" if agree and key not in self._foreign else "low"
            messages = {  # once a shape, however many have it
                shape: _format_message(group, shape, usual, counts, self._sketches)
                for shape in counts
                if shape != usual
            }
            for number, _, shape in group:
                if shape != usual:
                    message, names = messages[shape]
                    yield number, GoldFinding("gold.twin", message, confidence, None, None, names)


def _format_message(
    group: Sequence[_Item],
    shape: str,
    usual: str | None,
    counts: Counter[str],
    sketches: Mapping[str, ShapeSummary],
) -> tuple[str, tuple[str, ...]]:
    """What is told of the records of a shape, and the first of those that they differ from."""
    differing = [item for item in group if (item.shape == usual if usual else item.shape != shape)]
    names = tuple(item.record for item in differing[:MAX_NAMED_RECORDS])
    what = (
        f"the question matches {', '.join(names)}{', …' if len(differing) > len(names) else ''}, up to values"
    )
    if usual is None and len(counts) > 2:
        return f"{what}; their plans have {format_count(len(counts), 'shape')}", names
    usual_text, odd_text = _describe_difference(sketches[differing[0].shape], sketches[shape])
    whose = "whose plans make" if len(differing) > 1 else "whose plan makes"
    return f"{what}, {whose} {usual_text}; this one makes {odd_text}", names


def _describe_difference(usual: ShapeSummary, odd: ShapeSummary) -> tuple[str, str]:
    """What plans of two shapes call, or that only what they pass on differs."""
    calls = f"the calls {_format_tools(usual.tools)}"
    if sorted(odd.tools) != sorted(usual.tools):
        return calls, _format_tools(odd.tools)
    if odd.given != usual.given:
        return f"{calls} with other arguments", "them with its own"
    how = "answer with other results" if usual.bare == odd.bare else "pass their results differently"
    return f"{calls} and {how}", "them too"


def _format_tools(tools: Sequence[str]) -> str:
    if not tools:
        return "none at all"
    return shorten(", ".join(tools[:6]), 120) + (f" and {len(tools) - 6} more" if len(tools) > 6 else "")


# ----------------------------------------------------------------------
# Records of one question and the same tools whose gold accepts other values.
DISAGREEMENT_CODES = ("gold.disagreeing",)


class _Accepted(NamedTuple):
    """What a record accepts: of each call its arguments, each with the values that are right.

    A value's key is without regard to case and blanks.
    """

    number: int
    record: str
    tool: str
    calls: tuple[dict[str, dict[str, str]], ...]


class DisagreementFinder:
    """Holds records of one question beside each other, and remembers what each accepts.

    >>> from planner_eval.reading.dialects.read import parse
    >>> finder = DisagreementFinder()
    >>> for number, city in enumerate(("Rome", "Roma")):
    ...     finder.add(number, AuditedRecord(f"q{number}", parse(f"book(city='{city}')"), "A room in Rome"))
    >>> for _, finding in finder.found(): print(finding.message)
    city of book is "Rome" here and "Roma" in q1, of the same question
    city of book is "Roma" here and "Rome" in q0, of the same question
    """

    def __init__(self) -> None:
        self._groups: dict[tuple[Any, ...], list[_Accepted]] = {}

    def add(self, number: int, subject: AuditedRecord) -> None:
        """Look at one more record; `number` is its position."""
        if subject.query is None or len({call.tool for call in subject.plan.calls}) != 1:
            return  # of several tools one may return what another is given
        calls = subject.plan.calls
        declared = repr([find_tool(call, subject.catalog) for call in calls] if subject.catalog else None)
        key = (
            declared,
            " ".join((subject.said or subject.query).split()).casefold(),
            *(call.tool for call in calls),
        )
        accepted = tuple(
            {name: _spell_all(value, call.id, name, subject) for name, value in call.arguments}
            for call in calls
            if not any(is_dependent(value) for _, value in call.arguments)
        )
        if len(accepted) == len(calls):
            self._groups.setdefault(key, []).append(
                _Accepted(number, subject.record, calls[0].tool, accepted)
            )

    def found(self) -> Iterator[tuple[int, GoldFinding]]:
        """The findings, each with the number of its record, held against the first that differs."""
        for group in self._groups.values():
            distinct = {repr(record.calls): record for record in reversed(group)}
            others = sorted(distinct.values(), key=lambda record: record.number)
            for record in group:
                findings = (_compare(record, other) for other in others)
                if (finding := next(filter(None, findings), None)) is not None:
                    yield record.number, finding


def _spell_all(value: Value, call: str, name: str, subject: AuditedRecord) -> dict[str, str]:
    """All values of an argument that are right, as they are written, by what tells them apart."""
    values = [value]
    if subject.open_values is not None:
        values += subject.open_values.values(call, name)
        values += [""] if subject.open_values.is_omittable(call, name) else []
    numbers = (int(v) if isinstance(v, float) and v.is_integer() else v for v in values)
    texts = [one_line_json(v, 500) for v in numbers]
    return {" ".join(text.split()).casefold(): text for text in reversed(texts)}


def _compare(record: _Accepted, other: _Accepted) -> GoldFinding | None:
    """In what two records of one question differ: an argument of which they accept other values."""
    for position, (call, other_call) in enumerate(zip(record.calls, other.calls, strict=True)):
        for name, values in call.items():
            other_values = other_call.get(name)
            if other_values is None or values.keys() == other_values.keys():
                continue
            here, there = _first_beyond(values, other_values), _first_beyond(other_values, values)
            verb = "is" if values.keys().isdisjoint(other_values) else "accepts"
            comparison = f"{here} here and {there} in {other.record}"
            message = f"{name} of {record.tool} {verb} {comparison}, of the same question"
            return GoldFinding("gold.disagreeing", message, "medium", position, name, (other.record,))
    return None


def _first_beyond(values: dict[str, str], other_values: dict[str, str]) -> str:
    """A value that only one of two records accepts."""
    return values[min(values.keys() - other_values.keys())] if values.keys() - other_values else "no more"
