"""What a worker is asked and what it answers, checked line by line: a worker may lie.

Plain classes, for every worker loads them at start and `typing` and `dataclasses` would add half to that;
nothing changes them once they are made. A program crosses the pipe as the tuples that `plain` gives, for
`marshal` takes no other; rows cross it as lines of JSON, see `worker` and `reply`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from planner_eval.execution.printed import MAX_CALL_CHARACTERS
from planner_eval.execution.sandbox.wire import decode
from planner_eval.execution.trace import Failure, Layer

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Final, TypeAlias

    Tree: TypeAlias = Any
    """An argument's value: a scalar as it is, or a tag and its content (see `program.tree`)."""
    Problem: TypeAlias = tuple[str, str] | tuple[str, str, str]
    """Why there is no value: a kind, a message, and where known the line of the tools' file."""


# ----------------------------------------------------------------------
# What a worker is asked and what it answers: a plan, ready to run, and a row for each call.
class Step:
    """One call of a program.

    Args:
        tool: The tool's name, with its app.
        name: The name without it, which is tried next.
        arguments: Each with its value's tree.
        needs: The calls whose values it takes.
        outputs: The names of the tool's outputs, where they are known.
    """

    __slots__ = ("arguments", "name", "needs", "outputs", "tool")

    def __init__(
        self, tool: str, name: str, arguments: list[tuple[str, Tree]], needs: list[int], outputs: list[str]
    ) -> None:
        self.tool: Final = tool
        self.name: Final = name
        self.arguments: Final = arguments
        self.needs: Final = needs
        self.outputs: Final = outputs

    def plain(self) -> tuple[Any, ...]:
        """The arguments that make this, for `marshal`."""
        return self.tool, self.name, self.arguments, self.needs, self.outputs


class CallSettings:
    """How the calls of a program are made.

    Args:
        binding: ``"name"``, or ``"position"`` for values in written order whatever their names.
        workers: How many calls of a group may run at once.
        retries: How often a failing call is tried again.
        backoff: Seconds before the first retry; doubled for each further one.
        arguments: Report the values that each call was made with.
        shared: A tool that changes its argument changes it for every other call too.
        state: Ask the tools for their state afterwards.
    """

    __slots__ = ("arguments", "backoff", "binding", "retries", "shared", "state", "workers")

    def __init__(
        self,
        binding: str = "name",
        workers: int = 1,
        retries: int = 0,
        backoff: float = 0.1,
        arguments: bool = False,
        shared: bool = False,
        state: bool = False,
    ) -> None:
        self.binding: Final = binding
        self.workers: Final = workers
        self.retries: Final = retries
        self.backoff: Final = backoff
        self.arguments: Final = arguments
        self.shared: Final = shared
        self.state: Final = state

    def plain(self) -> tuple[Any, ...]:
        """The arguments that make this, for `marshal`."""
        return (
            self.binding, self.workers, self.retries, self.backoff, self.arguments, self.shared, self.state
        )  # fmt: skip


class Program:
    """A plan, ready to run.

    Args:
        steps: The calls, in the plan's written order.
        groups: Their positions in the order in which they run; those of a group may run at once.
        looped: The calls that wait for one another for ever and are refused.
        circle: What is said of them.
        manner: How the calls are made.
        initial: The state that the tools begin in; None for their own first one.
        turns: Of a conversation of several turns: each turn that makes calls, with how many groups have run
            when it ends.
    """

    __slots__ = ("circle", "groups", "initial", "looped", "manner", "steps", "turns")

    def __init__(
        self,
        steps: list[Step],
        groups: list[list[int]],
        looped: list[int],
        circle: str,
        manner: CallSettings,
        initial: Any = None,
        turns: list[tuple[int, int]] | None = None,
    ) -> None:
        self.steps: Final = steps
        self.groups: Final = groups
        self.looped: Final = looped
        self.circle: Final = circle
        self.manner: Final = manner
        self.initial: Final = initial
        self.turns: Final = turns or []

    def plain(self) -> tuple[Any, ...]:
        """The program as `marshal` takes it."""
        steps = [step.plain() for step in self.steps]
        return steps, self.groups, self.looped, self.circle, self.manner.plain(), self.initial, self.turns

    @classmethod
    def of(cls, plain: tuple[Any, ...]) -> Program:
        """The program that was made `plain`."""
        steps, groups, looped, circle, manner, *optional = plain
        return cls([Step(*step) for step in steps], groups, looped, circle, CallSettings(*manner), *optional)


class Row:
    """What became of one call; ``printed`` is what the tool printed, cut, and set once the call has ended.

    Args:
        position: Its place in the plan.
        status: ``"ok"``, ``"failed"`` or ``"skipped"``.
        value: What the tool returned.
        problem: Why there is no value; None exactly where the status is ``"ok"``.
        seconds: Wall time, with retries.
        attempts: How often it was tried; 0 for a call that was not made.
        arguments: The values that it was made with, where the program asks for them.
    """

    __slots__ = ("arguments", "attempts", "position", "printed", "problem", "seconds", "status", "value")

    def __init__(
        self,
        position: int,
        status: str,
        value: Any = None,
        problem: Problem | None = None,
        seconds: float = 0.0,
        attempts: int = 0,
        arguments: list[tuple[str, Any]] | None = None,
    ) -> None:
        self.printed = ""
        self.position: Final = position
        self.status: Final = status
        self.value: Final = value
        self.problem: Final = problem
        self.seconds: Final = seconds
        self.attempts: Final = attempts
        self.arguments: Final = arguments


# ----------------------------------------------------------------------
# What a worker says of one plan, checked line by line: a worker may lie.
#
# The tools share a process with what writes these lines and can write to the same pipe. Two lines come
# before any tool runs and are believed for that reason: ``["layers", …]``, written before the tools are
# loaded, and ``["begin", token]``. What follows is checked by type and range against the plan that was sent;
# where something else comes, the plan has failed, and nothing of it is repeated in planeval's own words.
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
            raise ValueError("not the line that tells the layers of isolation")
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
            raise ValueError("an end with more than was asked for")
        if len(self.rows) < len(self.program.steps):
            raise ValueError("an end before every call")
        self.state, self.complete, self._next = _decode_value(data[1]), True, self._nothing

    def _turn(self, data: list[Any]) -> None:
        """A turn's end, in order, once its calls have been told."""
        due_turn = self.program.turns[len(self.turns) :][:1] if self.program.manner.state else []
        if len(data) != 3 or type(data[1]) is not int or [data[1]] != [turn for turn, _ in due_turn]:
            raise ValueError("the end of a turn that is not due")
        calls = sum(map(len, self.program.groups[: due_turn[0][1]])) + len(self.program.looped)
        if len(self.rows) != calls:
            raise ValueError("the end of a turn before its calls")
        self.turns.append((data[1], _decode_value(data[2])))

    def _stop(self, data: list[Any]) -> None:
        """Why the plan could not begin in its state, or its tools do not say theirs."""
        if len(data) != 3 or data[1] not in ("initial-state", "worker-died") or type(data[2]) is not str:
            raise ValueError("an end for a reason that there is not")
        if data[1] == "initial-state" and self.rows:
            raise ValueError("an end for a reason that cannot be")
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
            raise ValueError("a row of no call of this plan, or a second one of the same")
        if type(seconds) is not float or not 0 <= seconds <= self.seconds:
            raise ValueError("a time that no call can have taken")
        if type(attempts) is not int or not 0 <= attempts <= self.program.manner.retries + 1:
            raise ValueError("a number of attempts that nobody asked for")
        if type(printed) is not str:
            raise ValueError("printed text that is none")
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
            raise ValueError("arguments of another call, or that nobody asked for")
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
        raise ValueError("something else than a list")
    return data


def _read_layer(data: Any) -> Layer:
    if len(_expect_list(data)) != 3 or list(map(type, data)) != [str, bool, str]:
        raise ValueError("a layer of isolation that is none")
    return Layer(*data)


def _decode_value(data: Any) -> Any:
    try:
        return decode(data)
    except (ValueError, RecursionError):
        raise ValueError("a value that cannot be") from None


def _read_problem(data: Any) -> tuple[str, str, str]:
    if not 2 <= len(_expect_list(data)) <= 3 or any(type(text) is not str for text in data):
        raise ValueError("a reason that is none")
    kind, message, location = (*data, "")[:3]
    return kind[:200], message[:1000], location[:200]
