"""What happens at a limit and just past it, and what numbers come to."""

import itertools
import json
from pathlib import Path
from random import Random

import pytest

from planner_eval.base.errors import InputError, LimitError, ParseError
from planner_eval.base.limits import MAX_DIGITS
from planner_eval.comparison.diff import diff, diff_any
from planner_eval.comparison.explanation.names import MAX_VALUE_LENGTH, calls_name, value_name
from planner_eval.comparison.matching.align import MAX_TIES, align, match
from planner_eval.comparison.matching.replaced import MAX_HOLDERS
from planner_eval.comparison.metrics.edit_distance import MAX_CALLS, distance_of
from planner_eval.comparison.policy.policy import DEFAULT_POLICY, NO_TERMS, Terms
from planner_eval.plan.arithmetic import MAX_EXPRESSION_CHARS, MAX_EXPRESSION_DEPTH, MAX_NUMBER_BITS, compute
from planner_eval.plan.linking import MAX_DEPTH
from planner_eval.plan.model import Call, Plan, Ref
from planner_eval.reading.dialects.read import parse, write
from planner_eval.reading.files import fields
from planner_eval.reading.files.fields import HEAD_SIZE, choose_content, choose_id, table_rows
from planner_eval.reading.files.files import read_data, read_file, read_path
from planner_eval.reading.files.pairing import format_repeated_ids
from planner_eval.reading.files.record import Record
from tests.build import edges
from tests.conftest import tabled
from tests.inside import planeval


def calls(*given: tuple[str, dict[str, object]]) -> Plan:
    made = tuple(Call(f"c{at}", name, tuple(arguments.items())) for at, (name, arguments) in enumerate(given))
    return Plan(made, edges(made))


def expression(random: Random, depth: int) -> str:
    """An expression of small numbers in which every operator stands; no power of a power."""
    if not depth or random.random() < 0.2:
        return random.choice(("0", "1", "2", "3", "7", "10", "1_0", "0.5", "1.", ".25", "2e1", "5e-1"))
    kind, inner = random.randrange(8), expression(random, depth - 1)
    if kind == 0:
        return f"({inner})"
    if kind == 1:
        return f"{random.choice('+-')}{inner}"
    if kind == 2:
        base = random.choice(("2", "-3", "(1 - 4)", ".5", "0", "(0 - 8)"))
        return f"{base}**{random.choice(('2', '-1', '0', '.5', '-2'))}"
    space, between = random.choice(("", " ")), random.choice(("+", "-", "*", "/", "//", "%"))
    return f"{inner}{space}{between}{space}{expression(random, depth - 1)}"


def test_expressions_come_to_what_python_makes_of_them() -> None:
    random, known = Random(7), 0
    for _ in range(3_000):
        text = expression(random, 4)
        try:
            wanted = eval(text, {"__builtins__": {}})
        except (ZeroDivisionError, TypeError):  # the latter: a complex number cannot be divided with rest
            wanted = None
        found = compute(text)
        if "**.5" in text and (found is None or type(wanted) is complex):
            assert found is None, text  # a root of a negative number on the way
        else:
            assert (found, type(found)) == (wanted, type(wanted)), text
        known += found is not None
    assert known > 1_500


def test_expressions_at_their_limits() -> None:
    for text in ("1 +", "(1", "1)", "", "1 2", "()", "+", "**2", "x", "01", "1e999", "(2"):
        assert compute(text) is None
    assert compute("1".rjust(MAX_EXPRESSION_CHARS)) == 1
    assert compute("1".rjust(MAX_EXPRESSION_CHARS + 1)) is None
    for before, after in (("(", ")"), ("-", ""), ("", "**1")):
        assert compute(before * MAX_EXPRESSION_DEPTH + "1" + after * MAX_EXPRESSION_DEPTH) == 1
        assert compute(before * (MAX_EXPRESSION_DEPTH + 1) + "1" + after * (MAX_EXPRESSION_DEPTH + 1)) is None
    assert compute(f"2**{MAX_NUMBER_BITS - 1}") == 2 ** (MAX_NUMBER_BITS - 1)
    assert compute(f"1**{2 * MAX_NUMBER_BITS}") == 1
    assert compute("9" * (MAX_NUMBER_BITS // 4)) == int("9" * (MAX_NUMBER_BITS // 4))
    for text in (
        f"2**{MAX_NUMBER_BITS}",
        f"1**{2 * MAX_NUMBER_BITS + 1}",
        f"1**-{2 * MAX_NUMBER_BITS + 1}",
        "9" * (MAX_NUMBER_BITS // 3),
    ):
        assert compute(text) is None


@pytest.mark.parametrize("deep", [MAX_DEPTH + 2, 900, 5_000])  # a file's own list counts apart
@pytest.mark.parametrize(("before", "after"), [("", ""), ("```json\n", "\n```"), ('{"tool_calls": ', "}")])
def test_a_text_of_lists_in_lists_is_too_deep_and_not_without_calls(
    deep: int, before: str, after: str, tmp_path: Path
) -> None:
    file = tmp_path / "answer.txt"
    file.write_text(before + "[" * deep + "]" * deep + after)
    done = planeval("parse", str(file))
    assert (done.returncode, done.stderr.count("Traceback")) == (3, 0)
    assert f"nests deeper than {MAX_DEPTH} levels" in done.stdout + done.stderr
    if not before:
        file.write_text("[" * MAX_DEPTH + "]" * MAX_DEPTH)  # which holds no call
        done = planeval("parse", str(file), "--format", "json")
        assert json.loads(done.stdout)["plan"]["calls"] == []
        found = parse(json.dumps(["get__" * 5_000 + "!", "f(a=1)"]))  # a name of many words is looked at once
        assert [call.name for call in found.calls] == ["f"]
        value = '[{"name": "f", "arguments": {"a": %s}}]'
        assert len(parse(value % ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)))) == 1
        with pytest.raises(LimitError):
            parse(value % ("[" * (MAX_DEPTH + 2) + "]" * (MAX_DEPTH + 2)))


def test_a_sentence_shows_a_value_of_its_width_in_full() -> None:
    whole, wide = "x" * (MAX_VALUE_LENGTH - 2), 2 * MAX_VALUE_LENGTH
    assert value_name(whole) == f'"{whole}"'
    assert value_name(whole + "x") != f'"{whole}x"'
    assert len(value_name(whole + "x")) <= MAX_VALUE_LENGTH
    assert calls_name(Plan((Call("a", "f" * (wide - 2)),))) == "f" * (wide - 2) + "()"
    assert len(calls_name(Plan((Call("a", "f" * (wide - 1)),)))) <= wide


def test_ties_are_weighed_up_to_their_limit() -> None:
    def plan(count: int, used: int) -> Plan:
        return calls(*(("roll", {}) for _ in range(count)), ("show", {"x": Ref(used), "y": 1 + used}))

    for count in (MAX_TIES, MAX_TIES + 1):
        found = align(plan(count, 0), plan(count, 1))
        assert len(found.pairs) == count + 1
        assert found.proved is (count <= MAX_TIES)


def test_the_nearest_is_searched_for_up_to_the_most_calls() -> None:
    for count, exact in ((MAX_CALLS, True), (MAX_CALLS + 1, False)):
        pred, gold = (calls(*((f"f{at}", {}) for at in range(size))) for size in (count - 1, count))
        found = distance_of(match(pred, gold), timeout=20)
        assert (found.proved, found.value) == (exact, 1)
    pred, gold = (calls(("f", {"a": one}), ("g", {"x": Ref(0)})) for one in (1, 2))
    found = distance_of(match(pred, gold), timeout=0)  # without time it is that of the known pairing
    assert (found.value, found.proved) == (1, False)


def test_of_gold_plans_that_are_equally_near_the_first_is_taken() -> None:
    pred, *golds = (calls(("f", {"a": one})) for one in range(3))
    assert diff_any(pred, [(gold, NO_TERMS) for gold in golds]).number == 0


def test_what_too_many_share_is_no_evidence() -> None:
    def plan(count: int, name: str) -> Plan:
        others = ((f"other{at}", {}) for at in range(count))  # what most calls have is none in any case
        return calls(*((f"{name}{at}", {"x": "Rome"}) for at in range(count)), *others)

    gold = calls(("g", {"x": "Rome"}))
    assert align(plan(MAX_HOLDERS, "p"), gold).pairs == ((0, 0),)
    assert align(plan(MAX_HOLDERS + 1, "p"), gold).pairs == ()


def test_a_call_that_is_to_come_before_itself_is_not_misplaced() -> None:
    one = calls(("f", {}), ("g", {}))
    assert diff(one, one, DEFAULT_POLICY, Terms(before=(("c0", "c0"),))).same
    assert diff(one, one, DEFAULT_POLICY, Terms(before=(("c1", "c0"),))).same  # nor what gold itself breaks


def test_the_head_of_a_file_decides() -> None:
    def records(count: int) -> list[dict[str, object]]:
        return [{}] * count + [{"prediction": "f()", "idx": 1}]

    assert choose_content("p", records(HEAD_SIZE - 1)) == "prediction"
    assert choose_content("p", records(HEAD_SIZE)) is None
    assert choose_id(records(HEAD_SIZE - 1)) == "idx"
    assert choose_id(records(HEAD_SIZE)) is None


def test_one_piece_of_a_stream_is_a_record_and_two_are_none(tmp_path: Path) -> None:
    piece = {"object": "chat.completion.chunk", "choices": [{"delta": {"content": "f()"}}]}
    file = tmp_path / "pred.jsonl"
    file.write_text(json.dumps(piece) + "\n", "utf-8")
    assert len(read_file(str(file)).records) == 1
    file.write_text((json.dumps(piece) + "\n") * 2, "utf-8")
    with pytest.raises(InputError, match="pieces of a stream"):
        read_file(str(file))


def test_what_gives_records_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields, "MAX_ROWS", 3)
    assert table_rows(iter("abc")) == ["a", "b", "c"]
    with pytest.raises(InputError, match="more than 3 records"):
        table_rows(iter("abcd"))
    with pytest.raises(InputError, match="more than 3 records"):
        table_rows(itertools.count())


@tabled("field, value, said")
def test_a_field_that_is_empty_is_a_plan_only_where_calls_are_listed(
    field: str, value: object, said: str | None
) -> None:
    good = {"id": "b", field: [{"role": "assistant", "content": "f()"}]}
    record, _ = read_data([{"id": "a", field: value}, good], "p", role="answer").records
    assert (record.error is None) is (said is None)
    assert said is None or said in str(record.error)


def test_three_ids_are_named_and_three_repeats() -> None:
    records = [Record("p", at, f"q{at // 2}", "f()") for at in range(8)]
    assert len(format_repeated_ids(records[:6])) == 3
    assert format_repeated_ids(records)[3:] == ["… and 1 more records have the id of another"]


def test_two_stars_are_folders_at_any_depth(tmp_path: Path) -> None:
    for name in ("a.json", "one/b.json", "one/two/c.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("[]", "utf-8")
    assert [record.id for record in read_path(f"{tmp_path}/**/*.json").records] == ["a", "one/b", "one/two/c"]
    assert [record.id for record in read_path(f"{tmp_path}/*/*.json").records] == ["b"]


HEX = f"0x{'f' * 4_000}"
DIGITS = "9" * (MAX_DIGITS + 1)
DEEP = f"f(a={'[' * 100_000}{']' * 100_000})"
COMMANDS = (
    "parse {}", "convert {} --to json", "diff {} {}", "score {} {}", "compare {} {} --gold {}", "stats {}",
    "render {} --format text", "check {} --catalog {tools}", "execute {} --tools {tools}",
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.split()[0])
@pytest.mark.parametrize("text", [f"f(a={HEX})", DEEP], ids=["hex", "deep"])
@pytest.mark.parametrize("wrapped", [False, True], ids=["text", "records"])
def test_every_command_refuses_it_and_goes_on(command: str, text: str, wrapped: bool, tmp_path: Path) -> None:
    file, tools = tmp_path / ("plans.jsonl" if wrapped else "plans.txt"), tmp_path / "tools.py"
    tools.write_text('def f(a: int) -> int:\n    """F."""\n    return a\n', encoding="utf-8")
    records = [{"id": at, "prediction": one, "gold": one} for at, one in enumerate((text, "f(a=1)"), 1)]
    lines = "".join(f"{json.dumps(record)}\n" for record in records)
    file.write_text(lines if wrapped else text, encoding="utf-8")
    name, *argv = command.split()
    done = planeval(name, *(part.format(file, tools=tools) for part in argv))
    said = done.stdout + done.stderr
    assert "Traceback" not in said
    assert done.returncode in (0, 1, 3)
    expected = "nests deeper than 200 levels" if text is DEEP else "found an integer of more than 4,300"
    assert name == "compare" or expected in said or "unreadable" in said
    if name in ("parse", "convert", "diff", "stats", "render"):
        assert f"line 1, column {204 if text is DEEP else 5}: " in said


@pytest.mark.parametrize(("text", "line", "column"), [
    (f"f(a=-{HEX})", 1, 6), (f"f(a='\"', b={HEX}, c='\"')", 1, 12), (f"Sure:\n[f(b='x', a=[{HEX}])]", 2, 14),
    (f"f(a=0b{'1' * 20_000})", 1, 5), (f"f(a={'_'.join(['999'] * 2_000)})", 1, 5),
    (f"f(a={{{HEX}: 1}})", 1, 6), (f"x = f(a=1)\ny = g(b=x[{HEX}])", 2, 11),
    (f'Sure:\n[{{"name": "f", "arguments": {{"a": {DIGITS}}}}}]', 2, 35),
    (f"const x = await f({{a: {DIGITS}}});", 1, 23),
    (f"API:\n  - name: f\n    parameters:\n      a: {HEX}\n", 4, 10),
    (f"API:\n  - name: f\n    parameters:\n      a: {DIGITS}\n", 4, 10),
    (f'<tool_call>\n{{"name": "f", "arguments": {{"a": {DIGITS}}}}}\n</tool_call>', 2, 34),
    (f"<|tool_call>call:f{{a:{DIGITS}}}<tool_call|>", 1, 22), (f"1. f({HEX})\n2. g($1)", 1, 6),
    (f"Action 1: #E1 = f(a={HEX})\nAction 2: #E2 = g(b=#E1)", 1, 21),
    (f'Action: f\nAction Input: {{"a": {DIGITS}}}', 2, 21), (f"Call: f(x=g(a={HEX}), y=2)<bot_end>", 1, 15),
    (f"A: [x = f(#a={DIGITS})]", 1, 14), (f"A: [x = f(#a=[{DIGITS}])]", 1, 14),
], ids=range(19))  # fmt: skip
def test_each_notation_refuses_it_at_its_place(text: str, line: int, column: int) -> None:
    for repair in (False, True):
        with pytest.raises(ParseError) as caught:
            parse(text, repair=repair)
        assert (caught.value.line, caught.value.column) == (line, column), caught.value.reason
        assert "sys.set_int" not in caught.value.reason


def test_structure_with_it_is_refused() -> None:
    for value in (10**MAX_DIGITS, -(10**MAX_DIGITS), {"b": [1, 10**5_000]}):
        with pytest.raises(
            LimitError, match=r"argument 'a' of call 1 is an integer of more than 4,300 digits"
        ):
            parse([{"name": "f", "arguments": {"a": value}}])


def test_the_longest_integer_is_read_and_written() -> None:
    longest = 10**MAX_DIGITS - 1
    for text in (f"f(a={longest})", f"f(a=-{longest})", f"f(a={longest:#x})"):
        plan = parse(text)
        assert abs(plan.calls[0].arguments[0][1]) == longest  # type: ignore[arg-type]
        assert parse(write(plan, "json")).calls[0].arguments == plan.calls[0].arguments
    for text in (f"f(a='{HEX}')", json.dumps([{"name": "f", "arguments": {"a": HEX}}])):
        assert parse(text).calls[0].arguments == (("a", HEX),)  # a quoted one is text


def test_arithmetic_is_kept_as_written() -> None:
    for text in ("2**100000", "1<<999999", f"{'9' * 4_000}*{'9' * 4_000}", "True+1", "~5"):
        done = planeval("parse", "--format", "json", "-", text=f"f(a={text})")
        assert done.returncode == 0
        assert json.loads(done.stdout)["plan"]["calls"][0]["arguments"] == {"a": text}


@pytest.mark.parametrize(
    "tail",
    [
        "exit()\ng(a=1)",
        "d = 1\nd += 3\ng(a=d)",
        "for i in [1, 2]:\n    g(a=i)",
        "def h(q):\n    g(a=q)\nh(1)",
        "",
    ],
)
@pytest.mark.parametrize("form", ["{}", "Here:\n```python\n{}\n```\nDone."])
def test_a_program_that_is_too_long_to_be_followed_is_refused(form: str, tail: str) -> None:
    calls = "\n".join(f"x{i} = f(a={i}, b=[{i}, {i}, {i}])" for i in range(7500))
    text = form.format(f"{calls}\n{tail}")
    if tail:
        with pytest.raises(ParseError, match=r"longer than the limit|line 750[1-3]"):
            parse(text)
    else:
        assert len(parse(text).calls) == 7500
