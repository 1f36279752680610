"""A world as a source of tools for the executor: populated once, and given to each plan as it began.

What goes to a worker is the definition and an image of the populated database, so that a world with
the facts of a thousand plans costs a worker no more than an empty one. A world in a Python file is
code that was not shipped: only the worker runs it, and populates it for each plan.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import InputError, ParseError
from planner_eval.execution.worlds.definition import Definition
from planner_eval.execution.worlds.world import World

if TYPE_CHECKING:
    from planner_eval.execution.tool_sources import ToolSource
    from planner_eval.reading.files.files import PlanFile


def world_source(
    world: str | Path | Definition | World,
    *,
    seed: int | str = 0,
    facts: Sequence[Sequence[Mapping[str, Any]]] = (),
) -> ToolSource:
    """The tools of a world, for :func:`planner_eval.execution.execute`.

    Args:
        world: A world, a definition, or what :func:`planner_eval.execution.worlds.load` takes.
        seed: What its rows are made from; a World has its own.
        facts: Calls that it must be able to answer.

    Returns:
        A source that gives each plan the world in its first state.

    Raises:
        InputError: there is no such world, or its definition is broken.
    """
    from planner_eval.execution.tool_sources import factory_source

    if isinstance(world, (str, Path)) and str(world).endswith(".py"):
        path = Path(world)
        if not path.is_file():
            raise InputError(f"{path}: no such file")
        arguments: dict[str, Any] = {"path": str(path.resolve()), "seed": seed, "facts": list(facts)}
        source = factory_source(f"world:{world}", "planner_eval.execution.worlds.source", "begun", arguments)
        # each plan's worker reads the file: what checks it is imported once, before they are forked
        preload = [
            *source.data["preload"],
            "planner_eval.execution.worlds.reading",
            "planner_eval.execution.worlds.schema",
        ]
        data = {**source.data, "preload": preload}
        return replace(source, data=data, read=(*source.read, arguments["path"]))
    populated = world.copy(facts) if isinstance(world, World) else World(world, seed=seed, facts=facts)
    arguments = {
        "definition": pickle.dumps(populated.definition),
        "seed": populated.seed,
        "image": populated.image(),
    }
    name = f"world:{populated.definition.name}"
    source = factory_source(name, "planner_eval.execution.worlds.source", "restored", arguments)
    return replace(source, notes=populated.unmet)


def restored(definition: bytes, seed: str, image: bytes) -> World:
    """The world that :func:`world_source` packed; runs in the worker, on data from its parent."""
    return World.from_image(_unpack_definition(definition), seed, image)


@lru_cache(maxsize=4)
def _unpack_definition(definition: bytes) -> Definition:
    """A packed definition; to unpack it takes longer than to restore the database, and nothing changes it."""
    unpacked: Definition = pickle.loads(definition)
    return unpacked


def begun(path: str, seed: int | str, facts: Sequence[Sequence[Mapping[str, Any]]]) -> World:
    """The world of a Python file, populated; runs in the worker."""
    return World(Path(path), seed=seed, facts=facts)


def read_facts(path: str | PlanFile, *, dialect: str | None = None) -> list[list[dict[str, Any]]]:
    """The facts of all plans in a file; a record that holds no readable plan says nothing.

    Args:
        path: A plan, or a file of records with plans; gold plans where a file holds both. Or what was read.
        dialect: The plans' dialect; recognised when None.

    Raises:
        InputError: the file is missing or unreadable.
    """
    from planner_eval.execution.worlds.facts import facts_of
    from planner_eval.reading.files.plans import read_plan
    from planner_eval.reading.files.several import read_path

    facts: list[list[dict[str, Any]]] = []
    file = read_path(path, role="gold") if isinstance(path, str) else path
    for record in file.records:
        try:
            facts += facts_of([read_plan(record, dialect=dialect)])
        except ParseError:
            facts.append([])  # so that the others keep their numbers
    return facts
