"""What suggested mends must not do: what the patch takes is safe, and what is doubtful stays out of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.plan.model import Call, Plan
from planner_eval.suggesting.search import Suggested
from tests.conftest import examples

LEAST = 0.6


def offered(name: str, needed: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"name": name, "parameters": {"properties": properties, "required": list(needed)}}


def asked(tools: Any, name: str, given: dict[str, Any], query: str | None = None, **more: Any) -> Suggested:
    return pe.suggest(json.dumps([{"name": name, "arguments": given}]), tools, query=query, **more)


def likely(found: Suggested) -> list[Any]:
    """What the mends that a patch may take give the arguments, or which tool they call."""
    kept = [one for each in found.faults for one in each.suggestions if one.score >= LEAST]
    return [one.get("value", one.get("name")) for mend in kept for one in mend.operations]


# ---------------------------------------------------------------- texts that name nothing
MARKS = st.text(alphabet=".[]${}<>#'/-_ 1a", max_size=8)


@pytest.mark.parametrize("text", [".", "..", "...", "[]", "[", "$.$", "${.}", " . ", "", "{{.}}", "<.>"])
@pytest.mark.parametrize("kind", ["string", "integer", "array"])
def test_a_text_of_marks_alone_names_no_output(text: str, kind: str) -> None:
    found = asked([offered("ls", path={"type": kind})], "ls", {"path": text})
    assert [one.fault.code for one in found.faults] == ["check.wrong_type"] * (kind != "string")


@examples(60)
@given(MARKS, st.sampled_from(["string", "integer"]))
def test_no_text_of_marks_ends_the_run(text: str, kind: str) -> None:
    tools = [offered("ls", path={"type": kind})]
    calls = (Call("a", "ls", (("path", text),)), Call("b", "ls", (("path", [text]),)))
    found = pe.suggest(Plan(calls), tools, query=text or None)
    assert len(found.left) <= len(found.faults)
