"""How far models, and gold itself, are to be believed: accuracies from what they agree on (Dawid and Skene).

The votes on a record are the plans that models gave, and gold's. The true plan is not known; it is estimated
with the accuracies in turn: which plan is likely, given the accuracies, and which accuracies are, given the
plans. It is assumed that each voter is right with one probability on every record, that voters err
independently of one another, and that all wrong plans of a record are as likely. Models that learned the same
mistakes break the second: the figures rank findings, and are no probabilities.

Source: A. P. Dawid and A. M. Skene, "Maximum Likelihood Estimation of Observer Error-Rates Using the EM
Algorithm", Applied Statistics 28 (1979); one accuracy a voter in place of a matrix, for plans are no classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log

GOLD = ""
"""The name under which gold votes."""
_ROUNDS = 20
_PRIOR_RIGHT, _PRIOR_ALL = 3.0, 4.0
"""Counts as if each voter had been right on three records of four before: few records say little."""


def estimate_accuracies(votes: Sequence[Mapping[str, int]]) -> dict[str, float]:
    """The accuracy of each voter.

    Args:
        votes: Of each record the plan of each voter, as a number; equal numbers are equal plans.

    >>> votes = [{"": 0, "a": 0, "b": 0, "c": n % 2} for n in range(20)]
    >>> accuracies = estimate_accuracies(votes)
    >>> accuracies["a"] > 0.9, 0.45 < accuracies["c"] < 0.65
    (True, True)
    """
    voters = sorted({voter for record in votes for voter in record})
    accuracies = dict.fromkeys(voters, _PRIOR_RIGHT / _PRIOR_ALL)
    for _ in range(_ROUNDS):
        right = dict.fromkeys(voters, _PRIOR_RIGHT)
        total = dict.fromkeys(voters, _PRIOR_ALL)
        for record in votes:
            chances = plan_chances(record, accuracies)
            for voter, plan in record.items():
                right[voter] += chances[plan]
                total[voter] += 1
        accuracies = {voter: right[voter] / total[voter] for voter in voters}
    return accuracies


def plan_chances(record: Mapping[str, int], accuracies: Mapping[str, float]) -> dict[int, float]:
    """How likely each plan of a record is the true one.

    Args:
        record: The plan of each voter.
        accuracies: The accuracy of each voter.

    >>> chances = plan_chances({"": 0, "a": 1, "b": 1}, {"": 0.9, "a": 0.9, "b": 0.9})
    >>> round(chances[1], 2)
    0.9
    """
    plans = set(record.values())
    wrong_plans = max(1, len(plans) - 1)
    weights = dict.fromkeys(plans, 0.0)
    for voter, vote in record.items():
        accuracy = min(0.99, max(0.01, accuracies[voter]))
        for plan in plans:
            weights[plan] += log(accuracy if plan == vote else (1 - accuracy) / wrong_plans)
    highest = max(weights.values())
    sizes = {plan: exp(weight - highest) for plan, weight in weights.items()}
    return {plan: size / sum(sizes.values()) for plan, size in sizes.items()}


def weighted_share(record: Mapping[str, int], plan: int, accuracies: Mapping[str, float]) -> float:
    """The share of models that gave a plan, each with its accuracy as its weight; gold has no share.

    Args:
        record: The plan of each voter.
        plan: The plan.
        accuracies: The accuracy of each voter.

    >>> round(weighted_share({"": 0, "a": 1, "b": 0}, 1, {"": 0.9, "a": 0.9, "b": 0.3}), 2)
    0.75
    """
    weights = {voter: accuracies[voter] for voter in record if voter != GOLD}
    total = sum(weights.values())
    return sum(weight for voter, weight in weights.items() if record[voter] == plan) / total if total else 0.0
