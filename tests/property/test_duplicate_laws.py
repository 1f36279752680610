"""Laws of plans and questions up to values: what keeps a record in its group, and what takes it out."""

from collections import Counter
from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from planner_eval.curation.duplicates import (
    CRITERIA,
    ComparedRecord,
    RecordKeys,
    clusters,
    count_alike,
    groups,
    record_keys,
)
from planner_eval.plan.canonical import EquivalenceClasses, same
from planner_eval.plan.model import Plan, Ref, Unresolved, Value, map_leaves
from planner_eval.reading.files.context import question_template, question_words
from tests.plant import topological
from tests.property.test_comparison_laws import arguments_reversed, plans

TOWNS = ["find", "a", "hotel", "near", "the", "sea", "with", "cheap", "rooms"]


WORDS = st.lists(st.sampled_from(TOWNS), min_size=1)
NUMBERS = st.integers(0, 10**9).map(str)


def other_values(original: Plan, random: Random) -> Plan:
    """The plan with every literal another one, references as they are."""

    def changed(leaf: Value) -> Value:
        return leaf if isinstance(leaf, (Ref, Unresolved)) else f"other {random.randrange(10**6)}"

    calls = []
    for call in original.calls:
        given_ = tuple((name, map_leaves(changed, value)) for name, value in call.arguments)
        calls.append(replace(call, arguments=given_))
    return replace(original, calls=tuple(calls))


@given(plans(), plans(), st.integers(0, 10**6))
def test_what_keeps_the_class_and_what_leaves_it(one: Plan, other: Plan, seed: int) -> None:
    classes, whole = EquivalenceClasses(values=False), EquivalenceClasses()
    moved = topological(arguments_reversed(one), Random(seed))
    assert moved is not None
    assert classes.of(moved) == classes.of(one) == classes.of(other_values(moved, Random(seed)))
    assert classes.unproved == 0
    assert (whole.of(one) == whole.of(other)) is same(one, other)
    if one.calls:
        calls, at = [*one.calls], seed % len(one.calls)
        calls[at] = replace(calls[at], name=f"{calls[at].name} other")
        assert classes.of(one) != classes.of(replace(one, calls=tuple(calls)))


@given(WORDS, NUMBERS, NUMBERS, st.text())
def test_another_number_or_blank_keeps_the_template_and_another_word_does_not(
    words: list[str], one: str, other: str, text: str
) -> None:
    asked = " ".join(words)
    assert question_template(f"{asked} {one}") == question_template(f"{asked} {other}")
    assert question_template(f"{asked} {one}") != question_template(f"{asked} lamp")
    kept = question_template(text)
    assert kept == question_template(question_words(text)) == question_template(f" {text}\n")


TEXTS = st.none() | st.sampled_from(["a 1", "a 2", "b", "B", "b "])


ITEMS = st.lists(st.builds(ComparedRecord, st.none() | plans(2), TEXTS), max_size=8)
WIDER = {
    "same": ("template", "words", "values"), "template": ("query", "plan"), "words": ("query",),
    "values": ("plan",),
}  # fmt: skip


@given(ITEMS, ITEMS)
def test_figures_groups_and_clusters_say_the_same(
    ours: list[ComparedRecord], theirs: list[ComparedRecord]
) -> None:
    keys = RecordKeys()
    side, other = keys.read(ours), keys.read(theirs)
    for one, both in zip(count_alike(side), count_alike(side, other), strict=True):
        found = groups(side, one.way)
        shared = [n for key, n in Counter(record_keys(side, one.way)).items() if key is not None and n > 1]
        assert (one.groups, one.records, one.largest) == (len(shared), sum(shared), max(shared, default=0))
        assert sorted(len(group.records) for group in found) == sorted(shared)
        numbers = clusters(side, one.way)
        assert len(set(numbers)) == len(numbers) - one.records + one.groups
        assert all(len({numbers[at] for at in group.records}) == 1 for group in found)
        across = groups(side, one.way, other)
        assert (both.groups, both.records) == (len(across), sum(len(group.records) for group in across))
        assert both.others == sum(len(group.others) for group in across)
    assert sum(one.nearest or 0 for one in count_alike(side, other)) <= len(ours)


@given(ITEMS)
def test_what_is_alike_in_a_closer_way_is_alike_in_wider_ones(items: list[ComparedRecord]) -> None:
    side = RecordKeys().read(items)
    known = {way: record_keys(side, way) for way in CRITERIA}
    for way, those in WIDER.items():
        for at, key in enumerate(known[way]):
            for before, earlier in enumerate(known[way][:at]):
                if key is not None and key == earlier:
                    assert all(known[each][at] == known[each][before] for each in those)
