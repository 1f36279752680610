"""planeval score: figures over files of predictions and gold plans."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from planner_eval.base.errors import InputError
from planner_eval.base.formats import WRITTEN
from planner_eval.cli.options import (
    Applies,
    emit,
    fields_said,
    note,
    output,
    pairing,
    read_answers,
    read_golds,
    reading,
    refuse_idle,
    repairing,
    seed_option,
    threshold,
    written,
)
from planner_eval.cli.policy import chosen_policy, policy_option
from planner_eval.cli.score_benchmark import OPTIONS, benchmark_options, score_benchmark

if TYPE_CHECKING:
    from planner_eval.records.files import PlanFile
    from planner_eval.records.pairing import Pairing
    from planner_eval.scoring.report import Report
    from planner_eval.scoring.scored import Scored

OWN = (
    "dialect", "wrappers", "repair", "gold_from", "gold_id_field", "gold_text_field",
    "policy", "metrics", "by", "seed",
)  # fmt: skip
"""Options that a benchmark's own rules leave without effect."""

_Item = TypeVar("_Item")


@click.command("score")
@click.argument("pred", metavar="PRED")
@click.argument("gold", metavar="GOLD")
@reading
@repairing
@pairing
@policy_option
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="A metric or a group (plan, calls, arguments, references, order, structure, published, all); "
    "may be given again. All but the published ones when left out.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="KEY",
    help="Break the figures down by calls, depth or pattern of the gold plan, or by a field of its record.",
)
@click.option(
    "--fail-under",
    multiple=True,
    metavar="METRIC=X",
    help="Exit with 1 when a figure is below X, e.g. calls=0.9 or references.recall=0.8.",
)
@click.option("--only", type=click.Choice(["failures"]), help="List the pairs that are not the same.")
@seed_option
@benchmark_options
@written(*WRITTEN)
@output
def command(pred: str, gold: str, form: str, output: str | None, **options: Any) -> int:
    """Score predictions against gold plans: a table of figures with confidence intervals.

    PRED and GOLD are files of plans or of records, paired by id, or by position where neither has ids. A
    prediction that is absent or unreadable is wrong in every figure, so every denominator is the number
    of gold plans that can be read. Exit code: 0 scored, 1 below a threshold of --fail-under, or records
    left over, 2 usage, 3 nothing could be scored.
    """
    named = options["benchmark"] is not None
    refuse_idle(
        [
            Applies(OPTIONS, named, "with --benchmark NAME"),
            Applies(OWN, not named, "without --benchmark: a benchmark has its own notation and figures"),
        ]
    )
    if named:
        return score_benchmark(pred, gold, form, output, options)
    limits = [threshold(text) for text in options["fail_under"]]
    files = read_answers(pred, options), read_golds(gold, options)
    made, pairing = report_of(files, options)
    strict = report_of(files, options | {"repair": False})[0] if options["repair"] else None
    from planner_eval.scoring.report import write_report

    below = [problem for name, least in limits if (problem := _below(made, name, least))]
    emit(write_report(made, form, failures=options["only"] is not None), output)
    if strict is not None:
        shown = (f"{f.name} –" if f.value is None else f"{f.name} {f.value:.4g}" for f in strict.figures)
        note("without repairs: " + ", ".join(shown))
    note(f"{fields_said(*files)}; paired by {pairing.by}")
    for problem in below:
        note(problem)
    if not made.judged:
        note("nothing could be scored: no gold plan could be read")
        return 3
    return int(bool(below) or bool(pairing.repeated) or len(made.rows) > made.judged)


class Run(NamedTuple):
    """Scored pairs, and how they came about.

    Args:
        rows: The scored pairs.
        pairing: Which prediction was scored against which gold plan.
        notations: The notations that were read, joined by ``+``.
    """

    rows: list[Scored]
    pairing: Pairing
    notations: str


def report_of(files: tuple[PlanFile, PlanFile], options: dict[str, Any]) -> tuple[Report, Pairing]:
    """The report of a file of predictions and a file of gold plans."""
    from planner_eval.metrics import DEFAULT_METRICS, choose
    from planner_eval.scoring.report import make_report, signature

    metrics = choose(options["metrics"]) if options["metrics"] else DEFAULT_METRICS
    policy = chosen_policy(options["policy"])
    run = scored(files, metrics, policy, options)
    refuse_unknown_keys(options["by"], run.rows)
    pred, gold = files
    parts = {"answers": pred.content or "records", "pairing": run.pairing.by, "notation": run.notations}
    if options.get("repair"):
        parts["repair"] = "yes"
    made = signature(policy.name, seed=options["seed"], **parts)
    report = make_report(
        run.rows,
        metrics,
        made=made,
        by=options["by"],
        seed=options["seed"],
        read={"answers": pred.said, "gold": gold.said},
    )
    return report, run.pairing


def refuse_unknown_keys(by: Iterable[str], rows: Iterable[Scored]) -> None:
    """A key that no gold record has would break nothing down, in silence.

    Raises:
        InputError: names the key and what there is.
    """
    from planner_eval.records.rows import JUDGED
    from planner_eval.scoring.scored import STRUCTURE

    judged = [row for row in rows if row.state in JUDGED]
    for key in by:
        if judged and not any(key in row.keys for row in judged):
            known = ", ".join(STRUCTURE)
            raise InputError(f"--by {key!r}: no gold record has that field, and it is none of {known}")


def scored(
    files: tuple[PlanFile, PlanFile], metrics: tuple[str, ...], policy: Any, options: dict[str, Any]
) -> Run:
    """The scored pairs of two files, how they were paired, and the notations that were read."""
    from planner_eval.policy.unused import Names
    from planner_eval.records.pairing import pair, refuse_repeated_gold
    from planner_eval.records.rows import evaluate
    from planner_eval.scoring.scored import score_rows

    left, right = files
    pairing = pair(left, right, by=options["by_way"])
    refuse_repeated_gold(pairing, right.records)
    dialect = options["dialect"]
    names = Names()
    notations: set[str | None] = set()

    def seen(rows: Iterable[Any]) -> Iterator[Any]:
        for row in rows:
            names.add((row.pred, row.gold))
            notations.update(plan.dialect for plan in (row.pred, row.gold) if plan is not None)
            yield row

    rows = evaluate(
        pairing.pairs,
        pred_dialect=dialect,
        gold_dialect=options["gold_from"] or dialect,
        policy=policy,
        repair=options.get("repair", False),
    )
    shown = counted(seen(rows), len(pairing.pairs))
    found = list(score_rows(shown, metrics, policy=policy, by=options["by"]))
    names.check(policy)
    return Run(found, pairing, "+".join(sorted(name or "?" for name in notations)) or "none")


def counted(items: Iterable[_Item], total: int) -> Iterator[_Item]:
    """The items, with a count on the terminal that overwrites itself; silent elsewhere and for few."""
    shown = total >= 200 and sys.stderr.isatty()
    last = time.monotonic()
    for done, item in enumerate(items, 1):
        yield item
        if shown and (time.monotonic() - last > 0.2 or done == total):
            last = time.monotonic()
            click.echo(f"\r{done:,} of {total:,} pairs" + ("\n" if done == total else ""), err=True, nl=False)


def _below(report: Report, name: str, least: float) -> str | None:
    from planner_eval.metrics import METRICS

    value = report.figure(name)
    if value is None:
        return f"{name} does not exist, expected at least {least:g}"
    if METRICS[name.partition(".")[0]].lower:
        return f"{name} is {value:.4f}, expected at most {least:g}" if value > least else None
    return f"{name} is {value:.4f}, expected at least {least:g}" if value < least else None
