"""A policy by whatever names it."""

from __future__ import annotations

import os
from typing import TypeAlias

from planner_eval.policy import Policy

AnyPolicy: TypeAlias = "Policy | str | os.PathLike[str]"
"""A policy, the name of a preset, or the path of a policy's file."""


def policy_of(policy: AnyPolicy) -> Policy:
    """A policy, by itself, by the name of a preset, or by its file.

    Raises:
        PolicyError: there is none, or its file says something impossible.

    >>> policy_of("lenient").inline
    True
    """
    if isinstance(policy, Policy):
        return policy
    from planner_eval.policy.file import load_policy

    return load_policy(os.fspath(policy))
