"""A model whose answers are kept in a file: nothing is paid twice, and runs can be repeated without it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from planner_eval.base.errors import ModelError
from planner_eval.llm.replies import Model, Reply, as_data, of_data
from planner_eval.llm.store import Store

_TASK = "predict"


class Kept:
    """A model that answers from a file, and asks another one only for what the file does not hold.

    The file is one of :mod:`.store`; a judge's may be the same.

    Args:
        path: The file; it is made where there is none, unless answers are only replayed.
        model: Whom to ask; None replays only: no network is needed, and the file stays as it is.
        name: The model's name, part of the key: a replay must name the model that was asked.
        repetition: Which of several answers to one request is meant, counted from 0.

    >>> import asyncio, tempfile
    >>> class Echo:
    ...     async def complete(self, messages, tools=None, **sampling):
    ...         return Reply(messages[-1]["content"])
    >>> async def twice(path):
    ...     kept = Kept(path, Echo(), name="echo")
    ...     said = [await kept.complete([{"role": "user", "content": "a"}]) for _ in range(2)]
    ...     kept.close()
    ...     return [(reply.text, reply.cached) for reply in said]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     asyncio.run(twice(Path(folder) / "model.sqlite"))
    [('a', False), ('a', True)]
    """

    def __init__(self, path: Path, model: Model | None = None, *, name: str, repetition: int = 0) -> None:
        self.model = model
        self.name = name
        self.repetition = repetition
        self._store = Store(path, writable=model is not None, wrong=_missing)

    async def complete(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] | None = None, **sampling: Any
    ) -> Reply:
        """The kept answer, or the model's, which is then kept.

        Raises:
            ModelError: there is no kept answer and no model, the model failed, or the file is no cache.
        """
        import asyncio

        request = request_text(messages, tools, model=self.name, repetition=self.repetition, **sampling)
        key = blake2b(request.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        text = self._store.find(key)
        if text is not None:
            try:
                return replace(of_data(json.loads(text)), cached=True)
            except (ValueError, TypeError, KeyError):
                raise self._store.damaged(key) from None
        if self.model is None:
            raise ModelError(
                f"{self._store.path} has no answer to this request to model {self.name!r} "
                f"({self._store.held()}), and no model is there to ask",
                code="missing",
            )
        reply = await self.model.complete(messages, tools, **sampling)
        row = (key, _TASK, self.name, _plain(request), json.dumps(as_data(reply)))
        await asyncio.to_thread(self._store.keep, row)
        return reply

    def check(self) -> None:
        """Refuse a file that is no cache before anything is asked; a new one is made.

        Raises:
            ModelError: says what the file is, or that there is none.
        """
        self._store.check()

    def close(self) -> None:
        """Close the file; it opens again by itself."""
        self._store.close()


def request_text(messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] | None, **sampling: Any) -> str:
    """A request as one JSON text with sorted keys; without what is not set.

    >>> request_text([], None, temperature=0.0, top_p=None)
    '{"messages": [], "temperature": 0.0}'
    """
    request = {key: value for key, value in sampling.items() if value is not None}
    request |= {"messages": list(messages), **({"tools": list(tools)} if tools else {})}
    return json.dumps(request, sort_keys=True, ensure_ascii=False)


def _plain(text: str) -> str:
    """The text without what SQLite cannot hold (half a surrogate pair)."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _missing(reason: str) -> ModelError:
    return ModelError(reason, code="missing")
