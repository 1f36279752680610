"""What may stand beside a gold plan in its record, and a row of the table of frameworks."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict, Field

from planner_eval.base.schema_models import Described, Items, Pair, describe_expected, optional_key
from planner_eval.reading.dialects.schemas import Row


class GoldRecord(Described):
    """A gold record: its plan is in a field such as gold or output; these fields say what else is right."""

    model_config = ConfigDict(extra="allow")
    mapping: ClassVar[str] = "an object"

    alternatives: Items[str | list[Any] | GoldRecord] = optional_key(
        "Other plans that are as right, each a plan or a record like this."
    )
    optional: Items[str] = optional_key("Calls that need not be made, by id.")
    before: Items[Annotated[Pair[str], describe_expected("2 call ids")]] = optional_key(
        "Pairs of calls: the first must be written before the second."
    )
    unordered: Items[Items[str]] = optional_key(
        "Groups of calls without order, where the policy asks for written order."
    )
    accepted: Annotated[dict[str, dict[str, Any]], describe_expected("call → argument → list of values")] = (
        optional_key("Values that are right besides gold's own: call, argument, a list of values.")
    )
    omittable: Annotated[dict[str, Items[str]], describe_expected("call → list of arguments")] = optional_key(
        "Arguments that need not be given: call, a list of their names."
    )


class FrameworkRow(Described):
    """Where the files of a framework keep answers and gold."""

    name: str = Field(min_length=1, description="What messages call it.")
    sign: Annotated[Items[str], Field(min_length=1)] = Field(
        description="Ways that lead somewhere in every record, or in the file's object around the records."
    )
    title: str = optional_key("One line for a person.")
    source: str = optional_key("Where the layout was looked up.")
    records: str = optional_key('The way from the file\'s object to its records, "[]" behind each list.')
    join: str = optional_key(
        'For records that lie apart from their task: "task = tasks[] by task_id = id".',
        pattern=r"^\S+ = \S+\[\] by \S+ = \S+$",
    )
    group: str = optional_key("Where every span is a record: the way to what spans of one trace share.")
    order: str = optional_key("The field by which the spans of a trace are put in order.")
    only: str = optional_key(
        'Of a list of calls the elements with a value, "type = TOOL", or without: "requestor != user".',
        pattern=r"^\S+ !?= \S+$",
    )
    call: Items[str] = optional_key(
        "Ways to the name, the arguments and the output of an element that is a call."
    )
    id: Items[str] = optional_key('Ways to what names a record, joined by "/".')
    question: Items[str] = optional_key("Ways to what was asked; the first that leads to something is taken.")
    tools: str = optional_key("The way to the tools on offer.")
    answer: str = optional_key(
        'The way to the model\'s calls, or several with " or " between; "." is the record itself.'
    )
    gold: str = optional_key('The way to the gold plan, or several; "." is the record itself.')


class WrappersFile(Described):
    """Notations and frameworks of one's own, a row each."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={"anyOf": [{"required": ["dialect"]}, {"required": ["framework"]}]},
    )

    dialect: Annotated[Items[Row], Field(min_length=1)] = optional_key("The notations.")
    framework: Annotated[Items[FrameworkRow], Field(min_length=1)] = optional_key("The frameworks.")
