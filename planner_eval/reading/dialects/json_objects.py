"""Objects of other packages, such as a client's answer, as JSON data."""

from __future__ import annotations

from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.json_text import loads
from planner_eval.base.limits import DEFAULT_LIMITS

_DUMP_METHODS = ("model_dump", "to_input_list", "to_dict", "to_json")


def to_json_data(source: Any) -> Any:
    """Structure that is JSON out of an object of another package: an answer, a message or a call, or a list.

    Args:
        source: Anything; what has none of the usual methods is given back as it is, and so is structure that
            is JSON already.

    Raises:
        ParseError: the object's own method fails.

    >>> class Message:
    ...     def to_dict(self):
    ...         return {"role": "assistant", "content": "f(a=1)"}
    >>> to_json_data([Message()])
    [{'role': 'assistant', 'content': 'f(a=1)'}]
    """
    if isinstance(source, dict):
        talk = source.get("messages")
        if isinstance(talk, (list, tuple)) and not all(isinstance(item, dict) for item in talk):
            return {**source, "messages": to_json_data(talk)}
        return source
    if isinstance(source, (list, tuple)):
        return [item if isinstance(item, (str, dict, list)) else to_json_data(item) for item in source]
    for name in _DUMP_METHODS if not isinstance(source, (str, type)) else ():
        method = getattr(source, name, None)
        if callable(method):
            try:
                data = method()
            except Exception as error:  # whatever another package's code raises
                reason = f"{type(source).__name__}.{name}() fails: {type(error).__name__}: {error}"
                raise ParseError(reason, code="parse.shape") from error
            return loads(data, DEFAULT_LIMITS)[0] if isinstance(data, str) else data
    return source
