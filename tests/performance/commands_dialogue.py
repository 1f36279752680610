"""Whole commands: planeval score --benchmark callnavi, functionchat, complexfuncbench, in processor time.

Each command runs in turn with the same command of the version that PLANEVAL_BASELINE names (the path of its
``planeval``); without it only our own time is shown. Answers are those of the reference vectors, drawn anew
for each copy of a question: about half of them right, some in code fences or prose, some unreadable.
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import statistics
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests.conftest import ROOT, reference_folder

PLANEVAL = str(ROOT / ".venv" / "bin" / "planeval")
RUNS = 5
COPIES = {"callnavi": 22, "functionchat": 12, "complexfuncbench": 2}
_SEED = 20261122
_FAULTS = (
    "truncated", "call_syntax", "nested_call_syntax", "single_quotes", "smart_quotes", "trailing_comma",
    "trailing_note", "leading_prose", "apostrophe", "yaml", "empty",
)  # fmt: skip
"""Perturbations of CallNavi that are no JSON of the form asked for."""
_RIGHT = ("identical", "indent", "key_order", "code_fence")


class Times(NamedTuple):
    """Processor seconds of our command and of the older one's; None without one."""

    ours: list[float]
    older: list[float] | None


def rows() -> Iterable[tuple[str, str, str]]:
    """Each benchmark's command with one variant and with both."""
    reference = reference_folder()
    if reference is None:
        yield "reference vectors", "not found", ""
        return
    with tempfile.TemporaryDirectory() as folder:
        for name, write in WRITERS.items():
            place = Path(folder) / name
            place.mkdir()
            count = write(reference, place)
            for variant, target in TARGETS[name].items():
                yield (
                    f"score --benchmark {name} {variant or 'both variants'}, {count:,} answers",
                    *_shown(times(command(place, name, variant)), target),
                )


TARGETS = {
    "callnavi": {"--official": "≥ 3.3 ×", "--corrected": "", "": "≥ 4.3 ×"},
    "functionchat": {"--official": "≥ 1.6 ×", "--corrected": "", "": "≥ 5 ×"},
    "complexfuncbench": {"--official": "≥ 1 ×", "--corrected": "", "": "≥ 1 ×"},
}
"""How many times less processor time than at e599259."""


def command(folder: Path, name: str, variant: str) -> list[str]:
    """The arguments of a benchmark's command over what :data:`WRITERS` wrote."""
    chosen = [variant] if variant else []
    return ["score", str(folder / "pred.jsonl"), str(folder / "gold"), "--benchmark", name, *chosen]


def times(arguments: Sequence[str]) -> Times:
    """Processor time of a command, ours and the older version's in turn; the first runs do not count."""
    older = os.environ.get("PLANEVAL_BASELINE")
    programs = [PLANEVAL, older] if older else [PLANEVAL]
    taken: list[list[float]] = [[] for _ in programs]
    for run in range(RUNS + 1):
        for each, program in zip(taken, programs, strict=True):
            seconds = _once([program, *arguments])
            if run:
                each.append(seconds)
    return Times(taken[0], taken[1] if older else None)


def _once(arguments: Sequence[str]) -> float:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(arguments, capture_output=True, env=environment)
    assert done.returncode == 0, done.stderr.decode()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _shown(found: Times, target: str) -> tuple[str, str]:
    if found.older is None:
        return f"{min(found.ours):.2f} s", ""
    median = statistics.median(b / a for a, b in zip(found.ours, found.older, strict=True))
    least = min(found.older) / min(found.ours)
    said = f"{median:.2f} ×, minima {least:.2f} × ({min(found.ours):.2f} s / {min(found.older):.2f} s)"
    return said, target


# ---------------------------------------------------------------- what the commands read
def write_callnavi(reference: Path, folder: Path) -> int:
    """Every question several times under other ids, each with an answer drawn from its 45 JSON ones."""
    draw = Random(_SEED)
    answers: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in _lines(reference / "vectors" / "callnavi" / "pred.jsonl.gz"):
        if row["family"] == "json" and row["applied"]:
            kind = row["perturbation"]
            group = "right" if kind in _RIGHT else "fault" if kind in _FAULTS else "wrong"
            answers[row["id"]][group].append(row["raw"])
    source, gold = reference / "datasets" / "callnavi", folder / "gold"
    (gold / "Questions").mkdir(parents=True)
    (gold / "APIs").symlink_to(source / "APIs")
    pred = []
    for path in sorted((source / "Questions").glob("*.json")):
        copies = []
        for copy in range(COPIES["callnavi"]):
            for record in json.loads(path.read_text(encoding="utf-8")):
                given = answers[record["id"]]
                record["id"] = f"{record['id']}-{copy}"
                copies.append(record)
                text = draw.choice(given[_group(draw)])
                pred.append({"id": record["id"], "prediction": text})
        (gold / "Questions" / path.name).write_text(json.dumps(copies), encoding="utf-8")
    return _write(folder / "pred.jsonl", pred)


def _group(draw: Random) -> str:
    return draw.choices(("right", "wrong", "fault"), (50, 35, 15))[0]


def write_functionchat(reference: Path, folder: Path) -> int:
    """Every item whose right answer is a call several times, each with one of its exact-match answers."""
    draw = Random(_SEED)
    answers: dict[str, list[Any]] = defaultdict(list)
    for row in _lines(reference / "vectors" / "functionchat" / "cases.jsonl.gz"):
        if row["kind"] == "exact":
            right = row["mutation"] in ("identical", "identical_with_text", "compact_json")
            answers[f"{row['dataset']}-{row['serial_num']}"] += [row["output"]] * (1 + 7 * right)
    source, gold = reference / "datasets" / "functionchat", folder / "gold"
    gold.mkdir()
    pred: list[dict[str, Any]] = []
    for part, items in _FUNCTIONCHAT.items():
        records = []
        for copy in range(COPIES["functionchat"]):
            for record in _lines(source / f"FunctionChat-{part}.jsonl"):
                for id_, serial in items(record, 10_000 * copy):
                    pred.append({"id": id_, "output": draw.choice(answers[f"{part.lower()}-{serial}"])})
                if record:
                    records.append(record)
        _write(gold / f"FunctionChat-{part}.jsonl", records)
    return _write(folder / "pred.jsonl", pred)


def _singlecall(record: dict[str, Any], add: int) -> Iterator[tuple[str, int]]:
    for query in record["query"]:
        serial = query["serial_num"]
        query["serial_num"] += add
        for tools in record["tools"]:
            yield f"singlecall-{serial + add}-{tools['type']}", serial


def _dialog(record: dict[str, Any], add: int) -> Iterator[tuple[str, int]]:
    record["turns"] = [turn for turn in record["turns"] if turn["type_of_output"] == "call"]
    for turn in record["turns"]:
        serial = turn["serial_num"]
        turn["serial_num"] += add
        yield f"dialog-{serial + add}", serial


def _calldecision(record: dict[str, Any], add: int) -> Iterator[tuple[str, int]]:
    serial = record["serial_num"]
    record["serial_num"] += add
    if record["type_of_output"] == "call":
        yield f"calldecision-{serial + add}", serial
    else:
        record.clear()


_FUNCTIONCHAT = {"Singlecall": _singlecall, "Dialog": _dialog, "CallDecision": _calldecision}


def write_complexfuncbench(reference: Path, folder: Path) -> int:
    """The reference conversations under several ids, answered with their scripted turns."""
    cases = list(_lines(reference / "vectors" / "complexfuncbench" / "cases.jsonl.gz"))
    functions = next(case["functions"] for case in cases if "functions" in case)
    gold, pred = [], []
    for copy in range(COPIES["complexfuncbench"]):
        for case in cases:
            if case["kind"] == "conv":
                domain, _, number = case["id"].rpartition("-")
                id_ = f"{domain}-{int(number) + 1_000 * copy}"
                gold.append({"id": id_, "conversations": case["conversations"], "functions": functions})
                turns = [{"role": "assistant", "function_call": calls} for calls in case["script"]]
                turns.append({"role": "assistant", "content": case["final"]})
                pred.append({"id": id_, "conversations": turns})
    (folder / "gold").mkdir()
    _write(folder / "gold" / "ComplexFuncBench.jsonl", gold)
    return _write(folder / "pred.jsonl", pred)


WRITERS: dict[str, Callable[[Path, Path], int]] = {
    "callnavi": write_callnavi,
    "functionchat": write_functionchat,
    "complexfuncbench": write_complexfuncbench,
}
"""What writes a benchmark's gold and answers into an empty folder, and says how many answers."""


def _lines(path: Path) -> Iterator[Any]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open(encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def _write(path: Path, records: Sequence[Any]) -> int:
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    path.write_text("".join(lines), encoding="utf-8")
    return len(records)
