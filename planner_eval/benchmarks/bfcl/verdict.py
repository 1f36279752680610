"""What BFCL's checkers say of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an answer is right, and what is wrong with it in the published words.

    Args:
        valid: The answer counts as right.
        error_type: The published kind of error; None where the answer is right.
        error: The published message as its code writes it: text, or a list's items; () where it is right.
        details: What the published code writes beside the message, e.g. differing states.

    >>> Verdict(False, "multi_turn:force_terminated", ("Model was …",)).valid
    False
    """

    valid: bool
    error_type: str | None = None
    error: str | tuple[Any, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


VALID = Verdict(True)
"""Nothing is wrong."""
RAISED = "raised"
"""The kind of error of a record on which the published code raises, which ends its evaluation."""
