"""How often intervals of 95 % hold the truth, and tests of systems that do not differ say that they do."""

from collections.abc import Iterator
from random import Random

from planner_eval.comparison.metrics.facts import Counts
from planner_eval.results.columns import Column
from planner_eval.results.intervals import differences, sign_test
from tests.certainty import KINDS, METHODS, PERFECT, SIZES

TIMES = 1_000


def rows() -> Iterator[tuple[str, str, str]]:
    """What is measured, how, and what it has to be."""
    for name, measure in METHODS.items():
        ours = name in ("`score`", "`compare`")
        for size in SIZES:
            for perfect in PERFECT:
                found = [measure(kind, perfect, size) for kind in KINDS]
                least, width = min(one.share for one in found), sum(one.width for one in found) / len(found)
                said = f"{least:.3f} hold, {width:.3f} wide on average"
                yield f"{name}, {size} samples, {perfect:g} perfect", said, ">= 0.93" if ours else ""
    random = Random(0)
    for size in (5, 12, 60):
        pairs = {
            str(number): Column(
                tuple(Counts(random.randint(0, 3), random.randint(3, 4), 4) for _ in range(2))
                for _ in range(size)
            )
            for number in range(TIMES)
        }
        wrong = sum(one.p is not None and one.p <= 0.05 for one in differences(pairs).values()) / TIMES
        yield f"permutation test, {size} samples, no difference", f"{wrong:.3f} sure", "<= 0.05 + 0.014"
    for size in (10, 100, 3_000):
        splits = (sum(random.random() < 0.5 for _ in range(size)) for _ in range(TIMES))
        wrong = sum(sign_test(first, size - first) <= 0.05 for first in splits) / TIMES
        yield f"sign test, {size} samples that differ, no difference", f"{wrong:.3f} sure", "<= 0.05 + 0.014"
