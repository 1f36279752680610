"""The published data sets brought here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from planner_eval.base.given import PATH, expect, expect_or_none, of
from planner_eval.datasets.fetch import DEFAULTS, Fetched, Options, fetch
from planner_eval.datasets.published import find
from planner_eval.datasets.store import place


def fetch_dataset(
    name: str, *, cache: str | None = None, source: str | None = None, options: Options = DEFAULTS
) -> Iterator[Fetched]:
    """Bring a data set's files into the cache, one after the other; what is there already is left alone.

    Args:
        name: Its name, e.g. ``"nestful"``.
        cache: The cache folder, where it is not the usual one.
        source: A folder that holds the files already; nothing is downloaded then.
        options: The mirror, who decides on unknown checksums, and who is told how far a file has come.

    Yields:
        What became of each file, as soon as it is known.

    Raises:
        DatasetError: there is no data set of that name; a file cannot be had, or is not the published one.

    >>> import tempfile
    >>> from planner_eval.base.resources import folder
    >>> from planner_eval.datasets.fetch import Options
    >>> how = Options(accept=lambda file, checksum: True)  # of our own samples none is published
    >>> with tempfile.TemporaryDirectory() as cache:
    ...     samples = str(folder("data") / "samples")
    ...     [one.what for one in fetch_dataset("nestful-v2", cache=cache, source=samples, options=how)]
    ['copied']
    """
    expect_or_none(PATH, cache=cache, source=source)
    expect(of(Options, "Options(…) of planner_eval.datasets.fetch"), options=options)
    dataset = find(name)
    origin = None if source is None else place(dataset, source=source)
    return fetch(dataset, place(dataset, cache=cache), replace(options, source=origin))
