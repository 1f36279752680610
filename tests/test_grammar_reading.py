"""The grammar's reading: equal to the fast one on every plan at hand and on mutated text, and with places."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval import dialects
from planner_eval.base.errors import InputError, LimitError, ParseError
from planner_eval.base.limits import Limits
from planner_eval.dialects.nestful import _broken, _label, to_reference
from planner_eval.dialects.read import parse
from planner_eval.plan.link import link
from planner_eval.plan.model import Plan, RawPlan, RawRef, RawTemplate, references
from planner_eval.records.files import read_file
from tests.conftest import ROOT, examples, reference_folder
from tests.inside import planeval

LIMITS = Limits()
NAMED = ("json", "appbench", "nestful")


# ---------------------------------------------------------------- both readings, side by side
def reading(read: Callable[[str, Limits], RawPlan] | None, text: str) -> Plan | None:
    """What a reader makes of a text, linked; None where it refuses."""
    assert read is not None
    try:
        return link(read(text, LIMITS), text=text)
    except ParseError:
        return None


def told(plan: Plan | None) -> Any:
    """All of a plan but places: ``repr`` tells 1 from 1.0 and from True."""
    if plan is None:
        return None
    calls = [(c.id, c.app, c.name, c.arguments, c.returns, c.result, c.has_result) for c in plan.calls]
    return repr((calls, plan.edges, plan.answer, sorted(note.code for note in plan.diagnostics)))


def alike(name: str, text: str) -> bool:
    """Hold both readings of a text equal; gives whether they read it."""
    dialect = dialects.get(name)
    fast, slow = reading(dialect.read, text), reading(dialect.reference, text)
    assert told(fast) == told(slow), (name, text)
    if slow is not None:
        inside(slow, text)
    return slow is not None


def inside(plan: Plan, text: str) -> None:
    """Hold every place inside the text, and a reference's inside its argument's."""
    for call in plan.calls:
        assert call.span is not None
        assert 0 <= call.span[0] < call.span[1] <= len(text)
        for (_, value), (start, end) in zip(call.arguments, call.spans, strict=False):
            assert call.span[0] <= start <= end <= call.span[1]
            for _, ref in references(value):
                assert ref.span is None or start <= ref.span[0] < ref.span[1] <= end


# ---------------------------------------------------------------- the plans at hand
def appbench_texts(folder: Path) -> Iterator[str]:
    for file in sorted(folder.glob("test_*.json")):
        for record in json.loads(file.read_text(encoding="utf-8")):
            yield "\n".join(record["output"]["api_results"])


def nestful_texts(folder: Path) -> Iterator[str]:
    for file in sorted(folder.rglob("*-data.json")):
        for record in json.loads(file.read_text(encoding="utf-8")):
            yield json.dumps(record["output"], ensure_ascii=False)
    for name in ("nestful_v2_collected.jsonl", "nestful_data.jsonl"):
        file = folder / "v2" / name
        for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
            output = json.loads(line)["output"]
            yield output if isinstance(output, str) else json.dumps(output)


OWN = ROOT / "data" / "samples"


@cache
def texts(folder: Path) -> dict[str, list[str]]:
    """The gold plans below a folder as text, by notation; NESTful's are JSON calls too."""
    nestful = list(nestful_texts(folder / "nestful"))
    return {"appbench": list(appbench_texts(folder / "appbench")), "nestful": nestful, "json": nestful}


def test_all_gold_plans_read_alike(reference: Path) -> None:
    found = texts(reference / "datasets")
    assert len(found["appbench"]) == 801
    assert len(found["nestful"]) == 300 + 554
    for name, plans in found.items():
        assert all(alike(name, text) for text in plans)


def test_own_plans_read_alike() -> None:
    for name, plans in texts(OWN).items():
        assert plans, name
        assert all(alike(name, text) for text in plans)
    for name in dialects.names():
        dialect = dialects.get(name)
        if dialect.reference is not None and "```" not in dialect.example:
            assert alike(name, dialect.example), name


# ---------------------------------------------------------------- mutated text
PIECES = [
    *"$.[]{}()',\":#= \n\\0a", "$v1$", "$var_1.result$", "$a.b c[0]$", '"label": "$v1"', "v1.x$", "[12]",
    "$$", "1.5", "true", "null", "#x='", "')", "a, b = f(", "App: [", '{"name": "f", "arguments": {',
    "\\u0024", "\\ud83d\\ude00", "\ud800", "٣", "é", '"name": "var_result"', "-1", "NaN", "1e9",
]  # fmt: skip


def shared() -> Path | None:
    folder = reference_folder()
    return folder / "datasets" if folder else None


@st.composite
def mutated(draw: st.DrawFn, name: str) -> str:
    """A plan's text after some deletions, insertions and swaps."""
    real = shared()
    seeds = texts(OWN)[name] + (texts(real)[name] if real else []) + [dialects.get(name).example]
    text = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        way = draw(st.sampled_from(("delete", "insert", "swap")))
        if way == "delete":
            text = text[:at] + text[at + draw(st.integers(1, 6)) :]
        elif way == "insert":
            text = text[:at] + draw(st.sampled_from(PIECES)) + text[at:]
        else:
            text = text[:at] + text[at : at + 2][::-1] + text[at + 2 :]
    return text


@pytest.mark.parametrize("name", NAMED)
@examples(250)
@given(data=st.data())
def test_mutated_text_reads_alike(name: str, data: st.DataObject) -> None:
    alike(name, data.draw(mutated(name)))


@examples(400)
@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=8).map("".join))
def test_a_nestful_text_reads_alike_by_regex_and_by_the_grammar(text: str) -> None:
    from planner_eval.dialects import nestful_tree as tree

    assert tree.value(text) == to_reference(text)
    assert tree.broken(text) == _broken(text)
    assert tree.label(text) == _label(text)


@pytest.mark.parametrize(("text", "refs", "broken"), [
    ("$var_1.result$", [("var_1", ("result",))], None),
    ("$var1.author[0].id$", [("var1", ("author", 0, "id"))], None),
    ("5 * $var1.Exchange Rate$", [("var1", ("Exchange Rate",))], None),
    ("$100-$200", [], None),
    ("$5 for $v$ and $v.x$", [("v", ()), ("v", ("x",))], None),
    ("$a$b$", [("a", ())], None),
    ("$a[1234567890][123456789]$", [("a", ("1234567890", 123456789))], None),
    ("$a.$b$", [("b", ())], None),
    ("$a.[0]$", [], None),
    ("var1.product_id$", [], "var1"),
    ("var1.product id$", [], None),
    ("var1[0].id$", [], None),
    ("", [], None),
])  # fmt: skip
def test_a_nestful_text_holds_these_references(
    text: str, refs: list[tuple[str, Any]], broken: str | None
) -> None:
    from planner_eval.dialects import nestful_tree as tree

    for value, found in ((to_reference(text), _broken(text)), (tree.value(text), tree.broken(text))):
        parts = value.parts if isinstance(value, RawTemplate) else (value,)
        assert [(part.name, part.path) for part in parts if isinstance(part, RawRef)] == refs
        assert found == broken


# ---------------------------------------------------------------- the door and its limits
PLAN = (
    '[{"name": "add", "label": "v1", "arguments": {"a": 1}},\n'
    ' {"name": "say", "arguments": {"text": "It \\u2192 $v1.sum$.", "b": ["$v9$"]}}]'
)


def shown(plan: Plan) -> dict[str, str]:
    """The text at each place of the last call."""
    text, call = plan.text or "", plan.calls[-1]
    found = {
        name: text[start:end] for (name, _), (start, end) in zip(call.arguments, call.spans, strict=True)
    }
    refs = {
        f"{name} refers": text[ref.span[0] : ref.span[1]]
        for name, value in call.arguments
        for _, ref in references(value)
        if ref.span
    }
    return found | refs


def test_the_grammar_gives_places_the_fast_path_does_not() -> None:
    plan = parse(PLAN, reader="grammar")
    assert plan == parse(PLAN)
    assert parse(PLAN).calls[1].span is None
    assert shown(plan) == {
        "text": '"It \\u2192 $v1.sum$."', "b": '["$v9$"]', "text refers": "$v1.sum$", "b refers": "$v9$",
    }  # fmt: skip
    (unresolved,) = [note for note in plan.diagnostics if note.code == "reference.unresolved"]
    assert unresolved.span is not None
    assert PLAN[slice(*unresolved.span)] == "$v9$"
    lines = parse("Hotels: [h = search(#city='Rome'), book(#a=[h, 'x'], #b=h.id)]", reader="grammar")
    assert shown(lines) == {"a": "#a=[h, 'x']", "b": "#b=h.id", "a refers": "h", "b refers": "h.id"}


def test_a_place_after_a_surrogate_pair_and_in_a_fence_is_that_of_the_text() -> None:
    text = 'Sure:\n```json\n[{"name": "f", "label": "v", "arguments": {"a": "\\ud83d\\ude00 $v$"}}]\n```\n'
    plan = parse(text, dialect="nestful", reader="grammar")
    assert shown(plan)["a refers"] == "$v$"


def test_fences_are_read_one_after_another_and_a_broken_one_is_an_error_there() -> None:
    first = '[{"name": "f", "label": "v", "arguments": {}}]'
    second = '[{"name": "g", "label": "w", "arguments": {"a": "$v.x$", "b": "v.x$"}}]'
    text = f"One:\n```json\n{first}\n```\ntwo:\n```json\n{second}\n```\n"
    plan = parse(text, dialect="nestful", reader="grammar")
    assert [call.name for call in plan.calls] == ["f", "g"]
    assert shown(plan) == {"a": '"$v.x$"', "b": '"v.x$"', "a refers": "$v.x$"}
    assert len(plan.edges) == 1
    with pytest.raises(ParseError, match=r"line 7, column 2: found '}"):
        parse(text.replace('[{"name": "g"', '[}{"name": "g"'), dialect="nestful", reader="grammar")


@pytest.mark.parametrize(("name", "expected"), [
    ("gemma", {"cur": '<|"|>EUR<|"|>'}),
    ("hermes", {"cur": '"EUR"'}),
    ("mistral-v11", {"cur": '"EUR"'}),
    ("deepseek", {"cur": '"EUR"'}),
    ("pythonic", {"cur": '"EUR"'}),
    ("qwen3-coder", {"cur": "EUR"}),
])  # fmt: skip
def test_other_notations_give_places_too(name: str, expected: dict[str, str]) -> None:
    call = json.dumps([{"name": "get_rate", "arguments": {"cur": "EUR"}}])
    from planner_eval.dialects.read import write

    text = "\n" + write(parse(call, dialect="json"), name)
    plan = parse(text, dialect=name, reader="grammar")
    assert shown(plan) == expected
    span = plan.calls[0].span
    assert span is not None
    assert "get_rate" in text[slice(*span)]


def test_structure_is_read_as_the_text_that_it_is_written_as() -> None:
    plan = parse(json.loads(PLAN), reader="grammar")
    assert plan == parse(json.loads(PLAN))
    assert shown(plan)["b refers"] == "$v9$"


def test_a_text_that_is_too_long_is_refused_at_the_place_where_the_grammar_stops() -> None:
    from planner_eval.base.jsontext import LARK_CHARS

    text = '[{"name": "f", "arguments": {"a": "' + "x" * LARK_CHARS + '"}}]'
    with pytest.raises(LimitError, match="a grammar reads at most 256,000") as caught:
        parse(text, reader="grammar")
    assert caught.value.offset == LARK_CHARS
    assert len(parse(text)) == 1


def test_what_the_grammar_does_not_take_is_said() -> None:
    with pytest.raises(InputError, match=r"'langgraph' has no grammar; these have: .*nestful.*gemma"):
        parse(PLAN, dialect="langgraph", reader="grammar")
    with pytest.raises(InputError, match="there is no reader 'lark'; there are fast and grammar"):
        parse(PLAN, reader="lark")
    with pytest.raises(InputError, match="leave out the repair"):
        parse(PLAN, reader="grammar", repair=True)
    with pytest.raises(ParseError, match=r"line 1, column 1: found 'Sure.*expected"):
        parse("Sure: " + PLAN, reader="grammar", dialect="nestful")
    with pytest.raises(ParseError, match="the text is empty"):
        parse(" ", reader="grammar")
    assert [note.code for note in parse("I cannot help.", reader="grammar").diagnostics] == ["plan.no_call"]


# ---------------------------------------------------------------- through the command line
def test_the_command_line_shows_places() -> None:
    done = planeval("parse", "-", "--grammar", text=PLAN)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "nestful: labels or $name$ references, read by the grammar", "  v1  add  a=1", "      at 1:2-55",
        "      a at 1:52-53", '  c2  say  text="It → " + ← v1.sum + "."  b=[{"$ref": "v9"}]',
        "      at 2:2-78", "      text at 2:40-61, ← v1 at 2:51-59", "      b at 2:68-76, ← ?v9 at 2:70-74",
        "  reference.unresolved: 'b' of call 2 refers to 'v9', which no call returns (line 2, column 70)",
    ]  # fmt: skip


def test_the_command_line_writes_places_as_json() -> None:
    done = planeval("parse", "-", "--grammar", "--format", "json", text=PLAN)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    call = found["places"][1]
    assert (call["id"], PLAN[slice(*call["span"])][:14]) == ("c2", '{"name": "say"')
    text, b = call["arguments"]
    assert (text["name"], PLAN[slice(*text["span"])]) == ("text", '"It \\u2192 $v1.sum$."')
    assert [(ref["at"], PLAN[slice(*ref["span"])]) for ref in text["references"]] == [([1], "$v1.sum$")]
    assert [(ref["at"], PLAN[slice(*ref["span"])]) for ref in b["references"]] == [([0], "$v9$")]
    assert "places" not in json.loads(planeval("parse", "-", "--format", "json", text=PLAN).stdout)


def test_the_command_line_reads_records_and_says_what_has_no_grammar() -> None:
    file = "data/samples/nestful/v2/nestful_data.jsonl"
    done = planeval("parse", str(ROOT / file), "--grammar", "--format", "json", text="")
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        record = json.loads(line)
        for call in record["places"]:
            assert record["text"][slice(*call["span"])].startswith('{"name"')
    source = read_file(str(ROOT / file))
    assert len(done.stdout.splitlines()) == len(source.records)
    lines = planeval("parse", str(ROOT / "data/samples/appbench/test_ss.json"), "--grammar", text="")
    assert lines.returncode == 3
    assert "the plan is structure in a record, and the grammar of 'appbench' reads text" in lines.stdout
    none = planeval("parse", "-", "--grammar", "--from", "langgraph", text=PLAN)
    assert none.returncode == 2
    assert "these have: " in none.stderr
    both = planeval("parse", "-", "--grammar", "--repair", text=PLAN)
    assert both.returncode == 2
    assert "leave out --repair" in both.stderr


def test_only_the_grammar_costs_an_import_of_lark() -> None:
    code = (
        "import sys; from planner_eval.dialects.read import parse; {}; "
        "print(any(name.partition('.')[0] == 'lark' for name in sys.modules))"
    )
    for call, expected in ((f"parse({PLAN!r})", "False"), (f"parse({PLAN!r}, reader='grammar')", "True")):
        done = subprocess.run(
            [sys.executable, "-c", code.format(call)], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == expected
