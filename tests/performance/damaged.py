"""Reading of damaged text: how much longer twice the text takes, for each dialect and each damage."""

from __future__ import annotations

import gc
import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise, product, starmap
from typing import NamedTuple

from planner_eval.base.errors import PlanevalError, WriteError
from planner_eval.plan.model import Call, Plan
from planner_eval.reading import dialects
from planner_eval.reading.dialects.read import parse
from tests.performance.parsing import WIDE, plan_of, processor

SIZES = (20_000, 40_000, 80_000, 160_000, 320_000)
MOST = 2.6
"""By how much twice the text may multiply the time."""
CLEAR = 2.2
"""A factor of one run each that is no reason to look again."""
LEAST = 0.05
"""Seconds below which a time is of what does not grow."""
MARKS = ("[", "]", "{", "}", "(", ")", '"', "'", "`", "\\", '\\"')


@lru_cache(maxsize=len(SIZES))
def calls(dialect: str, size: int) -> str:
    """Many calls in a dialect; its example over and over where it is only read."""
    target = dialects.get(dialect)
    with suppress(WriteError, ZeroDivisionError):
        if target.write is not None:
            return plan_of(size, dialect)
    return f"{target.example}\n" * (size // len(target.example) + 1)


@lru_cache(maxsize=len(SIZES))
def one_call(dialect: str, size: int) -> str:
    """One call, of which an argument is a long text of JSON."""
    rows = [{"id": at, "name": f"guest no. {at}", "paid": None} for at in range(size // 50)]
    target = dialects.get(dialect)
    with suppress(WriteError):
        if target.write is not None:
            return target.write(Plan((Call("c1", "save_rows", (("rows", json.dumps(rows)),)),)))
    return json.dumps({"name": "save_rows", "arguments": json.dumps({"rows": rows})})


def place(text: str, share: float) -> int:
    """A place after a share of a text: in the same middle of a call or of a row, whatever the size."""
    near = int(share * len(text))
    at = max(text.rfind(begin, 0, near) for begin in ("nights", "guest", "rows"))
    if at < 0:  # an example over and over
        head = text[:16]
        return text.rfind(head, 0, near) + max(text.find(head, 1), 0) // 2
    return at + int(15 * share)


def run_inside(text: str, mark: str) -> str:
    """A text with a run of a mark inside, twelves and one: quotes open or close by twos and threes."""
    at = place(text, 1 / 2)
    return text[:at] + mark * (len(text) // 2 // len(mark) // 12 * 12 + 1) + text[at:]


def held(text: str) -> str:
    """A text in a call's argument, in a text of JSON."""
    return json.dumps([{"name": "f", "arguments": json.dumps({"a": text})}])


DAMAGES: dict[str, Callable[[str], str]] = {
    "whole": lambda text: text,
    "cut at 1/3": lambda text: text[: place(text, 1 / 3)],
    "cut at 1/2": lambda text: text[: place(text, 1 / 2)],
    "cut at 2/3": lambda text: text[: place(text, 2 / 3)],
    **{f"each {m} twice": lambda text, m=m: text.replace(m, m + m) for m in MARKS},  # type: ignore[misc]
    **{f"a run of {m}": lambda text, m=m: run_inside(text, m) for m in MARKS},  # type: ignore[misc]
    "in a text of JSON": held,
    "in a text of JSON, cut": lambda text: held(text[: place(text, 1 / 2)])[:-6],
}
"""What becomes of a text; at each size the same part of it is hurt."""


class Case(NamedTuple):
    """A dialect, what is written in it, and what happens to the text."""

    dialect: str
    body: Callable[[str, int], str]
    damage: str

    def __str__(self) -> str:
        return f"{self.dialect}, {self.body.__name__.replace('_', ' ')}, {self.damage}"

    def text(self, size: int) -> str:
        """The damaged text, of about a size before."""
        return DAMAGES[self.damage](self.body(self.dialect, size))


WORST = (
    *(Case("call-texts", one_call, damage) for damage in ('each \\" twice', "cut at 2/3")),
    *(Case("call-texts", calls, damage) for damage in ('a run of \\"', "a run of \\")),
    *(Case(dialect, one_call, "cut at 2/3") for dialect in (
        "openai-chat", "json", "nestful", "callnavi", "pythonic", "hermes", "mistral-v11")),
    Case("openai-chat", one_call, 'a run of "'),
)  # fmt: skip
"""Those that took longest while a quote that is not closed was tried again at each later one."""

STEEPEST = (
    Case("llama-builtin", one_call, 'each \\" twice'), Case("lfm2", one_call, 'each \\" twice'),
    Case("lfm2", one_call, "whole"),
    *(Case(dialect, one_call, 'each " twice') for dialect in ("llmcompiler", "minicpm", "nemotron")),
    *(Case("llama-builtin", calls, f"a run of {mark}") for mark in "\\{["),
    *(Case("olmo", calls, f"a run of {mark}") for mark in "\\("),
    Case("openai-programmatic", calls, "a run of ["),
)  # fmt: skip
"""Those that took a slower way from 256,000 characters or 100,000 brackets on."""


def spent(text: str, *, repair: bool, runs: int) -> float:
    """Processor seconds of reading a text, the least of some runs; circles are not looked for meanwhile."""

    def read() -> None:
        with suppress(PlanevalError):
            parse(text, limits=WIDE, repair=repair)

    gc.disable()
    try:
        return processor(read, runs)
    finally:
        gc.enable()


def kinds() -> Iterator[tuple[Case, bool]]:
    """Each damage that is another text than those before, to be read strictly and mended."""
    seen: set[int] = set()
    for case in starmap(Case, product(dialects.names(), (calls, one_call), DAMAGES)):
        text = hash(case.text(SIZES[0]))
        if text not in seen:
            yield from ((case, repair) for repair in (False, True))
        seen.add(text)


def measured(case: Case, *, repair: bool) -> tuple[float, float]:
    """The largest factor between a size and twice that, read again where it is in doubt; the last seconds."""
    texts = [case.text(size) for size in SIZES]
    times = [spent(text, repair=repair, runs=1) for text in texts]
    again: set[int] = set()
    steps = list(pairwise(range(len(times))))
    while doubtful := {at for a, b in steps if factor(times[a], times[b]) >= CLEAR for at in (a, b)} - again:
        for at in doubtful:
            times[at] = min(times[at], spent(texts[at], repair=repair, runs=2))
        again |= doubtful
    return max(starmap(factor, pairwise(times))), times[-1]


def factor(short: float, long: float) -> float:
    """By how much the longer time is more, in seconds."""
    return long / max(short, LEAST)


def rows() -> Iterable[tuple[str, str, str]]:
    """The factors of the worst of all dialects and damages, read strictly and mended."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {f"{case}{', mended' * repair}": measured(case, repair=repair) for case, repair in kinds()}
    past = sum(most > MOST for most, _ in found.values())
    yield f"doubled from 20 kB to 320 kB, {len(found):,} kinds of damage", f"{past} above {MOST} ×", "0"
    for name, (most, seconds) in sorted(found.items(), key=lambda item: item[1], reverse=True)[:12]:
        yield f"doubled: {name}", f"{most:.2f} ×, {seconds:.2f} s at 320 kB", f"≤ {MOST} ×"
