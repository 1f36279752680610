"""planeval data make: new gold plans of wanted structure, and questions to them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

import planner_eval as pe
from planner_eval.base.formats import DEFAULT, View, format_of_suffix, formats_of, shows
from planner_eval.base.json_text import dump_indented
from planner_eval.base.text import format_count, one_line, to_json
from planner_eval.cli.options import (
    COUNT,
    WHOLE,
    as_command,
    bundle_options,
    is_option_passed,
    note,
    option,
    refuse_idle,
)
from planner_eval.cli.output import emit, file_option
from planner_eval.cli.predict import PredictProgress, amount_text, parse_setting, resumable, tokens_text
from planner_eval.cli.sources import CatalogOptions, catalog_options, isolation_options, request_options
from planner_eval.cli.terminal import Target, make_counter
from planner_eval.curation.make.skeletons import JSON_LIST_LAYOUTS, LAYOUTS, OWN_LAYOUT, PRESETS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from planner_eval.curation.make.ask_questions import NoQuestion
    from planner_eval.curation.make.make import MadePlans
    from planner_eval.curation.make.record import Made
    from planner_eval.models.judges import Endpoint


# ----------------------------------------------------------------------
# Who writes the questions to made plans: the options, the asking, and what is said of it.
_FAILURE_CODES = ("transport", "context", "refused", "unasked", "missing")
"""Codes of plans to which nobody could be asked, whose answers no cache keeps."""


class QuestionOptions(NamedTuple):
    """Who writes questions, and what they have to be, as the options of :func:`question_options` say."""

    question: str | None
    model: str | None
    judge: str | None
    language: str | None
    quality: int | None
    attempts: int | None
    prompts: str | None
    settings: tuple[str, ...]
    concurrency: int
    endpoint: Endpoint

    def refuse(self) -> None:
        """Refuse options that have no effect, and a model whose answers nobody would keep.

        Raises:
            UsageError: says which, and when they apply.
        """
        names = "judge url language quality attempts prompts settings concurrency"
        names += " silence deadline retries cache replay prices"
        refuse_idle((names, self.model is not None, "with --model NAME, which writes the questions"))
        if self.question is not None and self.model is not None:
            raise click.UsageError("--question template asks no model: drop it or --model")
        if self.model is not None and self.endpoint.cache is None:
            reason = "which stores every answer, so that the same command can resume after a stop"
            raise click.UsageError(f"--model needs --cache FILE, {reason}")

    def to(self, records: Iterable[Made]) -> list[Made | NoQuestion]:
        """The made records with their questions, each that has none with the reason; says how many there are.

        Args:
            records: The records; they come back as they are where no questions are asked for.
        """
        from planner_eval.curation.make.ask_questions import (
            QuestionSettings,
            ask_for,
            read_prompts,
            template_for,
        )

        if self.model is None:
            if self.question is None:
                return [*records]
            results = template_for(records)
            _say_questions(results, "")
            return results
        options: dict[str, Any] = {
            "language": self.language,
            "threshold": self.quality,
            "tries": self.attempts,
            "texts": read_prompts(Path(self.prompts)) if self.prompts else None,
        }
        progress = PredictProgress(self.endpoint.rates(self.model, self.judge), "questions")
        with resumable(progress, self.endpoint.cache):
            results = ask_for(
                records,
                self.model,
                judge=self.judge,
                wanted=QuestionSettings(
                    **{name: value for name, value in options.items() if value is not None}
                ),
                endpoint=self.endpoint._replace(paused=progress.paused),
                sampling=dict(map(parse_setting, self.settings)),
                concurrency=self.concurrency,
                tell=progress,
                seen=progress.seen,
            )
        least = "at least " if progress.uncounted else ""
        took = tokens_text(progress.tokens, least)
        took += f", cost {least}{amount_text(progress.cost)}" if progress.rates is not None else ""
        _say_questions(results, took.replace(", ", "; ", 1))
        return results


question_options = bundle_options(
    "questions",
    QuestionOptions,
    QuestionOptions._fields,
    option(
        "--question [template]", "Write questions from templates, without a model; they are marked as such."
    ),
    option("--model NAME", "The model that writes the questions."),
    option("--judge NAME", "The model that judges the questions (default: the one that writes them)."),
    option("--url URL", "The models' OpenAI-compatible server (default: OPENAI_BASE_URL)."),
    option("--language NAME", "The language of questions (default: English)."),
    option(
        "--quality N",
        "Keep questions with at least this score out of 10 (default: 6, as in AppBench).",
        type=click.IntRange(1, 10),
    ),
    option("--attempts N", "Attempts at each question (default: 3).", type=COUNT),
    option("--prompts DIR", "A folder of prompts to use instead of the built-in ones."),
    request_options("Questions", "--server-timeout"),
)
"""Add the options that say who writes the questions, which the command takes as ``questions``."""


def exit_code(results: list[Made | NoQuestion]) -> int:
    """The exit code: 0 all plans have their question, 1 some have none, 3 none has one."""
    refused = len(_refusals(results))
    return 0 if not refused else 3 if refused == len(results) else 1


def _refusals(results: Iterable[Made | NoQuestion]) -> list[NoQuestion]:
    from planner_eval.curation.make.ask_questions import NoQuestion

    return [r for r in results if isinstance(r, NoQuestion)]


def _say_questions(results: list[Made | NoQuestion], took: str) -> None:
    """Say how many plans have a question, and why others have none."""
    refused = _refusals(results)
    codes = Counter(r.code for r in refused)
    failed = "".join(f", {count:,} {code}" for code, count in sorted(codes.items()))
    written = len(results) - len(refused)
    note(f"{format_count(len(results), 'question')} asked for: {written:,} written{failed}{took}")
    first = {refusal.code: refusal for refusal in reversed(refused)}
    for code in dict.fromkeys(refusal.code for refusal in refused):
        note(f"{code}: {one_line(first[code].made.id, 60)}: {first[code].message}")
    if retried := sum(codes[code] for code in _FAILURE_CODES):
        note(f"the same command asks for {format_count(retried, 'question')} again")


# ----------------------------------------------------------------------
# planeval data make: new gold plans of wanted structure.
@as_command("make")
@catalog_options()
@option("--tools SPEC", "Run the plans with these tools: nestful, world:NAME, tools.py, package.module.")
@option("--preset", "Make plans like those of a published benchmark.", type=click.Choice([*PRESETS]))
@option("-n N", "How many plans.", "n", type=COUNT, default=10)
@option("--seed", "The random seed.", type=WHOLE, default=0)
@option("--calls N|N..M", "How many calls a plan has.")
@option("--depth N|N..M", "The depth: its number of generations.")
@option("--width N|N..M", "The width: the calls of its largest generation.")
@option("--components N|N..M", "How many unconnected components it has.")
@option("--reuse N|N..M", "How often outputs are reused after their first use.")
@option(
    "--pattern PATTERN",
    "chain, fan-out, fan-in, diamond, independent, or a shape as in stats and data coverage.",
)
@option("--scope [ss|sm|ms|mm]", "As in AppBench: one app or several, one call per app or several.")
@option("--single", "A single call gives the answer, as in NESTful.")
@option(
    "--join [auto|name|type]",
    "When an output may feed a parameter: equal name and type, equal type, or by name where "
    "it is telling (auto, the default).",
)
@option(
    "--distinct [skeleton|values]",
    "No two plans have the same calls and references (skeleton, the default), or the same values as well.",
)
@option("--distractors K", "Offer K tools besides those that a plan needs.", type=WHOLE)
@option(
    "--offer [close|random]", "With distractors: those most similar to the needed ones (the default), or any."
)
@option("--like FILE|DATASET", "Make plans with the calls and references of these plans and other values.")
@option(
    "--fill FILE",
    "Cover first what no plan uses, as written by data coverage --to-make.",
    type=click.Path(exists=True, dir_okay=False),
)
@option("--to", "The layout of the records (default: planeval).", type=click.Choice([*LAYOUTS]))
@option("--tries N", "Stop after N attempts in a row without a new plan.", type=COUNT, default=1000)
@isolation_options
@option(
    "--card FILE",
    "Write a report of made and requested plans to FILE: text, Markdown or JSON, by its suffix.",
    type=Target("document", "data"),
)
@question_options
@file_option("data", "records")
def command(
    named_tools: CatalogOptions,
    n: int,
    card: str | None,
    output: str | None,
    like: str | None,
    single: bool,
    questions: QuestionOptions,
    **make_options: Any,
) -> int:
    """Make gold plans of a given structure from tools, and write them as records.

    Outputs are connected to parameters by name and type; values come from the catalog or a world. With
    --tools each plan is run, and kept only if every call returns a value that depends on all its inputs. No
    two plans are alike. N..M is a range. Plans need no model; their questions are empty without --question
    template, or --model, whose questions are checked and judged.
    Exit code: 0 all made; 1 fewer made than requested, or some without a question; 2 usage error, or a
    request that these tools cannot meet; 3 none made, or none with a question.
    """
    refuse_idle(
        ("offer", is_option_passed("distractors"), "with --run distractors=K"),
        (
            "isolation timeout",
            make_options["tools"] is not None or make_options["preset"] is not None,
            "to tools that run plans",
        ),
        (
            "calls depth width components reuse pattern scope single",
            like is None,
            "without --like, whose plans set the structure",
        ),
    )
    from planner_eval.curation.make.ask_questions import NoQuestion

    questions.refuse()
    messages: list[str] = []

    def tell(message: str) -> None:
        messages.append(message)
        note(message)

    made_plans = pe.make(
        n,
        catalog=_catalog(named_tools),
        like=like,
        single=single or None,
        progress=make_counter("plans"),
        tell=tell,
        **make_options,
    )
    asked_for = questions.to(made_plans.made)
    own_layout = made_plans.form == OWN_LAYOUT
    results = [result for result in asked_for if not isinstance(result, NoQuestion)]
    if own_layout and questions.model is not None:  # records with a place for the reason why there is none
        results = [r.marked if isinstance(r, NoQuestion) else r for r in asked_for]
    made_plans = replace(made_plans, made=tuple(results))
    if made_plans.made:
        emit(_format_records(made_plans, output), output, plain=True)
    if left := len(asked_for) - len(made_plans.made):
        message = f"{format_count(left, 'plan')} without a query: left out"
        if not own_layout:
            message += f", because records of {made_plans.form} have no field for the reason"
        note(message)
    if card is not None:
        form = format_of_suffix(card, formats_of("document", "data")) or DEFAULT
        emit(View(made_plans.card.document, made_plans.card.to_dict).write(form), card)
    note(*(message for message in made_plans.notes if message not in messages))
    note(
        made_plans.said or f"{format_count(len(asked_for), 'plan')} made, {made_plans.card.attempts:,} drawn"
    )
    return 3 if not asked_for else max(int(bool(made_plans.said)), exit_code(asked_for))


def _catalog(named: CatalogOptions) -> Any:
    """The catalog; one that is named alone stays a name, for a world is more than its catalog."""
    alone = len(named.catalogs) == 1 and named.catalog_format is None
    return named.catalogs[0] if alone else named.read()


def _format_records(made_plans: MadePlans, output: str | None) -> list[str]:
    """The records: a line each, or one list where the benchmark has it so."""
    records = made_plans.records()
    form = format_of_suffix(output, formats_of("data", "records"))
    if shows(form, "data") if form is not None else made_plans.form in JSON_LIST_LAYOUTS:
        return [dump_indented(records) + "\n"]
    return [to_json(record) + "\n" for record in records]
