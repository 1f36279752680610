"""What each word does that readers know: names of fields, kinds and functions, in texts that turn on it.

A line of tests/cases/words.jsonl is a table of the package, a text, the words of the table that stand in it
by turns, and what is read with each. A word that a table does not have any more stays in its line; ``pytest
tests/test_words.py --update-cases`` adds those that are new, all of a line without words: review its diff.
"""

import json
from importlib import import_module
from typing import Any

from planner_eval.base.errors import PlanevalError
from planner_eval.reading.dialects.read import parse
from planner_eval.reading.files.context import question_field
from planner_eval.reading.files.recorded_runs import recorded_costs, recorded_verdict
from planner_eval.reading.files.trials import trial_of
from planner_eval.reading.parse import parse as parse_record
from planner_eval.reading.parse import read
from tests.conftest import ROOT, AsKept
from tests.test_dialect_cases import printed

FILE = ROOT / "tests" / "cases" / "words.jsonl"
FILES = "planner_eval.reading.files."


def said(text: str, *, file: bool) -> Any:
    """What is read of a text, of a file as the records that it is."""
    try:
        if not file:
            plan = parse(text)
            return [plan.dialect, plan.reason, *printed(plan).split("\n")]
        found = []
        for role in ("answer", "gold"):
            records = read(json.loads(text), role=role)
            found += [role, records.content, records.id_field]
            for one in records.records:
                plan = printed(parse_record(one)) if one.error is None else str(one.error)
                beside = (trial_of(one), recorded_verdict(one), recorded_costs(one))
                found.append([one.id, plan, *filter(None, beside)])
            found += question_field(None, records)[1]
        return found
    except PlanevalError as error:
        return str(error).split("\n")[0]


def test_each_word_does_its_work(as_kept: AsKept, request: Any) -> None:
    lines = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
    for line in lines:
        words = {*line["words"]}
        if line["table"] and request.config.getoption("--update-cases"):
            module, _, table = line["table"].rpartition(".")
            words |= {word for word in getattr(import_module(module), table) if isinstance(word, str)}
        file = line["table"].startswith(FILES)
        line["words"] = {word: said(line["text"].replace("•", word), file=file) for word in sorted(words)}
    as_kept(FILE, lines)
