"""The requests that FunctionChat-Bench sends to the model under test, as its code writes them.

Source: repository kakao/FunctionChat-Bench at cb32af3.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from planner_eval.datasets.sample import Sample

TOOLS_TYPES = ("all", "4_close", "4_random", "8_close", "8_random")
"""What the published option accepts; ``exact`` exists in the data, and is refused."""


@dataclass(frozen=True, slots=True)
class Payload:
    """The requests of one part, or the exception with which the published code refuses to write them."""

    requests: tuple[dict[str, Any], ...] = ()
    error: str | None = None


def payload(samples: Iterable[Sample], *, tools_type: str = "all", temperature: float = 0.1) -> Payload:
    """The requests for the samples.

    Args:
        samples: Of the FunctionChat reader.
        tools_type: Which single calls: those with this kind of tool list, or ``"all"``.
        temperature: For the model under test.

    >>> payload([], tools_type="exact").error
    "ValueError: tools_type must be one of ['all', '4_close', '4_random', '8_close', '8_random']."
    """
    if tools_type not in TOOLS_TYPES:
        return Payload(error=f"ValueError: tools_type must be one of {list(TOOLS_TYPES)}.")
    selected = (s for s in samples if tools_type in ("all", s.extra.get("tools_type", "all")))
    return Payload(tuple(request(sample, temperature) for sample in selected))


def request(sample: Sample, temperature: float = 0.1) -> dict[str, Any]:
    """The request for one sample, keys in the published order."""
    extra = sample.extra
    common = {
        "serial_num": extra["serial_num"],
        "messages": extra["messages"],
        "tools": sample.tools,
        "temperature": temperature,
        "tool_choice": "auto",
        "ground_truth": sample.gold,
        "acceptable_arguments": acceptable_text(extra["acceptable_arguments"]),
    }
    if extra["part"] == "singlecall":
        return common | {"tools_type": extra["tools_type"]}
    if extra["part"] == "dialog":
        return common | {"type_of_output": extra["type_of_output"]}
    return common | {"category": sample.category, "type_of_output": extra["type_of_output"]}


def acceptable_text(acceptable: Any) -> Any:
    """The alternatives as the request holds them: an object becomes JSON text.

    >>> acceptable_text({"city": "Seoul"})
    '{"city": "Seoul"}'
    """
    return json.dumps(acceptable, ensure_ascii=False) if isinstance(acceptable, dict) else acceptable
