"""Conversations of agents: turns, costs, the page, and a trial of two weeks of logs, by command line."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.reading.conversation import find_lanes, read_messages
from planner_eval.reading.dialects.read import parse
from planner_eval.reading.files.record import Record
from planner_eval.reading.files.recorded_runs import UNUSABLE, recorded_costs
from planner_eval.results.page.report import report
from planner_eval.results.views.report import beside_cards
from tests.build import jsonl
from tests.conftest import tabled, tables, text_case

from .agent_logs import CATALOG, week_of_logs
from .browser import launched, opened
from .conftest import ROOT, AsKept
from .inside import planeval
from .modelserver import Answer, ModelServer, message

TABLES = tables(__file__)
COSTS = ROOT / "tests" / "cases" / "costs.jsonl"

DATA = ROOT / "data" / "samples" / "agents"


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


def called(name: str, number: int, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": f"c{number}", "function": function}]}


def answered(number: int, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"c{number}", "content": text}


TALK = TABLES["TALK"]


def turns_of(pred: Any, gold: Any, folder: Path, *more: str) -> Any:
    file = jsonl(folder / "talks.jsonl", [{"id": "a", "messages": pred, "gold": gold}])
    done = planeval("diff", file, file, "--format", "jsonl", *more)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout).get("turns")


# ---------------------------------------------------------------- turns
def test_calls_stand_in_the_turn_of_the_user_that_they_are_made_in() -> None:
    messages = read_messages(Record("p", 0, "a", TALK), parse(TALK))
    found = [(m.role, m.turn, m.calls) for m in messages if m.calls]
    assert found == [("assistant", 1, (0,)), ("assistant", 2, (1,)), ("assistant", 3, (2,))]
    assert [m.role for m in messages].count("system") == 1
    titles = {1: "turn 1: Find a flight.", 2: "turn 2: Yes.", 3: "turn 3: And a hotel."}
    assert find_lanes(Record("p", 0, "a", TALK), parse(TALK)) == ((1, 2, 3), titles)


def anthropic(talk: list[dict[str, Any]]) -> list[dict[str, Any]]:
    made = []
    for item in talk[1:]:
        parts = [
            {"type": "tool_use", "id": c["id"], "name": c["function"]["name"],
             "input": json.loads(c["function"]["arguments"])}
            for c in item.get("tool_calls", ())
        ] or [{"type": "text", "text": item["content"]}]  # fmt: skip
        if item["role"] == "tool":
            parts = [{"type": "tool_result", "tool_use_id": item["tool_call_id"], "content": item["content"]}]
        made.append({"role": {"tool": "user"}.get(item["role"], item["role"]), "content": parts})
    return made


def sharegpt(talk: list[dict[str, Any]]) -> list[dict[str, Any]]:
    made = []
    for item in talk:
        for c in item.get("tool_calls", ()):
            call = {"name": c["function"]["name"], "arguments": json.loads(c["function"]["arguments"])}
            made.append({"from": "function_call", "value": json.dumps(call)})
        if not item.get("tool_calls"):
            who = {"user": "human", "assistant": "gpt", "tool": "observation"}.get(item["role"], "system")
            made.append({"from": who, "value": item["content"]})
    return made


@pytest.mark.parametrize("written", [anthropic, sharegpt])
def test_conversations_of_other_frameworks_have_the_same_turns(written: Any) -> None:
    talk = written(TALK)
    messages = read_messages(Record("p", 0, "a", talk), parse(talk))
    assert {position: m.turn for m in messages for position in m.calls} == {0: 1, 1: 2, 2: 3}


@tabled("gold", ids=["lists", "conversation", "flat"])
def test_the_first_wrong_turn_is_told_whatever_turns_gold_has(gold: Any, tmp_path: Path) -> None:
    turns = turns_of(TALK, gold, tmp_path)
    assert (turns["unit"], turns["first"], turns["wrong"], turns["total"]) == ("turn", 2, [2], 3)
    assert turns["asked"] == "Yes."


@tabled(
    "calls, gold, first, wrong",
    ids=["middle", "last", "turns", "between", "after the last", "after a wrong one"],
)
def test_a_missing_call_has_a_turn_only_where_its_neighbours_leave_one(
    calls: tuple[bool, ...], gold: Any, first: int | None, wrong: list[int], tmp_path: Path
) -> None:
    names = [name for name, there in zip(("find", "book", "hotel"), calls, strict=True) if not there]
    talk = [m for m in TALK if not any(c["function"]["name"] in names for c in m.get("tool_calls", ()))]
    turns = turns_of(talk, gold, tmp_path)
    assert (turns["first"], turns["wrong"]) == (first, wrong)


def test_odd_gold_beside_a_conversation_breaks_nothing(tmp_path: Path) -> None:
    for gold in ([], ["f()"], "no calls here", [[]], [[], []], {"name": "find", "arguments": {}}):
        file = jsonl(tmp_path / "t.jsonl", [{"id": "a", "messages": TALK, "gold": gold}])
        for command, *more in (("diff",), ("score",), ("score", "--by", "calls")):
            done = planeval(command, file, file, *more)
            assert ("Traceback" in done.stderr, done.returncode in (0, 1, 3)) == (False, True), done.stderr


@tabled("name, lines, unit, counts")
def test_benchmarks_whose_gold_has_turns_say_the_first_wrong_one(
    name: str, lines: str, unit: str, counts: Any, tmp_path: Path
) -> None:
    """ComplexFuncBench's own code counts open steps alone, and so nothing is said of all of them."""
    files = str(DATA.parent / "answers" / f"{name}.jsonl"), str(DATA.parent / name)
    assert lines in planeval("score", *files, "--benchmark", name).stdout
    data = json.loads(planeval("score", *files, "--benchmark", name, "--format", "json").stdout)
    turns = data["turns"]["corrected"][unit]
    keys = ("conversations", "same", "first_wrong", "first_wrong_unknown", "all", "wrong")
    assert [turns[key] for key in keys] == counts
    # from parts, and from a folder that is told again
    if name == "functionchat":
        again = planeval("score", *files, "--benchmark", name, "-o", f"{tmp_path}/run/")
        assert lines in again.stdout + planeval("score", f"{tmp_path}/run").stdout


def test_score_counts_first_wrong_turns_alike_in_one_and_in_many_processes(tmp_path: Path) -> None:
    file = DATA / "week-2.jsonl"
    alone = planeval("score", file, file, "--policy", "acting", "--format", "json").stdout
    assert json.loads(alone)["turns"]["turn"] | {"all": 0} == {
        "conversations": 24, "same": 14, "first_wrong": {"2": 6}, "first_wrong_unknown": 4,
        "all": 0, "wrong": 6, "follow": 0, "late": 0,
    }  # fmt: skip
    kept = tmp_path / "run"
    assert planeval("score", file, file, "--policy", "acting", "-o", f"{kept}/").returncode == 0
    stored = planeval("score", kept, "--format", "json").stdout
    for name in ("turns", "costs", "trials"):
        assert json.loads(stored)[name] == json.loads(alone)[name]


# ---------------------------------------------------------------- costs
USAGES = TABLES["USAGES"]


@pytest.mark.parametrize("name", USAGES)
def test_tokens_are_read_as_apis_and_tracers_write_them(name: str) -> None:
    fields, source, expected = USAGES[name]
    costs = recorded_costs(Record("p", 0, "a", source, fields=fields))
    assert [costs.get(kind) for kind in ("input_tokens", "output_tokens", "tokens")] == expected
    as_text = recorded_costs(Record("p", 0, "a", source and json.dumps(source), fields=fields))
    assert as_text == costs


def test_every_key_of_what_a_run_cost_is_read_wherever_it_may_stand(as_kept: AsKept) -> None:
    kept = map(json.loads, COSTS.read_text(encoding="utf-8").splitlines())
    cases = [(fields, source) for fields, source, _ in kept]
    as_kept(COSTS, [[*one, recorded_costs(Record("p", 0, "a", one[1], fields=one[0]))] for one in cases])


@tabled("fields, seconds")
def test_seconds_are_read_and_what_is_no_time_is_none(fields: dict[str, Any], seconds: float | None) -> None:
    assert recorded_costs(Record("p", 0, "a", None, fields=fields)).get("seconds") == seconds


@tabled("fields, unusable")
def test_a_cost_that_is_there_and_no_number_is_unusable(fields: dict[str, Any], unusable: bool) -> None:
    assert (UNUSABLE in recorded_costs(Record("p", 0, "a", None, fields=fields))) == unusable


def test_costs_that_do_not_count_are_told_by_score_compare_and_the_page(tmp_path: Path) -> None:
    rows = [{"id": n, "output": "f()", "gold": "f()", "cost": 1 - n} for n in range(4)]
    bad, good = (Path(jsonl(tmp_path / f"{name}.jsonl", rows[:n])) for name, n in (("bad", 4), ("good", 2)))
    costs = "with a recorded cost that is negative, no number or not counted"
    sentence = f"2 records {costs}: such costs do not count"
    assert f"\n{sentence}\n" in planeval("score", bad, bad).stdout
    for form, mark in (("text", ""), ("md", "- ")):
        shown = planeval("compare", bad, good, "--gold", bad, "--format", form).stdout.splitlines()
        assert [line for line in shown if "such costs" in line] == [f"{mark}bad: {sentence}"]
    data = json.loads(planeval("compare", bad, good, "--gold", bad, "--format", "json").stdout)
    assert data["unusable_costs"] == {"first": 2, "second": 0}
    cards = {card["title"]: card["lines"] for card in beside_cards(pe.score(bad, bad))}
    assert cards == {"Cost": [sentence]}


def test_usage_in_what_a_tool_answered_or_was_given_is_no_cost() -> None:
    talk = [*TALK, {"role": "tool", "tool_call_id": "c3", "content": {"usage": {"input_tokens": 999}}}]
    assert recorded_costs(Record("p", 0, "a", talk, fields={"gold": [{"usage": {"total_tokens": 5}}]})) == {}


@tabled("source, fields")
def test_what_tools_take_or_answer_and_what_a_task_says_is_no_cost(source: Any, fields: Any) -> None:
    assert recorded_costs(Record("p", 0, "a", source, fields=fields)) == {}
    assert recorded_costs(Record("p", 0, "a", json.dumps(source), fields=fields)) == {}


def test_a_right_answer_costs_all_that_was_spent(tmp_path: Path) -> None:
    def costs(rows: list[Any]) -> Any:
        file = jsonl(tmp_path / "p.jsonl", rows)
        return json.loads(planeval("score", file, file, "--format", "json").stdout)["costs"]

    rows = [
        {"id": n, "output": "gff"[n] + "()", "gold": "f()", "usage": {"input_tokens": 30}, "reward": n == 1}
        for n in range(3)
    ]
    found = {"sum": 90, "records": 3, "mean": 30, "per_right": 45, "per_recorded_right": 90}
    assert costs(rows)["input_tokens"] == found
    assert costs([{**rows[0], "reward": 0}])["input_tokens"]["per_right"] is None


# ---------------------------------------------------------------- trials in tables, JUnit, thresholds; agree


def test_a_table_has_trials_as_columns(tmp_path: Path) -> None:
    for week in (1, 2):
        file = DATA / f"week-{week}.jsonl"
        planeval("score", file, DATA / "week-1.jsonl", "--policy", "acting", "-o", f"{tmp_path}/w{week}/")
    runs = [tmp_path / "w1", tmp_path / "w2"]
    found = pe.table(runs, metrics=["exact", "pass^2", "pass@2"])
    told = [[round(c.value or 0, 4) for c in row.cells] for row in found.rows]
    assert told == [[0.7917, 0.5833, 1.0], [0.5833, 0.5833, 0.5833]]
    assert [c.n for c in found.rows[0].cells] == [24, 12, 12]
    assert "pass^2" in planeval("table", *runs, "--metric", "pass^2").stdout


# ---------------------------------------------------------------- the page
def test_the_page_shows_the_talk_with_calls_in_place_and_hostile_words_as_text(tmp_path: Path) -> None:
    hostile = "<img src=x onerror='window.__pwned=1'></script><script>window.__pwned=1</script>"
    talk = [said("system", hostile), TALK[1], called("search_flights", 1, to="Rome"), *TALK[3:]]
    talk += [said("user", hostile), called(hostile, 9, **{hostile: hostile})]
    gold = [{"name": "book", "arguments": {"flight": "AZ1"}}, {"name": "pay", "arguments": {"note": hostile}}]
    file = Path(jsonl(tmp_path / "t.jsonl", [{"id": "a", "messages": talk, "gold": gold}]))
    page_file = tmp_path / "t.html"
    page_file.write_text("".join(report(file, file, policy="acting").pieces), encoding="utf-8")
    with launched() as browser, opened(browser, page_file, "#view=pairs&id=a") as page:
        page.wait_for_selector(".talk")
        assert page.locator(".talk-message.first-wrong code").first.inner_text() == 'book(flight = "AZ9001")'
        gold_call = page.locator(".talk-message.first-wrong .talk-call.gold code")
        assert gold_call.inner_text() == 'gold: book(flight = "AZ1")'
        assert page.locator(".talk-call.missing").count() == 1
        assert page.locator(".talk-call.free").count() == 1  # the search, which gold need not list
        assert page.locator(".talk-turn.wrong").first.inner_text().startswith("Turn 2 of 4")
        assert page.locator(".talk-message.tool details").count() == 3
        assert page.evaluate("window.__pwned") is None


def test_overviews_have_trials_costs_and_turns(tmp_path: Path) -> None:
    page_file = tmp_path / "w.html"
    file = DATA / "week-2.jsonl"
    done = report(file, file, policy="acting")
    page_file.write_text("".join(done.pieces), encoding="utf-8")
    with launched() as browser, opened(browser, page_file) as page:
        heads = page.locator("h2, h3").all_inner_texts()
        assert {"Trials of tasks", "Cost", "Turns"} <= set(heads)
    scored = pe.score(file, file, policy="acting", metrics=["exact"])
    interval = next(f for f in done.reports[0].figures if f.name == "exact").interval
    assert interval == scored.figures[0].interval  # over tasks, not over trials


def test_lanes_are_frames_below_one_another(tmp_path: Path) -> None:
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(TALK))
    dot = planeval("render", file, "--format", "dot").stdout
    assert dot.index("turn 1") < dot.index("turn 2") < dot.index("turn 3")
    assert "turn 2: Yes." in planeval("render", file, "--format", "mermaid").stdout


# ---------------------------------------------------------------- files of other agents; two weeks of logs
TOOLS = text_case("test_agents-TOOLS.txt")
OFFERED = TABLES["OFFERED"]


def desk(kind: str) -> Any:
    """A model that renews loans: rightly, sometimes for the wrong weeks, or not at all for one member."""
    asked: Counter[int] = Counter()

    def answer(body: dict[str, Any], _number: int) -> Answer:
        member = int(re.search(r"m-(\d)", body["messages"][0]["content"])[1])  # type: ignore[index]
        done = [m for m in body["messages"] if m["role"] == "tool"]
        if not done:
            return message(None, [("find_loan", json.dumps({"member": f"m-{member}"}))])
        if len(done) > 1 or (kind == "lazy" and member == 2):
            return message("Done.")
        asked[member] += 1
        weeks = 9 if kind == "fickle" and asked[member] == 1 and member else member + 1
        loan = f"L-{sum(map(ord, f'm-{member}'))}"
        return message(None, [("renew_loan", json.dumps({"loan": loan, "weeks": weeks}))])

    return answer


def test_three_agents_that_predict_asked_are_trials_with_costs_and_a_table(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(TOOLS)
    (tmp_path / "catalog.json").write_text(json.dumps(OFFERED))
    tasks = []
    for n in range(4):
        renewed = {"loan": f"L-{sum(map(ord, f'm-{n}'))}", "weeks": n + 1}
        gold = [{"name": "renew_loan", "arguments": renewed}]
        tasks.append({"id": f"t{n}", "query": f"Member m-{n}: {n + 1} weeks more, please.", "gold": gold})
    jsonl(tmp_path / "tasks.jsonl", tasks)
    asked = "predict tasks.jsonl --pipeline function-calling --tools tools.py --catalog catalog.json"
    asked += " --repeat 2 --concurrency 1 --isolation inline"
    expected = {"good": (1.0, 1.0), "fickle": (0.25, 1.0), "lazy": (0.75, 0.75)}
    for kind, (hat, at) in expected.items():
        with ModelServer(desk(kind)) as server:
            argv = (*asked.split(), "--model", kind, "--url", server.url, "-o", kind)
            done = planeval(*argv, cwd=tmp_path, OPENAI_API_KEY="x")
        assert done.returncode == 0, done.stderr
        done = planeval("score", kind, "--policy", "acting", "--format", "json", cwd=tmp_path)
        data = json.loads(done.stdout)
        (twice,) = (estimate for estimate in data["trials"]["passes"] if estimate["k"] == 2)
        assert (twice["pass^k"], twice["pass@k"]) == (hat, at), kind
        assert data["costs"]["tokens"]["records"] == 8
        assert data["costs"]["calls"]["sum"] == (14 if kind == "lazy" else 16)
    table = planeval("table", "good", "fickle", "lazy", cwd=tmp_path).stdout
    assert re.search(r"pass\^2 ", table), table
    assert "intervals=95 % over 4 tasks" in table


def test_the_sample_logs_are_the_generators() -> None:
    for week in (1, 2):
        assert (DATA / f"week-{week}.jsonl").read_text(encoding="utf-8") == week_of_logs(week)
    assert json.loads((DATA / "desk.json").read_text(encoding="utf-8")) == {"tools": CATALOG}


def test_two_weeks_of_logs_say_which_behaviours_got_worse(tmp_path: Path) -> None:
    codes = []
    for week in (1, 2):
        argv = ("check", DATA / f"week-{week}.jsonl", "--catalog", DATA / "desk.json", "--level", "info")
        done = planeval(*argv, "--format", "json")
        codes.append(Counter(f["code"] for f in json.loads(done.stdout) if f["code"].startswith("trace.")))
        assert "given twice" not in done.stderr  # trials of one task
    assert (codes[0]["trace.failed_retry"], codes[1]["trace.failed_retry"]) == (0, 4)
    assert (codes[0]["trace.unagreed_action"], codes[1]["trace.unagreed_action"]) == (0, 5)
    weeks = [DATA / f"week-{week}.jsonl" for week in (1, 2)]
    compared = ("compare", *weeks, "--gold", weeks[0], "--policy", "acting")
    data = json.loads(planeval(*compared, "--by", "kind", "--format", "json").stdout)
    tokens = [round(data["costs"][side]["tokens"]["per_right"]) for side in ("first", "second")]
    turns = [data["turns"][side]["turn"]["first_wrong"] for side in ("first", "second")]
    assert (tokens, turns) == ([1383, 1691], [{"2": 2}, {"2": 6}])
    markdown = planeval(*compared, "--metric", "exact", "--format", "md").stdout
    assert "| seconds per right answer | 28.68 | 36.07 |" in " ".join(markdown.split())
    assert "turn 2" in markdown
    kinds = data["breakdown"]["kind"]
    moved = {kind: figures["exact"]["second"] - figures["exact"]["first"] for kind, figures in kinds.items()}
    found = {kind: value > 0 for kind, value in moved.items() if value}
    assert found == {"renew": False, "reserve": False, "cancel": True}
