"""The command lines that both sides run, in their order; a command that click has and no line calls is named.

Paths are those of the folder that both sides work in; REFERENCE begins those of the reference material, and
such lines are left out where there is none. A command that has ``--format`` runs once in each of its formats
that is text, where its line names none.
"""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

BINARY = ("png", "pdf")
"""Formats whose bytes hold dates, or are another library's."""

BENCHMARKS = ("appbench", "callnavi", "complexfuncbench", "functionchat", "nestful")

LINES = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
_SCHEMAS = "settings policy world record plan wrappers theme patch prices datasets to-make report effects "
_SCHEMAS += "contrast comparison"
LINES += [f"schema {name}" for name in _SCHEMAS.split()]
for _name in (*BENCHMARKS, "mathqa"):
    _set = "nestful-v2" if _name == "nestful" else _name
    LINES += [
        f"stats {_set} --source data/samples", f"parse {_set} --source data/samples",
        f"data show {_set} --source data/samples", f"data show {_set} --verify --source data/samples",
        f"data check {_set} --source data/samples --confidence low",
        f"data coverage {_set} --source data/samples", f"data duplicates {_set} --source data/samples",
        f"data export data/samples/{_name} --benchmark {_name} --to chat-jsonl",
    ]  # fmt: skip
for _name in BENCHMARKS:
    _set = "nestful-v2" if _name == "nestful" else _name
    _answers = f"data/samples/answers/{_name}.jsonl"
    LINES += [
        f"score {_answers} data/samples/{_name} --benchmark {_name}",
        f"score {_answers} data/samples/{_name} --benchmark {_name} --details --format text",
        f"diff {_answers} {_set} --source data/samples",
        f"score {_answers} {_set} --source data/samples --policy {_name}",
    ]


def benchmark_lines(folder: Path) -> Iterator[str]:
    """A line for each file of answers that the inputs hold: answers/<benchmark>-<what>.jsonl."""
    for path in sorted((folder / "answers").glob("*.jsonl")):
        name, _, what = path.stem.partition("-")
        setting = f" --set {what}" if "=" in what else ""
        where = "conversations" if name == "complexfuncbench" else f"REFERENCE/datasets/{name}"
        if name == "functionchat":  # the published code takes a file at a time
            where += f"/FunctionChat-{what}.jsonl"
        yield f"score answers/{path.name} {where} --benchmark {name}{setting} --format json"


def command_lines(folder: Path, reference: str | None) -> list[list[str]]:
    """All lines, as arguments."""
    lines = [*LINES, *benchmark_lines(folder)]
    return [
        shlex.split(line.replace("REFERENCE", reference or ""))
        for line in lines
        if reference or "REFERENCE" not in line
    ]


def words_of(name: Sequence[str], line: Sequence[str]) -> bool:
    """Whether a line calls the command of this name."""
    return list(line[: len(name)]) == list(name)
