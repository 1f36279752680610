"""JSON Schemas of what people write: shipped files follow them, wrong ones do not, and our readers agree."""

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
from planner_eval.results.schema import RoleEntry, ThemeFile
from tests.conftest import ROOT, tables
from tests.inside import planeval
from tests.test_imports import third_party

TABLES = tables(__file__)

DEMO = ("data/demo/pred.jsonl", "data/demo/gold.jsonl")
GOLDS = "docs/examples/comparison/gold.jsonl"
DELETE = "DELETE"
"""Stands in a table for a value that is taken away."""


def toml(path: str | Path) -> Any:
    return tomllib.loads((ROOT / path).read_text(encoding="utf-8"))


@cache
def written(command: str) -> Any:
    name, *rest = command.split()
    argv = [name, *(str(ROOT / word) if word.startswith("data/") else word for word in rest)]
    return json.loads(planeval(*argv, "--format", "json").stdout)


SCORE = f"score {DEMO[0]} {DEMO[1]} --by calls"
TO_MAKE = TABLES["TO_MAKE"]
COMPARE = f"compare {DEMO[0]} {DEMO[0]} --gold {DEMO[1]}"
COMPARE_THREE = f"compare {DEMO[0]} {DEMO[0]} {DEMO[0]} --gold {DEMO[1]}"
PLAN = TABLES["PLAN"]
PATCH = TABLES["PATCH"]
RECORD = TABLES["RECORD"]
POLICY = TABLES["POLICY"]
WORLD = TABLES["WORLD"]
OWN_ROW = TABLES["OWN_ROW"]
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


def changed(data: Any, path: str, value: Any) -> Any:
    data = inside = deepcopy(data)
    *steps, last = (int(step) if step.isdigit() else step for step in path.split("/"))
    for step in steps:
        inside = inside[step]
    if value == DELETE:
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
        if name in READERS:
            READERS[name](data, tmp_path)
    first = ("plan", "datasets", "to-make", "report", "contrast", "comparison", "patch", "theme")
    base = RECORD if name == "record" else good[0 if name in first else -1]
    for number, (path, value) in enumerate(TABLES["BAD"][name]):
        data = changed(base, path, value)
        folder = tmp_path / str(number)  # a theme that was read once is not read again
        folder.mkdir()
        assert not validator.is_valid(data), (path, value)
        if name in READERS:  # what we write ourselves is read by others
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
    assert set(operations) == {operation["op"] for operation in PATCH["operations"]}


def test_patches_that_we_make_follow_the_schema() -> None:
    for pair in json.loads((ROOT / "data/selftest/plan_pairs.json").read_text(encoding="utf-8")):
        found = make_patch(diff(parse(pair["pred"]), parse(pair["gold"])))
        PatchFile.check(found, "patch")


@pytest.mark.parametrize(("argv", "data", "said"), [
    *TABLES["a_wrong_key_is_named"],
    (("render", "data/demo/gold.json", "--format", "dot", "--theme"),
     changed(toml("viz/themes/default.toml"), "roles/missing/ansi", "red"),
     "own.toml, roles.missing: ansi is 'red', expected numbers such as '1;31'"),
    (("execute", DEMO[1], "--tools"), changed(WORLD, "api/g/returnz", []),
     "own.toml, api.g: there is no key 'returnz'; did you mean 'returns'?"),
])  # fmt: skip
def test_a_wrong_key_is_named(argv: tuple[str, ...], data: Any, said: str, tmp_path: Path) -> None:
    path = file(tmp_path, data)
    done = planeval(*argv, f"world:{path}" if argv[0] == "execute" else path, cwd=ROOT)
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
