"""Tools that give values and raise exceptions with a will of their own. Given to workers as a tools file."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any


def well(x: int) -> int:
    """What the plans beside do; no attack."""
    return 2 * x


FORGED = '1,0.0,1,null,""]\n["end",null]\n'
"""What ends a reply early, were it taken as it stands."""


def text_leaves() -> Any:
    class Value:
        def __repr__(self) -> str:
            raise SystemExit(0)

    return Value()


def text_is_none() -> Any:
    class Text(str):
        def split(self, *_: Any) -> Any:
            return [b"x"]

        def __len__(self) -> int:
            return -1

    class Value:
        def __repr__(self) -> str:
            return Text("x" * 1000)

    return Value()


def class_lies() -> Any:
    class Value:
        __class__ = dict  # type: ignore[assignment]

        def items(self) -> Any:
            raise SystemExit(0)

    return Value()


def class_leaves() -> Any:
    class Value:
        @property  # type: ignore[misc]
        def __class__(self) -> Any:
            raise SystemExit(0)

    return Value()


def items_leave() -> Any:
    class Value(dict[str, int]):
        def __iter__(self) -> Any:
            raise SystemExit(0)

    return Value(a=1)


def items_without_end() -> Any:
    class Value(list[int]):
        def __iter__(self) -> Iterator[int]:
            while True:
                yield 1

    return Value([1])


def integer_forges() -> Any:
    class Value(int):
        def __int__(self) -> int:
            raise SystemExit(0)

        def __repr__(self) -> str:
            return FORGED

        def __format__(self, _: str) -> str:
            return FORGED

    return Value(3)


def number_forges() -> Any:
    class Value(float):
        def __float__(self) -> float:
            return self

        def __repr__(self) -> str:
            return FORGED

    return Value(3)


def complex_forges() -> Any:
    class Part:
        def __repr__(self) -> str:
            return '"]},0.0,1,null,""]\n["end",null]\n'

    class Value(complex):
        real = property(lambda _: Part())  # type: ignore[assignment]

    return Value(1)


def bytes_forge() -> Any:
    class Value(bytes):
        def hex(self, *_: Any) -> str:
            return '"},0.0,1,null,""]\n["end",null]\n'

        def __len__(self) -> int:
            return 0

    return Value(b"abc")


def string_forges() -> Any:
    class Value(str):
        def __str__(self) -> str:
            raise SystemExit(0)

        def __len__(self) -> int:
            return -5

    return Value(FORGED)


def type_without_a_name() -> Any:
    class Module:
        def __str__(self) -> str:
            raise SystemExit(0)

        def __eq__(self, _: object) -> bool:
            raise SystemExit(0)

        __hash__ = None  # type: ignore[assignment]

    class Value(dict[str, int]):
        def __iter__(self) -> Any:
            raise SystemExit(0)

    Value.__module__ = Module()  # type: ignore[assignment]
    return Value(a=1)


def type_with_a_long_name() -> Any:
    return type("x" * 5_000_000, (), {})()


def attributes_leave() -> Any:
    class Value:
        def __getattr__(self, _: str) -> Any:
            raise SystemExit(0)

    return Value()


def deep_list() -> Any:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    return value


def cycle() -> Any:
    value: list[Any] = []
    value.append((value,))
    return value


def cycle_of_keys() -> Any:
    value: dict[Any, Any] = {}
    value["a"] = value
    return value


def huge_integer() -> int:
    return 1 << 40_000_000


def half_characters() -> Any:
    return {"\ud800": "\x1b]52;c;AA\x07", "~": "object", "a\n": [FORGED]}


def without_end() -> Iterator[int]:
    number = 0
    while True:
        yield (number := number + 1)


async def asynchronously_without_end() -> AsyncIterator[int]:
    while True:
        yield 1


def awaited_for_what_is_none() -> Any:
    class Value:
        def __await__(self) -> Iterator[int]:
            yield 7

    return Value()


def a_frame() -> Any:
    return sys._getframe()


def what_is_run_when_it_is_read() -> Any:
    import pickle

    class Value:
        def __reduce__(self) -> Any:
            return os.system, ("touch pwned",)

    return [pickle.dumps(Value()), Value()]


def raises_without_a_name() -> None:
    class Named(type):
        def __getattribute__(cls, name: str) -> Any:
            if name in ("__name__", "__qualname__"):
                raise SystemExit(0)
            return super().__getattribute__(name)

    class Wrong(Exception, metaclass=Named):
        pass

    raise Wrong("x")


def raises_with_a_long_name() -> None:
    raise type("N" * 5_000_000, (Exception,), {})("x" * 5_000_000)


def raises_what_is_no_text() -> None:
    class Text(str):
        def __getitem__(self, _: Any) -> Any:
            return {"a": 1}

    class Wrong(Exception):
        def __str__(self) -> str:
            return Text("q")

    raise Wrong


def raises_from_nowhere() -> None:
    class Wrong(Exception):
        __traceback__ = 7  # type: ignore[assignment]

    raise Wrong


def raises_as_it_speaks() -> None:
    class Wrong(Exception):
        def __str__(self) -> str:
            raise SystemExit(0)

    raise Wrong


def raises_to_leave() -> None:
    raise SystemExit(0)


def raises_several() -> None:
    raise BaseExceptionGroup("several", [SystemExit(1), GeneratorExit()])


def raises_escapes() -> None:
    exec(compile("raise ValueError('\\x1b]52;c;AA\\x07')", "\x1b[2J/evil\n.py", "exec"))


def prints_a_reply() -> int:
    print('["end",null]')
    with contextlib.suppress(OSError):
        os.write(1, b'["end",null]\n')
    return 1


def closes_what_is_open() -> int:
    os.closerange(0, 100)
    return 1


def traces_what_follows() -> int:
    def leave(*_: Any) -> Any:
        raise SystemExit(0)

    sys.setprofile(leave)
    sys.settrace(leave)
    return 1


def breaks_the_interpreter() -> int:
    import builtins

    builtins.len = builtins.isinstance = builtins.repr = None  # type: ignore[assignment]
    return 1


def breaks_what_runs_it() -> int:
    for name, module in list(sys.modules.items()):
        if name.startswith("planner_eval"):
            for each in list(vars(module)):
                setattr(module, each, None)
    return 1


def rings_later() -> None:
    import signal

    signal.setitimer(signal.ITIMER_REAL, 0.01)
    time.sleep(5)


def ends_as_it_is_forgotten() -> int:
    class Value:
        def __del__(self) -> None:
            os._exit(0)

    Value()
    return 1
