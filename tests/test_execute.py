"""Running plans: order, arguments, outputs, failures, retries, recording; the same inline and in workers."""

import inspect
import json
import math
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.base.errors import ExecutionError
from planner_eval.execution.bind import CallFailed
from planner_eval.execution.core import follow_path
from planner_eval.execution.program import Options, compile_plan
from planner_eval.execution.record import record_lines
from planner_eval.execution.run import execute_many, execute_plan
from planner_eval.execution.sandbox.job import CallSettings, Program, Step
from planner_eval.execution.sandbox.sandbox import Sandbox
from planner_eval.execution.sandbox.wire import Opaque, decode, encode
from planner_eval.execution.tool_sources import tool_source
from planner_eval.execution.trace import Trace
from planner_eval.plan.model import Call, Plan, Ref, Template, Unresolved, references
from tests.conftest import tabled, tables, text_case

TABLES = tables(__file__)

TOOLS = text_case("test_execute-TOOLS.txt")


@pytest.fixture(scope="module")
def tools_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("tools") / "tools.py"
    path.write_text(TOOLS)
    return str(path)


@pytest.fixture(scope="module", params=["inline", "process", "strict"])
def box(request: pytest.FixtureRequest, tools_file: str) -> Iterator[Sandbox]:
    sys.modules.pop("tools", None)  # another test's, run inline: this file would be tools_ beside it
    with Sandbox(tool_source(tools_file), level=request.param, jobs=1) as sandbox:
        try:
            execute_plan(Plan((Call("a", "search", (("city", "Rome"),)),)), sandbox)
        except ExecutionError as error:
            pytest.skip(f"isolation: {error}")
        yield sandbox


def plan(*calls: tuple[Any, ...]) -> Plan:
    """A plan from (name, arguments) pairs; ids are c0, c1 …"""
    return Plan(tuple(Call(f"c{i}", name, tuple(given.items())) for i, (name, given) in enumerate(calls)))


def run(box: Any, *calls: tuple[Any, ...], **options: Any) -> Trace:
    return execute_plan(plan(*calls), box, options=Options(**options))


def value(box: Sandbox, name: str, /, **arguments: Any) -> Any:
    trace = execute_plan(plan((name, arguments)), box)
    assert trace.ok, trace
    return trace.result


def failure(box: Sandbox, name: str, /, **arguments: Any) -> str:
    trace = execute_plan(plan((name, arguments)), box)
    assert trace.calls[0].status == "failed"
    return str(trace.calls[0].error)


def test_references_lead_into_results(box: Sandbox) -> None:
    found = run(
        box,
        ("search", {"city": "Rome"}),
        ("book", {"name": Ref(0, ("hotels", 0, "name")), "nights": Ref(0, ("count",))}),
        ("book", {"name": Template(("the ", Ref(0, ("hotels", "0", "name")), "!"))}),
        ("anything", {"all": [Ref(0, ("count",)), {"inner": Ref(1)}], "whole": Ref(0, ("output_0",))}),
    )
    whole = {"hotels": [{"name": "Rome Inn", "stars": 3}], "count": 1}
    assert found.ok
    assert [found[1].value, found["c2"].value] == ["booked Rome Inn for 1", "booked the Rome Inn! for 1"]
    assert found[3].value == [[], {"all": [1, {"inner": "booked Rome Inn for 1"}], "whole": whole}]


def test_outputs_are_keys_attributes_positions_or_declared_names(box: Sandbox) -> None:
    calls = ("split", {"text": "one two"}), ("room", {"number": 7}), ("later", {"value": 4})
    given = {"a": Ref(0, (1,)), "b": Ref(0, ("tail",)), "n": Ref(1, ("number",)), "x": Ref(2, ("result",))}
    found = run(box, *calls, ("anything", given), outputs={"split": ("head", "tail")})
    assert found[0].value == ("one", "two")
    assert isinstance(found[1].value, Opaque) or box.level == "inline"
    assert found[3].value == [[], {"a": "two", "b": "two", "n": 7, "x": 8}]


@tabled("path, message")
def test_an_output_that_is_not_there_fails_its_consumer(box: Sandbox, path: Any, message: str) -> None:
    found = run(box, ("search", {"city": "Rome"}), ("book", {"name": Ref(0, tuple(path))}))
    assert [call.status for call in found] == ["ok", "failed"]
    assert str(found[1].error) == f"no-such-output: {message}"


@pytest.mark.parametrize("name", ["result", "output", "output_0"])
def test_an_object_is_the_only_output_of_its_tool(name: str) -> None:
    rate = {"rate": 4, "of": "EUR"}
    assert follow_path(rate, [name], []) == follow_path(rate, [name], ["other"]) == rate
    assert follow_path(rate, [name, "of"], []) == "EUR"
    assert follow_path(rate, [name], ["rate"]) == 4
    assert follow_path({name: 1, "rate": 4}, [name], []) == 1
    for path, outputs in (([name], ["rate", "of"]), (["other"], ["other"])):
        with pytest.raises(CallFailed, match="dict has no"):
            follow_path(rate, path, outputs)


def test_private_attributes_are_no_outputs(box: Sandbox) -> None:
    found = run(box, ("room", {"number": 7}), ("book", {"name": Ref(0, ("_secret",))}))
    assert str(found[1].error).startswith("no-such-output")


def test_methods_and_what_python_gives_its_own_types_are_no_outputs() -> None:
    class Room(NamedTuple):
        number: int

        def open(self) -> str:
            return "opened"

    def take(value: Any) -> Any:
        return value

    tools = {"room": lambda: Room(7), "doors": lambda: {1, 2}, "four": lambda: 4, "take": take}
    wrong = ("room", "open"), ("room", "index"), ("doors", "pop"), ("doors", "add"), ("four", "real")
    for tool, path in wrong:
        found = run(tools, (tool, {}), ("take", {"value": Ref(0, (path,))}))
        assert str(found[1].error).startswith("no-such-output"), (tool, path)
    assert run(tools, ("room", {}), ("take", {"value": Ref(0, ("number",))})).result == 7


def test_asynchronous_tools_and_generators(box: Sandbox) -> None:
    assert value(box, "later", value=21) == 42
    assert value(box, "counting", up_to=3) == [0, 1, 2]
    assert value(box, "counting_later", up_to=3) == [0, 1, 2]
    assert failure(box, "for_ever").startswith("too-many-items")


def test_a_tool_that_changes_its_argument_changes_nobody_elses(box: Sandbox) -> None:
    written = ["a"]
    changes = [("change", {"items": items}) for items in (written, Ref(0))]
    found = run(box, *changes, ("anything", {"x": Ref(0)}))
    once = ["a", "changed"]
    assert [call.value for call in found] == [once, [*once, "changed"], [[], {"x": once}]]
    assert written == ["a"]


def test_a_failed_call_stops_only_its_descendants(box: Sandbox) -> None:
    books = [("book", {"name": Ref(at)}) for at in (0, 1)]
    found = run(box, ("fail", {}), *books, ("search", {"city": "Oslo"}))
    assert [call.status for call in found] == ["failed", "skipped", "skipped", "ok"]
    assert str(found[0].error) == "tools.py:40: ValueError: no luck"
    assert str(found[2].error) == "producer-failed: it needs c0 (fail), which returned no value"
    assert not found.ok
    assert [call.id for call in found.failed] == ["c0"]


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        *TABLES["what_went_wrong_is_said"],
        ("book", {"name": Unresolved("x")}, "unresolved: the plan has no call that returns 'x'"),
    ],
)
def test_what_went_wrong_is_said(box: Sandbox, name: str, arguments: dict[str, Any], message: str) -> None:
    assert failure(box, name, **arguments) == message


def test_an_argument_given_twice_fails(box: Sandbox) -> None:
    found = execute_plan(Plan((Call("a", "book", (("name", "x"), ("name", "y"))),)), box)
    assert str(found[0].error) == "repeated-argument: an argument is given twice: name, name"


def test_calls_in_a_cycle_fail_and_the_others_run(box: Sandbox) -> None:
    names: list[Any] = [Ref(1), Ref(0), Ref(0), "y", Ref(5), "x", Ref(6)]
    found = run(box, *(("book", {"name": name}) for name in names))
    assert [call.status for call in found] == ["failed", "failed", "skipped", "ok", "ok", "ok", "failed"]
    assert str(found[0].error) == "cycle: calls depend on one another: c0, c1, c6"


def test_arguments_by_name_and_by_position(box: Sandbox) -> None:
    assert value(box, "positions", b=2, a=1, c=3) == [1, 2, 3]
    assert value(box, "positions", arg_1=2, arg_0=1) == [1, 2, 0]
    assert value(box, "anything", arg_1=2, arg_0=1) == [[1, 2], {}]
    assert run(box, ("book", {"nights": "x", "name": 2}), binding="position").result == "booked x for 2"
    with pytest.raises(ExecutionError, match="by 'name' or by 'position', not 'size'"):
        run(box, ("search", {}), binding="size")


def test_calls_run_in_written_order_where_they_can() -> None:
    seen: list[str] = []
    tools = {name: (lambda n: lambda **given: seen.append(n))(name) for name in "abcd"}
    execute_plan(plan(("a", {"x": Ref(2)}), ("b", {}), ("c", {}), ("d", {"x": Ref(1)})), tools)
    assert seen == ["c", "a", "b", "d"]


def test_independent_calls_run_at_once_when_asked(tools_file: str) -> None:
    meetings = plan(*[("meet", {})] * 4, ("anything", {"x": Ref(3)}))
    for level in ("inline", "strict"):
        try:
            found = execute_plan(meetings, tools_file, isolation=level, options=Options(concurrency=4))
        except ExecutionError as error:
            pytest.skip(f"isolation: {error}")
        assert found.ok, found
        assert [call.id for call in found] == ["c0", "c1", "c2", "c3", "c4"]


def test_a_failing_call_is_tried_again() -> None:
    waited: list[float] = []

    def unsteady() -> str:
        waited.append(time.monotonic())
        if len(waited) < 3:
            raise ConnectionError("not yet")
        return "here"

    (found,) = run([unsteady], ("unsteady", {}), retries=3, backoff=0.02)
    assert (found.value, found.attempts) == ("here", 3)
    assert waited[1] - waited[0] >= 0.02
    assert waited[2] - waited[1] >= 0.04
    waited.clear()
    (given_up,) = run([unsteady], ("unsteady", {}), retries=1, backoff=0)
    assert str(given_up.error).endswith(": ConnectionError: not yet")
    assert given_up.attempts == 2
    assert run([unsteady], ("unsteady", {"x": 1}), retries=5)[0].attempts == 1, "the mistake is the plan's"


def test_a_plan_past_its_deadline_keeps_what_it_did(tools_file: str) -> None:
    then = ("nap", {"seconds": 60}), ("book", {"name": Ref(0, ("count",))})
    try:
        found = execute_plan(plan(("search", {"city": "Rome"}), *then), tools_file, timeout=0.5)
    except ExecutionError as error:
        pytest.skip(f"isolation: {error}")
    assert [call.status for call in found] == ["ok", "failed", "skipped"]
    assert str(found.ended) == str(found[1].error) == "timeout: stopped after 0.5 seconds"
    assert str(found[2].error) == "not-run: the run had ended"


def test_the_answer_is_filled_in(box: Sandbox) -> None:
    calls = plan(("search", {"city": "Rome"})).calls
    found: Any = {("hotels", 0, "name"): (("hotel", "Rome Inn"),), ("nowhere",): None}
    for path, answer in found.items():
        assert execute_plan(Plan(calls, answer=(("hotel", Ref(0, path)),)), box).answer == answer
    empty = execute_plan(Plan(), box)
    assert (empty.ok, empty.result) == (True, None)


def test_a_trace_is_json_data(box: Sandbox) -> None:
    found = execute_plan(plan(("split", {"text": "a b"}), ("fail", {}), ("room", {"number": 1})), box)
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["ok"] is False
    assert data["calls"][0]["value"] == {"~": "tuple", "v": ["a", "b"]}
    assert data["calls"][1]["error"] == {"kind": "ValueError", "message": "no luck", "place": "tools.py:40"}
    assert data["calls"][2]["value"]["type"] == "tools.Room"


def test_many_plans_come_back_in_order(box: Sandbox) -> None:
    plans = [plan(("book", {"name": str(n)})) for n in range(8)]
    assert next(iter(execute_many(plans, box))).result == "booked 0 for 1", "and half-way nothing is lost"
    assert [trace.result for trace in execute_many(plans, box)] == [f"booked {n} for 1" for n in range(8)]


def test_a_plan_that_nests_too_deeply_to_be_sent_is_a_row(box: Sandbox) -> None:
    deep: Any = "x"
    for _ in range(3000):
        deep = [deep]
    if box.level == "inline":
        return
    good = compile_plan(plan(("book", {"name": "y"})))
    program = Program(
        [Step("book", "book", [("name", ("value", deep))], [], [])], [[0]], [], "", CallSettings()
    )
    replies = list(box.map([good, program, good]))
    assert [reply.ended and reply.ended.kind for reply in replies] == [None, "unsendable", None]


def test_runs_may_be_nested_and_shared_between_threads(box: Sandbox) -> None:
    plans = [plan(("book", {"name": str(n)})) for n in range(5)]
    outer = []
    for trace in execute_many(plans, box):
        outer.append(trace.result)
        (inner,) = execute_many([plan(("book", {"name": f"inner {len(outer)}"}))], box)
        assert inner.result == f"booked inner {len(outer)} for 1"
    assert outer == [f"booked {n} for 1" for n in range(5)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda one: execute_plan(one, box).result, plans * 2)) == outer * 2


SHAPES = text_case("test_execute-SHAPES.txt")


def test_tools_are_found_in_many_shapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "shapes"
    package.mkdir()
    helper = "def twice(x):\n    return 2 * x\n"
    for name, text in (("__init__", ""), ("helper", helper), ("tools", SHAPES)):
        (package / f"{name}.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    double = plan(("double", {"x": 4}))
    for spec in ("shapes.tools", "shapes.tools:TABLE", "shapes.tools:LIST", "shapes.tools:double"):
        for level in ("process", "inline"):
            assert execute_plan(double, spec, isolation=level).result == 8, spec
    sold = Plan((Call("a", "sell", (("what", "tea"),), app="Shop"),))
    assert execute_plan(sold, "shapes.tools:TABLE", isolation="process").result == 1
    both = plan(("sell", {"what": "tea"}), ("sell", {"what": "jam"}))
    shop = execute_plan(both, "shapes.tools:Shop", isolation="process", options=Options(state=True))
    assert shop.state == ["tea", "jam"]


@tabled("spec, message")
def test_tools_that_are_not_there_are_said(spec: str, message: str) -> None:
    with pytest.raises(ExecutionError, match=message):
        execute_plan(plan(("x", {})), spec, isolation="process" if spec.startswith("os") else None)


@tabled("text, message")
@pytest.mark.parametrize("level", ["inline", "process", "strict"])
def test_a_file_that_does_not_load_is_said(tmp_path: Path, text: str, message: str, level: str) -> None:
    (tmp_path / "broken.py").write_text(text)
    with pytest.raises(ExecutionError, match=message):
        execute_plan(plan(("x", {})), str(tmp_path / "broken.py"), isolation=level)


def test_the_published_folder_gives_one_file_a_function(tmp_path: Path) -> None:
    count = "seen = []\ndef count(text):\n    seen.append(text)\n    return len(text.split()), len(seen)\n"
    shout = "def shout(text, times=1):\n    assert 'seen' not in globals()\n    return text.upper() * times\n"
    sqrt = "def sqrt(x, n=2):\n    return x ** (1 / n)\n"
    for number, text in enumerate((count, shout, sqrt)):
        (tmp_path / f"file_{number}.py").write_text(text)
    files = {"count": "file_0.py", "shout": "file_1", "sqrt": "file_2.py"}
    (tmp_path / "func_file_map.json").write_text(json.dumps(files))
    counts = [("count", {"text": text}) for text in (Ref(0, ("output_0",)), "c")]
    try:
        found = run(f"nestful:{tmp_path}", ("shout", {"text": "a b"}), *counts)
        assert [call.value for call in found] == ["A B", (2, 1), (1, 1)]
        assert run(f"nestful:{tmp_path}", ("sqrt", {"x": 16.0})).result == 4.0
        basic = "import math\ndef sqrt(num):\n    return math.isqrt(num)\n"
        (tmp_path / "basic_functions.py").write_text(basic)
        assert run(f"nestful:{tmp_path}", ("sqrt", {"arg_0": 17})).result == 4
    except ExecutionError as error:
        pytest.skip(f"isolation: {error}")


@tabled("text, message")
def test_a_function_map_that_is_wrong_is_said(tmp_path: Path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / "func_file_map.json").write_text(text)
    with pytest.raises(ExecutionError, match=message):
        tool_source(f"nestful:{tmp_path}")


@pytest.mark.parametrize("level", ["strict", "process", "inline"])
def test_a_package_is_named_by_its_file(level: str, tmp_path: Path) -> None:
    package = tmp_path / f"shop_{level}"
    package.mkdir()
    (package / "__init__.py").write_text("from .till import sell\nTOOLS = [sell]\n")
    (package / "till.py").write_text("def sell(what):\n    return f'sold {what}'\n")
    found = execute_plan(plan(("sell", {"what": "tea"})), f"{package}/__init__.py", isolation=level)
    assert found.result == "sold tea", found[0].error


def test_recorded_once_replayed_for_ever(tmp_path: Path, tools_file: str) -> None:
    then = ("split", {"text": "a b"}), ("fail", {}), ("book", {"name": Ref(2)})
    calls = plan(("search", {"city": "Rome"}), *then)
    first = execute_plan(calls, tools_file, isolation="process", options=Options(arguments=True))
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(record_lines(first, compile_plan(calls))) + "\n")
    again = execute_plan(calls, f"recorded:{path}")
    assert again.isolation == "inline"
    assert essence(again) == essence(first)
    other = run(f"recorded:{path}", ("search", {"city": "Oslo"}))
    assert str(other[0].error) == "not-recorded: no call of 'search' with these arguments in this plan"
    assert str(run(f"recorded:{path}", ("later", {"value": 1}))[0].error).startswith("not-recorded")


class Bank:
    """Tools whose answers depend on what was called before, and that count how often they were."""

    calls = 0

    def __init__(self) -> None:
        self.held = 100

    def deposit(self, amount: int, into: Any = None) -> int:
        Bank.calls += 1
        self.held += amount
        return self.held

    def balance(self) -> int:
        Bank.calls += 1
        return self.held


BEFORE, AFTER = plan(("balance", {})), plan(("deposit", {"amount": 50}), ("balance", {}))


def test_a_plan_gets_the_answers_that_were_recorded_for_it(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    tools = tmp_path / "bank.py"
    tools.write_text(f"import itertools\n\n{inspect.getsource(Bank)}".replace(": Any", ""))
    live = [pe.execute(one, f"{tools}:Bank", record=path).result for one in (BEFORE, AFTER, BEFORE)]
    assert live == [100, 150, 100]
    again = list(execute_many([AFTER, BEFORE, AFTER], f"recorded:{path}"))
    assert [trace.result for trace in again] == [150, 100, 150]
    twice = execute_plan(plan(("balance", {}), ("balance", {})), f"recorded:{path}")
    assert [call.error and call.error.kind for call in twice] == ["not-recorded"] * 2


def test_what_was_recorded_and_what_runs_never_mix(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    pe.execute(AFTER, Bank, isolation="inline", record=path)
    longer = plan(("deposit", {"amount": 50}), ("deposit", {"amount": 1}), ("balance", {}))
    Bank.calls = 0
    assert pe.execute(longer, Bank, isolation="inline", record=path).result % 50 == 1
    assert Bank.calls == 3, "the whole plan runs, for the tools must know of its first call"
    Bank.calls = 0
    assert pe.execute(AFTER, Bank, isolation="inline", record=path).ok
    assert Bank.calls == 0
    written = ('{"amount": 1, "into": {"b": 1, "a": [2]}}', '{"into": {"a": [2.0], "b": 1.0}, "amount": 1.0}')
    first, same = (pe.parse(f'[{{"name": "deposit", "arguments": {given}}}]') for given in written)
    pe.execute(first, Bank, isolation="inline", record=path)
    assert execute_plan(same, f"recorded:{path}").ok, "known by its calls whatever their writing"


def test_answers_for_any_plan_hold_where_they_are_one(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    line = {"tool": "next", "arguments": {}}
    path.write_text("\n".join(json.dumps({**line, "value": 1}) for _ in range(2)))
    assert [call.value for call in run(f"recorded:{path}", *[("next", {})] * 3)] == [1, 1, 1]
    path.write_text("\n".join(json.dumps({**line, "value": n}) for n in range(2)))
    (other,) = run(f"recorded:{path}", ("next", {}))
    said = "the recorded outputs of 'next' with these arguments differ, and none names its plan"
    assert said in str(other.error)


@pytest.mark.parametrize(("line", "said"), [
    *TABLES["a_record_that_is_none_is_said_with_its_line"],
    ('{"tool": "x", "arguments": {}, "value": ' + "[" * 5000, "the text nests"),
])  # fmt: skip
def test_a_record_that_is_none_is_said_with_its_line(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "answers.jsonl").write_text('{"tool": "x", "arguments": {}, "value": 1}\n\n' + line)
    with pytest.raises(ExecutionError, match=r"answers\.jsonl, line 3") as error:
        tool_source(f"recorded:{tmp_path / 'answers.jsonl'}")
    assert said in str(error.value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=4)
        | st.tuples(inner, inner)
    ),
    max_leaves=20,
)


@given(json_values | st.complex_numbers(allow_nan=False) | st.binary() | st.frozensets(st.integers()))
def test_what_is_written_is_read_again(item: Any) -> None:
    text = encode(item)
    assert "\n" not in text
    again = decode(json.loads(text))
    assert again == item
    assert type(again) is type(item)


@given(json_values, st.integers(0, 60))
def test_the_text_of_a_value_is_bounded(item: Any, budget: int) -> None:
    text = encode(item, budget)
    assert len(text) <= budget or isinstance(decode(json.loads(text)), Opaque)


def test_special_values() -> None:
    ring: list[Any] = []
    ring.append(ring)
    long = "a text of 100 characters, more than the output limit"
    assert math.isnan(decode(json.loads(encode(float("nan")))))  # type: ignore[arg-type]
    assert decode(json.loads(encode(10**6000))) == 10**6000
    assert decode(json.loads(encode(ring))) == Opaque("list", "nests deeper than 100 levels")
    assert decode(json.loads(encode("x" * 100, 50))) == Opaque("str", long)
    assert decode(json.loads(encode(["x" * 30] * 2, 50))) == Opaque("list", "larger than the output limit")
    box = Opaque("shop.Box", "<shop.Box object>")
    assert decode(json.loads(encode([box, {"in": (box,)}]))) == [box, {"in": (box,)}], "as what it was"
    assert f"{[box]} {Opaque('T', 'a' + chr(10))}" == r"[<shop.Box object>] <T> a\n"


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Acyclic plans over five arithmetic tools, some calls failing."""
    names = ("add", "divide", "floor", "max_number", "unknown")
    calls = []
    for position in range(draw(st.integers(0, 7))):
        leaf = st.integers(-3, 3)
        if position:
            leaf = leaf | st.builds(Ref, st.integers(0, position - 1))
        given = draw(st.dictionaries(st.sampled_from(["arg_0", "arg_1"]), leaf | st.lists(leaf, max_size=2)))
        calls.append(Call(f"c{position}", draw(st.sampled_from(names)), tuple(given.items())))
    return Plan(tuple(calls))


def essence(trace: Trace) -> list[tuple[Any, ...]]:
    return [(call.id, call.status, call.value, call.error) for call in trace]


@given(plans())
def test_concurrent_calls_give_what_single_ones_give(one: Plan) -> None:
    alone = execute_plan(one, "nestful", isolation="inline")
    together = execute_plan(one, "nestful", isolation="inline", options=Options(concurrency=3))
    assert essence(alone) == essence(together)


@given(plans())
def test_every_call_is_accounted_for_and_failures_spread_only_forward(one: Plan) -> None:
    trace = execute_plan(one, "nestful", isolation="inline")
    assert [call.id for call in trace] == [call.id for call in one.calls]
    for call, written in zip(trace, one.calls, strict=True):
        found = (ref for _, item in written.arguments for _, ref in references(item))
        needs = all(trace[ref.call].status == "ok" for ref in found if isinstance(ref, Ref))
        assert needs == (call.status != "skipped")
