"""Sets of plans by name or in memory, with what their records ask: what the verbs on data sets take."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import shorten
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.datasets.sources import Source, open_sources, short_names
from planner_eval.comparison.evaluate import Progress
from planner_eval.comparison.gold_alternatives import describe_prose_gold, describe_prose_plans
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.conversations.messages import join_messages, texts_of
from planner_eval.reading.files.context import question_field, question_text
from planner_eval.reading.files.record import Record
from planner_eval.reading.parse import empty_plan_file, is_empty, read
from planner_eval.reading.settings import Reading, check_reading


class SetItem(NamedTuple):
    """One record of a set.

    Args:
        record: The record.
        name: Its id, else its place counted from 1, in words where others have ids.
        where: Its place for a message.
        plan: Its plan; None where it has none that can be read.
        error: Why it cannot be read; None with no plan means that words stand there, which call nothing.
    """

    record: Record
    name: str | int
    where: str
    plan: Plan | None
    error: str | None


_SET_FIELDS = ("dialect", "id_field", "text_field", "turn", "cache", "folder")
"""The fields of a reading that say how a set is read."""


def set_of(source: Any, reading: Reading) -> Source:
    """The set of plans that a verb was given.

    Args:
        source: The name of a file or of a published data set; what :func:`planner_eval.open_sources` gave; or
            records in memory, as :func:`planner_eval.read` takes them.
        reading: How its records are read: notation, fields, turn, and where data sets lie.

    Raises:
        InputError: there is no such file or data set, it cannot be read, the name stands for several, or what
            was given is none of these or an empty list; or the reading says something else.
    """
    check_reading(reading)
    reading.refuse_others(*_SET_FIELDS)
    fields: dict[str, Any] = {name: getattr(reading, name) for name in _SET_FIELDS[1:]}
    if isinstance(source, Source):
        return _open_records(source)
    if source is None or isinstance(source, (bool, int, float, bytes)):
        raise InputError(
            f"{shorten(repr(source), 40)} is not a set of plans: expected a file, a data set or records"
        )
    if is_empty(source):
        raise InputError("there are no records: the list is empty (a plan without calls is the text '[]')")
    if isinstance(source, (str, os.PathLike)):
        sources = open_sources([os.fspath(source)], **fields)
        if len(sources) > 1:
            names = " and ".join(source.name for source in sources)
            raise InputError(f"{os.fspath(source)} is {names}: name one of them")
        return _open_records(sources[0])
    file = read(source, role="alone", **fields)
    return Source(file.name, file.name, file.many, file)


def _open_records(source: Source) -> Source:
    """A file that holds nothing is a set of no records; elsewhere it is a plan that was not written."""
    file = source.file
    if file is None or file.many or len(file.records) != 1:
        return source
    only = file.records[0]
    if only.error is not None or not isinstance(only.source, str) or only.source.strip():
        return source
    return replace(source, many=True, file=empty_plan_file("alone")._replace(name=file.name))


def items_of(source: Source, dialect: str | None, progress: Progress | None = None) -> Iterator[SetItem]:
    """The records of a set with their plans, none left out.

    Args:
        source: The set.
        dialect: The dialect of a file's plans; recognised when left out.
        progress: Is told after each record how many are done, and of how many.
    """
    reader, total = source.reader(dialect), len(source)
    own = source.file is not None and not source.file.published
    for count, record in enumerate(source.records, 1):
        item = reader.read(record)
        plan = item.plan
        if own and plan is not None and record.dialect is None and describe_prose_gold(record.source, plan):
            plan = None
        yield SetItem(record, item.record, item.where, plan, item.error)
        if progress is not None:
            progress(count, total)


_MAX_REASONS = 5
"""Plans that cannot be read of which it is said why."""


class SetReader:
    """The records of a set, counted as they are read.

    Args:
        source: The set.
        title: What it is called beside others.
        dialect: As for :func:`items_of`.
        progress: Likewise.
    """

    def __init__(self, source: Source, title: str, dialect: str | None, progress: Progress | None) -> None:
        self.source, self.title = source, title
        self._items = items_of(source, dialect, progress)
        self.records = self.plans = self.unread = 0
        self.reasons: list[str] = []
        """Why the first plans that cannot be read cannot, each with its place."""

    def __iter__(self) -> Iterator[SetItem]:
        for item in self._items:
            self.records += 1
            self.plans += item.plan is not None
            if item.error is not None:
                self.unread += 1
                if len(self.reasons) < _MAX_REASONS:
                    self.reasons.append(f"{item.where}: {item.error}")
            yield item


def read_sets(first: Any, second: Any, reading: Reading, progress: Progress | None) -> list[SetReader]:
    """The readers of a set and of another that it is compared with, where one is given.

    Args:
        first: As for :func:`set_of`.
        second: Likewise, or None.
        reading: How their records are read.
        progress: As for :func:`items_of`.
    """
    sources = [set_of(source, reading) for source in (first, *(() if second is None else (second,)))]
    titles = short_names([source.name for source in sources])
    return [
        SetReader(source, title, reading.dialect, progress)
        for source, title in zip(sources, titles, strict=True)
    ]


def set_warnings(source: Source) -> Iterator[str]:
    """What the user should know of a set: that it is empty, or that words stand for plans.

    Args:
        source: The set.
    """
    if not len(source):
        yield f"{source.name} is empty: it has no records"
    if source.file is not None and not source.file.published:
        yield from describe_prose_plans(source.file, "--field text")


class Questions:
    """What the records of a set ask.

    Args:
        source: The set.
        field: The field that holds the question; recognised when None.

    Raises:
        InputError: no record has the field, or it holds the plan.
    """

    def __init__(self, source: Source, field: str | None) -> None:
        self.field: str | None = None
        """The field of a file's records that holds the question; None where there is none."""
        self.notes = [f"question: that of each sample of {source.name}"]
        if source.file is not None:
            if field is not None and field == source.file.content:
                raise InputError(
                    f"--field query={field}: the plans of {source.name} are read from that field: name the "
                    "field of the question, or that of the plans with --field text"
                )
            self.field, self.notes = question_field(field, source.file)

    def of(self, record: Record) -> str | None:
        """The question of a record; None where it asks none."""
        if self.field is not None:
            return question_text(record.fields.get(self.field))
        return question_text(getattr(record.source, "query", None))

    def turns(self, record: Record) -> int:
        """How many turns a conversation has, written as a list of them as BFCL does; 1 of any other."""
        sample = record.source
        if hasattr(sample, "category"):
            question = sample.extra.get("question")
            talk = question.get("question") if isinstance(question, dict) else None
            return max(1, len(talk)) if isinstance(talk, list) else 1
        talk = record.fields.get(self.field or "")
        return len(talk) if isinstance(talk, list) and join_messages(talk) is not talk else 1

    def heard(self, record: Record) -> str | None:
        """All that is said in a record before its plan, by whomever; None where its question is all."""
        if self.field is not None:
            return conversation_text(record.fields.get(self.field))
        return sample_conversation_text(record.source) if hasattr(record.source, "category") else None


_ROLES = ("user", "human", "tool", "function", "observation", "assistant", "system", "developer", "gpt")
_ASSISTANT_ROLES = ("assistant", "gpt")


def sample_conversation_text(sample: Sample) -> str:
    r"""The query of a sample, and of a conversation all that is said before the answer, by whomever.

    A value may come from an earlier turn, from what a tool answered, or from the system's first words.

    Args:
        sample: Of any reader; its conversation is ``messages`` or ``question`` of ``extra``.

    >>> said = [{"role": "user", "content": "I am Kim."}, {"role": "user", "content": "Call me a cab."}]
    >>> sample_conversation_text(Sample("a", "Call me a cab.", extra={"messages": said}))
    'I am Kim.\nCall me a cab.'
    """
    messages = sample.extra.get("messages") or sample.extra.get("question")
    texts = [text for text in _message_texts(messages) if text.strip()] if isinstance(messages, list) else []
    if not any(sample.query in text for text in texts):
        texts.append(sample.query)
    return "\n".join(texts)


def conversation_text(talk: Any) -> str | None:
    r"""All that is said in a conversation of a user's file before its answer; None where it is none.

    Turns of the assistant at its end are left out, for gold may be one of them.

    Args:
        talk: What stands in the field.

    >>> turns = [("system", "Today is Monday."), ("user", "And tomorrow?"), ("assistant", "Tuesday.")]
    >>> conversation_text([{"role": role, "content": text} for role, text in turns])
    'Today is Monday.\nAnd tomorrow?'
    """
    talk = join_messages(talk)
    if not isinstance(talk, list) or not all(isinstance(message, dict) for message in talk):
        return None
    last = max(
        (end for end, message in enumerate(talk, 1) if _role(message) not in _ASSISTANT_ROLES), default=0
    )
    return "\n".join(text for text in _message_texts(talk[:last]) if text.strip()) or None


def _role(message: dict[str, Any]) -> Any:
    return message.get("role", message.get("from", "user"))


def _message_texts(messages: list[Any]) -> Iterator[str]:
    for message in messages:
        if isinstance(message, dict) and _role(message) in _ROLES:
            yield from texts_of(message.get("content", message.get("value")))
            if message.get("tool_calls"):
                yield json.dumps(message["tool_calls"], ensure_ascii=False, default=str)


def fields_of(record: Record) -> dict[str, Any]:
    """What stands in a record beside its plan; of a data set's sample what it can be told apart by."""
    sample = record.source
    if not hasattr(sample, "category"):
        return dict(record.fields)
    fields = {key: value for key, value in sample.extra.items() if isinstance(value, (str, int))}
    return {**fields, "category": sample.category} if sample.category else fields
