"""NESTful's win: the calls are run, and the last result is compared with the gold answer.

How calls are run and results compared is here; the functions themselves come from outside, so that the
caller decides where and under which limits a model's answer runs.

Source: ``calculate_ans`` and ``calculate_win_score`` of the published ``scorer.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeGuard

from planner_eval.base.quick import quick
from planner_eval.benchmarks.report import Run
from planner_eval.datasets.sample import Sample
from planner_eval.execution.bind import call as call_by_name

_NAMED = 3
"""Functions that a note names."""


class Outcome(Protocol):
    """What an answer came to: a value, or a failure that says why there is none."""

    @property
    def value(self) -> Any:
        """The last call's value."""

    @property
    def failure(self) -> object | None:
        """None, or what went wrong."""


class Runner(Protocol):
    """Runs decoded calls with a sample's tools, and can tell failure from a value of False."""

    def __call__(self, calls: Any, sample: Sample) -> Any:
        """The answer, or False for any failure at all: a `Run`."""

    def outcome(self, calls: Any, sample: Sample, *, by: str) -> Outcome:
        """The answer or the failure, values passed by ``"position"`` or by ``"name"``."""

    def absent(self, names: Iterable[str]) -> list[str]:
        """Which of these functions it does not have."""


def _is_runner(run: Run) -> TypeGuard[Runner]:
    """Whether a run is a `Runner`; to ask by isinstance takes longer than many an answer."""
    return hasattr(run, "outcome") and hasattr(run, "absent")


def outcome_of(run: Run, calls: Any, sample: Sample) -> Outcome:
    """The outcome of calls whose values are passed by name.

    A plain function is taken at its word: how it passes values is its own affair, and as it cannot tell a
    failure from False it never gives False.
    """
    if _is_runner(run):
        return run.outcome(calls, sample, by="name")
    value = run(calls, sample)
    return Done(failure=ValueError("the run failed")) if value is False else Done(value)


def absent_functions(run: Run | None, gold: Any) -> list[str]:
    """The functions that gold calls and the runner does not have; none where it cannot say."""
    if run is None or not isinstance(gold, list) or not _is_runner(run):
        return []
    return run.absent(str(call["name"]) for call in gold if isinstance(call, dict) and "name" in call)


def absence_note(samples: int, names: Iterable[str], meaning: str) -> str:
    """What to know of samples that cannot be run here; "" where there are none.

    Args:
        samples: How many.
        names: The functions that are not there, each once.
        meaning: What became of these samples in the figure.
    """
    if not samples:
        return ""
    name_list = list(names)
    more = f" and {len(name_list) - _NAMED:,} more" if len(name_list) > _NAMED else ""
    counted = f"{samples:,} sample" + ("s" if samples > 1 else "")
    where = f"see nestful:FOLDER ({', '.join(name_list[:_NAMED])}{more})"
    return f"{counted} {meaning}: functions that are not there, {where}"


@quick
class Done:
    """The outcome of a run in this process."""

    value: Any = None
    failure: Exception | None = None


@quick
class InProcess:
    """A runner in this process, for functions and arguments that are known to end; see `official_run`."""

    functions: Mapping[str, Callable[..., Any]]

    def __call__(self, calls: Any, sample: Sample) -> Any:
        """The last call's value, or False for any failure, as the benchmark has it."""
        outcome = self.outcome(calls, sample)
        return outcome.value if outcome.failure is None else False

    def outcome(self, calls: Any, sample: Sample, *, by: str = "position") -> Done:
        """The same, with failure told apart from a value of False."""
        try:
            return Done(_last_result(calls, sample.tools, self.functions, by))
        except Exception as error:  # whatever a tool raises is a failed run
            return Done(failure=error)

    def absent(self, names: Iterable[str]) -> list[str]:
        """Which of these functions are not there."""
        return [name for name in dict.fromkeys(names) if name not in self.functions]


def official_run(functions: Mapping[str, Callable[..., Any]]) -> InProcess:
    """A runner in this process, for functions and arguments that are known to end.

    For answers of a model use ``planner_eval.execution.nestful``, which runs them in a sandbox.

    Args:
        functions: Python functions by tool name. Values are passed by position, in written order, and
            the names of parameters play no part; the corrected win rate passes them by name.

    Returns:
        A runner with the published executor's behaviour, without its limit of ten seconds.

    >>> run = official_run({"subtract": lambda a, b: a - b})
    >>> tools = [{"name": "subtract", "output_parameters": {"result": {}}}]
    >>> calls = [{"name": "subtract", "label": "$var_1", "arguments": {"arg_1": 5, "arg_0": 3}}]
    >>> run(calls, Sample("a", tools=tools)), run("no calls", Sample("a", tools=tools))
    (2, False)
    """
    return InProcess(functions)


def _last_result(calls: Any, tools: Any, functions: Mapping[str, Callable[..., Any]], by: str) -> Any:
    results: dict[str, dict[str, Any]] = {}
    for call in calls:
        label = call["label"].replace("$", "")
        tool = next(tool for tool in tools if tool["name"] == call["name"])
        outputs = list(tool["output_parameters"])
        arguments = [(name, _resolved(value, results)) for name, value in call["arguments"].items()]
        function = functions[call["name"]]
        result = (
            call_by_name(function, arguments)
            if by == "name"
            else function(*[value for _, value in arguments])
        )
        if len(outputs) != 1:
            raise LookupError(f"{call['name']} has {len(outputs)} outputs; one is run")
        results[label] = {outputs[0]: result}
    return next(iter(results[calls[-1]["label"].replace("$", "")].values()))


def _resolved(value: Any, results: Mapping[str, Mapping[str, Any]]) -> Any:
    """The value that a whole-string reference ``$label.field$`` or ``$var….field`` means; others as is."""
    if type(value) is not str:
        return value
    if value.startswith("$") and value.endswith("$"):
        label, field = value[1:-1].split(".", 1)
    elif value.startswith("$var"):
        label, field = value[1:].split(".", 1)
    else:
        return value
    return results[label][field]


def is_win(answer: Any, gold: Any) -> bool:
    """Whether an answer counts as the gold answer.

    Two floats are compared after rounding the answer to as many decimals as the gold's text has; a tuple
    may equal a list. A failed run is the answer False, which equals a gold 0.

    Raises:
        IndexError: a float gold whose text has no point (``1e-05``), where the published code breaks off.

    >>> is_win(0.3333, 0.33), is_win(20, 20.0), is_win((1, (2,)), [1, [2]]), is_win(False, 0)
    (True, True, True, True)
    """
    if type(gold) is float and type(answer) is float:
        answer = round(answer, len(str(gold).split(".")[1]))
    if type(answer) is tuple and type(gold) is list:  # a tuple never equals a list as it stands
        answer = _as_lists(answer)
    return bool(answer == gold)


def _as_lists(value: Any) -> Any:
    return [_as_lists(item) for item in value] if isinstance(value, list | tuple) else value
