"""NESTful's figures as its published scorer computes them, on the text of the answers."""

from __future__ import annotations

import functools
import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.base.quick import quick
from planner_eval.benchmarks.apart import Found, Scorer, fields_of, report_of
from planner_eval.benchmarks.nestful.align import gold_text, pairs, partial, predicted_text
from planner_eval.benchmarks.nestful.f1 import macro
from planner_eval.benchmarks.nestful.formats import READERS, ParsedAnswer, read_answer
from planner_eval.benchmarks.nestful.ground import ground
from planner_eval.benchmarks.nestful.specs import in_older_layout
from planner_eval.benchmarks.nestful.win import absence_note, absent_functions, is_win
from planner_eval.benchmarks.report import Figure, Records, Report, Run, SampleScore, ratio
from planner_eval.datasets.sample import Sample

DEFAULT_MODEL = "granite-3.1-8b-instruct"
"""The reader of plain JSON lists."""

_MALFORMED = (KeyError, TypeError, AttributeError, IndexError, ValueError, RecursionError)
_END = "<|endoftext|>"
_DUMMY = {"name": "dummy", "arguments": {}}
_F1 = ("p_intent", "r_intent", "f1_intent", "p_slot", "r_slot", "f1_slot")

Pairs = Mapping[str, Sequence[str]]
"""API name → ``key = value`` texts of its last call."""


@quick
class _Scored:
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
        return self.failed or self.nameless > 0 or self.unpaired > 0


def score_official(records: Records, *, model: str = DEFAULT_MODEL, run: Run | None = None) -> Report:
    """Every figure that NESTful's scorer prints; it prints numbers with three decimals.

    Args:
        records: Samples whose ``gold`` is the list of gold calls as released, each with the answer's text.
            For the win rate, ``tools`` is the list of tool specs and ``extra["gold_answer"]`` the answer.
        model: The model name that chooses the reader, see :data:`.formats.READERS`.
        run: Runs the decoded calls of an answer, see :mod:`.win`; without it the win rate is ``"no"``.

    Returns:
        The figures, and each sample's partial match, full match, win and parse errors. Where the published
        code raises, figures name the exception; the row at which it broke off names it too.

    Raises:
        InputError: the scorer has no reader for `model`.

    Source: ``calculate_scores`` of ``scorer.py`` at IBM's state fc2c412.

    >>> calls = [{"name": "add", "label": "$var_1", "arguments": {"arg_0": 2, "arg_1": 3}}]
    >>> report = score_official([(Sample("a", gold=calls), json.dumps(calls))])
    >>> report.value("accuracy_combined"), report.value("win_rate")
    (1.0, 'no')
    """
    return report_of("nestful", "official", scorer(model, run), records)


def scorer(model: str = DEFAULT_MODEL, run: Run | None = None) -> Scorer:
    """Its scores one by one; the same is asked as by :func:`score_official`.

    Raises:
        InputError: the scorer has no reader for `model`.
    """
    if model not in READERS:
        raise InputError(
            f"NESTful's scorer has no reader for the model {model!r}; it knows {', '.join(READERS)}"
        )

    def score_sample(sample: Sample, text: str) -> _Answered:
        answer = read_answer(text, model)
        try:
            return _Answered(_score(sample, text, answer, run), answer.abort)
        except _MALFORMED as raised:
            return _Answered(None, answer.abort or type(raised).__name__)

    return Scorer(score_sample, _row, functools.partial(_all_figures, run is not None), _known, _data)


class _Answered(NamedTuple):
    """What is counted of an answer, None where nothing is, and the exception on which the code breaks off."""

    scored: _Scored | None
    error: str | None


def _data(scored: _Scored) -> Any:
    """As JSON data, whose objects have texts as names only."""
    return [list(value.items()) if isinstance(value, dict) else value for value in fields_of(scored)]


def _known(data: Any) -> _Answered:
    if data[0] is None:
        return _Answered(*data)
    values = dict(zip((field.name for field in fields(_Scored)), data[0], strict=True))
    pairs = {name: dict(map(tuple, values[name])) for name in ("gold_pairs", "pairs")}
    return _Answered(_Scored(**{**values, **pairs}), data[1])


def _all_figures(run: bool, results: Found) -> tuple[Figure, ...]:
    scored = [result.scored for _, result in results if result.scored is not None]
    return _figures(scored, next((result.error for _, result in results if result.error), None), run)


def _score(sample: Sample, text: str, answer: ParsedAnswer, run: Run | None) -> _Scored:
    gold = ground(sample.gold)
    entries = [entry for entry in answer.calls if entry != _DUMMY or list(entry) != list(_DUMMY)]
    names, nameless = _names(_cleaned(entries, text))
    pred_pairs, unpaired = _pairs(_cleaned(entries, text))
    texts = [
        entry_text
        for entry in _cleaned(answer.calls, text)
        if (entry_text := predicted_text(entry)) is not None
    ]
    gold_names = [str(call["name"]) for call in gold]
    gold_pairs = [pairs(call["arguments"]) for call in gold]
    return _Scored(
        gold_names=gold_names,
        names=names,
        gold_pairs={call["name"]: call_pairs for call, call_pairs in zip(gold, gold_pairs, strict=True)},
        pairs=pred_pairs,
        partial=partial(list(map(gold_text, gold_names, gold_pairs)), texts),
        win=None if run is None else _wins(answer.raw, sample, run),
        absent=absent_functions(run, sample.gold),
        older=run is not None and in_older_layout(sample.tools),
        failed=answer.failed,
        nameless=nameless,
        unpaired=unpaired,
    )


def _cleaned(entries: Sequence[Any], text: str) -> Sequence[Any]:
    """The entries without end-of-text marks, which the scorer deletes from their JSON text."""
    if "endoftext" not in text and "\\u" not in text:
        return entries
    return [json.loads(json.dumps(entry).replace(_END, "")) for entry in entries]


def _names(entries: Sequence[Any]) -> tuple[list[str], int]:
    """The names of predicted entries, and how many entries have none."""
    names = [str(entry["name"]) for entry in entries if type(entry) is dict and "name" in entry]
    return names, len(entries) - len(names)


def _pairs(entries: Sequence[Any]) -> tuple[dict[str, list[str]], int]:
    """The pairs of each API's last call, and how many entries lack a name or an object of arguments."""
    pairs_by_name: dict[str, list[str]] = {}
    faulty = 0
    for entry in entries:
        try:
            name = entry["name"]
            pairs_by_name[name] = []
            pairs_by_name[name] = pairs(entry["arguments"], close=True)
        except (KeyError, TypeError, AttributeError):
            faulty += 1
    return pairs_by_name, faulty


def _wins(raw: Any, sample: Sample, run: Run) -> bool:
    """Whether running the answer gives the gold answer; an answer without calls is never run."""
    if not raw:
        return False
    gold = sample.extra["gold_answer"]
    if sample.extra.get("gold_answer_text") is not None:
        gold = json.loads(sample.extra["gold_answer_text"])  # some released texts are no JSON
    return is_win(run(raw, sample), gold)


def _row(identity: str, answered: _Answered) -> SampleScore:
    scored, error = answered
    if scored is None:
        return SampleScore(identity, False, error=error)
    ok = scored.partial == 1 if scored.win is None else scored.win
    win = None if scored.win is None else float(scored.win)
    counts = (scored.partial, win, int(scored.faulty), scored.failed + scored.nameless, scored.unpaired)
    return SampleScore.counted(identity, ok, functools.partial(_row_figures, *counts), error)


_ROW = ("partial", "full", "win", "parse_error", "err_intent", "err_slot")


@functools.lru_cache(maxsize=4096, typed=True)
def _row_figures(partial: float, win: float | None, *errors: int) -> tuple[Figure, ...]:
    """The figures of a row; most rows are counted as another is."""
    return tuple(map(Figure, _ROW, (partial, float(partial == 1), win, *errors)))


def _figures(scored: Sequence[_Scored], abort: str | None, run: bool) -> tuple[Figure, ...]:
    n = len(scored)
    figures = (
        *_f1_figures(scored),
        Figure("num_examples", n),
        Figure("accuracy_combined", statistics.mean(s.partial for s in scored) if scored else None),
        ratio("percentage_times_full_score", sum(s.partial == 1 for s in scored), n),
        _win_rate(scored) if run else Figure("win_rate", "no"),
        Figure("num_errors_parsing_pred_intent", sum(s.failed + s.nameless for s in scored)),
        Figure("num_errors_parsing_gold_intent", 0),
        Figure("num_errors_parsing_pred_slot", sum(s.unpaired for s in scored)),
        Figure("num_errors_parsing_gold_slot", 0),
        Figure("num_pred_examples_w_parsing_errors", sum(s.faulty for s in scored)),
    )
    error = abort or next((figure.error for figure in figures if figure.error), None)
    if error is None:
        return figures
    return tuple(Figure(figure.name, None, error=error) for figure in figures)


def _win_rate(scored: Sequence[_Scored]) -> Figure:
    """The share of wins; a function that is not there loses here, and not where it was published."""
    losses = [s for s in scored if not s.win]
    unrunnable = [s for s in losses if s.absent and not s.older]
    names = dict.fromkeys(name for s in unrunnable for name in s.absent)
    notes = [absence_note(len(unrunnable), names, "lost")]
    if older := sum(s.older for s in losses):
        notes.insert(0, f"{older:,} samples lost with tools in a layout that the published code cannot run")
    note = "; ".join(filter(None, notes))
    return ratio("win_rate", sum(bool(s.win) for s in scored), len(scored), note=note)


def _f1_figures(scored: Sequence[_Scored]) -> list[Figure]:
    """F1 over samples for names, and over (sample, API) for ``key = value`` pairs of the last calls."""
    slots = (
        (score.gold_pairs.get(name, ()), score.pairs.get(name, ()))
        for score in scored
        for name in score.gold_pairs.keys() | score.pairs.keys()
    )
    try:
        values = (*macro((s.gold_names, s.names) for s in scored), *macro(slots))
    except ValueError as error:
        return [Figure(name, None, error=type(error).__name__) for name in _F1]
    return [Figure(name, value) for name, value in zip(_F1, values, strict=True)]
