"""The interface between a metric that needs a model's opinion and whatever gives one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from planner_eval.base.errors import JudgeError

Message: TypeAlias = tuple[str, str]
"""A chat message: role (``"system"``, ``"user"`` or ``"assistant"``) and text."""


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """One question to a judge; two equal requests get one answer from a cache.

    Args:
        task: What is asked for, e.g. ``"callnavi.gpt_score"``; for records and costs by task.
        messages: The conversation so far, oldest first.
        model: The model to ask; ``""`` means whatever model the judge was set up with.
        temperature: Sampling temperature, 0.0 and up.
        max_tokens: The longest answer in tokens; None leaves it to the endpoint.
        attempt: Counted from 0; a metric that asks again because an answer was unusable counts up,
            so that a cache does not give it the unusable answer again.
        fields: What a template of the user's own is filled with, see :mod:`.templates`: names and texts.
            They are no part of the question, nor of its key.
    """

    task: str
    messages: tuple[Message, ...]
    model: str = ""
    temperature: float = 0.0
    max_tokens: int | None = None
    attempt: int = 0
    fields: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer took.

    Args:
        input_tokens: Tokens of the question, as the endpoint counted them.
        output_tokens: Tokens of the answer.
        cost: Money in the unit of the prices that the endpoint was given; None without prices, and where
            tokens were not counted.
        counted: Whether the endpoint said both counts; one that it did not say is 0 here.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    counted: bool = True


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """A judge's answer.

    Args:
        text: The answer as written.
        model: The model that answered, as the endpoint names it.
        usage: Tokens and cost of the answer when it was first given.
        cached: The answer was replayed and cost nothing now.
        tries: How many times the endpoint was asked before it answered.
    """

    text: str
    model: str = ""
    usage: Usage = Usage()
    cached: bool = False
    tries: int = 1


@runtime_checkable
class Judge(Protocol):
    """Anything that answers a :class:`JudgeRequest`."""

    def ask(self, request: JudgeRequest) -> JudgeReply:
        """The answer to `request`.

        Raises:
            JudgeError: no answer could be had; the message says why and what to do.
        """
        ...


@dataclass(frozen=True, slots=True)
class ScriptedJudge:
    """A judge that answers by a function: for tests, and for rules that need no model.

    Args:
        answer: The reply's text for a request; None where it has no answer.

    >>> ScriptedJudge(lambda request: "pass").ask(JudgeRequest("t", (("user", "ok?"),))).text
    'pass'
    """

    answer: Callable[[JudgeRequest], str | None]

    def ask(self, request: JudgeRequest) -> JudgeReply:
        """The function's answer; JudgeError where it gives None."""
        text = self.answer(request)
        if text is None:
            raise JudgeError(f"the scripted judge has no answer to a request of task {request.task!r}")
        return JudgeReply(text, model="scripted")


def request_key(request: JudgeRequest) -> str:
    """The key of the whole request, the same in every process: 32 hexadecimal digits.

    >>> request_key(JudgeRequest("t", (("user", "a"),))) == request_key(JudgeRequest("t", (("user", "b"),)))
    False
    """
    from hashlib import blake2b

    return blake2b(request_json(request).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def request_json(request: JudgeRequest) -> str:
    """The question as one JSON text with sorted keys."""
    data = asdict(request)
    del data["fields"]
    return json.dumps(data, sort_keys=True, ensure_ascii=False)
