"""What a policy's file and a patch may say, for checking users' files and for editors."""

from __future__ import annotations

from datetime import date, time
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from planner_eval.base.schema_models import Described, Items, OneOf, OneOrMoreTexts, optional_key
from planner_eval.comparison.policy.policy import CALLS_COUNT, COUNTS, NAMES, ORDERS
from planner_eval.comparison.policy.values import COMPARE
from planner_eval.plan.model import leaves
from planner_eval.reading.schemas import ArgumentPair, CallEntry, Value


# ----------------------------------------------------------------------
# What a policy's file may say, for checking users' files and for editors.
def _refuse_dates(value: Any) -> Any:
    """A value as plans have them; a date of TOML's is none, and would equal nothing."""
    if any(isinstance(leaf, (date, time)) for _, leaf in leaves(value)):
        raise PydanticCustomError("expecting", "wrong", {"words": "text: dates and times in quotes"})
    return value


_Value = Annotated[Any, BeforeValidator(_refuse_dates)]
_Compare = Annotated[str, OneOf(COMPARE)]


class RuleEntry(Described):
    """How the values of some arguments compare; the last rule that fits an argument holds."""

    tool: str = optional_key("The tools that the rule is for: a name, or App.name; * and ? are wildcards.")
    argument: str = optional_key("The arguments that the rule is for, likewise.")
    compare: _Compare | Annotated[Items[_Compare], Field(min_length=1)] = optional_key(
        "The names of comparisons to apply, in any order."
    )
    tolerance: float = optional_key("Numbers may differ by this much.", ge=0, allow_inf_nan=False)
    relative: float = optional_key("Numbers may differ by this share of gold's.", ge=0, allow_inf_nan=False)
    accepted: Items[_Value] = optional_key("Other values that are right.")
    aliases: str | dict[str, str] = optional_key(
        "Other names of a value: alias and name, or the name of a built-in table."
    )
    default: _Value = optional_key("The default value of the argument.")
    pattern: str = optional_key("A regular expression that the prediction's text must match as a whole.")
    function: str = optional_key(
        "Your own function, module:name, called with the prediction's and gold's value."
    )


class ToolEntry(Described):
    """Whether calls of some tools count; the last entry that fits a tool holds."""

    name: OneOrMoreTexts = Field(
        description="The tools that the rule is for: names, or App.name; * and ? are wildcards.", min_length=1
    )
    counts: Annotated[str, OneOf(COUNTS)] = Field(description="When calls of these tools count.")


class PolicyFile(Described):
    """A comparison policy, as --policy takes it."""

    name: str = optional_key("The policy's name in reports.")
    extends: str = optional_key("A preset or a file whose rules come first.")
    order: Annotated[str, OneOf(ORDERS)] = optional_key("What the order of calls means.")
    names: Annotated[str, OneOf(NAMES)] = optional_key("How names of tools are compared.")
    answer: bool = optional_key("Whether the plan's answer is compared.")
    inline: bool = optional_key("Whether a call written as an argument's value is a call of its own.")
    repeats: bool = optional_key("Whether equal calls count as often as they are made.")
    stateful: Items[str] = optional_key("Tools whose repeated calls always count.")
    wildcards: Items[_Value] = optional_key("Values of gold that accept any value.")
    rule: Items[RuleEntry] = optional_key("The rules for values.")
    tool: Items[ToolEntry] = optional_key("Which calls count.")
    reads: Annotated[str, OneOf(CALLS_COUNT)] = optional_key(
        "Whether calls of tools that the catalog marks as read-only count."
    )
    failed: Annotated[str, OneOf(CALLS_COUNT)] = optional_key(
        "Whether calls whose recorded answer is an error count."
    )
    extra: Annotated[str, OneOf(CALLS_COUNT)] = optional_key("Whether calls that gold does not make count.")
    missing: Annotated[str, OneOf(CALLS_COUNT)] = optional_key(
        "Whether gold calls that the prediction does not make count."
    )
    catalog: str = optional_key(
        "A tool catalog: gives defaults, a tool's only output, and which tools exist."
    )
    note: str = optional_key("A note for readers of the file.")


class Fields(Described):
    """Which field of a record is what, as the options of the same names say it."""

    id: str = optional_key("The field of a record's id, or a path to it.", alias="id-field")
    text: str = optional_key("The field of a record's plan, or a path to it.", alias="text-field")
    gold_id: str = optional_key("The gold records' id field, if different.", alias="gold-id-field")
    gold_text: str = optional_key("The field of a gold record that holds its plan.", alias="gold-text-field")


class Dialects(Described):
    """The notations of plans, as the options of the same names say it."""

    plans: str = optional_key("The plans' notation.", alias="from")
    gold: str = optional_key("The gold plans' notation, if different.", alias="gold-from")
    wrappers: OneOrMoreTexts = optional_key("Files of notations of your own; from this file's folder.")


class SettingsFile(PolicyFile):
    """A project's settings: planeval.toml, or the table tool.planeval of pyproject.toml.

    Its own keys say how values compare, as in a policy's file; the tables stand in for options.
    """

    fields: Fields = optional_key("Which field of a record holds what.")
    dialects: Dialects = optional_key("The notations of plans.")
    metrics: OneOrMoreTexts = optional_key("The metrics or groups of metrics to compute: --metric.")
    thresholds: dict[str, float | dict[str, float]] = optional_key(
        "By metric, the number below which the exit code is 1: --fail-under."
    )


# ----------------------------------------------------------------------
# What a patch says, for checking users' files and for editors.
class _Operation(Described):
    mapping: ClassVar[str] = "an object"
    why: str = optional_key("The code of the edit that this operation undoes.")


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

    name: str = Field(description="The tool; empty if gold's call names none.")
    id: str


class Add(_Operation):
    """Make one call more."""

    op: Literal["add"]
    call: AddedCall
    after: str | None = Field(
        None, description="The call that the new call follows; null for the first position."
    )


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
    id: str | int = optional_key("The id of the record that the patch is for, in a file of many.")
    operations: Items[Operation] = Field(description="The operations, in this order.")
