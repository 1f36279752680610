"""What results come to and what is told of them: a row has what is given and the answer, worked out apart.

Floats are equal whose first twelve digits are.
"""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import pytest

import planner_eval as pe
from planner_eval.base.errors import PlanevalError
from planner_eval.comparison.diff import diff
from planner_eval.comparison.metrics import METRICS
from planner_eval.comparison.metrics.facts import Counts, Share
from planner_eval.comparison.rows import Row
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.read import locate
from planner_eval.reading.files import context, recorded_runs
from planner_eval.reading.files import trials as labels
from planner_eval.reading.files.field_choice import has_several_choices
from planner_eval.reading.files.files import PlanFile, read_path
from planner_eval.reading.files.record import Record
from planner_eval.results import causes, compare, contrast, findings, scored, selftest, totals, trials
from planner_eval.results.views import rows
from tests.build import jsonl
from tests.conftest import tables

TABLES = tables(__file__)
STATES = {"s": "same", "d": "different", "p": "different", "u": "unreadable", "c": "cut", "a": "absent",
          "r": "refused", "f": "failed"}  # fmt: skip


def plan(text: str, **options: Any) -> Plan:
    """The calls between semicolons; none of an empty text."""
    return locate(pe.parse(text.replace(";", "\n"), **options)) if text else Plan(())


def pair(texts: list[str | None], state: str | None = None, name: str = "q", **more: Any) -> Row:
    """A prediction, gold, and what repair makes of the one; compared where no state is given."""
    options = {"repair": more.pop("repair", False)}
    pred, gold, mended = (
        None if text is None else plan(text, **options) for text in (*texts, None, None, None)[:3]
    )
    differ = diff(pred, gold) if state is None and pred is not None and gold is not None else None
    state = state or ("same" if differ is not None and differ.same else "different")
    return Row(name, state, differ, pred, gold, mended=mended, **more)


def findings_of(texts: Any, error: str, name: str, side: Any, many: bool) -> Any:
    record = side and Record(side[0], 0, side[1], None, side[2])
    state = texts if isinstance(texts, str) else None
    row = pair([] if state else texts, state, name, error=error or None)
    return [[*finding] for finding in findings.findings_of(row, record, many=many)]


def counts(texts: Any, state: str | None, error: str | None, fields: Any, repair: bool) -> Any:
    row = pair(texts, state, error=error, fields=fields, repair=repair)
    by = ("calls", "depth", "pattern", "scope", "level")
    found = scored.scored_row(row, ("exact", "calls"), by=by, source=("p.jsonl", 3))
    return json.loads(scored.RowLineWriter().line(found)) | {"repairable": found.repairable}


def credits_of(pred: str, gold: str) -> Any:
    found = causes.credits_of(pair([pred, gold]))
    return found and found.data()


def agreement(left: list[Any], right: list[Any], positive: str | None) -> Any:
    """Classes, cells, figures and shifts of words or records of two sides, and what becomes of each."""
    sides = (
        side if isinstance(side[0], dict) else {str(n): word for n, word in enumerate(side)}
        for side in (left, right)
    )
    found = pe.agree(*sides, positive=positive)
    figures = [[one.name, one.value, *(one.interval or ())] for one in found.figures]
    shifts = [[*shift] for shift in found.shifts]
    states = [
        row.state if isinstance(left[0], str | None) else [row.id, row.state, row.error] for row in found.rows
    ]
    return [found.classes, found.cells, figures, shifts, states]


def told_of_trials(sums: Any, word: str) -> Any:
    report = trials.trial_report(trials.TrialSums(sums))
    return report and [[*trials.trial_lines(report, word)], trials.trial_rows(report)]


def told_of_conversations(sums: Any, verdict: str, word: str) -> Any:
    found = totals.ConversationSums(sums)
    rows, lines = totals.cost_rows(found, verdict), [*totals.turn_lines(found, word)]
    return [rows, totals.cost_lines(found), lines, totals.conversation_data(found)]


def summed_costs(*answers: Any) -> Any:
    """Sums over answers: what each cost, whether it is right, and whether its recorded verdict says so."""
    sums = totals.ConversationSums()
    for costs, right, verdict in answers:
        sums.add_costs(costs, right=right, verdict=verdict)
    return sums.data()["costs"]


def rows_of(letters: str) -> list[scored.ScoredRow]:
    """Rows by their states; of p the calls are right in part, and of - there is none: ``s3u`` are four."""
    found = []
    each = "".join(letter * int(count or 1) for letter, count in re.findall(r"(\D)(\d*)", letters))
    for n, letter in enumerate(each):
        right, calls = int(letter == "s"), {"p": 2, "d": 1, "s": 1}.get(letter, 0)
        tallies: dict[str, Any] = dict.fromkeys(METRICS, Share(right, 1))
        tallies["calls"] = Counts(int(letter in "sp"), calls, 1)
        tallies["independent_errors"] = Share(1 - right, 1)
        if letter != "-":
            codes = ("kind",) * (letter in "dp")
            found.append(scored.ScoredRow(f"q{n}", STATES[letter], tallies, codes, "why"))
    return found


def verdicts(systems: list[str], limits: Any, metrics: list[str]) -> Any:
    """A sentence for each system but the first; of the last, whether it is worse than limits allow."""
    names = "ABC"[: len(systems)]
    read = [compare.System(rows_of(system)) for system in systems]
    found = compare.make_comparison(read, metrics, names=names, made="t")
    said: list[Any] = [found.unreadable, *found.verdicts]
    for limit in limits:
        try:
            said.append([*contrast.check_allowance(found.contrasts[-1], contrast.Allowance(*limit))])
        except PlanevalError as error:
            said.append(str(error))
    return said


def verdict_of_scorer(script: str) -> Any:
    one = selftest.pairs()[:1]
    with mock.patch.object(selftest, "pairs", return_value=one):
        (found,) = selftest.run_scorer(["sh", "-c", script])
    return [found.answer, found.error]


def question_field(query: str | None, *sides: list[dict[str, Any]]) -> Any:
    """The field of the question, and what is said of it, of gold and predictions with some fields."""
    files = [
        PlanFile(name, tuple(Record(name, 0, None, "f()", fields=fields) for fields in records), True)
        for name, records in zip("gp", sides, strict=False)
    ]
    return [*context.question_field(query, *files)]


def state_of(named: bool, field: str, fields: dict[str, Any]) -> Any:
    source = context.StateSource((field,), named=True) if named else context.StateSource()
    return source.of(Record("p", 0, "q1", "f()", fields=fields))


def tasks_of_trials(pred: Any, gold: Any) -> Any:
    """Ids and tasks of the records of both sides, what is said, which ids are repeated beyond trials."""
    with TemporaryDirectory() as folder:
        left = read_path(written(Path(folder, "p"), "output", pred), role="answer")
        files = labels.label_trials(left, read_path(written(Path(folder, "g"), "gold", gold), role="gold"))
        said = [*files[0].notes, *files[1].notes]
        repeated = labels.format_ids_repeated_beyond_trials(files[0].records)
        found: list[Any] = [[f"{one.id} of {one.task}" for one in file.records] for file in files]
        return [*found, *([line.replace(f"{folder}/", "") for line in lines] for lines in (said, repeated))]


def written(path: Path, key: str, records: Any) -> str:
    """A file of records, or a folder of such by their names."""
    if isinstance(records, dict):
        path.mkdir()
        for part, each in records.items():
            written(path / part, key, each)
        return str(path)
    return jsonl(path.with_suffix(".jsonl"), [{key: "f()", **record} for record in records])


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "before a cut": lambda pred, gold: rows.describe_before_cut(
        plan(pred), None if gold is None else plan(gold)
    ),
    "two plans": lambda pred, gold, options: (
        rows.diff_text(diff(plan(pred), plan(gold)), **options).split("\n")
    ),
    "findings": findings_of, "counts": counts, "credits": credits_of, "agreement": agreement,
    "trials": told_of_trials, "tasks of trials": tasks_of_trials, "conversations": told_of_conversations,
    "costs": summed_costs, "verdicts": verdicts, "scorers": verdict_of_scorer,
    "summaries": lambda lengths, size: [*findings.limit_lines(["x" * length for length in lengths], size)],
    "questions": context.question_text, "fields of questions": question_field, "states": state_of,
    "recorded verdicts": lambda fields: recorded_runs.recorded_verdict(
        Record("p", 0, None, None, fields=fields)
    ),
    "choices": has_several_choices, "marks": lambda *numbers: context.Demonstrations(*numbers).mark,
    "demonstrations": lambda rows: [*context.Demonstrations("t", 1, 0).with_rows(rows)[3:]],
}  # fmt: skip


def rounded(value: Any) -> Any:
    """A value as JSON has it, of floats the first twelve digits."""
    return json.loads(json.dumps(value), parse_float=lambda digits: float(f"{float(digits):.12g}"))


@pytest.mark.parametrize("name", TABLES)
def test_what_is_given_is_answered_as_by_hand(name: str) -> None:
    wrong = []
    for *given, answer in TABLES[name]:
        try:
            found = FUNCTIONS[name](*given)
        except PlanevalError as error:
            found = f"refused: {error}"
        wrong += [] if rounded(found) == rounded(answer) else [(given, found, answer)]
    assert not wrong
