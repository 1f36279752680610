"""The file ``run.json`` of a run's folder: what is run, with a digest of itself."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.base.output_files import write
from planner_eval.results.runs.work import digest_of

SCHEMA = "planeval.run/1"


def run_file(folder: str) -> str:
    """Where a folder says what is run in it."""
    return os.path.join(folder, "run.json")


def write_run(folder: str, data: Mapping[str, Any]) -> None:
    """Write down what is run.

    Args:
        folder: The run's folder.
        data: What is run, as JSON data.

    Raises:
        InputError: it cannot be written.
    """
    write(run_file(folder), run_text(data))


def run_text(data: Mapping[str, Any]) -> str:
    """What stands in the file of a run.

    Args:
        data: What is run, as JSON data.
    """
    return json.dumps({**data, "check": _digest(data)}, ensure_ascii=False, indent=1)


def read_run(folder: str) -> dict[str, Any] | None:
    """What a folder says is run in it; None where it says nothing.

    What another version wrote in a form of its own is given as it stands.

    Raises:
        InputError: it cannot be read, or is not as a run wrote it.
    """
    name = run_file(folder)
    try:
        with open(name, "rb") as stream:
            data = json.loads(stream.read().decode())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise damaged_run_error(folder)
    if data.get("schema") == SCHEMA and data.pop("check", None) != _digest(data):
        raise InputError(
            f"{name} is not as the run wrote it: some of it was changed; {_ADVICE.format(folder)}"
        )
    return data


def damaged_run_error(folder: str) -> InputError:
    """What is said of a ``run.json`` that no run can have written."""
    problem = "cannot be read, expected what a run wrote there"
    return InputError(f"{run_file(folder)} {problem}; {_ADVICE.format(folder)}")


def orphaned_parts_error(folder: str) -> InputError | None:
    """What is said of a folder that holds parts of a run, and nothing tells of which; None of others."""
    parts_path = os.path.join(folder, "parts")
    if os.path.lexists(run_file(folder)) or not os.path.isdir(parts_path) or not os.listdir(parts_path):
        return None
    return InputError(
        f"{folder} holds parts of a run whose run.json is gone, and nothing else says what they are of; "
        f"{_ADVICE.format(folder)}"
    )


_ADVICE = "put it back from a copy, name another folder, or remove {} and give the run's command again"


def _digest(data: Mapping[str, Any]) -> str:
    return digest_of(json.dumps(data, sort_keys=True).encode())
