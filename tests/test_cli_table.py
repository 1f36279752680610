"""Every command with every option, as ``cli_table.toml`` says, whose head says how to add a row."""

import json
import os
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest

import planner_eval as pe
from planner_eval.cli import COMMANDS, cli
from planner_eval.cli.options import Seconds
from planner_eval.comparison.patch import make_patch
from planner_eval.results.runs.stored import run_text
from tests.conftest import ROOT, tables
from tests.inside import planeval
from tests.prediction_samples import appbench_catalogue

SAMPLES = ROOT / "data" / "samples"


def _plan(*calls: tuple[str, object, object]) -> str:
    given = [(name, {"arg_0": one, "arg_1": two}) for name, one, two in calls]
    labelled = enumerate(given, 1)
    return json.dumps([{"name": name, "label": f"$var_{n}", "arguments": one} for n, (name, one) in labelled])


def _lines(*records: dict[str, object]) -> str:
    return "\n".join(map(json.dumps, records)) + "\n"


ADD, SUB = _plan(("add", 1, 4)), _plan(("subtract", 9, 4))
CHAIN = _plan(("add", 1, 4), ("multiply", "$var_1.result$", 2))


def _text(name: str, held: Any) -> str:
    """A file's text: records, data, or the text itself."""
    if isinstance(held, str):
        return held
    return _lines(*held) if name.endswith(".jsonl") else json.dumps(held)


def _patch(key: str, pred: str, gold: str) -> dict[str, object]:
    return {"id": key} | make_patch(pe.diff(pred, gold))


def _run(
    name: str, form: str, source: str, model: str, rows: list[tuple[str, str]], shots: object = None
) -> dict[str, str]:
    told = [{"id": key, "prediction": text, "error": None, "requests": []} for key, text in rows]
    options = {"pipeline": "flat", "dataset": form, "setup": {"shots": shots}, "model": model, "repeat": 1}
    samples = {"role": "samples", "path": source, "size": len(rows), "digest": ""}
    run = {"schema": "planeval.run/1", "version": pe.__version__, "python": "3", "kind": "predict"}
    run |= {"options": options, "inputs": [samples], "pairs": len(rows), "part": 1, "store": "jsonl"}
    return {f"{name}/run.json": run_text(run), f"{name}/rows.jsonl": _lines(*told)}


def _answers(name: str) -> list[tuple[str, str]]:
    lines = (SAMPLES / "answers" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [(r.get("id") or r["sample_id"], r.get("prediction") or r["generated_text"]) for r in rows]


FILES: dict[str, str] = {
    **{name: _text(name, held) for name, held in tables(__file__)["FILES"].items()},
    **_run("own-run", "own", "gold.jsonl", "small", [("a", ADD), ("b", SUB), ("c", "add(x=")]),
    **_run("better-run", "own", "gold.jsonl", "large", [("a", ADD), ("b", ADD), ("c", CHAIN)]),
    **_run("fewer-run", "own", "gold.jsonl", "fewer", [("a", ADD), ("b", SUB)]),
    **_run("lost-run", "own", "nowhere.jsonl", "lost", [("a", ADD)]),
    **_run("apps-run", "appbench", str(SAMPLES / "appbench"), "m", _answers("appbench")),
    **_run("names-run", "callnavi", str(SAMPLES / "callnavi"), "m", _answers("callnavi")),
    **_run("sums-run", "nestful", str(SAMPLES / "nestful"), "m", _answers("nestful"), {"number": 1}),
    "apps.json": json.dumps(appbench_catalogue()),
    "patches.jsonl": _lines(_patch("a", ADD, ADD), _patch("b", SUB, ADD)),
    "tools.py": "def add(arg_0, arg_1):\n    return arg_0 + arg_1\n"
    "def multiply(arg_0, arg_1):\n    return 7\n"
    "def subtract(arg_0, arg_1):\n    return open(__file__.replace('tools.py', 'secret.txt')).read()\n",
    "slow.py": "import time\ndef add(arg_0, arg_1):\n    time.sleep(1)\n",
    "flaky.py": "tried = []\ndef add(arg_0, arg_1):\n    tried.append(1)\n"
    "    if len(tried) == 1:\n        raise ValueError('once')\n    return 'second time'\n",
    "till.py": "class Till:\n    sold = ()\n"
    "    def set_state(self, state):\n        self.sold = state['sold']\n"
    "    def take(self, what):\n        return self.sold.index(what)\n",
    "meet.py": "import threading\nmeeting = threading.Barrier(2, timeout=0.3)\n"
    "def add(arg_0, arg_1):\n    meeting.wait()\n    return 'met'\n"
    "def multiply(arg_0, arg_1):\n    meeting.wait()\n    return 'met'\n",
}  # fmt: skip


def _commands(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _commands(command, f"{name} ")
        else:
            yield before + name, command


ALL = dict(_commands(cli))  # type: ignore[arg-type]


def _flag(option: click.Parameter) -> str:
    return max(option.opts, key=len)


def _options(command: str) -> dict[str, click.Option]:
    return {_flag(one): one for one in ALL[command].params if isinstance(one, click.Option)}


class Row(NamedTuple):
    call: str
    shows: str
    wrong: str = ""
    says: str = ""


def _rows() -> dict[tuple[str, str], Row]:
    read = tomllib.loads((ROOT / "tests" / "cli_table.toml").read_text().replace("$SAMPLES", str(SAMPLES)))
    commands = read.pop("commands")
    found = {(name, option): Row(*row) for name, rows in commands.items() for option, row in rows.items()}
    for several in read.values():
        for command, call in several["calls"].items():
            for option in (one for one in several["rows"] if one in _options(command)):
                row = Row(*several["rows"][option])
                wrong = row.wrong and _placed(call, row.wrong)
                row = row._replace(call=_placed(call, row.call), wrong=wrong)
                found.setdefault((command, option), row)
    return found


def _placed(call: str, given: str) -> str:
    """A shared row in a command's call: its files stand for {}, or one each, and its options at the end."""
    files, _, options = given.partition(" --")
    return f"{call.format(*(files.split() if call.count('{}') > 1 else [files]))} --{options}"


ROWS = _rows()


class Done(NamedTuple):
    code: int
    out: str
    err: str
    files: str

    @property
    def all(self) -> str:
        return self.out + self.err + self.files


def called(argv: list[str], *, typed: bytes = b"") -> Done:
    before = _contents()
    done = planeval(*argv, text=typed)
    now = _contents().items()
    written = "".join(f"\n== {name}\n{text}" for name, text in now if before.get(name) != text)
    return Done(done.returncode, done.stdout, done.stderr, written)


def _contents() -> dict[str, str]:
    found = {}
    for file in sorted(Path().rglob("*")):
        if os.path.isfile(file) and os.access(file, os.R_OK, effective_ids=True):
            found[str(file)] = file.read_text(errors="replace")
    return found


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that calls name, as the current folder; no data set is in the cache."""
    monkeypatch.chdir(tmp_path)
    _restored()
    monkeypatch.setenv("PLANEVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def _restored() -> None:
    for file in Path().iterdir():
        if file.is_dir():
            shutil.rmtree(file)
        else:
            file.unlink()
    for name, text in FILES.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")


def _without(command: str, option: str, argv: list[str]) -> list[str]:
    known = _options(command)[option]
    left, skipped = [], 0
    for word in argv:
        if word in (*known.opts, *known.secondary_opts):
            skipped = 0 if known.is_flag else known.nargs
        elif skipped:
            skipped -= 1
        else:
            left.append(word)
    return left


ON_RAY = ("--engine", "--address")  # Ray takes 300 MB; tests/test_engine.py tries both where it is


def test_every_option_of_every_command_has_a_row() -> None:
    every = {(command, option) for command in ALL for option in _options(command)}
    assert {name.partition(" ")[0] for name in ALL} == set(COMMANDS)
    tabled = {(command, option) for command, option in every if option not in (*ON_RAY, "--help-all")}
    assert tabled - ROWS.keys() == set(), "add a row to tests/cli_table.toml"
    assert ROWS.keys() - every == set()


def test_an_engine_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner_eval.results.runs.ray.ray", None)
    for option in ("--engine ray", "--address 10.0.0.1:6379"):
        done = called(shlex.split(f"diff pred.jsonl gold.jsonl {option}"))
        assert (done.code, done.out) == (2, "")
        assert "--engine ray needs Ray: pip install 'planner_eval[ray]'" in done.err


@pytest.mark.more
@pytest.mark.parametrize(("command", "option"), ROWS)
def test_an_option_does_what_its_row_says(command: str, option: str) -> None:
    row = ROWS[command, option]
    argv = shlex.split(row.call)
    done = called(argv)
    if row.shows.startswith("!"):
        assert row.shows[1:] in done.all, done
        return
    _restored()
    without = called(_without(command, option, argv))
    assert "Traceback" not in done.err + without.err
    if row.shows == "=":
        assert done.code == without.code, done
    elif row.shows:
        assert (row.shows in done.all, row.shows in without.all) == (True, False), done
    else:
        assert done.all != without.all, done


@pytest.mark.more
@pytest.mark.parametrize(("command", "option"), [key for key, row in ROWS.items() if row.wrong])
def test_an_option_is_refused_as_its_row_says(command: str, option: str) -> None:
    row = ROWS[command, option]
    done = called(shlex.split(row.wrong))
    assert (done.code, done.out, done.files) == (2, "", "")
    assert row.says in " ".join(done.err.split())


@pytest.mark.more
@pytest.mark.parametrize("value", ["nan", "inf", "1e999"])
def test_no_number_is_nan_and_none_has_no_end(value: str) -> None:
    for name, command in ALL.items():
        for option in command.params:
            if not isinstance(option.type, click.FloatRange) and option.type is not click.FLOAT:
                continue
            done = planeval(*name.split(), "a.json", "b.json", _flag(option), value)
            said = "number of seconds" if isinstance(option.type, Seconds) else "number"
            refused = f"Invalid value for '{_flag(option)}': '{value}' is no {said}"
            if getattr(option.type, "max", None) is not None and value != "nan":
                refused = f"Invalid value for '{_flag(option)}': inf is not in the range"
            assert (done.returncode, refused in done.stderr) == (2, True), (name, done.stderr)
