"""Coverage-guided fuzzing of the parser: ``python -m tests.fuzz --seconds 1200``.

A loop mutates the golden cases and keeps what reaches new lines. Anything that parse raises besides the
package's own errors, and any text that takes longer than it should, is written to ``--finds`` and ends with
exit code 1.
"""

import argparse
import hashlib
import random
import sys
import time
import traceback
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from planner_eval.base.errors import ParseError, PlanevalError
from planner_eval.reading import dialects
from planner_eval.reading.dialects.read import locate, parse
from tests.conftest import tables

TABLES = tables(__file__)

ROOT = Path(__file__).resolve().parent.parent
SLOW = 2.0
"""Seconds for one text of at most 4,000 characters."""
LONGEST = 4_000

PIECES = TABLES["PIECES"]


def seeds() -> list[str]:
    """The texts of all golden cases, and every dialect's example."""
    files = sorted((ROOT / "tests/cases").glob("*/*.txt"))
    found = [path.read_text(encoding="utf-8").partition("\n--- ")[0] for path in files]
    return [*found, *(dialects.get(name).example for name in dialects.names())]


def once(text: str) -> None:
    """Parse one text in every way; only the package's own errors may come out."""
    for repair in (False, True):
        try:
            plan = parse(text, repair=repair, infer=repair)
        except ParseError as error:
            if not (0 <= error.offset <= len(text) and str(error)):
                raise AssertionError("an error points outside of the text") from error
            continue
        except PlanevalError:
            continue
        for call in locate(plan).calls:
            for start, end in (call.span or (0, 0), *call.spans):
                assert 0 <= start <= end <= len(text), "a place lies outside of the text"


def mutate(text: str, others: list[str], chance: random.Random) -> str:
    """A text a few steps away."""
    for _ in range(chance.randint(1, 5)):
        at = chance.randint(0, len(text))
        end = min(len(text), at + chance.choice([1, 1, 2, 5, 20]))
        other = chance.choice(others)
        start = chance.randint(0, len(other))
        before, cut, after = text[:at], text[at:end], text[end:]
        odd = chr(chance.choice([0, 9, 10, 34, 39, 92, 0x2581, 0xFF5C, 0xD800, 0x1F642]))
        text = chance.choice([
            before + after, before, before + chance.choice(PIECES) + text[at:], before + odd + after,
            before + other[start : start + chance.randint(1, 80)] + text[at:],
            before + cut * chance.choice([2, 3, 30]) + after,
            before + chance.choice("[](){}\"'\\,:=$#<>|`. \n") + after,
        ])  # fmt: skip
    return text[:LONGEST]


def attempt(text: str, folder: Path) -> bool:
    """Whether a text is handled as it should be; a find is written down."""
    start, why = time.process_time(), None
    try:
        once(text)
    except Exception:
        why = traceback.format_exc(limit=-3)
    spent = time.process_time() - start
    if spent > SLOW and why is None:
        why = f"took {spent:.1f} s"
    if why is not None:
        data = text.encode("utf-8", "surrogatepass")
        name = hashlib.blake2b(data, digest_size=6).hexdigest()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.txt").write_bytes(data)
        print(f"find {name}: {why}", flush=True)
    return why is None


def own_loop(seconds: float, folder: Path, seed: int) -> int:
    """Mutate, run, keep what reaches new lines."""
    chance = random.Random(seed)
    lines: set[tuple[CodeType, int]] = set()
    fresh: list[tuple[CodeType, int]] = []
    package = str(ROOT / "planner_eval")

    def trace(frame: FrameType, event: str, _arg: Any) -> Any:
        if not frame.f_code.co_filename.startswith(package):
            return None
        place = (frame.f_code, frame.f_lineno)
        if place not in lines:
            lines.add(place)
            fresh.append(place)
        return trace

    corpus = [text[:LONGEST] for text in seeds()]
    for text in corpus:
        once(text)
    count = bad = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        text = mutate(chance.choice(corpus), corpus, chance)
        fresh.clear()
        if count % 4 == 0:  # tracing costs ten times the run: every fourth text is traced
            sys.settrace(trace)
        try:
            bad += not attempt(text, folder)
        finally:
            sys.settrace(None)
        if fresh:
            corpus.append(text)
        count += 1
    print(f"{count:,} texts, {len(lines):,} lines reached, {len(corpus)} texts kept, {bad} finds")
    return 1 if bad else 0


def main() -> int:
    """Run the fuzzer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1200)
    parser.add_argument("--finds", type=Path, default=ROOT / "out" / "fuzz_finds")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    return own_loop(given.seconds, given.finds, given.seed)


if __name__ == "__main__":
    sys.exit(main())
