"""A world: a small database with APIs over it, in which searching filters and booking changes state."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from threading import RLock
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.base.text import did_you_mean, one_line_json
from planner_eval.execution.worlds.database import (
    changes,
    connect,
    create_tables,
    dump,
    execute_call,
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
)
from planner_eval.execution.worlds.generic import ValueMaker


# ----------------------------------------------------------------------
# A world: a small database with APIs over it, in which searching filters and booking changes state.
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
        facts: Sequence[Sequence[Mapping[str, Any]]] = (),
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
        if self._empty():
            self._populate()
            self._settle(facts)
        elif facts:
            raise InputError(f"{database} holds a world already; facts belong to a world that begins")
        self._begun = self.image()

    def copy(self, facts: Sequence[Sequence[Mapping[str, Any]]] = ()) -> World:
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

    def set_state(self, state: Mapping[str, Any]) -> None:
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

    def state(self) -> dict[str, dict[str, list[dict[str, Any]]]]:
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

    def _settle(self, facts: Sequence[Sequence[Mapping[str, Any]]]) -> None:
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
        """The APIs as functions with named arguments, by full name, and by bare name where that is unique."""
        apis = self.definition.apis.values()
        names = [api.name for api in apis]
        functions: dict[str, Callable[..., dict[str, Any]]] = {}
        for api in apis:
            functions[api.full_name] = _name_function(partial(self._called, api), api)
            if names.count(api.name) == 1:
                functions.setdefault(api.name, functions[api.full_name])
        return functions

    def call(self, app: str | None, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
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

    def perform(self, api: Api, arguments: Mapping[str, Any]) -> dict[str, Any]:
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
            return execute_call(self, api, values)
        self.connection.execute("SAVEPOINT call")
        try:
            outputs = execute_call(self, api, values)
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
    def arguments(self, api: Api, supplied: Mapping[str, Any], *, partial: bool = False) -> dict[str, Any]:
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
                raise UnknownArgument(f"{api.full_name} takes no argument {name[:60]!r}; it takes {takes}")
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
    def _empty(self) -> bool:
        """Whether no table holds a row, as in a database that was just made."""
        names = map(quote_name, self.definition.tables)
        return not any(self.connection.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone() for name in names)

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


def _name_function(function: Callable[..., Any], api: Api) -> Callable[..., Any]:
    """The function under the API's name, for messages."""
    function.__name__ = api.name
    function.__doc__ = api.about
    return function


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
            raise CallError(
                f"{location}: there is no column {name!r}{_suggest_name(name, _column_names(table))}"
            )
        try:
            values[name] = None if value is None else to_stored_value(name, value, column.type)
        except CallError as error:
            raise CallError(f"{location}: {error}") from None
    full_row = world.making.row(table, values, Random(f"{world.seed}/{location}"))
    try:
        insert(world.connection, table, [full_row])
    except (sqlite3.Error, OverflowError) as error:
        raise CallError(f"{location}: cannot stand in the table: {error}") from None


def _column_names(table: Table) -> list[str]:
    return [column.name for column in table.columns]


def _suggest_name(name: str, names: Iterable[str]) -> str:
    return did_you_mean(name, names, f"; there are {', '.join(names)}", lead="; ")
