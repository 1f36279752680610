"""Who writes the questions to made plans: the options, the asking, and what is said of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from planner_eval.base.text import counted, one_line
from planner_eval.cli.asked import Asking
from planner_eval.cli.asked_for import setting
from planner_eval.cli.options import Applies, bundled, note, refuse_idle
from planner_eval.cli.requesting import requesting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from planner_eval.making.asking import NoQuestion, Wanted
    from planner_eval.making.made import Made

_FAILED = ("transport", "context", "refused", "missing")
"""Codes of plans to which nobody could be asked, whose answers no cache keeps."""


class Questions(NamedTuple):
    """Who writes questions, and what they have to be, as the options of :func:`questioning` say."""

    question: str | None
    model: str | None
    judge: str | None
    url: str | None
    language: str | None
    quality: int | None
    attempts: int | None
    prompts: str | None
    settings: tuple[str, ...]
    concurrency: int
    server_timeout: float
    deadline: float
    retries: int
    cache: str | None
    replay: bool
    prices: str | None

    def refuse(self) -> None:
        """Refuse options that have no effect, and a model whose answers nobody would keep.

        Raises:
            UsageError: says which, and when they apply.
        """
        names = tuple(name for name in self._fields if name not in ("question", "model"))
        refuse_idle([Applies(names, self.model is not None, "with --model NAME, which writes the questions")])
        if self.question is not None and self.model is not None:
            raise click.UsageError("--question template asks no model: leave out one of it and --model")
        if self.model is not None and self.cache is None:
            reason = "which keeps every answer: after a stop the same command goes on from there"
            raise click.UsageError(f"--model needs --cache FILE, {reason}")

    def to(self, records: Iterable[Made]) -> list[Made | NoQuestion]:
        """The made records with their questions, each that has none with the reason; says how many there are.

        Args:
            records: The records; they come back as they are where no questions are asked for.
        """
        from planner_eval.verbs.questions import template_for

        if self.model is not None:
            return self._asked(self.model, records)
        if self.question is None:
            return [*records]
        results = template_for(records)
        _say(results, "")
        return results

    def _asked(self, model: str, records: Iterable[Made]) -> list[Made | NoQuestion]:
        from planner_eval.verbs.endpoints import Endpoint
        from planner_eval.verbs.questions import ask_for

        endpoint = Endpoint(
            self.url, self.server_timeout, self.deadline, self.retries, self.cache, self.replay, self.prices
        )
        progress = Asking(endpoint.rates(model, self.judge), "questions")
        try:
            results = ask_for(
                records,
                model,
                judge=self.judge,
                wanted=self._wanted(),
                endpoint=endpoint._replace(paused=progress.paused),
                sampling=dict(map(setting, self.settings)),
                concurrency=self.concurrency,
                tell=progress,
                seen=progress.seen,
            )
        except KeyboardInterrupt as stop:
            stop.add_note(f"; what was answered is kept in {self.cache}: the same command goes on from there")
            raise
        finally:
            progress.counter.clear()
        _say(results, _took(progress))
        return results

    def _wanted(self) -> Wanted:
        from planner_eval.making.asking import Wanted
        from planner_eval.making.texts import read_texts

        options: dict[str, Any] = {
            "language": self.language,
            "threshold": self.quality,
            "tries": self.attempts,
            "texts": read_texts(Path(self.prompts)) if self.prompts else None,
        }
        return Wanted(**{name: value for name, value in options.items() if value is not None})


def questioning(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say who writes the questions, which the command takes as ``questions``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return bundled("questions", Questions, Questions._fields)(command)


_OPTIONS = (
    click.option(
        "--question",
        type=click.Choice(["template"]),
        help="Tell each plan in plain English without a model; such questions are marked.",
    ),
    click.option("--model", metavar="NAME", help="The model that writes the questions."),
    click.option("--judge", metavar="NAME", help="The model that judges them; the same when left out."),
    click.option(
        "--url", metavar="URL", help="Their OpenAI-compatible server; OPENAI_BASE_URL when left out."
    ),
    click.option("--language", metavar="NAME", help="The language of questions; English when left out."),
    click.option(
        "--quality",
        metavar="N",
        type=click.IntRange(1, 10),
        help="The least score of 10 that is kept; 6 when left out, as AppBench's.",
    ),
    click.option(
        "--attempts",
        metavar="N",
        type=click.IntRange(min=1),
        help="How often a question is written at most; 3 when left out.",
    ),
    click.option("--prompts", metavar="DIR", help="A folder of prompts that take the place of ours."),
    requesting("Questions", "--server-timeout"),
)


def code_of(results: list[Made | NoQuestion]) -> int:
    """The exit code: 0 all plans have their question, 1 some have none, 3 none has one."""
    refused = len(_refused(results))
    return 0 if not refused else 3 if refused == len(results) else 1


def marked(results: Iterable[Made | NoQuestion], *, keep_refused: bool) -> tuple[Made, ...]:
    """The records, those without a question with the reason among their notes.

    Args:
        results: The records.
        keep_refused: Whether they have a place for the reason; else those are left out.
    """
    from planner_eval.making.asking import NoQuestion

    if not keep_refused:
        return tuple(r for r in results if not isinstance(r, NoQuestion))
    return tuple(r.marked if isinstance(r, NoQuestion) else r for r in results)


def _refused(results: Iterable[Made | NoQuestion]) -> list[NoQuestion]:
    from planner_eval.making.asking import NoQuestion

    return [r for r in results if isinstance(r, NoQuestion)]


def _say(results: list[Made | NoQuestion], took: str) -> None:
    """Say how many plans have a question, and why others have none."""
    refused = _refused(results)
    codes = Counter(r.code for r in refused)
    failed = "".join(f", {count:,} {code}" for code, count in sorted(codes.items()))
    written = len(results) - len(refused)
    note(f"{counted(len(results), 'question')} asked for: {written:,} written{failed}{took}")
    reported: set[str] = set()
    for refusal in refused:
        if refusal.code not in reported:
            note(f"{refusal.code}: {one_line(refusal.made.id, 60)}: {refusal.message}")
            reported.add(refusal.code)
    if retried := sum(codes[code] for code in _FAILED):
        note(f"the same command asks for {counted(retried, 'question')} again")


def _took(progress: Asking) -> str:
    least = "at least " if progress.uncounted else ""
    tokens_in, tokens_out = progress.tokens
    usage = f"; {least}{tokens_in:,} tokens in and {tokens_out:,} out" if tokens_in or tokens_out else ""
    if progress.rates is None:
        return usage
    amount = f"{progress.cost:,.6f}".rstrip("0").rstrip(".")
    return f"{usage or ';'}{',' if usage else ''} cost {least}{amount}"
