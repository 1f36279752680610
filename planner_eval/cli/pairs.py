"""The options of commands that set predictions beside gold plans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

import planner_eval as pe
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import one_line
from planner_eval.cli.options import (
    Decorator,
    bundle_options,
    cluster_option,
    dialect_option,
    infer_option,
    note,
    option,
    reading_options,
    repair_options,
    strict_options,
)
from planner_eval.cli.sources import dataset_options
from planner_eval.cli.terminal import make_counter

if TYPE_CHECKING:
    from planner_eval.cli.workers import WorkOptions
    from planner_eval.comparison.evaluate import PairedFiles
    from planner_eval.comparison.policy.policy import Policy
    from planner_eval.results.totals import Totals


# ----------------------------------------------------------------------
# The option that says how values compare.
policy_option = option(
    "--policy NAME|FILE",
    "How values are compared: default, strict, lenient, a benchmark's "
    "name, or a TOML file (default: as set in planeval.toml or pyproject.toml, else default).",
)
"""Add ``--policy``; without it the project's settings say, see :mod:`planner_eval.cli.options`."""


def chosen_policy(name: str | None) -> Policy:
    """The policy that the option or the project's settings name, or the default."""
    from planner_eval.comparison.policy.policy import DEFAULT_POLICY

    if name is None:
        return DEFAULT_POLICY
    from planner_eval.comparison.policy.file import load_policy, read_policy

    if click.get_current_context().get_parameter_source("policy") is not ParameterSource.DEFAULT_MAP:
        return load_policy(name)
    from pathlib import Path

    # The project's settings serve more files than those of one run: what these lack is no error.
    return read_policy(Path(name), settings=True, unknown=note)


# ----------------------------------------------------------------------
# The options that say how pairs are judged and counted.
class Judging(NamedTuple):
    """How pairs are judged and counted, as the user wants it.

    Args:
        policy: How values compare; the default when left out.
        metrics: What is counted; the usual when empty.
        keys: What figures are broken down by.
        cluster: What says in which cluster a pair lies.
        causes: Find what each root cause costs.
    """

    policy: str | None = None
    metrics: Sequence[str] = ()
    keys: Sequence[str] = ()
    cluster: str | None = None
    causes: bool = False

    def settings(self) -> dict[str, Any]:
        """The same as the public functions take it."""
        chosen: dict[str, Any] = {"policy": chosen_policy(self.policy), "by": self.keys}
        optional = {"metrics": self.metrics, "cluster": self.cluster, "causes": self.causes}
        return chosen | {name: value for name, value in optional.items() if value}


def judging_options(
    by: str,
    *,
    metric: str = "A metric or a group of metrics; repeatable.",
    cluster: bool = True,
    causes: str = "",
) -> Decorator:
    """Add ``--metric``, ``--by`` and others; the command takes them, and the policy, as ``judging``.

    Args:
        by: What ``--by`` does.
        metric: What ``--metric`` does.
        cluster: Whether there is ``--cluster``.
        causes: What ``--causes`` does, where there is one.
    """
    options: tuple[Decorator, ...] = (
        option("--metric NAME...", metric, "metrics"),
        option("--by KEY...", by, "keys"),
        *([option("--causes", causes)] if causes else []),
        *([cluster_option] if cluster else []),
    )
    names = ("policy", "metrics", "keys", *["cluster"] * cluster, *["causes"] * bool(causes))
    return bundle_options("judging", Judging, names, *options)


# ----------------------------------------------------------------------
# The options of commands that set predictions beside gold plans.
READING_OPTIONS = (
    "dialect", "id_field", "text_field", "gold_dialect", "gold_id_field", "gold_text_field",
    "by", "turn", "repair", "compute", "infer", "cache", "folder",
)  # fmt: skip
"""Options that say how files of plans are read and paired."""


def _make_pair_options(faults: Decorator, *more: Decorator) -> Decorator:
    return bundle_options(
        "how",
        lambda **fields: pe.Reading(**fields),
        [name for name in READING_OPTIONS if more or name != "infer"],
        reading_options,
        dataset_options,
        *more,
        faults,
        dialect_option("--gold-from", "The gold plans' notation, if different.", "gold_dialect"),
        option("--gold-text-field NAME", "The field of a gold record that holds its plan."),
        option("--gold-id-field NAME", "The gold records' id field, if different."),
        option(
            "--pair [id|position]",
            "Pair records by id or by position (default: by id if either file has ids).",
            "by",
        ),
        policy_option,
    )


pair_options = _make_pair_options(repair_options, infer_option)
"""Add the options that say how predictions and gold are read, paired and compared.

The command takes ``how``, a :class:`planner_eval.Reading`, and ``policy``, see ``chosen_policy``.
"""

written_pair_options = _make_pair_options(repair_options)
"""As :data:`pair_options`, for commands that show nothing that is inferred."""

scored_pair_options = _make_pair_options(strict_options, infer_option)
"""As :data:`pair_options`, for commands that repair predictions unless told to read strictly."""


def work_settings(running: WorkOptions, paired: PairedFiles, **run_options: Any) -> dict[str, Any]:
    """How pairs are worked on: in this process, or in parts by several.

    Args:
        running: What the user says of it.
        paired: The pairs.
        run_options: Of a run that is kept its folder, and in what that keeps the rows.
    """
    from planner_eval.results.runs.pairs import is_large

    if running.wanted or run_options or is_large(paired.pred, paired.gold):
        return {"jobs": 0, **run_options, **running.options()}
    return {} if running.quiet else {"progress": make_counter()}


def missing_argument(name: str) -> click.UsageError:
    """That an argument is missing, as click says it."""
    context = click.get_current_context()
    parameter = next(p for p in context.command.params if p.name == name)
    return click.MissingParameter(ctx=context, param=parameter)


def say_unjudged(totals: Totals) -> None:
    """Say which pairs had no gold plan to be judged by, each kind by its number and its first."""
    for state, what in (
        ("gold_unreadable", "gold plan{} cannot be read"),
        ("gold_absent", "prediction{} without a gold plan"),
    ):
        if count := totals.states[state]:
            id, reason, placed = totals.unjudged[state]
            what = "sample{} without a gold plan that can be read" if "there is no plan" in reason else what
            where = "" if placed else f"{id}: "  # a reason with a place says the id itself
            first = one_line(where + reason.splitlines()[0], 300)
            note(f"{count:,} {what.format('s' * (count != 1))}; the first: {first}")
