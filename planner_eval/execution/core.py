"""Runs one program: the calls of a plan, in order, with Python callables as tools.

The same code runs in a worker and inline. It takes plain data (`Program`, made by `program`) and imports
next to nothing, because each worker loads it at start; it trusts neither the plan nor the tools, but it
confines nothing: that is `lockdown`'s work.
"""

from __future__ import annotations

from _collections_abc import Mapping
from time import perf_counter, sleep

from planner_eval.execution.bind import CallFailed, call_function
from planner_eval.execution.printed import exception_location, exception_message, exception_name
from planner_eval.execution.sandbox.job import Program, Row

TYPE_CHECKING = False  # typing imports re, which would add half to a worker's time to start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeAlias

    from planner_eval.execution.printed import OutputCapture
    from planner_eval.execution.sandbox.job import Problem, Tree

    Take: TypeAlias = Callable[[int, list[str | int]], Any]
    """From a reference, a call's position and a path, to the value."""

MAX_ITEMS = 100_000
"""How many items a generator may yield before the call fails."""

MAX_CONCURRENT_CALLS = 32
"""How many calls run at once in a worker, whose threads are limited."""

SINGLE_OUTPUT_NAMES = frozenset({"result", "output", "output_0"})
"""Names under which plans speak of a tool's only output."""

SCALAR_TYPES = frozenset({type(None), bool, int, float, str})
"""What has no parts that a reference could name."""

_MISSING = object()


def run(
    program: Program,
    tools: Mapping[str, Any],
    emit: Callable[[Row], object],
    printed: OutputCapture,
    *,
    turned: Callable[[int], object] | None = None,
    inline: bool = False,
) -> None:
    """Make every call whose producers succeeded, and report each call once, as soon as it ends.

    Args:
        program: From `planner_eval.execution.program.compile_plan`.
        tools: Tool name → callable.
        emit: Receives one row a call.
        printed: Stands for standard output, and keeps what each call prints.
        turned: Is told each turn of a conversation that has ended.
        inline: The user's own process, whose Ctrl-C is no failure of a tool.
    """
    values: dict[int, Any] = {}
    broken: dict[int, int] = {}

    def take(call: int, path: list[str | int]) -> Any:
        output = follow_path(values[call], path, program.steps[call].outputs)
        return output if program.manner.shared else copy_containers(output)

    def attempt(position: int) -> Row:
        printed.begin()
        row = _attempt_call(program, tools, position, take, inline=inline)
        row.printed = printed.end()
        return row

    for position in program.looped:
        broken[position] = position
        emit(Row(position, "failed", problem=("cycle", program.circle)))
    ends = {number: turn for turn, number in program.turns} if turned is not None else {}
    for number, group in enumerate(program.groups, 1):
        ready = []
        for position in group:
            needs = program.steps[position].needs
            cause = next((broken[p] for p in needs if p in broken), None) if broken else None
            if cause is None:
                ready.append(position)
            else:
                broken[position] = cause
                emit(Row(position, "skipped", problem=("producer-failed", str(cause))))
        at_once = min(program.manner.workers, len(ready), len(ready) if inline else MAX_CONCURRENT_CALLS)
        for row in map(attempt, ready) if at_once <= 1 else _run_concurrently(attempt, ready, at_once):
            if row.problem is None:
                values[row.position] = row.value
            else:
                broken[row.position] = row.position
            emit(row)
        if turned is not None and number in ends:
            turned(ends[number])


def _run_concurrently(attempt: Callable[[int], Row], group: list[int], workers: int) -> Iterable[Row]:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(attempt, group)


def _attempt_call(
    program: Program, tools: Mapping[str, Any], position: int, take: Take, *, inline: bool
) -> Row:
    started = perf_counter()
    attempts, reported = 0, None
    problem: Problem | None
    step = program.steps[position]
    while True:
        attempts += 1
        value, problem = None, None
        try:
            arguments = [(n, t if type(t) in SCALAR_TYPES else resolve(t, take)) for n, t in step.arguments]
            if program.manner.arguments:  # as they are now: a tool may change them in place
                reported = [(name, copy_containers(argument)) for name, argument in arguments]
            value = _call_tool(program, position, tools, arguments)
            break
        except CallFailed as failure:
            problem = (failure.kind, str(failure), failure.place)
            break
        except BaseException as error:
            if inline and isinstance(error, KeyboardInterrupt):
                raise  # the user's own Ctrl-C; in a worker it can only be the tool that raises it
            problem = (exception_name(error), exception_message(error), exception_location(error))
            if attempts > program.manner.retries:
                break
        sleep(program.manner.backoff * 2 ** (attempts - 1))
    status = "ok" if problem is None else "failed"
    return Row(position, status, value, problem, perf_counter() - started, attempts, reported)


def resolve(tree: Tree, take: Take) -> Any:
    """The value of one argument's tree, references replaced by what the calls gave.

    Raises:
        CallFailed: ``unresolved``, or what `take` raises.
    """
    if type(tree) in SCALAR_TYPES:
        return tree
    tag, content = tree
    if tag == "ref":
        return take(*content)
    if tag == "value":
        return copy_containers(content)
    if tag == "list":
        return [resolve(item, take) for item in content]
    if tag == "dict":
        return {key: resolve(item, take) for key, item in content}
    if tag == "text":
        return "".join(_as_text(resolve(item, take)) for item in content)
    raise CallFailed("unresolved", f"the plan has no call that returns {content!r}")


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    from planner_eval.execution.sandbox.wire import encode

    return encode(value) if isinstance(value, (bool, type(None), list, dict)) else str(value)


def copy_containers(value: Any) -> Any:
    """A copy of lists and dicts, so that a tool that changes its argument changes nobody else's."""
    if type(value) is list:
        return [copy_containers(item) for item in value]
    if type(value) is dict:
        return {key: copy_containers(item) for key, item in value.items()}
    return value


# ---------------------------------------------------------------- outputs
def follow_path(value: Any, path: list[str | int], outputs: list[str]) -> Any:
    """What a reference's path leads to: dict keys, fields of objects, list positions.

    The first step may also be the name of the tool's output: of its only one, which `SINGLE_OUTPUT_NAMES`
    names as well whatever it is called, or of one of several that it returns as a tuple.

    Raises:
        CallFailed: ``no-such-output``.

    >>> follow_path({"city": ["Oslo"]}, ["city", 0], []), follow_path({"city": "Oslo"}, ["result"], [])
    ('Oslo', {'city': 'Oslo'})
    >>> follow_path((1, 2), ["b"], ["a", "b"])
    2
    """
    for depth, step in enumerate(path):
        output = _follow_step(value, step)
        if output is _MISSING and depth == 0 and isinstance(step, str):
            output = _named_output(value, step, outputs)
        if output is _MISSING:
            raise CallFailed(
                "no-such-output", f"{type(value).__name__} has no {step!r}{_describe_outputs(value)}"
            )
        value = output
    return value


def _follow_step(value: Any, step: str | int) -> Any:
    if isinstance(value, Mapping):
        return value.get(step, _MISSING)
    if isinstance(value, (list, tuple)):
        if isinstance(step, str) and step.lstrip("-").isdecimal() and len(step) < 10:
            step = int(step)
        if isinstance(step, int):
            return value[step] if -len(value) <= step < len(value) else _MISSING
    if isinstance(step, str) and not step.startswith("_") and not _is_builtin(value):
        field = getattr(value, step, _MISSING)
        return _MISSING if callable(field) and _is_builtin(field) else field  # a method is no output
    return _MISSING


def _is_builtin(value: Any) -> bool:
    """Whether a value is of Python's own types, whose attributes are no data: list.count, module.path."""
    return type(value).__module__ == "builtins"


def _named_output(value: Any, step: str, outputs: list[str]) -> Any:
    if isinstance(value, tuple) and len(outputs) == len(value) > 1 and step in outputs:
        return value[outputs.index(step)]
    if step in SINGLE_OUTPUT_NAMES and len(outputs) < 2:
        only = _follow_step(value, outputs[0]) if outputs else _MISSING
        return value if only is _MISSING else only
    # An object without a field that its tool declares lacks it: it is not the field's value.
    return value if outputs == [step] and not isinstance(value, Mapping) else _MISSING


def _describe_outputs(value: Any) -> str:
    if isinstance(value, Mapping):
        return ": it has " + ", ".join(repr(key) for key in list(value)[:10]) if value else ": it is empty"
    return f": it has {len(value)} items" if isinstance(value, (list, tuple)) else ""


# ---------------------------------------------------------------- calling
def _call_tool(
    program: Program, position: int, tools: Mapping[str, Any], arguments: list[tuple[str, Any]]
) -> Any:
    step = program.steps[position]
    if hasattr(tools, "answer"):
        return tools.answer(program, position, arguments)
    function = tools.get(step.tool)
    if function is None:
        function = tools.get(step.name)
        app = getattr(function, "offering_app", None)
        if type(app) is str and step.tool != step.name:  # of a world: another app does not offer it
            raise CallFailed("unknown-tool", f"there is no tool {step.tool!r}: {step.name!r} is in {app}")
    if function is None:
        raise CallFailed("unknown-tool", f"there is no tool {step.tool!r}{_suggest_tool(step.tool, tools)}")
    if program.manner.binding == "position":
        return settle_result(function(*[value for _, value in arguments]))
    return settle_result(call_function(function, arguments))


def _suggest_tool(tool: str, tools: Mapping[str, Any]) -> str:
    from difflib import get_close_matches  # not base.text: a confined worker finds no module of ours any more

    suggestions = get_close_matches(tool[:100], list(tools), 1)
    return f"; did the plan mean {suggestions[0]!r}?" if suggestions else f" among {len(tools)} tools"


def settle_result(result: Any) -> Any:
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
