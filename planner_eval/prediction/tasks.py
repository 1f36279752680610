"""What is asked: the samples of a benchmark, or tasks of one's own out of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.base.given import SEVERAL, expect
from planner_eval.benchmarks.gold import PREFIX, gold_samples
from planner_eval.benchmarks.registry import BENCHMARKS, benchmark
from planner_eval.datasets.files import load_json, load_jsonl
from planner_eval.datasets.published import published
from planner_eval.datasets.sample import Sample
from planner_eval.prediction.recorded import FIELD, parted, refuse_shown
from planner_eval.prediction.visible import OWN
from planner_eval.records.fields import ID_FIELDS, id_text

QUESTIONS = ("query", "question", "input", "prompt", "instruction", "task", "request")
"""Fields of one's own tasks that hold the question, the likeliest first."""


class Tasks(NamedTuple):
    """Samples to be asked, and the data set that they are of."""

    form: str
    samples: list[Sample]


def read_tasks(
    source: str | Sequence[Sample] | Sequence[Mapping[str, Any]],
    name: str | None = None,
    *,
    cache: str | None = None,
) -> Tasks:
    """The samples that a source holds.

    Args:
        source: The name of a data set; with `name` a folder or file of a benchmark's data; else a file of
            tasks, JSON lines or a JSON array; or samples or tasks in memory.
        name: The benchmark; told by the data set's name when left out, one's own tasks where there is none.
        cache: The cache folder of data sets, where it is not the usual one.

    Raises:
        InputError: nothing is there, or it cannot be read.

    >>> found = read_tasks([{"id": 7, "question": "Why?", "answer": "gold"}])
    >>> found.form, found.samples[0].id, found.samples[0].query, found.samples[0].gold
    ('own', '7', 'Why?', None)
    """
    if not isinstance(source, str):
        expect(SEVERAL, samples=source)
        if all(isinstance(entry, Sample) for entry in source):
            return Tasks(name or OWN, list(source))  # type: ignore[arg-type]
        return Tasks(OWN, _own(source))
    if name and name != OWN:
        return Tasks(name, gold_samples(benchmark(name), source, cache=cache))
    benchmark_name = None if Path(source).exists() else _benchmark_of(source.removeprefix(PREFIX))
    if benchmark_name:
        return Tasks(benchmark_name, gold_samples(BENCHMARKS[benchmark_name], source, cache=cache))
    path = Path(source)
    if path.is_dir():
        raise InputError(f"{source} is a folder: say with --benchmark whose data it holds")
    if not path.exists() and "." not in source:
        raise InputError(f"there is no file {source}, and no data set of that name: see 'planeval data list'")
    data = [line.data for line in load_jsonl(path)] if path.suffix == ".jsonl" else load_json(path)
    return Tasks(OWN, _own(data if isinstance(data, list) else [data], source))


def _benchmark_of(name: str) -> str | None:
    sets = published().values()
    return next(
        (
            data_set.benchmark
            for data_set in sets
            if name in (data_set.name, data_set.benchmark) and data_set.benchmark
        ),
        None,
    )


def _own(records: Iterable[Any], source: str = "the tasks") -> list[Sample]:
    """Tasks of one's own.

    Raises:
        InputError: two have one id, which is to tell their answers apart.
    """
    samples = [_task(record, number) for number, record in enumerate(records, 1)]
    firsts: dict[str, int] = {}
    for number, sample in enumerate(samples, 1):
        first = firsts.setdefault(sample.id, number)
        if first != number:
            raise InputError(
                f"{source}: tasks {first:,} and {number:,} have the same id, {sample.id!r}: give each its "
                "own (--repeat N asks each task several times)"
            )
    return samples


def numbered(number: int) -> str:
    """The id of a task that has none, by where it stands, counted from 1."""
    return f"task-{number}"


def _task(record: Any, number: int) -> Sample:
    """A task of one's own: nothing but its question, or its conversation, and its tools is taken over."""
    fields: Mapping[str, Any] = record if isinstance(record, Mapping) else {"query": record}
    named = next((text for key in ID_FIELDS if (text := id_text(fields.get(key))) is not None), None)
    talk, _ = parted(fields.get(FIELD))
    named = named or numbered(number)
    refuse_shown(fields, talk, named)
    field = next((key for key in QUESTIONS if isinstance(fields.get(key), str) and fields[key]), None)
    query = (
        fields[field]
        if field
        else next((str(m.get("content") or "") for m in reversed(talk) if m.get("role") == "user"), "")
    )
    extra: dict[str, Any] = {"messages": list(talk)} if talk else {}
    if talk and field and not any(query.strip() in str(message.get("content")) for message in talk):
        extra["refused"] = (
            f"task {named!r} has {field!r} and {FIELD!r}, of which only the conversation would be shown: "
            "leave one of them out, or end the conversation with the question"
        )
    return Sample(named, query, fields.get("tools"), extra=extra)
