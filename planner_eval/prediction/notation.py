"""The example that shows a notation to a model: it calls no tool that is on offer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain, count

from planner_eval.dialects import get
from planner_eval.dialects.read import parse

_OTHERS = ("brew_tea", "fold_map", "ring_bell", "sort_stamps")
"""Names that take the place of those that are on offer."""


def shown(dialect: str, offered: Iterable[str]) -> str:
    """A dialect's example, in which tools on offer have other names.

    Args:
        dialect: The dialect's name.
        offered: The names of the tools on offer.

    >>> print(shown("json", ["roll", "brew_tea"]))
    [{"name": "get_weather", "arguments": {"city": "Rome"}}, {"name": "fold_map", "arguments": {"sides": 6}}]
    """
    text, offered_names = get(dialect).example, set(offered)
    calls = parse(text, dialect=dialect).calls
    own = {call.name for call in calls}
    clashing = dict.fromkeys(
        call.name for call in calls if not offered_names.isdisjoint((call.name, call.tool))
    )
    spare_names = chain(_OTHERS, (f"tool_{number}" for number in count(1)))
    free = (name for name in spare_names if name not in offered_names and name not in own)
    instead = dict(zip(clashing, free, strict=False))
    if not instead:
        return text
    names = "|".join(map(re.escape, instead))
    start = r"(?:(?<!\w)|(?<=\\n))"  # code within JSON has its line ends as \n
    return re.sub(rf"{start}(?:{names})(?!\w)", lambda match: instead[match[0]], text)
