"""``planeval render`` through its real entry point."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.render_plans import HOSTILE, dense

GOLD = "data/demo/gold.json"
MANY = "data/demo/gold.jsonl"


def planeval(*argv: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "planner_eval", "render", *map(str, argv)]
    return subprocess.run(command, cwd=ROOT, input=stdin, capture_output=True, timeout=60)


def test_text_is_the_default() -> None:
    done = planeval(GOLD)
    assert done.returncode == 0
    assert done.stdout.decode() == (
        "generation 1\n"
        '  var_1  get_rate#1  base = "EUR"  quote = "USD"\n'
        '  var_2  get_rate#2  base = "EUR"  quote = "JPY"\n'
        "generation 2\n"
        "  var_3  ratio       first ← get_rate#1.rate  second ← get_rate#2.rate\n"
    )
    assert done.stderr == b"read as nestful\n"


def test_colour_only_when_asked() -> None:
    assert b"\x1b" not in planeval(GOLD).stdout
    assert b"\x1b[2m" in planeval(GOLD, "--color", "always").stdout


@pytest.mark.more
@pytest.mark.parametrize(
    ("suffix", "start"),
    [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("dot", b"digraph"), ("mmd", b"flowchart"),
     ("txt", b"generation")],
)  # fmt: skip
def test_the_suffix_names_the_format(tmp_path: Path, suffix: str, start: bytes) -> None:
    pytest.importorskip("pygraphviz")
    file = tmp_path / f"plan.{suffix}"
    assert planeval(GOLD, "-o", file).returncode == 0
    assert file.read_bytes().startswith(start)


def test_a_file_of_plans_becomes_a_file_each(tmp_path: Path) -> None:
    pytest.importorskip("pygraphviz")
    done = planeval(MANY, "--format", "svg", "-o", f"{tmp_path}/drawn/")
    assert done.returncode == 0, done.stderr
    drawn = sorted(file.name for file in (tmp_path / "drawn").iterdir())
    ids = [json.loads(line)["id"] for line in (ROOT / MANY).read_text().splitlines()]
    assert drawn == sorted(f"{name}.svg" for name in ids)
    assert f"{len(ids)} of {len(ids)} plans drawn" in done.stderr.decode()


def test_many_plans_as_text_are_listed_one_after_another() -> None:
    done = planeval(MANY)
    assert done.returncode == 0
    assert done.stdout.decode().count("# data/demo/gold.jsonl") == 13


def test_one_record_by_its_id() -> None:
    assert planeval(MANY, "--id", "alarm-replaced").stdout.decode().startswith("generation 1\n")
    done = planeval(MANY, "--id", "nobody")
    assert done.returncode == 2
    assert b"no record has the id 'nobody'" in done.stderr


def test_ids_cannot_leave_the_folder(tmp_path: Path) -> None:
    ids = ["../../up", "/etc/x", "a b", "a/b", "", "..", *HOSTILE[:8]]
    lines = [json.dumps({"id": name, "output": "f(#a='1')"}) for name in ids]
    file = tmp_path / "plans.jsonl"
    file.write_text("\n".join(lines))
    done = planeval(file, "--format", "dot", "-o", f"{tmp_path}/out/")
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "out").iterdir())) == len(ids)
    assert sorted(f.name for f in tmp_path.iterdir()) == ["out", "plans.jsonl"]


def test_what_cannot_be_read_is_said_and_the_rest_is_drawn(tmp_path: Path) -> None:
    file = tmp_path / "plans.jsonl"
    texts = ["f(#a='1')", "f(#a=", "g(#b='2')"]
    lines = [json.dumps({"id": name, "output": text}) for name, text in zip("abc", texts, strict=True)]
    file.write_text("\n".join(lines))
    done = planeval(file)
    assert done.returncode == 1
    assert "(id b)" in done.stderr.decode()
    assert done.stdout.decode().count("generation 1") == 2


@pytest.mark.more
def test_bad_input_gives_a_message_and_no_traceback(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('[{"name": "f", "arguments": {]')
    binary = tmp_path / "binary"
    binary.write_bytes(b"\x80\x81\x00\xff")
    empty = tmp_path / "empty"
    empty.write_bytes(b"")
    (tmp_path / "none").mkdir()
    for argv, code in (
        ((tmp_path / "nowhere",), 2),
        ((tmp_path / "none",), 2),
        ((broken,), 3),
        ((binary,), 2),
        ((empty,), 3),
        ((GOLD, "--format", "gif"), 2),
        ((GOLD, "--theme", "loud"), 2),
        ((GOLD, "--deadline", "0"), 2),
        ((MANY, "--format", "svg"), 2),
        ((MANY, "--format", "dot", "-o", tmp_path / "one.dot"), 2),
    ):
        done = planeval(*argv)
        assert done.returncode == code, (argv, done.stderr)
        assert b"Traceback" not in done.stderr
        assert done.stderr.strip()


def test_a_layout_beyond_its_deadline_says_what_to_do(tmp_path: Path) -> None:
    pytest.importorskip("pygraphviz")
    plan = dense(200, 1_452)
    refs: dict[int, dict[str, object]] = {}
    for edge in plan.edges:
        refs.setdefault(edge.consumer, {})[edge.argument] = {"$ref": f"c{edge.producer}", "path": ["r"]}
    calls = [{"id": c.id, "name": c.name, "arguments": refs.get(i, {})} for i, c in enumerate(plan.calls)]
    file = tmp_path / "dense.json"
    file.write_text(json.dumps({"schema": "planeval.plan/1", "calls": calls}))
    done = planeval(file, "--format", "svg", "--deadline", "0.5", "--force", "-o", tmp_path / "x.svg")
    assert done.returncode == 3
    assert "no layout within the deadline of 0.5 s; a longer --deadline may help" in done.stderr.decode()
    assert not (tmp_path / "x.svg").exists()


@pytest.mark.more
def test_a_theme_file_of_ones_own(tmp_path: Path) -> None:
    theme = (ROOT / "viz/themes/default.toml").read_text().replace('rankdir = "TB"', 'rankdir = "LR"')
    file = tmp_path / "mine.toml"
    file.write_text(theme)
    assert b"rankdir=LR" in planeval(GOLD, "--format", "dot", "--theme", file).stdout
    file.write_text(theme.replace("[box]", "[boxes]"))
    done = planeval(GOLD, "--format", "dot", "--theme", file)
    assert done.returncode == 2
    assert "there is no key 'boxes'; did you mean 'box'?" in done.stderr.decode()
    file.write_text(theme.replace("width = 46", 'width = "46"'))
    assert "width is '46', expected a whole number" in planeval(GOLD, "--theme", file).stderr.decode()


@pytest.mark.more
def test_the_gold_plans_of_a_data_set(tmp_path: Path, reference: Path) -> None:
    pytest.importorskip("pygraphviz")
    source = reference / "datasets" / "appbench"
    done = planeval("dataset:appbench", "--source", source, "--format", "svg", "-o", f"{tmp_path}/drawn/")
    assert done.returncode == 0, done.stderr
    assert "801 of 801 plans drawn" in done.stderr.decode()
    assert len(list((tmp_path / "drawn").iterdir())) == 801


def test_a_diff_as_listing_and_as_boxes() -> None:
    command = [sys.executable, "-m", "planner_eval", "diff", "data/demo/pred.json", GOLD, "--format"]
    done = subprocess.run([*command, "listing"], cwd=ROOT, capture_output=True)
    assert done.returncode == 1
    assert "! second ← get_rate (call 1).rate (gold: ← get_rate (gold's call 2).rate)" in done.stdout.decode()
    assert b"\x1b" not in done.stdout
    pytest.importorskip("netext")
    assert "╭" in subprocess.run([*command, "boxes"], cwd=ROOT, capture_output=True).stdout.decode()


def diffed(*argv: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "planner_eval", "diff", *map(str, argv)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)


PAIRS = ("data/demo/pred.jsonl", MANY)


def test_pairs_are_drawn_a_file_each(tmp_path: Path) -> None:
    pytest.importorskip("pygraphviz")
    done = diffed(*PAIRS, "--format", "svg", "-o", f"{tmp_path}/drawn/")
    assert (done.returncode, done.stdout) == (1, "")
    drawn = {file.name for file in (tmp_path / "drawn").iterdir()}
    ids = [json.loads(line)["id"] for line in (ROOT / MANY).read_text().splitlines()]
    assert drawn == {f"{name}.svg" for name in ids} - {"alarm-unreadable.svg"}
    assert (tmp_path / "drawn" / "trip-same.svg").read_bytes().startswith(b"<?xml")
    assert "12 of 13 pairs drawn" in done.stderr
    assert "alarm-unreadable: unreadable: data/demo/pred.jsonl, line 13" in done.stderr


def test_of_pairs_those_that_differ_or_are_named_are_drawn(tmp_path: Path) -> None:
    diffed(*PAIRS, "--format", "dot", "--only", "failures", "-o", f"{tmp_path}/a/")
    assert len(list((tmp_path / "a").iterdir())) == 10
    done = diffed(
        *PAIRS, "--format", "dot", "--id", "trip-same", "--id", "rates-same", "-o", f"{tmp_path}/b/"
    )
    assert (done.returncode, sorted(file.name for file in (tmp_path / "b").iterdir())) == (
        0,
        ["rates-same.dot", "trip-same.dot"],
    )
    one = diffed(*PAIRS, "--format", "listing", "--id", "trip-extra", "-o", tmp_path / "b")
    assert one.returncode == 1
    assert "+ c4" in (tmp_path / "b" / "trip-extra.txt").read_text()


def test_a_folder_takes_drawings_and_runs_only(tmp_path: Path) -> None:
    for argv in (("--format", "json"), ("--format", "html"), ("--patch",)):
        done = diffed(*PAIRS, *argv, "-o", tmp_path)
        assert done.returncode == 2, argv
        assert "-o names a directory, which takes a drawing a pair" in done.stderr
    done = diffed(*PAIRS, "--format", "dot")
    assert "13 pairs do not fit one drawing: name one with --id, or a directory with -o" in done.stderr


def test_ids_that_make_one_file_name_are_told_and_a_link_is_not_followed(tmp_path: Path) -> None:
    ids = ["a/b", "a_b", "A b"]
    file, folder = tmp_path / "plans.jsonl", tmp_path / "out"
    file.write_text("\n".join(json.dumps({"id": name, "output": "f(#a='1')"}) for name in ids))
    gold = tmp_path / "gold.jsonl"
    gold.write_text(file.read_text())
    folder.mkdir()
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (folder / "a_b.dot").symlink_to(precious)
    for run, argv in ((planeval, (file,)), (diffed, (file, gold))):
        done = run(*argv, "--format", "dot", "-o", folder)
        said = done.stderr.decode() if isinstance(done.stderr, bytes) else done.stderr
        assert done.returncode == 0, said
        assert said.count("is another's") == 2
        assert "drawn into a_b-2.dot, for a_b.dot is another's" in said
        assert sorted(one.name for one in folder.iterdir()) == ["A_b-3.dot", "a_b-2.dot", "a_b.dot"]
        assert precious.read_text() == "mine"
        assert not (folder / "a_b.dot").is_symlink()
        (folder / "a_b.dot").unlink()
        (folder / "a_b.dot").symlink_to(precious)


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("--deadline", "3"), "--deadline applies only to --format svg, png, pdf"),
        (("--format", "dot", "--deadline", "3"), "--deadline applies only to --format svg, png, pdf"),
        (("--force",), "--force applies only to --format svg, png, pdf, dot, mermaid; text lists all calls"),
    ],
)
def test_options_that_would_do_nothing_are_refused(argv: tuple[str, ...], said: str) -> None:
    done = planeval("-", *argv, stdin=b'[{"name": "f", "arguments": {}}]')
    assert done.returncode == 2
    assert said in " ".join(done.stderr.decode().split())
