"""What spares a second reading gives what that reading would have given."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

import planner_eval as pe
from planner_eval.base.errors import ParseError
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.dialects import find as search
from planner_eval.dialects.read import unlinked
from planner_eval.plan.canonical import same
from planner_eval.plan.outline import outline
from tests.inside import planeval

CALLS = (
    "a = f(#x='1', #y='it')\nb = g(#z=a, #n=2)",
    '[{"name": "f", "label": "v1", "arguments": {"x": 1, "y": true}}, '
    '{"name": "g", "arguments": {"z": "$v1.x$"}}]',
    "Sure:\n```json\n[{'name': 'f', 'arguments': {'a': None}}]\n```\nand `g(b=2)`",
    '<tool_call>\n{"name": "f", "arguments": {"a": [1, {"b": 2}]}}\n</tool_call>',
    "[f(a=1), g(b=$x$), h(c='it's')]",
    "<<function>>f(a=1)<<function>>g(b=f(a=2))",
)
PIECES = (*"[]{}()'\",:\n\\#", "```", "1", ".0", "None", "$v1.x$", "a")


def changed(text: str, random: Random) -> str:
    """A text with up to three pieces of it dropped or put in."""
    for _ in range(random.randint(0, 3)):
        at = random.randrange(len(text) + 1)
        text = text[:at] + (text[at + 1 :] if random.random() < 0.5 else random.choice(PIECES) + text[at:])
    return text


def test_what_is_beyond_repair_is_refused_with_repair() -> None:
    random, beyond = Random(1), 0
    for at in range(3_000):
        text = changed(CALLS[at % len(CALLS)], random)
        try:
            pe.parse(text)
        except ParseError as error:
            if error.beyond_repair:
                beyond += 1
                with pytest.raises(ParseError):
                    pe.parse(text, repair=True)
    assert beyond > 50


def test_texts_are_the_same_where_their_linked_plans_are() -> None:
    random = Random(2)
    found = [0, 0]
    for at in range(3_000):
        ours, theirs = (changed(CALLS[at % len(CALLS)], random) for _ in range(2))
        try:
            wanted: object = same(pe.parse(ours), pe.parse(theirs))
            found[bool(wanted)] += 1
        except ParseError as error:
            wanted = str(error)
        try:
            given: object = pe.same(ours, theirs)
        except ParseError as error:
            given = str(error)
        assert given == wanted, (ours, theirs)
    assert min(found) > 50
    for value in ("1.5", "[1]", "1e999", "9" * 30):  # which only linking judges: no outline holds it
        assert outline(unlinked(f'[{{"name": "f", "arguments": {{"a": {value}}}}}]').raw) is None
    with pytest.raises(ParseError, match="past"):
        pe.same('[{"name": "f", "arguments": {"a": 1e999}}]', '[{"name": "g", "arguments": {}}]')


def test_descriptions_of_tools_in_a_list_of_lists_call_nothing(tmp_path: Path) -> None:
    file = tmp_path / "nested.txt"
    file.write_text('Tools: [[{"name": "f", "description": "does", "parameters": {}}]]\n')
    done = planeval("parse", str(file))
    assert (done.returncode, done.stderr) == (0, "")
    assert "no call: a schema of tools or parameters" in done.stdout


def test_why_a_notation_was_taken_is_kept() -> None:
    """The listing searched each text again to say it, a third of its time; it says what that search would."""
    find, random, known = search.find, Random(3), 0
    for at in range(600):
        text = changed(CALLS[at % len(CALLS)], random)
        for repair in (False, True):
            with suppress(ParseError):
                plan = pe.parse(text, repair=repair)
                known += plan.reason is not None
                mended = any(note.code.startswith("repair.") for note in plan.diagnostics)
                if plan.reason is not None and plan.calls:
                    assert plan.reason == find(text, DEFAULT_LIMITS, repair=mended).reason, text
    assert known > 300
