"""Facts: what must be there so that given plans can be carried out, hidden among distractors.

Facts are calls, taken from plans: their literals, and references to earlier calls. The world's builder goes
through them in order. Where a call finds what it is about, nothing happens; where it does not, the missing
row is made from the call's values and put at a random place among ten rows that differ from it in at least
one of those values. Before what a search finds stands a row for each filter that may be left out, which has
all other values that are sought: the search without that filter finds another row. Where an API says in what
state a row must be to be of use (``fact``), a row that was made gets that state. What the calls themselves
change is undone at the end: facts are the state before the plan.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

from planner_eval.base.errors import InputError
from planner_eval.catalogs.json_schema.types import find_objects
from planner_eval.execution.worlds.database import (
    ApiCall,
    Row,
    insert,
    parameter_name,
    quote_name,
    run_statement,
    select,
)
from planner_eval.execution.worlds.definition import CallError, Column, Refused, Table, TooLong, Values
from planner_eval.plan.graph import generations
from planner_eval.plan.model import Plan, Ref, Unresolved, Value, fold

if TYPE_CHECKING:
    from planner_eval.execution.worlds.world import World


DISTRACTOR_COUNT = 10
"""How many other rows each fact that has to be made is mixed with."""

MAX_ROUNDS = 6
"""How often the facts are gone through at most, until nothing more has to be made."""

FactCalls: TypeAlias = Sequence[Mapping[str, Any]]
"""The calls of one plan: ``app``, ``name`` and ``arguments`` of each."""

Facts: TypeAlias = Sequence[FactCalls]
"""The calls of each plan."""

_REFERENCE_KEY = "$ref"
_TEXT_KEY = "$text"
_MISSING = object()


def facts_of(plans: Iterable[Plan], *, holes: Sequence[str] = ("?", "$$$")) -> list[list[dict[str, Any]]]:
    """The facts of plans, as JSON data.

    Args:
        plans: The plans.
        holes: Literals that stand for a value still unknown; a call that has one says nothing.

    Returns:
        For each plan its calls as written, save that producers come first; a reference is
        ``{"$ref": [position in that list, [path]]}``. Calls that depend on themselves are left out.

    >>> from planner_eval.reading.dialects.read import parse
    >>> facts_of([parse("A: [x = f(#city='Oslo')]")])
    [[{'app': 'A', 'name': 'f', 'arguments': {'city': 'Oslo'}}]]
    """
    return [_plan_facts(plan, frozenset(holes)) for plan in plans]


def _plan_facts(plan: Plan, holes: frozenset[str]) -> list[dict[str, Any]]:
    needs: list[set[int]] = [set() for _ in plan.calls]
    for edge in plan.edges:
        needs[edge.consumer].add(edge.producer)
    placed: dict[int, int] = {}
    facts: list[dict[str, Any]] = []
    for (position,) in generations(needs, singly=True):
        call = plan.calls[position]
        arguments = {name: _fact_data(value, placed, holes) for name, value in call.arguments}
        placed[position] = len(facts)
        facts.append({"app": call.app, "name": call.name, "arguments": arguments})
    return facts


def _fact_data(value: Value, placed: Mapping[int, int], holes: frozenset[str]) -> Any:
    """A linked value as JSON data; what nobody knows is a reference to nothing."""

    def convert_leaf(leaf: Value) -> Any:
        if isinstance(leaf, Ref):
            return {_REFERENCE_KEY: [placed[leaf.call], list(leaf.path)]}
        return {_REFERENCE_KEY: [-1, []]} if isinstance(leaf, Unresolved) else leaf

    def convert_value(leaf: Value) -> Any:
        return {_REFERENCE_KEY: [-1, []]} if type(leaf) is str and leaf in holes else convert_leaf(leaf)

    return fold(value, convert_value, text=lambda segments: {_TEXT_KEY: list(map(convert_leaf, segments))})


@dataclass(slots=True)
class _MadeRow:
    """A row that was made, and where it stands until the plan's own changes are undone."""

    table: Table
    row: Row
    rowid: int
    first: bool


def establish_facts(world: World, facts: Facts) -> None:
    """Make a world able to answer the facts; called once, before the world is used."""
    world.connection.execute("BEGIN")
    builder = _FactBuilder(world, facts)
    for _ in range(MAX_ROUNDS):  # a row that stands before one plan's may be what another search finds
        builder.unmet.clear()
        if not any([builder.make_plan(calls, number) for number, calls in enumerate(facts, 1)]):
            break
    world.unmet = tuple(builder.unmet)
    world.connection.execute("COMMIT")


class _FactBuilder:
    """Makes the rows that facts need.

    ``unmet`` has the calls that the world refuses none the less, each with where it stands, and why.

    Args:
        world: The world.
        facts: The calls of each plan.
    """

    def __init__(self, world: World, facts: Facts) -> None:
        self.world = world
        self.unmet: list[str] = []
        self.sought: dict[tuple[str, str], set[str]] = {}  # by table and column what searches ask for
        self.used: set[str] = set()  # outputs that later calls take from a search that does not ask for them
        for calls in facts:
            references = (node.get(_REFERENCE_KEY, (-1, ())) for node in find_objects(calls))
            for position, path in references:
                asks = calls[position]["arguments"] if 0 <= position < len(calls) else {}
                self.used.update(str(step) for step in path if step not in asks)
        self.made: list[_MadeRow] = []  # for the plan at hand
        self.fixed: set[str] = set()  # arguments of the call at hand that a search of the same table gave

    def make_plan(self, calls: FactCalls, number: int) -> bool:
        """Make what a plan's calls need; whether a row was put before others."""
        connection = self.world.connection
        connection.execute("SAVEPOINT fact")
        self.made = []
        results: list[Any] = []
        for position, call in enumerate(calls, 1):
            self.fixed = self._arguments_from_same_table(calls, call)
            results.append(self._answer(call, results, f"plan {number}, call {position} ({call['name']})"))
        connection.execute("ROLLBACK TO fact")
        connection.execute("RELEASE fact")
        for made_row in self.made:
            insert(connection, made_row.table, [made_row.row], lenient=True, first=made_row.first)
        return any(made_row.first for made_row in self.made)

    def _arguments_from_same_table(self, calls: FactCalls, call: Mapping[str, Any]) -> set[str]:
        """The arguments that are outputs of an earlier search of the table that the call reads.

        What such a search finds first has these values: no row can stand before it that has not.
        """
        names: set[str] = set()
        for name, value in call["arguments"].items():
            position = value.get(_REFERENCE_KEY, (-1,))[0] if isinstance(value, dict) else -1
            if 0 <= position < len(calls) and self._table_of(calls[position]) == self._table_of(call):
                names.add(name)
        return names

    def _table_of(self, call: Mapping[str, Any]) -> str | None:
        try:
            return self.world.definition.find(call["name"], call.get("app")).reads
        except CallError:
            return None

    def _answer(self, call: Mapping[str, Any], results: Sequence[Any], where: str) -> Any:
        """The call's outputs, once what it is about has been made where it was missing; None if it fails."""
        world = self.world
        resolved = {name: _resolve_references(value, results) for name, value in call["arguments"].items()}
        arguments = {name: value for name, value in resolved.items() if value is not _MISSING}
        try:
            api = world.definition.find(call["name"], call.get("app"))
            api_call = ApiCall(world, api, world.arguments(api, arguments, partial=True))
            api_call.refuse_invalid_arguments()
            self._provide_rows(api_call)
            if len(arguments) < len(resolved):
                return None
            try:
                return world.perform(api, arguments) or None
            except TooLong:
                raise
            except Refused:
                if not self._adjust_made_rows(api_call):
                    raise
                return world.perform(api, arguments) or None
        except TooLong as error:
            raise InputError(
                f"{world.definition.name}: the facts cannot be made: {call['name']}: {error}"
            ) from None
        except (CallError, sqlite3.Error, OverflowError) as error:
            rule = getattr(error, "rule", "")
            self.unmet.append(f"{where}: {error}{f' (the world requires {rule})' if rule else ''}")
            return None

    # ------------------------------------------------------------ what a call needs
    def _provide_rows(self, call: ApiCall) -> None:
        """Make what a call is about, where it is missing, and see that enough else is there."""
        fixed = _required_state(call)
        for name, column, argument in list(call.unknown_values()):
            state = fixed if name == call.api.reads else {}
            self._insert_among_distractors(
                self.world.definition.tables[name], {column: call.values[argument]}, state
            )
        table = call.table
        required_values = {match.column: call.values[argument] for argument, match in call.filters.items()}
        if table is None or call.api.python is not None or not (required_values or fixed):
            return
        for name, value in required_values.items():
            self.sought.setdefault((table.name, name), set()).add(str(value).casefold())
        exists = bool(call.find_rows())
        if not exists:
            self._insert_among_distractors(table, required_values, fixed)
        if not call.api.acts and (table.rows or not exists):
            self._distinguish_filters(call, table, fixed, required_values)
        if not table.rows:  # a table that begins empty holds what plans do, not what they find
            return
        same = " AND ".join(f"{quote_name(name)} IS :{parameter_name(name)}" for name in required_values)
        conditions = [f"NOT ({same or 0})"]
        connection, limit = self.world.connection, DISTRACTOR_COUNT
        row_count = len(select(connection, table, where=conditions, values=required_values, limit=limit))
        for number in range(row_count, DISTRACTOR_COUNT):
            random = self._random(table, f"more/{number}", sorted(required_values.items()))
            self._insert_row(table, self._make_distractor(table, required_values, random), random)

    def _distinguish_filters(self, call: ApiCall, table: Table, fixed: Values, required: Values) -> None:
        """See that the search finds another row first when it drops a filter that may be left out."""
        for match in call.api.matches:
            less = drop_filter(call, match.argument)
            if less is None or match.argument in self.fixed:
                continue
            first_rows = call.find_rows()[:1]
            if not first_rows or less.find_rows()[:1] != first_rows:
                continue
            random = self._random(table, f"without/{match.argument}", sorted(required.items()))
            column = table.column(match.column)
            assert column is not None
            row_values = {**fixed, **required, match.column: less.values[match.argument]}
            if row_values[match.column] is None:
                value, sought = call.values[match.argument], self.sought.get((table.name, match.column), ())
                other = self._find_excluded_value(column, match.op, value, row_values, random, sought)
                if other is None and column.name in self.used:  # a later call could do nothing without it
                    other = self._find_excluded_value(column, match.op, value, row_values, random, ())
                    if other is None:
                        continue
                row_values[match.column] = other
            self._insert_row(table, row_values, random, first=True)

    def _find_excluded_value(
        self, column: Column, op: str, value: Any, row: Values, random: Random, barred: Collection[str]
    ) -> Any:
        """A value of the column that a filter keeps out, and no search asks for; None if there is none."""
        if op == "contains":
            return None
        for _ in range(20):
            other = self.world.making.value(column, row, random)
            if other is None or (op == "<=" and other <= value) or (op == ">=" and other >= value):
                continue
            if str(other).casefold() not in barred:
                return other
        texts = (f"other {number}" for number in count(1))
        return next(other for other in texts if other not in barred) if column.type == "text" else None

    def _adjust_made_rows(self, call: ApiCall) -> bool:
        """Give rows that were made the state in which the call can use them; False when they had that."""
        fixed, connection = _required_state(call), self.world.connection
        about = {row["rowid"] for row in call.find_rows()[:1]} | _find_known_rows(call)
        changed = False
        for made_row in self.made:
            if made_row.table.name != call.api.reads or made_row.rowid not in about:
                continue
            if any(made_row.row[name] != value for name, value in fixed.items()):
                made_row.row.update(fixed)
                changes = ", ".join(f"{quote_name(name)} = :{parameter_name(name)}" for name in fixed)
                table = quote_name(made_row.table.name)
                run_statement(
                    connection, f"UPDATE {table} SET {changes} WHERE rowid = {made_row.rowid:d}", fixed
                )
                changed = True
        return changed

    # ------------------------------------------------------------ rows
    def _random(self, table: Table, purpose: str, key: object) -> Random:
        return Random(f"{self.world.seed}/{table.name}/{purpose}/{key}")

    def _insert_among_distractors(self, table: Table, required: Values, fixed: Values) -> None:
        """Put a row with these values among ten others that lack at least one of those wanted."""
        random = self._random(
            table, "fact", "/".join(f"{name}={required[name]}" for name in sorted(required))
        )
        chosen_position = random.randrange(DISTRACTOR_COUNT + 1)
        for position in range(DISTRACTOR_COUNT + 1):
            is_chosen = position == chosen_position
            other = {} if is_chosen else self._make_distractor(table, required or fixed, random)
            self._insert_row(table, {**fixed, **required} if is_chosen else other, random)

    def _insert_row(self, table: Table, row_values: Values, random: Random, *, first: bool = False) -> None:
        settled = self._find_dependent_values(table, row_values)
        row = self.world.making.row(table, row_values, random, settled_values=settled)
        rowid = insert(self.world.connection, table, [row], lenient=True, first=first)
        self.made.append(_MadeRow(table, row, rowid, first))

    def _make_distractor(self, table: Table, required: Values, random: Random) -> Row:
        """Some of the wanted values, at least one of them changed."""
        names = list(required)
        changed = {name for name in names if random.random() < 0.5} or (
            {random.choice(names)} if names else set()
        )
        row_values = {name: value for name, value in required.items() if name not in changed}
        for name in names:
            column = table.column(name)
            if name in changed and column is not None:
                row_values[name] = self._different_value(column, required[name], row_values, random)
        return row_values

    def _different_value(self, column: Column, value: Any, row: Values, random: Random) -> Any:
        """A value of the column other than `value`."""
        if column.type == "boolean":
            return 1 - int(value)
        for _ in range(20):
            other = self.world.making.value(column, row, random)
            if other is not None and str(other).casefold() != str(value).casefold():
                return other
        if column.type in ("integer", "number"):
            return value + random.randrange(1, 9)
        return (
            f"{value} {random.choice(('North', 'South', 'East', 'West'))}" if column.type == "text" else None
        )

    def _find_dependent_values(self, table: Table, row_values: Values) -> Row:
        """Values that existing rows settle, for columns that depend on given ones."""
        settled: Row = {}
        for column in table.columns:
            keys = {key: row_values.get(key) for key in column.maker.by}
            if not keys or column.name in row_values or None in keys.values():
                continue
            conditions = [f"{quote_name(key)} = :{parameter_name(key)}" for key in keys]
            for row in select(self.world.connection, table, where=conditions, values=keys, limit=1):
                settled[column.name] = row[column.name]
        return settled


def drop_filter(call: ApiCall, argument: str) -> ApiCall | None:
    """A search that leaves out a filter; None where it cannot, or says the same without."""
    declared = next(a for a in call.api.arguments if a.name == argument)
    if declared.required or call.values.get(argument) is None:
        return None
    default = call.world.arguments(call.api, {}, partial=True)[argument]
    same = default == call.values[argument]
    return None if same else ApiCall(call.world, call.api, {**call.values, argument: default})


def _find_known_rows(call: ApiCall) -> set[int]:
    """The rows of the table that the call reads which it knows by another argument."""
    rowids = (
        call.find_known(argument, name, column)
        for argument, columns in call.api.known
        for name, column in columns
        if name == call.api.reads and call.values.get(argument) is not None
    )
    return {rowid[0] for rowid in rowids if rowid is not None}


def _required_state(call: ApiCall) -> Row:
    """What the API says of a row that is made for it."""
    state = {name: call.compute(text) for name, text in call.api.fact}
    return {name: value for name, value in state.items() if value is not None}


def _resolve_references(value: Any, results: Sequence[Any]) -> Any:
    """A fact's value with its references replaced by what the earlier calls gave."""

    def items(values: list[Any]) -> Any:
        return _MISSING if any(item is _MISSING for item in values) else values

    def fields(mapping: dict[str, Any]) -> Any:
        if _REFERENCE_KEY in mapping:
            position, path = mapping[_REFERENCE_KEY]
            return _follow_path(results[position] if 0 <= position < len(results) else None, path)
        if items([*mapping.values()]) is _MISSING:
            return _MISSING
        return "".join(map(str, mapping[_TEXT_KEY])) if _TEXT_KEY in mapping else mapping

    return fold(value, lambda leaf: leaf, items=items, fields=fields)


def _follow_path(value: Any, path: Sequence[Any]) -> Any:
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return _MISSING
    return _MISSING if value is None else value
