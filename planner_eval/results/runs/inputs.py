"""The files behind the pairs of a run, and what tells them from others."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.storing import digest_origin
from planner_eval.results.runs.folder import Input


def inputs_of(role: str, file: PlanFile) -> list[Input]:
    """A file of plans as what a run reads: each of its files, or its records where it comes from none.

    Args:
        role: What it is for: ``pred``, ``gold`` …
        file: The file, or directory, or what was read from standard input or a data set.

    Raises:
        InputError: a file cannot be read, or is not what it was when its records were read.
    """
    if not file.origins:
        digest = blake2b(digest_size=32)
        for record in file.records:
            text = repr((record.id, record.source, record.fields, record.error and str(record.error)))
            digest.update(text.encode("utf-8", errors="backslashreplace"))
        return [Input(role, file.name, len(file.records), digest.hexdigest())]
    return [Input(role, origin.path, origin.size, origin.digest) for origin in file.digested()]


def data_input(role: str, name: str, samples: Sequence[Any]) -> Input:
    """What was read of a published data set as what a run reads."""
    digest = blake2b(digest_size=32)
    for sample in samples:
        digest.update(repr(sample).encode("utf-8", errors="backslashreplace"))
    return Input(role, name, len(samples), digest.hexdigest())


def input_of(role: str, name: str) -> Input:
    """One file that a run reads.

    Raises:
        InputError: it cannot be read.
    """
    origin = digest_origin(name)
    return Input(role, name, origin.size, origin.digest)
