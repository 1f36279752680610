"""An answer and its sample, made smaller while a benchmark's two scores disagree about them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from planner_eval.base.errors import InputError, ParseError, WriteError
from planner_eval.base.json_text import loads_if_json
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.benchmarks.answers import match_answers, read_answers
from planner_eval.benchmarks.benchmark import VARIANTS, Benchmark
from planner_eval.benchmarks.datasets.sample import Sample, gold_plan
from planner_eval.benchmarks.details import FigureDifferences, figure_differences
from planner_eval.benchmarks.gold import gold_samples
from planner_eval.benchmarks.registry import benchmark
from planner_eval.comparison.reading import Reading
from planner_eval.curation.shrink.pairs import InputSide, PairSelection, SideFile, read_side, select_one
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.read import parse
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.pairing import refuse_unknown_ids
from planner_eval.reading.files.record import Record


class ScoredSides(NamedTuple):
    """An answer and its sample's gold.

    Args:
        pred: The answer.
        gold: The gold.
        score: In which figures the two scores of both, as they are written, disagree.
    """

    pred: InputSide
    gold: InputSide
    score: Callable[[str, str], FigureDifferences]


def read_scored_sides(
    pred: str, gold: str, name: str, settings: Mapping[str, str], selection: PairSelection, reading: Reading
) -> ScoredSides:
    """An answer, its sample's gold, and in which figures a benchmark's two scores of them disagree.

    Args:
        pred: The file of answers.
        gold: The benchmark's data.
        name: The benchmark.
        settings: Its own options.
        selection: Which answer, and how it is written.
        reading: The fields of the id and of the answer, and how answers are matched.

    Raises:
        InputError: there is no such file, benchmark, option or sample.
    """
    bench = benchmark(name)
    for variant in VARIANTS:
        bench.checked(variant, settings)
    if bench.several(settings):
        raise InputError(f"{bench.title} scores several answers to a sample together here: there is no pair")
    samples = gold_samples(bench, gold, cache=reading.cache)
    answers = read_answers(pred, id_field=reading.id_field, text_field=reading.text_field, benchmark=bench)
    matched = match_answers(answers.found, samples, by=reading.by, nothing=bench.nothing)
    sample, text = _select_answer(matched.records, selection, f"{pred} and {gold}")
    record = Record(pred, 0, sample.id, text)
    pred_record = read_side(
        PlanFile(pred, (record,), False), record, {"dialect": reading.dialect}, selection.to, role="pred"
    )
    gold_record = _gold_side(bench, sample)

    def score(pred: str, gold: str) -> FigureDifferences:
        scored_sample = sample if gold == gold_record.text else replace(sample, gold=_parse_json(gold))
        return (
            figure_differences(bench, scored_sample, pred, settings) if bench.fits(scored_sample.gold) else {}
        )

    pred_record = replace(
        pred_record, calling=_has_calls(pred_record), file=lambda text: SideFile(".txt", text)
    )
    return ScoredSides(pred_record, replace(gold_record, calling=_has_calls(gold_record)), score)


def _parse_json(text: str) -> Any:
    values = loads_if_json(text, DEFAULT_LIMITS) or [None]
    return values[0]


def _has_calls(record: InputSide) -> bool:
    return record.plan is not None and bool(record.plan.calls)


def _select_answer(records: Any, selection: PairSelection, names: str) -> tuple[Sample, str]:
    """The answer that is meant.

    Raises:
        InputError: there are several, or none of this id or number.
    """
    id, number, _ = selection
    answers = list(records)
    if id is not None:
        refuse_unknown_ids([id], dict.fromkeys(sample.id for sample, _ in answers), names)
        answers = [answer for answer in answers if answer[0].id == id]
    sample, text = select_one(answers, number, names)
    return sample, text


def _gold_side(bench: Benchmark, sample: Sample) -> InputSide:
    """A sample's gold as it stands in its record; as it is where it holds more than a plan."""
    text = json.dumps(sample.gold, ensure_ascii=False)

    def parsed(text: str) -> Plan:
        return parse(_parse_json(text), dialect=sample.dialect or None)

    def file(text: str) -> SideFile:
        return SideFile(".json", text)

    try:
        plan = gold_plan(sample)
    except ParseError as error:
        return InputSide(text, None, str(error).partition("\n")[0], parsed=parsed, cut=False, file=file)
    if plan is None:
        return InputSide(
            text, None, "the right answer is free text", parsed=_refuse_reading, cut=False, file=file
        )
    make = bench.gold_of
    if make is None:
        note = f"gold is left as it is: a record of {bench.title} holds more than its plan"
        return InputSide(
            text,
            plan,
            dialect=sample.dialect,
            written=_refuse_writing,
            parsed=parsed,
            cut=False,
            notes=(note,),
            file=file,
        )

    def written(plan: Plan) -> str:
        return json.dumps(make(sample, plan), ensure_ascii=False)

    return InputSide(text, plan, "", sample.dialect, written, parsed, cut=False, file=file)


def _refuse_writing(_plan: Plan) -> str:
    raise WriteError("it is not written")


def _refuse_reading(_text: str) -> Plan:
    raise ParseError("the right answer is free text")
