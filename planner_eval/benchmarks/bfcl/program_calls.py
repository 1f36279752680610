"""Calls written in Java or JavaScript, as BFCL's prompts ask for them: parsed as published, never run.

Texts of values are as the published code joins them.

Source: package bfcl-eval 2026.3.23, ``model_handler/parser/java_parser.py``, ``js_parser.py``.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import tree_sitter_java
import tree_sitter_javascript
from tree_sitter import Language, Node, Parser

MAX_BYTES = 4 * 2**10
"""Longer texts are refused: going on behind errors takes memory by their number squared."""
_GRAMMARS = {"java": tree_sitter_java.language, "js": tree_sitter_javascript.language}
_REPEATED = "Error: Multiple arguments with the same name are not supported."


def read_java_call(text: str) -> Any:
    """The call that a text in Java is, with its named arguments as texts; an empty object without one.

    Raises:
        SyntaxError: the text is no Java.
        ValueError: it is too long.
        Exception: an argument is given twice.

    >>> read_java_call('a.B.f(x="s", y=new int[]{1, 2}, z=5L)')
    [{'a.B.f': {'x': 's', 'y': 'new int[]{1,2}', 'z': '5L'}}]
    """
    call = _first_call(_parse(text, "java", "Error parsing java the source code."))
    if call is None:
        return {}
    source = _JavaText(text)
    arguments: list[tuple[str | None, str]] = []
    for node in call.child_by_field_name("arguments").children:
        if node.type == "assignment_expression":
            name, _, value = node.children[:3]
            arguments.append((source.slice(name), source.write(value, nested=False)))
        elif node.type in ("identifier", "class_literal"):
            arguments.append((None, source.slice(node)))
    target = [call.child_by_field_name(field) for field in ("object", "name")]
    return [{".".join(source.slice(node) for node in target if node): _refuse_repeated(arguments)}]


def read_javascript_call(text: str) -> Any:
    """The call that a text in JavaScript is, with its named arguments as texts; None where there is none.

    Raises:
        SyntaxError: the text is no JavaScript.
        ValueError: it is too long.
        Exception: an argument is given twice.

    >>> read_javascript_call("f(a='s', b=[1, 2], c=x => x)")
    [{'f': {'a': 's', 'b': '[1, 2]', 'c': 'x => x'}}]
    """
    program = _parse(text, "js", "Error js parsing the source code.")
    statements = [node for node in program.children if node.type == "expression_statement"]
    calls = (
        node for statement in statements for node in statement.children if node.type == "call_expression"
    )
    call = next(calls, None)
    if call is None:
        return None
    arguments: list[tuple[str | None, str]] = []
    for node in call.children[1].children:
        if node.type == "assignment_expression":
            name, value = _text(node.children[0]), _text(node.children[2])
            quoted = any(value.startswith(quote) and value.endswith(quote) for quote in ('"', "'"))
            arguments.append((name, value[1:-1] if quoted else value))
        elif node.type in ("identifier", "true"):
            arguments.append((None, _text(node)))
    return [{_text(call.children[0]): _refuse_repeated(arguments)}]


@cache
def _parser(language: str) -> Any:
    grammar = _GRAMMARS[language]()
    try:
        return Parser(Language(grammar))
    except TypeError:  # of tree-sitter 0.21, which bfcl-eval asks for
        parser: Any = Parser()
        parser.set_language(Language(grammar, language))  # type: ignore[call-overload]
        return parser


def _parse(text: str, language: str, problem: str) -> Node:
    """The root of a text's tree, where absent tokens may have been put; SyntaxError of other errors."""
    source = text.encode()
    if len(source) > MAX_BYTES:
        raise ValueError(f"the text has {len(source):,} bytes, more than the limit of {MAX_BYTES:,}")
    root: Node = _parser(language).parse(source).root_node
    broken = [root] if root.has_error else []
    while broken:
        node = broken.pop()
        if node.type == "ERROR":
            raise SyntaxError(problem)
        broken += [child for child in node.children if child.has_error]
    return root


def _first_call(root: Node) -> Any:
    """The first call in Java's tree, the outer one before those in it."""
    nodes = [root]
    while nodes:
        node = nodes.pop()
        if node.type == "method_invocation":
            return node
        nodes += reversed(node.children)
    return None


def _text(node: Node) -> str:
    return (node.text or b"").decode()


def _refuse_repeated(arguments: Iterable[tuple[str | None, str]]) -> dict[str | None, str]:
    """The arguments by name; an exception, as published, where two have one."""
    named: dict[str | None, str] = {}
    for name, value in arguments:
        if name in named:
            raise Exception(_REPEATED)
        named[name] = value
    return named


class _JavaText:
    """Writes nodes as the published code joins their texts.

    It takes positions in bytes for positions in the text, so that behind a letter of several bytes all is
    shifted.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def slice(self, node: Node) -> str:
        return self.text[node.start_byte : node.end_byte]

    def write(self, node: Any, *, nested: bool) -> str:
        """A node's text; of literals without quotes where it is not nested."""
        if node.type in ("string_literal", "character_literal"):
            return self.slice(node) if nested else self.slice(node)[1:-1]
        if node.type in ("identifier", "class_literal", "type_identifier", "method_invocation"):
            return self.slice(node)
        if node.type == "array_creation_expression":
            kind, value = (self.write(node.child_by_field_name(f), nested=True) for f in ("type", "value"))
            return f"new {kind}[]{value}"
        if node.type == "object_creation_expression":
            kind = self.write(node.child_by_field_name("type"), nested=True)
            values = [
                child for child in node.child_by_field_name("arguments").children if child.type not in ",()"
            ]
            return f"new {kind}({', '.join(self.write(value, nested=True) for value in values)})"
        children = [self.write(child, nested=True) for child in node.children]
        return "".join(children) if children else self.slice(node)
