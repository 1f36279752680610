"""Text files of users, read whole."""

from __future__ import annotations

import os

from planner_eval.base.errors import InputError, PlanevalError


def read_text(
    path: str | os.PathLike[str], *, advice: str = "", error: type[PlanevalError] = InputError
) -> str:
    """The text of a file, without a byte order mark.

    Args:
        path: The file.
        advice: What is said besides where it is missing.
        error: What is raised.

    Raises:
        PlanevalError: the file is missing or a folder, cannot be read, or is not UTF-8.

    >>> read_text("no/such.json", advice="score writes one")
    Traceback (most recent call last):
    planner_eval.base.errors.InputError: no/such.json: no such file; score writes one
    """
    try:
        with open(os.fspath(path), encoding="utf-8-sig") as file:  # pathlib would cost each command 5 ms
            return file.read()
    except FileNotFoundError:
        reason = "no such file" + (f"; {advice}" if advice else "")
    except IsADirectoryError:
        reason = "is a directory; name a file"
    except UnicodeDecodeError as problem:
        reason = f"not UTF-8 text (byte {problem.start})"
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
    raise error(f"{path}: {reason}")
