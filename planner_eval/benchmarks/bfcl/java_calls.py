"""Calls written in Java, as BFCL's prompts ask for them: read, never run.

The text of each value is as the published code joins it: without blanks but inside of calls.

Source: package bfcl-eval 2026.3.23, ``model_handler/parser/java_parser.py``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from planner_eval.benchmarks.bfcl.expressions import Node, add_argument, refuse_repeated
from planner_eval.benchmarks.bfcl.java_statements import JavaParser


def _first_call(nodes: Iterable[Node]) -> Node | None:
    """The first call in some parts, the outer one before those in it."""
    for node in nodes:
        call = node if node.kind == "call" else _first_call(node.children)
        if call is not None:
            return call
    return None


def read_java_call(text: str) -> Any:
    """The call that a text in Java is, with its named arguments as texts; an empty object without one.

    Raises:
        SyntaxError: the text is no Java.
        Exception: an argument is given twice.

    >>> read_java_call('a.B.f(x="s", y=new int[]{1, 2}, z=5L)')
    [{'a.B.f': {'x': 's', 'y': 'new int[]{1,2}', 'z': '5L'}}]
    """
    node = _first_call(JavaParser(text).program())
    if node is None:
        return {}
    source = _JavaText(text, _byte_positions(text))
    arguments: dict[Any, Any] = {}
    for argument in node.children[-1].children:
        if argument.kind == "assignment":
            name, value = argument.children[0], argument.children[2]
            add_argument(arguments, source.slice(name.start, name.end), source.write(value, nested=False))
        elif argument.kind in ("identifier", "class_literal"):
            add_argument(arguments, None, source.write(argument, nested=False))
    refuse_repeated(arguments)
    return [{source.target(node.children[0]): arguments}]


def _byte_positions(text: str) -> list[int] | None:
    """Of each character the byte that it begins at; None where that is its own position."""
    if text.isascii():
        return None
    positions = [0]
    for sign in text:
        positions.append(positions[-1] + len(sign.encode("utf-8", "surrogatepass")))
    return positions


class _JavaText:
    """Writes parts of an expression as the published code joins their texts.

    It takes positions in bytes for positions in the text, so that behind a letter of several bytes all is
    shifted.
    """

    def __init__(self, text: str, positions: list[int] | None) -> None:
        self.text, self.positions = text, positions

    def slice(self, start: int, end: int) -> str:
        if self.positions is None:
            return self.text[start:end]
        return self.text[self.positions[start] : self.positions[end]]

    def target(self, node: Node) -> str:
        """What is called: a method, of an object or a class."""
        if node.kind != "member":
            return self.slice(node.start, node.end)
        holder, name = node.children[0], node.children[-1]
        return f"{self.slice(holder.start, holder.end)}.{self.slice(name.start, name.end)}"

    def write(self, node: Node, *, nested: bool) -> str:
        """A part's text; of literals without quotes where it is not nested."""
        text = self.slice(node.start, node.end)
        if node.kind in ("string", "character"):
            return text if nested else text[1:-1]
        if node.kind in ("identifier", "class_literal", "type_name", "call") or not node.children:
            if node.kind == "array_creation":
                raise AttributeError("'NoneType' object has no attribute 'type'")
            return text
        if node.kind == "array_creation":
            if len(node.children) == 1:
                raise AttributeError("'NoneType' object has no attribute 'type'")
            name, value = (self.write(child, nested=True) for child in node.children)
            return f"new {name}[]{value}"
        if node.kind == "object_creation" and node.children[-1].kind == "arguments":
            name = self.write(node.children[0], nested=True)
            values = [self.write(p, nested=True) for p in node.children[1].children if p.kind != "sign"]
            return f"new {name}({', '.join(values)})"
        return "".join(self.write(child, nested=True) for child in node.children)
