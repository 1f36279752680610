"""planeval stats: the papers' tables of data sets, structure, plots, graphs, and the words of the tables."""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from planner_eval.benchmarks.datasets.sources import short_names
from planner_eval.plan.statistics import FIGURE_MEANINGS, KIND_MEANINGS, Stats
from planner_eval.plan.structure import KINDS as COUNTED
from tests.conftest import ROOT, tables
from tests.inside import planeval
from tests.test_cli import planeval as started

TABLES = tables(__file__)

SAMPLES = str(ROOT / "data" / "samples")
DEMO = str(ROOT / "data" / "demo" / "gold.jsonl")


def tables(name: str, folder: Path | str) -> dict[tuple[str, str, str], dict[str, Any]]:
    """The cells that the command prints, by table, row and column."""
    done = planeval("stats", name, "--source", str(folder), "--only", "tables", "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    cells = [cell for one in (found if isinstance(found, list) else [found]) for cell in one["tables"]]
    return {(cell["table"], cell["row"], cell["column"]): cell for cell in cells}


@pytest.mark.more
def test_nestful_structure(reference: Path) -> None:
    cells = tables("nestful", reference / "datasets")
    for row, values in TABLES["NESTFUL"].items():
        found = [cells["Section 4.5", row, part]["value"] for part in ("executable", "glaive", "sgd")]
        assert [round(value, 3) for value in found] == list(values), row
    file = reference / "datasets" / "nestful" / "v2" / "nestful_v2_collected.jsonl"
    cells = tables("nestful-v2", file)  # says how much of it is there
    assert [cells["Section 3.2", "Samples", "all"][key] for key in ("n", "of")] == [554, 1861]
    assert sum(cells["Section 4.5", "Calls", part]["value"] for part in ("math", "coding")) == 2500
    shown = planeval("stats", "nestful-v2", "--source", str(file), "--only", "tables").stdout
    for said in ("554 of 1,861 published records available", "411 of 1,415 records available"):
        assert said in shown
    assert "≠ 1861" not in shown


def test_own_conversations_stand_beside_table_3() -> None:
    cells = tables("complexfuncbench", SAMPLES)
    total = {row: cells["Table 3", row, "Total"] for row in ("# Samples", "Avg. Steps", "Avg. Calls")}
    lines = (ROOT / "data/samples/complexfuncbench/ComplexFuncBench.jsonl").read_text().splitlines()
    talks = [json.loads(line)["conversations"] for line in lines]
    steps = [[len(m["function_call"]) for m in talk if m.get("function_call")] for talk in talks]
    assert [one["value"] for one in total.values()] == [
        len(lines), pytest.approx(sum(map(len, steps)) / len(lines)),
        pytest.approx(sum(map(sum, steps)) / len(lines)),
    ]  # fmt: skip
    assert (total["# Samples"]["published"], total["# Samples"]["of"]) == ("1000", 1000)
    for form in ("text", "md", "csv", "json"):
        shown = planeval("stats", "complexfuncbench", "--source", SAMPLES, "--format", form).stdout
        for word in ("Table 3", "Avg. Steps", "3.26", "depth", "() + () + () + ()"):
            assert word in shown
        assert form != "text" or f"{len(lines)} of 1,000 records available" in shown


def test_records_of_our_own_give_the_cells_of_every_table(tmp_path: Path) -> None:
    """Small files in each data set's layout, with counts that a reader can check by eye."""
    (tmp_path / "appbench").mkdir()
    used = [{"find": {"at": "a"}}, {"keep": {"it": "x"}}]
    output = {
        "api_results": ["x = find(#at='a')", "keep(#it=x)"], "used_api": used, "used_app": ["Lots", "Lots"],
    }  # fmt: skip
    (tmp_path / "appbench" / "test_sm.json").write_text(json.dumps([{"input": "Find.", "output": output}]))
    cells = tables("appbench", tmp_path)
    apis = cells["Table 2", "Avg. APIs", "SM"]
    assert [apis["value"], apis["n"], apis["of"]] == [2, 1, 200]
    assert cells["Table 2", "Max. Seq.", "SM"]["value"] == 2
    assert cells["Table 2", "Avg. APIs", "MM"]["value"] is None
    shown = planeval("stats", "appbench", "--source", str(tmp_path)).stdout
    assert ("1 of 200 records available" in shown, "0 of 200 records available" in shown) == (True, True)
    calls = [{
        "name": "add", "label": f"$var_{n}", "arguments": {"arg_0": one, "arg_1": 2},
    } for n, one in ((1, 1), (2, "$var_1.result$"))]  # fmt: skip
    tool = {"name": "add", "description": "", "parameters": {}, "output_parameters": {"result": {}}}
    record = {"sample_id": "a", "input": "?", "output": calls, "tools": [tool], "gold_answer": 5}
    (tmp_path / "nestful.jsonl").write_text(json.dumps(record))
    cells = tables("nestful-v2", tmp_path / "nestful.jsonl")
    assert cells["Section 3.2", "Avg. calls", "math"]["value"] == 2
    assert cells["Section 4.5", "Pattern A→B", "math"]["value"] == 1


def test_a_path_that_exists_wins_over_a_data_set(tmp_path: Path) -> None:
    (tmp_path / "mathqa").write_text("a = f(#x='1')\nb = g(#y=a)")
    assert re.search(r"^calls +2$", planeval("stats", "mathqa", cwd=tmp_path).stdout, re.M)
    done = planeval("stats", "dataset:mathqa", "--source", SAMPLES, cwd=tmp_path)
    assert "published records available" in done.stdout
    (tmp_path / "appbench").mkdir()
    done = planeval("stats", "appbench", cwd=tmp_path)
    said = "planeval: appbench is a directory; dataset:appbench is the data set"
    assert (done.returncode, done.stderr.strip()) == (2, said)


def test_a_data_set_has_one_digest_in_every_process(tmp_path: Path) -> None:
    argv = ("stats", "dataset:appbench", "--source", str(ROOT / "data/samples"), "-o")
    assert [started(*argv, f"{tmp_path / name}/").returncode for name in "ab"] == [0, 0]
    assert len({(tmp_path / name / "run.json").read_text() for name in "ab"}) == 1


def test_sources_stand_side_by_side_under_short_names() -> None:
    assert short_names(["r/a/p.json", "s/a/p.json", "q.json"]) == ["r/a/p.json", "s/a/p.json", "q.json"]
    assert short_names(["p.json"] * 2) == ["1. p.json", "2. p.json"]
    assert (short_names(["/a/p.json"]), short_names([])) == (["p.json"], [])
    argv = ("--source", SAMPLES, "--only", "structure")
    two = planeval("stats", DEMO, "mathqa", *argv).stdout.splitlines()
    assert ("gold.jsonl mean" in two[0], "mathqa mean" in two[0]) == (True, True)
    three = planeval("stats", DEMO, "mathqa", "complexfuncbench", *argv).stdout.splitlines()
    assert three[0].split() == ["figure", "gold.jsonl", "mathqa", "complexfuncbench"]
    samples = Path(SAMPLES)
    count = len((samples / "complexfuncbench" / "ComplexFuncBench.jsonl").read_text().splitlines())
    maths = len(json.loads((samples / "mathqa" / "test.json").read_text()))
    assert three[1].split() == ["plans", "13", str(maths), str(count)]


def test_pictures_hold_what_was_counted_and_are_the_same_every_time(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    kinds, made = {"plot": "svg", "shapes": "dot", "tool-graph": "dot", "app-graph": "dot"}, []
    for run, planeval_of in (("1", planeval), ("2", started)):
        files = {kind: tmp_path / f"{kind}{run}.{form}" for kind, form in kinds.items()}
        flags = [word for kind, file in files.items() for word in (f"--{kind}", str(file))]
        done = planeval_of("stats", DEMO, "mathqa", "--source", SAMPLES, *flags)
        assert done.returncode == 0, done.stderr
        made.append([file.read_text() for file in files.values()])
    assert made[0] == made[1]
    plot, shapes, tools, apps = made[0]
    nodes = ET.fromstring(plot).iter("{http://www.w3.org/2000/svg}text")
    words = "\n".join(node.text or "" for node in nodes)
    for word in ("gold.jsonl", "mathqa", "depth", "width", "components", "nesting patterns", "kinds of arg"):
        assert word in words, word
    assert '<TD ALIGN="LEFT">1. ×' in shapes
    assert '<TD ALIGN="LEFT">gold.jsonl: 3 of 3 shapes, 13 of 13 plans</TD>' in shapes
    assert (" -> " in tools, "tools," in tools, "apps," in apps) == (True, True, True)


def test_graphs_count_references_and_apps(tmp_path: Path) -> None:
    plan, file = tmp_path / "plan.txt", tmp_path / "g.dot"

    def drawn(kind: str, text: str) -> tuple[str, str]:
        plan.write_text(text)
        done = planeval("stats", str(plan), f"--{kind}-graph", str(file))
        assert done.returncode == 0
        return file.read_text(), done.stderr

    maps = "Maps: [a = find(#x='1'), b = route(#from=a, #to=a)]\nRide: [order(#way=b)]"
    text, _ = drawn("tool", maps)
    assert '<TD ALIGN="LEFT">×2</TD>' in text
    assert 'tooltip="Maps.find to Maps.route: ×2"' in text
    assert 'tooltip="Maps.route to Ride.order: ×1"' in text
    text, _ = drawn("app", maps)
    assert 'tooltip="Maps ×2 to Ride: ×1"' in text
    assert 'tooltip="Maps ×2 to Maps ×2: ×2"' in text
    text, said = drawn("app", "Maps: [a = find(#x='1')]\nRide: [order(#way=a)]\nlone(#x='2')")
    assert ("2 calls of 2 apps" in said, "calls that name no app, left out: 1" in said) == (True, True)
    assert "lone" not in text
    file.unlink()
    plan.write_text("a = find(#x='1')\norder(#way=a)")
    done = planeval("stats", str(plan), "--plot", f"apps={file}")
    assert (done.returncode, done.stdout, file.exists()) == (2, "", False)
    assert done.stderr == "planeval: no plan names an app: there is no graph of apps to draw\n"


def test_a_large_graph_is_cut_to_what_is_connected_most_and_says_so(tmp_path: Path) -> None:
    texts = [f"hub = start(#x='{n}')\nstep{n % 100}(#y=hub)\nalone{n % 7}()" for n in range(150)]
    plans, file = tmp_path / "plans.jsonl", tmp_path / "tools.dot"
    plans.write_text("".join(f"{json.dumps({'plan': text})}\n" for text in texts))
    done = planeval("stats", str(plans), "--plot", f"tools={file}")
    said, cut = "60 of 108 tools: the most connected; 41 pairs left out", file.read_text()
    assert f"{said}; --force draws them all" in done.stderr
    assert (said in cut, cut.count(" -> ")) == (True, 59)
    # called twice, as step50 and what follows are not
    assert (">step49 ×2<" in cut, "step90" in cut) == (True, False)
    done = planeval("stats", str(plans), "--plot", f"tools={file}", "--force")
    assert ("left out" in done.stderr, file.read_text().count(" -> ")) == (False, 100)
    assert "alone6" in file.read_text()


@pytest.mark.parametrize("file", ["gold.jsonl", "pred.jsonl", "gold.json"])
def test_every_word_of_the_tables_is_explained_below_them(file: str) -> None:
    plain = planeval("stats", str(Path(DEMO).with_name(file))).stdout
    done = planeval("stats", str(Path(DEMO).with_name(file)), "--explain")
    assert done.stdout.startswith(plain.rstrip("\n"))
    below = done.stdout[len(plain) :]
    heads = ("argument kind", "argument kinds", "pattern", "patterns", "shape", "scope")
    shown = {line.split("  ")[0].strip() for line in plain.splitlines() if line} - {"figure", *heads}
    shown = {re.sub(r" \([a-z].*\)$", "", word) for word in shown}  # a plain name beside a paper's
    said = {line.split("  ")[0].strip() for line in below.splitlines()}
    missing = {word for word in shown - said if not re.fullmatch(r"[()+a-z:× \d]*\(.*|[{A].*", word)}
    assert missing == set()
    assert "(()())" in said
    assert ("unread" in said) == (file == "pred.jsonl")
    assert all(len(line) <= 125 for line in below.splitlines())


def test_a_word_that_is_not_shown_is_not_explained(tmp_path: Path) -> None:
    plan = tmp_path / "plans.jsonl"
    plan.write_text('{"plan": "f(#x=\'1\')"}\n{"plan": "a = f()\\ng(#y=a, #z=a)"}\n')
    below = planeval("stats", str(plan), "--explain").stdout.partition("\nword ")[2]
    said = {line.split("  ")[0] for line in below.splitlines()}
    assert {"A", "A→B", "string", "reference"} <= said
    assert not {"{A,B}→C", "A→{B,C}", "integer", "critical path", "unread"} & said
    rows = planeval("stats", str(plan), "--each", "--explain").stdout.partition("\nword ")[2]
    assert "string" not in {line.split("  ")[0] for line in rows.splitlines()}


def test_every_figure_and_kind_has_a_sentence() -> None:
    counted = {one.name.replace("_", " ") for one in fields(Stats)} - {"argument kinds", "patterns", "shape"}
    assert FIGURE_MEANINGS.keys() - counted == {"total", "plans", "unread"}
    assert counted <= FIGURE_MEANINGS.keys()
    assert tuple(KIND_MEANINGS) == COUNTED
