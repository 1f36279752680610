"""planeval selftest: put a scorer to the 38 pairs."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

import planner_eval as pe
from planner_eval.base.output_files import RECORD_FORMATS
from planner_eval.base.tables import table
from planner_eval.cli.options import OptionScope, Seconds, emit, format_option, output_option, refuse_idle
from planner_eval.cli.pairs import chosen_policy, policy_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from planner_eval.results.selftest import PairVerdict


@click.command("selftest")
@click.option(
    "--command",
    "scorer",
    metavar="COMMAND",
    help="Another scorer: a command that reads two plans, {pred} and {gold} in it standing for the "
    "files' names, and prints same or different, or says so by its exit code 0 or 1.",
)
@click.option(
    "--timeout",
    type=Seconds(),
    default=60.0,
    show_default=True,
    help="Seconds for one pair.",
    metavar="SECONDS",
)
@policy_option
@format_option("text", *RECORD_FORMATS, help="How to write the answers.")
@output_option
def command(scorer: str | None, timeout: float, policy: str | None, form: str, output: str | None) -> int:
    """Put the comparison, or any other scorer, to 38 pairs of plans of which the right answer is known.

    30 are beyond dispute; 8 hang on how values compare. Exit code: 0 when all 30 are right, else 1.
    """
    refuse_idle(
        [
            OptionScope(("policy",), scorer is None, "without --command: another scorer has its own"),
            OptionScope(("timeout",), scorer is not None, "with --command COMMAND"),
        ]
    )
    if scorer is None:
        answers = pe.selftest(policy=chosen_policy(policy))
    else:
        answers = pe.selftest(shlex.split(scorer), timeout=timeout)
    emit(_format_answers(answers, form), output)
    return int(not all(answer.right for answer in answers if not answer.disputed))


def _format_answers(answers: Sequence[PairVerdict], form: str) -> str:
    rows = [
        {
            "id": answer.id,
            "pair": answer.what,
            "same": _verdict_word(answer.same) + (" (by policy)" if answer.disputed else ""),
            "answer": _verdict_word(answer.answer) if answer.answer is not None else "none",
            "": ""
            if answer.right
            else "policy"
            if answer.disputed and answer.answer is not None
            else "wrong",
            "error": answer.error or None,
        }
        for answer in answers
    ]
    if not any(answer.error for answer in answers):
        for row in rows:
            del row["error"]
    text = table(rows, form)
    if form != "text":
        return text
    sure = [answer for answer in answers if not answer.disputed]
    right = sum(answer.right for answer in sure)
    return f"{text}\n\n{right} of {len(sure)} beyond dispute are right"


def _verdict_word(same: bool) -> str:
    return "same" if same else "different"
