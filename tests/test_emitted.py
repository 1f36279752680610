"""Results that are written in pieces: the bytes of the whole, at the memory of a piece."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from planner_eval.base.output_files import write
from tests import inside
from tests.memory import PEAK, measures
from tests.test_cli import planeval
from tests.test_diff_runs import PRED

EMIT = f"""{PEAK}
import sys
import click
from planner_eval.cli.help import Command
from planner_eval.cli.output import emit

given = 0

def pieces(count, piece):
    global given
    for given in range(1, count + 1):
        yield piece

@click.command("diff", cls=Command)
@click.argument("count", type=int)
@click.argument("piece")
@click.option("-o", "output")
def command(count, piece, output):
    emit(pieces(count, piece.encode().decode("unicode_escape")), output)
    click.echo(str(given) + " " + str(peak()), err=True)

click.Group("planeval", dict(diff=command)).main(["diff", *sys.argv[1:]], "planeval")
"""
MANY, LINE = 4000, "x" * 50_000 + r"\n"  # 200 MB


def emitted(script: str, *argv: str) -> subprocess.CompletedProcess[bytes]:
    """What `emit` does in a process of its own, whose output goes where the script says; `$@` is it."""
    call = [script, "sh", sys.executable, "-c", EMIT, *argv]
    return subprocess.run(["bash", "-o", "pipefail", "-c", *call], capture_output=True)


@measures
@pytest.mark.parametrize("script", ['"$@" | tail -c 3', '"$@" -o x.txt && tail -c 3 x.txt'])
def test_pieces_are_not_held(script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = emitted(script, str(MANY), LINE)
    assert (done.returncode, done.stdout) == (0, b"xx\n")
    given, used = map(int, done.stderr.split())
    assert (given, used < 100) == (MANY, True)


def test_no_more_pieces_are_asked_for_than_are_read() -> None:
    done = emitted('"$@" | head -c 3', str(MANY), LINE)
    assert (done.returncode, done.stdout) == (0, b"xxx")
    assert int(done.stderr.split()[0]) < MANY


WHOLE = [
    (0, "", b""), (2, "", b""), (2, "a", b"aa\n"), (2, r"a\n", b"a\na\n"), (2, r"\nb", b"\nb\nb\n"),
    (1, r"\ud800\xe9", b"\\ud800\xc3\xa9\n"),
]  # fmt: skip


@pytest.mark.parametrize(("count", "piece", "whole"), WHOLE)
def test_pieces_are_the_same_bytes_as_the_whole(count: int, piece: str, whole: bytes, tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    script = 'PYTHONIOENCODING=utf-8:backslashreplace "$@"'
    assert emitted(script, str(count), piece).stdout == whole
    assert emitted(script, str(count), piece, "--color=always").stdout == whole
    assert emitted(script, str(count), piece, "-o", str(file)).stdout == b""
    assert file.read_bytes() == whole


def test_a_line_in_pieces_gets_its_colours() -> None:
    colored = emitted('"$@" --color=always', "3", r"fferent: x\n1  di").stdout.splitlines()
    assert colored == [b"fferent: x", *[b"1  \x1b[33mdifferent\x1b[0m: x"] * 2, b"1  di"]


def test_pieces_that_end_in_an_error_leave_what_was_there(tmp_path: Path) -> None:
    def pieces() -> Iterator[str]:
        yield "new"
        raise ValueError("lost")

    file = tmp_path / "x.txt"
    file.write_text("old")
    with pytest.raises(ValueError, match="lost"):
        write(file, pieces())
    assert file.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["x.txt"]


CALLS = '[{"name": "f", "arguments": {"x": 1}}, {"name": "g", "arguments": {"y": "$c1"}}]'
OTHERS = [
    "parse --format text", "parse --format json", "parse --grammar --from json", "convert --to appbench",
    "convert --to json --loss",
]  # fmt: skip
OTHERS += [f"check --catalog CATALOG --format {form}" for form in ("text", "json", "jsonl", "csv", "md")]


@pytest.mark.more
@pytest.mark.parametrize("line", OTHERS)
def test_what_is_said_of_plans_is_the_same_for_any_cut(line: str, tmp_path: Path) -> None:
    catalog, more, lone = (tmp_path / name for name in ("catalog.json", "more.jsonl", "lone.json"))
    typed = {"type": "object", "properties": {"x": {"type": "string"}}}
    catalog.write_text(json.dumps([{"name": "f", "parameters": typed}]))
    wrong = ["[{'name': 'f'}]", '[{"name": "f", ', "\\ud83d\\ude00", "f(x='\x1b[31m')"]
    more.write_text("".join(json.dumps({"output": text}) + "\n" for text in [CALLS, *wrong, CALLS]))
    lone.write_text(CALLS)
    command, *options = line.replace("CATALOG", str(catalog)).split()
    for files in ((str(more),), (str(lone),), (PRED, str(more))):
        alone = inside.planeval(command, *files, *options)
        assert alone.stdout
        for ran, jobs, part in ((inside.planeval, "1", "1"), (planeval, "2", "4")):
            cut = ran(command, *files, *options, "--jobs", jobs, "--part", part)
            assert (cut.returncode, cut.stdout, cut.stderr) == (alone.returncode, alone.stdout, alone.stderr)
