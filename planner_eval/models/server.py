"""The openai package's client, and what leaves for a server."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

from planner_eval.base.errors import InputError, ModelError

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
    if isinstance(value, str):
        return (
            value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        )
    if isinstance(value, dict):
        return {key: replace_surrogates(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [replace_surrogates(item) for item in value]
    return value


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
            f"{redact_message(repr(url))} is no address of a server: expected one like {_EXAMPLE_URL}"
        )


def retry_after(header: str | None) -> float | None:
    """A Retry-After header, in seconds or as a date, at most a minute; None for anything else.

    >>> retry_after("7"), retry_after("900"), retry_after("soon")
    (7.0, 60.0, None)
    """
    try:
        pause = float(header) if header else None
    except ValueError:
        pause = _seconds_until(str(header))
    return min(pause, MAX_PAUSE) if pause is not None and pause >= 0 else None


def _seconds_until(date: str) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(date).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return None


# ----------------------------------------------------------------------
# The openai package's client, which reads no body without an end and follows nobody to another server.
_MAX_REDIRECTS = 3


class BodyRefused(Exception):
    """A body that is not read: it is too long, or packed."""


class RedirectElsewhere(Exception):
    """A server that sends its callers, with what they ask and their key, to another one."""


def open_client(
    base_url: str | None, api_key: str | None, timeout: float, max_bytes: int, model_name: str
) -> Any:
    """A client of the package.

    Args:
        base_url: The server; None for the package's own.
        api_key: The key; None for ``OPENAI_API_KEY``.
        timeout: The longest silence, in seconds.
        max_bytes: The longest body that is read.
        model_name: What the model is called in messages.

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
            raise BodyRefused(f"the answer is packed with {packed[:20]}, which was not asked for")
        streams = (base for base in type(response.stream).__mro__ if base.__name__ == "AsyncByteStream")
        response.stream = _bounded_stream(next(streams))(response.stream, max_bytes)

    try:
        return openai.AsyncOpenAI(
            base_url=base_url,
            api_key=api_key,
            timeout=timeout,
            max_retries=0,
            default_headers={"Accept-Encoding": "identity"},
            http_client=openai.DefaultAsyncHttpxClient(
                max_redirects=_MAX_REDIRECTS, event_hooks={"response": [_follow_redirect, bounded]}
            ),
        )
    except openai.OpenAIError as problem:
        if not api_key and base_url is None:  # the package's own words tell of keys for other ends
            raise ModelError(
                f"{model_name}'s endpoint cannot be used: there is no key; set OPENAI_API_KEY, or "
                "name a server of your own, which may want none",
                code="missing",
            ) from None
        message = redact_message(str(problem), secrets=(api_key,))
        raise ModelError(f"{model_name}'s endpoint cannot be used: {message}", code="missing") from None


async def _follow_redirect(response: Any) -> None:
    """Follow a redirect only to the origin that was asked: it takes the key and the question along."""
    if not response.has_redirect_location:
        return
    origin = response.request.url
    target = origin.join(response.headers["location"])
    if (target.scheme, target.host, target.port) != (origin.scheme, origin.host, origin.port):
        shown_url = target.copy_with(username=None, password=None, query=None, fragment=None)
        raise RedirectElsewhere(
            f"its server redirects to {shown_url}, which is another one; name that if you trust it"
        )


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
