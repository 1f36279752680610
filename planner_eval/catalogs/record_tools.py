"""The tools that a record brings beside its plan, as most data sets of tool calls write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.json_text import loads_if_json
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.formats import catalog_from_data, detect_format
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
            self._last = (listed, self._read(listed, record))
        return self._last[1]

    def _read(self, listed: Any, record: Record) -> Catalog | None:
        try:
            return catalog_from_data(listed, name="the tool list")
        except InputError as problem:
            self._lost += 1
            self._why = self._why or f"{record.where}: {problem}"
            return None

    @property
    def notes(self) -> tuple[str, ...]:
        """How many lists of tools could not be read, and why the first could not."""
        if not self._lost:
            return ()
        lists = "list of tools" if self._lost == 1 else "lists of tools"
        return (f"{self._lost:,} {lists} cannot be read, so that these plans are not checked: {self._why}",)


def tools_of_record(record: Record) -> Catalog | None:
    """The tools that a record brings; None where it brings none.

    Raises:
        CatalogError: they cannot be read.
    """
    listed = listed_tools(record).tools
    return None if listed is None else catalog_from_data(listed, name="the tool list")


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
