"""Users' JSON that holds no plans: what is wrong with a file is said with file, line and column."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.base.errors import ParseError
from planner_eval.base.json_files import decode_field, read_json, read_json_lines

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
