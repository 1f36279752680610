"""The answer formats of the published NESTful scorer: a model's name chooses a reader.

None of them looks for calls inside prose. What a reader cannot read is a failed answer without calls;
what it had decoded by then is still what would be executed.

Source: ``output_parsers.py`` at IBM's state fc2c412 (2025-04-21).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.base.quick import quick
from planner_eval.benchmarks.nestful.ground import ground
from planner_eval.benchmarks.nestful.python_calls import UNREADABLE, cut_calls, tree_calls

_FAILURES = (*UNREADABLE, RecursionError, MemoryError)


@quick
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


def read_answer(text: str, model: str) -> ParsedAnswer:
    """Read an answer as the published scorer does for `model`.

    Args:
        text: The whole answer.
        model: A model name of the published scorer, see :data:`READERS`.

    Raises:
        InputError: no reader has that name.

    >>> read_answer('[{"name": "add", "label": "$var_1", "arguments": {"arg_0": 2}}]', "DeepSeek-V3").calls
    ({'name': 'add', 'arguments': {'arg_0': 2}},)
    >>> read_answer("I would add 2 and 3.", "DeepSeek-V3").failed
    True
    """
    reader = READERS.get(model)
    if reader is None:
        raise InputError(
            f"NESTful's scorer has no reader for the model {model!r}; it knows {', '.join(READERS)}"
        )
    return reader(text)


def _decoded(text: str, *, grounded: bool, keep_result: bool = True) -> ParsedAnswer:
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


def _has_labels(text: str) -> bool:
    return "label" in text


def _plain(text: str) -> ParsedAnswer:
    return _decoded(text, grounded=_has_labels(text))


def _granite_31(text: str) -> ParsedAnswer:
    return _plain(text.replace("<|tool_call|>", "").replace("<tool_call>", ""))


def _llama_3(text: str) -> ParsedAnswer:
    body = text.strip().removesuffix("'")
    body = body if body.startswith("[") else "[" + body
    body = body if body.endswith("]") else body + "]"
    return _decoded(body, grounded=_has_labels(text))


def _llama_3_70b(text: str) -> ParsedAnswer:
    text = text.strip()
    first = _decoded(text, grounded=_has_labels(text), keep_result=False)
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


def _mistral(text: str) -> ParsedAnswer:
    text = text.strip()
    first = _decoded(text, grounded=True)
    if not first.failed:
        return first
    second = _decoded(text.replace("\n", "").replace("\\_", "_"), grounded=True)
    return second if second.raw != () else ParsedAnswer(raw=first.raw, failed=True)


def _hermes(text: str) -> ParsedAnswer:
    text = text.strip()
    if text.startswith("tool_call\n{"):
        text = text.replace("tool_call\n{", "<tool_call>\n{")
    calls = []
    for segment in _between_tags(text):
        try:
            calls.append(json.loads(segment.strip()))
        except _FAILURES:
            continue
    return _entries(calls, grounded=True) if calls else ParsedAnswer(raw=calls, failed=True)


def _between_tags(text: str) -> list[str]:
    segments = []
    start = text.find("<tool_call>")
    while start >= 0 and (end := text.find("</tool_call>", start + 11)) >= 0:
        segments.append(text[start + 11 : end])
        start = text.find("<tool_call>", end)
    return segments


_XLAM_MARKERS = ("ANSWER", "FUNCTION CALLS", "FUNCTION CALL", "ACTIONS", "ACTION")


def _xlam(text: str) -> ParsedAnswer:
    for marker in _XLAM_MARKERS:
        text = text.replace(f"[BEGIN OF {marker}]", "")
    try:
        raw = json.loads(text.strip())["tool_calls"]
    except _FAILURES:
        return ParsedAnswer(failed=True)
    return _entries(raw, grounded=True)


def _hammer(text: str) -> ParsedAnswer:
    answer = _decoded(text.replace("```", "").strip(), grounded=True)
    return ParsedAnswer(raw=answer.raw, failed=True) if not answer.raw else answer


def _tool_ace(text: str) -> ParsedAnswer:
    try:
        raw = tree_calls(text)
    except _FAILURES:
        return ParsedAnswer(failed=True)
    if not raw:
        return ParsedAnswer(failed=True)
    answer = _entries(raw, grounded=True)
    try:  # through JSON and back: tuples become lists, keys become texts
        return ParsedAnswer(tuple(json.loads(json.dumps(answer.calls))), raw, answer.failed)
    except TypeError:  # bytes or complex numbers: the published code then trips over the unwritten calls
        return ParsedAnswer(raw=raw, failed=True, abort="AttributeError")


def _granite_20b(text: str) -> ParsedAnswer:
    text = text.strip().replace("ASSISTANT", "").strip()
    try:
        raw = [json.loads(piece) for piece in text.split("<function_call>") if piece]
    except _FAILURES:
        return ParsedAnswer(failed=True)
    return _entries(raw, grounded=_has_labels(text), keep_result=False)


READERS: dict[str, Callable[[str], ParsedAnswer]] = {
    "granite-3.0-8b-instruct": _plain,
    "granite-3.0-8b-instruct-FT": _plain,
    "DeepSeek-V3": _plain,
    "DeepSeek-R1": _plain,
    "granite-3.1-8b-instruct": _granite_31,
    "Llama-3.1-8B-Instruct": _llama_3,
    "llama-3-1-70b-instruct": _llama_3,
    "llama-3-1-405b-instruct-fp8": _llama_3,
    "Llama-3.2-11B-Vision-Instruct": _llama_3,
    "Llama-3.2-90B-Vision-Instruct": _llama_3,
    "llama-3-70b-instruct": _llama_3_70b,
    "llama-3-1-405b-instruct": _llama_3_70b,
    "Mistral-7B-Instruct-v0.3": _mistral,
    "mixtral_8x7b_instruct_v01": _mistral,
    "Mixtral-8x22B-Instruct-v0.1": _mistral,
    "Hermes-2-Pro-Mistral-7B": _hermes,
    "xLAM-1b-fc-r": _xlam,
    "xLAM-7b-fc-r": _xlam,
    "xLAM-8x7b-r": _xlam,
    "xLAM-8x22b-r": _xlam,
    "Hammer2.0-7b": _hammer,
    "ToolAce-8b": _tool_ace,
    "Granite-20B-FunctionCalling": _granite_20b,
}
"""Model names as the published scorer spells them, each with the reader that it chooses."""
