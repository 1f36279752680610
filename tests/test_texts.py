"""What models really write, as users meet it: through the commands."""

import contextlib
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import InputError, ParseError, PlanevalError
from planner_eval.comparison.policy.policy import Policy, Terms
from planner_eval.comparison.policy.values import Rule
from planner_eval.plan.arithmetic import compute
from planner_eval.plan.model import Unresolved
from planner_eval.reading.dialects.read import parse
from tests.conftest import tabled, tables
from tests.inside import planeval

TABLES = tables(__file__)


def parsed(text: str, *options: str) -> tuple[int, Any]:
    """The exit code and the one row of `planeval parse`."""
    done = planeval("parse", "-", "--format", "json", *options, text=text)
    assert not done.stderr
    return done.returncode, json.loads(done.stdout)


def tools(row: Any) -> list[str]:
    return [call["name"] for call in row["plan"]["calls"]]


def codes(row: Any) -> list[str]:
    return [note["code"] for note in row["diagnostics"]]


def test_an_expression_is_said_and_computed_where_that_is_asked(tmp_path: Path) -> None:
    code, row = parsed("[f(p=1/6)]")
    assert (code, row["plan"]["calls"][0]["arguments"]) == (0, {"p": "1/6"})
    assert [(n["code"], n["severity"]) for n in row["diagnostics"]] == [("value.computed", "warning")]
    _, row = parsed("[f(p=1/6)]", "--compute", "arithmetic")
    assert row["plan"]["calls"][0]["arguments"] == {"p": 1 / 6}
    pred, gold = tmp_path / "pred.txt", tmp_path / "gold.json"
    pred.write_text("[f(p=2*(3+4))]")
    gold.write_text('[{"name": "f", "arguments": {"p": 14}}]')
    done = planeval("diff", str(pred), str(gold))
    assert done.returncode == 1
    assert "argument 'p' is the expression 2*(3+4), expected the number 14" in done.stdout
    asked = ("--compute", "arithmetic")
    assert planeval("diff", str(pred), str(gold), *asked).returncode == 0
    shown = planeval("score", str(pred), str(gold), *asked, "--format", "json").stdout
    assert json.loads(shown)["figures"]["exact"]["value"] == 1
    assert "compute arithmetic" in shown
    done = planeval("convert", str(pred), "--to", "json", *asked)
    assert json.loads(done.stdout)[0]["arguments"] == {"p": 14}
    with pytest.raises(InputError, match="arithmetic"):
        pe.parse("f(a=1)", compute="python")


def test_what_is_computed_is_bounded_and_never_run() -> None:
    right = {"-3**2": -9, "7 // 2 % 2": 1, "2 ** -1": 0.5, "(1 + 2) * 3.5": 10.5}
    assert {text: compute(text) for text in right} == right
    hostile = ["9**9**9", "2**1025", "1/0", "1+ord('a')", "0x10+1", "(-8)**.5", "1e308*10", "1+", "x+1"]
    hostile += ["(" * 60 + "1" + ")" * 60, "+".join("1" * 600)]
    assert not any(map(compute, hostile))


@pytest.mark.parametrize(("text", "called", "said"), TABLES["READ"])
def test_what_a_text_calls_and_what_is_said_of_it(text: str, called: list[str], said: list[str]) -> None:
    code, row = parsed(text)
    assert (code, tools(row)) == (0, called)
    assert {*said} <= {*codes(row)} <= {*said, "find.text", "find.thought", "dialect.mixed"}, codes(row)
    if said == ["shape.ignored"] and "confirm" in text:
        assert "2 confirm" in row["diagnostics"][0]["message"]
    if "html.escape" in text:
        assert row["plan"]["calls"][0]["arguments"] == {"text": "<code>x</code>", "mark": "<s>"}


@tabled("text, said, repair")
def test_what_is_not_read_is_named(text: str, said: str, repair: list[str]) -> None:
    code, row = parsed(text, *repair)
    assert code == 3
    assert said in f"{row['error']} line {row['line']}, column {row['column']}"


CUT = TABLES["CUT"]
OPENED = (
    "<tool_call>", "[TOOL_CALLS]", "I call.\n```json\n", "<think>I need to", "[", '[{"na', '{"name": "f',
)  # fmt: skip


@pytest.mark.parametrize("text", [*CUT, *OPENED])
def test_a_cut_is_said_and_the_whole_calls_before_it_are_kept(text: str) -> None:
    code, row = parsed(text)
    assert (code, row["code"]) == (3, "parse.cut")
    assert row["error"].startswith("cut off at the end")
    code, row = parsed(text, "--repair")
    if text in CUT:
        assert (code, tools(row), codes(row)[-1]) == (0, ["f"], "repair.cut_off")
    else:
        assert (code, row["code"]) == (3, "parse.cut")


@tabled("data")
def test_data_and_its_text_agree(data: Any) -> None:
    as_data, as_text = pe.parse(data), pe.parse(json.dumps(data))
    assert [(c.tool, c.arguments) for c in as_data.calls] == [(c.tool, c.arguments) for c in as_text.calls]
    assert [note.code for note in as_data.diagnostics] == [note.code for note in as_text.diagnostics]


def test_an_unresolved_reference_is_not_mended_by_an_id() -> None:
    other = {"name": "g", "arguments": {"a": "$x.out$"}}
    text = json.dumps([{"name": "f", "label": "$x", "arguments": {"a": "$c2.out$"}}, other])
    plan = pe.parse(text)
    assert plan.calls[0].arguments == (("a", Unresolved("c2", ("out",))),)
    back = pe.parse(planeval("convert", "-", "--to", "plan", text=text).stdout)
    assert [note.code for note in back.diagnostics] == ["reference.unresolved"]
    assert pe.same(plan, back)


def test_a_function_of_a_rule_sees_what_gold_accepts() -> None:
    def near(ours: Any, theirs: Any) -> bool:
        return str(ours).lower() == str(theirs).lower()

    pred, gold = "[f(a='LONDON')]", "[f(a='Rome')]"
    terms = Terms(accepted={"c1": {"a": ("London",)}})
    assert not pe.diff(pred, gold, Policy(), terms=terms).same
    assert pe.diff(pred, gold, Policy(rules=(Rule(function=near),)), terms=terms).same


def test_what_repair_saves_of_a_cut_answer_is_never_the_answer(tmp_path: Path) -> None:
    gold, pred = tmp_path / "gold.jsonl", tmp_path / "pred.jsonl"
    whole = [{"name": "g", "arguments": {}}]
    gold.write_text("".join(json.dumps({"id": n, "gold": whole if n == 1 else []}) + "\n" for n in (1, 2)))
    texts = (json.dumps(whole)[:-1] + ', {"name": "h", "argu', "Let me look.\n<tool_call>")
    pred.write_text("".join(json.dumps({"id": n, "output": t}) + "\n" for n, t in enumerate(texts, 1)))
    data = json.loads(planeval("score", str(pred), str(gold), "--format", "json").stdout)
    assert (data["states"], data["figures"]["exact"]["value"]) == ({"cut": 2}, 0.0)
    for options in ((), ("--repair",)):
        done = planeval("diff", str(pred), str(gold), *options)
        assert (done.returncode, "2 pairs: 2 cut" in done.stdout) == (1, True)
        alone = planeval("diff", str(pred), str(gold), "--id", "1", *options)
        assert alone.stdout.endswith(
            "complete calls before the cut: g(); the first agrees with gold's first\n"
        )


PLAN = """Hotels: [h, price = search(#city='Lyon', #name='Ann's Inn')]
Trips: [t = book(#hotel=h, #price=price), pay(#for=t)]
Hotels: [review(#hotel=h, #guests=['Ann', t])]"""


def bold(plan: str) -> str:
    """Each app in bold, what follows as code, an empty line between."""
    return "\n\n".join(f"* **{line.replace(': [', '**: `[', 1)}`" for line in plan.split("\n"))


DRESSED: dict[str, Callable[[str], str]] = {
    "prose before": lambda plan: f"Sure! Here's the plan for you (in order):\n\n{plan}",
    "prose after": lambda plan: f"{plan}\n\nThis plan books (one) hotel, as you said.",
    "bullets": lambda plan: "\n".join(f"- {line}" for line in plan.split("\n")),
    "stars": lambda plan: "The plan:\n" + "\n\n".join(f"  * {line}" for line in plan.split("\n")),
    "numbers": lambda plan: "\n".join(f"{i}. {line}" for i, line in enumerate(plan.split("\n"), 1)),
    "parentheses": lambda plan: "\n".join(f"{i}) {line}" for i, line in enumerate(plan.split("\n"), 1)),
    "fence": lambda plan: f"Here is the plan:\n\n```text\n{plan}\n```\n\nIt's done.",
    "quoted text": json.dumps,
}
SECTIONS = {
    "bold": bold,
    "no spaces": lambda plan: "Plan:\n\n" + plan.replace(": [", ":[").replace(" = ", "="),
    "explained": lambda plan: "\n".join(f"- {line} - does (something)" for line in plan.split("\n")),
    "a sentence": lambda plan: "First. " + ", and then ".join(plan.split("\n")) + ".",
    "the same line": lambda plan: f"Here is the plan: {plan}",
    "tags": lambda plan: f"<answer>{plan}</answer>",
    "said twice": lambda plan: f"```\n{plan}\n```\nOnce more:\n- " + plan.replace("\n", "\n- "),
}


@pytest.mark.parametrize("how", [*DRESSED, *SECTIONS])
def test_a_dressed_plan_is_the_bare_plan(how: str) -> None:
    found, bare = parse((DRESSED | SECTIONS)[how](PLAN)), parse(PLAN)
    assert (found.dialect, found.calls) == ("appbench", bare.calls)
    assert [call.app for call in found.calls] == ["Hotels", "Trips", "Trips", "Hotels"]


def test_the_places_are_those_of_the_text() -> None:
    done = planeval("parse", "--from", "appbench", "--format", "json", "-", text=DRESSED["bullets"](PLAN))
    names = [call["name"] for call in json.loads(done.stdout)["plan"]["calls"]]
    assert (done.returncode, names) == (0, ["search", "book", "pay", "review"])
    text = DRESSED["numbers"](PLAN)
    calls = parse(text).calls
    begun = [text[slice(*call.span)].split("(")[0] for call in calls if call.span]
    assert begun == ["h, price = search", "t = book", "pay", "review"]
    assert text[slice(*calls[1].spans[1])] == "#price=price"


def test_prose_calls_nothing() -> None:
    for text in TABLES["prose_calls_nothing"]:
        assert parse(text).calls == (), text
    assert [call.tool for call in parse("Sure. Movies: [x = buy(#city='Reno')]").calls] == ["Movies.buy"]


@tabled("text, line, said")
def test_a_broken_line_is_an_error_with_its_place(text: str, line: int, said: str) -> None:
    with pytest.raises(ParseError, match=re.escape(said)) as found:
        parse(text)
    assert found.value.line == line


HOSTILE = [
    "A: [x = f(#a='b )]\n", "Hi A: [x = f(#a='1' and ", "- f(#a='1') is a\n", "A: [f() and\n", "a: [x, ",
    "(#a=", "Hi\n[x = f(#a='1')]\n",
]  # fmt: skip


def test_lines_beside_other_notations_are_read_in_order() -> None:
    text = '- Hotels: [h = search(#city=\'Lyon\')]\n\nand\n\n[{"name": "f", "arguments": {"a": 1}}]'
    plan = parse(text)
    assert [call.tool for call in plan.calls] == ["Hotels.search", "f"]
    assert "dialect.mixed" in [note.code for note in plan.diagnostics]


TOKENS = TABLES["TOKENS"]
ANSWERS = TABLES["ANSWERS"]
ASKED = ("user", "Do it.")


def call(number: int) -> tuple[str, str]:
    return "assistant", f"<tool_call>\n{json.dumps({'name': f'f{number}', 'arguments': {}})}\n</tool_call>"


def text_of(form: str, *turns: tuple[str, str]) -> str:
    begins, ends = TOKENS[form]
    return "".join(f"{begins.format(who)}{said}{ends}" for who, said in turns)


def read(text: str) -> list[str]:
    return [call.name for call in pe.parse(text).calls]


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("form", TOKENS)
def test_where_tools_answer_all_turns_are_read_whoever_begins(form: str, answer: str) -> None:
    turns = (call(1), ANSWERS[answer], call(2), ASKED, call(3))
    text = text_of(form, *turns)
    assert read(text) == read(text_of(form, ASKED, *turns)) == ["f1", "f2", "f3"]
    assert read(text.removeprefix(TOKENS[form][0].format("assistant"))) == ["f1", "f2", "f3"]


@pytest.mark.parametrize("form", TOKENS)
def test_where_none_does_a_model_went_on(form: str) -> None:
    plan = pe.parse(text_of(form, call(1), ASKED, call(2)))
    assert [call.name for call in plan.calls] == ["f1"]
    assert "find.turn" in [note.code for note in plan.diagnostics]
    assert read(text_of(form, call(1), ANSWERS["tool"])) == ["f1"]


@pytest.mark.parametrize("token", ["<|endoftext|>", "<|im_end|>", "<|eot_id|>"])
def test_a_heading_after_the_end_begins_another_turn(token: str) -> None:
    one, two = (json.dumps({"name": f"f{at}", "arguments": {}}) for at in (1, 2))
    for heading in ("Human: more?", " User: more?", "### Instruction: more"):
        assert read(f"{one}{token}{heading}\nAssistant: {two}") == ["f1"], heading


@pytest.mark.parametrize("before", ["", "User: send it\nAssistant: "])
@pytest.mark.parametrize("line", ["User: hello", "Human: f(a=1)", "### Response: x", "Assistant: y"])
def test_a_line_of_a_value_begins_no_turn(line: str, before: str) -> None:
    value = f"hi\n{line}\nbye"
    given = f"<function=send>\n<parameter=text>\n{value}\n</parameter>\n</function>"
    for text in (f"<tool_call>\n{given}\n</tool_call>", f'send(text="""{value}""")'):
        assert [call.arguments for call in pe.parse(f"{before}{text}").calls] == [(("text", value),)]


TURNS = ["<a>\nUser: a\n", '"""\nUser: a\n', "<|im_start|>tool\n", "Action\nObservation: {\n"]


MANY = [("f(a=1)\n", p, "</a>") for p in TURNS] + [("Hi\n", x, "\nA: [x = f(#a='1')]") for x in HOSTILE]


@pytest.mark.parametrize(("begin", "piece", "end"), MANY)
def test_hostile_text_takes_no_quadratic_time(begin: str, piece: str, end: str) -> None:
    def taken(count: int) -> float:
        start = time.process_time()
        with contextlib.suppress(PlanevalError):
            parse(begin + piece * count + end)
        return time.process_time() - start

    taken(10)
    assert taken(4_000) < 30 * max(taken(400), 0.01)
