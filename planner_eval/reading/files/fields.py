"""Which field of a file's records is what: decided once a file, from its first records, and said.

A file of results often holds more than answers: gold beside them, the question, the model's reasoning.
A guess made record by record would take gold for an answer wherever the answer happens to be null. So one
field is taken for the whole file; where it is null or absent there is no answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from operator import eq
from typing import Any, Literal

from planner_eval.base.errors import InputError
from planner_eval.base.text import JsonObject, format_count
from planner_eval.reading.dialects.conversations.messages import CALL_LIST_KEYS
from planner_eval.reading.dialects.conversations.vendors import ASSISTANT_ROLES

Role = Literal["plan", "answer", "gold", "alone"]
"""What a file is read as: plans of either kind, a model's answers, gold plans beside these or alone."""

ID_FIELDS = (
    "custom_id", "id", "sample_id", "idx", "index", "question_id", "task_id", "doc_id", "serial_num", "uuid",
    "request_id", "response_id", "recordId", "record_id", "customId", "example_id", "test_id", "qid", "key",
)  # fmt: skip
"""Fields that name a record, the likeliest first."""

ANSWER_FIELDS = (
    "generated_text", "prediction", "predict", "predit", "pred", "response", "completion", "model_output",
    "raw", "filtered_resps", "text", "plan", "answer", "result", *CALL_LIST_KEYS, "gen_convs",
)  # fmt: skip
"""Fields that hold an answer; ``predit`` and ``gen_convs`` are spelled so by published result files."""

PREDICTION_FIELDS = frozenset({
    "generated_text", "prediction", "predict", "predit", "pred", "response", "completion", "model_output",
})  # fmt: skip
"""Those of them that say by their name that a model's answer belongs there: null in all records is none."""

FALLBACK_ANSWER_FIELDS = ("output", "outputs", "messages", "conversations")
"""Fields that hold an answer where no field of :data:`ANSWER_FIELDS` stands in the file."""

CONVERSATION_FIELDS = ("messages", "conversations", "gen_convs", "outputs", "traj", "user_input")
"""Fields that hold what was said, where an empty list is no answer; elsewhere it is a plan without calls."""

GOLD_FIELDS = (
    "gold", "ground_truth", "reference", "expected", "possible_answer", "expected_output", "expected_outputs",
    "expected_calls", "expected_tools", "reference_output", "reference_outputs", "reference_answer",
    "gold_calls", "gold_plan",
)  # fmt: skip
"""Fields that hold a gold plan, and never an answer."""

FALLBACK_GOLD_FIELDS = ("target", "label", "labels")
"""Fields that hold a gold plan where no field of :data:`GOLD_FIELDS` stands in the file; a word is none."""

PLAN_FIELDS = frozenset({*ANSWER_FIELDS, *FALLBACK_ANSWER_FIELDS, *GOLD_FIELDS})
"""All fields that may hold a plan."""

CALL_LIST_FIELDS = CALL_LIST_KEYS
"""Fields that list calls themselves: null there says that no call was made."""

EXPECTED_CONTENT: Mapping[Role, str] = {
    "answer": "an answer", "gold": "a gold plan", "plan": "a plan", "alone": "a gold plan",
}  # fmt: skip
"""What each role looks for, in words."""

FIELD_OPTION: Mapping[Role, str] = {
    "answer": "--field text", "gold": "--field gold.text", "plan": "--field text", "alone": "--field text",
}  # fmt: skip
"""The option that names the field."""

ID_OPTION: Mapping[Role, str] = {
    "answer": "--field id", "gold": "--field gold.id", "plan": "--field id", "alone": "--field id",
}  # fmt: skip
"""The option that names the field of the id."""

HEAD_SIZE = 1_000
"""How many records decide."""

_GOLD_RANKS = (GOLD_FIELDS, FALLBACK_GOLD_FIELDS, ("output",), (*ANSWER_FIELDS, *FALLBACK_ANSWER_FIELDS))

_FIELD_RANKS: Mapping[Role, tuple[tuple[str, ...], ...]] = {
    "answer": (ANSWER_FIELDS, FALLBACK_ANSWER_FIELDS),
    "gold": _GOLD_RANKS,
    "alone": _GOLD_RANKS,
    "plan": (ANSWER_FIELDS, FALLBACK_ANSWER_FIELDS, GOLD_FIELDS, FALLBACK_GOLD_FIELDS),
}
"""What may hold the plan of a record: the first rank of which a field stands in the file decides."""


def non_null_fields(record: Mapping[str, Any]) -> tuple[str, ...]:
    """The fields of a record that are not null; one that lists calls says by null that none was made.

    >>> non_null_fields({"id": 1, "answer": None, "tool_calls": None})
    ('id', 'tool_calls')
    """
    if type(None) not in map(type, record.values()):  # by type: a value may be an array, which == compares
        return tuple(record)
    return tuple(key for key, value in record.items() if value is not None or key in CALL_LIST_FIELDS)


def candidate_fields(role: Role) -> tuple[str, ...]:
    """The fields that may hold the plan of a record that is read as `role`, but for those that list calls."""
    return tuple(
        dict.fromkeys(key for rank in _FIELD_RANKS[role] for key in rank if key not in CALL_LIST_FIELDS)
    )


def choose_content(
    name: str,
    records: Iterable[Mapping[str, Any]],
    role: Role = "plan",
    never: Mapping[str, str] | None = None,
) -> str | None:
    """The field that holds the plan of every record of a file; None where no known field stands in it.

    Args:
        name: The file's name, for messages.
        records: Its records that are objects and no plans themselves; the first :data:`HEAD_SIZE` count.
        role: What the file is read as.
        never: Fields that hold gold in this kind of file: always, or where the field named beside them
            stands in the file.

    Raises:
        InputError: two fields may hold the plan; names the option that decides.

    >>> record = {"id": 1, "predict": None, "ground_truth": []}
    >>> choose_content("r.json", [record], "answer"), choose_content("r.json", [record], "gold")
    ('predict', 'ground_truth')
    """
    counts: Counter[str] = Counter()
    empty: Counter[str] = Counter()
    answered: Counter[str] = Counter()
    mark_counts: Counter[str] = Counter()
    marks = {mark for mark in (never or {}).values() if mark}
    for record in islice(records, HEAD_SIZE):
        counts.update(key for key, value in record.items() if _may_hold_plan(key, value))
        if isinstance(record.get("answer"), dict) and "calls" in record:
            counts["answer"] -= 1  # what a plan gives its user, beside the plan's calls
        empty.update(key for key in CALL_LIST_FIELDS if key in record and record[key] is None)
        answered.update(key for key in PLAN_FIELDS.intersection(record) if _holds_answer(key, record[key]))
        mark_counts.update(key for key in record if key in marks)
    refused = [key for key, mark in (never or {}).items() if not mark or mark_counts[mark]]
    for rank in _FIELD_RANKS[role]:
        candidates = [key for key in rank if counts[key] > 0 and key not in refused]
        if rank is ANSWER_FIELDS and not any(answered[key] for key in candidates):
            fallback = [key for key in FALLBACK_ANSWER_FIELDS if answered[key] and key not in refused]
            if fallback and PREDICTION_FIELDS.isdisjoint(candidates):  # nothing stands in any of them
                candidates = fallback
        if len(candidates) > 1:  # one that is null in all records says nothing that another does not
            candidates = [key for key in candidates if counts[key] > empty[key]] or candidates[-1:]
        if len(candidates) > 1:
            listing = " or ".join(f"{key!r} ({format_count(counts[key], 'record')})" for key in candidates)
            raise InputError(
                f"{name}: {EXPECTED_CONTENT[role]} may be in {listing}: name the field with "
                f"{FIELD_OPTION[role]}"
            )
        if candidates:
            return candidates[0]
    for key in refused:
        if counts[key]:
            raise InputError(
                f"{name}: no field looks like an answer; {key!r} holds gold in this benchmark's own "
                f"files: name the field of the answers with --field text=NAME, even if it is {key!r}"
            )
    return None


def _holds_answer(key: str, value: Any) -> bool:
    """Whether something stands in a field; of a conversation, a turn of the assistant."""
    if key in CONVERSATION_FIELDS and isinstance(value, list):
        turns = [turn for turn in value if isinstance(turn, dict)]
        speakers = {str(turn.get("role", turn.get("from"))) for turn in turns} - {"None"}
        return bool(value) and (not speakers or not speakers.isdisjoint(ASSISTANT_ROLES))
    if isinstance(value, str):
        return value.strip() not in ("", "null", "[]")
    return len(value) > 0 if hasattr(value, "__len__") else bool(value)


def choose_id(records: Iterable[Mapping[str, Any]]) -> str | None:
    """The field that names records: of those that name most records the likeliest; None without one.

    >>> choose_id([{"id": "a", "index": 0}, {"index": 1}])
    'index'
    """
    named: Counter[str] = Counter()
    for record in islice(records, HEAD_SIZE):
        named.update(key for key in ID_FIELDS if id_text(record.get(key)) is not None)
    return max(ID_FIELDS, key=named.__getitem__) if named else None


def _may_hold_plan(key: str, value: Any) -> bool:
    if key in FALLBACK_GOLD_FIELDS and isinstance(value, str):  # a class, a name, a sentence
        return any(mark in value for mark in "([{")
    return value is None or isinstance(value, (str, list, dict))


WHOLE_RECORD = "."
"""The way that leads to the record itself."""

ABSENT: Any = object()
"""What :func:`value_at` gives where nothing stands."""


def value_at(data: Any, field: str | None) -> Any:
    """What stands in a field of a record, or at the end of a way into it; ABSENT where nothing does.

    Args:
        data: The record.
        field: The field's name; one that no record has may be a way, ``response.body.choices.0.message``.

    >>> value_at({"body": {"choices": [{"message": "f()"}]}}, "body.choices.0.message")
    'f()'
    >>> value_at({"a.b": 1, "a": {"b": 2}}, "a.b"), value_at({"a": []}, "a.0") is ABSENT
    (1, True)
    """
    if field is None:
        return ABSENT
    if isinstance(data, dict) and field in data:
        return data[field]
    for step in field.split(".") if "." in field else [field]:
        if isinstance(data, dict) and step in data:
            data = data[step]
        elif isinstance(data, list) and step.isascii() and step.isdigit() and int(step) < len(data):
            data = data[int(step)]
        else:
            return ABSENT
    return data


def has_field(data: Any, field: str | None) -> bool:
    """Whether a record has a field, or something at the end of the way that it names."""
    return value_at(data, field) is not ABSENT


def id_text(value: Any) -> str | None:
    """The name of a record as a text: a text that is not empty, or a whole number; None where it is neither.

    Tables write whole numbers as 2.0 where a cell of their column is empty; JSON has one kind of number.

    >>> id_text(0), id_text(2.0), id_text(""), id_text(True), id_text(1.5)
    ('0', '2', None, None, None)
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:  # beyond, digits are lost
        value = int(value)
    return str(value) if type(value) is int or (isinstance(value, str) and value) else None


# ----------------------------------------------------------------------
# Tables in memory as records: frames, data sets and whatever gives one record after another.
MAX_ROWS = 10_000_000
"""Records that are taken from what may have no end."""


class TableRow(dict[str, Any]):
    """A row of a table: a record, whatever its columns are called, and never a message of a conversation."""

    __slots__ = ("lost_nulls",)
    lost_nulls: bool


def table_rows(source: Any) -> Any:
    """The rows of a table as a list of records; whatever is none is given back as it is.

    A table is a frame of pandas or polars, a table of pyarrow, a data set of Hugging Face, or any other
    iterable of records: a generator, a series of texts.

    Args:
        source: The table. Texts, objects and lists are data already.

    Raises:
        InputError: it holds several tables, is not computed yet, or has no end.

    >>> table_rows({"id": name, "output": "f()"} for name in "ab")
    [{'id': 'a', 'output': 'f()'}, {'id': 'b', 'output': 'f()'}]
    """
    if _holds_tables(source):
        names = ", ".join(map(repr, source))
        raise InputError(f"a {type(source).__name__} holds several tables: take one of {names}")
    if source is None or isinstance(source, (str, bytes, list, tuple, Mapping)):
        return source
    if hasattr(source, "iterrows") and hasattr(source, "to_dict"):  # pandas
        named = any(name is not None and name not in source.columns for name in source.index.names)
        frame = source.reset_index() if named else source
        return list(row_data(frame.to_dict("records"), nulls=True))
    for name in ("to_dicts", "to_pylist"):  # polars, pyarrow
        if hasattr(source, name):
            return list(row_data(getattr(source, name)()))
    if hasattr(source, "collect") and not hasattr(source, "__iter__"):
        raise InputError(f"a {type(source).__name__} is not computed yet: give its .collect()")
    if not isinstance(source, Iterable):
        return source
    typed = hasattr(source, "features")  # of a data set's columns
    rows = list(islice(source, MAX_ROWS + 1))
    if len(rows) > MAX_ROWS:
        raise InputError(f"a {type(source).__name__} gives more than {MAX_ROWS:,} records, the limit")
    if typed and all(isinstance(row, Mapping) for row in rows):
        return list(row_data(rows))
    return rows


def is_table(source: Any) -> bool:
    """Whether a value is a table in memory: neither data, nor a plan, nor a path, but gives records."""
    if isinstance(source, (str, bytes, list, tuple, Mapping)):
        return _holds_tables(source)
    signs = ("__next__", "iterrows", "to_dicts", "to_pylist", "features")
    return any(hasattr(source, sign) for sign in signs)


def _holds_tables(source: Any) -> bool:
    """Whether an object is a data set's splits, or a mapping from name to frame."""
    return (
        isinstance(source, dict)
        and bool(source)
        and all(not isinstance(value, (dict, list, tuple)) and is_table(value) for value in source.values())
    )


def row_data(rows: Iterable[Mapping[str, Any]], *, nulls: bool = False) -> Iterator[JsonObject]:
    """Rows out of a table as JSON data; a cell that holds nothing is left out.

    Args:
        rows: From column to value.
        nulls: Keep null inside a cell. Tables whose columns have types write null for whatever an object
            lacks that another one has.

    >>> list(row_data([{"id": 1, "gold": None, "plan": [{"name": "f", "arguments": {"a": 1, "b": None}}]}]))
    [{'id': 1, 'plan': [{'name': 'f', 'arguments': {'a': 1}}]}]
    >>> [row.lost_nulls for row in row_data([{"plan": [{"a": None}]}, {"gold": None, "plan": [None]}])]
    [True, False]
    >>> from array import array
    >>> list(row_data([{"id": complex("nan"), "plan": array("i", [1]), "at": [1 + 2j], "in": (b"a",)}]))
    [{'plan': [1], 'at': ['(1+2j)'], 'in': ['a']}]
    """
    for row in rows:
        cells = {
            str(name): _json_value(value, nulls) for name, value in row.items() if not _is_missing(value)
        }
        record = TableRow(cells)
        record.lost_nulls = not nulls and any(map(_holds_null, row.values()))
        yield record


def _holds_null(value: Any) -> bool:
    """Whether a key of an object in a cell holds null."""
    if isinstance(value, Mapping):
        return any(inner is None or _holds_null(inner) for inner in value.values())
    return isinstance(value, (list, tuple)) and any(map(_holds_null, value))


def _is_missing(value: Any) -> bool:
    if value is None or isinstance(value, (str, int)) or hasattr(value, "__len__"):
        return value is None
    try:
        return not eq(value, value)  # NaN and NaT
    except TypeError:  # pandas' NA is neither equal nor unequal to anything
        return True


def _json_value(value: Any, nulls: bool) -> Any:
    """A value as JSON data: arrays as lists, and what JSON has no form for as text."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {str(k): _json_value(v, nulls) for k, v in value.items() if nulls or v is not None}
    if isinstance(value, (list, tuple)):
        return [_json_value(item, nulls) for item in value]
    if hasattr(value, "tolist"):  # of NumPy
        return _json_value(value.tolist(), nulls)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value)
