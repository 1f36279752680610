"""JSON of which some is broken, as items: a record that is none is one with an error, and loses no other."""

from __future__ import annotations

from planner_eval.base.errors import ParseError
from planner_eval.base.json_text import decode, decoding_error, skip_whitespace
from planner_eval.base.text import JSON_STRING, Branch, find_matches, lazy_pattern
from planner_eval.reading.dialects.conversations.spans import (
    id_of,
    is_span,
    spans_in,
    trace_id_of,
)
from planner_eval.reading.files.fields import (
    id_text,
)
from planner_eval.reading.files.shapes import Item, shape_of

_TEXTS_AND_PUNCTUATION = (JSON_STRING, Branch("mark", r"[\[\]{},:]"))
_FIRST_KEY = lazy_pattern(r'\{\s*+("(?:[^"\\]++|\\.)*+")\s*+:')
_MAX_ATTEMPTS = 200
"""How many places may turn out not to be the start of the next record, over a whole file."""


def elements(text: str, start: int, text_field: str | None = None) -> list[Item] | None:
    """The elements of an array of which some are broken; None where text follows the array.

    Args:
        text: The text.
        start: The place of the array's bracket.
        text_field: The field that holds a record's plan, where the user named it.

    >>> [item.data for item in elements('[{"id": 1}, {"id": "x}, {"id": 3}]', 0)]
    [{'id': 1}, None, {'id': 3}]
    """
    pieces = _ValueExtractor(text, text_field, in_array=True)
    offset = start + 1
    while True:
        offset = skip_whitespace(text, offset)
        if offset >= len(text) or text[offset] == "]":
            break
        end = skip_whitespace(text, pieces.take(offset))
        # Where a comma is missing between two records, both are there all the same.
        offset = end + 1 if text[end : end + 1] == "," else end
        if text[end : end + 1] not in (",", "{", "]", ""):
            offset = pieces.skip(end)
    if text[offset : offset + 1] == "]":
        return pieces.items if skip_whitespace(text, offset + 1) == len(text) else None
    if not any(item.error for item in pieces.items[-1:]):
        pieces.fail(offset, ParseError("the array is cut off here"))
    return pieces.items


def sequence(text: str, start: int, text_field: str | None = None) -> list[Item]:
    r"""The values of a text in which JSON values follow one another, over several lines or on one.

    >>> [item.data for item in sequence('{"id":\n 1}\n{"id": "x}\n{"id":\n 3}', 0)]
    [{'id': 1}, None, {'id': 3}]
    """
    pieces = _ValueExtractor(text, text_field, in_array=False)
    offset = start
    while offset < len(text):
        offset = skip_whitespace(text, pieces.take(offset))
        if text[offset : offset + 1] == ",":
            offset = skip_whitespace(text, offset + 1)
    return pieces.items


def line_objects(text: str, start: int) -> list[Item]:
    r"""The objects of a text of which each begins a line, as programs log them, with what stands between.

    A span may also begin after words on its line.

    >>> [item.data for item in line_objects('Hello\n{"id":\n 1}\nINFO: ok\n{"id": "x\n{"id":\n 3}', 0)]
    [None, {'id': 1}, None, None, {'id': 3}]
    """
    items: list[Item] = []
    spans = _InlineSpans(text)
    offset = skip_whitespace(text, start)
    line, counted, tries, next_one = text.count("\n", 0, offset) + 1, offset, 0, -1
    while offset < len(text):
        line, counted = line + text.count("\n", counted, offset), offset
        try:
            if text[offset] != "{":
                raise ValueError
            data, end = decode(text, offset)
            items.append(Item(data, shape_of(data), line))
        except (ValueError, RecursionError) as error:
            tries += text[offset] == "{"  # what begins otherwise is refused at once
            end = len(text)
            if tries < _MAX_ATTEMPTS:
                if next_one < offset:  # what is not in the text is looked for once
                    newline = text.find("\n{", offset)
                    next_one = newline if newline >= 0 else end
                end = spans.first(offset, next_one)
            refused = (
                decoding_error(error, "the record is not JSON", text.rfind("\n", 0, offset) + 1)
                if text[offset] == "{"
                else ParseError(
                    f"found {text[offset:end][:20]!r}, expected a record, an object that begins a line"
                )
            )
            items.append(Item(None, line=line, error=refused, text=text[offset:end]))
        offset = skip_whitespace(text, end)
        if text[offset : offset + 1] == ",":
            offset = skip_whitespace(text, offset + 1)
    return items


_OBJECT_START = lazy_pattern(r'\{\s*+"')
_EXCLUDED_PREFIXES = ("\n", "[", "{", ",", '":', '" :')
"""After these an object begins its line, or is a part of another one."""


class _InlineSpans:
    """The spans in a text that begin after words on a line."""

    def __init__(self, text: str) -> None:
        self.text, self.tries = text, 0

    def first(self, start: int, end: int) -> int:
        """Where the first one begins between two places; the second where none does."""
        while self.tries < _MAX_ATTEMPTS and (match := _OBJECT_START.search(self.text, start, end)):
            begins, start = match.start(), match.end()
            before = self.text[max(begins - 80, 0) : begins].rstrip(" \t")
            if not before or before.endswith(_EXCLUDED_PREFIXES):
                continue
            try:
                data, start = decode(self.text, begins)
            except (ValueError, RecursionError):
                self.tries += 1
                continue
            if is_span(data) and all(id_of(span) and trace_id_of(span) for span in spans_in(data) or [data]):
                return begins
        return end


class _ValueExtractor:
    """Values taken out of a text one after another."""

    def __init__(self, text: str, text_field: str | None, *, in_array: bool) -> None:
        self.text, self.text_field, self.in_array = text, text_field, in_array
        self.items: list[Item] = []
        self.tries = 0
        self.line, self.counted = 1, 0
        self.keys: set[str] = set()
        """The keys of the records that were read; before one is, the first key of a broken one."""
        self.column, self.seen = 0, 0
        self.gone = False
        """Whether no object that follows begins with one of the keys."""

    def take(self, start: int) -> int:
        """Take the value at a place, broken or not; where it ends."""
        try:
            data, end = decode(self.text, start)
        except (ValueError, RecursionError) as error:
            first = None if self.keys or self.gone else _FIRST_KEY.search(self.text, start)
            if first:
                self.keys.add(first[1][1:-1])
            end = self._next(start)
            self.column = self.text.rfind("\n", self.seen, start) + 1 or self.column
            self.seen = start
            self.fail(start, decoding_error(error, "the record is not JSON", self.column), end)
            return end
        if isinstance(data, dict) and not data.keys() <= self.keys:
            self.keys.update(data)
            self.gone = False
        self.items.append(Item(data, shape_of(data, self.text_field)))
        return end

    def skip(self, start: int) -> int:
        """Pass over what is no value and no comma; where the next value may start."""
        end = self._next(start)
        excerpt = self.text[start : start + 20]
        self.fail(
            start, ParseError(f"the record is not JSON: found {excerpt!r} after it, expected a comma"), end
        )
        return end

    def fail(self, start: int, error: ParseError, end: int | None = None) -> None:
        """Keep what cannot be read, with its line."""
        self.line += self.text.count("\n", self.counted, start)
        self.counted = start
        self.items.append(Item(None, line=self.line, error=error, text=self.text[start:end]))

    def _next(self, start: int) -> int:
        """Where the next record starts after a broken one, or where the broken one ends."""
        if not self.gone and self.tries <= _MAX_ATTEMPTS:
            self.gone = True
            for match in _FIRST_KEY.finditer(self.text, start + 1):
                if match[1][1:-1] not in self.keys:
                    continue
                self.gone = False
                if self._reads(match.start()):
                    return match.start()
                self.tries += 1
                if self.tries > _MAX_ATTEMPTS:
                    break
        return self._end(start) if self.in_array else len(self.text)

    def _reads(self, start: int) -> bool:
        """Whether a record starts at a place: what has but one key of a record's is a part of another one."""
        try:
            data, end = decode(self.text, start)
        except (ValueError, RecursionError):
            return False
        if len(data.keys() & self.keys) < min(2, len(self.keys)):
            return False
        end = skip_whitespace(self.text, end)
        if self.text[end : end + 1] == ",":  # a record, or its cut-off kin, follows; no name of a member
            after = skip_whitespace(self.text, end + 1)
            return self.text[after : after + 1] == "{"
        return self.text[end : end + 1] in ("{", "") or skip_whitespace(self.text, end + 1) == len(self.text)

    def _end(self, start: int) -> int:
        """The comma or bracket of the array around a broken element."""
        depth = 0
        for match in find_matches(_TEXTS_AND_PUNCTUATION, self.text, start):
            mark = match.group()
            if mark in "[{":
                depth += 1
            elif depth == 0 and mark in ",]":
                return match.start()
            elif mark in "]}":
                depth -= 1
        return len(self.text)


def find_id(text: str, key: str | None) -> str | None:
    """The id in a record that is not JSON, so that it still meets its gold plan; None unless it is certain.

    Only a member of the record itself counts: an argument of the same name deeper inside is no id.

    >>> find_id('{"id": "q7", "prediction": "[', "id"), find_id('d": 3, "plan": [{"id": 5}]}', "id")
    ('q7', None)
    """
    if key is None or text.lstrip()[:1] != "{":
        return None
    depth, named = 0, False
    for match in find_matches(_TEXTS_AND_PUNCTUATION, text):
        mark = match.group()
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
            if not depth:
                return None
        elif mark == ":" and named and depth == 1:
            try:
                value, end = decode(text, skip_whitespace(text, match.end()))
            except (ValueError, RecursionError):
                return None
            # A number at the very end may have been longer.
            is_whole = isinstance(value, str) or skip_whitespace(text, end) < len(text)
            return id_text(value) if is_whole else None
        named = mark[:1] == '"' and mark[1:-1] == key
    return None
