"""Traces without gold: what `check` finds in what exporters write, and what it must not find."""

import gzip
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import ParseError
from planner_eval.reading.critical_path import critical_path, describe_critical_path
from planner_eval.reading.files.files import PlanFile, read_file
from planner_eval.reading.files.record import IN_MEMORY, Store
from planner_eval.reading.trace_times import Run, Span, read_run
from tests.conftest import ROOT, tabled, tables
from tests.inside import planeval
from tests.test_stored import damaged, tried
from tests.test_stored import told as told_of

TABLES = tables(__file__)

DEMO = ROOT / "data/demo/traces.jsonl"


def tool(name: str, at: int, result: Any = "1.09", **more: Any) -> dict[str, Any]:
    """A span of a tool as OpenTelemetry's SDK prints it: from `at` for one second."""
    arguments = more.pop("arguments", {"base": "EUR"})
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    if arguments is not None:
        attributes["gen_ai.tool.call.arguments"] = json.dumps(arguments)
    if result is not None:
        attributes["gen_ai.tool.call.result"] = result if isinstance(result, str) else json.dumps(result)
    error = more.pop("error", None)
    status = {"status_code": "ERROR", "description": error} if error else {"status_code": "UNSET"}
    span = {"name": f"execute_tool {name}", "context": {"trace_id": "0x1", "span_id": f"0x{at}"}}
    times = {"start_time": f"2026-03-02T10:00:{at:02}Z", "end_time": f"2026-03-02T10:00:{at + 1:02}Z"}
    return {**span, "parent_id": None, **times, "status": status, "attributes": attributes, **more}


def model(at: int, **said: Any) -> dict[str, Any]:
    """A span of a model, with what it said."""
    message = json.dumps([{"role": "assistant", "parts": [said]}])
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": message}
    return {**tool("", at), "name": "chat m", "attributes": attributes}


def text(at: int, words: str) -> dict[str, Any]:
    return model(at, type="text", content=words)


def found(spans: list[dict[str, Any]], level: str = "warning", catalog: Any = None) -> list[tuple[str, Any]]:
    """Codes and calls of what is found, without the path."""
    told = pe.check(spans, catalog, level=level)
    return [(one.code.partition(".")[2], one.call) for one in told if one.code != "trace.critical_path"]


def beside(name: str, span: str, **more: Any) -> dict[str, Any]:
    """A tool's span in the first second, under an id of its own."""
    return {**tool(name, 1, **more), "context": {"span_id": f"0x{span}"}}


FAILS = {"result": None, "error": "unknown currency"}
SLOW = {"result": None, "error": "timed out"}
OKAY = {"status": "ok"}
AGAIN = ("repeated_call", 1)
RETRIED, LATE = ("failed_retry", 1), ("failed_retry", 2)
TWO = (("repeated_call", 2), ("repeated_call", 3))
TO = {"to": "u-5521"}
LACKS, EARLY = ("incomplete", None), ("out_of_order", 0)
WHOLE = [tool("f", 2, parent_id="0x1"), {**text(1, "x"), "end_time": "2026-03-02T10:00:09Z"}]

CASES: list[tuple[str, list[dict[str, Any]], list[tuple[str, Any]], list[tuple[str, Any]]]] = [
    # what it is, the spans, the warnings, what info tells besides
    ("one call", [tool("f", 1)], [], []),
    ("twice the same", [tool("f", 1), tool("f", 3)], [AGAIN], []),
    ("other arguments", [tool("f", 1), tool("f", 3, arguments={"base": "USD"})], [], []),
    ("an answer that changes", [tool("f", 1, "runs"), tool("f", 3, "runs"), tool("f", 5, "7 rows")], [], []),
    ("another between", [tool("f", 1), tool("g", 3), tool("f", 5)], [], [TWO[0]]),
    ("at once, whatever stands between", [tool("f", 1), beside("g", "g"), beside("f", "9")], [TWO[0]], []),
    ("what only says done", [tool("f", 1, "ok"), tool("f", 3, "ok")], [], [AGAIN]),
    ("done in an object", [tool("f", 1, OKAY), tool("f", 3, OKAY)], [], [AGAIN]),
    ("an empty list is an answer", [tool("f", 1, []), tool("f", 3, [])], [AGAIN], []),
    ("answers not recorded", [tool("f", 1, None), tool("f", 3, None)], [], [AGAIN]),
    ("arguments not recorded", [tool("f", 1, arguments=None), tool("f", 3, arguments=None)], [], []),
    ("a loop of one", [tool("f", at) for at in (1, 3, 5)], [("loop", 0)], []),
    ("a loop of two", [tool("fg"[at % 2], at) for at in range(6)], [("loop", 0)], []),
    ("two rounds are none", [tool("fg"[at % 2], at) for at in range(4)], [], [*TWO]),
    ("no loop of what is done", [tool("f", at, "done") for at in (1, 3, 5)], [], [AGAIN, TWO[0]]),
    ("a failure again", [tool("f", 1, **FAILS), tool("f", 3, **FAILS)], [RETRIED], []),
    ("a failure that passes", [tool("f", 1, **FAILS), tool("f", 3, **FAILS), tool("f", 5)], [], []),
    ("a failure mended", [tool("f", 1, **FAILS), tool("f", 3, arguments={"base": "E"}, **FAILS)], [], []),
    ("a timeout again", [tool("f", 1, **SLOW), tool("f", 3, **SLOW)], [], [RETRIED]),
    ("a failure after an edit", [tool("f", 1, **FAILS), tool("g", 3), tool("f", 5, **FAILS)], [], [LATE]),
    ("a lock", [tool("f", at, result=None, error="database is locked") for at in (1, 3)], [], [RETRIED]),
    ("a 500", [tool("f", at, result=None, error="500 Internal Error") for at in (1, 3)], [], [RETRIED]),
    ("an answer used", [tool("f", 1, "1.0923"), text(3, "A euro is 1.0923 dollars.")], [], []),
    ("an answer not used", [tool("f", 1, "1.0923"), text(3, "I like cheese.")], [], [("unused_result", 0)]),
    ("used by an argument", [tool("f", 1, "u-5521"), tool("g", 3, "ok", arguments=TO), text(5, "!")], [], []),
    ("nothing was found", [tool("f", 1, {"error": "not found"}), text(3, "I do not know them.")], [], []),
    ("words not recorded", [tool("f", 1, "1.0923")], [], []),
    ("an end that is no time", [{**tool("f", 1), "end_time": "abc"}], [LACKS], []),
    ("whole", WHOLE, [], []),
    ("a parent that is missing", [WHOLE[0], {**WHOLE[1], "context": {"span_id": "0x7"}}], [LACKS], []),
    ("as of a service that another called", [WHOLE[0]], [], []),
    ("a flag that says so", [{**WHOLE[0], "flags": 0x100}], [LACKS], []),
    ("of another process", [{**WHOLE[0], "flags": 0x300}], [], []),
    ("no end", [WHOLE[0], {**WHOLE[1], "end_time": None}], [LACKS], []),
    ("no beginning", [{**WHOLE[0], "start_time": None}, WHOLE[1]], [("untimed", None)], []),
    ("before its parent", [{**WHOLE[0], "start_time": "2026-03-02T10:00:00Z"}, WHOLE[1]], [EARLY], []),
    ("after its end", [{**WHOLE[0], "start_time": "2026-03-02T10:00:05Z"}, WHOLE[1]], [EARLY], []),
]  # fmt: skip


@pytest.mark.parametrize(("spans", "warned", "hinted"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_what_a_trace_shows(spans: list[Any], warned: list[Any], hinted: list[Any]) -> None:
    assert found(spans) == warned
    assert sorted(found(spans, "info")) == sorted([*warned, *hinted])


def test_agents_beside_each_other_know_nothing_of_each_other() -> None:
    agent = {**text(1, ""), "name": "agent", "attributes": {}}
    places = ("0xr", None), ("0xa", "0xr"), ("0xb", "0xr")
    root, *agents = ({**agent, "context": {"span_id": name}, "parent_id": above} for name, above in places)
    calls = [beside("f", f"{name}1", parent_id=f"0x{name}") for name in "ab"]
    assert found([root, *agents, *calls]) == []
    assert found([root, *agents, *calls], "info") == [AGAIN]
    later = {"start_time": "2026-03-02T10:00:04Z", "end_time": "2026-03-02T10:00:05Z"}
    root |= {"end_time": "2026-03-02T10:00:06Z"}
    assert found([root, agents[0], {**agents[1], **later}, calls[0], {**calls[1], **later}]) == [AGAIN]


def test_spans_are_taken_in_time_whatever_their_order_and_once() -> None:
    spans = [tool("g", 5), tool("f", 1), tool("f", 1)]
    plan = pe.parse(spans)
    assert [call.name for call in plan.calls] == ["f", "g"]
    assert found(spans) == [LACKS]
    assert read_run(spans, plan).repeated == 1
    rounds = [tool("abcdefgh"[at % 8], at) for at in range(24)]
    (loop,) = [one for one in pe.check(rounds) if one.code == "trace.loop"]
    assert "a loop: a → b → c → d → e → f → … 2 more 3 times in calls 1 to 24" in loop.message


def test_a_tool_that_there_is_not_is_told_by_what_the_framework_answered() -> None:
    asked = model(1, type="tool_call", id="c1", name="get_rates", arguments={"base": "EUR"})
    assert found([asked, tool("f", 3)]) == []
    assert found([asked, tool("f", 3)], "info") == [("not_run", None)]
    refused = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": "Unknown tool name: 'get_rates'."}
    assert found([asked, tool("f", 3), {**text(5, ""), "attributes": refused}]) == [("not_run", None)]
    assert found([asked, tool("get_rates", 3)], "info") == []


def test_a_catalog_holds_the_calls_and_what_was_not_recorded_is_no_fault() -> None:
    schema = {"type": "object", "properties": {"base": {"type": "string"}}, "required": ["base"]}
    catalog = [{"name": "f", "parameters": schema}]
    assert found([tool("f", 1)], catalog=catalog) == []
    assert found([tool("f", 1, arguments={})], catalog=catalog) == [("missing_argument", 0)]
    assert found([tool("f", 1, arguments=None)], catalog=catalog) == []
    assert found([tool("g", 1)], catalog=catalog) == [("unknown_tool", 0)]
    acts = {**catalog[0], "annotations": {"readOnlyHint": False}}
    assert found([tool("f", 1), tool("f", 3)], catalog=catalog) == [("repeated_call", 1)]
    if pe.read_catalog([acts]).tools[0].action:
        assert found([tool("f", 1), tool("f", 3)], catalog=[acts]) == []
    only = {"openinference.span.kind": "TOOL", "input.value": "EUR", "output.value": "1.09"}
    assert found([{"name": "f", "attributes": only, "start_time": 1}], catalog=catalog) == []


def test_without_a_catalog_only_traces_are_checked(tmp_path: Path) -> None:
    plan = planeval("check", "data/demo/gold.json")
    assert (plan.returncode, "gold.json holds no traces" in plan.stderr) == (2, True)
    assert planeval("check", str(DEMO), "--catalog-format", "mcp").returncode == 2
    with pytest.raises(pe.PlanevalError, match="the plan is not a trace"):
        pe.check("f(#x='1')")
    mixed = tmp_path / "mixed.jsonl"
    lines = [{"id": "a", "plan": [tool("f", 1)]}, {"id": "b", "plan": "f()"}]
    mixed.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    done = planeval("check", str(mixed))
    assert (done.returncode, "record b: error: it is not a trace" in done.stdout) == (1, True)


def asks(*calls: tuple[str, str, str]) -> dict[str, Any]:
    """A message of the assistant with calls: id, tool, base."""
    made = [{"id": i, "function": {"name": n, "arguments": {"base": b}}} for i, n, b in calls]
    return {"role": "assistant", "tool_calls": made}


def answers(identity: str, content: str = "1.09", **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": content, **more}


def talks(*calls: tuple[str, str], content: str = "1.09", **more: Any) -> list[dict[str, Any]]:
    """A conversation in which each call has an answer of its own, all of them alike."""
    turns = [(asks((str(i), *call)), answers(str(i), content, **more)) for i, call in enumerate(calls)]
    return [message for turn in turns for message in turn]


def blocks(kind: str, **more: Any) -> list[dict[str, Any]]:
    """Anthropic's or LangChain's messages: one call twice, and both times the same answer."""
    made = []
    for i in "ab":
        if kind == "langchain":
            call = {"name": "f", "args": {"base": "E"}, "id": i}
            made += [{"type": "ai", "content": "", "tool_calls": [call]}]
            made += [{"type": "tool", "content": "no rate for it", "tool_call_id": i, **more}]
            continue
        use = {"type": "tool_use", "id": i, "name": "f", "input": {"base": "E"}}
        result = {"type": "tool_result", "tool_use_id": i, "content": "no rate for it", **more}
        made += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return made


TWICE = [("f", "E"), ("f", "E")]
LISTED = [{"name": "f", "input_parameters": {"base": "E"}, "output": "1.09"}]
END = {"role": "assistant", "content": "I like cheese."}
TALKS: list[tuple[str, Any, list[tuple[str, Any]], list[tuple[str, Any]]]] = [
    # what it is, the conversation, the warnings, what info tells besides
    ("twice the same", talks(*TWICE), [AGAIN], []),
    ("another between", talks(("f", "E"), ("g", "E"), ("f", "E")), [], [("repeated_call", 2)]),
    ("at once, whatever stands between",
     [asks(("a", "f", "E"), ("b", "g", "E"), ("c", "f", "E")), *map(answers, "abc")], [TWO[0]], []),
    ("an error in words", talks(*TWICE, content="Error: no such currency"), [RETRIED], []),
    ("an error of a program", talks(*TWICE, content="ValueError: EURO"), [RETRIED], []),
    ("an error as data", talks(*TWICE, content='{"error": "no such currency"}'), [RETRIED], []),
    ("words about errors", talks(*TWICE, content="Errors are rare, 5 a day"), [AGAIN], []),
    ("a timeout", talks(*TWICE, content="Error: timed out"), [], [RETRIED]),
    ("an empty answer, as of cd ..", talks(*TWICE, content="{}"), [], [AGAIN]),
    ("a loop, and another answer after another call",
     [*talks(*TWICE, TWICE[0]), *talks(("g", "E")), *talks(TWICE[0], content="2.2")], [("loop", 0)], []),
    ("waiting, and then something else",
     [*talks(*TWICE, TWICE[0]), *talks(TWICE[0], content="2.2")], [], []),
    ("mended", talks(("f", "E"), ("f", "U"), content="Error: no"), [], []),
    ("Anthropic's mark", blocks("anthropic", is_error=True), [RETRIED], []),
    ("without its mark", blocks("anthropic"), [AGAIN], []),
    ("LangChain's status", blocks("langchain", status="error"), [RETRIED], []),
    ("not used", [*talks(("f", "E")), END], [], [("unused_result", 0)]),
    ("used in words", [*talks(("f", "E")), {**END, "content": "It is 1.09."}], [], []),
    ("Ragas", {"user_input": blocks("langchain"), "reference_tool_calls": []}, [AGAIN], []),
    ("calls with results", LISTED * 2, [AGAIN], []),
]  # fmt: skip


@pytest.mark.parametrize(("talk", "warned", "hinted"), [c[1:] for c in TALKS], ids=[c[0] for c in TALKS])
def test_what_a_conversation_shows(talk: Any, warned: list[Any], hinted: list[Any], tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps(talk), encoding="utf-8")
    (record,) = pe.read(str(path)).records
    for level, told in (("warning", warned), ("info", [*warned, *hinted])):
        done = planeval("check", str(path), "--level", level, "--format", "json")
        rows = [row for row in json.loads(done.stdout) if row["code"].startswith("trace.")]
        assert sorted((row["code"][6:], row["call"] - 1) for row in rows) == sorted(told)
        found = [(one.code[6:], one.call) for one in pe.check(record, level=level)]
        assert sorted(found) == sorted(told)


def test_of_published_conversations_each_repetition_is_told(reference: Path, tmp_path: Path) -> None:
    path = tmp_path / "tau.json"
    held = gzip.decompress((reference / "vectors/taubench/gpt-4o-airline.json.gz").read_bytes())
    runs = [run for run in json.loads(held) if run["task_id"] in range(10, 20)]
    path.write_text(json.dumps(runs), encoding="utf-8")
    done = planeval("check", str(path), "--ignore", "label.duplicate", "--format", "json")
    told = {(row["record"], row["call"], row["code"][6:]) for row in json.loads(done.stdout)}
    again = set()
    for run in runs:
        turns = enumerate(run["traj"])
        made = [(c["function"], at) for at, said in turns for c in said.get("tool_calls") or ()]
        answered = [(call, run["traj"][at + 1]["content"]) for call, at in made]
        for place, (before, after) in enumerate(pairwise(answered), 2):
            if before == after:
                code = "failed_retry" if after[1].startswith("Error") else "repeated_call"
                again.add((f"{run['task_id']}/{run['trial']}", place, code))
    assert told == again
    assert len(told) == 5


def test_hostile_traces_end_soon_and_are_told_on_one_line() -> None:
    spans = [tool("f\x1b[31m", at % 50, "x" * 50, arguments={"n": at}, error="a\nb") for at in range(3000)]
    for at, span in enumerate(spans):
        span["context"] = {"span_id": f"0x{at}\n"}
    assert found(spans) == []
    odd = {"attributes": {"gen_ai.operation.name": "execute_tool"}, "start_time": 10**400, "end_time": []}
    assert found([{**odd, "status": 3}]) in ([], [("untimed", None)])
    again = {**spans[0], **tool("g", 30), "name": spans[0]["name"], "attributes": spans[0]["attributes"]}
    again |= {"status": spans[0]["status"], "context": {"span_id": "b"}}
    done = planeval("check", "-", text=json.dumps([spans[0], again]))
    assert "trace.failed_retry" in done.stdout
    assert "\x1b" not in done.stdout
    assert len(done.stdout.splitlines()) == 1


@pytest.mark.parametrize("write", [str.upper, lambda name: f"0x{name}", lambda name: f"0X{name.upper()}"])
def test_an_id_is_one_in_whatever_form_it_is_written(write: Callable[[str], str], tmp_path: Path) -> None:
    trace, root = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    first = tool("f", 1) | {"context": {"trace_id": trace, "span_id": root}}
    again = {**first, "context": {"trace_id": write(trace), "span_id": write(root)}}
    inner = {"context": {"trace_id": write(trace), "span_id": write("b7ad6b7169203331")}}
    spans = [first, tool("g", 2, parent_id=write(root)) | inner, again]
    plan = pe.parse(spans)
    assert [call.tool for call in plan.calls] == ["f", "g"]
    assert [span.parent for span in read_run(spans, plan).spans] == [None, root]
    file = tmp_path / "spans.jsonl"
    file.write_text("".join(json.dumps(span) + "\n" for span in spans))
    assert len(pe.read(file).records) == 1


MS = 1_000_000
Part = tuple[str, str, int, int]


def run(*spans: Part, root: int, under: str = "", inner: tuple[str, ...] = ()) -> Run:
    """A run of spans by kind, name, beginning and end in milliseconds, inside an agent's span."""
    made = [
        Span(name, under if name in inner else "root", kind, name, at, start * MS, end * MS)
        for at, (kind, name, start, end) in enumerate(spans)
    ]
    made = [span if span.kind == "tool" else span._replace(call=None) for span in made]
    return Run((Span("root", None, "other", "agent", None, 0, root * MS), *made))


MODEL = ("model", "m1", 0, 100)


BESIDE = [
    ("tool", "a", 50, 310), ("tool", "e", 60, 320), ("tool", "b", 100, 450), ("tool", "on", 300, 400),
    ("tool", "c", 420, 505), ("tool", "d", 500, 900),
]  # fmt: skip
PATHS: dict[str, tuple[int, list[Part], list[tuple[str, int]], str]] = TABLES["PATHS"]


@pytest.mark.parametrize(("root", "spans", "steps", "told"), PATHS.values(), ids=PATHS)
def test_the_critical_path(root: int, spans: list[Part], steps: list[tuple[str, int]], told: str) -> None:
    found = run(*spans, root=root)
    path = critical_path(found)
    assert path is not None
    assert [[step.span.name, step.time // MS] for step in path.steps] == steps
    (one,) = describe_critical_path(found)
    assert one.message.endswith(told) or one.message.startswith(told)
    if [*map(tuple, spans)] == [*map(tuple, BESIDE)]:
        assert ([span.name for span in path.beside], path.unsaid // MS) == (["a", "e", "c"], 100)


def test_a_tool_in_which_others_ran_stands_for_them() -> None:
    inner = ("model", "inner m", 110, 300), ("tool", "inner", 300, 690)
    spans = MODEL, ("tool", "sub", 100, 700), *inner, ("model", "m2", 700, 1000)
    path = critical_path(run(*spans, root=1000, under="sub", inner=("inner m", "inner")))
    assert path is not None
    steps = [(step.span.name, step.time // MS) for step in path.steps]
    assert steps == [("m1", 100), ("sub", 600), ("m2", 300)]
    assert critical_path(run(root=20)) is None


def spans(trace: str, name: str) -> list[dict[str, Any]]:
    """A trace in which a tool is called twice for the same answer."""
    made = (tool(name, 1), tool(name, 3))
    return [{**one, "context": {**one["context"], "trace_id": trace}} for one in made]


ONE, OTHER = spans("0xa", "f"), spans("0xb", "g")


def written(path: Path, text: str) -> list[tuple[str | None, Any]]:
    """What is read of a text, the same from memory and from a store."""
    path.write_text(text)
    found = read(path)
    assert read(path, Store(limit=0)) == found
    return found


def agents(trace: str) -> list[dict[str, Any]]:
    data = {"type": "function", "name": "f", "input": "{}", "output": "1.09"}
    span = {"object": "trace.span", "trace_id": trace, "parent_id": None, "span_data": data}
    made = [{**span, "id": f"{trace}{at}", "started_at": f"2026-03-02T10:00:0{at}Z"} for at in (1, 2)]
    return [{"object": "trace", "id": trace, "workflow_name": "w"}, *made]


def asking(trace: str, name: str) -> dict[str, Any]:
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
ON_A_LINE = json.dumps(ONE[0]) + json.dumps(OTHER[0]) + "\n" + rows([ONE[1]])[:-1] + rows([OTHER[1]])
APART = {
    "over several lines": pretty([*ONE, *OTHER]),
    "with line ends of Windows": pretty([*ONE, *OTHER]).replace("\n", "\r\n"), "several on a line": ON_A_LINE,
    "mixed": pretty([ONE[0], OTHER[0], ONE[1], OTHER[1]]),
}  # fmt: skip
BROKEN = {
    "a log line among lines": (rows(ONE) + "INFO: exporting\n" + rows(OTHER), 1),
    "words among objects": ("Hello\n" + pretty(ONE) + "The answer is {21}.\n" + pretty(OTHER), 2),
    "words around each object": ("".join(f"step\n{pretty([one])}" for one in (*ONE, *OTHER)), 4),
    "words in brackets first": ("[INFO] Hello\n" + pretty([*ONE, *OTHER]), 1),
    "words before lines": ("Hello\n" + rows([*ONE, *OTHER]), 1),
    "words after": (pretty([*ONE, *OTHER]) + "done\n", 1),
    "a cut line": (rows([*ONE, *OTHER]) + CUT + "\n", 1),
    "a cut line among lines": (rows(ONE) + CUT + "\n" + rows(OTHER), 1),
    "a cut object": (pretty([*ONE, *OTHER]) + pretty([ONE[0]])[:200], 1),
    "a cut object among others": (pretty(ONE) + pretty([ONE[0]])[:200] + "\n" + pretty(OTHER), 1),
    "a cut array": (json.dumps([*ONE, *OTHER, ONE[0]], indent=2)[:-120], 1),
    "a cut array in one line": (json.dumps([*ONE, *OTHER, ONE[0]])[:-120], 1),
    "words before all but the first": ("INFO ".join(pretty([one]) for one in (*ONE, *OTHER)), 3),
    "words before each": ("".join(f"You: {pretty([one])}" for one in (*ONE, *OTHER)), 4),
    "words before each line": ("".join(f"[log] INFO: {rows([one])}" for one in (*ONE, *OTHER)), 4),
    "words with braces": (f"a {{}} of {{1}} {pretty(ONE)}{{b}} > {pretty(OTHER)}", 2),
    "words after each too": ("".join(f"a\nb {pretty([one])}c\n" for one in (*ONE, *OTHER)), 5),
}


@pytest.mark.parametrize("text", APART.values(), ids=APART)
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
    text = write([asking("a", "f"), asking("b", "g")])
    assert written(tmp_path / "t.json", text) == [(None, ["f"]), (None, ["g"])]
    with pytest.raises(ParseError, match="found spans of 2 traces"):
        pe.parse(text)


@pytest.mark.parametrize(("text", "count"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "t.txt"])
def test_what_is_broken_loses_no_other_span(tmp_path: Path, text: str, count: int, name: str) -> None:
    assert written(tmp_path / name, text) == BOTH + [BAD] * count


def test_no_command_reads_several_traces_as_one(tmp_path: Path) -> None:
    path, gold = tmp_path / "t.json", tmp_path / "gold.jsonl"
    path.write_text(pretty([*ONE, *OTHER]))
    calls = "[{0}(base='EUR'), {0}(base='EUR')]"
    golds = (("0xa", "f"), ("0xb", "h"))
    gold.write_text(rows([{"id": at, "gold": calls.format(name)} for at, name in golds]))
    found = json.loads(planeval("check", str(path), "--format", "json").stdout)
    assert [(r["record"], r["code"][6:]) for r in found] == [(at, "repeated_call") for at in ("0xa", "0xb")]
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
    path.write_text(json.dumps({"spans": [*ONE, *OTHER]}))
    for command in (["parse"], ["stats"], ["check", "--catalog", str(tools)], ["diff", str(path)]):
        done = planeval(*command, str(path))
        assert done.returncode == 3, command
        assert "found spans of 2 traces, expected those of one" in done.stdout + done.stderr
    fenced = "\n".join(f"```json\n{json.dumps(run)}\n```" for run in (ONE, OTHER))
    for source in ([*ONE, *OTHER], {"spans": [*ONE, *OTHER]}, f"A\n{pretty(ONE)}b\n{pretty(OTHER)}", fenced):
        with pytest.raises(ParseError, match="found spans of 2 traces"):
            pe.parse(source, dialect="opentelemetry" if source is fenced else None)
    assert len(pe.parse([*ONE, {**OTHER[0], "context": {"span_id": "x"}}])) == 3  # of which trace is not said


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
    held = rows([*ONE, *OTHER]).splitlines()
    for place in (0, 1, 3, 4):
        found = written(tmp_path / name, "\n".join([*held[:place], line, *held[place:]]) + "\n")
        assert (found[:2], [code for _, code in found[2:]]) == (BOTH, ["parse.shape"]), found


def test_a_record_between_spans_keeps_its_id(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    found = written(path, rows([*ONE, {"id": "q1", "response": "f()"}, *OTHER]))
    assert found == [*BOTH, ("q1", "parse.shape")]
    done = planeval("stats", str(path))
    said = "t.jsonl, line 3, record 3 (id q1): found an object with 'id', 'response' among spans"
    assert (done.returncode, said in done.stderr) == (1, True)


def test_findings_of_a_trace_stand_on_the_line_of_its_first_span(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(rows([*ONE, *OTHER]))
    log = json.loads(planeval("check", str(path), "--format", "sarif").stdout)
    places = [one["locations"][0]["physicalLocation"]["region"] for one in log["runs"][0]["results"]]
    assert places == [{"startLine": 1}, {"startLine": 3}]


def test_what_is_cut_off_before_words_gives_no_span_of_its_own(tmp_path: Path) -> None:
    linked = ONE[0] | {"links": [{"context": ONE[1]["context"], "attributes": {}}] * 2, "events": [{}]}
    text = pretty([linked])
    for at in range(20, len(text) - 3, 7):
        path = tmp_path / "t.txt"
        for words in (pretty(OTHER) + text[at:], pretty(OTHER) + "INFO " + text[:at]):
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
        span = random.choice((*ONE, *OTHER, asking("m", "f")))
        if kind == "u":
            span = {key: value for key, value in span.items() if key not in ("context", "traceId")}
        plan = {"id": f"q{at}", "output": "f()"}
        line = "a log line" if kind == "w" else json.dumps(plan if kind == "p" else span)
        line = random.choice(NO_SPANS) if kind == "j" else line
        made.append(line.encode() if random.random() < 0.7 else damaged(random, line.encode()))
    return b"\n".join(made) + b"\n"


@pytest.mark.parametrize("head", [2, 1_000])
def test_large_files_of_spans_are_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, head: int) -> None:
    for module in ("fields", "field_choice", "items", "disk_records"):
        monkeypatch.setattr(f"planner_eval.reading.files.{module}.HEAD_SIZE", head)
    random, grouped = Random(7), 0
    for _ in range(100):
        path = tmp_path / random.choice(("t.jsonl", "t.json", "t.txt"))
        path.write_bytes(drawn(random))
        whole = tried(read_file, str(path), store=IN_MEMORY)
        kept = tried(read_file, str(path), store=Store(limit=0, piece=random.choice((1, 300, 100_000))))
        if isinstance(whole, PlanFile):
            assert isinstance(kept, PlanFile), path.read_bytes()
            assert told_of(kept) == told_of(whole), path.read_bytes()
            grouped += {"0xa", "0xb"} <= {record.id for record in whole.records}
        else:
            assert kept == whole, path.read_bytes()
    assert grouped > 6


def agent(trace: str, attributes: dict[str, Any]) -> dict[str, Any]:
    """A span that names its trace and ran in no other."""
    return {"name": "a", "context": {"trace_id": trace, "span_id": f"{trace}1"}, "attributes": attributes}


INVOKED = {"gen_ai.operation.name": "invoke_agent"}
IDLE: dict[str, list[dict[str, Any]]] = TABLES["IDLE"]


@pytest.mark.parametrize("idle", IDLE.values(), ids=IDLE)
def test_a_trace_without_a_tool_is_a_plan_without_calls(tmp_path: Path, idle: list[dict[str, Any]]) -> None:
    path = tmp_path / "t.jsonl"
    assert [found for _, found in written(path, rows(idle))] == [[]]
    assert written(path, rows([*ONE, *idle])) == [BOTH[0], ("0xc", [])]
    assert planeval("check", str(path), "--level", "error").returncode == 0
    others = rows([agent("0xc", INVOKED), agent("0xd", INVOKED)])
    assert written(path, others) == [("0xc", []), ("0xd", [])]


@tabled("attributes")
def test_a_span_that_may_hold_a_call_is_no_trace_without_one(attributes: dict[str, Any]) -> None:
    with pytest.raises(ParseError, match="is not a call"):
        pe.parse([agent("0xc", attributes)])


# ---------------------------------------------------------------- what was said before a call
def _talk(*words: str, order: str, proposed: str = "") -> list[dict[str, object]]:
    call = {
        "id": "c1",
        "function": {"name": "cancel", "arguments": json.dumps({"order": order, "n": "2 of 3"})},
    }
    said = [{"role": "user", "content": text} for text in words]
    if proposed:
        said.insert(1, {"role": "assistant", "content": proposed})
    return [
        {"role": "system", "content": "Orders look like ORD-0001."},
        *said,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "Error: no such order"},
    ]


@tabled("words, order, proposed, codes")
def test_an_argument_needs_a_ground_and_an_action_an_agreement(
    words: list[str], order: str, proposed: str, codes: list[str]
) -> None:
    hint = {"readOnlyHint": False}
    schema = {"type": "object", "properties": {"order": {"type": "string"}, "n": {"type": "string"}}}
    tools = [{"name": "cancel", "inputSchema": schema, "annotations": hint}]
    talk = _talk(*words, order=order, proposed=proposed)
    found = [finding.code for finding in pe.check(talk, {"tools": tools})]
    assert [code for code in found if code.startswith("trace.un")] == codes
    alone = [finding.code for finding in pe.check(talk)]
    assert ("trace.ungrounded_argument" in alone) is ("trace.ungrounded_argument" in codes)
    assert "trace.unagreed_action" not in alone
