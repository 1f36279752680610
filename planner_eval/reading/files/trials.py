"""Which records are trials of one task: by a field, by files, or by a repeated id."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import format_count
from planner_eval.reading.files.fields import id_text
from planner_eval.reading.files.pairing import format_repeated_ids
from planner_eval.reading.files.record import GOLD_COMPANION_FIELDS, Record, is_stored

if TYPE_CHECKING:
    from planner_eval.reading.files.files import PlanFile


TRIAL_FIELDS = ("trial", "repetition", "repeat", "epoch")
"""Fields that number the trials of a task, the first that a record has; predict writes `repetition`."""

_TRIAL_KEYS = frozenset(TRIAL_FIELDS)

TASK_FIELD = "task_id"
"""The field that names the task of a trial, where the record's own id is another."""

TASK_KEY = "task of trials"
"""By which key of scored rows the trials of a task are a cluster; hardly the name of a user's own field."""

VERDICT_FIELDS = ("reward", "success", "score")
"""Fields in which a run recorded whether an answer was right, the first that a record has."""

YES_WORDS = ("same", "equal", "equivalent", "true", "yes", "pass", "1", "1.0")
NO_WORDS = ("different", "unequal", "not equal", "false", "no", "fail", "0", "0.0")
"""A verdict in words."""


class Trial(NamedTuple):
    """One of several answers to a task.

    Args:
        task: The task's name.
        number: Which of them it is.
    """

    task: str
    number: str


def trial_of(record: Record) -> Trial | None:
    """Which trial a record is by its own fields; None where they do not say.

    >>> trial_of(Record("p", 0, "7/0", None, fields={"task_id": 7, "trial": 0}))
    Trial(task='7', number='0')
    >>> trial_of(Record("p", 0, "a", None, fields={"trial": 2})), trial_of(Record("p", 0, "a", None))
    (Trial(task='a', number='2'), None)
    """
    if _TRIAL_KEYS.isdisjoint(record.fields):  # as most records
        return None
    for field in TRIAL_FIELDS:
        if (number := id_text(record.fields.get(field))) is not None:
            break
    else:
        return None
    if record.id is not None and record.id.endswith(f"/{number}"):
        return Trial(record.id.removesuffix(f"/{number}"), number)
    task = id_text(record.fields.get(TASK_FIELD)) or record.id
    return None if task is None else Trial(task, number)


class RecordedVerdict(NamedTuple):
    """What a run recorded of an answer.

    Args:
        field: The field it stands in.
        value: From 0, wrong, to 1, right.
    """

    field: str
    value: float


def recorded_verdict(record: Record) -> RecordedVerdict | None:
    """The verdict that a record holds: yes, no (also in words), or a number from 0 to 1; None for none.

    >>> recorded_verdict(Record("p", 0, "a", None, fields={"reward": 1.0}))
    RecordedVerdict(field='reward', value=1.0)
    >>> recorded_verdict(Record("p", 0, "a", None, fields={"success": "No"}))
    RecordedVerdict(field='success', value=0.0)
    >>> recorded_verdict(Record("p", 0, "a", None, fields={"score": 7.5})) is None
    True
    """
    for field in VERDICT_FIELDS:
        value = record.fields.get(field)
        if isinstance(value, str):
            word = value.strip().lower()
            value = True if word in YES_WORDS else False if word in NO_WORDS else None
        if isinstance(value, (bool, int, float)) and 0 <= value <= 1:
            return RecordedVerdict(field, float(value))
    return None


def label_trials(pred: PlanFile, gold: PlanFile) -> tuple[PlanFile, PlanFile]:
    """Two files whose records know of which task they are a trial, under ids that tell the trials apart.

    Records are trials by a field of :data:`TRIAL_FIELDS`; by their files, where several files of predictions
    have the same ids; or by their order, where predictions and gold repeat an id and its gold plans are
    equal. A gold plan that stands once is that of each trial of its task. Both files stay as they are where
    no task has two trials. Of files kept on disk only trials with ids of their own are known.

    Args:
        pred: The predictions.
        gold: The gold plans.
    """
    if not (pred.many and gold.many):
        return pred, gold
    if is_stored(pred.records) or is_stored(gold.records):
        return (
            (pred.each(_with_own_task), gold.each(_with_own_task))
            if _sample_has_trials(gold)
            else (pred, gold)
        )
    if not any(record.id is not None or trial_of(record) for record in gold.records):
        return pred, gold  # an error about ids then names those that the records have
    trials = _trials_of(pred, gold)
    if not any(trials):
        return pred, gold
    tasks: dict[str, list[Record]] = defaultdict(list)
    ids = Counter(record.id for record in pred.records)
    records = []
    for record, trial in zip(pred.records, trials, strict=True):
        if trial is not None:
            unique = record.id is not None and ids[record.id] == 1
            record = record._replace(
                id=record.id if unique else f"{trial.task}/{trial.number}", task=trial.task
            )
            tasks[trial.task].append(record)
        records.append(record)
    if max(map(len, tasks.values()), default=0) < 2:
        return pred, gold
    golds = _golds_of_trials(gold, tasks)
    pred, gold = _with_records(pred, records), _with_records(gold, golds)
    return pred._replace(notes=(*pred.notes, *_assumed_trials(pred, tasks))), gold


def _assumed_trials(file: PlanFile, tasks: Mapping[str, Sequence[Record]]) -> list[str]:
    """What is said where nothing but a repeated id makes records trials: it may be a mistake."""
    repeated = {task: records for task, records in tasks.items() if len(records) > 1}
    if file.parts or any(map(trial_of, file.records)):
        return []
    task, records = next(iter(repeated.items()))
    return [
        f"{file.name}: {format_count(len(repeated), 'id')} occur{'s' * (len(repeated) == 1)} several "
        f"times in predictions and gold, e.g. {task!r} ({len(records)} times); records with the same id are "
        "treated as trials of one task and paired in order"
    ]


def format_ids_repeated_beyond_trials(records: Sequence[Record]) -> list[str]:
    """As :func:`format_repeated_ids`; records whose own fields make them trials of one task repeat nothing.

    >>> trials = [Record("p", n, "a", "f()", n + 1, fields={"trial": n % 2}) for n in range(3)]
    >>> format_ids_repeated_beyond_trials(trials[:2]), len(format_ids_repeated_beyond_trials(trials))
    ([], 1)
    """
    if is_stored(records) or not any(map(trial_of, records)):
        return format_repeated_ids(records)
    trials = [trial_of(record) for record in records]
    return format_repeated_ids(
        [
            record if trial is None else record._replace(id=f"{trial.task}/{trial.number}")
            for record, trial in zip(records, trials, strict=True)
        ]
    )


def _with_own_task(record: Record) -> Record:
    trial = trial_of(record)
    return record if trial is None else record._replace(task=trial.task)


_SAMPLED_RECORDS = 200
"""So many records of a file on disk are looked at for whether a task has several trials."""


def _sample_has_trials(file: PlanFile) -> bool:
    sample = (trial_of(record) for record in file.records[:_SAMPLED_RECORDS])
    return max(Counter(trial.task for trial in sample if trial is not None).values(), default=0) > 1


def _trials_of(pred: PlanFile, gold: PlanFile) -> Sequence[Trial | None]:
    """Which trial each prediction is."""
    trials = [trial_of(record) for record in pred.records]
    if any(trials):
        return trials
    if len(pred.parts) > 1 and not gold.parts and _share_ids(pred):
        return [
            None if record.id is None else Trial(record.id, pred.parts.get(record.file, record.file))
            for record in pred.records
        ]
    repeated = _ids_repeated_alike(pred, gold)
    if not repeated:
        return ()
    counts: Counter[str] = Counter()
    numbered: list[Trial | None] = []
    for record in pred.records:
        if record.id is None or record.id not in repeated:
            numbered.append(None)
            continue
        counts[record.id] += 1
        numbered.append(Trial(record.id, str(counts[record.id])))
    return numbered


def _share_ids(file: PlanFile) -> bool:
    """Whether at least half of the ids of several files stand in more than one of them."""
    files: dict[str, set[str]] = defaultdict(set)
    for record in file.records:
        if record.id is not None:
            files[record.id].add(record.file)
    return 2 * sum(len(names) > 1 for names in files.values()) >= max(1, len(files))


def _ids_repeated_alike(pred: PlanFile, gold: PlanFile) -> frozenset[str]:
    """The ids that several predictions have, and several gold plans, which are equal."""
    counts = Counter(record.id for record in pred.records)
    golds: dict[str, list[Record]] = defaultdict(list)
    if len(counts) == len(pred.records):
        return frozenset()
    for record in gold.records:
        if record.id is not None and counts[record.id] > 1:
            golds[record.id].append(record)
    return frozenset(
        name
        for name, records in golds.items()
        if len(records) > 1 and all(_gold_data(record) == _gold_data(records[0]) for record in records)
    )


def _gold_data(record: Record) -> Any:
    """What says which answers are right: the plan, and what stands beside it."""
    companions = [record.fields.get(field) for field in GOLD_COMPANION_FIELDS]
    return None if record.error is not None else repr((record.source, companions))


def _golds_of_trials(gold: PlanFile, tasks: Mapping[str, Sequence[Record]]) -> list[Record]:
    """The gold plans, one for each trial; a plan that stands more often than its task has trials stays."""
    tasks_by_id = {str(record.id): task for task, records in tasks.items() for record in records}
    counts = Counter(record.id for record in gold.records)
    copies: Counter[str] = Counter()
    golds: list[Record] = []
    for record in gold.records:
        trial, name = trial_of(record), record.id
        if trial is not None and counts[name] > 1:
            name = f"{trial.task}/{trial.number}"
        if name is None or name in tasks_by_id or name not in tasks:
            task = tasks_by_id.get(str(name)) or (name if trial is None else trial.task)
            golds.append(record._replace(id=name, task=task))
            continue
        copies[name] += 1
        trial_ids = list(dict.fromkeys(str(trial_record.id) for trial_record in tasks[name]))
        if copies[name] == 1:
            golds += [record._replace(id=trial_id, task=name) for trial_id in trial_ids]
        elif copies[name] > len(trial_ids):
            golds.append(record._replace(id=f"{name}/{copies[name]}", task=name))
    return golds


def _with_records(file: PlanFile, records: Sequence[Record]) -> PlanFile:
    """The file with other records; what was said of ids that stood several times holds no longer."""
    stale = {*format_repeated_ids(file.records), *format_ids_repeated_beyond_trials(file.records)}
    notes = (*(note for note in file.notes if note not in stale), *format_repeated_ids(records))
    return file._replace(records=tuple(records), notes=notes)
