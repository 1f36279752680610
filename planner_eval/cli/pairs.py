"""What commands set beside gold plans: answers of systems, or runs that keep both; and their options."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import one_line
from planner_eval.cli.options import (
    Decorator,
    bundle_options,
    cluster_option,
    compute_option,
    dialect_option,
    infer_option,
    missing_argument,
    note,
    option,
)
from planner_eval.cli.sources import (
    reading_options,
    refuse_absent,
    refuse_idle_fields,
    refuse_idle_places,
    refuse_incomplete_run,
    refuse_runs,
    refuse_stdin_twice,
)
from planner_eval.cli.terminal import make_counter, say_reading

if TYPE_CHECKING:
    from planner_eval.cli.workers import Work
    from planner_eval.comparison.evaluate import PairedFiles
    from planner_eval.models.predict.folder import PredictedRun
    from planner_eval.reading.files.files import PlanFile
    from planner_eval.results.runs.model import StoredRun
    from planner_eval.results.totals import Totals


# ----------------------------------------------------------------------
# The option that says how values compare.
policy_option = option(
    "--policy NAME|FILE",
    "How values are compared: default, strict, lenient, a benchmark's "
    "name, or a TOML file (default: the policy set in planeval.toml or pyproject.toml, else the policy named "
    "default).",
)
"""Add ``--policy``; without it the project's settings say, see :mod:`planner_eval.cli.options`."""


def chosen_policy(name: str | None) -> pe.Policy:
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


def _make_pair_options(*more: Decorator, infer: bool = True) -> Decorator:
    return bundle_options(
        "how",
        lambda **fields: pe.Reading(**fields),
        [name for name in READING_OPTIONS if infer or name != "infer"],
        reading_options,
        *more,
        compute_option,
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


_repair_option = option("--repair", "Repair small syntax errors in predictions that cannot be read strictly.")

pair_options = _make_pair_options(infer_option, _repair_option)
"""Add the options that say how predictions and gold are read, paired and compared.

The command takes ``how``, a :class:`planner_eval.Reading`, and ``policy``, see ``chosen_policy``.
"""

written_pair_options = _make_pair_options(_repair_option, infer=False)
"""As :data:`pair_options`, for commands that show nothing that is inferred."""

scored_pair_options = _make_pair_options(
    infer_option,
    option(
        "--strict",
        "Read predictions strictly: a syntax error counts as wrong.",
        "repair",
        flag_value=False,
        default=True,
    ),
)
"""As :data:`pair_options`, for commands that repair predictions unless told to read strictly."""


def work_settings(work: Work, paired: PairedFiles, folder: str | None = None) -> dict[str, Any]:
    """How pairs are worked on: in this process, or in parts by several.

    Args:
        work: What the user says of it.
        paired: The pairs.
        folder: Where the run is kept.
    """
    from planner_eval.results.runs.model import is_large

    if work.wanted or folder or is_large(paired.pred, paired.gold):
        return {"running": work.running(folder), "progress": work.progress()}
    return {} if work.quiet else {"progress": make_counter()}


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


# ----------------------------------------------------------------------
# What commands score, compare and show: answers of systems beside gold plans, or runs that keep both.
class Systems(NamedTuple):
    """The systems that a command was given.

    Args:
        named: What the user named.
        paths: Their files of answers; of runs that were scored their folders.
        gold: The gold plans; None where the runs say them, or where none are known.
        how: How the files are read.
        benchmark: The benchmark that scores them; None where the figures are our own.
        predicted: The runs that asked models, whose answers they are; none where the user named files.
        runs: Those that are folders of other runs.
    """

    named: tuple[str, ...]
    paths: tuple[str, ...]
    gold: str | None
    how: pe.Reading
    benchmark: str | None = None
    predicted: tuple[PredictedRun, ...] = ()
    runs: tuple[StoredRun, ...] = ()

    @property
    def scored_under(self) -> str | None:
        """The benchmark under which a run was scored; None where none was under any."""
        return next((run.benchmark for run in self.runs if run.benchmark is not None), None)

    @property
    def ids(self) -> Collection[str] | None:
        """The samples that models were asked; None where nothing is known of them."""
        return self.predicted[0].ids if self.predicted else None

    def refuse_without_gold(self) -> None:
        """Refuse files of answers of which nothing says where gold is.

        Raises:
            InputError: a folder that is named is none of a run, or is not there.
            UsageError: the gold plans have to be named.
        """
        for path in self.paths:
            refuse_incomplete_run(path)
            refuse_absent(path)
            if os.path.isdir(path):
                from planner_eval.benchmarks.benchmark import result_files

                patterns = ", ".join(result_files().values())
                raise InputError(
                    f"{path} holds no results that name their gold plans ({patterns}): pass GOLD too"
                )
        raise missing_argument("gold")

    def read(self) -> tuple[list[PlanFile], PlanFile]:
        """Read answers and gold plans, and say what the user should know of them."""
        from planner_eval.comparison.rows import reading_notes

        assert self.gold is not None
        refuse_stdin_twice(*self.paths, self.gold)
        refuse_runs(*self.paths, self.gold)
        files = []
        for path in self.paths:
            say_reading(path)
            files.append(self.how.answers(path))
        say_reading(self.gold)
        if self.predicted:
            from planner_eval.models.predict.folder import (
                read_run_answers,
                read_run_golds,
                select_asked_golds,
            )

            answered_runs = zip(files, self.predicted, strict=True)
            files = [read_run_answers(file, run, self.how, trials=True) for file, run in answered_runs]
            golds = read_run_golds(self.predicted[0], self.gold, self.how)
        else:
            golds = self.how.golds(self.gold)
        note(*reading_notes(self.how, files, golds))
        all_files = (*files, golds)
        if click.get_current_context().info_name != "diff":  # which says it of the plans that it read
            for file in all_files:
                if count := file.several:
                    role = "gold" if file is golds else "pred"
                    note(f"{role}: {count:,} with several choices or candidates; the first was read")
        named = golds.published and not os.path.exists(self.gold)
        refuse_idle_places(
            any(not file.published for file in all_files), named or any(f.published for f in files)
        )
        refuse_idle_fields(("id_field", "text_field"), all_files)
        refuse_idle_fields(("gold_id_field", "gold_text_field"), [golds])
        if self.predicted:
            total = len(golds.records)
            golds = select_asked_golds(golds, self.predicted[0])
            if (count := len(golds.records)) != total:
                note(f"{count:,} of {total:,} gold plans were asked for; the others do not count")
        return files, golds

    def pair(self) -> list[PairedFiles]:
        """The pairs of each system, of one set of gold plans."""
        files, golds = self.read()
        return [pe.pair(file, golds, reading=self.how) for file in files]

    def say_unanswered(self) -> int:
        """Say of a run of which every request failed that nothing can be evaluated; the exit code, else 0."""
        for run in self.predicted:
            if run.failed and run.failed >= run.answers:
                note(f"{run.folder}: no request was answered, so these scores say nothing about the model")
                return 3
        return 0


def open_systems(
    named: Sequence[str],
    gold: str | None,
    how: pe.Reading,
    benchmark: str | None = None,
    *,
    repeated: bool = False,
) -> Systems:
    """What the user named: files of answers, runs that asked models, or folders of runs that were scored.

    Args:
        named: The systems.
        gold: The gold plans, where they are named.
        how: How files are read.
        benchmark: The benchmark that scores them, where it is named; else that of the runs, or whose own
            runner wrote the answers.
        repeated: All answers to a sample count, as for CallNavi's stability.

    Raises:
        InputError: some are runs that asked a model, and others not; or the runs were asked other samples.
    """
    from planner_eval.results.runs.model import is_run, open_run

    runs = tuple(open_run(path) for path in named if is_run(path))
    predicted = tuple(_read_predicted(r.path, repeated=repeated) for r in runs if r.kind == "predict")
    if predicted and len(predicted) < len(named):
        raise InputError(
            f"{predicted[0].folder} is a run of predict, but others are not: pass its answers, "
            f"{predicted[0].rows}, with --gold"
        )
    if predicted:
        from planner_eval.models.predict.folder import gold_of

        _refuse_other_samples(predicted)
        first = predicted[0]
        if how.cache is None and first.cache is not None:
            how = how._replace(cache=first.cache)
        form = None if first.form == "own" else first.form
        paths = tuple(run.rows for run in predicted)
        return Systems(tuple(named), paths, gold_of(first, gold), how, benchmark or form, predicted)
    name = benchmark or benchmark_of_results(named, gold)
    if name is not None and name != benchmark:
        gold = gold or f"dataset:{name}"
    return Systems(tuple(named), tuple(named), gold, how, name, runs=runs)


def read_sides(answers: str, gold: str, how: pe.Reading) -> tuple[PlanFile, PlanFile]:
    """Read predictions and gold plans, and say what the user should know of them."""
    files, golds = Systems((answers,), (answers,), gold, how).read()
    return files[0], golds


def _read_predicted(path: str, *, repeated: bool) -> PredictedRun:
    """What such a folder keeps; says which answers are lacking, and which do not count."""
    from planner_eval.models.predict.folder import read_predicted_run, repeats_message

    run = read_predicted_run(path)
    further = None if repeated else repeats_message(run)
    note(*(f"{path}: {message}" for message in (*run.notes(repeated=repeated), further) if message))
    return run


def _refuse_other_samples(runs: Sequence[PredictedRun]) -> None:
    """Refuse runs that were not asked the same.

    Raises:
        InputError: says which two differ, and how.
    """
    first = runs[0]
    for other in runs[1:]:
        problem = f"{first.folder} and {other.folder} cannot be compared"
        if first.form != other.form:
            raise InputError(f"{problem}: they are of {first.form} and {other.form}")
        if unshared := first.ids ^ other.ids:
            lacking = other if min(unshared) in first.ids else first
            raise InputError(
                f"{problem}: {lacking.folder} was not asked {min(unshared)!r}, and {len(unshared) - 1:,} "
                "more samples are in only one of the runs; ask both the same samples, with --id or --limit"
            )
        unlike = [id for id, task in first.tasks.items() if other.tasks.get(id, task) != task]
        if unlike:
            raise InputError(
                f"{problem}: {len(unlike):,} of their questions differ, first that of {unlike[0]!r}"
            )


def benchmark_of_results(paths: Sequence[str], gold: str | None) -> str | None:
    """The benchmark whose own runner wrote all these files or folders, which are scored as it does.

    Args:
        paths: The answers.
        gold: What the user names as gold: nothing, or the data set of the benchmark; a path decides nothing.
    """
    from planner_eval.results.runs.model import is_run

    if (gold is not None and os.path.exists(gold)) or any(map(is_run, paths)):
        return None
    from planner_eval.benchmarks.benchmark import result_files

    wanted = (
        (name, files) for name, files in result_files().items() if gold in (None, name, f"dataset:{name}")
    )
    return next((name for name, files in wanted if all(_holds_file(path, files) for path in paths)), None)


def _holds_file(path: str, pattern: str) -> bool:
    """Whether a path is a file whose name fits, or a folder with one at any depth."""
    from fnmatch import fnmatchcase
    from pathlib import Path

    if os.path.isdir(path):
        return any(True for _ in Path(path).rglob(pattern))
    return os.path.isfile(path) and fnmatchcase(os.path.basename(path), pattern)
