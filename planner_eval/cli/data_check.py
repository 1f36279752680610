"""planeval data check: what is irregular in gold plans, and which of them may be wrong."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import planner_eval as pe
from planner_eval.base.codes import code_meanings
from planner_eval.base.formats import View
from planner_eval.base.tables import Style
from planner_eval.base.text import JsonObject, format_count, to_json
from planner_eval.cli.options import as_command, note, option, query_option, refuse_idle
from planner_eval.cli.output import (
    FINDING_ASPECTS,
    Output,
    emit,
    finding_line,
    location_phrases,
    output_options,
)
from planner_eval.cli.sources import (
    RECORD_TOOLS,
    CatalogOptions,
    Input,
    binding_option,
    catalog_options,
    input_options,
    isolation_options,
    read_paths_option,
    refuse_stdin_twice,
)
from planner_eval.cli.terminal import Target, make_counter
from planner_eval.reading.files.record import format_record_name
from planner_eval.results.findings import CONFIDENCES

if TYPE_CHECKING:
    from planner_eval.benchmarks.answers import ReplayResult
    from planner_eval.benchmarks.datasets.check import CheckResult
    from planner_eval.benchmarks.report import SampleScore
    from planner_eval.curation.audit.doubts import GoldDoubt
    from planner_eval.curation.check_dataset import DatasetCheck


# ----------------------------------------------------------------------
# How planeval data check shows what was found.
def _check_text(check: DatasetCheck, style: Style, *, narrowed: bool) -> str:
    """The text of a check; `narrowed` where not all codes were asked for."""
    checked, ran, unequal = check.checked, check.ran, check.checked.unequal
    name, total = check.name, format_count(checked.samples, "record")
    if check.dataset is not None:
        name = check.dataset.name
        total = f"{checked.samples:,} of {check.dataset.records:,} published records"
    equal = f"all but {len(unequal):,} ({', '.join(unequal[:5])})" if unequal else "all"
    lines = [f"{name}: {total}", f"gold plans read: {checked.plans:,}, equal to themselves: {equal}"]
    if ran.plans:
        lines.append(f"gold plans run with {ran.tools}: {ran.plans:,}, {ran.failed:,} failed")
    if checked.unreadable:
        lines.append(f"gold plans that cannot be read: {len(checked.unreadable):,}")
        lines += [f"  {record}" for record in checked.unreadable[:5]]
    blocks = [style.escape(lines)]
    if checked.findings or not narrowed:
        blocks.append(_findings_text(checked, style))
    blocks += [style.escape(_replay_lines(r)) for r in check.replayed]
    blocks += _doubt_lines(check, style)
    return "\n\n".join(block for block in blocks if block)


def _check_data(check: DatasetCheck) -> JsonObject:
    """All that was found, as JSON data."""
    return {
        "name": check.name,
        **asdict(check.checked),
        "replayed": [_replay_data(r) for r in check.replayed],
        "doubts": [_row(d) for d in check.doubts],
        "unsure": dict(check.unsure),
        "known": check.known,
        "run": check.ran._asdict(),
        "unchecked": list(check.unchecked),
    }


def _row(doubt: GoldDoubt) -> dict[str, Any]:
    finding, location = doubt.found, doubt.shown
    return {
        "record": doubt.record,
        "code": finding.code,
        "confidence": finding.confidence,
        "call": None if finding.call is None else finding.call + 1,
        "argument": finding.argument,
        "about": location.about,
        "message": finding.message,
        "related": list(finding.related),
        "file": location.file,
        "line": location.line,
        "column": location.column,
        "query": doubt.query,
        **({"share": finding.share} if finding.share is not None else {}),
    }


def _doubt_lines(check: DatasetCheck, style: Style) -> list[str]:
    """How many doubts of each kind there are, and each of them with its place."""
    head = style.escape([f"gold: {_summary(check)}"])
    if not check.doubts:
        return [head]
    kinds: dict[tuple[str, str], list[GoldDoubt]] = {}
    for doubt in check.doubts:
        kinds.setdefault((doubt.found.code, doubt.found.confidence), []).append(doubt)
    rows = [
        {
            "gold": code,
            "confidence": confidence,
            "findings": len(ones),
            "records": len({d.record for d in ones}),
            "meaning": code_meanings()[code],
        }
        for (code, confidence), ones in sorted(
            kinds.items(),
            key=lambda item: (CONFIDENCES.index(item[1][0].found.confidence), -len(item[1]), item[0]),
        )
    ]
    if style.markup:
        return [head, style.table(rows), style.table(map(_doubt_cells, check.doubts))]
    return [head, style.table(rows, width=90), "\n".join(map(_line, check.doubts))]


def _summary(check: DatasetCheck) -> str:
    """How many doubts there are, and what was not looked at, in one line."""
    doubts = format_count(len(check.doubts), "finding")
    nothing = f"nothing {'new' if check.known else 'doubtful'}" if check.checked.plans else "no plan was read"
    unchecked = f"; not checked: {', '.join(check.unchecked)}" if check.unchecked else ""
    return f"{doubts if check.doubts else nothing}{unchecked}"


def _doubt_cells(doubt: GoldDoubt) -> dict[str, Any]:
    return {
        "record": doubt.record,
        "place": ", ".join(_doubt_locations(doubt)),
        "confidence": doubt.found.confidence,
        "code": doubt.found.code,
        "message": doubt.found.message,
    }


def _doubt_locations(doubt: GoldDoubt) -> list[str]:
    """Where in its file and in its plan a doubt stands, as far as that is known."""
    location, call = doubt.shown, doubt.found.call
    return location_phrases(
        location.line, location.column, None if call is None else call + 1, location.about
    )


def _line(doubt: GoldDoubt) -> str:
    finding = doubt.found
    share = f", share {finding.share:.2f}" if finding.share is not None else ""
    where = [format_record_name(doubt.record), *_doubt_locations(doubt)]
    return finding_line(where, f"{finding.confidence}: {finding.message}", f"{finding.code}{share}")


def _findings_text(checked: CheckResult, style: Style) -> str:
    if not checked.findings:
        return "no irregularities"
    rows = [
        {
            "severity": f.severity,
            "code": f.code,
            "findings": f.count,
            "records": f.records,
            "meaning": f.meaning,
        }
        for f in checked.findings
    ]
    lines: list[str] = []
    for finding in checked.findings:
        if finding.severity != "info":
            lines += [f"{finding.code}", *(f"  {example}" for example in finding.examples)]
    return f"{style.table(rows, width=90)}\n\n{style.escape(lines)}".rstrip()


def _replay_lines(replayed: ReplayResult) -> list[str]:
    report = replayed.report
    right = len(report.rows) - len(replayed.imperfect)
    head = f"gold against gold, {report.variant}: {right:,} of {len(report.rows):,} perfect"
    if replayed.skipped:
        head += f"; {replayed.skipped:,} skipped, which have no single right answer to compare with itself"
    lines = [head]
    lines += [f"  {row.id}: {_imperfection_reason(row)}" for row in replayed.imperfect[:_MAX_EXAMPLES]]
    if (more := len(replayed.imperfect) - _MAX_EXAMPLES) > 0:
        lines.append(f"  … and {more:,} more")
    errors: dict[str, list[str]] = {}
    for figure in report.figures:
        if figure.error:
            errors.setdefault(figure.error, []).append(figure.name)
    for error, names in errors.items():
        rest = f" and {len(names) - 4} more figures" if len(names) > 4 else ""
        lines.append(f"  the published code raises {error} instead of giving {', '.join(names[:4])}{rest}")
    return lines


_MAX_EXAMPLES = 3
"""Records of each kind that are named."""


def _imperfection_reason(row: SampleScore) -> str:
    if row.error:
        return row.error
    below = [f"{f.name} {f.value}" for f in row.figures if f.error is None and f.value is not None]
    return ", ".join(below[:6])


def _replay_data(replayed: ReplayResult) -> JsonObject:
    return {
        "variant": replayed.report.variant,
        "n": replayed.report.n,
        "skipped": replayed.skipped,
        "imperfect": [asdict(row) for row in replayed.imperfect],
        "figures": [asdict(figure) for figure in replayed.report.figures],
    }


# ----------------------------------------------------------------------
# planeval data check: what is irregular in gold plans, and which of them may be wrong.
@as_command("check", name="FILE|DATASET")
@catalog_options(RECORD_TOOLS)
@option(
    "--tools SPEC",
    "Run gold with these tools, as in planeval execute (default: the data set's own tools; "
    "plans of a file are not run).",
    "spec",
)
@isolation_options
@binding_option
@read_paths_option
@query_option
@option("--answer FIELD", "The field that holds the expected result of the plan (default: gold_answer).")
@option("--select CODE...", "Look only for findings whose code is or begins with CODE; repeatable.")
@option("--ignore CODE...", "Ignore findings whose code is or begins with CODE; repeatable.")
@option(
    "--confidence [high|medium|low]", "The lowest confidence of findings to show and count.", default="high"
)
@option(
    "--runs RUN...",
    "A model's answers to the same records: a run of predict or score, or a file of "
    "predictions, joined by id; repeatable. Where models agree on another plan, gold is doubtful.",
)
@option("--baseline FILE", "Ignore the findings in FILE, which --write-baseline wrote.")
@option(
    "--write-baseline FILE",
    "Write all findings of any confidence to FILE, for --baseline.",
    type=Target("data"),
)
@option(
    "--fix FILE",
    "Write suggested fixes of gold to FILE for review: a patch with reasons per record.",
    type=Target("records"),
)
@input_options
@output_options("document", "data", *FINDING_ASPECTS)
def command(
    name: str,
    source: Input,
    named_tools: CatalogOptions,
    spec: str | None,
    runs: tuple[str, ...],
    write_baseline: str | None,
    fix: str | None,
    output: Output,
    **check_options: Any,
) -> int:
    """Find gold plans that may be wrong, and irregularities of a data set.

    FILE holds records of gold plans; DATASET is a name of 'planeval data show'. Gold is checked against its
    tools and its question, searched for calls without a use, and run where tools are available, to compare
    the result with the gold answer. Records with the same question are compared, and gold with the answers
    of models (--runs). For a data set, irregularities are counted, and gold is scored against itself.
    Exit code: 0 no findings; 1 findings; 2 usage error; 3 nothing could be read.
    """
    refuse_stdin_twice(name, *runs)
    (plans,) = source.open_each(name)
    executed = spec is not None or (plans.dataset is not None and bool(plans.dataset.tools))
    refuse_idle(
        (
            "isolation timeout binding allow_read",
            executed,
            "with --tools, without which no plan is run",
        ),
        ("query answer", plans.file is not None, "to files: a data set has its own questions"),
    )
    check = pe.check_dataset(
        plans,
        reading=pe.Reading(dialect=source.dialect),
        catalog=named_tools.read(),
        tools=pe.tool_source(spec) if spec is not None else None,
        fixes=fix is not None,
        runs=runs,
        progress=make_counter("gold plans"),
        **check_options,
    )
    if write_baseline is not None:
        emit(to_json(check.baseline(), 1), write_baseline, plain=True)
    if fix is not None:
        emit("\n".join(map(to_json, check.fixes)), fix, plain=True)
    if output.shows(*FINDING_ASPECTS):
        plans_text = format_count(check.checked.plans, "gold plan")
        output.emit_findings(
            [d.shown for d in check.doubts], f"{plans_text} of {check.name}: {_summary(check)}"
        )
    else:
        narrowed = bool(check_options["select"] or check_options["ignore"])
        view = View(lambda style: [_check_text(check, style, narrowed=narrowed)], lambda: _check_data(check))
        output.emit_view(view)
    _say_omissions(check)
    if not check.checked.plans:
        return 3
    return 0 if check.clean else 1


def _say_omissions(check: DatasetCheck) -> None:
    """Say what stands beside the result: what was left out, and what was not looked at."""
    note(*check.notes)
    ran = check.ran
    if ran.lacking:
        note(
            f"{format_count(ran.lacking, 'gold plan')} not run: {ran.tools} lacks tools "
            "that they call; "
            f"{ran.plans:,} run"
        )
    if check.known:
        note(f"{format_count(check.known, 'finding')} in the baseline, ignored")
    if check.unsure:
        total = sum(check.unsure.values())
        counts = ", ".join(f"{count:,} {name}" for name, count in sorted(check.unsure.items(), reverse=True))
        least = "low" if "low" in check.unsure else "medium"
        note(
            f"{format_count(total, 'finding of lower confidence')} left out ({counts}): --confidence "
            f"{least} shows them"
        )
