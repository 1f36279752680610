"""planeval compare: two sets of predictions for the same gold plans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.formats import DRAWN, WHOLE, of_suffix
from planner_eval.cli.options import emit, note, output, picture, seed_option, written
from planner_eval.cli.pairs import scored_pairs
from planner_eval.cli.policy import chosen_policy
from planner_eval.cli.sources import read_sides
from planner_eval.cli.terminal import counted

if TYPE_CHECKING:
    from planner_eval.scoring.compare import Contrast


@click.command("compare")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--gold", required=True, metavar="GOLD", help="The gold plans of both.")
@scored_pairs
@click.option(
    "--metric", "metrics", multiple=True, metavar="NAME", help="A metric or a group; may be given again."
)
@click.option(
    "--by",
    "keys",
    multiple=True,
    metavar="KEY",
    help="Break the differences down by calls, depth or pattern of the gold plan, or by a field of its "
    "record. When left out: all of these, and difficulty, domain and category where records have them.",
)
@seed_option
@picture("--mistaken", DRAWN, "Draw which tool was taken for which; the suffix says how.")
@written("text", *WHOLE)
@output
def command(
    first: str,
    second: str,
    gold: str,
    how: pe.Reading,
    policy: str | None,
    metrics: tuple[str, ...],
    keys: tuple[str, ...],
    seed: int,
    mistaken: str | None,
    form: str,
    output: str | None,
) -> int:
    """Compare the predictions A and B for the same gold plans: paired differences and whether they are sure.

    First what became of the records of each: a prediction that is unreadable or absent counts as wrong,
    one that small repairs make readable does not, unless --strict is given.
    Yes-or-no figures by the exact sign test, others by a permutation test over samples; then the records
    that flipped, and which tool was taken for which. Exit code: 0 compared, 2 usage, 3 nothing could be
    compared.
    """
    from planner_eval.scoring.compare import write_contrast

    (one, other), golds = read_sides([first, second], gold, how)
    chosen: dict[str, Any] = {"metrics": metrics} if metrics else {}
    found = pe.compare(
        one,
        other,
        golds,
        policy=chosen_policy(policy),
        by=keys,
        seed=seed,
        reading=how,
        names=_names((first, second)),
        progress=counted(),
        **chosen,
    )
    emit(write_contrast(found, form), output)
    _say_unread(found, strict=not how.repair)
    said = (
        f"{name}: {found.read[side]}" for name, side in zip(found.names, ("first", "second"), strict=True)
    )
    note(f"answers of {', of '.join(said)}; gold: {found.read['gold']}")
    if mistaken:
        _draw(found, mistaken)
    return 0 if found.n else 3


def _say_unread(found: Contrast, *, strict: bool) -> None:
    """Warn of predictions that could not be read: what follows is then as much about quotes as plans."""
    for name, counts in zip(found.names, found.records, strict=True):
        if counts.unreadable:
            hint = "; without --strict small faults are mended" if strict else ""
            note(
                f"{name}: {counts.unreadable} of {counts.records} predictions cannot be read "
                f"and count as wrong{hint}"
            )


def _names(files: tuple[str, str]) -> tuple[str, str]:
    """The files' names without what they share, for the heads of columns."""
    from pathlib import Path

    first, second = (Path(file).stem for file in files)
    return (
        (first, second) if first != second else (files[0], files[1]) if files[0] != files[1] else ("A", "B")
    )


def _draw(found: Contrast, file: str) -> None:
    from planner_eval.drawing import render
    from planner_eval.scoring.compare import mistaken_scene

    emit(render(mistaken_scene(found), format=of_suffix(file, DRAWN) or "svg"), file)
