"""Fuzzing of what servers may answer: ``python -m tests.fuzz_endpoints --seconds 1200``.

The commands that ask servers ask one whose answers, heads or connections are mostly damaged. A find is a
traceback, an unknown exit code, a control character or the key on the terminal, a sample without a row, a row
without a reason, a run that cannot be gone on with, or too many requests, seconds or megabytes. Its replies
are written to ``--finds``; ``tests/cases/fuzzed_endpoints`` holds those that were mended.
"""

# ruff: noqa: E501

import argparse
import contextlib
import functools
import gzip
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

from tests.conftest import tables
from tests.fuzz_files import Find, judge, run
from tests.prediction_samples import appbench_catalogue

TABLES = tables(__file__)

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
COMMANDS: dict[str, list[str]] = TABLES["COMMANDS"]


class Case(NamedTuple):
    """One command and what its requests get, in turn."""

    command: str
    answers: tuple["Answer", ...]


class Server:
    """Serves raw bytes while it is entered; `asked` counts the requests."""

    def __init__(self) -> None:
        self.answers: tuple[Answer, ...] = ()
        self.asked = 0
        self.open: set[socket.socket] = set()
        self.listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}/v1"

    def set(self, answers: tuple["Answer", ...]) -> None:
        """Begin anew; whoever is still written to is left."""
        for connection in list(self.open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.answers, self.asked = answers, 0

    def __enter__(self) -> "Server":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.set(())
        self.listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listening.accept()
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
        length, line = 0, b""
        while line := asked.readline(1 << 16):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
            if line == b"\r\n":
                asked.read(length)
                return True
        return False

    def _say(self, connection: socket.socket, answer: "Answer") -> None:
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
    chance = random.Random(seed)
    count = chance.choice([1, 1, 2, 5])
    return Case(chance.choice(list(COMMANDS)), tuple(answer(chance) for _ in range(count)))


def honest() -> "Answer":
    data = json.dumps(completion(random.Random(0))).encode()
    return Answer((b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(data), data), "keep")


@contextlib.contextmanager
def hurried() -> Iterator[None]:
    """Have pauses and silences end sooner than users would want; nothing else is another."""
    from planner_eval.benchmarks.datasets import fetch
    from planner_eval.models import client, judges

    def soon_asked(name: str, at: Any) -> client.Client:
        return client.Client(name, at.url, KEY, at.timeout, at.deadline, at.retries, 0.01, paused=at.paused)

    soon = functools.partial(judges.judge_client, timeout=0.4, retries=1, backoff=0.01)
    quick = functools.partialmethod(fetch.FetchOptions.__init__, pause=0.01)
    patch = mock.patch.object
    with (
        patch(judges, "judge_client", soon), patch(judges, "DEADLINE", 1.0), patch(fetch, "TIMEOUT", 0.4),
        patch(judges, "_client", soon_asked), patch(fetch.DEFAULT_OPTIONS.__class__, "__init__", quick),
        mock.patch.dict(os.environ, {"OPENAI_API_KEY": KEY}),
    ):  # fmt: skip
        yield


def once(case: Case, folder: Path, server: Server) -> None:
    """Run one case; raises a Find where something is that must not be."""
    for name in ("run", "cache.sqlite", "datacache"):
        place = folder / name
        shutil.rmtree(place, ignore_errors=True) if place.is_dir() else place.unlink(missing_ok=True)
    names = {"RUN": "run", "CACHE": "cache.sqlite", "DATACACHE": "datacache", "TASKS": "tasks.jsonl"}
    names |= {"TOOLS": "tools.py", "PRICES": "prices.json", "APPS": "apps.json"}
    places = {word: str(folder / name) for word, name in names.items()} | {"URL": server.url}
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
    from planner_eval.reading.dialects.conversations.answers import answer_state

    def kept() -> list[Any]:
        return [json.loads(line) for line in (place / "rows.jsonl").read_text(encoding="utf-8").splitlines()]

    rows, times = kept(), 2 if "--repeat" in argv else 1
    if len(rows) != SAMPLES_ASKED * times:
        raise Find(f"{len(rows)} rows")
    for error in (row["error"] for row in rows if row["error"] is not None):
        if not error["message"] or EXCEPTION.search(error["message"]):
            raise Find(f"a row's reason: {error}")
    lacking = [row for row in rows if row["error"] is not None or answer_state(row) is not None]
    if code != (3 if len(lacking) == len(rows) else int(bool(lacking))):
        raise Find(f"exit code {code} where {len(lacking)} of {len(rows)} are no whole answer")
    for more in (["parse", str(place / "rows.jsonl"), "--format", "jsonl"], ["score", str(place)]):
        judge(more, run(more), None)
    server.set((honest(),))
    argv = [{"0.4": "20", "1": "40"}.get(word, word) for word in argv]
    judge(argv, again := run(argv), None)
    if again.code == 2:
        raise Find(f"gone on with, it ends with 2: {again.err[-500:]}")
    left = [row["error"] for row in kept()]
    if len(left) != len(rows) or any(error and error["code"] == "transport" for error in left):
        raise Find(f"gone on with, it has {left}")


def attempt(seed: int, finds: Path | None, folder: Path, server: Server) -> str | None:
    return tried(drawn(seed), f"seed {seed}", finds, folder, server)


def tried(case: Case, name: str, finds: Path | None, folder: Path, server: Server) -> str | None:
    """One case; why it is a find, which is written down, None where all is well."""
    try:
        with hurried():
            once(case, folder, server)
    except Exception as problem:
        why = str(problem) if isinstance(problem, Find) else traceback.format_exc(limit=-6)
        if finds is not None:
            answers = [{"parts": [p.decode("latin-1") for p in a.parts], "how": a.how} for a in case.answers]
            text = json.dumps({"command": case.command, "answers": answers}, indent=1) + "\n"
            digest = hashlib.blake2b(text.encode(), digest_size=5).hexdigest()
            finds.mkdir(parents=True, exist_ok=True)
            (finds / f"{digest}.json").write_text(text)
            said = f"{case.command}\n{why}\n({name})\n"
            (finds / f"{digest}.why").write_text(said, errors="backslashreplace")
            print(f"find {digest}: {said[:900]!a}", flush=True)
        return f"{case.command}: {why}"
    return None


def of_text(text: str) -> Case:
    data = json.loads(text)
    made = (Answer(tuple(p.encode("latin-1") for p in one["parts"]), one["how"]) for one in data["answers"])
    return Case(data["command"], tuple(made))


def prepare(folder: Path) -> None:
    kind = {"type": "object", "properties": {"x": {"type": "integer"}}}
    task = {"tools": [{"name": "f", "description": "d", "parameters": kind}]}
    task |= {"gold": [{"name": "f", "arguments": {"x": 1}}]}
    rows = [{"id": f"t{n}", "query": f"question {n}", **task} for n in range(SAMPLES_ASKED)]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "tools.py").write_text("def f(x: int) -> int:\n    return x\n")
    (folder / "apps.json").write_text(json.dumps(appbench_catalogue()))
    (folder / "prices.json").write_text(json.dumps({"models": {"m": {"input": 1, "output": 2}}}))


KEY = "sk-0123456789abcdef"
"""What is sent to servers, and may never be shown."""

ODD = [
    "null", "true", "false", "0", "-1", "1.5", "1e999", "NaN", "-Infinity", "9" * 400, "9" * 5000, "-0.0", '""', '" "',
    "[]", "{}", "[[]]", "[{}]", "[null]", '{"":null}', '"\\ud800"', '"\\u0000"', '"\\u001b[2J"', '"\\u202e"', '"a\\nb"',
    '"[f(x=1)]"', '"{\\"name\\": \\"f\\", \\"arguments\\": {\\"x\\": 1}}"', '"' + "x" * 100_000 + '"', "[" * 60 + "]" * 60,
    "[" * 985 + "]" * 985, '{"a":' * 970 + "1" + "}" * 970, "[" * 5000, '{"a":' * 2000, '"{\\"x\\": ' + "9" * 5000 + '}"',
    '"' + "[" * 1200 + '"', '"{\\"x\\": NaN}"', '"{\\"x\\": 1, \\"x\\": 2}"', '"[1]"', '"null"', '"{"', '"stop"', '"length"',
    '"content_filter"', '"tool_calls"', "[" + "0," * 3000 + "0]", '{"text":"f(x=1)"}', '[{"type":"text","text":"f(x=1)"}]',
    '[{"type":"refusal","refusal":"no"}]', '{"name":"f","arguments":"{}"}', '[{"function":{"name":"f","arguments":{"x":1}}}]',
    '[{"function":null}]', '[{"id":7,"function":{"name":null,"arguments":[[]]}}]', '"<!stop>"', '"Final Answer: 1"',
]  # fmt: skip
PIECES = [
    b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\r\n", b"\n", b"\r", b"\r\n\r\n", b'"', b"\\", b"{", b"}", b"[", b"]", b",",
    b":", b"null", b"NaN", b"1e999", b"9" * 5000, b"[" * 3000, b"\\ud800", b"\x1b[2J", b"\x1b]52;c;AA\x07", b"\xe2\x80\xae",
    b"\xed\xa0\x80", b"data: ", b"data: [DONE]\n\n", b"0\r\n\r\n", b"<html>", b"\x1f\x8b", KEY.encode(), b'"error":', b'"choices":',
]  # fmt: skip
STATUS = [
    b"HTTP/1.1 200 OK", b"HTTP/1.0 200 OK", b"HTTP/1.1 200", b"HTTP/1.1 201 Created", b"HTTP/1.1 204 No Content", b"HTTP/1.1 206 Part",
    b"HTTP/1.1 301 Moved", b"HTTP/1.1 302 Found", b"HTTP/1.1 303 See", b"HTTP/1.1 304 Same", b"HTTP/1.1 307 T", b"HTTP/1.1 308 P",
    b"HTTP/1.1 400 Bad", b"HTTP/1.1 401 No", b"HTTP/1.1 403 No", b"HTTP/1.1 404 No", b"HTTP/1.1 408 Late", b"HTTP/1.1 409 C",
    b"HTTP/1.1 413 Large", b"HTTP/1.1 416 Range", b"HTTP/1.1 422 Un", b"HTTP/1.1 429 Many", b"HTTP/1.1 500 E", b"HTTP/1.1 503 E",
    b"HTTP/1.1 599 E", b"HTTP/1.1 999 E", b"HTTP/1.1 099 E", b"HTTP/1.1 000 E", b"HTTP/1.1 -1 E", b"HTTP/1.1 20 OK", b"HTTP/1.1 2000 OK",
    b"HTTP/2 200 OK", b"HTTP/9.9 200 OK", b"HTTP/1.1 " + b"2" * 5000, b"ICY 200 OK", b"", b"SSH-2.0-x", b"HTTP/1.1 200 " + b"a" * 9000,
    b"HTTP/1.1 500 \x1b[2J", b"HTTP/1.1 404 \xff\xfe", b"HTTP/1.1 401 " + KEY.encode(), b"\x16\x03\x01\x02\x00", b"HTTP/1.1 101 Switch",
]  # fmt: skip
HEADERS = [
    b"Content-Length: 0", b"Content-Length: 1", b"Content-Length: -1", b"Content-Length: " + b"9" * 5000, b"Content-Length: 1e3",
    b"Content-Length: 10, 11", b"Content-Length: 99999999999", b"Content-Length:", b"Transfer-Encoding: chunked",
    b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: identity", b"Transfer-Encoding: x", b"Content-Encoding: gzip",
    b"Content-Encoding: br", b"Content-Encoding: zstd", b"Content-Encoding: identity", b"Content-Encoding: IDENTITY, identity",
    b"Content-Encoding: \x1b[2J", b"Content-Type: text/event-stream", b"Content-Type: text/html; charset=utf-16",
    b"Content-Type: application/json; charset=no-such", b"Content-Type: \xff", b"Content-Type: application/json; charset=utf-7",
    b"Location: /v1/chat/completions", b"Location: //other.example/x", b"Location: http://[::1", b"Location: http://a:b/",
    b"Location: \xff\xfe", b"Location: file:///etc/passwd", b"Location: ftp://127.0.0.1:1/", b"Location: ", b"Location: ?" + b"a" * 9000,
    b"Location: http://" + b"a" * 300 + b"/", b"Location: javascript:x", b"Location: http://127.0.0.1:1/\x1b[2J", b"Location: http://\xc3\xa9.example/",
    b"Retry-After: 0", b"Retry-After: nan", b"Retry-After: inf", b"Retry-After: -1", b"Retry-After: 0.01", b"Retry-After: " + b"9" * 5000,
    b"Retry-After: Wed, 21 Oct 99999 07:28:00 GMT", b"Retry-After: \xff", b"retry-after-ms: nan", b"retry-after-ms: " + b"9" * 500,
    b"x-should-retry: true", b"x-request-id: \x1b[2J", b"Connection: close", b"Connection: upgrade", b"Upgrade: h2c",
    b"Set-Cookie: a=b; Domain=\xff; Expires=x", b"X: " + b"y" * 70_000, b": x", b"no colon", b"A B: c", b" folded", b"X: a\r\n folded",
    b"ETag: \"a\"", b"ETag: \xff\x00", b"ETag: W/\"a\"", b"Content-Range: bytes 0-9/x", b"Content-Range: bytes */0", b"Keep-Alive: timeout=-1",
]  # fmt: skip
HOW = ["keep"] * 12 + ["close"] * 6 + ["drip", "stall", "endless", "reset"]


class Answer(NamedTuple):
    """Bytes that one request gets, and what follows them.

    That is another request ("keep"), the end ("close", "reset"), silence ("stall"), the last part again and
    again ("endless"), or they are written bit by bit ("drip").
    """

    parts: tuple[bytes, ...]
    how: str


def completion(chance: random.Random) -> Any:
    """A whole completion; words, calls, a refusal, or the answer of a judge."""
    words: list[Any] = [
        "ok", '[{"name": "f", "arguments": {"x": 1}}]', "[f(x=1)]", "Hotels: [a = search(#city='Rome')]", "", None, "<!stop>",
        '```json\n[{"name": "f", "arguments": {"x": 1}}]\n```', "Thought: a\nAction: f\nAction Input: {\"x\": 1}", "Final Answer: 1",
        '{"API": ["getBalance"], "parameters": []}', "Score: 1", "### Correct\n{\"correctness\": true}", '{"score": 1, "correct": "Pass"}', "pass", "[1, 2]",
        '{"Complete": 2, "Correct": 1}', '["Hotels"]', "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>",
    ]  # fmt: skip
    said: dict[str, Any] = {"role": "assistant", "content": chance.choice(words)}
    if chance.random() < 0.5:
        calls = [
            ("f", '{"x": 1}'), ("f", "{"), ("g", '{"x": {"y": [1]}}'), ("search_hotel", '{"city": "Rome"}')
        ]  # fmt: skip
        said["tool_calls"] = [
            {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": given}}
            for n, (name, given) in enumerate(chance.sample(calls, chance.randint(1, 3)))
        ]
    if chance.random() < 0.1:
        said["refusal"] = "no"
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    ended = chance.choice(["stop", "stop", "tool_calls", "length", "content_filter"])
    return {
        "id": "x", "object": "chat.completion", "created": 1, "model": "served", "usage": usage,
        "choices": [{"index": 0, "finish_reason": ended, "message": said}],
    }  # fmt: skip


def _marked(value: Any, chance: random.Random) -> tuple[Any, list[str]]:
    """The data with some of its parts replaced by marks, and the marks."""
    places: list[tuple[Any, Any]] = []

    def walk(inner: Any) -> None:
        for key in inner if isinstance(inner, dict) else range(len(inner)) if isinstance(inner, list) else ():
            places.append((inner, key))
            walk(inner[key])

    walk(value)
    marks = [f"@mark{n}@" for n in range(chance.choice([0, 1, 1, 1, 2, 4]))]
    for mark, (holder, key) in zip(marks, chance.sample(places, min(len(marks), len(places))), strict=False):
        holder[key] = mark
    return value, marks


def body(chance: random.Random) -> bytes:
    """A body: mostly a completion with some parts replaced, then perhaps damaged."""
    kind = chance.random()
    if kind < 0.08:
        return chance.choice(ODD).encode()
    if kind < 0.14:
        return b'{"error": ' + chance.choice(ODD).encode() + b"}"
    value, marks = _marked(completion(chance), chance)
    text = json.dumps(value, ensure_ascii=chance.random() < 0.8)
    for mark in marks:
        text = text.replace(json.dumps(mark), chance.choice(ODD))
    data = text.encode("utf-8", "surrogatepass")
    if kind < 0.2:
        data = b"".join(b"data: " + data[at : at + 80] + b"\n\n" for at in range(0, min(len(data), 4000), 80))
    if chance.random() < 0.3:
        data = mutated(data, chance)
    if chance.random() < 0.05:
        data = data.decode("utf-8", "replace").encode(chance.choice(["utf-16", "utf-7", "utf-32"]))
    return gzip.compress(data) if chance.random() < 0.03 else data


def mutated(data: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.randint(1, 4)):
        at = chance.randint(0, len(data))
        end = min(len(data), at + chance.choice([1, 1, 2, 5, 20, 100]))
        piece, many = chance.choice(PIECES), data[at:end] * chance.choice([2, 50, 500])
        byte = bytes([chance.randint(0, 255)])
        rest = [data[end:], piece + data[at:], piece + data[end:], b"", byte + data[end:], many + data[end:]]
        data = data[:at] + chance.choice(rest)
    return data


def chunked(data: bytes, chance: random.Random) -> bytes:
    """The body in chunks, sometimes with sizes that are wrong."""
    out, at = b"", 0
    while at < len(data):
        piece = data[at : at + chance.choice([1, 10, 100, 5000, 100_000])]
        size = f"{len(piece):x}"
        odd = ["-1", "", "g", "f" * 17, "f" * 300, "0x1", size + ";" + "e" * 100, size.upper() + " "]
        size = chance.choice(odd) if chance.random() < 0.05 else size
        out += size.encode() + b"\r\n" + piece + b"\r\n"
        at += len(piece)
    ends = [b"0\r\nX: y\r\n\r\n", b"0\r\n" + b"X: y\r\n" * 3000 + b"\r\n", b"", b"0"]
    return out + chance.choice([b"0\r\n\r\n"] * 6 + ends)


def answer(chance: random.Random) -> Answer:
    """One answer: a head, mostly of a success, and a body."""
    data = body(chance)
    status = STATUS[0] if chance.random() < 0.6 else chance.choice(STATUS)
    heads = [chance.choice(HEADERS) for _ in range(chance.choice([0, 0, 0, 1, 1, 3]))]
    if chance.random() < 0.02:
        heads += [b"X-%d: y" % n for n in range(chance.choice([101, 5000]))]
    named = b" ".join(heads).lower()
    if chance.random() < 0.2 and b"transfer-encoding" not in named:
        heads.append(b"Transfer-Encoding: chunked")
        data = chunked(data, chance)
    elif b"content-length" not in named and chance.random() < 0.95:
        heads.append(b"Content-Length: %d" % (len(data) + chance.choice([0] * 12 + [-1, 1, 10**9])))
    if chance.random() < 0.5:
        heads.append(b"Content-Type: application/json")
    chance.shuffle(heads)
    head = b"\r\n".join([status, *heads]) + b"\r\n\r\n"
    if chance.random() < 0.04:
        early = [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n"]
        head = chance.choice(early) * chance.choice([1, 3, 4000]) + head
    if chance.random() < 0.08:
        head = mutated(head, chance)
    how = chance.choice(HOW)
    if how == "endless" and chance.random() < 0.5:  # the head itself, or its last line, has no end
        again = (b"HTTP/1.1 100 Continue\r\n\r\n",)
        more = [(head[:-2], b"X-A: b\r\n"), (head[:-2] + b"X-A: ", b"b"), again]
        return Answer(chance.choice(more), how)
    return Answer((head, data), how)


def main() -> int:
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
