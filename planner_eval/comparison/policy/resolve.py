"""A policy by whatever names it."""

from __future__ import annotations

import os
from typing import TypeAlias

from planner_eval.base.errors import InputError
from planner_eval.comparison.policy.policy import Policy

AnyPolicy: TypeAlias = "Policy | str | os.PathLike[str]"
"""A policy, the name of a preset, or the path of a policy's file."""


def policy_of(policy: AnyPolicy) -> Policy:
    """A policy, by itself, by the name of a preset, or by its file.

    Raises:
        PolicyError: there is none, or its file says something impossible.
        InputError: it is neither a policy nor a name.

    >>> policy_of("lenient").inline
    True
    """
    if isinstance(policy, Policy):
        return policy
    if not isinstance(policy, (str, os.PathLike)):
        raise InputError(f"the policy is {policy!r}, expected a pe.Policy, a preset's name or a file")
    from planner_eval.comparison.policy.file import load_policy

    return load_policy(os.fspath(policy))
