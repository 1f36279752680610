"""planeval data through its real entry point: list, fetch, verify, show, check, and bad input."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import inside
from tests.conftest import ROOT, tabled, until
from tests.dataserver import serving

SAMPLES = ROOT / "data" / "samples"


def planeval(*argv: str, cache: Path) -> subprocess.CompletedProcess[str]:
    return inside.planeval("data", *argv, PLANEVAL_CACHE=str(cache))


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def test_list_names_all_and_counts_files(cache: Path) -> None:
    done = planeval("show", "--format", "json", cache=cache)
    assert done.returncode == 0
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert rows["complexfuncbench"] | {"files": "0/3", "records": 1000} == rows["complexfuncbench"]
    assert list(rows) == sorted(rows)
    shown = planeval("show", "--source", str(SAMPLES), cache=cache)
    assert "2/3" in shown.stdout  # complexfuncbench: all but tool_info.json
    shown = planeval("--help", cache=cache)
    for name in ("fetch", "show", "check", "make"):
        assert name in shown.stdout
        assert "--" in planeval(name, "--help", cache=cache).stdout


def test_fetch_asks_verify_compares_and_show_reads(cache: Path, tmp_path: Path) -> None:
    served = tmp_path / "served" / "nestful-v2" / "v2"
    served.mkdir(parents=True)
    call = {"name": "add", "label": "$var_1", "arguments": {"arg_0": 1, "arg_1": 2}}
    record = {"sample_id": "s", "input": "1 + 2?", "output": [call], "tools": [], "gold_answer": 3}
    (served / "nestful_data.jsonl").write_text(json.dumps(record) + "\n")
    with serving(tmp_path / "served") as files:
        fetch = ("fetch", "nestful-v2", "--mirror", files.url)
        refused = planeval(*fetch, cache=cache)
        assert (refused.returncode, "sha256" in refused.stderr) == (2, True)
        assert "--accept-checksum" in refused.stderr
        assert planeval("show", "nestful-v2", "--verify", cache=cache).returncode == 2
        kept = planeval(*fetch, "--accept-checksum", cache=cache)
        assert kept.returncode == 0, kept.stderr
        assert "nestful-v2/v2/nestful_data.jsonl: fetched" in kept.stdout
        again = planeval(*fetch, cache=cache)
        assert (again.returncode, again.stdout.splitlines()[0][-7:]) == (0, "present")
    verified = planeval("show", "nestful-v2", "--verify", "--format", "json", cache=cache)
    assert (verified.returncode, json.loads(verified.stdout)[0]["state"]) == (0, "accepted")
    shown = planeval("show", "nestful-v2", "--id", "s", cache=cache)
    assert json.loads(shown.stdout)["gold"] == [call]
    assert "1 files there" in planeval("show", "nestful-v2", cache=cache).stdout
    (cache / "nestful-v2/v2/nestful_data.jsonl").write_text("{}")
    assert planeval("show", "nestful-v2", "--verify", cache=cache).returncode == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to a child there")
def test_interrupted_fetch_keeps_what_it_has(cache: Path, tmp_path: Path) -> None:
    served, part = tmp_path / "served" / "mathqa", cache / "mathqa" / "test.json.part"
    served.mkdir(parents=True)
    (served / "test.json").write_bytes(b"x" * 2_346_754)
    with serving(tmp_path / "served") as files:
        files.stall = 500_000
        argv = ["data", "fetch", "mathqa", "--mirror", files.url, "--cache", str(cache)]
        command = [sys.executable, "-m", "planner_eval", *argv]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            until(lambda: part.exists() and part.stat().st_size >= 400_000)
            child.send_signal(signal.SIGINT)
            _, said = child.communicate(timeout=60)
    assert (child.returncode, "interrupted" in said) == (130, True)
    assert 400_000 <= part.stat().st_size <= 500_000


def test_fetch_from_a_folder(cache: Path, reference: Path) -> None:
    done = planeval("fetch", "mathqa", "callnavi", "--source", str(reference / "datasets"), cache=cache)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(": copied") == 34
    assert planeval("show", "callnavi", "--verify", cache=cache).returncode == 0
    wrong = planeval("fetch", "mathqa", "--source", str(SAMPLES), "--cache", str(cache / "b"), cache=cache)
    assert (wrong.returncode, "test.json: the checksum is" in wrong.stderr) == (2, True)


def test_check_lists_what_gold_has_wrong(cache: Path, tmp_path: Path) -> None:
    done = planeval("check", "complexfuncbench", "--source", str(SAMPLES), cache=cache)
    assert done.returncode == 0, done.stderr
    for variant in ("official", "corrected"):
        assert f"gold against gold, {variant}: 6 of 6 perfect" in done.stdout
    assert "no irregularities" in done.stdout
    text = (SAMPLES / "complexfuncbench" / "ComplexFuncBench.jsonl").read_text(encoding="utf-8")
    records = [json.loads(line) for line in text.splitlines()]
    records[0]["conversations"][1]["function_call"][0]["arguments"] = {"place": "Turku"}
    (tmp_path / "complexfuncbench").mkdir()
    file = tmp_path / "complexfuncbench" / "ComplexFuncBench.jsonl"
    file.write_text("\n".join(map(json.dumps, records)))
    done = planeval("check", "complexfuncbench", "--source", str(tmp_path), "--format", "json", cache=cache)
    assert done.returncode == 1
    data = json.loads(done.stdout)
    assert {f["code"] for f in data["findings"]} == {"dataset.missing_argument", "dataset.unknown_argument"}
    imperfect = {one["variant"]: [row["id"] for row in one["imperfect"]] for one in data["replayed"]}
    assert imperfect == {"official": [], "corrected": []}  # what gold itself writes is no fault of an answer


@tabled("argv, said")
def test_bad_input(argv: tuple[str, ...], said: str, cache: Path) -> None:
    done = planeval(*argv, cache=cache)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert "Traceback" not in done.stderr
