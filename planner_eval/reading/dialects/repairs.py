"""Small named repairs of broken plans, tried only after strict reading failed.

Every repair adds or drops punctuation, never a word: the words and dollar signs of the text before
and after are compared, and a repair that would lose or invent one is refused. A text that ends inside
a call is not completed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from planner_eval.base.json_text import whole
from planner_eval.base.lazy_regex import later
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import TEXT, Branch, matches
from planner_eval.plan.model import Diagnostic
from planner_eval.reading.dialects.finding.brackets import PAIRS, tokens
from planner_eval.reading.dialects.finding.edited_text import Edit, View


class Fix(NamedTuple):
    """One named edit."""

    name: str
    edit: Edit


MEANINGS = {
    "quotes": "single or typographic quotes where the notation wants others, or quotes around a called name",
    "python_literals": "True, False or None in JSON",
    "trailing_comma": "a comma before a closing bracket",
    "missing_comma": "no comma between two calls",
    "missing_bracket": "a bracket without its partner",
    "markdown_escape": "a backslash before a sign that Markdown escapes",
    "escaped_newline": "line ends and quotes written with a backslash",
    "unquoted_reference": "a $reference$ without quotes",
    "unquoted_key": "a key without quotes",
    "control_character": "a line end inside a quoted text",
    "comment": "a comment in JSON",
    "cut_off": "the text ends inside a call; the whole calls before it are kept",
}
"""What each repair mends; diagnostics carry the name as ``repair.<name>``."""

_SOUND = r'"[^"\\\n\t\r]*+"'
_LOOSE = (
    Branch(  # JSON in which nothing differs
        "sound",
        rf"{_SOUND}(?:{_SOUND}|[^\w\"'“”$,}}/#]++|,(?!\s*+[\]}}])|\}}(?!\s*+\{{)"
        r"|(?<!\w)(?!(?:True|False|None)\b)\w++(?!\s*+:))*+",
    ),
    TEXT,
    Branch("single", r"'(?:[^'\\]++|\\.|'(?!\s*+(?:[,)\]}:]|\Z)))*+'", "'"),
    Branch("curly", r"[“”](?:[^“”\\]++|\\.)*+[“”]", "“”"),
    Branch("reference", r"""\$[A-Za-z_]\w*+(?:\.[^\s$.,\[\]{}"']++|\[\d++\])*+\$"""),
    Branch("word", r"\b(?:True|False|None)\b"),
    Branch("trailing", r",(?=\s*+[\]}])"),
    Branch("key", r"(?<!\w)[A-Za-z_]\w*+(?=\s*+:)"),
    Branch("comment", r"//[^\n]*+|\#[^\n]*+"),
    Branch("gap", r"\}(?=\s*+\{)"),
)
_ESCAPES = later(r"\\(.)|\"|\n|\t", re.S)
_CONTROL = later(r"[\n\t\r]")
_MARKS = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_MARKDOWN = later(r"\\(?=[_*\[\]#~<>])")
_NAME_QUOTES = later(r"(['\"])([^\W\d][\w.\-]*+)\1(?=\()")
QUOTED_CALL = later(r"\s*+\[\s*+(['\"])(?=[^\W\d][\w.\-]*+\()")
"""A list whose first item is a call in quotes."""
_CALL_QUOTES = later(r"\)\s*+(['\"])\s*+,\s*+(['\"])(?=[^\W\d][\w.\-]*+\()")
_LAST_QUOTE = later(r"\)\s*+(['\"])(?=\s*+\]\s*+\Z)")
_END = r"\s*+(?:[,)\]]|#\w++\s*+=|\Z)"
_DOUBLE_QUOTED = later(
    rf'#\w++\s*+=\s*+(")((?:[^"\\]++|\\.|"(?!{_END}))*+)"(?={_END})',
)
_CLOSING_LIKE = later(rf"(\\\")|(?<!\\)'(?={_END})")
"""What is written otherwise between single quotes: an escaped double quote, and what looks like an end."""
_NEWLINES = later(r"(?<!\\\\)\\(?:\\\\)*+(?:(n)|(\")|(t))")


class Repaired(NamedTuple):
    """A mended text, and a note for each edit."""

    view: View
    notes: tuple[Diagnostic, ...]


def repairs(view: View) -> Iterator[Repaired]:
    """Repaired readings of a broken plan, the least mended first.

    Args:
        view: The plan's text.

    Yields:
        A repaired text and one note for each edit; the caller reads it strictly.

    >>> [(v.text, [n.code for n in notes]) for v, notes in repairs(View("[f(a=1), g(b=2)"))]
    [('[f(a=1), g(b=2)]', ['repair.missing_bracket'])]
    """
    starts = [Repaired(view, ())]
    if "\\n" in view.text or '\\"' in view.text:
        newlines = _apply(view, _newlines(view.text), ())
        if newlines is not None:
            starts.append(newlines)
    for start, start_notes in starts:
        if start_notes:
            yield Repaired(start, start_notes)
        current, notes = start, start_notes
        words: list[str] | None = None
        sound: bool | None = None
        for step in _STEPS:
            if step in _OF_BROKEN:
                sound = _is_json(current.text) if sound is None else sound
                if sound:
                    continue
            changed = _apply(current, step(current.text), notes)
            if changed is None:
                continue
            words = _words(current.text) if words is None else words
            if words != (after := _words(changed.view.text)):
                continue
            current, notes = changed
            words, sound = after, None
            yield Repaired(current, notes)


def _apply(view: View, fixes: list[Fix], notes: tuple[Diagnostic, ...]) -> Repaired | None:
    if not fixes:
        return None
    edits_by_name: dict[str, list[Edit]] = {}
    for fix in fixes:
        edits_by_name.setdefault(fix.name, []).append(fix.edit)
    new_notes = tuple(
        Diagnostic(
            f"repair.{name}",
            f"repaired: {MEANINGS[name]}" + (f", in {len(edits)} places" if len(edits) > 1 else ""),
            "warning",
            None,
            None,
            view.span((edits[0].start, max(edits[0].end, edits[0].start + 1))),
        )
        for name, edits in edits_by_name.items()
    )
    return Repaired(view.edit(fix.edit for fix in fixes), (*notes, *new_notes))


_SAME = {"True": "true", "False": "false", "None": "null"}


_COMMENT = later(r"(?m)(?:^|(?<=[\s,{\[]))(?://|#)[^\n]*$")
_LINE_END = later(r"\\[nt]")
_WORD = later(r"\w+|\$")


def _words(text: str) -> list[str]:
    """The words and dollar signs of a text in order, which no repair may change."""
    if "#" in text or "//" in text:
        text = _COMMENT.sub("", text)
    if "\\" in text:
        text = _LINE_END.sub(" ", _MARKDOWN.sub("", text))
    words = _WORD.findall(text)
    return words if _SAME.keys().isdisjoint(words) else [_SAME.get(word, word) for word in words]


# ---------------------------------------------------------------- the steps
def _newlines(text: str) -> list[Fix]:
    """Line ends, tabs and quotes written with a backslash, in a text that has none of its own."""
    if text.count("\\n") <= text.count("\n"):
        return []
    fixes = [
        Fix("escaped_newline", Edit(m.start(), m.end(), "\n" if m[1] else '"' if m[2] else "\t"))
        for m in _NEWLINES.finditer(text)
    ]
    end = len(text.rstrip())
    if text[:end].endswith('\\n"') and len(re.findall(r'(?<!\\)"', text)) % 2:  # the end of a quoted text
        fixes.append(Fix("escaped_newline", Edit(end - 1, end, "")))
    return fixes


def _markdown(text: str) -> list[Fix]:
    return [Fix("markdown_escape", Edit(m.start(), m.end(), "")) for m in _MARKDOWN.finditer(text)]


def requoted(view: View) -> Repaired | None:
    """A text of AppBench's lines with its values in single quotes; None where all are.

    Args:
        view: The plan's text.

    >>> requoted(View('f(#x="Rome", #y=a)')).view.text
    "f(#x='Rome', #y=a)"
    """
    fixes = []
    for match in _DOUBLE_QUOTED.finditer(view.text):
        fixes += [
            Fix("quotes", Edit(position, position + 1, "'")) for position in (match.start(1), match.end(2))
        ]
        inner = _CLOSING_LIKE.finditer(view.text, match.start(2), match.end(2))
        fixes += [Fix("quotes", Edit(m.start(), m.end(), '"' if m[1] else "\\'")) for m in inner]
    return _apply(view, sorted(fixes, key=lambda fix: fix.edit.start), ())


def _quoted_names(text: str) -> list[Fix]:
    return [Fix("quotes", Edit(m.start(), m.end(), m[2])) for m in _NAME_QUOTES.finditer(text)]


def _quoted_calls(text: str) -> list[Fix]:
    """The quotes around each call of a list; those inside the calls are the same, so that none closes."""
    first = QUOTED_CALL.match(text)
    if first is None:
        return []
    positions = [first.start(1)]
    for match in _CALL_QUOTES.finditer(text, first.end()):
        positions += [match.start(1), match.start(2)]
    last = _LAST_QUOTE.search(text, first.end())
    positions += [last.start(1)] if last else []
    return [Fix("quotes", Edit(position, position + 1, "")) for position in positions]


def _loose_json(text: str) -> list[Fix]:
    """What differs from JSON in a text that is otherwise JSON: objects, alone or in lists."""
    if not re.match(r"[\[\s(]*+\{\s*+[\"'“A-Za-z}]", text):
        return []
    fixes: list[Fix] = []
    for match in matches(_LOOSE, text):
        kind, (start, end) = match.lastgroup, match.span()
        if kind == "sound":
            continue
        if kind == "text":
            fixes += _controls(match.group(), start)
        elif kind in ("single", "curly"):
            fixes += _requoted(match.group(), start)
        elif kind == "word":
            fixes.append(Fix("python_literals", Edit(start, end, _SAME[match.group()])))
        elif kind == "trailing":
            fixes.append(Fix("trailing_comma", Edit(start, end, "")))
        elif kind == "reference":
            fixes.append(Fix("unquoted_reference", Edit(start, end, f'"{match.group()}"')))
        elif kind == "key":
            fixes.append(Fix("unquoted_key", Edit(start, end, f'"{match.group()}"')))
        elif kind == "comment":
            fixes.append(Fix("comment", Edit(start, end, "")))
        elif kind == "gap":
            fixes.append(Fix("missing_comma", Edit(end, end, ",")))
    return fixes


def _controls(text: str, offset: int) -> list[Fix]:
    fixes = [
        Fix("control_character", Edit(offset + m.start(), offset + m.end(), _MARKS[m.group()]))
        for m in (() if text.isprintable() else _CONTROL.finditer(text))
    ]
    if "\\'" not in text:
        return fixes
    for match in _ESCAPES.finditer(text):
        if match[1] == "'":
            fixes.append(Fix("quotes", Edit(offset + match.start(), offset + match.start() + 1, "")))
    return sorted(fixes, key=lambda fix: fix.edit.start)


def _requoted(text: str, offset: int) -> list[Fix]:
    """A text in other quotes as a JSON text."""
    fixes = [Fix("quotes", Edit(offset, offset + 1, '"'))]
    for match in _ESCAPES.finditer(text, 1, len(text) - 1):
        start, end = offset + match.start(), offset + match.end()
        mark = match.group()
        if mark == '"':
            fixes.append(Fix("quotes", Edit(start, end, '\\"')))
        elif mark in "\n\t":
            fixes.append(Fix("control_character", Edit(start, end, "\\n" if mark == "\n" else "\\t")))
        elif match[1] == "'":
            fixes.append(Fix("quotes", Edit(start, end, "'")))
        elif match[1] not in '"\\/bfnrtu':
            fixes.append(Fix("quotes", Edit(start, start, "\\")))
    fixes.append(Fix("quotes", Edit(offset + len(text) - 1, offset + len(text), '"')))
    return fixes


_HELD = later(r"\"\s*+\{\s*+(?:\\\"|'|[A-Za-z_])")


def _encoded(text: str) -> list[Fix]:
    r"""Quoted texts that hold arguments, mended inside: ``"{\"a\": None}"``."""
    fixes: list[Fix] = []
    for match in matches((TEXT,), text) if '"{' in text else ():
        content = _json(match.group()) if _HELD.match(match.group()) else None
        if not isinstance(content, str) or _json(content) is not None:
            continue
        for mended, notes in repairs(View(content)):
            if isinstance(_json(mended.text), dict):
                edit = Edit(*match.span(), json.dumps(mended.text, ensure_ascii=text.isascii()))
                first, *other_names = dict.fromkeys(note.code.removeprefix("repair.") for note in notes)
                fixes.append(Fix(first, edit))
                fixes += [Fix(name, Edit(match.end(), match.end(), "")) for name in other_names]
                break
    return fixes


def _json(text: str) -> Any:
    try:
        return whole(text)
    except (ValueError, RecursionError):
        return None


def _is_json(text: str) -> bool:
    """Whether a text is one JSON value, in which no sign is missing or too many; only texts in it may be."""
    try:
        whole(text)
    except (ValueError, RecursionError):
        return False
    return True


_ASSIGNS = later(r"\w\s*+=\s*+'(?=.)", re.S)


def _brackets(text: str) -> list[Fix]:
    """The one bracket that is missing or too many; nothing when more than one place is broken."""
    waiting: list[tuple[int, str]] = []
    fixes: list[Fix] = []
    emptied: int | None = None
    last = 0
    for match in tokens(text, 0, len(text), levels=1):
        kind, position, mark = match.lastgroup, match.start(), text[match.start()]
        if kind == "quote" or (kind == "text" and mark == "'" and _ASSIGNS.search(match.group())):
            return []  # where a text ends is a guess, and so is which bracket is missing
        if kind in ("open", "whole"):
            comma = (
                text.rfind(",", last, position) if mark == "{" and waiting and waiting[-1][1] == "{" else -1
            )
            if comma >= 0 and not text[comma + 1 : position].strip():
                fixes.append(Fix("missing_bracket", Edit(comma, comma, "}")))
                waiting.pop()
            if kind == "open":
                waiting.append((position, mark))
            elif mark == "[" and not waiting and emptied is None:
                emptied = match.end() - 1
        elif kind == "close":
            if waiting and PAIRS[waiting[-1][1]] == mark:
                waiting.pop()
            else:
                fixes += _closed(waiting, position, mark, emptied)
            if not waiting and emptied is None and mark == "]":
                emptied = position
        last = match.end()
        if len(fixes) > 1:
            return []
    if waiting:
        fixes += _tail(text, waiting, last)
    return fixes if len(fixes) == 1 else []


def _closed(waiting: list[tuple[int, str]], position: int, mark: str, emptied: int | None) -> list[Fix]:
    if len(waiting) > 1 and PAIRS[waiting[-2][1]] == mark:
        _, opened = waiting.pop()
        waiting.pop()
        return [Fix("missing_bracket", Edit(position, position, PAIRS[opened]))]
    if not waiting and mark == "]" and emptied is not None:
        return [Fix("missing_bracket", Edit(emptied, emptied + 1, ""))]
    return [Fix("missing_bracket", Edit(position, position + 1, ""))]


def _tail(text: str, waiting: list[tuple[int, str]], last: int) -> list[Fix]:
    """What closes a list that ends after a whole call; nothing for a text that ends inside or before one."""
    end = len(text.rstrip())
    if len(waiting) != 1 or waiting[0][1] != "[" or text[waiting[0][0] + 1 : end].strip() == "":
        return []
    return [] if text[last:end].strip() else [Fix("missing_bracket", Edit(end, end, "]"))]


_STEPS: tuple[Callable[[str], list[Fix]], ...] = (
    _markdown, _quoted_names, _quoted_calls, _loose_json, _encoded, _brackets,
)  # fmt: skip
_OF_BROKEN = (_loose_json, _brackets)
"""Those that find nothing in a text that is JSON, and look at each sign of it."""
