"""Signals that end a run gently: noted, and acted on where nothing is half done."""

from __future__ import annotations

import signal
import threading
from typing import Any

_SIGNALS = [
    number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None
]


class Interrupted(KeyboardInterrupt):
    """A run was asked to end before all pairs were done.

    Args:
        finished: How many are done.
        total: Of how many.
        folder: Where the run is kept; None where it is not.
        what: What is counted, in the plural.
        stored: How many of those done lie in the folder; all of them when left out.
    """

    def __init__(
        self, finished: int, total: int, folder: str | None, what: str = "pairs", stored: int | None = None
    ) -> None:
        super().__init__(finished, total, folder)
        self.done, self.total, self.folder = finished, total, folder
        stored_note = "" if stored in (None, finished) or folder is None else f", {stored:,} of them"
        self.add_note(f"after {finished:,} of {total:,} {what}{stored_note or ' and' * (folder is not None)}")
        if folder is not None:
            self.add_note("kept: the same command goes on from there")


class InterruptOnSignal:
    """Has what ends this process at once end it as an interrupt does: what is temporary is removed."""

    def __init__(self) -> None:
        self.before: dict[int, Any] = {}

    def __enter__(self) -> InterruptOnSignal:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if signal.getsignal(number) is signal.SIG_DFL:
                    self.before[number] = signal.signal(number, _interrupt)
        return self

    def __exit__(self, *_error: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


class StopRequested(BaseException):
    """A signal came; no error of a pair."""


class SignalWatch:
    """Takes note of signals while a run is at work; those that are ignored stay so."""

    def __init__(self) -> None:
        self.asked = False
        self.before: dict[int, Any] = {}

    def __enter__(self) -> SignalWatch:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self.before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_error: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def _note(self, _number: int, _frame: object) -> None:
        self.asked = True

    def check(self) -> None:
        """End the run where that was asked for.

        Raises:
            Stop: it was.
        """
        if self.asked:
            raise StopRequested
