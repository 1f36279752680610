"""Sums over scored rows: any cut and any grouping of the parts gives the report of the whole."""

import json
import pickle
from fractions import Fraction
from math import fsum
from random import Random
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.comparison.metrics import DEFAULT_METRICS
from planner_eval.comparison.metrics.facts import Counts, Share, Tally
from planner_eval.comparison.policy.values import NOTHING
from planner_eval.comparison.rows import JUDGED_STATES, STATES, Row
from planner_eval.comparison.turns import TurnComparison
from planner_eval.reading.dialects.read import parse
from planner_eval.results.columns import Column, exact_sum
from planner_eval.results.report import UNKNOWN_PROVENANCE, make_report, report_of
from planner_eval.results.scored import (
    RowLineWriter,
    ScoredRow,
    StoredRows,
    row_columns,
    row_data,
    scored_of,
)
from planner_eval.results.totals import (
    CostSum,
    Totals,
    totals_of,
)
from planner_eval.results.views.report import FigureView, report_view
from tests.conftest import tables, text_case

TABLES = tables(__file__)

METRICS = ("exact", "calls", "order_tau", "similarity")


def some_tallies(random: Random) -> dict[str, Tally | None]:
    whole = random.randint(0, 5)
    similar: float = random.choice([whole, whole * random.random()])
    return {
        "exact": Share(random.randint(0, 1), 1),
        "calls": Counts(random.randint(0, whole), whole, random.randint(whole, 7)),
        "order_tau": random.choice([None, Share(random.randint(-whole, whole), whole)]),
        "similarity": Share(similar, whole),
    }


def some_rows(random: Random, count: int) -> list[ScoredRow]:
    rows = []
    for number in range(count):
        state = random.choice([*STATES, "same", "different"])
        judged = state in JUDGED_STATES
        keys = {"level": random.choice("ab")} if random.random() < 0.9 else {}
        keys |= {"talk": str(number % 5)}
        codes = tuple(random.choices(("call.missing", "argument.value"), k=random.randint(0, 2)))
        said = random.choice(["why\nin full", "größer \ud800 \u2028"])
        marks = (random.random() < 0.9, random.random() < 0.2, random.random() < 0.2)
        mistaken = random.choice([(), (("f", "g"), (None, "h"), ("f", None))])
        place = random.choice([None, "p.jsonl"]), random.choice([None, number + 1])
        tallies, given = (some_tallies(random), keys) if judged else ({}, {})
        name = f"q{number}" * random.randint(1, 3)
        rows.append(ScoredRow(name, state, tallies, codes, said, given, *marks, mistaken, *place))
    return rows


def written(totals: Totals, rows: list[ScoredRow]) -> list[str]:
    report = report_of(totals, rows, UNKNOWN_PROVENANCE, policy="default")
    forms = ("text", "md", "json", "jsonl", "csv", "junit")
    return [report_view(report, failures=one).text(form) for form in forms for one in (False, True)]


def folded(parts: list[list[ScoredRow]], random: Random, cluster: str | None = None) -> Totals:
    """The sums of parts, neighbours put together in any grouping, each by way of JSON text or not."""
    sums = [totals_of(part, METRICS, ["level"], cluster) for part in parts]
    while len(sums) > 1:
        at = random.randrange(len(sums) - 1)
        if random.random() < 0.7:
            data = json.loads(json.dumps(sums[at + 1].data()))
            sums[at + 1] = Totals(METRICS, ["level"], data, cluster)
        sums[at].extend(sums.pop(at + 1))
    return sums[0]


def test_a_long_report_says_the_most_important_first_and_how_much_is_left_out() -> None:
    """Three causes and three groups of a kind, eight figures by level, 200 characters of a pair."""
    rows, documents = [*map(scored_of, TABLES["LONG"])], []
    for causes, brief in ((False, False), (False, True), (True, False)):
        totals = Totals(TABLES["MEASURED"], ["level"], causes=causes)
        for row in rows:
            totals.add(row)
        report = report_of(totals, rows, UNKNOWN_PROVENANCE, policy="default")
        view = report_view(report, failures=not causes and not brief, view=FigureView(brief=brief))
        documents.append(view.text().rpartition("\n")[0])
    assert "\n----\n".join(documents) + "\n" == text_case("test_totals-LONG.txt")


@pytest.mark.parametrize("cluster", [None, "talk"])
@pytest.mark.parametrize("number", range(12))
def test_any_cut_and_any_grouping_gives_the_same_report(number: int, cluster: str | None) -> None:
    random = Random(number)
    rows = some_rows(random, random.choice([1, 7, 60]))
    whole = totals_of(rows, METRICS, ["level"], cluster)
    expected = written(whole, rows)
    for _ in range(4):
        cuts = sorted(random.choices(range(len(rows) + 1), k=random.randint(0, 6)))
        parts = [rows[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
        found = folded(parts, random, cluster)
        assert written(found, rows) == expected
        assert found.pairs == len(rows)
        assert Totals(METRICS, ["level"], found.data(), cluster).data() == found.data()


@pytest.mark.parametrize("cluster", [None, "talk"])
def test_figures_do_not_depend_on_the_order_of_rows(cluster: str | None) -> None:
    rows, random = some_rows(Random(1), 300), Random(2)
    found = []
    for _ in range(5):
        found.append(make_report(totals_of(rows, METRICS, (), cluster), rows, made="").figures)
        random.shuffle(rows)
    assert found == found[:1] * 5


def test_clusters_can_be_put_together_otherwise() -> None:
    """What a run kept of its rows gives the sums over other clusters."""
    rows = some_rows(Random(7), 60)
    first = totals_of(rows, METRICS, ["level"])
    first.recluster(rows, "talk")
    assert first.data() == totals_of(rows, METRICS, ["level"], "talk").data()


def test_sums_are_those_of_fsum() -> None:
    random = Random(3)
    for _ in range(200):
        terms = [
            (random.choice([random.gauss(0, 10 ** random.randint(-9, 9)), random.randint(-9, 9)]), k)
            for k in random.choices(range(1, 50), k=random.randint(1, 30))
        ]
        every = [number for number, count in terms for _ in range(count)]
        assert exact_sum(terms) == fsum(every) == float(sum(map(Fraction, every)))
    assert [repr(exact_sum(terms)) for terms in ([(2, 3)], [(2.0, 3)], [])] == ["6", "6.0", "0"]
    for values in ([Share(1, 1), Share(1.0, 1)], [Share(1.0, 1), Share(1, 1)]):  # 1 and 1.0 are told apart
        assert repr(Column(values).total()) == "Share(part=2.0, whole=2)"


def test_what_was_read_adds_up() -> None:
    plans = [parse("f(#x='1')"), parse('[{"name": "g", "arguments": {"y": 1}}]'), parse("h()")]
    whole, first = Totals(()), Totals(())
    for n, plan in enumerate(plans):
        row, part = Row(str(n), "same", pred=plan, gold=plan), Totals(())
        whole.note(row)
        part.note(row)
        first.extend(Totals((), data=json.loads(json.dumps(part.data()))))
    assert first.data() == whole.data()
    seen = {(app or "", tool, name) for app, tool, name in first.names.seen}
    assert seen == {("", "f", ""), ("", "f", "x"), ("", "g", ""), ("", "g", "y"), ("", "h", "")}
    assert first.lacking == ("app", "references")
    assert "+" in first.read


def test_lines_are_their_rows_data_whatever_texts_are_kept() -> None:
    rows = some_rows(Random(11), 300)
    shared = rows[0].tallies
    rows += [ScoredRow("a", "same", shared), ScoredRow("b", "same", {**shared}, file="p.jsonl", line=7)]
    writer = RowLineWriter()
    for row in rows:
        wanted: dict[str, Any] = row_data(row)
        for name in ("file", "line", "mistaken"):
            wanted |= {name: getattr(row, name)} if getattr(row, name) else {}
        assert writer.line(row) == RowLineWriter().line(row) == json.dumps(wanted, ensure_ascii=False)
    one, other = (ScoredRow("a", "same", {"similarity": Share(part, 4)}) for part in (4, 4.0))
    assert ('"part": 4,' in writer.line(one), '"part": 4.0,' in writer.line(other)) == (True, True)


def test_a_row_is_the_same_after_its_line(tmp_path: Any) -> None:
    rows = some_rows(Random(7), 200)
    lines = [RowLineWriter().line(row) for row in rows]
    assert [scored_of(json.loads(line)) for line in lines] == rows
    assert all("\n" not in line for line in lines)
    assert row_columns((), ())["turns"].keys() == TurnComparison("turn", 2).data().keys()
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b"".join(line.encode("utf-8", "backslashreplace") + b"\n" for line in lines))
    stored = StoredRows(lambda: map(json.loads, file.read_bytes().splitlines()), len(rows))
    assert list(stored) == rows
    assert [stored[at] for at in (0, -1, 150)] == [rows[at] for at in (0, -1, 150)]
    ends = ((3, 9), (None, None, -7), (150, 20, -3), (5, 5), (-3, None))
    for part in (slice(*one) for one in ends):
        assert stored[part] == tuple(rows[part])
    with pytest.raises(IndexError):
        stored[200]
    report = pe.score(["f(#x='1')", "g(#x=", "h()"], ["f(#x='2')", "g(#x='1')", "h()"], by=["calls"])
    assert [*map(scored_of, map(json.loads, map(RowLineWriter().line, report.rows)))] == list(report.rows)
    assert set(report.rows[0].tallies) == set(DEFAULT_METRICS)
    assert pickle.loads(pickle.dumps(NOTHING)) is NOTHING


def test_costs_begin_with_nothing_and_are_shared_among_what_is_right() -> None:
    cost = CostSum(4, 12, 2, 3, 2, 9)
    assert CostSum().plus(cost) == cost
    assert (cost.mean, cost.per_right, cost.per_recorded_right) == (3, 6, 4.5)
    assert (CostSum().mean, CostSum().per_right, CostSum().per_recorded_right) == (None, None, None)
