"""Names of tools: which are one name spelled in two ways, and which are like one another."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from functools import lru_cache

from planner_eval.base.named_tuple import NamedTuple


class Tool(NamedTuple):
    """App and name of a call."""

    app: str | None
    name: str


_MARKS = str.maketrans("", "", "._-")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BREAK = re.compile(r"[\W_]+")
PLURAL = 4
"""Letters from which on a last s of a word is taken for a plural's."""


def spelled(tool: Tool) -> str:
    """A tool's name without what spellings differ in: ``.``, ``_``, ``-`` and case.

    >>> spelled(Tool("math", "hypot")) == spelled(Tool(None, "Math_hypot"))
    True
    """
    return f"{tool.app or ''}{tool.name}".translate(_MARKS).casefold()


def respelled(
    pred_tools: Iterable[Tool], gold_tools: Iterable[Tool], declared: Container[str] = ()
) -> dict[Tool, Tool]:
    """Tools of a prediction that gold spells otherwise → gold's.

    A tool that gold calls too is that tool, and where gold calls two that are spelled alike neither is meant.

    Args:
        pred_tools: The tools that the prediction calls.
        gold_tools: The tools that gold calls.
        declared: Tools that there are, by their name or as ``App.name``: these are themselves.

    >>> respelled([Tool(None, "math_hypot")], [Tool(None, "math.hypot"), Tool(None, "sqrt")])
    {Tool(app=None, name='math_hypot'): Tool(app=None, name='math.hypot')}
    """
    gold_set, pred_set = {*gold_tools}, {*pred_tools}
    if pred_set <= gold_set:
        return {}
    tool_by_spelling: dict[str, Tool | None] = {}
    for tool in gold_set:
        key = spelled(tool)
        tool_by_spelling[key] = None if key in tool_by_spelling else tool
    respellings = {}
    for tool in pred_set - gold_set:
        gold_tool = tool_by_spelling.get(spelled(tool))
        if gold_tool is not None and tool.name not in declared and f"{tool.app}.{tool.name}" not in declared:
            respellings[tool] = gold_tool
    return respellings


@lru_cache(maxsize=4096)
def words(name: str) -> frozenset[str]:
    """The words of a tool's name, in the singular.

    >>> sorted(words("searchHotels_v2"))
    ['hotel', 'search', 'v2']
    """
    segments = _BREAK.split(_HUMP.sub(" ", name[:200]).casefold())
    plural = (
        len(segment) >= PLURAL and segment.endswith("s") and not segment.endswith("ss")
        for segment in segments
    )
    return frozenset(
        segment[:-1] if cut else segment for segment, cut in zip(segments, plural, strict=True) if segment
    )


def like(first: str, second: str) -> bool:
    """Whether two names are alike: the words of the one are words of the other, half of these or more.

    >>> like("search_hotels", "hotel_search"), like("get_weather", "get_current_weather")
    (True, True)
    >>> like("get_user_details", "get_order_details"), like("get_user_details", "get")
    (False, False)
    """
    fewer, more = sorted((words(first), words(second)), key=len)
    return bool(fewer) and fewer <= more and 2 * len(fewer) >= len(more)


def akin(first: str, second: str) -> bool:
    """Whether half or more of the words of the longer of two names are in both, and two or more are.

    >>> akin("Text-to-Voice", "Text-to-Audio"), akin("get_user", "get_order"), akin("send_mail", "mail")
    (True, False, False)
    """
    first_words, second_words = words(first), words(second)
    shared = len(first_words & second_words)
    return shared > 1 and 2 * shared >= max(len(first_words), len(second_words))
