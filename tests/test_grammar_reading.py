"""The grammar's reading: equal to the fast one on every plan at hand and on mutated text, and with places."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import lark
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.base import grammar, resources
from planner_eval.base.errors import InputError, LimitError, ParseError
from planner_eval.base.json_text import LARK_CHARS
from planner_eval.base.limits import Limits
from planner_eval.plan.linking import link
from planner_eval.plan.model import Plan, RawPlan, RawRef, RawTemplate, references
from planner_eval.reading import dialects
from planner_eval.reading.dialects.notations.nestful import _find_broken_label, _strip_label, read_references
from planner_eval.reading.dialects.programs import grammars
from planner_eval.reading.dialects.programs.program_grammars import JavaScriptTransformer, PythonTransformer
from planner_eval.reading.dialects.read import parse, write
from tests.conftest import ROOT, examples, reference_folder, tabled, tables
from tests.inside import planeval

TABLES = tables(__file__)

OWN = ROOT / "data" / "samples"


def reading(read: Callable[[str, Limits], RawPlan] | None, text: str) -> Plan | None:
    """What a reader makes of a text, linked; None where it refuses."""
    assert read is not None
    try:
        return link(read(text, Limits()), text=text)
    except ParseError:
        return None


def told(plan: Plan | None) -> Any:
    """All of a plan but places: ``repr`` tells 1 from 1.0 and from True."""
    if plan is None:
        return None
    calls = [(c.id, c.app, c.name, c.arguments, c.returns, c.result, c.has_result) for c in plan.calls]
    return repr((calls, plan.edges, plan.answer, sorted(note.code for note in plan.diagnostics)))


def alike(name: str, text: str) -> bool:
    """Hold both readings of a text equal, and places inside each other; gives whether they read it."""
    dialect = dialects.get(name)
    slow = reading(dialect.reference, text)
    assert told(reading(dialect.read, text)) == told(slow), (name, text)
    for call in slow.calls if slow else ():
        assert call.span is not None
        assert 0 <= call.span[0] < call.span[1] <= len(text)
        for (_, value), (start, end) in zip(call.arguments, call.spans, strict=False):
            assert call.span[0] <= start <= end <= call.span[1]
            for _, ref in references(value):
                assert ref.span is None or start <= ref.span[0] < ref.span[1] <= end
    return slow is not None


def outputs(folder: Path) -> Iterator[tuple[str, Any]]:
    for file in sorted((folder / "appbench").glob("test_*.json")):
        for record in json.loads(file.read_text(encoding="utf-8")):
            yield "appbench", "\n".join(record["output"]["api_results"])
    for file in sorted((folder / "nestful").rglob("*-data.json")):
        for record in json.loads(file.read_text(encoding="utf-8")):
            yield "nestful", record["output"]
    for name in ("nestful_v2_collected.jsonl", "nestful_data.jsonl"):
        file = folder / "nestful" / "v2" / name
        for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
            yield "nestful", json.loads(line)["output"]


@cache
def texts(folder: Path) -> dict[str, list[str]]:
    """The gold plans below a folder as text, by notation; NESTful's are JSON calls too."""
    found: dict[str, list[str]] = {"appbench": [], "nestful": []}
    for name, output in outputs(folder):
        found[name].append(output if isinstance(output, str) else json.dumps(output, ensure_ascii=False))
    return found | {"json": found["nestful"]}


def test_own_plans_read_alike() -> None:
    examples = [dialects.get(name) for name in dialects.names()]
    given = [(one.name, one.example) for one in examples if one.reference and "```" not in one.example]
    given += [(name, text) for name, own in texts(OWN).items() for text in own]
    assert {"appbench", "json", "nestful", "gemma"} <= {name for name, _ in given}
    assert all(alike(name, text) for name, text in given)


PIECES = [
    *"$.[]{}()',\":#= \n\\0a", "$v1$", "$var_1.result$", "$a.b c[0]$", '"label": "$v1"', "v1.x$", "[12]",
    "$$", "1.5", "true", "null", "#x='", "')", "a, b = f(", "App: [", '{"name": "f", "arguments": {',
    "\\u0024", "\\ud83d\\ude00", "\ud800", "٣", "é", '"name": "var_result"', "-1", "NaN", "1e9",
]  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn, name: str) -> str:
    """A plan's text after some deletions, insertions and swaps."""
    folder = reference_folder()
    real = texts(folder / "datasets")[name] if folder else []
    text = draw(st.sampled_from([*texts(OWN)[name], *real, dialects.get(name).example]))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        piece = draw(st.sampled_from(["", text[at : at + 2][::-1]]) | st.sampled_from(PIECES))
        text = text[:at] + piece + text[at + draw(st.integers(0, 6)) :]
    return text


@pytest.mark.parametrize("name", ["json", "appbench", "nestful"])
@examples(250)
@given(data=st.data())
def test_mutated_text_reads_alike(name: str, data: st.DataObject) -> None:
    alike(name, data.draw(mutated(name)))


@examples(400)
@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=8).map("".join))
def test_a_nestful_text_reads_alike_by_regex_and_by_the_grammar(text: str) -> None:
    assert grammars.read_text(text) == read_references(text)
    assert grammars.find_broken_label(text) == _find_broken_label(text)
    assert grammars.read_label(text) == _strip_label(text)


@tabled("text, refs, broken")
def test_a_nestful_text_refers_to_these(text: str, refs: list[tuple[str, Any]], broken: str | None) -> None:
    for value, found in (
        (read_references(text), _find_broken_label(text)),
        (grammars.read_text(text), grammars.find_broken_label(text)),
    ):
        parts = value.parts if isinstance(value, RawTemplate) else (value,)
        assert [[part.name, [*part.path]] for part in parts if isinstance(part, RawRef)] == refs
        assert found == broken


PLAN = (
    '[{"name": "add", "label": "v1", "arguments": {"a": 1}},\n'
    ' {"name": "say", "arguments": {"text": "It \\u2192 $v1.sum$.", "b": ["$v9$"]}}]'
)


def shown(plan: Plan) -> dict[str, str]:
    """The text at each place of the last call."""
    text, call = plan.text or "", plan.calls[-1]
    places = [(name, span) for (name, _), span in zip(call.arguments, call.spans, strict=True)]
    for name, value in call.arguments:
        places += [(f"{name} refers", ref.span) for _, ref in references(value) if ref.span]
    return {name: text[slice(*span)] for name, span in places}


def test_the_grammar_gives_places_the_fast_path_does_not() -> None:
    plan = parse(PLAN, reader="grammar")
    assert plan == parse(PLAN) == parse(json.loads(PLAN), reader="grammar")
    assert parse(PLAN).calls[1].span is None
    (unresolved,) = [note for note in plan.diagnostics if note.code == "reference.unresolved"]
    assert unresolved.span is not None
    assert PLAN[slice(*unresolved.span)] == "$v9$"


SHOWN: list[tuple[str | None, Any, dict[str, str]]] = TABLES["SHOWN"]


@pytest.mark.parametrize(("name", "text", "expected"), SHOWN)
def test_places_are_those_of_the_text(name: str | None, text: Any, expected: dict[str, str]) -> None:
    if not isinstance(text, str):
        text = "\n" + write(parse(text, dialect="json"), str(name))
    assert shown(parse(text, dialect=name, reader="grammar")) == expected


def test_fences_are_read_one_after_another_and_a_broken_one_is_an_error_there() -> None:
    first = '[{"name": "f", "label": "v", "arguments": {}}]'
    second = '[{"name": "g", "label": "w", "arguments": {"a": "$v.x$", "b": "v.x$"}}]'
    text = f"One:\n```json\n{first}\n```\ntwo:\n```json\n{second}\n```\n"
    plan = parse(text, dialect="nestful", reader="grammar")
    assert ([call.name for call in plan.calls], len(plan.edges)) == (["f", "g"], 1)
    assert shown(plan) == {"a": '"$v.x$"', "b": '"v.x$"', "a refers": "$v.x$"}
    with pytest.raises(ParseError, match=r"line 7, column 2: found '}"):
        parse(text.replace('[{"name": "g"', '[}{"name": "g"'), dialect="nestful", reader="grammar")


@pytest.mark.parametrize(("text", "options", "kind", "said"), [
    (PLAN, {"dialect": "langgraph"}, InputError, r"'langgraph' has no grammar; these have: .*nestful.*gemma"),
    (PLAN, {"reader": "lark"}, InputError, "unknown reader 'lark'; expected one of fast and grammar"),
    (PLAN, {"repair": True}, InputError, "drop --repair"),
    ("Sure: " + PLAN, {"dialect": "nestful"}, ParseError, r"line 1, column 1: found 'Sure.*expected"),
    (" ", {}, ParseError, "the text is empty"),
    ("[" + " " * LARK_CHARS + "]", {}, LimitError, "a grammar reads at most 256,000"),
])  # fmt: skip
def test_what_the_grammar_does_not_take(text: str, options: Any, kind: Any, said: str) -> None:
    with pytest.raises(kind, match=said) as caught:
        parse(text, **{"reader": "grammar"} | options)
    assert not isinstance(caught.value, LimitError) or caught.value.offset == LARK_CHARS


def test_the_command_line_shows_places() -> None:
    assert [note.code for note in parse("I cannot help.", reader="grammar").diagnostics] == ["plan.no_call"]
    done = planeval("parse", "-", "--grammar", text=PLAN)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "nestful: labels or $name$ references, read by the grammar", "  v1  add  a=1", "      at 1:2-55",
        "      a at 1:52-53", '  c2  say  text="It → " + ← v1.sum + "."  b=[{"$ref": "v9"}]',
        "      at 2:2-78", "      text at 2:40-61, ← v1 at 2:51-59", "      b at 2:68-76, ← ?v9 at 2:70-74",
        "  reference.unresolved: 'b' of call 2 refers to 'v9', which no call returns (line 2, column 70)",
    ]  # fmt: skip
    call = json.loads(planeval("parse", "-", "--grammar", "--format", "json", text=PLAN).stdout)["places"][1]
    assert (call["id"], PLAN[slice(*call["span"])][:14]) == ("c2", '{"name": "say"')
    text, b = call["arguments"]
    assert (text["name"], PLAN[slice(*text["span"])]) == ("text", '"It \\u2192 $v1.sum$."')
    found = [(ref["at"], PLAN[slice(*ref["span"])]) for one in (text, b) for ref in one["references"]]
    assert found == [([1], "$v1.sum$"), ([0], "$v9$")]
    assert "places" not in json.loads(planeval("parse", "-", "--format", "json", text=PLAN).stdout)


def test_only_the_grammar_costs_an_import_of_lark() -> None:
    code = (
        "import sys; from planner_eval.reading.dialects.read import parse; {}; print('lark' in sys.modules)"
    )
    for call, expected in ((f"parse({PLAN!r})", "False"), (f"parse({PLAN!r}, reader='grammar')", "True")):
        argv = [sys.executable, "-c", code.format(call)]
        done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == expected


@pytest.mark.parametrize("name", grammar.GRAMMARS_WITH_TABLES)
def test_shipped_tables_are_those_of_the_grammar(name: str, request: pytest.FixtureRequest) -> None:
    file = resources.folder("grammars") / f"{name}.json"
    now = json.loads(grammar.build_tables(name))
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
def test_tables_of_another_lark_are_left(name: str, transformer: Any, text: str, monkeypatch: Any) -> None:
    loaded = grammar.load.__wrapped__(name, transformer)
    assert not hasattr(loaded, "source_grammar")  # no grammar's text was read
    monkeypatch.setattr(lark, "__version__", "0")
    built = grammar.load.__wrapped__(name, transformer)
    assert built.source_grammar == resources.read(f"grammars/{name}.lark")
    said = []
    for parser in (loaded, built):
        with pytest.raises(lark.UnexpectedInput) as bad:
            parser.parse(text)
        said.append((type(bad.value), bad.value.pos_in_stream, sorted(getattr(bad.value, "expected", ()))))
    assert said[0] == said[1]
