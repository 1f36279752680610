"""Folders of runs, where a command takes files of plans."""

from __future__ import annotations

import json
import os
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.cli.drawing import is_folder

_FILE = "run.json"


def is_run(path: str) -> bool:
    """Whether a path is the folder of a run."""
    return os.path.lexists(os.path.join(path, _FILE))


def refuse_torn(path: str) -> None:
    """Refuse a folder that holds parts of a run, and nothing tells of which.

    Raises:
        InputError: says so.
    """
    if os.path.isdir(os.path.join(path, "parts")):
        from planner_eval.engine.run_file import left_alone

        if problem := left_alone(path):
            raise problem


def refuse_absent(path: str) -> None:
    """Refuse a folder that is named and is not there, where it may have been meant as a run.

    Raises:
        InputError: says so.
    """
    if os.path.dirname(path) and not os.path.lexists(path) and not any(mark in path for mark in "*?["):
        raise InputError(f"there is no file or folder {path}")


def peeked(path: str) -> dict[str, Any]:
    """What a run says of itself, of any kind; nothing where it is none, or cannot be read."""
    try:
        with open(os.path.join(path, _FILE), encoding="utf-8") as stream:
            data = json.load(stream)
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def of_benchmark(path: str) -> bool:
    """Whether a path is the folder of a run that was scored under a benchmark."""
    options = peeked(path).get("options")
    return isinstance(options, dict) and "benchmark" in options


def refuse_runs(*names: str) -> None:
    """Refuse the folder of a run where files of plans are wanted, and say what to name instead.

    Raises:
        InputError: one of the names is such a folder.
    """
    for name in filter(is_run, names):
        data = peeked(name)
        kind, operands = data.get("kind"), data.get("given") or ()
        if kind == "predict":
            message = f"its answers are {os.path.join(name, 'rows.jsonl')}"
        elif kind == "score":
            hint = f"; what it was made of is {operands[0]}" if operands else ""
            message = (
                f"planeval score {name} tells it again, and planeval compare takes it beside other runs, "
            )
            message += f"without --gold{hint}"
        else:
            message = "what it was made of is " + (
                " and ".join(map(str, operands)) if operands else "not said in it"
            )
        raise InputError(f"{name} is the folder of a run, and files of plans are wanted here: {message}")


def as_begun(output: str | None, *names: str) -> tuple[str, ...]:
    """Names of files as the command gave them that began the run in a folder, where these are the same files.

    Rows name files; so a run that goes on under another spelling leaves the same bytes.

    Args:
        output: The folder, where it is one.
        names: What is named now.
    """
    operands = peeked(output).get("given") if output is not None and is_folder(output) else None
    if not isinstance(operands, list) or len(operands) != len(names):
        return names
    return tuple(was if _same(was, now) else now for was, now in zip(operands, names, strict=True))


def _same(previous: Any, other: str) -> bool:
    try:
        return isinstance(previous, str) and os.path.samefile(previous, other)
    except OSError:
        return False
