"""The samples that answers are scored against, and which answer belongs to which."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval.base.errors import AnswerError, DatasetError, InputError, PairingError, ParseError
from planner_eval.base.frozen import fast_frozen
from planner_eval.benchmarks.benchmark import BENCHMARKS, VARIANTS, Benchmark
from planner_eval.benchmarks.datasets.published import (
    DATASET_PREFIX,
    Dataset,
    Sample,
    dataset_folder,
    datasets_of,
    read,
    read_available,
)
from planner_eval.benchmarks.report import Report, SampleScore
from planner_eval.reading.dialects.conversations.messages import call_items, part_texts
from planner_eval.reading.dialects.conversations.turns import read_conversation
from planner_eval.reading.files.fields import value_at
from planner_eval.reading.files.files import PlanFile, read_path
from planner_eval.reading.files.pairing import format_repeated_ids

if TYPE_CHECKING:
    from planner_eval.reading.files.record import Record


# ----------------------------------------------------------------------
# Which answer belongs to which sample: by id or by position, and what is left over.
@fast_frozen
class Answer:
    """One record of a file of answers.

    Args:
        text: What the model answered; structured answers as JSON. None where the record holds none.
        id: The sample that it answers, where the record says so.
        where: Its place for a message, where there is something to say: an error, or that it names no sample.
        error: Why the record holds no answer.
    """

    text: str | None
    id: str | None = None
    where: str = ""
    error: str = ""


class AnsweredSample(NamedTuple):
    """A sample, and the text that a model answered."""

    sample: Sample
    text: str


@fast_frozen
class AnswerMatching:
    """Answers and samples brought together; every answer and every sample is in here.

    Args:
        records: Each sample with its answer, in the order of the samples. A sample without an answer
            has the text that stands for nothing.
        by: ``"id"`` or ``"position"``.
        answers: How many answers there were.
        missing: Ids of samples without an answer.
        unknown: Answers that no sample asked for.
        repeated: Answers whose sample had one already.
        broken: Answers whose record cannot be read, with the reason; they count as nothing.
        samples: How many samples there are.
        scored: How many records, where these are not held.
    """

    records: tuple[AnsweredSample, ...]
    by: str
    answers: int
    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    samples: int = 0
    scored: int = 0


class Answers(NamedTuple):
    """The answers of a file.

    Args:
        found: In the file's order.
        said: What was read as the answers, in words.
        notes: What the user should know: what was left out, which ids are given twice.
        mark: What their figures are marked with.
    """

    found: tuple[Answer, ...]
    said: str
    notes: tuple[str, ...] = ()
    mark: str = ""


def read_answers(
    path: str,
    *,
    id_field: str | None = None,
    text_field: str | None = None,
    benchmark: Benchmark,
    has_trials: bool = False,
    repetition: int | None = None,
) -> Answers:
    """The answers of a file: JSON lines or a JSON array of records, texts or messages.

    Args:
        path: The file; ``-`` is standard input.
        id_field: The field that names the sample; recognised when left out.
        text_field: The field that holds the answer; recognised when left out. A list of texts is
            several answers to one sample.
        benchmark: Whose answers they are; its own result files are read as its code writes them.
        has_trials: Every list is several answers to one sample.
        repetition: Of answers of a run that asked several times those of this repetition; None for all.

    Raises:
        InputError: the file is missing, a directory, a field named is in no record, or the field of the
            answers cannot be told.
    """
    file = read_answer_file(path, id_field, text_field, benchmark)
    if not file.many and file.records[0].source == "":
        raise InputError(f"{file.name} is empty: there are no answers")
    if repetition is not None:
        records = (record for record in file.records if (record.fields.get("repetition") or 0) == repetition)
        file = file._replace(records=tuple(records))
    many = has_trials or text_field is not None or file.content == "outputs"
    answers = (
        answer
        for record in file.records
        for answer in answers_of(record, benchmark, many=many, has_trials=has_trials)
    )
    repeated = () if has_trials else format_repeated_ids(file.records)
    return Answers(tuple(answers), file.said, (*file.notes, *repeated), file.mark)


def read_answer_file(
    path: str, id_field: str | None, text_field: str | None, benchmark: Benchmark
) -> PlanFile:
    """The records of a file of answers, or of a benchmark's own results where no field is named."""
    if benchmark.read_results is not None and (results := benchmark.read_results(path)) is not None:
        if (id_field or results.id_field, text_field or results.content) != (
            results.id_field,
            results.content,
        ):
            message = f"{path} holds results as {benchmark.title}'s own runner writes them"
            raise InputError(f"{message}: leave out --field")
        return results
    file = read_path(
        path, id_field=id_field, text_field=text_field, role="answer", never=benchmark.gold_beside
    )
    if benchmark.answer_texts is None:
        return file
    read = [_read_written(record, file.content, benchmark) for record in file.records]
    answered = [(content, record.fields.get("mode")) for record, content in read if content is not None]
    texts = iter(benchmark.answer_texts([content for content, _ in answered], [mode for _, mode in answered]))
    return file._replace(
        records=tuple(
            record if content is None else record._replace(source=next(texts), error=None)
            for record, content in read
        )
    )


def _read_written(record: Record, field: str | None, benchmark: Benchmark) -> tuple[Record, Any]:
    """A record with what its own runner would leave of its answer; None where it holds none."""
    content = value_at(record.fields, field)
    if record.error is not None and not (
        isinstance(record.error, AnswerError) and isinstance(content, (str, list))
    ):
        return record, None
    content = content if isinstance(content, (str, list)) else record.source
    try:
        content = benchmark.answer_content(content, record.id) if benchmark.answer_content else content
    except AnswerError as error:
        return record._replace(error=error), None
    return record, content if isinstance(content, (str, list)) else None


def answers_of(record: Record, benchmark: Benchmark, *, many: bool, has_trials: bool = False) -> list[Answer]:
    """The answers that a record holds, one at least.

    Args:
        record: A record of the file.
        benchmark: Whose answers they are.
        many: A list of texts is several answers.
        has_trials: Every list is.
    """
    content: Any = record.source
    if record.error is not None:
        return [Answer(None, record.id, record.where, str(record.error).split("\n")[0])]
    if type(content) is str and not benchmark.answer_beside:
        return [Answer(content, record.id, "" if record.id is not None else record.where)]
    if has_trials and content == []:
        return [Answer(None, record.id, record.where, "an empty list: there is no answer")]
    texts = isinstance(content, list) and bool(content) and all(isinstance(item, str) for item in content)
    is_list = isinstance(content, list) and ((has_trials and bool(content)) or (many and texts))
    answers = []
    for item in content if is_list else [content]:
        try:
            answers.append(Answer(_answer_text(item, benchmark, record.fields), record.id, record.where))
        except (ParseError, RecursionError) as error:
            reason = (
                str(error).split("\n")[0] if isinstance(error, ParseError) else "the answer nests too deeply"
            )
            answers.append(Answer(None, record.id, record.where, reason))
    return answers


def _answer_text(content: Any, benchmark: Benchmark, fields: Mapping[str, Any]) -> str:
    """An answer as the text that the benchmark's scorer reads."""
    if content is None:
        return ""
    extra_fields = {name: fields[name] for name in benchmark.answer_beside if fields.get(name) is not None}
    if extra_fields and isinstance(content, str):
        content = {"text": content, **extra_fields}
    if not isinstance(content, str) and not benchmark.reads_messages:
        content = message_text(content)
    return content if isinstance(content, str) else benchmark.answer_text(content)


def message_text(content: Any) -> Any:
    """The words of a message, or of an API's answer, that calls nothing; anything else as it is.

    Args:
        content: An answer as data.

    Raises:
        AnswerError: the API refused or failed, or nobody answered.

    >>> message_text({"role": "assistant", "content": "f(a=1)"}), message_text([{"name": "f"}])
    ('f(a=1)', [{'name': 'f'}])
    """
    texts = part_texts(content) if isinstance(content, list) else None
    if texts is not None:
        return "\n".join(texts)
    try:
        talk = read_conversation(content) if isinstance(content, (list, dict)) else None
        if talk is None or len(talk.turns) != 1 or list(call_items(talk.turns[0].items)):
            return content
    except AnswerError:
        raise
    except ParseError:
        return content
    (turn,) = talk.turns
    if turn.state is not None and turn.state.code != "answer.cut":
        raise turn.state.error()
    return turn.words


def match_answers(
    answers: Sequence[Answer],
    samples: Iterable[Sample],
    *,
    by: str | None = None,
    has_trials: bool = False,
    nothing: str = "",
) -> AnswerMatching:
    """Bring answers and samples together.

    Args:
        answers: In the order of their file.
        samples: What was asked.
        by: ``"id"`` or ``"position"``; None for ids where all answers have one.
        has_trials: All answers to a sample count, not only the first.
        nothing: The text of a sample without an answer.

    Raises:
        InputError: there is nothing to match; no answer's id is a sample's; or answers without ids are
            more or fewer than the samples.

    >>> from planner_eval.benchmarks.datasets.published import Sample
    >>> found = match_answers([Answer("x", "b"), Answer("y", "z")], [Sample("a"), Sample("b")])
    >>> [text for _, text in found.records], found.missing, found.unknown
    (['', 'x'], ('a',), ('z',))
    """
    sample_list = list(samples)
    if not answers:
        raise InputError("there are no answers")
    pairs = [(answer.id, nothing if answer.text is None else answer.text) for answer in answers]
    broken = tuple(f"{answer.where}: {answer.error}" for answer in answers if answer.error)
    if by is None:
        by = "position" if all(name is None for name, _ in pairs) else "id"
    if by == "position":
        if len(answers) != len(sample_list):
            raise unequal_counts_error(len(answers), len(sample_list))
        records = tuple(AnsweredSample(s, text) for s, (_, text) in zip(sample_list, pairs, strict=True))
        size = len({sample.id for sample in sample_list})
        return AnswerMatching(records, by, len(answers), broken=broken, samples=size, scored=len(records))
    nameless = [answer.where for answer in answers if answer.id is None and not answer.error]
    if nameless:
        raise missing_ids_error(len(nameless), len(answers), nameless[0])
    return _match_by_id(pairs, sample_list, broken, has_trials=has_trials, nothing=nothing)


def missing_ids_error(count: int, answers: int, first: str) -> InputError:
    """What is said where some answers have ids and others none."""
    return InputError(
        f"{count} of {answers} answers have no id (first {first}): give all of them ids, or none"
    )


def unknown_ids_error(ids: Iterable[str], samples: Iterable[Sample]) -> PairingError:
    """What is said where no answer's id is a sample's."""
    return PairingError(
        f"no answer's id is a sample's id: answers have {_format_first_ids(ids)}, samples "
        f"{_format_first_ids(s.id for s in samples)}. Are they of another data set? --field id names "
        "the field of the id; "
        "answers without ids are matched by position"
    )


def unequal_counts_error(answers: int, samples: int) -> InputError:
    """What is said where answers are matched by position and are more or fewer than the samples."""
    return InputError(
        f"{answers:,} answers for {samples:,} samples, matched by position: give each "
        "answer the id of its sample, or exactly one answer per sample"
    )


def _format_first_ids(ids: Iterable[str]) -> str:
    first_ids = list(dict.fromkeys(ids))[:2]
    return ", ".join(map(repr, first_ids)) + ", …"


def _match_by_id(
    answers: Sequence[tuple[str | None, str]],
    samples: Sequence[Sample],
    broken: tuple[str, ...],
    *,
    has_trials: bool,
    nothing: str,
) -> AnswerMatching:
    texts: dict[str, list[str]] = {sample.id: [] for sample in samples}
    unknown, repeated = [], []
    names = [name for name, _ in answers if name is not None]
    if texts.keys().isdisjoint(names):
        raise unknown_ids_error(names, samples)
    for name, text in answers:
        if name is None:
            continue  # a record that cannot be read, and does not say which sample it answers
        if name not in texts:
            unknown.append(name)
        elif texts[name] and not has_trials:
            repeated.append(name)
        else:
            texts[name].append(text)
    missing = tuple(name for name, answer_texts in texts.items() if not answer_texts)
    records = tuple(
        AnsweredSample(sample, text) for sample in samples for text in texts[sample.id] or [nothing]
    )
    problems = (missing, tuple(unknown), tuple(repeated), broken)
    return AnswerMatching(records, "id", len(answers), *problems, len(texts), len(records))


# ----------------------------------------------------------------------
# The samples that answers are scored against: a data set by name, a folder, or one of its files.
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
    path, name = Path(source), source.removeprefix(DATASET_PREFIX)
    read_asked = benchmark.read_asked if answered else None
    try:
        if name == source and path.is_file():
            samples = list(benchmark.read_file(path))
        elif name == source and path.exists():
            samples = list(read_asked(path, answered) if read_asked else benchmark.read(path))
        else:
            read_sets, _ = read_available(
                _cached_sets(benchmark, name, cache),
                lambda dataset, folder: read_asked(folder, answered) if read_asked else read(dataset, folder),
            )
            samples = [sample for _, members in read_sets for sample in members]
    except DatasetError:
        likely = _guess_benchmark(path) if path.is_file() else None
        if likely and likely != benchmark.name:
            raise InputError(f"{source} is gold of {likely}, not of {benchmark.name}") from None
        raise
    _refuse_other_gold(benchmark, source, samples)
    return samples


def gold_folders(benchmark: Benchmark, source: str, *, cache: str | None) -> list[Path]:
    """The folders that a gold source lies in; they need not be there.

    Args:
        benchmark: Whose data it is.
        source: As for :func:`gold_samples`.
        cache: The cache folder, where it is not the usual one.
    """
    path, name = Path(source), source.removeprefix(DATASET_PREFIX)
    if name == source and path.exists():
        return [path if path.is_dir() else path.parent]
    sets = [dataset for dataset in datasets_of(name) if dataset.benchmark == benchmark.name]
    return [dataset_folder(dataset, cache=cache) for dataset in sets]


def _cached_sets(benchmark: Benchmark, name: str, cache: str | None) -> list[tuple[Dataset, Path]]:
    """A benchmark's data sets of a name, each with its folder of the cache.

    Raises:
        InputError: there is none of this name, or none of this benchmark's.
    """
    datasets = datasets_of(name)
    if not datasets:
        raise InputError(f"{name}: there is no such file, folder or data set")
    sets = [(d, dataset_folder(d, cache=cache)) for d in datasets if d.benchmark == benchmark.name]
    if not sets:
        raise InputError(
            f"{name} is a data set of {datasets[0].benchmark or 'no benchmark'}, not of {benchmark.name}"
        )
    return sets


def _refuse_other_gold(benchmark: Benchmark, source: str, samples: Sequence[Sample]) -> None:
    """Refuse gold of which no record has the shape of this benchmark's gold."""
    if not samples:
        raise InputError(f"{source} holds no samples")
    if any(benchmark.fits(sample.gold) for sample in samples):
        return
    likely = next((n for n, b in BENCHMARKS.items() if any(b.fits(s.gold) for s in samples)), None)
    hint = f"it looks like gold of {likely}" if likely else "no benchmark's gold looks like this"
    raise InputError(f"{source} is not gold of {benchmark.name}: {hint}")


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
class ReplayResult(NamedTuple):
    """Gold scored against itself under one variant of a benchmark's metrics.

    Args:
        report: The report.
        imperfect: The rows that are not perfect.
        skipped: Samples whose right answer is free text that only a judge can decide on.
    """

    report: Report
    imperfect: tuple[SampleScore, ...]
    skipped: int


def replay(name: str, samples: Iterable[Sample]) -> list[ReplayResult]:
    """Score gold against gold under both variants of the benchmark.

    Args:
        name: The benchmark's name.
        samples: Samples of its reader.
    """
    benchmark = BENCHMARKS[name]
    records = [(sample, benchmark.gold_text(sample)) for sample in samples]
    answered = [(sample, text) for sample, text in records if text is not None]
    reports = [benchmark.score(variant, answered) for variant in VARIANTS]
    return [
        ReplayResult(report, tuple(row for row in report.rows if not row.ok), len(records) - len(answered))
        for report in reports
    ]
