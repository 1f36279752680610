"""What may stand beside a gold plan in its record, for checking users' files and for editors."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict

from planner_eval.base.described import Described, Items, Pair, expecting, key


class GoldRecord(Described):
    """A gold record: its plan is in a field such as gold or output; these fields say what else is right."""

    model_config = ConfigDict(extra="allow")
    mapping: ClassVar[str] = "an object"

    alternatives: Items[str | list[Any] | GoldRecord] = key(
        "Other plans that are as right, each a plan or a record like this."
    )
    optional: Items[str] = key("Calls that need not be made, by id.")
    before: Items[Annotated[Pair[str], expecting("2 call ids")]] = key(
        "Pairs of calls: the first must be written before the second."
    )
    unordered: Items[Items[str]] = key(
        "Groups of calls without order, where the policy asks for written order."
    )
    accepted: Annotated[dict[str, dict[str, Any]], expecting("call → argument → list of values")] = key(
        "Values that are right besides gold's own: call, argument, a list of values."
    )
    omittable: Annotated[dict[str, Items[str]], expecting("call → list of arguments")] = key(
        "Arguments that need not be given: call, a list of their names."
    )
