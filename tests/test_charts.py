"""Charts as the papers' figures have them: what they show, how they look, and what is said in their place."""

import json
import re
import sys
from html import unescape
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import InputError, RenderError
from planner_eval.results.drawing.charts import (
    Bars,
    Chart,
    HeatMap,
    Point,
    apply_style,
    distribution,
    draw_figure,
)  # fmt: skip
from tests.conftest import ROOT, AsKept, tabled, tables
from tests.prediction_samples import appbench_catalogue
from tests.test_table import SAMPLES, planeval, predicted, scored

TABLES = tables(__file__)

pytest.importorskip("matplotlib")

ANSWERS = SAMPLES / "answers"


FIGURES = TABLES["FIGURES"]


def gold(name: str) -> str:
    return str(SAMPLES / name / "v2" if name == "nestful" else SAMPLES / name)


def plotted(name: str, file: Path, *more: str) -> str:
    argv = ("score", str(ANSWERS / f"{name}.jsonl"), gold(name), "--benchmark", name, "--plot", str(file))
    done = planeval(*argv, *more)
    assert done.returncode == 0, done.stderr
    return done.stderr


def words(svg: str) -> set[str]:
    return set(re.findall(r"<text[^>]*>([^<]*)</text>", svg)) | set(re.findall(r"<tspan[^>]*>([^<]*)<", svg))


@pytest.mark.more
@pytest.mark.parametrize(("name", "figure", "more", "said"), FIGURES, ids=[each[1] for each in FIGURES])
def test_figures(name: str, figure: str, more: tuple[str, ...], said: list[str], tmp_path: Path) -> None:
    for columns, points in (("1", 237.6), ("2", 504)):
        file = tmp_path / f"{columns}.svg"
        told = plotted(name, file, "--figure", figure, "--columns", columns, *more)
        svg = file.read_text(encoding="utf-8")
        assert set(said) <= {re.sub(r" \(\d+\)$", "", word) for word in words(svg)} | words(svg)
        assert f'width="{points:g}pt"' in svg
        assert f"{file}: {figure}" in told


def chart(name: str, figure: str, **options: str) -> tuple[Any, Any]:
    answers = str(ANSWERS / f"{name}.jsonl")
    rules = pe.BenchmarkRules(("corrected",), settings=options)
    found = pe.score_benchmark(answers, gold(name), name, rules=rules)
    return pe.chart({"mine": found}, figure), found


@pytest.mark.parametrize(("name", "figure", "called"), [
    ("complexfuncbench", "complexfuncbench-4", "error share {}"),
    ("complexfuncbench", "complexfuncbench-5", "error rate {}")
])  # fmt: skip
def test_bars_are_the_figures_of_the_report(name: str, figure: str, called: str) -> None:
    made, found = chart(name, figure)
    report = found.reports["corrected"]
    (panel,) = made.panels
    assert len(panel.ticks) > 3
    for tick, point in zip(panel.ticks, panel.series["mine"], strict=True):
        own = report.figure(called.format(tick))
        assert point.value == pytest.approx(100 * own.value)
        assert point.n == (own.denominator if "rate" in called else 0)
        assert point.low <= point.value <= point.high


def test_parts_add_up_to_the_figures_of_the_report() -> None:
    made, found = chart("appbench", "appbench-4")
    (panel,) = made.panels
    assert {1.0, 2.0} & {key[1] for key in panel.cells}
    cells = panel.cells.values()
    assert sum(cell.n for cell in cells) == found.reports["corrected"].n
    whole = sum(cell.value * cell.n for cell in cells) / sum(cell.n for cell in cells)
    assert whole == pytest.approx(100 * found.reports["corrected"].value("argu.em"))
    made, found = chart("appbench", "appbench-6")
    points = next(panel for panel in made.panels if panel.title == "Succ").series["mine"]
    mean = sum(point.value * point.n for point in points) / sum(point.n for point in points)
    assert mean == pytest.approx(100 * found.reports["corrected"].value("complete_match"))
    made, found = chart("functionchat", "functionchat-types")
    value = found.reports["corrected"].value
    rates = [100 * value(f"singlecall {kind} pass rate") for kind in ("exact", "4_random")]
    assert [point.value for point in made.panels[0].series["mine"]] == rates
    made, _ = chart("complexfuncbench", "complexfuncbench-6")
    (panel,) = made.panels
    for points in panel.series.values():
        assert sum(point.value for point in points) == pytest.approx(100)
    assert all(point.low is None for point in panel.series["annotated"])


def test_two_ways_to_prompt_are_told_apart(tmp_path: Path) -> None:
    catalog = tmp_path / "catalogue.json"
    catalog.write_text(json.dumps(appbench_catalogue()))
    how: dict[str, Any] = {"pipeline": "flat", "catalog": str(catalog)}
    runs = [predicted(tmp_path / "flat", "appbench", "m", set(), **how)]
    runs += [predicted(tmp_path / "two", "appbench", "m", set(), **how | {"pipeline": "hierarchical"})]
    argv = ("--plot", str(tmp_path / "5.svg"), "--figure", "appbench-5")
    done = planeval("table", *runs, *argv)
    assert done.returncode == 0, done.stderr
    assert {"m, flat", "m, hierarchical"} <= words((tmp_path / "5.svg").read_text(encoding="utf-8"))
    alone = planeval("table", runs[0], *argv)
    assert alone.returncode == 2
    assert "needs runs of planeval predict with --pipeline flat and hierarchical, found" in alone.stderr
    runs[1] = predicted(tmp_path / "large", "appbench", "large", {"ss-own-1", "mm-own-1"}, **how)
    done = planeval("table", *runs, "--plot", str(tmp_path / "6.svg"), "--figure", "appbench-6")
    assert done.returncode == 0, done.stderr
    assert {"large", "m", "F1 App"} <= words((tmp_path / "6.svg").read_text(encoding="utf-8"))


def test_stability_is_that_of_repeated_answers(tmp_path: Path) -> None:
    run = predicted(tmp_path / "run", "callnavi", "m", {"hr01"}, repeat=3)
    done = planeval("table", run, "--layout", "callnavi-7", "--plot", str(tmp_path / "7.svg"))
    assert done.returncode == 0, done.stderr
    assert {"election", "Levenshtein", "(3)"} <= words((tmp_path / "7.svg").read_text(encoding="utf-8"))
    found = pe.chart([run])
    shown = [point.value for point in found.panels[0].series["m"]]
    table = pe.table([run], layout="callnavi-7")
    assert shown == pytest.approx([100 * cell.value for cell in table.rows[0].cells])


@tabled("argv, said")
def test_what_a_figure_lacks_is_said(argv: tuple[str, ...], said: str, tmp_path: Path) -> None:
    out, own = tmp_path / "out.svg", str(tmp_path / "own")
    kept = scored(tmp_path / "kept", "appbench") if "KEPT" in argv else ""
    if "OWN" in argv:
        pe.score(["f()"], ["f()"], running=pe.Running(folder=own))
    words = ({"OUT": str(out), "KEPT": kept, "OWN": own}.get(each, each) for each in argv)
    done = planeval("table" if "OWN" in argv else "score", *words)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert not out.exists()


def crowded(systems: int, groups: int, name: str = "model {}") -> Chart:
    points = tuple(Point(100 * at / groups, 0, 100, 1000 + at) for at in range(groups))
    series = {name.format(at): points for at in range(systems)}
    bars = Bars("(a)", tuple(f"kind {at}" for at in range(groups)), "kind (samples)", "share (%)", series)
    cells = {(x, y / 3): Point(10.0 * x, 0, 100, 5 * x * y) for x in range(1, 7) for y in range(1, 9)}
    return Chart("crowded", (bars, HeatMap("heat", "parallel", "sequential", "exact match (%)", cells), bars))


CROWDED = [(1, 3), (3, 14), (6, 12), (9, 5)]


def numbers(systems: int, groups: int, columns: int) -> list[Any]:
    """What is drawn, in numbers that no font decides."""
    with apply_style():
        figure = draw_figure(crowded(systems, groups), columns)
    found: list[Any] = [[round(float(inches), 3) for inches in figure.get_size_inches()], len(figure.legends)]
    for axes in figure.axes:
        ticks = [[round(float(at), 3) for at in there] for there in (axes.get_xticks(), axes.get_yticks())]
        bars = [
            [round(float(n), 3) for n in (*bar.get_bbox().bounds, *bar.get_facecolor())]
            for bar in axes.patches
        ]
        marked = [
            [text.get_text(), *map(str, text.get_position()), text.get_fontsize()] for text in axes.texts
        ]
        said = [axes.get_title(), axes.get_xlabel(), axes.get_ylabel()]
        labels = [[label.get_text(), label.get_rotation()] for label in axes.get_xticklabels()]
        found.append([*said, ticks, labels, bars, marked])
    return found


def test_what_is_drawn_is_what_was(as_kept: AsKept) -> None:
    drawn = (numbers(*crowd, columns) for crowd in CROWDED for columns in (1, 2))
    as_kept(ROOT / "tests" / "cases" / "charts.jsonl", drawn)


@pytest.mark.more
@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize(("systems", "groups"), CROWDED)
def test_no_label_stands_upon_another(systems: int, groups: int, columns: int) -> None:
    with apply_style():
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        figure = draw_figure(crowded(systems, groups), columns)
        FigureCanvasAgg(figure).draw()
        edge, legends = figure.bbox.padded(1), [one.get_window_extent() for one in figure.legends]
        for axes in figure.axes:
            labels = [label for label in axes.get_xticklabels() if label.get_text()]
            boxes = [label.get_window_extent() for label in labels]
            for box in (*boxes, *legends, axes.yaxis.label.get_window_extent()):
                assert edge.contains(box.x0, box.y0)
                assert edge.contains(box.x1, box.y1)
            if labels and not labels[0].get_rotation():
                assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
            name, title = (each.get_window_extent() for each in (axes.xaxis.label, axes.title))
            assert not axes.get_xlabel() or all(name.y1 <= box.y0 + 1 for box in boxes)
            assert not axes.get_title() or not any(legend.overlaps(title) for legend in legends)


DEPTHS = distribution("depth", "", "plans", {"one": {1: 3, 2: 1}, "two": {1: 1, 4: 1}})


def test_all_words_of_distributions_are_there() -> None:
    calls = distribution("calls", "", "plans", {"one": {n: 1 for n in range(1, 21)}})
    kinds = distribution("kinds", "", "arguments", {"two": {"text": 3, "number": 1}})
    shown = Chart("", (DEPTHS, calls, kinds)).image("svg").decode()
    assert words(shown) >= {"depth", "calls", "kinds", "one", "two", "text", "number", "% of plans", "13+"}
    assert shown.count(">3<") >= 2  # depth has a gap at 3 for both


def test_bars_are_as_high_as_their_shares() -> None:
    (axes,) = draw_figure(Chart("", (DEPTHS,)), 2).axes
    assert [bar.get_height() for bar in axes.patches] == pytest.approx([75, 25, 0, 0, 50, 0, 0, 50])


def test_hostile_names_are_shown_as_they_are() -> None:
    names = ["$\\frac{1}$", "_hidden", "<b>&", "a\x00\x1b[31m\ud800", "한국어"]
    chart = Chart("", (distribution("$x_", "", "\\y", {name: {"$_": 1} for name in names}),))
    shown = {unescape(word).strip() for word in words(chart.image("svg").decode())}
    assert {"$\\frac{1}$", "_hidden", "<b>&", "a\\x00\\x1b[31m\\ud800", "한국어", "$x_", "$_"} <= shown


def test_what_cannot_be_drawn_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="unknown chart format 'gif'"):
        Chart("", (DEPTHS,)).image("gif")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(RenderError, match=r"planner_eval\[plot\]"):
        Chart("", (DEPTHS,)).image("svg")
