"""Starting up: whole processes, beside a bare interpreter and beside click's import."""

import sys
from collections.abc import Iterable

from tests.conftest import ROOT
from tests.performance.timing import process_ratio

PLANEVAL = str(ROOT / ".venv" / "bin" / "planeval")


def rows() -> Iterable[tuple[str, str, str]]:
    """The start-up figures."""
    bare = [sys.executable, "-c", "pass"]
    click = [sys.executable, "-c", "import click"]
    demo = ROOT / "data" / "demo"
    pred, gold = str(demo / "pred.json"), str(demo / "gold.json")
    for what, ours, other, target in (
        ("planeval --version / python -c pass", [PLANEVAL, "--version"], bare, "≤ 1.7 ×"),
        ("planeval --help / import click", [PLANEVAL, "--help"], click, "≤ 1.3 ×"),
        (
            "planeval diff that finds a small pair the same / import click", [PLANEVAL, "diff", gold, gold],
            click, "≤ 1.8 ×",
        ),
        (
            "planeval diff that finds a small pair different / import click", [PLANEVAL, "diff", pred, gold],
            click, "",
        ),
        ("planeval score of a small pair / import click", [PLANEVAL, "score", pred, gold], click, "≤ 3 ×"),
    ):  # fmt: skip
        mine, theirs, factor = process_ratio(ours, other)
        yield what, f"{factor:.2f} × ({mine * 1000:.0f} ms / {theirs * 1000:.0f} ms)", target
