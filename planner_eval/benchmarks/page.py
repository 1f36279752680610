"""One page of answers that a benchmark scored: its figures in both columns, and the verdicts on each record.

A record has what was asked, called and accepted, the official error, why the corrected verdict differs, and
what differs from the gold plan, which is shown over the answer's.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from planner_eval._version import __version__
from planner_eval.base.errors import InputError, ParseError
from planner_eval.benchmarks.benchmark import Explanation, Table, as_json
from planner_eval.benchmarks.compare import details
from planner_eval.benchmarks.datasets.published import gold_plan
from planner_eval.benchmarks.report import Figure, Run, SampleScore
from planner_eval.benchmarks.score import Scored, figure_rows, summary_lines
from planner_eval.comparison.diff import diff
from planner_eval.comparison.rows import Row
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.read import parse
from planner_eval.reading.files.record import Record
from planner_eval.results.page.lines import MAX_TEXT, Pair, PairLineWriter, cut_text
from planner_eval.results.page.page import LineSpool, Packs, page
from planner_eval.results.page.report import (
    DEFAULT_SETTINGS,
    PageResult,
    PageSettings,
    head_of,
    omission_notes,
    refuse_bad_settings,
)

STATES = {
    "right": "counts as right",
    "wrong": "counts as wrong",
    "right_as_corrected": "wrong by the published code, right as the paper means it",
    "wrong_as_corrected": "right by the published code, wrong as the paper means it",
    "unanswered": "there is no answer; it counts as wrong",
    "unreadable": "the answer cannot be read from its file; it counts as wrong",
}
"""What can become of a record."""
_QUESTION = "question"
_TEXT_BUDGET = 12_000_000
"""Characters of answers that a page holds; where there are more, long ones are cut shorter."""
_LEAST_TEXT = 1_000
_FEW = 4
"""Figures of a record below which one that is the verdict itself needs no place."""
_MAX_VALUES = 200
"""Values of a field that the overview lists."""


def benchmark_page(
    scored: Scored, name: str, shown: PageSettings = DEFAULT_SETTINGS, *, run: Run | None = None
) -> PageResult:
    """Write one page of answers that were scored by :func:`planner_eval.score_benchmark`.

    Args:
        scored: What the benchmark says, with its records.
        name: What the answers are called.
        shown: What the page shows; its query and command have no effect.
        run: Runs answers, where they were scored with them run.

    Returns:
        The page in pieces, and what the user should know; its figures are those of `scored`.

    Raises:
        InputError: the settings are none, or the records of the answers are not at hand.

    >>> from planner_eval.base.resources import folder
    >>> from planner_eval.benchmarks.score_benchmark import score_benchmark
    >>> samples = folder("data") / "samples"
    >>> scored = score_benchmark(samples / "answers" / "callnavi.jsonl", samples / "callnavi", "callnavi")
    >>> "".join(benchmark_page(scored, "answers").pieces).count("planeval.page/1")
    1
    """
    refuse_bad_settings(shown)
    if not scored.reports or len(scored.matched.records) != scored.matched.scored:
        raise InputError("a page needs the records, but these scores hold only totals")
    views = list(_views(scored, shown))
    sheaf = LineSpool(tempfile.TemporaryFile())  # noqa: SIM115 - it lives as long as the page is written
    writer = PairLineWriter(_QUESTION, texts=shown.texts)
    sheaf.extend(writer.line(pair, pred, gold) for pair, pred, gold in views)
    packs = Packs([sheaf], failures=shown.failures, limit=shown.limit, states=STATES)
    pairs = [pair for pair, _, _ in views]
    states = Counter(pair.row.state for pair in pairs)
    counted = {state: states[state] for state in STATES if states[state]}
    omitted = tuple(omission_notes(packs, shown, "records"))
    head = head_of(
        packs,
        [_run_data(scored, name, pairs, counted, run)],
        title=shown.title or f"{name} under {scored.benchmark.title}",
        commands=[None],
        notes=[*dict.fromkeys([*summary_lines(scored), *scored.notes, *omitted])],
        theme=shown.theme,
    )
    return PageResult(page(head, packs), (), omitted)


# ----------------------------------------------------------------------
# The head: figures in both columns, breakdowns, the paper's further tables.
def _run_data(
    scored: Scored, name: str, pairs: Sequence[Pair], states: Mapping[str, int], run: Run | None
) -> dict[str, Any]:
    options = [f"{option}={value}" for option, value in scored.options.items()]
    signature = [f"planeval {__version__}", f"benchmark={scored.benchmark.name}", *scored.reports, *options]
    if scored.prompts:
        signature.append(f"judged with {scored.prompts}")
    tables = details(scored, run=run) if scored.judge is None else []
    scores = [_score_data(row, scored) for row in figure_rows(scored)]
    return {
        "name": name,
        "signature": " | ".join([*signature, f"matched by {scored.matched.by}"]),
        "answers": f"answers: {scored.read}" if scored.read else "",
        "states": states,
        "figures": [],
        "variants": [*scored.reports],
        "scores": scores,
        "difference": scored.benchmark.difference if len(scored.reports) > 1 else "",
        "lower": [score["figure"] for score in scores if scored.benchmark.less_is_better(score["figure"])],
        "tables": [
            {"title": title, "heads": [*rows[0]], "rows": [[row.get(key) for key in rows[0]] for row in rows]}
            for title, rows in tables
        ],
        "by": [by for by in _breakdowns(pairs, scored) if not _is_tabulated(by, tables)],
        "causes": None,
        "fixes": [],
        "mistaken": [],
    }


def _score_data(row: Mapping[str, Any], scored: Scored) -> dict[str, Any]:
    """A figure under each variant, also as it is shown: a count is no share that happens to be whole."""
    shown = {f"{variant} shown": _figure_text(row[variant]) for variant in scored.reports}
    difference = scored.benchmark.difference.split("; ")
    remarks = (remark for remark in row["note"].split("; ") if remark not in difference)
    return {**row, **shown, "note": "; ".join(remarks)}


def _figure_text(value: Any) -> str:
    """A figure with the four digits that tables of leaderboards have.

    >>> _figure_text(3), _figure_text(1.0), _figure_text(None)
    ('3', '1.0000', '–')
    """
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}" if isinstance(value, float) else value


def _is_tabulated(breakdown: Mapping[str, Any], tables: Sequence[Table]) -> bool:
    """Whether a further table has a row of each value already, with more to say of it."""
    values = {row["value"] for row in breakdown["rows"]}
    return breakdown["field"] != CATEGORY and any(
        values <= {next(iter(row.values())) for row in table.rows} for table in tables
    )


_RIGHT_STATES = {
    "official": ("right", "wrong_as_corrected"),
    "corrected": ("right", "right_as_corrected"),
}


def _breakdowns(pairs: Sequence[Pair], scored: Scored) -> Iterator[dict[str, Any]]:
    """Of each field how many records have each value, and the share that is right in each column."""
    fields = dict.fromkeys(field for pair in pairs for field in pair.fields)
    for field in fields:
        counts: dict[str, Counter[str]] = {}
        for pair in pairs:
            if field in pair.fields:
                counts.setdefault(pair.fields[field], Counter())[pair.row.state] += 1
        if len(counts) > _MAX_VALUES:
            continue
        shares = field == CATEGORY
        rows: list[dict[str, Any]] = [
            {
                "value": value,
                "n": states.total(),
                "figures": {
                    variant: sum(states[state] for state in _RIGHT_STATES[variant]) / states.total()
                    for variant in (scored.reports if shares else ())
                },
            }
            for value, states in counts.items()
        ]
        if not shares:
            rows.sort(key=lambda row: (-row["n"], row["value"]))
        yield {"field": field, "rows": rows}


CATEGORY = "category"


# ----------------------------------------------------------------------
# Records.
def _views(scored: Scored, shown: PageSettings) -> Iterator[tuple[Pair, Record | None, Record]]:
    """Of each record what the page tells of it, with the answer and the question as records."""
    matched = scored.matched
    records = [(record.sample, record.text) for record in matched.records]
    most = _most_characters([text for _, text in records])
    nothing, missing = scored.benchmark.nothing, set(matched.missing)
    explain = scored.benchmark.explain or _explain_plans
    explanations = explain(records, **{k: v for k, v in scored.options.items() if scored.benchmark.explain})
    columns = [report.rows for report in scored.reports.values()]
    seen: Counter[str] = Counter()
    for position, ((sample, text), explanation, *rows) in enumerate(
        zip(records, explanations, *columns, strict=True)
    ):
        seen[sample.id] += 1
        name = sample.id if seen[sample.id] == 1 else f"{sample.id} ({seen[sample.id]})"
        state = _state(dict(zip(scored.reports, rows, strict=True)))
        if state == "wrong" and (sample.id in missing or text == nothing != ""):
            state = "unanswered" if sample.id in missing else "unreadable"
        unread = state in ("unanswered", "unreadable")
        if unread:
            explanation = explanation._replace(pred=None, reply="")
        if explanation.pred is not None and len(text) > most:
            explanation = explanation._replace(pred=None)
        pair = _pair(name, state, explanation, rows, sample.category)
        more = {
            "verdicts": [
                _verdict_data(variant, row, explanation.message if variant == "official" else "")
                for variant, row in zip(scored.reports, rows, strict=True)
            ],
            "sections": [_cut_section(section, most) for section in explanation.sections],
        }
        if explanation.reply and shown.texts:
            more["raw"] = cut_text(explanation.reply, most)
        question = sample.query if explanation.question is None else explanation.question
        gold = Record("", position, name, None, fields={_QUESTION: question} if question else {})
        answer = (
            None
            if unread or explanation.reply is not None
            else Record("", position, name, cut_text(text, most))
        )
        yield pair._replace(more=more), answer, gold


def _most_characters(texts: Iterable[str]) -> int:
    """How many characters of an answer are shown: all where they are few, fewer where all are too many."""
    lengths = [len(text) for text in texts]
    if sum(min(length, MAX_TEXT) for length in lengths) <= _TEXT_BUDGET:
        return MAX_TEXT
    return max(_LEAST_TEXT, _TEXT_BUDGET // len(lengths))


def _cut_section(section: Mapping[str, Any], most: int) -> Mapping[str, Any]:
    """A section with no more of an answer than is shown of its text; what is left out is counted.

    >>> _cut_section({"title": "Called", "heads": ["a"], "rows": [["ok", "x"]] * 9}, 6)["rows"][1:]
    [['ok', 'x'], ['', '… 7 more lines']]
    """
    if "text" in section:
        return {**section, "text": cut_text(section["text"], most)}
    if "rows" in section:
        rows = _cut_lines(section["rows"], most)
        more = len(section["rows"]) - len(rows)
        return {**section, "rows": [*rows, ["", f"… {more:,} more lines"]] if more else rows}
    turns, left = [], most
    for turn in section.get("turns", ()):
        steps = _cut_lines(turn["steps"], max(left, 0))
        left -= sum(len(text) for step in steps for text in step)
        more = len(turn["steps"]) - len(steps)
        turns.append({**turn, "steps": [*steps, ["words", f"… {more:,} more"]] if more else steps})
    return {**section, "turns": turns} if turns else section


def _cut_lines(lines: Sequence[Sequence[str]], most: int) -> list[Sequence[str]]:
    """The first lines, up to so many characters."""
    cut_lines: list[Sequence[str]] = []
    for line in lines:
        most -= sum(map(len, line))
        if most < 0 and cut_lines:
            break
        cut_lines.append(line)
    return cut_lines


def _state(rows: Mapping[str, SampleScore]) -> str:
    """What became of a record, by its row in each column."""
    verdicts = [row.ok for row in rows.values()]
    if len(set(verdicts)) == 1:
        return "right" if verdicts[0] else "wrong"
    return "right_as_corrected" if rows["corrected"].ok else "wrong_as_corrected"


def _pair(
    name: str, state: str, explanation: Explanation, rows: Sequence[SampleScore], category: str
) -> Pair:
    """A record with its plans, what differs between them, and what it can be chosen by."""
    error = next((row.error.split("\n")[0] for row in rows if row.error), "")
    reason = STATES[state] if state == "unanswered" else error
    fields = {CATEGORY: category} if category else {}
    fields |= explanation.fields or ({"error": error.split(":")[0]} if error else {})
    *earlier_rows, last = rows
    if earlier_rows:  # what only the paper's variant says in words
        names = {figure.name for row in earlier_rows for figure in row.figures}
        texts = (figure for figure in last.figures if isinstance(figure.value, str))
        fields |= {f.name: str(f.value) for f in texts if f.name not in names}
    pred, gold = explanation.pred, explanation.gold
    difference = diff(pred, gold) if pred is not None and gold is not None else None
    pair = Pair(Row(name, state, difference, pred, gold), fields)
    reason = reason or next((edit.message for edit in pair.edits), STATES[state])
    return pair._replace(first="" if state == "right" else reason)


def _verdict_data(variant: str, row: SampleScore, message: str) -> dict[str, Any]:
    figures = [
        [
            figure.name,
            figure.value if figure.error is None else figure.error,
            "" if figure.denominator is None else f"{figure.numerator:g}/{figure.denominator:g}",
        ]
        for figure in row.figures
        if figure.error or (figure.value is not None and not _is_told(figure, row))
    ]
    return {
        "variant": variant,
        "ok": row.ok,
        "error": cut_text(row.error or ""),
        "message": message,
        "figures": figures,
    }


def _is_told(figure: Figure, row: SampleScore) -> bool:
    """Whether a record's verdict or error says already what a metric says."""
    if isinstance(figure.value, str):
        return (row.error or "").startswith(f"{figure.value}:")
    return figure.denominator is None and len(row.figures) < _FEW and figure.value == float(row.ok)


def _explain_plans(records: Iterable[tuple[Any, str]]) -> Iterator[Explanation]:
    """The plans of answers and of gold, where there are such; what else is right as text."""
    for sample, text in records:
        gold = _plan_or_none(lambda sample=sample: gold_plan(sample))
        pred = _plan_or_none(lambda text=text: parse(text, repair=True))
        sections = []
        if gold is None and sample.gold not in (None, "", [], {}):
            gold_text = sample.gold if isinstance(sample.gold, str) else as_json(sample.gold)
            sections.append({"title": "Expected", "text": gold_text})
        yield Explanation(pred, gold, sections=sections, reply=None)


def _plan_or_none(read: Any) -> Plan | None:
    try:
        plan: Plan | None = read()
    except (ParseError, InputError, RecursionError):
        return None
    return plan
