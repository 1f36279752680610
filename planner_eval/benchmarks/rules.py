"""How a published benchmark judges answers: what the public functions of benchmarks take as ``rules``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval.base.errors import (
    FUNCTION,
    MAPPING,
    NAMES,
    PATH,
    InputError,
    expect,
    expect_or_none,
    instance_of,
)
from planner_eval.benchmarks.benchmark import VARIANTS

if TYPE_CHECKING:
    from planner_eval.benchmarks.judging import Judge


class BenchmarkRules(NamedTuple):
    """How a published benchmark judges answers.

    Args:
        variants: ``"official"``, as its code computes, ``"corrected"``, as its paper means, or both; of
            several the last counts where there is room for one.
        judge: Decides what rules cannot, where the benchmark knows a judge.
        prompts: The folder of the prompts that the judge is asked with; when left out the published ones
            where they lie beside the data, else our own.
        run: Runs answers, where the benchmark does: a :class:`planner_eval.execution.NestfulRunner`.
        settings: The benchmark's own options, e.g. ``{"task": "routing"}``.

    >>> import planner_eval as pe
    >>> rules = pe.BenchmarkRules(["corrected"], settings={"task": "routing"})
    >>> answers, gold = "data/samples/answers/callnavi.jsonl", "data/samples/callnavi"
    >>> [*pe.score_benchmark(answers, gold, "callnavi", rules=rules).reports]
    ['corrected']
    """

    variants: Sequence[str] = VARIANTS
    judge: Judge | None = None
    prompts: str | os.PathLike[str] | None = None
    run: Any = None
    settings: Mapping[str, str] = {}


DEFAULT_RULES = BenchmarkRules()
"""Both variants, without a judge."""


def check_rules(rules: Any) -> BenchmarkRules:
    """The rules, a single variant as a list of one; what says nothing of how a benchmark judges is refused.

    Raises:
        InputError: says what is expected.
    """
    expect(instance_of(BenchmarkRules, "pe.BenchmarkRules(…)"), rules=rules)
    expect(NAMES, variants=rules.variants)
    variants = (rules.variants,) if isinstance(rules.variants, str) else rules.variants
    for variant in variants:
        if variant not in VARIANTS:
            raise InputError(f"there is no variant {variant!r}; expected {' or '.join(VARIANTS)}")
    expect_or_none(PATH, prompts=rules.prompts)
    expect_or_none(FUNCTION, run=rules.run)
    expect(MAPPING, settings=rules.settings)
    checked: BenchmarkRules = rules
    return checked if variants is checked.variants else checked._replace(variants=variants)
