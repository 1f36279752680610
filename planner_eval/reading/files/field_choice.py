"""What is decided once a file, from its first records, and how each of its items then becomes a record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeAlias

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.reading.dialects.conversations.wrappers import JOIN_ADVICE, find_marker_key, is_streamed
from planner_eval.reading.files import accepted_values
from planner_eval.reading.files.fields import (
    CALL_LIST_FIELDS,
    EXPECTED_CONTENT,
    FIELD_OPTION,
    GOLD_FIELDS,
    HEAD_SIZE,
    ID_FIELDS,
    ID_OPTION,
    Role,
    candidate_fields,
    choose_content,
    choose_id,
    has_field,
    id_text,
    value_at,
)
from planner_eval.reading.files.frameworks import most_common_framework
from planner_eval.reading.files.record import Record
from planner_eval.reading.files.shapes import ChosenFields, Item

DecisionInputs: TypeAlias = tuple[
    tuple[str | None, str | None], Role, Mapping[str, str] | None, tuple[str | None, str | None]
]
"""What :func:`decide_fields` is told beside a file's name and items."""


class FieldDecision(NamedTuple):
    """Which fields of a file's records are what, and how an item becomes one.

    Args:
        chosen: The fields of the id and of the plan.
        form: Whether the plan of a record lists the values that are right.
        role: What the file is read as; None where a benchmark's code says which field is what.
        id_by_user: The user named the field of the id.
        framework: What the records are by the table of frameworks, in words; empty where they fit no row.
    """

    chosen: ChosenFields
    form: accepted_values.AcceptedValuesForm = accepted_values.AcceptedValuesForm()
    role: Role | None = None
    id_by_user: bool = False
    framework: str = ""

    def record(self, name: str, position: int, item: Item) -> Record:
        """The record of an item.

        Args:
            name: The file's name.
            position: The item's place in it, counted from 0.
            item: The item.
        """
        record = _build_record(name, position, item, self.chosen)
        return _expand_accepted_values(record, str(self.chosen.content)) if self.form.lists else record

    def notes(self, name: str, records: int, names: Callable[[], Mapping[str, int]]) -> tuple[str, ...]:
        """What the user is told of it.

        Args:
            name: The file's name.
            records: How many records it has.
            names: Says how many of them have a field of each name; it is counted where that tells something.
        """
        form = (f"{name}: {note}" for note in self.form.notes(str(self.chosen.content)))
        layout = [f"{name}: {self.framework}"] if self.framework else []
        return (*layout, *form, *self._moved(name, records, names))

    def _moved(self, name: str, records: int, count: Callable[[], Mapping[str, int]]) -> Iterator[str]:
        """That a field gives way to another after the head, which decided: such records are read as without.

        Another field is told of where it stands in no more records than lack the one that was chosen.
        """
        if self.role is None:
            return
        chosen, names = self.chosen, count()
        guessed = (
            (chosen.content, chosen.by_user, candidate_fields(self.role), FIELD_OPTION, CALL_LIST_FIELDS),
            (chosen.id, self.id_by_user, ID_FIELDS, ID_OPTION, ()),
        )
        for field, by_user, candidates, option, lists in guessed:
            if field is None or by_user or field not in names:
                continue
            alternatives = [other for other in candidates if other != field]
            lacking = records - names[field] - sum(names.get(other, 0) for other in lists if other != field)
            field_counts = [(names.get(other, 0), other) for other in alternatives]
            phrases = [
                f"{other!r}, which is not, in {count:,}"
                for count, other in field_counts
                if 0 < count <= lacking
            ]
            if phrases:
                yield (
                    f"{name}: {field!r}, which is taken, stands in {names[field]:,} of {records:,} records; "
                    f"{'; '.join(phrases)} ({option[self.role]} names the field)"
                )


def decide_fields(
    name: str,
    items: Iterable[Item],
    named: tuple[str | None, str | None],
    role: Role,
    never: Mapping[str, str] | None,
    spare: tuple[str | None, str | None],
) -> FieldDecision:
    """Decide which fields of a file's records are what, see :func:`.files.read_file`.

    Args:
        name: The file's name.
        items: Its items; they may be read anew each time, so as few as will do are looked at.
        named: The fields of the id and of the plan that the user named.
        role: What the file is read as.
        never: Fields that are not to be taken for the plan.
        spare: The fields of the file beside this one.

    Raises:
        InputError: a field named is in no record, two fields may hold the plan, or none is known to.
    """
    id_field, text_field = named
    if _are_stream_pieces(islice(items, HEAD_SIZE)):
        raise InputError(f"{name}: each of its records is a piece of a stream, no answer: {JOIN_ADVICE}")
    if id_field and not any(has_field(item.data, id_field) for item in items):
        raise InputError(f"{name}: no record has the id field {id_field!r}")
    if text_field and not any(has_field(record, text_field) for record in _plan_holding_records(items)):
        raise InputError(f"{name}: no record has the text field {text_field!r}")
    row = (
        most_common_framework(islice(_plan_holding_records(items), HEAD_SIZE))
        if text_field is None and never is None
        else None
    )
    content = text_field or (
        row.content(role, islice(_plan_holding_records(items), HEAD_SIZE)) if row else None
    )
    if row and not content:
        raise InputError(
            f"{name}: read as {row.title} ({row.name}), which hold no "
            f"{EXPECTED_CONTENT[role].split(' ', 1)[1]}; name "
            f"its field with {FIELD_OPTION[role]}"
        )
    content = content or choose_content(name, _plan_holding_records(items), role, never)
    if (
        content is None
        and spare[1]
        and any(has_field(record, spare[1]) for record in _plan_holding_records(items))
    ):
        content = spare[1]
    if content is None:
        _refuse_unknown(name, items, role)
    key = id_field or (
        spare[0]
        if spare[0] and any(has_field(record, spare[0]) for record in _named_records(items))
        else None
    )
    key = key or choose_id(_named_records(items))
    # A benchmark's figures are those of its code, which looks at no field beside the answer.
    # In a framework's record `error` and `status` may tell of its own checks.
    answers = role not in ("gold", "alone") and content not in GOLD_FIELDS and never is None and row is None
    chosen = ChosenFields(key, content, text_field is not None, answers)
    may_list = role != "answer" and never is None and content in accepted_values.ACCEPTED_VALUE_FIELDS
    form = accepted_values.AcceptedValuesForm()
    if may_list:
        holding = ((position, item.data) for position, item in enumerate(items) if item.shape.holds)
        form = accepted_values.detect_form(holding, str(content))
    framework = f"read as {row.title} ({row.name})" if row else ""
    return FieldDecision(chosen, form, role if never is None else None, id_field is not None, framework)


def _are_stream_pieces(items: Iterable[Item]) -> bool:
    """Whether items are the pieces of a stream, of which there are several."""
    count = 0
    for item in items:
        if not is_streamed(item.data):
            return False
        count += 1
    return count > 1


def _plan_holding_records(items: Iterable[Item]) -> Iterator[dict[str, Any]]:
    return (item.data for item in items if item.shape.holds)


def _named_records(items: Iterable[Item]) -> Iterator[dict[str, Any]]:
    return (item.data for item in items if item.shape.named)


def _refuse_unknown(name: str, items: Iterable[Item], role: Role) -> None:
    """Refuse records of which none has a field that is known to hold a plan, and none is one itself."""
    first = next(_plan_holding_records(items), None)
    if first is None or not all(item.shape.holds for item in items):
        return
    if any(find_marker_key(record) is not None for record in _plan_holding_records(items)):
        return
    fields = ", ".join(map(repr, list(first)[:6])) or "no fields"
    raise InputError(
        f"{name}: {_format_none_of(sum(1 for _ in items))} has a field that is known to hold "
        f"{EXPECTED_CONTENT[role]}; the first has {fields}: name it with {FIELD_OPTION[role]}"
    )


def _format_none_of(count: int) -> str:
    return f"none of {count:,} records" if count != 1 else "not one record"


def _expand_accepted_values(record: Record, content: str) -> Record:
    """A gold record whose plan lists the values that are right as one with a plan, and with these beside."""
    if record.error is not None or record.source is None or record.fields.get(content) is not record.source:
        return record  # a call, or an answer, among records: it stands as it is
    by_tool = accepted_values.calls_by_tool(record.source)
    if by_tool is None:
        return record
    try:
        calls, fields = accepted_values.expand_calls(by_tool)
    except ParseError as error:
        return record._replace(source=None, error=error)
    return record._replace(source=calls, fields={**record.fields, **fields})


def _build_record(name: str, position: int, item: Item, chosen: ChosenFields) -> Record:
    data, shape, line, error, text, key = item
    if data is None and key is not None and error is None:
        reason = f"there is no plan: {key!r} is null"
        return Record(name, position, key, None, line, ParseError(reason, code="parse.empty"))
    if error is not None:
        from planner_eval.reading.files.broken_json import find_id

        return Record(name, position, key or find_id(text, chosen.id), None, line, error)
    source, error = shape.take(data, chosen)
    if not shape.named:
        return Record(name, position, key, source, line, error)
    return Record(name, position, key or id_text(value_at(data, chosen.id)), source, line, error, data)


def has_several_choices(answer: Mapping[str, Any], depth: int = 3) -> bool:
    """Whether an answer, or one inside of what a batch puts around it, has more than one choice."""
    if any(isinstance(answer.get(key), list) and len(answer[key]) > 1 for key in ("choices", "candidates")):
        return True
    inner = (answer.get(key) for key in ("response", "body", "modelOutput"))
    return depth > 0 and any(
        isinstance(value, dict) and has_several_choices(value, depth - 1) for value in inner
    )
