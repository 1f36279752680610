"""The transformers of the grammars in grammars/; apart, so that nothing else imports Lark."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from lark import Token, Transformer

from planner_eval.base import grammar, json_text
from planner_eval.base.errors import ParseError
from planner_eval.base.json_text import LocatedValue, build_object
from planner_eval.base.limits import Span
from planner_eval.plan.model import Arguments, Path, RawCall, RawRef, RawTemplate, Value, map_leaves
from planner_eval.reading.dialects.finding.edited_text import TextEdit, TextView, unescape_view
from planner_eval.reading.dialects.notations.appbench_terms import CALL_HEAD, ESCAPED_CHARACTER, word_value
from planner_eval.reading.dialects.programs.program import CallNode, FieldNode, NameNode, OtherNode, TextNode

# ----------------------------------------------------------------------
# The transformer of grammars/python.lark: Python calls to the nodes of a program.
_PATH_STEP = re.compile(r"\.([^\W\d]\w*+)|\[\s*+(?:(\d++)|'([^']*+)'|\"([^\"]*+)\")\s*+\]")
_KEY = re.compile(r"([^\W\d][\w\-.]*+)\s*+=\s*+")
_CALL_HEAD = re.compile(r"(?:await\b\s*+)?+([^\W\d]\w*+(?:[.\-][\w\-]++)*+)\(\s*+")
_ARGUMENT = re.compile(
    r"([^\W\d][\w\-.]*+)\s*+=\s*+(\"(?:[^\"\\]++|\\.)*+\"|'(?:[^'\\]++|\\.)*+'|[^\s,)]++)\s*+(?:,\s*+)?+",
    re.S,
)
_ESCAPE = re.compile(
    r"\\(?:(\r\n|\n)|([\\'\"abfnrtv])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4})|([0-7]{1,3}))"
)
_ESCAPED_CHARACTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_LITERAL_WORDS = {"True": True, "False": False, "None": None, "true": True, "false": False, "null": None}


def unquote(text: str) -> str:
    r"""A Python string literal's text.

    >>> unquote("'it\\'s'"), unquote("r'a\\n'"), unquote('""' * 3)
    ("it's", 'a\\n', '')
    """
    raw = text[0] in "rR"
    body = text.lstrip("rRbB")
    size = 3 if body[:3] in ('"""', "'''") and len(body) >= 6 else 1
    body = body[size:-size]
    return body if raw or "\\" not in body else _ESCAPE.sub(_unescape, body)


def _unescape(match: re.Match[str]) -> str:
    newline, plain, *codes, octal = match.groups()
    if newline:
        return ""
    if plain:
        return _ESCAPED_CHARACTERS.get(plain, plain)
    return chr(int(octal, 8)) if octal else chr(int(next(code for code in codes if code), 16))


def read_scalar(text: str) -> Any:
    """A number, a word or a string literal as data."""
    if text in _LITERAL_WORDS:
        return _LITERAL_WORDS[text]
    if text[-1] in "\"'":
        return unquote(text)
    plain = text.replace("_", "")
    return int(plain) if plain.lstrip("+-").isdigit() else float(plain)


def parse_path(text: str) -> Path:
    """The fields and positions of a way such as `.city[0]["id"]`."""
    return tuple(
        int(position) if position else field or single or double
        for field, position, single, double in _PATH_STEP.findall(text)
    )


def token_span(token: Token) -> Span:
    """Where a token stands."""
    assert token.start_pos is not None
    assert token.end_pos is not None
    return token.start_pos, token.end_pos


_Items: TypeAlias = list[Any]
"""Named apart, for the class below has a rule called ``list``."""


class Statement(NamedTuple):
    """A value on its own, or what it is assigned to."""

    targets: tuple[str, ...]
    node: Any


class PythonTransformer(Transformer[Token, Any]):
    """Gives a list of (targets, node) statements."""

    def start(self, items: _Items) -> _Items:
        """Collect the statements."""
        return items

    def item(self, items: _Items) -> Statement:
        """Read a statement and its targets."""
        targets: tuple[str, ...] = ()
        if isinstance(items[0], Token):
            targets = tuple(name.strip() for name in items[0].split("=")[0].split(","))
        return Statement(targets, _node_of(items[-1]))

    def list(self, items: _Items) -> Any:
        """Read a list of calls."""
        return (list_values(items), _bracket_span(items))

    def array(self, items: _Items) -> Any:
        """Read a list or a tuple."""
        return (list_values(items), _bracket_span(items))

    def object(self, items: _Items) -> Any:
        """Read a dict."""
        return (
            dict(item[1] for item in items if isinstance(item, tuple) and item[0] == "pair"),
            _bracket_span(items),
        )

    def pair(self, items: _Items) -> Any:
        """Read a dict's item."""
        key, value = items[0], items[-1]
        name = unquote(key) if key.type == "STRING" else str(key)
        return ("pair", (name, _node_of(value)))

    def string(self, items: _Items) -> Any:
        """Read a text."""
        return (unquote(items[0]), token_span(items[0]))

    def number(self, items: _Items) -> Any:
        """Read a number."""
        return (read_scalar(items[0]), token_span(items[0]))

    def name(self, items: _Items) -> Any:
        """Read a name, or one of Python's and JSON's words."""
        text = str(items[0])
        name_span = token_span(items[0])
        if text in _LITERAL_WORDS:
            return (_LITERAL_WORDS[text], name_span)
        root = re.match(r"\w+", text)
        assert root is not None
        return (NameNode(root.group(), parse_path(text[root.end() :]), text, name_span), name_span)

    def expression(self, items: _Items) -> Any:
        """Read an expression of numbers: its source text."""
        source_span = token_span(items[0])
        return (OtherNode("an expression", str(items[0]), source_span, source_span[0], [], True), source_span)

    def scalar_argument(self, items: _Items) -> Any:
        """Read `a=1`, one token."""
        match = _KEY.match(items[0])
        assert match is not None
        start, end = token_span(items[0])
        return ("argument", match[1], read_scalar(items[0][match.end() :]), (start + match.end(), end))

    def keyed_argument(self, items: _Items) -> Any:
        """Read `a=` and a value."""
        return ("argument", items[0].split("=")[0].strip(), *_unpack_placed(items[1]))

    def plain_argument(self, items: _Items) -> Any:
        """Read a positional argument."""
        return ("argument", None, *_unpack_placed(items[0]))

    def flat(self, items: _Items) -> Any:
        """Read a call of plain named values, one token."""
        token = items[0]
        head = _CALL_HEAD.match(token)
        assert head is not None
        arguments = []
        for match in _ARGUMENT.finditer(token, head.end()):
            start, end = match.span(2)
            arguments.append(
                (match[1], read_scalar(match[2]), (token.start_pos + start, token.start_pos + end))
            )
        return (CallNode(head[1], arguments, token_span(token)), token_span(token))

    def call(self, items: _Items) -> Any:
        """Read a call, and the way into its result."""
        head = items[0]
        last = items[-1] if items[-1].type == "RPAR" else items[-2]
        name = re.sub(r"^await\s+", "", head.rstrip()[:-1].rstrip())
        arguments = [
            (item[1], item[2], item[3]) for item in items if isinstance(item, tuple) and item[0] == "argument"
        ]
        call_span = (head.start_pos, last.end_pos)
        named = next((i for i, argument in enumerate(arguments) if argument[0] is not None), len(arguments))
        loose = next((argument for argument in arguments[named:] if argument[0] is None), None)
        if loose is not None:
            error = ParseError("found a value without a name after named arguments, expected name=value")
            error.offset = loose[2][0]
            raise error
        node: Any = CallNode(name, arguments, call_span)
        if items[-1].type == "WAY":
            node = FieldNode(node, parse_path(items[-1]))
            call_span = (call_span[0], items[-1].end_pos)
        return (node, call_span)


def list_values(items: list[Any]) -> list[Any]:
    """The values among brackets and commas."""
    return [item[0] for item in items if isinstance(item, tuple)]


def _node_of(item: Any) -> Any:
    return item[0]


def _unpack_placed(item: Any) -> tuple[Any, Span]:
    value, value_span = item
    return value, value_span


def _bracket_span(items: list[Any]) -> Span:
    return items[0].start_pos, items[-1].end_pos


# ----------------------------------------------------------------------
# The transformer of grammars/javascript.lark; apart, so that nothing else imports Lark.
#
# A value is a pair of the node and its place.
_JS_LITERALS = {"true": True, "false": False, "null": None, "undefined": None}
_JS_ESCAPE = re.compile(
    r"\\(?:(\r\n|\n)|u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.S
)
_JS_ESCAPED_CHARACTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}


class JavaScriptTransformer(Transformer[Token, Any]):
    """Gives a list of statements: (kind, targets, value)."""

    def start(self, items: list[Any]) -> list[Any]:
        """Give the statements."""
        return [item for item in items if item is not None]

    def ignore(self, items: list[Any]) -> None:
        """Drop what says nothing."""
        return None

    def declaration(self, items: list[Any]) -> Any:
        """Read `let x`."""
        return ("declaration", (re.findall(r"[\w$]+", items[0])[-1],), None)

    def assign(self, items: list[Any]) -> Any:
        """Read `x = value`."""
        left = re.sub(r":\s*[\w.<>\[\]]+\s*$", "", items[0].rstrip().removesuffix("=").rstrip())
        return ("assign", (re.findall(r"[\w$]+", left)[-1],), items[1][0])

    def unpack_array(self, items: list[Any]) -> Any:
        """Read `[a, b] = value`."""
        return ("unpack_array", tuple(re.findall(r"[\w$]+", items[0])[1:]), items[1][0])

    def unpack_object(self, items: list[Any]) -> Any:
        """Read `{a, b} = value`."""
        return ("unpack_object", tuple(re.findall(r"[\w$]+", items[0])[1:]), items[1][0])

    def show(self, items: list[Any]) -> Any:
        """Read a value on its own."""
        return ("show", (), items[-1][0])

    def string(self, items: list[Token]) -> Any:
        """Read a quoted text."""
        return (_unescape_js_text(items[0][1:-1]), token_span(items[0]))

    def template(self, items: list[Token]) -> Any:
        """Read a text in backticks."""
        literal_span = token_span(items[0])
        return (_read_template(str(items[0]), literal_span), literal_span)

    def number(self, items: list[Token]) -> Any:
        """Read a number."""
        text = items[0].lower().rstrip("dfl")
        return (int(text) if text.lstrip("+-").isdigit() else float(text), token_span(items[0]))

    def name(self, items: list[Token]) -> Any:
        """Read a literal, or a name with a way into it."""
        name_span = token_span(items[0])
        text = re.sub(r"^await\s+", "", items[0]).replace("?.", ".")
        if text in _JS_LITERALS:
            return (_JS_LITERALS[text], name_span)
        root = re.match(r"[\w$]+", text)
        assert root is not None
        return (NameNode(root.group(), parse_path(text[root.end() :]), text, name_span), name_span)

    def array(self, items: list[Any]) -> Any:
        """Collect a list's values."""
        return (list_values(items), (items[0].start_pos, items[-1].end_pos))

    def object(self, items: list[Any]) -> Any:
        """Collect an object's members."""
        pairs = dict(item[0] for item in items if isinstance(item, tuple))
        return (pairs, (items[0].start_pos, items[-1].end_pos))

    def flat(self, items: list[Token]) -> Any:
        """Read an object of scalars at once."""
        pairs = {}
        for match in _PAIR.finditer(items[0]):
            key, text = match.groups()
            value = _JS_LITERALS[text] if text in _JS_LITERALS else _read_js_scalar(text)
            pairs[_unescape_js_text(key[1:-1]) if key[0] == '"' else key] = value
        return (pairs, token_span(items[0]))

    def member(self, items: list[Any]) -> Any:
        """Read `key: value`."""
        key = items[0].rstrip()[:-1].rstrip()
        return ((_unescape_js_text(key[1:-1]) if key[0] in "\"'" else key, items[1][0]), items[1][1])

    def shorthand(self, items: list[Token]) -> Any:
        """Read `{name}`."""
        name, name_span = str(items[0]), token_span(items[0])
        return ((name, NameNode(name, (), name, name_span)), name_span)

    def call(self, items: list[Any]) -> Any:
        """Read a call; gathered calls are a list of calls."""
        head, last = items[0], items[-1] if items[-1].type == "RPAR" else items[-2]
        name = re.sub(r"\s+", "", re.sub(r"^await\s+", "", head.rstrip()[:-1]))
        arguments: list[tuple[str | None, Any, Any]] = [
            (None, item[0], item[1]) for item in items if isinstance(item, tuple)
        ]
        call_span = (head.start_pos, last.end_pos)
        if name in ("Promise.all", "Promise.allSettled") and arguments:
            return (arguments[0][1], call_span)
        node: Any = CallNode(name, arguments, call_span)
        if items[-1].type == "WAY":
            return (FieldNode(node, parse_path(items[-1])), (call_span[0], items[-1].end_pos))
        return (node, call_span)


_PAIR = re.compile(
    r'([^\W\d][\w$]*+|"(?:[^"\\\n]++|\\.)*+")\s*+:\s*+("(?:[^"\\\n]++|\\.)*+"|[^\s,}]++)', re.S
)


def _read_js_scalar(text: str) -> Any:
    if text[0] == '"':
        return _unescape_js_text(text[1:-1])
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _unescape_js_text(text: str) -> str:
    return _JS_ESCAPE.sub(_unescape_js, text) if "\\" in text else text


def _unescape_js(match: re.Match[str]) -> str:
    newline, long, four, two, plain = match.groups()
    if newline:
        return ""
    code = long or four or two
    if code:
        return chr(min(int(code, 16), 0x10FFFF))
    return _JS_ESCAPED_CHARACTERS.get(plain, plain)


_TEMPLATE_FIELD = re.compile(
    r"\$\{\s*+([^\W\d][\w$]*+)((?:\??\.[^\W\d][\w$]*+|\[\s*+(?:\d++|\"[^\"]*+\"|'[^']*+')\s*+\])*+)\s*+\}"
)


def _read_template(text: str, literal_span: tuple[int, int]) -> Any:
    body = text[1:-1]
    pieces: list[Any] = []
    end = 0
    for match in _TEMPLATE_FIELD.finditer(body):
        pieces.append(_unescape_js_text(body[end : match.start()]))
        source = match[1] + match[2]
        pieces.append(NameNode(match[1], parse_path(match[2].replace("?.", ".")), source, literal_span))
        end = match.end()
    pieces.append(_unescape_js_text(body[end:]))
    if "${" in _TEMPLATE_FIELD.sub("", body):
        return OtherNode("a computed template", text, literal_span, literal_span[0])
    return TextNode(pieces, text, literal_span) if len(pieces) > 1 else pieces[0]


# ----------------------------------------------------------------------
# The transformer of grammars/appbench.lark; apart, so that the fast path imports no Lark.
_NAME_AND_VALUE = re.compile(r"#(\w++)\s*+=\s*+(.*)", re.S)


class Argument(NamedTuple):
    """A call's argument, and where it stands."""

    name: str
    value: Any
    span: Span


class AppBenchTransformer(Transformer[Token, Any]):
    """Gives a list of (app, name, returned names, [(argument, value, place)], place)."""

    def start(self, items: list[Any]) -> list[Any]:
        """Flatten the sections."""
        return [call for item in items for call in (item if isinstance(item, list) else [item])]

    def section(self, items: list[Any]) -> list[Any]:
        """Give each call of `App: [...]` its app."""
        app = str(items[0]).rstrip()[:-1].strip()
        return [(app, *call[1:]) for call in items if isinstance(call, tuple)]

    def call(self, items: list[Any]) -> Any:
        """Split the head into returned names and the tool's name."""
        head, closing = items[0], items[-1]
        match = CALL_HEAD.fullmatch(head)
        assert match is not None
        arguments = [item for item in items if isinstance(item, tuple)]
        return (None, match[2], match[1], arguments, (head.start_pos, closing.end_pos))

    def text_argument(self, items: list[Token]) -> Argument:
        """Read `#name='value'`."""
        match = _NAME_AND_VALUE.fullmatch(items[0])
        assert match is not None
        return Argument(match[1], _unquote(match[2]), _token_span(items[0]))

    def word_argument(self, items: list[Token]) -> Argument:
        """Read `#name=word`."""
        match = _NAME_AND_VALUE.fullmatch(items[0])
        assert match is not None
        end = items[0].end_pos
        assert end is not None
        value = _place_reference(word_value(match[2]), (end - len(match[2]), end))
        return Argument(match[1], value, _token_span(items[0]))

    def text_value(self, items: list[Token]) -> Any:
        """Read a quoted text in a list."""
        return [_unquote(str(items[0]))]

    def word_value(self, items: list[Token]) -> Any:
        """Read an unquoted word in a list."""
        return [_place_reference(word_value(str(items[0])), _token_span(items[0]))]

    def list_value(self, items: list[Any]) -> Any:
        """Read a list in a list."""
        return [items[-1][0]]

    def value_list(self, items: list[Any]) -> Any:
        """Collect a list's values and where its bracket closes."""
        return [item[0] for item in items if isinstance(item, list)], items[-1].end_pos

    def list_argument(self, items: list[Any]) -> Argument:
        """Read `#name=[...]`."""
        match = _NAME_AND_VALUE.fullmatch(items[0])
        assert match is not None
        values, end = items[1]
        return Argument(match[1], values, (items[0].start_pos, end))


def _place_reference(value: Any, span: Span) -> Any:
    return RawRef(value.name, value.path, span) if isinstance(value, RawRef) else value


def _unquote(quoted: str) -> str:
    return ESCAPED_CHARACTER.sub(r"\1", quoted[1:-1])


def _token_span(token: Token) -> Span:
    assert token.start_pos is not None
    assert token.end_pos is not None
    return token.start_pos, token.end_pos


# ----------------------------------------------------------------------
# The reference reading of NESTful's texts, by grammars/nestful.lark; the fast path imports none of this.
#
# A text's places are those of its JSON literal, escapes and all, in the text of the whole plan.
TERMINAL_DESCRIPTIONS = {"HEAD": "a reference", "TEXT": "text"}


@dataclass(frozen=True, slots=True)
class BrokenReference:
    """A text that is a reference but for its first dollar sign; `read_label` is what it begins with."""

    label: str


class PathStep(NamedTuple):
    """A step of a reference's way, and the place after it."""

    way: str | int
    end: int


class NestfulTransformer(Transformer[Token, Any]):
    """Gives a text's parts, strings and RawRefs placed in it, or Broken; a label's name."""

    def text(self, items: list[Any]) -> list[Any] | BrokenReference:
        """Collect the parts."""
        if items and isinstance(items[0], BrokenReference):
            return items[0]
        return [str(item) if isinstance(item, Token) else item for item in items]

    def reference(self, items: list[Any]) -> RawRef:
        """Read `$label.field[0]$`."""
        head, *steps = items
        end = steps[-1].end if steps else head.end_pos
        return RawRef(head[1:], tuple(step.way for step in steps), (head.start_pos, end + 1))

    def field(self, items: list[Token]) -> PathStep:
        """Read `.field`."""
        return PathStep(items[0][1:], _token_end(items[0]))

    def index(self, items: list[Token]) -> PathStep:
        """Read `[0]`; a position that no list has is a field of that name."""
        digits = items[0][1:-1]
        return PathStep(int(digits) if len(digits) < 10 else digits, _token_end(items[0]))

    def broken(self, items: list[Token]) -> BrokenReference:
        """Read `label.field$`."""
        return BrokenReference(str(items[0]))

    def label(self, items: list[Token]) -> str:
        """Read a label without the dollar signs around it."""
        return str(items[0]) if items else ""


def _token_end(token: Token) -> int:
    assert token.end_pos is not None
    return token.end_pos


def _run_grammar(text: str, start: str) -> Any:
    return grammar.run(
        grammar.load("nestful", NestfulTransformer, start=start), text, TERMINAL_DESCRIPTIONS, "nestful"
    )


def read_label(text: str) -> str:
    """The name that a label gives.

    >>> read_label("$var_1"), read_label("var1")
    ('var_1', 'var1')
    """
    name = _run_grammar(text, "label")
    assert isinstance(name, str)
    return name


def find_broken_label(text: str) -> str | None:
    """The label with which a reference begins that lacks its first dollar sign; None of other texts.

    >>> find_broken_label("var1.product_id$"), find_broken_label("$var1.product_id$")
    ('var1', None)
    """
    reading = _run_grammar(text, "text")
    return reading.label if isinstance(reading, BrokenReference) else None


def read_text(text: str) -> str | RawRef | RawTemplate:
    """A text as itself, as a reference, or as text around references.

    >>> read_text("5 * $var1.Exchange Rate$").parts
    ('5 * ', RawRef(name='var1', path=('Exchange Rate',)))
    """
    pieces = _run_grammar(text, "text")
    if isinstance(pieces, BrokenReference) or not any(isinstance(piece, RawRef) for piece in pieces):
        return text
    return pieces[0] if len(pieces) == 1 and isinstance(pieces[0], RawRef) else RawTemplate(tuple(pieces))


def read_texts(data: Value) -> Value:
    """A value with its texts read, at any depth; of one whose places are not known."""
    return map_leaves(
        lambda leaf: _place_references(read_text(leaf), None) if isinstance(leaf, str) else leaf, data
    )


def read_arguments(call: RawCall, text: str, by_span: dict[Span, LocatedValue]) -> Arguments:
    """A call's arguments with their texts read.

    Args:
        call: The call, its texts as they are.
        text: The text of the whole plan.
        by_span: The JSON values of that text, by their places.
    """
    if len(call.spans) != len(call.arguments):
        return tuple((key, read_texts(item)) for key, item in call.arguments)
    return tuple(
        (key, _read_placed(by_span[span], text))
        for (key, _), span in zip(call.arguments, call.spans, strict=True)
    )


def index_by_span(located: list[LocatedValue]) -> dict[Span, LocatedValue]:
    """The JSON values of a text by their places."""
    by_span: dict[Span, LocatedValue] = {}
    waiting = list(located)
    while waiting:
        item = waiting.pop()
        by_span[item.span] = item
        if item.is_object:
            waiting += [member for _, member in item.data]
        elif isinstance(item.data, list):
            waiting += item.data
    return by_span


def _read_placed(item: LocatedValue, text: str) -> Value:
    if item.is_object:
        return build_object([(key, _read_placed(member, text)) for key, member in item.data])
    if isinstance(item.data, list):
        return [_read_placed(member, text) for member in item.data]
    if not isinstance(item.data, str):
        return item.data
    inside = unescape_view(TextView(text).cut(item.span[0] + 1, item.span[1] - 1))
    pairs = [TextEdit(*m.span(), _join_surrogates(m.group())) for m in _SURROGATES.finditer(inside.text)]
    inside = inside.edit(pairs) if pairs else inside
    return _place_references(read_text(item.data), inside if inside.text == item.data else None)


_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def _join_surrogates(pair: str) -> str:
    return pair.encode("utf-16", "surrogatepass").decode("utf-16")


def _place_references(read: str | RawRef | RawTemplate, view: TextView | None) -> Value:
    """References with their places in the plan's text; without them where those are not known."""
    if isinstance(read, RawTemplate):
        return RawTemplate(
            tuple(piece if isinstance(piece, str) else _place_label(piece, view) for piece in read.parts)
        )
    return read if isinstance(read, str) else _place_label(read, view)


def _place_label(ref: RawRef, view: TextView | None) -> RawRef:
    span = view.span(ref.span) if view is not None and ref.span is not None else None
    return RawRef(ref.name, ref.path, span)


# ----------------------------------------------------------------------
# The transformer of grammars/sections.lark and named.lark; apart, so that the fast path imports no Lark.
_JsonTransformer: Any = json_text.transformer()


class NamedCall(NamedTuple):
    """A named call's arguments."""

    name: str
    value: Any


class FramedTransformer(_JsonTransformer):  # type: ignore[misc]
    """Gives a list of values (sections) or of (name, values) pairs (named)."""

    def start(self, items: list[Any]) -> list[Any]:
        """Drop the text around the calls."""
        return [item for item in items if not isinstance(item, Token)]

    def section(self, items: list[Any]) -> list[Any]:
        """Give the values between two tokens."""
        return [item for item in items if not isinstance(item, Token)]

    def entry(self, items: list[Any]) -> NamedCall:
        """Give a name and its arguments."""
        name = next(item for item in items if isinstance(item, Token) and item.type == "NAME")
        return NamedCall(str(name), next(item for item in items if not isinstance(item, Token)))


class PlacedTransformer(FramedTransformer):
    """The same, with each named call's place: (name, value, place)."""

    def entry(self, items: list[Any]) -> Any:
        """Give a name, its arguments and where the call stands."""
        inside = [item for item in items if getattr(item, "type", "") != "TEXT"]
        first, last = inside[0], inside[-1]
        end = last.end_pos if isinstance(last, Token) else last.span[1]
        return (*super().entry(items), (first.start_pos, end))
