"""NESTful's figures and its win as its published scorer computes them, on the text of the answers."""

from __future__ import annotations

import functools
import json
import statistics
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeGuard

from planner_eval.base.text import format_count, format_first
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.nestful.formats import ParsedAnswer, find_reader
from planner_eval.benchmarks.nestful.official_metrics import (
    argument_pairs,
    gold_text,
    ground,
    macro,
    partial_score,
    predicted_text,
)
from planner_eval.benchmarks.nestful.reading import is_older_layout
from planner_eval.benchmarks.report import Figure, Run, SampleResults, Scorer, failed_figures, ratio

if TYPE_CHECKING:
    from planner_eval.execution.nestful import NestfulRunner

# ----------------------------------------------------------------------
# NESTful's win: the calls are run, and the last result is compared with the gold answer.
#
# How calls are run and results compared is here; the functions themselves come from outside, so that the
# caller decides where and under which limits a model's answer runs.
#
# Source: ``calculate_ans`` and ``calculate_win_score`` of the published ``scorer.py``.
_MAX_NAMED = 3
"""Functions that a note names."""


def is_runner(run: Run) -> TypeGuard[NestfulRunner]:
    """Whether a run can tell failure from False; to ask by isinstance takes longer than many an answer."""
    return hasattr(run, "outcome") and hasattr(run, "absent")


def absent_functions(run: Run | None, gold: Any) -> list[str]:
    """The functions that gold calls and the runner does not have; none where it cannot say."""
    if run is None or not isinstance(gold, list) or not is_runner(run):
        return []
    return run.absent(str(call["name"]) for call in gold if isinstance(call, dict) and "name" in call)


def absence_note(samples: int, names: Iterable[str], meaning: str) -> str:
    """What to know of samples that cannot be run here; "" where there are none.

    Args:
        samples: How many.
        names: The functions that do not exist, each once.
        meaning: What became of these samples in the figure.
    """
    if not samples:
        return ""
    where = f"see nestful:FOLDER ({format_first([*names], _MAX_NAMED)})"
    return f"{format_count(samples, 'sample')} {meaning}: functions that do not exist, {where}"


def is_win(answer: Any, gold: Any) -> bool:
    """Whether an answer counts as the gold answer.

    Two floats are compared after rounding the answer to as many decimals as the gold's text has; a tuple
    may equal a list. A failed run is the answer False, which equals a gold 0.

    Raises:
        IndexError: a float gold whose text has no point (``1e-05``), where the published code breaks off.

    >>> is_win(0.3333, 0.33), is_win(20, 20.0), is_win((1, (2,)), [1, [2]]), is_win(False, 0)
    (True, True, True, True)
    """
    if type(gold) is float and type(answer) is float:
        answer = round(answer, len(str(gold).split(".")[1]))
    if type(answer) is tuple and type(gold) is list:  # a tuple never equals a list as it stands
        answer = _as_lists(answer)
    return bool(answer == gold)


def _as_lists(value: Any) -> Any:
    return [_as_lists(item) for item in value] if isinstance(value, list | tuple) else value


# ----------------------------------------------------------------------
# NESTful's figures as its published scorer computes them, on the text of the answers.
DEFAULT_MODEL = "granite-3.1-8b-instruct"
"""The reader of plain JSON lists."""

_MALFORMED_ERRORS = (KeyError, TypeError, AttributeError, IndexError, ValueError, RecursionError)
_END_OF_TEXT = "<|endoftext|>"
_DUMMY_CALL = {"name": "dummy", "arguments": {}}
_F1_FIGURES = ("p_intent", "r_intent", "f1_intent", "p_slot", "r_slot", "f1_slot")

Pairs: TypeAlias = Sequence[tuple[str, Sequence[str]]]
"""API names, each with ``key = value`` texts of a call; the last of a name counts."""


class ScoredAnswer(NamedTuple):
    """What is counted of an answer that the published code can score."""

    gold_names: Sequence[str]
    names: Sequence[str]
    gold_pairs: Pairs
    pairs: Pairs
    partial: float
    win: bool | None
    absent: Sequence[str]
    older: bool
    failed: bool
    nameless: int
    unpaired: int

    @property
    def faulty(self) -> bool:
        """Something of it could not be read."""
        return self.failed or self.nameless > 0 or self.unpaired > 0


class OfficialOutcome(NamedTuple):
    """What is counted of an answer, None where nothing is, and the exception on which the code breaks off."""

    scored: ScoredAnswer | None
    error: str | None

    @property
    def ok(self) -> bool:
        """It wins; of one that is not run, all calls are gold's."""
        if self.scored is None:
            return False
        return self.scored.partial == 1 if self.scored.win is None else self.scored.win

    def figures(self) -> Iterable[Figure]:
        """Partial match, full match, win and parse errors."""
        if self.scored is None:
            return ()
        s = self.scored
        win = None if s.win is None else float(s.win)
        return _row_figures(s.partial, win, int(s.faulty), s.failed + s.nameless, s.unpaired)


@functools.lru_cache(maxsize=4096, typed=True)
def _row_figures(partial: float, *values: float | None) -> tuple[Figure, ...]:
    """The figures of a row; most rows are counted as another is."""
    names = ("partial", "full", "win", "parse_error", "err_intent", "err_slot")
    return tuple(map(Figure, names, (partial, float(partial == 1), *values)))


def scorer(model: str = DEFAULT_MODEL, run: Run | None = None) -> Scorer:
    """Every figure that NESTful's scorer prints; it prints numbers with three decimals.

    A sample's ``gold`` is the list of gold calls as released. For the win rate, ``tools`` is the list of tool
    specs and ``extra["gold_answer"]`` the answer. Where the published code raises, figures name the
    exception; the row at which it broke off names it too.

    Args:
        model: The model name that chooses the reader, see :data:`.formats.READERS`.
        run: Runs the decoded calls of an answer, see :mod:`.win`; without it the win rate is ``"no"``.

    Raises:
        InputError: the scorer has no reader for `model`.

    Source: ``calculate_scores`` of ``scorer.py`` at IBM's state fc2c412.

    >>> from planner_eval.benchmarks.nestful import score_official
    >>> calls = [{"name": "add", "label": "$var_1", "arguments": {"arg_0": 2, "arg_1": 3}}]
    >>> report = score_official([(Sample("a", gold=calls), json.dumps(calls))])
    >>> report.value("accuracy_combined"), report.value("win_rate")
    (1.0, 'no')
    """
    read_answer = find_reader(model)

    def judge(sample: Sample, text: str) -> OfficialOutcome:
        answer = read_answer(text)
        try:
            return OfficialOutcome(_score_answer(sample, text, answer, run), answer.abort)
        except _MALFORMED_ERRORS as raised:
            return OfficialOutcome(None, answer.abort or type(raised).__name__)

    return Scorer(judge, functools.partial(_figures, executed=run is not None), OfficialOutcome)


def _score_answer(sample: Sample, text: str, answer: ParsedAnswer, run: Run | None) -> ScoredAnswer:
    gold = ground(sample.gold)
    real = [entry for entry in answer.calls if entry != _DUMMY_CALL or list(entry) != list(_DUMMY_CALL)]
    entries = _clean_entries(real, text)
    names = [str(entry["name"]) for entry in entries if type(entry) is dict and "name" in entry]
    pred_pairs, unpaired = _entry_pairs(entries)
    texts = map(predicted_text, _clean_entries(answer.calls, text))
    win = None if run is None else _is_winning(answer.raw, sample, run)
    gold_names = [str(call["name"]) for call in gold]
    gold_pairs = [argument_pairs(call["arguments"]) for call in gold]
    return ScoredAnswer(
        gold_names=gold_names,
        names=names,
        gold_pairs=list(zip([call["name"] for call in gold], gold_pairs, strict=True)),
        pairs=list(pred_pairs.items()),
        partial=partial_score(list(map(gold_text, gold_names, gold_pairs)), list(filter(None, texts))),
        win=win,
        absent=absent_functions(run, sample.gold) if win is False else (),  # why it is lost
        older=win is False and is_older_layout(sample.tools),
        failed=answer.failed,
        nameless=len(entries) - len(names),
        unpaired=unpaired,
    )


def _clean_entries(entries: Sequence[Any], text: str) -> Sequence[Any]:
    """The entries without end-of-text marks, which the scorer deletes from their JSON text."""
    if "endoftext" not in text and "\\u" not in text:
        return entries
    return [json.loads(json.dumps(entry).replace(_END_OF_TEXT, "")) for entry in entries]


def _entry_pairs(entries: Sequence[Any]) -> tuple[dict[str, list[str]], int]:
    """The pairs of each API's last call, and how many entries lack a name or an object of arguments."""
    pairs_by_name: dict[str, list[str]] = {}
    faulty = 0
    for entry in entries:
        try:
            name = entry["name"]
            pairs_by_name[name] = []
            pairs_by_name[name] = argument_pairs(entry["arguments"], close=True)
        except (KeyError, TypeError, AttributeError):
            faulty += 1
    return pairs_by_name, faulty


def _is_winning(raw: Any, sample: Sample, run: Run) -> bool:
    """Whether running the answer gives the gold answer; an answer without calls is never run."""
    if not raw:
        return False
    gold = sample.extra["gold_answer"]
    if sample.extra.get("gold_answer_text") is not None:
        gold = json.loads(sample.extra["gold_answer_text"])  # some released texts are no JSON
    return is_win(run(raw, sample), gold)


def _figures(results: SampleResults, *, executed: bool) -> tuple[Figure, ...]:
    scored = [outcome.scored for _, outcome in results if outcome.scored is not None]
    abort = next((outcome.error for _, outcome in results if outcome.error), None)
    n = len(scored)
    figures = (
        *_f1_figures(scored),
        Figure("num_examples", n),
        Figure("accuracy_combined", statistics.mean(s.partial for s in scored) if scored else None),
        ratio("percentage_times_full_score", sum(s.partial == 1 for s in scored), n),
        _win_rate(scored) if executed else Figure("win_rate", "no"),
        Figure("num_errors_parsing_pred_intent", sum(s.failed + s.nameless for s in scored)),
        Figure("num_errors_parsing_gold_intent", 0),
        Figure("num_errors_parsing_pred_slot", sum(s.unpaired for s in scored)),
        Figure("num_errors_parsing_gold_slot", 0),
        Figure("num_pred_examples_w_parsing_errors", sum(s.faulty for s in scored)),
    )
    error = abort or next((figure.error for figure in figures if figure.error), None)
    return failed_figures((figure.name for figure in figures), error) if error else figures


def _win_rate(scored: Sequence[ScoredAnswer]) -> Figure:
    """The share of wins; a function that is not there loses here, and not where it was published."""
    losses = [s for s in scored if not s.win]
    unrunnable = [s for s in losses if s.absent and not s.older]
    names = dict.fromkeys(name for s in unrunnable for name in s.absent)
    notes = [absence_note(len(unrunnable), names, "lost")]
    if older := sum(s.older for s in losses):
        notes.insert(0, f"{older:,} samples lost with tools in a layout that the published code cannot run")
    note = "; ".join(filter(None, notes))
    return ratio("win_rate", sum(bool(s.win) for s in scored), len(scored), note=note)


def _f1_figures(scored: Sequence[ScoredAnswer]) -> Iterable[Figure]:
    """F1 over samples for names, and over (sample, API) for ``key = value`` pairs of the last calls."""
    slots = (
        (gold.get(name, ()), pred.get(name, ()))
        for gold, pred in ((dict(score.gold_pairs), dict(score.pairs)) for score in scored)
        for name in gold.keys() | pred.keys()
    )
    try:
        values = (*macro((s.gold_names, s.names) for s in scored), *macro(slots))
    except ValueError:
        return failed_figures(_F1_FIGURES, "ValueError")
    return map(Figure, _F1_FIGURES, values)
