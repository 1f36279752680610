"""Colours and counts: on a terminal, as --color says, and never in a pipe or a file by themselves."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from planner_eval.cli import COMMANDS, cli, terminal
from planner_eval.comparison import rows
from tests import inside
from tests.conftest import ROOT, tables, text_case
from tests.terminal import on_terminal

TABLES = tables(__file__)

PRED, GOLD = "data/demo/pred.jsonl", "data/demo/gold.jsonl"
ONE = ("diff", "data/demo/pred.json", "data/demo/gold.json")
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
TEXTS = TABLES["TEXTS"]


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


def test_a_terminal_has_colours_unless_it_is_told_otherwise(tmp_path: Path) -> None:
    shown, file = on_terminal(*ONE), tmp_path / "diff.txt"
    assert shown.out.startswith("\x1b[33mdifferent\x1b[0m: 2 edits")
    assert "\n  \x1b[35mreference.producer\x1b[0m: ratio" in shown.out
    for more, environment, has in (
        (("--color", "never"), {}, False), ((), {"NO_COLOR": "1"}, False), ((), {"NO_COLOR": ""}, True),
        (("--color", "always"), {"NO_COLOR": "1"}, True), ((), {"TERM": "dumb"}, False),
    ):  # fmt: skip
        assert ("\x1b" in on_terminal(*ONE, *more, **environment).out) is has, (more, environment)
    assert "\x1b" not in on_terminal(*ONE, out=False, FORCE_COLOR="1").out
    on_terminal(*ONE, "-o", str(file))
    assert "\x1b" not in file.read_text()
    inside.planeval(*ONE, "-o", file, "--color", "always")
    assert "\x1b[33mdifferent" in file.read_text()


def test_what_a_model_wrote_cannot_reach_the_terminal(tmp_path: Path) -> None:
    evil = "\x1b]0;gotcha\x07\x1b[2J\u202e"
    record = {"id": f"a{evil}", "output": [{"name": "f", "arguments": {"x": evil, evil: 1}}]}
    files = pred, gold = str(tmp_path / "p.jsonl"), str(tmp_path / "g.jsonl")
    Path(pred).write_text(json.dumps(record) + "\n")
    Path(gold).write_text(json.dumps({**record, "output": [{"name": evil, "arguments": {}}]}) + "\n")
    for argv in (
        ("diff", *files), ("diff", *files, "--id", f"a{evil}"), ("diff", *files, "--id", f"b{evil}"),
        ("score", *files, "--only", "failures"), ("parse", pred), ("convert", pred, "--to", "plan"),
        ("convert", pred, "--to", "pythonic"), ("render", pred),
    ):  # fmt: skip
        shown = on_terminal(*argv)
        assert "\\x1b" in shown.out + shown.err or "\\u001b" in shown.out + shown.err, argv
        left = ESCAPE.sub("", shown.out) + shown.err
        assert not set("\x1b\x07\u202e") & set(left), (argv, shown)


SLOW = text_case("test_cli_terminal-SLOW.txt")


@pytest.mark.parametrize(("argv", "place", "what"), [
    (("diff", PRED, GOLD), "planner_eval.comparison.rows read_answer", "pairs"),
    (("stats", GOLD), "planner_eval.results.stats stats_of", "plans"),
    *(pytest.param(argv, place, what, marks=pytest.mark.more) for argv, place, what in (
        (("parse", PRED), "planner_eval parse", "plans"),
        (("score", PRED, GOLD), "planner_eval.comparison.rows read_answer", "pairs"),
        (("convert", PRED, "--to", "json", "--loss"), "planner_eval parse", "plans"),
        (("check", PRED, "--catalog", "world:bank"), "planner_eval parse", "plans"))),
])  # fmt: skip
def test_what_takes_long_is_counted_on_a_terminal(argv: tuple[str, ...], place: str, what: str) -> None:
    module, name = place.split()
    code = SLOW.format(module=module, name=name)
    shown = on_terminal(*argv, code=code, out=False)
    counts = re.findall(rf"\r\x1b\[K(\d+) of 13 {what}, \d+(?:\.\d)?/s", shown.err)
    assert counts, shown.err
    assert list(map(int, counts)) == sorted(map(int, counts))
    assert not re.search(r"\d/s", shown.err[shown.err.rindex("\x1b[K") :])
    assert "\x1b[K" not in shown.out
    quiet = on_terminal(*argv, code=code, out=False, err=False)
    assert ("\r" in quiet.err + quiet.out, quiet.out, quiet.code) == (False, shown.out, shown.code)


def test_a_large_file_is_said_to_be_read_and_what_is_quick_shows_no_count(tmp_path: Path) -> None:
    assert "\r" not in on_terminal("diff", PRED, GOLD, out=False).err
    file = tmp_path / "plans.jsonl"
    plan = [{"name": "f", "arguments": {"x": "y" * 2_500_000}}]
    file.write_text("".join(json.dumps({"id": str(number), "output": plan}) + "\n" for number in range(2)))
    shown = on_terminal("diff", str(file), str(file), "--field", "text=output", "--field", "gold.text=output")
    assert re.search(r"\r\x1b\[Kreading 5\.0 MB of /", shown.err), shown
    assert "reading" not in shown.err[shown.err.rindex("\x1b[K") :]
    assert "reading" not in on_terminal("parse", str(file), err=False).err


def test_an_interrupt_says_how_much_was_done() -> None:
    code = SLOW.format(module="planner_eval.results.runs.diff_job", name="format_row")
    shown = on_terminal("diff", PRED, GOLD, code=code, interrupt=r"\d of 13 pairs")
    assert shown.code == 130
    # Where the interrupt falls into the writing of the line, that stays, and what follows has one of its own.
    assert re.search(r"(\r\x1b\[K|\n)interrupted after \d+ of 13 pairs\n$", shown.err), shown.err
    said = '    sys.stderr.write("one\\n")\n    time.sleep'
    code = SLOW.format(module="planner_eval", name="parse").replace("    time.sleep", said)
    shown = on_terminal("parse", PRED, code=code, err=False, interrupt="(one\\s+){6}")
    assert shown.code == 130
    assert re.search(r"interrupted after [4-7] of 13 plans\n$", shown.err), shown.err


IN_PARTS = text_case("test_cli_terminal-IN_PARTS.txt")
LINE = r"\d+ of 60 pairs, [\d.]+/s, 0:\d\d left(, 1 failed)?"


def elsewhere(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", IN_PARTS, *argv], cwd=ROOT, capture_output=True, text=True)


def test_work_in_parts_says_how_far_it_is_on_a_terminal_elsewhere_and_not_at_all() -> None:
    shown = on_terminal("--jobs", "1", "--part", "10", out=False, code=IN_PARTS)
    assert (shown.code, shown.out) == (0, "60 pairs, True\n")
    assert re.search(LINE, shown.err)
    assert shown.err.endswith("\r\x1b[K")
    done = elsewhere("--jobs", "1", "--part", "10")
    assert (done.returncode, done.stdout) == (0, "60 pairs, True\n")
    lines = done.stderr.splitlines()
    assert lines
    assert all(re.fullmatch(LINE, line) for line in lines)
    done = elsewhere("--jobs", "1", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "60 pairs, True\n", "")
    assert on_terminal("--jobs", "1", "--quiet", out=False, code=IN_PARTS).err == ""


def test_ways_of_working_that_cannot_be_are_refused() -> None:
    for option, value, said in TABLES["ways_of_working_that_cannot_be_are_refused"]:
        done = inside.planeval("diff", PRED, GOLD, option, value)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(("words", "offered"), [
    (("d",), {"data", "diff", "doctor"}), (("data", "f"), {"fetch"}),
    (("data", "fetch", "nestful-"), {"nestful-v1", "nestful-v2"}),
    (("parse", "--from", "granite"), {"granite-20b", "granite-3"}),
    (("convert", "--to", "appb"), {"appbench"}), (("diff", "--gold-from", "appb"), {"appbench"}),
    (("score", "--policy", "l"), {"lenient"}), (("score", "--benchmark", "n"), {"nestful"}),
    (("render", "--theme", "d"), {"dark", "default"}), (("stats", "--format", "j"), {"json"}),
    (("stats", "--color", "a"), {"auto", "always"}), (("diff", "--id", "a"), set()),
    (("diff", ""), "file"), (("diff", "a", "--policy", "./x"), "file"),
    (("execute", "p", "--tools", "t"), "file"), (("check", "--catalog", "c"), "file"),
])  # fmt: skip
def test_bash_completes(words: tuple[str, ...], offered: set[str] | str) -> None:
    asked = {"_PLANEVAL_COMPLETE": "bash_complete", "COMP_CWORD": str(len(words))}
    env = {**os.environ, **asked, "COMP_WORDS": " ".join(("planeval", *words))}
    done = subprocess.run([sys.executable, "-m", "planner_eval"], capture_output=True, text=True, env=env)
    found = [line.split(",") for line in done.stdout.split()]
    if offered == "file":
        assert {kind for kind, _ in found} == {"file"}, done
    else:
        assert {word for _, word in found} == offered, done


def test_bash_calls_the_completion() -> None:
    script = (
        'eval "$(_PLANEVAL_COMPLETE=bash_source planeval)"\n'
        "COMP_WORDS=(planeval data fetch nestful-); COMP_CWORD=3; _planeval_completion planeval\n"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    path = f"{ROOT / '.venv' / 'bin'}:/usr/bin:/bin"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env={"PATH": path})
    assert set(done.stdout.split()) == {"nestful-v1", "nestful-v2"}, done.stderr


def test_every_command_has_color_and_every_state_a_colour() -> None:
    def each(command: click.Command) -> Iterator[click.Command]:
        if isinstance(command, click.Group):
            for sub in command.commands.values():
                yield from each(sub)
        else:
            yield command

    with click.Context(cli) as context:
        found = [one for name in COMMANDS for one in each(cli.get_command(context, name) or cli)]
    assert len(found) >= len(COMMANDS)
    for command in found:
        assert ["--color" in option.opts for option in command.params].count(True) == 1, command.name
    wrong = inside.planeval("render", GOLD, "--color", "loud")
    assert (wrong.returncode, "'loud' is not one of 'auto', 'always', 'never'" in wrong.stderr) == (2, True)
    assert "--color" in inside.planeval("render", GOLD, "--no-color").stderr
    assert {state.replace("_", " ") for state in rows.STATES} <= set(terminal.STATE_COLORS)
    text = "call  status  value\nc1    ok      failed\nc2    failed  ok"
    states = "c1    \x1b[32mok\x1b[0m      failed\nc2    \x1b[31mfailed\x1b[0m  ok"
    assert terminal.color_tables(text) == f"\x1b[1mcall  status  value\x1b[0m\n{states}"
    said = "call 1 (f): \x1b[31merror\x1b[0m: no f\x1b[2m [check.x]\x1b[0m"
    assert terminal.color_finding("call 1 (f): error: no f [check.x]") == said


DATA = (
    *((*ONE, "--format", form) for form in ("json", "jsonl", "csv", "md", "junit", "html", "dot")),
    (*ONE, "--patch"), ("stats", GOLD, "--format", "json"), ("convert", PRED, "--to", "appbench"),
    ("schema", "policy"), ("parse", PRED, "--format", "json"),
)  # fmt: skip


@pytest.mark.parametrize("argv", [*TEXTS.values(), *(pytest.param(a, marks=pytest.mark.more) for a in DATA)])
def test_colours_change_nothing_but_colours_and_data_has_none(argv: tuple[str, ...]) -> None:
    plain, colored = (inside.planeval(*argv, *more) for more in ((), ("--color", "always")))
    assert "\x1b" not in plain.stdout + plain.stderr + colored.stderr
    assert bool(ESCAPE.search(colored.stdout)) is (argv in TEXTS.values())
    assert (ESCAPE.sub("", colored.stdout), colored.returncode) == (plain.stdout, plain.returncode)


def test_a_download_is_counted_in_megabytes() -> None:
    code = """
import time, click
from planner_eval.cli.data import _make_progress
with click.Context(click.Command("fetch")):
    show = _make_progress()
    for done in range(8):
        time.sleep(0.3)
        show("a\\x1b.json", done * 1_000_000, 8_000_000)
"""
    shown = on_terminal(code=code)
    assert re.search(r"\r\x1b\[Ka\\x1b.json: \d\.0 of 8\.0 MB, \d\.\d/s", shown.err)
    assert shown.err.endswith("\r\x1b[K")
