"""What recognises a dialect stands in its module or its row: the registry names none and imports none."""

from __future__ import annotations

import ast
import json
import subprocess
import sys

import pytest

from planner_eval import dialects
from planner_eval.base.errors import LimitError
from planner_eval.base.limits import Limits
from planner_eval.dialects.find import find
from planner_eval.dialects.read import parse
from planner_eval.dialects.shapes import SHAPES
from planner_eval.dialects.table import table
from planner_eval.dialects.whole import read_whole
from tests.conftest import ROOT

RECOGNISERS = {
    "detect.py": {"json"},
    "find.py": {"appbench", "json", "code"},  # <<<code>>> is a section's name
    "whole.py": {"appbench", "json"},
    "read.py": {"json"},
}
"""A file of the registry and the dialects it may name: what is left over, and the lines read in prose."""


@pytest.mark.parametrize("name", RECOGNISERS)
def test_the_registry_names_no_dialect(name: str) -> None:
    tree = ast.parse((ROOT / "planner_eval" / "dialects" / name).read_text(encoding="utf-8"))
    texts = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    assert texts & set(dialects.names()) <= RECOGNISERS[name]


@pytest.mark.parametrize("name", dialects.names())
def test_the_short_way_reads_an_example_as_the_search_does(name: str) -> None:
    text = dialects.get(name).example
    whole = read_whole(text, Limits())
    if whole is not None:
        found = find(text, Limits())
        assert (found.dialect, found.raw.calls) == (whole[0], whole[1].calls)


@pytest.mark.parametrize("name", dialects.names())
def test_data_is_in_the_dialect_of_its_text(name: str) -> None:
    """A plan says the same as a text and as the JSON data in it."""
    try:
        data = json.loads(dialects.get(name).example)
    except ValueError:
        return
    text, structure = parse(json.dumps(data)), parse(data)
    assert (structure.dialect, structure.calls) == (text.dialect, text.calls)


def test_data_with_a_number_too_long_to_write_says_so() -> None:
    data = [{"name": "f", "arguments": {"n": 10**5000, "x": {"$ref": "a"}}}]
    with pytest.raises(LimitError, match="argument 'n' of call 1 is an integer of more than"):
        parse(data)


def test_data_that_nests_too_deeply_says_so() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(LimitError, match="nests deeper than"):
        parse([{"name": "f", "arguments": {"a": deep}}])


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
    assert not {f"planner_eval.dialects.{name}" for name in never}.intersection(modules)
