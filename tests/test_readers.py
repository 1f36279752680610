"""What the functions that find and read plans answer; a row has what is given and the answer, both by hand.

``{"text": ["a", ["b", 3]]}`` stands for the text ``abbb``; of a place, the text there is told.
"""

import ast
import json
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import pytest

from planner_eval.base.errors import ParseError, PlanevalError
from planner_eval.base.limits import Limits, Span
from planner_eval.reading.dialects.finding import cut_texts as cuts
from planner_eval.reading.dialects.finding import embedded_tokens, segments, unread_calls
from planner_eval.reading.dialects.finding.edited_text import TextEdit, TextView
from planner_eval.reading.dialects.programs.plain_calls import read_plain_calls
from planner_eval.reading.dialects.read import locate, parse, write, write_text
from planner_eval.reading.dialects.references import NOTATIONS
from planner_eval.reading.dialects.repairs import repairs
from planner_eval.reading.dialects.round_trip import write_lossy
from planner_eval.reading.dialects.table import table
from planner_eval.reading.files.shapes import Item, are_parts, shape_of
from tests.conftest import tables
from tests.test_dialect_cases import printed

TABLES = tables(__file__)


def filled(value: Any) -> Any:
    if not isinstance(value, dict) or value.keys() != {"text"}:
        return value
    return "".join(part if isinstance(part, str) else part[0] * part[1] for part in value["text"])


def listed(found: Iterable[Any]) -> list[Any]:
    return sorted(found) if isinstance(found, (set, frozenset)) else [*found]


def at(text: str, *spans: Span | None) -> list[str]:
    return [text[slice(*span)] for span in spans if span]


def read(text: str, **options: Any) -> list[Any]:
    """The notation and the plan, the remarks with the text where they stand, and where the calls do."""
    if "limits" in options:
        options["limits"] = Limits(**options["limits"])
    try:
        plan = locate(parse(text, **options))
    except ParseError as error:
        return [error.code, error.reason, error.offset, error.beyond_repair]
    notes = [[note.code, *at(text, note.span)] for note in plan.diagnostics if note.span]
    return [plan.dialect, *printed(plan).split("\n"), notes, at(text, *(call.span for call in plan.calls))]


def view(text: str, *steps: Any) -> list[Any]:
    """A text after cuts and edits, and which places of the first its places and itself are."""
    seen = TextView(text)
    for step in steps:
        seen = seen.cut(*step) if isinstance(step[0], int) else seen.edit(TextEdit(*edit) for edit in step)
    end = len(seen.text)
    return [seen.text, [*map(seen.origin, range(end + 1))], seen.span((0, end))]


def mended(text: str) -> list[Any]:
    found = repairs(TextView(text))
    return [[view.text, *([n.code[7:], *at(text, n.span)] for n in notes)] for view, notes in found]


def tags(text: str) -> list[Any]:
    groups = embedded_tokens.tags(text)
    return [[[text[t.spans[0][0] : t.spans[-1][1]], t.aside, t.framed] for t in group] for group in groups]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "read": read,
    "view": view,
    "repairs": mended,
    "tags": tags,
    "unread": lambda text, *own: at(text, unread_calls.find_unread_call(text, {*own})),
    "lost": lambda text, start, end: at(text, unread_calls.find_lost_call(text, start, end, set())),
    "before a cut": lambda text, start: [*cuts.texts_before_cut(cuts.CutError("", text=text, start=start))],
    "cut between tokens": lambda text, name: cuts.find_cut_token_call(text, [table()[name]]),
    "converted": lambda text, name, tools=None: write_lossy(parse(text), name, write_text, tools=tools),
    "written": lambda text, name, tools=None: write(parse(text), name, tools=tools),
    "reference": lambda name, text: repr(NOTATIONS[name].text(text)),
    "written reference": lambda name, of, path: NOTATIONS[name].write(of, tuple(path)),
    "name of a result": lambda name, place, label: NOTATIONS[name].name(place, label),
    "of Python": lambda name, text: getattr(segments, name)(ast.parse(text)),
    "dedented": lambda text: segments.dedent_view(TextView(text)).text,
    "shape of a record": lambda data, field=None: shape_of(data, field).what,
    "parts of one message": lambda found, broken="": are_parts([Item(x, shape_of(x)) for x in found], broken),
    "plain calls": lambda text, **options: [
        [call.name, repr(call.arguments), at(text, call.span, *call.spans)]
        for call in getattr(read_plain_calls(text, **options), "calls", ())
    ],
    "blocks": lambda text: [
        [block.view.text, block.fenced, block.label] for block in segments.split_blocks(TextView(text))
    ],
}


@pytest.mark.parametrize("name", TABLES)
def test_what_is_given_is_answered_as_by_hand(name: str) -> None:
    module, _, function = name.rpartition(".")
    of = FUNCTIONS.get(name) or getattr(import_module(f"planner_eval.reading.{module}"), function)
    wrong = []
    for *given, answer in TABLES[name]:
        named = isinstance(given[-1], dict) and given[-1].keys() == {"options"}
        options = given.pop()["options"] if named else {}
        if isinstance(options.get("limits"), int):
            options["limits"] = Limits(calls=options["limits"])
        try:
            found = json.loads(json.dumps(of(*map(filled, given), **options), default=listed))
        except PlanevalError as error:
            found = [type(error).__name__, str(error).partition("\n")[0]]
        wrong += [] if found == filled(answer) else [(given, options, found, answer)]
    assert not wrong
