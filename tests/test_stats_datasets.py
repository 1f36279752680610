"""planeval stats of published data sets: the papers' tables, structure, plots and graphs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from planner_eval.datasets.sources import short_names
from tests.conftest import ROOT
from tests.inside import planeval
from tests.render_plans import bounds
from tests.test_cli import planeval as started

SAMPLES = str(ROOT / "data" / "samples")
DEMO = str(ROOT / "data" / "demo" / "gold.jsonl")


def tables(name: str, folder: Path | str) -> dict[tuple[str, str, str], dict[str, Any]]:
    """The cells that the command prints, by table, row and column."""
    done = planeval("stats", name, "--source", str(folder), "--only", "tables", "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    cells = [cell for one in (found if isinstance(found, list) else [found]) for cell in one["tables"]]
    return {(cell["table"], cell["row"], cell["column"]): cell for cell in cells}


# The values that the specifications give for the released files.
APPBENCH = {
    "# Samples": (200, 200, 201, 200),
    "# Apps": (9, 11, 10, 11),
    "# APIs": (11, 22, 12, 23),
    "Avg. Apps": (1, 1, 2.731, 2.370),
    "Avg. APIs": (1, 2.215, 2.731, 3.65),
    "Avg. arguments": (4.02, 4.488, 4.035, 4.102),
    "Max. Seq.": (1, 4, 4, 7),
    "Max. Para.": (1, 1, 4, 4),
    "Avg. Seq.": (1, 2.215, 1.228, 1.772),
    "Avg. Para.": (1, 1, 2.224, 2.06),
}
APPBENCH_CODED = {
    "Max. Seq.": (1, 4, 4, 5),
    "Max. Para.": (1, 1, 4, 4),
    "Avg. Seq.": (1, 2.215, 1.217, 1.750),
    "Avg. Para.": (1, 1, 2.244, 2.08),
}
DIFFER = {
    ("# Samples", "MS"), ("Avg. arguments", "MS"), ("Avg. Apps", "MM"), ("Avg. APIs", "MM"),
    ("Avg. arguments", "MM"), ("Max. Seq.", "MM"), ("Max. Para.", "MM"), ("Avg. Seq.", "MM"),
    ("Avg. Para.", "MM"),
}  # fmt: skip


def test_appbench_table_2(reference: Path) -> None:
    cells = tables("appbench", reference / "datasets")
    for row, values in APPBENCH.items():
        for part, value in zip(("SS", "SM", "MS", "MM"), values, strict=True):
            cell = cells["Table 2", row, part]
            assert round(cell["value"], 3) == value, (row, part)
            assert cell["agrees"] == ((row, part) not in DIFFER), (row, part)
            assert bool(cell["note"]) == ((row, part) in DIFFER)
    coded = "Table 2, components as the published code finds them"
    for row, values in APPBENCH_CODED.items():
        found = [round(cells[coded, row, part]["value"], 3) for part in ("SS", "SM", "MS", "MM")]
        assert found == list(values)


CALLNAVI_FUNCTIONS = (96, 81, 46, 48, 21, 82, 21, 49, 42, 101, 587)
CALLNAVI_QUESTIONS = (115, 65, 65, 80, 47, 85, 35, 65, 60, 112, 729)
CALLNAVI_EASY = (70, 41, 40, 44, 31, 50, 21, 40, 40, 79, 456)


def test_callnavi_tables_1_and_2(reference: Path) -> None:
    cells = tables("callnavi", reference / "datasets")
    rows = list(dict.fromkeys(row for table, row, _ in cells if table == "Table 2"))
    for column, values in {
        "API Functions": CALLNAVI_FUNCTIONS,
        "Questions": CALLNAVI_QUESTIONS,
        "Easy": CALLNAVI_EASY,
    }.items():
        assert [cells["Table 2", row, column]["value"] for row in rows] == list(values)
    differ = {(row, column) for (table, row, column), cell in cells.items() if cell["agrees"] is False}
    assert differ == {
        ("Banking", "API Functions"), ("Banking", "Medium"), ("Banking", "Hard"),
        ("Healthcare", "API Functions"), ("Human Resources", "API Functions"),
        ("Telecommunications", "API Functions"), ("Overall", "API Functions"),
        ("Overall", "Medium"), ("Overall", "Hard"), ("CallNavi", "Max API Candidates"),
    }  # fmt: skip
    assert (cells["Table 2", "Banking", "Medium"]["value"], cells["Table 2", "Banking", "Hard"]["value"]) == (
        27,
        18,
    )
    assert [cells["Table 2", "Overall", level]["value"] for level in ("Medium", "Hard")] == [187, 86]
    own = [cells["Table 1", "CallNavi", c]["value"] for c in ("Domains", "Questions", "Max API Candidates")]
    assert own == [10, 729, 101]
    assert cells["Table 1", "CallNavi", "Multi-Call"]["value"] == 207 + 48 + 16 + 1
    assert all(cell["note"] for cell in cells.values() if cell["agrees"] is False)


def test_functionchat_tables_1_and_2(reference: Path) -> None:
    cells = tables("functionchat", reference / "datasets")
    assert len(cells) == 24
    assert all(cell["agrees"] for cell in cells.values())
    assert cells["Table 2", "Answer Completion", "Count"]["value"] == 71
    assert cells["Section 3.2", "dialog", "average turns"]["value"] == pytest.approx(200 / 45)


NESTFUL = {
    "Samples": (85, 169, 46),
    "Calls": (233, 469, 98),
    "Avg. calls": (2.741, 2.775, 2.130),
    "Tools": (39, 70, 30),
    "Samples that repeat a tool": (8, 1, 0),
    "Avg. depth": (1.047, 1.065, 1.065),
    "Samples of depth 1": (81, 159, 43),
    "Samples of depth 2": (4, 9, 3),
    "Samples of depth 3": (0, 1, 0),
    "References": (154, 191, 90),
    "Data dependencies": (138, 185, 52),
    "Avg. data dependencies": (1.624, 1.095, 1.130),
    "Calls that use 0 others": (103, 285, 49),
    "Calls that use 1 others": (122, 183, 46),
    "Calls that use 2 others": (8, 1, 3),
    "Calls that serve 0 others": (129, 288, 49),
    "Calls that serve 1 others": (73, 177, 46),
    "Calls that serve 2 others": (28, 4, 3),
    "Calls that serve 3 others": (3, 0, 0),
    "Chains A→B→C": (5, 12, 3),
    "Avg. components": (1.118, 1.686, 1.065),
    "Avg. calls of a component": (2.453, 1.646, 2.0),
}


def test_nestful_structure(reference: Path) -> None:
    cells = tables("nestful", reference / "datasets")
    for row, values in NESTFUL.items():
        found = [cells["Section 4.5", row, part]["value"] for part in ("executable", "glaive", "sgd")]
        assert [round(value, 3) for value in found] == list(values), row


def test_nestful_version_2_says_how_much_of_it_is_there(reference: Path) -> None:
    file = reference / "datasets" / "nestful" / "v2" / "nestful_v2_collected.jsonl"
    cells = tables("nestful-v2", file)
    assert cells["Section 3.2", "Samples", "all"]["n"] == 554
    assert cells["Section 3.2", "Samples", "all"]["of"] == 1861
    assert (
        cells["Section 4.5", "Calls", "math"]["value"] + cells["Section 4.5", "Calls", "coding"]["value"]
        == 2500
    )
    shown = planeval("stats", "nestful-v2", "--source", str(file), "--only", "tables").stdout
    assert "554 of 1,861 published records at hand" in shown
    assert "411 of 1,415 records at hand" in shown
    assert "≠ 1861" not in shown


def test_own_conversations_stand_beside_table_3() -> None:
    cells = tables("complexfuncbench", SAMPLES)
    total = {row: cells["Table 3", row, "Total"] for row in ("# Samples", "Avg. Steps", "Avg. Calls")}
    lines = (ROOT / "data/samples/complexfuncbench/ComplexFuncBench.jsonl").read_text().splitlines()
    steps = [
        [len(m["function_call"]) for m in json.loads(line)["conversations"] if m.get("function_call")]
        for line in lines
    ]
    assert total["# Samples"]["value"] == len(lines)
    assert total["Avg. Steps"]["value"] == pytest.approx(sum(map(len, steps)) / len(lines))
    assert total["Avg. Calls"]["value"] == pytest.approx(sum(map(sum, steps)) / len(lines))
    assert (total["# Samples"]["published"], total["# Samples"]["of"]) == ("1000", 1000)
    shown = planeval("stats", "complexfuncbench", "--source", SAMPLES).stdout
    assert f"{len(lines)} of 1,000 records at hand" in shown


def test_records_of_our_own_give_the_cells_of_every_table(tmp_path: Path) -> None:
    """Small files in each data set's layout, with counts that a reader can check by eye."""
    app = tmp_path / "appbench"
    app.mkdir()
    two = {
        "api_results": ["x = find(#at='a')", "keep(#it=x)"],
        "used_api": [{"find": {"at": "a"}}, {"keep": {"it": "x"}}],
    }
    record = {"input": "Find and keep.", "output": {**two, "used_app": ["Lots", "Lots"]}}
    (app / "test_sm.json").write_text(json.dumps([record]))
    cells = tables("appbench", tmp_path)
    assert cells["Table 2", "Avg. APIs", "SM"]["value"] == 2
    assert cells["Table 2", "Max. Seq.", "SM"]["value"] == 2
    assert (cells["Table 2", "Avg. APIs", "SM"]["n"], cells["Table 2", "Avg. APIs", "SM"]["of"]) == (1, 200)
    assert cells["Table 2", "Avg. APIs", "MM"]["value"] is None
    shown = planeval("stats", "appbench", "--source", str(tmp_path)).stdout
    assert "1 of 200 records at hand" in shown
    assert "0 of 200 records at hand" in shown
    second = tmp_path / "nestful.jsonl"
    calls = [
        {"name": "add", "label": "$var_1", "arguments": {"arg_0": 1, "arg_1": 2}},
        {"name": "add", "label": "$var_2", "arguments": {"arg_0": "$var_1.result$", "arg_1": 2}},
    ]
    tool = {"name": "add", "description": "", "parameters": {}, "output_parameters": {"result": {}}}
    second.write_text(
        json.dumps({"sample_id": "a", "input": "?", "output": calls, "tools": [tool], "gold_answer": 5})
    )
    cells = tables("nestful-v2", second)
    assert cells["Section 3.2", "Avg. calls", "math"]["value"] == 2
    assert cells["Section 4.5", "Pattern A→B", "math"]["value"] == 1


@pytest.mark.parametrize("form", ["text", "md", "csv", "json"])
def test_every_format_holds_tables_and_structure(form: str) -> None:
    shown = planeval("stats", "complexfuncbench", "--source", SAMPLES, "--format", form)
    assert shown.returncode == 0
    for word in ("Table 3", "Avg. Steps", "3.26", "depth", "() + () + () + ()"):
        assert word in shown.stdout
    assert shown.stdout == planeval("stats", "complexfuncbench", "--source", SAMPLES, "--format", form).stdout


def test_a_path_that_exists_wins_over_a_data_set(tmp_path: Path) -> None:
    (tmp_path / "mathqa").write_text("a = f(#x='1')\nb = g(#y=a)")
    run = [sys.executable, "-m", "planner_eval", "stats"]
    done = subprocess.run([*run, "mathqa"], cwd=tmp_path, capture_output=True, text=True)
    assert re.search(r"^calls +2$", done.stdout, re.M)
    done = subprocess.run(
        [*run, "dataset:mathqa", "--source", SAMPLES], cwd=tmp_path, capture_output=True, text=True
    )
    assert "published records at hand" in done.stdout
    (tmp_path / "appbench").mkdir()
    done = subprocess.run([*run, "appbench"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr.strip()) == (
        2, "planeval: appbench is a directory; dataset:appbench is the data set",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("apbench",), "did you mean the data set appbench?"),
        (("dataset:apbench",), "did you mean appbench?"),
        (("dataset:xyz",), "there is no data set 'xyz'"),
        (("appbench", "--cache", "nowhere"), "'planeval data fetch appbench' fetches it; or name its folder"),
        (("nestful", "--cache", "nowhere"), "planeval data fetch nestful-v1 nestful-v2"),
        (("appbench", "--source", "nowhere"), "there is no such folder"),
        (("missing.json",), "there is no file missing.json"),
        ((DEMO, "--plot", "x.txt"), "x.txt: the suffix names no format; it is one of .svg, .png, .pdf"),
        ((DEMO, "--shapes", "x"), "x: the suffix names no format"),
    ],
)
def test_wrong_names_are_told_with_what_to_do(argv: tuple[str, ...], said: str) -> None:
    done = planeval("stats", *argv)
    assert done.returncode == 2
    assert said in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr


def test_short_names_are_as_long_as_they_need_be() -> None:
    assert short_names(["/a/b/pred.json"]) == ["pred.json"]
    assert short_names(["r/a/p.json", "s/a/p.json", "q.json"]) == ["r/a/p.json", "s/a/p.json", "q.json"]
    assert short_names(["p.json", "p.json"]) == ["1. p.json", "2. p.json"]
    assert short_names([]) == []


def test_sources_stand_side_by_side() -> None:
    two = planeval("stats", DEMO, "mathqa", "--source", SAMPLES, "--only", "structure").stdout
    assert "gold.jsonl mean" in two.splitlines()[0]
    assert "mathqa mean" in two.splitlines()[0]
    three = planeval("stats", DEMO, "mathqa", "complexfuncbench", "--source", SAMPLES, "--only", "structure")
    assert three.stdout.splitlines()[0].split() == ["figure", "gold.jsonl", "mathqa", "complexfuncbench"]
    assert three.stdout.splitlines()[1].split() == [
        "plans",
        "13",
        str(_records("mathqa")),
        str(_records("complexfuncbench")),
    ]


def _records(name: str) -> int:
    folder = ROOT / "data" / "samples" / name
    if name == "mathqa":
        return len(json.loads((folder / "test.json").read_text()))
    return len((folder / "ComplexFuncBench.jsonl").read_text().splitlines())


def test_pictures_hold_what_was_counted_and_are_the_same_every_time(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    kinds = ("plot", "shapes", "tool-graph", "app-graph")
    made = []
    for run in ("1", "2"):
        files = [tmp_path / f"{kind}{run}.{'svg' if kind == 'plot' else 'dot'}" for kind in kinds]
        flags = [part for kind, file in zip(kinds, files, strict=True) for part in (f"--{kind}", str(file))]
        done = started("stats", DEMO, "mathqa", "--source", SAMPLES, *flags)
        assert done.returncode == 0, done.stderr
        made.append([file.read_bytes() for file in files])
    assert made[0] == made[1]
    plot, shapes, tools, apps = (data.decode() for data in made[0])
    words = [node.text or "" for node in ET.fromstring(plot).iter("{http://www.w3.org/2000/svg}text")]
    for word in (
        "gold.jsonl",
        "mathqa",
        "depth",
        "width",
        "components",
        "nesting patterns",
        "kinds of arguments",
    ):
        assert any(word in text for text in words), word
    assert '<TD ALIGN="LEFT">1. ×' in shapes
    assert '<TD ALIGN="LEFT">gold.jsonl: 3 of 3 shapes, 13 of 13 plans</TD>' in shapes
    assert tools.count(" -> ") > 0
    assert "tools," in tools
    assert "apps," in apps


def test_a_tool_graph_counts_references(tmp_path: Path) -> None:
    plan = tmp_path / "plan.txt"
    plan.write_text("Maps: [a = find(#x='1'), b = route(#from=a, #to=a)]\nRide: [order(#way=b)]")
    file = tmp_path / "g.dot"
    assert planeval("stats", str(plan), "--tool-graph", str(file)).returncode == 0
    text = file.read_text()
    assert '<TD ALIGN="LEFT">×2</TD>' in text
    assert 'tooltip="Maps.find to Maps.route: ×2"' in text
    assert 'tooltip="Maps.route to Ride.order: ×1"' in text
    assert planeval("stats", str(plan), "--app-graph", str(file)).returncode == 0
    assert 'tooltip="Maps ×2 to Ride: ×1"' in file.read_text()
    assert 'tooltip="Maps ×2 to Maps ×2: ×2"' in file.read_text()


@pytest.mark.parametrize("number", range(1, 9))
def test_shapes_have_a_panel_a_source(number: int, tmp_path: Path) -> None:
    pytest.importorskip("pygraphviz")
    names = [tmp_path / f"model{k}.jsonl" for k in range(number)]
    for k, name in enumerate(names):
        name.write_text(
            "".join(f"{json.dumps({'plan': text})}\n" for text in ("f()", "f(), g()")[: k % 2 + 1])
        )
    file = tmp_path / "shapes.svg"
    done = planeval("stats", *map(str, names), "--shapes", str(file))
    assert done.returncode == 0, done.stderr
    root = ET.parse(file).getroot()
    svg = "{http://www.w3.org/2000/svg}"
    frames = [g for g in root.iter(f"{svg}g") if g.get("class") == "cluster"]
    said = {g.findtext(f"{svg}text", ""): bounds(g) for g in frames}
    panels = {name.name: box for name in names for text, box in said.items() if text.startswith(name.name)}
    if number == 1:
        assert panels == {}
        return
    assert list(panels) == [name.name for name in names]
    assert len(frames) == sum(2 + k % 2 for k in range(number))
    boxes = list(panels.values())
    for row in (boxes[:4], boxes[4:]):  # four side by side, in their order
        assert all(one[2] < other[0] for one, other in pairwise(row))
    assert max(box[3] for box in boxes[:4]) <= min((box[1] for box in boxes[4:]), default=0)


def test_a_plan_without_calls_has_no_frame_and_is_counted(tmp_path: Path) -> None:
    none, some, file = tmp_path / "none.jsonl", tmp_path / "some.jsonl", tmp_path / "shapes.dot"
    none.write_text('{"plan": []}\n{"plan": []}\n')
    some.write_text('{"plan": []}\n{"plan": "f()"}\n')
    done = planeval("stats", str(some), "--shapes", str(file))
    assert "1 of 1 shapes, 1 of 2 plans; 1 without calls" in done.stderr
    assert re.search(r"^no calls +1$", done.stdout, re.M)
    done = planeval("stats", str(none), str(some), "--shapes", str(file))
    assert "none.jsonl: 0 of 0 shapes, 0 of 2 plans; 2 without calls" in done.stderr
    assert "none.jsonl: 0 of 0 shapes" in file.read_text()


def test_an_app_graph_counts_apps_and_no_tools(tmp_path: Path) -> None:
    plans = tmp_path / "plans.txt"
    file = tmp_path / "apps.dot"
    plans.write_text("Maps: [a = find(#x='1')]\nRide: [order(#way=a)]\nlone(#x='2')")
    done = planeval("stats", str(plans), "--app-graph", str(file))
    assert done.returncode == 0
    assert "2 calls of 2 apps" in done.stderr
    assert "calls that name no app, left out: 1" in done.stderr
    assert "lone" not in file.read_text()
    plans.write_text("a = find(#x='1')\norder(#way=a)")
    file.unlink()
    done = planeval("stats", str(plans), "--app-graph", str(file))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "planeval: no plan names an app: there is no graph of apps to draw\n"
    assert not file.exists()


def test_a_large_graph_is_cut_to_what_is_connected_most_and_says_so(tmp_path: Path) -> None:
    lines = [f"hub = start(#x='{n}')\nstep{n % 100}(#y=hub)\nalone{n % 7}()" for n in range(150)]
    plans, file = tmp_path / "plans.jsonl", tmp_path / "tools.dot"
    plans.write_text("".join(f"{json.dumps({'plan': line})}\n" for line in lines))
    done = planeval("stats", str(plans), "--tool-graph", str(file))
    said = "60 of 108 tools: those most connected; 41 pairs left out"
    assert f"{said}; --force draws them all" in done.stderr
    assert said in file.read_text()
    assert file.read_text().count(" -> ") == 59
    assert ">step49 ×2<" in file.read_text()  # called twice, as step50 and what follows are not
    assert "step90" not in file.read_text()
    done = planeval("stats", str(plans), "--tool-graph", str(file), "--force")
    assert "left out" not in done.stderr
    assert file.read_text().count(" -> ") == 100
    assert "alone6" in file.read_text()


@pytest.mark.parametrize(
    "words", [("--force", "--shapes"), ("--force", "--plot"), ("--theme=dark", "--plot")]
)
def test_options_of_drawings_are_refused_where_nothing_is_drawn(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    done = planeval("stats", DEMO, *words, str(tmp_path / "x.svg"))
    assert done.returncode == 2
    assert f"{words[0].partition('=')[0]} applies only to" in done.stderr


def test_drawings_of_a_whole_data_set(reference: Path, tmp_path: Path) -> None:
    pytest.importorskip("pygraphviz")
    flags = ["--source", str(reference / "datasets"), "--only", "structure"]
    for kind in ("shapes", "tool-graph", "app-graph"):
        flags += [f"--{kind}", str(tmp_path / f"{kind}.svg")]
    done = planeval("stats", "appbench", *flags)
    assert done.returncode == 0, done.stderr
    shapes = (tmp_path / "shapes.svg").read_text()
    assert "12 of 33 shapes, 765 of 801 plans" in shapes
    assert "801 plans: 1,922 calls of 25 tools, 2,376 references" in (tmp_path / "tool-graph.svg").read_text()
    assert "12 apps" in (tmp_path / "app-graph.svg").read_text()
