"""A benchmark is one object: a sixth touches its folder and one line, and every command knows it."""

import csv
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from planner_eval.benchmarks import benchmark
from planner_eval.benchmarks.benchmark import BENCHMARKS, NAMES, Benchmark
from tests.conftest import ROOT, tabled, tables, text_case

TABLES = tables(__file__)

PACKAGE = ROOT / "planner_eval"
SAMPLES = ROOT / "data" / "samples"

SIXTH = text_case("test_benchmark_sixth-SIXTH.txt")
GOLD = TABLES["GOLD"]
WHOLE = {"is": 100}
ANSWERS = [{"id": "a", "total": 2, "prediction": "2 apples"}, {"id": "c", "total": 100, "prediction": WHOLE}]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with a sixth benchmark: its folder, and its name in the registry's one line."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(PACKAGE, folder / "planner_eval", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("data", "grammars", "viz"):
        (folder / name).symlink_to(ROOT / name)
    file = folder / "planner_eval" / "benchmarks" / "benchmark.py"
    text = file.read_text()
    assert text.count('"bfcl")\n') == 1
    file.write_text(text.replace('"bfcl")\n', '"bfcl", "sums")\n'))
    sums = folder / "planner_eval" / "benchmarks" / "sums"
    sums.mkdir()
    (sums / "__init__.py").write_text(SIXTH)
    (folder / "sums.json").write_text(json.dumps(GOLD))
    (folder / "answers.jsonl").write_text("".join(json.dumps(one) + "\n" for one in ANSWERS))
    return folder


def planeval(checkout: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    code = "import runpy, sys; sys.path.insert(0, ''); runpy.run_module('planner_eval', run_name='__main__')"
    command = [sys.executable, "-c", code, *argv]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("gold", [".", "sums.json"])
def test_a_sixth_scores_a_file(checkout: Path, gold: str) -> None:
    argv = ("score", "answers.jsonl", gold, "--benchmark", "sums")
    done = planeval(checkout, *argv, "--set", "unit=apples", "--details")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("SumBench: 2 answers, 3 samples, matched by id\n")
    assert "samples without an answer, counted as wrong: 1 (b)" in done.stdout
    assert "By kind\n\nkind\nlarge\nsmall" in done.stdout
    # "2 apples" is wrong without its unit; the object is read as the benchmark reads it; nothing is "0".
    for more, right, note in (((), "2/3", ""), (("--set", "unit=apples"), "1/3", "the paper wants a unit")):
        row = next(csv.DictReader(io.StringIO(planeval(checkout, *argv, "--format", "csv", *more).stdout)))
        assert (row["official of"], row["corrected of"], row["note"]) == ("2/3", right, note)


@tabled("argv, said")
def test_every_message_knows_a_sixth(checkout: Path, argv: tuple[str, ...], said: str) -> None:
    done = planeval(checkout, "score", "answers.jsonl", "sums.json", "--benchmark", *argv)
    assert done.returncode == 2
    assert said in done.stderr


def test_gold_of_a_sixth_is_replayed(checkout: Path) -> None:
    code = (
        "from planner_eval.benchmarks.benchmark import *\n"
        "from pathlib import Path; one = benchmark('sums'); samples = list(one.read(Path('.')))\n"
        "gold = [(sample, one.gold_text(sample)) for sample in samples]\n"
        "print([one.score(variant, gold).value('right') for variant in VARIANTS])\n"
        "print(one.tables(samples)[0].agrees)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=checkout, capture_output=True, text=True)
    assert done.stdout == "[1.0, 1.0]\nTrue\n", done.stderr
    (checkout / "tools.json").write_text('[{"sums": "add"}]')
    for file, form, code_, said in (
        ("tools.json", "sums", 0, "add()\n"),
        ("sums.json", "sums", 2, "sums.json: not in the sums format (KeyError"),
        ("tools.json", "sum", 2, "unknown catalog format 'sum'; formats: openai, anthropic"),
    ):
        done = planeval(checkout, "catalog", file, "--catalog-format", form)
        assert (done.returncode, said in done.stdout + done.stderr) == (code_, True)


def test_each_package_exports_its_benchmark() -> None:
    folder = PACKAGE / "benchmarks"
    packages = {file.parent.name for file in folder.glob("*/__init__.py")}
    assert packages - {"datasets"} == set(NAMES) == set(BENCHMARKS)
    for name, one in BENCHMARKS.items():
        assert (type(one), one.name) == (Benchmark, name)
    assert len(BENCHMARKS) == len(NAMES)
    with pytest.raises(KeyError):
        benchmark.BENCHMARKS["sixth"]


LOADED = text_case("test_benchmark_sixth-LOADED.txt")


def test_scoring_loads_one_benchmark_and_looking_at_all_none() -> None:
    name = NAMES[0]
    code = LOADED.format(answers=str(SAMPLES / f"answers/{name}.jsonl"), gold=str(SAMPLES / name), name=name)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == f"[] {{'{name}'}}\n"
