"""Answers as Python prints the objects of clients: ``ChatCompletionMessage(content=None, …)``."""

from __future__ import annotations

import ast
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.text import lazy_pattern
from planner_eval.reading.dialects.conversations.answers import failure_state
from planner_eval.reading.dialects.programs.syntax import parse_syntax

_PRINTED_OBJECT = lazy_pattern(
    r"\s*+\[?((?:Parsed)?ChatCompletion\w*+|(?:AI|Human|System|Tool|Function)Message(?:Chunk)?+"
    r"|(?:ToolUse|Text|Thinking)Block|AgentAction\w*+|ResponseFunctionToolCall|GenerateContentResponse"
    r"|FunctionCall(?=\((?:id|args)=)|ToolCall(?=\((?:id|function)=)|Content(?=\(parts=)"
    r"|(?:Message|ModelResponse)(?=\((?:id|role)=')|Response(?=\(id='resp)"
    r"|Traceback(?= \(most recent call last\):))[( ]"
)
"""How a text begins that is an object of a client as Python prints it, or an error's traceback."""
_REQUESTS = lazy_pattern(r"(?m)^-++ \w++(?: \([^()\n]*+\))?+ -++\n(\[FunctionCall\(id=.*\])$")
"""The lists of calls in what AutoGen's console prints, under the event's name or the speaker's."""
_ENUM_MEMBER = lazy_pattern(r"<\w+\.\w+: ('[^'\n]*'|\d+)>")


def read_printed(text: str) -> Any:
    """The data of a printed object, or of a list of them: each an object of its named arguments.

    Args:
        text: What Python prints; None is given for any other text.

    Raises:
        ParseError: something in it is no data.
        AnswerError: it is the traceback of an error, which stands in an answer's place.

    >>> read_printed("[ToolUseBlock(id='t', input={'a': 1}, name='f', type='tool_use')]")["content"]
    [{'id': 't', 'input': {'a': 1}, 'name': 'f', 'type': 'tool_use'}]
    >>> read_printed("Message(to='Ann')")
    """
    match = _PRINTED_OBJECT.match(text)
    if match is None:
        requests = _REQUESTS.findall(text) if "-\n[FunctionCall(id=" in text else []
        calls = [call for request in requests for call in read_printed(request)]
        return {"role": "assistant", "tool_calls": calls} if calls else None
    name = match[1]
    if name == "Traceback":
        return _refuse_traceback(text)
    tree = parse_syntax(_ENUM_MEMBER.sub(r"\1", text.strip()))
    statement = tree.body[0] if isinstance(tree, ast.Module) and len(tree.body) == 1 else None
    try:
        data = _data_of(statement.value) if isinstance(statement, ast.Expr) else None
    except (ValueError, RecursionError):
        data = None
    if data is None:
        reason = f"found the printed form of an object of a client, {name}, that cannot be read"
        raise ParseError(f"{reason}: save its model_dump() as JSON", text=text, code="parse.shape")
    items = data if isinstance(data, list) else [data]
    if all("function" in item for item in items):
        return {"role": "assistant", "tool_calls": items}
    return {"role": "assistant", "content": items} if name.endswith("Block") else data


def _refuse_traceback(text: str) -> None:
    """Refuse a traceback that is all of a text; a model may go on after one."""
    lines = text.strip().split("\n")
    last = max((number for number, line in enumerate(lines) if line[:1].isspace()), default=0)
    if "" not in lines[last:]:
        raise failure_state(" ".join(lines[last + 1 :])).error()


_SPEAKERS = {"AI": "ai", "Human": "human", "System": "system", "Tool": "tool", "Function": "function"}
"""Who speaks in a message of LangChain's, by its class."""


def _data_of(node: ast.expr) -> Any:
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_data_of(item) for item in node.elts]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
        fields = {keyword.arg: _data_of(keyword.value) for keyword in node.keywords}
        speaker = _SPEAKERS.get(node.func.id.removesuffix("Chunk").removesuffix("Message"))
        return fields if speaker is None else {"type": speaker, **fields}
    if isinstance(node, ast.Call):  # a time
        return ast.unparse(node)
    if isinstance(node, ast.Dict):
        items = zip(node.keys, node.values, strict=True)
        return {ast.literal_eval(key or node): _data_of(value) for key, value in items}
    return ast.literal_eval(node)
