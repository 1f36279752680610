"""Root causes over many pairs: what each costs, and what fixing one would gain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from planner_eval.base.arguments import LIST, expect, instance_of
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.registry import service
from planner_eval.comparison.policy.resolve import AnyPolicy, policy_of
from planner_eval.comparison.rows import JUDGED_STATES, Row
from planner_eval.results.attribution import ALONE, EVEN, SHAPLEY, Credits, credits_of

# ----------------------------------------------------------------------
# Root causes over many pairs: what each costs, and what mending one would gain.
KINDS = ("code", "tool", "argument", "call", "depth")
"""What root causes are summed by: ``argument`` is a tool's argument, ``call`` what a tool's calls suffer."""

MAX_FIXES = 3
"""How many groups are named whose mending would gain most."""

_UNIT = 10**15
"""Credits are summed as whole numbers of parts of 1, so that sums are the same in any order."""


class CauseSum(NamedTuple):
    """What one group of root causes costs.

    Args:
        kind: One of :data:`KINDS`.
        name: The code, the tool, ``tool(argument)``, ``tool: code`` or the generation, from 1.
        pairs: The pairs that have it.
        exact: What it costs in ``exact``: its part of the figure's distance from 1.
        similarity: What it costs in the mean ``similarity`` of the pairs.
        gain: By how much ``exact`` would rise, were it mended in all pairs and nothing else.
        parts: What the name is made of.
    """

    kind: str
    name: str
    pairs: int
    exact: float
    similarity: float
    gain: float
    parts: tuple[str, ...]


@fast_frozen
class Causes:
    """What went wrong in many pairs, and what mending it would gain.

    Args:
        pairs: The pairs that count: those with a readable gold plan.
        exact: Their ``exact``.
        similarity: The mean of their ``similarity``.
        rows: The groups, kind by kind, the dearest first; of ``code`` they sum to 1 less the figure.
        fixes: The groups whose mending in all pairs would gain most, without those of codes and tools alone.
        how: In how many pairs that differ credits were found how, see :mod:`.credits`.
    """

    pairs: int
    exact: float | None
    similarity: float | None
    rows: tuple[CauseSum, ...]
    fixes: tuple[CauseSum, ...]
    how: Mapping[str, int]

    def of(self, kind: str) -> tuple[CauseSum, ...]:
        """The groups of one kind, the dearest first."""
        return tuple(row for row in self.rows if row.kind == kind)

    def __str__(self) -> str:
        """What ``planeval score --causes`` tells of them."""
        text: str = service("causes text")(self)
        return text


class CauseSums:
    """Sums over the credits of pairs: those of parts, put together in any order, are those of the whole.

    Args:
        data: Sums over some pairs already, as :meth:`data` gives them.
    """

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        stored = data or {}
        self.pairs: int = stored.get("pairs", 0)
        self.how: Counter[str] = Counter(stored.get("how"))
        self.lost: list[int] = [*stored.get("lost", (0, 0))]
        self.groups: dict[tuple[str, ...], list[int]] = {
            tuple(group): [*sums] for group, sums in stored.get("groups", ())
        }

    def add(self, state: str, credits: Credits | None) -> None:
        """Add the next pair."""
        if state not in JUDGED_STATES:
            return
        self.pairs += 1
        if credits is None:
            return
        self.how[credits.how] += 1
        own: dict[tuple[str, ...], list[int]] = {}
        for cause in credits.causes:
            costs = round(cause.exact * _UNIT), round(cause.similarity * _UNIT)
            for index, cost in enumerate(costs):
                self.lost[index] += cost
            for group in cause.groups:
                sums = own.setdefault(group, [1, 0, 0, 0])
                sums[1] += costs[0]
                sums[2] += costs[1]
        for group in credits.right:
            own[group][3] = 1
        for group, sums in own.items():
            self._add(group, sums)

    def _add(self, group: tuple[str, ...], sums: Sequence[int]) -> None:
        previous = self.groups.get(group)
        self.groups[group] = (
            [*sums] if previous is None else [a + b for a, b in zip(previous, sums, strict=True)]
        )

    def extend(self, other: CauseSums) -> None:
        """Add the sums over other pairs."""
        self.pairs += other.pairs
        self.how.update(other.how)
        self.lost = [a + b for a, b in zip(self.lost, other.lost, strict=True)]
        for group, sums in other.groups.items():
            self._add(group, sums)

    def data(self) -> dict[str, Any]:
        """The sums as JSON data."""
        groups = [[[*group], self.groups[group]] for group in sorted(self.groups)]
        how = {name: self.how[name] for name in (SHAPLEY, ALONE, EVEN) if self.how[name]}
        return {"pairs": self.pairs, "how": how, "lost": self.lost, "groups": groups}

    @property
    def causes(self) -> Causes:
        """What the sums say."""
        n = self.pairs
        rows = sorted((self._row(group) for group in self.groups), key=_cost_sort_key)
        able = [row for row in rows if row.kind in ("argument", "call") or _is_state(row)]
        fixes = sorted(able, key=lambda row: (-row.gain, -row.exact, -row.similarity, row.kind, row.name))
        exact, similarity = ((n * _UNIT - loss) / (n * _UNIT) if n else None for loss in self.lost)
        return Causes(n, exact, similarity, tuple(rows), tuple(fixes[:MAX_FIXES]), dict(self.data()["how"]))

    def _row(self, group: tuple[str, ...]) -> CauseSum:
        kind, *fields = group
        pairs, exact, similarity, right = self.groups[group]
        scale = self.pairs * _UNIT
        gain = right / self.pairs
        return CauseSum(
            kind, _group_name(kind, fields), pairs, exact / scale, similarity / scale, gain, tuple(fields)
        )


def _cost_sort_key(row: CauseSum) -> tuple[Any, ...]:
    if row.kind == "depth":  # in their order
        return KINDS.index(row.kind), int(row.name)
    return KINDS.index(row.kind), -row.exact, -row.similarity, row.name


def _is_state(row: CauseSum) -> bool:
    """Whether a cause is a pair's state, or lies in no call alone: in the answer, in the order."""
    return row.kind == "code" and row.parts[0].partition(".")[0] not in _CALL_CODE_PREFIXES


_CALL_CODE_PREFIXES = ("call", "app", "name", "argument", "arguments", "reference")


def _group_name(kind: str, fields: Sequence[str]) -> str:
    if kind == "argument":
        return f"{fields[0]}({fields[1]})"
    return ": ".join(fields)


# ----------------------------------------------------------------------
# What root causes cost over many compared pairs.
def attribute(rows: Iterable[Row], *, policy: AnyPolicy = "default") -> Causes:
    r"""Find what each root cause costs: undo it, compare again, and credit it with what is gained.

    A pair's credits are Shapley values and sum to 1 less its score; they are summed by code, tool, argument
    and depth. Of predictions that are absent or cannot be read the state has all.

    Args:
        rows: Compared pairs, as :func:`planner_eval.evaluate` gives them.
        policy: How they were compared, for predictions that there is nothing to compare of.

    Returns:
        What each group costs in ``exact`` and ``similarity``, and what mending it in all pairs would gain.

    Raises:
        InputError: there is no such policy.

    >>> from planner_eval import evaluate
    >>> rows = evaluate(["f(#x='1', #y='2')", "g(#x='1')"], ["f(#x='3', #y='4')", "g(#x='2')"])
    >>> found = attribute(rows)
    >>> [(row.name, row.pairs, row.exact, row.gain) for row in found.of("argument")]
    [('g(x)', 1, 0.5, 0.5), ('f(x)', 1, 0.25, 0.0), ('f(y)', 1, 0.25, 0.0)]
    """
    sums, chosen = CauseSums(), policy_of(policy)
    expect(LIST, rows=rows)
    for row in rows:
        expect(instance_of(Row, "a row that evaluate() gave"), row=row)
        sums.add(row.state, credits_of(row, chosen))
    return sums.causes
