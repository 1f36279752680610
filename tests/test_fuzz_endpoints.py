"""A short run of the fuzzer over servers' answers, always the same; and the mended finds of long ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.fuzz_endpoints import COMMANDS, Answer, Case, Server, attempt, honest, of_text, prepare, tried

CASES = sorted((ROOT / "tests" / "cases" / "fuzzed_endpoints").glob("*.json"))
SERVERS = 15

pytest.importorskip("openai", reason="the llm extra is not installed")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fuzzed")
    prepare(folder)
    return folder


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as found:
        yield found


def test_whatever_a_server_answers_is_a_row_or_an_error_for_people(place: Path, server: Server) -> None:
    found = [why for seed in range(SERVERS) if (why := attempt(seed, None, place, server)) is not None]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_server_that_means_well_is_asked(command: str, place: Path, server: Server) -> None:
    assert tried(Case(command, (honest(),)), command, None, place, server) is None
    assert server.asked or command != "fetch"


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_what_was_found_stays_mended(path: Path, place: Path, server: Server) -> None:
    assert tried(of_text(path.read_text()), path.name, None, place, server) is None


def test_the_fuzzer_sees_what_is_wrong(place: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that raises, one that shows what it hears, and one that never gives up."""
    body = json.dumps({"error": "\x1b[2J"}).encode()
    head = b"HTTP/1.1 400 No\r\nContent-Length: %d\r\n\r\n" % len(body)
    assert tried(Case("flat", (Answer((head, body), "keep"),)), "", None, place, server) is None

    def raises(*_: object, **__: object) -> None:
        raise KeyError("x")

    fuzzer = "tests.fuzz_endpoints"
    for said, broken in (
        ("KeyError", {"planner_eval.llm.client.read_completion": raises}),
        ("took", {f"{fuzzer}.PATIENT": -1.0, f"{fuzzer}.EACH": 0.0}),
        ("the key is on the terminal", {f"{fuzzer}.KEY": "samples asked"}),
    ):
        with monkeypatch.context() as wrong:
            for name, value in broken.items():
                wrong.setattr(name, value)
            assert said in str(tried(Case("flat", (honest(),)), "", None, place, server))
