"""The grammar's own reading: what the fast paths must agree with, and where calls and arguments stand.

A notation has one where its dialect names it (``Dialect.reference``). Nothing is mended or searched for:
the text, or the inside of its fences, follows the grammar or is an error at the place where it does not.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError, LimitError, ParseError
from planner_eval.base.json_text import LARK_CHARS, check_depth, object_items
from planner_eval.base.limits import Limits, check_calls
from planner_eval.plan.model import Arguments, Diagnostic, RawCall, RawPlan, RawRef, Value, map_leaves
from planner_eval.reading import dialects
from planner_eval.reading.dialects.dialect import Dialect, RecognisedPlan
from planner_eval.reading.dialects.finding.edited_text import TextView
from planner_eval.reading.dialects.finding.segments import (
    PYTHON_DIALECTS,
    locate_error_in_source,
    split_blocks,
)
from planner_eval.reading.dialects.finding.whole_texts import read_whole_text
from planner_eval.reading.dialects.programs.program import Variables, shift_names
from planner_eval.reading.dialects.programs.python_calls import block_reader

READERS = ("fast", "grammar")


class GrammarReading(NamedTuple):
    """What the grammar read.

    Args:
        dialect: The notation.
        raw: The calls; their places are those of `text`.
        text: The text that was read.
    """

    dialect: str
    raw: RawPlan
    text: str


def dialects_with_grammar() -> tuple[str, ...]:
    """The dialects that have a grammar.

    >>> [name for name in ("json", "nestful", "appbench", "gemma", "mcp") if name in dialects_with_grammar()]
    ['json', 'nestful', 'appbench', 'gemma']
    """
    return tuple(name for name in dialects.names() if dialects.get(name).reference is not None)


def read(source: Any, dialect: str | None, limits: Limits) -> GrammarReading:
    """Read a plan by the Lark grammar of its notation.

    Args:
        source: The text; structure is written as JSON first.
        dialect: The notation's name; recognised when left out.
        limits: Bounds on nesting and calls.

    Raises:
        InputError: the notation that was named has no grammar.
        ParseError: the text does not follow the grammar, or its notation has none.
        LimitError: the text is too long for a grammar.

    >>> reading = read("h = search(#city='Rome')", None, Limits())
    >>> reading.dialect, reading.raw.calls[0].span, reading.raw.calls[0].spans
    ('appbench', (0, 24), ((11, 23),))
    """
    text = source if isinstance(source, str) else format_json(source)
    if len(text) > LARK_CHARS:
        reason = f"the text has {len(text):,} characters; a grammar reads at most {LARK_CHARS:,}"
        raise LimitError(reason, text=text, offset=LARK_CHARS)
    if dialect is None:
        dialect, raw = _recognise(text, limits)
        if not raw.calls:
            return GrammarReading(dialect, raw, text)
        if dialects.get(dialect).reference is None:
            raise ParseError(_no_grammar_message(dialect), code="parse.shape", text=text, dialect=dialect)
    named = dialects.get(dialect)
    if named.reference is None:
        raise InputError(_no_grammar_message(dialect))
    if not isinstance(source, str) and '{"' not in named.example:
        reason = f"the plan is data in a record, and the grammar of {dialect!r} reads text"
        raise ParseError(reason, code="parse.shape", text=text, dialect=dialect)
    check_depth(text, limits)
    return GrammarReading(dialect, _read(named, text, limits), text)


def _recognise(text: str, limits: Limits) -> RecognisedPlan:
    """The notation of a text, as the usual reading finds it."""
    from planner_eval.reading.dialects.finding.find import find_plan

    whole_read = read_whole_text(text, limits)
    if whole_read is not None:
        return whole_read
    result = find_plan(text, limits)
    return result._replace(raw=result.raw._replace(reason=None))


def _no_grammar_message(dialect: str) -> str:
    return f"the notation {dialect!r} has no grammar; these have: {', '.join(dialects_with_grammar())}"


def _read(dialect: Dialect, text: str, limits: Limits) -> RawPlan:
    """The whole text, else the insides of its fences."""
    reference = dialect.reference
    assert reference is not None
    try:
        return reference(text, limits)
    except LimitError:
        raise
    except ParseError as error:
        first = error
    calls: list[RawCall] = []
    notes: list[Diagnostic] = []
    answer: Arguments | None = None
    variables = Variables()
    for block in split_blocks(TextView(text)):
        if not block.fenced:
            continue
        calls_before = len(calls)
        read = (
            block_reader(variables, calls_before, by_grammar=True)
            if dialect.name in PYTHON_DIALECTS
            else reference
        )
        inner = _read_fence(read, block.view, text, limits)
        calls += shift_names(inner.calls, calls_before) if calls_before else inner.calls
        notes += [n if n.call is None else n._replace(call=n.call + calls_before) for n in inner.notes]
        answer = inner.answer if answer is None else answer
    if not calls:
        raise first
    check_calls(len(calls), limits)
    return RawPlan(tuple(variables.connected(calls)), answer, tuple(notes))


def _read_fence(
    reference: Callable[[str, Limits], RawPlan], view: TextView, text: str, limits: Limits
) -> RawPlan:
    """A fence's inside, read, with its places in the whole text."""
    try:
        raw = view.place(reference(view.text, limits))
    except ParseError as error:
        raise locate_error_in_source(error, view, text) from None
    start = view.origin(0)
    calls = (replace(call, arguments=_shift_pairs(call.arguments, start)) for call in raw.calls)
    return raw._replace(calls=tuple(calls), answer=raw.answer and _shift_pairs(raw.answer, start))


def _shift_pairs(pairs: Arguments, by: int) -> Arguments:
    """Arguments with their references' places moved."""

    def leaf(value: Value) -> Value:
        has_span = isinstance(value, RawRef) and value.span is not None
        return replace(value, span=(value.span[0] + by, value.span[1] + by)) if has_span else value

    return tuple((key, map_leaves(leaf, value)) for key, value in pairs)


def format_json(value: Any) -> str:
    """JSON data as text, with the pairs of repeated keys.

    >>> format_json({"a": [1, "é"]})
    '{"a": [1, "é"]}'
    """
    if isinstance(value, dict):
        pairs = (
            f"{json.dumps(key, ensure_ascii=False)}: {format_json(item)}" for key, item in object_items(value)
        )
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(format_json, value))}]"
    return json.dumps(value, ensure_ascii=False)
