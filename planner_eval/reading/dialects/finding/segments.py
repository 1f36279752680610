"""What a segment of a text may be: calls, prose, or calls told once more."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any

from planner_eval.base.errors import LimitError, ParseError
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.json_text import decode
from planner_eval.base.limits import Span
from planner_eval.base.text import lazy_pattern
from planner_eval.plan.model import Diagnostic, RawCall, RawPlan
from planner_eval.reading.dialects.conversations.messages import (
    ARGUMENT_KEYS,
    NAME_KEYS,
    is_call,
    is_keyed_call_list,
)
from planner_eval.reading.dialects.finding.edited_text import TextEdit, TextView
from planner_eval.reading.dialects.programs.program import (
    BUILTINS,
    DISPLAY_FUNCTIONS,
    PieceVariables,
    is_library,
    shift_names,
)
from planner_eval.reading.dialects.programs.syntax import STUB, PlacedTree, parse_syntax

_SEMICOLON = re.compile(r"[\s;]*+")


def read_semicolon_values(text: str) -> list[Any] | None:
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


def is_script(tree: ast.Module) -> bool:
    """Whether a Python text is JavaScript: a call's one argument has keys that are names, held by nothing."""
    keys = {
        key.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.args[0], ast.Dict)
        for key in node.args[0].keys
        if isinstance(key, ast.Name)
    }
    stored = (
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    return bool(keys) and keys.isdisjoint(stored)


def is_data(tree: ast.Module) -> bool:
    """Whether a Python text is data: it calls nothing, or an object that should be a call itself does."""
    calling = (node for node in tree.body if any(isinstance(n, ast.Call) for n in ast.walk(node)))
    have_arguments = [_has_arguments(node) for node in calling]
    return not have_arguments or any(have_arguments)


def _has_arguments(node: ast.stmt) -> bool:
    value: ast.expr | None = node.value if isinstance(node, ast.Expr) else None
    items = value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]
    keys = [
        {k.value for k in i.keys if isinstance(k, ast.Constant)} for i in items if isinstance(i, ast.Dict)
    ]
    return any(names & {*NAME_KEYS} and names & {*ARGUMENT_KEYS} for names in keys)


# ----------------------------------------------------------------------
# What a piece of text may be: read calls or nothing, and how a plan is told from prose and own code.
_FENCED_LINES = r"\w*+[ \t]*+\n(?:(?!```|~~~)(?:[^\n`~]++|(?!(?:```|~~~)[ \t]*+\n)[`~])*+\n)*+"
"""The lines after a fence's mark of which none begins or ends with one."""

_FENCE = lazy_pattern(
    r"(?P<line>(?<![^\n]))?+(?P<mark>```+|~~~+)"
    rf"(?P<body>(?(line){_FENCED_LINES}(?=(?:```+|~~~+)[ \t]*+(?:\n|\Z))|(?!))|(?:[^`~]++|`(?!``)|~(?!~~))*+)"
    r"(?:```+|~~~+|\Z)"
)


def fences(text: str) -> Iterator[re.Match[str]]:
    """The fences of a text, searched for from the first mark on: the pattern takes its time at each sign."""
    marks = [position for position in (text.find("```"), text.find("~~~")) if position >= 0]
    return _FENCE.finditer(text, min(marks)) if marks else iter(())


_TAGGED_LINES = r"(?:(?!```|~~~|<\2>)[^\n]*+(?:\n|\Z))*?"
_TAGGED_CODE = lazy_pattern(
    r"(?m)^(<((?:\w{1,20}_)?code|execute)>)(?P<body>[ \t\r]*+\n(?:"
    rf"{_TAGGED_LINES}(?=</\2>[ \t\r]*+$)|{_TAGGED_LINES}[ \t]*+(?=</\2>)"
    rf"|{_TAGGED_LINES}[^\n<]*+(?=</\2>[ \t\r]*+$)|{_TAGGED_LINES}\Z))(</\2>|\Z)"
)
"""Tags around code, the first on a line of its own. The last is one on its own line where there is one, else
one at the start or the end of a line; a server may have cut it off."""


def fence_tagged_code(text: str) -> str:
    """A text with the tags around what is Python as marks of fences of the same length."""

    def fence(match: re.Match[str]) -> str:
        start, body, end = match[1], match["body"], match[4]
        tree = None if "```" in body or "~~~" in body else parse_syntax(dedent_view(TextView(body)).text)
        is_code = isinstance(tree, ast.Module)
        return f"{'```py':{len(start)}}{body}{'```'[: len(end)]:{len(end)}}" if is_code else match[0]

    return _TAGGED_CODE.sub(fence, text) if "code>" in text or "execute>" in text else text


FENCE_LABEL = lazy_pattern(r"[ \t]*+([\w+#.\-]*+)[ \t]*+\r?\n")


@fast_frozen
class Block:
    """A piece of a text: a fence's inside with its label, or what stands between fences."""

    view: TextView
    fenced: bool
    label: str = ""


@fast_frozen
class ReadCalls:
    """Calls that were read, placed in the source, and why in this dialect.

    Args:
        dialect: The notation.
        raw: The calls.
        reason: Why the notation was taken.
        span: Where they stand.
        bound: What their variables hold after them.
        pieces: The numbers of the pieces they are of, each with the place of its first call among them.
        extents: Where each of them stands with its tokens.
    """

    dialect: str
    raw: RawPlan
    reason: str
    span: Span
    bound: PieceVariables | None = None
    pieces: tuple[tuple[int, int], ...] = ()
    extents: tuple[Span, ...] = ()


@fast_frozen
class NoCalls:
    """A piece that holds no call, and why."""

    why: str
    bound: PieceVariables | None = None


PYTHON_DIALECTS = frozenset({"code", "pythonic"})
"""The dialects of pieces of Python: with assignments, and of calls alone."""


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


class LooseCallError(ParseError):
    """A tool's name and its arguments stand side by side in a list: a plan, in no known notation."""


TYPE = (
    r"(?:(?:typing\.)?(?:int|float|str|bool|list|dict|tuple|set|bytes|object|None|date|datetime|[A-Z]\w*+)"
    r"(?:\[[^\]\n=(]*+\]+)?+)(?:\s*+\|\s*+\w++(?:\[[^\]\n=(]*+\]+)?+)*+"
)
"""A type as it is written after a variable; other words there are a label before the variable's name."""

NAME = r"[^\W\d](?:[\w.\-]|\\[_.])*+"
CALL_LIKE = lazy_pattern(
    rf"(?<![\w.\-\\])({NAME})['\"]?+\s*+\(\s*+(?:,\s*+)?+(?:[\w\\]++\s*+=(?!=)|[\"'\[{{]|-?\d|\$\{{?\d)"
)
_COLON_ARGUMENT_CALL = lazy_pattern(rf"(?:\[\s*+)?+{NAME}\(\s*+\w++\s*+:\s*+(?:[\"'\[{{]|-?\d)")
"""A call whose arguments have colons; a signature has the name of a type there."""

_BEGUN_CALLS = lazy_pattern(rf"\[\s*+{NAME}\(\s*+(?:\*|\)[\s,]*+{NAME}\()|{NAME}\(\){NAME}\(")
"""Calls of which the first one spreads its arguments, or has none: in a list, or another right behind it."""
_NAME_AND_ARGUMENT_LIST = lazy_pattern(rf"\[\s*+({NAME})\s*+,\s*+\w++\s*+=")
_CALL_LIST_START = lazy_pattern(r"\[\s*+([^\W\d][\w.]*+)\(")
_ENCODED_ARGUMENTS = lazy_pattern(r"[\[\s]*+\{\s*+\"[\w.\-]++\"\s*+:\s*+\"\s*+\{\s*+\\\"")
_NAME_KEY = lazy_pattern(
    r"[\"'“](?:name|function|tool|api|api_name|tool_name|toolName|function_name|task|action_input)[\"'”]\s*+:"
)
_SCHEMA_KEY = lazy_pattern(r"[\"']properties[\"']\s*+:")


def is_plan_like(text: str, defined: set[str]) -> bool:
    """Whether a piece that cannot be read begins like a plan: then it is an error, not prose."""
    plain = text.replace("\\_", "_")
    listed = _CALL_LIST_START.match(plain) if plain[:1] == "[" else None
    if (
        _NAME_AND_ARGUMENT_LIST.match(plain)
        or _COLON_ARGUMENT_CALL.match(plain)
        or _BEGUN_CALLS.match(plain)
        or _ENCODED_ARGUMENTS.match(text)
        or (listed and _is_compound_name(listed[1]))
    ):
        return True
    if _NAME_KEY.search(plain) and plain[:1] in "[{":
        return not _SCHEMA_KEY.search(plain)
    return any(
        match[1] not in defined and match[1].split(".")[0] not in defined
        for match in CALL_LIKE.finditer(plain)
    )


_NAMED_ARGUMENT_CALL_START = lazy_pattern(rf"[\[\s]*+({NAME})\(\s*+\w++\s*+=(?!=)")
OBJECT_START = lazy_pattern(r"[\[\s]*+\{")
_ARGUMENTS_KEY = lazy_pattern(rf"[\"'“](?:{'|'.join(ARGUMENT_KEYS)})[\"'”]\s*+:")


def begins_call(text: str, defined: set[str]) -> bool:
    """Whether a piece that cannot be read surely begins with a tool's call, so that mending cannot empty it.

    >>> begins_call("[f(a=1, b='it's')]", set()), begins_call("[sqrt(x) / 2, print(a=1", set())
    (True, False)
    """
    call = _NAMED_ARGUMENT_CALL_START.match(text)
    if call is not None:
        name = call[1].replace("\\", "")
        root = name.split(".")[0]
        return root not in defined and root not in BUILTINS and name not in DISPLAY_FUNCTIONS
    if not (OBJECT_START.match(text) and _NAME_KEY.search(text) and _ARGUMENTS_KEY.search(text)):
        return False
    return _SCHEMA_KEY.search(text) is None


_DEFINITION = lazy_pattern(
    r"\n[ \t]*+(?:export\s++|public\s++|private\s++|static\s++|async\s++)*+"
    r"(?:def|function)\s++([^\W\d]\w*+)\s*+\("
)
_IMPORT = lazy_pattern(
    r"(?m)^[ \t]*+(?:import[ \t]++([\w.]++)(?:[ \t]++as[ \t]++(\w++))?+(?P<end>[ \t]*+(?:[,#\r\n]|\Z))?+"
    r"|from[ \t]++([\w.]++)[ \t]++import[ \t]++([\w, ]++))"
)


def own_names(text: str) -> set[str]:
    r"""The functions that a text defines and the libraries it imports: no tools.

    >>> sorted(own_names("import math\nfrom tools import get_rate\ndef f():"))
    ['f', 'math']
    """
    plain = "\n" + text.replace("\\_", "_")
    names: set[str] = set()
    if "def" in plain or "function" in plain:  # most texts define nothing: 1.5 % of reading model outputs
        definitions = _DEFINITION.finditer(plain)
        names = {match[1] for match in definitions if not STUB.match(plain, match.end())}
    for match in _IMPORT.finditer(plain) if "import" in plain else ():
        python = (
            match["end"] is not None or match[4]
        )  # JavaScript's and Java's go on, and have no list of theirs
        if python and not is_library(match[1] or match[4]):
            continue
        for name in (match[2] or match[1] or match[5] or "").split(","):
            names.add(name.strip().split(" as ")[-1].split(".")[0])
    return names


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


def is_labelled_prose(tree: ast.Module) -> bool:
    """Whether a text is Python only because a label before calls reads as a variable with its type.

    >>> is_labelled_prose(ast.parse("Answer: f(a=1)")), is_labelled_prose(ast.parse("n: int = f(a=1)"))
    (True, False)
    >>> is_labelled_prose(ast.parse('Answer: [{"name": "f"}]'))
    True
    >>> (
    ...     is_labelled_prose(ast.parse("Sure: t = f(a=1)")),
    ...     is_labelled_prose(ast.parse("t: response = f(); g(t)"))
    ... )
    (True, False)
    """
    annotated = [node for node in tree.body if isinstance(node, ast.AnnAssign)]
    return any(
        node.value is None
        and any(isinstance(inner, (ast.Call, ast.Dict)) for inner in ast.walk(node.annotation))
        for node in annotated
    ) or any(_is_labelled_assignment(node, tree) for node in annotated)


def _is_labelled_assignment(node: ast.AnnAssign, tree: ast.Module) -> bool:
    """Whether a label stands before a variable, which is no type: `Sure: t = f(a=1)`."""
    if not isinstance(node.annotation, ast.Name) or node.value is None:
        return False
    label, name = ast.unparse(node.target), node.annotation.id
    if re.fullmatch(TYPE, name) or not any(isinstance(inner, ast.Call) for inner in ast.walk(node)):
        return False
    return all(not isinstance(n, ast.Name) or n.id != label or n is node.target for n in ast.walk(tree))


def names_arguments(tree: ast.Module, defined: set[str]) -> bool:
    """Whether a program calls something with named arguments that it does not define itself."""
    return any(
        isinstance(node, ast.Call)
        and bool(node.keywords)
        and isinstance(node.func, (ast.Name, ast.Attribute))
        and ast.unparse(node.func).split(".")[0] not in defined
        for node in ast.walk(tree)
    )


_TOOL_CALL = lazy_pattern(r"(?<![\w.$])(?:(new|function)\s++)?([^\W\d][\w$]*+(?:\.[^\W\d][\w$]*+)*+)\s*+\(")
_SCRIPT_KEYWORDS = frozenset(
    {"if", "for", "while", "switch", "catch", "return", "function", "super", "this", "await", "main"}
)
_SCRIPT_GLOBALS = frozenset(
    {"Math", "JSON", "Object", "Array", "System", "document", "window", "String", "Promise", "this", "super"}
)


def calls_tool(text: str, defined: set[str]) -> bool:
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
        is_known = (
            name in DISPLAY_FUNCTIONS
            or name in BUILTINS
            or name in _SCRIPT_KEYWORDS
            or root in _SCRIPT_GLOBALS
            or name in methods
        )
        if not (match[1] or is_known or root in own or root in defined or name in defined):
            return True
    return False


# ---------------------------------------------------------------- a name and its arguments side by side
def _is_compound_name(value: Any) -> bool:
    """Whether a text is a name of several words, as tools have: with dots or underscores, or camel case."""
    if not isinstance(value, str):
        return False
    # An underscore is a letter of a word, too: one pattern for both would try each way to part them.
    parted = "." in value or "_" in value[1:-1]
    return bool(re.fullmatch(r"[^\W\d]\w*+(?:\.\w++)*+" if parted else r"[a-z]+[A-Z]\w*", value))


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(r"[^\W\d][\w.\-]*", value))


def _are_arguments(value: Any) -> bool:
    return isinstance(value, dict) and not is_call(value) and not is_keyed_call_list([value])


def refuse_loose_json_calls(value: Any, text: str) -> None:
    """Refuse a list in which a tool's name and its arguments are items of their own.

    Raises:
        ParseError: with the place of the name.
    """
    if not isinstance(value, list):
        return
    for item in value:
        if isinstance(item, list):
            refuse_loose_json_calls(item, text)
    named = {name for name, arguments in pairwise(value) if _is_name(name) and _are_arguments(arguments)}
    names = [item for item in value if _is_compound_name(item) or (isinstance(item, str) and item in named)]
    has_arguments = any(
        isinstance(item, dict) or (isinstance(item, str) and re.match(r"\w+=", item)) for item in value
    )
    if names and has_arguments:
        offset = max(text.find(names[0]) - 1, 0)
        raise LooseCallError(
            f"found {names[0]!r} and its arguments as items of one list, expected a call",
            text=text,
            offset=offset,
        )


def refuse_loose_python_calls(tree: ast.Module, text: str) -> None:
    """The same for a Python list; and an object that is a call, which does nothing among calls of Python.

    Raises:
        ParseError: with the place of the name, or of the object.
    """
    for statement in tree.body:
        value = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(value, (ast.List, ast.Tuple)):
            refuse_loose_json_calls(_literal_data(value), text)
        elif isinstance(value, ast.Dict) and _has_arguments(statement):
            if not any(isinstance(node, ast.Call) for node in ast.walk(tree)):
                continue
            reason = "found an object with a name and arguments among calls in Python, expected one notation"
            raise LooseCallError(reason, text=text, offset=PlacedTree(tree, text).span(value)[0])


def _literal_data(node: ast.expr) -> Any:
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_literal_data(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        return {}
    return node.value if isinstance(node, ast.Constant) else None


# ---------------------------------------------------------------- places
def span_of(view: TextView) -> Span:
    """Where a view stands in the source."""
    return view.span((0, len(view.text)))


def locate_error_in_source(error: ParseError, view: TextView, source: str) -> ParseError:
    """An error of a view's text as an error of the source."""
    offset = view.origin(error.offset)
    if isinstance(error, LimitError):
        return LimitError(error.reason, text=source, offset=offset)
    return ParseError(error.reason, text=source, offset=offset, code=error.code, dialect=error.dialect)


def find_quoted_offset(text: str, error: ParseError) -> int:
    """Where what an error quotes stands in a text: as a text of its own, else inside one."""
    for quoted in re.findall(r"'([^']+)'", error.reason):
        for quotation in (f'"{quoted}"', quoted.removesuffix("…")):
            offset = text.find(quotation)
            if offset >= 0:
                return offset
    return 0


def join_pieces(
    read: list[ReadCalls], view: TextView, where: str = "", more: tuple[Diagnostic, ...] = ()
) -> ReadCalls:
    """The calls of several pieces of a view as one piece, with more notes."""
    calls: list[RawCall] = []
    notes: list[Diagnostic] = []
    for item in read:
        calls += shift_names(item.raw.calls, len(calls)) if calls else item.raw.calls
        notes += item.raw.notes
    raw = RawPlan(tuple(calls), None, (*notes, *more))
    reason = f"{read[0].reason}{where}"
    return ReadCalls(read[0].dialect, raw, reason, span_of(view), pieces=segment_starts(read))


def segment_starts(read: list[ReadCalls], unnumbered: ReadCalls | None = None) -> tuple[tuple[int, int], ...]:
    """Where the pieces begin of which the calls are joined; one without a number is 0."""
    starts: list[tuple[int, int]] = []
    count = 0
    for item in read:
        pieces = ((0, 0),) if item is unnumbered else item.pieces
        starts += [(piece, count + start) for piece, start in pieces]
        count += len(item.raw.calls)
    return tuple(starts)


_UNINDENTED_LINE = lazy_pattern(r"\n(?=\S)")


def dedent_view(view: TextView) -> TextView:
    """The view without the white space that all of its lines begin with."""
    text = view.text
    if text[:1] not in (" ", "\t") and "\n " not in text and "\n\t" not in text:
        return view  # no line begins so
    if not text[:1].isspace() and _UNINDENTED_LINE.search(text):
        return view
    lines = [m for m in re.finditer(r"(?m)^([ \t]*+)(?=[^\s])", view.text)]
    inner = lines[1:] if lines and not lines[0][1] else lines
    common = min((len(m[1]) for m in inner), default=0)
    first = len(lines[0][1]) if lines else 0
    if not common and not first:
        return view
    if not first:  # only the first line was stripped
        if text[: inner[0].start()].rstrip().endswith((":", ",", "(", "[", "{")):
            return view  # the language wants the others indented
        lines = inner
    return view.edit(TextEdit(m.start(), m.start() + min(common, len(m[1])), "") for m in lines)


def split_blocks(view: TextView) -> Iterator[Block]:
    """The fences of a text and what stands between them."""
    position = 0
    for match in fences(view.text):
        if match.start() > position and not view.text[position : match.start()].isspace():
            yield Block(view.cut(position, match.start()), False)
        start, end = match.span("body")
        position = match.end()
        if not match["body"].strip():
            continue
        label = FENCE_LABEL.match(view.text, start, end)
        inside = view.cut(label.end() if label else start, end)
        yield Block(inside, True, label[1].lower() if label else "")
    if position < len(view.text):
        yield Block(view.cut(position, len(view.text)), False)


def blank(text: str) -> str:
    """White space of a text's length, with its line ends."""
    return "\n".join([" " * len(line) for line in text.split("\n")])


def blank_spans(text: str, spans: Iterable[Span]) -> str:
    """A text with some places of it as white space.

    >>> blank_spans("f(a=1) or g()", [(7, 9)])
    'f(a=1)    g()'
    """
    pieces, position = [], 0
    for start, end in spans:
        pieces += [text[position:start], blank(text[start:end])]
        position = max(position, end)
    return "".join([*pieces, text[position:]])


def blank_matches(pattern: re.Pattern[str], text: str) -> str:
    """A text with what a pattern finds as white space."""
    return pattern.sub(lambda match: blank(match.group()), text)
