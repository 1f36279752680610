"""What the plans of a grammar may hold: the tools that a notation can call, and what references lead to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from keyword import iskeyword

from planner_eval.base.errors import ParseError
from planner_eval.base.limits import Limits
from planner_eval.catalogs.catalog import ANY, Catalog, Tool, Type
from planner_eval.decoding.values import MIXED, merged
from planner_eval.dialects import get

DIALECTS = ("plan", "json", "nestful", "pythonic", "appbench")
"""The notations that grammars are written for."""

LABELS = ("var_", "var", "c")
"""What NESTful's labels begin with, before a number: in its data, half of them each, and as we write them."""

PATH = 2
"""Steps behind the name of an output that a reference may take."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the plans of a grammar may hold.

    Args:
        dialect: The notation.
        tools: The tools, each name once, with apps where the notation has them.
        texts: Whether the catalog writes every value as text.
        most: How many calls a plan may have.
        unrolled: Whether each place has rules of its own, so that references point backwards.
    """

    dialect: str
    tools: tuple[Tool, ...]
    texts: bool
    most: int
    unrolled: bool = True

    @property
    def places(self) -> range:
        """The places that have rules of their own."""
        return range(1, self.most + 1) if self.unrolled else range(1)

    def producers(self, position: int) -> range:
        """The calls that one at a place may refer to, counted from 1; all, where places are one."""
        return range(1, position) if self.unrolled else range(1, self.most + 1)


@dataclass(slots=True)
class Outputs:
    """What references may lead to.

    Args:
        names: The names of outputs that tools declare.
        free: Some tool does not say what it returns: any name will do.
        deep: Some output holds others.
    """

    names: tuple[str, ...] = ()
    free: bool = False
    deep: bool = False


def outputs_of(tools: Iterable[Tool]) -> Outputs:
    """What references into the results of some tools may lead to.

    >>> outputs_of([Tool("sum", returns=Type(("number",)))]).names
    ('result',)
    """
    outputs = Outputs()
    names: dict[str, None] = {}
    for tool in tools:
        fields = tool.returns.fields
        names.update((field.name, None) for field in fields)
        if not fields and tool.only_output == "":
            names["result"] = None
        outputs.free |= not fields and tool.only_output is None
        outputs.deep |= any(_holds(field.type) for field in fields) or (not fields and _holds(tool.returns))
    outputs.names = tuple(names)
    return outputs


def _holds(kind: Type) -> bool:
    return not kind.kinds or bool({"array", "object"} & set(kind.kinds))


def one_a_name(catalog: Catalog, *, apps: bool, say: Callable[..., None]) -> tuple[Tool, ...]:
    """The tools of a catalog, variants of a name made one."""
    named: dict[tuple[str, str], list[Tool]] = {}
    for tool in catalog.tools:
        key = (tool.app or "", tool.name) if apps else ("", tool.full_name)
        named.setdefault(key, []).append(tool)
    if any(len(tools) > 1 for tools in named.values()):
        say("a call of a tool with several variants may mix their arguments", *MIXED)
    return tuple(_one(tools) for tools in named.values())


def _one(tools: Sequence[Tool]) -> Tool:
    if len(tools) == 1:
        return tools[0]
    merged_tool = replace(tools[0], parameters=merged([tool.parameters for tool in tools]))
    returns = [tool.returns for tool in tools]
    return replace(merged_tool, returns=returns[0] if len(set(map(repr, returns))) == 1 else ANY)


def sayable(tool: Tool, dialect: str) -> Tool | None:
    """A tool with the arguments that a notation can write; None where it cannot call it.

    What the notation's own reader makes of a call decides.
    """
    if dialect not in ("pythonic", "appbench"):
        return tool
    if not _reads_back(tool, dialect, None):
        return None
    writable = [p for p in tool.parameters if _reads_back(tool, dialect, p.name)]
    if any(p.required for p in tool.parameters if p not in writable):
        return None
    return replace(tool, parameters=tuple(writable))


def _reads_back(tool: Tool, dialect: str, argument: str | None) -> bool:
    name, app = tool.full_name, None
    if dialect == "pythonic" and not all(
        _is_name(name_part) for name_part in (*name.split("."), argument or "a")
    ):
        return False
    argument_text = "" if argument is None else f"{argument}='1'"
    text = f"[{name}({argument_text})]"
    if dialect == "appbench":
        name, app = tool.name, tool.app
        call = f"{name}({'#' if argument_text else ''}{argument_text})"
        text = f"{app}: [{call}]" if app else call
    try:
        raw = get(dialect).read(text, Limits())
    except (ParseError, ValueError, RecursionError):
        return False
    expected = () if argument is None else ((argument, "1"),)
    return len(raw.calls) == 1 and (raw.calls[0].name, raw.calls[0].app, raw.calls[0].arguments) == (
        name,
        app,
        expected,
    )


def _is_name(word: str) -> bool:
    """Whether Python itself takes it as a name; our reader takes more, but not everywhere."""
    return word.isidentifier() and not iskeyword(word)
