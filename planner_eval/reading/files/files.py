"""Files of plans: one plan, or many records of which each holds one.

A file is a plan in any dialect, a JSON array or JSON lines of records, an object from ids to plans,
or a benchmark's own gold or result file. A record that cannot be read stays a record and carries its
error; it takes no other with it. What the records' fields mean is decided in
:mod:`planner_eval.reading.files.fields`.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.json_files import read_json, read_json_lines
from planner_eval.base.json_text import Decoded
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import did_you_mean, format_count, lazy_pattern, one_line_json
from planner_eval.plan.model import Plan, leaves
from planner_eval.reading.dialects.conversations.messages import join_messages
from planner_eval.reading.dialects.conversations.wrappers import texts_of
from planner_eval.reading.dialects.read import TurnChoice, parse
from planner_eval.reading.files.encoding import decode_text
from planner_eval.reading.files.field_choice import DecisionInputs, decide_fields, has_several_choices
from planner_eval.reading.files.fields import (
    HEAD_SIZE,
    ID_FIELDS,
    Role,
    choose_id,
    has_field,
    id_text,
    non_null_fields,
    value_at,
)
from planner_eval.reading.files.items import FileItems, has_null_calls, split_json_value
from planner_eval.reading.files.opening import (
    FileContent,
    bare_name,
    large_file_kind,
    open_path,
    read_content,
)
from planner_eval.reading.files.record import (
    DEFAULT_STORE,
    Origin,
    Record,
    Store,
    current_origins,
    digest_origin,
    is_lazy,
    is_stored,
    mark_among_ids,
    mark_records_among_ids,
)
from planner_eval.reading.files.shapes import Item, are_texts

MAX_INSPECTED_RECORDS = 10
"""So many records are looked at for whether they are the calls of one plan."""


class PlanFile(NamedTuple):
    """The records of one file.

    Args:
        name: The file's name as the user wrote it.
        records: Its records, none left out; those of a large file are read whenever they are asked for.
        many: False for a plan in a file of its own.
        content: The field that was taken for the plan; None where records are plans themselves.
        id_field: The field that was taken for the id.
        parts: Of a directory or a pattern its files, and what each is called in it.
        placed: Of these the files whose records have no ids: what each is called, and how many it has.
        notes: What the user should know: what was left out, which ids are given twice.
        published: Whether it is a published data set, of which nothing has to be recognised.
        origins: The files on disk behind the records, each as it was before it was read.
        mark: What figures of these answers are marked with, see :mod:`.demonstrations`.
    """

    name: str
    records: Sequence[Record]
    many: bool
    content: str | None = None
    id_field: str | None = None
    parts: Mapping[str, str] = {}
    placed: Mapping[str, int] = {}
    notes: tuple[str, ...] = ()
    published: bool = False
    origins: tuple[Origin, ...] = ()
    mark: str = ""

    def of_turn(self, turn: TurnChoice) -> PlanFile:
        """The same file, of whose conversations one turn of the assistant is read."""
        if turn is None:
            return self
        return self.each(partial(_select_turn, turn))

    def each(self, step: Callable[[Record], Record]) -> PlanFile:
        """The same file, something done to each record: it leaves ids alone, and can be pickled."""
        records = self.records
        return self._replace(records=records.each(step) if is_lazy(records) else tuple(map(step, records)))

    @property
    def several(self) -> int:
        """How many records hold an API's answer that offers several choices, of which the first is read."""
        if is_stored(self.records):
            return self.records.several()
        return sum(
            isinstance(record.source, dict) and has_several_choices(record.source) for record in self.records
        )

    def digested(self) -> tuple[Origin, ...]:
        """The files on disk behind the records with their digests; none of what is no file there.

        Raises:
            InputError: a file cannot be read any more, or is not what it was when its records were read.
        """
        return tuple(
            origin if origin.digest else digest_origin(origin.path, origin) for origin in self.origins
        )

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
        if self.content:
            return f'field "{self.content}" of {records}'
        return f"{records}, each a plan{self._told_as_one()}"

    def _told_as_one(self) -> str:
        """What to do if the records are the calls of one plan; empty where nothing looks like it.

        It does where none of the first has an id, each is one call, and one takes what one before it returns.
        """
        first = self.records[:MAX_INSPECTED_RECORDS]
        labels: list[str] = []
        for record in first:
            source = record.source
            if record.id is not None or type(source) is not dict or type(source.get("label")) is not str:
                return ""
            texts = [text for _, text in leaves(source.get("arguments")) if type(text) is str]
            if any(text == label or text.startswith(f"{label}.") for text in texts for label in labels):
                return (
                    f" (record {record.position + 1} takes what one before it returns: "
                    "if they are one plan, write it as one array, [call, call])"
                )
            labels.append(source["label"])
        return ""


def _select_turn(turn: TurnChoice, record: Record) -> Record:
    return record._replace(turn=turn)


def read_file(
    path: str,
    *,
    id_field: str | None = None,
    text_field: str | None = None,
    role: Role = "plan",
    never: Mapping[str, str] | None = None,
    spare: tuple[str | None, str | None] = (None, None),
    store: Store = DEFAULT_STORE,
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
        store: From which size on, and where, its records are kept on disk.

    Raises:
        InputError: the file is missing, a directory, no text, or too large; a field named is in no record,
            two fields may hold the plan, or none is known to.
    """
    how = ((id_field, text_field), role, never, spare)
    large = _read_large_file(path, store, how)
    if large is not None:
        return large
    origins = current_origins(path)
    opened = open_path(path)
    return _read_whole_file(opened.name, read_content(opened, text_field), how)._replace(origins=origins)


def _read_whole_file(name: str, content: FileContent, how: DecisionInputs) -> PlanFile:
    """What a file holds that was read whole."""
    text, contents, error = content
    if error is not None:
        return PlanFile(name, (Record(name, 0, None, "", error=error),), False)
    if not contents.many:
        return _read_single_plan(name, contents, text)
    return _build_plan_file(name, contents.items, how)


def _read_large_file(path: str, store: Store, how: DecisionInputs) -> PlanFile | None:
    """A large file of which a record a line is read when it is asked for; None where it is another."""
    kind = large_file_kind(path, store.limit) if store.limit is not None and path != "-" else None
    if kind is None:
        return None
    from planner_eval.reading.files.disk_records import open_stored_records

    stored_file = open_stored_records(path, bare_name(path), kind, store, how)
    if stored_file is None:
        return None
    records, decided = stored_file
    notes = decided.notes(path, len(records), records.names)
    chosen = decided.chosen
    if records.has_ids and len(records.without_ids()):
        records = records.each(mark_among_ids)
    return PlanFile(path, records, True, chosen.content, chosen.id, notes=notes, origins=records.origins)


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
    contents = split_json_value(data, text_field)
    if not contents.many:
        return _read_single_plan(name, contents, data)
    return _build_plan_file(name, contents.items, ((id_field, text_field), role, None, spare))


def _build_plan_file(name: str, items: Sequence[Item], how: DecisionInputs) -> PlanFile:
    decided = decide_fields(name, items, *how)
    records = mark_records_among_ids(
        [decided.record(name, position, item) for position, item in enumerate(items)]
    )
    notes = decided.notes(name, len(records), partial(_count_fields, records))
    if how[0][1] is None and are_texts(items):
        notes = (*notes, f"{name}: {_TEXT_OBJECTS_NOTE.format(len(records))}")
    return PlanFile(name, records, True, decided.chosen.content, decided.chosen.id, notes=notes)


_TEXT_OBJECTS_NOTE = (
    "{0:,} objects of the type 'text' are read as {0:,} answers; where they are one message's, write "
    '{{"role": "assistant", "content": [...]}} around them'
)
"""What is said of several texts that may be the parts of one message."""


def _count_fields(records: Sequence[Record]) -> Counter[str]:
    """How many records have a field of each name."""
    return Counter(key for record in records for key in non_null_fields(record.fields))


# ---------------------------------------------------------------- from items to records
def _read_single_plan(name: str, contents: FileItems, source: Any) -> PlanFile:
    """A plan in a file of its own, with the fields beside its calls."""
    (item,) = contents.items
    # What a program writes that had nothing to write.
    null = isinstance(source, str) and source.strip() == "null"
    if null or (contents.whole and item.data == {}):
        value = "null" if null else "an empty object"
        reason = f"there is no plan: the file holds {value}, expected a plan; one without calls is []"
        return PlanFile(
            name, (Record(name, 0, None, "", error=ParseError(reason, code="parse.empty")),), False
        )
    values = [item.data] if contents.whole and isinstance(source, str) else None
    record = Record(name, 0, None, source, values=values)
    if item.shape.named:
        own = next(filter(None, (id_text(item.data.get(key)) for key in ID_FIELDS)), None)
        record = record._replace(id=own, fields=item.data)
        if has_null_calls(item.data):
            record = record._replace(source=[], values=None)
    return PlanFile(name, (record,), False)


# ----------------------------------------------------------------------
# From a record to its plan.
def read_repaired_plan(record: Record, error: ParseError, **options: Any) -> Plan | None:
    """The plan that repair would make of a record which strict reading refused; None where none.

    Args:
        record: The record.
        error: Why strict reading refused it; where that says that repair does too, nothing is read.
        options: As for :func:`planner_eval.reading.dialects.read.parse`, ``repair`` aside.
    """
    if error.beyond_repair and isinstance(record.source, str):
        return None
    try:
        return read_plan(record, repair=True, **options)
    except ParseError:
        return None


def read_plan(record: Record, **options: Any) -> Plan:
    """The plan of a record.

    Args:
        record: What :func:`planner_eval.reading.files.files.read_file` gave.
        options: As for :func:`planner_eval.reading.dialects.read.parse`.

    Raises:
        ParseError: the record holds no readable plan.

    >>> len(read_plan(Record("p.json", 0, None, "a = f(#x='1')")))
    1
    """
    if record.error is not None:
        raise record.error
    source = record.source
    if record.dialect is not None:
        options["dialect"] = record.dialect
    if record.turn is not None and options.get("turn") is None:
        options["turn"] = record.turn
    if record.infer is not False and not options.get("infer"):
        options["infer"] = record.infer
    return parse(source if record.values is None else Decoded(source, record.values), **options)


# ----------------------------------------------------------------------
# The state in which the tools of a record begin: a field of the record, or what a file says.
STATE_FIELDS = ("state", "initial_state", "initial_config")
"""Fields that hold the state in which a record begins; BFCL has the last. A text in the first is none."""

NO_STATE = "none"
"""What the user says who wants none of these read."""


class StateSource(NamedTuple):
    """Where the states are that records begin in.

    Args:
        fields: The fields that may hold it.
        named: The user named the field: a text in it is no other thing's.
        shared: One for all records.
        listed: By the id of a record.
        file: The file that it is from.
    """

    fields: tuple[str, ...] = STATE_FIELDS
    named: bool = False
    shared: Any = None
    listed: Mapping[str, Any] | None = None
    file: str = ""

    def of(self, record: Record | None) -> Any:
        """The state in which a record begins; None for the tools' own.

        What is no object is given too: tools refuse it, so that the plan runs from no other state.

        Args:
            record: The record.

        Raises:
            InputError: the file of states has none for it.

        >>> StateSource().of(Record("p.jsonl", 0, "q1", "f()", fields={"state": {"rows": []}}))
        {'rows': []}
        """
        if self.listed is not None:
            named = record.id if record is not None else None
            if named is None or named not in self.listed:
                raise InputError(f"{self.file} has no state for the id {named}")
            return self.listed[named]
        if self.shared is not None or record is None:
            return self.shared
        values = {
            field: value_at(record.fields, field) for field in self.fields if has_field(record.fields, field)
        }
        if not self.named and isinstance(values.get("state"), str):
            del values["state"]  # of an address, of an order
        present = [value for value in values.values() if value is not None]
        return next((value for value in present if isinstance(value, dict)), present[0] if present else None)


def find_states(source: Any, records: Sequence[Record] = ()) -> StateSource:
    """Where the states are, from what a user gives.

    Args:
        source: None for :data:`STATE_FIELDS` of the records; the path of a file, the name of a field, or
            :data:`NO_STATE`; or the one state of all, as JSON data that is no text.
        records: The records, of which one at least must have a field that is named.

    Raises:
        InputError: there is no such file or field, or the file holds no states.

    >>> find_states({"rows": []}).of(None)
    {'rows': []}
    """
    if source is None or isinstance(source, StateSource):
        return source or StateSource()
    if source == NO_STATE:
        return StateSource(())
    if not isinstance(source, (str, os.PathLike)):
        return StateSource((), shared=source)
    name = os.fspath(source)
    if os.path.exists(name) or name == "-":
        return _read_states(name)
    if not any(has_field(record.fields, name) for record in records):
        raise InputError(
            f"there is no file {name}, nor has a record a field of that name: pass a JSON "
            "object, a .jsonl file of records with id and state, or a field"
        )
    return StateSource((name,), named=True)


def _read_states(name: str) -> StateSource:
    opened = open_path(name, "states")
    text = decode_text(opened.data, name).text
    if opened.inner.endswith((".jsonl", ".ndjson")):
        lines = list(read_json_lines(text))
        broken = next((line.error for line in lines if line.error is not None), None)
        if broken is not None:
            raise InputError(f"{name}, {broken.brief}")
        return _build_states(name, [(f"{name}, line {line.number}", line.data) for line in lines])
    try:
        data = read_json(text)
    except ParseError as error:
        raise InputError(f"{name}, {error.brief}") from None
    if isinstance(data, list):
        return _build_states(name, [(f"{name}, record {n}", item) for n, item in enumerate(data, 1)])
    if not isinstance(data, dict):
        raise InputError(
            f"{name}: expected an object, the state of all records, found {one_line_json(data, 60)}"
        )
    return StateSource((), shared=data, file=name)


def _build_states(name: str, rows: Sequence[tuple[str, Any]]) -> StateSource:
    """The states of records with ids."""
    key = choose_id([row for _, row in rows if isinstance(row, dict)])
    listed: dict[str, Any] = {}
    for where, row in rows:
        named = id_text(value_at(row, key)) if key is not None and isinstance(row, dict) else None
        field = next(
            (
                candidate
                for candidate in STATE_FIELDS
                if isinstance(row, dict) and row.get(candidate) is not None
            ),
            None,
        )
        if named is None or field is None:
            lacking = "an id" if named is None else "a state"
            raise InputError(
                f"{where}: expected a record with an id and {' or '.join(STATE_FIELDS)}, found none "
                f"with {lacking}: {one_line_json(row, 60)}"
            )
        if named in listed:
            raise InputError(f"{where}: the id {named} already has a state")
        listed[named] = row[field]
    if not listed:
        raise InputError(f"{name}: there is no state in it")
    return StateSource((), listed=listed, file=name)


# ----------------------------------------------------------------------
# Which field of records holds the question, or the conversation.
QUESTION_FIELDS = (
    "question", "query", "input", "user_query", "instruction", "user_input", "utterance", "prompt", "request",
    "task", "conversations", "conversation", "messages", "dialogue", "dialog",
)  # fmt: skip
"""Fields that hold what was asked, the likeliest first."""

CERTAIN_QUESTION_FIELDS = ("question", "query")
"""Those of which any text or number is one; a request or a task may be known by its number or its name."""

_TASK_NAME = lazy_pattern(r"(?a:[\w.:/-]*\d[\w.:/-]*)")
"""A text that names a task and asks nothing: one word with a digit in it, such as a hash."""


def question_field(query: str | None, *files: PlanFile) -> tuple[str | None, list[str]]:
    """The field that holds the question, and what is to be said of it.

    Args:
        query: What the user names; recognised when None, none when "".
        files: The gold plans, then the predictions.

    Raises:
        InputError: no record has the field that the user names, or none has words in it.
    """
    if query == "":
        return None, []
    for file in files:
        seen = [record.fields for record in islice(file.records, HEAD_SIZE)]
        words, numbers = (QUESTION_FIELDS, CERTAIN_QUESTION_FIELDS) if query is None else ((query,), (query,))
        asking = (
            name for name in words if any(_is_question(fields.get(name), name in numbers) for fields in seen)
        )
        counting = (name for name in numbers if any(_is_number(fields.get(name)) for fields in seen))
        name = next(chain(asking, counting), None)
        if name is not None:
            return name, [f'question: field "{name}" of {file.name}']
    if query is not None:
        names = dict.fromkeys(
            key for file in files for record in islice(file.records, HEAD_SIZE) for key in record.fields
        )
        if query in names:
            raise InputError(
                f"--field query={query}: no record has a question there: its values are not text"
            )
        hint = did_you_mean(query, names, lead="; ")
        available = f"; there are {', '.join(names)}" if names and not hint else ""
        raise InputError(f"--field query={query}: no record has that field{hint}{available}")
    return None, []


def _is_question(value: Any, sure: bool) -> bool:
    """Whether a value may be a question: words, or what was said turn by turn.

    >>> [_is_question(text, sure=False) for text in ("Who?", "69d9bc51e53e4874", "task-12")]
    [True, False, False]
    """
    if isinstance(value, str):
        return bool(value.strip()) and (sure or not _TASK_NAME.fullmatch(value.strip()))
    value = join_messages(value)
    return isinstance(value, list) and bool(value) and all(isinstance(turn, dict) for turn in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# ----------------------------------------------------------------------
# The demonstrations of a run that asked a model, and what they show of its own gold.
DEMONSTRATIONS_FIELD = "demonstrations"
"""The field of a row, and of a run's ``report.json``, that says this."""

TEST_SET_MARK = "demonstrations: test set"
"""The mark in ``run.json`` of a run whose demonstrations come out of the test set."""

SHARED_ANSWERS_LABEL = "demonstrations share answers"
"""What a table adds to the name of such a run."""

ROWS_FILE, REPORT_FILE = "rows.jsonl", "report.json"
"""The answers of a run, and beside them what they come to."""


class Demonstrations(NamedTuple):
    """Where the demonstrations of a run come from, and how many gold calls they show to their own samples.

    Args:
        source: What the user named.
        records: How many demonstrations there are.
        tested: How many of them ask a question of the test set.
        samples: How many samples with a gold plan that can be read were asked.
        gold_calls: How many calls these plans have.
        shared: How many of the calls stand in a demonstration of their own sample.
        whole: Of how many samples all calls do.

    >>> Demonstrations("test.json", 9, 9).mark
    'demonstrations out of the test set, test.json'
    >>> Demonstrations("train.json", 9, 0, 8, 20, 5, 1).mark.partition("; ")[2]
    '5 of 20 gold calls occur in their own prompts, all calls of 1 of 8 samples'
    >>> Demonstrations("train.json", 9, 0, 8, 20, 0, 0).mark
    ''
    """

    source: str
    records: int
    tested: int
    samples: int = 0
    gold_calls: int = 0
    shared: int = 0
    whole: int = 0

    @property
    def mark(self) -> str:
        """What figures are marked with; "" where demonstrations share no answer with the test set."""
        if not (self.tested or self.shared):
            return ""
        origin = f", {self.source}" if self.source else ""
        if self.tested == self.records:
            sentence = f"demonstrations out of the test set{origin}"
        elif self.tested:
            sentence = (
                f"{self.tested:,} of {format_count(self.records, 'demonstration')} out of the test "
                f"set{origin}"
            )
        else:
            sentence = f"demonstrations{origin.replace(',', ' out of', 1)}"
        if not self.gold_calls:
            return sentence
        calls = format_count(self.gold_calls, "gold call")
        if not self.shared:
            return f"{sentence}; none of {calls} occurs in its own prompt"
        sentence = f"{sentence}; {self.shared:,} of {calls} {_format_own_prompts(self.shared)}"
        complete_samples = f", all calls of {self.whole:,} of {format_count(self.samples, 'sample')}"
        return sentence + complete_samples * bool(self.whole)

    def with_rows(self, rows: Iterable[Mapping[str, Any]]) -> Demonstrations:
        """The same, with what rows say that they were shown; of a sample that was asked again the first row.

        Args:
            rows: Those of the run, or what would stand in their field alone.
        """
        entries = [
            row[DEMONSTRATIONS_FIELD]
            for row in rows
            if row.get(DEMONSTRATIONS_FIELD) and not row.get("repetition")
        ]
        pairs = [(entry["gold_calls"], entry["shared"]) for entry in entries if "shared" in entry]
        return self._replace(
            samples=len(pairs),
            gold_calls=sum(calls for calls, _ in pairs),
            shared=sum(shared for _, shared in pairs),
            whole=sum(0 < calls == shared for calls, shared in pairs),
        )


def _format_own_prompts(count: int) -> str:
    return "occurs in its own prompt" if count == 1 else "occur in their own prompts"


def find_mark(path: str) -> str:
    """What the figures of a file of answers are marked with; "" of one that no run with demonstrations wrote.

    Args:
        path: The file.

    >>> find_mark("pred.jsonl")
    ''
    """
    folder, name = os.path.split(path)
    if name != ROWS_FILE:
        return ""
    try:
        with open(os.path.join(folder, REPORT_FILE), encoding="utf-8") as stream:
            return Demonstrations(**read_json(stream.read())[DEMONSTRATIONS_FIELD]).mark
    except (OSError, ValueError, ParseError, KeyError, TypeError):  # of another run, or of none
        return ""


# ----------------------------------------------------------------------
# Questions up to values: a text in which numbers, dates, quoted words and names are placeholders.
TEXT, DATE, NUMBER, NAME = "<text>", "<date>", "<number>", "<name>"

# Named in English, without regard to case, as parts of patterns.
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
DAY = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
NUMBER_WORD = (
    r"(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
    r"|hundred|thousand|million|billion|dozen)"
)

# Every repetition is bounded or possessive: a text of a model's takes time in proportion to its length.
_TOKENS = re.compile(
    rf"""
    (?P<text> (?<!\w)"[^"\n]{{1,200}}+" | “[^“”\n]{{1,200}}+” | „[^„“”\n]{{1,200}}+[“”] | «[^«»\n]{{1,200}}+»
      | ‘[^‘’\n]{{1,200}}+’(?!\w) | 「[^「」\n]{{1,200}}+」 | 『[^『』\n]{{1,200}}+』 | `[^`\n]{{1,200}}+`
      | (?<![\w'])'(?=[^\s'])[^'\n]{{1,200}}+(?<!\s)'(?!\w) )
  | (?P<date> \b(?:
        \d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}(?:[t ]\d{{1,2}}:\d\d(?::\d\d)?z?)?
      | \d{{1,2}}(?P<sep>[-/.])\d{{1,2}}(?P=sep)\d{{4}}
      | {DAY}(?:[ ]of)?[ ]{MONTH}\b(?:\.?,?[ ]\d{{4}}\b)?
      | {MONTH}\b\.?[ ]{DAY}\b(?:,?[ ]\d{{4}}\b)?
      | {MONTH}\b\.?,?[ ]\d{{4}}\b
      | (?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?:[ ]?[ap]\.?m\b)?
      | (?:0?[1-9]|1[0-2])[ ]?[ap]\.?m\b
      | (?:(?:next|last|this|coming)[ ])?{WEEKDAY}
      | today | tomorrow | tonight | yesterday )(?!\w) )
  | (?P<code> \b(?=[a-z-]{{0,20}}\d)(?=[\d-]{{0,20}}(?-i:[A-Z]))(?-i:[A-Z\d][A-Z\d-]{{1,30}})(?!\w) )
  | (?P<number> (?<![\w)])[-+−]?(?:\d++(?:[.,]\d++)*+|\.\d++)(?:(?:st|nd|rd|th)\b)?
      | \d++(?:[.,]\d++)*+
      | \b{NUMBER_WORD}(?:(?:[ -]|(?<=hundred)[ ]and[ ]|(?<=thousand)[ ]and[ ]){NUMBER_WORD})*+\b )
  | (?P<word> [^\W\d_]++(?:['’][^\W\d_]++)*+ )
  | (?P<end> [.!?。！？]++ | \n )
  | (?P<space> [ ] )
  | (?P<other> . )
    """,
    re.VERBOSE | re.IGNORECASE,
)

_PLACEHOLDERS = {"text": TEXT, "date": DATE, "code": NAME, "number": NUMBER}
_ADJACENT_NAMES = re.compile(r"<name>(?:(?: |-|(?: (?:of|of the|de|da|del|di|la|le|van|von|&) ))<name>)++")
_FIRST_PERSON = frozenset(("I", "I'm", "I'd", "I'll", "I've", "I’m", "I’d", "I’ll", "I’ve"))


def question_template(text: str) -> str:
    """A question up to values: what two questions of one template share, whatever they ask about.

    Quoted texts, dates and times, numbers (as digits or words) and capitalised names become placeholders;
    case and white space do not count. The first word of a sentence is no name; where more than half of the
    other words are capitalised, case tells nothing and no word is one.

    Args:
        text: The question.

    >>> question_template("Find two hotels in New York for May 5th, 2024, under $1,200.50!")
    'find <number> hotels in <name> for <date>, under $<number>!'
    >>> question_template("what is 3/4 of ' x ' ?") == question_template("What is 1/2 of ' x ' ?")
    True
    """
    tokens = list(_tokens(question_words(text)))
    within = [word for kind, word in tokens if kind == "word"]
    cased = 2 * sum(word[0].isupper() for word in within) <= len(within)
    return _ADJACENT_NAMES.sub(
        NAME, "".join([_mask_token(kind, word, cased=cased) for kind, word in tokens])
    ).strip()


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """The pieces of a text, each with its kind: ``"word"`` is one that may be a name."""
    first = True
    for match in _TOKENS.finditer(text):
        kind, word = match.lastgroup or "other", match.group()
        yield "first" if kind == "word" and (first or word in _FIRST_PERSON) else kind, word
        first = kind == "end" or (first and kind in ("space", "other"))


def _mask_token(kind: str, word: str, *, cased: bool) -> str:
    if kind in _PLACEHOLDERS:
        return _PLACEHOLDERS[kind]
    if kind == "word" and cased and word[0].isupper():
        return NAME
    return " " if word == "\n" else word.casefold()


def question_words(text: str) -> str:
    r"""A question word for word: how much white space stands between words, and at the ends, does not count.

    >>> question_words(" What  is it? \n\n Now. ")
    'What is it?\nNow.'
    """
    return "\n".join([" ".join(line.split()) for line in text.splitlines() if line.strip()])


def question_text(value: Any) -> str | None:
    """The words of the user in a field of a record: a text, a number, parts, or messages of a conversation.

    Args:
        value: What stands in the field.

    Returns:
        None where nobody has a question.

    >>> question_text([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}])
    'Hi'
    >>> question_text([{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]), question_text(5)
    ('Hi', '5')
    """
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    value = join_messages(value)
    if not isinstance(value, list):
        return None
    turns = [turn for turn in value if isinstance(turn, dict)]
    if any("role" in turn or "from" in turn for turn in turns):
        user_turns = [turn for turn in turns if turn.get("role", turn.get("from")) in ("user", "human")]
        texts = ["\n".join(texts_of(turn.get("content", turn.get("value")))) for turn in user_turns]
    else:
        texts = [*texts_of(turns)]
    return "\n".join(texts) if any(map(str.strip, texts)) else None
