"""The search for the smallest pair that still shows something: delta debugging over all steps.

Source: Zeller and Hildebrandt, Simplifying and isolating failure-inducing input (IEEE TSE 28, 2002): of each
kind of step many are tried at once, then half as many, down to single ones; here over kinds of steps from
large to small, again and again until none of any kind makes the pair smaller.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress
from typing import Any, TypeAlias

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import text_hash
from planner_eval.comparison.matching.align import match
from planner_eval.curation.shrink.pairs import Pair, Partners, pair_size, strip_source
from planner_eval.curation.shrink.steps import (
    Simplifier,
    apply_changes,
    drop_calls,
    drop_extras,
    drop_value,
    find_extras,
    paired_changes,
    partnered_calls,
    shorten_value,
    simplify_reference,
    simplify_value,
    single_calls,
    single_changes,
)

# ----------------------------------------------------------------------
# Steps over texts that are no plan: what stands in brackets, lines, words and characters cut out.
Cut: TypeAlias = tuple[int, int, int]
"""A side, and the characters [start, end) of its text that are cut out."""

_PIECE_PATTERNS = {"lines": r"[^\n]*\n|[^\n]+", "words": r"\s+|\w+|[^\w\s]", "characters": r"(?s:.)"}


_COMMA = re.compile(r"\s*,\s*")


class BracketGroup(NamedTuple):
    """What stands between two brackets, which are part of it.

    Args:
        start: Where it starts.
        end: Where it ends, with the comma behind it.
        parent: Where the group starts that it lies in; -1 for none.
    """

    start: int
    end: int
    parent: int


def find_bracket_groups(text: str) -> list[BracketGroup]:
    """The groups of a text, those that close first first; brackets that have no partner are passed over.

    >>> [text[one.start : one.end] for text in ["f([1], {2})"] for one in find_bracket_groups(text)]
    ['[1], ', '{2}', '([1], {2})']
    """
    closed, opened = [], [-1]
    for mark in re.finditer(r"[](){}[]", text):
        if mark[0] in "([{":
            opened.append(mark.start())
        elif len(opened) > 1:
            start = opened.pop()
            comma = _COMMA.match(text, mark.end())
            closed.append(BracketGroup(start, comma.end() if comma else mark.end(), opened[-1]))
    return closed


def group_cuts(pair: Pair, _partners: Partners) -> list[Cut]:
    """The groups that can be cut out of texts, outer ones first."""
    return [
        (number, group.start, group.end)
        for number, text in enumerate(pair)
        if isinstance(text, str)
        for group in reversed(find_bracket_groups(text))
    ]


class GroupWithCall(NamedTuple):
    """A group of the prediction's text, and the call of gold that stands where it stands among its like."""

    start: int
    end: int
    call: int


def group_and_call_cuts(pair: Pair, _partners: Partners) -> list[GroupWithCall]:
    """The groups side by side that are as many as gold has calls, each with its call; last ones first."""
    pred, gold = pair
    if not isinstance(pred, str) or isinstance(gold, str) or not gold.calls:
        return []
    groups_by_parent: dict[int, list[BracketGroup]] = {}
    for group in find_bracket_groups(pred):
        groups_by_parent.setdefault(group.parent, []).append(group)
    return [
        GroupWithCall(group.start, group.end, call)
        for siblings in groups_by_parent.values()
        if len(siblings) == len(gold.calls)
        for call, group in reversed([*enumerate(siblings)])
    ]


def cut_groups_and_calls(pair: Pair, units: Iterable[GroupWithCall]) -> Pair:
    """The pair without some groups and their calls, and what needs those."""
    units = list(units)
    pair = drop_calls(pair, [(None, unit.call) for unit in units], cut=False)
    return cut(pair, [(0, unit.start, unit.end) for unit in units])


def find_cuts(pair: Pair, _partners: Partners, *, of: str) -> list[Cut]:
    r"""What can be cut out of texts.

    Args:
        pair: The pair.
        of: ``"lines"``, ``"words"`` or ``"characters"``.

    >>> find_cuts(Pair("f(\n", ""), (), of="words")
    [(0, 0, 1), (0, 1, 2), (0, 2, 3)]
    """
    return [
        (number, piece.start(), piece.end())
        for number, text in enumerate(pair)
        if isinstance(text, str)
        for piece in re.finditer(_PIECE_PATTERNS[of], text)
    ]


def cut(pair: Pair, units: Iterable[Cut]) -> Pair:
    """The pair without some pieces of its texts, which may lie within one another."""
    stays = [bytearray(b"1" * len(content)) if isinstance(content, str) else None for content in pair]
    for number, start, end in units:
        if (mask := stays[number]) is not None:
            mask[start:end] = bytes(end - start)
    return Pair(
        *(
            "".join(compress(content, mask)) if isinstance(content, str) and mask is not None else content
            for content, mask in zip(pair, stays, strict=True)
        )
    )


# ----------------------------------------------------------------------
# The search for the smallest pair that still shows something: delta debugging over all steps.
MAX_TRIES = 10_000
"""So many pairs are tried unless the user says otherwise."""

ENDINGS = {
    "smallest": "no step makes it smaller",
    "tries": "the limit of --run tries was reached",
    "deadline": "the time limit was reached",
    "interrupted": "it was interrupted",
    "wavers": "the test does not always give the same result",
}
"""Why a search ended, each in words."""


class StepKind(NamedTuple):
    """One kind of step.

    Args:
        units: What can be done to a pair, given which calls stand for one another.
        done: The pair to which some of that is done.
    """

    units: Callable[[Pair, Partners], Sequence[Any]]
    done: Callable[[Pair, Sequence[Any]], Pair]


def _value_steps(simpler: Simplifier, *, outer: bool = False) -> Iterator[StepKind]:
    for units in (paired_changes, single_changes):
        yield StepKind(partial(units, simpler=simpler, outer=outer), apply_changes)


STEP_KINDS: tuple[StepKind, ...] = (
    StepKind(partnered_calls, partial(drop_calls, cut=False)),
    StepKind(partnered_calls, partial(drop_calls, cut=True)),
    StepKind(single_calls, partial(drop_calls, cut=False)),
    StepKind(single_calls, partial(drop_calls, cut=True)),
    *_value_steps(drop_value, outer=True),
    StepKind(find_extras, drop_extras),
    *_value_steps(simplify_reference),
    *_value_steps(simplify_value),
    *_value_steps(drop_value),
    *_value_steps(shorten_value),
    StepKind(group_and_call_cuts, cut_groups_and_calls),
    StepKind(group_cuts, cut),
    *(StepKind(partial(find_cuts, of=of), cut) for of in ("lines", "words", "characters")),
)
"""All kinds of steps, those that take away most first."""


class Shrunk(NamedTuple):
    """The smallest pair that was found.

    Args:
        pair: The pair.
        tries: How many pairs were tried.
        steps: How many of them were smaller and showed it.
        ended: Why the search ended: a key of :data:`ENDINGS`, never ``"wavers"``, for nothing is asked twice.
    """

    pair: Pair
    tries: int
    steps: int
    ended: str


def shrink(
    pair: Pair,
    shows: Callable[[Pair], bool],
    *,
    tries: int = MAX_TRIES,
    deadline: float | None = None,
    progress: Callable[[int, Pair], None] | None = None,
) -> Shrunk:
    r"""Make a pair smaller for as long as a single step leaves one that still shows something.

    Args:
        pair: The pair, which shows it.
        shows: Whether a pair shows it; the same for the same pair.
        tries: How many pairs are tried at most.
        deadline: After how many seconds no further one is tried.
        progress: Is told after each try how many there were, and the smallest pair so far.

    Returns:
        A pair that shows it; where the search ended by itself, no pair does that is one step smaller.

    >>> from planner_eval.reading.dialects.read import parse
    >>> plan = parse("a = f(#x='Rome')\nb = g(#y='1')\nh(#z=b)")
    >>> found = shrink(Pair(plan, plan), lambda each: "h" in [call.name for call in each.gold.calls])
    >>> [call.name for call in found.pair.gold.calls], len(found.pair.pred), found.ended
    (['h'], 0, 'smallest')
    """
    plain = Pair(*(content if isinstance(content, str) else strip_source(content) for content in pair))
    until = None if deadline is None else time.monotonic() + deadline
    work = _SearchState(plain, shows, tries, until, progress)
    ended = "smallest"
    try:
        while any([work.reduced(kind) for kind in STEP_KINDS]):  # a list: every kind has its turn
            pass
    except _EndedError as error:
        ended = str(error)
    except KeyboardInterrupt:
        ended = "interrupted"
    return Shrunk(work.pair, work.tries, work.steps, ended)


class _EndedError(Exception):
    """The search ends before its end."""


@dataclass
class _SearchState:
    """The smallest pair so far, and what was tried."""

    pair: Pair
    shows: Callable[[Pair], bool]
    most: int
    until: float | None
    progress: Callable[[int, Pair], None] | None
    tries: int = 0
    steps: int = 0

    def __post_init__(self) -> None:
        self.size, self.partners = pair_size(self.pair), _match_calls(self.pair)
        self.known = {_digest(self.pair)}

    def reduced(self, kind: StepKind) -> bool:
        """Do steps of one kind, many at once, then fewer, down to single ones; whether any was taken."""
        before = self.steps
        units = kind.units(self.pair, self.partners)
        chunk = len(units)
        while chunk:
            index = 0
            while index < len(units):
                if self.takes(kind.done(self.pair, units[index : index + chunk])):
                    units = kind.units(self.pair, self.partners)
                else:
                    index += chunk
            chunk //= 2
        return self.steps > before

    def takes(self, pair: Pair) -> bool:
        """Whether a pair is smaller and shows it, so that it takes the place of the smallest so far."""
        if self.until is not None and time.monotonic() > self.until:
            raise _EndedError("deadline")
        least = pair_size(pair)
        if least >= self.size or (digest := _digest(pair)) in self.known:
            return False
        if self.tries >= self.most:
            raise _EndedError("tries")
        self.known.add(digest)
        self.tries += 1
        shows = self.shows(pair)
        if shows:
            self.pair, self.size, self.steps = pair, least, self.steps + 1
            self.partners = _match_calls(pair)
        if self.progress is not None:
            self.progress(self.tries, self.pair)
        return shows


def _match_calls(pair: Pair) -> Partners:
    """Which call of the prediction stands for which of gold."""
    pred, gold = pair
    if isinstance(pred, str) or isinstance(gold, str):
        return ()
    return match(pred, gold).alignment.pairs


def _digest(pair: Pair) -> str:
    """What tells a pair from others; of what was tried no more is held."""
    contents = [
        plan_or_text if isinstance(plan_or_text, str) else repr((plan_or_text.calls, plan_or_text.answer))
        for plan_or_text in pair
    ]
    return text_hash(repr(contents))
