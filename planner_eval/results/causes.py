"""Root causes over many pairs: what each costs, and what fixing one would gain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import factorial
from typing import Any

from planner_eval.base.counts import round_ratio
from planner_eval.base.errors import LIST, expect, instance_of
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.tables import TEXT, Rows, Style
from planner_eval.base.text import JsonObject, format_count, one_line
from planner_eval.comparison.diff import Diff
from planner_eval.comparison.explanation.edits import Edit
from planner_eval.comparison.matching.align import Matching, match
from planner_eval.comparison.metrics import measure, measure_none
from planner_eval.comparison.patch import Fixes
from planner_eval.comparison.policy.policy import DEFAULT_POLICY, Policy
from planner_eval.comparison.policy.resolve import AnyPolicy, policy_of
from planner_eval.comparison.rows import JUDGED_STATES, NO_ANSWER_STATES, STATES, Row
from planner_eval.plan.structure import topological_generations

# ----------------------------------------------------------------------
# What the root causes of one pair cost, as a row holds it.
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
    right: tuple[tuple[str, ...], ...]
    how: str = SHAPLEY

    def data(self) -> JsonObject:
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
            Cause(**cause | {score: float(cause[score]) for score in _SCORES}) for cause in data["causes"]
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


# ----------------------------------------------------------------------
# What each root cause costs one pair: undo it, compare again, and credit it with what is gained.
MAX_SHAPLEY_CAUSES = 8
"""Root causes up to which every set of them is mended."""

_MAX_ALONE_CAUSES = 64
_MAX_CALLS = 40_000
"""Calls of mended plans that one pair may take: some seconds' worth."""

_DIGITS = 9
"""Credits are rounded, so that sums of them are the same in any order."""


_SCORES = ("exact", "similarity")


def credits_of(row: Row, policy: Policy = DEFAULT_POLICY) -> Credits | None:
    """What the root causes of a pair cost; None where the pair is right, or there is no gold plan.

    Credits are Shapley values: what mending a cause gains, as a mean over all orders in which the causes can
    be mended (Shapley, A value for n-person games, 1953). Beyond eight causes, and for very large plans, a
    cause has the mean of what it gains mended first and mended last, and what is over or lacks is shared;
    beyond 64, and for larger ones, they have equal shares.

    Args:
        row: The compared pair.
        policy: How plans are compared, where there is no prediction to compare.

    >>> from planner_eval.comparison.diff import diff
    >>> from planner_eval.plan.model import Call, Plan
    >>> gold, pred = (Plan((Call("a", "f", (("x", x), ("y", y))),)) for x, y in ((1, "s"), (2, "t")))
    >>> found = credits_of(Row("1", "different", diff(pred, gold), pred, gold))
    >>> [(cause.code, cause.argument, cause.exact) for cause in found.causes]
    [('argument.value', 'x', 0.5), ('argument.value', 'y', 0.5)]
    >>> found.right
    (('code', 'argument.value'), ('tool', 'f'), ('depth', '1'))
    """
    if row.state in NO_ANSWER_STATES and row.gold is not None:
        loss = 1.0  # to answer nothing would be right where gold calls nothing
        if row.gold.calls:
            loss -= _value(measure_none(row.gold, ("similarity",), policy)["similarity"])
        return Credits((Cause(row.state, exact=1.0, similarity=loss),), (("code", row.state),))
    diff = row.diff
    if diff is None or diff.same or diff.matching is None:
        return None
    levels = [
        {call: level for level, calls in enumerate(topological_generations(plan), 1) for call in calls}
        for plan in (diff.gold, diff.pred)
    ]
    causes = [_locate_cause(diff, edit, levels) for edit in diff.roots]
    how = _choose_method(diff, len(causes))
    if how == EVEN:
        games: Sequence[Sequence[float]] = [
            [(1 - score) / len(causes)] * len(causes) for score in _scores(diff.matching)
        ]
        rights = _sufficient_groups(causes, None)
    else:
        worth = _make_value_function(diff)
        of_game = _shapley_values if how == SHAPLEY else _first_last_means
        games = [of_game(len(causes), lambda some, index=index: worth(some)[index]) for index in (0, 1)]  # type: ignore[misc]
        rights = _sufficient_groups(causes, worth if how == SHAPLEY else None)
    credited = tuple(
        cause._replace(exact=round(exact, _DIGITS), similarity=round(similar, _DIGITS))
        for cause, exact, similar in zip(causes, *games, strict=True)
    )
    return Credits(credited, rights, how)


def _choose_method(diff: Diff, roots: int) -> str:
    """How credits can be found in reasonable time."""
    calls = len(diff.pred.calls) + len(diff.gold.calls)
    if roots <= MAX_SHAPLEY_CAUSES and calls * (1 << roots) <= _MAX_CALLS:
        return SHAPLEY
    return ALONE if roots <= _MAX_ALONE_CAUSES and calls * 2 * roots <= _MAX_CALLS else EVEN


Scores = tuple[float, float]
"""``exact`` and ``similarity`` of one pair."""


def _scores(matching: Matching) -> Scores:
    exact, similarity = measure(matching, _SCORES).values()
    return _value(exact), _value(similarity)


def _value(tally: Any) -> float:
    return 1.0 if tally is None or tally.value is None else float(tally.value)


def _make_value_function(diff: Diff) -> Callable[[int], Scores]:
    """The scores once some of the root causes, a bit each, are mended."""
    mending, matching = Fixes(diff), diff.matching
    assert matching is not None
    all_bits = (1 << len(mending.mends)) - 1

    @cache
    def after(operations: int) -> Scores:
        plan = mending.plan(operations)
        return _scores(match(plan, diff.gold, matching.policy, matching.terms))

    @cache
    def worth(some: int) -> Scores:
        if some == 0:
            return _scores(matching)
        if some == all_bits:  # the whole patch: what that makes means the same as gold
            return 1.0, 1.0
        operations = 0
        for index, mend in enumerate(mending.mends):
            if some >> index & 1:
                operations |= mend.operations
        return after(operations)

    return worth


def _shapley_values(count: int, worth: Callable[[int], float]) -> list[float]:
    """The Shapley values of a game, for whose players a bit each stands.

    >>> _shapley_values(2, lambda some: float(some == 3))
    [0.5, 0.5]
    """
    values = [worth(some) for some in range(1 << count)]
    weights = [factorial(size) * factorial(count - 1 - size) for size in range(count)]
    shapley_values = []
    for player in range(count):
        bit = 1 << player
        without = (some for some in range(1 << count) if not some & bit)
        gained = sum(weights[some.bit_count()] * (values[some | bit] - values[some]) for some in without)
        shapley_values.append(gained / factorial(count))
    return shapley_values


def _first_last_means(count: int, worth: Callable[[int], float]) -> list[float]:
    """What each player gains as the mean of coming first and last, what is over or lacks shared.

    Where players meet in twos alone, that is the Shapley value.
    """
    all_bits = (1 << count) - 1
    none, total = worth(0), worth(all_bits)
    gains = [
        (worth(1 << player) - none + total - worth(all_bits ^ 1 << player)) / 2 for player in range(count)
    ]
    over = (total - none - sum(gains)) / count
    return [gain + over for gain in gains]


def _sufficient_groups(
    causes: Sequence[Cause], worth: Callable[[int], Scores] | None
) -> tuple[tuple[str, ...], ...]:
    """The groups of causes that, mended alone, make the pair right.

    Without `worth` only those that hold all causes: each of these is there when all others are mended.
    """
    groups: dict[tuple[str, ...], int] = {}
    for index, cause in enumerate(causes):
        for group in cause.groups:
            groups[group] = groups.get(group, 0) | 1 << index
    all_bits = (1 << len(causes)) - 1
    right = (lambda some: some == all_bits) if worth is None else (lambda some: worth(some)[0] == 1)
    return tuple(group for group, some in groups.items() if right(some))


def _locate_cause(diff: Diff, edit: Edit, levels: Sequence[Mapping[int, int]]) -> Cause:
    """A root cause and where it is, by the generations of gold's calls and the prediction's."""
    for plan, location, level in zip((diff.gold, diff.pred), (edit.gold, edit.pred), levels, strict=True):
        if location is None or location.call is None:
            continue
        named = (place.argument for place in (edit.gold, edit.pred) if place and place.argument is not None)
        argument = next(named, None)
        return Cause(edit.code, plan.calls[location.call].tool, argument, level.get(location.call))
    return Cause(edit.code)


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
        return self.text()

    def text(self, style: Style = TEXT, similarity_pairs: int | None = None) -> str:
        """What people are told of them, a short table and the best fixes, without a last line end.

        Args:
            style: How it is written.
            similarity_pairs: How many pairs a figure `similarity` beside it is over.
        """
        if not self.rows:
            return "root causes: nothing is wrong" if self.pairs else "root causes: no pair could be judged"
        selected = [row for kind in KINDS for row in self.of(kind)[:_MAX_GROUPS_SHOWN]]
        rows = [
            {_HEADS.get(key, key): _round_float(_HEADS.get(value, value)) for key, value in row.items()}
            for row in _cause_rows(selected)
        ]
        more = [
            format_count(more, _HEADS.get(kind, kind))
            for kind in KINDS
            if (more := len(self.of(kind)) - _MAX_GROUPS_SHOWN) > 0
        ]
        lines = (
            [f"the {_MAX_GROUPS_SHOWN} costliest of each kind are shown; left out: {', '.join(more)}"]
            if more
            else []
        )
        lines += ["single fixes that would gain most:"] if self.fixes else []
        lines += [f"{number}. {self.sentence(fix)}" for number, fix in enumerate(self.fixes, 1)]
        lines += [
            note.format(format_count(self.how[how], "pair"))
            for how, note in _NOTES.items()
            if self.how.get(how)
        ]
        losses = [_round_float(1 - value) for value in (self.exact, self.similarity) if value is not None]
        pairs = format_count(self.pairs, "pair")
        callless = self.pairs - (self.pairs if similarity_pairs is None else similarity_pairs)
        over = (
            f"(means over {pairs}, {callless} of them without calls)" if callless else f"(means over {pairs})"
        )
        head = f"root causes lower exact by {losses[0]} and similarity (macro) by {losses[1]} {over}"
        return style.join([head, style.table(rows), "\n".join(lines)])

    def table(self) -> Rows:
        """All groups as rows of a table."""
        return _cause_rows(self.rows)

    def data(self) -> JsonObject:
        """What they cost as JSON data."""
        return {
            "pairs": self.pairs,
            "exact": self.exact,
            "similarity": self.similarity,
            "how": dict(self.how),
            "causes": [_cause_data(row) for row in self.rows],
            "fixes": [{**_cause_data(fix), "words": self.sentence(fix)} for fix in self.fixes],
        }

    def sentence(self, fix: CauseSum) -> str:
        """What fixing a group in all pairs would gain, as a sentence."""
        where = f"({format_count(fix.pairs, 'pair')})"
        if fix.kind == "argument":
            sentence = f"fixing argument '{fix.parts[1]}' of {fix.parts[0]}"
        elif fix.kind == "call":
            sentence = f"fixing {fix.parts[1]} of {fix.parts[0]}"
        elif fix.parts[0] in STATES:
            sentence, where = f"fixing {format_count(fix.pairs, f'{fix.parts[0]} prediction')}", ""
        else:
            sentence = f"fixing {fix.parts[0]}"
        sentence = one_line(f"{sentence} {where}", 200).rstrip()
        exact = self.exact or 0.0
        if not fix.gain:
            return f"{sentence} would leave exact at {_round_float(exact)}: its pairs have other causes too"
        rise = f"from {_round_float(exact)} to {_round_float(exact + fix.gain)} (+{_round_float(fix.gain)})"
        return f"{sentence} would raise exact {rise}"


_MAX_GROUPS_SHOWN = 3
"""Groups of a kind that are shown to people; programs get all."""

_HEADS = {"exact": "exact lost", "similarity": "similarity lost", "depth": "generation"}
"""Heads of columns and kinds of groups as people see them, where programs have other keys."""

_NOTES = {
    ALONE: (
        "{} with more than 8 causes, or large: the cost of a cause is the mean of fixing it first and "
        "fixing it last"
    ),
    EVEN: "{} with more than 64 causes, or very large: the causes share the cost equally",
}


def _cause_rows(sums: Iterable[CauseSum]) -> Rows:
    return [
        {
            "by": row.kind,
            "cause": row.name,
            "pairs": row.pairs,
            "exact": round(row.exact, 6),
            "similarity": round(row.similarity, 6),
            "gain": round(row.gain, 6),
        }
        for row in sums
    ]


def _cause_data(row: CauseSum) -> JsonObject:
    return {name: value for name, value in row._asdict().items() if name != "parts"}


def _round_float(value: Any) -> Any:
    return round_ratio(value, 3) if isinstance(value, float) else value


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
            self.lost[1] += costs[1]
            for group in cause.groups:
                sums = own.setdefault(group, [1, 0, 0, 0])
                sums[1] += costs[0]
                sums[2] += costs[1]
        # A pair is right or wrong: of the rounded parts of 70 causes 1e-08 would be left.
        self.lost[0] += _UNIT * round(sum(cause.exact for cause in credits.causes))
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

    def data(self) -> JsonObject:
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
        name = "{}({})".format(*fields) if kind == "argument" else ": ".join(fields)
        return CauseSum(kind, name, pairs, exact / scale, similarity / scale, gain, tuple(fields))


def _cost_sort_key(row: CauseSum) -> tuple[Any, ...]:
    if row.kind == "depth":  # in their order
        return KINDS.index(row.kind), int(row.name)
    return KINDS.index(row.kind), -row.exact, -row.similarity, row.name


def _is_state(row: CauseSum) -> bool:
    """Whether a cause is a pair's state, or lies in no call alone: in the answer, in the order."""
    return row.kind == "code" and row.parts[0].partition(".")[0] not in _CALL_CODE_PREFIXES


_CALL_CODE_PREFIXES = ("call", "app", "name", "argument", "arguments", "reference")


# ----------------------------------------------------------------------
# What root causes cost over many compared pairs.
def attribute(rows: Iterable[Row], *, policy: AnyPolicy = DEFAULT_POLICY) -> Causes:
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
