"""Answers to a benchmark that processes score in parts, and runs that a folder keeps."""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Collection, Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.benchmarks.answer_rows import (
    AnswerPairs,
    AnswersJob,
    AnswerSums,
    SampleIds,
    SampleResults,
    SampleRows,
)
from planner_eval.benchmarks.answers import (
    AnswerMatching,
    answers_of,
    gold_folders,
    gold_samples,
    missing_ids_error,
    read_answer_file,
    unequal_counts_error,
    unknown_ids_error,
)
from planner_eval.benchmarks.benchmark import Benchmark, BenchmarkRules, benchmark
from planner_eval.benchmarks.datasets.published import DATASET_PREFIX, Sample
from planner_eval.benchmarks.report import Report
from planner_eval.benchmarks.score import (
    Scored,
    answered_ids,
    common_notations,
    describe_asked,
    head_data,
    is_same_figure,
    score_file,
)
from planner_eval.comparison.evaluate import Progress
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.pairing import format_repeated_ids
from planner_eval.reading.files.record import Origin, digest_origin
from planner_eval.reading.settings import Reading
from planner_eval.results.runs.folder import Input, changed_input, inputs_of
from planner_eval.results.runs.model import Running, StoredRun, make_change_check
from planner_eval.results.runs.run import run
from planner_eval.results.runs.stored import refuse_damaged, sums_of


def run_benchmark(
    pred: str,
    gold: str,
    name: str,
    *,
    reading: Reading,
    rules: BenchmarkRules,
    running: Running,
    progress: Progress | None = None,
) -> Scored:
    """Score a file of answers in parts, by processes; rows are made when they are asked for.

    Args:
        pred: The file of answers.
        gold: The benchmark's data.
        name: The benchmark's name.
        reading: How the answers are read and matched.
        rules: How they are judged.
        running: How the work is done, and where it is kept.
        progress: Is told how many are done.

    Raises:
        InputError: as for :func:`planner_eval.score_benchmark`; or these answers are not scored one by one.
    """
    bench, variants, settings = benchmark(name), tuple(rules.variants), dict(rules.settings)
    if not variants or bench.scorers(variants, settings) is None:
        raise InputError(f"{bench.title} needs all answers together here: they are scored by one process")
    golds = _gold_files(bench, gold, reading.cache)
    file = read_answer_file(pred, reading.id_field, reading.text_field, bench)
    ids = answered_ids(bench, reading, (record.id for record in file.records) if bench.read_asked else ())
    samples = gold_samples(bench, gold, cache=reading.cache, answered=ids)
    many = reading.text_field is not None or file.content == "outputs"
    pairs, by = _match_answers(bench, file, samples, reading.by, many=many)
    notes = [*file.notes, *format_repeated_ids(file.records), *describe_asked(samples, ids)]
    about = {"file": pred, "gold": gold, "read": file.said, "notes": notes, "by": by, "samples": len(samples)}
    about |= {"mark": file.mark, "cache": reading.cache}
    fields = {"id": reading.id_field, "text": reading.text_field}
    about |= {"fields": fields} if any(fields.values()) else {}
    job = AnswersJob(name, variants, settings, many, about, running.folder is not None)
    outcome = run(
        job,
        pairs,
        running,
        inputs=[*inputs_of("pred", file), *_gold_inputs(golds)],
        given=(pred, gold),
        progress=progress,
        unchanged=make_change_check(file, used=golds),
        report=lambda sums: _report_text(job, sums, os.path.join(running.home or "", "rows.jsonl")),
    )
    return _make_scored(job, outcome.sums, SampleIds(outcome.rows, len(samples), outcome))


def _report_text(job: AnswersJob, sums: AnswerSums, rows: str) -> str:
    """A report without its rows, which stand beside it."""
    data = head_data(_make_scored(job, sums, SampleIds(rows, job.about["samples"])))
    return json.dumps(data, ensure_ascii=False, indent=1)


def _gold_files(bench: Benchmark, gold: str, cache: str | None) -> list[Origin]:
    """The files that gold may be read from, as they are."""
    if os.path.isfile(gold):
        return [digest_origin(gold)]
    paths = []
    for gold_folder in gold_folders(bench, gold, cache=cache):
        for folder, folders, names in os.walk(gold_folder):
            folders[:] = sorted(
                name for name in folders if not os.path.exists(os.path.join(folder, name, "run.json"))
            )
            paths += [os.path.join(folder, name) for name in sorted(names) if not name.startswith(".")]
    return [digest_origin(path) for path in paths]


def _match_answers(
    bench: Benchmark, file: PlanFile, samples: Sequence[Sample], by: str | None, *, many: bool
) -> tuple[AnswerPairs, str]:
    """Answers and samples brought together as :func:`planner_eval.benchmarks.answers.match_answers` does."""
    if file.parts:
        raise InputError(f"{file.name} is a folder of answers: these are scored by one process")
    if not file.records:
        raise InputError("there are no answers")
    if not file.many and file.records[0].source == "":
        raise InputError(f"{file.name} is empty: there are no answers")
    positions = {sample.id: -1 for sample in samples}
    if len(positions) < len(samples):
        raise InputError(
            "two samples of the gold data have the same id: all answers are scored by one process"
        )
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
            raise InputError("answers without ids whose field is named are scored by one process")
        if len(file.records) != len(samples):
            raise unequal_counts_error(len(file.records), len(samples))
        indices = array("q", range(len(samples)))
        return AnswerPairs(file.records, samples, indices, array("q"), frozenset()), "position"
    _refuse_nameless(bench, file, lone, many=many)
    if max(positions.values()) < 0:
        raise unknown_ids_error((r.id for r in file.records if r.id is not None), samples)
    pairs = AnswerPairs(file.records, samples, array("q", positions.values()), unmatched, frozenset(repeated))
    return pairs, "id"


def _refuse_nameless(bench: Benchmark, file: PlanFile, lone: Sequence[int], *, many: bool) -> None:
    """Refuse answers that name no sample where others do; a record that cannot be read is none."""
    answers = (answer for position in lone for answer in answers_of(file.records[position], bench, many=many))
    nameable = [answer for answer in answers if not answer.error]
    if nameable:
        count = sum(len(answers_of(record, bench, many=many)) for record in file.records)
        raise missing_ids_error(len(nameable), count, nameable[0].where)


class StoredScores(NamedTuple):
    """What a benchmark said of answers, and their file."""

    scored: Scored
    pred: str


def read_stored_benchmark(run: StoredRun) -> StoredScores:
    """What a benchmark said of answers, of a run that was kept, and the file of answers.

    Args:
        run: A run that was scored under a benchmark.

    Raises:
        InputError: it is not done, or its files are damaged.
    """
    with refuse_damaged(run.path):
        options = run.options
        variants = tuple(options["variants"])
        job = AnswersJob(
            options["benchmark"], variants, run.settings, options["many"], options["about"], True
        )
        sums = sums_of(run, job.fold)
        scored = _make_scored(job, sums, SampleIds(run.rows, job.about["samples"]))
        return StoredScores(scored, job.about["file"])


def score_run_again(run: StoredRun) -> StoredScores:
    """The same with its records: the files of the run are read again, and their answers scored again.

    Args:
        run: A run that was scored under a benchmark.

    Raises:
        InputError: it is not done; its files are not there, or were changed; or this version scores them
            otherwise than the one that wrote the run.
    """
    stored, pred = read_stored_benchmark(run)
    path, about = run.path, run.about
    gold, bench, fields = about["gold"], stored.benchmark, about.get("fields") or {}
    reading = Reading(
        id_field=fields.get("id"), text_field=fields.get("text"), by=about["by"], cache=about["cache"]
    )
    for name, role in ((pred, "answers"), (gold, "gold")):
        if os.path.dirname(name) and not name.startswith(DATASET_PREFIX) and not os.path.lexists(name):
            raise InputError(
                f"{path} was made from {name} ({role}), which does not exist here: restore it, or work in "
                "the folder where the run was made"
            )
    file = read_answer_file(pred, reading.id_field, reading.text_field, bench)
    now = [*inputs_of("pred", file), *_gold_inputs(_gold_files(bench, gold, reading.cache))]
    if difference := changed_input(run.inputs, now):
        raise InputError(
            f"{path} was made from other files: {difference}; repeat the run's command in another folder"
        )
    rules = BenchmarkRules([*stored.reports], settings=stored.options)
    scored = score_file(pred, gold, bench.name, reading=reading, rules=rules)
    for variant, report in scored.reports.items():
        changed = [
            (new or old).name
            for new, old in zip_longest(report.figures, stored.reports[variant].figures)
            if new is None or old is None or not is_same_figure(new, old)
        ]
        if changed:
            raise InputError(
                f"{path} was scored by planeval {run.version}, and this version scores its answers "
                f"differently ({variant} {changed[0]}): score them again into another folder"
            )
    return StoredScores(scored, pred)


def _gold_inputs(files: Iterable[Origin]) -> list[Input]:
    return [Input("gold", origin.path, origin.size, origin.digest) for origin in files]


def select_samples(report: Report, ids: Collection[str]) -> Report:
    """The figures and rows of some samples of a run that is kept.

    Args:
        report: A report of :func:`read_stored_benchmark`.
        ids: The samples.
    """
    assert isinstance(report.rows, SampleRows)
    results = [r for r in SampleResults(report.rows.ids, report.rows.seen) if r[0] in ids]
    rows = [row for row in report.rows if row.id in ids]
    figures = tuple(report.rows.seen.scorer.figures(results))
    return Report(report.benchmark, report.variant, len(rows), figures, rows)


def _make_scored(job: AnswersJob, sums: AnswerSums, ids: Sequence[str]) -> Scored:
    """What the benchmark says, of the sums over all answers and the ids of the samples."""
    bench, about = job.bench, job.about
    lists = {what: sums.listed(what) for what in ("unknown", "repeated", "broken")}
    matched = AnswerMatching(
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
        figures = tuple(job.scorers[name].figures(SampleResults(ids, seen)))
        reports[name] = Report(bench.name, name, sums.records, figures, SampleRows(ids, seen))
    notations = common_notations(sums.looks, sums.records)
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
