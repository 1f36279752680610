"""What the library says of thousands of inputs is what it said when somebody last looked."""

from collections.abc import Mapping
from pathlib import Path

from tests import unchanged
from tests.conftest import ROOT

DATA = ROOT / "data"


def check(name: str, table: Mapping[str, str]) -> None:
    """Hold answers against those that are kept under a name."""
    wanted = unchanged.read_digests(name)
    changed = [key for key in {**wanted, **table} if wanted.get(key) != table.get(key)]
    assert not changed, (
        f"{len(changed)} of {len(wanted)} answers are others than before: {', '.join(changed[:10])}; "
        "make same BASE=HEAD shows how, python -m tests.unchanged accepts them"
    )


def test_pairs_are_read_and_compared_as_before() -> None:
    check("pairs", unchanged.said_of_pairs(DATA, None))


def test_texts_are_read_as_before() -> None:
    check("texts", unchanged.said_of_texts(DATA, None))


def test_damaged_texts_are_read_as_before() -> None:
    check("damaged", unchanged.said_of_damaged_texts(DATA))


def test_damaged_cases_are_read_and_compared_as_before() -> None:
    check("damaged-cases", unchanged.said_of_damaged_cases(unchanged.FOLDER.parent))


def test_commands_print_as_before() -> None:
    check("commands", unchanged.said_by_commands(DATA))


def test_pairs_of_published_plans_are_compared_as_before(reference: Path) -> None:
    check("published-pairs", unchanged.said_of_pairs(DATA, reference))


def test_published_texts_are_read_as_before(reference: Path) -> None:
    check("published-texts", unchanged.said_of_texts(DATA, reference))
