"""A model behind an OpenAI-compatible chat endpoint; needs the ``llm`` extra (package ``openai``).

What may pass is asked again: no connection, silence, a body that is no completion, 408, 409, 429, 5xx. What
the server refuses is not, nor is an answer that somebody may not like.
"""

from __future__ import annotations

import json
import os
import random
import re
import threading
import time
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from planner_eval.base.errors import InputError, ModelError
from planner_eval.models.replies import NO_TEXT, Prices, Reply, read_completion
from planner_eval.plan.model import fold

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop


# ----------------------------------------------------------------------
# What leaves for a server, and what of its words may be shown.
MAX_PAUSE = 60.0
"""Seconds; a server that asks for more is asked again then."""

_EXAMPLE_URL = "http://localhost:8000/v1"
_MAX_SHOWN = 500
_URL_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")


def replace_surrogates(value: Any) -> Any:
    r"""The data with a replacement character for each half of a surrogate pair, which UTF-8 cannot hold.

    >>> replace_surrogates({"text": ["a\ud800"]})
    {'text': ['a�']}
    """

    def clean(leaf: Any) -> Any:
        if not isinstance(leaf, str) or leaf.isascii():
            return leaf
        return leaf.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    return fold(value, clean)


def redact_message(message: str, *, secrets: Iterable[str | None] = ()) -> str:
    """What a server or its client said: short, in one line, without keys.

    >>> redact_message("no  key abcd here", secrets=("abcd",))
    'no key *** here'
    """
    for secret in secrets:
        message = message.replace(secret, "***") if secret and len(secret) > 3 else message
    message = " ".join(_URL_CREDENTIALS.sub("***@", message).split())
    text = "".join(character if character.isprintable() else "\ufffd" for character in message)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


def refuse_address(url: str | None) -> None:
    """Refuse an address of a server that can be none, before anything is asked; None is the package's own.

    Raises:
        InputError: says what an address looks like.

    >>> refuse_address("http://localhost:8000/v1")
    """
    if url is None:
        return
    try:
        address = urlsplit(url)
        good = address.scheme.lower() in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:  # a port that is no number, half an IPv6 address
        good = False
    if not good or not url.isprintable() or " " in url:
        raise InputError(
            f"{redact_message(repr(url))} is not the address of a server: expected one like {_EXAMPLE_URL}"
        )


def retry_after(header: str | None) -> float | None:
    """A Retry-After header, in seconds or as a date, at most a minute; None for anything else.

    >>> retry_after("7"), retry_after("900"), retry_after("soon")
    (7.0, 60.0, None)
    """
    from email.utils import parsedate_to_datetime

    if not header:
        return None
    try:
        pause = float(header)
    except ValueError:
        try:
            pause = parsedate_to_datetime(header).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return min(pause, MAX_PAUSE) if pause >= 0 else None


# ----------------------------------------------------------------------
# The openai package's client, which reads no body without an end and follows nobody to another server.
_MAX_REDIRECTS = 3


class BodyRefused(Exception):
    """A body that is not read: it is too long, or packed."""


class RedirectElsewhere(Exception):
    """A server that sends its callers, with what they ask and their key, to another one."""


def open_client(client: Client) -> Any:
    """A client of the package.

    Args:
        client: Ours, which says what server, key and limits.

    Raises:
        ModelError: the package or the key is missing.
    """
    try:
        import openai
    except ImportError:
        raise ModelError(
            "asking a model needs the openai package: pip install 'planner_eval[llm]'", code="missing"
        ) from None

    async def bounded(response: Any) -> None:
        """Have the body end where it becomes too long; a packed one could be of any length."""
        packed = response.headers.get("content-encoding", "identity").lower()
        if packed != "identity":
            raise BodyRefused(f"the answer is compressed with {packed[:20]}, which was not requested")
        streams = (base for base in type(response.stream).__mro__ if base.__name__ == "AsyncByteStream")
        response.stream = _bounded_stream(next(streams))(response.stream, client.max_bytes)

    try:
        return openai.AsyncOpenAI(
            base_url=client.base_url,
            api_key=client.api_key,
            timeout=client.timeout,
            max_retries=0,
            default_headers={"Accept-Encoding": "identity"},
            http_client=openai.DefaultAsyncHttpxClient(
                max_redirects=_MAX_REDIRECTS, event_hooks={"response": [_follow_redirect, bounded]}
            ),
        )
    except openai.OpenAIError as problem:
        if (
            not client.api_key and client.base_url is None
        ):  # the package's own words tell of keys for other ends
            raise ModelError(
                f"{client.who}'s endpoint cannot be used: there is no key: set OPENAI_API_KEY, "
                "or name a server without one with --url",
                code="missing",
            ) from None
        message = redact_message(str(problem), secrets=(client.api_key,))
        raise ModelError(f"{client.who}'s endpoint cannot be used: {message}", code="missing") from None


async def _follow_redirect(response: Any) -> None:
    """Follow a redirect only to the origin that was asked: it takes the key and the question along."""
    if not response.has_redirect_location:
        return
    origin = response.request.url
    target = origin.join(response.headers["location"])
    if (target.scheme, target.host, target.port) != (origin.scheme, origin.host, origin.port):
        shown_url = target.copy_with(username=None, password=None, query=None, fragment=None)
        raise RedirectElsewhere(f"its server redirects to {shown_url}: name that one if you trust it")


def _bounded_stream(base: type) -> Callable[[Any, int], Any]:
    """A stream that stops; its base is a class of whichever package the client is built on."""

    class Bounded(base):  # type: ignore[misc]
        def __init__(self, stream: Any, max_bytes: int) -> None:
            self.stream, self.most = stream, max_bytes

        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = self.most
            async for chunk in self.stream:
                left -= len(chunk)
                if left < 0:
                    raise BodyRefused(f"the answer is longer than {self.most:,} bytes")
                yield chunk

        async def aclose(self) -> None:
            await self.stream.aclose()

    return Bounded


# ----------------------------------------------------------------------
# A model behind an OpenAI-compatible chat endpoint; needs the ``llm`` extra (package ``openai``).
_RETRY_STATUSES = frozenset({408, 409, 429})
_FATAL_STATUSES = frozenset({401, 403, 404})
"""Refusals that say nothing of the one request: a wrong key, no such model, no such address."""
_CONTEXT_ERRORS = ("context_length", "context length", "context window", "context size", "too many tokens")
"""How servers say that a request does not fit the model's window."""


UNASKED = "unasked"
"""The code of a request that was not sent, because the model had left others without an answer."""


class Pause(NamedTuple):
    """That a request is asked again, but not yet.

    Args:
        seconds: How long it waits.
        reason: Why, in words.
        limited: The server said that there were too many requests (status 429).
    """

    seconds: float
    reason: str
    limited: bool


@dataclass(eq=False)
class _Retry(Exception):
    """The try failed in a way that may pass.

    Args:
        reason: Why, in words.
        pause: What the server asked for, in seconds.
        limited: It was one request too many.
        silent: Nobody was there to say anything.
        lost: It speaks against the server, not against this one request.
    """

    reason: str
    pause: float | None = None
    limited: bool = False
    silent: bool = False
    lost: bool = True

    def __str__(self) -> str:
        return self.reason


@dataclass(slots=True)
class _AnswerHistory:
    """Which tries had an answer, by their numbers in the order they were sent: when answers arrive is chance.

    Args:
        sent: How many tries there were.
        answered: The number of the last that was answered; 0 where none ever was.
        failed: Why the requests whose last tries were sent after that one have no answer, by these tries.
        silent: Nobody was there, which is the end of a model that never answered.
    """

    sent: int = 0
    answered: int = 0
    failed: dict[int, str] = field(default_factory=dict)
    silent: bool = False

    def send(self) -> int:
        self.sent += 1
        return self.sent

    def answer(self, number: int) -> None:
        self.answered = max(number, self.answered)
        self.failed = {late: reason for late, reason in self.failed.items() if late > self.answered}

    def fail(self, number: int, reason: str) -> None:
        if number > self.answered:
            self.failed[number] = reason

    @property
    def reason(self) -> str:
        """Why the last request failed."""
        return self.failed[max(self.failed)]

    def is_lost(self, first: int, patience: int) -> bool:
        if self.answered:
            return len(self.failed) >= patience
        return self.silent or len(self.failed) >= first


def _add_jitter(pause: float) -> float:
    """The pause, or up to half of it more, so that requests that failed together do not return together."""
    return pause * (1 + random.random() / 2)  # no secret depends on it


async def _sleep(seconds: float) -> None:
    import asyncio

    await asyncio.sleep(seconds)


@dataclass(frozen=True, repr=False)
class Client:
    """A model that can be asked, many times at once.

    One that leaves several requests in a row without an answer, however often it is asked, is asked no other:
    every further request would take as long.

    Args:
        model: The model's name.
        base_url: The server, e.g. ``"http://localhost:8000/v1"``; None for the package's default
            (``OPENAI_BASE_URL`` or OpenAI).
        api_key: The key; None for ``OPENAI_API_KEY``.
        timeout: The longest silence of the server, in seconds.
        deadline: The longest time for one request in all, tries and pauses included, in seconds.
        retries: How many more times to ask after a failure that may pass.
        backoff: The first pause before asking again, in seconds; it doubles up to a minute. A pause
            that the server asks for is kept instead.
        patience: So many requests in a row that fail are the end of a model that had answered before.
        first_patience: So many are the end of one that had not.
        silence_ends: One that never said anything is lost at the first request that nobody answers.
        words: An answer whose content is no text is none.
        max_bytes: The longest body that is read.
        prices: For the cost of each answer; None where it is not wanted.
        who: What the model is called in messages.
        jitter: What becomes of a pause.
        sleep: How to wait.
        paused: Is told of each pause before it begins.

    >>> Client("m", api_key="secret")
    Client(model='m', base_url=None, timeout=60.0, deadline=600.0, retries=5)
    """

    model: str
    base_url: str | None = None
    api_key: str | None = None
    timeout: float = 60.0
    deadline: float = 600.0
    retries: int = 5
    backoff: float = 1.0
    patience: int = 8
    first_patience: int = 3
    silence_ends: bool = False
    words: bool = False
    max_bytes: int = 8 * 2**20
    prices: Prices | None = None
    who: str = "the model"
    jitter: Callable[[float], float] = _add_jitter
    sleep: Callable[[float], Awaitable[None]] = _sleep
    paused: Callable[[Pause], None] | None = None
    _heard: _AnswerHistory = field(default_factory=_AnswerHistory, init=False, compare=False)
    _opened: dict[Any, Any] = field(default_factory=dict, init=False, compare=False)

    def __repr__(self) -> str:
        """The model and how long it is asked for: nothing secret."""
        times = f"timeout={self.timeout}, deadline={self.deadline}, retries={self.retries}"
        return f"Client(model={self.model!r}, base_url={self.base_url!r}, {times})"

    async def complete(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] | None = None, **sampling: Any
    ) -> Reply:
        """The model's answer; words, calls of tools, both, or neither.

        Args:
            messages: The conversation so far, as the protocol has it.
            tools: The tools on offer, as the protocol has them.
            sampling: Whatever else the request says: ``temperature``, ``max_tokens``, … ; ``model`` asks
                another model of the server.

        Raises:
            ModelError: the package is missing, the endpoint refuses, or it failed too often.
        """
        import asyncio

        body = {"model": self.model, "messages": list(messages)}
        body |= {"tools": list(tools)} if tools else {}
        body |= {key: value for key, value in sampling.items() if value is not None}
        name = f"{self.who} {body['model']}"
        self.ready()
        numbers: list[int] = []
        waits: list[Pause] = []
        try:
            async with asyncio.timeout(self.deadline):
                return await self._tries(replace_surrogates(body), numbers, waits)
        except TimeoutError:
            before = f"; before: {waits[-1].reason}" if waits else ""
            reason = f"no answer within {self.deadline:g} seconds in total{before}"
            self._heard.fail(numbers[-1], reason)
            raise ModelError(f"{name} gave {reason}") from None
        except ModelError as problem:
            raise ModelError(f"{name} {problem}", code=problem.code) from None

    def ready(self) -> None:
        """Open the package's client for this event loop, as asking does.

        Raises:
            ModelError: the package or the key is missing: nothing can be asked.
        """
        self._client()

    async def close(self) -> None:
        """Close the connections of this event loop; they open again by themselves."""
        import asyncio

        client = self._opened.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    # ------------------------------------------------------------ tries
    async def _tries(self, body: dict[str, Any], numbers: list[int], waits: list[Pause]) -> Reply:
        if self._is_lost():
            raise ModelError(f"is not asked again: {self._heard.reason}", code=UNASKED)
        pause = self.backoff
        for tries in range(1, self.retries + 2):
            numbers.append(self._heard.send())
            try:
                reply = await self._try(body, numbers)
            except _Retry as problem:
                if tries <= self.retries and not self._is_lost():
                    seconds = self.jitter(pause if problem.pause is None else problem.pause)
                    waits.append(Pause(seconds, str(problem), problem.limited))
                    if self.paused is not None:
                        self.paused(waits[-1])
                    await self.sleep(seconds)
                    pause = min(2 * pause, MAX_PAUSE)
                if tries > self.retries or self._is_lost():
                    raise self._end(problem, numbers) from None
            else:
                self._heard.answer(numbers[-1])
                return reply
        raise AssertionError("the loop above returns or raises")

    def _is_lost(self) -> bool:
        return self._heard.is_lost(self.first_patience, self.patience)

    def _end(self, problem: _Retry, numbers: list[int]) -> ModelError:
        """The end of a request that is not asked again; takes note of one that speaks against the server."""
        if problem.lost:
            self._heard.silent |= problem.silent and self.silence_ends
            reason = f"no answer before: {problem}" if problem.silent else str(problem)
            self._heard.fail(numbers[-1], reason)
        times = "once" if len(numbers) == 1 else f"{len(numbers)} times"
        return ModelError(f"was asked {times}: {problem}")

    async def _try(self, body: dict[str, Any], numbers: list[int]) -> Reply:
        """One try: the reply, _Retry where another may help, ModelError where none will."""
        import openai

        try:
            text = await self._client().post("/chat/completions", cast_to=str, body=body)
            completion = json.loads(text)
        except (BodyRefused, RedirectElsewhere, openai.OpenAIError, ValueError, RecursionError) as problem:
            raise self._failure(problem, numbers[-1]) from None
        if isinstance(completion, Mapping) and completion.get("error") and not completion.get("choices"):
            raise _Retry(f"status 200, with an error: {self._hidden(_error_text(completion['error']))}")
        reply = read_completion(completion, self.prices, len(numbers), str(body["model"]), words=self.words)
        if isinstance(reply, str):
            raise _Retry(reply, lost=reply != NO_TEXT)
        return reply

    def _failure(self, problem: Exception, number: int) -> Exception:
        """What a try that gave no JSON comes to."""
        import openai

        cause = problem.__cause__ if isinstance(problem, openai.APIConnectionError) else problem
        if isinstance(cause, BodyRefused):
            return _Retry(str(cause))
        if isinstance(cause, RedirectElsewhere):
            reason = self._hidden(cause)
            self._heard.fail(number, reason)
            return ModelError(f"was not asked: {reason}", code="refused")
        if isinstance(problem, openai.APIStatusError):
            return self._refusal(problem, number)
        if isinstance(problem, openai.APITimeoutError):
            return _Retry(f"no answer within {self.timeout:g} seconds", silent=True)
        message = self._hidden(problem)
        if isinstance(problem, openai.APIConnectionError):
            address = self._hidden(self._client().base_url)
            return _Retry(f"no connection to {address} ({message})", silent=True)
        # Else a body that the package cannot read, or that is not the JSON it claims to be.
        why = message if isinstance(problem, openai.OpenAIError) else type(problem).__name__
        return _Retry(f"no readable answer ({why})")

    def _refusal(self, problem: Any, number: int) -> Exception:
        status = problem.status_code
        if status in _RETRY_STATUSES or status >= 500:
            pause = retry_after(problem.response.headers.get("retry-after"))
            return _Retry(f"status {status}", pause, limited=status == 429)
        message = self._hidden(problem.message).removeprefix(f"Error code: {status} - ")
        text = f"refused with status {status}: {message}"
        if status in _FATAL_STATUSES:
            self._heard.fail(number, f"it {text}")
        code = "context" if any(sign in message.lower() for sign in _CONTEXT_ERRORS) else "refused"
        return ModelError(text, code=code)

    def _hidden(self, message: object) -> str:
        return redact_message(str(message), secrets=(self.api_key, self._client().api_key))

    # ------------------------------------------------------------ the package
    def _client(self) -> Any:
        """This event loop's client; connections cannot move to another."""
        import asyncio

        loop = asyncio.get_running_loop()
        if loop not in self._opened:
            self._opened[loop] = open_client(self)
        return self._opened[loop]


def _error_text(error: Any) -> str:
    """What a body says of an error, in the server's words where it has some."""
    message = error.get("message") if isinstance(error, Mapping) else error
    return message if isinstance(message, str) and message else json.dumps(error, ensure_ascii=False)


# ----------------------------------------------------------------------
# An event loop in a thread of its own, for callers that wait: from threads, or from inside another loop.
_T = TypeVar("_T")
_STOP_TIMEOUT = 5.0
"""Seconds that closing may take."""


class Bridge:
    """Runs coroutines to their end while the caller waits.

    Args:
        close: Closes what they opened in the loop, once nobody needs this any more.

    >>> async def three() -> int:
    ...     return 3
    >>> async def close() -> None:
    ...     pass
    >>> Bridge(close).run(three())
    3
    """

    def __init__(self, close: Callable[[], Awaitable[None]]) -> None:
        self._close = close
        self._lock = threading.Lock()
        self._held: tuple[int, AbstractEventLoop] | None = None

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """What the coroutine returns, or raises."""
        import asyncio

        future = asyncio.run_coroutine_threadsafe(work, self._loop())
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _loop(self) -> AbstractEventLoop:
        """This process's loop; a forked child has none of its parent's threads and starts its own."""
        import asyncio

        with self._lock:
            if self._held is None or self._held[0] != os.getpid():
                loop = asyncio.new_event_loop()
                thread = threading.Thread(target=_run_loop, args=(loop,), daemon=True)
                thread.start()
                weakref.finalize(self, _stop_loop, loop, thread, self._close, os.getpid())
                self._held = (os.getpid(), loop)
            return self._held[1]


def _run_loop(loop: AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()


def _stop_loop(
    loop: AbstractEventLoop, thread: threading.Thread, close: Callable[[], Awaitable[None]], process: int
) -> None:
    if process != os.getpid() or loop.is_closed():
        return

    async def end() -> None:
        try:
            await close()
        finally:
            loop.stop()

    loop.call_soon_threadsafe(lambda: loop.create_task(end()))
    if thread is not threading.current_thread():
        thread.join(_STOP_TIMEOUT)
