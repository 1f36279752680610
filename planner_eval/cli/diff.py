"""planeval diff: is the prediction the gold plan, and if not, what differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import click

import planner_eval as pe
from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.formats import DEFAULT, LISTING, format_of_suffix, formats_of, shows
from planner_eval.base.text import to_json
from planner_eval.cli.drawing import (
    DrawingOptions,
    NamedDrawing,
    draw_one,
    drawing_options,
    is_folder,
    write_folder,
)
from planner_eval.cli.help import Command
from planner_eval.cli.options import (
    FINDING_ASPECTS,
    RESULT_ASPECTS,
    Seconds,
    argument,
    emit,
    format_option,
    is_option_passed,
    note,
    option,
    output_options,
    refuse_idle,
)
from planner_eval.cli.outcome import emit_findings, findings_in
from planner_eval.cli.pairs import chosen_policy, missing_argument, pair_options, read_sides, work_settings
from planner_eval.cli.sources import (
    id_option,
    original_names,
    refuse_absent,
    refuse_runs,
    say_unmet_facts,
)
from planner_eval.cli.terminal import count_items, is_colored
from planner_eval.cli.workers import (
    WorkOptions,
    WorkResult,
    run_job,
    storage_options,
    store_option,
    work_options,
)

if TYPE_CHECKING:
    from planner_eval.comparison.evaluate import PairedFiles
    from planner_eval.comparison.policy.policy import Policy
    from planner_eval.comparison.rows import Row
    from planner_eval.reading.files.record import Record
    from planner_eval.results.pair_sums import DiffSums
    from planner_eval.results.runs.diff_job import DiffJob
    from planner_eval.results.runs.folder import Input
    from planner_eval.results.runs.jobs import Effects


# ----------------------------------------------------------------------
# What `planeval diff` does with pairs beside telling of them: drawings, reports, effects, distances.
Drawn: TypeAlias = "tuple[Row, Sequence[Record | None]]"
"""What became of a pair that is drawn, and its records."""


def drawn_form(form: str) -> str:
    """What drawing calls a format; the listing of edits is text here."""
    return DEFAULT if form == LISTING else form


def draw_pair(rows: Sequence[Drawn], form: str, look: DrawingOptions, output: str | None) -> bytes:
    """The drawing of one pair."""
    if len(rows) != 1:
        raise InputError(
            f"{len(rows)} pairs do not fit one drawing: choose one with --id, or name a directory with -o"
        )
    ((row, records),) = rows
    if row.diff is None:
        raise InputError(f"there is nothing to draw: {row.error or row.state.replace('_', ' ')}")
    from planner_eval.results.drawing.overlay import conversation_scene

    scene = conversation_scene(row, records)
    return draw_one(scene, drawn_form(form), look, output)


def draw_each(rows: Sequence[Drawn], form: str, look: DrawingOptions, output: str) -> None:
    """A drawing a pair into a folder; a pair that could not be compared is told."""
    from pathlib import Path

    from planner_eval.comparison.rows import STATES
    from planner_eval.results.drawing.layout import Drawing
    from planner_eval.results.drawing.overlay import conversation_scene

    form = drawn_form(form)
    diffs = (conversation_scene(*drawn) for drawn in rows if drawn[0].diff is not None)
    drawings = pe.render_many(diffs, format=form, color=is_colored(output), **look._asdict())

    def drawn() -> Iterator[NamedDrawing]:
        for row, _ in rows:
            message = (
                f"{row.state.replace('_', ' ')}: {(row.error or STATES[row.state]).partition(chr(10))[0]}"
            )
            yield NamedDrawing(
                row.id, row.id, next(drawings) if row.diff is not None else Drawing(error=message)
            )

    write_folder(drawn(), Path(output), form, len(rows), "pairs")


def effects_of(
    tools: Any, initial: str | None, records: Sequence[Record], *, values: bool = False
) -> Effects:
    """What runs the two plans of a pair, from the state of gold's record, else of the prediction's.

    Args:
        tools: The tools.
        initial: Where the user says that states are.
        records: The records that may hold one.
        values: Say what each call came to.
    """
    from planner_eval.comparison.rows import STATES
    from planner_eval.execution.run import initial_state_of
    from planner_eval.reading.files.states import find_states

    states = find_states(initial, records)
    unknown = {"verdict": "unknown", "results_same": False}
    unknown |= dict.fromkeys(("state_same", "outputs_seen", "reached"))

    def effects(row: Row, pred: Record | None, gold: Record | None) -> Mapping[str, Any]:
        if row.pred is None or row.gold is None:
            return {**unknown, "said": f"unknown: {STATES[row.state]}"}
        try:
            initial_states = [initial_state_of(states, record, tools) for record in (gold, pred)]
        except (InputError, ParseError) as error:
            return {**unknown, "said": f"unknown: {error}"}
        if initial_states[0] is not None and initial_states[1] not in (None, initial_states[0]):
            return {**unknown, "said": "unknown: the two records start from different states"}
        started = initial_states[0] if initial_states[0] is not None else initial_states[1]
        outcome = pe.compare_effects(row.pred, row.gold, tools, initial=started)
        return {**outcome.to_dict(), "values": outcome.values()} if values else outcome.to_dict()

    return effects


def say_effects(rows: Sequence[Row], *, many: bool) -> None:
    """Say what the plans of each pair come to, beside what has no room for it."""
    for row in rows:
        note(f"{row.id + ': ' if many else ''}{row.in_effect}")


def say_distance(rows: Sequence[Row], seconds: float) -> None:
    """Say the graph edit distance of one pair."""
    from planner_eval.comparison.metrics.edit_distance import distance_of

    if rows[0].diff is not None and rows[0].diff.matching is not None:
        distance = distance_of(rows[0].diff.matching, timeout=seconds)
        bound = (
            "proved" if distance.proved else f"at most: the search was stopped after {distance.seconds:.1f} s"
        )
        note(f"graph edit distance {distance.value:g} ({bound})")


# ----------------------------------------------------------------------
# planeval diff: is the prediction the gold plan, and if not, what differs.
DRAWN = ("overlay", "picture")
ASPECTS = (*RESULT_ASPECTS, *FINDING_ASPECTS, *DRAWN, "page")


@click.command("diff", cls=Command)
@argument("pred", "PRED")
@argument("gold", "GOLD|DATASET", required=False)
@pair_options
@option("--execute SPEC", "Run both plans with these tools and compare their effects.")
@option(
    "--initial FILE|FIELD",
    "The initial state of the tools of --execute: a JSON object, a .jsonl file of records "
    "with id and state, a field of the record, or none.",
)
@id_option("Compare only the record with this id")
@option("--patch", "Write the repair instead: what convert --patch takes.")
@option("--places", "Show line and column of each edit in both texts (one pair).")
@option("--all", "Show all edits, one per line (one pair).", "each")
@option("--structure", "Show how the structure differs, call by call.")
@option(
    "--edit-distance SECONDS",
    "Search this long for the exact graph edit distance (one pair).",
    "seconds",
    type=Seconds(zero=True),
)
@option("--only [failures]", "Hide pairs that are the same.")
@format_option(*ASPECTS)
@drawing_options
@work_options
@store_option
@output_options(folder=True)
def command(
    pred: str,
    gold: str | None,
    how: pe.Reading,
    policy: str | None,
    execute: str | None,
    initial: str | None,
    wanted: tuple[str, ...],
    patch: bool,
    places: bool,
    each: bool,
    structure: bool,
    seconds: float | None,
    only: str | None,
    form: str,
    look: DrawingOptions,
    running: WorkOptions,
    store: str | None,
    output: str | None,
) -> int:
    """Show how predicted plans differ from gold plans, where and why.

    PRED and GOLD are one plan each; files of records, paired by id, or by position if neither file has ids;
    or directories or quoted patterns of files, paired by name. One of them may be - for standard input.
    Labels and the order of independent calls and of arguments do not matter.
    Exit code: 0 the same; 1 different or unreadable; 2 usage error; 3 nothing could be compared.
    """
    from planner_eval.comparison.evaluate import refuse_unknown_names
    from planner_eval.results.runs.pairs import is_large
    from planner_eval.results.views.rows import format_rows

    if gold is None:
        refuse_runs(pred)
        refuse_absent(pred)
        raise missing_argument("gold")
    pred, gold = original_names(output, pred, gold)
    paired = pe.pair(*read_sides(pred, gold, how), reading=how, ids=wanted)
    many = (paired.pred.many or paired.gold.many) and len(wanted) != 1
    shape = _OutputSettings(form, patch, many, only is not None, is_folder(output))
    named = format_of_suffix(output, formats_of(*ASPECTS))
    misnamed = patch and named is not None and not shows(named, "data", "records", "plain")
    _refuse_idle(shape, output if misnamed else None, len(paired.pairs))
    # A world must be able to answer what gold asks; nothing is known of the prediction.
    tools = pe.tool_source(execute, seed="0", facts=paired.gold) if execute else None
    if tools is not None:
        say_unmet_facts(tools)
    effects = None
    if tools is not None:
        records = (
            [record for pair in paired.pairs for record in pair if record is not None] if initial else []
        )
        effects = effects_of(tools, initial, records, values=shape.paged)
    if shape.paged:
        return _write_page(paired, pred, gold, policy, running, output, effects, only=shape.only)
    reading = {**how._asdict(), "ids": wanted}
    row_options = {"places": places, "structure": structure, "each": each, "gold_named": paired.gold_named}
    job = _make_job(shape, reading, chosen_policy(policy), **row_options)
    rows: list[Row] = []
    if shape.pictured or seconds is not None or tools is not None:
        work = _compare_in_process(job, paired, rows, effects, quiet=running.quiet)
    else:
        run_options = _storage_settings(paired, output if shape.run else None, store)
        work = run_job(job, paired.pairs, running, large=is_large(paired.pred, paired.gold), **run_options)
    with work as (sums, lines):
        refuse_unknown_names(paired, sums.names, job.policy)
        if shape.pictured:
            _draw([*zip(rows, paired.pairs, strict=True)], shape, look, output)
        elif shape.run:
            emit(sums.said, None)
        elif not patch and shows(form, *FINDING_ASPECTS):
            emit_findings(findings_in(lines), form, output, sums.said, "planeval diff")
        else:
            emit(format_rows(lines, job.told, sums), output, plain=patch)
    if seconds is not None:
        say_distance(rows, seconds)
    if tools is not None and shows(form, *DRAWN):
        say_effects(rows, many=many)
    _say_reading(sums, paired, many=many, recognised=how.dialect is None)
    code: int = sums.code
    return max(code, int(bool(paired.repeated)))


class _OutputSettings(NamedTuple):
    """What is written: a format or a patch, of one pair or of many, all or those that differ, and where."""

    form: str
    patch: bool
    many: bool
    only: bool
    folder: bool

    @property
    def pictured(self) -> bool:
        """Whether it is drawn."""
        return not self.patch and shows(self.form, *DRAWN)

    @property
    def paged(self) -> bool:
        """Whether it is a page of all pairs."""
        return not self.patch and shows(self.form, "page")

    @property
    def run(self) -> bool:
        """Whether it is a run that is kept in a folder."""
        return self.folder and not self.pictured and not self.paged


def _make_job(
    shape: _OutputSettings,
    reading: dict[str, Any],
    policy: Policy,
    *,
    places: bool,
    structure: bool,
    each: bool,
    gold_named: bool,
) -> DiffJob:
    """What is compared and how it is told; a run keeps JSON lines of all pairs."""
    from planner_eval.results.runs.diff_job import DiffJob
    from planner_eval.results.views.rows import PATCH, ROW_FORMAT, RowSettings

    form = PATCH if shape.patch else "" if shape.pictured else ROW_FORMAT if shape.run else shape.form
    row_format = RowSettings(form, shape.many or shape.run, places, structure, each)
    located = places or shows(form, "data", "records", *FINDING_ASPECTS)
    return DiffJob(policy, reading, row_format, located, shape.only, gold_named)


@contextmanager
def _compare_in_process(
    job: DiffJob, paired: PairedFiles, rows: list[Row], effects: Effects | None, *, quiet: bool
) -> Iterator[WorkResult]:
    """All pairs compared in this process, for what is done with their plans."""
    sums = job.fold()
    lines = job.rows(paired.pairs, sums, rows.append, effects)
    yield WorkResult(sums, list(lines if quiet else count_items(lines, len(paired.pairs), "pairs")))


def _storage_settings(paired: PairedFiles, folder: str | None, store: str | None) -> dict[str, Any]:
    """How a run is kept: in a folder with what tells its files from others, or nowhere."""
    pred, gold = paired.pred, paired.gold

    def inputs() -> list[Input]:
        from planner_eval.results.runs.folder import input_of, inputs_of

        tables = click.get_current_context().meta.get("wrappers", ())
        wrappers = [input_of("wrappers", name) for name in tables]
        return [*inputs_of("pred", pred), *inputs_of("gold", gold), *wrappers]

    return storage_options(
        folder, store, pred, gold, given=(pred.name, gold.name), inputs=inputs,
        report=lambda sums: to_json(sums.report, 1),
    )  # fmt: skip


def _draw(rows: list[Drawn], shape: _OutputSettings, look: DrawingOptions, output: str | None) -> None:
    """Draw one pair or each."""
    selected = [drawn for drawn in rows if drawn[0].state != "same"] if shape.only else rows
    if output is not None and shape.folder:
        draw_each(selected, shape.form, look, output)
    else:
        emit(draw_pair(rows, shape.form, look, output), output)


def _write_page(
    paired: PairedFiles,
    pred: str,
    gold: str,
    policy: str | None,
    running: WorkOptions,
    output: str | None,
    effects: Effects | None,
    *,
    only: bool,
) -> int:
    """Write a page of all pairs."""
    from planner_eval.cli.report import diff_command, finish_page, page_settings

    view = page_settings(only=only, command=diff_command(pred, gold, paired, policy))
    ran: list[str] = []

    def counted(*pair: Any) -> Mapping[str, Any]:
        effect = {} if effects is None else effects(*pair)
        ran.append(str(effect.get("verdict")))
        return effect

    how = work_settings(running, paired) if effects is None else {"effects": counted}
    page = pe.report(paired, policy=chosen_policy(policy), shown=view, **how)
    note(f"{paired.said}; paired by {paired.by}")
    states = page.reports[0].states()
    code = finish_page(page, output)  # pairs are compared while the page is written
    wrong = states.get("same", 0) != sum(states.values()) or "different" in ran
    return max(code, int(wrong or bool(paired.repeated)))


def _refuse_idle(shape: _OutputSettings, misnamed: str | None, pairs: int) -> None:
    """Refuse options that would do nothing to what is written, and a file that is named as something else."""
    form, patch, many, _, folder, run = (*shape, shape.run)
    drawn, paged = shape.pictured, shape.paged
    if folder and (patch or paged or (run and is_option_passed("form"))):
        raise click.UsageError(
            "-o names a directory: add --format svg for one drawing per "
            "pair, --format none to keep the run, or name a file"
        )
    written = not (patch or drawn or paged or run)
    plain = shows(form, "plain") and not many
    in_full = not patch and (run or shows(form, "data", "records") or plain)
    refuse_idle(
        ("form execute", not patch, "without --patch, which writes JSON"),
        ("execute", not run, "to output in a file, not to a run's directory"),
        (
            "seconds",
            not (run or paged),
            "to output in a file, not to a run's directory, nor to --format html",
        ),
        ("initial", is_option_passed("execute"), "with --execute SPEC"),
        ("store", run, "with -o DIR/, which stores the run"),
        (
            "each",
            plain and not (patch or run),
            "to one pair as text (name it with --id); json, jsonl and html have all edits",
        ),
        ("places", in_full, "to one pair as text (name it with --id), and to json and jsonl"),
        (
            "structure",
            in_full,
            "to one pair as text (name it with --id), and to json and jsonl",
        ),
        ("seconds", pairs == 1, f"to one pair, and these are {pairs}: name one with --id"),
        (
            "only",
            paged or ((written or (folder and drawn)) and many),
            "to many pairs: listed in any format, as a report or drawn into a directory",
        ),
        ("force", drawn, "to drawings"),
        (
            "infer",
            drawn,
            "to drawings: inferred edges are drawn, and never count as differences",
        ),
        ("theme deadline", drawn, "to drawings"),
        (
            WorkOptions._fields[:-1],
            not (drawn or is_option_passed("execute") or is_option_passed("seconds")),
            "to single pairs: not to drawings, --execute and --edit-distance",
        ),
    )
    if misnamed is not None:
        raise click.UsageError(f"--patch writes JSON, and {misnamed} has another suffix")


def _say_reading(sums: DiffSums, paired: PairedFiles, *, many: bool, recognised: bool) -> None:
    """How records were paired, which notations were taken, and what a catalog would tell."""
    if many:
        repeated = f"; {len(paired.repeated)} left out: their id is already used" if paired.repeated else ""
        note(f"{paired.said}; paired by {paired.by}{repeated}")
    for role in ("pred", "gold"):
        names = sums.dialects_of(role)
        if names and recognised:
            note(f"{role} read as {', '.join(names)}")
        if ambiguous := sums.counts[f"{role} several"]:
            note(f"{role}: {ambiguous:,} with several choices or candidates; the first was read")
        if unread := sums.counts[f"{role} unread"]:
            whose = f"{unread:,} without calls, but the" if many else "no call was read, but the"
            note(f"{role}: {whose} text may hold one (parse shows where)")
        if restated := sums.counts[f"{role} restated"]:
            whose = f"{role}: {restated:,} with" if many else f"{role}:"
            note(f"{whose} calls that are repeated further on and counted once (planeval parse shows where)")
        if many and (turns := sums.counts[f"{role} turns"]):
            note(
                f"{role}: {turns:,} with calls of several turns of the assistant, all of which were read "
                "(choose one with --turn)"
            )
    if sums.wholes:
        note(
            f"{sum(sums.wholes.values()):,} of these references may mean a tool's whole result "
            f'({", ".join(sums.wholes)}): with catalog = "tools.json" in the policy they mean its only output'
        )
