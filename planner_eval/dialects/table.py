"""The table of notations: a row a notation, shipped in data/wrappers.toml, extended by users' own rows.

A row names a shape and what is particular to it: tokens, keys, tags. Adding a model is a row in a
file given with ``--wrappers``, or a function that returns such rows, published under the entry point
group ``planner_eval.wrappers``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.base.limits import Limits
from planner_eval.base.registry import service
from planner_eval.base.resources import read
from planner_eval.dialects.dialect import Dialect
from planner_eval.plan.model import Plan, RawPlan


class Shape(NamedTuple):
    """What is said of a shape without importing it.

    Args:
        module: Its module in this package.
        form: What a row's ``sign`` is looked for in: "text", the beginning of a text; "texts", each of a
            list of texts; else the text of JSON data. Its dialects say by ``fits`` whether "calls", or
            "others" of which not everything looks like a call, are in them; "data" says nothing by itself.
    """

    module: str
    form: Literal["text", "texts", "data", "calls", "others"] = "text"


SHAPES: dict[str, Shape] = {
    "json": Shape("json_rows", "data"),
    "live": Shape("json_rows", "data"),
    "nestools": Shape("json_rows", "calls"),
    "complexfuncbench": Shape("json_rows", "others"),
    "keyed": Shape("json_rows", "others"),
    "call-texts": Shape("python_calls", "texts"),
    "sections": Shape("sections"),
    "named": Shape("named"),
    "xml": Shape("xml_calls"),
    "gemma": Shape("gemma"),
    "python": Shape("python_calls"),
    "python-list": Shape("python_calls"),
    "code-block": Shape("python_calls", "data"),
    "javascript": Shape("javascript"),
    "callnavi": Shape("callnavi", "others"),
    "callnavi-yaml": Shape("callnavi"),
    "taskbench": Shape("nodes", "others"),
    "hugginggpt": Shape("nodes", "calls"),
    "worfbench": Shape("worfbench"),
    "rewoo": Shape("numbered"),
    "t-eval": Shape("numbered"),
    "llmcompiler": Shape("numbered"),
    "react": Shape("react"),
    "langgraph": Shape("traces", "others"),
    "openai-agents": Shape("traces", "others"),
    "mcp": Shape("traces", "others"),
    "opentelemetry": Shape("traces", "others"),
}
"""The shapes by name."""

GROUP = "planner_eval.wrappers"
"""Entry points of this group are functions that return a list of rows, each a mapping as in the file."""


@dataclass(frozen=True, slots=True)
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


_KINDS = {field.name: str(field.type) for field in fields(Wrapper)}
_added: dict[str, Wrapper] = {}


def table() -> Mapping[str, Wrapper]:
    """All rows by name: shipped, from entry points, added by :func:`add_file`; later ones win."""
    return _merged(tuple(_added.values()))


@cache
def _merged(added: tuple[Wrapper, ...]) -> Mapping[str, Wrapper]:
    return {**_shipped(), **_installed(), **{row.name: row for row in added}}


def ranked() -> tuple[Wrapper, ...]:
    """All rows in the order in which they are asked: by ``rank``, then as the table has them."""
    return _ranked(tuple(_added.values()))


@cache
def _ranked(added: tuple[Wrapper, ...]) -> tuple[Wrapper, ...]:
    return tuple(sorted(_merged(added).values(), key=lambda row: row.rank))


def own() -> tuple[Wrapper, ...]:
    """The rows that are not shipped."""
    return (*_installed().values(), *_added.values())


@cache
def _shipped() -> dict[str, Wrapper]:
    return parse(read("data/wrappers.toml"), "data/wrappers.toml")


@cache
def _installed() -> dict[str, Wrapper]:
    from importlib.metadata import entry_points

    found: dict[str, Wrapper] = {}
    for point in entry_points(group=GROUP):
        found |= {row.name: row for row in (make(item, point.name) for item in point.load()())}
    return found


def add_file(path: str) -> tuple[str, ...]:
    """Add the rows of a TOML file for the rest of this process, and give their names.

    Raises:
        InputError: the file cannot be read, or a row of it cannot be used: a field of it, or its example,
            which has to come back as it was when it is read, written and read again.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError(f"{path}: {reason[0].lower()}{reason[1:]}") from None
    rows = parse(text, path)
    before = dict(_added)
    _added.update(rows)
    try:
        for row in rows.values():
            service("row proof")(row, path)
    except InputError:
        _added.clear()
        _added.update(before)
        raise
    return tuple(rows)


def parse(text: str, source: str) -> dict[str, Wrapper]:
    r"""The rows of a TOML text with ``[[dialect]]`` tables.

    Raises:
        InputError: it is no TOML, or a row of it cannot be used.

    >>> own = '[[dialect]]\nname="x"\nshape="sections"\nopen=["<c>"]\nexample=\'<c>{"name": "f"}\''
    >>> parse(own, "mine.toml")["x"].open
    ('<c>',)
    """
    import tomllib

    try:
        items = tomllib.loads(text).get("dialect")
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{source}: {str(error)[0].lower()}{str(error)[1:]}") from None
    if not isinstance(items, list) or not items:
        raise InputError(f"{source}: no [[dialect]] rows; see data/wrappers.toml for the fields")
    rows: dict[str, Wrapper] = {}
    for item in items:
        row = make(item, source)
        if row.name in rows:
            raise InputError(f"{source}: two rows are named {row.name!r}")
        rows[row.name] = row
    return rows


def make(item: Mapping[str, Any], source: str) -> Wrapper:
    """One row out of a mapping, checked.

    Raises:
        InputError: a field is missing, unknown or of the wrong type.
    """
    name = item.get("name")
    where = f"{source}: dialect {name!r}" if isinstance(name, str) else f"{source}: a row without a name"
    for needed in ("name", "shape", "example"):
        if not isinstance(item.get(needed), str) or not item[needed]:
            raise InputError(f"{where}: {needed!r} is missing, expected a text")
    unknown = sorted(item.keys() - _KINDS.keys())
    if unknown:
        raise InputError(f"{where}: unknown field {unknown[0]!r}; known are {', '.join(_KINDS)}")
    if item["shape"] not in SHAPES:
        raise InputError(f"{where}: unknown shape {item['shape']!r}; known are {', '.join(SHAPES)}")
    values = {key: _checked(key, value, where) for key, value in item.items()}
    for key in _NEEDED.get(item["shape"], ()):
        if not values.get(key):
            raise InputError(f"{where}: the shape {item['shape']!r} needs {key!r}")
    return Wrapper(**{"title": str(item["name"]), **values})


_NEEDED = {
    "sections": ("open",),
    "named": ("head", "middle"),
    "xml": ("call", "parameter"),
    "gemma": ("open", "close", "quote"),
}


def _checked(key: str, value: Any, where: str) -> Any:
    kind = _KINDS[key]
    if kind == "bool":
        good = isinstance(value, bool)
    elif kind == "int":
        good = type(value) is int
    elif kind == "tuple[int, ...]":
        good = isinstance(value, list) and all(type(v) is int for v in value)
    elif kind == "str":
        good = isinstance(value, str)
    else:
        good = _texts(value) or (key == "call" and isinstance(value, str))
    if not good:
        raise InputError(f"{where}: {key!r} is {value!r}, expected {_WORDS.get(kind, 'a list of texts')}")
    return tuple(value) if isinstance(value, list) else value


_WORDS = {"bool": "true or false", "str": "a text", "int": "a number", "tuple[int, ...]": "a list of numbers"}


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(v, str) for v in value)


def literal(texts: Iterable[str]) -> str:
    r"""A regular expression for any of some token texts; white space in them may be any, or none.

    ``$id`` and ``$index`` in a text stand for whatever a model wrote there.

    >>> literal(["<a>\n"]), literal(["[CALL_ID]$id[ARGS]"])
    ('(?:<a>\\s*+)', '(?:\\[CALL_ID\\][^\\s<>\\[\\]{}]*+\\[ARGS\\])')
    """

    def one(text: str) -> str:
        if text.isspace():
            return r"\s++"
        parts = re.split(r"(\s+|\$id|\$index)", text)
        return "".join(_piece(part) for part in parts)

    return f"(?:{'|'.join(one(text) for text in sorted(texts, key=len, reverse=True))})"


def _piece(part: str) -> str:
    """A part of a token's text as a regular expression."""
    if part.isspace():
        return r"\s*+"
    if part in ("$id", "$index"):
        return r"[^\s<>\[\]{}]*+"
    return re.escape(part).replace("><", r">\s*+<")


def row_dialect(
    row: Wrapper, read: Callable[[Wrapper, str, Limits], RawPlan], write: Callable[[Plan], str] | None
) -> Dialect:
    """The dialect of a row whose shape reads a text by the row and writes a plan."""
    return Dialect(row.name, row.title, row.example, lambda text, limits: read(row, text, limits), write)
