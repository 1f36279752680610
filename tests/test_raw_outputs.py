"""The 252 genuine model outputs against the outcomes that were written down before any parser ran."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planner_eval.base.errors import ParseError
from planner_eval.dialects.read import parse
from planner_eval.plan.model import Plan, Ref, references

EXPECTED: dict[str, Any] = json.loads(
    (Path(__file__).parent / "cases" / "raw_outputs.json").read_text(encoding="utf-8")
)
LEAST = 0.95


@pytest.fixture(scope="module")
def texts(reference: Path) -> dict[str, str]:
    path = reference / "datasets" / "raw_outputs" / "raw_outputs.jsonl"
    with path.open(encoding="utf-8") as file:
        return {row["id"]: row["text"] for row in map(json.loads, file)}


def outcome(text: str, *, repair: bool) -> Plan | ParseError:
    try:
        return parse(text, repair=repair)
    except ParseError as error:
        return error


def alike(a: Any, b: Any) -> bool:
    """Equality of JSON data in which true is not 1."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(alike(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(alike, a, b))
    return bool(a == b) and isinstance(a, bool) == isinstance(b, bool)


def shape(plan: Plan) -> tuple[list[dict[str, Any]], list[str]]:
    """A plan's calls with their plain arguments, and its references, as the expectations say them."""
    calls, found = [], []
    for position, call in enumerate(plan.calls):
        plain = {}
        for name, value in call.arguments:
            refs = [ref for _, ref in references(value)]
            found += [str([position, name or None, r.call if isinstance(r, Ref) else r.name]) for r in refs]
            if not refs:
                plain[name] = value
        calls.append({"name": call.tool, "arguments": plain})
    return calls, sorted(found)


def difference(expected: dict[str, Any], text: str) -> str | None:
    """How the two readings of a text differ from what is expected of it; None where they do not."""
    strict, mended = outcome(text, repair=False), outcome(text, repair=True)
    if expected["outcome"] == "error":
        for found in (strict, mended):
            if not isinstance(found, ParseError):
                return f"read as {shape(found)[0]}, expected an error"
            if found.line != expected["where"]["line"]:
                return f"error in line {found.line}, expected in line {expected['where']['line']}"
        return None
    wanted = mended if expected.get("mode") == "repair" else strict
    if isinstance(wanted, ParseError):
        return f"not read: {wanted.reason}"
    if expected["outcome"] == "no_call":
        return None if not wanted.calls else f"read as {shape(wanted)[0]}, expected no call"
    if expected["mode"] == "repair" and not isinstance(strict, ParseError):
        return "read strictly, expected a repair"
    calls, refs = shape(wanted)
    if not alike(calls, expected["calls"]):
        return f"read as {calls}"
    if refs != sorted(map(str, expected.get("references", []))):
        return f"references {refs}, expected {expected.get('references')}"
    named = {
        note.code.removeprefix("repair.") for note in wanted.diagnostics if note.code.startswith("repair.")
    }
    return None if named == set(expected.get("repairs", [])) else f"repairs {sorted(named)}"


def test_outputs_are_read_as_expected(texts: dict[str, str]) -> None:
    assert texts.keys() == EXPECTED.keys()
    wrong = {key: found for key in EXPECTED if (found := difference(EXPECTED[key], texts[key])) is not None}
    shown = "\n".join(f"{key}: {found[:300]}" for key, found in wrong.items())
    assert len(wrong) <= len(EXPECTED) * (1 - LEAST), shown
    invented = [key for key in wrong if "expected an error" in wrong[key] or "expected no call" in wrong[key]]
    assert not invented, shown


def test_data_reads_as_its_text(texts: dict[str, str]) -> None:
    for key, expected in EXPECTED.items():
        if expected["outcome"] != "calls" or expected["mode"] != "strict":
            continue
        try:
            data = json.loads(texts[key])
        except ValueError:
            continue
        if isinstance(data, list) and all(isinstance(item, str) for item in data):
            continue
        assert shape(parse(data)) == shape(parse(texts[key])), key


def test_places_point_into_the_text(texts: dict[str, str]) -> None:
    for key, expected in EXPECTED.items():
        found = outcome(texts[key], repair=True)
        if isinstance(found, ParseError) or expected["outcome"] != "calls":
            continue
        for call in found.calls:
            if call.span is not None and found.dialect in (
                "pythonic",
                "code",
                "openai-programmatic",
                "gorilla",
            ):
                start, end = call.span
                assert call.name.split(".")[-1].split("_")[0] in texts[key][start:end], key
