"""What a recorded run says of itself: which trial of a task it is, its verdict, and what it cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count, filterfalse
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import InputError, PlanevalError
from planner_eval.base.json_text import loads_if_json
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import format_count
from planner_eval.reading.dialects.conversations.spans import (
    END_TIME_KEYS,
    NANOSECONDS_PER_SECOND,
    PARENT_KEYS,
    START_TIME_KEYS,
    attributes_of,
    read_time,
)
from planner_eval.reading.files.fields import id_text
from planner_eval.reading.files.pairing import format_repeated_ids
from planner_eval.reading.files.record import (
    GOLD_COMPANION_FIELDS,
    VERDICT_FIELDS,
    Record,
    Records,
    is_stored,
)

if TYPE_CHECKING:
    from planner_eval.reading.files.files import PlanFile

TRIAL_FIELDS = ("trial", "repetition", "repeat", "epoch")
"""Fields that number the trials of a task, the first that a record has; predict writes `repetition`."""

_TRIAL_KEYS = frozenset(TRIAL_FIELDS)

TASK_FIELD = "task_id"
"""The field that names the task of a trial, where the record's own id is another."""

TASK_KEY = "task of trials"
"""By which key of scored rows the trials of a task are a cluster; hardly the name of a user's own field."""

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
        value = None if field in record.scores else record.fields.get(field)
        if isinstance(value, str):
            word = value.strip().lower()
            value = True if word in YES_WORDS else False if word in NO_WORDS else None
        if isinstance(value, (bool, int, float)) and 0 <= value <= 1:
            return RecordedVerdict(field, float(value))
    return None


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
    apart = _unlike_tasks(pred, gold)
    trials = _trials_of(pred, gold, apart)
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
    golds, notes = _golds_of_trials(gold, tasks, numbers, apart)
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
    golds = {record.id: record for record in gold.records if record.id is not None}
    for record in pred.records:
        trial = trial_of(record)
        if trial is not None and record.id in golds and record.id not in (trial.task, str(trial)):
            plans[trial.task].add(_gold_data(golds[record.id]))
    return frozenset(task for task, unlike in plans.items() if len(unlike - {None}) > 1)


def _trial_apart(record: Record, apart: Collection[str]) -> Trial | None:
    """As :func:`trial_of`; the task is the record's id where what it names holds unlike plans."""
    trial = trial_of(record)
    if trial is None or trial.task not in apart or record.id is None:
        return trial
    return trial._replace(task=record.id)


def _trials_of(pred: PlanFile, gold: PlanFile, apart: Collection[str]) -> Sequence[Trial | None]:
    """Which trial each prediction is."""
    trials = [_trial_apart(record, apart) for record in pred.records]
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
    unused = {task: filterfalse(taken.__contains__, map(str, count())) for task, taken in numbers.items()}
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
    gold: PlanFile, tasks: Mapping[str, Records], numbers: Collection[str], apart: Collection[str]
) -> tuple[list[Record], list[str]]:
    """The gold plans, one for each trial, and what is said of those that are left out.

    Equal gold plans of a task are one plan, which serves each trial that has none of its own, or none that
    can be read, as where a run broke off. A plan that stands more often than its task has trials stays,
    unless it is for a trial of which there is no prediction at all.

    Args:
        gold: The gold plans.
        tasks: The predictions of each task.
        numbers: Which trials the predictions are.
        apart: What records name as their task and is none.
    """
    trial_ids = {task: dict.fromkeys(str(r.id) for r in records) for task, records in tasks.items()}
    tasks_by_id = {name: task for task, names in trial_ids.items() for name in names}
    named = _name_golds(gold.records, tasks_by_id, apart)
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
    records: Records, tasks_by_id: Mapping[str, str], apart: Collection[str]
) -> list[tuple[Record, Trial | None]]:
    """Gold plans with their tasks, under ids that tell trials apart, and which trial each says it is."""
    ids = Counter(record.id for record in records)
    named = []
    for record in records:
        trial, name = _trial_apart(record, apart), record.id
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


# ----------------------------------------------------------------------
# What a recorded run cost: tokens, seconds and money, as APIs, tracers and agent benchmarks write them.
COST_NAMES = ("calls", "input_tokens", "output_tokens", "tokens", "seconds", "cost", "user_cost")
"""The figures in the order in which they are shown: calls are the prediction's, the others are recorded."""
UNUSABLE = "unusable"
"""In the place of a figure's name: figures are negative or no numbers, and do not count."""

_KEYS: Mapping[str, tuple[str, ...]] = {
    "input_tokens": (
        "input_tokens", "prompt_tokens", "promptTokenCount", "prompt_token_count", "inputTokens",
        "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt",
    ),
    "output_tokens": (
        "output_tokens", "completion_tokens", "candidatesTokenCount", "candidates_token_count",
        "outputTokens", "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens",
        "llm.token_count.completion",
    ),
    "tokens": (
        "total_tokens", "totalTokenCount", "total_token_count", "totalTokens", "llm.token_count.total",
    ),
    "seconds": ("seconds", "duration", "latency", "elapsed", "duration_seconds", "latency_seconds"),
    "cost": ("total_cost", "agent_cost", "cost", "total_cost_usd", "cost_usd", "totalCost"),
    "user_cost": ("user_cost",),
}  # fmt: skip
"""Under which keys a figure stands, the first that an object has."""

_MILLISECOND_KEYS = ("duration_ms", "latency_ms", "elapsed_ms")
_USAGE_KEYS = ("usage", "usage_metadata", "usageMetadata", "token_usage", "tokenUsage", "timing")
"""Keys of the object that holds an answer's tokens."""

_CACHED_KEYS = {
    "input_tokens": ("cache_read_input_tokens", "cache_creation_input_tokens"),
    "inputTokens": ("cacheReadInputTokens", "cacheWriteInputTokens"),
}
"""Tokens read from a cache or into it, which Anthropic and Bedrock do not count in the input; others do."""

_IN_USAGE = {"input_tokens": "input", "output_tokens": "output", "tokens": "total"}
"""Further keys within such an object."""

_ID_KEYS = ("id", "run_id", "span_id", "spanId")
_PART_KEYS = (
    "messages", "traj", "trajectory", "turns", "steps", "events", "spans", "runs", "child_runs", "children",
    "requests", "resourceSpans", "scopeSpans", "instrumentationLibrarySpans",
)  # fmt: skip
"""Keys of a record, or of a span, under which the parts of its run stand: messages, requests and spans."""

_SPAN_LIST_KEYS = ("resourceSpans", "scopeSpans", "instrumentationLibrarySpans", "spans")
"""Keys of what holds spans and is none; a span's parent may stand in another list of the same trace."""

_ANSWER_KEYS = ("response", "raw_response", "completion", "message", "output", "outputs", "llm_output")
"""Keys under which an API's answer may stand, whose object of usage counts."""

_ABOUT_KEYS = ("info", "metadata", "meta", "stats", "metrics", "timing", "response_metadata")
"""Keys of an object that says something of the run itself."""

_ANSWER_SIGNS = frozenset({"choices", "candidates", "role", "content", "model", "object", "llm_output"})
_PART_SIGNS = frozenset({
    "role", "attributes", "run_id", "span_id", "spanId", "trace_id", "traceId", "parent_run_id", "parent_id",
    "run_type", "usage_metadata", "usageMetadata", "usage", "stage", "timing", "prompt_tokens",
})  # fmt: skip
"""What an item of a list has that is a message, a request or a span, and a call of a plan has not."""

_UNSEEN_ROLES = frozenset({"tool", "function", "user", "system", "developer", "human"})
_MAX_DEPTH = 8


_OWN_KEYS = frozenset(
    {
        key
        for keys in (*_KEYS.values(), START_TIME_KEYS, END_TIME_KEYS, _MILLISECOND_KEYS, _USAGE_KEYS)
        for key in keys
    }
)

_TELLING_KEYS = _OWN_KEYS.union(_ABOUT_KEYS, _ANSWER_KEYS, _PART_KEYS, ("attributes",))
"""Without one of these keys an object says nothing of costs; most records have none."""


def recorded_costs(record: Record) -> dict[str, float]:
    """What a record says that its run cost; of each figure the outermost place where it stands counts.

    >>> usage = {"prompt_tokens": 9, "completion_tokens": 4}
    >>> recorded_costs(Record("p", 0, "a", None, fields={"usage": usage}))
    {'input_tokens': 9, 'output_tokens': 4, 'tokens': 13}
    >>> steps = [{"role": "assistant", "usage": {"input_tokens": count}} for count in (5, 7)]
    >>> recorded_costs(Record("p", 0, "a", steps, fields={"duration_ms": 1500, "cost": -1}))
    {'seconds': 1.5, 'input_tokens': 12, 'unusable': 1}
    """
    answers = _sum_costs([_costs_in(answer, 0) for answer in _source_values(record.source)])
    recorded = {} if _TELLING_KEYS.isdisjoint(record.fields) else _costs_in(record.fields, 0, record=True)
    recorded = _with_outer(answers, recorded)
    costs = {name: value for name, value in recorded.items() if isfinite(value)}
    if "tokens" not in costs and "input_tokens" in costs and "output_tokens" in costs:
        costs["tokens"] = costs["input_tokens"] + costs["output_tokens"]
    if not all(map(isfinite, recorded.values())):
        costs[UNUSABLE] = 1
    return costs


def _with_outer(inner: dict[str, float], outer: dict[str, float]) -> dict[str, float]:
    """What an object and what is within it say: the outer figure counts, unless only the inner is usable."""
    return outer | {name: value for name, value in inner.items() if not isfinite(outer.get(name, nan))}


def _source_values(source: Any) -> list[Any]:
    """A record's answer as data, of a text all values; a text is read only where it may say what it cost."""
    if not isinstance(source, str):
        return [_without_calls(source)]
    if '"usage' not in source and "oken" not in source and "_time" not in source:
        return []
    if source.lstrip()[:1] not in ("[", "{"):
        return []
    try:
        return [_without_calls(value) for value in loads_if_json(source, DEFAULT_LIMITS) or ()]
    except PlanevalError:
        return []


def _without_calls(answer: Any) -> Any:
    """An answer; of an object that may be a plan, whose keys may be names of tools, the parts of its run."""
    if isinstance(answer, Mapping) and _ANSWER_SIGNS.isdisjoint(answer):
        return {key: answer[key] for key in _PART_KEYS if key in answer}
    return answer


def _costs_in(data: Any, depth: int, *, record: bool = False) -> dict[str, float]:
    """What a record, a message, a request or a span says; of what it does not say itself its parts' sum.

    A figure is NaN where what stands there, or in one of the parts, is unusable.
    Arguments and answers of tools, gold, the question and the state of a world are never looked at.
    """
    if depth > _MAX_DEPTH:
        return {}
    if isinstance(data, list):
        items = list(_run_parts(data))
        costs = [_costs_in(item, depth + 1) for item in items]
        return _sum_costs(_without_nested(items, costs)) if any(costs) else {}
    if not isinstance(data, Mapping) or (not record and str(data.get("role")) in _UNSEEN_ROLES):
        return {}
    own = dict(_own_costs(data))
    for key in _ABOUT_KEYS:
        if isinstance(about := data.get(key), Mapping):
            own = _with_outer(dict(_own_costs(about)), own)
    for key in _ANSWER_KEYS:
        answer = data.get(key)
        if isinstance(answer, Mapping) and not _ANSWER_SIGNS.isdisjoint(answer):
            own = _with_outer(_costs_in(answer, depth + 1), own)
    parts = [_costs_in(data[key], depth + 1) for key in _PART_KEYS if isinstance(data.get(key), list)]
    return _with_outer(_sum_costs(parts), own)


def _run_parts(data: list[Any]) -> Iterator[Mapping[str, Any]]:
    """The messages, requests and spans of a list, and of lists that only hold spans."""
    for item in data:
        if not isinstance(item, Mapping):
            continue
        if _PART_SIGNS.isdisjoint(item):
            for key in _SPAN_LIST_KEYS:
                if isinstance(spans := item.get(key), list):
                    yield from _run_parts(spans)
        elif not item.keys() <= {*_USAGE_KEYS}:  # a call of a tool of that name, as keyed lists write it
            yield item


def _sum_costs(parts: list[dict[str, float]]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for part in parts:
        for name, value in part.items():
            sums[name] = sums.get(name, 0) + value
    return sums


def _without_nested(items: list[Any], costs: list[dict[str, float]]) -> list[dict[str, float]]:
    """The costs of a list's items; a span says nothing of what a span around it says already."""
    ids = [_first(item, _ID_KEYS) or _first(item.get("context"), _ID_KEYS) for item in items]
    item_parents = [_first(item, PARENT_KEYS) for item in items]
    if not any(item_parents):
        return costs
    parents, by_id = dict(zip(ids, item_parents, strict=True)), dict(zip(ids, costs, strict=True))
    kept = []
    for name, parent, cost in zip(ids, item_parents, costs, strict=True):
        if name is not None and cost is not by_id[name] and cost == by_id[name]:
            continue  # a span that was exported twice
        above: set[str] = set()
        seen = {name}
        while parent is not None and parent not in seen:
            above.update(by_id.get(parent, ()))
            seen.add(parent)
            parent = parents.get(parent)
        kept.append({key: value for key, value in cost.items() if key not in above})
    return kept


def _first(item: Any, keys: tuple[str, ...]) -> str | None:
    if not isinstance(item, Mapping):
        return None
    values = (item.get(key) for key in keys)
    return next((str(value) for value in values if isinstance(value, (str, int)) and value != ""), None)


def _own_costs(data: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """The figures that an object says itself, under its own keys or in its object of usage."""
    if _OWN_KEYS.isdisjoint(data) and "attributes" not in data:
        return
    usage = [data[key] for key in _USAGE_KEYS if isinstance(data.get(key), Mapping)]
    usage.append(attributes_of(data))
    for name, keys in _KEYS.items():
        places = [(data, keys), *((inner, (*keys, _IN_USAGE.get(name, ""))) for inner in usage)]
        numbers = [_number_of(place, key) for place, names in places for key in names if key in place]
        value = next((number for number in numbers if number is not None and isfinite(number)), None)
        if name == "seconds" and value is None:
            value = _seconds(data)
        if value is None:
            value = next((number for number in numbers if number is not None), None)
        if value is not None:
            yield name, value


def _seconds(data: Mapping[str, Any]) -> float | None:
    numbers = [number for key in _MILLISECOND_KEYS if (number := _number(data.get(key))) is not None]
    if usable := [*filter(isfinite, numbers)]:
        return usable[0] / 1000
    start, stop = read_time(data, START_TIME_KEYS), read_time(data, END_TIME_KEYS)
    if start is not None and stop is not None and stop >= start:
        return round((stop - start) / NANOSECONDS_PER_SECOND, 6)
    return nan if numbers else None


def _number_of(place: Mapping[str, Any], key: str) -> float | None:
    """A figure of an object, with what its API does not count in it."""
    if key in _IN_USAGE.values() and type(place[key]) not in (int, float):
        return None  # a trace's attributes may have the question as their input
    number = _number(place.get(key))
    if number is None or key not in _CACHED_KEYS:
        return number
    return number + sum(_number(place.get(name)) or 0 for name in _CACHED_KEYS[key])


def _number(value: Any) -> float | None:
    """A number from 0 on, which may be text, as in CSV and LangSmith's costs; NaN for anything else there is.

    >>> _number("0.2"), _number("12"), _number(-1), _number("cheap"), _number(True), _number(None)
    (0.2, 12, nan, nan, nan, None)
    """
    if value is None or value == "":
        return None
    if type(value) is str:
        try:
            value = int(value) if value.isdecimal() and len(value) < 16 else float(value)
        except ValueError:
            return nan
    if type(value) not in (int, float) or not 0 <= value < 1e15:
        return nan
    return float(value) if type(value) is float else int(value)
