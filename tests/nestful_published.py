"""NESTful's executor as it was published, in this process: what our sandbox is held against."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.execution.bind import call_function


@dataclass(frozen=True)
class PublishedRunner:
    """The published executor, for functions that are known to end: without its limit of ten seconds.

    Values are passed by position, in written order, and the names of parameters play no part.
    """

    functions: Mapping[str, Callable[..., Any]]

    def __call__(self, calls: Any, sample: Sample) -> Any:
        """The last call's value, or False for any failure, as the benchmark has it."""
        outcome = self.outcome(calls, sample)
        return outcome.value if outcome.failure is None else False

    def outcome(self, calls: Any, sample: Sample, *, by: str = "position") -> SimpleNamespace:
        """The same, with failure told apart from a value of False."""
        try:
            return SimpleNamespace(value=_last_result(calls, sample.tools, self.functions, by), failure=None)
        except Exception as error:  # whatever a tool raises is a failed run
            return SimpleNamespace(value=None, failure=error)

    def absent(self, names: Iterable[str]) -> list[str]:
        """Which of these functions are not there."""
        return [name for name in dict.fromkeys(names) if name not in self.functions]


def _last_result(calls: Any, tools: Any, functions: Mapping[str, Callable[..., Any]], by: str) -> Any:
    results: dict[str, dict[str, Any]] = {}
    for call in calls:
        label = call["label"].replace("$", "")
        tool = next(tool for tool in tools if tool["name"] == call["name"])
        outputs = list(tool["output_parameters"])
        arguments = [(name, _resolve_reference(value, results)) for name, value in call["arguments"].items()]
        function = functions[call["name"]]
        result = (
            call_function(function, arguments)
            if by == "name"
            else function(*[value for _, value in arguments])
        )
        if len(outputs) != 1:
            raise LookupError(f"{call['name']} has {len(outputs)} outputs; one is run")
        results[label] = {outputs[0]: result}
    return next(iter(results[calls[-1]["label"].replace("$", "")].values()))


def _resolve_reference(value: Any, results: Mapping[str, Mapping[str, Any]]) -> Any:
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
