"""What stands around the plans of a file: the question, the state of tools, demonstrations in the prompt."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.json_files import read_json, read_json_lines
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import JsonObject, did_you_mean, format_count, lazy_pattern, one_line_json
from planner_eval.reading.dialects.conversations.messages import join_messages, texts_of
from planner_eval.reading.files.fields import (
    HEAD_SIZE,
    choose_id,
    has_field,
    id_text,
    value_at,
)
from planner_eval.reading.files.items import decode_text
from planner_eval.reading.files.opening import (
    open_path,
)
from planner_eval.reading.files.record import (
    Record,
    Records,
)

if TYPE_CHECKING:
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
_TOKENS = lazy_pattern(
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
_ADJACENT_NAMES = lazy_pattern(r"<name>(?:(?: |-|(?: (?:of|of the|de|da|del|di|la|le|van|von|&) ))<name>)++")
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


# ----------------------------------------------------------------------
# The state in which the tools of a record begin: a field of the record, or what a file says.
STATE_FIELDS = ("state", "initial_state", "initial_config")
"""Fields that hold the state in which a record begins; BFCL has the last. A text in the first is none."""

NO_STATE = "none"
"""What the user says who wants none of these read."""


class StateSource(NamedTuple):
    """Where the states are that records begin in.

    Args:
        fields: The fields that may hold it.
        named: The user named the field: a text in it is no other thing's.
        shared: One for all records.
        listed: By the id of a record.
        file: The file that it is from.
    """

    fields: tuple[str, ...] = STATE_FIELDS
    named: bool = False
    shared: Any = None
    listed: Mapping[str, Any] | None = None
    file: str = ""

    def of(self, record: Record | None) -> Any:
        """The state in which a record begins; None for the tools' own.

        What is no object is given too: tools refuse it, so that the plan runs from no other state.

        Args:
            record: The record.

        Raises:
            InputError: the file of states has none for it.

        >>> StateSource().of(Record("p.jsonl", 0, "q1", "f()", fields={"state": {"rows": []}}))
        {'rows': []}
        """
        if self.listed is not None:
            named = record.id if record is not None else None
            if named is None or named not in self.listed:
                raise InputError(f"{self.file} has no state for the id {named}")
            return self.listed[named]
        if self.shared is not None or record is None:
            return self.shared
        values = {
            field: value_at(record.fields, field) for field in self.fields if has_field(record.fields, field)
        }
        if not self.named and isinstance(values.get("state"), str):
            del values["state"]  # of an address, of an order
        present = [value for value in values.values() if value is not None]
        return next((value for value in present if isinstance(value, dict)), present[0] if present else None)


def find_states(source: Any, records: Records = ()) -> StateSource:
    """Where the states are, from what a user gives.

    Args:
        source: None for :data:`STATE_FIELDS` of the records; the path of a file, the name of a field, or
            :data:`NO_STATE`; or the one state of all, as JSON data that is no text.
        records: The records, of which one at least must have a field that is named.

    Raises:
        InputError: there is no such file or field, or the file holds no states.

    >>> find_states({"rows": []}).of(None)
    {'rows': []}
    """
    if source is None or isinstance(source, StateSource):
        return source or StateSource()
    if source == NO_STATE:
        return StateSource(())
    if not isinstance(source, (str, os.PathLike)):
        return StateSource((), shared=source)
    name = os.fspath(source)
    if os.path.exists(name) or name == "-":
        return _read_states(name)
    if not any(has_field(record.fields, name) for record in records):
        raise InputError(
            f"there is no file {name}, and no record has a field of that name: pass a JSON "
            "object, a .jsonl file of records with id and state, or a field"
        )
    return StateSource((name,), named=True)


def _read_states(name: str) -> StateSource:
    opened = open_path(name, "states")
    text = decode_text(opened.data, name).text
    if opened.inner.endswith((".jsonl", ".ndjson")):
        lines = list(read_json_lines(text))
        broken = next((line.error for line in lines if line.error is not None), None)
        if broken is not None:
            raise InputError(f"{name}, {broken.brief}")
        return _build_states(name, [(f"{name}, line {line.number}", line.data) for line in lines])
    try:
        data = read_json(text)
    except ParseError as error:
        raise InputError(f"{name}, {error.brief}") from None
    if isinstance(data, list):
        return _build_states(name, [(f"{name}, record {n}", item) for n, item in enumerate(data, 1)])
    if not isinstance(data, dict):
        raise InputError(
            f"{name}: expected an object, the state of all records, found {one_line_json(data, 60)}"
        )
    return StateSource((), shared=data, file=name)


def _build_states(name: str, rows: Sequence[tuple[str, Any]]) -> StateSource:
    """The states of records with ids."""
    key = choose_id([row for _, row in rows if isinstance(row, dict)])
    listed: JsonObject = {}
    for where, row in rows:
        named = id_text(value_at(row, key)) if key is not None and isinstance(row, dict) else None
        field = next(
            (
                candidate
                for candidate in STATE_FIELDS
                if isinstance(row, dict) and row.get(candidate) is not None
            ),
            None,
        )
        if named is None or field is None:
            lacking = "an id" if named is None else "a state"
            raise InputError(
                f"{where}: expected a record with an id and {' or '.join(STATE_FIELDS)}, found none "
                f"with {lacking}: {one_line_json(row, 60)}"
            )
        if named in listed:
            raise InputError(f"{where}: the id {named} already has a state")
        listed[named] = row[field]
    if not listed:
        raise InputError(f"{name}: there is no state in it")
    return StateSource((), listed=listed, file=name)


# ----------------------------------------------------------------------
# The demonstrations of a run that asked a model, and what they show of its own gold.
DEMONSTRATIONS_FIELD = "demonstrations"
"""The field of a row, and of a run's ``report.json``, that says this."""

TEST_SET_MARK = "demonstrations: test set"
"""The mark in ``run.json`` of a run whose demonstrations come out of the test set."""

SHARED_ANSWERS_LABEL = "demonstrations share answers"
"""What a table adds to the name of such a run."""

ROWS_FILE, REPORT_FILE = "rows.jsonl", "report.json"
"""The answers of a run, and beside them what they come to."""


class Demonstrations(NamedTuple):
    """Where the demonstrations of a run come from, and how many gold calls they show to their own samples.

    Args:
        source: What the user named.
        records: How many demonstrations there are.
        tested: How many of them ask a question of the test set.
        samples: How many samples with a gold plan that can be read were asked.
        gold_calls: How many calls these plans have.
        shared: How many of the calls stand in a demonstration of their own sample.
        whole: Of how many samples all calls do.

    >>> Demonstrations("test.json", 9, 9).mark
    'demonstrations taken from the test set, test.json'
    >>> Demonstrations("train.json", 9, 0, 8, 20, 5, 1).mark.partition("; ")[2]
    '5 of 20 gold calls occur in their own prompts, all calls of 1 of 8 samples'
    >>> Demonstrations("train.json", 9, 0, 8, 20, 0, 0).mark
    ''
    """

    source: str
    records: int
    tested: int
    samples: int = 0
    gold_calls: int = 0
    shared: int = 0
    whole: int = 0

    @property
    def mark(self) -> str:
        """What figures are marked with; "" where demonstrations share no answer with the test set."""
        if not (self.tested or self.shared):
            return ""
        origin = f", {self.source}" if self.source else ""
        if self.tested == self.records:
            sentence = f"demonstrations taken from the test set{origin}"
        elif self.tested:
            sentence = (
                f"{self.tested:,} of {format_count(self.records, 'demonstration')} out of the test "
                f"set{origin}"
            )
        else:
            sentence = f"demonstrations{origin.replace(',', ' out of', 1)}"
        if not self.gold_calls:
            return sentence
        calls = format_count(self.gold_calls, "gold call")
        if not self.shared:
            return f"{sentence}; none of {calls} occurs in its own prompt"
        occur = "occurs in its own prompt" if self.shared == 1 else "occur in their own prompts"
        sentence = f"{sentence}; {self.shared:,} of {calls} {occur}"
        complete_samples = f", all calls of {self.whole:,} of {format_count(self.samples, 'sample')}"
        return sentence + complete_samples * bool(self.whole)

    def with_rows(self, rows: Iterable[Mapping[str, Any]]) -> Demonstrations:
        """The same, with what rows say that they were shown; of a sample that was asked again the first row.

        Args:
            rows: Those of the run, or what would stand in their field alone.
        """
        entries = [
            row[DEMONSTRATIONS_FIELD]
            for row in rows
            if row.get(DEMONSTRATIONS_FIELD) and not row.get("repetition")
        ]
        pairs = [(entry["gold_calls"], entry["shared"]) for entry in entries if "shared" in entry]
        return self._replace(
            samples=len(pairs),
            gold_calls=sum(calls for calls, _ in pairs),
            shared=sum(shared for _, shared in pairs),
            whole=sum(0 < calls == shared for calls, shared in pairs),
        )


def find_mark(path: str) -> str:
    """What the figures of a file of answers are marked with; "" of one that no run with demonstrations wrote.

    Args:
        path: The file.

    >>> find_mark("pred.jsonl")
    ''
    """
    folder, name = os.path.split(path)
    if name != ROWS_FILE:
        return ""
    try:
        with open(os.path.join(folder, REPORT_FILE), encoding="utf-8") as stream:
            return Demonstrations(**read_json(stream.read())[DEMONSTRATIONS_FIELD]).mark
    except (OSError, ValueError, ParseError, KeyError, TypeError):  # of another run, or of none
        return ""
