"""planeval report: the page says of every pair what diff and score say; nothing foreign becomes markup."""

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

import planner_eval as pe
from tests import inside
from tests.build import jsonl
from tests.conftest import ROOT
from tests.pages import Page
from tests.plant import KINDS
from tests.render_plans import HOSTILE

DEMO = ("data/demo/pred.jsonl", "data/demo/gold.jsonl")
OPENAI = tuple(f"docs/examples/openai/{name}.jsonl" for name in ("small", "large", "gold"))
POSITION = ("--pair", "position")


def planeval(*argv: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return inside.planeval(*map(str, argv), cwd=cwd)


def page_of(folder: Path, *argv: str | Path, cwd: Path = ROOT, code: int = 0) -> Page:
    """The page that a command writes."""
    done = planeval(*argv, "-o", folder / "page.html", cwd=cwd)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    return Page.of(folder / "page.html")


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def started(*argv: str | Path, cwd: Path = ROOT, **env: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, whose hash seed is another, and which may start more."""
    command = [sys.executable, "-m", "planner_eval", *map(str, argv)]
    return subprocess.run(command, capture_output=True, cwd=cwd, env={**os.environ, **env}, encoding="utf-8")


def told(*argv: str | Path, cwd: Path = ROOT) -> list[dict[str, Any]]:
    """What planeval diff says of pairs."""
    done = planeval("diff", *argv, "--format", "jsonl", cwd=cwd)
    return [json.loads(line) for line in done.stdout.splitlines()]


def assert_tells(page: Page, rows: list[dict[str, Any]], side: int = 0) -> None:
    """The page says of each pair what diff says."""
    pairs = page.pairs(side)
    assert [(one["id"], one["state"]) for one in pairs] == [(row["id"], row["state"]) for row in rows]
    for pair, row in zip(pairs, rows, strict=True):
        edits = row.get("edits", [])
        assert [e[:3] for e in pair["e"]] == [[e["code"], e["message"], e.get("cause", -1)] for e in edits]
        for shown, edit in zip(pair["e"], edits, strict=True):
            assert shown[3:] == [_place(edit.get("gold")), _place(edit.get("pred"))]
        assert (pair["al"] or []) == row.get("pairs", [])
        assert pair.get("error") == row.get("error")


def _place(data: dict[str, Any] | None) -> list[Any] | None:
    return None if data is None else [data["call"], data.get("argument"), *data.get("span", [])]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with planted mistakes: every kind in every bundled gold plan that has room for it."""
    folder, random = tmp_path_factory.mktemp("planted"), Random(7)
    preds: list[Any] = [{"id": "cut", "output": "f(#x='1"}, {"id": "stray", "output": "f()"}]
    golds: list[Any] = [{"id": "cut", "gold": "f(#x='1')"}, {"id": "lost", "gold": "f()"}]
    for gold in lines(ROOT / DEMO[1]):
        plan = pe.parse(gold["gold"])
        for kind, plant in KINDS.items():
            if (found := plant(plan, random)) is not None:
                name = f"{gold['id']}-{kind}"
                preds.append({"id": name, "output": pe.write(found.plan, "plan")})
                golds.append({"id": name, "gold": gold["gold"], "question": f"What of {name}?", "kind": kind})
    jsonl(folder / "pred.jsonl", preds[2:] + preds[:2])
    jsonl(folder / "gold.jsonl", golds[2:] + golds[:2])
    return folder


def test_the_page_says_of_every_pair_what_diff_says(tmp_path: Path, planted: Path) -> None:
    for pred, gold, more in (
        (planted / "pred.jsonl", planted / "gold.jsonl", ()),
        (OPENAI[0], OPENAI[2], POSITION),
        ("data/demo/pred.json", "data/demo/gold.json", ()),
    ):
        page = page_of(tmp_path, "report", pred, "--gold", gold, "--strict", *more)
        assert_tells(page, told(pred, gold, *more))


def test_the_head_says_what_score_says(tmp_path: Path) -> None:
    (run,) = page_of(tmp_path, "report", DEMO[0], "--gold", DEMO[1], "--by", "calls").head["runs"]
    said = json.loads(planeval("score", *DEMO, "--by", "calls", "--format", "json").stdout)
    assert [run[name] for name in ("states", "signature")] == [said["states"], said["signature"]]
    for figure in run["figures"]:
        wanted = said["figures"][figure["name"]]
        wanted |= wanted.get("interval") or {}
        for name in ("value", "n", "low", "high", "precision", "recall"):
            assert figure.get(name) == wanted.get(name)
    shown = {name for name, figure in said["figures"].items() if figure["value"] is not None}
    assert {one["name"] for one in run["figures"]} == shown
    groups = {row["value"]: row["figures"]["exact"] for row in run["by"][0]["rows"]}
    assert groups == {value: found["exact"]["value"] for value, found in said["breakdown"]["calls"].items()}


@pytest.mark.more
@pytest.mark.parametrize("kind", ["diff", "score"])
def test_a_run_is_shown_from_its_folder(kind: str, tmp_path: Path, planted: Path) -> None:
    shutil.copytree(planted, tmp_path, dirs_exist_ok=True)
    golds = lines(tmp_path / "gold.jsonl")
    for one in golds[::5]:
        one["alternatives"] = ["f(#x='1')"]
    jsonl(tmp_path / "gold.jsonl", golds)
    how = ("--strict" if kind == "score" else "--part=5", "-o", "run/")
    assert planeval(kind, "pred.jsonl", "gold.jsonl", *how, cwd=tmp_path).returncode == 1
    page = page_of(tmp_path, "report", "run", "--part", "7", cwd=tmp_path)  # its parts begin elsewhere
    assert_tells(page, told("pred.jsonl", "gold.jsonl", cwd=tmp_path))
    other = page_of(tmp_path, "report", "pred.jsonl", "--gold", "gold.jsonl", "--strict", cwd=tmp_path)
    assert page.pairs() == other.pairs()
    assert page.head["runs"][0]["states"] == other.head["runs"][0]["states"]
    assert page.head["commands"] == [["planeval", "diff", "pred.jsonl", "gold.jsonl", "--id"]]


def test_files_that_moved_or_changed_are_said(tmp_path: Path, planted: Path) -> None:
    shutil.copytree(planted, tmp_path, dirs_exist_ok=True)
    planeval("diff", "pred.jsonl", "gold.jsonl", "-o", "run/", cwd=tmp_path)
    text = (tmp_path / "gold.jsonl").read_text(encoding="utf-8")
    (tmp_path / "gold.jsonl").unlink()
    done = planeval("report", "run", "-o", "x.html", cwd=tmp_path)
    assert "run was made from gold.jsonl (gold plans), which is missing" in done.stderr
    (tmp_path / "gold.jsonl").write_text(text.replace("Oslo", "Oslo!"), encoding="utf-8")
    again = planeval("report", "run", "-o", "x.html", cwd=tmp_path)
    assert "the file gold.jsonl (gold) has changed since" in again.stderr
    assert (done.returncode, again.returncode, (tmp_path / "x.html").exists()) == (2, 2, False)


def test_two_systems_stand_beside_one_another(tmp_path: Path) -> None:
    small, large, gold = OPENAI
    more = ("--gold", gold, *POSITION, "--strict")
    said = json.loads(planeval("compare", small, large, *more, "--format", "json").stdout)
    for command in ("report", "compare"):
        page = page_of(tmp_path, command, small, large, *more)
        assert_tells(page, told(small, gold, *POSITION))
        assert_tells(page, told(large, gold, *POSITION), side=1)
        compared = page.head["compare"]
        ours = next(one for one in compared["figures"] if one["name"] == "exact")
        assert (ours["a"], ours["b"], compared["won"], compared["lost"]) == (0.25, 0.875, 5, 0)
        # report calls systems as the user named them
        assert compared["verdict"].replace(small, "small").replace(large, "large") == said["verdict"]


@pytest.fixture
def clustered(tmp_path: Path) -> Path:
    """Two runs over eight conversations of five pairs each, in which all are alike, and what they are of."""
    rows: dict[str, list[dict[str, Any]]] = {"gold": [], "a": [], "b": []}
    for at in range(40):
        plan, talk = f"f(#x='{at}')\ng(#y='{at}')", at // 5
        rows["gold"].append({"id": f"r{at}", "plan": plan, "talk": f"t{talk}", "question": f"q{at}"})
        rows["a"].append({"id": f"r{at}", "plan": plan if talk % 2 else plan.replace("f", "h", 1)})
        rows["b"].append({"id": f"r{at}", "plan": plan if talk % 3 else plan.replace("g", "k", 1)})
    for name, each in rows.items():
        jsonl(tmp_path / f"{name}.jsonl", each)
    for name in ("a", "b"):
        for run, options in ((name, ()), (f"{name}-talks", ("--cluster", "talk"))):
            done = planeval("score", f"{name}.jsonl", "gold.jsonl", *options, "-o", f"{run}/", cwd=tmp_path)
            assert done.returncode == 0, done.stderr
    return tmp_path


@pytest.mark.parametrize("what", [("a",), ("a.jsonl", "gold.jsonl")], ids=["run", "files"])
def test_a_page_holds_what_score_was_asked_to_hold(what: tuple[str, ...], clustered: Path) -> None:
    """A limit is held and said beside a page too, and which field was taken for the question."""
    argv = ("score", *what, "--format", "html", "-o", "x", "--fail-under")
    assert planeval(*argv, "exact=0.5", cwd=clustered).returncode == 0
    done = planeval(*argv, "exact=0.9", cwd=clustered)
    assert (done.returncode, (clustered / "x").exists()) == (1, True)
    assert "exact is 0.5000, expected at least 0.9" in done.stderr
    assert 'question: field "question" of gold.jsonl' in done.stderr


def test_a_page_keeps_the_clusters_of_runs(clustered: Path) -> None:
    """Forty pairs in eight clusters are less sure than forty by themselves, in figures and differences."""

    def sure(*argv: str) -> list[float]:
        head = page_of(clustered, *argv, cwd=clustered).head
        figures = (*head["runs"][0]["figures"], *head.get("compare", {"figures": []})["figures"])
        return [one["high"] - one["low"] for one in figures if one["name"] == "exact"]

    alone, talks = sure("report", "a", "b"), sure("report", "a-talks", "b-talks")
    assert talks[0] > alone[0]
    assert talks[1] > alone[1]
    assert sure("compare", "a-talks", "b-talks") == talks
    assert sure("compare", "a.jsonl", "b.jsonl", "--gold", "gold.jsonl", "--cluster", "talk") == talks
    assert sure("score", "a-talks") == sure("report", "a-talks") == talks[:1]
    for command in ("report", "compare"):
        done = planeval(command, "a", "b-talks", "-o", "y.html", cwd=clustered)
        assert (done.returncode, (clustered / "y.html").exists()) == (2, False)
        assert "one has no clusters and one is clustered by talk" in done.stderr
    planeval("score", "b.jsonl", "gold.jsonl", "--causes", "-o", "b-causes/", cwd=clustered)
    assert all(r["causes"] for r in page_of(clustered, "report", "a", "b-causes", cwd=clustered).head["runs"])


def test_the_same_input_gives_the_same_bytes(planted: Path) -> None:
    argv = ("report", planted / "pred.jsonl", "--gold", planted / "gold.jsonl", "--quiet")
    one = started(*argv, PYTHONHASHSEED="1").stdout
    assert one == started(*argv, "--jobs", "2", "--part", "3", PYTHONHASHSEED="3").stdout != ""


@pytest.mark.more
def test_what_is_shown_is_chosen(planted: Path) -> None:
    argv = ("report", planted / "pred.jsonl", "--gold", planted / "gold.jsonl")

    def page(*more: str) -> tuple[Page, str]:
        done = planeval(*argv, *more)
        assert done.returncode == 0, done.stderr
        return Page(done.stdout), done.stderr

    whole, said = page()
    assert 'question: field "question"' in said
    assert whole.pair(0)["q"].startswith("What of ")
    assert whole.head["theme"] == "auto"
    named, said = page("--field", "query=kind", "--title", "T <b>", "--theme", "dark", "--by", "kind")
    assert named.pair(0)["q"] == "call_missing"
    assert (named.head["title"], named.head["theme"]) == ("T <b>", "dark")
    strings, column = named.index["strings"], named.index["fields"]["kind"]
    assert (strings[column[0]], column[-1]) == ("call_missing", -1)
    bare, _ = page("--no-texts", "--field", "query=")
    assert {(one["q"], one["pt"], one["gt"]) for one in bare.pairs()} == {(None, None, None)}
    few, said = page("--limit", "3")
    assert (len(few.pairs()), few.head["runs"][0]["states"]) == (3, whole.head["runs"][0]["states"])
    assert f"the first 3 of {len(whole.pairs())} pairs are listed" in said
    assert "same" not in page("--only", "failures")[0].states()
    missing = planeval(*argv, "--field", "query=qestion")
    assert missing.returncode == 2
    assert "--field query=qestion: no record has that field; did you mean 'question'?" in missing.stderr


def test_pairs_that_could_not_be_read_say_why(planted: Path) -> None:
    argv = ("report", planted / "pred.jsonl", "--gold", planted / "gold.jsonl")
    pairs = {one["id"]: one for one in Page(planeval(*argv, "--strict").stdout).pairs()}
    assert (pairs["cut"]["state"], pairs["cut"]["pt"]) == ("cut", "f(#x='1")
    assert "pred.jsonl, line" in pairs["cut"]["error"]
    assert pairs["lost"]["state"] == "absent"
    assert (pairs["stray"]["state"], pairs["stray"]["p"]["c"]) == ("gold_absent", [["f", []]])
    assert "repairs" not in pairs["cut"], "no whole call stands before the cut"
    mended = Page(planeval(*argv).stdout).pairs()
    assert {one["id"]: one for one in mended}["cut"]["state"] == "cut"


def test_nothing_is_loaded_and_only_its_own_script_runs() -> None:
    text = planeval("report", DEMO[0], "--gold", DEMO[1]).stdout
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    assert ("unsafe" in policy[1], "default-src 'none'" in policy[1]) == (False, True)
    for tag in ("style", "script"):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.S)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy[1]
    markup = re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    assert not re.search(r"<[^>]+\s(?:src|on\w+|style)\s*=", markup)


@pytest.mark.parametrize("text", HOSTILE, ids=[ascii(text[:20]) for text in HOSTILE])
def test_hostile_texts_are_data(text: str, tmp_path: Path) -> None:
    nasty = [text, "</script><script>alert(1)</script>", "{{style}} {{packs}}", '" onload="x', "<!--"]
    for name, key, other in (("pred", "output", "x"), ("gold", "gold", "y")):
        calls = [[{"name": one, "arguments": {one: [other, one]}}] for one in nasty]
        rows = enumerate(zip(nasty, calls, strict=True))
        jsonl(
            tmp_path / f"{name}.jsonl",
            ({"id": f"{n}{one}", key: plan, "query": one} for n, (one, plan) in rows),
        )
    pred, gold = tmp_path / "pred.jsonl", tmp_path / "gold.jsonl"
    page = page_of(tmp_path, "report", pred, "--gold", gold, "--title", "</title><script>x")
    whole = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert whole.count("<script") == 2 + page.head["packs"]
    assert "<script>alert" not in whole
    assert [one["id"] for one in page.pairs()] == [f"{at}{one}" for at, one in enumerate(nasty)]
    for one, pair in zip(nasty, page.pairs(), strict=True):
        assert "$" in one or pair["p"]["c"] == [[one, [[one, ["x", one]]]]]  # $x$ is a reference
        assert pair["q"] == one
    assert_tells(page, told(pred, gold))


@pytest.mark.skipif(shutil.which("node") is None, reason="no node: the page's script is not run")
def test_the_pages_own_script_reads_the_same(tmp_path: Path, planted: Path) -> None:
    page = page_of(tmp_path, "report", planted / "pred.jsonl", "--gold", planted / "gold.jsonl", "--strict")
    argv = ["node", "tests/report_node.js", tmp_path / "page.html"]
    read = json.loads(subprocess.run(argv, cwd=ROOT, capture_output=True, check=True).stdout)
    states, strings = list(read["head"]["states"]), read["index"]["strings"]
    assert [states[at] for at in read["index"]["state"]] == page.states()
    assert [strings[at] for at in read["index"]["id"]] == page.index["id"]
    for first, ours, theirs in zip(read["index"]["first"], read["pairs"], page.pairs(), strict=True):
        for name in ("q", "g", "gt", "p", "pt", "error"):
            assert ours.get(name) == theirs.get(name), name
        assert ours["e"] == theirs["e"]
        assert ours["al"] == [[gold, pred] for pred, gold in theirs["al"] or ()]
        if theirs["e"]:
            assert strings[first] == theirs["e"][0][1]


def test_a_page_tells_what_root_causes_cost(tmp_path: Path) -> None:
    known = json.loads(planeval("score", *DEMO, "--causes", "--format", "json").stdout)["attribution"]
    wanted = [tuple(c[key] for key in ("kind", "name", "pairs", "exact", "gain")) for c in known["causes"]]
    for argv in (("report", DEMO[0], "--gold", DEMO[1]), ("score", *DEMO)):
        run = page_of(tmp_path, *argv, "--causes").head["runs"][0]
        assert run["fixes"] == [fix["words"] for fix in known["fixes"]]
        shown = [tuple(c[key] for key in ("kind", "name", "pairs", "credit", "gain")) for c in run["causes"]]
        assert shown == wanted
        assert {"state": "unreadable"} in [one["picks"] for one in run["causes"]]
    scored, compared = tmp_path / "scored", tmp_path / "compared"
    planeval("score", *DEMO, "--causes", "-o", f"{scored}/")
    planeval("diff", *DEMO, "-o", f"{compared}/")
    for argv in ((scored,), (compared, "--causes")):
        assert page_of(tmp_path, "report", *argv).head["runs"][0]["causes"] is not None


def test_of_two_runs_the_head_has_a_command_each_and_says_of_what_less_is_better(tmp_path: Path) -> None:
    for file, source in zip("abg", OPENAI, strict=True):
        jsonl(tmp_path / f"{file}.jsonl", ({**r, "id": f"q{n}"} for n, r in enumerate(lines(ROOT / source))))
    head = page_of(tmp_path, "report", "a.jsonl", "b.jsonl", "--gold", "g.jsonl", cwd=tmp_path).head
    wanted = [["planeval", "diff", f"{one}.jsonl", "g.jsonl", "--repair", "--id"] for one in "ab"]
    assert head["commands"] == wanted
    figures = [one for run in head["runs"] for one in run["figures"]]
    lower = {one["name"] for one in figures if one.get("lower")}
    assert lower == {one["name"] for one in figures} & {
        "independent_errors", "dependent_errors", "precedences",
    }  # fmt: skip
    assert lower == {one["name"] for one in head["compare"]["figures"] if one.get("lower")} != set()
    for command in head["commands"]:  # each is one that runs
        assert planeval(*command[1:], "q0", cwd=tmp_path).returncode in (0, 1)
    for one in "ab":
        planeval("diff", f"{one}.jsonl", "g.jsonl", "-o", f"run-{one}/", "--repair", cwd=tmp_path)
    assert page_of(tmp_path, "report", "run-a", "run-b", cwd=tmp_path).head["commands"] == wanted


def test_the_reply_is_there_where_the_text_is_not_all_of_it(tmp_path: Path) -> None:
    """Data around a plan, and several requests one after another; not what is the text already."""
    call = {"type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
    asked = [{"reply": {"text": "the app is A"}}, {"reply": {"text": "A: f(#x='1')"}}]
    preds = [
        {"id": "data", "output": {"role": "assistant", "content": "Sure.", "tool_calls": [call]}},
        {"id": "steps", "output": "A: f(#x='1')", "requests": asked}, {"id": "plain", "output": "f(#x='1')"},
        {"id": "once", "output": "f(#x='1')", "requests": [{"reply": {"text": "f(#x='1')"}}]},
        {"id": "odd", "output": "f(#x='1')", "requests": [{"reply": None}, {}]},
    ]  # fmt: skip
    jsonl(tmp_path / "p.jsonl", preds)
    jsonl(tmp_path / "g.jsonl", ({"id": one["id"], "gold": "f(#x='1')"} for one in preds))
    argv = ("report", "p.jsonl", "--gold", "g.jsonl")
    raw = {one["id"]: one.get("raw") for one in page_of(tmp_path, *argv, cwd=tmp_path).pairs()}
    assert json.loads(raw.pop("data") or "") == preds[0]["output"]
    assert raw == {"steps": "the app is A\n\nA: f(#x='1')", "plain": None, "once": None, "odd": None}
    assert not any("raw" in one for one in page_of(tmp_path, *argv, "--no-texts", cwd=tmp_path).pairs())


def test_a_page_of_plans_that_were_run_tells_what_each_call_gave(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("def double(x):\n    return 2 * x\n", encoding="utf-8")
    jsonl(tmp_path / "pred.jsonl", [{"id": "one", "output": "a = double(x=4)"}])
    jsonl(tmp_path / "gold.jsonl", [{"id": "one", "gold": "a = double(x=3)"}])
    argv = ("diff", "pred.jsonl", "gold.jsonl", "--execute", "tools.py")
    ran = page_of(tmp_path, *argv, cwd=tmp_path, code=1).pairs()[0]["ex"]
    assert ran["said"].startswith("when run: different")
    assert (ran["p"], ran["g"]) == ([["ok", "8"]], [["ok", "6"]])
