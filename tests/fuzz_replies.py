"""Fuzzing of what tools may reply: ``python -m tests.fuzz_replies --seconds 1200``.

Mutated replies go through the reading that every worker's reply goes through, and what comes out through all
that shows it; some are also written by a tool in a worker's own process, between plans that must not notice.
A find is written to ``--finds``; kept ones stand in `tests.sandbox_replies`.
"""

import argparse
import json
import math
import random
import re
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from tests.sandbox_replies import HOSTILE

TOKEN = "a" * 32
SLOW = 2.0
"""Seconds for one reply of at most a few hundred kilobytes."""
TOOLS = Path(__file__).parent / "sandbox" / "replies.py"
OURS = re.compile(r"sent an invalid reply: line \d+: [a-z][a-z ,A-Z]+")
HONEST = (
    '["layers",[["limits",true,"AS"],["landlock",false,"none"]]]\n'
    f'["begin","{TOKEN}"]\n'
    '[0,"ok",{"a":[1,2.5,null]},0.001,1,[["x",1],["y",{"~":"tuple","v":[1,2]}]],"printed\\n"]\n'
    '[1,"failed",["ValueError","no such thing","tools.py:3"],0.5,2,[],""]\n'
    '[2,"skipped",["producer-failed","1"],0.0,0,null,""]\n'
    '["end",{"~":"dict","v":[[1,{"~":"set","v":[1,2]}]]}]\n'
)
PIECES = [
    "null", "true", "NaN", "-Infinity", "1e999", "-0.0", "9" * 401, "9" * 5000, "-1", "[]", "{}", '""', ",",
    "[", "]", "{", "}", '"', "\\", "\n", "\r", "\0", " ", "\\ud800", "\\u001b[2J", "\x1b[2J",
    "\x1b]52;c;x\x07", '{"~":"tuple","v":[1]}', '{"~":"set","v":[[1],{}]}', '{"~":"dict","v":[[1,2],[3]]}',
    '{"~":"float","v":"nan"}',
    '{"~":"int","v":"' + "f" * 3000 + '"}', '{"~":"int","v":"-_1"}', '{"~":"bytes","v":"0 1"}',
    '{"~":"complex","v":["nan","1_0"]}', '{"~":"object","type":"a\\ud800","text":"b\\u0000"}', '{"~":[]}',
    "[" * 50, "]" * 50, "[" * 3000, '{"~":"tuple","v":[' * 60, "é", "\ud800", "\ufeff",
    '["begin","' + TOKEN + '"]\n',
    '["layers",null]\n', '["unloadable","x"]\n', '["refused","isolation","x"]\n', '["end",null]\n',
    '[0,"ok",1,0.0,1,null,""]\n', "0.0", "1", '"ok"', '"failed"', '"skipped"', '["a","b"]',
]  # fmt: skip


def plan() -> Any:
    """Three calls, the third of which needs the second."""
    from planner_eval.plan.model import Call, Plan, Ref

    first = Call("a", "f", (("x", 1), ("y", 2)))
    return Plan((first, Call("b", "g"), Call("c", "h", (("z", Ref(1)),))), answer=(("whole", Ref(0)),))


def mutate(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 4)):
        at = chance.randint(0, len(text))
        end = min(len(text), at + chance.choice([1, 1, 2, 5, 20, 100]))
        piece, many = chance.choice(PIECES), text[at:end] * chance.choice([2, 50, 500])
        odd = chr(chance.choice([chance.randint(0, 127), 0xE9, 0xD800, 0xFEFF]))
        way = chance.randint(0, 6)
        atoms = list(re.finditer(r'"[^"\n]*"|-?\d[\d.]*|null|true|false', text)) if way == 5 else []
        if way == 6:
            lines = text.splitlines(keepends=True) or [""]
            text = "".join(chance.sample(lines, len(lines)) if chance.random() < 0.3 else lines * 2)
        elif atoms:
            atom = chance.choice(atoms)
            text = text[: atom.start()] + piece + text[atom.end() :]
        else:
            tails = [text[end:], piece + text[at:], piece + text[end:], odd + text[end:], many + text[end:]]
            text = text[:at] + tails[way % 5]
        text = text[:200_000]
    return text


def once(text: str, asked: Any) -> None:
    """Read one reply and show it in every way; nothing may be raised, nothing out of range come out."""
    from planner_eval.execution.program import Options
    from planner_eval.execution.run import RecordRun, trace_of
    from planner_eval.execution.sandbox.reply import Reply, ReplyReader
    from planner_eval.execution.sandbox.sandbox import Sandbox
    from planner_eval.execution.tool_sources import tool_source
    from planner_eval.reading.files.context import find_states
    from planner_eval.reading.files.record import Record
    from planner_eval.results.runs.execute_job import ExecuteJob, ExecuteSettings, runs_view

    read = ReplyReader(asked, TOKEN, 10.0)
    trouble = read.all(text.encode("utf-8", "surrogatepass"))
    if trouble is not None and not (trouble.kind == "worker-lied" and OURS.fullmatch(trouble.message)):
        raise AssertionError(f"not in words of our own: {trouble}")
    for row in read.rows:
        assert type(row.position) is int and 0 <= row.position < 3  # noqa: PT018
        assert type(row.seconds) is float and math.isfinite(row.seconds) and 0 <= row.seconds <= 10  # noqa: PT018
        assert type(row.attempts) is int and 0 <= row.attempts <= 2  # noqa: PT018
        assert row.status in ("ok", "failed", "skipped")
        assert (row.problem is None) == (row.status == "ok")
        assert all(type(part) is str for part in row.problem or ())
    assert len({row.position for row in read.rows}) == len(read.rows)
    assert not read.complete or len(read.rows) == 3
    box = Sandbox(tool_source("nestful"), level="inline")
    trace = trace_of(plan(), Reply(tuple(read.rows), trouble, read.state, 0.1), box)
    ran = RecordRun(Record("r", 0, None, None), plan(), trace=trace)
    for form in ("text", "json", "jsonl", "csv", "md"):
        how = ExecuteSettings(box.source, None, 10.0, Options(), (), None, find_states(None))
        job = ExecuteJob(how, form, True, {})
        runs = job.fold()
        lines = [job.line(ran, runs)]
        "".join(runs_view(lines, runs, many=False, trace=True).write(form)).encode("utf-8", "surrogatepass")


def in_workers(texts: list[str]) -> None:
    """Have tools write them, strictly and in one process; the plans beside must not notice."""
    from planner_eval.execution.run import execute_many
    from planner_eval.execution.sandbox.sandbox import Limits, Sandbox
    from planner_eval.execution.tool_sources import tool_source
    from planner_eval.plan.model import Call, Plan

    bare = [text.replace("\ud800", "") for text in texts]
    plans = []
    for number, text in enumerate(bare):
        plans.append(Plan((Call("a", "say", (("text", text),)),)))
        plans.append(Plan((Call("a", "well", (("x", number),)),)))
    for level in ("strict", "process"):
        with Sandbox(tool_source(str(TOOLS)), level=level, limits=Limits(seconds=20)) as box:
            traces = list(execute_many(plans, box))
        assert [trace.result for trace in traces[1::2]] == [2 * number for number in range(len(bare))], level
        for trace in traces[::2]:
            assert trace.ended is None or trace.ended.kind in ("worker-lied", "worker-died"), trace.ended
            json.dumps(trace.to_dict())


def search(seconds: float, seed: int, rounds: int | None = None) -> tuple[int, str, str]:
    """Search for a while; how many replies were tried, and the first find with what it did."""
    from planner_eval.execution.program import Options, compile_plan

    chance = random.Random(seed)
    head = "".join(HONEST.splitlines(keepends=True)[:2])
    asked = compile_plan(plan(), Options(retries=1, arguments=True, state=True))
    known = [HONEST, *(f"{head}{text}" for text in HOSTILE.values() if len(text) < 10_000)]
    until, tried = time.monotonic() + seconds, 0
    batch: list[str] = []
    while time.monotonic() < until and (rounds is None or tried < rounds):
        text = mutate(chance.choice(known) if chance.random() < 0.5 else HONEST, chance)
        tried += 1
        started = time.process_time()
        try:
            once(text, asked)
            if time.process_time() - started > SLOW:
                raise AssertionError(f"took {time.process_time() - started:.1f} s")
            if tried % 100 == 0:
                batch.append(text.partition(TOKEN)[2][3:])
            if len(batch) == 10:
                in_workers(batch)
                batch = []
        except Exception:
            return tried, json.dumps(batch) if len(batch) == 10 else text, traceback.format_exc()
    return tried, "", ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--finds", type=Path, default=Path("reply-finds"))
    given = parser.parse_args()
    tried, text, why = search(given.seconds, given.seed)
    print(f"{tried:,} replies tried with seed {given.seed}")
    if not why:
        return 0
    given.finds.mkdir(exist_ok=True)
    (given.finds / f"{given.seed}-{tried}.txt").write_text(text, encoding="utf-8", errors="surrogatepass")
    print(why)
    return 1


if __name__ == "__main__":
    sys.exit(main())
