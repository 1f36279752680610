"""Golden cases: a file a case, its text above the line, what it means below.

    # why: gold values hold unescaped apostrophes
    # dialect: appbench
    Restaurants: [n = reserve(#restaurant_name='Mcdonald's')]
    --- plan
    c1 Restaurants.reserve  restaurant_name="Mcdonald's"  -> n

Without a dialect the notation is recognised; ``# repair: yes`` reads with repairs. The second part is
``--- error`` where the text cannot be read. ``pytest tests/test_dialect_cases.py --update-cases``
rewrites the second parts; look at the change.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from planner_eval.base.errors import ParseError, WriteError
from planner_eval.plan.canonical import same
from planner_eval.plan.model import Plan, Ref, Template, Unresolved, references
from planner_eval.reading import dialects
from planner_eval.reading.dialects.read import parse, write
from planner_eval.reading.dialects.table import table
from tests.build import types_of

FOLDER = Path(__file__).parent / "cases"
CASES = sorted(FOLDER.glob("*/*.txt"))
"""All but the texts that tests write into files."""
HIDDEN = {"value.untyped"}
"""Notes that every case of a dialect has."""


def split(path: Path) -> tuple[dict[str, str], str, str]:
    """A case's settings, its text and its expected part."""
    text, _, expected = path.read_text(encoding="utf-8").partition("\n--- ")
    settings = {}
    while text.startswith("# ") and ": " in text.split("\n", 1)[0]:
        line, _, rest = text.partition("\n")
        key, _, value = line[2:].partition(": ")
        if key not in ("why", "dialect", "repair"):
            break
        settings[key] = value
        text = rest
    return settings, text, expected


def shown(value: Any, plan: Plan) -> str:
    """One linked value in the golden files' notation."""
    if isinstance(value, (Ref, Unresolved)):
        name = plan.calls[value.call].id if isinstance(value, Ref) else f"?{value.name}"
        return (
            f"<{name}{''.join(f'.{step}' if isinstance(step, str) else f'[{step}]' for step in value.path)}>"
        )
    if isinstance(value, Template):
        return " + ".join(shown(part, plan) for part in value.parts)
    if isinstance(value, list):
        return f"[{', '.join(shown(item, plan) for item in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {shown(item, plan)}' for key, item in value.items())}}}"
    return json.dumps(value, ensure_ascii=False)


def printed(plan: Plan) -> str:
    """A plan in the golden files' notation: a line a call, then the answer and the notes."""
    lines = []
    for call in plan.calls:
        parts = [f"{call.id} {call.tool}", *(f"{k or '(after)'}={shown(v, plan)}" for k, v in call.arguments)]
        if call.returns:
            parts.append(f"-> {', '.join(call.returns)}")
        if call.has_result:
            parts.append(f"= {json.dumps(call.result, ensure_ascii=False)}")
        lines.append("  ".join(parts))
    if plan.answer is not None:
        lines.append(f"answer  {'  '.join(f'{key}={shown(value, plan)}' for key, value in plan.answer)}")
    lines += [f"({note.code}) {note.message}" for note in plan.diagnostics if note.code not in HIDDEN]
    return "\n".join(lines or ["no call"])


def outcome(path: Path) -> tuple[Plan | None, str]:
    """The plan of a case and its second part."""
    settings, text, _ = split(path)
    try:
        plan = parse(text, dialect=settings.get("dialect"), repair=settings.get("repair") == "yes")
    except ParseError as error:
        return None, f"error\n{error}"
    head = "plan" if settings.get("dialect") else f"plan {plan.dialect}"
    return plan, f"{head}\n{printed(plan)}"


@pytest.mark.parametrize("path", CASES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_case(path: Path, request: pytest.FixtureRequest) -> None:
    plan, found = outcome(path)
    settings, _, expected = split(path)
    assert settings["why"]
    if request.config.getoption("--update-cases"):
        head = path.read_text(encoding="utf-8").partition("\n--- ")[0]
        path.write_text(f"{head}\n--- {found}\n", encoding="utf-8")
        return
    assert found.rstrip() == expected.rstrip()
    name = settings.get("dialect")
    if plan is None or name is None or not plan.calls or any(n.severity == "error" for n in plan.diagnostics):
        return
    try:
        once = write(plan, name, tools=types_of(plan))
    except WriteError:
        return
    assert same(parse(once, dialect=name, tools=types_of(plan)), plan)
    types = types_of(plan)
    assert write(parse(once, dialect=name, tools=types), name, tools=types) == once


@pytest.mark.parametrize("name", dialects.names())
def test_every_dialect_has_an_example_that_parses_and_two_cases(name: str) -> None:
    dialect = dialects.get(name)
    plan = parse(dialect.example, dialect=name)
    assert plan.calls
    assert not [note for note in plan.diagnostics if note.severity == "error"]
    assert len(list((FOLDER / name).glob("*.txt"))) >= 2
    found = parse(dialect.example)
    assert [call.name for call in found.calls] == [call.name for call in plan.calls], found.dialect
    assert len(dialect.title) <= 90


def test_all_numbers_of_notations_are_there() -> None:
    rows = {number for row in table().values() for number in row.rows} | {40, 41}
    assert rows == set(range(1, 58))


RAW = Path(__file__).parent / "cases" / "raw_outputs.json"
EXPECTED: dict[str, Any] = json.loads(RAW.read_text(encoding="utf-8"))
LEAST = 0.95


@pytest.fixture(scope="module")
def texts(reference: Path) -> dict[str, str]:
    path = reference / "datasets" / "raw_outputs" / "raw_outputs.jsonl"
    with path.open(encoding="utf-8") as file:
        return {row["id"]: row["text"] for row in map(json.loads, file)}


def reading(text: str, *, repair: bool) -> Plan | ParseError:
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
    strict, mended = reading(text, repair=False), reading(text, repair=True)
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
    named = {note.code[7:] for note in wanted.diagnostics if note.code.startswith("repair.")}
    return None if named == set(expected.get("repairs", [])) else f"repairs {sorted(named)}"


def test_outputs_are_read_as_expected(texts: dict[str, str]) -> None:
    assert texts.keys() == EXPECTED.keys()
    wrong = {key: found for key in EXPECTED if (found := difference(EXPECTED[key], texts[key])) is not None}
    shown = "\n".join(f"{key}: {found[:300]}" for key, found in wrong.items())
    assert len(wrong) <= len(EXPECTED) * (1 - LEAST), shown
    invented = [key for key in wrong if "expected an error" in wrong[key] or "expected no call" in wrong[key]]
    assert not invented, shown
