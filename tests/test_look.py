"""The one look before any reader is asked: a text in which it sees nothing is a text that no reader reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner_eval import dialects
from planner_eval.base.errors import ParseError
from planner_eval.base.limits import Limits
from planner_eval.dialects import find
from planner_eval.dialects.detect import may_call
from tests.test_dialect_cases import CASES, split

WORDS = (
    "I am sorry, but the tools that I was given do not cover this. You could ask a travel agent (or look at"
    " the airline's own site) for the fares of the day; prices change often: compare several offers!",
    "It is 7 o'clock (local time), 2 * 3 = 6, and 50% of the people's answers - more or less - agree.",
    "Plan: ask first.\n1. Ask for the city\n2. Answer\n- then stop",
    "Error 404: 'not found'; see RFC 9110",
)


@pytest.mark.parametrize("text", [dialects.get(name).example for name in dialects.names()])
def test_every_notation_is_seen(text: str) -> None:
    assert may_call(text)


def test_what_is_not_seen_reads_as_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [text for text in (*WORDS, *(split(path)[1] for path in CASES)) if not may_call(text)]
    assert set(WORDS) <= set(texts)
    looked = [find.find(text, Limits()) for text in texts]
    monkeypatch.setattr(find, "may_call", lambda _: True)
    assert [find.find(text, Limits()) for text in texts] == looked


def test_what_calls_in_the_real_outputs_is_seen(reference: Path) -> None:
    path = reference / "datasets" / "raw_outputs" / "raw_outputs.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines():
        text = json.loads(line)["text"]
        try:
            found = find.find(text, Limits(), repair=True)
        except ParseError:
            assert may_call(text)
            continue
        assert may_call(text) or not found.raw.calls
