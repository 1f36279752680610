"""Rewards for training: what completions are worth beside gold plans, for TRL, verl and others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf, isfinite
from typing import Any

from planner_eval import dialects
from planner_eval.base.errors import InputError, PlanevalError
from planner_eval.base.limits import Limits
from planner_eval.base.named import NamedTuple
from planner_eval.engine.run import run
from planner_eval.integrations.reward_judging import LIMITS, How, Judged, judged, pair_of
from planner_eval.integrations.reward_parts import VERDICTS, Verdicts, Weights, weights_of
from planner_eval.plan.model import Plan
from planner_eval.records.files import Record
from planner_eval.verbs.policies import AnyPolicy, policy_of


def reward(  # noqa: PLR0913 - what a trainer may want to say
    *,
    gold: str = "gold",
    weights: Mapping[str, float] | Weights | None = None,
    per_call: Verdicts = VERDICTS,
    policy: AnyPolicy = "default",
    dialect: str | None = None,
    repair: bool = False,
    prose: bool = False,
    unreadable: float = 0.0,
    limits: Limits = LIMITS,
    jobs: int = 1,
    deadline: float | None = None,
    name: str = "planeval",
) -> Reward:
    """Make a reward function for training: ``(completions, gold, **columns) -> list[float]``.

    Args:
        gold: The column of the data set that holds the gold plans.
        weights: What ``format``, ``calls``, ``arguments``, ``references`` and ``structure`` are worth
            beside one another.
        per_call: What right and wrong calls, and consequences, are worth: see :meth:`Reward.judge`.
        policy: How values compare: a policy, the name of a preset, or a policy's file.
        dialect: The notation that is asked for; recognised when left out.
        repair: Mend small faults; a mended completion has no part of the format's share.
        prose: Words around the plan cost nothing; without it they cost the format's share.
        unreadable: What a completion is worth that cannot be read.
        limits: Bounds on size, nesting and calls; what exceeds them counts as unreadable.
        jobs: How many processes judge a batch.
        deadline: Seconds for a completion, which processes of their own keep, also with one job; one that
            takes longer is unreadable.
        name: What trainers call the reward in their logs.

    Returns:
        A function that trainers take; it can be pickled.

    Raises:
        InputError: a weight, the policy or the dialect is none, or another argument cannot be meant.

    >>> rewards = reward()
    >>> gold = ["f(#x='1')"] * 3
    >>> [round(found, 3) for found in rewards(["f(#x='1')", "f(#x='2')", "f(#x="], gold=gold)]
    [1.0, 0.55, 0.0]
    """
    if dialect is not None:
        dialects.get(dialect)
    if isinstance(unreadable, bool) or not isinstance(unreadable, (int, float)) or not isfinite(unreadable):
        raise InputError(f"unreadable is {unreadable!r}, expected a number")
    if unreadable > 1:
        raise InputError(f"unreadable is {unreadable!r}, expected at most 1, what the right plan is worth")
    if not isinstance(per_call, Verdicts):
        raise InputError(f"per_call is {per_call!r}, expected Verdicts(right=1, wrong=-1, consequence=0)")
    if not isinstance(limits, Limits):
        raise InputError(f"limits is {limits!r}, expected Limits of planner_eval.base.limits")
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise InputError(f"jobs is {jobs!r}, expected a whole number from 1 on")
    if deadline is not None and not (
        isinstance(deadline, (int, float)) and not isinstance(deadline, bool) and 0 < deadline < inf
    ):
        raise InputError(f"deadline is {deadline!r}, expected seconds, more than 0")
    settings = How(
        weights_of(weights), per_call, policy_of(policy), dialect, repair, prose, float(unreadable), limits
    )
    return Reward(settings, gold, jobs, deadline, name)


class Reward:
    """A reward function as trainers take it: :func:`reward` makes it.

    Whatever a completion is, it raises nothing: it is right, wrong or unreadable.

    Args:
        settings: How completions are judged.
        gold: The column that holds the gold plans.
        jobs: How many processes judge a batch.
        deadline: Seconds for a completion.
        name: What trainers call it.
    """

    def __init__(self, settings: How, gold: str, jobs: int, deadline: float | None, name: str) -> None:
        self.how, self.gold, self.jobs, self.deadline, self.__name__ = settings, gold, jobs, deadline, name

    def __call__(
        self, completions: Sequence[Any], *golds: Any, prompts: Sequence[Any] | None = None, **columns: Any
    ) -> list[float]:
        """What each completion is worth, as TRL asks for it.

        Args:
            completions: Texts, or lists of a chat's messages.
            golds: The gold plans, where they are not among the columns by their name: a list, one each.
            prompts: The prompts: one that is copied at the start of its completion is taken out.
            columns: The other columns of the data set, of which the gold plans are one. TRL's `log_metric`
                is told which share could be read, and which means the same as gold.

        Raises:
            InputError: there is no column of gold plans, or it has another length.
        """
        gold_plans = golds[0] if golds else columns.get(self.gold)
        if gold_plans is None:
            names = ", ".join(sorted(columns)) or "none"
            raise InputError(
                f"there is no column {self.gold!r} of gold plans; the columns are {names}: "
                "pe.reward(gold='NAME') names it"
            )
        if isinstance(gold_plans, (str, Plan, Mapping)):
            gold_plans = [gold_plans] * len(completions)
        prompt_list = [None] * len(completions) if prompts is None else prompts
        if not len(completions) == len(gold_plans) == len(prompt_list):
            raise InputError(
                f"{len(completions):,} completions, {len(gold_plans):,} gold plans and "
                f"{len(prompt_list):,} prompts: expected as many of each"
            )
        pairs = [
            pair_of(index, *row)
            for index, row in enumerate(zip(completions, gold_plans, prompt_list, strict=True))
        ]
        results = self._many(pairs)
        _log(columns.get("log_metric"), self.__name__, results)
        return [result.reward for result in results]

    def judge(self, completion: Any, gold: Any, prompt: Any = None) -> Judged:
        r"""What one completion is worth, part by part and call by call, and why.

        Args:
            completion: A text, or a list of a chat's messages.
            gold: The gold plan.
            prompt: The prompt: where it is copied at the start of the completion it is taken out.

        >>> found = reward().judge("g(#y='7')\nh(#x='1')", "a = f()\ng(#y=a)\nh(#x='2')")
        >>> [(call.tool, call.verdict, call.reward) for call in found.calls]
        [('g', 'consequence', 0.0), ('h', 'wrong', -1.0)]
        """
        return judged(pair_of(0, completion, gold, prompt), self.how, per_call=True)

    def compute_score(
        self, data_source: Any, solution_str: Any, ground_truth: Any, extra_info: Any = None, **_more: Any
    ) -> dict[str, Any]:
        """What one completion is worth, as verl asks for it.

        Args:
            data_source: Not looked at.
            solution_str: The completion.
            ground_truth: The gold plan.
            extra_info: Not looked at.

        Returns:
            ``score``, and beside it ``same`` and ``readable`` as 0 or 1 and ``state``, which verl logs.
            Where there is no gold plan that can be read the score is 0 for all completions of a group, which
            teaches nothing, and the state says so.
        """
        result = judged(pair_of(0, solution_str, ground_truth), self.how)
        score = result.reward if isfinite(result.reward) else 0.0
        return {
            "score": score,
            "same": int(result.state == "same"),
            "readable": int(result.readable),
            "state": result.state,
        }

    def _many(self, pairs: list[tuple[Record, Record]]) -> list[Judged]:
        if self.jobs == 1 and self.deadline is None:
            return [judged(pair, self.how) for pair in pairs]
        job = _RewardJob(self.how)
        try:
            with run(job, pairs, jobs=self.jobs, deadline=self.deadline) as output, open(output.rows) as rows:
                return [Judged(*json.loads(line)) for line in rows]
        except (PlanevalError, OSError, RuntimeError):  # no process can be started, or no file be written
            return [judged(pair, self.how) for pair in pairs]


class _RewardJob(NamedTuple):
    """Judges pairs in processes."""

    how: How
    kind: str = "reward"

    def options(self) -> dict[str, Any]:
        """Nothing: no run of it is kept."""
        return {}

    def fold(self, data: Any = None) -> _NoSums:
        """Sums over nothing."""
        return _NoSums()

    def rows(self, pairs: Iterable[Any], fold: Any) -> Iterator[str]:
        """A line of JSON a pair."""
        for pair in pairs:
            yield json.dumps(judged(pair, self.how)[:3])


class _NoSums:
    def extend(self, other: Any) -> None:
        """Add nothing."""

    def data(self) -> Any:
        """Nothing."""
        return []


def _log(log_metric: Any, name: str, results: Sequence[Judged]) -> None:
    """Tell a trainer that logs figures which share could be read, and which is right."""
    if not callable(log_metric) or not results:
        return
    log: Callable[[str, float], object] = log_metric
    log(f"{name}/readable", sum(result.readable for result in results) / len(results))
    log(f"{name}/same", sum(result.state == "same" for result in results) / len(results))
