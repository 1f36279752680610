"""The mapping of ComplexFuncBench gives the same verdict whatever kernel multiplies matrices."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from planner_eval.base.resources import folder
from planner_eval.benchmarks.complexfuncbench.embedding import Trigrams, assign, similarities, tied
from tests.complexfuncbench_turns import exchanged
from tests.conftest import ROOT

KERNELS = {
    "Prescott": {"pni"},
    "Nehalem": {"sse4_2"},
    "Sandybridge": {"avx"},
    "Haswell": {"avx2", "fma"},
    "SkylakeX": {"avx512f", "avx512dq", "avx512bw", "avx512vl"},
    "ARMV8": {"asimd"},
    "NEOVERSEN1": {"asimddp"},
}
"""OpenBLAS kernels that add in different orders, and what a processor needs for each."""

TURNS = """
import json
from pathlib import Path
from tests.complexfuncbench_turns import published, verdict
from tests.test_benchmark_complexfuncbench import Vectors
vectors = Vectors(Path({reference!r}))
rows = [(case["id"], verdict(vectors, case), published(known)) for case, known in vectors.of("turn")]
print(json.dumps([len(rows), [row for row in rows if row[1] != row[2]]]))
"""


def kernels() -> list[str]:
    """The kernels that this machine can run; none where it does not say what its processor can."""
    told = Path("/proc/cpuinfo")
    can = set(told.read_text().split()) if told.exists() else set()
    return [name for name, needs in KERNELS.items() if needs <= can]


def under_every_kernel(*argv: str) -> dict[str, str]:
    """What Python prints, by the kernel that was asked for; the machine's own choice is the first."""
    unset = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
    printed = {}
    for name in ("", *kernels()):
        asked = {**unset, "OPENBLAS_CORETYPE": name} if name else unset
        done = subprocess.run([sys.executable, *argv], env=asked, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode in (0, 1), (name, done.stderr)
        printed[name] = done.stdout
    return printed


@pytest.mark.more
def test_all_turns_under_every_kernel(reference: Path) -> None:
    printed = under_every_kernel("-c", TURNS.format(reference=str(reference.resolve())))
    rows, differing = json.loads(printed[""])
    assert rows == 615
    assert {name: json.loads(text)[1] for name, text in printed.items()} == dict.fromkeys(printed, differing)


def turns_with_equal_calls() -> list[list[dict[str, Any]]]:
    """Turns of five calls that gold has with other values; the first and the third call are equal."""
    there = {"pick_up_place_id": "pl_bry", "drop_off_place_id": "pl_air"}
    wrong: list[tuple[str, dict[str, str]]] = [
        ("Taxi_Search_Location", {"query": "Oslo"}),
        ("Taxi_Search_Location", {"query": "Bergen"}),
        ("Search_Flight_Location", {"query": "Oslo airport"}),
        ("Search_Flights", {"fromId": "BGO.AIRPORT", "toId": "OSL.AIRPORT", "departDate": "2027-07-02"}),
        ("Search_Taxi", {**there, "pick_up_date": "2027-07-02", "pick_up_time": "15:00"}),
    ]
    calls = [{"name": name, "arguments": arguments} for name, arguments in wrong]
    return [[one, two, one, three, four] for one, two, three, four in permutations(calls, 4)]


@pytest.mark.more
def test_own_conversations_under_every_kernel(tmp_path: Path) -> None:
    """Which of two equal calls gets which gold call decides the order of the errors in `message`."""
    own = folder("data") / "samples" / "complexfuncbench" / "ComplexFuncBench.jsonl"
    lines = own.read_text(encoding="utf-8").splitlines()
    sample = next(record for record in map(json.loads, lines) if record["id"] == "Cross-0")
    turns = turns_with_equal_calls()
    records = [{**sample, "id": f"Cross-{number}"} for number in range(len(turns))]
    answers = [
        {"id": record["id"], "conversations": [{"role": "assistant", "function_call": calls}]}
        for record, calls in zip(records, turns, strict=True)
    ]
    for name, rows in (("gold.jsonl", records), ("pred.jsonl", answers)):
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in rows), encoding="utf-8")
    files = (str(tmp_path / "pred.jsonl"), str(tmp_path / "gold.jsonl"))
    options = ("--benchmark", "complexfuncbench", "--official", "--format", "json")
    printed = under_every_kernel("-m", "planner_eval", "score", *files, *options)
    assert len(json.loads(printed[""])["reports"]["official"]["rows"]) == len(turns) == 120
    assert [name for name, text in printed.items() if text != printed[""]] == []


def test_equal_texts_have_equal_similarities_and_tie() -> None:
    oslo, bergen, sea = "from Oslo to Bergen", "from Bergen to Oslo", "Northern Sea"
    table = similarities([oslo, bergen, oslo], [sea, bergen, bergen], Trigrams())
    assert table[0].tolist() == table[2].tolist() != table[1].tolist()
    assert table[:, 1].tolist() == table[:, 2].tolist() != table[:, 0].tolist()
    assert tied([oslo, oslo], [bergen], Trigrams())
    assert tied([oslo], [bergen, bergen], Trigrams())
    assert not tied([oslo, bergen], [bergen, sea, oslo], Trigrams())
    assert not tied([], [oslo, oslo], Trigrams())


def test_a_tie_leaves_the_mappings_that_exchange_equal_calls() -> None:
    predicted, gold = ["Oslo", "Bergen", "Oslo"], ["Bergen!", "Oslo!"]
    found = exchanged(predicted, gold, Trigrams())
    assert assign(predicted, gold, Trigrams()) in found
    assert sorted(found) == [[(0, 1), (1, 0)], [(1, 0), (2, 1)]]
