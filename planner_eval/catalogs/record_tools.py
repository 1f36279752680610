"""The tools that a record brings beside its plan, as most data sets of tool calls write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner_eval.base.errors import CatalogError, InputError, ParseError
from planner_eval.base.json_text import loads_if_json
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.catalogs.catalog import Catalog, Tool, Type
from planner_eval.catalogs.formats import as_catalog, detect_format, read_catalog_file
from planner_eval.plan.inference import Signatures
from planner_eval.reading.dialects.conversations.messages import is_tool_definition
from planner_eval.reading.files.record import Record

TOOL_FIELDS = ("tools", "functions", "function", "available_tools", "toolset", "input_tools")
"""Fields that hold the tools on offer, the likeliest first; what stands in the first is meant as tools."""


class ListedTools(NamedTuple):
    """The tools that a record brings.

    Args:
        field: The field in which they stand; empty where there are none, or a data set gives them.
        tools: The tools as data; None where the record brings none.
    """

    field: str = ""
    tools: Any = None


class RecordTools:
    """The tools on offer to each record of a set: those of a catalog for all, else those that it brings.

    Args:
        catalog: The tools on offer to every record; None for those that each brings.

    >>> tools = [{"name": "now", "description": "The time.", "parameters": {"type": "dict"}}]
    >>> RecordTools().of(Record("g.jsonl", 0, "q", "now()", fields={"function": tools})).tools[0].name
    'now'
    """

    def __init__(self, catalog: Catalog | None = None) -> None:
        self._all = catalog
        self._last: tuple[Any, Catalog | None] = (None, None)
        self._lost = 0
        self._why = ""
        self.field: str | None = None

    def of(self, record: Record) -> Catalog | None:
        """The tools of a record; None where they are not known, or cannot be read."""
        if self._all is not None:
            return self._all
        field, listed = listed_tools(record)
        if listed is None:
            return None
        self.field = self.field or field
        if listed is not self._last[0]:  # records of one list mostly follow one another
            catalog = None
            try:
                catalog = as_catalog(listed, name="the tool list")
            except InputError as problem:
                self._lost += 1
                self._why = self._why or f"{record.where}: {problem}"
            self._last = (listed, catalog)
        return self._last[1]

    @property
    def notes(self) -> tuple[str, ...]:
        """How many lists of tools could not be read, and why the first could not."""
        if not self._lost:
            return ()
        lists = "list of tools" if self._lost == 1 else "lists of tools"
        return (f"{self._lost:,} {lists} cannot be read, so these plans are not checked: {self._why}",)


def tools_of_record(record: Record) -> Catalog | None:
    """The tools that a record brings; None where it says nothing of tools, none where its list is empty.

    Raises:
        CatalogError: they cannot be read.
    """
    listed = listed_tools(record).tools
    if listed is None:
        return Catalog((), "the tool list") if offers_no_tools(record) else None
    return as_catalog(listed, name="the tool list")


def offers_no_tools(record: Record) -> bool:
    """Whether a record says that there are no tools: its list of them is empty.

    >>> [offers_no_tools(Record("g.jsonl", 0, "q", "f()", fields=fields)) for fields in ({"tools": []}, {})]
    [True, False]
    """
    fields = record.fields or {}
    return listed_tools(record).tools is None and _decode_text(fields.get(TOOL_FIELDS[0])) == []


def listed_tools(record: Record) -> ListedTools:
    """The tools that a record brings, as data, and their field.

    Args:
        record: The record; of a data set it holds its sample.

    >>> listed_tools(Record("g.jsonl", 0, "q", "f()", fields={"tools": '[{"name": "f"}]'}))
    ListedTools(field='tools', tools=[{'name': 'f'}])
    """
    sample = record.source
    if hasattr(sample, "category"):
        tools = sample.tools if isinstance(sample.tools, (list, dict)) else None
        later = sample.extra.get("held_back")  # tools that are on offer from a later turn on
        if later and isinstance(tools, list):
            tools = [*tools, *later]
        return ListedTools(tools=tools or None)
    fields = record.fields or (sample if isinstance(sample, dict) else {})
    for field in TOOL_FIELDS:
        listed = _decode_text(fields.get(field))
        if isinstance(listed, (list, dict)) and listed and (field == TOOL_FIELDS[0] or _are_tools(listed)):
            return ListedTools(field, listed)
    return ListedTools()


def _decode_text(value: Any) -> Any:
    """A value that is written as JSON text in a record."""
    if not isinstance(value, str):
        return value
    try:
        values = loads_if_json(value, DEFAULT_LIMITS) if value.lstrip()[:1] in ("[", "{") else None
    except ParseError:  # past a limit
        return None
    return values[0] if values is not None and len(values) == 1 else None


def _are_tools(listed: Any) -> bool:
    """Whether data describes tools, and calls none."""
    tools = listed if isinstance(listed, list) else [listed]
    if not all(isinstance(tool, Mapping) for tool in tools):
        return False
    return any(map(is_tool_definition, tools)) or detect_format(listed) not in (None, "openai")


# ----------------------------------------------------------------------
# What a comparison may know of tools: what they take where an argument is left out, and what they return.
class Facts(NamedTuple):
    """What a catalog says of its tools, by their full names.

    Args:
        arguments: Tool → the arguments that it takes; variants of one name add up.
        defaults: (tool, argument) → what the tool takes where the argument is left out.
        outputs: Tool → the name of its only output, "" where that has none; tools with several are left out.
        reads: The tools that only read; where a catalog marks acting tools alone, all others.
    """

    arguments: dict[str, frozenset[str]]
    defaults: dict[tuple[str, str], Any]
    outputs: dict[str, str]
    reads: frozenset[str] = frozenset()


def catalog_facts(catalog: str) -> Facts:
    """What a catalog of tools says, for :class:`planner_eval.comparison.policy.policy.Policy`.

    Raises:
        CatalogError: the file is not there, or is no catalog.
    """
    tools_by_name: dict[str, list[Tool]] = {}
    for tool in read_catalog_file(catalog).tools:
        tools_by_name.setdefault(tool.full_name, []).append(tool)
    variants = tools_by_name.items()
    arguments = {
        name: frozenset(p.name for tool in tools for p in tool.parameters) for name, tools in variants
    }
    defaults = {
        (name, p.name): p.default
        for name, tools in variants
        for tool in tools
        for p in tool.parameters
        if p.has_default
    }
    only_outputs = {name: {tool.only_output for tool in tools} for name, tools in variants}
    outputs = {
        name: only for name, (only, *different) in only_outputs.items() if only is not None and not different
    }
    marks = {name: {tool.action for tool in tools} for name, tools in variants}
    all_marks = set().union(*marks.values())
    unmarked: set[bool | None] = {None, False} if True in all_marks and False not in all_marks else {False}
    reads = frozenset(name for name, actions in marks.items() if actions <= unmarked)
    return Facts(arguments, defaults, outputs, reads)


# ----------------------------------------------------------------------
# What inference may know of tools: what they take and return, and what stands for a value still unknown.
def signatures(catalog: Catalog) -> Signatures:
    """What a catalog says, for :func:`planner_eval.plan.inference.infer_edges`.

    Of tools that share a name the first counts.

    >>> found = signatures(as_catalog([{"name": "pay", "parameters": {}, "returnParameter": "billID"}]))
    >>> found.returns, found.holes
    ({'pay': {'billID': ''}}, ('$$$',))
    """
    takes: dict[str, dict[str, str]] = {}
    returns: dict[str, dict[str, str]] = {}
    for tool in catalog.tools:
        for name in dict.fromkeys((tool.full_name, tool.name)):
            if name not in takes:
                takes[name] = {p.name: _only_kind(p.type) for p in tool.parameters}
                returns[name] = {field.name: _only_kind(field.type) for field in tool.returns.fields}
    return Signatures(takes, returns, catalog.holes)


class Known:
    """The signatures of lists of tools as data sets release them, each worked out once."""

    def __init__(self) -> None:
        self.found: dict[int, tuple[Any, Signatures | bool]] = {}

    def of(self, tools: Any) -> Signatures | bool:
        """The signatures of a list; True, as much as may be inferred without, where it is none.

        >>> Known().of(None)
        True
        """
        if id(tools) not in self.found:  # the list is kept, so that no other takes its place
            self.found[id(tools)] = (tools, _read_signatures(tools))
        return self.found[id(tools)][1]


def _read_signatures(tools: Any) -> Signatures | bool:
    entries = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    if not any("returnParameter" in entry for entry in entries):
        return True
    try:
        return signatures(as_catalog(tools, "callnavi"))
    except CatalogError:
        return True


def _only_kind(type: Type) -> str:
    return type.kinds[0] if len(type.kinds) == 1 else ""
