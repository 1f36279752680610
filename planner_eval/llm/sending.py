"""What leaves for a server, and what of its words may be shown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_MOST_SHOWN = 500
_NAMED = re.compile(r"(?<=://)[^/@\s]+@")


def without_halves(value: Any) -> Any:
    r"""The data with a replacement character for each half of a surrogate pair, which UTF-8 cannot hold.

    >>> without_halves({"text": ["a\ud800"]})
    {'text': ['a�']}
    """
    if isinstance(value, str):
        return (
            value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        )
    if isinstance(value, dict):
        return {key: without_halves(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_halves(item) for item in value]
    return value


def shown(said: str, *, secrets: Iterable[str | None] = ()) -> str:
    """What a server or its client said: short, in one line, without keys.

    >>> shown("no  key abcd here", secrets=("abcd",))
    'no key *** here'
    """
    for secret in secrets:
        said = said.replace(secret, "***") if secret and len(secret) > 3 else said
    said = " ".join(_NAMED.sub("***@", said).split())
    text = "".join(each if each.isprintable() else "\ufffd" for each in said)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
