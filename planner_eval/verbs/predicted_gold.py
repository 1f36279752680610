"""The gold plans of a run that asked a model."""

from __future__ import annotations

import os

from planner_eval.base.errors import InputError
from planner_eval.benchmarks.gold import gold_samples
from planner_eval.benchmarks.registry import BENCHMARKS
from planner_eval.datasets.sources import plans_of_samples
from planner_eval.prediction.folder import Predicted
from planner_eval.prediction.recorded import left_out
from planner_eval.prediction.visible import OWN
from planner_eval.records.files import PlanFile
from planner_eval.verbs.readings import Reading


def read_run_golds(run: Predicted, gold: str, reading: Reading) -> PlanFile:
    """The gold plans of a run that asked a model, the published ones as their benchmark reads them.

    Args:
        run: The run.
        gold: The gold; as :func:`planner_eval.prediction.folder.gold_of` gives it.
        reading: How it is read, where it is plans of the user's own.

    Raises:
        InputError: it is not there, or cannot be read.
    """
    if run.form == OWN:
        return left_out(reading.golds(gold))
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
