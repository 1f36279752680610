"""planeval report: the page says of every pair what diff and score say; nothing foreign becomes markup."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.engine.run import Finished
from planner_eval.engine.run import run as worked
from planner_eval.reports.job import PageJob
from planner_eval.reports.stored import METRICS as STORED
from planner_eval.reports.stored import StoredJob
from planner_eval.verbs.report_runs import of_run
from planner_eval.verbs.scoring import scoring_job
from tests import inside
from tests.conftest import ROOT
from tests.pages import Page
from tests.plant import KINDS
from tests.render_plans import HOSTILE
from tests.test_engine import until, workers

DEMO = ("data/demo/pred.jsonl", "data/demo/gold.jsonl")
OPENAI = tuple(f"docs/examples/openai/{name}.jsonl" for name in ("small", "large", "gold"))
POSITION = ("--pair", "position")


def planeval(*argv: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return inside.planeval(*map(str, argv), cwd=cwd)


def started(*argv: str | Path, cwd: Path = ROOT, **env: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, whose hash seed is another, and which may start more."""
    command = [sys.executable, "-m", "planner_eval", *map(str, argv)]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=cwd, env={**os.environ, **env}, encoding="utf-8"
    )


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
        assert [edit[:3] for edit in pair["e"]] == [
            [edit["code"], edit["message"], edit.get("cause", -1)] for edit in edits
        ]
        for shown, edit in zip(pair["e"], edits, strict=True):
            assert shown[3:] == [_place(edit.get("gold")), _place(edit.get("pred"))]
        assert (pair["al"] or []) == row.get("pairs", [])
        assert pair.get("error") == row.get("error")


def _place(data: dict[str, Any] | None) -> list[Any] | None:
    return None if data is None else [data["call"], data.get("argument"), *data.get("span", [])]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with planted mistakes: every kind in every bundled gold plan that has room for it."""
    from random import Random

    folder, random = tmp_path_factory.mktemp("planted"), Random(7)
    golds = [json.loads(line) for line in (ROOT / DEMO[1]).read_text(encoding="utf-8").splitlines()]
    preds, wanted = [], []
    for gold in golds:
        plan = pe.parse(gold["gold"])
        for kind, plant in KINDS.items():
            if (found := plant(plan, random)) is not None:
                name = f"{gold['id']}-{kind}"
                preds.append({"id": name, "output": pe.write(found.plan, "plan")})
                wanted.append(
                    {"id": name, "gold": gold["gold"], "question": f"What of {name}?", "kind": kind}
                )
    preds += [{"id": "cut", "output": "f(#x='1"}, {"id": "stray", "output": "f()"}]
    wanted += [{"id": "cut", "gold": "f(#x='1')"}, {"id": "lost", "gold": "f()"}]
    for name, rows in (("pred", preds), ("gold", wanted)):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_the_page_says_of_every_pair_what_diff_says(tmp_path: Path, planted: Path) -> None:
    for pred, gold, more in (
        (*DEMO, ()),
        (planted / "pred.jsonl", planted / "gold.jsonl", ()),
        (OPENAI[0], OPENAI[2], POSITION),
        (OPENAI[1], OPENAI[2], POSITION),
        ("data/demo/pred.json", "data/demo/gold.json", ()),
    ):
        file = tmp_path / "page.html"
        done = planeval("report", pred, "--gold", gold, "--strict", *more, "-o", file)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert_tells(Page.of(file), told(pred, gold, *more))


def test_the_page_says_of_the_selftest_s_pairs_what_diff_says(tmp_path: Path) -> None:
    """From the files, and from a run of diff: edits, words, places and states; and what is right is right."""
    known = json.loads((ROOT / "data" / "selftest" / "plan_pairs.json").read_text(encoding="utf-8"))
    assert len(known) == 38
    files = tmp_path / "pred.jsonl", tmp_path / "gold.jsonl"
    for file, field, side in zip(files, ("output", "gold"), ("pred", "gold"), strict=True):
        file.write_text("".join(json.dumps({"id": one["id"], field: one[side]}) + "\n" for one in known))
    rows, sure = told(*files), {one["id"] for one in known if not one["policy_dependent"]}
    states = [(row["id"], row["state"] == "same") for row in rows if row["id"] in sure]
    assert states == [(one["id"], one["same"]) for one in known if not one["policy_dependent"]]
    assert planeval("diff", *files, "-o", f"{tmp_path / 'run'}/").returncode == 1
    for what in ((files[0], "--gold", files[1], "--strict"), (tmp_path / "run",)):
        done = planeval("report", *what, "-o", tmp_path / "page.html")
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert_tells(Page.of(tmp_path / "page.html"), rows)


def test_the_head_says_what_score_says(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    planeval("report", *DEMO[:1], "--gold", DEMO[1], "--by", "calls", "-o", file)
    (run,) = Page.of(file).head["runs"]
    said = json.loads(planeval("score", *DEMO, "--by", "calls", "--format", "json").stdout)
    assert run["states"] == said["states"]
    assert run["signature"] == said["signature"]
    for figure in run["figures"]:
        wanted = said["figures"][figure["name"]]
        assert (figure["value"], figure["n"]) == (wanted["value"], wanted["n"])
        span = wanted.get("interval") or {}
        assert (figure.get("low"), figure.get("high")) == (span.get("low"), span.get("high"))
        assert (figure.get("precision"), figure.get("recall")) == (
            wanted.get("precision"),
            wanted.get("recall"),
        )
    assert {one["name"] for one in run["figures"]} == {
        n for n, f in said["figures"].items() if f["value"] is not None
    }
    groups = {row["value"]: row["figures"]["exact"] for row in run["by"][0]["rows"]}
    assert groups == {value: found["exact"]["value"] for value, found in said["breakdown"]["calls"].items()}


@pytest.mark.parametrize("way", ["report", "diff", "score"])
def test_commands_write_the_same_pairs(way: str, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    argv = {
        "report": ("report", DEMO[0], "--gold", DEMO[1], "--strict"),
        "score": ("score", *DEMO, "--strict"),
    }
    done = planeval(*argv.get(way, (way, *DEMO)), "-o", file)
    assert done.returncode == (1 if way == "diff" else 0), done.stderr
    assert_tells(Page.of(file), told(*DEMO))
    assert (
        planeval(*argv.get(way, (way, *DEMO)), *(() if way == "report" else ("--format", "html"))).stdout
        == file.read_text()
    )


@pytest.mark.parametrize("kind", ["diff", "score"])
def test_a_run_is_shown_from_its_folder(kind: str, tmp_path: Path, planted: Path) -> None:
    shutil.copytree(planted, tmp_path, dirs_exist_ok=True)
    strict = ("--strict",) if kind == "score" else ()
    assert planeval(kind, "pred.jsonl", "gold.jsonl", *strict, "-o", "run/", cwd=tmp_path).returncode == 1
    done = planeval("report", "run", "-o", "run.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    page = Page.of(tmp_path / "run.html")
    assert_tells(page, told("pred.jsonl", "gold.jsonl", cwd=tmp_path))
    files = planeval(
        "report", "pred.jsonl", "--gold", "gold.jsonl", "--strict", "-o", "files.html", cwd=tmp_path
    )
    assert files.returncode == 0, files.stderr
    other = Page.of(tmp_path / "files.html")
    assert page.pairs() == other.pairs()
    assert page.head["runs"][0]["states"] == other.head["runs"][0]["states"]
    assert page.head["commands"] == [["planeval", "diff", "pred.jsonl", "gold.jsonl", "--id"]]


def test_files_that_moved_or_changed_are_said(tmp_path: Path, planted: Path) -> None:
    shutil.copytree(planted, tmp_path, dirs_exist_ok=True)
    planeval("diff", "pred.jsonl", "gold.jsonl", "-o", "run/", cwd=tmp_path)
    (tmp_path / "gold.jsonl").rename(tmp_path / "elsewhere.jsonl")
    done = planeval("report", "run", "-o", "x.html", cwd=tmp_path)
    assert done.returncode == 2
    assert "run was made of gold.jsonl (gold plans), which is not there" in done.stderr
    text = (tmp_path / "elsewhere.jsonl").read_text(encoding="utf-8")
    (tmp_path / "gold.jsonl").write_text(text.replace("Oslo", "Oslo!"), encoding="utf-8")
    done = planeval("report", "run", "-o", "x.html", cwd=tmp_path)
    assert done.returncode == 2
    assert "the file gold.jsonl (gold) has changed since" in done.stderr
    assert not (tmp_path / "x.html").exists()


def test_a_run_whose_gold_allows_several_plans(tmp_path: Path) -> None:
    """Its rows do not say which of them an edit is about: such pairs are compared again."""
    gold = {"id": "a", "gold": "f(#x='1')", "alternatives": ["f(#x='2')\ng(#y='3')"]}
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold) + "\n")
    (tmp_path / "pred.jsonl").write_text(json.dumps({"id": "a", "output": "f(#x='2')\ng(#y='4')"}) + "\n")
    planeval("diff", "pred.jsonl", "gold.jsonl", "-o", "run/", cwd=tmp_path)
    assert planeval("report", "run", "-o", "x.html", cwd=tmp_path).returncode == 0
    page = Page.of(tmp_path / "x.html")
    assert_tells(page, told("pred.jsonl", "gold.jsonl", cwd=tmp_path))
    assert page.pair(0)["g"]["c"][1] == ["g", [["y", "3"]]]


def test_two_systems_stand_beside_one_another(tmp_path: Path) -> None:
    small, large, gold = OPENAI
    for argv in (("report", small, large), ("compare", small, large)):
        done = planeval(*argv, "--gold", gold, *POSITION, "--strict", "-o", tmp_path / "two.html")
        assert done.returncode == 0, done.stderr
        page = Page.of(tmp_path / "two.html")
        assert_tells(page, told(small, gold, *POSITION))
        assert_tells(page, told(large, gold, *POSITION), side=1)
        said = json.loads(
            planeval(
                "compare", small, large, "--gold", gold, *POSITION, "--strict", "--format", "json"
            ).stdout
        )
        ours = {one["name"]: one for one in page.head["compare"]["figures"]}
        assert (ours["exact"]["a"], ours["exact"]["b"]) == (0.25, 0.875)
        verdict = page.head["compare"]["verdict"]  # report calls systems as the user named them
        for file, name in ((small, "small"), (large, "large")):
            verdict = verdict.replace(file, name)
        assert verdict == said["verdict"]
        assert (page.head["compare"]["won"], page.head["compare"]["lost"]) == (5, 0)


@pytest.fixture
def clustered(tmp_path: Path) -> Path:
    """Two runs over eight conversations of five pairs each, in which all are alike, and what they are of."""
    lines: dict[str, list[dict[str, Any]]] = {"gold": [], "a": [], "b": []}
    for at in range(40):
        plan, talk = f"f(#x='{at}')\ng(#y='{at}')", at // 5
        lines["gold"].append({"id": f"r{at}", "plan": plan, "talk": f"t{talk}", "question": f"q{at}"})
        lines["a"].append({"id": f"r{at}", "plan": plan if talk % 2 else plan.replace("f", "h", 1)})
        lines["b"].append({"id": f"r{at}", "plan": plan if talk % 3 else plan.replace("g", "k", 1)})
    for name, rows in lines.items():
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    for name in ("a", "b"):
        for run, options in ((name, ()), (f"{name}-talks", ("--cluster", "talk"))):
            done = planeval("score", f"{name}.jsonl", "gold.jsonl", *options, "-o", f"{run}/", cwd=tmp_path)
            assert done.returncode == 0, done.stderr
    return tmp_path


@pytest.mark.parametrize("what", [("a",), ("a.jsonl", "gold.jsonl")], ids=["run", "files"])
def test_a_page_holds_what_score_was_asked_to_hold(what: tuple[str, ...], clustered: Path) -> None:
    """A limit is held and said beside a page too, and which field was taken for the question."""
    met = planeval("score", *what, "--format", "html", "--fail-under", "exact=0.5", "-o", "x", cwd=clustered)
    assert met.returncode == 0, met.stderr
    done = planeval("score", *what, "--format", "html", "--fail-under", "exact=0.9", "-o", "x", cwd=clustered)
    assert (done.returncode, (clustered / "x").exists()) == (1, True)
    assert "exact is 0.5000, expected at least 0.9" in done.stderr
    assert 'question: field "question" of gold.jsonl' in done.stderr


def test_a_page_keeps_the_clusters_of_runs(clustered: Path) -> None:
    """Forty pairs in eight clusters are less sure than forty by themselves, in figures and differences."""

    def sure(*argv: str) -> tuple[float, float]:
        done = planeval(*argv, "-o", "x.html", cwd=clustered)
        assert done.returncode == 0, done.stderr
        head = Page.of(clustered / "x.html").head
        figure = next(one for one in head["runs"][0]["figures"] if one["name"] == "exact")
        both = [one for one in head.get("compare", {"figures": []})["figures"] if one["name"] == "exact"]
        return figure["high"] - figure["low"], both[0]["high"] - both[0]["low"] if both else 0.0

    html = ("--format", "html")
    alone, talks = sure("report", "a", "b"), sure("report", "a-talks", "b-talks")
    assert talks[0] > alone[0]
    assert talks[1] > alone[1]
    assert sure("compare", "a-talks", "b-talks", *html) == talks
    asked = ("compare", "a.jsonl", "b.jsonl", "--gold", "gold.jsonl", "--cluster", "talk")
    assert sure(*asked, *html) == talks
    assert sure("score", "a-talks", *html)[0] == sure("report", "a-talks")[0] == talks[0]
    for argv in (("report", "a", "b-talks"), ("compare", "a", "b-talks", *html)):
        done = planeval(*argv, "-o", "y.html", cwd=clustered)
        assert (done.returncode, (clustered / "y.html").exists()) == (2, False)
        assert "their pairs lie in other clusters, in none and by talk" in done.stderr


def test_two_runs_show_the_causes_that_one_was_scored_with(clustered: Path) -> None:
    planeval("score", "b.jsonl", "gold.jsonl", "--causes", "-o", "b-causes/", cwd=clustered)
    done = planeval("report", "a", "b-causes", "-o", "x.html", cwd=clustered)
    assert done.returncode == 0, done.stderr
    assert all(run["causes"] for run in Page.of(clustered / "x.html").head["runs"])
    assert planeval("compare", "a", "b-causes", cwd=clustered).returncode == 0


def test_the_same_input_gives_the_same_bytes(tmp_path: Path, planted: Path) -> None:
    argv = ("report", planted / "pred.jsonl", "--gold", planted / "gold.jsonl", "--quiet")
    pages = [
        started(*argv, *more, PYTHONHASHSEED=seed).stdout
        for seed, more in (
            ("1", ()),
            ("2", ("--jobs", "1", "--part", "7")),
            ("3", ("--jobs", "2", "--part", "3")),
        )
    ]
    assert pages[0]
    assert pages[0] == pages[1] == pages[2]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory, planted: Path) -> Path:
    """A run of diff over planted mistakes, of which some pairs' gold allows several plans, and its page."""
    home = tmp_path_factory.mktemp("kept")
    shutil.copytree(planted, home, dirs_exist_ok=True)
    golds = [json.loads(line) for line in (home / "gold.jsonl").read_text(encoding="utf-8").splitlines()]
    for one in golds[::5]:
        one["alternatives"] = ["f(#x='1')"]
    (home / "gold.jsonl").write_text("".join(json.dumps(one) + "\n" for one in golds), encoding="utf-8")
    argv = ("diff", "pred.jsonl", "gold.jsonl", "--part", "5", "--jobs", "2", "-o", "run/")
    assert started(*argv, cwd=home).returncode == 1
    done = started("report", "run", "-o", "page.html", cwd=home)
    assert done.returncode == 0, done.stderr
    assert_tells(Page.of(home / "page.html"), told("pred.jsonl", "gold.jsonl", cwd=home))
    return home


@pytest.mark.parametrize(("jobs", "part"), [(1, 1), (1, 7), (2, 5), (2, 3), (3, 11), (3, 10_000)])
def test_a_page_of_a_run_is_the_same_for_any_workers_and_any_cut(jobs: int, part: int, kept: Path) -> None:
    """Parts begin anywhere between those of the run: each finds its rows."""
    more = ("--jobs", str(jobs), "--part", str(part), "--record-deadline", "30", "--quiet")
    done = started("report", "run", *more, cwd=kept, PYTHONHASHSEED=str(part % 100))
    assert done.returncode == 0, done.stderr
    assert done.stdout == (kept / "page.html").read_text(encoding="utf-8")


class Harmed:
    """A job that ends or holds up its process when it comes to some pairs; once where a file says so."""

    def __init__(self, job: Any, harms: dict[str, str], once: Path | None = None) -> None:
        self.job, self.harms, self.once = job, harms, once
        self.kind, self.options, self.fold = job.kind, job.options, job.fold

    def rows(self, pairs: Any, fold: Any) -> Any:
        outer = self

        class Pairs:
            first, again = pairs.first, staticmethod(pairs.again)

            def __iter__(self) -> Any:
                for pair in pairs:
                    outer.harm(pair[0])
                    yield pair

        return self.job.rows(Pairs(), fold)

    def harm(self, pred: Any) -> None:
        harm = self.harms.get(pred.id) if pred is not None and pred.error is None else None
        if harm is None or (self.once is not None and self.once.exists()):
            return
        if self.once is not None:
            self.once.touch()
        if harm == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)


@pytest.fixture
def at_work(kept: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Finished]:
    """Has the lines of the page made by a job that is harmed."""
    monkeypatch.chdir(kept)
    found = of_run("run")
    score = scoring_job(found.paired, STORED, found.policy, (), kept=True)
    job = StoredJob(PageJob(score), found.run.lines())
    return lambda *harm, **how: worked(Harmed(job, *harm), found.paired.pairs, jobs=2, part=4, **how)


def test_a_worker_that_is_killed_once_costs_a_page_nothing(
    at_work: Callable[..., Finished], tmp_path: Path
) -> None:
    names = [json.loads(line)["id"] for line in Path("run/rows.jsonl").read_text().splitlines()]
    with at_work({}) as sound:
        whole = Path(sound.rows).read_bytes()
    with at_work({names[9]: "kill"}, tmp_path / "once") as done:
        assert (tmp_path / "once").exists()
        assert (done.failed, Path(done.rows).read_bytes()) == (0, whole)


def test_a_pair_that_harms_a_page_is_told_as_such_and_no_other(at_work: Callable[..., Finished]) -> None:
    names = [json.loads(line)["id"] for line in Path("run/rows.jsonl").read_text().splitlines()]
    with at_work({}) as sound:
        whole = Path(sound.rows).read_text(encoding="utf-8").splitlines()
    with at_work({names[6]: "kill", names[13]: "hang"}, deadline=5.0) as done:
        lines = Path(done.rows).read_text(encoding="utf-8").splitlines()
        assert (done.failed, done.sums.states["unreadable"]) == (2, sound.sums.states["unreadable"] + 2)
    assert [at for at, (one, other) in enumerate(zip(lines, whole, strict=True)) if one != other] == [6, 13]
    for at, why in ((6, "ended the process each time"), (13, "took longer than 5 seconds")):
        index = json.loads(lines[at].partition("\t")[0])
        assert index[:2] == [names[at], "unreadable"]
        assert why in lines[at]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds workers in /proc")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_page_of_a_run_that_is_interrupted_is_not_written(sent: signal.Signals, kept: Path) -> None:
    """Pairs whose gold allows several plans are compared again, which a policy's own function makes slow."""
    (kept / "slowly.py").write_text("import time\ndef same(a, b):\n    time.sleep(0.05)\n    return a == b\n")
    (kept / "slow.toml").write_text('[[rule]]\nargument = "*"\nfunction = "slowly:same"\n')
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{kept}"}
    (kept / "tmp").mkdir(exist_ok=True)
    argv = [sys.executable, "-m", "planner_eval"]
    made = [*argv, "diff", "pred.jsonl", "gold.jsonl", "--policy", "slow.toml", "--jobs", "4", "-o", "slow/"]
    if not (kept / "slow").exists():
        assert subprocess.run(made, cwd=kept, env=env, capture_output=True).returncode == 1
    asked = [
        *argv,
        "report",
        "slow",
        "--policy",
        "slow.toml",
        "--jobs",
        "2",
        "--part",
        "4",
        "-o",
        "slow.html",
    ]
    env["TMPDIR"] = str(kept / "tmp")
    process = subprocess.Popen(asked, cwd=kept, env=env, stderr=subprocess.PIPE, text=True)
    until(lambda: len(workers(process)) == 2 or process.poll() is not None)
    process.send_signal(sent)
    err = process.communicate(timeout=60)[1]
    assert (process.returncode, "Traceback" in err) == (130, False), err
    assert "interrupted after" in err
    assert not (kept / "slow.html").exists()
    assert list((kept / "tmp").iterdir()) == []


def test_what_is_shown_is_chosen(tmp_path: Path, planted: Path) -> None:
    def page(*more: str) -> tuple[Page, str]:
        done = planeval("report", planted / "pred.jsonl", "--gold", planted / "gold.jsonl", *more)
        assert done.returncode == 0, done.stderr
        return Page(done.stdout), done.stderr

    whole, said = page()
    assert 'question: field "question"' in said
    assert whole.pair(0)["q"].startswith("What of ")
    assert whole.head["theme"] == "auto"
    named, said = page("--query", "kind", "--title", "T <b>", "--theme", "dark", "--by", "kind")
    assert named.pair(0)["q"] == "call_missing"
    assert (named.head["title"], named.head["theme"]) == ("T <b>", "dark")
    strings, column = named.index["strings"], named.index["fields"]["kind"]
    assert strings[column[0]] == "call_missing"
    assert column[-1] == -1
    bare, _ = page("--no-texts", "--query", "")
    assert {(one["q"], one["pt"], one["gt"]) for one in bare.pairs()} == {(None, None, None)}
    few, said = page("--limit", "3")
    assert len(few.pairs()) == 3
    assert f"the first 3 of {len(whole.pairs())} pairs are listed" in said
    assert few.head["runs"][0]["states"] == whole.head["runs"][0]["states"]
    wrong, _ = page("--only", "failures")
    assert "same" not in wrong.states()
    missing = planeval(
        "report", planted / "pred.jsonl", "--gold", planted / "gold.jsonl", "--query", "qestion"
    )
    assert missing.returncode == 2
    assert "--query 'qestion': no record has that field; did you mean 'question'?" in missing.stderr


def test_pairs_that_could_not_be_read_say_why(tmp_path: Path, planted: Path) -> None:
    done = planeval("report", planted / "pred.jsonl", "--gold", planted / "gold.jsonl", "--strict")
    pairs = {one["id"]: one for one in Page(done.stdout).pairs()}
    assert (pairs["cut"]["state"], pairs["cut"]["pt"]) == ("cut", "f(#x='1")
    assert "pred.jsonl, line" in pairs["cut"]["error"]
    assert pairs["lost"]["state"] == "absent"
    assert (pairs["stray"]["state"], pairs["stray"]["p"]["c"]) == ("gold_absent", [["f", []]])
    mended = Page(planeval("report", planted / "pred.jsonl", "--gold", planted / "gold.jsonl").stdout)
    assert "repairs" not in pairs["cut"], "no whole call stands before the cut"
    assert {one["id"]: one for one in mended.pairs()}["cut"]["state"] == "cut"


def test_nothing_is_loaded_and_only_its_own_script_runs(tmp_path: Path) -> None:
    text = planeval("report", DEMO[0], "--gold", DEMO[1]).stdout
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    assert "unsafe" not in policy[1]
    assert "default-src 'none'" in policy[1]
    for tag in ("style", "script"):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.S)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy[1]
    assert not re.search(
        r"<[^>]+\s(?:src|on\w+|style)\s*=", re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    )
    assert "Graphviz" not in text


@pytest.mark.parametrize("text", HOSTILE, ids=[ascii(text[:20]) for text in HOSTILE])
def test_hostile_texts_are_data(text: str, tmp_path: Path) -> None:
    nasty = [text, "</script><script>alert(1)</script>", "{{style}} {{packs}}", '" onload="x', "<!--"]
    for name, key, other in (("pred", "output", "x"), ("gold", "gold", "y")):
        rows = [
            {
                "id": f"{at}{one}",
                key: [{"name": one, "arguments": {one: [other, one]}}],
                "query": one,
                "category": one,
            }
            for at, one in enumerate(nasty)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    file = tmp_path / "x.html"
    argv = (
        "report",
        tmp_path / "pred.jsonl",
        "--gold",
        tmp_path / "gold.jsonl",
        "--title",
        "</title><script>x",
    )
    done = planeval(*argv, "-o", file)
    assert done.returncode == 0, done.stderr
    page, whole = Page.of(file), file.read_text(encoding="utf-8")
    assert whole.count("<script") == 2 + page.head["packs"]
    assert "<script>alert" not in whole
    assert [one["id"] for one in page.pairs()] == [f"{at}{one}" for at, one in enumerate(nasty)]
    for one, pair in zip(nasty, page.pairs(), strict=True):
        assert "$" in one or pair["p"]["c"] == [[one, [[one, ["x", one]]]]]  # $x$ is a reference
        assert pair["q"] == one
    assert_tells(page, told(tmp_path / "pred.jsonl", tmp_path / "gold.jsonl"))


def test_the_pages_own_script_reads_the_same(tmp_path: Path, planted: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: the page's script is not run")
    file = tmp_path / "x.html"
    planeval("report", planted / "pred.jsonl", "--gold", planted / "gold.jsonl", "--strict", "-o", file)
    done = subprocess.run([node, "tests/report_node.js", file], cwd=ROOT, capture_output=True, check=True)
    read, page = json.loads(done.stdout), Page.of(file)
    states = list(read["head"]["states"])
    assert [states[at] for at in read["index"]["state"]] == page.states()
    strings = read["index"]["strings"]
    assert [strings[at] for at in read["index"]["id"]] == page.index["id"]
    for k, (ours, theirs) in enumerate(zip(read["pairs"], page.pairs(), strict=True)):
        for name in ("q", "g", "gt", "p", "pt", "error"):
            assert ours.get(name) == theirs.get(name), name
        assert ours["e"] == theirs["e"]
        assert ours["al"] == [[gold, pred] for pred, gold in theirs["al"] or ()]
        first = read["index"]["first"][k]
        assert (strings[first] if first >= 0 else "") == (
            theirs["e"][0][1]
            if theirs["e"]
            else ours.get("error", strings[first] if first >= 0 else "").split("\n")[0]
        )


def test_usage() -> None:
    for argv, said in (
        (("report", DEMO[0]), "Missing option '--gold'"),
        (("report", "a", "b", "c"), "a page shows one system or two, and these are 3"),
        (("report", DEMO[0], "--gold", DEMO[1], "-o", "x.svg"), "named as svg"),
        (("report", DEMO[0], "--gold", DEMO[1], "--limit", "0"), "0 is not in the range"),
    ):
        done = planeval(*argv)
        assert done.returncode == 2
        assert said in done.stderr


def test_a_page_tells_what_root_causes_cost(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    told_by_score = planeval("score", *DEMO, "--causes", "--format", "json")
    known = json.loads(told_by_score.stdout)["attribution"]
    for argv in (("report", DEMO[0], "--gold", DEMO[1]), ("score", *DEMO)):
        done = planeval(*argv, "--causes", "-o", page)
        assert done.returncode == 0, done.stderr
        run = Page.of(page).head["runs"][0]
        assert run["fixes"] == [fix["words"] for fix in known["fixes"]]
        shown = [
            (one["kind"], one["name"], one["pairs"], one["credit"], one["gain"]) for one in run["causes"]
        ]
        assert shown == [
            (one["kind"], one["name"], one["pairs"], one["exact"], one["gain"]) for one in known["causes"]
        ]
        assert {"state": "unreadable"} in [one["picks"] for one in run["causes"]]
    kept = tmp_path / "kept"
    planeval("score", *DEMO, "--causes", "-o", f"{kept}/")
    assert planeval("report", kept, "-o", page).returncode == 0
    assert Page.of(page).head["runs"][0]["causes"] is not None
    told_kept = tmp_path / "told"
    planeval("diff", *DEMO, "-o", f"{told_kept}/")
    for runs in ((told_kept,), (told_kept, told_kept), (kept, told_kept)):
        done = planeval("report", *runs, "--causes", "-o", page)
        assert done.returncode == 2
        assert "--causes" in done.stderr


def test_of_two_runs_the_head_has_a_command_each_and_says_of_what_less_is_better(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    for file, source in zip("abg", OPENAI, strict=True):
        rows = map(json.loads, (ROOT / source).read_text(encoding="utf-8").splitlines())
        text = "".join(json.dumps({**row, "id": f"q{at}"}) + "\n" for at, row in enumerate(rows))
        (tmp_path / f"{file}.jsonl").write_text(text, encoding="utf-8")
    done = planeval("report", "a.jsonl", "b.jsonl", "--gold", "g.jsonl", "-o", page, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    head = Page.of(page).head
    wanted = [["planeval", "diff", f"{one}.jsonl", "g.jsonl", "--repair", "--id"] for one in "ab"]
    assert head["commands"] == wanted
    lower = {one["name"] for run in head["runs"] for one in run["figures"] if one.get("lower")}
    names = {one["name"] for run in head["runs"] for one in run["figures"]}
    assert lower == names & {"independent_errors", "dependent_errors", "precedences"} != set()
    assert {one["name"] for one in head["compare"]["figures"] if one.get("lower")} == lower
    for command in head["commands"]:  # each is one that runs
        assert planeval(*command[1:], "q0", cwd=tmp_path).returncode in (0, 1)
    runs = []
    for one in "ab":
        planeval("diff", f"{one}.jsonl", "g.jsonl", "-o", f"run-{one}/", "--repair", cwd=tmp_path)
        runs.append(f"run-{one}")
    done = planeval("report", *runs, "-o", page, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert Page.of(page).head["commands"] == wanted


def test_the_reply_is_there_where_the_text_is_not_all_of_it(tmp_path: Path) -> None:
    """Data around a plan, and several requests one after another; not what is the text already."""
    call = {"type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
    asked = [{"reply": {"text": "the app is A"}}, {"reply": {"text": "A: f(#x='1')"}}]
    preds = [
        {"id": "data", "output": {"role": "assistant", "content": "Sure.", "tool_calls": [call]}},
        {"id": "steps", "output": "A: f(#x='1')", "requests": asked},
        {"id": "plain", "output": "f(#x='1')"},
        {"id": "once", "output": "f(#x='1')", "requests": [{"reply": {"text": "f(#x='1')"}}]},
        {"id": "odd", "output": "f(#x='1')", "requests": [{"reply": None}, {}]},
    ]
    for file, rows in (("p", preds), ("g", [{"id": one["id"], "gold": "f(#x='1')"} for one in preds])):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{file}.jsonl").write_text(text, encoding="utf-8")
    argv = ("report", "p.jsonl", "--gold", "g.jsonl", "-o", "page.html")
    assert planeval(*argv, cwd=tmp_path).returncode == 0
    raw = {one["id"]: one.get("raw") for one in Page.of(tmp_path / "page.html").pairs()}
    assert json.loads(raw["data"] or "") == preds[0]["output"]
    assert raw["steps"] == "the app is A\n\nA: f(#x='1')"
    assert [raw[one] for one in ("plain", "once", "odd")] == [None, None, None]
    assert planeval(*argv, "--no-texts", cwd=tmp_path).returncode == 0
    assert not any("raw" in one for one in Page.of(tmp_path / "page.html").pairs())


def test_a_page_of_plans_that_were_run_tells_what_each_call_gave(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("def double(x):\n    return 2 * x\n", encoding="utf-8")
    rows = {"pred": ("output", "a = double(x=4)"), "gold": ("gold", "a = double(x=3)")}
    for name, (field, text) in rows.items():
        record = {"id": "one", field: text}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    argv = ("diff", "pred.jsonl", "gold.jsonl", "--execute", "tools.py", "-o", "page.html")
    done = planeval(*argv, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    ran = Page.of(tmp_path / "page.html").pairs()[0]["ex"]
    assert ran["said"].startswith("in effect different")
    assert (ran["p"], ran["g"]) == ([["ok", "8"]], [["ok", "6"]])
