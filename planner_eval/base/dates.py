"""Days as RFC 3339 writes them; Python's own reader takes weeks and digits alone for days too."""

from __future__ import annotations

import re
from datetime import date

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def parse_day(text: str) -> date | None:
    """The day that a text names as yyyy-mm-dd (RFC 3339, full-date); None where it names none so.

    Args:
        text: The text, with nothing around the day.

    >>> parse_day("2026-05-01"), [parse_day(each) for each in ("2026-W18-5", "20260501", "2026-02-30")]
    (datetime.date(2026, 5, 1), [None, None, None])
    """
    if _DAY.fullmatch(text) is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
