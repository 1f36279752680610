"""What the plans of a data set touch, and what no plan touches."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.base.given import COUNT, FUNCTION, expect, expect_or_none
from planner_eval.base.named import NamedTuple
from planner_eval.base.text import did_you_mean
from planner_eval.catalogs.catalog import Catalog
from planner_eval.datasets.coverage import Aspect, Thing, Touched, aspects
from planner_eval.datasets.sources import Source, short_names
from planner_eval.dialects.sources import Which
from planner_eval.plan.digest import Classes
from planner_eval.verbs.catalogs import read_catalog
from planner_eval.verbs.evaluating import Progress
from planner_eval.verbs.sets import doubts_of, items_of, set_of

SCHEMA = "planeval.to-make/1"

COMMONEST = 10
"""Skeletons of which it is said how many plans have them."""

_SHOWN = 5
"""Plans that cannot be read of which it is said why."""


class Covering(NamedTuple):
    """One set of plans.

    Args:
        name: What it is called.
        records: How many records it has.
        plans: How many have a plan that can be read.
        unread: How many plans cannot be read.
        reasons: Why the first of them cannot, each with its place.
    """

    name: str
    records: int
    plans: int
    unread: int
    reasons: tuple[str, ...]


class Skeleton(NamedTuple):
    """Calls with their references, whatever else is given to them.

    Args:
        plans: How many plans have it.
        tools: The tools that they call, in the written order of the first of them.
    """

    plans: int
    tools: str


@dataclass(frozen=True)
class Coverage:
    """What plans touch.

    Args:
        sets: The set, and the other one.
        catalog: What the catalog is called; None without one.
        aspects: What is touched and what is not, of each aspect.
        skeletons: The commonest skeletons, the commonest first.
        commonest: How many plans the ten commonest skeletons are of.
        unproved: Plans that were taken for equal to another though the search for the proof took too long.
        notes: What may not be what was meant, in words.
    """

    sets: tuple[Covering, ...]
    catalog: str | None
    aspects: tuple[Aspect, ...]
    skeletons: tuple[Skeleton, ...]
    commonest: int
    unproved: int
    notes: tuple[str, ...] = ()

    def aspect(self, name: str) -> Aspect:
        """One aspect by its name.

        Raises:
            InputError: there is none of that name.
        """
        aspects = {aspect.name: aspect for aspect in self.aspects}
        if name not in aspects:
            raise InputError(
                f"there is no aspect {name!r}; {did_you_mean(str(name), aspects, ', '.join(aspects))}"
            )
        return aspects[name]

    def to_make(self) -> dict[str, Any]:
        """What no plan touches, as data for whoever makes plans; ``planeval schema to-make`` describes it.

        Of two sets also what the other has and this one lacks.
        """
        data: dict[str, Any] = {"schema": SCHEMA, "data": self.sets[0].name, "catalog": self.catalog}
        if len(self.sets) > 1:
            data["against"] = self.sets[1].name
        for aspect in self.aspects:
            if aspect.name != "skeletons":
                data[aspect.name] = [
                    _data(thing) for thing in dict.fromkeys((*aspect.missing, *(aspect.never or ())))
                ]
        return data


def coverage(
    data: Any,
    catalog: Any = None,
    *,
    against: Any = None,
    examples: int = 5,
    dialect: str | None = None,
    id_field: str | None = None,
    text_field: str | None = None,
    turn: Which = None,
    cache: str | None = None,
    folder: str | None = None,
    progress: Progress | None = None,
) -> Coverage:
    r"""Say which tools, pairs of tools, shapes and depths the plans of a data set touch, and which none does.

    Args:
        data: The set: the name of a file of records or of a published data set, what
            :func:`planner_eval.open_sources` gave, or records in memory, as :func:`planner_eval.read` takes
            them.
        catalog: The tools that there are, as :func:`planner_eval.read_catalog` takes them; without them it is
            not known which are never touched.
        against: Another set, whose plans may touch what these do not.
        examples: How many skeletons to show.
        dialect: The dialect of a file's plans; recognised when left out.
        id_field: As for :func:`planner_eval.read`.
        text_field: Likewise.
        turn: Likewise.
        cache: Likewise.
        folder: Likewise.
        progress: Is told after each record how many are done, and of how many.

    Raises:
        InputError: a set or the catalog cannot be read, or a set is an empty list or none.

    >>> tools = [{"name": name, "parameters": {}} for name in ("f", "g", "h")]
    >>> found = coverage(["a = f()\nb = g(#y=a)", "f()"], tools)
    >>> found.aspect("tools").touched, found.aspect("tools").never
    ({'f': 2, 'g': 1}, ('h',))
    """
    expect(COUNT, examples=examples)
    expect_or_none(FUNCTION, progress=progress)
    fields = {"id_field": id_field, "text_field": text_field, "turn": turn, "cache": cache, "folder": folder}
    tools = catalog if catalog is None or isinstance(catalog, Catalog) else read_catalog(catalog)
    sources = [set_of(s, fields) for s in (data, *(() if against is None else (against,)))]
    titles = short_names([source.name for source in sources])
    classes = Classes(literals=False)
    touched = [Touched(tools, classes) for _ in sources]
    sets = [
        _counted(source, title, counts, dialect, progress)
        for source, title, counts in zip(sources, titles, touched, strict=True)
    ]
    first, other = touched[0], touched[1] if len(touched) > 1 else None
    all_aspects = tuple(aspects(first, tools, other))
    ranked = [*all_aspects[-1].touched.items()]
    return Coverage(
        tuple(sets),
        None if tools is None else os.path.basename(tools.name),
        all_aspects,
        tuple(Skeleton(count, first.shown[str(name)]) for name, count in ranked[:examples]),
        sum(count for _, count in ranked[:COMMONEST]),
        classes.unproved,
        tuple(doubt for source in sources for doubt in doubts_of(source)),
    )


def _counted(
    source: Source, title: str, touched: Touched, dialect: str | None, progress: Progress | None
) -> Covering:
    records = unread = 0
    reasons: list[str] = []
    for item in items_of(source, dialect, progress):
        records += 1
        if item.plan is not None:
            touched.add(item.plan)
        elif item.error is not None:
            unread += 1
            if len(reasons) < _SHOWN:
                reasons.append(f"{item.where}: {item.error}")
    return Covering(title, records, touched.plans, unread, tuple(reasons))


def _data(thing: Thing) -> Any:
    return thing if isinstance(thing, (str, int)) else thing._asdict()
