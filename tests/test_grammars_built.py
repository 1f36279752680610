"""The tables of grammars that are shipped say what the grammars say.

Where a grammar has changed, ``pytest tests/test_grammars_built.py --update-cases`` builds them anew.
"""

from __future__ import annotations

import json
from typing import Any

import lark
import pytest

from planner_eval.base import grammar, resources
from planner_eval.dialects.javascript_tree import JavaScriptTransformer
from planner_eval.dialects.python_tree import PythonTransformer


@pytest.mark.parametrize("name", grammar.BUILT)
def test_shipped_tables_are_those_of_the_grammar(name: str, request: pytest.FixtureRequest) -> None:
    file = resources.folder("grammars") / f"{name}.json"
    now = json.loads(grammar.built(name))
    kept = json.loads(file.read_text(encoding="utf-8"))
    changed = kept["of"] != now["of"] or walked(kept) != walked(now)
    if changed and request.config.getoption("--update-cases"):
        file.write_text(json.dumps(now, separators=(",", ":")) + "\n", encoding="utf-8")
        kept = now
    assert kept["of"][1] == now["of"][1], "the grammar has changed: run this test with --update-cases"
    if kept["of"] == now["of"]:  # beside another version of Lark they are not used
        assert walked(kept) == walked(now)


def walked(kept: dict[str, Any]) -> list[Any]:
    """All that tables say, states in the order in which they are met, for Lark numbers them as it likes."""
    memo, parser = kept["memo"], kept["data"]["parser"]
    table = parser["parser"]
    numbers = {str(start): at for at, start in enumerate(table["start_states"].values())}
    met: list[Any] = []
    for state in numbers_grow(numbers):
        actions = {table["tokens"][token]: action for token, action in table["states"][state].items()}
        row = {}
        for token, (kind, to) in sorted(actions.items()):
            row[token] = memo[str(to["@"])] if kind else numbers.setdefault(str(to), len(numbers))
        met.append(row)
    ends = {start: numbers[str(end)] for start, end in table["end_states"].items()}
    terminals = [memo[str(one["@"])] for one in parser["lexer_conf"]["terminals"]]
    return [
        met, ends, sorted(terminals, key=str), sorted(parser["lexer_conf"]["ignore"]),
        kept["data"]["options"],
    ]  # fmt: skip


def numbers_grow(numbers: dict[str, int]) -> Any:
    """The keys of a dictionary that grows meanwhile."""
    done = 0
    while done < len(numbers):
        yield list(numbers)[done]
        done += 1


@pytest.mark.parametrize(("name", "transformer", "text"), [
    ("python", PythonTransformer, "a = f(x=[1, 'b'])\ng("),
    ("javascript", JavaScriptTransformer, "f({a: 1}); try {"),
])  # fmt: skip
def test_tables_of_another_lark_or_grammar_are_passed_over(
    name: str, transformer: Any, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = grammar.load.__wrapped__(name, transformer)
    assert not hasattr(loaded, "source_grammar")  # no grammar's text was read
    monkeypatch.setattr(lark, "__version__", "0")
    built = grammar.load.__wrapped__(name, transformer)
    assert built.source_grammar == resources.read(f"grammars/{name}.lark")
    said = []
    for parser in (loaded, built):
        with pytest.raises(lark.UnexpectedInput) as error:
            parser.parse(text)
        said.append(
            (type(error.value), error.value.pos_in_stream, sorted(getattr(error.value, "expected", ())))
        )
    assert said[0] == said[1]
