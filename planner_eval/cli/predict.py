"""planeval predict: ask a model for the plans of samples."""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.text import format_count, to_json
from planner_eval.cli.options import (
    COUNT,
    WHOLE,
    as_command,
    bundle_options,
    dialect_option,
    note,
    option,
    refuse_idle,
    split_setting,
)
from planner_eval.cli.output import emit
from planner_eval.cli.sources import request_options
from planner_eval.cli.terminal import make_counter, refuse_targets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from planner_eval.models.client import Pause
    from planner_eval.models.judges import Endpoint
    from planner_eval.models.pipelines.setup import Setup
    from planner_eval.models.predict.folder import Rates


# ----------------------------------------------------------------------
# What planeval predict says of its run: while it goes on, and at the end.
_MIN_BUSY_PAUSE, _MIN_PAUSE = 1.0, 5.0
"""Seconds that are worth a word: of a pause that a busy server causes, and of another."""


class PredictProgress:
    """What is done, what it took and what waits: a line on a terminal, elsewhere one every ten seconds.

    Args:
        rates: What tokens cost; None where that is not wanted.
        what: What is counted, in the plural.
    """

    def __init__(self, rates: Rates | None, what: str = "samples") -> None:
        self.rates, self.what = rates, what
        self.counter = make_counter(what)
        self.tokens, self.uncounted, self.cost = (0, 0), 0, 0.0
        self.unasked: list[str] = []
        self.limited = 0
        self.waits: list[tuple[float, str]] = []
        self.long = False

    def __call__(self, completed: int, total: int) -> None:
        """Take note of how many samples are done."""
        self._words()
        self.counter(completed, total)
        self._note()

    def seen(self, row: Mapping[str, Any]) -> None:
        """Take note of what a row took."""
        from planner_eval.models.predict.folder import run_totals

        totals = run_totals([row], self.rates)
        self.tokens = (self.tokens[0] + totals.tokens[0], self.tokens[1] + totals.tokens[1])
        self.cost += totals.cost or 0
        self.uncounted += totals.uncounted
        self.unasked += totals.reasons.values() if totals.unasked else ()  # of one row

    def paused(self, pause: Pause) -> None:
        """Take note of a request that waits; a pause of some length is told at once."""
        now = time.monotonic()
        self.limited += pause.limited
        self.waits = [w for w in self.waits if w[0] > now]
        self.waits.append((now + pause.seconds, pause.reason))
        if pause.seconds < (_MIN_BUSY_PAUSE if pause.limited else _MIN_PAUSE):
            return
        self._words()
        self.counter.show(self.counter.said)
        self._note(**({} if self.long else {"seconds": 0.0}))
        self.long = True

    def _words(self) -> None:
        least = "at least " if self.uncounted else ""
        phrases = [f"{self.what}{tokens_text(self.tokens, least)}"]
        phrases += [f"cost {least}{self.cost:,.2f}"] if self.rates is not None else []
        now = time.monotonic()
        if waits := [w for w in self.waits if w[0] > now]:
            last, why = max(waits)
            wait = "request waits" if len(waits) == 1 else "requests wait"
            phrases.append(f"{len(waits):,} {wait}, {last - now:.0f} s at most ({why})")
        phrases += [f"{format_count(self.limited, 'answer')} of 429 so far"] if self.limited else []
        self.counter.what = ", ".join(phrases)

    def _note(self, **how: float) -> None:
        if self.counter.hidden:
            self.counter.note(time.monotonic(), lambda: self.counter.said, **how)


def tokens_text(tokens: tuple[int, int], least: str) -> str:
    """How many tokens were sent and received, to follow what was counted; "" for none."""
    return f", {least}{tokens[0]:,} tokens in and {tokens[1]:,} out" if any(tokens) else ""


def amount_text(amount: float) -> str:
    """An amount of money, without zeros at its end."""
    return f"{amount:,.6f}".rstrip("0").rstrip(".")


@contextmanager
def resumable(progress: PredictProgress, home: Any) -> Iterator[None]:
    """Have an interrupt say where the answers so far are kept, and the line of the progress taken away."""
    try:
        yield
    except KeyboardInterrupt as stop:
        stop.add_note(f"; what was answered is kept in {home}: the same command resumes from there")
        raise
    finally:
        progress.counter.clear()


def say_run(
    rows: Iterable[Mapping[str, Any]],
    folder: str,
    pipeline: str,
    progress: PredictProgress,
    *,
    requested: int,
) -> int:
    """Say what the run came to; the exit code.

    Args:
        rows: All that the folder holds.
        folder: The run's.
        pipeline: How it was asked.
        progress: What was noted on the way.
        requested: How many of the samples this command asked for.
    """
    from planner_eval.models.predict.folder import run_totals
    from planner_eval.reading.files.context import ROWS_FILE

    totals = run_totals(rows, progress.rates)
    message = f"{format_count(totals.samples, 'sample')} asked with {pipeline}: {totals.answered:,} answered"
    message += "".join(f", {count:,} {code}" for code, count in totals.failed.items())
    least = "at least " if totals.uncounted else ""
    message += f"; {format_count(totals.requests, 'request')}{tokens_text(totals.tokens, least)}"
    message += f", cost {least}{amount_text(totals.cost)}" if totals.cost is not None else ""
    emit(f"{message}\n{os.path.join(folder, ROWS_FILE)}\n", None)
    if before := totals.samples + len(progress.unasked) - requested:
        note(
            f"{format_count(before, 'sample')} of these {'was' if before == 1 else 'were'} asked in an "
            "earlier run"
        )
    note(*(f"{code}: {reason}" for code, reason in totals.reasons.items()))
    if totals.cost is not None and totals.uncounted:
        requests = format_count(totals.uncounted, "request")
        note(f"the server did not report all the tokens of {requests}, so the cost is higher")
    if progress.long and progress.limited:
        answers = format_count(progress.limited, "time")
        note(f"the server answered {answers}: too many requests (429): lower --run concurrency=N")
    if "context" in totals.failed:
        note("--run budget=TOKENS offers only as many tools as fit, where the data set lists tools")
    if totals.again:
        which = "a command for all of them" if before else "the same command"
        note(f"{which} asks {format_count(totals.again, 'sample')} again")
    if progress.unasked:
        not_sent = format_count(len(progress.unasked), "sample")
        note(f"{not_sent} not asked yet, which the same command asks first: {progress.unasked[0]}")
    return 3 if not totals.answered else int(bool(totals.failed or progress.unasked))


# ----------------------------------------------------------------------
# What the options of ``predict`` ask for.
def parse_setting(text: str) -> tuple[str, Any]:
    """One ``NAME=VALUE`` of sampling; none leaves something out."""
    name, value = split_setting(text, ", e.g. temperature=0.5")
    try:
        return name, json.loads("null" if value == "none" else value)
    except ValueError:
        return name, value


def _prepare_options(
    *,
    data_cache: str | None,
    shots: int | None,
    demos: str | None,
    demo_by: str | None,
    near: bool,
    distractors: int | None,
    closeness: str | None,
    budget: int | None,
    seed: int | None,
    **options: Any,
) -> dict[str, Any]:
    """What is prepared, as the library takes it: samples, demonstrations, and the tools on offer."""
    options["cache"] = data_cache  # that of requests is another
    if shots is not None:
        from planner_eval.models.pipelines.demonstrations import ShotOptions

        options["shots"] = ShotOptions(shots, demo_by or "query", demos, seed or 0, near)
    if distractors is not None or budget is not None:
        from planner_eval.models.pipelines.candidates import ToolChoice

        options["choice"] = ToolChoice(distractors, closeness or "random", budget, seed or 0)
    return options


def _make_setup(
    model: str | None,
    prompts: str | None,
    prompts_for: str | None,
    constrain: str | None,
    server: str | None,
    max_calls: int | None,
    **options: Any,
) -> Setup:
    """What the pipeline is told."""
    from planner_eval.models.pipelines.setup import Constraint, Setup, our_prompts, read_prompts

    if constrain is not None:
        options["constrain"] = Constraint(constrain, server or "vllm", max_calls or 8)
    texts = read_prompts(Path(prompts), prompts_for or model) if prompts else our_prompts()
    return Setup(texts, **{name: value for name, value in options.items() if value is not None})


# ----------------------------------------------------------------------
# planeval predict: ask a model for the plans of samples.
_PREPARING_OPTIONS = (
    "pipeline", "benchmark", "catalog", "ids", "limit", "categories", "data_cache", "shots", "demos",
    "demo_by", "near", "distractors", "closeness", "budget", "seed",
)  # fmt: skip
_ASKING_OPTIONS = ("router", "repeat", "concurrency", "tools", "isolation")


@as_command("predict", samples="DATASET|TASKS")
@bundle_options("prepared", _prepare_options, _PREPARING_OPTIONS)
@bundle_options("asked", dict, _ASKING_OPTIONS)
@option("--model NAME", "The model's name on its server.")
@option("--url URL", "The model's OpenAI-compatible server (default: OPENAI_BASE_URL).")
@option("--pipeline NAME", "How to ask (default: the data set's usual pipeline).")
@option("--benchmark NAME", "The benchmark whose data DATASET is, if it is a folder or file.")
@option("--catalog FILE", "The tools to offer, if the samples have none.")
@option("--router-model NAME", "With route-then-fill: the model that chooses the tools.", "router")
@option("--tools SPEC", "Run the model's calls with these tools; SPEC is as in planeval execute.")
@option(
    "--max-steps N", "The most rounds of calls per sample (default: 10; stepwise: 200).", "steps", type=COUNT
)
@option("--isolation LEVEL")
@dialect_option("--dialect", "With flat, the notation to ask for, for tasks of your own: json …")
@option("--constrain [schema|grammar]", "Have the server constrain answers to plans of the offered tools.")
@option("--server NAME", "The engine that takes the grammar: vllm (default), llama.cpp, sglang …")
@option(
    "--max-calls N", "With --constrain: the most calls of a plan (default: 8).", type=click.IntRange(1, 64)
)
@option("--list-form FORM", "The format of the tool list: json, docstring, yaml …", "listing")
@option("--official", "Reproduce quirks of the published code that change scores.")
@option("--explain-references", "Explain in the prompt how to refer to earlier results.")
@option("--today DATE", "The current date in AppBench's instructions.")
@option("--history [gold|own]", "With dialog: whose earlier turns (default: gold's).")
@option("--shots K", "Show K demonstrations.", type=COUNT)
@option(
    "--demos FILE", "Take demonstrations from this source: data of the same benchmark, or tasks with answers."
)
@option(
    "--demo-by [query|structure|random|first|gold-apps]",
    "Choose demonstrations by similar questions (query), one of each structure, at random, the first, or "
    "by gold's apps, which leaks gold.",
)
@option("--near-duplicates", "Allow demonstrations that repeat the sample's question up to values.", "near")
@option("--distractors N", "Offer gold's tools and N other tools.", type=WHOLE)
@option(
    "--closeness [random|close|same-signature]",
    "Which other tools to offer: any, or those with words or parameters in common with gold's.",
)
@option("--budget TOKENS", "Offer only as many other tools as fit.", type=COUNT)
@option("--seed N", "The random seed (default: 0).", type=WHOLE)
@option("--prompts DIR", "A folder of prompts to use instead of the built-in ones.")
@option("--prompts-for NAME", "Which model NESTful's published prompt is for; --model if left out.")
@option("--id ID...", "Only the sample with this id.", "ids")
@option("--category NAME...", "Only samples of this category, or of a pattern: live_*.", "categories")
@option("--limit N", "Only the first N samples.", type=COUNT)
@option("--repeat N", "How often to ask each sample.", type=COUNT, default=1)
@request_options("Samples")
@option("--data-cache FOLDER", "The cache folder of data sets.")
@option("--no-messages", "Store hashes of the messages instead of the messages.")
@option("--dry-run", "Print each sample's first request without sending it.")
@option("-o --output FOLDER", "The folder of the run; the same command resumes it.")
def command(
    samples: str,
    model: str | None,
    prepared: dict[str, Any],
    asked: dict[str, Any],
    endpoint: Endpoint,
    settings: tuple[str, ...],
    no_messages: bool,
    dry_run: bool,
    output: str | None,
    **setup_options: Any,
) -> int:
    """Ask a model to plan the tasks of a published data set, or your own.

    DATASET is the name of a data set, or with --benchmark a folder or file of its data. TASKS is a file of
    JSON lines with a question ("query", "input" …) or "messages", an id, and "tools" unless --catalog names
    them. -o names the folder of the run, which stores every reply at once; planeval score RUN reads it, and
    the same command resumes it. Prompts never depend on gold.
    Exit code: 0 all samples answered; 1 some not answered; 2 usage error; 3 none answered.
    """
    from planner_eval.models.predict import predict
    from planner_eval.models.predict.prepare import prepare_run

    tools, isolation, constrain = asked["tools"], asked["isolation"], setup_options["constrain"]
    offering, shooting = "choice" in prepared, "shots" in prepared
    ran = isolation is None or tools is not None or _can_run_answers(prepared["benchmark"] or samples)
    refuse_idle(
        ("replay", endpoint.cache is not None, "with --cache"),
        ("server", constrain == "grammar", "with --constrain grammar"),
        ("max_calls", constrain is not None, "with --constrain"),
        ("demos demo_by near", shooting, "with --shots K"),
        ("prompts_for", setup_options["prompts"] is not None, "with --run prompts=DIR"),
        ("closeness", offering, "with --run distractors=N"),
        ("seed", shooting or offering, "with --shots, --run distractors or --run budget"),
        ("isolation", ran, "with --tools"),
        ("router cache prices concurrency repeat output", not dry_run, "without --dry-run"),
    )
    refuse_targets(click.get_current_context())
    sampling = dict(map(parse_setting, settings))
    setup = _make_setup(model, **setup_options, makes_calls=tools is not None)
    ready = prepare_run(samples, setup=setup, **prepared)
    note(*ready.notes)
    if dry_run:
        requests = predict.first_requests(
            ready, sampling=sampling, tools=tools, isolation=isolation, say=note
        )
        return _print_requests(list(requests))
    if model is None or output is None:
        lacking = "--model NAME" if model is None else "-o DIR, the folder of the run"
        raise click.UsageError(f"asking a model needs {lacking}; --dry-run shows what would be asked")
    progress = PredictProgress(endpoint.rates(model, asked["router"]))
    with resumable(progress, output):
        rows = pe.predict(
            ready,
            model,
            out=output,
            endpoint=endpoint._replace(paused=progress.paused),
            sampling=sampling,
            **asked,
            messages=not no_messages,
            progress=progress,
            seen=progress.seen,
            tell=note,
        )
    requested = len(ready.samples) * asked["repeat"]
    return say_run(rows, output, ready.pipeline.name, progress, requested=requested)


def _can_run_answers(name: str) -> bool:
    """Whether what is asked may be of a benchmark that runs answers, with tools of its own."""
    from planner_eval.benchmarks.benchmark import BENCHMARKS

    return any(key in name for key, b in BENCHMARKS.items() if b.executed)


def _print_requests(requests: list[Mapping[str, Any]]) -> int:
    emit("".join(f"{to_json(r)}\n" for r in requests), None)
    size = sum(r.get("characters", 0) for r in requests)
    count = format_count(len(requests), "sample")
    note(f"{count}, {size:,} characters in first requests; nothing was sent")
    return int(any("error" in r for r in requests))
