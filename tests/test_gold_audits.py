"""What may be wrong in gold: each audit by hand, laws over them, and the published data."""

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.base.codes import code_meanings
from planner_eval.base.errors import InputError
from planner_eval.curation.audit.audits import AUDITS, SET_AUDITS
from planner_eval.curation.audit.outcome import OfferedAnswer, read_offered_answer, read_options
from planner_eval.curation.audit.subject import AuditedRecord
from planner_eval.curation.audit.surplus import find_surplus
from planner_eval.curation.check_dataset import DatasetCheck
from planner_eval.results.findings import CONFIDENCES
from planner_eval.results.runs.stored import run_text
from tests.conftest import ROOT, tabled, tables
from tests.inside import planeval

TABLES = tables(__file__)

SAMPLES = str(ROOT / "data" / "samples")


def calls(*named: tuple[str, Any, Any]) -> list[dict[str, Any]]:
    """Calls of NESTful's functions: a name and two operands, ``#2`` the result of the second call."""

    def value(given: Any) -> Any:
        return f"$var_{given[1:]}.result$" if isinstance(given, str) and given[:1] == "#" else given

    return [{
        "name": name, "label": f"$var_{at}",
        "arguments": {f"arg_{n}": value(each) for n, each in enumerate((one, two)) if each is not None},
    } for at, (name, one, two) in enumerate(named, 1)]  # fmt: skip


def record(identity: str, plan: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A record whose question is that of no other, and says the numbers of its plan."""
    numbers = re.findall(r"(?<=: )\d+", json.dumps(plan))
    asked = f"what is {identity} of {' and '.join(numbers)}?"
    return {"id": identity, "question": asked, "gold": plan, **more}


def call(name: str, **arguments: Any) -> list[dict[str, Any]]:
    return [{"name": name, "label": "$var_1", "arguments": arguments}]


CLEAN = [
    record("sum", calls(("add", 1, 4), ("multiply", "#1", 3)), gold_answer=15),
    record("half", calls(("divide", 9, 2)), gold_answer=4.5),
]
GOLD = pe.Reading(text_field="gold")
DOUBTFUL = TABLES["DOUBTFUL"]
FOUND = TABLES["FOUND"]


def checked(records: list[Any], **how: Any) -> DatasetCheck:
    how = {"tools": "nestful", "isolation": "inline", "confidence": "low"} | how
    return pe.check_dataset(records, reading=GOLD._replace(dialect="nestful"), **how)


def codes(found: DatasetCheck) -> dict[str | int, list[str]]:
    told: dict[str | int, list[str]] = {}
    for one in found.doubts:
        told.setdefault(one.record, []).append(one.found.code)
    return told


def test_each_doubt_is_found_and_nothing_else() -> None:
    found = checked(CLEAN)
    assert (found.doubts, found.clean, found.ran) == ((), True, ("nestful:official", 2, 0, 0))
    assert not found.unsure
    assert codes(checked([*CLEAN, *DOUBTFUL])) == FOUND


def test_every_code_has_a_meaning_and_every_meaning_an_audit() -> None:
    audited = {code for each in (*AUDITS, *SET_AUDITS) for code in each.codes} | {"gold.unreadable"}
    assert audited == {code for code in code_meanings() if code.startswith("gold.")}


@pytest.mark.parametrize(("plan", "message"), [
    *TABLES["what_arithmetic_gives_back"],
    (calls(("add", 2, 3), ("multiply", "#1", 7), ("divide", "#2", 7)), "undoes call 2 (multiply)"),
    (calls(("add", 2, 3), ("divide", "#1", 100), ("multiply", "#2", 100)), "undoes call 2 (divide)"),
    (calls(("add", 2, 3), ("subtract", 0, "#1")), ""),
    (calls(("add", 2, 3), ("divide", 1, "#1")), ""),
    (calls(("add", 2, 3), ("multiply", "#1", 7), ("divide", "#2", 8)), ""),
    (calls(("add", 2, 3), ("divide", 100, "#1"), ("multiply", "#2", 100)), ""),
])  # fmt: skip
def test_what_arithmetic_gives_back(plan: list[dict[str, Any]], message: str) -> None:
    found = [
        one
        for one in find_surplus(AuditedRecord("q", pe.parse(plan), basic=True))
        if one.code == "gold.shorter"
    ]
    assert [message in one.message for one in found] == [True] * bool(message)
    assert not [one for one in find_surplus(AuditedRecord("q", pe.parse(plan))) if one.code == "gold.shorter"]


def test_of_equal_calls_the_largest_are_told_once() -> None:
    half = ("add", 1, 4), ("divide", "#1", 2), ("add", 1, 4), ("divide", "#3", 2)
    twice = pe.parse(calls(*half, ("multiply", "#2", "#4")), dialect="nestful")
    (found,) = find_surplus(AuditedRecord("q", twice, basic=True))
    assert (found.code, found.call) == ("gold.repeated", 3)
    assert found.message.startswith("call 4 (divide) makes the same call as call 2 (divide), whose result")


def test_a_named_answer_makes_a_dead_call_sure() -> None:
    named = {"name": "var_result", "arguments": {"sum": "$var_1.result$"}}
    plan = pe.parse([*calls(("add", 1, 4), ("add", 2, 3)), named], dialect="nestful")
    (found,) = find_surplus(AuditedRecord("q", plan))
    assert (found.code, found.call, found.confidence) == ("gold.dead", 1, "high")


def test_calls_that_change_something_are_neither_dead_nor_repeated() -> None:
    schema = {"type": "object", "properties": {}}
    tool = {"name": "pay", "description": "", "inputSchema": schema, "annotations": {"readOnlyHint": False}}
    plan = pe.parse([*call("pay"), {**call("pay")[0], "label": "$var_2"}], dialect="nestful")
    assert {one.code for one in find_surplus(AuditedRecord("q", plan))} >= {"gold.dead"}
    assert not list(find_surplus(AuditedRecord("q", plan, catalog=pe.read_catalog([tool], "mcp"))))


def test_gold_is_held_against_the_tools_of_its_record() -> None:
    tool = {"name": "add", "parameters": {"arg_0": {"type": "number"}}, "output_parameters": {"result": {}}}
    found = checked([record("q", calls(("add", 1, 4)), tools=[tool])], select=["gold.unknown"])
    assert codes(found) == {"q": ["gold.unknown_argument"]}
    named = checked([record("q", calls(("add", 1, 4)))], catalog=[tool], select=["gold.unknown"])
    assert named.doubts[0].found == found.doubts[0].found


def test_a_function_that_names_its_parameters_otherwise_is_no_fault_of_gold() -> None:
    def double(n: float) -> float:
        return 2 * n

    tool = {"name": "double", "parameters": {"num": {"type": "number"}}, "output_parameters": {"twice": {}}}
    plan = [*call("double", num=2), {**call("double", num="$var_1.twice$")[0], "label": "$var_2"}]
    how: dict[str, Any] = {"tools": {"double": double}, "select": ["gold.fails", "gold.answer"]}
    plans = (plan, call("double", nmu=2))
    records = [record(n, p, tools=[tool], gold_answer=8) for n, p in zip("qw", plans, strict=True)]
    told = [(one.record, one.found.confidence) for one in checked(records, **how).doubts]
    assert told == [("q", "low"), ("w", "high")]
    assert checked(records[:1], **how, binding="position").doubts == ()
    with pytest.raises(InputError, match="binding is 'size', expected 'name' or 'position'"):
        checked(records, **how, binding="size")


def test_tools_that_cannot_be_read_or_run_are_no_fault_of_gold() -> None:
    found = checked([record("q", calls(("add", 1, 4)), tools=[17])])
    assert not found.doubts
    assert "1 list of tools cannot be read" in found.notes[-1]
    found = checked([record("q", calls(("book_a_table", 1, 4)), gold_answer=3)])
    assert (found.doubts, found.ran) == ((), ("nestful:official", 0, 0, 1))


@tabled("text, value, plain")
def test_an_option_is_read_as_people_write_it(text: str, value: float | None, plain: bool) -> None:
    found = read_offered_answer(text)
    assert (found is None) == (value is None)
    if found is not None:
        assert found.value == value
        assert found.plain == plain


@given(st.text(alphabet="0123456789., /:%-^abc $()√", max_size=300))
def test_any_option_is_read_or_not_and_never_fails(text: str) -> None:
    found = read_offered_answer(text)
    assert found is None or isinstance(found, OfferedAnswer)


WHOLE, CUT = calls(("add", 1, 4)), calls(("divide", 3652173, 100000))


@pytest.mark.parametrize(("plan", "right", "told"), [
    *((WHOLE, right, []) for right in ("5", "5.0 days", "500 %")),
    *((WHOLE, right, ["gold.option"]) for right in ("6", "words")),
    *((CUT, right, []) for right in ("36", "36.5", "36.52 km", "3652 %", "37")),
])  # fmt: skip
def test_a_value_that_may_be_the_right_one_is_no_doubt(plan: Any, right: str, told: list[str]) -> None:
    found = checked([record("q", plan, options=["5" if plan is WHOLE else "12", right], correct="b")])
    assert codes(found).get("q", []) == told


def test_options_are_read_from_texts_lists_and_objects() -> None:
    for texts in (["4", "5"], ["1:2", "2:1"], ["1.5", "2 . 5"], ["a", "b)"]):  # numbers of their own or none
        assert read_options(texts) == (("a", texts[0]), ("b", texts[1]))
    assert (read_options(["4", 5]), read_options(17)) == ((("a", "4"), ("b", "5")), ())
    text = record("q", WHOLE, options="a ) 5 , b ) 6", correct="B")
    assert codes(checked([text])) == {"q": ["gold.option"]}


@tabled("options, correct")
def test_an_answer_on_offer_may_begin_with_its_letter(options: Any, correct: str) -> None:
    found = checked([record("q", WHOLE, options=options, correct=correct)])
    assert [(one.found.code, one.found.confidence) for one in found.doubts] == [("gold.option", "high")]
    assert not any("options" in one for one in found.notes)


@tabled("answer, sure")
def test_a_gold_answer_is_read_as_people_write_it(answer: Any, sure: str | None) -> None:
    asked = record("q", calls(("add", 5, 7)), gold_answer=answer)
    found = checked([asked], select=["gold.answer"]).doubts
    assert [one.found.confidence for one in found] == [sure] * (sure is not None)
    apart = "which cannot be compared with it"
    assert all(one.found.message.endswith(apart) == (sure == "low") for one in found)


def test_codes_and_confidences_are_filters_whatever_the_order_of_records() -> None:
    every = checked(DOUBTFUL).doubts
    for code in ("gold", "gold.a", "gold.answer", "gold.un", "dataset"):
        chosen = [one for one in every if one.found.code.startswith(code)]
        assert list(checked(DOUBTFUL, select=[code]).doubts) == chosen
        assert list(checked(DOUBTFUL, ignore=[code]).doubts) == [one for one in every if one not in chosen]
    for count, least in enumerate(CONFIDENCES, 1):
        found = checked(DOUBTFUL, confidence=least)
        assert list(found.doubts) == [one for one in every if one.found.confidence in CONFIDENCES[:count]]
        assert sum(found.unsure.values()) == len(every) - len(found.doubts)
    mixed = [*CLEAN, *DOUBTFUL]
    random.Random(1).shuffle(mixed)  # a pair of twins names the other one whatever it is
    told = [Counter((one.record, *one.found) for one in found) for found in (checked(mixed).doubts, every)]
    assert told[0] == told[1]


def test_what_a_baseline_has_does_not_count() -> None:
    found = checked(DOUBTFUL)
    again = checked([*CLEAN, *reversed(DOUBTFUL)], baseline=found.baseline())
    assert (again.doubts, again.known) == ((), len(found.doubts))
    new = record("new", calls(("add", 1, 1)), gold_answer=3)
    assert codes(checked([*DOUBTFUL, new], baseline=found.baseline())) == {"new": ["gold.answer"]}
    unnamed = [{key: value for key, value in one.items() if key != "id"} for one in DOUBTFUL[:5]]
    found = checked(unnamed)
    assert len(found.doubts) == 5
    assert not checked([*CLEAN, *reversed(unnamed)], baseline=found.baseline()).doubts
    assert len(checked([*unnamed, unnamed[0]], baseline=found.baseline()).doubts) == 1


def test_twins_of_one_id_are_told_apart() -> None:
    plans = [calls(("add", n, 4)) for n in (1, 2, 3)] + [calls(("multiply", 6, 4))]
    same = [{**record("q", plan), "question": f"how many are {n} and 4?"} for n, plan in enumerate(plans)]
    (found,) = checked(same, select=["gold.twin"]).doubts
    assert (found.found.confidence, found.query) == ("medium", "how many are 3 and 4?")
    assert found.found.message.endswith("whose plans make the calls add; this one makes multiply")
    other = [{**one, "tools": [{"name": "add", "parameters": {}}]} for one in same[:3]]
    assert not checked([*other, same[3]], select=["gold.twin"]).doubts
    foreign = [{**one, "question": f"{n}와 4는 얼마입니까?"} for n, one in enumerate(same)]
    (found,) = checked(foreign, select=["gold.twin"]).doubts
    assert found.found.confidence == "low"  # as always in another language


def test_what_anybody_says_before_the_answer_grounds_a_value() -> None:
    said = {
        "system": "The user lives in Brno.", "user": "Book me a room at home.",
        "tool": '{"hotel": "H-2300"}', "assistant": "Pets stay with Ostrava-77123.",
    }  # fmt: skip
    talk = [{"role": role, "content": text} for role, text in said.items()]
    told = [codes(checked(
        [record("q", call("book", place=value), question=talk)], select=["gold.un"],
    )) for value in ("Brno", "H-2300", "Ostrava-77123")]  # fmt: skip
    assert told == [{}, {}, {"q": ["gold.ungrounded"]}]
    foreign = record(
        "q", call("book", place="Ostrava 77123", day="2031-03-06"), question="3월 5일에 방을 잡아 줘"
    )
    assert {one.found.confidence for one in checked([foreign]).doubts} == {"low"}


def conversation(hotel: str) -> list[dict[str, Any]]:
    hotels = json.dumps([{"id": at, "stars": n} for at, n in (("h-171", 3), ("h-231", 4), ("h-241", 4))])

    def asks(key: str, name: str, **arguments: Any) -> dict[str, Any]:
        function = {"name": name, "arguments": json.dumps(arguments)}
        return {"role": "assistant", "tool_calls": [{"id": key, "type": "function", "function": function}]}

    answer = {"role": "tool", "tool_call_id": "1", "content": hotels}
    return [{"role": "user", "content": "Book one."}, asks("1", "search", city="Rome"), answer,
            asks("2", "book", hotel=hotel)]  # fmt: skip


@tabled("query, hotel, told")
def test_a_pick_from_a_recorded_answer(query: str, hotel: str, told: list[tuple[str, str]]) -> None:
    one = {"id": "q", "query": query, "gold": conversation(hotel)}
    found = pe.check_dataset([one], confidence="low", reading=GOLD, select=["gold.candidate"])
    assert [[one.found.code, one.found.confidence] for one in found.doubts] == told


GIVEN = TABLES["GIVEN"]


def said(*plans: str) -> list[dict[str, str]]:
    return [{"id": key, "prediction": plan} for key, plan in zip("abc", plans, strict=False)]


RUNS = {
    "one": said("g(#x='1')", "g(#x='2')", "f(#x='3')"), "two": said("g(#x='1')", "g(#x='2')", "g(#x='3')"),
    "three": said("g(#x='1')", "g(#x='2')"),
}  # fmt: skip


def voted(runs: Any, records: Any = GIVEN, **how: Any) -> DatasetCheck:
    how = {"confidence": "low", "select": ["gold.outvoted"]} | how
    return pe.check_dataset(records, reading=GOLD, runs=runs, **how)


def test_models_that_agree_with_each_other_outvote_gold() -> None:
    found = voted(RUNS)
    assert [(one.record, one.found.confidence) for one in found.doubts] == [("a", "medium")]
    assert found.doubts[0].found.message == (
        "3 of 3 models agree on a plan that differs from gold: g instead of f (one, two, three)"
    )
    answered = ("one: 3", "two: 3", "three: 2")
    assert found.notes[1:] == tuple(f"run {one} records answered" for one in answered)
    assert not voted(RUNS, confidence="high").doubts
    assert not voted(RUNS, ignore=["gold.outvoted"]).doubts
    assert not voted({}).doubts
    of_one = {name: [row | {"model": "small"} for row in rows] for name, rows in RUNS.items()}
    assert "3 runs of one model agree" in voted(of_one).doubts[0].found.message
    odd = voted(RUNS, [{**GIVEN[0], "alternatives": 17}])
    assert not odd.doubts
    assert "the accepted alternatives of 1 record cannot be read: the runs do not vote there" in odd.notes


def test_what_cannot_be_read_does_not_vote_and_ids_join_predictions() -> None:
    wrong = [*said("g(#x='1')"), {"id": "b", "prediction": "g(#x="}]
    found = voted({"one": RUNS["one"], "two": RUNS["two"], "torn": wrong})
    assert "run torn: 2 records answered, 1 of them unreadable, not counted" in found.notes
    assert [one.found.confidence for one in found.doubts] == ["medium"]
    assert voted({name: [*reversed(rows)] for name, rows in RUNS.items()}).doubts == voted(RUNS).doubts
    twice = [GIVEN[0], {**GIVEN[0], "gold": "g(#x='1')"}, *GIVEN[1:]]
    assert [one.record for one in voted(RUNS, twice).doubts] == ["a"]


def _kept(rows: list[dict[str, Any]], name: str) -> str:
    """A file of predictions."""
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return name


def test_runs_are_files_and_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    gold, file = _kept(GIVEN, "gold.jsonl"), _kept(RUNS["one"], "one.jsonl")
    pe.score(Path(_kept(RUNS["two"], "two.jsonl")), Path(gold), running=pe.Running(folder="scored"))
    for name in ("three", "four"):
        options = {"dataset": "own", "setup": {}, "model": "small", "repeat": 1}
        samples = {"role": "samples", "path": gold, "size": 2, "digest": ""}
        run = {"schema": "planeval.run/1", "version": pe.__version__, "python": "3", "kind": "predict"}
        run |= {"options": options, "inputs": [samples], "pairs": 2, "part": 1, "store": "jsonl"}
        Path(name).mkdir()
        Path(name, "run.json").write_text(run_text(run), encoding="utf-8")
        _kept([{**row, "error": None, "requests": []} for row in RUNS["three"]], f"{name}/rows.jsonl")
    runs = [word for run in (file, "scored", "three", "four") for word in ("--runs", run)]
    done = planeval("data", "check", gold, "--confidence", "low", "--select", "gold.outvoted", *runs)
    assert done.returncode == 1
    line = "record a, line 1: medium: 3 of 3 models agree on a plan that differs from gold: g instead of f"
    assert f"{line} (one.jsonl, scored, three, four) [gold.outvoted, share 1.00]" in done.stdout.splitlines()
    assert "run four, by small: 2 records answered" in done.stderr
    _kept(RUNS["one"], "two.jsonl")
    changed = planeval("data", "check", gold, "--runs", "scored")
    assert changed.returncode == 2
    assert "made from other predictions: the file two.jsonl (pred) has changed since" in changed.stderr


@pytest.mark.parametrize(("runs", "why"), [
    ([[{"id": "z", "prediction": "f()"}]], "the run 1 has no answers for plans: no id is in both files"),
    ({"mine": "nosuch.jsonl"}, "nosuch.jsonl"),
    ({"mine": 3}, "the run mine is 3, expected a folder, a file or records"),
    ({3: "x.jsonl"}, "3 is not the name of a run"), (3, "runs is 3, expected a list of folders and files"),
    (["x.jsonl", "./x.jsonl"], "x.jsonl is named twice: name it once"),
])  # fmt: skip
def test_what_is_no_run_is_told_in_words(runs: Any, why: str) -> None:
    with pytest.raises(InputError, match=re.escape(why)):
        voted(runs)


@tabled("how, said")
def test_what_cannot_be_meant_is_told_in_words(how: dict[str, Any], said: str) -> None:
    with pytest.raises(pe.PlanevalError, match=re.escape(said)):
        checked(CLEAN, **how)


@pytest.fixture
def gold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "gold.jsonl"
    lines = [json.dumps({"id": "first", "gold": calls(("add", 1, 1)), "gold_answer": 2})]
    file.write_text("\n".join([*lines, *map(json.dumps, DOUBTFUL)]) + "\n", encoding="utf-8")
    return file


RUN = ("data", "check", "gold.jsonl", "--field", "text=gold", "--from", "nestful")
TOOLS = ("--tools", "nestful", "--isolation", "inline", "--confidence", "low")


def test_the_command_names_records_places_and_codes(gold: Path) -> None:
    done = planeval(*RUN, *TOOLS)
    said = "high: the plan gives 5, which is option a; gold says b = 6 days [gold.option]"
    assert f"record option, line 3, call 1 (add): {said}" in done.stdout.splitlines()
    gold.write_text('{"id": "a", "gold": "f(("}\n', encoding="utf-8")
    assert planeval(*RUN).returncode == 3


def test_ci_servers_get_lines_of_the_file(gold: Path) -> None:
    log = json.loads(planeval(*RUN, *TOOLS, "--format", "sarif").stdout)["runs"][0]
    found = {one["properties"]["record"]: one for one in log["results"]}
    place = found["fails"]["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "gold.jsonl"}, "region": {"startLine": 5}}
    assert (found["fails"]["level"], found["again"]["level"]) == ("error", "warning")
    shown = planeval(*RUN, *TOOLS, "--format", "github", "--select", "gold.cycle").stdout
    assert shown.startswith("::error file=gold.jsonl,line=10,title=gold.cycle in add::circle: call 1 (add)")


def test_prose_in_which_something_looks_like_a_call_is_no_gold(gold: Path) -> None:
    gold.with_name("prose.txt").write_text('Dear (all) readers,\nsee part(3) of "it".\n', encoding="utf-8")
    done = planeval("data", "check", "prose.txt")
    assert done.returncode == 3
    assert "1 record: gold is prose without calls and does not count as a plan" in done.stderr
    assert pe.check_dataset(["[]", "f()"]).checked.plans == 2


def test_what_was_not_looked_at_is_told() -> None:
    terms = [(["5", "6"], "z"), (["5", "6"], None), (17, "a"), (["5", "6"], "a"), (["few", "none"], "a")]
    asked = [record(f"r{n}", WHOLE, options=each, correct=right) for n, (each, right) in enumerate(terms)]
    asked.append({"id": "u", "messages": [{"role": "user", "content": "add 1 and 4"}], "gold": WHOLE})
    notes = checked(asked).notes
    choices = "4 records: options and correct cannot be read: the plan is not compared with the"
    assert any(one.startswith(choices) and one.endswith('"z", expected one of a, b') for one in notes)
    question = "1 record: no question in field 'question': not checked against a question; the first is "
    assert any(one.startswith(question) and "(id u)" in one for one in notes)
    assert not any("no question" in one for one in checked(asked, select=["gold.option"]).notes)
    assert not any("options" in one for one in checked(asked, tools=None).notes)


def described(name: str, **properties: Any) -> dict[str, Any]:
    """A tool as BFCL describes it."""
    parameters = {"type": "dict", "properties": properties, "required": [*properties][:1]}
    return {"name": name, "description": name, "parameters": parameters}


TOWN = [described("book", city={"type": "string"}, stars={"type": "integer"}, note={"type": "string"})]
ASKED = [[{"role": "user", "content": "A room in Rome"}], [{"role": "user", "content": "with 4 stars"}]]
NOT_RUN = "results (no plan was run)"


@pytest.mark.parametrize(("fields", "plan", "told", "unchecked"), [
    *TABLES["question_and_tools"],
    ({"question": ASKED, "function": TOWN}, {"city": "Rome"}, [], [NOT_RUN]),
    ({"question": ASKED, "function": TOWN}, {"city": "Oslo"}, ["gold.ungrounded"], [NOT_RUN]),
    ({"question": ASKED, "function": TOWN}, {"stars": 4}, ["gold.missing_argument"], [NOT_RUN]),
    ({"question": ASKED, "functions": json.dumps(TOWN)}, {"town": "Rome"},
     ["gold.missing_argument", "gold.unknown_argument"], [NOT_RUN]),
])  # fmt: skip
def test_question_and_tools(fields: Any, plan: Any, told: list[str], unchecked: list[str]) -> None:
    found = pe.check_dataset(
        [{"id": "q", "gold": [{"name": "book", "arguments": plan}], **fields}], confidence="medium"
    )
    assert sorted(codes(found).get("q", [])) == sorted(told)
    assert list(found.unchecked) == unchecked
    assert not pe.check_dataset([{"gold": "f()", **fields}], select=["gold.cycle"]).unchecked


def test_what_else_is_right_is_no_doubt_about_the_first_value() -> None:
    values = {"city": ["Milan", "Rome"], "stars": [""], "note": ["quiet", ""]}
    gold = {"question": ASKED, "function": TOWN, "ground_truth": [{"book": values}]}
    found = pe.check_dataset([gold], confidence="low")
    assert (found.doubts, found.unchecked[0]) == ((), "accepted values and alternatives beside 1 plan")
    wrong = pe.check_dataset([{**gold, "ground_truth": [{"book": {**values, "city": ["Oslo"]}}]}])
    assert [one.found.code for one in wrong.doubts] == ["gold.ungrounded"]


def test_a_value_may_come_from_an_answer_that_nobody_recorded() -> None:
    """An identifier is sure where the tools are known and none of them may have given it."""
    gold = {"question": ASKED, "gold": "[find(city='Rome'), book(room='USR005')]"}
    (found,) = pe.check_dataset([gold], confidence="low").doubts
    assert (found.found.code, found.found.confidence) == ("gold.ungrounded", "low")
    one_turn = {**gold, "question": [[*ASKED[0], *ASKED[1]]]}
    assert [d.found.confidence for d in pe.check_dataset([one_turn], confidence="low").doubts] == ["low"]
    tools = [described("book", room={"type": "string"})]
    alone = {**one_turn, "gold": "[book(room='USR005')]", "function": tools}
    (found,) = pe.check_dataset([alone]).doubts
    assert (found.found.argument, found.found.confidence, found.shown.level) == ("room", "high", "error")


OWN = ["appbench", "callnavi", "complexfuncbench", "functionchat", "mathqa", "nestful-v2"]


@pytest.mark.parametrize("name", OWN)
def test_gold_of_our_own_samples_is_sure_to_be_right(name: str) -> None:
    found = pe.check_dataset(name, reading=pe.Reading(folder=SAMPLES))
    assert found.doubts == ()
    assert found.checked.plans


PUBLISHED = TABLES["PUBLISHED"]


@pytest.mark.more
@pytest.mark.parametrize("name", PUBLISHED)
def test_what_is_sure_in_published_gold(name: str, reference: Path) -> None:
    found = pe.check_dataset(name, reading=pe.Reading(folder=str(reference / "datasets")), select=["gold"])
    assert Counter(one.found.code for one in found.doubts) == PUBLISHED[name]
