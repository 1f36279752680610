"""Samples as records that models are trained on."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.base.given import COUNT, expect_or_none
from planner_eval.datasets.gold import gold_plan
from planner_eval.datasets.sample import Sample
from planner_eval.plan.model import Plan
from planner_eval.prediction.export import FORMS, Exported, Golds, exported
from planner_eval.prediction.recorded import left_out, words_of
from planner_eval.prediction.setup import Setup
from planner_eval.prediction.shots import Shots
from planner_eval.prediction.tasks import numbered
from planner_eval.prediction.visible import OWN
from planner_eval.records.plans import read_plan
from planner_eval.records.several import read_path
from planner_eval.verbs.predicting import prepare_run


def export_dataset(
    samples: Any,
    *,
    to: str,
    benchmark: str | None = None,
    catalog: Any = None,
    dialect: str | None = None,
    ids: Sequence[str] = (),
    limit: int | None = None,
    shots: int | None = None,
    data_cache: str | None = None,
) -> Iterator[Exported]:
    """Make records of samples that models are trained on: what :func:`predict` asks, and gold as the answer.

    Args:
        samples: The name of a data set, or a file of tasks of one's own with their answers.
        to: ``"chat-jsonl"``: the prompt of ``flat``, and gold in the notation that it asks for; or
            ``"tools-jsonl"``: the question, the endpoint's own tools, and gold as their calls.
        benchmark: Whose data `samples` is, where that is a folder or a file of published data.
        catalog: The tools on offer, where the samples bring none.
        dialect: The notation asked for, of tasks of one's own; JSON when left out.
        ids: Only the samples of these ids.
        limit: Only so many samples, the first.
        shots: How many demonstrations prompts show, chosen as :func:`predict` does.
        data_cache: The cache folder of data sets, where it is not the usual one.

    Returns:
        One a sample, in their order; it says why where there is no record.

    Raises:
        InputError: something is wrong that concerns all samples.

    >>> import json, tempfile
    >>> tool = {"name": "now", "description": "The time."}
    >>> task = {"id": "a", "query": "What time is it?", "tools": [tool], "gold": "now()"}
    >>> with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
    ...     written = file.write(json.dumps(task)), file.flush()
    ...     record = next(export_dataset(file.name, to="tools-jsonl")).record
    >>> record["messages"][-1]["tool_calls"][0]["function"]
    {'name': 'now', 'arguments': '{}'}
    """
    if to not in FORMS:
        raise InputError(f"there is no form {to!r}; there are {' and '.join(FORMS)}")
    expect_or_none(COUNT, shots=shots)
    if shots is not None and to != "chat-jsonl":
        raise InputError("demonstrations are shown in prompts: with chat-jsonl")
    ready = prepare_run(
        samples,
        pipeline="flat" if to == "chat-jsonl" else None,
        benchmark=benchmark,
        catalog=catalog,
        setup=Setup(dialect=dialect),
        ids=ids,
        limit=limit,
        data_cache=data_cache,
        shots=None if shots is None else Shots(shots),
    )
    return exported(ready, to, _own(os.fspath(samples)) if ready.form == OWN else gold_plan)


def _own(file: str) -> Golds:
    """The gold plans of tasks of one's own, which stand beside the questions.

    Raises:
        InputError: the file holds no answers.
    """
    if not Path(file).is_file():
        raise InputError(f"there is no file {file}")
    records = left_out(read_path(file, role="gold")).records
    records_by_id = {record.id or numbered(number): record for number, record in enumerate(records, 1)}

    def golds(sample: Sample) -> Plan:
        if sample.id not in records_by_id:
            raise InputError("its record has no answer")
        plan = read_plan(records_by_id[sample.id])
        return plan if plan.calls else replace(plan, text=words_of(records_by_id[sample.id].source))

    return golds
