"""Which turn of a conversation is wrong first, and what follows from it: as data and in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import format_count


class TurnComparison(NamedTuple):
    """A conversation held against gold turn by turn.

    Args:
        unit: ``"turn"``, of the user, or ``"step"``, a message of the assistant, where the user speaks once.
        total: How many there are, on the side that has more.
        wrong: Those in which something differs, the first one first.
        follow: Those of them that are wrong by nothing but what follows from the first.
        late: Calls that are gold's, made in another turn than gold's.
        asked: What the user said in the first wrong turn.
        form: Those of the wrong ones after the first that differ in form alone.
        moved: The late calls, in words, by their turns: ``"pay (call 3) in turn 2, gold's 1"``.
        delayed: Whether one of them comes later than gold's, which the data leave to the words.
    """

    unit: str
    total: int
    wrong: tuple[int, ...] = ()
    follow: tuple[int, ...] = ()
    late: int = 0
    asked: str = ""
    form: tuple[int, ...] = ()
    moved: tuple[str, ...] = ()
    delayed: bool = False

    @property
    def first(self) -> int | None:
        """The first wrong turn."""
        return self.wrong[0] if self.wrong else None

    def data(self) -> dict[str, Any]:
        """The same as JSON data."""
        lists = {name: [*getattr(self, name)] for name in ("wrong", "follow", "form", "moved")}
        data = {**self._asdict(), **lists, "first": self.first}
        del data["delayed"]
        return data


def turns_of(data: Mapping[str, Any] | None) -> TurnComparison | None:
    """A comparison from what :meth:`TurnComparison.data` gave."""
    if not data or data.get("unit") is None:
        return None
    lists: dict[str, Any] = {
        name: tuple(data.get(name) or ()) for name in ("wrong", "follow", "form", "moved")
    }
    return TurnComparison(data["unit"], data["total"], late=data["late"], asked=data["asked"] or "", **lists)


def first_wrong_text(turns: TurnComparison) -> str:
    """The first wrong turn in a few words; "" where none is.

    >>> first_wrong_text(TurnComparison("turn", 4, (2, 3)))
    "first in turn 2 of the user's 4"
    """
    return "" if turns.first is None else f"first in {turns.unit} {_first_of_all(turns)}"


def _first_of_all(turns: TurnComparison) -> str:
    """The first wrong turn and how many there are, and whose: ``--turn`` counts those of the assistant."""
    return f"{turns.first} of the {'user' if turns.unit == 'turn' else 'assistant'}'s {turns.total}"


def turns_text(turns: TurnComparison) -> str:
    """A comparison turn by turn in one line; "" where no turn is wrong.

    >>> print(turns_text(TurnComparison("turn", 4, (2, 3, 4), (3,), 0, "Book it.")))
    first wrong turn: 2 of the user's 4 ("Book it."); turn 3 follows from it; turn 4 is wrong on its own
    """
    unit = turns.unit
    if turns.first is None:
        return ""
    quoted_request = f' ("{turns.asked}")' if turns.asked else ""
    alone = [turn for turn in turns.wrong[1:] if turn not in (*turns.follow, *turns.form)]
    clauses = [
        f"first wrong {unit}: {_first_of_all(turns)}{quoted_request}",
        _clause(unit, turns.follow, ("follows from it", "follow from it")),
        _clause(unit, alone, ("is wrong on its own", "are wrong on their own")),
        _clause(unit, turns.form, ("differs in form alone", "differ in form alone")),
    ]
    return "; ".join(filter(None, clauses))


def late_text(turns: TurnComparison) -> str:
    """The calls that are made in another turn than gold's; "" where none is.

    >>> late_text(TurnComparison("turn", 4, late=1, moved=("pay (call 3) in turn 2, gold's 1",)))
    "made in a different turn than in gold: pay (call 3) in turn 2, gold's 1"
    """
    moved = "; ".join(turns.moved) or format_count(turns.late, "right call")
    return f"made in a different {turns.unit} than in gold: {moved}" if turns.late or turns.moved else ""


def _clause(unit: str, numbers: Sequence[int], verbs: tuple[str, str]) -> str:
    if not numbers:
        return ""
    listed = ", ".join(map(str, numbers[:8])) + (", …" if len(numbers) > 8 else "")
    return f"{unit}{'s' * (len(numbers) > 1)} {listed} {verbs[len(numbers) > 1]}"
