"""What a conversation with tools shows to be wrong by what was said before each call, without gold."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import shorten
from planner_eval.plan.model import Diagnostic, Plan, leaves

_IDENTIFIER = re.compile(r"(?=\S*[a-z])(?=(?:\D*\d){3})[\w@.#:+-]{6,80}", re.I)
"""A text that names one thing: letters and three digits, no blanks. Amounts and dates are worked out."""

_AGREEMENT = re.compile(
    r"\b(?:yes|yeah|yep|yup|sure|ok|okay|please|confirm\w*|proceed|agree\w*|correct|absolutely|definitely|"
    r"go ahead|do (?:it|that|so)|sounds? (?:good|great|fine|perfect)|looks? good|that works|let'?s|perfect|"
    r"great|(?:can|could|would) (?:you|we|i)\b|i(?:'ll| will|'d| would| want| need)\b)",
    re.I,
)
"""Words by which a user agrees to something, asks for it or chooses it."""

_REFUSAL = re.compile(r"\b(?:no|not|n't|don'?t|never|stop|wait|cancel that|unsure|rather)\b", re.I)
"""Words by which an answer to what the assistant asked may be no agreement."""

_ISO_TIME = re.compile(r"\d{4}-?\d\d-?\d\d(?:[T ]?\d\d[:.]?\d\d.*)?")


class _Said(NamedTuple):
    """What stood in a conversation before a call.

    Args:
        grounds: What users, tools and instructions said, and what the model said that a user answered.
        user: What the user said last; None where no user spoke.
        asked: What the model had said before that.
    """

    grounds: str
    user: str | None
    asked: str = ""


def find_conversation_findings(
    plan: Plan, data: Any, acting: Collection[str] = (), documented: str = ""
) -> Iterator[Diagnostic]:
    """Arguments that nothing said before grounds, and acting calls before the user agreed.

    Args:
        plan: The calls of the whole conversation.
        data: Its messages, as JSON data.
        acting: The tools that are known to change something.
        documented: What is said of the tools: their defaults and choices ground an argument.

    >>> from planner_eval.reading.dialects.read import parse
    >>> talk = [{"role": "user", "content": "Cancel my order."},
    ...         {"role": "assistant", "tool_calls": [
    ...             {"id": "a", "function": {"name": "cancel", "arguments": '{"order": "W1234567"}'}}]},
    ...         {"role": "tool", "tool_call_id": "a", "content": "done"}]
    >>> [found.code for found in find_conversation_findings(parse(talk), talk, ["cancel"])]
    ['trace.ungrounded_argument', 'trace.unagreed_action']
    """
    said, known = _said_before_calls(data), _plain(documented)
    if len(said) != len(plan.calls):
        return
    for position, (call, before) in enumerate(zip(plan.calls, said, strict=True)):
        for name, value in call.arguments:
            for _, leaf in leaves(value):
                if isinstance(leaf, str) and not _is_grounded(leaf, known + before.grounds):
                    message = (
                        f"{name}: no earlier message or tool output contains {shorten(leaf, 60)!r}; "
                        "look it up, or ask the user"
                    )
                    yield Diagnostic("trace.ungrounded_argument", message, "warning", position, name)
        if call.tool in acting and before.user is not None and not _has_agreed(call.name, before):
            words = shorten(before.user, 60)
            message = f"it changes something, but the user's last message neither asks nor agrees: {words!r}"
            yield Diagnostic("trace.unagreed_action", message, "info", position)


def _has_agreed(tool: str, before: _Said) -> bool:
    """Whether the user's last words ask for a call, or answer what the model said of it with no refusal.

    Who is asked for details "so that I can book it" and gives them agrees to the booking.
    """
    words = before.user or ""
    if _AGREEMENT.search(words):
        return True
    parts = [part for part in re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", tool) if len(part) >= MIN_WORD_LENGTH]
    named = any(part.lower() in before.asked.lower() for part in parts)
    return named and not _REFUSAL.search(re.sub(r"^\W*no\W+", "", words, flags=re.I))


MIN_WORD_LENGTH = 4
"""Shorter parts of a tool's name stand in many words."""


def _is_grounded(text: str, grounds: str) -> bool:
    """Whether a text is no identifier, or stands in what was said before."""
    if _IDENTIFIER.fullmatch(text) is None or _ISO_TIME.fullmatch(text) is not None:
        return True
    return _plain(text) in grounds


def _plain(text: str) -> str:
    """A text without case and without what is between its words."""
    return re.sub(r"[\W_]+", "", text.lower())


def _said_before_calls(data: Any) -> list[_Said]:
    """What stood before each call of a list of messages; of other data nothing."""
    messages = data if isinstance(data, list) else data.get("messages") if isinstance(data, Mapping) else None
    if not isinstance(messages, list) or not all(
        isinstance(item, Mapping) and "role" in item for item in messages
    ):
        return []
    grounds: list[str] = []
    unanswered: list[str] = []
    user: str | None = None
    last_words, asked = "", ""
    said: list[_Said] = []
    for message in messages:
        words = _words(message.get("content"))
        if message["role"] == "assistant":
            calls = message.get("tool_calls") or ()
            said += [_Said("".join(grounds), user, asked)] * len(calls)
            unanswered.append(_plain(words))
            last_words = words or last_words
            continue
        if message["role"] == "user":
            user, asked = words, last_words
            grounds += unanswered
            unanswered = []
        grounds.append(_plain(words))
    return said


def _words(content: Any) -> str:
    """What a message says."""
    if content is None or isinstance(content, str):
        return content or ""
    return json.dumps(content, ensure_ascii=False)
