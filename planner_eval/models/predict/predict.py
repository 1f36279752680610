"""Models run on samples."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Collection, Coroutine, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from planner_eval.base.errors import (
    FUNCTION,
    MAPPING,
    NAME,
    PATH,
    POSITIVE_COUNT,
    InputError,
    expect,
    expect_or_none,
    instance_of,
)
from planner_eval.benchmarks.benchmark import asking_of
from planner_eval.comparison.evaluate import Progress
from planner_eval.execution.run import tool_source
from planner_eval.execution.sandbox.sandbox import Sandbox
from planner_eval.models.client import Bridge
from planner_eval.models.judges import (
    Endpoint,
    close_model,
    model_of,
    name_of,
    refuse_uncached,
    refuse_unready,
)
from planner_eval.models.pipelines.candidates import ToolChoice
from planner_eval.models.pipelines.demonstrations import ShotOptions
from planner_eval.models.pipelines.pipeline import NO_FIELDS, Fields
from planner_eval.models.pipelines.setup import Setup, refuse_sampling, sampling_of
from planner_eval.models.predict.folder import JOURNAL_PATH, describe_asking, finish, open_journal
from planner_eval.models.predict.prepare import Prepared, prepare_run
from planner_eval.models.predict.run import (
    AskOptions,
    Job,
    Journal,
    Row,
    finished_rows,
    job_keys,
    run_jobs,
    unique_keys,
)
from planner_eval.models.replies import Model
from planner_eval.reading.files.context import DEMONSTRATIONS_FIELD
from planner_eval.results.runs.folder import Input
from planner_eval.results.runs.worker import InterruptOnSignal


def _ignore(*_progress: Any) -> None:
    """Nobody wants to know."""


_DEFAULT_SETUP = Setup()
_DEFAULT_ENDPOINT = Endpoint()


def first_requests(
    prepared: Prepared,
    *,
    sampling: Fields = NO_FIELDS,
    tools: Any = None,
    isolation: str | None = None,
    say: Callable[[str], None] = lambda message: None,
) -> Iterator[Row]:
    """The first request of each sample with its length in characters; nothing is asked.

    Args:
        prepared: What :func:`prepare_run` gave.
        sampling: What requests say beside the usual.
        tools: What the calls of demonstrations are made with, where a pipeline shows what they came to.
        isolation: Where these tools run.
        say: Is told what is known only once demonstrations' calls were made.

    >>> ready = prepare_run([{"id": "a", "query": "Now?"}], catalog=[{"name": "now", "description": "Now."}])
    >>> [request["stage"] for request in first_requests(ready)]
    ['plan']
    """
    chosen = _sampling(prepared, sampling)
    with _open_tools(prepared, tools, isolation) as sandbox:
        box = sandbox if prepared.pipeline.name == "react" else None
        for sample, request in prepared.first_requests(box, say=say):
            if isinstance(request, str):
                yield {"id": sample.id, "error": {"code": "failed", "message": request}}
                continue
            record: Row = {"id": sample.id, "stage": request.stage, "messages": list(request.messages)}
            record |= {"tools": list(request.tools)} if request.tools else {}
            record |= {"constraint": dict(request.constraint)} if request.constraint else {}
            size = sum(len(str(message.get("content") or "")) for message in request.messages)
            size += len(json.dumps(list(request.tools), ensure_ascii=False)) if request.tools else 0
            offer = prepared.offers.get(sample.id)
            record |= {} if offer is None else {"distractors": offer.others}
            record |= prepared.beside(sample)
            yield record | {"sampling": {**chosen, **request.sampling}, "characters": size}


def predict(  # noqa: PLR0913 - the options of a public function
    samples: Any,
    model: str | Model,
    *,
    cache: str | None = None,
    ids: Collection[str] | None = None,
    pipeline: str | None = None,
    benchmark: str | None = None,
    catalog: Any = None,
    tools: Any = None,
    setup: Setup = _DEFAULT_SETUP,
    shots: ShotOptions | None = None,
    choice: ToolChoice | None = None,
    categories: Sequence[str] = (),
    limit: int | None = None,
    isolation: str | None = None,
    endpoint: Endpoint = _DEFAULT_ENDPOINT,
    router: str | None = None,
    sampling: Fields = NO_FIELDS,
    repeat: int = 1,
    concurrency: int = 8,
    messages: bool = True,
    progress: Progress | None = None,
    seen: Callable[[Fields], None] | None = None,
    tell: Callable[[str], object] | None = None,
    out: str | os.PathLike[str] | None = None,
) -> Sequence[Row]:
    """Ask a model for the plans of samples.

    Args:
        samples: The name of a data set, a file of tasks of your own, or such tasks in memory; what
            :func:`prepare_run` gave is taken as it is.
        model: The model's name at the endpoint; or anything with a ``complete`` like
            :class:`planner_eval.models.replies.Model`.
        cache: The cache folder of data sets, where it is not the usual one.
        ids: Only the samples of these ids.
        pipeline: How to ask: ``"flat"``, ``"react"`` …; the data set's usual way when left out.
        benchmark: Whose data `samples` is, where that is a folder or a file of published data.
        catalog: The tools on offer, where the samples bring none.
        tools: What calls are made with, where the pipeline makes them; as for :func:`planner_eval.execute`.
        setup: What the pipeline is told: prompts, how tools are listed, examples.
        shots: Which demonstrations are shown.
        choice: Which tools are on offer, where not those that the samples have.
        categories: Only the samples of these categories, which may be patterns: ``live_*``.
        limit: Only so many samples, the first.
        isolation: Where these tools run.
        endpoint: How models are reached by name.
        router: The model that routes, where the pipeline has two stages; the same when left out.
        sampling: What requests say beside the usual, by name; None leaves something out.
        repeat: How often each sample is asked.
        concurrency: How many samples are in progress at a time.
        messages: Rows hold the messages of their requests, not only a hash.
        progress: Is told how many samples are done, and of how many.
        seen: Is given each row as soon as it is there.
        tell: Is told what is known only once demonstrations' calls were made.
        out: The folder of the run: the same call again goes on where it stopped.

    Returns:
        A row a sample, in their order: its id, the ``prediction``, what the stages came to, and its requests.
        A sample that could not be asked has a row that says why. Rows of a folder are those of all samples
        that were ever asked there, without those that were not sent to a server which had not answered
        others, and are read when they are looked at.

    Raises:
        InputError: something is wrong that can be known before anything is asked.
        ModelError: the model cannot be asked at all: the package or the key is missing.

    >>> from planner_eval.models.replies import Reply
    >>> class Echo:
    ...     async def complete(self, messages, tools=None, **sampling):
    ...         return Reply("now()")
    >>> tool = {"name": "now", "description": "The time."}
    >>> predict([{"id": "a", "query": "What time is it?", "tools": [tool]}], Echo())[0]["prediction"]
    'now()'
    """
    expect(instance_of(Endpoint, "Endpoint(…) of planner_eval.models.judges"), endpoint=endpoint)
    expect_or_none(NAME, router=router)
    expect_or_none(PATH, out=out)
    expect(MAPPING, sampling=sampling)
    expect(POSITIVE_COUNT, repeat=repeat, concurrency=concurrency)
    expect_or_none(FUNCTION, progress=progress, seen=seen, tell=tell)
    ready = samples
    if not isinstance(samples, Prepared):
        ready = prepare_run(
            samples, pipeline=pipeline, benchmark=benchmark, catalog=catalog,
            setup=setup, ids=ids, limit=limit, cache=cache, shots=shots, choice=choice,
            categories=categories,
        )  # fmt: skip
    chosen = _sampling(ready, sampling)
    if router is not None and not ready.pipeline.routes:
        raise InputError(
            f"--run router-model applies only with route-then-fill: {ready.pipeline.name} asks no router"
        )
    asking = AskOptions(
        model_of(model, endpoint),
        model_of(router, endpoint) if router else None,
        chosen,
        concurrency,
        messages,
    )
    rates = endpoint.rates(model, router)
    spec = tools if isinstance(tools, str) else None
    about = ready.about(model=name_of(model), router=router, sampling=chosen, repeat=repeat, tools=spec)
    folder = tempfile.TemporaryDirectory() if out is None else nullcontext(os.fspath(out))
    with folder as run_folder, _open_tools(ready, tools, isolation) as box:
        jobs = ready.jobs(box, repeat=repeat, say=tell or _ignore)
        pool = ready.pool
        shots_input = (
            None if pool is None else Input(DEMONSTRATIONS_FIELD, pool.source, len(pool.shots), pool.digest())
        )
        run = describe_asking(run_folder, ready.source, len(jobs), about, shots_input, ready.cache)
        if not os.path.exists(os.path.join(run_folder, JOURNAL_PATH)):  # nothing is left of what cannot begin
            for client in asking.models():
                refuse_uncached(client)
        with open_journal(run) as journal, InterruptOnSignal():
            run_coroutine(run_all(jobs, asking, journal, progress or _ignore, seen or _ignore))
            order = unique_keys(ready.every * repeat)
            rows = finish(run, order, journal, rates)
            return list(finished_rows(order, journal)) if out is None else rows


async def run_all(
    jobs: list[Job],
    asking: AskOptions,
    journal: Journal,
    tell: Callable[[int, int], None],
    seen: Callable[[Fields], None],
) -> None:
    """Ask every sample that the journal has no row of, and close what was opened for it.

    Args:
        jobs: The samples.
        asking: Whom to ask, and how.
        journal: What there is so far, entered.
        tell: Is told how many samples are done, and of how many.
        seen: Is given each row.
    """
    finished_count = sum(
        journal.finished(key, job.task) for key, job in zip(job_keys(jobs), jobs, strict=True)
    )
    tell(finished_count, len(jobs))

    def one_more(row: Fields) -> None:
        nonlocal finished_count
        finished_count += 1
        seen(row)
        tell(finished_count, len(jobs))

    opened = asking.models()
    try:
        for model in opened:
            if finished_count < len(jobs):
                refuse_unready(model)
        await run_jobs(jobs, asking, journal, tell=one_more)
    finally:
        for model in opened:
            await close_model(model)


def _sampling(ready: Prepared, changes: Fields) -> Row:
    """What every request asks with."""
    refuse_sampling(changes, ready.pipeline.name, constrained=ready.setup.constrain is not None)
    return sampling_of(ready.form, changes)


def _open_tools(ready: Prepared, tools: Any, isolation: str | None) -> AbstractContextManager[Any]:
    asking = asking_of(ready.form)
    if asking is not None:
        if tools is not None:
            raise InputError(f"--tools has no effect: {ready.form} makes its calls with its own tools")
        return asking.open_tools(ready.samples, isolation) or nullcontext()
    if not ready.pipeline.acts or ready.form == "complexfuncbench":
        if tools is not None:
            raise InputError(f"--tools has no effect: {ready.pipeline.name} makes no calls of {ready.form}")
        return nullcontext()
    spec = tools if tools is not None else "nestful" if ready.form == "nestful" else None
    if ready.pipeline.name != "react" and not ready.setup.makes_calls:
        return nullcontext()
    if spec is None:
        raise InputError(
            f"{ready.pipeline.name} makes calls: name the tools that make them with --tools SPEC"
        )
    return Sandbox(tool_source(spec), level=isolation)


def run_coroutine(work: Coroutine[Any, Any, None]) -> None:
    """Run to the end, also where a loop runs already, as in a notebook."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
        return

    async def nothing() -> None:
        pass

    Bridge(nothing).run(work)
