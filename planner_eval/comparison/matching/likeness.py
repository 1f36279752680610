"""How like one another names and values are that are not equal, and the assignment of the likest."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.plan.model import Value

# ----------------------------------------------------------------------
# How like one another two values are that are not equal, and the assignment of least total cost.
# ----------------------------------------------------------------------
# How like one another two values are that are not equal: which of several a person would take for which.
MAX_LENGTH = 200
"""Characters of a text, and digits of a number, that are looked at."""

MAX_EXACT_NUMBER = 10_000
"""Whole numbers nearer to zero are one word as they are; longer ones have parts."""

MAX_ITEMS = 8
"""Items of a list that are looked at."""

EIGHTHS = 8
"""Likeness is counted in eighths, so that sums of it are exact."""

MIN_EIGHTHS = 3
"""Eighths below which two values have a part in common by chance."""

_WORD = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
_NO_FEATURES: frozenset[str] = frozenset()
_NGRAM_LENGTH = 4
"""Of words that are longer, each run of so many letters counts, and of mixed names and ids."""


def likeness(pred_value: Value, gold_value: Value) -> float:
    """How much two values have in common, in eighths: words, numbers, parts of long words.

    A list is as like each of its parts as it is like another.

    >>> likeness("Boston, MA", "Boston"), likeness("450", 450.0), likeness("May 4 2026", "2026-05-04")
    (0.875, 1.0, 0.625)
    >>> likeness("Rome", "Oslo"), likeness(["Rome", "Oslo"], "Rome"), likeness(7, 8)
    (0.0, 1.0, 0.0)
    """
    listed = type(pred_value) is list or type(gold_value) is list
    return feature_likeness(features(pred_value), features(gold_value), listed=listed)


def feature_likeness(first: frozenset[str], second: frozenset[str], *, listed: bool) -> float:
    """:func:`likeness` of two values by their features.

    Args:
        first: What is compared of the one.
        second: What is compared of the other.
        listed: Whether one of them is a list.
    """
    shared = len(first & second)
    if not shared:
        return 0.0
    total = 2 * min(len(first), len(second)) if listed else len(first) + len(second)
    shared = EIGHTHS * 2 * shared // total
    return shared / EIGHTHS if shared >= MIN_EIGHTHS else 0.0


def features(value: Value) -> frozenset[str]:
    """What is compared of a value; nothing of objects and references.

    >>> features(["New", "York"]) == features("New York")
    True
    """
    kind = type(value)
    if kind is str:
        return _text_features(value[:MAX_LENGTH])
    if kind is int and -MAX_EXACT_NUMBER < value < MAX_EXACT_NUMBER:
        return frozenset((str(abs(value)),))
    return _text_features(
        (" " if kind is list else "").join(_texts(value if kind is list else [value]))[:MAX_LENGTH]
    )


def _texts(items: list[Value]) -> Iterator[str]:
    for item in items[:MAX_ITEMS]:
        kind = type(item)
        if kind is str:
            yield item[:MAX_LENGTH]
        elif kind is float or kind is bool or (kind is int and item.bit_length() <= MAX_LENGTH):
            yield str(item)


@lru_cache(maxsize=4096)
def _text_features(text: str) -> frozenset[str]:
    words = _WORD.findall(text.casefold())
    return _word_features(words[0]) if len(words) == 1 else _NO_FEATURES.union(*map(_word_features, words))


@lru_cache(maxsize=4096)
def _word_features(word: str) -> frozenset[str]:
    if word[0].isdecimal():
        integer, _, decimals = word.partition(".")
        decimals = decimals.rstrip("0")
        word = (integer.lstrip("0") or "0") + (f".{decimals}" if decimals else "")
    return frozenset(
        (word, *[word[start : start + _NGRAM_LENGTH] for start in range(len(word) - _NGRAM_LENGTH + 1)])
    )


# ----------------------------------------------------------------------
# One-to-one assignment of least total cost.
MAX_PURE_ROWS = 50
"""Up to this many rows plain Python is faster than importing scipy."""


def assign(costs: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Pair as many rows and columns as possible, each once, at the least total cost.

    Args:
        costs: A rectangular table; ``costs[row][column]`` is finite.

    Returns:
        (row, column) pairs by row, as many as the shorter side is long.

    Source:
        Jonker and Volgenant's shortest augmenting paths (Computing 38, 1987); from 51 rows on,
        ``scipy.optimize.linear_sum_assignment``, which solves the same problem.

    >>> assign([[4, 1], [2, 9], [0, 7]])
    [(0, 1), (2, 0)]
    """
    if not costs or not costs[0]:
        return []
    if len(costs) > len(costs[0]):
        turned = assign(list(zip(*costs, strict=True)))
        return sorted((row, column) for column, row in turned)
    if len(costs) > MAX_PURE_ROWS:
        from scipy.optimize import linear_sum_assignment

        rows, columns = linear_sum_assignment(costs)
        return [(int(row), int(column)) for row, column in zip(rows, columns, strict=True)]
    return _augment(costs)


def _augment(costs: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Shortest augmenting paths with potentials, for at most as many rows as columns."""
    count, width = len(costs), len(costs[0])
    infinite = float("inf")
    row_potential, column_potential = [0.0] * (count + 1), [0.0] * (width + 1)
    owner = [0] * (width + 1)  # the row (from 1) that holds each column (from 1); 0 for none
    for row in range(1, count + 1):
        owner[0] = row
        column = 0
        best, came, used = [infinite] * (width + 1), [0] * (width + 1), [False] * (width + 1)
        while owner[column]:
            used[column] = True
            held_row, delta, following = owner[column], infinite, 0
            line, offset = costs[held_row - 1], row_potential[held_row]
            for other in range(1, width + 1):
                if used[other]:
                    continue
                reduced = line[other - 1] - offset - column_potential[other]
                if reduced < best[other]:
                    best[other], came[other] = reduced, column
                if best[other] < delta:
                    delta, following = best[other], other
            for other in range(width + 1):
                if used[other]:
                    row_potential[owner[other]] += delta
                    column_potential[other] -= delta
                else:
                    best[other] -= delta
            column = following
        while column:
            owner[column] = owner[came[column]]
            column = came[column]
    return sorted((owner[column] - 1, column - 1) for column in range(1, width + 1) if owner[column])


# ----------------------------------------------------------------------
# Names of tools: which are one name spelled in two ways, and which are like one another.
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


def has_prefix_more(pred_tool: Tool, gold_tool: Tool) -> bool:
    """Whether a tool is another, spelled in whatever way, behind a prefix with a full stop.

    >>> has_prefix_more(Tool(None, "api.circle_area"), Tool(None, "circle.area"))
    True
    """
    rest = Tool(pred_tool.app, pred_tool.name.partition(".")[2])
    return rest.app == gold_tool.app and normalise_spelling(rest) == normalise_spelling(gold_tool)


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
    segments = _WORD_BREAK.split(_CAMEL_CASE_BREAK.sub(" ", name).casefold())
    plural = (
        len(segment) >= MIN_PLURAL_LENGTH and segment.endswith("s") and not segment.endswith("ss")
        for segment in segments
    )
    return frozenset(
        segment[:-1] if cut else segment for segment, cut in zip(segments, plural, strict=True) if segment
    )


@lru_cache(maxsize=4096)
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


@lru_cache(maxsize=4096)
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
