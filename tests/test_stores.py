"""The rows of a run in Parquet: those of the lines, the same bytes for any cut, whole after a kill."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.results.runs.model import JSON
from planner_eval.results.runs.stored import read_rows, write_rows
from tests import inside
from tests.conftest import ROOT, text_case
from tests.test_cli import planeval

ParquetFile = pytest.importorskip("pyarrow.parquet").ParquetFile
PRED, GOLD = (str(ROOT / "data" / "demo" / f"{side}.jsonl") for side in ("pred", "gold"))
MORE = {"score": ["--by", "calls", "--by", "depth"], "diff": ["--structure"]}


def kept(kind: str, folder: Path, store: str, *more: str) -> list[dict[str, Any]]:
    done = planeval(kind, PRED, GOLD, *MORE[kind], "--store", store, "-o", f"{folder}/", *more)
    assert done.returncode < 2, done.stderr
    assert not list(folder.glob("parts/*.jsonl"))
    if store == "jsonl":
        return [json.loads(line) for line in (folder / "rows.jsonl").read_bytes().splitlines()]
    assert not (folder / "rows.jsonl").exists()
    return list(read_rows(str(folder / "rows.parquet")))


@pytest.mark.more
@pytest.mark.parametrize("kind", MORE)
def test_columns_hold_what_the_lines_hold_however_it_is_cut(kind: str, tmp_path: Path) -> None:
    lines = kept(kind, tmp_path / "lines", "jsonl")
    columns = kept(kind, tmp_path / "columns", "parquet")
    for row in columns:
        for name in ("edits", "structure"):
            if row.get(name) is not None:
                row[name] = json.loads(row[name])
    assert list(map(bare, columns)) == list(map(bare, lines))
    reports = [(tmp_path / name / "report.json").read_bytes() for name in ("lines", "columns")]
    assert reports[0] == reports[1]
    whole = (tmp_path / "columns" / "rows.parquet").read_bytes()
    for jobs, part in ((1, 1), (2, 3)):
        folder = tmp_path / f"{jobs}-{part}"
        kept(kind, folder, "parquet", "--jobs", str(jobs), "--part", str(part))
        assert (folder / "rows.parquet").read_bytes() == whole


def bare(value: Any) -> Any:
    """Data without what is null, which is how a column says that a row has no such key."""
    if isinstance(value, dict):
        return {name: bare(each) for name, each in value.items() if each is not None}
    return value


def test_a_run_in_parquet_is_told_and_compared_as_one_in_lines(tmp_path: Path) -> None:
    one, other = runs = [tmp_path / store for store in ("jsonl", "parquet")]
    for folder in (one, other):
        kept("score", folder, folder.name)
    for form in ("text", "csv", "md", "junit", "json", "jsonl"):
        for more in ([], ["--only", "failures"]) if form != "csv" else ([],):
            lines, columns = (inside.planeval("score", each, "--format", form, *more) for each in runs)
            assert (columns.returncode, columns.stderr) == (lines.returncode, lines.stderr)
            if form in ("json", "jsonl"):  # 15.0 is a float in JSON, and any number is one in a column
                between = "\n" if form == "json" else ","
                told = [f"[{between.join(each.stdout.splitlines())}]" for each in (lines, columns)]
                assert json.loads(told[0]) == json.loads(told[1])
            else:
                assert columns.stdout == lines.stdout
    found = inside.planeval("compare", one, other)
    assert (found.returncode, found.stderr.count("Error")) == (0, 0), found.stderr
    assert "jsonl and parquet have the same scores: n = 13" in found.stdout
    report = pe.score(other)
    assert report.rows[-1] == pe.score(one).rows[-1]
    assert [row.id for row in report.rows[2:4]] == [row.id for row in report.rows][2:4]


def test_a_run_goes_on_in_the_store_it_was_begun_in(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    rows = folder / "rows.parquet"
    kept("score", folder, "parquet", "--part", "4")
    whole = rows.read_bytes()
    before = {file: file.stat().st_mtime_ns for file in folder.rglob("*") if file.is_file()}
    kept("score", folder, "parquet")
    assert {file: file.stat().st_mtime_ns for file in folder.rglob("*") if file.is_file()} == before
    other = inside.planeval("score", PRED, GOLD, *MORE["score"], "-o", f"{folder}/")
    assert (other.returncode, '--store was "parquet" and is "jsonl"' in other.stderr) == (2, True)
    for damaged in (whole[:500] + b"?" + whole[501:], whole[:-9], b""):
        rows.write_bytes(damaged)
        told = inside.planeval("score", folder)
        assert (told.returncode, told.stdout) == (2, "")
        assert "rows.parquet and parts/ were changed since the run" in told.stderr
        kept("score", folder, "parquet")
        assert rows.read_bytes() == whole
    (folder / "parts" / "rows.json").unlink()
    assert inside.planeval("score", folder).returncode == 2
    kept("score", folder, "parquet")
    assert rows.read_bytes() == whole
    rows.unlink()
    assert "the run is not finished" in inside.planeval("score", folder).stderr


DIES = text_case("test_stores-DIES.txt")


def alone(code: str, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, *argv], cwd=ROOT, capture_output=True, text=True)


def test_parts_that_are_there_are_put_together_again(tmp_path: Path) -> None:
    """A kill may come when all rows stand in one file, and before those of the parts are removed."""
    folder, saved = tmp_path / "run", tmp_path / "saved"
    argv = ["score", PRED, GOLD, *MORE["score"], "--store", "parquet", "--part", "4", "-o", f"{folder}/"]
    done = alone(DIES.replace("sys.argv.pop()", repr(str(saved))), *argv)
    assert done.returncode == 9, done.stderr
    whole = (folder / "rows.parquet").read_bytes()
    for rows in saved.glob("*.jsonl"):
        rows.rename(folder / "parts" / rows.name)
    marks = {file.name: file.stat().st_mtime_ns for file in (folder / "parts").glob("0*.json")}
    (folder / "rows.parquet").write_bytes(whole[:-1])
    kept("score", folder, "parquet")
    assert (folder / "rows.parquet").read_bytes() == whole
    assert {file.name: file.stat().st_mtime_ns for file in (folder / "parts").glob("0*.json")} == marks


def test_a_store_that_cannot_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    code = "import sys; sys.modules['pyarrow'] = None; from planner_eval.cli import run; sys.exit(run())"
    done = alone(code, "score", PRED, GOLD, "--store", "parquet", "-o", f"{tmp_path}/run/")
    assert (done.returncode, done.stdout) == (2, "")
    assert "writing Parquet needs pyarrow: pip install 'planner_eval[parquet]'" in done.stderr
    assert not (tmp_path / "run").exists()
    with pytest.raises(InputError, match="unknown store 'csv', expected one of jsonl, parquet"):
        pe.score(Path(PRED), Path(GOLD), running=pe.Running(folder=tmp_path / "run", store="csv"))


def test_groups_hold_so_many_rows_whatever_their_shape(tmp_path: Path) -> None:
    columns, file = {"id": str, "n": float, "list": [[str]], "any": JSON}, tmp_path / "rows.parquet"
    rows: list[dict[str, Any]] = [
        {"id": f"é{k}", "n": k / 2, "list": [[None, "x"]] * (k % 3), "any": {"k": k}} for k in range(23_456)
    ]
    rows[7] = {"id": "\udc80 \\ud800 \ud83d", "any": [1, "\udc80"]}
    rows[8] = {"id": "x" * 3_000_000}
    lines = (json.dumps(row, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n" for row in rows)
    with file.open("wb") as out:
        write_rows(lines, columns, out)
    held = ParquetFile(file).metadata
    assert [held.row_group(at).num_rows for at in range(held.num_row_groups)] == [10_000, 10_000, 3_456]
    found = list(read_rows(str(file)))
    assert found[7] == {"id": "\\udc80 \\ud800 \\ud83d", "n": None, "list": None, "any": '[1, "\\udc80"]'}
    assert found[8]["id"] == rows[8]["id"]
    del found[7:9], rows[7:9]
    assert found == [{**row, "any": json.dumps(row["any"])} for row in rows]


def test_a_row_of_another_shape_is_no_silent_null(tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    for line in (b'{"idd": "a"}\n', b'{"id": 1}\n', b'{"n": "x"}\n'):
        with file.open("wb") as out, pytest.raises(ValueError):  # noqa: PT011
            write_rows([line], {"id": str, "n": int}, out)
    file.write_bytes(b"PAR1")
    with pytest.raises(InputError, match="cannot be read"):
        list(read_rows(str(file)))
