"""ReAct: Thought, Action, Action Input, Observation; an observation is the call's result."""

from __future__ import annotations

import json
import re

from planner_eval.base import grammar
from planner_eval.base.errors import ParseError, WriteError
from planner_eval.base.json_text import loads
from planner_eval.base.limits import Limits, Span, check_calls
from planner_eval.plan.model import Arguments, Plan, RawCall, RawPlan
from planner_eval.reading.dialects.conversations.messages import decode_answer
from planner_eval.reading.dialects.dialect import Dialect
from planner_eval.reading.dialects.finding.unread_calls import CutError, open_brackets
from planner_eval.reading.dialects.notations.json_calls import arguments_of
from planner_eval.reading.dialects.references import WrittenPlan, refuse_references
from planner_eval.reading.dialects.table import Wrapper

TERMINAL_DESCRIPTIONS = {
    "ACTION": "'Action:'",
    "INPUT": "'Action Input:'",
    "OBSERVATION": "'Observation:'",
    "OTHER": "'Thought:'",
}
_LABEL = re.compile(r"[^:\uff1a]*+[:\uff1a]\**+\s*+")
_FENCED = re.compile(r"```(?:json)?\s++(?P<body>[^`]*?)\s*+(?:```)?+")
_LABELS = re.compile(
    r"(?m)^([ \t]*+\**+)(thought|action input|action|observation|final answer|question)((?:[ \t]\d{1,3}+)?+)"
    r"(?=\**+\s*+[:\uff1a])",
    re.I,
)
"""Labels as the paper that the notation is from numbers them, and as some models write them."""
NO_TOOL = frozenset({"", "none", "n/a", "no action", "finish", "final answer"})
"""Actions that call nothing."""


def dialect(row: Wrapper) -> Dialect:
    """The dialect of the shape ``react``."""
    return Dialect(row.name, row.title, row.example, read, write, reference=read)


def read(text: str, limits: Limits) -> RawPlan:
    r"""Read the actions of a text.

    Raises:
        ParseError: there is no action, or an input opens JSON that is broken.

    >>> read('Action: f\nAction Input: {"a": 1}\nObservation: 2', Limits()).calls[0].result
    '2'
    """
    text = _normalize_labels(text)
    tree = grammar.run(grammar.load("react"), text, TERMINAL_DESCRIPTIONS, "react")
    calls: list[RawCall] = []
    for step in tree.children:
        if not hasattr(step, "children"):
            continue
        by_type = {token.type: token for token in step.children}
        action = by_type["ACTION"]
        name = _text_after_label(action).strip("`*")
        if name.lower() in NO_TOOL:
            continue
        end = action.start_pos + len(action.rstrip())
        arguments: Arguments = ()
        spans: tuple[Span, ...] = ()
        call = re.fullmatch(r"([^\W\d][\w.\-]*)\[(.*)\]", name, re.S)
        if "INPUT" in by_type:
            token = by_type["INPUT"]
            end = token.start_pos + len(token.rstrip())
            start, stop = _span_inside_fence(text, token.start_pos + _LABEL.match(token).end(), end)  # type: ignore[union-attr]
            at_end = end == len(text.rstrip())
            if at_end and (
                start == end or (text[start : start + 1] in ("[", "{") and open_brackets(text[start:stop]))
            ):
                raise CutError("inside an action", text=text, start=action.start_pos, dialect="react")
            arguments = _read_input(text, start, stop, len(calls), limits)
            if len(arguments) == 1 and arguments[0][0] == "0":
                spans = ((start, end),)
        elif call:
            name = call[1]
            if name.lower() in NO_TOOL:
                continue
            start = action.start_pos + action.index("[") + 1
            arguments = _read_input(text, start, start + len(call[2]), len(calls), limits)
        has_observation = "OBSERVATION" in by_type
        result = decode_answer(_text_after_label(by_type["OBSERVATION"])) if has_observation else None
        calls.append(
            RawCall(
                name,
                arguments,
                span=(action.start_pos, end),
                spans=spans,
                result=result,
                has_result=has_observation,
            )
        )
        check_calls(len(calls), limits)
    if not calls:
        raise ParseError("found no 'Action:' line", text=text, dialect="react")
    return RawPlan(tuple(calls))


def _normalize_labels(text: str) -> str:
    """A text with its labels as the grammar has them, of the same length.

    >>> _normalize_labels("action 1: find[a]")
    'Action  : find[a]'
    """
    if "Action Input:" in text or "Action Input\uff1a" in text:
        return text
    return _LABELS.sub(lambda m: f"{m[1]}{_LABEL_SPELLINGS.get(m[2].lower(), m[2])}{' ' * len(m[3])}", text)


_LABEL_SPELLINGS = {
    label.lower(): label
    for label in ("Thought", "Action Input", "Action", "Observation", "Final Answer", "Question")
}


def _text_after_label(token: str) -> str:
    """What follows a label."""
    return token[_LABEL.match(token).end() :].strip()  # type: ignore[union-attr]


def _span_inside_fence(text: str, start: int, end: int) -> Span:
    """Where an input stands, without the fence that may be around it."""
    fence = _FENCED.fullmatch(text, start, end)
    return fence.span("body") if fence else (start, end)


def _read_input(text: str, start: int, end: int, position: int, limits: Limits) -> Arguments:
    action_input = text[start:end].strip("`")
    if not action_input or action_input.lower() == "none":
        return ()
    if action_input[:1] == "{":
        try:
            values = loads(action_input, limits, "react")
        except ParseError as error:
            raise ParseError(error.reason, text=text, offset=start + error.offset, dialect="react") from None
        if len(values) == 1:
            return arguments_of(values[0], position, text)
    return (("0", action_input),)


def write(plan: Plan) -> str:
    """Write a plan as actions with JSON inputs.

    Raises:
        WriteError: the plan has references, or a name is no line.
    """
    refuse_references(plan, "react")
    lines = []
    for call in WrittenPlan(plan).calls:
        if not re.fullmatch(r"\S(?:[^\n]*\S)?", call.name) or call.name.lower() in NO_TOOL:
            raise WriteError(f"call {call.id}: {call.name!r} cannot be an action's name")
        action_input = json.dumps(call.arguments, ensure_ascii=False)
        lines.append(f"Action: {call.name}\nAction Input: {action_input}")
    return "\n".join(lines)
