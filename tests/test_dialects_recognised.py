"""What recognises a dialect is its module or its row; the short ways give what the search gives."""

import ast
import json
import subprocess
import sys

import pytest

from planner_eval.base.errors import LimitError
from planner_eval.base.limits import Limits
from planner_eval.plan.linking import link
from planner_eval.reading import dialects
from planner_eval.reading.dialects.dialect import SHAPES
from planner_eval.reading.dialects.finding.find import find_plan
from planner_eval.reading.dialects.finding.whole_texts import read_plain_text, read_whole_text
from planner_eval.reading.dialects.read import parse
from planner_eval.reading.dialects.table import table
from tests.conftest import ROOT, tabled, tables

TABLES = tables(__file__)

RECOGNISERS = {
    "detect.py": {"json"},
    "finding/find.py": {"appbench", "json", "code"},  # <<<code>>> is a section's name
    "finding/whole_texts.py": {"appbench", "json", "pythonic"},
    "read.py": {"json"},
}
"""A file of the registry and the dialects it may name: what is left over, and the lines read in prose."""


@pytest.mark.parametrize("name", RECOGNISERS)
def test_the_registry_names_no_dialect(name: str) -> None:
    tree = ast.parse((ROOT / "planner_eval" / "reading" / "dialects" / name).read_text(encoding="utf-8"))
    texts = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    assert texts & set(dialects.names()) <= RECOGNISERS[name]


def agree(text: str) -> bool:
    """Whether the short way took the text; where it did, the search must say the same."""
    whole = read_whole_text(text, Limits()) or read_plain_text(text, Limits())
    if whole is None:
        return False
    found = find_plan(text, Limits())
    assert found.dialect == whole[0]
    ours, theirs = link(whole[1]), link(found.raw)
    assert ours == theirs
    assert [d.code for d in ours.diagnostics] == [d.code for d in theirs.diagnostics]
    return True


@tabled("text, short")
def test_a_plain_list_of_calls_is_read_alike_by_the_short_way(text: str, short: bool) -> None:
    assert agree(text) is short


@pytest.mark.parametrize("name", dialects.names())
def test_an_example_is_read_alike_by_the_short_way_and_as_data(name: str) -> None:
    text = dialects.get(name).example
    agree(text)
    try:
        data = json.loads(text)
    except ValueError:
        return
    as_text, as_data = parse(json.dumps(data)), parse(data)
    assert (as_data.dialect, as_data.calls) == (as_text.dialect, as_text.calls)


TAKEN = TABLES["TAKEN"]
LEFT = TABLES["LEFT"]


def test_plans_from_end_to_end_take_the_short_way() -> None:
    gold = [json.loads(line)["gold"] for line in (ROOT / "data/demo/gold.jsonl").read_text().splitlines()]
    for text in (*TAKEN, *(one if isinstance(one, str) else json.dumps(one) for one in gold)):
        assert agree(text), text
    for text in LEFT:
        assert read_whole_text(text, Limits()) is None, text


def test_data_that_is_too_long_or_too_deep_says_so() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    long = "argument 'n' of call 1 is an integer of more than"
    for given, said in (({"n": 10**5000, "x": {"$ref": "a"}}, long), ({"a": deep}, "nests deeper than")):
        with pytest.raises(LimitError, match=said):
            parse([{"name": "f", "arguments": given}])


def test_signs_stand_where_they_are_looked_for() -> None:
    for row in table().values():
        assert bool(row.known) == bool(row.sign or row.tool), row.name
        assert not row.weak or SHAPES[row.shape].form == "text", row.name


TEXT = {"table", "detect", "find", "plan"}


@pytest.mark.parametrize(("source", "never"), [
    ('\'[{"name": "f", "arguments": {"price": "5 $"}}]\'', TEXT | {"appbench"}),
    ('\'[{"name": "f", "label": "a", "arguments": {}}]\'', TEXT | {"appbench"}),
    ("\"a = f(#x='1')\"", TEXT | {"nestful"}),
    ('[{"name": "f", "arguments": {"a": 1}}]', {"find", "plan", "nestful", "appbench", "nodes", "traces"}),
])  # fmt: skip
def test_recognising_imports_no_other_dialect(source: str, never: set[str]) -> None:
    code = f"import sys; from planner_eval import parse; print(len(parse({source}).calls), *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    calls, *modules = done.stdout.split()
    assert calls == "1"
    assert not {f"planner_eval.reading.dialects.{name}" for name in never}.intersection(modules)
