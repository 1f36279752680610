"""Calls in JSON messages: which object is one, where they stand, and what the tools answered."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.json_text import RepeatedKeyDict
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import JsonObject, lazy_pattern, shorten
from planner_eval.plan.model import UNREAD_CALL, Diagnostic

# ----------------------------------------------------------------------
# Calls in JSON: which object is one, where they stand in messages, and what the tools answered.
JSON_STARTS = ("[", "{", '"')
"""With what a text that is JSON data, and may hold calls, begins."""

NAME_KEYS = (
    "name", "function", "api", "tool", "api_name", "tool_name", "toolName", "function_name", "task",
)  # fmt: skip
ARGUMENT_KEYS = (
    "arguments", "parameters", "args", "input", "params", "param", "rawInput", "input_parameters",
    "inputParameters", "action_input", "kwargs", "tool_input", "tool_kwargs",
)  # fmt: skip
_FINAL_ACTIONS = ("", "Final Answer", "final_answer")
"""Actions of ReAct's JSON form that call nothing."""
ID_KEYS = ("call_id", "tool_call_id", "toolCallId", "toolUseId", "id", "label")
WRAPPER_KEYS = ("function", "function_call", "functionCall", "toolUse", "custom", "toolInvocation")
CALL_METADATA_KEYS = frozenset({
    *ID_KEYS, "type", "index", "app", "returns", "result", "status", "thought_signature", "step", "role",
    "caller", "responses", "thought", "namespace", "cache_control", "output",
})  # fmt: skip

NODE_KEYS = ("task_nodes", "tool_nodes", "nodes")
"""Keys of a graph's nodes, each a call, as TaskBench names them."""
CALL_LIST_KEYS = (
    "tool_calls",
    "calls",
    "function_call",
    "toolCalls",
    "toolRequests",
    "tool_uses",
    "tools_call",
)
"""Keys under which a message lists its calls."""
CONTAINER_KEYS = (
    "choices", "candidates", "messages", "conversations", "turns", "message", "content", "parts", "output",
    "outputs", "response",
)  # fmt: skip
"""Keys under which an answer of an API, a conversation or a message holds further parts."""
_MESSAGE_CONTAINER_KEYS = tuple(key for key in CONTAINER_KEYS if key not in ("output", "outputs", "response"))
"""Of them those of a part that has a type: what stands under the others there is what a tool answered."""
_NO_CALL_TYPES = frozenset({
    "text", "thinking", "redacted_thinking", "reasoning", "message", "tool_result", "tool-result",
    "function_call_output", "input_text", "output_text", "refusal", "step-start", "image", "image_url",
    "document", "custom_tool_call_output", "tool_call_response", "search_result", "input_audio", "compaction",
})  # fmt: skip
NON_ASSISTANT_ROLES = frozenset({"tool", "function", "observation", "user", "system", "developer"})
_ANSWER_TYPES = frozenset({
    "tool_result", "tool-result", "tool_response", "function_call_output", "custom_tool_call_output",
    "tool_call_response",
})  # fmt: skip
SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema", "input_parameters", "inputParameters")
PART_KEYS = frozenset({
    "text", "thought", "thoughtSignature", "thought_signature", "reasoningContent", "executableCode",
    "executable_code", "codeExecutionResult", "code_execution_result", "inlineData", "inline_data",
    "fileData", "file_data", "image", "document", "cachePoint", "guardContent", "citationsContent",
})  # fmt: skip
"""Keys of parts that are no call, in APIs whose parts have no type."""


def part_texts(data: Any) -> list[str] | None:
    """The texts of a message's content that is text alone; None where anything else stands in it.

    >>> part_texts([{"type": "text", "text": "[f(a=1)]"}]), part_texts({"text": "Hm.", "name": "f"})
    (['[f(a=1)]'], None)
    """
    items = data if isinstance(data, list) else [data]
    texts = [
        item["text"]
        for item in items
        if isinstance(item, dict)
        and item.keys() <= _TEXT_PART_KEYS
        and item.get("type", "text") in ("text", "output_text")
        and isinstance(item.get("text"), str)
    ]
    return texts if texts and len(texts) == len(items) else None


_TEXT_PART_KEYS = {"type", "text", "annotations", "citations", "logprobs", "cache_control"}


def texts_of(content: Any) -> Iterator[str]:
    """The words of a message's content: a text, or parts that are texts and no thoughts."""
    if isinstance(content, str):
        yield content
    for item in content if isinstance(content, list) else ():
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict) and item.get("thought") is not True:
            text = item.get("text", item.get("content") if item.get("type") == "text" else None)
            if isinstance(text, str):
                yield text


def call_items(data: Any, text: str = "") -> Iterator[JsonObject]:
    """The objects of `data` that should be calls, out of lists, messages and wrappers.

    Raises:
        ParseError: something among them is no object.

    >>> list(call_items({"role": "assistant", "tool_calls": [{"name": "f"}]}))
    [{'name': 'f'}]
    """
    if isinstance(data, dict):
        if _is_tool_or_user_message(data):
            return
        if "name" in data and data["name"] != "" and is_call(data):
            yield data
            return
        yield from _find_inner_calls(data, text)
    elif isinstance(data, list):
        for item in data:
            if not isinstance(item, (dict, list)):
                raise ParseError(
                    f"found {format_value(item)} where a call was expected: an object with a name "
                    "and arguments",
                    text=text,
                    offset=max(text.find(format_value(item)), 0),
                    code="parse.shape",
                )
            yield from call_items(item, text)
    else:
        raise ParseError(
            f"found {format_value(data)}, expected a call or a list of calls", text=text, code="parse.shape"
        )


def _find_inner_calls(data: JsonObject, text: str) -> Iterator[JsonObject]:
    if not _CALL_LIST_KEY_SET.isdisjoint(data):
        lists = [data[key] for key in CALL_LIST_KEYS if isinstance(data.get(key), list)]
        listed = [call for items in lists for call in call_items(items, text)]
        yield from listed
        if lists:
            yield from _unlisted_blocks(data.get("content"), listed)
            return
    if "step" in data and calls_no_tool(data):
        return
    if is_call(data):
        yield data
        return
    if "role" not in data and _is_name_in(data.get("type"), _NO_CALL_TYPES):
        return
    keys = CONTAINER_KEYS if "type" not in data and "toolCallId" not in data else _MESSAGE_CONTAINER_KEYS
    structures = [data[key] for key in keys if key in data and is_structure(data[key])]
    for structure in structures:
        yield from call_items(
            [p for p in structure if not isinstance(p, str)] if isinstance(structure, list) else structure,
            text,
        )
    if not structures and not _is_non_call(data):
        yield data


def _unlisted_blocks(content: Any, listed: list[JsonObject]) -> Iterator[JsonObject]:
    """The calls among a message's parts that are not in its list, as of tools that the provider runs."""
    blocks = [block for block in content if is_call(block)] if isinstance(content, list) else []
    if blocks:
        marks = set().union(*map(_call_marks, listed))
        yield from (block for block in blocks if marks.isdisjoint(_call_marks(block)))


def _call_marks(call: JsonObject) -> set[str]:
    """The name and the ids of a call."""
    inner = _unwrap_call(call)
    marks = (holder.get(key) for holder in (call, inner) for key in (*ID_KEYS, find_name_key(inner) or ""))
    return {str(mark) for mark in marks if mark is not None}


_CALL_LIST_KEY_SET = frozenset(CALL_LIST_KEYS)


def _is_tool_or_user_message(data: JsonObject) -> bool:
    """Whether an object is what a tool or a person says: whatever stands in it, it calls nothing."""
    if "role" in data and _is_name_in(data["role"], NON_ASSISTANT_ROLES):
        return True
    return "type" in data and "role" not in data and is_tool_result_type(data["type"])


def is_tool_result_type(kind: Any) -> bool:
    """Whether the type of a part says that it is what a tool answered."""
    return isinstance(kind, str) and (kind in _ANSWER_TYPES or kind.endswith("_tool_result"))


def tool_of_ui_part(item: JsonObject) -> str | None:
    """The tool that a part of a message of Vercel's UI calls, whose type names it; None for anything else.

    >>> tool_of_ui_part(
    ...     {"type": "tool-find_room", "toolCallId": "c1", "state": "input-available", "input": {}})
    'find_room'
    """
    kind = item.get("type")
    if not isinstance(kind, str) or not kind.startswith("tool-") or "toolCallId" not in item:
        return None
    named = kind in _NO_CALL_TYPES or find_name_key(item) is not None
    return None if named or ("state" not in item and "input" not in item) else kind[5:] or None


def calls_no_tool(data: JsonObject) -> bool:
    """Whether an object is a step without a tool: its tool is missing, empty, a flag such as "0", or says so.

    >>> calls_no_tool({"step": "1 ask", "tool": "0"}), calls_no_tool({"step": "1 ask", "tool": "ask"})
    (True, False)
    >>> calls_no_tool({"step": "1 ask", "tool": "null"}), calls_no_tool({"tool": "null"})
    (True, False)
    """
    if "step" not in data:
        return False
    if "tool" in data:
        return data["tool"] in ("", None) or _is_flag(data["tool"]) or _is_no_tool_text(data["tool"])
    return find_name_key(data) is None and data.keys().isdisjoint(_CALL_KEYS)


_CALL_KEYS = frozenset({*ARGUMENT_KEYS, *WRAPPER_KEYS, *CALL_LIST_KEYS, *CONTAINER_KEYS})
_FLAG = lazy_pattern(r"\s*+(?:\d{1,9}+|true|false|yes|no)\s*+", re.I)


_NO_TOOL_TEXT = lazy_pattern(
    r"\s*+(?:(?:null|none|n/?a|no[ _]tools?(?:[ _](?:is |are )?(?:required|needed|used))?)\.?"
    r"|(?:\u4e0d\u9700\u8981|\u65e0\u9700)\u5de5\u5177)\s*+",
    re.I,
)
"""What stands for a tool in steps that need none; UltraTool's, of both its languages, are among them."""


def _is_no_tool_text(tool: Any) -> bool:
    """Whether what stands for a tool's name says that there is none."""
    return isinstance(tool, str) and _NO_TOOL_TEXT.fullmatch(tool) is not None


def _is_flag(tool: Any) -> bool:
    """Whether what stands for a tool's name only says whether there is one: a number, yes or no."""
    return isinstance(tool, int) or (isinstance(tool, str) and _FLAG.fullmatch(tool) is not None)


class CallCandidates(NamedTuple):
    """What of some data may be calls, and notes on what is not."""

    data: Any
    notes: list[Diagnostic]


def find_call_candidates(data: Any) -> CallCandidates:
    """What of a list may be calls, without words between them and steps that name no tool.

    >>> find_call_candidates(["Let me see.", {"name": "f"}]).data
    [{'name': 'f'}]
    """
    if not isinstance(data, list) or not any(isinstance(item, dict) for item in data):
        lists_calls = isinstance(data, dict) and not _CALL_LIST_KEY_SET.isdisjoint(data)
        return CallCandidates(data, [*note_unlisted_calls(data)] if lists_calls else [])
    words = [item for item in data if isinstance(item, str) and not _CALL_START.search(item)]
    steps = [item for item in data if isinstance(item, dict) and "step" in item and calls_no_tool(item)]
    flags = [step["tool"] for step in steps if _is_flag(step.get("tool"))]
    bare = [step["step"] for step in steps if "tool" not in step or _is_no_tool_text(step["tool"])]
    notes = [
        Diagnostic("shape.ignored", f"{kind}, not read: {_format_first_values(ignored)}", "info")
        for kind, ignored in (("text between the calls of a list", words), ("steps without a tool", bare))
        if ignored
    ]
    if flags:
        message = f"a flag instead of a tool's name: {_format_first_values(flags)}"
        notes.append(Diagnostic("shape.flag", message))
    if not (words or bare or flags):
        return CallCandidates(data, [])
    passed = {id(item) for item in (*words, *steps)}
    return CallCandidates([item for item in data if id(item) not in passed], notes)


def holds_call(value: Any) -> bool:
    """Whether a value is a call, or a list that begins with one."""
    return is_call(value[0] if isinstance(value, list) and value else value)


def note_unlisted_calls(message: JsonObject) -> Iterator[Diagnostic]:
    """A note on calls that stand in a message, and neither in a list of its calls nor in its content."""
    filled = [message[key] for key in CALL_LIST_KEYS if message.get(key)]
    lists = [value for value in filled if isinstance(value, list)] or [[value] for value in filled]
    names = [_called_name(call) for calls in lists for call in calls]
    for key, value in message.items():
        unread = [] if key in CONTAINER_KEYS or value in lists else _calls_in(value)
        plain_calls = [call for call in unread if lists or has_arguments(call)]
        name = next((name for name in map(_called_name, plain_calls) if name not in names), None)
        if name is not None:
            text = f"under {key!r} of a message stands what {UNREAD_CALL}, not read: {name}"
            yield Diagnostic("find.text" if lists else "find.unread", text, "warning")


def _calls_in(value: Any) -> list[JsonObject]:
    """The calls of a value that is or begins with one, or lists them under a usual key."""
    if isinstance(value, dict) and not is_call(value):
        value = next((value[key] for key in CALL_LIST_KEYS if value.get(key)), None)
    items = value if isinstance(value, list) else [value]
    calls = [item for item in items if is_call(item) and not is_tool_definition(item)]
    return calls if holds_call(value) else []


def has_arguments(item: Any) -> bool:
    """Whether something is a call and more than a name, which many things have.

    >>> has_arguments({"name": "f", "arguments": {}}), has_arguments({"name": "f"}), has_arguments("f")
    (True, False, False)
    """
    return is_call(item) and not _unwrap_call(item).keys().isdisjoint(ARGUMENT_KEYS)


def name_and_arguments(call: JsonObject) -> tuple[str, Any]:
    """A call's name and its arguments as they are written: an object, or its text.

    >>> name_and_arguments({"type": "function", "function": {"name": "f", "arguments": "{}"}})
    ('f', '{}')
    """
    inner = _unwrap_call(call)
    key = find_name_key(inner)
    arguments = (inner[name] for name in ARGUMENT_KEYS if name in inner and name != key)
    return str(_called_name(call)), next(arguments, {})


def _called_name(item: Any) -> Any:
    inner = _unwrap_call(item) if isinstance(item, dict) else {}
    return inner.get(find_name_key(inner) or "")


def _unwrap_call(item: JsonObject) -> JsonObject:
    return next((item[key] for key in WRAPPER_KEYS if isinstance(item.get(key), dict)), item)


_CALL_START = lazy_pattern(r"(?m)^\s*+[\[(]?+[^\W\d][\w.]*+\(\s*+\w++\s*+=")
"""A line of a text that is a call: it is not passed over."""


def _format_first_values(values: list[Any]) -> str:
    return ", ".join(map(format_value, values[:3])) + (
        f" and {len(values) - 3:,} more" if len(values) > 3 else ""
    )


def _is_name_in(value: Any, names: frozenset[str]) -> bool:
    return isinstance(value, str) and value in names


def is_structure(value: Any) -> bool:
    """Whether a value is an object, or a list that holds one."""
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(v, dict) for v in value))


def _is_non_call(data: JsonObject) -> bool:
    """Whether an object of a conversation is something other than a call."""
    return (
        not data
        or "role" in data
        or "from" in data
        or {key for key, value in data.items() if value is not None} <= PART_KEYS
        or any(data.get(key) is not None for key in ("functionResponse", "function_response", "toolResult"))
        or any(key in data for key in ("finish_reason", "finishReason"))
        or any(data.get(key) == [] for key in CALL_LIST_KEYS)
        or ("action_input" in data and data.get("action") in _FINAL_ACTIONS)
    )


def join_messages(data: Any) -> Any:
    """The messages of a conversation whose turns are lists of them, as BFCL's; other data as it is.

    >>> join_messages([[{"role": "user", "content": "To Rome."}], [{"role": "user", "content": "By train."}]])
    [{'role': 'user', 'content': 'To Rome.'}, {'role': 'user', 'content': 'By train.'}]
    >>> join_messages(["To Rome."])
    ['To Rome.']
    """
    turns = data if isinstance(data, list) else ()
    joined = [message for turn in turns if isinstance(turn, list) for message in turn]
    is_conversation = all(isinstance(turn, list) for turn in turns) and all(
        isinstance(m, dict) for m in joined
    )
    return joined if joined and is_conversation else data


def format_value(value: Any) -> str:
    """A value as JSON, shortened for a message."""
    return shorten(_encode_json(value), 40)


_encode_json = json.JSONEncoder(ensure_ascii=False, default=str).encode


def is_call(item: Any) -> bool:
    """Whether an object has a name (or a wrapped call) and nothing that speaks against a call.

    >>> is_call({"name": "f", "arguments": {}}), is_call({"name": "Ann", "age": 3})
    (True, False)
    """
    if not isinstance(item, dict) or (not _user_forms and item.keys().isdisjoint(_CALL_MARKER_KEYS)):
        return False
    few = len(item) == 2 or (len(item) == 3 and "label" in item)
    if few and type(item.get("name")) is str and type(item.get("arguments")) is dict:
        return True  # as most are
    for key in WRAPPER_KEYS:  # loops, not generators: this is asked of every object of every file
        if key in item and isinstance(item[key], dict) and find_name_key(item[key]):
            return True
    name = find_name_key(item)
    for key in ARGUMENT_KEYS if name is not None else ():
        if key in item and key != name and type(item[key]) in _ARGUMENT_TYPES:
            return not is_tool_definition(item) and item.get("type") != "GENERATION"  # of Langfuse
    if _user_forms and any(fits(item) for fits in _user_forms.values()):
        return True
    if name is None:
        return "toolCallId" in item and tool_of_ui_part(item) is not None
    if name == "task":  # beside arguments a tool's name, alone what an agent was asked
        return False
    return (
        item.keys() <= {name, *CALL_METADATA_KEYS}
        and "content" not in item
        and item.get("type") != "function"
    )


_CALL_MARKER_KEYS = frozenset({*WRAPPER_KEYS, *NAME_KEYS, "action_input", "toolCallId"})
"""Keys of which all calls have one, but for those of a user's own form."""

_PLAIN_CALL_KEYS = frozenset({"name", "arguments", "label", "id"})
_OBJECT_TYPES = frozenset({dict, RepeatedKeyDict})
_ARGUMENT_TYPES = _OBJECT_TYPES.union((str, list, type(None)))


def is_plain_call(item: Any) -> bool:
    """Whether an object is a call and no more: a name, an object of arguments and perhaps a label.

    >>> (
    ...     is_plain_call({"name": "f", "arguments": {}, "label": "v1"}),
    ...     is_plain_call({"name": "f", "arguments": "{}"})
    ... )
    (True, False)
    """
    if type(item) is not dict or not _PLAIN_CALL_KEYS.issuperset(item):
        return False
    name = item.get("name")
    is_name = type(name) is str and name != "" and "(" not in name  # which may be a whole call
    return is_name and type(item.get("arguments")) in _OBJECT_TYPES


def plain_call_label(item: JsonObject) -> str | None:
    """The label of a call that :func:`is_plain_call`."""
    if len(item) > 2:
        for key in ("id", "label"):
            value = item.get(key)
            if type(value) is str:
                return value
            if type(value) is int:
                return str(value)
    return None


_user_forms: dict[str, Callable[[JsonObject], bool]] = {}


def add_call_form(name: str, fits: Callable[[JsonObject], bool]) -> None:
    """Let objects of another form be calls for the rest of this process: those of a user's own row."""
    _user_forms[name] = fits


def is_tool_definition(item: JsonObject) -> bool:
    """Whether an object describes a tool, and calls none.

    >>> is_tool_definition({"name": "f", "parameters": {"type": "object", "properties": {}}})
    True
    """
    wrapped = item.get("function")
    inner: JsonObject = wrapped if isinstance(wrapped, dict) else item
    for key in SCHEMA_KEYS:
        if key in inner:
            if isinstance(inner[key], dict) and isinstance(inner[key].get("properties"), dict):
                return True
            break
    return "description" in inner and not any(
        key in inner for key in ARGUMENT_KEYS if key not in ("parameters", "input")
    )


def is_keyed_call_list(data: Any) -> bool:
    """Whether data is a list of one-key objects, each a name and its arguments.

    >>> is_keyed_call_list([{"f": {"a": 1}}, {"g": '{"b": 2}'}]), is_keyed_call_list([{"f": 1}])
    (True, False)
    """
    if not isinstance(data, list) or not data or not all(map(may_be_keyed_call, data)):
        return False
    for item in data:
        (value,) = item.values()
        if isinstance(value, dict):
            if ("type" in value or "description" in value) and "properties" in value:
                return False
        elif not (isinstance(value, str) and value.lstrip()[:1] == "{"):
            return False
    return True


def may_be_keyed_call(item: Any) -> bool:
    """Whether an object has one key, which may be a tool's name."""
    return isinstance(item, dict) and len(item) == 1 and "" not in item and _RESERVED_KEYS.isdisjoint(item)


_RESERVED_KEYS = frozenset({
    "function", "function_call", "functionCall", "toolUse", "tool_calls", "calls", "error", "schema",
    "message", "messages", "response", "result", "arguments", "parameters", "functionResponse", "toolResult",
    "promptFeedback", "prompt_feedback", "modelOutput", "raw_item",
})  # fmt: skip


def find_name_key(item: JsonObject) -> str | None:
    """The key under which an object has its tool's name; None where it has none."""
    for key in NAME_KEYS:
        if key in item and isinstance(item[key], str):
            return key
    if "action_input" in item and isinstance(item.get("action"), str):  # the JSON form of ReAct
        return "action" if item["action"] not in _FINAL_ACTIONS else None
    return None
