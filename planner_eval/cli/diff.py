"""planeval diff: is the prediction the gold plan, and if not, what differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

import planner_eval as pe
from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.formats import DEFAULT, LISTING, format_of_suffix, formats_of, shows
from planner_eval.cli.options import (
    Seconds,
    as_command,
    is_option_passed,
    missing_argument,
    note,
    option,
    refuse_idle,
)
from planner_eval.cli.output import (
    FINDING_ASPECTS,
    RESULT_ASPECTS,
    DrawingOptions,
    Output,
    draw_each,
    draw_one,
    drawing_options,
    emit,
    findings_in,
    output_options,
    write_folder,
)
from planner_eval.cli.pairs import chosen_policy, pair_options, read_sides, work_settings
from planner_eval.cli.sources import id_option, original_names, refuse_absent, refuse_runs, say_unmet_facts
from planner_eval.cli.workers import PART_OPTIONS, Work, run_job, stored_work_options

if TYPE_CHECKING:
    from planner_eval.comparison.evaluate import PairedFiles
    from planner_eval.comparison.rows import PairReading, Row
    from planner_eval.reading.files.record import Record
    from planner_eval.results.runs.diff_job import DiffSums
    from planner_eval.results.runs.jobs import Effects


DRAWN = ("overlay", "picture")
ASPECTS = (*RESULT_ASPECTS, *FINDING_ASPECTS, *DRAWN, "page")


@as_command("diff", pred="PRED", gold="GOLD|DATASET?")
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
@drawing_options
@stored_work_options
@output_options(*ASPECTS, figures=["only"], folder=True)
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
    look: DrawingOptions,
    work: Work,
    output: Output,
) -> int:
    """Show how predicted plans differ from gold plans, where and why.

    PRED and GOLD are one plan each; files of records, paired by id, or by position if neither file has ids;
    or directories or quoted patterns of files, paired by name. One of them may be - for standard input.
    Labels and the order of independent calls and of arguments do not matter.
    Exit code: 0 the same; 1 different or unreadable; 2 usage error; 3 nothing could be compared.
    """
    from planner_eval.comparison.evaluate import refuse_unknown_names
    from planner_eval.results.runs.diff_job import PATCH, ROW_FORMAT, DiffJob, RowSettings, rows_of_pairs

    if gold is None:
        refuse_runs(pred)
        refuse_absent(pred)
        raise missing_argument("gold")
    pred, gold = original_names(output.file, pred, gold)
    paired = pe.pair(*read_sides(pred, gold, how), reading=how, ids=wanted)
    many = (paired.pred.many or paired.gold.many) and len(wanted) != 1
    result = _Result(output, patch, many)
    _refuse_idle(result, len(paired.pairs))
    # A world must be able to answer what gold asks; nothing is known of the prediction.
    tools = pe.tool_source(execute, seed="0", facts=paired.gold) if execute else None
    effects = None
    if tools is not None:
        say_unmet_facts(tools)
        records = [r for pair in paired.pairs for r in pair if r is not None] if initial else []
        effects = _effects_of(tools, initial, records, chosen_policy(policy), values=result.paged)
    if result.paged:
        return _write_page(paired, (pred, gold), policy, work, output, effects)
    form = PATCH if patch else "" if result.drawn else ROW_FORMAT if result.folder else output.form
    row_format = RowSettings(form, many or bool(result.folder), places, structure, each)
    located = places or shows(form, "data", "records", *FINDING_ASPECTS)
    reading = {**how._asdict(), "ids": wanted}
    rows: list[Row] = []
    in_memory = result.drawn or seconds is not None or tools is not None
    job = DiffJob(
        chosen_policy(policy), reading, row_format, located, output.failures, paired.gold_named, effects,
        rows.append if in_memory else None,
    )  # fmt: skip
    files = () if in_memory else (("pred", paired.pred), ("gold", paired.gold))
    with run_job(
        job, paired.pairs, work, files, folder=result.folder, given=[file.name for _, file in files],
        used=[("wrappers", name) for name in click.get_current_context().meta.get("wrappers", ())],
    ) as (sums, lines):  # fmt: skip
        refuse_unknown_names(paired, sums.names, job.policy)
        if result.drawn:
            _draw([*zip(rows, paired.pairs, strict=True)], output, look)
        elif result.folder:
            emit(sums.said, None)
        elif not patch and output.shows(*FINDING_ASPECTS):
            output.emit_findings(findings_in(lines), sums.said)
        else:
            output.emit(rows_of_pairs(lines, job.told, sums).write(row_format.written), plain=patch)
    if seconds is not None and rows[0].diff is not None and rows[0].diff.matching is not None:
        from planner_eval.comparison.metrics.edit_distance import distance_of

        distance = distance_of(rows[0].diff.matching, timeout=seconds)
        stopped = f"at most: the search was stopped after {distance.seconds:.1f} s"
        note(f"graph edit distance {distance.value:g} ({'proved' if distance.proved else stopped})")
    if tools is not None and result.drawn:
        note(*(f"{row.id + ': ' if many else ''}{row.in_effect}" for row in rows))
    _say_reading(sums, paired, many=many, recognised=how.dialect is None)
    code: int = sums.code
    return max(code, int(bool(paired.repeated)))


class _Result(NamedTuple):
    """What is written: a format or a patch, of one pair or of many, and where."""

    output: Output
    patch: bool
    many: bool

    @property
    def drawn(self) -> bool:
        """Whether it is drawn."""
        return not self.patch and self.output.shows(*DRAWN)

    @property
    def paged(self) -> bool:
        """Whether it is a page of all pairs."""
        return not self.patch and self.output.shows("page")

    @property
    def folder(self) -> str | None:
        """The folder of a run; None where none is kept."""
        return None if self.drawn or self.paged else self.output.folder


def _refuse_idle(result: _Result, pairs: int) -> None:
    """Refuse options that would do nothing to what is written, and a file that is named as something else."""
    output, patch, many = result
    drawn, paged, run = result.drawn, result.paged, result.folder is not None
    folder = output.folder is not None
    if folder and (patch or paged or (run and is_option_passed("form"))):
        raise click.UsageError(
            "-o names a directory: add --format svg for one drawing per "
            "pair, --format none to keep the run, or name a file"
        )
    plain = output.shows("plain") and not many
    full = not patch and (run or output.shows("data", "records") or plain)
    one_pair = "to one pair as text (name it with --id)"
    ran = is_option_passed("execute")
    refuse_idle(
        ("form execute", not patch, "without --patch, which writes JSON"),
        ("execute", not run, "to output in a file, not to a run's directory"),
        (
            "seconds",
            not (run or paged),
            "to output in a file, not to a run's directory, nor to --format html",
        ),
        ("initial", ran, "with --execute SPEC"),
        ("store", run, "with -o DIR/, which stores the run"),
        ("each", plain and not (patch or run), f"{one_pair}; json, jsonl and html have all edits"),
        ("places structure", full, f"{one_pair}, and to json and jsonl"),
        ("seconds", pairs == 1, f"to one pair, and these are {pairs}: name one with --id"),
        (
            "only",
            paged or (many and (folder if drawn else not (patch or run))),
            "to many pairs: listed in any format, as a report or drawn into a directory",
        ),
        ("force theme deadline", drawn, "to drawings"),
        ("infer", drawn, "to drawings: inferred edges are drawn, and never count as differences"),
        (
            PART_OPTIONS,
            not (drawn or ran or is_option_passed("seconds")),
            "to single pairs: not to drawings, --execute and --edit-distance",
        ),
    )
    named = format_of_suffix(output.file, formats_of(*ASPECTS))
    if patch and named is not None and not shows(named, "data", "records", "plain"):
        raise click.UsageError(f"--patch writes JSON, and {output.file} has another suffix")


def _effects_of(
    tools: Any, initial: str | None, records: Sequence[Record], policy: pe.Policy, *, values: bool
) -> Effects:
    """What runs the two plans of a pair, from the state of gold's record, else of the prediction's.

    Args:
        tools: The tools.
        initial: Where the user says that states are.
        records: The records that may hold one.
        policy: How values compare.
        values: Say what each call came to.
    """
    from planner_eval.comparison.rows import NO_ANSWER_STATES, STATES
    from planner_eval.execution.run import initial_state_of
    from planner_eval.reading.files.context import find_states

    states = find_states(initial, records)
    unknown = {"verdict": "unknown", "results_same": False}
    unknown |= dict.fromkeys(("state_same", "outputs_seen", "reached"))

    def effects(row: Row, pair: PairReading) -> Mapping[str, Any]:
        if row.state in NO_ANSWER_STATES:  # nothing is called, as of an answer in words
            return {
                **unknown,
                "verdict": "different",
                "reached": False,
                "said": f"different: {STATES[row.state]}",
            }
        if row.pred is None or pair.wanted.found is None:
            return {**unknown, "said": f"unknown: {STATES[row.state]}"}
        try:
            initial_states = [initial_state_of(states, record, tools) for record in (pair.gold, pair.pred)]
        except (InputError, ParseError) as error:
            return {**unknown, "said": f"unknown: {error}"}
        if initial_states[0] is not None and initial_states[1] not in (None, initial_states[0]):
            return {**unknown, "said": "unknown: the two records start from different states"}
        started = initial_states[0] if initial_states[0] is not None else initial_states[1]
        golds = sorted(pair.wanted.found.plans, key=lambda gold: gold[0] is not row.gold)  # the nearest first
        nearest_first = pair.wanted.found._replace(plans=tuple(golds))
        outcome = pe.compare_effects(row.pred, nearest_first, tools, policy=policy, initial=started)
        return {**outcome.to_dict(), "values": outcome.values()} if values else outcome.to_dict()

    return effects


def _draw(pairs: Sequence[tuple[Row, Sequence[Record | None]]], output: Output, look: DrawingOptions) -> None:
    """Draw one pair, or each into a folder, where those that could not be compared are told.

    Raises:
        InputError: there are several, or nothing to draw.
    """
    from planner_eval.results.drawing.overlay import conversation_scene

    form = DEFAULT if output.form == LISTING else output.form  # the listing of edits is text here
    if output.folder is None:
        if len(pairs) != 1:
            raise InputError(
                f"{len(pairs)} pairs do not fit one drawing: choose one with --id, "
                "or name a directory with -o"
            )
        ((row, records),) = pairs
        if row.diff is None:
            raise InputError(f"there is nothing to draw: {row.error or row.state.replace('_', ' ')}")
        output.emit(draw_one(conversation_scene(row, records), form, look, output.file))
        return
    pairs = [pair for pair in pairs if not (output.failures and pair[0].state == "same")]

    def items() -> Iterator[tuple[str, str, Any, str]]:
        for row, records in pairs:
            reason = row.reason.partition("\n")[0]
            scene = None if row.diff is None else conversation_scene(row, records)
            yield row.id, row.id, scene, f"{row.state.replace('_', ' ')}: {reason}"

    write_folder(draw_each(items(), form, look, output.file), output.folder, form, len(pairs), "pairs")


def _write_page(
    paired: PairedFiles,
    operands: tuple[str, str],
    policy: str | None,
    work: Work,
    output: Output,
    effects: Effects | None,
) -> int:
    """Write a page of all pairs."""
    from planner_eval.cli.report import diff_command, finish_page, page_settings

    view = page_settings(only=output.failures, command=diff_command(*operands, paired, policy))
    ran: list[str] = []

    def counted(*pair: Any) -> Mapping[str, Any]:
        effect = {} if effects is None else effects(*pair)
        ran.append(str(effect.get("verdict")))
        return effect

    how = work_settings(work, paired) if effects is None else {"effects": counted}
    page = pe.report(paired, policy=chosen_policy(policy), shown=view, **how)
    note(f"{paired.said}; paired by {paired.by}")
    states = page.reports[0].states()
    code = finish_page(page, output.file)  # pairs are compared while the page is written
    wrong = states.get("same", 0) != sum(states.values()) or "different" in ran
    return max(code, int(wrong or bool(paired.repeated)))


def _say_reading(sums: DiffSums, paired: PairedFiles, *, many: bool, recognised: bool) -> None:
    """How records were paired, which notations were taken, and what a catalog would tell."""
    if many:
        repeated = f"; {len(paired.repeated)} left out: their id is already used" if paired.repeated else ""
        note(f"{paired.said}; paired by {paired.by}{repeated}")
    for role in ("pred", "gold"):
        names = sums.dialects_of(role)
        if names and recognised:
            note(f"{role} read as {', '.join(names)}")
        for kind, of_many, of_one, remark in _READING_REMARKS:
            count, whose = sums.counts[f"{role} {kind}"], of_many if many else of_one
            if count and whose is not None:
                note(f"{role}: {whose.format(count)}{remark}")
    if sums.wholes:
        note(
            f"{sum(sums.wholes.values()):,} of these references may mean a tool's whole result "
            f'({", ".join(sums.wholes)}): with catalog = "tools.json" in the policy they mean its only output'
        )


_READING_REMARKS = (
    ("several", "{:,} with ", "{:,} with ", "several choices or candidates; the first was read"),
    (
        "unread",
        "{:,} without calls, but the ",
        "no call was read, but the ",
        "text may hold one (parse shows where)",
    ),
    (
        "passed over",
        "{:,} with ",
        "there is ",
        "text beside the calls that may hold another (parse shows where)",
    ),
    (
        "later turn",
        "{:,} texts go ",
        "the text goes ",
        "on with another turn, which was ignored (parse shows where)",
    ),
    (
        "restated",
        "{:,} with ",
        "",
        "calls that are repeated further on and counted once (planeval parse shows where)",
    ),
    (
        "turns",
        "{:,} with ",
        None,
        "calls of several turns of the assistant, all of which were read (choose one with --turn)",
    ),
)
"""What is counted of a side's readings: how many, of many pairs and of one (None where it goes without
saying), and what of them."""
