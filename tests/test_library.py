"""The public verbs do what the commands do, and each command calls its own; through public names only."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import click
import pytest

import planner_eval as pe
from planner_eval.cli import COMMANDS, cli
from planner_eval.comparison.policy.policy import Terms
from planner_eval.execution.sandbox.sandbox import Sandbox
from tests.conftest import ROOT, tabled, tables
from tests.inside import planeval
from tests.test_imports import imports, room

TABLES = tables(__file__)

DEMO = ROOT / "data" / "demo"
PRED, GOLD = DEMO / "pred.json", DEMO / "gold.json"
PREDS, GOLDS = DEMO / "pred.jsonl", DEMO / "gold.jsonl"
RATES = str(ROOT / "docs" / "examples" / "rates.py")
ROME = "f(#city='Rome')"


def data(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


CALLS: dict[str, dict[str, str]] = TABLES["CALLS"]
WITHOUT_A_VERB = ("explain",)
"""Commands that show what the package ships: they read, compare and run nothing."""


class CalledError(BaseException):
    """Nothing in a command catches it."""


def every_command() -> Iterator[str]:
    with click.Context(cli) as ctx:
        for name in COMMANDS:
            command = cli.get_command(ctx, name)
            if isinstance(command, click.Group):
                yield from (f"{name} {each}" for each in command.list_commands(ctx))
            else:
                yield name


@pytest.mark.parametrize("command", CALLS)
def test_each_command_calls_its_verb(command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def called(*_: Any, **__: Any) -> Any:
        raise CalledError

    monkeypatch.chdir(ROOT)
    places = {"TMP": tmp_path, "RUN": tmp_path / "run", "PATCH": tmp_path / "patch.json", "RATES": RATES}
    places |= {"PRED": PRED, "GOLD": GOLD, "PREDS": PREDS, "GOLDS": GOLDS}
    if command == "convert":
        places["PATCH"].write_text(planeval("diff", PRED, GOLD, "--patch").stdout, encoding="utf-8")
    if command == "table":
        pe.score(PREDS, GOLDS, running=pe.Running(folder=places["RUN"]))
    for given, verbs in CALLS[command].items():
        words = [*command.split(), *(str(places.get(part, part)) for part in given.split())]
        for verb in verbs.split():
            with mock.patch.object(pe, verb, called), pytest.raises(CalledError):
                cli.main(words, prog_name="planeval", standalone_mode=False)


ALLOWED = TABLES["ALLOWED"]
"""What a command may import beside the public verbs: nothing that reads, pairs, compares or runs plans."""


def test_commands_import_only_verbs_options_and_writers() -> None:
    found = {i.target for i in imports() if room(i.source) == "cli" and i.ours and not i.typing}
    found = {name for name in found if room(name) not in ("", "base", "cli", "_version")}
    assert found == {f"{room}.{one}".rstrip(".") for room, held in ALLOWED.items() for one in held.split()}


def test_parse_reads_texts_data_plans_records_and_files() -> None:
    plan = pe.parse(ROME)
    assert pe.parse(plan) is plan
    assert pe.same(pe.parse(GOLD), pe.parse(GOLD.read_text(encoding="utf-8")))
    assert pe.same(pe.parse(json.loads(GOLD.read_text(encoding="utf-8"))), pe.parse(GOLD))
    assert pe.parse(pe.read(str(GOLDS)).records[0]).calls
    assert pe.render(GOLD, format="text") == pe.render(pe.parse(GOLD), format="text")
    assert (pe.stats(ROME).calls, pe.stats(GOLD)) == (1, pe.stats(pe.parse(GOLD)))
    (found,) = pe.open_sources(str(GOLD))
    assert (found.title, found.many) == ("gold.json", False)
    assert pe.report(["f()"], ["f()"], names="mine").reports
    gold = {"gold": "a = f()\nb = g(y=a)", "alternatives": ["f()\ng(y=1)"]}
    assert pe.compare_structure("f()\ng(y=1)", gold).edges_lost == ()
    assert pe.compare_structure("f()\ng(y=1)", gold["gold"]).edges_lost != ()


@pytest.mark.parametrize("name", ["gold.json", "runs/pred.jsonl", "C:\\x\\OUT.TXT", "a.ndjson"])
def test_the_name_of_a_file_is_no_plan(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for attempt in (pe.parse, lambda n: pe.diff(n, ROME), lambda n: pe.score(n, n), lambda n: pe.pair(n, n)):
        with pytest.raises(pe.PlanevalError, match="is the name of a file, not a plan"):
            attempt(name)
    assert pe.score([name, ROME], [[], ROME], metrics=["exact"]).states() == {"same": 2}  # a model's answer
    monkeypatch.chdir(tmp_path)
    (tmp_path / "the gold").write_text(ROME, encoding="utf-8")
    with pytest.raises(pe.PlanevalError, match=r"use pe\.parse\(Path\('the gold'\)\)"):
        pe.parse("the gold")
    assert (pe.parse(Path("the gold")).calls[0].name, pe.parse("the silver").calls) == ("f", ())


@pytest.mark.parametrize("text", ["I wrote it to gold.json", "f(#x='a.json')", "see\ngold.json", "{}"])
def test_a_text_that_only_speaks_of_a_file_is_read(text: str) -> None:
    assert len(pe.parse(text)) == (1 if text.startswith("f") else 0)


def test_a_catalog_types_values_that_a_notation_writes_without_types() -> None:
    catalog = [{"name": "f", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}]
    text = "<tool_call>f\n<arg_key>n</arg_key>\n<arg_value>7</arg_value>\n</tool_call>"
    for tools in (pe.read_catalog(catalog), {"f": {"n": "integer"}}):
        assert pe.parse(text, tools=tools).calls[0].arguments == (("n", 7),)


def test_plans_and_diffs_print_as_the_command_line_shows_them() -> None:
    assert str(pe.parse(GOLD)) == planeval("render", str(GOLD)).stdout.rstrip("\n")
    assert str(pe.diff(PRED, GOLD)) == planeval("diff", str(PRED), str(GOLD)).stdout.rstrip("\n")
    assert "generation" not in repr(pe.parse(GOLD))


def test_diff_takes_text_data_plans_and_files_on_either_side() -> None:
    plan, listed = pe.parse(ROME), [{"name": "f", "arguments": {"city": "Rome"}}]
    sides = (ROME, plan, listed, pe.read([ROME]).records[0])
    assert all(pe.diff(one, other).same for one in sides for other in sides)
    assert pe.diff(PRED, GOLD).edits == pe.diff(pe.parse(PRED), pe.parse(GOLD)).edits != ()


def test_pairs_are_those_of_the_command_line() -> None:
    rows = list(pe.evaluate(pe.pair(PREDS, GOLDS), located=True))
    shown = json.loads(planeval("diff", str(PREDS), str(GOLDS), "--format", "json").stdout)
    assert [(r.id, r.state) for r in rows] == [(r["id"], r["state"]) for r in shown]
    one = pe.pair(PREDS, GOLDS, ids="trip-value")
    assert [row.id for row in pe.evaluate(one)] == ["trip-value"]
    told: list[tuple[int, int]] = []
    list(pe.evaluate(pe.pair(PREDS, GOLDS), progress=lambda done, total: told.append((done, total))))
    assert told == [(n, 13) for n in range(1, 14)]


def test_of_two_equal_texts_one_is_read_and_rows_are_as_if_both_were(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["a = f(#x='1')\ng(#y=a)", "[f(a=1), g(b='x')]", "I cannot help.", "[f(a=", "", "{'name': 'f'}"]
    for repair in (False, True):
        reading = pe.Reading(repair=repair)
        rows = [*pe.evaluate(texts, texts, reading=reading)]
        shared = [row.pred is row.gold for row in rows if row.diff is not None]
        with monkeypatch.context() as patched:
            patched.setattr("planner_eval.comparison.rows._is_same_text", lambda *_: False)
            apart = [*pe.evaluate(texts, texts, reading=reading)]
        assert any(shared)
        assert not any(row.pred is row.gold for row in apart if row.diff is not None)
        assert repr(rows) == repr(apart)


def test_lists_are_scored_as_files_are() -> None:
    report = pe.score(data(PREDS), data(GOLDS))
    shown = json.loads(planeval("score", PREDS, GOLDS, "--format", "json").stdout)
    for figure in report.figures:
        assert figure.value == shown["figures"][figure.name]["value"], figure.name
    assert report.states() == shown["states"]
    assert report.signature == shown["signature"] == pe.score(PREDS, GOLDS).signature
    assert pe.score(PREDS, GOLDS, by=["calls"]).breakdown["calls"].keys() == {"2", "3"}
    mixed = pe.score([ROME, "g(#x=", pe.parse("h()")], [pe.parse(ROME), "g()", [{"name": "i"}]])
    assert [row.state for row in mixed.rows] == ["same", "cut", "different"]
    assert "predictions, record 2" in mixed.rows[1].reason
    preds = [{"n": "a", "said": ROME}, {"n": "b", "said": "f(#x="}]
    golds = [{"n": "b", "wanted": "f()"}, {"n": "a", "wanted": ROME}]
    how = pe.Reading(id_field="n", text_field="said", gold_text_field="wanted")
    rows = pe.evaluate(pe.pair(preds, golds, reading=how))
    assert {row.id: row.state for row in rows} == {"a": "same", "b": "cut"}
    assert pe.score(preds, golds, reading=how, metrics=["exact"]).figure("exact") == 0.5


def test_a_policy_may_be_named_and_a_gold_records_own_terms_count(tmp_path: Path) -> None:
    own, gold = tmp_path / "own.toml", tmp_path / "gold.json"
    own.write_text('[[rule]]\nargument = "city"\ncompare = ["casefold"]\n', encoding="utf-8")
    rome = "f(#city='ROME')"
    assert not pe.diff(rome, ROME).same
    assert pe.diff(rome, ROME, policy="lenient").same
    for policy in (own, str(own)):
        assert pe.diff(rome, ROME, policy).same
        assert pe.score([rome], [ROME], policy, metrics=["exact"]).figure("exact") == 1
    with pytest.raises(pe.PlanevalError, match="unknown policy 'lenyent'"):
        pe.diff(rome, ROME, "lenyent")
    calls = [{"id": "a", "name": "f", "arguments": {}}, {"id": "b", "name": "g", "arguments": {}}]
    gold.write_text(json.dumps({"calls": calls, "optional": ["b"]}), encoding="utf-8")
    assert pe.diff("f()", gold).same
    assert not pe.diff("f()", pe.parse(gold)).same


def test_one_pair_gives_counts_and_a_list_of_calls_is_one_plan() -> None:
    calls = [{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]
    counts = pe.score("f()", calls, metrics=["calls"])
    assert counts["calls"].recall == 0.5
    assert pe.score([calls], ["f()\ng()"], metrics=["calls"]).figure("calls") == 1


def test_check_takes_a_catalog_by_its_file_or_data(tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([{"name": "g", "parameters": {}}]), encoding="utf-8")
    for catalog in (str(tools), tools, [tools, RATES], json.loads(tools.read_text(encoding="utf-8"))):
        assert [found.code for found in pe.check(ROME, catalog)] == ["check.unknown_tool"]
    assert pe.check(ROME, str(tools), ignore=["check.unknown_tool"]) == ()
    assert pe.check(GOLD, RATES) == ()
    with pytest.raises(pe.PlanevalError, match="no such file"):
        pe.check(ROME, "nowhere.json")


def test_plans_run_one_by_one_or_many_at_once(tmp_path: Path) -> None:
    assert pe.execute(GOLD, RATES).result == pe.execute(pe.parse(GOLD), RATES).result == 0.0078125
    add, told = '[{"name": "add", "arguments": {"arg_0": 2, "arg_1": 3}}]', tmp_path / "answers.jsonl"
    ran = list(pe.execute(pe.read([add, "add(#x=", add]), "nestful", record=told))
    assert [one.trace.result if one.trace else "unread" for one in ran] == [5, "unread", 5]
    assert len(told.read_text(encoding="utf-8").splitlines()) == 2
    assert pe.execute(add, f"recorded:{told}").result == 5
    with Sandbox(pe.tool_source("nestful")) as box:
        many = [one.trace.result for one in pe.execute(pe.read([add, add]), box)]
        assert [*many, pe.execute(add, box).result] == [5, 5, 5]
        with pytest.raises(pe.PlanevalError, match="a Sandbox has its own tools"):
            pe.execute(add, box, record=told)
    assert pe.compare_effects(add, add.replace("2", "4"), "nestful").same is False


def test_the_selftest_is_ours_or_anothers() -> None:
    sure = [one for one in pe.selftest() if not one.disputed]
    assert len(sure) == 30
    assert all(one.right for one in sure)
    assert not all(one.right for one in pe.selftest(["echo", "same"]) if not one.disputed)
    for words, verdict in (("Same as gold\nbut for words", True), ("Unequal, I fear\nbut who knows", False)):
        assert {one.answer for one in pe.selftest(["echo", words])} == {verdict}


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "a number": (lambda: pe.compare_structure(3, "f()"), "found 3"),
    "names": (lambda: pe.report(["f()"], ["f()"], names=["a", "b"]), "there are 2 names for 1 system"),
    "no terms": (lambda: pe.diff("f()", "f()", terms=None), "the terms are None, expected Terms"),
    "no metrics": (lambda: pe.score(["f()"], ["f()"], metrics=None), "the metrics are None, expected names"),
    "a metric": (lambda: pe.score("f()", "f()", metrics=[["exact"]]), r"the metrics name \['exact'\]"),
    "no theme": (lambda: pe.render("f()", theme=None), "the theme is None, expected a name or"),
    "themes": (lambda: pe.render("f()", theme=[]), r"the theme is \[\], expected"),
    "nothing": (lambda: pe.report(["f()"], ["f()"], shown=None), "shown is None, expected PageSettings"),
    "no source": (lambda: pe.open_sources("nosuch.json"), "nosuch.json"),
    "words": (lambda: pe.selftest(scorer="nosuch -x"), r"expected its words: \['nosuch', '-x'\]"),
    "no plan": (lambda: pe.check(None), "the plan is None, as in a trace without tool calls"),
    "a field": (lambda: pe.score([ROME], [ROME], by=["colour"]), "expected a field of the gold records"),
    "an unknown metric": (lambda: pe.score([ROME], [ROME], metrics=["callz"]), "unknown metric 'callz'"),
    "terms of many": (lambda: pe.score([ROME], [ROME], "default", Terms()), "terms= applies only to one"),
    "many": (lambda: pe.parse(GOLDS), r"holds 13 records, expected one plan: pe\.read gives them"),
    "no file": (lambda: pe.parse(Path("nowhere.json")), "there is no file"),
    "no catalog": (lambda: pe.check(ROME, "nowhere.json"), "no such file"),
    "one empty list": (lambda: pe.compare(["f()"], ["g()"], []), "no pairs: gold is an empty list"),
    "empty lists": (lambda: pe.compare([[], []], []), "no pairs: gold is an empty list"),
    "a page of none": (lambda: pe.report([["f()"], ["g()"]], [], names=["a", "b"]), "gold is an empty list"),
    "an empty table": (lambda: pe.parse(iter(())), "holds 0 records, expected one plan"),
    "parse 0": (lambda: pe.parse(ROME, dialect=5), "expected the name of one"),
    "parse 1": (lambda: pe.parse(ROME, tools=5), "expected a mapping, a catalog or a catalog's file"),
    "parse 2": (lambda: pe.parse(ROME, limits=None), "expected planner_eval.base.limits.Limits"),
    "convert 3": (lambda: pe.convert(ROME, None), "expected the name of one"),
    "score 4": (lambda: pe.score([ROME], [ROME], reading=5), "expected pe.Reading"),
    "compare 5": (lambda: pe.compare([ROME], [ROME], [ROME], reading=5), "expected pe.Reading"),
    "pair 6": (lambda: pe.pair([ROME], [ROME], reading=pe.Reading(by="x")), "expected 'id' or 'position'"),
    "score 7": (lambda: pe.score(ROME, ROME, policy=5), "expected a pe.Policy"),
    "compare 8": (lambda: pe.compare([ROME], [ROME], [ROME], seed="a"), "expected a whole number"),
    "compare 9": (lambda: pe.compare([ROME], [ROME], [ROME], seed=-1), "expected a whole number"),
    "write 10": (lambda: pe.write(ROME, "json"), "expected a plan"),
    "write 11": (lambda: pe.write(pe.Plan((pe.Call("c1", "f", {"a": 1}),)), "json"), "expected pairs"),
    "a number for a key": (lambda: pe.diff([{"name": "f", "arguments": {1: 2}}], ROME), "argument named 1"),
    "a number in a value": (
        lambda: pe.parse([{"name": "f", "arguments": {"a": [{"b": {1: 2}}]}}]), "'a' of call 1 has the key 1"
    ),
    "an engine's name": (
        lambda: pe.score([ROME], [ROME], running=pe.Running(engine="ray", jobs=2)), "expected RayRunner"
    ),
    "no gold": (lambda: pe.score([ROME]), "nothing could be scored: there are no gold plans"),
    "a set": (lambda: pe.score({ROME}, [ROME]), "the predicted plans are a set, which has no order"),
    "a set of gold": (lambda: pe.compare([ROME], [ROME], {ROME}), "the gold plans are a set"),
    "plans for systems": (lambda: pe.compare([ROME, ROME], [ROME, ROME]), "gold is missing"),
    "repair": (lambda: pe.score([ROME], [ROME], reading=pe.Reading(repair="yes")), "True or False, or None"),
    "infer": (lambda: pe.score([ROME], [ROME], reading=pe.Reading(infer="no")), "infer is 'no', expected"),
    "cache": (lambda: pe.score([ROME], [ROME], reading=pe.Reading(cache=3)), "cache is 3, expected a path"),
    "causes": (lambda: pe.score([ROME], [ROME], causes="no"), "causes is 'no', expected True or False"),
    "common": (lambda: pe.table([], common="no"), "common is 'no', expected True or False"),
    "isolation": (lambda: pe.check_dataset("nestful-v2", isolation="nope"), "isolation is 'nope', expected"),
    "one variant": (
        lambda: pe.score_benchmark("a", "b", "nestful", rules=pe.BenchmarkRules("wrong")), "variant 'wrong'"
    ),
    "score_benchmark 12": (lambda: pe.score_benchmark([ROME], [ROME], "nestful"), "expected the path"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "said"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_meant_is_refused_in_words(call: Callable[[], object], said: str) -> None:
    with pytest.raises(pe.PlanevalError, match=said):
        call()


@pytest.mark.parametrize("verb", [pe.score, pe.pair, pe.evaluate, pe.report])
def test_two_empty_lists_are_no_pair(verb: Callable[..., Any]) -> None:
    for pred in ([], ()):
        for gold in ([], ()):
            with pytest.raises(pe.PlanevalError, match="there are no pairs: both lists are empty"):
                verb(pred, gold)


F = {"name": "f", "arguments": {}}


@pytest.mark.parametrize("other", [[F], "f()", pe.parse("f()"), F], ids=str)
def test_beside_one_plan_an_empty_list_is_a_plan_without_calls(other: Any) -> None:
    assert pe.score([], other, metrics=["calls"])["calls"].gold == 1
    assert pe.score(other, [], metrics=["calls"])["calls"].pred == 1
    assert (pe.same([], other), pe.same([], [])) == (False, True)


@pytest.mark.parametrize("many", [["f()"], [[F]], [pe.parse("f()")], [{"output": "f()"}], ["f()", "g()"]])
def test_beside_many_plans_an_empty_list_is_none_of_them(many: list[Any]) -> None:
    assert pe.score([], many).states() == {"absent": len(many)}
    assert [row.state for row in pe.evaluate(many, [])] == ["gold_absent"] * len(many)


def test_empty_plans_in_lists_and_tables_without_rows() -> None:
    assert pe.score([[]], [[]]).states() == {"same": 1}
    assert pe.score([[F], []], [[F], []]).states() == {"same": 2}
    assert pe.score([F, F], [F, F], metrics=["exact"])["exact"].whole == 1
    nothing = pe.read(one for one in ())
    assert (nothing.many, nothing.records, pe.stats(iter(())).plans) == (True, (), 0)
    assert pe.score(iter(()), ["f()"]).states() == {"absent": 1}
    assert pe.score(iter(()), iter(())).figure("exact") is None


def test_the_table_has_every_command_and_every_public_name_says_what_it_is() -> None:
    assert sorted([*CALLS, *WITHOUT_A_VERB]) == sorted(every_command())
    for verb in set(pe.__all__) - {"__version__"}:
        assert (getattr(pe, verb).__doc__ or "").strip(), verb
        assert verb in dir(pe)


@tabled("kind, values")
def test_a_text_has_the_type_that_its_tool_says(kind: str, values: dict[str, Any]) -> None:
    row = "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>{}</arg_value>\n</tool_call>"
    plans = [pe.parse(row.format(text), tools={"f": {"a": kind}}) for text in values]
    assert [repr(plan.calls[0].arguments[0][1]) for plan in plans] == [*map(repr, values.values())]
