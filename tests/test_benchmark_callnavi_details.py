"""CallNavi's further tables: by domain, kinds of errors, judge and AST match, freq@k."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from planner_eval.benchmarks import callnavi
from planner_eval.benchmarks.callnavi.agreement import TABLE_4, correlation, over_questions, over_runs
from planner_eval.benchmarks.callnavi.errors import KINDS, error_rows, kinds_of
from planner_eval.benchmarks.callnavi.stability import frequencies
from planner_eval.benchmarks.score import score_file
from planner_eval.datasets.callnavi import read_callnavi
from planner_eval.datasets.sample import Sample
from planner_eval.llm import JudgeRequest, ScriptedJudge
from planner_eval.llm.cache import Cache
from tests.conftest import ROOT
from tests.inside import planeval

SAMPLES = ROOT / "data" / "samples"
TOOLS = [{"name": name} for name in ("find", "book", "pay")]
GOLD = {"API": ["find", "pay"], "parameters": [{"to": "Oslo", "day": "$$$"}, {"bill": {"id": "$$$"}}]}


def sample(name: str = "q", *, gold: Any = GOLD, level: str = "hard") -> Sample:
    return Sample(name, tools=TOOLS, gold=gold, extra={"difficulty": level})


def answer(names: list[str], *entries: dict[str, Any]) -> str:
    return json.dumps({"API": names, "parameters": list(entries)})


FIND, PAY = {"to": "Oslo", "day": "Monday"}, {"bill": {"id": 7}}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (answer(["find", "pay"], FIND, PAY), set()),
        ("```json\n" + answer(["find", "pay"], FIND, PAY) + "\n```", {"format"}),
        ("I cannot.", {"format"}),
        (answer(["find", "settle"], FIND, PAY), {"hallucination"}),
        (answer(["settle"], PAY), {"hallucination", "logic: steps"}),
        (answer(["pay", "find"], PAY, FIND), {"logic: order"}),
        (answer(["find"], FIND), {"logic: steps"}),
        (answer(["find", "pay"], FIND, {}), {"logic: values"}),
        (answer(["find", "pay"], {"to": "Oslo"}, PAY), {"other"}),  # the first call's values are the user's
        (answer(["find", "pay"], {**FIND, "to": "Bergen"}, PAY), {"other"}),
        (answer(["find", "book"], FIND, PAY), {"other"}),
        (answer(["find", "pay", "book"], FIND, PAY, {}), {"other"}),
        ("So: " + answer(["find"], FIND), {"format", "logic: steps"}),
    ],
)
def test_kinds_of_errors(text: str, wanted: set[str]) -> None:
    assert kinds_of(sample(), text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("['find', 'pay']", set()),
        ('```["find", "pay"]```', {"format"}),
        ("First I would find one.", {"format"}),
        ("['pay', 'find']", {"logic: order"}),
        ("['find', 'settle']", {"hallucination"}),
        ("['find']", {"logic: steps"}),
    ],
)
def test_kinds_of_errors_of_names_alone(text: str, wanted: set[str]) -> None:
    assert kinds_of(sample(), text, task="routing") == wanted


def test_what_gold_calls_is_not_invented_and_lists_that_are_not_there_say_nothing() -> None:
    strange = {"API": ["elsewhere"], "parameters": [{"a": 1}]}
    assert kinds_of(sample(gold=strange), answer(["elsewhere"], {"a": 2})) == {"other"}
    assert kinds_of(Sample("q", gold=GOLD), answer(["x", "y"], {}, {})) == {"other"}


def test_errors_are_counted_by_difficulty() -> None:
    records = [
        (sample("a", level="easy"), "I cannot."),
        (sample("b"), answer(["find", "pay"], FIND, PAY)),
        (sample("c"), answer(["pay", "find"], PAY, FIND)),
        (sample("d", gold=["no record"]), "{}"),
    ]
    rows = {row["error"]: row for row in error_rows(records)}
    assert [rows["format"][name] for name in ("easy", "medium", "hard", "all")] == [1, 0, 0, 1]
    assert [rows["logic: order"][name] for name in ("hard", "all")] == [1, 1]
    assert [rows["no error"][name] for name in ("hard", "all")] == [1, 1]
    assert [rows["answers"][name] for name in ("easy", "medium", "hard", "all")] == [1, 0, 2, 3]


# ---------------------------------------------------------------- judge and AST match
def test_the_papers_correlation_is_that_of_its_printed_table() -> None:
    found = correlation(TABLE_4.values())
    assert found.n == len(TABLE_4) == 17
    assert (f"{found.r:.3f}", f"{found.p:.2e}") == ("0.934", "4.40e-08")


RATINGS = {"hr01": "[[1]]", "hr02": "[[0.2]]", "hr03": "[[0.6]]"}


def rate(request: JudgeRequest) -> str:
    name = "hr03" if "swapShift" in str(request) else "hr02" if "getShift" in str(request) else "hr01"
    return RATINGS[name]


def test_correlation_over_questions_and_over_runs(tmp_path: Path) -> None:
    pred, gold = SAMPLES / "answers" / "callnavi.jsonl", SAMPLES / "callnavi"
    cache = tmp_path / "judge.sqlite"
    scored = score_file(str(pred), str(gold), "callnavi", judge=Cache(cache, ScriptedJudge(rate), model="m"))
    found = over_questions(scored.reports["corrected"])
    # By hand: AST 1, 0, 1 and ratings 1, 0.2, 0.6.
    assert found.n == 3
    assert found.r == pytest.approx(sqrt(3) / 2)
    assert over_runs([scored.reports["corrected"]] * 3).r is None  # all the same
    judge = ("--judge", "m", "--judge-cache", str(cache), "--replay")
    done = planeval("score", str(pred), str(gold), "--benchmark", "callnavi", "--details", *judge)
    assert done.returncode == 0, done.stderr
    rows = tables(done.stdout)["Section 6.4: Pearson's correlation of GPT score and AST match"]
    assert ["questions,", "corrected", "3", "0.866"] in [row[:4] for row in rows]
    assert rows[-1][-6:] == ["17", "0.9337", rows[-1][-4], "0.934,", "p", "4.40e-08"]


# ---------------------------------------------------------------- several answers, domains
def test_frequencies_count_cleaned_answers() -> None:
    texts = ["['A']", '["a"]', "b", "B", "c"]
    records = [(sample(), text) for text in texts] + [(sample("none"), " ")] * 2
    assert frequencies(records) == {1: [0.4, 0.0], 2: [0.8, 0.0], 3: [1.0, 0.0]}


def tables(text: str) -> dict[str, list[list[str]]]:
    blocks = text.split("\n\n")
    return {title: [line.split() for line in rows.splitlines()[1:]] for title, rows in pairwise(blocks)}


def test_the_tables_stand_in_details(tmp_path: Path) -> None:
    gold = SAMPLES / "callnavi"
    asked = ("--benchmark", "callnavi", "--details")
    done = planeval("score", str(SAMPLES / "answers" / "callnavi.jsonl"), str(gold), *asked)
    assert done.returncode == 0
    found = tables(done.stdout)
    domains = found["By domain: means over the questions at hand"]
    assert domains == [["hr", "3", "of", "35", *["1", "0.6667", "1", "1", "1", "0.6667", "1", "0.6667"]]]
    errors = {tuple(row[:1]): row for row in found["Appendix F: kinds of errors, in answers"]}
    assert errors[("format",)][1:5] == ["1", "0", "0", "1"]
    assert errors[("answers",)][1:] == ["1", "1", "1", "3"]
    assert not any("Pearson" in title for title in found)  # nothing was judged
    lines = [json.dumps({"id": "hr01", "outputs": ["a", "a", "b", "b", "c"]})]
    pred = tmp_path / "several.jsonl"
    pred.write_text("\n".join(lines))
    done = planeval("score", str(pred), str(gold), *asked, "--set", "task=stability")
    rows = {row[0]: row[1:] for row in tables(done.stdout)["Section 5.3: freq@k beside the stability scores"]}
    # One question of three was answered: 0.4, 0.8 and 1 of it; the others are 0.
    assert [rows[f"freq@{k}"] for k in (1, 2, 3)] == [["0.1333", "3"], ["0.2667", "3"], ["0.3333", "3"]]
    assert rows["election"] == ["0", "3"]


# ---------------------------------------------------------------- the published data
def test_kinds_of_errors_of_answers_that_were_made_wrong(reference: Path) -> None:
    samples = {one.id: one for one in read_callnavi(reference / "datasets" / "callnavi")}
    wanted = {
        "identical": "no error",
        "hallucinated_api": "hallucination",
        "missing_call": "logic: steps",
        "order_swapped": "logic: order",
        "code_fence": "format",
        "leading_prose": "format",
        "value_changed": "other",
        "key_renamed": "other",
    }
    records: dict[str, list[tuple[Sample, str]]] = defaultdict(list)
    with gzip.open(reference / "vectors" / "callnavi" / "pred.jsonl.gz", "rt") as stream:
        for row in map(json.loads, stream):
            if row["applied"] and row["perturbation"] in wanted:
                records[row["perturbation"]].append((samples[row["id"]], row["raw"]))
    shares = {}
    for name, kind in wanted.items():
        rows = {row["error"]: row["all"] for row in error_rows(records[name])}
        shares[name] = rows[kind] / rows["answers"]
        assert rows["answers"] == len(records[name])
    assert {name for name, share in shares.items() if share < 1} <= {"key_renamed", "order_swapped"}
    assert min(shares.values()) > 0.7, shares
    assert set(KINDS) >= set(wanted.values()) - {"no error"}


def test_figures_by_domain_add_up_to_those_of_all(reference: Path, tmp_path: Path) -> None:
    folder = reference / "datasets" / "callnavi"
    samples = list(read_callnavi(folder))
    records = [
        {"id": one.id, "prediction": json.dumps(one.gold) if n % 3 else "?"} for n, one in enumerate(samples)
    ]
    pred = tmp_path / "pred.jsonl"
    pred.write_text("\n".join(map(json.dumps, records)))
    done = planeval("score", str(pred), str(folder), "--benchmark", "callnavi", "--details", "--corrected")
    rows = tables(done.stdout)["By domain: means over the questions at hand"]
    counts = Counter(one.category for one in samples)
    assert {row[0]: row[1:4] for row in rows} == {
        name: [str(count), "of", str(count)] for name, count in counts.items()
    }
    right = sum(float(row[-1]) * counts[row[0]] for row in rows)
    report = callnavi.score_corrected(
        [(one, record["prediction"]) for one, record in zip(samples, records, strict=True)]
    )
    assert right == pytest.approx(report.figure("ast_overall").numerator, abs=0.2)
