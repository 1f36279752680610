"""Plots of distributions."""

import re
import sys
import xml.etree.ElementTree as ET

import pytest

from planner_eval.base.errors import InputError, RenderError
from planner_eval.results.drawing.charts import Bars, Chart, distribution

PANELS = (
    distribution("depth", "", "plans", {"one": {1: 3, 2: 1}, "two": {1: 1, 4: 1}}),
    distribution("calls", "", "plans", {"one": {n: 1 for n in range(1, 21)}}),
    distribution("kinds", "", "arguments", {"two": {"text": 3, "number": 1}}),
)


def plot(*panels: Bars, format: str = "svg") -> bytes:
    return Chart("plot", panels).image(format)


def texts(picture: bytes) -> list[str]:
    root = ET.fromstring(picture)
    return [(t.text or "").strip() for t in root.iter("{http://www.w3.org/2000/svg}text")]


def bars(picture: bytes) -> list[float]:
    """The heights of the bars of the first colour, in points."""
    path = rb'd="M ([\d.]+) ([\d.]+) \nL [\d.]+ [\d.]+ \nL [\d.]+ ([\d.]+) [^"]*" clip-path[^>]*fill: #0072b2'
    return [float(low) - float(high) for _, low, high in re.findall(path, picture)]


def test_all_words_are_there() -> None:
    pytest.importorskip("matplotlib")
    shown = texts(plot(*PANELS))
    words = {"depth", "calls", "kinds", "one", "two", "text", "number", "% of plans", "% of arguments", "13+"}
    assert words <= set(shown)
    assert shown.count("3") >= 2  # depth has a gap at 3 for both


def test_bars_are_as_high_as_their_shares() -> None:
    pytest.importorskip("matplotlib")
    heights = bars(plot(distribution("depth", "", "plans", {"one": {1: 3, 2: 1}})))
    assert len(heights) == 2
    assert heights[0] / heights[1] == pytest.approx(3, rel=0.01)


def test_hostile_names_are_shown_as_they_are() -> None:
    pytest.importorskip("matplotlib")
    names = ["$\\frac{1}$", "_hidden", "<b>&", "a\x00\x1b[31m\ud800", "한국어"]
    shown = texts(plot(distribution("$x_", "", "\\y", {name: {"$_": 1} for name in names})))
    assert {"$\\frac{1}$", "_hidden", "<b>&", "a\\x00\\x1b[31m\\ud800", "한국어", "$x_", "$_"} <= set(shown)


def test_what_cannot_be_plotted_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="unknown chart format 'gif'"):
        plot(*PANELS, format="gif")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(RenderError, match=r"planner_eval\[plot\]"):
        plot(*PANELS)
