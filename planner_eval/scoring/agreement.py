"""Two sets of verdicts on the same records: how far they agree, beyond chance, and where they part.

Source: Cohen, A coefficient of agreement for nominal scales (Educational and Psychological Measurement 20,
1960); FunctionChat-Bench's paper, appendix C (Table 5: a judge's false positives and negatives).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum
from operator import mul

from planner_eval.base.errors import InputError, PairingError
from planner_eval.base.text import counted, did_you_mean
from planner_eval.scoring.agreed import Agreed, Agreement, Cells, Share, Shift, Verdict, Verdicts
from planner_eval.scoring.chance import holm, sign_test
from planner_eval.scoring.intervals import Interval, interval, proportion
from planner_eval.scoring.selftest import NO, YES

_SAYING = {"yes": frozenset((*YES, "y")), "no": frozenset((*NO, "n"))}

MOST_CLASSES = 100
"""More classes are no verdicts but free text."""


def agreement(
    first: Verdicts,
    second: Verdicts,
    *,
    positive: str | None = None,
) -> Agreement:
    """Set verdicts beside a reference's.

    Args:
        first: Whose verdicts are looked at, a judge's.
        second: The reference, a person's.
        positive: The class that counts as yes, all others as no; when left out verdicts are yes or no
            where every word of both says one of them, else classes, of which ``pass`` and ``yes`` are one.

    Raises:
        InputError: there are too many classes, nobody gives the positive one, or records
            without ids are more on one side than on the other.
        PairingError: no record has a partner, or none a verdict.

    >>> judge = Verdicts("judge", tuple(Verdict(str(n), v) for n, v in enumerate(("pass", "pass", "fail"))))
    >>> human = Verdicts("human", tuple(Verdict(str(n), v) for n, v in enumerate(("yes", "no", "no"))))
    >>> found = agreement(judge, human)
    >>> round(found.figure("agreement"), 4), round(found.figure("kappa"), 4), found.cells
    (0.6667, 0.4, ((1, 1), (0, 1)))
    """
    by = "id" if any(one.id is not None for side in (first, second) for one in side.found) else "position"
    left, right = (_keyed(side, by) for side in (first, second))
    if by == "position" and len(left) != len(right):
        raise InputError(
            f"{first.name} has {counted(len(left), 'verdict')} and {second.name} {len(right):,}, none with "
            "an id: give them ids, or as many on both sides"
        )
    if not any(key in right for key in left):
        raise PairingError(f"no id of {first.name} is one of {second.name}: nothing can be compared")
    words = {one.value for side in (left, right) for one in side.values() if one.value is not None}
    named = _classes(words, positive)
    rows = (*_rows(left, right, named), *_spare(first, left), *_spare(second, right))
    binary = set(named.values()) <= {"yes", "no"}
    classes = ("yes", "no") if binary else tuple(sorted(set(named.values())))
    counts = Counter((row.first, row.second) for row in rows if row.state in ("same", "different"))
    cells = tuple(tuple(counts[a, b] for b in classes) for a in classes)
    figures = (*_figures(cells), *(_errors(cells) if binary else ()))
    made = f"matched by {by} | 95 % intervals"
    return Agreement(
        (first.name, second.name), by, classes, cells, figures, tuple(_shifts(classes, cells)), rows, made
    )


def _keyed(side: Verdicts, by: str) -> dict[str, Verdict]:
    """The verdicts by id, or by their number; of two with one id the first."""
    found: dict[str, Verdict] = {}
    for number, one in enumerate(side.found, 1):
        key = str(number) if by == "position" else one.id
        if key is not None:
            found.setdefault(key, one)
    return found


def _classes(words: set[str], positive: str | None) -> dict[str, str]:
    """What each word that was written stands for."""
    if not words:
        raise PairingError("neither side has a verdict: nothing can be compared")
    plain = {word: " ".join(word.split()).casefold() for word in words}
    alike = _alike(set(plain.values()))
    if positive is not None:
        wanted = " ".join(positive.split()).casefold()
        given = sorted(set(plain.values()))
        if wanted not in given:
            hint = did_you_mean(wanted, given, f"given are {', '.join(given[:9])}")
            raise InputError(f"nobody gives the verdict {positive!r}; {hint}")
        wanted = alike.get(wanted, wanted)
        return {word: "yes" if alike.get(name, name) == wanted else "no" for word, name in plain.items()}
    plain = {word: alike.get(name, name) for word, name in plain.items()}
    if len(set(plain.values())) > MOST_CLASSES:
        raise InputError(
            f"there are {len(set(plain.values())):,} different verdicts, at most {MOST_CLASSES} are classes: "
            "is it the field of the verdicts? --verdict-field names it"
        )
    return plain


def _alike(names: set[str]) -> dict[str, str]:
    """The words that are one class: all where all say yes or no, else those of which several say the same.

    A judge's ``pass`` is a person's ``yes`` where somebody says ``unclear``; ratings 0, 1 and 2 stay.

    >>> sorted(_alike({"pass", "yes", "no", "unclear"}).items()), _alike({"0", "1", "2"})
    ([('pass', 'yes'), ('yes', 'yes')], {})
    """
    said = {kind: names & words for kind, words in _SAYING.items()}
    whole = names == said["yes"] | said["no"]
    return {name: kind for kind, found in said.items() if whole or len(found) > 1 for name in found}


def _rows(
    left: Mapping[str, Verdict], right: Mapping[str, Verdict], named: Mapping[str, str]
) -> list[Agreed]:
    """A row a record of either side; none is left out."""
    rows = []
    for key in dict.fromkeys((*left, *right)):
        one, other = left.get(key), right.get(key)
        first, second = (named[v.value] if v and v.value is not None else None for v in (one, other))
        error = "; ".join(f"{v.where}: {v.error}" for v in (one, other) if v and v.error)
        if error:
            state = "unreadable"
        elif one is None or other is None:
            state = "only in second" if one is None else "only in first"
        elif first is None or second is None:
            state = "no verdict"
        else:
            state = "same" if first == second else "different"
        rows.append(Agreed(key, first, second, state, error))
    return rows


def _spare(side: Verdicts, kept: Mapping[str, Verdict]) -> list[Agreed]:
    """A row a record that has no id where others have, or one that is taken."""
    taken = set(map(id, kept.values()))
    rows = []
    for one in (one for one in side.found if id(one) not in taken):
        error = one.error or ("an earlier record has its id" if one.id is not None else "it has no id")
        state = "repeated" if one.id is not None else "unreadable"
        rows.append(Agreed(one.id or one.where, None, None, state, f"{one.where}: {error}"))
    return rows


def _figures(cells: Cells) -> list[Share]:
    of = sum(map(sum, cells))
    same = sum(row[at] for at, row in enumerate(cells))
    value = kappa(cells)
    span = None if value is None else _span(cells)
    alone = "both give one class alone: chance does as well"
    note = alone if value is None and of else "agreement beyond chance"
    return [
        Share("agreement", same / of if of else None, same, of, proportion(same, of), "of all records"),
        Share("kappa", value, None, of, span, note),
    ]


def _errors(cells: Cells) -> list[Share]:
    """The first's errors where the second is right, of all records and of those that can have them."""
    (right, over), (under, wrong) = cells
    of = right + over + under + wrong

    def share(name: str, hits: int, of: int, note: str) -> Share:
        return Share(name, hits / of if of else None, hits, of, proportion(hits, of), note)

    return [
        share("false positives", over, of, "yes where the reference says no, of all records"),
        share("false negatives", under, of, "no where the reference says yes, of all records"),
        share("false positive rate", over, over + wrong, "of the reference's no"),
        share("false negative rate", under, right + under, "of the reference's yes"),
    ]


def _shifts(classes: Sequence[str], cells: Cells) -> list[Shift]:
    first = [sum(row) for row in cells]
    second = [sum(row[at] for row in cells) for at in range(len(classes))]
    both = [row[at] for at, row in enumerate(cells)]
    raw = [sign_test(a - c, b - c) for a, b, c in zip(first, second, both, strict=True)]
    # Of two classes one is the other's mirror: one test, not two.
    found = raw if len(classes) <= 2 else holm(raw)
    return [Shift(*row) for row in zip(classes, first, second, both, found, strict=True)]


def kappa(cells: Cells) -> float | None:
    """Cohen's kappa; None where there is nothing, or where chance alone agrees always.

    >>> kappa([[20, 5], [10, 15]])
    0.4
    """
    of = sum(map(sum, cells))
    same = sum(row[at] for at, row in enumerate(cells))
    chance = sum(sum(row) * sum(other[at] for other in cells) for at, row in enumerate(cells))
    return (of * same - chance) / (of * of - chance) if of * of != chance else None


def _span(cells: Cells) -> Interval:
    """The interval of kappa, which is 1 less a multiple of how many records differ.

    It is that of every figure (:func:`planner_eval.scoring.intervals.intervals`) of the share that differs:
    each record lies off by what it would change kappa, divided by that multiple.
    """
    of = sum(map(sum, cells))
    rows = [sum(row) / of for row in cells]
    columns = [sum(row[at] for row in cells) / of for at in range(len(cells))]
    same = sum(row[at] for at, row in enumerate(cells)) / of
    chance = fsum(map(mul, rows, columns))
    multiple = 1 / (1 - chance)
    off = fsum(
        count * ((one == two) - same - (1 - same) * multiple * (columns[one] + rows[two] - 2 * chance)) ** 2
        for one, row in enumerate(cells)
        for two, count in enumerate(row)
    )
    low, high, method = interval(1 - same, off / of**2, 1 / of, of)
    return Interval(max(-1.0, 1 - high * multiple), 1 - low * multiple, method)
