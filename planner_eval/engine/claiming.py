"""A folder taken for a run: refused where it holds something else, and locked against other processes."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import InputError
from planner_eval.base.writing import refusal, write
from planner_eval.engine.rows import LEFT_OVER

if TYPE_CHECKING:
    from planner_eval.engine.folder import Run

fcntl: Any
try:
    import fcntl
except ImportError:  # not on every platform
    fcntl = None


def claim(path: str, run: Run) -> tuple[int | None, int]:
    """Take a folder for a run, or go on with the run that is there.

    Args:
        path: The folder; made where it is not there.
        run: What is run.

    Returns:
        The lock, a file that is open as long as it is held, and how many pairs make a part.

    Raises:
        InputError: The folder holds something else, another run, or one that another process works on.
    """
    if problem := refusal(os.path.join(path, ""), folder=True):
        raise InputError(problem)
    lock = None
    try:
        _refuse_other(path)
        os.makedirs(os.path.join(path, "parts"), exist_ok=True)
        lock = _lock(path)
        return lock, _begun(path, run)
    except BaseException as error:
        if lock is not None:
            os.close(lock)
        if isinstance(error, OSError):
            raise _unusable(path, error) from None
        raise


def _begun(path: str, run: Run) -> int:
    """Write down what is run, or compare it with what is written: how many pairs make a part there.

    Raises:
        InputError: The folder holds another run.
    """
    name = os.path.join(path, "run.json")
    known = _known(name)
    if known is None:
        write(name, json.dumps(run.data(), ensure_ascii=False, indent=1))
        return run.part
    try:
        why, part = run.differs(known), int(known["part"])
    except (KeyError, TypeError, ValueError):
        raise _unreadable(name) from None
    if why:
        raise InputError(
            f"{path} holds another run: {why}; name another folder, or remove this one to begin again"
        )
    return part


def _known(name: str) -> Mapping[str, Any] | None:
    """What a ``run.json`` says; None where it is not there."""
    try:
        with open(name, encoding="utf-8") as stream:
            data = json.load(stream)
    except FileNotFoundError:
        return None
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise _unreadable(name)
    return data


def _unreadable(name: str) -> InputError:
    return InputError(f"{name} cannot be read, expected what a run wrote there; name another folder")


def _refuse_other(path: str) -> None:
    """Refuse a folder that is not empty and holds no run.

    Raises:
        InputError: it holds something else.
    """
    held = [
        name for name in (os.listdir(path) if os.path.isdir(path) else ()) if not name.endswith(LEFT_OVER)
    ]
    if "run.json" not in held and set(held) - {"parts"}:
        raise InputError(f"{path} holds other files, {min(held)} first, and no run; name another folder")


def _lock(path: str) -> int | None:
    """Keep others away from a folder, for as long as this process lives.

    Raises:
        InputError: another process is there.
    """
    if fcntl is None:
        return None
    held = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(held)
        raise InputError(
            f"another process works on the run in {path}; wait for its end, or name another folder"
        ) from None
    except OSError:  # some network's file systems have no locks on folders
        os.close(held)
        return None
    return held


def _unusable(path: str, error: OSError) -> InputError:
    return InputError(f"{error.filename or path} cannot be read or written: {error.strerror or error}")
