"""How texts refer to the results of calls: one row a notation, each a pattern, a reading and a writing.

A notation turns texts inside argument values into references: a text that is nothing but a
reference becomes a RawRef, one with a reference inside becomes a RawTemplate. Which name a call
binds under each notation is said here too, so that a reader only has to choose the notation.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from planner_eval.base.jsontext import rebuilt
from planner_eval.base.later import later
from planner_eval.base.quick import quick
from planner_eval.plan.model import Path, RawCall, RawRef, RawTemplate, Value
from planner_eval.plan.walk import map_leaves


@quick
class Notation:
    """One way to write a reference inside a text.

    Args:
        pattern: Finds a reference; possessive throughout.
        read: The name and the path that a match means.
        name: The name of the call at a position, given its label.
        write: The text of a reference to a name with a path, or None where it cannot be said.
        whole: Only a text that is nothing but a reference is one.
    """

    pattern: re.Pattern[str]
    read: Callable[[re.Match[str]], tuple[str, Path]]
    name: Callable[[int, str | None], str]
    write: Callable[[str, Path], str | None]
    whole: bool = False

    def value(self, value: Value) -> Value:
        """A value with its reference texts turned into references, at any depth.

        >>> NOTATIONS["dollar"].value(["$1 * 2"])
        [RawTemplate(parts=(RawRef(name='1', path=()), ' * 2'))]
        """
        return map_leaves(lambda leaf: self.text(leaf) if isinstance(leaf, str) else leaf, value)

    def text(self, text: str) -> str | RawRef | RawTemplate:
        """One text as itself, a reference, or text around references."""
        match = self.pattern.fullmatch(text)
        if match:
            return RawRef(*self.read(match))
        if self.whole:
            return text
        pieces: list[str | RawRef] = []
        end = 0
        for match in self.pattern.finditer(text):
            if match.start() > end:
                pieces.append(text[end : match.start()])
            pieces.append(RawRef(*self.read(match)))
            end = match.end()
        if not pieces:
            return text
        return RawTemplate((*pieces, text[end:]) if end < len(text) else tuple(pieces))

    def bind(self, call: RawCall, position: int) -> RawCall:
        """The call under the name by which this notation refers to it, and with its values read."""
        return replace(
            call,
            arguments=tuple((key, self.value(value)) for key, value in call.arguments),
            binds=(*call.binds, (self.name(position, call.label), ())),
        )


_STEP = later(r"/([^/]*+)")


def _pointer(text: str) -> Path:
    """A JSON pointer's way; RFC 6901.

    >>> _pointer("/a~1b/0")
    ('a/b', 0)
    """
    steps = [step.replace("~1", "/").replace("~0", "~") for step in _STEP.findall(text)]
    return tuple(int(s) if s.isdigit() and (s == "0" or s[0] != "0") and len(s) < 10 else s for s in steps)


def _to_pointer(path: Path) -> str | None:
    text = "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
    return text if _pointer(text) == path else None


def _bare(form: str) -> Callable[[str, Path], str | None]:
    return lambda name, path: None if path else form.format(name)


def _uri(name: str, path: Path) -> str | None:
    pointer = _to_pointer(path)
    return None if pointer is None or not re.fullmatch(r"[\w.\-]+", name) else f"result://{name}#{pointer}"


NOTATIONS: dict[str, Notation] = {
    "dollar": Notation(
        later(r"\$(?:\{(\d{1,6}+)\}|(\d{1,6}+)(?![\d.,]\d))"),
        lambda m: (m[1] or m[2], ()),
        lambda position, label: label or str(position + 1),
        _bare("${{{}}}"),
    ),
    "hash": Notation(
        later(r"#(E\d{1,6}+)"),
        lambda m: (m[1], ()),
        lambda position, label: label or f"E{position + 1}",
        _bare("#{}"),
    ),
    "node": Notation(
        later(r"<node-(\d{1,6}+)>"),
        lambda m: (m[1], ()),
        lambda position, label: str(position),
        _bare("<node-{}>"),
    ),
    "generated": Notation(
        later(r"<GENERATED>-(\d{1,6}+)"),
        lambda m: (m[1], ()),
        lambda position, label: label or str(position),
        _bare("<GENERATED>-{}"),
    ),
    "toolturn": Notation(
        later(r"\{\{(tool\d{1,6}+turn\d{1,6}+)\}\}"),
        lambda m: (m[1], ()),
        lambda position, label: f"tool0turn{position}",
        _bare("{{{{{}}}}}"),
    ),
    "backtick": Notation(
        later(r"\$`([\w.\-]{1,200}+)`"),
        lambda m: (m[1], ()),
        lambda position, label: label or f"toolu_{position + 1}",
        _bare("$`{}`"),
    ),
    "uri": Notation(
        later(r"result://([\w.\-]{1,200}+)#?((?:/[^/\s\"']*+)*+)"),
        lambda m: (m[1], _pointer(m[2])),
        lambda position, label: label or f"call_{position + 1}",
        _uri,
        whole=True,
    ),
    "api_call": Notation(
        later(r"(API_call_\d{1,6}+)"),
        lambda m: (m[1], ()),
        lambda position, label: f"API_call_{position}",
        lambda name, path: None if path else name,
        whole=True,
    ),
}
"""All notations of references inside texts, by name."""


def uri_value(value: Any) -> Value:
    """A value in which `{"$ref": "result://id#/pointer"}` objects become references, at any depth."""
    if isinstance(value, dict):
        if value.keys() == {"$ref"} and isinstance(value["$ref"], str):
            reference = NOTATIONS["uri"].text(value["$ref"])
            return reference if isinstance(reference, RawRef) else value
        return rebuilt(value, uri_value)
    if isinstance(value, list):
        return [uri_value(item) for item in value]
    return value
