"""Systems compared under a published benchmark."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from planner_eval._version import __version__
from planner_eval.base.given import NAME, expect_or_none
from planner_eval.benchmarks.compared import sampled
from planner_eval.benchmarks.registry import VARIANTS
from planner_eval.llm import Judge
from planner_eval.scoring.compare import make_comparison
from planner_eval.scoring.contrast import Comparison
from planner_eval.verbs.benchmark import score_benchmark
from planner_eval.verbs.comparing import system_names
from planner_eval.verbs.readings import AS_IT_COMES, Reading
from planner_eval.verbs.scoring import refuse_seed


def compare_benchmark(
    systems: Sequence[str | os.PathLike[str]] | Mapping[str, str | os.PathLike[str]],
    gold: str | os.PathLike[str],
    name: str,
    *,
    variants: Sequence[str] = VARIANTS,
    reading: Reading = AS_IT_COMES,
    judge: Judge | None = None,
    prompts: str | os.PathLike[str] | None = None,
    run: Any = None,
    ids: Collection[str] | None = None,
    names: Sequence[str] | None = None,
    seed: int = 0,
    cluster: str | None = None,
    **settings: str,
) -> Comparison:
    """Compare systems under a benchmark, by its figures of single samples: each with the first.

    Each variant's ``solved`` says whether a sample counts under the benchmark's strictest figure. A figure
    whose name ends in ``(samples)`` is made from the samples' own figures and is not the one that the
    benchmark gives of the whole.

    Args:
        systems: The files of answers, two or more; or a mapping from the systems' names to them.
        gold: The benchmark's data, as for :func:`score_benchmark`.
        name: The benchmark's name.
        variants: ``"official"``, ``"corrected"`` or both.
        reading: As for :func:`score_benchmark`.
        judge: As for :func:`score_benchmark`.
        prompts: As for :func:`score_benchmark`.
        run: As for :func:`score_benchmark`.
        ids: As for :func:`score_benchmark`.
        names: What the systems are called; A, B and so on when left out.
        seed: Where random numbers start.
        cluster: The field of the benchmark's samples that says in which cluster each lies.
        settings: The benchmark's own options.

    Raises:
        InputError: as for :func:`score_benchmark`; or there is only one system.

    >>> from planner_eval.base.resources import folder
    >>> answers = folder("data") / "samples" / "answers" / "nestful.jsonl"
    >>> gold = folder("data") / "samples" / "nestful"
    >>> compare_benchmark({"small": answers, "large": answers}, gold, "nestful").verdicts
    ('small and large have the same figures: n = 3, corrected solved 0.3333',)
    """
    refuse_seed(seed)
    expect_or_none(NAME, cluster=cluster)
    if isinstance(systems, Mapping):
        names, systems = (tuple(systems) if names is None else names), list(systems.values())
    called = system_names(systems, names)
    how: dict[str, Any] = {"variants": variants, "reading": reading, "judge": judge, "run": run}
    how |= {"prompts": prompts, "ids": ids, **settings}
    every = [score_benchmark(one, gold, name, **how) for one in systems]
    files = ["standard input" if os.fspath(one) == "-" else os.fspath(one) for one in systems]
    found = sampled(every, files, cluster)
    parts = [f"planeval {__version__}", f"benchmark {name} ({' and '.join(variants)})"]
    parts += [f"{key} {value}" for key, value in settings.items()]
    parts += [f"judged with {every[0].prompts}"] if every[0].prompts else []
    parts += [f"{system} {one.mark}" for system, one in zip(called, every, strict=True) if one.mark]
    made = " | ".join([*parts, "summed counts of samples"])
    compared = make_comparison(found.runs, found.metrics, names=called, made=made, seed=seed, cluster=cluster)
    reads = [{"first": every[0].read, "second": one.read, "gold": os.fspath(gold)} for one in every[1:]]
    repeated = [len(one.matched.repeated) for one in every]
    return Comparison(
        tuple(
            replace(
                each,
                read=read,
                records=(
                    each.records[0]._replace(repeated=repeated[0]),
                    each.records[1]._replace(repeated=more),
                ),
            )
            for each, read, more in zip(compared.contrasts, reads, repeated[1:], strict=True)
        )
    )
