"""Runs one program: the calls of a plan, in order, with Python callables as tools.

The same code runs in a worker and inline. It takes plain data (see `program`) and imports next to
nothing, because each worker loads it at start; it trusts neither the plan nor the tools, but it
confines nothing: that is `lockdown`'s work.
"""

from __future__ import annotations

from _collections_abc import Mapping  # collections itself would double what a worker imports
from time import perf_counter, sleep

from planner_eval.execution.bind import CallFailed, bind

TYPE_CHECKING = False  # typing imports re, which would add half to a worker's time to start
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    CallRow: TypeAlias = tuple[int, str, Any, float, int, Any]
    """Position, ``"ok" | "failed" | "skipped"``, value or (kind, message), seconds, attempts, arguments."""

MAX_ITEMS = 100_000
"""How many items a generator may yield before the call fails."""

SINGLE = frozenset({"result", "output", "output_0"})
"""Names under which plans speak of a tool's only output."""

_SCALARS = frozenset({type(None), bool, int, float, str})
_MISSING = object()


def run(program: dict[str, Any], tools: Mapping[str, Any], emit: Callable[[CallRow], None]) -> None:
    """Make every call whose producers succeeded, and report each call once, as soon as it ends.

    Args:
        program: From `planner_eval.execution.program.compile_plan`.
        tools: Tool name → callable.
        emit: Receives one row a call.
    """
    values: dict[int, Any] = {}
    broken: dict[int, int] = {}
    for position, (kind, message) in program["refused"]:
        broken[position] = position
        emit((position, "failed", (kind, message), 0.0, 0, None))
    for group in program["groups"]:
        ready = []
        for position in group:
            cause = _first_broken(program["calls"][position][3], broken)
            if cause is None:
                ready.append(position)
            else:
                broken[position] = cause
                emit((position, "skipped", ("producer-failed", str(cause)), 0.0, 0, None))
        for row, value in _make(program, tools, ready, values):
            if row[1] == "ok":
                values[row[0]] = value
            else:
                broken[row[0]] = row[0]
            emit(row)


def _first_broken(needs: list[int], broken: dict[int, int]) -> int | None:
    return next((broken[producer] for producer in needs if producer in broken), None)


def _make(
    program: dict[str, Any], tools: Mapping[str, Any], group: list[int], values: dict[int, Any]
) -> Iterator[tuple[CallRow, Any]]:
    if program["workers"] <= 1 or len(group) <= 1:
        for position in group:
            yield _attempt(program, tools, position, values)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(program["workers"], len(group))) as pool:
        yield from pool.map(lambda position: _attempt(program, tools, position, values), group)


def _attempt(
    program: dict[str, Any], tools: Mapping[str, Any], position: int, values: dict[int, Any]
) -> tuple[CallRow, Any]:
    started = perf_counter()
    attempts, shown = 0, None
    while True:
        attempts += 1
        try:
            shown = _arguments(program, position, values)
            value = _call(program, tools, position, shown)
            kept = shown if program["arguments"] else None
            return (position, "ok", value, perf_counter() - started, attempts, kept), value
        except CallFailed as failure:
            problem = (failure.kind, str(failure))
            break
        except BaseException as error:
            if program["inline"] and not isinstance(error, (Exception, SystemExit)):
                raise  # the user's own Ctrl-C; in a worker it can only be the tool that raises it
            problem = (type(error).__name__, _message(error))
            if attempts > program["retries"]:
                break
        sleep(program["backoff"] * 2 ** (attempts - 1))
    kept = shown if program["arguments"] else None
    return (position, "failed", problem, perf_counter() - started, attempts, kept), None


def _message(error: BaseException) -> str:
    try:
        return str(error)[:500]
    except BaseException as second:
        return f"(its message raises {type(second).__name__})"


def _arguments(program: dict[str, Any], position: int, values: dict[int, Any]) -> list[tuple[str, Any]]:
    return [
        (name, tree if type(tree) in _SCALARS else resolve(tree, program, values))
        for name, tree in program["calls"][position][2]
    ]


def resolve(tree: Any, program: dict[str, Any], values: dict[int, Any]) -> Any:
    """The value of one argument's tree, references replaced by what the calls gave."""
    if type(tree) in _SCALARS:
        return tree
    tag, content = tree[0], tree[1]
    if tag == "ref":
        found = follow(values[content], tree[2], program["calls"][content][4])
        return found if program["shared"] else fresh(found)
    if tag == "value":
        return fresh(content)
    if tag == "list":
        return [resolve(item, program, values) for item in content]
    if tag == "dict":
        return {key: resolve(item, program, values) for key, item in content}
    if tag == "text":
        return "".join(_as_text(resolve(part, program, values)) for part in content)
    raise CallFailed("unresolved", f"the plan has no call that returns {content!r}")


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    from planner_eval.execution.wire import encode

    return encode(value) if isinstance(value, (bool, type(None), list, dict)) else str(value)


def fresh(value: Any) -> Any:
    """A copy of lists and dicts, so that a tool that changes its argument changes nobody else's."""
    if type(value) is list:
        return [fresh(item) for item in value]
    if type(value) is dict:
        return {key: fresh(item) for key, item in value.items()}
    return value


# ---------------------------------------------------------------- outputs
def follow(value: Any, path: list[str | int], outputs: list[str]) -> Any:
    """What a reference's path leads to: dict keys, attributes, list positions.

    The first step may also be the name of the tool's output: of its only one, or of one of several
    that it returns as a tuple.

    Raises:
        CallFailed: ``no-such-output``.

    >>> follow({"city": ["Oslo"]}, ["city", 0], []), follow(4, ["result"], [])
    ('Oslo', 4)
    >>> follow((1, 2), ["b"], ["a", "b"])
    2
    """
    for depth, step in enumerate(path):
        found = _step(value, step)
        if found is _MISSING and depth == 0 and isinstance(step, str):
            found = _named_output(value, step, outputs)
        if found is _MISSING:
            raise CallFailed("no-such-output", f"{type(value).__name__} has no {step!r}{_offered(value)}")
        value = found
    return value


def _step(value: Any, step: str | int) -> Any:
    if isinstance(value, Mapping):
        return value.get(step, _MISSING)
    if isinstance(value, (list, tuple)):
        if isinstance(step, str) and step.lstrip("-").isdecimal() and len(step) < 10:
            step = int(step)
        if isinstance(step, int):
            return value[step] if -len(value) <= step < len(value) else _MISSING
    if isinstance(step, str) and not step.startswith("_") and type(value) not in _SCALARS:
        return getattr(value, step, _MISSING)
    return _MISSING


def _named_output(value: Any, step: str, outputs: list[str]) -> Any:
    if isinstance(value, tuple) and len(outputs) == len(value) > 1 and step in outputs:
        return value[outputs.index(step)]
    if isinstance(value, Mapping):
        return _MISSING
    return value if outputs == [step] or (not outputs and step in SINGLE) else _MISSING


def _offered(value: Any) -> str:
    if isinstance(value, Mapping):
        return ": it has " + ", ".join(repr(key) for key in list(value)[:10]) if value else ": it is empty"
    return f": it has {len(value)} items" if isinstance(value, (list, tuple)) else ""


# ---------------------------------------------------------------- calling
def _call(
    program: dict[str, Any], tools: Mapping[str, Any], position: int, given: list[tuple[str, Any]]
) -> Any:
    tool, name = program["calls"][position][:2]
    function = tools.get(tool)
    if function is None:
        function = tools.get(name)
    if function is None:
        raise CallFailed("unknown-tool", f"no tool is named {tool!r}{_nearest(tool, tools)}")
    if program["binding"] == "position":
        return settle(function(*[value for _, value in given]))
    positional, named = bind(function, given)
    return settle(function(*positional, **named))


def _nearest(tool: str, tools: Mapping[str, Any]) -> str:
    from difflib import get_close_matches  # not base.text: a confined worker finds no module of ours any more

    near = get_close_matches(tool[:100], list(tools), 1)
    return f"; did the plan mean {near[0]!r}?" if near else f" among {len(tools)} tools"


def settle(result: Any) -> Any:
    """The value of a call: an awaitable's result, a generator's items as a list, anything else as it is."""
    kind = type(result)
    if hasattr(kind, "__await__") or hasattr(kind, "__anext__"):
        from planner_eval.execution.awaiting import wait

        return wait(result, MAX_ITEMS)
    if hasattr(kind, "__next__") and hasattr(kind, "send"):
        items: list[Any] = []
        for item in result:
            if len(items) >= MAX_ITEMS:
                raise CallFailed("too-many-items", f"the generator yields more than {MAX_ITEMS:,} items")
            items.append(item)
        return items
    return result
