"""Whether words stand around the calls of a completion, however few, and wherever."""

from __future__ import annotations

import json
from typing import Any

from planner_eval.base.later import later
from planner_eval.base.limits import Limits
from planner_eval.dialects.bare import bare
from planner_eval.dialects.read import locate, parse
from planner_eval.plan.model import Plan

_STRICT = frozenset(
    {"json", "plan", "hermes", "mistral", "llama-json", "functionary-v3.1", "anthropic-xml", "pythonic"}
)
"""Notations in which nothing but calls, what names their results, and marks has a place. In others words
are part of the notation: thoughts of ReAct, plans of ReWOO, comments of programs."""

_MARK = later(r"```\w*+|</?+[\w:|\uff5c\u2581.=+\-]{1,40}+/?+>|\[/?+[A-Z_]{1,40}+\]")
"""A fence, a tag or a token: nothing that could be a sentence, for it holds no space."""

_NAMING = later(r"(?m)^[ \t]*+(?:[-*]|\d++[.)])?+[ \t]*+(?:[\w.]++[ \t]*+=[ \t]*+)?+(?:await\b)?+|#[^\n]*+")
"""What stands before a call on its line, and comments."""

_LETTER = later(r"[^\W\d_]")


def has_words(plan: Plan, source: Any, dialect: str | None, limits: Limits) -> bool:
    """Whether words stand around the calls, thoughts and chat tokens aside.

    What a chat's message says beside the calls that it lists is none: APIs give both.

    Args:
        plan: The plan of the completion.
        source: The completion.
        dialect: The notation that is asked for.
        limits: Bounds on what is read.
    """
    noted = _noted(plan)
    if not isinstance(source, str):
        return noted
    text = bare(source)
    if noted and (text == source or _noted(parse(text, dialect=dialect, limits=limits))):
        return True
    return bool(plan.calls) and plan.dialect in _STRICT and _around(plan, text)


def _noted(plan: Plan) -> bool:
    return any(note.code == "find.text" for note in plan.diagnostics)


def _around(plan: Plan, text: str) -> bool:
    """Whether letters stand outside of the calls that are no mark and no name of a result."""
    inside = text.strip().removeprefix("```json").removesuffix("```").strip()
    if inside[:1] in ("[", "{"):
        try:
            json.loads(inside)
        except (ValueError, RecursionError):
            pass
        else:
            return False
    spans = [call.span for call in plan.calls]
    if None in spans:
        spans = [call.span for call in locate(plan).calls]
    places = sorted(span for span in spans if span is not None)
    if len(places) < len(spans):  # where a call stands is not known, so nor is what stands beside it
        return False
    parts, at = [], 0
    for start, end in places:
        parts.append(text[at:start])
        at = max(at, end)
    left = _NAMING.sub(" ", _MARK.sub(" ", ";".join([*parts, text[at:]])))
    return _LETTER.search(left) is not None


__all__ = ["has_words"]
