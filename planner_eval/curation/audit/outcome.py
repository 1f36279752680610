"""Gold that was run: it fails, or comes to another answer than its record says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import isclose
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import one_line_json
from planner_eval.benchmarks.datasets.mathqa import read_options as written_options
from planner_eval.comparison.policy.values import number_of
from planner_eval.curation.audit.subject import AuditedRecord, ExpectedAnswer
from planner_eval.curation.audit.words import TABLES
from planner_eval.execution.answers import answers_match
from planner_eval.execution.trace import Trace
from planner_eval.plan.model import Call
from planner_eval.reading.files.record import Record
from planner_eval.results.findings import CONFIDENCES, Confidence, GoldFinding

# ----------------------------------------------------------------------
# What an answer on offer says: a number, with its unit, as people write them in multiple choice.
_MINUS = "[-−–]"
_NUMBER_PATTERN = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+"
# One number, or a fraction, or a ratio; words or a sign before it, and a unit after it that holds no more
# numbers than a power. Every repetition is possessive or bounded.
_OPTION = re.compile(
    rf"""(?ix)
    (?P<before> (?: (?:rs|s|re)[ ]?[.:][ ] | [a-z$€£₹=][a-z$€£₹= ]{{0,11}}+ (?: :[ ] )?+ )?+ \s*+ )
    (?P<minus> {_MINUS}?+ ) \s*+
    (?: (?P<whole> \d+ ) \s++ (?P<up> \d+ ) \s*+ [/⁄] \s*+ (?P<low> \d+ )
      | (?P<over> {_NUMBER_PATTERN} ) \s*+ (?P<sign> [/⁄:] ) \s*+ (?P<under> {_NUMBER_PATTERN} )
      | (?P<number> {_NUMBER_PATTERN} ) )
    \s*+ (?P<after> %?+ [a-z$€°²³ .]{{0,30}}+
        (?: / [ ]* (?:hr?|hour|sec?|min|minute|day) )?+ (?: (?<=[a-z ]) \^?[ ]?[23] )?+ )
    [ .)]*+
    """
)
_NUMBER_WORDS: dict[str, int] = TABLES["numbers"]


_MAX_OPTIONS = 26
_LABEL = re.compile(
    r"""(?ix)\s{0,9}[(\[]?\ ?
      (?: (?P<letter>[a-z])(?:\ ?[)\]:]|\ ?\.(?=\ )|\ [-–—](?=\ ))
        | (?P<number>\d\d?)(?:[)\]]|\.(?=\ )) )\s{0,9}"""
)
"""A letter or number before an answer on offer."""


class OfferedAnswer(NamedTuple):
    """What an answer on offer says.

    Args:
        value: Its number.
        plain: Whether it is that number and a unit: no fraction, no ratio, no share of a hundred.
        decimals: How many it is written with.
        unit: What stands around the number.
    """

    value: float
    plain: bool = True
    decimals: int = 0
    unit: str = ""

    def is_near(self, value: float) -> bool:
        """Whether a value may be meant by it: however it is rounded, of a hundred, of a part of the whole.

        Wide on purpose: one that is near the right answer, or is cut to it, is no doubt about gold.
        """
        if self.value and float(int(value)) == self.value:
            return True
        readings = (self.value, self.value / 100, self.value * 100)
        least = max(0.5 * 10.0**-self.decimals, 0.01)
        return any(isclose(abs(reading), abs(value), rel_tol=0.01, abs_tol=least) for reading in readings)

    def is_value(self, value: float) -> bool:
        """Whether it says exactly this value."""
        return isclose(self.value, value, rel_tol=1e-9, abs_tol=1e-12)

    def is_rounded(self, value: float) -> bool:
        """Whether it says this value, rounded to the decimals that it is written with, or of a hundred."""
        readings = (self.value, self.value / 100, self.value * 100) if "%" in self.unit else (self.value,)
        return any(
            abs(reading - value) <= 0.5 * 10.0**-self.decimals * reading / (self.value or 1)
            for reading in readings
        )


def read_offered_answer(text: str) -> OfferedAnswer | None:
    """What an answer on offer says; None where it is no single number: words, terms, several numbers.

    Args:
        text: The answer as it is shown.

    >>> (
    ...     read_offered_answer("rs . 1,200"), read_offered_answer("3 1 / 2 days").value,
    ...     read_offered_answer("25 √ 3")
    ... )
    (OfferedAnswer(value=1200.0, plain=True, decimals=0, unit='rs .'), 3.5, None)
    """
    text = text.strip().lower()
    if text in _NUMBER_WORDS:
        return OfferedAnswer(float(_NUMBER_WORDS[text]))
    match = _OPTION.fullmatch(text)
    if match is None:
        return None
    unit = " ".join((match["before"] + match["after"]).split())
    sign = -1.0 if match["minus"] else 1.0
    if match["number"] is None:
        integer = _parse_float(match["whole"] or "0")
        numerator = _parse_float(match["up"] or match["over"])
        denominator = _parse_float(match["low"] or match["under"])
        if not denominator:
            return None
        value = sign * (integer + numerator / denominator)
        return OfferedAnswer(value, False, 2, unit + (match["sign"] or ""))
    number = match["number"]
    decimals = len(number.rpartition(".")[2]) if "." in number else 0
    return OfferedAnswer(sign * _parse_float(number), "%" not in unit, decimals, unit)


def _parse_float(text: str) -> float:
    return float(text.replace(",", ""))


def read_options(options: Any) -> tuple[tuple[str, str], ...]:
    """The answers on offer by letter, as records hold them: an object, or a list of texts.

    A letter that a text begins with is its own ("A. 38", "(a) 38", "a ) 38") and no part of it;
    so is a number where all of a list have one.

    Args:
        options: What the record holds.

    >>> read_options({"a": "38", "b": 27.675}), read_options(["x", "y"])
    ((('a', '38'), ('b', '27.675')), (('a', 'x'), ('b', 'y')))
    >>> read_options(["B. 7", "A. 12"]), read_options(["1) 7", "2) 12"])
    ((('b', '7'), ('a', '12')), (('1', '7'), ('2', '12')))
    """
    if isinstance(options, dict):
        named = ((str(key).strip().lower(), str(value)) for key, value in options.items())
        return tuple((key, _strip_label(key, value)) for key, value in named)
    if isinstance(options, list) and len(options) <= _MAX_OPTIONS:
        texts = [str(value) for value in options]
        letters = [chr(97 + index) for index in range(len(texts))]
        own = [_read_label(text)[0] for text in texts]
        for keys in (letters, [str(number) for number in range(1, len(texts) + 1)]):
            if len(texts) > 1 and sorted(own) == sorted(keys):
                letters = own
        return tuple((key, _strip_label(key, text)) for key, text in zip(letters, texts, strict=True))
    return ()


def _read_label(text: str) -> tuple[str, int]:
    """The letter or number before an answer, and where the answer begins."""
    match = _LABEL.match(text)
    if match is None or match.end() == len(text):
        return "", 0
    return (match["letter"] or match["number"]).lower(), match.end()


def _strip_label(key: str, text: str) -> str:
    """An answer without its own letter."""
    label, begins = _read_label(text)
    return text[begins:] if label == key else text


# ----------------------------------------------------------------------
# Whether what a gold plan came to is the gold answer beside it, as people write answers down.
_MAX_CHARACTERS = 2_000
"""Of a longer text the end is read, where the answer stands."""
_MAX_UNIT_WORDS = 2
"""More words than these beside a number are a sentence, which may count something else."""
_ANSWER_MARK = re.compile(r"(?i)####|\banswer(?: is|\s*[:=])")
_BOXED_ANSWER = re.compile(r"\\boxed\s*\{([^{}]{1,200})\}")
_PLAIN_NUMBER = re.compile(r"(?i)[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d{1,4})?")
_NUMBER = re.compile(r"(?<![\w.])[-−–]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d++)(?:\.\d++)?")


def is_answer(answer: Any) -> bool:
    """Whether a record's field holds an answer: null and blanks are none.

    Args:
        answer: What stands in the field.
    """
    return bool(answer.strip()) if isinstance(answer, str) else answer is not None


def mismatch_confidence(value: Any, gold: Any, text: str | None = None) -> Confidence | None:
    """How sure it is that a value is not the gold answer.

    Args:
        value: What the plan gives.
        gold: The gold answer.
        text: The gold answer as released.

    Returns:
        None where it is, or may be; ``"low"`` where the two cannot be compared: an answer in words beside a
        number, a list beside a text.

    >>> [mismatch_confidence(12, gold) for gold in ("$12", "1 2/3", "#### 12", [12], "The answer is 12.",
    ...     "it depends")]
    [None, 'medium', None, None, None, 'low']
    """
    if answers_match(value, gold, text):
        return None
    value, gold = _unwrap_single(value), _unwrap_single(gold)
    if answers_match(value, gold, text):
        return None
    if isinstance(gold, str) or isinstance(value, str):
        return _text_mismatch_confidence(value, gold)
    if isinstance(value, dict) and isinstance(gold, dict):
        value = {str(key): item for key, item in value.items()}
        keys = [*gold] if value.keys() == gold.keys() else []
        value, gold = [value[key] for key in keys], [gold[key] for key in keys]
    if isinstance(value, (list, tuple)) and isinstance(gold, (list, tuple)):
        if len(value) != len(gold) or not value:
            return "high"
        doubts = [mismatch_confidence(item, expected) for item, expected in zip(value, gold, strict=True)]
        return next((confidence for confidence in CONFIDENCES if confidence in doubts), None)
    return "high" if _kind(value) is _kind(gold) else "low"


def _unwrap_single(value: Any) -> Any:
    """What a list or an object of one holds."""
    while isinstance(value, (list, tuple, dict)) and len(value) == 1:
        value = next(iter(value.values() if isinstance(value, dict) else value))
    return value


def _kind(value: Any) -> type:
    return type(value) if number_of(value) is None else float


def _text_mismatch_confidence(value: Any, gold: Any) -> Confidence | None:
    """The same where one of the two is a text, or both are."""
    if isinstance(value, str) and isinstance(gold, str):
        return None if value.strip().casefold() == gold.strip().casefold() else "high"
    text, other = (gold, value) if isinstance(gold, str) else (value, gold)
    number = number_of(other)
    if number is None:
        return "low"
    answer_text = text[-_MAX_CHARACTERS:].strip()
    boxed = _BOXED_ANSWER.findall(answer_text)
    marked = boxed[-1] if boxed else _ANSWER_MARK.split(answer_text)[-1]
    text = marked.strip().strip("$:=* ").removesuffix(".").strip() if marked.strip() else answer_text
    plain = text.replace(",", "") if re.fullmatch(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?", text) else text
    if _PLAIN_NUMBER.fullmatch(plain):
        is_integer = plain.lstrip("+-").isdecimal() and len(plain) <= 300
        return None if answers_match(other, int(plain) if is_integer else float(plain)) else "high"
    option, sure = read_offered_answer(text), True
    if option is None:
        numbers = _NUMBER.findall(text)
        option, sure = (read_offered_answer(numbers[0]) if len(numbers) == 1 else None), False
    if option is None:
        return "low"
    if option.is_value(number) or option.is_rounded(number):
        return None
    named = option.plain and len(option.unit.split()) <= _MAX_UNIT_WORDS
    return "high" if sure and named and not option.is_near(number) else "medium"


# ----------------------------------------------------------------------
# What a gold record says that its plan comes to.
def read_expected_answer(record: Record, answer: str) -> ExpectedAnswer:
    """What a record says that its plan comes to: a gold answer, or one of several on offer.

    Args:
        record: The record; of a data set it holds its sample.
        answer: The field of the gold answer.

    >>> record = Record("g.jsonl", 0, "q1", "f()", fields={"options": {"a": "3", "b": "4"}, "correct": "B"})
    >>> read_expected_answer(record, "gold_answer").correct
    'b'
    """
    fields, options = _extra_fields(record), _read_answer_options(record)
    correct = fields.get("correct")
    letter = correct.strip(" ()[].:\t\n").lower() if isinstance(correct, str) else ""
    if options and letter in dict(options):
        return ExpectedAnswer(options=options, correct=letter)
    if not is_answer(fields.get(answer)):
        return ExpectedAnswer()
    text = fields.get(f"{answer}_text")
    return ExpectedAnswer(fields[answer], True, text if isinstance(text, str) else None)


def describe_unusable_options(record: Record) -> str | None:
    """Why the answer options of a record say nothing; None where they do, or there are none.

    Args:
        record: The record.

    >>> describe_unusable_options(
    ...     Record("g.jsonl", 0, "q1", "f()", fields={"options": ["3", "4"], "correct": "z"}))
    'correct is "z", expected one of a, b'
    """
    fields = _extra_fields(record)
    if "options" not in fields or "correct" not in fields:
        return None
    options, listed = _read_answer_options(record), one_line_json(fields["options"], 40)
    if not options:
        return f"options is {listed}, expected answers by letter, or a list of answers"
    if not read_expected_answer(record, "").options:
        letters = ", ".join(dict(options))[:80]
        return f"correct is {one_line_json(fields['correct'], 40)}, expected one of {letters}"
    is_read = any(read_offered_answer(text) is not None for _, text in options)
    return None if is_read else f"none of the options is a number: {listed}"


def _extra_fields(record: Record) -> Mapping[str, Any]:
    """What stands beside a plan; of a data set's sample what it keeps of its record."""
    sample = record.source
    return sample.extra if hasattr(sample, "category") else record.fields


def _read_answer_options(record: Record) -> tuple[tuple[str, str], ...]:
    options = _extra_fields(record).get("options")
    return read_options(written_options(options) if isinstance(options, str) else options)


# ----------------------------------------------------------------------
# Gold that was run: it fails, or comes to another answer than its record says.
CODES = ("gold.fails", "gold.answer", "gold.option")

NOT_RUN_KINDS = ("unknown-tool", "not-recorded", "not-run", "unsendable", "initial-state", "worker-lied")
"""Failures that say what the tools lack, and nothing of the plan."""

_PLAN_FAULT_KINDS = ("unresolved", "cycle", "producer-failed")
"""Failures of which the plan itself was found to be the cause."""

_CALL_ERROR_KINDS = ("missing-argument", "unknown-argument", "repeated-argument", "no-such-output")
"""Failures before a tool did anything."""

_PARAMETER_NAME_ERROR_KINDS = ("missing-argument", "unknown-argument")
"""Failures of which a function that names its parameters otherwise than its specification is the cause."""

_RESOURCE_LIMIT_KINDS = (
    "timeout",
    "worker-died",
    "output-limit",
    "disk-limit",
    "task-limit",
    "too-many-items",
)
"""Failures of which the time and room given may be the cause."""

_WIDTH = 60


def lacks_tools(trace: Trace) -> bool:
    """Whether a run says nothing of its plan: the tools do not have what it calls.

    Args:
        trace: The run.
    """
    kinds = [call.error.kind for call in trace.failed if call.error is not None]
    if trace.ended is not None:
        kinds.append(trace.ended.kind)
    return any(kind in NOT_RUN_KINDS for kind in kinds)


def audit_outcome(subject: AuditedRecord) -> Iterator[GoldFinding]:
    """What a plan's run says against it.

    Args:
        subject: The record, with its run.

    >>> from planner_eval.reading.dialects.read import parse
    >>> from planner_eval.execution.run import execute
    >>> plan = parse([{"name": "add", "arguments": {"arg_0": 1, "arg_1": 2}}], dialect="nestful")
    >>> run = execute(plan, "nestful", isolation="inline")
    >>> wanted = ExpectedAnswer(options=(("a", "3"), ("b", "4")), correct="b")
    >>> [found.message for found in audit_outcome(AuditedRecord("q1", plan, basic=True, wanted=wanted,
    ...     trace=run))]
    ['the plan gives 3, which is option a; gold says b = 4']
    """
    trace = subject.trace
    if trace is None or not trace.calls or lacks_tools(trace):
        return
    if not trace.ok:
        yield from _find_failure(subject, trace)
        return
    value, is_known = _final_value(subject, trace)
    if not is_known:
        return
    expected = subject.wanted
    if expected.options:
        yield from _find_chosen_option(subject, expected, value)
    elif expected.known:
        yield from _find_other_answer(subject, expected, value)


def _find_other_answer(subject: AuditedRecord, expected: ExpectedAnswer, value: Any) -> Iterator[GoldFinding]:
    """That a value is not the gold answer, or cannot be held against it."""
    sure = mismatch_confidence(value, expected.answer, expected.text)
    if sure is None:
        return
    message = (
        f"the plan gives {one_line_json(value, _WIDTH)}; the gold answer is "
        f"{one_line_json(expected.answer, _WIDTH)}"
    )
    if sure == "low":
        message += ", which cannot be compared with it"
    elif not subject.arithmetic(subject.plan.calls[-1]):
        sure = "medium"
    yield GoldFinding("gold.answer", message, sure, _answer_call(subject))


def _final_value(subject: AuditedRecord, trace: Trace) -> tuple[Any, bool]:
    """What the user gets of a run, and whether that is known: the one named value, or the last call's."""
    if subject.plan.answer is not None:
        named = trace.answer
        if named is None:
            return None, False
        return (named[0][1] if len(named) == 1 else dict(named)), bool(named)
    return trace.result, True


def _answer_call(subject: AuditedRecord) -> int | None:
    return None if subject.plan.answer is not None else len(subject.plan.calls) - 1


def _find_failure(subject: AuditedRecord, trace: Trace) -> Iterator[GoldFinding]:
    """The first failure: the others may follow from it."""
    first = next((index for index, call in enumerate(trace.calls) if call.status == "failed"), None)
    error = trace.calls[first].error if first is not None else trace.ended
    if error is None or error.kind in _PLAN_FAULT_KINDS:
        return
    message = f"the plan fails when run: {error.kind}: {error.message}"
    # a tool of the user's may fail for reasons of its own; one of ours fails for its arguments alone
    sure: Confidence = "high" if error.kind in _CALL_ERROR_KINDS else "medium"
    call = None if first is None else subject.plan.calls[first]
    if call is None or error.kind in _RESOURCE_LIMIT_KINDS:
        sure = "low"
    elif error.kind in _PARAMETER_NAME_ERROR_KINDS and _is_specified(subject, call):
        message += ", but its specification accepts gold's arguments (--by position passes them as written)"
        sure = "low"
    elif sure == "medium" and subject.arithmetic(call):
        sure = "high"
    yield GoldFinding("gold.fails", message, sure, first)


def _is_specified(subject: AuditedRecord, call: Call) -> bool:
    """Whether a call has the arguments that its tool's specification names: the function has other names."""
    tools = subject.catalog.find(call.name, call.app) if subject.catalog is not None else ()
    names = {name for name, _ in call.arguments}
    return any(
        (tool.open or names <= {parameter.name for parameter in tool.parameters})
        and names >= {parameter.name for parameter in tool.parameters if parameter.required}
        for tool in tools
    )


# ---------------------------------------------------------------- multiple choice
def _find_chosen_option(
    subject: AuditedRecord, expected: ExpectedAnswer, value: Any
) -> Iterator[GoldFinding]:
    """Which of the answers on offer a value is, where it is not the right one."""
    number = number_of(value)
    texts = dict(expected.options)
    read = {letter: read_offered_answer(text) for letter, text in expected.options}
    right = read.get(expected.correct)
    if number is None or expected.correct not in texts or (right is not None and right.is_rounded(number)):
        return
    matching = {k: option for k, option in read.items() if option is not None and option.is_value(number)}
    gold = f"gold says {expected.correct} = {texts[expected.correct].strip()}"
    sure: Confidence
    if matching:
        which = f"option{'s' * (len(matching) > 1)} {' and '.join(matching)}"
        message = f"the plan gives {one_line_json(value, _WIDTH)}, which is {which}; {gold}"
        sure = "low" if right is None else "medium"
        other = next(iter(matching.values()))
        if right is not None and other.plain and right.plain and other.unit == right.unit:
            sure = "high"
        yield GoldFinding("gold.option", message, sure, _answer_call(subject))
    elif right is not None and not right.is_near(number) and None not in read.values():
        message = f"the plan gives {one_line_json(value, _WIDTH)}, which is not an option; {gold}"
        sure = "high" if right.plain else "medium"
        yield GoldFinding("gold.answer", message, sure, _answer_call(subject))
