"""The 40 basic functions: the documented oddities under OFFICIAL, sane answers under SANE."""

from __future__ import annotations

import inspect
import json
import math
from pathlib import Path
from typing import Any

import pytest

from planner_eval.execution.tools.nestful_basic import OFFICIAL, SANE

ODDITIES = [
    ("add", ("a", "b"), "ab"), ("multiply", ("ab", 2), "abab"), ("subtract", (7, 2), 5),
    ("divide", (6, 3), 2.0), ("divide", (1, 0), ZeroDivisionError), ("power", (2, 10), 1024),
    ("power", (0, -1), ZeroDivisionError), ("power", (-8, 1 / 3), (-8) ** (1 / 3)), ("sqrt", (10,), 3),
    ("sqrt", (16.0,), TypeError), ("sqrt", (-1,), ValueError), ("log", (1000, 10), 2), ("log", (100, 10), 2),
    ("log", (125, 5), 3), ("log", (math.e**2,), 2), ("log", (0,), ValueError), ("floor", (-2.5,), -3),
    ("negate", (4,), -4), ("inverse", (4,), 0.25), ("inverse", (0,), ZeroDivisionError),
    ("factorial", (5,), 120), ("factorial", (5.0,), TypeError), ("factorial", (-1.0,), ValueError),
    ("factorial", (0.0,), 1), ("choose", (5, 2), 10), ("choose", (2, 5), 0), ("choose", (5.0, 2), TypeError),
    ("choose", (-1, 2), ValueError), ("permutation", (5, 2), 20), ("permutation", (2, 5), ValueError),
    ("permutation", (3, 3.0), 6), ("permutation", (5, 3.0), TypeError), ("gcd", (7.9, 3), 1),
    ("gcd", ("12", -18), 6), ("lcm", (4, 6), 12), ("lcm", (4.5, 6), 13.0), ("lcm", (0, 0), ZeroDivisionError),
    ("remainder", (-7, 3), 2), ("reminder", (7, -3), -2), ("reminder", (7, 0), ZeroDivisionError),
    ("max_number", ([1, 3, 2],), 3), ("max_number", (1, 2), TypeError), ("max_number", ([],), ValueError),
    ("max_number", ("abc",), "c"), ("min_number", ([1, 3, 2],), 1), ("negate_prob", (1.5,), -0.5),
    ("speed", (10, 4), 2.5), ("circle_area", (-1,), math.pi), ("circumface", (2,), 2 * math.pi * 2),
    ("triangle_area", (3, 4), 6.0), ("rectangle_area", (3, 4), 12), ("rectangle_perimeter", (3, 4), 14),
    ("square_area", (3,), 9), ("square_perimeter", (3,), 12), ("square_edge_by_area", (10,), math.sqrt(10)),
    ("square_edge_by_area", (-1,), ValueError), ("square_edge_by_perimeter", (10,), 2.5),
    ("rhombus_area", (3, 4), 6.0), ("diagonal", (3, 4), 5.0), ("volume_cube", (3,), 27),
    ("surface_cube", (3,), 54), ("cube_edge_by_volume", (64,), 3.9999999999999996),
    ("cube_edge_by_volume", (-8,), ValueError), ("volume_sphere", (3,), 4 / 3 * math.pi * 27),
    ("surface_sphere", (3,), 4 * math.pi * 9), ("volume_cylinder", (3, 2), math.pi * 9 * 2),
    ("surface_cylinder", (3, 2), 2 * math.pi * 3 * 5), ("volume_cone", (3, 2), 1 / 3 * math.pi * 9 * 2),
]  # fmt: skip
SANITY = [
    ("add", ("a", "b"), TypeError), ("multiply", (True, 2), TypeError), ("power", (-8, 1 / 3), ValueError),
    ("sqrt", (10,), math.sqrt(10)), ("sqrt", (16.0,), 4.0), ("log", (1000, 10), 3.0), ("log", (125, 5), 3.0),
    ("log", (10,), math.log(10)), ("factorial", (5.0,), 120), ("factorial", (5.5,), ValueError),
    ("permutation", (5, 3.0), 60), ("gcd", (7.9, 3), ValueError), ("lcm", (0, 0), 0),
    ("max_number", (1, 5, 2), 5), ("max_number", ([1, 5, 2],), 5), ("negate_prob", (1.5,), ValueError),
    ("negate_prob", (0.25,), 0.75), ("circle_area", (-1,), ValueError), ("subtract", (1, 4), -3),
    ("cube_edge_by_volume", (64,), 4.0),
]  # fmt: skip


@pytest.mark.parametrize(
    ("functions", "name", "arguments", "expected"),
    [*((OFFICIAL, *case) for case in ODDITIES), *((SANE, *case) for case in SANITY)],
)
def test_oddities_and_sane_answers(functions: Any, name: str, arguments: Any, expected: Any) -> None:
    if isinstance(expected, type):
        with pytest.raises(expected):
            functions[name](*arguments)
    else:
        result = functions[name](*arguments)
        assert (result, type(result)) == (expected, type(expected))


def test_both_registries_hold_the_same_forty_names(reference: Path) -> None:
    path = reference / "datasets/nestful/v2/executable_function_signatures.json"
    entries = json.loads(path.read_text())["functions"]
    published = {
        one["name"]: one["parameters"] for one in entries if one["file"].endswith("basic_functions.py")
    }
    assert len(OFFICIAL) == 40
    assert set(SANE) == set(OFFICIAL) == {name for name, _, _ in ODDITIES} == set(published)
    for name, parameters in published.items():
        assert len(inspect.signature(OFFICIAL[name]).parameters) == len(parameters), name
