"""A call that was opened is never lost in silence: it is read, or an error says where it stands."""

from __future__ import annotations

import pytest

from tests.test_texts import codes, parsed, tools

F, G = '{"name": "f", "arguments": {"a": 1}}', '{"name": "g", "arguments": {"b": 2}}'
CALLED = f"<tool_call>{F}</tool_call>\n"


# ---------------------------------------------------------------- beside the tokens of a notation
@pytest.mark.parametrize(
    "text",
    [
        f"{CALLED}{G}",
        f"{CALLED}[g(b=2)]",
        f"{CALLED}```json\n{G}\n```",
        f"{CALLED}```python\ng(b=2)\n```",
        f'{CALLED}<function=g>{{"b": 2}}</function>',
        f"[TOOL_CALLS] [{F}]\n```python\ng(b=2)\n```",
    ],
)
def test_a_second_call_in_another_wrapper_is_read(text: str) -> None:
    code, row = parsed(text)
    assert (code, tools(row), codes(row)) == (0, ["f", "g"], ["dialect.mixed"])


def test_what_stands_beside_tokens_is_said() -> None:
    _, row = parsed(f"Let me look at it.\n{CALLED}I will say what it gave.")
    assert (tools(row), codes(row)) == (["f"], ["find.text"])
    _, row = parsed(f"{CALLED}[f(a=1)]")
    assert (tools(row), codes(row)) == (["f"], ["find.restated", "find.text"])
    code, row = parsed(f'{CALLED}{{"name": "g", "argu')
    assert (code, row["diagnostics"][0]["code"]) == (1, "parse.cut")
