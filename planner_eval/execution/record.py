"""Recorded answers: what tools said once, kept in a file, so that it can be said again without them.

One JSON object a line: ``{"tool": …, "arguments": {…}, "value": …}``, or ``"error": [kind, message]``
in place of the value (and third the line of the tools' file, where one raised it). ``"plan"`` and ``"call"``
say for which call of which plan; without them, as people write such lines, the answer holds for any plan.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from planner_eval.base.errors import ExecutionError, LimitError, ParseError
from planner_eval.base.json_files import read_json, read_json_lines
from planner_eval.base.text import one_line_json
from planner_eval.execution.sandbox.job import Program
from planner_eval.execution.sandbox.wire import Opaque, decode, encode
from planner_eval.execution.tool_loading import argument_key, plan_key
from planner_eval.execution.trace import Trace

fcntl: Any
try:
    import fcntl
except ImportError:  # not on every platform
    fcntl = None

_LINE_START = b'{"tool":'
_ADVICE = "fix or remove that line: --record runs its plan again"


def find_cut_line(path: Path) -> int | None:
    """Where the last line of a record file begins, when it was cut as it was written; None where it was not.

    A line that begins as none of ours does is somebody's own, and no loss to be mended.

    Args:
        path: The file; there may be none.
    """
    try:
        data = path.read_bytes()
    except OSError:
        return None
    start = data.rfind(b"\n") + 1
    last = data[start:]
    if not last or not (last.startswith(_LINE_START) or _LINE_START.startswith(last)):
        return None
    try:
        read_json(last.decode("utf-8"))
    except LimitError:
        return None
    except (ParseError, UnicodeDecodeError):
        return start
    return None


def repair_end(path: Path) -> None:
    """Have a record file end where more lines can be added.

    Args:
        path: The file; there may be none.
    """
    start = find_cut_line(path)
    if start is not None:
        os.truncate(path, start)
    elif path.exists() and (data := path.read_bytes()) and not data.endswith(b"\n"):
        path.write_bytes(data + b"\n")


def lock_record_file(path: Path) -> Callable[[], object]:
    """Keep other runs from recording into a file, and make it where it is not there yet.

    Args:
        path: The file.

    Returns:
        What lets go of it, and removes it again where nothing was written to it.

    Raises:
        ExecutionError: another run records into it, or it cannot be written.
    """
    is_new = not path.exists()
    try:
        file = path.open("ab" if is_new else "rb")
    except OSError as error:
        raise ExecutionError(f"{path}: cannot be written: {error.strerror}") from error
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise ExecutionError(
                f"{path}: another run is recording into it: wait for it to end, or use another file"
            ) from None
        except OSError:  # some network's file systems have no locks
            pass

    def let_go() -> None:
        if is_new and not file.closed and path.exists() and not path.stat().st_size:
            path.unlink()
        file.close()

    return let_go


def read_record(path: Path, size: int | None = None) -> list[dict[str, Any]]:
    """The entries of a record file, with a ``key`` by which arguments are compared.

    Args:
        path: The file.
        size: How many bytes are read; all when left out.

    Raises:
        ExecutionError: the file cannot be read, or a line is no entry; says which.
    """
    try:
        text = path.read_bytes()[:size].decode("utf-8")
    except FileNotFoundError:
        raise ExecutionError(f"{path}: no such file") from None
    except OSError as error:
        raise ExecutionError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ExecutionError(f"{path}: not UTF-8 text (byte {error.start})") from error
    entries = []
    for line in read_json_lines(text):
        if line.error is not None:
            raise ExecutionError(f"{path}, {line.error.brief}; {_ADVICE}")
        entries.append(_read_entry(line.data, f"{path}, line {line.number}"))
    return entries


def _read_entry(raw: Any, location: str) -> dict[str, Any]:
    expected = f"expected an object with tool, arguments and value (or error); {_ADVICE}"
    if not isinstance(raw, dict):
        raise ExecutionError(f"{location}: no recorded call: found {one_line_json(raw, 60)}; {expected}")
    lacking = [key for key in ("tool", "arguments") if key not in raw]
    if lacking or not {"value", "error"} & raw.keys():
        raise ExecutionError(
            f"{location}: no recorded call: there is no {(*lacking, 'value')[0]!r}; {expected}"
        )
    try:
        arguments = decode(raw["arguments"])
        if not isinstance(arguments, dict):
            raise TypeError(f"arguments are an object, found {one_line_json(raw['arguments'], 60)}")
        entry = {"tool": raw["tool"], "key": argument_key(arguments), **_plan_fields(raw)}
        if "error" in raw:
            if not isinstance(raw["error"], list) or len(raw["error"]) not in (2, 3):
                raise TypeError(f"an error is [kind, message], found {one_line_json(raw['error'], 60)}")
            return {**entry, "error": [str(field) for field in raw["error"]]}
        return {**entry, "value": decode(raw["value"])}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ExecutionError(f"{location}: no recorded call: {error}; {expected}") from error


def _plan_fields(raw: dict[str, Any]) -> dict[str, Any]:
    """For which call of which plan an answer holds; nothing where it holds for any."""
    if not {"plan", "call"} & raw.keys():
        return {}
    plan, call = raw.get("plan"), raw.get("call")
    if not isinstance(plan, str) or type(call) is not int:
        raise TypeError(
            f"plan is a text and call a number, found {one_line_json(plan, 40)} and {one_line_json(call, 40)}"
        )
    return {"plan": plan, "call": call}


def is_recordable(trace: Trace) -> bool:
    """Whether answers can stand for the tools: an object that JSON cannot carry has lost its fields.

    Args:
        trace: Made with ``Options(arguments=True)``.
    """
    argument_values = (value for call in trace.calls for _, value in call.arguments or ())
    return not any(
        _holds_object(value) for value in (*argument_values, *(call.value for call in trace.calls))
    )


def _holds_object(value: Any) -> bool:
    kind = type(value)
    if kind is dict:
        return any(map(_holds_object, (*value, *value.values())))
    if kind in (list, tuple, set, frozenset):
        return any(map(_holds_object, value))
    if kind is Opaque:
        return True
    return encode(value, 1 << 40).startswith('{"~":"object"')


def record_lines(trace: Trace, program: Program) -> list[str]:
    """The calls of a trace as lines of a record file; calls that were not made are left out.

    Args:
        trace: Made with ``Options(arguments=True)``.
        program: The plan that was run.
    """
    lines, plan = [], plan_key(program)
    for position, call in enumerate(trace.calls):
        if not call.attempts or call.arguments is None:
            continue
        prefix = f'{{"tool":{json.dumps(call.tool)},"arguments":{encode(dict(call.arguments), 1 << 40)}'
        head = f'{prefix},"plan":"{plan}","call":{position},'
        if call.error is None:
            lines.append(f'{head}"value":{encode(call.value, 1 << 40)}}}')
        else:
            error_fields = [call.error.kind, call.error.message]
            error_fields += [call.error.place] if call.error.place else []
            lines.append(f'{head}"error":{json.dumps(error_fields)}}}')
    return lines
