"""What an answer says itself: without thoughts and chat tokens, and whether that is a plan of no calls."""

from __future__ import annotations

import json
import re

from planner_eval.base.later import later
from planner_eval.dialects.beside import blank
from planner_eval.dialects.find import THOUGHT, TOKEN

_END = "</think>"
_EMPTY = later(r"\s*+(?:```\w*+)?\s*+([\[{].*[\]}])\s*+(?:```)?\s*+", re.S)


def bare(text: str) -> str:
    r"""A text without thoughts and chat tokens; places stay.

    A thought that the prompt began, as chat templates do, ends at the first ``</think>``.

    Args:
        text: The text.

    >>> bare("so be it\n</think>\nf()").split(), bare("<think>f(</think>g()<|im_end|>").split()
    (['f()'], ['g()'])
    """
    if _END in text and "<think>" not in text:
        at = text.index(_END) + len(_END)
        text = blank(text[:at]) + text[at:]
    for aside in (THOUGHT, TOKEN):
        text = aside.sub(lambda found: blank(found[0]), text)
    return text


def says_empty(text: str) -> bool:
    """Whether a text that calls nothing says so as a plan, ``[]``, and not in words.

    Args:
        text: A text that reads as a plan without calls.

    >>> says_empty("[]"), says_empty('{"calls": []}'), says_empty("I cannot.")
    (True, True, False)
    """
    found = _EMPTY.fullmatch(bare(text))
    try:
        return found is not None and isinstance(json.loads(found[1]), (list, dict))
    except (ValueError, RecursionError):
        return False


__all__ = ["bare", "says_empty"]
