"""Mends without gold: what is suggested, that it never makes a plan worse, and how it is written."""

import json
from collections import Counter
from pathlib import Path
from random import Random
from time import monotonic, process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.base.errors import InputError, JudgeError
from planner_eval.base.resources import folder
from planner_eval.benchmarks.benchmark import benchmark
from planner_eval.benchmarks.datasets.published import gold_plan
from planner_eval.benchmarks.judging import ScriptedJudge
from planner_eval.catalogs.catalog import Catalog, Parameter, Tool, Type
from planner_eval.curation.suggest.candidates import ToolIndex, name_similarity
from planner_eval.curation.suggest.faults import Fault, FaultKey, fault_key, find_faults
from planner_eval.curation.suggest.suggest import (
    MAX_FAULTS,
    PlanSuggestions,
    make_asker,
    rewrite_plan,
    search_suggestions,
)
from planner_eval.models.pipelines.pipeline import read_tools
from planner_eval.plan.model import Call, Plan, Ref, Unresolved
from tests.conftest import ROOT, examples, tabled, tables
from tests.inside import planeval
from tests.memory import slowness
from tests.modelserver import Answer, ModelServer, drip, message
from tests.plant_faults import planted

TABLES = tables(__file__)

RATES = str(ROOT / "data" / "catalogs" / "rates.json")
NUMBER, TEXT, WHOLE = Type(("number",)), Type(("string",)), Type(("integer",))


def count_faults(plan: Plan, faults: tuple[Fault, ...]) -> Counter[FaultKey]:
    return Counter(fault_key(plan, fault) for fault in faults)


def tool(name: str, *parameters: Parameter, returns: tuple[Parameter, ...] = (), **more: Any) -> Tool:
    made = Type(("object",), fields=returns, open=False) if returns else Type()
    return Tool(name, parameters=parameters, returns=made, **more)


CLASS = Parameter("class", Type(("string",), enum=("Economy", "First")), required=False)
LATE, DAY = Parameter("late", Type(("boolean",)), required=False), Type(("string",), format="date")
STARS, PRICE, AMOUNT = (
    Parameter("stars", WHOLE, False), Parameter("price", NUMBER), Parameter("amount", NUMBER),
)  # fmt: skip
HOTEL, CITY, BOOKING = (Parameter(name, TEXT) for name in ("hotel_id", "city", "booking"))
BOOKED = (HOTEL, CLASS, LATE, Parameter("day", DAY, required=False))
TOOLS = Catalog(
    (
        tool("search_hotel", CITY, STARS, returns=(HOTEL, PRICE)),
        tool("book_hotel", *BOOKED, returns=(BOOKING,)), tool("pay", AMOUNT, BOOKING, action=True),
    )
)  # fmt: skip


def call(id: str, name: str, **arguments: Any) -> Call:
    return Call(id, name, tuple((key.rstrip("_"), value) for key, value in arguments.items()))


def plan(*calls: Call) -> Plan:
    return rewrite_plan(Plan(calls), ()) or Plan()


RIGHT = plan(
    call("v1", "search_hotel", city="Rome"), call("v2", "book_hotel", hotel_id=Ref(0, ("hotel_id",))),
    call("v3", "pay", amount=Ref(0, ("price",)), booking=Ref(1, ("booking",))),
)  # fmt: skip


def first(made: Plan, **more: Any) -> PlanSuggestions:
    return pe.suggest(made, TOOLS, **more)


def test_a_right_plan_gets_nothing() -> None:
    found = first(RIGHT)
    assert (found.faults, found.operations, found.left) == ((), (), ())
    assert found.mended is RIGHT


FLIGHT = Parameter("flight_id", TEXT)
SEARCH = tool("search_flights", Parameter("origin", TEXT), returns=(FLIGHT,))
SEATS = Catalog((SEARCH, tool("select_seat", FLIGHT, Parameter("seat", TEXT)), tool("guess")))


@pytest.mark.parametrize("seat", ["c1", "c1.flight_id", "<c1>", "#1", "$1"])
def test_an_id_that_no_text_gives_is_named_by_none(seat: str) -> None:
    given = {"search_flights": {"origin": "Rome"}, "select_seat": {"flight_id": "AZ12", "seat": seat}}
    made = [{"name": name, "arguments": arguments} for name, arguments in given.items()]
    assert pe.suggest(json.dumps(made), SEATS).faults == ()


@tabled("label, seat, meant")
def test_a_text_names_an_output_only_where_it_is_marked(label: str, seat: str, meant: bool) -> None:
    select = call("z", "select_seat", flight_id="AZ12", seat=seat)
    made = plan(call(label, "search_flights", origin="Rome"), select)
    found = pe.suggest(made, SEATS)
    assert [one.fault.code for one in found.faults] == ["suggest.as_text"] * meant
    assert (found.mended == made) != meant
    undeclared = plan(call(label, "guess"), call("z", "select_seat", flight_id="AZ12", seat=f"{label}.pdf"))
    assert pe.suggest(undeclared, SEATS).faults == (), "a bare label with a way needs a declared output"


@pytest.mark.parametrize(("at", "changed", "says"), [
    (0, call("v1", "searchHotle", city="Rome"), "call search_hotel"),
    (0, call("v1", "find_hotel", city="Rome"), "call search_hotel"),
    (0, call("v1", "search_hotel", town="Rome"), "rename town to city"),
    (0, call("v1", "search_hotel", city=["Rome"]), 'set city = "Rome"'),
    (0, call("v1", "search_hotel", city={"value": "Rome"}), 'set city = "Rome"'),
    (1, call("v2", "book_hotel"), "give hotel_id = v1.hotel_id (search_hotel)"),
    (1, call("v2", "book_hotel", hotel_id=Unresolved("v9", ("hotel_id",))),
     "set hotel_id = v1.hotel_id (search_hotel)"),
    (1, call("v2", "book_hotel", hotel_id=Ref(0, ("id",))), "set hotel_id = v1.hotel_id (search_hotel)"),
    (1, call("v2", "book_hotel", hotel_id=Ref(1, ("hotel_id",))),
     "set hotel_id = v1.hotel_id (search_hotel)"),
    (1, call("v2", "book_hotel", hotel_id="$v1.hotel_id$"), "set hotel_id = v1.hotel_id (search_hotel)"),
    (2, call("v3", "pay", amount=Ref(1, ("booking",)), booking=Ref(1, ("booking",))),
     "set amount = v1.price (search_hotel)"),
])  # fmt: skip
def test_the_first_mend_of_one_fault_is_the_right_one(at: int, changed: Call, says: str) -> None:
    broken = plan(*RIGHT.calls[:at], changed, *RIGHT.calls[at + 1 :])
    found = first(broken, least=0)
    assert found.faults[0].suggestions[0].says == says
    assert pe.same(found.mended, RIGHT)
    assert pe.same(pe.apply(found.patch, broken), RIGHT)


@tabled("name, value, meant")
def test_values_are_read_as_what_they_may_mean(name: str, value: Any, meant: Any) -> None:
    hotel = (("hotel_id", Ref(0, ("hotel_id",))), (name, value))
    broken = plan(RIGHT.calls[0], Call("v2", "book_hotel", hotel), RIGHT.calls[2])
    mended = first(broken).mended
    assert dict(mended.calls[1].arguments)[name] == meant
    assert type(dict(mended.calls[1].arguments)[name]) is type(meant)


def test_a_call_before_its_producer_is_moved_and_nothing_else_changes() -> None:
    late = call("v2", "book_hotel", hotel_id=Ref(1, ("hotel_id",)))
    found = first(plan(late, call("v1", "search_hotel", city="Rome")))
    assert [one["op"] for one in found.operations] == ["order"]
    assert [each.name for each in found.mended.calls] == ["search_hotel", "book_hotel"]


def test_a_tool_is_mended_together_with_the_arguments_that_this_brings_to_light() -> None:
    found = first(plan(call("v1", "searchhotels", town="Rome", stars="4 stars")))
    assert found.left == ()
    assert dict(found.mended.calls[0].arguments) == {"city": "Rome", "stars": 4}
    says = found.faults[0].suggestions[0].says
    assert says.startswith("call search_hotel, rename town to city")


FROM, TO = Parameter("from", TEXT), Parameter("to", TEXT)
TRAINS, TAXIS = tool("find", FROM, TO, app="Trains"), tool("ride", TO, app="Taxis")
APPS = Catalog((tool("find", CITY, app="Hotels"), TRAINS, TAXIS))


@pytest.mark.parametrize(("text", "app"), [
    ("Trains: [find(#city='Rome')]", "Hotels"), ("Taxis: [find(#from='Rome', #to='Oslo')]", "Trains"),
    ("Hotels: [ride(#to='Rome')]", "Taxis"), ("Hotels: [find(#city='Rome')]\nride(#to='Oslo')", "Taxis"),
])  # fmt: skip
def test_an_app_wrong_or_left_out_is_the_one_that_offers_the_tool(text: str, app: str) -> None:
    found = pe.suggest(text, APPS)
    assert found.mended.calls[-1].app == app
    assert found.left == ()


def test_the_patch_takes_nothing_unlikely() -> None:
    catalog = Catalog((tool("f", Parameter("x", TEXT)),))
    found = pe.suggest(plan(call("a", "f")), catalog, query="Is it so in Rome or Oslo?")
    assert found.faults[0].suggestions[0].score < 0.6
    assert found.operations == ()
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        (TOOLS, {"least": 2}, "expected a number from 0 to 1"), (TOOLS, {"most": 0}, "most is 0"),
        (None, {}, "a plan and the catalog"),
    ]  # fmt: skip
    for tools, more, said in wrong:
        with pytest.raises(InputError, match=said):
            pe.suggest(RIGHT, tools, **more)


@tabled("query, name, meant")
def test_a_number_of_the_question_is_that_number_whole(query: str, name: str, meant: Any) -> None:
    found = pe.suggest(plan(call("a", "f")), Catalog((tool("f", Parameter(name, WHOLE)),)), query=query)
    assert dict(found.mended.calls[0].arguments).get(name) == (meant if found.operations else None)
    said = [one.operations[0]["value"] for each in found.faults for one in each.suggestions]
    assert (meant in said) if meant is not None else not found.operations


@tabled("text, about, meant")
def test_a_text_is_a_number_only_as_a_whole(text: Any, about: str, meant: int | None) -> None:
    kind = Catalog((tool("f", Parameter("x", WHOLE, description=about)),))
    found = pe.suggest(plan(call("a", "f", x=text)), kind, least=0)
    assert dict(found.mended.calls[0].arguments)["x"] == (text if meant is None else meant)


SEAT = Parameter("seat_class", Type(("string",), enum=("ECONOMY", "BUSINESS")), required=False)
REFUND = Parameter("refundable", Type(("boolean",)), required=False)
BOOK = Catalog((tool("book", SEAT, REFUND, Parameter("passengers", WHOLE)),))


def test_what_was_chosen_is_renamed_and_read_rather_than_left_out() -> None:
    right = {"seat_class": "BUSINESS", "refundable": True, "passengers": 3}
    for name in ("book", "bok"):
        broken = plan(call("a", name, seatClass="Business", refundible="yes", numPassengers="3"))
        found = pe.suggest(broken, BOOK, least=0)
        assert dict(found.mended.calls[0].arguments) == right
        if name == "book":
            said = [each.suggestions[0] for each in found.faults]
    assert 'rename seatClass to seat_class, set seat_class = "BUSINESS"' in [one.says for one in said]
    both = plan(call("a", "bok", seatClass="Business", numPassengers="3"))
    alone, together = (pe.suggest(one, BOOK).faults[0] for one in (plan(call("a", "bok", **right)), both))
    assert together.suggestions[0].score <= min(one.score for one in (*said, alone.suggestions[0]))


def test_two_misnamed_arguments_do_not_take_each_others_place() -> None:
    kind = Type(("string",), enum=("celsius", "fahrenheit"))
    weather = Catalog((tool("weather", Parameter("city", TEXT), Parameter("unit", kind)),))
    found = pe.suggest(plan(call("a", "weather", town="Rome", units="Celsius")), weather)
    assert dict(found.mended.calls[0].arguments) == {"city": "Rome", "unit": "celsius"}
    for each in found.faults:
        scores = [one.score for one in each.suggestions]
        assert scores == sorted(scores, reverse=True)


@tabled("names, parameters, first")
def test_where_names_say_nothing_places_are_followed(names: str, parameters: str, first: str) -> None:
    catalog = Catalog((tool("f", *(Parameter(name, TEXT) for name in parameters.split())),))
    found = pe.suggest(plan(call("a", "f", **dict.fromkeys(names.split(), "x"))), catalog)
    pairs = zip(found.faults, names.split(), strict=False)
    says = [each.suggestions[0].says.removeprefix(f"rename {name} to ") for each, name in pairs]
    assert says[: len(names.split())] == first.split()


def test_a_call_that_is_merely_written_later_is_what_is_meant() -> None:
    book, wanted = tool("book", FLIGHT, returns=(Parameter("done", TEXT),)), Ref(2, ("flight_id",))
    for search in (tool("search", returns=(FLIGHT,)), tool("search")):
        catalog = Catalog((book, search, tool("look"), tool("seek", returns=(FLIGHT,))))
        for other in ("look", "seek", "unheard_of"):
            made = plan(call("a", other), call("b", "book", flight_id=wanted), call("c", "search"))
            faults = {each.fault.code: each.suggestions for each in pe.suggest(made, catalog).faults}
            told = faults["reference.forward"]
            assert (told[0].operations[0]["op"], told[0].score) == ("order", 0.9)
            assert all(one.score < 0.6 for one in told[1:])
            said = any("has the requested output" in one.reason for one in told)
            assert said == (other == "seek")


def taking(
    kind: Type, value: Any, *before: Tool, required: bool = True, least: float = 0.6
) -> PlanSuggestions:
    """What is suggested for a tool of one argument; another tool may be called before."""
    calls = [call("a", one.name) for one in before]
    given = {} if value is None else {"x": value}
    catalog = Catalog((*before, tool("f", Parameter("x", kind, required=required))))
    return pe.suggest(plan(*calls, call("b", "f", **given)), catalog, least=least)


def test_a_result_that_merely_fits_is_not_taken() -> None:
    found = taking(TEXT, None, tool("g", returns=(Parameter("word", TEXT),)))
    best = found.faults[0].suggestions[0]
    assert (best.says, found.operations) == ("give x = a.word (g)", ())
    assert best.score < 0.6
    assert best.reason == "only the type matches, its result is otherwise unused"


def test_of_two_mends_as_likely_as_one_another_the_patch_takes_neither() -> None:
    found = taking(DAY, "03/04/2026", least=0)
    assert {one.operations[0]["value"] for one in found.faults[0].suggestions} == {"2026-03-04", "2026-04-03"}
    assert (found.faults[0].tied, found.operations) == (True, ())


def test_empty_lone_and_long_values() -> None:
    """An optional argument that says nothing is left out; of a long value the part that differs is told."""
    for empty in ("", " "):
        assert taking(WHOLE, empty, required=False).mended.calls[0].arguments == ()
    number = tool("g", returns=(Parameter("n", NUMBER),))
    alone = taking(Type(("array",), items=NUMBER), Ref(0, ("n",)), number)
    assert dict(alone.mended.calls[1].arguments) == {"x": [Ref(0, ("n",))]}
    long = taking(Type(("array",), items=WHOLE), [*range(50), "three"])
    assert long.faults[0].suggestions[0].says == "set x[50] = 3"
    trimmed = taking(Type(("string",), enum=("one", "two")), "one ").faults[0].suggestions[0]
    assert trimmed.reason == "the allowed value, without the space around it"
    for allowed, value in ((4, "4"), ("4", 4)):
        written = taking(Type(("string", "integer"), enum=(allowed,)), value).faults[0].suggestions[0]
        assert (written.reason, written.operations[0]["value"]) == (
            "the allowed value by what is written, not by type",
            allowed,
        )


@pytest.mark.parametrize(("answer", "says"), [
    ('{"argument": "a"}', None), ('{"argument": "b"}', "rename q to b"), ('{"value": "y"}', None),
])  # fmt: skip
def test_a_model_overwrites_nothing_that_is_right(answer: str, says: str | None) -> None:
    catalog = Catalog((tool("f", Parameter("a", NUMBER), Parameter("b", TEXT, required=False)),))
    broken = plan(Call("x", "f", (("a", 1), ("q", "zz"))))
    fault = find_faults(broken, catalog)[0]
    asked = make_asker(ScriptedJudge(lambda request: answer), ToolIndex(catalog))
    told = [one.says for one in asked(broken, fault)]
    assert [one for one in told if one.startswith("rename")] == [says] * (says is not None)
    made = [rewrite_plan(broken, one.operations) for one in asked(broken, fault)]
    assert all(each is not None and dict(each.calls[0].arguments)["a"] == 1 for each in made)


@pytest.mark.parametrize(("answer", "value"), [
    ('{"value": "h1"}', "h1"), ('```json\n{"value": "h1"}\n```', "h1"), ('{"value": 3}', None),
    ('{"value": {"$ref": "v7"}}', None), ('It is {"value": "h1"}', None), ('{"nothing": true}', None),
    ('{"value": "h1", "tool": "pay"}', None), ("[" * 5000, None), ('{"tool": 3}', None),
])  # fmt: skip
def test_what_a_model_says_is_read_strictly_and_tried(answer: str, value: Any) -> None:
    asked: list[Any] = []

    def say(request: Any) -> str:
        asked.append(request)
        return answer

    more: Any = {"query": "Book it", "judge": ScriptedJudge(say), "least": 0}
    found = pe.suggest(plan(call("v2", "book_hotel")), TOOLS, **more)
    if value is None:
        assert found.faults[0].suggestions == ()
    else:
        assert found.faults[0].suggestions[0].source == "model"
        assert dict(found.mended.calls[0].arguments) == {"hotel_id": value}
    assert len(asked) == 1
    assert "Book it" in asked[0].messages[1][1]


def test_a_model_is_asked_only_about_what_is_left_and_its_silence_is_no_error() -> None:
    def refuse(request: Any) -> str:
        raise JudgeError("no answer")

    assert pe.suggest("serch_hotel(#city='Rome')", TOOLS, judge=ScriptedJudge(refuse)).left == ()
    assert pe.suggest(plan(call("a", "book_hotel")), TOOLS, judge=ScriptedJudge(refuse)).operations == ()


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 9), st.lists(st.integers(0, 3), max_size=2),
    st.sampled_from(["Rome", "3", "yes", "$a.price$", "first", ""]),
    st.builds(Ref, st.integers(0, 3), st.sampled_from([(), ("price",), ("hotel_id",), ("prize",)])),
    st.builds(Unresolved, st.sampled_from(["a", "zz", "b"]), st.just(("price",))),
    st.dictionaries(st.sampled_from("xy"), st.integers(0, 3), max_size=2),
)  # fmt: skip
NAMES = st.sampled_from(["search_hotel", "book_hotel", "pay", "serch_hotel", "hotel", "xyzzy", ""])
GIVEN = st.sampled_from(["city", "hotel_id", "amount", "booking", "hotelId", "late", "day"])


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    given = st.lists(st.tuples(GIVEN, VALUES), max_size=4)
    calls = draw(st.lists(st.tuples(NAMES, given), min_size=4, max_size=5))
    return plan(*(Call(id, name, tuple(given)) for id, (name, given) in zip("abcde", calls, strict=False)))


@examples(60)
@given(plans(), st.sampled_from(["", "Two nights in Rome on 2024-05-01 for 30 dollars"]))
def test_no_suggestion_makes_a_plan_worse(drawn: Plan, query: str) -> None:
    def after(patch: dict[str, Any]) -> Counter[Any]:
        made = pe.apply(patch, drawn)
        assert isinstance(made, Plan)
        return count_faults(made, find_faults(made, TOOLS))

    before = count_faults(drawn, find_faults(drawn, TOOLS))
    found = first(drawn, query=query, least=0)
    assert count_faults(drawn, tuple(one.fault for one in found.faults)) == before
    if not before:
        assert found.operations == ()
    for one in (one for each in found.faults for one in each.suggestions):
        rest = after({"schema": "planeval.patch/1", "operations": list(one.operations)})
        assert not rest - before
        assert rest.total() < before.total()
        assert 0 < one.score <= 1
    left = after(found.patch)
    assert not left - before
    assert left == count_faults(found.mended, found.left)
    assert first(drawn, query=query, least=0) == found


@given(st.text(max_size=30), st.text(max_size=30))
def test_likeness_is_even_and_between_0_and_1(one: str, other: str) -> None:
    assert 0 <= name_similarity(one, other) <= 1
    assert name_similarity(one, one) == 1.0


@pytest.mark.more
def test_the_work_is_bounded_and_what_was_not_looked_at_is_said() -> None:
    many = Catalog(tuple(tool(f"get_item_number_{at}", Parameter("a", NUMBER)) for at in range(1_000)))
    start = process_time()
    one = search_suggestions(plan(call("c", "get_itm_number_77", a=1)), ToolIndex(many))
    assert one.faults[0].suggestions[0].says == "call get_item_number_77"
    long = Plan(tuple(Call(f"c{at}", "pya", (("q", "x" * 50),)) for at in range(300)))
    found = search_suggestions(long, ToolIndex(TOOLS))
    assert len(found.faults) == 300
    assert [one.looked for one in found.faults[MAX_FAULTS:]] == [False] * (300 - MAX_FAULTS)
    huge = search_suggestions(plan(call("c", "x" * 10**5, y="'" * 10**4)), ToolIndex(many), "a1 " * 10**4)
    assert len(huge.faults) == 1
    assert process_time() - start < 10 * slowness()


def rates(samples: Any, every: float = 1.0) -> tuple[Counter[str], Counter[str]]:
    """Of single faults planted in right gold plans how many are mended rightly first, and of how many."""
    right: Counter[str] = Counter()
    of: Counter[str] = Counter()
    for name, sample in samples:
        random = Random(f"{name}/{sample.category}/{sample.id}")
        gold = gold_plan(sample) if random.random() <= every else None
        if gold is None or not gold.calls or sample.tools is None:
            continue
        tools = ToolIndex(read_tools(sample.tools))
        if find_faults(gold, tools.catalog):
            continue
        assert search_suggestions(gold, tools, sample.query).operations == ()
        for kind, broken in planted(gold, tools.catalog, random):
            found = search_suggestions(broken, tools, sample.query, least=0)
            if not found.faults or pe.same(broken, gold):
                of["undetectable"] += 1
                continue
            good = pe.same(found.mended, gold)
            of[kind] += 1
            right[kind] += good
            if not good:
                assert len(pe.diff(found.mended, gold).edits) <= len(pe.diff(broken, gold).edits)
    return right, of


def test_planted_faults_of_our_own_samples_are_mended() -> None:
    root, names = Path(folder("data")) / "samples", ("appbench", "nestful", "callnavi", "functionchat")
    right, of = rates((name, one) for name in names for one in benchmark(name).read(root / name))
    total = of.total() - of["undetectable"]
    assert total >= 80
    assert right.total() / total >= 0.8, (right, of)
    for kind in ("tool_typo", "tool_case", "argument_typo", "argument_case", "reference_as_text"):
        assert right[kind] >= 0.9 * of[kind] > 0, kind


LINES = TABLES["LINES"]


def write(path: Path, *lines: Any) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "pred.jsonl", *LINES)


def suggest(file: Path | str, *more: object) -> tuple[int, str, str]:
    done = planeval("suggest", file, "--catalog", RATES, *more)
    return done.returncode, done.stdout, done.stderr


def test_the_command_tells_every_record(file: Path) -> None:
    code, out, _ = suggest(file, "--field", "query=ask", "--format", "jsonl")
    rows = {row["id"]: row for row in map(json.loads, out.splitlines())}
    assert (code, list(rows)) == (1, [line["id"] for line in LINES])
    assert rows["right"] == {"id": "right", "faults": [], "left": 0}
    assert rows["wrong"]["faults"][0]["suggestions"][0]["says"].startswith("call get_rate")
    assert rows["asked"]["faults"][0]["suggestions"][0]["source"] == "query"
    assert "repaired" in rows["cut"] or "error" in rows["cut"]
    assert "empty" in rows["words"] or "error" in rows["words"]
    for form in ("text", "md", "json"):
        code, out, _ = suggest(file, "--format", form)
        assert (code, "call get_rate" in out) == (1, True)


def test_a_record_brings_its_tools_in_any_field_that_check_knows(tmp_path: Path) -> None:
    tools = [
        {"name": "get_rate", "description": "A rate.", "parameters": {"type": "object", "properties": {}}}
    ]
    lines = [{"id": key, "output": '[{"name": "get_rates"}]', key: tools} for key in ("tools", "functions")]
    done = planeval("suggest", write(tmp_path / "own.jsonl", *lines, {"id": "none", "output": "f()"}))
    assert (done.returncode, done.stdout.count("call get_rate: ")) == (1, 2), done.stdout + done.stderr
    assert "own.jsonl, line 3, record 3 (id none): it has no tools: name them with --catalog" in done.stdout


def test_apply_takes_the_patches(file: Path, tmp_path: Path) -> None:
    suggest(file, "--patch", "-o", tmp_path / "patch.jsonl")
    done = planeval("convert", file, "--patch", tmp_path / "patch.jsonl", "--repair")
    rows = {row["id"]: row for row in map(json.loads, done.stdout.splitlines())}
    mended = pe.parse(rows["wrong"]["text"], dialect="plan")
    assert (mended.calls[0].name, dict(mended.calls[0].arguments)["quote"]) == ("get_rate", "USD")


def test_a_model_that_cannot_answer_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = write(tmp_path / "one.jsonl", {"id": "a", "plan": "zzzz()"})
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    code, out, err = suggest(made, "--model", "m")
    assert (code, out, err.count("cannot be used")) == (2, "", 1)
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    code, _, err = suggest(made, "--model", "m", "--model-url", "http://127.0.0.1:9/v1", "--retries", "0")
    assert (code, "the model did not answer: " in err) == (1, True)
    for answer in (Answer(status=429, headers={"Retry-After": "3600"}), Answer(act=drip)):
        with ModelServer(lambda body, number, answer=answer: answer) as server:  # type: ignore[misc]
            started = monotonic()
            code, _, err = suggest(made, "--model", "m", "--model-url", server.url, "--run", "deadline=0.3")
            assert monotonic() - started < 40
        assert (code, "no answer within 0.3 seconds in total" in err) == (1, True)


def test_what_a_model_says_is_priced_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = write(tmp_path / "one.jsonl", {"id": "a", "plan": "get_rate(quote='USD')"})
    prices = tmp_path / "prices.toml"
    prices.write_text("[models.m]\ninput = 1000.0\noutput = 500.0\n", encoding="utf-8")
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    asked = ("--model", "m", "--model-cache", tmp_path / "kept.sqlite")
    with ModelServer(lambda body, number: message('{"value": "EUR"}')) as server:
        priced = ("--model-url", server.url, "--prices", prices)
        code, out, err = suggest(made, *asked, *priced)
        assert 'give base = "EUR": the model suggests this' in out
        # 10 tokens at 1,000 a million and 2 at 500.
        assert "the model was asked 1 question, cost 0.011\n" in err
        assert "the model was asked 1 question, cost 0\n" in suggest(made, *asked, *priced)[2]
        assert len(server.bodies) == 1
    again = suggest(made, *asked, "--replay")
    assert again[:2] == (code, out)
    assert "the model was asked 1 question\n" in again[2]


@pytest.mark.parametrize("other", ["$v1.hotel_id$", ["$v1.hotel_id$"]])
def test_of_an_argument_given_twice_nothing_is_mended(other: Any) -> None:
    for values in ((other, True), (True, other)):
        twice = Call("v2", "book_hotel", tuple(("hotel_id", value) for value in values))
        found = pe.suggest(plan(call("v1", "search_hotel", city="Rome"), twice), TOOLS)
        assert found.faults
        assert found.operations == ()
