"""Waits for asynchronous tools; imported only when a tool returns an awaitable."""

from __future__ import annotations

import asyncio
from typing import Any

from planner_eval.execution.bind import CallFailed


class _Loop(asyncio.SelectorEventLoop):
    """An event loop that needs no socket pair: a confined worker may not make one.

    The pair serves only to wake the loop from other threads and from signal handlers.
    """

    def _make_self_pipe(self) -> None:
        self._ssock = self._csock = None
        self._internal_fds = 1

    def _close_self_pipe(self) -> None:
        pass

    def _write_to_self(self) -> None:
        pass


async def _collect(items: Any, most: int) -> list[Any]:
    collected: list[Any] = []
    async for item in items:
        if len(collected) >= most:
            raise CallFailed("too-many-items", f"the generator yields more than {most:,} items")
        collected.append(item)
    return collected


async def _await(awaitable: Any) -> Any:
    return await awaitable


def wait(result: Any, most: int) -> Any:
    """The result of an awaitable, or the items of an asynchronous generator as a list.

    Args:
        result: What an asynchronous tool returned.
        most: How many items a generator may yield.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run_in_loop(result, most)
    from concurrent.futures import ThreadPoolExecutor  # inline, inside a notebook's or a server's own loop

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(_run_in_loop, result, most).result()


def _run_in_loop(result: Any, most: int) -> Any:
    loop = _Loop()
    try:
        waiting = _collect(result, most) if hasattr(type(result), "__anext__") else _await(result)
        return loop.run_until_complete(waiting)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
