"""What the root causes of one pair cost, as a row holds it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from planner_eval.base.named import NamedTuple

SHAPLEY, ALONE, EVEN = "shapley", "alone", "even"
"""How credits were found: over all orders of mending; from each cause mended first and mended last; or they
are equal shares, where even that would take too long."""


class Cause(NamedTuple):
    """A root cause of one pair, and what it costs.

    Args:
        code: Its code; where there is no prediction to compare, the pair's state.
        tool: The tool concerned: gold's where gold has the place.
        argument: The argument concerned; None for a whole call, the answer or the order of calls.
        depth: The topological generation of the call concerned, from 1, in the plan whose tool is named.
        exact: What of the pair's loss in ``exact`` it is to blame for.
        similarity: Likewise in ``similarity``.
    """

    code: str
    tool: str | None = None
    argument: str | None = None
    depth: int | None = None
    exact: float = 0.0
    similarity: float = 0.0

    @property
    def groups(self) -> Iterator[tuple[str, ...]]:
        """What it belongs to: a kind and a name, of one part or two."""
        yield "code", self.code
        if self.tool is not None:
            yield "tool", self.tool
            kind, detail = ("call", self.code) if self.argument is None else ("argument", self.argument)
            yield kind, self.tool, detail
        if self.depth is not None:
            yield "depth", str(self.depth)


class Credits(NamedTuple):
    """What the root causes of one pair cost; the credits sum to 1 less its score.

    Args:
        causes: The root causes, as the prediction is read.
        right: The groups that, mended alone, make the pair right: a kind and a name each.
        how: How the credits were found: :data:`SHAPLEY`, :data:`ALONE` or :data:`EVEN`.
    """

    causes: tuple[Cause, ...]
    right: tuple[tuple[str, ...], ...] = ()
    how: str = SHAPLEY

    def data(self) -> dict[str, Any]:
        """The same as JSON data."""
        causes = [
            {name: value for name, value in cause._asdict().items() if value is not None}
            for cause in self.causes
        ]
        return {"how": self.how, "causes": causes, "right": [[*group] for group in self.right]}

    @classmethod
    def of(cls, data: Any) -> Credits:
        """The same from JSON data."""
        causes = [
            Cause(
                cause["code"],
                cause.get("tool"),
                cause.get("argument"),
                cause.get("depth"),
                float(cause["exact"]),
                float(cause["similarity"]),
            )
            for cause in data["causes"]
        ]
        return cls(tuple(causes), tuple(tuple(group) for group in data["right"]), data["how"])


COLUMNS = {
    "how": str,
    "causes": [
        {"code": str, "tool": str, "argument": str, "depth": int, "exact": float, "similarity": float}
    ],
    "right": [[str]],
}
"""The types of the data of :class:`Credits`."""
