"""What a value of a users' file is: a call, a plan, a record, or the parts of one message.

A form of record that files have is a row of :data:`SHAPES`: how it is told from the others, and how its plan
is taken out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.json_text import RepeatedKeyDict
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import JsonObject
from planner_eval.reading.dialects.conversations.answers import (
    AnswerState,
    answer_state,
    are_answer_pieces,
    failure_state,
)
from planner_eval.reading.dialects.conversations.messages import (
    ARGUMENT_KEYS,
    PART_KEYS,
    WRAPPER_KEYS,
    is_call,
    join_messages,
)
from planner_eval.reading.dialects.conversations.spans import has_tool_run, is_span
from planner_eval.reading.dialects.conversations.vendors import ASSISTANT_ROLES, TOOL_ROLES
from planner_eval.reading.dialects.conversations.wrappers import find_marker_key, holds_output_messages
from planner_eval.reading.dialects.finding.segments import begins_call
from planner_eval.reading.dialects.read import parse
from planner_eval.reading.files.fields import (
    ABSENT,
    ANSWER_FIELDS,
    CALL_LIST_FIELDS,
    CONVERSATION_FIELDS,
    FALLBACK_ANSWER_FIELDS,
    FALLBACK_GOLD_FIELDS,
    GOLD_FIELDS,
    ID_FIELDS,
    PLAN_FIELDS,
    PREDICTION_FIELDS,
    WHOLE_RECORD,
    TableRow,
    value_at,
)
from planner_eval.reading.files.frameworks import FrameworkRecord, framework_of
from planner_eval.reading.files.record import JoinedTurns, join_turns


class ChosenFields(NamedTuple):
    """Which fields of a file's records are what; the same for all of them.

    Args:
        id: The field that names a record.
        content: The field that holds its plan.
        by_user: The user named that field.
        answers: What stands there is a model's answer, and fields beside it say how it ended.
        scores: Fields of verdicts that have numbers on another scale.
    """

    id: str | None = None
    content: str | None = None
    by_user: bool = False
    answers: bool = False
    scores: tuple[str, ...] = ()


class Shape(NamedTuple):
    """A form that a value of a file has.

    Args:
        what: The form in words.
        fits: Whether an object has it; is told whether the object reads as a call.
        call: Among calls it is one.
        holds: One of its fields holds the plan: the file's :class:`ChosenFields` says which.
        named: Its id is the record's; a lone call's id names the call.
    """

    what: str
    fits: Callable[[JsonObject, bool], bool]
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


def _is_name_beside_answer(data: JsonObject, call: bool) -> bool:
    """A name beside an answer is a record's name; a call has arguments, or nothing that may be an answer.

    Beside a name and its input stands what a tool gave, unless a model wrote it or gold stands there too.
    A call with `arguments` stays one, whatever stands beside it.
    """
    if not call or PLAN_FIELDS.isdisjoint(data) or _is_plan(data, call) or _has_sure_arguments(data):
        return False
    return (
        data.keys().isdisjoint(ARGUMENT_KEYS)
        or ("input" in data and not data.keys().isdisjoint(GOLD_FIELDS))
        or any(_is_gold_plan(data[key], key) for key in GOLD_FIELDS if key in data)
        or any(_is_models_answer(data.get(key)) for key in (*PREDICTION_FIELDS, *FALLBACK_ANSWER_FIELDS))
    )


def _has_sure_arguments(data: JsonObject) -> bool:
    """Whether a call is none of a record's fields: what it is given is called arguments, or wrapped."""
    return "arguments" in data or any(isinstance(data.get(key), dict) for key in WRAPPER_KEYS)


def _is_gold_plan(value: Any, field: str) -> bool:
    """Whether what stands in a field of gold may be a plan: calls, or a text, but for what a call gives."""
    if isinstance(value, str):
        return field in _CALL_GOLD_FIELDS and any(mark in value for mark in "([{")
    if isinstance(value, list):
        return all(_is_gold_plan(item, field) for item in value) and bool(value or field in _CALL_GOLD_FIELDS)
    return is_call(value) or (isinstance(value, dict) and "calls" in value)


_CALL_GOLD_FIELDS = frozenset({
    "gold", "ground_truth", "expected", "possible_answer", "expected_calls", "expected_tools", "gold_calls",
    "gold_plan",
})  # fmt: skip
"""Fields of gold that say nothing of what a call gives."""


def _is_models_answer(value: Any) -> bool:
    """Whether a value is what a model writes, and no tool gives: a message of it, or calls, also as text."""
    if isinstance(value, list):
        with_arguments = all(is_call(item) and not item.keys().isdisjoint(ARGUMENT_KEYS) for item in value)
        return bool(value) and (with_arguments or any(map(_is_models_answer, value[:1])))
    if isinstance(value, str):
        return begins_call(value, set())
    return isinstance(value, dict) and (
        str(value.get("role")) in ASSISTANT_ROLES
        or not value.keys().isdisjoint(_ANSWER_KEYS)
        or _is_models_answer(value.get("message"))
    )


_ANSWER_KEYS = frozenset({"tool_calls", "function_call", "choices", "candidates"})
"""Keys of which an API's answer or its message has one."""


def _is_plan(data: JsonObject, _call: bool) -> bool:
    if data.get("role") == "user" and not data.keys().isdisjoint(
        GOLD_FIELDS
    ):  # a question with its gold plan
        return False
    return "schema" in data or "role" in data or "api_results" in data


def _is_answer(data: JsonObject, call: bool) -> bool:
    """Whether an object is an API's answer or a conversation, and no other field may hold a plan."""
    if call:
        return False
    sign = find_marker_key(data)
    if sign is None:
        return is_span(data) and not has_tool_run([data]) and PLAN_FIELDS.isdisjoint(data)
    if sign in _FIELD_MARKERS or (sign == "output" and holds_output_messages(data)):
        return False
    other_fields = PLAN_FIELDS.intersection(data) - {sign} - _ANSWER_OWN_FIELDS.get(sign, frozenset())
    filled_fields = (
        other_fields if sign != "error" else [key for key in other_fields if data[key] or data[key] == ""]
    )
    return not filled_fields


_FIELD_MARKERS = frozenset({"messages", "conversations", "outputs", *CALL_LIST_FIELDS})
"""Signs of an answer that are fields of records first."""

_ANSWER_OWN_FIELDS: dict[str, frozenset[str]] = {
    "output": frozenset({"text"}),
    "type": frozenset({"tool_calls", "output"}),
}
"""Fields that answers known by a sign have, and that hold no other plan there."""


def is_answer_beside_gold(data: JsonObject) -> bool:
    """Whether a record with no field of answers is one itself, with gold beside it: an API's, or a call.

    >>> is_answer_beside_gold({"name": "f", "parameters": {"a": 1}, "gold": "f(a=2)"})
    True
    """
    if "parameters" in data and is_call(data) and " " not in str(data.get("name")):
        return True
    return find_marker_key(data) is not None


def shape_among(data: Any, shape: Shape, chosen: ChosenFields) -> Shape:
    """The form of a value among a file's records: a call with the field of their plans is a record as well.

    Args:
        data: The value.
        shape: Its form, taken alone.
        chosen: The fields of its file.
    """
    is_record = shape.call and not shape.holds and chosen.content in data and not _has_sure_arguments(data)
    return RECORD_SHAPE if is_record else shape


_BFCL_FAILURE_PREFIX = "Error during inference:"
"""How BFCL's runner begins what it writes in place of an answer where the API failed."""


def take_plan(data: Any, shape: Shape, chosen: ChosenFields) -> Any:
    """The text or structure of a plan as it stands in a value, or in the field of the file's plans.

    Args:
        data: The value.
        shape: Its form.
        chosen: The fields of its file.

    Raises:
        AnswerError: fields around the plan say that it did not end.
        ParseError: there is none.
    """
    content = chosen.content
    if not shape.holds:
        return data
    state = _record_answer_state(data, content) if chosen.answers else None
    if state is not None:
        raise state.error()
    if content == WHOLE_RECORD:
        return data
    value = value_at(data, content)
    if (
        value is ABSENT
        and not chosen.by_user
        and any(isinstance(data.get(key), list) for key in CALL_LIST_FIELDS)
    ):
        return data
    if content is None:
        if is_answer_beside_gold(data):
            return data
        if not data:
            raise _no_plan_error("the record has no fields, so no plan")
        names = ", ".join(map(repr, list(data)[:6]))
        raise _no_plan_error(
            f"the record has {names}; none is known to hold a plan: name the field with --field text=NAME"
        )
    if isinstance(data, RepeatedKeyDict) and sum(key == content for key, _ in data.pairs) > 1:
        raise _no_plan_error(f"the record has the field {content!r} more than once")
    return _take_from_value(data, value, chosen)


def _take_from_value(data: JsonObject, value: Any, chosen: ChosenFields) -> Any:
    """The plan that stands in a record's field, or why what stands there is none."""
    content = chosen.content
    if value is ABSENT or (value is None and content not in CALL_LIST_FIELDS):
        what = "is null" if value is None else "is missing"
        raise _no_plan_error(
            f"there is no plan: the field {content!r}, which holds this file's plans, {what}", "parse.empty"
        )
    if value == {} or (value == [] and content in CONVERSATION_FIELDS):
        raise _no_plan_error(f"there is no plan: {content!r} is empty", "parse.empty")
    if not isinstance(value, (str, list, dict, type(None))):
        raise _no_plan_error(f"the record's {content!r} is {value!r}, expected a plan as text or as JSON")
    if content in CALL_LIST_FIELDS:
        return _take_from_list(data, value, chosen)
    if content == "outputs" and find_marker_key({content: value}) == content:  # of which one is the answer
        return {content: value}
    if isinstance(value, list) and value and all(isinstance(turn, list) for turn in value):
        joined = join_turns(value)
        if isinstance(joined, list) and len(value) > 1:
            joined = JoinedTurns(joined, value)
        return value if joined is None else joined
    if isinstance(value, str) and value.startswith(_BFCL_FAILURE_PREFIX):
        raise failure_state(value).error()
    return _take_answer_alone(data, value, chosen)


def _take_from_list(data: JsonObject, value: Any, chosen: ChosenFields) -> Any:
    """The plan out of a field that lists calls: null calls nothing, a text is the JSON text of the list."""
    if value is None or (isinstance(value, str) and value.strip() == "null"):
        return []
    if isinstance(value, str) and not value.strip():
        raise _no_plan_error(f"there is no plan: {chosen.content!r} is an empty text", "parse.empty")
    return value if chosen.by_user or isinstance(value, str) else data


def _take_answer_alone(data: JsonObject, value: Any, chosen: ChosenFields) -> Any:
    """An answer, unless calls are listed beside it, or it is the end of a run that holds them."""
    if chosen.by_user:
        return value
    is_answer = chosen.answers or chosen.content in ANSWER_FIELDS
    lists = CALL_LIST_FIELDS if is_answer else ()
    other = next((key for key in lists if data.get(key) and isinstance(data[key], (list, dict))), None)
    if other is None and chosen.content in FINAL_ANSWER_FIELDS:
        other = next((key for key in RUN_FIELDS if key in data and _runs_tools(data[key])), None)
    if other is None and is_answer and not isinstance(data, FrameworkRecord):
        runs = (key for key in data if key != chosen.content and key not in _PROMPT_FIELDS)
        run = next((key for key in runs if _is_calling_conversation(data[key])), None)
        other = run if run is not None and _calls_nothing(value) else None
    if other is None:
        return value
    raise _no_plan_error(
        f"calls stand in {other!r} too, beside {chosen.content!r}: name the field with --field text"
    )


def _calls_nothing(value: Any) -> bool:
    """Whether a text or a message can be read and calls no tool."""
    if not isinstance(value, (str, dict)):
        return False
    try:
        return not parse(value).calls
    except ParseError:
        return False


def _is_calling_conversation(value: Any) -> bool:
    """Whether a value is a conversation that calls tools, and no prompt: its last word is not the user's."""
    if not isinstance(value, (list, dict)):
        return False
    from planner_eval.reading.dialects.conversations.turns import read_conversation

    try:
        talk = read_conversation(join_messages(value))
        if talk is None:
            return False
        last = talk.heard[-1] if talk.heard and talk.heard[-1].after == len(talk.turns) else None
        return (last is None or last.who in TOOL_ROLES) and bool(parse(talk.data).calls)
    except ParseError:
        return False


FINAL_ANSWER_FIELDS = ("response", "completion", "text", "answer", "result", "output")
"""Fields in which an agent's run has the answer that it gives in the end."""
RUN_FIELDS = ("intermediate_steps", "trajectory", "sources", "steps", "trace")
"""Fields in which it has the tools that it ran."""

_PROMPT_FIELDS = frozenset({
    *GOLD_FIELDS, *FALLBACK_GOLD_FIELDS, "question", "query", "input", "inputs", "prompt", "examples",
    "requests",
})  # fmt: skip
"""Fields in which a conversation is no run: the model was given it, or should have it."""


def _runs_tools(value: Any, depth: int = 0) -> bool:
    """Whether something in what an agent tells of its run names a tool."""
    if isinstance(value, dict):
        named = any(isinstance(value.get(key), str) for key in _RUN_TOOL_KEYS) or value.get("tool_calls")
        return bool(named) or (depth < 6 and any(_runs_tools(inner, depth + 1) for inner in value.values()))
    return isinstance(value, list) and depth < 6 and any(_runs_tools(item, depth + 1) for item in value[:100])


_RUN_TOOL_KEYS = ("tool", "tool_name", "tool_name_0", "toolName", "tool_input", "function")
"""Keys of a tool's name there."""


def _record_answer_state(data: JsonObject, content: str | None) -> AnswerState | None:
    """Why a record's answer is none that counts: by the record's fields, or by those on the way to it."""
    if content is None or content in data or "." not in content:
        return answer_state(data)
    around: list[Any] = [data]
    steps = content.split(".")
    around += [value_at(data, ".".join(steps[:end])) for end in range(1, len(steps))]
    return next(
        (state for parent in around if isinstance(parent, dict) and (state := answer_state(parent))), None
    )


def _no_plan_error(reason: str, code: str = "parse.shape") -> ParseError:
    return ParseError(reason, code=code)


VALUE_SHAPE = Shape("a text or a list", lambda data, call: False)
"""What is no object."""

RECORD_SHAPE = Shape("a record", lambda data, call: True, holds=True, named=True)
"""An object that is nothing else."""

SHAPES = (
    Shape("a name beside an answer", _is_name_beside_answer, call=True, holds=True, named=True),
    Shape("a call", lambda data, call: call, call=True),
    Shape("a plan or a message", _is_plan, named=True),
    Shape("an answer of an API, or a conversation", _is_answer, named=True),
)
"""The forms of objects, in the order in which they are asked; what fits none is a :data:`RECORD_SHAPE`."""

_NON_CALL_SHAPES = (
    Shape("a message of MCP", lambda data, call: "jsonrpc" in data, call=True),
    *SHAPES[2:],
)


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
# Whether the objects of an array are together one answer: a message's content, or the pieces of a stream.
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
