"""Regular expressions that are compiled when they are first asked, as most are in no run."""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("match", "fullmatch", "search", "finditer", "findall", "sub", "split")


class _LazyPattern:
    """What stands for a pattern; once compiled, its methods are found here without a further step."""

    def __init__(self, regex: str, flags: int) -> None:
        self.given = regex, flags

    def __getattr__(self, name: str) -> Any:
        pattern = re.compile(*self.given)
        vars(self).update({method: getattr(pattern, method) for method in _METHODS})
        return getattr(pattern, name)


def lazy_pattern(regex: str, flags: int = 0) -> re.Pattern[str]:
    r"""A pattern that is compiled when it is first asked; all of a module's take some milliseconds.

    Args:
        regex: The pattern.
        flags: As for ``re.compile``.

    >>> lazy_pattern(r"\d+").findall("1 and 22")
    ['1', '22']
    """
    return cast("re.Pattern[str]", _LazyPattern(regex, flags))
