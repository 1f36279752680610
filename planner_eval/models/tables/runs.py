"""The runs that a table is made of: whose they are, and what was asked in each."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.base.text import format_count
from planner_eval.benchmarks.layouts import Column
from planner_eval.models.pipelines.demonstrations import LEAK_MARK
from planner_eval.models.predict.folder import RUN_KIND, PredictedRun, read_predicted_run
from planner_eval.results.runs.stored import run_data


class TableRun(NamedTuple):
    """What a run's folder says of it.

    Args:
        path: The folder.
        label: The name of the system; its model, else the folder.
        form: The benchmark; None for one's own tasks.
        asked: What was asked of whom, as layouts name it; empty where that is not known.
        settings: The benchmark's options that it was scored with; None where it was not.
        predicted: What a run that asked a model keeps; None of one that was scored.
        metrics: Of one's own tasks that were scored: by which metrics.
        mark: What its figures are marked with, see :mod:`planner_eval.reading.files.demonstrations`.
        cache: The cache folder of data sets that it took gold from, where it was not the usual one.
    """

    path: str
    label: str
    form: str | None
    asked: Mapping[str, Any]
    settings: Mapping[str, str] | None
    predicted: PredictedRun | None
    metrics: tuple[str, ...] = ()
    mark: str = ""
    cache: str | None = None

    def fits(self, column: Column, columns: Sequence[Column]) -> bool:
        """Whether a column is of such runs.

        A run that was scored does not say what was asked: it fits where the table leaves no choice.

        Args:
            column: The column.
            columns: All columns of the table.
        """
        if self.predicted is not None or self.form is None:
            return all(_is_expected(self.asked.get(key), expected) for key, expected in column.where.items())
        if dict(self.settings or {}) != dict(column.settings):
            return False
        return all(other.where == column.where for other in columns if other.settings == column.settings)

    @property
    def said(self) -> str:
        """What was asked, in words."""
        marked = f", {self.mark}" if self.mark else ""
        if self.predicted is None:
            return f"a run of score{marked}"
        usual = {"shots": 0, "repeat": 1, "history": "gold"}
        named = [f"{key} {value}" for key, value in self.asked.items() if value != usual.get(key, "")]
        description = f"{format_count(len(self.predicted.ids), 'sample')}, " + ", ".join(named)
        unanswered = self.predicted.unasked
        return (
            description + (f", {unanswered:,} of them without a whole answer" if unanswered else "") + marked
        )


def _is_expected(value: Any, expected: Any) -> bool:
    return value in expected if isinstance(expected, list) else value == expected


def read_table_run(path: str) -> TableRun:
    """What a folder says of its run.

    Raises:
        InputError: it is no folder of a run that can be tabled, or it is not done.
    """
    data = run_data(path)
    try:
        return _make_table_run(path, data)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InputError(f"{path}: what the run wrote there cannot be read") from None


def _make_table_run(path: str, data: Mapping[str, Any]) -> TableRun:
    if data.get("kind") == RUN_KIND:
        model_run = read_predicted_run(path)
        form = None if model_run.form == "own" else model_run.form
        label, run_setup = str(model_run.options.get("model")), _read_setup(model_run.options)
        return TableRun(
            path, label, form, run_setup, None, model_run, mark=model_run.mark, cache=model_run.cache
        )
    options = data.get("options")
    if data.get("kind") != "score" or not isinstance(options, Mapping):
        raise InputError(f"{path}: expected the folder of a run of planeval predict or score -o DIR/")
    name = os.path.basename(os.path.normpath(path))
    about = options.get("about") or {}
    mark, cache = str(about.get("mark") or ""), about.get("cache")
    if "benchmark" in options:
        if not isinstance(options["benchmark"], str):
            raise ValueError(options["benchmark"])
        settings = {str(key): str(value) for key, value in (options.get("settings") or {}).items()}
        return TableRun(path, name, options["benchmark"], {}, settings, None, mark=mark, cache=cache)
    return TableRun(path, name, None, {}, {}, None, tuple(map(str, options.get("metrics") or ())), mark)


def _read_setup(options: Mapping[str, Any]) -> dict[str, Any]:
    """What layouts may ask of a run, by their names for it."""
    setup, shots, choice = options.get("setup") or {}, options.get("shots"), options.get("choice")
    shots = setup.get("shots") if shots is None else shots
    choice = setup.get("choice") if choice is None else choice
    values = {
        "pipeline": options.get("pipeline"),
        "shots": shots.get("number", 0) if isinstance(shots, Mapping) else 0,
        "router": options.get("router") or "",
        "list form": setup.get("listing") or "",
        "repeat": options.get("repeat", 1),
        "distractors": _format_choice(choice) if isinstance(choice, Mapping) else "",
        "history": setup.get("history") or "gold",
        "notation": setup.get("dialect") or "",
        "constrained by": (setup.get("constrain") or {}).get("by") or "",
        "oddities": "official" if setup.get("official") else "",
        "leak": "apps" if LEAK_MARK in (options.get("gold") or ()) else "",
        "prompts": "published" if (options.get("prompts") or {}).get("published") else "own",
    }
    return values


def _format_choice(choice: Mapping[str, Any]) -> str:
    """Which tools were on offer beside gold's.

    >>> _format_choice({"number": 3, "closeness": "close", "budget": None, "seed": 0})
    '3 close'
    """
    number, budget = choice.get("number"), choice.get("budget")
    words = [*([] if number is None else [number]), choice.get("closeness")]
    words += [] if budget is None else ["within", budget, "tokens"]
    words += ["seed", choice.get("seed")] if choice.get("seed") else []
    return " ".join(map(str, words))


def refuse_unlike(runs: Sequence[TableRun]) -> None:
    """Refuse runs that were scored by other versions, or otherwise; under a benchmark gold is held later.

    Raises:
        InputError: says which two, and what they do not have in common.
    """
    scored = [(run.path, run_data(run.path)) for run in runs if run.predicted is None]
    for path, data in scored[1:]:
        prefix = f"{scored[0][0]} and {path} make no table"
        versions = [d.get("version") for d in (scored[0][1], data)]
        if versions[0] != versions[1]:
            raise InputError(f"{prefix}: they are of versions {versions[0]} and {versions[1]}")
        if runs[0].form is not None:
            continue
        if _gold_inputs(data) != _gold_inputs(scored[0][1]):
            raise InputError(f"{prefix}: their gold plans are not the same")
        first_options, other_options = (dict(d["options"]) for d in (scored[0][1], data))
        for name in sorted({*first_options, *other_options} - {"about", "metrics", "keys"}):
            if first_options.get(name) != other_options.get(name):
                raise InputError(f"{prefix}: they were not scored alike, {name}")


def _gold_inputs(data: Mapping[str, Any]) -> list[Any]:
    return [(i.get("size"), i.get("digest")) for i in data.get("inputs", ()) if i.get("role") == "gold"]
