"""The public verbs do what the commands do, and each command calls its own; through public names only."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import planner_eval as pe
from planner_eval.cli import COMMANDS, cli
from planner_eval.execution import Sandbox
from planner_eval.policy import Terms
from tests.conftest import ROOT
from tests.inside import planeval
from tests.test_imports import imports, room

DEMO = ROOT / "data" / "demo"
PRED, GOLD = DEMO / "pred.json", DEMO / "gold.json"
PREDS, GOLDS = DEMO / "pred.jsonl", DEMO / "gold.jsonl"
RATES = str(ROOT / "docs" / "examples" / "rates.py")
ROME = "f(#city='Rome')"


def data(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


CALLS: dict[str, list[tuple[list[str], str]]] = {
    "agree": [([str(PREDS), str(GOLDS)], "agree")],
    "apply": [(["PATCH", str(PRED)], "read"), (["PATCH", str(PRED)], "read_patches"),
              (["PATCH", str(PRED)], "apply"), (["PATCH", str(PRED)], "write")],
    "catalog show": [([RATES], "read_catalog")],
    "catalog convert": [([RATES, "--to", "mcp"], "read_catalog")],
    "catalog grammar": [
    ([RATES, "--dialect", "plan", "--to", "lark"], verb) for verb in ("read_catalog", "grammar")],
    "check": [([str(GOLD), "--catalog", RATES], verb) for verb in ("read", "read_catalog", "parse", "check")],
    "compare": [*(([str(PREDS), str(PREDS), "--gold", str(GOLDS)], verb) for verb in ("Reading", "compare")),
                ([str(PREDS), str(PREDS), "--gold", "callnavi", "--benchmark", "callnavi"],
                 "compare_benchmark")],
    "convert": [([str(GOLD), "--to", "json"], verb) for verb in ("read", "convert")],
    "data list": [([], "list_datasets")],
    "data fetch": [(["callnavi", "--cache", "TMP", "--source", "TMP"], "fetch_dataset")],
    "data verify": [(["callnavi"], "verify_dataset")],
    "data show": [(["callnavi", "--samples", "1"], "read_dataset")],
    "data check": [(["mathqa", "--source", "data/samples", "--catalog", RATES, "--tools", "nestful"], verb)
    for verb in ("open_sources", "read_catalog", "tool_source", "check_dataset")],
    "data coverage": [(["callnavi", "--source", "data/samples", "--catalog", RATES], verb)
    for verb in ("read_catalog", "open_sources", "coverage")],
    "data duplicates": [
    (["callnavi", "--source", "data/samples"], verb) for verb in ("open_sources", "duplicates")],
    "data make": [(["--catalog", RATES, "-n", "1"], "make")],
    "data export": [(["callnavi", "--to", "chat-jsonl"], "export_dataset")],
    "dialects": [([], "list_dialects"), (["json"], "list_dialects")],
    "diff": [*(([str(PREDS), str(GOLDS)], verb) for verb in ("Reading", "pair")),
             ([str(PRED), str(GOLD), "--execute", RATES], "tool_source"),
             ([str(PRED), str(GOLD), "--execute", RATES], "compare_effects"),
             ([str(PRED), str(GOLD), "--format", "listing"], "render_many")],
    "doctor": [([], "doctor")],
    "execute": [([str(GOLD), "--tools", RATES], verb) for verb in ("read", "tool_source", "execute")],
    "parse": [([str(GOLD)], verb) for verb in ("read", "parse")],
    "predict": [(["data/samples/callnavi", "--benchmark", "callnavi", "--model", "m", "-o", "TMP"],
                 "predict")],
    "render": [([str(GOLD)], verb) for verb in ("open_sources", "render_many")],
    "report": [([str(PREDS), "--gold", str(GOLDS)], verb) for verb in ("Reading", "pair", "report")],
    "schema": [(["policy"], "schema")],
    "score": [*(([str(PREDS), str(GOLDS)], verb) for verb in ("Reading", "pair", "score")),
              ([str(PREDS), "callnavi", "--benchmark", "callnavi"], "score_benchmark")],
    "selftest": [([], "selftest"), (["--command", "true"], "selftest")],
    "shrink": [([str(PREDS), str(GOLDS), "--id", "trip-value", "--code", "argument.value"], verb)
    for verb in ("Reading", "shrink")],
    "stats": [([str(GOLD)], verb) for verb in ("open_sources", "stats")],
    "suggest": [([str(PREDS), "--catalog", "data/catalogs/rates.json"], verb)
    for verb in ("read_catalog", "read", "suggest")],
    "table": [(["RUN"], "table")],
}  # fmt: skip
"""Each command with options under which it calls each of its verbs."""


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


def test_the_table_has_every_command() -> None:
    assert sorted(CALLS) == sorted(every_command())
    assert {verb for cases in CALLS.values() for _, verb in cases} <= set(pe.__all__)


@pytest.mark.parametrize(
    ("command", "argv", "verb"),
    [(name, argv, verb) for name, cases in CALLS.items() for argv, verb in cases],
)
def test_each_command_calls_its_verb(
    command: str, argv: list[str], verb: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def called(*_: Any, **__: Any) -> Any:
        raise CalledError(verb)

    if "PATCH" in argv:
        patch = tmp_path / "patch.json"
        patch.write_text(planeval("diff", str(PRED), str(GOLD), "--patch").stdout, encoding="utf-8")
        argv = [str(patch) if part == "PATCH" else part for part in argv]
    if "RUN" in argv:
        pe.score(PREDS, GOLDS, folder=tmp_path / "run")
    places = {"TMP": str(tmp_path), "RUN": str(tmp_path / "run")}
    argv = [places.get(part, part) for part in argv]
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(pe, verb, called)
    with pytest.raises(CalledError):
        cli.main([*command.split(), *argv], prog_name="planeval", standalone_mode=False)


ALLOWED = {
    "what a verb's options are made of": {
        "datasets.fetch", "datasets.published", "datasets.store", "execution", "llm",
        "records.frameworks", "records.own_rows",
        "llm.counted",
        "llm.prices", "policy", "policy.file", "benchmarks.registry", "prediction.setup", "verbs.predicting",
        "verbs.endpoints",
        "verbs.table_runs",
        "prediction.constraint",
    },
    "what results are and how they are written": {
        "auditing.finding", "benchmarks.details", "benchmarks.score", "catalogs.formats", "catalogs.writing",
        "comparison.contrast", "dialects.listing",
        "dialects.plan", "drawing", "drawing.child", "drawing.graphs", "drawing.plots",
        "drawing.runs", "execution.wire", "metrics", "metrics.edit_distance", "plan.model", "plan.statistics",
        "plan.summary", "plan.words", "records.rows", "scoring.agreement_formats", "scoring.allowed",
        "scoring.compare", "scoring.compare_formats", "scoring.findings", "scoring.github", "scoring.junit",
        "scoring.sarif", "scoring.limits",
        "scoring.report_formats", "scoring.table_formats",
        "scoring.told_rows",
    },
    "what is done in parts, and by whom": {
        "engine.alone", "engine.diff", "engine.inputs", "engine.large", "engine.ray", "engine.run",
        "engine.described", "engine.job", "engine.parquet", "engine.rows", "engine.run_file",
        "execution.source",
    },
    "where a finding stands, why a notation was taken": {
        "dialects.detect", "dialects.find", "dialects.read", "dialects.turns", "verbs.checking",
        "catalogs.unchecked", "verbs.benchmark_runs",
    },
    "what a page shows, and the runs that it is of": {"verbs.report_runs", "verbs.reporting"},
    "a catalog's types and names, made once for many plans": {"verbs.reading", "verbs.suggesting"},
    "what a record asks, from which values may be taken": {"datasets.questions", "reports.question"},
    "which schemas there are": {"verbs.schemas"},
    "which files are read, so that none is written onto": {"records.several"},
    "what a question has to be, and in which words it is asked for": {
        "making.asking", "making.texts", "verbs.questions",
    },
    "which presets and layouts there are": {"making.layouts", "making.presets"},
    "what records are called": {"records.ids"},
    "which tools a record brings": {"verbs.record_tools"},
    "whom models are asked for, and what they were asked": {
        "prediction.answers", "prediction.candidates", "prediction.folder", "prediction.shots",
        "verbs.predicted_gold",
    },
    "where a record of calls was cut": {"execution.record"},
    "what ends a command early, so that what was found is written": {"engine.stopping"},
    "the state in which a record begins": {"records.states", "verbs.running"},
    "names that there are, and the one that was meant": {"dialects", "drawing.themes", "records.pairing"},
    "rules for what no plan has, once all pairs were compared": {"verbs.evaluating"},
}  # fmt: skip
"""What a command may import beside the public verbs: nothing that reads, pairs, compares or runs plans."""


def test_commands_import_only_verbs_options_and_writers() -> None:
    found = {i.target for i in imports() if room(i.source) == "cli" and i.ours and not i.typing}
    found = {name for name in found if room(name) not in ("", "base", "cli", "_version")}
    assert found == set().union(*ALLOWED.values())


@pytest.mark.parametrize("verb", sorted(set(pe.__all__) - {"__version__"}))
def test_every_public_name_says_what_it_is(verb: str) -> None:
    assert (getattr(pe, verb).__doc__ or "").strip()
    assert verb in dir(pe)


def test_parse_reads_texts_data_plans_records_and_files() -> None:
    plan = pe.parse(ROME)
    assert pe.parse(plan) is plan
    assert pe.same(pe.parse(GOLD), pe.parse(GOLD.read_text(encoding="utf-8")))
    assert pe.same(pe.parse(json.loads(GOLD.read_text(encoding="utf-8"))), pe.parse(GOLD))
    assert pe.parse(pe.read(str(GOLDS)).records[0]).calls


@pytest.mark.parametrize("name", ["gold.json", "runs/pred.jsonl", "C:\\x\\OUT.TXT", "a.ndjson"])
def test_the_name_of_a_file_is_no_plan(name: str) -> None:
    for attempt in (pe.parse, lambda n: pe.diff(n, ROME), lambda n: pe.score(n, n), lambda n: pe.pair(n, n)):
        with pytest.raises(pe.PlanevalError, match="is the name of a file, not a plan"):
            attempt(name)


def test_the_name_of_a_file_that_exists_is_no_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "the gold").write_text(ROME, encoding="utf-8")
    with pytest.raises(pe.PlanevalError, match=r"pe\.parse\(Path\('the gold'\)\) reads it"):
        pe.parse("the gold")
    assert pe.parse(Path("the gold")).calls[0].name == "f"
    assert not pe.parse("the silver").calls


@pytest.mark.parametrize("text", ["I wrote it to gold.json", "f(#x='a.json')", "see\ngold.json", "{}"])
def test_a_text_that_only_speaks_of_a_file_is_read(text: str) -> None:
    assert len(pe.parse(text)) == (1 if text.startswith("f") else 0)


def test_a_name_of_a_file_in_a_record_is_the_models_answer() -> None:
    report = pe.score(["gold.json", ROME], [[], ROME], metrics=["exact"])
    assert report.states() == {"same": 2}
    assert pe.parse(pe.read(["gold.json"]).records[0]).calls == ()


def test_a_file_of_many_is_no_single_plan() -> None:
    with pytest.raises(pe.PlanevalError, match=r"holds 13 records, expected one plan: pe\.read gives them"):
        pe.parse(GOLDS)
    with pytest.raises(pe.PlanevalError, match="there is no file"):
        pe.parse(Path("nowhere.json"))


def test_a_catalog_types_values_that_a_notation_writes_without_types() -> None:
    catalog = [{"name": "f", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}]
    types = pe.read_catalog(catalog)
    text = "<tool_call>f\n<arg_key>n</arg_key>\n<arg_value>7</arg_value>\n</tool_call>"
    assert [pe.parse(text, tools=t).calls[0].arguments for t in (types, {"f": {"n": "integer"}})] == [
        (("n", 7),)
    ] * 2


def test_plans_and_diffs_print_as_the_command_line_shows_them() -> None:
    assert str(pe.parse(GOLD)) == planeval("render", str(GOLD)).stdout.rstrip("\n")
    assert str(pe.diff(PRED, GOLD)) == planeval("diff", str(PRED), str(GOLD)).stdout.rstrip("\n")
    assert "generation" not in repr(pe.parse(GOLD))


def test_diff_takes_text_data_plans_and_files_on_either_side() -> None:
    plan, listed = pe.parse(ROME), [{"name": "f", "arguments": {"city": "Rome"}}]
    sides = (ROME, plan, listed, pe.read([ROME]).records[0])
    assert all(pe.diff(one, other).same for one in sides for other in sides)
    assert pe.diff(PRED, GOLD).edits == pe.diff(pe.parse(PRED), pe.parse(GOLD)).edits != ()


def test_a_policy_may_be_named(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('[[rule]]\nargument = "city"\ncompare = ["casefold"]\n', encoding="utf-8")
    rome = "f(#city='ROME')"
    assert not pe.diff(rome, ROME).same
    assert pe.diff(rome, ROME, policy="lenient").same
    for policy in (own, str(own)):
        assert pe.diff(rome, ROME, policy).same
        assert pe.score([rome], [ROME], policy, metrics=["exact"]).figure("exact") == 1
    with pytest.raises(pe.PlanevalError, match="there is no policy 'lenyent'"):
        pe.diff(rome, ROME, "lenyent")


def test_a_gold_records_own_terms_count(tmp_path: Path) -> None:
    calls = [{"id": "a", "name": "f", "arguments": {}}, {"id": "b", "name": "g", "arguments": {}}]
    gold = tmp_path / "gold.json"
    gold.write_text(json.dumps({"calls": calls, "optional": ["b"]}), encoding="utf-8")
    assert pe.diff("f()", gold).same
    assert not pe.diff("f()", pe.parse(gold)).same


def test_pairs_are_those_of_the_command_line() -> None:
    rows = list(pe.evaluate(pe.pair(PREDS, GOLDS), located=True))
    shown = json.loads(planeval("diff", str(PREDS), str(GOLDS), "--format", "json").stdout)
    assert [(r.id, r.state) for r in rows] == [(r["id"], r["state"]) for r in shown]
    one = pe.pair(PREDS, GOLDS, id="trip-value")
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
            patched.setattr("planner_eval.records.rows._are_one", lambda *_: False)
            apart = [*pe.evaluate(texts, texts, reading=reading)]
        assert any(shared)
        assert not any(row.pred is row.gold for row in apart if row.diff is not None)
        assert repr(rows) == repr(apart)


def test_lists_are_scored_as_files_are() -> None:
    report = pe.score(data(PREDS), data(GOLDS))
    shown = json.loads(planeval("score", str(PREDS), str(GOLDS), "--format", "json").stdout)
    for figure in report.figures:
        assert figure.value == shown["figures"][figure.name]["value"], figure.name
    assert report.states() == shown["states"]
    assert report.signature == shown["signature"] == pe.score(PREDS, GOLDS).signature


def test_lists_may_hold_texts_plans_and_records() -> None:
    golds = [ROME, pe.parse("g()"), {"id": "q", "gold": "h()"}]
    for gold in golds:
        report = pe.score([gold if not isinstance(gold, dict) else {"id": "q", "output": "h()"}], [gold])
        assert report.figure("exact") == 1
    mixed = pe.score([ROME, "g(#x=", pe.parse("h()")], [pe.parse(ROME), "g()", [{"name": "i"}]])
    assert [row.state for row in mixed.rows] == ["same", "cut", "different"]
    assert "predictions, record 2" in mixed.rows[1].reason


def test_one_pair_gives_counts_and_a_list_of_calls_is_one_plan() -> None:
    calls = [{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]
    counts = pe.score("f()", calls, metrics=["calls"])
    assert counts["calls"].recall == 0.5
    assert pe.score([calls], ["f()\ng()"], metrics=["calls"]).figure("calls") == 1


def test_a_report_says_what_cannot_be_asked() -> None:
    with pytest.raises(pe.PlanevalError, match="no gold record has that field"):
        pe.score([ROME], [ROME], by=["colour"])
    with pytest.raises(pe.PlanevalError, match="there is no metric 'callz'"):
        pe.score([ROME], [ROME], metrics=["callz"])
    with pytest.raises(pe.PlanevalError, match="terms are those of one pair"):
        pe.score([ROME], [ROME], "default", Terms(optional=frozenset({"a"})))
    assert pe.score(PREDS, GOLDS, by=["calls"]).breakdown["calls"].keys() == {"2", "3"}


def test_files_are_read_as_said() -> None:
    preds = [{"n": "a", "said": ROME}, {"n": "b", "said": "f(#x="}]
    golds = [{"n": "b", "wanted": "f()"}, {"n": "a", "wanted": ROME}]
    how = pe.Reading(id_field="n", text_field="said", gold_text_field="wanted")
    assert {row.id: row.state for row in pe.evaluate(pe.pair(preds, golds, reading=how))} == {
        "a": "same",
        "b": "cut",
    }
    assert pe.score(preds, golds, reading=how, metrics=["exact"]).figure("exact") == 0.5


def test_two_systems_are_compared_as_on_the_command_line(tmp_path: Path) -> None:
    right = [{"id": record["id"], "output": record["gold"]} for record in data(GOLDS)]
    file = tmp_path / "right.json"
    file.write_text(json.dumps(right), encoding="utf-8")
    argv = ("compare", str(PREDS), str(file), "--gold", str(GOLDS), "--metric", "exact", "--format", "json")
    shown = json.loads(planeval(*argv).stdout)
    found = pe.compare(PREDS, right, data(GOLDS), metrics=["exact"])
    assert list(found.won) == shown["only_second"] != []
    assert not found.lost
    assert found.signature == shown["signature"]


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
    add = '[{"name": "add", "arguments": {"arg_0": 2, "arg_1": 3}}]'
    told = tmp_path / "answers.jsonl"
    ran = list(pe.execute(pe.read([add, "add(#x=", add]), "nestful", record=told))
    assert [one.trace.result if one.trace else "unread" for one in ran] == [5, "unread", 5]
    assert ran[1].error is not None
    assert len(told.read_text(encoding="utf-8").splitlines()) == 2
    assert pe.execute(add, f"recorded:{told}").result == 5
    with Sandbox(pe.tool_source("nestful")) as box:
        many = [one.trace.result for one in pe.execute(pe.read([add, add]), box)]
        assert [*many, pe.execute(add, box).result] == [5, 5, 5]
        with pytest.raises(pe.PlanevalError, match="a Sandbox has its tools"):
            pe.execute(add, box, record=told)
    nothing = tmp_path / "none.jsonl"
    nothing.write_text("", encoding="utf-8")
    assert planeval("execute", str(nothing), "--tools", "nestful").returncode == 3
    assert pe.compare_effects(add, add.replace("2", "4"), "nestful").same is False


def test_a_plan_is_written_in_another_notation() -> None:
    chain = "a = f(#x='1')\ng(#y=a)"
    assert pe.same(pe.parse(pe.convert(chain, "nestful").text), chain)
    with pytest.raises(pe.PlanevalError):
        pe.convert(chain, "json")
    assert [lost.code for lost in pe.convert(chain, "json", loss=True).losses] == ["loss.reference"]
    assert pe.convert(GOLD, "json", loss=True).text == planeval(
        "convert", str(GOLD), "--to", "json", "--loss"
    ).stdout.rstrip("\n")


def test_a_diff_repairs_the_plan_it_was_made_from(tmp_path: Path) -> None:
    assert pe.same(pe.apply(pe.diff(PRED, GOLD), pe.parse(PRED)), GOLD)
    patches = tmp_path / "patches.jsonl"
    patches.write_text(planeval("diff", str(PREDS), str(GOLDS), "--patch").stdout, encoding="utf-8")
    done = list(pe.apply(patches, PREDS))
    golds = {record.id: pe.parse(record) for record in pe.read(str(GOLDS), role="gold").records}
    assert sum(one.plan is not None and pe.same(one.plan, golds[one.id]) for one in done) == 12
    assert pe.same(pe.apply(patches, PREDS, id="trip-value"), golds["trip-value"])
    with pytest.raises(pe.PlanevalError, match="no patch's id is a plan's id"):
        list(pe.apply(patches, [{"id": "x", "output": ROME}]))


def test_what_can_be_drawn_and_counted_may_be_text_or_a_file() -> None:
    assert pe.render(GOLD, format="text") == pe.render(pe.parse(GOLD), format="text")
    assert pe.stats(ROME).calls == 1
    assert pe.stats(GOLD) == pe.stats(pe.parse(GOLD))


def test_the_selftest_is_ours_or_anothers() -> None:
    sure = [one for one in pe.selftest() if not one.disputed]
    assert len(sure) == 30
    assert all(one.right for one in sure)
    assert not all(one.right for one in pe.selftest(["echo", "same"]) if not one.disputed)


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "structure of a number": (lambda: pe.compare_structure(3, "f()"), "found 3"),
    "more names than systems": (lambda: pe.report(["f()"], ["f()"], names=["a", "b"]),
                                "there are 2 names for 1 system"),
    "no terms": (lambda: pe.diff("f()", "f()", terms=None), "the terms are None, expected Terms"),
    "no metrics": (lambda: pe.score(["f()"], ["f()"], metrics=None), "the metrics are None, expected names"),
    "a metric that is no text": (lambda: pe.score("f()", "f()", metrics=[["exact"]]),
                                 r"the metrics name \['exact'\]"),
    "no theme": (lambda: pe.render("f()", theme=None), "the theme is None, expected a name or"),
    "a list of themes": (lambda: pe.render("f()", theme=[]), r"the theme is \[\], expected"),
    "shown as nothing": (lambda: pe.report(["f()"], ["f()"], shown=None), "shown is None, expected Shown"),
    "a file that is not there": (lambda: pe.open_sources("nosuch.json"), "nosuch.json"),
    "a command as one text": (lambda: pe.selftest(command="nosuch -x"),
                              r"the command is 'nosuch -x', expected its words: \['nosuch', '-x'\]"),
    "no plan to check": (lambda: pe.check(None), "the plan is None, as of a trace in which no tool ran"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "said"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_meant_is_refused_in_words(call: Callable[[], object], said: str) -> None:
    with pytest.raises(pe.PlanevalError, match=said):
        call()


def test_the_structure_of_texts_and_gold_records() -> None:
    assert str(pe.compare_structure("f()", "f()")) == str(
        pe.compare_structure(pe.parse("f()"), pe.parse("f()"))
    )
    gold = {"gold": "a = f()\nb = g(y=a)", "alternatives": ["f()\ng(y=1)"]}
    assert pe.compare_structure("f()\ng(y=1)", gold).edges_lost == ()
    assert pe.compare_structure("f()\ng(y=1)", gold["gold"]).edges_lost != ()


def test_one_source_or_name_may_stand_alone() -> None:
    (found,) = pe.open_sources(str(ROOT / "data" / "demo" / "gold.json"))
    assert (found.title, found.many) == ("gold.json", False)
    assert pe.report(["f()"], ["f()"], names="mine").reports
