"""Reading one block of a text, strictly and mended: JSON, programs, fences, lines that hold calls."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

from planner_eval.base.errors import LimitError, ParseError, strip_traceback
from planner_eval.base.json_text import (
    JSON_WHITESPACE,
    LARK_CHARS,
    ObjectSpans,
    check_depth,
    decode,
    is_data_nested_too_deep,
    is_nested_too_deep,
    loads,
    loads_if_json,
)
from planner_eval.base.limits import Limits, check_calls, too_many_calls_error
from planner_eval.base.text import JSON_STRING, Branch, find_matches, lazy_pattern, shorten
from planner_eval.plan.model import Diagnostic, RawCall, RawPlan, Value
from planner_eval.reading import dialects
from planner_eval.reading.dialects.conversations.messages import (
    ARGUMENT_KEYS,
    NAME_KEYS,
    WRAPPER_KEYS,
    find_call_candidates,
    find_name_key,
    is_call,
)
from planner_eval.reading.dialects.conversations.turn_collector import Conversation, read_conversation
from planner_eval.reading.dialects.conversations.turns import (
    ConversationSource,
    ProseReader,
    read_whole_answer,
)
from planner_eval.reading.dialects.detect import ambiguity_error, detect_data, is_schema
from planner_eval.reading.dialects.finding.edited_text import TextView, extent, unescape_view
from planner_eval.reading.dialects.finding.segments import (
    CALL_LIKE,
    NAME,
    TYPE,
    Block,
    LooseCallError,
    NoCalls,
    ReadCalls,
    begins_call,
    calls_in,
    calls_tool,
    dedent_view,
    is_labelled_prose,
    is_plan_like,
    is_signature,
    join_calls,
    locate_error_in_source,
    own_names,
    refuse_loose_json_calls,
    refuse_loose_python_calls,
    segment_starts,
    span_of,
    split_blocks,
)
from planner_eval.reading.dialects.finding.unread_calls import CutError, find_cut_call, open_brackets
from planner_eval.reading.dialects.finding.whole_texts import refuse_too_many_leading_calls
from planner_eval.reading.dialects.notations import appbench_prose, callnavi
from planner_eval.reading.dialects.notations.framed import token_pattern
from planner_eval.reading.dialects.notations.json_calls import arguments_of
from planner_eval.reading.dialects.programs import python_calls
from planner_eval.reading.dialects.programs.program import PieceVariables, shift_names
from planner_eval.reading.dialects.programs.python_ast import follow, parse_syntax
from planner_eval.reading.dialects.programs.python_long import are_expressions, walk
from planner_eval.reading.dialects.programs.values import Unknown
from planner_eval.reading.dialects.repairs import QUOTED_CALL, repairs
from planner_eval.reading.dialects.table import Wrapper

SCRIPT_START = lazy_pattern(r"\s*+(?:(?:const|let|var)\s|await\s++[\w.]++\(|//)")


class LazyJSONError(ParseError):
    """Broken JSON; what is wrong with it is looked for when it is said, for the grammar takes time."""


class LazyParseError(ParseError):
    """An error that is placed when it is asked for: most are dropped, for another piece is read."""

    def __init__(self, tell: Callable[[], ParseError]) -> None:
        Exception.__init__(self)
        self._tell = tell

    @cached_property
    def told(self) -> ParseError:
        """The error itself."""
        return self._tell()

    def __getattr__(self, name: str) -> Any:
        """What is not known yet: all that an error says."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.told, name)


class BlockReader:
    """Reads the pieces of one source.

    Args:
        source: The user's text.
        limits: Bounds on size and nesting.
        repair: Apply repairs where strict reading fails.
        located: Take the places of JSON calls too.
        words: Reads what an assistant says in a conversation that stands in the source.

    Without leave to repair, `parts` says whether a search with it may have gone another way so far. `broken`
    is the last text that turned out to be no JSON, which is not decoded again. `taken` is how many calls were
    read before, in pieces that count; `held` is what their variables hold, but for those of `bound`, which
    no piece was read after yet.
    """

    def __init__(
        self, source: str, limits: Limits, words: ProseReader, *, repair: bool, located: bool
    ) -> None:
        self.source = source
        self.limits = limits
        self.words = words
        self.repair = repair
        self.located = located
        self.defined: set[str] = set()
        self.notes: list[Diagnostic] = []
        self.error: ParseError | None = None
        self.why = ""
        self.parts = False
        self.taken = 0
        self.budget = 8 * len(source) + 1_000_000
        self.broken = ""
        self.held: dict[str, Value | Unknown] = {}
        self.bound: list[PieceVariables] = []
        self.pieces = 0
        self._trees: dict[str, ast.Module | SyntaxError | None] = {}

    # ------------------------------------------------------------ JSON
    def json(self, view: TextView, *, required: bool = False) -> ReadCalls | None:
        """A view that is JSON as a whole; None where it is no JSON, or holds no call.

        Raises:
            ParseError: it is JSON, and something in it is not the call that it should be.
            LimitError: it nests too deeply, or holds too long a number.
        """
        try:
            values = self._values(view.text) if _may_be_json(view.text) else None
        except LimitError as error:
            raise locate_error_in_source(error, view, self.source) from None
        if values is None:
            return None
        read = self.data(values, view)
        if isinstance(read, NoCalls):
            self._refuse_deep(view, deep=is_nested_too_deep(view.text, self.limits))
            self.why = read.why
            return ReadCalls("json", RawPlan(()), read.why, span_of(view)) if required else None
        return read

    def _refuse_deep(self, view: TextView, *, deep: bool) -> None:
        """Refuse what nests too deeply to be looked through for calls."""
        if not deep:
            return
        try:
            check_depth(view.text, self.limits)
        except LimitError as error:
            raise locate_error_in_source(error, view, self.source) from None
        raise LimitError(f"the text nests deeper than {self.limits.depth} levels")  # it is no JSON itself

    def _values(self, text: str) -> list[Any] | None:
        if text.strip(JSON_WHITESPACE) == self.broken:
            return None
        values = loads_if_json(text, self.limits)
        if values is None:
            self.broken = text.strip(JSON_WHITESPACE)
        return values

    def data(self, values: list[Any], view: TextView, *, located: bool = True) -> ReadCalls | NoCalls:
        """The calls of JSON values; `located` where the view is their text, in JSON.

        Raises:
            ParseError: something is not the call that it should be.
        """
        value = values[0] if len(values) == 1 else values
        self._refuse_deep(view, deep=is_data_nested_too_deep(value, self.limits, lists=True))
        empty = _find_no_call_reason(value)
        if empty is not None:
            unclear = ambiguity_error(value) if empty is _SCHEMA_SEGMENT else None
            if unclear is not None:  # where nothing else is a call, it is why nothing was read
                self.error = self.error or locate_error_in_source(unclear, view, self.source)
            return empty
        if isinstance(value, str) or (isinstance(value, list) and all(isinstance(v, str) for v in value)):
            return self.texts([value] if isinstance(value, str) else value, view)
        talk = read_conversation(value)
        if talk is not None:
            return self.talk(talk, view)
        refuse_loose_json_calls(value, view.text)
        located_values = None
        if self.located and located and len(view.text) <= LARK_CHARS:
            from planner_eval.base.json_places import locate_values

            located_values = ObjectSpans(locate_values(view.text))
            value = located_values.values[0] if len(located_values.values) == 1 else located_values.values
        value, notes = find_call_candidates(value)
        if value == []:
            self.notes += notes
            return NoCalls("a list without calls")
        candidate = detect_data(value, view.text)
        reader = dialects.get(candidate.dialect).read_data
        assert reader is not None
        try:
            raw = reader(value, self.limits, located_values)
        except ParseError as error:
            if not error.text:
                error = ParseError(
                    error.reason,
                    text=view.text,
                    offset=_find_quoted_offset(view.text, error),
                    code=error.code,
                )
            raise error from None
        except RecursionError:
            raise LimitError(f"the text nests deeper than {self.limits.depth} levels") from None
        if not raw.calls and raw.answer is None:
            return NoCalls("a message without calls")
        if notes:
            raw = raw._replace(notes=(*raw.notes, *notes))
        return ReadCalls(candidate.dialect, view.place(raw), candidate.reason, span_of(view))

    def talk(self, talk: Conversation, view: TextView) -> ReadCalls | NoCalls:
        """The calls of a conversation or an API's answer that stands in a text, or was mended.

        Raises:
            ParseError: it is no whole answer, or something in it is not the call that it should be.
        """
        self.parts = True
        name, raw = read_whole_answer(
            ConversationSource(talk, view.text), None, None, self.limits, self.words
        )
        if not raw.calls:
            return NoCalls("a message without calls")
        return ReadCalls(name, raw, "a conversation", span_of(view))

    def texts(self, texts: list[str], view: TextView) -> ReadCalls | NoCalls:
        """The calls of quoted texts: calls themselves, or a model's prose with calls in it."""
        raw = python_calls.read_texts(texts, self.limits)
        if raw is not None:
            return ReadCalls("call-texts", raw, "a list of texts that are calls", span_of(view))
        refuse_loose_json_calls(texts, view.text)
        read: list[ReadCalls] = []
        silent: list[str] = []
        for match in find_matches(_QUOTED, view.text):
            before = len(read)
            inner = unescape_view(view.cut(match.start() + 1, match.end() - 1))
            try:
                lines = appbench_prose.find(inner, self.limits)
            except ParseError as error:
                raise locate_error_in_source(error, inner, self.source) from None
            if lines is not None:
                read += lines.runs
                inner = lines.rest

            for block in split_blocks(inner):
                read += self.block(block)
            if len(read) == before and inner.text.strip():
                silent.append(inner.text)
        if not read:
            return NoCalls("a text that calls no tool")
        raw = join_calls(read)
        if silent:
            raw = raw._replace(notes=(*raw.notes, _note_texts_without_calls(silent)))
        return ReadCalls(
            read[0].dialect,
            raw,
            f"{read[0].reason} in a quoted text",
            span_of(view),
            pieces=segment_starts(read),
        )

    # ------------------------------------------------------------ code
    def syntax(self, text: str) -> ast.Module | SyntaxError | None:
        """What :func:`python_ast.parse_syntax` makes of a text; short ones are asked for again and again."""
        if text not in self._trees:
            if len(text) > _MAX_KEPT_TREE_LENGTH or len(self._trees) > _MAX_KEPT_TREES:
                self._trees.clear()  # a tree takes a thousand times the memory of its text
            self._trees[text] = parse_syntax(text)
        return self._trees[text]

    def as_python(self, view: TextView) -> ast.Module | None:
        """The tree of a text that is Python as a whole; None where it is not."""
        words = _TWO_WORDS.match(view.text)
        if words and words[1] not in _KEYWORDS and words[2] not in _KEYWORDS:
            return None  # two names side by side: most prose begins so, and is told without a parser
        tree = self.syntax(dedent_view(view).text)
        return tree if isinstance(tree, ast.Module) else None

    def code(self, view: TextView) -> ReadCalls | NoCalls:
        """A piece that should be calls, in JSON or in Python.

        Raises:
            ParseError: it cannot be read.
        """
        if not view.text.strip():
            return NoCalls("an empty section")
        try:
            mended = self.mended(view, strictly=True)
            self.keep(mended)
            return mended
        except LimitError:
            raise
        except ParseError as error:
            first = strip_traceback(error)
        read = self.block(Block(view, False, "", 0))
        if not read:
            raise first
        return ReadCalls(
            read[0].dialect, join_calls(read), read[0].reason, span_of(view), pieces=segment_starts(read)
        )

    def python(self, view: TextView, *, listed: bool = False) -> ReadCalls | NoCalls:
        """A piece of Python.

        Raises:
            ParseError: it cannot be read, or an argument of a call cannot be known.
        """
        view = dedent_view(view)
        variables: dict[str, Value | Unknown] = {}
        tree = self.syntax(view.text)
        if isinstance(tree, ast.Module):
            texts = python_calls.string_list(tree)
            if texts is not None:
                return self.texts(texts, view)
            refuse_loose_python_calls(tree, view.text)
            script = (
                self._as_script(view)
                if _SCRIPT_OBJECT_ARGUMENT.search(view.text) and _is_script(tree)
                else None
            )
            if script is not None:
                return script
            raw = follow(tree, view.text, self.defined, self.limits, self.taken, self.before(), variables)
            kind = "pythonic" if are_expressions(tree.body) else "code"
        else:
            raw = python_calls.read_calls(
                view.text, self.limits, self.defined, tree, self.before(), variables
            )
            kind = "pythonic"
            quoted = None if raw.calls else QUOTED_CALL.match(view.text)
            if quoted is not None:
                reason = "found a call in quotes that it contains itself: use other quotes around it"
                raise ParseError(reason, text=view.text, offset=quoted.start(1))
        bound = self.numbered(variables)
        if not raw.calls:
            messages = (f"; {note.message}" for note in raw.notes if note.code == "code.function")
            return NoCalls(f"code that calls no tool{next(messages, '')}", bound)
        reason = "Python calls" if kind == "pythonic" else "a Python program"
        pieces = ((bound.piece, 0),) if bound else ()
        return ReadCalls(kind, view.place(raw), reason, span_of(view), bound, pieces)

    def before(self) -> dict[str, Value | Unknown]:
        """What the variables hold of the pieces that were kept so far."""
        for bound in self.bound:
            self.held.update(bound.shared())
        self.bound.clear()
        return self.held

    def numbered(self, variables: dict[str, Value | Unknown]) -> PieceVariables | None:
        """What a piece's own variables hold, under a number of its own; None where it has none."""
        if not variables:
            return None
        self.pieces += 1
        return PieceVariables(self.pieces, variables)

    def keep(self, read: ReadCalls | NoCalls) -> None:
        """Let later pieces see what the variables of a piece hold that counts."""
        if read.bound is not None:
            self.bound.append(read.bound)

    def script(self, view: TextView) -> ReadCalls | NoCalls:
        """A piece of JavaScript or Java.

        Raises:
            ParseError: it calls a tool, and holds more than top-level calls.
        """
        from planner_eval.reading.dialects.programs import javascript

        variables: dict[str, Value | Unknown] = {}
        try:
            raw = javascript.read(view.text, self.limits, self.defined, self.before(), variables)
        except LimitError:
            raise
        except ParseError:
            if calls_tool(view.text, self.defined):
                raise
            return NoCalls("code that calls no tool")
        bound = self.numbered(variables)
        if not raw.calls:
            return NoCalls("code that calls no tool", bound)
        pieces = ((bound.piece, 0),) if bound else ()
        return ReadCalls(
            "openai-programmatic", view.place(raw), "a program of calls", span_of(view), bound, pieces
        )

    # ------------------------------------------------------------ one piece, strictly and mended
    def strict(self, view: TextView) -> ReadCalls | NoCalls:
        """One piece: JSON, else Python.

        Raises:
            Untold: it is broken JSON.
            ParseError: it is neither.
        """
        text = view.text
        if _may_be_json(text):
            values = self._values(text)
            if values is None:
                values = _read_semicolon_values(text)
            if values is not None:
                return self.data(values, view)
            if _OBJECT_START.match(text):
                tree = None if _CALL_FREE_TEXT.fullmatch(text) else self.syntax(text)
                if not isinstance(tree, ast.Module) or _is_data(tree):
                    raise LazyJSONError("the text is not JSON", text=text)
        try:
            return self.python(view)
        except ParseError as error:
            if SCRIPT_START.match(text) or _SCRIPT_OBJECT_ARGUMENT.search(text):
                read = self._as_script(view)
                if read is not None:
                    return read
            raise error from None

    def _as_script(self, view: TextView) -> ReadCalls | None:
        try:
            read = self.script(view)
        except ParseError:
            return None
        return read if isinstance(read, ReadCalls) else None

    def mended(
        self, view: TextView, *, strictly: bool = False, refused: ParseError | None = None
    ) -> ReadCalls | NoCalls:
        """One piece, with repairs where those are wanted and strict reading fails.

        A broken piece that, mended, calls nothing is no plan in either mode.

        Args:
            view: The piece.
            strictly: It is a plan, so that what cannot be read is an error.
            refused: Why :meth:`strict` refuses it, where that is known; it is whole JSON then.

        Raises:
            ParseError: it begins like a plan and cannot be read.
        """
        try:
            if refused is None:
                return self.strict(view)
            first = refused
        except LimitError as error:
            raise locate_error_in_source(error, view, self.source) from None
        except ParseError as error:
            first = strip_traceback(error)
        failed = [(first, view)]
        if not self.repair and begins_call(view.text, self.defined):  # mended or not, it is no prose
            self.parts = True
            late = self._late(failed)
            raise (late if refused is not None else self.cut(view, late)) from None
        tried = self.repair or (len(view.text) <= LARK_CHARS and not _ends_inside_data(view.text))
        self.parts |= not self.repair and len(view.text) > LARK_CHARS
        for repaired, notes in repairs(view) if tried else ():
            try:
                read = self.strict(repaired)
            except ParseError as error:
                if self.repair:
                    failed.append((strip_traceback(error), repaired))
                continue
            if isinstance(read, NoCalls):
                return read
            if not self.repair:
                self.parts = True
                raise self.cut(view, self._late(failed)) from None
            raw = RawPlan(read.raw.calls, read.raw.answer, (*read.raw.notes, *notes))
            return replace(read, raw=raw)
        if not (strictly or isinstance(first, LooseCallError) or is_plan_like(view.text, self.defined)):
            return NoCalls("a text that calls no tool")
        late = self._late(failed)
        raise (late if refused is not None else self.cut(view, late)) from None

    def _late(self, failed: list[tuple[ParseError, TextView]]) -> ParseError:
        """The error of a piece, now where it may be that of a limit, which ends the search."""
        late = not any(isinstance(error, LimitError) for error, _ in failed)
        return LazyParseError(lambda: self._told(failed)) if late else self._told(failed)

    def _told(self, failed: list[tuple[ParseError, TextView]]) -> ParseError:
        """What the furthest reading of a piece stops at, which could not be mended, placed in the source."""
        errors = []
        for error, view in failed:
            deepest = error
            if isinstance(error, LazyJSONError):
                try:
                    loads(view.text, self.limits)
                except ParseError as json_error:
                    deepest = strip_traceback(json_error)
            errors.append(locate_error_in_source(deepest, view, self.source))
        return max(errors, key=lambda e: e.offset)

    def cut(self, view: TextView, error: ParseError) -> ParseError:
        """The error of a piece, said of its end where the piece ends, with the source, inside a call."""
        if isinstance(error, CutError):
            return error
        start = find_cut_call(view.text) if span_of(view)[1] >= len(self.source.rstrip()) else None
        self.parts |= start is not None  # a mended reading may stop further on
        if start is None or error.offset < view.origin(start):
            return error
        return CutError("inside a call", text=self.source, start=view.origin(start))

    def repaired_rows(self, text: str, rows: list[Wrapper]) -> ReadCalls | None:
        """A text of a notation with tokens, mended; None without leave to repair, or in vain."""
        if not self.repair:
            self.parts = True
            return None
        for row in rows:
            if row.shape != "sections":
                continue
            calls: list[RawCall] = []
            notes: list[Diagnostic] = []
            opening = token_pattern(row.open)
            matches = list(opening.finditer(text))
            for i, match in enumerate(matches):
                end = matches[i + 1].start() if i + 1 < len(matches) else len(text)
                close = token_pattern(row.close).search(text, match.end(), end) if row.close else None
                view = TextView(text).cut(match.end(), close.start() if close else end).strip()
                if not view.text or (view.text[:1] not in "[{" and not CALL_LIKE.match(view.text)):
                    continue
                try:
                    read = self.mended(view, strictly=True)
                except ParseError:
                    return None
                if isinstance(read, ReadCalls):
                    calls += shift_names(read.raw.calls, len(calls)) if calls else read.raw.calls
                    notes += read.raw.notes
            if calls:
                return ReadCalls(
                    row.name, RawPlan(tuple(calls), None, tuple(notes)), "its tokens", (0, len(text))
                )
        return None

    # ------------------------------------------------------------ fences

    def _kept(self, read: ReadCalls | NoCalls) -> list[ReadCalls]:
        self.keep(read)
        if isinstance(read, NoCalls):
            self.why = self.why or read.why
            return []
        return [read]

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
            except ParseError:
                if tree is not None and not any(k.keyed for k in calls_in(tree, self.defined)):
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
        for match in _DATA_ASSIGNMENT_START.finditer(view.text):
            if match.start() < end:
                continue
            piece = extent(view.text, match.end())
            end = piece.end
            if not piece.closed or not _ARGUMENTS_KEY.search(view.text, match.end(), end):
                continue
            inside = view.cut(match.end(), end)
            try:
                read += self._kept(self.mended(inside))
            except ParseError:
                if not self.repair and self._mendable(inside):
                    raise
        return read

    def _mendable(self, view: TextView) -> bool:
        mending = BlockReader(self.source, self.limits, self.words, repair=True, located=False)
        try:
            return isinstance(mending.mended(view), ReadCalls)
        except ParseError:
            return False

    def prose(self, block: Block) -> list[ReadCalls]:
        """The calls that stand on lines of their own in some text.

        Raises:
            ParseError: a line begins like a plan and cannot be read.
        """
        view = block.view if block.fenced else _blank_tags(block.view)
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
        programs = (
            "(" in stripped.text and stripped.text[:1] not in "[{" and not LINE_MARKERS.match(stripped.text)
        )
        if programs and not _NAME_ABOVE_OBJECT.match(
            stripped.text
        ):  # which is Python, too, and calls nothing there
            if SCRIPT_START.match(stripped.text, _COMMENTS.match(stripped.text).end()):  # type: ignore[union-attr]
                return self._scripted(stripped)
            tree = self.as_python(stripped)
            if tree is not None and not is_labelled_prose(tree):
                # A name over an object is Python too, and calls nothing as such.
                read = self._program(stripped)
                return read or (list(self._lines(view)) if _NAME_ABOVE_OBJECT.match(stripped.text) else read)
            if _SCRIPT_BLOCK_START.match(stripped.text) and _SCRIPT_CALL.search(stripped.text):
                return self._scripted(stripped)
        return list(self._lines(view)) or self._assigned(view)

    def _yaml(self, view: TextView) -> list[ReadCalls]:
        """The calls of a text of YAML."""
        try:
            return self._kept(self.data([callnavi.yaml_data(view.text, self.limits)], view, located=False))
        except ParseError as error:
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
        position, is_checked = 0, False
        last_bracket = max(text.rfind("("), text.rfind("["), text.rfind("{"))
        while position < len(text):
            position = _BLANK_LINES.match(text, position).end()  # type: ignore[union-attr]
            line_end = text.find("\n", position)
            line_end = len(text) if line_end < 0 else line_end
            start = self._start(text, position, line_end) if position <= last_bracket else None
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
                refuse_too_many_leading_calls(text, self.limits, start, self.defined)
            piece, end = self._piece(view, start, line_end)
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
                following = text.find("\n", position)
                following = len(text) if following < 0 else following
                yield from self._inside(view, position, following)
                position = following + 1

    def _set(self, view: TextView, position: int) -> None:
        """Take what a line says that a variable holds: `1. city = "Rome"`."""
        lead = _LINE_PREFIX.match(view.text, position)
        assignment = _CONSTANT_ASSIGNMENT.match(view.text, lead.end()) if lead else None
        if assignment is not None:
            with suppress(ParseError):
                self.keep(self.python(view.cut(assignment.start(), assignment.end())))

    def _inside(self, view: TextView, position: int, line_end: int) -> Iterator[ReadCalls]:
        """The JSON calls after words of a line."""
        if view.text.find("{", position, line_end) < 0:
            return
        while (match := _INLINE_CALL_START.search(view.text, position, line_end)) and self.budget > 0:
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

    def _start(self, text: str, position: int, line_end: int) -> int | None:
        """Where a plan may start on a line: at its beginning, after a bullet or after a label."""
        lead = _LINE_PREFIX.match(text, position)
        assert lead is not None
        start = min(lead.end(), line_end)
        if _CALL_START.match(text, start) or _NAME_ABOVE_OBJECT.match(text, start):
            return start
        label = _LABEL.match(text, start, line_end)
        if label is None or not _CALL_START.match(text, label.end()):
            quoted = _QUOTED_CALL_START.match(text, start) if label is None else None
            return quoted.end() if quoted else None
        if text[label.end()] in "[{":
            return label.end()
        listed = text[position:start].strip("* \t")  # a list may say what tools do, unless it names results
        return (
            None
            if listed and not (self.held or self.bound or _ASSIGNMENT_START.match(text, label.end()))
            else start
        )

    def _piece(self, view: TextView, start: int, line_end: int) -> tuple[ReadCalls | NoCalls | None, int]:
        text = view.text
        if not _CALL_START.match(text, start) and not _NAME_ABOVE_OBJECT.match(text, start):
            label = _LABEL.match(text, start, line_end)
            start = label.end() if label else start
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
            reason = f"found {joined[1]!r} between calls, expected a list of calls, or a call a line"
            raise ParseError(reason, text=self.source, offset=view.origin(joined.start(1)))
        bracketed = text[start] in "[{"
        if not bracketed and closed and not _LINE_REMAINDER.match(text, end):
            following = text.find("\n", end)
            return None, len(text) if following < 0 else following
        piece = self.mended(view.cut(start, end))
        if (
            isinstance(piece, ReadCalls)
            and not bracketed
            and all(is_signature(c, self.source) for c in piece.raw.calls)
        ):
            return NoCalls("a function's signature"), end
        return piece, end

    def _refuse_set(self, view: TextView, start: int) -> tuple[None, int]:
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
        if is_schema(value) or (is_call(value) and not _are_arguments(match[1], value)):
            return self.mended(view.cut(match.end(), end)), end
        calls = [RawCall(match[1], arguments_of(value, 0, text), span=(match.start(), end))]
        while (further := self._next_named(text, end)) is not None:
            check_calls(len(calls) + 1, self.limits)
            calls.append(further)
            end = further.span[1]  # type: ignore[index]
        raw = view.place(RawPlan(tuple(calls)))
        return ReadCalls(
            "name-json", raw, "a name and its JSON arguments", view.span((match.start(), end))
        ), end

    @staticmethod
    def _next_named(text: str, position: int) -> RawCall | None:
        """The call on the very next lines, which is of the same list and repeats none; None without one."""
        gap = _LINE_END.match(text, position)
        match = _NAME_ABOVE_OBJECT.match(text, gap.end()) if gap else None
        if match is None:
            return None
        try:
            value, end = decode(text, match.end())
        except (ValueError, RecursionError):
            return None
        if is_schema(value) or (is_call(value) and not _are_arguments(match[1], value)):
            return None
        return RawCall(match[1], arguments_of(value, 0, text), span=(match.start(), end))

    def _refuse_glued(self, view: TextView, start: int) -> None:
        """Refuse arguments whose tool's name is glued to the end of a sentence."""
        if view.text[start] != "{":
            return
        glued = _GLUED_TOOL_NAME.search(view.text, max(0, start - 300), start)
        if glued:
            raise ParseError(
                f"found arguments after {glued[1][-40:]!r}; where the tool's name begins would be a guess",
                text=self.source,
                offset=view.origin(glued.start(1)),
            )


# ---------------------------------------------------------------- helpers
_MAX_KEPT_TREES, _MAX_KEPT_TREE_LENGTH = 8, 2_000


def _ends_inside_data(text: str) -> bool:
    """Whether data ends inside two brackets or more: no repair closes so many, and none is worth its time."""
    if _OBJECT_START.match(text) is None or any(sign in text for sign in _REQUOTED_SIGNS):
        return False
    return len(open_brackets(text)) > 1


_REQUOTED_SIGNS = ("'", '\\"', "“", "”", "#", "//")
"""Signs at which a repair may take for quoted, or for a comment, what is neither, or the other way round."""

_TWO_WORDS = re.compile(r"\s*+([A-Za-z]++) ([A-Za-z]++)")
_KEYWORDS = frozenset({*keyword.kwlist, *keyword.softkwlist})
_QUOTED = (JSON_STRING, Branch("single", r"'(?:[^'\\]++|\\.)*+'", "'"))
_OBJECT_START = re.compile(r"[\[\s]*+\{")
_CALL_FREE_TEXT = re.compile(
    r"[^(]*+|(?:[^\"'(#fFtT]++|(?:[Ff]alse|[Tt]rue)\b|\"(?:[^\"\\]++|\\.)*+(?:\"|\Z))*+", re.S
)
"""A text without a bracket of a call, but for those in quotes that hold no code, be it Python or not."""
_SCRIPT_OBJECT_ARGUMENT = lazy_pattern(r"\(\s*\{\s*\w+\s*[:,}]")
_SEMICOLON = re.compile(r"[\s;]*+")


def _read_semicolon_values(text: str) -> list[Any] | None:
    """The JSON values of a text with semicolons between them; None where it is no such text."""
    if ";" not in text:
        return None
    values: list[Any] = []
    position = 0
    while position < len(text):
        try:
            value, position = decode(text, position)
        except (ValueError, RecursionError):
            break
        values.append(value)
        position = _SEMICOLON.match(text, position).end()  # type: ignore[union-attr]
    return values if values and position >= len(text) else None


def _is_script(tree: ast.Module) -> bool:
    """Whether a Python text is JavaScript: a call's one argument has keys that are names, held by nothing."""
    keys = {
        key.id
        for node in walk(tree)
        if isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.args[0], ast.Dict)
        for key in node.args[0].keys
        if isinstance(key, ast.Name)
    }
    stored = (
        node.id for node in walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    return bool(keys) and keys.isdisjoint(stored)


def _is_data(tree: ast.Module) -> bool:
    """Whether a Python text is data: it calls nothing, or an object that should be a call itself does."""
    calling = (node for node in tree.body if any(isinstance(n, ast.Call) for n in walk(node)))
    have_arguments = [_has_arguments(node) for node in calling]
    return not have_arguments or any(have_arguments)


def _has_arguments(node: ast.stmt) -> bool:
    value: ast.expr | None = node.value if isinstance(node, ast.Expr) else None
    items = value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]
    keys = [
        {k.value for k in i.keys if isinstance(k, ast.Constant)} for i in items if isinstance(i, ast.Dict)
    ]
    return any(names & {*NAME_KEYS} and names & {*ARGUMENT_KEYS} for names in keys)


def _find_no_call_reason(value: Any) -> NoCalls | None:
    """Why a value holds no call that could be looked for; None where it may hold one."""
    if isinstance(value, (str, list)) and not value:
        return NoCalls("an empty list or text")
    if value == {}:
        return NoCalls("an empty object")
    if isinstance(value, list) and value.count({}) == len(value):  # of which a look at each takes seconds
        return NoCalls("a message without calls")
    return _SCHEMA_SEGMENT if is_schema(value) else None


_SCHEMA_SEGMENT = NoCalls("a schema of tools or parameters")


def _may_be_json(text: str) -> bool:
    return text.lstrip()[:1] in ("[", "{", '"')


def _find_quoted_offset(text: str, error: ParseError) -> int:
    """Where what an error quotes stands in a text: as a text of its own, else inside one."""
    for quoted in re.findall(r"'([^']+)'", error.reason):
        for quotation in (f'"{quoted}"', quoted.removesuffix("…")):
            offset = text.find(quotation)
            if offset >= 0:
                return offset
    return 0


def _note_texts_without_calls(texts: list[str]) -> Diagnostic:
    """That texts of a list call nothing, although others do: each may be a plan of its own, or words."""
    count = len(texts)
    start = "a text of the list calls" if count == 1 else f"{count:,} texts of the list call"
    samples = ", ".join(repr(shorten(text, 40)) for text in texts[:3])
    return Diagnostic("find.text", f"{start} no tool, although others do: {samples}")


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
_NAME_ABOVE_OBJECT = lazy_pattern(rf"({NAME})(?:<\|\w++\|>\w*+)*+[ \t]*+\r?\n[ \t]*+(?=\{{\s*+[\"'}}])")
_LINE_END = lazy_pattern(r"[ \t]*+\r?\n[ \t]*+")
_TAG = lazy_pattern(
    r"(?:^|(?<=\n)|(?<=>))[ \t]*+<[A-Za-z][\w:.\-]*+(?:[ \t]++[\w:.\-]++=[\"'\w][^<>\n]*+)?+>"
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
    r"(?m)^[ \t]*+(?:(?:const|let|var)\s++)?[^\W\d]\w*+\s*+(?::[\w.\[\], \t]++)?=\s*+(?=[\[{])"
)
_ARGUMENTS_KEY = lazy_pattern(rf"\b(?:{'|'.join(ARGUMENT_KEYS)})[\"']?\s*+:")
_YAML_CALL = lazy_pattern(
    r"(?m)^(?:- )?(?:name|tool|function|tool_name):[ \t]++[\w.\-\"']++[ \t\r]*+\n"
    r"[ \t]*+(?:arguments|parameters|args):(?=[ \t\r]*+(?:\n|\{|\Z))"
)
"""A call in YAML; its first line may be an item of a list."""
_YAML_END = lazy_pattern(
    r"(?m)^(?![ \t\r\n]|- |(?:name|tool|function|tool_name|arguments|parameters|args|id):)(?=.)"
)
_HEADING_WORDS = frozenset({
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
    if any(isinstance(value.get(key), dict) for key in (*ARGUMENT_KEYS, *WRAPPER_KEYS)):
        return False
    own = value.get(find_name_key(value) or "")
    return name.lower() not in _HEADING_WORDS and own != name


def _blank_tags(view: TextView) -> TextView:
    """A text with the tags around calls as white space."""
    if "<" not in view.text:
        return view
    return replace(view, text=_TAG.sub(_blank_tag, view.text))


def _blank_tag(match: re.Match[str]) -> str:
    """White space of a tag's length; what follows one that closes is on a line of its own."""
    size = len(match.group())
    return " " * (size - 1) + "\n" if match.string[match.end() : match.end() + 1] == "<" else " " * size
