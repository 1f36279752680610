"""Which tools and arguments a name may mean, and what names say of one another."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nsmallest

from planner_eval.catalogs.catalog import Catalog, Parameter, Tool
from planner_eval.curation.audit.words import word_set
from planner_eval.curation.suggest.candidates import find_stray_words, name_similarity, nearest_names, words
from planner_eval.plan.model import Call

MAX_TOOLS = 20
"""Tools that are looked at for one that is unknown."""

MAX_NAME_CHARACTERS = 40
"""Characters of a name in a sentence."""

_MEANINGLESS_NAMES = word_set("meaningless_names")
MIN_LETTER_SIMILARITY = 0.4
"""How alike names are before it is told, and before it says which is which."""

_MIN_WORD_SIMILARITY = 0.8
"""How alike the words of arguments' names are that may be one, with a letter left out of a short one."""


class ToolIndex:
    """The tools of a catalog, by what their names and arguments are like.

    Args:
        catalog: The tools.

    >>> [tool.name for tool in ToolIndex(Catalog((Tool("add"), Tool("divide")))).near(Call("1", "ad"))]
    ['add']
    """

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._names = [tool.name for tool in catalog.tools]

    def near(self, call: Call) -> list[Tool]:
        """The tools that a call of an unknown one may mean: by name, and by the arguments it gives."""
        positions = nearest_names(call.name, self._names, MAX_TOOLS)
        positions += nearest_names(call.tool, self._names, 3) if call.app else []
        arguments = [name for name, _ in call.arguments[:MAX_TOOLS]]
        shared = (
            (-sum(find_parameter(tool, name) is not None for name in arguments), position)
            for position, tool in enumerate(self.catalog.tools)
        )
        positions += [position for count, position in nsmallest(MAX_TOOLS, shared) if count]
        return [self.catalog.tools[position] for position in dict.fromkeys(positions)]


def argument_fit(call: Call, tool: Tool) -> float:
    """How well the arguments of a call are those that a tool takes and needs."""
    given_names = {name for name, _ in call.arguments}
    parameter_names = {p.name for p in tool.parameters}
    needed = {p.name for p in tool.parameters if p.required}
    all_names = given_names | needed
    if not all_names:
        return 1.0
    accepted = given_names if tool.open else given_names & parameter_names
    return len(accepted) / len(all_names)


def describe_stray_words(call: Call, tool: Tool) -> str | None:
    """What a tool's name says that the call's does not, or the other way round; None where both say the same.

    However many letters two names share: who calls ``get_order`` does not mean ``cancel_order``.
    """
    bare = call.name.rpartition(".")[2]
    pairs = ((call.name, tool.name), (bare, tool.name), (call.tool, tool.full_name))
    strays_by_pair = [find_stray_words(call_name, tool_name) for call_name, tool_name in dict.fromkeys(pairs)]
    if ((), ()) in strays_by_pair:
        return None
    call_text, tool_text = (
        " ".join(stray_words)[:MAX_NAME_CHARACTERS] for stray_words in strays_by_pair[bare != call.name]
    )
    if call_text and tool_text:
        return f"but {call_text!r} is not {tool_text!r}"
    return f"but nothing mentions {tool_text!r}" if tool_text else f"but it does not mention {call_text!r}"


def is_meaningless_name(name: str) -> bool:
    """Whether an argument's name tells nothing of what it holds, as ``arg_0`` and ``x`` do."""
    bare = "".join(word for word in words(name) if not word.isdecimal())
    return len(bare) < 2 or bare in _MEANINGLESS_NAMES


def is_other_word(name: str, other: str) -> bool:
    """Whether a word of an argument's name stands for another one; no tool runs for a short word misspelt."""
    name_words, other_words = find_stray_words(name, other)
    return bool(other_words) and any(
        max(name_similarity(word, other_word) for other_word in other_words) < _MIN_WORD_SIMILARITY
        for word in name_words
    )


def strip_number(name: str) -> str:
    """A name without the number at its end."""
    return name.rstrip("0123456789")


def is_numbered_otherwise(names: Sequence[str], other_names: Sequence[str]) -> bool:
    """Whether both are one name with numbers that count otherwise: ``var_1, var_2`` and ``arg_0, arg_1``.

    A number then says nothing: the first of these is the first of those.
    """
    if len(names) < 2 or any(len({*map(strip_number, series)}) != 1 for series in (names, other_names)):
        return False
    counts = [{n[len(strip_number(n)) :] for n in series} for series in (names, other_names)]
    return all(map(all, counts)) and not counts[0] <= counts[1]


def are_names_alike(names: Sequence[str], other_names: Sequence[str]) -> bool:
    """Whether a name says which of others it means."""
    return any(
        name_similarity(name, other) >= MIN_LETTER_SIMILARITY for name in names for other in other_names
    )


def name_at_same_position(name: str, names: Sequence[str], other_names: Sequence[str]) -> str | None:
    """Which of others stands where a name stands, where there are several."""
    return other_names[names.index(name)] if 1 < len(names) <= len(other_names) else None


def find_parameter(tool: Tool | None, name: str) -> Parameter | None:
    """What a tool declares for an argument; None where it does not, or nobody knows the tool."""
    return next((p for p in tool.parameters if p.name == name), None) if tool is not None else None


def has_parameter(tool: Tool, name: str) -> bool:
    """Whether a tool takes an argument of a name."""
    return tool.open or find_parameter(tool, name) is not None
