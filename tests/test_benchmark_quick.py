"""Quick ways say what the long ones say: plain lines, gold repeated, rows when asked, literals, YAML."""

import ast
import json
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from random import Random
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.base.errors import ParseError
from planner_eval.base.json_text import dump_indented
from planner_eval.base.limits import DEFAULT_LIMITS, UNEXPLAINED_LIMITS
from planner_eval.benchmarks import nestful
from planner_eval.benchmarks.appbench import reading
from planner_eval.benchmarks.callnavi.reading import _NO_VALUE, _read_api_yaml, _read_literal, _yaml_loader
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.functionchat.reading import plain_calls
from planner_eval.benchmarks.nestful.official_metrics import mean
from planner_eval.benchmarks.nestful.reading import read_gold, read_prediction
from planner_eval.benchmarks.paired import match_calls
from planner_eval.benchmarks.report import Figure, SampleScore, report_data
from planner_eval.comparison.matching.align import match
from planner_eval.plan.canonical import outline, same
from planner_eval.plan.model import Call
from planner_eval.reading.dialects.finding import find as search
from planner_eval.reading.dialects.read import parse, unlinked
from tests.conftest import tabled, tables

TABLES = tables(__file__)

CALL = {"name": "add", "label": "$var_1", "arguments": {"arg_0": 1, "arg_1": 2}}
MODEL = "DeepSeek-V3"


@tabled("text")
def test_plain_lines_are_read_as_the_notation_reads_them(text: str) -> None:
    quick = reading._plain_answer(text)
    assert quick == reading.normalize_plan(parse(text, dialect="appbench"))
    assert quick is not None
    pairs = [line.strip().removesuffix("]").split(": [") for line in text.split("\n")]
    record = {"used_app": [app for app, _ in pairs], "api_results": [call for _, call in pairs]}
    assert reading.read_gold(record) == reading.normalize_plan(parse(record, dialect="appbench"))


@tabled("text")
def test_all_other_lines_are_left_to_the_notation(text: str) -> None:
    assert reading._plain_answer(text) is None


@pytest.mark.parametrize("change", [
    {"arg_0": True}, {"arg_0": 1.0}, {"arg_0": "1"}, {"arg_0": "$var_0.result"}, {"arg_0": [1, {"a": None}]},
    {},
])  # fmt: skip
def test_an_answer_of_plain_calls_means_what_its_notation_means(change: dict[str, Any]) -> None:
    first = {"name": "sub", "label": "$var_0", "arguments": {"arg_0": 1}}
    wanted = [first, CALL | {"arguments": CALL["arguments"] | change}]  # type: ignore[operator]
    for calls in (wanted, [first, CALL], wanted[::-1]):
        text = json.dumps(calls)
        assert read_prediction(f"\n{text}", MODEL) == read_prediction(text, MODEL)
    twice = json.dumps([CALL]).replace('"arg_0": 1', '"arg_0": 7, "arg_0": 1')
    plan = read_prediction(twice, MODEL).plan
    assert [name for name, _ in plan.calls[0].arguments] == ["arg_0", "arg_0", "arg_1"]


def test_means_are_numpys_to_the_last_digit() -> None:
    for size in (*range(1, 300), 1_000, 1_031, 4_096, 20_003):
        values = [float(value) for value in np.random.default_rng(size).random(size)]
        assert mean(values) == float(np.array(values).mean())


def test_gold_that_cannot_be_read_is_a_row_that_says_so() -> None:
    with pytest.raises(ParseError):
        read_gold([5])
    report = nestful.score_corrected([(Sample("a", gold=[5]), json.dumps([5]))])
    assert report.rows[0].error == "gold: parse.shape"


@tabled("pred, gold")
def test_calls_that_stand_for_one_another_are_those_of_the_alignment(pred: str, gold: str) -> None:
    ours, theirs = (parse(text, dialect="appbench") if text else parse("[]") for text in (pred, gold))
    whole = match(ours, theirs)
    found = match_calls(ours, theirs)
    assert (found is None) == (whole.pairing is None)
    alike = [(p, g) for p, g in whole.alignment.pairs if ours.calls[p].name == theirs.calls[g].name]
    assert found is None or [(one.pred, one.gold) for one in found] == alike


LINES = ("Hotels: [h = find(#city='Rome', #n=2)]", "book(#hotel=h, #days=['a', b])", "A: []", "x, y = f()")
CALLS = (json.dumps([CALL]), json.dumps([CALL, CALL], indent=1), f"So:\n```json\n{json.dumps([CALL])}\n```")
MARKS = [*"[]()#'\"=,:{}\n \t\\", "```", "01", "9" * 5000]


@given(
    st.lists(st.sampled_from(LINES), min_size=1, max_size=3).map("\n".join) | st.sampled_from(CALLS),
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 3), st.sampled_from(["", *MARKS])), max_size=3),
)
@example("x = f(#a=[1])", [])
@example("A: []\nB: [f()]", [])
@example(CALLS[0], [(30, 500, "")])
def test_a_refusal_that_is_not_explained_is_one(text: str, edits: list[tuple[int, int, str]]) -> None:
    for at, gone, put in edits:
        text = text[:at] + put + text[at + gone :]
    dialect = "nestful" if "label" in text else "appbench"
    found: list[Any] = []
    for limits in (DEFAULT_LIMITS, UNEXPLAINED_LIMITS):
        try:
            found.append(parse(text, dialect=dialect, limits=limits))
        except ParseError as problem:
            found.append(problem.code if dialect == "nestful" else "refused")
    assert found[0] == found[1]


def test_rows_that_are_counted_alike_share_their_figures_and_are_written_alike() -> None:
    other = [CALL | {"label": "$var_9"}, CALL]
    answers = [json.dumps([CALL]), "[", json.dumps([CALL]), json.dumps(other)]
    records = [(Sample(f"{at}", gold=[CALL]), text) for at, text in enumerate(answers)]
    for report in (nestful.score_corrected(records), nestful.score_official(records)):
        first, second, third, _ = (row.figures for row in report.rows)
        assert first is third
        assert first != second
        data = asdict(report) | {"rows": list(map(asdict, report.rows))}
        assert dump_indented(report_data(report)) == json.dumps(data, ensure_ascii=False, indent=1)
    plain = SampleScore("a", True, (Figure("win", 1.0),), "x")  # a row is the same when it is made when asked
    made = SampleScore.counted("a", True, lambda: iter([Figure("win", 1.0)]), "x")
    assert (made, asdict(made)) == (plain, asdict(plain))


@pytest.mark.parametrize("data", [{
    "a": [1, 2.5, True, None, 'ü"\n\u2028', [], {}, {"b": ()}], "c": {"d": float("inf")},
}, [], "x", [[[{}]], (1, (2,))]])  # fmt: skip
def test_indented_is_what_json_writes(data: Any) -> None:
    assert dump_indented(data) == json.dumps(data, ensure_ascii=False, indent=1)


PLAN_TEXTS = TABLES["PLAN_TEXTS"]
PIECES = (*"[]{}()'\",:\n\\#", "```", "1", ".0", "None", "$v1.x$", "a")


def damaged(text: str, random: Random) -> str:
    """A text with up to three pieces of it dropped or put in."""
    for _ in range(random.randint(0, 3)):
        at = random.randrange(len(text) + 1)
        text = text[:at] + (text[at + 1 :] if random.random() < 0.5 else random.choice(PIECES) + text[at:])
    return text


def test_what_is_beyond_repair_is_refused_with_repair() -> None:
    random, beyond = Random(1), 0
    for at in range(3_000):
        text = damaged(PLAN_TEXTS[at % len(PLAN_TEXTS)], random)
        try:
            pe.parse(text)
        except ParseError as error:
            if error.beyond_repair:
                beyond += 1
                with pytest.raises(ParseError):
                    pe.parse(text, repair=True)
    assert beyond > 50


def test_texts_are_the_same_where_their_linked_plans_are() -> None:
    random = Random(2)
    found = [0, 0]
    for at in range(1_500):
        ours, theirs = (damaged(PLAN_TEXTS[at % len(PLAN_TEXTS)], random) for _ in range(2))
        try:
            wanted: object = same(pe.parse(ours), pe.parse(theirs))
            found[bool(wanted)] += 1
        except ParseError as error:
            wanted = str(error)
        try:
            given: object = pe.same(ours, theirs)
        except ParseError as error:
            given = str(error)
        assert given == wanted, (ours, theirs)
    assert min(found) > 25
    for value in ("1.5", "[1]", "1e999", "9" * 30):  # which only linking judges: no outline holds it
        assert outline(unlinked(f'[{{"name": "f", "arguments": {{"a": {value}}}}}]').raw) is None
    with pytest.raises(ParseError, match=r"outside ±1\.8e308"):
        pe.same('[{"name": "f", "arguments": {"a": 1e999}}]', '[{"name": "g", "arguments": {}}]')


def test_why_a_notation_was_taken_is_kept() -> None:
    """The listing searched each text again to say it, a third of its time; it says what that search would."""
    find, random, known = search.find_plan, Random(3), 0
    for at in range(600):
        text = damaged(PLAN_TEXTS[at % len(PLAN_TEXTS)], random)
        for repair in (False, True):
            with suppress(ParseError):
                plan = pe.parse(text, repair=repair)
                known += plan.reason is not None
                mended = any(note.code.startswith("repair.") for note in plan.diagnostics)
                if plan.reason is not None and plan.calls:
                    assert plan.reason == find(text, DEFAULT_LIMITS, repair=mended).raw.reason, text
    assert known > 300


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


TOKENS = TABLES["TOKENS"]
tokens = st.lists(st.sampled_from(TOKENS), max_size=12).map(lambda found: "".join(found).strip())


@given(tokens)
@example("\ufeffAPI:\n- a")
@example("Here: it is\nAPI: [a]\nparameters: [{}]")
@example('{"API": [a]} # as asked')
def test_a_yaml_text_that_is_not_read_holds_no_api(text: str) -> None:
    value = _read_api_yaml(text)
    if value is _NO_VALUE:
        try:
            value = yaml.safe_load(text)
            held = isinstance(value, dict) and "API" in value and json.dumps(value, default=str) != ""
        except (yaml.YAMLError, ValueError, TypeError, AttributeError, KeyError, IndexError):
            held = False
        assert not held or "&" in text  # an alias may refer to what it stands in
    else:
        assert "API" in value


WRITTEN = TABLES["WRITTEN"]


@given(st.lists(st.sampled_from(WRITTEN), max_size=12).map("".join))
@example("API: [a]\nparameters:\n- {day: 2024-05-01, at: 1:30, n: 0x1f}")
@example("{a:[a:b]}")
@example('{"a":1? 1:30}')
@example("!")
@example("[" * 400 + "]" * 400)
@example("- " * 400 + "a")
def test_yaml_read_in_c_is_what_is_read_in_python(text: str) -> None:
    found = []
    for loader in (_yaml_loader(text), yaml.SafeLoader):
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
        value = _NO_VALUE
    found = _read_literal(text)
    if isinstance(value, (list, dict)) or found is not _NO_VALUE:
        assert repr(found) == repr(value)
