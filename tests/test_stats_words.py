"""planeval stats --explain: every word of the tables has its sentence, there and in docs/statistics.md."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from planner_eval.base.tables import table
from planner_eval.plan.statistics import Stats
from planner_eval.plan.structure import KINDS as COUNTED
from planner_eval.plan.words import FIGURES, KINDS, PATTERNS, SCOPES, SHAPES, explained
from tests.conftest import ROOT
from tests.inside import planeval

DEMO = ROOT / "data" / "demo"
PAGE = ROOT / "docs" / "statistics.md"
PLACE = re.compile(r"(?<=<!-- words -->\n\n).*?(?=<!-- end of words -->)", re.S)


@pytest.mark.parametrize("file", ["gold.jsonl", "pred.jsonl", "gold.json"])
def test_every_word_of_the_tables_is_explained_below_them(file: str) -> None:
    plain = planeval("stats", str(DEMO / file)).stdout
    done = planeval("stats", str(DEMO / file), "--explain")
    assert done.stdout.startswith(plain.rstrip("\n"))
    below = done.stdout[len(plain) :]
    heads = ("argument kind", "argument kinds", "pattern", "patterns", "shape", "scope")
    shown = {line.split("  ")[0].strip() for line in plain.splitlines() if line} - {"figure", *heads}
    shown = {re.sub(r" \([a-z].*\)$", "", word) for word in shown}  # a plain name beside a paper's
    said = {line.split("  ")[0].strip() for line in below.splitlines()}
    missing = {word for word in shown - said if not re.fullmatch(r"[()+a-z:× \d]*\(.*|[{A].*", word)}
    assert missing == set()
    assert "(()())" in said
    assert ("unread" in said) == (file == "pred.jsonl")
    assert all(len(line) <= 125 for line in below.splitlines())


def test_a_paper_s_words_stand_beside_plain_ones(tmp_path: Path) -> None:
    plans = tmp_path / "plans.jsonl"
    plans.write_text('{"plan": "A: [x = f()]\\nB: [g(#y=x)]"}\n{"plan": "A: [f()]"}\n')
    scopes = ("MS (calls of several apps, one each)", "SS (one call)")
    scales = ("parallel scale (independent parts)", "sequential scale (calls in the largest part)")
    for form in ((), ("--format", "md")):
        said = planeval("stats", str(plans), *form).stdout
        assert all(word in said for word in (*scopes, *scales))
    one = tmp_path / "one.txt"
    one.write_text("A: [x = f()]\nB: [g(#y=x)]")
    assert all(word in planeval("stats", str(one)).stdout for word in (scopes[0], *scales))
    several = planeval("stats", str(plans), str(one), str(one)).stdout
    assert all(f"{word}: mean, max" in several for word in scales)
    rows = planeval("stats", str(plans), "--format", "csv").stdout
    assert "\nparallel scale,2," in rows
    assert "\nMS,1" in rows


def test_a_word_that_is_not_shown_is_not_explained(tmp_path: Path) -> None:
    plan = tmp_path / "plans.jsonl"
    plan.write_text('{"plan": "f(#x=\'1\')"}\n{"plan": "a = f()\\ng(#y=a, #z=a)"}\n')
    below = planeval("stats", str(plan), "--explain").stdout.partition("\nword ")[2]
    said = {line.split("  ")[0] for line in below.splitlines()}
    assert {"A", "A→B", "string", "reference"} <= said
    assert not {"{A,B}→C", "A→{B,C}", "integer", "critical path", "unread"} & said
    rows = planeval("stats", str(plan), "--each", "--explain").stdout.partition("\nword ")[2]
    assert "string" not in {line.split("  ")[0] for line in rows.splitlines()}


@pytest.mark.parametrize("words", [("--format", "json"), ("--format", "csv")])
def test_programs_get_no_sentences(words: tuple[str, ...]) -> None:
    done = planeval("stats", str(DEMO / "gold.jsonl"), "--explain", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--explain applies only to the structure of plans as --format text or md" in done.stderr


def test_every_figure_and_kind_has_a_sentence() -> None:
    counted = {one.name.replace("_", " ") for one in fields(Stats)} - {"argument kinds", "patterns", "shape"}
    assert FIGURES.keys() - counted == {"total", "plans", "unread"}
    assert counted <= FIGURES.keys()
    assert tuple(KINDS) == COUNTED


def test_the_docs_have_the_same_words(request: pytest.FixtureRequest) -> None:
    words = explained(FIGURES, KINDS, PATTERNS, shapes=SHAPES, scopes=SCOPES)
    made = table([{"word": f"`{word}`", "meaning": said} for word, said in words.items()], "md") + "\n\n"
    page = PAGE.read_text(encoding="utf-8")
    if request.config.getoption("--update-cases"):
        PAGE.write_text(page := PLACE.sub(lambda _: made, page), encoding="utf-8")
    found = PLACE.search(page)
    assert found is not None
    assert found[0] == made


def test_a_circle_is_not_taken_for_no_calls_nor_left_out_of_a_shape(tmp_path: Path) -> None:
    alone, one, two = (
        {"name": name, "label": f"${name}", "arguments": {"x": x}}
        for name, x in (("h", 1), ("f", "$g.r$"), ("g", "$f.r$"))
    )
    plans = tmp_path / "plans.jsonl"
    plans.write_text(
        "".join(json.dumps({"plan": p}) + "\n" for p in ([one, two], [one, two, alone], [alone]))
    )
    rows = planeval("stats", str(plans)).stdout.split("shape")[1].split("\n")
    assert sorted(row.rsplit("  ", 1)[0].strip() for row in rows[1:4]) == ["((*))", "((*)) + ()", "()"]


def test_one_is_no_plural_and_no_size_is_not_zero(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text('[{"name": "f", "arguments": {}}]')
    done = planeval("stats", str(plan), "--tool-graph", str(tmp_path / "tools.dot"))
    assert "1 plan: 1 call of 1 tool, 0 references between 0 pairs" in done.stderr
    shown = planeval("data", "show", "nestful-v2", "--cache", str(tmp_path)).stdout
    assert "files      1, of unknown size\n" in shown
