"""The pieces of one answer that was streamed, kept as a list: which of them make the answer.

Events that add to an answer letter by letter are put together by the vendors' packages, and refused here. Two
streams say the whole: OpenAI's Responses end in an event that holds the answer, and of Gemini's each piece
is an answer with the next parts of it.
"""

from __future__ import annotations

from typing import Any

_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed", "response.done"})


def are_of_one(items: list[Any]) -> bool:
    """Whether objects are the pieces of one answer: several of them, and no two that are whole answers.

    Args:
        items: The objects, in the order in which they came.

    >>> are_of_one([{"type": "response.created"}, {"type": "response.completed", "response": {}}])
    True
    """
    return _are_events(items) or _are_chunks(items)


def whole(items: list[Any]) -> list[Any]:
    """The answer that the pieces of a stream make; the objects themselves where they make none, or are none.

    >>> said = [[{"content": {"parts": [{"text": part}]}}] for part in "ab"]
    >>> (joined,) = whole([{"candidates": one, "responseId": "r"} for one in said])
    >>> joined["candidates"][0]["content"]["parts"]
    [{'text': 'ab'}]
    """
    if len(items) < 2 or not isinstance(items[0], dict):
        return items
    if "candidates" in items[0]:
        return [_joined(items)] if _are_chunks(items) else items
    if "type" in items[0] and _are_events(items) and items[-1]["type"] in _ENDS:
        return items[-1:]
    return items


def _are_events(items: list[Any]) -> bool:
    """Whether objects are the events of one of OpenAI's Responses, of which the last may hold the answer."""
    kinds = [item.get("type") if isinstance(item, dict) else None for item in items]
    if len(kinds) < 2 or not all(isinstance(kind, str) and kind.startswith("response.") for kind in kinds):
        return False
    return _ENDS.isdisjoint(kinds[:-1])


def _are_chunks(items: list[Any]) -> bool:
    """Whether objects are pieces of one of Gemini's answers: of one id, or only the last says why it ends."""
    if len(items) < 2 or not all(isinstance(item, dict) and _candidate(item) is not None for item in items):
        return False
    ids = {_id(item) for item in items}
    if len(ids) > 1 or any(len(item["candidates"]) != 1 for item in items):
        return False
    ended = [_ends(item) for item in items]
    return not any(ended[:-1]) and (ended[-1] or ids != {None})


def _id(item: dict[str, Any]) -> str | None:
    response_id = item.get("responseId", item.get("response_id"))
    return response_id if isinstance(response_id, str) else None


def _candidate(item: dict[str, Any]) -> dict[str, Any] | None:
    candidates = item.get("candidates")
    return (
        candidates[0]
        if isinstance(candidates, list) and candidates and isinstance(candidates[0], dict)
        else None
    )


def _ends(item: dict[str, Any]) -> bool:
    candidate = _candidate(item) or {}
    return bool(candidate.get("finishReason", candidate.get("finish_reason")))


def _joined(items: list[dict[str, Any]]) -> dict[str, Any]:
    """The pieces of an answer of Gemini's as one: their parts in order, words that follow words joined."""
    joined_parts: list[Any] = []
    for item in items:
        content = item["candidates"][0].get("content")
        content_parts = content.get("parts") if isinstance(content, dict) else None
        for content_part in content_parts if isinstance(content_parts, list) else ():
            if _is_words(content_part) and joined_parts and _is_words(joined_parts[-1]):
                joined_parts[-1] = {"text": joined_parts[-1]["text"] + content_part["text"]}
            else:
                joined_parts.append(content_part)
    last = items[-1]["candidates"][0]
    return {**items[-1], "candidates": [{**last, "content": {"role": "model", "parts": joined_parts}}]}


def _is_words(content_part: Any) -> bool:
    return (
        isinstance(content_part, dict)
        and content_part.keys() == {"text"}
        and isinstance(content_part["text"], str)
    )
