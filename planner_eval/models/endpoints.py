"""How the models that are asked are reached."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache as remembered
from pathlib import Path
from typing import NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.models.cache import CachedModel
from planner_eval.models.client import Client, Pause
from planner_eval.models.predict.folder import Rates
from planner_eval.models.prices import price_of, read_prices
from planner_eval.models.replies import Model
from planner_eval.models.server import refuse_address


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
