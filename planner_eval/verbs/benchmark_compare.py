"""Systems compared under a published benchmark."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from planner_eval._version import __version__
from planner_eval.base.errors import InputError
from planner_eval.base.given import NAME, expect_or_none
from planner_eval.benchmarks.compared import sampled
from planner_eval.benchmarks.gold import gold_samples
from planner_eval.benchmarks.registry import VARIANTS
from planner_eval.benchmarks.score import Scored
from planner_eval.datasets.sample import Sample
from planner_eval.engine.kept import Kept, kept
from planner_eval.llm import Judge
from planner_eval.scoring.compare import make_comparison
from planner_eval.scoring.compare_formats import system_names
from planner_eval.scoring.contrast import Comparison
from planner_eval.verbs.benchmark import score_benchmark
from planner_eval.verbs.benchmark_runs import kept_benchmark
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
    results = [score_benchmark(system, gold, name, **how) for system in systems]
    files = ["standard input" if os.fspath(system) == "-" else os.fspath(system) for system in systems]
    return _compared(results, files, called, os.fspath(gold), seed=seed, cluster=cluster)


def compare_kept_benchmarks(
    paths: Sequence[str | os.PathLike[str]],
    names: Sequence[str],
    *,
    seed: int = 0,
    cluster: str | None = None,
) -> Comparison:
    """Compare runs that were scored under one benchmark, each with the first, by the variants that all have.

    Args:
        paths: Their folders.
        names: What they are called.
        seed: Where random numbers start.
        cluster: The field of the benchmark's samples that says in which cluster each lies; the gold that the
            first run was scored against is read for it.

    Raises:
        InputError: a folder holds no such run, or the runs were not scored alike.
    """
    folders = [os.fspath(path) for path in paths]
    runs = [kept(folder, "score") for folder in folders]
    for other in runs[1:]:
        _refuse_unlike(runs[0], other)
    stored = [kept_benchmark(folder) for folder in folders]
    reports = [s.scored.reports for s in stored]
    variants = [name for name in reports[0] if all(name in report for report in reports)]
    if not variants:
        raise InputError(f"{' and '.join(folders)} cannot be compared: no variant was scored in all of them")
    results = [replace(s, reports={v: s.reports[v] for v in variants}) for s, _ in stored]
    options: Any = runs[0].options
    gold = str(options["about"]["gold"])
    samples = None
    if cluster is not None:
        samples = {sample.id: sample for sample in gold_samples(results[0].benchmark, gold)}
    files = [s.pred for s in stored]
    version = runs[0].version
    return _compared(
        results, files, names, gold, seed=seed, cluster=cluster, samples=samples, version=version
    )


def _refuse_unlike(first: Kept, other: Kept) -> None:
    """Refuse two runs that were not scored alike.

    Raises:
        InputError: says what they do not have in common.
    """
    prefix = f"{first.path} and {other.path} cannot be compared"
    if first.version != other.version:
        raise InputError(f"{prefix}: they are of versions {first.version} and {other.version}")
    names = [run.options.get("benchmark") for run in (first, other)]
    if names[0] != names[1]:
        under = " and ".join(f"under {name}" if name else "under no benchmark" for name in names)
        raise InputError(f"{prefix}: they were scored {under}")
    golds = [[(i["size"], i["digest"]) for i in run.inputs if i["role"] == "gold"] for run in (first, other)]
    if golds[0] != golds[1]:
        raise InputError(f"{prefix}: their gold plans are not the same")
    settings: Any = [run.options.get("settings") or {} for run in (first, other)]
    for name in dict.fromkeys([*settings[0], *settings[1]]):
        values = [options.get(name, "left out") for options in settings]
        if values[0] != values[1]:
            raise InputError(f"{prefix}: --set {name} is {values[0]} and {values[1]}")


def _compared(
    results: Sequence[Scored],
    files: Sequence[str],
    names: Sequence[str],
    gold: str,
    *,
    seed: int,
    cluster: str | None,
    samples: Mapping[str, Sample] | None = None,
    version: str = __version__,
) -> Comparison:
    """Compare what a benchmark said of each system with what it said of the first."""
    first = results[0]
    rows = sampled(results, files, cluster, samples)
    details = [f"planeval {version}", f"benchmark {first.benchmark.name} ({' and '.join(first.reports)})"]
    details += [f"{key} {value}" for key, value in first.options.items()]
    details += [f"judged with {first.prompts}"] if first.prompts else []
    details += [
        f"{system} {result.mark}" for system, result in zip(names, results, strict=True) if result.mark
    ]
    provenance = " | ".join([*details, "summed counts of samples"])
    compared = make_comparison(
        rows.runs, rows.metrics, names=names, made=provenance, seed=seed, cluster=cluster
    )
    # No benchmark repairs in a second reading.
    counts: list[dict[str, Any]] = [
        {"repeated": len(result.matched.repeated), "repairable": None} for result in results
    ]
    return Comparison(
        tuple(
            replace(
                contrast,
                read={"first": first.read, "second": result.read, "gold": gold},
                records=(contrast.records[0]._replace(**counts[0]), contrast.records[1]._replace(**more)),
            )
            for contrast, result, more in zip(compared.contrasts, results[1:], counts[1:], strict=True)
        )
    )
