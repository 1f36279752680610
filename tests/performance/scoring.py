"""Whole commands that score under AppBench and NESTful, beside those of an older checkout.

The variable PLANEVAL_BASELINE names that checkout's ``planeval``, or a python that has it; without it only
our own processor time is shown. Answers are gold's own: half of them with one edit, each twelfth of those as
models break them.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.conftest import ROOT, reference_folder
from tests.performance.timing import processor_seconds

ROUNDS = int(os.environ.get("PLANEVAL_ROUNDS", "3"))
PLANEVAL = str(ROOT / ".venv" / "bin" / "planeval")
APPBENCH, NESTFUL, RUN = 16_000, 6_000, 1_500
"""Answers of each input; the real samples are repeated until there are as many."""

_VALUE = re.compile(r"(#\w+=')([^']*)'")
_ARGUMENT = re.compile(r", #\w+='[^']*'(?=[,)])")


def rows() -> Iterable[tuple[str, str, str]]:
    """The figures of scoring."""
    folder = reference_folder()
    if folder is None:
        yield "scoring under AppBench and NESTful", "reference material not found", ""
        return
    with tempfile.TemporaryDirectory() as made:
        appbench = write_appbench(folder, Path(made, "appbench"), APPBENCH)
        nestful = write_nestful(folder, Path(made, "nestful"), NESTFUL)
        run = write_nestful(folder, Path(made, "run"), RUN, basic=True)
        for what, paths, options, targets in (
            (f"appbench, {APPBENCH:,} answers", appbench, ["appbench"], ("≥ 5.1 ×", "≥ 5.8 ×")),
            (f"nestful, {NESTFUL:,} answers", nestful, ["nestful"], ("≥ 3.8 ×", "≥ 3.1 ×")),
            (f"nestful run, {RUN:,}", run, ["nestful", "--tools", "nestful"], ("≥ 3.4 ×", "≥ 3.0 ×")),
        ):
            for extra, target in zip((["--official"], []), targets, strict=True):
                command = ["score", *map(str, paths), "--benchmark", *options, *extra, "--format", "json"]
                yield f"score {what}, {'official' if extra else 'both'}", _measured(command), target


def _measured(command: Sequence[str]) -> str:
    """Our processor seconds, and how many times those of the older checkout."""
    named = os.environ.get("PLANEVAL_BASELINE")
    if named is None:
        return f"{min(processor_seconds([PLANEVAL, *command]) for _ in range(ROUNDS)):.2f} s"
    other = [named, "-m", "planner_eval"] if "python" in Path(named).name else [named]
    pairs = [
        (processor_seconds([PLANEVAL, *command]), processor_seconds([*other, *command]))
        for _ in range(ROUNDS)
    ]
    ours, theirs = (min(times) for times in zip(*pairs, strict=True))
    factor = statistics.median(before / now for now, before in pairs)
    return f"{factor:.2f} × ({ours:.2f} s against {theirs:.2f} s)"


def write_appbench(reference: Path, folder: Path, size: int) -> tuple[Path, Path]:
    """Answers and the folder of gold: AppBench's samples repeated.

    Args:
        reference: The folder of reference material.
        folder: Is made.
        size: How many answers.
    """
    gold = folder / "gold"
    gold.mkdir(parents=True)
    source = reference / "datasets" / "appbench"
    (gold / "catalogue.json").write_bytes((source / "catalogue.json").read_bytes())
    parts = {
        name: json.loads((source / f"test_{name}.json").read_text()) for name in ("ss", "sm", "ms", "mm")
    }
    answers: list[dict[str, str]] = []
    for name, records in parts.items():
        kept = [records[at % len(records)] for at in range(size // len(parts))]
        (gold / f"test_{name}.json").write_text(json.dumps(kept))
        for position, record in enumerate(kept):
            output = record["output"]
            pairs = zip(output["used_app"], output["api_results"], strict=False)
            lines = [f"{app}: [{line}]" for app, line in pairs]
            edited = _changed(lines, position, _LINE_EDITS, "\n".join)
            answers.append({"id": f"{name}-{position}", "answer": edited})
    return _written(folder / "answers.jsonl", answers), gold


def write_nestful(reference: Path, folder: Path, size: int, *, basic: bool = False) -> tuple[Path, Path]:
    """Answers and the file of gold: NESTful's samples repeated.

    Args:
        reference: The folder of reference material.
        folder: Is made.
        size: How many answers.
        basic: Only samples of the 40 basic functions, which can be run everywhere.
    """
    from planner_eval.execution.nestful_basic import OFFICIAL_FUNCTIONS

    folder.mkdir(parents=True)
    source = reference / "datasets" / "nestful" / "v2" / "nestful_v2_collected.jsonl"
    records = list(map(json.loads, source.read_text().splitlines()))
    if basic:
        records = [
            one for one in records if all(call["name"] in OFFICIAL_FUNCTIONS for call in one["output"])
        ]
    answers, gold = [], []
    for position in range(size):
        record = records[position % len(records)] | {"sample_id": f"n-{position}"}
        gold.append(record)
        edited = _changed(record["output"], position // len(records) + position, _CALL_EDITS, json.dumps)
        answers.append({"id": f"n-{position}", "answer": edited})
    return _written(folder / "answers.jsonl", answers), _written(folder / "nestful_data.jsonl", gold)


def _written(path: Path, records: Iterable[Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def _changed(
    calls: list[Any], at: int, edits: Sequence[Callable[[list[Any]], list[Any]]], write: Callable[[Any], str]
) -> str:
    """The answer at a place: each second as gold has it, the others with one edit; some of these broken."""
    if at % 2 == 0:
        return write(calls)
    kind = at // 2
    text = write(edits[kind % len(edits)](json.loads(json.dumps(calls))))
    return _BROKEN[kind // 12 % len(_BROKEN)](text) if kind % 12 == 0 else text


_BROKEN: tuple[Callable[[str], str], ...] = (
    lambda text: text[: len(text) * 3 // 4],
    lambda text: f"Sure, here are the calls:\n{text}\nLet me know!",
    lambda text: f"```\n{text}\n```",
    lambda text: text.replace("'", '"') if "#" in text else text.replace('"', "'"),
    lambda text: text.replace(")", "", 1) if "#" in text else text.replace("]", "", 1),
    lambda text: "I am sorry, but I cannot help with that.",
)
"""How models break an answer: cut off, with prose, fenced, with other quotes, unclosed, refused."""

_LINE_EDITS: tuple[Callable[[list[Any]], list[Any]], ...] = (
    lambda lines: [_VALUE.sub(r"\1other'", lines[0], count=1), *lines[1:]],
    lambda lines: lines[1:] or lines,
    lambda lines: [_ARGUMENT.sub("", lines[0], count=1), *lines[1:]],
    lambda lines: [*lines[:-1], re.sub(r"(\w+)\(", r"\1_now(", lines[-1], count=1)],
    lambda lines: lines[::-1],
    lambda lines: [*lines, lines[0]],
)
"""One edit each: a value, a missing call, a missing argument, another API, another order, a call twice."""


def _other_value(calls: list[Any]) -> list[Any]:
    calls[0]["arguments"] |= dict.fromkeys([*calls[0]["arguments"]][:1], 12345)
    return calls


def _less(calls: list[Any]) -> list[Any]:
    calls[-1]["arguments"] = dict([*calls[-1]["arguments"].items()][1:])
    return calls


def _renamed(calls: list[Any]) -> list[Any]:
    calls[0]["name"] += "_now"
    return calls


_CALL_EDITS: tuple[Callable[[list[Any]], list[Any]], ...] = (
    _other_value,
    lambda calls: calls[1:] or calls,
    _less,
    _renamed,
    lambda calls: calls[::-1],
    lambda calls: [*calls, calls[0]],
)
"""The same of NESTful's calls."""


def main() -> Iterator[str]:
    """The inputs written to the folder that the command line names: for a look at one command alone."""
    folder = reference_folder()
    assert folder is not None
    target = Path(sys.argv[1])
    yield str(write_appbench(folder, target / "appbench", APPBENCH))
    yield str(write_nestful(folder, target / "nestful", NESTFUL))
    yield str(write_nestful(folder, target / "run", RUN, basic=True))


if __name__ == "__main__":
    print(*main(), sep="\n")
