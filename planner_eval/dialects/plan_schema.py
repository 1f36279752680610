"""What the interchange JSON of plans says, for editors; ``dialects/plan.py`` reads plans without it."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, RootModel
from typing_extensions import TypeAliasType

from planner_eval.base.described import Described, Items, expecting, key


class Reference(Described):
    """What an earlier call gives."""

    mapping: ClassVar[str] = "an object"
    call: str | int = Field(alias="$ref", description="The call's id.")
    path: Items[str | int] = key("Field names and positions that lead into its result.")


class Template(Described):
    """Text around references."""

    mapping: ClassVar[str] = "an object"
    parts: Items[str | Reference] = Field(alias="$template", description="Texts and references, in order.")


_MARKED = [
    {"required": ["$ref"], "properties": {"$ref": True, "path": True}, "additionalProperties": False},
    {"required": ["$template"], "properties": {"$template": {"type": "array"}}, "maxProperties": 1},
]
"""Objects that mean something of their own, and are no literal."""

Value = TypeAliasType(
    "Value",
    "Reference | Template | Annotated[dict[str, Value], Field(json_schema_extra={'not': {'anyOf': _MARKED}})]"
    " | Items[Value] | str | int | float | bool | None",
)
"""A value of an argument; ``{"$literal": {…}}`` holds an object that has a key such as $ref."""

ArgumentPair = Annotated[tuple[str, Value], Field(strict=False), expecting("a name and a value")]


class CallEntry(Described):
    """One call of a tool."""

    mapping: ClassVar[str] = "an object"
    id: str | int = key("What references call it; c1, c2, … by position where it is left out.")
    app: str = key("The app that offers the tool.")
    name: str = Field(min_length=1, description="The tool.")
    arguments: dict[str, Value] | Items[ArgumentPair] = key(
        "The arguments; a list of pairs where a name repeats."
    )
    returns: Items[str] = key("Names of what it gives.")
    result: Any = key("What it gave when it was run.")


class PlanObject(Described):
    """A plan: calls, and what the user gets."""

    mapping: ClassVar[str] = "an object"
    format: Literal["planeval.plan/1"] = Field("planeval.plan/1", alias="schema")
    calls: Items[CallEntry] = Field(description="The calls, in written order.")
    answer: dict[str, Value] = key("What the user gets.")


class PlanFile(RootModel[PlanObject | Items[CallEntry]]):
    """A plan in the interchange JSON of planner_eval; a bare list of calls is one too."""
