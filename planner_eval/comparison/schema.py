"""What a patch says, for checking users' files and for editors."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from planner_eval.base.described import Described, Items, key
from planner_eval.dialects.plan_schema import ArgumentPair, CallEntry, Value


class _Operation(Described):
    mapping: ClassVar[str] = "an object"
    why: str = key("The code of the edit that it undoes.")


class _OfCall(_Operation):
    id: str = Field(description="The prediction's call.")


class SetArgument(_OfCall):
    """Give an argument a value."""

    op: Literal["set"]
    argument: str
    value: Value


class UnsetArgument(_OfCall):
    """Leave an argument out."""

    op: Literal["unset"]
    argument: str


class SetArguments(_OfCall):
    """Give a call all its arguments, in pairs, for a name may repeat."""

    op: Literal["arguments"]
    arguments: Items[ArgumentPair]


class Rename(_OfCall):
    """Call another tool."""

    op: Literal["rename"]
    name: str
    app: str | None = None


class Remove(_OfCall):
    """Leave a call out."""

    op: Literal["remove"]


class AddedCall(CallEntry):
    """A new call, which has to have an id."""

    name: str = Field(description="The tool; empty where gold's call names none.")
    id: str


class Add(_Operation):
    """Make one call more."""

    op: Literal["add"]
    call: AddedCall
    after: str | None = Field(None, description="The call that it follows; null for the first place.")


class Answer(_Operation):
    """Give the user something else; null for no answer."""

    op: Literal["answer"]
    value: dict[str, Value] | None


class Order(_Operation):
    """Write the calls in another order."""

    op: Literal["order"]
    ids: Items[str]


Operation = Annotated[
    SetArgument | UnsetArgument | SetArguments | Rename | Remove | Add | Answer | Order,
    Field(discriminator="op"),
]


class PatchFile(Described):
    """A patch as planeval diff --patch makes it: operations that turn a prediction into the gold plan."""

    mapping: ClassVar[str] = "an object"
    format: Literal["planeval.patch/1"] = Field(alias="schema")
    id: str | int = key("The record that it is for, in a file of many.")
    operations: Items[Operation] = Field(description="What is done, in this order.")
