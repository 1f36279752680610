"""The layouts of the papers' tables: which figure, of which samples and runs, stands in which column.

They are data, one file a benchmark: ``data/layouts/NAME.toml``, whose head explains the keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.base.resources import folder
from planner_eval.base.text import did_you_mean

UNITS = ("share", "percent", "count")
"""How figures are shown; a count is the share of how many there are."""


class Part(NamedTuple):
    """Samples that have a value under a key."""

    key: str
    value: str


class Column(NamedTuple):
    """One column of a table.

    Args:
        group: What stands above several columns; "" for nothing.
        head: What stands above this one.
        figure: The figure, as the benchmark's report calls it.
        of: The figures of a sample that may add up to it, the likeliest first.
        only: The samples that have to: key → value; all where empty.
        part: The samples that are scored by themselves; None for all together.
        where: The runs that it is of: what was asked of them, key → value or several.
        settings: The benchmark's own options that it is scored with.
        unit: One of :data:`UNITS`.
        digits: After the point.
        percent_in: The variants whose report gives this figure in percent.
    """

    group: str
    head: str
    figure: str
    of: tuple[str, ...] = ()
    only: Mapping[str, str] = {}
    part: Part | None = None
    where: Mapping[str, Any] = {}
    settings: Mapping[str, str] = {}
    unit: str = "share"
    digits: int = 3
    percent_in: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Both heads."""
        return " ".join(filter(None, (self.group, self.head)))


class Layout(NamedTuple):
    """A table.

    Args:
        name: What users call it; "" for one of their own.
        title: What stands above it.
        columns: Its columns.
        rows: What was asked of a run that belongs to a row's name.
        note: What a reader should know.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[str, ...] = ()
    note: str = ""


def layouts(benchmark: str) -> dict[str, Layout]:
    """The layouts of a benchmark's tables by name, that of its main table first; none where it has none.

    >>> [column.title for column in layouts("nestful")["nestful-2"].columns]
    ['Win Rate One-shot direct', 'Win Rate ReAct']
    """
    import tomllib

    path = folder("data") / "layouts" / f"{benchmark}.toml"
    if not path.is_file():
        return {}
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: _read_layout(name, data) for name, data in tables.items()}


def layout(name: str, benchmark: str) -> Layout:
    """The layout of a name.

    Raises:
        InputError: the benchmark has none of that name; says which there are.

    >>> layout("callnavi-7", "callnavi").rows
    ()
    """
    available = layouts(benchmark)
    if name not in available:
        choices = f"{benchmark} has {', '.join(available)}" if available else f"{benchmark} has none"
        hint = did_you_mean(name, available, lead="; ")
        raise InputError(f"there is no layout {name!r} for these runs; {choices}{hint}")
    return available[name]


def plain_layout(figures: Iterable[str], key: str | None, values: Sequence[str], **how: Any) -> Layout:
    """A table of figures, for each value of a key where one is named.

    Args:
        figures: Their names.
        key: The key.
        values: Its values, in order.
        how: What columns share: their unit and digits.

    >>> [column.title for column in plain_layout(["exact"], "depth", ["1", "2"]).columns]
    ['depth 1 exact', 'depth 2 exact']
    """
    names = list(figures)
    if key is None:
        columns = [Column("", name, name, (name,), **how) for name in names]
    else:
        columns = [
            Column(f"{key} {value}", name, name, (name,), part=Part(key, value), **how)
            for value in values
            for name in names
        ]
    return Layout("", "", tuple(columns))


def _read_layout(name: str, data: Mapping[str, Any]) -> Layout:
    shared = {"unit": data["unit"], "digits": data["digits"]}
    columns = tuple(column for block in data["block"] for column in _read_columns({**shared, **block}))
    return Layout(name, data["title"], columns, tuple(data.get("rows", ())), data.get("note", ""))


def _read_columns(block: Mapping[str, Any]) -> Iterator[Column]:
    """Those of a block: a figure says more than its group, and this more than the block."""
    shared = {"where": block.get("where", {}), "settings": block.get("set", {})}
    shared |= {"unit": block["unit"], "digits": block["digits"]}
    for group in block["groups"]:
        for figure_data in block["figures"]:
            figure = figure_data["figure"].replace("{}", group.get("name", ""))
            overrides = {key: figure_data[key] for key in ("unit", "digits") if key in figure_data}
            overrides["where"] = {**shared["where"], **group.get("where", {}), **figure_data.get("where", {})}
            column_part = Part("part", group["part"]) if "part" in group else None
            yield Column(
                group["head"],
                figure_data["head"],
                figure,
                tuple(figure_data.get("of", (figure,))),
                {**group.get("only", {}), **figure_data.get("only", {})},
                column_part,
                percent_in=tuple(figure_data.get("percent_in", ())),
                **{**shared, **overrides},
            )
