"""What is irregular in a published data set."""

from __future__ import annotations

from typing import NamedTuple

from planner_eval.base.given import COUNT, FUNCTION, PATH, expect, expect_or_none
from planner_eval.benchmarks.replay import Replayed, replay
from planner_eval.datasets.check import Checked, check
from planner_eval.datasets.published import Dataset, find, read
from planner_eval.datasets.store import place
from planner_eval.verbs.datasets import refuse_absent
from planner_eval.verbs.evaluating import Progress, counted


class DatasetCheck(NamedTuple):
    """What was found in a data set.

    Args:
        dataset: What it is.
        checked: Its irregularities, counted.
        replayed: Gold scored against itself under each variant of its benchmark, if it has one.
    """

    dataset: Dataset
    checked: Checked
    replayed: tuple[Replayed, ...] = ()

    @property
    def perfect(self) -> bool:
        """Whether gold is right under every variant."""
        return not any(one.imperfect for one in self.replayed)


def check_dataset(
    name: str,
    *,
    cache: str | None = None,
    source: str | None = None,
    examples: int = 3,
    progress: Progress | None = None,
) -> DatasetCheck:
    """Say what is irregular in a data set, and score its gold against itself.

    Args:
        name: Its name, e.g. ``"nestful"``.
        cache: The cache folder, where it is not the usual one.
        source: Its folder, one that holds it by name, or one of its files, instead of the cache.
        examples: How many examples to keep of each finding.
        progress: Is told after each gold plan how many are done, and of how many.

    Raises:
        DatasetError: there is no data set of that name, or its files are not there or cannot be read.

    >>> from planner_eval.base.resources import folder
    >>> found = check_dataset("complexfuncbench", source=str(folder("data") / "samples"))
    >>> found.dataset.records, found.perfect
    (1000, True)
    """
    expect_or_none(PATH, cache=cache, source=source)
    expect(COUNT, examples=examples)
    expect_or_none(FUNCTION, progress=progress)
    dataset = find(name)
    folder = place(dataset, cache=cache, source=source)
    refuse_absent(dataset, folder)
    samples = list(read(dataset, folder))
    told = samples if progress is None else counted(samples, len(samples), progress)
    checked = check(told, examples=examples)
    replayed = replay(dataset.benchmark, samples) if dataset.benchmark and samples else ()
    return DatasetCheck(dataset, checked, tuple(replayed))
