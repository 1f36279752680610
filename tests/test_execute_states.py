"""Plans that begin in a state of their own: every kind of tool and level, turns, goals, recordings."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.execution.program import Options, PlanWithState, compile_plan
from planner_eval.execution.run import execute_many
from planner_eval.execution.sandbox.sandbox import Sandbox
from planner_eval.execution.tool_loading import collect_tools, execute_file, set_initial_state
from planner_eval.execution.tool_sources import tool_source
from planner_eval.execution.worlds.definition import CallError
from planner_eval.execution.worlds.world import World
from tests.conftest import tabled, text_case, until
from tests.inside import planeval
from tests.pages import Page
from tests.test_cli import planeval as started

TOOLS = text_case("test_execute_states-TOOLS.txt")
PUT, GET = "put(#key='x', #value='1')", "get(#key='y')"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "desk.py").write_text(TOOLS)
    return tmp_path


@pytest.fixture
def tools(folder: Path) -> str:
    return f"{folder / 'desk.py'}"


def lines(path: Path, *rows: Any) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def outcome(row: dict[str, Any]) -> Any:
    calls = row.get("calls") or [{"error": {"kind": row["error"]}}]
    return [call.get("value", call.get("error", {}).get("kind")) for call in calls], row.get("state")


def ran(plans: str, tools: str, *more: object) -> list[dict[str, Any]]:
    """The rows of a run, as JSON."""
    done = planeval("execute", plans, "--tools", tools, "--format", "jsonl", *more)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("isolation", ["strict", "process", "inline"])
@pytest.mark.parametrize("name", ["desk.py:Desk", "desk.py"])
def test_a_state_hangs_on_its_record_alone(folder: Path, tools: str, name: str, isolation: str) -> None:
    one = {"id": "a", "plan": f"{PUT}\n{GET}", "state": {"rows": {"y": 5}}}
    refused = {"id": "b", "plan": GET, "initial_config": {"lines": 1}}
    other = {"id": "c", "plan": GET, "initial_state": {"rows": {"y": 7}}}
    bare = {"id": "d", "plan": "put(#key='z', #value='2')", "state": "CA"}
    expected = {"a": (["1", 5], {"rows": {"y": 5, "x": "1"}}), "b": (["initial-state"], None)}
    expected |= {"c": ([7], {"rows": {"y": 7}}), "d": (["2"], {"rows": {"z": "2"}})}
    for order in ((one, refused, other, bare), (bare, other, one, refused), (one, one, other, other)):
        rows = ({**row, "id": f"{row['id']}{n}"} for n, row in enumerate(order))
        plans = lines(folder / "plans.jsonl", *rows)
        for row in ran(plans, str(folder / name), "--isolation", isolation, "--state"):
            values, state = expected[row["record"][0]]
            found = outcome(row)
            assert found[0] == values
            if state is not None and not (row["record"][0] == "d" and name == "desk.py"):
                assert found[1] == state


def test_runs_in_parts_and_seeds_begin_in_the_records_state(folder: Path, tools: str) -> None:
    rows = [{"id": str(n), "plan": f"{PUT}\n{GET}", "state": {"rows": {"y": n}}} for n in range(12)]
    plans = lines(folder / "plans.jsonl", *rows)
    argv = ("execute", plans, "--tools", f"{tools}:Desk", "--state", "--format", "jsonl")
    for more in ((), ("--jobs", "2", "--part", "3"), ("--concurrency", "3")):
        found = [outcome(json.loads(line)) for line in started(*argv, *more).stdout.splitlines()]
        assert found == [(["1", n], {"rows": {"y": n, "x": "1"}}) for n in range(12)]
    book = "Library: [title = find_book(#author='Nora Lindqvist')]"
    held = {"books": [{"author": "Nora Lindqvist", "title": "On Ito"}]}
    borrow = "Library: [state = borrow(#card='M1', #shelf_mark='B-1')]"
    given = [(book, held), (book, {"books": []}), (f"{book}\n{borrow}", {"facts": borrow})]
    plans = lines(folder / "books.jsonl", *({"plan": plan, "state": state} for plan, state in given))
    assert [row["ok"] for row in ran(plans, "world:library", "--seeds", "3")] == [3, 3, 3]
    first, second, third = (row["calls"] for row in ran(plans, "world:library", "--trace"))
    assert (first[0]["value"]["title"], second[0]["value"]) == ("On Ito", {})
    assert third[1]["status"] == "ok"


def test_several_owners_have_each_their_own_state(tools: str) -> None:
    plan, both, kept = f"{PUT}\nsend(#text='hello')", f"{tools}:BOTH", Options(state=True)
    state = {"Desk": {"rows": {}}, "Mail": {"sent": ["before"]}}
    for isolation in ("strict", "inline"):
        trace = pe.execute(plan, both, initial=state, isolation=isolation, options=kept)
        assert trace.state == {"Desk": {"rows": {"x": "1"}}, "Mail": {"sent": ["before", "hello"]}}
    bare = pe.execute(plan, both, options=kept)
    assert bare.state["Mail"] == {"sent": ["hello"]}, "BFCL's classes have no state before they are given {}"
    wrong = pe.execute(plan, both, initial={"Dask": {}})
    assert "it names 'Dask', which is not one of Desk, Mail" in str(wrong.ended)


def test_what_takes_no_state_says_so_and_what_a_user_gives_stays_as_it_is(tools: str) -> None:
    found = pe.execute("set_state(#device='hall', #state='on')", f"{tools}:Lamp")
    assert found.result == "hall on", "a tool of that name is a tool"
    none = pe.execute(PUT, f"{tools}:Lamp", initial={})
    assert str(none.ended) == "initial-state: the tools have no set_state(state), which sets an initial state"
    assert [call.status for call in none] == ["failed"]
    made = execute_file(tools)
    kept = pe.execute(GET, made, initial={"rows": {"y": 1}})
    assert "tools in this process keep it for the next plan" in str(kept.ended)
    assert made.CONTEXT == []
    one = made.Desk()
    assert pe.execute(f"{PUT}\n{GET}", one, initial={"rows": {"y": 1}}).result == 1
    assert one.rows == {}, "the user's own object is as it was"
    state = {"rows": {"y": [1]}}
    trace = pe.execute(PUT, made.Desk, initial=state, options=Options(state=True))
    assert (trace.state, state) == ({"rows": {"y": [1], "x": "1"}}, {"rows": {"y": [1]}})
    owned = collect_tools(made.Desk)
    set_initial_state(owned, {"rows": {}})
    assert set(owned) == {"put", "get"}


def test_states_come_from_a_file_a_field_or_nowhere(folder: Path, tools: str) -> None:
    rows = [{"id": n, "plan": GET, "begun": {"rows": {"y": 1}}, "state": {"rows": {"y": 2}}} for n in "ab"]
    plans, every = lines(folder / "plans.jsonl", *rows), folder / "all.json"
    every.write_text('{"rows": {"y": 3}}')
    listed = lines(folder / "each.jsonl", {"id": "a", "state": {"rows": {"y": 4}}})
    expected = {"begun": [1, 1], "state": [2, 2], every: [3, 3], "none": ["KeyError", "KeyError"]}
    for given, values in (*expected.items(), (listed, [4, f"{listed} has no state for the id b"])):
        assert [outcome(row)[0][0] for row in ran(plans, f"{tools}:Desk", "--initial", given)] == values


@tabled("text, said")
def test_a_file_of_states_that_is_none_is_told(folder: Path, tools: str, text: str, said: str) -> None:
    (folder / "s.json").write_text(text)
    plans = lines(folder / "plans.jsonl", {"id": "a", "plan": GET})
    done = planeval("execute", plans, "--tools", f"{tools}:Desk", "--initial", folder / "s.json")
    assert (done.returncode, said in done.stderr) == (2, True)


@tabled("state, said")
def test_a_world_refuses_a_state_in_words(state: Any, said: str) -> None:
    with World("library") as world, pytest.raises(CallError, match=r"..") as error:
        world.set_state(state)
    assert said in str(error.value)


def test_a_state_that_is_no_object_is_refused_and_nothing_is_run(folder: Path, tools: str) -> None:
    for state, found in (([4], "an array"), (False, "False")):
        said = f"initial-state: expected an object, found {found}"
        rows = [{"id": "a", "plan": PUT, "state": state}, {"id": "b", "plan": PUT, "begun": state}]
        plans = lines(folder / "plans.jsonl", *rows, {"id": "c", "plan": PUT, "state": None})
        listed = lines(folder / "each.jsonl", *({"id": n, "state": state} for n in "abc"))
        for more, refused in (([], "a"), (["--initial", "begun"], "b"), (["--initial", listed], "abc")):
            argv = ["execute", plans, "--tools", f"{tools}:Desk", "--isolation", "inline", *more]
            done = planeval(*argv, "--format", "csv")
            assert done.returncode == (3 if not done.stdout else 1), done.stderr
            told = {line[0]: line for line in done.stdout.splitlines()[1:]}
            assert {n for n in told if said in told[n]} == set(refused)
            assert all(",put,ok," in told[n] for n in set("abc") - set(refused))
    rows = [{"id": "a", "plan": PUT, "state": "CA"}, {"id": "b", "plan": PUT, "initial_state": "CA"}]
    found = [outcome(row)[0] for row in ran(lines(folder / "plans.jsonl", *rows), f"{tools}:Desk")]
    assert found == [["1"], ["initial-state"]], "a text is one only where its field's name says so"


def test_each_line_of_a_state_says_whose_it_is(folder: Path, tools: str) -> None:
    rows = [{"id": n, "plan": PUT, "state": state} for n, state in (("a", {"lines": 1}), ("b", {"rows": {}}))]
    argv = ["execute", lines(folder / "plans.jsonl", *rows), "--tools", f"{tools}:Desk", "--state"]
    told = [line for line in planeval(*argv).stdout.splitlines() if line.split(": ")[1:2] == ["state"]]
    assert told == ["b: state: {'rows': {'x': '1'}}"]
    assert planeval(*argv, "--id", "b").stdout.splitlines()[-1] == "state: {'rows': {'x': '1'}}"


def talk(*turns: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    said: list[dict[str, Any]] = []
    for number, calls in enumerate(turns):
        made = [{"name": name, "arguments": json.dumps(given)} for name, given in calls]
        tools = [{"id": f"t{number}{n}", "type": "function", "function": one} for n, one in enumerate(made)]
        said.append({"role": "user", "content": "and?"})
        said.append({"role": "assistant", "content": None, "tool_calls": tools})
    return said


FIRST, SECOND = ("put", {"key": "x", "value": 1}), ("put", {"key": "y", "value": 2})


def test_turns_keep_one_state_which_is_told_after_each(folder: Path, tools: str) -> None:
    record = {"id": "a", "messages": talk([FIRST], [SECOND, ("get", {"key": "x"})]), "state": {"rows": {}}}
    plans, after = lines(folder / "plans.jsonl", record), {"rows": {"x": 1, "y": 2}}
    for more in (["--isolation", "process"], ["--isolation", "inline"], ["--concurrency", "4"]):
        (row,) = ran(plans, f"{tools}:Desk", "--state", *more)
        assert row["turns"] == [{"turn": 1, "state": {"rows": {"x": 1}}}, {"turn": 2, "state": after}]
        assert row["state"] == after
    text = planeval("execute", plans, "--tools", f"{tools}:Desk", "--state").stdout
    assert "a: state after turn 1: {'rows': {'x': 1}}\n" in text


def test_turns_run_one_after_the_other_also_side_by_side() -> None:
    plan = pe.parse(talk([FIRST, SECOND], [FIRST], [SECOND]))
    program = compile_plan(plan, Options(concurrency=8))
    assert program.groups == [[0, 1], [2], [3]]
    assert program.turns == [(1, 1), (2, 2), (3, 3)]
    assert compile_plan(pe.parse(talk([FIRST, SECOND])), Options(concurrency=8)).turns == []


def test_a_goal_is_reached_by_its_state_and_the_values_that_gold_names(folder: Path, tools: str) -> None:
    golds = [{"id": n, "gold": f"{PUT}\n{GET}", "state": {"rows": {"y": 5}}} for n in "abcde"]
    preds = {
        "a": f"{GET}\n{PUT}\nget(#key='x')",  # one more look
        "b": PUT,  # the value is not seen
        "c": f"{GET}\nput(#key='x', #value='2')",  # another state
        "d": f"{PUT}\n{GET}",
        "e": f"get(#key='nosuch')\n{PUT}\n{GET}",  # a call that fails and changes nothing
    }
    pred = lines(folder / "pred.jsonl", *({"id": n, "plan": text} for n, text in preds.items()))
    argv = ["diff", pred, lines(folder / "gold.jsonl", *golds), "--execute", f"{tools}:Desk"]
    done = planeval(*argv, "--format", "jsonl")
    rows = {row["id"]: row["effects"] for row in map(json.loads, done.stdout.splitlines())}
    assert [n for n in "abcde" if rows[n]["reached"]] == ["a", "d", "e"]
    assert [n for n in "abcde" if rows[n]["verdict"] == "same"] == ["a", "d"]
    assert (rows["b"]["state_same"], rows["c"]["state_same"]) == (True, False)
    text = planeval(*argv)
    reached = "gold's final state and values are reached in 3 of 5"
    assert text.returncode == 1
    assert text.stdout.splitlines()[-1] == f"when run: 2 the same, 3 different; {reached}"
    assert "e  different, different when run, gold's goal reached: call.extra" in text.stdout
    table = planeval(*argv, "--format", "csv").stdout.splitlines()
    assert table[0].endswith(",effects,reached")
    assert table[4].endswith(",the same,True")
    assert "when run: different; " in planeval(*argv, "--format", "junit").stdout
    planeval(*argv, "--format", "html", "-o", folder / "page.html")
    told = {pair["id"]: pair["ex"]["said"] for pair in Page.of(folder / "page.html").pairs()}
    assert told["a"] == "when run: the same"
    assert told["b"].startswith("when run: different; ")
    none = planeval(*argv, "--initial", "none", "--id", "d", "--format", "json")
    assert json.loads(none.stdout)["effects"]["reached"] is None, "gold itself fails without its state"


def test_records_that_begin_differently_are_not_compared(folder: Path, tools: str) -> None:
    pred = lines(folder / "pred.jsonl", {"id": "a", "plan": GET, "state": {"rows": {"y": 1}}})
    gold = lines(folder / "gold.jsonl", {"id": "a", "gold": GET, "state": {"rows": {"y": 2}}})
    done = planeval("diff", pred, gold, "--execute", f"{tools}:Desk")
    assert "when run: unknown: the two records start from different states" in done.stdout


def test_a_recording_knows_the_state_that_a_plan_began_in(folder: Path, tools: str) -> None:
    rows = [{"id": str(y), "plan": GET, "state": {"rows": {"y": y}}} for y in (1, 2)]
    plans, record = lines(folder / "plans.jsonl", *rows), folder / "record.jsonl"
    live, again = (f"{tools}:Desk", "--record", record), (f"recorded:{record}",)
    for spec in (live, again, live):
        assert [outcome(row)[0] for row in ran(plans, *spec)] == [[1], [2]]
    lines(folder / "plans.jsonl", {**rows[0], "state": {"rows": {"y": 3}}})
    assert outcome(ran(plans, *again)[0])[0] == ["not-recorded"]


def test_a_recording_keeps_an_errors_place_and_tells_no_arguments_unasked(folder: Path, tools: str) -> None:
    plans, record = lines(folder / "plans.jsonl", {"id": "a", "plan": GET}), folder / "record.jsonl"
    for spec in (f"{tools}:Desk", f"recorded:{record}"):
        for how in ((), ("--trace",)):
            [call] = ran(plans, spec, *(() if "recorded" in spec else ("--record", record)), *how)[0]["calls"]
            assert call["error"]["place"].startswith("desk.py:")
            assert ("arguments" in call) == bool(how)


def test_two_runs_do_not_record_into_one_file(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\ndef f(x):\n    time.sleep(4)\n    return x\n")
    plans = lines(tmp_path / "plans.jsonl", *({"id": str(n), "plan": f"f(#x='{n}')"} for n in range(3)))
    record = tmp_path / "record.jsonl"
    argv = ["execute", plans, "--tools", str(tmp_path / "slow.py"), "--record", str(record)]
    first = subprocess.Popen([sys.executable, "-m", "planner_eval", *argv], stdout=subprocess.DEVNULL)
    until(record.exists)
    second = planeval(*argv)
    assert (second.returncode, "another run is recording into it" in second.stderr) == (2, True)
    assert first.wait() == 0
    assert len(record.read_text().splitlines()) == 3
    assert planeval(*argv).returncode == 0


def test_one_worker_serves_plans_with_and_without_a_state(tools: str) -> None:
    plan = pe.parse(f"{PUT}\nget(#key='x')")
    starts = [PlanWithState(plan, {"rows": {"a": n}} if n % 2 else None) for n in range(6)]
    with Sandbox(tool_source(f"{tools}:Desk"), level="process") as box:
        states = [trace.state for trace in execute_many(starts, box, options=Options(state=True))]
    assert states == [{"rows": {**({"a": n} if n % 2 else {}), "x": "1"}} for n in range(6)]
