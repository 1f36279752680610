"""JSON text to data: json.loads first, the Lark grammar for the located error and for places.

Objects keep their repeated keys: an object that has some becomes a :class:`RepeatedKeyDict`, so that no
call and no argument is lost in silence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from math import isfinite
from typing import Any

from planner_eval.base.errors import LimitError, ParseError
from planner_eval.base.limits import (
    DEFAULT_LIMITS,
    MAX_DIGITS,
    Limits,
    Span,
    has_long_integer,
    long_integer_error,
)
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import JSON_STRING, Branch, find_matches

LARK_CHARS = 256_000
"""Above this size json's own error message serves: Lark would take seconds to find the same place."""


class RepeatedKeyDict(dict[str, Any]):
    """An object with a repeated key: reads as a dict of the last values and keeps all pairs."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of some pairs; one with a repeated key keeps them all.

    >>> build_object([("a", 1), ("a", 2)]).pairs
    [('a', 1), ('a', 2)]
    """
    data = dict(pairs)
    return data if len(data) == len(pairs) else RepeatedKeyDict(pairs)


def map_object_values(data: dict[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """An object with changed values; repeated keys stay repeated.

    >>> map_object_values(RepeatedKeyDict([("a", 1), ("a", 2)]), str).pairs
    [('a', '1'), ('a', '2')]
    """
    if type(data) is RepeatedKeyDict:
        return RepeatedKeyDict([(key, change(value)) for key, value in data.pairs])
    return {key: change(value) for key, value in data.items()}


class Decoded(NamedTuple):
    """A text and the JSON values that it is, for those who would decode it again."""

    text: str
    values: list[Any]


def object_items(data: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """The keys and values of an object as its text gives them: one that repeats, each time.

    >>> object_items({"a": 1}), object_items(RepeatedKeyDict([("a", 1), ("a", 2)]))
    ((('a', 1),), (('a', 1), ('a', 2)))
    """
    return tuple(data.pairs if isinstance(data, RepeatedKeyDict) else data.items())


_DECODER = json.JSONDecoder(object_pairs_hook=build_object)
JSON_WHITESPACE = " \t\r\n"


_ENCODE = json.JSONEncoder(ensure_ascii=False).encode
_encode_string: Callable[[str], str] = json.encoder.encode_basestring
_SCALAR_ENCODERS: dict[type, Callable[[Any], str]] = {
    str: _encode_string,
    type(None): lambda _: "null",
    int: int.__repr__,
    bool: lambda value: "true" if value else "false",
    float: lambda value: float.__repr__(value) if isfinite(value) else _ENCODE(value),
}


def dump_indented(data: Any, line: str = "\n") -> str:
    """Data as JSON a field a line, as ``json.dumps`` with an indent of one, in a third of its time.

    Args:
        data: Objects with texts as keys, lists and scalars.
        line: How a line begins, with the line's end before it.

    >>> print(dump_indented({"a": [1, None]}))
    {
     "a": [
      1,
      null
     ]
    }
    """
    if put := _SCALAR_ENCODERS.get(type(data)):
        return put(data)
    inner = line + " "
    if isinstance(data, dict) and data:
        members = [
            f"{_encode_string(key)}: "
            f"{put(value) if (put := _SCALAR_ENCODERS.get(type(value))) else dump_indented(value, inner)}"
            for key, value in data.items()
        ]
        return f"{{{inner}{f',{inner}'.join(members)}{line}}}"
    if isinstance(data, list | tuple) and data:
        return f"[{inner}{f',{inner}'.join([dump_indented(item, inner) for item in data])}{line}]"
    return _ENCODE(data)


def unwrap_single(values: list[Any]) -> Any:
    """The value of a list that holds one; any other list is given back.

    >>> unwrap_single([7]), unwrap_single([7, 8])
    (7, [7, 8])
    """
    return values[0] if len(values) == 1 else values


def loads(text: str, limits: Limits, dialect: str = "json") -> list[Any]:
    """The JSON values of a text: one value, or several in a row (JSON lines).

    Args:
        text: JSON values with white space around them.
        limits: Bounds on nesting.
        dialect: For errors.

    Raises:
        ParseError: the text is no JSON; says where and what was expected.
        LimitError: it nests too deeply, or a number has too many digits.

    >>> loads('[{"a": 1}]', Limits())
    [[{'a': 1}]]
    """
    try:
        return _decode_values(text, limits)
    except json.JSONDecodeError as error:
        check_depth(text, limits)
        # json knows best what is wrong inside a string, the grammar what may stand between values.
        is_exact = error.msg.startswith(("Unterminated", "Invalid"))
        if not is_exact and len(text) <= LARK_CHARS:
            if has_long_integer(text):
                parse_located(text, dialect)
            elif limits.explained and (grammar_error := _find_grammar_error(text, dialect)) is not None:
                raise grammar_error from None
        reason = f"{error.msg[0].lower()}{error.msg[1:]}".removesuffix(" at").removesuffix(" starting")
        raise ParseError(reason, text=text, offset=error.pos, dialect=dialect) from None
    except RecursionError:
        check_depth(text, limits)
        raise LimitError(f"the text nests deeper than {limits.depth} levels", text=text) from None
    except ValueError:  # an integer of more digits than Python converts
        raise long_integer_error(text) from None


def _find_grammar_error(text: str, dialect: str) -> ParseError | None:
    from planner_eval.base.grammar import find_json_error

    return find_json_error(text, TERMINAL_WORDS, dialect)


def _decode_values(text: str, limits: Limits) -> list[Any]:
    values: list[Any] = []
    most = max(limits.calls, DEFAULT_LIMITS.calls)
    position, end = skip_whitespace(text, 0), len(text.rstrip(JSON_WHITESPACE))
    while position < end or not values:
        start = position
        value, position = _DECODER.raw_decode(text, start)
        if position < end and not isinstance(value, (str, list, dict)):
            after = text[position]
            if (
                after.isalnum() or after in "_."
            ):  # 1null: neither a number nor a word, as grammars/json.lark says
                raise json.JSONDecodeError("Expecting value", text, start)
        values.append(value)
        position = skip_whitespace(text, position)
        if len(values) > most:  # no plan has so many calls; empty lists alone would take gigabytes
            raise LimitError(f"the text has more JSON values in a row than the limit of {most:,}", text=text)
    return values


def loads_if_json(text: str, limits: Limits) -> list[Any] | None:
    """As :func:`loads`; None where the text is no JSON: no place is looked for, which is dear.

    >>> loads_if_json('[{"a": 1}]', Limits()), loads_if_json("[f(a=1)]", Limits())
    ([[{'a': 1}]], None)
    """
    try:
        if _LIST_OF_NAMES_START.match(text) is None:
            return _decode_values(text, limits)
        broken = True
    except json.JSONDecodeError:
        broken = True
    except LimitError:
        raise
    except (RecursionError, ValueError):
        broken = False
    if broken and not _has_long_integer(text):
        check_depth(text, limits)
        return None
    try:
        return loads(text, limits)  # a limit may be passed: it says so
    except LimitError:
        raise
    except ParseError:
        return None


_LIST_OF_NAMES_START = re.compile(r"[ \t\r\n]*+\[[ \t\r\n]*+[^ \t\r\n\[{\"\]\-0-9tfnNI]")
"""Python's lists of calls and other text that a look tells from JSON: an error that is raised is dear."""
_LONG_INTEGER = re.compile(rf"\d{{{MAX_DIGITS + 1}}}")


def _has_long_integer(text: str) -> bool:
    """Whether more digits than an integer may have stand in a row: one of them is at every so many places."""
    stride = MAX_DIGITS + 1
    return any(
        text[position].isdecimal()
        and _LONG_INTEGER.search(text, max(0, position - stride), position + stride)
        for position in range(0, len(text), stride)
    )


_SCAN = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


def fast_json_loads(text: Any) -> Any:
    """``json.loads``, without the two calls and two searches for blanks that stand around its parser.

    Raises:
        ValueError: as there, in the same words.
        TypeError: as there.
        RecursionError: as there.

    >>> fast_json_loads('{"a": 1}'), fast_json_loads(" 1 ")
    ({'a': 1}, 1)
    """
    try:
        value, end = _SCAN(text, 0)
        if end == len(text):
            return value
    except (StopIteration, TypeError):
        pass  # blanks come first, nothing that JSON begins with, or no text: json.loads says what
    return json.loads(text)


class DecodedValue(NamedTuple):
    """A JSON value that stands in a text.

    Args:
        value: The value.
        end: The place after it.
    """

    value: Any
    end: int


def decode(text: str, offset: int) -> DecodedValue:
    """One JSON value that starts at a place, and the place after it.

    Raises:
        ValueError: none starts there, or it is broken, or a number is too long.
        RecursionError: it nests too deeply.

    >>> decode('x {"a": 1} y', 2)
    DecodedValue(value={'a': 1}, end=10)
    """
    try:
        return DecodedValue._make(_DECODER.scan_once(text, offset))  # type: ignore[attr-defined]
    except StopIteration as error:
        raise _MissingValueError(text, error.value) from None


class _MissingValueError(json.JSONDecodeError):
    """Where no value starts; json's own error is made by counting the lines of all the text before."""

    def __init__(self, text: str, pos: int) -> None:
        ValueError.__init__(self, "Expecting value")
        self.msg, self.doc, self.pos = "Expecting value", text, pos


def decode_whole(text: str) -> Any:
    """The JSON value that a text is, where it may as well be none: no place is looked for.

    Raises:
        ValueError: it is no JSON, more than one value, or a number is too long.
        RecursionError: it nests too deeply.

    >>> decode_whole(' {"a": 1} ')
    {'a': 1}
    """
    return _DECODER.decode(text)


def decoding_error(error: Exception, what: str, start: int) -> ParseError:
    """The error of a piece of JSON that begins at a place of its line.

    Args:
        error: What decoding raised.
        what: What was read.
        start: The place of the line's beginning.
    """
    if isinstance(error, RecursionError):
        return LimitError(f"{what}: the data nests too deeply")
    position = getattr(error, "pos", None)
    if position is None:  # an integer of more digits than Python converts
        return LimitError(f"{what}: a number has too many digits")
    message = str(error.msg).replace("string starting at", "string, which starts here")  # type: ignore[attr-defined]
    return ParseError(f"{what}: column {position - start + 1}: {message[0].lower()}{message[1:]}")


def skip_whitespace(text: str, offset: int) -> int:
    """The place after the white space of JSON at a place."""
    while offset < len(text) and text[offset] in " \t\r\n":
        offset += 1
    return offset


_BRACKET_BRANCHES = (JSON_STRING, Branch("mark", r"[\[\]{}]"))


def check_depth(text: str, limits: Limits) -> None:
    """Refuse a text whose brackets outside of strings nest too deeply.

    Raises:
        LimitError: with the place of the bracket that is one too many.
    """
    if text.count("[") + text.count("{") <= limits.depth or _is_surely_shallow(text, limits.depth):
        return
    depth = 0
    for match in find_matches(_BRACKET_BRANCHES, text):
        mark = match.group()
        if mark in "[{":
            depth += 1
            if depth > limits.depth:
                reason = f"the text nests deeper than {limits.depth} levels"
                raise LimitError(reason, text=text, offset=match.start())
        elif mark in "]}":
            depth -= 1


def decode_object(text: str) -> dict[str, Any] | None:
    """The object that a text is, empty for ``null``; None for any other text, and for one past the limits.

    >>> decode_object('{"a": 1}'), decode_object("null"), decode_object("[1]"), decode_object("{")
    ({'a': 1}, {}, None, None)
    """
    if len(text) > DEFAULT_LIMITS.chars:
        return None
    try:
        check_depth(text, DEFAULT_LIMITS)
        value = json.loads(text)
    except (ValueError, RecursionError, ParseError):
        return None
    return {} if value is None else value if isinstance(value, dict) else None


def _is_surely_shallow(text: str, most: int) -> bool:
    """Whether brackets outside of strings surely nest no deeper, far sooner than where they do is known."""
    if "\\" in text:
        if "\0" in text:
            return False
        text = text.replace("\\\\", "\0").replace('\\"', "\0")
    pieces = text.split('"')
    after = pieces[-1] if len(pieces) % 2 == 0 else ""  # a quote that stays open opens no string
    outside = "".join(pieces[::2])
    if "\0" in outside or "\\" in outside:  # where no string is, a backslash escapes no quote
        return False
    brackets = (outside + after).translate(_BRACKET_TABLE)
    if not brackets.isascii():
        brackets = re.sub(r"[^\[\]]++", "", brackets)
    left, work = brackets, _MAX_PASSES * len(brackets)
    for depth in range(most + 1):
        work -= len(left)
        less = left.replace("[]", "")
        if work < 0 or len(less) == len(left):
            return depth + less.count("[") <= most or not _has_excess_depth(brackets, most)
        left = less
    return False


def is_nested_too_deep(text: str, limits: Limits) -> bool:
    r"""Whether a text nests deeper than the limit, as :func:`check_depth` has it.

    >>> (
    ...     is_nested_too_deep('[["]]"], {"\\"": 1}]', Limits(depth=1)),
    ...     is_nested_too_deep('["[[["]', Limits(depth=1))
    ... )
    (True, False)
    """
    try:
        check_depth(text, limits)
    except LimitError:
        return True
    return False


def is_data_nested_too_deep(data: Any, limits: Limits, *, lists: bool = False) -> bool:
    """Whether data nests deeper than the limit; level by level, for it may be past any stack.

    Args:
        data: JSON data.
        limits: Bounds on nesting.
        lists: Look only at lists that stand in lists, not at what objects hold.

    >>> (
    ...     is_data_nested_too_deep([[[]]], Limits(depth=2)),
    ...     is_data_nested_too_deep([{"a": [[]]}], Limits(depth=2), lists=True)
    ... )
    (True, False)
    """
    if lists and (type(data) is not list or list not in map(type, data)):  # as nearly all that is asked
        return False
    kinds = (list,) if lists else (list, dict)
    level = [data] if isinstance(data, kinds) else []
    for _ in range(limits.depth):
        if not level:
            return False
        inner = [value if isinstance(value, list) else value.values() for value in level]
        level = [item for items in inner for item in items if isinstance(item, kinds)]
    return bool(level)


def _has_excess_depth(brackets: str, most: int) -> bool:
    depth = 0
    for mark in brackets:
        depth += 1 if mark == "[" else -1
        if depth > most:
            return True
    return False


_MAX_PASSES = 16
"""How often all brackets may be gone over until it is sooner to count them."""


_BRACKET_TABLE = {code: None for code in range(128)} | {
    ord("["): "[",
    ord("{"): "[",
    ord("]"): "]",
    ord("}"): "]",
}
"""Brackets alike, and nothing else; outside of its strings JSON has no other characters."""

TERMINAL_WORDS = {
    "STRING": "a quoted text",
    "NUMBER": "a number",
    "WORD": "true, false or null",
    "LSQB": "'['",
    "RSQB": "']'",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "COMMA": "','",
    "COLON": "':'",
}


class LocatedValue:
    """A JSON value with its place: `data` holds Located items where it is a list or an object.

    Args:
        data: A scalar, a list of Located, or a list of Members.
        span: The value's place in the text.
        is_object: Whether `data` are members.
    """

    __slots__ = ("data", "is_object", "span")

    def __init__(self, data: Any, span: Span, is_object: bool = False) -> None:
        self.data = data
        self.span = span
        self.is_object = is_object


class Member(NamedTuple):
    """One member of an object."""

    key: str
    value: LocatedValue


def parse_located(text: str, dialect: str = "json") -> list[LocatedValue]:
    """The JSON values of a text with the place of every value, by the grammar of grammars/json.lark.

    Raises:
        ParseError: the text is no JSON.

    >>> parse_located('[1, "a"]')[0].data[1].span
    (4, 7)
    """
    from planner_eval.base import grammar

    values: list[LocatedValue] = grammar.run(
        grammar.load("json", transformer()), text, TERMINAL_WORDS, dialect
    )
    return values


class ObjectSpans:
    """Where the objects of some data stand in its text; found by identity.

    Args:
        located: The values of the text.

    >>> places = ObjectSpans(parse_located('[{"a": 12}]'))
    >>> places.members(places.values[0][0])
    ((7, 9),)
    """

    __slots__ = ("_by_id", "values")

    def __init__(self, located: list[LocatedValue]) -> None:
        self._by_id: dict[int, LocatedValue] = {}
        self.values = [self._plain(item) for item in located]

    def _plain(self, item: LocatedValue) -> Any:
        if item.is_object:
            data = build_object([(key, self._plain(value)) for key, value in item.data])
            self._by_id[id(data)] = item
            return data
        if isinstance(item.data, list):
            return [self._plain(value) for value in item.data]
        return item.data

    def span(self, data: Any) -> Span | None:
        """The place of an object of ``values``."""
        located = self._by_id.get(id(data))
        return located.span if located else None

    def members(self, data: Any) -> tuple[Span, ...]:
        """The places of an object's members' values, in written order."""
        located = self._by_id.get(id(data))
        return tuple(value.span for _, value in located.data) if located else ()


def transformer() -> Any:
    """The Transformer class of grammars/json.lark, for grammars that import its rules too.

    It is made on first need so that importing this module costs no lark.
    """
    global _TRANSFORMER
    if _TRANSFORMER is None:
        from lark import Token, Transformer

        class JsonTransformer(Transformer[Token, list[LocatedValue]]):
            def start(self, items: list[Any]) -> Any:
                return items

            def string(self, items: list[Any]) -> LocatedValue:
                return LocatedValue(json.loads(items[0]), (items[0].start_pos, items[0].end_pos))

            number = word = string
            # the same rules where another grammar imports them
            json__string = json__number = json__word = string

            def member(self, items: list[Any]) -> Member:
                return Member(json.loads(items[0]), items[2])

            def object(self, items: list[Any]) -> LocatedValue:
                span = (items[0].start_pos, items[-1].end_pos)
                return LocatedValue([m for m in items if isinstance(m, Member)], span, True)

            def array(self, items: list[Any]) -> LocatedValue:
                span = (items[0].start_pos, items[-1].end_pos)
                return LocatedValue([v for v in items if isinstance(v, LocatedValue)], span)

        _TRANSFORMER = JsonTransformer
    return _TRANSFORMER


_TRANSFORMER: Any = None
