"""Reading fences, and the lines of a text that hold calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from planner_eval.base.errors import ParseError, bare
from planner_eval.base.json_text import decode, loads
from planner_eval.base.lazy_regex import later
from planner_eval.base.limits import check_calls, refuse_calls
from planner_eval.plan.model import Diagnostic, RawCall, RawPlan
from planner_eval.reading.dialects.conversations.messages import (
    ARGUMENT_KEYS,
    NAME_KEYS,
    WRAPPERS,
    is_call,
    key_of_name,
)
from planner_eval.reading.dialects.detect import is_schema
from planner_eval.reading.dialects.finding.blocks import SCRIPT_START, PieceReader
from planner_eval.reading.dialects.finding.brackets import extent
from planner_eval.reading.dialects.finding.call_limit import refuse_many_first
from planner_eval.reading.dialects.finding.edited_text import View
from planner_eval.reading.dialects.finding.segments import (
    NAME,
    TYPE,
    Block,
    Nothing,
    Read,
    calls_in,
    is_labelled,
    is_signature,
    own_names,
    placed,
)
from planner_eval.reading.dialects.finding.truncation import cut_at
from planner_eval.reading.dialects.notations import callnavi
from planner_eval.reading.dialects.notations.json_calls import arguments_of

_MARKER = (
    r"(?=[-=*•+–—◦▪‣(\[→➜➤✅✔\dsSaAcCtTpPlL]|[A-Za-z]\)|[ivxIVX]{1,5}[.)]|In \[)"
    r"(?:(?:[-*•+–—◦▪‣→➜➤]|[-=]>|[✅✔]\ufe0f?+|\[[ xX]\]"
    r"|\(?(?:\d{1,3}[.)]|[A-Za-z]\)|[ivxIVX]{1,5}[.)])|\d{1,3}(?:\.\d{1,3}){1,3}[.)]?|In \[\d{1,3}\]:"
    r")[ \t]++"
    r"|(?:\*\*)?(?i:step|action|call|task|phase|stage|line)[ \t]*+#?\d{1,3}[ \t]*+"
    r"(?:[.):\uff1a]|[-–—=]+>?|→)(?:\*\*)?[ \t]*+)"
)
"""What a list, or a count of steps, puts before a line: `1.`, `(1)`, `-`, `ii.`, `Step 2 -`, `In [3]:`."""
MARKERS = later(rf"(?m)^[ \t>|]*+{_MARKER}(?:{_MARKER})?+")
_LEAD = later(
    rf"[ \t>]*+(?:{_MARKER})?+(?:{_MARKER})?+"
    r"(?:(?:First|Second|Third|Fourth|Fifth|Next|Then|Finally|Lastly),[ \t]++)?+(?:\*\*|`(?!`))?+"
)
_QUOTED = later(r"['\"](?=[^\W\d][\w.]*+\(\s*+\w++\s*+=)")
_LABELLED = later(r"[#\w][\w \t#*/_\-]{0,60}:[ \t*]*+`?+")
_START = later(
    rf"\[\s*+(?:[\[{{(\"'\]“]|{NAME}\s*+[(,=])|\{{\s*+[\"'}}“]"
    rf"|(?:[^\W\d]\w*+(?:\s*+,\s*+[^\W\d]\w*+|[ \t]*+:[ \t]*+{TYPE})*+\s*+=\s*+)?"
    rf"(?:await\s++)?{NAME}\((?!\w*+\s*+:(?!\s*+(?:[\"'\[{{]|-?\d)))"
    rf"|(['\"]){NAME}\1\(|\{{\s*+{NAME}\("
)
_BINDS = later(rf"[^\W\d]\w*+(?:\s*+,\s*+[^\W\d]\w*+|[ \t]*+:[ \t]*+{TYPE})*+\s*+=\s*+(?!=)")
"""The beginning of an assignment."""
_HOLDS = later(
    rf"[^\W\d]\w*+(?:[ \t]*+:[ \t]*+{TYPE})?+[ \t]*+=[ \t]*+(?:\"(?:[^\"\\\n]++|\\.)*+\""
    r"|'(?:[^'\\\n]++|\\.)*+'|-?\d[\d.]*+|True|False|None|[\[{][^()\n]*+(?<=[\]}]))"
    r"(?=[ \t]*+[;,.`]*+[ \t]*+(?:#[^\n]*+)?+\r?(?:\n|\Z))"
)
"""A line that only says what a variable holds."""
_NAMED = later(rf"({NAME})(?:<\|\w++\|>\w*+)*+[ \t]*+\r?\n[ \t]*+(?=\{{\s*+[\"'}}])")
_LINE_END = later(r"[ \t]*+\r?\n[ \t]*+")
_TAG = later(
    r"(?:^|(?<=\n)|(?<=>))[ \t]*+<[A-Za-z][\w:.\-]*+(?:[ \t]++[\w:.\-]++=[\"'\w][^<>\n]*+)?+>"
    rf"(?=[ \t]*+(?:[\[{{`]|(?:[^\W\d][\w, ]*+(?::[ \t]*+{TYPE})?+[ \t]*+=[ \t]*+)?+(?:await\s++)?+"
    r"[^\W\d][\w.]*+\())"
    r"|</[A-Za-z][\w:.\-]*+>(?=[ \t]*+(?:\r?\n|\Z|<[/A-Za-z]))"
)
"""A tag around calls, on their line: `<answer>[f(a=1)]</answer>`."""
_INLINE = later(
    rf"(?<![\w\[{{:,])[ \t\"'`*(]*+(\[\s*+)?+\{{\s*+[\"'](?:{'|'.join(NAME_KEYS)})[\"']\s*+:\s*+[\"'{{]"
)
"""Where JSON that may be a call begins after words of its line."""
_GLUED = later(r"(?:^|[\s])(\S*[\w]\.[A-Za-z]\w*_\w+|\S*[a-z][.!?:][A-Za-z]\w*[_.]\w+)[ \t]*\n[ \t]*\Z")
_BLOCKED = later(r"(?:if|for|while|switch|try|(?:async\s++)?function)\b[^\n{]*+\{")
_AWAITED = later(r"\bawait\s++[\w.]++\(|\b[\w.]++\(\s*+\{\s*+\w++\s*+:")
"""What calls in JavaScript; only calls at the top level are read, and one inside a block is an error."""
_COMMENTS = later(r"(?://[^\n]*+(?:\n\s*+|\Z))*+")
_BLANK_LINES = later(r"(?:[ \t\r]*+\n)*+")
_REST = later(r"[ \t]*+[;,.`*'\"\])}]*+[ \t]*+(?:(?:#|//)[^\n]*+)?+(?=\r?\n|\Z)")
_JOIN = later(r"[ \t`]*+[;,]?+\s*+|[ \t]*+(?:#|//)[^\n]*+\n\s*+")
_JOINED = later(
    r"[ \t`*]*+(&&|\|\||[|&;]?>{1,2}|-+>|=>|[→⇒▶|&])[ \t`*]*+"
    rf"(?=\[?+\s*+{NAME}\((?:\)|\s*+(?:\w++\s*+=(?!=)|[\"'\[{{]|-?\d)))"
)
"""What a shell, an arrow or a pipe puts between two calls: what it means for them would be a guess."""
_AND = later(r"[ \t`*,]*+\b(?:and(?: then)?|then)\b[ \t`*]*+(?=\[)")
"""What stands between two lists of calls of which both are meant."""
_SET = later(rf"\{{\s*+{NAME}\(")
_SCRIPT = {
    "js": "JavaScript", "javascript": "JavaScript", "jsx": "JavaScript", "ts": "TypeScript",
    "typescript": "TypeScript", "tsx": "TypeScript", "java": "Java", "kotlin": "Kotlin", "csharp": "C#",
    "c#": "C#", "cs": "C#",
}  # fmt: skip
"""Labels of fences whose calls are read as those of a JavaScript program, and the language they name."""
_PYTHON = frozenset({"python", "py", "python3", "tool_code"})


_ASSIGNED = later(r"(?m)^[ \t]*+(?:(?:const|let|var)\s++)?[^\W\d]\w*+\s*+(?::[\w.\[\], \t]++)?=\s*+(?=[\[{])")
_ARGUED = later(rf"\b(?:{'|'.join(ARGUMENT_KEYS)})[\"']?\s*+:")
_YAML = later(
    r"(?m)^(?:- )?(?:name|tool|function|tool_name):[ \t]++[\w.\-\"']++[ \t\r]*+\n"
    r"[ \t]*+(?:arguments|parameters|args):(?=[ \t\r]*+(?:\n|\{|\Z))"
)
"""A call in YAML; its first line may be an item of a list."""
_NO_YAML = later(r"(?m)^(?![ \t\r\n]|- |(?:name|tool|function|tool_name|arguments|parameters|args|id):)(?=.)")
_HEADINGS = frozenset({
    "json", "output", "answer", "response", "result", "plan", "call", "calls", "function", "tool", "action",
    "text",
})  # fmt: skip


def _are_arguments(name: str, value: dict[str, Any]) -> bool:
    """Whether an object below a name is that tool's arguments, though it looks like a call of its own.

    >>> _are_arguments("get_birthdate", {"name": "Nikola Tesla"})
    True
    >>> _are_arguments("Output", {"name": "f"}), _are_arguments("get", {"name": "f", "arguments": {}})
    (False, False)
    """
    if any(isinstance(value.get(key), dict) for key in (*ARGUMENT_KEYS, *WRAPPERS)):
        return False
    own = value.get(key_of_name(value) or "")
    return name.lower() not in _HEADINGS and own != name


def _untagged(view: View) -> View:
    """A text with the tags around calls as white space."""
    if "<" not in view.text:
        return view
    return replace(view, text=_TAG.sub(_no_tag, view.text))


def _no_tag(match: re.Match[str]) -> str:
    """White space of a tag's length; what follows one that closes is on a line of its own."""
    size = len(match.group())
    return " " * (size - 1) + "\n" if match.string[match.end() : match.end() + 1] == "<" else " " * size


class Reader(PieceReader):
    """Reads the blocks of one source: what a piece says is read by :class:`PieceReader`."""

    def block(self, block: Block) -> list[Read]:
        """The calls of a fence, or of the text between fences."""
        return self.fence(block) if block.fenced else self.prose(block)

    def fence(self, block: Block) -> list[Read]:
        """The calls of a fence's inside.

        Raises:
            ParseError: it calls tools and cannot be read.
        """
        view = block.view.strip()
        if not view.text:
            return []
        self.defined |= own_names(view.text)
        if block.label in _SCRIPT or (block.label not in _PYTHON and SCRIPT_START.match(view.text)):
            return self._scripted(view, _SCRIPT.get(block.label))
        if view.text[:1] in '[{"':
            return self._kept(self.mended(view))
        if _YAML.search(view.text) or MARKERS.match(view.text):
            return self.prose(block)
        tree = self.as_python(view)
        if tree is not None and is_labelled(tree):
            return self.prose(block)
        if tree is not None or block.label in _PYTHON:
            try:
                read = self._kept(self.mended(view))
            except ParseError:
                if tree is not None and not any(k.keyed for k in calls_in(tree, self.defined)):
                    return []
                raise
            read = read or self._assigned(view)
            return read or (self.prose(block) if _NAMED.match(view.text) else read)
        return self.prose(block)

    def _scripted(self, view: View, language: str | None = None) -> list[Read]:
        """The calls of a fence that says it is a program's, or looks so: JSON calls, else the program's."""
        broken: ParseError | None = None
        if view.text[:1] in "[{":
            try:
                read_json = self.mended(view)
            except ParseError as error:
                broken = bare(error)
            else:
                if isinstance(read_json, Read):
                    return [read_json]
        try:
            read = self._kept(self.script(view))
        except ParseError as error:
            if language not in (None, "JavaScript"):
                error.reason += f"; of {language} only calls at the top level are read"
            raise broken or self.cut(view, placed(error, view, self.source)) from None
        if language is not None:
            read = [replace(piece, reason=f"a {language} program of calls") for piece in read]
        read = read or self._assigned(view)
        if broken is not None and not read:
            raise broken
        return read

    def _assigned(self, view: View) -> list[Read]:
        """The calls in data that a program only assigns: `data = {"name": …, "arguments": …}`.

        Raises:
            ParseError: such data cannot be read strictly; mended, it holds calls.
        """
        read: list[Read] = []
        end = 0
        for match in _ASSIGNED.finditer(view.text):
            if match.start() < end:
                continue
            piece = extent(view.text, match.end())
            end = piece.end
            if not piece.closed or not _ARGUED.search(view.text, match.end(), end):
                continue
            inside = view.cut(match.end(), end)
            try:
                read += self._kept(self.mended(inside))
            except ParseError:
                if not self.repair and self._mendable(inside):
                    raise
        return read

    def _mendable(self, view: View) -> bool:
        mending = Reader(self.source, self.limits, self.words, repair=True, located=False)
        try:
            return isinstance(mending.mended(view), Read)
        except ParseError:
            return False

    def prose(self, block: Block) -> list[Read]:
        """The calls that stand on lines of their own in some text.

        Raises:
            ParseError: a line begins like a plan and cannot be read.
        """
        view = block.view if block.fenced else _untagged(block.view)
        read: list[Read] = []
        while "s:" in view.text and (calls := _YAML.search(view.text)) is not None:
            other = _YAML.search(view.text, calls.end()) if calls.group()[0] != "-" else None
            end = other.start() if other else len(view.text)
            stop = _NO_YAML.search(view.text, calls.end(), end)
            end = stop.start() if stop else end
            read += self._words(view.cut(0, calls.start())) + self._yaml(view.cut(calls.start(), end))
            view = view.cut(end, len(view.text))
        return read + self._words(view)

    def _words(self, view: View) -> list[Read]:
        if not view.text.strip():
            return []
        self.defined |= own_names(view.text)
        stripped = view.strip()
        programs = "(" in stripped.text and stripped.text[:1] not in "[{" and not MARKERS.match(stripped.text)
        if programs and not _NAMED.match(stripped.text):  # which is Python, too, and calls nothing there
            if SCRIPT_START.match(stripped.text, _COMMENTS.match(stripped.text).end()):  # type: ignore[union-attr]
                return self._scripted(stripped)
            tree = self.as_python(stripped)
            if tree is not None and not is_labelled(tree):
                # A name over an object is Python too, and calls nothing as such.
                read = self._program(stripped)
                return read or (list(self._lines(view)) if _NAMED.match(stripped.text) else read)
            if _BLOCKED.match(stripped.text) and _AWAITED.search(stripped.text):
                return self._scripted(stripped)
        return list(self._lines(view)) or self._assigned(view)

    def _yaml(self, view: View) -> list[Read]:
        """The calls of a text of YAML."""
        try:
            return self._kept(self.data([callnavi.yaml_data(view.text, self.limits)], view, located=False))
        except ParseError as error:
            raise placed(error, view, self.source) from None

    def _program(self, view: View) -> list[Read]:
        """A text that is Python as a whole; calls of bare names only are signatures."""
        try:
            read_program = self.python(view)
        except ParseError as error:
            raise placed(error, view, self.source) from None
        if isinstance(read_program, Read) and all(
            is_signature(c, self.source) for c in read_program.raw.calls
        ):
            return []
        return self._kept(read_program) or self._assigned(view)

    def _lines(self, view: View) -> Iterator[Read]:
        text = view.text
        position, is_checked = 0, False
        while position < len(text):
            position = _BLANK_LINES.match(text, position).end()  # type: ignore[union-attr]
            line_end = text.find("\n", position)
            line_end = len(text) if line_end < 0 else line_end
            start = self._start(text, position, line_end)
            if start is None:
                if text.find("=", position, line_end) >= 0:
                    self._set(view, position)
                yield from self._inside(view, position, line_end)
                position = line_end + 1
                continue
            if self.budget <= 0:
                self.notes.append(Diagnostic("find.stopped", "the search for calls stopped early", "warning"))
                return
            if not is_checked:  # at each piece it would go over all that follow
                is_checked = True
                refuse_many_first(text, self.limits, start, self.defined)
            piece, end = self._piece(view, start, line_end)
            if piece is not None:
                self.keep(piece)
            if isinstance(piece, Read):
                self.taken += len(piece.raw.calls)
                yield piece
            elif piece is not None:
                self.why = self.why or piece.why
            position = max(end, position + 1)
            more = _AND.match(text, position) if isinstance(piece, Read) else None
            position = more.end() if more else position
            if (
                more is None
                and position < len(text)
                and text[position - 1] != "\n"
                and text[position : position + 1] != "\n"
            ):
                following = text.find("\n", position)
                following = len(text) if following < 0 else following
                yield from self._inside(view, position, following)
                position = following + 1

    def _set(self, view: View, position: int) -> None:
        """Take what a line says that a variable holds: `1. city = "Rome"`."""
        lead = _LEAD.match(view.text, position)
        assignment = _HOLDS.match(view.text, lead.end()) if lead else None
        if assignment is not None:
            with suppress(ParseError):
                self.keep(self.python(view.cut(assignment.start(), assignment.end())))

    def _inside(self, view: View, position: int, line_end: int) -> Iterator[Read]:
        """The JSON calls after words of a line."""
        if view.text.find("{", position, line_end) < 0:
            return
        while (match := _INLINE.search(view.text, position, line_end)) and self.budget > 0:
            start = view.text.index("{" if match[1] is None else "[", match.start())
            piece = extent(view.text, start)
            self.budget -= piece.end - start
            position = max(piece.end, match.end())
            if not piece.closed and cut_at(view.text[start:]) is None:
                continue
            inside = view.cut(start, piece.end)
            if piece.closed and not _ARGUED.search(inside.text):
                continue
            try:
                yield from self._kept(self.mended(inside))
            except ParseError:
                if not piece.closed or self._mendable(inside):
                    raise

    def _start(self, text: str, position: int, line_end: int) -> int | None:
        """Where a plan may start on a line: at its beginning, after a bullet or after a label."""
        lead = _LEAD.match(text, position)
        assert lead is not None
        start = min(lead.end(), line_end)
        if _START.match(text, start) or _NAMED.match(text, start):
            return start
        label = _LABELLED.match(text, start, line_end)
        if label is None or not _START.match(text, label.end()):
            quoted = _QUOTED.match(text, start) if label is None else None
            return quoted.end() if quoted else None
        if text[label.end()] in "[{":
            return label.end()
        listed = text[position:start].strip("* \t")  # a list may say what tools do, unless it names results
        return None if listed and not (self.held or self.bound or _BINDS.match(text, label.end())) else start

    def _piece(self, view: View, start: int, line_end: int) -> tuple[Read | Nothing | None, int]:
        text = view.text
        if not _START.match(text, start) and not _NAMED.match(text, start):
            label = _LABELLED.match(text, start, line_end)
            start = label.end() if label else start
        named = _NAMED.match(text, start)
        if named is not None:
            return self._named(view, named)
        self._refuse_glued(view, start)
        if _SET.match(text, start):
            return self._refuse_set(view, start)
        end, closed = self._extent(text, start)
        self.budget -= end - start
        joined = _JOINED.match(text, end) if closed else None
        if joined is not None:
            reason = f"found {joined[1]!r} between calls, expected a list of calls, or a call a line"
            raise ParseError(reason, text=self.source, offset=view.origin(joined.start(1)))
        bracketed = text[start] in "[{"
        if not bracketed and closed and not _REST.match(text, end):
            following = text.find("\n", end)
            return None, len(text) if following < 0 else following
        piece = self.mended(view.cut(start, end))
        if (
            isinstance(piece, Read)
            and not bracketed
            and all(is_signature(c, self.source) for c in piece.raw.calls)
        ):
            return Nothing("a function's signature"), end
        return piece, end

    def _refuse_set(self, view: View, start: int) -> tuple[None, int]:
        """Refuse calls in braces: as Python they are a set, which has no order."""
        piece = extent(view.text, start)
        tree = self.syntax(view.text[start : piece.end]) if piece.closed else None
        value = (
            tree.body[0].value
            if isinstance(tree, ast.Module) and isinstance(tree.body[0], ast.Expr)
            else None
        )
        items = value.elts if isinstance(value, ast.Set) else []
        if any(isinstance(item, ast.Call) and (item.keywords or len(items) > 1) for item in items):
            reason = "found a set of calls, which has no order, expected a list: [f(), g()]"
            raise ParseError(reason, text=self.source, offset=view.origin(start))
        return None, piece.end

    def _extent(self, text: str, start: int) -> tuple[int, bool]:
        """How far a plan goes that starts here: over further calls that follow at once.

        Raises:
            LimitError: there are more of them than a plan may have.
        """
        end = position = start
        for _ in range(self.limits.calls):
            piece = extent(text, position)
            if not piece.closed:
                stop = text.find("\n\n", max(piece.end if piece.end < len(text) else position, position))
                return (len(text.rstrip()) if stop < 0 else stop), False
            end = piece.end
            gap = _JOIN.match(text, end)
            assert gap is not None
            position = gap.end()
            loose = "\n" in gap.group() and gap.group().count("\n") > 1 and not gap.group().strip(" \t\n`")
            if position >= len(text) or loose or not _START.match(text, position):
                break
        else:
            raise refuse_calls(self.limits, self.source)
        stray = re.compile(r"\s{0,3}+[\])}]").match(text, end)
        return (stray.end(), True) if stray else (end, True)

    def _named(self, view: View, match: re.Match[str]) -> tuple[Read | Nothing | None, int]:
        """A name on its line and JSON arguments on the next."""
        text = view.text
        try:
            value, end = decode(text, match.end())
        except (ValueError, RecursionError):
            end, _ = self._extent(text, match.end())
            if not re.search(r"[_.]|[a-z][A-Z]", match[1]):
                return Nothing("a text"), end
            try:
                loads(text[match.end() : end], self.limits, "name-json")
            except ParseError as error:
                arguments_view = view.cut(match.end(), end)
                raise self.cut(arguments_view, placed(error, arguments_view, self.source)) from None
            return Nothing("a text"), end
        if is_schema(value) or (is_call(value) and not _are_arguments(match[1], value)):
            return self.mended(view.cut(match.end(), end)), end
        calls = [RawCall(match[1], arguments_of(value, 0, text), span=(match.start(), end))]
        while (further := self._next_named(text, end)) is not None:
            check_calls(len(calls) + 1, self.limits)
            calls.append(further)
            end = further.span[1]  # type: ignore[index]
        raw = view.place(RawPlan(tuple(calls)))
        return Read("name-json", raw, "a name and its JSON arguments", view.span((match.start(), end))), end

    @staticmethod
    def _next_named(text: str, position: int) -> RawCall | None:
        """The call on the very next lines, which is of the same list and repeats none; None without one."""
        gap = _LINE_END.match(text, position)
        match = _NAMED.match(text, gap.end()) if gap else None
        if match is None:
            return None
        try:
            value, end = decode(text, match.end())
        except (ValueError, RecursionError):
            return None
        if is_schema(value) or (is_call(value) and not _are_arguments(match[1], value)):
            return None
        return RawCall(match[1], arguments_of(value, 0, text), span=(match.start(), end))

    def _refuse_glued(self, view: View, start: int) -> None:
        """Refuse arguments whose tool's name is glued to the end of a sentence."""
        if view.text[start] != "{":
            return
        glued = _GLUED.search(view.text, max(0, start - 300), start)
        if glued:
            raise ParseError(
                f"found arguments after {glued[1][-40:]!r}; where the tool's name begins would be a guess",
                text=self.source,
                offset=view.origin(glued.start(1)),
            )
