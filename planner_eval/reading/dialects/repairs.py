"""Small named repairs of broken plans, tried only after strict reading failed.

Every repair adds or drops punctuation, never a word: the words and dollar signs of the text before
and after are compared, and a repair that would lose or invent one is refused. A text that ends inside
a call is not completed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from planner_eval.base.json_text import decode_whole
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import JSON_STRING, Branch, find_matches, lazy_pattern, remembered
from planner_eval.plan.model import Diagnostic
from planner_eval.reading.dialects.finding.edited_text import (
    BRACKET_PAIRS,
    PYTHON_ESCAPE,
    TextEdit,
    TextView,
    tokens,
    unescaping_edits,
)

REPAIR_MEANINGS = {
    "quotes": "wrong quotation marks, or quotes around a tool's name",
    "python_literals": "True, False or None in JSON",
    "trailing_comma": "a comma before a closing bracket",
    "missing_comma": "no comma between two calls, arguments or keys",
    "missing_bracket": "an unmatched bracket",
    "markdown_escape": "Markdown backslashes",
    "escaped_newline": "escaped line ends and quotes",
    "unquoted_reference": "a $reference$ without quotes",
    "unquoted_key": "a key without quotes",
    "control_character": "a line break inside a quoted text",
    "comment": "a comment in JSON",
    "cut_off": "the text ends inside a call; the complete calls before it are kept",
}
"""What each repair mends; diagnostics carry the name as ``repair.<name>``."""

_PLAIN_STRING = r'"[^"\\\n\t\r]*+"'
_LOOSE_JSON_TOKENS = (
    Branch(  # JSON in which nothing differs
        "sound",
        rf"{_PLAIN_STRING}(?:{_PLAIN_STRING}|[^\w\"'“”$,}}/#]++|,(?!\s*+[\]}}])|\}}(?!\s*+\{{)"
        r"|(?<!\w)(?!(?:True|False|None)\b)\w++(?!\s*+:))*+",
    ),
    JSON_STRING,
    Branch("single", r"'(?:[^'\\]++|\\.|'(?!\s*+(?:[,)\]}:]|\Z)))*+'", "'"),
    Branch("curly", r"[“”](?:[^“”\\]++|\\.)*+[“”]", "“”"),
    Branch("unquoted_reference", r"""\$[A-Za-z_]\w*+(?:\.[^\s$.,\[\]{}"']++|\[\d++\])*+\$"""),
    Branch("python_literals", r"\b(?:True|False|None)\b"),
    Branch("trailing_comma", r",(?=\s*+[\]}])"),
    Branch("unquoted_key", r"(?<!\w)[A-Za-z_]\w*+(?=\s*+:)"),
    Branch("comment", r"//[^\n]*+|\#[^\n]*+"),
    Branch("missing_comma", r"\}(?=\s*+\{)"),
)
_PYTHON_ESCAPES = lazy_pattern(PYTHON_ESCAPE)
_ESCAPES = lazy_pattern(rf"{PYTHON_ESCAPE}|\\(?P<mark>.)|\"|\n|\t", re.S)
_CONTROL = lazy_pattern(r"[\n\t\r]")
_CONTROL_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_MARKDOWN_ESCAPE = lazy_pattern(r"\\(?=[_*\[\]#~<>])")
_NAME_QUOTES = lazy_pattern(r"(['\"])([^\W\d][\w.\-]*+)\1(?=\()")
QUOTED_CALL = lazy_pattern(r"\s*+\[\s*+(['\"])(?=[^\W\d][\w.\-]*+\()")
"""A list whose first item is a call in quotes."""
_CALL_QUOTES = lazy_pattern(r"\)\s*+(['\"])\s*+,\s*+(['\"])(?=[^\W\d][\w.\-]*+\()")
_LAST_QUOTE = lazy_pattern(r"\)\s*+(['\"])(?=\s*+\]\s*+\Z)")
_VALUE_END = r"\s*+(?:[,)\]]|#\w++\s*+=|\Z)"
_DOUBLE_QUOTED = lazy_pattern(
    rf'#\w++\s*+=\s*+(")((?:[^"\\]++|\\.|"(?!{_VALUE_END}))*+)"(?={_VALUE_END})',
)
_QUOTES_TO_ESCAPE = lazy_pattern(rf"(\\\")|(?<!\\)'(?={_VALUE_END})")
"""What is written otherwise between single quotes: an escaped double quote, and what looks like an end."""
_ESCAPED_SIGN = lazy_pattern(r"\\([\"nt\\])")
_ESCAPED_TEXT = lazy_pattern(
    r"(?:[^\"'\\]++|(?<=\w)'(?=\w)|\\[nt]|\\u[\da-fA-F]{4})*+\\\"(?:[^\"\\]++|\\.)*+", re.S
)
"""A text of which each quote has a backslash, the first of all."""


class RepairedText(NamedTuple):
    """A mended text, and a note for each edit."""

    view: TextView
    notes: tuple[Diagnostic, ...]


def repairs(view: TextView) -> Iterator[RepairedText]:
    """Repaired readings of a broken plan, the least mended first.

    Args:
        view: The plan's text.

    Yields:
        A repaired text and one note for each edit; the caller reads it strictly.

    >>> [(v.text, [n.code for n in notes]) for v, notes in repairs(TextView("[f(a=1), g(b=2)"))]
    [('[f(a=1), g(b=2)]', ['repair.missing_bracket'])]
    """
    starts = [RepairedText(view, ())]
    if "\\n" in view.text or '\\"' in view.text:
        newlines = _apply(view, _repair_newlines(view.text), ())
        if newlines is not None:
            starts.append(newlines)
    for start, start_notes in starts:
        if start_notes:
            yield RepairedText(start, start_notes)
        current, notes = start, start_notes
        words: list[str] | None = None
        sound: bool | None = None
        for step, for_broken_json in _REPAIR_STEPS:
            if for_broken_json:
                sound = is_json(current.text) if sound is None else sound
                if sound:
                    continue
            fixes = step(current.text)
            changed = _apply(current, fixes, notes)
            if changed is None:
                continue
            if _may_change_words(current.text, fixes):
                words = _words(current.text) if words is None else words
                if words != (after := _words(changed.view.text)):
                    continue
                words = after
            (current, notes), sound = changed, None
            yield RepairedText(current, notes)


def _apply(view: TextView, fixes: list[TextEdit], notes: tuple[Diagnostic, ...]) -> RepairedText | None:
    if not fixes:
        return None
    edits_by_name: dict[str, list[TextEdit]] = {}
    for fix in fixes:
        edits_by_name.setdefault(fix.repair, []).append(fix)
    new_notes = tuple(
        Diagnostic(
            f"repair.{name}",
            f"repaired: {REPAIR_MEANINGS[name]}" + (f", in {len(edits)} places" if len(edits) > 1 else ""),
            "warning",
            span=view.span((edits[0].start, max(edits[0].end, edits[0].start + 1))),
        )
        for name, edits in edits_by_name.items()
    )
    return RepairedText(view.edit(fixes), (*notes, *new_notes))


_JSON_LITERALS = {"True": "true", "False": "false", "None": "null"}


_COMMENT = lazy_pattern(r"(?://(?<![^\s,{\[]//)|#(?<![^\s,{\[]#))[^\n]*+")
_ESCAPED_LINE_END = lazy_pattern(r"\\[ntr]")
_WORD = lazy_pattern(r"\w+|\$")


@remembered(20_000)
def _words(text: str) -> list[str]:
    """The words and dollar signs of a text in order, which no repair may change."""
    if "#" in text or "//" in text:
        text = _COMMENT.sub("", text)
    if "\\" in text:
        text = _PYTHON_ESCAPES.sub(_json_escape, text)
        text = _ESCAPED_LINE_END.sub(" ", _MARKDOWN_ESCAPE.sub("", text))
    words = _WORD.findall(text)
    return (
        words
        if _JSON_LITERALS.keys().isdisjoint(words)
        else [_JSON_LITERALS.get(word, word) for word in words]
    )


def _may_change_words(text: str, fixes: list[TextEdit]) -> bool:
    """Whether edits may change a word, or join two: one sign for another, or one more, does not."""
    if "#" in text or "//" in text:  # what was a comment may be none afterwards
        return True
    return any(new not in _SIGNS or text[start:end] not in _REPLACED for start, end, new, _ in fixes)


_SIGNS = frozenset("\"'[](){},")
_REPLACED = _SIGNS | {""}


# ---------------------------------------------------------------- the steps
def _repair_newlines(text: str) -> list[TextEdit]:
    """Line ends, tabs and quotes written with a backslash, in a text that has none of its own."""
    if text.count("\\n") <= text.count("\n"):
        return []
    fixes = _unescape(text)
    end = len(text.rstrip())
    if text[:end].endswith('\\n"') and len(re.findall(r'(?<!\\)"', text)) % 2:  # the end of a quoted text
        fixes.append(TextEdit(end - 1, end, "", "escaped_newline"))
    return fixes


def _unescape(text: str) -> list[TextEdit]:
    """What makes a text of its JSON encoding; where no quote was encoded, a backslash stands for itself."""
    encoded = '\\"' in text
    signs = {"n": "\n", "t": "\t"}
    return [
        TextEdit(m.start(), m.end(), signs.get(m[1], m[1]), "escaped_newline")
        for m in _ESCAPED_SIGN.finditer(text)
        if encoded or m[1] != "\\"
    ]


def decode_once(view: TextView) -> RepairedText | None:
    r"""A text that was encoded as JSON, without its quotes, as it was before; None of any other.

    >>> decode_once(TextView(r'{\n  \"name\": \"f\"}')).view.text
    '{\n  "name": "f"}'
    """
    if '\\"' not in view.text or _ESCAPED_TEXT.fullmatch(view.text) is None:
        return None
    return unescape(view)


TEXT_ESCAPE = lazy_pattern(r"\\[nu\"]")


def unescape(view: TextView) -> RepairedText | None:
    """A text with line ends, quotes or codes escaped, as it is without escapes; None of any other."""
    return _apply(view, unescaping_edits(view.text), ()) if TEXT_ESCAPE.search(view.text) else None


def _repair_markdown(text: str) -> list[TextEdit]:
    return [TextEdit(m.start(), m.end(), "", "markdown_escape") for m in _MARKDOWN_ESCAPE.finditer(text)]


def repair_appbench_quotes(view: TextView) -> RepairedText | None:
    """A text of AppBench's lines with its values in single quotes; None where all are.

    Args:
        view: The plan's text.

    >>> repair_appbench_quotes(TextView('f(#x="Rome", #y=a)')).view.text
    "f(#x='Rome', #y=a)"
    """
    fixes = []
    for match in _DOUBLE_QUOTED.finditer(view.text):
        fixes += [
            TextEdit(position, position + 1, "'", "quotes") for position in (match.start(1), match.end(2))
        ]
        inner = _QUOTES_TO_ESCAPE.finditer(view.text, match.start(2), match.end(2))
        fixes += [TextEdit(m.start(), m.end(), '"' if m[1] else "\\'", "quotes") for m in inner]
    return _apply(view, sorted(fixes, key=lambda fix: fix.start), ())


def _repair_quoted_names(text: str) -> list[TextEdit]:
    if "'(" not in text and '"(' not in text:
        return []
    return [TextEdit(m.start(), m.end(), m[2], "quotes") for m in _NAME_QUOTES.finditer(text)]


def _repair_quoted_calls(text: str) -> list[TextEdit]:
    """The quotes around each call of a list; those inside the calls are the same, so that none closes."""
    first = QUOTED_CALL.match(text)
    if first is None:
        return []
    positions = [first.start(1)]
    for match in _CALL_QUOTES.finditer(text, first.end()):
        positions += [match.start(1), match.start(2)]
    last = _LAST_QUOTE.search(text, first.end())
    positions += [last.start(1)] if last else []
    return [TextEdit(position, position + 1, "", "quotes") for position in positions]


def _repair_loose_json(text: str) -> list[TextEdit]:
    """What differs from JSON in a text that is otherwise JSON: objects, alone or in lists."""
    if not re.match(r"[\[\s(]*+\{\s*+[\"'“A-Za-z}]", text):
        return []
    fixes: list[TextEdit] = []
    for match in find_matches(_LOOSE_JSON_TOKENS, text):
        kind, (start, end) = match.lastgroup, match.span()
        if kind == "text":
            fixes += _repair_control_characters(match.group(), start)
        elif kind in ("single", "curly"):
            fixes += _repair_quotes(match.group(), start)
        elif kind == "missing_comma":
            fixes.append(TextEdit(end, end, ",", kind))
        elif kind != "sound":
            quoted = kind in ("unquoted_reference", "unquoted_key")
            new = f'"{match.group()}"' if quoted else _JSON_LITERALS.get(match.group(), "")
            fixes.append(TextEdit(start, end, new, str(kind)))
    return fixes


def _repair_control_characters(text: str, offset: int) -> list[TextEdit]:
    fixes = [
        TextEdit(offset + m.start(), offset + m.end(), _CONTROL_ESCAPES[m.group()], "control_character")
        for m in (() if text.isprintable() else _CONTROL.finditer(text))
    ]
    for match in _ESCAPES.finditer(text) if "\\" in text else ():
        start, end = offset + match.start(), offset + match.end()
        if match["code"]:
            fixes.append(TextEdit(start, end, _json_escape(match), "quotes"))
        elif match["mark"] == "'":
            fixes.append(TextEdit(start, start + 1, "", "quotes"))
    return sorted(fixes, key=lambda fix: fix.start)


def _json_escape(match: re.Match[str]) -> str:
    """What Python's repr writes as a code, as JSON writes it."""
    return json.dumps(chr(int(match["code"], 16)))[1:-1]


def _repair_quotes(text: str, offset: int) -> list[TextEdit]:
    """A text in other quotes as a JSON text."""
    fixes = [TextEdit(offset, offset + 1, '"', "quotes")]
    for match in _ESCAPES.finditer(text, 1, len(text) - 1):
        start, end = offset + match.start(), offset + match.end()
        mark = match.group()
        if mark == '"':
            fixes.append(TextEdit(start, end, '\\"', "quotes"))
        elif mark in "\n\t":
            fixes.append(TextEdit(start, end, "\\n" if mark == "\n" else "\\t", "control_character"))
        elif match["code"]:
            fixes.append(TextEdit(start, end, _json_escape(match), "quotes"))
        elif match["mark"] == "'":
            fixes.append(TextEdit(start, end, "'", "quotes"))
        elif match["mark"] not in '"\\/bfnrtu':
            fixes.append(TextEdit(start, start, "\\", "quotes"))
    fixes.append(TextEdit(offset + len(text) - 1, offset + len(text), '"', "quotes"))
    return fixes


_ENCODED_JSON_TOKENS = (
    Branch("object", rf"(?=\"\s*+\{{\s*+(?:\\\"|'|[A-Za-z_])){JSON_STRING.regex}", '"'),
    JSON_STRING,
)


_COMMA_GAP = lazy_pattern(
    r"[\"')\]}\del](?=[\s\"'])(?:(?<![el])|(?<=\bTrue)|(?<=\bFalse)|(?<=\bNone)|(?<=\btrue)|(?<=\bfalse)"
    r"|(?<=\bnull))"
    r"(?:(?P<argument>\s++)(?=[^\W\d][\w\-.]*+\s*+=(?!=))|(?P<key>\s*+)(?=([\"'])[^\"'\\\n]*+\3\s*+:))"
)
"""What stands between a value and the next argument's name, or an object's next key."""


def _repair_commas(text: str) -> list[TextEdit]:
    """The commas that are missing between the arguments of a call, or between the items of an object."""
    gaps = list(_COMMA_GAP.finditer(text))
    if not gaps:
        return []
    fixes: list[TextEdit] = []
    waiting = [""]
    last = i = 0
    for match in tokens(text, 0, len(text)):
        while i < len(gaps) and gaps[i].end() <= match.start():
            kind = gaps[i].lastgroup if gaps[i]["key"] is None else "key"
            start = gaps[i].start(kind or 0)
            if start >= last and waiting[-1] == ("{" if kind == "key" else "("):
                fixes.append(TextEdit(start, start, ",", "missing_comma"))
            i += 1
        if match.lastgroup == "quote":  # where a text ends is a guess
            return []
        if match.lastgroup == "open":
            waiting.append(match.group())
        elif match.lastgroup == "close" and len(waiting) > 1:
            waiting.pop()
        last = match.end()
    return fixes


def _repair_encoded_json(text: str) -> list[TextEdit]:
    r"""Quoted texts that hold arguments, mended inside: ``"{\"a\": None}"``."""
    fixes: list[TextEdit] = []
    for match in find_matches(_ENCODED_JSON_TOKENS, text) if '"{' in text else ():
        content = parse_json(match.group()) if match.lastgroup == "object" else None
        if not isinstance(content, str) or parse_json(content) is not None:
            continue
        for mended, notes in repairs(TextView(content)):
            if isinstance(parse_json(mended.text), dict):
                new = json.dumps(mended.text, ensure_ascii=text.isascii())
                first, *other_names = dict.fromkeys(note.code.removeprefix("repair.") for note in notes)
                fixes.append(TextEdit(*match.span(), new, first))
                fixes += [TextEdit(match.end(), match.end(), "", name) for name in other_names]
                break
    return fixes


def parse_json(text: str) -> Any:
    """The value of a text that is one JSON value; None of any other."""
    try:
        return decode_whole(text)
    except (ValueError, RecursionError):
        return None


@remembered(20_000)
def is_json(text: str) -> bool:
    """Whether a text is one JSON value, in which no sign is missing or too many; only texts in it may be."""
    try:
        decode_whole(text)
    except (ValueError, RecursionError):
        return False
    return True


_QUOTED_ASSIGNMENT = lazy_pattern(r"\w\s*+=\s*+'(?=.)", re.S)


def _repair_brackets(text: str) -> list[TextEdit]:
    """The one bracket that is missing or too many; nothing when more than one place is broken."""
    waiting: list[tuple[int, str]] = []
    fixes: list[TextEdit] = []
    emptied: int | None = None
    last = 0
    for match in tokens(text, 0, len(text), levels=1):
        kind, position, mark = match.lastgroup, match.start(), text[match.start()]
        if kind == "quote" or (kind == "text" and mark == "'" and _QUOTED_ASSIGNMENT.search(match.group())):
            return []  # where a text ends is a guess, and so is which bracket is missing
        if kind in ("open", "whole"):
            comma = (
                text.rfind(",", last, position) if mark == "{" and waiting and waiting[-1][1] == "{" else -1
            )
            if comma >= 0 and not text[comma + 1 : position].strip():
                fixes.append(TextEdit(comma, comma, "}", "missing_bracket"))
                waiting.pop()
            if kind == "open":
                waiting.append((position, mark))
            elif mark == "[" and not waiting and emptied is None:
                emptied = match.end() - 1
        elif kind == "close":
            if waiting and BRACKET_PAIRS[waiting[-1][1]] == mark:
                waiting.pop()
            else:
                fixes += _repair_closing_bracket(waiting, position, mark, emptied)
            if not waiting and emptied is None and mark == "]":
                emptied = position
        last = match.end()
        if len(fixes) > 1:
            return []
    if waiting:
        fixes += _repair_unclosed_list(text, waiting, last)
    return fixes if len(fixes) == 1 else []


def _repair_closing_bracket(
    waiting: list[tuple[int, str]], position: int, mark: str, emptied: int | None
) -> list[TextEdit]:
    if len(waiting) > 1 and BRACKET_PAIRS[waiting[-2][1]] == mark:
        _, opened = waiting.pop()
        waiting.pop()
        return [TextEdit(position, position, BRACKET_PAIRS[opened], "missing_bracket")]
    if not waiting and mark == "]" and emptied is not None:
        return [TextEdit(emptied, emptied + 1, "", "missing_bracket")]
    return [TextEdit(position, position + 1, "", "missing_bracket")]


def _repair_unclosed_list(text: str, waiting: list[tuple[int, str]], last: int) -> list[TextEdit]:
    """What closes a list that ends after a whole call; nothing for a text that ends inside or before one."""
    end = len(text.rstrip())
    match waiting:
        case [(start, "[")] if text[start:end] != "[" and not text[last:end].strip():
            return [TextEdit(end, end, "]", "missing_bracket")]
    return []


_REPAIR_STEPS = (
    (_repair_markdown, False),
    (_repair_quoted_names, False),
    (_repair_quoted_calls, False),
    (_repair_commas, True),
    (_repair_loose_json, True),
    (_repair_encoded_json, False),
    (_repair_brackets, True),
)
"""What each finds to mend, and whether it finds nothing in JSON, whose signs it looks at one by one."""
