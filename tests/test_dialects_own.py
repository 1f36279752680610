"""Users' own rows: a template is read as it is written, and a row that does not come back is refused."""

import json
import os
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

from planner_eval.reading.dialects.dialect import SHAPES
from planner_eval.reading.dialects.listing import prove
from planner_eval.reading.dialects.notations.json_rows import has_usual_template
from planner_eval.reading.dialects.table import _may_have_entry_points, table
from tests.conftest import ROOT, tabled, tables
from tests.inside import planeval

TABLES = tables(__file__)

ROW = """
[[dialect]]
name = "own"
shape = "json"
call = '{"fn": "$name", "kw": "$arguments"}'
example = '[{"fn": "f", "kw": {"a": 1}}]'
"""
PLAIN = [{"name": "f", "arguments": {"a": {"b": [1, None]}}}, {"name": "g", "arguments": {}}]
FORMS = TABLES["FORMS"]


def calls(*arguments: str, text: str) -> list[tuple[str, dict[str, object]]]:
    done = planeval("parse", "--format", "json", *arguments, "-", text=text)
    assert done.returncode == 0, done.stdout + done.stderr
    return [(call["name"], call["arguments"]) for call in json.loads(done.stdout)["plan"]["calls"]]


@pytest.mark.parametrize("form", FORMS)
def test_a_template_is_read_as_it_is_written(form: str, tmp_path: Path) -> None:
    rows = tmp_path / "own.toml"
    rows.write_text(FORMS[form], encoding="utf-8")
    given = ("--wrappers", str(rows))
    done = planeval("convert", *given, "--to", "own", "-", text=json.dumps(PLAIN))
    assert done.returncode == 0, done.stderr
    assert '"fn"' in done.stdout or '\\"fn\\"' in done.stdout
    wanted = [(call["name"], call["arguments"]) for call in PLAIN]
    assert calls(*given, "--from", "own", text=done.stdout) == wanted
    assert calls(*given, text=done.stdout) == wanted
    assert calls(*given, text=f"Sure, I call:\n{done.stdout}") == wanted


def test_every_shipped_row_comes_back_and_is_spelt_as_usual() -> None:
    """Files are cut into records before the table is read: other names of keys go into messages.py."""
    for name, row in table().items():
        prove(row, "data/wrappers.toml")
        if SHAPES[row.shape].form in ("data", "calls"):
            assert not row.call or has_usual_template(row), name


@pytest.mark.parametrize("folder", ["own-1.0.dist-info", "own.egg-info", "own-1.0-py3.egg/EGG-INFO"])
def test_rows_of_an_installed_package_are_found(tmp_path: Path, folder: str) -> None:
    """Most installations have none, which is told without the library that would list them."""
    info = tmp_path / folder
    info.mkdir(parents=True)
    code = f"import tomllib\nrows = lambda: tomllib.loads({ROW!r})['dialect']\n"
    (tmp_path / "own_rows.py").write_text(code)
    program = """
import sys
from planner_eval.reading.dialects.table import custom_rows
before = [row.name for row in custom_rows()], "importlib.metadata" in sys.modules
for cached in ("_installed_rows", "_installed_tuple"):
    custom_rows.__globals__[cached].cache_clear()
open(sys.argv[1], "w").write("[planner_eval.wrappers]\\nown = own_rows:rows\\n")
print(*before, [row.name for row in custom_rows()])
"""
    (info / "METADATA").write_text("Name: own\nVersion: 1.0\n")
    egg = [str(info.parent)] if info.name == "EGG-INFO" else []
    held = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *egg, str(ROOT)])}
    argv = [sys.executable, "-c", program, str(info / "entry_points.txt")]
    done = subprocess.run(argv, capture_output=True, text=True, env=held)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"[] {info.name == 'EGG-INFO'} ['own']\n"


@tabled("file, text, path, expected")
def test_packages_are_asked_for_rows_where_one_may_have_some(
    file: str, text: str, path: str, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(text)
    finders = [each for each in sys.meta_path if not hasattr(each, "find_distributions")]
    monkeypatch.setattr(sys, "meta_path", [*finders, PathFinder])
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / path)])
    assert _may_have_entry_points() is expected
