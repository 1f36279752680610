"""What came through the door in silence once: each is read, or refused with a reason, and never less."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.records.gold import doubts
from planner_eval.records.storing import AS_USUAL, Store
from planner_eval.verbs.reading import read
from tests.inside import planeval
from tests.test_door import lines
from tests.test_texts import parsed, tools


def test_no_common_id_says_which_lines_are_broken(tmp_path: Path) -> None:
    gold = lines(tmp_path / "gold.jsonl", [{"id": "a", "gold": "f()"}, {"id": "b", "gold": "g()"}])
    broken = ['{"output": "f(", "id": "a', '{"output": "g()"', '{"id": "z", "output": "f()"}']
    done = planeval("diff", lines(tmp_path / "pred.jsonl", broken), gold)
    assert done.returncode == 3
    said = "2 of its 3 records could not be read; the first is line 1, record 1: the line is no JSON"
    assert said in done.stderr
    done = planeval("diff", lines(tmp_path / "alone.json", ['[{"name": "f", "arguments": {"a": ']), gold)
    assert done.returncode == 3
    assert "one plan without an id (it could not be read: line 1" in done.stderr


@pytest.mark.parametrize(
    ("text", "held"), [("{}", "an empty object"), ("{ }\n", "an empty object"), ("null\n", "null")]
)
def test_a_file_that_holds_nothing_is_no_plan(tmp_path: Path, text: str, held: str) -> None:
    file, gold = tmp_path / "p.json", tmp_path / "gold.json"
    file.write_text(text)
    gold.write_text("[]")
    done = planeval("parse", file)
    assert done.returncode == 3
    assert f"there is no plan: the file holds {held}, expected a plan; one without calls is []" in done.stdout
    assert [planeval("diff", one, gold).returncode for one in (file, gold)] == [1, 0]


def test_a_plan_that_only_answers_keeps_its_answer(tmp_path: Path) -> None:
    pred, gold = tmp_path / "pred.json", tmp_path / "gold.json"
    for file, total in ((pred, 6), (gold, 5)):
        file.write_text(json.dumps({"schema": "planeval.plan/1", "calls": [], "answer": {"total": total}}))
    done = planeval("diff", pred, gold)
    assert done.returncode == 1
    assert "answer.value: the answer: value 'total' is 6, gold gives 5" in done.stdout
    call = {"id": "c1", "name": "f", "arguments": {"x": "{{tool0turn0}}"}}  # no reference in our notation
    pred.write_text(json.dumps({"schema": "planeval.plan/1", "calls": [call]}))
    done = planeval("convert", pred, "--to", "json")
    assert (done.returncode, done.stdout) == (0, '[{"name": "f", "arguments": {"x": "{{tool0turn0}}"}}]\n')


def test_gold_of_words_is_told_and_is_no_plan(tmp_path: Path) -> None:
    words = ["It is sunny.", "Rain, see [1].", "f()"]
    gold = lines(tmp_path / "gold.jsonl", [{"id": at, "expected": said} for at, said in enumerate(words)])
    pred = lines(tmp_path / "pred.jsonl", [{"id": at, "response": "Rain."} for at in range(6)])
    said = "2 of 3 gold plans are words that call nothing, and count as no plan; the first is"
    for command in (["diff", pred, gold], ["score", pred, gold], ["compare", pred, pred, "--gold", gold]):
        done = planeval(*command)
        assert f'{gold}: {said} line 1, record 1 (id 0), "It is sunny."; --gold-text-field' in done.stderr
    no_calls, no = ({"role": "assistant", "content": said, "tool_calls": []} for said in ("", "No."))
    steps = [{"step": "1 think", "tool": "null"}, {"step": "2 say it", "tool": "No tool required"}]
    golds: list[object] = [
        "[]", [], no_calls, steps, "See (page 1).", {k: no[k] for k in ("role", "content")},
    ]  # fmt: skip
    right = lines(tmp_path / "right.jsonl", [{"id": at, "gold": one} for at, one in enumerate(golds)])
    done = planeval("score", pred, right)
    assert (done.returncode, "6 pairs: 4 same, 2 gold unreadable; figures from 4" in done.stdout) == (1, True)
    assert '"See (page 1)." holds no call: a gold plan without calls is written []' in done.stderr
    done = planeval("score", pred, lines(tmp_path / "one.jsonl", [{"id": 4, "gold": golds[4]}]))
    assert done.returncode == 3
    golds = ["{}", '["sunny"]', ["sunny"], '"sunny"', "[]", [], '["f()"]', [["f()"]], '{"calls": []}']
    gold = lines(tmp_path / "gold.jsonl", [{"id": at, "gold": said} for at, said in enumerate(golds)])
    held, stored = (doubts(read(gold, role="gold", store=store)) for store in (AS_USUAL, Store(limit=0)))
    said = f"{gold}: 4 of 9 gold plans are words that call nothing, and count as no plan; the first is line 1"
    assert held == stored == (f'{said}, record 1 (id 0), "{{}}"; --gold-text-field names another field',)


@pytest.mark.parametrize(("beside", "answer", "code", "said"), [
    ({"alternatives": ["see the manual"]}, "I am sorry.", 3,
     'record 1 (id 1): alternative 1: "see the manual" holds no call'),
    ({"alternative": ["g()"], "options": ["A", "B"]}, "g()", 1,
     "'alternative' says nothing beside gold (1 record); did you mean 'alternatives'?"),
    ({"omittable": {"c1": ["b"]}}, "f(a=1)", 0, "1 same"), ({"omittable": {"c1": ["b"]}}, "f(b=2)", 1, ""),
    ({"omittable": {"c1": ["b"]}}, "f(a=1, b=3)", 1, ""),
    ({"omittable": {"c9": ["b"]}}, "f()", 3, "omittable names the call 'c9'"),
])  # fmt: skip
def test_what_stands_beside_gold(
    tmp_path: Path, beside: dict[str, object], answer: str, code: int, said: str
) -> None:
    gold = lines(tmp_path / "gold.jsonl", [{"id": 1, "gold": "f(a=1, b=2)", **beside}])
    done = planeval("diff", lines(tmp_path / "pred.jsonl", [{"id": 1, "response": answer}]), gold)
    assert (done.returncode, said in done.stdout + done.stderr) == (code, True), done
    assert "options" not in done.stderr


def test_calls_of_several_turns_are_told_of_many_pairs(tmp_path: Path) -> None:
    def message(name: str) -> dict:
        return {"role": "assistant", "tool_calls": [{"function": {"name": name, "arguments": "{}"}}]}

    talk = [message("f"), {"role": "user", "content": "And now?"}, message("g")]
    pred = lines(tmp_path / "pred.jsonl", [{"id": 1, "messages": talk}])
    gold = lines(tmp_path / "gold.jsonl", [{"id": 1, "gold": "g()"}])
    said = "pred: 1 with calls of several turns, all of which were read (--turn takes one)"
    assert said in planeval("diff", pred, gold).stderr
    done = planeval("diff", pred, gold, "--turn", "last")
    assert (done.returncode, "turns" in done.stderr) == (0, False)


@pytest.mark.parametrize("option", ["--text-field", "--id-field", "--gold-text-field", "--gold-id-field"])
def test_an_option_on_records_beside_a_lone_plan_is_refused(tmp_path: Path, option: str) -> None:
    file, project = tmp_path / "plan.json", tmp_path / "planeval.toml"
    file.write_text('[{"name": "f"}]')
    done = planeval("diff", file, file, option, "nothing")
    assert done.returncode == 2
    assert f"{option} applies only to records, and {file} is one plan" in done.stderr
    project.write_text(f'[fields]\n{option[2:]} = "nothing"\n')  # a project's settings serve many files
    assert planeval("--config", project, "diff", file, file).returncode == 0
    record = lines(tmp_path / "one.jsonl", [{"nothing": "f()"}])
    assert "applies only" not in planeval("diff", record, record, option, "nothing").stderr


def test_a_patch_that_does_not_fit_names_both_files(tmp_path: Path) -> None:
    patch, plan, broken = tmp_path / "patch.json", tmp_path / "plan.json", tmp_path / "broken.json"
    patch.write_text('{"schema": "planeval.patch/1", "operations": [{"op": "remove", "id": "c9"}]}')
    plan.write_text('[{"name": "f"}]')
    broken.write_text('[{"name":')
    done = planeval("apply", patch, plan)
    assert done.returncode == 2
    assert f"{patch}, for {plan}, record 1: operation 1 of the patch (remove) does not fit" in done.stderr
    done = planeval("apply", patch, broken)
    assert done.returncode == 3
    assert done.stderr.startswith(f"{broken}, record 1: line 1, column 10: cut off")
    assert planeval("render", broken).returncode == 3


def test_gold_that_lists_accepted_values_is_read_as_such(tmp_path: Path) -> None:
    wanted = [
        [{"area": {"base": [10], "unit": ["units", "", "cm"]}}],
        [{"f": {"o": [{"k": ["a", "b"], "l": ["", 3]}]}}, {"g": {"xs": [[1, 2], [2, 1]]}}],
        [{"f": {"x": [1, 2]}}],
        None,
    ]
    gold = lines(tmp_path / "g.jsonl", [{"id": at, "ground_truth": one} for at, one in enumerate(wanted)])
    for answers, state in (
        (("[area(base=10)]", "[g(xs=[2, 1]), f(o={'k': 'b'})]", "[f(x=2)]"), "same"),
        (("[area(base=10, unit='cm')]", "[g(xs=[1, 2]), f(o={'k': 'a', 'l': 3})]", "f(x=1)"), "same"),
        (("[area(unit='cm')]", "[g(xs=[1]), f(o={'k': 'a'})]", "[f(x=[1, 2])]"), "different"),
    ):
        pred = lines(tmp_path / "p.jsonl", [{"id": at, "result": one} for at, one in enumerate(answers)])
        done = planeval("diff", pred, gold, "--format", "jsonl")
        assert "in 'ground_truth' is a list: read as values of which each is right" in done.stderr
        assert [json.loads(line)["state"] for line in done.stdout.splitlines()][:-1] == [state] * 3


@pytest.mark.parametrize(("listing", "plain", "note"), [
    (3, 1, "1 of 4 records has values in 'ground_truth' that are no lists (first: record 4)"),
    (1, 3, "1 of 4 records give a list for each argument in 'ground_truth'"),
])  # fmt: skip
def test_most_records_decide_whether_gold_lists(tmp_path: Path, listing: int, plain: int, note: str) -> None:
    plans = [[{"f": {"x": [[at]], "u": ["", "cm"]}}] for at in range(listing)]
    plans += [[{"o": {"x": 1}}, {"case": {"k": [5]}}]] * plain
    right = ["[f(x=[0])]" if listing > plain else "[f(x=[[0]], u=['', 'cm'])]"]
    right += ["[o(x=1), case(k=5)]" if listing > plain else "[o(x=1), case(k=[5])]"]
    gold = lines(tmp_path / "g.jsonl", [{"id": at, "ground_truth": one} for at, one in enumerate(plans)])
    pred = lines(tmp_path / "p.jsonl", [{"id": 0, "result": right[0]}, {"id": 3, "result": right[1]}])
    done = planeval("diff", pred, gold, "--format", "jsonl")
    states = {row.get("id"): row.get("state") for row in map(json.loads, done.stdout.splitlines())}
    assert (states["0"], states["3"]) == ("same", "same")
    assert note in done.stderr


STEP = {"tool": "f", "tool_input": {}, "log": ""}


@pytest.mark.parametrize(("record", "said"), [
    ({"output": "done", "intermediate_steps": [[STEP, "x"]]}, "calls stand in 'intermediate_steps' too"),
    ({"answer": "done", "trajectory": {"tool_name_0": "f"}}, "calls stand in 'trajectory' too"),
    ({"response": "done", "sources": [{"tool_name": "f"}]}, "calls stand in 'sources' too"),
    ({"output": [{"task": "q"}, {"tool_calls": [{"name": "f", "arguments": {}}]}]}, "it has 'task'"),
    ({"generated_text": "[f()]", "details": {"finish_reason": "length"}}, "the answer was cut off"),
    ({"content": "[f()]", "stop": True, "stop_type": "limit"}, "the answer was cut off"),
    ({"id": 1, "output": {}}, "there is no plan"), ({"id": 2, "output": None}, "there is no plan"),
])  # fmt: skip
def test_what_agents_and_servers_write_is_no_silent_plan(tmp_path: Path, record: object, said: str) -> None:
    done = planeval("parse", lines(tmp_path / "p.jsonl", [record]))
    assert (done.returncode, said in done.stdout) == (3, True), done


def test_every_command_says_that_an_answer_offers_several_choices(tmp_path: Path) -> None:
    choices = [{"index": at, "message": {"role": "assistant", "content": f"f(a={at})"}} for at in range(2)]
    answers = [{"id": "r1", "choices": choices}, {"id": "r2", "choices": choices[:1]}]
    batch = {"custom_id": "r3", "response": {"status_code": 200, "body": {"choices": choices}}}
    pred, other = lines(tmp_path / "p.jsonl", answers), lines(tmp_path / "b.jsonl", [batch])
    gold = lines(tmp_path / "g.jsonl", [{"id": f"r{at}", "gold": "f(a=0)"} for at in (1, 2, 3)])
    for command in (("diff", pred, gold), ("score", other, gold), ("compare", pred, pred, "--gold", gold)):
        said = "pred: 1 with several choices or candidates, of which the first was read"
        assert planeval(*command).stderr.count(said) == (2 if command[0] == "compare" else 1)


@pytest.mark.parametrize("text", ["{}", "Sure: [{}]", "Sure:\n```json\n{}\n```", "Here: {}"])
def test_a_definition_with_values_is_no_silent_no_call(text: str) -> None:
    defined = {"name": "get_weather", "description": "The weather", "parameters": {"city": "Rome"}}
    code, row = parsed(text.replace("{}", json.dumps(defined)))
    assert code == 3
    assert "with a description, as a tool's definition has it, and values as its parameters" in row["error"]
    for given in ({"city": {"type": "string"}}, {"type": "object", "properties": {}}, {"city": "string"}, {}):
        assert parsed(json.dumps({**defined, "parameters": given}))[0] == 0


@pytest.mark.parametrize(("text", "called"), [
    ("\\boxed{[f()]}", ["f"]), ('The answer is $\\boxed{[f(a="x")]}$.', ["f"]),
    ("\\[\n\\boxed{\\text{[f(a=1), g(b=2)]}}\n\\]", ["f", "g"]),
    ('So: \\boxed{[{"name": "f", "arguments": {}}]}', ["f"]), ("[f(x=1)] and [g(y=2)]", ["f", "g"]),
    ('Answer: {"name": "f", "arguments": {"q": "(x)"}}', ["f"]),
    ('Sure: {"name": "f", "arguments": {"q": "\\\\boxed{g(x=1)}"}}', ["f"]),
    ('<|channel|>commentary to=functions.f code<|message|>{"a": 1}<|call|>', ["f"]),
    ('<|channel|>commentary to=functions.f <|constrain|>code<|message|>{"a": 1}', ["f"]),
    ('{"role": "assistant", "items": [{"content_type": "function_call", "id": "c", "name": "f", "arguments": '
     '"{}"}]}', ["f"]),
])  # fmt: skip
def test_calls_that_were_passed_over(text: str, called: list[str]) -> None:
    code, row = parsed(text)
    assert (code, tools(row)) == (0, called)


@pytest.mark.parametrize(("text", "code", "said"), [
    ("A.b(x=1) && c(y=2)", "parse.syntax", "found '&&' between calls"),
    ("f() && g()", "parse.syntax", "found '&&' between calls"),
    ("Plan:\nf(x=1) -> g(y=2)", "parse.syntax", "found '->' between calls"),
    ("[f(x=1)] || [g(y=2)]", "parse.syntax", "found '||' between calls"),
    ("f(x=1) or g(y=2)", "parse.syntax", "found 'and' or 'or' between calls"),
    ("{f(), g()}", "parse.syntax", "found a set of calls"),
    ("Answer: {f(x=1)}", "parse.syntax", "found a set of calls"),
    ("functools[", "parse.cut", "cut off at the end"),
    ('functools[{"name": "f", "arg', "parse.cut", "cut off at the end"),
    ("<|channel|>commentary to=functions.f code<|message|>", "parse.cut", "cut off at the end"),
    ("<|channel|>commentary to=functions.f <|constrain|>js", "parse.cut", "cut off at the end"),
])  # fmt: skip
def test_what_cannot_be_read_is_refused(text: str, code: str, said: str) -> None:
    done, row = parsed(text)
    assert (done, row["code"]) == (3, code)
    assert said in row["error"]


def test_a_list_of_records_is_not_one_plan() -> None:
    assert [call.name for call in pe.parse(["f()", "g()"]).calls] == ["f", "g"]
    assert pe.stats(["f()", "g()"]).plans == 2
    for many in ([{"id": 1, "output": "f()"}], [pe.parse("f()"), pe.parse("g()")]):
        with pytest.raises(InputError, match=r"expected one plan: pe.read gives the records"):
            pe.parse(many)
