"""What happened when a plan was run: one row a call, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from planner_eval.execution.sandbox.wire import encode

TIMEOUT = "timeout"
"""The kind of a failure where the time for a plan was over."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a call gave no value.

    Args:
        kind: ``unknown-tool``, ``missing-argument``, ``unknown-argument``, ``repeated-argument``,
            ``no-such-output``, ``unresolved``, ``too-many-items``, ``not-recorded``, ``cycle``,
            ``producer-failed``, ``timeout``, ``output-limit``, ``disk-limit``, ``task-limit``,
            ``worker-died``, ``worker-lied`` (an invalid reply), ``initial-state`` (the
            tools do not take it), ``unsendable``, ``not-run``, or the
            class of the exception that the tool raised.
        message: One sentence for people.
        place: The line of the tools' own file where an exception was raised: ``"tools.py:12"``.
    """

    kind: str
    message: str
    place: str = field(default="", compare=False)

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        return f"{where}{self.kind}: {self.message}"


class Layer(NamedTuple):
    """One layer of isolation, as it was found.

    Args:
        name: ``"limits"``, ``"capabilities"``, ``"landlock"``, ``"seccomp"``, ``"disk"`` or ``"tasks"``.
        held: Whether it was in force.
        found: How far, or why not.
    """

    name: str
    held: bool
    found: str


@dataclass(frozen=True, slots=True)
class CallTrace:
    """One call as it ran.

    Args:
        id: The call's id in the plan.
        tool: The tool's name, with its app.
        status: ``"ok"``, ``"failed"`` or ``"skipped"`` (a producer failed, or the run had ended).
        value: What the tool returned; an `Opaque` where that cannot leave the worker.
        error: Why there is no value; None exactly when the status is ``"ok"``.
        seconds: Wall time of the call with its retries.
        attempts: How often it was tried; 0 for a call that was not made.
        arguments: The values it was called with, when they were asked for.
        printed: The beginning of what the tool wrote to standard output and standard error.
    """

    id: str
    tool: str
    status: str
    value: Any = None
    error: Failure | None = None
    seconds: float = 0.0
    attempts: int = 0
    arguments: tuple[tuple[str, Any], ...] | None = None
    printed: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """A plan as it ran.

    Args:
        calls: One entry a call, in the plan's written order.
        ended: Why the run was cut short (deadline, a killed worker …); None where it was not.
        answer: The named values of the plan's answer, where the plan has one and they could be had.
        state: What the tools say of their state afterwards (a world's tables, for instance).
        seconds: Wall time of the whole run in its worker.
        isolation: The level it ran at.
        layers: The layers that were tried, each as it was found.
        turns: The state after each turn that makes calls, of a conversation of several.

    >>> import planner_eval as pe
    >>> trace = pe.execute('[{"name": "add", "arguments": {"arg_0": 2, "arg_1": 3}}]', "nestful")
    >>> trace.ok, trace.result, trace[0].status
    (True, 5, 'ok')
    """

    calls: tuple[CallTrace, ...] = ()
    ended: Failure | None = None
    answer: tuple[tuple[str, Any], ...] | None = None
    state: Any = None
    seconds: float = 0.0
    isolation: str = "inline"
    layers: tuple[Layer, ...] = ()
    turns: tuple[tuple[int, Any], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every call gave a value."""
        return self.ended is None and all(call.status == "ok" for call in self.calls)

    @property
    def result(self) -> Any:
        """The value of the last written call; None where it has none (see `ok`)."""
        return self.calls[-1].value if self.calls else None

    @property
    def failed(self) -> tuple[CallTrace, ...]:
        """The calls that failed by themselves; those skipped for their sake are not among them."""
        return tuple(call for call in self.calls if call.status == "failed")

    def __getitem__(self, call: int | str) -> CallTrace:
        """One call by position or by id."""
        if isinstance(call, int):
            return self.calls[call]
        return next(candidate for candidate in self.calls if candidate.id == call)

    def __iter__(self) -> Iterator[CallTrace]:
        return iter(self.calls)

    def to_dict(self) -> dict[str, Any]:
        """The trace as JSON data; what JSON lacks is tagged as `planner_eval.execution.sandbox.wire` says."""
        data: dict[str, Any] = {
            "ok": self.ok,
            "isolation": self.isolation,
            "seconds": round(self.seconds, 6),
            "calls": [_call_data(call) for call in self.calls],
        }
        if self.ended is not None:
            data["ended"] = {"kind": self.ended.kind, "message": self.ended.message}
        if self.answer is not None:
            data["answer"] = {name: _json_value(value) for name, value in self.answer}
        if self.state is not None:
            data["state"] = _json_value(self.state)
        if self.turns:
            data["turns"] = [{"turn": turn, "state": _json_value(state)} for turn, state in self.turns]
        if self.layers:
            data["layers"] = {
                layer.name: layer.found if layer.held else f"not in force: {layer.found}"
                for layer in self.layers
            }
        return data


def _call_data(call: CallTrace) -> dict[str, Any]:
    data: dict[str, Any] = {"id": call.id, "tool": call.tool, "status": call.status}
    if call.arguments is not None:
        data["arguments"] = {name: _json_value(value) for name, value in call.arguments}
    if call.error is None:
        data["value"] = _json_value(call.value)
    else:
        data["error"] = {"kind": call.error.kind, "message": call.error.message}
        if call.error.place:
            data["error"]["place"] = call.error.place
    if call.printed:
        data["printed"] = call.printed
    data["seconds"] = round(call.seconds, 6)
    if call.attempts > 1:
        data["attempts"] = call.attempts
    return data


def _json_value(value: Any) -> Any:
    import json

    return json.loads(encode(value, 1 << 40))
