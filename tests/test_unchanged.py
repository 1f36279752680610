"""What the library says of thousands of inputs is what it said when somebody last looked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.unchanged import (
    PARTS,
    drawn_inputs,
    read_digests,
    said_of_damaged_texts,
    said_of_drawn,
    said_of_pairs,
    said_of_texts,
)

DATA = ROOT / "data"
parts = pytest.mark.parametrize("part", range(PARTS), ids="part{}".format)


def check(name: str, table: Mapping[str, str], of: Collection[str] | None = None) -> None:
    """Hold answers against those that are kept under a name, to all inputs or to some."""
    wanted = {key: digest for key, digest in read_digests(name).items() if of is None or key in of}
    changed = [key for key in {**wanted, **table} if wanted.get(key) != table.get(key)]
    assert not changed, (
        f"{len(changed)} of {len(wanted)} answers are others than before: {', '.join(changed[:10])}; "
        "make same BASE=HEAD shows how, python -m tests.unchanged accepts them"
    )


def test_pairs_are_read_and_compared_as_before() -> None:
    check("pairs", said_of_pairs(DATA, None))


def test_texts_are_read_as_before() -> None:
    check("texts", said_of_texts(DATA, None))


def test_damaged_texts_are_read_as_before() -> None:
    check("damaged", said_of_damaged_texts(DATA))


def test_pairs_of_published_plans_are_compared_as_before(reference: Path) -> None:
    check("published-pairs", said_of_pairs(DATA, reference))


def test_published_texts_are_read_as_before(reference: Path) -> None:
    check("published-texts", said_of_texts(DATA, reference))


def check_drawn(kind: str, part: int) -> None:
    check(f"drawn-{kind}", said_of_drawn(kind, part), drawn_inputs(kind, part))


@parts
def test_drawn_texts_are_read_as_before(part: int) -> None:
    check_drawn("texts", part)


@parts
def test_drawn_pairs_are_compared_as_before(part: int) -> None:
    check_drawn("pairs", part)


@parts
def test_drawn_command_lines_say_what_they_said(part: int) -> None:
    check_drawn("commands", part)
