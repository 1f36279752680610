"""A call that was opened is never lost in silence: it is read, or an error says where it stands."""

import re

import pytest

import planner_eval as pe
from planner_eval.base.errors import ParseError
from planner_eval.reading import dialects
from tests.conftest import tables

TABLES = tables(__file__)

F = '{"name": "f", "arguments": {"a": 1}}'
OPENER = re.compile(
    r"\b(?!join)\w+\(|\{\"(?:name|tool_name|toolName)|^Action(?: \d+)?:|await \w|to=functions\.|#E\d+ ="
    r"|<(?:invoke|function|param)\b"
    r"|<(?:tool_call|\|tool_call_(?:begin|start)\||\|tool_call\|?)>|<function_?calls?>|\[TOOL_CALLS\]|<\|python_tag\|>|<TOOLCALL>|<<function>>",
    re.M,
)
UNENDED = {"callnavi-yaml", "worfbench"}


@pytest.mark.parametrize("name", [name for name in dialects.names() if name not in UNENDED])
def test_every_prefix_of_an_example_is_its_first_calls_or_an_error(name: str) -> None:
    text = dialects.get(name).example.strip()
    whole = [call.tool for call in pe.parse(text).calls]
    first = {0: 0}
    for end in range(1, len(text)):
        try:
            found = [call.tool for call in pe.parse(text[:end]).calls]
        except ParseError:
            continue
        assert found == whole[: len(found)], text[:end]
        after = text[first.setdefault(len(found), end) : end]
        assert not OPENER.search(after), text[:end]


CUT = TABLES["CUT"]
WHOLE = [
    "I cannot (really) do that", "Let me think (as f does", "x = f(a=1)\ny = x", "Action: none",
    f"<tool_call>{F}</tool_call>\nDone", "It is smaller: a < b", "[f(a=1)]\nNote that g",
]  # fmt: skip


@pytest.mark.parametrize("text", [*CUT, *WHOLE])
def test_a_text_that_is_cut_inside_a_call_says_so_and_words_at_its_end_are_no_call(text: str) -> None:
    if text in WHOLE:
        assert pe.parse(text) is not None
        return
    with pytest.raises(ParseError) as caught:
        pe.parse(text)
    assert caught.value.code == "parse.cut"
