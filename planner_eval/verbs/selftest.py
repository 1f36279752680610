"""A scorer put to the 38 pairs."""

from __future__ import annotations

from collections.abc import Sequence

from planner_eval.base.errors import InputError
from planner_eval.base.given import NAMES, SECONDS, expect, expect_or_none
from planner_eval.policy import DEFAULT_POLICY
from planner_eval.scoring.selftest import PairVerdict, ask_command, ask_ourselves
from planner_eval.verbs.policies import AnyPolicy, policy_of


def selftest(
    command: Sequence[str] | None = None, *, policy: AnyPolicy = DEFAULT_POLICY, timeout: float = 60.0
) -> tuple[PairVerdict, ...]:
    """Put the comparison, or another scorer, to 38 pairs of plans of which the right answer is known.

    Args:
        command: Another scorer's program and its arguments, see
            :func:`planner_eval.scoring.selftest.ask_command`; our own comparison when left out.
        policy: How values compare in ours.
        timeout: Seconds for one pair of the other's.

    Raises:
        InputError: the command is a text, or there is no such policy.

    >>> sum(answer.right for answer in selftest() if not answer.disputed)
    30
    """
    if isinstance(command, str):
        raise InputError(f"the command is {command!r}, expected its words: {command.split()!r}")
    expect_or_none(NAMES, command=command)
    expect(SECONDS, timeout=timeout)
    if command is None:
        return tuple(ask_ourselves(policy_of(policy)))
    return tuple(ask_command(command, timeout=timeout))
