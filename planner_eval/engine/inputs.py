"""The files behind the pairs of a run, and what tells them from others."""

from __future__ import annotations

from hashlib import blake2b

from planner_eval.base.errors import InputError
from planner_eval.engine.folder import Input
from planner_eval.engine.large import paths
from planner_eval.records.files import PlanFile

_CHUNK = 1 << 20


def inputs_of(role: str, file: PlanFile) -> list[Input]:
    """A file of plans as what a run reads: each of its files, or its records where it comes from none.

    Args:
        role: What it is for: ``pred``, ``gold`` …
        file: The file, or directory, or what was read from standard input or a data set.

    Raises:
        InputError: a file cannot be read.
    """
    names = paths(file)
    if not names:
        found = blake2b(digest_size=16)
        for one in file.records:
            found.update(
                repr((one.id, one.source, one.fields, str(one.error or ""))).encode(errors="replace")
            )
        return [Input(role, file.name, len(file.records), found.hexdigest())]
    return [input_of(role, name) for name in names]


def input_of(role: str, name: str) -> Input:
    """One file that a run reads.

    Raises:
        InputError: it cannot be read.
    """
    found, size = blake2b(digest_size=16), 0
    try:
        with open(name, "rb") as stream:
            while data := stream.read(_CHUNK):
                found.update(data)
                size += len(data)
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or error}") from None
    return Input(role, name, size, found.hexdigest())
