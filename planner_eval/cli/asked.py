"""What planeval predict says of its run: while it goes on, and at the end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from planner_eval.base.text import counted
from planner_eval.cli.options import emit, note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from planner_eval.cli.terminal import Counter
    from planner_eval.prediction.folder import Rates


def counting(progress: Counter, rates: Rates | None) -> Callable[[Mapping[str, Any]], None]:
    """Have the progress say what the rows so far took."""
    from planner_eval.prediction.folder import sums

    given = made = uncounted = 0
    cost = 0.0

    def seen(row: Mapping[str, Any]) -> None:
        nonlocal given, made, uncounted, cost
        found = sums([row], rates)
        given, made, cost = given + found.tokens[0], made + found.tokens[1], cost + (found.cost or 0)
        uncounted += found.uncounted
        least = "at least " if uncounted else ""
        money = f", cost {least}{cost:,.2f}" if rates is not None else ""
        progress.what = f"samples, {least}{given:,} tokens in and {made:,} out{money}"

    return seen


def told_run(rows: Iterable[Mapping[str, Any]], folder: str, pipeline: str, rates: Rates | None) -> int:
    """Say what the run came to; the exit code."""
    from planner_eval.prediction.folder import ROWS, sums

    found = sums(rows, rates)
    said = f"{counted(found.samples, 'sample')} asked with {pipeline}: {found.answered:,} answered"
    said += "".join(f", {count:,} {code}" for code, count in found.failed.items())
    given, made = found.tokens
    least = "at least " if found.uncounted else ""
    tokens = f", {least}{given:,} tokens in and {made:,} out" if given or made else ""
    amount = f"{found.cost or 0:,.6f}".rstrip("0").rstrip(".")
    tokens += f", cost {least}{amount}" if found.cost is not None else ""
    emit(f"{said}; {counted(found.requests, 'request')}{tokens}\n{os.path.join(folder, ROWS)}\n", None)
    for code, reason in found.reasons.items():
        note(f"{code}: {reason}")
    if found.cost is not None and found.uncounted:
        requests = counted(found.uncounted, "request")
        note(f"the server did not say all the tokens of {requests}, which cost more")
    if "context" in found.failed:
        note("--budget TOKENS offers no more tools than fit, where the data set has lists of tools")
    if found.again:
        note(f"the same command asks {counted(found.again, 'sample')} again")
    return 3 if not found.answered else int(bool(found.failed))
