"""Worlds: searching filters, acting changes state, nothing is invented; worlds in files, and recordings."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.base.errors import ExecutionError, InputError
from planner_eval.catalogs.formats import as_catalog
from planner_eval.execution.run import execute_plan
from planner_eval.execution.worlds.database import from_stored_value, to_stored_value
from planner_eval.execution.worlds.definition import (
    CallError,
    Definition,
    MissingArgument,
    NotFound,
    Refused,
    TooLong,
    UnknownApi,
    WrongType,
)
from planner_eval.execution.worlds.facts import facts_of
from planner_eval.execution.worlds.reading import load, read, world_catalog
from planner_eval.execution.worlds.world import World, world_source
from planner_eval.plan.model import Call, Plan
from planner_eval.reading.dialects.read import parse
from tests.conftest import ROOT, examples, tabled, tables
from tests.inside import planeval
from tests.world_calls import table

TABLES = tables(__file__)

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
    found = [one.status for one in execute_plan(plan, BASE["appbench"].copy()).calls]
    assert found == ["ok", "failed", "failed"]
    with appbench.copy(facts_of([plan])) as world:
        trace = execute_plan(plan, world)
        assert [call.status for call in trace.calls] == ["ok"] * 3
        assert (trace.calls[1].value["location"], trace.calls[1].value["date"]) == ("Bilbao", "2019-03-01")
        assert len(table(world, "table_reservations")) == 1
    with appbench.copy(facts_of([plan])) as world:
        trace = execute_plan(parse(PLAN.replace("Basque", "Martian"), dialect="appbench"), world)
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
        "departure_date": ["tomorrow", "2019-02-30"], "num_passengers": ["two", 1.5, True, 10**30, "1e400"],
        "from_city": [["Oslo"], {"city": "Oslo"}, "x" * 100_001],
    }  # fmt: skip
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


@tabled("name, arguments, told")
def test_what_breaks_a_rule_leaves_no_trace(name: str, arguments: dict[str, Any], told: str) -> None:
    with World(read(TABLES["DOORS"])) as world:
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
        "import hashlib, sys; from planner_eval.reading.dialects.read import parse\n"
        "from planner_eval.execution.worlds import World, facts_of\n"
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
    assert to_stored_value("on", "2026-05-01", "date") == "2026-05-01"
    for text in ("2026-W18-5", "20260501", "2026-05-32"):
        with pytest.raises(WrongType):
            to_stored_value("on", text, "date")
    assert from_stored_value("[" * 100_000, "json") == "[" * 100_000
    assert from_stored_value("[1]", "json") == [1]


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


DOCS = (ROOT / "docs" / "worlds.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """The docs' block of that language that is no session."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", DOCS, re.S | re.M)
    (found,) = (each for each in blocks if ">>>" not in each)
    return found


def test_the_world_of_the_docs(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(block("toml"))
    search = "A: [shelf_mark, title = find_book(#author='Ada Ito', #since='1990')]"
    plan = parse(f"{search}\nA: [loan, due = borrow(#card='M1', #shelf_mark=shelf_mark)]")
    for isolation in ("inline", "strict"):
        trace = execute_plan(plan, world_source(path, facts=facts_of([plan])), isolation=isolation)
        assert [call.status for call in trace.calls] == ["ok", "ok"]
        assert trace.calls[1].value["due"] == "2026-06-01"
    with World(path, facts=facts_of([plan])) as world:
        book = world.call(None, "find_book", {"author": "Ada Ito", "since": 1990})
        assert book["year"] >= 1990
        loan = {"card": "M1", "shelf_mark": book["shelf_mark"]}
        world.call(None, "borrow", loan)
        with pytest.raises(Refused, match=r"at home already|no copy"):
            world.call(None, "borrow", loan)


def test_the_python_world_of_the_docs(tmp_path: Path) -> None:
    path = tmp_path / "walks.py"
    path.write_text(block("python"))
    with World(path, seed=2) as world:
        stops = [stop for (stop,) in world.connection.execute("SELECT DISTINCT stop FROM stops LIMIT 2")]
        minutes = world.call(None, "walk", {"start": stops[0], "end": stops[1]})["minutes"]
        assert minutes > 0
        assert world.call(None, "walk", {"start": stops[0], "end": "nowhere"}) == {}
        with pytest.raises(MissingArgument):
            world.call(None, "walk", {"start": stops[0]})
    plan = Plan((Call("1", "walk", (("start", stops[0]), ("end", stops[1]))),))
    assert execute_plan(plan, world_source(path, seed=2)).calls[0].value == {"minutes": minutes}


def test_a_python_world_runs_in_the_worker_only(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    plan = Plan((Call("1", "walk"),))
    path.write_text("import sys; sys.modules['planner_eval'].was_here = True; raise RuntimeError('no world')")
    with pytest.raises(ExecutionError, match=r"does not import: RuntimeError: no world"):
        execute_plan(plan, world_source(path))
    path.write_text("raise SystemExit(3)")
    with pytest.raises(InputError, match=r"does not import: SystemExit"):
        load(path)
    import planner_eval

    assert not hasattr(planner_eval, "was_here")
    with pytest.raises(InputError, match="no such file"):
        world_source(tmp_path / "none.py")


def test_the_docs_name_every_key_and_count() -> None:
    from planner_eval.execution.worlds.schema import ApiEntry, TableEntry, WorldFile

    keys = {key for model in (ApiEntry, TableEntry, WorldFile) for key in model.known_keys()}
    for key in keys - {"name", "about"}:
        assert key in DOCS, key
    appbench, bank = load("appbench"), load("bank")
    written = [(ROOT / f"data/worlds/{name}.toml").read_text() for name in ("appbench", "bank")]
    assert [text.count("\n[api.") for text in written] == [33, 86]
    assert (len(appbench.apis), len(bank.apis)) == (81, 96)


GOOD: dict[str, Any] = {
    "pools": {"city": ["Oslo"]}, "tables": {"t": {"columns": {"a": "integer", "b": "pool:city"}}},
    "api": {"f": {"args": ["a"], "reads": "t", "returns": ["b"]}},
}  # fmt: skip


def columns(**given: Any) -> dict[str, Any]:
    return {"tables": {"t": {"columns": given}}}


def api(**given: Any) -> dict[str, Any]:
    return {"api": {"f": {"reads": "t", **given}}}


@tabled("change, said")
def test_what_a_file_cannot_say(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    path = tmp_path / "own.json"
    path.write_text(json.dumps({**GOOD, **change}))
    with pytest.raises(InputError) as caught:
        load(path)
    assert said in str(caught.value)
    assert "own" in str(caught.value)


ENDLESS = "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n) > 0"


def small_world(path: Path, **api: Any) -> str:
    """A world in a file with one table and one API."""
    named = {"args": ["city"], "reads": "rooms", "returns": ["city"], **api}
    world = {"tables": {"rooms": {"columns": {"city": ["Oslo"]}}}, "api": {"find": named}}
    path.write_text(json.dumps(world))
    return f"world:{path}"


@tabled("statement")
def test_statements_of_a_world_reach_nothing_but_its_rows(statement: str, tmp_path: Path) -> None:
    written = tmp_path / "written.db"
    spec = small_world(tmp_path / "small.json", then=[statement.format(written)])
    done = planeval("execute", "-", "--tools", spec, text="A: [x = find(#city='Oslo')]")
    assert (done.returncode, "small: find: then" in done.stderr) == (2, True)
    assert not written.exists()


def test_sql_that_comes_to_no_end_costs_a_call_or_says_so(tmp_path: Path) -> None:
    plan_file = tmp_path / "plan.txt"
    plan_file.write_text("A: [x = find(#city='Oslo')]")
    spec = small_world(tmp_path / "small.json", require=[[ENDLESS, "never"]])
    started = time.monotonic()
    done = planeval("execute", str(plan_file), "--tools", spec, "--timeout", "60")
    if done.returncode == 2 and "isolation level" in done.stderr:
        pytest.skip(f"isolation: {done.stderr}")
    assert done.returncode == 1
    assert "find cannot be carried out: its SQL does not fini" in done.stdout
    facts = planeval("execute", str(plan_file), "--tools", spec, "--facts", str(plan_file))
    assert facts.returncode == 2
    assert "small: the facts cannot be made: find: " in facts.stderr
    assert time.monotonic() - started < 60


def test_a_statement_that_is_ended_leaves_the_world_as_it_was() -> None:
    find: dict[str, Any] = {"args": ["city", "beds:integer?"], "reads": "rooms", "set": {"city": "'Rome'"}}
    find["then"] = [f"UPDATE rooms SET city = 'Paris' WHERE {ENDLESS}"]
    room = {"columns": {"city": ["Oslo"], "beds": "integer:1..4"}}
    with World(read({"tables": {"rooms": room}, "api": {"find": find}})) as world:
        before = world.dump()
        with pytest.raises(TooLong, match="find cannot be carried out: its SQL does not fini"):
            world.call(None, "find", {"city": "Oslo"})
        assert world.dump() == before
        with pytest.raises(CallError):
            world.call(None, "find", {"city": "Oslo", "beds": 10**30})


@pytest.mark.parametrize(
    "text", ['name = "x"', "[tables]\n[api]", '[api.now]\nargs = []\nreturns = { n = "1" }']
)
def test_a_world_without_tables_answers_what_needs_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "none.toml").write_text(text)
    (tmp_path / "plan.txt").write_text("A: [x = now()]")
    done = planeval("execute", str(tmp_path / "plan.txt"), "--tools", f"world:{tmp_path}/none.toml")
    assert done.returncode == (0 if "now" in text else 2)
    assert "Traceback" not in done.stderr
    assert "now" in text or "nothing callable there" in done.stderr


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "good.json").write_text(json.dumps(GOOD))
    assert load(tmp_path / "good.json").name == "good"
    assert read(GOOD).apis["f"].returns == (("b", None),)
    shipped = sorted(file.stem for file in (ROOT / "data" / "worlds").glob("*.toml"))
    assert {"appbench", "bank", "library"} <= {*shipped}
    cases: list[tuple[str, str | None, str]] = TABLES["files_that_cannot_be_read"]
    for name, text, said in cases:
        if text is not None:
            (tmp_path / name).write_text(text)
        with pytest.raises(InputError, match=said):
            load(tmp_path / name)
    with pytest.raises(InputError, match=f"shipped: {', '.join(shipped)}; or name a world's file"):
        load("nowhere")


def test_a_world_can_live_in_a_file(tmp_path: Path) -> None:
    path = str(tmp_path / "library.db")
    with World("library", seed=4, database=path) as world:
        (book,) = world.connection.execute("SELECT shelf_mark FROM books").fetchone()
        (card,) = world.connection.execute("SELECT card FROM members").fetchone()
        world.connection.execute("DELETE FROM loans")
        begun = world.dump()
        world.call(None, "borrow", {"card": card, "shelf_mark": book})
        left = world.dump()
    with World("library", seed=4, database=path) as world:
        assert world.dump() == left != begun
        assert len(world.call(None, "my_loans", {"card": card})["loans"]) == 1
        world.call(None, "give_back", {"card": card, "shelf_mark": book})
        assert world.dump() == begun
    with pytest.raises(InputError, match="already holds a world"):
        World("library", database=path, facts=[[{"app": None, "name": "find_book", "arguments": {}}]])
    (tmp_path / "text.db").write_text("no database at all, but long enough to be read as one" * 20)
    with pytest.raises(InputError, match="cannot hold the world"):
        World("library", database=str(tmp_path / "text.db"))


def tool(name: str, *takes: str, returns: tuple[str, ...] = ()) -> dict[str, Any]:
    """A tool of planeval's own catalog format from ``name:type?``."""

    def schema(fields: tuple[str, ...]) -> dict[str, Any]:
        split = [each.rstrip("?").split(":") for each in fields]
        properties = {each[0]: {"type": each[1] if len(each) > 1 else "string"} for each in split}
        required = [each.partition(":")[0] for each in fields if not each.endswith("?")]
        return {"type": "object", "properties": properties, "required": required}

    return {"name": name, "parameters": schema(takes), "returns": schema(returns)}


def test_worlds_from_catalogs(tmp_path: Path) -> None:
    tools = [
        tool("find_room", "city", "beds:integer?", returns=("room_id", "beds:integer")),
        tool("book_room", "room_id", "X-Guest?", returns=("booking_id", "status")),
        tool("cancel_room", "booking_id"),
        tool("update_room", "booking_id", "new_beds:integer?", returns=("beds:integer",)),
    ]
    path = tmp_path / "tools.json"
    path.write_text(json.dumps({"format": "planeval-catalog/1", "tools": tools}))
    booking = {"booking_id": "$var_2.booking_id$"}
    made: list[tuple[str, dict[str, Any]]] = [
        ("find_room", {"city": "Bergen"}), ("book_room", {"room_id": "$var_1.room_id$", "X-Guest": "Ada"}),
        ("update_room", {**booking, "new_beds": 3}), ("cancel_room", booking),
    ]  # fmt: skip
    calls = [{"name": name, "label": f"$var_{n}", "arguments": one} for n, (name, one) in enumerate(made, 1)]
    plan = parse(calls, dialect="nestful")
    with World(f"catalog:{path}", facts=facts_of([plan])) as world:
        trace = execute_plan(plan, world)
        assert [call.status for call in trace.calls] == ["ok"] * 4, trace.calls
        assert trace.calls[2].value == {"beds": 3}
        with pytest.raises(NotFound):
            world.call(None, "cancel_room", {"booking_id": trace.calls[1].value["booking_id"]})
        assert world.call(None, "find_room", {"city": "Nowhere"}) == {}
    found = [tool.name for tool in world_catalog(f"catalog:{path}").tools]
    assert found == [tool.name for tool in as_catalog(tools).tools]


def test_calls_from_many_threads_lose_nothing() -> None:
    loans = [{"card": f"M{n}", "shelf_mark": "B-1"} for n in range(40)]
    facts = [[{"app": None, "name": "borrow", "arguments": loan}] for loan in loans]
    with World("library", facts=facts) as world:
        world.connection.execute("UPDATE books SET copies = 25 WHERE shelf_mark = 'B-1'")

        def borrow(loan: dict[str, str]) -> str:
            try:
                return str(world.call(None, "borrow", loan)["loan"])
            except Refused:
                return "refused"

        with ThreadPoolExecutor(40) as pool:
            done = list(pool.map(borrow, loans))
        assert done.count("refused") == 15
        assert len(set(done)) == 26
        count = world.connection.execute("SELECT count(*) FROM loans WHERE shelf_mark = 'B-1'").fetchone()
        assert count == (25,)
