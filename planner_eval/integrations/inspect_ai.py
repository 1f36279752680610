"""Inspect: a scorer of plans with its metrics, and its logs as predictions."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from inspect_ai.log import read_eval_log
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    accuracy,
    metric,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState

from planner_eval.integrations.verdict import UNJUDGED_METADATA, GoldError, expect_gold_record, judge
from planner_eval.reading.files.record import GOLD_COMPANION_FIELDS


@metric
def unreadable() -> Metric:
    """The share of answers that are no plan at all, which are wrong too."""

    def share(scores: list[SampleScore]) -> float:
        states = [(s.score.metadata or {}).get("state") for s in scores]
        return states.count("unreadable") / len(states) if states else 0.0

    return share


@scorer(metrics=[accuracy(), stderr(), unreadable()])
def plan_same(policy: str = "default", repair: bool = True) -> Scorer:
    """Score whether the calls that a model made, or wrote, are the target's plan.

    The calls of all turns are the plan; where the model called no tool, what it wrote is read. The target is
    a plan as text, in any notation; of several each is as right. A sample whose target is none of that, or is
    missing, stays without a score and counts in no metric.

    Args:
        policy: How values compare: the name of a preset, or a policy's file.
        repair: Mend small faults of answers that strict reading refuses.
    """

    async def score(state: TaskState, target: Target) -> Score:
        answer = _answer([message.model_dump() for message in state.messages], state.output.completion)
        answer_text = answer if isinstance(answer, str) else None
        try:
            verdict = judge(answer, _gold(list(target)), policy=policy, repair=repair)
        except GoldError as error:
            return Score.unscored(
                answer=answer_text, explanation=str(error), metadata=dict(UNJUDGED_METADATA)
            )
        return Score(
            value=CORRECT if verdict.same else INCORRECT,
            answer=answer_text,
            explanation=verdict.reason,
            metadata=verdict.metadata,
        )

    return score


def _gold(targets: list[str]) -> Any:
    """The gold of a sample: of several targets each is as right."""
    first, *alternatives = targets or [""]
    return {"gold": first, "alternatives": alternatives} if alternatives else first


def _answer(messages: list[dict[str, Any]], completion: str) -> Any:
    """The messages of a sample, where the model called tools; else what it wrote."""
    called = any(message.get("tool_calls") for message in messages if message.get("role") == "assistant")
    return messages if called else completion


def _gold_fields(gold: Any) -> dict[str, Any]:
    """Gold in fields of which the verbs say what the scorer says: null, and why, where it is no plan."""
    try:
        record = expect_gold_record(gold)
    except GoldError as error:
        return {"gold": None, "gold_error": str(error)}
    return {
        "gold": record.source,
        **{name: record.fields[name] for name in GOLD_COMPANION_FIELDS if name in record.fields},
    }


def predictions(log: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """The samples of a log, as records that :func:`planner_eval.score` and the others read.

    Args:
        log: A file that Inspect wrote, ``.eval`` or ``.json``.

    Returns:
        A record a sample: its ``id`` (with the epoch, where there are several), its ``prediction``, the
        target as ``gold`` with what else is right beside it, or, where it is no plan, null with the reason
        as ``gold_error``; of a sample that failed, the ``error`` in place of a prediction.
    """
    eval_log = read_eval_log(os.fspath(log))
    samples = eval_log.samples or []
    has_epochs = len({sample.epoch for sample in samples}) > 1
    for sample in samples:
        gold = [sample.target] if isinstance(sample.target, str) else list(sample.target)
        record = {
            "id": f"{sample.id}/{sample.epoch}" if has_epochs else str(sample.id),
            **_gold_fields(_gold(gold)),
        }
        if sample.error is not None:
            yield {**record, "prediction": None, "error": sample.error.message}
            continue
        messages = [message.model_dump(mode="json") for message in sample.messages]
        yield {**record, "prediction": _answer(messages, sample.output.completion)}
