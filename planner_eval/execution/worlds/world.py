"""A world: a small database with APIs over it, in which searching filters and booking changes state."""

from __future__ import annotations

import pickle
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from random import Random
from threading import RLock
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.text import did_you_mean, one_line_json
from planner_eval.execution.worlds.database import (
    ApiCall,
    Changes,
    changes,
    connect,
    create_tables,
    dump,
    insert,
    quote_name,
    to_stored_value,
)
from planner_eval.execution.worlds.definition import (
    Api,
    CallError,
    Definition,
    MissingArgument,
    Refused,
    Table,
    TooLong,
    UnknownArgument,
    Values,
)
from planner_eval.execution.worlds.generic import ValueMaker

if TYPE_CHECKING:
    from planner_eval.execution.tool_sources import ToolSource
    from planner_eval.execution.worlds.facts import Facts
    from planner_eval.reading.files.files import PlanFile


class World:
    """A populated world.

    Args:
        definition: The world's definition, or what :func:`planner_eval.execution.worlds.load` takes.
        seed: What its rows are made from; the same seed gives the same rows.
        facts: Calls that the world must be able to answer, from
            :func:`planner_eval.execution.worlds.facts_of`.
        database: A path to keep the database in a file; in memory otherwise. A file that holds a world
            already is used as it is.

    Raises:
        InputError: there is no such world, its definition is broken, or the database cannot be opened.

    >>> room = {"columns": {"city": ["Oslo"], "beds": "integer:2..2"}}
    >>> api = {"find": {"args": ["city"], "reads": "rooms", "returns": ["city", "beds"]}}
    >>> from planner_eval.execution.worlds import read
    >>> with World(read({"tables": {"rooms": room}, "api": api})) as world:
    ...     world.call(None, "find", {"city": "Oslo"}), world.call(None, "find", {"city": "Rome"})
    ({'city': 'Oslo', 'beds': 2}, {})
    """

    def __init__(
        self,
        definition: Definition | str | Path,
        *,
        seed: int | str = 0,
        facts: Facts = (),
        database: str = ":memory:",
    ) -> None:
        if not isinstance(definition, Definition):
            from planner_eval.execution.worlds.reading import load

            definition = load(definition)
        self.definition = definition
        self.seed = str(seed)
        self.unmet: tuple[str, ...] = ()
        """Facts that the world refuses none the less, in words."""
        self._lock = RLock()
        try:
            self.connection = connect(database)
            create_tables(self.connection, definition)
        except sqlite3.Error as error:
            raise InputError(f"{database} cannot hold the world {definition.name}: {error}") from None
        names = map(quote_name, definition.tables)
        rows = (self.connection.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone() for name in names)
        if not any(rows):  # as in a database that was just made
            self._populate()
            self._settle(facts)
        elif facts:
            raise InputError(f"{database} already holds a world; facts can only be added to a new one")
        self._begun = self.image()

    def copy(self, facts: Facts = ()) -> World:
        """A world of its own in the same state, in memory, with further facts.

        Populating a world costs some ten times as much as copying it: populate one, and give each
        plan a copy with the plan's facts.
        """
        twin = World.from_image(self.definition, self.seed, self.image())
        if facts:
            twin._settle(facts)
            twin._begun = twin.image()
        return twin

    def image(self) -> bytes:
        """The database as bytes, for :meth:`from_image`."""
        with self._lock:
            return self.connection.serialize()

    @classmethod
    def from_image(cls, definition: Definition, seed: str, image: bytes) -> World:
        """The world, in memory, whose database :meth:`image` gave."""
        world = object.__new__(cls)
        world.definition, world.seed, world._lock, world.unmet = definition, seed, RLock(), ()
        world.connection = connect(":memory:")
        world.connection.deserialize(image)
        world._begun = image
        return world

    def set_state(self, state: Values) -> None:
        """Begin in another state: tables with other rows, or able to answer other calls.

        Args:
            state: By table the rows that it holds instead, of which columns may be left out; they are made
                from the seed. ``facts``: calls as the constructor takes them, which come on top.

        Raises:
            CallError: there is no such table or column, or a value is of another type.

        >>> with World("library") as world:
        ...     world.set_state({"books": [{"title": "On Ito", "copies": 1}]})
        ...     found = world.call(None, "find_book", {})
        >>> found["title"]
        'On Ito'
        """
        replace_rows(self, state)
        self._settle(state.get("facts", ()))
        self._begun = self.image()

    def state(self) -> Changes:
        """What the calls left behind: rows added and removed since the world began, by table.

        Two plans that began in the same world end in the same state exactly when this is equal.
        """
        initial = connect(":memory:")
        try:
            initial.deserialize(self._begun)
            with self._lock:
                return changes(initial, self.connection, self.definition)
        finally:
            initial.close()

    def _settle(self, facts: Facts) -> None:
        if facts:
            from planner_eval.execution.worlds.facts import establish_facts

            establish_facts(self, facts)

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database."""
        self.connection.close()

    @property
    def tools(self) -> dict[str, Callable[..., dict[str, Any]]]:
        """The APIs as functions with named arguments, by full name, and by bare name where that is unique.

        The bare name is for calls that name no app: of a call of another app the executor says so.
        """
        apis = self.definition.apis.values()
        names = [api.name for api in apis]
        functions: dict[str, Callable[..., dict[str, Any]]] = {}
        for api in apis:
            function = partial(self._called, api)
            vars(function).update(__name__=api.name, __doc__=api.about, offering_app=api.app)
            functions[api.full_name] = function
            if names.count(api.name) == 1:
                functions.setdefault(api.name, functions[api.full_name])
        return functions

    def call(self, app: str | None, name: str, arguments: Values) -> dict[str, Any]:
        """Make one call.

        Args:
            app: The app, or None where the name says enough.
            name: The API's name.
            arguments: Values by argument name, as texts or typed.

        Returns:
            The outputs by name; {} when a search finds nothing.

        Raises:
            CallError: the call cannot be made or is refused; the world is then as it was before.
        """
        return self.perform(self.definition.find(name, app), arguments)

    def _called(self, api: Api, /, **arguments: Any) -> dict[str, Any]:
        return self.perform(api, arguments)

    def perform(self, api: Api, arguments: Values) -> dict[str, Any]:
        """Make a call to an API of this world; see :meth:`call`."""
        values = self.arguments(api, arguments)
        with self._lock:
            try:
                return self._answered(api, values)
            except sqlite3.IntegrityError as error:  # of a statement that no table's rule foresaw
                raise Refused(f"{api.full_name} breaks a rule of the world's tables: {error}") from None
            except (sqlite3.Error, OverflowError) as error:
                raise Refused(f"{api.full_name} cannot be carried out: {error}") from None
            except TooLong as error:
                raise TooLong(f"{api.full_name} cannot be carried out: {error}") from None

    def _answered(self, api: Api, values: dict[str, Any]) -> dict[str, Any]:
        if not api.acts:
            return ApiCall(self, api, values).execute()
        self.connection.execute("SAVEPOINT call")
        try:
            outputs = ApiCall(self, api, values).execute()
        except BaseException:
            if self.connection.in_transaction:  # SQLite itself takes back all of what is ended half-way
                self.connection.execute("ROLLBACK TO call")
                self.connection.execute("RELEASE call")
            raise
        self.connection.execute("RELEASE call")
        return outputs

    def dump(self) -> str:
        """The whole database as text: equal for worlds in the same state, whatever the order of calls."""
        with self._lock:
            return dump(self.connection, self.definition)

    # ------------------------------------------------------------ a call, step by step
    def arguments(self, api: Api, supplied: Values, *, partial: bool = False) -> dict[str, Any]:
        """The arguments as the database holds them, defaults included, None where one is left out.

        Args:
            api: The API.
            supplied: Values by argument name.
            partial: Whether required ones may be left out.
        """
        names = {a.name for a in api.arguments}
        for name in supplied:
            if name not in names and not api.open:
                takes = ", ".join(sorted(names)) or "none"
                raise UnknownArgument(f"{api.full_name} has no argument {name[:60]!r}; it has {takes}")
        values: dict[str, Any] = {}
        for argument in api.arguments:
            value = supplied.get(argument.name)
            if value is None and argument.required and not partial:
                raise MissingArgument(f"{api.full_name} needs the argument {argument.name!r}")
            if value is None:
                value = self.definition.today if argument.default == "today" else argument.default
            if value is not None:
                value = to_stored_value(
                    argument.name, self._spelled(api, argument.name, value), argument.type
                )
            values[argument.name] = value
        return values

    def _spelled(self, api: Api, name: str, value: Any) -> Any:
        """A value under the spelling that the world uses, where its column draws from a pool."""
        if not isinstance(value, str) or not self.definition.aliases:
            return value
        column = next((match.column for match in api.matches if match.argument == name), None)
        table = self.definition.tables.get(api.reads or "")
        matched_column = table.column(column) if table and column else None
        if matched_column is None or matched_column.maker.kind != "pool":
            return value
        return self.definition.aliases.get(value.strip().casefold(), value)

    # ------------------------------------------------------------ how it begins
    def _populate(self) -> None:
        """Fill the tables with the rows that the world has without any facts."""
        making = self.making
        self.connection.execute("BEGIN")
        for table in self.definition.tables.values():
            random = Random(f"{self.seed}/{table.name}")
            rows = [making.row(table, {}, random) for _ in range(table.rows)]
            insert(self.connection, table, rows, lenient=True)
        self.connection.execute("COMMIT")

    @property
    def making(self) -> ValueMaker:
        """How this world makes values and rows."""
        return ValueMaker(self.definition, self.seed, self.held)

    def held(self, table: str, column: str, random: Random) -> Any:
        """Some value that a table's column holds."""
        cursor = self.connection.execute(
            f"SELECT {quote_name(column)} FROM {quote_name(table)} ORDER BY rowid"
        )
        values = [value for (value,) in cursor if value is not None]
        return random.choice(values) if values else None


# ----------------------------------------------------------------------
# The state in which a world begins, where a record brings its own.
FACTS_KEY = "facts"
"""What is no table: calls that the world must be able to answer."""


def replace_rows(world: World, state: Any) -> None:
    """Have tables hold the rows of a state instead of their own.

    Args:
        world: The world, which no call has changed.
        state: By table its rows; see :meth:`planner_eval.execution.worlds.World.set_state`.

    Raises:
        CallError: there is no such table or column, or a row cannot be.
    """
    if not isinstance(state, Mapping):
        raise CallError(
            f"a world's state is an object of tables and their rows, found {one_line_json(state, 60)}"
        )
    tables = world.definition.tables
    for name, rows in state.items():
        if name == FACTS_KEY:
            _check_facts(rows)
            continue
        if name not in tables:
            raise CallError(f"there is no table {name!r}{_suggest_name(name, tables)}")
        if not isinstance(rows, list):
            raise CallError(f"{name}: expected an array of rows, found {one_line_json(rows, 60)}")
        world.connection.execute(f"DELETE FROM {quote_name(name)}")
        for number, row in enumerate(rows, 1):
            _insert(world, tables[name], row, f"{name}, row {number}")


def _check_facts(facts: Any) -> None:
    lists = facts if isinstance(facts, list) else [facts]
    calls = [call for fact in lists for call in (fact if isinstance(fact, list) else [fact])]
    if not all(isinstance(call, Mapping) and {"name", "arguments"} <= call.keys() for call in calls):
        raise CallError(
            f"{FACTS_KEY}: expected calls with name and arguments, found {one_line_json(facts, 60)}"
        )


def _insert(world: World, table: Table, row: Any, location: str) -> None:
    if not isinstance(row, Mapping):
        raise CallError(f"{location}: expected an object, found {one_line_json(row, 60)}")
    values = {}
    for name, value in row.items():
        column = table.column(name)
        if column is None:
            hint = _suggest_name(name, [column.name for column in table.columns])
            raise CallError(f"{location}: there is no column {name!r}{hint}")
        try:
            values[name] = None if value is None else to_stored_value(name, value, column.type)
        except CallError as error:
            raise CallError(f"{location}: {error}") from None
    full_row = world.making.row(table, values, Random(f"{world.seed}/{location}"))
    try:
        insert(world.connection, table, [full_row])
    except (sqlite3.Error, OverflowError) as error:
        raise CallError(f"{location}: cannot be stored in the table: {error}") from None


def _suggest_name(name: str, names: Iterable[str]) -> str:
    return did_you_mean(name, names, f"; expected one of {', '.join(names)}", lead="; ")


# ----------------------------------------------------------------------
# A world as a source of tools for the executor: populated once, and given to each plan as it began.
#
# What goes to a worker is the definition and an image of the populated database, so that a world with the
# facts of a thousand plans costs a worker no more than an empty one. A world in a Python file is code that
# was not shipped: only the worker runs it, and populates it for each plan.
def world_source(
    world: str | Path | Definition | World,
    *,
    seed: int | str = 0,
    facts: Facts = (),
) -> ToolSource:
    """The tools of a world, for :func:`planner_eval.execution.run`.

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
        source = factory_source(f"world:{world}", "planner_eval.execution.worlds.world", "begun", arguments)
        # each plan's worker reads the file: what checks it is imported once, before they are forked
        preload = [
            *source.data["preload"],
            "planner_eval.execution.worlds.reading",
            "planner_eval.execution.worlds.schema",
        ]
        data = {**source.data, "preload": preload}
        return replace(source, data=data, read=(*source.read, arguments["path"]), threads=True)
    populated = world.copy(facts) if isinstance(world, World) else World(world, seed=seed, facts=facts)
    arguments = {
        "definition": pickle.dumps(populated.definition),
        "seed": populated.seed,
        "image": populated.image(),
    }
    name = f"world:{populated.definition.name}"
    source = factory_source(name, "planner_eval.execution.worlds.world", "restored", arguments)
    return replace(source, notes=populated.unmet)


def restored(definition: bytes, seed: str, image: bytes) -> World:
    """The world that :func:`world_source` packed; runs in the worker, on data from its parent."""
    return World.from_image(_unpack_definition(definition), seed, image)


@lru_cache(maxsize=4)
def _unpack_definition(definition: bytes) -> Definition:
    """A packed definition; to unpack it takes longer than to restore the database, and nothing changes it."""
    unpacked: Definition = pickle.loads(definition)
    return unpacked


def begun(path: str, seed: int | str, facts: Facts) -> World:
    """The world of a Python file, populated; runs in the worker."""
    return World(Path(path), seed=seed, facts=facts)


def read_facts(path: str | PlanFile) -> list[list[dict[str, Any]]]:
    """The facts of all plans in a file; a record that holds no readable plan says nothing.

    Args:
        path: A plan, or a file of records with plans; gold plans where a file holds both. Or what was read.

    Raises:
        InputError: the file is missing or unreadable.
    """
    from planner_eval.execution.worlds.facts import facts_of
    from planner_eval.reading.files.files import read_path
    from planner_eval.reading.files.record import read_plan

    facts: list[list[dict[str, Any]]] = []
    file = read_path(path, role="gold") if isinstance(path, str) else path
    for record in file.records:
        try:
            facts += facts_of([read_plan(record)])
        except ParseError:
            facts.append([])  # so that the others keep their numbers
    return facts
