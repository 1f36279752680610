"""Pages of runs that a folder keeps: their files are found again, and held against what the run knew."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from typing import Any, NamedTuple

from planner_eval._version import __version__
from planner_eval.base.errors import InputError
from planner_eval.comparison.evaluate import PairedFiles, pair
from planner_eval.comparison.metrics import METRICS
from planner_eval.comparison.policy.policy import DEFAULT_POLICY, Policy
from planner_eval.comparison.policy.resolve import policy_of
from planner_eval.models.predict.folder import read_run_answers, run_of_answers, select_asked_golds
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.frameworks import add_file, unshipped_rows
from planner_eval.reading.settings import Reading
from planner_eval.results.runs.diff_job import ROW_FORMAT
from planner_eval.results.runs.folder import changed_input, input_of, inputs_of
from planner_eval.results.runs.jobs import describe
from planner_eval.results.runs.model import LINES, StoredRun, open_run
from planner_eval.results.runs.stored import StoredLines, lines_of, read_stored_run
from planner_eval.results.runs.work import digest_of

DIFF_METRICS = ("exact",)
"""What is counted of a run of diff unless the user names metrics."""


class PageRun(NamedTuple):
    """A run of score or diff, and the files that it was made of.

    Args:
        run: What the folder keeps.
        paired: Its pairs.
        policy: How values were compared.
        wrappers: Files of notations.
        metrics: What was counted.
        by: What figures are broken down by.
        cluster: What says in which cluster a pair lies.
        causes: Whether it was found what root causes cost.
    """

    run: StoredRun
    paired: PairedFiles
    policy: Policy
    wrappers: tuple[str, ...]
    metrics: tuple[str, ...]
    by: tuple[str, ...]
    cluster: str | None = None
    causes: bool = False

    def stored(self, metrics: Sequence[str]) -> StoredLines | None:
        """Its rows, where they say all that a page with some metrics tells of the plans as they are read.

        Args:
            metrics: The metrics.
        """
        options = self.run.options
        if (
            self.run.kind != "diff"
            or self.run.store != LINES
            or (options.get("form"), options.get("failures")) != (ROW_FORMAT, False)
            or tuple(metrics) != DIFF_METRICS
            or self.run.version != __version__
            or self.policy != DEFAULT_POLICY
            or self.paired.reading.infer
        ):
            return None
        return lines_of(self.run)

    def refuse_unlike(self, other: PageRun) -> None:
        """Refuse a run that another cannot be shown beside.

        Raises:
            InputError: their gold plans, policies, clusters or how they were read are not the same.
        """
        prefix = f"{self.run.path} and {other.run.path} cannot be shown together"
        if self.run.golds != other.run.golds:
            raise InputError(f"{prefix}: their gold plans are not the same")
        if describe(self.policy) != describe(other.policy):
            raise InputError(f"{prefix}: they were compared under other policies")
        if bool(self.paired.reading.repair) != bool(other.paired.reading.repair):
            strict = other if self.paired.reading.repair else self
            raise InputError(
                f"{prefix}: {strict.run.path} was read strictly, the other with "
                "repairs; read both alike: with repairs (diff needs --repair) or strictly (score "
                "needs --strict)"
            )
        if self.cluster != other.cluster:
            own_cluster, other_cluster = (
                f"one is clustered by {r.cluster}" if r.cluster else "one has no clusters"
                for r in (self, other)
            )
            raise InputError(
                f"{prefix}: {own_cluster} and {other_cluster}: score both with the same --cluster"
            )


def read_page_run(path: str, policy: str | None = None) -> PageRun:
    """A run of score or diff, from its folder.

    Args:
        path: The folder.
        policy: The file of its policy, where that is no preset.

    Raises:
        InputError: it is no such run, or what it was made of was moved or changed.
    """
    kind = open_run(path).kind or "score"
    if kind not in ("score", "diff"):
        hint = "a page is made of runs of predict, score and diff"
        raise InputError(f"{path} is a run of {kind}: {hint}")
    run = read_stored_run(path, kind)
    options: Any = run.options
    if run.benchmark is not None:
        raise InputError(
            f"{path} was scored under the benchmark {run.benchmark}, which has its own notation "
            f"and rules: name the answers and the gold plans, {_answers_command(run)}"
        )
    file_names = run.given
    if not isinstance(file_names, list) or len(file_names) != 2:
        raise InputError(f"{path} does not name its files: use planeval report PRED --gold GOLD")
    wrappers = _read_notations(run)
    chosen = _read_policy(run, path, policy)
    reading = Reading(**{name: options[name] for name in Reading._fields if name in options})
    paired = _read_pairs(file_names, reading, tuple(options.get("ids", ())), path)
    _refuse_changed(run, paired, wrappers, path)
    metrics, by = tuple(options.get("metrics", DIFF_METRICS)), tuple(options.get("keys", ()))
    if unknown := [name for name in metrics if name not in METRICS]:
        raise InputError(
            f"{path}: the run has the metric {unknown[0]!r}, which this version does not know: repeat the run"
        )
    more = options.get("cluster"), bool(options.get("causes"))
    return PageRun(run, paired, chosen, wrappers, metrics, by, *more)


def _answers_command(run: StoredRun) -> str:
    """The command that makes a page of the answers that were scored under a benchmark."""
    answers, gold = run.about.get("file") or "PRED", run.about.get("gold") or "GOLD"
    words = ["planeval", "report", answers, "--gold", gold]
    if os.path.isdir(gold):
        words[-1:] = [run.benchmark, "--source", gold]
    return shlex.join(map(str, words))


def _read_pairs(file_names: Sequence[str], reading: Reading, ids: tuple[str, ...], path: str) -> PairedFiles:
    """The pairs of a run, read again."""
    files: list[PlanFile] = []
    for name, read, role in (
        (file_names[0], reading.answers, "predictions"),
        (file_names[1], reading.golds, "gold plans"),
    ):
        try:
            files.append(read(name))
        except InputError as error:
            if os.path.lexists(name):
                raise
            raise InputError(
                f"{path} was made from {name} ({role}), which is missing: "
                f"restore it, or name the files with planeval "
                f"report PRED --gold GOLD ({error})"
            ) from None
    answers, golds = files
    if (model_run := run_of_answers(file_names[0])) is not None:
        answers = read_run_answers(answers, model_run, reading, trials=True)
        golds = select_asked_golds(golds, model_run)
    return pair(answers, golds, reading=reading, ids=ids)


def _read_notations(run: StoredRun) -> tuple[str, ...]:
    """The notations that the run read and that are not shipped: added, and their files."""
    notations = run.notations
    have = {row.name: digest_of(repr(row).encode()) for row in unshipped_rows()}
    files = tuple(str(i["path"]) for i in run.inputs if i["role"] == "wrappers")
    if any(have.get(name) != digest for name, digest in notations.items()):
        for file in files:
            add_file(file)
        have = {row.name: digest_of(repr(row).encode()) for row in unshipped_rows()}
    for name, digest in notations.items():
        if have.get(name) != digest:
            problem = (
                "has changed since" if name in have else "is not known here: name its file with --wrappers"
            )
            raise InputError(f"{run.path} was read with the notation {name!r}, which {problem}")
    return files


def _read_policy(run: StoredRun, path: str, named: str | None) -> Policy:
    """The policy of a run."""
    name = str(run.options.get("policy", "default"))
    try:
        chosen = policy_of(named or name)
    except InputError:
        if named is not None:
            raise
        raise InputError(
            f"{path} was compared under the policy {name!r}, which is not a preset: name "
            "its file with --policy"
        ) from None
    if describe(chosen) != run.options.get("compared"):
        raise InputError(
            f"{path} was compared under the policy {name!r}, which differs from {named or name} "
            "now; repeat the run"
        )
    return chosen


def _refuse_changed(run: StoredRun, paired: PairedFiles, wrappers: Sequence[str], path: str) -> None:
    """Refuse files that are not those of the run.

    Raises:
        InputError: names the file.
    """
    now = [*inputs_of("pred", paired.pred), *inputs_of("gold", paired.gold)]
    now += [input_of("wrappers", name) for name in wrappers]
    if difference := changed_input(run.inputs, now):
        raise InputError(f"{path} was made from other files: {difference}; repeat the run in another folder")
