"""Every API of the shipped worlds: it works, changes state only where it acts, and fails without trace."""

from __future__ import annotations

from contextlib import suppress

import pytest

from planner_eval.worlds import CallError, World, load
from planner_eval.worlds.database import quoted
from planner_eval.worlds.definition import Api, MissingArgument, NotFound, Refused, UnknownArgument
from tests.conftest import ROOT
from tests.world_calls import working

SHIPPED = {file.stem: load(file.stem) for file in sorted((ROOT / "data" / "worlds").glob("*.toml"))}
BASE = {name: World(definition, seed=5) for name, definition in SHIPPED.items()}
APIS = [(name, api) for name, definition in SHIPPED.items() for api in definition.apis.values()]


def ids(pairs: list[tuple[str, Api]]) -> list[str]:
    return [f"{name}:{api.full_name}" for name, api in pairs]


@pytest.mark.parametrize(("name", "api"), APIS, ids=ids(APIS))
def test_every_api_works_and_gives_what_it_declares(name: str, api: Api) -> None:
    with BASE[name].copy() as world:
        arguments = working(world, api)
        before = world.dump()
        outputs = world.call(api.app, api.name, arguments)
        assert list(outputs) == [output for output, _ in api.returns]
        if api.name not in ("calculate_from_string",):
            assert all(value is not None for value in outputs.values()), outputs
        assert (world.dump() != before) == (api.acts and not idle(api)), "only what acts changes the state"


def idle(api: Api) -> bool:
    """Updates that set what is there already, for want of anything else to set."""
    changes = api.adds or api.deletes or api.then
    return not changes and all(quoted(column) == value for column, value in api.sets)


@pytest.mark.parametrize(("name", "api"), APIS, ids=ids(APIS))
def test_a_missing_required_argument_fails(name: str, api: Api) -> None:
    with BASE[name].copy() as world:
        arguments = working(world, api)
        before = world.dump()
        for argument in api.arguments:
            given = {key: value for key, value in arguments.items() if key != argument.name}
            if argument.required:
                with pytest.raises(MissingArgument, match=argument.name):
                    world.call(api.app, api.name, given)
                with pytest.raises(MissingArgument, match=argument.name):
                    world.call(api.app, api.name, {**given, argument.name: None})
        with pytest.raises(UnknownArgument, match="surprise"):
            world.call(api.app, api.name, {**arguments, "surprise": 1})
        assert world.dump() == before


ACTING = [(name, api) for name, api in APIS if api.acts and not idle(api)]


@pytest.mark.parametrize(("name", "api"), ACTING, ids=ids(ACTING))
def test_doing_a_thing_twice_is_refused_or_shows(name: str, api: Api) -> None:
    with BASE[name].copy() as world:
        arguments = working(world, api)
        world.call(api.app, api.name, arguments)
        once = world.dump()
        try:
            world.call(api.app, api.name, arguments)
        except CallError:
            assert world.dump() == once, "a refused call leaves no trace"
        else:
            update = bool(api.sets) and not api.adds
            assert update or world.dump() != once, "a second call that is not refused shows"


FILTERS = [(n, a) for n, a in APIS if a.reads and not a.acts and any(m.op == "=" for m in a.matches)]


UNKNOWN = {"text": "Nowhere", "date": "2049-12-31", "integer": 987_654, "number": 98.7654, "time": "03:33"}


@pytest.mark.parametrize(("name", "api"), FILTERS, ids=ids(FILTERS))
def test_a_search_for_the_unknown_finds_nothing(name: str, api: Api) -> None:
    with BASE[name].copy() as world:
        arguments = working(world, api)
        kinds = {each.name: each.type for each in api.arguments}
        for match in api.matches:
            if match.op == "=" and (unknown := UNKNOWN.get(kinds[match.argument])) is not None:
                with suppress(NotFound, Refused):
                    outputs = world.call(api.app, api.name, {**arguments, match.argument: unknown})
                    assert outputs == {} or [] in outputs.values()
