"""BFCL: the whole command beside ``bfcl evaluate``'s own functions, on the same folders of recorded answers.

Both are whole processes that read the answers, judge them and write the scores. Theirs starts sooner here
than it does for its users: stand-ins take the place of the providers' clients that it imports.
"""

import gzip
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from planner_eval.benchmarks.bfcl.data import CATEGORIES
from tests import bfcl_official
from tests.conftest import ROOT, reference_folder

MODEL = "calls"  # as tests.bfcl_official describes one
ROUNDS = 3


class Cost(NamedTuple):
    """What a process costs: processor and clock time in seconds, the most memory in MB."""

    processor: float
    clock: float
    memory: float


def rows() -> Iterable[tuple[str, str, str]]:
    """How many times as fast as the published functions, in processor and clock time, and the memory."""
    folder = reference_folder()
    if folder is None or bfcl_official.official() is None:
        yield "BFCL", "reference material or bfcl_eval not found", ""
        return
    with tempfile.TemporaryDirectory() as made:
        for turns, target in (("one turn", "≥ 3 ×"), ("several turns", "≥ 1.5 ×")):
            results = Path(made, turns.replace(" ", "-"))
            count = write_results(folder, results / MODEL, several=turns == "several turns")
            theirs = [sys.executable, "-m", "tests.performance.bfcl", str(results), str(Path(made, "score"))]
            for columns in (["--official"], []):
                ours = [sys.executable, "-m", "planner_eval", "score", str(results / MODEL), *columns]
                yield (
                    f"score {count:,} answers, {turns}, {'official' if columns else 'both columns'}",
                    compare_costs(ours, theirs),
                    target,
                )


def write_results(folder: Path, target: Path, *, several: bool) -> int:
    """Write a model's result files from one model's recorded answers; how many answers they hold."""
    target.mkdir(parents=True)
    count = 0
    model = min(path for path in (folder / "vectors" / "bfcl").iterdir() if path.is_dir())
    for file in sorted(model.glob("*.jsonl.gz")):
        category = file.name.removesuffix(".jsonl.gz")
        if (CATEGORIES[category].check == "multi_turn") is several:
            with gzip.open(file, "rt", encoding="utf-8") as stream:
                records = [json.loads(line) for line in list(stream)[1:]]
            lines = [json.dumps({"id": record["id"], "result": record["result"]}) for record in records]
            (target / f"BFCL_v4_{category}_result.json").write_text("\n".join(lines) + "\n")
            count += len(records)
    return count


def compare_costs(ours: Sequence[str], theirs: Sequence[str]) -> str:
    """The medians of some rounds, in turn, after a first one that fills caches."""
    pairs = [(cost(ours), cost(theirs)) for _ in range(ROUNDS + 1)][1:]
    told = []
    for name, unit, digits in (("processor", "s", 2), ("clock", "s", 2), ("memory", "MB", 0)):
        values = [(getattr(here, name), getattr(published, name)) for here, published in pairs]
        factor = statistics.median(published / here for here, published in values)
        medians = (f"{statistics.median(side):.{digits}f} {unit}" for side in zip(*values, strict=True))
        told.append(f"{name} {factor:.1f} × ({', '.join(medians)})")
    return "; ".join(told)


def cost(command: Sequence[str]) -> Cost:
    """What a process costs with all that it starts, the sandbox's worker too, which is killed."""
    run = [sys.executable, "-c", _MEASURED, *command]
    done = subprocess.run(run, capture_output=True, text=True, cwd=ROOT, check=True)
    return Cost(*map(float, done.stdout.split()))


_MEASURED = """
import ctypes, os, resource, subprocess, sys, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: orphans become children
start = time.perf_counter()
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
clock = time.perf_counter() - start
try:
    while True:
        os.wait()
except ChildProcessError:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, clock, used.ru_maxrss / 1000)
sys.exit(done.returncode)
"""


def evaluate(results: Path, scores: Path) -> None:
    """What ``bfcl evaluate`` runs on a folder of results."""
    code = bfcl_official.official()
    assert code is not None
    code.runner.tqdm = lambda entries, **_: entries
    code.runner.get_handler = lambda name: code.handler(calls=True)
    code.helper.MODEL_CONFIG_MAPPING[MODEL] = bfcl_official.Described()
    code.runner.runner([MODEL], list(CATEGORIES), results, scores)


if __name__ == "__main__":
    evaluate(*map(Path, sys.argv[1:3]))
