"""Values that were picked from a list that a tool answered, where another pick would have been as right."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import format_ordinal, shorten
from planner_eval.comparison.policy.values import number_of
from planner_eval.curation.audit.question import read_question
from planner_eval.curation.audit.words import lookup_key
from planner_eval.plan.model import Path, Plan, Template, Value, leaves
from planner_eval.results.findings import Confidence, GoldFinding

CODES = ("gold.candidate", "gold.candidates")
_MIN_DISTINCTIVE_NUMBER = 100
"""A smaller integer stands in answers by chance."""
_CHOICE_WORDS = re.compile(
    r"(?i)\b(?:\w{2,12}est|best|most|least|lowest|highest|first|second|third|fourth|fifth|last|any|random"
    r"|popular|rated|recommended|sort(?:ed)?|rank(?:ed)?|under|below|above|at least|more than|less than"
    r"|only)\b"
)


class PickedLiteral(NamedTuple):
    """A literal that an earlier answer's list holds.

    Args:
        call: The position of the call that is given it, counted from 0.
        argument: The argument's name.
        value: The literal.
        source: The position of the call whose answer holds it.
        path: The way to the list, then below an entry of it, ``*`` for the entry.
        entries: The entries that hold it, counted from 0.
        among: How many entries the list has that hold something there.
    """

    call: int
    argument: str
    value: Value
    source: int
    path: Path
    entries: tuple[int, ...]
    among: int


def find_picked_literals(plan: Plan) -> Iterator[PickedLiteral]:
    """The literals of a plan that entries of an earlier answer's list hold, each where it is rarest.

    Args:
        plan: A plan with recorded results.

    >>> from planner_eval.plan.model import Call
    >>> hotels = [{"id": "h-17", "price": 120}, {"id": "h-23", "price": 90}]
    >>> asked = Call("a", "search", result=hotels, has_result=True), Call("b", "book", (("hotel", "h-23"),))
    >>> [(pick.value, pick.entries, pick.among) for pick in find_picked_literals(Plan(asked))]
    [('h-23', (1,), 2)]
    """
    lists: list[tuple[int, Path, dict[int, set[Any]]]] = []
    for position, call in enumerate(plan.calls):
        literals = (
            (name, value)
            for name, argument in call.arguments
            if not isinstance(argument, Template)
            for _, value in leaves(argument)
        )
        for name, value in literals:
            if not _is_distinctive(value):
                continue
            key = lookup_key(value)
            picks = []
            for source, path, keys_by_entry in lists:
                entries = tuple(entry for entry, keys in keys_by_entry.items() if key in keys)
                if entries:
                    among = len(keys_by_entry)
                    picks.append(PickedLiteral(position, name, value, source, path, entries, among))
            if picks:
                yield min(picks, key=lambda p: (p.among < 2, len(p.entries), p.among, -p.source))
        if call.has_result:
            lists += [(position, path, entries) for path, entries in _find_lists(call.result).items()]


def find_ambiguous_picks(plan: Plan, query: str | None = None) -> Iterator[GoldFinding]:
    """Literals of a recorded conversation that were picked where another pick would have been as right.

    - ``gold.candidate``: an entry that is not the first of the list it was taken from: ``medium`` where the
      query has no word that chooses ("cheapest", "second", "any"), else, without a query, and where it is
      not in English, ``low``.
    - ``gold.candidates``: several entries of the list hold the value, but not all: ``low``.

    A value that the query says is no pick, nor is one that every entry holds.

    Args:
        plan: The gold plan, with recorded results.
        query: What is asked.

    >>> from planner_eval.plan.model import Call
    >>> hotels = [{"id": "h-17"}, {"id": "h-23"}]
    >>> asked = Call("a", "search", result=hotels, has_result=True), Call("b", "book", (("hotel", "h-23"),))
    >>> for found in find_ambiguous_picks(Plan(asked), query="Book one."): print(found.confidence,
    ...     found.message)
    medium hotel is 'h-23', the 2nd of 2 that search returned (at *.id); the question does not say which
    """
    question = read_question(query) if query else None
    for pick in find_picked_literals(plan):
        if pick.among < 2 or len(pick.entries) == pick.among:
            continue
        if question is not None and question.grounds(pick.value, pick.argument) is not None:
            continue
        tool = plan.calls[pick.source].tool
        path_text = ".".join(str(step) for step in pick.path)
        value = shorten(repr(pick.value), 60)
        if len(pick.entries) > 1:
            which = ", ".join(format_ordinal(entry + 1) for entry in pick.entries[:4])
            which += ", …" if len(pick.entries) > 4 else ""
            message = (
                f"{pick.argument} is {value}, which the {which} of {pick.among} entries in the output of "
                f"{tool} hold (at {path_text})"
            )
            yield GoldFinding("gold.candidates", message, "low", pick.call, pick.argument)
        elif pick.entries[0] > 0:
            chooses = _CHOICE_WORDS.search(query) if query else None
            clear = question is not None and question.english and chooses is None
            confidence: Confidence = "medium" if clear else "low"
            message = (
                f"{pick.argument} is {value}, the {format_ordinal(pick.entries[0] + 1)} of {pick.among} that "
                f"{tool} returned (at {path_text})"
            )
            if query:
                says = f'says "{chooses[0]}"' if chooses else "does not say which"
                message += f"; the question {says}"
            yield GoldFinding("gold.candidate", message, confidence, pick.call, pick.argument)


def _is_distinctive(value: Value) -> bool:
    """Whether answers do not hold a literal by chance."""
    if isinstance(value, str):
        return len(value.strip()) >= 4
    number = number_of(value)
    return number is not None and (abs(number) >= _MIN_DISTINCTIVE_NUMBER or not number.is_integer())


def _find_lists(answer: Value) -> dict[Path, dict[int, set[Any]]]:
    """What stands in each entry of the lists in an answer, by the way to the list and below the entry."""
    lists: dict[Path, dict[int, set[Any]]] = {}
    for path, value in leaves(answer):
        if isinstance(value, (bool, type(None))):
            continue
        for index, entry in enumerate(path):
            if type(entry) is int:
                entries = lists.setdefault((*path[:index], "*", *path[index + 1 :]), {})
                entries.setdefault(entry, set()).add(lookup_key(value))
    return lists
