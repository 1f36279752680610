"""One task of a benchmark: what was asked, with which tools, and the plan that solves it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import DatasetError, InputError, ParseError
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.json_files import JsonLine, read_json, read_json_lines
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.read import parse

if TYPE_CHECKING:
    from planner_eval.plan.inference import Signatures


# ----------------------------------------------------------------------
# One task of a benchmark: what was asked, with which tools, and the plan that solves it.
_NO_FIELDS: Mapping[str, Any] = MappingProxyType({})


class Audit:
    """What is irregular in a record, found when it is asked for: scoring never asks.

    Args:
        find: Says it; called anew each time.

    >>> list(Audit(lambda: ["an instruction is repeated"]))
    ['an instruction is repeated']
    """

    __slots__ = ("find",)

    def __init__(self, find: Callable[[], Iterable[Any]]) -> None:
        self.find = find

    def __iter__(self) -> Iterator[Any]:
        return iter(self.find())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Audit) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


@fast_frozen
class Sample:
    """One record of a benchmark's data.

    Args:
        id: Unique in its data set.
        query: What the user asks.
        tools: The tools on offer, as released; None where the record names none.
        gold: The gold record or gold calls, as released.
        dialect: The notation of `gold`, a name that :func:`planner_eval.parse` knows.
        category: The part of the data set that the record belongs to.
        extra: Whatever else the record holds, by name.
    """

    id: str
    query: str = ""
    tools: Any = None
    gold: Any = None
    dialect: str = ""
    category: str = ""
    extra: Mapping[str, Any] = field(default_factory=lambda: _NO_FIELDS)


# ----------------------------------------------------------------------
# The gold plan of a sample.
def holds_plan(sample: Sample) -> bool:
    """Whether the right answer is a plan, not free text."""
    return bool(sample.dialect) and sample.extra.get("type_of_output", "call") == "call"


def gold_plan(sample: Sample, *, infer: Signatures | bool = False) -> Plan | None:
    """Read a sample's gold plan.

    Args:
        sample: Of any reader.
        infer: Add inferred edges, by what is known of tools.

    Returns:
        The plan; None where the right answer is free text.

    Raises:
        ParseError: no parser reads it.

    >>> plan = gold_plan(Sample("a", gold='[{"name": "f", "arguments": {}}]', dialect="json"))
    >>> plan is not None and plan.calls[0].name
    'f'
    """
    if not holds_plan(sample):
        return None
    try:
        return parse(sample.gold, dialect=sample.dialect, infer=infer)
    except InputError as problem:
        raise ParseError(str(problem), code="parse.shape") from None


# ----------------------------------------------------------------------
# Opening the files of data sets: JSON and JSON lines, with errors that say file and place.
def load_json(path: Path) -> Any:
    """The data of a JSON file.

    Raises:
        DatasetError: the file is missing, is a folder, is not UTF-8 or not JSON.
    """
    try:
        return read_json(_read_text(path))
    except ParseError as problem:
        raise DatasetError(f"{path}: {problem.brief}") from None


def load_jsonl(path: Path) -> Iterator[JsonLine]:
    """The lines of a JSON lines file; empty lines are passed over.

    Raises:
        DatasetError: the file is missing, is a folder, is not UTF-8, or a line is not JSON.
    """
    for line in read_json_lines(_read_text(path)):
        if line.error is not None:
            raise DatasetError(f"{path}: {line.error.brief}")
        yield line


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise DatasetError(
            f"{path}: no such file; fetch the data set, or name the folder that holds it"
        ) from None
    except IsADirectoryError:
        raise DatasetError(f"{path}: is a folder; a file was expected") from None
    except UnicodeDecodeError as problem:
        raise DatasetError(f"{path}: not UTF-8 text at byte {problem.start}") from None
    except OSError as problem:
        raise DatasetError(f"{path}: {problem.strerror}") from None
