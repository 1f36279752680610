"""Records that are alike: questions and plans up to values, groups, clusters, two sets; the command itself.

Questions and their templates are lines of tests/cases/questions.jsonl; ``pytest tests/test_duplicates.py
--update-cases`` writes the templates: review its diff like code.
"""

from __future__ import annotations

import json
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.cli.data_duplicates import WAYS as OFFERED
from planner_eval.datasets.duplicates import WAYS
from planner_eval.datasets.questions import question_template, question_text
from planner_eval.plan.digest import MOST, Classes, digest
from planner_eval.plan.model import Plan
from tests.build import plan
from tests.conftest import ROOT, AsKept
from tests.memory import slowness
from tests.test_cli import planeval

CASES = ROOT / "tests" / "cases" / "questions.jsonl"
EXAMPLES = ROOT / "docs" / "examples" / "sets"
SAMPLES = str(ROOT / "data" / "samples")


# ---------------------------------------------------------------- questions
def test_templates_are_as_they_were_reviewed(as_kept: AsKept) -> None:
    asked = [json.loads(line)["question"] for line in CASES.read_text(encoding="utf-8").splitlines()]
    as_kept(CASES, ({"question": one, "template": question_template(one)} for one in asked))


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("Find 2 hotels in Rome", "Find twelve hotels in New York", True),
        ("See you on 5 May.", "See you on Friday.", True),
        ("Play 'Help' now", 'Play "A day" now', True),
        ("Play Help now", "play Help  now", True),
        ("Find hotels in Rome", "Find flights in Rome", False),
        ("Find 2 hotels", "Find Rome hotels", False),
        ("add 5 and 6", "add 5 and 6 and 7", False),
        ("FIND HOTELS IN ROME", "BOOK FLIGHTS TO OSLO", False),
    ],
)
def test_questions_up_to_values(one: str, other: str, alike: bool) -> None:
    assert (question_template(one) == question_template(other)) is alike


@pytest.mark.more
@pytest.mark.parametrize(
    "piece", ["a", "A-", "'", "'a ", '"a', "one ", "1,", "may ", "A1", "\n ", "-", "x Ab of ", "Ab "]
)
def test_a_long_question_takes_time_in_proportion(piece: str) -> None:
    start = time.process_time()
    question_template(piece * (200_000 // len(piece)))
    assert time.process_time() - start < 10 * slowness()  # it takes half a second


def test_a_conversation_asks_what_its_user_says() -> None:
    talk = [
        {"role": "system", "content": "You"},
        {"role": "user", "content": "A"},
        {"role": "user", "content": "B"},
    ]
    assert question_text(talk) == "A\nB"
    assert question_text([{"from": "human", "content": "A"}]) == "A"
    assert question_text([{"from": "human", "value": "A"}]) == "A"
    assert [question_text(odd) for odd in (None, " ", True, [], [{"role": "user"}], ["a"])] == [None] * 6


def test_parts_and_numbers_are_questions() -> None:
    parts = [
        {"type": "text", "text": "A"},
        {"type": "image_url", "image_url": {"url": "x"}},
        {"type": "text", "text": "B"},
    ]
    talk = [{"role": "system", "content": parts[:1]}, {"role": "user", "content": parts}]
    assert [question_text(one) for one in (talk, parts, 5, 2.5)] == ["A\nB", "A\nB", "5", "2.5"]
    asked = [{"role": "user", "content": [{"type": "text", "text": "Weather in Bern"}]}]
    found = pe.duplicates([{"messages": asked, "gold": f"f(#x='{at}')"} for at in range(2)])
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


# ---------------------------------------------------------------- plans
def crossed(*ends: str) -> Plan:
    """Two equal starts, each used twice, and four middles that two ends take two by two."""
    calls: list[dict[str, Any]] = [{"id": one, "name": "find", "arguments": {"at": one}} for one in "ab"]
    for middle in ("hotel", "weather"):
        calls += [
            {"id": f"{middle}{one}", "name": middle, "arguments": {"of": {"$ref": one}}} for one in "ab"
        ]
    taken = [{"hotel": {"$ref": f"hotel{end[0]}"}, "weather": {"$ref": f"weather{end[1]}"}} for end in ends]
    calls += [{"id": f"end{at}", "name": "book", "arguments": each} for at, each in enumerate(taken)]
    return plan(calls)


def test_classes_are_exact_where_the_digest_is_not() -> None:
    straight, across = crossed("aa", "bb"), crossed("ab", "ba")
    assert digest(straight, values=False) == digest(across, values=False)
    classes = Classes(values=False)
    names = [classes.of(one) for one in (straight, across, crossed("bb", "aa"), crossed("ba", "ab"))]
    assert names[0] == names[2] != names[1] == names[3]
    assert classes.unproved == 0
    exact = Classes()
    assert len({exact.of(one) for one in (straight, across)}) == 2


def test_classes_of_one_digest_are_bounded_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner_eval.plan.digest.MOST", 0)
    classes = Classes(values=False)
    assert classes.of(crossed("aa", "bb")) == classes.of(crossed("ab", "ba"))
    assert classes.unproved == 1
    assert MOST > 0


# ---------------------------------------------------------------- the verb
def test_groups_clusters_and_ways_of_the_example() -> None:
    found = pe.duplicates(str(EXAMPLES / "gold.jsonl"))
    assert found.by == "template"
    assert [one.records for one in found.groups] == [("a1", "a2", "a3"), ("b1", "b2", "b3")]
    assert found.clusters == (1, 1, 1, 2, 2, 2, 3, 4)
    assert {one.way: (one.groups, one.records) for one in found.ways} == {
        **dict.fromkeys(("same", "words", "values"), (0, 0)),
        **dict.fromkeys(("template", "query", "plan"), (2, 6)),
    }


def test_two_sets_nearest_counts_each_record_once() -> None:
    found = pe.duplicates(str(EXAMPLES / "gold.jsonl"), str(EXAMPLES / "train.jsonl"))
    nearest = {one.way: one.nearest for one in found.ways if one.nearest}
    assert nearest == {"same": 1, "template": 6, "plan": 1}
    assert [one.name for one in found.sets] == ["gold.jsonl", "train.jsonl"]
    assert found.groups[0].others == ("t1",)


def test_without_questions_plans_alone_are_compared() -> None:
    found = pe.duplicates([{"id": "a", "output": "f(#x='1')"}, {"id": "b", "output": "f(#x='2')"}])
    assert (found.by, found.clusters) == ("plan", (1, 1))
    with pytest.raises(InputError, match="holds a question, which 'query' compares"):
        pe.duplicates([{"id": "a", "output": "f(#x='1')"}], by="query")


def test_records_without_ids_are_named_by_their_place_and_lie_in_clusters() -> None:
    found = pe.duplicates([{"output": "f(#x='1')"}, {"output": "f(#x="}, {"output": "f(#x='2')"}])
    assert (found.groups[0].records, found.clusters, found.sets[0].unread) == ((1, 3), (1, 2, 1), 1)
    assert found.sets[0].reasons[0].startswith("plans, record 2: ")


def test_wrong_names_are_refused_in_words() -> None:
    with pytest.raises(InputError, match="no way 'templat' to be alike; did you mean 'template'"):
        pe.duplicates([], by="templat")
    with pytest.raises(InputError, match="--across 'spilt': no record of plans has that field; did you mean"):
        pe.duplicates([{"id": "a", "output": "f()", "split": "x"}], across="spilt")
    with pytest.raises(InputError, match="one set"):
        pe.duplicates([{"id": "a", "output": "f()"}], [{"id": "a", "output": "f()"}], across="x")
    with pytest.raises(InputError, match="has a field 'group' already"):
        list(pe.duplicates([{"id": "a", "output": "f()", "group": 1}]).clustered())


@pytest.mark.parametrize("nothing", [None, 3, True, b"x", [], ()])
def test_what_is_no_set_is_refused_in_words(nothing: Any) -> None:
    wanted = "the list is empty" if nothing in ([], ()) else "is no set of plans, expected the name of a file"
    for given in ((nothing,), ([{"gold": "f()"}], nothing)):
        if given[-1] is not None or len(given) == 1:
            with pytest.raises(InputError, match=wanted):
                pe.duplicates(*given)


def test_names_that_are_no_texts_are_refused_in_words() -> None:
    for what in ("by", "query", "across"):
        with pytest.raises(InputError, match=f"{what} is 3, expected a name"):
            pe.duplicates([{"gold": "f()"}], **{what: 3})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="--query 'gold': the plans of plans are read from that field"):
        pe.duplicates([{"id": "a", "gold": "f()"}], query="gold")


def test_the_way_that_was_taken_is_said_where_none_was_named() -> None:
    plain = [{"id": "a", "gold": "f()"}]
    asked = [{"id": "a", "query": "Why?", "gold": "f()"}]
    assert pe.duplicates(plain).notes == (
        "alike by plan (plan, up to values): no record of plans asks anything",
    )
    assert pe.duplicates(asked).notes[1:] == (
        "alike by template (question and plan, up to values): no other way is named",
    )
    assert pe.duplicates(asked, by="plan").notes[1:] == ()


def test_words_are_no_plan_and_alike_to_none() -> None:
    golds: list[Any] = [*["I will search flights first."] * 2, "It is sunny.", [], "[]", "f(#x='1')"]
    found = pe.duplicates([{"id": str(at), "gold": gold} for at, gold in enumerate(golds)], by="plan")
    assert (found.sets[0].plans, found.sets[0].unread) == (3, 0)
    assert found.clusters == (1, 2, 3, 4, 4, 5)
    assert [(one.records, one.tools) for one in found.groups] == [(("3", "4"), ())]
    (said,) = found.notes
    assert said.startswith("plans: 3 of 6 gold plans are words that call nothing, and count as no plan; ")
    assert said.endswith("; --text-field names another field")


def test_a_closer_way_is_never_alike_where_a_wider_one_is_not() -> None:
    wider = {
        "same": ("template", "words", "values"),
        "template": ("query", "plan"),
        "words": ("query",),
        "values": ("plan",),
    }
    found = pe.duplicates("functionchat", folder=SAMPLES)
    records = {one.way: one.records for one in found.ways}
    assert all(records[way] <= records[each] for way, those in wider.items() for each in those)
    assert records["same"] == 4


def test_the_command_offers_each_way() -> None:
    assert (*WAYS,) == OFFERED


# ---------------------------------------------------------------- the command
def test_clusters_feed_score(tmp_path: Path) -> None:
    gold, pred = str(EXAMPLES / "gold.jsonl"), str(EXAMPLES / "pred.jsonl")
    done = planeval("data", "duplicates", gold, "--clusters", str(tmp_path / "clusters.jsonl"))
    assert done.returncode == 1
    lines = [json.loads(line) for line in (tmp_path / "clusters.jsonl").read_text().splitlines()]
    before = [json.loads(line) for line in Path(gold).read_text().splitlines()]
    assert [{key: one[key] for key in one if key != "group"} for one in lines] == before
    scored = planeval(
        "score", pred, str(tmp_path / "clusters.jsonl"), "--cluster", "group", "--format", "json"
    )
    assert scored.returncode == 0, scored.stderr
    assert "over 4 clusters of group" in scored.stdout
    alone = json.loads(planeval("score", pred, gold, "--format", "json").stdout)
    wide, narrow = (one["figures"]["exact"]["interval"] for one in (json.loads(scored.stdout), alone))
    assert wide["low"] < narrow["low"] < narrow["high"] < wide["high"]


@pytest.mark.parametrize(("key", "plan"), [("id", "gold"), ("qid", "calls")])
def test_broken_lines_keep_their_ids_and_the_pairs_that_score_counts(
    key: str, plan: str, tmp_path: Path
) -> None:
    calls = [{"name": "f", "arguments": {"x": 1}}]
    rows = [json.dumps({key: at, "question": f"x {at}", plan: calls}) for at in ("a", "c")]
    broken = [f'{{"{key}":"b", broken', "[1,2]", "17", "}{", "{}", "null"]
    gold, grouped, pred = (tmp_path / f"{name}.jsonl" for name in ("gold", "grouped", "pred"))
    gold.write_text("\n".join([rows[0], *broken, rows[1]]) + "\n")
    pred.write_text("".join(json.dumps({key: at, "output": calls}) + "\n" for at in "abc"))
    done = planeval("data", "duplicates", str(gold), "--clusters", str(grouped))
    lines = [json.loads(line) for line in grouped.read_text().splitlines()]
    assert lines[1] == {key: "b", "group": 2}
    assert lines[2:5] == [{plan: [1, 2], "group": 3}, {plan: 17, "group": 4}, {"group": 5}]
    assert lines[5:7] == [{"group": 6}, {"group": 7}]
    assert "2 lines are no records and stand in" in done.stderr
    assert "the first: " in done.stderr
    argv = ("--id-field", key, "--gold-text-field", plan, "--format", "json")
    ours = planeval("score", str(pred), str(grouped), "--cluster", "group", *argv)
    theirs = planeval("score", str(pred), str(gold), *argv)
    counts = [json.loads(one.stdout)["states"] for one in (ours, theirs)]
    assert counts[0] == counts[1]
    assert counts[0]["same"] == 2


@pytest.mark.parametrize("name", ["out.jsonl.gz", "out.csv", "out.zst"])
def test_clusters_are_json_lines_whatever_they_are_named(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    done = planeval("data", "duplicates", str(EXAMPLES / "gold.jsonl"), "--clusters", str(file))
    assert (done.returncode, file.exists(), done.stdout) == (2, False, "")
    assert f"is named as {name.rpartition('.')[2]}, and jsonl or json is written" in done.stderr


def test_a_file_of_nothing_has_no_record(tmp_path: Path) -> None:
    file = tmp_path / "gold.jsonl"
    for text in ("", "\n \n"):
        file.write_text(text)
        done = planeval("data", "duplicates", str(file))
        assert (done.returncode, done.stdout.partition(",")[0]) == (3, "gold.jsonl: 0 records")
        assert f"{file} is empty: there is no record in it" in done.stderr


def test_clusters_of_a_data_set_are_gold_records(tmp_path: Path) -> None:
    file = tmp_path / "clusters.jsonl"
    done = planeval("data", "duplicates", "functionchat", "--source", SAMPLES, "--clusters", str(file))
    assert done.returncode == 1, done.stderr
    gold = pe.read(str(file), role="gold")
    assert [record.id for record in gold.records] == [
        record.id for record in pe.read("functionchat", folder=SAMPLES).records
    ]
    for ours, theirs in zip(gold.records, pe.read("functionchat", folder=SAMPLES).records, strict=True):
        if theirs.error is None:
            assert pe.same(pe.parse(ours), pe.parse(theirs))


def test_nothing_that_can_be_read_is_code_3_and_told(tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_text('{"id": "a", "gold": "f(#x="}\n' * 7)
    done = planeval("data", "duplicates", str(tmp_path / "gold.jsonl"))
    assert done.returncode == 3
    assert "gold.jsonl, line 1, record 1 (id a): " in done.stderr
    assert "… and 2 more plans of gold.jsonl that cannot be read" in done.stderr
    assert "no record has what is compared: plan, up to values" in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(
            {
                "x": [{"name": "f", "arguments": {"a": 1}}],
                "y": [{"name": "f", "arguments": {"a": 2}}],
                "z": [],
            }
        ),
        json.dumps(["f(#a='1')", "f(#a='2')", "g()"]),
        json.dumps([{"expected": "f(#a='1')"}, {"expected": "f(#a='2')"}, {"expected": "f(#a="}]),
        json.dumps(
            [{"id": 1, "calls": [{"name": "f", "arguments": {"a": 1}}]}, {"id": 2, "calls": [{"name": "f"}]}]
        ),
    ],
)
def test_records_of_any_form_come_back_with_their_clusters(text: str, tmp_path: Path) -> None:
    (tmp_path / "gold.json").write_text(text)
    before = pe.read(str(tmp_path / "gold.json"), role="gold")
    found = pe.duplicates(str(tmp_path / "gold.json"), by="plan")
    (tmp_path / "clusters.jsonl").write_text("".join(json.dumps(one) + "\n" for one in found.clustered()))
    after = pe.read(str(tmp_path / "clusters.jsonl"), role="gold")
    assert [one.id for one in after.records] == [one.id for one in before.records]
    assert [one.fields["group"] for one in after.records] == [*found.clusters]
    for one, other in zip(after.records, before.records, strict=True):
        try:
            wanted = pe.parse(other)
        except pe.ParseError:
            continue
        assert pe.same(pe.parse(one), wanted)


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        ((str(EXAMPLES / "train.jsonl"),), 0, 'question: field "query"'),
        ((str(EXAMPLES / "gold.jsonl"),), 1, ""),
        (("nosuch.jsonl",), 2, "nosuch.jsonl"),
        (("mathq",), 2, "did you mean the data set mathqa?"),
        (("nestful", "--source", str(ROOT / "tests")), 2, "nestful"),
        (("-", "-"), 2, "standard input, which can be read only once"),
        (("functionchat", "--source", SAMPLES, "--query", "q"), 2, "--query applies only to files"),
    ],
)
def test_codes_and_messages(argv: tuple[str, ...], code: int, said: str) -> None:
    done = planeval("data", "duplicates", *argv)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert said in done.stderr


def test_the_same_bytes_whatever_the_hash_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = set()
    for seed in ("0", "1", "7"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        found.add(
            planeval("data", "duplicates", "functionchat", "--source", SAMPLES, "--format", "json").stdout
        )
    assert len(found) == 1
    assert json.loads(found.pop())["ways"][0]["records"] == 4


def test_time_grows_with_the_number_of_records() -> None:
    def spent(count: int) -> float:
        records = [
            {"id": str(at), "query": f"Is {at} of kind {at % 9}?", "gold": f"f(#x='{at}')"}
            for at in range(count)
        ]
        start = time.process_time()
        assert pe.duplicates(records).ways[1].largest == count
        return time.process_time() - start

    spent(200)
    times = [spent(count) for count in (1_000, 2_000, 4_000)]
    assert all(more < 4 * less for less, more in pairwise(times))


# ---------------------------------------------------------------- the published data
@pytest.mark.more
def test_mathqa_repeats_itself(reference: Path) -> None:
    """The challenge test's 604 problems stand word for word, with their plans, in the test split."""
    found = pe.duplicates("mathqa", across="split", folder=str(reference / "datasets"))
    ways = {one.way: one for one in found.ways}
    assert (ways["same"].groups, ways["same"].records, ways["same"].across) == (604, 1208, 604)
    assert (ways["template"].groups, ways["template"].records, ways["template"].across) == (1014, 2170, 595)
    assert (ways["plan"].records, ways["plan"].largest) == (2906, 92)
    assert found.unproved == 0
    assert len(set(found.clusters)) == 3589 - 2170 + 1014


def test_functionchat_asks_one_question_with_several_lists(reference: Path) -> None:
    found = pe.duplicates("functionchat", folder=str(reference / "datasets"))
    assert (found.ways[0].groups, found.ways[0].records, found.ways[0].largest) == (100, 500, 5)


def test_appbench_repeats_its_plans_and_hardly_a_question(reference: Path) -> None:
    found = pe.duplicates("appbench", folder=str(reference / "datasets"))
    ways = {one.way: (one.groups, one.records) for one in found.ways}
    assert ways["plan"] == (97, 515)
    assert ways["words"] == (1, 3)  # three records hold the instruction to the model that wrote them


@pytest.mark.parametrize("turned", [False, True])
def test_a_set_without_plans_has_nothing_to_compare(turned: bool, tmp_path: Path) -> None:
    (tmp_path / "plans.jsonl").write_text('{"id": "a", "gold": "f(x=1)"}\n', encoding="utf-8")
    (tmp_path / "words.jsonl").write_text('{"id": "a", "gold": "I will look."}\n', encoding="utf-8")
    sets = sorted(tmp_path.glob("*.jsonl"), reverse=turned)
    assert planeval("data", "duplicates", *sets, "--by", "plan").returncode == 3
    assert planeval("data", "coverage", sets[0], "--against", sets[1]).returncode == 3
