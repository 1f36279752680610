"""Pipelines of benchmarks that ask by rules of their own: their dialogs, held with a model."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from planner_eval.benchmarks.asking import CallTexts
from planner_eval.benchmarks.benchmark import asking_of
from planner_eval.models.pipelines.pipeline import (
    ModelCall,
    Observations,
    Outcome,
    Pipeline,
    Steps,
    Task,
    act,
    ask,
)

if TYPE_CHECKING:
    from planner_eval.benchmarks.datasets.published import Sample
    from planner_eval.execution.sandbox.sandbox import Sandbox
    from planner_eval.models.pipelines.agent_pipelines import CallRunner
    from planner_eval.models.pipelines.setup import Setup


def dialog_steps(name: str, task: Task, setup: Setup) -> Steps:
    """Hold a benchmark's own dialog: ask what it asks, have the calls made that it wants made."""
    asking = asking_of(task.form)
    assert asking is not None, "the pipeline serves such data sets alone"
    dialog = asking.dialog(name, task.visible, task.tools, setup.steps)
    sent: Any = None
    while True:
        try:
            step = dialog.send(sent)
        except StopIteration as end:
            result = end.value
            return Outcome(result.prediction, stop=result.stop, beside=result.beside)
        if isinstance(step, CallTexts):
            sent = (yield from act([ModelCall("", None, text) for text in step.texts])).contents
        else:
            sent = yield from ask("call", step.messages, tools=step.tools)


def benchmark_caller(sample: Sample, form: str, box: Sandbox) -> CallRunner:
    """Makes the calls of a sample as its benchmark does.

    Args:
        sample: The sample.
        form: Its benchmark.
        box: Where the tools run; used by one caller at a time.
    """
    asking = asking_of(form)
    assert asking is not None, "only such a benchmark has calls of its own"
    call = asking.caller(sample, box)
    return lambda calls: Observations(tuple(call([made.written for made in calls])))


PROMPT = Pipeline(
    "prompt",
    "calls in text, as the benchmark's own runner asks",
    partial(dialog_steps, "prompt"),
    {"bfcl": ()},
    acts=True,
)
