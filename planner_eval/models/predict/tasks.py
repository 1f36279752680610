"""What is asked: samples of a benchmark, tasks of your own, recorded conversations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from planner_eval.base.errors import LIST, InputError, ParseError, expect
from planner_eval.benchmarks.answers import gold_samples
from planner_eval.benchmarks.benchmark import BENCHMARKS, benchmark
from planner_eval.benchmarks.datasets.published import (
    DATASET_PREFIX,
    Sample,
    load_json,
    load_jsonl,
    published_datasets,
)
from planner_eval.models.pipelines.pipeline import OWN_TASKS
from planner_eval.reading.dialects.read import parse
from planner_eval.reading.files.fields import ID_FIELDS, choose_content, id_text
from planner_eval.reading.files.files import PlanFile, read_path
from planner_eval.reading.files.record import Record

# ----------------------------------------------------------------------
# Recorded conversations of one's own: what of them is shown to a model, and what is left out as gold.
#
# A conversation that ends with the assistant is shown up to the user's last message, one without a user up
# to the assistant's first: all that follows is left out of the prompt, and is gold where nothing else is.
# One that ends with somebody else asks for what comes next, and is shown whole.
_SPEAKERS = ("user", "tool", "function", "system", "developer")
"""Who may speak last before the model does."""

MESSAGES_FIELD = "messages"
"""The field of a task that holds its conversation."""

Messages = Sequence[Mapping[str, Any]]


def split_conversation(messages: Any) -> tuple[Messages, Messages]:
    """What of a conversation is shown, and what is left out; nothing of what is none.

    >>> talk = [{"role": one} for one in ("user", "assistant", "tool", "assistant")]
    >>> [len(part) for part in split_conversation(talk)], [len(part) for part in split_conversation(talk[:3])]
    ([1, 3], [3, 0])
    """
    if not isinstance(messages, list) or not all(isinstance(message, Mapping) for message in messages):
        return (), ()
    roles = [message.get("role") for message in messages]
    if not roles or roles[-1] in _SPEAKERS:
        return messages, ()
    if "user" in roles:
        end = len(roles) - roles[::-1].index("user")
    else:
        end = next(index for index, role in enumerate(roles) if role not in _SPEAKERS)
    return messages[:end], messages[end:]


def keep_left_out(golds: PlanFile) -> PlanFile:
    """Gold plans, of recorded conversations those that a prompt leaves out; a turn is counted in these.

    Where another field holds the gold of a file, so it is for the records where it is absent or null.
    """
    if golds.content in (MESSAGES_FIELD, None):
        return golds.each(_cut_source)
    count = sum(_has_left_out_turns(golds.content, record) for record in golds.records)
    if not count:
        return golds
    notes = [note for note in golds.notes if f"{MESSAGES_FIELD!r}, which is not" not in note]
    lack = "task has" if count == 1 else "tasks have"
    notes.append(
        f"{golds.name}: {count:,} {lack} no {golds.content!r}: gold is what follows in "
        f"{MESSAGES_FIELD!r} after the prompt"
    )
    return golds.each(partial(_replace_source, golds.content))._replace(notes=tuple(notes))


def _has_left_out_turns(field: str, record: Record) -> bool:
    """Whether a record has nothing in such a field, and a conversation of which turns are left out."""
    lacks = record.error is not None and record.fields.get(field) is None
    return lacks and bool(split_conversation(record.fields.get(MESSAGES_FIELD))[1])


def _replace_source(field: str, record: Record) -> Record:
    if not _has_left_out_turns(field, record):
        return record
    return record._replace(source=list(split_conversation(record.fields[MESSAGES_FIELD])[1]), error=None)


def _cut_source(record: Record) -> Record:
    source = record.source
    talk = source.get(MESSAGES_FIELD) if isinstance(source, Mapping) else source
    if not isinstance(talk, list) or not any(
        isinstance(message, Mapping) and "role" in message for message in talk
    ):
        return record
    answer_turns = split_conversation(talk)[1]
    if answer_turns:
        return record._replace(source=list(answer_turns))
    why = "there is no gold: its conversation does not end with the assistant, so all of it was shown"
    return record._replace(source=None, error=ParseError(why, code="parse.empty"))


def read_own_golds(source: str) -> dict[str, Record]:
    """The gold beside tasks of your own, by the tasks' ids.

    Raises:
        InputError: the file cannot be read, or no field of it is known to hold gold.
    """
    records = keep_left_out(read_path(source, role="gold")).records
    return {record.id or numbered_id(number): record for number, record in enumerate(records, 1)}


NO_CALL_TEXT = "No tool is needed, or none fits."
"""The sentence that a prompt asks for where gold calls nothing, and has no words of its own."""


def gold_words(source: Any) -> str:
    """What gold without a call says: its recorded words, else a sentence.

    Args:
        source: The gold as it stands in its record.

    >>> gold_words([{"role": "assistant", "content": "You are welcome."}]), gold_words([])
    ('You are welcome.', 'No tool is needed, or none fits.')
    """
    last = source[-1] if isinstance(source, list) and source else source
    text = last.get("content") if isinstance(last, Mapping) else last
    if not isinstance(text, str) or text.lstrip()[:1] in ("", "[", "{", "<"):
        return NO_CALL_TEXT
    try:
        return NO_CALL_TEXT if parse(text).calls else text.strip()
    except ParseError:
        return NO_CALL_TEXT


def refuse_shown_gold(fields: Mapping[str, Any], messages: Messages, named: str) -> None:
    """Refuse a task whose conversation, as it is shown, answers the question with gold's own calls.

    Args:
        fields: The task's record.
        messages: What of its conversation is shown.
        named: The task's id.

    Raises:
        InputError: says what to do.
    """
    last_question = max(
        (index for index, message in enumerate(messages) if message.get("role") == "user"), default=-1
    )
    since = list(messages[last_question + 1 :])
    if not any(message.get("tool_calls") for message in since):
        return
    try:
        field = choose_content(f"task {named!r}", [dict(fields)], "gold")
        if field is None or field == MESSAGES_FIELD:
            return
        gold, shown_calls = parse(fields[field]).calls, parse(since).calls
    except (ParseError, InputError):  # what cannot be read is said where it is scored
        return
    if (
        gold
        and shown_calls
        and all(
            call.tool == shown_call.tool and call.arguments == shown_call.arguments
            for call, shown_call in zip(gold, shown_calls, strict=False)
        )
    ):
        raise InputError(
            f"task {named!r}: the prompt would show the gold call of {shown_calls[0].tool} ({field!r}), "
            "which is "
            "also in the conversation; end the conversation before that call"
        )


# ----------------------------------------------------------------------
# What is asked: the samples of a benchmark, or tasks of your own out of a file.
QUESTION_FIELDS = ("query", "question", "input", "prompt", "instruction", "task", "request")
"""Fields of one's own tasks that hold the question, the likeliest first."""


class Tasks(NamedTuple):
    """Samples to be asked, and the data set that they are of."""

    form: str
    samples: list[Sample]


def read_tasks(
    source: str | Sequence[Sample] | Sequence[Mapping[str, Any]],
    name: str | None = None,
    *,
    cache: str | None = None,
) -> Tasks:
    """The samples that a source holds.

    Args:
        source: The name of a data set; with `name` a folder or file of a benchmark's data; else a file of
            tasks, JSON lines or a JSON array; or samples or tasks in memory.
        name: The benchmark; told by the data set's name when left out, one's own tasks where there is none.
        cache: The cache folder of data sets, where it is not the usual one.

    Raises:
        InputError: nothing is there, or it cannot be read.

    >>> found = read_tasks([{"id": 7, "question": "Why?", "answer": "gold"}])
    >>> found.form, found.samples[0].id, found.samples[0].query, found.samples[0].gold
    ('own', '7', 'Why?', None)
    """
    if not isinstance(source, str):
        expect(LIST, samples=source)
        if all(isinstance(entry, Sample) for entry in source):
            return Tasks(name or OWN_TASKS, list(source))  # type: ignore[arg-type]
        return Tasks(OWN_TASKS, _read_own_tasks(source))
    if name and name != OWN_TASKS:
        return Tasks(name, gold_samples(benchmark(name), source, cache=cache))
    path, set_name = Path(source), source.removeprefix(DATASET_PREFIX)
    for published in published_datasets().values() if not path.exists() else ():
        if published.benchmark and set_name in (published.name, published.benchmark):
            samples = gold_samples(BENCHMARKS[published.benchmark], source, cache=cache)
            return Tasks(published.benchmark, samples)
    if path.is_dir():
        raise InputError(f"{source} is a folder: name its benchmark with --benchmark")
    if not path.exists() and "." not in source:
        raise InputError(f"there is no file {source}, and no data set of that name: see 'planeval data show'")
    data = [line.data for line in load_jsonl(path)] if path.suffix == ".jsonl" else load_json(path)
    return Tasks(OWN_TASKS, _read_own_tasks(data if isinstance(data, list) else [data], source))


def _read_own_tasks(records: Iterable[Any], source: str = "the tasks") -> list[Sample]:
    """Tasks of one's own.

    Raises:
        InputError: two have one id, which is to tell their answers apart.
    """
    samples = [_read_task(record, number) for number, record in enumerate(records, 1)]
    firsts: dict[str, int] = {}
    for number, sample in enumerate(samples, 1):
        first = firsts.setdefault(sample.id, number)
        if first != number:
            raise InputError(
                f"{source}: tasks {first:,} and {number:,} have the same id {sample.id!r}: give "
                "each its own (use --repeat N for several answers)"
            )
    return samples


def numbered_id(number: int) -> str:
    """The id of a task that has none, by where it stands, counted from 1."""
    return f"task-{number}"


def _read_task(record: Any, number: int) -> Sample:
    """A task of one's own: nothing but its question, or its conversation, and its tools is taken over."""
    fields: Mapping[str, Any] = record if isinstance(record, Mapping) else {"query": record}
    named = next((text for key in ID_FIELDS if (text := id_text(fields.get(key))) is not None), None)
    talk, _ = split_conversation(fields.get(MESSAGES_FIELD))
    named = named or numbered_id(number)
    refuse_shown_gold(fields, talk, named)
    field = next((key for key in QUESTION_FIELDS if isinstance(fields.get(key), str) and fields[key]), None)
    query = (
        fields[field]
        if field
        else next((str(m.get("content") or "") for m in reversed(talk) if m.get("role") == "user"), "")
    )
    extra: dict[str, Any] = {"messages": list(talk)} if talk else {}
    if talk and field and not any(query.strip() in str(message.get("content")) for message in talk):
        extra["refused"] = (
            f"task {named!r} has {field!r} and {MESSAGES_FIELD!r}, of which only the "
            "conversation would be shown: "
            "remove one, or end the conversation with the question"
        )
    return Sample(named, query, fields.get("tools"), extra=extra)
