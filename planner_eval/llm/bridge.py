"""An event loop in a thread of its own, for callers that wait: from threads, or from inside another loop."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

_T = TypeVar("_T")
_PATIENCE = 5.0
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
                thread = threading.Thread(target=_turn, args=(loop,), daemon=True)
                thread.start()
                weakref.finalize(self, _stop, loop, thread, self._close, os.getpid())
                self._held = (os.getpid(), loop)
            return self._held[1]


def _turn(loop: AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()


def _stop(
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
        thread.join(_PATIENCE)
