"""The shape "XML": calls as tags with a tag a parameter; values are text unless the row types them.

<function=f><parameter=a>1</parameter></function>
<invoke name="f"><parameter name="a">1</parameter></invoke>
"""

from __future__ import annotations

import json
import re
from functools import cache, partial
from typing import Any

from planner_eval.base import grammar
from planner_eval.base.errors import ParseError, WriteError
from planner_eval.base.json_text import check_depth, decode_whole, loads
from planner_eval.base.limits import Limits, Span, check_calls
from planner_eval.base.text import JsonObject, to_json
from planner_eval.plan.model import Diagnostic, Plan, RawCall, RawPlan, Value, fold
from planner_eval.reading.dialects.dialect import Dialect
from planner_eval.reading.dialects.finding.whole_texts import refuse_too_many_openings
from planner_eval.reading.dialects.references import WrittenPlan, refuse_references
from planner_eval.reading.dialects.round_trip import convert
from planner_eval.reading.dialects.table import Wrapper, row_dialect, token_regex

_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&amp;", "&"))
"""Undone in this order, and written in the other; the standard library's own loads what speaks HTTP."""
MISSING_NAME_CODE = "parse.name"
"""The code of an error at what stands where a tool's name should, and is none."""
_NO_TOOL_NAMES = frozenset({"", "none", "null", "n/a", "nothing"})
_PLACEHOLDERS = {
    "$name": r"(?P<name>[^\"<>\n]{1,300}+)",
    "$key": r"(?P<key>[^\"<>\n]{1,300}+)",
    "$type": r"(?P<type>[^\"<>]*+)",
    "$string": r"(?P<string>true|false)",
}


def dialect(row: Wrapper) -> Dialect:
    """The dialect of a row of shape ``xml`` or ``gemma``."""
    if row.shape == "gemma":
        return row_dialect(row, read_gemma, partial(_write_gemma, row), read_gemma)
    return row_dialect(row, read, partial(_write, row), read)._replace(
        check=partial(note_swallowed_tags, row)
    )


def read(row: Wrapper, text: str, limits: Limits) -> RawPlan:
    """Read the calls of a text.

    Raises:
        ParseError: there is none, or one cannot be read.
    """
    if (
        _compile_template(row.call[0]).search(text) is None
    ):  # most texts with its tokens are in another notation
        raise _no_call_error(row, text)
    refuse_too_many_openings(_opening_pattern(row), text, limits)
    words = {
        "PARAMETER": f"a parameter such as {''.join(row.parameter[:1]).strip()}",
        "END": repr(row.call[1].strip()),
        "CALL": f"a call such as {row.call[0].strip()}",
        "OPEN": "",
    }
    tree = grammar.run(grammar.load("xml", None, _terminals(row)), text, words, row.name)
    calls: list[RawCall] = []
    for node in tree.children:
        if hasattr(node, "children"):
            check_calls(len(calls) + 1, limits)
            calls.append(_read_call(row, node.children, text, limits))
    if not calls:
        raise _no_call_error(row, text)
    return RawPlan(tuple(calls))


def note_swallowed_tags(row: Wrapper, raw: RawPlan) -> RawPlan:
    """The calls with a remark on each value that holds tags of its own notation: one may not be closed."""
    stems = {text.split("$")[0].strip().lstrip("<") for text in (*row.parameter, *row.call)} - {"", "/"}
    tag = re.compile("|".join(map(re.escape, sorted(stems, key=len, reverse=True))))
    notes = []
    for i, call in enumerate(raw.calls):
        for key, value in call.arguments:
            swallowed = tag.search(value) if isinstance(value, str) else None
            if swallowed is not None:
                message = f"the value of {key!r} holds {swallowed.group()!r}: a tag may not be closed"
                notes.append(Diagnostic("value.tag", message, "warning", i, key))
    return raw._replace(notes=(*raw.notes, *notes)) if notes else raw


def _no_call_error(row: Wrapper, text: str) -> ParseError:
    return ParseError(f"found no call such as {row.call[0].strip()}", text=text, dialect=row.name)


def _read_call(row: Wrapper, tokens: list[Any], text: str, limits: Limits) -> RawCall:
    head, *parameters, end = tokens
    name = _compile_template(row.call[0]).match(head)
    assert name is not None
    tool = name["name"].strip()
    # Words, or a call of another notation, may stand where a name without quotes should.
    is_word = tool.lower() not in _NO_TOOL_NAMES and not re.search(r"[\s()\[\]{}]", tool)
    if not is_word and '"$name"' not in row.call[0]:
        reason = f"found {tool[:60]!r}, expected a tool's name"
        start = head.start_pos + name.start("name")
        raise ParseError(reason, text=text, offset=start, code=MISSING_NAME_CODE, dialect=row.name)
    arguments: list[tuple[str, Value]] = []
    spans: list[Span] = []
    for token in parameters:
        match = _parameter_pattern(row).match(token)
        assert match is not None
        start, stop = match.span("value")
        spans.append((token.start_pos + start, token.start_pos + stop))
        groups = match.groupdict()
        if groups["key"].strip()[:1] in ("=", ":"):
            reason = f"found {groups['key']!r}, expected an argument's name"
            raise ParseError(reason, text=text, offset=token.start_pos + match.start("key"), dialect=row.name)
        arguments.append((groups["key"].strip(), _read_value(row, groups, text, spans[-1][0], limits)))
    return RawCall(tool, tuple(arguments), span=(head.start_pos, end.end_pos), spans=tuple(spans))


def _read_value(row: Wrapper, groups: JsonObject, text: str, offset: int, limits: Limits) -> Value:
    value: str = groups["value"]
    if "$type" in "".join(row.parameter):
        for entity, char in _ENTITIES:
            value = value.replace(entity, char)
        kind = groups.get("type") or "string"
        return value if kind in ("string", "str") else _convert_typed(value.strip(), kind)
    if groups.get("string") == "false":
        try:
            return loads(value, limits, row.name)[0]
        except ParseError as error:
            raise ParseError(
                error.reason, text=text, offset=offset + error.offset, dialect=row.name
            ) from None
    if groups.get("string") == "true":
        return value
    return value[1:-1] if value[:1] == "\n" and value[-1:] == "\n" and len(value) > 1 else value


def _convert_typed(text: str, kind: str) -> Value:
    """A value of a type that the tag names: JSON, or Python's words; a text where it is neither."""
    names = {
        "float": "number",
        "int": "integer",
        "dict": "object",
        "tuple": "array",
        "list": "array",
        "bool": "boolean",
    }
    return convert(text, names.get(kind, kind))


@cache
def _compile_template(template: str) -> re.Pattern[str]:
    return re.compile(_template_regex(template))


def _template_regex(template: str, *, exact: bool = False) -> str:
    """A template as a regular expression; white space may be any, unless exact."""
    pieces = re.split(r"(\$name|\$key|\$type|\$string)", template)
    text = "".join(
        _PLACEHOLDERS.get(p) or (re.escape(p) if exact else r"\s*+" if p.isspace() else token_regex([p]))
        for p in pieces
        if p
    )
    # a tag may carry attributes that the row does not name
    return text.replace('{1,300}+)">', '{1,300}+)"[^<>]*+>')


@cache
def _parameter_pattern(row: Wrapper) -> re.Pattern[str]:
    opening, closing = row.parameter[0], row.parameter[1]
    start = _template_regex(opening.removesuffix("\n"), exact='value="' in opening) + (
        r"\r?\n?+" if opening[-1:] == "\n" else ""
    )
    bare = closing.strip("\n")
    stop = _template_regex(bare.lstrip(), exact=False)
    first = re.escape(bare[0])
    back = r"(?:\r?\n)?+" if closing[:1] == "\n" else ""
    guard = re.escape(bare.split("$")[0])
    if "$key" in bare:  # the tag is the key's own, and no closing tag of another is its
        start, stop = (
            start.replace("(?P<key>", "(?P<key>(?!/)"),
            stop.replace(_PLACEHOLDERS["$key"], "(?P=key)"),
        )
        guard = stop
    value = rf"(?P<value>(?:[^{first}\r\n]++|(?!{back}{guard})[{first}\r\n])*+)"
    return re.compile(rf"{start}{value}{back}{stop}\s*+", re.S)


@cache
def _opening_pattern(row: Wrapper) -> re.Pattern[str]:
    """Where calls open, and parameters, in which none does."""
    terminals = dict(_terminals(row))
    return re.compile(f"{terminals['PARAMETER.5']}|({terminals['CALL.5']})", re.S)


@cache
def _terminals(row: Wrapper) -> tuple[tuple[str, str], ...]:
    def plain(pattern: str) -> str:
        unless_key = "(?!key>)" if "(?P=key)" in pattern else ""
        return re.sub(rf"\(\?P<{unless_key}\w+>", "(?:", pattern)

    call = plain(_template_regex(row.call[0]))
    end = token_regex([row.call[1]])
    opening = token_regex(row.open) if row.open else "(?!)x"
    close = token_regex(row.close) if row.close else "(?!)x"
    stops = "|".join(pattern for pattern in (call, opening, close) if pattern != "(?!)x")
    return (
        ("CALL.5", call + r"\s*+"),
        ("END.5", r"\s*+" + end),
        ("PARAMETER.5", r"\s*+" + plain(_parameter_pattern(row).pattern)),
        ("OPEN.4", opening),
        ("CLOSE.4", close),
        ("TEXT.-10", rf"(?:[^<]++|(?!{stops})<)++"),
    )


def _write(row: Wrapper, plan: Plan) -> str:
    refuse_references(plan, row.name)
    opening, closing = "".join(row.open[:1]), "".join(row.close[:1])
    texts = []
    for call in WrittenPlan(plan).calls:
        parameters = (_format_parameter(row, key, value) for key, value in call.arguments.items())
        texts.append(row.call[0].replace("$name", call.name) + "".join(parameters) + row.call[1])
    if row.each:
        return "\n".join(opening + text + closing for text in texts)
    between = "" if not row.open or row.call[1].endswith(("\n", "n>")) else "\n"
    return opening + between.join(texts) + closing


def _format_parameter(row: Wrapper, key: str, value: Any) -> str:
    opening, closing = row.parameter
    text = value if isinstance(value, str) else to_json(value)
    if "$type" in opening + closing:
        kind = _TYPE_NAMES[type(value)]
        if value is None:
            raise WriteError(f"the dialect {row.name!r} has no type for null")
        for entity, char in reversed(_ENTITIES):
            text = text.replace(char, entity)
        opening, closing = opening.replace("$type", kind), closing.replace("$type", kind)
    opening = opening.replace("$string", "true" if isinstance(value, str) else "false")
    return opening.replace("$key", key) + text + closing.replace("$key", key)


_TYPE_NAMES: dict[type, str] = {
    str: "string", int: "integer", float: "float", bool: "boolean",
    list: "array", dict: "dict", type(None): "null",
}  # fmt: skip


# ----------------------------------------------------------------------
# The shape "Gemma": `call:f{a:<|"|>x<|"|>,n:3}` between tokens, with a syntax of its own for values.
TERMINAL_DESCRIPTIONS = {
    "OPEN": "the opening token",
    "CLOSE": "the closing token",
    "HEAD": "a call such as call:name{",
    "KEY": "a key with ':'",
    "QUOTED": "a text between quote tokens",
    "BARE": "a number or a word",
    "LSQB": "'['",
    "RSQB": "']'",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "COMMA": "','",
}
_LITERALS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*+)(?:\.\d++)?(?:[eE][+-]?\d++)?")


def read_gemma(row: Wrapper, text: str, limits: Limits) -> RawPlan:
    """Read the calls of a text.

    Raises:
        ParseError: there is none, or one cannot be read.
    """
    check_depth(text, limits)
    refuse_too_many_openings(_gemma_opening_pattern(row), text, limits)
    tree = grammar.run(
        grammar.load("gemma", _transformer(row.quote), _gemma_terminals(row)),
        text,
        TERMINAL_DESCRIPTIONS,
        row.name,
    )
    check_calls(len(tree), limits)
    if not tree:
        raise ParseError(f"found no {row.open[0]!r}", text=text, dialect=row.name)
    calls = [
        RawCall(
            name, tuple((key, value) for key, value, _ in pairs), span=span, spans=tuple(p[2] for p in pairs)
        )
        for name, pairs, span in tree
    ]
    return RawPlan(tuple(calls))


@cache
def _gemma_opening_pattern(row: Wrapper) -> re.Pattern[str]:
    """Where calls open, and texts in quotes, in which none does."""
    terminals = dict(_gemma_terminals(row))
    return re.compile(f"{terminals['QUOTED.5']}|(?P<open>{terminals['OPEN.5']})", re.S)


def _gemma_terminals(row: Wrapper) -> tuple[tuple[str, str], ...]:
    quote = re.escape(row.quote)
    first = re.escape(row.quote[0])
    opening = token_regex(row.open)
    return (
        ("OPEN.5", opening),
        ("CLOSE.5", token_regex(row.close)),
        ("QUOTED.5", rf"{quote}(?:[^{first}]++|(?!{quote}){first})*+{quote}"),
        ("TEXT.-10", rf"(?:[^<]++|(?!{opening})<)++"),
    )


@cache
def _transformer(quote: str) -> Any:
    from lark import Token, Transformer

    size = len(quote)

    class GemmaTransformer(Transformer[Token, Any]):
        def start(self, items: list[Any]) -> list[Any]:
            return [item for item in items if not isinstance(item, Token)]

        def call(self, items: list[Any]) -> Any:
            name = items[0].strip()[:-1].strip().removeprefix("call:")
            pairs = [item for item in items if isinstance(item, tuple)]
            return name, pairs, (items[0].start_pos, items[-1].end_pos)

        def pair(self, items: list[Any]) -> Any:
            key = items[0].strip()[:-1].strip()
            value, *span = items[1]
            return (key[1:-1] if key[:1] == '"' else key, value, tuple(span))

        # A value is a list of itself and its place, to be told from the tokens and pairs around it.
        def quoted(self, items: list[Token]) -> Any:
            (token,) = items
            return [str(token)[size:-size], token.start_pos, token.end_pos]

        def bare(self, items: list[Token]) -> Any:
            (token,) = items
            text = token.rstrip()
            assert token.start_pos is not None
            return [_read_bare_value(text), token.start_pos, token.start_pos + len(text)]

        def array(self, items: list[Any]) -> Any:
            values = [item[0] for item in items if isinstance(item, list)]
            return [values, items[0].start_pos, items[-1].end_pos]

        def object(self, items: list[Any]) -> Any:
            pairs = {item[0]: item[1] for item in items if isinstance(item, tuple)}
            return [pairs, items[0].start_pos, items[-1].end_pos]

    return GemmaTransformer


def _read_bare_value(text: str) -> Any:
    return decode_whole(text) if _NUMBER.fullmatch(text) else _LITERALS.get(text, text)


def _write_gemma(row: Wrapper, plan: Plan) -> str:
    refuse_references(plan, row.name)
    texts = (f"call:{call.name}{_format_value(row, call.arguments)}" for call in WrittenPlan(plan).calls)
    return "".join(f"{row.open[0]}{text}{row.close[0]}" for text in texts)


def _format_value(row: Wrapper, value: Any) -> str:
    def leaf(value: Any) -> str:
        if not isinstance(value, str):
            return json.dumps(value)
        if row.quote in value:
            raise WriteError(f"the text {value[:40]!r} holds the quote token {row.quote!r}")
        return row.quote + value + row.quote

    def fields(written_fields: dict[str, str]) -> str:
        return f"{{{','.join(f'{key}:{text}' for key, text in written_fields.items())}}}"

    written: str = fold(
        value, leaf, items=lambda written_items: f"[{','.join(written_items)}]", fields=fields
    )
    return written
