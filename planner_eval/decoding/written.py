"""Rules written down: as Lark, as GBNF, and a token as a regular expression."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import assert_never

from planner_eval.decoding.terms import EMPTY, Alt, Chars, Expr, Named, Repeat, Rules, Seq, Text

_META = frozenset(r"\.+*?()|[]{}^$/-#&~\"'")
"""What has a meaning in some engine's regular expressions, or ends one in Lark."""


def lark(rules: Rules, start: Expr, notes: Iterable[str]) -> str:
    """The rules as Lark, which ``lark`` reads with LALR and with Earley, and llguidance as it stands."""
    lines = [f"// {line}" for note in notes for line in note.splitlines()]
    lines += [f"start: {_lark(start)}", *(f"{name}: {_lark(expr)}" for name, expr in rules.rules.items())]
    lines += [f"{name.upper()}: /{regex(expr)}/" for name, expr in rules.tokens.items()]
    return "\n".join(lines) + "\n"


def gbnf(rules: Rules, start: Expr, notes: Iterable[str]) -> str:
    """The rules as GBNF, which llama.cpp reads, and xgrammar."""
    lines = [f"# {line}" for note in notes for line in note.splitlines()]
    all_rules = {**rules.rules, **rules.tokens}
    lines += [f"root ::= {_gbnf(start)}"]
    lines += [f"{_dashed(name)} ::= {_gbnf(expr)}" for name, expr in all_rules.items()]
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------- Lark
def _lark(expr: Expr, *, inner: bool = False) -> str:
    match expr:
        case Text(text):
            return f'"{_escaped(text, _LARK)}"'
        case Named(name, token):
            return name.upper() if token else name
        case Seq() | Alt() | Repeat():
            return _joined(expr, _lark, inner=inner)
        case Chars():
            return f"/{regex(expr)}/"
        case _:
            assert_never(expr)


_LARK = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


# ---------------------------------------------------------------- GBNF
def _gbnf(expr: Expr, *, inner: bool = False) -> str:
    match expr:
        case Text(text):
            return f'"{_escaped(text, _LARK)}"'
        case Named(name):
            return _dashed(name)
        case Chars(ranges, negated):
            return f"[{'^' if negated else ''}{''.join(_range(r, _gbnf_char) for r in ranges)}]"
        case Seq() | Alt() | Repeat():
            return _joined(expr, _gbnf, inner=inner)
        case _:
            assert_never(expr)


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _gbnf_char(char: str) -> str:
    if char.isascii() and char.isalnum():
        return char
    number = ord(char)
    return (
        f"\\x{number:02X}"
        if number < 0x80
        else f"\\u{number:04X}"
        if number < 0x10000
        else f"\\U{number:08X}"
    )


# ---------------------------------------------------------------- regular expressions
def regex(expr: Expr) -> str:
    r"""A token as a regular expression that Python, Rust and ECMAScript read alike.

    >>> regex(Seq((Text("a."), Repeat(Chars((("0", "9"),)), 1, 2))))
    'a\\.[0-9]{1,2}'
    """
    match expr:
        case Text(text):
            return "".join(map(_regex_char, text))
        case Chars(ranges, negated):
            return f"[{'^' if negated else ''}{''.join(_range(r, _regex_char) for r in ranges)}]"
        case Seq(items):
            return "".join(f"(?:{regex(p)})" if isinstance(p, Alt) else regex(p) for p in items)
        case Alt(options):
            return "|".join(map(regex, options))
        case Repeat(item):
            single = isinstance(item, Chars) or (isinstance(item, Text) and len(item.text) == 1)
            return (regex(item) if single else f"(?:{regex(item)})") + _times(expr)
        case Named(name):
            raise ValueError(f"the token has the rule {name} in it")
        case _:
            assert_never(expr)


def _regex_char(char: str) -> str:
    if char in _META:
        return f"\\{char}"
    return f"\\x{ord(char):02x}" if char < " " or char == "\x7f" else char


# ---------------------------------------------------------------- what both share
def _range(char_range: tuple[str, str], write: Callable[[str], str]) -> str:
    low, high = char_range
    return write(low) if low == high else f"{write(low)}-{write(high)}"


def _joined(expr: Seq | Alt | Repeat, write: Callable[..., str], *, inner: bool) -> str:
    if isinstance(expr, Repeat):
        text = f"{write(expr.item, inner=True)}{_times(expr)}"
        return f"({text})" if inner else text
    if expr == EMPTY:
        return '""'
    operands: Sequence[Expr] = expr.parts if isinstance(expr, Seq) else expr.options
    text = (" " if isinstance(expr, Seq) else " | ").join(
        write(operand, inner=isinstance(expr, Seq) or not isinstance(operand, Seq)) for operand in operands
    )
    return f"({text})" if inner else text


def _times(expr: Repeat) -> str:
    marks = {(0, 1): "?", (0, None): "*", (1, None): "+"}
    least, most = expr.least, expr.most
    if (least, most) in marks:
        return marks[least, most]
    return f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"


def _escaped(text: str, marks: dict[str, str]) -> str:
    return "".join(marks.get(char, char) for char in text)
