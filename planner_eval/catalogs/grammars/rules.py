"""What grammars are made of, and how they are written as Lark, GBNF or a regular expression.

A token is a regular expression of its own, without rules in it. Tokens that may stand at one place do not
begin one another, and where a choice is made the next token decides it: so the rules can be read from left to
right with one token of look-ahead, by LALR and by every engine that decodes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias, assert_never

from planner_eval.base.errors import ParseError, WriteError
from planner_eval.plan.model import Call, Plan, Value
from planner_eval.reading.dialects.notations import appbench, nestful
from planner_eval.reading.dialects.programs import python_calls


# ----------------------------------------------------------------------
# What grammars are made of, before it is written as Lark or GBNF.
@dataclass(frozen=True, slots=True)
class Text:
    """A literal text."""

    text: str


@dataclass(frozen=True, slots=True)
class Chars:
    """One character: of these ranges, or of none of them."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Seq:
    """One after the other."""

    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Alt:
    """One of these; of none nothing can be."""

    options: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """So many times at least, so many at most."""

    item: Expr
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Symbol:
    """A rule, or a token, by its name."""

    name: str
    token: bool = False


Expr: TypeAlias = Text | Chars | Seq | Alt | Repeat | Symbol

EMPTY = Seq(())
NEVER = Alt(())


def seq(*items: Expr | str) -> Expr:
    """One after the other; nothing, where one of them can never be.

    Texts beside one another stay apart, for each is a token: of two that begin alike, such as ``}`` and
    ``}}``, an engine that takes the longest would take the wrong one.

    >>> seq("a", EMPTY, "b").parts
    (Text(text='a'), Text(text='b'))
    """
    flat: list[Expr] = []
    for item in items:
        expr = Text(item) if isinstance(item, str) else item
        if expr == NEVER:
            return NEVER
        flat += expr.parts if isinstance(expr, Seq) else (expr,)
    sequence = [expr for expr in flat if expr != Text("")]
    return sequence[0] if len(sequence) == 1 else Seq(tuple(sequence))


def alt(options: Iterable[Expr]) -> Expr:
    """One of these, without those that can never be."""
    flat: dict[Expr, None] = {}
    for option in options:
        flat.update(dict.fromkeys(option.options if isinstance(option, Alt) else (option,)))
    return next(iter(flat)) if len(flat) == 1 else Alt(tuple(flat))


def opt(item: Expr) -> Expr:
    """It, or nothing."""
    return EMPTY if item in (NEVER, EMPTY) else Repeat(item, 0, 1)


def chars(text: str) -> Chars:
    """A class of characters, written as in ``[a-z_]`` without its brackets; ``-`` stands last.

    >>> chars("0-9_").ranges
    (('0', '9'), ('_', '_'))
    """
    ranges = re.findall(r"(.)-(.)|(.)", text, re.DOTALL)
    return Chars(tuple((low, high) if low else (char, char) for low, high, char in ranges))


def one_of_texts(texts: Iterable[str]) -> Expr:
    """One of some texts, the longer first, for engines that take the first that fits."""
    return alt(Text(text) for text in sorted(dict.fromkeys(texts), key=lambda text: (-len(text), text)))


class TooLargeError(Exception):
    """The rules take more characters than they may."""


@dataclass(slots=True)
class Rules:
    """Rules under way; what is the same is one rule.

    Args:
        rules: Name → what it stands for.
        tokens: The same for tokens.
        most: How many characters all of it may take, about.
        weight: How many it takes so far.
    """

    rules: dict[str, Expr] = field(default_factory=dict)
    tokens: dict[str, Expr] = field(default_factory=dict)
    most: int = 4_000_000
    weight: int = 0
    _taken: dict[str, int] = field(default_factory=dict)
    _known: dict[tuple[bool, Expr], Symbol] = field(default_factory=dict)

    def rule(self, hint: str, expr: Expr) -> Expr:
        """A rule for it; itself, where that is as short."""
        if isinstance(expr, (Symbol, Text)) or expr in (EMPTY, NEVER):
            return expr
        return self._named(hint, expr, token=False)

    def token(self, hint: str, expr: Expr) -> Expr:
        """A token for it; nothing, where it can never be."""
        return expr if expr == NEVER else self._named(hint, expr, token=True)

    def open(self, hint: str) -> Symbol:
        """A rule that is given later, with :meth:`close`: one that leads back to itself."""
        name = Symbol(self._free(hint))
        self.rules[name.name] = EMPTY
        return name

    def close(self, name: Symbol, expr: Expr) -> None:
        """Say what an open rule stands for."""
        self.rules[name.name] = expr
        self._weigh(weight(expr))

    def _named(self, hint: str, expr: Expr, *, token: bool) -> Symbol:
        named = self._known.get((token, expr))
        if named is None:
            named = self._known[token, expr] = Symbol(self._free(hint), token)
            (self.tokens if token else self.rules)[named.name] = expr
            self._weigh(weight(expr) + len(named.name))
        return named

    def _weigh(self, more: int) -> None:
        self.weight += more
        if self.weight > self.most:
            raise TooLargeError

    def _free(self, hint: str) -> str:
        """A name that is not taken; a word of small letters, as every engine takes it."""
        base = free = re.sub(r"[^a-z0-9]+", "_", hint.lower())[:40].strip("_")
        while free in self._taken:
            number = self._taken[base] = self._taken[base] + 1
            free = f"{base}_x{number}"  # not cut: the number is what tells them apart
        self._taken[free] = 1
        return free


def weight(expr: Expr) -> int:
    """About how many characters it takes when it is written."""
    match expr:
        case Text(text):
            return len(text) + 3
        case Symbol(name):
            return len(name) + 3
        case Chars(ranges):
            return 4 * len(ranges)
        case Repeat(item):
            return weight(item) + 4
        case Seq(members) | Alt(members):
            return sum(map(weight, members))


# ----------------------------------------------------------------------
# Rules written down: as Lark, as GBNF, and a token as a regular expression.
_META_CHARS = frozenset(r"\.+*?()|[]{}^$/-#&~\"'")
"""What has a meaning in some engine's regular expressions, or ends one in Lark."""


def write_lark(rules: Rules, start: Expr, notes: Iterable[str]) -> str:
    """The rules as Lark, which Lark reads with LALR and with Earley, and llguidance as it stands."""

    def write(expr: Expr) -> str:
        return _write_expr(expr, lambda s: s.name.upper() if s.token else s.name, lambda c: f"/{regex(c)}/")

    lines = [f"// {line}" for note in notes for line in note.splitlines()]
    lines += [f"start: {write(start)}", *(f"{name}: {write(expr)}" for name, expr in rules.rules.items())]
    lines += [f"{name.upper()}: /{regex(expr)}/" for name, expr in rules.tokens.items()]
    return "\n".join(lines) + "\n"


def write_gbnf(rules: Rules, start: Expr, notes: Iterable[str]) -> str:
    """The rules as GBNF, which llama.cpp reads, and xgrammar."""

    def write(expr: Expr) -> str:
        return _write_expr(expr, lambda s: _gbnf_name(s.name), lambda c: _write_chars(c, _gbnf_char))

    lines = [f"# {line}" for note in notes for line in note.splitlines()]
    all_rules = {**rules.rules, **rules.tokens}
    lines += [f"root ::= {write(start)}"]
    lines += [f"{_gbnf_name(name)} ::= {write(expr)}" for name, expr in all_rules.items()]
    return "\n".join(lines) + "\n"


def _write_expr(
    expr: Expr, name: Callable[[Symbol], str], char: Callable[[Chars], str], *, inner: bool = False
) -> str:
    """An expression in the notation that Lark and GBNF share, but for names and classes of characters.

    Args:
        expr: The expression.
        name: Writes a rule's or a token's name.
        char: Writes a class of characters.
        inner: Whether it stands where several of something need brackets around them.
    """
    match expr:
        case Text(text):
            return f'"{text.translate(_ESCAPES)}"'
        case Symbol():
            return name(expr)
        case Chars():
            return char(expr)
        case Repeat(item):
            written = _write_expr(item, name, char, inner=True) + _quantifier(expr)
        case Seq(()):
            return '""'
        case Seq(operands):
            written = " ".join(_write_expr(operand, name, char, inner=True) for operand in operands)
        case Alt(operands):
            choices = (_write_expr(o, name, char, inner=not isinstance(o, Seq)) for o in operands)
            written = " | ".join(choices)
        case _:
            assert_never(expr)
    return f"({written})" if inner else written


_ESCAPES = str.maketrans({'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


# ---------------------------------------------------------------- GBNF
def _gbnf_name(name: str) -> str:
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
        case Chars():
            return _write_chars(expr, _regex_char)
        case Seq(items):
            return "".join(f"(?:{regex(p)})" if isinstance(p, Alt) else regex(p) for p in items)
        case Alt(options):
            return "|".join(map(regex, options))
        case Repeat(item):
            single = isinstance(item, Chars) or (isinstance(item, Text) and len(item.text) == 1)
            return (regex(item) if single else f"(?:{regex(item)})") + _quantifier(expr)
        case Symbol(name):
            raise ValueError(f"the token has the rule {name} in it")
        case _:
            assert_never(expr)


def _regex_char(char: str) -> str:
    if char in _META_CHARS:
        return f"\\{char}"
    return f"\\x{ord(char):02x}" if char < " " or char == "\x7f" else char


# ---------------------------------------------------------------- what all share
def _write_chars(expr: Chars, write: Callable[[str], str]) -> str:
    ranges = (write(low) if low == high else f"{write(low)}-{write(high)}" for low, high in expr.ranges)
    return f"[{'^' if expr.negated else ''}{''.join(ranges)}]"


def _quantifier(expr: Repeat) -> str:
    marks = {(0, 1): "?", (0, None): "*", (1, None): "+"}
    least, most = expr.least, expr.most
    if (least, most) in marks:
        return marks[least, most]
    return f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"


# ----------------------------------------------------------------------
# The tokens of values: texts, numbers, dates, and how notations write them.
_CONTROL_RANGES = (("\x00", "\x1f"), ("\x7f", "\x7f"))
_DIGIT = chars("0-9")
_SIXTIETHS = seq(chars("0-5"), _DIGIT)
_MAX_FURTHER_DIGITS = 18
"""Digits behind the first one of a number that is written out: ids of 64 bits have 19 in all."""

WORD = seq(chars("A-Za-z_"), Repeat(chars("A-Za-z0-9_"), 0, 63))
"""A name, where the catalog does not say which."""

MAX_LENGTH = 256
"""Limits of a text's length, and of a list's size, are held up to here."""


def _any_char_except(*excluded: str) -> Chars:
    return Chars((*((char, char) for char in excluded), *_CONTROL_RANGES), negated=True)


JSON_CHAR = Alt((_any_char_except('"', "\\"), seq("\\", chars('"\\nrt'))))
"""A character of a JSON or Python text; others are written as they are, so that each is one."""

NESTFUL_CHAR = Alt(
    (
        _any_char_except('"', "\\", "$"),
        seq("\\", chars('"\\nrt')),
        seq(
            "$",
            Chars(
                (("A", "Z"), ("a", "z"), ("_", "_"), *((c, c) for c in '"\\$'), *_CONTROL_RANGES),
                negated=True,
            ),
        ),
    )
)
"""The same where ``$name$`` is a reference: a dollar sign stands before what begins no name."""

APPBENCH_CHAR = Alt((_any_char_except("'", "\\"), seq("'", chars("A-Za-z0-9")), seq("\\", chars("'\\"))))
"""A character of a text in single quotes, of which those before a letter stand as they are."""

_APPBENCH_BOOLEANS = ("True", "False", "true", "false")
"""What AppBench's readers take for true and false; its data have the first, other catalogs the second."""

_PLAIN_CHAR = Alt((_any_char_except("'", "\\"), seq("\\", chars("'\\"))))

_KEY_CHAR = Alt((_any_char_except('"', "\\", "$"), seq("\\", chars('"\\nrt'))))
KEY = seq('"', opt(seq(_KEY_CHAR, Repeat(JSON_CHAR))), '"')
"""The name of a field that nobody listed; it begins with no dollar sign, which has a meaning in plans."""


def quote_json(text: str) -> str:
    r"""A text as JSON writes it; halves of surrogate pairs as escapes, for no file can hold them.

    >>> quote_json('a "b"')
    '"a \\"b\\""'
    """
    is_plain = not any("\ud800" <= char <= "\udfff" for char in text)
    return json.dumps(text, ensure_ascii=not is_plain).replace("\x7f", "\\u007f")


# ---------------------------------------------------------------- numbers
def integer(*, negative: bool = True) -> Expr:
    """A whole number."""
    natural = Alt((Text("0"), seq(chars("1-9"), Repeat(_DIGIT, 0, _MAX_FURTHER_DIGITS))))
    return seq(opt(Text("-")) if negative else EMPTY, natural)


def number(*, negative: bool = True) -> Expr:
    """A number, as JSON and Python write it."""
    fraction = opt(seq(".", Repeat(_DIGIT, 1, _MAX_FURTHER_DIGITS)))
    power = opt(seq(chars("eE"), opt(chars("+-")), Repeat(_DIGIT, 1, 2)))
    return seq(integer(negative=negative), fraction, power)


# ---------------------------------------------------------------- dates
def _two_digits_between(low: int, high: int) -> Expr:
    """A number of two digits between both."""
    options: list[Expr] = []
    for tens in range(low // 10, high // 10 + 1):
        first, last = max(low, 10 * tens) % 10, min(high, 10 * tens + 9) % 10
        options.append(seq(str(tens), str(first) if first == last else chars(f"{first}-{last}")))
    return alt(options)


def _months(*numbers: int) -> Expr:
    return alt(Text(f"{number:02d}") for number in numbers)


def date() -> Expr:
    """A day of the years 1000 to 2999 that there is, yyyy-mm-dd."""
    fours = alt((seq("0", chars("48")), seq(chars("2468"), chars("048")), seq(chars("13579"), chars("26"))))
    centuries = alt((seq("1", chars("26")), seq("2", chars("048"))))
    leap = alt((seq(chars("12"), _DIGIT, fours), seq(centuries, "00")))
    year = seq(chars("12"), Repeat(_DIGIT, 3, 3))
    days = alt(
        (
            seq(_months(1, 3, 5, 7, 8, 10, 12), "-", _two_digits_between(1, 31)),
            seq(_months(4, 6, 9, 11), "-", _two_digits_between(1, 30)),
            seq("02-", _two_digits_between(1, 28)),
        )
    )
    return alt((seq(year, "-", days), seq(leap, "-02-29")))


def time() -> Expr:
    """A time of day, hh:mm, with seconds, parts of them and a zone or without."""
    return seq(_clock(), opt(_seconds()), _zone())


def _clock() -> Expr:
    return seq(_two_digits_between(0, 23), ":", _SIXTIETHS)


def _seconds() -> Expr:
    return seq(":", _SIXTIETHS, opt(seq(".", Repeat(_DIGIT, 1, 6))))


def _zone() -> Expr:
    return opt(alt((Text("Z"), seq(chars("+-"), _clock()))))


def date_time() -> Expr:
    """A day and a time."""
    return seq(date(), "T", _clock(), _seconds(), _zone())


FORMATS: Mapping[str, Callable[[], Expr]] = {"date": date, "time": time, "date-time": date_time}
"""The formats of texts that are held."""


# ---------------------------------------------------------------- how notations write values
@dataclass(frozen=True, slots=True)
class ValueForm:
    """How a notation writes values.

    Args:
        quote: What stands around a text.
        char: A character of a text.
        constant: A value that a catalog lists, as it is written; None where it cannot be.
        booleans: The words for true and false, each in all the ways that plans have it.
        null: The word for that.
        objects: Whether objects can be written.
        keyed: What stands between a field's name and its value.
        numbers: What stands around numbers and words: nothing, or the quotes of a text.
        counted: A character of a text that has a limit; `char` when None.
        marks: Names that no field of an object can have, for they mean something of their own.
    """

    quote: str
    char: Expr
    constant: Callable[[Any], str | None]
    booleans: tuple[str, ...] = ("true", "false")
    null: str = "null"
    objects: bool = True
    keyed: str = ": "
    numbers: str = ""
    counted: Expr | None = None
    marks: tuple[str, ...] = ()

    def text(self, length: tuple[int | None, int | None] = (None, None)) -> Expr:
        """A text of so many characters."""
        least, most = length[0] or 0, length[1]
        if most is not None and (most < least or most < 0):
            return NEVER
        most = most if most is not None and most <= MAX_LENGTH else None
        char = self.char if most is None or self.counted is None else self.counted
        return seq(self.quote, Repeat(char, min(least, MAX_LENGTH), most), self.quote)

    def bare(self, inner: Expr | str) -> Expr:
        """A number or a word."""
        return seq(self.numbers, inner, self.numbers)


def _json_constant(value: Value) -> str | None:
    text = json.dumps(value, ensure_ascii=False)
    return json.dumps(value) if any("\ud800" <= char <= "\udfff" for char in text) else text


def _nestful_constant(value: Value) -> str | None:
    return _json_constant(value) if nestful.read_references(value) == value else None


def _plan_constant(value: Value) -> str | None:
    text = _json_constant(value)
    return None if isinstance(value, (list, dict)) and text is not None and '"$' in text else text


def _python_constant(value: Value) -> str | None:
    try:
        return python_calls.format_value(value, lambda ref: "")
    except WriteError:
        return None


def _appbench_constant(value: Value, texts: bool) -> str | None:
    if texts and value is not None and not isinstance(value, (str, list, dict)):
        value = json.dumps(value)
    try:
        line = appbench.write(Plan((Call("c1", "f", (("a", value),)),)))
    except (WriteError, ParseError):
        return None
    return line[len("f(#a=") : -1]


def value_form(dialect: str, *, texts: bool = False) -> ValueForm:
    """How a dialect writes values.

    Args:
        dialect: One of those that grammars are written for.
        texts: Whether the catalog writes every value as text.
    """
    if dialect == "appbench":
        constant = partial(_appbench_constant, texts=texts)
        form = ValueForm(
            "'", APPBENCH_CHAR, constant, _APPBENCH_BOOLEANS, "None", objects=False, counted=_PLAIN_CHAR
        )
        return replace(form, null="null", numbers="'") if texts else form
    if dialect == "pythonic":
        return ValueForm('"', JSON_CHAR, _python_constant, ("True", "False"), "None")
    if dialect == "nestful":
        return ValueForm('"', NESTFUL_CHAR, _nestful_constant, counted=_KEY_CHAR)
    if dialect == "plan":
        return ValueForm('"', JSON_CHAR, _plan_constant, marks=("$ref", "$template", "$literal"))
    return ValueForm('"', JSON_CHAR, _json_constant)
