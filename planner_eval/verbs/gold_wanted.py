"""What a gold record says that its plan comes to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner_eval.auditing.answered import is_given
from planner_eval.auditing.options import offered, read_options
from planner_eval.auditing.subject import Wanted
from planner_eval.base.text import shown
from planner_eval.datasets.mathqa import options as written_options
from planner_eval.records.files import Record


def wanted_of(record: Record, answer: str) -> Wanted:
    """What a record says that its plan comes to: a gold answer, or one of several on offer.

    Args:
        record: The record; of a data set it holds its sample.
        answer: The field of the gold answer.

    >>> record = Record("g.jsonl", 0, "q1", "f()", fields={"options": {"a": "3", "b": "4"}, "correct": "B"})
    >>> wanted_of(record, "gold_answer").correct
    'b'
    """
    fields, options = _fields(record), _options(record)
    correct = fields.get("correct")
    letter = correct.strip(" ()[].:\t\n").lower() if isinstance(correct, str) else ""
    if options and letter in dict(options):
        return Wanted(options=options, correct=letter)
    if not is_given(fields.get(answer)):
        return Wanted()
    text = fields.get(f"{answer}_text")
    return Wanted(fields[answer], True, text if isinstance(text, str) else None)


def odd_choice(record: Record) -> str | None:
    """Why the answers on offer of a record say nothing; None where they do, or there are none.

    Args:
        record: The record.

    >>> odd_choice(Record("g.jsonl", 0, "q1", "f()", fields={"options": ["3", "4"], "correct": "z"}))
    'correct is "z", expected one of a, b'
    """
    fields = _fields(record)
    if "options" not in fields or "correct" not in fields:
        return None
    options, accepted = _options(record), wanted_of(record, "").options
    if accepted and all(offered(text) is None for _, text in options):
        return f"none of options is a number: {shown(fields['options'], 40)}"
    if accepted:
        return None
    if options:
        return f"correct is {shown(fields['correct'], 40)}, expected one of {', '.join(dict(options))[:80]}"
    return f"options is {shown(fields['options'], 40)}, expected answers by letter, or a list of them"


def _fields(record: Record) -> Mapping[str, Any]:
    """What stands beside a plan; of a data set's sample what it keeps of its record."""
    sample = record.source
    return sample.extra if hasattr(sample, "category") else record.fields


def _options(record: Record) -> tuple[tuple[str, str], ...]:
    options = _fields(record).get("options")
    return read_options(written_options(options) if isinstance(options, str) else options)
