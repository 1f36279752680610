"""Which findings are asked for: by the beginnings of their codes."""

from __future__ import annotations

from collections.abc import Iterable

from planner_eval.auditing.finding import CONFIDENCES, Confidence
from planner_eval.base.errors import CODES, InputError
from planner_eval.base.named import NamedTuple
from planner_eval.base.text import did_you_mean, shortened


class Choice(NamedTuple):
    """Which findings are asked for.

    Args:
        select: Beginnings of codes; all where there are none.
        ignore: Beginnings of codes that are left out of these.
        least: How sure a finding has to be.

    >>> Choice(("gold",), ("gold.answer",)).has("gold.answer"), Choice().has("dataset.type")
    (False, True)
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    least: Confidence = "high"

    def has(self, code: str) -> bool:
        """Whether a code is asked for."""
        return (not self.select or code.startswith(self.select)) and not code.startswith(
            self.ignore or ("\0",)
        )

    def ignores(self, code: str) -> bool:
        """Whether a code is one of those that are left out by name."""
        return bool(self.ignore) and code.startswith(self.ignore)

    def sure(self, confidence: Confidence) -> bool:
        """Whether a finding is sure enough."""
        return CONFIDENCES.index(confidence) <= CONFIDENCES.index(self.least)


def choice(select: Iterable[str], ignore: Iterable[str], least: str) -> Choice:
    """What the user asks for.

    Args:
        select: Codes or beginnings of codes.
        ignore: Likewise.
        least: One of :data:`CONFIDENCES`.

    Raises:
        InputError: a code is the beginning of none, or there is no such confidence; names the nearest.

    >>> choice(["gold.opt"], [], "medium").select
    ('gold.opt',)
    """
    if least not in CONFIDENCES:
        raise InputError(f"confidence {least!r}: expected one of {', '.join(CONFIDENCES)}")
    return Choice(_codes("select", select), _codes("ignore", ignore), least)


def _codes(option: str, prefixes: Iterable[str]) -> tuple[str, ...]:
    if isinstance(prefixes, str):
        prefixes = (prefixes,)
    if not isinstance(prefixes, Iterable):
        raise InputError(f"{option} is {shortened(repr(prefixes), 40)}, expected codes, e.g. ['gold.answer']")
    codes = tuple(prefixes)
    for code in codes:
        if not isinstance(code, str) or not code:
            raise InputError(f"{option} {shortened(repr(code), 40)}: expected a code, e.g. 'gold.answer'")
        if not any(full_code.startswith(code) for full_code in CODES):
            hint = did_you_mean(code, list(CODES), "they stand in brackets behind findings")
            raise InputError(f"{option} {code!r}: no code begins so; {hint}")
    return codes
