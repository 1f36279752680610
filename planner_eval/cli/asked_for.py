"""What the options of ``predict`` ask for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from planner_eval.prediction.setup import Setup


def setting(text: str) -> tuple[str, Any]:
    """One ``NAME=VALUE`` of sampling; none leaves something out."""
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise InputError(f"--set {text!r}: expected NAME=VALUE, e.g. temperature=0.5")
    try:
        return name.strip(), json.loads("null" if value == "none" else value)
    except ValueError:
        return name.strip(), value


def choices(
    shots: int | None,
    demos: str | None,
    by: str | None,
    near: bool,
    distractors: int | None,
    closeness: str | None,
    budget: int | None,
    seed: int,
) -> dict[str, Any]:
    """Which demonstrations are shown, and which tools are on offer."""
    options: dict[str, Any] = {}
    if shots is not None:
        from planner_eval.prediction.shots import Shots

        options["shots"] = Shots(shots, by or "query", demos, seed, near)
    if distractors is not None or budget is not None:
        from planner_eval.prediction.candidates import Choice

        options["choice"] = Choice(distractors, closeness or "random", budget, seed)
    return options


def constrained(by: str | None, server: str | None, max_calls: int | None) -> dict[str, Any]:
    """What holds the answers."""
    if by is None:
        return {}
    from planner_eval.prediction.constraint import Constraint

    return {"constrain": Constraint(by, server or "vllm", max_calls or 8)}


def setup_of(options: Mapping[str, Any], model: str | None, *, makes_calls: bool) -> Setup:
    """What the pipeline is told."""
    from planner_eval.prediction.setup import Setup, our_prompts, read_prompts

    setup_fields = {
        name: value for name, value in options.items() if "prompts" not in name and value is not None
    }
    folder, whose = options["prompts"], options["prompts_for"] or model
    prompts = read_prompts(Path(folder), whose) if folder else our_prompts()
    return Setup(prompts, **setup_fields, makes_calls=makes_calls)
