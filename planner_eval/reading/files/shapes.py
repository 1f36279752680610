"""What a value of a users' file is: a call, a plan, a record, or the parts of one message.

A form of record that files have is a row of :data:`SHAPES`: how it is told from the others, and how its plan
is taken out of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from planner_eval.base.errors import AnswerError, ParseError
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.json_text import RepeatedKeyDict
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.resources import read
from planner_eval.reading.dialects.conversations.messages import (
    ARGUMENT_KEYS,
    PART_KEYS,
    WRAPPER_KEYS,
    is_call,
)
from planner_eval.reading.dialects.conversations.spans import has_tool_run, is_span
from planner_eval.reading.dialects.conversations.wrappers import (
    AnswerState,
    answer_state,
    are_answer_pieces,
    failure_state,
    find_marker_key,
)
from planner_eval.reading.dialects.finding.whole_texts import is_prose
from planner_eval.reading.files.fields import (
    ABSENT,
    ANSWER_FIELDS,
    CALL_LIST_FIELDS,
    CONVERSATION_FIELDS,
    ID_FIELDS,
    PLAN_FIELDS,
    WHOLE_RECORD,
    Role,
    has_field,
    id_text,
    value_at,
)
from planner_eval.reading.files.frames import TableRow
from planner_eval.reading.files.record import JoinedTurns

if TYPE_CHECKING:
    from planner_eval.reading.dialects.table import Wrapper


# ----------------------------------------------------------------------
# What a value of a users' file is, learnt once: a call, a plan, or a record that holds one in a field.
Object = dict[str, Any]


class ChosenFields(NamedTuple):
    """Which fields of a file's records are what; the same for all of them.

    Args:
        id: The field that names a record.
        content: The field that holds its plan.
        by_user: The user named that field.
        answers: What stands there is a model's answer, and fields beside it say how it ended.
    """

    id: str | None = None
    content: str | None = None
    by_user: bool = False
    answers: bool = False


class PlanSource(NamedTuple):
    """The text or structure of a plan, as it stands in a file; or why there is none."""

    source: Any
    error: ParseError | None = None


class Shape(NamedTuple):
    """A form that a value of a file has.

    Args:
        what: The form in words.
        fits: Whether an object has it; is told whether the object reads as a call.
        take: The plan's text or structure out of a value of this form.
        call: Among calls it is one.
        holds: One of its fields holds the plan: the file's :class:`ChosenFields` says which.
        named: Its id is the record's; a lone call's id names the call.
    """

    what: str
    fits: Callable[[Object, bool], bool]
    take: Callable[[Any, ChosenFields], PlanSource]
    call: bool = False
    holds: bool = False
    named: bool = False


def shape_of(value: Any, text_field: str | None = None) -> Shape:
    """The form of a value out of a file.

    Args:
        value: The value.
        text_field: The field that holds the plan, where the user named it.

    >>> [shape_of(value).what for value in ({"name": "f"}, {"id": 1, "plan": "f()"}, "f()")]
    ['a call', 'a record', 'a text or a list']
    """
    if not isinstance(value, dict):
        return VALUE_SHAPE
    if text_field is not None and value_at(value, text_field) is not ABSENT:
        return RECORD_SHAPE
    if framework_of(value) is not None:
        return RECORD_SHAPE
    call = is_call(value)
    if isinstance(value, TableRow) and not call:
        return RECORD_SHAPE
    shapes = SHAPES if call else _NON_CALL_SHAPES
    for shape in shapes if text_field is None else shapes[:-1]:  # an answer lacks the field that was named
        if shape.fits(value, call):
            return shape
    return RECORD_SHAPE


def _is_name_beside_answer(data: Object, call: bool) -> bool:
    """A name beside an answer is a record's name; a call has arguments, or nothing that may be an answer."""
    return (
        call
        and not PLAN_FIELDS.isdisjoint(data)
        and not any(key in data for key in (*ARGUMENT_KEYS, *WRAPPER_KEYS))
        and not _is_plan(data, call)
    )


def _is_plan(data: Object, _call: bool) -> bool:
    return "schema" in data or "role" in data or "api_results" in data


def _is_answer(data: Object, call: bool) -> bool:
    """Whether an object is an API's answer or a conversation, and no other field may hold a plan."""
    if call:
        return False
    sign = find_marker_key(data)
    if sign is None:
        return is_span(data) and not has_tool_run([data]) and PLAN_FIELDS.isdisjoint(data)
    if sign in _FIELD_MARKERS:
        return False
    other_fields = PLAN_FIELDS.intersection(data) - {sign} - _ANSWER_OWN_FIELDS.get(sign, frozenset())
    filled_fields = (
        other_fields if sign != "error" else [key for key in other_fields if data[key] or data[key] == ""]
    )
    return not filled_fields


_FIELD_MARKERS = frozenset({"messages", "conversations", *CALL_LIST_FIELDS})
"""Signs of an answer that are fields of records first."""

_ANSWER_OWN_FIELDS: dict[str, frozenset[str]] = {
    "output": frozenset({"text"}),
    "type": frozenset({"tool_calls", "output"}),
}
"""Fields that answers known by a sign have, and that hold no other plan there."""


_BFCL_FAILURE_PREFIX = "Error during inference:"
"""How BFCL's runner begins what it writes in place of an answer where the API failed."""


def _take_itself(data: Any, _chosen: ChosenFields) -> PlanSource:
    return PlanSource(data)


def _take_from_field(data: Object, chosen: ChosenFields) -> PlanSource:
    """What stands in the field of the file's plans, unless fields around it say that it did not end."""
    state = _record_answer_state(data, chosen.content) if chosen.answers else None
    return (
        _take_field_content(data, chosen)
        if state is None
        else PlanSource(None, AnswerError(state.reason, code=state.code))
    )


def _take_field_content(data: Object, chosen: ChosenFields) -> PlanSource:
    """What stands in the field of the file's plans, or why nothing does."""
    content = chosen.content
    if content == WHOLE_RECORD:
        return PlanSource(data)
    value = value_at(data, content)
    if (
        value is ABSENT
        and not chosen.by_user
        and any(isinstance(data.get(key), list) for key in CALL_LIST_FIELDS)
    ):
        return PlanSource(data)
    if content is None:
        if find_marker_key(data) is not None:  # an answer of an API, with gold beside it
            return PlanSource(data)
        names = ", ".join(map(repr, list(data)[:6])) or "no fields"
        return _no_plan_source(
            f"the record has {names}; none is known to hold a plan: name it with --field text=NAME"
        )
    if isinstance(data, RepeatedKeyDict) and sum(key == content for key, _ in data.pairs) > 1:
        return _no_plan_source(f"the record has the field {content!r} more than once")
    return _take_from_value(data, value, chosen)


def _take_from_value(data: Object, value: Any, chosen: ChosenFields) -> PlanSource:
    """The plan that stands in a record's field, or why what stands there is none."""
    content = chosen.content
    if value is ABSENT or (value is None and content not in CALL_LIST_FIELDS):
        what = f"{content!r} is null" if value is None else f"the record has no {content!r}"
        return _no_plan_source(f"there is no plan: {what}, the field of this file's plans", "parse.empty")
    if value == {} or (value == [] and content in CONVERSATION_FIELDS):
        return _no_plan_source(f"there is no plan: {content!r} is empty", "parse.empty")
    if not isinstance(value, (str, list, dict, type(None))):
        return _no_plan_source(f"the record's {content!r} is {value!r}, expected a plan as text or as JSON")
    if content in CALL_LIST_FIELDS:
        return _take_from_list(data, value, chosen)
    if isinstance(value, list) and value and all(isinstance(turn, list) for turn in value):
        joined = join_turns(value)
        if isinstance(joined, list) and len(value) > 1:
            joined = JoinedTurns(joined, value)
        return PlanSource(value if joined is None else joined)
    if isinstance(value, str) and value.startswith(_BFCL_FAILURE_PREFIX):
        state = failure_state(value)
        return PlanSource(None, AnswerError(state.reason, code=state.code))
    return _take_answer_alone(data, value, chosen)


def _take_from_list(data: Object, value: Any, chosen: ChosenFields) -> PlanSource:
    """The plan out of a field that lists calls: null calls nothing, a text is the JSON text of the list."""
    if value is None or (isinstance(value, str) and value.strip() == "null"):
        return PlanSource([])
    if isinstance(value, str) and not value.strip():
        return _no_plan_source(f"there is no plan: {chosen.content!r} is an empty text", "parse.empty")
    return PlanSource(value if chosen.by_user or isinstance(value, str) else data)


def _take_answer_alone(data: Object, value: Any, chosen: ChosenFields) -> PlanSource:
    """An answer, unless calls are listed beside it that its file's first records did not have."""
    if chosen.by_user or data.keys().isdisjoint(_CALL_SOURCE_FIELDS):  # as most are
        return PlanSource(value)
    lists = CALL_LIST_FIELDS if chosen.content in ANSWER_FIELDS else ()
    other = next((key for key in lists if data.get(key) and isinstance(data[key], (list, dict))), None)
    if other is None and chosen.content in FINAL_ANSWER_FIELDS:
        other = next((key for key in RUN_FIELDS if key in data and _runs_tools(data[key])), None)
    if other is None:
        return PlanSource(value)
    return _no_plan_source(
        f"calls stand in {other!r} too, beside {chosen.content!r}: name the field with --field text"
    )


def join_turns(turns: list[Any]) -> list[Any] | str | None:
    """The calls of a conversation that is a list of turns, as BFCL has it; words beside calls call nothing.

    Args:
        turns: Turns, of which each is a list of calls, of texts, or of steps that are lists of these.

    Returns:
        The calls of all turns; where they are no data, the texts. None where the turns hold something else.

    Source: bfcl-eval, ``model_handler/base_handler.py`` (``all_model_response``).

    >>> join_turns([["f(a=1)", "g()"], [], ["h()"]])
    ['f(a=1)', 'g()', 'h()']
    >>> join_turns([[[{"f": "{}"}], ["Done."]], [[{"g": "{}"}]]]), join_turns([[["Which city?"]]])
    ([{'f': '{}'}, {'g': '{}'}], 'Which city?')
    >>> join_turns([["f", {"a": 1}]]), join_turns([[[["f()"]]]])
    (None, None)
    """
    items: list[Any] = []
    for turn in turns:
        worded = any(isinstance(step, str) for step in turn)
        for step in turn:
            if worded and isinstance(step, dict) and not (is_call(step) or "role" in step):
                return None  # a tool's name and its arguments, one beside the other
            items += step if isinstance(step, list) else [step]
    items = [item for item in items if item is not None]
    texts = [item for item in items if isinstance(item, str)]
    calls = [item for item in items if isinstance(item, dict)]
    if len(texts) + len(calls) < len(items):
        return None
    if calls:
        return calls if all(is_prose(text) or not text.strip() for text in texts) else items
    return "\n".join(texts) if any(map(is_prose, texts)) else texts


FINAL_ANSWER_FIELDS = ("response", "completion", "text", "answer", "result", "output")
"""Fields in which an agent's run has the answer that it gives in the end."""
RUN_FIELDS = ("intermediate_steps", "trajectory", "sources", "steps", "trace")
"""Fields in which it has the tools that it ran."""

_CALL_SOURCE_FIELDS = frozenset({*CALL_LIST_FIELDS, *RUN_FIELDS})


def _runs_tools(value: Any, depth: int = 0) -> bool:
    """Whether something in what an agent tells of its run names a tool."""
    if isinstance(value, dict):
        named = any(isinstance(value.get(key), str) for key in _RUN_TOOL_KEYS) or value.get("tool_calls")
        return bool(named) or (depth < 6 and any(_runs_tools(inner, depth + 1) for inner in value.values()))
    return isinstance(value, list) and depth < 6 and any(_runs_tools(item, depth + 1) for item in value[:100])


_RUN_TOOL_KEYS = ("tool", "tool_name", "tool_name_0", "toolName", "tool_input", "function")
"""Keys of a tool's name there."""


def _record_answer_state(data: Object, content: str | None) -> AnswerState | None:
    """Why a record's answer is none that counts: by the record's fields, or by those on the way to it."""
    if content is None or content in data or "." not in content:
        return answer_state(data)
    around: list[Any] = [data]
    steps = content.split(".")
    around += [value_at(data, ".".join(steps[:end])) for end in range(1, len(steps))]
    return next(
        (state for parent in around if isinstance(parent, dict) and (state := answer_state(parent))), None
    )


def _no_plan_source(reason: str, code: str = "parse.shape") -> PlanSource:
    return PlanSource(None, ParseError(reason, code=code))


VALUE_SHAPE = Shape("a text or a list", lambda data, call: False, _take_itself)
"""What is no object."""

RECORD_SHAPE = Shape("a record", lambda data, call: True, _take_from_field, holds=True, named=True)
"""An object that is nothing else."""

SHAPES = (
    Shape(
        "a name beside an answer", _is_name_beside_answer, _take_from_field, call=True, holds=True, named=True
    ),
    Shape("a call", lambda data, call: call, _take_itself, call=True),
    Shape("a plan or a message", _is_plan, _take_itself, named=True),
    Shape("an answer of an API, or a conversation", _is_answer, _take_itself, named=True),
)
"""The forms of objects, in the order in which they are asked; what fits none is a :data:`RECORD_SHAPE`."""

_NON_CALL_SHAPES = SHAPES[2:]


class Item(NamedTuple):
    """A value out of a file, or why there is none.

    Args:
        data: The value.
        shape: What it is.
        line: The line it starts on, counted from 1, where it is known.
        error: Why there is no value.
        text: What could not be read.
        key: The id that the value stands under.
    """

    data: Any
    shape: Shape = VALUE_SHAPE
    line: int | None = None
    error: ParseError | None = None
    text: str = ""
    key: str | None = None


# ----------------------------------------------------------------------
# Whether the objects of an array are together one answer: the content of one message, or a stream's pieces.
#
# Vendors' packages give a message's content as a list of parts, words beside calls, and people dump that
# list.
# Each of its parts looks like a record on its own: a text has the name of a field that holds an answer. So a
# list is taken for a message's content by signs that records do not have, and for records otherwise.
_TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal"})
"""Types of parts that only say something: many of them may be the answers of many."""

_TEXT_PART_KEYS = frozenset({
    "type", "text", "refusal", "citations", "annotations", "logprobs", "cache_control", "state", "signature",
    "providerMetadata", "providerOptions", "provider_metadata", "extras",
})  # fmt: skip
"""All keys that such a part has."""

_SILENT_TYPES = frozenset({
    "thinking", "redacted_thinking", "reasoning", "step-start", "tool_result", "tool-result", "tool-error",
    "compaction", "function_call_output", "custom_tool_call_output", "tool_call_response", "image",
    "image_url", "input_image", "document", "input_file", "source-url", "source-document", "file",
    "search_result", "input_audio", "container_upload",
})  # fmt: skip
"""Types of parts that call nothing and are no words, but for those whose names end in what a tool gave."""

_TEXT_FIELDS = frozenset({"text", "output", "result", "response"})
"""Fields that hold an answer in records, and in such parts what was thought or what a tool gave."""

_RECORD_ID_FIELDS = frozenset(ID_FIELDS) - {"id"}
_CALL_WRAPPER_KEYS = frozenset({"toolUse", "functionCall", "function_call"})
_TOOL_RESULT_KEYS = frozenset({"toolResult", "functionResponse", "function_response"})


_CALL_SIGNS = ('"tool_use"', '"tool-call"', '"toolUse"', '"functionCall"', '"function_call"')
"""What stands in the text of a part that makes a call."""


def are_parts(items: Sequence[Item], broken: str = "") -> bool:
    """Whether objects are the parts of one message's content, or the pieces of one answer that was streamed.

    Several texts alone, ``{"type": "text", …}``, may be as many answers, and are records.

    Args:
        items: What stands in the array.
        broken: The text of what stands there too and is no JSON.

    >>> from planner_eval.reading.files.shapes import shape_of
    >>> given = [{"type": "text", "text": "I look."}, {"type": "tool_use", "name": "f", "input": {}}]
    >>> are_parts([Item(one, shape_of(one)) for one in given])
    True
    """
    first = items[0].data if items else None
    if not isinstance(first, dict):
        return False
    if isinstance(first.get("type"), str) and _part_kind(items[0]) is not None:
        kinds = set(map(_part_kind, items))
        silent = kinds == {"words"} and not any(sign in broken for sign in _CALL_SIGNS)
        return None not in kinds and (not silent or (len(items) == 1 and not broken))
    if _is_plain_part(items[0]):
        called = any(
            not _CALL_WRAPPER_KEYS.isdisjoint(item.data) for item in items if isinstance(item.data, dict)
        )
        return (called or any(sign in broken for sign in _CALL_SIGNS)) and all(map(_is_plain_part, items))
    return not broken and are_answer_pieces([item.data for item in items])


def are_texts(items: Sequence[Item]) -> bool:
    """Whether objects are several texts alone, of which nothing says whether they are one message's."""
    return len(items) > 1 and all(item.line is None and _part_kind(item) == "words" for item in items)


def _part_kind(item: Item) -> str | None:
    """Whether a part with a type makes a call, says something or neither; None where it is no part."""
    data = item.data
    kind = data.get("type") if isinstance(data, dict) else None
    if not isinstance(kind, str) or "role" in data:
        return None
    if kind in _TEXT_TYPES:
        return "words" if _TEXT_PART_KEYS.issuperset(data) else None
    if kind in _SILENT_TYPES or kind.endswith("_tool_result"):
        return "silent" if (PLAN_FIELDS | _RECORD_ID_FIELDS).isdisjoint(data.keys() - _TEXT_FIELDS) else None
    return "call" if item.shape.call and not item.shape.holds else None


def _is_plain_part(item: Item) -> bool:
    """Whether an object is a part of Gemini's or Bedrock's, which have no type and a key for each kind."""
    if not isinstance(item.data, dict):
        return False
    keys: set[Any] = {key for key, value in item.data.items() if value is not None}
    return bool(keys) and keys <= PART_KEYS | _CALL_WRAPPER_KEYS | _TOOL_RESULT_KEYS


# ----------------------------------------------------------------------
# The table of frameworks: in which fields their files keep answers, gold, ids, questions and tools.
FIRST_SIGNS = frozenset({
    "traj", "simulations", "evaluation_criteria", "user_input", "tools_called", "testCases", "testRunData",
    "toolsCalled", "expected_tools", "predicted_trajectory", "reference_trajectory", "task_nodes",
    "eval_cases", "eval_case_results", "evalCases", "evalCaseResults", "expected_tool_use", "initial_session",
    "result", "results", "testIdx", "observations", "data", "traceId", "run_type", "dataset_id", "samples",
    "test_id",
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


def first_path(paths: str) -> str:
    """The first of several paths; a record keeps there what stands at the end of another.

    >>> first_path("steps or log.steps")
    'steps'
    """
    return paths.partition(_PATH_SEPARATOR)[0]


def _split_paths(*fields: str) -> list[str]:
    return [path for field in fields for path in field.split(_PATH_SEPARATOR)]


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
    return {
        **_added_frameworks,
        **{name: row for name, row in _read_shipped().items() if name not in _added_frameworks},
    }


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
        if row.name not in _added_frameworks
    )
    return min(((index, row) for index, row in rows if row.fits(data)), default=(0, None))[1]


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
            *_split_paths(row.answer, row.gold),
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
    parsed = _parse_literal(value)
    return parsed if isinstance(parsed, list) else value


def _transpose_columns(data: Mapping[str, Any], row: Framework) -> list[dict[str, Any]]:
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
    """Spans that lie singly in a file as a record a trace, with its `spans`; other records as they are.

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
    spans = sorted(spans, key=lambda span: str(span.get(row.order, "")))
    return _build_record(row, {row.group: spans[0][row.group], "spans": [dict(span) for span in spans]}, {})


def is_trace_record(record: FrameworkRecord) -> bool:
    """Whether a record is a trace of spans, of which others may stand elsewhere in its file."""
    return bool(frameworks()[record.framework].group)


def are_one_plan(records: Sequence[FrameworkRecord]) -> bool:
    """Whether records are one, which is itself a plan."""
    return len(records) == 1 and frameworks()[records[0].framework].answer == WHOLE_RECORD


def _nested_objects(data: Mapping[str, Any], path: str) -> Iterator[dict[str, Any]]:
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


def _build_record(row: Framework, record: dict[str, Any], file: Mapping[str, Any]) -> FrameworkRecord:
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
    for field, value in (("question", question), ("tools", _value_or_none(record, row.tools))):
        if value is not None:
            record.setdefault(field, value)
    return FrameworkRecord(record, row.name)


def _flatten_elements(listed: list[Any], field: str, depth: int = 0) -> list[Any]:
    """The elements of a list, each before those that it lists in a field of the same name."""
    flat: list[Any] = []
    for element in listed:
        flat.append(element)
        inner = element.get(field) if isinstance(element, dict) and depth < _MAX_DEPTH else None
        if isinstance(inner, list):
            flat += _flatten_elements(inner, field, depth + 1)
    return flat


_MAX_DEPTH = 100
"""How deep runs may stand in runs."""


def _find_calls(row: Framework, listed: list[Any]) -> Any:
    """The calls among the elements of a list; ABSENT where none is one, for then nobody knows."""
    if not all(isinstance(element, dict) for element in listed):
        return ABSENT
    key, sign, value = row.only.partition(" != ") if " != " in row.only else row.only.partition(" = ")
    selected = [element for element in listed if not key or (element.get(key) == value) is (sign != " != ")]
    if not row.call:
        return selected if selected or sign == " != " else ABSENT
    return [_span_call(element, *row.call) for element in selected] if selected else ABSENT


def _span_call(element: dict[str, Any], name: str, arguments: str, output: str = "") -> dict[str, Any]:
    """A span of a tool as a call in JSON; arguments may be an object, or its text in a field `input`."""
    value = value_at(element, arguments)
    if isinstance(value, dict) and value.keys() == {"input"} and isinstance(value["input"], str):
        value = value["input"]
    if isinstance(value, str):
        value = _parse_arguments(value)
    call = {"name": value_at(element, name), "arguments": {} if value in (None, ABSENT) else value}
    result = value_at(element, output or None)
    return call if result in (ABSENT, None) else {**call, "result": result}


def _parse_arguments(text: str) -> dict[str, Any]:
    """Arguments that stand in a text, as JSON or as Python writes them; else the text as the one argument."""
    parsed = _parse_literal(text)
    return parsed if isinstance(parsed, dict) else {"input": text}


def _parse_literal(text: str) -> Any:
    """The data that a text is, as JSON or as Python writes it; ABSENT where it is none."""
    from planner_eval.reading.dialects.programs.literals import NotDataError, parse_literal_items

    try:
        values = parse_literal_items(f"{text},", pairs=False) if len(text) <= _MAX_LITERAL_LENGTH else []
    except NotDataError:
        values = []
    return values[0] if len(values) == 1 else ABSENT


_MAX_LITERAL_LENGTH = 256_000
"""Characters of a text that Python's own parser may read."""


def _replace_at_path(record: dict[str, Any], steps: list[str], value: Any) -> dict[str, Any]:
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


def _join_related_record(join: str, record: dict[str, Any], file: Mapping[str, Any]) -> dict[str, Any]:
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
    counts: Counter[str | None] = Counter(getattr(record, "framework", None) for record in records)
    name, count = counts.most_common(1)[0] if counts else (None, 0)
    return frameworks().get(name) if name is not None and count * 2 > counts.total() else None


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
