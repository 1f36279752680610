"""Showing foreign text safely: control characters, surrogates and length."""

from __future__ import annotations

import json
import re
from typing import Any

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""The text with everything that could move a terminal's cursor or hide shown as an escape.

    Line ends and tabs stay; surrogates, control and direction characters become ``\xNN`` or
    ``\uNNNN``.

    >>> print(printable("a\x1b[31mb"))
    a\x1b[31mb
    """
    return _UNSAFE.sub(lambda m: ascii(m[0])[1:-1], text)


def one_line(text: str, width: int = 80) -> str:
    r"""The text printable, on one line, cut to `width` characters with an ellipsis.

    >>> one_line("a\nb" + "c" * 100, 8)
    'a\\nbccc…'
    """
    text = printable(text[: width + 1]).replace("\n", "\\n").replace("\t", "\\t")
    return text if len(text) <= width else text[: width - 1] + "…"


def shown(value: Any, width: int = 80) -> str:
    """A value as JSON on one line, cut to `width` characters.

    >>> shown({"a": [1, "x"]})
    '{"a": [1, "x"]}'
    """
    return one_line(json.dumps(value, ensure_ascii=False, default=repr), width)
