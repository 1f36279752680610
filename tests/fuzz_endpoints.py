"""Fuzzing of what servers may answer: ``python -m tests.fuzz_endpoints --seconds 1200``.

A server that replies as it is told, mostly with a damaged completion, a damaged head or a connection that
misbehaves, is asked by the commands that ask servers: predict with each pipeline, score with a judge, data
fetch. A find is a traceback, an exit code that the README does not know, a control character or the key on the
terminal, a sample without a row or a row that does not say why, an exception's name where a reason belongs, a
run that cannot be gone on with, more requests than were to be made, or a command that takes too long or too
much memory. Its replies are written to ``--finds``; ``tests/cases/fuzzed_endpoints`` holds those that were mended.
"""

# ruff: noqa: E501

from __future__ import annotations

import argparse
import contextlib
import functools
import hashlib
import json
import os
import random
import re
import resource
import shutil
import socket
import struct
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from tests.endpoint_answers import KEY, Answer, answer, completion
from tests.fuzz_files import Find, judge, run
from tests.prediction_samples import appbench_catalogue

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "data" / "samples"
SAMPLES_ASKED = 3
PATIENT, EACH = 20.0, 2.5
"""Seconds of the clock for one command, and for each of its requests, which has one second."""
MOST_ASKED = 400
"""Requests of one command; the longest of them makes 140 of a server that answers, each tried twice at most."""
MEMORY = 300
"""Megabytes that one command may take more than those before it."""
MOST_SENT = 1 << 26
"""Bytes that an endless answer comes to at most; planeval reads 8 MB of it."""
EXCEPTION = re.compile(
    r"\b[A-Z]\w*(?:Error|Exception|Warning)(?::|\()|\bgot an unexpected\b|object has no attribute"
)

TASKS = ("--model", "m", "--url", "URL", "--timeout", "0.4", "--deadline", "1", "--retries", "1", "--limit", str(SAMPLES_ASKED), "-o", "RUN")  # fmt: skip
JUDGED = ("--judge", "m", "--judge-url", "URL")
COMMANDS: dict[str, tuple[str, ...]] = {
    "flat": ("predict", "TASKS", *TASKS),
    "flat python": ("predict", "TASKS", *TASKS, "--dialect", "pythonic"),
    "flat held": ("predict", "TASKS", *TASKS, "--constrain", "schema"),
    "flat kept": ("predict", "TASKS", *TASKS, "--cache", "CACHE", "--prices", "PRICES"),
    "flat twice": ("predict", "TASKS", *TASKS, "--repeat", "2", "--concurrency", "1"),
    "function-calling": ("predict", "TASKS", *TASKS, "--pipeline", "function-calling"),
    "turns": ("predict", "TASKS", *TASKS, "--pipeline", "function-calling", "--tools", "TOOLS", "--isolation", "inline", "--max-steps", "3"),
    "react": ("predict", "TASKS", *TASKS, "--pipeline", "react", "--tools", "TOOLS", "--isolation", "inline", "--max-steps", "3"),
    "appbench": ("predict", "DATA/appbench", *TASKS, "--benchmark", "appbench", "--catalog", "APPS"),
    "isolated": ("predict", "DATA/appbench", *TASKS, "--benchmark", "appbench", "--catalog", "APPS", "--pipeline", "isolated"),
    "nestful": ("predict", "DATA/nestful", *TASKS, "--benchmark", "nestful"),
    "route": ("predict", "DATA/callnavi", *TASKS, "--benchmark", "callnavi", "--pipeline", "route"),
    "route-then-fill": ("predict", "DATA/callnavi", *TASKS, "--benchmark", "callnavi", "--pipeline", "route-then-fill", "--router-model", "r"),
    "backward": ("predict", "DATA/callnavi", *TASKS, "--benchmark", "callnavi", "--pipeline", "backward"),
    "stepwise": ("predict", "DATA/complexfuncbench", *TASKS, "--benchmark", "complexfuncbench", "--max-steps", "3"),
    "dialog": ("predict", "DATA/functionchat", *TASKS, "--benchmark", "functionchat", "--history", "own"),
    "judge functionchat": ("score", "DATA/answers/functionchat.jsonl", "DATA/functionchat", "--benchmark", "functionchat", *JUDGED),
    "judge callnavi": ("score", "DATA/answers/callnavi.jsonl", "DATA/callnavi", "--benchmark", "callnavi", *JUDGED, "--judge-cache", "CACHE"),
    "judge complexfuncbench": ("score", "DATA/answers/complexfuncbench.jsonl", "DATA/complexfuncbench", "--benchmark", "complexfuncbench", *JUDGED),
    "fetch": ("data", "fetch", "nestful-v1", "--cache", "DATACACHE", "--mirror", "URL", "--accept-checksum"),
}  # fmt: skip


class Case(NamedTuple):
    """One command and what its requests get, in turn."""

    command: str
    answers: tuple[Answer, ...]


class Server:
    """Serves raw bytes while it is entered; `asked` counts the requests."""

    def __init__(self) -> None:
        self.answers: tuple[Answer, ...] = ()
        self.asked = 0
        self.open: set[socket.socket] = set()
        self.listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}/v1"

    def set(self, answers: tuple[Answer, ...]) -> None:
        """Begin anew; whoever is still written to is left."""
        for connection in list(self.open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.answers, self.asked = answers, 0

    def __enter__(self) -> Server:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.set(())
        self.listening.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.listening.accept()
            except OSError:
                return
            self.open.add(connection)
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        connection.settimeout(10)
        with contextlib.suppress(OSError), connection, connection.makefile("rb") as asked:
            while self._request(asked) and self.answers:
                answer = self.answers[self.asked % len(self.answers)]
                self.asked += 1
                self._say(connection, answer)
                if answer.how != "keep":
                    break
        self.open.discard(connection)

    @staticmethod
    def _request(asked: Any) -> bool:
        length, first = 0, True
        while line := asked.readline(1 << 16):
            if line == b"\r\n":
                asked.read(length)
                return True
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
            first = False
        return not first

    def _say(self, connection: socket.socket, answer: Answer) -> None:
        whole = b"".join(answer.parts)
        if answer.how == "drip":
            for at in range(0, min(len(whole), 400), 7):  # what is longer is cut
                connection.sendall(whole[at : at + 7])
                time.sleep(0.05)
            return
        connection.sendall(whole)
        if answer.how == "stall":
            time.sleep(3)
        if answer.how == "endless":
            again = (answer.parts[-1] or b" ") * max(1, 65536 // max(1, len(answer.parts[-1])))
            for _ in range(MOST_SENT // len(again)):
                connection.sendall(again)
        if answer.how == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def drawn(seed: int) -> Case:
    """The case of a seed."""
    chance = random.Random(seed)
    count = chance.choice([1, 1, 2, 5])
    return Case(chance.choice(list(COMMANDS)), tuple(answer(chance) for _ in range(count)))


def honest() -> Answer:
    """What a server says that means well."""
    data = json.dumps(completion(random.Random(0))).encode()
    return Answer((b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(data), data), "keep")


@contextlib.contextmanager
def hurried() -> Iterator[None]:
    """Have pauses and silences end sooner than users would want; nothing else is another."""
    from planner_eval.datasets import fetch
    from planner_eval.llm import client, endpoint
    from planner_eval.verbs import endpoints

    def soon_asked(name: str, at: Any) -> client.Client:
        return client.Client(name, at.url, KEY, at.timeout, at.deadline, at.retries, 0.01, paused=at.paused)

    soon = functools.partial(endpoint.Endpoint, timeout=0.4, retries=1, backoff=0.01)
    with (
        mock.patch.object(endpoint, "Endpoint", soon), mock.patch.object(endpoint, "DEADLINE", 1.0),
        mock.patch.object(endpoints, "_client", soon_asked), mock.patch.object(fetch, "TIMEOUT", 0.4),
        mock.patch.object(fetch.DEFAULTS.__class__, "__init__", functools.partialmethod(
            fetch.Options.__init__, pause=0.01
        )),
        mock.patch.dict(os.environ, {"OPENAI_API_KEY": KEY})
    ):  # fmt: skip
        yield


def once(case: Case, folder: Path, server: Server) -> None:
    """Run one case; raises a Find where something is that must not be."""
    for name in ("run", "cache.sqlite", "datacache"):
        place = folder / name
        shutil.rmtree(place, ignore_errors=True) if place.is_dir() else place.unlink(missing_ok=True)
    places = {
        "URL": server.url, "RUN": str(folder / "run"), "CACHE": str(folder / "cache.sqlite"),
        "DATACACHE": str(folder / "datacache")
    }  # fmt: skip
    places |= {
        "TASKS": str(folder / "tasks.jsonl"), "TOOLS": str(folder / "tools.py"),
        "PRICES": str(folder / "prices.json"), "APPS": str(folder / "apps.json")
    }  # fmt: skip
    argv = [places.get(word, word.replace("DATA/", f"{SAMPLES}/")) for word in COMMANDS[case.command]]
    server.set(case.answers)
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    done = run(argv)
    took, grown = time.monotonic() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    judge(argv, done, None)
    if took > PATIENT + EACH * server.asked or server.asked > MOST_ASKED:
        raise Find(f"took {took:.0f} s and {server.asked} requests")
    if grown > MEMORY << 10:
        raise Find(f"took {grown >> 10} MB")
    if KEY in done.out + done.err and case.command != "fetch":  # which has none to send
        raise Find("the key is on the terminal")
    if found := EXCEPTION.search(done.err.replace("KeyError: '", "")):
        raise Find(f"an exception for people: {done.err[max(0, found.start() - 100) : found.end() + 200]}")
    if argv[0] == "predict":
        asked_for(argv, done.code, folder / "run", server)


def asked_for(argv: list[str], code: int, place: Path, server: Server) -> None:
    """What must hold of a run: a row a sample, each with an answer or a reason; it can be read and gone on with."""
    from planner_eval.dialects.states import ended

    times = 2 if "--repeat" in argv else 1
    rows = [json.loads(line) for line in (place / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    if len(rows) != SAMPLES_ASKED * times:
        raise Find(f"{len(rows)} rows")
    failed = [row for row in rows if row["error"] is not None]
    for row in failed:
        if not row["error"]["message"] or EXCEPTION.search(row["error"]["message"]):
            raise Find(f"a row's reason: {row['error']}")
    lacking = [row for row in rows if row["error"] is not None or ended(row) is not None]
    if code != (3 if len(lacking) == len(rows) else int(bool(lacking))):
        raise Find(f"exit code {code} where {len(lacking)} of {len(rows)} are no whole answer")
    for more in (["parse", str(place / "rows.jsonl"), "--format", "jsonl"], ["score", str(place)]):
        judge(more, run(more), None)
    server.set((honest(),))
    patient = {"0.4": "20", "1": "40"}
    argv = [patient.get(word, word) for word in argv]
    judge(argv, again := run(argv), None)
    if again.code == 2:
        raise Find(f"gone on with, it ends with 2: {again.err[-500:]}")
    left = [
        json.loads(line)["error"] for line in (place / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    if len(left) != len(rows) or any(error and error["code"] == "transport" for error in left):
        raise Find(f"gone on with, it has {left}")


def attempt(seed: int, finds: Path | None, folder: Path, server: Server) -> str | None:
    """The case of a seed; why it is a find, None where all is well."""
    return tried(drawn(seed), f"seed {seed}", finds, folder, server)


def tried(case: Case, name: str, finds: Path | None, folder: Path, server: Server) -> str | None:
    """One case; why it is a find, None where all is well."""
    try:
        with hurried():
            once(case, folder, server)
    except Exception as problem:
        why = str(problem) if isinstance(problem, Find) else traceback.format_exc(limit=-6)
        if finds is not None:
            keep(case, f"{why}\n({name})", finds)
        return f"{case.command}: {why}"
    return None


def keep(case: Case, why: str, folder: Path) -> None:
    """Write down a find, and beside it what was wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    text = written(case)
    name = hashlib.blake2b(text.encode(), digest_size=5).hexdigest()
    (folder / f"{name}.json").write_text(text)
    (folder / f"{name}.why").write_text(f"{case.command}\n{why}\n", errors="backslashreplace")
    print(
        f"find {name}: {case.command}: {why}".encode("utf-8", "backslashreplace").decode()[:900], flush=True
    )


def written(case: Case) -> str:
    """A case as JSON."""
    answers = [
        {"parts": [part.decode("latin-1") for part in each.parts], "how": each.how} for each in case.answers
    ]
    return json.dumps({"command": case.command, "answers": answers}, indent=1) + "\n"


def of_text(text: str) -> Case:
    """The case that was written."""
    data = json.loads(text)
    parts = [
        Answer(tuple(p.encode("latin-1") for p in each["parts"]), each["how"]) for each in data["answers"]
    ]
    return Case(data["command"], tuple(parts))


def prepare(folder: Path) -> None:
    """The files that the commands name beside the server."""
    tool = {"name": "f", "description": "d", "parameters": {
        "type": "object", "properties": {"x": {"type": "integer"}}
    }}  # fmt: skip
    call = [{"name": "f", "arguments": {"x": 1}}]
    rows = [
        {"id": f"t{n}", "query": f"question {n}", "tools": [tool], "gold": call} for n in range(SAMPLES_ASKED)
    ]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "tools.py").write_text("def f(x: int) -> int:\n    return x\n")
    (folder / "apps.json").write_text(json.dumps(appbench_catalogue()))
    (folder / "prices.json").write_text(json.dumps({"models": {"m": {"input": 1, "output": 2}}}))


def main() -> int:
    """Run the fuzzer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1200)
    parser.add_argument("--finds", type=Path, default=ROOT / "out" / "endpoint_finds")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    count = bad = 0
    end = time.monotonic() + given.seconds
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        prepare(Path(folder))
        while time.monotonic() < end:
            bad += attempt(given.seed * 10_000_000 + count, given.finds, Path(folder), server) is not None
            count += 1
    print(f"{count:,} servers, {bad} finds")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
