"""What looks like a call and was not read: in an unknown notation, or begun and not ended.

Nothing is read here. That a text calls nothing is an answer, and the right one where gold calls nothing; a
call that no reader takes would count as that answer, so where one may stand is said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence, Set
from functools import cache

from planner_eval.base.errors import ParseError
from planner_eval.base.json_text import decode, decode_whole
from planner_eval.base.limits import Span
from planner_eval.base.text import lazy_pattern
from planner_eval.plan.model import Diagnostic, RawPlan
from planner_eval.reading.dialects.conversations.messages import (
    ARGUMENT_KEYS,
    CALL_LIST_KEYS,
    NAME_KEYS,
    NODE_KEYS,
    is_call,
)
from planner_eval.reading.dialects.detect import find_last_opening_token, is_schema, opening_tokens
from planner_eval.reading.dialects.finding.edited_text import BRACKET_PAIRS, MAX_BRACKET_DEPTH, tokens
from planner_eval.reading.dialects.finding.segments import TOOL_ANSWER, blank, fences, is_denied
from planner_eval.reading.dialects.programs.values import (
    BUILTINS,
    DISPLAY_FUNCTIONS,
    KNOWN_PACKAGES,
    SELF_NAMES,
)
from planner_eval.reading.dialects.repairs import REPAIR_MEANINGS
from planner_eval.reading.dialects.table import Wrapper, custom_rows, table

# ----------------------------------------------------------------------
# Texts that a token limit cut: how such an end is told from a fault, and which calls before it are whole.
#
# Nothing is completed: a call whose end is missing is left out, with all that follows it.
CUT_CODE = "parse.cut"


class CutError(ParseError):
    """A text ends inside a call, or right after what opens one.

    Args:
        where: What it ends in, to follow "cut off at the end, ".
        text: The whole text.
        start: Where that begins.
    """

    def __init__(self, where: str, *, text: str, start: int, dialect: str | None = None) -> None:
        end = len(text.rstrip())
        super().__init__(
            f"cut off at the end, {where}", text=text, offset=end, code=CUT_CODE, dialect=dialect
        )
        self.start = start


_CLOSING_BRACKET = re.compile(r"[\])}]")


def open_brackets(text: str, start: int = 0) -> list[tuple[int, str]]:
    """The brackets that are open where a text ends, outermost first; none where it breaks before its end.

    >>> open_brackets("[f(a=1), g(b='x"), open_brackets("[f(a=1)]"), open_brackets("[f(a=1}")
    ([(0, '['), (10, '(')], [], [])
    """
    waiting: list[tuple[int, str]] = []
    for match in tokens(text, start, len(text), levels=2):
        kind = match.lastgroup
        if kind == "open":
            waiting.append((match.start(), match.group()))
            if (
                len(waiting) > MAX_BRACKET_DEPTH
            ):  # to its end it opens more, or it breaks: no notation closes so many
                return [] if _CLOSING_BRACKET.search(text, match.end()) else waiting
        elif kind == "close":
            if not waiting or BRACKET_PAIRS[waiting[-1][1]] != match.group():
                return []
            waiting.pop()
        elif kind == "quote":  # a text that is never closed, unless the closing quote alone was forgotten
            return [] if text.rstrip()[-1:] in ")]}" else waiting
    return waiting


_STATEMENT_START = lazy_pattern(r"(?:[^\W\d][\w, \t]*+=[ \t]*+)?(?:await\s++)?[\w.\-\\]*+\s*+\Z")


_APPBENCH_LINE = lazy_pattern(r"\n[ \t]*+(?:[-*•]|\d++[.)])?[ \t]*+[\w ]++:[ \t]*+\[[^\n]*\)\]")


def find_cut_call(text: str) -> int | None:
    r"""Where the call begins in which a text ends; None where it ends in none.

    >>> find_cut_call("f(a=1)\ng(b="), find_cut_call("f(a=1)"), find_cut_call("A: [f(#a=1\nB: [g(#b=2)]")
    (7, None, None)
    """
    waiting = open_brackets(text)
    if not waiting:
        return None
    opened = waiting[0][0]
    if _APPBENCH_LINE.search(text, opened):  # a bracket is missing before a whole line of AppBench's
        return None
    line = max(text.rfind("\n", 0, opened), text.rfind(";", 0, opened)) + 1
    name = _find_name_before(text, line, opened) if waiting[0][1] == "(" else None
    return opened if name is None else name


def _find_name_before(text: str, line: int, opened: int) -> int | None:
    for start in range(max(line, opened - 200), opened):  # a longer statement is cut before its bracket
        if text[start] in " \t" or not (text[start].isalnum() or text[start] == "_"):
            continue
        if _STATEMENT_START.fullmatch(text, start, opened):
            return start
    return None


def texts_before_cut(error: CutError) -> Iterator[str]:
    """The texts that end before the call in which a text was cut: in its list, else before it and its tokens.

    >>> text = '[{"name": "f"}, {"name": "g", "ar'
    >>> list(texts_before_cut(CutError("inside a call", text=text, start=0)))
    ['[{"name": "f"}]']
    """
    listed = _close_after_last_item(error.text, error.start)
    if listed is not None:
        yield listed
    before = error.text[: error.start]
    for _ in range(4):  # a call's tokens, the fence around it; hostile text may hold them by the thousand
        if not before.strip():
            return
        yield before
        opened = find_call_opening(before)
        if opened is None:
            return
        before = before[: opened[0]]


def _close_after_last_item(text: str, start: int) -> str | None:
    """The text up to the last whole item of the outermost list that is open where it ends, closed again."""
    waiting: list[tuple[int, str]] = []
    ends: dict[int, int] = {}
    for match in tokens(text, start, len(text), levels=2):
        kind = match.lastgroup
        if kind == "open":
            waiting.append((match.start(), match.group()))
            ends.pop(len(waiting), None)
            if len(waiting) > MAX_BRACKET_DEPTH:
                break
        elif kind == "close" and waiting:
            waiting.pop()
            ends[len(waiting)] = match.end()
        elif kind in ("text", "whole"):
            ends[len(waiting)] = match.end()
        elif kind == "quote":
            break
    depth = next((i for i, (_, mark) in enumerate(waiting) if mark == "["), None)
    if depth is None or depth + 1 not in ends or not _lists_calls(text, waiting, depth):
        return None
    return text[: ends[depth + 1]] + "".join(
        BRACKET_PAIRS[mark] for _, mark in reversed(waiting[: depth + 1])
    )


def keep_calls_before_cut(raw: RawPlan, text: str, before: int) -> RawPlan:
    """The calls that were read before a cut, with a note on it."""
    end = max((call.span[1] for call in raw.calls if call.span), default=before)
    message = f"repaired: {REPAIR_MEANINGS['cut_off']}"
    note = Diagnostic("repair.cut_off", message, "warning", None, None, (min(end, len(text)), len(text)))
    return raw._replace(notes=(*(n for n in raw.notes if n.code != "find.text"), note))


def _lists_calls(text: str, waiting: list[tuple[int, str]], depth: int) -> bool:
    """Whether the list at a depth is a plan, or what a message holds under a key of calls."""
    if depth == 0:
        return True
    key = re.search(r"[\"'](\w++)[\"']\s*+:\s*+\Z", text[: waiting[depth][0]][-100:])
    return depth == 1 and key is not None and key[1] in (*CALL_LIST_KEYS, *NODE_KEYS)


_OPENED_FENCE_BODY = lazy_pattern(r"\w*+\s*+(?:[\[{(]\s*+(?:[\[{\"'].*)?)?", re.S)
_OPENED_BRACKET = lazy_pattern(r"\s*+[\[{(]\s*+(?:[\[{\"'].*)?", re.S)


def find_call_opening(text: str) -> tuple[int, str] | None:
    """Where a text that calls nothing ends right after what opens a call, and what it ends in.

    >>> find_call_opening("<tool_call>"), find_call_opening("[{"), find_call_opening("[1] says so")
    ((0, "right after '<tool_call>'"), (0, 'inside a list or an object'), None)
    """
    token = find_last_opening_token(text)
    if token is not None and not text[token.end() :].strip():
        return token.start(), f"right after {token.group().strip()!r}"
    fence = next(reversed(list(fences(text))), None)
    is_open = fence is not None and not fence.group().endswith(("```", "~~~"), len(fence["mark"]))
    if fence is not None and is_open and _OPENED_FENCE_BODY.fullmatch(fence["body"]):
        return fence.start(), "right after a fence was opened"
    if _OPENED_BRACKET.fullmatch(text) and open_brackets(text):
        return 0, "inside a list or an object"
    return None


def find_cut_token_call(text: str, rows: Sequence[Wrapper]) -> tuple[int, str] | None:
    """Where the last call between tokens begins, if a text ends in it, and what it ends in."""
    token = find_last_opening_token(text)
    if token is None:  # the token is a word
        start = find_cut_call(text)
        return None if start is None else (start, "inside a list or an object")
    remainder, opener = text[token.end() :], token.group().strip()
    if not remainder.strip():
        return token.start(), f"right after {opener!r}"
    ends = {
        end.strip() for row in rows for end in (*row.close, *row.tail, *row.call[1:]) if len(end.strip()) > 1
    }
    if any(end in remainder for end in ends):
        return None
    named = any(row.shape == "named" and _ends_in_tool_name(remainder.strip(), row) for row in rows)
    tagged = any(row.shape == "xml" for row in rows) and not open_brackets(remainder) and bool(ends)
    if named or tagged or find_cut_call(remainder) is not None:
        return token.start(), f"inside the call after {opener!r}"
    return None


def _ends_in_tool_name(remainder: str, row: Wrapper) -> bool:
    """Whether a call in a row's tokens ends in its tool's name, or in what follows that before arguments."""
    name = re.match(r"[\w.\-]{1,100}+", remainder)
    return name is not None and any(
        middle.strip().startswith(remainder[name.end() :].strip()) for middle in ("", *row.middle)
    )


# ----------------------------------------------------------------------
# What looks like a call in a text of which none was read: in a notation that is not known, or not quite so.
_MAX_SEARCHED_LENGTH = 20_000
"""How much of a text is looked at."""

_TOOL_NAME = r"[^\W\d][\w.\-]*+"
_COMPOUND_TOOL_NAME = rf"(?=[^\W\d]\w{{0,60}}?(?:[._][^\W_]|[a-z][A-Z])){_TOOL_NAME}"
"""A name as tools have it and words of a sentence have not: `get_weather`, `getWeather`, `weather.get`."""
_CURLY_QUOTES = "\u201c\u201d"
_COLON = "[:\uff1a]"

_CALL_WORD = r"(?i:tools?|func(?:tion)?s?|calls?|plugins?|actions?|python|invoke|invocation)"
_CALL_TOKEN = (
    rf"(?:<[|\uff5c](?:[^<>|\uff5c\n]{{0,40}}[^a-zA-Z<>|\uff5c\n])?{_CALL_WORD}(?![a-zA-Z])"
    r"[^<>|\uff5c\n]{0,40}[|\uff5c]>"
    r"|\u273f\w{1,20}\u273f"
    r"|<(?:\w{1,20}[:_\-])?(?:tool_?calls?|function_?calls?|tool_?use|use_(?:\w{1,10}_)?tool|invoke|call_tool"
    r"|tool_name|tool_input|tool_code|function)\b[^<>\n]{0,100}>"
    r"|\[/?(?:\w{1,10}_)?(?:TOOL|FUNCTION)_?(?:CALLS?|REQUEST|USE)\])"
)
_NOT_NO_TOOL = r"(?!(?i:none|null|no|nothing|n/a|nil|empty|no_function|no_tool|finish)\b)"
_TOKEN_FRAMED_CALL = lazy_pattern(
    rf"{_CALL_TOKEN}(?:[\s:\uff1a=,]*+{_CALL_TOKEN}){{0,8}}+[\s:\uff1a=\[`]*+(?:json\s*+)?{_NOT_NO_TOOL}"
    r"(?:\{\s*+\\?[\"'\w]|<[a-zA-Z_]\w*+>\s*+[^<\s]"
    rf"|{_TOOL_NAME}(?:[(\[]|</|<[|\uff5c]|\s*+(?:\u273f|[:,]?\s*+\{{)"
    r"|[ \t]*+\n\s*+(?:[<{\[(\u273f]|```|\w++\s*+[=:])))"
    r"|<[^<>\n]{0,30}?(?:invoke|function|tool|action|call)(?:\s[^<>\n]{0,40}?\bname\s*+=\s*+[\"']?|=[\"']?)[^\W\d]"
    rf"|\bcall:{_TOOL_NAME}\{{"
)
"""Tokens that frame calls in models' notations, and a name or data right after them."""

_NAMED_ARGUMENT_CALL = lazy_pattern(
    rf"(?<![\w.\-#@\\])({_TOOL_NAME})(?:\*\*|`)?\(\s*+[^\W\d]\w*+\s*+=(?!=)\s*+"
    rf"(?:[\"'\[{{{_CURLY_QUOTES}\d]|-\d|(?:True|False|None|true|false|null)\b)"
)
"""A call with a named argument that stands where no call is read: in a sentence, or before an arrow."""
_MENTION_BEFORE_CALL = lazy_pattern(
    r"\b(?:used|called|ran|invoked|executed|examples?|e\.g\.|such as|like|syntax|usage|def|function|class)"
    r"\b[\s:*`]{0,6}(?:the\s)?[*`]{0,3}\Z",
    re.I,
)
"""What stands before a call of which a sentence only tells."""

_NAME_BEFORE_OBJECT = lazy_pattern(
    rf"(?:(?<=[\s*`|(])|^)({_COMPOUND_TOOL_NAME})(?:\*\*|__|`)?[ \t]*+"
    rf"(?:[-\u2013\u2014|\u2192]{{1,2}}>?|{_COLON}|=>|with(?: (?:the )?(?:arguments|input))?:?|\()?"
    rf"[ \t]*+`?\{{\s*+\\?[\"'{_CURLY_QUOTES}]\w"
)
"""A tool's name and an object on one line."""
_NAME_ABOVE_FENCE = lazy_pattern(
    rf"(?m:^)[ \t>]*+(?:[\w #.\-]{{1,30}}[:.)][ \t]*+)?"
    rf"(?:\*\*|`)?({_COMPOUND_TOOL_NAME})(?:\*\*|`)?[ \t]*+:?\s*+"
    r"```(?:json)?\s*+\{\s*+[\"'}]"
)
"""A tool's name that ends a line, and an object in the fence below."""

_UNQUOTED_KEY_CALL = lazy_pattern(
    rf"\{{\s*+(?:\\[\"']|[{_CURLY_QUOTES}])?(?:{'|'.join(NAME_KEYS)})(?:\\[\"']|[{_CURLY_QUOTES}])?\s*+[:=]\s*+"
    rf"(?:\\?[\"'{_CURLY_QUOTES}])?[^\W\d][^{{}}]{{0,200}}?[,;\s]\s*+"
    rf"(?:\\[\"']|[{_CURLY_QUOTES}])?(?:{'|'.join(ARGUMENT_KEYS)})(?:\\[\"']|[{_CURLY_QUOTES}])?\s*+[:=]\s*+[{{\\\"'\[{_CURLY_QUOTES}]"
)
"""An object of a call whose keys have no quotes, or quotes that are not JSON's."""
_DEFINITION_WORDS = r"\bproperties\b|\bdescription\b|\btype\\?[\"']?\s*+:\s*+\\?[\"']?(?:object|string)\b"
_TOOL_DEFINITION = lazy_pattern(_DEFINITION_WORDS)
"""What the definition of a tool has."""

_NAME_AND_ARGUMENT_LINES = lazy_pattern(
    r"(?m:^)[ \t>*#\-]*+(?i:tool|function|action|api)(?i:[ _]?(?:name|call))?(?: \d{1,3})?"
    rf"\**+\s*+{_COLON}\**+[ \t]*+`?{_NOT_NO_TOOL}{_TOOL_NAME}`?[ \t]*+\n\s*+[>*#\-]*+[ \t*]*+"
    r"(?i:(?:(?:tool|function|action|api)[ _]?)?(?:inputs?|arguments?|args|parameters?|params))"
    rf"(?: \d{{1,3}})?\**+\s*+{_COLON}"
)
"""A line that names a tool, and below it one of its arguments."""
_API_LINES = lazy_pattern(r"(?m:^)API:[ \t]*+\n\s*+-")
"""CallNavi's plan in YAML, which would have been read as such."""
_ARGUMENT_LABELS = ("nput", "rgument", "rgs", "aram")

_TAG_CALL = lazy_pattern(
    r"<(?!\w*(?:respon|result|output|observation|think|thought|answer|example|user|system))([a-z]\w*?_\w++)>"
    r"\s*+(?:<([a-zA-Z_]\w*+)>[^<>]*+</\2>\s*+)++</\1>"
)
"""A tag named as a tool is, and nothing in it but a tag for each argument."""


def find_unread_call(text: str, own_names: Set[str] = frozenset()) -> Span | None:
    """Where in a text of which no call was read something looks like one; None where nothing does.

    Args:
        text: The text, without what is no part of the answer: thoughts, other turns.
        own_names: Names that are the text's own functions.

    >>> (
    ...     find_unread_call("I will call `get_weather(city='Rome')`."),
    ...     find_unread_call("It is sunny (in Rome).")
    ... )
    ((13, 39), None)
    """
    searched = text[:_MAX_SEARCHED_LENGTH]
    match = next(_find_call_like(searched, own_names), None) or _find_broken_object(searched)
    if match is None:
        return None
    line = text.find("\n", match.end())
    return match.start(), len(text) if line < 0 else line


_OBJECT_KEY = lazy_pattern(r"\{\s*+(?:\"[^\"\n]{1,60}\"?+|[^\W\d]\w{0,40}+\"|\{\s*+\")\s*+:?+")
_TOKEN_AND_OBJECT = r"[>|]\s*+\{\s*+\"[^\"\n]{1,60}\"\s*+:|</[a-z]{2,20}_[a-z_]{2,20}>|Action Input[ \t*:{]"
_ARGUMENTS_OR_TAG = lazy_pattern(
    rf"(?m:^)[ \t]*+(?:\d{{1,3}}[.)][ \t]*+)?(?:{_TOOL_NAME}\s*+)?\{{\s*+\"[^\"\n]{{1,60}}\"\s*+:"
    rf"|(?<![\w.])\[?{_TOOL_NAME}\(\s*+#?\w++\s*+=\s*+[\"'\[{{\d]|<[^<>\n]{{0,12}}(?:param|invoke|function|arg|tool)\w*+"
    rf"|call(?:[>|]|:\S)|[\"'][)\]]|{_TOKEN_AND_OBJECT}"
)
"""Data, a call or a tag in text beside calls that were read."""
_PYTHON_WORDS = lazy_pattern(r"\b(?:None|True|False)\b")
_NO_DATA = lazy_pattern(rf"\.\.\.|\u2026|{_DEFINITION_WORDS}")
"""What data has that stands for other data, or describes a tool."""
_FRAMED_OBJECT = lazy_pattern(_TOKEN_AND_OBJECT)
_DATA_START = lazy_pattern(r"\s*+[\[{]++\s*+[\"{\[]")


def _find_broken_object(text: str) -> re.Match[str] | None:
    """The first data that is not JSON, or is a call; other data was read, and calls nothing."""
    start = _DATA_START.match(text)
    if start is not None:
        return None if _is_json(_PYTHON_WORDS.sub("null", text)) else start
    end = 0
    for match in _OBJECT_KEY.finditer(text) if "{" in text else ():
        if match.start() < end:
            continue
        try:
            value, end = decode(text, match.start())
        except (ValueError, RecursionError):
            vague = _NO_DATA.search(text, match.start(), match.end() + 200)
            return None if vague else match
        if is_call(value) and not is_schema(value):
            return match
    return _FRAMED_OBJECT.search(text)


def _is_json(text: str) -> bool:
    try:
        decode_whole(text)
    except (ValueError, RecursionError):
        return False
    return True


def find_lost_call(text: str, start: int, end: int, own_names: Set[str]) -> Span | None:
    """Where in [start, end) of a text beside calls that were read another looks as if it stood.

    >>> find_lost_call("f(a=1) g(b=2)", 6, 13, set()), find_lost_call("It is sunny.", 0, 12, set())
    ((7, 13), None)
    """
    stop = min(end, start + _MAX_SEARCHED_LENGTH)
    match = _ARGUMENTS_OR_TAG.search(text, start, stop)
    if match is None or TOOL_ANSWER.search(text, start, stop) or _TOOL_DEFINITION.search(text, start, stop):
        return None
    call = match.group().strip("[ \t")
    name = call.partition("(")[0]
    is_own = name in own_names or name.split(".")[0] in BUILTINS
    if "(" in call and (
        is_own or call in text[:start] or call in text[end:] or is_mention(text, *match.span())
    ):
        return None
    line = text.find("\n", match.end(), end)
    return match.start() + len(match.group()) - len(match.group().lstrip()), end if line < 0 else line


def _find_call_like(text: str, own_names: Set[str]) -> Iterator[re.Match[str]]:
    """What looks like a call; a sign that each kind needs is looked for first, for most texts have none."""
    if "<" in text or "\u273f" in text or "TOOL" in text or "FUNCTION" in text:
        yield from _TOKEN_FRAMED_CALL.finditer(text)
    if "</" in text:
        yield from _TAG_CALL.finditer(text)
    if any(map(text.__contains__, _ARGUMENT_LABELS)):
        yield from _NAME_AND_ARGUMENT_LINES.finditer(text)
    if "API:" in text:
        yield from _API_LINES.finditer(text)
    if "{" in text:
        yield from (
            m
            for m in _UNQUOTED_KEY_CALL.finditer(text)
            if not _TOOL_DEFINITION.search(text, m.start(), m.end() + 100)
        )
        yield from _NAME_ABOVE_FENCE.finditer(text) if "```" in text else ()
    outside = _blank_fences(text)
    if "{" in outside:
        yield from _NAME_BEFORE_OBJECT.finditer(outside)
    if "(" in outside and "=" in outside:
        yield from (m for m in _NAMED_ARGUMENT_CALL.finditer(outside) if _is_tool_call(text, m, own_names))


def _blank_fences(text: str) -> str:
    """A text with its fences as white space: what they hold is read as a whole, or told."""
    pieces, position = [], 0
    for fence in fences(text):
        pieces += [text[position : fence.start()], blank(fence.group())]
        position = fence.end()
    return "".join([*pieces, text[position:]]) if pieces else text


def _is_tool_call(text: str, match: re.Match[str], own_names: Set[str]) -> bool:
    """Whether what looks like a call is of a tool, and no sentence says that it is not made, or of others."""
    root = match[1].partition(".")[0]
    if root in own_names or match[1] in own_names or root in SELF_NAMES or root in KNOWN_PACKAGES:
        return False
    own = root in BUILTINS or match[1] in DISPLAY_FUNCTIONS
    return not own and not is_mention(text, *match.span())


def is_mention(text: str, start: int, end: int) -> bool:
    """Whether a sentence only tells of a call in it, or says that it is not made."""
    before = text[max(0, start - 40) : start]
    return bool(_MENTION_BEFORE_CALL.search(before)) or is_denied(text, start, end)


# ----------------------------------------------------------------------
# Calls that are begun after all that was read, and in which a text ends.
_TAIL_LENGTH = 600
"""How much of a text's end is looked at."""

_NAME = r"[^\W\d][\w.\-\\]*+"
_UNFINISHED_CALL = lazy_pattern(
    rf"(?:^|\n)[ \t]*+(?:"
    rf"(?:const|let|var)\s[^\n=]*+=\s*+await(?:\s++(?:{_NAME})?+)?+"
    rf"|Action\s*+:[ \t]*+`?(?!(?:none|n/a|no|finish|final)\b)(?:{_NAME})?+`?[ \t]*+"
    r"(?:\n\s*+(?:A(?:c(?:t(?:i(?:o(?:n(?: (?:I(?:n(?:p(?:u(?:t\s*+)?)?)?)?)?)?)?)?)?)?)?)?)?"
    rf"|(?:Action \d++\s*+:\s*+)?#E\d*+\s*+(?:=\s*+(?:{_NAME})?+)?+"
    rf"|Action \d++\s*+:\s*+#?"
    rf"|Call:[ \t]*+{_NAME}"
    rf"|\[\s*+{_NAME}|[\w ]{{1,40}}+:[ \t]*+\[\s*+[^\W\d][\w, ]*+(?:=\s*+(?:{_NAME})?+)?+"
    rf"|{_NAME}\n[ \t]*+\{{\s*+(?:\"[^\"\n]*+)?+"
    r"|API:[ \t]*+\n\s*+-(?:[^\n]*+\n?+){1,4}"
    r"|Nodes?\s*+:[ \t]*+\n\s*+1[.:)](?:[^\n]*+\n?+)*+"
    r")\Z"
)
"""The end of a text, from a line's start on, in which a call is begun."""
_UNFINISHED_ASSIGNMENT = lazy_pattern(
    rf"(?:^|\n)[ \t]*+[^\W\d]\w*+(?:\s*+,\s*+\w++)*+\s*+=[ \t]*+({_NAME})?+\Z"
)
_CLOSERS = lazy_pattern(r"[\s\])};,.`]*+")
_NAME_ON_LAST_LINE = lazy_pattern(rf"[ \t]*+\n[ \t]*+{_NAME}")
_BARE_TAG = lazy_pattern(r"<\w++>\Z")
_NAME_AT_END = lazy_pattern(rf"{_NAME}\Z")
_NAME_AFTER_TOKEN = lazy_pattern(rf"(?:[\s\[(]|```\w*+\n)*+(?:{_NAME})?+[\">\s]*+")
_CUT_TAG = lazy_pattern(r"<(?:[\w｜:][^<>]*+(?:(?<!/)>\s*+)?+)?+\Z")
_CUT_CALL_TOKEN = lazy_pattern(r"to=functions[.\w\-]*+\Z|<<function>>\s*+[\w.]*+\Z")


def find_unfinished_call(text: str, start: int, *, called: bool) -> int | None:
    r"""Where the call begins in which a text ends, of which nothing was read; None where it ends in none.

    Args:
        text: The text.
        start: Where what was read ends.
        called: Whether calls were read.

    >>> find_unfinished_call("f(a=1)\ng(", 6, called=True), find_unfinished_call("I (really", 0, called=False)
    (7, None)
    """
    if not called and text.lstrip()[:1] in ("[", "{") and _ends_in_quoted_json(text):
        return len(text) - len(text.lstrip())
    end = len(text.rstrip(" \t\r\n"))
    tail_start = max(start, end - _TAIL_LENGTH)
    if tail_start >= end:
        return None
    tail = text[tail_start:end]
    if _CLOSERS.fullmatch(tail):
        return None
    for pattern in (_UNFINISHED_CALL, _CUT_CALL_TOKEN):
        match = pattern.search(tail)
        if match is not None:
            return tail_start + len(tail) - len(tail[match.start() :].lstrip())
    offset = _find_cut_token(tail)
    if offset is None:
        offset = _find_open_call_name(tail)
    if offset is None and called:
        offset = _find_unfinished_assignment(tail, text[:tail_start])
    if (
        offset is None
        and called
        and _NAME_ON_LAST_LINE.fullmatch(tail)
        and _ends_in_call_section(text[:tail_start])
    ):
        offset = 0
    return None if offset is None else tail_start + offset


def _ends_in_quoted_json(text: str) -> bool:
    """Whether JSON ends inside a quoted text that holds quoted JSON itself."""
    if '\\"' not in text:
        return False
    try:
        decode_whole(text)
    except json.JSONDecodeError as error:
        return error.msg.startswith("Unterminated") and '\\"' in text[error.pos :]
    except (ValueError, RecursionError):
        pass
    return False


def _find_cut_token(tail: str) -> int | None:
    """Where an opening token begins that the end cuts, or that only the begin of a call follows."""
    opening = _opening_tokens(custom_rows())
    for match in re.finditer(r"[<\[]", tail[-120:]):
        start = max(0, len(tail) - 120) + match.start()
        squeezed = "".join(tail[start:].split())
        if 3 < len(squeezed) <= len(opening[0]) and any(token.startswith(squeezed) for token in opening):
            return start
    token = find_last_opening_token(tail)
    if token is not None and (
        _NAME_AFTER_TOKEN.fullmatch(tail, token.end()) or _CUT_TAG.search(tail, token.end())
    ):
        return token.start()
    return None


@cache
def _opening_tokens(_own: tuple[Wrapper, ...]) -> tuple[str, ...]:
    tokens = {re.sub(r"\s+", "", token) for row in table().values() for token in opening_tokens(row)}
    return tuple(sorted((token for token in tokens if token[:1] in ("<", "[")), key=len, reverse=True))


def _ends_in_call_section(text: str) -> bool:
    """Whether a text ends between tags of calls."""
    token = find_last_opening_token(text)
    return (
        token is not None and bool(_BARE_TAG.match(token.group().strip())) and "</" not in text[token.end() :]
    )


def _find_open_call_name(tail: str) -> int | None:
    """Where a name begins whose bracket is still open: of a call, not of words."""
    if "(" not in tail:
        return None
    after = _CLOSERS.match(tail, max(tail.rfind("\n\n"), 0)).end()  # type: ignore[union-attr]
    for offset, mark in open_brackets(tail, after):
        name = _NAME_AT_END.search(tail[max(0, offset - 100) : offset]) if mark == "(" else None
        if name is not None:
            return offset - len(name.group())
    return None


def _find_unfinished_assignment(tail: str, before: str) -> int | None:
    """Where a statement begins that would name the result of a call: `x = f` after calls."""
    match = _UNFINISHED_ASSIGNMENT.search(tail)
    if match is None:
        return None
    if match[1] and re.search(rf"\b{re.escape(match[1].split('.')[0])}\b", before + tail[: match.start()]):
        return None
    return match.start()
