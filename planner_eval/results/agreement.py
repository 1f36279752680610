"""Two sets of verdicts on the same records: how far they agree, beyond chance, and where they part.

Source: Cohen, A coefficient of agreement for nominal scales (Educational and Psychological Measurement 20,
1960); FunctionChat-Bench's paper, appendix C (Table 5: a judge's false positives and negatives).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import fsum
from operator import mul
from typing import NamedTuple

from planner_eval.base.errors import InputError, PairingError
from planner_eval.base.formats import View
from planner_eval.base.tables import Style, md_cell
from planner_eval.base.text import JsonObject, did_you_mean, format_count, one_line
from planner_eval.reading.files.recorded_runs import NO_WORDS, YES_WORDS
from planner_eval.results.intervals import Interval, holm, interval, proportion, sign_test, span_text
from planner_eval.results.views.junit import Case, outcome

# ----------------------------------------------------------------------
# What verdicts are, and what an agreement of two sets of them says.
Cells = Sequence[Sequence[int]]
"""Records by the first's class and, in each row, by the second's."""


class Verdict(NamedTuple):
    """One record of a file of verdicts.

    Args:
        id: The record's name; None where it has none.
        value: The verdict as written; None where there is none.
        where: Its place for a message.
        error: Why it cannot be read.
    """

    id: str | None
    value: str | None
    where: str = ""
    error: str = ""


class Verdicts(NamedTuple):
    """The verdicts of one file.

    Args:
        name: What it is called.
        found: In the file's order.
        said: What was read as the verdicts, in words.
    """

    name: str
    found: tuple[Verdict, ...]
    said: str = ""


class AgreementRow(NamedTuple):
    """One record under both.

    Args:
        id: Its name, or its number where records have none.
        first: The first's class; None where it has none.
        second: The second's.
        state: ``"same"``, ``"different"``, ``"no verdict"`` (one has none), ``"only in first"``,
            ``"only in second"``, ``"unreadable"`` or ``"repeated"`` (an earlier record has the same id).
        error: Why it cannot be read.
    """

    id: str
    first: str | None
    second: str | None
    state: str
    error: str


class AgreementFigure(NamedTuple):
    """A figure of an agreement.

    Args:
        name: What is counted.
        value: The figure; None where it does not exist.
        hits: What was counted; None where the figure is no share.
        of: Out of how many.
        interval: Of 95 %.
        note: What it is, in a few words.
    """

    name: str
    value: float | None
    hits: int | None
    of: int
    interval: Interval | None
    note: str


class Shift(NamedTuple):
    """How often each gives a class, and whether one gives it more often.

    Args:
        name: The class.
        first: Records to which the first gives it.
        second: Records to which the second does.
        both: Records to which both do.
        p: The exact test of McNemar, with Holm's correction over the classes.
    """

    name: str
    first: int
    second: int
    both: int
    p: float | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two sets of verdicts agree.

    Args:
        names: What the two are called; the second is the reference.
        by: ``"id"`` or ``"position"``.
        classes: The classes, ``yes`` before ``no``.
        cells: Records with both verdicts, by the first's class and in each row by the second's.
        figures: Agreement, kappa, and of yes or no the false positives and negatives, precision and recall.
        shifts: A row a class.
        rows: A row a record.
        made: How the figures were made.
    """

    names: tuple[str, str]
    by: str
    classes: tuple[str, ...]
    cells: tuple[tuple[int, ...], ...]
    figures: tuple[AgreementFigure, ...]
    shifts: tuple[Shift, ...]
    rows: tuple[AgreementRow, ...]
    made: str

    @property
    def n(self) -> int:
        """Records with both verdicts."""
        return sum(map(sum, self.cells))

    @property
    def left_over(self) -> int:
        """Records that the figures leave out for want of the other, of a verdict or of a sound record."""
        return len(self.rows) - self.n

    def figure(self, name: str) -> float | None:
        """The value of a figure.

        Raises:
            InputError: there is none of that name.
        """
        values = {figure.name: figure.value for figure in self.figures}
        if name not in values:
            hint = did_you_mean(name, values, f"expected one of {', '.join(values)}")
            raise InputError(f"there is no metric {name!r}; {hint}")
        return values[name]


# ----------------------------------------------------------------------
# Two sets of verdicts on the same records: how far they agree, beyond chance, and where they part.
_CLASS_WORDS = {"yes": frozenset((*YES_WORDS, "y")), "no": frozenset((*NO_WORDS, "n"))}

MAX_CLASSES = 100
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
    by = (
        "id"
        if any(verdict.id is not None for source in (first, second) for verdict in source.found)
        else "position"
    )
    left, right = (_index_verdicts(verdicts, by) for verdicts in (first, second))
    if by == "position" and len(left) != len(right):
        raise InputError(
            f"{first.name} has {format_count(len(left), 'verdict')} and {second.name} "
            f"{len(right):,}, none with "
            "an id: add ids, or use as many records on both sides"
        )
    if not any(key in right for key in left):
        raise PairingError(f"no id of {first.name} is in {second.name}: nothing can be compared")
    words = {
        verdict.value for keyed in (left, right) for verdict in keyed.values() if verdict.value is not None
    }
    named = _map_words_to_classes(words, positive)
    rows = (*_rows(left, right, named), *_unpaired_rows(first, left), *_unpaired_rows(second, right))
    binary = set(named.values()) <= {"yes", "no"}
    classes = ("yes", "no") if binary else tuple(sorted(set(named.values())))
    counts = Counter((row.first, row.second) for row in rows if row.state in ("same", "different"))
    cells = tuple(tuple(counts[a, b] for b in classes) for a in classes)
    figures = (*_figures(cells), *(_errors(cells) if binary else ()))
    method = f"matched by {by} | 95 % intervals"
    return Agreement(
        (first.name, second.name), by, classes, cells, figures, tuple(_shifts(classes, cells)), rows, method
    )


def _index_verdicts(verdicts: Verdicts, by: str) -> dict[str, Verdict]:
    """The verdicts by id, or by their number; of two with one id the first."""
    keyed: dict[str, Verdict] = {}
    for number, verdict in enumerate(verdicts.found, 1):
        key = str(number) if by == "position" else verdict.id
        if key is not None:
            keyed.setdefault(key, verdict)
    return keyed


def _map_words_to_classes(words: set[str], positive: str | None) -> dict[str, str]:
    """What each word that was written stands for."""
    if not words:
        raise PairingError("neither side has a verdict: nothing can be compared")
    plain = {word: " ".join(word.split()).casefold() for word in words}
    class_of = _group_synonyms(set(plain.values()))
    if positive is not None:
        positive_name = " ".join(positive.split()).casefold()
        names = sorted(set(plain.values()))
        if positive_name not in names:
            hint = did_you_mean(positive_name, names, f"the verdicts are {', '.join(names[:9])}")
            raise InputError(f"no record has the verdict {positive!r}; {hint}")
        positive_name = class_of.get(positive_name, positive_name)
        return {
            word: "yes" if class_of.get(name, name) == positive_name else "no" for word, name in plain.items()
        }
    plain = {word: class_of.get(name, name) for word, name in plain.items()}
    if len(set(plain.values())) > MAX_CLASSES:
        raise InputError(
            f"there are {len(set(plain.values())):,} different verdicts, but at most {MAX_CLASSES} are "
            "possible: name the field of the verdicts with --field verdict=NAME"
        )
    return plain


def _group_synonyms(names: set[str]) -> dict[str, str]:
    """The words that are one class: all where all say yes or no, else those of which several say the same.

    A judge's ``pass`` is a person's ``yes`` where somebody says ``unclear``; ratings 0, 1 and 2 stay.

    >>> sorted(_group_synonyms({"pass", "yes", "no", "unclear"}).items()), _group_synonyms({"0", "1", "2"})
    ([('pass', 'yes'), ('yes', 'yes')], {})
    """
    present = {kind: names & words for kind, words in _CLASS_WORDS.items()}
    all_binary = names == present["yes"] | present["no"]
    return {
        name: kind for kind, members in present.items() if all_binary or len(members) > 1 for name in members
    }


def _rows(
    left: Mapping[str, Verdict], right: Mapping[str, Verdict], named: Mapping[str, str]
) -> list[AgreementRow]:
    """A row a record of either side; none is left out."""
    rows = []
    for key in dict.fromkeys((*left, *right)):
        left_verdict, right_verdict = left.get(key), right.get(key)
        first, second = (
            named[v.value] if v and v.value is not None else None for v in (left_verdict, right_verdict)
        )
        error = "; ".join(f"{v.where}: {v.error}" for v in (left_verdict, right_verdict) if v and v.error)
        if error:
            state = "unreadable"
        elif left_verdict is None or right_verdict is None:
            state = "only in second" if left_verdict is None else "only in first"
        elif first is None or second is None:
            state = "no verdict"
        else:
            state = "same" if first == second else "different"
        rows.append(AgreementRow(key, first, second, state, error))
    return rows


def _unpaired_rows(verdicts: Verdicts, keyed: Mapping[str, Verdict]) -> list[AgreementRow]:
    """A row a record that has no id where others have, or one that is taken."""
    keyed_ids = set(map(id, keyed.values()))
    rows = []
    for verdict in (v for v in verdicts.found if id(v) not in keyed_ids):
        error = verdict.error or (
            "an earlier record has the same id" if verdict.id is not None else "it has no id"
        )
        state = "repeated" if verdict.id is not None else "unreadable"
        rows.append(AgreementRow(verdict.id or verdict.where, None, None, state, f"{verdict.where}: {error}"))
    return rows


def _figures(cells: Cells) -> list[AgreementFigure]:
    total, same = _sizes(cells)
    value = kappa(cells)
    span = None if value is None else _kappa_interval(cells)
    alone = "both sides give one class only, so chance would agree as often"
    note = alone if value is None and total else "agreement beyond chance"
    return [
        _share("agreement", same, total, "of all records"),
        AgreementFigure("kappa", value, None, total, span, note),
    ]


def _sizes(cells: Cells) -> tuple[int, int]:
    """How many records there are, and to how many both give one class."""
    return sum(map(sum, cells)), sum(row[index] for index, row in enumerate(cells))


def _share(name: str, hits: int, of: int, note: str) -> AgreementFigure:
    return AgreementFigure(name, hits / of if of else None, hits, of, proportion(hits, of), note)


def _errors(cells: Cells) -> list[AgreementFigure]:
    """The first's errors where the second is right, of all records and of those that can have them."""
    (right, over), (under, wrong) = cells
    of = right + over + under + wrong

    return [
        _share("false positives", over, of, "yes where the reference says no, of all records"),
        _share("false negatives", under, of, "no where the reference says yes, of all records"),
        _share("false positive rate", over, over + wrong, "of the reference's no"),
        _share("false negative rate", under, right + under, "of the reference's yes"),
        _share("precision", right, right + over, "of its yes, the share that the reference confirms"),
        _share("recall", right, right + under, "of the reference's yes, the share that it finds"),
    ]


def _shifts(classes: Sequence[str], cells: Cells) -> list[Shift]:
    first, second = [*map(sum, cells)], [*map(sum, zip(*cells, strict=True))]
    agreed = [row[index] for index, row in enumerate(cells)]
    raw = [sign_test(a - c, b - c) for a, b, c in zip(first, second, agreed, strict=True)]
    # Of two classes one is the other's mirror: one test, not two.
    p_values = raw if len(classes) <= 2 else holm(raw)
    return [Shift(*row) for row in zip(classes, first, second, agreed, p_values, strict=True)]


def kappa(cells: Cells) -> float | None:
    """Cohen's kappa; None where there is nothing, or where chance alone agrees always.

    >>> kappa([[20, 5], [10, 15]])
    0.4
    """
    total, same = _sizes(cells)
    chance = sum(map(mul, map(sum, cells), map(sum, zip(*cells, strict=True))))
    return (total * same - chance) / (total * total - chance) if total * total != chance else None


def _kappa_interval(cells: Cells) -> Interval:
    """The interval of kappa, which is 1 less a multiple of how many records differ.

    It is that of every figure (:func:`planner_eval.results.intervals.intervals`) of the share that differs:
    each record lies off by what it would change kappa, divided by that multiple.
    """
    total, same_count = _sizes(cells)
    same = same_count / total
    rows = [sum(row) / total for row in cells]
    columns = [sum(column) / total for column in zip(*cells, strict=True)]
    chance = fsum(map(mul, rows, columns))
    multiple = 1 / (1 - chance)
    off = fsum(
        count
        * (
            (row_class == column_class)
            - same
            - (1 - same) * multiple * (columns[row_class] + rows[column_class] - 2 * chance)
        )
        ** 2
        for row_class, row in enumerate(cells)
        for column_class, count in enumerate(row)
    )
    low, high, method = interval(1 - same, off / total**2, 1 / total, total)
    return Interval(max(-1.0, 1 - high * multiple), 1 - low * multiple, method)


# ----------------------------------------------------------------------
# An agreement in writing: what each format shows of one.
_MAX_NAMED = 5
_MAX_LINE_LENGTH = 10_000
"""Characters of one line beside the tables."""


def agreement_view(agreement: Agreement, limits: Sequence[Case] = ()) -> View:
    """What an agreement shows: records a line, a row a figure, a test case a record.

    Args:
        agreement: The agreement.
        limits: Thresholds as test cases: where there are some they decide.
    """
    return View(
        document=lambda style: _write_document(agreement, style),
        data=lambda: {"schema": "planeval.agreement/1", **_agreement_data(agreement)},
        records=lambda: (row._asdict() for row in agreement.rows),
        table=lambda: _figure_table(agreement),
        cases=lambda: ([*limits, *_record_cases(agreement, limited=bool(limits))], None),
    )


def _write_document(agreement: Agreement, style: Style) -> Iterator[str]:
    first, second = agreement.names
    head = f"{first} against {second}: {format_count(agreement.n, 'record')} with both verdicts"
    shifts = (dict(zip(("class", *Shift._fields[1:]), shift, strict=True)) for shift in agreement.shifts)
    tables = (_figure_table(agreement), _cell_rows(agreement), shifts)
    lines = (*_disagreement_lines(agreement), agreement.made)
    clipped = [md_cell(line) if style.markup else one_line(line, _MAX_LINE_LENGTH) for line in lines]
    blocks = [head, *(style.table(rows) for rows in tables), "\n".join(clipped)]
    yield "\n\n".join(filter(None, blocks))


def _agreement_data(agreement: Agreement) -> JsonObject:
    data = asdict(agreement)
    for name in ("figures", "shifts", "rows"):
        data[name] = [item._asdict() for item in getattr(agreement, name)]
    for figure in data["figures"]:
        figure["interval"] = figure["interval"]._asdict() if figure["interval"] else None
    return data | {"n": agreement.n, "left_over": agreement.left_over}


def _figure_table(agreement: Agreement) -> Iterator[JsonObject]:
    for share in agreement.figures:
        yield {
            "figure": share.name,
            "value": share.value,
            "95 %": span_text(share.interval),
            "n": f"{share.hits}/{share.of}" if share.hits is not None else str(share.of),
            "note": share.note,
        }


def _cell_rows(agreement: Agreement) -> Iterator[JsonObject]:
    """The counts of confusion: a row a class of the first, a column a class of the second."""
    for name, counts in zip(agreement.classes, agreement.cells, strict=True):
        yield {"first ↓ second →": name} | dict(zip(agreement.classes, counts, strict=True))


def _disagreement_lines(agreement: Agreement) -> Iterator[str]:
    """Where they part, and what no figure counts."""
    counted = [row for row in agreement.rows if row.state in ("same", "different")]
    first, second = {str(row.first) for row in counted}, {str(row.second) for row in counted}
    if counted and first.isdisjoint(second) and agreement.classes != ("yes", "no"):
        yield (
            f"no verdict of {agreement.names[0]} ({', '.join(sorted(first))}) occurs in {agreement.names[1]} "
            f"({', '.join(sorted(second))}): write what means the same in the same words"
        )
    for state, description in (
        ("different", "different"),
        ("no verdict", "without a verdict on one side, not counted"),
        ("only in first", f"only in {agreement.names[0]}, not counted"),
        ("only in second", f"only in {agreement.names[1]}, not counted"),
        ("unreadable", "unreadable, not counted"),
        ("repeated", "with the id of an earlier record, not counted"),
    ):
        rows = [row for row in agreement.rows if row.state == state]
        if rows:
            between = "; " if rows[0].error else ", "
            more = f"{between}…" if len(rows) > _MAX_NAMED else ""
            listed = between.join(row.error or row.id for row in rows[:_MAX_NAMED])
            yield f"{len(rows):,} {description}: {listed}{more}"


def _record_cases(agreement: Agreement, *, limited: bool) -> Iterator[Case]:
    for row in agreement.rows:
        state = row.state if row.state in ("same", "different") else "unreadable"
        message = row.error or f"{row.first or 'no verdict'}, the reference says {row.second or 'nothing'}"
        yield Case(row.id, outcome(state, limited=limited), row.state, message, group="agree")
