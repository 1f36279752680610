"""Whether the objects of an array are together one answer: a message's content, or the pieces of a stream.

Vendors' packages give a message's content as a list of parts, words beside calls, and people dump that list.
Each of its parts looks like a record on its own: a text has the name of a field that holds an answer. So a
list is taken for a message's content by signs that records do not have, and for records otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from planner_eval.reading.dialects.conversations.answer_states import (
    are_answer_pieces,
)
from planner_eval.reading.dialects.conversations.messages import (
    PART_KEYS,
)
from planner_eval.reading.files.fields import (
    ID_FIELDS,
    PLAN_FIELDS,
)

if TYPE_CHECKING:
    pass
from planner_eval.reading.files.shapes import Item

_TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal"})
"""Types of parts that only say something: many of them may be the answers of many."""

_TEXT_PART_KEYS = frozenset({
    "type", "text", "refusal", "citations", "annotations", "logprobs", "cache_control", "state", "signature",
    "providerMetadata", "providerOptions", "provider_metadata", "extras",
})  # fmt: skip
"""All keys that such a part has."""

_SILENT_TYPES = frozenset({
    "thinking", "redacted_thinking", "reasoning", "step-start", "tool_result", "tool-result", "tool-error",
    "compaction", "function_call_output", "custom_tool_call_output", "tool_call_response", "image",
    "image_url", "input_image", "document", "input_file", "source-url", "source-document", "file",
    "search_result", "input_audio", "container_upload",
})  # fmt: skip
"""Types of parts that call nothing and are no words, but for those whose names end in what a tool gave."""

_TEXT_FIELDS = frozenset({"text", "output", "result", "response"})
"""Fields that hold an answer in records, and in such parts what was thought or what a tool gave."""

_RECORD_ID_FIELDS = frozenset(ID_FIELDS) - {"id"}
_CALL_WRAPPER_KEYS = frozenset({"toolUse", "functionCall", "function_call"})
_TOOL_RESULT_KEYS = frozenset({"toolResult", "functionResponse", "function_response"})


_CALL_SIGNS = ('"tool_use"', '"tool-call"', '"toolUse"', '"functionCall"', '"function_call"')
"""What stands in the text of a part that makes a call."""


def are_parts(items: Sequence[Item], broken: str = "") -> bool:
    """Whether objects are the parts of one message's content, or the pieces of one answer that was streamed.

    Several texts alone, ``{"type": "text", …}``, may be as many answers, and are records.

    Args:
        items: What stands in the array.
        broken: The text of what stands there too and is no JSON.

    >>> from planner_eval.reading.files.shapes import shape_of
    >>> given = [{"type": "text", "text": "I look."}, {"type": "tool_use", "name": "f", "input": {}}]
    >>> are_parts([Item(one, shape_of(one)) for one in given])
    True
    """
    first = items[0].data if items else None
    if not isinstance(first, dict):
        return False
    if isinstance(first.get("type"), str) and _part_kind(items[0]) is not None:
        kinds = set(map(_part_kind, items))
        silent = kinds == {"words"} and not any(sign in broken for sign in _CALL_SIGNS)
        return None not in kinds and (not silent or (len(items) == 1 and not broken))
    if _is_plain_part(items[0]):
        called = any(
            not _CALL_WRAPPER_KEYS.isdisjoint(item.data) for item in items if isinstance(item.data, dict)
        )
        return (called or any(sign in broken for sign in _CALL_SIGNS)) and all(map(_is_plain_part, items))
    return not broken and are_answer_pieces([item.data for item in items])


def are_texts(items: Sequence[Item]) -> bool:
    """Whether objects are several texts alone, of which nothing says whether they are one message's."""
    return len(items) > 1 and all(item.line is None and _part_kind(item) == "words" for item in items)


def _part_kind(item: Item) -> str | None:
    """Whether a part with a type makes a call, says something or neither; None where it is no part."""
    data = item.data
    kind = data.get("type") if isinstance(data, dict) else None
    if not isinstance(kind, str) or "role" in data:
        return None
    if kind in _TEXT_TYPES:
        return "words" if _TEXT_PART_KEYS.issuperset(data) else None
    if kind in _SILENT_TYPES or kind.endswith("_tool_result"):
        return "silent" if (PLAN_FIELDS | _RECORD_ID_FIELDS).isdisjoint(data.keys() - _TEXT_FIELDS) else None
    return "call" if item.shape.call and not item.shape.holds else None


def _is_plain_part(item: Item) -> bool:
    """Whether an object is a part of Gemini's or Bedrock's, which have no type and a key for each kind."""
    if not isinstance(item.data, dict):
        return False
    keys: set[Any] = {key for key, value in item.data.items() if value is not None}
    return bool(keys) and keys <= PART_KEYS | _CALL_WRAPPER_KEYS | _TOOL_RESULT_KEYS
