"""How far figures hang on doubtful gold: the same with its records left out, and which verdicts turn then."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.input_files import read_text
from planner_eval.base.json_files import read_json, read_json_lines
from planner_eval.base.text import JsonObject, format_count, shorten
from planner_eval.comparison.rows import JUDGED_STATES
from planner_eval.results.compare import System, make_comparison
from planner_eval.results.contrast import Comparison, Contrast, Line, direction_word
from planner_eval.results.findings import TOOL_CODES
from planner_eval.results.report import Report, make_report
from planner_eval.results.scored import ScoredRow, tally_data
from planner_eval.results.totals import totals_of


class GoldDoubts(NamedTuple):
    """The records whose gold is doubtful.

    Args:
        name: What said so: a file.
        records: Their ids; of records without ids their places counted from 1.
    """

    name: str
    records: frozenset[str]

    def unknown(self, samples: Collection[str]) -> tuple[str, ...]:
        """Those that are none of the samples.

        Raises:
            InputError: none of them is.
        """
        unknown = tuple(sorted(self.records.difference(samples)))
        if unknown and len(unknown) == len(self.records):
            raise InputError(
                f"{self.name}: its records and the samples share no id: records have {unknown[0]!r}, "
                f"samples {min(samples, default='none')!r}, …"
            )
        return unknown

    def message(self, doubtful: int, of: int, unknown: int) -> str:
        """Of how many samples gold is doubtful, in words."""
        more = f"; {format_count(unknown, 'doubtful record')} not among them" if unknown else ""
        count = f"{doubtful} of {format_count(of, 'sample')}"
        return f"gold is doubtful in {count} ({os.path.basename(self.name)}){more}"


class WithoutDoubts(NamedTuple):
    """What was scored or compared, with the doubtful records left out.

    Args:
        doubts: Which those are.
        left_out: How many judged samples they are.
        of: Of how many.
        unknown: Doubtful records that are none of the samples.
        rest: The report or the comparison of the other samples.
    """

    doubts: GoldDoubts
    left_out: int
    of: int
    unknown: tuple[str, ...]
    rest: Any

    @property
    def message(self) -> str:
        """How many are left out, in words."""
        return self.doubts.message(self.left_out, self.of, len(self.unknown))


def read_gold_doubts(source: Any) -> GoldDoubts:
    """The records whose gold is doubtful, as ``planeval data check`` writes them.

    Faults of a tool's description, which are told at the first record that shows them, are none of a record.

    Args:
        source: The file of ``--format json`` or of ``--fix``; a file of JSON lines with ``id`` or ``record``;
            what :func:`planner_eval.check_dataset` gave; or ids.

    Raises:
        InputError: the file cannot be read, or says of no record that its gold is doubtful or right.

    >>> sorted(read_gold_doubts(["q1", 7]).records)
    ['7', 'q1']
    """
    if isinstance(source, GoldDoubts):
        return source
    if hasattr(source, "doubts"):
        pairs = ((doubt.record, doubt.found.code) for doubt in source.doubts)
        return GoldDoubts(
            "the check", frozenset(str(record) for record, code in pairs if code not in TOOL_CODES)
        )
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        return GoldDoubts(name, frozenset(_record_ids(_read_rows(name), name)))
    if not isinstance(source, Iterable):
        raise InputError(
            f"gold_doubts is {shorten(repr(source), 40)}, expected a file, a check of gold, or ids"
        )
    return GoldDoubts("the records named", frozenset(_record_ids(list(source), "gold_doubts")))


def _read_rows(name: str) -> list[Any]:
    text = read_text(name)
    if not text.strip():  # --fix writes nothing where nothing is to be mended
        return []
    try:
        data = read_json(text)
    except ParseError as problem:
        lines = [*read_json_lines(text)]
        if len(lines) < 2 or any(line.error is not None for line in lines):
            raise InputError(f"{name}: {problem}") from None
        return [line.data for line in lines]
    if isinstance(data, dict) and "doubts" in data and isinstance(data["doubts"], list):
        return data["doubts"]
    return data if isinstance(data, list) else [data]


def _record_ids(rows: Sequence[Any], name: str) -> Iterator[str]:
    for row in rows:
        record = row.get("record", row.get("id")) if isinstance(row, dict) else row
        if isinstance(record, bool) or not isinstance(record, (str, int)):
            raise InputError(
                f"{name}: expected records with doubtful gold, as data check --format json or --fix writes "
                f"them, found {shorten(repr(row), 60)}"
            )
        if not isinstance(row, dict) or row.get("code") not in TOOL_CODES:
            yield str(record)


def leave_out_doubts(scored: Report | Comparison, doubts: Any) -> WithoutDoubts:
    """What was scored or compared, with the records left out whose gold is doubtful.

    Args:
        scored: What :func:`planner_eval.score` or :func:`planner_eval.compare` gave.
        doubts: The records, as :func:`read_gold_doubts` takes them.

    Raises:
        InputError: nothing was scored or compared, the file cannot be read, or none of its records is a
            sample.

    >>> from planner_eval.results.score import score
    >>> report = score(["f()", "g()"], ["f()", "h()"], metrics=["exact"])
    >>> without = leave_out_doubts(report, [2])
    >>> report.figure("exact"), without.rest.figure("exact"), without.left_out
    (0.5, 1.0, 1)
    """
    if not isinstance(scored, (Report, Comparison)):
        raise InputError(
            f"scored is {shorten(repr(scored), 40)}, expected what pe.score or pe.compare gave for many pairs"
        )
    read = read_gold_doubts(doubts)
    runs = [scored.rows] if isinstance(scored, Report) else scored.of_each("rows")
    samples: set[str] = set()
    others: list[list[ScoredRow]] = []
    judged: dict[str, bool] = {}
    for rows in runs:
        others.append([])
        for row in rows:
            names = {row.id} if row.task is None else {row.id, row.task}
            samples |= names
            is_doubtful = not names.isdisjoint(read.records)
            if row.state in JUDGED_STATES:
                judged[row.id] = is_doubtful
            if not is_doubtful:
                others[-1].append(row)
    unknown = read.unknown(samples)
    rest: Report | Comparison
    if isinstance(scored, Report):
        summed = scored.totals
        totals = totals_of(others[0], summed.metrics, summed.by, summed.cluster)
        rest = make_report(totals, others[0], made=scored.signature, about=scored.about)
    else:
        rest = make_comparison(
            [*map(System, others)],
            scored.metrics,
            names=scored.names,
            made=scored.common.signature,
            seed=scored.seed,
            cluster=scored.cluster,
        )
    return WithoutDoubts(read, sum(judged.values()), len(judged), unknown, rest)


def _standing(line: Line) -> str:
    return direction_word(line) if line.sure else "no significant difference"


def turned_figures(contrast: Contrast, rest: Contrast) -> dict[str, tuple[str, str]]:
    """The figures of which it is said otherwise without the doubtful records: with them, and without.

    Args:
        contrast: The second system against the first, on all samples.
        rest: The same without the doubtful ones.
    """
    others = {line.name: _standing(line) for line in rest.lines}
    standings = {line.name: (_standing(line), others.get(line.name, "no figure")) for line in contrast.lines}
    return {name: pair for name, pair in standings.items() if pair[0] != pair[1]}


# ----------------------------------------------------------------------
# In writing.
def doubt_rows(report: Report, without: WithoutDoubts, names: Sequence[str]) -> list[JsonObject]:
    """Each figure, and beside it that without the doubtful records.

    Args:
        report: The report of all.
        without: The same without them.
        names: The metrics that are shown; all where none are named.
    """
    others = {figure.name: figure for figure in without.rest.figures}
    rows = []
    for figure in report.figures:
        if figure.value is None or (names and figure.name not in names):
            continue
        other = others[figure.name]
        difference = None if other.value is None else f"{other.value - figure.value:+.4f}"
        rows.append(
            {
                "metric": figure.name,
                "value": round(figure.value, 4),
                "without": None if other.value is None else round(other.value, 4),
                "difference": difference,
                "n": figure.n,
                "n without": other.n,
            }
        )
    return rows


def doubt_sentences(comparison: Comparison, without: WithoutDoubts) -> list[str]:
    """Whether the verdict on each system turns without the doubtful records, and what it is then."""
    sentences = [without.message]
    for contrast, rest in zip(comparison.contrasts, without.rest.contrasts, strict=True):
        if not rest.n:
            sentences.append(f"no sample is left on which {contrast.names[1]} could be compared")
            continue
        turns = turned_figures(contrast, rest)
        clauses = [f"{name}: {before}, without them {after}" for name, (before, after) in turns.items()]
        lead = f"the verdict on {contrast.names[1]} changes ({'; '.join(clauses)})" if turns else (
            f"the verdict on {contrast.names[1]} stays the same"
        )  # fmt: skip
        sentences.append(f"{lead}; without them {rest.verdict}")
    return sentences


def doubt_data(scored: Report | Comparison, without: WithoutDoubts) -> JsonObject:
    """What is so without the doubtful records, as JSON data."""
    data: JsonObject = {
        "file": without.doubts.name,
        "left_out": without.left_out,
        "of": without.of,
        "unknown": list(without.unknown),
    }
    if isinstance(scored, Report):
        figures = {
            f.name: {"value": f.value, "macro": f.macro, "n": f.n, "counts": tally_data(f.tally)}
            for f in without.rest.figures
        }
        return data | {"figures": figures}
    contrasts = []
    for contrast, rest in zip(scored.contrasts, without.rest.contrasts, strict=True):
        turns = turned_figures(contrast, rest)
        figures = {
            line.name: {
                "first": line.first.value, "second": line.second.value, "difference": line.difference.value,
                "p": line.p, "sure": line.sure,
            }
            for line in rest.lines
        }  # fmt: skip
        contrasts.append(
            {
                "system": contrast.names[1],
                "verdict": rest.verdict,
                "turns": {name: {"with": pair[0], "without": pair[1]} for name, pair in turns.items()},
                "n": rest.n,
                "figures": figures,
            }
        )
    return data | {"contrasts": contrasts}
