"""Public verbs given what they cannot take: each says so in words, and none fails inside."""

import inspect
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.benchmarks.datasets.fetch import FetchOptions
from planner_eval.models.replies import Reply
from tests.conftest import ROOT

WRONG = (3, "zz", object())
MORE = ([1], {"zz": 3}, float("nan"), -1, 1.5, b"zz", True, [object()], {3: 4})
PLAN = "a = f(#x='1')"
TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "string"}}}}]
ROWS = [{"id": "q", "gold": PLAN, "pred": PLAN, "query": "What is it?"}]


class Echo:
    async def complete(self, messages: Any, tools: Any = None, **sampling: Any) -> Reply:
        return Reply("[]")


VERBS = [name for name in pe.__all__ if inspect.isfunction(getattr(pe, name))]


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Mapping[str, Any]]:
    """What each verb can be called with."""
    folder = tmp_path_factory.mktemp("usual")
    samples = ROOT / "data" / "samples"
    nestful = str(samples / "nestful" / "v2" / "nestful_data.jsonl")
    answers = folder / "answers.jsonl"
    line = json.loads(Path(nestful).read_text().splitlines()[0])
    answers.write_text(json.dumps({"sample_id": line["sample_id"], "pred": line["output"]}) + "\n")
    run = folder / "run"
    pe.score([PLAN], [PLAN], running=pe.Running(folder=str(run)))
    scored = pe.score_benchmark(samples / "answers" / "appbench.jsonl", samples / "appbench", "appbench")
    tasks = [{"id": "a", "query": "Now?", "tools": TOOLS}]
    tools = {"f": lambda x: x}
    data = {"name": "nestful-v2", "folder": str(samples)}
    verdicts = folder / "verdicts.jsonl"
    verdicts.write_text('{"id": "q", "verdict": true}\n')
    pair = {"pred": PLAN, "gold": PLAN}
    published = {"gold": nestful, "name": "nestful"}
    return {
        "agree": {"first": str(verdicts), "second": str(verdicts)},
        "apply": {"patch": pe.diff("f(#x='2')", PLAN), "plan": "f(#x='2')"}, "assert_same": pair,
        "assert_scores": {"preds": [PLAN], "golds": [PLAN], "at_least": {"exact": 1.0}},
        "attribute": {"rows": [*pe.evaluate(PLAN, PLAN)]},
        "chart": {"systems": {"a": scored}, "figure": "appbench-6"},
        "check": {"plan": PLAN, "catalog": TOOLS},
        "check_dataset": {"name": "nestful-v2", "reading": pe.Reading(folder=str(samples))},
        "compare": {"first": [PLAN], "second": [PLAN], "gold": [PLAN]},
        "compare_benchmark": {"systems": [str(answers), str(answers)], **published},
        "compare_effects": {**pair, "tools": tools}, "compare_structure": pair,
        "convert": {"source": PLAN, "to": "plan"}, "coverage": {"data": ROWS, "catalog": TOOLS}, "diff": pair,
        "doctor": {}, "duplicates": {"a": ROWS}, "evaluate": pair, "execute": {"plan": PLAN, "tools": tools},
        "export_dataset": {"samples": nestful, "to": "tools-jsonl", "benchmark": "nestful"},
        "fetch_dataset": {
            **data, "cache": str(folder / "cache"),
            "fetching": FetchOptions(accept=lambda file, checksum: True),
        },
        "grammar": {"catalog": TOOLS},
        "leave_out_doubts": {"scored": pe.score([PLAN, "g()"], [PLAN, PLAN]), "doubts": [2]},
        "list_datasets": {"folder": str(samples)}, "list_dialects": {},
        "make": {"n": 1, "tools": "nestful", "isolation": "inline"}, "open_sources": {"names": nestful},
        "pair": pair, "parse": {"source": PLAN}, "predict": {"samples": tasks, "model": Echo()},
        "read": {"source": ROWS}, "read_catalog": {"source": TOOLS}, "read_dataset": data,
        "read_patches": {"source": pe.diff("f(#x='2')", PLAN)}, "render": {"thing": PLAN},
        "render_many": {"things": [pe.parse(PLAN)]}, "report": pair, "reward": {}, "same": pair,
        "schema": {"name": "record"}, "score": pair, "score_benchmark": {"pred": str(answers), **published},
        "selftest": {}, "shrink": {"pred": "f(#x='2')", "gold": PLAN, "code": "argument.value"},
        "stats": {"plan": PLAN}, "suggest": {"plan": PLAN, "catalog": TOOLS},
        "table": {"runs": [str(run)], "metrics": ["exact"]}, "tool_source": {"tools": tools},
        "verify_dataset": data, "write": {"plan": pe.parse(PLAN), "dialect": "plan"},
    }  # fmt: skip


def said(name: str, called: Mapping[str, Any]) -> str | None:
    """Why a verb refuses what it is called with; None where it takes it."""
    try:
        found = getattr(pe, name)(**called)
        if isinstance(found, Iterator):
            for _ in found:
                pass
    except pe.PlanevalError as error:
        return str(error)
    except AssertionError:
        if not name.startswith("assert_"):
            raise
    return None


def keywords(name: str) -> list[str]:
    known = inspect.signature(getattr(pe, name)).parameters.values()
    return [one.name for one in known if one.kind is not one.VAR_KEYWORD]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a path names may be written."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("values", [WRONG, pytest.param(MORE, marks=pytest.mark.more)], ids=["", "more"])
@pytest.mark.parametrize("name", VERBS)
def test_what_no_verb_can_take_is_refused_in_words(
    name: str, values: Any, usual: dict[str, Mapping[str, Any]]
) -> None:
    assert said(name, usual[name]) is None
    for keyword in keywords(name):
        for value in values:
            try:
                why = said(name, {**usual[name], keyword: value})
            except Exception as error:
                pytest.fail(f"pe.{name}({keyword}={value!r}): {type(error).__name__}: {error}")
            assert why is None or why.strip(), (keyword, value)


OBJECTS = {"reading": pe.Reading, "running": pe.Running, "rules": pe.BenchmarkRules}


@pytest.mark.parametrize("name", [name for name in VERBS if OBJECTS.keys() & keywords(name)])
def test_what_no_group_of_keywords_can_hold_is_refused_in_words(
    name: str, usual: dict[str, Mapping[str, Any]]
) -> None:
    for keyword in OBJECTS.keys() & keywords(name):
        for field in OBJECTS[keyword]._fields:
            for value in WRONG:
                try:
                    why = said(name, {**usual[name], keyword: OBJECTS[keyword](**{field: value})})
                except Exception as error:
                    group = f"{keyword}.{field}={value!r}"
                    pytest.fail(f"pe.{name}({group}): {type(error).__name__}: {error}")
                assert why is None or why.strip(), (keyword, field, value)
