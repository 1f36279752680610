"""The one look before any reader is asked: a text in which it sees nothing is a text that no reader reads."""

import ast
import keyword
from random import Random

import pytest

from planner_eval.base.errors import ParseError
from planner_eval.base.limits import Limits
from planner_eval.reading import dialects
from planner_eval.reading.dialects import detect
from planner_eval.reading.dialects.detect import may_hold_call
from planner_eval.reading.dialects.finding import answers, find
from planner_eval.reading.dialects.finding.blocks import BlockReader
from planner_eval.reading.dialects.finding.edited_text import TextView
from planner_eval.reading.dialects.programs.syntax import parse_syntax
from tests.conftest import tables
from tests.test_dialect_cases import CASES, split

TABLES = tables(__file__)

WORDS = TABLES["WORDS"]


@pytest.mark.parametrize("text", [dialects.get(name).example for name in dialects.names()])
def test_every_notation_is_seen(text: str) -> None:
    assert may_hold_call(text)


def test_what_is_not_seen_reads_as_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [text for text in (*WORDS, *(split(path)[1] for path in CASES)) if not may_hold_call(text)]
    assert set(WORDS) <= set(texts)
    looked = [read_or_refuse(text) for text in texts]
    monkeypatch.setattr(find, "may_hold_call", lambda _: True)
    assert [read_or_refuse(text) for text in texts] == looked


def read_or_refuse(text: str) -> object:
    try:
        return find.find_plan(text, Limits())
    except ParseError as error:  # brackets that are no JSON
        return str(error)


MARKS = (
    *("Action", "Action 3 :", "Node:", "API:", "args:", "code>", "api_call>", "Human:", "User :", "USER:\n"),
    *("[a,", '["', "{", "}", "={", "= await f", "~~~", "### ", "Response:", "#E1", "<think>", "<|x", "("),
    *("( 1,", "f(", "user", "words", "\u201c", " ", "\t", "\n", "|", ":"),
)
"""What the looks look for, whole and broken."""


def test_what_is_looked_for_less_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Letters where no word of a notation stands, and chat tokens, which are none of the marks."""
    random = Random(5)
    texts = ["".join(random.choices(MARKS, k=random.randrange(1, 7))) for _ in range(10_000)]
    seen = [may_hold_call(text) for text in texts]
    assert 1_000 < sum(seen) < 9_000
    monkeypatch.setattr(detect, "_WORD_MARKS", ("",))
    assert [may_hold_call(text) for text in texts] == seen
    turns = [[match.span() for match in answers.TURN.finditer(text)] for text in texts]
    assert sum(map(bool, turns)) > 100
    assert [[match.span() for match in answers.HEADING.finditer(text)] for text in texts] == turns


@pytest.mark.parametrize("rest", ["", "(a=1)", " = f(a=1)", ": int = 1", " in y", " x: f(a=1)", '"', "\nf()"])
def test_prose_is_told_from_python_as_the_parser_tells_it(rest: str) -> None:
    words = [*keyword.kwlist, *keyword.softkwlist, "To", "answer", "rb"]
    reader = BlockReader("", Limits(), lambda _: pytest.fail("nobody speaks"), repair=False, located=False)
    for text in (f"{one} {other}{rest}" for one in words for other in words):
        parsed = isinstance(parse_syntax(text), ast.Module)
        assert (reader.as_python(TextView(text)) is not None) == parsed, text
