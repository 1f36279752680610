"""Demonstrations: questions with their answers, chosen for each sample without a look at its gold."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from planner_eval import dialects
from planner_eval.base.errors import InputError, PlanevalError
from planner_eval.base.text import counted
from planner_eval.benchmarks.gold import PREFIX, gold_samples
from planner_eval.benchmarks.registry import BENCHMARKS
from planner_eval.datasets.sample import Sample
from planner_eval.dialects import read
from planner_eval.prediction.recorded import left_out, words_of
from planner_eval.prediction.setup import Example
from planner_eval.prediction.tasks import QUESTIONS
from planner_eval.prediction.visible import OWN

WAYS = ("query", "structure", "random", "first", "gold-apps")
"""How demonstrations are chosen; ``gold-apps`` looks at gold, as the published script of AppBench does."""

LEAK = "leak: apps"
"""The mark of a run whose demonstrations were chosen by gold's apps."""

SHOWN: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("flat", "appbench"): (),
    ("hierarchical", "appbench"): (),
    ("isolated", "appbench"): (),
    ("flat", "nestful"): (),
    ("flat", "callnavi"): ("callnavi/plan",),
    ("route", "callnavi"): ("callnavi/route",),
    ("route-then-fill", "callnavi"): ("callnavi/route", "callnavi/fill"),
    ("backward", "callnavi"): ("callnavi/backward",),
    ("flat", OWN): (),
    ("react", "nestful"): (),
    ("react", OWN): (),
}
"""The pipelines whose prompts show demonstrations, with the data sets, and the texts that may lack a place
for them: a user's own."""

_WORD = re.compile(r"\w+")


class Shots(NamedTuple):
    """Which demonstrations are shown.

    Args:
        number: How many.
        by: One of :data:`WAYS`.
        source: Where they come from: data of the same benchmark, or a file of one's own tasks with their
            answers; None for the samples themselves.
        seed: Where random choices start.
    """

    number: int
    by: str = "query"
    source: str | None = None
    seed: int = 0


class Shot(NamedTuple):
    """A demonstration that may be shown.

    Args:
        query: Its question.
        answer: Its answer as it should be written.
        words: Of its question.
        tools: The tools that its plan calls.
        structure: What other plans may have too: how many calls there are, and which takes from which.
        apps: The apps that its plan uses.
    """

    query: str
    answer: str
    words: frozenset[str]
    tools: frozenset[str]
    structure: str
    apps: frozenset[str]


class Pool(NamedTuple):
    """The demonstrations there are, how they are chosen, and what is said of records that are none."""

    shots: tuple[Shot, ...]
    asked: Shots
    notes: tuple[str, ...] = ()

    def about(self) -> dict[str, Any]:
        """What decides which are chosen, as JSON data."""
        found = blake2b(digest_size=16)
        for one in self.shots:
            found.update(repr(one[:2]).encode("utf-8", "backslashreplace"))
        return {**self.asked._asdict(), "source": None, "pool": found.hexdigest()}

    def chosen(
        self, query: str, offered: Collection[str] = (), apps: Collection[str] = (), *, number: int | None = 0
    ) -> tuple[Example, ...]:
        """The demonstrations for a question, the closest last; never one with the same question.

        Args:
            query: The question.
            offered: The tools on offer: by question and structure demonstrations that call no other come
                before those that do.
            apps: Gold's apps, looked at by ``gold-apps`` alone.
            number: How many; None for all, 0 for as many as are asked for.
        """
        mine = words(query)
        others = [one for one in self.shots if one.words != mine]
        found = self._ordered(others, query, mine, frozenset(offered), frozenset(apps))
        found = found[: self.asked.number if number == 0 else number]
        shown = found if self.asked.by == "first" else found[::-1]
        return tuple(Example(one.query, one.answer) for one in shown)

    def there(self, query: str, apps: Collection[str] = ()) -> int:
        """How many demonstrations there are for a question; as for :meth:`chosen`."""
        mine, own = words(query), frozenset(apps)
        every = self.asked.by != "gold-apps"
        return sum(one.words != mine and (every or one.apps == own) for one in self.shots)

    def _ordered(
        self,
        shots: list[Shot],
        query: str,
        mine: frozenset[str],
        offered: frozenset[str],
        apps: frozenset[str],
    ) -> list[Shot]:
        by = self.asked.by
        if by == "first":
            return shots
        if by in ("random", "gold-apps"):
            random.Random(f"{self.asked.seed} {query}").shuffle(shots)
            return [one for one in shots if one.apps == apps] if by == "gold-apps" else shots

        shots.sort(key=lambda one: (bool(offered) and not one.tools <= offered, -alike(one.words, mine)))
        return list(_of_each_structure(shots)) if by == "structure" else shots


def _of_each_structure(shots: Iterable[Shot]) -> Iterator[Shot]:
    """One of each structure, then a second of each, and so on; each time the first ones first.

    >>> none = frozenset()
    >>> every = [Shot(query, "", none, none, query[0], none) for query in ("a1", "a2", "b1")]
    >>> [one.query for one in _of_each_structure(every)]
    ['a1', 'b1', 'a2']
    """
    groups: dict[str, list[Shot]] = {}
    for one in shots:
        groups.setdefault(one.structure, []).append(one)
    for at in range(max(map(len, groups.values()), default=0)):
        yield from (group[at] for group in groups.values() if at < len(group))


def words(text: str) -> frozenset[str]:
    """The words of a text, by which texts are alike."""
    return frozenset(_WORD.findall(text.lower()))


def alike(some: frozenset[str], others: frozenset[str]) -> float:
    """How many words two texts have in common, of all that they have.

    >>> alike(words("book a room"), words("Book a table!"))
    0.5
    """
    return len(some & others) / (len(some | others) or 1)


# ---------------------------------------------------------------- where they come from
def read_pool(
    asked: Shots, form: str, samples: Sequence[Sample], source: str, *, dialect: str, cache: str | None
) -> Pool:
    """The demonstrations there are.

    Args:
        asked: Which are shown.
        form: The data set.
        samples: The samples that are asked, and those left out of the run: the pool where no other is named.
        source: Where these come from, in the user's words.
        dialect: The notation that is asked for, of tasks of one's own.
        cache: The cache folder of data sets.

    Raises:
        InputError: there are fewer than are wanted; or gold's apps are to choose where there are none.
    """
    if asked.by == "gold-apps" and form != "appbench":
        raise InputError(f"demonstrations are chosen by gold's apps for appbench alone, not for {form}")
    where = asked.source or source
    notes: tuple[str, ...] = ()
    if form == OWN:
        if not where:
            raise InputError("the tasks come from no file: name the demonstrations with --demos FILE")
        found = list(_of_file(where, dialect))
        shots = tuple(one for one in found if isinstance(one, Shot))
        notes = _none_of(where, [one for one in found if isinstance(one, str)], len(found))
    else:
        bench = BENCHMARKS[form]
        golds = samples if asked.source is None else gold_samples(bench, where, cache=cache)
        told = ((sample.query, bench.gold_text(sample), apps_of(sample)) for sample in golds)
        shots = tuple(_shot(query, text, apps) for query, text, apps in told if query and text)
    if len(shots) < asked.number + (asked.source is None):
        raise InputError(
            f"{where.removeprefix(PREFIX)} has {len(shots)} demonstrations, and {asked.number} of others are "
            f"wanted: name more with --demos FILE{''.join(f' ({note})' for note in notes)}"
        )
    return Pool(shots, asked, notes)


def _none_of(where: str, left: Sequence[str], every: int) -> tuple[str, ...]:
    """Says of records that they are no demonstrations."""
    if not left:
        return ()
    are = "is no demonstration and is" if len(left) == 1 else "are no demonstrations and are"
    return (f"--shots: {len(left):,} of {counted(every, 'record')} of {where} {are} left out; {left[0]}",)


def too_few(pool: Pool, shown: Mapping[str, int]) -> str | None:
    """Says which samples are shown fewer demonstrations than are asked for; None where none is.

    Args:
        pool: The demonstrations.
        shown: How many each sample is shown, by its id.

    >>> too_few(Pool((), Shots(3)), {"a": 3, "b": 2})
    '--shots 3: 1 of 2 samples is shown fewer, of all that can be shown: b 2'
    """
    short = [(name, count) for name, count in shown.items() if count < pool.asked.number]
    if not short:
        return None
    said = [f"{name} {count}" for name, count in short[:3]]
    if rest := [count for _, count in short[3:]]:
        low, high = min(rest), max(rest)
        said.append(f"{len(rest):,} more {low if low == high else f'{low} to {high}'}")
    are = "is" if len(short) == 1 else "are"
    who = f"{len(short):,} of {counted(len(shown), 'sample')} {are} shown fewer"
    return f"--shots {pool.asked.number}: {who}, of all that can be shown: {', '.join(said)}"


def _of_file(where: str, dialect: str) -> Iterator[Shot | str]:
    """The demonstrations of a file; a sentence for a record that is none."""
    from planner_eval.records.several import read_path

    if not Path(where).exists():
        raise InputError(f"there is no file {where}")
    notation = dialects.get(dialect)
    if notation.write is None:
        raise InputError(f"demonstrations cannot be shown in {dialect}, which is not written")
    for record in left_out(read_path(where, role="gold")).records:
        query = next((record.fields[key] for key in QUESTIONS if isinstance(record.fields.get(key), str)), "")
        if record.error is not None or not query:
            why = str(record.error).split("\n")[0] if record.error else "there is no question"
            yield f"{record.where}: {why}"
            continue
        text = record.source if isinstance(record.source, str) else json.dumps(record.source)
        try:
            plan = read.parse(text)
            yield _shot(query, notation.write(plan) if plan.calls else words_of(record.source))
        except PlanevalError as problem:
            said = str(problem).split("\n")[0]
            yield f"{record.where}: its answer cannot be shown in {dialect}: {said}"


def _shot(query: str, answer: str, apps: frozenset[str] = frozenset()) -> Shot:
    try:
        plan = read.parse(answer)
    except PlanevalError:
        return Shot(query, answer, words(query), frozenset(), "", apps)
    structure = f"{len(plan.calls)} {sorted({(edge.producer, edge.consumer) for edge in plan.edges})}"
    return Shot(query, answer, words(query), frozenset(call.tool for call in plan.calls), structure, apps)


def apps_of(sample: Sample) -> frozenset[str]:
    """The apps that a sample's gold uses; none where its data set has no apps."""
    gold = sample.gold if isinstance(sample.gold, dict) else {}
    return frozenset(map(str, gold.get("used_app") or ()))
