"""Regular expressions of catalogs and policies, held against texts of models in bounded time.

Python's own engine tries every way to match: ``(a+)+$`` takes hours for 40 characters. Rust's, which
pydantic brings, takes time in proportion to the text. What that one cannot read, as look-arounds, is tried
with Python's where the ways to try are few, and else stays undecided.
"""

from __future__ import annotations

import re
import warnings
from functools import cached_property
from typing import Any

_MAX_ATTEMPTS = 2_000_000
"""So many ways Python's engine may have to try: less than half a second."""
_GROUP = re.compile(r"\(\?<([A-Za-z_]\w*)>|\\k<(\w+)>|\\.|\[\^?\]?(?:[^\]\\]|\\.)*\]", re.DOTALL)
"""A group with a name or one that comes again; also what may look like either: escapes and classes."""
_REPEAT_COUNT = re.compile(r"\{(\d+)(,?)(\d*)\}")


class Pattern:
    """A regular expression that may stand anywhere in a text, as ``pattern`` of JSON Schema, or is all of it.

    Args:
        text: The expression.
        whole: The text must match from its beginning to its end, and ``.`` is any character.

    >>> Pattern("^[0-9]+$").found("12"), Pattern("b").found("aa"), Pattern("(?=(a+)+$)b").found("a" * 50)
    (True, False, None)
    >>> Pattern("(a+)+c", whole=True).found("a" * 50), Pattern("a|ab", whole=True).found("ab")
    (False, True)
    """

    def __init__(self, text: str, *, whole: bool = False) -> None:
        self.text, self.whole = text, whole

    def found(self, text: str) -> bool | None:
        """Whether it is in a text; None where to find out could take too long."""
        if self._linear is not None:
            return bool(self._linear.isinstance_python(text.encode(errors="replace").decode()))
        if self._python is None or _count_attempts(self.text, len(text)) > _MAX_ATTEMPTS:
            return None
        return (self._python.fullmatch if self.whole else self._python.search)(text) is not None

    @property
    def readable(self) -> bool:
        """Whether it is a regular expression at all."""
        return self._linear is not None or self._python is not None

    @cached_property
    def _linear(self) -> Any:
        from pydantic_core import SchemaError, SchemaValidator, core_schema

        text = _to_rust_regex(self.text)
        if text is None:
            return None
        text = rf"(?s)\A(?:{text})\z" if self.whole else text
        try:
            return SchemaValidator(core_schema.str_schema(pattern=text, regex_engine="rust-regex"))
        except SchemaError:
            return None

    @cached_property
    def _python(self) -> re.Pattern[str] | None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of what may mean something else one day
                return re.compile(_to_python_regex(self.text), re.DOTALL if self.whole else 0)
        except (re.error, RecursionError, OverflowError):
            return None


def _to_rust_regex(text: str) -> str | None:
    r"""An expression as Rust's engine spells it; None where it would mean something else there.

    >>> _to_rust_regex(r"\<[[a]\Z"), _to_rust_regex("[a--b]")
    ('<[\\[a]\\z', None)
    """
    pieces, inside, position = [], False, 0
    while position < len(text):
        step = text[position : position + 2]
        if step[0] == "\\":
            pieces.append({"\\<": "<", "\\>": ">", "\\Z": r"\z"}.get(step, step))
            position += 2
            continue
        if inside and step in ("&&", "--", "~~"):  # sets of characters less others, there
            return None
        opens = step[0] == "[" and inside
        pieces.append("\\[" if opens else step[0])
        inside = step[0] == "[" or (inside and step[0] != "]")
        position += 1
    return "".join(pieces)


def _to_python_regex(text: str) -> str:
    r"""An expression with its groups named as Python spells them.

    >>> _to_python_regex(r"^(?<y>\d)(?<=a)[(?<b>]\k<y>")
    '^(?P<y>\\d)(?<=a)[(?<b>](?P=y)'
    """

    def spelled(match: re.Match[str]) -> str:
        if match[1]:
            return f"(?P<{match[1]}>"
        return f"(?P={match[2]})" if match[2] else match[0]

    return _GROUP.sub(spelled, text)


def _count_attempts(text: str, length: int) -> float:
    """How many ways there are, at most, to hold an expression against a text of that length.

    A repeated part with a choice inside has more than can be tried.

    >>> _count_attempts("a*b", 9), _count_attempts("(a|b){2}", 9), _count_attempts("(a+)+", 9)
    (100.0, 40.0, inf)
    """
    around: list[list[float]] = []  # of each group that is open: ways of this branch, of those before
    branch, before = [1.0], 0.0
    position, last = 0, 1.0
    inside = False
    while position < len(text):
        char = text[position]
        if char == "\\":
            position, last = position + 2, 1.0
            continue
        if inside:
            inside = char != "]"
        elif char == "[":
            inside, last = True, 1.0
        elif char == "(":
            around.append([branch[0], before])
            branch, before, last = [1.0], 0.0, 1.0
        elif char == "|":
            before, branch, last = before + branch[0], [1.0], 1.0
        elif char == ")" and around:
            last = before + branch[0]
            outer, before = around.pop()
            branch = [outer * last]
        elif (times := _parse_quantifier(text, position)) is not None:
            few, most, position = *times[:2], times[2] - 1
            branch[0] = branch[0] / last * _count_repeat_attempts(last, few, most, length)
        else:
            last = 1.0
        position += 1
    total = before + branch[0]
    for outer, earlier in around:
        total = outer * total + earlier
    return total * (length + 1) if total < float("inf") else total


def _count_repeat_attempts(count: float, few: int, most: int | None, length: int) -> float:
    if most is None:
        return float("inf") if count > 1 else length + 1
    try:
        return float(count**most * (most - few + 1))
    except OverflowError:
        return float("inf")


def _parse_quantifier(text: str, position: int) -> tuple[int, int | None, int] | None:
    """How often the part before may stand, and where what says so ends."""
    plain = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(text[position])
    if plain is not None:
        end = position + 1
        few, most = plain
    elif text[position] == "{" and (counted := _REPEAT_COUNT.match(text, position)):
        few = int(counted[1][:9])
        most = few if not counted[2] else (int(counted[3][:9]) if counted[3] else None)
        end = counted.end()
    else:
        return None
    if text[end : end + 1] in ("?", "+"):  # reluctant, or possessive
        end += 1
    return few, most, end
