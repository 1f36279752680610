"""Records that are alike: questions and plans up to values, groups, clusters, two sets; the command itself.

Questions and their templates are lines of tests/cases/questions.jsonl; ``pytest tests/test_duplicates.py
--update-cases`` writes the templates: review its diff like code.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.cli.data import CRITERIA as OFFERED
from planner_eval.curation.duplicates import CRITERIA
from planner_eval.plan.canonical import MAX_CLASS_NUMBER, EquivalenceClasses, digest
from planner_eval.plan.model import Plan
from planner_eval.reading.files.context import question_template, question_text
from tests.build import plan
from tests.conftest import ROOT, AsKept, tabled
from tests.inside import planeval

CASES = ROOT / "tests" / "cases" / "questions.jsonl"
EXAMPLES = ROOT / "docs" / "examples" / "sets"


def test_templates_are_as_they_were_reviewed(as_kept: AsKept) -> None:
    asked = [json.loads(line)["question"] for line in CASES.read_text(encoding="utf-8").splitlines()]
    as_kept(CASES, ({"question": one, "template": question_template(one)} for one in asked))


@tabled("one, other, alike")
def test_questions_up_to_values(one: str, other: str, alike: bool) -> None:
    assert (question_template(one) == question_template(other)) is alike


def test_a_conversation_asks_what_its_user_says() -> None:
    user, parts = {"role": "user", "content": "A"}, [{"type": "text", "text": one} for one in "AB"]
    parts.insert(1, {"type": "image_url", "image_url": {"url": "x"}})
    talk = [{"role": "system", "content": "You"}, user, {**user, "content": "B"}]
    for asked, said in (
        (talk, "A\nB"), ([{"from": "human", "content": "A"}], "A"), ([{"from": "human", "value": "A"}], "A"),
        ([talk[0], {**user, "content": parts}], "A\nB"), (parts, "A\nB"), (5, "5"), (2.5, "2.5"),
        *((odd, None) for odd in (None, " ", True, [], [{"role": "user"}], ["a"])),
    ):  # fmt: skip
        assert question_text(asked) == said
    weather = [{"role": "user", "content": [{"type": "text", "text": "Weather in Bern"}]}]
    found = pe.duplicates([{"messages": weather, "gold": f"f(#x='{at}')"} for at in range(2)])
    assert (found.sets[0].questions, found.by) == (2, "template")
    assert found.groups[0].question == "weather in <name>"


def test_numbers_are_the_field_of_the_question_only_where_words_are_not() -> None:
    def asked(query: str | None = None, **fields: Any) -> tuple[int, str]:
        found = pe.duplicates([{"id": "a", "gold": "f()", **fields}], query=query)
        return found.sets[0].questions, found.notes[0]

    assert asked(question=7) == (1, 'question: field "question" of plans')
    assert asked(question=7, prompt="Why?") == (1, 'question: field "prompt" of plans')
    assert asked(task=7)[0] == 0  # a task may be known by its number
    assert asked(task="69d9bc51e53e4874", request="task-7", prompt="Why?")[1].endswith('"prompt" of plans')
    assert asked("task", task=7) == (1, 'question: field "task" of plans')


def crossed(*ends: str) -> Plan:
    """Two equal starts, each used twice, and four middles that two ends take two by two."""

    def call(key: str, name: str, **given: str) -> dict[str, Any]:
        return {"id": key, "name": name, "arguments": {k: {"$ref": v} for k, v in given.items()}}

    calls = [{**call(one, "find"), "arguments": {"at": one}} for one in "ab"]
    calls += [call(f"{middle}{one}", middle, of=one) for middle in ("hotel", "weather") for one in "ab"]
    for at, (hotel, weather) in enumerate(ends):
        calls.append(call(f"end{at}", "book", hotel=f"hotel{hotel}", weather=f"weather{weather}"))
    return plan(calls)


def test_classes_are_exact_where_the_digest_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    straight, across = crossed("aa", "bb"), crossed("ab", "ba")
    assert digest(straight, values=False) == digest(across, values=False)
    classes = EquivalenceClasses(values=False)
    names = [classes.of(one) for one in (straight, across, crossed("bb", "aa"), crossed("ba", "ab"))]
    assert names[0] == names[2] != names[1] == names[3]
    assert classes.unproved == 0
    exact = EquivalenceClasses()
    assert len({exact.of(one) for one in (straight, across)}) == 2
    assert MAX_CLASS_NUMBER > 0
    monkeypatch.setattr("planner_eval.plan.canonical.MAX_CLASS_NUMBER", 0)  # bounded, and said
    bounded = EquivalenceClasses(values=False)
    assert bounded.of(straight) == bounded.of(across)
    assert bounded.unproved == 1


def test_groups_clusters_and_ways_of_the_example() -> None:
    found = pe.duplicates(str(EXAMPLES / "gold.jsonl"))
    assert (found.by, found.clusters) == ("template", (1, 1, 1, 2, 2, 2, 3, 4))
    assert [one.records for one in found.groups] == [("a1", "a2", "a3"), ("b1", "b2", "b3")]
    assert {one.way: (one.groups, one.records) for one in found.ways} == {
        **dict.fromkeys(("same", "words", "values"), (0, 0)),
        **dict.fromkeys(("template", "query", "plan"), (2, 6)),
    }
    both = pe.duplicates(str(EXAMPLES / "gold.jsonl"), str(EXAMPLES / "train.jsonl"))
    nearest = {one.way: one.nearest for one in both.ways if one.nearest}  # which counts each record once
    assert nearest == {"same": 1, "template": 6, "plan": 1}
    assert [one.name for one in both.sets] == ["gold.jsonl", "train.jsonl"]
    assert both.groups[0].others == ("t1",)
    assert (*CRITERIA,) == OFFERED


def test_without_questions_or_ids_plans_are_compared() -> None:
    found = pe.duplicates([{"output": "f(#x='1')"}, {"output": "f(#x="}, {"output": "f(#x='2')"}])
    assert (found.by, found.clusters, found.groups[0].records) == ("plan", (1, 2, 1), (1, 3))
    assert (found.sets[0].unread, found.sets[0].reasons[0][:17]) == (1, "plans, record 2: ")


@tabled("how, said")
def test_wrong_names_are_refused_in_words(how: dict[str, Any], said: str) -> None:
    plans = [{"id": "a", "output": "f()", "split": "x"}]
    sets = [plans] + ([how["other"]] if "other" in how else [])
    with pytest.raises(InputError, match=said):
        pe.duplicates(*sets, **{key: value for key, value in how.items() if key != "other"})
    with pytest.raises(InputError, match="already has a field 'group'"):
        list(pe.duplicates([{"id": "a", "output": "f()", "group": 1}]).clustered())


@pytest.mark.parametrize("nothing", [None, 3, True, b"x", [], ()])
def test_what_is_no_set_is_refused_in_words(nothing: Any) -> None:
    wanted = "the list is empty" if nothing in ([], ()) else "is not a set of plans: expected a file"
    for given in ((nothing,), ([{"gold": "f()"}], nothing)):
        if given[-1] is not None or len(given) == 1:
            with pytest.raises(InputError, match=wanted):
                pe.duplicates(*given)


def test_the_way_that_was_taken_is_said_where_none_was_named() -> None:
    asked = [{"id": "a", "query": "Why?", "gold": "f()"}]
    plain = pe.duplicates([{"id": "a", "gold": "f()"}]).notes
    assert plain == ("duplicates by plan (plan, up to values): no record of plans has a question",)
    named = ("duplicates by template (question and plan, up to values): the default",)
    assert (pe.duplicates(asked).notes[1:], pe.duplicates(asked, way="plan").notes[1:]) == (named, ())


def test_words_are_no_plan_and_alike_to_none() -> None:
    golds: list[Any] = [*["I will search flights first."] * 2, "It is sunny.", [], "[]", "f(#x='1')"]
    found = pe.duplicates([{"id": str(at), "gold": gold} for at, gold in enumerate(golds)], way="plan")
    assert (found.sets[0].plans, found.sets[0].unread) == (3, 3)
    assert found.clusters == (1, 2, 3, 4, 4, 5)
    assert [(one.records, one.tools) for one in found.groups] == [(("3", "4"), ())]
    (said,) = found.notes
    assert said.startswith("plans: 3 of 6 gold plans are prose without calls and do not count as a plan; ")
    assert said.endswith("; choose another field with --field text=NAME")


@pytest.mark.parametrize(("key", "plan"), [("id", "gold"), ("qid", "calls")])
def test_broken_lines_keep_their_ids_and_pairs(key: str, plan: str, tmp_path: Path) -> None:
    calls = [{"name": "f", "arguments": {"x": 1}}]
    rows = [json.dumps({key: at, "question": f"x {at}", plan: calls}) for at in ("a", "c")]
    broken = [f'{{"{key}":"b", broken', "[1,2]", "17", "}{", "{}", "null"]
    gold, grouped, pred = (tmp_path / f"{name}.jsonl" for name in ("gold", "grouped", "pred"))
    gold.write_text("\n".join([rows[0], *broken, rows[1]]) + "\n")
    pred.write_text("".join(json.dumps({key: at, "output": calls}) + "\n" for at in "abc"))
    done = planeval("data", "duplicates", str(gold), "--clusters", str(grouped))
    lines = [json.loads(line) for line in grouped.read_text().splitlines()]
    odd: list[Any] = [{key: "b"}, {plan: [1, 2]}, {plan: 17}, {}, {}, {}]
    assert lines[1:7] == [{**one, "group": at} for at, one in enumerate(odd, 2)]
    assert "2 lines are not records; " in done.stderr
    argv = ("--field", f"id={key}", "--field", f"gold.text={plan}", "--format", "json")
    ours = planeval("score", str(pred), str(grouped), "--cluster", "group", *argv)
    states = [json.loads(e.stdout)["states"] for e in (ours, planeval("score", str(pred), str(gold), *argv))]
    assert (states[0], states[0]["same"]) == (states[1], 2)
