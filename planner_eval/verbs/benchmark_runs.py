"""Answers to a benchmark that processes score in parts, and runs that a folder keeps."""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, overload

from planner_eval.base.errors import InputError
from planner_eval.benchmarks.answers import Matched, answers_of, nameless, strange, unequal
from planner_eval.benchmarks.benchmark import Benchmark
from planner_eval.benchmarks.gold import gold_folders, gold_samples
from planner_eval.benchmarks.registry import benchmark
from planner_eval.benchmarks.report import Report, SampleScore
from planner_eval.benchmarks.score import Scored, Source, head_data, most_notations
from planner_eval.datasets.sample import Sample
from planner_eval.engine.answers import LOST, AnswersJob, Asked, Seen, Sums, scorers_of
from planner_eval.engine.folder import Input
from planner_eval.engine.inputs import inputs_of
from planner_eval.engine.kept import kept
from planner_eval.engine.large import unchanged
from planner_eval.engine.run import run
from planner_eval.records.doubts import repeated_ids
from planner_eval.records.files import PlanFile
from planner_eval.records.origins import Origin, origin_of
from planner_eval.records.several import read_path


class _Brought(NamedTuple):
    """Answers and samples brought together."""

    pairs: Asked
    by: str


def run_benchmark(
    pred: str,
    gold: str,
    name: str,
    *,
    variants: Sequence[str],
    source: Source,
    settings: Mapping[str, str],
    folder: str | None = None,
    jobs: int | None = None,
    **how: Any,
) -> Scored:
    """Score a file of answers in parts, by processes; rows are made when they are asked for.

    Args:
        pred: The file of answers.
        gold: The benchmark's data.
        name: The benchmark's name.
        variants: Which of its variants.
        source: How the answers are read and matched.
        settings: The benchmark's own options.
        folder: Where the run is kept.
        jobs: How many processes.
        how: What else :func:`planner_eval.engine.run.run` takes.

    Raises:
        InputError: as for :func:`planner_eval.score_benchmark`; or these answers are not scored one by one.
    """
    bench = benchmark(name)
    if not variants or scorers_of(bench, variants, settings) is None:
        raise InputError(f"{bench.title} needs all answers together here: they are scored by one process")
    golds = _gold_files(bench, gold, source.cache)
    samples = gold_samples(bench, gold, cache=source.cache)
    file = read_path(
        pred, id_field=source.id_field, text_field=source.text_field, role="answer", never=bench.gold_beside
    )
    many = source.text_field is not None or file.content == "outputs"
    pairs, by = _brought(bench, file, samples, source.by, many=many)
    notes = [*file.notes, *repeated_ids(file.records)]
    about = {"file": pred, "gold": gold, "read": file.said, "notes": notes, "by": by, "samples": len(samples)}
    about |= {"mark": file.mark, "cache": source.cache}
    job = AnswersJob(name, tuple(variants), dict(settings), many, about, folder is not None)
    outcome = run(
        job,
        pairs,
        folder=folder,
        inputs=[
            *inputs_of("pred", file),
            *(Input("gold", origin.path, origin.size, origin.digest) for origin in golds),
        ],
        given=(pred, gold),
        jobs=jobs or None,
        unchanged=unchanged(file, used=golds),
        report=lambda sums: _report_text(job, sums, os.path.join(folder or "", "rows.jsonl")),
        **how,
    )
    return _scored(job, outcome.sums, Ids(outcome.rows, len(samples), outcome))


def _report_text(job: AnswersJob, sums: Sums, rows: str) -> str:
    """A report without its rows, which stand beside it."""
    data = head_data(_scored(job, sums, Ids(rows, job.about["samples"])))
    return json.dumps(data, ensure_ascii=False, indent=1)


def _gold_files(bench: Benchmark, gold: str, cache: str | None) -> list[Origin]:
    """The files that gold may be read from, as they are."""
    if os.path.isfile(gold):
        return [origin_of(gold)]
    paths = []
    for gold_folder in gold_folders(bench, gold, cache=cache):
        for folder, folders, names in os.walk(gold_folder):
            folders[:] = sorted(
                name for name in folders if not os.path.exists(os.path.join(folder, name, "run.json"))
            )
            paths += [os.path.join(folder, name) for name in sorted(names) if not name.startswith(".")]
    return [origin_of(path) for path in paths]


def _brought(
    bench: Benchmark, file: PlanFile, samples: Sequence[Sample], by: str | None, *, many: bool
) -> _Brought:
    """Answers and samples brought together as :func:`planner_eval.benchmarks.answers.match` does."""
    if file.parts:
        raise InputError(f"{file.name} is a folder of answers: these are scored by one process")
    if not file.records:
        raise InputError("there are no answers")
    if not file.many and file.records[0].source == "":
        raise InputError(f"{file.name} is empty: there are no answers")
    positions = {sample.id: -1 for sample in samples}
    if len(positions) < len(samples):
        raise InputError("two samples of the gold data have one id: their answers are scored by one process")
    unmatched: array[int] = array("q")
    repeated, named = [], False
    lone: list[int] = []
    for position, record in enumerate(file.records):
        if record.id is None:
            lone.append(position)
            unmatched.append(position)
        else:
            named = True
            if positions.get(record.id) == -1:
                positions[record.id] = position
            else:
                unmatched.append(position)
                repeated += [position] if record.id in positions else []
    if by == "position" or (by is None and not named):
        if many:
            raise InputError("answers whose field is named and that have no ids are scored by one process")
        if len(file.records) != len(samples):
            raise unequal(len(file.records), len(samples))
        indices = array("q", range(len(samples)))
        return _Brought(Asked(file.records, samples, indices, array("q"), frozenset()), "position")
    _refuse_nameless(bench, file, lone, many=many)
    if max(positions.values()) < 0:
        raise strange((r.id for r in file.records if r.id is not None), samples)
    pairs = Asked(file.records, samples, array("q", positions.values()), unmatched, frozenset(repeated))
    return _Brought(pairs, "id")


def _refuse_nameless(bench: Benchmark, file: PlanFile, lone: Sequence[int], *, many: bool) -> None:
    """Refuse answers that name no sample where others do; a record that cannot be read is none."""
    answers = (answer for position in lone for answer in answers_of(file.records[position], bench, many=many))
    nameable = [answer for answer in answers if not answer.error]
    if nameable:
        count = sum(len(answers_of(record, bench, many=many)) for record in file.records)
        raise nameless(len(nameable), count, nameable[0].where)


class KeptScores(NamedTuple):
    """What a benchmark said of answers, and their file."""

    scored: Scored
    pred: str


def kept_benchmark(path: str) -> KeptScores:
    """What a benchmark said of answers, of a run that was kept, and the file of answers.

    Args:
        path: The run's folder.

    Raises:
        InputError: it is no such run, or not done.
    """
    stored = kept(path, "score")
    try:
        options: Any = stored.options
        settings = {str(name): str(value) for name, value in options["settings"].items()}
        job = AnswersJob(
            options["benchmark"],
            tuple(options["variants"]),
            settings,
            options["many"],
            options["about"],
            True,
        )
        sums = stored.sums(job.fold)
        scored = _scored(job, sums, Ids(stored.rows, job.about["samples"]))
        return KeptScores(scored, job.about["file"])
    except (KeyError, TypeError, ValueError, AttributeError, AssertionError):
        raise InputError(f"{path}: what the run wrote there cannot be read") from None


def part_of(report: Report, ids: Collection[str]) -> Report:
    """The figures and rows of some samples of a run that is kept.

    Args:
        report: A report of :func:`kept_benchmark`.
        ids: The samples.
    """
    assert isinstance(report.rows, _Rows)
    results = [r for r in _Found(report.rows.ids, report.rows.seen) if r[0] in ids]
    rows = [row for row in report.rows if row.id in ids]
    figures = tuple(report.rows.seen.scorer.figures(results))
    return Report(report.benchmark, report.variant, len(rows), figures, rows)


def _scored(job: AnswersJob, sums: Sums, ids: Sequence[str]) -> Scored:
    """What the benchmark says, of the sums over all answers and the ids of the samples."""
    bench, about = job.bench, job.about
    lists = {what: sums.listed(what) for what in ("unknown", "repeated", "broken")}
    matched = Matched(
        (),
        about["by"],
        sums.answers,
        tuple(sums.missing) if about["by"] == "id" else (),
        **lists,
        samples=sums.records,
        scored=sums.records,
    )
    reports = {}
    for name, seen in sums.seen.items():
        figures = tuple(job.scorers[name].figures(_Found(ids, seen)))
        reports[name] = Report(bench.name, name, sums.records, figures, _Rows(ids, seen))
    notations = most_notations(sums.looks, sums.records)
    return Scored(
        bench,
        matched,
        reports,
        notations,
        job.settings,
        about["read"],
        tuple(about["notes"]),
        lost=tuple(sums.lost),
        mark=about.get("mark", ""),
    )


# ---------------------------------------------------------------- read when they are asked for
class Ids(Sequence[str]):
    """The ids of a run's samples, read from its rows when they are asked for.

    Args:
        path: The file, a line a row; those of samples come first.
        size: How many samples there are.
        keeps: What keeps the file there.
    """

    def __init__(self, path: str, size: int, keeps: object = None) -> None:
        self.path, self.size, self.keeps = path, size, keeps

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[str]:
        decode, start = json.JSONDecoder().raw_decode, len('{"id": ')
        with open(self.path, encoding="utf-8") as lines:
            for line in islice(lines, self.size):
                yield decode(line, start)[0]

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        return tuple(self)[index]


class _Found(Sequence[tuple[str, Any]]):
    """What was found out about each sample that could be scored, with its id."""

    def __init__(self, ids: Sequence[str], seen: Seen) -> None:
        self.ids, self.seen = ids, seen

    def __len__(self) -> int:
        return len(self.seen.codes) - self.seen.codes.count(LOST)

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        values = self.seen.known
        for name, code in zip(self.ids, self.seen.codes, strict=True):
            if code != LOST:
                yield name, values[code]

    @overload
    def __getitem__(self, index: int) -> tuple[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[tuple[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return tuple(self)[index]


class _Rows(Sequence[SampleScore]):
    """The row of each sample."""

    def __init__(self, ids: Sequence[str], seen: Seen) -> None:
        self.ids, self.seen = ids, seen

    def __len__(self) -> int:
        return len(self.seen.codes)

    def __iter__(self) -> Iterator[SampleScore]:
        row = self.seen.row
        for name, code in zip(self.ids, self.seen.codes, strict=True):
            like = row(code)
            yield SampleScore(name, like.ok, like.figures, like.error)

    @overload
    def __getitem__(self, index: int) -> SampleScore: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[SampleScore]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return tuple(self)[index]
