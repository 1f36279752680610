"""How texts refer to the results of calls, and a plan's calls with references as a notation writes them.

A notation turns texts inside argument values into references: a text that is nothing but a
reference becomes a RawRef, one with a reference inside becomes a RawTemplate. Which name a call
binds under each notation is said here too, so that a reader only has to choose the notation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from planner_eval.base.errors import WriteError
from planner_eval.base.frozen import fast_frozen, replace
from planner_eval.base.json_text import map_object_values
from planner_eval.base.text import lazy_pattern
from planner_eval.plan.model import (
    Path,
    Plan,
    RawCall,
    RawRef,
    RawTemplate,
    Ref,
    Unresolved,
    Value,
    fold,
    map_leaves,
    read_references_in,
    references,
)
from planner_eval.reading.dialects.dialect import DEPENDENCY_ARGUMENT


# ----------------------------------------------------------------------
# How texts refer to the results of calls: one row a notation, each a pattern, a reading and a writing.
@fast_frozen
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
        if match or self.whole:
            return RawRef(*self.read(match)) if match else text
        return read_references_in(text, self.pattern, lambda match: RawRef(*self.read(match)))

    def bind(self, call: RawCall, position: int) -> RawCall:
        """The call under the name by which this notation refers to it, and with its values read."""
        return replace(
            call,
            arguments=tuple((key, self.value(value)) for key, value in call.arguments),
            binds=(*call.binds, (self.name(position, call.label), ())),
        )


_POINTER_STEP = lazy_pattern(r"/([^/]*+)")


def _parse_pointer(text: str) -> Path:
    """A JSON pointer's way; RFC 6901.

    >>> _parse_pointer("/a~1b/0")
    ('a/b', 0)
    """
    steps = [step.replace("~1", "/").replace("~0", "~") for step in _POINTER_STEP.findall(text)]
    return tuple(int(s) if s.isdigit() and (s == "0" or s[0] != "0") and len(s) < 10 else s for s in steps)


def _pathless(
    pattern: str, form: str, name: Callable[[int, str | None], str], *, whole: bool = False
) -> Notation:
    """A notation of whole results: what finds one, how it is written, what a call is named."""
    return Notation(
        lazy_pattern(pattern),
        lambda match: (match[match.lastindex or 0], ()),
        name,
        lambda name, path: None if path else form.format(name),
        whole,
    )


def _format_uri(name: str, path: Path) -> str | None:
    pointer = "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
    is_readable = _parse_pointer(pointer) == path and re.fullmatch(r"[\w.\-]+", name)
    return f"result://{name}#{pointer}" if is_readable else None


NOTATIONS: dict[str, Notation] = {
    "dollar": _pathless(
        r"\$(?:\{(\d{1,6}+)\}|(\d{1,6}+)(?!\d|[.,]\d))", "${{{}}}", lambda i, label: label or str(i + 1)
    ),
    "hash": _pathless(r"#(E\d{1,6}+)(?!\d)", "#{}", lambda i, label: label or f"E{i + 1}"),
    "node": _pathless(r"<node-(\d{1,6}+)>", "<node-{}>", lambda i, label: str(i)),
    "generated": _pathless(
        r"<GENERATED>-(\d{1,6}+)(?!\d)", "<GENERATED>-{}", lambda i, label: label or str(i)
    ),
    "toolturn": _pathless(
        r"\{\{(tool\d{1,6}+turn\d{1,6}+)\}\}", "{{{{{}}}}}", lambda i, label: f"tool0turn{i}"
    ),
    "backtick": _pathless(r"\$`([\w.\-]{1,200}+)`", "$`{}`", lambda i, label: label or f"toolu_{i + 1}"),
    "uri": Notation(
        lazy_pattern(r"result://([\w.\-]{1,200}+)#?((?:/[^/\s\"']*+)*+)"),
        lambda m: (m[1], _parse_pointer(m[2])),
        lambda i, label: label or f"call_{i + 1}",
        _format_uri,
        whole=True,
    ),
    "api_call": _pathless(r"(API_call_\d{1,6}+)", "{}", lambda i, label: f"API_call_{i}", whole=True),
}
"""All notations of references inside texts, by name."""


def read_uri_references(value: Any) -> Value:
    """A value in which `{"$ref": "result://id#/pointer"}` objects become references, at any depth."""
    if isinstance(value, dict):
        if value.keys() == {"$ref"} and isinstance(value["$ref"], str):
            reference = NOTATIONS["uri"].text(value["$ref"])
            return reference if isinstance(reference, RawRef) else value
        return map_object_values(value, read_uri_references)
    if isinstance(value, list):
        return [read_uri_references(item) for item in value]
    return value


# ----------------------------------------------------------------------
# What writers share: a plan's calls with references already as the target writes them.
@fast_frozen
class WrittenCall:
    """A call whose argument values are plain data."""

    id: str
    name: str
    arguments: dict[str, Any]


class WrittenPlan:
    """The calls of a plan as plain data, for writers that fill a template.

    Args:
        plan: The plan.
        names: What each call's result is called, where the target has references.
        notation: How the target writes references.
        as_object: References are ``{"$ref": text}`` objects.

    Raises:
        WriteError: an app, a repeated argument, or a reference that the target cannot say.
    """

    def __init__(
        self,
        plan: Plan,
        names: Sequence[str] = (),
        notation: Notation | None = None,
        *,
        as_object: bool = False,
    ) -> None:
        self.names = names
        self.notation = notation
        self.as_object = as_object
        refuse_unwritable(plan)
        self.calls = [
            WrittenCall(call.id, call.name, {key: self.value(value) for key, value in call.arguments})
            for call in plan.calls
        ]

    def value(self, value: Value) -> Any:
        """A linked value as the target's plain data."""

        def leaf(value: Value) -> Any:
            if not isinstance(value, (Ref, Unresolved)):
                return value
            text = self.reference(value)
            return {"$ref": text} if self.as_object else text

        def text(pieces: tuple[Any, ...]) -> str:
            return "".join(piece if isinstance(piece, str) else self.reference(piece) for piece in pieces)

        return fold(value, leaf, text=text)

    def reference(self, ref: Ref | Unresolved) -> str:
        """A reference as the target's text."""
        if self.notation is None:
            raise WriteError("the target has no references")
        name = self.names[ref.call] if isinstance(ref, Ref) else ref.name
        text = self.notation.write(name, ref.path)
        if text is None:
            path_text = "".join(f"[{step!r}]" for step in ref.path)
            raise WriteError(
                f"the path {path_text} into the result of {name!r} cannot be expressed in this dialect"
            )
        return text


def separate_dependencies(plan: Plan, position: int, call: WrittenCall) -> tuple[dict[str, Any], list[int]]:
    """The arguments of a call but for the dependencies that it states, and the calls that it depends on."""
    arguments = {key: value for key, value in call.arguments.items() if key != DEPENDENCY_ARGUMENT}
    return arguments, sorted({edge.producer for edge in plan.edges if edge.consumer == position})


def refuse_unwritable(plan: Plan) -> None:
    """Refuse what no notation of the table can say: apps, a named answer, repeated arguments.

    Raises:
        WriteError: with the call and the argument.
    """
    if plan.answer is not None:
        raise WriteError(
            "the plan states a final answer, which only the dialects 'plan' and 'nestful' can express"
        )
    for call in plan.calls:
        if call.app:
            raise WriteError(f"call {call.id}: the app {call.app!r} cannot be separated from the tool's name")
        names = [key for key, _ in call.arguments]
        if len(set(names)) != len(names):
            raise WriteError(f"call {call.id} ({call.name}) repeats an argument, which an object cannot hold")


def refuse_references(plan: Plan, dialect: str) -> None:
    """Refuse a plan with references.

    Raises:
        WriteError: with the call and the argument.
    """
    for call in plan.calls:
        for argument, value in call.arguments:
            if next(references(value), None) is not None:
                what = f"argument {argument!r}" if argument != DEPENDENCY_ARGUMENT else "a dependency"
                raise WriteError(
                    f"call {call.id} ({call.name}): {what} is a reference, "
                    f"which the dialect {dialect!r} cannot express: use --to nestful or plan"
                )
