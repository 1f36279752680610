"""What is irregular in a data set, counted; and whether every gold plan can be read and equals itself."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from planner_eval.base.errors import CODES, ParseError
from planner_eval.datasets.gold import gold_plan
from planner_eval.datasets.sample import Sample
from planner_eval.plan.canonical import same
from planner_eval.plan.model import Diagnostic

SEVERITIES = ("error", "warning", "info")


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of irregularity.

    Args:
        code: Its code.
        severity: The worst that it was given.
        count: How often it was found.
        records: In how many samples.
        examples: The first few, as ``id: message``.
    """

    code: str
    severity: str
    count: int
    records: int
    examples: tuple[str, ...]

    @property
    def meaning(self) -> str:
        """The code's meaning in one line."""
        return CODES.get(self.code, "")


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found in some samples.

    Args:
        samples: How many there are.
        findings: Irregularities, most serious and most frequent first.
        plans: How many gold plans were read.
        unreadable: Gold plans that no parser reads, as ``id: reason``.
        unequal: Samples whose gold plan is not the same as itself; a fault of this program.
    """

    samples: int
    findings: tuple[Finding, ...]
    plans: int = 0
    unreadable: tuple[str, ...] = ()
    unequal: tuple[str, ...] = ()

    @property
    def serious(self) -> bool:
        """Something was found that is more than worth knowing."""
        return bool(self.unreadable or self.unequal) or any(f.severity != "info" for f in self.findings)


def check(samples: Iterable[Sample], *, examples: int = 3) -> Checked:
    """Count the irregularities of samples, and compare every gold plan with itself.

    Args:
        samples: Samples of one reader, with their ``diagnostics`` in ``extra``.
        examples: How many examples to keep of each kind.

    >>> note = Diagnostic("dataset.type", "n is a text")
    >>> gold = '[{"name": "f", "arguments": {}}]'
    >>> found = check([Sample("a", gold=gold, dialect="json", extra={"diagnostics": (note, note)})])
    >>> [(f.code, f.count, f.records, f.examples[0]) for f in found.findings], found.plans
    ([('dataset.type', 2, 1, 'a: n is a text')], 1)
    """
    count: Counter[str] = Counter()
    records: Counter[str] = Counter()
    worst: dict[str, int] = {}
    shown: defaultdict[str, list[str]] = defaultdict(list)
    total = plans = 0
    unreadable, unequal = [], []
    for sample in samples:
        total += 1
        found: tuple[Diagnostic, ...] = tuple(sample.extra.get("diagnostics", ()))
        records.update({one.code for one in found})
        for one in found:
            count[one.code] += 1
            rank = SEVERITIES.index(one.severity)
            worst[one.code] = min(worst.get(one.code, rank), rank)
            if len(shown[one.code]) < examples:
                shown[one.code].append(f"{sample.id}: {one.message}")
        state = _plan(sample)
        plans += state in ("", "unequal")
        if state == "unequal":
            unequal.append(sample.id)
        elif state:
            unreadable.append(f"{sample.id}: {state}")
    findings = sorted(
        (
            Finding(code, SEVERITIES[worst[code]], count[code], records[code], tuple(shown[code]))
            for code in count
        ),
        key=lambda f: (SEVERITIES.index(f.severity), -f.count, f.code),
    )
    return Checked(total, tuple(findings), plans, tuple(unreadable), tuple(unequal))


def _plan(sample: Sample) -> str | None:
    """What is wrong with a gold plan: nothing, "unequal", or why it cannot be read; None for free text."""
    try:
        plan = gold_plan(sample)
    except ParseError as problem:
        return problem.reason
    if plan is None:
        return None
    return "" if same(plan, plan) else "unequal"
