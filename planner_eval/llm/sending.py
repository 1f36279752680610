"""What leaves for a server, and what of its words may be shown."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from planner_eval.base.errors import InputError

LONGEST_PAUSE = 60.0
"""Seconds; a server that asks for more is asked again then."""

_LIKE = "http://localhost:8000/v1"
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


def shown(message: str, *, secrets: Iterable[str | None] = ()) -> str:
    """What a server or its client said: short, in one line, without keys.

    >>> shown("no  key abcd here", secrets=("abcd",))
    'no key *** here'
    """
    for secret in secrets:
        message = message.replace(secret, "***") if secret and len(secret) > 3 else message
    message = " ".join(_NAMED.sub("***@", message).split())
    text = "".join(character if character.isprintable() else "\ufffd" for character in message)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def refuse_address(url: str | None) -> None:
    """Refuse an address of a server that can be none, before anything is asked; None is the package's own.

    Raises:
        InputError: says what an address looks like.

    >>> refuse_address("http://localhost:8000/v1")
    """
    if url is None:
        return
    try:
        address = urlsplit(url)
        good = address.scheme.lower() in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:  # a port that is no number, half an IPv6 address
        good = False
    if not good or not url.isprintable() or " " in url:
        raise InputError(f"{shown(repr(url))} is no address of a server: expected one like {_LIKE}")


def retry_after(header: str | None) -> float | None:
    """A Retry-After header, in seconds or as a date, at most a minute; None for anything else.

    >>> retry_after("7"), retry_after("900"), retry_after("soon")
    (7.0, 60.0, None)
    """
    try:
        pause = float(header) if header else None
    except ValueError:
        pause = _until(str(header))
    return min(pause, LONGEST_PAUSE) if pause is not None and pause >= 0 else None


def _until(date: str) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(date).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return None
