"""A pair of plans made smaller: what is left, that it still shows it, how it ends, and what is said."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.base.errors import AbsentError, InputError, ParseError
from planner_eval.benchmarks.answers import gold_samples
from planner_eval.benchmarks.benchmark import BENCHMARKS, NAMES
from planner_eval.benchmarks.datasets.published import gold_plan, holds_plan
from planner_eval.comparison.diff import diff
from planner_eval.comparison.matching.align import match
from planner_eval.curation.shrink.pairs import Pair, pair_size, size_of, strip_source, weight_of
from planner_eval.curation.shrink.search import STEP_KINDS, cut, find_bracket_groups, shrink
from planner_eval.curation.shrink.shrink import shrink as shrink_written
from planner_eval.curation.shrink.steps import find_values
from planner_eval.plan.model import Plan, Ref
from planner_eval.reading.dialects.read import parse
from tests.conftest import ROOT, examples, tabled, tables, until
from tests.inside import planeval
from tests.property.test_comparison_laws import plans

TABLES = tables(__file__)

DEMO = ROOT / "data" / "demo"
PREDS, GOLDS = DEMO / "pred.jsonl", DEMO / "gold.jsonl"
SAMPLES = ROOT / "data" / "samples"
PYTHON = shlex.quote(sys.executable)


def pair(pred: Any, gold: Any) -> Pair:
    return Pair(strip_source(pe.parse(pred)), strip_source(pe.parse(gold)))


def codes(pred: Any, gold: Any) -> list[str]:
    return [edit.code for edit in pe.diff(pred, gold).roots]


def test_a_call_goes_with_all_that_needs_it_and_what_is_wanted_of_a_consumer_stays() -> None:
    plan = "a = f(#x='1')\nb = g(#y=a)\nc = h(#z=b)\nd = k(#w='2')"
    found = shrink(pair(plan, plan), lambda each: "k" in [call.name for call in each.pred.calls])
    assert [call.name for call in found.pair.pred.calls] == ["k"]
    assert (len(found.pair.gold.calls), found.tries, found.ended) == (0, 6, "smallest")
    found = shrink(pair(plan, plan), lambda each: any("y" in dict(c.arguments) for c in each.pred.calls))
    assert [(call.name, call.arguments) for call in found.pair.pred.calls] == [("g", (("y", "x"),))]


def test_both_sides_go_together_where_neither_may_go_alone() -> None:
    plan = "f(#x='Rome', #y='1')\ng(#y='2')\nh(#z='3')"

    def equal(each: Pair) -> bool:
        return each.pred.calls == each.gold.calls and any("x" in dict(c.arguments) for c in each.pred.calls)

    found = shrink(pair(plan, plan), equal).pair
    assert [call.arguments for call in found.pred.calls] == [(("x", "x"),)]


@tabled("given, wanted, left")
def test_values_become_as_simple_as_they_may(given: object, wanted: object, left: object) -> None:
    plan = {"name": "f", "arguments": {"x": given, "y": 4}}

    def holds(each: Pair) -> bool:
        leaves = [*find_values(each.pred).values()]
        if isinstance(given, (int, float)) or not isinstance(wanted, str):
            leaves = [one for one in leaves if isinstance(one, (int, float))]
        return any(str(wanted) in str(one) for one in leaves if isinstance(one, (int, float, str)))

    found = shrink(pair([plan], [plan]), holds)
    assert found.ended == "smallest"
    assert holds(found.pair)
    assert found.pair.pred.calls[0].arguments == (("x", left),)
    assert type(dict(found.pair.pred.calls[0].arguments)["x"]) is type(left)


def test_a_reference_stays_where_it_is_wanted_and_its_way_goes() -> None:
    plan = "a, b = f(#x='1')\ng(#y=b, #z='7')"
    found = shrink(pair(plan, plan), lambda each: bool(each.gold.edges))
    assert [len(side.calls) for side in found.pair] == [0, 2]
    assert found.pair.gold.calls[1].arguments == (("y", Ref(0)),)
    assert found.pair.gold.calls[0].returns == ()


def test_calls_in_a_text_go_with_gold_s() -> None:
    calls = [{"name": name, "args": {"x": {"y": 1}}} for name in "fghk"]  # which no notation calls arguments
    gold = "f(#x='1')\ng(#x='1')\nh(#x='1')\nk(#x='1')"

    def shows(each: Pair) -> bool:
        names = [call.name for call in each.gold.calls]
        return "args" in each.pred and [n for n in "fghk" if f'"{n}"' in each.pred] == names and bool(names)

    found = shrink(Pair(json.dumps(calls), strip_source(pe.parse(gold))), shows)
    assert len(found.pair.gold.calls) == 1
    assert sorted(found.pair.pred) == sorted('args"k"') or sorted(found.pair.pred) == sorted('args"f"')


def test_pieces_of_a_text_one_within_another_are_cut_once() -> None:
    assert cut(Pair("abcdef", "ab"), [(0, 1, 5), (0, 2, 3), (0, 4, 6), (1, 0, 1)]) == Pair("a", "b")
    assert [(one.start, one.end) for one in find_bracket_groups("](a, [b], c) )[")] == [(5, 10), (1, 12)]


@pytest.mark.parametrize(("cap", "tries", "ended"), [(0, 0, "tries"), (5, 5, "tries"), (9, 4, "interrupted")])
def test_what_is_smallest_so_far_is_left(cap: int, tries: int, ended: str) -> None:
    text = "a = f(#x='1')\nb = g(#y=a)\nc = h(#z=b)\nd = k(#w=c, #v='long text of words')"
    asked: list[Pair] = []

    def shows(each: Pair) -> bool:
        asked.append(each)
        if ended == "interrupted" and len(asked) == 4:
            raise KeyboardInterrupt
        return bool(each.gold.edges)

    found = shrink(pair(text, text), shows, tries=cap)
    assert (found.tries, len(asked), found.ended) == (tries, tries, ended)
    assert bool(found.pair.gold.edges)
    assert shrink(pair(text, text), lambda each: True, deadline=-1).ended == "deadline"


def test_a_step_takes_a_whole_plan_of_odd_values() -> None:
    odd = {"name": "", "arguments": {"": [None, True, 10**400, -0.0, 1e308, "\x1b[31m", {"": {}}]}}
    start = pair([odd, odd], [odd])
    found = shrink(start, lambda each: True)
    assert pair_size(found.pair) == pair_size(Pair(Plan(), Plan()))
    assert weight_of(float("nan")) > weight_of(7)
    assert size_of("") < size_of("f")
    assert size_of(parse({"name": "f", "arguments": {"x": 1}, "result": [5]}))[:3] == (1, 1, 1)


demo = partial(pe.shrink, PREDS, GOLDS)


def different() -> list[tuple[str, str]]:
    rows = pe.evaluate(PREDS, GOLDS)
    return [(r.id, code) for r in rows if r.diff for code in dict.fromkeys(e.code for e in r.diff.roots)]


@pytest.mark.parametrize(("id", "code"), different())
def test_every_root_cause_of_the_demo_shows_in_few_calls(id: str, code: str) -> None:
    found = demo(id=id, code=code)
    assert found.ended == "smallest"
    assert code in codes(found.pred.text, found.gold.text), "as planeval diff reads the two texts"
    assert found.pred.after.plus(found.gold.after) < found.pred.before.plus(found.gold.before)
    assert found.pred.after.calls + found.gold.after.calls <= 4
    assert code in [edit.code for edit in found.diff.roots]


def test_each_side_keeps_its_notation_or_takes_the_one_that_is_asked_for() -> None:
    found = demo(id="alarm-replaced", code="call.replaced")
    assert (found.pred.dialect, found.gold.dialect) == ("openai-chat", "json")
    assert json.loads(found.pred.text)["tool_calls"]
    found = demo(id="alarm-replaced", code="call.replaced", to="pythonic")
    assert (found.pred.text, found.gold.text) == ('[stop_song(title="x")]', '[play_song(title="x")]')
    with pytest.raises(InputError, match=r"pred cannot be written as json: .* or plan; name another"):
        demo(id="rates-twice", code="call.duplicated", to="json")


def test_a_function_of_ones_own_and_notations_that_cannot_say_a_side() -> None:
    pred, gold = "a = f(#x='1')\nb = g(#y=a, #z='2')", pe.parse("h(#x='1')")
    found = pe.shrink(pred, gold, shows=lambda pred, gold: "g(" in pred and "h" in gold)
    assert (found.pred.text, found.gold.text) == ("g()", "h()")
    with pytest.raises(AbsentError, match="does not fail in this way"):
        pe.shrink(pred, gold, shows=lambda pred, gold: False)
    asked: list[str] = []

    def shows(pred: str, gold: str) -> bool:
        asked.append(pred)
        return True

    chained = "a = search(q='Rome')\nb = weather(place=a)"
    for pred, gold, side in ((chained, "f()", "pred"), ("App: [f(#a='1')]", chained, "gold")):
        with pytest.raises(InputError, match=rf"^{side} cannot be written as appbench: .*; name another"):
            pe.shrink(pred, gold, shows=shows, to="appbench")
    assert not asked


@pytest.mark.parametrize("yes", [0, 1, 3])
def test_what_does_not_answer_the_same_each_time_is_told(yes: int) -> None:
    asked: list[bool] = []

    def shows(pred: str, gold: str) -> bool:
        if (pred, gold) != ("g()", "[f()]"):
            return "g(" in pred and "f(" in gold
        asked.append(len(asked) < yes)
        if not yes and len(asked) > 1:
            raise KeyboardInterrupt
        return asked[-1] or not yes

    found = pe.shrink("f(#x='1')\ng(#y='2')", "[f(x=1)]", shows=shows)
    assert (found.ended, found.pred.text) == ("wavers" if yes else "interrupted", "g()")
    said = "the function is not reproducible: two tests of this pair gave different results"
    assert found.notes == ((said,) if yes else ())
    turns = iter([True, *[False] * 1000])
    with pytest.raises(AbsentError, match="the function is not reproducible: two tests of the original pair"):
        pe.shrink("f(#x='1')\ng(#y='2')", "f()", shows=lambda pred, gold: next(turns))


def test_a_prediction_that_is_no_plan_is_cut_as_a_text() -> None:
    found = demo(id="alarm-unreadable", command="grep -q 'hour.*mon' {pred}", tries=60)
    assert found.pred.dialect is None
    assert (len(found.pred.text) < 40, "mon" in found.pred.text) == (True, True)
    assert any("pred is cut as a text: it holds no readable plan" in said for said in found.notes)
    with pytest.raises(AbsentError, match=r"the prediction cannot be read, so there are no edits: .*line 13"):
        demo(id="alarm-unreadable", code="argument.value")
    pred = "Sure! I will do that.\n[f(x=1), g(y='two words')]"  # prose is kept where it matters
    found = pe.shrink(pred, "[f(x=1)]", shows=lambda pred, gold: "Sure" in pred and "g(" in pred)
    assert found.pred.text == "Sureg("
    assert "pred is cut as a text: after rewriting, the pair no longer fails in this way" in found.notes


def test_gold_s_terms_play_no_part_and_it_is_said() -> None:
    gold = [{"id": "a", "gold": [{"name": "f", "arguments": {"x": 1}}], "optional": ["c1"]}]
    found = pe.shrink([{"id": "a", "output": []}], gold, code="call.missing")
    assert any("accepted alternatives are ignored: optional" in said for said in found.notes)
    assert json.loads(found.gold.text)[0]["name"] == "f"


@tabled("how, said")
def test_what_is_wrong_is_said(how: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said.replace("{", r"\{").replace("#", r"\#")):
        pe.shrink(PREDS, GOLDS, **how)


def test_a_command_gets_records_as_they_came(tmp_path: Path) -> None:
    call = {"name": "f", "arguments": {"x": 1, "y": 2}}
    for name, record in (
        ("pred", {"id": "a", "output": [call], "kind": "k"}),
        ("gold", {"id": "a", "gold": "[f(x=1), g()]", "more": [1]}),
    ):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(record) + "\n")
    seen = tmp_path / "seen.py"
    seen.write_text(
        "import json, sys\n"
        "pred, gold = (json.loads(open(name).read()) for name in sys.argv[1:])\n"
        "assert pred['kind'] == 'k' and gold['more'] == [1] and pred['id'] == gold['id'] == 'a'\n"
        "assert isinstance(pred['output'], list) and isinstance(gold['gold'], str)\n"
        "sys.exit('y' not in json.dumps(pred['output']))\n"
    )
    command = f"{PYTHON} {shlex.quote(str(seen))} {{pred}} {{gold}}"
    found = pe.shrink(tmp_path / "pred.jsonl", tmp_path / "gold.jsonl", command=command)
    assert json.loads(found.pred.text) == [{"name": "f", "arguments": {"y": 0}}]
    assert (found.pred.suffix, json.loads(found.pred.filed)["kind"]) == (".jsonl", "k")
    assert found.gold.text == "[]"


@pytest.mark.parametrize("end", ["sleep 30; cat {pred}", "grep -q searchflight {pred}", "kill -9 $$ #{pred}"])
def test_what_a_command_starts_is_ended_with_it(end: str, tmp_path: Path) -> None:
    mark = tmp_path / "late"
    how: Any = {"id": "trip-value", "command": f"(sleep 0.8; touch {mark}) > /dev/null 2>&1 & {end}"}
    if end.startswith("grep"):
        assert demo(**how, tries=5).tries >= 5
    else:
        with pytest.raises(AbsentError, match=r"it did not finish within 0\.3 seconds|ended by signal 9"):
            demo(**how, try_deadline=0.3)
    time.sleep(1)
    assert not mark.exists()


@pytest.mark.parametrize("name", ["two words", "it's", 'a "b" $HOME;é'])
def test_quotes_around_files_change_nothing(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    folder = tmp_path / name
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    for quoted in ("{pred}", '"{pred}"', "'{pred}'"):
        found = demo(id="trip-value", command=f"test -s {quoted} && grep -q searchflight {quoted}")
        assert "searchflight" in found.pred.text
        assert found.ended == "smallest"
    assert not os.listdir(folder)
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(InputError, match=r"a shell would need to quote; set TMPDIR"):
        demo(id="trip-value", command="true {pred}")


@pytest.mark.parametrize("goes", [
    'rm -r "$(dirname {pred})"', "rm {gold}; mkdir {gold}", "chmod 0 {pred}", "head -c 300000 /dev/zero",
])  # fmt: skip
def test_a_command_may_do_to_its_folder_what_it_likes_and_say_a_great_deal(goes: str) -> None:
    found = demo(id="trip-value", command=f"grep -q searchflight {{pred}} && {goes}")
    assert (found.ended, len(found.pred.plan.calls), len(found.gold.plan.calls)) == ("smallest", 1, 1)


@tabled("name, id, shows, pred")
def test_two_scores_that_disagree_do_so_in_little(name: str, id: str, shows: str, pred: str) -> None:
    answers, how = SAMPLES / "answers" / f"{name}.jsonl", {"differs": "official:corrected", "benchmark": name}
    found = pe.shrink(answers, SAMPLES / name, id=id, **how)
    assert shows in found.shows or shows in f"{name}'s {found.shows.partition(' ')[2]}"
    assert pred in found.pred.text or pred.replace('"', '\\"') in found.pred.text
    assert found.ended == "smallest"
    assert BENCHMARKS[name].fits(json.loads(found.gold.text))
    assert found.pred.after.calls == found.gold.after.calls == 1


def test_a_figure_of_two_scores_is_named() -> None:
    answers, gold = SAMPLES / "answers" / "callnavi.jsonl", SAMPLES / "callnavi"
    how: Any = {"differs": "official:corrected", "benchmark": "callnavi", "id": "hr02"}
    assert "structure: official 1, corrected 0" in pe.shrink(answers, gold, figure="structure", **how).shows
    for more, said in TABLES["a_figure_of_two_scores_is_named"]:
        with pytest.raises((AbsentError, InputError), match=said):
            pe.shrink(answers, gold, **{**how, **more})
    with pytest.raises(InputError, match="the answers are a list, expected the path"):
        pe.shrink([], gold, **how)
    assert pe.shrink(answers, gold, **{**how, "id": None}, number=2).shows.startswith("callnavi's solved")


@pytest.mark.parametrize("name", [name for name in NAMES if BENCHMARKS[name].gold_of])
def test_the_gold_of_a_plan_is_the_released_gold(name: str) -> None:
    bench = BENCHMARKS[name]
    assert bench.gold_of is not None
    place = SAMPLES / name / ("v2/nestful_data.jsonl" if name == "nestful" else "")
    samples = [*filter(holds_plan, gold_samples(bench, str(place)))]
    assert samples
    for sample in samples:
        plan = gold_plan(sample)
        assert plan is not None
        assert bench.gold_of(sample, plan) == sample.gold


@tabled("argv, code, said")
def test_the_command_says_what_is_wrong(argv: tuple[str, ...], code: int, said: str) -> None:
    done = planeval("shrink", str(PREDS), str(GOLDS), *argv)
    assert said in " ".join(done.stderr.split())
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_an_interrupt_writes_the_smallest_so_far(tmp_path: Path) -> None:
    mark, place = tmp_path / "tried", tmp_path / "small.json"
    command = f"echo x >> {shlex.quote(str(mark))}; sleep 0.1; grep -q booktrip {{pred}}"
    argv = [sys.executable, "-m", "planner_eval", "shrink", str(PREDS), str(GOLDS), "--id", "trip-value"]
    process = subprocess.Popen(
        [*argv, "--while", command, "-o", str(place)], stderr=subprocess.PIPE, start_new_session=True
    )
    until(lambda: mark.exists() and len(mark.read_text()) >= 8)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"it was interrupted" in said
    whole = json.loads(place.read_text())
    assert whole["ended"] == "interrupted"
    assert "booktrip" in whole["pred"]["text"]


@examples(40)
@given(plans(), plans(), st.data())
def test_what_is_left_shows_it_and_no_step_of_it_does(pred: Plan, gold: Plan, data: st.DataObject) -> None:
    codes = sorted({edit.code for edit in diff(pred, gold).edits})
    assume(codes)
    code = data.draw(st.sampled_from(codes))

    def shows(each: Pair) -> bool:
        assert isinstance(each.pred, Plan)
        assert isinstance(each.gold, Plan)
        return any(edit.code == code for edit in diff(each.pred, each.gold).edits)

    start = Pair(strip_source(pred), strip_source(gold))
    assume(shows(start))  # what was inferred is no part of it
    found = shrink(start, shows)
    assert found.ended == "smallest"
    assert shows(found.pair)
    assert pair_size(found.pair) <= pair_size(start)
    partners = match(found.pair.pred, found.pair.gold).alignment.pairs
    steps = [
        kind.done(found.pair, [unit]) for kind in STEP_KINDS for unit in kind.units(found.pair, partners)
    ]
    assert not [each for each in steps if pair_size(each) < pair_size(found.pair) and shows(each)]
    assert shrink(start, shows) == found


@examples(60)
@given(st.text("fgx()='#, \n", max_size=30), st.sets(st.sampled_from("fgx("), min_size=1))
def test_of_a_text_the_wanted_characters_stay(text: str, wanted: set[str]) -> None:
    def shows(each: Pair) -> bool:
        assert isinstance(each.pred, str)
        return wanted <= set(each.pred)

    start = Pair(text, strip_source(Plan()))
    if shows(start):
        found = shrink(start, shows).pair.pred
        assert isinstance(found, str)
        assert sorted(found) == sorted(wanted)


def test_what_a_notation_cannot_say_is_not_tried() -> None:
    found = shrink_written("a, b = f(#x='1')\ng(#y=b, #z='2')", "g(#z='3')", code="argument.value")
    for text in (found.pred.text, found.gold.text):
        try:
            parse(text)
        except ParseError as error:
            raise AssertionError(text) from error
