"""What writers share: a plan's calls with references already as the target writes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from planner_eval.base.errors import WriteError
from planner_eval.base.quick import quick
from planner_eval.dialects.dialect import AFTER
from planner_eval.dialects.notations import Notation
from planner_eval.plan.model import Plan, Ref, Unresolved, Value, references
from planner_eval.plan.walk import fold


@quick
class WrittenCall:
    """A call whose argument values are plain data."""

    id: str
    name: str
    arguments: dict[str, Any]


class Written:
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
        refuse_rest(plan)
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
                f"the path {path_text} into the result of {name!r} cannot be said in this dialect"
            )
        return text


def refuse_rest(plan: Plan) -> None:
    """Refuse what no notation of the table can say: apps, a named answer, repeated arguments.

    Raises:
        WriteError: with the call and the argument.
    """
    if plan.answer is not None:
        raise WriteError(
            "the plan names what the user gets, which only the dialects 'plan' and 'nestful' can say"
        )
    for call in plan.calls:
        if call.app:
            raise WriteError(
                f"call {call.id}: the app {call.app!r} cannot be said apart from the tool's name"
            )
        names = [key for key, _ in call.arguments]
        if len(set(names)) != len(names):
            raise WriteError(f"call {call.id} ({call.name}) repeats an argument, which an object cannot say")


def refuse_references(plan: Plan, dialect: str) -> None:
    """Refuse a plan with references.

    Raises:
        WriteError: with the call and the argument.
    """
    for call in plan.calls:
        for argument, value in call.arguments:
            if next(references(value), None) is not None:
                what = f"argument {argument!r}" if argument != AFTER else "a dependency"
                raise WriteError(
                    f"call {call.id} ({call.name}): {what} is a reference, "
                    f"which the dialect {dialect!r} cannot say; use 'nestful' or 'plan'"
                )
