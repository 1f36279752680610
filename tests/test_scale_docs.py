"""The questions that docs/scale.md asks of a run have the answers that it shows, of either store."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.test_cli import planeval

PAGE = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
ASKED = re.findall(r"```sql\n(.*?)```\n\n((?:\|[^\n]*\n)+)", PAGE, re.S)
PRED, GOLD = (str(ROOT / "data" / "demo" / f"{side}.jsonl") for side in ("pred", "gold"))


@pytest.mark.parametrize("store", ["jsonl", "parquet"])
def test_questions_have_the_answers_that_are_shown(store: str, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    run = tmp_path / "run"
    done = planeval("score", PRED, GOLD, "--by", "calls", "--store", store, "-o", f"{run}/")
    assert done.returncode == 0, done.stderr
    source = f"'{run}/rows.parquet'" if store == "parquet" else f"read_json('{run}/rows.jsonl')"
    assert len(ASKED) == 3
    for question, shown in ASKED:
        found = duckdb.sql(question.replace("'run/rows.parquet'", source))
        rows = [found.columns, ["---"] * len(found.columns), *map(list, found.fetchall())]
        table = "".join(f"| {' | '.join(map(str, row))} |\n" for row in rows)
        assert table.replace(" --- ", "---") == shown, table
