"""Laws of reading: only our own errors, equal fast and slow paths, nothing evaluated."""

import importlib
import json
import os
import pkgutil
import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import planner_eval.base
import planner_eval.plan
from planner_eval.base.errors import ParseError, PlanevalError
from planner_eval.base.grammar import find_json_error
from planner_eval.base.json_places import scan_values
from planner_eval.base.json_text import TERMINAL_WORDS, LocatedValue, ObjectSpans, loads, parse_located
from planner_eval.base.limits import Limits
from planner_eval.plan.model import RawCall
from planner_eval.reading import dialects
from planner_eval.reading.dialects.finding.edited_text import TextEdit, TextView
from planner_eval.reading.dialects.notations.appbench import read_fast
from planner_eval.reading.dialects.notations.appbench import read_grammar as appbench_grammar
from planner_eval.reading.dialects.notations.framed import named_terminals, run_row_grammar, token_pattern
from planner_eval.reading.dialects.notations.framed import terminals as section_terminals
from planner_eval.reading.dialects.programs.python_ast import follow
from planner_eval.reading.dialects.programs.python_calls import read_grammar
from planner_eval.reading.dialects.programs.syntax import parse_syntax
from planner_eval.reading.dialects.read import parse, write
from planner_eval.reading.dialects.repairs import repairs
from planner_eval.reading.dialects.table import table
from tests.conftest import examples, tables
from tests.fuzz import PIECES, once, seeds

TABLES = tables(__file__)

LIMITS = Limits()
SEEDS = seeds()


def damaged(texts: st.SearchStrategy[str], pieces: list[str], longest: int) -> st.SearchStrategy[str]:
    """Texts in which a piece stands in the place of some characters."""

    def change(text: str, at: int, piece: str, cut: int) -> str:
        at %= len(text) + 1
        return text[:at] + piece + text[at + cut :]

    return st.builds(change, texts, st.integers(0, 10_000), st.sampled_from(pieces), st.integers(0, longest))


broken = damaged(st.sampled_from(SEEDS), [*PIECES, ""], 12)
json_seeds = st.sampled_from([s for s in SEEDS if s.lstrip()[:1] in ("[", "{")])
noise = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=12)), max_size=14).map("".join)
texts = st.text(st.characters(codec="utf-8"), max_size=12)
numbers = st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False, width=32)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6,
)  # fmt: skip
names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
arguments = st.dictionaries(names.map(lambda n: f"p_{n}"), values, max_size=3)
calls = st.lists(
    st.builds(lambda name, given: {"name": f"t_{name}", "arguments": given}, names, arguments),
    min_size=1, max_size=4,
)  # fmt: skip


@examples(400)
@given(st.one_of(noise, broken, st.text(max_size=60)))
def test_parse_raises_nothing_but_our_errors(text: str) -> None:
    once(text)


@examples(150)
@given(st.sampled_from(dialects.names()), st.one_of(noise, broken), values)
def test_a_named_dialect_and_data_raise_nothing_but_our_errors(name: str, text: str, data: object) -> None:
    for repair in (False, True):
        with suppress(PlanevalError):
            parse(text, dialect=name, repair=repair)
    with suppress(PlanevalError):
        parse(data)


def plain(found: tuple[RawCall, ...]) -> list[tuple[object, ...]]:
    return [(call.app, call.name, call.arguments, call.returns) for call in found]


@examples(150)
@example(source=[{"name": "f", "arguments": {"a": {"0=": "", "b": ["c=", ""]}}}])
@given(calls)
def test_pythonic_text_reads_alike_by_ast_and_by_the_grammar(source: list[dict[str, object]]) -> None:
    for dialect in ("pythonic", "code"):
        text = write(parse(source, dialect="json"), dialect)
        tree = parse_syntax(text)
        assert tree is not None
        assert not isinstance(tree, SyntaxError)
        fast, slow = follow(tree, text).calls, read_grammar(text).calls
        assert plain(fast) == plain(slow)
        assert [c.span for c in fast] == [c.span for c in slow]


@examples(100)
@given(calls)
def test_sections_and_names_read_alike_by_hand_and_by_the_grammar(source: list[dict[str, object]]) -> None:
    plan = parse(source, dialect="json")
    for name in ("hermes", "mistral", "granite-20b", "cohere", "minimax-m1"):
        row = table()[name]
        text = "text " + write(plan, name)
        found = [value for section in run_row_grammar(row, text, section_terminals(row)) for value in section]
        data = [places_free(value) for value in found]
        ours = dialects.get("json").read_data(data, LIMITS, None)  # type: ignore[misc]
        assert plain(ours.calls) == plain(dialects.get(name).read(text, LIMITS).calls)
    for name in ("mistral-v11", "harmony", "functionary-v3.1"):
        row = table()[name]
        text = write(plan, name)
        entries = run_row_grammar(row, text, named_terminals(row))
        read = [(call.name, call.arguments) for call in dialects.get(name).read(text, LIMITS).calls]
        assert [(n, tuple(places_free(v).items())) for n, v in entries] == read


json_texts = st.builds(
    lambda found, between, indent: between.join(json.dumps(value, indent=indent) for value in found),
    st.lists(st.one_of(values, st.floats()), max_size=3), st.sampled_from([" ", "\n", "", ",", "]"]),
    st.sampled_from([None, 1]),
)  # fmt: skip


@examples(300)
@given(st.one_of(json_seeds, broken, json_texts))
@example("0.0null")
@example("null0")
@example("[1, 2]3.")
def test_json_and_its_places_read_alike_by_hand_and_by_the_grammar(text: str) -> None:
    try:
        wanted = parse_located(text)
    except ParseError:
        assert scan_values(text) is None
        with pytest.raises(ParseError):
            loads(text, LIMITS)
        return
    found = scan_values(text)
    assert found is not None
    assert placed_free(found) == placed_free(wanted)
    with suppress(ParseError):
        assert repr(ObjectSpans(wanted).values) == repr(loads(text, LIMITS))


MARKS = ["", "{", "[", "]", "}", ",", ":", '"', "'", "1", "-", "null", "nul", "@", "\u2003", "\\"]


def places_free(located: object) -> object:
    return ObjectSpans([located]).values[0]  # type: ignore[list-item]


def placed_free(located: object) -> object:
    """A located value with all of its places, as plain data."""
    if isinstance(located, LocatedValue):
        return located.span, located.is_object, placed_free(located.data)
    if isinstance(located, (list, tuple)):
        return [placed_free(item) for item in located]
    return repr(located)


@examples(600)
@given(damaged(json_texts | json_seeds, MARKS, 40))
def test_what_is_wrong_with_json_is_said_as_the_grammar_says_it(text: str) -> None:
    found = find_json_error(text, TERMINAL_WORDS, "json")
    if found is None:
        parse_located(text)
        return
    with pytest.raises(ParseError) as told:
        parse_located(text)
    assert (str(found), found.offset, found.code) == (str(told.value), told.value.offset, told.value.code)


SECTIONS = st.sampled_from(["hermes", "mistral", "granite-20b", "cohere", "internlm"])
TWICE = [{"name": "f", "arguments": {"a": [1, {"b": None}], "c": "x"}}] * 2


@examples(200)
@given(SECTIONS, st.integers(0, 90), st.sampled_from([*MARKS, "<", "</tool_call>"]), st.integers(0, 6))
def test_what_is_wrong_between_tokens_is_said_alike(name: str, at: int, piece: str, cut: int) -> None:
    row = table()[name]
    text = "text " + write(parse(TWICE), name)
    text = text[:at] + piece + text[at + cut :]
    opened = token_pattern(row.open).search(text)
    start = re.compile(r"\s*").match(text, opened.end()).end() if opened else 0  # type: ignore[union-attr]
    if opened is None or text[start : start + 1] not in ("{", "["):
        return
    found = find_json_error(text, TERMINAL_WORDS, name, start)
    if found is not None:
        with pytest.raises(ParseError) as told:
            run_row_grammar(row, text[opened.start() :], section_terminals(row))
        assert found.reason == told.value.reason
        assert found.offset == opened.start() + told.value.offset


EDITS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 5), st.text(max_size=4)), max_size=4)


@examples(300)
@example("App: [f(#a='#E1 = ', #b=c)]")
@given(st.one_of(broken, noise.map(lambda text: f"App: [f(#a='{text}', #b=c)]")))
def test_appbench_lines_read_alike_by_regex_and_by_the_grammar(text: str) -> None:
    fast = read_fast(text)
    if fast is not None:
        slow = appbench_grammar(text)
        assert plain(fast.calls) == plain(slow.calls)
        assert fast.notes == slow.notes


@examples(200)
@given(broken)
def test_a_repair_keeps_every_word_and_every_dollar_sign(text: str) -> None:
    if "\\" in text or "//" in text or "#" in text:
        return
    for repaired, _ in repairs(TextView(text)):
        assert repaired.text.count("$") == text.count("$")
        sides = (repaired.text.replace("\\n", "").replace("\\t", ""), text)
        told, kept = ("".join(re.findall(r"\w", side.lower())).replace("none", "null") for side in sides)
        assert told == kept


@given(st.text(max_size=40), EDITS)
def test_a_view_knows_where_its_characters_came_from(text: str, raw: list[tuple[int, int, str]]) -> None:
    edits, end = [], 0
    for at, size, new in sorted(raw):
        if end <= at and at + size <= len(text):
            edits.append(TextEdit(at, at + size, new))
            end = at + size + 1
    view = TextView(text).edit(edits)
    kept = [i for i in range(len(text)) if not any(e.start <= i < e.end for e in edits)]
    assert len(view.text) == len(kept) + sum(len(e.new) for e in edits)
    origins = [view.origin(i) for i in range(len(view.text))]
    same = [at < len(text) and text[at] == c for at, c in zip(origins, view.text, strict=True)]
    assert sum(same) >= len(kept)
    assert origins == sorted(origins)


LONG = [
    f"f(a={'-' * 90}x)", f"f(a={'+'.join(['x'] * 400)})", f"f(a={'x[' * 60}0{']' * 60})",
    f"f(a={'(' * 40}x{'.y+1)' * 40})", f"f(a={'[x for x in ' * 40}y{']' * 40})", f"f(a={'not ' * 90}x)",
    f"f(a={'g(b=' * 90}1{')' * 90})", f"f(a={'x if y else ' * 90}z)", f"f(a={'x and (' * 60}y{')' * 60})",
    "a = 1\n" + "a = a + a\n" * 60 + "f(b=a)", "a = f()\n" + "a = [a, a]\n" * 60 + "g(b=a)",
]  # fmt: skip


@pytest.mark.parametrize("text", LONG, ids=lambda text: text[:12])
def test_nested_expressions_take_no_exponential_time(text: str) -> None:
    once(text[:3_000])


ATTACKS = TABLES["ATTACKS"]


def _import_all() -> None:
    """What reading imports when it comes to it, for an import runs a module's code by the same functions."""
    for room in (planner_eval.base, planner_eval.plan, dialects):
        for found in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            importlib.import_module(found.name)
    for name in dialects.names():
        parse(dialects.get(name).example, dialect=name)


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_in_a_text_is_evaluated(attack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = tmp_path / "planner_eval_was_here"
    text = attack.format(mark)

    def refuse(*_args: object, **_options: object) -> None:
        raise AssertionError("something was evaluated")

    _import_all()
    for name in ("eval", "exec"):
        monkeypatch.setattr(f"builtins.{name}", refuse)
    monkeypatch.setattr(os, "system", refuse)
    for repair in (False, True):
        for name in (None, *dialects.names()):
            with suppress(PlanevalError):
                parse(text, dialect=name, repair=repair)
    assert not mark.exists()
