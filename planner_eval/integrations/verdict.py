"""What every integration says of an answer: whether it is the gold plan, and if not, why."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from inspect import isawaitable
from math import isfinite
from typing import Any

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import format_count, printable, shorten
from planner_eval.comparison.evaluate import PairedFiles, evaluate, pair
from planner_eval.comparison.gold_alternatives import describe_prose_plans, read_gold_strictly
from planner_eval.comparison.metrics import METRICS, choose_metrics
from planner_eval.comparison.policy.policy import DEFAULT_POLICY
from planner_eval.comparison.policy.resolve import AnyPolicy
from planner_eval.comparison.rows import STATES, Row
from planner_eval.plan.model import Plan
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.record import Record
from planner_eval.reading.parse import Source, gold_record, is_empty, only_record, text_as_record
from planner_eval.reading.settings import Reading
from planner_eval.results.contrast import check_threshold
from planner_eval.results.report import Report
from planner_eval.results.score import score
from planner_eval.results.views.rows import explanation

# ----------------------------------------------------------------------
# Assertions over plans: what a failing test says of them.
_MAX_LINES = 40
"""Lines of a plan that are shown."""

_MAX_PAIRS = 10
"""Pairs that are named where many are scored."""

_MAX_WIDTH = 200


def assert_same(pred: Source, gold: Source, policy: AnyPolicy = DEFAULT_POLICY) -> None:
    """Fail unless two plans mean the same, and say what differs, why, and what both plans are.

    Args:
        pred: The prediction: its text or data, a plan, a record, or the path of its file (no text:
            ``Path("pred.json")``).
        gold: What was wanted, likewise; a gold record's own terms and alternatives count.
        policy: How values compare: a policy, the name of a preset, or a policy's file.

    Raises:
        AssertionError: they do not mean the same, or one of them cannot be read.
        InputError: a file is not there or holds many plans, or there is no such policy.

    >>> assert_same("a = f(#x='1', #y='2')", "b = f(#y='2', #x='1')")
    >>> assert_same("f(#x='1')", "f(#x='2')")
    Traceback (most recent call last):
    AssertionError: different: 1 edit; first at f (call 1)
      argument.value: f (call 1): argument 'x' is "1", expected "2"
    prediction
      generation 1
        c1  f  x = "1"
    gold
      generation 1
        c1  f  x = "2"
    """
    __tracebackhide__ = True
    row = compare_pair(pred, gold, policy)
    if row.state != "same":
        raise AssertionError(failure_message(row))


def assert_scores(
    preds: Source, golds: Source, at_least: Mapping[str, float], policy: AnyPolicy = DEFAULT_POLICY
) -> None:
    """Fail unless the figures of many predictions reach what is wanted.

    Args:
        preds: The predictions: a list of texts, plans or records, or the path of a file.
        golds: The gold plans, likewise.
        at_least: What each figure must reach: ``{"exact": 0.9, "calls.recall": 0.95}``; of figures that are
            better the lower they are, what they may be at most.
        policy: How values compare.

    Raises:
        AssertionError: a figure falls short or does not exist, there are no pairs, or of a pair nothing can
            be said, for it has no gold plan that can be read.
        InputError: there is no such figure or policy, what it must reach is no number, or a file cannot be
            used.

    >>> assert_scores(["f(#x='1')", "g()"], ["f(#x='1')", "g()"], {"exact": 1.0})
    >>> assert_scores(["f(#x='1')", "g()"], ["f(#x='1')", "h()"], {"calls": 0.9})
    Traceback (most recent call last):
    AssertionError: calls is 0.5000, expected at least 0.9
    2 pairs: 1 same, 1 different; root causes: call.extra ×1, call.missing ×1
      2: different: g (call 1) is not in gold
    """
    __tracebackhide__ = True
    _refuse_invalid_thresholds(at_least)
    metrics = choose_metrics([name.partition(".")[0] for name in at_least])
    paired = pair(_treat_as_many(preds, "predictions"), _treat_as_many(golds, "gold"))
    report = score(paired, policy=policy, metrics=metrics)
    if not report.totals.pairs:
        raise AssertionError("no pairs: there are neither predictions nor gold plans")
    # gold plans that are words were taken for plans without calls
    wrong = [] if paired.gold.published else [*describe_prose_plans(paired.gold)]
    for name, least in at_least.items():
        lower = METRICS[name.partition(".")[0]].lower
        met, message = check_threshold(name, report.figure(name), least, lower=lower)
        wrong += [] if met else [message]
    unjudged = report.totals.pairs - report.judged
    if unjudged or not report.judged:
        wrong.append(f"{format_count(unjudged, 'pair')} of {report.totals.pairs:,} cannot be judged")
    if wrong:
        raise AssertionError("\n".join([*wrong, *_summarize_report(report)]))


def compare_pair(
    pred: Source, gold: Source, policy: AnyPolicy = DEFAULT_POLICY, *, repair: bool = False
) -> Row:
    """One pair, whatever became of it.

    Args:
        pred: The prediction, as :func:`assert_same` takes it.
        gold: What was wanted.
        policy: How values compare.
        repair: Mend small faults of the prediction that strict reading refuses.

    >>> compare_pair("f(", "f()").state
    'cut'
    """
    for name, source in (("the prediction", pred), ("gold", gold)):
        _refuse_unawaited(source)
        _refuse_several_texts(name, source)
    left, right = only_record(text_as_record(pred), "answer"), gold_record(gold)
    files = PlanFile(left.file, (left,), False), PlanFile(right.file, (right,), False)
    paired = PairedFiles(*files, "file", [(left, right)], reading=Reading(repair=repair))
    (row,) = evaluate(paired, policy=policy)
    if row.gold is not None:
        try:
            read_gold_strictly(right)
        except (ParseError, InputError) as error:
            message = str(error) if isinstance(error, InputError) else f"{right.where}: {error}"
            return row._replace(state="gold_unreadable", diff=None, gold=None, error=message)
    return row


def _refuse_unawaited(source: object) -> None:
    """An answer that nobody awaited is none.

    Raises:
        InputError: it is one.
    """
    if isawaitable(source):
        if isinstance(source, Coroutine):
            source.close()  # else Python warns of it again, later and elsewhere
        raise InputError(f"the plan is a {type(source).__name__} that was not awaited: add await")


def _refuse_several_texts(name: str, source: object) -> None:
    """Several texts are one plan to some and many to others; as one, what is no call among them is left out.

    Raises:
        InputError: these are several.
    """
    texts = source if isinstance(source, (list, tuple)) else ()
    if len(texts) > 1 and all(isinstance(text, str) for text in texts):
        raise InputError(
            f"{name} is a list of {len(texts):,} texts, expected one plan: one text with a call a line, or "
            "what pe.parse makes of the list; pe.assert_scores takes many plans"
        )


def failure_message(row: Row) -> str:
    """What a failing test says of a pair: the causes, and both plans."""
    plans = [("prediction", row.pred), ("gold", row.gold)]
    return "\n".join([explanation(row), *(listing(name, plan) for name, plan in plans if plan is not None)])


def listing(name: str, plan: Plan) -> str:
    """A plan below its name, call by call."""
    lines = printable(str(plan)).splitlines()
    more = [f"… {len(lines) - _MAX_LINES:,} more lines"] if len(lines) > _MAX_LINES else []
    return "\n".join([name, *(f"  {shorten(line, _MAX_WIDTH)}" for line in (*lines[:_MAX_LINES], *more))])


def _refuse_invalid_thresholds(at_least: object) -> None:
    """What figures must reach is numbers by the figures' names.

    Raises:
        InputError: it is something else.
    """
    if not isinstance(at_least, Mapping) or not at_least:
        raise InputError(f"at_least is {at_least!r}, expected metrics and numbers, such as {{'exact': 0.9}}")
    for name, least in at_least.items():
        if not isinstance(name, str):
            raise InputError(f"at_least names the metric {name!r}, expected a text, such as 'exact'")
        if isinstance(least, bool) or not isinstance(least, (int, float)) or not isfinite(least):
            raise InputError(f"at_least gives {name} {least!r}, expected a number, such as 0.9")


def _treat_as_many(source: Source, name: str) -> Source:
    """Many plans: a list without any is none of them, and not one plan without calls."""
    return PlanFile(name, (), True) if is_empty(source) else source


def _summarize_report(report: Report) -> list[str]:
    """What became of the pairs, and of the first that are not right why."""
    states = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in report.states().items())
    codes = ", ".join(f"{code} ×{count}" for code, count in report.codes().items())
    lines = [f"{format_count(report.totals.pairs, 'pair')}: {states or 'none'}"]
    lines[0] += f"; root causes: {codes}" if codes else ""
    wrong = [row for row in report.rows if row.state != "same"]
    for row in wrong[:_MAX_PAIRS]:
        reason = (row.reason or STATES[row.state]).splitlines()[0]
        lines.append(printable(shorten(f"  {row.id}: {row.state.replace('_', ' ')}: {reason}", _MAX_WIDTH)))
    if len(wrong) > _MAX_PAIRS:
        lines.append(f"  … {len(wrong) - _MAX_PAIRS:,} more")
    return lines


# ----------------------------------------------------------------------
# What every integration says of an answer: whether it is the gold plan, and if not, why.
_MAX_CAUSES = 10
"""Root causes that a reason tells."""


UNJUDGED_METADATA: Mapping[str, Any] = {"state": "gold_unreadable", "causes": []}
"""What stands beside the figure that is none, where a package has a way to say so."""


class GoldError(InputError):
    """There is no gold plan, or none that can be read: nothing can be said of the answer."""


class Verdict(NamedTuple):
    """What is said of one answer.

    Args:
        state: ``"same"``, ``"different"``, or ``"unreadable"``, which is no plan at all.
        reason: Why, for people: a line a root cause, or what could not be read.
        causes: The codes of the root causes, in the order of the reason.
    """

    state: str
    reason: str
    causes: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether the answer means what gold means; the one figure that an integration gives."""
        return self.state == "same"

    @property
    def metadata(self) -> dict[str, Any]:
        """What stands beside the figure."""
        return {"state": self.state, "causes": list(self.causes)}


def judge(pred: Any, gold: Any, *, policy: Any = "default", repair: bool = True) -> Verdict:
    r"""Whether an answer is the gold plan, and the root causes where it is not.

    Args:
        pred: The answer, as a framework has it: text, messages, calls, or an object with one of them in a
            field that is known to hold answers.
        gold: The gold plan, likewise, or a gold record, whose own terms and alternatives count. One without
            calls is an empty list; words are none.
        policy: How values compare, as for :func:`planner_eval.diff`.
        repair: Mend small faults of an answer that strict reading refuses, as ``planeval score`` does.

    Raises:
        GoldError: there is no gold plan that can be read.
        InputError: there is no such policy.

    >>> judge("f(#x='1')", "f(#x='2')").reason
    '1 root cause:\nargument.value: f (call 1): argument \'x\' is "1", expected "2"'
    >>> judge("f(#x='1')", "f(#x='1')").same, judge("f(#x=", "f(#x='1')").state
    (True, 'unreadable')
    """
    record = _read_gold_record(gold)
    answer = _read_answer(pred)
    row = compare_pair(answer, record, policy, repair=repair)
    if row.state == "gold_unreadable":
        raise GoldError(f"the gold plan cannot be read: {_strip_location(row.error, record)}")
    if row.diff is None:
        return Verdict("unreadable", f"unreadable: {_strip_location(row.error, answer)}")
    if row.diff.same:
        return Verdict("same", f"the same plan: {format_count(len(row.diff.gold), 'call')}")
    roots = row.diff.roots
    lines = [f"{edit.code}: {edit.message}" for edit in roots[:_MAX_CAUSES]]
    more = [f"… and {len(roots) - _MAX_CAUSES:,} more"] if len(roots) > _MAX_CAUSES else []
    heads = [f"{format_count(len(roots), 'root cause')}:"]
    return Verdict("different", "\n".join([*heads, *lines, *more]), tuple(edit.code for edit in roots))


def expect_gold_record(gold: Any) -> Record:
    """The gold record of what a framework has as gold, with a plan that can be read.

    Args:
        gold: As for :func:`judge`.

    Raises:
        GoldError: there is none.

    >>> expect_gold_record('{"gold": "f()", "alternatives": ["g()"]}').source
    'f()'
    """
    record = _read_gold_record(gold)
    try:
        read_gold_strictly(record)
    except (ParseError, InputError) as error:
        raise GoldError(f"the gold plan cannot be read: {_strip_location(str(error), record)}") from None
    return record


def _read_gold_record(gold: Any) -> Record:
    """The record of gold, be its plan what it may."""
    if gold is None or gold == {}:  # a framework's sample without gold
        raise GoldError("there is no gold plan; one without calls is written []")
    if isinstance(gold, (list, tuple)):  # calls or messages: a framework's sample is never several records
        return Record("gold", 0, None, gold)
    try:
        return gold_record(gold)
    except InputError as error:
        raise GoldError(f"the gold plan cannot be read: {error}") from None


def _read_answer(value: Any) -> Record:
    """The record of an answer; of what is no plan at all, with the reason: a model may write anything."""
    if isinstance(value, (list, tuple)):
        return Record("answer", 0, None, value)
    try:
        return only_record(text_as_record("" if value is None else value), "answer")
    except InputError as error:
        return Record("answer", 0, None, "", error=ParseError(str(error)))


def _strip_location(problem: str | None, record: Record) -> str:
    """Why a record cannot be read, without its place: there is only the one."""
    return (problem or "").removeprefix(f"{record.where}: ")
