"""A file of answers scored under a benchmark: official and corrected figures in two columns, with notes.

scored = score_file("pred.jsonl", "appbench/test_mm.json", "appbench")
print(shown(scored))
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.base.formats import View
from planner_eval.base.json_text import dump_indented
from planner_eval.base.tables import Style
from planner_eval.base.text import format_count
from planner_eval.benchmarks.answers import (
    AnswerMatching,
    gold_folders,
    gold_samples,
    match_answers,
    read_answers,
)
from planner_eval.benchmarks.benchmark import DEFAULT_RULES, Benchmark, BenchmarkRules, benchmark
from planner_eval.benchmarks.datasets.published import Sample, datasets_of
from planner_eval.benchmarks.report import Figure, Report, SampleScore, report_data, row_texts
from planner_eval.reading.settings import DEFAULT_READING, Reading

if TYPE_CHECKING:
    from planner_eval.benchmarks.judging import Judge, Template
    from planner_eval.results.totals import ConversationSums
    from planner_eval.results.trials import TrialReport


# ----------------------------------------------------------------------
# With which prompts a benchmark's judge is asked: the published ones, others of the user's, or our own.
OWN_PROMPTS_NOTE = "own prompts, not the published ones"


class JudgeSetup(NamedTuple):
    """A judge with its prompts.

    Args:
        judge: Who is asked; None for nobody.
        said: Which prompts it is asked with, in words; "" without a judge.
    """

    judge: Judge | None
    said: str


def apply_prompts(
    benchmark: Benchmark, rules: BenchmarkRules, gold: str, *, cache: str | None = None
) -> JudgeSetup:
    """The judge with the prompts of a folder, else those that lie beside the data, else our own.

    Args:
        benchmark: Whose questions they are.
        rules: Who is asked, and where the files of prompts lie.
        gold: Where the data is, as for :func:`.gold.gold_samples`.
        cache: The cache folder, where it is not the usual one.

    Raises:
        InputError: a file that is wanted is not in the folder, or is no prompt; or there is a folder and
            no judge.
    """
    judge, folder = rules.judge, rules.prompts
    if judge is None or benchmark.prompt_files is None:
        if folder is not None:
            raise InputError("a folder of prompts needs a judge: add --judge")
        return JudgeSetup(judge, "")
    from planner_eval.benchmarks.judging import PromptedJudge, has_templates, read_templates

    file_names = benchmark.prompt_files()
    data_folders = gold_folders(benchmark, gold, cache=cache)
    folders = (
        [Path(folder)] if folder is not None else [p for p in data_folders if has_templates(p, file_names)]
    )
    if not folders:
        return JudgeSetup(judge, OWN_PROMPTS_NOTE)
    if not folders[0].is_dir():
        raise InputError(f"{folders[0]} is not a folder; expected a folder of prompts")
    templates = read_templates(folders[0], file_names)
    return JudgeSetup(PromptedJudge(judge, templates), _describe_prompts(benchmark, folders[0], templates))


def _describe_prompts(benchmark: Benchmark, folder: Path, templates: Mapping[str, Template]) -> str:
    """The files and their checksum, and whether they are the published ones."""
    names = ", ".join(template.name for template in templates.values())
    checksums = {file.path: file.sha256 for dataset in datasets_of(benchmark.name) for file in dataset.files}
    if all(checksums.get(template.name) == template.sha256 for template in templates.values()):
        return f"the published prompts ({names})"
    from hashlib import sha256

    digest = sha256("".join(template.sha256 for template in templates.values()).encode()).hexdigest()[:12]
    note = (
        ", which are not the published ones"
        if all(template.name in checksums for template in templates.values())
        else ""
    )
    return f"the prompts of {folder}{note} ({names}; {digest})"


# ----------------------------------------------------------------------
# A file of answers scored under a benchmark: official and corrected figures in two columns, with notes.
_MAX_SHOWN = 5
_MAX_NAMED = 3


@dataclass(frozen=True, slots=True)
class Scored:
    """What a benchmark says of a file of answers.

    Args:
        benchmark: The benchmark.
        matched: Which answer was scored against which sample, and what was left over.
        reports: Variant → report.
        notations: Notation that answers seem to be in → how many, where it is not the benchmark's own.
        options: The benchmark's own options that were given.
        read: Which field was read as the answers, in words.
        notes: What the user should know of the file of answers: which ids it gives twice.
        prompts: Which prompts the judge was asked with, in words; "" without a judge.
        judge: Who judged, with these prompts.
        lost: Samples at which the program itself fails, by id; no figure counts them.
        mark: What the answers were asked with that their figures are marked with.
        trials: Of samples that were asked several times what all answers come to, by variant.
        spent: What a run says that its answers cost.
    """

    benchmark: Benchmark
    matched: AnswerMatching
    reports: Mapping[str, Report]
    notations: Mapping[str, int]
    options: Mapping[str, Any]
    read: str = ""
    notes: tuple[str, ...] = ()
    prompts: str = ""
    judge: Judge | None = None
    lost: tuple[str, ...] = ()
    mark: str = ""
    trials: Mapping[str, TrialReport] = field(default_factory=dict)
    spent: ConversationSums | None = None

    def result_file(self) -> str:
        """The benchmark's own result file of these answers, as its published code writes it.

        Raises:
            InputError: its code writes none, or several for such answers.
        """
        if self.benchmark.result_file is None:
            raise InputError(f"{self.benchmark.title} has no result file that planeval writes")
        return self.benchmark.result_file(self.matched.records, self.judge)


def score_file(
    pred: str,
    gold: str,
    name: str,
    *,
    reading: Reading = DEFAULT_READING,
    rules: BenchmarkRules = DEFAULT_RULES,
    ids: Collection[str] | None = None,
    repetition: int | None = None,
) -> Scored:
    """Score a file of answers.

    Args:
        pred: The file of answers; ``-`` is standard input.
        gold: A folder of the published data, one of its files, or the name of a data set in the cache.
        name: The benchmark's name.
        reading: The fields of the id and the answer, and how answers are matched.
        rules: How they are judged; with no variant where only the result file is wanted.
        ids: The samples that were asked, where that is not all of them.
        repetition: Which of several answers to each sample counts; None where there is one.

    Raises:
        InputError: a file, the benchmark or an option is not there; the gold is another benchmark's; or
            answers and samples do not match at all.
    """
    bench, options = benchmark(name), dict(rules.settings)
    for variant in rules.variants:
        bench.checked(variant, options)
    has_trials = bench.several(options)
    answers = read_answers(
        pred, id_field=reading.id_field, text_field=reading.text_field, benchmark=bench,
        has_trials=has_trials, repetition=repetition,
    )  # fmt: skip
    answered = answered_ids(bench, reading, (answer.id for answer in answers.found))
    samples = gold_samples(bench, gold, cache=reading.cache, answered=answered)
    samples, left = _select_asked(samples, ids)
    left = (*left, *describe_asked(samples, answered))
    matched = match_answers(
        answers.found, samples, by=reading.by, has_trials=has_trials, nothing=bench.nothing
    )
    asking = apply_prompts(bench, rules, gold, cache=reading.cache)
    reports = {
        variant: bench.score(variant, matched.records, judge=asking.judge, run=rules.run, **options)
        for variant in rules.variants
    }
    notations = _other_notations(bench, options, matched, reports.get("official"))
    return Scored(
        bench, matched, reports, notations, options, answers.said, (*answers.notes, *left), *asking[::-1],
        mark=answers.mark,
    )  # fmt: skip


def answered_ids(bench: Benchmark, reading: Reading, ids: Iterable[str | None]) -> frozenset[str]:
    """The ids that were answered, where the benchmark counts no other samples than these bring."""
    if bench.read_asked is None or reading.by == "position":
        return frozenset()
    return frozenset(name for name in ids if name is not None)


def describe_asked(samples: Sequence[Sample], answered: Collection[str]) -> tuple[str, ...]:
    """What is to be said of the samples that count where some were answered."""
    if not answered:
        return ()
    return (f"{len(samples):,} samples of the parts that have answers; other parts do not count",)


def _select_asked(samples: list[Sample], ids: Collection[str] | None) -> tuple[list[Sample], tuple[str, ...]]:
    """The samples that were asked, and what is to be said of the others."""
    chosen = samples if ids is None else [sample for sample in samples if sample.id in ids]
    if not chosen or len(chosen) == len(samples):
        return samples, ()
    return chosen, (f"{len(chosen):,} of {len(samples):,} samples were asked; the others do not count",)


def _other_notations(
    bench: Benchmark, options: Mapping[str, str], matched: AnswerMatching, official: Report | None
) -> dict[str, int]:
    """What other notations answers are in, if more than half of them are.

    What the published code counts as solved is in the benchmark's own.
    """
    if not bench.notations or bench.several(options):
        return {}
    unsolved = [text for _, text in matched.records]
    if official:
        unsolved = [text for text, row in zip(unsolved, official.rows, strict=True) if not row.ok]
    notations: Counter[str] = Counter()
    own, records = len(matched.records) - len(unsolved), len(matched.records)
    for text in unsolved:
        if own * 2 >= records:  # whatever the others are in, they are not more than half
            return {}
        notation = guess_notation(bench, text)
        if notation is None:
            own += 1
        else:
            notations[notation] += 1
    return common_notations(notations, records)


def guess_notation(bench: Benchmark, text: str) -> str | None:
    """The notation that an answer seems to be in, where it is not the benchmark's own."""
    start = text.lstrip()[:1]
    if not bench.notations or not start:
        return None
    from planner_eval.reading.dialects.detect import likeliest_dialect

    notation = likeliest_dialect(text[:20_000])
    # A text of no notation is taken for JSON; plain words are an answer in every benchmark.
    return notation if notation not in bench.notations and (notation != "json" or start in "[{") else None


def common_notations(counts: Counter[str], records: int) -> dict[str, int]:
    """The commonest of other notations, where more than half of all answers are in others."""
    return dict(counts.most_common(2)) if counts.total() * 2 > records else {}


def score_view(
    scored: Scored,
    *,
    rows: bool = False,
    failures: bool = False,
    cases: Callable[[], Any] | None = None,
) -> View:
    """What a score shows: what was matched, then each figure by variant, with counts and notes.

    Args:
        scored: The score.
        rows: A row a record as well, or alone where there is one table; data have them always.
        failures: Of these rows only those of records that a variant does not count as solved.
        cases: Gives the test cases, see `planner_eval.base.formats.View`.
    """

    def records() -> list[dict[str, Any]]:
        return [r for r in record_rows(scored) if not (failures and all(r[name] for name in scored.reports))]

    def table() -> Iterable[dict[str, Any]]:
        return records() if rows else figure_rows(scored)

    def document(style: Style) -> Iterator[str]:
        figures = list(figure_rows(scored))
        for row in figures:  # the published figure to its last digit, where others are rounded
            if isinstance(row.get("official"), float):
                row["official"] = str(row["official"])
        yield "\n".join(summary_lines(scored))
        blocks = [
            style.table(figures, width=140),
            *_trial_blocks(scored, style),
        ]
        if scored.benchmark.turned:
            from planner_eval.benchmarks.turns import turn_block

            blocks += turn_block(scored.reports, style)
        blocks += [style.table(records())] if rows else []
        yield from (f"\n\n{block}" for block in blocks)

    data, own_file = (lambda: _format_json(scored)), scored.result_file
    return View(document, data, table, table, cases, result_file=own_file)


def _trial_blocks(scored: Scored, style: Style) -> Iterator[str]:
    """What all answers to each sample come to, by variant where they differ, and what they cost."""
    if not scored.trials and scored.spent is None:
        return
    from planner_eval.results.totals import cost_rows
    from planner_eval.results.trials import trial_blocks

    blocks = {variant: trial_blocks(report, style, "right") for variant, report in scored.trials.items()}
    is_complete = len({*map(tuple, blocks.values())}) == 1
    for variant, texts in [*blocks.items()][: 1 if is_complete else None]:
        yield "\n\n".join(texts if is_complete else [f"{variant}:", *texts])
    if scored.spent is not None and (rows := cost_rows(scored.spent)):
        yield style.table(rows)


def summary_lines(scored: Scored) -> Iterator[str]:
    """How many answers and samples there were, how they were matched, and all that did not match."""
    matched, bench = scored.matched, scored.benchmark
    samples = matched.samples
    answers = f"{format_count(matched.answers, 'answer')}, {format_count(samples, 'sample')}"
    yield f"{bench.title}: {answers}, matched by {matched.by}"
    yield f"denominator: {format_count(matched.scored, 'record')}, one per sample" + (
        "" if matched.scored == samples else " and answer"
    )
    if scored.prompts:
        yield f"judged with {scored.prompts}"
    if scored.mark:
        yield scored.mark
    for what, ids in (
        ("samples without an answer, counted as wrong", matched.missing),
        ("answers that belong to no sample, not counted", matched.unknown),
        ("further answers to a sample that has one, not counted", matched.repeated),
        ("answers that cannot be read from the file, counted as wrong", matched.broken),
        ("samples on which the published code itself fails, in no score", scored.lost),
    ):
        if ids:
            yield f"{what}: {len(ids):,} ({format_first_ids(ids)})"
    if bench.several(scored.options):
        answered = Counter(sample.id for sample, _ in matched.records)
        empty = {sample.id for sample, text in matched.records if not text.strip()}
        single = sum(count == 1 and key not in empty for key, count in answered.items())
        if single:
            yield f"samples with one answer only, which count as stable by the paper's formula: {single:,}"
    for notation, count in scored.notations.items():
        yield f"answers that look like {notation}, not what {bench.title} asks for: {count:,}"
    for variant, report in scored.reports.items():
        yield from _failure_lines(variant, report.rows)
        errors = Counter(figure.error.split(":")[0] for figure in report.figures if figure.error)
        for error, count in errors.most_common(_MAX_SHOWN):
            yield f"{variant}: scores where the published code raises {error}: {count:,}"


def _failure_lines(variant: str, rows: Sequence[SampleScore]) -> Iterator[str]:
    """At how many records which error stands; those of gold are named, for no answer mends them."""
    failed: Counter[str] = Counter()
    golds: dict[str, list[str]] = {}
    for row in rows:
        if row.error:
            error = row.error.split(":")[0]
            failed[error] += 1
            if error.startswith("gold"):
                golds.setdefault(error, []).append(row.id)
    for error, count in failed.most_common(_MAX_SHOWN):
        which = f" ({format_first_ids(golds[error])})" if error in golds else ""
        yield f"{variant}: {count:,} of {format_count(len(rows), 'record')}: {error}{which}"


def format_first_ids(ids: Sequence[str]) -> str:
    """The first of some ids."""
    return ", ".join(ids[:_MAX_NAMED]) + (", …" if len(ids) > _MAX_NAMED else "")


def figure_rows(scored: Scored) -> Iterator[dict[str, Any]]:
    """A row a figure: its value and counts under each variant, and why the two differ."""
    names: list[str] = []
    for report in scored.reports.values():
        position = 0
        for report_figure in report.figures:  # what only one variant has stands where that variant has it
            if report_figure.name not in names:
                names.insert(position, report_figure.name)
            position = names.index(report_figure.name) + 1
    by_name = {
        variant: {figure.name: figure for figure in report.figures}
        for variant, report in scored.reports.items()
    }
    for name in names:
        row: dict[str, Any] = {"figure": name}
        for variant, figures in by_name.items():
            figure = figures.get(name)
            row[variant] = figure_value(figure)
            row[f"{variant} of"] = format_counts(figure)
        row_figures = [figures.get(name) for figures in by_name.values()]
        row["note"] = _figure_note(scored, row_figures)
        yield row


def figure_value(figure: Figure | None) -> Any:
    """What stands in a column for a figure: its value, or the error that the published code ends with."""
    if figure is None:
        return None
    if figure.error:
        return figure.error.split(":")[0]
    return figure.value


def format_counts(figure: Figure | None) -> str | None:
    """Of how many how many count; None where a figure is of none."""
    if figure is None or figure.denominator is None:
        return None
    return f"{figure.numerator:g}/{figure.denominator:g}" if figure.numerator is not None else None


def _figure_note(scored: Scored, figures: Sequence[Figure | None]) -> str:
    """What a reader should know where the variants differ, or where a figure is missing."""
    present = [figure for figure in figures if figure is not None]
    notes = [figure.note for figure in present]
    if len(present) == 2:
        official, corrected = present
        if is_same_value(official, corrected):
            return corrected.note if corrected.value is None else ""
        if official.denominator is not None and official.denominator == corrected.denominator:
            notes = [corrected.note]  # a note on the published denominator explains nothing here
        counted_alike = official.numerator is not None and official.numerator == corrected.numerator
        if not (corrected.note or official.error or counted_alike):
            notes.append(scored.benchmark.difference)
    return "; ".join(dict.fromkeys(filter(None, notes)))


def is_same_value(first: Figure, second: Figure) -> bool:
    """Whether two variants have one value of a figure, and neither an error."""
    a, b = first.value, second.value
    if first.error or second.error:
        return False
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12)
    return a == b


def is_same_figure(first: Figure, second: Figure) -> bool:
    """Whether two figures of one variant are the same, also where the published code ends in both."""
    if first.error or second.error:
        return (first.name, first.error) == (second.name, second.error)
    return first.name == second.name and is_same_value(first, second)


def record_rows(scored: Scored) -> Iterator[dict[str, Any]]:
    """A row a record: whether it counts as solved under each variant, and what went wrong."""
    columns = [report.rows for report in scored.reports.values()]
    for scores in zip(*columns, strict=True):
        row: dict[str, Any] = {"id": scores[0].id}
        for variant, score in zip(scored.reports, scores, strict=True):
            row[variant] = score.ok
        errors = dict.fromkeys(s.error.split("\n")[0] for s in scores if s.error)
        yield row | {"error": "; ".join(errors) or None}


def _trial_data(scored: Scored) -> dict[str, Any]:
    if not scored.trials and scored.spent is None:
        return {}
    from planner_eval.results.totals import conversation_data
    from planner_eval.results.trials import trial_data

    data = {"trials": {variant: trial_data(report) for variant, report in scored.trials.items()}}
    return {**data, **({} if scored.spent is None else conversation_data(scored.spent))}


_EMPTY_ROWS = '"rows": []'
_ROWS_AT_ONCE = 100
"""Rows that are written together."""


def _format_json(scored: Scored) -> Iterator[str]:
    """Everything as JSON; the rows, of which there may be a great many, one after another."""
    first, *remaining = dump_indented(head_data(scored)).split(_EMPTY_ROWS)
    yield first
    for report, after in zip(scored.reports.values(), remaining, strict=True):
        yield _EMPTY_ROWS[:-1]
        rows, lead = row_texts(report, "\n    "), "\n    "
        while batch := list(islice(rows, _ROWS_AT_ONCE)):
            yield lead + ",\n    ".join(batch)
            lead = ",\n    "
        yield ("\n   ]" if report.rows else "]") + after


def head_data(scored: Scored) -> dict[str, Any]:
    """Everything but the rows as JSON data."""
    matched, turns = scored.matched, {}
    if scored.benchmark.turned:
        from planner_eval.benchmarks.turns import turn_data

        turns = turn_data(scored.reports)
    return {
        "benchmark": scored.benchmark.name,
        "answers": matched.answers,
        "answers_from": scored.read,
        "records": matched.scored,
        "matched_by": matched.by,
        "prompts": scored.prompts or None,
        **({"mark": scored.mark} if scored.mark else {}),
        "missing": matched.missing,
        "unknown": matched.unknown,
        "repeated": matched.repeated,
        "broken": matched.broken,
        **({"lost": scored.lost} if scored.lost else {}),
        "notations": dict(scored.notations),
        **({"turns": turns} if turns else {}),
        **_trial_data(scored),
        "reports": {
            variant: report_data(replace(report, rows=())) for variant, report in scored.reports.items()
        },
    }
