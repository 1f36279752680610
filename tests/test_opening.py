"""Every container that plans come in: packed, tables, directories, patterns, pipes, frames, data sets."""

import bz2
import csv
import gzip
import importlib
import io
import json
import lzma
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.reading.files.opening import read_separated_rows
from tests.conftest import ROOT, tabled
from tests.inside import planeval

DEMO = ROOT / "data" / "demo"
GOLDS = str(DEMO / "gold.jsonl")
RATES = str(ROOT / "docs" / "examples" / "rates.py")
SAMPLES = str(ROOT / "data" / "samples")
CALL = "f(#x='1')"


def rows(name: str, field: str) -> list[dict[str, str]]:
    """The demo's records with their plans as text, which every container can hold."""
    found = [json.loads(line) for line in (DEMO / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    plans = [one[field] for one in found]
    texts = [plan if isinstance(plan, str) else json.dumps(plan) for plan in plans]
    return [{"id": one["id"], field: text} for one, text in zip(found, texts, strict=True)]


PREDS = rows("pred", "output")


def lines(records: list[dict[str, str]]) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in records).encode()


def zstd(data: bytes) -> bytes:
    return bytes(importlib.import_module("zstandard").ZstdCompressor().compress(data))


def separated(records: list[dict[str, str]], delimiter: str) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue().encode()


def parquet(records: list[dict[str, Any]]) -> bytes:
    arrow, tables = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    out = io.BytesIO()
    tables.write_table(arrow.Table.from_pylist(records), out)
    return out.getvalue()


WRITTEN: dict[str, tuple[str, Callable[[list[dict[str, str]]], bytes]]] = {
    "gz": ("p.jsonl.gz", lambda found: gzip.compress(lines(found), mtime=0)),
    "bz2": ("p.jsonl.bz2", lambda found: bz2.compress(lines(found))),
    "xz": ("p.jsonl.xz", lambda found: lzma.compress(lines(found))),
    "zst": ("p.jsonl.zst", lambda found: zstd(lines(found))), "parquet": ("p.parquet", parquet),
    "csv": ("p.csv", lambda found: separated(found, ",")),
    "tsv": ("p.tsv", lambda found: separated(found, "\t")),
    "stdin": ("-", lambda found: gzip.compress(lines(found), mtime=0)),
}  # fmt: skip
CONTAINERS = (*WRITTEN, "directory", "glob")


def contained(kind: str, folder: Path) -> tuple[str, bytes]:
    if kind in WRITTEN:
        name, write = WRITTEN[kind]
        if name == "-":
            return name, write(PREDS)
        (folder / name).write_bytes(write(PREDS))
        return str(folder / name), b""
    (folder / "preds").mkdir()
    for one in PREDS:
        (folder / "preds" / f"{one['id']}.txt").write_text(one["output"], encoding="utf-8")
    return str(folder / "preds") + ("/*.txt" if kind == "glob" else ""), b""


COMMANDS = {
    "parse": ("--format", "json"), "diff": (GOLDS, "--format", "jsonl"), "score": (GOLDS, "--format", "json"),
    "stats": (), "convert": ("--to", "plan"), "check": ("--catalog", RATES, "--format", "jsonl"),
}  # fmt: skip


def outcome(command: str, name: str, text: bytes) -> tuple[int, Any]:
    """A command's exit code and what it found, without the order and the places of records."""
    done = planeval(command, name, *COMMANDS[command], text=text)
    assert "Traceback" not in done.stderr
    if command == "stats":
        return done.returncode, done.stdout
    if command == "score":
        data = json.loads(done.stdout)
        states = sorted((row["id"], row["state"]) for row in data["rows"])
        return done.returncode, (data["figures"], states)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    for one in found:
        if "error" in one:
            one["error"] = one["error"].partition(": ")[2] or one["error"]
        if command == "check" and one["code"] == "unreadable":
            one["message"] = ""
    return done.returncode, sorted(json.dumps(one, sort_keys=True) for one in found)


@cache
def plain(command: str) -> tuple[int, Any]:
    return outcome(command, "-", lines(PREDS))


def test_cells_may_be_long_and_quotes_never_close(tmp_path: Path) -> None:
    long = "x" * 200_000
    (tmp_path / "long.csv").write_text(f"id,output\na,\"f(#a='{long}')\"\nb,f()\n", encoding="utf-8")
    found = pe.read(str(tmp_path / "long.csv")).records
    assert [len(one.source) for one in found] == [200_008, 3]
    (tmp_path / "open.csv").write_text("id,output\n" + 'a,"\n""\n' * 5_000, encoding="utf-8")
    done = planeval("stats", tmp_path / "open.csv")  # in time that grows with the file, not its square
    assert done.returncode in (1, 3)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", CONTAINERS)
def test_what_a_command_finds_depends_on_no_container(kind: str, command: str, tmp_path: Path) -> None:
    code, found = plain(command)
    assert code in (0, 1)
    assert outcome(command, *contained(kind, tmp_path)) == (code, found)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd])
def test_packed_files_are_known_by_their_bytes(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "pred.json"
    path.write_bytes(pack(lines(PREDS[:5])) + pack(lines(PREDS[5:])))
    done = planeval("stats", str(path), "--each", "--format", "json")
    assert len(json.loads(done.stdout)) == len(PREDS)
    for name, plans in (("p.txt.gz", 1), ("p.jsonl.gz", 16)):  # most lines are broken: a text, or records
        (tmp_path / name).write_bytes(gzip.compress(lines(PREDS[:2]) + b"{\n" * 14, mtime=0))
        assert len(pe.read(str(tmp_path / name)).records) == plans, name


def limited(start: str, *argv: str) -> subprocess.CompletedProcess[str]:
    code = f"import sys; sys.argv[0] = 'planeval'; {start}; from planner_eval.__main__ import main; main()"
    return subprocess.run([sys.executable, "-c", code, *argv], capture_output=True, text=True, timeout=60)


def test_what_unpacks_to_very_much_is_one_message_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "pred.gz"
    for bomb in (gzip.compress(b"[]" * 50_000_000, mtime=0), bz2.compress(b"a" * 100_000_000)):
        path.write_bytes(bomb)
        memory = "import resource; resource.setrlimit(resource.RLIMIT_AS, (700_000_000,) * 2)"
        done = limited(memory, "parse", str(path))
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
        assert "unpack to more than 500 times as many" in done.stderr


@pytest.mark.parametrize(
    ("package", "kind", "extra"), [("zstandard", "zst", "zstd"), ("pyarrow", "parquet", "parquet")]
)
def test_a_package_that_is_not_there_is_named(tmp_path: Path, package: str, kind: str, extra: str) -> None:
    without = f"sys.modules['{package}'] = sys.modules['compression'] = None"
    done = limited(without, "stats", contained(kind, tmp_path)[0])
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert f"pip install 'planner_eval[{extra}]'" in done.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name")
def test_a_pipe_without_end_stops_at_the_limit(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write() -> None:
        line = lines(PREDS) * 100
        with suppress(BrokenPipeError), pipe.open("wb", buffering=0) as file:
            while True:
                file.write(line)

    threading.Thread(target=write, daemon=True).start()
    limit = "from planner_eval.reading.files import opening; opening.MAX_STREAM_BYTES = 5_000_000"
    done = limited(limit, "stats", str(pipe))
    assert (done.returncode, "gives more than 5,000,000 bytes" in done.stderr) == (2, True)


@pytest.mark.skipif(not os.path.exists("/bin/bash"), reason="there is no bash")
def test_a_process_may_stand_for_a_file_and_a_device_is_no_text() -> None:
    command = f"{sys.executable} -m planner_eval diff <(cat {DEMO / 'pred.jsonl'}) <(gzip -c {GOLDS})"
    done = subprocess.run(["/bin/bash", "-c", command], capture_output=True, text=True)
    assert "13 pairs: 2 same, 10 different, 1 unreadable" in done.stdout
    for argv in (("parse", "/dev/zero"), ("diff", "/dev/urandom", GOLDS)):
        done = planeval(*argv)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
        assert f"{argv[1]} is not text: byte" in done.stderr


@tabled("argv")
def test_standard_input_is_read_once(argv: tuple[str, ...]) -> None:
    done = planeval(*argv, text=CALL)
    assert (done.returncode, "- is standard input and can be read only once" in done.stderr) == (2, True)


def packed_zip() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("p.jsonl", lines(PREDS))
    return out.getvalue()


@pytest.mark.parametrize(("name", "data", "said"), [
    ("p.jsonl", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is not a file of plans but a PNG image"),
    ("p.jsonl", packed_zip(), "is not a file of plans but a zip archive"),
    ("p.jsonl", lines(PREDS).decode().encode("utf-16-le"),
     "looks like UTF-16LE text without a byte order mark"),
    ("p.gz", gzip.compress(lines(PREDS), mtime=0)[:400], "the gzip data is cut off or damaged"),
    ("p.gz", bz2.compress(lines(PREDS))[:400], "the bzip2 data is cut off or damaged"),
    ("p.gz", lzma.compress(lines(PREDS))[:400], "the xz data is cut off or damaged"),
    ("p.gz", gzip.compress(b"\x89PNG\r\n\x1a\n", mtime=0), "is not a file of plans but a PNG image"),
    ("p.parquet", parquet([{"id": 1, "gold": CALL}])[:-20], "is a Parquet file that cannot be read"),
    ("p.csv", b'id,"output\na,f()\n', "line 1: the quote that begins cell 2 is never closed; expected the"),
])  # fmt: skip
def test_what_is_no_file_of_plans_is_one_message(tmp_path: Path, name: str, data: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(data)
    for command, more in COMMANDS.items() if b"IHDR" in data else [("parse", ())]:
        done = planeval(command, str(tmp_path / name), *more)
        assert (done.returncode, len(done.stderr.splitlines()), done.stdout) == (2, 1, "")
        assert said in done.stderr


def test_columns_of_parquet(tmp_path: Path) -> None:
    one = {"id": 1.0, "gold": None, "plan": [{"name": "f", "arguments": {"a": 1, "b": None}}]}
    two = {"id": 2.0, "gold": None, "plan": [{"name": "g", "arguments": {"a": None, "b": "x"}}]}
    (tmp_path / "p.parquet").write_bytes(parquet([one, two]))
    records = pe.read(str(tmp_path / "p.parquet")).records
    calls = [pe.parse(record).calls[0] for record in records]
    assert [(call.name, call.arguments) for call in calls] == [("f", (("a", 1),)), ("g", (("b", "x"),))]
    assert [record.id for record in records] == ["1", "2"]


def test_a_column_may_be_called_as_a_field_of_messages_is(tmp_path: Path) -> None:
    table = [
        {"id": "a", "role": "x", "schema": "1", "output": CALL}, {"id": "b", "role": "y", "output": CALL},
    ]  # fmt: skip
    (tmp_path / "p.csv").write_bytes(separated(table, ","))
    (tmp_path / "p.parquet").write_bytes(parquet(table))
    for source in (
        str(tmp_path / "p.csv"), str(tmp_path / "p.parquet"), SimpleNamespace(to_dicts=lambda: table),
    ):  # fmt: skip
        found = pe.read(source)
        assert [(one.id, len(pe.parse(one))) for one in found.records] == [("a", 1), ("b", 1)]


def plans_in(folder: Path, **texts: str) -> str:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return str(folder)


def states(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    return {row["id"]: row["state"] for row in map(json.loads, done.stdout.splitlines())}


def test_two_directories_are_paired_by_the_names_of_their_files(tmp_path: Path) -> None:
    preds = plans_in(tmp_path / "preds", q1=CALL, q2="f(#x=", q10="g()", extra=CALL, odd=CALL)
    golds = plans_in(tmp_path / "golds", q1=CALL, q2=CALL, q10=CALL, left="g()", odd=CALL)
    (tmp_path / "preds" / "q10.txt").rename(tmp_path / "preds" / "q10.json")
    (tmp_path / "preds" / "odd.txt").write_bytes(b"\x89PNG")
    done = planeval("diff", preds, golds, "--format", "jsonl")
    assert states(done) == {
        "left": "absent", "odd": "unreadable", "q1": "same", "q10": "different", "q2": "cut",
        "extra": "gold_absent",
    }  # fmt: skip
    assert (
        "answers: 5 records in 5 files, each read whole as a plan; gold: 5 records in 5 files" in done.stderr
    )
    assert "q2.txt, record 1 (id q2): line 1, column" in done.stdout
    assert "is not a file of plans but a PNG image" in done.stdout
    assert planeval("parse", preds, "--field", "text=nowhere").returncode == 1


def test_what_is_left_out_of_a_directory_is_said_and_nothing_is_an_error(tmp_path: Path) -> None:
    preds = plans_in(tmp_path / "preds", q1=CALL)
    (tmp_path / "preds" / ".hidden").write_text("g()")
    (tmp_path / "preds" / "more").mkdir()
    for argv in (("parse",), ("stats",), ("convert", "--to", "json"), ("check", "--catalog", RATES)):
        done = planeval(argv[0], preds, *argv[1:])
        assert f"{preds}: left out 1 hidden and 1 that is a directory: .hidden, more" in done.stderr, argv
    (tmp_path / "none" / "below").mkdir(parents=True)
    for argv, said in (
        (("diff", str(tmp_path / "none"), GOLDS),
         "none is a directory without files of plans (left out 1 that is a directory: below)"),
        (("stats", str(tmp_path / "*.json")), "no such file or pattern"),
        (("check", GOLDS, "nowhere.json", "--catalog", RATES), "there is no file nowhere.json"),
        (("convert", GOLDS, "nowhere.json", "--to", "json"), "there is no file nowhere.json"),
        (("diff", f"{DEMO}/pred.jsonl", GOLDS, "--source", SAMPLES), "--source applies only to data sets"),
        (("stats", "apbench"), "did you mean the data set appbench?"),
        (("diff", f"{DEMO}/pred.jsonl", "apbench"), "did you mean the data set appbench?"),
    ):  # fmt: skip
        done = planeval(*argv)
        assert (done.returncode, done.stdout) == (2, ""), argv
        assert said in done.stderr


def test_a_data_set_is_taken_by_name_wherever_plans_are(tmp_path: Path) -> None:
    at = ("--source", SAMPLES)
    made = planeval("convert", "appbench", "--to", "plan", *at).stdout
    found = [json.loads(line) for line in made.splitlines()]
    pred = tmp_path / "pred.jsonl"
    pred.write_text(made, encoding="utf-8")
    done = planeval("diff", pred, "appbench", *at, "--format", "jsonl")
    assert states(done) == {one["id"]: "same" for one in found}
    assert f"gold: {len(found)} records of the data set appbench" in done.stderr
    scored = planeval("score", pred, "dataset:appbench", *at, "--format", "json", "--from", "plan")
    assert json.loads(scored.stdout)["figures"]["exact"]["value"] == 1.0
    assert planeval("compare", pred, pred, "--gold", "appbench", *at).returncode == 0
    assert "appbench: as the data set declares" in planeval("parse", "appbench", *at).stdout
    assert f"{len(found)} plans checked" in planeval("check", "appbench", "--catalog", RATES, *at).stderr


@pytest.mark.parametrize("command", ["parse", "stats", "convert", "check", "diff", "score"])
def test_an_id_given_twice_is_told_with_both_places(tmp_path: Path, command: str) -> None:
    path, beside = tmp_path / "p.jsonl", tmp_path / "gold.jsonl"
    path.write_bytes(lines([PREDS[0], PREDS[1], PREDS[0]]))
    done = planeval(command, path, *COMMANDS[command])
    named = "(id trip-same)"
    said = f"twice: {path}, line 1, record 1 {named} and {path}, line 3, record 3 {named}"
    assert f"the id 'trip-same' is given {said}" in done.stderr
    beside.write_bytes(path.read_bytes())
    trials = planeval("diff", path, beside)
    assert "1 id occurs several times in predictions and gold, e.g. 'trip-same' (2 times)" in trials.stderr
    beside.write_bytes(lines([PREDS[0], PREDS[1], PREDS[1] | {"id": PREDS[0]["id"]}]))
    gold = planeval("diff", path, beside)
    assert f"two gold plans have the id 'trip-same': {beside}, line 1" in gold.stderr
    assert gold.returncode == 2
    answers = Path(f"{SAMPLES}/answers/nestful.jsonl").read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*answers, answers[0]]), encoding="utf-8")
    done = planeval("score", path, f"{SAMPLES}/nestful", "--benchmark", "nestful")
    assert f"p.jsonl, line {len(answers) + 1}, record {len(answers) + 1}" in done.stderr


def test_cells_beside_and_in_place_of_plans() -> None:
    import numpy as np

    vectors = [np.array([1, 2, 3]), np.array([])]
    preds = [{"id": str(at), "output": CALL, "vector": one} for at, one in enumerate(vectors)]
    golds = [{"id": str(at), "gold": CALL, "vector": one} for at, one in enumerate(vectors)]
    assert pe.score(preds, golds).figure("exact") == 1
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame({"id": [1, 2, 3], "output": [CALL, None, float("nan")], "at": [pandas.NaT] * 3})
    found = pe.read(frame).records
    assert [(one.id, one.error is None) for one in found] == [("1", True), ("2", False), ("3", False)]
    assert found[0].fields == {"id": 1, "output": CALL}
    assert [one.id for one in pe.read(frame.set_index("id")).records] == ["1", "2", "3"]


class FakeDataset:
    """What a Hugging Face data set can do: it has features, and gives its rows."""

    def __init__(self, found: list[dict[str, Any]]) -> None:
        self.found = found
        self.features = list(found[0])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.found)


def like_pandas(found: list[dict[str, Any]]) -> Any:
    held = {"columns": list(found[0]), "index": SimpleNamespace(names=[None]), "iterrows": None}
    return SimpleNamespace(**held, to_dict=lambda way: {"records": found}[way])


def real(package: str, make: str) -> Callable[[list[dict[str, Any]]], Any]:
    def made(found: list[dict[str, Any]]) -> Any:
        module = pytest.importorskip(package, reason=f"{package} is not installed")
        return attrgetter(make)(module)(found)

    return made


FRAMES: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "like pandas": like_pandas, "like polars": lambda found: SimpleNamespace(to_dicts=lambda: found),
    "like datasets": FakeDataset, "an iterator": iter,
    "pandas": real("pandas", "DataFrame"), "polars": real("polars", "DataFrame"),
    "pyarrow": real("pyarrow", "Table.from_pylist"), "datasets": real("datasets", "Dataset.from_list"),
}  # fmt: skip


@pytest.mark.parametrize("kind", FRAMES)
def test_a_table_in_memory_is_a_list_of_records(kind: str) -> None:
    make, golds = FRAMES[kind], rows("gold", "gold")
    wanted = pe.score(PREDS, golds, metrics=["exact"])
    assert pe.score(make(PREDS), make(golds), metrics=["exact"]).states() == wanted.states()
    found = [row.state for row in pe.evaluate(make(PREDS), make(golds))]
    assert found == [row.state for row in pe.evaluate(pe.pair(PREDS, golds))]
    assert pe.stats(make(PREDS)) == pe.stats(DEMO / "pred.jsonl")
    assert pe.stats(make(PREDS)).unread == 1


def test_tables_that_are_several_or_without_end_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from planner_eval.reading.files import fields

    splits = {"train": FakeDataset(PREDS), "test": FakeDataset(PREDS)}
    with pytest.raises(pe.PlanevalError, match="holds several tables: take one of 'train', 'test'"):
        pe.read(splits)
    monkeypatch.setattr(fields, "MAX_ROWS", 1000)
    with pytest.raises(pe.PlanevalError, match="gives more than 1,000 records"):
        pe.stats(one for _ in iter(int, 1) for one in PREDS)


@tabled("text, rows")
def test_rows_of_separated_values_end_where_their_quotes_do(text: str, rows: list[Any]) -> None:
    found = [*read_separated_rows(text, ",")]
    assert [[row.line, row.cells] for row in found] == [row[:2] for row in rows]
    assert all(said in (row.error or "") and bool(said) is bool(row.error)
               for row, (*_, said) in zip(found, rows, strict=True))  # fmt: skip
