"""What a worker says of one plan, checked line by line: a worker may lie."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from planner_eval.execution.job import Row
from planner_eval.execution.printed import OF_CALL
from planner_eval.execution.trace import Failure, Layer
from planner_eval.execution.wire import decode


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for one plan.

    Args:
        rows: The calls that were reported; values decoded.
        ended: None where the plan ran to its end, else why not.
        state: What the tools say of their state afterwards.
        seconds: Wall time in the worker.
    """

    rows: tuple[Row, ...]
    ended: Failure | None = None
    state: Any = None
    seconds: float = 0.0


class Lines:
    """The lines of one plan's output; what they say is in the attributes.

    Args:
        calls: How many calls the plan has.
    """

    def __init__(self, calls: int) -> None:
        self.calls = calls
        self.rows: list[Row] = []
        self.seen: set[int] = set()
        self.layers: tuple[Layer, ...] = ()
        self.refused: Failure | None = None
        self.state: Any = None
        self.complete = False

    def all(self, output: bytes) -> Failure | None:
        """Read every line; the trouble, if one of them is no message."""
        for line in output.split(b"\n")[:-1]:
            try:
                self.line(json.loads(line.decode()))  # bytes would have json guess their encoding
            except (ValueError, TypeError, RecursionError, IndexError):
                return Failure("worker-lied", f"the worker sent something that is no message: {line[:80]!r}")
        return None

    def line(self, data: Any) -> None:
        """Take in one parsed line.

        Raises:
            ValueError: it is no message.
        """
        head = data[0]
        if self.complete:
            raise ValueError("a line after the last")
        if head == "layers":
            self.layers = tuple(Layer(str(name), held is True, str(text)) for name, held, text in data[1])
        elif head == "refused":
            self.refused = Failure(str(data[1]), str(data[2])[:2000])
        elif head == "end":
            self.state, self.complete = decode(data[1]), True
        else:
            self.rows.append(self.row(*data))

    def row(
        self, position: Any, status: Any, value: Any, seconds: Any, attempts: Any, given: Any, printed: Any
    ) -> Row:
        """One call's row, checked and decoded."""
        if type(position) is not int or not 0 <= position < self.calls or position in self.seen:
            raise ValueError(f"no call has the position {position!r}")
        if status not in ("ok", "failed", "skipped") or type(attempts) is not int or type(printed) is not str:
            raise ValueError(f"no status: {status!r}")
        self.seen.add(position)
        decoded, problem = (decode(value), None) if status == "ok" else (None, _problem(*value))
        arguments = None if given is None else [(str(name), decode(item)) for name, item in given]
        made = Row(position, status, decoded, problem, float(seconds), attempts, arguments)
        made.printed = printed[: OF_CALL + 100]  # and how much more there was
        return made


def _problem(kind: Any, message: Any, place: Any = "") -> tuple[str, str, str]:
    return str(kind)[:200], str(message)[:1000], str(place)[:200]
