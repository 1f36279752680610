"""The table of frameworks: in which fields their files keep answers, gold, ids, questions and tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from planner_eval.base.frozen import fast_frozen
from planner_eval.base.resources import read
from planner_eval.base.text import JsonObject, lazy_pattern
from planner_eval.reading.dialects.conversations.spans import PARENT_KEYS
from planner_eval.reading.dialects.repairs import parse_json
from planner_eval.reading.files.fields import (
    ABSENT,
    WHOLE_RECORD,
    Role,
    TableRow,
    has_field,
    id_text,
    value_at,
)

if TYPE_CHECKING:
    from planner_eval.reading.dialects.table import Wrapper

FIRST_SIGNS = frozenset({
    "traj", "simulations", "evaluation_criteria", "user_input", "tools_called", "testCases", "testRunData",
    "toolsCalled", "expected_tools", "predicted_trajectory", "reference_trajectory", "task_nodes",
    "eval_cases", "eval_case_results", "evalCases", "evalCaseResults", "expected_tool_use", "initial_session",
    "result", "results", "testIdx", "observations", "data", "traceId", "run_type", "dataset_id", "samples",
    "test_id", "answers", "steps", "trajectory",
})  # fmt: skip
"""Where the first sign of each shipped row begins: an object without any of them needs no table."""


@fast_frozen
class Framework:
    """One layout; data/frameworks.toml says what each field means."""

    name: str
    title: str
    source: str
    sign: tuple[str, ...]
    records: str = ""
    join: str = ""
    group: str = ""
    order: str = ""
    only: str = ""
    call: tuple[str, ...] = ()
    id: tuple[str, ...] = ()
    question: tuple[str, ...] = ()
    tools: str = ""
    answer: str = ""
    gold: str = ""
    unread: str = ""
    verdict: str = ""
    ended: str = ""

    def fits(self, data: Mapping[str, Any]) -> bool:
        """Whether an object has what every record, or file, of the layout has."""
        return all(has_field(data, path) for path in self.sign)

    def content(self, role: Role, records: Iterable[Any] = ()) -> str:
        """The path to what records are read for; empty where the layout has none.

        Args:
            role: What the file is read as.
            records: Its first records: where either plan will do, one that stands in none of them does not.
        """
        paths = [first_path(self.answer), first_path(self.gold)]
        if role not in ("answer", "plan"):
            paths.reverse()
        paths = list(filter(None, paths if role in ("plan", "alone") else paths[:1]))
        if len(paths) > 1:
            heads = list(records)
            paths.sort(key=lambda path: all(value_at(head, path) in (None, ABSENT) for head in heads))
        return paths[0] if paths else ""

    def describe_unread(self, records: Iterable[Mapping[str, Any]]) -> str:
        """That a key of gold's calls, which says what else is right, is not read, where it says something."""
        golds = (value_at(record, self.gold) for record in records if self.unread)
        calls = (call for gold in golds if isinstance(gold, list) for call in gold if isinstance(call, dict))
        has_unread = any(call.get(self.unread) is not None for call in calls)
        return f"; {self.unread!r} of gold's calls is not read: all arguments count" if has_unread else ""


def first_path(paths: str) -> str:
    """The first of several paths; a record keeps there what stands at the end of another.

    >>> first_path("steps or log.steps")
    'steps'
    """
    return paths.partition(_PATH_SEPARATOR)[0]


_PATH_SEPARATOR = " or "
"""What stands between paths of which the first that leads to something is taken."""


class FrameworkRecord(dict[str, Any]):
    """A record of a framework's file: its fields and those around it, with `id`, `question` and `tools`.

    Args:
        data: The fields.
        framework: The name of the row that it fits.
    """

    __slots__ = ("framework",)

    def __init__(self, data: Mapping[str, Any], framework: str) -> None:
        super().__init__(data)
        self.framework = framework

    def __reduce__(self) -> Any:
        return FrameworkRecord, (dict(self), self.framework)


_added_frameworks: dict[str, Framework] = {}


def frameworks() -> Mapping[str, Framework]:
    """All rows by name: the user's own before the shipped ones."""
    if not _added_frameworks:
        return _read_shipped()
    return {**_added_frameworks, **_read_shipped(), **_added_frameworks}


@cache
def _read_shipped() -> dict[str, Framework]:
    import tomllib

    return {
        row.name: row
        for row in map(_build_framework, tomllib.loads(read("data/frameworks.toml"))["framework"])
    }


def _build_framework(item: Mapping[str, Any]) -> Framework:
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in item.items()}
    return Framework(**{"title": item["name"], "source": "", **values})


def framework_of(data: Mapping[str, Any]) -> Framework | None:
    """The row that an object fits; None where none does.

    >>> framework_of({"tools_called": [], "expected_tools": []}).name
    'deepeval'
    >>> framework_of({"id": 1, "plan": "f()"})
    """
    for row in _added_frameworks.values():
        if row.fits(data):
            return row
    signs = FIRST_SIGNS.intersection(data)
    if not signs:
        return None
    rows = (
        (index, row)
        for sign in signs
        for index, row in _frameworks_by_first_sign()[sign]
        if row.name not in _added_frameworks and row.fits(data)
    )
    return min(rows, default=(0, None))[1]


@cache
def _frameworks_by_first_sign() -> dict[str, list[tuple[int, Framework]]]:
    """The shipped rows by the field that their first sign begins with, each with its place in the table."""
    rows: dict[str, list[tuple[int, Framework]]] = {}
    for index, row in enumerate(_read_shipped().values()):
        rows.setdefault(row.sign[0].partition(".")[0], []).append((index, row))
    return rows


def field_names() -> set[str]:
    """The first fields of all paths: an object that has one of them is no object from ids to plans.

    >>> {"user_input", "reference_tool_calls", "traj", "input"} <= field_names()
    True
    """
    paths = (
        path
        for row in frameworks().values()
        for path in (
            *row.sign,
            *row.id,
            *row.question,
            row.records,
            row.tools,
            *row.answer.split(_PATH_SEPARATOR),
            *row.gold.split(_PATH_SEPARATOR),
        )
    )
    return {path.split(".")[0].removesuffix("[]") for path in paths if path not in ("", WHOLE_RECORD)}


def layout_rows() -> list[dict[str, str]]:
    """The rows of the table for people: what each framework's files are known by, and where what stands."""
    return [
        {
            "framework": row.name,
            "its files": row.title,
            "known by": ", ".join(row.sign),
            "answers": f"{row.records} {row.answer}".strip() if row.answer else "",
            "gold": f"{row.records} {row.gold}".strip() if row.gold else "",
        }
        for row in frameworks().values()
    ]


# ---------------------------------------------------------------- from a file's object to records
def unfold(data: Any) -> list[FrameworkRecord] | None:
    """The records that an object of a framework holds, or is; None where it fits no row.

    >>> run = {"task_id": 3, "trial": 0, "traj": [], "info": {"task": {"actions": [], "instruction": "Go!"}}}
    >>> [(record["id"], record["question"]) for record in unfold(run)]
    [('3/0', 'Go!')]
    >>> unfold(unfold(run)[0]) == unfold(run)
    True
    """
    if isinstance(data, FrameworkRecord):
        return [data]
    row = framework_of(data) if isinstance(data, dict) else None
    if row is None:
        return None
    if isinstance(data, TableRow):
        data = {key: _read_cell(value) for key, value in data.items()}
    rows = _transpose_columns(data, row) or _nested_objects(data, row.records)
    return [_build_record(row, record, data) for record in rows]


def _read_cell(value: Any) -> Any:
    """What stands in a cell of a table: a list as Python's `csv` writes it is the list."""
    if not isinstance(value, str) or value[:1] != "[" or value[-1:] != "]":
        return value
    parsed = parse_literal(value)
    return parsed if isinstance(parsed, list) else value


def _transpose_columns(data: Mapping[str, Any], row: Framework) -> list[JsonObject]:
    """The rows of a table that is an object of columns, as a frame is dumped; empty where it is none."""
    columns: list[Any] = list(data.values())
    kinds: tuple[type, ...] = (list, type(None))
    if all(isinstance(column, dict) and column.keys() == columns[0].keys() for column in columns):
        columns = [list(column.values()) for column in columns]  # by the places of the cells, as pandas does
        kinds = (list, str, type(None))
    path = first_path(row.answer or row.gold)
    plans = columns[list(data).index(path)] if path in data and not row.records else None
    if not isinstance(plans, list) or not any(plans) or not all(isinstance(plan, kinds) for plan in plans):
        return []
    if not all(isinstance(column, list) and len(column) == len(plans) for column in columns):
        return []
    return [dict(zip(data, cells, strict=True)) for cells in zip(*columns, strict=True)]


def group_runs(records: Sequence[FrameworkRecord]) -> list[FrameworkRecord]:
    """Spans that lie singly in a file as a record a trace, with its root's fields; other records as they are.

    >>> run = {"run_type": "tool", "name": "f", "inputs": {}, "trace_id": "t", "dotted_order": "2"}
    >>> [len(record["spans"]) for record in group_runs([FrameworkRecord(run, "langsmith-runs")] * 2)]
    [2]
    """
    table = frameworks()
    traces: dict[Any, list[FrameworkRecord]] = {}
    for number, record in enumerate(records):
        key = value_at(record, table[record.framework].group or None)
        traces.setdefault(number if key is ABSENT else (record.framework, id_text(key)), []).append(record)
    return [_build_trace_record(table[spans[0].framework], spans) for spans in traces.values()]


def _build_trace_record(row: Framework, spans: list[FrameworkRecord]) -> FrameworkRecord:
    if not row.group or value_at(spans[0], row.group) is ABSENT:
        return spans[0]
    runs = [dict(span) for span in sorted(spans, key=lambda span: str(span.get(row.order, "")))]
    roots = [run for run in runs if not any(run.get(key) for key in PARENT_KEYS)]
    root = roots[0] if len(roots) == 1 else {row.group: runs[0][row.group]}
    return _build_record(row, {**root, "spans": runs, "runs": runs}, {})


def is_trace_record(record: FrameworkRecord) -> bool:
    """Whether a record is a trace of spans, of which others may stand elsewhere in its file."""
    return bool(frameworks()[record.framework].group)


def are_one_plan(records: Sequence[FrameworkRecord]) -> bool:
    """Whether records are one, which is itself a plan."""
    return len(records) == 1 and frameworks()[records[0].framework].answer == WHOLE_RECORD


def _nested_objects(data: Mapping[str, Any], path: str) -> Iterator[JsonObject]:
    """The objects at the end of a path through lists, each with the single values of those around it.

    An element whose own list is empty or absent, as of a case that failed, is a record that lacks it.
    """
    head, mark, remainder = path.partition("[]")
    if not mark:
        yield dict(data)
        return
    around = {key: value for key, value in data.items() if not isinstance(value, (dict, list))}
    elements = value_at(data, head)
    for element in elements if isinstance(elements, list) else []:
        if isinstance(element, dict):
            below = list(_nested_objects({**around, **element}, remainder.lstrip(".")))
            yield from below or [{**around, **element}]
        else:
            yield {**around, "element": element}


def _build_record(row: Framework, record: JsonObject, file: Mapping[str, Any]) -> FrameworkRecord:
    if row.join:
        record = _join_related_record(row.join, record, file)
    for paths in dict.fromkeys(filter(None, (row.answer, row.gold))):
        path, *alternatives = paths.split(_PATH_SEPARATOR)
        value = next(
            (value for other in alternatives if (value := value_at(record, other)) is not ABSENT), ABSENT
        )
        if alternatives and value is not ABSENT and value_at(record, path) is ABSENT:
            record = _replace_at_path(record, path.split("."), value)
        listed = value_at(record, path)
        if isinstance(listed, list) and listed and (row.only or row.call):
            record = _replace_at_path(
                record, path.split("."), _find_calls(row, _flatten_elements(listed, path))
            )
    id_values = [id_text(value_at(record, id_path)) for id_path in row.id]
    if id_values and None not in id_values:
        record["id"] = "/".join(map(str, id_values))
    question = next(
        filter(None, (_value_or_none(record, question_path) for question_path in row.question)), None
    )
    field_paths = {"tools": row.tools, "reward": row.verdict, "stop_reason": row.ended}
    fields = {field: _value_or_none(record, field_path) for field, field_path in field_paths.items()}
    for field, value in {"question": question, **fields}.items():
        if value is not None:
            record.setdefault(field, value)
    return FrameworkRecord(record, row.name)


def _flatten_elements(listed: list[Any], field: str) -> list[Any]:
    """The elements of a list, each before those that it lists in a field of the same name."""
    flat, waiting = [], listed[::-1]
    while waiting:
        element = waiting.pop()
        flat.append(element)
        inner = element.get(field) if isinstance(element, dict) else None
        waiting += reversed(inner) if isinstance(inner, list) else ()
    return flat


def _find_calls(row: Framework, listed: list[Any]) -> Any:
    """The calls among the elements of a list; ABSENT where none is one, for then nobody knows."""
    if not all(isinstance(element, dict) for element in listed):
        return ABSENT
    key, sign, value = row.only.partition(" != ") if " != " in row.only else row.only.partition(" = ")
    selected = [element for element in listed if not key or (element.get(key) == value) is (sign != " != ")]
    if not row.call:
        return selected if selected or sign == " != " else ABSENT
    return [_span_call(element, *row.call) for element in selected] if selected else ABSENT


def _span_call(element: JsonObject, name: str, arguments: str, output: str = "") -> JsonObject:
    """A span of a tool as a call in JSON; arguments may be an object, or its text in a field `input`."""
    value = value_at(element, arguments)
    if isinstance(value, dict) and value.keys() == {"input"} and isinstance(value["input"], str):
        value = value["input"]
    if isinstance(value, str):
        value = _parse_arguments(value)
    call = {"name": value_at(element, name), "arguments": {} if value in (None, ABSENT) else value}
    result = value_at(element, output or None)
    return call if result in (ABSENT, None) else {**call, "result": result}


def _parse_arguments(text: str) -> JsonObject:
    """Arguments that stand in a text, as JSON or as Python writes them; else the text as the one argument."""
    parsed = parse_literal(text)
    return parsed if isinstance(parsed, dict) else {"input": text}


def parse_literal(text: str) -> Any:
    """The data that a text is, as JSON or as Python writes it; ABSENT where it is none.

    Texts in quotes next to one another are none: NumPy prints lists so, and "it''s" is no "its".
    """
    from planner_eval.reading.dialects.programs.syntax import NotDataError, read_literal

    data = parse_json(text)
    if data is not None:
        return data
    if len(text) > _MAX_LITERAL_LENGTH or any(match["next"] for match in _QUOTED.finditer(text)):
        return ABSENT
    try:
        return read_literal(text)
    except NotDataError:
        return ABSENT


_QUOTED = lazy_pattern(r"""(?s)(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")(?P<next>[ \t]*+['"])?+""")
_MAX_LITERAL_LENGTH = 256_000
"""Characters of a text that Python's own parser may read."""


def _replace_at_path(record: JsonObject, steps: list[str], value: Any) -> JsonObject:
    """A record with another value at the end of a path through objects; without the field if it is ABSENT."""
    key, *remaining = steps
    if remaining:
        inner = record.get(key)
        value = _replace_at_path(inner if isinstance(inner, dict) else {}, remaining, value)
    other_fields = {name: field_value for name, field_value in record.items() if name != key}
    return other_fields if value is ABSENT else {**other_fields, key: value}


def _value_or_none(record: Mapping[str, Any], path: str) -> Any:
    value = value_at(record, path or None)
    return None if value is ABSENT else value


def _join_related_record(join: str, record: JsonObject, file: Mapping[str, Any]) -> JsonObject:
    """A record with what lies apart from it in its file: ``task = tasks[] by task_id = id``."""
    field, source = join.split(" = ", 1)
    path, keys = source.split("[] by ")
    own_key, other_key = keys.split(" = ")
    record_id = id_text(record.get(own_key))
    listed = value_at(file, path)
    for element in listed if isinstance(listed, list) else []:
        if (
            isinstance(element, dict)
            and record_id is not None
            and id_text(element.get(other_key)) == record_id
        ):
            return {**record, field: element}
    return record


def most_common_framework(records: Iterable[Any]) -> Framework | None:
    """The row that more than half of a file's records fit; None where there is none.

    >>> most_common_framework([FrameworkRecord({}, "ragas"), FrameworkRecord({}, "ragas"), {}]).name
    'ragas'
    """
    counts = Counter(getattr(record, "framework", "") for record in records)
    return next((frameworks().get(name) for name in counts if counts[name] * 2 > counts.total()), None)


# ---------------------------------------------------------------- users' own rows
def add_frameworks(rows: Iterable[Framework]) -> None:
    """Add rows for the rest of this process; those of a user's file come before the shipped ones."""
    _added_frameworks.update((row.name, row) for row in rows)


def added_frameworks() -> tuple[Framework, ...]:
    """The rows that this process has added; another one that shall read as it does needs them."""
    return tuple(_added_frameworks.values())


def parse_frameworks(items: Any, source: str) -> list[Framework]:
    """The rows of the ``[[framework]]`` tables of a user's file, checked.

    Raises:
        InputError: a field is missing, unknown or of the wrong type, or `join` or `only` is not of its form.
    """
    from planner_eval.reading.schemas import FrameworkRow

    rows = []
    for number, item in enumerate(items if isinstance(items, list) else [items], 1):
        name = item.get("name") if isinstance(item, Mapping) else None
        where = f"{source}: framework {name!r}" if isinstance(name, str) else f"{source}: framework {number}"
        FrameworkRow.check(item, where)
        rows.append(_build_framework(item))
    return rows


# ----------------------------------------------------------------------
# A user's own rows: notations and frameworks, out of one TOML file given with ``--wrappers``.
UserRow: TypeAlias = "Wrapper | Framework"


def add_file(path: str) -> tuple[str, ...]:
    """Add the rows of a TOML file for the rest of this process, and give their names.

    Args:
        path: A file with ``[[dialect]]`` or ``[[framework]]`` tables, or both.

    Raises:
        InputError: the file cannot be read, or a row of it cannot be used.
    """
    from planner_eval.reading.dialects import table

    rows = parse(table.read_toml(path), path)
    table.add_proved_rows([row for row in rows if isinstance(row, table.Wrapper)], path)
    add_frameworks(row for row in rows if isinstance(row, Framework))
    return tuple(row.name for row in rows)


def parse(document: Mapping[str, Any], source: str) -> tuple[UserRow, ...]:
    """The rows of a file's tables.

    Args:
        document: The tables.
        source: What messages call the file.

    Raises:
        InputError: there is no row, or one cannot be used.

    >>> unshipped_rows = {"framework": [{"name": "ours", "sign": ["steps"], "answer": "steps"}]}
    >>> [row.name for row in parse(unshipped_rows, "own.toml")]
    ['ours']
    """
    from planner_eval.reading.dialects import table

    rows = parse_frameworks(document["framework"], source) if "framework" in document else []
    if rows and "dialect" not in document:
        return tuple(rows)
    return (*table.rows_in(document, source).values(), *rows)


def added_rows() -> tuple[UserRow, ...]:
    """The rows that this process has added; another one that shall read as it does needs them."""
    from planner_eval.reading.dialects import table

    return (*table.added_rows(), *added_frameworks())


def unshipped_rows() -> tuple[UserRow, ...]:
    """The rows that are not shipped."""
    from planner_eval.reading.dialects import table

    return (*table.custom_rows(), *added_frameworks())


def add_rows(rows: Iterable[UserRow]) -> None:
    """Add rows that another process has, which has checked them."""
    from planner_eval.reading.dialects import table

    rows = tuple(rows)
    add_frameworks(row for row in rows if isinstance(row, Framework))
    table.add_rows(row for row in rows if isinstance(row, table.Wrapper))
