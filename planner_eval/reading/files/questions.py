"""Which field of records holds the question, or the conversation; and questions up to values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.base.text import did_you_mean, lazy_pattern
from planner_eval.reading.dialects.conversations.messages import join_messages
from planner_eval.reading.dialects.conversations.turn_collector import texts_of
from planner_eval.reading.files.fields import (
    HEAD_SIZE,
)
from planner_eval.reading.files.files import PlanFile

QUESTION_FIELDS = (
    "question", "query", "input", "user_query", "instruction", "user_input", "utterance", "prompt", "request",
    "task", "conversations", "conversation", "messages", "dialogue", "dialog",
)  # fmt: skip
"""Fields that hold what was asked, the likeliest first."""

CERTAIN_QUESTION_FIELDS = ("question", "query")
"""Those of which any text or number is one; a request or a task may be known by its number or its name."""

_TASK_NAME = lazy_pattern(r"(?a:[\w.:/-]*\d[\w.:/-]*)")
"""A text that names a task and asks nothing: one word with a digit in it, such as a hash."""


def question_field(query: str | None, *files: PlanFile) -> tuple[str | None, list[str]]:
    """The field that holds the question, and what is to be said of it.

    Args:
        query: What the user names; recognised when None, none when "".
        files: The gold plans, then the predictions.

    Raises:
        InputError: no record has the field that the user names, or none has words in it.
    """
    if query == "":
        return None, []
    for file in files:
        seen = [record.fields for record in islice(file.records, HEAD_SIZE)]
        words, numbers = (QUESTION_FIELDS, CERTAIN_QUESTION_FIELDS) if query is None else ((query,), (query,))
        asking = (
            name for name in words if any(_is_question(fields.get(name), name in numbers) for fields in seen)
        )
        counting = (name for name in numbers if any(_is_number(fields.get(name)) for fields in seen))
        name = next(chain(asking, counting), None)
        if name is not None:
            return name, [f'question: field "{name}" of {file.name}']
    if query is not None:
        names = dict.fromkeys(
            key for file in files for record in islice(file.records, HEAD_SIZE) for key in record.fields
        )
        if query in names:
            raise InputError(
                f"--field query={query}: no record has a question there: its values are not text"
            )
        hint = did_you_mean(query, names, lead="; ")
        available = f"; the fields are {', '.join(names)}" if names and not hint else ""
        raise InputError(f"--field query={query}: no record has that field{hint}{available}")
    return None, []


def _is_question(value: Any, sure: bool) -> bool:
    """Whether a value may be a question: words, or what was said turn by turn.

    >>> [_is_question(text, sure=False) for text in ("Who?", "69d9bc51e53e4874", "task-12")]
    [True, False, False]
    """
    if isinstance(value, str):
        return bool(value.strip()) and (sure or not _TASK_NAME.fullmatch(value.strip()))
    value = join_messages(value)
    return isinstance(value, list) and bool(value) and all(isinstance(turn, dict) for turn in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# ----------------------------------------------------------------------
# Questions up to values: a text in which numbers, dates, quoted words and names are placeholders.
TEXT, DATE, NUMBER, NAME = "<text>", "<date>", "<number>", "<name>"

# Named in English, without regard to case, as parts of patterns.
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
DAY = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
NUMBER_WORD = (
    r"(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
    r"|hundred|thousand|million|billion|dozen)"
)

# Every repetition is bounded or possessive: a text of a model's takes time in proportion to its length.
_TOKENS = re.compile(
    rf"""
    (?P<text> (?<!\w)"[^"\n]{{1,200}}+" | “[^“”\n]{{1,200}}+” | „[^„“”\n]{{1,200}}+[“”] | «[^«»\n]{{1,200}}+»
      | ‘[^‘’\n]{{1,200}}+’(?!\w) | 「[^「」\n]{{1,200}}+」 | 『[^『』\n]{{1,200}}+』 | `[^`\n]{{1,200}}+`
      | (?<![\w'])'(?=[^\s'])[^'\n]{{1,200}}+(?<!\s)'(?!\w) )
  | (?P<date> \b(?:
        \d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}(?:[t ]\d{{1,2}}:\d\d(?::\d\d)?z?)?
      | \d{{1,2}}(?P<sep>[-/.])\d{{1,2}}(?P=sep)\d{{4}}
      | {DAY}(?:[ ]of)?[ ]{MONTH}\b(?:\.?,?[ ]\d{{4}}\b)?
      | {MONTH}\b\.?[ ]{DAY}\b(?:,?[ ]\d{{4}}\b)?
      | {MONTH}\b\.?,?[ ]\d{{4}}\b
      | (?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?:[ ]?[ap]\.?m\b)?
      | (?:0?[1-9]|1[0-2])[ ]?[ap]\.?m\b
      | (?:(?:next|last|this|coming)[ ])?{WEEKDAY}
      | today | tomorrow | tonight | yesterday )(?!\w) )
  | (?P<code> \b(?=[a-z-]{{0,20}}\d)(?=[\d-]{{0,20}}(?-i:[A-Z]))(?-i:[A-Z\d][A-Z\d-]{{1,30}})(?!\w) )
  | (?P<number> (?<![\w)])[-+−]?(?:\d++(?:[.,]\d++)*+|\.\d++)(?:(?:st|nd|rd|th)\b)?
      | \d++(?:[.,]\d++)*+
      | \b{NUMBER_WORD}(?:(?:[ -]|(?<=hundred)[ ]and[ ]|(?<=thousand)[ ]and[ ]){NUMBER_WORD})*+\b )
  | (?P<word> [^\W\d_]++(?:['’][^\W\d_]++)*+ )
  | (?P<end> [.!?。！？]++ | \n )
  | (?P<space> [ ] )
  | (?P<other> . )
    """,
    re.VERBOSE | re.IGNORECASE,
)

_PLACEHOLDERS = {"text": TEXT, "date": DATE, "code": NAME, "number": NUMBER}
_ADJACENT_NAMES = re.compile(r"<name>(?:(?: |-|(?: (?:of|of the|de|da|del|di|la|le|van|von|&) ))<name>)++")
_FIRST_PERSON = frozenset(("I", "I'm", "I'd", "I'll", "I've", "I’m", "I’d", "I’ll", "I’ve"))


def question_template(text: str) -> str:
    """A question up to values: what two questions of one template share, whatever they ask about.

    Quoted texts, dates and times, numbers (as digits or words) and capitalised names become placeholders;
    case and white space do not count. The first word of a sentence is no name; where more than half of the
    other words are capitalised, case tells nothing and no word is one.

    Args:
        text: The question.

    >>> question_template("Find two hotels in New York for May 5th, 2024, under $1,200.50!")
    'find <number> hotels in <name> for <date>, under $<number>!'
    >>> question_template("what is 3/4 of ' x ' ?") == question_template("What is 1/2 of ' x ' ?")
    True
    """
    tokens = list(_tokens(question_words(text)))
    within = [word for kind, word in tokens if kind == "word"]
    cased = 2 * sum(word[0].isupper() for word in within) <= len(within)
    return _ADJACENT_NAMES.sub(
        NAME, "".join([_mask_token(kind, word, cased=cased) for kind, word in tokens])
    ).strip()


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """The pieces of a text, each with its kind: ``"word"`` is one that may be a name."""
    first = True
    for match in _TOKENS.finditer(text):
        kind, word = match.lastgroup or "other", match.group()
        yield "first" if kind == "word" and (first or word in _FIRST_PERSON) else kind, word
        first = kind == "end" or (first and kind in ("space", "other"))


def _mask_token(kind: str, word: str, *, cased: bool) -> str:
    if kind in _PLACEHOLDERS:
        return _PLACEHOLDERS[kind]
    if kind == "word" and cased and word[0].isupper():
        return NAME
    return " " if word == "\n" else word.casefold()


def question_words(text: str) -> str:
    r"""A question word for word: how much white space stands between words, and at the ends, does not count.

    >>> question_words(" What  is it? \n\n Now. ")
    'What is it?\nNow.'
    """
    return "\n".join([" ".join(line.split()) for line in text.splitlines() if line.strip()])


def question_text(value: Any) -> str | None:
    """The words of the user in a field of a record: a text, a number, parts, or messages of a conversation.

    Args:
        value: What stands in the field.

    Returns:
        None where nobody has a question.

    >>> question_text([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}])
    'Hi'
    >>> question_text([{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]), question_text(5)
    ('Hi', '5')
    """
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    value = join_messages(value)
    if not isinstance(value, list):
        return None
    turns = [turn for turn in value if isinstance(turn, dict)]
    if any("role" in turn or "from" in turn for turn in turns):
        user_turns = [turn for turn in turns if turn.get("role", turn.get("from")) in ("user", "human")]
        texts = ["\n".join(texts_of(turn.get("content", turn.get("value")))) for turn in user_turns]
    else:
        texts = [*texts_of(turns)]
    return "\n".join(texts) if any(map(str.strip, texts)) else None
