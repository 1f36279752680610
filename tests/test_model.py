"""Models under test: a local server that misbehaves, what a reply holds, kept answers."""

import asyncio
import contextlib
import gzip
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planner_eval.base.errors import ModelError
from planner_eval.benchmarks.judging import Usage
from planner_eval.models.cache import CachedModel
from planner_eval.models.client import Client, _add_jitter
from planner_eval.models.replies import Model, Prices, Reply, ToolCall
from tests.modelserver import Answer, ModelServer, drip, endless, half, hang_up, message

ASK = [{"role": "user", "content": "서울?"}]
KEY = "sk-very-secret-key"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    pytest.importorskip("openai", reason="the llm extra is not installed")
    with ModelServer() as server:
        yield server


def asked(server: ModelServer, count: int = 1, **more: Any) -> tuple[list[Reply | ModelError], list[float]]:
    """What so many requests one after the other gave, and the pauses that were made."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    sampling = more.pop("sampling", {})
    settings = {"retries": 3, "timeout": 5.0, "sleep": sleep, "jitter": float, "api_key": KEY} | more
    client = Client("m", server.url, **settings)

    async def run() -> list[Reply | ModelError]:
        found: list[Reply | ModelError] = []
        for _ in range(count):
            try:
                found.append(await client.complete(ASK, **sampling))
            except ModelError as problem:
                found.append(problem)
        await client.close()
        return found

    return asyncio.run(run()), pauses


def one(server: ModelServer, **options: Any) -> Reply | ModelError:
    return asked(server, **options)[0][0]


_CALL = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
OLDER = Answer({"choices": [{"message": _CALL}]})


@pytest.mark.parametrize(("answer", "text", "calls"), [
    (message("Done."), "Done.", []), (message(None, [("f", '{"a": 1}')]), "", [("f", '{"a": 1}')]),
    (message("I call f.", [("f", "{}"), ("g", "{broken")]), "I call f.", [("f", "{}"), ("g", "{broken")]),
    (message(None), "", []), (message(""), "", []),
    (message([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, 7]), "ab", []),
    (message(None, [("f", {"a": "서"})]), "", [("f", '{"a": "서"}')]),
    (message(None, [(None, None)]), "", [("", "")]), (OLDER, "", [("f", "{}")]),
])  # fmt: skip
def test_words_and_calls_are_both_kept(server: ModelServer, answer: Answer, text: str, calls: Any) -> None:
    server.answers = [answer]
    tools = [{"type": "function", "function": {"name": "f"}}]
    reply = one(server, sampling={"tools": tools, "temperature": 0.0, "max_tokens": 7, "top_p": None})
    assert isinstance(reply, Reply)
    assert (reply.text, [(call.name, call.arguments) for call in reply.tool_calls]) == (text, calls)
    assert server.bodies == [dict(model="m", messages=ASK, tools=tools, temperature=0.0, max_tokens=7)]
    server.answers = [message("cut", finish="length")]
    reply = one(server, prices=Prices(2.0, 10.0))
    assert reply == Reply("cut", (), Usage(10, 2, 0.00004), "length", "served", 1)


@pytest.mark.parametrize("bad", [
    *(Answer(status=status) for status in (500, 503, 429, 408, 409)),
    *(Answer(body) for body in (b"<html>", b"", b"[" * 9999, b'{"choices": []}', b"7")),
    Answer({"choices": [{"message": None}]}), *(Answer(act=act) for act in (half, hang_up)),
    Answer(gzip.compress(b"{}"), headers={"Content-Encoding": "gzip"}),
])  # fmt: skip
def test_what_may_pass_is_asked_again(server: ModelServer, bad: Answer) -> None:
    server.answers = [bad, bad, message("fine")]
    (reply,), pauses = asked(server)
    assert isinstance(reply, Reply), reply
    assert (reply.text, reply.tries, pauses) == ("fine", 3, [1.0, 2.0])


def test_a_pause_that_the_server_asks_for_is_kept_and_others_are_spread(server: ModelServer) -> None:
    for header, pause in (("7", 7), ("Wed, 21 Oct 2015 07:28:00 GMT", 1), ("9999", 60), ("soon", 1)):
        server.answers = [Answer(status=429, headers={"Retry-After": header}), message("fine")]
        assert asked(server)[1] == [pause]
    drawn = {_add_jitter(2.0) for _ in range(50)}
    assert len(drawn) > 10
    assert all(2.0 <= pause <= 3.0 for pause in drawn)


@pytest.mark.parametrize("act", [drip, endless])
def test_a_body_without_an_end_ends(server: ModelServer, act: Any) -> None:
    server.answers = [Answer(act=act)]
    before = time.monotonic()
    problem = one(server, retries=1, deadline=0.5, max_bytes=10**6)
    assert isinstance(problem, ModelError)
    assert time.monotonic() - before < 30
    assert ("in total" in str(problem)) == (act is drip)
    assert ("longer than 1,000,000 bytes" in str(problem)) == (act is endless)


def test_a_refusal_is_not_asked_again_and_shows_no_key(server: ModelServer) -> None:
    said = {"error": {"message": f"no such\u202e key {KEY}\n\n" + "y" * 2000}}
    long = {"error": {"message": "This model's maximum context length is 4096 tokens.", "code": "x"}}
    asked_for = [(Answer(said, status=401), "refused"), (Answer(long, status=400), "context")]
    for answer, code in [*asked_for, (Answer(b"x" * 3_000_000, status=400), "transport")]:
        server.answers, before = [answer], len(server.bodies)
        problem = one(server, max_bytes=10**6, retries=0 if code == "transport" else 3)
        assert isinstance(problem, ModelError)
        assert (len(server.bodies) - before, problem.code) == (1, code)
        assert KEY not in str(problem)
        assert "\u202e" not in str(problem)
        assert len(str(problem)) < 700
    assert "secret" not in repr(Client("m", api_key="secret"))


def test_a_model_that_stops_answering_is_given_up_but_not_for_bad_requests(server: ModelServer) -> None:
    server.answers = [message("one"), Answer(status=500)]
    found, _ = asked(server, count=6, retries=1, patience=2)
    assert len(server.bodies) == 1 + 2 * 2
    assert [str(each) for each in found[3:]] == ["the model m is not asked again: status 500"] * 3
    server.answers = [message("one"), *[Answer({"error": {"message": "no"}}, status=400)] * 4, message("two")]
    found, _ = asked(server, count=6, patience=2)
    assert isinstance(found[-1], Reply)


def test_nobody_there_is_said_without_the_password() -> None:
    pytest.importorskip("openai", reason="the llm extra is not installed")
    client = Client("m", "http://user:pass@127.0.0.1:9/v1", api_key=KEY, retries=0)

    async def ask() -> None:
        try:
            await client.complete(ASK)
        finally:
            await client.close()

    with pytest.raises(ModelError, match="no connection") as caught:
        asyncio.run(ask())
    assert "pass" not in str(caught.value)


def test_a_missing_key_or_package_is_said(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    problem = one(server, api_key=None)
    assert isinstance(problem, ModelError)
    assert (problem.code, "OPENAI_API_KEY" in str(problem)) == ("missing", True)
    monkeypatch.setitem(__import__("sys").modules, "openai", None)
    problem = one(server)
    assert isinstance(problem, ModelError)
    assert "planner_eval[llm]" in str(problem)


class Counting:
    def __init__(self) -> None:
        self.asked = 0

    async def complete(self, messages: Any, tools: Any = None, **sampling: Any) -> Reply:
        self.asked += 1
        return Reply("a", (ToolCall("1", "f", "{}"),), Usage(1, 2, None), "stop", "m")


def complete(model: Model, *arguments: Any, **sampling: Any) -> Reply:
    async def run() -> Reply:
        return await model.complete(*arguments, **sampling)

    return asyncio.run(run())


def test_what_was_answered_once_needs_no_model_again(tmp_path: Path) -> None:
    path, model = tmp_path / "deep" / "m.sqlite", Counting()
    kept = CachedModel(path, model, name="m")
    first = complete(kept, ASK, temperature=0.0)
    again = complete(kept, ASK, temperature=0.0, top_p=None)
    kept.close()
    replayed = complete(CachedModel(path, name="m"), ASK, temperature=0.0)
    assert (first.cached, again.cached, replayed.cached, model.asked) == (False, True, True, 1)
    assert replayed.tool_calls == first.tool_calls
    assert all(isinstance(each, Model) for each in (Client("m"), kept, model))


@pytest.mark.parametrize("change", ["tools", "temperature", "messages", "name", "repetition"])
def test_the_whole_request_is_the_key(tmp_path: Path, change: str) -> None:
    model = Counting()
    with contextlib.closing(CachedModel(tmp_path / "m.sqlite", model, name="m")) as kept:
        complete(kept, ASK, None, temperature=0.0)
    name, repetition = ("n" if change == "name" else "m"), int(change == "repetition")
    with contextlib.closing(
        CachedModel(tmp_path / "m.sqlite", model, name=name, repetition=repetition)
    ) as kept:
        tools = [{"name": "f"}] if change == "tools" else None
        messages = [*ASK, *ASK] if change == "messages" else ASK
        complete(kept, messages, tools, temperature=0.1 if change == "temperature" else 0.0)
    assert model.asked == 2


def test_a_replay_says_what_it_lacks(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite"
    with pytest.raises(ModelError, match="no such cache"):
        CachedModel(path, name="m").check()
    filled = CachedModel(path, Counting(), name="big")
    complete(filled, ASK)
    filled.close()
    with pytest.raises(ModelError, match=r"model 'small' \(it holds answers of 'big'\)"):
        complete(CachedModel(path, name="small"), ASK)
