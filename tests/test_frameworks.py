"""Files in the layouts of frameworks: each row of the table × each use of a file, on records of our own."""

import csv
import json
import tomllib
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from struct import pack_into
from typing import Any
from zipfile import ZipFile
from zlib import crc32

import pytest
import zstandard

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.reading.files import frameworks as framework_table
from planner_eval.reading.files.record import Store
from planner_eval.reading.parse import read
from tests.conftest import ROOT
from tests.inside import planeval

Call = tuple[str, dict[str, Any]]
PLANS: tuple[tuple[list[Call], list[Call]], ...] = (
    ([("weather", {"city": "Oslo"}), ("book", {"nights": 2})],) * 2,
    ([("weather", {"city": "Rome"})], [("weather", {"city": "Bari"})]),
    ([("weather", {"city": "Lima"})], [("weather", {"city": "Lima"}), ("book", {"nights": 1})]),
)
"""A right prediction, one with a wrong value, one without a call; gold beside each."""


def listed(calls: Sequence[Call], name: str = "name", arguments: str = "arguments", **more: Any) -> list[Any]:
    return [{name: tool, arguments: given, **more} for tool, given in calls]


def talk(calls: Sequence[Call], given: str = "arguments", name: str = "name", **more: Any) -> list[Any]:
    said = {"role": "assistant", "content": "", "tool_calls": listed(calls, name, given, **more)}
    return [{"role": "user", "content": "Plan it"}, said]


def adk(number: int, calls: list[Call]) -> dict[str, Any]:
    said = {"parts": [{"text": "Plan it"}], "role": "user"}
    uses = {"tool_uses": listed(calls, arguments="args"), "intermediate_responses": []}
    return {"invocation_id": f"i{number}", "user_content": said, "intermediate_data": uses}


def camel(data: Any) -> Any:
    """The same with the keys of objects in camel case, but for those of arguments."""
    if isinstance(data, list):
        return [camel(item) for item in data]
    if not isinstance(data, dict):
        return data
    words = {key: key.split("_") for key in data}
    return {
        first + "".join(map(str.title, rest)): data[key] if key == "args" else camel(data[key])
        for key, (first, *rest) in words.items()
    }


def spans(number: int, calls: list[Call]) -> list[dict[str, Any]]:
    """Runs of tools; LangChain writes arguments as Python text in a field `input`."""
    found = []
    for place, (name, given) in enumerate(calls):
        own = {"id": f"s{number}{place}", "run_type": "tool", "name": name, "outputs": {}}
        inputs = given if number else {"input": str(given)}
        found.append({**own, "inputs": inputs, "trace_id": f"t{number}", "dotted_order": f"{number}.{place}"})
    return found


def observations(number: int, calls: list[Call]) -> list[dict[str, Any]]:
    root = {"id": f"r{number}", "traceId": f"t{number}", "type": "SPAN", "name": "x", "input": {}}
    tools = listed(calls, arguments="input", traceId=f"t{number}", type="TOOL")
    return [{**one, "startTime": str(place)} for place, one in enumerate([root, *tools])]


def shapes(n: int, pred: list[Call], gold: list[Call]) -> dict[str, dict[str, Any]]:
    ids, ask, prompt = {"id": str(n)}, {"input": "Plan it"}, {"prompt": "Plan it"}
    actions = [*listed(gold), {"name": "x", "requestor": "user"}]
    stray = {"role": "user", "tool_calls": listed([("x", {})])}
    camels = {"toolsCalled": listed(pred, arguments="inputParameters"), "name": f"case {n}", **ask}
    camels |= {"expectedTools": listed(gold, arguments="inputParameters")}
    steps = [{"task": t, "arguments": [{"name": k, "value": v} for k, v in a.items()]} for t, a in pred]
    nodes = {**ids, "user_request": "Plan it", "task_steps": [], "task_nodes": steps, "task_links": []}
    both = {"actual_invocation": adk(n, pred), "expected_invocation": adk(n, gold)}
    observed = listed(pred, arguments="input", type="TOOL")
    generated = {"type": "GENERATION", "name": "llm", "output": {"tool_calls": listed(pred)}}
    chains = [{"run_type": "chain", "name": "tools", "child_runs": [run]} for run in spans(n, pred)]
    last = {"thought": "done", "tool_name": "finish", "tool_args": {}, "observation": "Completed."}
    old = {"query": "Plan it", "expected_tool_use": listed(gold, "tool_name", "tool_input")}
    asked = {"test_id": n, "task": "Plan it", "api": [{"api_name": "weather", "parameters": {}}]}
    tests = {**ids, "testIdx": n, "promptIdx": 0, "response": {"output": listed(pred)}}
    return {
        "tau-bench": {"task_id": n, "trial": 0, "reward": 0.0, "traj": talk(pred), "info": {"task": {
            "instruction": "Plan it", "actions": listed(gold, arguments="kwargs")}}},
        "tau2-tasks": {**ids, "user_scenario": {"instructions": "Plan it"},
                       "evaluation_criteria": {"actions": actions}},
        "tau2-runs": {"id": f"s{n}", "task_id": str(n), "trial": 1, "messages": [*talk(pred), stray]},
        "tau2-bench-tasks": {**ids, "user_scenario": {"instructions": {"reason_for_call": "Plan it"}},
                             "evaluation_criteria": {"actions": actions}},
        "ragas": {"user_input": [{"content": "Plan it", "type": "human"}, {
            "content": "", "type": "ai", "tool_calls": listed(pred, arguments="args")}],
            "reference_tool_calls": listed(gold, arguments="args")},
        "deepeval": {"name": f"case {n}", **ask, "actual_output": "Done.",
                     "tools_called": listed(pred, arguments="input_parameters", description=None),
                     "expected_tools": listed(gold, arguments="input_parameters", output=None)},
        "deepeval-camel": camels, "deepeval-run": {**camels, "success": n == 0},
        "vertex-ai": {**prompt, "response": "Done.", "reference": "Done.",
                      "predicted_trajectory": listed(pred, "tool_name", "tool_input"),
                      "reference_trajectory": listed(gold, "tool_name", "tool_input")},
        "taskbench": nodes, "taskbench-results": {**ids, "user_request": "Plan it", "result": nodes},
        "adk-results": {"eval_id": f"e{n}", "eval_metric_result_per_invocation": [both]},
        "promptfoo": {**tests, "prompt": {"raw": "Plan it"}, "error": "Expected the calls"},
        "promptfoo-lines": tests,
        "langfuse": {**ids, **ask, "htmlPath": "/t", "output": "Done.", "observations": [
            generated, *listed(pred, arguments="input", type="TOOL", output=None)]},
        "langfuse-page": {**ids, **ask, "observations": observed},
        "langsmith": {**ids, "run_type": "chain", "inputs": {"question": "Plan it"}, "child_runs": chains},
        "inspect-ai": {"id": n, "epoch": 1, **ask, "target": json.dumps(listed(gold)),
                       "messages": talk(pred, name="function", id="c")},
        "nestools-answers": {"test_id": n, **prompt, "tokens": [1, 1], "raw": "",
                             "response": json.dumps(listed(pred, "api_name", "parameters"))},
        "nestools-lists": {"test_id": n, "lst_response": listed(pred, "api_name", "parameters", api_id=1)},
        "deepeval-goldens": {**ask, "expected_tools": listed(gold, arguments="input_parameters")},
        "vertex-ai-gold": {**prompt, "reference_trajectory": listed(gold, "tool_name", "tool_input")},
        "adk-eval-set": {"eval_id": f"e{n}", "conversation": [adk(n, gold)]}, "adk-old": old,
        "adk-old-set": {"name": f"e{n}", "initial_session": {}, "data": [old]},
        "langsmith-examples": {**ids, "dataset_id": "d", "inputs": {"question": "Plan it"},
                               "outputs": {"tool_calls": listed(gold)}},
        "xlam": {**ids, "query": "Plan it", "answers": json.dumps(listed(gold)), "tools": "[]"},
        "vercel-steps": {"steps": [{"toolCalls": listed(pred, "toolName", "args", type="tool-call")}]},
        "dspy-react": {"question": "Plan it", "answer": "Done.", "trajectory": {
            f"{key}_{i}": value for i, call in enumerate([*listed(pred, "tool_name", "tool_args"), last])
            for key, value in call.items()}},
        "nestools": {**asked, "call": listed(gold, "api_name", "parameters", responses=[])},
    }  # fmt: skip


MADE = [shapes(number, pred, gold) for number, (pred, gold) in enumerate(PLANS)]
LAYOUTS: dict[str, Any] = {name: [made[name] for made in MADE] for name in MADE[0]}
SEEN = [observations(number, pred) for number, (pred, _) in enumerate(PLANS)]
LAYOUTS |= {
    "tau2-bench": {"tasks": LAYOUTS.pop("tau2-tasks")[::-1], "simulations": LAYOUTS.pop("tau2-runs")},
    "deepeval-run": {"testFile": "t.py", "testCases": LAYOUTS["deepeval-run"]},
    "adk-results": {"eval_set_result_id": "r", "eval_case_results": LAYOUTS["adk-results"]},
    "promptfoo": {"evalId": "e", "results": {"version": 3, "results": LAYOUTS["promptfoo"]}},
    "langfuse-page": {"meta": {"page": 1, "totalItems": 3}, "data": LAYOUTS["langfuse-page"]},
    "langfuse-observations": [*chain(*SEEN)],
    "langfuse-observations-page": {"meta": {"page": 1}, "data": [*chain(*(one[::-1] for one in SEEN))]},
    "langsmith-runs": [*chain(*(spans(number, pred) for number, (pred, _) in enumerate(PLANS)))][::-1],
    "inspect-ai": {"version": 2, "eval": {"task": "trips", "model": "m"}, "samples": LAYOUTS["inspect-ai"]},
    "adk-eval-set": {"eval_set_id": "s", "eval_cases": LAYOUTS["adk-eval-set"]},
}
LAYOUTS["deepeval-latest"] = {"testRunData": LAYOUTS["deepeval-run"]}
LAYOUTS["adk-results-camel"] = camel(LAYOUTS["adk-results"])
LAYOUTS["adk-eval-set-camel"] = camel(LAYOUTS["adk-eval-set"])
ROWS = framework_table.frameworks()


def write(folder: Path, name: str) -> Path:
    file = folder / f"{name}.json"
    file.write_text(json.dumps(LAYOUTS[name]), encoding="utf-8")
    return file


def test_every_row_has_a_layout_here_and_a_first_sign_that_is_looked_for() -> None:
    assert LAYOUTS.keys() == ROWS.keys()
    assert {row.sign[0].split(".")[0] for row in ROWS.values()} == framework_table.FIRST_SIGNS
    assert all(row.source and row.title and (row.answer or row.gold) for row in ROWS.values())
    assert len(tomllib.loads((ROOT / "data/frameworks.toml").read_text("utf-8"))["framework"]) == len(ROWS)


def test_the_command_lists_all_rows() -> None:
    shown = planeval("convert", "--list").stdout
    assert all(row.title[:40] in shown for row in ROWS.values())


@pytest.mark.parametrize("name", LAYOUTS)
def test_answers_and_gold_are_read_where_the_framework_keeps_them(name: str, tmp_path: Path) -> None:
    row = ROWS[name]
    for side, (role, way) in enumerate((("answer", row.answer), ("gold", row.gold))):
        if not way:
            with pytest.raises(InputError, match=rf"\({name}\), which hold no (answer|gold plan); name its"):
                pe.read(write(tmp_path, name), role=role)
            continue
        file = pe.read(write(tmp_path, name), role=role)
        wanted = [pair[0 if way == "." else side] for pair in PLANS][:: -1 if name == "langsmith-runs" else 1]
        plans = [pe.parse(record) for record in file.records]
        assert [[(call.tool, dict(call.arguments)) for call in plan.calls] for plan in plans] == wanted
        assert file.notes[0].endswith(f"read as {row.title} ({name})")
        questions = {record.fields.get("question", record.fields.get("prompt")) for record in file.records}
        assert not row.question or name == "promptfoo-lines" or questions == {"Plan it"}
        named = bool(row.id and name != "deepeval-goldens")
        assert [record.id is not None for record in file.records] == [named] * 3


@pytest.mark.parametrize("name", LAYOUTS)
def test_commands_take_the_file_without_a_field_option(name: str, tmp_path: Path) -> None:
    row, file, other = ROWS[name], write(tmp_path, name), tmp_path / "other.json"
    both = bool(row.answer and row.gold and row.answer != ".")
    sides = [pair[1 if row.answer else 0] for pair in PLANS][:: -1 if name == "langsmith-runs" else 1]
    ids = [record.id for record in pe.read(file, role="answer" if row.answer else "gold").records]
    field = "gold" if row.answer else "prediction"
    beside = [{"id": key, field: listed(side)} for key, side in zip(ids, sides, strict=True)]
    other.write_text(json.dumps(beside), "utf-8")
    pair = (file, file) if both else (file, other) if row.answer else (other, file)
    told = planeval("diff", *pair, "--format", "jsonl")
    states = [line.get("state") for line in map(json.loads, told.stdout.splitlines())][:3]
    assert sorted(states) == ["different", "different", "same"]
    if both:  # one file may stand alone
        scored = planeval("score", file, "--format", "json")
        assert json.loads(scored.stdout)["figures"]["exact"]["value"] == pytest.approx(1 / 3)
    if name not in ("tau-bench", "langsmith-runs", "nestools"):
        return
    parsed = planeval("parse", file)
    assert (parsed.returncode, f"read as {row.title} ({name})" in parsed.stderr) == (0, True)
    assert json.loads(planeval("stats", file, "--format", "json").stdout)["plans"] == 3
    checked = planeval("check", file, "--catalog", ROOT / "data/catalogs/nestful.json")
    assert checked.returncode == 1, checked.stderr  # none of these tools is in that catalog
    page = planeval("report", pair[0], "--gold", pair[1], "-o", tmp_path / "page.html")
    assert (page.returncode, (tmp_path / "page.html").exists()) == (0, True), page.stderr


def test_columns_lines_tables_and_archives_hold_the_same(tmp_path: Path) -> None:
    rows = LAYOUTS["vertex-ai"]
    places = {key: {str(n): row[key] for n, row in enumerate(rows)} for key in rows[0]}  # as pandas dumps it
    texts = {
        "columns.json": json.dumps({key: [row[key] for row in rows] for key in rows[0]}),
        "places.json": json.dumps(places),
        "lines.jsonl": "\n".join(map(json.dumps, rows)),
        "twice.json": json.dumps(json.dumps(LAYOUTS["adk-results"])),  # as its first versions wrote it
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name, said in (("table.csv", json.dumps), ("python.csv", str)):
        with (tmp_path / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerows([list(rows[0]), *([said(cell) for cell in row.values()] for row in rows)])
    log = LAYOUTS["inspect-ai"]
    members = {"header.json": json.dumps({key: log[key] for key in ("version", "eval")})}
    for number, sample in enumerate(log["samples"][::-1]):
        members[f"samples/{'a/' * (number == 0)}{sample['id']}_epoch_1.json"] = json.dumps(sample)
    write_archive(tmp_path / "log.eval", members)
    write_archive(tmp_path / "packed.eval", members, packed=True)
    for path in sorted(tmp_path.iterdir()):
        figures = json.loads(planeval("score", path, "--format", "json").stdout)["figures"]
        assert (figures["exact"]["value"], figures["exact"]["n"]) == (pytest.approx(1 / 3), 3), path.name
    for name in ("ragas", "deepeval", "vertex-ai", "tau-bench"):
        (tmp_path / "one.json").write_text(json.dumps(LAYOUTS[name][1]), encoding="utf-8")
        done = planeval("score", tmp_path / "one.json", "--format", "json")
        assert json.loads(done.stdout)["figures"]["exact"]["n"] == 1
    whole = (tmp_path / "packed.eval").read_bytes()
    (tmp_path / "packed.eval").write_bytes(whole.replace(b"\x28\xb5\x2f\xfd", b"\x28\xb5\x2f\xff"))
    write_archive(tmp_path / "pieces.eval", {**members, "samples/7_epoch_1/sample.json": "{}"})
    write_archive(tmp_path / "other.eval", {"word/document.xml": "<x/>"})
    for name, told in (
        ("packed.eval", "the zstd data is cut off or damaged"),
        ("pieces.eval", "samples are stored in pieces; write the log as .json"),
        ("other.eval", "a zip archive or an office document"),
    ):
        done = planeval("parse", tmp_path / name)
        assert (done.returncode, told in done.stderr) == (2, True), done.stderr


def write_archive(file: Path, members: dict[str, str], *, packed: bool = False) -> None:
    """An archive of texts; packed with Zstandard, which Python's own module does not do before 3.14."""
    with ZipFile(file, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, zstandard.ZstdCompressor().compress(text.encode()) if packed else text)
    if not packed:
        return
    data = bytearray(file.read_bytes())
    for info in ZipFile(file).infolist():
        text = members[info.filename].encode()
        central = data.index(b"PK\x01\x02")
        while data[central + 46 : central + 46 + len(info.filename)] != info.filename.encode():
            central = data.index(b"PK\x01\x02", central + 4)
        for place, shift in ((info.header_offset, 0), (central, 2)):
            pack_into("<H", data, place + 8 + shift, 93)
            pack_into("<I", data, place + 14 + shift, crc32(text))
            pack_into("<I", data, place + 22 + shift, len(text))
    file.write_bytes(data)


@pytest.mark.parametrize("calls", [[], PLANS[0][0]])
def test_events_of_an_invocation_are_its_calls(calls: list[Call], tmp_path: Path) -> None:
    parts = []
    for n, (tool, given) in enumerate(calls):
        parts.append({"function_call": {"id": f"a{n}", "name": tool, "args": given}})
        parts.append({"function_response": {"id": f"a{n}", "name": tool, "response": {"result": n}}})
    data = {"invocation_events": [{"author": "x", "content": {"parts": [part]}} for part in parts]}
    case = {"eval_id": "e", "conversation": [{"invocation_id": "i", "intermediate_data": data}]}
    (tmp_path / "e.json").write_text(json.dumps({"eval_set_id": "s", "eval_cases": [case]}), encoding="utf-8")
    plan = pe.parse(pe.read(tmp_path / "e.json", role="gold").records[0])
    assert [(call.tool, dict(call.arguments)) for call in plan.calls] == calls
    assert [call.result for call in plan.calls] == [{"result": number} for number in range(len(calls))]


@pytest.mark.parametrize("name", ["tau-bench", "taskbench-results", "langsmith-runs", "promptfoo-lines"])
def test_a_file_that_memory_does_not_hold_is_paired_by_the_same_ids(name: str, tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_text("\n".join(map(json.dumps, LAYOUTS[name])), encoding="utf-8")
    pred = read(file, role="answer", store=Store(limit=1))
    golds = [{"id": record.id, "gold": "f()"} for record in read(file, role="answer").records][::-1]
    paired = pe.pair(pred, golds, store=Store(limit=1))
    ids = [pair[0].id for pair in paired.pairs if pair[0]]
    assert (paired.by, ids) == ("id", [gold["id"] for gold in golds])


def test_the_published_file_of_tau_bench_scores_without_a_word(reference: Path) -> None:
    file = reference / "vectors/taubench/gpt-4o-airline.json.gz"
    done = planeval("score", file, "--format", "json")
    assert (done.returncode, json.loads(done.stdout)["figures"]["exact"]["n"]) == (0, 200)
    assert "paired by id" in done.stderr
