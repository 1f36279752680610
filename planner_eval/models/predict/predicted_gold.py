"""What of a run that asked a model counts: its first answers, and the gold plans asked for."""

from __future__ import annotations

import os
from collections import Counter
from functools import partial

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.text import format_count
from planner_eval.benchmarks.datasets.sources import plans_of_samples
from planner_eval.benchmarks.gold import gold_samples
from planner_eval.benchmarks.registry import BENCHMARKS
from planner_eval.comparison.reading import Reading
from planner_eval.models.pipelines.pipeline import OWN_TASKS
from planner_eval.models.predict.folder import PredictedRun
from planner_eval.models.predict.tasks import keep_left_out, numbered_id
from planner_eval.plan.model import Plan
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.plans import read_plan
from planner_eval.reading.files.record import Record
from planner_eval.reading.files.warnings import format_repeated_ids


# ----------------------------------------------------------------------
# What of a run that asked a model counts: the first answer to each sample, against the gold asked for.
def read_run_answers(
    answers: PlanFile, run: PredictedRun, *, dialect: str | None = None, strict: bool = False
) -> PlanFile:
    """The first answer to each sample, read in the notation that was asked for.

    Args:
        answers: The rows of the run.
        run: The run.
        dialect: The notation that the user names instead; a note says so where another was asked for.
        strict: Calls in another notation are none; else they are recognised, and a note says so.
    """
    first, named = _first_answers(answers, run), run.dialect
    if named is None or dialect == named:
        return first
    if dialect is not None:
        note = f"answers that were asked for in {named} are read in {dialect}, as you said"
        return _add_note(first, run, f"{note}{_other_dialects_note(first, dialect, '; {} not in {}: {}')}")
    if strict:
        return first.each(partial(_read_as_named, named))
    if elsewhere := _other_dialects_note(first, named, "{} not in {}, which was asked for, and read as {}"):
        first = _add_note(first, run, elsewhere)
    return first.each(partial(_read_as_asked, named))


def _add_note(answers: PlanFile, run: PredictedRun, note: str) -> PlanFile:
    return answers._replace(notes=(*answers.notes, f"{run.folder}: {note}"))


def _other_dialects_note(answers: PlanFile, dialect: str, template: str) -> str:
    """Words on how many answers call something in other notations only, and in which; "" for none."""
    dialect_counts = Counter(filter(None, (_other_dialect(record, dialect) for record in answers.records)))
    which = ", ".join(f"{name} ({count:,})" for name, count in sorted(dialect_counts.items()))
    count = dialect_counts.total()
    are = f"{format_count(count, 'answer')} {'is' if count == 1 else 'are'}"
    return template.format(are, dialect, which) if dialect_counts else ""


def _read_as_named(dialect: str, record: Record) -> Record:
    """As it was asked for, but words without a call, which no notation has a form for."""
    recognised = _read_plan(record, None) if _read_plan(record, dialect) is None else None
    return record if recognised is not None and not recognised.calls else record._replace(dialect=dialect)


def _read_as_asked(dialect: str, record: Record) -> Record:
    return record if _other_dialect(record, dialect) else _read_as_named(dialect, record)


def _other_dialect(record: Record, dialect: str) -> str | None:
    """The notation of an answer that calls something there, and nothing in the one that was asked for."""
    requested = _read_plan(record, dialect)
    if requested is not None and requested.calls:
        return None
    recognised = _read_plan(record, None)
    return recognised.dialect if recognised is not None and recognised.calls else None


def _read_plan(record: Record, dialect: str | None) -> Plan | None:
    """An answer as it is read in a notation, or recognised; None where it cannot be."""
    try:
        return read_plan(record, dialect=dialect)
    except ParseError:
        return None


def _first_answers(answers: PlanFile, run: PredictedRun) -> PlanFile:
    """The first answer to each sample."""
    if run.repeat == 1:
        return answers
    repeat_notes = format_repeated_ids(answers.records)
    first = tuple(record for record in answers.records if not record.fields.get("repetition"))
    notes = tuple(note for note in answers.notes if note not in repeat_notes)
    return answers._replace(records=first, notes=notes)


def select_asked_golds(golds: PlanFile, run: PredictedRun) -> PlanFile:
    """The gold plans of the samples that were asked; of recorded conversations what was not shown.

    Args:
        golds: All gold plans.
        run: The run.
    """
    if run.form == OWN_TASKS:
        golds = _rename_golds(keep_left_out(golds), run)
    if all(record.id is None or record.id in run.ids for record in golds.records):
        return golds
    return golds._replace(records=tuple(record for record in golds.records if record.id in run.ids))


def _rename_golds(golds: PlanFile, run: PredictedRun) -> PlanFile:
    """Gold plans, of which those without an id are called as the tasks were, where any of these was asked."""
    names = [record.id or numbered_id(number) for number, record in enumerate(golds.records, 1)]
    if not any(
        record.id is None and name in run.ids for record, name in zip(golds.records, names, strict=True)
    ):
        return golds
    named = (record._replace(id=name) for record, name in zip(golds.records, names, strict=True))
    return golds._replace(records=tuple(named))


def repeats_message(run: PredictedRun) -> str | None:
    """Says that answers do not count, where samples were asked several times; None where all count."""
    if run.repeat == 1:
        return None
    samples, extra_answers = len(run.ids), len(run.ids) * (run.repeat - 1)
    message = f"{format_count(samples, 'sample')} asked {run.repeat} times; the first answer to each counts"
    return f"{message}, {format_count(extra_answers, 'further one')} not"


# ----------------------------------------------------------------------
# The gold plans of a run that asked a model.
def read_run_golds(run: PredictedRun, gold: str, reading: Reading) -> PlanFile:
    """The gold plans of a run that asked a model, the published ones as their benchmark reads them.

    Args:
        run: The run.
        gold: The gold; as :func:`planner_eval.models.predict.folder.gold_of` gives it.
        reading: How it is read, where it is plans of the user's own.

    Raises:
        InputError: it is not there, or cannot be read.
    """
    if run.form == OWN_TASKS:
        return keep_left_out(reading.golds(gold))
    own = (reading.gold_dialect, reading.gold_id_field, reading.gold_text_field)
    if any(own) or not os.path.exists(gold):  # fields that the user names, or a data set by its name
        return reading.golds(gold)
    try:
        samples = gold_samples(BENCHMARKS[run.form], gold)
    except InputError:
        if gold == run.source:
            raise
        return reading.golds(gold)  # the user's own plans for published questions
    return reading.golds(plans_of_samples(gold, samples))
