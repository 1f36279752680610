"""A baseline: what was found before, and does not count again."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.json_files import read_json
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import shorten
from planner_eval.curation.audit.gold import GoldDoubt
from planner_eval.results.findings import digests

SCHEMA = "planeval.baseline/1"


class Baseline(NamedTuple):
    """What was found before.

    Args:
        doubts: What each doubt is known by; no place in a file is part of it.
        irregularities: How often each code was found.
        imperfect: The records of a data set that were not perfect against themselves, by variant.
    """

    doubts: frozenset[str] = frozenset()
    irregularities: Mapping[str, int] = {}
    imperfect: Mapping[str, frozenset[str]] = {}

    def new(self, doubts: Sequence[GoldDoubt]) -> tuple[GoldDoubt, ...]:
        """The doubts that are not known."""
        if not self.doubts:
            return tuple(doubts)
        named = digests([doubt.shown for doubt in doubts])
        return tuple(doubt for doubt, name in zip(doubts, named, strict=True) if name not in self.doubts)


def baseline_data(
    doubts: Sequence[GoldDoubt], irregularities: Mapping[str, int], imperfect: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """What was found as JSON data, which :func:`read_baseline` reads.

    Args:
        doubts: The doubts.
        irregularities: How often each code was found.
        imperfect: The records that are not perfect against themselves, by variant.

    >>> sorted(baseline_data([], {"dataset.type": 2}, {}))
    ['findings', 'imperfect', 'irregularities', 'schema']
    """
    named = zip(doubts, digests([doubt.shown for doubt in doubts]), strict=True)
    rows = sorted((doubt.found.code, str(doubt.record), name) for doubt, name in named)
    return {
        "schema": SCHEMA,
        "findings": [{"code": code, "record": record, "digest": name} for code, record, name in rows],
        "irregularities": dict(sorted(irregularities.items())),
        "imperfect": {variant: sorted(names) for variant, names in sorted(imperfect.items())},
    }


def read_baseline(source: Any) -> Baseline:
    """A baseline, from its file or as data.

    Args:
        source: The path of the file, what :meth:`DatasetCheck.baseline` gave, or None for none.

    Raises:
        InputError: there is no such file, or it is no baseline; says what was found.

    >>> read_baseline(baseline_data([], {"dataset.type": 2}, {})).irregularities
    {'dataset.type': 2}
    """
    if source is None:
        return Baseline()
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        data = _read_file(name)
    else:
        name, data = "the baseline", source
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        schema = data.get("schema") if isinstance(data, dict) else data
        description = shorten(repr(schema), 40) if schema is not None else "none"
        raise InputError(
            f"{name}: expected a baseline, whose schema is {SCHEMA!r}, found {description}; "
            "--write-baseline writes one"
        )
    try:
        return Baseline(
            frozenset(str(row["digest"]) for row in data["findings"]),
            {str(code): int(count) for code, count in data["irregularities"].items()},
            {str(variant): frozenset(map(str, names)) for variant, names in data["imperfect"].items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise InputError(
            f"{name}: not as --write-baseline writes it ({type(problem).__name__}: {problem}); write it anew"
        ) from None


def _read_file(name: str) -> Any:
    try:
        text = Path(name).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"--baseline {name}: no such file; --write-baseline {name} writes one") from None
    except UnicodeDecodeError:
        raise InputError(f"--baseline {name}: not UTF-8 text") from None
    except OSError as error:
        raise InputError(f"--baseline {name}: {error.strerror}") from None
    try:
        return read_json(text)
    except ParseError as error:
        raise InputError(f"{name}, {error.brief}") from None
