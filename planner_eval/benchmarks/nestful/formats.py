"""The answer formats of the published NESTful scorer: a model's name chooses a reader.

None of them looks for calls inside prose. What a reader cannot read is a failed answer without calls;
what it had decoded by then is still what would be executed.

Source: ``output_parsers.py`` at IBM's state fc2c412 (2025-04-21).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.base.frozen import fast_frozen
from planner_eval.benchmarks.nestful.official_metrics import ground
from planner_eval.benchmarks.python_calls import CallReader

# ----------------------------------------------------------------------
# Python-like answers: one reader cuts text at commas, the other reads Python's syntax tree.
_FAILURES = (SyntaxError, ValueError, TypeError, AttributeError, LookupError, RecursionError, MemoryError)
_PYTHON_CALLS = CallReader(lambda name, arguments: {"name": name, "arguments": arguments})


def cut_calls(text: str, calls: list[dict[str, Any]]) -> None:
    """Read ``[f(a="1"), g(b="2")]`` by cutting; every value is a string.

    Args:
        text: The trimmed answer, with its outer brackets.
        calls: Filled as far as reading goes: calls before an unreadable piece stay.

    Raises:
        IndexError: a piece without ``(`` or an argument without ``=``, so also a call without arguments.

    Source: the second try of ``parse_llama_3_70b_instruct``: calls end at ``),`` even inside quotes, names
    keep their blanks, and the character after each comma is lost.

    >>> found = []
    >>> cut_calls('[f(a="1", b=2), g(c=3,dd=4)]', found)
    >>> found
    [{'name': 'f', 'arguments': {'a': '1', 'b': '2'}}, {'name': ' g', 'arguments': {'c': '3', 'd': '4'}}]
    """
    for piece in text[1:-1].split("),"):
        call_text = piece if piece.strip().endswith(")") else piece + ")"
        name, inside = call_text.split("(", 1)[0], call_text.split("(", 1)[1][:-1]
        arguments = {}
        for argument in _cut_at_commas(inside):
            halves = argument.split("=")
            arguments[halves[0].strip()] = _strip_quotes(halves[1].strip())
        calls.append({"name": name, "arguments": arguments})


def _cut_at_commas(text: str) -> list[str]:
    """The parts between commas that have an even number of ``"`` before them, minus one character each."""
    arguments = []
    start = 0
    quoted = False
    for position, character in enumerate(text):
        if character == '"':
            quoted = not quoted
        elif character == "," and not quoted:
            arguments.append(text[start:position].strip())
            start = position + 2
    return [*arguments, text[start:].strip()]


def _strip_quotes(value: str) -> str:
    """Without one ``'`` and then one ``"`` at each end; inner ``"`` become ``'``."""
    value = value.removeprefix("'").removesuffix("'")
    if not value.startswith('"'):
        value = '"' + value
    if not value.endswith('"'):
        value += '"'
    return value[1:-1].replace('"', "'")


# ----------------------------------------------------------------------
# The answer formats of the published NESTful scorer: a model's name chooses a reader.


@fast_frozen
class ParsedAnswer:
    """What a reader makes of one answer.

    Args:
        calls: The entries that are scored, as decoded JSON; an entry need not be a call.
        raw: What would be executed: the decoded answer before references were rewritten.
        failed: Reading failed; `calls` holds what was read before.
        abort: The exception that ends the published run at this answer.
    """

    calls: tuple[Any, ...] = ()
    raw: Any = ()
    failed: bool = False
    abort: str | None = None


def find_reader(model: str) -> Callable[[str], ParsedAnswer]:
    """How the published scorer reads the answers of a model.

    Args:
        model: A model name of the published scorer, see :data:`READERS`.

    Raises:
        InputError: no reader has that name.

    >>> find_reader("DeepSeek-V3")('[{"name": "add", "label": "$var_1", "arguments": {"arg_0": 2}}]').calls
    ({'name': 'add', 'arguments': {'arg_0': 2}},)
    >>> find_reader("DeepSeek-V3")("I would add 2 and 3.").failed
    True
    """
    if model not in READERS:
        raise InputError(
            f"NESTful's scorer has no reader for the model {model!r}; it knows {', '.join(READERS)}"
        )
    return READERS[model]


def _decode_answer(text: str, *, grounded: bool, keep_result: bool = True) -> ParsedAnswer:
    """The answer that is one JSON text.

    Args:
        text: The JSON text.
        grounded: References are rewritten; otherwise entries are scored as they are.
        keep_result: ``var_result`` entries are executed too.
    """
    try:
        raw = json.loads(text)
    except _FAILURES:
        return ParsedAnswer(failed=True)
    return _entries(raw, grounded=grounded, keep_result=keep_result)


def _entries(raw: Any, *, grounded: bool, keep_result: bool = True) -> ParsedAnswer:
    """The entries of a decoded answer; whatever can be walked is."""
    try:
        if not keep_result:
            raw = [entry for entry in raw if entry["name"] != "var_result"]
        calls = ground(raw) if grounded else raw
    except _FAILURES:
        return ParsedAnswer(raw=raw, failed=True)
    try:
        return ParsedAnswer(tuple(calls), raw)
    except TypeError:  # a bare number, true, false or null: the published code walks it unguarded
        return ParsedAnswer(raw=raw, failed=True, abort="TypeError")


def _read_plain(text: str) -> ParsedAnswer:
    return _decode_answer(text, grounded="label" in text)


def _read_llama_3(text: str) -> ParsedAnswer:
    body = text.strip().removesuffix("'")
    body = body if body.startswith("[") else "[" + body
    body = body if body.endswith("]") else body + "]"
    return _decode_answer(body, grounded="label" in text)


def _read_llama_3_70b(text: str) -> ParsedAnswer:
    text = text.strip()
    first = _decode_answer(text, grounded="label" in text, keep_result=False)
    if not first.failed:
        return first
    if not (text.startswith("[") and text.endswith("]")):
        return ParsedAnswer(raw=first.raw, failed=True)
    calls: list[dict[str, Any]] = []
    try:
        cut_calls(text, calls)
    except _FAILURES:
        return ParsedAnswer(tuple(calls), first.raw, failed=True)
    return ParsedAnswer(tuple(calls), first.raw)


def _read_mistral(text: str) -> ParsedAnswer:
    text = text.strip()
    first = _decode_answer(text, grounded=True)
    if not first.failed:
        return first
    second = _decode_answer(text.replace("\n", "").replace("\\_", "_"), grounded=True)
    return second if second.raw != () else ParsedAnswer(raw=first.raw, failed=True)


def _read_hermes(text: str) -> ParsedAnswer:
    text = text.strip()
    if text.startswith("tool_call\n{"):
        text = text.replace("tool_call\n{", "<tool_call>\n{")
    calls = []
    for piece in text.split("</tool_call>")[:-1]:
        _, tag, segment = piece.partition("<tool_call>")
        if tag:
            with suppress(*_FAILURES):
                calls.append(json.loads(segment.strip()))
    return _entries(calls, grounded=True) if calls else ParsedAnswer(raw=calls, failed=True)


_XLAM_MARKERS = ("ANSWER", "FUNCTION CALLS", "FUNCTION CALL", "ACTIONS", "ACTION")


def _read_xlam(text: str) -> ParsedAnswer:
    for marker in _XLAM_MARKERS:
        text = text.replace(f"[BEGIN OF {marker}]", "")
    try:
        raw = json.loads(text.strip())["tool_calls"]
    except _FAILURES:
        return ParsedAnswer(failed=True)
    return _entries(raw, grounded=True)


def _read_hammer(text: str) -> ParsedAnswer:
    answer = _decode_answer(text.replace("```", "").strip(), grounded=True)
    return ParsedAnswer(raw=answer.raw, failed=True) if not answer.raw else answer


def _read_tool_ace(text: str) -> ParsedAnswer:
    try:
        raw = _PYTHON_CALLS.read(text.strip("[]'"))
    except Exception:  # whatever reading raises
        return ParsedAnswer(failed=True)
    if not raw:
        return ParsedAnswer(failed=True)
    answer = _entries(raw, grounded=True)
    try:  # through JSON and back: tuples become lists, keys become texts
        return ParsedAnswer(tuple(json.loads(json.dumps(answer.calls))), raw, answer.failed)
    except (
        TypeError,
        ValueError,
    ):  # bytes, complex or huge numbers: the published code then trips over the unwritten calls
        return ParsedAnswer(raw=raw, failed=True, abort="AttributeError")


def _read_granite_20b(text: str) -> ParsedAnswer:
    text = text.strip().replace("ASSISTANT", "").strip()
    try:
        raw = [json.loads(piece) for piece in text.split("<function_call>") if piece]
    except _FAILURES:
        return ParsedAnswer(failed=True)
    return _entries(raw, grounded="label" in text, keep_result=False)


READERS: dict[str, Callable[[str], ParsedAnswer]] = {
    "granite-3.0-8b-instruct": _read_plain,
    "granite-3.0-8b-instruct-FT": _read_plain,
    "DeepSeek-V3": _read_plain,
    "DeepSeek-R1": _read_plain,
    "granite-3.1-8b-instruct": lambda text: _read_plain(
        text.replace("<|tool_call|>", "").replace("<tool_call>", "")
    ),
    "Llama-3.1-8B-Instruct": _read_llama_3,
    "llama-3-1-70b-instruct": _read_llama_3,
    "llama-3-1-405b-instruct-fp8": _read_llama_3,
    "Llama-3.2-11B-Vision-Instruct": _read_llama_3,
    "Llama-3.2-90B-Vision-Instruct": _read_llama_3,
    "llama-3-70b-instruct": _read_llama_3_70b,
    "llama-3-1-405b-instruct": _read_llama_3_70b,
    "Mistral-7B-Instruct-v0.3": _read_mistral,
    "mixtral_8x7b_instruct_v01": _read_mistral,
    "Mixtral-8x22B-Instruct-v0.1": _read_mistral,
    "Hermes-2-Pro-Mistral-7B": _read_hermes,
    "xLAM-1b-fc-r": _read_xlam,
    "xLAM-7b-fc-r": _read_xlam,
    "xLAM-8x7b-r": _read_xlam,
    "xLAM-8x22b-r": _read_xlam,
    "Hammer2.0-7b": _read_hammer,
    "ToolAce-8b": _read_tool_ace,
    "Granite-20B-FunctionCalling": _read_granite_20b,
}
"""Model names as the published scorer spells them, each with the reader that it chooses."""
