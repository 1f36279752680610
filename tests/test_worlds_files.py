"""Worlds in files: the docs' own examples, impossible files, databases in files, recordings."""

from __future__ import annotations

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from planner_eval.base.errors import ExecutionError, InputError
from planner_eval.catalogs.formats import as_catalog
from planner_eval.dialects.read import parse
from planner_eval.execution import execute
from planner_eval.plan.model import Call, Plan
from planner_eval.worlds import Replay, World, facts_of, load, read, world_source
from planner_eval.worlds.definition import CallError, MissingArgument, NotFound, Refused, TooLong, UnknownApi
from planner_eval.worlds.reading import world_catalog
from tests.conftest import ROOT
from tests.inside import planeval

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
        trace = execute(plan, world_source(path, facts=facts_of([plan])), isolation=isolation)
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
    assert execute(plan, world_source(path, seed=2)).calls[0].value == {"minutes": minutes}


def test_a_python_world_runs_in_the_worker_only(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    plan = Plan((Call("1", "walk"),))
    path.write_text("import sys; sys.modules['planner_eval'].was_here = True; raise RuntimeError('no world')")
    with pytest.raises(ExecutionError, match=r"does not import: RuntimeError: no world"):
        execute(plan, world_source(path))
    path.write_text("raise SystemExit(3)")
    with pytest.raises(InputError, match=r"does not import: SystemExit"):
        load(path)
    import planner_eval

    assert not hasattr(planner_eval, "was_here")
    with pytest.raises(InputError, match="no such file"):
        world_source(tmp_path / "none.py")


def test_the_docs_name_every_key_and_count() -> None:
    from planner_eval.worlds.schema import ApiEntry, TableEntry, WorldFile

    keys = {key for model in (ApiEntry, TableEntry, WorldFile) for key in model.known_keys()}
    for key in keys - {"name", "about"}:
        assert key in DOCS, key
    appbench, bank = load("appbench"), load("bank")
    written = [(ROOT / f"data/worlds/{name}.toml").read_text() for name in ("appbench", "bank")]
    assert [text.count("\n[api.") for text in written] == [33, 86]
    assert (len(appbench.apis), len(bank.apis)) == (81, 96)


GOOD: dict[str, Any] = {
    "pools": {"city": ["Oslo"]},
    "tables": {"t": {"columns": {"a": "integer", "b": "pool:city"}}},
    "api": {"f": {"args": ["a"], "reads": "t", "returns": ["b"]}},
}


def columns(**given: Any) -> dict[str, Any]:
    return {"tables": {"t": {"columns": given}}}


def api(**given: Any) -> dict[str, Any]:
    return {"api": {"f": {"reads": "t", **given}}}


@pytest.mark.parametrize(("change", "said"), [
    ({"colour": 1}, "there is no key 'colour'; known are name, about"),
    ({"today": "tomorrow"}, "today is 'tomorrow', expected a date yyyy-mm-dd"),
    ({"pools": 3}, "pools is 3, expected a table"),
    ({"pools": {"city": 3}}, "pools: city is 3, expected text or a list"),
    ({"tables": {"t": 3}}, "tables: t is 3, expected a table"), (columns(a="integer:9..1"), "is empty"),
    (columns(a="integer:x..1"), "expected numbers"), (columns(a="integer:4"), "expected low..high"),
    (columns(a="colour"), "unknown type 'colour'"), (columns(a=4), "a list of choices or a text"),
    (columns(**{"a b": "text"}), "tables.t.columns: the key is 'a b', expected letters, digits and _"),
    (columns(a="pool:town"), "no pool and no column 'town'"),
    (columns(a="text:{town}"), "no pool and no column 'town'"),
    (columns(a="text:x by c"), "there is no column 'c'"),
    (columns(a="from:u.a"), "expected from:table.column"), (columns(a="from:t.a"), "must come before"),
    (columns(a="text", A="text"), "duplicate column"),
    ({"tables": {"t": {"columns": {"a": "text"}, "unique": ["z"]}}}, "unique names 'z'"),
    ({"tables": {"t": {"columns": {"a": "text"}, "rows": -1}}}, "rows is -1, expected a number from 0 on"),
    (api(reads="u"), "there is no table 'u'"), (api(args=["a b"]), "an argument is written"),
    (api(args=3), "api.f: args is 3, expected text or a list"),
    (api(args=["a:colour"]), "unknown type 'colour'"),
    (api(args=["a"], match={"a": "z"}), "which is no column"),
    (api(args=["a"], match={"a": "a like"}), "match knows"),
    (api(args=["a"], match={"z": "a"}), "which is no argument"),
    (api(args=["a"], known={"a": ["t.z"]}), "expected table.column"),
    (api(require=["a > 0"]), "require 1 is 'a > 0', expected a pair: a condition and what is said"),
    (api(empty="maybe"), "empty is 'maybe', expected one of fail, nothing"),
    (api(where=["z > 0"]), "no such column: z"),
    (api(set={"z": "1"}), "set z: no such column in the table t"),
    (api(then=["DROP TABLES"]), "syntax error"), (api(returns={"x": "nope(a)"}), "no such function: nope"),
    (api(require=[["a > :z", "no"]]), ":z"),
    ({"api": {"f": {"adds": "t", "values": {"a": "((1"}}}}, "incomplete input"),
    (api(fact={"z": "1"}), "fact z"),
    ({"api": {"f": {"python": "walk"}}}, "a world in a Python file can define it"),
    ({"generic": {"f.g": "a b -> c"}}, "expected name, name:type"),
])  # fmt: skip
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


@pytest.mark.parametrize("statement", [
    "ATTACH DATABASE '{}' AS other", "VACUUM INTO '{}'", "PRAGMA writable_schema = ON", "COMMIT",
    "SAVEPOINT mine", "DROP TABLE rooms", "CREATE TABLE more (a)", "DELETE FROM sqlite_master",
    "UPDATE rooms SET city = random()", "UPDATE rooms SET city = CURRENT_DATE", "SELECT load_extension('x')",
])  # fmt: skip
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
    assert "find cannot be carried out: its SQL comes to no en" in done.stdout
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
        with pytest.raises(TooLong, match="find cannot be carried out: its SQL comes to no en"):
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
    assert "now" in text or "nothing there can be called" in done.stderr


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "good.json").write_text(json.dumps(GOOD))
    assert load(tmp_path / "good.json").name == "good"
    assert read(GOOD).apis["f"].returns == (("b", None),)
    shipped = sorted(file.stem for file in (ROOT / "data" / "worlds").glob("*.toml"))
    assert {"appbench", "bank", "library"} <= {*shipped}
    cases: list[tuple[str, str | None, str]] = [
        ("a.toml", "a = ", "Invalid value"), ("a.json", "{", "line 1, column 2: not JSON"),
        ("a.py", "import nothing_of_that_name", "does not import: ModuleNotFoundError"),
        ("b.py", "x = 1", "defines WORLD"), ("c.py", "WORLD = 3", "c.py: found 3, expected a table"),
        ("none.toml", None, "no such file"), ("", None, "is a directory"),
    ]  # fmt: skip
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
    with pytest.raises(InputError, match="holds a world already"):
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
    calls = [
        {"name": name, "label": f"$var_{n}", "arguments": given} for n, (name, given) in enumerate(made, 1)
    ]
    plan = parse(calls, dialect="nestful")
    with World(f"catalog:{path}", facts=facts_of([plan])) as world:
        trace = execute(plan, world)
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


TWICE = [{"name": "Find", "arguments": {"q": "a", "n": 10}}, {"name": "Now", "arguments": {}}]
RECORD = {
    "conversations": [
        {"role": "user", "content": "…"}, {"role": "assistant", "function_call": TWICE},
        {"role": "observation", "content": [{"id": 1}, "noon"]},
        {"role": "assistant", "function_call": TWICE[1:]}, {"role": "observation", "content": ["later"]},
        {"role": "assistant", "content": "…"},
    ]
}  # fmt: skip


def test_a_recording_answers_as_it_was_made() -> None:
    world = Replay.from_conversations(RECORD)
    assert world.call(None, "Find", {"n": 10.0, "q": "a"}) == {"id": 1}
    assert [world.tools["Now"]() for _ in range(3)] == ["noon", "later", "later"]
    with pytest.raises(NotFound, match="1 other sets of arguments"):
        world.call(None, "Find", {"q": "b"})
    with pytest.raises(UnknownApi):
        world.call(None, "Lost", {})
    world.call(None, "Find", {"q": "a", "n": 10})["id"] = 2
    assert world.call(None, "Find", {"q": "a", "n": 10}) == {"id": 1}
    short = {"conversations": [*RECORD["conversations"][:2], {"role": "observation", "content": [1]}]}
    with pytest.raises(InputError, match="2 calls are followed by 1 observations"):
        Replay.from_conversations([RECORD, short])
    with pytest.raises(InputError, match="record 0"):
        Replay.from_conversations({})
