"""The question to a made plan, from a model: written, checked, judged, and written anew with the reasons.

A generator as the pipelines of :mod:`planner_eval.models.predict` are: it yields requests and is sent
replies, reads no file and no clock, so the same replies make the same question.

Source: the AppBench paper, section 3.3: an instruction is written, each literal is looked for in it, and one
whose quality is judged below 6 of 10 is dropped. There none is written anew.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError, PlanevalError
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.json_files import read_json
from planner_eval.base.resources import folder
from planner_eval.base.text import format_count, one_line
from planner_eval.benchmarks.judge_prompts import PromptFile, fill, find_template
from planner_eval.curation.make.descriptions import describe_plan
from planner_eval.curation.make.question_checks import (
    ENGLISH,
    Grounding,
    QuestionFault,
    find_plan_fault,
    find_question_faults,
    grounding_of,
    max_questions,
)
from planner_eval.curation.make.record import Made
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
from planner_eval.models.replies import Reply
from planner_eval.reading.dialects.conversations.api_answers import answer_state
from planner_eval.reading.dialects.finding.find import strip_thoughts

# ----------------------------------------------------------------------
# What models are asked with that write and judge questions: our texts, or a user's in place of them.
_PROMPT_FIELDS: Mapping[str, tuple[str, ...]] = {
    "question": ("language", "most", "begin", "end"),
    "again": ("reasons",),
    "quality": ("language", "begin", "end"),
    "quality-again": (),
}
"""The texts, ``data/prompts/making/NAME.txt``, and what is filled into each."""


class Prompts(NamedTuple):
    """What is asked, in words.

    Args:
        texts: Name → text.
        origins: Name → ``"own"``, or the file's name and sha256.
    """

    texts: Mapping[str, str]
    origins: Mapping[str, str]

    def fill(self, name: str, **fields: str) -> str:
        """A text with its fields filled in; what is put in is never looked at again."""
        return fill(self.texts[name], fields)


def read_prompts(directory: Path | None = None) -> Prompts:
    """Our texts, with those of a folder in place of them, named as ours are: ``quality.txt``.

    Args:
        directory: The folder; None for ours alone.

    Raises:
        InputError: it is no folder, holds none of these files, or one that lacks a field.

    >>> read_prompts().origins["question"]
    'own'
    """
    prompt_folder = folder("data") / "prompts" / "making"
    texts = {
        name: (prompt_folder / f"{name}.txt").read_text(encoding="utf-8").strip() for name in _PROMPT_FIELDS
    }
    if directory is None:
        return Prompts(texts, dict.fromkeys(texts, "own"))
    if not directory.is_dir():
        raise InputError(f"{directory} is no folder of prompts")
    templates = {
        name: template
        for name, fields in _PROMPT_FIELDS.items()
        if (template := find_template(directory, PromptFile(f"making/{name}.txt", fields))) is not None
    }
    if not templates:
        names = ", ".join(f"{name}.txt" for name in _PROMPT_FIELDS)
        raise InputError(f"{directory} holds no prompt that questions are asked for with: expected {names}")
    origins = {name: f"{template.name} {template.sha256}" for name, template in templates.items()}
    return Prompts(
        {**texts, **{name: template.text for name, template in templates.items()}},
        {**dict.fromkeys(texts, "own"), **origins},
    )


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
        code: ``question.…`` of :data:`planner_eval.base.errors.CODES`; or why nobody could be asked:
            ``transport``, ``context``, ``refused``, ``missing``, ``failed``.
        message: The reason, for people.
        tries: What was written each time: its ``text``, what it ``lacks``, its ``score`` where it was judged.
    """

    made: Made
    code: str
    message: str
    tries: tuple[Mapping[str, Any], ...] = ()

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
    shortcomings: list[QuestionFault] = []
    for _ in range(settings.tries):
        reply = yield from ask("question", talk)
        text = read_question(reply)
        shortcomings = _find_reply_faults(reply) or settings.lacks(text, task)
        attempt: dict[str, Any] = {
            "text": one_line(text, _MAX_SHOWN_CHARACTERS),
            "lacks": [lack._asdict() for lack in shortcomings],
        }
        tried.append(attempt)
        if not shortcomings:
            verdict = yield from _ask_judge(text, description, settings)
            if verdict is None:
                message = "the judge gave no score from 1 to 10, asked twice"
                attempt["lacks"] = [QuestionFault("question.unjudged", message)._asdict()]
                return Outcome(
                    "", {"tries": tried}, stop="unjudged", error=Failure("question.unjudged", message)
                )
            attempt |= verdict._asdict()
            if verdict.score >= settings.threshold:
                return Outcome(text, {"score": verdict.score, "tries": tried})
            shortcomings = [_low_score_fault(verdict, settings.threshold)]
            attempt["lacks"] = [lack._asdict() for lack in shortcomings]
        reasons = "\n".join(f"- {one_line(lack.message, _MAX_SHOWN_CHARACTERS)}" for lack in shortcomings)
        retry_prompt = settings.texts.fill("again", reasons=reasons)
        talk += [assistant_message(attempt["text"] or "\u2026"), user_message(retry_prompt)]
    last_reasons = "; ".join(lack.message for lack in shortcomings)
    message = f"none of {format_count(len(tried), 'try')} passed; of the last, {last_reasons}"
    return Outcome(
        "",
        {"tries": tried},
        stop="refused",
        error=Failure(shortcomings[0].code, one_line(message, _MAX_SHOWN_CHARACTERS)),
    )


def opening_messages(task: Made, settings: QuestionSettings, description: str) -> list[Message]:
    """What a model is told before it writes: the rules, the examples, and the plan in words."""
    plans = [describe_plan(example) for example in settings.examples]
    begin, end = fence(description, *plans)
    questions = format_count(max_questions(task.plan), "question")
    text = settings.texts.fill("question", language=settings.language, most=questions, begin=begin, end=end)
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
    text = strip_thoughts(reply.text[: _MAX_VERDICT_CHARACTERS + 1]).strip()
    if len(reply.text) > _MAX_VERDICT_CHARACTERS or _find_reply_faults(reply):
        return None
    if text.startswith("```") and text.endswith("```"):
        text = text[3:-3].removeprefix("json").strip()
    try:
        verdict = read_json(text)
    except PlanevalError:
        return None
    score = verdict.get("score") if isinstance(verdict, dict) else None
    if type(score) is not int or not 1 <= score <= 10:
        return None
    reason = verdict.get("reason")
    return Verdict(score, one_line(reason, 300) if isinstance(reason, str) else "")


def _find_reply_faults(reply: Reply) -> list[QuestionFault]:
    """Why a reply is no whole one."""
    state = answer_state({"finish_reason": reply.finish_reason, "refusal": reply.refusal})
    return [] if state is None else [QuestionFault(state.code.replace("answer.", "question."), state.reason)]


def _low_score_fault(verdict: Verdict, threshold: int) -> QuestionFault:
    reason = f": {verdict.reason}" if verdict.reason else ""
    return QuestionFault(
        "question.poor", f"it was judged {verdict.score} of 10, at least {threshold} is wanted{reason}"
    )


def _ask_judge(
    text: str, description: str, settings: QuestionSettings
) -> Generator[Request | CallRequest, Reply | Observations, Verdict | None]:
    """What the judge says; it is asked once more where it says nothing that can be read."""
    begin, end = fence(description, text)
    rules = settings.texts.fill("quality", language=settings.language, begin=begin, end=end)
    material = f"Steps:\n{begin}\n{description}\n{end}\n\nRequest:\n{begin}\n{text}\n{end}"
    talk = [system_message(rules), user_message(material)]
    reply = yield from ask("quality", talk, router=True, **settings.judging)
    verdict = read_verdict(reply)
    if verdict is not None:
        return verdict
    talk += [
        assistant_message(one_line(reply.text, _MAX_SHOWN_CHARACTERS) or "\u2026"),
        user_message(settings.texts.fill("quality-again")),
    ]
    reply = yield from ask("quality", talk, router=True, **settings.judging)
    return read_verdict(reply)
