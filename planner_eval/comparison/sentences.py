"""A difference in words: one sentence that names the calls, the arguments, the values, the places."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from planner_eval.base.text import one_line, shown
from planner_eval.plan.model import Path, Plan, Ref, Unresolved, Value
from planner_eval.plan.walk import fold

WIDTH = 80
"""The longest value that a sentence shows in full."""


def call_name(plan: Plan, position: int | None) -> str:
    """A call's tool and place: ``book_trip (call 3)``; ``the answer`` for None."""
    if position is None:
        return "the answer"
    return f"{plan.calls[position].tool} (call {position + 1})"


def calls_numbers(positions: Iterable[int]) -> str:
    """Calls by their numbers.

    >>> calls_numbers([0, 1, 2, 3]), calls_numbers([0, 2]), calls_numbers([0, 1])
    ('calls 1–4', 'calls 1, 3', 'calls 1, 2')
    """
    places = sorted(positions)
    if len(places) > 2 and places == [*range(places[0], places[-1] + 1)]:
        return f"calls {places[0] + 1}–{places[-1] + 1}"
    return f"calls {', '.join(str(at + 1) for at in places)}"


def calls_name(plan: Plan) -> str:
    """All calls of a plan on one line, as far as it reaches.

    >>> from planner_eval.plan.model import Call
    >>> calls_name(Plan((Call("a", "f", (("x", [1, True]),)), Call("b", "g", (("y", Ref(0)),)))))
    'f(x=[1, true]); g(y=‹call 1›)'
    """
    said = []
    for call in plan.calls[:WIDTH]:
        given = ", ".join(f"{name}={value_name(value, plan)}" for name, value in call.arguments)
        said.append(f"{call.tool}({given})")
    return one_line("; ".join(said), 2 * WIDTH) or "no call"


def path_name(path: Path) -> str:
    """A path as one writes it: ``tone.len``, ``rows[0].id``.

    >>> path_name(("rows", 0, "id"))
    'rows[0].id'
    """
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def output_name(reference: Ref | Unresolved, plan: Plan) -> str:
    """What a reference takes: ``output id of book_trip (call 3)``."""
    of = call_name(plan, reference.call) if isinstance(reference, Ref) else repr(reference.name)
    return f"output {path_name(reference.path)} of {of}" if reference.path else f"the result of {of}"


def value_name(value: Value, plan: Plan) -> str:
    """A value on one line: JSON, references as ``‹call 3: id›``.

    >>> value_name({"x": [Ref(2, ("id",)), True]}, Plan())
    '{"x": [‹call 3: id›, true]}'
    """
    return _mark(shown(fold(value, _plain, text=lambda parts: "".join(map(str, map(_plain, parts)))), WIDTH))


def place_name(plan: Plan, position: int | None, argument: Any, at: Path = ()) -> str:
    """A place: ``book_trip (call 3): argument 'opts' at tone.len``."""
    name = argument if isinstance(argument, str) else argument[0]
    within = f" at {path_name(at)}" if at else ""
    kind = "value" if position is None else "argument"
    return f"{call_name(plan, position)}: {kind} {name!r}{within}"


def _plain(leaf: Value) -> Any:
    if isinstance(leaf, Ref):
        return _quote(f"call {leaf.call + 1}", leaf.path)
    return _quote(f"{leaf.name}?", leaf.path) if isinstance(leaf, Unresolved) else leaf


def _quote(name: str, path: Path) -> str:
    return f"‹{name}: {path_name(path)}›" if path else f"‹{name}›"


def _mark(text: str) -> str:
    return text.replace('"‹', "‹").replace('›"', "›")
