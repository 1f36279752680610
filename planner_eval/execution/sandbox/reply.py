"""What a worker says of one plan, checked line by line: a worker may lie.

The tools share a process with what writes these lines and can write to the same pipe. Two lines come before
any tool runs and are believed for that reason: ``["layers", …]``, written before the tools are loaded, and
``["begin", token]``. What follows is checked by type and range against the plan that was sent; where
something else comes, the plan has failed, and nothing of it is repeated in planeval's own words.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from planner_eval.execution.printed import MAX_CALL_CHARACTERS
from planner_eval.execution.sandbox.job import Program, Row
from planner_eval.execution.sandbox.wire import decode
from planner_eval.execution.trace import Failure, Layer

_MAX_REASON_LENGTH = 600


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for one plan.

    Args:
        rows: The calls that were reported; values decoded.
        ended: None where the plan ran to its end, else why not.
        state: What the tools say of their state afterwards.
        seconds: Wall time in the worker.
        turns: The same after each turn that makes calls, of a conversation of several.
    """

    rows: tuple[Row, ...]
    ended: Failure | None = None
    state: Any = None
    seconds: float = 0.0
    turns: tuple[tuple[int, Any], ...] = ()


class ReplyReader:
    r"""The lines of one plan's output; what they say is in the attributes.

    Args:
        program: The plan that was sent.
        token: What was sent with it, and with no other.
        seconds: How long the plan took, as seen from here: no call took longer.

    >>> from planner_eval.execution.sandbox.job import CallSettings
    >>> said = ReplyReader(Program([], [], [], "", CallSettings()), "t1", 1.0)
    >>> str(said.all(b'["layers",null]\n["begin","t2"]\n'))
    'worker-lied: sent an invalid reply: line 2: not the line that begins this plan'
    """

    def __init__(self, program: Program, token: str, seconds: float) -> None:
        self.program, self.token, self.seconds = program, token, seconds
        self.rows: list[Row] = []
        self.seen: set[int] = set()
        self.layers: tuple[Layer, ...] = ()
        self.unloadable: str | None = None
        self.state: Any = None
        self.turns: list[tuple[int, Any]] = []
        self.stopped: Failure | None = None
        self.complete = False
        self._next = self._layers

    def all(self, output: bytes) -> Failure | None:
        """Read every line; the trouble, if something else came."""
        *lines, remainder = output.split(b"\n")
        for number, line in enumerate(lines, 1):
            try:
                self._next(_parse_line(line))
            except ValueError as error:
                return _invalid_reply(number, str(error))
        return _invalid_reply(len(lines) + 1, "half a line") if remainder else None

    # ------------------------------------------------------------ one line
    def _layers(self, data: list[Any]) -> None:
        if data[0] != "layers" or len(data) != 2:
            raise ValueError("not the line with the layers of isolation")
        if data[1] is not None:
            self.layers = tuple(map(_read_layer, _expect_list(data[1])))
        self._next = self._begin

    def _begin(self, data: list[Any]) -> None:
        if data[0] == "unloadable" and len(data) == 2 and type(data[1]) is str:
            self.unloadable, self._next = data[1][:_MAX_REASON_LENGTH], self._nothing
        elif data == ["begin", self.token]:
            self._next = self._body
        else:
            raise ValueError("not the line that begins this plan")

    def _body(self, data: list[Any]) -> None:
        if data[0] == "turn":
            self._turn(data)
            return
        if data[0] == "ended":
            self._stop(data)
            return
        if data[0] != "end":
            self.rows.append(self._row(data))
            return
        if len(data) != 2 or (data[1] is not None and not self.program.manner.state):
            raise ValueError("an end with an unrequested state")
        if len(self.rows) < len(self.program.steps):
            raise ValueError("an end before every call")
        self.state, self.complete, self._next = _decode_value(data[1]), True, self._nothing

    def _turn(self, data: list[Any]) -> None:
        """A turn's end, in order, once its calls have been told."""
        due_turn = self.program.turns[len(self.turns) :][:1] if self.program.manner.state else []
        if len(data) != 3 or type(data[1]) is not int or [data[1]] != [turn for turn, _ in due_turn]:
            raise ValueError("an unexpected end of a turn")
        calls = sum(map(len, self.program.groups[: due_turn[0][1]])) + len(self.program.looped)
        if len(self.rows) != calls:
            raise ValueError("the end of a turn before its calls")
        self.turns.append((data[1], _decode_value(data[2])))

    def _stop(self, data: list[Any]) -> None:
        """Why the plan could not begin in its state, or its tools do not say theirs."""
        if len(data) != 3 or data[1] not in ("initial-state", "worker-died") or type(data[2]) is not str:
            raise ValueError("an end for an unknown reason")
        if data[1] == "initial-state" and self.rows:
            raise ValueError("an end for an impossible reason")
        self.stopped = Failure(data[1], data[2][:_MAX_REASON_LENGTH])
        self.complete, self._next = True, self._nothing

    def _nothing(self, data: list[Any]) -> None:
        raise ValueError("a line after the last")

    # ------------------------------------------------------------ one call
    def _row(self, data: list[Any]) -> Row:
        """One call's row, checked and decoded."""
        if len(data) != 7:
            raise ValueError("a row of another length")
        position, status, value, seconds, attempts, raw_arguments, printed = data
        if type(position) is not int or not 0 <= position < len(self.program.steps) or position in self.seen:
            raise ValueError("a row of an unknown call, or a second row of a call")
        if type(seconds) is not float or not 0 <= seconds <= self.seconds:
            raise ValueError("a time that no call can have taken")
        if type(attempts) is not int or not 0 <= attempts <= self.program.manner.retries + 1:
            raise ValueError("an unrequested number of attempts")
        if type(printed) is not str:
            raise ValueError("printed output that is not text")
        if status == "ok":
            decoded, problem = _decode_value(value), None
        elif status in ("failed", "skipped"):
            decoded, problem = None, _read_problem(value)
        else:
            raise ValueError("a status that no call has")
        row = Row(position, status, decoded, problem, seconds, attempts, self._given(position, raw_arguments))
        row.printed = printed[: MAX_CALL_CHARACTERS + 100]  # and how much more there was
        self.seen.add(position)
        return row

    def _given(self, position: int, raw_arguments: Any) -> list[tuple[str, Any]] | None:
        """The values that a call was made with, under the names that the plan has."""
        if raw_arguments is None:
            return None
        names = [name for name, _ in self.program.steps[position].arguments]
        pairs = [_expect_list(pair) for pair in _expect_list(raw_arguments)]
        if not self.program.manner.arguments or [pair[:1] for pair in pairs] != [[name] for name in names]:
            raise ValueError("arguments of another call, or unrequested ones")
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError("an argument without a value")
        return [(name, _decode_value(pair[1])) for name, pair in zip(names, pairs, strict=True)]


def _invalid_reply(line: int, reason: str) -> Failure:
    return Failure("worker-lied", f"sent an invalid reply: line {line}: {reason}")


def _parse_line(line: bytes) -> list[Any]:
    """One line's list.

    Raises:
        ValueError: the line is no JSON, or no list that says something; in words of our own.
    """
    try:
        data = _DECODER.decode(line.decode("ascii"))
    except (ValueError, RecursionError):
        raise ValueError("no JSON") from None
    if not _expect_list(data):
        raise ValueError("an empty list")
    return data  # type: ignore[no-any-return]


def _refuse_constant(constant: str) -> None:
    raise ValueError(constant)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _expect_list(data: Any) -> list[Any]:
    if type(data) is not list:
        raise ValueError("something other than a list")
    return data


def _read_layer(data: Any) -> Layer:
    if len(_expect_list(data)) != 3 or list(map(type, data)) != [str, bool, str]:
        raise ValueError("an unknown layer of isolation")
    return Layer(*data)


def _decode_value(data: Any) -> Any:
    try:
        return decode(data)
    except (ValueError, RecursionError):
        raise ValueError("an impossible value") from None


def _read_problem(data: Any) -> tuple[str, str, str]:
    if not 2 <= len(_expect_list(data)) <= 3 or any(type(text) is not str for text in data):
        raise ValueError("an invalid reason")
    kind, message, location = (*data, "")[:3]
    return kind[:200], message[:1000], location[:200]
