"""Questions to made plans: written by a model and judged, or told from the catalog without one."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.json_files import read_json_reply
from planner_eval.base.text import format_count, one_line, shorten
from planner_eval.benchmarks.judging import PromptFile, find_template
from planner_eval.curation.make.descriptions import describe_plan, phrase_request
from planner_eval.curation.make.question_checks import (
    ENGLISH,
    Grounding,
    QuestionFault,
    find_plan_fault,
    find_question_faults,
    grounding_of,
    is_plain,
    max_questions,
)
from planner_eval.curation.make.record import Made
from planner_eval.models.judges import Endpoint, model_of, name_of, refuse_uncached
from planner_eval.models.pipelines.pipeline import (
    CallRequest,
    Failure,
    Message,
    Observations,
    Outcome,
    Request,
    Steps,
    ask,
    assistant_message,
    system_message,
    user_message,
)
from planner_eval.models.pipelines.setup import Prompts, our_prompts, refuse_sampling
from planner_eval.models.predict.predict import run_all, run_coroutine
from planner_eval.models.predict.run import AskOptions, Job, Journal, finished_rows, job_keys
from planner_eval.models.replies import Model, Reply
from planner_eval.reading.dialects.conversations.answers import answer_state
from planner_eval.reading.dialects.finding.thoughts import strip_thoughts

# ----------------------------------------------------------------------
# The question to a made plan, from a model: written, checked, judged, and written anew with the reasons.
#
# A generator as the pipelines of :mod:`planner_eval.models.predict` are: it yields requests and is sent
# replies, reads no file and no clock, so the same replies make the same question.
#
# Source: the AppBench paper, section 3.3: an instruction is written, each literal is looked for in it, and
# one whose quality is judged below 6 of 10 is dropped. There none is written anew.
# ----------------------------------------------------------------------
# What models are asked with that write and judge questions: our texts, or a user's in place of them.
_PROMPT_FIELDS: Mapping[str, tuple[str, ...]] = {
    "making/question": ("language", "most", "begin", "end"),
    "making/again": ("reasons",),
    "making/quality": ("language", "begin", "end"),
    "making/quality-again": (),
}
"""The texts, ``data/prompts/NAME.txt``, and what is filled into each."""


def read_prompts(directory: Path | None = None) -> Prompts:
    """Our texts, with those of a folder in place of them, named as ours are: ``quality.txt``.

    Args:
        directory: The folder; None for ours alone.

    Raises:
        InputError: it is no folder, holds none of these files, or one that lacks a field.

    >>> read_prompts().origins["making/question"]
    'own'
    """
    own = our_prompts(_PROMPT_FIELDS)
    if directory is None:
        return own
    if not directory.is_dir():
        raise InputError(f"{directory} is not a folder of prompts")
    templates = {
        name: template
        for name, fields in _PROMPT_FIELDS.items()
        if (template := find_template(directory, PromptFile(f"{name}.txt", fields))) is not None
    }
    if not templates:
        names = ", ".join(f"{name.partition('/')[2]}.txt" for name in _PROMPT_FIELDS)
        raise InputError(f"{directory} has no prompt for questions: expected {names}")
    return own.with_templates(templates)


# ----------------------------------------------------------------------
# The question to a made plan, from a model: written, checked, judged, and written anew with the reasons.
MIN_SCORE = 6
"""The least score that is kept: AppBench drops what is below 6."""

MAX_TRIES = 3
"""How often a question is written at most."""

JUDGE_SAMPLING: Mapping[str, Any] = MappingProxyType({"temperature": 0.0})
"""What requests for a verdict say other than those for a question."""

_MAX_REPLY_CHARACTERS = 100_000
"""Characters of a reply in which a question is looked for; none that is longer can be one."""

_MAX_VERDICT_CHARACTERS = 4_000
"""Characters of an answer that is read as a verdict."""

_MAX_SHOWN_CHARACTERS = 1_000
"""Characters of what a model wrote that it is shown again, and that are kept."""


@dataclass(frozen=True, slots=True)
class QuestionSettings:
    """How questions are asked for, and what they have to be.

    Args:
        language: The language that they are in, by its English name.
        threshold: The least score of 10 that is kept.
        tries: How often one is written at most.
        examples: Made records with their questions, which are shown before.
        texts: What is asked, in words.
        judging: What requests for a verdict say other than the rest: ``temperature`` …
        grounding: Says which literals of a plan a question does not say; None for what fits the language.
    """

    language: str = ENGLISH
    threshold: int = MIN_SCORE
    tries: int = MAX_TRIES
    examples: tuple[Made, ...] = ()
    texts: Prompts = field(default_factory=read_prompts)
    judging: Mapping[str, Any] = field(default_factory=lambda: JUDGE_SAMPLING)
    grounding: Grounding | None = None

    def lacks(self, text: str, task: Made) -> list[QuestionFault]:
        """What keeps a question from being that of a plan."""
        return find_question_faults(text, task, self.grounding or grounding_of(self.language))


@fast_frozen
class NoQuestion:
    """A made record to which there is no question, and why.

    Args:
        made: The record, as it was.
        code: ``question.…`` of ``data/codes.toml``; or why nobody could be asked:
            ``transport``, ``context``, ``refused``, ``unasked``, ``missing``, ``failed``.
        message: The reason, for people.
        tries: What was written each time: its ``text``, what it ``lacks``, its ``score`` where it was judged.
    """

    made: Made
    code: str
    message: str
    tries: tuple[Mapping[str, Any], ...]

    @property
    def marked(self) -> Made:
        """The record without a question, with the reason among its notes, so that its row can say it."""
        error = {"code": self.code, "message": self.message}
        question_notes = {"error": error, "tries": [dict(t) for t in self.tries]}
        return replace(self.made, query="", notes={**self.made.notes, "question": question_notes})


class Verdict(NamedTuple):
    """What a judge says of a question.

    Args:
        score: From 1 to 10.
        reason: Its words.
    """

    score: int
    reason: str


def write_question(task: Made, settings: QuestionSettings) -> Steps:
    """Have the question to a plan written, until one passes all checks or the tries are used up.

    Args:
        task: The plan with its tools.
        settings: How it is asked for.

    Returns:
        The outcome's ``prediction`` is the question, "" where there is none, and its ``stages`` say of each
        try what was written, its score, and what it lacks.
    """
    if (problem := find_plan_fault(task)) is not None:
        return Outcome("", stop="refused", error=Failure(*problem))
    description = describe_plan(task)
    talk = opening_messages(task, settings, description)
    tried: list[dict[str, Any]] = []

    def refuse(stop: str, code: str, message: str) -> Outcome:
        error = Failure(code, one_line(message, _MAX_SHOWN_CHARACTERS))
        return Outcome("", {"tries": tried}, stop=stop, error=error)

    for _ in range(settings.tries):
        reply = yield from ask("question", talk)
        text = read_question(reply)
        verdict, faults = None, _find_reply_faults(reply) or settings.lacks(text, task)
        if not faults:
            verdict = yield from _ask_judge(text, description, settings)
            faults = _find_verdict_faults(verdict, settings.threshold)
        excerpt = one_line(text, _MAX_SHOWN_CHARACTERS)
        attempt = {"text": excerpt, "lacks": [fault._asdict() for fault in faults]}
        tried.append(attempt | (verdict._asdict() if verdict is not None else {}))
        if not faults and verdict is not None:
            return Outcome(text, {"score": verdict.score, "tries": tried})
        if faults[0].code == "question.unjudged":
            return refuse("unjudged", *faults[0])
        reasons = "\n".join(f"- {one_line(fault.message, _MAX_SHOWN_CHARACTERS)}" for fault in faults)
        retry_prompt = settings.texts.fill("making/again", reasons=reasons)
        talk += [assistant_message(excerpt or "\u2026"), user_message(retry_prompt)]
    last = "; ".join(fault.message for fault in faults)
    count = format_count(len(tried), "attempt")
    return refuse("refused", faults[0].code, f"none of {count} passed; the last failed: {last}")


def opening_messages(task: Made, settings: QuestionSettings, description: str) -> list[Message]:
    """What a model is told before it writes: the rules, the examples, and the plan in words."""
    plans = [describe_plan(example) for example in settings.examples]
    begin, end = fence(description, *plans)
    questions = format_count(max_questions(task.plan), "question")
    text = settings.texts.fill(
        "making/question", language=settings.language, most=questions, begin=begin, end=end
    )
    talk = [system_message(text)]
    for example, plan in zip(settings.examples, plans, strict=True):
        talk += [user_message(f"{begin}\n{plan}\n{end}"), assistant_message(example.query)]
    return [*talk, user_message(f"{begin}\n{description}\n{end}")]


def fence(*texts: str) -> tuple[str, str]:
    """Marks around material that do not stand in it.

    >>> fence("a", ">>> b <<<")
    ('<<<<', '>>>>')
    """
    length = 3
    while any("<" * length in text or ">" * length in text for text in texts):
        length += 1
    return "<" * length, ">" * length


# ---------------------------------------------------------------- what replies say
def read_question(reply: Reply) -> str:
    r"""The question that a reply holds: without what was thought before it, and quotes around all of it.

    >>> read_question(Reply("<think>Short.</think>\n\"Which trains go to Rome?\"\n"))
    'Which trains go to Rome?'
    """
    text = strip_thoughts(reply.text[:_MAX_REPLY_CHARACTERS]).strip()
    for opened, closed in ('""', "\u201c\u201d"):
        inner = text[1:-1]
        if len(text) > 1 and (text[0], text[-1]) == (opened, closed) and not {opened, closed} & set(inner):
            return inner.strip()
    return text


def read_verdict(reply: Reply) -> Verdict | None:
    r"""A verdict: one JSON object with a whole ``score`` from 1 to 10, and nothing around it but a fence.

    Anything else is none, for a judge may repeat the question, which may hold a score of its own.

    >>> read_verdict(Reply('```json\n{"score": 8, "reason": "Clear."}\n```'))
    Verdict(score=8, reason='Clear.')
    >>> [read_verdict(Reply(text)) for text in ("8", '{"score": 11}', '{"score": 9} {"score": 2}')]
    [None, None, None]
    """
    text = strip_thoughts(reply.text[: _MAX_VERDICT_CHARACTERS + 1])
    if len(reply.text) > _MAX_VERDICT_CHARACTERS or _find_reply_faults(reply):
        return None
    verdict = read_json_reply(text)
    score = verdict.get("score") if isinstance(verdict, dict) else None
    if type(score) is not int or not 1 <= score <= 10:
        return None
    reason = verdict.get("reason")
    return Verdict(score, one_line(reason, 300) if isinstance(reason, str) else "")


def _find_reply_faults(reply: Reply) -> list[QuestionFault]:
    """Why a reply is no whole one."""
    state = answer_state({"finish_reason": reply.finish_reason, "refusal": reply.refusal})
    return [] if state is None else [QuestionFault(state.code.replace("answer.", "question."), state.reason)]


def _find_verdict_faults(verdict: Verdict | None, threshold: int) -> list[QuestionFault]:
    """Why a verdict does not let a question pass."""
    if verdict is None:
        message = "the judge gave no score from 1 to 10 in two attempts"
        return [QuestionFault("question.unjudged", message)]
    reason = f": {verdict.reason}" if verdict.reason else ""
    message = f"it was judged {verdict.score} of 10, at least {threshold} is required{reason}"
    return [QuestionFault("question.poor", message)] if verdict.score < threshold else []


def _ask_judge(
    text: str, description: str, settings: QuestionSettings
) -> Generator[Request | CallRequest, Reply | Observations, Verdict | None]:
    """What the judge says; it is asked once more where it says nothing that can be read."""
    begin, end = fence(description, text)
    rules = settings.texts.fill("making/quality", language=settings.language, begin=begin, end=end)
    material = f"Steps:\n{begin}\n{description}\n{end}\n\nRequest:\n{begin}\n{text}\n{end}"
    talk = [system_message(rules), user_message(material)]
    for _ in range(2):
        reply = yield from ask("quality", talk, router=True, **settings.judging)
        verdict = read_verdict(reply)
        if verdict is not None:
            return verdict
        talk += [
            assistant_message(one_line(reply.text, _MAX_SHOWN_CHARACTERS) or "\u2026"),
            user_message(settings.texts.fill("making/quality-again")),
        ]
    return None


# ----------------------------------------------------------------------
# Questions to made plans: written by a model and judged, or told from the catalog without one.
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
        concurrency: How many plans are in progress at a time.
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


def template_for(made: Iterable[Made]) -> list[Made | NoQuestion]:
    """Tell plans in plain English without a model; what is told passes the same checks but the judge's.

    Args:
        made: The plans with their tools.

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
        lacking = _DEFAULT_SETTINGS.lacks(text, made_plan)
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
        raise InputError(f"the lowest score is {settings.threshold}, expected a whole number from 1 to 10")
    if settings.tries < 1 or concurrency < 1:
        raise InputError("attempts must be 1 or more")
    if not settings.language.strip() or len(settings.language) > 60 or not settings.language.isprintable():
        raise InputError(
            f"{shorten(ascii(settings.language), 60)} is not the name of a language, such as English"
        )
    bare = next((example.id for example in settings.examples if not example.query.strip()), None)
    if bare is not None:
        raise InputError(f"the example {bare!r} has no question to show")
