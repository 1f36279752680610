"""Where plans come from by name: files, and published data sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from planner_eval.base.errors import (
    FUNCTION,
    NAME,
    NAMES,
    PATH,
    InputError,
    ParseError,
    expect,
    expect_or_none,
)
from planner_eval.base.text import closest_name
from planner_eval.benchmarks.datasets.published import (
    DATASET_PREFIX,
    Dataset,
    Sample,
    dataset_folder,
    datasets_of,
    find_dataset,
    gold_plan,
    holds_plan,
    published_datasets,
    read_available,
)
from planner_eval.comparison.gold_alternatives import describe_prose_gold
from planner_eval.plan.model import Plan
from planner_eval.reading.files.fields import GOLD_FIELDS
from planner_eval.reading.files.files import PlanFile, list_files, read_path
from planner_eval.reading.files.record import Record, read_plan
from planner_eval.reading.files.trials import format_ids_repeated_beyond_trials

if TYPE_CHECKING:
    from planner_eval.catalogs.record_tools import Known
    from planner_eval.reading.dialects.dialect import TurnChoice


QUESTION_FIELD = "question"
"""The field of a published gold plan's record that holds what was asked."""


@dataclass(frozen=True, slots=True)
class PlanRecord:
    """One record: its plan, or why there is none.

    Args:
        record: What it is called, see :class:`planner_eval.reading.files.record.Record`.
        where: Its place for a message.
        plan: The plan that was read.
        error: Why it could not be read; None with no plan means that the record holds none.
        source: The record that the plan was read from, of a file.
    """

    record: str | int
    where: str
    plan: Plan | None = None
    error: str | None = None
    source: Record | None = None


@dataclass(slots=True)
class Source:
    """A file of plans or a data set.

    Args:
        name: What the user wrote, or the data set's name.
        title: The same, short and unique among the sources, for the head of a column.
        many: Whether it holds records; False for a plan in a file of its own.
        file: The file, unless it is a data set.
        dataset: The data set, unless it is a file.
        samples: The data set's samples.
    """

    name: str
    title: str
    many: bool = True
    file: PlanFile | None = None
    dataset: Dataset | None = None
    samples: Sequence[Sample] = ()

    def __len__(self) -> int:
        return len(self.file.records) if self.file is not None else len(self.samples)

    @property
    def records(self) -> Sequence[Record]:
        """What is read, one a plan; those of a data set hold their sample."""
        if self.file is not None:
            return self.file.records
        return [
            Record(self.name, position, sample.id, sample) for position, sample in enumerate(self.samples)
        ]

    def reader(self, dialect: str | None, *, infer: bool = False) -> PlanReader:
        """How its records are read, see :meth:`read`."""
        if self.file is None:
            return PlanReader(dialect, infer, self.name)
        return PlanReader(dialect, infer, None, gold=self.file.content in GOLD_FIELDS)

    def read(self, dialect: str | None, *, infer: bool = False) -> Iterator[PlanRecord]:
        """The plans, one a record; of a data set the gold plans.

        Args:
            dialect: The dialect of a file's plans; recognised when left out.
            infer: Add inferred edges.
        """
        return map(self.reader(dialect, infer=infer).read, self.records)


@dataclass(frozen=True)
class PlanReader:
    """How the plans of a source are read.

    Args:
        dialect: The dialect of a file's plans; recognised when left out.
        infer: Add inferred edges.
        dataset: The data set, whose records hold samples; None for a file.
        gold: The plans are gold: words that call nothing are none.
    """

    dialect: str | None
    infer: bool
    dataset: str | None
    gold: bool = False

    def read(self, record: Record) -> PlanRecord:
        """One record."""
        where = record.where if self.dataset is None else f"{self.dataset}, {record.id}"
        try:
            if self.dataset is None:
                plan = read_plan(record, dialect=self.dialect, infer=self.infer)
                if self.gold and (words := describe_prose_gold(record.source, plan)) is not None:
                    raise ParseError(words, code="parse.empty")
                return PlanRecord(record.told, where, plan, source=record)
            if record.error is not None:  # its process ended, or held up
                raise record.error
            sample = record.source
            how = self._known.of(sample.tools) if self.infer else False
            return PlanRecord(record.told, where, gold_plan(sample, infer=how))
        except ParseError as error:
            return PlanRecord(record.told, where, error=str(error))

    @cached_property
    def _known(self) -> Known:
        from planner_eval.catalogs.record_tools import Known

        return Known()


def open_sources(
    names: str | Sequence[str],
    *,
    id_field: str | None = None,
    text_field: str | None = None,
    turn: TurnChoice = None,
    cache: str | None = None,
    folder: str | None = None,
    tell: Callable[[str], object] | None = None,
) -> list[Source]:
    """The files and published data sets that some names stand for, in their order.

    A path that exists is a file, whatever its name; ``dataset:NAME`` is always a data set.

    Args:
        names: Paths, directories, patterns, ``-``, names of data sets or benchmarks, or ``dataset:NAME``;
            or one of them.
        id_field: The field of a file's records that names them.
        text_field: The field that holds their plan.
        turn: Which turn of the assistant is read of conversations; all turns when left out.
        cache: The cache folder that the user named.
        folder: Where the data sets lie, instead of the cache.
        tell: Is told what the user should know: what was left out of a directory, ids given twice, parts
            of a benchmark's data that are not there.

    Raises:
        InputError: there is no such file or data set, or it cannot be read.

    >>> from planner_eval.base.resources import folder
    >>> samples = str(folder("data") / "samples")
    >>> [(found.title, len(found.samples)) for found in open_sources(["nestful-v2"], folder=samples)]
    [('nestful-v2', 3)]
    """
    expect(NAMES, names=names)
    expect_or_none(NAME, id_field=id_field, text_field=text_field)
    expect_or_none(PATH, cache=cache, folder=folder)
    expect_or_none(FUNCTION, tell=tell)
    tell = tell or (lambda _message: None)
    sources: list[Source] = []
    for name in (names,) if isinstance(names, str) else names:
        datasets = _named_datasets(name)
        if datasets:
            read, missing = _read_datasets(datasets, cache, folder)
            sources += read
            for reason in missing:
                tell(f"{name} is incomplete: {reason}")
            continue
        file = read_path(name, id_field=id_field, text_field=text_field, role="alone").of_turn(turn)
        hidden = hides_dataset(name)
        repeated = format_ids_repeated_beyond_trials(file.records)
        for message in (*file.notes, *repeated, *([hidden] if hidden else [])):
            tell(message)
        sources.append(Source(file.name, "", file.many, file))
    for source, title in zip(sources, short_names([source.name for source in sources]), strict=True):
        source.title = title
    return sources


def read_dataset_plans(name: str, cache: str | None, folder: str | None) -> PlanFile | None:
    """The gold plans of a published data set as records; None where a name is none of a data set.

    Args:
        name: What the user wrote; a path that exists is a file, whatever its name.
        cache: The cache folder that the user named.
        folder: Where the data sets lie, instead of the cache.

    Raises:
        InputError: there is neither such a file nor such a data set, or it cannot be read.
    """
    datasets = _named_datasets(name)
    if not datasets:
        return None
    sources, missing = _read_datasets(datasets, cache, folder)
    samples = [(source.name, sample) for source in sources for sample in source.samples]
    records = tuple(_record(source, position, sample) for position, (source, sample) in enumerate(samples))
    notes = tuple(f"{name} is incomplete: {reason}" for reason in missing)
    title = " and ".join(source.name for source in sources)
    return PlanFile(title, records, True, notes=notes, published=True)


def plans_of_samples(name: str, samples: Sequence[Sample]) -> PlanFile:
    """The gold plans of published samples as records.

    Args:
        name: What the user wrote for them.
        samples: The samples.
    """
    records = tuple(_record(name, position, sample) for position, sample in enumerate(samples))
    return PlanFile(name, records, True, published=True)


def _record(file: str, position: int, sample: Sample) -> Record:
    """A sample's gold plan as a record; its fields are those that figures can be broken down by.

    Besides it has the question, or the conversation that it stands in, for people to read.
    """
    fields = {key: value for key, value in sample.extra.items() if isinstance(value, (str, int))}
    fields[QUESTION_FIELD] = sample.extra.get("messages") or sample.query
    error = None
    if not holds_plan(sample):
        error = ParseError(
            f"there is no plan: {sample.extra.get('no_plan', 'the right answer is free text')}",
            code="parse.empty",
        )
    if sample.category:
        fields["category"] = sample.category
    about = {"dialect": sample.dialect or None, "tools": sample.tools}
    return Record(file, position, sample.id, sample.gold, None, error, fields, **about)


def hides_dataset(name: str) -> str | None:
    """That a file has the name of a data set, in words; None where it has not.

    >>> hides_dataset("gold.json")
    """
    if not datasets_of(name):
        return None
    return f"{name} is read as the file of that name; {DATASET_PREFIX}{name} is the data set"


def _named_datasets(name: str) -> list[Dataset]:
    """The data sets that an argument names; none where it is a file."""
    named = name.startswith(DATASET_PREFIX)
    bare = name.removeprefix(DATASET_PREFIX)
    if name == "-" or Path(name).exists():
        if Path(name).is_dir() and datasets_of(name):
            try:
                list_files(name)
            except InputError:  # empty; nobody means that
                raise InputError(f"{name} is a directory; {DATASET_PREFIX}{name} is the data set") from None
        return []
    if bare in published_datasets():
        return [published_datasets()[bare]]
    members = datasets_of(bare)
    if members or named:
        return members or [find_dataset(bare)]
    if "/" not in name and "." not in name:
        sets = published_datasets().values()
        names = {key for dataset in sets for key in (dataset.name, dataset.benchmark) if key}
        if hint := closest_name(name.lower(), sorted(names)):
            raise InputError(f"there is no file {name}; did you mean the data set {hint}?")
    return []


def _read_datasets(
    datasets: Sequence[Dataset], cache: str | None, folder: str | None
) -> tuple[list[Source], list[str]]:
    if len(datasets) > 1 and folder is not None and Path(folder).is_file():
        choices = " or ".join(dataset.name for dataset in datasets)
        raise InputError(f"{folder} is one file: name one data set, {choices}")
    folders = [(dataset, dataset_folder(dataset, cache=cache, source=folder)) for dataset in datasets]
    available, missing = read_available(folders, advice="or name its folder with --source")
    return [Source(d.name, "", dataset=d, samples=samples) for d, samples in available], missing


def short_names(names: Sequence[str]) -> list[str]:
    """The last part of each path, with as many parts in front as tell all of them apart.

    >>> short_names(["runs/a/pred.json", "runs/b/pred.json", "gold.json"])
    ['a/pred.json', 'b/pred.json', 'gold.json']
    """
    path_parts = [Path(name).parts or (name,) for name in names]
    length = [1] * len(names)
    for _ in range(max(map(len, path_parts), default=0)):
        labels = ["/".join(segments[-n:]) for segments, n in zip(path_parts, length, strict=True)]
        if len(set(labels)) == len(labels):
            return labels
        length = [n + (labels.count(text) > 1) for n, text in zip(length, labels, strict=True)]
    return [f"{k}. {name}" if names.count(name) > 1 else name for k, name in enumerate(names, 1)]
