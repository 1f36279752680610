"""What runs of models said to the records of a set of gold: their predictions, joined by id."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from planner_eval.base.errors import InputError, PairingError, ParseError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import format_count, shorten
from planner_eval.benchmarks.datasets.sources import Source, short_names
from planner_eval.comparison.diff import diff
from planner_eval.comparison.policy.policy import DEFAULT_POLICY, Policy, Terms
from planner_eval.comparison.rows import DEFAULT_READING, Reading
from planner_eval.models.predict.folder import RUN_KIND, read_predicted_run, read_run_answers
from planner_eval.plan.model import Plan
from planner_eval.reading.files.files import PlanFile, read_plan, read_repaired_plan
from planner_eval.reading.files.pairing import pair, warn_doubtful_pairing
from planner_eval.reading.files.record import Record
from planner_eval.reading.files.several import prefix_ids_by_file
from planner_eval.reading.files.task_fields import ROWS_FILE
from planner_eval.results.findings import Confidence, GoldFinding
from planner_eval.results.runs.folder import changed_input, inputs_of
from planner_eval.results.runs.stored import read_stored_run, run_data

# ----------------------------------------------------------------------
# Models that agree with one another and not with gold: where several give one plan, gold may be wrong.
CODES = ("gold.outvoted",)


class Answer(NamedTuple):
    """What one run said to a record.

    Args:
        run: The run's name.
        plan: Its plan; None where it gave none that can be read.
        model: What tells models apart; the run's name where that is not known.
    """

    run: str
    plan: Plan | None
    model: str = ""


class AnswerGroup(NamedTuple):
    """Answers that are one plan under a policy.

    Args:
        plan: The first of them.
        answers: All of them.
    """

    plan: Plan
    answers: tuple[Answer, ...]

    @property
    def models(self) -> int:
        """How many different models gave it."""
        return len({answer.model or answer.run for answer in self.answers})


def group_answers(answers: Iterable[Answer], policy: Policy = DEFAULT_POLICY) -> list[AnswerGroup]:
    """The answers that are one plan, those of most models first.

    A plan joins the first camp whose plan it equals, in either direction.

    Args:
        answers: The answers to one record.
        policy: How values compare.

    >>> from planner_eval.reading.dialects.read import parse
    >>> plans = {"one": "f(x=1)", "two": "g(x=1)", "three": "f(x=1)"}
    >>> said = [Answer(run, parse(plan)) for run, plan in plans.items()]
    >>> [[one.run for one in camp.answers] for camp in group_answers(said)]
    [['one', 'three'], ['two']]
    """
    groups: list[list[Answer]] = []
    for answer in answers:
        if answer.plan is None or not answer.plan.calls:
            continue
        for camp in groups:
            if _are_equal(answer.plan, camp[0].plan, policy):
                camp.append(answer)
                break
        else:
            groups.append([answer])
    camp_list = [AnswerGroup(camp[0].plan, tuple(camp)) for camp in groups if camp[0].plan is not None]
    return sorted(camp_list, key=lambda camp: (-camp.models, -len(camp.answers)))


def find_outvoted_gold(
    gold: Plan,
    answers: Sequence[Answer],
    policy: Policy = DEFAULT_POLICY,
    right: Sequence[tuple[Plan, Terms]] = (),
) -> Iterator[GoldFinding]:
    """Whether models agree with one another on a plan that is not gold's.

    Told where two runs or more gave one plan that is not gold's, more models than gave gold's. ``medium``
    where it is the plan of three different models or more, of two in three of all that answered, and nobody
    gave gold's; else ``low``. Never ``high``: models may share a mistake, and runs of one model do.

    Args:
        gold: The gold plan.
        answers: What the runs said.
        policy: How values compare.
        right: What the record says is as right: its plans with what they leave open.

    >>> from planner_eval.reading.dialects.read import parse
    >>> said = [Answer(name, parse("g(x=1)"), name) for name in ("a-7b", "b-9b", "c-70b")]
    >>> for found in find_outvoted_gold(parse("f(x=1)"), said): print(found.confidence, found.message)
    medium 3 of 3 models give one plan that is not gold's: g instead of f (a-7b, b-9b, c-70b)
    """
    usable_answers = [answer for answer in answers if answer.plan is not None and answer.plan.calls]
    if len(usable_answers) < 2:
        return
    plan_camps = group_answers(usable_answers, policy)
    gold_camps = [camp for camp in plan_camps if _is_right(camp.plan, gold, policy, right)]
    for_gold = len({answer.model or answer.run for camp in gold_camps for answer in camp.answers})
    against = next((camp for camp in plan_camps if camp not in gold_camps), None)
    if against is None or len(against.answers) < 2 or against.models <= for_gold:
        return
    model_count = len({answer.model or answer.run for answer in usable_answers})
    many = against.models >= 3 and 3 * against.models >= 2 * model_count and not for_gold
    confidence: Confidence = "medium" if many else "low"
    runs = [answer.run for answer in against.answers]
    who = (
        f"{against.models} of {format_count(model_count, 'model')}"
        if model_count > 1
        else format_count(len(runs), "run") + " of one model"
    )
    names = ", ".join(runs[:4]) + (", …" if len(runs) > 4 else "")
    message = (
        f"{who} give one plan that is not gold's: {_describe_difference(against.plan, gold, policy)} "
        f"({names})"
    )
    yield GoldFinding("gold.outvoted", message, confidence)


def find_outvoted_records(
    gold: Mapping[str, Plan], answers: Mapping[str, Sequence[Answer]], policy: Policy = DEFAULT_POLICY
) -> dict[str, list[GoldFinding]]:
    """:func:`find_outvoted_gold` of all records with gold and answers; those without a finding are left out.

    Args:
        gold: The gold plans by record.
        answers: What the runs said, by record.
        policy: How values compare.

    >>> find_outvoted_records({}, {})
    {}
    """
    findings = {
        record: [*find_outvoted_gold(plan, answers.get(record, ()), policy)] for record, plan in gold.items()
    }
    return {record: record_findings for record, record_findings in findings.items() if record_findings}


def _are_equal(plan: Plan | None, other: Plan | None, policy: Policy) -> bool:
    """Whether two plans are one under a policy, whichever is taken for gold."""
    if plan is None or other is None:
        return False
    return diff(plan, other, policy).same and diff(other, plan, policy).same


def _is_right(plan: Plan, gold: Plan, policy: Policy, right: Sequence[tuple[Plan, Terms]]) -> bool:
    """Whether a plan is gold, or another that its record says is right."""
    return _are_equal(plan, gold, policy) or any(
        diff(plan, alternative, policy, terms).same for alternative, terms in right
    )


def _describe_difference(plan: Plan, gold: Plan, policy: Policy) -> str:
    """In what a plan differs from gold: the first root of the comparison, told with the plans' own names."""
    plan_tools = sorted(call.tool for call in plan.calls)
    gold_tools = sorted(call.tool for call in gold.calls)
    if plan_tools != gold_tools:
        return f"{_format_tools(plan)} instead of {_format_tools(gold)}"
    roots = diff(plan, gold, policy).roots
    return "; ".join(edit.message for edit in roots[:2]) + ("; …" if len(roots) > 2 else "")


def _format_tools(plan: Plan) -> str:
    names = [call.tool for call in plan.calls]
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "") or "no call"


# ----------------------------------------------------------------------
# What runs of models said to the records of a set of gold: their predictions, joined by id.
class _Predictions(NamedTuple):
    """The predictions of a run.

    Args:
        file: Their records.
        reading: How they are read.
        model: The model that made them; "" where that is not known.
    """

    file: PlanFile
    reading: Reading = DEFAULT_READING
    model: str = ""


class Votes:
    """What runs said to the records of a set, which are asked for in their order.

    Args:
        runs: Runs by name, or a list of them: folders of predict or score, files of predictions, or
            predictions in memory, as :func:`planner_eval.read` takes them.
        source: The set.

    Raises:
        InputError: a run cannot be read, is given twice, or has no prediction for any record of the set.
    """

    def __init__(self, runs: Any, source: Source) -> None:
        golds = source.file or PlanFile(source.name, tuple(source.records), True)
        self._runs = [_Voter(name, _read_predictions(name, run), golds) for name, run in _name_runs(runs)]

    def of(self, record: Record) -> tuple[Answer, ...]:
        """What the runs said to a record; those that said nothing to it are left out."""
        return tuple(answer for voter in self._runs if (answer := voter.of(record)) is not None)

    @property
    def notes(self) -> tuple[str, ...]:
        """How many records each run answers, and what is in doubt, in words."""
        return tuple(note for voter in self._runs for note in voter.notes)


class _Voter:
    """One run's predictions, beside the records in their order."""

    def __init__(self, name: str, predictions: _Predictions, golds: PlanFile) -> None:
        self._name, self._given = name, predictions
        pred, right = prefix_ids_by_file(predictions.file, golds)
        try:
            pairing = pair(pred, right)
        except PairingError as error:
            why = str(error).partition(". --")[0]
            raise InputError(f"the run {name} says nothing to {golds.name}: {why}") from None
        self._doubts = tuple(doubt.partition(": --pair")[0] for doubt in warn_doubtful_pairing(pred, right))
        self._pairs = iter(pairing.pairs)
        self._next = next(self._pairs, (None, None))
        self._said = self._unread = 0

    def of(self, record: Record) -> Answer | None:
        pred, gold = self._next
        if gold is None or (gold.file, gold.position) != (record.file, record.position):
            return None  # an earlier record has its id
        self._next = next(self._pairs, (None, None))
        if pred is None:
            return None
        self._said += 1
        plan = self._plan(pred)
        self._unread += plan is None
        return Answer(self._name, plan, self._given.model or self._name)

    def _plan(self, record: Record) -> Plan | None:
        how = self._given.reading
        options = {"dialect": how.dialect, "compute": how.compute}
        try:
            return read_plan(record, **options)
        except ParseError as error:
            return None if how.repair is False else read_repaired_plan(record, error, **options)

    @property
    def notes(self) -> Iterator[str]:
        model = f", by {self._given.model}" if self._given.model else ""
        unread = f", {self._unread:,} of them unreadable and without a vote" if self._unread else ""
        yield f"run {self._name}{model}: {format_count(self._said, 'record')} answered{unread}"
        for doubt in self._doubts:
            yield f"run {self._name}: {doubt}"


def _name_runs(runs: Any) -> list[tuple[str, Any]]:
    """The runs with their names, no two alike.

    Raises:
        InputError: they are no runs, or one is given twice.
    """
    if isinstance(runs, Mapping):
        if odd := [name for name in runs if not isinstance(name, str)]:
            raise InputError(f"runs: {shorten(repr(odd[0]), 40)} is no name of a run")
        return list(runs.items())
    if isinstance(runs, (str, os.PathLike, PlanFile)):
        runs = [runs]
    if not isinstance(runs, Sequence) or isinstance(runs, (bytes, bytearray)):
        raise InputError(
            f"runs is {shorten(repr(runs), 40)}, expected a list of folders and files, or a mapping of "
            "them by name"
        )
    paths = [os.fspath(run) if isinstance(run, (str, os.PathLike)) else None for run in runs]
    real_paths = [os.path.realpath(path) for path in paths if path is not None]
    for index, path in enumerate(real_paths):
        if path in real_paths[:index]:
            raise InputError(f"the run {path} is given twice, and would vote twice: name it once")
    names = short_names([path or str(number) for number, path in enumerate(paths, 1)])
    return list(zip(names, runs, strict=True))


def _read_predictions(name: str, run: Any) -> _Predictions:
    """The predictions of a run, from wherever it is.

    Raises:
        InputError: it cannot be read.
    """
    if run is None or isinstance(run, (bool, int, float, bytes)):
        raise InputError(f"the run {name} is {shorten(repr(run), 40)}, expected a folder, a file or records")
    if not isinstance(run, (str, os.PathLike)):
        return _Predictions(DEFAULT_READING.answers(run))
    path = os.fspath(run)
    if not os.path.lexists(os.path.join(path, "run.json")):
        return _read_prediction_file(path, DEFAULT_READING)
    kind = run_data(path).get("kind")
    if kind == RUN_KIND:
        return _read_prediction_file(os.path.join(path, ROWS_FILE), DEFAULT_READING)
    if kind != "score":
        raise InputError(
            f"{path} is a run of {kind}: expected a run of predict or score, or a file of predictions"
        )
    return _read_scored_predictions(path)


def _read_scored_predictions(path: str) -> _Predictions:
    """The predictions that a run of score was made of, read as it read them."""
    run, named = read_stored_run(path, "score"), run_data(path).get("given")
    if not isinstance(named, list) or not named or not isinstance(named[0], str):
        raise InputError(f"{path} does not say which predictions it scored: name their file instead")
    reading = Reading(**{name: run.options[name] for name in Reading._fields if name in run.options})
    try:
        predictions = _read_prediction_file(named[0], reading)
    except InputError as error:
        raise InputError(f"{path} was made of {named[0]}: {error}") from None
    pred_inputs = [i for i in run.inputs if i["role"] == "pred"]
    if difference := changed_input(pred_inputs, inputs_of("pred", predictions.file)):
        raise InputError(
            f"{path} was made of other predictions: {difference}; score them anew, or name their file"
        )
    return predictions


def _read_prediction_file(name: str, reading: Reading) -> _Predictions:
    """The predictions of a file; where it is what a model was asked for, in the notation asked for."""
    file, folder = reading.answers(name), os.path.dirname(name)
    if os.path.basename(name) != ROWS_FILE or not _is_predict_run(folder):
        return _Predictions(file, reading)
    model_run = read_predicted_run(folder)
    read = read_run_answers(file, model_run, dialect=reading.dialect, strict=reading.repair is False)
    model = model_run.options.get("model")
    return _Predictions(read, reading, model if isinstance(model, str) else "")


def _is_predict_run(folder: str) -> bool:
    try:
        return run_data(folder).get("kind") == RUN_KIND
    except InputError:
        return False
