"""Many pairs by processes: processor time a pair, beside the loop of one process, and peak memory.

The pairs are AppBench's and NESTful's gold plans: half of the predictions are right, most others have one
value that differs, one in a hundred is cut off.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random

from tests.conftest import ROOT, reference_folder

ROUNDS = int(os.environ.get("PLANEVAL_ROUNDS", "3"))
PAIRS = int(os.environ.get("PLANEVAL_PAIRS", "20000"))
PLANEVAL = str(ROOT / ".venv" / "bin" / "planeval")
_LOOP = "import sys, pathlib, planner_eval as pe; pe.score(*map(pathlib.Path, sys.argv[1:]))"


def rows() -> Iterable[tuple[str, str, str]]:
    """The figures of many pairs."""
    reference = reference_folder()
    if reference is None:
        yield "many pairs", "reference material not found", ""
        return
    with tempfile.TemporaryDirectory() as made:
        files = write_pairs(reference, Path(made), PAIRS)
        commands = {
            "one process, a loop": [sys.executable, "-c", _LOOP, *files],
            **{
                f"{kind}, {jobs} worker{'s' * (jobs > 1)}": [
                    PLANEVAL,
                    kind,
                    *files,
                    "--jobs",
                    str(jobs),
                    "--quiet",
                ]
                for kind in ("score", "diff")
                for jobs in (1, 2)
            },
        }
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, command in commands.items():
                found[name].append(spent(command))
        loop = [seconds for seconds, _ in found["one process, a loop"]]
        for name, runs in found.items():
            each = min(seconds for seconds, _ in runs) / PAIRS * 1e6
            factor = statistics.median(run[0] / other for run, other in zip(runs, loop, strict=True))
            beside = f", {factor:.2f} × the loop" if name.startswith("score") else ""
            memory = max(peak for _, peak in runs)
            target = "≤ 180 µs, ≤ 150 MB" if name.startswith("score") else ""
            yield f"{PAIRS:,} pairs, {name}", f"{each:.0f} µs a pair{beside}, {memory:.0f} MB", target


def spent(command: Sequence[str]) -> tuple[float, float]:
    """The processor seconds of a command with its workers, and the peak megabytes of the largest of them."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode > 1:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def write_pairs(reference: Path, folder: Path, count: int) -> tuple[str, str]:
    """Files of predictions and gold plans, whose names are given back.

    Args:
        reference: The folder of reference material.
        folder: Where they are written.
        count: How many pairs; the plans are repeated until there are as many.
    """
    chance = Random(1)
    plans = list(_plans(reference / "datasets"))
    names = str(folder / "pred.jsonl"), str(folder / "gold.jsonl")
    with open(names[0], "w") as pred, open(names[1], "w") as gold:
        for at in range(count):
            text = plans[at % len(plans)]
            gold.write(json.dumps({"id": f"q{at}", "gold": text}) + "\n")
            pred.write(json.dumps({"id": f"q{at}", "output": _predicted(text, chance)}) + "\n")
    return names


def _plans(datasets: Path) -> Iterator[str]:
    for part in ("ss", "sm", "ms", "mm"):
        for record in json.loads((datasets / "appbench" / f"test_{part}.json").read_text()):
            yield "\n".join(record["output"]["api_results"])
    for line in (datasets / "nestful" / "v2" / "nestful_v2_collected.jsonl").read_text().splitlines():
        output = json.loads(line)["output"]
        yield output if isinstance(output, str) else json.dumps(output)


def _predicted(text: str, chance: Random) -> str:
    draw = chance.random()
    if draw < 0.01:
        return text[: len(text) // 2]
    begins = [at + 1 for at in range(len(text) - 1) if text[at] in "'\"" and text[at + 1].isalpha()]
    if draw < 0.5 or not begins:
        return text
    at = chance.choice(begins)
    return f"{text[:at]}q{text[at:]}"
