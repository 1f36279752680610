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


_SEPARATORS = str.maketrans("", "", "._-")
_CAMEL_CASE_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD_BREAK = re.compile(r"[\W_]+")
MIN_PLURAL_LENGTH = 4
"""Letters from which on a last s of a word is taken for a plural's."""


def normalise_spelling(tool: Tool) -> str:
    """A tool's name without what spellings differ in: ``.``, ``_``, ``-`` and case.

    >>> normalise_spelling(Tool("math", "hypot")) == normalise_spelling(Tool(None, "Math_hypot"))
    True
    """
    return f"{tool.app or ''}{tool.name}".translate(_SEPARATORS).casefold()


def find_respellings(
    pred_tools: Iterable[Tool], gold_tools: Iterable[Tool], declared: Container[str] = ()
) -> dict[Tool, Tool]:
    """Tools of a prediction that gold spells otherwise → gold's.

    A tool that gold calls too is that tool, and where gold calls two that are spelled alike neither is meant.

    Args:
        pred_tools: The tools that the prediction calls.
        gold_tools: The tools that gold calls.
        declared: Tools that there are, by their name or as ``App.name``: these are themselves.

    >>> find_respellings([Tool(None, "math_hypot")], [Tool(None, "math.hypot"), Tool(None, "sqrt")])
    {Tool(app=None, name='math_hypot'): Tool(app=None, name='math.hypot')}
    """
    gold_set, pred_set = {*gold_tools}, {*pred_tools}
    if pred_set <= gold_set:
        return {}
    tool_by_spelling: dict[str, Tool | None] = {}
    for tool in gold_set:
        key = normalise_spelling(tool)
        tool_by_spelling[key] = None if key in tool_by_spelling else tool
    respellings = {}
    for tool in pred_set - gold_set:
        gold_tool = tool_by_spelling.get(normalise_spelling(tool))
        if gold_tool is not None and tool.name not in declared and f"{tool.app}.{tool.name}" not in declared:
            respellings[tool] = gold_tool
    return respellings


@lru_cache(maxsize=4096)
def words(name: str) -> frozenset[str]:
    """The words of a tool's name, in the singular.

    >>> sorted(words("searchHotels_v2"))
    ['hotel', 'search', 'v2']
    """
    segments = _WORD_BREAK.split(_CAMEL_CASE_BREAK.sub(" ", name[:200]).casefold())
    plural = (
        len(segment) >= MIN_PLURAL_LENGTH and segment.endswith("s") and not segment.endswith("ss")
        for segment in segments
    )
    return frozenset(
        segment[:-1] if cut else segment for segment, cut in zip(segments, plural, strict=True) if segment
    )


def is_similar_name(first: str, second: str) -> bool:
    """Whether two names are alike: the words of the one are words of the other, half of these or more.

    >>> (
    ...     is_similar_name("search_hotels", "hotel_search"),
    ...     is_similar_name("get_weather", "get_current_weather")
    ... )
    (True, True)
    >>> is_similar_name("get_user_details", "get_order_details"), is_similar_name("get_user_details", "get")
    (False, False)
    """
    fewer, more = sorted((words(first), words(second)), key=len)
    return bool(fewer) and fewer <= more and 2 * len(fewer) >= len(more)


def is_related_name(first: str, second: str) -> bool:
    """Whether half or more of the words of the longer of two names are in both, and two or more are.

    >>> (
    ...     is_related_name("Text-to-Voice", "Text-to-Audio"), is_related_name("get_user", "get_order"),
    ...     is_related_name("send_mail", "mail")
    ... )
    (True, False, False)
    """
    first_words, second_words = words(first), words(second)
    shared = len(first_words & second_words)
    return shared > 1 and 2 * shared >= max(len(first_words), len(second_words))
