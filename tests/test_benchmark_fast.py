"""Short ways through CallNavi's and FunctionChat's answers end where the long ones do, and load less."""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Callable
from typing import Any

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from planner_eval.base.errors import ParseError
from planner_eval.benchmarks.callnavi.reading import _NOTHING, _api_yaml, _literal
from planner_eval.benchmarks.callnavi.washing import _loader
from planner_eval.benchmarks.functionchat.reading import plain_calls
from planner_eval.dialects.read import parse
from planner_eval.plan.model import Call
from tests.conftest import ROOT

SAMPLES = ROOT / "data" / "samples"


def read_by(reader: Callable[[Any], Any], message: Any) -> tuple[Call, ...] | str | None:
    try:
        return reader(message)
    except ParseError as problem:
        return problem.code


scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(-1, 1),
    st.sampled_from(["", "서울", "<|x|>", "$c1$"]),
)  # fmt: skip
values = st.recursive(scalars, lambda v: st.lists(v, max_size=2) | st.dictionaries(st.text(max_size=2), v))
objects = st.dictionaries(st.sampled_from("abc"), values, max_size=3)
texts = st.one_of(
    objects.map(json.dumps),
    st.sampled_from([
        "", "{", "null", "[1]", '"{}"', "{} {}", '{"a": 1, "a": 2}', '{"a": 1e999}', "{'a': 1}",
    ]),
    st.just('{"a": ' + "9" * 5_000 + "}"), st.just('{"a": ' + "[" * 300 + "]" * 300 + "}"),
)  # fmt: skip
listed = st.lists(scalars | st.tuples(st.sampled_from("abc"), scalars).map(list), max_size=2)
functions = st.fixed_dictionaries({
    "name": st.sampled_from(["f", "g", "", "f<|channel|>"]),
    "arguments": texts | objects | st.none() | listed | listed.map(json.dumps),
}, optional={"id": st.just("x")})  # fmt: skip
items = st.fixed_dictionaries({"function": functions}, optional={
    "id": st.sampled_from(["call_1", "call_2", ""]), "type": st.sampled_from(["function", "custom"]),
})  # fmt: skip
messages = functions | st.fixed_dictionaries(
    {"role": st.sampled_from(["assistant", "user"]), "tool_calls": st.lists(items, max_size=3)},
    optional={"content": st.sampled_from([None, "", "Let me see."]), "refusal": st.none()},
)


@given(messages)
@example({"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": '{"a": true}'}}]})
def test_a_plain_call_is_what_the_parser_reads(message: dict[str, Any]) -> None:
    found = read_by(plain_calls, message)
    if found is not None:
        assert repr(found) == repr(read_by(lambda one: parse(one, dialect="json").calls, message))


PIECES = [
    "API", "API:", '"API":', "'API'", "? API", "<<: {API: [a]}", "\n", "\n", "  ", "- a", "{", "}", "[", "]",
    ":", ",", '"', "#c", "---", "...", "!!str ", "&x ", "*x", "\\", "\\x41PI", "parameters: [{}]", "\t", "\r",
    "\x85", "\u2028", "\ufeff", "x: 1", "’API’", " ", "%YAML 1.1", "(", ")", "None", "1",
]  # fmt: skip
pieces = st.lists(st.sampled_from(PIECES), max_size=12).map(lambda found: "".join(found).strip())


@given(pieces)
@example("\ufeffAPI:\n- a")
@example("Here: it is\nAPI: [a]\nparameters: [{}]")
@example('{"API": [a]} # as asked')
def test_a_yaml_text_that_is_not_read_holds_no_api(text: str) -> None:
    value = _api_yaml(text)
    if value is _NOTHING:
        try:
            value = yaml.safe_load(text)
            held = isinstance(value, dict) and "API" in value and json.dumps(value, default=str) != ""
        except (yaml.YAMLError, ValueError, TypeError, AttributeError, KeyError, IndexError):
            held = False
        assert not held or "&" in text  # an alias may refer to what it stands in
    else:
        assert "API" in value


WRITTEN = [
    "API", "API: ", "parameters:\n", "\n", "\n  ", "- ", "{", "}", "[", "]", ":", ": ", ",", '"', "'",
    "1", "1:30", "2024-05-01", "~", "null", "yes", "0x1f", "1_0", "1e3", "a:b", "http://x", "=", "<<: ",
    "---\n", "...\n", "?", "!", "# c", "|2\n", "\t", "\ufeff", "é",
]  # fmt: skip


@given(st.lists(st.sampled_from(WRITTEN), max_size=12).map("".join))
@example("API: [a]\nparameters:\n- {day: 2024-05-01, at: 1:30, n: 0x1f}")
@example("{a:[a:b]}")
@example('{"a":1? 1:30}')
@example("!")
@example("[" * 400 + "]" * 400)
@example("- " * 400 + "a")
def test_yaml_read_in_c_is_what_is_read_in_python(text: str) -> None:
    found = []
    for loader in (_loader(text), yaml.SafeLoader):
        try:
            found.append(repr(yaml.load(text, Loader=loader)))
        except (yaml.YAMLError, ValueError, TypeError, RecursionError) as problem:
            found.append(f"refused, {isinstance(problem, RecursionError)}")
    assert found[0] == found[1]


LITERALS = [
    *"{}[](),:#\n", "'a'", "1", "None", "\\\n", "#c", "...", "''", "'", '"b"', "'[c'", "true", "NaN",
    "-0", "01", "1.5", "1e999", "b'x'", "\t", "\f", "é", "'é'",
]  # fmt: skip


@given(st.lists(st.sampled_from(LITERALS), max_size=9))
@example(["(", "{", "'a'", ":", "1", "}", ")"])
@example(["#c", "\n", "[", "1", "]", "#c"])
@example(["{", "'a'", ":", "-0", ",", "'a'", ":", "[", "1e999", "]", "}"])
@example(["["] * 150 + ["]"] * 150)
@example(["[", "true", "]"])
def test_a_literal_is_read_as_python_reads_it(parts: list[str]) -> None:
    text = "".join(parts).strip()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError):
        value = _NOTHING
    found = _literal(text)
    if isinstance(value, (list, dict)) or found is not _NOTHING:
        assert repr(found) == repr(value)
