"""What is written reads back as the plan it was written of, or is refused in words, or is listed as lost."""

import json
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.base.errors import WriteError
from planner_eval.plan.canonical import same
from planner_eval.plan.linking import build_plan
from planner_eval.plan.model import Call, Plan, Ref, Template, Unresolved
from planner_eval.reading import dialects
from planner_eval.reading.dialects.detect import opening_tokens
from planner_eval.reading.dialects.finding.thoughts import strip_thoughts
from planner_eval.reading.dialects.read import parse, write, write_text
from planner_eval.reading.dialects.round_trip import write_lossy
from planner_eval.reading.dialects.table import table
from tests.build import types_of
from tests.conftest import examples, tables

TABLES = tables(__file__)

# Texts with the special tokens of chat templates are left out: those are blanked wherever they stand.
ODD = TABLES["ODD"]
NAMES = ["f", "get_rate", "get-rate", "a.b", "print", "class", "None", "f g", "a/b", "1f", "f\n", "", "<f>"]
KEYS = ["x", "y", "a b", "0", "1", "a-b", "class", "name", "arguments", "$x", "é", "", "$ref", "x\n", "app"]


leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.sampled_from(ODD), st.sampled_from([1.0, 10**30])
)  # fmt: skip
paths = st.sampled_from([(), (), ("a",), ("a", 0), ("a b",), (0,), ("0",), ("a.b", "c"), ("",)])


def values(refs: st.SearchStrategy[Any] | None) -> st.SearchStrategy[Any]:
    whole = leaves if refs is None else leaves | refs | refs.map(lambda ref: Template(("at ", ref)))
    return st.recursive(
        whole,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=2),
        max_leaves=4,
    )


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Plans with whatever a plan may have: apps, equal calls, references, bare links, an answer."""
    names, keys = (NAMES, KEYS) if draw(st.booleans()) else (NAMES[:2], KEYS[:2])
    linked = draw(st.booleans())
    calls: list[Call] = []
    for at in range(draw(st.integers(0, 3))):
        unknown = st.builds(Unresolved, st.sampled_from(["v9", "9"]), paths)
        refs = st.builds(Ref, st.integers(0, at - 1), paths) | unknown if linked and at else None
        given_ = draw(st.lists(st.tuples(st.sampled_from(keys), values(refs)), max_size=2))
        if refs is not None and draw(st.integers(0, 9)) == 0:
            given_.append(("", [Ref(at - 1)]))
        app = draw(st.sampled_from([None, None, None, "App", "My App"]))
        again = calls and draw(st.integers(0, 5)) == 0
        call = calls[-1] if again else Call("", draw(st.sampled_from(names)), tuple(given_), app)
        own = draw(st.sampled_from([f"c{at + 1}", f"c{at + 1}", f"{at + 1}", f"$var_{at}", f"a b{at}"]))
        calls.append(Call(own, call.name, call.arguments, call.app))
    plan = build_plan(calls)
    answered = calls and draw(st.integers(0, 9)) == 0
    return Plan(plan.calls, plan.edges, (("out", Ref(0, draw(paths))),)) if answered else plan


@examples(600)
@given(plans(), st.sampled_from(dialects.names()), st.booleans())
def test_what_is_written_is_the_plan(plan: Plan, name: str, typing: bool) -> None:
    tools = types_of(plan) if typing else None
    try:
        text = write(plan, name, tools=tools)
    except WriteError:
        return
    assert same(parse(text, dialect=name, tools=tools), plan)


@examples(300)
@given(plans(), st.sampled_from(dialects.names()))
def test_what_is_given_up_is_listed(plan: Plan, name: str) -> None:
    try:
        text, losses = write_lossy(plan, name, write_text)
    except WriteError:
        return
    assert losses or same(parse(text, dialect=name), plan)
    assert len(parse(text, dialect=name).calls) == len(plan.calls)


tame = st.text(string.ascii_letters + string.digits + " .,;:!?-_/()'\"\\\né漢", max_size=12)
tame_values = st.one_of(st.none(), st.booleans(), st.integers(), tame, st.lists(tame, max_size=2))
tame_calls = st.lists(
    st.tuples(st.sampled_from(["t_f", "t_get_rate"]),
        st.dictionaries(st.sampled_from(["p_x", "p_y"]), tame_values, min_size=1, max_size=2)), max_size=3,
)  # fmt: skip


@examples(400)
@given(tame_calls, st.sampled_from(dialects.names()))
def test_what_is_written_is_recognised(calls: list[tuple[str, dict[str, Any]]], name: str) -> None:
    plan = build_plan(
        [Call(f"c{i}", tool, tuple(given_.items())) for i, (tool, given_) in enumerate(calls, 1)]
    )
    tools = types_of(plan)
    try:
        text = write(plan, name, tools=tools)
    except WriteError:
        return
    found = parse(text, tools=tools)
    assert same(found, plan), (found.dialect, text)


THOUGHTS = [
    text
    for name in ("think", "thinking", "thought", "reasoning", "scratchpad")
    for text in (f"<{name}>", f"</{name}>", f"<{name}>2+2=5</{name}> done")
] + ["[THINK]", "[/THINK]", "[THINK]a[/THINK]", "<|thought_start|>x<|thought_end|>"]
ASIDES = TABLES["ASIDES"]
OPENERS = sorted({token for row in table().values() for token in opening_tokens(row)})
CLOSERS = [
    "</tool_call>", "</parameter>", "</function>", "</arg_value>", '<|"|>', "<escape>", "</li><li>", "```",
    '<tool_call>{"name": "g", "arguments": {}}</tool_call>', "<function=g>{}</function>",
]  # fmt: skip
TOKENS = [*THOUGHTS, *ASIDES, *OPENERS, *CLOSERS]
WORDS = ["x", "don't", "Wrap in", "\n", 'a "b"', ":", "[1]", "{}", "it's", "\\", "\t", ", ", "(y)", " "]

held_values = st.builds(
    lambda pieces, between: between.join(pieces),
    st.lists(st.sampled_from([*TOKENS, *WORDS]), min_size=1, max_size=5), st.sampled_from(["", " "]),
)  # fmt: skip


def held_plan(first: Any, *others: Any) -> Plan:
    arguments = {"text": first, **({"n": others[0]} if others else {})}
    last = {"k": [first, *others][-1]}
    calls = [{"name": "set", "arguments": arguments}, {"name": "g2", "arguments": last}]
    return parse(calls, dialect="plan")


def holds(plan: Plan, name: str) -> None:
    """The plan comes back from a notation, named and recognised, or that refuses to write it."""
    try:
        text = write(plan, name)
    except WriteError:
        return
    types = types_of(plan)
    assert same(plan, parse(text, dialect=name, tools=types)), text
    found = parse(text, tools=types)
    assert same(plan, found), (found.dialect, text)


@given(held_values, held_values, st.sampled_from(dialects.names()))
@examples(60)
def test_drawn_values_come_back(first: str, second: str, name: str) -> None:
    holds(held_plan(first, second), name)


@given(held_values)
@examples(60)
def test_an_answer_keeps_what_its_values_hold(value: str) -> None:
    calls = [{"name": "f", "arguments": {"a": value}}]
    thought = '<think>It\'s "f", so f(a=\'1\') or [f(a="2")].</think>'
    text = f"{thought}\n```json\n{json.dumps(calls)}\n```<|im_end|>"
    assert [dict(call.arguments) for call in parse(text).calls] == [{"a": value}]
    text = f"<tool_call>\n{json.dumps(calls[0], ensure_ascii=False)}\n</tool_call>"
    assert strip_thoughts(f'<think>f(a="1") don\'t</think>{text}') == text


@pytest.mark.parametrize("quote", ["It's ", 'Say "x" or "', "don't 'do it' - ", ""])
@pytest.mark.parametrize("draft", ['f(a="x")', "[f(a=\"x\", b='y')]", '```\nf(a="x")\n```', "f(a='it"])
def test_a_thought_that_drafts_calls_is_passed_over(quote: str, draft: str) -> None:
    begun = f"<think>{quote}{draft}", f"{quote}{draft}", f"{quote}<think>{draft}"
    for thought in begun:
        for between in ("\n", "\n\n"):
            plan = parse(f'{thought}</think>{between}[f(a="</s>")]')
            assert [dict(call.arguments) for call in plan.calls] == [{"a": "</s>"}], thought
