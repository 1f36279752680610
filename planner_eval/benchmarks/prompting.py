"""With which prompts a benchmark's judge is asked: the published ones, others of the user's, or our own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.benchmarks.gold import gold_folders
from planner_eval.datasets.published import published

if TYPE_CHECKING:
    from collections.abc import Mapping

    from planner_eval.benchmarks.benchmark import Benchmark
    from planner_eval.llm import Judge
    from planner_eval.llm.templates import Template

OWN = "own prompts, not the published ones"


class Asking(NamedTuple):
    """A judge with its prompts.

    Args:
        judge: Who is asked; None for nobody.
        said: Which prompts it is asked with, in words; "" without a judge.
    """

    judge: Judge | None
    said: str


def prompted(
    benchmark: Benchmark, judge: Judge | None, folder: str | None, gold: str, *, cache: str | None = None
) -> Asking:
    """The judge with the prompts of a folder, else those that lie beside the data, else our own.

    Args:
        benchmark: Whose questions they are.
        judge: Who is asked; None for nobody.
        folder: Where the files of prompts lie; None for beside the data.
        gold: Where the data is, as for :func:`.gold.gold_samples`.
        cache: The cache folder, where it is not the usual one.

    Raises:
        InputError: a file that is wanted is not in the folder, or is no prompt; or there is a folder and
            no judge.
    """
    if judge is None or benchmark.prompt_files is None:
        if folder is not None:
            raise InputError("a folder of prompts is for a judge, and there is none")
        return Asking(judge, "")
    from planner_eval.llm.templates import Prompted, has_templates, read_templates

    file_names = benchmark.prompt_files()
    data_folders = gold_folders(benchmark, gold, cache=cache)
    folders = (
        [Path(folder)] if folder is not None else [p for p in data_folders if has_templates(p, file_names)]
    )
    if not folders:
        return Asking(judge, OWN)
    if not folders[0].is_dir():
        raise InputError(f"{folders[0]} is no folder, expected one of prompts")
    templates = read_templates(folders[0], file_names)
    return Asking(Prompted(judge, templates), _said(benchmark, folders[0], templates))


def _said(benchmark: Benchmark, folder: Path, templates: Mapping[str, Template]) -> str:
    """The files and their checksum, and whether they are the published ones."""
    names = ", ".join(template.name for template in templates.values())
    sets = [dataset for dataset in published().values() if dataset.benchmark == benchmark.name]
    checksums = {file.path: file.sha256 for dataset in sets for file in dataset.files}
    if all(checksums.get(template.name) == template.sha256 for template in templates.values()):
        return f"the published prompts ({names})"
    from hashlib import sha256

    digest = sha256("".join(template.sha256 for template in templates.values()).encode()).hexdigest()[:12]
    note = (
        ", which are not the published ones"
        if all(template.name in checksums for template in templates.values())
        else ""
    )
    return f"the prompts of {folder}{note} ({names}; {digest})"
