"""Turn by turn: in which turn the conversations of a benchmark's report are wrong first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from planner_eval.benchmarks.report import Figure, Report, SampleScore
from planner_eval.comparison.turns import TurnComparison

if TYPE_CHECKING:
    from planner_eval.base.tables import Style
    from planner_eval.results.totals import ConversationSums

_DIALOG, _OPEN = "dialog", "undecided turn"


def turn_figures(turns: TurnComparison) -> Iterator[Figure]:
    """The figures of a conversation's row: which of its turns or steps are wrong, in words.

    >>> [(f.name, f.value) for f in turn_figures(TurnComparison("turn", 4, (2, 3), (3,)))]
    [('wrong turns', '2, 3 of 4'), ('turns that follow', '3')]
    """
    if turns.total > 1:
        numbers = _format_numbers(turns.wrong) or "none"
        yield Figure(f"wrong {turns.unit}s", f"{numbers} of {turns.total}")
    if turns.follow:
        yield Figure(f"{turns.unit}s that follow", _format_numbers(turns.follow))


def dialog_figures(dialog: str, turn: int, *, decided: bool) -> Iterator[Figure]:
    """The figures of the row of one turn of a dialog whose turns are each asked for by themselves.

    Args:
        dialog: The dialog.
        turn: The number of the turn.
        decided: It is right or wrong.
    """
    yield Figure(_DIALOG, dialog)
    yield Figure("turn" if decided else _OPEN, float(turn))


def sum_turns(rows: Iterable[SampleScore]) -> ConversationSums:
    """What the turns of rows come to.

    A dialog is right where all its turns are. Its first wrong turn is not known if one before is undecided.

    >>> rows = [SampleScore(str(n), n != 2, (*dialog_figures("a", n, decided=True),)) for n in (1, 2, 3)]
    >>> sum_turns(rows).first
    {'turn': Counter({2: 1})}
    """
    from planner_eval.results.totals import ConversationSums

    sums = ConversationSums()
    dialogs: dict[str, list[tuple[int, bool, bool]]] = {}
    for row in rows:
        figures = {figure.name: figure for figure in row.figures}
        if _DIALOG in figures:
            number = figures[_OPEN if _OPEN in figures else "turn"].value
            turn = int(number or 0), row.ok, _OPEN in figures
            dialogs.setdefault(str(figures[_DIALOG].value), []).append(turn)
        for unit in ("turn", "step"):
            if wrong := figures.get(f"wrong {unit}s"):
                numbers, _, total = str(wrong.value).partition(" of ")
                follow = figures.get(f"{unit}s that follow")
                follows = _read_numbers("" if follow is None else str(follow.value))
                sums.add_turns(TurnComparison(unit, int(total), _read_numbers(numbers), follows), same=row.ok)
    for items in dialogs.values():
        wrong_turns = tuple(sorted(number for number, right, is_open in items if not right and not is_open))
        undecided = min((number for number, _, is_open in items if is_open), default=None)
        is_decided = undecided is None or not wrong_turns or wrong_turns[0] < undecided
        if len(items) > 1:
            comparison = TurnComparison("turn", len(items), wrong_turns)
            sums.add_turns(comparison, same=all(right for _, right, _ in items), known=is_decided)
    return sums


def turn_block(reports: Mapping[str, Report], style: Style) -> Iterator[str]:
    """What people are told of turns; each line names its variant where the variants differ."""
    from planner_eval.results.totals import turn_lines

    texts = {variant: [*turn_lines(sum_turns(report.rows), "right")] for variant, report in reports.items()}
    same = len({*map(tuple, texts.values())}) == 1
    lines = [f"{'' if same else f'{variant}: '}{line}" for variant, lines in texts.items() for line in lines]
    if lines:
        yield style.lines(dict.fromkeys(lines))


def turn_data(reports: Mapping[str, Report]) -> dict[str, Any]:
    """Turns as JSON data, by variant; nothing where there are none."""
    from planner_eval.results.totals import conversation_data

    data = {variant: conversation_data(sum_turns(report.rows)) for variant, report in reports.items()}
    return {variant: sums["turns"] for variant, sums in data.items() if sums}


def _format_numbers(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _read_numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(", ") if number.isdecimal())
