"""Reading one piece of a text, strictly and mended: JSON, quoted texts, programs."""

from __future__ import annotations

import ast
import itertools
import keyword
import re
from abc import ABC, abstractmethod
from typing import Any, Self

from planner_eval.base.errors import LimitError, ParseError, strip_traceback
from planner_eval.base.frozen import replace
from planner_eval.base.json_text import (
    JSON_WHITESPACE,
    LARK_CHARS,
    ObjectSpans,
    check_depth,
    is_data_nested_too_deep,
    is_nested_too_deep,
    loads,
    loads_if_json,
    unwrap_single,
)
from planner_eval.base.limits import Limits
from planner_eval.base.text import JSON_STRING, Branch, find_matches, lazy_pattern, shorten
from planner_eval.plan.model import Diagnostic, RawPlan, Value
from planner_eval.reading import dialects
from planner_eval.reading.dialects.conversations.messages import (
    JSON_STARTS,
    find_call_candidates,
    is_plain_call,
    part_texts,
)
from planner_eval.reading.dialects.conversations.turns import (
    Conversation,
    ConversationSource,
    ProseReader,
    read_conversation,
    read_whole_answer,
)
from planner_eval.reading.dialects.detect import (
    ambiguity_error,
    detect_data,
    is_schema,
    may_be_other_notation,
)
from planner_eval.reading.dialects.finding.cut_texts import CutError, ends_inside_data, find_cut_call
from planner_eval.reading.dialects.finding.edited_text import TextView, unescape_view
from planner_eval.reading.dialects.finding.segments import (
    OBJECT_START,
    Block,
    LazyJSONError,
    LazyParseError,
    LooseCallError,
    NoCalls,
    ReadCalls,
    begins_call,
    calls_tool,
    dedent_view,
    find_quoted_offset,
    is_data,
    is_plan_like,
    is_script,
    join_pieces,
    locate_error_in_source,
    read_semicolon_values,
    refuse_loose_json_calls,
    refuse_loose_python_calls,
    span_of,
    split_blocks,
)
from planner_eval.reading.dialects.notations import appbench_prose
from planner_eval.reading.dialects.programs import python_calls
from planner_eval.reading.dialects.programs.plain_calls import read_plain_calls
from planner_eval.reading.dialects.programs.program import PieceVariables, Unknown
from planner_eval.reading.dialects.programs.python_ast import follow
from planner_eval.reading.dialects.programs.syntax import CONDITION_CODE, parse_syntax
from planner_eval.reading.dialects.repairs import QUOTED_CALL, repairs

SCRIPT_START = lazy_pattern(r"\s*+(?:(?:const|let|var)\s|await\s++[\w.]++\(|//)")


class PieceReader(ABC):
    """Reads the pieces of one source.

    Args:
        source: The user's text.
        limits: Bounds on size and nesting.
        repair: Apply repairs where strict reading fails.
        located: Take the places of JSON calls too.
        words: Reads what an assistant says in a conversation that stands in the source.

    Without leave to repair, `parts` says whether a search with it may have gone another way so far. `decoded`
    is the last text that was decoded, without white space around it, and its values, if it is JSON. `taken`
    is how many calls were read before, in pieces that count; `held` is what their variables hold, but for
    those of `bound`, which no piece was read after yet.
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
        self.decoded: tuple[str, list[Any] | None] = "", None
        self.held: dict[str, Value | Unknown] = {}
        self.bound: list[PieceVariables] = []
        self.next_number = itertools.count(1).__next__  # for a piece, which no other has
        self.parsed: tuple[str | None, ast.Module | SyntaxError | None] = None, None

    @abstractmethod
    def block(self, block: Block) -> list[ReadCalls]:
        """The calls of a fence, or of the text between fences, as a piece may hold in quotes."""

    def mending(self) -> Self:
        """A reader of the same source that repairs."""
        return type(self)(self.source, self.limits, self.words, repair=True, located=False)

    # ------------------------------------------------------------ JSON
    def json(self, view: TextView) -> ReadCalls | None:
        """A view that may be JSON as a whole; None where it is none.

        Raises:
            ParseError: it is JSON, and something in it is not the call that it should be.
            LimitError: it nests too deeply, or holds too long a number.
        """
        try:
            values = self._values(view.text)
        except LimitError as error:
            raise locate_error_in_source(error, view, self.source) from None
        if values is None:
            return None
        read = self.data(values, view)
        if isinstance(read, ReadCalls):
            return read
        self._refuse_deep(view, deep=is_nested_too_deep(view.text, self.limits))
        self.why = read.why
        return ReadCalls("json", RawPlan(()), read.why, span_of(view))

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
        stripped = text.strip(JSON_WHITESPACE)
        if stripped != self.decoded[0]:
            self.decoded = stripped, loads_if_json(text, self.limits)
        return self.decoded[1]

    def data(self, values: list[Any], view: TextView, *, located: bool = True) -> ReadCalls | NoCalls:
        """The calls of JSON values; `located` where the view is their text, in JSON.

        Raises:
            ParseError: something is not the call that it should be.
        """
        value = unwrap_single(values)
        items = value if isinstance(value, list) else [value]
        notes: list[Diagnostic] = []
        is_plain = bool(items) and all(map(is_plain_call, items))  # as most are, and nothing else
        other = None if is_plain else self._other_data(value, view)
        if other is not None:
            return other
        located_values = None
        if self.located and located and len(view.text) <= LARK_CHARS:
            from planner_eval.base.json_places import locate_values

            located_values = ObjectSpans(locate_values(view.text))
            value = unwrap_single(located_values.values)
        if not is_plain:
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
                offset = find_quoted_offset(view.text, error)
                error = ParseError(error.reason, text=view.text, offset=offset, code=error.code)
            raise error from None
        except RecursionError:
            raise LimitError(f"the text nests deeper than {self.limits.depth} levels") from None
        if not raw.calls and raw.answer is None:
            return NoCalls("a message without calls")
        if notes:
            raw = raw._replace(notes=(*raw.notes, *notes))
        return ReadCalls(candidate.dialect, view.place(raw), candidate.reason, span_of(view))

    def _other_data(self, value: Any, view: TextView) -> ReadCalls | NoCalls | None:
        """What data is other than calls: nothing, a schema, texts or a conversation; None where it is none.

        Raises:
            ParseError: a tool's name and its arguments stand side by side in it.
        """
        self._refuse_deep(view, deep=is_data_nested_too_deep(value, self.limits, lists=True))
        if isinstance(value, (str, list)) and not value:
            return NoCalls("an empty list or text")
        if value == {}:
            return NoCalls("an empty object")
        if isinstance(value, list) and value.count({}) == len(value):  # to look at each takes seconds
            return NoCalls("a message without calls")
        if is_schema(value):
            unclear = ambiguity_error(value)
            if unclear is not None:  # where nothing else is a call, it is why nothing was read
                self.error = self.error or locate_error_in_source(unclear, view, self.source)
            return NoCalls("a schema of tools or parameters")
        if isinstance(value, str) or (isinstance(value, list) and all(isinstance(v, str) for v in value)):
            return self.texts([value] if isinstance(value, str) else value, view)
        message = {"role": "assistant", "content": value if isinstance(value, list) else [value]}
        talk = read_conversation(value if part_texts(value) is None else message)
        if talk is not None:
            return self.talk(talk, view)
        refuse_loose_json_calls(value, view.text)
        return None

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
        silent: list[TextView] = []
        for match in find_matches(_QUOTED, view.text):
            inner = unescape_view(view.cut(match.start() + 1, match.end() - 1))
            pieces = self._quoted(inner, alone=len(texts) == 1)
            read += pieces
            silent += [] if pieces or not inner.text.strip() else [inner]
        if not read and len(texts) > 1:
            read = [piece for inner in silent for piece in self._quoted(inner, alone=True)]
            silent = []
        if not read:
            return NoCalls("a text that calls no tool")
        notes = (_note_texts_without_calls([inner.text for inner in silent]),) if silent else ()
        return join_pieces(read, view, " in a quoted text", notes)

    def _quoted(self, view: TextView, *, alone: bool) -> list[ReadCalls]:
        """The calls of a quoted text as it is read without the quotes; several texts are one program.

        Raises:
            ParseError: it begins like a plan and cannot be read.
        """
        may_be_data = view.text.lstrip()[:1] in ("[", "{")
        has_fence = may_be_data and ("```" in view.text or "~~~" in view.text)
        if has_fence or may_be_other_notation(view.text) or (alone and "<" in view.text):
            return self._encoded(view)
        try:
            lines = appbench_prose.find(view, self.limits)
        except ParseError as error:
            raise locate_error_in_source(error, view, self.source) from None
        if alone and lines is None and not may_be_data:
            return self._encoded(view)
        runs, rest = ((), view) if lines is None else (lines.runs, lines.rest)
        return [*runs, *(piece for block in split_blocks(rest) for piece in self.block(block))]

    def _encoded(self, view: TextView) -> list[ReadCalls]:
        try:
            name, found = self.words(view.text)
        except ParseError as error:
            raise locate_error_in_source(error, view, self.source) from None
        raw = view.place(found)
        if raw.calls:
            return [ReadCalls(name, raw, found.reason or "quoted calls", span_of(view))]
        self.notes += [note for note in raw.notes if note.code != "plan.no_call"]
        return []

    # ------------------------------------------------------------ code
    def syntax(self, text: str) -> ast.Module | SyntaxError | None:
        """What :func:`parse_syntax` makes of a text, which remembers no long one."""
        if text != self.parsed[0]:
            self.parsed = text, parse_syntax(text)
        return self.parsed[1]

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
        read = self.block(Block(view, False))
        if not read:
            raise first
        return join_pieces(read, view)

    def python(self, view: TextView) -> ReadCalls | NoCalls:
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
            is_likely_script = _SCRIPT_OBJECT_ARGUMENT.search(view.text) and is_script(tree)
            script = self._as_script(view) if is_likely_script else None
            if script is not None:
                return script
            raw = follow(tree, view.text, self.defined, self.limits, self.taken, self.before(), variables)
            kind = "pythonic" if all(isinstance(node, ast.Expr) for node in tree.body) else "code"
        else:
            raw = python_calls.read_calls(
                view.text, self.limits, self.defined, tree, self.before(), variables
            )
            kind = "pythonic"
            quoted = None if raw.calls else QUOTED_CALL.match(view.text)
            if quoted is not None:
                reason = "found a call in quotes that it contains itself: use other quotes around it"
                raise ParseError(reason, text=view.text, offset=quoted.start(1))
        reason = "Python calls" if kind == "pythonic" else "a Python program"
        return self._read_program(raw, variables, view, kind, reason)

    def before(self) -> dict[str, Value | Unknown]:
        """What the variables hold of the pieces that were kept so far."""
        for bound in self.bound:
            self.held.update(bound.shared())
        self.bound.clear()
        return self.held

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
        return self._read_program(raw, variables, view, "openai-programmatic", "a program of calls")

    def _read_program(
        self, raw: RawPlan, variables: dict[str, Value | Unknown], view: TextView, dialect: str, reason: str
    ) -> ReadCalls | NoCalls:
        """What a program calls, and what its variables hold after it."""
        bound = PieceVariables(self.next_number(), variables) if variables else None
        if not raw.calls:
            messages = (f"; {note.message}" for note in raw.notes if note.code == "code.function")
            return NoCalls(f"code that calls no tool{next(messages, '')}", bound)
        pieces = ((bound.piece, 0),) if bound else ()
        return ReadCalls(dialect, view.place(raw), reason, span_of(view), bound, pieces)

    # ------------------------------------------------------------ one piece, strictly and mended
    def strict(self, view: TextView) -> ReadCalls | NoCalls:
        """One piece: JSON, else Python.

        Raises:
            Untold: it is broken JSON.
            ParseError: it is neither.
        """
        text = view.text
        plain = (
            None if self.held or self.bound else read_plain_calls(text, self.limits, self.defined, self.taken)
        )
        if plain is not None:
            return ReadCalls("pythonic", view.place(plain), "Python calls", span_of(view))
        if text.lstrip()[:1] in JSON_STARTS:
            values = self._values(text)
            if values is None:
                values = read_semicolon_values(text)
            if values is not None:
                return self.data(values, view)
            if OBJECT_START.match(text):
                tree = None if _CALL_FREE_TEXT.fullmatch(text) else parse_syntax(text)
                if not isinstance(tree, ast.Module) or is_data(tree):
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
        tried = (self.repair or len(view.text) <= LARK_CHARS) and not ends_inside_data(view.text)
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
        is_plan = strictly or isinstance(first, LooseCallError) or first.code == CONDITION_CODE
        if not (is_plan or is_plan_like(view.text, self.defined)):
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
        if start is None or (start and error.offset < view.origin(start)):
            return error
        return CutError("inside a call", text=self.source, start=view.origin(start))

    def _kept(self, read: ReadCalls | NoCalls) -> list[ReadCalls]:
        self.keep(read)
        if isinstance(read, NoCalls):
            self.why = self.why or read.why
            return []
        return [read]


# ---------------------------------------------------------------- helpers
_TWO_WORDS = re.compile(r"\s*+([A-Za-z]++) ([A-Za-z]++)")
_KEYWORDS = frozenset({*keyword.kwlist, *keyword.softkwlist})
PYTHON_TEXTS = lazy_pattern(r"(?:\[\s*+)?['\"](?:.*['\"])\]?\s*+\Z", re.S)
"""How a text begins and ends that may be texts in quotes, one or a list."""
_QUOTED = (JSON_STRING, Branch("single", r"'(?:[^'\\]++|\\.)*+'", "'"))
_CALL_FREE_TEXT = re.compile(
    r"[^(]*+|(?:[^\"'(#fFtT]++|(?:[Ff]alse|[Tt]rue)\b|\"(?:[^\"\\]++|\\.)*+(?:\"|\Z))*+", re.S
)
"""A text without a bracket of a call, but for those in quotes that hold no code, be it Python or not."""

_SCRIPT_OBJECT_ARGUMENT = lazy_pattern(r"\(\s*\{\s*\w+\s*[:,}]")


def _note_texts_without_calls(texts: list[str]) -> Diagnostic:
    """That texts of a list call nothing, although others do: each may be a plan of its own, or words."""
    count = len(texts)
    start = "1 text of the list calls" if count == 1 else f"{count:,} texts of the list call"
    samples = ", ".join(repr(shorten(text, 40)) for text in texts[:3])
    return Diagnostic("find.text", f"{start} no tool, although others do: {samples}")
