"""Files of plans: one plan, or many records of which each holds one.

A file is a plan in any dialect, a JSON array or JSON lines of records, an object from ids to plans,
or a benchmark's own gold or result file. A record that cannot be read stays a record and carries its
error; it takes no other with it. What the records' fields mean is decided in
:mod:`planner_eval.records.fields`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.text import printable
from planner_eval.dialects.openers import JOIN
from planner_eval.dialects.sources import Which
from planner_eval.dialects.wrappings import is_streamed, sign_of
from planner_eval.records import accepting
from planner_eval.records.fields import (
    GOLD_FIELDS,
    HEAD,
    ID_FIELDS,
    OPTION,
    WANTED,
    Role,
    choose_content,
    choose_id,
    has,
    id_text,
    value_at,
)
from planner_eval.records.items import Contents, calls_nothing, structured
from planner_eval.records.opening import content_of, open_path
from planner_eval.records.shapes import Chosen, Item

if TYPE_CHECKING:
    from planner_eval.plan.inferred import Signatures


class Record(NamedTuple):
    """One record of a file: where it stands, and its plan as text or structure.

    Args:
        file: The file's name as the user wrote it.
        position: Counted from 0.
        id: Its own name, when it has one.
        source: The plan's text, structure that is JSON already, or the plan itself.
        line: The line it starts on, counted from 1, when known.
        error: Why its source could not be taken out of the file.
        fields: The record's other fields.
        values: The JSON values of a text, where it was decoded on the way.
        dialect: The notation of its source, where that is known; it comes before any that is asked for.
        turn: Which turn of the assistant is read of a conversation; all turns when None.
        tools: The tools that its data set offers, as released.
        infer: Whether edges are inferred, by what is known of tools.
    """

    file: str
    position: int
    id: str | None
    source: Any
    line: int | None = None
    error: ParseError | None = None
    fields: Mapping[str, Any] = {}
    values: list[Any] | None = None
    dialect: str | None = None
    turn: Which = None
    tools: Any = None
    infer: Signatures | bool = False

    @property
    def where(self) -> str:
        """The record's place for a message, on one line: ``pred.jsonl, record 3 (id q7)``."""
        named = f" (id {self.id})" if self.id is not None else ""
        line = f", line {self.line}" if self.line is not None else ""
        return printable(f"{self.file}{line}, record {self.position + 1}{named}").replace("\n", "\\n")


class PlanFile(NamedTuple):
    """The records of one file.

    Args:
        name: The file's name as the user wrote it.
        records: Its records, none left out.
        many: False for a plan in a file of its own.
        content: The field that was taken for the plan; None where records are plans themselves.
        id_field: The field that was taken for the id.
        parts: Of a directory or a pattern its files, and what each is called in it.
        notes: What the user should know: what was left out, which ids are given twice.
        published: Whether it is a published data set, of which nothing has to be recognised.
    """

    name: str
    records: tuple[Record, ...]
    many: bool
    content: str | None = None
    id_field: str | None = None
    parts: Mapping[str, str] = {}
    notes: tuple[str, ...] = ()
    published: bool = False

    def of_turn(self, turn: Which) -> PlanFile:
        """The same file, of whose conversations one turn of the assistant is read."""
        if turn is None:
            return self
        return self._replace(records=tuple(record._replace(turn=turn) for record in self.records))

    @property
    def several(self) -> int:
        """How many records hold an API's answer that offers several choices, of which the first is read."""
        return sum(isinstance(one.source, dict) and _offers_several(one.source) for one in self.records)

    @property
    def said(self) -> str:
        """What was read as the plans, in words.

        >>> PlanFile("r.json", (Record("r.json", 0, None, "f()"),), True, "predict").said
        'field "predict" of 1 record'
        """
        records = f"{len(self.records):,} record{'s' * (len(self.records) != 1)}"
        if self.parts:
            records += f" in {len(self.parts):,} file{'s' * (len(self.parts) != 1)}"
        if self.published:
            return f"{records} of the data set {self.name}"
        if not self.many:
            return "one plan"
        return f'field "{self.content}" of {records}' if self.content else f"{records}, each a plan"


def read_file(
    path: str,
    *,
    id_field: str | None = None,
    text_field: str | None = None,
    role: Role = "plan",
    never: Mapping[str, str] | None = None,
    spare: tuple[str | None, str | None] = (None, None),
) -> PlanFile:
    """Read a file of plans.

    Args:
        path: The file; ``-`` is standard input.
        id_field: The field that names a record; recognised when left out.
        text_field: The field that holds its plan; recognised when left out.
        role: Whether answers or gold plans are wanted, where a file holds both.
        never: Fields that are not to be taken for the plan, see :func:`.fields.choose_content`.
        spare: The fields of the id and of the plan in the file beside this one: the id's is taken where it
            stands in this file too, the plan's where no known field does.

    Raises:
        InputError: the file is missing, a directory, no text, or too large; a field named is in no record,
            two fields may hold the plan, or none is known to.
    """
    opened = open_path(path)
    name, (text, found, error) = opened.name, content_of(opened, text_field)
    if error is not None:
        return PlanFile(name, (Record(name, 0, None, "", error=error),), False)
    if not found.many:
        return _alone(name, found, text)
    return _file(name, found.items, (id_field, text_field), role, never, spare)


def read_data(
    data: Any,
    name: str,
    *,
    id_field: str | None = None,
    text_field: str | None = None,
    role: Role = "plan",
    spare: tuple[str | None, str | None] = (None, None),
) -> PlanFile:
    """What a list or an object in memory holds, by the rules for a file of the same JSON.

    Args:
        data: A list of records, each an object, a text, a plan's data or a :class:`Plan`; an object from
            ids to plans; or the data of one plan.
        name: What messages call it.
        id_field: As for :func:`read_file`.
        text_field: As for :func:`read_file`.
        role: As for :func:`read_file`.
        spare: As for :func:`read_file`.

    Raises:
        InputError: as for :func:`read_file`.

    >>> read_data(["f()", "g()"], "answers").records[1].where
    'answers, record 2'
    """
    found = structured(data, text_field)
    if not found.many:
        return _alone(name, found, data)
    return _file(name, found.items, (id_field, text_field), role, None, spare)


def _file(
    name: str,
    items: Sequence[Item],
    named: tuple[str | None, str | None],
    role: Role,
    never: Mapping[str, str] | None,
    spare: tuple[str | None, str | None],
) -> PlanFile:
    id_field, text_field = named
    if len(items) > 1 and all(is_streamed(item.data) for item in items[:HEAD]):
        raise InputError(f"{name}: each of its records is a piece of a stream, no answer: {JOIN}")
    records = [item.data for item in items if item.shape.holds]
    if id_field and not any(has(item.data, id_field) for item in items):
        raise InputError(f"{name}: no record has the id field {id_field!r}")
    if text_field and not any(has(record, text_field) for record in records):
        raise InputError(f"{name}: no record has the text field {text_field!r}")
    content = text_field or choose_content(name, records, role, never)
    if content is None and spare[1] and any(has(record, spare[1]) for record in records):
        content = spare[1]
    if (
        records
        and content is None
        and len(records) == len(items)
        and all(sign_of(record) is None for record in records)
    ):
        shown = ", ".join(map(repr, list(records[0])[:6])) or "no fields"
        raise InputError(
            f"{name}: none of {len(records):,} records has a field that is known to hold "
            f"{WANTED[role]}; the first has {shown}: name it with {OPTION[role]}"
        )
    named_by = [item.data for item in items if item.shape.named]
    key = id_field or (spare[0] if any(has(one, spare[0]) for one in named_by) else choose_id(named_by))
    # A benchmark's figures are those of its code, which looks at no field beside the answer.
    answers = role != "gold" and content not in GOLD_FIELDS and never is None
    chosen = Chosen(key, content, text_field is not None, answers)
    made = tuple(_record(name, at, item, chosen) for at, item in enumerate(items))
    if (
        role != "answer"
        and never is None
        and content in accepting.FIELDS
        and accepting.lists_values(records, content)
    ):
        notes = (f"{name}: {accepting.SAID.format(content)}",)
        return PlanFile(name, tuple(map(_accepting, made)), True, content, key, notes=notes)
    return PlanFile(name, made, True, content, key)


def _accepting(record: Record) -> Record:
    """A gold record whose plan lists the values that are right as one with a plan, and with these beside."""
    if record.error is not None or not record.fields:
        return record
    try:
        calls, fields = accepting.spelled(record.source)
    except ParseError as error:
        return record._replace(source=None, error=error)
    return record._replace(source=calls, fields={**record.fields, **fields})


def _offers_several(answer: Mapping[str, Any], depth: int = 3) -> bool:
    """Whether an answer, or one inside of what a batch puts around it, has more than one choice."""
    if any(isinstance(answer.get(key), list) and len(answer[key]) > 1 for key in ("choices", "candidates")):
        return True
    inner = (answer.get(key) for key in ("response", "body", "modelOutput"))
    return depth > 0 and any(isinstance(one, dict) and _offers_several(one, depth - 1) for one in inner)


# ---------------------------------------------------------------- from items to records
def _alone(name: str, found: Contents, source: Any) -> PlanFile:
    """A plan in a file of its own, with the fields beside its calls."""
    (item,) = found.items
    # What a program writes that had nothing to write.
    null = isinstance(source, str) and source.strip() == "null"
    if null or (found.whole and item.data == {}):
        held = "null" if null else "an empty object"
        reason = f"there is no plan: the file holds {held}, expected a plan; one without calls is []"
        return PlanFile(
            name, (Record(name, 0, None, "", error=ParseError(reason, code="parse.empty")),), False
        )
    values = [item.data] if found.whole and isinstance(source, str) else None
    record = Record(name, 0, None, source, values=values)
    if item.shape.named:
        own = next(filter(None, (id_text(item.data.get(key)) for key in ID_FIELDS)), None)
        record = record._replace(id=own, fields=item.data)
        if calls_nothing(item.data):
            record = record._replace(source=[], values=None)
    return PlanFile(name, (record,), False)


def _record(name: str, position: int, item: Item, chosen: Chosen) -> Record:
    data, line = item.data, item.line
    if data is None and item.key is not None:
        reason = f"there is no plan: {item.key!r} is null"
        return Record(name, position, item.key, None, line, ParseError(reason, code="parse.empty"))
    if item.error is not None:
        from planner_eval.records.broken import id_in

        return Record(name, position, id_in(item.text, chosen.id), None, line, item.error)
    taken = item.shape.take(data, chosen)
    if not item.shape.named:
        return Record(name, position, item.key, taken.source, line, taken.error)
    named = item.key or id_text(value_at(data, chosen.id))
    return Record(name, position, named, taken.source, line, taken.error, data)
