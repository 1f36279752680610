"""A small job for the engine's tests, with pairs that misbehave, and the process that runs it."""

import json
import os
import re
import resource
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError, PlanevalError
from planner_eval.reading.dialects import table
from planner_eval.reading.files import frameworks
from planner_eval.reading.files.record import Record
from planner_eval.results.runs import worker
from planner_eval.results.runs.folder import Input
from planner_eval.results.runs.model import Pair, Running
from planner_eval.results.runs.run import run


class Sums:
    """Numbers of rows and of errors, and all ids in order."""

    def __init__(self, data: Any = None) -> None:
        self.rows, self.errors, self.ids = data or [0, 0, ""]

    def add(self, id: str, error: bool) -> None:
        self.rows += 1
        self.errors += error
        self.ids += id

    def extend(self, other: "Sums") -> None:
        self.rows += other.rows
        self.errors += other.errors
        self.ids += other.ids

    def data(self) -> Any:
        return [self.rows, self.errors, self.ids]


class Echo(NamedTuple):
    """Writes down what it gets; does what a prediction's source says."""

    seconds: float = 0.0  # for each pair
    note: str = ""  # an option
    fault: str = ""  # what the job itself does wrong

    @property
    def kind(self) -> str:
        return "echo"

    def options(self) -> dict[str, Any]:
        return {"note": self.note}

    def fold(self, data: Any = None) -> Sums:
        if self.fault == "dies":
            os._exit(4)
        return Sums(data)

    def rows(self, pairs: Iterable[Pair], fold: Sums) -> Iterator[str]:
        for pred, gold in pairs:
            sides = [self._side(one) for one in (pred, gold)]
            first = pred or gold
            assert first is not None
            if self.fault == "drops" and first.position == 3:
                continue
            if self.fault == "refuses" and first.position == 3:
                raise InputError("the tools are gone")
            fold.add(str(first.id), any("error" in side for side in sides if side))
            time.sleep(self.seconds)
            yield json.dumps([first.id, *sides], ensure_ascii=False)

    def _side(self, record: Record | None) -> dict[str, str] | None:
        if record is None or record.error is not None:
            return record and {"error": record.error.reason, "code": record.error.code}
        if record.source.startswith("notation "):
            return {"source": str(record.source[9:] in table.table())}
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


def main() -> int:
    how = json.loads(sys.argv[1])
    if how.pop("thread", False):
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    if how.pop("unbound", False):
        worker.die_with_parent = lambda _parent: None
    if (limit := how.pop("limit", None)) is not None:
        sys.dont_write_bytecode = True  # what Python compiles would be cut, too
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    sources = {int(at): source for at, source in how.pop("sources", {}).items()}
    pairs = records(how.pop("count"), sources)
    inputs = [Input(*one) for one in how.pop("inputs", [])]
    job = Echo(how.pop("seconds", 0.0), how.pop("note", ""), how.pop("fault", ""))
    changed, after = how.pop("changed", None), how.pop("after", 0.0)

    def unchanged() -> None:
        if changed is not None:
            raise InputError(changed)

    if (address := how.pop("ray", None)) is not None:
        from planner_eval.results.runs.ray import RayRunner

        how["engine"] = RayRunner(address or None)
    if (notations := how.pop("notations", None)) is not None:
        frameworks.add_file(notations)
    try:
        with run(job, pairs, Running(**how), inputs=inputs, unchanged=unchanged) as finished:
            sys.stdout.buffer.write(Path(finished.rows).read_bytes())
            print(json.dumps([finished.sums.data(), finished.failed, finished.pairs]), flush=True)
            time.sleep(after)
    except PlanevalError as error:
        print(f"planeval: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as error:
        print(" ".join(["interrupted", *getattr(error, "__notes__", [])]), file=sys.stderr)
        return 130
    return 0
