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
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import InputError
from planner_eval.execution.worlds.database import (
    compute,
    find_rows,
    find_unknown_values,
    insert,
    parameter_name,
    quote_name,
    refuse_invalid_arguments,
    run_statement,
    select,
)
from planner_eval.execution.worlds.definition import Api, CallError, Column, Refused, Table, TooLong
from planner_eval.plan.graph import generations
from planner_eval.plan.model import Plan, Ref, Unresolved, Value, fold

if TYPE_CHECKING:
    from planner_eval.execution.worlds.world import World


DISTRACTOR_COUNT = 10
"""How many other rows each fact that has to be made is mixed with."""

MAX_ROUNDS = 6
"""How often the facts are gone through at most, until nothing more has to be made."""

_REFERENCE_KEY = "$ref"
_TEXT_KEY = "$text"
_MISSING = object()


@dataclass(slots=True)
class _Demands:
    """What the facts say of columns.

    Args:
        used: Names of outputs that later calls take from a search that does not ask for them.
        values: By table and column what searches ask for.
        fixed: Arguments of the call at hand that a search of the same table gave.
        place: Where the call at hand stands.
        unmet: Calls that the world refuses none the less, each with where it stands, and why.
    """

    used: set[str]
    values: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)
    place: str = ""
    unmet: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, facts: Sequence[Sequence[Mapping[str, Any]]]) -> _Demands:
        """What is known beforehand."""
        used: set[str] = set()
        for calls in facts:

            def collect_used(fields: dict[str, Any], calls: Sequence[Mapping[str, Any]] = calls) -> Any:
                position, path = fields.get(_REFERENCE_KEY, (-1, ()))
                asks = calls[position]["arguments"] if 0 <= position < len(calls) else {}
                used.update(str(step) for step in path if step not in asks)
                return fields

            for call in calls:
                fold(dict(call["arguments"]), lambda leaf: leaf, fields=collect_used)
        return cls(used)


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
    row: dict[str, Any]
    rowid: int
    first: bool = False


def establish_facts(world: World, facts: Sequence[Sequence[Mapping[str, Any]]]) -> None:
    """Make a world able to answer the facts; called once, before the world is used."""
    world.connection.execute("BEGIN")
    demands = _Demands.of(facts)
    for _ in range(MAX_ROUNDS):  # a row that stands before one plan's may be what another search finds
        demands.unmet.clear()
        if not any(
            [_make_plan_facts(world, calls, demands, number) for number, calls in enumerate(facts, 1)]
        ):
            break
    world.unmet = tuple(demands.unmet)
    world.connection.execute("COMMIT")


def _make_plan_facts(
    world: World, calls: Sequence[Mapping[str, Any]], demands: _Demands, number: int
) -> bool:
    """Make what a plan's calls need; whether a row was put before others."""
    world.connection.execute("SAVEPOINT fact")
    made_rows: list[_MadeRow] = []
    results: list[Any] = []
    for position, call in enumerate(calls, 1):
        demands.fixed = _arguments_from_same_table(world, calls, call)
        demands.place = f"plan {number}, call {position} ({call['name']})"
        results.append(_answer_call(world, call, results, made_rows, demands))
    world.connection.execute("ROLLBACK TO fact")
    world.connection.execute("RELEASE fact")
    for made_row in made_rows:
        insert(world.connection, made_row.table, [made_row.row], lenient=True, first=made_row.first)
    return any(made_row.first for made_row in made_rows)


def _arguments_from_same_table(
    world: World, calls: Sequence[Mapping[str, Any]], call: Mapping[str, Any]
) -> set[str]:
    """The arguments that are outputs of an earlier search of the table that the call reads.

    What such a search finds first has these values: no row can stand before it that has not.
    """
    names: set[str] = set()
    for name, value in call["arguments"].items():
        position = value.get(_REFERENCE_KEY, (-1,))[0] if isinstance(value, dict) else -1
        if 0 <= position < len(calls):
            tables = {_table_of(world, c) for c in (calls[position], call)}
            names.update({name} if len(tables) == 1 else ())
    return names


def _table_of(world: World, call: Mapping[str, Any]) -> str | None:
    try:
        return world.definition.find(call["name"], call.get("app")).reads
    except CallError:
        return None


def _answer_call(
    world: World,
    call: Mapping[str, Any],
    results: Sequence[Any],
    made_rows: list[_MadeRow],
    demands: _Demands,
) -> Any:
    """The call's outputs, once what it is about has been made where it was missing; None if it fails."""
    resolved = {name: _resolve_references(value, results) for name, value in call["arguments"].items()}
    arguments = {name: value for name, value in resolved.items() if value is not _MISSING}
    try:
        api = world.definition.find(call["name"], call.get("app"))
        values = world.arguments(api, arguments, partial=True)
        refuse_invalid_arguments(world, api, values)
        _provide_rows(world, api, values, made_rows, demands)
        if len(arguments) < len(resolved):
            return None
        try:
            return world.perform(api, arguments) or None
        except TooLong:
            raise
        except Refused:
            if not _adjust_made_rows(world, api, values, made_rows):
                raise
            return world.perform(api, arguments) or None
    except TooLong as error:
        raise InputError(
            f"{world.definition.name}: the facts cannot be made: {call['name']}: {error}"
        ) from None
    except (CallError, sqlite3.Error, OverflowError) as error:
        rule = getattr(error, "rule", "")
        demands.unmet.append(f"{demands.place}: {error}{f' (the world requires {rule})' if rule else ''}")
        return None


def _provide_rows(
    world: World, api: Api, values: Mapping[str, Any], made_rows: list[_MadeRow], demands: _Demands
) -> None:
    """Make what a call is about, where it is missing, and see that enough else is there."""
    fixed = _required_state(world, api, values)
    for name, column, argument in list(find_unknown_values(world, api, values)):
        state = fixed if name == api.reads else {}
        _insert_among_distractors(
            world, world.definition.tables[name], {column: values[argument]}, state, made_rows
        )
    table = world.definition.tables.get(api.reads or "")
    required_values = _required_values(api, values)
    if table is None or api.python is not None or not (required_values or fixed):
        return
    for name, value in required_values.items():
        demands.values.setdefault((table.name, name), set()).add(str(value).casefold())
    exists = bool(find_rows(world, api, values))
    if not exists:
        _insert_among_distractors(world, table, required_values, fixed, made_rows)
    if not api.acts and (table.rows or not exists):
        _distinguish_filters(world, api, values, fixed, made_rows, demands)
    if not table.rows:  # a table that begins empty holds what plans do, not what they find
        return
    same = " AND ".join(f"{quote_name(name)} IS :{parameter_name(name)}" for name in required_values) or "0"
    for number in range(_count_rows(world, table, f"NOT ({same})", required_values), DISTRACTOR_COUNT):
        random = Random(f"{world.seed}/{table.name}/more/{number}/{sorted(required_values.items())}")
        _insert_row(world, table, _make_distractor(table, required_values, world, random), random, made_rows)


def _distinguish_filters(
    world: World,
    api: Api,
    values: Mapping[str, Any],
    fixed: Mapping[str, Any],
    made_rows: list[_MadeRow],
    demands: _Demands,
) -> None:
    """See that the search finds another row first when it drops a filter that may be left out."""
    table = world.definition.tables[api.reads or ""]
    required_values = _required_values(api, values)
    for match in api.matches:
        less = drop_filter(world, api, values, match.argument)
        if less is None or match.argument in demands.fixed:
            continue
        first_rows = find_rows(world, api, values)[:1]
        if not first_rows or find_rows(world, api, less)[:1] != first_rows:
            continue
        random = Random(
            f"{world.seed}/{table.name}/without/{match.argument}/{sorted(required_values.items())}"
        )
        column = table.column(match.column)
        assert column is not None
        row_values = {**fixed, **required_values}
        row_values[match.column] = less[match.argument]
        if row_values[match.column] is None:
            barred = demands.values.get((table.name, match.column), set())
            other = _find_excluded_value(
                column, match.op, values[match.argument], row_values, world, random, barred
            )
            if other is None and column.name in demands.used:  # a later call could do nothing without it
                other = _find_excluded_value(
                    column, match.op, values[match.argument], row_values, world, random, ()
                )
                if other is None:
                    continue
            row_values[match.column] = other
        _insert_row(world, table, row_values, random, made_rows, first=True)


def drop_filter(world: World, api: Api, values: Mapping[str, Any], argument: str) -> dict[str, Any] | None:
    """The values of a search that leaves out a filter; None where it cannot, or says the same without."""
    declared = next(a for a in api.arguments if a.name == argument)
    if declared.required or values.get(argument) is None:
        return None
    default = world.arguments(api, {}, partial=True)[argument]
    return None if default == values[argument] else {**values, argument: default}


def _find_excluded_value(
    column: Column,
    op: str,
    value: Any,
    row: Mapping[str, Any],
    world: World,
    random: Random,
    barred: Collection[str],
) -> Any:
    """A value of the column that a filter keeps out, and no search asks for; None if there is none."""
    if op == "contains":
        return None
    for _ in range(20):
        other = world.making.value(column, row, random)
        if other is None or (op == "<=" and other <= value) or (op == ">=" and other >= value):
            continue
        if str(other).casefold() not in barred:
            return other
    texts = (f"other {number}" for number in count(1))
    return next(other for other in texts if other not in barred) if column.type == "text" else None


def _count_rows(world: World, table: Table, condition: str, values: Mapping[str, Any]) -> int:
    """How many rows meet a condition, as far as it matters."""
    return len(select(world.connection, table, where=[condition], values=values, limit=DISTRACTOR_COUNT))


def _adjust_made_rows(world: World, api: Api, values: Mapping[str, Any], made_rows: list[_MadeRow]) -> bool:
    """Give rows that were made the state in which the call can use them; False when they had that already."""
    fixed = _required_state(world, api, values)
    about = {row["rowid"] for row in find_rows(world, api, values)[:1]} | _find_known_rows(world, api, values)
    changed = False
    for made_row in made_rows:
        if made_row.table.name != api.reads or made_row.rowid not in about:
            continue
        if any(made_row.row[name] != value for name, value in fixed.items()):
            made_row.row.update(fixed)
            changes = ", ".join(f"{quote_name(name)} = :{parameter_name(name)}" for name in fixed)
            update = (
                f"UPDATE {quote_name(made_row.table.name)} SET {changes} WHERE rowid = {made_row.rowid:d}"
            )
            run_statement(world.connection, update, fixed)
            changed = True
    return changed


def _find_known_rows(world: World, api: Api, values: Mapping[str, Any]) -> set[int]:
    """The rows of the table that the call reads which it knows by another argument."""
    rowids: set[int] = set()
    for argument, columns in api.known:
        for name, column in columns:
            if name == api.reads and values.get(argument) is not None:
                query = (
                    f"SELECT rowid FROM {quote_name(name)} WHERE {quote_name(column)} = ? ORDER BY "
                    "rowid LIMIT 1"
                )
                rowids.update(rowid for (rowid,) in world.connection.execute(query, (values[argument],)))
    return rowids


def _required_state(world: World, api: Api, values: Mapping[str, Any]) -> dict[str, Any]:
    """What the API says of a row that is made for it."""
    scope = {"today": world.definition.today, **values}
    fixed = {name: compute(world.connection, text, values=scope) for name, text in api.fact}
    return {name: value for name, value in fixed.items() if value is not None}


def _required_values(api: Api, values: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that a row must have for the call to find it."""
    matches = (match for match in api.matches if values.get(match.argument) is not None)
    return {match.column: values[match.argument] for match in matches}


def _insert_among_distractors(
    world: World,
    table: Table,
    required_values: Mapping[str, Any],
    fixed: Mapping[str, Any],
    made_rows: list[_MadeRow],
) -> None:
    """Put a row with these values among ten others that lack at least one of those wanted."""
    key = "/".join(f"{name}={required_values[name]}" for name in sorted(required_values))
    random = Random(f"{world.seed}/{table.name}/fact/{key}")
    chosen_position = random.randrange(DISTRACTOR_COUNT + 1)
    for position in range(DISTRACTOR_COUNT + 1):
        row_values = (
            {**fixed, **required_values}
            if position == chosen_position
            else _make_distractor(table, required_values or fixed, world, random)
        )
        _insert_row(world, table, row_values, random, made_rows)


def _insert_row(
    world: World,
    table: Table,
    row_values: Mapping[str, Any],
    random: Random,
    made_rows: list[_MadeRow],
    *,
    first: bool = False,
) -> None:
    row = world.making.row(
        table, row_values, random, settled_values=_find_dependent_values(world, table, row_values)
    )
    rowid = insert(world.connection, table, [row], lenient=True, first=first)
    made_rows.append(_MadeRow(table, row, rowid, first))


def _make_distractor(
    table: Table, required_values: Mapping[str, Any], world: World, random: Random
) -> dict[str, Any]:
    """Some of the wanted values, at least one of them changed."""
    names = list(required_values)
    changed = {name for name in names if random.random() < 0.5} or (
        {random.choice(names)} if names else set()
    )
    row_values: dict[str, Any] = {
        name: value for name, value in required_values.items() if name not in changed
    }
    for name in names:
        column = table.column(name)
        if name in changed and column is not None:
            row_values[name] = _different_value(column, required_values[name], row_values, world, random)
    return row_values


def _different_value(column: Column, value: Any, row: Mapping[str, Any], world: World, random: Random) -> Any:
    """A value of the column other than `value`."""
    if column.type == "boolean":
        return 1 - int(value)
    for _ in range(20):
        other = world.making.value(column, row, random)
        if other is not None and str(other).casefold() != str(value).casefold():
            return other
    if column.type in ("integer", "number"):
        return value + random.randrange(1, 9)
    return f"{value} {random.choice(('North', 'South', 'East', 'West'))}" if column.type == "text" else None


def _find_dependent_values(world: World, table: Table, row_values: Mapping[str, Any]) -> dict[str, Any]:
    """Values that existing rows settle, for columns that depend on given ones."""
    settled: dict[str, Any] = {}
    for column in table.columns:
        keys = column.maker.by
        if not keys or column.name in row_values or not all(row_values.get(key) is not None for key in keys):
            continue
        conditions = [f"{quote_name(key)} = :{parameter_name(key)}" for key in keys]
        same = select(
            world.connection, table, where=conditions, values={key: row_values[key] for key in keys}, limit=1
        )
        if same:
            settled[column.name] = same[0][column.name]
    return settled


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
