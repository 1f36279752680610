"""planeval data check: what is irregular in gold plans, and which of them may be wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.formats import CI
from planner_eval.base.text import counted
from planner_eval.cli.ci import emit_findings
from planner_eval.cli.data_check_shown import shown, summary
from planner_eval.cli.options import Applies, emit, note, output, reading, refuse_idle, written
from planner_eval.cli.requesting import binding as passing
from planner_eval.cli.requesting import confining
from planner_eval.cli.sources import dataset_places, opened_sets, refuse_stdin_twice
from planner_eval.cli.targets import Target
from planner_eval.cli.terminal import counted as counter

if TYPE_CHECKING:
    from planner_eval.verbs.dataset_check import DatasetCheck


@click.command("check")
@click.argument("name", metavar="FILE|DATASET")
@click.option(
    "--catalog",
    "catalogs",
    metavar="FILE",
    multiple=True,
    help="The tools on offer: a file in any known format, or world:NAME; several add up. Left out, those "
    "that each record brings.",
)
@click.option("--catalog-format", metavar="FORMAT", help="The catalog's format; recognised when left out.")
@click.option(
    "--tools",
    "spec",
    metavar="SPEC",
    help="Run gold with these tools, as execute takes them; left out, with those that come along for a data "
    "set, and of a file no plan is run.",
)
@confining
@passing
@click.option("--allow-read", metavar="PATH", multiple=True, help="A file or folder that tools may read.")
@click.option(
    "--query",
    metavar="FIELD",
    help="The field of a record that holds the question or conversation; recognised when left out.",
)
@click.option(
    "--answer",
    metavar="FIELD",
    help="The field of a record that holds what its plan should come to; gold_answer when left out.",
)
@click.option(
    "--select",
    metavar="CODE",
    multiple=True,
    help="Look only for findings whose code is CODE or begins so; repeatable.",
)
@click.option(
    "--ignore",
    metavar="CODE",
    multiple=True,
    help="Leave out findings whose code is CODE or begins so; repeatable.",
)
@click.option(
    "--confidence",
    type=click.Choice(["high", "medium", "low"]),
    default="high",
    show_default=True,
    help="How sure a doubt about gold has to be to be shown and to count.",
)
@click.option(
    "--runs",
    metavar="RUN",
    multiple=True,
    help="What a model said to the same records: the folder of a run of predict or score, or a file of "
    "predictions, joined by id; repeatable. Where models agree on another plan, gold is in doubt.",
)
@click.option(
    "--baseline", metavar="FILE", help="What is in FILE, which --write-baseline wrote, does not count."
)
@click.option(
    "--write-baseline",
    metavar="FILE",
    type=Target(forms=("json",)),
    help="Write all that was found to FILE, however sure, for --baseline.",
)
@click.option(
    "--examples", type=click.IntRange(0), default=3, show_default=True, help="Examples of an irregularity."
)
@reading
@dataset_places
@written("text", "md", "json", *CI, help="How to write the result.")
@output
def command(
    name: str,
    catalogs: tuple[str, ...],
    catalog_format: str | None,
    spec: str | None,
    isolation: str | None,
    timeout: float,
    allow_read: tuple[str, ...],
    runs: tuple[str, ...],
    write_baseline: str | None,
    examples: int,
    form: str,
    output: str | None,
    dialect: str | None,
    **check_options: Any,
) -> int:
    """Say which gold plans may be wrong, and what is irregular in a data set.

    FILE holds records of gold plans; DATASET is a name of 'planeval data list'. Gold is held against its
    tools and its question, looked through for calls that it makes for nothing, and run where there are
    tools for it, its result held against the gold answer; records of one question are held beside each
    other, and gold against what models said. Of a data set every irregularity is counted, and gold is scored
    against itself. Exit code: 0 nothing was found, 1 something was, 2 usage, 3 nothing could be read.
    """
    fields = {key: check_options.pop(key) for key in ("id_field", "text_field", "turn", "cache", "folder")}
    refuse_stdin_twice(name, *runs)
    source = opened_sets([name], fields)[0]
    executed = spec is not None or (source.dataset is not None and bool(source.dataset.tools))
    refuse_idle(
        [
            Applies(("catalog_format",), bool(catalogs), "to a catalog, and none is given"),
            Applies(
                ("isolation", "timeout", "binding", "allow_read"),
                executed,
                "with --tools, without which no plan is run",
            ),
            Applies(
                ("query", "answer"), source.file is not None, "to files: a data set says itself what it asks"
            ),
        ]
    )
    check = pe.check_dataset(
        source,
        catalog=pe.read_catalog(catalogs, catalog_format) if catalogs else None,
        tools=pe.tool_source(spec) if spec is not None else None,
        isolation=isolation, timeout=timeout, allow_read=allow_read, dialect=dialect, examples=examples,
        runs=runs, progress=counter("gold plans"), **check_options,
    )  # fmt: skip
    if write_baseline is not None:
        emit(json.dumps(check.baseline(), ensure_ascii=False, indent=1), write_baseline, plain=True)
    if form in CI:
        emit_findings([d.shown for d in check.doubts], form, output, _said(check), "planeval data check")
    else:
        narrowed = bool(check_options["select"] or check_options["ignore"])
        emit(shown(check, form=form, examples=examples, narrowed=narrowed), output)
    _tell(check)
    if not check.checked.plans:
        return 3
    return 0 if check.clean else 1


def _said(check: DatasetCheck) -> str:
    """What all is about, in one line."""
    plans = counted(check.checked.plans, "gold plan")
    return f"{plans} of {check.name}: {summary(check)}"


def _tell(check: DatasetCheck) -> None:
    """Say what stands beside the result: what was left out, and what was not looked at."""
    for message in check.notes:
        note(message)
    ran = check.ran
    if ran.lacking:
        note(
            f"{counted(ran.lacking, 'gold plan')} not run: {ran.tools} does not have all that they call; "
            f"{ran.plans:,} run"
        )
    if check.known:
        note(f"{counted(check.known, 'finding')} of the baseline left out")
    if check.unsure:
        total = sum(check.unsure.values())
        counts = ", ".join(f"{count:,} {name}" for name, count in sorted(check.unsure.items(), reverse=True))
        least = "low" if "low" in check.unsure else "medium"
        note(f"{counted(total, 'less sure finding')} left out ({counts}): --confidence {least} shows them")
