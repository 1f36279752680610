"""Plans as Python: a program of assignments, or calls with their producers nested inside."""

from __future__ import annotations

import json
import keyword
import math
import re
from collections import Counter
from collections.abc import Callable

from planner_eval.base.errors import WriteError
from planner_eval.plan.model import Call, Path, Plan, Ref, Unresolved, Value
from planner_eval.plan.values import fold
from planner_eval.reading.dialects.dialect import DEPENDENCY_ARGUMENT
from planner_eval.reading.dialects.programs.values import BUILTINS, DISPLAY_FUNCTIONS
from planner_eval.reading.dialects.references import refuse_unwritable

_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_WORDS = {"true", "false", "null", "await"}


def write_program(plan: Plan, dialect: str) -> str:
    """A plan as assignments, a line a call; `v1["city"]` is a reference.

    Raises:
        WriteError: a name that is no Python name, or a reference that no earlier line gives.
    """
    refuse_unwritable(plan)
    roots = {call.name.split(".")[0] for call in plan.calls}
    names: list[str] = []
    for i in range(len(plan.calls)):
        name = f"v{i + 1}"
        while name in roots:
            name += "_"
        names.append(name)
    used = {edge.producer for edge in plan.edges}
    lines = []
    for i, call in enumerate(plan.calls):

        def reference(ref: Ref, i: int = i) -> str:
            if ref.call >= i:
                raise WriteError(
                    f"call {i + 1} refers to the later call {ref.call + 1}, which {dialect!r} cannot say"
                )
            return names[ref.call] + _format_path(ref.path)

        text = call_text(call, reference, dialect)
        lines.append(f"{names[i]} = {text}" if i in used else text)
    return "\n".join(lines)


def write_list(plan: Plan, dialect: str) -> str:
    """A plan as a list of calls, producers nested inside their consumers."""
    return f"[{', '.join(write_calls(plan, dialect))}]"


def write_calls(plan: Plan, dialect: str) -> list[str]:
    """The calls as texts, producers nested inside their consumers.

    Raises:
        WriteError: a result is used twice (nested it would be two calls), or the order cannot be kept.
    """
    refuse_unwritable(plan)
    users = Counter(edge.producer for edge in plan.edges)
    twice = next((producer for producer, count in sorted(users.items()) if count > 1), None)
    if twice is not None:
        raise WriteError(
            f"the result of call {twice + 1} is used {users[twice]} times, which nested calls cannot say; "
            "use 'code'"
        )

    def reference(ref: Ref) -> str:
        if ref.call in running:
            raise WriteError("calls that depend on one another in a circle cannot be nested")
        return text(ref.call) + _format_path(ref.path)

    running: set[int] = set()

    def text(i: int) -> str:
        running.add(i)
        written = call_text(plan.calls[i], reference, dialect)
        running.discard(i)
        return written

    roots = [i for i in range(len(plan.calls)) if i not in users]
    if plan.calls and not roots:
        raise WriteError("calls that depend on one another in a circle cannot be nested")
    try:
        return [text(i) for i in roots]
    except RecursionError:
        raise WriteError("the plan is too deep to be nested; use 'code'") from None


def _format_path(path: Path) -> str:
    return "".join(f"[{json.dumps(step) if isinstance(step, str) else step}]" for step in path)


def call_text(call: Call, reference: Callable[[Ref], str], dialect: str) -> str:
    """One call as Python source; `reference` writes what refers to other calls."""
    if (
        not _NAME.fullmatch(call.name)
        or call.name in DISPLAY_FUNCTIONS
        or set(call.name.split(".")) & set(keyword.kwlist)
    ):
        raise WriteError(f"call {call.id}: {call.name!r} is no name of Python, which {dialect!r} needs")
    arguments: list[str] = []
    position = 0
    for name, value in call.arguments:
        text = format_value(value, reference)
        if name == str(position) and position == len(arguments):
            position += 1
            arguments.append(text)
        elif re.fullmatch(r"[^\W\d]\w*", name) and not keyword.iskeyword(name):
            arguments.append(f"{name}={text}")
        else:
            what = (
                "a dependency without an argument"
                if name == DEPENDENCY_ARGUMENT
                else f"the argument {name!r}"
            )
            raise WriteError(f"call {call.id} ({call.name}): {dialect!r} cannot say {what}")
    if call.name in BUILTINS and position == len(arguments):
        raise WriteError(f"call {call.id}: {call.name!r} would read as Python's own function")
    return f"{call.name}({', '.join(arguments)})"


def format_value(value: Value, reference: Callable[[Ref], str]) -> str:
    """A value as Python source.

    Raises:
        WriteError: an unresolved reference, or a number that Python has no literal for.
    """

    def leaf(value: Value) -> str:
        if isinstance(value, str):
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\x7f")
        if isinstance(value, Ref):
            return reference(value)
        if isinstance(value, Unresolved):
            raise WriteError(
                f"the reference to {value.name!r}, which no call returns, cannot be said in Python"
            )
        if isinstance(value, float) and not math.isfinite(value):
            raise WriteError(f"{value!r} cannot be written as a literal of Python")
        return repr(value)

    def fields(texts: dict[str, str]) -> str:
        return f"{{{', '.join(f'{json.dumps(k, ensure_ascii=False)}: {text}' for k, text in texts.items())}}}"

    text: str = fold(
        value,
        leaf,
        items=lambda texts: f"[{', '.join(texts)}]",
        fields=fields,
        text=lambda pieces: " + ".join(map(leaf, pieces)),
    )
    return text
