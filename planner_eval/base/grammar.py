"""Lark at the edge: builds a grammar of grammars/ on first need and puts its errors into words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from planner_eval.base import resources
from planner_eval.base.errors import LimitError, ParseError
from planner_eval.base.limits import long_integer_error

if TYPE_CHECKING:
    from lark import Lark, Transformer


GRAMMARS_WITH_TABLES = ("javascript", "python")
"""The grammars whose tables are shipped, see :func:`build_tables`: those that readers ask on the way to a
plan.
"""


@cache
def load(
    name: str,
    transformer: type[Transformer[Any, Any]] | None = None,
    terminals: tuple[tuple[str, str], ...] = (),
    start: str = "start",
) -> Lark:
    """The LALR parser of ``grammars/<name>.lark``, made once a process.

    Args:
        name: The grammar's file name without its ending.
        transformer: A Transformer class, applied while parsing.
        terminals: Further terminals, a name and a regular expression each: the tokens of a row.
        start: The rule that a whole text follows.
    """
    from lark import Lark

    tree_maker = transformer() if transformer else None
    if name in GRAMMARS_WITH_TABLES:
        stored = json.loads(resources.read(f"grammars/{name}.json"), object_pairs_hook=_number_keys)
        if stored["of"] == _table_version(name):
            loaded: Lark = Lark._load_from_dict(stored["data"], stored["memo"], transformer=tree_maker)  # type: ignore[no-untyped-call]
            return loaded
    return _build_parser(name, tree_maker, terminals, start)


def build_tables(name: str) -> str:
    """What ``grammars/<name>.json`` holds: a parser's tables, which take twenty times as long to build.

    They are of one grammar, and of one version of Lark; beside others the parser is built.
    """
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    data, memo = _build_parser(name, None, (), "start").memo_serialize([TerminalDef, Rule])
    options = {key: data["options"][key] for key in ("parser", "lexer", "start", "maybe_placeholders")}
    stored = {"of": _table_version(name), "data": {**data, "options": options}, "memo": memo}
    return json.dumps(stored, separators=(",", ":")) + "\n"


def _number_keys(pairs: list[tuple[str, Any]]) -> dict[Any, Any]:
    """An object whose keys are numbers, which are texts in JSON."""
    return {int(key) if key.isdecimal() else key: value for key, value in pairs}


def _table_version(name: str) -> list[str]:
    """What tables are made of: a version of Lark and, in short, the grammar."""
    from hashlib import blake2b

    import lark

    text = resources.read(f"grammars/{name}.lark")
    return [lark.__version__, blake2b(text.encode(), digest_size=16).hexdigest()]


def _build_parser(
    name: str, transformer: Transformer[Any, Any] | None, terminals: tuple[tuple[str, str], ...], start: str
) -> Lark:
    from lark import Lark

    folder = resources.folder("grammars")

    def imported(_base: object, path: str) -> tuple[str, str]:
        # Lark hands over its own library's paths too; refusing those lets its loader find them.
        file = folder / path
        if not file.is_file():
            raise OSError(path)
        return str(file), file.read_text(encoding="utf-8")

    text = (folder / f"{name}.lark").read_text(encoding="utf-8")
    text += "".join(f"\n{key}: /{_escape_slashes(pattern)}/s\n" for key, pattern in terminals)
    return Lark(
        text,
        start=start,
        parser="lalr",
        lexer="contextual",
        maybe_placeholders=False,
        transformer=transformer,
        import_paths=[imported],
    )


def _escape_slashes(pattern: str) -> str:
    """A regular expression as Lark's source wants it: slashes escaped, line ends as escapes."""
    return pattern.replace("\\\n", "\n").replace("\\/", "/").replace("/", "\\/").replace("\n", "\\n")


def run(parser: Lark, text: str, words: Mapping[str, str], dialect: str) -> Any:
    """Parse `text`; a failure becomes a ParseError with what was found and what was expected.

    Args:
        parser: From :func:`load`.
        text: The text.
        words: Each terminal's name in human words; terminals left out are not mentioned.
        dialect: For the error.

    Raises:
        ParseError: the text does not follow the grammar.
    """
    from lark.exceptions import (
        UnexpectedCharacters,
        UnexpectedEOF,
        UnexpectedInput,
        UnexpectedToken,
        VisitError,
    )

    offset: int | None
    try:
        return parser.parse(text)
    except UnexpectedCharacters as error:
        expected, offset = error.allowed or set(), error.pos_in_stream
    except UnexpectedToken as error:
        # A token's own white space may come first; the caret belongs under what can be seen.
        offset = error.token.start_pos if error.token.type != "$END" else len(text)
        expected = error.accepts or error.expected
    except UnexpectedEOF as error:
        expected, offset = set(error.expected), len(text)
    except VisitError as error:
        if isinstance(error.orig_exc, ParseError):
            raise error.orig_exc from None
        if isinstance(error.orig_exc, ValueError):  # an integer of more digits than Python converts
            raise long_integer_error(text) from None
        raise
    except ValueError:
        raise long_integer_error(text) from None
    except RecursionError:
        raise LimitError("the text nests too deeply", text=text) from None
    except UnexpectedInput as error:  # pragma: no cover - the three above are all that Lark 1 has
        expected, offset = set(), error.pos_in_stream or 0
    raise syntax_error(text, len(text) if offset is None else offset, expected, words, dialect) from None


def syntax_error(
    text: str, offset: int, expected: Iterable[str], words: Mapping[str, str], dialect: str
) -> ParseError:
    """The error of a text that does not follow a grammar.

    Args:
        text: The text.
        offset: Where it does not, or the white space before.
        expected: The terminals that could stand there.
        words: Each terminal's name in human words.
        dialect: For the error.
    """
    while offset < len(text) and text[offset].isspace():
        offset += 1
    reason = f"found {describe_found(text, offset)}, expected {format_choices(expected, words)}"
    return ParseError(reason, text=text, offset=offset, dialect=dialect)


def describe_found(text: str, offset: int) -> str:
    """What stands at `offset`, shortened for a message.

    >>> describe_found("f(a b)", 4)
    "'b)'"
    >>> describe_found("f(", 2)
    'the end of the text'
    """
    if offset >= len(text):
        return "the end of the text"
    excerpt = text[offset : offset + 20].split("\n", 1)[0]
    return repr(excerpt + ("…" if offset + 20 < len(text) and len(excerpt) == 20 else ""))


def format_choices(terminals: Iterable[str], words: Mapping[str, str]) -> str:
    """Terminals in words: ``"',' or ')'"``.

    >>> format_choices({"RPAR", "COMMA"}, {"COMMA": "','", "RPAR": "')'"})
    "')' or ','"
    """
    phrases = sorted({words[t] for t in terminals if t in words})
    if not phrases:
        return "nothing more"
    return phrases[0] if len(phrases) == 1 else ", ".join(phrases[:-1]) + " or " + phrases[-1]


# ----------------------------------------------------------------------
# What is wrong with a text that is no JSON, as the grammar has it, without loading the grammar.
#
# The terminals are those of grammars/json.lark; a test holds what is said equal.
STRING = r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"'
NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?![\w.])"
WORD = r"(?:true|false|null|NaN|-?Infinity)\b"
_VALUE_STARTS = frozenset({"LBRACE", "LSQB", "STRING", "NUMBER", "WORD"})
_MARK_TERMINALS = {"{": "LBRACE", "[": "LSQB", "}": "RBRACE", "]": "RSQB", ",": "COMMA", ":": "COLON"}
_TOKEN = re.compile(rf"(?P<STRING>{STRING})|(?P<NUMBER>{NUMBER})|(?P<WORD>{WORD})|(?P<MARK>[\[\]{{}},:])")
_WHITESPACE = re.compile(r"[ \t\r\n]*+")
_AFTER_ANY_VALUE = _VALUE_STARTS | {"COMMA", "RSQB", "RBRACE"}
"""What may follow a value somewhere: the grammar's parser tells only by a token which of them may here."""


def find_json_error(
    text: str, words: Mapping[str, str], dialect: str, start: int | None = None
) -> ParseError | None:
    """The error of a text that is no JSON, as the grammar has it; None where it has none.

    To load the grammar takes a third of a small command's time.

    Args:
        text: The text; without numbers that are too long, which the grammar refuses in their turn.
        words: Each terminal's name in human words.
        dialect: For the error.
        start: Where the one value begins that is looked at, of a text that may go on with anything.

    >>> find_json_error("[1,]", {"NUMBER": "a number"}, "json").reason, find_json_error("[1]", {}, "json")
    ("found ']', expected a number", None)
    """
    around: list[str] = []
    expected_kinds = _VALUE_STARTS
    position, keyed, ended = start or 0, False, False
    while start is None or around or not ended:
        position = _WHITESPACE.match(text, position).end()  # type: ignore[union-attr]  # nothing matches, too
        token = _TOKEN.match(text, position)
        if token is None:
            if position == len(text) and ended and not around:
                return None
            expected = (
                _AFTER_ANY_VALUE if ended and position < len(text) and start is None else expected_kinds
            )
            return syntax_error(text, position, expected, words, dialect)
        kind = _MARK_TERMINALS.get(token[0]) or str(token.lastgroup)
        if kind not in expected_kinds:
            return syntax_error(text, position, expected_kinds, words, dialect)
        position = token.end()
        expected_kinds, keyed, ended = _expected_after(kind, around, keyed=keyed)
    return None


def _expected_after(kind: str, around: list[str], *, keyed: bool) -> tuple[frozenset[str], bool, bool]:
    """What may follow a token, whether the key of its member is known, and whether it ends a value."""
    if kind in ("LBRACE", "LSQB"):
        around.append(kind)
        return (_KEY_OR_END, False, False) if kind == "LBRACE" else (_VALUE_STARTS | {"RSQB"}, False, False)
    inside = around[-1] if around else ""
    if kind == "COLON":
        return _VALUE_STARTS, True, False
    if kind == "COMMA":
        return (_KEYS, False, False) if inside == "LBRACE" else (_VALUE_STARTS, False, False)
    if kind == "STRING" and inside == "LBRACE" and not keyed:
        return _COLON, False, False
    if kind in ("RBRACE", "RSQB"):
        around.pop()
    if not around:
        return _VALUE_STARTS, False, True
    return _AFTER_VALUE_IN[around[-1]], around[-1] == "LBRACE", True


_KEYS, _COLON, _KEY_OR_END = frozenset({"STRING"}), frozenset({"COLON"}), frozenset({"STRING", "RBRACE"})
_AFTER_VALUE_IN = {"LBRACE": frozenset({"COMMA", "RBRACE"}), "LSQB": frozenset({"COMMA", "RSQB"})}
