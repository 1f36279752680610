"""Whether words stand around the calls of a completion, however few, and wherever."""

from __future__ import annotations

import json
import keyword
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.later import later
from planner_eval.base.limits import Limits
from planner_eval.dialects.bare import bare
from planner_eval.dialects.beside import blank
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

_ALONE = later(r"(?m)^[ \t;*]*+([^\W\d]\w*+(?:[ \t.,:]++[^\W\d]\w*+)*+)[.,!?:*]*+[ \t]*+$")
"""A line of words, which Python may take for an expression: ``Sure.``, ``Yes, done``; bold ones too."""

_BOUND = later(r"\b([^\W\d]\w*+)[ \t]*+=")


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
    if noted and _ignored(text, source, dialect, limits):
        return True
    if not plan.calls or plan.dialect not in (*_STRICT, "code"):
        return False
    if plan.dialect == "code":
        return _alone(_beside(plan, text))
    return not _is_json(text) and _LETTER.search(_NAMING.sub(" ", _beside(plan, text))) is not None


def _ignored(text: str, source: str, dialect: str | None, limits: Limits) -> bool:
    """Whether text is ignored that is no mark, thought or chat token."""
    left = _MARK.sub(lambda match: blank(match[0]), text)
    try:
        return left == source or _noted(parse(left, dialect=dialect, limits=limits))
    except ParseError:
        return True


def _noted(plan: Plan) -> bool:
    return any(note.code == "find.text" for note in plan.diagnostics)


def _is_json(text: str) -> bool:
    inside = text.strip().removeprefix("```json").removesuffix("```").strip()
    if inside[:1] not in ("[", "{"):
        return False
    try:
        json.loads(inside)
    except (ValueError, RecursionError):
        return False
    return True


def _beside(plan: Plan, text: str) -> str:
    """What stands outside of the calls, without marks; nothing where it is not known where they stand."""
    spans = [call.span for call in plan.calls]
    if None in spans:
        spans = [call.span for call in locate(plan).calls]
    known_spans = sorted(span for span in spans if span is not None)
    if len(known_spans) < len(spans):
        return ""
    segments, position = [], 0
    for start, end in known_spans:
        segments.append(text[position:start])
        position = max(position, end)
    return _MARK.sub(" ", ";".join([*segments, text[position:]]))


def _alone(text: str) -> bool:
    """Whether a line of a program is nothing but words, none of them Python's or the name of a result."""
    bound = set(_BOUND.findall(text))
    lines = ([word.rstrip(".,:") for word in match[1].split()] for match in _ALONE.finditer(text))
    return any(
        not any(keyword.iskeyword(word) or word.partition(".")[0] in bound for word in words)
        for words in lines
    )
