"""Texts stay in their boxes whatever font the reader has: drawn with a narrow one, measured by the widest."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from planner_eval.results.drawing.scene import text_width
from planner_eval.results.drawing.themes import names
from tests.conftest import ROOT
from tests.render_plans import SVG, bounds

DEMO = ROOT / "data" / "demo"
NARROW = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
<dir>{fonts}</dir><cachedir>{cache}</cachedir>
<selectfont><rejectfont><glob>*DejaVu*</glob></rejectfont></selectfont></fontconfig>"""


def fonts() -> Path:
    """matplotlib's fonts: DejaVu, which is wide, STIX, which is narrow, and what Helvetica measures."""
    pytest.importorskip("matplotlib")
    import matplotlib

    return Path(matplotlib.get_data_path()) / "fonts"


def shown(text: ET.Element) -> tuple[float, float]:
    """Where a text begins and ends in the widest font."""
    assert text.get("text-anchor") == "start", "a text around its middle grows to both sides"
    left, size = float(text.get("x", "")), float(text.get("font-size", ""))
    words = (text.text or "").replace("\xa0", " ")
    return left, left + text_width(words, size, bold=text.get("font-weight") == "bold")


def outside(drawing: str) -> list[str]:
    """The texts of calls, of frames and of the legend that leave what is drawn around them."""
    root, found = ET.fromstring(drawing), []
    for group in root.iter(f"{SVG}g"):
        if group.get("class") in ("node", "cluster"):
            left, _, right, _ = bounds(group)
            texts = group.iter(f"{SVG}text")
        elif group.get("class") == "graph":
            left, right = 0.0, max(bounds(group)[2], 0.0)
            texts = iter(group.findall(f"{SVG}text"))
        else:
            continue
        for text in texts:
            start, end = shown(text)
            if start < left or end > right:
                found.append(f"{text.text}: {start}–{end} in {left}–{right}")
    graph = next(g for g in root.iter(f"{SVG}g") if g.get("class") == "graph")
    cells = [p.get("points", "") for p in graph.findall(f"{SVG}polygon")][1:]
    rows = [[float(n) for n in re.findall(r"-?\d+\.?\d*", cell)] for cell in cells]
    for text in graph.findall(f"{SVG}text"):
        (start, end), y = shown(text), float(text.get("y", ""))
        for row in rows:
            inside = min(row[::2]) <= start <= max(row[::2]) and min(row[1::2]) <= y <= max(row[1::2])
            if inside and end > max(row[::2]):
                found.append(f"{text.text}: ends at {end}, its cell at {max(row[::2])}")
    return found


@pytest.mark.skipif(os.name == "nt", reason="fontconfig chooses the fonts")
@pytest.mark.parametrize("look", names())
def test_what_is_drawn_with_a_narrow_font_has_room_for_the_widest(look: str, tmp_path: Path) -> None:
    pytest.importorskip("pygraphviz")
    config = tmp_path / "fonts.conf"
    config.write_text(NARROW.format(fonts=fonts() / "ttf", cache=tmp_path / "cache"))
    environment = os.environ | {"FONTCONFIG_FILE": str(config)}
    for words in (
        ["diff", str(DEMO / "pred.json"), str(DEMO / "gold.json")],
        ["diff", str(DEMO / "pred.jsonl"), str(DEMO / "gold.jsonl"), "--id", "trip-value"],
        ["render", str(DEMO / "gold.jsonl"), "--id", "trip-same", "--field", "text=gold"],
        ["stats", str(DEMO / "gold.jsonl"), "--plot", f"tools={tmp_path / 'drawn.svg'}"],
        ["stats", str(DEMO / "gold.jsonl"), "--plot", f"shapes={tmp_path / 'drawn.svg'}"],
    ):
        file = tmp_path / "drawn.svg"
        to = [] if words[0] == "stats" else ["--format", "svg", "-o", str(file)]
        command = [sys.executable, "-m", "planner_eval", *words, "--theme", look, *to]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stderr
        assert outside(file.read_text(encoding="utf-8")) == [], words


@pytest.mark.parametrize("file", sorted((ROOT / "docs" / "images").glob("*.svg")), ids=lambda f: f.name)
def test_the_pictures_of_the_docs_have_room_for_the_widest_font(file: Path) -> None:
    assert outside(file.read_text(encoding="utf-8")) == []


def test_the_table_is_as_wide_as_dejavu_and_helvetica() -> None:
    tools = pytest.importorskip("fontTools.ttLib")
    names_of = pytest.importorskip("fontTools.agl").toUnicode
    for bold, wide, afm in ((False, "DejaVuSans", "Helvetica"), (True, "DejaVuSans-Bold", "Helvetica-Bold")):
        font = tools.TTFont(fonts() / "ttf" / f"{wide}.ttf")
        unit = font["head"].unitsPerEm / 1_000
        measured = {chr(code): font["hmtx"][name][0] / unit for code, name in font.getBestCmap().items()}
        text = (fonts() / "pdfcorefonts" / f"{afm}.afm").read_text()
        for points, name in re.findall(r"WX (\d+) ; N (\w+)", text):
            if len(char := names_of(name)) == 1:
                measured[char] = max(measured.get(char, 0), float(points))
        codes = (*range(0x20, 0x530), *range(0x2000, 0x2300))
        letters = [chr(code) for code in codes if chr(code) in measured]
        assert len(letters) > 1_800
        narrow = [char for char in letters if text_width(char, 1_000, bold=bold) < int(measured[char])]
        assert narrow == []


def test_letters_that_the_table_lacks_have_room() -> None:
    assert text_width("예약", 10) == 20
    assert text_width("e\u0301", 100) == text_width("e", 100)
    assert text_width("🙂", 10) == 14
