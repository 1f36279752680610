"""Reading fences, and the lines of a text that hold calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from planner_eval.base.errors import ParseError, strip_traceback
from planner_eval.base.frozen import replace
from planner_eval.base.json_text import decode, loads
from planner_eval.base.limits import check_calls, too_many_calls_error
from planner_eval.base.text import lazy_pattern, line_end
from planner_eval.plan.model import Diagnostic, RawCall, RawPlan
from planner_eval.reading.dialects.conversations.messages import (
    ARGUMENT_KEYS,
    NAME_KEYS,
    WRAPPER_KEYS,
    find_name_key,
    is_call,
)
from planner_eval.reading.dialects.detect import is_schema
from planner_eval.reading.dialects.finding.cut_texts import CutError, find_cut_call
from planner_eval.reading.dialects.finding.edited_text import TextView, extent
from planner_eval.reading.dialects.finding.pieces import SCRIPT_START, PieceReader
from planner_eval.reading.dialects.finding.segments import (
    NAME,
    TYPE,
    Block,
    NoCalls,
    ReadCalls,
    dedent_view,
    is_labelled_prose,
    is_signature,
    locate_error_in_source,
    names_arguments,
    own_names,
    span_of,
)
from planner_eval.reading.dialects.notations import callnavi
from planner_eval.reading.dialects.notations.json_calls import arguments_of
from planner_eval.reading.dialects.programs.program import EXITS, MUTATING_METHODS
from planner_eval.reading.dialects.programs.syntax import CONDITION_CODE, parse_syntax


class BlockReader(PieceReader):
    """Reads the fences of a source, and the lines of it that hold calls: what of them is a piece."""

    # ------------------------------------------------------------ fences and lines
    def block(self, block: Block) -> list[ReadCalls]:
        """The calls of a fence, or of the text between fences."""
        return self.fence(block) if block.fenced else self.prose(block)

    def fence(self, block: Block) -> list[ReadCalls]:
        """The calls of a fence's inside.

        Raises:
            ParseError: it calls tools and cannot be read.
        """
        view = block.view.strip()
        if not view.text:
            return []
        self.defined |= own_names(view.text)
        if block.label in _SCRIPT_LANGUAGES or (
            block.label not in _PYTHON_LABELS and SCRIPT_START.match(view.text)
        ):
            return self._scripted(view, _SCRIPT_LANGUAGES.get(block.label))
        if view.text[:1] in '[{"':
            return self._kept(self.mended(view))
        if _YAML_CALL.search(view.text) or LINE_MARKERS.match(view.text):
            return self.prose(block)
        tree = self.as_python(view)
        if tree is not None and is_labelled_prose(tree):
            return self.prose(block)
        if tree is not None or block.label in _PYTHON_LABELS:
            try:
                read = self._kept(self.mended(view))
            except ParseError as error:
                own = tree is not None and not names_arguments(tree, self.defined)
                if own and error.code != CONDITION_CODE:
                    return []
                raise
            read = read or self._assigned(view)
            return read or (self.prose(block) if _NAME_ABOVE_OBJECT.match(view.text) else read)
        return self.prose(block)

    def _scripted(self, view: TextView, language: str | None = None) -> list[ReadCalls]:
        """The calls of a fence that says it is a program's, or looks so: JSON calls, else the program's."""
        broken: ParseError | None = None
        if view.text[:1] in "[{":
            try:
                read_json = self.mended(view)
            except ParseError as error:
                broken = strip_traceback(error)
            else:
                if isinstance(read_json, ReadCalls):
                    return [read_json]
        try:
            read = self._kept(self.script(view))
        except ParseError as error:
            if language is None and self.as_python(view) is not None:  # await stands in Python, too
                return self._program(view)
            if language not in (None, "JavaScript"):
                error.reason += f"; of {language} only calls at the top level are read"
            raise broken or self.cut(view, locate_error_in_source(error, view, self.source)) from None
        if language is not None:
            read = [replace(piece, reason=f"a {language} program of calls") for piece in read]
        read = read or self._assigned(view)
        if broken is not None and not read:
            raise broken
        return read

    def _assigned(self, view: TextView) -> list[ReadCalls]:
        """The calls in data that a program only assigns: `data = {"name": …, "arguments": …}`.

        Raises:
            ParseError: such data cannot be read strictly; mended, it holds calls.
        """
        read: list[ReadCalls] = []
        end = 0
        for match in _DATA_ASSIGNMENT_START.finditer(f"\n{view.text}"):
            if match.start() < end:
                continue
            start = match.end() - 1
            piece = extent(view.text, start)
            end = piece.end
            if not piece.closed or not _ARGUMENTS_KEY.search(view.text, start, end):
                continue
            inside = view.cut(start, end)
            try:
                read += self._kept(self.mended(inside))
            except ParseError:
                if not self.repair and self._mendable(inside):
                    raise
        return read

    def _mendable(self, view: TextView) -> bool:
        try:
            return isinstance(self.mending().mended(view), ReadCalls)
        except ParseError:
            return False

    def prose(self, block: Block) -> list[ReadCalls]:
        """The calls that stand on lines of their own in some text.

        Raises:
            ParseError: a line begins like a plan and cannot be read.
        """
        view = block.view
        if not block.fenced and "<" in view.text:  # the tags around calls are none of them
            view = replace(view, text=_TAG.sub(_blank_tag, view.text))
        read: list[ReadCalls] = []
        while "s:" in view.text and (calls := _YAML_CALL.search(view.text)) is not None:
            other = _YAML_CALL.search(view.text, calls.end()) if calls.group()[0] != "-" else None
            end = other.start() if other else len(view.text)
            stop = _YAML_END.search(view.text, calls.end(), end)
            end = stop.start() if stop else end
            read += self._words(view.cut(0, calls.start())) + self._yaml(view.cut(calls.start(), end))
            view = view.cut(end, len(view.text))
        return read + self._words(view)

    def _words(self, view: TextView) -> list[ReadCalls]:
        if not view.text.strip():
            return []
        self.defined |= own_names(view.text)
        stripped = view.strip()
        # A name over an object is Python, too, and calls nothing there.
        if (
            "(" in stripped.text
            and stripped.text[:1] not in "[{"
            and not (LINE_MARKERS.match(stripped.text) or _NAME_ABOVE_OBJECT.match(stripped.text))
        ):
            if SCRIPT_START.match(stripped.text, _COMMENTS.match(stripped.text).end()):  # type: ignore[union-attr]
                return self._scripted(stripped)
            tree = self.as_python(stripped)
            if tree is not None and not is_labelled_prose(tree):
                return self._program(stripped)
            if _SCRIPT_BLOCK_START.match(stripped.text) and _SCRIPT_CALL.search(stripped.text):
                return self._scripted(stripped)
        return self._after_words(view) or list(self._lines(view)) or self._assigned(view)

    def _after_words(self, view: TextView) -> list[ReadCalls]:
        """The calls of a text with a program of which its lines one by one would lose statements."""
        text = view.text
        first = _STATEMENT.search(text) if _CHANGING_STATEMENT.search(f"\n{text}") else None
        if first is None:
            return []
        breaks = [match.start() for match in _LINE_START.finditer(text, first.end())]
        for end in (len(text), *breaks[: -_MAX_LINES_AFTER - 1 : -1]):
            program = view.cut(first.start(), end)
            tree = self.as_python(program)
            if (
                tree is not None
                and not is_labelled_prose(tree)
                and _CHANGING_STATEMENT.search(f"\n{program.text}")
            ):
                before = list(self._lines(view.cut(0, first.start())))
                return before + self._program(program) + self._words(view.cut(end, len(text)))
        return []

    def _yaml(self, view: TextView) -> list[ReadCalls]:
        """The calls of a text of YAML."""
        view = dedent_view(view).strip() if view.text[:1].isspace() else view
        self.notes += map(view.place_note, callnavi.note_octals(view.text))
        try:
            return self._kept(self.data([callnavi.yaml_data(view.text, self.limits)], view, located=False))
        except ParseError as error:
            last = view.text.rstrip().rpartition("\n")[2]
            if ":" not in last and span_of(view)[1] >= len(self.source.rstrip()):
                raise CutError("inside a call", text=self.source, start=view.origin(0)) from None
            raise locate_error_in_source(error, view, self.source) from None

    def _program(self, view: TextView) -> list[ReadCalls]:
        """A text that is Python as a whole; calls of bare names only are signatures."""
        try:
            read_program = self.python(view)
        except ParseError as error:
            raise locate_error_in_source(error, view, self.source) from None
        if isinstance(read_program, ReadCalls) and all(
            is_signature(c, self.source) for c in read_program.raw.calls
        ):
            return []
        return self._kept(read_program) or self._assigned(view)

    def _lines(self, view: TextView) -> Iterator[ReadCalls]:
        text = view.text
        position = 0
        last_bracket = max(text.rfind("("), text.rfind("["), text.rfind("{"))
        while position < len(text):
            position = _BLANK_LINES.match(text, position).end()  # type: ignore[union-attr]
            stop = line_end(text, position)
            start = self._start(text, position, stop) if position <= last_bracket else None
            if start is None:
                if text.find("=", position, stop) >= 0:
                    self._set(view, position)
                yield from self._inside(view, position, stop)
                position = stop + 1
                continue
            if self.budget <= 0:
                self.notes.append(Diagnostic("find.stopped", "the search for calls stopped early", "warning"))
                return
            piece, end = self._piece(view, start)
            if piece is not None:
                self.keep(piece)
            if isinstance(piece, ReadCalls):
                self.taken += len(piece.raw.calls)
                yield piece
            elif piece is not None:
                self.why = self.why or piece.why
            position = max(end, position + 1)
            more = _LIST_CONJUNCTION.match(text, position) if isinstance(piece, ReadCalls) else None
            position = more.end() if more else position
            if (
                more is None
                and position < len(text)
                and text[position - 1] != "\n"
                and text[position : position + 1] != "\n"
            ):
                stop = line_end(text, position)
                yield from self._inside(view, position, stop)
                position = stop + 1

    def _set(self, view: TextView, position: int) -> None:
        """Take what a line says that a variable holds, `1. city = "Rome"`, or how it changes that."""
        lead = _LINE_PREFIX.match(view.text, position)
        start = lead.end() if lead else position
        assignment = _CONSTANT_ASSIGNMENT.match(view.text, start) or _ALTERATION.match(view.text, start)
        if assignment is not None:
            with suppress(ParseError):
                self.keep(self.python(view.cut(assignment.start(), assignment.end())))

    def _inside(self, view: TextView, position: int, stop: int) -> Iterator[ReadCalls]:
        """The JSON calls after words of a line."""
        if view.text.find("{", position, stop) < 0:
            return
        while (match := _INLINE_CALL_START.search(view.text, position, stop)) and self.budget > 0:
            start = view.text.index("{" if match[1] is None else "[", match.start())
            piece = extent(view.text, start)
            self.budget -= piece.end - start
            position = max(piece.end, match.end())
            if not piece.closed and find_cut_call(view.text[start:]) is None:
                continue
            inside = view.cut(start, piece.end)
            if piece.closed and not _ARGUMENTS_KEY.search(inside.text):
                continue
            try:
                yield from self._kept(self.mended(inside))
            except ParseError:
                if not piece.closed or self._mendable(inside):
                    raise

    def _start(self, text: str, position: int, stop: int) -> int | None:
        """Where a plan may start on a line: at its beginning, after a bullet or after a label."""
        lead = _LINE_PREFIX.match(text, position)
        assert lead is not None
        start = min(lead.end(), stop)
        if _CALL_START.match(text, start) or _NAME_ABOVE_OBJECT.match(text, start):
            return start
        label = _LABEL.match(text, start, stop)
        if label is None or not _CALL_START.match(text, label.end()):
            quoted = _QUOTED_CALL_START.match(text, start) if label is None else None
            return quoted.end() if quoted else None
        if text[label.end()] in "[{":
            return label.end()
        listed = text[position:start].strip("* \t")  # a list may say what tools do, unless it names results
        is_named = self.held or self.bound or _ASSIGNMENT_START.match(text, label.end())
        return None if listed and not is_named else label.end()

    def _piece(self, view: TextView, start: int) -> tuple[ReadCalls | NoCalls | None, int]:
        text = view.text
        named = _NAME_ABOVE_OBJECT.match(text, start)
        if named is not None:
            return self._named(view, named)
        self._refuse_glued(view, start)
        if _CALL_SET_START.match(text, start):
            return self._refuse_set(view, start)
        end, closed = self._extent(text, start)
        self.budget -= end - start
        joined = _CALL_OPERATOR.match(text, end) if closed else None
        if joined is not None:
            reason = f"found {joined[1]!r} between calls, expected a list of calls, or one call per line"
            raise ParseError(reason, text=self.source, offset=view.origin(joined.start(1)))
        bracketed = text[start] in "[{"
        if not bracketed and closed and not _LINE_REMAINDER.match(text, end):
            commented = self._commented_end(text, start, end)
            if commented is not None:
                return self.mended(view.cut(start, commented)), commented
            return None, line_end(text, end)
        piece = self.mended(view.cut(start, end))
        if (
            isinstance(piece, ReadCalls)
            and not bracketed
            and all(is_signature(c, self.source) for c in piece.raw.calls)
        ):
            return NoCalls("a function's signature"), end
        return piece, end

    def _commented_end(self, text: str, start: int, end: int) -> int | None:
        """Where a call in Python ends of which a bracket in a comment seemed to be the end."""
        if text.find("#", start, end) < 0:
            return None
        self.budget -= _MAX_COMMENTED_LENGTH
        lines = text[start : start + _MAX_COMMENTED_LENGTH]
        piece = extent(_COMMENT.sub(lambda match: " " * len(match.group()), lines), 0)
        is_call = piece.closed and _LINE_REMAINDER.match(lines, piece.end) is not None
        if not is_call or not isinstance(parse_syntax(lines[: piece.end]), ast.Module):
            return None
        return start + piece.end

    def _refuse_set(self, view: TextView, start: int) -> tuple[None, int]:
        """Refuse calls in braces: as Python they are a set, which has no order."""
        piece = extent(view.text, start)
        tree = parse_syntax(view.text[start : piece.end]) if piece.closed else None
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
            gap = _CALL_SEPARATOR.match(text, end)
            assert gap is not None
            position = gap.end()
            loose = "\n" in gap.group() and gap.group().count("\n") > 1 and not gap.group().strip(" \t\n`")
            if position >= len(text) or loose or not _CALL_START.match(text, position):
                break
        else:
            raise too_many_calls_error(self.limits, self.source)
        stray = _STRAY_BRACKET.match(text, end)
        return (stray.end(), True) if stray else (end, True)

    def _named(self, view: TextView, match: re.Match[str]) -> tuple[ReadCalls | NoCalls | None, int]:
        """A name on its line and JSON arguments on the next."""
        text = view.text
        try:
            value, end = decode(text, match.end())
        except (ValueError, RecursionError):
            end, _ = self._extent(text, match.end())
            if not re.search(r"[_.]|[a-z][A-Z]", match[1]):
                return NoCalls("a text"), end
            try:
                loads(text[match.end() : end], self.limits, "name-json")
            except ParseError as error:
                arguments_view = view.cut(match.end(), end)
                raise self.cut(
                    arguments_view, locate_error_in_source(error, arguments_view, self.source)
                ) from None
            return NoCalls("a text"), end
        if not _are_arguments(match[1], value):
            return self.mended(view.cut(match.end(), end)), end
        calls: list[RawCall] = []
        following: re.Match[str] | None = match
        while following is not None:
            check_calls(len(calls) + 1, self.limits)
            calls.append(RawCall(following[1], arguments_of(value, 0, text), span=(following.start(), end)))
            gap = _LINE_END.match(text, end)
            following = _NAME_ABOVE_OBJECT.match(text, gap.end()) if gap else None
            if following is not None:
                try:
                    value, stop = decode(text, following.end())
                except (ValueError, RecursionError):
                    break
                if not _are_arguments(following[1], value):
                    break
                end = stop
        raw = view.place(RawPlan(tuple(calls)))
        return ReadCalls(
            "name-json", raw, "a name and its JSON arguments", view.span((match.start(), end))
        ), end

    def _refuse_glued(self, view: TextView, start: int) -> None:
        """Refuse arguments whose tool's name is glued to the end of a sentence."""
        if view.text[start] != "{":
            return
        glued = _GLUED_TOOL_NAME.search(view.text, start - 300, start)
        if glued:
            raise ParseError(
                f"found arguments after {glued[1][-40:]!r}; where the tool's name begins would be a guess",
                text=self.source,
                offset=view.origin(glued.start(1)),
            )


# ----------------------------------------------------------------------
# Fences, and the lines of a text that hold calls.
_MARKER = (
    r"(?=[-=*•+–—◦▪‣(\[→➜➤✅✔\dsSaAcCtTpPlL]|[A-Za-z]\)|[ivxIVX]{1,5}[.)]|In \[)"
    r"(?:(?:[-*•+–—◦▪‣→➜➤]|[-=]>|[✅✔]\ufe0f?+|\[[ xX]\]"
    r"|\(?(?:\d{1,3}[.)]|[A-Za-z]\)|[ivxIVX]{1,5}[.)])|\d{1,3}(?:\.\d{1,3}){1,3}[.)]?|In \[\d{1,3}\]:"
    r")[ \t]++"
    r"|(?:\*\*)?(?i:step|action|call|task|phase|stage|line)[ \t]*+#?\d{1,3}[ \t]*+"
    r"(?:[.):\uff1a]|[-–—=]+>?|→)(?:\*\*)?[ \t]*+)"
)
"""What a list, or a count of steps, puts before a line: `1.`, `(1)`, `-`, `ii.`, `Step 2 -`, `In [3]:`."""

LINE_MARKERS = lazy_pattern(rf"(?m)^[ \t>|]*+{_MARKER}(?:{_MARKER})?+")
_LINE_PREFIX = lazy_pattern(
    rf"[ \t>]*+(?:{_MARKER})?+(?:{_MARKER})?+"
    r"(?:(?:First|Second|Third|Fourth|Fifth|Next|Then|Finally|Lastly),[ \t]++)?+(?:\*\*|`(?!`))?+"
)
_QUOTED_CALL_START = lazy_pattern(r"['\"](?=[^\W\d][\w.]*+\(\s*+\w++\s*+=)")
_LABEL = lazy_pattern(r"[#\w][\w \t#*/_\-]{0,60}:[ \t*]*+`?+")
_CALL_START = lazy_pattern(
    rf"\[\s*+(?:[\[{{(\"'\]“]|{NAME}\s*+[(,=])|\{{\s*+[\"'}}“]"
    rf"|(?:[^\W\d]\w*+(?:\s*+,\s*+[^\W\d]\w*+|[ \t]*+:[ \t]*+{TYPE})*+\s*+=\s*+)?"
    rf"(?:await\s++)?{NAME}\((?!\w*+\s*+:(?!\s*+(?:[\"'\[{{]|-?\d)))"
    rf"|(['\"]){NAME}\1\(|\{{\s*+{NAME}\("
)
_ASSIGNMENT_START = lazy_pattern(
    rf"[^\W\d]\w*+(?:\s*+,\s*+[^\W\d]\w*+|[ \t]*+:[ \t]*+{TYPE})*+\s*+=\s*+(?!=)"
)
"""The beginning of an assignment."""

_CONSTANT_ASSIGNMENT = lazy_pattern(
    rf"[^\W\d]\w*+(?:[ \t]*+:[ \t]*+{TYPE})?+[ \t]*+=[ \t]*+(?:\"(?:[^\"\\\n]++|\\.)*+\""
    r"|'(?:[^'\\\n]++|\\.)*+'|-?\d[\d.]*+|True|False|None|[\[{][^()\n]*+(?<=[\]}]))"
    r"(?=[ \t]*+[;,.`]*+[ \t]*+(?:#[^\n]*+)?+\r?(?:\n|\Z))"
)
"""A line that only says what a variable holds."""

_STATEMENT = lazy_pattern(
    rf"(?m)^(?:{NAME}(?:\[[^\n]*?\])*+[ \t]*+(?:[-+*/%|&^<>]{{0,2}}=(?!=)|\()"
    r"|(?:for|while|if|with|try|async|def)\b[^\n]*:[ \t]*+(?:#[^\n]*+)?$|(?:import|from)[ \t]++\w)"
)
"""A line that begins a program."""
_ALTERED = r"[^\W\d]\w*+(?:(?:\.\w++|\[[^\n]*?\])++|[ \t]*+[-+*/%|&^]{1,2})[ \t]*+=(?!=)"
_ALTERATION = lazy_pattern(rf"{_ALTERED}[^\n]*+")
"""A line that changes what a variable holds."""
_CHANGING_STATEMENT = lazy_pattern(
    rf"(?m)\n(?:{_ALTERED}"
    rf"|(?:{'|'.join(map(re.escape, sorted(EXITS)))})\("
    rf"|[^\W\d]\w*+\.(?:{'|'.join(sorted(MUTATING_METHODS))})\("
    r"|(?:for|while|if|with|try)\b[^\n]*:[ \t]*+(?:#[^\n]*+)?$|(?:del|raise)\b)"
)
"""A statement after a line's end that changes a variable, the order or the end of a program; no call."""
_LINE_START = lazy_pattern(r"\n(?=\S)")
_MAX_LINES_AFTER = 5
"""Lines after a program that may be words."""

_NAME_ABOVE_OBJECT = lazy_pattern(rf"({NAME})(?:<\|\w++\|>\w*+)*+[ \t]*+\r?\n[ \t]*+(?=\{{\s*+[\"'}}])")
_LINE_END = lazy_pattern(r"[ \t]*+\r?\n[ \t]*+")
_TAG = lazy_pattern(
    r"<(?<![^\s>]<)[A-Za-z][\w:.\-]*+(?:[ \t]++[\w:.\-]++=[\"'\w][^<>\n]*+)?+>"
    rf"(?=[ \t]*+(?:[\[{{`]|(?:[^\W\d][\w, ]*+(?::[ \t]*+{TYPE})?+[ \t]*+=[ \t]*+)?+(?:await\s++)?+"
    r"[^\W\d][\w.]*+\())"
    r"|</[A-Za-z][\w:.\-]*+>(?=[ \t]*+(?:\r?\n|\Z|<[/A-Za-z]))"
)
"""A tag around calls, on their line: `<answer>[f(a=1)]</answer>`."""

_INLINE_CALL_START = lazy_pattern(
    rf"(?<![\w\[{{:,])[ \t\"'`*(]*+(\[\s*+)?+\{{\s*+[\"'](?:{'|'.join(NAME_KEYS)})[\"']\s*+:\s*+[\"'{{]"
)
"""Where JSON that may be a call begins after words of its line."""

_GLUED_TOOL_NAME = lazy_pattern(
    r"(?:^|[\s])(\S*[\w]\.[A-Za-z]\w*_\w+|\S*[a-z][.!?:][A-Za-z]\w*[_.]\w+)[ \t]*\n[ \t]*\Z"
)
_SCRIPT_BLOCK_START = lazy_pattern(r"(?:if|for|while|switch|try|(?:async\s++)?function)\b[^\n{]*+\{")
_SCRIPT_CALL = lazy_pattern(r"\bawait\s++[\w.]++\(|\b[\w.]++\(\s*+\{\s*+\w++\s*+:")
"""What calls in JavaScript; only calls at the top level are read, and one inside a block is an error."""

_COMMENTS = lazy_pattern(r"(?://[^\n]*+(?:\n\s*+|\Z))*+")
_BLANK_LINES = lazy_pattern(r"(?:[ \t\r]*+\n)*+")
_COMMENT = lazy_pattern(r"(?<=[,(\[{\s])#[^\n]*+")
_MAX_COMMENTED_LENGTH = 2_000
_LINE_REMAINDER = lazy_pattern(r"[ \t]*+[;,.`*'\"\])}]*+[ \t]*+(?:(?:#|//)[^\n]*+)?+(?=\r?\n|\Z)")
_CALL_SEPARATOR = lazy_pattern(r"[ \t`]*+[;,]?+\s*+|[ \t]*+(?:#|//)[^\n]*+\n\s*+")
_CALL_OPERATOR = lazy_pattern(
    r"[ \t`*]*+(&&|\|\||[|&;]?>{1,2}|-+>|=>|[→⇒▶|&])[ \t`*]*+"
    rf"(?=\[?+\s*+{NAME}\((?:\)|\s*+(?:\w++\s*+=(?!=)|[\"'\[{{]|-?\d)))"
)
"""What a shell, an arrow or a pipe puts between two calls: what it means for them would be a guess."""

_LIST_CONJUNCTION = lazy_pattern(r"[ \t`*,]*+\b(?:and(?: then)?|then)\b[ \t`*]*+(?=\[)")
"""What stands between two lists of calls of which both are meant."""

_STRAY_BRACKET = lazy_pattern(r"\s{0,3}+[\])}]")
_CALL_SET_START = lazy_pattern(rf"\{{\s*+{NAME}\(")
_SCRIPT_LANGUAGES = {
    "js": "JavaScript", "javascript": "JavaScript", "jsx": "JavaScript", "ts": "TypeScript",
    "typescript": "TypeScript", "tsx": "TypeScript", "java": "Java", "kotlin": "Kotlin", "csharp": "C#",
    "c#": "C#", "cs": "C#",
}  # fmt: skip
"""Labels of fences whose calls are read as those of a JavaScript program, and the language they name."""

_PYTHON_LABELS = frozenset({"python", "py", "python3", "tool_code"})
_DATA_ASSIGNMENT_START = lazy_pattern(
    r"\n[ \t]*+(?:(?:const|let|var)\s++)?[^\W\d]\w*+\s*+(?::[\w.\[\], \t]++)?=\s*+(?=[\[{])"
)
_ARGUMENTS_KEY = lazy_pattern(rf"\b(?:{'|'.join(ARGUMENT_KEYS)})[\"']?\s*+:")
_YAML_CALL = lazy_pattern(
    r"(?m)^(?:- )?(?:name|tool|function|tool_name):[ \t]++[\w.\-\"']++[ \t\r]*+\n"
    r"[ \t]*+(?:arguments|parameters|args):(?=[ \t\r]*+(?:\n|\{|\Z))"
    r"|^[ \t]*+API:[ \t\r]*+\n\s*+- [ \t]*+[\w.\-\"']++[ \t\r]*+(?=\n\s*+(?:- |parameters:))"
)
"""A call in YAML, whose first line may be an item of a list; or CallNavi's names and parameters."""

_YAML_END = lazy_pattern(
    r"(?m)^(?![ \t\r\n]|- |(?:name|tool|function|tool_name|arguments|parameters|args|id|API):)(?=.)"
)
_HEADING_WORDS = frozenset({
    "json", "output", "answer", "response", "result", "plan", "call", "calls", "function", "tool", "action",
    "text",
})  # fmt: skip


def _are_arguments(name: str, value: Any) -> bool:
    """Whether an object below a name is that tool's arguments, though it may look like a call of its own.

    >>> _are_arguments("get_birthdate", {"name": "Nikola Tesla"})
    True
    >>> _are_arguments("Output", {"name": "f"}), _are_arguments("get", {"name": "f", "arguments": {}})
    (False, False)
    """
    if is_schema(value):
        return False
    if not is_call(value):
        return True
    if any(isinstance(value.get(key), dict) for key in (*ARGUMENT_KEYS, *WRAPPER_KEYS)):
        return False
    own = value.get(find_name_key(value) or "")
    return name.lower() not in _HEADING_WORDS and own != name


def _blank_tag(match: re.Match[str]) -> str:
    """White space of a tag's length; what follows one that closes is on a line of its own."""
    text, start, end = match.string, *match.span()
    line = start
    while line and text[line - 1] in " \t":
        line -= 1
    if text[start + 1] != "/" and line and text[line - 1] not in "\n>":
        return match.group()
    return " " * (end - start - 1) + "\n" if text.startswith("<", end) else " " * (end - start)
