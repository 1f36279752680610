"""What both variants of the scorer need: settings, and a sample made ready for judging."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.benchmarks.complexfuncbench.api import Api, replay
from planner_eval.benchmarks.complexfuncbench.calls import Step, free_calls, steps_of
from planner_eval.benchmarks.complexfuncbench.embedding import Embedding, Trigrams
from planner_eval.benchmarks.complexfuncbench.matching import Matcher, functions_by_name
from planner_eval.benchmarks.complexfuncbench.responses import same_by
from planner_eval.benchmarks.complexfuncbench.turn import Rules

if TYPE_CHECKING:
    from planner_eval.datasets.sample import Sample
    from planner_eval.llm import Judge

CHECKED_KEY = "exact_match_values"
"""Where a sample carries the published lists of parameters that must be equal."""

CROSS = "Cross"


@dataclass(frozen=True, slots=True)
class Settings:
    """What conversations are scored with.

    Args:
        api: Gives the API of a sample; the default replays the sample's own observations.
        embedding: Maps predicted calls to gold calls.
        judge: Matches calls by meaning and scores final answers; None leaves both out.
        checked: Function → parameters that must be equal; None takes the lists that the sample
            carries (the published ``exact_match_values.json`` beside the data).
    """

    api: Callable[[Sequence[Step]], Api] = replay
    embedding: Embedding = field(default_factory=Trigrams)
    judge: Judge | None = None
    checked: Mapping[str, Sequence[str]] | None = None

    def checked_for(self, sample: Sample) -> Mapping[str, Sequence[str]] | None:
        """The lists that the value check uses for a sample; None where there are none."""
        carried: Mapping[str, Sequence[str]] | None = sample.extra.get(CHECKED_KEY)
        return carried if self.checked is None else self.checked


DEFAULTS = Settings()


def domain_of(identifier: str) -> str:
    """The domain in an id: what stands before the last dash.

    >>> domain_of("Car-Rental-7")
    'Car-Rental'
    """
    return identifier.rpartition("-")[0] or identifier


class Prepared(NamedTuple):
    """A sample's annotated steps, and what its turns are judged with."""

    steps: tuple[Step, ...]
    rules: Rules


def prepare(sample: Sample, settings: Settings) -> Prepared:
    """A sample made ready for judging.

    Raises:
        InputError: the sample's record is no ComplexFuncBench conversation.
    """
    try:
        steps = steps_of(sample.gold)
        functions = functions_by_name(sample.tools or ())
        calls = [(call["name"], dict(call["arguments"])) for step in steps for call in step.calls]
        free = free_calls(steps)
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        raise InputError(
            f"sample {sample.id!r} is no ComplexFuncBench conversation: {problem!r}"
        ) from problem
    if not calls:
        raise InputError(f"sample {sample.id!r} has no annotated call")
    matcher = Matcher(settings.api(steps), settings.checked_for(sample), same_by(settings.judge, functions))
    return Prepared(steps, Rules(functions, free, matcher, settings.embedding))
