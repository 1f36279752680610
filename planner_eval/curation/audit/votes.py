"""What runs of models said to the records of a set of gold: their predictions, joined by id."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import exp, log
from typing import Any

from planner_eval.base.errors import InputError, PairingError, ParseError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import format_count, format_first, shorten
from planner_eval.benchmarks.datasets.sources import Source, short_names
from planner_eval.comparison.diff import diff
from planner_eval.comparison.patch import make_patch
from planner_eval.comparison.policy.policy import DEFAULT_POLICY, Policy, Terms
from planner_eval.comparison.policy.values import Rule
from planner_eval.curation.audit.subject import AuditedRecord
from planner_eval.models.predict.folder import RUN_KIND, read_run_answers, run_of_answers
from planner_eval.plan.model import Plan
from planner_eval.reading.files.context import ROWS_FILE
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.pairing import pair, prefix_ids_by_file, warn_doubtful_pairing
from planner_eval.reading.files.record import Record, read_answer, read_repaired_plan
from planner_eval.reading.settings import DEFAULT_READING, Reading
from planner_eval.results.findings import Confidence, GoldFinding
from planner_eval.results.runs.folder import changed_input, inputs_of
from planner_eval.results.runs.model import is_run, open_run
from planner_eval.results.runs.stored import read_stored_run

# ----------------------------------------------------------------------
# How far models, and gold itself, are to be believed: accuracies from what they agree on (Dawid and Skene).
#
# The votes on a record are the plans that models gave, and gold's. The true plan is not known; it is
# estimated with the accuracies in turn: which plan is likely, given the accuracies, and which accuracies
# are, given the plans. It is assumed that each voter is right with one probability on every record, that
# voters err independently of one another, and that all wrong plans of a record are as likely. Models that
# learned the same mistakes break the second: the figures rank findings, and are no probabilities.
#
# Source: A. P. Dawid and A. M. Skene, "Maximum Likelihood Estimation of Observer Error-Rates Using the EM
# Algorithm", Applied Statistics 28 (1979); one accuracy a voter in place of a matrix, for plans are no
# classes.
GOLD = ""
"""The name under which gold votes."""
_ROUNDS = 20
_PRIOR_RIGHT, _PRIOR_ALL = 3.0, 4.0
"""Counts as if each voter had been right on three records of four before: few records say little."""


def estimate_accuracies(votes: Sequence[Mapping[str, int]]) -> dict[str, float]:
    """The accuracy of each voter.

    Args:
        votes: Of each record the plan of each voter, as a number; equal numbers are equal plans.

    >>> votes = [{"": 0, "a": 0, "b": 0, "c": n % 2} for n in range(20)]
    >>> accuracies = estimate_accuracies(votes)
    >>> accuracies["a"] > 0.9, 0.45 < accuracies["c"] < 0.65
    (True, True)
    """
    voters = sorted({voter for record in votes for voter in record})
    accuracies = dict.fromkeys(voters, _PRIOR_RIGHT / _PRIOR_ALL)
    for _ in range(_ROUNDS):
        right = dict.fromkeys(voters, _PRIOR_RIGHT)
        total = dict.fromkeys(voters, _PRIOR_ALL)
        for record in votes:
            chances = plan_chances(record, accuracies)
            for voter, plan in record.items():
                right[voter] += chances[plan]
                total[voter] += 1
        accuracies = {voter: right[voter] / total[voter] for voter in voters}
    return accuracies


def plan_chances(record: Mapping[str, int], accuracies: Mapping[str, float]) -> dict[int, float]:
    """How likely each plan of a record is the true one.

    Args:
        record: The plan of each voter.
        accuracies: The accuracy of each voter.

    >>> chances = plan_chances({"": 0, "a": 1, "b": 1}, {"": 0.9, "a": 0.9, "b": 0.9})
    >>> round(chances[1], 2)
    0.9
    """
    plans = set(record.values())
    wrong_plans = max(1, len(plans) - 1)
    weights = dict.fromkeys(plans, 0.0)
    for voter, vote in record.items():
        accuracy = min(0.99, max(0.01, accuracies[voter]))
        for plan in plans:
            weights[plan] += log(accuracy if plan == vote else (1 - accuracy) / wrong_plans)
    highest = max(weights.values())
    sizes = {plan: exp(weight - highest) for plan, weight in weights.items()}
    return {plan: size / sum(sizes.values()) for plan, size in sizes.items()}


def weighted_share(record: Mapping[str, int], plan: int, accuracies: Mapping[str, float]) -> float:
    """The share of models that gave a plan, each with its accuracy as its weight; gold has no share.

    Args:
        record: The plan of each voter.
        plan: The plan.
        accuracies: The accuracy of each voter.

    >>> round(weighted_share({"": 0, "a": 1, "b": 0}, 1, {"": 0.9, "a": 0.9, "b": 0.3}), 2)
    0.75
    """
    weights = {voter: accuracies[voter] for voter in record if voter != GOLD}
    total = sum(weights.values())
    return sum(weight for voter, weight in weights.items() if record[voter] == plan) / total if total else 0.0


# ----------------------------------------------------------------------
# Models that agree with one another and not with gold: where several give one plan, gold may be wrong.
CODES = ("gold.outvoted", "gold.outvoted_type")
_READS_NUMBERS = Policy(rules=(Rule(compare=("numbers",)),), names="loose")
"""By which a text that says a number is that number."""
MIN_MODELS, MIN_SHARE = 3, 0.5
"""A plan of so many models, and of this share of all by their weights, is more than a chance."""


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
    camps: list[AnswerGroup] = []
    for answer in answers:
        if answer.plan is None or not answer.plan.calls:
            continue
        for index, camp in enumerate(camps):
            if _are_equal(answer.plan, camp.plan, policy):
                camps[index] = camp._replace(answers=(*camp.answers, answer))
                break
        else:
            camps.append(AnswerGroup(answer.plan, (answer,)))
    return sorted(camps, key=lambda camp: (-camp.models, -len(camp.answers)))


class OutvotedGold(NamedTuple):
    """Votes on one record, of which a plan that is not gold's has more than gold's.

    Args:
        votes: The plan of each model, as a number, and gold's, which is 0, under the name of none.
        plan: The number of the plan that has most votes beside gold's.
        code: What kind of doubt it is.
        message: What was found.
        operations: What makes gold that plan, as a patch has it.
    """

    votes: Mapping[str, int]
    plan: int = 0
    code: str = ""
    message: str = ""
    operations: tuple[Mapping[str, Any], ...] = ()

    def finding(self, accuracies: Mapping[str, float]) -> GoldFinding | None:
        """The finding, as sure as the models are to be believed; None where gold is not outvoted."""
        if not self.plan:
            return None
        share = weighted_share(self.votes, self.plan, accuracies)
        many = sum(vote == self.plan for vote in self.votes.values()) >= MIN_MODELS and share >= MIN_SHARE
        sure: Confidence = "medium" if many and self.code == CODES[0] else "low"
        return GoldFinding(self.code, self.message, sure, share=round(share, 3), operations=self.operations)


def count_votes(
    gold: Plan,
    answers: Sequence[Answer],
    policy: Policy = DEFAULT_POLICY,
    right: Sequence[tuple[Plan, Terms]] = (),
) -> OutvotedGold | None:
    """The votes on a record; None where fewer than two runs gave a plan.

    Gold is outvoted where two runs or more gave one plan that is not gold's, more models than gave gold's:
    ``medium`` where it is the plan of three different models or more, and of half of all that answered; else
    ``low``. Never ``high``: models may share a mistake, and runs of one model do.

    Args:
        gold: The gold plan.
        answers: What the runs said.
        policy: How values compare.
        right: What the record says is as right: its plans with what they leave open.

    >>> from planner_eval.reading.dialects.read import parse
    >>> answers = [Answer(name, parse("math_add(x=1)"), name) for name in "ab"]
    >>> count_votes(parse("math.add(x=1)"), answers).votes
    {'': 0, 'a': 0, 'b': 0}
    """
    policy = replace(policy, names="loose")  # math.add and math_add are one to many models
    usable_answers = [answer for answer in answers if answer.plan is not None and answer.plan.calls]
    if len(usable_answers) < 2:
        return None
    camps = group_answers(usable_answers, policy)
    gold_camps = [camp for camp in camps if _is_right(camp.plan, gold, policy, right)]
    others = [camp for camp in camps if camp not in gold_camps]
    votes = {GOLD: 0}
    for number, camp in [*((0, camp) for camp in gold_camps), *enumerate(others, 1)]:
        for answer in camp.answers:
            votes.setdefault(answer.model or answer.run, number)
    against, for_gold = others[0] if others else None, sum(not vote for vote in votes.values()) - 1
    if against is None or len(against.answers) < 2 or against.models <= for_gold:
        return OutvotedGold(votes)
    model_count = len(votes) - 1
    runs = [answer.run for answer in against.answers]
    who = (
        f"{against.models} of {format_count(model_count, 'model')}"
        if model_count > 1
        else format_count(len(runs), "run") + " of one model"
    )
    listed = ", ".join(runs[:4]) + (", …" if len(runs) > 4 else "")
    nearest, terms = right[0] if right else (gold, None)
    difference = _describe_difference(against.plan, nearest, policy, terms)
    code = CODES[_are_equal(against.plan, gold, _READS_NUMBERS)]
    operations = tuple(make_patch(diff(gold, against.plan, policy))["operations"])
    message = f"{who} agree on a plan that differs from gold: {difference} ({listed})"
    return OutvotedGold(votes, 1, code, message, operations)


class OutvotedFinder:
    """Votes on the records of a set, each weighed by how far its model agrees with the others elsewhere."""

    def __init__(self) -> None:
        self._records: dict[int, OutvotedGold] = {}

    def add(self, number: int, subject: AuditedRecord) -> None:
        """Look at one more record; `number` is its position."""
        counted = count_votes(subject.plan, subject.answers, right=subject.right)
        if counted is not None:
            self._records[number] = counted

    def found(self) -> Iterator[tuple[int, GoldFinding]]:
        """The findings, each with the number of its record."""
        accuracies = estimate_accuracies([counted.votes for counted in self._records.values()])
        for number, counted in self._records.items():
            if (finding := counted.finding(accuracies)) is not None:
                yield number, finding


def _are_equal(plan: Plan, other: Plan, policy: Policy) -> bool:
    """Whether two plans are one under a policy, whichever is taken for gold."""
    return diff(plan, other, policy).same and diff(other, plan, policy).same


def _is_right(plan: Plan, gold: Plan, policy: Policy, right: Sequence[tuple[Plan, Terms]]) -> bool:
    """Whether a plan is gold, or another that its record says is right."""
    return _are_equal(plan, gold, policy) or any(
        diff(plan, alternative, policy, terms).same for alternative, terms in right
    )


def _describe_difference(plan: Plan, gold: Plan, policy: Policy, terms: Terms | None) -> str:
    """In what a plan differs from all that is right: the first root, told with the plans' own names."""
    plan_tools, gold_tools = (
        sorted(call.tool.replace(".", "").replace("_", "") for call in compared.calls)
        for compared in (plan, gold)
    )
    if plan_tools != gold_tools:
        return f"{_format_tools(plan)} instead of {_format_tools(gold)}"
    roots = (diff(plan, gold, policy) if terms is None else diff(plan, gold, policy, terms)).roots
    return "; ".join(edit.message for edit in roots[:2]) + ("; …" if len(roots) > 2 else "")


def _format_tools(plan: Plan) -> str:
    return format_first([call.tool for call in plan.calls], 6) or "no call"


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
        self._voters = [_Voter(name, _read_predictions(name, run), golds) for name, run in _name_runs(runs)]

    def of(self, record: Record) -> tuple[Answer, ...]:
        """What the runs said to a record; those that said nothing to it are left out."""
        return tuple(answer for voter in self._voters if (answer := voter.of(record)) is not None)

    @property
    def notes(self) -> tuple[str, ...]:
        """How many records each run answers, and what is in doubt, in words."""
        return tuple(note for voter in self._voters for note in voter.notes())


class _Voter:
    """One run's predictions, beside the records in their order."""

    def __init__(self, name: str, predictions: _Predictions, golds: PlanFile) -> None:
        self._name, self._predictions = name, predictions
        pred, right = prefix_ids_by_file(predictions.file, golds)
        try:
            pairing = pair(pred, right)
        except PairingError as error:
            why = str(error).partition(". --")[0]
            raise InputError(f"the run {name} has no answers for {golds.name}: {why}") from None
        self._doubts = [doubt.partition(": --pair")[0] for doubt in warn_doubtful_pairing(pred, right)]
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
        reading, named = self._predictions.reading, pred.fields.get("model")
        options = {"dialect": reading.dialect, "compute": reading.compute}
        plan: Plan | None
        try:
            plan = read_answer(pred, **options)
        except ParseError as error:
            plan = None if reading.repair is False else read_repaired_plan(pred, error, **options)
        self._said += 1
        self._unread += plan is None
        model = self._predictions.model or (named if isinstance(named, str) else self._name)
        return Answer(self._name, plan, model)

    def notes(self) -> Iterator[str]:
        model = f", by {self._predictions.model}" if self._predictions.model else ""
        unread = f", {self._unread:,} of them unreadable, not counted" if self._unread else ""
        yield f"run {self._name}{model}: {format_count(self._said, 'record')} answered{unread}"
        yield from (f"run {self._name}: {doubt}" for doubt in self._doubts)


def _name_runs(runs: Any) -> list[tuple[str, Any]]:
    """The runs with their names, no two alike.

    Raises:
        InputError: they are no runs, or one is given twice.
    """
    if isinstance(runs, Mapping):
        if odd := [name for name in runs if not isinstance(name, str)]:
            raise InputError(f"runs: {shorten(repr(odd[0]), 40)} is not the name of a run")
        return list(runs.items())
    if isinstance(runs, (str, os.PathLike, PlanFile)):
        runs = [runs]
    if not isinstance(runs, Sequence) or isinstance(runs, (bytes, bytearray)):
        raise InputError(
            f"runs is {shorten(repr(runs), 40)}, expected a list of folders and files, or a mapping of "
            "them by name"
        )
    paths = [os.fspath(run) if isinstance(run, (str, os.PathLike)) else None for run in runs]
    real_paths = Counter(os.path.realpath(path) for path in paths if path is not None)
    for path, count in real_paths.items():
        if count > 1:
            raise InputError(f"the run {path} is named twice: name it once")
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
    if not is_run(path):
        return _read_prediction_file(path, DEFAULT_READING)
    kind = open_run(path).kind or "score"
    if kind not in (RUN_KIND, "score"):
        raise InputError(
            f"{path} is a run of {kind}: expected a run of predict or score, or a file of predictions"
        )
    if kind == "score":
        return _read_scored_predictions(path)
    return _read_prediction_file(os.path.join(path, ROWS_FILE), DEFAULT_READING)


def _read_scored_predictions(path: str) -> _Predictions:
    """The predictions that a run of score was made of, read as it read them."""
    run = read_stored_run(path, "score")
    named = run.given
    if not isinstance(named, list) or not named or not isinstance(named[0], str):
        raise InputError(f"{path} does not name the predictions that it scored: pass their file instead")
    reading = Reading(**{name: run.options[name] for name in Reading._fields if name in run.options})
    try:
        predictions = _read_prediction_file(named[0], reading)
    except InputError as error:
        raise InputError(f"{path} was made from {named[0]}: {error}") from None
    pred_inputs = [i for i in run.inputs if i["role"] == "pred"]
    if difference := changed_input(pred_inputs, inputs_of("pred", predictions.file)):
        raise InputError(
            f"{path} was made from other predictions: {difference}; score them again, or pass their file"
        )
    return predictions


def _read_prediction_file(name: str, reading: Reading) -> _Predictions:
    """The predictions of a file; where it is what a model was asked for, in the notation asked for."""
    file, model_run = reading.answers(name), run_of_answers(name)
    if model_run is None:
        return _Predictions(file, reading)
    model = model_run.options.get("model")
    return _Predictions(
        read_run_answers(file, model_run, reading), reading, model if isinstance(model, str) else ""
    )
