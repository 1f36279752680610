"""Systems compared, in writing: what each format shows of a comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from planner_eval.base.counts import gap_text
from planner_eval.base.formats import View
from planner_eval.base.tables import MARKDOWN, TEXT, Rows, Style, md_cell
from planner_eval.base.text import JsonObject, format_count, one_line
from planner_eval.comparison.metrics import matched_calls_note
from planner_eval.reading.files.recorded_runs import COST_NAMES
from planner_eval.results.compare import cause_counts, mistaken_counts
from planner_eval.results.contrast import (
    HEADS,
    TERMINAL_WIDTH,
    BothRead,
    Comparison,
    Contrast,
    Line,
    letter_legend,
    letter_names,
    record_rows,
)
from planner_eval.results.gold_doubts import WithoutDoubts, doubt_data, doubt_sentences
from planner_eval.results.report import Estimate
from planner_eval.results.totals import (
    NOWHERE,
    UNKNOWN,
    CostSum,
    conversation_data,
    cost_lines,
    round_cost,
)
from planner_eval.results.views.junit import Case
from planner_eval.results.views.report import left_out_lines, round_value


# ----------------------------------------------------------------------
# Systems compared: the rows of the tables that people read, and of CSV.
def pair_rows(lines: Iterable[Line], names: Sequence[str], read: BothRead | None = None) -> Rows:
    """Both figures, their difference, and how sure it is.

    Args:
        lines: One a metric.
        names: What the two systems are called.
        read: The same over what both answered readably, which stands beside.
    """
    rows = []
    read_lines = {} if read is None else {line.name: line for line in read.lines}
    for line in lines:
        gap = line.difference
        span = None if gap.low is None or gap.high is None else f"{gap.low:+.3f}…{gap.high:+.3f}"
        rows.append(
            {
                "metric": line.name,
                names[0]: round_value(line.first.value),
                names[1]: round_value(line.second.value),
                "difference": None if gap.value is None else gap_text(gap.value),
                "95 %": span,
                "p": None if line.p is None else _probability(line.p),
                "": " ".join(("*" * line.sure, "↓" * line.lower)).strip(),
            }
        )
        if (other := read_lines.get(line.name)) is not None and read is not None:
            values = (round_value(other.first.value), round_value(other.second.value))
            rows[-1] |= _both_read_column(names, read, values)
    return rows


def _both_read_column(names: Sequence[str], read: BothRead, values: Sequence[Any]) -> dict[str, str]:
    """A column of what both systems answered readably, whose head is no system's name."""
    head = f"readable ({read.n})"
    return {f"{head}{' too' * (head in names)}": " / ".join("–" if v is None else f"{v:g}" for v in values)}


def value_rows(comparison: Comparison, names: Sequence[str]) -> Rows:
    """The figures of all systems; a star stands by what surely differs from the first."""
    rows = []
    for lines in zip(*(contrast.lines for contrast in comparison.contrasts), strict=True):
        common = lines[0]
        row: JsonObject = {"metric": common.name, names[0]: _figure_text(common.first, sure=False)}
        row |= {
            name: _figure_text(line.second, sure=line.sure)
            for name, line in zip(names[1:], lines, strict=True)
        }
        rows.append(row | {"": "↓" if common.lower else ""})
    return rows


def _figure_text(figure: Estimate, *, sure: bool) -> str | None:
    return None if figure.value is None else f"{figure.value:.4f}{'*' if sure else ''}"


def flat_rows(comparison: Comparison) -> Rows:
    """One table: records, causes, figures, and those over what both read; of several systems a row each."""
    contrasts, names = comparison.contrasts, comparison.names
    many = len(contrasts) > 1
    rows: Rows = []
    for position, contrast in enumerate(contrasts):
        heads = ("first", "second") if many else names
        system = {"system": names[position + 1]} if many else {}
        empty = dict.fromkeys(("metric", *heads, "difference", "95 %", "p", "test", ""))
        counts = [(f"records.{row.pop('records')}", row) for row in record_rows(heads, contrast.records)]
        counts += [
            (f"causes.{row.pop('cause')}", row)
            for row in cause_rows(Comparison((contrast,)), heads, with_both_read=False)
        ]
        rows += [system | empty | {"metric": name} | row for name, row in counts]
        rows += [system | row for row in _tested_rows(contrast.lines, heads)]
        if contrast.both_read is not None:
            read = _tested_rows(contrast.both_read.lines, heads)
            rows += [system | row | {"metric": f"both_read.{row['metric']}"} for row in read]
    return rows


def _tested_rows(lines: Sequence[Line], heads: Sequence[str]) -> Rows:
    """Rows of figures that name the test, before what is marked."""
    rows = pair_rows(lines, heads)
    tests = [line.difference.test.partition(" ")[0] or None for line in lines]
    return [{**row, "test": test, "": row[""]} for row, test in zip(rows, tests, strict=True)]


def cause_rows(comparison: Comparison, names: Sequence[str], *, with_both_read: bool = True) -> Rows:
    """How often each code is a root cause under each system, what differs most first.

    Args:
        comparison: The comparison.
        names: What the systems are called.
        with_both_read: Of two systems, add the counts over what both answered readably.
    """
    read = comparison.common.both_read if with_both_read and len(comparison.contrasts) == 1 else None
    rows = []
    for code, counts in cause_counts(comparison).items():
        row: JsonObject = {"cause": code, **dict(zip(names, counts, strict=True))}
        if read is not None:
            row |= _both_read_column(names, read, [causes.get(code, 0) for causes in read.causes])
        rows.append(row)
    return rows


def conversation_rows(comparison: Comparison, names: Sequence[str]) -> Iterator[Rows]:
    """Two tables where there is anything in them: what each system cost, and its first wrong turns.

    Args:
        comparison: The comparison.
        names: What the systems are called.
    """
    systems = comparison.conversations
    costs: Rows = []
    for cost in (name for name in COST_NAMES if any(name in sums.costs for sums in systems)):
        spent = [sums.costs.get(cost, CostSum()) for sums in systems]
        for per, values in (
            ("record", [cost_sum.mean for cost_sum in spent]),
            ("right answer", [cost_sum.per_right for cost_sum in spent]),
        ):
            cells = dict(zip(names, map(round_cost, values), strict=True))
            costs.append({"cost": f"{cost.replace('_', ' ')} per {per}", **cells})
    turns: Rows = []
    for unit in dict.fromkeys(unit for sums in systems for unit in sums.first):
        counts: list[Mapping[int, int]] = [sums.first.get(unit, {}) for sums in systems]
        numbers = {turn for counter in counts for turn in counter}
        for turn in sorted(numbers, key=lambda number: (number < 0, number)):
            label = {NOWHERE: "none, the same", UNKNOWN: "not known"}.get(turn, f"{unit} {turn}")
            cells = {name: counter.get(turn, 0) for name, counter in zip(names, counts, strict=True)}
            turns.append({f"first wrong {unit}": label, **cells})
    yield from filter(None, (costs, turns))


def _cost_lines(comparison: Comparison, names: Sequence[str]) -> list[str]:
    """Which systems have costs that do not count, as ``score`` says it of one."""
    sides = zip(names, comparison.conversations, strict=True)
    return [f"{name}: {line}" for name, sums in sides for line in cost_lines(sums)]


_BREAKDOWN_METRICS = 3


def breakdown_rows(comparison: Comparison, key: str, names: Sequence[str]) -> Rows:
    """The first figures of each value of a key."""
    rows = []
    for value in comparison.common.breakdown[key]:
        groups = [contrast.breakdown[key].get(value, ()) for contrast in comparison.contrasts]
        for lines in zip(*(group[:_BREAKDOWN_METRICS] for group in groups), strict=True):
            counts = [lines[0].first.n, *(line.second.n for line in lines)]
            row: JsonObject = {
                f"{key} (key)" if key in names or key in HEADS else key: value,
                "metric": lines[0].name,
                "n": counts[0] if len({*counts}) == 1 else " / ".join(map(str, counts)),
            }
            row[names[0]] = round_value(lines[0].first.value)
            row |= {name: round_value(line.second.value) for name, line in zip(names[1:], lines, strict=True)}
            if len(lines) == 1:
                gap, p = lines[0].difference, lines[0].p
                row["difference"] = None if gap.value is None else gap_text(gap.value)
                row["p"] = None if p is None else _probability(p)
            if any(line.difference.value is not None for line in lines):
                rows.append(row)
    return rows


def mistaken_rows(comparison: Comparison, names: Sequence[str]) -> Rows:
    """Which tool was taken for which, in predictions that were read."""
    return [
        {"gold calls": gold, "called": pred, **dict(zip(names, counts, strict=True))}
        for (gold, pred), counts in mistaken_counts(comparison).items()
    ]


def _probability(p: float) -> str:
    return f"{p:.4f}" if p >= 0.0001 else "<0.0001"


def comparison_view(
    comparison: Comparison,
    *,
    flips: int = 10,
    every: Collection[str] = (),
    limits: Sequence[Case] = (),
    without: WithoutDoubts | None = None,
) -> View:
    """What a comparison shows; records are samples, a row is of a figure, a test case of a sample.

    Data of two systems are a contrast; of more a list of contrasts, each with the first.

    Args:
        comparison: The comparison.
        flips: How many ids of flipped samples text names on each side; data have all.
        every: Metrics whose figures documents show although they do not exist.
        limits: What the user allows as test cases: where there are some they decide.
        without: The comparison without the records of doubtful gold, for documents and data.
    """
    names, shown = comparison.names, _existing(comparison, every)

    def document(style: Style) -> Iterator[str]:
        if style.markup:
            yield _markdown(shown, without)
            return
        tables, text = _text(comparison, shown, names, flips, without)
        if max(map(len, tables.splitlines()), default=0) > TERMINAL_WIDTH:
            yield f"{letter_legend(names)}\n\n"
            text = _text(comparison, shown, letter_names(len(names)), flips, without)[1]
        yield text

    return View(
        document=document,
        data=lambda: (
            comparison_data(comparison)
            | ({} if without is None else {"without_gold_doubts": doubt_data(comparison, without)})
        ),
        records=lambda: _samples(comparison),
        table=lambda: flat_rows(comparison),
        cases=lambda: ([*limits, *compare_cases(comparison, limited=bool(limits))], None),
    )


def _existing(comparison: Comparison, always_shown: Collection[str]) -> Comparison:
    """The comparison without figures that do not exist under any system."""
    estimates = [
        e for contrast in comparison.contrasts for line in contrast.lines for e in (line.first, line.second)
    ]
    names = {estimate.name for estimate in estimates if estimate.value is not None}.union(always_shown)

    def kept(compared: Any) -> Any:
        return compared and replace(
            compared, lines=tuple(line for line in compared.lines if line.name in names)
        )

    contrasts = (
        replace(kept(contrast), both_read=kept(contrast.both_read)) for contrast in comparison.contrasts
    )
    return replace(comparison, contrasts=tuple(contrasts))


def _markdown(comparison: Comparison, without: WithoutDoubts | None) -> str:
    names = comparison.names
    tables = [
        flat_rows(comparison),
        *conversation_rows(comparison, names),
        *(breakdown_rows(comparison, key, names) for key in comparison.common.breakdown),
    ]
    blocks = [*_opening_lines(comparison, without), *map(MARKDOWN.table, tables)]
    blocks.append(MARKDOWN.lines(map(md_cell, _cost_lines(comparison, names))))
    return "\n\n".join(filter(None, blocks))


def _text(
    comparison: Comparison,
    shown: Comparison,
    names: Sequence[str],
    flips: int,
    without: WithoutDoubts | None,
) -> tuple[str, str]:
    """A comparison for people, and what of it has figures: its tables, whose width counts, and all of it."""
    contrasts = shown.contrasts
    tables = [
        TEXT.table(record_rows(names, comparison.records, read="readable"), width=TERMINAL_WIDTH),
        TEXT.table(cause_rows(comparison, names)[:20], width=TERMINAL_WIDTH),
        *(TEXT.table(rows) for rows in conversation_rows(comparison, names)),
    ]
    if len(contrasts) == 1:
        tables.append(TEXT.table(pair_rows(contrasts[0].lines, names, contrasts[0].both_read)))
    else:
        tables.append(TEXT.table(value_rows(shown, names)))
        for contrast, name in zip(contrasts, names[1:], strict=True):
            rows = pair_rows(contrast.lines, (names[0], name), contrast.both_read)
            tables.append(f"{name} against {names[0]}\n\n{TEXT.table(rows)}" if rows else "")
    tables += [TEXT.table(breakdown_rows(comparison, key, names)) for key in contrasts[0].breakdown]
    heads = {"gold calls": "gold's tool", "called": "predicted tool"}
    mistaken = mistaken_rows(comparison, names)[:20]
    renamed = ({heads.get(key, key): value for key, value in row.items()} for row in mistaken)
    tables.append(TEXT.table(renamed))
    tail = []
    for contrast, name in zip(comparison.contrasts, names[1:], strict=True):
        which = f" {names[0]} and {name}" if len(contrasts) > 1 else ""
        tail += [
            _judged_text(contrast, (names[0], name), which),
            *_unshared_lines(contrast),
            *_flipped_lines(contrast, (names[0], name), flips),
        ]
    if len({contrast.n for contrast in contrasts}) > 1:
        tail.append(
            f"tables of all systems show {names[0]} on the {contrasts[0].n} records that it shares with "
            f"{names[1]}, each other system on those that it shares with {names[0]}"
        )
    missing = [line.name for line in comparison.common.lines if line not in contrasts[0].lines]
    tail += [*_cost_lines(comparison, names), *left_out_lines(missing, contrasts[0].lacks)]
    tables_text = "\n\n".join(filter(None, tables))
    head, end = _opening_lines(comparison, without), [*tail, *_method_lines(comparison)]
    return tables_text, "\n\n".join(filter(None, ("\n".join(head), tables_text, "\n".join(end))))


def _opening_lines(comparison: Comparison, without: WithoutDoubts | None) -> list[str]:
    """What stands before all tables: what could not be read, the verdicts, and whether they turn."""
    doubts = [] if without is None else doubt_sentences(comparison, without)
    return [*filter(None, [comparison.unreadable]), *comparison.verdicts, *doubts]


def _method_lines(comparison: Comparison) -> list[str]:
    """How the figures and the probabilities were made."""
    lines, breakdown = comparison.common.lines, comparison.common.breakdown
    family = comparison.common.family
    if not family:
        return [comparison.common.signature]
    correction = f"with Holm's correction for {family} tests" if family > 1 else "one test, so no correction"
    limit = (
        f" ({_BREAKDOWN_METRICS} of {len(lines)} metrics shown)" if len(lines) > _BREAKDOWN_METRICS else ""
    )
    groups = f"; in a breakdown, with Holm's correction for all its scores{limit}" if breakdown else ""
    lower = "; ↓ lower is better" if any(line.lower for line in lines) else ""
    correction = f"p: {correction}{groups}; * significant at 0.05{lower}"
    return [correction, comparison.common.signature]


def _judged_text(contrast: Contrast, names: tuple[str, str], which: str) -> str:
    """How many samples were judged, and how many of them for want of an answer that can be read."""
    sentence = f"{format_count(contrast.n, 'record')} scored for both{which}"
    if not contrast.n:
        return sentence
    if not any(contrast.unanswered):
        return f"{sentence}, every prediction readable"
    counts = zip(contrast.unanswered, names, strict=True)
    return f"{sentence}; counted wrong for lack of a plan: " + ", ".join(
        f"{n} of {name}" for n, name in counts
    )


def _unshared_lines(contrast: Contrast) -> Iterator[str]:
    """What is not counted of both: records that the other has not, predictions without a plan."""
    names = [line.name for line in contrast.lines if line.first.n or line.second.n]
    yield from matched_calls_note(names, max(contrast.unanswered))
    if contrast.n and any(records.judged > contrast.n for records in contrast.records):
        yield "causes cover these records only; the table of records covers all"


def _task_lines(contrast: Contrast, names: tuple[str, str], flips: int) -> list[str]:
    """On which tasks each of two systems is right more often, the widest gap first."""
    gaps = [
        (
            second.right / second.trials - first.right / first.trials,
            f"{one_line(task, 60)} ({first.right}/{first.trials} and {second.right}/{second.trials})",
        )
        for task, (first, second) in contrast.tasks.items()
        if first.trials and second.trials
    ]
    gaps.sort(key=lambda gap: -abs(gap[0]))
    lines = []
    for sign, name in ((-1, names[0]), (1, names[1])):
        texts = [text for gap, text in gaps if sign * gap > 0]
        count = format_count(len(texts), "task")
        lines.append(f"{name} is right more often on {count}{_first_texts(texts, flips)}")
    return lines


def _flipped_lines(contrast: Contrast, names: tuple[str, str], flips: int) -> list[str]:
    if contrast.tasks:
        return _task_lines(contrast, names, flips)
    lines = []
    for ids, name in ((contrast.lost, names[0]), (contrast.won, names[1])):
        listed = _first_texts([one_line(sample_id, 60) for sample_id in ids], flips)
        lines.append(f"{format_count(len(ids), 'record')} that only {name} gets right{listed}")
    return lines


def _first_texts(texts: Sequence[str], most: int) -> str:
    """``: a, b, … 2 more`` after what is listed; nothing for none."""
    listed = [*texts[:most], *[f"… {len(texts) - most} more"] * (len(texts) > most)]
    return f": {', '.join(listed)}" if texts else ""


def comparison_data(comparison: Comparison) -> JsonObject:
    """A comparison as JSON data: a contrast of two systems, or a list of contrasts with the first."""
    contrasts = [contrast_data(contrast) for contrast in comparison.contrasts]
    if len(contrasts) == 1:
        return contrasts[0]
    return {
        "schema": "planeval.comparison/1",
        "unreadable": comparison.unreadable,
        "verdicts": list(comparison.verdicts),
        "systems": list(comparison.names),
        "contrasts": contrasts,
    }


def _both(values: Iterable[Any]) -> JsonObject:
    """What is so of the two systems, under their keys."""
    return dict(zip(("first", "second"), values, strict=True))


def contrast_data(contrast: Contrast) -> JsonObject:
    """Two systems compared as JSON data."""
    tasks = {
        task: _both([{"trials": counts.trials, "right": counts.right} for counts in pair])
        for task, pair in contrast.tasks.items()
    }
    return {
        "schema": "planeval.contrast/1",
        "verdict": contrast.verdict,
        "signature": contrast.signature,
        **_both(contrast.names),
        "read": dict(contrast.read),
        "records": _both([records._asdict() for records in contrast.records]),
        "samples": contrast.n,
        "unanswered": _both(contrast.unanswered),
        "unreadable": _both(
            {"as_written": r.unreadable_as_written, "once_repaired": r.unreadable_once_repaired}
            for r in contrast.records
        ),
        "holm_over": contrast.family,
        "figures": {line.name: _line_data(line) for line in contrast.lines},
        "breakdown": {
            key: {value: {line.name: _line_data(line) for line in lines} for value, lines in groups.items()}
            for key, groups in contrast.breakdown.items()
        },
        "only_first": list(contrast.lost),
        "only_second": list(contrast.won),
        **({"tasks": tasks} if tasks else {}),
        "causes": _both(map(dict, contrast.causes)),
        "mistaken": mistaken_rows(Comparison((contrast,)), contrast.names),
        **_conversation_data(contrast),
        **({} if contrast.both_read is None else {"both_read": _both_read_data(contrast.both_read)}),
    }


def _conversation_data(contrast: Contrast) -> JsonObject:
    """Costs and turns of either system, as ``score`` has them."""
    pair = _both(contrast.conversations)
    sides = {name: conversation_data(sums) for name, sums in pair.items() if sums}
    keys = dict.fromkeys(key for data in sides.values() for key in data)
    absent: JsonObject = {"unusable_costs": 0}
    return {key: {name: data.get(key, absent.get(key, {})) for name, data in sides.items()} for key in keys}


def _both_read_data(both_read: BothRead) -> JsonObject:
    return {
        "samples": both_read.n,
        "figures": {line.name: _line_data(line) for line in both_read.lines},
        "causes": _both(map(dict, both_read.causes)),
    }


def _line_data(line: Line) -> JsonObject:
    values = _both([line.first.value, line.second.value])
    values |= {"n": line.first.n, "n_second": line.second.n}
    return values | line.difference._asdict() | {"p_holm": line.p, "sure": line.sure}


def _samples(comparison: Comparison) -> Rows:
    """What became of each sample under each system; of those that only some have as well."""
    samples: dict[tuple[str, int], JsonObject] = {}
    for name, rows in zip(comparison.names, comparison.of_each("rows"), strict=True):
        met: Counter[str] = Counter()  # a record without an id may be called what another's id is
        for row in rows:
            met[row.id] += 1
            samples.setdefault((row.id, met[row.id]), {})[name] = {
                "state": row.state,
                "codes": list(row.codes),
                "reason": row.reason,
                "metrics": {m: tally and tally.value for m, tally in row.tallies.items()},
                **{flag: True for flag in ("repaired", "repairable") if getattr(row, flag)},
            }
    return [{"id": name, "systems": systems} for (name, _), systems in samples.items()]


def compare_cases(comparison: Comparison, *, limited: bool) -> list[Case]:
    """A test case a sample and system: it fails where only the first is right.

    Args:
        comparison: The comparison.
        limited: Whether thresholds decide, so that a sample may be lost.
    """
    cases = []
    for contrast in comparison.contrasts:
        first, second = contrast.names
        lost_ids = set(contrast.lost)
        for row in contrast.rows[1]:
            case = Case(row.id, "passed", file=row.file, line=row.line, group=f"compare.{second}")
            if row.id in lost_ids:
                why = (row.reason or row.state).splitlines()[0]
                message = f"{first} is right, {second} is not: {why}"
                message += "; readable after repair" * row.repairable
                code = row.codes[0] if row.codes else row.state
                case = case._replace(outcome="skipped" if limited else "failure", code=code, message=message)
            elif row.state in ("gold_unreadable", "gold_absent"):
                case = case._replace(outcome="skipped", code=row.state, message=row.reason)
            cases.append(case)
    return cases
