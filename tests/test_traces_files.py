"""Files of spans as programs leave them: objects over several lines, words between, an end cut off."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import ParseError
from planner_eval.records import decided, fields, items, lines
from planner_eval.records.files import PlanFile, read_file
from planner_eval.records.storing import IN_MEMORY, Store
from tests.inside import planeval
from tests.test_stored import damaged, told, tried
from tests.test_traces import tool


def spans(trace: str, name: str) -> list[dict[str, Any]]:
    """A trace in which a tool is called twice for the same answer."""
    made = (tool(name, 1), tool(name, 3))
    return [{**one, "context": {**one["context"], "trace_id": trace}} for one in made]


ONE, TWO = spans("0xa", "f"), spans("0xb", "g")


def written(path: Path, text: str) -> list[tuple[str | None, Any]]:
    """What is read of a text, the same from memory and from a store."""
    path.write_text(text)
    found = read(path)
    assert read(path, Store(limit=0)) == found
    return found


def agents(trace: str) -> list[dict[str, Any]]:
    data = {"type": "function", "name": "f", "input": "{}", "output": "1.09"}
    span = {"object": "trace.span", "trace_id": trace, "parent_id": None, "span_data": data}
    return [
        {"object": "trace", "id": trace, "workflow_name": "w"},
        *({**span, "id": f"{trace}{at}", "started_at": f"2026-03-02T10:00:0{at}Z"} for at in (1, 2)),
    ]


def model(trace: str, name: str) -> dict[str, Any]:
    """A span of a model that asks for a tool, which no span shows."""
    asked = {"role": "assistant", "parts": [{"type": "tool_call", "name": name, "arguments": {}}]}
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": json.dumps([asked])}
    return {"name": "chat", "traceId": trace, "spanId": f"{trace}{name}", "attributes": attributes}


def pretty(values: list[Any]) -> str:
    return "".join(json.dumps(value, indent=4) + "\n" for value in values)


def rows(values: list[Any]) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def read(path: Path, store: Store = IN_MEMORY) -> list[tuple[str | None, Any]]:
    """The id of each record, and the tools that it calls or why it cannot be read."""
    found: list[tuple[str | None, Any]] = []
    for record in pe.read(path, store=store).records:
        try:
            found.append((record.id, [call.tool for call in pe.parse(record).calls]))
        except ParseError as error:
            found.append((record.id, error.code))
    return found


BOTH = [("0xa", ["f", "f"]), ("0xb", ["g", "g"])]
BAD = (None, "parse.syntax")
CUT = json.dumps(ONE[1])[:150]


ON_A_LINE = json.dumps(ONE[0]) + json.dumps(TWO[0]) + "\n" + rows([ONE[1]])[:-1] + rows([TWO[1]])
WHOLE = {
    "over several lines": pretty([*ONE, *TWO]),
    "with line ends of Windows": pretty([*ONE, *TWO]).replace("\n", "\r\n"),
    "several on a line": ON_A_LINE,
    "mixed": pretty([ONE[0], TWO[0], ONE[1], TWO[1]]),
}
BROKEN = {
    "a log line among lines": (rows(ONE) + "INFO: exporting\n" + rows(TWO), 1),
    "words among objects": ("Hello\n" + pretty(ONE) + "The answer is {21}.\n" + pretty(TWO), 2),
    "words around each object": ("".join(f"step\n{pretty([one])}" for one in (*ONE, *TWO)), 4),
    "words in brackets first": ("[INFO] Hello\n" + pretty([*ONE, *TWO]), 1),
    "words before lines": ("Hello\n" + rows([*ONE, *TWO]), 1),
    "words after": (pretty([*ONE, *TWO]) + "done\n", 1),
    "a cut line": (rows([*ONE, *TWO]) + CUT + "\n", 1),
    "a cut line among lines": (rows(ONE) + CUT + "\n" + rows(TWO), 1),
    "a cut object": (pretty([*ONE, *TWO]) + pretty([ONE[0]])[:200], 1),
    "a cut object among others": (pretty(ONE) + pretty([ONE[0]])[:200] + "\n" + pretty(TWO), 1),
    "a cut array": (json.dumps([*ONE, *TWO, ONE[0]], indent=2)[:-120], 1),
    "a cut array in one line": (json.dumps([*ONE, *TWO, ONE[0]])[:-120], 1),
    "words before all but the first": ("INFO ".join(pretty([one]) for one in (*ONE, *TWO)), 3),
    "words before each": ("".join(f"You: {pretty([one])}" for one in (*ONE, *TWO)), 4),
    "words before each line": ("".join(f"[log] INFO: {rows([one])}" for one in (*ONE, *TWO)), 4),
    "words with braces": (f"a {{}} of {{1}} {pretty(ONE)}{{b}} > {pretty(TWO)}", 2),
    "words after each too": ("".join(f"a\nb {pretty([one])}c\n" for one in (*ONE, *TWO)), 5),
}


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "t.txt", "t"])
def test_objects_in_a_row_are_taken_apart_by_trace(tmp_path: Path, name: str, text: str) -> None:
    assert written(tmp_path / name, text) == BOTH
    with pytest.raises(ParseError, match=r"found spans of 2 traces, expected those of one") as refused:
        pe.parse(text)
    assert refused.value.code == "parse.traces"


def test_the_agents_sdk_is_taken_apart_too(tmp_path: Path) -> None:
    one, two = agents("trace_a"), agents("trace_b")
    assert written(tmp_path / "t.json", pretty([*one, *two])) == [(f"trace_{at}", ["f", "f"]) for at in "ab"]
    assert written(tmp_path / "t.json", pretty(one)) == [(None, ["f", "f"])]


@pytest.mark.parametrize("write", [rows, pretty, json.dumps])
def test_models_answers_are_a_record_each_in_any_form(tmp_path: Path, write: Any) -> None:
    text = write([model("a", "f"), model("b", "g")])
    assert written(tmp_path / "t.json", text) == [(None, ["f"]), (None, ["g"])]
    with pytest.raises(ParseError, match="found spans of 2 traces"):
        pe.parse(text)


@pytest.mark.parametrize(("text", "count"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "t.txt"])
def test_what_is_broken_loses_no_other_span(tmp_path: Path, text: str, count: int, name: str) -> None:
    assert written(tmp_path / name, text) == BOTH + [BAD] * count


def test_no_command_reads_several_traces_as_one(tmp_path: Path) -> None:
    path, gold = tmp_path / "t.json", tmp_path / "gold.jsonl"
    path.write_text(pretty([*ONE, *TWO]))
    calls = "[{0}(base='EUR'), {0}(base='EUR')]"
    gold.write_text(
        rows([{"id": at, "gold": calls.format(name)} for at, name in (("0xa", "f"), ("0xb", "h"))]),
    )  # fmt: skip
    found = json.loads(planeval("check", str(path), "--format", "json").stdout)
    assert [(row["record"], row["code"][6:]) for row in found] == [
        (at, "repeated_call") for at in ("0xa", "0xb")
    ]
    assert "2 plans: 2 read (2 opentelemetry)" in planeval("parse", str(path)).stderr
    figures = planeval("stats", str(path)).stdout.split()
    assert [figures[figures.index(word) + 1] for word in ("plans", "calls")] == ["2", "4"]
    scored = json.loads(planeval("score", str(path), str(gold), "--format", "json").stdout)["rows"]
    assert [(one["id"], one["state"]) for one in scored] == [("0xa", "same"), ("0xb", "different")]
    done = planeval("diff", str(path), str(gold))
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "2 pairs: 1 same, 1 different")


def test_spans_of_several_traces_are_refused_by_all_commands_as_data_and_in_words(tmp_path: Path) -> None:
    path, tools = tmp_path / "t.json", tmp_path / "tools.json"
    tools.write_text(json.dumps([{"name": "f", "parameters": {}}]))
    path.write_text(json.dumps({"spans": [*ONE, *TWO]}))
    for command in (["parse"], ["stats"], ["check", "--catalog", str(tools)], ["diff", str(path)]):
        done = planeval(*command, str(path))
        assert done.returncode == 3, command
        assert "found spans of 2 traces, expected those of one" in done.stdout + done.stderr
    fenced = "\n".join(f"```json\n{json.dumps(run)}\n```" for run in (ONE, TWO))
    for source in ([*ONE, *TWO], {"spans": [*ONE, *TWO]}, f"First\n{pretty(ONE)}and\n{pretty(TWO)}", fenced):
        with pytest.raises(ParseError, match="found spans of 2 traces"):
            pe.parse(source, dialect="opentelemetry" if source is fenced else None)
    assert len(pe.parse([*ONE, {**TWO[0], "context": {"span_id": "x"}}])) == 3  # of which trace is not said


def test_a_broken_line_says_its_place(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(rows(ONE) + CUT + "\n" + rows(TWO))
    done = planeval("stats", str(path))
    assert done.returncode == 1
    assert "t.jsonl, line 3, record 3: the line is no JSON: column 147" in done.stderr
    path.write_text("Hello\n" + pretty([*ONE, *TWO]))
    assert "line 1, record 3: found 'Hello', expected a record" in planeval("stats", str(path)).stderr


def test_records_that_hold_traces_stay_records(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(rows([{"id": n, "plan": ONE} for n in "pq"]) + '{"id": "r", "plan": [' + CUT + "\n")
    assert [record.id for record in pe.read(path).records] == ["p", "q", "r"]
    found = written(path, rows([{"id": n, "output": "f()"} for n in "pqr"] + ONE))
    assert found[:3] == [("p", ["f"]), ("q", ["f"]), ("r", ["f"])]
    text = "My plan:\n" + rows([{"name": "execute_tool f", "attributes": {}}] * 2) + "That is all.\n"
    assert written(tmp_path / "t.txt", text) == [(None, ["f", "f"])]  # words around spans that name no trace


NO_SPANS = ('{"level": "info", "msg": "hi"}', "null", "{}", "[]", "3", '"text"', '{"resourceLogs": []}')


@pytest.mark.parametrize("line", NO_SPANS)
@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "t.txt"])
def test_a_line_that_is_no_span_loses_none(tmp_path: Path, line: str, name: str) -> None:
    held = rows([*ONE, *TWO]).splitlines()
    for place in (0, 1, 3, 4):
        found = written(tmp_path / name, "\n".join([*held[:place], line, *held[place:]]) + "\n")
        assert (found[:2], [code for _, code in found[2:]]) == (BOTH, ["parse.shape"]), found


def test_a_record_between_spans_keeps_its_id(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    found = written(path, rows([*ONE, {"id": "q1", "response": "f()"}, *TWO]))
    assert found == [*BOTH, ("q1", "parse.shape")]
    done = planeval("stats", str(path))
    said = "t.jsonl, line 3, record 3 (id q1): found an object with 'id', 'response' among spans"
    assert (done.returncode, said in done.stderr) == (1, True)


def test_findings_of_a_trace_stand_on_the_line_of_its_first_span(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(rows([*ONE, *TWO]))
    log = json.loads(planeval("check", str(path), "--format", "sarif").stdout)
    places = [one["locations"][0]["physicalLocation"]["region"] for one in log["runs"][0]["results"]]
    assert places == [{"startLine": 1}, {"startLine": 3}]


def test_what_is_cut_off_before_words_gives_no_span_of_its_own(tmp_path: Path) -> None:
    linked = ONE[0] | {"links": [{"context": ONE[1]["context"], "attributes": {}}] * 2, "events": [{}]}
    text = pretty([linked])
    for at in range(20, len(text) - 3, 7):
        path = tmp_path / "t.txt"
        for words in (pretty(TWO) + text[at:], pretty(TWO) + "INFO " + text[:at]):
            path.write_text(words)
            found = [one for one in read(path) if isinstance(one[1], list)]
            assert found == [BOTH[1]], (at, found)


def test_one_whole_span_and_another_after_words_are_not_one_call(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    for cut in (None, -30):
        path.write_text(pretty(ONE[:1]) + "INFO " + pretty(ONE[1:])[:cut])
        assert read(path) == [("0xa", ["f"] * (2 if cut is None else 1)), BAD]


def drawn(random: Random) -> bytes:
    """Lines of spans, some of which do not say their trace, of plans, and of neither."""
    kinds = random.choice(("s", "s", "su", "sp", "sw", "sssj", "ssjw", "supwj", "p", "pj"))
    made = []
    for at in range(random.choice((1, 2, 4, 7, 12))):
        kind = random.choice(kinds)
        span = random.choice((*ONE, *TWO, model("m", "f")))
        if kind == "u":
            span = {key: value for key, value in span.items() if key not in ("context", "traceId")}
        plan = {"id": f"q{at}", "output": "f()"}
        line = "a log line" if kind == "w" else json.dumps(plan if kind == "p" else span)
        line = random.choice(NO_SPANS) if kind == "j" else line
        made.append(line.encode() if random.random() < 0.7 else damaged(random, line.encode()))
    return b"\n".join(made) + b"\n"


@pytest.mark.parametrize("head", [2, 1_000])
def test_large_files_of_spans_are_those_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, head: int
) -> None:
    for module in (fields, decided, items, lines):
        monkeypatch.setattr(module, "HEAD", head)
    random, grouped = Random(7), 0
    for _ in range(300):
        path = tmp_path / random.choice(("t.jsonl", "t.json", "t.txt"))
        path.write_bytes(drawn(random))
        whole = tried(read_file, str(path), store=IN_MEMORY)
        kept = tried(read_file, str(path), store=Store(limit=0, piece=random.choice((1, 300, 100_000))))
        if isinstance(whole, PlanFile):
            assert isinstance(kept, PlanFile), path.read_bytes()
            assert told(kept) == told(whole), path.read_bytes()
            grouped += {"0xa", "0xb"} <= {record.id for record in whole.records}
        else:
            assert kept == whole, path.read_bytes()
    assert grouped > 20


def agent(trace: str, attributes: dict[str, Any]) -> dict[str, Any]:
    """A span that names its trace and ran in no other."""
    return {"name": "a", "context": {"trace_id": trace, "span_id": f"{trace}1"}, "attributes": attributes}


INVOKED = {"gen_ai.operation.name": "invoke_agent"}
IDLE: dict[str, list[dict[str, Any]]] = {
    "an agent": [agent("0xc", INVOKED)],
    "an agent of OpenInference": [agent("0xc", {"openinference.span.kind": "AGENT"})],
    "an agent of MLflow": [agent("0xc", {"mlflow.spanType": '"AGENT"', "mlflow.spanOutputs": '"Hello"'})],
    "a model without messages": [agent("0xc", {"gen_ai.operation.name": "chat"})],
    "the Agents SDK": [{"object": "trace", "id": "0xc", "workflow_name": "w"},
        {"object": "trace.span", "id": "s", "trace_id": "0xc", "span_data": {"type": "agent", "name": "a"}}],
}  # fmt: skip


@pytest.mark.parametrize("idle", IDLE.values(), ids=IDLE)
def test_a_trace_in_which_no_tool_ran_is_a_plan_without_calls(
    tmp_path: Path, idle: list[dict[str, Any]]
) -> None:
    path = tmp_path / "t.jsonl"
    assert [found for _, found in written(path, rows(idle))] == [[]]
    assert written(path, rows([*ONE, *idle])) == [BOTH[0], ("0xc", [])]
    assert planeval("check", str(path), "--level", "error").returncode == 0
    others = rows([agent("0xc", INVOKED), agent("0xd", INVOKED)])
    assert written(path, others) == [("0xc", []), ("0xd", [])]


@pytest.mark.parametrize("attributes", [
    {"mlflow.spanType": '"CHAT_MODEL"', "mlflow.spanOutputs": '{"tool_calls": [{"name": "f"}]}'},
    {"gen_ai.operation.name": "chat", "gen_ai.tool.call.id": "c1"},
    {"http.method": "GET"},
])  # fmt: skip
def test_a_span_that_may_hold_a_call_is_no_trace_without_one(attributes: dict[str, Any]) -> None:
    with pytest.raises(ParseError, match="is no call"):
        pe.parse([agent("0xc", attributes)])
