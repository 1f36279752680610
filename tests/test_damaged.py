"""Damaged text is read in a time that grows as the text does, and in memory that is of the plan's order."""

from __future__ import annotations

import gc
import json
import re
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from planner_eval.base import jsontext
from planner_eval.base.errors import LimitError, ParseError
from planner_eval.base.limits import Limits
from planner_eval.base.quoted import TEXT, Branch, matches
from planner_eval.dialects import blocks, cut, extent, python_calls, python_parts, repair
from planner_eval.dialects.cut import left_open
from planner_eval.dialects.extent import tokens
from planner_eval.dialects.python_calls import read_calls
from planner_eval.dialects.read import parse
from tests.memory import measured, measures
from tests.performance.damaged import STEEPEST, WORST

HEADERS = "<start_of_turn>model\n" * 50_000 + "f(a=1)"


@pytest.mark.more
@measures
@pytest.mark.parametrize("mended", [(), ("--repair",)])
def test_what_a_token_limit_cuts_is_not_read_over_and_over(tmp_path: Path, mended: tuple[str, ...]) -> None:
    """Three seconds of the processor's; each quote cost the rest of its text, which came to minutes."""
    texts = [case.text(100_000) for case in (*WORST, *STEEPEST)] + [
        '{"a":"' + '\\"' * 50_000,
        HEADERS,
        "f(a=1)",
    ]
    file = tmp_path / "outputs.jsonl"
    file.write_text("".join(json.dumps({"id": at, "output": text}) + "\n" for at, text in enumerate(texts)))
    done, _ = measured("parse", str(file), *mended, seconds=30)
    assert done.returncode == 1, done.stderr[-300:]
    assert f"{len(texts)} plans: " in done.stderr


@measures
@pytest.mark.parametrize("before", ["", '{"id": "a", "plan": []},'])
def test_a_file_that_is_cut_inside_a_text_of_json_is_cut_into_records_once(
    tmp_path: Path, before: str
) -> None:
    """Each escaped quote cost the rest of the file: 250 kB took minutes before a plan was read."""
    file = tmp_path / "plan.txt"
    rows = '{\\"a\\": \\"x\\"},' * 14_000
    file.write_text(f'[{before}{{"name":"f","arguments":"{{\\"rows\\": [{rows}')
    done, _ = measured("parse", str(file), seconds=10)
    assert done.returncode in (1, 3), done.stderr[-300:]
    assert "cut" in done.stderr + done.stdout


@pytest.mark.more
@measures
def test_a_plan_of_many_lines_takes_no_thousandfold_memory(tmp_path: Path) -> None:
    """The tree of 250 kB of calls alone took more than is allowed here."""
    file = tmp_path / "plan.txt"
    file.write_text("f(a=1)\n" * 36_000)
    done, peak = measured("convert", str(file), "--to", "pythonic")
    assert done.returncode == 0, done.stderr[-300:]
    assert done.stdout.count("f(a=1)") == 36_000
    assert 0 < peak < 180


@pytest.mark.parametrize(
    "text", ["f(a=1)\n", "f(a=1)", "x = 'y'\nf(a=1)\n", "[f(a=1), g()]", "f(a=-1.5, b='c')"]
)
def test_long_flat_calls_read_as_short_ones(text: str) -> None:
    """Above a size the grammar reads what ast.parse reads below it: to the same calls in the same places."""
    short = parse(text)
    long = (
        parse(f"{text.rstrip()}\n" + "g(b=2)\n" * 4_000)
        if "[" not in text
        else parse(text.replace("]", ", g(b=2)" * 4_000 + "]"))
    )
    assert long.calls[: len(short.calls)] == short.calls
    assert len(long.calls) == len(short.calls) + 4_000


def test_calls_of_all_blocks_count_towards_the_limit() -> None:
    text = "".join(f"```\nf(a={at})\n```\nand\n" for at in range(20))
    assert len(parse(text, limits=Limits(calls=20))) == 20
    with pytest.raises(Exception, match="more calls than the limit of 19"):
        parse(text, limits=Limits(calls=19))


_NAIVE = re.compile(
    r"""(?P<text>"(?:[^"\\]++|\\.)*+")|(?P<single>'(?:[^'\\]++|\\.)*+')|(?P<mark>[\[\]])""", re.S
)
_BRANCHES = (TEXT, Branch("single", r"'(?:[^'\\]++|\\.)*+'", "'"), Branch("mark", r"[\[\]]"))


def test_quotes_that_are_tried_once_find_what_a_plain_search_finds() -> None:
    random = Random(5)
    for _ in range(5_000):
        text = "".join(random.choices("\"'\\[] x\n", k=random.randrange(24)))
        found = [(m.lastgroup, m.span()) for m in matches(_BRANCHES, text)]
        assert found == [(m.lastgroup, m.span()) for m in _NAIVE.finditer(text)], text


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
    random = Random(8)
    found = []
    texts = [
        "".join(random.choices('""\'\\[[]]{{}}(),,: \nax1', k=random.randrange(40))) for _ in range(6_000)
    ]
    rows = [{"id": at, "a": [{"b": "x, {y"}, [at, None]], "c": {}} for at in range(3)]
    texts += [json.dumps(rows)[:end] + more for end in range(1, 150) for more in ("", "}", "]", ", {", "'")]
    for slowly in (False, True):
        if slowly:
            for module in (extent, cut, repair):
                monkeypatch.setattr(
                    module, "tokens", lambda text, start, stop, whole=0: tokens(text, start, stop)
                )
            monkeypatch.setattr(repair, "_LOOSE", repair._LOOSE[1:])
        found.append(
            [
                (
                    extent.extent(text, 0),
                    cut.left_open(text),
                    cut._whole_items(text, 0),
                    repair._brackets(text),
                    repair._loose_json(text),
                )
                for text in texts
            ]
        )
    assert found[0] == found[1]


@pytest.mark.more
@measures
def test_brackets_without_end_cost_no_more_than_the_limit_is_worth(tmp_path: Path) -> None:
    """A place of each bracket was kept, or a value made of each pair: up to 1.8 GB and forty seconds."""
    half = 3_000_000
    texts = ("f(" * half, "[" * half + "]" * half, "{}" * half, "[]\n" * half, "f() " * half)
    for text in texts:
        file = tmp_path / "plans.jsonl"
        file.write_text(json.dumps({"id": 1, "output": text}) + "\n")
        done, peak = measured("parse", str(file), seconds=8)
        assert done.returncode, text[:9]
        assert "limit of" in done.stdout or "deeper than 200" in done.stdout, (text[:9], done.stdout[:200])
        assert 0 < peak < 100 + len(text) / 2e5, text[:9]


_NODES = ", ".join(['{"task": "a"}'] * 600_000)
MANY = {
    "names": '{"API": ["' + '", "'.join(["abcdef"] * 1_000_000) + '"], "parameters": []}',
    "parameters": '{"API": ["a"], "parameters": [' + ", ".join(["{}"] * 2_000_000) + "]}",
    "nodes": f'{{"task_nodes": [{_NODES}], "task_links": []}}',
    "nodes in a fence": f'```json\n{{"task_steps": ["a"], "task_nodes": [{_NODES}]}}\n```',
}


@pytest.mark.more
@measures
@pytest.mark.parametrize("name", MANY)
def test_names_and_nodes_are_counted_before_data_is_made_of_all(name: str, tmp_path: Path) -> None:
    """All were decoded first, which took 160 to 280 MB."""
    file = tmp_path / "plan.txt"
    file.write_text(MANY[name])
    done, peak = measured("parse", str(file), seconds=10)
    assert done.returncode == 3
    assert "more calls than the limit of 100,000" in done.stdout + done.stderr
    assert 0 < peak < 30 + 40 + len(MANY[name]) // 10**6


@pytest.mark.more
@measures
@pytest.mark.parametrize(
    ("line", "at", "most"), [("and then we do it!", 0, 100), ("and so on!", 70_000, 230), (")", 0, 100)]
)
def test_too_many_lines_around_a_broken_one_cost_no_more_than_the_limit_is_worth(
    line: str, at: int, most: int, tmp_path: Path
) -> None:
    """All were read before they were counted, which took 270 to 310 MB and ten seconds."""
    lines = ["f(a=1)"] * 140_000
    lines[at] = line
    file = tmp_path / "plan.txt"
    file.write_text("\n".join(lines))
    done, peak = measured("parse", str(file), seconds=15)
    assert done.returncode == 3
    assert "more calls than the limit of 100,000" in done.stdout
    assert 0 < peak < most


@pytest.mark.more
@measures
def test_links_are_counted_before_data_is_made_of_all(tmp_path: Path) -> None:
    """Three million took 278 MB."""
    file = tmp_path / "plan.txt"
    file.write_text('{"task_nodes": [{"task": "a"}], "task_links": [' + ", ".join(["{}"] * 3_000_000) + "]}")
    done, peak = measured("parse", str(file), seconds=10)
    assert done.returncode == 3
    assert "more links than 300,000" in done.stdout
    assert 0 < peak < 100


@pytest.mark.parametrize("text", ["f()" * 30, "f(a=1)\n" * 5 + "and so on!\n" + "f(a=1)\n" * 5])
def test_calls_of_one_text_are_counted_as_they_are_read(text: str) -> None:
    with pytest.raises(LimitError, match="more calls than the limit of 9"):
        parse(text, limits=Limits(calls=9))


def test_links_may_be_more_than_calls() -> None:
    graph = {"task_nodes": [{"task": name} for name in "abc"], "task_links": []}
    links = [{"source": a, "target": b} for a, b in ("ab", "bc", "ac")]
    assert len(parse(json.dumps(graph | {"task_links": links}), limits=Limits(calls=3)).edges) == 3


def test_empty_objects_are_not_looked_at_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten megabytes of them took eight seconds."""
    expected = parse("[{}, {}]").diagnostics
    monkeypatch.delattr(blocks, "detect_data")
    assert parse("[" + ", ".join(["{}"] * 9) + "]").diagnostics == expected


def test_a_long_list_of_calls_is_placed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What only counts the parts of a list moves no nodes; who looks for texts in it reads none anew."""
    made, moved = [], []
    move, read = python_parts._move, python_parts.parsed
    monkeypatch.setattr(python_parts, "_move", lambda *of: (moved.append(1), move(*of)))
    monkeypatch.setattr(python_parts, "parsed", lambda text: (made.append(1), read(text))[1])
    text = "[" + ", ".join(["f(a=1)"] * 30_000) + "]"
    plan = parse(text)
    assert (len(plan), plan.calls[-1].span) == (30_000, (len(text) - 7, len(text) - 1))
    parts = len(text) // python_parts.python_cuts.PART + 1
    assert 0 < len(moved) < parts
    assert len(made) < 2.5 * parts


@pytest.mark.parametrize("lines", [9_000, 18_000])
def test_of_long_broken_lines_the_grammar_reads_what_is_broken(
    lines: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where that was too long to be parsed at once it read all from the beginning, which doubled the time."""
    read: list[str] = []
    run = python_calls.grammar.run
    monkeypatch.setattr(python_calls.grammar, "run", lambda *of: (read.append(of[1]), run(*of))[1])
    text = "find(a=1)\n" * lines + "find(a=" + "\\" * 20 * lines
    with pytest.raises(ParseError, match="found '") as error:
        read_calls(text, Limits())
    assert error.value.offset == text.index("\\")
    assert [len(part) < len(text) - 8 * lines for part in read] == [True]


def test_too_many_brackets_that_something_closes_are_no_cut() -> None:
    """With 100,000 a text that is broken was said to be cut off at its end, and read twice."""
    many = cut.DEEP + 2
    assert len(left_open("[" * many)) == many - 1
    assert left_open("[" * many + "}") == left_open("[}") == []


def test_nodes_that_are_a_value_are_no_calls() -> None:
    limits = Limits(calls=3)
    plot = {"name": "plot", "arguments": {"nodes": [{"id": at} for at in range(9)]}}
    assert len(parse(json.dumps([plot]), limits=limits)) == 1
    few = {"task_nodes": [{"task": "f", "arguments": []}] * 3, "task_links": []}
    assert len(parse(json.dumps(few), limits=limits)) == 3


def test_a_quick_look_at_depth_passes_nothing_that_is_too_deep(monkeypatch: pytest.MonkeyPatch) -> None:
    random, passed = Random(7), 0
    for _ in range(5_000):
        text, most = "".join(random.choices('[]{}"\\xé\0', k=random.randrange(22))), random.randrange(6)
        if jsontext._nests_little(text, most):
            passed += 1
            with monkeypatch.context() as slowly:
                slowly.setattr(jsontext, "_nests_little", lambda *_: False)
                jsontext.check_depth(text, Limits(depth=most))
    assert passed > 500


@pytest.mark.more
@measures
@pytest.mark.parametrize("line", ["f(class=1)", "  f(a=1)"])
def test_a_listing_takes_no_more_memory_where_a_line_is_broken(line: str, tmp_path: Path) -> None:
    """The text was searched twice, the second time beside the plan, which alone takes 82 MB."""
    lines = ["f(a=1)"] * 90_000
    lines[45_000] = line
    file = tmp_path / "plan.txt"
    file.write_text("\n".join(lines))
    done, peak = measured("parse", str(file), seconds=20)
    assert done.returncode == 0
    assert done.stdout.count("  f  a=1") >= 89_999
    assert 0 < peak < 30 + 1.5 * 82 + 40


@pytest.mark.parametrize(
    "text",
    [
        "[f(a=1), g(b=2",
        "[{'name': 'f', 'arguments': {'a': 1}}]",
        "f(a=1) and g(b=2",
        "[f(a=x y)]",
        "[f\\_x(a=1)]",
        'Sure:\n[{"name": "f", "arguments": {"a": 1}]\n',
        "```js\nconst x = await f({a: 1);\n```",
        "<<function>>f(a=1",
    ],
)
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


@pytest.mark.parametrize("text", ["['find(shop='Tea & Co'", "['f(a='x y')"])
def test_what_repair_puts_in_at_the_end_has_no_place_after_it(text: str) -> None:
    (call,) = parse(text, repair=True).calls
    assert call.span is not None
    assert call.span[1] == len(text)
    assert all(start <= end <= len(text) for start, end in call.spans)
