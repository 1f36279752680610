"""Laws that the corrected scores of five benchmarks keep on open data, as one table.

    python -m tests.laws [BENCHMARK…]

A cell says of how many answers, made of samples' gold, a law holds. Every figure of an answer's row counts:

* gold: gold against itself has every figure 1;
* dropped, doubled: taking the last calls away one by one, or repeating calls never raises a figure;
* relabelled, reordered: other labels, other orders of arguments and of independent calls change nothing;
* (what a plan's outcome alone decides may come back as it gets shorter, and is held against gold's own;)
* unrelated: the gold of a sample that shares no function has at most 0.3 of each figure; empty: nothing, 0;
* official: app and API F1 are the published ones or higher, but for the named defects of the published code.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from planner_eval.base.tables import TEXT
from planner_eval.benchmarks.benchmark import BENCHMARKS
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.report import SampleScore
from tests.conftest import reference_folder
from tests.laws_notations import NOTATIONS, Notation, Source, sources
from tests.laws_official import answers, defect

LAWS = ("gold", "dropped", "doubled", "relabelled", "reordered", "unrelated", "empty", "official")
UNRELATED = 0.3
"""The most that an unrelated answer may have of a figure that goes from 0 to 1."""
ROUNDS = 3
"""How many calls are dropped or doubled, one after another, and how many labels and orders are tried."""
EXACT = 1e-9
IRREGULAR = {"dropped": ("reference.forward",), "reordered": ("dataset.shared_output", "label.duplicate")}
"""What `planeval data check` lists of gold plans in which a call's place says what a name means."""

Scorer = Callable[[Sequence[tuple[Sample, str]]], Sequence[SampleScore]]


class Tried(NamedTuple):
    """A law tried on one answer: what breaks it, and why that is none of our faults."""

    law: str
    id: str
    broken: str | None
    excuse: str | None = None


class Made(NamedTuple):
    """An answer made of a sample's gold: its text, and which earlier one its figures are held against."""

    law: str
    sample: Sample
    text: str
    before: int | None = None


def tried(source: Source, notation: Notation, score: Scorer) -> Iterator[Tried]:
    """Every law but the last, tried on every sample of a source."""
    made = list(_made(source.samples, notation))
    rows = [_figures(row, notation) for row in score([(one.sample, one.text) for one in made])]
    for one, row in zip(made, rows, strict=True):
        before = {} if one.before is None else rows[one.before]
        if source.run and one.law == "dropped":
            before = {**before, "win": 1.0, "right": 1.0}
        broken = _broken(one.law, row, before)
        yield Tried(one.law, one.sample.id, broken, broken and _irregular(one.law, one.sample))


def _irregular(law: str, sample: Sample) -> str | None:
    """What `planeval data check` says of a gold plan whose calls do not stand for themselves."""
    codes = {finding.code for finding in sample.extra.get("diagnostics", ())}
    return next((code for code in IRREGULAR.get(law, ()) if code in codes), None)


def _made(samples: Sequence[Sample], notation: Notation) -> Iterator[Made]:
    first = 0
    for position, sample in enumerate(samples):
        made = [*_of_one(sample, notation.calls(sample), notation, Random(sample.id), first)]
        stranger = _stranger(samples, position, notation)
        if stranger is not None:
            made.append(Made("unrelated", sample, notation.write(stranger, notation.calls(stranger))))
        made += (Made("empty", sample, text) for text in dict.fromkeys(["", notation.write(sample, [])]))
        first += len(made)
        yield from made


def _of_one(
    sample: Sample, calls: list[Any], notation: Notation, random: Random, first: int
) -> Iterator[Made]:
    """The answers made of a sample's own gold; the first of them is gold."""
    number = first
    yield Made("gold", sample, notation.write(sample, calls))
    for law in ("dropped", "doubled"):
        left, before = list(calls), first
        for _ in range(min(ROUNDS, len(calls))):
            at = len(left) - 1 if law == "dropped" else random.randrange(len(left))
            left[at : at + 1] = [] if law == "dropped" else [left[at]] * 2
            number += 1
            yield Made(law, sample, notation.write(sample, left), before)
            before = number
    for law, change in (("relabelled", notation.relabelled), ("reordered", notation.reordered)):
        for text in dict.fromkeys(change(sample, calls, random) for _ in range(ROUNDS)):
            if text is not None:
                yield Made(law, sample, text, first)


def _stranger(samples: Sequence[Sample], position: int, notation: Notation) -> Sample | None:
    """The next sample that shares no function with this one."""
    own = notation.functions(samples[position])
    others = (samples[(position + step) % len(samples)] for step in range(1, len(samples)))
    return next((one for one in others if not own & notation.functions(one)), None)


def _figures(row: SampleScore, notation: Notation) -> dict[str, float]:
    known = {figure.name: figure.value for figure in row.figures}
    values = {name: known.get(name) for name in notation.figures}
    found = {name: value for name, value in values.items() if isinstance(value, (int, float))}
    return {**found, "right": float(row.ok)}


def _broken(law: str, row: Mapping[str, float], before: Mapping[str, float]) -> str | None:
    for name, value in row.items():
        old = before.get(name, value) if before else None
        higher, other = old is not None and value > old + EXACT, value != old
        wrong = {
            "gold": value != 1, "dropped": higher, "doubled": higher, "relabelled": other, "reordered": other,
            "unrelated": value > UNRELATED, "empty": value != 0,
        }  # fmt: skip
        if wrong[law]:
            return f"{name} is {value:.4g}" + ("" if old is None else f", was {old:.4g}")
    return None


def against_official(name: str) -> Iterator[Tried]:
    """The last law, tried on answers to AppBench, the one benchmark whose code has these F1."""
    if name != "appbench":
        return
    records = list(answers())
    official, corrected = (BENCHMARKS[name].score(one, records).rows for one in ("official", "corrected"))
    for (sample, text), *both in zip(records, official, corrected, strict=True):
        for figure in ("app_hit_f1", "api_hit_f1"):
            known, own = (sum(float(f.value or 0) for f in row.figures if f.name == figure) for row in both)
            if own < known - EXACT:
                lower = f"{figure} is {own:.4g}, officially {known:.4g}"
                yield Tried("official", sample.id, lower, defect(figure, text, sample.gold))
            else:
                yield Tried("official", sample.id, None)


def results(names: Sequence[str], *, variant: str = "corrected") -> Iterator[tuple[str, Tried]]:
    """Every law tried on all that is at hand, with the data that it was tried on."""
    for name in names:
        for source in sources(name, reference_folder()):
            chosen = {"run": source.run} if source.run else {}

            def score(records: Any, chosen: Any = chosen, name: str = name) -> Sequence[SampleScore]:
                return BENCHMARKS[name].score(variant, records, **chosen).rows

            for one in tried(source, NOTATIONS[name], score):
                yield source.title, one
        for one in against_official(name) if variant == "corrected" else ():
            yield f"{BENCHMARKS[name].title}, answers", one


def summary(found: Iterable[tuple[str, Tried]]) -> tuple[str, int]:
    """The table of what was tried, with a line for each excuse and each broken law; and how many of these."""
    cells: dict[str, Counter[tuple[str, bool]]] = {}
    lines: dict[tuple[str, str, str, str | None], list[Tried]] = {}
    for title, one in found:
        held = one.broken is None
        cells.setdefault(title, Counter())[one.law, held] += 1
        if not held:
            what = "broken" if one.excuse is None else "left out"
            lines.setdefault((what, title, one.law, one.excuse), []).append(one)
    shown = [{"data": title} | {law: _cell(counts, law) for law in LAWS} for title, counts in cells.items()]
    said = [
        f"{what}: {title}, {law}: {len(ones):,} answers, e.g. {ones[0].id}: {excuse or ones[0].broken}"
        for (what, title, law, excuse), ones in lines.items()
    ]
    broken = sum(len(ones) for (what, *_), ones in lines.items() if what == "broken")
    return "\n".join([TEXT.table(shown), *said]), broken


def _cell(counts: Mapping[tuple[str, bool], int], law: str) -> str:
    held, fell = counts[law, True], counts[law, False]
    return f"{held:,} of {held + fell:,}" if fell else f"{held:,}" if held else "–"


def main() -> int:
    """Print the table; 1 where a law is broken, 2 for a benchmark that there is not."""
    names = sys.argv[1:] or list(NOTATIONS)
    unknown = [name for name in names if name not in NOTATIONS]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(NOTATIONS)}")
        return 2
    shown, broken = summary(results(names))
    print(shown)
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
