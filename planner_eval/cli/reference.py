"""planeval schema, doctor and selftest: what files may say, what this machine can do, how scorers do."""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING

import click

import planner_eval as pe
from planner_eval.base.output_files import RECORD_FORMATS, SINGLE_VALUE_FORMATS, format_of_suffix
from planner_eval.base.tables import table
from planner_eval.cli.help import Command
from planner_eval.cli.options import (
    OptionScope,
    Seconds,
    emit,
    format_option,
    output_option,
    output_options,
    refuse_idle,
)
from planner_eval.cli.pairs import chosen_policy, policy_option
from planner_eval.integrations.schemas import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from planner_eval.results.selftest import PairVerdict


# ----------------------------------------------------------------------
# planeval schema: JSON Schema of what people write by hand, and of reports.
@click.command("schema", cls=Command)
@click.argument("name", required=False, type=click.Choice(list(SCHEMAS)), metavar="[NAME]")
@output_options("json", "text")
def schema_command(name: str | None, output: str | None) -> int:
    """Print the JSON Schema (draft 2020-12) of a kind of file, for editors and CI; without NAME list them.

    What is written in TOML has the same structure. What no schema can say (a regular expression compiles, a
    call that is named exists) is checked when the file is used.
    """
    if name is None:
        rows = [{"schema": schema_name, "of": meaning} for schema_name, (_, _, meaning) in SCHEMAS.items()]
        emit(table(rows, format_of_suffix(output, ("json",)) or "text"), output)
        return 0
    emit(json.dumps(pe.schema(name), ensure_ascii=False, indent=1), output)
    return 0


# ----------------------------------------------------------------------
# planeval doctor: what this installation and this machine can do.
@click.command("doctor", cls=Command)
@format_option("text", *SINGLE_VALUE_FORMATS, help="How to write the findings.")
@output_option
def doctor_command(form: str, output: str | None) -> int:
    """Try what depends on the machine: isolation layer by layer, and the packages that are optional.

    Exit code: 0 hostile plans can be run at level strict here, 1 they cannot.
    """
    checks = pe.doctor()
    rows = [{"what": c.what, "state": "yes" if c.there else "no", "found": c.found} for c in checks]
    terminal = "yes" if sys.stdout.isatty() else "no"
    rows.append({"what": "terminal", "state": terminal, "found": "colours and progress"})
    emit(table(rows, form, width=100), output)
    return 0 if any(c.what == "isolation strict" and c.there for c in checks) else 1


# ----------------------------------------------------------------------
# planeval selftest: put a scorer to the 38 pairs.
@click.command("selftest", cls=Command)
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
def selftest_command(
    scorer: str | None, timeout: float, policy: str | None, form: str, output: str | None
) -> int:
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
