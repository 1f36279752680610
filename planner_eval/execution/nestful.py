"""NESTful's own executor, in a sandbox: decoded calls of an answer, run as the benchmark runs them.

Source: ``calculate_ans`` of the published ``scorer.py``: calls in written order, values by position, a
reference is a whole string ``$label.field$``, any trouble at all makes the answer False.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from planner_eval.base.frozen import fast_frozen
from planner_eval.execution.sandbox.job import CallSettings, Program, Step
from planner_eval.execution.sandbox.reply import Reply
from planner_eval.execution.sandbox.sandbox import Limits, Sandbox
from planner_eval.execution.tool_sources import tool_source
from planner_eval.execution.trace import Failure

if TYPE_CHECKING:
    from planner_eval.execution.sandbox.job import Tree


SECONDS_PER_SAMPLE = 10.0
"""The benchmark's own limit for one sample."""


class HasTools(Protocol):
    """A sample, as far as running its answer goes."""

    @property
    def tools(self) -> Any:
        """The tool specs on offer."""


@fast_frozen
class Outcome:
    """What an answer came to: its last call's value, or why there is none."""

    value: Any = None
    failure: Failure | None = None


class _Producer(NamedTuple):
    """A label's call, and the one name under which its output may be taken."""

    call: int
    output: str


def compile_calls(calls: Any, tools: Any, by: str = "position") -> Program:
    """The program that runs decoded calls as the benchmark's executor does.

    Args:
        calls: What an answer's reader made of the text; need not be calls at all.
        tools: The sample's tool specs.
        by: ``"position"`` passes values in written order and lets a tool that changes its argument change
            it for every other call, as the benchmark does; ``"name"`` passes them by name, each call its own.

    Raises:
        ValueError: the executor would fail on these calls whatever the functions do; says on which.

    >>> tools = [{"name": "add", "output_parameters": {"result": {}}}]
    >>> call = {"name": "add", "label": "$var_1", "arguments": {"arg_0": 1, "arg_1": 2}}
    >>> compile_calls([call], tools).steps[0].arguments
    [('arg_0', 1), ('arg_1', 2)]
    """
    if not isinstance(calls, list) or not calls:
        raise ValueError("not a list of calls")
    producers: dict[str, _Producer] = {}
    steps = []
    for position, call in enumerate(calls):
        try:
            name, label = call["name"], call["label"].replace("$", "")
            tool = next(tool for tool in tools if tool["name"] == name)
            (output,) = tool["output_parameters"]
            needs: set[int] = set()
            arguments = [
                (key, _argument_tree(value, producers, needs)) for key, value in call["arguments"].items()
            ]
        except (KeyError, TypeError, AttributeError, ValueError, StopIteration) as error:
            raise ValueError(f"call {position + 1}: {type(error).__name__}: {error}") from error
        steps.append(Step(str(name), str(name), arguments, sorted(needs), [str(output)]))
        producers[label] = _Producer(position, output)
    groups = [[position] for position in range(len(steps))]
    return Program(steps, groups, [], "", CallSettings(by, shared=by == "position"))


def _argument_tree(value: Any, producers: Mapping[str, _Producer], needs: set[int]) -> Tree:
    """One argument for `core`, its producer added to `needs`; only whole strings can be references."""
    if not isinstance(value, str):
        return ("value", value) if isinstance(value, (list, dict)) else value
    if value.startswith("$") and value.endswith("$"):
        label, field = value[1:-1].split(".", 1)
    elif value.startswith("$var"):
        label, field = value[1:].split(".", 1)
    else:
        return value
    if field != producers[label].output:
        raise KeyError(field)
    needs.add(producers[label].call)
    return ("ref", (producers[label].call, []))


class NestfulRunner:
    """Runs answers in a sandbox; a `Run` for `planner_eval.benchmarks.nestful`.

    Args:
        tools: What `tool_source` takes: ``"nestful"`` for the 40 basic functions, ``"nestful:FOLDER"``
            for the published functions.
        level: A level of isolation; None takes what the tools call for.
        seconds: The limit for one answer.

    >>> from types import SimpleNamespace
    >>> sample = SimpleNamespace(tools=[{"name": "sqrt", "output_parameters": {"result": {}}}])
    >>> with NestfulRunner(level="inline") as run:
    ...     run([{"name": "sqrt", "label": "$var_1", "arguments": {"arg_0": 10}}], sample)
    3
    """

    def __init__(
        self, tools: Any = "nestful", *, level: str | None = None, seconds: float = SECONDS_PER_SAMPLE
    ) -> None:
        self.box = Sandbox(tool_source(tools), level=level, limits=Limits(seconds=seconds))
        self._absent: dict[str, bool] = {}

    def __enter__(self) -> NestfulRunner:
        return self

    def __exit__(self, *_: object) -> None:
        self.box.close()

    def __call__(self, calls: Any, sample: HasTools) -> Any:
        """The last call's value, or False for any failure, as the benchmark has it."""
        outcome = self.outcome(calls, sample)
        return outcome.value if outcome.failure is None else False

    def outcome(self, calls: Any, sample: HasTools, *, by: str = "position") -> Outcome:
        """The same, with failure told apart from a value of False; `by` as for `compile_calls`."""
        return next(self.outcomes([(calls, sample)], by=by))

    def absent(self, names: Iterable[str]) -> list[str]:
        """Which of these functions the tools do not have, or cannot load; nothing is run."""
        unique_names = list(dict.fromkeys(names))
        if fresh := [name for name in unique_names if name not in self._absent]:
            # An argument given twice is refused once the function is found, and before it is called.
            steps = [Step(name, name, [("", 0), ("", 0)], [], []) for name in fresh]
            groups = [[position] for position in range(len(steps))]
            reply = self.box.run(Program(steps, groups, [], "", CallSettings()))
            absent = dict.fromkeys(fresh, False)
            for row in reply.rows:
                absent[fresh[row.position]] = (
                    row.problem is not None and row.problem[0] != "repeated-argument"
                )
            self._absent |= absent
        return [name for name in unique_names if self._absent[name]]

    def outcomes(self, answers: Iterable[tuple[Any, HasTools]], *, by: str = "position") -> Iterator[Outcome]:
        """The outcomes of many answers in order, with work sent ahead."""
        refused: list[Outcome | None] = []

        def programs() -> Iterator[Program]:
            for calls, sample in answers:
                try:
                    program = compile_calls(calls, sample.tools, by)
                except ValueError as error:
                    refused.append(Outcome(failure=Failure("not-executable", str(error))))
                else:
                    refused.append(None)
                    yield program

        for reply in self.box.map(programs()):
            while refused[0] is not None:
                yield refused.pop(0)  # type: ignore[misc]
            refused.pop(0)
            yield _reply_outcome(reply)
        yield from (outcome for outcome in refused if outcome is not None)


def _reply_outcome(reply: Reply) -> Outcome:
    if reply.ended is not None:
        return Outcome(failure=reply.ended)
    for row in reply.rows:
        if row.problem is not None:
            return Outcome(failure=Failure(*row.problem))
    return Outcome(reply.rows[-1].value)
