"""Files of spans as programs leave them: objects over several lines, words between, an end cut off."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from tests.test_cli import planeval
from tests.test_traces import tool


def spans(trace: str, name: str, *more: dict[str, Any]) -> list[dict[str, Any]]:
    """A trace in which a tool is called twice for the same answer."""
    made = [tool(name, 1), tool(name, 3), *more]
    return [{**one, "context": {**one["context"], "trace_id": trace}} for one in made]


ONE, TWO = spans("0xa", "f"), spans("0xb", "g")
FOUND = [("0xa", "trace.repeated_call"), ("0xb", "trace.repeated_call")]


def agents(trace: str) -> list[dict[str, Any]]:
    data = {"type": "function", "name": "f", "input": "{}", "output": "1.09"}
    span = {"object": "trace.span", "trace_id": trace, "parent_id": None, "span_data": data}
    return [
        {"object": "trace", "id": trace, "workflow_name": "w"},
        *({**span, "id": f"{trace}{at}", "started_at": f"2026-03-02T10:00:0{at}Z"} for at in (1, 2)),
    ]


def otlp(*held: dict[str, Any]) -> dict[str, Any]:
    inner = [
        {**one, "traceId": one["context"]["trace_id"], "spanId": one["context"]["span_id"]} for one in held
    ]
    return {
        "resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {}, "spans": inner}]}]
    }


def pretty(values: list[Any]) -> str:
    return "\n".join(json.dumps(value, indent=4) for value in values) + "\n"


def lines(values: list[Any]) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def rows(path: Path, *options: str) -> list[tuple[str, str]]:
    told = planeval("check", str(path), "--format", "json", *options).stdout
    return [(row["record"], row["code"]) for row in json.loads(told)]


@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "t.txt", "t.log", "t"])
def test_objects_over_several_lines_are_taken_apart_by_trace(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(pretty([*ONE, *TWO]))
    assert rows(path) == FOUND
    read = pe.read(path).records
    assert [(one.id, len(pe.parse(one))) for one in read] == [("0xa", 2), ("0xb", 2)]
    path.write_text(pretty([*agents("trace_a"), *agents("trace_b")]))
    assert [record for record, _ in rows(path)] == ["trace_a", "trace_b"]


CUT = json.dumps(ONE[1])[:150]
BROKEN = {
    "a log line among lines": lines(ONE) + "INFO: exporting\n" + lines(TWO),
    "words among objects": "Hello\n" + pretty(ONE) + "The answer is {21}.\n" + pretty(TWO),
    "another object": lines(ONE) + '{"level": "info"}\n' + lines(TWO),
    "a cut line": lines([*ONE, *TWO]) + CUT + "\n",
    "a cut line among lines": lines(ONE) + CUT.replace("0xa", "0xz") + "\n" + lines(TWO),
    "a cut object": pretty([*ONE, *TWO]) + pretty([ONE[0]])[:200],
    "a cut array": json.dumps([*ONE, *TWO, ONE[0]], indent=2)[:-200],
    "a cut array in one line": json.dumps([*ONE, *TWO, ONE[0]])[:-200],
    "a cut collector": json.dumps(otlp(*ONE, *TWO, ONE[0]))[:-200],
    "a cut collector among lines": lines([otlp(*ONE)])
    + json.dumps(otlp(*TWO, ONE[0]))[:-200]
    + "\n"
    + lines([otlp(*TWO)]),
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("name", ["t.json", "t.jsonl"])
def test_what_is_broken_loses_no_other_span(tmp_path: Path, text: str, name: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    told = rows(path)
    assert [row for row in told if row[1] == "trace.repeated_call"] == FOUND
    assert sum(code == "unreadable" for _, code in told) == (2 if "Hello" in text else 1)
    catalog = tmp_path / "tools.json"
    catalog.write_text(json.dumps([{"name": "f", "parameters": {}}]))
    with_tools = rows(path, "--catalog", str(catalog))
    assert set(told) <= set(with_tools)


def test_a_broken_line_says_its_place_and_its_trace_that_it_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(lines(ONE) + CUT + "\n" + lines(TWO))
    done = planeval("check", str(path))
    assert done.returncode == 1
    assert "error: line 3: the span is no JSON: column " in done.stdout
    assert ("0xa", "trace.incomplete") in rows(path)
    assert ("0xb", "trace.incomplete") not in rows(path)


def test_a_trace_that_was_cut_before_its_spans_is_said(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(lines([*agents("trace_a"), agents("trace_b")[0]]))
    assert rows(path) == [("trace_a", "trace.repeated_call"), ("trace_b", "unreadable")]


def test_records_that_hold_traces_stay_records(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(lines([{"id": n, "plan": ONE} for n in "pq"]) + '{"id": "r", "plan": [' + CUT + "\n")
    assert [record.id for record in pe.read(path).records] == ["p", "q", "r"]
