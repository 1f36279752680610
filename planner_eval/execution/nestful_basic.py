"""The 40 basic functions of NESTful, twice: OFFICIAL with the benchmark's oddities, SANE without them.

A plan names the arguments `arg_0`, `arg_1`; the benchmark passes the values by position. Every function
has one output, called `result`. This module imports nothing but `math`: worker processes load it at start.

Source:
    NESTful v2 (IBM), data_v2/executable_functions/basic_functions.py, behaviour re-implemented from its
    description; the order of floating-point operations is that of the original.
"""

from __future__ import annotations

import math

TYPE_CHECKING = False  # typing imports re, which would add half to a worker's time to start

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Tool: TypeAlias = Callable[..., Any]


def _int_log(x: Any, base: Any = math.e) -> Any:
    return int(math.log(x, base))


def _factorial(n: Any) -> Any:
    if n < 0:
        raise ValueError("factorial of a negative number")
    return 1 if n == 0 else math.factorial(n)


def _truncated_gcd(a: Any, b: Any) -> Any:
    return math.gcd(int(a), int(b))


_SHARED_FUNCTIONS: dict[str, Tool] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "floor": lambda x: math.floor(x),
    "negate": lambda x: -x,
    "inverse": lambda x: 1 / x,
    "remainder": lambda a, b: a % b,
    "reminder": lambda a, b: a % b,
    "negate_prob": lambda p: 1 - p,
    "speed": lambda distance, time: distance / time,
    "circle_area": lambda r: math.pi * r**2,
    "circumface": lambda r: 2 * math.pi * r,
    "triangle_area": lambda base, height: 0.5 * base * height,
    "rectangle_area": lambda length, width: length * width,
    "rectangle_perimeter": lambda length, width: 2 * (length + width),
    "square_area": lambda side: side * side,
    "square_perimeter": lambda side: 4 * side,
    "square_edge_by_area": lambda area: math.sqrt(area),
    "square_edge_by_perimeter": lambda perimeter: perimeter / 4,
    "rhombus_area": lambda d1, d2: 0.5 * d1 * d2,
    "diagonal": lambda length, width: math.sqrt(length**2 + width**2),
    "volume_cube": lambda side: side**3,
    "surface_cube": lambda side: 6 * side**2,
    "volume_sphere": lambda r: (4 / 3) * math.pi * r**3,
    "surface_sphere": lambda r: 4 * math.pi * r**2,
    "volume_cylinder": lambda r, h: math.pi * r**2 * h,
    "surface_cylinder": lambda r, h: 2 * math.pi * r * (r + h),
    "volume_cone": lambda r, h: (1 / 3) * math.pi * r**2 * h,
}

OFFICIAL_FUNCTIONS: dict[str, Tool] = {
    **_SHARED_FUNCTIONS,
    "power": lambda base, exponent: base**exponent,
    "sqrt": lambda num: math.isqrt(num),
    "log": _int_log,
    "factorial": _factorial,
    "choose": lambda n, r: math.comb(n, r),
    "permutation": lambda n, r: _factorial(n) // _factorial(n - r),
    "gcd": _truncated_gcd,
    "lcm": lambda a, b: abs(a * b) // _truncated_gcd(a, b),
    "max_number": lambda numbers: max(numbers),
    "min_number": lambda numbers: min(numbers),
    "cube_edge_by_volume": lambda volume: math.pow(volume, 1 / 3),
}
"""Exactly what the benchmark computes: integer root, truncated logarithm, text that concatenates …"""


def _expect_number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"expected a number, found {type(value).__name__} {value!r:.40}")
    return value


def _expect_whole_number(value: Any) -> int:
    if _expect_number(value) != int(value):
        raise ValueError(f"expected a whole number, found {value!r}")
    return int(value)


def _wrap_with_checks(function: Tool, *, signed: bool) -> Tool:
    def call(*arguments: Any) -> Any:
        if not signed and any(_expect_number(value) < 0 for value in arguments):
            raise ValueError(f"a length or an area is negative: {arguments}")
        return function(*map(_expect_number, arguments))

    return call


def _real_power(base: Any, exponent: Any) -> Any:
    result = _expect_number(base) ** _expect_number(exponent)
    if isinstance(result, complex):
        raise ValueError(f"{base} to the power of {exponent} is not a real number")
    return result


def _real_log(x: Any, base: Any = math.e) -> float:
    result = math.log(_expect_number(x), _expect_number(base))
    nearest = round(result)
    # math.log(1000, 10) is 2.9999999999999996: an exact power has an exact logarithm
    return float(nearest) if abs(nearest) < 1024 and base != math.e and base**nearest == x else result


def _complement_probability(p: Any) -> Any:
    if not 0 <= _expect_number(p) <= 1:
        raise ValueError(f"a probability lies between 0 and 1, found {p}")
    return 1 - p


def _list_numbers(numbers: tuple[Any, ...]) -> list[Any]:
    listed = numbers[0] if len(numbers) == 1 and isinstance(numbers[0], (list, tuple)) else numbers
    return [_expect_number(value) for value in listed]


_SIGNED_FUNCTIONS = frozenset(
    {"add", "subtract", "multiply", "divide", "floor", "negate", "inverse", "remainder", "reminder", "speed"}
)

SANE_FUNCTIONS: dict[str, Tool] = {
    **{
        name: _wrap_with_checks(function, signed=name in _SIGNED_FUNCTIONS)
        for name, function in _SHARED_FUNCTIONS.items()
    },
    "power": _real_power,
    "sqrt": lambda num: math.sqrt(_expect_number(num)),
    "log": _real_log,
    "factorial": lambda n: math.factorial(_expect_whole_number(n)),
    "choose": lambda n, r: math.comb(_expect_whole_number(n), _expect_whole_number(r)),
    "permutation": lambda n, r: math.perm(_expect_whole_number(n), _expect_whole_number(r)),
    "gcd": lambda a, b: math.gcd(_expect_whole_number(a), _expect_whole_number(b)),
    "lcm": lambda a, b: math.lcm(_expect_whole_number(a), _expect_whole_number(b)),
    "max_number": lambda *numbers: max(_list_numbers(numbers)),
    "min_number": lambda *numbers: min(_list_numbers(numbers)),
    "negate_prob": _complement_probability,
    "cube_edge_by_volume": _wrap_with_checks(math.cbrt, signed=False),
}
"""What the names say: real roots and logarithms, numbers only, no negative lengths."""
