"""The page's script without a browser: it parses, makes no markup of text, and all of it is used."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from planner_eval.reports.notebook import SCRIPTS as IN_NOTEBOOKS
from planner_eval.reports.page import SCRIPTS
from tests.conftest import ROOT

FOLDER = ROOT / "viz" / "report"
FILES = sorted(FOLDER.glob("*.js"))
REFUSED = {
    r"(inner|outer|insertAdjacent)HTML|document\.write|DOMParser|ContextualFragment": "makes markup",
    r"\beval\(|new Function|setTimeout\(\s*[\"'`]|import\(": "runs text",
    r"\bfetch\(|XMLHttpRequest|WebSocket|sendBeacon|\.src\s*=": "asks the network",
    r"</script|<!--": "ends or hides a script in a page",
    r"setAttribute\(\s*[\"'](?:style|on)|\bstyle:|cssText": "is refused by the page's policy",
    r"\bvar |(?<![=!])==(?!=)|!=(?!=)": "is not how this script is written",
}


def test_every_script_is_part_of_the_page_or_of_what_notebooks_show() -> None:
    assert sorted({*SCRIPTS, *IN_NOTEBOOKS}) == [file.name for file in FILES]


@pytest.mark.parametrize("file", FILES, ids=[file.name for file in FILES])
def test_a_script_makes_no_markup_and_is_short(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    for pattern, why in REFUSED.items():
        found = re.search(pattern, text)
        assert found is None, f"{file.name}: {found and found[0]!r} {why}"
    assert text.count("\n") <= 400


@pytest.mark.parametrize("file", FILES, ids=[file.name for file in FILES])
def test_a_script_parses(file: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    done = subprocess.run([node, "--check", str(file)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_template_has_no_style_or_script_of_its_own() -> None:
    text = (FOLDER / "page.html").read_text(encoding="utf-8")
    assert not re.search(r"\sstyle=|\son\w+=|https?:|//", text)
    assert set(re.findall(r"{{(\w+)}}", text)) == {
        "title", "style", "style_hash", "script", "script_hash", "head", "packs"
    }  # fmt: skip


@pytest.mark.parametrize("role", ["missing", "extra", "changed", "wrong"])
def test_roles_have_the_colours_of_the_drawings(role: str) -> None:
    """Light as the default theme, dark as the dark one; ids are CSS's names for text and ground."""
    style = (FOLDER / "drawing.css").read_text(encoding="utf-8")
    themes = [ROOT / "viz" / "themes" / f"{name}.toml" for name in ("default", "dark")]
    light, dark = (tomllib.loads(theme.read_text(encoding="utf-8"))["roles"][role] for theme in themes)
    assert f"--{role}: light-dark({light['text']}, {dark['text']})" in style
    assert f"--{role}-soft: light-dark({light['box']['fillcolor']}, {dark['box']['fillcolor']})" in style
