"""What users may have requests say: fields of sampling, each of a value that it can have."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.base.text import shortened

_OWNED: Mapping[str, str] = {
    "model": "--model names the model, --router-model the one that routes",
    "messages": "the pipeline writes the messages",
    "tools": "the pipeline offers the tools of the samples",
    "tool_choice": "the pipeline offers the tools of the samples",
    "functions": "the pipeline offers the tools of the samples",
    "function_call": "the pipeline offers the tools of the samples",
    "n": "one answer of a reply is read; --repeat N asks N times",
    "stream": "answers are read whole",
    "stream_options": "answers are read whole",
    "router": "--router-model names the model that routes",
    "repetition": "--repeat N asks N times",
    "self": "no server has such a field",
}
"""Fields that are not the user's to set, and who sets them."""

_HELD = ("response_format", "structured_outputs", "guided_grammar", "guided_json", "ebnf", "grammar")
"""Fields in which servers take what holds an answer."""


def _number(low: float, high: float = math.inf) -> Callable[[Any], bool]:
    return lambda value: type(value) in (int, float) and math.isfinite(value) and low <= value <= high


def _whole(low: float = -math.inf, high: float = math.inf) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and low <= value <= high


def _texts(value: Any) -> bool:
    listed = value if isinstance(value, list) else [value]
    return all(isinstance(entry, str) for entry in listed)


_KNOWN: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "temperature": (_number(0), "a number from 0"),
    "top_p": (_number(0, 1), "a number from 0 to 1"),
    "min_p": (_number(0, 1), "a number from 0 to 1"),
    "top_k": (_whole(-1), "a whole number from -1"),
    "max_tokens": (_whole(1), "a whole number from 1, or none"),
    "max_completion_tokens": (_whole(1), "a whole number from 1, or none"),
    "seed": (_whole(), "a whole number"),
    "presence_penalty": (_number(-2, 2), "a number from -2 to 2"),
    "frequency_penalty": (_number(-2, 2), "a number from -2 to 2"),
    "repetition_penalty": (_number(0), "a number from 0"),
    "stop": (_texts, "a text or a list of texts"),
    "logprobs": (lambda value: isinstance(value, bool), "true or false"),
    "top_logprobs": (_whole(0), "a whole number from 0"),
}
"""Fields of sampling that the protocol knows: what they can be, and that in words."""


def refuse_sampling(sampling: Mapping[str, Any], pipeline: str, *, constrained: bool) -> None:
    """Refuse what requests cannot say: fields that the run itself sets, and values that no field takes.

    What is not known here passes: servers have fields of their own.

    Args:
        sampling: What is asked for, by name; None leaves something out.
        pipeline: The name of the pipeline.
        constrained: Whether answers are held to a grammar.

    Raises:
        InputError: names the field, and what it can be or who sets it.

    >>> refuse_sampling({"temperature": 0.5, "seed": None, "mirostat": 2}, "flat", constrained=False)
    """
    owned = dict(_OWNED)
    if constrained:
        owned |= dict.fromkeys(_HELD, "--constrain sets what holds the answers")
    if pipeline == "react":
        owned["stop"] = "the pipeline react stops at the words of its own notation"
    for name, value in sampling.items():
        if name in owned:
            raise InputError(f"--set {name} is not yours to set: {owned[name]}")
        if value is not None and name in _KNOWN and not _KNOWN[name][0](value):
            raise InputError(f"--set {name} is {shortened(repr(value), 60)}, expected {_KNOWN[name][1]}")
