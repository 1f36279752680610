"""The table of notations: a row a notation, shipped in data/wrappers.toml, extended by users' own rows.

A row names a shape and what is particular to it: tokens, keys, tags. Adding a model is a row in a
file given with ``--wrappers``, or a function that returns such rows, published under the entry point
group ``planner_eval.wrappers``.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any, TypeAlias

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.input_files import read_text
from planner_eval.base.json_text import loads, unwrap_single
from planner_eval.base.limits import Limits
from planner_eval.base.resources import read, service
from planner_eval.plan.model import Plan, RawPlan
from planner_eval.reading.dialects.conversations.answers import note_repeated_keys
from planner_eval.reading.dialects.dialect import SHAPES, Data, Dialect, json_grammar_reader

if TYPE_CHECKING:
    from planner_eval.base.json_text import ObjectSpans


ENTRY_POINT_GROUP = "planner_eval.wrappers"
"""Entry points of this group are functions that return a list of rows, each a mapping as in the file."""


@fast_frozen
class Wrapper:
    r"""One notation; data/wrappers.toml says what each field means.

    >>> table()["hermes"].open
    ('<tool_call>\n',)
    """

    name: str
    title: str
    example: str
    shape: str
    rows: tuple[int, ...] = ()
    status: str = "K"
    note: str = ""
    references: str = ""
    typed: bool = True
    sign: str = ""
    known: str = ""
    weak: bool = False
    rank: int = 0
    hints: tuple[str, ...] = ()
    tool: str = ""
    line_start: bool = False
    open: tuple[str, ...] = ()
    close: tuple[str, ...] = ()
    each: bool = False
    inner: str = ""
    list: bool = False
    separator: str = ""
    quote: str = ""
    around: str = ""
    call: str | tuple[str, ...] = ""
    parameter: tuple[str, ...] = ()
    head: tuple[str, ...] = ()
    middle: tuple[str, ...] = ()
    tail: tuple[str, ...] = ()

    def __hash__(self) -> int:
        return hash(self.name)  # rows are keys of caches that every reading asks


_added: dict[str, Wrapper] = {}


def table() -> Mapping[str, Wrapper]:
    """All rows by name: shipped, from entry points, added by :func:`add_file`; later ones win."""
    return _merge_rows(tuple(_added.values()))


@cache
def _merge_rows(added: tuple[Wrapper, ...]) -> Mapping[str, Wrapper]:
    return {**_shipped_rows(), **_installed_rows(), **{row.name: row for row in added}}


def rows_by_rank() -> tuple[Wrapper, ...]:
    """All rows in the order in which they are asked: by ``rank``, then as the table has them."""
    return _sort_by_rank(tuple(_added.values()))


@cache
def _sort_by_rank(added: tuple[Wrapper, ...]) -> tuple[Wrapper, ...]:
    return tuple(sorted(_merge_rows(added).values(), key=lambda row: row.rank))


def added_rows() -> tuple[Wrapper, ...]:
    """The rows that this process has added; another one that shall read as it does needs them."""
    return tuple(_added.values())


def add_rows(rows: Iterable[Wrapper]) -> None:
    """Add rows that another process has, which has proved them."""
    _added.update((row.name, row) for row in rows)


def custom_rows() -> tuple[Wrapper, ...]:
    """The rows that are not shipped."""
    return (*_installed_rows().values(), *_added.values()) if _added else _installed_tuple()


@cache
def _installed_tuple() -> tuple[Wrapper, ...]:
    return tuple(_installed_rows().values())


@cache
def _shipped_rows() -> dict[str, Wrapper]:
    import tomllib

    rows = map(_build_row, tomllib.loads(read("data/wrappers.toml"))["dialect"])
    return {row.name: row for row in rows}


@cache
def _installed_rows() -> dict[str, Wrapper]:
    if not _may_have_entry_points():
        return {}
    from importlib.metadata import entry_points

    rows: dict[str, Wrapper] = {}
    for point in entry_points(group=ENTRY_POINT_GROUP):
        rows |= {row.name: row for row in (make_row(item, point.name) for item in point.load()())}
    return rows


def _may_have_entry_points() -> bool:
    """Whether an installed package may have entry points of our group.

    Loading what lists them takes longer than most commands, so that folders of packages are looked through
    first; what is installed in another way than as a folder has to be asked.
    """
    if any(hasattr(finder, "find_distributions") for finder in sys.meta_path if finder is not PathFinder):
        return True
    for path in sys.path:
        if os.path.isfile(path) or path.rstrip(os.sep).endswith(".egg"):
            return True
        with suppress(OSError), os.scandir(path or ".") as entries:
            for entry in entries:
                if entry.name.endswith(".egg") or (
                    entry.name.endswith(_METADATA_SUFFIXES) and _declares_group(entry.path)
                ):
                    return True
    return False


_METADATA_SUFFIXES = (".dist-info", ".egg-info")


def _declares_group(info: str) -> bool:
    try:
        with open(os.path.join(info, "entry_points.txt"), "rb") as file:
            return ENTRY_POINT_GROUP.encode() in file.read()
    except FileNotFoundError:
        return False
    except OSError:  # an egg's information may be a file, without a word on entry points
        return os.path.isdir(info)


def read_toml(path: str) -> dict[str, Any]:
    """The tables of a TOML file.

    Raises:
        InputError: the file cannot be read, or is no TOML.
    """
    return _parse_toml(read_text(path), path)


def _parse_toml(text: str, source: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{source}: {str(error)[0].lower()}{str(error)[1:]}") from None


def add_proved_rows(rows: Sequence[Wrapper], source: str) -> None:
    """Add rows of a user's file for the rest of this process.

    Raises:
        InputError: the example of a row does not come back as it was when it is read, written and read again.
    """
    before = dict(_added)
    add_rows(rows)
    try:
        for row in rows:
            service("row proof")(row, source)
    except InputError:
        _added.clear()
        _added.update(before)
        raise


def parse(text: str, source: str) -> dict[str, Wrapper]:
    r"""The rows of a TOML text with ``[[dialect]]`` tables.

    Raises:
        InputError: it is no TOML, or a row of it cannot be used.

    >>> custom_rows = '[[dialect]]\nname="x"\nshape="sections"\nopen=["<c>"]\nexample=\'<c>{"name": "f"}\''
    >>> parse(custom_rows, "mine.toml")["x"].open
    ('<c>',)
    """
    return rows_in(_parse_toml(text, source), source)


def rows_in(document: Mapping[str, Any], source: str) -> dict[str, Wrapper]:
    """The ``[[dialect]]`` rows of a file's tables, by name.

    Raises:
        InputError: there is none, or one cannot be used.
    """
    items = document.get("dialect")
    if not isinstance(items, list) or not items:
        raise InputError(f"{source}: no [[dialect]] rows; see data/wrappers.toml for the fields")
    rows: dict[str, Wrapper] = {}
    for item in items:
        row = make_row(item, source)
        if row.name in rows:
            raise InputError(f"{source}: two rows are named {row.name!r}")
        rows[row.name] = row
    return rows


def make_row(item: Mapping[str, Any], source: str) -> Wrapper:
    """One row out of a mapping of a user's, checked.

    Raises:
        InputError: a field is missing, unknown or of the wrong type.
    """
    from planner_eval.reading.schemas import Row

    name = item.get("name") if isinstance(item, Mapping) else None
    where = f"{source}: dialect {name!r}" if isinstance(name, str) else f"{source}: a row without a name"
    Row.check(item, where)
    row = _build_row(item)
    for key in SHAPES[row.shape].required:
        if not getattr(row, key):
            raise InputError(f"{where}: the shape {row.shape!r} needs {key!r}")
    return row


def _build_row(item: Mapping[str, Any]) -> Wrapper:
    """The row of a mapping that is as it should be: checked, or shipped and so checked by tests."""
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in item.items()}
    return Wrapper(**{"title": item["name"], **values})


def token_regex(texts: Iterable[str]) -> str:
    r"""A regular expression for any of some token texts; white space in them may be any, or none.

    ``$id`` and ``$index`` in a text stand for whatever a model wrote there.

    >>> token_regex(["<a>\n"]), token_regex(["[CALL_ID]$id[ARGS]"])
    ('(?:<a>\\s*+)', '(?:\\[CALL_ID\\][^\\s<>\\[\\]{}]*+\\[ARGS\\])')
    """

    def of_text(text: str) -> str:
        if text.isspace():
            return r"\s++"
        pieces = re.split(r"(\s+|\$id|\$index)", text)
        return "".join(_piece_regex(piece) for piece in pieces)

    return f"(?:{'|'.join(of_text(text) for text in sorted(texts, key=len, reverse=True))})"


def _piece_regex(piece: str) -> str:
    """A part of a token's text as a regular expression."""
    if piece.isspace():
        return r"\s*+"
    if piece in ("$id", "$index"):
        return r"[^\s<>\[\]{}]*+" if piece == "$id" else r"[^\s<>\[\]{}:]*+"  # a name may hold colons
    return re.escape(piece).replace("><", r">\s*+<")


RowReader: TypeAlias = Callable[[Wrapper, str, Limits], RawPlan]
"""Reads a text by a row."""


DataReader: TypeAlias = Callable[[Any, Limits, "ObjectSpans | None"], RawPlan]
"""Reads JSON data, given the places of its objects where they are known."""


def json_dialect(
    row: Wrapper,
    read_calls: DataReader,
    write: Callable[[Plan], str] | None,
    *,
    placed: bool = True,
    fits: Callable[[Data], str | None] | None = None,
) -> Dialect:
    """The dialect of a row whose shape reads JSON data.

    Args:
        row: The row.
        read_calls: Reads the calls of a text's value, or of the list of its values.
        write: Writes a plan.
        placed: Whether `read_calls` keeps places, so that the grammar's reading has something to tell.
        fits: Why JSON data is in this dialect; None where it is not.
    """

    def read_data(data: Any, limits: Limits, locations: ObjectSpans | None) -> RawPlan:
        return note_repeated_keys(data, read_calls(data, limits, locations), limits)

    def of_values(values: list[Any], limits: Limits, text: str, locations: ObjectSpans | None) -> RawPlan:
        try:
            return read_data(unwrap_single(values), limits, locations)
        except ParseError as error:
            error.text = error.text or text
            raise

    def read(text: str, limits: Limits) -> RawPlan:
        return of_values(loads(text, limits, row.name), limits, text, None)

    reference = json_grammar_reader(row.name, of_values) if placed else None
    return Dialect(row.name, row.title, row.example, read, write, read_data, reference=reference, fits=fits)


def text_dialect(
    row: Wrapper,
    read: Callable[[str, Limits], RawPlan],
    write: Callable[[Plan], str] | None,
    reference: Callable[[str, Limits], RawPlan] | None = None,
) -> Dialect:
    """The dialect of a row whose shape reads a text, of which the row says nothing."""
    return Dialect(row.name, row.title, row.example, read, write, reference=reference)


def row_dialect(
    row: Wrapper,
    read: RowReader,
    write: Callable[[Plan], str] | None,
    reference: RowReader | None = None,
) -> Dialect:
    """The dialect of a row whose shape reads a text by the row and writes a plan."""

    def of_row(reader: RowReader) -> Callable[[str, Limits], RawPlan]:
        return lambda text, limits: reader(row, text, limits)

    by_grammar = of_row(reference) if reference else None
    return Dialect(row.name, row.title, row.example, of_row(read), write, reference=by_grammar)
