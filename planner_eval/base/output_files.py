"""Results into files: each file whole or not at all."""

from __future__ import annotations

import os
import stat

from planner_eval.base.errors import InputError

TYPE_CHECKING = False  # typing's own costs start-up, and every command comes here

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TextIO


# ----------------------------------------------------------------------
# Results into files: whole or not at all, and known before the work where that cannot be.
_CAN_CHECK_EFFECTIVE_IDS = os.access in os.supports_effective_ids


def find_write_problem(file: str, *, folder: bool = False) -> str | None:
    """Why a file cannot be written, in words; None where nothing speaks against it.

    Args:
        file: Its name.
        folder: Whether it may be a directory, which is made where it is not there, with the folders above it.

    >>> find_write_problem("there/is/no/such.json")
    'there/is/no/such.json cannot be written: there is no folder there/is/no'
    """
    try:
        status = os.stat(file)
    except (FileNotFoundError, NotADirectoryError):
        status = None
    except OSError as error:
        return f"{file} cannot be written: {error.strerror or error}"
    if os.path.isdir(file) or file.endswith(("/", os.sep)):
        return _find_folder_problem(file) if folder else f"{file} is a directory, expected the name of a file"
    if status is not None and not stat.S_ISREG(status.st_mode):
        return None
    real = os.path.realpath(file)
    if status is not None and not os.access(real, os.W_OK, effective_ids=_CAN_CHECK_EFFECTIVE_IDS):
        return f"{file} cannot be written: the file is read-only"
    problem = _find_creation_problem(os.path.dirname(real), file)
    return problem and f"{file} cannot be written: {problem}"


def _find_folder_problem(file: str) -> str | None:
    """Why a folder cannot be made, or nothing be written into it."""
    existing = os.path.realpath(file)
    while not os.path.lexists(existing):
        existing = os.path.dirname(existing)
    problem = _find_creation_problem(existing, file)
    return problem and f"cannot write into {file}: {problem}"


def _find_creation_problem(folder: str, file: str) -> str | None:
    """Why no file can be made in a folder, which is shown as the user wrote it unless a link led there."""
    linked = os.path.realpath(file) != os.path.abspath(file)
    name_shown = folder if os.path.isabs(file) or linked else os.path.relpath(folder)
    if not os.path.lexists(folder):
        return f"there is no folder {name_shown}"
    if not os.path.isdir(folder):
        return f"{name_shown} is not a folder"
    may = os.access(folder, os.W_OK | os.X_OK, effective_ids=_CAN_CHECK_EFFECTIVE_IDS)
    return None if may else f"the folder {name_shown} is read-only"


def write(file: str | os.PathLike[str], data: str | bytes | Iterable[str], *, follow: bool = True) -> None:
    """Write a file whole, or leave what was there: it is written beside it and takes its place at the end.

    A new file has the mode that a plain open gives, one that was there keeps its own. A pipe or a device is
    written as it is.

    Args:
        file: Its name.
        data: What it shall hold, a text also in pieces, which are written as they come. A text ends with a
            line end, and half a surrogate pair in it is spelled out.
        follow: Whether of a link the file is written that it leads to, and not the link replaced.

    Raises:
        InputError: it cannot be written.
        BrokenPipeError: it is a pipe whose reader has gone.
    """
    name = os.fspath(file)
    pieces = (
        (data,)
        if isinstance(data, bytes)
        else _encode_pieces(ensure_final_newline([data] if isinstance(data, str) else data))
    )
    try:
        if follow and _is_stream(name):
            # Appended: behind /dev/stdout may be a file that holds something already.
            with os.fdopen(os.open(name, os.O_WRONLY | os.O_APPEND), "wb") as stream:
                stream.writelines(pieces)
        else:
            _replace_file(os.path.realpath(name) if follow else name, pieces)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"{name} cannot be written: {error.strerror or error}") from None


def ensure_final_newline(pieces: Iterable[str]) -> Iterator[str]:
    r"""The pieces of a text, and a line end where it does not end with one; nothing of an empty text.

    >>> (
    ...     list(ensure_final_newline(["a\nb", ""])), list(ensure_final_newline(["a", "\n"])),
    ...     list(ensure_final_newline([]))
    ... )
    (['a\nb', '\n'], ['a', '\n'], [])
    """
    last = ""
    for piece in pieces:
        if piece:
            yield piece
            last = piece[-1]
    if last not in ("", "\n"):
        yield "\n"


def _encode_pieces(pieces: Iterable[str]) -> Iterator[bytes]:
    return (piece.encode("utf-8", errors="backslashreplace") for piece in pieces)


def _is_stream(name: str) -> bool:
    """Whether a name is a pipe, a device or what this process has open already."""
    folder, last = os.path.split(os.path.abspath(name))
    if (folder == "/dev" and last in ("stdout", "stderr")) or folder == "/dev/fd" or _is_open_file(folder):
        return True
    try:
        return not stat.S_ISREG(os.stat(name).st_mode) and not os.path.isdir(name)
    except FileNotFoundError:
        return False


def _is_open_file(folder: str) -> bool:
    return folder.startswith("/proc/") and folder.endswith("/fd")


def _replace_file(real: str, pieces: Iterable[bytes]) -> None:
    """Put a file with this data in the place of another."""
    temporary = os.path.join(os.path.dirname(real), f".planeval-{os.urandom(6).hex()}.part")
    try:
        with open(temporary, "xb") as stream:
            stream.writelines(pieces)
        if os.path.isfile(real) and not os.path.islink(real):
            os.chmod(temporary, stat.S_IMODE(os.stat(real).st_mode))
        os.replace(temporary, real)
    except BaseException:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        raise


def silence(stream: TextIO) -> None:
    """Send what is still to be written to nowhere, so that Python does not complain about it at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
