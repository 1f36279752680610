"""A call that was opened is never lost in silence: it is read, or an error says where it stands."""

import re

import pytest

import planner_eval as pe
from planner_eval.base.errors import ParseError
from planner_eval.reading import dialects

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


CUT = [
    "<tool_call>\n<function", "<tool_call>get_rate\n<arg_key", "API:\n- get_rate\nparameters:\n- cur",
    '<function_calls>\n<invoke name="get_rate">\n<parameter name=',
    "<|channel|>commentary to=functions", "const rate = await get_rate",
    "Thought: x\nAction: f\nAction Input", '1. f("x")\n2. g(', "Hotels: [a = f(#x='1')]\nHotels: [g(#hotel",
    "x = f(a=1)\ny = g", f"[TOOL_CALLS] [{F}][TOOL_CALLS", f"<function_call> {F} <function_call> ",
    "<function_calls>\nf(a=1)\nroll", f'<tool_call>{F}</tool_call>\n{{"name": "g", "argu',
    '[{"get_rate": {"cur": "EUR"}}, {"roll": "{\\"sides\\": 6}',
]  # fmt: skip
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
