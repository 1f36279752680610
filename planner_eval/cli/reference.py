"""planeval schema, doctor, selftest and explain: what files, machines, scorers and codes are like."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.formats import DEFAULT, format_of_suffix, formats_of, rows_view
from planner_eval.base.tables import TEXT
from planner_eval.base.text import to_json
from planner_eval.cli.help import Command
from planner_eval.cli.options import Seconds, as_command, option, refuse_idle
from planner_eval.cli.output import LIST_ASPECTS, Output, emit, file_option, output_options
from planner_eval.cli.pairs import chosen_policy, policy_option
from planner_eval.integrations.schemas import SCHEMAS
from planner_eval.results.codes import code_entries, explain_code, find_codes, term_entries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from planner_eval.results.selftest import PairVerdict


# ----------------------------------------------------------------------
# planeval schema: JSON Schema of what people write by hand, and of reports.
@click.command("schema", cls=Command)
@click.argument("name", metavar="[NAME]", required=False, type=click.Choice(list(SCHEMAS)))
@file_option("data", "plain")
def schema_command(name: str | None, output: str | None) -> int:
    """Print the JSON Schema (draft 2020-12) of an input file or a report; without NAME, list them.

    TOML files have the same structure. What a schema cannot express (a valid regular expression, an
    existing call) is checked when the file is used.
    """
    if name is None:
        rows = [{"schema": schema_name, "of": meaning} for schema_name, (_, _, meaning) in SCHEMAS.items()]
        emit(rows_view(rows).write(format_of_suffix(output, formats_of("data")) or DEFAULT), output)
        return 0
    emit(to_json(pe.schema(name), 1), output)
    return 0


# ----------------------------------------------------------------------
# planeval doctor: what this installation and this machine can do.
@as_command("doctor")
@output_options(*LIST_ASPECTS)
def doctor_command(output: Output) -> int:
    """Check what works on this machine: isolation, layer by layer, and optional packages.

    Exit code: 0 untrusted plans can run here with --isolation strict; 1 they cannot.
    """
    checks = pe.doctor()
    rows = [{"what": c.what, "state": "yes" if c.there else "no", "found": c.found} for c in checks]
    terminal = "yes" if sys.stdout.isatty() else "no"
    rows.append(
        {
            "what": "terminal",
            "state": terminal,
            "found": "standard output is a terminal: colours and progress",
        }
    )
    output.emit_rows(rows, 100)
    return 0 if any(c.what == "isolation strict" and c.there for c in checks) else 1


# ----------------------------------------------------------------------
# planeval selftest: put a scorer to the 38 pairs.
@as_command("selftest")
@option(
    "--command COMMAND",
    "Another scorer: a command with {pred} and {gold} for the file "
    "names, that prints same or different, or exits with 0 or 1.",
    "scorer",
)
@option("--timeout SECONDS", "Time limit for one pair, in seconds.", type=Seconds(), default=60.0)
@policy_option
@output_options(*LIST_ASPECTS, "records")
def selftest_command(scorer: str | None, timeout: float, policy: str | None, output: Output) -> int:
    """Test the comparison, or any other scorer, on 38 pairs of plans with known verdicts.

    30 are undisputed; 8 depend on how values are compared.
    Exit code: 0 all 30 undisputed pairs are right; 1 they are not.
    """
    refuse_idle(
        ("policy", scorer is None, "without --command: another scorer has its own"),
        ("timeout", scorer is not None, "with --command COMMAND"),
    )
    if scorer is None:
        answers = pe.selftest(policy=chosen_policy(policy))
    else:
        answers = pe.selftest(shlex.split(scorer), timeout=timeout)
    rows, sure = _answer_rows(answers), [answer for answer in answers if not answer.disputed]
    view = rows_view(rows)
    if output.shows("plain"):
        right = sum(answer.right for answer in sure)
        said = f"\n\n{right} of {len(sure)} undisputed pairs are judged right"
        view = view._replace(document=lambda style: [style.table(rows), said])
    output.emit_view(view)
    return int(not all(answer.right for answer in sure))


def _answer_rows(answers: Sequence[PairVerdict]) -> list[dict[str, Any]]:
    failed = any(answer.error for answer in answers)
    return [
        {
            "id": answer.id,
            "pair": answer.what,
            "expected": _verdict_word(answer.same) + " (by policy)" * answer.disputed,
            "answer": _verdict_word(answer.answer),
            "": ""
            if answer.right
            else "policy"
            if answer.disputed and answer.answer is not None
            else "wrong",
            **({"error": answer.error or None} if failed else {}),
        }
        for answer in answers
    ]


def _verdict_word(same: bool | None) -> str:
    return "none" if same is None else "same" if same else "different"


# ----------------------------------------------------------------------
# planeval explain: what a code or a term means, an example and what to do.
@as_command("explain", code="[CODE]?")
@file_option("plain")
def explain_command(code: str | None, output: str | None) -> int:
    """Explain a word of an output: a code, an outcome, a metric or a label of a table or page.

    CODE is a name that outputs show, such as check.enum, unreadable, exact or "root cause", or a family, such
    as check. Shown are its meaning, an example and what to do. Without CODE, all are listed.
    """
    if code is None:
        rows = [
            {"code": entry.code, "meaning": "; ".join(entry.meanings)}
            for entry in (*code_entries().values(), *term_entries())
        ]
        emit(TEXT.table(rows), output)
    else:
        emit("\n\n".join(map(explain_code, find_codes(code))), output)
    return 0
