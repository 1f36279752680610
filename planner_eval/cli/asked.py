"""What planeval predict says of its run: while it goes on, and at the end."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from planner_eval.base.text import counted
from planner_eval.cli.options import emit, note
from planner_eval.cli.terminal import counted as counter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from planner_eval.cli.terminal import Counter
    from planner_eval.llm.client import Pause
    from planner_eval.prediction.folder import Rates

_SAY_EVERY = 10.0
_ASKED_FOR, _LONG = 1.0, 5.0
"""Seconds that are worth a word: of a pause that a busy server causes, and of another."""


class Asking:
    """What is done, what it took and what waits: a line on a terminal, elsewhere one every ten seconds.

    Args:
        rates: What tokens cost; None where that is not wanted.
        what: What is counted, in the plural.
    """

    def __init__(self, rates: Rates | None, what: str = "samples") -> None:
        self.rates, self.what = rates, what
        self.counter: Counter = counter(what)
        self.begun = self.said = time.monotonic()
        self.tokens, self.uncounted, self.cost = (0, 0), 0, 0.0
        self.limited = 0
        self.waits: list[tuple[float, str]] = []
        self.long = False

    def __call__(self, completed: int, total: int) -> None:
        """Take note of how many samples are done."""
        self._words()
        self.counter(completed, total)
        self._now_and_then(time.monotonic())

    def seen(self, row: Mapping[str, Any]) -> None:
        """Take note of what a row took."""
        from planner_eval.prediction.folder import sums

        totals = sums([row], self.rates)
        self.tokens = (self.tokens[0] + totals.tokens[0], self.tokens[1] + totals.tokens[1])
        self.cost += totals.cost or 0
        self.uncounted += totals.uncounted

    def paused(self, pause: Pause) -> None:
        """Take note of a request that waits; a pause of some length is told at once."""
        now = time.monotonic()
        self.limited += pause.limited
        self.waits = [w for w in self.waits if w[0] > now]
        self.waits.append((now + pause.seconds, pause.reason))
        if pause.seconds < (_ASKED_FOR if pause.limited else _LONG):
            return
        self._words()
        self.counter.show(self.counter.said)
        self._now_and_then(now, least=_SAY_EVERY if self.long else 0.0)
        self.long = True

    def _words(self) -> None:
        least = "at least " if self.uncounted else ""
        tokens_in, tokens_out = self.tokens
        tokens = f", {least}{tokens_in:,} tokens in and {tokens_out:,} out" if tokens_in or tokens_out else ""
        phrases = [f"{self.what}{tokens}"]
        phrases += [f"cost {least}{self.cost:,.2f}"] if self.rates is not None else []
        now = time.monotonic()
        if waits := [w for w in self.waits if w[0] > now]:
            last, why = max(waits)
            wait = "request waits" if len(waits) == 1 else "requests wait"
            phrases.append(f"{len(waits):,} {wait}, {last - now:.0f} s at most ({why})")
        phrases += [f"{counted(self.limited, 'answer')} of 429 so far"] if self.limited else []
        self.counter.what = ", ".join(phrases)

    def _now_and_then(self, now: float, *, least: float = _SAY_EVERY) -> None:
        if self.counter.hidden and now - self.said >= least:
            self.said = now
            note(self.counter.said)


def told_run(
    rows: Iterable[Mapping[str, Any]], folder: str, pipeline: str, progress: Asking, *, requested: int
) -> int:
    """Say what the run came to; the exit code.

    Args:
        rows: All that the folder holds.
        folder: The run's.
        pipeline: How it was asked.
        progress: What was noted on the way.
        requested: How many of the samples this command asked for.
    """
    from planner_eval.prediction.folder import ROWS, sums

    totals = sums(rows, progress.rates)
    message = f"{counted(totals.samples, 'sample')} asked with {pipeline}: {totals.answered:,} answered"
    message += "".join(f", {count:,} {code}" for code, count in totals.failed.items())
    tokens_in, tokens_out = totals.tokens
    least = "at least " if totals.uncounted else ""
    tokens = f", {least}{tokens_in:,} tokens in and {tokens_out:,} out" if tokens_in or tokens_out else ""
    amount = f"{totals.cost or 0:,.6f}".rstrip("0").rstrip(".")
    tokens += f", cost {least}{amount}" if totals.cost is not None else ""
    emit(f"{message}; {counted(totals.requests, 'request')}{tokens}\n{os.path.join(folder, ROWS)}\n", None)
    if before := totals.samples - requested:
        note(f"{counted(before, 'sample')} of these {'was' if before == 1 else 'were'} asked before")
    for code, reason in totals.reasons.items():
        note(f"{code}: {reason}")
    if totals.cost is not None and totals.uncounted:
        requests = counted(totals.uncounted, "request")
        note(f"the server did not say all the tokens of {requests}, which cost more")
    if progress.long and progress.limited:
        answers = counted(progress.limited, "time")
        note(f"the server said {answers} that there were too many requests (429): see --concurrency")
    if "context" in totals.failed:
        note("--budget TOKENS offers no more tools than fit, where the data set has lists of tools")
    if totals.again:
        which = "a command for all of them" if before else "the same command"
        note(f"{which} asks {counted(totals.again, 'sample')} again")
    return 3 if not totals.answered else int(bool(totals.failed))
