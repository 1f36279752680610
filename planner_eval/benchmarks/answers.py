"""Which answer belongs to which sample, and answers scored each for itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from planner_eval.base.errors import InputError, PairingError, ParseError
from planner_eval.base.frozen import fast_frozen
from planner_eval.benchmarks.datasets.sample import Sample
from planner_eval.benchmarks.report import Figure, Records, Report, SampleScore
from planner_eval.reading.files.several import read_path
from planner_eval.reading.files.warnings import format_repeated_ids

if TYPE_CHECKING:
    from planner_eval.benchmarks.benchmark import Benchmark
    from planner_eval.reading.files.files import PlanFile
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
) -> Answers:
    """The answers of a file: JSON lines or a JSON array of records, texts or messages.

    Args:
        path: The file; ``-`` is standard input.
        id_field: The field that names the sample; recognised when left out.
        text_field: The field that holds the answer; recognised when left out. A list of texts is
            several answers to one sample.
        benchmark: Whose answers they are; its own result files are read as its code writes them.
        has_trials: Every list is several answers to one sample.

    Raises:
        InputError: the file is missing, a directory, a field named is in no record, or the field of the
            answers cannot be told.
    """
    file = read_answer_file(path, id_field, text_field, benchmark)
    if not file.many and file.records[0].source == "":
        raise InputError(f"{file.name} is empty: there are no answers")
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
    if benchmark.read_results is not None and id_field is None and text_field is None:
        results = benchmark.read_results(path)
        if results is not None:
            return results
    return read_path(
        path, id_field=id_field, text_field=text_field, role="answer", never=benchmark.gold_beside
    )


def answers_of(
    record: Record, benchmark: Benchmark, *, many: bool = False, has_trials: bool = False
) -> list[Answer]:
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
            reason = str(error).split("\n")[0] if isinstance(error, ParseError) else "it nests too deeply"
            answers.append(Answer(None, record.id, record.where, reason))
    return answers


def _answer_text(content: Any, benchmark: Benchmark, fields: Mapping[str, Any]) -> str:
    """An answer as the text that the benchmark's scorer reads."""
    if content is None:
        return ""
    extra_fields = {name: fields[name] for name in benchmark.answer_beside if fields.get(name) is not None}
    if extra_fields and isinstance(content, str):
        content = {"text": content, **extra_fields}
    return content if isinstance(content, str) else benchmark.answer_text(content)


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

    >>> from planner_eval.benchmarks.datasets.sample import Sample
    >>> found = match_answers([Answer("x", "b"), Answer("y", "z")], [Sample("a"), Sample("b")])
    >>> [text for _, text in found.records], found.missing, found.unknown
    (['', 'x'], ('a',), ('z',))
    """
    sample_list = list(samples)
    if not answers:
        raise InputError("there are no answers")
    nameless_count = sum(answer.id is None and not answer.error for answer in answers)
    if by is None:
        by = "id" if any(answer.id is not None for answer in answers) else "position"
    if by == "position":
        return _match_by_position(answers, sample_list, nothing)
    if nameless_count:
        first = next(answer.where for answer in answers if answer.id is None and not answer.error)
        raise missing_ids_error(nameless_count, len(answers), first)
    sample_ids = {sample.id for sample in sample_list}
    if not any(answer.id in sample_ids for answer in answers):
        raise unknown_ids_error((answer.id for answer in answers if answer.id is not None), sample_list)
    return _match_by_id(answers, sample_list, has_trials=has_trials, nothing=nothing)


def missing_ids_error(count: int, answers: int, first: str) -> InputError:
    """What is said where some answers have ids and others none."""
    return InputError(f"{count} of {answers} answers name no sample, the first at {first}")


def unknown_ids_error(ids: Iterable[str], samples: Iterable[Sample]) -> PairingError:
    """What is said where no answer's id is a sample's."""
    return PairingError(
        f"no answer's id is a sample's id: answers have {_format_first_ids(ids)}, samples "
        f"{_format_first_ids(s.id for s in samples)}. Is it another data set? --id-field names "
        "the field of the id; "
        "answers without ids are matched by position"
    )


def unequal_counts_error(answers: int, samples: int) -> InputError:
    """What is said where answers are matched by position and are more or fewer than the samples."""
    return InputError(
        f"{answers:,} answers for {samples:,} samples, matched by position: give each "
        "answer the id of its sample, or exactly one answer a sample"
    )


def _format_first_ids(ids: Iterable[str]) -> str:
    first_ids = list(dict.fromkeys(ids))[:2]
    return ", ".join(map(repr, first_ids)) + ", …"


def _match_by_position(answers: Sequence[Answer], samples: Sequence[Sample], nothing: str) -> AnswerMatching:
    if len(answers) != len(samples):
        raise unequal_counts_error(len(answers), len(samples))
    pairs = zip(samples, answers, strict=True)
    records = tuple(AnsweredSample(s, nothing if a.text is None else a.text) for s, a in pairs)
    size = len({sample.id for sample in samples})
    broken = _error_messages(answers)
    return AnswerMatching(records, "position", len(answers), broken=broken, samples=size, scored=len(records))


def _match_by_id(
    answers: Sequence[Answer], samples: Sequence[Sample], *, has_trials: bool, nothing: str
) -> AnswerMatching:
    texts: dict[str, list[str]] = {sample.id: [] for sample in samples}
    unknown, repeated = [], []
    seen = set()
    for answer in answers:
        key = answer.id
        if key is None:
            continue  # a record that cannot be read, and does not say which sample it answers
        if key not in texts:
            unknown.append(key)
        elif key in seen and not has_trials:
            repeated.append(key)
        else:
            seen.add(key)
            texts[key].append(nothing if answer.text is None else answer.text)
    missing = tuple(key for key, answer_texts in texts.items() if not answer_texts)
    records = tuple(
        AnsweredSample(sample, text) for sample in samples for text in texts[sample.id] or [nothing]
    )
    problems = (missing, tuple(unknown), tuple(repeated), _error_messages(answers))
    return AnswerMatching(records, "id", len(answers), *problems, len(texts), len(records))


def _error_messages(answers: Sequence[Answer]) -> tuple[str, ...]:
    return tuple(f"{answer.where}: {answer.error}" for answer in answers if answer.error)


# ----------------------------------------------------------------------
# Answers scored each for itself: what a variant makes of one, and of all of them together.
#
# What is found out about an answer is little, and that of two answers is often the same: so it can be made
# in
# several processes and held of a great many answers, where answers and plans could not.
SampleResults: TypeAlias = Sequence[tuple[str, Any]]
"""The id of each sample and what was found out about its answer; it may be gone through again."""


def field_values(record: Any) -> list[Any]:
    """A dataclass as JSON data: the values of its fields."""
    return [getattr(record, field.name) for field in fields(record)]


def _identity(data: Any) -> Any:
    return data


class Scorer(NamedTuple):
    """How a variant of a benchmark scores answers one by one.

    Args:
        one: What is found out about an answer: numbers and texts in tuples and dataclasses.
        row: The row of a sample's id and what was found out; but for the id it is the same for the same.
        figures: The figures of all.
        known: What was found out, of the JSON data that it became.
        data: What of it has to become JSON data in a way of its own.
    """

    one: Callable[[Sample, str], Any]
    row: Callable[[str, Any], SampleScore]
    figures: Callable[[SampleResults], Iterable[Figure]]
    known: Callable[[Any], Any] = _identity
    data: Callable[[Any], Any] = field_values


def report_of(benchmark: str, variant: str, scorer: Scorer, records: Records) -> Report:
    """The report of answers that are scored one by one."""
    results = [(sample.id, scorer.one(sample, text)) for sample, text in records]
    rows = tuple([scorer.row(*result) for result in results])
    return Report(benchmark, variant, len(results), tuple(scorer.figures(results)), rows)


def sum_columns(rows: Iterable[Sequence[int]], size: int) -> list[int]:
    """The sum of each column of whole numbers.

    >>> sum_columns([(1, 2), (3, 4)], 2), sum_columns([], 2)
    ([4, 6], [0, 0])
    """
    total, block = [0] * size, []
    for row in rows:
        block.append(row)
        if len(block) == _BLOCK_SIZE:
            total = list(map(add, total, map(sum, zip(*block, strict=True))))
            block.clear()
    return list(map(add, total, map(sum, zip(*block, strict=True)))) if block else total


_BLOCK_SIZE = 1_000
