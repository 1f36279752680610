"""What is given to be read, beside texts: objects of other packages, and which turn of a conversation."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.json_text import loads
from planner_eval.base.limits import DEFAULT_LIMITS

TurnChoice: TypeAlias = int | Literal["first", "last"] | None
"""Which turn of the assistant is read, counted from 1; all of them where it is None."""

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


def check_turn(turn: TurnChoice) -> None:
    """Refuse what names no turn.

    Raises:
        InputError: it is neither ``"first"`` nor ``"last"`` nor a number from 1 on.
    """
    number = isinstance(turn, int) and not isinstance(turn, bool) and turn > 0
    if turn is not None and not number and turn not in ("first", "last"):
        raise InputError(f"the turn is {turn!r}, expected 'first', 'last' or a number counted from 1")
