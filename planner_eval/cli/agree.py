"""planeval agree: a judge's verdicts beside a person's."""

from __future__ import annotations

import os
from typing import Any

import click
from click.core import ParameterSource

import planner_eval as pe
from planner_eval.base.text import format_count
from planner_eval.cli.options import as_command, note, option
from planner_eval.cli.output import RESULT_ASPECTS, Output, output_options, say_missed
from planner_eval.cli.pairs import chosen_policy, policy_option
from planner_eval.cli.sources import refuse_stdin_twice


@as_command("agree", first="VERDICTS", second="REFERENCE?")
@option(
    "--positive CLASS",
    "Count this class as yes and all others as no (default: yes/no if all verdicts "
    "can be read so, else classes).",
)
@option("--id-field NAME", "The field that holds a record's id.")
@option("--verdict-field NAME", "The field that holds a record's verdict.")
@option(
    "--fail-under FIGURE=X...",
    "Exit with 1 if a score is below X, e.g. kappa=0.6; for error rates, if above.",
)
@policy_option
@output_options(*RESULT_ASPECTS, figures=["fail_under"])
def command(
    first: str,
    second: str | None,
    positive: str | None,
    id_field: str | None,
    verdict_field: str | None,
    policy: str | None,
    output: Output,
) -> int:
    """Measure how well a judge's verdicts agree with a person's: agreement, kappa, and both kinds of errors.

    VERDICTS and REFERENCE are files of records with an id and a verdict (pass, no, 1, a class), paired by
    id: JSON, JSON lines, CSV, TSV, an object from ids to verdicts, or FunctionChat-Bench's own report. With
    one argument, a run of planeval score or a file of answers with gold and a recorded reward, success or
    score, "same as gold" is compared with what was recorded.
    Exit code: 0 compared; 1 a score misses its --fail-under threshold, or records are unmatched; 2 usage
    error; 3 nothing compared.
    """
    from planner_eval.results.agreement import agreement_view

    refuse_stdin_twice(first, second)
    how: dict[str, Any] = {"positive": positive, "id_field": id_field, "verdict_field": verdict_field}
    if second is None and not os.path.isdir(first):
        how["policy"] = chosen_policy(policy)
    elif click.get_current_context().get_parameter_source("policy") is ParameterSource.COMMANDLINE:
        wrong = (
            "a run stores the policy under which it was scored" if second is None else "verdicts have none"
        )
        raise click.UsageError(f"--policy is for one file of answers with gold: {wrong}")
    agreement = pe.agree(first, second, **how)
    limits = [
        limit.check(agreement.figure(limit.name), first, lower=limit.name.startswith("false"))
        for limit in output.limits
    ]
    output.emit_view(agreement_view(agreement, limits))
    missed = say_missed(limits)
    if agreement.left_over:
        note(f"{agreement.left_over:,} of {format_count(len(agreement.rows), 'record')} are not counted")
    if not agreement.n:
        note(
            "nothing could be compared: no record has a verdict on both sides; name the fields with "
            "--field id=NAME and --field verdict=NAME"
        )
        return 3
    return int(missed or bool(agreement.left_over))
