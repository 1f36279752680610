"""Answers to a benchmark as a run: scored in parts by processes, kept by a folder."""

from __future__ import annotations

import json
import os
import sys
from array import array
from binascii import a2b_base64, b2a_base64
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, zip_longest
from typing import Any, NamedTuple, overload

from planner_eval.base.errors import InputError
from planner_eval.benchmarks.answers import (
    DATASET_PREFIX,
    Answer,
    AnswerMatching,
    Scorer,
    answers_of,
    gold_folders,
    gold_samples,
    missing_ids_error,
    read_answer_file,
    unequal_counts_error,
    unknown_ids_error,
)
from planner_eval.benchmarks.benchmark import Benchmark, benchmark
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.report import Report, SampleScore
from planner_eval.benchmarks.score import (
    Scored,
    Source,
    answered_ids,
    common_notations,
    describe_asked,
    guess_notation,
    head_data,
    is_same_figure,
    score_file,
)
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.pairing import format_repeated_ids
from planner_eval.reading.files.record import Origin, Record, digest_origin, is_lazy
from planner_eval.results.runs.folder import Input, changed_input, inputs_of
from planner_eval.results.runs.pairs import LazyPairs, Pair, make_change_check
from planner_eval.results.runs.run import run
from planner_eval.results.runs.stored import read_stored_run

# ----------------------------------------------------------------------
# Answers to a benchmark as a run: what was asked beside what was answered, and what the answers come to.
NO_RESULT = 2**32 - 1
"""Stands for what was found out where nothing could be: the sample itself ends the program, or hangs."""


class AnswerPairs(LazyPairs):
    """Each sample with the record of its answer, then the records that answer none; read when asked for.

    A record beside a sample that is known by its id alone repeats an answer.

    Args:
        records: The file of answers.
        samples: What was asked.
        positions: Of each sample which record answers it; -1 for none.
        unmatched: The other records.
        repeated: Those of them whose sample has an answer.
        first: The first pair, counted from 0.
        end: The one after the last; all when left out.
    """

    def __init__(
        self,
        records: Sequence[Record],
        samples: Sequence[Sample],
        positions: array[int],
        unmatched: array[int],
        repeated: frozenset[int],
        first: int = 0,
        end: int | None = None,
    ) -> None:
        self.records, self.samples, self.places = records, samples, positions
        self.rest, self.repeated = unmatched, repeated
        super().__init__(first, len(samples) + len(unmatched) if end is None else end)

    def of(self, first: int, end: int) -> AnswerPairs:
        """Others of the same pairs."""
        return AnswerPairs(self.records, self.samples, self.places, self.rest, self.repeated, first, end)

    def __iter__(self) -> Iterator[Pair]:
        count = len(self.samples)
        positions = self.places[self.first : self.end]
        unmatched = self.rest[max(0, self.first - count) : max(0, self.end - count)]
        records = self._read([*(p for p in positions if p >= 0), *unmatched])
        for number, position in enumerate(positions, self.first):
            sample = self.samples[number]
            yield next(records) if position >= 0 else None, Record("", number, sample.id, sample)
        for position in unmatched:
            record = next(records)
            yield record, Record("", -1, record.id, None) if position in self.repeated else None

    def _read(self, positions: list[int]) -> Iterator[Record]:
        if is_lazy(self.records):
            return iter(self.records.of(positions))
        return (self.records[position] for position in positions)


class ResultStore:
    """What was found out about answers, in order; the same is held once.

    Args:
        scorer: Whose it is.
        data: What :meth:`data` gave.
    """

    def __init__(self, scorer: Scorer, data: Mapping[str, Any] | None = None) -> None:
        self.scorer = scorer
        self.texts: list[str] = list(data["found"]) if data else []
        self.numbers = {text: number for number, text in enumerate(self.texts)}
        self.codes = array("I")
        if data:
            self.codes.frombytes(a2b_base64(data["codes"]))
            if sys.byteorder == "big":
                self.codes.byteswap()
        self._rows: dict[int, SampleScore] = {}
        self._encode = json.JSONEncoder(default=scorer.data, separators=(",", ":")).encode

    def add(self, outcome: Any) -> int:
        """Add what was found out about the next answer; gives the number of its like."""
        code = self._number(self._encode(outcome))
        self.codes.append(code)
        if code not in self._rows:
            self._rows[code] = self.scorer.row("", outcome)
        return code

    def lose(self) -> None:
        """Pass over an answer of which nothing can be said."""
        self.codes.append(NO_RESULT)

    def _number(self, text: str) -> int:
        number = self.numbers.setdefault(text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        return number

    def extend(self, other: ResultStore) -> None:
        """Add what was found out about the answers that come next."""
        numbers = {number: self._number(text) for number, text in enumerate(other.texts)}
        numbers[NO_RESULT] = NO_RESULT
        self.codes.extend(numbers[code] for code in other.codes)

    def data(self) -> dict[str, Any]:
        """As JSON data."""
        codes = array("I", self.codes)
        if sys.byteorder == "big":
            codes.byteswap()
        return {"found": self.texts, "codes": b2a_base64(codes.tobytes(), newline=False).decode()}

    @cached_property
    def known(self) -> list[Any]:
        """What there is, each once; asked for when all is added."""
        return [self.scorer.known(json.loads(text)) for text in self.texts]

    def row(self, code: int) -> SampleScore:
        """The row of what has a number, without its id."""
        if code == NO_RESULT:
            return SampleScore("", False, error="the program itself failed at its gold")
        row = self._rows.get(code)
        if row is None:
            row = self._rows[code] = self.scorer.row("", self.known[code])
        return row


_LISTED_OUTCOMES = ("unknown", "repeated", "broken")


class AnswerSums:
    """What answers come to.

    Args:
        scorers: One a variant.
        data: What :meth:`data` gave.
    """

    def __init__(self, scorers: Mapping[str, Scorer], data: Mapping[str, Any] | None = None) -> None:
        stored: Mapping[str, Any] = data or {}
        seen_data = stored.get("seen", {})
        self.seen = {name: ResultStore(scorer, seen_data.get(name)) for name, scorer in scorers.items()}
        self.answers: int = stored.get("answers", 0)
        self.records: int = stored.get("records", 0)
        self.missing: list[str] = list(stored.get("missing", ()))
        self.lost: list[str] = list(stored.get("lost", ()))
        self.lists = {what: list(map(tuple, stored.get(what, ()))) for what in _LISTED_OUTCOMES}
        self.looks: Counter[str] = Counter(stored.get("looks"))

    def extend(self, other: AnswerSums) -> None:
        """Add those of the answers that come next."""
        for name, seen in self.seen.items():
            seen.extend(other.seen[name])
        self.answers += other.answers
        self.records += other.records
        self.missing += other.missing
        self.lost += other.lost
        for what, entries in self.lists.items():
            entries += other.lists[what]
        self.looks.update(other.looks)

    def data(self) -> dict[str, Any]:
        """As JSON data."""
        return {
            "seen": {name: seen.data() for name, seen in self.seen.items()},
            "answers": self.answers,
            "records": self.records,
            "missing": self.missing,
            "lost": self.lost,
            **self.lists,
            "looks": dict(self.looks),
        }

    def listed(self, what: str) -> tuple[str, ...]:
        """Answers that are ``unknown``, ``repeated`` or ``broken``, in their file's order."""
        return tuple(message for _, message in sorted(self.lists[what], key=lambda entry: entry[0]))


@dataclass(frozen=True)
class AnswersJob:
    """How answers are scored.

    Args:
        benchmark: By which benchmark.
        variants: Under which of its variants.
        settings: Its own options.
        many: A list of texts is several answers.
        about: How answers and samples came together, which a report says.
        told: Rows say what was found out; else only whose they are.
    """

    benchmark: str
    variants: tuple[str, ...]
    settings: Mapping[str, str]
    many: bool
    about: Mapping[str, Any]
    told: bool

    @property
    def kind(self) -> str:
        """What the run is called."""
        return "score"

    def options(self) -> dict[str, Any]:
        """All that decides what the rows are, as JSON data."""
        return {
            "benchmark": self.benchmark,
            "variants": list(self.variants),
            "settings": dict(self.settings),
            "many": self.many,
            "about": dict(self.about),
        }

    def fold(self, data: Any = None) -> AnswerSums:
        """Sums over no answers, or those that were kept as data."""
        return AnswerSums(self.scorers, data)

    @cached_property
    def bench(self) -> Benchmark:
        """The benchmark."""
        return benchmark(self.benchmark)

    @cached_property
    def scorers(self) -> dict[str, Scorer]:
        """How each variant scores."""
        scorers = scorers_of(self.bench, self.variants, self.settings)
        assert scorers is not None
        return scorers

    def __reduce__(self) -> tuple[Any, ...]:
        values = (self.benchmark, self.variants, self.settings, self.many, self.about, self.told)
        return AnswersJob, values

    def rows(self, pairs: Iterable[Pair], fold: AnswerSums) -> Iterator[str]:
        """A row a pair, in order, as JSON; adds each to the sums."""
        row_texts: dict[str, dict[int, str]] = {name: {} for name in self.variants}
        for pred, sample_record in pairs:
            answers = [] if pred is None else answers_of(pred, self.bench, many=self.many)
            fold.answers += len(answers)
            fold.lists["broken"] += [
                (pred.position, f"{answer.where}: {answer.error}")
                for answer in answers
                if pred and answer.error
            ]
            if sample_record is None or sample_record.position < 0:
                yield _unmatched_row(pred, answers, fold, "unknown" if sample_record is None else "repeated")
                continue
            if pred is not None and pred.id is not None:
                fold.lists["repeated"] += [(pred.position, pred.id)] * (len(answers) - 1)
            yield self._row(sample_record, answers, fold, row_texts)

    def _row(
        self,
        sample_record: Record,
        answers: list[Answer],
        fold: AnswerSums,
        row_texts: dict[str, dict[int, str]],
    ) -> str:
        """The row of a sample."""
        fold.records += 1
        sample, answer = sample_record.source, answers[0] if answers else None
        state = "missing" if answer is None else "broken" if answer.error else "answered"
        if answer is None:
            fold.missing.append(sample_record.id or "")
        head = f'{{"id": {json.dumps(sample_record.id)}, "state": '
        if sample is None:
            fold.lost.append(sample_record.id or "")
            for seen in fold.seen.values():
                seen.lose()
            return f'{head}"lost", "error": {json.dumps(str(sample_record.error))}}}'
        text = self.bench.nothing if answer is None or answer.text is None else answer.text
        fragments, solved = [], False
        for name, seen in fold.seen.items():
            code = seen.add(self.scorers[name].one(sample, text))
            solved = solved or (name == "official" and seen.row(code).ok)
            if self.told:
                if code not in row_texts[name]:
                    row_texts[name][code] = _row_message(seen.row(code))
                fragments.append(f', "{name}": {row_texts[name][code]}')
        # What the published code solves is in the benchmark's own notation.
        if not solved and (look := guess_notation(self.bench, text)) is not None:
            fold.looks[look] += 1
        return f'{head}"{state}"{"".join(fragments)}}}'


def _unmatched_row(pred: Record | None, answers: list[Answer], fold: AnswerSums, state: str) -> str:
    """The row of an answer that does not count."""
    assert pred is not None
    if pred.id is not None:
        fold.lists[state] += [(pred.position, pred.id)] * len(answers)
    return json.dumps({"id": pred.id, "state": state, "line": pred.line})


def _row_message(row: SampleScore) -> str:
    """What a row says beside its id."""
    figures = {
        figure.name: {"value": figure.value}
        | (
            {}
            if figure.denominator is None
            else {"numerator": figure.numerator, "denominator": figure.denominator}
        )
        | ({"error": figure.error} if figure.error else {})
        for figure in row.figures
    }
    return json.dumps({"ok": row.ok, "error": row.error, "figures": figures})


def scorers_of(
    bench: Benchmark, variants: Sequence[str], settings: Mapping[str, str]
) -> dict[str, Scorer] | None:
    """How the variants of a benchmark score answers one by one; None where one of them cannot."""
    by_variant = {name: bench.apart(name, bench.checked(name, settings)) for name in variants}
    scorers = {name: scorer for name, scorer in by_variant.items() if scorer is not None}
    return scorers if len(scorers) == len(by_variant) else None


# ----------------------------------------------------------------------
# Answers to a benchmark that processes score in parts, and runs that a folder keeps.
class _AnswerPositions(NamedTuple):
    """Answers and samples brought together."""

    pairs: AnswerPairs
    by: str


def run_benchmark(  # noqa: PLR0913 - the options of a public function
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
        how: What else :func:`planner_eval.results.runs.run.run` takes.

    Raises:
        InputError: as for :func:`planner_eval.score_benchmark`; or these answers are not scored one by one.
    """
    bench = benchmark(name)
    if not variants or scorers_of(bench, variants, settings) is None:
        raise InputError(f"{bench.title} needs all answers together here: they are scored by one process")
    golds = _gold_files(bench, gold, source.cache)
    file = read_answer_file(pred, source.id_field, source.text_field, bench)
    ids = answered_ids(bench, source, (record.id for record in file.records) if bench.read_asked else ())
    samples = gold_samples(bench, gold, cache=source.cache, answered=ids)
    many = source.text_field is not None or file.content == "outputs"
    pairs, by = _match_answers(bench, file, samples, source.by, many=many)
    notes = [*file.notes, *format_repeated_ids(file.records), *describe_asked(samples, ids)]
    about = {"file": pred, "gold": gold, "read": file.said, "notes": notes, "by": by, "samples": len(samples)}
    about |= {"mark": file.mark, "cache": source.cache}
    fields = {"id": source.id_field, "text": source.text_field}
    about |= {"fields": fields} if any(fields.values()) else {}
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
        unchanged=make_change_check(file, used=golds),
        report=lambda sums: _report_text(job, sums, os.path.join(folder or "", "rows.jsonl")),
        **how,
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
) -> _AnswerPositions:
    """Answers and samples brought together as :func:`planner_eval.benchmarks.answers.match_answers` does."""
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
            raise unequal_counts_error(len(file.records), len(samples))
        indices = array("q", range(len(samples)))
        return _AnswerPositions(
            AnswerPairs(file.records, samples, indices, array("q"), frozenset()), "position"
        )
    _refuse_nameless(bench, file, lone, many=many)
    if max(positions.values()) < 0:
        raise unknown_ids_error((r.id for r in file.records if r.id is not None), samples)
    pairs = AnswerPairs(file.records, samples, array("q", positions.values()), unmatched, frozenset(repeated))
    return _AnswerPositions(pairs, "id")


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


def read_stored_benchmark(path: str) -> StoredScores:
    """What a benchmark said of answers, of a run that was kept, and the file of answers.

    Args:
        path: The run's folder.

    Raises:
        InputError: it is no such run, or not done.
    """
    stored = read_stored_run(path, "score")
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
        scored = _make_scored(job, sums, SampleIds(stored.rows, job.about["samples"]))
        return StoredScores(scored, job.about["file"])
    except (KeyError, TypeError, ValueError, AttributeError, AssertionError):
        raise InputError(f"{path}: what the run wrote there cannot be read") from None


def score_run_again(path: str) -> StoredScores:
    """The same with its records: the files of the run are read again, and their answers scored again.

    Args:
        path: The run's folder.

    Raises:
        InputError: it is no such run, or not done; its files are not there, or were changed; or this version
            scores them otherwise than the one that wrote the run.
    """
    stored = read_stored_run(path, "score")
    kept, pred = read_stored_benchmark(path)
    about: Any = stored.options["about"]
    gold, bench, fields = about["gold"], kept.benchmark, about.get("fields") or {}
    source = Source(fields.get("id"), fields.get("text"), about["by"], about["cache"])
    for name, role in ((pred, "answers"), (gold, "gold")):
        if os.path.dirname(name) and not name.startswith(DATASET_PREFIX) and not os.path.lexists(name):
            raise InputError(
                f"{path} was made from {name} ({role}), which no longer exists: it was moved or removed, "
                "or this folder is not the one of the command"
            )
    file = read_answer_file(pred, source.id_field, source.text_field, bench)
    now = [*inputs_of("pred", file), *_gold_inputs(bench, gold, source.cache)]
    if difference := changed_input(stored.inputs, now):
        raise InputError(
            f"{path} was made from other files: {difference}; repeat the run's command in another folder"
        )
    settings: Any = kept.options
    scored = score_file(pred, gold, bench.name, variants=[*kept.reports], source=source, **settings)
    for variant, report in scored.reports.items():
        changed = [
            (new or old).name
            for new, old in zip_longest(report.figures, kept.reports[variant].figures)
            if new is None or old is None or not is_same_figure(new, old)
        ]
        if changed:
            raise InputError(
                f"{path} was scored by planeval {stored.version}, and this version scores its answers "
                f"differently ({variant} {changed[0]}): score them again into another folder"
            )
    return StoredScores(scored, pred)


def _gold_inputs(bench: Benchmark, gold: str, cache: str | None) -> list[Input]:
    files = _gold_files(bench, gold, cache)
    return [Input("gold", origin.path, origin.size, origin.digest) for origin in files]


def select_samples(report: Report, ids: Collection[str]) -> Report:
    """The figures and rows of some samples of a run that is kept.

    Args:
        report: A report of :func:`read_stored_benchmark`.
        ids: The samples.
    """
    assert isinstance(report.rows, _SampleRows)
    results = [r for r in _SampleResults(report.rows.ids, report.rows.seen) if r[0] in ids]
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
        figures = tuple(job.scorers[name].figures(_SampleResults(ids, seen)))
        reports[name] = Report(bench.name, name, sums.records, figures, _SampleRows(ids, seen))
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


# ---------------------------------------------------------------- read when they are asked for
class SampleIds(Sequence[str]):
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


class _SampleResults(Sequence[tuple[str, Any]]):
    """What was found out about each sample that could be scored, with its id."""

    def __init__(self, ids: Sequence[str], seen: ResultStore) -> None:
        self.ids, self.seen = ids, seen

    def __len__(self) -> int:
        return len(self.seen.codes) - self.seen.codes.count(NO_RESULT)

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        values = self.seen.known
        for name, code in zip(self.ids, self.seen.codes, strict=True):
            if code != NO_RESULT:
                yield name, values[code]

    @overload
    def __getitem__(self, index: int) -> tuple[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[tuple[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return tuple(self)[index]


class _SampleRows(Sequence[SampleScore]):
    """The row of each sample."""

    def __init__(self, ids: Sequence[str], seen: ResultStore) -> None:
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
