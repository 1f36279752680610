"""Files in the layouts of frameworks: each row of the table × each use of a file, on records of our own."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.base.tables import table
from planner_eval.records import frameworks
from tests.conftest import ROOT
from tests.inside import planeval

Call = tuple[str, dict[str, Any]]
PLANS: tuple[tuple[list[Call], list[Call]], ...] = (
    ([("weather", {"city": "Oslo"}), ("book", {"nights": 2})],) * 2,
    ([("weather", {"city": "Rome"})], [("weather", {"city": "Bari"})]),
    ([("weather", {"city": "Lima"})], [("weather", {"city": "Lima"}), ("book", {"nights": 1})]),
)
"""A right prediction, one with a wrong value, one without a call; gold beside each."""

Shape = Callable[[int, list[Call], list[Call]], dict[str, Any]]


def listed(calls: Sequence[Call], name: str = "name", arguments: str = "arguments", **more: Any) -> list[Any]:
    return [{name: tool, arguments: given, **more} for tool, given in calls]


def talk(calls: Sequence[Call], given: str = "arguments") -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": "Plan it"},
        {"role": "assistant", "content": "", "tool_calls": listed(calls, arguments=given)},
    ]


def nodes(number: int, calls: list[Call]) -> dict[str, Any]:
    made = [{"task": t, "arguments": [{"name": k, "value": v} for k, v in a.items()]} for t, a in calls]
    return {
        "id": str(number),
        "user_request": "Plan it",
        "task_steps": [],
        "task_nodes": made,
        "task_links": [],
    }


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


def records(shape: Shape) -> list[dict[str, Any]]:
    return [shape(number, pred, gold) for number, (pred, gold) in enumerate(PLANS)]


def span(number: int, place: int, call: Call) -> dict[str, Any]:
    """A run of a tool; LangChain writes arguments as Python text in a field `input`."""
    given = call[1] if number else {"input": str(call[1])}
    own = {"id": f"s{number}{place}", "run_type": "tool", "name": call[0], "inputs": given, "outputs": {}}
    return {**own, "trace_id": f"t{number}", "dotted_order": f"{number}.{place}"}


def spans(number: int, calls: list[Call]) -> list[dict[str, Any]]:
    return [span(number, place, call) for place, call in enumerate(calls)]


def observations(number: int, calls: list[Call]) -> list[dict[str, Any]]:
    root = {
        "id": f"r{number}",
        "traceId": f"t{number}",
        "type": "SPAN",
        "name": "x",
        "startTime": "0",
        "input": {},
    }
    tools = listed(calls, arguments="input", traceId=f"t{number}", type="TOOL")
    return [root, *({**tool, "startTime": str(place)} for place, tool in enumerate(tools, 1))]


LAYOUTS: dict[str, Any] = {
    "tau-bench": records(
        lambda n, pred, gold: {
            "task_id": n, "trial": 0, "reward": 0.0, "traj": talk(pred),
            "info": {"task": {"instruction": "Plan it", "actions": listed(gold, arguments="kwargs")}},
        }
    ),
    "tau2-bench": {
        "tasks": records(
            lambda n, _, gold: {
                "id": str(n), "user_scenario": {"instructions": "Plan it"},
                "evaluation_criteria": {"actions": [*listed(gold), {"name": "x", "requestor": "user"}]},
            }
        )[::-1],
        "simulations": records(
            lambda n, pred, _: {
                "id": f"s{n}", "task_id": str(n), "trial": 1,
                "messages": [*talk(pred), {"role": "user", "tool_calls": listed([("x", {})])}],
            }
        ),
    },
    "tau2-bench-tasks": records(
        lambda n, _, gold: {
            "id": str(n), "user_scenario": {"instructions": {"reason_for_call": "Plan it"}},
            "evaluation_criteria": {"actions": [*listed(gold), {"name": "x", "requestor": "user"}]},
        }
    ),
    "ragas": records(
        lambda n, pred, gold: {
            "user_input": [
                {"content": "Plan it", "type": "human"},
                {"content": "", "type": "ai", "tool_calls": listed(pred, arguments="args")},
            ],
            "reference_tool_calls": listed(gold, arguments="args"),
        }
    ),
    "deepeval": records(
        lambda n, pred, gold: {
            "name": f"case {n}", "input": "Plan it", "actual_output": "Done.",
            "tools_called": listed(pred, arguments="input_parameters", description=None),
            "expected_tools": listed(gold, arguments="input_parameters", output=None),
        }
    ),
    "deepeval-camel": records(
        lambda n, pred, gold: {
            "name": f"case {n}", "input": "Plan it", "toolsCalled": listed(pred, arguments="inputParameters"),
            "expectedTools": listed(gold, arguments="inputParameters"),
        }
    ),
    "deepeval-run": {
        "testFile": "t.py",
        "testCases": records(
            lambda n, pred, gold: {
                "name": f"case {n}", "input": "Plan it", "success": n == 0,
                "toolsCalled": listed(pred, arguments="inputParameters"),
                "expectedTools": listed(gold, arguments="inputParameters"),
            }
        ),
    },
    "vertex-ai": records(
        lambda n, pred, gold: {
            "prompt": "Plan it", "response": "Done.", "reference": "Done.",
            "predicted_trajectory": listed(pred, "tool_name", "tool_input"),
            "reference_trajectory": listed(gold, "tool_name", "tool_input"),
        }
    ),
    "taskbench": records(lambda n, pred, _: nodes(n, pred)),
    "taskbench-results": records(
        lambda n, pred, _: {"id": str(n), "user_request": "Plan it", "result": nodes(n, pred)}
    ),
    "adk-results": {
        "eval_set_result_id": "r", "eval_case_results": records(
            lambda n, pred, gold: {
                "eval_id": f"e{n}", "eval_metric_result_per_invocation": [
                    {"actual_invocation": adk(n, pred), "expected_invocation": adk(n, gold)}
                ],
            }
        ),
    },
    "promptfoo": {
        "evalId": "e", "results": {
            "version": 3, "results": records(
                lambda n, pred, _: {
                    "id": str(n), "testIdx": n, "promptIdx": 0, "prompt": {"raw": "Plan it"},
                    "error": "Expected the calls", "response": {"output": listed(pred)},
                }
            ),
        },
    },
    "promptfoo-lines": records(
        lambda n, pred, _: {"id": str(n), "testIdx": n, "promptIdx": 0, "response": {"output": listed(pred)}}
    ),
    "langfuse": records(
        lambda n, pred, _: {
            "id": str(n), "htmlPath": "/t", "input": "Plan it", "output": "Done.", "observations": [
                {"type": "GENERATION", "name": "llm", "output": {"tool_calls": listed(pred)}},
                *listed(pred, arguments="input", type="TOOL", output=None),
            ],
        }
    ),
    "langfuse-page": {
        "meta": {"page": 1, "totalItems": 3},
        "data": records(
            lambda n, pred, _: {
                "id": str(n), "input": "Plan it", "observations": listed(pred, arguments="input", type="TOOL")
            }
        ),
    },
    "langfuse-observations": [o for n, (pred, _) in enumerate(PLANS) for o in observations(n, pred)],
    "langfuse-observations-page": {
        "meta": {"page": 1}, "data": [o for n, (p, _) in enumerate(PLANS) for o in observations(n, p)[::-1]],
    },
    "langsmith": records(
        lambda n, pred, _: {
            "id": str(n), "run_type": "chain", "inputs": {"question": "Plan it"}, "child_runs": [
                {"run_type": "chain", "name": "tools", "child_runs": [run]} for run in spans(n, pred)
            ],
        }
    ),
    "langsmith-runs": [s for n, (pred, _) in enumerate(PLANS) for s in spans(n, pred)][::-1],
    "inspect-ai": {
        "version": 2, "eval": {"task": "trips", "model": "m"}, "samples": records(
            lambda n, pred, gold: {
                "id": n, "epoch": 1, "input": "Plan it", "target": json.dumps(listed(gold)),
                "messages": [
                    {"role": "user", "content": "Plan it"},
                    {"role": "assistant", "content": "", "tool_calls": listed(pred, "function", id="c")},
                ],
            }
        ),
    },
    "nestools-answers": records(
        lambda n, pred, _: {
            "test_id": n, "prompt": "Plan it", "response": json.dumps(listed(pred, "api_name", "parameters")),
            "tokens": [1, 1], "raw": "",
        }
    ),
    "nestools-lists": records(
        lambda n, pred, _: {"test_id": n, "lst_response": listed(pred, "api_name", "parameters", api_id=1)}
    ),
    "deepeval-goldens": records(
        lambda n, _, gold: {"input": "Plan it", "expected_tools": listed(gold, arguments="input_parameters")}
    ),
    "vertex-ai-gold": records(
        lambda n, _, gold: {
            "prompt": "Plan it", "reference_trajectory": listed(gold, "tool_name", "tool_input")
        }
    ),
    "adk-eval-set": {
        "eval_set_id": "s", "eval_cases": records(
            lambda n, _, gold: {"eval_id": f"e{n}", "conversation": [adk(n, gold)]}
        ),
    },
    "adk-old": records(
        lambda n, _, gold: {"query": "Plan it", "expected_tool_use": listed(gold, "tool_name", "tool_input")}
    ),
    "adk-old-set": [
        {
            "name": f"e{n}", "initial_session": {}, "data": [
                {"query": "Plan it", "expected_tool_use": listed(gold, "tool_name", "tool_input")}
            ],
        }
        for n, (_, gold) in enumerate(PLANS)
    ],
    "langsmith-examples": records(
        lambda n, _, gold: {
            "id": str(n), "dataset_id": "d", "inputs": {"question": "Plan it"},
            "outputs": {"tool_calls": listed(gold)},
        }
    ),
    "nestools": records(
        lambda n, _, gold: {
            "test_id": n, "task": "Plan it", "api": [{"api_name": "weather", "parameters": {}}],
            "call": listed(gold, "api_name", "parameters", responses=[]),
        }
    ),
}  # fmt: skip
LAYOUTS["deepeval-latest"] = {"testRunData": LAYOUTS["deepeval-run"]}
LAYOUTS["adk-results-camel"] = camel(LAYOUTS["adk-results"])
LAYOUTS["adk-eval-set-camel"] = camel(LAYOUTS["adk-eval-set"])

ROWS = frameworks.frameworks()
SIDES = {"answer": 0, "gold": 1}


def write(folder: Path, name: str) -> Path:
    file = folder / f"{name}.json"
    file.write_text(json.dumps(LAYOUTS[name]), encoding="utf-8")
    return file


def test_every_row_has_a_layout_here_and_a_first_sign_that_is_looked_for() -> None:
    assert LAYOUTS.keys() == ROWS.keys()
    assert {row.sign[0].split(".")[0] for row in ROWS.values()} == frameworks.FIRST_SIGNS
    assert all(row.source and row.title and (row.answer or row.gold) for row in ROWS.values())
    assert len(tomllib.loads((ROOT / "data/frameworks.toml").read_text("utf-8"))["framework"]) == len(ROWS)


def test_the_docs_and_the_command_list_all_rows(request: pytest.FixtureRequest) -> None:
    file, (first, last) = ROOT / "docs/files.md", ("<!-- frameworks -->\n", "<!-- end of frameworks -->")
    before, _, rest = file.read_text("utf-8").partition(first)
    listed, _, after = rest.partition(last)
    made = table(frameworks.layout_rows(), "md") + "\n"
    if request.config.getoption("--update-cases"):
        file.write_text(before + first + made + last + after, encoding="utf-8")
    assert listed == made
    shown = planeval("dialects").stdout
    assert all(row.title[:40] in shown for row in ROWS.values())


@pytest.mark.parametrize("name", LAYOUTS)
def test_answers_and_gold_are_read_where_the_framework_keeps_them(name: str, tmp_path: Path) -> None:
    row = ROWS[name]
    for role, way in (("answer", row.answer), ("gold", row.gold)):
        if not way:
            with pytest.raises(InputError, match=rf"\({name}\), which hold no (answer|gold plan); name its"):
                pe.read(write(tmp_path, name), role=role)
            continue
        file = pe.read(write(tmp_path, name), role=role)
        side = 0 if way == "." else SIDES[role]
        wanted = [pair[side] for pair in PLANS][:: -1 if name == "langsmith-runs" else 1]
        plans = [pe.parse(record) for record in file.records]
        assert [[(call.tool, dict(call.arguments)) for call in plan.calls] for plan in plans] == wanted
        assert file.notes[0].endswith(f"read as {row.title} ({name})")
        questions = {record.fields.get("question", record.fields.get("prompt")) for record in file.records}
        assert not row.question or name == "promptfoo-lines" or questions == {"Plan it"}
        assert all(
            (record.id is not None) is bool(row.id and name != "deepeval-goldens") for record in file.records
        )


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_command_takes_the_file_without_a_field_option(name: str, tmp_path: Path) -> None:
    row, file = ROWS[name], write(tmp_path, name)
    both = bool(row.answer and row.gold and row.answer != ".")
    parsed = planeval("parse", file)
    assert parsed.returncode == 0
    assert f"read as {row.title} ({name})" in parsed.stderr
    stats = planeval("stats", file, "--format", "json")
    assert (stats.returncode, json.loads(stats.stdout)["plans"]) == (0, 3)
    checked = planeval("check", file, "--catalog", ROOT / "data/catalogs/nestful.json")
    assert checked.returncode == 1, checked.stderr  # none of these tools is in that catalog
    other = tmp_path / "other.json"
    sides = [pair[1 if row.answer else 0] for pair in PLANS]
    ids = [record.id for record in pe.read(file, role="answer" if row.answer else "gold").records]
    if name == "langsmith-runs":
        sides = sides[::-1]
    field = "gold" if row.answer else "prediction"
    other.write_text(
        json.dumps([{"id": key, field: listed(side)} for key, side in zip(ids, sides, strict=True)]), "utf-8"
    )
    pair = (file, file) if both else (file, other) if row.answer else (other, file)
    told = planeval("diff", *pair, "--format", "jsonl")
    states = [line.get("state") for line in map(json.loads, told.stdout.splitlines())][:3]
    assert sorted(states) == ["different", "different", "same"]
    scored = planeval("score", *(pair[:1] if both else pair), "--format", "json")
    assert json.loads(scored.stdout)["figures"]["exact"]["value"] == pytest.approx(1 / 3)
    page = planeval("report", pair[0], "--gold", pair[1], "-o", tmp_path / "page.html")
    assert (page.returncode, (tmp_path / "page.html").exists()) == (0, True), page.stderr


def test_one_record_alone_is_a_record_too(tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    for name in ("ragas", "deepeval", "vertex-ai", "tau-bench"):
        file.write_text(json.dumps(LAYOUTS[name][1]), encoding="utf-8")
        done = planeval("score", file, "--format", "json")
        assert json.loads(done.stdout)["figures"]["exact"]["n"] == 1
    file.write_text(json.dumps(LAYOUTS["taskbench"][0]), encoding="utf-8")
    assert len(pe.parse(file).calls) == 2


def test_columns_lines_tables_and_archives_hold_the_same(tmp_path: Path) -> None:
    rows = LAYOUTS["vertex-ai"]
    columns = {key: [row[key] for row in rows] for key in rows[0]}
    (tmp_path / "columns.json").write_text(json.dumps(columns), encoding="utf-8")
    (tmp_path / "lines.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    cells = ['"' + json.dumps(row[key]).replace('"', '""') + '"' for row in rows for key in row]
    width = len(rows[0])
    lines = [",".join(cells[at : at + width]) for at in range(0, len(cells), width)]
    (tmp_path / "table.csv").write_text("\n".join([",".join(rows[0]), *lines]), encoding="utf-8")
    log = LAYOUTS["inspect-ai"]
    with ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", json.dumps({key: log[key] for key in ("version", "eval")}))
        for sample in log["samples"][::-1]:
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
    for name in ("columns.json", "lines.jsonl", "table.csv", "log.eval"):
        figures = json.loads(planeval("score", tmp_path / name, "--format", "json").stdout)["figures"]
        assert (figures["exact"]["value"], figures["exact"]["n"]) == (pytest.approx(1 / 3), 3), name
    other = BytesIO()
    with ZipFile(other, "w") as archive:
        archive.writestr("word/document.xml", "<x/>")
    (tmp_path / "other.eval").write_bytes(other.getvalue())
    done = planeval("parse", tmp_path / "other.eval")
    assert (done.returncode, "a zip archive or an office document" in done.stderr) == (2, True)


def test_a_trace_of_which_no_element_is_known_to_be_a_call_is_not_one_without_calls(tmp_path: Path) -> None:
    traces = [{"id": "a", "htmlPath": "/a", "observations": ["o1", "o2"]}]
    traces += [
        {"id": "b", "htmlPath": "/b", "observations": [{"type": "SPAN", "name": "weather", "input": {}}]}
    ]
    traces += [{"id": "c", "htmlPath": "/c", "observations": []}]
    (tmp_path / "t.json").write_text(json.dumps(traces), encoding="utf-8")
    rows = planeval("parse", tmp_path / "t.json", "--format", "json").stdout.splitlines()
    assert ["error" in json.loads(row) for row in rows] == [True, True, False]


def test_turns_of_a_conversation_are_one_plan(tmp_path: Path) -> None:
    gold = [{"id": "m1", "ground_truth": [["weather(city='Oslo')"], [], ["book(nights=2)"]]}]
    steps = [[[{"weather": '{"city": "Oslo"}'}], ["It is cold."]], [], [[{"book": '{"nights": 2}'}]]]
    (tmp_path / "g.json").write_text(json.dumps(gold), encoding="utf-8")
    (tmp_path / "p.json").write_text(json.dumps([{"id": "m1", "result": steps}]), encoding="utf-8")
    assert planeval("diff", tmp_path / "p.json", tmp_path / "g.json").returncode == 0


def test_rows_of_ones_own(tmp_path: Path) -> None:
    own = '[[framework]]\nname = "ours"\nsign = ["steps"]\nanswer = "steps"\n'
    own += 'gold = "plan.right"\nid = ["key.nr"]\n'
    (tmp_path / "own.toml").write_text(own, encoding="utf-8")
    data = [{"key": {"nr": 7}, "steps": [{"name": "f"}], "plan": {"right": [{"name": "f"}]}}]
    (tmp_path / "runs.json").write_text(json.dumps(data), encoding="utf-8")
    done = planeval("score", tmp_path / "runs.json", "--wrappers", tmp_path / "own.toml")
    assert (done.returncode, "read as ours (ours)" in done.stderr) == (0, True)
    (tmp_path / "own.toml").write_text(own + 'golden = "x"\n', encoding="utf-8")
    done = planeval("score", tmp_path / "runs.json", "--wrappers", tmp_path / "own.toml")
    assert (done.returncode, "own.toml: framework 'ours': there is no key 'golden'" in done.stderr) == (
        2,
        True,
    )


def test_the_published_file_of_tau_bench_scores_without_a_word(reference: Path) -> None:
    file = reference / "vectors/taubench/gpt-4o-airline.json.gz"
    done = planeval("score", file, "--format", "json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["figures"]["exact"]["n"]) == (0, 200)
    assert "paired by id" in done.stderr
