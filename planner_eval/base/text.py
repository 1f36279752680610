"""Text: foreign text shown safely, marks and quotes found in linear time, patterns compiled on first use."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from functools import lru_cache, wraps
from typing import Any, TypeAlias, TypeVar, cast

from planner_eval.base.named_tuple import NamedTuple

# ----------------------------------------------------------------------
# Showing foreign text safely: control characters, surrogates and length.
_UNSAFE = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
"""Compiled where a text may hold some of it: 0.3 ms of each start."""

INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"
"""Characters without width, which chat windows and editors put before a line: nobody sees them there."""

_MAX_COMPARED_CHARS = 200
"""A longer name is compared by its beginning: the comparison's time grows with the square of the length."""


def printable(text: str) -> str:
    r"""The text with everything that could move a terminal's cursor or hide shown as an escape.

    Line ends and tabs stay; surrogates, control and direction characters become ``\xNN`` or
    ``\uNNNN``.

    >>> print(printable("a\x1b[31mb"))
    a\x1b[31mb
    """
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return re.sub(_UNSAFE, lambda m: ascii(m[0])[1:-1], text)


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    r"""The line and the column of a character, counted from 1.

    >>> line_and_column("ab\ncd", 4)
    (2, 2)
    """
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def line_end(text: str, position: int) -> int:
    r"""Where the line ends that goes on at a place of a text.

    >>> line_end("ab\ncd", 1), line_end("ab\ncd", 3)
    (2, 5)
    """
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def json_safe(text: str) -> str:
    r"""JSON in which nothing stands that could move a terminal's cursor or hide; the same data.

    >>> json_safe('["a\x9b"]')
    '["a\\u009b"]'
    """
    if text.isascii() and "\x7f" not in text:
        return text
    return re.sub(_UNSAFE, lambda m: m[0] if m[0] in "\r" else f"\\u{ord(m[0]):04x}", text)


_NAME_PART = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+"


def words_of_name(name: str) -> list[str]:
    """The words of a name, however it is spelled, in small letters.

    >>> words_of_name("getATMList"), words_of_name("bill_id2"), words_of_name("名前")
    (['get', 'atm', 'list'], ['bill', 'id', '2'], ['名前'])
    """
    return [word.lower() for word in re.findall(_NAME_PART, name)]


def encodable(text: str) -> str:
    r"""The text with half a surrogate pair spelled out, as it is wherever it goes.

    >>> encodable("a\ud800")
    'a\\ud800'
    """
    return text.encode("utf-8", errors="backslashreplace").decode()


def one_line(text: str, width: int = 80) -> str:
    r"""The text printable, on one line, cut to `width` characters with an ellipsis.

    >>> one_line("a\nb" + "c" * 100, 8)
    'a\\nbccc…'
    """
    text = printable(text[: width + 1]).replace("\n", "\\n").replace("\t", "\\t")
    return shorten(text, width)


def shorten(text: str, width: int) -> str:
    """The text cut to `width` characters, the last of them an ellipsis where something is cut.

    >>> shorten("Beijing to Shanghai", 8)
    'Beijing…'
    """
    return text if len(text) <= width else text[: width - 1] + "…"


def format_first(names: Sequence[str], most: int) -> str:
    """The first of some names, and how many more there are.

    >>> format_first(["pay", "book", "find"], 2)
    'pay, book and 1 more'
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def format_count(count: int, noun: str) -> str:
    """A count with its noun.

    >>> format_count(1, "dependency"), format_count(2000, "dependency"), format_count(0, "tool")
    ('1 dependency', '2,000 dependencies', '0 tools')
    >>> format_count(3, "wish")
    '3 wishes'
    """
    if count != 1:
        noun = noun[:-1] + "ies" if noun.endswith("y") else noun + ("es" if noun.endswith("sh") else "s")
    return f"{count:,} {noun}"


def format_ordinal(number: int) -> str:
    """A number that counts.

    >>> [format_ordinal(number) for number in (1, 2, 3, 4, 11, 22)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd']
    """
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def format_seconds(count: float) -> str:
    """A time in words.

    >>> format_seconds(1.0), format_seconds(0.5), format_seconds(60)
    ('1 second', '0.5 seconds', '60 seconds')
    """
    return f"{count:g} second{'s' * (count != 1)}"


def closest_name(name: str, names: Iterable[str]) -> str | None:
    """The known name that one which is not known comes closest to; None where none is close.

    >>> closest_name("bnak", ["bank", "hotel"]), closest_name("x", ["bank"])
    ('bank', None)
    """
    return next(iter(close_names(name, names, 1)), None)


def close_names(name: str, names: Iterable[str], most: int = 3, *, cutoff: float = 0.6) -> list[str]:
    """The known names that one which is not known comes close to, the closest first."""
    from difflib import get_close_matches

    return get_close_matches(name[:_MAX_COMPARED_CHARS], list(names), most, cutoff)


def edit_distance(a: str, b: str) -> int:
    """The Levenshtein distance, by bit vectors (Myers 1999): one pass over `b`, a row to an integer.

    >>> edit_distance("kitten", "sitting")
    3
    """
    if a == b:
        return 0
    if not a or not b:
        return len(a) or len(b)
    masks: dict[str, int] = {}
    for position, letter in enumerate(a):
        masks[letter] = masks.get(letter, 0) | 1 << position
    last = 1 << (len(a) - 1)
    full = (last << 1) - 1
    up, down, distance = full, 0, len(a)
    for letter in b:
        match = masks.get(letter, 0)
        diagonal = (((match & up) + up) ^ up) | match | down
        right_up = down | (full & ~(diagonal | up))
        right_down = up & diagonal
        if right_up & last:
            distance += 1
        if right_down & last:
            distance -= 1
        right_up = (right_up << 1 | 1) & full
        right_down = right_down << 1 & full
        up = right_down | (full & ~(diagonal | right_up))
        down = right_up & diagonal
    return distance


Words = TypeVar("Words", str, list[str])


def count_shared_letters(a: Words, b: Words) -> int:
    """How many letters two words, or words two texts, begin with alike.

    >>> count_shared_letters("booked", "books")
    4
    """
    differences = (index for index, (left, right) in enumerate(zip(a, b, strict=False)) if left != right)
    return next(differences, min(len(a), len(b)))


def differing_letters(a: Words, b: Words) -> tuple[int, Words, Words]:
    """What two words have between the beginning and the end that they share, and from which letter on.

    Of texts, given as their words, the same.

    >>> differing_letters("room", "roam"), differing_letters("hotel", "hottel")
    ((2, 'o', 'a'), (3, '', 't'))
    """
    start = count_shared_letters(a, b)
    shared_end = count_shared_letters(a[start:][::-1], b[start:][::-1])
    return start, a[start : len(a) - shared_end], b[start : len(b) - shared_end]


def is_swap(left: str, right: str) -> bool:
    """Whether what :func:`differing_letters` leaves of two words is a pair of letters that changed places."""
    return len(left) == 2 and left == right[::-1]


def did_you_mean(name: str, names: Iterable[str], otherwise: str = "", *, lead: str = "") -> str:
    """The hint that follows the message that a name is not known.

    Args:
        name: What was given.
        names: What there is.
        otherwise: The hint where no known name is close.
        lead: What stands before "did you mean".

    >>> did_you_mean("bnak", ["bank", "hotel"], lead="; ")
    "; did you mean 'bank'?"
    >>> did_you_mean("x", ["bank"], "expected one of bank")
    'expected one of bank'
    """
    close = closest_name(name, names)
    return otherwise if close is None else f"{lead}did you mean {close!r}?"


def one_line_json(value: Any, width: int = 80) -> str:
    """A value as JSON on one line, cut to `width` characters.

    >>> one_line_json({"a": [1, "x"]}), one_line_json(10**5000, 8)
    ('{"a": [1, "x"]}', '1000000…')
    """
    try:
        return one_line(_encode_json(value), width)
    except ValueError:  # an integer of more digits than Python writes
        width = min(width, _MAX_SHOWN_DIGITS)
        return one_line(_encode_json(_cut_integers(value, width)), width)


def _encode_unknown(value: Any) -> str:
    try:
        return repr(value)
    except ValueError:
        return f"<{type(value).__name__}>"


def _cut_integers(value: Any, width: int) -> Any:
    """The same with no integer longer than `width` digits and one, so that what is cut is never seen."""
    if isinstance(value, dict):
        return {_cut_integers(key, width): _cut_integers(item, width) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cut_integers(item, width) for item in value]
    if not isinstance(value, int) or value.bit_length() <= _MAX_WRITABLE_BITS:
        return value
    digits = int((value.bit_length() - 1) * _LOG10_2) + 1  # or one more
    first = abs(value) // 10 ** max(digits - width - 1, 0)
    return -first if value < 0 else first


_MAX_WRITABLE_BITS = 2_000
"""Integers of so many bits are always written: Python writes 640 digits, whatever its limit."""
_MAX_SHOWN_DIGITS = 600
_LOG10_2 = 0.30102999566398
_encode_json = json.JSONEncoder(ensure_ascii=False, default=_encode_unknown).encode


# ----------------------------------------------------------------------
# Looking for marks and quoted texts in linear time, though a quote may never be closed.
class Branch(NamedTuple):
    """One alternative of a pattern.

    Args:
        name: Of its group.
        regex: What it matches; a text in quotes has a possessive inside that passes over escapes.
        quote: What it begins with, where it is a text in quotes: a character, or a class of them.
    """

    name: str
    regex: str
    quote: str = ""


JSON_STRING = Branch("text", r'"(?:[^"\\]++|\\.)*+"', '"')
"""A text of JSON."""


def find_matches(branches: tuple[Branch, ...], text: str, start: int = 0) -> Iterator[re.Match[str]]:
    r"""The matches of the first branch that fits, from left to right; its name is the last group's.

    Where a quote is not closed, no later one of its kind is: each stands behind a backslash, or closes
    nothing, so that what it opens goes on as far. Its branch is tried no more, for every quote would cost
    the rest of the text.

    Args:
        branches: The alternatives.
        text: The text.
        start: Where to begin.

    >>> brackets = (JSON_STRING, Branch("mark", r"[\[\]]"))
    >>> [match.group() for match in find_matches(brackets, '["]", "[', 0)]
    ['[', '"]"', '[']
    """
    off: frozenset[str] = frozenset()
    resumed = True
    while resumed:
        resumed = False
        for match in compile_branches(branches, off).finditer(text, start):
            if match.lastgroup is None:  # a quote that is not closed
                off |= {branch.name for branch in branches if branch.quote and match.group() in branch.quote}
                start, resumed = match.end(), True
                break
            yield match


@lru_cache(64)
def compile_branches(branches: tuple[Branch, ...], off: frozenset[str]) -> re.Pattern[str]:
    """The pattern of some branches but those that are off; a quote that is not closed has no group."""
    on = [branch for branch in branches if branch.name not in off]
    groups = [f"(?P<{branch.name}>{branch.regex})" for branch in on]
    return re.compile(
        "|".join([*groups, *(f"[{branch.quote}]" for branch in on if branch.quote)]) or "(?!)", re.S
    )


# ----------------------------------------------------------------------
# Regular expressions that are compiled when they are first asked, as most are in no run.
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


_SignedPatterns: TypeAlias = "list[tuple[str, re.Pattern[str]]]"
"""Patterns, each with the sign that all begins with that it finds."""


def group_by_sign(regexes: Iterable[str], flags: int = 0) -> _SignedPatterns:
    r"""Alternatives of a pattern by the sign that each begins with.

    One sign is looked for ten times as quickly as one of several.

    Args:
        regexes: What each finds begins with a sign of its own, and with no other's in it.
        flags: As for ``re.compile``.

    >>> [match.group() for match in find_signed(group_by_sign([r"\[a\]", "<a>", "<b>"]), "<b>[a]<c><a>")]
    ['<b>', '[a]', '<a>']
    """
    groups: dict[str, list[str]] = {}
    for regex in regexes:
        groups.setdefault(regex.removeprefix("\\")[0], []).append(regex)
    return [(sign, lazy_pattern("|".join(group), flags)) for sign, group in groups.items()]


def holds_signed(patterns: _SignedPatterns, text: str) -> bool:
    """Whether the patterns of :func:`group_by_sign` find anything."""
    for sign, pattern in patterns:  # asked of each text: a loop is half as dear as any()
        match = pattern.search(text) if sign in text else None
        if match is not None:
            return True
    return False


def find_signed(patterns: _SignedPatterns, text: str) -> list[re.Match[str]]:
    """What the patterns of :func:`group_by_sign` find, in order."""
    matches = [
        match for sign, pattern in patterns if sign in text for match in pattern.finditer(text)
    ]  # most texts hold none of the signs
    return sorted(matches, key=re.Match.start)


_F = TypeVar("_F", bound=Callable[..., Any])


def remembered(most: int) -> Callable[[_F], _F]:
    """Let a function of a text remember its last answers: what is refused is read again, to be mended.

    Args:
        most: How many characters a text has whose answer is remembered.

    >>> remembered(3)(str.upper)("abc")
    'ABC'
    """

    def decorate(function: _F) -> _F:
        remember = lru_cache(4)(function)

        @wraps(function)
        def answer(text: str, *args: Any) -> Any:
            return (remember if len(text) <= most else function)(text, *args)

        return cast("_F", answer)

    return decorate


# ----------------------------------------------------------------------
# Days as RFC 3339 writes them; Python's own reader takes weeks and digits alone for days too.
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


def join_pieces(pieces: Iterable[str], between: str = "\n") -> Iterator[str]:
    """Pieces of a text with something between them, as they come.

    >>> "".join(join_pieces(["a", "b"], ", "))
    'a, b'
    """
    lead = ""
    for piece in pieces:
        yield lead + piece
        lead = between


JsonObject: TypeAlias = "dict[str, Any]"
"""Data that JSON can hold, by its keys."""


def text_hash(text: str) -> str:
    """What tells a text from others: 32 hexadecimal digits, the same in every process.

    >>> len(text_hash("a")), text_hash("a") == text_hash("b")
    (32, False)
    """
    from hashlib import blake2b  # with OpenSSL, 5 ms; a comparison needs no digest

    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def to_json(data: Any, indent: int | None = None) -> str:
    """Data as JSON, in which letters of any script stay letters.

    >>> to_json({"a": "é"})
    '{"a": "é"}'
    """
    return json.dumps(data, ensure_ascii=False, indent=indent)
