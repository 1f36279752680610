"""Fuzzing of what is read from files: ``python -m tests.fuzz_files --seconds 1200``.

Records in each form that is read, mostly damaged, are given to the commands in this process; ``judge`` says
what is a find. Its file is written to ``--finds``; ``tests/cases/fuzzed_files`` holds those that were mended.
"""

# ruff: noqa: E501

import argparse
import bz2
import contextlib
import csv
import gzip
import hashlib
import io
import json
import lzma
import random
import re
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from planner_eval.cli import run as command_line
from tests.conftest import tables

TABLES = tables(__file__)

ROOT = Path(__file__).resolve().parent.parent
SLOW = 10.0
"""Seconds of processor time for one command on a file of at most a few hundred kilobytes."""
TERMINAL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")

IDS: list[Any] = [
    "a", "b", "1", 1, 2, 1.0, 1.5, True, False, None, "", " ", "a\x00b", "\ud800", "=cmd|' /C calc'!A0",
    [1], {"a": 1}, 10**30, -1, 1e300, float("nan"), float("inf"), "\x1b[2J", "a\nb", "x" * 5000, "é", "e\u0301",
]  # fmt: skip
TEXTS: list[Any] = [
    '[{"name": "f", "arguments": {"x": 1}}]', "f(x=1)", "[f(x=1), g(y='a')]", "a = f(x=1)\nb = g(y=a)",
    "App: [f(#x='1')]", "no call here", "", " ", "[]", "{}", "null", "\x00", "[f(x=", "f(x='\\d\\q')",
    '```json\n[{"name": "f", "arguments": {}}]\n```', "f(x=0777)", "1 is 1", '"\\d" in f(x="\\w")', "\x1b]52;c;AA\x07",
    "[" * 300, '[{"name": "f", "arguments": {"x": ' + "9" * 5000 + "}}]", "f(x=1e999)", "<script>alert(1)</script>",
    "\ud83d", "f(x=\u202e1)", "f(\u2028x=1)", '{"name": "f", "arguments": {"x": 1, "x": 2}}', 7, None, True, [],
    {}, [{"name": "f", "arguments": {"x": 1}}], {"name": "f", "arguments": {"x": [1, {"y": None}]}}, [[]], [None],
    {"calls": []}, [{"name": "f"}], [{"name": None}], {"tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]},
    [{"role": "user", "content": "?"}, {"role": "assistant", "content": "f(x=1)"}],
]  # fmt: skip
for _path in sorted((ROOT / "tests" / "cases" / "answers").glob("*.txt")):
    _text = re.sub(r"\A(# \w+: .*\n)*|\n--- (.*\n)*\Z", "", _path.read_text(encoding="utf-8"))
    TEXTS.append(_text)
    with contextlib.suppress(ValueError):
        TEXTS.append(json.loads(_text))
FIELDS = ["output", "gold", "prediction", "answer", "plan", "calls", "response", "text", "messages", "x"]
PIECES = [
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n", b"\r\n", b"\x0b", b"\xe2\x80\xa8", b'"', b"'", b"\\", b"{",
    b"}", b"[", b"]", b",", b";", b"\t", b"null", b"NaN", b"Infinity", b"1e400", b"9" * 4400, b"[" * 250, b"\x1b[2J",
    b"\xed\xa0\x80", b"\\ud800", b"\x1f\x8b", b'{"id": 1}\n', b"PAR1", b'"id": "a", ', b'"output": "f(x=1)", ', b"#", b"---",
]  # fmt: skip
COMMANDS: list[list[str]] = TABLES["COMMANDS"]


def _columns(rows: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row)) or ["id"]


def _cell(row: dict[str, Any], name: str) -> str:
    return row[name] if isinstance(row.get(name), str) else json.dumps(row.get(name))


class Find(Exception):
    """Something that must not be."""


class Done(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


def record(chance: random.Random, number: int) -> dict[str, Any]:
    """One record: mostly an id and a plan, sometimes neither."""
    made: dict[str, Any] = {}
    if chance.random() < 0.9:
        made["id"] = f"r{number}" if chance.random() < 0.7 else chance.choice(IDS)
    field = "output" if chance.random() < 0.7 else chance.choice(FIELDS)
    made[field] = TEXTS[number % 4] if chance.random() < 0.5 else chance.choice(TEXTS)
    if chance.random() < 0.3:
        made[chance.choice(FIELDS)] = chance.choice(TEXTS)
    return made


def _csv(rows: list[dict[str, Any]], chance: random.Random) -> bytes:
    names, out = _columns(rows), io.StringIO()
    writer = csv.writer(out, delimiter=chance.choice(",,,;\t"), lineterminator=chance.choice(["\n", "\r\n"]))
    writer.writerow(names)
    for row in rows:
        writer.writerow([_cell(row, name) if name in row else "" for name in names])
    return out.getvalue().encode("utf-8", "surrogatepass")


def _parquet(rows: list[dict[str, Any]], _: random.Random) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {
        name: [_cell(row, name).encode("utf-8", "replace").decode() for row in rows]
        for name in _columns(rows)
    }
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def _lines(rows: list[dict[str, Any]], chance: random.Random) -> bytes:
    end = chance.choice(["\n", "\n", "\n", "\r\n", "\n\n"])
    texts = [json.dumps(row, ensure_ascii=chance.random() < 0.7) for row in rows]
    return end.join([*texts, ""] if chance.random() < 0.8 else texts).encode("utf-8", "surrogatepass")


def _array(rows: Any, chance: random.Random) -> bytes:
    text = json.dumps(rows, ensure_ascii=chance.random() < 0.7, indent=chance.choice([None, None, 1]))
    text = text.replace('"x": ', '"id": ') if chance.random() < 0.1 else text
    return text.encode("utf-8", "surrogatepass")


def _object(rows: list[dict[str, Any]], chance: random.Random) -> bytes:
    by_id = {str(row.pop("id", n)): chance.choice([row, row.get("output")]) for n, row in enumerate(rows)}
    whole: Any = by_id if chance.random() < 0.5 else {chance.choice(["data", "records", "x"]): rows}
    return _array(whole, chance)


FORMS: dict[str, Callable[[list[dict[str, Any]], random.Random], bytes]] = {
    "jsonl": _lines, "json": _array, "keyed.json": _object, "csv": _csv, "parquet": _parquet,
}  # fmt: skip
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gz": partial(gzip.compress, mtime=0),
    "bz2": bz2.compress,
    "xz": lzma.compress,
}


def damaged(data: bytes, chance: random.Random) -> bytes:
    """The bytes a few steps away."""
    for _ in range(chance.randint(1, 4)):
        at = chance.randint(0, len(data))
        end = min(len(data), at + chance.choice([1, 1, 2, 8, 64]))
        before, cut, after = data[:at], data[at:end], data[end:]
        other = bytes(chance.randrange(256) for _ in cut)
        piece = chance.choice([b"", chance.choice(PIECES) + cut, other, cut * 2, cut * 30])
        data = before if chance.random() < 0.2 else before + piece + after
    return data[:200_000]


def write(folder: Path, chance: random.Random) -> tuple[Path, bytes | None]:
    """A new file, and its text where it is plain JSON lines."""
    form = chance.choice(["jsonl", "jsonl", "json", "keyed.json", "csv", "parquet"])
    data = FORMS[form]([record(chance, number) for number in range(chance.choice([0, 1, 2, 3, 8]))], chance)
    if chance.random() < 0.6:
        data = damaged(data, chance)
    plain = data if form == "jsonl" else None
    other = chance.choice(["txt", "json", "jsonl", "csv", "md"])
    name = f"file.{form if chance.random() < 0.8 else other}"
    if form != "parquet" and chance.random() < 0.15:
        encoding = chance.choice(["utf-16", "utf-16-le", "utf-32", "utf-8-sig", "latin-1", "cp1252"])
        data, plain = data.decode("utf-8", "replace").encode(encoding, "replace"), None
    if chance.random() < 0.15:
        kind = chance.choice([*PACKED])
        data, plain, name = PACKED[kind](data), None, f"{name}.{kind}"
        data = damaged(data, chance) if chance.random() < 0.4 else data
    path = folder / name
    path.write_bytes(data)
    return path, plain if name == "file.jsonl" else None


class _Screen(io.TextIOWrapper):
    """What is taken for a terminal."""

    def isatty(self) -> bool:
        return True


def run(argv: list[str], *, screen: bool = False) -> Done:
    """A command in this process, at a terminal or not; whatever it raises is a find."""
    kind = _Screen if screen else io.TextIOWrapper
    out, err = (kind(io.BytesIO(), "utf-8", "backslashreplace", newline="\n") for _ in range(2))
    before = sys.argv, sys.stdin
    sys.argv, sys.stdin = ["planeval", *argv], io.TextIOWrapper(io.BytesIO())
    start = time.process_time()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("always")
            code = command_line()
    finally:
        sys.argv, sys.stdin = before
    if (spent := time.process_time() - start) > SLOW:
        raise Find(f"took {spent:.0f} s")
    for stream in (out, err):
        stream.flush()
    return Done(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))  # type: ignore[attr-defined]


def judge(argv: list[str], done: Done, plain: bytes | None) -> None:
    """Raise a Find where a command did what it must not."""
    said = done.err + done.out
    if done.code not in (0, 1, 2, 3):
        raise Find(f"exit code {done.code}: {done.err[-500:]}")
    if "Traceback" in done.err or "Warning:" in done.err:
        raise Find(f"the terminal shows {done.err[-800:]}")
    if found := TERMINAL.search(said):
        raise Find(f"a control character: {said[max(0, found.start() - 40) : found.end() + 20]!r}")
    if not done.err.strip() and (done.code == 2 or not done.out.strip()):
        raise Find(f"exit code {done.code} without a word")
    if "jsonl" not in argv or argv[0] not in ("diff", "parse") or done.code > 1 or not done.out.strip():
        return
    rows = [json.loads(line) for line in done.out.splitlines()]
    if plain is not None and len(rows) < (least := well_formed(plain)):
        raise Find(f"{len(rows)} rows for at least {least} records")
    if argv[0] == "diff":
        bad = [row for row in rows if row.get("state", "same") != "same" or row.get("same") is False]
        if (done.code == 0) != (not bad):
            raise Find(f"exit code {done.code} with {len(bad)} of {len(rows)} rows that are not the same")
        if [row for row in rows if row.get("state") == "different"]:
            raise Find(f"a file differs from itself: {rows}"[:800])


def well_formed(data: bytes) -> int:
    """How many lines are a JSON object with an id of its own and a plan's field."""
    count = 0
    for line in data.split(b"\n"):
        with contextlib.suppress(ValueError, RecursionError):
            value = json.loads(line)
            count += isinstance(value, dict) and "id" in value and "output" in value
    return count


def attempt(seed: int, finds: Path | None, folder: Path, printed: list[str] | None = None) -> str | None:
    """One file through some commands; why it is a find, None where all is well; and what they have printed."""
    chance = random.Random(seed)
    for old in folder.glob("file.*"):
        old.unlink()
    path, plain = write(folder, chance)
    places = {"FILE": str(path), "GOLD": str(folder / "gold.jsonl"), "CATALOG": str(folder / "tools.json")}
    for given in chance.sample(COMMANDS, 3):
        argv = [places.get(word, word) for word in given]
        try:
            done = run(argv)
            judge(argv, done, plain)
            if printed is not None:
                printed.append(re.sub(rf"{folder}/|(?<=\n).* ms\n", "", f"{given} {done}"))
        except Exception as problem:
            why = str(problem) if isinstance(problem, Find) else traceback.format_exc(limit=-4)
            if finds is not None:
                keep(path, given, f"{why}\n(seed {seed})", finds)
            return f"{' '.join(given)}: {why}"
    return None


def keep(path: Path, given: tuple[str, ...], why: str, folder: Path) -> None:
    """Write down a find: the file, and beside it the command and what was wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    data = path.read_bytes()
    name = hashlib.blake2b(data, digest_size=5).hexdigest() + path.name.removeprefix("file")
    (folder / name).write_bytes(data)
    (folder / f"{name}.why").write_text(f"{' '.join(given)}\n{why}\n", errors="backslashreplace")
    told = f"find {name}: {' '.join(given)}: {why}".encode("utf-8", "backslashreplace").decode()
    print(told[:600], flush=True)


def prepare(folder: Path) -> None:
    """The files that stand beside the one that is damaged."""
    rows = [{"id": f"r{number}", "gold": TEXTS[number % 4]} for number in range(8)]
    (folder / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "number"}}}}
    (folder / "tools.json").write_text(json.dumps([{"type": "function", "function": tool}]))


def main() -> int:
    """Run the fuzzer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1200)
    parser.add_argument("--finds", type=Path, default=ROOT / "out" / "file_finds")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    count = bad = 0
    end = time.monotonic() + given.seconds
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        while time.monotonic() < end:
            bad += attempt(given.seed * 10_000_000 + count, given.finds, Path(folder)) is not None
            count += 1
    print(f"{count:,} files, {bad} finds")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
