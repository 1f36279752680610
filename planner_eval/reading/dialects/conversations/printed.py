"""Answers as Python prints the objects of clients: ``ChatCompletionMessage(content=None, …)``."""

from __future__ import annotations

import ast
from collections.abc import Container
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.text import lazy_pattern
from planner_eval.plan.model import UNREAD_CALL, Diagnostic, RawPlan
from planner_eval.reading.dialects.conversations.answers import failure_state
from planner_eval.reading.dialects.detect import may_be_other_notation, may_hold_call
from planner_eval.reading.dialects.finding.edited_text import extent
from planner_eval.reading.dialects.finding.segments import CALL_LIKE
from planner_eval.reading.dialects.programs.syntax import parse_syntax

_CLASSES = (
    r"(?:Parsed)?ChatCompletion\w*+|(?:AI|Human|System|Tool|Function)Message(?:Chunk)?+"
    r"|(?:ToolUse|Text|Thinking)Block|Agent(?:Action|ChatResponse|Finish)\w*+"
    r"|Response(?:Output|Function|Reasoning)\w*+|AgentRunResult|CrewOutput"
    r"|GenerateContentResponse|FunctionExecutionResult|CallToolResult"
)
"""Classes of clients that are known by their names alone."""
_CLASS = lazy_pattern(_CLASSES)
_TOOL_RESULTS = ("ExecutionResult", "ToolResult")
"""How classes of what tools gave end, in AutoGen and MCP: no answers."""
_OPENED_OBJECT = lazy_pattern(rf"\s*+\[?({_CLASSES})\(")
_MESSAGE_FIELDS = frozenset({
    "tool_calls", "function_call", "additional_kwargs", "tool_call_id", "tool_kwargs", "finish_reason",
    "parallel_tool_calls", "next_tool_name", "final_output",
})  # fmt: skip
"""Fields that answers have, and tools' arguments have not: one tells an object of any client."""
_BEGINNING = lazy_pattern(
    r"FunctionCall\((?:id|args)=|ToolCall\((?:id='|function=Function\()|Content\(parts=Part\(|Message\((?:id|role)='"
    r"|Model(?:Request|Response)\((?:id='|parts=\w+Part\()|Prediction\(trajectory='thought_0'"
)
"""How objects begin whose classes tools may be named after, with the first item or key of their first field:
calls before one, or beside one that is assigned, say that it is a call."""
_JSON_CALL = lazy_pattern(r'"(?:arguments|args|parameters|tool_input)"\s*+:')
_PIECE_START = lazy_pattern(r"[\[{(]|(?<![\w.])[^\W\d][\w.]*+\(")
_SEARCHED_LENGTHS = 20
"""How many times the length of a text is looked at, for pieces in pieces that are no Python."""
_ENUM_MEMBER = lazy_pattern(r"<\w+\.\w+: ('[^'\n]*'|\d+)>")
_TRACEBACK = lazy_pattern(r"\s*+Traceback \(most recent call last\):")


def read_printed(text: str, tools: Container[str] = ()) -> Any:
    """The data of printed objects, alone, in lists, in fences or after words: each of its named arguments.

    Args:
        text: What Python prints; None is given for any other text.
        tools: Tools, which are no classes of a client.

    Raises:
        ParseError: something in them is no data, or calls stand beside them.
        AnswerError: it is the traceback of an error, which stands in an answer's place.

    >>> read_printed("[ToolUseBlock(id='t', input={'a': 1}, name='f', type='tool_use')]")["content"]
    [{'id': 't', 'input': {'a': 1}, 'name': 'f', 'type': 'tool_use'}]
    >>> read_printed("Message(to='Ann')"), read_printed("Message(role='', content='')", {"Message"})
    (None, None)
    """
    if _TRACEBACK.match(text):
        return _refuse_traceback(text)
    objects, remainder = _split(text, tools)
    opened = None if objects else _OPENED_OBJECT.match(text)
    is_tool = opened is not None and opened[1] in tools
    if not (objects or opened) or is_tool or may_be_other_notation(remainder):
        return None
    name = opened[1] if opened else _class_name(objects[0])
    has_calls = (CALL_LIKE.search(remainder) or _JSON_CALL.search(remainder)) is not None
    if not opened and _are_calls(objects, text, tools, beside_calls=has_calls):
        return None
    try:
        answers = [node for node in objects if not _class_name(node).endswith(_TOOL_RESULTS)]
        items = [item for node in answers for item in _items_of(_data_of(node))]
    except (ValueError, RecursionError):
        items = []
    if not items or has_calls:
        reason = f"found the printed form of an object of a client, {name}, that cannot be read"
        raise ParseError(f"{reason}: save its model_dump() as JSON", text=text, code="parse.shape")
    if all(isinstance(item, dict) and "function" in item for item in items):
        return {"role": "assistant", "tool_calls": items}
    if name.endswith("Block"):
        return {"role": "assistant", "content": items}
    return items[0] if len(items) == 1 else items


def note_printed(raw: RawPlan, tools: Container[str]) -> RawPlan:
    """The calls of a plan, with a note on those that are objects of clients between what else is called."""
    notes = [
        Diagnostic(
            "find.text",
            f"this may be an object of a client, which holds what {UNREAD_CALL}: {call.name!r}",
            "warning",
            number,
        )
        for number, call in enumerate(raw.calls)
        if call.name[:1].isupper()
        and call.name not in tools
        and not _MESSAGE_FIELDS.isdisjoint(dict(call.arguments))
    ]
    return raw._replace(notes=(*raw.notes, *notes)) if notes else raw


def _split(text: str, tools: Container[str]) -> tuple[list[ast.expr], str]:
    """The printed objects of a text, and what else stands in it."""
    objects: list[ast.expr] = []
    outside, position, budget = [], 0, _SEARCHED_LENGTHS * len(text)
    for match in _PIECE_START.finditer(text):
        if match.start() < position or budget < 0:
            continue
        end = extent(text, match.start()).end
        budget -= end - match.start()
        tree = parse_syntax(_ENUM_MEMBER.sub(r"\1", text[match.start() : end]))
        statement = tree.body[0] if isinstance(tree, ast.Module) and len(tree.body) == 1 else None
        if not isinstance(statement, ast.Expr):
            continue
        outside.append(text[position : match.start()])
        if not any(_is_printed(node, tools) for node in _contents(statement.value)):
            outside.append(text[match.start() : end])
        else:
            objects.append(statement.value)
        position = end
    return objects, "".join([*outside, text[position:]])


def _contents(node: ast.expr) -> list[ast.expr]:
    """What stands in lists and objects of data, and in theirs; anything else itself."""
    inside = getattr(node, "elts", None) or getattr(node, "values", None)
    return [leaf for item in inside for leaf in _contents(item)] if inside else [node]


def _are_calls(objects: list[ast.expr], text: str, tools: Container[str], *, beside_calls: bool) -> bool:
    """Whether objects are calls of tools that have a client's name, for calls stand beside them."""
    called = [leaf for node in objects for leaf in _contents(node) if isinstance(leaf, ast.Call)]
    if not beside_calls and all(_is_printed(call, tools) for call in called):
        return False
    is_first = text.lstrip("[ \n").startswith(f"{_class_name(called[0])}(") and _is_printed(called[0], tools)
    return not (is_first or any(_is_printed(call, tools, surely=True) for call in called))


def _is_printed(node: ast.expr, tools: Container[str], *, surely: bool = False) -> bool:
    """Whether an expression is an object of a client's class: by its name, its fields, or how it begins."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    if node.args or not node.keywords:
        return False
    name, first = node.func.id, node.keywords[0]
    if not name[:1].isupper() or name in tools:
        return False
    if _CLASS.fullmatch(name) or any(word.arg in _MESSAGE_FIELDS for word in node.keywords):
        return True
    items = getattr(first.value, "elts", None) or getattr(first.value, "keys", None) or [first.value]
    if not surely and _BEGINNING.match(f"{name}({first.arg}={ast.unparse(items[0] or node)}"):
        return True
    fields = [leaf for word in node.keywords for leaf in _contents(word.value)]
    return any(_is_printed(leaf, tools, surely=surely) for leaf in fields)


def _class_name(node: ast.expr) -> str:
    """The class of the first object in an expression."""
    called = [leaf.func for leaf in _contents(node) if isinstance(leaf, ast.Call)]
    return next(function.id for function in called if isinstance(function, ast.Name))


def _items_of(data: Any) -> list[Any]:
    """The objects in lists of them, without what LangGraph streams beside: modes, name spaces, metadata."""
    if isinstance(data, list):
        return [item for inner in data for item in _items_of(inner)]
    is_metadata = isinstance(data, dict) and any(str(key).startswith("langgraph_") for key in data)
    return [] if is_metadata or (isinstance(data, str) and not may_hold_call(data)) else [data]


def _refuse_traceback(text: str) -> None:
    """Refuse a traceback that is all of a text; a model may go on after one."""
    lines = text.strip().split("\n")
    last = max((number for number, line in enumerate(lines) if line[:1].isspace()), default=0)
    if "" not in lines[last:]:
        raise failure_state(" ".join(lines[last + 1 :])).error()


_TAGS = {
    "type": {"AI": "ai", "Human": "human", "System": "system", "Tool": "tool", "Function": "function"},
    "kind": {"ModelRequest": "request", "ModelResponse": "response"},
    "part_kind": {
        "ToolCallPart": "tool-call", "TextPart": "text", "ThinkingPart": "thinking",
        "ToolReturnPart": "tool-return", "RetryPromptPart": "retry-prompt", "UserPromptPart": "user-prompt",
        "SystemPromptPart": "system-prompt",
    },
    "role": {"Content": "model"},
}  # fmt: skip
"""Fields that say in JSON what an object is, and printed are left out: by classes of LangChain, Pydantic AI
and Gemini."""


def _data_of(node: ast.expr) -> Any:
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_data_of(item) for item in node.elts]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
        name = node.func.id
        fields = {keyword.arg: _data_of(keyword.value) for keyword in node.keywords}
        if isinstance(fields.get("trajectory"), dict):
            return fields["trajectory"]  # of DSPy, with the calls
        kind = name.removesuffix("Chunk").removesuffix("Message")
        return {key: kinds[kind] for key, kinds in _TAGS.items() if kind in kinds} | fields
    if isinstance(node, (ast.Call, ast.Name, ast.Attribute)):  # a time, a member of an enumeration
        return ast.unparse(node)
    if isinstance(node, ast.Dict):
        items = zip(node.keys, node.values, strict=True)
        return {ast.literal_eval(key or node): _data_of(value) for key, value in items}
    return ast.literal_eval(node)
