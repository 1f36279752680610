"""Sets of plans by name or in memory, with what their records ask: what the verbs on data sets take."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import did_you_mean, shorten
from planner_eval.benchmarks.datasets.sources import Source, open_sources
from planner_eval.comparison.evaluate import Progress
from planner_eval.comparison.gold_alternatives import describe_prose_gold, describe_prose_plans
from planner_eval.curation.audit.question import conversation_text, sample_conversation_text
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.conversations.messages import join_messages
from planner_eval.reading.files.questions import question_field, question_text
from planner_eval.reading.files.record import Record
from planner_eval.reading.parse import empty_plan_file, is_empty, read


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


def set_of(source: Any, fields: Mapping[str, Any]) -> Source:
    """The set of plans that a verb was given.

    Args:
        source: The name of a file or of a published data set; what :func:`planner_eval.open_sources` gave; or
            records in memory, as :func:`planner_eval.read` takes them.
        fields: ``id_field``, ``text_field``, ``turn``, ``cache`` and ``folder``, as it takes them.

    Raises:
        InputError: there is no such file or data set, it cannot be read, the name stands for several, or what
            was given is none of these or an empty list.
    """
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
        refuse_several(os.fspath(source), sources)
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


def refuse_several(name: str, sources: list[Source]) -> None:
    """Refuse a benchmark's name that stands for several data sets.

    Raises:
        InputError: it does; names them.
    """
    if len(sources) > 1:
        raise InputError(f"{name} is {' and '.join(source.name for source in sources)}: name one of them")


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
        self._field, self.notes = None, [f"question: that of each sample of {source.name}"]
        if source.file is not None:
            if field is not None and field == source.file.content:
                raise InputError(
                    f"--field query={field}: the plans of {source.name} are read from that field: name the "
                    "field of the question, or that of the plans with --field text"
                )
            self._field, self.notes = question_field(field, source.file)

    @property
    def field(self) -> str | None:
        """The field of a file's records that holds the question; None where there is none."""
        return self._field

    def of(self, record: Record) -> str | None:
        """The question of a record; None where it asks none."""
        if self._field is not None:
            return question_text(record.fields.get(self._field))
        return question_text(getattr(record.source, "query", None))

    def turns(self, record: Record) -> int:
        """How many turns a conversation has, written as a list of them as BFCL does; 1 of any other."""
        sample = record.source
        if hasattr(sample, "category"):
            question = sample.extra.get("question")
            turns = question.get("question") if isinstance(question, dict) else None
            return max(1, len(turns)) if isinstance(turns, list) else 1
        talk = record.fields.get(self._field) if self._field is not None else None
        return len(talk) if isinstance(talk, list) and join_messages(talk) is not talk else 1

    def heard(self, record: Record) -> str | None:
        """All that is said in a record before its plan, by whomever; None where its question is all."""
        if self._field is not None:
            return conversation_text(record.fields.get(self._field))
        return sample_conversation_text(record.source) if hasattr(record.source, "category") else None


def fields_of(record: Record) -> dict[str, Any]:
    """What stands in a record beside its plan; of a data set's sample what it can be told apart by."""
    sample = record.source
    if not hasattr(sample, "category"):
        return dict(record.fields)
    fields = {key: value for key, value in sample.extra.items() if isinstance(value, (str, int))}
    return {**fields, "category": sample.category} if sample.category else fields


def unknown_field_error(option: str, field: str, all_fields: Mapping[str, Any], name: str) -> InputError:
    """That no record of a set has a field, with the closest that some have."""
    hint = did_you_mean(
        field, all_fields, f"there are {', '.join(all_fields)}" if all_fields else "they have no others"
    )
    return InputError(f"{option} {field!r}: no record of {name} has that field; {hint}")
