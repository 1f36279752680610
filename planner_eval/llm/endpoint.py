"""A judge behind an OpenAI-compatible chat endpoint; needs the ``judge`` extra (package ``openai``)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from planner_eval.base.errors import JudgeError
from planner_eval.llm.protocol import JudgeReply, JudgeRequest, Usage

_LONGEST_PAUSE = 60.0
_PATIENCE = 3
"""So many questions in a row that nobody answers are the end of a judge that had answered before."""
_WORTH_ANOTHER_TRY = frozenset({408, 409, 429})


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in any currency.

    Args:
        input: A million tokens of questions.
        output: A million tokens of answers.
    """

    input: float
    output: float

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """The price of one answer.

        >>> Prices(input=2.5, output=10.0).cost(1000, 100)
        0.0035
        """
        return (self.input * input_tokens + self.output * output_tokens) / 1e6


class _Retry(Exception):
    """The try failed in a way that may pass.

    Args:
        reason: Why, in words.
        pause: What the server asked for, in seconds.
        silent: Nobody was there to say anything.
    """

    def __init__(self, reason: str, pause: float | None = None, *, silent: bool = False) -> None:
        super().__init__(reason)
        self.pause = pause
        self.silent = silent


@dataclass(slots=True)
class _Heard:
    """Whether a judge ever answered, and how many questions in a row it then left without an answer."""

    ever: bool = False
    silent: int = 0

    @property
    def lost(self) -> bool:
        return self.silent >= (_PATIENCE if self.ever else 1)


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible chat endpoint.

    One that leaves its first question without an answer, however often it is asked, is asked no other; nor is
    one that does so three times in a row: every further question would take as long.

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
    """

    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 60.0
    retries: int = 5
    backoff: float = 1.0
    prices: Prices | None = None
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)
    _heard: _Heard = field(default_factory=_Heard, init=False, repr=False, compare=False)

    def ask(self, request: JudgeRequest) -> JudgeReply:
        """The endpoint's answer.

        Raises:
            JudgeError: the package is missing, the endpoint refuses, or it failed too often.
        """
        if self._heard.lost:
            raise JudgeError(f"{self._name(request)} is not asked any more: nobody answered before")
        pause = self.backoff
        for tries in range(1, self.retries + 2):
            try:
                reply = self._reply(self._try(request), request, tries)
                self._heard.ever, self._heard.silent = True, 0
                return reply
            except _Retry as problem:
                if tries > self.retries:
                    self._heard.silent += problem.silent
                    times = "once" if tries == 1 else f"{tries} times"
                    raise JudgeError(f"{self._name(request)} was asked {times}: {problem}") from None
                self.sleep(pause if problem.pause is None else problem.pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
        raise AssertionError("the loop above returns or raises")

    @cached_property
    def _client(self) -> Any:
        try:
            import openai
        except ImportError:
            raise JudgeError(
                "asking a model needs the openai package: pip install 'planner_eval[judge]'"
            ) from None
        try:
            return openai.OpenAI(
                base_url=self.base_url, api_key=self.api_key, timeout=self.timeout, max_retries=0
            )
        except openai.OpenAIError as problem:
            raise JudgeError(f"the judge's endpoint cannot be used: {problem}") from None

    def _try(self, request: JudgeRequest) -> Any:
        """One try: the raw completion, _Retry where another may help, JudgeError where none will."""
        client = self._client
        import openai

        options: dict[str, Any] = {"max_tokens": request.max_tokens} if request.max_tokens else {}
        messages = [{"role": role, "content": _sendable(text)} for role, text in request.messages]
        try:
            return client.chat.completions.create(
                model=request.model or self.model,
                messages=messages,
                temperature=request.temperature,
                **options,
            )
        except openai.APIStatusError as problem:
            raise self._refusal(problem, request) from None
        except openai.APITimeoutError:
            raise _Retry(f"no answer within {self.timeout:g} seconds", silent=True) from None
        except openai.APIConnectionError as problem:
            raise _Retry(f"no connection ({problem})", silent=True) from None
        except openai.OpenAIError as problem:
            raise _Retry(f"no readable answer ({problem})") from None
        except (ValueError, RecursionError) as problem:  # a body that is not the JSON it claims to be
            raise _Retry(f"no readable answer ({type(problem).__name__})") from None

    def _refusal(self, problem: Any, request: JudgeRequest) -> Exception:
        status = problem.status_code
        if status in _WORTH_ANOTHER_TRY or status >= 500:
            return _Retry(f"status {status}", _seconds(problem.response.headers.get("retry-after")))
        return JudgeError(f"{self._name(request)} refused with status {status}: {problem.message}")

    def _reply(self, completion: Any, request: JudgeRequest, tries: int) -> JudgeReply:
        try:
            text = completion.choices[0].message.content
        except (AttributeError, IndexError, TypeError):
            raise _Retry("the answer is not a chat completion") from None
        if not isinstance(text, str):
            raise _Retry("the answer holds no text")
        usage = getattr(completion, "usage", None)
        counts = [getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens")]
        given, made = (count if isinstance(count, int) else 0 for count in counts)
        cost = self.prices.cost(given, made) if self.prices else None
        model = getattr(completion, "model", None)
        named = model if isinstance(model, str) else request.model or self.model
        return JudgeReply(text, named, Usage(given, made, cost), tries=tries)

    def _name(self, request: JudgeRequest) -> str:
        return f"the judge {request.model or self.model}"


def _sendable(text: str) -> str:
    """The text with a replacement character for each half of a surrogate pair, which UTF-8 cannot hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _seconds(header: str | None) -> float | None:
    """A Retry-After header that gives seconds, at most a minute; None for anything else."""
    try:
        pause = float(header) if header else None
    except ValueError:
        return None
    return min(pause, _LONGEST_PAUSE) if pause is not None and pause >= 0 else None
