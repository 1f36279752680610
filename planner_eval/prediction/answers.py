"""What of a run that asked a model counts: the first answer to each sample, against the gold asked for."""

from __future__ import annotations

from itertools import islice

from planner_eval.base.text import counted
from planner_eval.prediction.folder import Predicted
from planner_eval.prediction.recorded import left_out
from planner_eval.prediction.tasks import numbered
from planner_eval.prediction.visible import OWN
from planner_eval.records.files import PlanFile
from planner_eval.records.pairing import repeated_ids


def first_answers(answers: PlanFile, asked: Predicted) -> PlanFile:
    """The first answer to each sample; in a run's rows the others come after all of these.

    Args:
        answers: The rows of the run.
        asked: The run.
    """
    if asked.repeat == 1:
        return answers
    known = repeated_ids(answers.records)
    first = tuple(islice(answers.records, len(answers.records) // asked.repeat))
    notes = tuple(one for one in answers.notes if one not in known)
    return answers._replace(records=first, notes=notes)


def golds_asked(golds: PlanFile, asked: Predicted) -> PlanFile:
    """The gold plans of the samples that were asked; of recorded conversations what was not shown.

    Args:
        golds: All gold plans.
        asked: The run.
    """
    if asked.form == OWN:
        golds = _named(left_out(golds), asked)
    if all(record.id is None or record.id in asked.ids for record in golds.records):
        return golds
    return golds._replace(records=tuple(record for record in golds.records if record.id in asked.ids))


def _named(golds: PlanFile, asked: Predicted) -> PlanFile:
    """Gold plans, of which those without an id are called as the tasks were, where any of these was asked."""
    names = [record.id or numbered(at) for at, record in enumerate(golds.records, 1)]
    if not any(one.id is None and name in asked.ids for one, name in zip(golds.records, names, strict=True)):
        return golds
    named = (one._replace(id=name) for one, name in zip(golds.records, names, strict=True))
    return golds._replace(records=tuple(named))


def further(asked: Predicted) -> str | None:
    """Says that answers do not count, where samples were asked several times; None where all count."""
    if asked.repeat == 1:
        return None
    samples, others = len(asked.ids), len(asked.ids) * (asked.repeat - 1)
    said = f"{counted(samples, 'sample')} asked {asked.repeat} times; the first answer to each counts"
    return f"{said}, {counted(others, 'further one')} not"
