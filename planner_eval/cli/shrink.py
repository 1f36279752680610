"""planeval shrink: the smallest pair of plans that still shows something."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.base.json_text import dump_indented
from planner_eval.base.output_files import write
from planner_eval.base.text import format_count, printable
from planner_eval.cli.benchmarks import OVERRIDDEN_READING, parse_settings
from planner_eval.cli.options import COUNT, Seconds, as_command, is_option_passed, note, option, refuse_idle
from planner_eval.cli.output import Output, output_options
from planner_eval.cli.pairs import chosen_policy, read_sides, written_pair_options
from planner_eval.cli.sources import id_option, refuse_runs, refuse_stdin_twice
from planner_eval.cli.terminal import make_counter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from planner_eval.curation.shrink.shrink import Shrunk, ShrunkSide


@as_command("shrink", pred="PRED", gold="GOLD|DATASET")
@option("--code CODE", "The pair must show an edit with this code.")
@option(
    "--while COMMAND", "This shell command must exit with 0; {pred} and {gold} are the two files.", "command"
)
@option(
    "--differs official:corrected",
    "These two scores of --benchmark must differ; GOLD is the benchmark's data.",
)
@option("--benchmark NAME", "With --differs: the benchmark.")
@option(
    "--figure NAME",
    "With --differs: this metric (default: whether it is solved, else the first that differs).",
)
@option(
    "--set NAME=VALUE...",
    "With --differs: an option of the benchmark, e.g. task=routing.",
    "settings",
)
@written_pair_options
@id_option("The pair with this id")
@option("--record N", "The pair with this number, from 1.", "number", type=COUNT)
@option("--to NOTATION", "The notation to write plans in (default: each side's own).")
@option("--tries N", "Try at most this many pairs.", type=COUNT, default=10_000)
@option("--deadline SECONDS", "Stop after this time.", type=Seconds())
@option(
    "--try-deadline SECONDS",
    "With --while: time limit for one run of the command; longer counts as a failure to show it.",
    type=Seconds(),
    default=60.0,
)
@output_options(
    "plain", "data", folder=True, into="both plans in files of their own and shrunk.json into a directory"
)
def command(
    pred: str,
    gold: str,
    settings: tuple[str, ...],
    how: pe.Reading,
    policy: str | None,
    wanted: tuple[str, ...],
    output: Output,
    **shrinking: Any,
) -> int:
    """Reduce a pair of plans to the smallest one that still fails.

    PRED and GOLD are one plan each, or files of records, of which --id or --record chooses one pair.
    Calls are removed with their consumers, or with the references to them; arguments, references and
    parts of values are removed, and other values are simplified, on both sides or on one. Every pair
    tried is written and read again. No single such step can make the result smaller.
    Exit code: 0 the smallest pair was found; 1 a limit ended the search, or the command's answers vary; 2
    usage error; 3 the original pair does not fail in this way; 130 interrupted. The smallest pair so far
    is written in any case.
    """
    from planner_eval.results.runs.worker import InterruptOnSignal

    scored = shrinking["differs"] is not None
    refuse_idle(
        ("benchmark figure settings", scored, "with --differs official:corrected"),
        (
            (*OVERRIDDEN_READING, "folder"),
            not scored,
            "without --differs: a benchmark has its own notation and metrics",
        ),
        ("try_deadline", is_option_passed("command"), "with --while COMMAND"),
        ("form", output.folder is None, "to a file or standard output: a directory gets both"),
    )
    refuse_stdin_twice(pred, gold)
    refuse_runs(pred, gold)
    if sum(shrinking[name] is not None for name in ("code", "command", "differs")) != 1:
        raise click.UsageError("say what the pair must show: --code, --while or --differs")
    if len(wanted) > 1:
        raise click.UsageError("--id names one pair here")
    pair: tuple[Any, Any] = (pred, gold)
    inputs = [pred, gold]
    if scored:
        shrinking["settings"] = parse_settings(settings)
    else:
        pair = read_sides(pred, gold, how)
        inputs += [name for file in pair for name in file.parts]
    protected = frozenset(map(os.path.realpath, inputs))  # as they were before
    tell = make_counter("tries")
    with InterruptOnSignal():
        shrunk = pe.shrink(
            *pair,
            reading=how,
            id=wanted[0] if wanted else None,
            policy=chosen_policy(policy),
            **shrinking,
            progress=lambda tried, _left: tell(tried, None),
        )
    if output.folder:
        _write_folder(output.folder, shrunk, protected)
    else:
        data = output.shows("data")
        output.emit(dump_indented(shrunk.to_dict()) if data else "\n".join(_lines(shrunk)))
    note(*shrunk.notes, f"{shrunk.shows}: {shrunk.said}")
    return {"smallest": 0, "interrupted": 130}.get(shrunk.ended, 1)


def _write_folder(folder: str, shrunk: Shrunk, protected: frozenset[str]) -> None:
    """Write both plans, and what was found, into a folder.

    Raises:
        InputError: one of the files is read by this command.
    """
    os.makedirs(folder, exist_ok=True)
    files = {
        f"pred{shrunk.pred.suffix}": shrunk.pred.filed,
        f"gold{shrunk.gold.suffix}": shrunk.gold.filed,
        "shrunk.json": dump_indented(shrunk.to_dict()),
    }
    for name in files:
        file = os.path.join(folder, name)
        if os.path.realpath(file) in protected and not os.path.islink(file):
            raise InputError(f"{file} is an input of this command: name another folder")
    for name, text in files.items():
        write(os.path.join(folder, name), text, follow=False)
    note(f"{', '.join(files)} written into {folder}")


def _lines(shrunk: Shrunk) -> Iterator[str]:
    """Both sides, and what differs between them."""
    for name, reduced in (("pred", shrunk.pred), ("gold", shrunk.gold)):
        yield f"{name}{_size_text(reduced)}"
        yield from (f"  {line}" for line in printable(reduced.text).split("\n"))
    compared = shrunk.diff
    words = any(p.dialect is None and not (p.plan and p.plan.calls) for p in (shrunk.pred, shrunk.gold))
    if compared is not None and not words:  # what is left of a text may be words, which call nothing
        yield str(compared)


def _size_text(reduced: ShrunkSide) -> str:
    if reduced.plan is None or reduced.dialect is None:
        return f", a text of {format_count(len(reduced.text), 'character')}"
    calls, arguments = reduced.after.calls, reduced.after.arguments
    return f", {reduced.dialect}: {format_count(calls, 'call')}, {format_count(arguments, 'argument')}"
