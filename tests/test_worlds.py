"""Worlds: searching filters, acting changes state, nothing is invented, all is reproducible."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.dialects.read import parse
from planner_eval.execution import execute
from planner_eval.worlds import CallError, Definition, World, facts_of, load, read
from planner_eval.worlds.definition import Refused, UnknownApi, WrongType
from planner_eval.worlds.typed import typed, untyped
from tests.conftest import ROOT, examples
from tests.world_calls import table

BASE = {name: World(load(name), seed=5) for name in ("appbench", "bank")}


@pytest.fixture
def appbench() -> Iterator[World]:
    with BASE["appbench"].copy() as world:
        yield world


@pytest.fixture
def bank() -> Iterator[World]:
    with BASE["bank"].copy() as world:
        yield world


PLAN = """
Restaurants: [restaurant_name, location = findrestaurants(#category='Basque', #location='Bilbao')]
Restaurants: [date = reserverestaurant(#restaurant_name=restaurant_name, #location=location, #time='20:30')]
Rents: [ride_type = getride(#destination='Old Lighthouse', #number_of_seats='2', #ride_type='Pool')]
"""


def test_facts_are_found_and_consumers_are_served(appbench: World) -> None:
    plan = parse(PLAN, dialect="appbench")
    assert [one.status for one in execute(plan, BASE["appbench"].copy()).calls] == ["ok", "failed", "failed"]
    with appbench.copy(facts_of([plan])) as world:
        trace = execute(plan, world)
        assert [call.status for call in trace.calls] == ["ok"] * 3
        assert (trace.calls[1].value["location"], trace.calls[1].value["date"]) == ("Bilbao", "2019-03-01")
        assert len(table(world, "table_reservations")) == 1
    with appbench.copy(facts_of([plan])) as world:
        trace = execute(parse(PLAN.replace("Basque", "Martian"), dialect="appbench"), world)
        assert [call.status for call in trace.calls] == ["ok", "failed", "ok"]
        assert trace.calls[0].value == {}
        assert str(trace.calls[1].error).startswith("no-such-output")
        assert not table(world, "table_reservations")


def test_names_that_two_apps_share_need_their_app(appbench: World) -> None:
    with pytest.raises(UnknownApi, match="Media, Movies"):
        appbench.call(None, "findmovies", {"genre": "Drama"})
    with pytest.raises(UnknownApi, match="it is in Buses"):
        appbench.call("Trains", "findbus", {})
    assert "findbus" in appbench.tools
    assert "findmovies" not in appbench.tools
    assert appbench.tools["Buses.findbus"].__name__ == "findbus"


def test_other_spellings_of_a_city_are_the_city(appbench: World) -> None:
    plan = parse("Travel: [attraction_name = findattractions(#location='New York', #category='Pier')]")
    with appbench.copy(facts_of([plan])) as world:
        for city in ("NYC", "new york", "New York"):
            found = world.call("Travel", "findattractions", {"location": city, "category": "pier"})
            assert found["location"] == "New York"


def test_values_of_the_wrong_type_are_refused(appbench: World) -> None:
    wrong: dict[str, list[Any]] = {
        "departure_date": ["tomorrow", "2019-02-30"],
        "num_passengers": ["two", 1.5, True, 10**30, "1e400"],
        "from_city": [["Oslo"], {"city": "Oslo"}, "x" * 100_001],
    }
    right = {"from_city": "Oslo", "to_city": "Lyon", "departure_date": "2019-03-01"}
    for name, values in wrong.items():
        for value in values:
            with pytest.raises(WrongType, match=name):
                appbench.call("Buses", "findbus", {**right, name: value})


def test_hostile_text_is_only_text(appbench: World) -> None:
    before = appbench.dump()
    for text in ("'; DROP TABLE buses; --", '" OR 1=1 --', "{seats_left}", "%", "\x00", "\ud800x"):
        with suppress(CallError):
            assert appbench.call("Restaurants", "findrestaurants", {"category": text, "location": text}) == {}
    assert appbench.dump() == before


def test_a_transfer_moves_money_and_can_be_taken_back(bank: World) -> None:
    giver, taker = (row["accountID"] for row in table(bank, "accounts")[:2])

    def balance() -> float:
        return float(bank.call(None, "getAccountBalance", {"accountID": giver})["Balance"])

    before = balance()
    order = {"fromAccountID": giver, "toAccountID": taker, "amount": "250.5", "currency": "USD"}
    made = {"transferID": bank.call(None, "initiateTransfer", order)["TransferID"]}
    assert balance() == round(before - 250.5, 2)
    assert bank.call(None, "getTransferStatus", made) == {"TransferStatus": "pending"}
    bank.call(None, "cancelTransfer", made)
    assert balance() == before
    with pytest.raises(Refused, match="the transfer is cancelled"):
        bank.call(None, "cancelTransfer", made)
    with pytest.raises(Refused, match="is on the account"):
        bank.call(None, "initiateTransfer", {**order, "amount": 10**9})
    assert bank.call(None, "initiateTransfer", order)["TransferID"] != made["transferID"]


def test_schedules_and_conversions_are_computed(bank: World) -> None:
    loan = table(bank, "loans")[0]
    schedule = bank.call(None, "getLoanRepaymentSchedule", {"loanID": loan["loanID"]})["RepaymentSchedule"]
    assert len(schedule) == loan["months"]
    assert [each["month"] for each in schedule[:2]] == [1, 2]
    rate = table(bank, "exchange_rates")[0]
    one, other = rate["currencyPair"].split("/")
    order = {"fromCurrency": one, "toCurrency": other, "amount": 200}
    assert bank.call(None, "convertCurrency", order) == {"ConvertedAmount": round(200 * rate["rate"], 2)}


DOORS = {
    "tables": {
        "doors": {"columns": {"name": "text"}, "unique": ["name"], "taken": "{new} hangs already", "rows": 0},
        "log": {"columns": {"who": "text"}, "rows": 0},
    },
    "api": {
        "hang": {"args": ["name"], "adds": "doors", "returns": ["name"]},
        "rename": {"args": ["name", "new"], "reads": "doors", "set": {"name": ":new"}, "returns": ["name"]},
        "level": {"args": ["who"], "adds": "log", "returns": ["who"],
                  "then": ["UPDATE doors SET name = 'one'"]},
        "swap": {"args": ["name", "new"], "reads": "doors", "deletes": True,
                 "then": ["INSERT INTO log VALUES (:new)", "INSERT INTO doors VALUES ('b')"]},
    },
}  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "told"), [
    ("hang", {"name": "a"}, "hangs already"), ("rename", {"name": "a", "new": "b"}, "^b hangs already"),
    ("level", {"who": "Ada"}, "level breaks a rule of the world's tables: .*doors.name"),
    ("swap", {"name": "a", "new": "Ada"}, "swap breaks a rule of the world's tables: .*doors.name"),
])  # fmt: skip
def test_what_breaks_a_rule_leaves_no_trace(name: str, arguments: dict[str, Any], told: str) -> None:
    with World(read(DOORS)) as world:
        world.call(None, "hang", {"name": "a"})
        world.call(None, "hang", {"name": "b"})
        before = world.dump()
        with pytest.raises(Refused, match=told):
            world.call(None, name, arguments)
        assert world.dump() == before
        assert world.call(None, "rename", {"name": "a", "new": "c"}) == {"name": "c"}


def test_the_state_is_what_changed(appbench: World) -> None:
    bus = table(appbench, "buses")[0]
    arguments = {k: bus[k] for k in ("from_city", "to_city", "departure_date", "departure_time")}
    assert appbench.state() == {}
    appbench.call("Buses", "buybusticket", {**arguments, "num_passengers": 2})
    state = appbench.state()
    assert list(state) == ["bus_tickets", "buses"]
    assert [row["num_passengers"] for row in state["bus_tickets"]["added"]] == [2]
    (new,), (old,) = state["buses"]["added"], state["buses"]["removed"]
    assert old["seats_left"] - new["seats_left"] == 2
    with appbench.copy() as later:
        assert later.state() == {}
        assert later.dump() == appbench.dump()


def test_the_same_seed_and_facts_give_the_same_bytes_in_any_process() -> None:
    code = (
        "import hashlib, sys; from planner_eval.dialects.read import parse\n"
        "from planner_eval.worlds import World, facts_of\n"
        f"facts = facts_of([parse({PLAN!r}, dialect='appbench')])\n"
        "print(*[hashlib.sha256(World(n, seed=s, facts=facts).dump().encode()).hexdigest()"
        " for n in ('appbench', 'bank') for s in (0, 1)])"
    )
    outputs = set()
    for seed in ("0", "12345"):
        more: Any = {"cwd": ROOT, "env": os.environ | {"PYTHONHASHSEED": seed}, "text": True, "check": True}
        outputs.add(subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, **more).stdout)
    (printed,) = outputs
    assert len(set(printed.split())) == 4


ROOMS = {"city": "pool:city", "beds": "integer:1..4", "sea": "boolean"}
STAYS = {"city": "text", "beds": "integer", "nights": "integer"}
FIND = {"args": ["city", "beds?", "sea?"], "reads": "rooms", "returns": ["city", "beds", "sea"]}
STAY = {"args": ["city", "beds", "nights"], "reads": "rooms", "adds": "stays", "returns": ["nights"]}
SMALL: Definition = read(
    {
        "pools": {"city": ["Oslo", "Lyon", "Graz"]},
        "tables": {"rooms": {"columns": ROOMS}, "stays": {"rows": 0, "columns": STAYS}},
        "types": {"nights": "integer"},
        "api": {"find": FIND, "stay": STAY},
    }
)
WORDS = st.text(min_size=1, max_size=12).filter(lambda text: text.isprintable())
ARGUMENTS = st.fixed_dictionaries(
    {"city": WORDS}, optional={"beds": st.integers(-5, 99), "sea": st.sampled_from(["True", "False"])}
)


@examples(150)
@given(st.lists(ARGUMENTS, min_size=1, max_size=5), st.integers(0, 3))
def test_facts_are_found_among_ten_that_differ(queries: list[dict[str, Any]], seed: int) -> None:
    facts = [[{"app": None, "name": "find", "arguments": query}] for query in queries]
    with World(SMALL, seed=seed, facts=facts) as world:
        for query in queries:
            found = world.call(None, "find", query)
            assert found["city"].casefold() == str(query["city"]).strip().casefold()
            assert all(str(found[key]) == str(value) for key, value in query.items() if key != "city")
            asked = {k: v for k, v in world.arguments(SMALL.apis["find"], query).items() if v is not None}
            rows = [{k: str(row[k]).casefold() for k in asked} for row in table(world, "rooms")]
            same = {k: str(v).casefold() for k, v in asked.items()}
            assert sum(row != same for row in rows) >= 10
        with World(SMALL, seed=seed, facts=facts) as twin:
            assert twin.dump() == world.dump()


def test_a_day_is_written_with_its_month_and_a_text_that_nests_too_deeply_stays_one() -> None:
    assert typed("on", "2026-05-01", "date") == "2026-05-01"
    for text in ("2026-W18-5", "20260501", "2026-05-32"):
        with pytest.raises(WrongType):
            typed("on", text, "date")
    assert untyped("[" * 100_000, "json") == "[" * 100_000
    assert untyped("[1]", "json") == [1]


@examples(100)
@given(ARGUMENTS, st.integers(0, 3))
def test_nothing_is_invented(query: dict[str, Any], seed: int) -> None:
    with World(SMALL, seed=seed) as world:
        before = world.dump()
        rows = {row["city"].casefold() for row in table(world, "rooms")}
        found = world.call(None, "find", query)
        if query["city"].strip().casefold() not in rows:
            assert found == {}
        assert world.dump() == before


@examples(100)
@given(st.lists(st.tuples(st.sampled_from(["Oslo", "Lyon"]), st.integers(1, 3)), max_size=6).flatmap(
    lambda calls: st.tuples(st.just(calls), st.permutations(calls))
))  # fmt: skip
def test_any_order_of_bookings_gives_one_state(pair: tuple[list[Any], list[Any]]) -> None:
    facts = [[{"app": None, "name": "find", "arguments": {"city": c, "beds": 2}}] for c in ("Oslo", "Lyon")]
    dumps = []
    for calls in pair:
        with World(SMALL, facts=facts) as world:
            for city, nights in calls:
                world.call(None, "stay", {"city": city, "beds": 2, "nights": nights})
            dumps.append(world.dump())
    assert dumps[0] == dumps[1]
