"""Model servers that are broken or hostile: each command ends, and says why; a short run of the fuzzer."""

import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.fuzz_endpoints import COMMANDS, Case, Server, attempt, honest, of_text, prepare, tried
from tests.fuzz_endpoints import Answer as Raw
from tests.memory import measured, measures
from tests.modelserver import Answer, ModelServer, drip, endless, hang_up, message

pytestmark = measures

KEY = "sk-0123456789abcdef"
SAMPLES = ROOT / "data" / "samples"
TASKS = 12


@pytest.fixture
def server() -> Iterator[ModelServer]:
    pytest.importorskip("openai", reason="the llm extra is not installed")
    with ModelServer() as found:
        yield found


def planeval(*argv: str) -> tuple[subprocess.CompletedProcess[str], int]:
    """What a command did, and the most memory that it took in megabytes."""
    done, peak = measured(*argv, env=os.environ | {"OPENAI_API_KEY": KEY}, timeout=60)
    assert "Traceback" not in done.stderr, done.stderr
    assert KEY not in done.stdout + done.stderr
    return done, peak


def predict(server: ModelServer, folder: Path, *more: str) -> tuple[subprocess.CompletedProcess[str], int]:
    tool = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}
    tasks = folder / "tasks.jsonl"
    rows = ({"id": f"t{n}", "query": f"question {n}", "tools": [tool], "gold": "f()"} for n in range(TASKS))
    tasks.write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = ("--timeout", "2", "--deadline", "3", "--retries", "1", "-o", str(folder / "run"))
    return planeval("predict", str(tasks), "--model", "m", "--url", server.url, *options, *more)


def judge(server: ModelServer, folder: Path) -> tuple[subprocess.CompletedProcess[str], int]:
    argv = (str(SAMPLES / "answers" / "functionchat.jsonl"), str(SAMPLES / "functionchat"), "--benchmark")
    return planeval("score", *argv, "functionchat", "--judge", "m", "--judge-url", server.url)


def endless_head(line: bytes, pause: float) -> Callable[[BaseHTTPRequestHandler], None]:
    def act(handler: BaseHTTPRequestHandler) -> None:
        try:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while True:
                handler.wfile.write(line)
                time.sleep(pause)
        except OSError:
            handler.close_connection = True

    return act


def refused_at_length(handler: BaseHTTPRequestHandler) -> None:
    try:
        handler.send_response(401)
        handler.send_header("Content-Length", str(10**12))
        handler.end_headers()
        while True:
            handler.wfile.write(b" " * 65536)
    except OSError:
        handler.close_connection = True


NOBODY = "no connection|no answer before"
BAD: dict[str, tuple[Answer, str]] = {
    "a body without end": (Answer(act=endless), "longer than 8,388,608 bytes"),
    "a byte now and then": (Answer(act=drip), "no answer within"),
    "a line of the head now and then": (Answer(act=endless_head(b"X-A: a\r\n", 0.1)), "no answer within"),
    "a head without end": (Answer(act=endless_head(b"X-A: " + b"a" * 65536, 0)), NOBODY),
    "a refusal without end": (Answer(act=refused_at_length), "longer than 8,388,608 bytes"),
    "a packed body": (Answer(b"x", headers={"Content-Encoding": "gzip"}), "compressed with gzip"),
    "a body of brackets": (Answer(b"[" * 100_000), "no readable answer"),
    "a redirect in a circle": (Answer(b"", 307, {"Location": "/v1/chat/completions"}), NOBODY),
}


@pytest.mark.more
@pytest.mark.parametrize("name", BAD)
def test_predict_ends_and_says_why(name: str, server: ModelServer, tmp_path: Path) -> None:
    answer, said = BAD[name]
    server.answers = [answer]
    done, memory = predict(server, tmp_path)
    assert done.returncode == 3, done.stderr
    assert re.search(said, done.stderr), done.stderr
    assert not set("\x1b\x07") & set(done.stdout + done.stderr)
    rows = [json.loads(line) for line in (tmp_path / "run" / "rows.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == [f"t{n}" for n in range(TASKS)][: len(rows)]
    assert all(row["error"]["message"] for row in rows)
    assert len(server.bodies) <= 2 * TASKS * (4 if "circle" in name else 1)
    assert memory < 400


@pytest.mark.parametrize("ask", [predict, judge])
def test_no_redirect_leads_to_another_origin(ask: Any, server: ModelServer, tmp_path: Path) -> None:
    with ModelServer() as other:
        place = other.url.replace("http://", "http://user:word@")
        server.answers = [Answer(b"", 307, {"Location": f"{place}/chat/completions?key=hidden"})]
        done, _ = ask(server, tmp_path)
        assert other.bodies == []
    assert done.returncode == 3, done.stderr
    assert f"redirects to {other.url}/chat/completions: name that one" in done.stderr
    assert "word@" not in done.stderr
    assert "hidden" not in done.stderr
    assert len(server.bodies) <= TASKS


def test_what_was_answered_is_kept_when_a_server_dies(server: ModelServer, tmp_path: Path) -> None:
    server.script = lambda _body, number: message("ok") if number < 15 else Answer(act=hang_up)
    done, _ = predict(server, tmp_path, "--concurrency", "1", "--retries", "0", "--repeat", "2")
    assert (done.returncode, len(server.bodies)) == (1, 15 + 8), done.stderr
    rows = [json.loads(line) for line in (tmp_path / "run" / "rows.jsonl").read_text().splitlines()]
    assert sorted(row["error"] is not None for row in rows) == [False] * 15 + [True] * 8  # none unsent
    for command, option, stream in (("score", (), "stderr"), ("table", ("--gold",), "stdout")):
        done, _ = planeval(command, str(tmp_path / "run"), *option, str(tmp_path / "tasks.jsonl"))
        note = "1 repetition never sent: not counted, but in pass^k where other tasks have more"
        assert note in getattr(done, stream)
        assert "8 answers incomplete count as wrong" in getattr(done, stream)
        assert "1 missing trial, counted as wrong" in done.stdout


CASES = sorted((ROOT / "tests" / "cases" / "fuzzed_endpoints").glob("*.json"))
SERVERS = 15


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fuzzed")
    prepare(folder)
    return folder


@pytest.fixture(scope="module")
def raw() -> Iterator[Server]:
    with Server() as found:
        yield found


def test_whatever_a_server_answers_is_a_row_or_an_error_for_people(place: Path, raw: Server) -> None:
    found = [why for seed in range(SERVERS) if (why := attempt(seed, None, place, raw)) is not None]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_server_that_means_well_is_asked(command: str, place: Path, raw: Server) -> None:
    assert tried(Case(command, (honest(),)), command, None, place, raw) is None
    assert raw.asked or command != "fetch"


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_what_was_found_stays_mended(path: Path, place: Path, raw: Server) -> None:
    assert tried(of_text(path.read_text()), path.name, None, place, raw) is None


def test_the_fuzzer_sees_what_is_wrong(place: Path, raw: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that raises, and one that shows what it hears."""
    body = json.dumps({"error": "\x1b[2J"}).encode()
    head = b"HTTP/1.1 400 No\r\nContent-Length: %d\r\n\r\n" % len(body)
    assert tried(Case("flat", (Raw((head, body), "keep"),)), "", None, place, raw) is None

    def raises(*_: object, **__: object) -> None:
        raise KeyError("x")

    with monkeypatch.context() as wrong:
        wrong.setattr("planner_eval.models.client.read_completion", raises)
        assert "KeyError" in str(tried(Case("flat", (honest(),)), "", None, place, raw))
    monkeypatch.setattr("tests.fuzz_endpoints.KEY", "samples asked")
    assert "the key is on the terminal" in str(tried(Case("flat", (honest(),)), "", None, place, raw))
