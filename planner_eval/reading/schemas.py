"""What the interchange JSON of plans and the rows of notations may say, for checking and for editors."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, RootModel
from typing_extensions import TypeAliasType

from planner_eval.base.schema_models import (
    Described,
    Items,
    OneOf,
    OneOrMoreTexts,
    Pair,
    describe_expected,
    optional_key,
)
from planner_eval.reading.dialects.dialect import SHAPES


# ----------------------------------------------------------------------
# What the interchange JSON of plans says, for editors; ``reading/dialects/notations/plan.py`` reads plans
# without it.
class Reference(Described):
    """What an earlier call gives."""

    mapping: ClassVar[str] = "an object"
    call: str | int = Field(alias="$ref", description="The call's id.")
    path: Items[str | int] = optional_key("Field names and positions that lead into its result.")


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

ArgumentPair = Annotated[tuple[str, Value], Field(strict=False), describe_expected("a name and a value")]


class CallEntry(Described):
    """One call of a tool."""

    mapping: ClassVar[str] = "an object"
    id: str | int = optional_key("The call's label in references (default: c1, c2, … by position).")
    app: str = optional_key("The app that the tool belongs to.")
    name: str = Field(min_length=1, description="The tool's name.")
    arguments: dict[str, Value] | Items[ArgumentPair] = optional_key(
        "The arguments; a list of pairs where a name repeats."
    )
    returns: Items[str] = optional_key("The names of the call's outputs.")
    result: Any = optional_key("The call's output when it was run.")


class PlanObject(Described):
    """A plan: calls, and what the user gets."""

    mapping: ClassVar[str] = "an object"
    format: Literal["planeval.plan/1"] = Field("planeval.plan/1", alias="schema")
    calls: Items[CallEntry] = Field(description="The calls, in written order.")
    answer: dict[str, Value] = optional_key("The answer for the user.")


class PlanFile(RootModel[PlanObject | Items[CallEntry]]):
    """A plan in the interchange JSON of planner_eval; a bare list of calls is one too."""


# ----------------------------------------------------------------------
# What a row of the table of notations may say, for checking users' own rows and for editors.
def _add_required_fields(schema: dict[str, Any]) -> None:
    """Say which fields a shape needs, each with something in it."""
    schema["allOf"] = [
        {
            "if": {"properties": {"shape": {"const": name}}, "required": ["shape"]},
            "then": {
                "required": list(shape.required),
                "properties": {field: {"not": {"enum": ["", []]}} for field in shape.required},
            },
        }
        for name, shape in SHAPES.items()
        if shape.required
    ]


class Row(Described):
    """One notation: a shape and what is particular to it."""

    model_config = ConfigDict(json_schema_extra=_add_required_fields)

    name: str = Field(min_length=1, description="The notation's name, as --from and --to accept it.")
    title: str = optional_key("A description in one line.")
    example: str = Field(min_length=1, description="A short plan in this notation.")
    shape: Annotated[str, OneOf(SHAPES)] = Field(
        description="The shape of the notation, which the other fields fill in."
    )
    rows: Items[int] = optional_key("The numbers of the notations that the row covers.")
    status: str = optional_key("V: seen in a server's or framework's source or tests; K: general knowledge.")
    note: str = optional_key("What was not checked.")
    references: str = optional_key("The notation of references inside texts.")
    typed: bool = optional_key(
        "False if values are written without types, which a tool catalog then supplies."
    )
    sign: str = optional_key("A regular expression that every text in this notation matches.")
    known: str = optional_key("The message about a text that matches 'sign'.")
    weak: bool = optional_key(
        "True if prose may match 'sign' too: a text that cannot be read is then no error."
    )
    rank: int = optional_key("Rows of a lower rank are tried first.")
    hints: Items[str] = optional_key(
        "Words, one of which occurs in every text of the notation: no other text is tried."
    )
    tool: str = optional_key("A tool name that occurs only in this notation.")
    line_start: bool = optional_key(
        "True if the opening tokens are ordinary words, which count only at the start of a line."
    )
    open: Items[str] = optional_key(
        "Tokens before a call or the list of calls; all are read, the first is written."
    )
    close: Items[str] = optional_key("Tokens after the call or the list of calls.")
    each: bool = optional_key("Whether the tokens enclose each call instead of the list of calls.")
    inner: str = optional_key("The shape inside the tokens.")
    list: bool = optional_key("Whether the calls between the tokens are a list.")
    separator: str = optional_key("The text between calls.")
    quote: str = optional_key("The quote around a text.")
    around: str = optional_key(
        'JSON around the calls, with "$calls"; "$each" writes the calls one after another.'
    )
    call: OneOrMoreTexts = optional_key(
        "A call as JSON with $name, $arguments, $text, $id; or an opening and a closing tag."
    )
    parameter: Items[str] = optional_key("A parameter's opening and closing tag.")
    head: Items[str] = optional_key("The text before a call's name.")
    middle: Items[str] = optional_key("The text between name and arguments.")
    tail: Items[str] = optional_key("The text after the arguments.")


# ----------------------------------------------------------------------
# What may stand beside a gold plan in its record, and a row of the table of frameworks.
class GoldRecord(Described):
    """A gold record: its plan is in a field such as gold or output; these fields say what else is right."""

    model_config = ConfigDict(extra="allow")
    mapping: ClassVar[str] = "an object"

    alternatives: Items[str | list[Any] | GoldRecord] = optional_key(
        "Other right plans, each a plan or a record like this one."
    )
    optional: Items[str] = optional_key("Calls that need not be made, by id.")
    before: Items[Annotated[Pair[str], describe_expected("2 call ids")]] = optional_key(
        "Pairs of calls: the first must be written before the second."
    )
    unordered: Items[Items[str]] = optional_key(
        "Groups of calls without order, where the policy asks for written order."
    )
    accepted: Annotated[dict[str, dict[str, Any]], describe_expected("call → argument → list of values")] = (
        optional_key("Other right values: by call and argument, a list of values.")
    )
    omittable: Annotated[dict[str, Items[str]], describe_expected("call → list of arguments")] = optional_key(
        "Arguments that may be left out: by call, a list of names."
    )


class FrameworkRow(Described):
    """Where the files of a framework keep answers and gold."""

    name: str = Field(min_length=1, description="The framework's name in messages.")
    sign: Annotated[Items[str], Field(min_length=1)] = Field(
        description="Paths that exist in every record, or in the file's object around the records."
    )
    title: str = optional_key("A description in one line.")
    source: str = optional_key("The source of the layout.")
    records: str = optional_key('The path from the file\'s object to its records, "[]" behind each list.')
    join: str = optional_key(
        'For records that lie apart from their task: "task = tasks[] by task_id = id".',
        pattern=r"^\S+ = \S+\[\] by \S+ = \S+$",
    )
    group: str = optional_key(
        "If every span is a record: the path to the value that spans of one trace share."
    )
    order: str = optional_key("The field that orders the spans of a trace.")
    only: str = optional_key(
        'The elements of the list of calls to use: "type = TOOL", or "requestor != user".',
        pattern=r"^\S+ !?= \S+$",
    )
    call: Items[str] = optional_key(
        "Paths to the name, the arguments and the output of an element that is a call."
    )
    id: Items[str] = optional_key('Paths to the parts of the id of a record, which are joined by "/".')
    question: Items[str] = optional_key("Paths to the question; the first that exists is used.")
    tools: str = optional_key("The path to the tools on offer.")
    answer: str = optional_key(
        'The path to the model\'s calls, or several with " or " between; "." is the record itself.'
    )
    gold: str = optional_key('The path to the gold plan, or several; "." is the record itself.')
    unread: str = optional_key("A key of gold's calls that says what else is right, and is not read.")
    verdict: str = optional_key("The path to the verdict that the run recorded.")
    ended: str = optional_key("The path to the error, or the reason to stop, with which the run ended.")


class WrappersFile(Described):
    """Notations and frameworks of one's own, a row each."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={"anyOf": [{"required": ["dialect"]}, {"required": ["framework"]}]},
    )

    dialect: Annotated[Items[Row], Field(min_length=1)] = optional_key("The notations.")
    framework: Annotated[Items[FrameworkRow], Field(min_length=1)] = optional_key("The frameworks.")
