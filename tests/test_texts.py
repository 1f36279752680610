"""What models really write, as users meet it: through the commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.plan.arithmetic import compute
from planner_eval.plan.model import Unresolved
from planner_eval.policy import Policy, Terms
from planner_eval.policy.rule import Rule
from tests.inside import planeval


def parsed(text: str, *options: str) -> tuple[int, Any]:
    """The exit code and the one row of `planeval parse`."""
    done = planeval("parse", "-", "--format", "json", *options, text=text)
    assert not done.stderr
    return done.returncode, json.loads(done.stdout)


def tools(row: Any) -> list[str]:
    return [call["name"] for call in row["plan"]["calls"]]


def codes(row: Any) -> list[str]:
    return [note["code"] for note in row["diagnostics"]]


# ---------------------------------------------------------------- misreadings
def test_an_expression_is_said_and_computed_where_that_is_asked(tmp_path: Path) -> None:
    code, row = parsed("[f(p=1/6)]")
    assert (code, row["plan"]["calls"][0]["arguments"]) == (0, {"p": "1/6"})
    assert codes(row) == ["value.computed"]
    assert row["diagnostics"][0]["severity"] == "warning"
    _, row = parsed("[f(p=1/6)]", "--compute", "arithmetic")
    assert row["plan"]["calls"][0]["arguments"] == {"p": 1 / 6}
    pred, gold = tmp_path / "pred.txt", tmp_path / "gold.json"
    pred.write_text("[f(p=2*(3+4))]")
    gold.write_text('[{"name": "f", "arguments": {"p": 14}}]')
    assert "expression" not in planeval("score", str(pred), str(gold)).stdout
    done = planeval("diff", str(pred), str(gold))
    assert done.returncode == 1
    assert "argument 'p' is the expression 2*(3+4), gold gives 14" in done.stdout
    assert planeval("diff", str(pred), str(gold), "--compute", "arithmetic").returncode == 0
    shown = planeval("score", str(pred), str(gold), "--compute", "arithmetic", "--format", "json").stdout
    assert json.loads(shown)["figures"]["exact"]["value"] == 1
    assert "compute arithmetic" in shown
    done = planeval("convert", str(pred), "--to", "json", "--compute", "arithmetic")
    assert json.loads(done.stdout)[0]["arguments"] == {"p": 14}
    with pytest.raises(InputError, match="arithmetic"):
        pe.parse("f(a=1)", compute="python")


def test_what_is_computed_is_bounded_and_never_run() -> None:
    assert [compute(text) for text in ("-3**2", "7 // 2 % 2", "2 ** -1", "(1 + 2) * 3.5")] == [
        -9,
        1,
        0.5,
        10.5,
    ]
    hostile = ("9**9**9", "2**1025", "1/0", "1+ord('a')", "0x10+1", "(-8)**.5", "1e308*10", "1+", "x+1")
    assert [compute(text) for text in hostile] == [None] * len(hostile)
    assert compute("(" * 60 + "1" + ")" * 60) is None
    assert compute("+".join("1" * 600)) is None


def test_a_flag_for_a_tool_is_no_call() -> None:
    code, row = parsed('[{"step": "1 ask", "tool": "0"}]')
    assert (code, tools(row), codes(row)) == (0, [], ["shape.flag", "plan.no_call"])


def test_a_name_above_its_arguments_is_the_tool() -> None:
    _, row = parsed('calculate_derivative\n{"function": "3*x**2 + 2*x - 1"}')
    assert tools(row) == ["calculate_derivative"]
    assert row["plan"]["calls"][0]["arguments"] == {"function": "3*x**2 + 2*x - 1"}


def test_references_of_nodes_to_themselves_and_to_none_are_said() -> None:
    nodes = [{"task": "a", "arguments": ["<node-0>"]}, {"task": "b", "arguments": ["<node-7>"]}]
    _, row = parsed(f"```json\n{json.dumps({'task_nodes': nodes, 'task_links': []})}\n```")
    assert codes(row) == ["reference.self", "reference.unresolved"]


def test_a_list_of_texts_in_single_quotes_has_an_error_at_its_place() -> None:
    code, row = parsed("['sculpture_search(location=Chicago, time_frame=19th century)']")
    assert (code, row["line"], row["column"]) == (3, 1, 49)
    assert parsed("'math.gcd(num1=12, num2=18)'")[1]["dialect"] == "call-texts"


def test_an_argument_called_type_makes_no_schema() -> None:
    _, row = parsed('[{"find_instrument": {"budget": 1000, "type": "acoustic"}}]')
    assert tools(row) == ["find_instrument"]


@pytest.mark.parametrize("label", ["javascript", "python"])
def test_a_label_does_not_hide_calls(label: str) -> None:
    call = '{"name": "f", "arguments": {"a": 1}}'
    for text in (f"[{call}]", call, f"data = {call}"):
        assert tools(parsed(f"```{label}\n{text}\n```")[1]) == ["f"]


def test_the_models_own_code_after_its_calls_is_no_plan() -> None:
    tests = "import unittest\nclass T(unittest.TestCase):\n  def test(self):\n    self.assertEqual(g(a=2), [3"
    for text in (f"```python\n[f(a=1)]\n```\n```python\n{tests}\n```", f"[f(a=1)]\n\n{tests}"):
        _, row = parsed(text)
        assert tools(row) == ["f"]
        assert "find.code" in codes(row)


def test_a_call_that_its_sentence_denies_is_said() -> None:
    _, row = parsed('If you had given me the city, I would call:\nget_weather(city="Rome")')
    assert (tools(row), codes(row)[0]) == (["get_weather"], "find.hypothetical")


# ---------------------------------------------------------------- errors that are calls
def test_one_plan_in_a_file_of_keyed_calls_or_of_texts(tmp_path: Path) -> None:
    texts = {
        "keyed": '[{"get_rate": {"cur": "EUR"}}, {"roll": "{\\"sides\\": 6}"}]',
        "call-texts": '["f(x=1)", "g(y=2)"]',
    }
    for name, text in texts.items():
        path = tmp_path / f"{name}.json"
        path.write_text(text)
        for options in ((), ("--from", name)):
            done = planeval("parse", str(path), "--format", "json", *options)
            assert done.returncode == 0
            assert len(json.loads(done.stdout)["plan"]["calls"]) == 2
        assert planeval("diff", str(path), str(path)).returncode == 0


def test_words_and_steps_between_calls_are_named() -> None:
    _, row = parsed(json.dumps(["prose", {"f": '{"a": 1}'}, "\n"]))
    assert (tools(row), codes(row)) == (["f"], ["shape.ignored"])
    steps = [{"step": "1", "tool": "f", "param": {"a": 1}}, {"step": "2 confirm"}]
    _, row = parsed(json.dumps(steps))
    assert (tools(row), codes(row)) == (["f"], ["shape.ignored"])
    assert "2 confirm" in row["diagnostics"][0]["message"]


def test_repair_reaches_encoded_arguments_in_texts_and_in_records(tmp_path: Path) -> None:
    calls = [{"f": '{"a": None}'}]
    assert parsed(json.dumps(calls))[0] == 3
    _, row = parsed(json.dumps(calls), "--repair")
    assert (row["plan"]["calls"][0]["arguments"], codes(row)) == ({"a": None}, ["repair.python_literals"])
    path = tmp_path / "answers.jsonl"
    path.write_text(
        json.dumps({"id": "q1", "output": calls}) + "\n" + json.dumps({"id": "q2", "output": "f()"})
    )
    done = planeval("parse", str(path), "--repair", "--format", "json")
    assert done.returncode == 0
    assert json.loads(done.stdout.splitlines()[0])["plan"]["calls"][0]["arguments"] == {"a": None}


def test_a_tag_in_a_quoted_text_is_text() -> None:
    _, row = parsed("[html.escape(text='<code>x</code>', mark='<s>')]")
    assert row["plan"]["calls"][0]["arguments"] == {"text": "<code>x</code>", "mark": "<s>"}


def test_names_and_lists_of_servers() -> None:
    assert tools(parsed('{"tools_call": [{"name": "f", "arguments": {}}]}')[1]) == ["f"]
    _, row = parsed('[{"f<|channel|>commentary": {"a": 1}}]')
    assert (tools(row), codes(row)) == (["f"], ["find.token"])


@pytest.mark.parametrize(("text", "said"), [
    ("('get_rate', {'cur': 'EUR'})", "'get_rate' and its arguments as items of one list"),
    ('```json\n["roll", {"sides": 6}]\n```', "'roll' and its arguments as items of one list"),
    ('{"name": "get_stock", "interval": "1mo"}', "'interval' beside 'name'"),
    ("f(a=1) + g(b=2)", "the operator '+' between calls"),
    ('[{"f": {"a": 1}}, {"g": 3}]', "the arguments of 'g' are 3"),
    ("```java\npublic class A {\n void f() { tool.call(1); }\n}\n```", "of Java only calls at the top level"),
])  # fmt: skip
def test_what_is_not_read_is_named(text: str, said: str) -> None:
    code, row = parsed(text)
    assert code == 3
    assert said in row["error"]


def test_after_a_failed_repair_the_error_names_what_is_left() -> None:
    code, row = parsed("[{'name': 'f', 'arguments': {'a': <the city>}}]", "--repair")
    assert (code, row["column"]) == (3, 35)


# ---------------------------------------------------------------- cut at the token limit
CUT = (
    '[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "argum',
    '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>\n<tool_call>\n{"name": "g", "arg',
    "[f(a=1), g(b='x",
    "f(a=1)\nx = g(b=",
    "[{'name': 'f', 'arguments': {'a': 1}}, {'name': 'g', 'ar",
    '```json\n[{"name": "f", "arguments": {"a": 1}}, {"name": "g"',
)


@pytest.mark.parametrize("text", CUT)
def test_a_cut_is_said_and_the_whole_calls_before_it_are_kept(text: str) -> None:
    code, row = parsed(text)
    assert (code, row["code"]) == (3, "parse.cut")
    assert row["error"].startswith("cut off at the end, ")
    code, row = parsed(text, "--repair")
    assert (code, tools(row), codes(row)[-1]) == (0, ["f"], "repair.cut_off")


@pytest.mark.parametrize(
    "text",
    ["<tool_call>", "[TOOL_CALLS]", "I call.\n```json\n", "<think>I need to", "[", '[{"na', '{"name": "f'],
)
def test_a_cut_right_after_an_opening_is_not_no_call(text: str) -> None:
    for options in ((), ("--repair",)):
        code, row = parsed(text, *options)
        assert (code, row["code"]) == (3, "parse.cut")


@pytest.mark.parametrize(
    "text", ["[1] See page (3", "It says (sic", "Use f(x) as in [a, b", "<think>No.</think>"]
)
def test_prose_with_an_open_bracket_is_no_cut(text: str) -> None:
    code, row = parsed(text)
    assert (code, codes(row)[-1]) == (0, "plan.no_call")


# ---------------------------------------------------------------- as data, as written, as compared
@pytest.mark.parametrize("data", [
    ["I cannot help."],
    ["f(x=1)", "g(y=2)"],
    ["Hotels: [h = search(#city='Rome')]"],
    ["Let me see.", {"name": "f", "arguments": {}}],
    [{"step": "1", "tool": "0"}],
])  # fmt: skip
def test_data_and_its_text_agree(data: Any) -> None:
    as_data, as_text = pe.parse(data), pe.parse(json.dumps(data))
    assert [(c.tool, c.arguments) for c in as_data.calls] == [(c.tool, c.arguments) for c in as_text.calls]
    assert [note.code for note in as_data.diagnostics] == [note.code for note in as_text.diagnostics]


def test_an_unresolved_reference_is_not_mended_by_an_id() -> None:
    calls = [
        {"name": "f", "label": "$x", "arguments": {"a": "$c2.out$"}},
        {"name": "g", "arguments": {"a": "$x.out$"}},
    ]
    plan = pe.parse(json.dumps(calls))
    assert plan.calls[0].arguments == (("a", Unresolved("c2", ("out",))),)
    done = planeval("convert", "-", "--to", "plan", text=json.dumps(calls))
    back = pe.parse(done.stdout)
    assert [note.code for note in back.diagnostics] == ["reference.unresolved"]
    assert pe.same(plan, back)


def test_a_function_of_a_rule_sees_what_gold_accepts() -> None:
    def near(ours: Any, theirs: Any) -> bool:
        return str(ours).lower() == str(theirs).lower()

    pred, gold = "[f(a='LONDON')]", "[f(a='Rome')]"
    terms = Terms(accepted={"c1": {"a": ("London",)}})
    assert not pe.diff(pred, gold, Policy(), terms=terms).same
    assert pe.diff(pred, gold, Policy(rules=(Rule(function=near),)), terms=terms).same


@pytest.mark.parametrize(("data", "dialect"), [
    ({"task_steps": ["1", "2"],
            "task_nodes": [{"task": "f", "arguments": ["a"]}, {"task": "g", "arguments": ["<node-0>"]}],
            "task_links": [{"source": "f", "target": "g"}]}, "taskbench"),
    ({"API": ["f", "g"], "parameters": [{"x": 1}, {"y": 2}]}, "callnavi"),
    ([{"f": {"x": 1}}, {"g": '{"y": 2}'}], "keyed"),
])  # fmt: skip
def test_a_plan_in_a_file_of_its_own_is_one_plan(tmp_path: Path, data: Any, dialect: str) -> None:
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(data))
    for options in ((), ("--from", dialect)):
        done = planeval("parse", str(file), "--format", "json", *options)
        assert done.returncode == 0, done.stdout
        (row,) = map(json.loads, done.stdout.splitlines())
        assert row["dialect"] == dialect
        assert [call["name"] for call in row["plan"]["calls"]] == ["f", "g"]


def test_what_repair_saves_of_a_cut_answer_is_never_the_answer(tmp_path: Path) -> None:
    gold, pred = tmp_path / "gold.jsonl", tmp_path / "pred.jsonl"
    whole = [{"name": "g", "arguments": {}}]
    gold.write_text("".join(json.dumps({"id": n, "gold": whole if n == 1 else []}) + "\n" for n in (1, 2)))
    texts = (json.dumps(whole)[:-1] + ', {"name": "h", "argu', "Let me look.\n<tool_call>")
    pred.write_text("".join(json.dumps({"id": n, "output": t}) + "\n" for n, t in enumerate(texts, 1)))
    scored = planeval("score", str(pred), str(gold), "--format", "json")
    data = json.loads(scored.stdout)
    assert (data["states"], data["figures"]["exact"]["value"]) == ({"cut": 2}, 0.0)
    for options in ((), ("--repair",)):
        done = planeval("diff", str(pred), str(gold), *options)
        assert done.returncode == 1
        assert "2 pairs: 2 cut" in done.stdout
        alone = planeval("diff", str(pred), str(gold), "--id", "1", *options)
        assert alone.stdout.endswith("whole calls before the cut: g(); the first agrees with gold's first\n")
