"""The file ``run.json`` of a run's folder, as far as it tells what kind of run that is."""

from __future__ import annotations

import json
import os
from typing import Any


def run_file(folder: str) -> str:
    """Where a folder says what is run in it."""
    return os.path.join(folder, "run.json")


def is_run(path: str) -> bool:
    """Whether a path is the folder of a run."""
    return os.path.lexists(run_file(path))


def peek_run(path: str) -> dict[str, Any]:
    """What a run says of itself, of any kind; nothing where it is none, or cannot be read."""
    try:
        with open(run_file(path), encoding="utf-8") as stream:
            data = json.load(stream)
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
