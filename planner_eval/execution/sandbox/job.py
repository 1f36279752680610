"""What a worker is asked and what it answers: a plan, ready to run, and a row for each call.

Plain classes, for every worker loads them at start and `typing` and `dataclasses` would add half to that;
nothing changes them once they are made. A program crosses the pipe as the tuples that `plain` gives, for
`marshal` takes no other; rows cross it as lines of JSON, see `worker` and `reply`.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any, Final, TypeAlias

    Tree: TypeAlias = Any
    """An argument's value: a scalar as it is, or a tag and its content (see `program.tree`)."""
    Message: TypeAlias = dict[str, Any]
    """What crosses a pipe to a process of the sandbox: its setup, or a request to run a plan."""
    Problem: TypeAlias = tuple[str, str] | tuple[str, str, str]
    """Why there is no value: a kind, a message, and where known the line of the tools' file."""


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
