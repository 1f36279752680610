"""A folder taken for a run: refused where it holds something else, and locked against other processes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.base.writing import refusal
from planner_eval.engine.rows import LEFT_OVER, unusable
from planner_eval.engine.run_file import damaged, left_alone, read_run, write_run

if TYPE_CHECKING:
    from planner_eval.engine.folder import Run

fcntl: Any
try:
    import fcntl
except ImportError:  # not on every platform
    fcntl = None


class Claim(NamedTuple):
    """A folder that is ours.

    Args:
        lock: A file that is open as long as the folder is held; None where files cannot be locked.
        part: How many pairs make a part.
    """

    lock: int | None
    part: int


def claim(path: str, run: Run) -> Claim:
    """Take a folder for a run, or go on with the run that is there.

    Args:
        path: The folder; made where it is not there.
        run: What is run.

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
        return Claim(lock, _begun(path, run))
    except BaseException as error:
        if lock is not None:
            os.close(lock)
        if isinstance(error, OSError):
            raise unusable(path, error) from None
        raise


def _begun(path: str, run: Run) -> int:
    """Write down what is run, or compare it with what is written: how many pairs make a part there.

    Raises:
        InputError: The folder holds another run.
    """
    stored = read_run(path)
    if stored is None:
        write_run(path, run.data())
        return run.part
    try:
        why, chunk_size = run.differs(stored), int(stored["part"])
    except (KeyError, TypeError, ValueError):
        raise damaged(path) from None
    if why:
        raise InputError(
            f"{path} holds another run: {why}; name another folder, or remove this one to begin again"
        )
    return chunk_size


def _refuse_other(path: str) -> None:
    """Refuse a folder that is not empty and holds no run.

    Raises:
        InputError: it holds something else.
    """
    if problem := left_alone(path):
        raise problem
    names = [
        name for name in (os.listdir(path) if os.path.isdir(path) else ()) if not name.endswith(LEFT_OVER)
    ]
    if "run.json" not in names and set(names) - {"parts"}:
        raise InputError(f"{path} holds other files, {min(names)} first, and no run; name another folder")


def _lock(path: str) -> int | None:
    """Keep others away from a folder, for as long as this process lives.

    Raises:
        InputError: another process is there.
    """
    if fcntl is None:
        return None
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise InputError(
            f"another process works on the run in {path}; wait for its end, or name another folder"
        ) from None
    except OSError:  # some network's file systems have no locks on folders
        os.close(descriptor)
        return None
    return descriptor
