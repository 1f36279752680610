"""Users' JSON that holds no plans: what is wrong with a file is said with file, line and column."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.base.errors import ParseError
from planner_eval.base.json_files import decode_field, read_json, read_json_lines
from tests.inside import planeval

PLAN = '[{"name": "f", "arguments": {"x": 1}}]'
TOOL = '{"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}}'
BROKEN = {
    "repeated key": (
        '{\n "a": 1,\n "b": {"c": 2},\n "a": 3}',
        "line 4, column 2",
        'has the key "a" twice',
    ),
    "escaped key": ('{"a": 1,\n "\\u0061": 2}', "line 2, column 2", "twice"),
    "broken spot": ('{\n "a": 1\n "b": 2}', "line 3, column 2", "expected ',' or '}'"),
    "goes on": ('{"a": 1}\n\n]', "line 3, column 1", "not JSON"),
    "100,000 levels": ('{"a":\n' + "[" * 100_000, "line 2, column 200", "nests deeper than 200 levels"),
    "lines": (f"{TOOL}\n\n{TOOL[:-1]}\n", f"line 3, column {len(TOOL)}", "not JSON"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_said_with_its_place(tmp_path: Path, name: str) -> None:
    text, place, what = BROKEN[name]
    file, plan = tmp_path / f"own.json{'l' * (name == 'lines')}", tmp_path / "plan.json"
    file.write_text(text)
    plan.write_text(PLAN)
    for argv in (("convert", plan, "--patch", file), ("check", plan, "--catalog", file)):
        if name != "lines" or argv[0] == "check":
            done = planeval(*argv)
            assert (done.returncode, done.stdout) == (2, "")
            assert [part in done.stderr for part in (f"{file.name}: ", place, what)] == [True] * 3


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(values)
def test_what_json_writes_is_read(value: object) -> None:
    text = json.dumps(value)
    assert read_json(text) == decode_field(f"\n{text} ") == value
    assert [line.data for line in read_json_lines(f"{text}\n\n{text}")] == [value, value]


@given(st.dictionaries(st.text(), values, min_size=1), values, st.data())
def test_a_key_given_twice_is_found(given_: dict[str, object], value: object, data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(sorted(given_)))
    start = json.dumps([{"k": given_}])[:-3] + ", "
    with pytest.raises(ParseError) as caught:
        read_json(f"{start}{json.dumps(key)}: {json.dumps(value)}}}}}]")
    assert caught.value.offset == len(start)
