"""Two systems compared, or several with the first: names, figures, tests, and the verdict in one sentence."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from planner_eval.base.counts import gap_text, ratio_text
from planner_eval.base.errors import NAMES, InputError, expect_or_none
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import JsonObject, did_you_mean, format_count, format_first, one_line
from planner_eval.results.intervals import Difference
from planner_eval.results.report import Estimate
from planner_eval.results.scored import ScoredRow

if TYPE_CHECKING:
    from planner_eval.results.totals import ConversationSums
    from planner_eval.results.trials import TaskCount


HEADS = (
    "", "metric", "difference", "95 %", "p", "test", "records", "n", "cause", "gold calls", "called",
    "gold's tool", "predicted tool", "cost",
    "first wrong turn", "first wrong step",
    "system",
)  # fmt: skip
"""Heads of columns, which no system may be called."""
TERMINAL_WIDTH = 100
"""A terminal's width: where names of systems make tables wider they are letters, with a legend."""


def free_names(names: Iterable[str], heads: Collection[str] = HEADS) -> tuple[str, ...]:
    """Names of systems such that no two are equal and none is the head of another column.

    Args:
        names: What they are called.
        heads: The heads of what stands beside them; those of compared systems when left out.

    >>> free_names(["m", "m", "p"]), free_names(["m", "p"], heads=["figure"])
    (('m', 'm (2)', 'system p'), ('m', 'p'))
    """
    unique: dict[str, None] = {}
    for name in names:
        base = f"system {name}".strip() if name in heads else name
        candidates = (base if number == 1 else f"{base} ({number})" for number in count(1))
        unique[next(candidate for candidate in candidates if candidate not in unique)] = None
    return tuple(unique)


def name_systems(systems: Any, names: Sequence[str] | None) -> tuple[list[Any], tuple[str, ...]]:
    """Systems, and what they are called: as the user says, else A, B and so on; no two alike.

    Args:
        systems: The systems; a mapping says what they are called.
        names: What they are called, where that is said.

    Raises:
        InputError: there are no two systems, or not as many names.
    """
    if isinstance(systems, Mapping):
        names, systems = (tuple(systems) if names is None else names), list(systems.values())
    if not isinstance(systems, (list, tuple)) or len(systems) < 2:
        kind = f"{len(systems)}" if isinstance(systems, (list, tuple)) else f"a {type(systems).__name__}"
        raise InputError(f"the systems are {kind}, expected a list or a mapping of two or more: [a, b, c]")
    expect_or_none(NAMES, names=names)
    if names is None:
        names = letter_names(len(systems))
    if len(names) != len(systems):
        raise InputError(f"there are {len(names)} names for {len(systems)} systems")
    return [*systems], free_names(names)


def letter_names(count: int) -> list[str]:
    """Short names of so many systems: A, B and so on.

    >>> letter_names(27)[-2:]
    ['Z', 'S27']
    """
    return [chr(ord("A") + index) if index < 26 else f"S{index + 1}" for index in range(count)]


def letter_legend(names: Sequence[str]) -> str:
    """Which letter stands for which system, a line each."""
    letters = letter_names(len(names))
    return "\n".join(f"{a}: {one_line(name, 90)}" for a, name in zip(letters, names, strict=True))


class Records(NamedTuple):
    """What became of the records of one system.

    Args:
        records: Pairs of a prediction and a gold plan, and those of which one is missing.
        read: Predictions that were compared with a gold plan.
        repaired: Of these, those that were readable only after repair.
        same: Predictions that mean the same as gold.
        strictly_same: Of these, those that were readable without repair.
        unreadable: Predictions that cannot be read; they count as wrong.
        cut: Answers that were cut off before their end; they count as wrong.
        refused: Answers that the model, or a filter, refused; they count as wrong.
        failed: Errors of an API in place of an answer; they count as wrong.
        absent: Gold plans without a prediction; they count as wrong.
        gold_unreadable: Gold plans that cannot be read; they do not count.
        gold_absent: Predictions without a gold plan; they do not count.
        repeated: Predictions left out because an earlier one has their id.
        repairable: Of those that strict reading alone refused, those that repair would make readable; None
            where nobody tried.
    """

    records: int
    read: int
    repaired: int
    same: int
    strictly_same: int
    unreadable: int
    cut: int
    refused: int
    failed: int
    absent: int
    gold_unreadable: int
    gold_absent: int
    repeated: int = 0
    repairable: int | None = 0

    @property
    def judged(self) -> int:
        """Pairs that figures are made of: those with a readable gold plan."""
        return self.records - self.gold_unreadable - self.gold_absent

    @property
    def unreadable_as_written(self) -> int:
        """Predictions that no strict reading takes, mended or not."""
        return self.unreadable + self.cut + self.repaired

    @property
    def unreadable_once_repaired(self) -> int | None:
        """Predictions that cannot be read even once small faults are mended; None where nobody tried."""
        return None if self.repairable is None else self.unreadable + self.cut - self.repairable


def unreadable_text(names: Sequence[str], records: Sequence[Records]) -> str:
    """How many predictions of each system cannot be read, as they are written and once they are repaired.

    Args:
        names: What the systems are called.
        records: What became of the records of each.

    Returns:
        One line; "" where all can be read as they are written.

    >>> none = Records(*[0] * 12)
    >>> one, other = none._replace(records=300, unreadable=12, repaired=207), none._replace(records=300)
    >>> unreadable_text(["A", "B"], [one, other])
    'without a readable plan: A 219 of 300 before repair, 12 after; B 0 of 300'
    """
    if not any(counts.unreadable_as_written for counts in records):
        return ""
    clauses = []
    for name, counts in zip(names, records, strict=True):
        written, repaired = counts.unreadable_as_written, counts.unreadable_once_repaired
        after = "" if repaired is None or not written else f" before repair, {repaired} after"
        clauses.append(f"{name} {written} of {counts.judged}{after}")
    return f"without a readable plan: {'; '.join(clauses)}"


def record_rows(names: Sequence[str], records: Sequence[Records], **labels: str) -> list[JsonObject]:
    """The counts of systems, a row a state; those that are rare only where there are some.

    Args:
        names: What the systems are called.
        records: What became of the records of each.
        labels: What some counts are called.
    """
    records = [counts._replace(records=counts.records - counts.gold_absent) for counts in records]
    labels = {"records": "all", "strictly_same": "same without repair", **labels}
    always = ("records", "read", "repaired", "same", "strictly_same", "unreadable", "absent")
    return [
        {
            "records": labels.get(name, name.replace("_", " ")),
            **dict(zip(names, counts, strict=True)),
        }
        for name, counts in zip(Records._fields, zip(*records, strict=True), strict=True)
        if name in always or any(counts)
    ]


_MAX_NAMED = 5
SIGNIFICANCE_LEVEL = 0.05
"""A difference is sure whose corrected probability is no greater."""


@dataclass(frozen=True, slots=True)
class Line:
    """One metric under two systems.

    Args:
        first: The first system's figure.
        second: The second's.
        difference: Second less first, with interval and test.
        p: The test's probability after Holm's correction over all figures of the comparison; in a
            breakdown over all of the breakdown.
        lower: Less is better.
    """

    first: Estimate
    second: Estimate
    difference: Difference
    p: float | None = None
    lower: bool = False

    @property
    def name(self) -> str:
        """The metric."""
        return self.first.name

    @property
    def gain(self) -> float | None:
        """By how much the second is better; below 0 where it is worse."""
        value = self.difference.value
        return value if value is None or not self.lower else -value

    @property
    def sure(self) -> bool:
        """Whether the two differ for sure."""
        return bool(self.gain) and self.p is not None and self.p <= SIGNIFICANCE_LEVEL


@dataclass(frozen=True, slots=True)
class BothRead:
    """The same two systems over the samples that both answered readably, where these are not all.

    Args:
        n: How many those are.
        lines: One a metric; the probabilities are corrected over these figures alone.
        causes: For each system code of a root cause → how often.
        unread: For each system why it has no readable answer to samples → how many, among all.
        lead: Of the other samples: those that only the second gets right, less those that only the first.
    """

    n: int
    lines: tuple[Line, ...]
    causes: tuple[Mapping[str, int], Mapping[str, int]]
    unread: tuple[Mapping[str, int], Mapping[str, int]]
    lead: int


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two systems on the same samples.

    Args:
        names: What the two are called.
        records: What became of the records of each.
        unanswered: Of the samples that both were judged on, how many predictions of each were
            unreadable, cut, refused, failed or absent, and so count as wrong.
        lines: One a metric.
        n: Samples that both were judged on.
        lost: Ids of samples that only the first gets right.
        won: Ids of samples that only the second gets right.
        breakdown: Key → value → lines.
        mistaken: For each system (gold's tool, the tool called) → how often, in predictions that were read.
        rows: The scored pairs of each, none left out.
        signature: How the figures were made.
        conversations: Turns and costs of each system's judged records.
        read: Which fields were read as each system's answers and as gold, in words.
        family: Over how many figures the probabilities are corrected.
        lacks: What no gold plan has that figures count.
        causes: For each system code of a root cause → how often.
        both_read: The same over what both answered readably; None where that is all.
        tasks: Where samples are trials: how often each task was tried and right under either system.
    """

    names: tuple[str, str]
    records: tuple[Records, Records]
    unanswered: tuple[int, int]
    lines: tuple[Line, ...]
    n: int
    lost: tuple[str, ...]
    won: tuple[str, ...]
    breakdown: Mapping[str, Mapping[str, tuple[Line, ...]]]
    mistaken: tuple[Mapping[tuple[str, str], int], Mapping[tuple[str, str], int]]
    rows: tuple[Sequence[ScoredRow], Sequence[ScoredRow]]
    signature: str
    conversations: tuple[ConversationSums, ConversationSums]
    read: Mapping[str, str] = field(default_factory=dict)
    family: int = 0
    lacks: tuple[str, ...] = ()
    causes: tuple[Mapping[str, int], Mapping[str, int]] = field(default_factory=lambda: ({}, {}))
    both_read: BothRead | None = None
    tasks: Mapping[str, tuple[TaskCount, TaskCount]] = field(default_factory=dict)

    @property
    def defined(self) -> list[Line]:
        """The lines of metrics that are defined for both systems."""
        return [line for line in self.lines if line.difference.value is not None]

    @property
    def verdict(self) -> str:
        """Whether the second system is better than the first, in one sentence.

        It is about ``exact``, or the first figure that there is, and names the others that are sure; where
        not all was read, it says what that has to do with it, and what is so over what both answered
        readably.
        """
        lines = self.defined
        if not self.n or not lines:
            why = (
                f"no metric is defined for both, n = {self.n}" if self.n else "no record was scored for both"
            )
            return f"{self.names[0]} and {self.names[1]} cannot be compared: {why}"
        main = next((line for line in lines if line.name == "exact"), lines[0])
        return f"{_comparison_sentence(self, main, lines)}{_unread_sentence(self, main)}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Several systems on the same samples, each against the first.

    Args:
        contrasts: One for each system but the first.
        metrics: The metrics they were scored with.
        seed: Where random numbers started.
        cluster: By which of the rows' keys samples lie in clusters.
    """

    contrasts: tuple[Contrast, ...]
    metrics: tuple[str, ...] = ()
    seed: int = 0
    cluster: str | None = None

    def of_each(self, name: str) -> tuple[Any, ...]:
        """What contrasts have of their two systems, of each system once: the first, then the others."""
        pairs = [getattr(contrast, name) for contrast in self.contrasts]
        return (pairs[0][0], *(pair[1] for pair in pairs))

    @property
    def common(self) -> Contrast:
        """The contrast that is asked for what all have in common: metrics, keys, how figures were made."""
        return self.contrasts[0]

    @property
    def names(self) -> tuple[str, ...]:
        """What the systems are called, the first before all."""
        return self.of_each("names")

    @property
    def n(self) -> int:
        """Samples on which the first and any other were judged."""
        return max(contrast.n for contrast in self.contrasts)

    @property
    def records(self) -> tuple[Records, ...]:
        """What became of the records of each system, the first before all."""
        return self.of_each("records")

    @property
    def conversations(self) -> tuple[ConversationSums, ...]:
        """Turns and costs of each system, the first before all."""
        return self.of_each("conversations")

    @property
    def unreadable(self) -> str:
        """How many predictions of each system cannot be read, and how many after repair; "" where none."""
        return unreadable_text(self.names, self.records)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """One sentence for each system but the first."""
        return tuple(contrast.verdict for contrast in self.contrasts)


_UNREAD_PHRASES = {
    "unreadable": "unreadable",
    "cut": "cut off",
    "refused": "refused",
    "failed": "failed",
    "absent": "missing",
}
"""What an answer is that holds no readable plan, by its state."""


def _comparison_sentence(contrast: Contrast, main: Line, lines: Sequence[Line]) -> str:
    first, second = contrast.names
    if not (contrast.lost or contrast.won or any(line.gain for line in lines)):
        value = ratio_text(main.first.value or 0.0)
        return f"{first} and {second} have the same scores: n = {contrast.n}, {main.name} {value}"
    over = f" after Holm's correction for {contrast.family} tests" if contrast.family > 1 else ""
    other_sure = [line for line in lines if line.sure and line is not main]
    probability = f"{_p_text(main)}{over}"
    figures = f"{values_text(main)}, {probability}"
    if main.sure:
        how = direction_word(main)
        return f"{second} is {how} than {first} in {main.name}: {figures}" + _other_figures_text(
            other_sure, "also "
        )
    if other_sure:
        lead = f"{second} is{_other_figures_text(other_sure, '')[1:]} than {first}"
        return f"{lead}; the difference in {main.name} is not significant: {figures}"
    lead = f"no significant difference between {second} and {first}"
    return f"{lead}: {main.name} {values_text(main)}, n = {contrast.n}, {probability}"


def _unread_sentence(contrast: Contrast, main: Line) -> str:
    """How much was not read, whether that makes the difference, and what is so where both were read."""
    read = contrast.both_read
    if read is None:
        return ""
    clauses = []
    for name, states in zip(contrast.names, read.unread, strict=True):
        kinds = [(count, _UNREAD_PHRASES[state]) for state, count in states.items()]
        if kinds:
            count, kind = kinds[0]
            verb = "is" if count == 1 else "are"
            more = "".join(f", {count} {kind}" for count, kind in kinds[1:])
            clauses.append(f"{count} of {name}'s {format_count(contrast.n, 'answer')} {verb} {kind}{more}")
    # Counted, not guessed: whether more than half of a sure lead lies in samples that the worse system has no
    # readable answer to. A sample is right or wrong, and the lead is the sum over samples.
    lead = len(contrast.won) - len(contrast.lost)
    is_from_unread = main.name == "exact" and main.sure and 2 * read.lead * lead > lead * lead
    why = "mostly because " if is_from_unread else ""
    both = "one record" if read.n == 1 else format_count(read.n, "record")
    over_both = f"over the {both} where both answers are readable"
    line = next((candidate for candidate in read.lines if candidate.name == main.name), None)
    if not read.n:
        over_both = "no record has a readable answer from both"
    elif line is None or line.gain is None:
        over_both += f", {main.name} is undefined"
    else:
        better = f"{contrast.names[1]} is {direction_word(line)}"
        how = better if line.sure else "no significant difference"
        over_both += f", {how}: {main.name} {values_text(line)}, {_p_text(line)}"
    return f"; {why}{' and '.join(clauses)}; {over_both}"


def values_text(line: Line) -> str:
    """Both figures, the second first, with as many digits as tell them apart."""
    first, other = line.first.value or 0.0, line.second.value or 0.0
    digits = next((d for d in range(2, 10) if f"{first:.{d}f}" != f"{other:.{d}f}"), 2)
    return f"{other:.{digits}f} against {first:.{digits}f}"


def _p_text(line: Line) -> str:
    if line.p is None:
        return "no test"
    return "p < 0.0001" if line.p < 0.0001 else f"p = {line.p:.2g}"


def direction_word(line: Line) -> str:
    """Whether the second system is better or worse in a figure."""
    return "better" if (line.gain or 0) > 0 else "worse"


def _other_figures_text(lines: Sequence[Line], lead: str) -> str:
    """Further figures that are sure: ``; also better in calls, apps; worse in order_tau``."""
    clauses = []
    for how in ("better", "worse"):
        names = [line.name for line in lines if direction_word(line) == how]
        clauses += [f"{how} in {format_first(names, _MAX_NAMED)}"] if names else []
    return f"; {lead}{' and '.join(clauses)}" if clauses else ""


# ----------------------------------------------------------------------
# Whether a system is worse than the first by more than a user allows.
_EPSILON = 1e-12
"""Differences of sums of floats that are smaller are none."""


class Allowance(NamedTuple):
    """What ``--fail-if-worse`` allows.

    Args:
        metric: The figure.
        margin: How much worse it may be for sure; None where only the figure itself counts.
    """

    metric: str
    margin: float | None = None

    @property
    def said(self) -> str:
        """As the user writes it."""
        return self.metric if self.margin is None else f"{self.metric}:{self.margin:g}"


class LimitResult(NamedTuple):
    """Whether a figure, or a difference, keeps to what is expected of it.

    Args:
        met: It does.
        said: The figures and what is expected, in words.
    """

    met: bool
    said: str


def check_allowance(contrast: Contrast, allowed: Allowance) -> LimitResult:
    """Whether the second system is not worse than the first in a figure.

    Without a margin the figure itself decides: it may not be worse. With one, that of a test of
    non-inferiority: the end of the interval of 95 % on the worse side may not lie beyond the margin, so
    that too few samples fail as well.

    Raises:
        InputError: the comparison has no such figure.
    """
    line = next((candidate for candidate in contrast.lines if candidate.name == allowed.metric), None)
    if line is None:
        names = [candidate.name for candidate in contrast.lines]
        hint = did_you_mean(allowed.metric, names, f"expected one of {', '.join(names)}")
        raise InputError(f"the comparison has no metric {allowed.metric!r}; {hint}")
    first, second = contrast.names
    gap = line.difference
    if line.gain is None:
        estimates = zip(contrast.names, (line.first, line.second), strict=True)
        undefined = [name for name, estimate in estimates if estimate.value is None]
        return LimitResult(False, f"{allowed.metric} is undefined for {' and '.join(undefined)}")
    differ = f"difference {gap_text(gap.value or 0.0)}"
    message = f"{allowed.metric} of {second} is {values_text(line)} of {first}, {differ}"
    direction = "higher" if line.lower else "lower"
    if allowed.margin is None:
        return LimitResult(line.gain >= -_EPSILON, f"{message}, expected none {direction}")
    if gap.low is None or gap.high is None:
        return LimitResult(False, f"{message}, without an interval: all samples are in one cluster")
    worst = -gap.high if line.lower else gap.low
    span = f"95 % {gap.low:+.4f}…{gap.high:+.4f}"
    return LimitResult(
        worst >= -allowed.margin - _EPSILON,
        f"{message}, {span}, expected with 95 % confidence at most {allowed.margin:g} {direction}",
    )


# ----------------------------------------------------------------------
# Whether a figure reaches what is wanted of it, in words.
_PERCENT = 100


def check_threshold(name: str, value: Any, least: float, *, lower: bool = False) -> LimitResult:
    """Whether a figure reaches what is wanted.

    Args:
        name: What the figure is called.
        value: The figure; what is no number does not exist.
        least: What it must reach.
        lower: Less is better, so that it is the most that is allowed.

    >>> check_threshold("exact", 0.899999, 0.9)
    LimitResult(met=False, said='exact is 0.899999, expected at least 0.9')
    >>> check_threshold("exact", 0.7, 0.70000001).said
    'exact is 0.7000, expected at least 0.70000001'
    >>> check_threshold("exact", 0.95, 90).said
    'exact is 0.9500, expected at least 90; scores go up to 1: write 90 % as 0.9'
    """
    expectation = f"expected at {'most' if lower else 'least'} {least:.12g}"
    if not isinstance(value, (int, float)):
        return LimitResult(False, f"{name} is undefined, {expectation}")
    met = value <= least if lower else value >= least
    if not lower and 0 <= value <= 1 < least <= _PERCENT:
        expectation += f"; scores go up to 1: write {least:g} % as {least / _PERCENT:g}"
    value_text = f"{value:.4f}"
    if value != least and float(value_text) == least:  # rounded it would say that it is the threshold
        value_text = repr(value)
    return LimitResult(met, f"{name} is {value_text}, {expectation}")
