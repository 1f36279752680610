"""planeval data export: records to train on, whose answers read back are the gold plans."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.benchmarks.datasets.published import gold_plan
from planner_eval.models.pipelines.registry import DEFAULT_PIPELINES
from planner_eval.models.predict.predict import first_requests
from planner_eval.models.predict.prepare import prepare_run
from planner_eval.models.predict.tasks import read_tasks
from tests import inside
from tests.conftest import ROOT, tabled
from tests.prediction_samples import appbench_catalogue

SAMPLES = ROOT / "data" / "samples"
GOLDEN = ROOT / "tests" / "tables"
FLAT = ("appbench", "nestful", "callnavi")


def planeval(*argv: str) -> subprocess.CompletedProcess[str]:
    return inside.planeval(*argv, cwd=ROOT)


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("catalogue") / "catalogue.json"
    path.write_text(json.dumps(appbench_catalogue()), encoding="utf-8")
    return str(path)


def exported(name: str, to: str, catalogue: str, folder: Path = SAMPLES) -> list[Any]:
    catalog = catalogue if name == "appbench" else None
    return list(pe.export_dataset(str(folder / name), to=to, benchmark=name, catalog=catalog))


def read_back(messages: list[dict[str, Any]]) -> Any:
    """The calls of a record as data, by the reader that is not ours: numbered, references as they stand."""
    functions = [call["function"] for message in messages for call in message.get("tool_calls", ())]
    return [(one["name"], json.loads(one["arguments"])) for one in functions]


@pytest.mark.parametrize("name", FLAT)
def test_a_chat_is_what_predict_asks_and_gold_as_the_answer(name: str, catalogue: str) -> None:
    catalog = catalogue if name == "appbench" else None
    ready = prepare_run(str(SAMPLES / name), pipeline="flat", benchmark=name, catalog=catalog)
    asked = {one["id"]: one["messages"] for one in first_requests(ready)}
    samples = {one.id: one for one in read_tasks(str(SAMPLES / name), name).samples}
    found = exported(name, "chat-jsonl", catalogue)
    assert [one.id for one in found] == list(asked)
    for one in found:
        *prompt, answer = one.record["messages"]
        assert (prompt, answer["role"]) == (asked[one.id], "assistant")
        gold = gold_plan(samples[one.id])
        assert gold is not None
        assert pe.same(pe.parse(answer["content"], dialect=name), gold)


@pytest.mark.parametrize("name", sorted(DEFAULT_PIPELINES.keys() - {"own", "bfcl"}))
def test_calls_of_tools_are_golds_calls(name: str, catalogue: str) -> None:
    samples = {one.id: one for one in read_tasks(str(SAMPLES / name), name).samples}

    def dotted(text: str) -> str:
        return text.replace("-", ".").replace(" ", ".")

    for one in exported(name, "tools-jsonl", catalogue):
        messages, gold = one.record["messages"], gold_plan(samples[one.id])
        if gold is None:
            assert messages[-1]["content"] == samples[one.id].gold["content"]
            continue
        calls = read_back(messages)
        assert {called for called, _ in calls} <= {tool["function"]["name"] for tool in one.record["tools"]}
        for (called, given), call in zip(calls, gold.calls, strict=True):
            assert dotted(called).endswith(dotted(call.name))
            assert list(given) == [key for key, _ in call.arguments]
        ids = [call["id"] for message in messages for call in message.get("tool_calls", ())]
        assert len({*ids}) == len(ids)


def test_results_of_earlier_calls_are_named_and_answer_their_calls() -> None:
    record = next(one.record for one in exported("nestful", "tools-jsonl", "") if one.id == "half")
    halves = ("divide", {"arg_0": "$var_1.result$", "arg_1": 2})
    assert read_back(record["messages"]) == [("add", {"arg_0": 3, "arg_1": 5}), halves]
    for one in exported("complexfuncbench", "tools-jsonl", ""):
        waiting: list[str] = []
        for message in one.record["messages"]:
            if message["role"] == "tool":
                assert message["tool_call_id"] == waiting.pop(0)
            else:
                assert not waiting
            waiting += [call["id"] for call in message.get("tool_calls", ())]


def own(folder: Path, **first: Any) -> str:
    """Four tasks of our own, or the first alone with something else."""
    schema = {"type": "object", "properties": {"x": {"type": "number"}}}
    tools = [{"name": name, "description": name, "parameters": schema} for name in ("add", "now")]
    tasks = [{"id": key, "query": query, "tools": tools, "gold": gold} for key, query, gold in (
        ("a", "Now?", "now()"), ("b", "Add one to itself.", "v1 = add(#x='1')\nv2 = add(#x=v1)"),
        ("c", "Fly!", "fly()"), ("d", "And?", "add(x="),
    )]  # fmt: skip
    path = folder / "tasks.jsonl"
    path.write_text("".join(json.dumps(one | first) + "\n" for one in tasks[: 1 if first else 4]))
    return str(path)


def test_what_cannot_be_written_is_named_and_counted(tmp_path: Path) -> None:
    argv, out = ("data", "export", own(tmp_path), "--to"), tmp_path / "out.jsonl"
    done = planeval(*argv, "tools-jsonl")
    assert done.returncode == 1
    assert [read_back(json.loads(line)["messages"]) for line in done.stdout.splitlines()] == [[("now", {})]]
    for said in (
        "gold passes results to later calls, which tool calls cannot express", ": 1 not written, d",
        "use --to chat-jsonl --dialect nestful: 1 not written, b",
        "gold calls 'fly', which is not one of its tools: 1 not written, c", "1 of 4 samples written\n",
    ):  # fmt: skip
        assert said in done.stderr
    done = planeval(*argv, "chat-jsonl")
    assert done.returncode == 1
    assert "is a reference, which the dialect 'json' cannot express" in done.stderr
    done = planeval(*argv, "chat-jsonl", "--dialect", "nestful", "--id", "b")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)["messages"][-1]["content"]
    assert pe.same(pe.parse(answer, dialect="nestful"), pe.parse("v1 = add(#x='1')\nv2 = add(#x=v1)"))
    done = planeval(*argv, "tools-jsonl", "--id", "c", "-o", str(out))
    assert (done.returncode, out.exists()) == (3, False)


def test_calls_of_ones_own_are_gold_as_score_reads_them(tmp_path: Path) -> None:
    calls = [{"name": "add", "arguments": {"x": 1}}, {"name": "now", "arguments": {}}]
    gold, out = own(tmp_path, gold=calls), str(tmp_path / "out.jsonl")
    assert planeval("data", "export", gold, "--to", "tools-jsonl", "-o", out).returncode == 0
    done = planeval("diff", out, gold, "--pair", "position")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("to", ["chat-jsonl", "tools-jsonl"])
def test_the_records_are_as_they_were(to: str, request: pytest.FixtureRequest) -> None:
    argv = ("data", "export", str(SAMPLES / "nestful"), "--benchmark", "nestful", "--to", to)
    done = planeval(*argv)
    assert done.returncode == 0, done.stderr
    file = GOLDEN / f"{to.partition('-')[0]}.jsonl"
    if request.config.getoption("--update-cases"):
        file.write_text(done.stdout, encoding="utf-8")
    assert done.stdout == file.read_text(encoding="utf-8")
    assert planeval(*argv).stdout == done.stdout


@tabled("argv, said")
def test_what_cannot_be_exported_is_said(argv: tuple[str, ...], said: str) -> None:
    done = planeval("data", "export", *argv, "--to", "chat-jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
