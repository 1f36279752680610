"""Questions to made plans: written by a model and judged, or told from the catalog without one."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.base.text import one_line, shorten
from planner_eval.curation.make.asking import NoQuestion, QuestionSettings, write_question
from planner_eval.curation.make.descriptions import phrase_request
from planner_eval.curation.make.question_checks import is_plain
from planner_eval.curation.make.record import Made
from planner_eval.models.endpoints import Endpoint, model_of, name_of, refuse_uncached
from planner_eval.models.pipelines.setup import refuse_sampling
from planner_eval.models.predict.predict import run_all, run_coroutine
from planner_eval.models.predict.run import AskOptions, Job, Journal, finished_rows, job_keys
from planner_eval.models.replies import Model

SAMPLING: Mapping[str, Any] = {"temperature": 0.7, "max_tokens": 2048}
"""What requests say unless the user has them say something else; a judge is asked at temperature 0."""

_DEFAULT_SETTINGS = QuestionSettings()
_DEFAULT_ENDPOINT = Endpoint()
_NO_SAMPLING: Mapping[str, Any] = {}


def ask_for(  # noqa: PLR0913 - the options of a public function
    made: Iterable[Made],
    model: str | Model,
    *,
    judge: str | Model | None = None,
    wanted: QuestionSettings = _DEFAULT_SETTINGS,
    endpoint: Endpoint = _DEFAULT_ENDPOINT,
    sampling: Mapping[str, Any] = _NO_SAMPLING,
    concurrency: int = 8,
    tell: Callable[[int, int], None] = lambda count, total: None,
    seen: Callable[[Mapping[str, Any]], None] = lambda row: None,
) -> list[Made | NoQuestion]:
    """Have a model write the questions to made plans; each is checked and judged before it is kept.

    Args:
        made: The plans with their tools; a question that one has already is not looked at.
        model: Who writes: the model's name at the endpoint, or anything with a ``complete`` like
            :class:`planner_eval.models.replies.Model`.
        judge: Who judges; the same model when left out.
        wanted: What questions have to be: the language, the least score, how often one is written.
        endpoint: How models are reached by name. With its ``cache`` the same call goes on where it stopped.
        sampling: What requests say beside the usual, by name; None leaves something out.
        concurrency: How many plans are under way at a time.
        tell: Is told how many plans are done, and of how many.
        seen: Is given a row for each as soon as it is there, with its requests and their tokens.

    Returns:
        One a plan, in their order: the record with its ``query``, and in its ``notes`` who wrote it and its
        score; or why there is none.

    Raises:
        InputError: something is wrong that can be known before anything is asked.
        ModelError: the model cannot be asked at all: the package or the key is missing.

    >>> from planner_eval.reading.dialects.read import parse
    >>> from planner_eval.models.replies import Reply
    >>> class Scripted:
    ...     async def complete(self, messages, tools=None, **sampling):
    ...         judged = "Request:" in messages[-1]["content"]
    ...         return Reply('{"score": 8, "reason": "Clear."}' if judged else "Which trains go to Rome?")
    >>> found = ask_for([Made("a", parse("trains(#to='Rome')"), ())], Scripted())[0]
    >>> found.query, found.notes["question"]["score"]
    ('Which trains go to Rome?', 8)
    """
    _refuse_bad_settings(wanted, concurrency)
    refuse_sampling(sampling, "question", constrained=False)
    options = {name: value for name, value in {**SAMPLING, **sampling}.items() if value is not None}
    if "temperature" in sampling:  # the user's is meant for every request
        wanted = replace(wanted, judging={})
    made_plans = list(made)
    jobs = [Job(m.id, partial(write_question, m, wanted)) for m in made_plans]
    judging = None if judge is None else model_of(judge, endpoint)
    asking = AskOptions(model_of(model, endpoint), judging, options, concurrency, messages=False)
    for client in asking.models():
        refuse_uncached(client)
    about = {"by": name_of(model), "judge": name_of(model if judge is None else judge)}
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder) / "journal.jsonl") as journal:
        run_coroutine(run_all(jobs, asking, journal, tell, seen))
        results = finished_rows(job_keys(jobs), journal)
        return [
            _result(made_plan, row, {**about, "language": wanted.language})
            for made_plan, row in zip(made_plans, results, strict=True)
        ]


def template_for(
    made: Iterable[Made], *, wanted: QuestionSettings = _DEFAULT_SETTINGS
) -> list[Made | NoQuestion]:
    """Tell plans in plain English without a model; what is told passes the same checks but the judge's.

    Args:
        made: The plans with their tools.
        wanted: What questions have to be; only what needs no model is looked at.

    Returns:
        One a plan, in their order: the record with its ``query``, marked in its ``notes`` as told by a
        template; or why there is none.

    >>> from planner_eval.catalogs.catalog import Tool
    >>> from planner_eval.reading.dialects.read import parse
    >>> tools = (Tool("findTrains", description="Find trains to a city."),)
    >>> template_for([Made("a", parse("findTrains(#to='Rome')"), tools)])[0].query
    'Please do this and tell me what it gives: find trains to a city, with to "Rome".'
    """
    results: list[Made | NoQuestion] = []
    for made_plan in made:
        text = phrase_request(made_plan, partial(is_plain, made=made_plan)) if made_plan.plan.calls else ""
        lacking = wanted.lacks(text, made_plan)
        if lacking:
            message = "; ".join(flaw.message for flaw in lacking)
            tried = {"text": one_line(text, 1000), "lacks": [flaw._asdict() for flaw in lacking]}
            results.append(NoQuestion(made_plan, lacking[0].code, one_line(message, 1000), (tried,)))
        else:
            notes = {**made_plan.notes, "question": {"by": "template", "language": "English"}}
            results.append(replace(made_plan, query=text, notes=notes))
    return results


def _result(made_plan: Made, row: Mapping[str, Any], about: Mapping[str, Any]) -> Made | NoQuestion:
    tries: Sequence[Mapping[str, Any]] = row["stages"].get("tries", ())
    if row["error"] is not None:
        return NoQuestion(made_plan, row["error"]["code"], row["error"]["message"], tuple(tries))
    note = {**about, "score": row["stages"]["score"], "tries": len(tries)}
    return replace(made_plan, query=row["prediction"], notes={**made_plan.notes, "question": note})


def _refuse_bad_settings(settings: QuestionSettings, concurrency: int) -> None:
    """Refuse what cannot be wanted."""
    if not 1 <= settings.threshold <= 10:
        raise InputError(f"the least score is {settings.threshold}, expected a whole number from 1 to 10")
    if settings.tries < 1 or concurrency < 1:
        raise InputError("a question is written at least once, and one at a time")
    if not settings.language.strip() or len(settings.language) > 60 or not settings.language.isprintable():
        raise InputError(f"{shorten(ascii(settings.language), 60)} is no name of a language, as English is")
    bare = next((example.id for example in settings.examples if not example.query.strip()), None)
    if bare is not None:
        raise InputError(f"the example {bare!r} has no question to show")
