"""A short run of the fuzzer over files, always the same; and the finds of long ones, which were mended."""

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.fuzz_files import judge, prepare, run
from tests.test_unchanged import check
from tests.unchanged import said_of_files

CASES = ROOT / "tests" / "cases" / "fuzzed_files"


def test_damaged_files_are_rows_or_errors_for_people_and_the_same_as_before() -> None:
    check("files", said_of_files())


KNOWN: dict[str, list[str]] = json.loads((CASES / "commands.json").read_text())


@pytest.mark.parametrize("name", KNOWN)
def test_what_was_found_stays_mended(name: str, tmp_path: Path) -> None:
    prepare(tmp_path)
    file = Path(shutil.copy(CASES / name, tmp_path / f"file{Path(name).suffix}"))
    argv = [str(file) if word == "FILE" else word for word in KNOWN[name]]
    judge(argv, run(argv), None)


def test_the_fuzzer_sees_what_is_wrong() -> None:
    from tests.fuzz_files import Done, Find

    row = json.dumps({"id": "a", "state": "different", "same": False})
    for argv, done, plain in (
        (["parse"], Done(4, "x", ""), None),
        (["parse"], Done(0, "", "Traceback (most recent call last):"), None),
        (["parse"], Done(0, "a\x1b[2J", ""), None), (["parse"], Done(0, "", ""), None),
        (["diff", "jsonl"], Done(0, row, ""), None),
        (["parse", "jsonl"], Done(0, "{}", ""), b'{"id": 1, "output": ""}\n{"id": 2, "output": ""}\n'),
    ):  # fmt: skip
        with pytest.raises(Find):
            judge(argv, done, plain)
