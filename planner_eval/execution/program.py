"""From a plan to the program that `core` runs: order, arguments as small trees, refused calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval.execution.sandbox.reply import CallSettings, Program, Step
from planner_eval.plan.graph import blocked_positions, generations
from planner_eval.plan.model import Plan, Ref, Template, Unresolved, Value, references

if TYPE_CHECKING:
    from planner_eval.execution.sandbox.reply import Tree


_SCALARS = frozenset({type(None), bool, int, float, str})


@dataclass(frozen=True, slots=True)
class Options:
    """How calls are made.

    Args:
        binding: ``"name"``: arguments by name (``arg_0`` … also stand for positions);
            ``"position"``: values in written order whatever their names, as NESTful's own executor does.
        concurrency: How many independent calls may run at once.
        retries: How often a failing call is tried again.
        backoff: Seconds before the first retry; doubled for each further one.
        arguments: Keep in the trace the values that each call was made with.
        state: Ask the tools for their state afterwards.
        outputs: Tool → the names of its outputs, where they are known.
    """

    binding: str = "name"
    concurrency: int = 1
    retries: int = 0
    backoff: float = 0.1
    arguments: bool = False
    state: bool = False
    outputs: Mapping[str, Sequence[str]] | None = None


class PlanWithState(NamedTuple):
    """A plan and the state in which its tools begin.

    Args:
        plan: The plan.
        initial: JSON data that the tools take as their state; None for their own first one.
    """

    plan: Plan
    initial: Any = None


def compile_plan(plan: Plan, options: Options | None = None, initial: Any = None) -> Program:
    """The program that runs `plan`.

    Calls in a cycle are refused; with one worker the others run in written order wherever that order
    is possible, with several they run by topological generation, one turn of a conversation after the other.

    Args:
        plan: The plan.
        options: How calls are made.
        initial: The state that the tools begin in; None for their own first one.

    >>> from planner_eval.plan.model import Call
    >>> compile_plan(Plan((Call("a", "now"), Call("b", "add", (("x", Ref(0)),))))).groups
    [[0], [1]]
    """
    settings = options or Options()
    needs = producers(plan)
    looped = _cyclic_calls(needs)
    outputs = settings.outputs or {}
    steps = [
        Step(
            call.tool,
            call.name,
            [(name, tree(value)) for name, value in call.arguments],
            needs[position],
            list(outputs.get(call.tool, outputs.get(call.name, call.returns))),
        )
        for position, call in enumerate(plan.calls)
    ]
    at_once = settings.concurrency > 1
    groups = _generations(needs, looped) if at_once else [[p] for p in _written_order(needs, looped)]
    groups, turns = _split_by_turn(plan, needs, groups)
    names = ", ".join(plan.calls[position].id for position in looped)
    return Program(
        steps,
        groups,
        looped,
        f"calls depend on one another: {names}",
        CallSettings(
            settings.binding,
            settings.concurrency,
            settings.retries,
            settings.backoff,
            arguments=settings.arguments,
            state=settings.state,
        ),
        initial,
        turns,
    )


def _split_by_turn(
    plan: Plan, needs: list[list[int]], groups: list[list[int]]
) -> tuple[list[list[int]], list[tuple[int, int]]]:
    """The groups parted and ordered by turn, and where each turn ends; as they are where there is one turn.

    So they stay as well where a call takes the value of one in a later turn: no turn could be run whole.
    """
    turn_of = [call.turn or 0 for call in plan.calls]
    if len(set(turn_of)) < 2 or any(
        turn_of[p] > turn_of[q] for q, producers in enumerate(needs) for p in producers
    ):
        return groups, []
    ordered: list[list[int]] = []
    ends = []
    for turn in sorted(set(turn_of)):
        before = len(ordered)
        ordered += filter(None, ([p for p in group if turn_of[p] == turn] for group in groups))
        if len(ordered) > before:
            ends.append((turn, len(ordered)))
    return ordered, ends


def producers(plan: Plan) -> list[list[int]]:
    """For each call the calls whose values its arguments hold; guessed edges of the plan do not count."""
    return [
        sorted({r.call for _, value in call.arguments for _, r in references(value) if isinstance(r, Ref)})
        for call in plan.calls
    ]


def sink_calls(plan: Plan) -> list[int]:
    """The calls whose values no other call takes."""
    used = {producer for needed in producers(plan) for producer in needed}
    return [position for position in range(len(plan.calls)) if position not in used]


def running_order(plan: Plan) -> list[int]:
    """Every call once: producers before consumers, in written order where that is free."""
    needs = producers(plan)
    looped = _cyclic_calls(needs)
    return sorted(looped) + _written_order(needs, looped)


def tree(value: Value) -> Tree:
    """One argument's value for `core`: scalars as they are, the rest as a tag and its content."""
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is Ref:
        return ("ref", (value.call, list(value.path)))
    if kind is Unresolved:
        return ("unresolved", value.name)
    if kind is Template:
        return ("text", [tree(piece) for piece in value.parts])
    if kind is list:
        items = [tree(item) for item in value]
        return ("value", value) if all(map(_is_literal, items)) else ("list", items)
    if kind is dict:
        fields = [(key, tree(item)) for key, item in value.items()]
        return ("value", value) if all(_is_literal(item) for _, item in fields) else ("dict", fields)
    return ("value", value)


def _is_literal(inner: Tree) -> bool:
    """Whether a tree is the value itself, with nothing in it to resolve."""
    return type(inner) is not tuple or inner[0] == "value"


def _generations(needs: list[list[int]], looped: list[int]) -> list[list[int]]:
    """Topological generations, in which a call that depends on a cycle comes after it: it is skipped."""
    if not looped:
        return list(generations(needs))
    out = set(looped)
    acyclic = [[p] if p in out else [q for q in needed if q not in out] for p, needed in enumerate(needs)]
    return list(generations(acyclic))


def _cyclic_calls(needs: list[list[int]]) -> list[int]:
    """The calls that lie on a cycle: strongly connected components of more than one call, or self-loops."""
    if all(producer < position for position, producers in enumerate(needs) for producer in producers):
        return []
    behind = set(
        blocked_positions(needs)
    )  # what depends on a cycle too; of it, what no cycle depends on is taken away
    users: list[list[int]] = [[] for _ in needs]
    for position in behind:
        for producer in needs[position]:
            users[producer].append(position)
    return [position for position in blocked_positions(users) if position in behind]


def _written_order(needs: list[list[int]], looped: list[int]) -> list[int]:
    """Each call as early as it is written, but after its producers."""
    placed = set(looped)
    order: list[int] = []
    for start in range(len(needs)):
        stack = [start]
        while stack:
            position = stack[-1]
            lacking = [producer for producer in needs[position] if producer not in placed]
            if position in placed or not lacking:
                stack.pop()
                if position not in placed:
                    placed.add(position)
                    order.append(position)
            else:
                stack.extend(reversed(lacking))
    return order


# ----------------------------------------------------------------------
# Fits the arguments that a plan gives to the parameters that a function has.
#
# `inspect.signature` would do, but importing `inspect` costs more than starting a whole worker.
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

    Names of the form ``arg_0``, ``arg_1`` that the function does not have stand for positions.

    Raises:
        CallFailed: ``repeated-argument``, ``unknown-argument`` or ``missing-argument``.

    >>> call_function(pow, [("arg_0", 2), ("arg_1", 3)])
    8
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
        return (_sort_by_position(named), {}) if _are_positional_names(named) else ([], named)
    positional = list(code.co_varnames[skipped : code.co_argcount])
    keyword = list(code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount])
    unknown = [name for name in named if name not in positional and name not in keyword]
    takes_any_name, takes_any_number = code.co_flags & 0x08, code.co_flags & 0x04
    if unknown and _are_positional_names(named) and (takes_any_number or not takes_any_name):
        return _check_positions(named, positional, len(defaults), code), {}
    if unknown and not takes_any_name:
        takes = ", ".join(positional + keyword) or "no arguments"
        raise CallFailed("unknown-argument", f"no argument is named {unknown[0]!r}; the tool takes {takes}")
    required = positional[: len(positional) - len(defaults)]
    required += [name for name in keyword if name not in (getattr(function, "__kwdefaults__", None) or {})]
    missing = [name for name in required if name not in named]
    if missing:
        raise CallFailed("missing-argument", f"the argument {missing[0]!r} is missing")
    only_positional = positional[: max(0, code.co_posonlyargcount - skipped)]
    return [named.pop(name) for name in only_positional if name in named], named


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


def _are_positional_names(named: dict[str, Any]) -> bool:
    return bool(named) and all(name.startswith("arg_") and name[4:].isdecimal() for name in named)


def _sort_by_position(named: dict[str, Any]) -> list[Any]:
    ordered = sorted(named.items(), key=lambda pair: int(pair[0][4:]))
    for expected, (name, _) in enumerate(ordered):
        if int(name[4:]) != expected:
            raise CallFailed("missing-argument", f"the argument 'arg_{expected}' is missing")
    return [value for _, value in ordered]


def _check_positions(named: dict[str, Any], positional: list[str], defaults: int, code: Any) -> list[Any]:
    ordered = _sort_by_position(named)
    if len(ordered) < len(positional) - defaults:
        lacking = f"the argument 'arg_{len(ordered)}' ({positional[len(ordered)]}) is missing"
        raise CallFailed("missing-argument", lacking)
    if len(ordered) > len(positional) and not code.co_flags & 0x04:
        raise CallFailed(
            "unknown-argument", f"the tool takes {len(positional)} arguments, found {len(ordered)}"
        )
    return ordered
