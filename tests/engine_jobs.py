"""A small job for the engine's tests, with pairs that misbehave, and the process that runs it."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from planner_eval.engine.folder import Input
from planner_eval.engine.job import Pair
from planner_eval.engine.run import run
from planner_eval.records.files import Record


class Sums:
    """Numbers of rows and of errors, and all ids in order."""

    def __init__(self, data: Any = None) -> None:
        self.rows, self.errors, self.ids = data or [0, 0, ""]

    def add(self, id: str, error: bool) -> None:
        self.rows += 1
        self.errors += error
        self.ids += id

    def extend(self, other: Sums) -> None:
        self.rows += other.rows
        self.errors += other.errors
        self.ids += other.ids

    def data(self) -> Any:
        return [self.rows, self.errors, self.ids]


class Echo(NamedTuple):
    """Writes down what it gets; does what a prediction's source says.

    Args:
        seconds: How long it takes for each pair.
        note: An option.
    """

    seconds: float = 0.0
    note: str = ""

    @property
    def kind(self) -> str:
        return "echo"

    def options(self) -> dict[str, Any]:
        return {"note": self.note}

    def fold(self, data: Any = None) -> Sums:
        return Sums(data)

    def rows(self, pairs: Iterable[Pair], fold: Sums) -> Iterator[str]:
        for pred, gold in pairs:
            sides = [self._side(one) for one in (pred, gold)]
            first = pred or gold
            assert first is not None
            fold.add(str(first.id), any("error" in side for side in sides if side))
            if self.seconds:
                time.sleep(self.seconds)
            yield json.dumps([first.id, *sides], ensure_ascii=False)

    def _side(self, record: Record | None) -> dict[str, str] | None:
        if record is None:
            return None
        if record.error is not None:
            return {"error": record.error.reason, "code": record.error.code}
        misbehave(record.source)
        return {"source": record.source}


def misbehave(source: str) -> None:
    match source:
        case "sleep":
            time.sleep(1000)
        case "regex":
            re.match(r"(a*)*b", "a" * 100)
        case "die":
            os.kill(os.getpid(), 9)
        case "exit":
            os._exit(3)
        case "raise":
            raise KeyError(source)


def records(count: int, sources: dict[int, str]) -> list[Pair]:
    """So many pairs; predictions of some numbers say what to do, and gold plans of negative ones less one."""
    found: list[Pair] = []
    for at in range(count):
        pred = Record("p.jsonl", at, f"i{at}", sources.get(at, f"f{at}() é \udc80"), at + 1)
        gold = Record("g.jsonl", at, f"i{at}", sources.get(-at - 1, f"g{at}()"), at + 1)
        found.append((None if at % 17 == 5 and at not in sources else pred, None if at % 19 == 7 else gold))
    return found


def main() -> None:
    """Run as the command line says, a JSON object."""
    how = json.loads(sys.argv[1])
    if how.pop("thread", False):
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    limit = how.pop("limit", None)
    if limit is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    sources = {int(at): source for at, source in how.pop("sources", {}).items()}
    pairs = records(how.pop("count"), sources)
    inputs = [Input(*one) for one in how.pop("inputs", [])]
    job = Echo(how.pop("seconds", 0.0), how.pop("note", ""))
    with run(job, pairs, inputs=inputs, **how) as finished:
        with open(finished.rows, "rb") as stream:
            sys.stdout.buffer.write(stream.read())
        print(json.dumps([finished.sums.data(), finished.failed, finished.pairs]))
