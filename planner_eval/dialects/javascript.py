"""JavaScript programs that are top-level sequences of calls: `const x = await f({...});`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from planner_eval.base import grammar
from planner_eval.base.errors import ParseError, WriteError
from planner_eval.base.jsontext import check_depth
from planner_eval.base.limits import Limits, check_calls
from planner_eval.dialects.dialect import AFTER, Dialect
from planner_eval.dialects.program import CallNode, FieldNode, Machine, NameNode, OtherNode, TextNode
from planner_eval.dialects.table import Wrapper
from planner_eval.dialects.writing import refuse_rest
from planner_eval.plan.model import Plan, RawPlan, Ref, Unresolved, Value
from planner_eval.plan.walk import fold

WORDS = {
    "TARGET": "a variable with '='",
    "HEAD": "a call such as 'name('",
    "STRING": "a quoted text",
    "TEMPLATE": "a template text",
    "NUMBER": "a number",
    "NAME": "a name",
    "KEY": "a key with ':'",
    "LSQB": "'['",
    "RSQB": "']'",
    "RPAR": "')'",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "COMMA": "','",
    "_END": "';'",
}
_LITERALS = {"true": True, "false": False, "null": None, "undefined": None}
_ESCAPE = re.compile(r"\\(?:(\r\n|\n)|u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.S)
_PLAIN = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
_DEFINES = re.compile(r"\bfunction\b\s*+(\w++)\s*+\(|\bclass\s++(\w++)")


def dialect(row: Wrapper) -> Dialect:
    """The dialect of the shape ``javascript``."""

    def read_text(text: str, limits: Limits) -> RawPlan:
        raw = read(text, limits)
        if not raw.calls:
            raise ParseError("the program calls no tool", text=text, code="parse.shape", dialect=row.name)
        return raw

    return Dialect(
        row.name, row.title, row.example, read_text, lambda plan: write(plan, row.name), reference=read_text
    )


def read(text: str, limits: Limits, defined: Iterable[str] = ()) -> RawPlan:
    r"""Read a program of top-level calls.

    Raises:
        ParseError: it holds something else, or an argument cannot be known.

    >>> read('const r = await f({a: 1});\ng({b: r.x, c: `at ${r.y}`});', Limits()).calls[1].arguments[0]
    ('b', RawRef(name='@0', path=('x',)))
    """
    check_depth(text, limits)
    names = {name for match in _DEFINES.finditer(text) for name in match.groups() if name}
    items = grammar.run(grammar.load("javascript", _transformer()), text, WORDS, "openai-programmatic")
    machine = Machine(text, {*defined, *names}, mappings=True)
    machine.is_program = True
    for kind, targets, node in items:
        if kind == "show":
            machine.statement(node)
        elif kind == "declaration":
            machine.held.update(dict.fromkeys(targets, targets[0]))
        else:
            keys = targets if kind == "unpack_object" else ()
            machine.assign(targets, node, unpack=kind != "assign", keys=keys)
    check_calls(len(machine.calls), limits)
    return machine.finish()


@cache
def _transformer() -> Any:  # noqa: C901 - a class body of one-liners
    from lark import Token, Transformer

    from planner_eval.dialects.python_tree import list_of, span, way

    class JavaScriptTransformer(Transformer[Token, Any]):
        def start(self, items: list[Any]) -> list[Any]:
            return [item for item in items if item is not None]

        def ignore(self, items: list[Any]) -> None:
            return None

        def declaration(self, items: list[Any]) -> Any:
            return ("declaration", (re.findall(r"[\w$]+", items[0])[-1],), None)

        def assign(self, items: list[Any]) -> Any:
            left = re.sub(r":\s*[\w.<>\[\]]+\s*$", "", items[0].rstrip().removesuffix("=").rstrip())
            return ("assign", (re.findall(r"[\w$]+", left)[-1],), items[1][0])

        def unpack_array(self, items: list[Any]) -> Any:
            return ("unpack_array", tuple(re.findall(r"[\w$]+", items[0])[1:]), items[1][0])

        def unpack_object(self, items: list[Any]) -> Any:
            return ("unpack_object", tuple(re.findall(r"[\w$]+", items[0])[1:]), items[1][0])

        def show(self, items: list[Any]) -> Any:
            return ("show", (), items[-1][0])

        def string(self, items: list[Token]) -> Any:
            return (_text(items[0][1:-1]), span(items[0]))

        def template(self, items: list[Token]) -> Any:
            place = span(items[0])
            return (_parts(str(items[0]), place), place)

        def number(self, items: list[Token]) -> Any:
            text = items[0].lower().rstrip("dfl")
            return (int(text) if text.lstrip("+-").isdigit() else float(text), span(items[0]))

        def name(self, items: list[Token]) -> Any:
            place = span(items[0])
            text = re.sub(r"^await\s+", "", items[0]).replace("?.", ".")
            if text in _LITERALS:
                return (_LITERALS[text], place)
            root = re.match(r"[\w$]+", text)
            assert root is not None
            return (NameNode(root.group(), way(text[root.end() :]), text, place), place)

        def array(self, items: list[Any]) -> Any:
            return (list_of(items), (items[0].start_pos, items[-1].end_pos))

        def object(self, items: list[Any]) -> Any:
            pairs = dict(item[0] for item in items if isinstance(item, tuple))
            return (pairs, (items[0].start_pos, items[-1].end_pos))

        def flat(self, items: list[Token]) -> Any:
            pairs = {}
            for match in _PAIR.finditer(items[0]):
                key, text = match.groups()
                value = _LITERALS[text] if text in _LITERALS else _scalar(text)
                pairs[_text(key[1:-1]) if key[0] == '"' else key] = value
            return (pairs, span(items[0]))

        def member(self, items: list[Any]) -> Any:
            key = items[0].rstrip()[:-1].rstrip()
            return ((_text(key[1:-1]) if key[0] in "\"'" else key, items[1][0]), items[1][1])

        def shorthand(self, items: list[Token]) -> Any:
            name, place = str(items[0]), span(items[0])
            return ((name, NameNode(name, (), name, place)), place)

        def call(self, items: list[Any]) -> Any:
            head, last = items[0], items[-1] if items[-1].type == "RPAR" else items[-2]
            name = re.sub(r"\s+", "", re.sub(r"^await\s+", "", head.rstrip()[:-1]))
            given: list[tuple[str | None, Any, Any]] = [
                (None, item[0], item[1]) for item in items if isinstance(item, tuple)
            ]
            place = (head.start_pos, last.end_pos)
            if name in ("Promise.all", "Promise.allSettled") and given:
                return (given[0][1], place)
            node: Any = CallNode(name, given, place)
            if items[-1].type == "WAY":
                return (FieldNode(node, way(items[-1])), (place[0], items[-1].end_pos))
            return (node, place)

    return JavaScriptTransformer


_PAIR = re.compile(
    r'([^\W\d][\w$]*+|"(?:[^"\\\n]++|\\.)*+")\s*+:\s*+("(?:[^"\\\n]++|\\.)*+"|[^\s,}]++)', re.S
)


def _scalar(text: str) -> Any:
    if text[0] == '"':
        return _text(text[1:-1])
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _text(text: str) -> str:
    return _ESCAPE.sub(_unescape, text) if "\\" in text else text


def _unescape(match: re.Match[str]) -> str:
    newline, long, four, two, plain = match.groups()
    if newline:
        return ""
    code = long or four or two
    if code:
        return chr(min(int(code, 16), 0x10FFFF))
    return _PLAIN.get(plain, plain)


_HOLE = re.compile(
    r"\$\{\s*+([^\W\d][\w$]*+)((?:\??\.[^\W\d][\w$]*+|\[\s*+(?:\d++|\"[^\"]*+\"|'[^']*+')\s*+\])*+)\s*+\}"
)


def _parts(text: str, place: tuple[int, int]) -> Any:
    from planner_eval.dialects.python_tree import way

    body = text[1:-1]
    parts: list[Any] = []
    end = 0
    for match in _HOLE.finditer(body):
        parts.append(_text(body[end : match.start()]))
        shown = match[1] + match[2]
        parts.append(NameNode(match[1], way(match[2].replace("?.", ".")), shown, place))
        end = match.end()
    parts.append(_text(body[end:]))
    if "${" in _HOLE.sub("", body):
        return OtherNode("a computed template", text, place, place[0])
    return TextNode(parts, text, place) if len(parts) > 1 else parts[0]


# ---------------------------------------------------------------- writing
def write(plan: Plan, dialect: str) -> str:
    """A plan as a program, a line a call.

    Raises:
        WriteError: a name that is no JavaScript name, or a reference that no earlier line gives.
    """
    refuse_rest(plan)
    used = {edge.producer for edge in plan.edges}
    taken = {call.name.split(".")[0] for call in plan.calls}
    names = [f"v{i + 1}" if f"v{i + 1}" not in taken else f"v{i + 1}_" for i in range(len(plan.calls))]
    lines = []
    for i, call in enumerate(plan.calls):
        if not re.fullmatch(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*", call.name):
            raise WriteError(f"call {call.id}: {call.name!r} is no name of JavaScript")
        if any(key == AFTER for key, _ in call.arguments):
            raise WriteError(f"call {call.id}: {dialect!r} cannot say a dependency without an argument")
        inside = ", ".join(f"{_key(key)}: {_written(value, names, i)}" for key, value in call.arguments)
        text = f"await {call.name}({{{inside}}});" if call.arguments else f"await {call.name}();"
        lines.append(f"const {names[i]} = {text}" if i in used else text)
    return "\n".join(lines)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z_]\w*", key) else json.dumps(key, ensure_ascii=False)


def _written(value: Value, names: list[str], i: int) -> str:
    def leaf(value: Value) -> str:
        refers = isinstance(value, (Ref, Unresolved))
        return _reference(value, names, i) if refers else json.dumps(value, ensure_ascii=False)

    def text(parts: tuple[Any, ...]) -> str:
        made = (re.sub(r"([`\\$])", r"\\\1", p) if isinstance(p, str) else f"${{{leaf(p)}}}" for p in parts)
        return f"`{''.join(made)}`"

    written: str = fold(
        value,
        leaf,
        items=lambda made: f"[{', '.join(made)}]",
        fields=lambda made: f"{{{', '.join(f'{_key(key)}: {item}' for key, item in made.items())}}}",
        text=text,
    )
    return written


def _reference(ref: Ref | Unresolved, names: list[str], i: int) -> str:
    if isinstance(ref, Unresolved) or ref.call >= i:
        raise WriteError(f"call {i + 1} refers to what no earlier call gives, which a program cannot say")
    return names[ref.call] + "".join(f"[{json.dumps(step, ensure_ascii=False)}]" for step in ref.path)
