"""Judges behind endpoints and caches: one interface to model-based judging and matching.

Whatever wants a model's opinion takes a :class:`Judge` and calls ``ask``; it neither knows nor cares
whether an endpoint, a cache of earlier answers or a function of a test replies. What runs models takes a
:class:`Model` and awaits ``complete``, whose :class:`Reply` holds words and calls of tools.

    from planner_eval.benchmarks.judging import Judge, JudgeReply, JudgeRequest  # the interface
    from planner_eval.models.judges import open_judge  # endpoint, cache or both, by name
    from planner_eval.models.judges import Endpoint  # an OpenAI-compatible server
    from planner_eval.models.client import Client  # a model, asked many times at once
    from planner_eval.models.cache import Cache, Kept  # answers in SQLite; replay without a network
    from planner_eval.benchmarks.judging import Prompted  # prompts of the user's own
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache as remembered
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError, JudgeError, ModelError
from planner_eval.benchmarks.judging import Judge, JudgeReply, JudgeRequest
from planner_eval.models.cache import Cache, CachedModel
from planner_eval.models.client import Bridge, Client, Pause, refuse_address
from planner_eval.models.predict.folder import Rates
from planner_eval.models.replies import Model, Prices


# ----------------------------------------------------------------------
# One interface to model-based judging and matching: ask, and get a text back; and one to models under test.
def open_judge(  # noqa: PLR0913 - what a user may say of a server
    model: str,
    *,
    base_url: str | None = None,
    cache: Path | None = None,
    replay: bool = False,
    prices: tuple[float, float] | None = None,
    retries: int = 5,
    timeout: float = 60.0,
    deadline: float | None = None,
) -> Judge:
    """The judge that a user describes: an endpoint, with or without a cache, or a cache alone.

    Args:
        model: The model that judges; when replaying, the one that judged.
        base_url: The OpenAI-compatible server; None for the ``openai`` package's default.
        cache: The file that keeps the answers.
        replay: Answer from the cache alone, without a network.
        prices: What a million tokens of questions and of answers cost.
        retries: How many more times to ask after a failure that may pass.
        timeout: The longest silence of the server, in seconds.
        deadline: The longest time for one question in all, in seconds; a quarter of an hour when None.

    Raises:
        InputError: a replay without a cache.
        JudgeError: the cache is a file of another kind, or is not there to be replayed.
    """
    if replay and cache is None:
        raise InputError("a replay needs the cache whose answers it replays")
    rates = Prices(*prices) if prices else None
    endpoint = EndpointJudge(
        judge_client(
            model, base_url=base_url, timeout=timeout, retries=retries, prices=rates, deadline=deadline
        )
    )
    if cache is None:
        return endpoint
    cached = Cache(cache, None if replay else endpoint, model=model)
    cached.check()
    return cached


# ----------------------------------------------------------------------
# A judge that counts what it was asked, for whoever has to say what could not be had.
class CountedJudge:
    """Another judge, counted.

    Args:
        judge: Who answers.

    >>> from planner_eval.benchmarks.judging import ScriptedJudge
    >>> judge = CountedJudge(ScriptedJudge(lambda request: "pass"))
    >>> judge.ask(JudgeRequest("t", (("user", "ok?"),))).text, judge.asked, judge.failed
    ('pass', 1, 0)
    """

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.asked = 0
        self.failed = 0
        self.cost = 0.0  # of what was not answered from a cache, where prices are known
        self.reason = ""

    def ask(self, request: JudgeRequest) -> JudgeReply:
        """The judge's answer; the first reason for a failure is kept.

        Raises:
            JudgeError: as the judge.
        """
        self.asked += 1
        try:
            reply = self.judge.ask(request)
        except JudgeError as problem:
            self.failed += 1
            self.reason = self.reason or str(problem)
            raise
        self.cost += 0.0 if reply.cached else reply.usage.cost or 0.0
        return reply


# ----------------------------------------------------------------------
# A judge behind an OpenAI-compatible chat endpoint: :class:`.client.Client`, for callers that wait.
_MAX_UNANSWERED = 3
"""So many questions in a row without an answer are the end of a judge."""
DEADLINE = 900.0
"""Seconds for one question in all; a judge may be asked to wait for a minute several times."""


def judge_client(model: str, *, deadline: float | None = None, **options: Any) -> Client:
    """The client of a judge.

    One that says nothing to its first question, however often it is asked, is asked no other; nor is one
    that leaves three in a row without an answer, or refuses them for a wrong key, say: every further
    question would take as long.

    Args:
        model: The model to ask where a request names none.
        deadline: The longest time for one question in all, in seconds; :data:`DEADLINE` when None.
        options: What else :class:`Client` takes.
    """
    return Client(
        model,
        deadline=DEADLINE if deadline is None else deadline,
        patience=_MAX_UNANSWERED,
        first_patience=_MAX_UNANSWERED,
        silence_ends=True,
        words=True,
        who="the judge",
        jitter=float,
        **options,
    )


@dataclass(frozen=True)
class EndpointJudge:
    """An OpenAI-compatible chat endpoint.

    Args:
        client: Asks it, see :func:`judge_client`.
    """

    client: Client

    def ask(self, request: JudgeRequest) -> JudgeReply:
        """The endpoint's answer.

        Raises:
            JudgeError: the package is missing, the endpoint refuses, or it failed too often.
        """
        completion = self.client.complete(
            [{"role": role, "content": text} for role, text in request.messages],
            model=request.model or self.client.model,
            temperature=request.temperature,
            max_tokens=request.max_tokens or None,
        )
        try:
            reply = self._bridge.run(completion)
        except ModelError as problem:
            raise JudgeError(str(problem), code="missing" if problem.code == "missing" else "") from None
        return JudgeReply(reply.text, reply.model, reply.usage, tries=reply.tries)

    @cached_property
    def _bridge(self) -> Bridge:
        return Bridge(self.client.close)


# ----------------------------------------------------------------------
# How the models that are asked are reached.
class Endpoint(NamedTuple):
    """How models are reached.

    Args:
        url: The server; None for the ``openai`` package's default.
        timeout: The longest silence, in seconds.
        deadline: The longest time for one request in all, in seconds.
        retries: How many more times to ask after a failure that may pass.
        cache: The file that keeps every answer.
        replay: Answer from that file alone, without a network.
        prices: The file of what a million tokens of each model cost, see :mod:`planner_eval.models.prices`.
        paused: Is told of each pause before a request is asked again.
    """

    url: str | None = None
    timeout: float = 60.0
    deadline: float = 600.0
    retries: int = 5
    cache: str | os.PathLike[str] | None = None
    replay: bool = False
    prices: str | os.PathLike[str] | None = None
    paused: Callable[[Pause], None] | None = None

    def rates(self, model: str | Model, router: str | None) -> Rates | None:
        """What tokens cost; None where no prices were given.

        Raises:
            InputError: the file cannot be read, or lacks one of the models.
        """
        if self.prices is None:
            return None
        from planner_eval.models.prices import price_of, read_prices

        prices, where = read_prices(Path(self.prices)), os.fspath(self.prices)
        routing = None if router is None else price_of(router, prices, where)
        return Rates(price_of(name_of(model), prices, where), routing)


def refuse_uncached(model: Model) -> None:
    """Refuse a model whose answers are to come from a cache that is not there."""
    if isinstance(model, CachedModel):
        model.check()


def refuse_unready(model: Model) -> None:
    """Refuse a model that cannot be asked at all."""
    refuse_uncached(model)
    if isinstance(model, CachedModel):
        model = model.model or model
    if isinstance(model, Client):
        model.ready()


async def close_model(model: Model) -> None:
    """Close what a model has open."""
    if isinstance(model, CachedModel):
        model.close()
        model = model.model or model
    if isinstance(model, Client):
        await model.close()


def model_of(model: str | Model, endpoint: Endpoint) -> Callable[[int], Model]:
    """The model by the number of the repetition, which a cache keeps apart."""
    if endpoint.replay and endpoint.cache is None:
        raise InputError("a replay needs the cache whose answers it replays")
    backend: Model | None = None
    if not endpoint.replay:
        backend = _client(model, endpoint) if isinstance(model, str) else model
    path = endpoint.cache
    if path is None:
        assert backend is not None, "only a replay asks nobody"
        only: Model = backend
        return lambda repetition: only
    name = name_of(model)
    return remembered(lambda number: CachedModel(Path(path), backend, name=name, repetition=number))


def name_of(model: str | Model) -> str:
    """What a model is called."""
    return model if isinstance(model, str) else type(model).__name__


def _client(name: str, endpoint: Endpoint) -> Client:
    """The client; a server that is named may need no key, which the package wants all the same."""
    refuse_address(endpoint.url or os.environ.get("OPENAI_BASE_URL"))
    key = None if endpoint.url is None else os.environ.get("OPENAI_API_KEY") or "none"
    return Client(
        name, endpoint.url, key, endpoint.timeout, endpoint.deadline, endpoint.retries, paused=endpoint.paused
    )
