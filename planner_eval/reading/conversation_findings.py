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
    r"great|(?:can|could|may|would) (?:you|we|i|it)\b|i(?: can| could|'ll| will|'d| would| want| need)\b)",
    re.I,
)
"""Words by which a user agrees to something, asks for it or chooses it."""

_REFUSAL = re.compile(
    r"^\W*(?:no|nope)\W*$|\b(?:(?:do|wo|would)n['’]?t|not|never|stop|wait|cancel that|unsure)\b", re.I
)
"""Words by which an answer is no agreement. "No, it should be …" asks for something else."""

_ISO_TIME = re.compile(r"\d{4}-?\d\d-?\d\d(?:[T ]?\d\d[:.]?\d\d.*)?")


class _Said(NamedTuple):
    """What stood in a conversation before a call.

    Args:
        grounds: What users, tools and instructions said, and what the model said that a user answered.
        user: What the user said last; None where no user spoke.
    """

    grounds: str
    user: str | None


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
    ['trace.ungrounded_argument']
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
    """Whether the user's last words may ask for a call, or agree to it.

    People ask in all moods, "Transfer it into the archive", "My id is 17": only who asks nothing but
    questions, or answers with a short refusal, has not agreed. A question that names what the tool does asks
    for it.
    """
    words = before.user or ""
    if _AGREEMENT.search(words):
        return True
    refused = _REFUSAL.search(words) is not None
    sentences = [sentence for sentence in re.findall(r"[^.!?\n]+[.!?]*", words) if len(sentence.split()) > 2]
    if sentences and all(sentence.rstrip().endswith("?") for sentence in sentences):
        parts = [part for part in _NAME_PARTS.split(tool) if len(part) >= MIN_WORD_LENGTH]
        return not refused and any(part.lower() in words.lower() for part in parts)
    return not (refused and len(words.split()) <= _MAX_REFUSAL_WORDS)


_NAME_PARTS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
_MAX_REFUSAL_WORDS = 15
"""In a longer message a word such as "not" is about something else."""

MIN_WORD_LENGTH = 4
"""Shorter parts of a tool's name stand in many words."""


_NUMBERED = re.compile(r"[a-z]{1,4}(\d{5,})", re.I)
"""A long number behind some letters: people say the two apart, "starts with US, numbered 9148817941"."""


def _is_grounded(text: str, grounds: str) -> bool:
    """Whether a text is no identifier, or stands in what was said before."""
    if _IDENTIFIER.fullmatch(text) is None or _ISO_TIME.fullmatch(text) is not None:
        return True
    if _plain(text) in grounds:
        return True
    numbered = _NUMBERED.fullmatch(text)
    return numbered is not None and re.search(rf"(?<![0-9]){numbered[1]}(?![0-9])", grounds) is not None


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
    said: list[_Said] = []
    for message in messages:
        words = _words(message.get("content"))
        if message["role"] == "assistant":
            calls = message.get("tool_calls") or ()
            said += [_Said("".join(grounds), user)] * len(calls)
            unanswered.append(_plain(words))
            continue
        if message["role"] == "user":
            user = words
            grounds += unanswered
            unanswered = []
        grounds.append(_plain(words))
    return said


def _words(content: Any) -> str:
    """What a message says."""
    if content is None or isinstance(content, str):
        return content or ""
    return json.dumps(content, ensure_ascii=False)
