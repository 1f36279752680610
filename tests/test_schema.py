"""JSON Schemas of what people write: shipped files follow them, wrong ones do not, and our readers agree."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from copy import deepcopy
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from planner_eval.base.errors import PlanevalError
from planner_eval.base.schema_models import Described
from planner_eval.benchmarks.datasets.published import Dataset, PublishedFile
from planner_eval.benchmarks.datasets.schema import DatasetEntry, DatasetsFile, FileEntry, ToMakeFile
from planner_eval.comparison import patch
from planner_eval.comparison.diff import diff
from planner_eval.comparison.gold_alternatives import read_gold
from planner_eval.comparison.patch import apply_patch, make_patch
from planner_eval.comparison.policy.file import load_policy, read_settings
from planner_eval.comparison.policy.values import Rule
from planner_eval.comparison.schemas import PatchFile, RuleEntry
from planner_eval.execution.worlds.reading import load
from planner_eval.integrations.schemas import SCHEMAS
from planner_eval.models.prices import read_prices
from planner_eval.reading.dialects import table
from planner_eval.reading.dialects.read import parse
from planner_eval.reading.files import frameworks
from planner_eval.reading.files.record import GOLD_TERMS, Record
from planner_eval.reading.schemas import GoldRecord, Row
from planner_eval.results.drawing.themes import Role, Theme, theme
from planner_eval.results.schema import (
    ComparisonData,
    ContrastData,
    EffectsData,
    ReportData,
    RoleEntry,
    ThemeFile,
)
from tests.conftest import ROOT
from tests.inside import planeval
from tests.test_imports import third_party

DEMO = ("data/demo/pred.jsonl", "data/demo/gold.jsonl")
GOLDS = "docs/examples/comparison/gold.jsonl"
DELETE = object()


def toml(path: str | Path) -> Any:
    return tomllib.loads((ROOT / path).read_text(encoding="utf-8"))


@cache
def written(command: str) -> Any:
    name, *rest = command.split()
    argv = [name, *(str(ROOT / word) if word.startswith("data/") else word for word in rest)]
    return json.loads(planeval(*argv, "--format", "json").stdout)


SCORE = f"score {DEMO[0]} {DEMO[1]} --by calls"
TO_MAKE = {
    "schema": "planeval.to-make/1", "data": "gold.jsonl", "catalog": "tools.json", "tools": ["Geo.find"],
    "parameters": [{"tool": "Geo.find", "parameter": "city"}],
    "pairs": [{"producer": "Geo.find", "consumer": "book"}],
    "edges": [{"producer": "Geo.find", "output": "id", "consumer": "book", "parameter": "id"}],
    "shapes": ["(())"], "depths": [2], "kinds": ["null"],
}  # fmt: skip
COMPARE = f"compare {DEMO[0]} {DEMO[0]} --gold {DEMO[1]}"
COMPARE_THREE = f"compare {DEMO[0]} {DEMO[0]} {DEMO[0]} --gold {DEMO[1]}"
PLAN = {
    "schema": "planeval.plan/1",
    "calls": [{"id": "a", "app": "Geo", "name": "find", "arguments": {"city": "Rome"}, "returns": ["id"]},
              {"id": "b", "name": "book",
               "arguments": {"hotel": {"$ref": "a", "path": ["id", 0]},
                             "note": {"$template": ["at ", {"$ref": "a"}]}, "raw": {"$literal": {"$ref": 3}},
                             "more": [1, 2.5, True, None, {"deep": {"$ref": "a"}}]}},
              {"id": "c", "name": "f", "arguments": [["x", 1], ["x", {"$ref": "b"}]], "result": {"any": 1}}],
    "answer": {"booking": {"$ref": "b"}},
}  # fmt: skip
PATCH = {
    "schema": "planeval.patch/1",
    "operations": [{"op": "set", "id": "a", "argument": "city", "value": {"$ref": "b"},
                    "why": "argument.value"},
                   {"op": "unset", "id": "a", "argument": "city"},
                   {"op": "rename", "id": "a", "app": None, "name": "g"},
                   {"op": "arguments", "id": "a", "arguments": [["x", 1], ["x", 2]]},
                   {"op": "remove", "id": "c"},
                   {"op": "add", "call": {"id": "d", "name": "f", "arguments": {}}, "after": None},
                   {"op": "answer", "value": {"x": {"$ref": "a"}}}, {"op": "order", "ids": ["b", "a"]}],
}  # fmt: skip
RECORD = {
    "id": "r",
    "gold": [{"id": "c1", "name": "f", "arguments": {"city": "Roma", "day": 2}},
             {"id": "c2", "name": "g", "arguments": {}}],
    "alternatives": ["h(#x='1')", [{"id": "z", "name": "g", "arguments": {}}],
                     {"gold": [{"id": "z", "name": "g", "arguments": {}}], "optional": ["z"]}],
    "optional": ["c1"], "before": [["c1", "c2"]], "unordered": [["c1", "c2"]],
    "accepted": {"c1": {"city": ["Rome", "Roma"], "day": 1}},
}  # fmt: skip
POLICY = {
    "name": "own", "extends": "lenient", "order": "free", "names": "loose", "answer": False, "inline": True,
    "repeats": False, "stateful": ["pay*"], "wildcards": ["$$$", {}], "note": "all keys",
    "failed": "free", "extra": "free",
    "reads": "count", "tool": [{"name": "get_*", "counts": "never"}, {"name": ["a"], "counts": "always"}],
    "rule": [{"tool": "f", "argument": "x", "compare": ["casefold", "set"], "tolerance": 1, "relative": 0.5},
             {"argument": "y", "compare": "date", "accepted": [1, "a"], "aliases": {"a": "b"}, "default": [1],
              "pattern": "a+"},
             {"argument": "u", "aliases": "cities", "function": "operator:eq"}],
}  # fmt: skip
WORLD = {
    "name": "own", "about": "one of each", "today": "2026-05-04", "pools": {"city": ["Oslo", 7], "one": "x"},
    "aliases": {"nyc": "New York"}, "types": {"since": "integer"},
    "tables": {"t": {"columns": {"a": "integer:1..4", "b": "pool:city", "c": [1, 2], "d": "date:1..28"},
                     "rows": 3, "unique": ["a", "b"], "taken": "taken"}},
    "api": {"App.f": {"about": "finds", "args": ["a?", "since?"], "reads": "t", "match": {"since": "a >="},
                      "where": "a > 0", "returns": {"a": True, "n": "a + 1"}, "empty": "fail"},
            "g": {"args": ["b"], "reads": "t", "known": {"b": "t.b"}, "require": [["a > 0", "none left"]],
                  "set": {"a": 2}, "adds": "t", "values": {"a": "3"}, "then": ["DELETE FROM t WHERE a = 9"],
                  "fact": {"a": 1}, "returns": ["a", "b"]}},
    "generic": {"h": "date, note? -> id, done:boolean"},
}  # fmt: skip
OWN_ROW = {
    "name": "own", "title": "Own", "shape": "sections", "open": ["<c>"], "close": ["</c>"], "inner": "json",
    "each": True, "rows": [99], "typed": True, "call": '{"tool": "$name", "args": "$arguments"}',
    "example": '<c>{"tool": "f", "args": {"a": 1}}</c>',
}  # fmt: skip
SETTINGS = {
    **POLICY, "fields": {"id-field": "a.0", "text-field": "b", "gold-id-field": "c", "gold-text-field": "d"},
    "dialects": {"from": "json", "gold-from": "nestful", "wrappers": ["own.toml"]},
    "metrics": ["exact", "calls"], "thresholds": {"exact": 0.5, "calls": {"recall": 1}},
}  # fmt: skip
EFFECTS = {
    "verdict": "different", "results_same": False, "state_same": None, "outputs_seen": True, "reached": True,
    "said": "different",
}  # fmt: skip
PRICES = {"models": {"m": {"input": 2.5, "output": 10}}}
GOOD: dict[str, list[Any]] = {
    "settings": [SETTINGS, {}, {"metrics": "exact", "dialects": {"wrappers": "own.toml"}}, SETTINGS],
    "policy": [*map(toml, ROOT.glob("data/policies/*.toml")), toml("docs/examples/comparison/travel.toml"),
               POLICY],
    "world": [*map(toml, ROOT.glob("data/worlds/*.toml")), WORLD],
    "record": [*(json.loads(line) for line in (ROOT / GOLDS).read_text(encoding="utf-8").splitlines()),
               RECORD, {"gold": "f(#x='1')"}],
    "plan": [PLAN, PLAN["calls"]],
    "wrappers": [toml("data/wrappers.toml"), {"dialect": [OWN_ROW]}],
    "theme": [*map(toml, ROOT.glob("viz/themes/*.toml"))], "patch": [PATCH, {**PATCH, "id": "r7"}],
    "datasets": [json.loads((ROOT / "data/datasets.json").read_text(encoding="utf-8"))],
    "prices": [PRICES], "to-make": [TO_MAKE],
    "report": [SCORE], "effects": [EFFECTS], "contrast": [COMPARE], "comparison": [COMPARE_THREE],
}  # fmt: skip
BAD: dict[str, list[tuple[str, Any]]] = {
    "settings": [
        ("ordr", "free"), ("fields", "id"), ("fields/id", "key"), ("fields/id-field", 3),
        ("dialects/from", ["json"]), ("dialects/wrappers", 3), ("metrics", 3), ("metrics/0", 3),
        ("thresholds", ["exact=1"]), ("thresholds/exact", "high"), ("thresholds/calls/recall", "high"),
    ],
    "policy": [
        ("ordr", "free"), ("name", 3), ("extends", ["lenient"]), ("order", "random"), ("names", "close"),
        ("answer", "yes"), ("inline", 1), ("repeats", 0), ("stateful", "pay"), ("stateful/0", 1),
        ("wildcards", "$$$"), ("catalog", 3), ("note", 3), ("rule", {}), ("rule/0", "f"), ("failed", True),
        ("extra", True), ("missing", "no"), ("reads", "seldom"),
        ("tool", "f"), ("tool/0/counts", "seldom"), ("tool/0/counts", DELETE),
        ("tool/0/name", 3), ("tool/0/name", DELETE), ("tool/1/name", [3]), ("tool/1/when", "never"),
        ("rule/0/tools", "f"), ("rule/0/tool", ["f"]), ("rule/0/argument", 3), ("rule/0/compare", []),
        ("rule/0/compare", "casefolded"), ("rule/0/compare/1", "sets"), ("rule/0/tolerance", -1),
        ("rule/0/tolerance", True), ("rule/0/relative", "much"), ("rule/1/accepted", "a"),
        ("rule/1/aliases", ["a"]), ("rule/1/aliases/a", 1), ("rule/1/pattern", 1), ("rule/2/function", 1),
    ],
    "world": [
        ("colour", 1), ("name", 3), ("about", []), ("today", "tomorrow"), ("pools", 3), ("pools/city", 3),
        ("pools/city/0", ["Oslo"]), ("aliases/nyc", 1), ("types/since", "colour"), ("tables", []),
        ("tables/t", 3), ("tables/t/columns", DELETE), ("tables/t/colour", 3),
        ("tables/t/columns/a b", "text"), ("tables/t/columns/a", 4), ("tables/t/columns/c", []),
        ("tables/t/rows", -1), ("tables/t/rows", 100_001), ("tables/t/rows", True), ("tables/t/unique", 3),
        ("tables/t/taken", 3), ("api", []), ("api/g", "x"), ("api/g/colour", 1), ("api/g/about", 1),
        ("api/g/args", 3), ("api/g/args/0", 3), ("api/g/reads", 3), ("api/App.f/match", "a"),
        ("api/App.f/match/since", 3), ("api/App.f/where", 3), ("api/g/known", "t.b"), ("api/g/known/b", 3),
        ("api/g/require", "a > 0"), ("api/g/require/0", "a > 0"), ("api/g/require/0", ["a > 0"]),
        ("api/g/set", ["a"]), ("api/g/set/a", ["a"]), ("api/g/adds", 1), ("api/g/values", "a"),
        ("api/g/then", 1), ("api/g/deletes", "yes"), ("api/g/fact", "a"), ("api/g/returns", 3),
        ("api/App.f/returns/n", ["a"]), ("api/App.f/empty", "maybe"), ("api/g/python", 1), ("generic/h", 1),
    ],
    "record": [
        ("alternatives", "f()"), ("alternatives/0", 3), ("alternatives/2/optional", "z"), ("optional", "c1"),
        ("optional/0", 1), ("before", "c1"), ("before/0", ["c1"]), ("before/0/1", 2), ("unordered", "c1"),
        ("unordered/0", "c1"), ("accepted", ["c1"]), ("accepted/c1", ["Rome"]),
    ],
    "plan": [
        ("schema", "planeval.plan/2"), ("calls", "f"), ("calls", DELETE), ("calls/0", "f"),
        ("calls/0/name", DELETE), ("calls/0/argumnets", {}), ("calls/0/arguments", 3),
        ("calls/1/arguments/hotel/path", "id"), ("calls/1/arguments/hotel/path/0", 1.5),
        ("calls/1/arguments/note/$template/0", 3), ("calls/1/arguments/more/4/deep/path", "id"),
        ("answer/booking/path", "id"),
    ],
    "wrappers": [
        ("dialect", {}), ("dialect", []), ("dialect", DELETE), ("dialect/0", "own"), ("dialect/0/opens", []),
        ("dialect/0/name", DELETE), ("dialect/0/name", ""), ("dialect/0/shape", "circles"),
        ("dialect/0/example", ""), ("dialect/0/open", "<c>"), ("dialect/0/open", []),
        ("dialect/0/open", DELETE), ("dialect/0/open/0", 1), ("dialect/0/rows/0", True),
        ("dialect/0/each", "yes"), ("dialect/0/typed", 1), ("dialect/0/call", 1), ("dialect/0/title", 1),
    ],
    "prices": [
        ("model", {}), ("models", DELETE), ("models", []), ("models/m", 3), ("models/m/input", DELETE),
        ("models/m/input", "3"), ("models/m/output", -1), ("models/m/cached", 1),
    ],
    "theme": [
        ("boxes", {}), ("width", "46"), ("width", True), ("text", DELETE), ("graph", "x"),
        ("graph/rankdir", 1), ("roles", DELETE), ("roles/plain", DELETE), ("roles/nice", {}),
        ("roles/missing/ansi", "red"), ("roles/missing/sign", 1), ("roles/missing/text", DELETE),
        ("roles/missing/colour", "x"), ("roles/missing/line", []),
    ],
    "patch": [
        ("schema", "planeval.patch/2"), ("schema", DELETE), ("operation", []), ("operations", DELETE),
        ("operations", {}), ("operations/0", "set"), ("operations/0/op", "burn"), ("operations/0/op", DELETE),
        ("operations/0/argument", DELETE), ("operations/0/value", DELETE), ("operations/0/value/path", "x"),
        ("operations/0/id", 3), ("operations/0/note", "x"), ("operations/1/argument", 3),
        ("operations/2/name", DELETE), ("operations/2/app", 3), ("operations/3/arguments", {"x": 1}),
        ("operations/3/arguments/0", ["x"]), ("operations/5/call", 1), ("operations/5/call/id", DELETE),
        ("operations/5/call/name", DELETE), ("operations/5/after", 1), ("operations/6/value", 1),
        ("operations/6/value", DELETE), ("operations/7/ids", "a"),
    ],
    "datasets": [
        ("0/name", ""), ("0/records", "801"), ("0/parts", "a"), ("0/colour", 1), ("0/address", "here"),
        ("0/files", []), ("0/files/0/sha256", "abc"), ("0/files/0/url", DELETE), ("0/files/0/bytes", -1),
        ("0/reader", DELETE),
    ],
    "to-make": [
        ("schema", "planeval.to-make/2"), ("data", DELETE), ("catalog", 5), ("tools", "f"),
        ("pairs/0/consumer", DELETE), ("edges/0/output", 1), ("depths/0", -1), ("shape", []),
    ],
    "report": [
        ("schema", "planeval.report/2"), ("pairs", "13"), ("figures/exact/value", "0.5"),
        ("figures/exact/counts", {"part": 1}), ("rows/0/state", "fine"), ("rows/0/reason", DELETE),
        ("breakdown/calls", 3), ("colour", 1),
    ],
    "effects": [("verdict", "alike"), ("state_same", "yes"), ("reached", DELETE), ("colour", 1)],
    "contrast": [
        ("schema", DELETE), ("samples", None), ("records/first/read", DELETE), ("figures/exact/p", "0.5"),
        ("only_first", {}), ("colour", 1),
    ],
    "comparison": [
        ("schema", "planeval.contrast/1"), ("verdicts/0", 1), ("contrasts/1/figures/exact/p_holm", "0.5"),
        ("systems", DELETE), ("colour", 1),
    ],
}  # fmt: skip


def changed(data: Any, path: str, value: Any) -> Any:
    data = inside = deepcopy(data)
    *steps, last = (int(step) if step.isdigit() else step for step in path.split("/"))
    for step in steps:
        inside = inside[step]
    if value is DELETE:
        del inside[last]
    else:
        inside[last] = value
    return data


def dumped(data: Any) -> str:
    if isinstance(data, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {dumped(v)}" for k, v in data.items()) + "}"
    if isinstance(data, list):
        return "[" + ", ".join(map(dumped, data)) + "]"
    return json.dumps(data)


def file(folder: Path, data: Any) -> str:
    path = folder / "own.toml"
    path.write_text("".join(f"{json.dumps(k)} = {dumped(v)}\n" for k, v in data.items()), encoding="utf-8")
    return str(path)


def read_wrappers(data: Any, folder: Path) -> None:
    frameworks.parse(tomllib.loads(Path(file(folder, data)).read_text(encoding="utf-8")), "own.toml")


def read_record(data: Any, _folder: Path) -> None:
    read_gold(Record("gold.json", 0, "r", data.get("gold"), fields=data))


def read_plan(data: Any, _folder: Path) -> None:
    notes = [n for n in parse(data, dialect="plan").diagnostics if n.code != "argument.duplicate"]
    if notes:
        raise PlanevalError(str(notes))


def read_world(data: Any, folder: Path) -> None:
    path = folder / "own.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    load(path)


def read_patch(data: Any, _folder: Path) -> None:
    before = parse(PLAN, dialect="plan")
    for each in data.get("operations", ()) if isinstance(data.get("operations"), list) else ():
        apply_patch(before, {**data, "operations": [each]})
    apply_patch(before, {**data, "operations": []} if data.get("operations") == PATCH["operations"] else data)


def by_model(model: Any) -> Callable[[Any, Path], None]:
    def read(data: Any, _folder: Path) -> None:
        try:
            model.model_validate(data)
        except ValueError as error:
            raise PlanevalError(str(error)) from None

    return read


READERS: dict[str, Callable[[Any, Path], Any]] = {
    "settings": lambda data, folder: read_settings(Path(file(folder, data))),
    "policy": lambda data, folder: load_policy(file(folder, data)),
    "theme": lambda data, folder: theme(file(folder, data)),
    "prices": lambda data, folder: read_prices(Path(file(folder, data))),
    "world": read_world, "record": read_record, "plan": read_plan, "patch": read_patch,
    "wrappers": read_wrappers, "datasets": by_model(DatasetsFile), "to-make": by_model(ToMakeFile),
    "report": by_model(ReportData), "effects": by_model(EffectsData), "contrast": by_model(ContrastData),
    "comparison": by_model(ComparisonData),
}  # fmt: skip


@pytest.mark.parametrize("name", SCHEMAS)
def test_good_files_follow_their_schema_and_bad_ones_do_not(name: str, tmp_path: Path) -> None:
    schema = json.loads(planeval("schema", name).stdout)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    good = [written(each) if isinstance(each, str) else each for each in GOOD[name]]
    for data in good:
        validator.validate(data)
        READERS[name](data, tmp_path)
    first = ("plan", "datasets", "to-make", "report", "contrast", "comparison", "patch", "theme")
    base = RECORD if name == "record" else good[0 if name in first else -1]
    for number, (path, value) in enumerate(BAD[name]):
        data = changed(base, path, value)
        folder = tmp_path / str(number)  # a theme that was read once is not read again
        folder.mkdir()
        assert not validator.is_valid(data), (path, value)
        with pytest.raises(PlanevalError):
            print(path, value, READERS[name](data, folder))


@pytest.mark.parametrize(("model", "described", "apart"), [
    (Row, table.Wrapper, set()), (RuleEntry, Rule, {"where", "form", "weighs"}), (RoleEntry, Role, set()),
    (ThemeFile, Theme, {"name"}), (DatasetEntry, Dataset, set()), (FileEntry, PublishedFile, set()),
])  # fmt: skip
def test_a_model_has_the_keys_of_its_class(model: type[Described], described: Any, apart: set[str]) -> None:
    assert set(model.known_keys()) == {field.name for field in fields(described)} - apart


def test_gold_records_and_patches_have_the_keys_that_are_read() -> None:
    assert set(GoldRecord.known_keys()) == {"alternatives", *GOLD_TERMS}
    schema = json.loads(planeval("schema", "patch").stdout)
    operations = schema["properties"]["operations"]["items"]["discriminator"]["mapping"]
    assert set(operations) == set(patch._OPERATIONS)


def test_patches_that_we_make_follow_the_schema() -> None:
    for pair in json.loads((ROOT / "data/selftest/plan_pairs.json").read_text(encoding="utf-8")):
        found = make_patch(diff(parse(pair["pred"]), parse(pair["gold"])))
        PatchFile.check(found, "patch")


def test_the_list_and_a_schema_into_a_file(tmp_path: Path) -> None:
    listed = planeval("schema").stdout
    assert all(f"\n{name} " in listed for name in SCHEMAS)
    out = tmp_path / "policy.json"
    assert planeval("schema", "policy", "-o", str(out)).returncode == 0
    assert json.loads(out.read_text())["title"] == "PolicyFile"
    wrong = planeval("schema", "polices")
    assert (wrong.returncode, "'policy', 'world'" in wrong.stderr) == (2, True)


@pytest.mark.parametrize(("argv", "data", "said"), [
    (("diff", *DEMO, "--policy"), {"rule": [{}, {"argument": "x", "tolerence": 1}]},
     "own.toml, line 1, rule 2: there is no key 'tolerence'; did you mean 'tolerance'?"),
    (("diff", *DEMO, "--policy"), {"rule": [{"compare": "dates"}]},
     "own.toml, line 1, rule 1: compare is 'dates', expected one of exact, typed, casefold"),
    (("render", "data/demo/gold.json", "--format", "dot", "--theme"),
     changed(toml("viz/themes/default.toml"), "roles/missing/ansi", "red"),
     "own.toml, roles.missing: ansi is 'red', expected numbers such as '1;31'"),
    (("parse", DEMO[1], "--wrappers"), {"dialect": [{**OWN_ROW, "opne": ["<c>"]}]},
     "own.toml: dialect 'own': there is no key 'opne'; did you mean 'open'?"),
    (("execute", DEMO[1], "--tools"), changed(WORLD, "api/g/returnz", []),
     "own.toml, api.g: there is no key 'returnz'; did you mean 'returns'?"),
])  # fmt: skip
def test_a_wrong_key_is_named(argv: tuple[str, ...], data: Any, said: str, tmp_path: Path) -> None:
    path = file(tmp_path, data)
    done = planeval(*argv, f"world:{path}" if argv[0] == "execute" else path, cwd=ROOT)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_a_wrong_gold_record_and_a_wrong_operation_are_named(tmp_path: Path) -> None:
    gold, pred, plan = (tmp_path / name for name in ("gold.jsonl", "pred.jsonl", "plan.json"))
    pred.write_text("".join(json.dumps({"id": i, "output": RECORD["gold"]}) + "\n" for i in "rs"))
    wrong = json.dumps({**RECORD, "id": "r", "before": [["c1"]]})
    gold.write_text(f"{wrong}\n{json.dumps({**RECORD, 'id': 's'})}\n")
    done = planeval("diff", pred, gold)
    assert done.returncode == 1
    assert "line 1, record 1 (id r): before 1 is ['c1'], expected 2 call ids" in done.stdout
    assert "2 pairs: 1 same, 1 gold unreadable" in done.stdout
    gold.write_text(f"{wrong}\n")
    assert planeval("diff", pred, gold).returncode == 3
    plan.write_text(json.dumps(PLAN))
    twice = [{"op": "set", "id": "c", "argument": "x", "value": 1}]
    for path, value, said in (
        ("operations/4/op", "remov", "operations 5: op is 'remov', expected one of set,"),
        ("operations/4/op", "remov", "did you mean 'remove'?"), ("operations", twice, "an argument twice"),
    ):  # fmt: skip
        gold.write_text(json.dumps(changed(PATCH, path, value)))
        done = planeval("convert", plan, "--patch", gold)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_shipped_files_are_read_without_pydantic_and_users_with_it(tmp_path: Path) -> None:
    pred, gold = DEMO
    own = file(tmp_path, {"order": "free"})
    assert "pydantic" in third_party("diff", pred, gold, "--policy", own)
    for argv in (
        ("diff", pred, gold, "--policy", "lenient"),
        ("render", "data/demo/gold.json", "--format", "dot", "--theme", "dark"),
        ("parse", "data/demo/gold.json", "--from", "openai-chat"),
        ("execute", "data/worlds/library.txt", "--tools", "world:library"),
        ("score", pred, gold, "--format", "json"), ("schema",),
    ):  # fmt: skip
        assert "pydantic" not in third_party(*argv), argv
