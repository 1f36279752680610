"""``planeval render`` through its real entry point."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.inside import planeval as inside
from tests.render_plans import HOSTILE, dense

GOLD = "data/demo/gold.json"
MANY = "data/demo/gold.jsonl"


def planeval(*argv: object, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    return inside("render", *argv, text=stdin, cwd=ROOT)


@pytest.mark.parametrize(
    ("suffix", "start"),
    [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("mmd", b"flowchart"), ("txt", b"generation")],
)
def test_the_suffix_names_the_format(tmp_path: Path, suffix: str, start: bytes) -> None:
    pytest.importorskip("pygraphviz")
    file = tmp_path / f"plan.{suffix}"
    assert planeval(GOLD, "-o", file).returncode == 0
    assert file.read_bytes().startswith(start)


def test_a_file_of_plans_becomes_a_file_each(tmp_path: Path) -> None:
    pytest.importorskip("pygraphviz")
    done = planeval(MANY, "--format", "svg", "-o", f"{tmp_path}/drawn/")
    assert done.returncode == 0, done.stderr
    ids = [json.loads(line)["id"] for line in (ROOT / MANY).read_text().splitlines()]
    assert {file.name for file in (tmp_path / "drawn").iterdir()} == {f"{name}.svg" for name in ids}
    assert f"{len(ids)} of {len(ids)} plans drawn" in done.stderr


def test_one_record_by_its_id() -> None:
    assert planeval(MANY, "--id", "alarm-replaced").stdout.startswith("generation 1\n")
    done = planeval(MANY, "--id", "nobody")
    assert (done.returncode, "no record has the id 'nobody'" in done.stderr) == (2, True)


def plans(file: Path, *records: tuple[str, str]) -> Path:
    file.write_text("\n".join(json.dumps({"id": name, "output": text}) for name, text in records))
    return file


def test_what_cannot_be_read_is_said_and_the_rest_is_drawn(tmp_path: Path) -> None:
    done = planeval(plans(tmp_path / "plans.jsonl", ("a", "f(#a='1')"), ("b", "f(#a="), ("c", "g(#b='2')")))
    assert (done.returncode, "(id b)" in done.stderr, done.stdout.count("generation 1")) == (1, True, 2)


def test_ids_cannot_leave_the_folder(tmp_path: Path) -> None:
    ids = ["../../up", "/etc/x", "a b", "a/b", "", "..", *HOSTILE[:8]]
    file = plans(tmp_path / "plans.jsonl", *((name, "f(#a='1')") for name in ids))
    done = planeval(file, "--format", "dot", "-o", f"{tmp_path}/out/")
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "out").iterdir())) == len(ids)
    assert sorted(f.name for f in tmp_path.iterdir()) == ["out", "plans.jsonl"]


def test_bad_input_gives_a_message_and_no_traceback(tmp_path: Path) -> None:
    for name, text in (("broken.json", b'[{"name": "f", "arguments": {]'), ("binary", b"\x80\x81\x00\xff")):
        (tmp_path / name).write_bytes(text)
    text, one = "--deadline applies only to --format svg, png and pdf", tmp_path / "one.dot"
    for argv, code, said in (
        ((tmp_path / "nowhere",), 2, ""), ((tmp_path / "broken.json",), 3, ""),
        ((tmp_path / "binary",), 2, ""), ((GOLD, "--format", "gif"), 2, ""),
        ((GOLD, "--theme", "loud"), 2, ""), ((GOLD, "--deadline", "0"), 2, ""),
        ((GOLD, "--deadline", "3"), 2, text), ((GOLD, "--format", "dot", "--deadline", "3"), 2, text),
        ((GOLD, "--force"), 2,
         "--force applies only to --format svg, png, pdf, dot and mermaid; text lists all"),
        ((MANY, "--format", "svg"), 2, ""), ((MANY, "--format", "dot", "-o", one), 2, ""),
    ):  # fmt: skip
        done = planeval(*argv)
        assert done.returncode == code, (argv, done.stderr)
        assert "Traceback" not in done.stderr
        assert done.stderr.strip()
        assert said in " ".join(done.stderr.split())


def test_a_layout_beyond_its_deadline_says_what_to_do(tmp_path: Path) -> None:
    pytest.importorskip("pygraphviz")
    plan = dense(200, 1_452)
    refs: dict[int, dict[str, object]] = {}
    for edge in plan.edges:
        refs.setdefault(edge.consumer, {})[edge.argument] = {"$ref": f"c{edge.producer}", "path": ["r"]}
    calls = [{"id": c.id, "name": c.name, "arguments": refs.get(i, {})} for i, c in enumerate(plan.calls)]
    file, drawn = tmp_path / "dense.json", tmp_path / "x.svg"
    file.write_text(json.dumps({"schema": "planeval.plan/1", "calls": calls}))
    done = planeval(file, "--format", "svg", "--deadline", "0.5", "--force", "-o", drawn)
    assert (done.returncode, drawn.exists()) == (3, False)
    assert "no layout within the deadline of 0.5 s; raise --deadline" in done.stderr


def test_a_theme_file_of_ones_own(tmp_path: Path) -> None:
    theme = (ROOT / "viz/themes/default.toml").read_text()
    for old, new, code, said in (
        ('rankdir = "TB"', 'rankdir = "LR"', 0, "rankdir=LR"),
        ("[box]", "[boxes]", 2, "there is no key 'boxes'; did you mean 'box'?"),
        ("width = 46", 'width = "46"', 2, "width is '46', expected a whole number"),
    ):
        file = tmp_path / f"{len(said)}.toml"  # a theme is read once
        file.write_text(theme.replace(old, new))
        done = planeval(GOLD, "--format", "dot", "--theme", file)
        assert (done.returncode, said in done.stdout + done.stderr) == (code, True)


PAIRS = ("data/demo/pred.jsonl", MANY)


def test_a_diff_as_listing_and_as_boxes() -> None:
    done = diffed("data/demo/pred.json", GOLD, "--format", "listing")
    assert (done.returncode, "\x1b" in done.stdout) == (1, False)
    assert "! second ← get_rate (call 1).rate (gold: ← get_rate (gold's call 2).rate)" in done.stdout
    pytest.importorskip("netext")
    assert "╭" in diffed("data/demo/pred.json", GOLD, "--format", "boxes").stdout


def diffed(*argv: object) -> subprocess.CompletedProcess[str]:
    return inside("diff", *argv, cwd=ROOT)


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
    ids = ("--id", "trip-same", "--id", "rates-same")
    assert diffed(*PAIRS, "--format", "dot", *ids, "-o", f"{tmp_path}/b/").returncode == 0
    assert {file.name for file in (tmp_path / "b").iterdir()} == {"rates-same.dot", "trip-same.dot"}
    one = diffed(*PAIRS, "--format", "listing", "--id", "trip-extra", "-o", tmp_path / "b")
    assert one.returncode == 1
    assert "+ c4" in (tmp_path / "b" / "trip-extra.txt").read_text()
    for argv in (("--format", "json"), ("--format", "html"), ("--patch",)):
        done = diffed(*PAIRS, *argv, "-o", tmp_path)
        assert done.returncode == 2, argv
        assert "-o names a directory: add --format svg" in done.stderr
    done = diffed(*PAIRS, "--format", "dot")
    assert "13 pairs do not fit one drawing: choose one with --id, or name a directory with -o" in done.stderr


def test_ids_that_make_one_file_name_are_told_and_a_link_is_not_followed(tmp_path: Path) -> None:
    records = [(name, "f(#a='1')") for name in ("a/b", "a_b", "A b")]
    file, gold = (plans(tmp_path / name, *records) for name in ("plans.jsonl", "gold.jsonl"))
    folder, precious = tmp_path / "out", tmp_path / "precious"
    folder.mkdir()
    precious.write_text("mine")
    for run, argv in ((planeval, (file,)), (diffed, (file, gold))):
        (folder / "a_b.dot").unlink(missing_ok=True)
        (folder / "a_b.dot").symlink_to(precious)
        done = run(*argv, "--format", "dot", "-o", folder)
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("belongs to another record") == 2
        assert "drawn into a_b-2.dot, for a_b.dot belongs to another record" in done.stderr
        assert sorted(one.name for one in folder.iterdir()) == ["A_b-3.dot", "a_b-2.dot", "a_b.dot"]
        assert precious.read_text() == "mine"
        assert not (folder / "a_b.dot").is_symlink()
