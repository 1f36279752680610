"""Demonstrations: questions with their answers, chosen for each sample without a look at its gold."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError, PlanevalError
from planner_eval.base.text import format_count
from planner_eval.benchmarks.answers import gold_samples
from planner_eval.benchmarks.benchmark import BENCHMARKS
from planner_eval.benchmarks.datasets.published import DATASET_PREFIX, Sample
from planner_eval.models.pipelines.pipeline import OWN_TASKS
from planner_eval.models.predict.tasks import QUESTION_FIELDS, gold_words, keep_left_out, read_own_golds
from planner_eval.plan.model import Plan, Ref, Unresolved, Value, fold
from planner_eval.reading import dialects
from planner_eval.reading.dialects import read
from planner_eval.reading.files.context import question_template, question_words
from planner_eval.reading.files.record import read_plan

LEAK_MARK = "leak: apps"
"""The mark of a run whose demonstrations were chosen by gold's apps."""

USED_OPTIONS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("flat", "appbench"): (),
    ("hierarchical", "appbench"): (),
    ("isolated", "appbench"): (),
    ("flat", "nestful"): (),
    ("flat", "callnavi"): ("callnavi/plan",),
    ("route", "callnavi"): ("callnavi/route",),
    ("route-then-fill", "callnavi"): ("callnavi/route", "callnavi/fill"),
    ("backward", "callnavi"): ("callnavi/backward",),
    ("flat", OWN_TASKS): (),
    ("react", "nestful"): (),
    ("react", OWN_TASKS): (),
}
"""The pipelines whose prompts show demonstrations, with the data sets, and the texts that may lack a place
for them: a user's own."""

_MAX_NAMED = 3
"""Samples that a note names."""

_WORD = re.compile(r"\w+")


class ShotOptions(NamedTuple):
    """Which demonstrations are shown.

    Args:
        number: How many.
        by: How they are chosen: ``"query"``, ``"structure"``, ``"random"``, ``"first"`` or ``"gold-apps"``,
            which looks at gold, as the published script of AppBench does.
        source: Where they come from: data of the same benchmark, or a file of one's own tasks with their
            answers; None for the samples themselves.
        seed: Where random choices start.
        near: Show near duplicates of a sample too: those that ask its question with other values, as
            :func:`planner_eval.duplicates` finds them by ``"query"``.
    """

    number: int
    by: str = "query"
    source: str | None = None
    seed: int = 0
    near: bool = False


class Shot(NamedTuple):
    """A demonstration that may be shown.

    Args:
        query: Its question.
        answer: Its answer as it should be written.
        words: Of its question.
        tools: The tools that its plan calls.
        structure: What other plans may have too: how many calls there are, and which takes from which.
        apps: The apps that its plan uses.
        template: Its question up to values.
        calls: The calls of its plan, see :func:`call_texts`.
        id: What it is called where it comes from.
    """

    query: str
    answer: str
    words: frozenset[str]
    tools: frozenset[str]
    structure: str
    apps: frozenset[str]
    template: str = ""
    calls: tuple[str, ...] = ()
    id: str = ""


class Pool(NamedTuple):
    """The demonstrations there are, and how they are chosen.

    Args:
        shots: The demonstrations.
        asked: Which are shown.
        notes: What is said of records that are none.
        source: Where they come from, in the user's words.
        tested: How many of them ask a question of the test set, word for word.
    """

    shots: tuple[Shot, ...]
    asked: ShotOptions
    notes: tuple[str, ...] = ()
    source: str = ""
    tested: int = 0

    def about(self) -> dict[str, Any]:
        """What decides which are chosen, as JSON data."""
        options = {**self.asked._asdict(), "source": None}
        return {**options, "pool": self.digest(), "records": len(self.shots), "tested": self.tested}

    def digest(self) -> str:
        """What tells these demonstrations from others."""
        hasher = blake2b(digest_size=16)
        for shot in self.shots:
            hasher.update(repr(shot[:2]).encode("utf-8", "backslashreplace"))
        return hasher.hexdigest()

    def chosen(
        self, query: str, offered: Collection[str] = (), apps: Collection[str] = (), *, number: int | None = 0
    ) -> tuple[Shot, ...]:
        """The demonstrations for a question, the closest last; never one with the same question.

        One with the same question up to values is shown only where near duplicates are asked for.

        Args:
            query: The question.
            offered: The tools on offer: by question and structure demonstrations that call no other come
                before those that do.
            apps: Gold's apps, looked at by ``gold-apps`` alone.
            number: How many; None for all, 0 for as many as are asked for.
        """
        shots, by = [*self._others(query)], self.asked.by
        if by in ("random", "gold-apps"):
            random.Random(f"{self.asked.seed} {query}").shuffle(shots)
        elif by != "first":
            query_words, tools = word_set(query), frozenset(offered)
            shots.sort(
                key=lambda shot: (
                    bool(tools) and not shot.tools <= tools,
                    -word_overlap(shot.words, query_words),
                )
            )
        if by == "gold-apps":
            shots = [shot for shot in shots if shot.apps == frozenset(apps)]
        elif by == "structure":
            shots = [*_alternate_structures(shots)]
        shots = shots[: self.asked.number if number == 0 else number]
        return tuple(shots if by == "first" else shots[::-1])

    def there(self, query: str, apps: Collection[str] = ()) -> int:
        """How many demonstrations there are for a question; as for :meth:`chosen`."""
        own, any_apps = frozenset(apps), self.asked.by != "gold-apps"
        return sum(any_apps or shot.apps == own for shot in self._others(query))

    def near(self, query: str) -> int:
        """How many demonstrations are not shown for a question because they are near duplicates of it."""
        if self.asked.near:
            return 0
        query_words, template = word_set(query), question_template(query)
        return sum(shot.template == template and shot.words != query_words for shot in self.shots)

    def _others(self, query: str) -> Iterator[Shot]:
        """The demonstrations that may be shown for a question."""
        query_words = word_set(query)
        template = None if self.asked.near else question_template(query)
        return (shot for shot in self.shots if shot.words != query_words and shot.template != template)


def _alternate_structures(shots: Iterable[Shot]) -> Iterator[Shot]:
    """One of each structure, then a second of each, and so on; each time the first ones first.

    >>> none = frozenset()
    >>> every = [Shot(query, "", none, none, query[0], none) for query in ("a1", "a2", "b1")]
    >>> [one.query for one in _alternate_structures(every)]
    ['a1', 'b1', 'a2']
    """
    groups: dict[str, list[Shot]] = {}
    for shot in shots:
        groups.setdefault(shot.structure, []).append(shot)
    for index in range(max(map(len, groups.values()), default=0)):
        yield from (group[index] for group in groups.values() if index < len(group))


def word_set(text: str) -> frozenset[str]:
    """The words of a text, by which texts are alike."""
    return frozenset(_WORD.findall(text.lower()))


def word_overlap(left: frozenset[str], right: frozenset[str]) -> float:
    """How many words two texts have in common, of all that they have.

    >>> word_overlap(word_set("book a room"), word_set("Book a table!"))
    0.5
    """
    return len(left & right) / (len(left | right) or 1)


# ---------------------------------------------------------------- where they come from
def read_pool(
    options: ShotOptions,
    form: str,
    samples: Sequence[Sample],
    source: str,
    *,
    dialect: str,
    cache: str | None,
) -> Pool:
    """The demonstrations there are.

    Args:
        options: Which are shown.
        form: The data set.
        samples: The samples that are asked, and those left out of the run: the pool where no other is named.
        source: Where these come from, in the user's words.
        dialect: The notation that is asked for, of tasks of your own.
        cache: The cache folder of data sets.

    Raises:
        InputError: there are fewer than are wanted; or gold's apps are to choose where there are none.
    """
    if options.by == "gold-apps" and form != "appbench":
        raise InputError(f"choosing demonstrations by gold's apps works only for appbench, not for {form}")
    where = options.source or source
    notes: tuple[str, ...] = ()
    if form == OWN_TASKS:
        if not where:
            raise InputError("the tasks are not from a file: name demonstrations with --run demos=FILE")
        entries = list(_read_shots(where, dialect))
        shots = tuple(entry for entry in entries if isinstance(entry, Shot))
        if left := [entry for entry in entries if isinstance(entry, str)]:
            are = "is not a demonstration and is" if len(left) == 1 else "are not demonstrations and are"
            total = format_count(len(entries), "record")
            notes = (f"--shots: {len(left):,} of {total} of {where} {are} left out; {left[0]}",)
    else:
        bench = BENCHMARKS[form]
        golds = samples if options.source is None else gold_samples(bench, where, cache=cache)
        pairs = ((sample, bench.gold_text(sample)) for sample in golds if sample.query)
        shots = tuple(
            _make_shot(sample.query, text, gold_apps(sample), sample.id) for sample, text in pairs if text
        )
    if len(shots) < options.number + (options.source is None):
        raise InputError(
            f"{where.removeprefix(DATASET_PREFIX)} has {len(shots)} demonstrations, but "
            f"{options.number} are "
            f"needed: name more with --run demos=FILE{''.join(f' ({note})' for note in notes)}"
        )
    tested = {question_words(sample.query) for sample in samples}
    count = sum(question_words(shot.query) in tested for shot in shots)
    return Pool(shots, options, notes, where.removeprefix(DATASET_PREFIX), count)


def list_shortfalls(listed: Iterable[str], counts: Sequence[int], noun: str = "") -> str:
    """The first samples that get too little, and between which counts the others lie."""
    listed, unlisted_counts = list(islice(listed, _MAX_NAMED)), counts[_MAX_NAMED:]
    if unlisted_counts:
        low, high = min(unlisted_counts), max(unlisted_counts)
        listed.append(f"{len(unlisted_counts):,} more{noun} {low if low == high else f'{low} to {high}'}")
    return ", ".join(listed)


def too_few_shots_message(pool: Pool, shot_counts: Mapping[str, int]) -> str | None:
    """Says which samples are shown fewer demonstrations than are asked for; None where none is.

    Args:
        pool: The demonstrations.
        shot_counts: How many each sample is shown, by its id.

    >>> too_few_shots_message(Pool((), ShotOptions(3)), {"a": 3, "b": 2})
    '--shots 3: 1 of 2 samples is shown fewer, of all available: b 2'
    """
    short = [(name, count) for name, count in shot_counts.items() if count < pool.asked.number]
    if not short:
        return None
    listed = list_shortfalls((f"{name} {count}" for name, count in short), [count for _, count in short])
    are = "is" if len(short) == 1 else "are"
    who = f"{len(short):,} of {format_count(len(shot_counts), 'sample')} {are} shown fewer"
    return f"--shots {pool.asked.number}: {who}, of all available: {listed}"


def near_duplicate_messages(pool: Pool, samples: Sequence[Sample]) -> Iterator[str]:
    """Says that near duplicates of samples are not shown to them, where there are some.

    Args:
        pool: The demonstrations.
        samples: The samples that are asked.

    >>> pool = Pool((_make_shot("5 or 6?", "f()"),), ShotOptions(1))
    >>> list(near_duplicate_messages(pool, [Sample("a", "7 or 8?"), Sample("b", "Why?")]))
    ['--shots 1: 1 of 2 samples is not shown its near duplicates: --run near-duplicates shows them']
    """
    count = sum(pool.near(sample.query) > 0 for sample in samples)
    if count:
        are = "is not shown its" if count == 1 else "are not shown their"
        who = f"{count:,} of {format_count(len(samples), 'sample')}"
        message = f"{who} {are} near duplicates: --run near-duplicates shows them"
        yield f"--shots {pool.asked.number}: {message}"


def _read_shots(where: str, dialect: str) -> Iterator[Shot | str]:
    """The demonstrations of a file; a sentence for a record that is none."""
    from planner_eval.reading.files.files import read_path

    if not Path(where).exists():
        raise InputError(f"there is no file {where}")
    notation = dialects.get(dialect)
    if notation.write is None:
        raise InputError(f"demonstrations cannot be shown in {dialect}, which cannot be written")
    for record in keep_left_out(read_path(where, role="gold")).records:
        query = next(
            (record.fields[key] for key in QUESTION_FIELDS if isinstance(record.fields.get(key), str)), ""
        )
        if record.error is not None or not query:
            why = str(record.error).split("\n")[0] if record.error else "there is no question"
            yield f"{record.where}: {why}"
            continue
        try:
            plan = read_plan(record)
            answer = notation.write(plan) if plan.calls else gold_words(record.source)
            yield _make_shot(query, answer, id=str(record.told), plan=plan)
        except PlanevalError as problem:
            reason = str(problem).split("\n")[0]
            yield f"{record.where}: its answer cannot be shown in {dialect}: {reason}"


def _make_shot(
    query: str, answer: str, apps: frozenset[str] = frozenset(), id: str = "", plan: Plan | None = None
) -> Shot:
    common = query, answer, word_set(query)
    try:
        plan = read.parse(answer) if plan is None else plan
    except PlanevalError:
        return Shot(*common, frozenset(), "", apps, question_template(query), (), id)
    structure = f"{len(plan.calls)} {sorted({(edge.producer, edge.consumer) for edge in plan.edges})}"
    tools = frozenset(call.tool for call in plan.calls)
    return Shot(*common, tools, structure, apps, question_template(query), call_texts(plan), id)


# ---------------------------------------------------------------- what they show of gold
def call_texts(plan: Plan) -> tuple[str, ...]:
    r"""The calls of a plan, each as a text that calls of other plans share where they are written alike.

    A reference is written with its call's label; AppBench's lines have none, and name the output alone.

    >>> call_texts(read.parse("A: [x = f(#b='1')]\nA: [y = g(#a=x)]"))
    ('A.f {"b": "1"}', 'A.g {"a": {"$": ["", "x"]}}')
    """
    labels = ["" if plan.dialect == "appbench" else call.id for call in plan.calls]

    def leaf(value: Value) -> Any:
        if isinstance(value, Ref):
            return {"$": [labels[value.call], *value.path]}
        if isinstance(value, Unresolved):
            return {"$": ["", value.name, *value.path]}
        return value

    def text(segments: tuple[Any, ...]) -> Any:
        return {"text": list(map(leaf, segments))}

    texts = []
    for call in plan.calls:
        arguments = {name: fold(value, leaf, text=text) for name, value in call.arguments}
        texts.append(f"{call.tool} {json.dumps(arguments, sort_keys=True)}")
    return tuple(texts)


def gold_call_texts(form: str, samples: Sequence[Sample], source: str) -> dict[str, tuple[str, ...]]:
    """The calls of the gold plans of samples, by id; of those that have one that can be read.

    Args:
        form: The data set.
        samples: The samples that are asked.
        source: Where they come from: of tasks of your own, the file that holds their gold too.
    """
    if form == OWN_TASKS:
        return {name: call_texts(plan) for name, plan in own_gold_plans(source).items()}
    golds: dict[str, tuple[str, ...]] = {}
    for sample in samples:
        text = BENCHMARKS[form].gold_text(sample)
        try:
            golds |= {} if text is None else {sample.id: call_texts(read.parse(text))}
        except PlanevalError:
            continue
    return golds


def own_gold_plans(source: str) -> dict[str, Plan]:
    """The gold plans of one's own tasks, by the sample's id; of those that have one that can be read.

    Args:
        source: Their file; "" for none.
    """
    try:
        records = read_own_golds(source) if source else {}
    except InputError:  # no field of it is known to hold gold
        return {}
    plans: dict[str, Plan] = {}
    for name, record in records.items():
        try:
            plans[name] = read_plan(record)
        except PlanevalError:
            continue
    return plans


def shots_data(shots: Sequence[Shot], calls: Sequence[str] | None) -> dict[str, Any]:
    """What a row says of the demonstrations of its sample: which they are, and what of its gold they show.

    Args:
        shots: What is shown.
        calls: The calls of the sample's gold plan; None where it has none that can be read.

    >>> shot = _make_shot("Why?", '[{"name": "f", "arguments": {}}]', id="a")
    >>> shots_data([shot], shot.calls), shots_data([shot], None)
    ({'ids': ['a'], 'gold_calls': 1, 'shared': 1}, {'ids': ['a']})
    """
    ids = [shot.id for shot in shots]
    if calls is None:
        return {"ids": ids}
    shown_calls = {call for shot in shots for call in shot.calls}
    return {"ids": ids, "gold_calls": len(calls), "shared": sum(call in shown_calls for call in calls)}


def gold_apps(sample: Sample) -> frozenset[str]:
    """The apps that a sample's gold uses; none where its data set has no apps."""
    gold = sample.gold if isinstance(sample.gold, dict) else {}
    return frozenset(map(str, gold.get("used_app") or ()))
