"""A judge behind an OpenAI-compatible chat endpoint: :class:`.client.Client`, for callers that wait."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from planner_eval.base.errors import JudgeError, ModelError
from planner_eval.llm.bridge import Bridge
from planner_eval.llm.client import Client
from planner_eval.llm.protocol import JudgeReply, JudgeRequest
from planner_eval.llm.replies import Prices

_PATIENCE = 3
"""So many questions in a row without an answer are the end of a judge."""
DEADLINE = 900.0
"""Seconds for one question in all; a judge may be asked to wait for a minute several times."""


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible chat endpoint.

    One that says nothing to its first question, however often it is asked, is asked no other; nor is one
    that leaves three in a row without an answer, or refuses them for a wrong key, say: every further
    question would take as long.

    Args:
        model: The model to ask where a request names none.
        base_url: The server, e.g. ``"http://localhost:8000/v1"``; None for the package's default
            (``OPENAI_BASE_URL`` or OpenAI).
        api_key: The key; None for ``OPENAI_API_KEY``.
        timeout: The longest wait for the server to say something, in seconds.
        retries: How many more times to ask after a failure that may pass.
        backoff: The first pause before asking again, in seconds; it doubles up to a minute. A pause
            that the server asks for is kept instead.
        prices: For the cost of each answer; None where it is not wanted.
        sleep: How to wait.
        deadline: The longest time for one question in all, tries and pauses included, in seconds.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 60.0
    retries: int = 5
    backoff: float = 1.0
    prices: Prices | None = None
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)
    deadline: float = field(default=DEADLINE, repr=False)

    def ask(self, request: JudgeRequest) -> JudgeReply:
        """The endpoint's answer.

        Raises:
            JudgeError: the package is missing, the endpoint refuses, or it failed too often.
        """
        messages = [{"role": role, "content": text} for role, text in request.messages]
        completion = self._client.complete(
            messages,
            model=request.model or self.model,
            temperature=request.temperature,
            max_tokens=request.max_tokens or None,
        )
        try:
            reply = self._bridge.run(completion)
        except ModelError as problem:
            raise JudgeError(str(problem), code="missing" if problem.code == "missing" else "") from None
        return JudgeReply(reply.text, reply.model, reply.usage, tries=reply.tries)

    @cached_property
    def _bridge(self) -> Bridge:
        return Bridge(self._client.close)

    @cached_property
    def _client(self) -> Client:
        sleep = self.sleep

        async def pause(seconds: float) -> None:
            import asyncio

            if sleep is time.sleep:  # in a thread it would go on after the deadline, and the process with it
                await asyncio.sleep(seconds)
            else:
                await asyncio.to_thread(sleep, seconds)

        return Client(
            self.model,
            self.base_url,
            self.api_key,
            self.timeout,
            self.deadline,
            self.retries,
            self.backoff,
            patience=_PATIENCE,
            first_patience=_PATIENCE,
            silence_ends=True,
            words=True,
            prices=self.prices,
            who="the judge",
            jitter=float,
            sleep=pause,
        )
