"""A world as a source of tools for the executor: populated once, and given to each plan as it began.

What goes to a worker is the definition and an image of the populated database, so that a world with
the facts of a thousand plans costs a worker no more than an empty one. A world in a Python file is
code that was not shipped: only the worker runs it, and populates it for each plan.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import InputError, ParseError
from planner_eval.execution.worlds.definition import Definition, NotFound, UnknownApi
from planner_eval.execution.worlds.world import World
from planner_eval.plan.model import map_leaves

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


# ----------------------------------------------------------------------
# A world that knows nothing but what was recorded: each call answers as it did then.
class Replay:
    """Tools that answer from recordings.

    A call is recognised by its name and arguments; their order and the difference between 10 and 10.0
    do not matter. A call recorded more than once gives its answers in turn, the last one for ever.

    Args:
        recorded: Tool name, arguments and answer of each call, in the order in which they were made.

    >>> replay = Replay([("search", {"city": "Oslo"}, {"id": 7})])
    >>> replay.call(None, "search", {"city": "Oslo"})
    {'id': 7}
    """

    def __init__(self, recorded: Iterable[tuple[str, Mapping[str, Any], Any]]) -> None:
        self._answers: dict[tuple[str, str], list[Any]] = {}
        self._given: dict[tuple[str, str], int] = {}
        self._lock = Lock()
        for name, arguments, answer in recorded:
            self._answers.setdefault((name, _arguments_key(arguments)), []).append(answer)

    @classmethod
    def from_conversations(cls, records: Any) -> Replay:
        """The calls and observations of one or more ComplexFuncBench records.

        Args:
            records: A record, or a list of them: ``conversations`` with ``function_call`` lists, each
                followed by an ``observation`` of as many answers.

        Raises:
            InputError: calls and observations do not pair up.
        """
        recorded_calls = []
        for number, record in enumerate(records if isinstance(records, list) else [records]):
            recorded_calls += _read_recorded_calls(record, f"record {number}")
        return cls(recorded_calls)

    @property
    def tools(self) -> dict[str, Callable[..., Any]]:
        """The recorded tools as functions with named arguments."""
        return {
            name: partial(self._called, name) for name in dict.fromkeys(name for name, _ in self._answers)
        }

    def call(self, app: str | None, name: str, arguments: Mapping[str, Any]) -> Any:
        """The recorded answer of a call.

        Raises:
            UnknownApi: no call to that tool was recorded.
            NotFound: none with these arguments was.
        """
        key = (name, _arguments_key(arguments))
        with self._lock:
            answers = self._answers.get(key)
            if answers is None:
                return self._missed(name, arguments)
            turn = self._given.get(key, 0)
            self._given[key] = turn + 1
        # A copy: what a consumer does to its copy must not change the recording.
        return json.loads(json.dumps(answers[min(turn, len(answers) - 1)]))

    def _called(self, name: str, /, **arguments: Any) -> Any:
        return self.call(None, name, arguments)

    def _missed(self, name: str, arguments: Mapping[str, Any]) -> Any:
        count = sum(1 for tool, _ in self._answers if tool == name)
        if not count:
            raise UnknownApi(f"no call to {name!r:.100} was recorded")
        arguments_text = json.dumps(arguments, ensure_ascii=False, default=str)
        raise NotFound(
            f"{name} was recorded with {count} other sets of arguments, not with {arguments_text:.200}"
        )


def _read_recorded_calls(record: Any, where: str) -> list[tuple[str, Mapping[str, Any], Any]]:
    turns = record.get("conversations") if isinstance(record, Mapping) else None
    if not isinstance(turns, list):
        raise InputError(f'{where}: expected a list under "conversations"')
    recorded_calls: list[tuple[str, Mapping[str, Any], Any]] = []
    calls: list[Any] = []
    for turn in turns:
        if isinstance(turn, Mapping) and turn.get("function_call"):
            calls = list(turn["function_call"])
        elif isinstance(turn, Mapping) and turn.get("role") == "observation":
            answers = turn.get("content")
            if not isinstance(answers, list) or len(answers) != len(calls):
                count = len(answers) if isinstance(answers, list) else "no"
                raise InputError(f"{where}: {len(calls)} calls are followed by {count} observations")
            recorded_calls += [
                (call["name"], call["arguments"], answer) for call, answer in zip(calls, answers, strict=True)
            ]
            calls = []
    return recorded_calls


def _arguments_key(arguments: Mapping[str, Any]) -> str:
    return json.dumps(
        map_leaves(_normalize_number, arguments), sort_keys=True, ensure_ascii=False, default=str
    )


def _normalize_number(leaf: Any) -> Any:
    return int(leaf) if isinstance(leaf, float) and leaf.is_integer() else leaf
