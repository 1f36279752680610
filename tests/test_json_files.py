"""Users' JSON that holds no plans: what is wrong with a file is said with file, line and column."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.base.errors import ParseError
from planner_eval.base.jsonfile import read_json, read_json_lines, value_of
from tests.inside import planeval

PLAN = "[{'name': 'f', 'arguments': {'x': 1}}]".replace("'", '"')
TOOL = '{"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}}'
BROKEN = {
    "repeated key": ('{\n "a": 1,\n "b": {"c": 2},\n "a": 3}', "line 4, column 2", 'gives the key "a" twice'),
    "escaped key": ('{"a": 1,\n "\\u0061": 2}', "line 2, column 2", "twice"),
    "broken spot": ('{\n "a": 1\n "b": 2}', "line 3, column 2", "expected ',' or '}'"),
    "goes on": ('{"a": 1}\n\n]', "line 3, column 1", "not JSON"),
    "100,000 levels": ('{"a":\n' + "[" * 100_000, "line 2, column 200", "nests deeper than 200 levels"),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("kind", ["patch", "catalog"])
def test_a_broken_file_is_said_with_its_place(tmp_path: Path, kind: str, name: str) -> None:
    text, place, what = BROKEN[name]
    file, plan = tmp_path / f"{kind}.json", tmp_path / "plan.json"
    file.write_text(text)
    plan.write_text(PLAN)
    argv = (
        ("apply", str(file), str(plan)) if kind == "patch" else ("check", str(plan), "--catalog", str(file))
    )
    done = planeval(*argv)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{kind}.json: " in done.stderr
    assert place in done.stderr
    assert what in done.stderr
    assert "Traceback" not in done.stderr


def test_a_key_given_twice_in_one_line_of_patches_costs_that_patch_alone(tmp_path: Path) -> None:
    patch = {"schema": "planeval.patch/1", "operations": []}
    lines = [json.dumps({"id": key} | patch) for key in ("q1", "q2")]
    lines[1] = lines[1].replace('"operations": []', '"operations": [], "operations": []')
    (tmp_path / "patches.jsonl").write_text("\n".join(lines))
    plans = [{"id": key, "plan": json.loads(PLAN)} for key in ("q1", "q2")]
    (tmp_path / "plans.json").write_text(json.dumps(plans))
    done = planeval("apply", str(tmp_path / "patches.jsonl"), str(tmp_path / "plans.json"))
    assert done.returncode == 1
    assert 'patches.jsonl, line 2, column 62: an object gives the key "operations" twice' in done.stderr
    first, second = map(json.loads, done.stdout.splitlines())
    assert (first["id"], "error" in first, "error" in second) == ("q1", False, True)


def test_a_catalog_of_json_lines_with_a_broken_line(tmp_path: Path) -> None:
    (tmp_path / "tools.jsonl").write_text(f"{TOOL}\n\n{TOOL[:-1]}\n")
    (tmp_path / "plan.json").write_text(PLAN)
    done = planeval("check", str(tmp_path / "plan.json"), "--catalog", str(tmp_path / "tools.jsonl"))
    assert done.returncode == 2
    assert f"tools.jsonl: line 3, column {len(TOOL)}: not JSON" in done.stderr


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(values)
def test_what_json_writes_is_read(value: object) -> None:
    text = json.dumps(value)
    assert read_json(text) == value_of(f"\n{text} ") == value
    assert [line.data for line in read_json_lines(f"{text}\n\n{text}")] == [value, value]


@given(st.dictionaries(st.text(), values, min_size=1), values, st.data())
def test_a_key_given_twice_is_found_where_it_stands(
    given_: dict[str, object], value: object, data: st.DataObject
) -> None:
    key = data.draw(st.sampled_from(sorted(given_)))
    start = json.dumps([{"k": given_}])[:-3] + ", "
    with pytest.raises(ParseError) as caught:
        read_json(f"{start}{json.dumps(key)}: {json.dumps(value)}}}}}]")
    assert caught.value.offset == len(start)
