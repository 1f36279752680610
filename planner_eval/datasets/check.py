"""What is irregular in a data set, counted; and whether every gold plan can be read and equals itself."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from planner_eval.base.errors import CODES, ParseError
from planner_eval.datasets.gold import gold_plan
from planner_eval.datasets.sample import Sample
from planner_eval.plan.canonical import same
from planner_eval.plan.model import Diagnostic, Plan

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


class Tally:
    """Irregularities and gold plans, counted record by record.

    Args:
        examples: How many examples to keep of each kind.

    >>> tally = Tally()
    >>> tally.add("a", (Diagnostic("dataset.type", "n is a text"),), "")
    >>> tally.checked().findings[0].examples, tally.checked().plans
    (('a: n is a text',), 1)
    """

    def __init__(self, examples: int = 3) -> None:
        self._most = examples
        self._count: Counter[str] = Counter()
        self._records: Counter[str] = Counter()
        self._worst: dict[str, int] = {}
        self._shown: defaultdict[str, list[str]] = defaultdict(list)
        self._total = self._plans = 0
        self._unreadable: list[str] = []
        self._unequal: list[str] = []

    def add(self, name: str, diagnostics: Sequence[Diagnostic], state: str | None) -> None:
        """Add one record.

        Args:
            name: What it is called.
            diagnostics: What is irregular in it.
            state: What is wrong with its plan: nothing, ``"unequal"``, or why it cannot be read; None where
                it has none.
        """
        self._total += 1
        self._records.update({diagnostic.code for diagnostic in diagnostics})
        for diagnostic in diagnostics:
            self._count[diagnostic.code] += 1
            rank = SEVERITIES.index(diagnostic.severity)
            self._worst[diagnostic.code] = min(self._worst.get(diagnostic.code, rank), rank)
            if len(self._shown[diagnostic.code]) < self._most:
                self._shown[diagnostic.code].append(f"{name}: {diagnostic.message}")
        self._plans += state in ("", "unequal")
        if state == "unequal":
            self._unequal.append(name)
        elif state:
            self._unreadable.append(f"{name}: {state}")

    def checked(self) -> Checked:
        """What was found."""
        findings = sorted(
            (
                Finding(
                    code, SEVERITIES[self._worst[code]], count, self._records[code], tuple(self._shown[code])
                )
                for code, count in self._count.items()
            ),
            key=lambda f: (SEVERITIES.index(f.severity), -f.count, f.code),
        )
        return Checked(
            self._total, tuple(findings), self._plans, tuple(self._unreadable), tuple(self._unequal)
        )


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
    tally = Tally(examples)
    for sample in samples:
        tally.add(sample.id, tuple(sample.extra.get("diagnostics", ())), _plan(sample))
    return tally.checked()


def _plan(sample: Sample) -> str | None:
    """What is wrong with a gold plan: nothing, "unequal", or why it cannot be read; None for free text."""
    try:
        plan = gold_plan(sample)
    except ParseError as problem:
        return problem.reason
    if plan is None:
        return None
    return state_of(plan)


def state_of(plan: Plan) -> str:
    """What is wrong with a plan that was read: nothing, or ``"unequal"`` where it is not the same as itself.

    Args:
        plan: The plan.
    """
    return "" if same(plan, plan) else "unequal"
