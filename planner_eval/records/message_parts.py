"""Whether the objects of an array are together one answer: the content of one message, or a stream's pieces.

Vendors' packages give a message's content as a list of parts, words beside calls, and people dump that list.
Each of its parts looks like a record on its own: a text has the name of a field that holds an answer. So a
list is taken for a message's content by signs that records do not have, and for records otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from planner_eval.dialects.messages import PARTS
from planner_eval.dialects.streams import are_of_one
from planner_eval.records.fields import ID_FIELDS, KNOWN
from planner_eval.records.shapes import Item

_WORDS = frozenset({"text", "input_text", "output_text", "refusal"})
"""Types of parts that only say something: many of them may be the answers of many."""

_WORDED = frozenset({
    "type", "text", "refusal", "citations", "annotations", "logprobs", "cache_control", "state", "signature",
    "providerMetadata", "providerOptions", "provider_metadata", "extras",
})  # fmt: skip
"""All keys that such a part has."""

_SILENT = frozenset({
    "thinking", "redacted_thinking", "reasoning", "step-start", "tool_result", "tool-result", "tool-error",
    "compaction", "function_call_output", "custom_tool_call_output", "tool_call_response", "image",
    "image_url", "input_image", "document", "input_file", "source-url", "source-document", "file",
    "search_result", "input_audio", "container_upload",
})  # fmt: skip
"""Types of parts that call nothing and are no words, but for those whose names end in what a tool gave."""

_OWN = frozenset({"text", "output", "result", "response"})
"""Fields that hold an answer in records, and in such parts what was thought or what a tool gave."""

_NAMES = frozenset(ID_FIELDS) - {"id"}
_WRAPPED = frozenset({"toolUse", "functionCall", "function_call"})
_TOLD = frozenset({"toolResult", "functionResponse", "function_response"})


_CALLING = ('"tool_use"', '"tool-call"', '"toolUse"', '"functionCall"', '"function_call"')
"""What stands in the text of a part that makes a call."""


def are_parts(items: Sequence[Item], broken: str = "") -> bool:
    """Whether objects are the parts of one message's content, or the pieces of one answer that was streamed.

    Several texts alone, ``{"type": "text", …}``, may be as many answers, and are records.

    Args:
        items: What stands in the array.
        broken: The text of what stands there too and is no JSON.

    >>> from planner_eval.records.shapes import shape_of
    >>> given = [{"type": "text", "text": "I look."}, {"type": "tool_use", "name": "f", "input": {}}]
    >>> are_parts([Item(one, shape_of(one)) for one in given])
    True
    """
    first = items[0].data if items else None
    if not isinstance(first, dict):
        return False
    if isinstance(first.get("type"), str) and _kind(items[0]) is not None:
        kinds = set(map(_kind, items))
        silent = kinds == {"words"} and not any(sign in broken for sign in _CALLING)
        return None not in kinds and (not silent or (len(items) == 1 and not broken))
    if _is_plain_part(items[0]):
        called = any(not _WRAPPED.isdisjoint(item.data) for item in items if isinstance(item.data, dict))
        return (called or any(sign in broken for sign in _CALLING)) and all(map(_is_plain_part, items))
    return not broken and are_of_one([item.data for item in items])


def are_texts(items: Sequence[Item]) -> bool:
    """Whether objects are several texts alone, of which nothing says whether they are one message's."""
    return len(items) > 1 and all(item.line is None and _kind(item) == "words" for item in items)


def _kind(item: Item) -> str | None:
    """Whether a part with a type makes a call, says something or neither; None where it is no part."""
    data = item.data
    kind = data.get("type") if isinstance(data, dict) else None
    if not isinstance(kind, str) or "role" in data:
        return None
    if kind in _WORDS:
        return "words" if _WORDED.issuperset(data) else None
    if kind in _SILENT or kind.endswith("_tool_result"):
        return "silent" if (KNOWN | _NAMES).isdisjoint(data.keys() - _OWN) else None
    return "call" if item.shape.call and not item.shape.holds else None


def _is_plain_part(item: Item) -> bool:
    """Whether an object is a part of Gemini's or Bedrock's, which have no type and a key for each kind."""
    if not isinstance(item.data, dict):
        return False
    keys: set[Any] = {key for key, value in item.data.items() if value is not None}
    return bool(keys) and keys <= PARTS | _WRAPPED | _TOLD
