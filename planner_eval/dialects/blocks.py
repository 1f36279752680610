"""Reading one block of a text: a fence, or the lines between fences."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from planner_eval import dialects
from planner_eval.dialects import python_calls
from planner_eval.dialects.base import Limits
from planner_eval.dialects.detect import detect_data, is_schema, name_json
from planner_eval.dialects.extent import extent
from planner_eval.dialects.jsontext import LARK_CHARS, Places, decode, loads, parse_located
from planner_eval.dialects.program import BUILTINS, SHOWING
from planner_eval.dialects.python_ast import follow, syntax
from planner_eval.dialects.repair import repairs
from planner_eval.dialects.table import Row
from planner_eval.dialects.views import Edit, View, unescaped
from planner_eval.errors import LimitError, ParseError
from planner_eval.model import Diagnostic, RawCall, RawPlan, Span


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a text: a fence's inside with its label, or what stands between fences."""

    view: View
    fenced: bool
    label: str
    start: int


@dataclass(frozen=True, slots=True)
class Read:
    """Calls that were read, placed in the source, and why in this dialect."""

    dialect: str
    raw: RawPlan
    reason: str
    span: Span


@dataclass(frozen=True, slots=True)
class Nothing:
    """A piece that holds no call, and why."""

    why: str


_NAME = r"[^\W\d](?:[\w.\-]|\\[_.])*+"
_CALLISH = re.compile(rf"(?<![\w.\-\\])({_NAME})['\"]?+\s*+\(\s*+(?:[\w\\]++\s*+=(?!=)|[\"'\[{{]|-?\d)")
_LISTED = re.compile(rf"\[\s*+({_NAME})\s*+,\s*+\w++\s*+=")
_KEYED = re.compile(
    r"[\"'“](?:name|function|tool|api|api_name|tool_name|toolName|function_name|task)[\"'”]\s*+:"
)
_SCHEMA = re.compile(r"[\"']properties[\"']\s*+:")
_LEAD = re.compile(r"[ \t>]*+(?:(?:[-*•+]|\d{1,3}[.)])[ \t]++)?+(?:\*\*|`(?!`))?+")
_LABELLED = re.compile(r"[#\w][\w \t#*/_\-]{0,60}:[ \t*]*+`?+")
_START = re.compile(
    rf"\[\s*+(?:[\[{{(\"'\]]|{_NAME}\s*+[(,])|\{{\s*+[\"'}}]"
    rf"|(?:[^\W\d]\w*+(?:\s*+,\s*+[^\W\d]\w*+)*+\s*+=\s*+)?(?:await\s++)?{_NAME}\((?!\w*+\s*+:)"
    rf"|(['\"]){_NAME}\1\("
)
_NAMED = re.compile(rf"({_NAME})[ \t]*+\r?\n[ \t]*+(?=\{{\s*+[\"'}}])")
_GLUED = re.compile(r"(?:^|[\s])(\S*[\w]\.[A-Za-z]\w*_\w+|\S*[a-z][.!?:][A-Za-z]\w*[_.]\w+)[ \t]*\n[ \t]*\Z")
_BULLET = re.compile(r"[-*•+]\s")
_BLANK_LINES = re.compile(r"(?:[ \t\r]*+\n)*+")
_REST = re.compile(r"[ \t]*+[;,.`*'\"\])}]*+[ \t]*+(?:(?:#|//)[^\n]*+)?+(?=\n|\Z)")
_JOIN = re.compile(r"[ \t`]*+[;,]?+\s*+|[ \t]*+(?:#|//)[^\n]*+\n\s*+")
_SCRIPT = frozenset(
    {"js", "javascript", "jsx", "ts", "typescript", "tsx", "java", "kotlin", "csharp", "c#", "cs"}
)
_PYTHON = frozenset({"python", "py", "python3", "tool_code"})
_SCRIPT_START = re.compile(r"\s*+(?:(?:const|let|var)\s|await\s++[\w.]++\(|//)")
_DEFINITION = re.compile(
    r"(?m)^[ \t]*+(?:export\s++|public\s++|private\s++|static\s++|async\s++)*+"
    r"(?:def|function)\s++([^\W\d]\w*+)\s*+\("
)
_IMPORT = re.compile(
    r"(?m)^[ \t]*+(?:import\s++([\w.]++)(?:\s++as\s++(\w++))?|from\s++[\w.]++\s++import\s++([\w, ]++))"
)


class Loose(ParseError):
    """A tool's name and its arguments stand side by side in a list: a plan, in no known notation."""


class Reader:
    """Reads the blocks of one source.

    Args:
        source: The user's text.
        limits: Bounds on size and nesting.
        repair: Apply repairs where strict reading fails.
        located: Take the places of JSON calls too.
    """

    def __init__(self, source: str, limits: Limits, *, repair: bool, located: bool) -> None:
        self.source = source
        self.limits = limits
        self.repair = repair
        self.located = located
        self.defined: set[str] = set()
        self.notes: list[Diagnostic] = []
        self.error: ParseError | None = None
        self.why = ""
        self.budget = 8 * len(source) + 1_000_000

    # ------------------------------------------------------------ JSON
    def json(self, view: View, *, whole: bool = False) -> Read | None:
        """A view that is JSON as a whole; None where it is no JSON, or holds no call.

        Raises:
            ParseError: it is JSON, and something in it is not the call that it should be.
            LimitError: it nests too deeply, or holds too long a number.
        """
        try:
            values = loads(view.text, self.limits) if _may_be_json(view.text) else None
        except LimitError as error:
            raise _placed(error, view, self.source) from None
        except ParseError:
            return None
        if values is None:
            return None
        found = self.data(values, view)
        if isinstance(found, Nothing):
            self.why = found.why
            return Read("json", RawPlan(()), found.why, _span(view)) if whole else None
        return found

    def data(self, values: list[Any], view: View) -> Read | Nothing:
        """The calls of JSON values.

        Raises:
            ParseError: something is not the call that it should be.
        """
        value = values[0] if len(values) == 1 else values
        if isinstance(value, (str, list)) and not value:
            return Nothing("an empty list or text")
        if isinstance(value, str) or (isinstance(value, list) and all(isinstance(v, str) for v in value)):
            return self.texts([value] if isinstance(value, str) else value, view)
        if value == {}:
            return Nothing("an empty object")
        if is_schema(value):
            return Nothing("a schema of tools or parameters")
        _refuse_pairs(value, view.text)
        candidate = detect_data(value)
        if candidate.dialect == "json":
            candidate = name_json(value, view.text)
        reader = dialects.get(candidate.dialect).read_data
        assert reader is not None
        places = None
        if self.located and len(view.text) <= LARK_CHARS:
            places = Places(parse_located(view.text))
            value = places.values[0] if len(places.values) == 1 else places.values
        try:
            raw = reader(value, self.limits, places)
        except ParseError as error:
            if not error.text:
                error = ParseError(
                    error.reason, text=view.text, offset=_named_at(view.text, error), code=error.code
                )
            raise error from None
        except RecursionError:
            raise LimitError(f"the text nests deeper than {self.limits.depth} levels") from None
        if not raw.calls:
            return Nothing("a message without calls")
        return Read(candidate.dialect, view.place(raw), candidate.reason, _span(view))

    def texts(self, texts: list[str], view: View) -> Read | Nothing:
        """The calls of quoted texts: calls themselves, or a model's prose with calls in it."""
        raw = python_calls.read_texts(texts, self.limits)
        if raw is not None:
            return Read("call-texts", raw, "a list of texts that are calls", _span(view))
        _refuse_pairs(texts, view.text)
        read: list[Read] = []
        for match in re.finditer(r'"((?:[^"\\]++|\\.)*+)"', view.text, re.S):
            inner = unescaped(view.cut(*match.span(1)))
            from planner_eval.dialects.find import _pieces

            for block in _pieces(inner):
                read += self.fence(block) if block.fenced else self.prose(block)
        if not read:
            return Nothing("a text that calls no tool")
        return Read(read[0].dialect, _joined(read), f"{read[0].reason} in a quoted text", _span(view))

    # ------------------------------------------------------------ code
    def code(self, view: View) -> Read | Nothing:
        """A piece that should be calls, in JSON or in Python.

        Raises:
            ParseError: it cannot be read.
        """
        if not view.text.strip():
            return Nothing("an empty section")
        try:
            return self.mended(view, strictly=True)
        except LimitError:
            raise
        except ParseError as error:
            first = error
        read = list(self._lines(view))
        if not read:
            raise first
        return Read(read[0].dialect, _joined(read), read[0].reason, _span(view))

    def python(self, view: View, *, listed: bool = False) -> Read | Nothing:
        """A piece of Python.

        Raises:
            ParseError: it cannot be read, or an argument of a call cannot be known.
        """
        view = _dedented(view)
        tree = syntax(view.text)
        if isinstance(tree, ast.Module):
            texts = python_calls.string_list(tree)
            if texts is not None:
                raw = python_calls.read_texts(texts, self.limits)
                if raw is not None:
                    return Read("call-texts", raw, "a list of texts that are calls", _span(view))
                _refuse_pairs(texts, view.text)
                return Nothing("a list of texts")
            _refuse_loose(tree, view.text)
            raw = follow(tree, view.text, self.defined)
            kind = "pythonic" if all(isinstance(node, ast.Expr) for node in tree.body) else "code"
        else:
            raw = python_calls.read_calls(view.text, self.limits, self.defined)
            kind = "pythonic"
        if not raw.calls:
            return Nothing("code that calls no tool")
        reason = "Python calls" if kind == "pythonic" else "a Python program"
        return Read(kind, view.place(raw), reason, _span(view))

    def script(self, view: View) -> Read | Nothing:
        """A piece of JavaScript or Java.

        Raises:
            ParseError: it calls a tool, and holds more than top-level calls.
        """
        from planner_eval.dialects import javascript

        try:
            raw = javascript.read(view.text, self.limits, self.defined)
        except LimitError:
            raise
        except ParseError:
            if _calls_tool(view.text, self.defined):
                raise
            return Nothing("code that calls no tool")
        if not raw.calls:
            return Nothing("code that calls no tool")
        return Read("openai-programmatic", view.place(raw), "a program of calls", _span(view))

    # ------------------------------------------------------------ one piece, strictly and mended
    def strict(self, view: View) -> Read | Nothing:
        """One piece: JSON, else Python.

        Raises:
            ParseError: it is neither.
        """
        text = view.text
        failed: ParseError | None = None
        if _may_be_json(text):
            try:
                return self.data(_values(text, self.limits), view)
            except LimitError:
                raise
            except _NoJson as error:
                failed = error.reason
        if failed is not None and re.match(r"[\[\s]*+\{", text):
            tree = syntax(text)
            if not isinstance(tree, ast.Module) or not any(isinstance(n, ast.Call) for n in ast.walk(tree)):
                raise failed
        try:
            return self.python(view)
        except ParseError as error:
            if _SCRIPT_START.match(text) or re.search(r"\(\s*\{\s*\w+\s*[:,}]", text):
                found = self._as_script(view)
                if found is not None:
                    return found
            raise error from None

    def _as_script(self, view: View) -> Read | None:
        try:
            found = self.script(view)
        except ParseError:
            return None
        return found if isinstance(found, Read) else None

    def mended(self, view: View, *, strictly: bool = False) -> Read | Nothing:
        """One piece, with repairs where those are wanted and strict reading fails.

        A broken piece that, mended, calls nothing is no plan in either mode.

        Raises:
            ParseError: it begins like a plan and cannot be read.
        """
        try:
            return self.strict(view)
        except LimitError as error:
            raise _placed(error, view, self.source) from None
        except ParseError as error:
            first = error
        for repaired, notes in repairs(view) if self.repair or len(view.text) <= LARK_CHARS else ():
            try:
                found = self.strict(repaired)
            except ParseError:
                continue
            if isinstance(found, Nothing):
                return found
            if not self.repair:
                break
            raw = RawPlan(found.raw.calls, found.raw.answer, (*found.raw.notes, *notes))
            return replace(found, raw=raw)
        if not (strictly or isinstance(first, Loose) or self.plan_like(view.text)):
            return Nothing("a text that calls no tool")
        raise _placed(first, view, self.source) from None

    def plan_like(self, text: str) -> bool:
        """Whether a piece that cannot be read begins like a plan: then it is an error, not prose."""
        plain = text.replace("\\_", "_")
        if _LISTED.match(plain):
            return True
        if _KEYED.search(plain) and plain[:1] in "[{":
            return not _SCHEMA.search(plain)
        return any(
            match[1] not in self.defined and match[1].split(".")[0] not in self.defined
            for match in _CALLISH.finditer(plain)
        )

    def repaired_rows(self, text: str, rows: list[Row]) -> Read | None:
        """A text of a notation with tokens, mended; None without leave to repair, or in vain."""
        if not self.repair:
            return None
        from planner_eval.dialects.framed import pattern
        from planner_eval.dialects.program import shift_names

        for row in rows:
            if row.shape != "sections":
                continue
            calls: list[RawCall] = []
            notes: list[Diagnostic] = []
            opening = pattern(row.open)
            matches = list(opening.finditer(text))
            for i, match in enumerate(matches):
                end = matches[i + 1].start() if i + 1 < len(matches) else len(text)
                close = pattern(row.close).search(text, match.end(), end) if row.close else None
                view = View(text).cut(match.end(), close.start() if close else end).strip()
                if not view.text or (view.text[:1] not in "[{" and not _CALLISH.match(view.text)):
                    continue
                try:
                    found = self.mended(view, strictly=True)
                except ParseError:
                    return None
                if isinstance(found, Read):
                    calls += shift_names(found.raw.calls, len(calls)) if calls else found.raw.calls
                    notes += found.raw.notes
            if calls:
                return Read(row.name, RawPlan(tuple(calls), None, tuple(notes)), "its tokens", (0, len(text)))
        return None

    # ------------------------------------------------------------ fences
    def fence(self, block: Block) -> list[Read]:
        """The calls of a fence's inside.

        Raises:
            ParseError: it calls tools and cannot be read.
        """
        view = block.view.strip()
        if not view.text:
            return []
        self._define(view.text)
        if block.label in _SCRIPT or (block.label not in _PYTHON and _SCRIPT_START.match(view.text)):
            try:
                return self._kept(self.script(view))
            except ParseError as error:
                raise _placed(error, view, self.source) from None
        if view.text[:1] in '[{"':
            return self._kept(self.mended(view))
        tree = syntax(_dedented(view).text)
        if isinstance(tree, ast.Module) or block.label in _PYTHON:
            try:
                return self._kept(self.mended(view))
            except ParseError:
                if isinstance(tree, ast.Module) and not any(k.keyed for k in _calls_in(tree, self.defined)):
                    return []
                raise
        return self.prose(block)

    def _kept(self, found: Read | Nothing) -> list[Read]:
        if isinstance(found, Nothing):
            self.why = self.why or found.why
            return []
        return [found]

    def _define(self, text: str) -> None:
        plain = text.replace("\\_", "_")
        self.defined.update(match[1] for match in _DEFINITION.finditer(plain))
        for match in _IMPORT.finditer(plain):
            for name in (match[2] or match[1] or match[3] or "").split(","):
                self.defined.add(name.strip().split(" as ")[-1].split(".")[0])

    # ------------------------------------------------------------ prose
    def prose(self, block: Block) -> list[Read]:
        """The calls that stand on lines of their own in some text.

        Raises:
            ParseError: a line begins like a plan and cannot be read.
        """
        view = block.view
        if not view.text.strip():
            return []
        self._define(view.text)
        whole = view.strip()
        if "(" in whole.text and whole.text[:1] not in "[{" and not _BULLET.match(whole.text):
            if _SCRIPT_START.match(whole.text) and not whole.text.startswith("//"):
                try:
                    return self._kept(self.script(whole))
                except ParseError as error:
                    raise _placed(error, whole, self.source) from None
            tree = syntax(_dedented(whole).text)
            if isinstance(tree, ast.Module):
                return self._program(whole)
        return list(self._lines(view))

    def _program(self, view: View) -> list[Read]:
        """A text that is Python as a whole; calls of bare names only are signatures."""
        try:
            found = self.python(view)
        except ParseError as error:
            raise _placed(error, view, self.source) from None
        if isinstance(found, Read) and all(is_signature(c, self.source) for c in found.raw.calls):
            return []
        return self._kept(found)

    def _lines(self, view: View) -> Iterator[Read]:
        text = view.text
        at = 0
        while at < len(text):
            at = _BLANK_LINES.match(text, at).end()  # type: ignore[union-attr]
            line_end = text.find("\n", at)
            line_end = len(text) if line_end < 0 else line_end
            start = self._start(text, at, line_end)
            if start is None:
                at = line_end + 1
                continue
            if self.budget <= 0:
                self.notes.append(Diagnostic("find.stopped", "the search for calls stopped early", "warning"))
                return
            found, end = self._piece(view, start, line_end)
            if isinstance(found, Read):
                yield found
            elif found is not None:
                self.why = self.why or found.why
            at = max(end, at + 1)
            if at < len(text) and text[at - 1] != "\n" and text[at : at + 1] != "\n":
                following = text.find("\n", at)
                at = len(text) if following < 0 else following + 1

    def _start(self, text: str, at: int, line_end: int) -> int | None:
        """Where a plan may start on a line: at its beginning, after a bullet or after a label."""
        lead = _LEAD.match(text, at)
        assert lead is not None
        start = min(lead.end(), line_end)
        if _START.match(text, start) or _NAMED.match(text, start):
            return start
        label = _LABELLED.match(text, start, line_end)
        if label and (_START.match(text, label.end()) and text[label.end()] in "[{"):
            return label.end()
        return start if label and _START.match(text, label.end()) and start == at else None

    def _piece(self, view: View, start: int, line_end: int) -> tuple[Read | Nothing | None, int]:
        text = view.text
        if not _START.match(text, start) and not _NAMED.match(text, start):
            label = _LABELLED.match(text, start, line_end)
            start = label.end() if label else start
        named = _NAMED.match(text, start)
        if named is not None:
            return self._named(view, named)
        self._refuse_glued(view, start)
        end, closed = self._extent(text, start)
        self.budget -= end - start
        bracketed = text[start] in "[{"
        if not bracketed and closed and not _REST.match(text, end):
            following = text.find("\n", end)
            return None, len(text) if following < 0 else following
        found = self.mended(view.cut(start, end))
        if (
            isinstance(found, Read)
            and not bracketed
            and all(is_signature(c, self.source) for c in found.raw.calls)
        ):
            return Nothing("a function's signature"), end
        return found, end

    def _extent(self, text: str, start: int) -> tuple[int, bool]:
        """How far a plan goes that starts here: over further calls that follow at once."""
        end = start
        at = start
        while True:
            piece = extent(text, at)
            if not piece.closed:
                stop = text.find("\n\n", max(piece.end if piece.end < len(text) else at, at))
                return (len(text.rstrip()) if stop < 0 else stop), False
            end = piece.end
            gap = _JOIN.match(text, end)
            assert gap is not None
            at = gap.end()
            loose = "\n" in gap.group() and gap.group().count("\n") > 1 and not gap.group().strip(" \t\n`")
            if at >= len(text) or loose or not _START.match(text, at):
                break
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
                raise _placed(error, view.cut(match.end(), end), self.source) from None
            return Nothing("a text"), end
        from planner_eval.dialects.json_calls import arguments_of, is_call

        if is_call(value) or is_schema(value):
            return self.mended(view.cut(match.end(), end)), end
        call = RawCall(match[1], arguments_of(value, 0, text), span=(match.start(), end))
        raw = view.place(RawPlan((call,)))
        return Read("name-json", raw, "a name and its JSON arguments", view.span((match.start(), end))), end

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


# ---------------------------------------------------------------- helpers
class _NoJson(Exception):
    def __init__(self, reason: ParseError) -> None:
        self.reason = reason


_SEMICOLON = re.compile(r"[\s;]*+")


def _values(text: str, limits: Limits) -> list[Any]:
    """The JSON values of a text, in lines or with semicolons between them."""
    try:
        return loads(text, limits)
    except LimitError:
        raise
    except ParseError as error:
        first = error
    values: list[Any] = []
    at = 0
    while ";" in text and at < len(text):
        try:
            value, at = decode(text, at)
        except (ValueError, RecursionError):
            break
        values.append(value)
        at = _SEMICOLON.match(text, at).end()  # type: ignore[union-attr]
    if not values or at < len(text):
        raise _NoJson(first)
    return values


def _may_be_json(text: str) -> bool:
    return text.lstrip()[:1] in ("[", "{", '"')


def _span(view: View) -> Span:
    return view.span((0, len(view.text)))


def _placed(error: ParseError, view: View, source: str) -> ParseError:
    """An error of a view's text as an error of the source."""
    offset = view.origin(error.offset)
    if isinstance(error, LimitError):
        return LimitError(error.reason, text=source, offset=offset)
    return ParseError(error.reason, text=source, offset=offset, code=error.code, dialect=error.dialect)


def _named_at(text: str, error: ParseError) -> int:
    match = re.search(r"'([^']+)'", error.reason)
    return max(text.find(f'"{match[1]}"'), 0) if match else 0


def _joined(read: list[Read]) -> RawPlan:
    from planner_eval.dialects.program import shift_names

    calls: list[RawCall] = []
    notes: list[Diagnostic] = []
    for item in read:
        calls += shift_names(item.raw.calls, len(calls)) if calls else item.raw.calls
        notes += item.raw.notes
    return RawPlan(tuple(calls), None, tuple(notes))


def _dedented(view: View) -> View:
    """The view without the white space that all of its lines begin with."""
    lines = [m for m in re.finditer(r"(?m)^([ \t]*+)(?=[^\s])", view.text)]
    inner = lines[1:] if lines and not lines[0][1] else lines
    common = min((len(m[1]) for m in inner), default=0)
    first = len(lines[0][1]) if lines else 0
    if not common and not first:
        return view
    if lines and not first and common:  # only the first line was stripped
        return (
            view.edit(Edit(m.start(), m.start() + common, "") for m in inner)
            if _uniform(inner, common)
            else view
        )
    return view.edit(Edit(m.start(), m.start() + min(common, len(m[1])), "") for m in lines)


def _uniform(lines: list[re.Match[str]], common: int) -> bool:
    """Whether the lines after a stripped first one are indented for no reason of the language."""
    return all(len(m[1]) >= common for m in lines) and not lines[0].string[
        : lines[0].start()
    ].rstrip().endswith((":", ",", "(", "[", "{"))


@dataclass(frozen=True, slots=True)
class _Called:
    name: str
    keyed: bool


def _calls_in(tree: ast.Module, defined: set[str]) -> list[_Called]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func) if isinstance(node.func, (ast.Name, ast.Attribute)) else ""
            if name and name.split(".")[0] not in defined:
                found.append(_Called(name, bool(node.keywords)))
    return found


_TOOL_CALL = re.compile(r"(?<![\w.$])(?:(new|function)\s++)?([^\W\d][\w$]*+(?:\.[^\W\d][\w$]*+)*+)\s*+\(")
_KEYWORDS = frozenset(
    {"if", "for", "while", "switch", "catch", "return", "function", "super", "this", "await", "main"}
)
_OWN = frozenset(
    {"Math", "JSON", "Object", "Array", "System", "document", "window", "String", "Promise", "this", "super"}
)


def _calls_tool(text: str, defined: set[str]) -> bool:
    """Whether a program that cannot be read calls something that is not its own."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    own = {
        m
        for pair in re.findall(r"\b(?:const|let|var)\s+(\w+)|\bimport\s+(\w+)\s+from", code)
        for m in pair
        if m
    }
    own |= set(re.findall(r"\b\w+(?:<[^>\n]*>)?\s+(\w+)\s*=", code))
    methods = set(
        re.findall(
            r"\b(?:public|private|protected|static|void|String|int)\s+(?:[\w<>\[\]]+\s+)*(\w+)\s*\(", code
        )
    )
    for match in _TOOL_CALL.finditer(code):
        name, root = match[2], match[2].split(".")[0]
        known = name in SHOWING or name in BUILTINS or name in _KEYWORDS or root in _OWN or name in methods
        if not (match[1] or known or root in own or root in defined or name in defined):
            return True
    return False


def is_signature(call: RawCall, text: str) -> bool:
    """Whether a call has bare names only, as a function's signature in prose has.

    >>> is_signature(RawCall("f", (("0", "a"),), spans=((2, 3),)), "f(a)")
    True
    """
    if not call.arguments or len(call.spans) != len(call.arguments):
        return False
    return all(
        key.isdigit() and isinstance(value, str) and re.fullmatch(r"[^\W\d]\w*", text[start:end] or "1")
        for (key, value), (start, end) in zip(call.arguments, call.spans, strict=True)
    )


def _identifier(value: Any) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(r"[^\W\d]\w*(?:[._]\w+)+|[a-z]+[A-Z]\w*", value))


def _refuse_pairs(value: Any, text: str) -> None:
    """Refuse a list in which a tool's name and its arguments are items of their own.

    Raises:
        ParseError: with the place of the name.
    """
    if not isinstance(value, list):
        return
    for item in value:
        if isinstance(item, list):
            _refuse_pairs(item, text)
    names = [item for item in value if _identifier(item)]
    rest = any(
        isinstance(item, dict) or (isinstance(item, str) and re.match(r"\w+=", item)) for item in value
    )
    if names and rest:
        place = max(text.find(names[0]) - 1, 0)
        raise Loose(
            f"found {names[0]!r} and its arguments as items of one list, expected a call",
            text=text,
            offset=place,
        )


def _refuse_loose(tree: ast.Module, text: str) -> None:
    """The same for a Python list."""
    for statement in tree.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, (ast.List, ast.Tuple)):
            _refuse_pairs(_data(statement.value), text)


def _data(node: ast.expr) -> Any:
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_data(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        return {}
    return node.value if isinstance(node, ast.Constant) else None
