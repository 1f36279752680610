"""Root causes: what each costs, what fixes gain; mending one mends what follows from it and no other."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.comparison.diff import Diff, diff
from planner_eval.comparison.explanation.edits import Edit
from planner_eval.comparison.metrics import measure
from planner_eval.comparison.patch import ArgumentKey, Fixes
from planner_eval.comparison.rows import Row
from planner_eval.plan.canonical import NumberedPlan
from planner_eval.plan.model import Plan
from planner_eval.results.causes import Credits, credits_of
from tests.inside import planeval
from tests.plant import KINDS, ROOTS
from tests.test_diff import OURS

SCORES = ("exact", "similarity")


def row(pred: Plan, gold: Plan) -> Row:
    found = diff(pred, gold)
    return Row("1", "same" if found.same else "different", found, pred, gold)


def lost(pair: Row) -> list[float]:
    assert pair.diff is not None
    assert pair.diff.matching is not None
    found = [measure(pair.diff.matching, SCORES)[name] for name in SCORES]
    return [1 - (tally.value or 0.0) for tally in found if tally is not None]


def sums(found: Credits) -> list[float]:
    return [sum(getattr(cause, name) for cause in found.causes) for name in SCORES]


def test_a_pairs_credits_sum_to_what_it_lost() -> None:
    ways = set()
    for count in (1, 3, 6):
        for pred, gold in mistaken(OURS[:12], count):
            pair = row(pred, gold)
            found = credits_of(pair)
            assert (found is None) == (pair.state == "same")
            if found is not None:
                assert sums(found) == pytest.approx(lost(pair), abs=1e-7)
                assert len(found.causes) == len(pair.diff.roots)  # type: ignore[union-attr]
                ways.add(found.how)
    assert "shapley" in ways


def test_credits_are_means_over_all_orders_of_mending() -> None:
    """Held against the definition: each order by itself, each plan mended and scored anew."""
    for pred, gold in mistaken(OURS[:20], 4):
        pair = row(pred, gold)
        assert pair.diff is not None
        mends = Fixes(pair.diff).mends
        if not 2 <= len(mends) <= 4:
            continue
        gained = [[0.0, 0.0] for _ in mends]
        orders = list(permutations(range(len(mends))))
        for order in orders:
            operations, before = 0, lost(pair)
            for at in order:
                operations |= mends[at].operations
                whole = at == order[-1]
                after = [0.0, 0.0] if whole else lost(row(Fixes(pair.diff).plan(operations), gold))
                for score in (0, 1):
                    gained[at][score] += (before[score] - after[score]) / len(orders)
                before = after
        found = credits_of(pair)
        assert found is not None
        assert found.how == "shapley"
        assert [[c.exact, c.similarity] for c in found.causes] == [pytest.approx(g, abs=1e-8) for g in gained]


def wrong(count: int, calls: int = 1) -> tuple[str, str]:
    """A plan in whose first call so many arguments are wrong, and gold."""
    rest = "\n".join(f"g(#n='{at}')" for at in range(calls - 1))
    first = ["f(" + ", ".join(f"#x{at}='{side}{at}'" for at in range(count)) + ")" for side in "pg"]
    return f"{first[0]}\n{rest}", f"{first[1]}\n{rest}"


@pytest.mark.parametrize(
    ("count", "calls", "how"),
    [
        (8, 1, "shapley"),
        (9, 1, "alone"),
        (64, 1, "alone"),
        pytest.param(8, 400, "alone", marks=pytest.mark.more),
        (65, 1, "even"),
    ],
)
def test_many_causes_are_credited_more_simply_and_said(count: int, calls: int, how: str) -> None:
    pred, gold = (pe.parse(text) for text in wrong(count, calls))
    found = credits_of(row(pred, gold))
    assert found is not None
    assert (found.how, len(found.causes)) == (how, count)
    assert sums(found) == pytest.approx(lost(row(pred, gold)), abs=1e-6)
    assert {round(cause.exact, 6) for cause in found.causes} == {round(1 / count, 6)}
    said = str(pe.attribute([row(pred, gold)]))
    assert (how == "shapley") == (" causes, or " not in said)


GOLD = {
    "a": "r = get_rate(#base='EUR', #quote='CNY')\nratio(#first=r, #second='2')",
    "b": "get_rate(#base='EUR', #quote='JPY')", "c": "get_rate(#base='CHF', #quote='USD')\nsend(#to='Ann')",
    "d": "send(#to='Ben')", "e": "send(#to='Eve')", "f": "ping()",
}  # fmt: skip
PRED = {
    "a": "r = get_rate(#base='USD', #quote='CNY')\nratio(#first=r, #second='2')",
    "b": "get_rate(#base='GBP', #quote='JPY')", "c": "get_rate(#base='CHF', #quote='EUR')", "d": "send(#to=",
    "f": "ping()",
}  # fmt: skip


def files(folder: Path, order: list[str] | None = None) -> list[str]:
    names = order or list(GOLD)
    for name, key, records in (("pred", "output", PRED), ("gold", "gold", GOLD)):
        lines = [json.dumps({"id": at, key: records[at]}) for at in names if at in records]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    return [str(folder / "pred.jsonl"), str(folder / "gold.jsonl")]


def causes(*argv: str) -> dict[str, Any]:
    done = planeval("score", *argv, "--causes", "--format", "json")
    assert done.returncode == 1, done.stderr  # gold has a plan more
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_command_says_what_each_cause_costs_and_what_fixes_gain(tmp_path: Path) -> None:
    pred, gold = files(tmp_path)
    found = planeval("score", pred, gold, "--causes").stdout
    assert "root causes lower exact by 0.833" in found
    assert "1. fixing argument 'base' of get_rate (2 pairs) would raise exact" in found
    assert "(+0.333)" in found
    data = causes(pred, gold)
    costs = {(each["kind"], each["name"]): each for each in data["attribution"]["causes"]}
    group = costs["argument", "get_rate(base)"]
    assert (group["pairs"], group["exact"]) == (2, pytest.approx(2 / 6, abs=1e-9))
    of_code = [each for each in data["attribution"]["causes"] if each["kind"] == "code"]
    assert sum(each["exact"] for each in of_code) == pytest.approx(1 - data["figures"]["exact"]["value"])
    macro = data["figures"]["similarity"]["macro"]
    assert sum(each["similarity"] for each in of_code) == pytest.approx(1 - macro, abs=1e-7)
    rows = {each["id"]: each for each in data["rows"]}  # predictions that are not there have a cause
    for name, state in (("d", "cut"), ("e", "absent")):
        assert rows[name]["credits"]["causes"] == [{"code": state, "exact": 1.0, "similarity": 1.0}]
    assert "credits" not in rows["f"]
    mended = {**PRED, "a": GOLD["a"], "b": GOLD["b"]}
    lines = [json.dumps({"id": name, "output": text}) for name, text in mended.items()]
    (tmp_path / "mended.jsonl").write_text("\n".join(lines))
    again = json.loads(planeval("score", str(tmp_path / "mended.jsonl"), gold, "--format", "json").stdout)
    assert not {"attribution", "credits"} & {*again, *again["rows"][0]}
    before, after = (each["figures"]["exact"]["value"] for each in (data, again))
    assert after - before == pytest.approx(group["gain"]) == pytest.approx(2 / 6)
    turned = causes(*files(tmp_path, ["f", "c", "e", "a", "d", "b"]))  # the order of records changes nothing
    assert turned["attribution"] == data["attribution"]
    head, *table = planeval("score", pred, gold, "--causes", "--format", "csv").stdout.splitlines()
    assert head == "by,cause,pairs,exact,similarity,gain"
    assert "argument,get_rate(base),2,0.333333,0.041667,0.333333" in table
    told = " ".join(planeval("score", pred, gold, "--causes", "--format", "md").stdout.split())
    assert "| argument | get_rate(base) | 2 |" in told


def test_the_verb_takes_the_rows_of_another() -> None:
    found = pe.attribute(pe.evaluate(list(PRED.values())[:3], list(GOLD.values())[:3]))
    assert [fix.name for fix in found.fixes[:1]] == ["get_rate(base)"]
    assert found.fixes[0].gain == pytest.approx(2 / 3)
    assert pe.attribute([]).exact is None
    assert "no pair could be judged" in str(pe.attribute([]))


def broken(pairs: Iterable[tuple[Plan, Plan]]) -> Counter[str]:
    """How many root causes there are, and what mending them one by one shows to be wrong."""
    counts: Counter[str] = Counter()
    for pred, gold in pairs:
        found = diff(pred, gold)
        counts["roots"] += len(found.roots)
        counts.update(what for what, _ in laws(found, gold))
    return counts


def forward(plan: Plan) -> bool:
    return any(edge.producer >= edge.consumer for edge in plan.edges)


def mistaken(golds: Sequence[Plan], count: int) -> Iterable[tuple[Plan, Plan]]:
    """Plans with several mistakes each, some of which have consequences."""
    kinds = [*KINDS.values(), *ROOTS.values()]
    for seed, gold in enumerate(golds):
        random, pred = Random(seed), gold
        for kind in random.choices(kinds, k=count) if not forward(gold) else ():
            planted = None if forward(pred) else kind(pred, random)
            pred = planted.plan if planted is not None else pred
        yield pred, gold


def test_several_planted_mistakes_are_mended_one_by_one() -> None:
    counts = broken(mistaken(OURS * 4, 3))
    assert counts["roots"] > 150
    assert counts.keys() <= {"roots", OTHERWISE}
    assert counts[OTHERWISE] < counts["roots"] / 50


OTHERWISE = "paired otherwise"
"""What is said where a mended plan's calls have other partners, so that edits cannot be compared."""


def key(found: Diff, edit: Edit) -> tuple[object, ...]:
    """What an edit is about, in a way that holds when other edits are gone."""
    if edit.code == "call.missing" and edit.gold is not None and edit.gold.call is not None:
        twins = NumberedPlan(found.gold, {}).numbers  # of equal calls it does not matter which is missing
        number = twins[edit.gold.call]
        return edit.code, edit.gold.call if number is None else twins.index(number)
    pred = edit.pred and edit.pred.call
    name = None if pred is None else found.pred.calls[pred].id
    return (
        "call.extra" if edit.code == "call.duplicated" else edit.code,  # of a call that is mended, it is none
        edit.gold and (edit.gold.call, edit.gold.argument, edit.gold.at),
        name if edit.gold is None else None,
        edit.pred and edit.pred.argument,
    )


def laws(found: Diff, gold: Plan) -> Iterator[tuple[str, Edit]]:
    """What mending one root after another shows to be wrong with the causes: what, and the root."""
    mending = Fixes(found)
    places = {id(edit): number for number, edit in enumerate(found.edits)}
    for edit, operations, touched in mending.mends:
        number, after = places[id(edit)], diff(mending.plan(operations), gold)
        if not _kept(found, after, edit):
            yield OTHERWISE, edit
            continue
        still = Counter(key(after, each) for each in after.edits)
        others = [other for at, other in enumerate(found.edits) if _root(found, at) != number]
        known = Counter(key(found, other) for other in others)
        for other in found.edits:
            there = still[key(found, other)]
            if other not in others and there > known[key(found, other)]:
                yield f"still there: {other.code}", edit
        lost = known - still
        for other in others:
            if other.cause is None and lost[key(found, other)] and not _set(mending, other, touched):
                yield f"gone as well: {other.code}", edit


def _set(mending: Fixes, edit: Edit, touched: frozenset[ArgumentKey]) -> bool:
    places = [mending.gold_place(p) for p, _ in edit.places if p is not None]
    return bool(touched & {*places, *((g.call, g.argument) for _, g in edit.places if g is not None)})


def _root(found: Diff, at: int) -> int:
    while (cause := found.edits[at].cause) is not None:
        at = cause
    return at


def _kept(before: Diff, after: Diff, root: Edit) -> bool:
    """Whether the calls that had partners have the same ones, and no other but those that are mended."""
    was, now = ({f.pred.calls[p].id: g for p, g in f.alignment.pairs} for f in (before, after))
    extra = {before.pred.calls[pred].id for pred in before.alignment.extra}
    added = {gold.call for pred, gold in root.places if pred is None and gold is not None}
    left = {*before.alignment.missing} - added
    same = all(now.get(name) == gold for name, gold in was.items())
    return same and extra.isdisjoint(now) and {*after.alignment.missing} == left
