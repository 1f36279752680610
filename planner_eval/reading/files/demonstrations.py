"""The demonstrations of a run that asked a model, and what they show of its own gold."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.json_files import read_json
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import format_count

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
    'demonstrations out of the test set, test.json'
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
            sentence = f"demonstrations out of the test set{origin}"
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
        sentence = f"{sentence}; {self.shared:,} of {calls} {_format_own_prompts(self.shared)}"
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


def _format_own_prompts(count: int) -> str:
    return "occurs in its own prompt" if count == 1 else "occur in their own prompts"


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
