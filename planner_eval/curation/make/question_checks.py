"""What keeps a question from being one that a plan answers: checks that need no model.

A question passes where nothing is found; what is found is a sentence that whoever wrote it can act on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from planner_eval.base.text import one_line, printable, shorten
from planner_eval.catalogs.catalog import Catalog
from planner_eval.comparison.policy.values import number_of
from planner_eval.curation.audit.grounding import Literal, literals
from planner_eval.curation.audit.question import Question
from planner_eval.curation.audit.words import Ground, has_word
from planner_eval.curation.make.descriptions import describe_plan, format_name
from planner_eval.curation.make.descriptions import literals as plan_literals
from planner_eval.curation.make.record import Made
from planner_eval.curation.make.values import scalars
from planner_eval.plan.model import (
    Plan,
    Unresolved,
    Value,
    contains_kind,
    references,
)
from planner_eval.plan.structure import sinks

Grounding = Callable[[Made, str], Iterable[str]]
"""Says of a plan's literals, in words, which a question does not say."""

MAX_CHARACTERS, MAX_CHARACTERS_PER_CALL = 400, 200
"""Characters that a question may have, and as many more for each call, beside those of its values."""

MAX_PLAN_CHARACTERS = 20_000
"""Characters of a described plan that is asked about."""

_MIN_WORDS = 2
"""Words of the shortest question."""

_MAX_NAMED = 5
"""Names or values that one sentence names."""

_MIN_TELLING_NUMBER = 10
"""A smaller whole number may stand in a question by chance, and is no result that it tells."""

_MIN_TELLING_CHARACTERS = 3
"""Characters of a shorter text may stand in any question: "a", "no"."""

_IDENTIFIER = re.compile(r"\w_\w|[a-z][A-Z]|\w\.\w")
"""What plain words do not have: such a name is an identifier, others are words as well."""

_SNAKE_CASE = re.compile(r"(?<!\w)[A-Za-z]\w*_\w+")
_STEP_REFERENCE = re.compile(r"(?i)\b(?:step|call)\s+(?:\d|one\b|two\b|three\b)|\$var_?\d")
_BLANK = re.compile(
    r"\[[^\W\d][^\[\]\n]{0,40}\]|<[^\W\d][^<>\n]{0,40}>|\{[^\W\d][^{}\n]{0,40}\}|_{3,}|\bX{3,}\b"
)
_LIST_LINE = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s|^#", re.MULTILINE)
_PREAMBLE = re.compile(
    r"(?i)\s*(?:(?:sure|certainly|of course)\s*[,!.]|here(?:'s|\u2019s| is| are)\s+(?:the|a|my|your)\b"
    r"[^.\n]*:|(?:request|question|query|user|assistant|answer)\s*:)"
)
_REFUSAL = re.compile(
    r"(?i)\s*(?:(?:i'm|i\u2019m|i am|we are)\s+(?:very\s+)?(?:sorry|afraid|unable|not able)\b"
    r"|(?:sorry|apologies)\b[^.\n]{0,20}\bi\s+(?:can|could|am|will|must)"
    r"|i\s+(?:cannot|can not|can['\u2019]t|won['\u2019]t)\s+(?:help|assist|write|comply|generate)"
    r"|as an? (?:ai|artificial|large language))"
)


class QuestionFault(NamedTuple):
    """Why a question cannot be used.

    Args:
        code: ``question.…``, of ``data/codes.toml``.
        message: What is wrong, one sentence with the words or values concerned.
    """

    code: str
    message: str


def find_question_faults(question: str, task: Made, grounding: Grounding) -> list[QuestionFault]:
    r"""Everything that keeps a question from being that of a plan, the gravest first; none where it passes.

    Args:
        question: The question.
        task: The plan with its tools, and what it comes to.
        grounding: Says which literals the question does not say.

    >>> from planner_eval.reading.dialects.read import parse
    >>> made = Made("a", parse("get_rate(#to='EUR')"), ())
    >>> [lack.code for lack in find_question_faults("Call get_rate for EUR.", made, lambda task, query: ())]
    ['question.names']
    """
    if (problem := find_plan_fault(task)) is not None:
        return [problem]
    if not question.strip():
        return [QuestionFault("question.empty", "there is no request")]
    most = max_question_characters(task)
    if len(question) > most:
        message = f"it has {len(question):,} characters, {most:,} is the limit for this plan"
        return [QuestionFault("question.long", message)]
    stripped = _remove_plan_texts(question, task)
    return [
        *_find_shape_faults(question, stripped, task),
        *_find_named_identifiers(stripped, task),
        *_find_leaks(stripped, task),
        *_find_ungrounded(question, task, grounding),
    ]


def find_plan_fault(task: Made) -> QuestionFault | None:
    """Why nobody can ask what a plan answers; None where somebody can.

    >>> find_plan_fault(Made("a", Plan(), ())).message
    'the plan calls no tool'
    """
    values = [value for call in task.plan.calls for _, value in call.arguments]
    size = len(describe_plan(task)) if task.plan.calls else 0
    if not task.plan.calls:
        message = "the plan calls no tool"
    elif any(edge.producer >= edge.consumer for edge in task.plan.edges):
        message = "a call of the plan refers to itself or to a later one"
    elif any(contains_kind(value, Unresolved) for value in values):
        message = "the plan refers to what no call returns"
    elif size > MAX_PLAN_CHARACTERS:
        message = f"the plan takes {size:,} characters to describe; the limit is {MAX_PLAN_CHARACTERS:,}"
    else:
        return None
    return QuestionFault("question.plan", message)


def max_question_characters(task: Made) -> int:
    """How many characters a question of a plan may have."""
    values = sum(len(str(value)) for value in plan_literals(task.plan))
    return MAX_CHARACTERS + MAX_CHARACTERS_PER_CALL * len(task.plan) + 2 * values


def is_plain(text: str, made: Made) -> bool:
    """Whether a tool's own words may stand in a question: they name nothing, and are no code."""
    return not any(
        (
            *_find_named_identifiers(text, made),
            _BLANK.search(text),
            _has_hidden_characters(text),
            "\n" in text,
        )
    )


# ---------------------------------------------------------------- how it is written
def _find_shape_faults(question: str, stripped: str, task: Made) -> Iterator[QuestionFault]:
    if _has_hidden_characters(question):
        excerpt = one_line(question, 60)
        yield QuestionFault("question.hidden", f"it has unprintable characters: {excerpt}")
    if _REFUSAL.match(stripped):
        yield QuestionFault("question.refusal", f"it is a refusal, not a request: {one_line(question, 80)!r}")
    if match := _PREAMBLE.match(stripped):
        yield QuestionFault("question.around", f"{one_line(match[0].strip(), 60)!r} precedes the request")
    if "\n" in question.strip() or "```" in stripped or _LIST_LINE.search(stripped):
        yield QuestionFault("question.around", "it has several lines or a list; expected one paragraph")
    if len(question.split()) < _MIN_WORDS:
        yield QuestionFault("question.short", f"{one_line(question, 40)!r} is not a request")
    if match := _BLANK.search(stripped):
        yield QuestionFault("question.blank", f"{one_line(match[0], 50)!r} is an unfilled blank")
    most = max_questions(task.plan)
    marks = len(re.findall(r"[?\uff1f\u061f]+", stripped))
    if marks > most:
        yield QuestionFault("question.several", f"it asks {marks} questions, the plan answers {most}")


def max_questions(plan: Plan) -> int:
    """How many questions a plan answers: one for each result that the user gets."""
    return max(1, len(plan.answer) if plan.answer is not None else len(sinks(plan)))


def _has_hidden_characters(text: str) -> bool:
    return printable(text) != text or "\t" in text or "\r" in text


# ---------------------------------------------------------------- what it names
def _find_named_identifiers(stripped: str, task: Made) -> Iterator[QuestionFault]:
    """Identifiers of tools, apps, arguments and outputs, and whatever else reads as code.

    A name that is a plain word, as ``city`` or ``Hotels``, may stand: people say it too.
    """
    folded = stripped.casefold()
    named = [
        name
        for name in sorted({*_known_names(task)})
        if (_IDENTIFIER.search(name) and has_word(folded, name.casefold())) or f"{name.casefold()}(" in folded
    ]
    code_like = (*_SNAKE_CASE.findall(stripped), *_STEP_REFERENCE.findall(stripped))
    known_names = {name.casefold() for name in named}
    names = [*named, *dict.fromkeys(word for word in code_like if word.casefold() not in known_names)]
    if names:
        listed = ", ".join(repr(one_line(name, 60)) for name in names[:_MAX_NAMED])
        yield QuestionFault("question.names", f"a user would not write {listed}")


def _known_names(task: Made) -> Iterator[str]:
    for call in task.plan.calls:
        yield from filter(None, (call.name, call.tool, call.app, *dict(call.arguments)))
        for _, ref in (pair for _, value in call.arguments for pair in references(value)):
            yield from (step for step in ref.path if isinstance(step, str))
    for tool in task.tools:
        yield from filter(None, (tool.name, tool.full_name, tool.app, tool.written))
        yield from (parameter.name for parameter in (*tool.parameters, *tool.returns.fields))


def _remove_plan_texts(question: str, task: Made) -> str:
    """The question without the plan's own texts, which may look like anything: the longest first."""
    texts = {value for value in plan_literals(task.plan) if isinstance(value, str) and value.strip()}
    for text in sorted(texts, key=lambda t: (-len(t), t)):
        pattern = rf"(?<!\w){re.escape(text)}(?!\w)" if text[:1].isalnum() else re.escape(text)
        question = re.sub(pattern, " \u2026 ", question, flags=re.IGNORECASE)
    return question


# ---------------------------------------------------------------- what it tells
def _find_leaks(stripped: str, task: Made) -> Iterator[QuestionFault]:
    """Results that the plan is to find out: whole numbers of 10 and more, other numbers, and names.

    A text counts where it has a capital, a digit or several words, so that ``open`` may stand in a question
    whose answer is that; what the plan is given counts as said, not as told.
    """
    literal_values = [*plan_literals(task.plan)]
    results = [task.answer, *(call.result for call in task.plan.calls if call.has_result)]
    leaked = dict.fromkeys(
        shorten(repr(leaf), 60)
        for result in results
        for leaf in scalars(result)
        if _reveals(stripped, leaf, literal_values)
    )
    if leaked:
        listed = ", ".join(one_line(leak, 60) for leak in list(leaked)[:_MAX_NAMED])
        yield QuestionFault("question.leak", f"it reveals what it asks for: {listed}")


def _reveals(stripped: str, result: Any, literal_values: Sequence[Value]) -> bool:
    """Whether a question says a part of a result that the plan is not given."""
    texts = [str(value).casefold() for value in literal_values]
    if (number := number_of(result)) is not None:
        is_telling = abs(number) >= _MIN_TELLING_NUMBER or not number.is_integer()
        is_given = number in map(number_of, literal_values) or str(result) in texts
        return is_telling and not is_given and number in numbers_of(stripped)
    text = str(result).strip()
    is_name = " " in text or any(char.isdigit() or char.isupper() for char in text)
    if not isinstance(result, str) or len(text) < _MIN_TELLING_CHARACTERS or not is_name:
        return False
    return has_word(stripped, text) and not any(text.casefold() in given_text for given_text in texts)


# ---------------------------------------------------------------- what it does not say
def _find_ungrounded(question: str, task: Made, grounding: Grounding) -> Iterator[QuestionFault]:
    ungrounded = list(grounding(task, question))
    if ungrounded:
        more = f" and {len(ungrounded) - _MAX_NAMED:,} more" if len(ungrounded) > _MAX_NAMED else ""
        listed = "; ".join(ungrounded[:_MAX_NAMED])
        yield QuestionFault("question.ungrounded", f"it lacks values that the plan uses: {listed}{more}")


# ---------------------------------------------------------------- values
def numbers_of(text: str) -> Iterator[float]:
    """The numbers that a text holds in digits.

    >>> list(numbers_of("from 1,200 to -3.5 km"))
    [1200.0, -3.5]
    """
    for number in re.findall(r"(?<![\w.])-?\d[\d,]{0,40}(?:\.\d{1,40})?(?!\w)", text):
        yield float(number.replace(",", ""))


# ----------------------------------------------------------------------
# Which literals of a plan a question does not say: every one of them, for nobody can know them otherwise.
#
# Where :mod:`planner_eval.curation.audit.grounding` doubts gold only where that is sure, here a value has
# to be said for sure: what another day decides ("tomorrow"), a part of the day, half of a name, a flag that
# nobody speaks of do not do. A value that the tool takes anyway nobody has to say.
ENGLISH = "English"
"""The language whose numbers, days and other words are read."""


def grounding_of(language: str) -> Grounding:
    """What finds the literals that a question in a language does not say.

    >>> grounding_of("Italian") is find_missing_verbatim
    True
    """
    return (
        find_ungrounded_literals
        if language.strip().casefold() == ENGLISH.casefold()
        else find_missing_verbatim
    )


def find_ungrounded_literals(task: Made, question: str) -> Iterator[str]:
    """What an English question does not say: numbers, days, flags and words as people write them.

    >>> from planner_eval.reading.dialects.read import parse
    >>> plan = parse("[book(city='Rome', nights=3, day='2024-03-06')]")
    >>> list(find_ungrounded_literals(Made("a", plan, ()), "Three nights in Rome from tomorrow."))
    ["day '2024-03-06'"]
    """
    for literal in literals(task.plan, question, Catalog(task.tools)):
        if not _is_sure_ground(literal.ground, literal.value, question):
            yield _literal_text(literal)


def _is_sure_ground(ground: Ground | None, value: Value, question: str) -> bool:
    """Whether a ground leaves no doubt; "a room" says 1, and nothing has to be said of an empty text."""
    if ground is None or ground.how in ("one", "empty", "default"):
        return ground is not None and (ground.how != "one" or bool(value == 1))
    if ground.how == "day":  # in numbers, its year somewhere beside them
        said = question[slice(*ground.span)] if ground.span is not None else ""
        alone = Question(said).grounds(str(value)) if any(char.isdigit() for char in said) else None
        years = re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", str(value))
        return alone is not None and alone.how in ("day", "text") and all(year in question for year in years)
    return ground.sure and ground.how not in ("part", "result")


def find_missing_verbatim(task: Made, question: str) -> Iterator[str]:
    """What a question in any language does not say: numbers, and texts with a capital or a digit.

    They have to stand as they are given; words without a capital may be translated.

    >>> from planner_eval.reading.dialects.read import parse
    >>> plan = parse("[f(city='Roma', days=3, kind='train')]")
    >>> list(find_missing_verbatim(Made("a", plan, ()), "Un treno per Roma?"))
    ['days 3']
    """
    folded, numbers = question.casefold(), set(numbers_of(question))
    for literal in literals(task.plan, question, Catalog(task.tools)):
        value = literal.value
        if literal.ground is not None and literal.ground.how == "default":
            continue
        if (number := number_of(value)) is not None:
            is_said = number in numbers
        else:
            telling = isinstance(value, str) and any(char.isdigit() or char.isupper() for char in value)
            is_said = not telling or str(value).strip().casefold() in folded
        if not is_said:
            yield _literal_text(literal)


def _literal_text(literal: Literal) -> str:
    return f"{format_name(literal.argument)} {one_line(repr(literal.value), 60)}"
