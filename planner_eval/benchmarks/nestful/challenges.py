"""Where NESTful's answers fail: the challenges that the paper names.

Section 5 names data types, variable assignments and implicit calls; section 4.4 besides the details of
output parameters. The paper counts none of them and no code was published: what counts is said here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from planner_eval.base.errors import CatalogError
from planner_eval.benchmarks.nestful.corrected import Outcome
from planner_eval.benchmarks.nestful.reading import read_prediction
from planner_eval.benchmarks.nestful.specs import usual_layout
from planner_eval.catalogs.benchmarks import read_nestful
from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.check import check
from planner_eval.datasets.sample import Sample
from planner_eval.plan.model import Plan

FOUND = {
    "data types": (
        "check.wrong_type", "check.output_type", "check.format", "check.enum", "check.out_of_range",
    ),
    "variable assignments": (
        "label.duplicate", "reference.unresolved", "reference.forward", "reference.malformed",
    ),
    "output parameters": ("check.unknown_output",),
}  # fmt: skip
"""A challenge → the findings that show it in a plan: values and outputs of another type than the tool's
specification says; labels given twice, and references to what no earlier call returns; outputs that the
tool does not have."""
IMPLICIT, UNREAD, OTHER = "implicit calls", "unreadable", "none of these"
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


@dataclass(frozen=True, slots=True)
class Challenge:
    """How often one challenge shows in answers that failed.

    Args:
        name: A key of :data:`FOUND`, :data:`IMPLICIT`, :data:`UNREAD` or :data:`OTHER`.
        samples: Answers that show it; one can show several.
        of: Answers that failed.
        times: How often it shows in them.
        note: What counts.
    """

    name: str
    samples: int
    of: int
    times: int
    note: str = ""


_NOTES = {
    "data types": "values and outputs that do not fit the parameter",
    "variable assignments": "labels given twice, references to nothing",
    "output parameters": "outputs that the tool does not have",
    IMPLICIT: "functions of gold not called, nor named by the query",
}


def challenges(answers: Iterable[tuple[Sample, str, Outcome]], *, model: str) -> list[Challenge]:
    """What is wrong with the answers that failed, by the challenges of sections 5 and 4.4.

    An answer fails that does not mean the same as gold, and does not win where answers are run; there,
    samples whose functions are not there are left out. What gold's own plan shows as well is no fault.

    Args:
        answers: Samples with what was answered and what became of it, see :func:`.corrected.outcomes`.
        model: The model name that chooses the published reader.

    Returns:
        A row a challenge; none where no answer failed.
    """
    failures: list[Counter[str]] = []
    for sample, text, outcome in answers:
        gold, counts = outcome.gold, outcome.counts
        if gold is not None and counts is not None and counts.runnable and not (counts.won or counts.full):
            failures.append(_shown(sample, text, gold, model))
    names = (*FOUND, IMPLICIT, UNREAD)
    rows = [
        Challenge(
            name,
            sum(failure[name] > 0 for failure in failures),
            len(failures),
            sum(failure[name] for failure in failures),
            _NOTES.get(name, ""),
        )
        for name in names
    ]
    unexplained = sum(not failure for failure in failures)
    return [*rows, Challenge(OTHER, unexplained, len(failures), unexplained)] if failures else []


def _shown(sample: Sample, text: str, gold: Plan, model: str) -> Counter[str]:
    """The challenges that one answer shows, each with how often."""
    reading = read_prediction(text, model, sample.tools)
    if reading.error is not None:
        return Counter({UNREAD: 1})
    try:
        catalog = read_nestful(usual_layout(sample.tools), "tools")
    except CatalogError:
        catalog = Catalog((), "tools")
    extra = _findings(reading.plan, catalog) - _findings(gold, catalog)
    occurrences: Counter[str] = Counter()
    for name, codes in FOUND.items():
        occurrences[name] = sum(times for (code, *_), times in extra.items() if code in codes)
    absent = Counter(call.name for call in gold.calls) - Counter(call.name for call in reading.plan.calls)
    words = _words(sample.query)
    occurrences[IMPLICIT] = sum(times for name, times in absent.items() if not _named(_words(name), words))
    return +occurrences


def _findings(plan: Plan, catalog: Catalog) -> Counter[tuple[str, str, str | None]]:
    """Code, tool and argument of everything that is wrong with a plan."""
    notes = [*plan.diagnostics, *check(plan, catalog)]
    return Counter(
        (note.code, "" if note.call is None else plan.calls[note.call].name, note.argument) for note in notes
    )


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _named(name: Sequence[str], words: Sequence[str]) -> bool:
    """Whether the words of a function's name stand in a row."""
    size = len(name)
    return size > 0 and any(words[start : start + size] == name for start in range(len(words) - size + 1))
