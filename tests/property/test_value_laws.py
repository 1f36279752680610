"""The law of values: each corrected scorer takes every spelling of a right value, and no other value."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.benchmarks.benchmark import benchmark
from planner_eval.benchmarks.complexfuncbench.matching import Trigrams, assign
from planner_eval.benchmarks.complexfuncbench.official import replay_model
from planner_eval.benchmarks.datasets.published import Sample
from tests.conftest import examples

WORDS = st.text("abé1 .-", max_size=5)
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.floats(-1e6, 1e6).map(lambda x: x + 0.0), WORDS
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=4,
)
KINDS = {
    type(None): "null", bool: "boolean", int: "integer", float: "number",
    str: "string", list: "array", dict: "object",
}  # fmt: skip


def respelled(value: Any) -> Any:
    """The same value otherwise written: numbers with or without a point, fields in another order."""
    if type(value) is int:
        return float(value)
    if type(value) is float:
        return int(value) if value.is_integer() else value
    if isinstance(value, list):
        return list(map(respelled, value))
    return {k: respelled(value[k]) for k in reversed(value)} if isinstance(value, dict) else value


@st.composite
def others(draw: st.DrawFn, value: Any) -> Any:
    """Another value, of the same type or of another that looks like it."""
    if isinstance(value, (list, dict)) and value and draw(st.booleans()):
        changed = value.copy()
        key = draw(st.sampled_from(range(len(value)) if isinstance(value, list) else [*value]))
        changed[key] = draw(others(value[key]))
        return changed
    return draw(st.sampled_from(list(_others(value))))


def _others(value: Any) -> Iterator[Any]:
    yield from (
        ([value], json.dumps(value), str(value)) if not isinstance(value, str) else ([value], {value: value})
    )
    if value is None:
        yield from ("", 0, False, [], {})
    elif isinstance(value, list):
        yield from ([*value, None], *([value[1:]] if value else []))
    elif isinstance(value, dict):
        yield from ({**value, "more": None}, [*value])
    elif isinstance(value, bool):
        yield from (not value, int(value), float(value), None)
    elif isinstance(value, (int, float)):
        yield from (value + 1, -value - 1, value + 0.5, None, *([bool(value)] if value in (0, 1) else []))
    else:
        yield from (f"{value}x", f"a{value}b", None, len(value), True)


def appbench(_: str, value: Any, answer: Any) -> tuple[Sample, str]:
    gold = {"used_app": ["A"], "used_api": [{"f": {"n": value}}], "api_results": [f"x = f(#n='{value}')"]}
    return Sample("a", gold=gold), f"A: [x = f(#n={answer})]"


def callnavi(_: str, value: Any, answer: Any) -> tuple[Sample, str]:
    gold, pred = ({"API": ["f"], "parameters": [{"n": x}]} for x in (value, answer))
    return Sample("a", gold=gold, extra={"difficulty": "easy"}), json.dumps(pred)


def complexfuncbench(kind: str, value: Any, answer: Any) -> tuple[Sample, str]:
    def turn(argument: Any) -> dict[str, Any]:
        return {"role": "assistant", "function_call": [{"name": "f", "arguments": {"n": argument}}]}

    end = {"role": "assistant", "content": ""}
    observed = {"role": "observation", "content": [{"status": True, "data": 1}]}
    tools = [{"name": "f", "parameters": {"properties": {"n": {"type": kind}}}}]
    talk = [{"role": "user", "content": "?"}, turn(value), observed, end]
    return Sample("Hotels-0", "?", tools, talk), json.dumps([turn(answer), end])


def functionchat(kind: str, value: Any, answer: Any) -> tuple[Sample, str]:
    gold, pred = ({"name": "f", "arguments": json.dumps({"n": x})} for x in (value, answer))
    tools = [{"function": {"name": "f", "parameters": {"properties": {"n": {"type": kind}}}}}]
    extra = {"part": "singlecall", "type_of_output": "call", "acceptable_arguments": None}
    sample = Sample("a", "?", tools, gold, "exact", extra=extra)
    return sample, json.dumps({"tool_calls": [{"function": pred}]})


def nestful(kind: str, value: Any, answer: Any) -> tuple[Sample, str]:
    gold, pred = ([{"name": "f", "label": "$var_1", "arguments": {"n": x}}] for x in (value, answer))
    return Sample("a", "?", [{"name": "f", "parameters": {"n": {"type": kind}}}], gold), json.dumps(pred)


def is_right(name: str, record: tuple[Sample, str]) -> bool:
    return benchmark(name).score("corrected", [record]).rows[0].ok


BUILDS = [callnavi, complexfuncbench, functionchat, nestful]


@pytest.mark.parametrize("build", BUILDS, ids=lambda f: f.__name__)
@examples(60)
@given(VALUES, st.data())
def test_every_spelling_of_a_value_is_right_and_no_other_value(
    build: Callable[..., tuple[Sample, str]], value: Any, data: st.DataObject
) -> None:
    kind = KINDS[type(value)]
    if kind == "integer" and data.draw(st.booleans()):
        kind = "number"
    for right in (value, respelled(value)):
        declared = build is not functionchat or kind != "integer" or type(right) is int  # its section 6.2
        assert is_right(build.__name__, build(kind, value, right)) is declared
    assert not is_right(build.__name__, build(kind, value, data.draw(others(value))))


@examples(60)
@given(st.one_of(st.integers(-99, 9999), st.floats(0, 99).map(lambda x: round(x, 2))), WORDS)
def test_values_of_appbench_are_texts(number: float, word: str) -> None:
    spellings = f"'{number}'", f"' {number} '", f"{number}", f"'{float(number)}0'"
    assert all(is_right("appbench", appbench("", number, text)) for text in spellings)
    assert not is_right("appbench", appbench("", number, f"'{number + 1}'"))
    word = f"a{word}b"
    assert all(is_right("appbench", appbench("", word, text)) for text in (f"'{word.upper()}'", f"' {word}'"))
    assert not is_right("appbench", appbench("", word, f"'{word}x'"))


TEXTS = st.lists(st.text(max_size=20), min_size=1, max_size=5)


@examples(60)
@given(TEXTS, TEXTS)
def test_assignment_is_one_to_one(left: list[str], right: list[str]) -> None:
    pairs = assign(left, right, Trigrams())
    assert len(pairs) == min(len(left), len(right))
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
    model = replay_model([[], "done"])
    assert [model(()), model(()), model(())] == [[], "done", None]
