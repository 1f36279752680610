"""Two sets of verdicts on the same records, a judge's and a person's."""

from __future__ import annotations

from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.base.given import NAME, NAMES, expect_or_none
from planner_eval.benchmarks.verdict_files import read_verdicts
from planner_eval.scoring.agreed import Agreement
from planner_eval.scoring.agreement import agreement


def agree(
    first: Any,
    second: Any,
    *,
    positive: str | None = None,
    id_field: str | None = None,
    verdict_field: str | None = None,
    names: tuple[str, str] | None = None,
) -> Agreement:
    """Say how far verdicts agree with a reference's: agreement, Cohen's kappa, errors of either kind.

    Args:
        first: The verdicts that are looked at, a judge's: a file, a list of records with an id and a verdict,
            or a mapping from ids to verdicts. A verdict is a yes or no in any of its words, or a class.
        second: The reference, a person's, likewise.
        positive: The class that counts as yes, all others as no.
        id_field: The field that names a record; recognised when left out.
        verdict_field: The field that holds its verdict; recognised when left out.
        names: What the two are called; their files' names when left out.

    Raises:
        InputError: a file cannot be used, or a field cannot be told; PairingError where no record has a
            partner.

    >>> found = agree({"a": "pass", "b": "pass", "c": "fail"}, {"a": True, "b": False, "c": False})
    >>> found.figure("false positives"), found.cells
    (0.3333333333333333, ((1, 1), (0, 1)))
    """
    expect_or_none(NAME, positive=positive, id_field=id_field, verdict_field=verdict_field)
    expect_or_none(NAMES, names=names)
    if names is not None and (isinstance(names, str) or len(names) != 2):
        raise InputError(f"names is {names!r}, expected two names")
    verdicts = [
        read_verdicts(source, id_field=id_field, verdict_field=verdict_field) for source in (first, second)
    ]
    if names is not None or verdicts[0].name == verdicts[1].name:
        verdicts = [
            v._replace(name=name) for v, name in zip(verdicts, names or ("first", "second"), strict=True)
        ]
    return agreement(verdicts[0], verdicts[1], positive=positive)
