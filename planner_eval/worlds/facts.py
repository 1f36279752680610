"""Facts: what must be there so that given plans can be carried out, hidden among distractors.

Facts are calls, taken from plans: their literals, and references to earlier calls. The world's builder
goes through them in order. Where a call finds what it is about, nothing happens; where it does not,
the missing row is made from the call's values and put at a random place among ten rows that differ
from it in at least one of those values. Before what a search finds stands a row for each filter that may
be left out, which has all other values that are sought: the search without that filter finds another row.
Where an API says in what state a row must be to be of use
(``fact``), a row that was made gets that state. What the calls themselves change is undone at the end:
facts are the state before the plan.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import InputError
from planner_eval.plan.model import Plan, Ref, Unresolved, Value
from planner_eval.plan.topological import generations
from planner_eval.plan.walk import fold
from planner_eval.worlds.acting import refuse_senseless, rows, strangers
from planner_eval.worlds.database import bound, change, compute, insert, quoted, select
from planner_eval.worlds.definition import Api, CallError, Column, Refused, Table, TooLong

if TYPE_CHECKING:
    from planner_eval.worlds.world import World

DISTRACTORS = 10
"""How many other rows each fact that has to be made is mixed with."""

ROUNDS = 6
"""How often the facts are gone through at most, until nothing more has to be made."""

_REFERENCE = "$ref"
_TEXT = "$text"
_MISSING = object()


@dataclass(slots=True)
class _Asked:
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
    def of(cls, facts: Sequence[Sequence[Mapping[str, Any]]]) -> _Asked:
        """What is known beforehand."""
        used: set[str] = set()
        for calls in facts:

            def taken(made: dict[str, Any], calls: Sequence[Mapping[str, Any]] = calls) -> Any:
                position, path = made.get(_REFERENCE, (-1, ()))
                asks = calls[position]["arguments"] if 0 <= position < len(calls) else {}
                used.update(str(step) for step in path if step not in asks)
                return made

            for call in calls:
                fold(dict(call["arguments"]), lambda leaf: leaf, fields=taken)
        return cls(used)


def facts_of(plans: Iterable[Plan], *, holes: Sequence[str] = ("?", "$$$")) -> list[list[dict[str, Any]]]:
    """The facts of plans, as JSON data.

    Args:
        plans: The plans.
        holes: Literals that stand for a value still unknown; a call that has one says nothing.

    Returns:
        For each plan its calls as written, save that producers come first; a reference is
        ``{"$ref": [position in that list, [path]]}``. Calls that depend on themselves are left out.

    >>> from planner_eval.dialects.read import parse
    >>> facts_of([parse("A: [x = f(#city='Oslo')]")])
    [[{'app': 'A', 'name': 'f', 'arguments': {'city': 'Oslo'}}]]
    """
    return [_facts(plan, frozenset(holes)) for plan in plans]


def _facts(plan: Plan, holes: frozenset[str]) -> list[dict[str, Any]]:
    needs: list[set[int]] = [set() for _ in plan.calls]
    for edge in plan.edges:
        needs[edge.consumer].add(edge.producer)
    placed: dict[int, int] = {}
    facts: list[dict[str, Any]] = []
    for (position,) in generations(needs, singly=True):
        call = plan.calls[position]
        arguments = {name: _data(value, placed, holes) for name, value in call.arguments}
        placed[position] = len(facts)
        facts.append({"app": call.app, "name": call.name, "arguments": arguments})
    return facts


def _data(value: Value, placed: Mapping[int, int], holes: frozenset[str]) -> Any:
    """A linked value as JSON data; what nobody knows is a reference to nothing."""

    def part(leaf: Value) -> Any:
        if isinstance(leaf, Ref):
            return {_REFERENCE: [placed[leaf.call], list(leaf.path)]}
        return {_REFERENCE: [-1, []]} if isinstance(leaf, Unresolved) else leaf

    def whole(leaf: Value) -> Any:
        return {_REFERENCE: [-1, []]} if type(leaf) is str and leaf in holes else part(leaf)

    return fold(value, whole, text=lambda parts: {_TEXT: list(map(part, parts))})


@dataclass(slots=True)
class _Made:
    """A row that was made, and where it stands until the plan's own changes are undone."""

    table: Table
    row: dict[str, Any]
    rowid: int
    first: bool = False


def settle(world: World, facts: Sequence[Sequence[Mapping[str, Any]]]) -> None:
    """Make a world able to answer the facts; called once, before the world is used."""
    world.connection.execute("BEGIN")
    asked = _Asked.of(facts)
    for _ in range(ROUNDS):  # a row that stands before one plan's may be what another search finds
        asked.unmet.clear()
        if not any([_made_for(world, calls, asked, number) for number, calls in enumerate(facts, 1)]):
            break
    world.unmet = tuple(asked.unmet)
    world.connection.execute("COMMIT")


def _made_for(world: World, calls: Sequence[Mapping[str, Any]], asked: _Asked, number: int) -> bool:
    """Make what a plan's calls need; whether a row was put before others."""
    world.connection.execute("SAVEPOINT fact")
    made: list[_Made] = []
    results: list[Any] = []
    for position, call in enumerate(calls, 1):
        asked.fixed = _from_itself(world, calls, call)
        asked.place = f"plan {number}, call {position} ({call['name']})"
        results.append(_answered(world, call, results, made, asked))
    world.connection.execute("ROLLBACK TO fact")
    world.connection.execute("RELEASE fact")
    for each in made:
        insert(world.connection, each.table, [each.row], lenient=True, first=each.first)
    return any(each.first for each in made)


def _from_itself(world: World, calls: Sequence[Mapping[str, Any]], call: Mapping[str, Any]) -> set[str]:
    """The arguments that are outputs of an earlier search of the table that the call reads.

    What such a search finds first has these values: no row can stand before it that has not.
    """
    found: set[str] = set()
    for name, value in call["arguments"].items():
        position = value.get(_REFERENCE, (-1,))[0] if isinstance(value, dict) else -1
        if 0 <= position < len(calls):
            tables = {_table_of(world, one) for one in (calls[position], call)}
            found.update({name} if len(tables) == 1 else ())
    return found


def _table_of(world: World, call: Mapping[str, Any]) -> str | None:
    try:
        return world.definition.find(call["name"], call.get("app")).reads
    except CallError:
        return None


def _answered(
    world: World, call: Mapping[str, Any], results: Sequence[Any], made: list[_Made], asked: _Asked
) -> Any:
    """The call's outputs, once what it is about has been made where it was missing; None if it fails."""
    resolved = {name: _resolved(value, results) for name, value in call["arguments"].items()}
    arguments = {name: value for name, value in resolved.items() if value is not _MISSING}
    try:
        api = world.definition.find(call["name"], call.get("app"))
        values = world.arguments(api, arguments, partial=True)
        refuse_senseless(world, api, values)
        _provide(world, api, values, made, asked)
        if len(arguments) < len(resolved):
            return None
        try:
            return world.perform(api, arguments) or None
        except TooLong:
            raise
        except Refused:
            if not _adjust(world, api, values, made):
                raise
            return world.perform(api, arguments) or None
    except TooLong as error:
        raise InputError(
            f"{world.definition.name}: the facts cannot be made: {call['name']}: {error}"
        ) from None
    except (CallError, sqlite3.Error, OverflowError) as error:
        rule = getattr(error, "rule", "")
        asked.unmet.append(f"{asked.place}: {error}{f' (the world requires {rule})' if rule else ''}")
        return None


def _provide(world: World, api: Api, values: Mapping[str, Any], made: list[_Made], asked: _Asked) -> None:
    """Make what a call is about, where it is missing, and see that enough else is there."""
    fixed = _fixed(world, api, values)
    for name, column, argument in list(strangers(world, api, values)):
        state = fixed if name == api.reads else {}
        _invent(world, world.definition.tables[name], {column: values[argument]}, state, made)
    table = world.definition.tables.get(api.reads or "")
    wanted = _wanted(api, values)
    if table is None or api.python is not None or not (wanted or fixed):
        return
    for name, value in wanted.items():
        asked.values.setdefault((table.name, name), set()).add(str(value).casefold())
    known = bool(rows(world, api, values))
    if not known:
        _invent(world, table, wanted, fixed, made)
    if not api.acts and (table.rows or not known):
        _tell_apart(world, api, values, fixed, made, asked)
    if not table.rows:  # a table that begins empty holds what plans do, not what they find
        return
    same = " AND ".join(f"{quoted(name)} IS :{bound(name)}" for name in wanted) or "0"
    for number in range(_count(world, table, f"NOT ({same})", wanted), DISTRACTORS):
        random = Random(f"{world.seed}/{table.name}/more/{number}/{sorted(wanted.items())}")
        _place(world, table, _other(table, wanted, world, random), random, made)


def _tell_apart(
    world: World,
    api: Api,
    values: Mapping[str, Any],
    fixed: Mapping[str, Any],
    made: list[_Made],
    asked: _Asked,
) -> None:
    """See that the search finds another row first when it drops a filter that may be left out."""
    table = world.definition.tables[api.reads or ""]
    wanted = _wanted(api, values)
    for match in api.matches:
        less = without(world, api, values, match.argument)
        if less is None or match.argument in asked.fixed:
            continue
        found = rows(world, api, values)[:1]
        if not found or rows(world, api, less)[:1] != found:
            continue
        random = Random(f"{world.seed}/{table.name}/without/{match.argument}/{sorted(wanted.items())}")
        column = table.column(match.column)
        assert column is not None
        given = {**fixed, **wanted}
        given[match.column] = less[match.argument]
        if given[match.column] is None:
            barred = asked.values.get((table.name, match.column), set())
            other = _beyond(column, match.op, values[match.argument], given, world, random, barred)
            if other is None and column.name in asked.used:  # a later call could do nothing without it
                other = _beyond(column, match.op, values[match.argument], given, world, random, ())
                if other is None:
                    continue
            given[match.column] = other
        _place(world, table, given, random, made, first=True)


def without(world: World, api: Api, values: Mapping[str, Any], argument: str) -> dict[str, Any] | None:
    """The values of a search that leaves out a filter; None where it cannot, or says the same without."""
    each = next(each for each in api.arguments if each.name == argument)
    if each.required or values.get(argument) is None:
        return None
    default = world.arguments(api, {}, partial=True)[argument]
    return None if default == values[argument] else {**values, argument: default}


def _beyond(
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
    made = (f"other {number}" for number in count(1))
    return next(other for other in made if other not in barred) if column.type == "text" else None


def _count(world: World, table: Table, condition: str, values: Mapping[str, Any]) -> int:
    """How many rows meet a condition, as far as it matters."""
    return len(select(world.connection, table, where=[condition], values=values, limit=DISTRACTORS))


def _adjust(world: World, api: Api, values: Mapping[str, Any], made: list[_Made]) -> bool:
    """Give rows that were made the state in which the call can use them; False when they had that already."""
    fixed = _fixed(world, api, values)
    about = {each["rowid"] for each in rows(world, api, values)[:1]} | _known_in(world, api, values)
    changed = False
    for each in made:
        if each.table.name != api.reads or each.rowid not in about:
            continue
        if any(each.row[name] != value for name, value in fixed.items()):
            each.row.update(fixed)
            changes = ", ".join(f"{quoted(name)} = :{bound(name)}" for name in fixed)
            update = f"UPDATE {quoted(each.table.name)} SET {changes} WHERE rowid = {each.rowid:d}"
            change(world.connection, update, fixed)
            changed = True
    return changed


def _known_in(world: World, api: Api, values: Mapping[str, Any]) -> set[int]:
    """The rows of the table that the call reads which it knows by another argument."""
    found: set[int] = set()
    for argument, places in api.known:
        for name, column in places:
            if name == api.reads and values.get(argument) is not None:
                query = f"SELECT rowid FROM {quoted(name)} WHERE {quoted(column)} = ? ORDER BY rowid LIMIT 1"
                found.update(each for (each,) in world.connection.execute(query, (values[argument],)))
    return found


def _fixed(world: World, api: Api, values: Mapping[str, Any]) -> dict[str, Any]:
    """What the API says of a row that is made for it."""
    scope = {"today": world.definition.today, **values}
    fixed = {name: compute(world.connection, text, values=scope) for name, text in api.fact}
    return {name: value for name, value in fixed.items() if value is not None}


def _wanted(api: Api, values: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that a row must have for the call to find it."""
    given = (each for each in api.matches if values.get(each.argument) is not None)
    return {each.column: values[each.argument] for each in given}


def _invent(
    world: World, table: Table, wanted: Mapping[str, Any], fixed: Mapping[str, Any], made: list[_Made]
) -> None:
    """Put a row with these values among ten others that lack at least one of those wanted."""
    key = "/".join(f"{name}={wanted[name]}" for name in sorted(wanted))
    random = Random(f"{world.seed}/{table.name}/fact/{key}")
    place = random.randrange(DISTRACTORS + 1)
    for position in range(DISTRACTORS + 1):
        given = {**fixed, **wanted} if position == place else _other(table, wanted or fixed, world, random)
        _place(world, table, given, random, made)


def _place(
    world: World,
    table: Table,
    given: Mapping[str, Any],
    random: Random,
    made: list[_Made],
    *,
    first: bool = False,
) -> None:
    row = world.making.row(table, given, random, known=_settled(world, table, given))
    rowid = insert(world.connection, table, [row], lenient=True, first=first)
    made.append(_Made(table, row, rowid, first))


def _other(table: Table, wanted: Mapping[str, Any], world: World, random: Random) -> dict[str, Any]:
    """Some of the wanted values, at least one of them changed."""
    names = list(wanted)
    changed = {name for name in names if random.random() < 0.5} or (
        {random.choice(names)} if names else set()
    )
    given: dict[str, Any] = {name: value for name, value in wanted.items() if name not in changed}
    for name in names:
        column = table.column(name)
        if name in changed and column is not None:
            given[name] = _another(column, wanted[name], given, world, random)
    return given


def _another(column: Column, value: Any, row: Mapping[str, Any], world: World, random: Random) -> Any:
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


def _settled(world: World, table: Table, given: Mapping[str, Any]) -> dict[str, Any]:
    """Values that existing rows settle, for columns that depend on given ones."""
    settled: dict[str, Any] = {}
    for column in table.columns:
        keys = column.maker.by
        if not keys or column.name in given or not all(given.get(key) is not None for key in keys):
            continue
        conditions = [f"{quoted(key)} = :{bound(key)}" for key in keys]
        same = select(
            world.connection, table, where=conditions, values={key: given[key] for key in keys}, limit=1
        )
        if same:
            settled[column.name] = same[0][column.name]
    return settled


def _resolved(value: Any, results: Sequence[Any]) -> Any:
    """A fact's value with its references replaced by what the earlier calls gave."""

    def items(made: list[Any]) -> Any:
        return _MISSING if any(item is _MISSING for item in made) else made

    def fields(made: dict[str, Any]) -> Any:
        if _REFERENCE in made:
            position, path = made[_REFERENCE]
            return _followed(results[position] if 0 <= position < len(results) else None, path)
        if items([*made.values()]) is _MISSING:
            return _MISSING
        return "".join(map(str, made[_TEXT])) if _TEXT in made else made

    return fold(value, lambda leaf: leaf, items=items, fields=fields)


def _followed(found: Any, path: Sequence[Any]) -> Any:
    for step in path:
        try:
            found = found[step]
        except (KeyError, IndexError, TypeError):
            return _MISSING
    return _MISSING if found is None else found
