"""planeval data make: new gold plans of wanted structure."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.formats import of_suffix
from planner_eval.base.jsontext import indented
from planner_eval.base.text import counted as said_of
from planner_eval.cli.options import Applies, Decorator, emit, note, outputs, refuse_idle, was_given
from planner_eval.cli.questions import Questions, code_of, marked, questioning
from planner_eval.cli.requesting import confining
from planner_eval.cli.targets import Target
from planner_eval.cli.terminal import counted as counter
from planner_eval.making.layouts import FORMS, LISTED, OWN
from planner_eval.making.presets import PRESETS

if TYPE_CHECKING:
    from planner_eval.verbs.making import MadePlans


def _range(flag: str, help: str) -> Decorator:
    return click.option(flag, metavar="N|N..M", help=help)


@click.command("make")
@click.option(
    "--catalog",
    "catalogs",
    metavar="FILE",
    multiple=True,
    help="The tools that there are: a file in any known format, or world:NAME; several add up.",
)
@click.option("--catalog-format", metavar="FORMAT", help="The catalog's format; recognised when left out.")
@click.option(
    "--tools",
    metavar="SPEC",
    help="What runs the plans: nestful, world:NAME, tools.py, package.module; without it they are not run.",
)
@click.option("--preset", type=click.Choice([*PRESETS]), help="What a published benchmark wanted of plans.")
@click.option(
    "-n", "n", metavar="N", type=click.IntRange(min=1), default=10, show_default=True, help="How many plans."
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Where chance comes from."
)
@_range("--calls", "How many calls a plan has.")
@_range("--depth", "How many calls follow on one another: its generations.")
@_range("--width", "How many calls its largest generation has.")
@_range("--components", "How many pieces it has that nothing joins.")
@_range("--reuse", "How often outputs are used again, beyond the first use of each.")
@click.option(
    "--pattern",
    metavar="PATTERN",
    help="chain, fan-out, fan-in, diamond, independent, or a shape as stats and data coverage write it.",
)
@click.option(
    "--scope",
    type=click.Choice(["ss", "sm", "ms", "mm"]),
    help="AppBench's: one app or several, one call of it or several.",
)
@click.option("--single", is_flag=True, help="One call alone gives the answer, as NESTful has it.")
@click.option(
    "--join",
    type=click.Choice(["auto", "name", "type"]),
    help="What makes an output one that a parameter takes: name and type, type alone, or the name where it "
    "says something (auto, the default).",
)
@click.option(
    "--distinct",
    type=click.Choice(["skeleton", "values"]),
    help="No two plans have the same calls and references (skeleton, the default), or the same with all "
    "values.",
)
@click.option(
    "--distractors",
    metavar="K",
    type=click.IntRange(min=0),
    help="Offer K tools beside those that a plan needs.",
)
@click.option(
    "--offer",
    type=click.Choice(["close", "random"]),
    help="With --distractors: those most like the needed ones (the default), or any.",
)
@click.option(
    "--like",
    metavar="FILE|DATASET",
    help="Make plans with the calls and references of these, and other values.",
)
@click.option(
    "--fill",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="What no plan touches, as data coverage --to-make writes it: touch that first.",
)
@click.option("--to", type=click.Choice([*FORMS]), help="The layout of the records; planeval when left out.")
@click.option(
    "--tries",
    metavar="N",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="End after N attempts in a row that bring nothing new.",
)
@confining
@click.option(
    "--card",
    metavar="FILE",
    type=Target(forms=("text", "md", "json")),
    help="Write to FILE what was made beside what was wanted, as text, Markdown or JSON by its suffix.",
)
@questioning
@outputs("jsonl", "json")
def command(
    catalogs: tuple[str, ...],
    catalog_format: str | None,
    n: int,
    card: str | None,
    output: str | None,
    like: str | None,
    single: bool,
    questions: Questions,
    **make_options: Any,
) -> int:
    """Make gold plans of wanted structure out of tools, and write them as records.

    Outputs of tools are joined with parameters by name and type; values come from the catalog or from what a
    world holds; with --tools each plan is run, and kept only if every call gives something and depends on
    all that it takes. No two plans are alike. N..M are bounds. Plans need no model. Their queries stay empty
    without --question template, which tells each plan, or --model, whose questions are checked and judged.
    Exit code: 0 all are made, 1 fewer, for nothing new came up, or some without the query that was asked for,
    2 usage or wishes that these tools cannot meet, 3 none, or none with its query.
    """
    refuse_idle(
        [
            Applies(("catalog_format",), bool(catalogs), "to a catalog, and none is given"),
            Applies(("offer",), was_given("distractors"), "with --distractors K"),
            Applies(
                ("isolation", "timeout"),
                make_options["tools"] is not None or make_options["preset"] is not None,
                "to tools that run plans",
            ),
            Applies(
                ("calls", "depth", "width", "components", "reuse", "pattern", "scope", "single"),
                like is None,
                "without --like, whose plans say what structure they have",
            ),
        ]
    )
    questions.refuse()
    progress = counter("plans")
    messages: list[str] = []

    def tell(message: str) -> None:
        messages.append(message)
        note(message)

    made_plans = pe.make(
        n,
        catalog=_catalog(catalogs, catalog_format),
        like=like,
        single=single or None,
        progress=progress,
        tell=tell,
        **make_options,
    )
    asked_for = questions.to(made_plans.made)
    made_plans = replace(made_plans, made=marked(asked_for, keep_refused=made_plans.form == OWN))
    if made_plans.made:
        emit(_written(made_plans, output), output, plain=True)
    if left := len(asked_for) - len(made_plans.made):
        message = f"{said_of(left, 'plan')} without a query: left out"
        note(f"{message}, for records of {made_plans.form} have no place for the reason; --to {OWN} keeps it")
    if card is not None:
        emit(_card(made_plans, card), card)
    for message in made_plans.notes:
        if message not in messages:
            note(message)
    note(made_plans.said or f"{said_of(len(asked_for), 'plan')} made, {made_plans.card.attempts:,} drawn")
    return 3 if not asked_for else max(int(bool(made_plans.said)), code_of(asked_for))


def _catalog(names: tuple[str, ...], form: str | None) -> Any:
    """The catalog; one that is named alone stays a name, for a world is more than its catalog."""
    if not names:
        return None
    return names[0] if len(names) == 1 and form is None else pe.read_catalog(names, form)


def _written(made_plans: MadePlans, output: str | None) -> list[str]:
    """The records: a line each, or one list where the benchmark has it so."""
    records = made_plans.records()
    form = of_suffix(output, ("json", "jsonl")) or ("json" if made_plans.form in LISTED else "jsonl")
    if form == "json":
        return [indented(records) + "\n"]
    return [json.dumps(record, ensure_ascii=False) + "\n" for record in records]


def _card(made_plans: MadePlans, file: str) -> str:
    form = of_suffix(file, ("text", "md", "json")) or "text"
    return indented(made_plans.card.to_dict()) if form == "json" else made_plans.card.written(form)
