"""What is irregular in a data set, counted; and whether every gold plan can be read and equals itself."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner_eval.base.codes import code_meanings
from planner_eval.base.errors import ParseError
from planner_eval.base.json_files import decode_field
from planner_eval.benchmarks.datasets.published import Sample, gold_plan
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
        return code_meanings().get(self.code, "")


@dataclass(frozen=True, slots=True)
class CheckResult:
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
    plans: int
    unreadable: tuple[str, ...]
    unequal: tuple[str, ...]


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

    def checked(self) -> CheckResult:
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
        return CheckResult(
            self._total, tuple(findings), self._plans, tuple(self._unreadable), tuple(self._unequal)
        )


def check(samples: Iterable[Sample], *, examples: int = 3) -> CheckResult:
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
        tally.add(sample.id, tuple(sample.extra.get("diagnostics", ())), _gold_problem(sample))
    return tally.checked()


def _gold_problem(sample: Sample) -> str | None:
    """What is wrong with a gold plan: nothing, "unequal", or why it cannot be read; None for free text."""
    try:
        plan = gold_plan(sample)
    except ParseError as problem:
        return problem.reason
    if plan is None:
        return None
    return plan_problem(plan)


def plan_problem(plan: Plan) -> str:
    """What is wrong with a plan that was read: nothing, or ``"unequal"`` where it is not the same as itself.

    Args:
        plan: The plan.
    """
    return "" if same(plan, plan) else "unequal"


# ----------------------------------------------------------------------
# What is irregular in the alternatives that FunctionChat-Bench accepts beside its gold arguments.
def read_alternatives(acceptable: Any) -> dict[str, Any] | str | None:
    """The alternatives by argument; the sentence where a sentence stands instead; None for none.

    >>> read_alternatives('{"city": ["Zurich"]}'), read_alternatives("Gold alone."), read_alternatives(None)
    ({'city': ['Zurich']}, 'Gold alone.', None)
    """
    if isinstance(acceptable, str):
        try:
            acceptable = decode_field(acceptable)
        except ValueError:
            return str(acceptable)
    return acceptable if isinstance(acceptable, dict) else None


def alternative_findings(acceptable: Any, gold: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """What is irregular in the alternatives of one gold call.

    Args:
        acceptable: The alternatives as released: JSON text, object, sentence or None.
        gold: The gold call ``{"name", "arguments": JSON text}``.

    >>> gold = {"name": "bmi", "arguments": '{"height": 170}'}
    >>> [d.code for d in alternative_findings('{"height": 170.0, "name": "Ann"}', gold)]
    ['dataset.alternative_unlisted', 'dataset.alternative_type', 'dataset.alternative_argument']
    """
    alternatives = read_alternatives(acceptable)
    if isinstance(acceptable, dict):
        yield Diagnostic(
            "dataset.alternatives_object", "the alternatives are an object, not JSON text", "info"
        )
    if isinstance(alternatives, str):
        yield Diagnostic(
            "dataset.alternatives_text", f"a sentence instead of alternatives: {alternatives}", "info"
        )
    if not isinstance(alternatives, dict):
        return
    gold_arguments = decode_field(gold["arguments"])
    for key, value in alternatives.items():
        for code, message in _alternative_findings(key, value, gold_arguments):
            yield Diagnostic(code, f"{gold['name']}.{key} {message}", argument=key)


def _alternative_findings(
    key: str, value: Any, gold_arguments: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    if key not in gold_arguments:
        yield "dataset.alternative_argument", "has alternatives, but gold has no such argument"
        return
    if not isinstance(value, (list, str)):
        what = "has an alternative that is neither a text nor a list; the published code then takes any value"
        yield "dataset.alternative_unlisted", what
    values = value if isinstance(value, list) else [value]
    if any(type(alternative) is not type(gold_arguments[key]) for alternative in values):
        yield "dataset.alternative_type", "has an alternative of another type than gold's value"
    if is_instruction(value):
        yield "dataset.alternative_instruction", "has an instruction for an alternative"


def is_instruction(alternative: Any) -> bool:
    """Whether an alternative is a sentence about right values rather than a value.

    >>> is_instruction("Any city is right."), is_instruction("Seoul")
    (True, False)
    """
    text = alternative if isinstance(alternative, str) else ""
    return text.endswith(".") and any(f" {verb} " in text for verb in ("is", "are", "must"))
