"""Which dialect a text or some JSON data is in: ranked candidates with a reason each.

No dialect is named here but the one that is left when none is recognised: what a dialect is known by
stands in its module or in its row, and all are asked, those of code first, then the rows by rank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, lru_cache
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.limits import Span
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import lazy_pattern, remembered
from planner_eval.reading import dialects
from planner_eval.reading.dialects.conversations.messages import (
    JSON_STARTS,
    SCHEMA_KEYS,
    call_items,
    format_value,
    is_call,
    is_plain_call,
    is_tool_definition,
)
from planner_eval.reading.dialects.dialect import SHAPES, Data, dialect
from planner_eval.reading.dialects.finding.thought_tokens import THOUGHT_NAMES
from planner_eval.reading.dialects.table import Wrapper, custom_rows, rows_by_rank, table, token_regex

SIGN_SEARCH_CHARS = 20_000
"""How much of a text is searched for the sign of a notation."""


class Candidate(NamedTuple):
    """A dialect that a text may be in, and why."""

    dialect: str
    reason: str


# ---------------------------------------------------------------- texts
_CALL_MARK = (
    r"\[|\{|<|#|\u273f|\u25c1think|```|~~~|>>>"
    r"|\((?:(?<=[\w'\"]\()|(?<=\s\()(?:\s*+(?:[\"'\-\[{()]|\d[\d.]*+\s*+[,)])|[^()\n]*+=))"
    r"|=\s*+await\s"
)
_CALL_MARK_PATTERN = re.compile(_CALL_MARK)
_CALL_OPENING_PATTERN = lazy_pattern(
    rf"{_CALL_MARK}|Action(?: \d++)?\**+\s*+[:\uff1a]|action input|Nodes?\**+\s*+:|API:"
    r"|(?:arguments|parameters|args):"
)
"""What stands in every text that any notation of ours takes for a call, or for the beginning of one. Each
branch begins with a letter, so that a search runs over prose at the speed of a set."""
_WORD_MARKS = (
    "Action", "action input", "Node", "API:", "arguments:", "parameters:", "args:", "code>", "api_call>",
    "Human", "User", "USER",
)  # fmt: skip
"""What of this and of :data:`_STRONG_OPENING_PATTERN` begins with a letter: a search without it runs over
prose much faster.
"""


def may_hold_call(text: str) -> bool:
    """Whether anything in a text could open a call; most answers in words hold nothing that could.

    Where no parenthesis is, much less could: no `[1]`, no `{x}`, no `a < b`, no heading.

    >>> may_hold_call("It is 7 o'clock (local time)."), may_hold_call("f(a=1)"), may_hold_call("Action: f")
    (False, True, True)
    """
    if custom_rows() or text.lstrip()[:1] in JSON_STARTS:
        return True
    called = "(" in text
    if called and ("#" in text or "[" in text or "{" in text or "<" in text):
        return True  # as the pattern would find, in a twentieth of its time
    if "```" in text:
        return True  # as both patterns would find
    marked = _CALL_MARK_PATTERN.search(text) is not None
    if marked and (called or _STRONG_MARK_PATTERN.search(text) is not None):
        return True
    lettered = any(map(text.__contains__, _WORD_MARKS))
    if not (marked or (lettered and _CALL_OPENING_PATTERN.search(text) is not None)):
        return False
    if called or (lettered and _STRONG_OPENING_PATTERN.search(text) is not None):
        return True
    return _CUT_TAG.search(text, max(0, len(text) - 60)) is not None or bool(find_opening_tokens(text))


_CUT_TAG = lazy_pattern(r"<[\w|][^<>]{0,40}+\Z|<<\w++>\Z")
"""The end of a text in which a tag is begun."""

_STRONG_MARK = (
    r"\[(?:\s*+(?:[\[{\"'\]]|[^\W\d](?:[\w.\-]|\\[_.])*+\s*+,)|(?i:THINK\]))"
    r"|=\s*+await\s|\{\s*+[\"'}\u201c\u201d\u2018\u2019]|=\s*+[\[{]|```|~~~|###|#E\d"
    rf"|<(?:[|\uff5c]|/?(?i:{THOUGHT_NAMES})|start_of_turn)|\u25c1think"
)
_STRONG_MARK_PATTERN = lazy_pattern(_STRONG_MARK)
_STRONG_OPENING_PATTERN = lazy_pattern(
    rf"{_STRONG_MARK}|code>|api_call>|Action|action input|Nodes?\**+\s*+:|API:|(?:arguments|parameters|args):"
    r"|(?:Human|User|USER)\s*+:"
)
"""What stands in every text without parentheses, beside the rows' tokens, in which the search finds
something to read, to refuse or to say."""


def detect(text: str) -> list[Candidate]:
    """The dialects that a text may be in, the likeliest first.

    Args:
        text: The whole text; it is looked at, not parsed.

    Returns:
        At least one candidate; a text that looks like none is taken for JSON calls, whose reader
        says best what is wrong with it.

    >>> detect("a = f(#x='1')")
    [Candidate(dialect='appbench', reason='calls with #name= arguments')]
    """
    return list(_candidates(text))


def likeliest_dialect(text: str) -> str:
    """The dialect of the first candidate of :func:`detect`; the others are not looked for."""
    return next(_candidates(text)).dialect


def _candidates(text: str) -> Iterator[Candidate]:
    is_recognised = False
    for row, token in find_rows_by_token(text):
        is_recognised = True
        yield Candidate(row.name, f"the token {token.strip()!r}")
    for name, module in dialects.MODULES.items():
        if not module.may_be_text(text):
            continue
        dialect = dialects.get(name)
        if dialect.sign and _compile_sign(dialect.sign).search(text):
            is_recognised = True
            yield Candidate(name, dialect.known)
    for row in find_rows_by_sign(text, 0):
        is_recognised = True
        yield Candidate(row.name, row.known)
    if not is_recognised or text.lstrip()[:1] in JSON_STARTS:
        yield Candidate("json", "JSON")


def find_rows_by_sign(text: str, start: int) -> Iterator[Wrapper]:
    """The rows whose sign stands in the beginning of a text, from `start` on."""
    head = text[start : start + SIGN_SEARCH_CHARS]  # a text's beginning is one in a sign
    for row, sign, hints in _signed_rows(custom_rows()):
        for hint in hints:  # asked of each text for each row: a loop is half as dear as any()
            if hint in text:
                if sign.search(head):
                    yield row
                break


@cache
def _signed_rows(own: tuple[Wrapper, ...]) -> tuple[tuple[Wrapper, re.Pattern[str], tuple[str, ...]], ...]:
    """The rows that are asked of a text, each with the pattern of its sign and with its hints."""
    rows = _candidate_rows(own, text=True)
    return tuple((row, re.compile(row.sign), row.hints or ("",)) for row in rows)


@cache
def _candidate_rows(_own: tuple[Wrapper, ...], *, text: bool) -> tuple[Wrapper, ...]:
    """The rows that are asked of a text, or of data."""
    return tuple(
        row
        for row in rows_by_rank()
        if (SHAPES[row.shape].form == "text") is text
        and (row.sign or row.tool or SHAPES[row.shape].form in ("calls", "others"))
    )


@cache
def _compile_sign(sign: str) -> re.Pattern[str]:
    return re.compile(sign)


class RowToken(NamedTuple):
    """A row whose opening token stands in a text, and the token."""

    row: Wrapper
    token: str


def find_rows_by_token(text: str) -> list[RowToken]:
    """The rows whose opening token stands in a text, by the token's place, with the token."""
    first_positions: dict[str, Span] = {}
    for match in find_opening_tokens(text):
        first_positions.setdefault(_remove_spaces(match.group()), match.span())
    opened = []
    for row, tokens in _token_table(custom_rows()).rows if first_positions else ():
        for token, squeezed in tokens:
            if squeezed in first_positions:
                start, end = first_positions[squeezed]
                if squeezed == ">>>" and _PROMPTED_CALL.match(text, start) and not _OTHER_PROMPT.search(text):
                    break
                unlike = row.inner == "json" and _CALL_AFTER_TOKEN.match(text, end) is not None
                opened.append((start, -len(squeezed), unlike, row, token))
                break
    return [RowToken(row, token) for *_, row, token in sorted(opened, key=lambda item: item[:3])]


_CALL_AFTER_TOKEN = lazy_pattern(r"[\s\[]*+[^\W\d][\w.]*+\(")
"""Python after a token, which another row with the same token may have instead of JSON."""
_PROMPTED = r">>>[ \t]++(?:[^\W\d][\w, ]*+=[ \t]*+)?+(?:await[ \t]++)?+\[?+[^\W\d][\w.]*+\("
_PROMPTED_CALL = lazy_pattern(_PROMPTED)
"""A call after the prompt of Python's shell, where the same signs are no token."""
_OTHER_PROMPT = lazy_pattern(rf"(?m)^[ \t]*+(?!{_PROMPTED})>>>")
"""A line of a shell that calls nothing: what it does to variables would be lost."""


def find_opening_tokens(text: str) -> tuple[re.Match[str], ...]:
    """The opening tokens of a text, in order."""
    return _find_tokens(text, custom_rows())


@remembered(20_000)
def _find_tokens(text: str, own: tuple[Wrapper, ...]) -> tuple[re.Match[str], ...]:
    tokens = _token_table(own).regexes
    present = tuple([regex for word, regex in tokens if word in text])
    return tuple(_compile_alternatives(present).finditer(text)) if present else ()


def find_last_opening_token(text: str) -> re.Match[str] | None:
    """The last opening token of a text, of those that are no words."""
    tokens = reversed(find_opening_tokens(text))
    return next((match for match in tokens if match.group().lstrip()[:1] in ("<", "[")), None)


def opening_tokens(row: Wrapper) -> tuple[str, ...]:
    """The tokens by which a row is known in a text; none for rows that are known otherwise.

    >>> opening_tokens(table()["glm"]), opening_tokens(table()["react"])
    (('<tool_call>',), ())
    """
    tag = row.call[:1] if isinstance(row.call, tuple) else ()
    return tuple(token for token in (*row.head, *row.open, *(text.split("$")[0] for text in tag)) if token)


def may_be_other_notation(text: str) -> bool:
    """Whether a text holds a token of a row's, or has its sign."""
    if custom_rows() or find_opening_tokens(text):
        return True
    return next(find_rows_by_sign(text, 0), None) is not None


@lru_cache(256)
def _compile_alternatives(regexes: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(regexes))


class _TokenTable(NamedTuple):
    """What finds opening tokens, and each row's tokens, with and without blanks.

    Args:
        regexes: A regular expression for each, with a word that stands where it does; one for all those that
            begin with an angle bracket, whose search is as fast as one for the bracket.
        rows: The tokens by row.
    """

    regexes: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Wrapper, tuple[tuple[str, str], ...]], ...]


@cache
def _token_table(_own: tuple[Wrapper, ...]) -> _TokenTable:
    rows = tuple(
        (row, tuple((token, _remove_spaces(token)) for token in opening_tokens(row)))
        for row in table().values()
    )
    tokens = {(token, _line_start_lookahead(row)) for row, row_tokens in rows for token, _ in row_tokens}
    longest = sorted(tokens, key=lambda item: (-len(item[0]), item))
    regexes = [
        (max(_TOKEN_GAP.split(token), key=len), _opening_token_regex(token, line)) for token, line in longest
    ]
    tags = "|".join([regex for _, regex in regexes if regex.startswith("(?:<")])
    words = [(word, regex) for word, regex in regexes if not regex.startswith("(?:<")]
    return _TokenTable((("<", f"(?:{tags})"), *words), rows)


_TOKEN_GAP = re.compile(r"\s+|\$id|\$index|(?<=>)(?=<)")
"""What a token's text may have otherwise, or more of, between its words, which stand in each of its
spellings; see :func:`table.literal`."""


def _line_start_lookahead(row: Wrapper) -> str | None:
    """What has to follow a token that counts at a line's start only; None where it counts anywhere."""
    if not row.line_start:
        return None
    return r"(?=[\[{])" if row.inner == "json" else ""


def _opening_token_regex(token: str, following: str | None) -> str:
    pattern = token_regex([token.rstrip()])
    return pattern if following is None else rf"(?m:^)[ \t]*+{pattern}{following}"


def _remove_spaces(text: str) -> str:
    return "".join(text.split())


# ---------------------------------------------------------------- data
def detect_data(data: Any, text: str = "") -> Candidate:
    """The dialect of structure that is JSON already.

    Args:
        data: The structure.
        text: The text that it was read from, where there is one.

    >>> detect_data([{"name": "f", "label": "v1", "arguments": {}}]).dialect
    'nestful'
    """
    calls = data if isinstance(data, list) else [data]
    if text and calls and all(map(is_plain_call, calls)):
        recognised = dialects.recognise_plain(Data(data, calls, calls, text))
        if recognised is not None:
            return Candidate(*recognised)
    seen = inspect_data(data, text)
    return next(_data_candidates(seen), None) or _match_template(seen)


def inspect_data(data: Any, text: str = "") -> Data:
    """Data as the dialects see it."""
    items = data.get("calls", data) if isinstance(data, dict) else data
    items = items if isinstance(items, list) else [items]
    if not text or "\\u00" in text:  # an escape may hide a key
        text = _safe_repr(data)
    texts = bool(items) and all(isinstance(item, str) for item in items)
    return Data(data, items, [item for item in items if is_call(item)], text, texts)


def _safe_repr(data: Any) -> str:
    try:
        return repr(data)
    except (
        ValueError,
        RecursionError,
    ):  # an integer that Python does not write; too deep: link() says it
        return ""


def _data_candidates(seen: Data) -> Iterator[Candidate]:
    """The dialects that data fits: the one that it names, users' own, rows below rank 0, code, other rows."""
    for name, module in dialects.MODULES.items():
        if module.says_so(seen) and (fits := dialects.get(name).fits) and (reason := fits(seen)):
            yield Candidate(name, reason)
    for row in custom_rows():
        from planner_eval.reading.dialects.notations.json_rows import holds_row_calls

        if SHAPES[row.shape].form in ("data", "calls") and holds_row_calls(row, seen.value):
            yield Candidate(row.name, "objects of its form")
    rows = _candidate_rows(custom_rows(), text=False)
    for row in rows:
        if row.rank >= 0:
            break
        if _has_hint(row, seen.text) and (reason := _row_reason(row, seen)):
            yield Candidate(row.name, reason)
    for name, module in dialects.MODULES.items():
        if module.may_be(seen) and (fits := dialects.get(name).fits) and (reason := fits(seen)):
            yield Candidate(name, reason)
    for row in rows:
        if row.rank >= 0 and _has_hint(row, seen.text) and (reason := _row_reason(row, seen)):
            yield Candidate(row.name, reason)


def _has_hint(row: Wrapper, text: str) -> bool:
    for hint in row.hints:  # asked of each text for each row: a loop is half as dear as any()
        if hint in text:
            return True
    return not row.hints


def _row_reason(row: Wrapper, seen: Data) -> str | None:
    """Why data is in a row's notation: by its sign, by a call's name, or by what its shape says."""
    form = SHAPES[row.shape].form
    if (form == "texts") != seen.texts or (form == "others" and seen.only_calls):
        return None
    if row.sign:
        sign = _compile_sign(row.sign)
        has_sign = all(sign.match(item) for item in seen.items) if seen.texts else sign.search(seen.text)
        if has_sign and row.shape == "live" and not any(map(is_call, _calls(seen))):
            return None  # it reads calls alone: in data of another form the sign is an argument's text
        return row.known if has_sign else None
    if row.tool:
        named = row.tool in seen.text and any(call.get("name") == row.tool for call in _calls(seen))
        return row.known if named else None
    fits = dialect(row).fits
    return fits(seen) if fits else None


def _calls(seen: Data) -> Iterator[dict[str, Any]]:
    """The calls in data, up to what is none: its reader says what is wrong with it."""
    with suppress(ParseError):
        yield from call_items(seen.value)


def _match_template(seen: Data) -> Candidate:
    """The row whose template the first call has most keys of; JSON calls where none has three."""
    from planner_eval.reading.dialects.notations.json_rows import count_matching_keys

    first = next(_calls(seen), None)
    if first is None:
        return Candidate("json", "JSON")
    name, most = "json", 2
    for row, needed in _templates(custom_rows()):
        if needed <= first.keys() and (keys := count_matching_keys(row, first)) > most:
            name, most = row.name, keys
    keys_shown = "names and arguments" if name == "json" else f"{most} keys of its form"
    return Candidate(name, f"objects with {keys_shown}")


@cache
def _templates(_own: tuple[Wrapper, ...]) -> tuple[tuple[Wrapper, frozenset[str]], ...]:
    """The rows of calls in JSON, and the keys that every object of their form has."""
    from planner_eval.reading.dialects.notations.json_rows import required_keys

    return tuple((row, required_keys(row)) for row in table().values() if row.shape == "json")


def is_schema(data: Any) -> bool:
    """Whether data only describes tools or parameters, and calls nothing.

    >>> is_schema([{"name": "f", "description": "does", "parameters": {"type": "object", "properties": {}}}])
    True
    >>> is_schema({"city": {"type": "string", "description": "where"}, "required": ["city"]})
    True
    """
    if isinstance(data, list):
        return bool(data) and all(is_schema(item) for item in data)
    if not isinstance(data, dict) or not data:
        return False
    if is_tool_definition(data):
        return True
    property_names = data.keys() - {"required", "type"}
    return bool(property_names) and all(_is_parameter_schema(data[key]) for key in property_names)


def ambiguity_error(data: Any) -> ParseError | None:
    """Why it cannot be said whether what :func:`is_schema` takes is a tool's description or a call.

    >>> ambiguity_error([{"name": "f", "description": "does", "parameters": {"city": "Rome"}}]).code
    'parse.shape'
    >>> ambiguity_error([{"name": "f", "description": "does", "parameters": {"city": {"type": "string"}}}])
    """
    for item in data if isinstance(data, list) else (data,):
        if isinstance(item, list):
            error = ambiguity_error(item)
            if error is not None:
                return error
            continue
        wrapped = item.get("function")
        inner = wrapped if isinstance(wrapped, dict) else item
        parameters: dict[str, Any] = next(
            (inner[key] for key in SCHEMA_KEYS if isinstance(inner.get(key), dict)), {}
        )
        if is_tool_definition(item) and parameters and not isinstance(parameters.get("properties"), dict):
            names = parameters.keys() - {"required", "type", "additionalProperties", "$schema"}
            if names and not any(
                _is_parameter_schema(parameters[key]) or _is_type_name(parameters[key]) for key in names
            ):
                return ParseError(
                    f"found {format_value(inner.get('name'))} with a description, as in a tool's "
                    "definition, and with values as its parameters, as in a call; expected a call: a name "
                    "and arguments",
                    code="parse.shape",
                )
    return None


_TYPE_NAMES = frozenset({
    "string", "str", "integer", "int", "long", "number", "float", "double", "boolean", "bool", "array",
    "list", "tuple", "set", "object", "dict", "hashmap", "null", "none", "any", "char", "date", "datetime",
})  # fmt: skip
_SCHEMA_KEYWORDS = frozenset({
    "type", "description", "enum", "default", "items", "properties", "required", "format", "minimum",
    "maximum", "example", "examples", "title", "optional", "nullable", "pattern", "anyOf", "oneOf", "name",
    "value",
})  # fmt: skip


def _is_parameter_schema(value: Any) -> bool:
    """Whether a value describes a parameter: its type is a type's name, and nothing else is an argument."""
    if not isinstance(value, dict) or "type" not in value:
        return False
    kinds = value["type"] if isinstance(value["type"], list) else [value["type"]]
    return all(map(_is_type_name, kinds)) and ("description" in value or value.keys() <= _SCHEMA_KEYWORDS)


def _is_type_name(value: Any) -> bool:
    """Whether a value is the name of a type, whatever follows that."""
    return isinstance(value, str) and re.split(r"\W", value, maxsplit=1)[0].lower() in _TYPE_NAMES
