"""Calls written in JavaScript, as BFCL's prompts ask for them: read, never run.

Values are texts as they stand there.

Source: package bfcl-eval 2026.3.23, ``model_handler/parser/js_parser.py``.
"""

from __future__ import annotations

from typing import Any

from planner_eval.benchmarks.bfcl.expressions import Node, add_argument, refuse_repeated
from planner_eval.benchmarks.bfcl.javascript_statements import JavaScriptParser


def read_javascript_call(text: str) -> Any:
    """The call that a text in JavaScript is, with its named arguments as texts; None where there is none.

    Raises:
        SyntaxError: the text is no JavaScript.
        Exception: an argument is given twice.

    >>> read_javascript_call("f(a='s', b=[1, 2], c=x => x)")
    [{'f': {'a': 's', 'b': '[1, 2]', 'c': 'x => x'}}]
    """
    node = next((node for node in JavaScriptParser(text).program() if node.kind == "call"), None)
    if node is None:
        return None
    arguments: dict[Any, Any] = {}
    call_arguments = node.children[1] if len(node.children) == 2 else Node("sign", node.start, node.start)
    for argument in call_arguments.children:
        if argument.kind == "assignment":
            name, value = argument.children[0], argument.children[2]
            written = text[value.start : value.end]
            quoted = any(written.startswith(quote) and written.endswith(quote) for quote in ('"', "'"))
            add_argument(arguments, text[name.start : name.end], written[1:-1] if quoted else written)
        elif argument.kind == "identifier" or text[argument.start : argument.end] == "true":
            add_argument(arguments, None, text[argument.start : argument.end])
    refuse_repeated(arguments)
    target = node.children[0]
    return [{text[target.start : target.end]: arguments}]
