"""Several answers to one task: which trial a record is, and which gold plan serves it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count, filterfalse
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import InputError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import format_count
from planner_eval.reading.files.fields import id_text
from planner_eval.reading.files.pairing import format_repeated_ids
from planner_eval.reading.files.record import GOLD_COMPANION_FIELDS, Record, Records, is_stored

if TYPE_CHECKING:
    from planner_eval.reading.files.files import PlanFile

TRIAL_FIELDS = ("trial", "repetition", "repeat", "epoch")
"""Fields that number the trials of a task, the first that a record has; predict writes `repetition`."""

_TRIAL_KEYS = frozenset(TRIAL_FIELDS)

TASK_FIELD = "task_id"
"""The field that names the task of a trial, where the record's own id is another."""

TASK_KEY = "task of trials"
"""By which key of scored rows the trials of a task are a cluster; hardly the name of a user's own field."""


class Trial(NamedTuple):
    """One of several answers to a task.

    Args:
        task: The task's name.
        number: Which of them it is.
    """

    task: str
    number: str

    def __str__(self) -> str:
        """The id by which it is known."""
        return f"{self.task}/{self.number}"


def trial_of(record: Record) -> Trial | None:
    """Which trial a record is by its own fields; None where they do not say.

    >>> trial_of(Record("p", 0, "7/0", None, fields={"task_id": 7, "trial": 0}))
    Trial(task='7', number='0')
    >>> trial_of(Record("p", 0, "a", None, fields={"trial": 2})), trial_of(Record("p", 0, "a", None))
    (Trial(task='a', number='2'), None)
    """
    if _TRIAL_KEYS.isdisjoint(record.fields):  # as most records
        return None
    numbers = (id_text(record.fields.get(field)) for field in TRIAL_FIELDS)
    number = next(filter(None, numbers), None)
    if number is None:
        return None
    if record.id is not None and record.id.endswith(f"/{number}"):
        return Trial(record.id.removesuffix(f"/{number}"), number)
    task = id_text(record.fields.get(TASK_FIELD)) or record.id
    return None if task is None else Trial(task, number)


def label_trials(pred: PlanFile, gold: PlanFile, *, single: bool = False) -> tuple[PlanFile, PlanFile]:
    """Two files whose records know of which task they are a trial, under ids that tell the trials apart.

    Records are trials by a field of :data:`TRIAL_FIELDS`; by their files, where several files of predictions
    have the same ids; or by their order, where predictions and gold repeat an id and its gold plans are
    equal. A gold plan that stands once is that of each trial of its task. Both files stay as they are where
    no task has two trials. Of files kept on disk only trials with ids of their own are known.

    Args:
        pred: The predictions.
        gold: The gold plans.
        single: Also where no task has two trials, as beside another system that has several.
    """
    if not (pred.many and gold.many):
        return pred, gold
    if is_stored(pred.records) or is_stored(gold.records):
        _refuse_large_trials(pred)
        return (
            (pred.each(_with_own_task), gold.each(_with_own_task))
            if _sample_has_trials(gold)
            else (pred, gold)
        )
    if not any(record.id is not None or trial_of(record) for record in gold.records):
        return pred, gold  # an error about ids then names those that the records have
    unlike_tasks = _unlike_tasks(pred, gold)
    trials = _trials_of(pred, gold, unlike_tasks)
    if not any(trials):
        return pred, gold
    tasks: dict[str, list[Record]] = defaultdict(list)
    ids = Counter(record.id for record in pred.records)
    records = []
    for record, trial in zip(pred.records, trials, strict=True):
        if trial is not None:
            own = record.id is not None and record.id != trial.task and ids[record.id] == 1
            record = record._replace(id=record.id if own else str(trial), task=trial.task)
            tasks[trial.task].append(record)
        records.append(record)
    if not single and max(map(len, tasks.values())) < 2 and not _gold_has_trials(gold, pred, tasks):
        return pred, gold
    numbers = {trial.number for trial in trials if trial is not None}
    golds, notes = _golds_of_trials(gold, tasks, numbers, unlike_tasks)
    pred, gold = _with_records(pred, records), _with_records(gold, golds)
    pred_notes = (*pred.notes, *_assumed_trials(pred, tasks))
    return pred._replace(notes=pred_notes), gold._replace(notes=(*gold.notes, *notes))


def _gold_has_trials(gold: PlanFile, pred: PlanFile, tasks: Collection[str]) -> bool:
    """Whether gold has several trials of a task, or ids of tasks where predictions have those of trials."""
    gold_trials = Counter(trial.task for trial in map(trial_of, gold.records) if trial is not None)
    ids = {record.id for record in gold.records}
    by_task = not ids.isdisjoint(tasks) and ids.isdisjoint(record.id for record in pred.records)
    return by_task or max(gold_trials.values(), default=0) > 1


def _assumed_trials(file: PlanFile, tasks: Mapping[str, Records]) -> list[str]:
    """What is said where nothing but a repeated id makes records trials: it may be a mistake."""
    repeated = {task: records for task, records in tasks.items() if len(records) > 1}
    if not repeated or file.parts or any(map(trial_of, file.records)):
        return []
    task, records = next(iter(repeated.items()))
    return [
        f"{file.name}: {format_count(len(repeated), 'id')} occur{'s' * (len(repeated) == 1)} several "
        f"times in predictions and gold, e.g. {task!r} ({len(records)} times); records with the same id are "
        "treated as trials of one task and paired in order"
    ]


def format_ids_repeated_beyond_trials(records: Records) -> list[str]:
    """As :func:`format_repeated_ids`; records whose own fields make them trials of one task repeat nothing.

    >>> trials = [Record("p", n, "a", "f()", n + 1, fields={"trial": n % 2}) for n in range(3)]
    >>> format_ids_repeated_beyond_trials(trials[:2]), len(format_ids_repeated_beyond_trials(trials))
    ([], 1)
    """
    if is_stored(records) or not any(map(trial_of, records)):
        return format_repeated_ids(records)
    ids = Counter(record.id for record in records)
    trials = [trial_of(record) if ids[record.id] > 1 else None for record in records]
    return format_repeated_ids(
        [
            record if trial is None else record._replace(id=str(trial))
            for record, trial in zip(records, trials, strict=True)
        ]
    )


def _with_own_task(record: Record) -> Record:
    """A record that knows of which task it is a trial.

    >>> [_with_own_task(Record("p", 0, name, None, fields={"trial": 0})).task for name in ("7/0", "7", None)]
    ['7', '7', None]
    """
    trial = trial_of(record)
    return record if trial is None else record._replace(task=trial.task)


_SAMPLED_RECORDS = 200
"""So many records of a file on disk are looked at for whether a task has several trials."""


def _refuse_large_trials(file: PlanFile) -> None:
    """Records on disk are known by their ids alone: trials of one id would be left out but for the first.

    Raises:
        InputError: they are trials by a field of their own.
    """
    sample = file.records[:_SAMPLED_RECORDS]
    repeated = {record.id for record in file.records.repeated()[:1]} if is_stored(file.records) else ()
    for record in sample if repeated else ():
        trial = trial_of(record)
        if trial is not None and trial.task == record.id:
            raise InputError(
                f"{file.name}: several records have the id {next(iter(repeated))!r}, and a field says which "
                f"trial each is; files of more than 8 MB need ids that tell trials apart: {str(trial)!r}"
            )


def _sample_has_trials(file: PlanFile) -> bool:
    sample = (trial_of(record) for record in file.records[:_SAMPLED_RECORDS])
    return max(Counter(trial.task for trial in sample if trial is not None).values(), default=0) > 1


def _unlike_tasks(pred: PlanFile, gold: PlanFile) -> frozenset[str]:
    """What predictions name as their task under which gold has unlike plans by their ids: no task is that."""
    plans: dict[str, set[Any]] = defaultdict(set)
    trials = [(record.id, trial) for record in pred.records if (trial := trial_of(record)) is not None]
    golds = {record.id: record for record in gold.records if record.id is not None} if trials else {}
    for name, trial in trials:
        if name in golds and name not in (trial.task, str(trial)):
            plans[trial.task].add(_gold_data(golds[name]))
    return frozenset(task for task, unlike in plans.items() if len(unlike - {None}) > 1)


def _trial_apart(record: Record, unlike_tasks: Collection[str]) -> Trial | None:
    """As :func:`trial_of`; the task is the record's id where what it names holds unlike plans."""
    trial = trial_of(record)
    if trial is None or trial.task not in unlike_tasks or record.id is None:
        return trial
    return trial._replace(task=record.id)


def _trials_of(pred: PlanFile, gold: PlanFile, unlike_tasks: Collection[str]) -> Sequence[Trial | None]:
    """Which trial each prediction is."""
    trials = [_trial_apart(record, unlike_tasks) for record in pred.records]
    if any(trials):
        return _number_all(pred.records, trials)
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


def _number_all(records: Records, trials: Sequence[Trial | None]) -> Sequence[Trial | None]:
    """The trials, with records of a task that do not say which trial they are: the next that there is not."""
    numbers: dict[str | None, set[str]] = defaultdict(set)
    for trial in trials:
        if trial is not None:
            numbers[trial.task].add(trial.number)
    unused = {
        task: filterfalse(used_numbers.__contains__, map(str, count()))
        for task, used_numbers in numbers.items()
    }
    return [
        Trial(record.id, next(unused[record.id]))
        if trial is None and record.id in unused and record.id
        else trial
        for record, trial in zip(records, trials, strict=True)
    ]


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


def _golds_of_trials(
    gold: PlanFile, tasks: Mapping[str, Records], numbers: Collection[str], unlike_tasks: Collection[str]
) -> tuple[list[Record], list[str]]:
    """The gold plans, one for each trial, and what is said of those that are left out.

    Equal gold plans of a task are one plan, which serves each trial that has none of its own, or none that
    can be read, as where a run broke off. A plan that stands more often than its task has trials stays,
    unless it is for a trial of which there is no prediction at all.

    Args:
        gold: The gold plans.
        tasks: The predictions of each task.
        numbers: Which trials the predictions are.
        unlike_tasks: What records name as their task and is none.
    """
    trial_ids = {task: dict.fromkeys(str(r.id) for r in records) for task, records in tasks.items()}
    tasks_by_id = {name: task for task, names in trial_ids.items() for name in names}
    named = _name_golds(gold.records, tasks_by_id, unlike_tasks)
    shared = _shared_plans(record for record, _ in named)
    copies: Counter[str] = Counter()
    golds: list[Record] = []
    for record, trial in named:
        name, plan = str(record.id), shared.get(record.task)
        if name in tasks and name not in trial_ids[name]:  # the task's plan, of no certain trial
            copies[name] += 1
            if copies[name] == 1:
                golds += [record._replace(id=trial_id) for trial_id in trial_ids[name]]
            elif copies[name] > len(trial_ids[name]):
                golds.append(record._replace(id=f"{name}/{copies[name]}"))
        elif plan is None or (record.error is None and (trial is None or trial.number in numbers)):
            golds.append(record)
        elif trial is None or trial.number in numbers:
            golds.append(plan._replace(id=record.id))
    served = {record.id for record in golds}
    golds += [
        plan._replace(id=trial_id)
        for task, plan in shared.items()
        for trial_id in trial_ids.get(str(task), ())
        if trial_id not in served
    ]
    unmade = len([1 for _, trial in named if trial is not None and trial.number not in numbers])
    return golds, [
        f"{gold.name}: {format_count(unmade, 'gold plan')} of trials that no prediction is of left out"
    ] if unmade else []


def _name_golds(
    records: Records, tasks_by_id: Mapping[str, str], unlike_tasks: Collection[str]
) -> list[tuple[Record, Trial | None]]:
    """Gold plans with their tasks, under ids that tell trials apart, and which trial each says it is."""
    ids = Counter(record.id for record in records)
    named = []
    for record in records:
        trial, name = _trial_apart(record, unlike_tasks), record.id
        if trial is not None and (ids[name] > 1 or name == trial.task):
            name = str(trial)
        task = tasks_by_id.get(str(name)) or (name if trial is None else trial.task)
        named.append((record._replace(id=name, task=task), trial))
    return named


def _shared_plans(golds: Iterable[Record]) -> dict[str | None, Record]:
    """The plan of each task of which all gold plans that can be read are equal."""
    plans: dict[str | None, list[Record]] = defaultdict(list)
    for record in golds:
        if record.error is None and record.task is not None:
            plans[record.task].append(record)
    return {
        task: records[0]
        for task, records in plans.items()
        if all(_gold_data(record) == _gold_data(records[0]) for record in records)
    }


def _with_records(file: PlanFile, records: Records) -> PlanFile:
    """The file with other records; what was said of ids that stood several times holds no longer."""
    stale = {*format_repeated_ids(file.records), *format_ids_repeated_beyond_trials(file.records)}
    notes = (*(note for note in file.notes if note not in stale), *format_repeated_ids(records))
    return file._replace(records=tuple(records), notes=notes)
