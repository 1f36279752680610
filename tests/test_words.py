"""What each word does that readers know: names of fields, kinds and functions, in texts that turn on it.

A line of tests/cases/words.jsonl is a text, the words of a table that stand in it by turns, and what is read
with each. A word that a table does not have any more stays in its line; ``pytest tests/test_words.py
--update-cases`` adds those that are new: review its diff like code.
"""

import json
from importlib import import_module
from typing import Any

from planner_eval.base.errors import PlanevalError
from planner_eval.reading.dialects.read import parse
from planner_eval.reading.parse import parse as parse_record
from planner_eval.reading.parse import read
from tests.conftest import ROOT, AsKept
from tests.test_dialect_cases import printed

FILE = ROOT / "tests" / "cases" / "words.jsonl"
CALL = '{"name": "f", "arguments": {"a": 1}}'
SAID = f'{{"role": "assistant", "content": null, "tool_calls": [{{"function": {CALL}}}]}}'
PARTS, TALK = "planner_eval.reading.dialects.", "planner_eval.reading.dialects.conversations."
PROGRAM, FILES = "planner_eval.reading.dialects.programs.values.", "planner_eval.reading.files."
TABLES = {
    PROGRAM + "DISPLAY_FUNCTIONS": ("x = f(a=1)\n•(x)", "•(f(a=1));"),
    PROGRAM + "BUILTINS": ("x = f(a=1)\ny = •(x)\ng(b=y)", "const x = await f({a: 1});\nconst y = •(x);"),
    PROGRAM + "SELF_NAMES": ("•.f(a=1)\ng(b=2)",),
    PROGRAM + "MUTATING_METHODS": ("x = f(a=1)\nx.•(2)\ng(b=x)",),
    PROGRAM + "MUTATING_FUNCTIONS": ("from random import •\nx = [1]\n•(x)\ng(b=x)",),
    PROGRAM + "PASS_THROUGH_FUNCTIONS": ("x = [[1]]\ny = •(x)\ny.append(1)\ng(b=x)",),
    PROGRAM + "HIGHER_ORDER_FUNCTIONS": ("def go(x):\n    f(a=x)\n•(go, [1])\ng(b=1)", "•(f, [1])\ng(b=1)"),
    PROGRAM + "_READING_METHODS": ("x = f(a=1)\nx.•(by=1)\ng(b=2)",),
    PROGRAM + "METHOD_OPTIONS": ("x = f(a=1)\nx.get(•=1)",),
    PROGRAM + "KNOWN_PACKAGES": ("import •\nx = •.go(a=1)\nf(b=x)",),
    PARTS + "programs.expressions._KEYWORD_METHODS": ("x = f(a=1)\nx.•(zeta=1)\ng(b=1)",),
    PARTS + "programs.python_ast._ORDINALS": ("•, f(a=1)\n•: g(b=2)", "•\nf(a=1)"),
    PARTS + "programs.program_grammars._ESCAPED_CHARACTERS": ("x = f(a='1\\•2')", "[f(a='1\\•2')]"),
    PARTS + "programs.program_grammars._JS_ESCAPED_CHARACTERS": ("const x = await f({a: '1\\•2'});",),
    PARTS + "programs.program_grammars._LITERAL_WORDS": ("[f(a=•)]", "f(a=[•])"),
    PARTS + "finding.blocks._SCRIPT_LANGUAGES": ("```•\nif (x { f(1)\n```",),
    PARTS + "finding.blocks._HEADING_WORDS": (f"•: {CALL}", f"•\n{CALL}", f"**•:** {CALL}"),
    PARTS + "finding.segments._SCRIPT_KEYWORDS": ("```js\n•(a) { ]\n```",),
    PARTS + "finding.segments._SCRIPT_GLOBALS": ("```js\n•.go(a) { ]\n```",),
    PARTS + "finding.embedded_tokens._TOKEN_STARTS": (f"{CALL} • {CALL}",),
    PARTS + "notations.steps.NO_TOOL": ("Thought: x\nAction: •\nAction Input: {}",),
    PARTS + "detect._WORD_MARKS": ("We.\n•\nf(a=1)", '•: f\nAction Input: {"a": 1}\n• {}', "Ok •\n1: f(a=1)"),
    PARTS + "detect._TYPE_NAMES": ('[{"name": "f", "description": "d", "parameters": {"a": "•"}}]',),
    PARTS + "detect._SCHEMA_KEYWORDS": (
        '{"name": "f", "description": "d", "parameters": {"a": {"type": "string", "•": "x"}}}',),
    TALK + "messages.NAME_KEYS": ('[{"•": "f", "arguments": {}}]', '{"•": "f", "input": {"a": 1}, "b": 2}'),
    TALK + "messages.ARGUMENT_KEYS": ('[{"name": "f", "•": {"a": 1}}]', "name: f\n•:\n  a: 1\n"),
    TALK + "messages.ID_KEYS": (f'[{{"•": "k", {CALL[1:]}, {{"name": "g", "arguments": {{"b": "$k$"}}}}]',),
    TALK + "messages.WRAPPER_KEYS": (f'[{{"•": {CALL}}}]', f'[{{"type": "•", "•": {CALL}}}]'),
    TALK + "messages.CALL_METADATA_KEYS": ('[{"name": "f", "•": "b"}]', '[{"name": "f", "a": 1, "•": 2}]'),
    TALK + "messages.CALL_LIST_KEYS": (f'{{"•": [{CALL}]}}', f'{{"role": "assistant", "•": [{CALL}]}}'),
    TALK + "messages.CONTAINER_KEYS": (f'{{"•": [{CALL}]}}', f'[{{"•": {SAID}}}]'),
    TALK + "messages._NO_CALL_TYPES": (
        f'[{{"type": "•", {CALL[1:]}]', '{"role": "assistant", "content": [{"type": "•", "k": 1}]}'),
    TALK + "messages.NON_ASSISTANT_ROLES": (f'{{"calls": [{{"role": "•", {CALL[1:]}]}}',),
    TALK + "recorded_answers._ANSWER_ID_KEYS": (
        f'[{{"role": "assistant", "tool_calls": [{{"id": "k", {CALL[1:]}, {{"id": "j", {CALL[1:]}]}},'
        ' {"role": "tool", "•": "j", "content": "7"}]',),
    TALK + "messages._ANSWER_TYPES": (
        f'[{{"role": "assistant", "content": [{{"id": "k", "type": "tool_use", {CALL[1:]}]}}, '
        '{"role": "user", "content": [{"type": "•", "tool_use_id": "k", "call_id": "k", "content": "7"}]}]',),
    TALK + "messages.PART_KEYS": (
        '{"•": "f(a=1)"}', f'{{"parts": [{{"•": "x"}}, {{"functionCall": {CALL}}}]}}'),
    TALK + "messages._RESERVED_KEYS": ('[{"•": {"a": 1}}]', '{"•": {"b": {"a": 1}}}'),
    TALK + "wrappers.ASSISTANT_ROLES": (
        '[{"role": "•", "content": "f(a=1)"}]', '[{"from": "•", "value": "f(a=1)"}]'),
    TALK + "wrappers.TOOL_ROLES": ('[{"from": "gpt", "value": "f(a=1)"}, {"from": "•", "value": "7"}]',),
    TALK + "wrappers.OTHER_ROLES": (
        f'[{{"role": "•", "content": "7"}}, {SAID}]', f'[{{"type": "•", "content": "7"}}, {SAID}]'),
    TALK + "wrappers.TEXT_KEYS": ('{"•": "f(a=1)"}', '{"•": "f(a=1", "finish_reason": "length"}'),
    TALK + "wrappers._NON_CALL_ITEMS": (
        f'{{"output": [{{"type": "•", {CALL[1:]}]}}', '[{"type": "•", "id": "k"}]'),
    TALK + "wrappers._EVENTS": ('{"type": "•"}', '[{"type": "•", "index": 0, "delta": {}}]'),
    TALK + "answer_states.CUT_REASONS": (f'{{"choices": [{{"message": {SAID}, "finish_reason": "•"}}]}}',),
    TALK + "answer_states.REFUSAL_REASONS": ('{"choices": [{"message": {}, "finish_reason": "•"}]}',),
    TALK + "answer_states.FAILURE_REASONS": ('{"choices": [{"message": {}, "finish_reason": "•"}]}',),
    TALK + "wrappers.REASON_KEYS": ('{"text": "f(a=1", "•": "length"}',),
    TALK + "spans._SPAN_HOLDER_KEYS": (
        '{"•": [{"name": "execute_tool f", "attributes": {"gen_ai.tool.name": "f"}}]}',),
    FILES + "fields.ID_FIELDS": ('[{"•": "k", "output": "f(a=1)"}]', '[{"•": 7, "id": 8, "output": "f()"}]'),
    FILES + "fields.ANSWER_FIELDS": ('[{"id": 1, "•": "f()"}]', '[{"id": 1, "•": "f()", "outputs": "g()"}]'),
    FILES + "fields.GOLD_FIELDS": ('[{"id": 1, "•": "f(a=1)", "output": "g()"}]',),
    FILES + "fields.CONVERSATION_FIELDS": ('[{"id": 1, "•": []}]',),
    FILES + "shapes._TEXT_PART_KEYS": ('[{"type": "output_text", "text": "f(a=1)", "•": []}]',),
    FILES + "shapes._SILENT_TYPES": (
        '[{"type": "•", "text": "x"}, {"type": "text", "text": "f(a=1)"}]',
    ),
    FILES + "shapes.FINAL_ANSWER_FIELDS": (
        '{"•": "done", "steps": [{"tool": "f", "tool_input": {"a": 1}}]}',),
    FILES + "shapes._RUN_TOOL_KEYS": ('{"response": "f(a=1)", "steps": [{"•": "f"}]}',),
    FILES + "frameworks.FIRST_SIGNS": ('[{"•": [{"name": "f"}]}]',),
}  # fmt: skip


def said(text: str, *, file: bool) -> Any:
    """What is read of a text, of a file as the records that it is."""
    try:
        if not file:
            plan = parse(text)
            return [plan.dialect, plan.reason, *printed(plan).split("\n")]
        found = []
        for role in ("answer", "gold"):
            records = read(json.loads(text), role=role)
            found += [role, records.content, records.id_field]
            for one in records.records:
                found.append([one.id, printed(parse_record(one)) if one.error is None else str(one.error)])
        return found
    except PlanevalError as error:
        return str(error).split("\n")[0]


def test_each_word_does_its_work(as_kept: AsKept, request: Any) -> None:
    kept = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()] if FILE.exists() else []
    words = {(one["table"], one["text"]): [*one["words"]] for one in kept}
    if request.config.getoption("--update-cases"):
        for name, texts in TABLES.items():
            module, _, table = name.rpartition(".")
            known = {word for word in getattr(import_module(module), table) if isinstance(word, str)}
            words |= {(name, text): sorted(known.union(words.get((name, text), ()))) for text in texts}
    assert {name for name, _ in words} == {*TABLES}
    as_kept(FILE, [
        {"table": name, "text": text, "words": {
            word: said(text.replace("•", word), file=name.startswith(FILES)) for word in found}}
        for (name, text), found in words.items()
    ])  # fmt: skip
