"""The samples that answers are scored against, and what a benchmark says of gold answered with gold."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from planner_eval.base.errors import DatasetError, InputError
from planner_eval.benchmarks.benchmark import VARIANTS, Benchmark
from planner_eval.benchmarks.datasets.published import dataset_folder, published_datasets, read
from planner_eval.benchmarks.datasets.sample import Sample
from planner_eval.benchmarks.registry import BENCHMARKS
from planner_eval.benchmarks.registry import benchmark as find
from planner_eval.benchmarks.report import Report, SampleScore

# ----------------------------------------------------------------------
# The samples that answers are scored against: a data set by name, a folder, or one of its files.
DATASET_PREFIX = "dataset:"


def gold_samples(
    benchmark: Benchmark, source: str, *, cache: str | None = None, answered: Collection[str] = ()
) -> list[Sample]:
    """The samples of a gold source.

    Args:
        benchmark: Whose data it is.
        source: A folder of the published files, one of them, or the name of a data set in the cache; a
            path that exists comes first, and ``dataset:NAME`` is always the data set.
        cache: The cache folder, where it is not the usual one.
        answered: Ids of samples that were answered, where the benchmark counts no others than these bring.

    Raises:
        InputError: nothing is there, it cannot be read, or it is another benchmark's gold.
    """
    path = Path(source)
    try:
        if not source.startswith(DATASET_PREFIX) and path.exists():
            samples = list(benchmark.read_file(path) if path.is_file() else _read(benchmark, path, answered))
        else:
            samples = _read_cached(benchmark, source.removeprefix(DATASET_PREFIX), cache, answered)
    except DatasetError:
        likely = _guess_benchmark(path) if path.is_file() else None
        if likely and likely != benchmark.name:
            raise InputError(f"{source} is gold of {likely}, not of {benchmark.name}") from None
        raise
    _refuse_other_gold(benchmark, source, samples)
    return samples


def _read(benchmark: Benchmark, folder: Path, answered: Collection[str]) -> Iterator[Sample]:
    """The samples of a folder; where the benchmark says so, those alone that these ids bring."""
    if benchmark.read_asked is not None and answered:
        return benchmark.read_asked(folder, answered)
    return benchmark.read(folder)


def gold_folders(benchmark: Benchmark, source: str, *, cache: str | None = None) -> list[Path]:
    """The folders that a gold source lies in; they need not be there.

    Args:
        benchmark: Whose data it is.
        source: As for :func:`gold_samples`.
        cache: The cache folder, where it is not the usual one.
    """
    path, name = Path(source), source.removeprefix(DATASET_PREFIX)
    if name == source and path.exists():
        return [path if path.is_dir() else path.parent]
    sets = [dataset for dataset in published_datasets().values() if dataset.benchmark == benchmark.name]
    return [
        dataset_folder(dataset, cache=cache) for dataset in sets if name in (dataset.name, dataset.benchmark)
    ]


def _read_cached(
    benchmark: Benchmark, name: str, cache: str | None, answered: Collection[str] = ()
) -> list[Sample]:
    datasets = [
        dataset for dataset in published_datasets().values() if name in (dataset.name, dataset.benchmark)
    ]
    if not datasets:
        raise InputError(f"{name}: there is no such file, folder or data set")
    sets = [dataset for dataset in datasets if dataset.benchmark == benchmark.name]
    if not sets:
        raise InputError(
            f"{name} is a data set of {datasets[0].benchmark or 'no benchmark'}, not of {benchmark.name}"
        )
    samples, missing = [], []
    for dataset in sets:
        try:
            folder = dataset_folder(dataset, cache=cache)
            some = benchmark.read_asked is not None and bool(answered)
            samples += list(_read(benchmark, folder, answered) if some else read(dataset, folder))
        except DatasetError as problem:
            missing.append(str(problem))
    if not samples:
        fetch = " ".join(dataset.name for dataset in sets)
        raise DatasetError(
            f"{'; '.join(missing)}\n'planeval data fetch {fetch}' fetches it; or name its folder"
        )
    return samples


def _refuse_other_gold(benchmark: Benchmark, source: str, samples: Sequence[Sample]) -> None:
    """Refuse gold of which no record has the shape of this benchmark's gold."""
    if not samples:
        raise InputError(f"{source} holds no samples")
    if any(benchmark.fits(sample.gold) for sample in samples):
        return
    likely = next((n for n, b in BENCHMARKS.items() if any(b.fits(s.gold) for s in samples)), None)
    hint = f"it looks like gold of {likely}" if likely else "no benchmark's gold looks like this"
    raise InputError(f"{source} is no gold of {benchmark.name}: {hint}")


def _guess_benchmark(path: Path) -> str | None:
    """The benchmark whose records a file seems to hold, by the fields in its beginning."""
    try:
        with path.open(encoding="utf-8") as stream:
            head = stream.read(20_000)
    except (OSError, ValueError):
        return None
    return next((n for n, b in BENCHMARKS.items() if any(f'"{sign}"' in head for sign in b.signs)), None)


# ----------------------------------------------------------------------
# Gold answered with gold: what a benchmark says of a prediction that repeats the annotation.
#
# It should be perfect. Where it is not, the gold itself, or the published code, has something wrong.
@dataclass(frozen=True, slots=True)
class ReplayResult:
    """Gold scored against itself under one variant of a benchmark's metrics.

    Args:
        report: The report.
        imperfect: The rows that are not perfect.
        skipped: Samples whose right answer is free text that only a judge can decide on.
    """

    report: Report
    imperfect: tuple[SampleScore, ...]
    skipped: int = 0


def gold_text(benchmark: str, sample: Sample) -> str | None:
    """The answer that repeats a sample's gold, in the notation that the benchmark asks for.

    Args:
        benchmark: The benchmark's name.
        sample: A sample of its reader.

    Returns:
        The text; None where the right answer is free text.

    >>> gold_text("callnavi", Sample("a", gold={"API": ["pay"], "parameters": [{}]}))
    '{"API": ["pay"], "parameters": [{}]}'
    """
    return find(benchmark).gold_text(sample)


def replay(benchmark: str, samples: Iterable[Sample]) -> list[ReplayResult]:
    """Score gold against gold under both variants of the benchmark.

    Args:
        benchmark: The benchmark's name.
        samples: Samples of its reader.
    """
    records = [(sample, gold_text(benchmark, sample)) for sample in samples]
    answered = [(sample, text) for sample, text in records if text is not None]
    replays = []
    for variant in VARIANTS:
        report = find(benchmark).score(variant, answered)
        imperfect = tuple(row for row in report.rows if not row.ok)
        replays.append(ReplayResult(report, imperfect, len(records) - len(answered)))
    return replays
