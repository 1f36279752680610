"""One interface to model-based judging and matching: ask, and get a text back; and one to models under test.

Whatever wants a model's opinion takes a :class:`Judge` and calls ``ask``; it neither knows nor cares
whether an endpoint, a cache of earlier answers or a function of a test replies. What runs models takes a
:class:`Model` and awaits ``complete``, whose :class:`Reply` holds words and calls of tools.

    from planner_eval.llm import Judge, JudgeReply, JudgeRequest   # the interface; imports nothing heavy
    from planner_eval.llm import open_judge                        # endpoint, cache or both, by name
    from planner_eval.llm.endpoint import Endpoint                 # an OpenAI-compatible server
    from planner_eval.llm.client import Client                     # a model, asked many times at once
    from planner_eval.llm.kept import Kept                         # its answers in SQLite
    from planner_eval.llm.cache import Cache                       # SQLite; replay without a network
    from planner_eval.llm.templates import Prompted                # prompts of the user's own
    from planner_eval.llm.counted import Counted                   # how much was asked, and failed
    from planner_eval.llm import prompts                           # how a judge is asked and read
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner_eval.base.errors import InputError
from planner_eval.llm.protocol import (
    Judge,
    JudgeReply,
    JudgeRequest,
    Message,
    ScriptedJudge,
    Usage,
    request_key,
)
from planner_eval.llm.replies import Model, Prices, Reply, ToolCall

if TYPE_CHECKING:
    from pathlib import Path

    from planner_eval.llm.cache import Cache


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
    from planner_eval.llm.cache import Cache

    if replay:
        if cache is None:
            raise InputError("a replay needs the cache whose answers it replays")
        return _checked(Cache(cache, model=model))
    from planner_eval.llm.endpoint import DEADLINE, Endpoint

    endpoint = Endpoint(
        model,
        base_url=base_url,
        timeout=timeout,
        retries=retries,
        prices=Prices(*prices) if prices else None,
        deadline=DEADLINE if deadline is None else deadline,
    )
    return _checked(Cache(cache, endpoint, model=model)) if cache else endpoint


def _checked(cache: Cache) -> Cache:
    cache.check()
    return cache
