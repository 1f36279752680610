"""AppBench lines in a model's prose: after bullets and numbers, in bold, in fences, inside sentences."""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import planner_eval as pe
from planner_eval.base.errors import ParseError, PlanevalError
from planner_eval.dialects.read import parse, write
from planner_eval.plan.canonical import same
from tests.inside import planeval

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
    for text in (
        "Movies: we should buy tickets (two)", "Note: [see appendix (#3)]",
        "Plan:\nNote: [see(#3)], as above", "I would use buy(#city='Reno') here.",
        "Well,\nbuy(#city='Reno') is what I would use.",
    ):  # fmt: skip
        assert parse(text).calls == (), text
    assert [call.tool for call in parse("Sure. Movies: [x = buy(#city='Reno')]").calls] == ["Movies.buy"]


@pytest.mark.parametrize(("text", "line", "said"), [
    ("Plan:\n\nMovies: [x = buy(#city='Reno' #seats=...", 3, "cut off at the end, inside a call"),
    ("Plan:\n- Movies: [x = buy(#city='Reno'\n- Hotels: [b(#movie=x)]", 2, "is never closed"),
    ('Plan:\nMovies: [x = buy(#city="Reno")]', 2, "expected a quoted value"),
    ("Plan:\nMovies: [x = buy(city='Reno')]", 2, "an argument such as #name='value'"),
    ("Plan:\n[x = buy(#city='Reno')]", 2, "an app's name"),
    ("Movies: x = buy(#city='Reno')", 1, "an app's name"),
    ("Plan:\n- x = buy(#city='Reno') y = pay(#for=x)", 2, "expected a new line"),
    ("Plan:\nMovies: [x = buy(#city='Reno')] Hotels - [b(#movie=x)]", 2, "found 'Hotels -"),
    (json.dumps("Plan:\nMovies: [x = buy(#city='Reno' #b=..."), 1, "expected"),
])  # fmt: skip
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


@pytest.mark.more
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_takes_linear_time(text: str) -> None:
    def seconds(times: int) -> float:
        start = time.process_time()
        with contextlib.suppress(PlanevalError):
            parse(f"Hi\n{text * times}\nA: [x = f(#a='1')]")
        return time.process_time() - start

    seconds(10)
    assert seconds(40_000) < 20 * seconds(4_000) + 0.5


@pytest.mark.more
@pytest.mark.parametrize("part", ["ss", "sm", "ms", "mm"])
def test_every_gold_plan_in_prose_is_the_gold_plan(reference: Path, part: str) -> None:
    records = json.loads((reference / f"datasets/appbench/test_{part}.json").read_text(encoding="utf-8"))
    assert len(records) == (201 if part == "ms" else 200)
    for record in records:
        gold = parse(record["output"], dialect="appbench")
        for bare in ("\n".join(record["output"]["api_results"]), write(gold, "appbench")):
            wanted = parse(bare)
            for how, dress in DRESSED.items():
                found = parse(dress(bare))
                assert found.dialect == "appbench", (how, bare)
                assert same(wanted, found), (how, bare)
                assert [c.returns for c in found.calls] == [c.returns for c in wanted.calls], (how, bare)
        dressed = parse(SECTIONS["bold"](write(gold, "appbench")))
        assert same(gold, dressed), record


TOKENS = {
    "chatml": ("<|im_start|>{}\n", "<|im_end|>\n"),
    "llama": ("<|start_header_id|>{}<|end_header_id|>\n\n", "<|eot_id|>"),
    "gemma": ("<start_of_turn>{}\n", "<end_of_turn>\n"),
}
ANSWERS = {
    "tool": ("tool", '{"name": "other", "arguments": {}}'),
    "ipython": ("ipython", '{"name": "other", "arguments": {}}'),
    "user": ("user", '<tool_response>\n{"name": "other", "arguments": {}}\n</tool_response>'),
}
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
@pytest.mark.parametrize("heading", ["Human: more?", " User: more?", "### Instruction: more"])
def test_a_heading_after_the_end_begins_another_turn(token: str, heading: str) -> None:
    text = (
        f'{{"name": "f1", "arguments": {{}}}}{token}{heading}\nAssistant: {{"name": "f2", "arguments": {{}}}}'
    )
    assert read(text) == ["f1"]


@pytest.mark.parametrize("before", ["", "User: send it\nAssistant: "])
@pytest.mark.parametrize("line", ["User: hello", "Human: f(a=1)", "### Response: x", "Assistant: y"])
def test_a_line_of_a_value_begins_no_turn(line: str, before: str) -> None:
    value = f"hi\n{line}\nbye"
    tagged = (
        f"<tool_call>\n<function=send>\n<parameter=text>\n{value}\n</parameter>\n</function>\n</tool_call>"
    )
    for text in (tagged, f'send(text="""{value}""")'):
        assert [call.arguments for call in pe.parse(f"{before}{text}").calls] == [(("text", value),)]


MANY = ("<a>\nUser: a\n", '"""\nUser: a\n', "<|im_start|>tool\n", "Action\nObservation: {\n")


@pytest.mark.parametrize("piece", MANY)
def test_many_turns_take_no_quadratic_time(piece: str) -> None:
    def taken(count: int) -> float:
        text = "f(a=1)\n" + piece * count + "</a>"
        start = time.process_time()
        with suppress(pe.PlanevalError):
            pe.parse(text)
        return time.process_time() - start

    taken(10)
    assert taken(10_000) < 30 * max(taken(1_000), 0.01)
