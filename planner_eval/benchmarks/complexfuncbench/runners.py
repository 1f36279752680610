"""How the published runners differ: one row of a table each.

Source: published code; the paper describes one runner for all models.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from planner_eval.benchmarks.complexfuncbench.calls import ErrorRecord, FunctionCall, OfficialFailure, error

NOTHING = "llm_response is None"


@dataclass(frozen=True, slots=True)
class Undecodable:
    """A call whose arguments are no JSON object.

    Args:
        name: The function's name.
        arguments: The arguments as written.
    """

    name: str
    arguments: str


class Decoded(NamedTuple):
    """The calls of a turn, or the record that ends the sample."""

    calls: Sequence[FunctionCall]
    fault: ErrorRecord | None = None


@dataclass(frozen=True, slots=True)
class Runner:
    """What one published runner does differently.

    Args:
        name: The family of models it was written for.
        keeps_last_errors: Errors of the last turn with calls fail the sample even when nothing is open.
        unknown_function: The error type that ends a sample when a function is not in its list;
            ``""`` where the model gets the format message and may go on.
        shows_format_errors: The model sees why a call is malformed.
        raises_on_nothing: The run ends when a model returns nothing at all.
    """

    name: str
    keeps_last_errors: bool = False
    unknown_function: str = ""
    shows_format_errors: bool = True
    raises_on_nothing: bool = False

    def decode(self, calls: Sequence[FunctionCall | Undecodable], functions: Mapping[str, Any]) -> Decoded:
        """The turn's calls, or the record that ends the sample.

        Args:
            calls: One turn as the model gave it.
            functions: The sample's functions by name.
        """
        readable: list[FunctionCall] = []
        for call in calls:
            if isinstance(call, Undecodable):
                return Decoded((), self._refusal(call.name, call.arguments))
            if self.unknown_function and call["name"] not in functions:
                return Decoded((), self._refusal(call["name"], json.dumps(call["arguments"])))
            readable.append(call)
        return Decoded(readable)

    def _refusal(self, name: str, arguments: str) -> ErrorRecord:
        call_text = f"namespace(name={name!r}, arguments={arguments!r})"
        return error(self.unknown_function or "decode_error", f"{call_text} is not Valid.")

    def nothing(self) -> ErrorRecord:
        """The record of a model that returned nothing.

        Raises:
            OfficialFailure: this runner's code raises instead.
        """
        if self.raises_on_nothing:
            raise OfficialFailure("NotImplementedError", "LLM response is None")
        return error("unknown_error", NOTHING)


RUNNERS: Mapping[str, Runner] = {
    runner.name: runner
    for runner in (
        Runner("gpt", keeps_last_errors=True, unknown_function="decode_error"),
        Runner("mistral", keeps_last_errors=True, unknown_function="name_error"),
        Runner("claude", unknown_function="name_error", shows_format_errors=False),
        Runner("glm"),
        Runner("llama"),
        Runner("qwen", raises_on_nothing=True),
    )
}
"""The runners by name; ``gpt`` and ``qwen`` are proved against the published code, the rest are read."""
