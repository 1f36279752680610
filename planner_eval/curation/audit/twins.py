"""Records of one question, up to values, whose gold plans are of different shape: one may be wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import islice

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import format_count, shorten
from planner_eval.curation.audit.words import is_readable, words
from planner_eval.plan.digest import EquivalenceClasses
from planner_eval.plan.model import Plan
from planner_eval.reading.question_templates import question_template
from planner_eval.results.findings import Confidence, GoldFinding

CODES = ("gold.twin",)
MAX_NAMED_RECORDS = 4
"""So many records are named in a message and in `related`, the first ones."""


class QuestionRecord(NamedTuple):
    """One record.

    Args:
        record: Its name.
        question: What is asked.
        plan: Its gold plan.
        tools: What tells the tools on offer apart, e.g. their names: only records with the same are twins.
    """

    record: str
    question: str
    plan: Plan
    tools: Hashable = None


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


class _QuestionGroup:
    """Records of one question, up to values: their places, names and shapes."""

    def __init__(self) -> None:
        self.items: list[tuple[int, str, str]] = []
        self.english = True

    def add(self, number: int, item: QuestionRecord, shape: str) -> None:
        if self.english and self.items and self.items[0][2] != shape:
            self.english = is_readable([*words(item.question)])
        self.items.append((number, item.record, shape))


class TwinFinder:
    """Records that go by, of which no more is kept than their names and shapes, and a sketch of each shape.

    >>> from planner_eval.reading.dialects.read import parse
    >>> twins = TwinFinder()
    >>> for place, plan in enumerate(["f(x=3)", "f(x=5)", "g(x=7)"]):
    ...     twins.add(place, QuestionRecord(f"q{place}", f"Take {place} off.", parse(plan)))
    >>> [(place, found.related) for place, found in twins.found()]
    [(2, ('q0', 'q1'))]
    """

    def __init__(self) -> None:
        self._shapes = EquivalenceClasses(values=False)
        self._sketches: dict[str, ShapeSummary] = {}
        self._groups: dict[tuple[bytes, Hashable], _QuestionGroup] = {}

    def add(self, number: int, item: QuestionRecord) -> None:
        """Look at one more record.

        Args:
            number: Its number.
            item: The record.
        """
        shape = self._shapes.of(item.plan)
        if shape not in self._sketches:
            self._sketches[shape] = self._sketch(item.plan, shape)
        template = question_template(item.question).encode("utf-8", "surrogatepass")
        key = blake2b(template, digest_size=16).digest(), item.tools
        self._groups.setdefault(key, _QuestionGroup()).add(number, item, shape)

    def found(self) -> Iterator[tuple[int, GoldFinding]]:
        """The findings, each with the number of its record."""
        for group in self._groups.values():
            yield from _find_odd_plans(group, self._sketches)

    def _sketch(self, plan: Plan, shape: str) -> ShapeSummary:
        tools = tuple(call.tool for call in plan.calls)
        argument_names = tuple(sorted((call.tool, name) for call in plan.calls for name, _ in call.arguments))
        return ShapeSummary(
            tools, argument_names, shape if plan.answer is None else self._shapes.of(_drop_answer(plan))
        )


def _drop_answer(plan: Plan) -> Plan:
    return replace(plan, answer=None)


def find_differing_twins(items: Iterable[QuestionRecord]) -> dict[str, list[GoldFinding]]:
    """Records whose plan has another shape than those of records with the same question, up to values.

    Questions are alike as :func:`planner_eval.reading.question_templates.question_template` says; shapes
    are those of :class:`planner_eval.plan.digest.EquivalenceClasses`, up to values. Where one shape is that
    of more than half of a
    group, the others are doubtful: of three or more and at least three in four that agree, ``medium``; of a
    smaller majority, and where there is none (all are then named), ``low``. Never ``high``: a question up to
    values may ask for other calls where a value decides which; of questions that are not in English always
    ``low``, for what is a name or a number is known of English.

    Args:
        items: The records of a data set.

    Returns:
        By record, in their order; records without a finding are left out.

    >>> from planner_eval.reading.dialects.read import parse
    >>> plans = {"a": "f(x=3)", "b": "f(x=5)", "c": "f(x=6)", "d": "g(x=7)"}
    >>> asked = [QuestionRecord(name, f"Take {len(name)} off.", parse(plan)) for name, plan in plans.items()]
    >>> for name, (found,) in find_differing_twins(asked).items(): print(name, found.confidence,
    ...     found.message)
    d medium the question is that of a, b, c, up to values, whose plans make the calls f; this one makes g
    """
    twins, names = TwinFinder(), list[str]()
    for number, item in enumerate(items):
        names.append(item.record)
        twins.add(number, item)
    findings: dict[str, list[GoldFinding]] = {}
    for number, finding in sorted(twins.found(), key=lambda pair: pair[0]):
        findings.setdefault(names[number], []).append(finding)
    return findings


def _find_odd_plans(
    group: _QuestionGroup, sketches: Mapping[str, ShapeSummary]
) -> Iterator[tuple[int, GoldFinding]]:
    counts = Counter(shape for _, _, shape in group.items)
    if len(counts) < 2:
        return
    total = len(group.items)
    (first, most), (_, second) = counts.most_common(2)
    usual = first if most > second and 2 * most > total else None
    agree = usual is not None and most >= 3 and 4 * most >= 3 * total
    confidence: Confidence = "medium" if agree and group.english else "low"
    messages: dict[str, tuple[str, tuple[str, ...]]] = {}
    for number, _, shape in group.items:
        if shape == usual:
            continue
        if shape not in messages:  # once a shape, however many have it
            messages[shape] = _format_message(group, shape, usual, counts, sketches)
        message, names = messages[shape]
        yield number, GoldFinding("gold.twin", message, confidence, None, None, names)


def _format_message(
    group: _QuestionGroup,
    shape: str,
    usual: str | None,
    counts: Counter[str],
    sketches: Mapping[str, ShapeSummary],
) -> tuple[str, tuple[str, ...]]:
    """What is told of the records of a shape, and the first of those that they differ from."""
    other_items = ((name, its) for _, name, its in group.items if (its == usual if usual else its != shape))
    few = tuple(islice(other_items, MAX_NAMED_RECORDS))
    count = counts[usual] if usual else len(group.items) - counts[shape]
    names = tuple(name for name, _ in few)
    what = f"{', '.join(names)}{', …' if count > MAX_NAMED_RECORDS else ''}"
    if usual is None and len(counts) > 2:
        shapes = format_count(len(counts), "shape")
        return f"the question is that of {what}, up to values; their plans are of {shapes}", names
    usual_text, odd_text = _describe_difference(sketches[few[0][1]], sketches[shape])
    whose = "whose plans make" if count > 1 else "whose plan makes"
    return (
        f"the question is that of {what}, up to values, {whose} {usual_text}; this one makes {odd_text}",
        names,
    )


def _describe_difference(usual: ShapeSummary, odd: ShapeSummary) -> tuple[str, str]:
    """What plans of two shapes call, or that only what they pass on differs."""
    if sorted(odd.tools) != sorted(usual.tools):
        return f"the calls {_format_tools(usual.tools)}", _format_tools(odd.tools)
    if odd.given != usual.given:
        return f"the calls {_format_tools(usual.tools)} with other arguments", "them with its own"
    if usual.bare == odd.bare:
        return f"the calls {_format_tools(usual.tools)} and answer with other results", "them too"
    return f"the calls {_format_tools(usual.tools)} and pass their results on otherwise", "them too"


def _format_tools(tools: Sequence[str]) -> str:
    if not tools:
        return "none at all"
    return shorten(", ".join(tools[:6]), 120) + (f" and {len(tools) - 6} more" if len(tools) > 6 else "")
