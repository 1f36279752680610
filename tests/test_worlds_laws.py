"""What stays true in the shipped worlds whatever is called: of each API; money, places, days and copies."""

import json
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.execution.worlds.database import ApiCall, quote_name
from planner_eval.execution.worlds.definition import (
    Api,
    CallError,
    MissingArgument,
    NotFound,
    Refused,
    UnknownArgument,
)
from planner_eval.execution.worlds.facts import drop_filter, facts_of
from planner_eval.execution.worlds.reading import load
from planner_eval.execution.worlds.world import World
from tests.conftest import ROOT, examples, tables
from tests.inside import planeval
from tests.world_calls import table, working

TABLES = tables(__file__)

BASES = {(name, seed): World(name, seed=seed) for name in ("bank", "appbench", "library") for seed in (1, 2)}
SEEDS = st.sampled_from([1, 2])
PLACES = st.integers(0, 11)


def run(world: World, calls: list[tuple[str | None, str, dict[str, Any]]]) -> None:
    for app, name, arguments in calls:
        with suppress(CallError):
            world.call(app, name, arguments)


BUS = "Buses: [price = findbus(#from_city='{}', #to_city='Lyon', #departure_date='{}', #num_passengers='{}')]"


SENSELESS = TABLES["SENSELESS"]


def told_of(folder: Path, world: str, plan: str, gold: str) -> dict[str, Any]:
    """The only call of a plan in a world of gold's facts, as it ran."""
    (folder / "plan.txt").write_text(plan)
    (folder / "gold.txt").write_text(gold)
    argv = ("execute", folder / "plan.txt", "--tools", f"world:{world}", "--facts", folder / "gold.txt")
    (call,) = json.loads(planeval(*argv, "--trace", "--format", "json").stdout)["calls"]
    return dict(call)


@pytest.mark.parametrize(("world", "plan", "told"), SENSELESS, ids=[told for _, _, told in SENSELESS])
def test_what_makes_no_sense_is_refused(tmp_path: Path, world: str, plan: str, told: str) -> None:
    """Even where the plan's own words are facts."""
    call = told_of(tmp_path, world, plan, plan)
    assert call["error"]["kind"] == "Refused"
    assert told in call["error"]["message"]


def test_blanks_around_a_city_are_no_part_of_it(tmp_path: Path) -> None:
    plan, gold = (BUS.format(city, "2019-03-05", 1) for city in (" Oslo ", "Oslo"))
    assert told_of(tmp_path, "appbench", plan, gold)["value"]["from_city"] == "Oslo"


AMOUNTS = st.sampled_from([1, 0.01, 0.001, 19.99, 250.5, 12_000, 60_000, -5, 0, 1e-9, 10**12, "zzz"])
CURRENCIES = st.sampled_from(["USD", "usd", "USD", "EUR", "JPY", "zzz"])
MONEY = st.one_of(
    st.tuples(st.just("transfer"), PLACES, PLACES, AMOUNTS, CURRENCIES),
    st.tuples(st.just("wire"), PLACES, AMOUNTS, CURRENCIES), st.tuples(st.just("deposit"), PLACES, AMOUNTS),
    st.tuples(st.sampled_from(["spend", "cancel", "cancel wire", "close"]), st.integers(0, 30)),
)  # fmt: skip


def ask_bank(world: World, step: tuple[Any, ...]) -> tuple[None, str, dict[str, Any]]:
    kind, *given = step
    accounts = table(world, "accounts")
    row = accounts[given[0] % len(accounts)]
    wire = {"fromAccountID": row["accountID"], "toBankDetails": "B"}
    if kind == "transfer":
        way = {"fromAccountID": row["accountID"], "toAccountID": accounts[given[1]]["accountID"]}
        return None, "initiateTransfer", {**way, "amount": given[2], "currency": given[3]}
    if kind == "wire":
        return None, "initiateWireTransfer", {**wire, "amount": given[1], "currency": given[2]}
    if kind == "deposit":
        order = {"accountID": row["accountID"], "depositAmount": given[1]}
        return None, "openFixedDeposit", {**order, "termLength": "12", "interestRate": 2}
    if kind == "spend":  # all that is on an account, so that taking back finds nothing
        order = {**wire, "amount": row["balance"], "currency": row["currency"]}
        return None, "initiateWireTransfer", order
    name, column, api = {
        "cancel": ("transfers", "transferID", "cancelTransfer"),
        "cancel wire": ("wire_transfers", "transferID", "cancelWireTransfer"),
        "close": ("fixed_deposits", "fixedDepositID", "closeFixedDeposit"),
    }[kind]
    rows = table(world, name)
    return None, api, {column: rows[-1 - given[0] % len(rows)][column]}


def cents(world: World) -> dict[str, int]:
    """What each currency comes to: on accounts, put aside, and sent to other banks."""
    sums: Counter[str] = Counter()
    currency = {row["accountID"]: row["currency"] for row in table(world, "accounts")}
    for row in table(world, "accounts"):
        sums[row["currency"]] += round(100 * row["balance"])
    for row in table(world, "fixed_deposits"):
        if row["status"] == "open":
            sums[currency[row["accountID"]]] += round(100 * row["depositAmount"])
    for row in table(world, "wire_transfers"):
        if row["transferStatus"] != "cancelled":
            gone = row["amount"] if row["debited"] is None else row["debited"]
            sums[currency[row["fromAccountID"]]] += round(100 * gone)
    return dict(sums)


ABROAD = {"fromAccountID": "E1", "toAccountID": "E2", "amount": 70, "currency": "EUR"}
FOREIGN = [[{"app": None, "name": "initiateTransfer", "arguments": ABROAD}]]


@examples(150)
@given(SEEDS, st.lists(MONEY, max_size=12))
def test_money_is_neither_made_nor_lost(seed: int, steps: list[tuple[Any, ...]]) -> None:
    with BASES["bank", seed].copy(FOREIGN) as world:
        for step in steps:
            before, held = world.dump(), cents(world)
            rows = {row["accountID"]: row["balance"] for row in table(world, "accounts")}
            call = ask_bank(world, step)
            try:
                world.call(*call)
            except CallError:
                assert world.dump() == before, "a refused call leaves no trace"
                continue
            assert cents(world) == held, call
            after = {row["accountID"]: row["balance"] for row in table(world, "accounts")}
            assert all(balance >= 0 for balance in after.values()), call
            if "amount" in call[2]:
                assert float(call[2]["amount"]) > 0
            if call[1] == "initiateTransfer":
                moved = rows[call[2]["fromAccountID"]] - after[call[2]["fromAccountID"]]
                assert round(moved, 6) == float(call[2]["amount"]), "what is sent leaves the account"


def test_accounts_of_facts_hold_the_currency_of_their_transfer() -> None:
    with BASES["bank", 1].copy(FOREIGN) as world:
        assert world.call(None, "initiateTransfer", ABROAD)["TransferStatus"] == "pending"
        kept = {row["accountID"]: row["currency"] for row in table(world, "accounts")}
        assert (kept["E1"], kept["E2"]) == ("EUR", "EUR")


DAYS = st.sampled_from(["2018-12-31", "2019-02-28", "2019-03-01", "2019-03-02", "2019-03-05", "2019-03-12"])
SEATS = st.sampled_from([1, 2, 9, 30, 400, 0, -3])
KINDS = ["buses", "events", "showings", "trains", "houses", "cars", "restaurants", "homes"]
KINDS += ["stylists", "therapists"]
BOOKING = st.tuples(st.sampled_from(KINDS), PLACES, SEATS, DAYS, DAYS)


SOLD = TABLES["SOLD"]


def ask_apps(world: World, step: tuple[str, int, int, str, str]) -> tuple[str, str, dict[str, Any]]:
    kind, place, seats, day, other = step
    row = table(world, kind)[place]

    def of(names: str) -> dict[str, Any]:
        return {name: row[name] for name in names.split()}

    if kind in SOLD:
        app, name, what, count = SOLD[kind]
        return app, name, of(what) | {count: seats} | ({"trip_protection": False} if kind == "trains" else {})
    if kind == "houses":
        stay = {"check_in_date": day, "check_out_date": other, "number_of_adults": seats}
        return "Hotels", "bookhouse", {**of("where_to"), **stay}
    if kind == "cars":
        days = {"start_date": day, "end_date": other, "pickup_time": "9:00", "add_insurance": False}
        return "Rents", "reservecar", {**of("pickup_location car_type"), **days}
    if kind == "restaurants":
        table_for = {"time": "19:00", "date": day, "number_of_seats": seats}
        return "Restaurants", "reserverestaurant", {**of("restaurant_name location"), **table_for}
    if kind == "homes":
        return "Homes", "schedulevisit", {**of("property_name"), "visit_date": day}
    when = {"appointment_time": "9:30", "appointment_date": day}
    return "Services", f"book_{kind[:-1]}_appointment", {**of(f"{kind[:-1]}_name"), **when}


@examples(150)
@given(SEEDS, st.lists(BOOKING, max_size=12))
def test_nobody_books_more_than_there_is_nor_in_the_past(seed: int, steps: list[Any]) -> None:
    tickets = {"buses": "bus_tickets", "events": "event_tickets", "showings": "movie_tickets"}
    with BASES["appbench", seed].copy() as world:
        left = {name: table(world, name) for name in SOLD}
        run(world, [ask_apps(world, step) for step in steps])
        for name, (_, _, _, count) in SOLD.items():
            column, now = "tickets_left" if name == "events" else "seats_left", table(world, name)
            sold = [row[count] for row in table(world, tickets.get(name, "train_tickets"))]
            assert all(row[column] >= 0 for row in now)
            assert sum(row[column] for row in left[name]) - sum(row[column] for row in now) == sum(sold)
            assert all(number > 0 for number in sold)
        check_tables(world)
        check_stays(world)
        for name, columns in world.definition.tables.items():
            days = [each.name for each in columns.columns if each.type == "date"] if not columns.rows else []
            assert all(row[day] >= "2019-03-01" for row in table(world, name) for day in days), name


def check_tables(world: World) -> None:
    """No restaurant seats more people at a time than it has seats."""
    seats = {(row["restaurant_name"], row["location"]): row["seats"] for row in table(world, "restaurants")}
    taken: Counter[tuple[str, ...]] = Counter()
    for row in table(world, "table_reservations"):
        assert row["number_of_seats"] > 0
        at = (row["restaurant_name"], row["location"], row["date"], row["time"])
        taken[at] += row["number_of_seats"]
    assert all(count <= seats[at[:2]] for at, count in taken.items())


def check_stays(world: World) -> None:
    """Each house has one party a night, each of at least one night; no more cars are out than there are."""
    stays = table(world, "house_bookings")
    nights = [(row["address"], row["check_in_date"], row["check_out_date"]) for row in stays]
    assert all(come < go for _, come, go in nights)
    for position, (address, come, go) in enumerate(nights):
        assert not any(at == address and c < go and come < g for at, c, g in nights[:position])
    cars = {(row["pickup_location"], row["car_name"]): row["cars"] for row in table(world, "cars")}
    rented = table(world, "car_reservations")
    assert all(row["start_date"] <= row["end_date"] for row in rented)
    for row in rented:
        at, first = (row["pickup_location"], row["car_name"]), row["start_date"]
        same = [r for r in rented if (r["pickup_location"], r["car_name"]) == at]
        assert sum(r["start_date"] <= first <= r["end_date"] for r in same) <= cars[at]


@examples(100)
@given(SEEDS, st.lists(st.tuples(st.booleans(), PLACES, PLACES), max_size=15))
def test_no_copy_is_lost_or_lent_twice(seed: int, steps: list[tuple[bool, int, int]]) -> None:
    given = {"card": "M0", "shelf_mark": "B-0"}
    with BASES["library", seed].copy([[{"app": None, "name": "give_back", "arguments": given}]]) as world:
        held = copies(world)
        assert held["B-0"] > 1
        cards, marks = table(world, "members"), table(world, "books")[-12:]
        for borrowing, one, other in steps:
            loan = {"card": cards[one]["card"], "shelf_mark": marks[other]["shelf_mark"]}
            run(world, [(None, "borrow" if borrowing else "give_back", loan)])
        run(world, [(None, "give_back", given)])
        assert copies(world) == held
        assert all(row["copies"] >= 0 for row in table(world, "books"))


def copies(world: World) -> Counter[str]:
    """How many copies of each book there are, on the shelves and at home."""
    found = Counter({row["shelf_mark"]: row["copies"] for row in table(world, "books")})
    found.update(row["shelf_mark"] for row in table(world, "loans"))
    return found


RIVALS = TABLES["RIVALS"]


@pytest.mark.parametrize("search", RIVALS, ids=["text", "truth", "both"])
def test_searches_that_ask_for_every_value_of_a_filter_find_other_rows_without_it(search: str) -> None:
    """No row of one is what the other finds when it forgets the filter."""
    facts = facts_of([pe.parse("\n".join(map(search.format, RIVALS[search])))])
    base = World("appbench", seed=1)
    for seed in range(40):
        base.seed = str(seed)
        with base.copy(facts) as world:
            assert unfiltered(world, facts[0]) == (len(facts[0]) * (2 if "rating" in search else 1), [])


def unfiltered(world: World, calls: Any) -> tuple[int, list[Any]]:
    """How many filters of literal values can be left out, and those whose search finds the same without."""
    tried, wrong = 0, []
    for call in calls:
        with suppress(CallError):
            api = world.definition.find(call["name"], call["app"])
            given = {name: v for name, v in call["arguments"].items() if not isinstance(v, dict)}
            if api.acts or not api.reads or len(given) < len(call["arguments"]):
                continue
            search = ApiCall(world, api, world.arguments(api, given))
            found = search.find_rows()[:1]
            for match in api.matches:
                if found and (less := drop_filter(search, match.argument)):
                    tried += 1
                    wrong += [(call, match.argument)] * (less.find_rows()[:1] == found)
    return tried, wrong


def test_plans_are_judged_over_seeds(tmp_path: Path) -> None:
    bus = {"from_city": "Oslo", "to_city": "Lyon", "departure_date": "2019-03-05"}
    gold = {"name": "findbus", "arguments": bus, "label": "$c1"}
    plans = {"gold": [gold], "other": [{**gold, "arguments": {**bus, "to_city": "Oslo"}}], "broken": "[{"}
    (tmp_path / "gold.json").write_text(json.dumps([gold]))
    lines = [json.dumps({"id": name, "plan": plan}) for name, plan in plans.items()]
    (tmp_path / "plans.jsonl").write_text("\n".join(lines))
    more = ["--tools", "world:appbench", "--facts", tmp_path / "gold.json", "--seeds", "7", "--format"]
    done = planeval("execute", tmp_path / "plans.jsonl", *more, "json")
    assert done.returncode == 1, done.stderr
    right, wrong, broken = json.loads(done.stdout)
    assert right == {"record": "gold", "ok": 7, "seeds": 7, "failed_at": None, "problems": ""}
    assert wrong == {"record": "other", "ok": 0, "seeds": 7, "failed_at": 0, "problems": "Refused 7"}
    assert (broken["ok"], broken["problems"][:12]) == (0, "unreadable: ")
    one = planeval("execute", tmp_path / "gold.json", *more, "csv")
    assert (one.returncode, one.stdout.splitlines()[1][:8]) == (0, "1,7,7,,")
    for option in ("--seed 1", "--trace", "--state", "--jobs 2", "--format svg", "-o run/"):
        argv = ("--tools", "world:appbench", "--seeds", "2", *option.split())
        done = planeval("execute", tmp_path / "gold.json", *argv)
        assert (done.returncode, "--run seeds=N" in done.stderr) == (2, True), option


SHIPPED = {file.stem: load(file.stem) for file in sorted((ROOT / "data" / "worlds").glob("*.toml"))}
FIFTH = {name: World(definition, seed=5) for name, definition in SHIPPED.items()}
APIS = [(name, api) for name, definition in SHIPPED.items() for api in definition.apis.values()]


def ids(pairs: list[tuple[str, Api]]) -> list[str]:
    return [f"{name}:{api.full_name}" for name, api in pairs]


@pytest.mark.parametrize(("name", "api"), APIS, ids=ids(APIS))
def test_every_api_works_and_gives_what_it_declares(name: str, api: Api) -> None:
    with FIFTH[name].copy() as world:
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
    return not changes and all(quote_name(column) == value for column, value in api.sets)


@pytest.mark.parametrize(("name", "api"), APIS, ids=ids(APIS))
def test_a_missing_required_argument_fails(name: str, api: Api) -> None:
    with FIFTH[name].copy() as world:
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
    with FIFTH[name].copy() as world:
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
    with FIFTH[name].copy() as world:
        arguments = working(world, api)
        kinds = {each.name: each.type for each in api.arguments}
        for match in api.matches:
            if match.op == "=" and (unknown := UNKNOWN.get(kinds[match.argument])) is not None:
                with suppress(NotFound, Refused):
                    outputs = world.call(api.app, api.name, {**arguments, match.argument: unknown})
                    assert outputs == {} or [] in outputs.values()
