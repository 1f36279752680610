"""The openai package's client, which reads no body without an end and follows nobody to another server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

from planner_eval.base.errors import ModelError
from planner_eval.llm.sending import shown

_REDIRECTS = 3


class Body(Exception):
    """A body that is not read: it is too long, or packed."""


class Elsewhere(Exception):
    """A server that sends its callers, with what they ask and their key, to another one."""


def opened(base_url: str | None, api_key: str | None, timeout: float, max_bytes: int, model_name: str) -> Any:
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
            raise Body(f"the answer is packed with {packed[:20]}, which was not asked for")
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
                max_redirects=_REDIRECTS, event_hooks={"response": [_stay, bounded]}
            ),
        )
    except openai.OpenAIError as problem:
        if not api_key and base_url is None:  # the package's own words tell of keys for other ends
            raise ModelError(
                f"{model_name}'s endpoint cannot be used: there is no key; set OPENAI_API_KEY, or "
                "name a server of your own, which may want none",
                code="missing",
            ) from None
        message = shown(str(problem), secrets=(api_key,))
        raise ModelError(f"{model_name}'s endpoint cannot be used: {message}", code="missing") from None


async def _stay(response: Any) -> None:
    """Follow a redirect only to the origin that was asked: it takes the key and the question along."""
    if not response.has_redirect_location:
        return
    origin = response.request.url
    target = origin.join(response.headers["location"])
    if (target.scheme, target.host, target.port) != (origin.scheme, origin.host, origin.port):
        shown_url = target.copy_with(username=None, password=None, query=None, fragment=None)
        raise Elsewhere(
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
                    raise Body(f"the answer is longer than {self.most:,} bytes")
                yield chunk

        async def aclose(self) -> None:
            await self.stream.aclose()

    return Bounded
