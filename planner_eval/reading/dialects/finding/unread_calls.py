"""What looks like a call in text that was not read, and what is said of it.

That a text calls nothing is an answer, and the right one where gold calls nothing; a call that no reader
takes would count as that answer, so where one may stand is said.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set
from typing import Any

from planner_eval.base.json_text import decode
from planner_eval.base.limits import Span
from planner_eval.base.text import (
    INVISIBLE,
    group_by_sign,
    holds_signed,
    lazy_pattern,
    line_end,
    shorten,
)
from planner_eval.plan.model import UNREAD_CALL, Diagnostic
from planner_eval.reading.dialects.conversations.messages import ARGUMENT_KEYS, NAME_KEYS, is_call
from planner_eval.reading.dialects.detect import is_schema
from planner_eval.reading.dialects.finding.blocks import LINE_MARKERS, BlockReader
from planner_eval.reading.dialects.finding.segments import (
    NAME,
    PYTHON_DIALECTS,
    TYPE,
    ReadCalls,
    blank_matches,
    blank_spans,
    fences,
)
from planner_eval.reading.dialects.programs.program import (
    BUILTINS,
    DISPLAY_FUNCTIONS,
    KNOWN_PACKAGES,
    SELF_NAMES,
)
from planner_eval.reading.dialects.programs.syntax import PlacedTree, parse_syntax
from planner_eval.reading.dialects.repairs import is_json

TOOL_ANSWER = lazy_pattern(
    r"<\|?(tool_response|tool_result|tool_output|observation)\|?>.*?(?:</?\|?\1\|?>|\Z)", re.S
)
"""What a tool answered, or a model made up for it."""
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

_NAMED_ARGUMENT = lazy_pattern(r"\(\s*+[^\W\d]\w*+\s*+=(?!=)")
"""What stands in all that the next finds, and is looked for in a tenth of the time."""
_NAMED_ARGUMENT_CALL = lazy_pattern(
    rf"(?<![\w.\-#@\\])({_TOOL_NAME})(?:\*\*|`)?\(\s*+[^\W\d]\w*+\s*+=(?!=)\s*+"
    rf"(?:[\"'\[{{{_CURLY_QUOTES}\d]|-\d|(?:True|False|None|true|false|null)\b)"
)
"""A call with a named argument that stands where no call is read: in a sentence, or before an arrow."""

_OBJECT_ARGUMENT_CALL = lazy_pattern(rf"(?<![\w.\-])({_TOOL_NAME})\(\s*+\{{\s*+[\"']?[^\W\d]\w*+[\"']?\s*+:")
"""A call in JavaScript that stands where none is read: in an arrow function, in a chain of promises."""

_MENTION_BEFORE_CALL = lazy_pattern(
    r"\b(?:(?:used|called|ran|invoked|executed|examples?|such as|like|syntax|usage|def|function|class)\b"
    r"|e\.g\.,?)[\s:*`]{0,6}(?:the\s)?[*`]{0,3}\Z",
    re.I,
)
"""What stands before a call of which a sentence only tells."""

_FIRST_KEY = rf"\{{\s*+(?:\\?[\"'{_CURLY_QUOTES}]\w|[^\W\d]\w*+:)"
_OPENED_OBJECT = lazy_pattern(_FIRST_KEY)
_NAME_BEFORE_OBJECT = lazy_pattern(
    rf"(?<![^\s*`|('\"\[])({_TOOL_NAME})(?:\*\*|__|[`\]]|['\"](?= with))?[ \t]*+"
    rf"(?:[-\u2013\u2014|\u2192]{{1,2}}>?|{_COLON}|=>|\("
    r"|(?i:with)(?: (?:the )?(?:arg(?:ument)?s|input|parameters))?:?)?"
    rf"[ \t]*+`?{_FIRST_KEY}"
)
"""A name and an object on one line."""
_COMPOUND_NAME = lazy_pattern(_COMPOUND_TOOL_NAME)

_NAME_ABOVE_FENCE = lazy_pattern(
    rf"(?m:^)[ \t>#]*+(?:[\w #.\-]{{1,30}}[:.)][ \t]*+)?"
    rf"(?:\*\*|`)?({_COMPOUND_TOOL_NAME})(?:\*\*|`)?[ \t]*+:?\s*+"
    r"```(?:json)?\s*+\{\s*+[\"'}]"
)
"""A tool's name that ends a line, and an object in the fence below."""

_ANY_QUOTE = rf"(?:\\?[\"'{_CURLY_QUOTES}])?"
_ANY_SPACE = r"(?:\s|\\[nrt])*+"
_UNQUOTED_KEY_CALL = lazy_pattern(
    rf"(?:\{{{_ANY_SPACE}(?!\")|(?m:^)[ \t]*+){_ANY_QUOTE}(?:{'|'.join(NAME_KEYS)}){_ANY_QUOTE}\s*+[:=]\s*+"
    rf"{_ANY_QUOTE}[^\W\d][^{{}}]{{0,200}}?[,;\s]{_ANY_SPACE}"
    rf"{_ANY_QUOTE}(?:{'|'.join(ARGUMENT_KEYS)}){_ANY_QUOTE}\s*+[:=]\s*+[{{\\\"'\[{_CURLY_QUOTES}]"
)
"""An object of a call whose keys have no quotes, or not JSON's; its brackets may be missing."""

_DEFINITION_WORDS = r"\bproperties\b|\bdescription\b|\btype\\?[\"']?\s*+:\s*+\\?[\"']?(?:object|string)\b"
_TOOL_DEFINITION = lazy_pattern(_DEFINITION_WORDS)
"""What the definition of a tool has."""

_NAME_AND_ARGUMENT_LINES = lazy_pattern(
    r"(?m:^)[ \t>*#\-]*+(?i:(?:us|call|execut|invok|suggest)(?:ing|ed) )?+(?i:tool|function|action|api)"
    r"(?i:[ _]?(?:name|call))?(?: \d{1,3}| \([^()\n]*\))?"
    rf"\**+\s*+{_COLON}\**+[ \t]*+`?{_NOT_NO_TOOL}{_TOOL_NAME}[`*]?[ \t*]*+\n\s*+[>*#\-]*+[ \t*]*+"
    r"(?i:(?:(?:tool|function|action|api)[ _]?)?(?:inputs?|arguments?|args|parameters?|params))"
    rf"(?: \d{{1,3}})?\**+\s*+{_COLON}"
)
"""A line that names a tool, and below it one of its arguments."""

_LISTED_CALLS = lazy_pattern(
    rf"\\?\"tool_calls\\?\"\s*+:\s*+\[\s*+\{{|(?m:^)Tool Calls:\n[ \t]++{_NOT_NO_TOOL}{_TOOL_NAME} \("
)
"""A message that lists calls, in a line of a log, as JSON or as LangChain prints it."""
_COLOURS = lazy_pattern(r"\x1b\[[\d;]*+m")

_API_LINES = lazy_pattern(r"(?m:^)API:[ \t]*+\n\s*+-")
"""CallNavi's plan in YAML, which would have been read as such."""

_ARGUMENT_LABELS = ("nput", "rgument", "rgs", "aram")
_TAG_CALL = lazy_pattern(
    r"<(?!\w*(?:respon|result|output|observation|think|thought|answer|example|user|system))([a-z]\w*?_\w++)>"
    r"\s*+(?:<([a-zA-Z_]\w*+)>[^<>]*+</\2>\s*+)++</\1>"
)
"""A tag named as a tool is, and nothing in it but a tag for each argument."""


_LONG_WORD = lazy_pattern(r"[A-Z._](?<=\w.)[a-z]")
_LONG_NAME = lazy_pattern(r"[^\W\d]\w+?(?:[._][^\W\d_]{2}|(?<=[a-z])[A-Z][a-z])")
_NAMED = rf"(?P<tool>{_TOOL_NAME})"
_LONG_NAMED = rf"(?=[^\W\d]\w+?(?:[._][^\W\d_]{{2}}|(?<=[a-z])[A-Z][a-z])){_NAMED}"
_TYPE_NAME = r"(?i:int|float|str|bool|num|list|dict|any|opt|arr|obj|tup|set|bytes|none|union|\w++\[)"
_LOOSE_CALLS = (
    # get_weather city=Rome, get_weather[city=Rome], <get_weather city="Rome"/>, get_weather with city = Rome,
    # get_weather(city=Rome), get_weather(city: Rome), (get_weather :city "Rome")
    (lazy_pattern(r"=(?!=)|->|\(\s*+[^\W\d]\w*+\s*+:|:(?<=\s:)[a-z]"), lazy_pattern(
        rf"(?<![\w.\-/\\]){_LONG_NAMED}(?:(?:[\s:|,;(\[{{<?%>*`\"\-=]|/\*[^*\n]*+\*/"
        r"|\b(?:with|and|arguments?|args|inputs?|param(?:eter)?s?)\b){1,16}?"
        r"(?<=\W)[^\W\d]\w*+\s*+(?:=(?![=>])|:=|=>|->)\s*+[^\s=]"
        rf"|\(\s*+[^\W\d]\w*+\s*+:\s*+(?!{_TYPE_NAME})[\w\"']|\s++:[a-z]\w*+\s)"
    )),
    (lazy_pattern(" with "), lazy_pattern(
        r"(?:c(?i:all)|C(?i:all)|u(?i:se)|U(?i:se)|i(?i:nvoke)|I(?i:nvoke)|r(?i:un)|R(?i:un))"
        rf"(?:ing)?\s++(?:the\s++)?[`*\"]*+{_NAMED}[`*\"]*+\s++with\b"
    )),
)  # fmt: skip
"""A sign and what stands where it is: a tool's name and an argument, in no notation that is read."""

_BARE_ARGUMENTS = r"\([\w \-,.]++\)[);,\s]*+"
_BARE_CALLS = lazy_pattern(
    rf"\s*+(?:print\()?+{_NAMED}{_BARE_ARGUMENTS}(?:(?:print\()?+{_TOOL_NAME}{_BARE_ARGUMENTS})*+\Z"
)
"""Calls that take words without quotes and are all that a text has: get_weather(Rome)."""

_LOOSE_LINES = ((lazy_pattern(""), lazy_pattern(
    r"(?m)^[ \t>$*`\-]*+(?P<sigil>[/!%~])?+(?P<bracket>[\[{][ \t]*+(?:[\"'](?=[a-z]++[_.]))?+)?+"
    r"(?P<call>CALL[ \t]++)?+"
    r"(?P<label>(?i:tool|function|action|api)(?i:[ _]?(?:name|call))?\**+[ \t]*+"
    rf"{_COLON}\**+[ \t]*+`?)?+{_NAMED}(?:"
    # as of a shell: get_weather --city Rome, /get_weather Rome, get_weather "Rome"; and get_weather[Rome]
    r"[ \t]++(?:--?[a-z]|[^\W\d]\w*+=[^\s=]|(?P<quote>[\"'])[^\"'\n]*+(?P=quote)[ \t]*+$|(?(sigil)\w|(?!)))"
    r"|\[[\"'A-Za-z][^\]\n]*+\][ \t]*+$"
    # as in YAML and TOML: a line that names a tool, and an argument on the next
    r"|`?:[ \t]*+\n[ \t]++[^\W\d][\w\-]*+:[ \t]*+\S"
    rf"|(?(label)`?[ \t]*+\n[ \t>*#\-]*+[^\W\d]\w*+[ \t]*+{_COLON}[ \t]*+\S|(?!))"
    # as in other languages: {get_weather: {city: 'Rome'}}, CALL get_weather('Rome')
    r"|(?(bracket)\][ \t]*+\n\s*+[^\W\d]\w*+\s*+=|(?!))"
    r"|(?(bracket)[\"']?\s*+:\s*+\{\s*+[\"']?[^\W\d]|(?!))|(?(call)\([\"'\d{]|(?!)))"
)),)  # fmt: skip
"""The same on lines of their own, which may stand in a fence."""


def _by_signs(regex: str, *signs: str) -> Iterator[tuple[re.Pattern[str], re.Pattern[str]]]:
    """A row of a pattern for each of the signs of which it needs one: several together are found late."""
    pattern = lazy_pattern(regex)
    return ((lazy_pattern(sign), pattern) for sign in signs)


_SHORT_CALLS = (
    # [f x=1], x[city="Rome"] and <weather city="Rome"/> on lines of their own; the last is no tag of HTML's
    (lazy_pattern(r"\["), lazy_pattern(
        rf"\[(?<![\w\])]\[)\s*+{_NAMED}[ \t]++[^\W\d]\w*+=[^\s=]"
    )),
    (lazy_pattern(r"\[\w++\s*+="), lazy_pattern(
        rf"(?m)^[ \t]*+{_NAMED}\[\w++\s*+=\s*+[\"'\w][^\]\n]*+\][ \t]*+$"
    )),
    (lazy_pattern("/>"), lazy_pattern(
        r"(?m)^[ \t]*+<(?!(?:img|input|br|hr|meta|link|path|circle|rect|line|use|source|area|base)\b)"
        r"(?P<tool>[a-z]\w++)(?:\s++\w++=(?:\"[^\"\n]*+\"|'[^'\n]*+'))++\s*+/>[ \t]*+$"
    )),
    *_by_signs(
        r"(?m)^[ \t$]*+(?P<tool>curl(?=[ \t]++[\-\"'h])"
        r"|(?:GET|POST|PUT|PATCH|DELETE)(?=[ \t]++(?:/|https?:)))",
        "curl", "GET|POST|PUT|PATCH|DELETE",
    ),
    *_by_signs(
        rf"(?:(?P<field>\[\[ ## next_tool_name ## \]\]\s*+{_NOT_NO_TOOL})"
        r"|(?i:calling|invoking|running|executing)(?: (?:the )?(?:tool|function))?:?\s++[`'\"]?)"
        rf"{_NAMED}(?(field)|[`'\"]?\s++with(?: [\w ]{{1,20}})?:?\s*+`?\{{)",
        "## next_tool", "ing(?:(?<=[Cc]alling|[Rr]unning)|(?<=[Ii]nvoking)|(?<=[Ee]xecuting))",
    ),
    *_by_signs(rf"(?::=|await)[ \t]++{_NAMED}(?:<[\w\s,.]*+>)?\([\"'\d{{]", ":= ", "await "),
)  # fmt: skip
"""The same with a name of any kind."""


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
    if "\x1b" in searched:
        searched = blank_matches(_COLOURS, searched)
    match = next(_find_call_like(searched, own_names), None) or _find_broken_object(searched)
    if match is None:
        return _find_program_call(searched, own_names)
    return match.start(), line_end(text, match.end())


_PROGRAM_CALL = lazy_pattern(rf"(?<![\w.\-])({_TOOL_NAME})\s*+\(\s*+[^\W\d]\w*+\s*+=(?!=)")


def _find_program_call(text: str, own_names: Set[str]) -> Span | None:
    """Where a Python program calls something with named arguments, in what is not followed: a lambda."""
    if not (_NAMED_ARGUMENT.search(text) and _PROGRAM_CALL.search(text)):
        return None
    tree = parse_syntax(text)
    if not isinstance(tree, ast.Module):
        return None
    placed_tree = PlacedTree(tree, text)
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    own_names = own_names - {node.name for node in ast.walk(tree) if isinstance(node, functions)}
    called = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.keywords)
    for start, end in sorted(map(placed_tree.span, called), key=lambda span: (span[0], -span[1])):
        match = _PROGRAM_CALL.match(text, start)
        if match is not None and _is_tool_call(text, match, own_names):
            return start, end
    return None


_OBJECT_KEY = lazy_pattern(r"\{\s*+(?:\"[^\"\n]{1,60}\"?+|[^\W\d]\w{0,40}+\"|\{\s*+\")\s*+:?+")
_BRACE_CALL = re.compile(r"\w\{\w++:")
_BRACE_KEY = lazy_pattern(r"\{\w")
_OBJECT_AFTER_TOKEN = r"\s*+\{\s*+\"[^\"\n]{1,60}\"\s*+:"
_TOKEN_AND_OBJECT = (
    rf">{_OBJECT_AFTER_TOKEN}|\|{_OBJECT_AFTER_TOKEN}|</[a-z]{{2,20}}_[a-z_]{{2,20}}>|Action Input[ \t*:{{]"
)
_LOST_CALLS = (
    (lazy_pattern(":"), lazy_pattern(r"\"[^\"\n]{1,60}\"\s*+:(?!\s*+(?:\n|\Z))")),
    (lazy_pattern(r"\(\s*+#?\w++\s*+="), lazy_pattern(
        rf"(?<![\w.\-\\])({_TOOL_NAME})\(\s*+#?\w++\s*+=(?!=)\s*+[\"'\[{{\d]"
    )),
    (lazy_pattern(""), lazy_pattern(
        r"<[^<>\n]{0,12}(?:param|invoke|function|arg|tool)\w*+"
        rf"|call(?:[>|]|:\S)|\"[)\]]|'[)\]]|{_TOKEN_AND_OBJECT}"
    )),
    (_BRACE_KEY, _BRACE_CALL),
)  # fmt: skip
"""Data, a call or a tag in text beside calls that were read, each with a sign that stands where it does."""

_NO_LOST_CALL = lazy_pattern(rf"\bObservation\b|{_DEFINITION_WORDS}")
_PYTHON_WORDS = lazy_pattern(r"\b(?:None|True|False)\b")
_NO_DATA = lazy_pattern(rf"\.\.\.|\u2026|{_DEFINITION_WORDS}")
"""What data has that stands for other data, or describes a tool."""

_SCHEMA_KEYS = lazy_pattern(r"[\"'](?:description|properties)[\"']\s*+:")
_FRAMED_OBJECT = lazy_pattern(_TOKEN_AND_OBJECT)
_DATA_START = lazy_pattern(r"\s*+[\[{]++\s*+[\"{\[]")


def _find_broken_object(text: str) -> re.Match[str] | None:
    """The first data that is not JSON, or is a call; other data was read, and calls nothing."""
    start = _DATA_START.match(text)
    if start is not None:
        return None if is_json(_PYTHON_WORDS.sub("null", text)) else start
    if _SCHEMA_KEYS.search(text):
        return None
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
    return _FRAMED_OBJECT.search(text) or (_BRACE_CALL.search(text) if _BRACE_KEY.search(text) else None)


def find_lost_call(text: str, start: int, end: int, own_names: Set[str]) -> Span | None:
    """Where in [start, end) of a text beside calls that were read another looks as if it stood.

    >>> find_lost_call("f(a=1) g(b=2)", 6, 13, set()), find_lost_call("It is sunny.", 0, 12, set())
    ((7, 13), None)
    """
    stop = min(end, start + _MAX_SEARCHED_LENGTH)
    matches = (
        pattern.search(text, start, stop)
        for sign, pattern in _LOST_CALLS
        if sign.search(text, start, stop) is not None
    )
    match = next(filter(None, matches), None)
    if match is None:
        loose = _find_loose_calls(text, text, own_names, (start, stop))
        match = next((m for m in loose if not _stands_outside(text, m["tool"], start, end)), None)
    if match is None or _NO_LOST_CALL.search(text, start, stop) or TOOL_ANSWER.search(text, start, stop):
        return None
    if match.re.groups:  # a call, which may have been read elsewhere
        is_told = _stands_outside(text, match.group(), start, end)
        if is_told or not _is_tool_call(text, match, own_names):
            return None
    line = text.find("\n", match.end(), end)
    return match.start(), end if line < 0 else line


def _stands_outside(text: str, words: str, start: int, end: int) -> bool:
    """Whether something stands in a text outside of [start, end), too."""
    return text.find(words, 0, start) >= 0 or text.find(words, end) >= 0


def _find_call_like(text: str, own_names: Set[str]) -> Iterator[re.Match[str]]:
    """What looks like a call; a sign that each kind needs is looked for first, for most texts have none."""
    if "<" in text or "\u273f" in text or "TOOL" in text or "FUNCTION" in text:
        yield from _TOKEN_FRAMED_CALL.finditer(text)
    if "</" in text:
        yield from _TAG_CALL.finditer(text)
    if any(map(text.__contains__, _ARGUMENT_LABELS)):
        yield from _NAME_AND_ARGUMENT_LINES.finditer(text)
        keyed = _UNQUOTED_KEY_CALL.finditer(text)
        yield from (m for m in keyed if not _TOOL_DEFINITION.search(text, m.start(), m.end() + 100))
    if "API:" in text:
        yield from _API_LINES.finditer(text)
    if "tool_calls" in text or "Tool Calls" in text:
        yield from _LISTED_CALLS.finditer(text)
    if "{" in text and "```" in text:
        yield from _NAME_ABOVE_FENCE.finditer(text)
    bare = _BARE_CALLS.match(text)
    if bare is not None and _LONG_NAME.match(bare["tool"]) and _is_tool_call(text, bare, own_names):
        yield bare
    outside = blank_spans(text, [fence.span() for fence in fences(text)])  # read as a whole, or told
    if "{" in outside:
        yield from (m for m in _names_before_objects(outside) if _COMPOUND_NAME.match(m[1]))
    if "({" in outside:
        yield from (m for m in _OBJECT_ARGUMENT_CALL.finditer(outside) if _is_tool_call(text, m, own_names))
    if _NAMED_ARGUMENT.search(outside):
        yield from (m for m in _NAMED_ARGUMENT_CALL.finditer(outside) if _is_tool_call(text, m, own_names))
    yield from _find_loose_calls(text, outside, own_names, (0, len(text)))


def _names_before_objects(text: str) -> Iterator[re.Match[str]]:
    """The names and objects that stand on one line."""
    start = 0
    for opened in _OPENED_OBJECT.finditer(text):
        line = text.rfind("\n", start, opened.start()) + 1
        match = _NAME_BEFORE_OBJECT.search(text, max(line, start), opened.end())
        start = match.end() if match else opened.start() + 1
        if match:
            yield match


def _find_loose_calls(text: str, outside: str, own_names: Set[str], span: Span) -> Iterator[re.Match[str]]:
    """Calls in no notation that is read; names of several words are searched for where some stand."""
    if text.find("description", *span) >= 0 or text.find("properties", *span) >= 0:
        return  # tools are described there
    tables: list[Any] = [(_SHORT_CALLS, text, span)]
    for lines in _lines_of_long_names(text, *span):
        tables += [(_LOOSE_CALLS, outside, lines), (_LOOSE_LINES, text, lines)]
    for rows, searched, (start, end) in tables:
        for sign, pattern in rows:
            if sign.search(searched, start, end) is not None:
                for match in pattern.finditer(searched, start, end):
                    is_named = rows is _SHORT_CALLS or _LONG_NAME.match(match["tool"]) is not None
                    if is_named and _is_tool_call(text, match, own_names):
                        yield match


def _lines_of_long_names(text: str, begin: int, stop: int) -> Iterator[Span]:
    """The lines in [begin, stop) in which names of several words stand, each with the next one."""
    start = end = line = begin
    while (name := _LONG_WORD.search(text, line, stop)) is not None:
        if name.start() >= end:
            if end > start:
                yield start, end
            start = max(text.rfind("\n", begin, name.start()) + 1, begin)
        line = text.find("\n", name.end(), stop)
        following = text.find("\n", line + 1, stop) if line >= 0 else -1
        end = stop if following < 0 else following
        if line < 0:
            break
    if end > start:
        yield start, end


def _is_tool_call(text: str, match: re.Match[str], own_names: Set[str]) -> bool:
    """Whether what looks like a call is of a tool, and no sentence says that it is not made, or of others."""
    name = match["tool"] if "tool" in match.re.groupindex else match[1]
    root = name.partition(".")[0]
    if root in SELF_NAMES and "class " in text:
        return False
    own = root in own_names or name in own_names or root in BUILTINS or name in DISPLAY_FUNCTIONS
    return not (own or root in KNOWN_PACKAGES or is_mention(text, *match.span()))


def is_mention(text: str, start: int, end: int) -> bool:
    """Whether a sentence only tells of a call in it, or says that it is not made."""
    before = text[max(0, start - 40) : start]
    return bool(_MENTION_BEFORE_CALL.search(before)) or is_denied(text, start, end)


# ----------------------------------------------------------------------
# Whether the sentence around a call says that it is not made.
_DENIAL = lazy_pattern(
    r"\b(?:cannot|can't|can’t|(?:can|could|would|do|does|did|will) not|couldn't|wouldn't|don't|won't"
    r"|(?:un|not )able to|hypothetical(?:ly)?|(?:had|were|if) (?:I|you|we|it|they|there|the|a|such)\b"
    r"[^.!?]{0,120}?\b(?:had|were|was|could|would|existed|provided?|available|knew))\b",
    re.I,
)
_DENIAL_WORDS = group_by_sign(("not", "'t", "’t", "able", "hypothetical", "if ", "had ", "were "))
"""Of which one, in small letters, stands in each denial: a look for them is cheap."""
_SENTENCE_OR_LINE = lazy_pattern(r"(?:[^.!?\n]++|[.!?](?!\s|\Z))++")
_SENTENCE_END = lazy_pattern(r"[.!?](?=\s)|\n[ \t]*\n")
_CLAUSE_START = lazy_pattern(
    r"\b(?:but|so|hence|thus|therefore|however)\b|,\s(?=(?:I(?:'ll|’ll| will)|let me)\b)", re.I
)
"""Where a sentence goes on to what follows from, or stands against, what it said."""
_REVERSED_FENCE_START = lazy_pattern(r"(?:\s*+\w*+```)?+[\s`]*+")
"""What stands between words and a call, read from its end on: white space, a fence and its label."""


def is_denied(text: str, start: int, end: int) -> bool:
    r"""Whether the sentence in which a call stands says that it is not made: it could not, or would if.

    Args:
        text: The text.
        start: Where the call, or the fence around it, begins.
        end: Where it ends.

    >>> text = "If I had the city, I would call:\nget_weather(city='Rome')"
    >>> is_denied(text, text.index("get"), len(text)), is_denied("I will call f: f(a=1)", 15, 21)
    (True, False)
    >>> [is_denied(f"I {words}: f()", 4 + len(words), 8 + len(words)) for words in (
    ...     "can't see it, so I call", "would ask, but cannot call")]
    [False, True]
    """
    before = text[max(0, start - 400) : start]
    if holds_signed(_DENIAL_WORDS, before.lower()):
        before = before[: len(before) - _REVERSED_FENCE_START.match(before[::-1]).end()]  # type: ignore[union-attr]
        sentence = before[max((m.end() for m in _SENTENCE_END.finditer(before)), default=0) :]
        clause = sentence[max((m.end() for m in _CLAUSE_START.finditer(sentence)), default=0) :]
        if _DENIAL.search(clause):
            return True
    after = _SENTENCE_OR_LINE.match(text, end, end + 200)
    if after is None or not holds_signed(_DENIAL_WORDS, after[0].lower()):
        return False
    return _DENIAL.search(after[0]) is not None


# ----------------------------------------------------------------------
# Remarks on text that was not read.
ALTERNATIVE_SEPARATOR = lazy_pattern(
    r"[\s`,;]*+\bor\b[\s:]*+(?:```\w*\s*+|`)?+(?=[\[{]|[^\W\d][\w.]*+\()", re.I
)
"""What stands between two plans of which one is meant."""


def note_unread_calls(text: str, defined: Set[str] = frozenset()) -> list[Diagnostic]:
    """A note on what looks like a call in a text of which none was read."""
    span = find_unread_call(text, defined)
    if span is None:
        return []
    message = f"this may be an unread call: {shorten(text[slice(*span)], 60)!r}"
    return [Diagnostic("find.unread", message, "warning", span=span)]


def note_ignored_text(
    reader: BlockReader, read: list[ReadCalls], text: str, notes: list[Diagnostic]
) -> Iterator[Diagnostic]:
    """A note on what of the searched text is outside of all blocks, and of what `notes` say with places."""
    source = reader.source
    noted = [note.span for note in notes if note.span]
    noted_spans = [note.span for note in notes if note.span and note.code in _IGNORED_CODES]
    call_spans = (span for item in read for span in item.extents or (item.span,))
    inside: list[Span] = sorted([*noted_spans, *call_spans])
    python = all(item.dialect in PYTHON_DIALECTS for item in read)
    offset = total = gaps = 0
    first: Span | None = None
    unread_span: Span | None = None
    for start, end in [*inside, (len(source), len(source))]:
        gap = source[offset:start].strip(" \t\r\n`;,.") if start > offset else ""
        if gap and python and len(gap) <= _MAX_MARKER_LENGTH:
            gap = LINE_MARKERS.sub("", source[offset:start]).strip(" \t\r\n`;,.*>" + INVISIBLE)
        if gap and not _NO_WORDS.fullmatch(gap):
            total += len(gap)
            first = first or (offset, start)
            gaps += 1
            if unread_span is None:
                unread_span = find_unread_assignment(reader, offset, start, noted)
            if unread_span is None and gaps <= _MAX_NOTED_SPANS:
                is_noted = any(offset <= span[0] < start for span in noted[:_MAX_NOTED_SPANS])
                unread_span = (
                    None if is_noted else find_lost_call(text or source, offset, start, reader.defined)
                )
        offset = max(offset, end)
    if first is None:
        return
    what = "1 character" if total == 1 else f"{total:,} characters"
    message = f"{what} of text around the calls {'was' if total == 1 else 'were'} ignored"
    if unread_span is None:
        yield Diagnostic("find.text", message, "info", span=first)
        return
    message += f"; it contains what {UNREAD_CALL}: {shorten(source[slice(*unread_span)], 60)!r}"
    yield Diagnostic("find.text", message, "warning", span=unread_span)


_IGNORED_CODES = frozenset({"find.thought", "find.turn", "find.code"})
"""Remarks on text that was ignored, which is not counted twice."""

_NO_WORDS = lazy_pattern(r"```?\w*|[\w+#.\-]{1,12}|(?:<[^<>\n]*+>|\[/?[A-Z_]++\]|[\s`;,.])++")
"""What stands between calls and says nothing: a fence, its label, tokens."""

_MAX_MARKER_LENGTH = 40
"""Characters that the markers of two lines have at most, with what ends the line before them."""

_MAX_NOTED_SPANS = 100
"""Places of other notes, and gaps, that are looked at: for each of many they would take quadratic time."""

_ASSIGNED_CALL = lazy_pattern(rf"=[ \t]*+(?:await[ \t]++)?+(?P<tool>{NAME})\([^\n]*+")
_ASSIGNED_VARIABLE = lazy_pattern(rf"(?<![\w.=!<>\[\](,])([^\W\d]\w*+)(?:\s*+:\s*+{TYPE})?+[ \t]*+\Z")


def find_unread_assignment(reader: BlockReader, start: int, end: int, noted: list[Span]) -> Span | None:
    """Where in [start, end) of a text something looks as if it named a tool's result, and was not read."""
    source = reader.source
    for match in _ASSIGNED_CALL.finditer(source, start, end) if source.find("=", start, end) >= 0 else ():
        root = match["tool"].split(".")[0]
        name = _ASSIGNED_VARIABLE.search(source, max(start, match.start() - 100), match.start())
        is_own = root in BUILTINS or root in DISPLAY_FUNCTIONS or root in SELF_NAMES or root in reader.defined
        if name is None or is_own or name[1] in reader.before():  # what was read elsewhere is not lost
            continue
        if not any(begin <= match.start() < to for begin, to in noted[:_MAX_NOTED_SPANS]):
            return name.start(), match.end()
    return None
