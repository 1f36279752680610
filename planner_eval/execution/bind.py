"""Fits the arguments that a plan gives to the parameters that a function has.

`inspect.signature` would do, but importing `inspect` costs more than starting a whole worker.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing imports re, which would add half to a worker's time to start

if TYPE_CHECKING:
    from typing import Any


class CallFailed(Exception):
    """One call cannot be made or gave nothing; `kind` is stable, the message is for people.

    `place` is the line of the tools' file where it was raised when the answer was recorded.
    """

    def __init__(self, kind: str, message: str, place: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.place = place


def call_function(function: Any, arguments: list[tuple[str, Any]]) -> Any:
    """What a function returns for arguments by name.

    Names ``0``, ``1`` or ``arg_0``, ``arg_1`` that the function does not have stand for positions.

    Raises:
        CallFailed: ``repeated-argument``, ``unknown-argument`` or ``missing-argument``.

    >>> call_function(pow, [("arg_0", 2), ("arg_1", 3)]), call_function(pow, [("0", 2), ("exp", 3)])
    (8, 8)
    >>> def pick(item, /, **more): return item, more
    >>> call_function(pick, [("0", 1), ("item", 2)])
    (1, {'item': 2})
    """
    positional, named = _bind_arguments(function, arguments)
    return function(*positional, **named)


def _bind_arguments(function: Any, arguments: list[tuple[str, Any]]) -> tuple[list[Any], dict[str, Any]]:
    """Positional and named values."""
    named = dict(arguments)
    if len(named) < len(arguments):
        raise CallFailed(
            "repeated-argument", f"an argument is given twice: {', '.join(n for n, _ in arguments)}"
        )
    code, skipped, defaults = _signature(function)
    if code is None:
        return _take_positions(named, [name for name in named if _position_of(name) is not None]), named
    positional = list(code.co_varnames[skipped : code.co_argcount])
    keyword = list(code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount])
    unknown = [name for name in named if name not in positional and name not in keyword]
    takes_any_name, takes_any_number = code.co_flags & 0x08, code.co_flags & 0x04
    positions = [name for name in unknown if _position_of(name) is not None]
    if takes_any_name and not takes_any_number:  # any other number is a name that ** takes
        positions = [name for name in positions if (_position_of(name) or 0) < len(positional)]
    strangers = [name for name in unknown if name not in positions]
    if strangers and not takes_any_name:
        takes = ", ".join(positional + keyword) or "no arguments"
        raise CallFailed("unknown-argument", f"there is no argument {strangers[0]!r}; the tool takes {takes}")
    ordered = _take_positions(named, positions)
    if len(ordered) > len(positional) and not takes_any_number:
        takes = f"the tool takes {len(positional)} arguments, found {len(arguments)}"
        raise CallFailed("unknown-argument", takes)
    required = positional[len(ordered) : len(positional) - len(defaults)]
    required += [name for name in keyword if name not in (getattr(function, "__kwdefaults__", None) or {})]
    only = max(0, code.co_posonlyargcount - skipped)
    filled = positional[only if takes_any_name else 0 : len(ordered)]  # ** may take a name of the others
    _check_names(named, positional, filled, required)
    return ordered + [named.pop(name) for name in positional[len(ordered) : only] if name in named], named


def _check_names(
    named: dict[str, Any], positional: list[str], filled: list[str], required: list[str]
) -> None:
    """Refuse names of what positions give already, and that names are missing beside them."""
    repeated = [name for name in filled if name in named]
    if repeated:
        raise CallFailed("repeated-argument", f"an argument is given twice: {', '.join(repeated)}")
    missing = [name for name in required if name not in named]
    if missing:
        name = repr(missing[0])
        if filled and missing[0] in positional:
            name = f"'arg_{positional.index(missing[0])}' ({missing[0]})"
        raise CallFailed("missing-argument", f"the argument {name} is missing")


def _signature(function: Any) -> tuple[Any, int, tuple[Any, ...]]:
    """The code object, how many leading parameters are bound already, the defaults."""
    skipped = 0
    if hasattr(function, "__func__"):
        function, skipped = function.__func__, 1
    elif not hasattr(function, "__code__"):  # an object with __call__, or written in C
        function, skipped = getattr(type(function), "__call__", None), 1  # noqa: B004
    code = getattr(function, "__code__", None)
    return code, skipped, getattr(function, "__defaults__", None) or ()


def takes_one_argument(function: Any) -> bool:
    """Whether a function takes one argument, which has a position, and no other.

    >>> takes_one_argument(lambda state: None), takes_one_argument(lambda device, state: None)
    (True, False)
    """
    code, skipped, _ = _signature(function)
    return code is not None and code.co_argcount - skipped == 1 and not code.co_kwonlyargcount


def _position_of(name: str) -> int | None:
    """The position that a name stands for; None for any other."""
    digits = name.removeprefix("arg_")
    return int(digits) if digits.isdecimal() else None


def _take_positions(named: dict[str, Any], names: list[str]) -> list[Any]:
    """The values of the names that stand for positions, in their order; the others stay."""
    names = sorted(names, key=lambda name: _position_of(name) or 0)
    for expected, name in enumerate(names):
        if _position_of(name) != expected:
            absent = f"arg_{expected}" if name.startswith("arg_") else expected
            raise CallFailed("missing-argument", f"the argument '{absent}' is missing")
    return [named.pop(name) for name in names]
