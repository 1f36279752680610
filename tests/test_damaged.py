"""Damaged text is read in a time that grows as the text does, and in memory that is of the plan's order."""

import gc
import json
import re
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from planner_eval.base import json_text
from planner_eval.base.errors import LimitError, ParseError
from planner_eval.base.limits import Limits
from planner_eval.base.text import JSON_STRING, Branch, find_matches
from planner_eval.reading.dialects import repairs
from planner_eval.reading.dialects.finding import cut_texts, edited_text, pieces
from planner_eval.reading.dialects.finding.cut_texts import open_brackets
from planner_eval.reading.dialects.finding.edited_text import tokens
from planner_eval.reading.dialects.read import parse
from tests.conftest import tabled
from tests.memory import measured, measures


@measures
@pytest.mark.parametrize("before", ["", '{"id": "a", "plan": []},'])
def test_a_file_that_is_cut_inside_a_text_of_json_is_read_once(tmp_path: Path, before: str) -> None:
    """Each escaped quote cost the rest of the file: 250 kB took minutes before a plan was read."""
    rows = '{\\"a\\": \\"x\\"},' * 14_000
    (tmp_path / "plan.txt").write_text(f'[{before}{{"name":"f","arguments":"{{\\"rows\\": [{rows}')
    done, _ = measured("parse", str(tmp_path / "plan.txt"), seconds=10)
    assert done.returncode in (1, 3), done.stderr[-300:]
    assert "cut" in done.stderr + done.stdout


@pytest.mark.parametrize("text", ["f(a=1)", "x = 'y'\nf(a=1)\n", "[f(a=1), g()]", "f(a=-1.5, b='c')"])
def test_long_flat_calls_read_as_short_ones(text: str) -> None:
    short = parse(text)
    more = (
        text.replace("]", ", g(b=2)" * 4_000 + "]")
        if "[" in text
        else f"{text.rstrip()}\n" + "g(b=2)\n" * 4_000
    )
    long = parse(more)
    assert long.calls[: len(short.calls)] == short.calls
    assert len(long.calls) == len(short.calls) + 4_000


@tabled("text, calls")
def test_calls_are_counted_as_they_are_read_and_nothing_else_is(text: str, calls: int | None) -> None:
    """Those of all blocks; links, and nodes that are a value, are no calls."""
    assert calls is None or len(parse(text, limits=Limits(calls=calls))) == calls
    with pytest.raises(LimitError, match="more calls than the limit of"):
        parse(text, limits=Limits(calls=9 if calls is None else calls - 1))


_OLD = re.compile(r"""(?s)(?P<text>"(?:[^"\\]++|\\.)*+")|(?P<single>'(?:[^'\\]++|\\.)*+')|(?P<mark>[\[\]])""")
_BRANCHES = (JSON_STRING, Branch("single", r"'(?:[^'\\]++|\\.)*+'", "'"), Branch("mark", r"[\[\]]"))


def test_quotes_that_are_tried_once_find_what_a_plain_search_finds() -> None:
    random = Random(5)
    for _ in range(5_000):
        text = "".join(random.choices("\"'\\[] x\n", k=random.randrange(24)))
        found = [(m.lastgroup, m.span()) for m in find_matches(_BRANCHES, text)]
        assert found == [(m.lastgroup, m.span()) for m in _OLD.finditer(text)], text


_TOKEN = re.compile(
    r"""(?P<open>[\[{(])|(?P<close>[\]})])"""
    r"""|(?P<text>\"(?:[^"\\]++|\\.)*+\"|'(?:[^'\\\n]++|\\.|'(?!\s*+(?:[,)\]}:]|\Z|\n)))*+')|(?P<quote>["'])""",
    re.S,
)
_PLAIN = re.compile(
    r"""(?P<open>[\[{(])|(?P<close>[\]})])|(?P<text>\"(?:[^"\\]++|\\.)*+\")|(?P<quote>["])|(?P<line>\n)""",
    re.S,
)


def naive(text: str) -> list[tuple[str | None, tuple[int, int]]]:
    """The tokens of a text, each quote tried anew."""
    pattern, at, found = _TOKEN, 0, []
    while match := pattern.search(text, at):
        at = match.end()
        if match.lastgroup == "line":
            pattern = _TOKEN
        elif match.group() == "'" and match.lastgroup == "quote":
            pattern = _PLAIN
        else:
            found.append((match.lastgroup, match.span()))
    return found


def test_brackets_and_texts_are_those_of_a_plain_search() -> None:
    random = Random(6)
    for _ in range(5_000):
        text = "".join(random.choices("\"'\\[)},x\n", k=random.randrange(24)))
        assert [(m.lastgroup, m.span()) for m in tokens(text, 0, len(text))] == naive(text), text


def test_pieces_taken_whole_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where brackets end, what stays open, what is mended: as where each bracket is a token of its own."""

    def found(text: str) -> tuple[Any, ...]:
        open_ones = (
            edited_text.extent(text, 0),
            cut_texts.open_brackets(text),
            cut_texts._close_after_last_item(text, 0),
        )
        return (*open_ones, repairs._repair_brackets(text), repairs._repair_loose_json(text))

    random = Random(8)
    texts = ["".join(random.choices('""\'\\[[]]{{}}(),: \nax1', k=random.randrange(40))) for _ in range(6000)]
    rows = json.dumps([{"id": at, "a": [{"b": "x, {y"}, [at, None]], "c": {}} for at in range(3)])
    texts += [rows[:end] + more for end in range(1, 150) for more in ("", "}", "]", ", {", "'")]
    quick = [found(text) for text in texts]
    for module in (edited_text, cut_texts, repairs):
        monkeypatch.setattr(module, "tokens", lambda text, start, stop, levels=0: tokens(text, start, stop))
    monkeypatch.setattr(repairs, "_LOOSE_JSON_TOKENS", repairs._LOOSE_JSON_TOKENS[1:])
    assert [found(text) for text in texts] == quick


def lines_with(line: str, at: int, count: int) -> str:
    lines = ["f(a=1)"] * count
    lines[at] = line
    return "\n".join(lines)


NODES = ", ".join(['{"task": "a"}'] * 600_000)
CALLS, HALF = "more calls than the limit of 100,000", 3_000_000
MANY: dict[str, tuple[str, float, str]] = {
    "names": ('{"API": ["' + '", "'.join(["abcdef"] * 1_000_000) + '"], "parameters": []}', 80, CALLS),
    "nodes": (f'{{"task_nodes": [{NODES}], "task_links": []}}', 79, CALLS),
    "links": ('{"task_nodes": [{"task": "a"}], "task_links": [' + ", ".join(["{}"] * 3_000_000) + "]}", 100,
              "more links than 300,000"),
    "a broken first line": (lines_with("and then we do it!", 0, 140_000), 100, CALLS),
    "a broken line inside": (lines_with("and so on!", 70_000, 140_000), 230, CALLS),
    "a keyword": (lines_with("f(class=1)", 45_000, 90_000), 193, "  f  a=1"),
    "calls in calls": ("f(" * HALF, 130, "deeper than 200"),
    "lists in lists": ("[" * HALF + "]" * HALF, 130, "deeper than 200"),
}  # fmt: skip


@pytest.mark.more
@measures
@pytest.mark.parametrize("name", MANY)
def test_too_much_costs_no_more_than_the_limit_is_worth(name: str, tmp_path: Path) -> None:
    """All were read or decoded before they were counted, which took up to 1.8 GB and forty seconds."""
    text, most, said = MANY[name]
    (tmp_path / "plan.txt").write_text(text)
    done, peak = measured("parse", str(tmp_path / "plan.txt"), seconds=20)
    assert said in done.stdout + done.stderr, (done.stdout[:200], done.stderr[-200:])
    assert 0 < peak < most


def test_empty_objects_are_not_looked_at_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten megabytes of them took eight seconds."""
    expected = parse("[{}, {}]").diagnostics
    monkeypatch.delattr(pieces, "detect_data")
    assert parse("[" + ", ".join(["{}"] * 9) + "]").diagnostics == expected


def test_too_many_brackets_that_something_closes_are_no_cut() -> None:
    """With 100,000 a text that is broken was said to be cut off at its end, and read twice."""
    many = cut_texts.MAX_BRACKET_DEPTH + 2
    assert len(open_brackets("[" * many)) == many - 1
    assert open_brackets("[" * many + "}") == open_brackets("[}") == []


def test_a_quick_look_at_depth_passes_nothing_that_is_too_deep(monkeypatch: pytest.MonkeyPatch) -> None:
    random, passed = Random(7), 0
    for _ in range(5_000):
        text, most = "".join(random.choices('[]{}"\\xé\0', k=random.randrange(22))), random.randrange(6)
        if json_text._is_surely_shallow(text, most):
            passed += 1
            with monkeypatch.context() as slowly:
                slowly.setattr(json_text, "_is_surely_shallow", lambda *_: False)
                json_text.check_depth(text, Limits(depth=most))
    assert passed > 500


@tabled("text")
def test_what_a_refused_text_took_is_freed_without_looking_for_garbage(text: str) -> None:
    """The error's frames held what held the error; to find that took a twelfth of a run over such texts."""

    def refused() -> None:
        with suppress(ParseError):
            raise AssertionError(parse(text))

    refused()  # what is made once stays
    gc.collect()
    gc.disable()
    try:
        refused()
        assert gc.collect() == 0
    finally:
        gc.enable()
