"""Values between a worker and its parent, as JSON text: bounded, and never unpickled.

What JSON lacks travels as an object with the one extra key ``"~"``: tuples, sets, bytes, complex and
non-finite numbers, huge integers, dicts with other keys than strings. Anything else arrives as an
`Opaque`: its type and a bounded text, never the thing itself.

The worker writes the text by hand: importing `json` there would double its time to start.
"""

from __future__ import annotations

import math

from planner_eval.execution.printed import exception_name

TYPE_CHECKING = False  # typing imports re, which would add half to a worker's time to start

if TYPE_CHECKING:
    from typing import Any


try:
    from _json import encode_basestring_ascii as _quoted
except ImportError:  # another Python implementation
    from json.encoder import py_encode_basestring_ascii as _quoted

MAX_DEPTH = 100
"""How deep a value may nest before it is only described."""


class Opaque:
    """A value that cannot leave the worker: what it was, in words, as which it also shows.

    >>> [Opaque("shop.Item", "Item(7)"), Opaque("shop.Box", "<shop.Box object>")]
    [<shop.Item> Item(7), <shop.Box object>]
    """

    __slots__ = ("text", "type")

    def __init__(self, type: str, text: str) -> None:
        self.type = type
        self.text = text

    def __repr__(self) -> str:
        words = self.text if self.is_type_only else f"<{self.type}> {self.text}"
        return words if words.isprintable() else repr(words)[1:-1]

    @property
    def is_cut(self) -> bool:
        """Whether the words leave out what other values may differ in.

        >>> Opaque("list", "larger than the output limit").is_cut, Opaque("shop.Item", "Item(7)").is_cut
        (True, False)
        """
        return self.text.endswith(("the output limit", "…")) or self.text.startswith(
            ("nests deeper than ", "unreadable: ", "(repr raises ")
        )

    @property
    def is_type_only(self) -> bool:
        """Whether the words name nothing but the type, as those of an object without a `repr` of its own."""
        return self.text == f"<{self.type} object>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opaque) and (self.type, self.text) == (other.type, other.text)

    def __hash__(self) -> int:
        return hash((self.type, self.text))


class _TooLarge(Exception):
    pass


def quote_text(text: str) -> str:
    """One string as JSON text."""
    return _quoted(text)  # type: ignore[no-any-return, unused-ignore]


def encode(value: object, budget: int = 1_000_000) -> str:
    """One value as JSON text on one line.

    Args:
        value: Anything at all; what cannot be carried is described.
        budget: The most characters that the text may have; a larger value is described.

    >>> encode({"a": [1, 2.5, None, True]}), encode((1, 2)), encode(float("nan"))
    ('{"a":[1,2.5,null,true]}', '{"~":"tuple","v":[1,2]}', '{"~":"float","v":"nan"}')
    """
    writer = _Writer(budget)
    try:
        writer.value(value, 0)
    except _TooLarge as reason:
        return _describe(value, str(reason))
    except KeyboardInterrupt:
        raise  # the user's, where tools run in planeval's own process
    except BaseException as error:  # a container whose own methods fail
        return _describe(value, f"unreadable: {exception_name(error)}")
    return "".join(writer.parts)


def _describe(value: object, text: str) -> str:
    return _words(_type_name(value), text)


def _words(type: str, text: str) -> str:
    return f'{{"~":"object","type":{quote_text(type)},"text":{quote_text(text)}}}'


def _type_name(value: object) -> str:
    kind = type(value)
    try:
        module = kind.__module__
        return str.__str__(kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}")[
            :200
        ]
    except KeyboardInterrupt:
        raise
    except BaseException:  # a type of the tool's own may answer for its names
        return "object"


def bounded_text(value: object, size: int = 300) -> str:
    """What `repr` says of a value, cut; the exception's name where `repr` fails."""
    try:
        text = _remove_addresses(repr(value))
        return text if len(text) <= size else text[: size - 1] + "…"  # base.text would import json here
    except BaseException as error:
        return f"(repr raises {exception_name(error)})"


def _remove_addresses(text: str) -> str:
    """The same plan gives the same trace: memory addresses differ from run to run."""
    pieces = text.split(" at 0x")
    return pieces[0] + "".join(piece.lstrip("0123456789abcdefABCDEF") for piece in pieces[1:])


class _Writer:
    """The text so far, and how much more is allowed."""

    __slots__ = ("budget", "left", "parts")

    def __init__(self, budget: int) -> None:
        self.parts: list[str] = []
        self.budget = self.left = budget

    def put(self, text: str) -> None:
        self.left -= len(text)
        if self.left < 0:
            raise _TooLarge("larger than the output limit")
        self.parts.append(text)

    def value(self, value: object, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise _TooLarge(f"nests deeper than {MAX_DEPTH} levels")
        if value is None or value is True or value is False:
            self.put("null" if value is None else "true" if value else "false")
        elif isinstance(value, str):
            self.text(str.__str__(value))
        elif isinstance(value, int):
            self.integer(int.__pos__(value))  # not what a subclass of the tool's own makes of it
        elif isinstance(value, float):
            number = float.__pos__(value)
            self.put(repr(number) if math.isfinite(number) else f'{{"~":"float","v":"{number!r}"}}')
        elif isinstance(value, list):
            self.items("[", value, "]", depth)
        elif isinstance(value, dict):
            self.mapping(value, depth)
        else:
            self.rarer(value, depth)

    def text(self, value: str) -> None:
        if len(value) > self.budget:
            raise _TooLarge(f"a text of {len(value):,} characters, more than the output limit")
        if len(value) > self.left:
            raise _TooLarge("larger than the output limit")
        self.put(_quoted(value))

    def integer(self, value: int) -> None:
        if value.bit_length() < 4000:
            self.put(int.__repr__(value))
        elif value.bit_length() > 4 * self.left:
            raise _TooLarge(f"an integer of {value.bit_length():,} bits, more than the output limit")
        else:
            self.put(f'{{"~":"int","v":"{value:x}"}}')

    def items(self, head: str, items: list[object], tail: str, depth: int) -> None:
        self.put(head)
        for position, item in enumerate(items):
            if position:
                self.put(",")
            self.value(item, depth + 1)
        self.put(tail)

    def mapping(self, value: dict[object, object], depth: int) -> None:
        if all(type(key) is str for key in value) and "~" not in value:
            separator = "{"
            for key, item in value.items():
                self.put(separator)
                self.text(str(key))
                self.put(":")
                self.value(item, depth + 1)
                separator = ","
            self.put("}" if value else "{}")
        else:
            pairs: list[object] = [[key, item] for key, item in value.items()]
            self.items('{"~":"dict","v":[', pairs, "]}", depth)

    def apart(self, value: object, depth: int) -> str:
        """The text of one value, by itself."""
        writer = _Writer(self.left)
        writer.value(value, depth)
        return "".join(writer.parts)

    def rarer(self, value: object, depth: int) -> None:
        if isinstance(value, tuple):
            self.items('{"~":"tuple","v":[', list(value), "]}", depth)
        elif isinstance(value, (set, frozenset)):
            ordered = sorted(self.apart(item, depth + 1) for item in value)
            self.put(f'{{"~":"set","v":[{",".join(ordered)}]}}')
        elif isinstance(value, complex):
            number = complex.__pos__(value)
            self.put(f'{{"~":"complex","v":["{number.real!r}","{number.imag!r}"]}}')
        elif isinstance(value, (bytes, bytearray)):
            kind: Any = bytes if isinstance(value, bytes) else bytearray
            if 2 * (size := kind.__len__(value)) > self.left:
                raise _TooLarge(f"{size:,} bytes, more than the output limit")
            self.put(f'{{"~":"bytes","v":"{kind.hex(value)}"}}')
        elif type(value).__module__ == "numpy" and hasattr(value, "tolist"):
            self.value(value.tolist(), depth + 1)
        elif type(value) is Opaque:
            self.put(_words(value.type, value.text))
        else:
            self.put(_describe(value, bounded_text(value)))


def decode(data: object, depth: int = 0) -> object:
    """The value that parsed JSON text of `encode` stands for.

    Args:
        data: Parsed JSON.
        depth: How deep it lies in a value already.

    Raises:
        ValueError: the data is no value of `encode`: a worker that lies.

    >>> decode({"~": "tuple", "v": [1, {"~": "complex", "v": ["0.0", "1.0"]}]})
    (1, 1j)
    """
    if depth > MAX_DEPTH and isinstance(data, (list, dict)) and data:
        raise ValueError(f"a value that nests deeper than {MAX_DEPTH} levels")
    if isinstance(data, list):
        return [decode(item, depth + 1) for item in data]
    if not isinstance(data, dict):
        return data
    if "~" not in data:
        return {key: decode(item, depth + 1) for key, item in data.items()}
    try:
        return _decode_tagged(data["~"], data, depth)
    except (KeyError, TypeError, OverflowError, IndexError) as error:
        raise ValueError("an invalid tagged value") from error


def _expect_text(raw: object) -> str:
    if type(raw) is not str:
        raise TypeError("no text")
    return raw


def _decode_tagged(tag: object, data: dict[str, object], depth: int) -> object:
    if tag == "object":
        return Opaque(_expect_text(data["type"])[:200], _expect_text(data["text"])[:1000])
    raw = data["v"]
    if tag == "float":
        return float(_expect_text(raw))
    if tag == "int":
        return int(_expect_text(raw), 16)
    if tag == "bytes":
        return bytes.fromhex(_expect_text(raw))
    if not isinstance(raw, list):
        raise TypeError(tag)
    if tag == "complex":
        real, imaginary = raw
        return complex(float(_expect_text(real)), float(_expect_text(imaginary)))
    items = [decode(item, depth + 1) for item in raw]
    if tag == "tuple":
        return tuple(items)
    if tag == "set":
        return frozenset(
            _refuse_hash_collisions([tuple(item) if isinstance(item, list) else item for item in items])
        )
    if tag == "dict":
        pairs: Any = items
        _refuse_hash_collisions([key for key, _ in pairs])
        return dict(pairs)
    raise KeyError(tag)


def _refuse_hash_collisions(keys: list[object]) -> list[object]:
    """The keys, where few share a hash: a set of those that do takes the square of the time."""
    if len(set(map(hash, keys))) + 100 < len(keys):
        raise ValueError("keys chosen to share their hashes")
    return keys
