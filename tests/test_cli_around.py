"""What is around a command: files read and written, pipes, streams; codes, messages, no traceback."""

import ctypes
import os
import re
import resource
import shlex
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import click
import pytest

from planner_eval.base.formats import FORMATS, SUFFIXES, format_of_suffix, load_writer
from planner_eval.cli.terminal import Target
from tests.conftest import ROOT, tabled, tables
from tests.test_cli_table import ALL, FILES, ROWS, SAMPLES, called, folder

TABLES = tables(__file__)

__all__ = ("folder",)  # a fixture for every test here
CALLS = TABLES["CALLS"]


def forms(command: str) -> tuple[str, ...]:
    for one in ALL[command].params:
        if isinstance(one.type, click.Choice) and one.name == "form":
            return tuple(map(str, one.type.choices))
    return ()


def targets() -> list[tuple[str, str]]:
    all_ = [(name, one) for name, command in ALL.items() for one in command.params]
    return [(name, max(one.opts, key=len)) for name, one in all_ if isinstance(one.type, Target)]


def test_every_command_that_has_a_result_writes_it_to_a_file_and_every_file_read_has_a_place() -> None:
    assert {name for name, flag in targets() if flag == "--output"} == CALLS.keys()
    assert ALL.keys() - CALLS.keys() == {"data fetch", "predict"}  # which fill folders
    assert {call.partition(" {")[0].split()[0] for call in PLACES} == {n.split()[0] for n in ALL} - WITHOUT
    written = {form for name in ALL for form in forms(name)}
    assert written | {"html"} == FORMATS.keys()  # every format is some command's, and has what writes it
    assert all(callable(load_writer(form)) for form in FORMATS)
    assert set(SUFFIXES) >= written - {"boxes", "listing", "github"}


@pytest.mark.more
@pytest.mark.parametrize("command", [c for c in CALLS if c not in ("convert", "data show")])  # lists alone
def test_a_suffix_that_names_what_is_not_written_is_refused_and_format_wins(command: str) -> None:
    known, call = forms(command), shlex.split(CALLS[command])
    for odd in ("svg", "html", "gz", "csv"):
        if (
            format_of_suffix(f"x.{odd}", known or (("html",) if command == "report" else ("json",)))
            is not None
        ):
            continue
        done = called([*call, "-o", f"x.{odd}"])
        assert (done.code, done.out, done.files) == (2, "", "")
        assert f"x.{odd} has the suffix of {odd}" in done.err
        assert ", ".join(known) in done.err
        if known:
            won = called([*call, "--format", known[0], "-o", f"x.{odd}"])
            assert (won.code < 2, Path(f"x.{odd}").exists()) == (True, True)
    assert called([*call, "-o", "x.unknown"]).code < 2
    assert Path("x.unknown").read_text()


TARGETS = TABLES["TARGETS"]
OTHER = TABLES["OTHER"]


def call_of(command: str, flag: str) -> list[str]:
    return shlex.split(OTHER.get(flag) or OTHER.get(f"{command} {flag}") or CALLS[command])


def refused_with(command: str, flag: str, file: str, *said: str) -> None:
    keys = {old: (group, key) for group, of in ALL[command].keys.items() for key, old in of.items()}
    group, key = keys.get(flag, (flag, ""))
    typed = [group, f"{key}={file}" if key else file]
    done = called([*call_of(command, flag), *typed])
    assert (done.code, done.out, done.files) == (2, "", ""), (file, done.err)
    assert done.err.count("\n") == 1
    assert any(each in done.err for each in said), done.err


@pytest.mark.more
@pytest.mark.parametrize(("command", "flag"), targets())
def test_a_file_that_cannot_be_written_is_told_before_the_work(command: str, flag: str) -> None:
    name = TARGETS[flag]
    for made in (f"folder.{name}", "locked", "open"):
        Path(made).mkdir()
    os.symlink("loop", "loop")
    Path(f"open/{name}").write_text("precious")
    for file, said in (
        (f"nowhere/{name}", "there is no folder nowhere"), (f"plan.json/{name}", "plan.json is not a "
        "folder"),
        (f"folder.{name}", "is a directory"), (f"loop/{name}", "symbolic links"),
        ("x" * 300 + name, "too long"),
    ):  # fmt: skip
        keeps = command in ("diff", "execute", "render", "score", "shrink", "stats")
        if keeps and flag == "--output" and file == f"folder.{name}":
            continue  # they draw into one, or keep a run in it
        refused_with(command, flag, file, said)
    os.chmod(f"open/{name}", 0o444)
    os.chmod("locked", 0o555)
    with not_root():
        refused_with(command, flag, f"locked/{name}", "the folder locked is read-only")
        refused_with(command, flag, f"open/{name}", "the file is read-only")


@contextmanager
def not_root() -> Iterator[None]:
    """As somebody who may not read and write everywhere: root without the two capabilities for that."""
    if os.geteuid() != 0:
        yield
        return
    try:
        libc = ctypes.CDLL(None)
        header, caps = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
        assert libc.capget(header, caps) == 0
    except (AttributeError, AssertionError):
        pytest.skip("root may read and write everything here")
    before = caps[0]
    caps[0] &= ~0b110
    assert libc.capset(header, caps) == 0
    try:
        yield
    finally:
        caps[0] = before
        assert libc.capset(header, caps) == 0


@tabled("call, file")
def test_nothing_is_written_onto_what_is_read(call: str, file: str) -> None:
    if not Path(file).exists():
        Path(file).write_text("")
    before, suffix = Path(file).read_bytes(), Path(file).suffix
    os.link(file, f"hard{suffix}")
    os.symlink(file, f"soft{suffix}")
    for name in (file, f"hard{suffix}", f"soft{suffix}"):
        done = called([*shlex.split(call), "-o", name])
        assert (done.code, done.out, done.files) == (2, "", ""), done.err
        assert "name another file" in done.err
        assert Path(file).read_bytes() == before
    done = called(shlex.split("stats better.jsonl --shapes x.dot --tool-graph ./x.dot"))
    assert (done.code, done.files) == (2, "")
    assert "x.dot is also written by this command (./x.dot)" in done.err


def test_drawings_into_a_folder_follow_no_link_in_it_and_replace_nothing_that_is_read() -> None:
    Path("drawn").mkdir()
    Path("secret").write_text("precious")
    os.symlink("../secret", "drawn/a.txt")
    Path("pred.jsonl").write_text(Path("better.jsonl").read_text().replace('"b"', '"../../escaped"'))
    done = called(["render", "pred.jsonl", "-o", "drawn/"])
    assert done.code == 0, done.err
    assert Path("secret").read_text() == "precious"
    assert not Path("drawn/a.txt").is_symlink()
    assert sorted(one.name for one in Path("drawn").iterdir()) == ["a.txt", "c.txt", "escaped.txt"]
    assert not list(Path().glob("../escaped*"))
    Path("drawn/a.txt").write_text(Path("better.jsonl").read_text())
    done = called(["render", "drawn/a.txt", "-o", "drawn/"])
    assert done.code == 2
    assert "a.txt is an input of this command: name another folder" in done.err
    assert Path("drawn/a.txt").read_text() == Path("better.jsonl").read_text()


def shell(script: str, **how: object) -> subprocess.CompletedProcess[str]:
    """A script of bash in which p is the command line; its code is that of the first that failed."""
    start = f'set -o pipefail; p() {{ "{sys.executable}" -m planner_eval "$@"; }}; '
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(["bash", "-c", start + script], capture_output=True, text=True, env=env, **how)  # type: ignore[call-overload,no-any-return]


@pytest.mark.more
def test_pipes_devices_and_what_is_open_already_are_written_as_they_are() -> None:
    plain = shell("p parse plan.json").stdout
    for script in TABLES["pipes_devices_and_what_is_open_already_are_written_as_they_are"]:
        assert shell(script).stdout == plain, script
    assert shell("p parse plan.json -o /dev/null").returncode == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_full_disk_leaves_what_was_there() -> None:
    Path("old.json").write_text("before")
    limit = (resource.RLIMIT_FSIZE, (2000, 2000))  # of what Python compiles it would keep the beginning
    done = shell(
        "PYTHONDONTWRITEBYTECODE=1 p parse wide.json -o old.json",
        preexec_fn=lambda: resource.setrlimit(*limit),
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "planeval: old.json cannot be written: File too large\n"
    assert Path("old.json").read_text() == "before"
    assert not list(Path().glob(".*"))


@pytest.mark.more
@pytest.mark.parametrize(("script", "code", "said"), TABLES["a_stream_that_is_full_or_closed"])
def test_a_stream_that_is_full_or_closed_is_no_difference(script: str, code: int, said: str) -> None:
    done = shell(script.replace("$SAMPLES", str(SAMPLES)))
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert not re.search("Traceback|Exception|Error:", done.stderr)


SOURCES = TABLES["SOURCES"]


def places() -> Iterator[str]:
    calls = [(None, call.split()) for call in CALLS.values()]
    rows = [(option, shlex.split(row.call)) for (_, option), row in ROWS.items()]
    for option, words in [*calls, *rows]:
        for at, word in enumerate(words):
            asked = option is None or words[at - 1] == option
            if word in FILES and asked and option not in ("--wrappers", "--allow-read"):
                yield " ".join([*words[:at], "{}", *words[at + 1 :]])
    yield from SOURCES


PLACES = sorted(set(places()))
WITHOUT = {"doctor", "explain", "schema"}


@pytest.mark.more
@pytest.mark.parametrize("call", PLACES)
def test_a_file_that_cannot_be_read_is_said(call: str) -> None:
    toml = re.search("--(theme|policy|wrappers) {}$", call)
    suffix = ".toml" if toml else ".py" if "--tools {}" in call else ".json"
    missing, binary, locked, long = (f"{name}{suffix}" for name in ("missing", "binary", "locked", "x" * 300))
    Path(binary).write_bytes(bytes(range(256)) * 10)
    Path(locked).write_text("{}")
    os.chmod(locked, 0)
    for name in (missing, binary, locked, long):
        if name == missing and "--record" in call:
            continue  # it is made
        with not_root() if name == locked else nullcontext():
            done = called(shlex.split(call.replace("{}", name)))
        assert "Traceback" not in done.err
        if name == missing or not call.startswith("data show"):  # they open nothing
            assert (done.code, done.out) == (2, ""), (name, done)
            assert name.rpartition(".")[0][:200] in done.err


def test_a_file_keeps_its_mode_a_link_stays_and_nothing_is_left_beside_it() -> None:
    Path("old.txt").write_text("before")
    os.chmod("old.txt", 0o640)
    os.symlink("real.txt", "link.txt")
    before = os.umask(0o027)
    try:
        for name in ("old.txt", "new.txt", "link.txt"):
            assert called(["parse", "plan.json", "-o", name]).code == 0
            assert stat.S_IMODE(Path(name).stat().st_mode) == 0o640
            assert "add" in Path(name).read_text()
    finally:
        os.umask(before)
    assert Path("link.txt").is_symlink()
    assert not list(Path().glob(".*"))
