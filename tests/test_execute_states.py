"""Plans that begin in a state of their own: every kind of tool and level, turns, goals, recordings."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.execution import Options, Sandbox, execute_many, tool_source
from planner_eval.execution.collect import begin, collect
from planner_eval.execution.load import execute_file
from planner_eval.execution.program import Start, compile_plan
from planner_eval.worlds import CallError, World
from tests.inside import planeval
from tests.pages import Page
from tests.test_cli import planeval as started

TOOLS = """
class Desk:
    def __init__(self):
        self.rows = {}
    def set_state(self, state):
        if "rows" not in state:
            raise ValueError("no rows")
        self.rows = state["rows"]
    def state(self):
        return {"rows": self.rows}
    def put(self, key, value):
        self.rows[key] = value
        return value
    def get(self, key):
        return self.rows[key]

class Mail:
    def _load_scenario(self, scenario):
        self.sent = list(scenario.get("sent", []))
    def send(self, text):
        self.sent.append(text)
        return len(self.sent)

class Lamp:
    def set_state(self, device, state):
        return f"{device} {state}"

CONTEXT = []
def set_state(state):
    CONTEXT[:] = state["rows"].items()
def state():
    return {"rows": dict(CONTEXT)}
def put(key, value):
    CONTEXT.append((key, value))
    return value
def get(key):
    return dict(CONTEXT)[key]
BOTH = [Desk, Mail]
"""
PUT, GET = "put(#key='x', #value='1')", "get(#key='y')"


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    (tmp_path / "desk.py").write_text(TOOLS)
    return tmp_path / "desk.py"


def lines(path: Path, *rows: Any) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def outcome(row: dict[str, Any]) -> Any:
    calls = row.get("calls") or [{"error": {"kind": row["error"]}}]
    return [call.get("value", call.get("error", {}).get("kind")) for call in calls], row.get("state")


# ---------------------------------------------------------------- each kind of tool, each level
@pytest.mark.parametrize("isolation", ["strict", "process", "inline"])
@pytest.mark.parametrize("name", ["desk.py:Desk", "desk.py"])
def test_the_state_of_a_plan_hangs_on_its_record_alone(tools: Path, name: str, isolation: str) -> None:
    one = {"id": "a", "plan": f"{PUT}\n{GET}", "state": {"rows": {"y": 5}}}
    refused = {"id": "b", "plan": GET, "initial_config": {"lines": 1}}
    other = {"id": "c", "plan": GET, "initial_state": {"rows": {"y": 7}}}
    bare = {"id": "d", "plan": "put(#key='z', #value='2')", "state": "CA"}
    expected = {
        "a": (["1", 5], {"rows": {"y": 5, "x": "1"}}),
        "b": (["initial-state"], None),
        "c": ([7], {"rows": {"y": 7}}),
        "d": (["2"], {"rows": {"z": "2"}} if name.endswith("Desk") or isolation != "process" else None),
    }
    for order in ((one, refused, other, bare), (bare, other, one, refused), (one, one, other, other)):
        plans = lines(
            tools.parent / "plans.jsonl", *({**row, "id": f"{row['id']}{n}"} for n, row in enumerate(order))
        )
        argv = ["--tools", str(tools.parent / name), "--isolation", isolation, "--state", "--format", "jsonl"]
        done = planeval("execute", plans, *argv)
        assert done.returncode == (1 if refused in order else 0), done.stderr
        for row in map(json.loads, done.stdout.splitlines()):
            values, state = expected[row["record"][0]]
            found = outcome(row)
            assert found[0] == values
            if state is not None and not (row["record"][0] == "d" and name == "desk.py"):
                assert found[1] == state


def test_runs_in_parts_and_seeds_begin_in_the_records_state(tools: Path) -> None:
    rows = [{"id": str(n), "plan": f"{PUT}\n{GET}", "state": {"rows": {"y": n}}} for n in range(12)]
    plans = lines(tools.parent / "plans.jsonl", *rows)
    argv = ["execute", plans, "--tools", f"{tools}:Desk", "--state", "--format", "jsonl"]
    for more in ([], ["--jobs", "2", "--part", "3"], ["--concurrency", "3"]):
        found = [json.loads(line) for line in started(*argv, *more).stdout.splitlines()]
        assert [outcome(row) for row in found] == [
            (["1", n], {"rows": {"y": n, "x": "1"}}) for n in range(12)
        ]
    book = "Library: [title = find_book(#author='Nora Lindqvist')]"
    held = {"books": [{"author": "Nora Lindqvist", "title": "On Ito"}]}
    borrow = "Library: [state = borrow(#card='M1', #shelf_mark='B-1')]"
    plans = lines(
        tools.parent / "books.jsonl",
        {"plan": book, "state": held},
        {"plan": book, "state": {"books": []}},
        {"plan": f"{book}\n{borrow}", "state": {"facts": borrow}},
    )
    done = planeval("execute", plans, "--tools", "world:library", "--seeds", "3", "--format", "jsonl")
    assert [json.loads(line)["ok"] for line in done.stdout.splitlines()] == [3, 3, 3]
    done = planeval("execute", plans, "--tools", "world:library", "--trace", "--format", "jsonl")
    first, second, third = map(json.loads, done.stdout.splitlines())
    assert first["calls"][0]["value"]["title"] == "On Ito"
    assert second["calls"][0]["value"] == {}
    assert third["calls"][1]["status"] == "ok"


def test_several_owners_have_each_their_own_state(tools: Path) -> None:
    plan = f"{PUT}\nsend(#text='hello')"
    state = {"Desk": {"rows": {}}, "Mail": {"sent": ["before"]}}
    for isolation in ("strict", "inline"):
        trace = pe.execute(
            plan, f"{tools}:BOTH", initial=state, isolation=isolation, options=Options(state=True)
        )
        assert trace.state == {"Desk": {"rows": {"x": "1"}}, "Mail": {"sent": ["before", "hello"]}}
    bare = pe.execute(plan, f"{tools}:BOTH", options=Options(state=True))
    assert bare.state["Mail"] == {"sent": ["hello"]}, "BFCL's classes have no state before they are given {}"
    wrong = pe.execute(plan, f"{tools}:BOTH", initial={"Dask": {}})
    assert "it names 'Dask', which is none of Desk, Mail" in str(wrong.ended)


def test_what_takes_no_state_says_so(tools: Path) -> None:
    found = pe.execute("set_state(#device='hall', #state='on')", f"{tools}:Lamp")
    assert found.result == "hall on", "a tool of that name is a tool"
    none = pe.execute(PUT, f"{tools}:Lamp", initial={})
    assert str(none.ended) == "initial-state: the tools have no set_state(state), which would take it"
    assert [call.status for call in none] == ["failed"]
    made = execute_file(str(tools))
    kept = pe.execute(GET, made, initial={"rows": {"y": 1}})
    assert "tools of this process keep it for the next plan" in str(kept.ended)
    assert made.CONTEXT == []
    one = made.Desk()
    assert pe.execute(f"{PUT}\n{GET}", one, initial={"rows": {"y": 1}}).result == 1
    assert one.rows == {}, "the user's own object is as it was"


def test_what_a_user_gives_stays_as_it_is(tools: Path) -> None:
    state = {"rows": {"y": [1]}}
    made = execute_file(str(tools))
    trace = pe.execute(PUT, made.Desk, initial=state, options=Options(state=True))
    assert (trace.state, state) == ({"rows": {"y": [1], "x": "1"}}, {"rows": {"y": [1]}})
    owned = collect(made.Desk)
    begin(owned, {"rows": {}})
    assert set(owned) == {"put", "get"}


# ---------------------------------------------------------------- where the state stands
def test_states_come_from_a_file_a_field_or_nowhere(tools: Path) -> None:
    folder = tools.parent
    rows = [{"id": n, "plan": GET, "begun": {"rows": {"y": 1}}, "state": {"rows": {"y": 2}}} for n in "ab"]
    plans = lines(folder / "plans.jsonl", *rows)
    (folder / "all.json").write_text('{"rows": {"y": 3}}')
    listed = lines(folder / "each.jsonl", {"id": "a", "state": {"rows": {"y": 4}}})
    argv = ["execute", plans, "--tools", f"{tools}:Desk", "--format", "jsonl", "--initial"]

    def found(given: str) -> list[Any]:
        done = planeval(*argv, given)
        return [outcome(json.loads(line))[0][0] for line in done.stdout.splitlines()]

    assert found("begun") == [1, 1]
    assert found("state") == [2, 2]
    assert found(str(folder / "all.json")) == [3, 3]
    assert found("none") == ["KeyError", "KeyError"]
    assert found(listed) == [4, f"{listed} has no state for the id b"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1", "line 1, column 3"),
        ("3", "expected an object, the state of all records, found 3"),
        (
            '[{"id": "a"}]',
            "record 1: expected a record with an id and state or initial_state or initial_config",
        ),
        ('[{"id": "a", "state": {}}, {"id": "a", "state": {}}]', "record 2: the id a has a state already"),
        ("[]", "there is no state in it"),
    ],
)
def test_a_file_of_states_that_is_none_is_told(tools: Path, text: str, said: str) -> None:
    (tools.parent / "s.json").write_text(text)
    plans = lines(tools.parent / "plans.jsonl", {"id": "a", "plan": GET})
    done = planeval("execute", plans, "--tools", f"{tools}:Desk", "--initial", str(tools.parent / "s.json"))
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"bokks": []}, "there is no table 'bokks'; did you mean 'books'?"),
        ({"books": {}}, "books: expected an array of rows"),
        ({"books": [3]}, "books, row 1: expected an object, found 3"),
        ({"books": [{"titel": 1}]}, "books, row 1: there is no column 'titel'; did you mean 'title'?"),
        ({"books": [{"copies": "x"}]}, "books, row 1: copies: expected a whole number"),
        ({"loans": [{"card": "M1", "shelf_mark": "B"}] * 2}, "loans, row 2: cannot stand in the table"),
        ({"facts": [3]}, "facts: expected calls"),
        ([], "a world's state is an object of tables"),
    ],
)
def test_a_world_refuses_a_state_in_words(state: Any, said: str) -> None:
    with World("library") as world, pytest.raises(CallError, match=r"..") as error:
        world.set_state(state)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("state", "found"),
    [([4], "an array"), (4, "4"), (False, "False"), ([], "an array")],
)
def test_a_state_that_is_no_object_is_refused_and_nothing_is_run(tools: Path, state: Any, found: str) -> None:
    said = f"initial-state: an object is expected, found {found}"
    rows = [{"id": "a", "plan": PUT, "state": state}, {"id": "b", "plan": PUT, "begun": state}]
    plans = lines(tools.parent / "plans.jsonl", *rows, {"id": "c", "plan": PUT, "state": None})
    listed = lines(tools.parent / "each.jsonl", *({"id": n, "state": state} for n in "abc"))
    for more, refused in (([], "a"), (["--initial", "begun"], "b"), (["--initial", listed], "abc")):
        for isolation in ("strict", "inline"):
            argv = ["execute", plans, "--tools", f"{tools}:Desk", "--isolation", isolation, *more]
            done = planeval(*argv, "--format", "csv")
            assert done.returncode == (3 if not done.stdout else 1), done.stderr
            told = {line[0]: line for line in done.stdout.splitlines()[1:]}
            assert {n for n in told if said in told[n]} == set(refused)
            assert all(",put,ok," in told[n] for n in set("abc") - set(refused))
    ran = planeval("execute", plans, "--tools", f"{tools}:Desk", "--initial", "none", "--format", "jsonl")
    assert ran.returncode == 0


def test_a_text_in_a_field_of_states_is_one_only_where_its_name_says_so(tools: Path) -> None:
    rows = [{"id": "a", "plan": PUT, "state": "CA"}, {"id": "b", "plan": PUT, "initial_state": "CA"}]
    plans = lines(tools.parent / "plans.jsonl", *rows)
    done = planeval("execute", plans, "--tools", f"{tools}:Desk", "--format", "jsonl")
    assert [outcome(json.loads(line))[0] for line in done.stdout.splitlines()] == [["1"], ["initial-state"]]


def test_each_line_of_a_state_says_whose_it_is(tools: Path) -> None:
    rows = [{"id": n, "plan": PUT, "state": state} for n, state in (("a", {"lines": 1}), ("b", {"rows": {}}))]
    argv = ["--tools", f"{tools}:Desk", "--state"]
    done = planeval("execute", lines(tools.parent / "plans.jsonl", *rows), *argv)
    assert [line for line in done.stdout.splitlines() if "state" in line.split(": ")[1:2]] == [
        "b: state: {'rows': {'x': '1'}}",
    ]
    alone = planeval("execute", str(tools.parent / "plans.jsonl"), *argv, "--id", "b")
    assert alone.stdout.splitlines()[-1] == "state: {'rows': {'x': '1'}}"


# ---------------------------------------------------------------- turns
def talk(*turns: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    said: list[dict[str, Any]] = []
    for number, calls in enumerate(turns):
        made = [
            {
                "id": f"t{number}{n}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(given)},
            }
            for n, (name, given) in enumerate(calls)
        ]
        said += [
            {"role": "user", "content": "and?"},
            {"role": "assistant", "content": None, "tool_calls": made},
        ]
    return said


FIRST, SECOND = ("put", {"key": "x", "value": 1}), ("put", {"key": "y", "value": 2})


def test_turns_keep_one_state_which_is_told_after_each(tools: Path) -> None:
    record = {"id": "a", "messages": talk([FIRST], [SECOND, ("get", {"key": "x"})]), "state": {"rows": {}}}
    plans = lines(tools.parent / "plans.jsonl", record)
    for more in (["--isolation", "process"], ["--isolation", "inline"], ["--concurrency", "4"]):
        argv = ["--tools", f"{tools}:Desk", "--state", *more]
        (row,) = map(json.loads, planeval("execute", plans, *argv, "--format", "jsonl").stdout.splitlines())
        assert row["turns"] == [
            {"turn": 1, "state": {"rows": {"x": 1}}},
            {"turn": 2, "state": {"rows": {"x": 1, "y": 2}}},
        ]
        assert row["state"] == {"rows": {"x": 1, "y": 2}}
    text = planeval("execute", plans, "--tools", f"{tools}:Desk", "--state").stdout
    assert "a: state after turn 1: {'rows': {'x': 1}}\n" in text


def test_turns_run_one_after_the_other_also_side_by_side() -> None:
    plan = pe.parse(talk([FIRST, SECOND], [FIRST], [SECOND]))
    program = compile_plan(plan, Options(concurrency=8))
    assert program.groups == [[0, 1], [2], [3]]
    assert program.turns == [(1, 1), (2, 2), (3, 3)]
    assert compile_plan(pe.parse(talk([FIRST, SECOND])), Options(concurrency=8)).turns == []


# ---------------------------------------------------------------- goals reached
def test_a_goal_is_reached_by_its_state_and_the_values_that_gold_names(tools: Path) -> None:
    folder = tools.parent
    state = {"rows": {"y": 5}}
    golds = [{"id": n, "gold": f"{PUT}\n{GET}", "state": state} for n in "abcde"]
    preds = {
        "a": f"{GET}\n{PUT}\nget(#key='x')",  # one more look
        "b": PUT,  # the value is not seen
        "c": f"{GET}\nput(#key='x', #value='2')",  # another state
        "d": f"{PUT}\n{GET}",
        "e": f"get(#key='nosuch')\n{PUT}\n{GET}",  # a call that fails and changes nothing
    }
    pred = lines(folder / "pred.jsonl", *({"id": n, "plan": text} for n, text in preds.items()))
    gold = lines(folder / "gold.jsonl", *golds)
    argv = ["diff", pred, gold, "--execute", f"{tools}:Desk"]
    done = planeval(*argv, "--format", "jsonl")
    rows = {row["id"]: row["effects"] for row in map(json.loads, done.stdout.splitlines())}
    assert {n: row["reached"] for n, row in rows.items()} == {
        "a": True,
        "b": False,
        "c": False,
        "d": True,
        "e": True,
    }
    assert [n for n in "abcde" if rows[n]["verdict"] == "same"] == ["a", "d"]
    assert (rows["b"]["state_same"], rows["c"]["state_same"]) == (True, False)
    text = planeval(*argv)
    assert text.returncode == 1
    assert text.stdout.splitlines()[-1] == (
        "in effect: 2 the same, 3 different; gold's final state, and the values that it names, are reached "
        "in 3 of 5"
    )
    assert "e  different, in effect different, gold's goal reached: call.extra" in text.stdout
    table = planeval(*argv, "--format", "csv").stdout.splitlines()
    assert table[0].endswith(",effects,reached")
    assert table[4].endswith(",the same,True")
    assert "in effect different; " in planeval(*argv, "--format", "junit").stdout
    planeval(*argv, "--format", "html", "-o", folder / "page.html")
    told = {pair["id"]: pair["ex"]["said"] for pair in Page.of(folder / "page.html").pairs()}
    assert told["a"] == "in effect the same"
    assert told["b"].startswith("in effect different; ")
    none = planeval(*argv, "--initial", "none", "--id", "d", "--format", "json")
    assert json.loads(none.stdout)["effects"]["reached"] is None, "gold itself fails without its state"


def test_goals_of_which_nobody_knows_are_not_counted_as_missed(tools: Path) -> None:
    state = {"rows": {"y": 5}}
    rows = [{"id": n, "gold": f"{PUT}\n{GET}", "state": state if n in "ab" else {"lines": 1}} for n in "abcd"]
    preds = [{"id": n, "plan": f"{PUT}\n{GET}" if n != "b" else PUT} for n in "abcd"]
    pred, gold = lines(tools.parent / "pred.jsonl", *preds), lines(tools.parent / "gold.jsonl", *rows)
    done = planeval("diff", pred, gold, "--execute", f"{tools}:Desk")
    assert done.stdout.splitlines()[-1].endswith("are reached in 1 of 2, 2 unknown")


def test_plans_that_are_the_same_and_come_to_something_else_are_told_and_fail(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("def f(x):\n    return x\n")
    (tmp_path / "policy.toml").write_text('[[rule]]\nargument = "x"\ncompare = ["any"]\n')
    for side, x in (("pred", 1), ("gold", 2)):
        (tmp_path / f"{side}.json").write_text(json.dumps([{"name": "f", "arguments": {"x": x}}]))
    argv = [
        "diff",
        str(tmp_path / "pred.json"),
        str(tmp_path / "gold.json"),
        "--policy",
        str(tmp_path / "policy.toml"),
    ]
    assert planeval(*argv).returncode == 0
    ran = planeval(*argv, "--execute", str(tmp_path / "t.py"))
    assert ran.returncode == 1
    assert ran.stdout == "same\nin effect different; c1 (f) gives 1, gold's c1 (f) gives 2\n"
    junit = planeval(*argv, "--execute", str(tmp_path / "t.py"), "--format", "junit").stdout
    assert 'failures="1"' in junit
    assert '<failure type="effect"' in junit


def test_records_that_begin_differently_are_not_compared(tools: Path) -> None:
    folder = tools.parent
    pred = lines(folder / "pred.jsonl", {"id": "a", "plan": GET, "state": {"rows": {"y": 1}}})
    gold = lines(folder / "gold.jsonl", {"id": "a", "gold": GET, "state": {"rows": {"y": 2}}})
    done = planeval("diff", pred, gold, "--execute", f"{tools}:Desk")
    assert "in effect unknown: the two records begin in different states" in done.stdout


# ---------------------------------------------------------------- recordings
def test_a_recording_tells_no_arguments_that_nobody_asked_for(tools: Path) -> None:
    argv = [
        "execute",
        lines(tools.parent / "plans.jsonl", {"id": "a", "plan": PUT}),
        "--tools",
        f"{tools}:Desk",
    ]
    argv += ["--record", str(tools.parent / "record.jsonl"), "--format", "jsonl"]
    for more, asked in (([], False), ([], False), (["--trace"], True)):
        (call,) = json.loads(planeval(*argv, *more).stdout)["calls"]
        assert ("arguments" in call) == asked


def test_a_recording_knows_the_state_that_a_plan_began_in(tools: Path) -> None:
    rows = [{"id": str(y), "plan": GET, "state": {"rows": {"y": y}}} for y in (1, 2)]
    plans = lines(tools.parent / "plans.jsonl", *rows)
    record = str(tools.parent / "record.jsonl")
    argv = ["execute", plans, "--format", "jsonl", "--tools"]
    for spec in (
        [f"{tools}:Desk", "--record", record],
        [f"recorded:{record}"],
        [f"{tools}:Desk", "--record", record],
    ):
        done = planeval(*argv, *spec)
        assert [outcome(json.loads(line))[0] for line in done.stdout.splitlines()] == [[1], [2]]
    lines(tools.parent / "plans.jsonl", {**rows[0], "state": {"rows": {"y": 3}}})
    done = planeval(*argv, f"recorded:{record}")
    assert outcome(json.loads(done.stdout))[0] == ["not-recorded"]


def test_a_replayed_error_keeps_its_place(tools: Path) -> None:
    (tools.parent / "plan.txt").write_text(GET)
    argv = ["execute", str(tools.parent / "plan.txt"), "--format", "json", "--tools"]
    record = str(tools.parent / "record.jsonl")
    live = json.loads(planeval(*argv, f"{tools}:Desk", "--record", record).stdout)
    again = json.loads(planeval(*argv, f"recorded:{record}").stdout)
    assert live["calls"][0]["error"] == again["calls"][0]["error"]
    assert again["calls"][0]["error"]["place"].startswith("desk.py:")


def test_two_runs_do_not_record_into_one_file(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\ndef f(x):\n    time.sleep(1.5)\n    return x\n")
    plans = lines(tmp_path / "plans.jsonl", *({"id": str(n), "plan": f"f(#x='{n}')"} for n in range(4)))
    record = tmp_path / "record.jsonl"
    argv = ["execute", plans, "--tools", str(tmp_path / "slow.py"), "--record", str(record)]
    first = subprocess.Popen([sys.executable, "-m", "planner_eval", *argv], stdout=subprocess.DEVNULL)
    until = time.monotonic() + 20
    while not record.exists() and time.monotonic() < until:
        time.sleep(0.02)
    second = planeval(*argv)
    assert second.returncode == 2
    assert "another run records into it now" in second.stderr
    assert first.wait() == 0
    assert len(record.read_text().splitlines()) == 4
    assert planeval(*argv).returncode == 0


# ---------------------------------------------------------------- facts
def test_facts_that_a_world_refuses_are_told_with_the_rule(tmp_path: Path) -> None:
    bus = "#departure_date='2019-03-05'"
    (tmp_path / "facts.txt").write_text(
        f"Buses: [price = findbus(#from_city='Oslo', #to_city='Oslo', {bus})]\n"
        f"Buses: [x = buybusticket(#from_city='Oslo', #to_city='Lyon', {bus}, #departure_time='9:00', "
        "#num_passengers='900')]"
    )
    facts = str(tmp_path / "facts.txt")
    done = planeval("execute", facts, "--tools", "world:appbench", "--facts", facts)
    assert (
        "facts: plan 1, call 1 (findbus): the journey ends where it begins (the world requires "
        ":to_city <> :from_city COLLATE NOCASE)"
    ) in done.stderr
    assert "(the world requires seats_left >= :num_passengers)" in done.stderr


def test_one_worker_serves_plans_with_and_without_a_state(tools: Path) -> None:
    plan = pe.parse(f"{PUT}\nget(#key='x')")
    starts = [Start(plan, {"rows": {"a": n}} if n % 2 else None) for n in range(6)]
    with Sandbox(tool_source(f"{tools}:Desk"), level="process") as box:
        states = [trace.state for trace in execute_many(starts, box, options=Options(state=True))]
    assert states == [{"rows": {**({"a": n} if n % 2 else {}), "x": "1"}} for n in range(6)]
