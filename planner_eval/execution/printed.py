"""What tools print while they run, and where in their files they fail; loaded by every worker."""

from __future__ import annotations

import io
import os
import sys
from _thread import get_ident

TYPE_CHECKING = False  # typing imports re, which would add half to a worker's time to start

if TYPE_CHECKING:
    from typing import Any


MAX_CALL_CHARACTERS, MAX_RUN_CHARACTERS = 2_000, 100_000
"""How many characters are kept of what one call prints, and all calls of one plan together."""


class _Capture:
    """The beginning of what one call printed, and how much there was."""

    __slots__ = ("left", "parts", "size")

    def __init__(self, left: int) -> None:
        self.parts: list[str] = []
        self.size = 0
        self.left = left

    def add(self, text: str) -> None:
        self.size += len(text)
        if self.left > 0:
            self.parts.append(text[: self.left])
            self.left -= len(self.parts[-1])

    def text(self) -> str:
        text = "".join(self.parts)
        more = self.size - len(text)
        return f"{text}… ({more:,} more characters)" if more else text


class OutputCapture(io.TextIOBase):
    r"""Stands for standard output and standard error, and keeps what each call prints.

    What is printed outside of a call, in a thread of its own, goes where it would have gone.

    >>> printed = OutputCapture()
    >>> with printed:
    ...     printed.begin()
    ...     print("looked up 3 cities")
    ...     text = printed.end()
    >>> text
    'looked up 3 cities\n'
    """

    encoding = "utf-8"
    errors = "replace"

    def __init__(self) -> None:
        super().__init__()
        self.calls: dict[int, _Capture] = {}
        self.left = MAX_RUN_CHARACTERS
        self.before: tuple[Any, Any] = (None, None)

    def __enter__(self) -> OutputCapture:
        self.left = MAX_RUN_CHARACTERS
        self.before = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = self
        return self

    def __exit__(self, *_: object) -> None:
        sys.stdout, sys.stderr = self.before

    def begin(self) -> None:
        """From now on what this thread prints belongs to a call."""
        self.calls[get_ident()] = _Capture(min(MAX_CALL_CHARACTERS, self.left))

    def end(self) -> str:
        """What this thread printed since `begin`, cut."""
        output = self.calls.pop(get_ident(), None)
        if output is None:  # the tool looked for this object, and emptied it
            return ""
        self.left -= min(MAX_CALL_CHARACTERS, output.size)
        return output.text()

    @property
    def buffer(self) -> _ByteStream:
        """The same for bytes."""
        return _ByteStream(self)

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, text: str) -> int:
        """Keep a text with its call."""
        output = self.calls.get(get_ident())
        if output is not None:
            output.add(str(text))
        elif self.before[0] is not None and self.before[0] is not self:
            self.before[0].write(text)
        return len(text)


class _ByteStream(io.RawIOBase):
    """What tools take for the bytes below standard output."""

    def __init__(self, text: OutputCapture) -> None:
        super().__init__()
        self.printed = text

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.printed.write(bytes(data).decode("utf-8", "replace"))
        return len(data)


_PACKAGE_FOLDER = __file__.rpartition("/execution/")[0] + "/"
_LIBRARY_FOLDER = os.__file__.rpartition("/")[0] + "/"


def exception_name(error: BaseException) -> str:
    """An exception's name, cut; a class of the tool's own may answer for it, or not.

    >>> exception_name(ValueError("x"))
    'ValueError'
    """
    try:
        return str.__str__(type(error).__name__)[:200]
    except KeyboardInterrupt:
        raise
    except BaseException:
        return "an exception without a name"


def exception_message(error: BaseException) -> str:
    """What an exception says, cut; the name of what its own methods raise instead."""
    try:
        return str.__str__(str(error))[:500]
    except BaseException as second:
        return f"(its message raises {exception_name(second)})"


def exception_location(error: BaseException) -> str:
    """The deepest line of the tools' own files that an exception came through; "" where there is none.

    Lines of Python's library and of installed packages count only where there are no others.
    """
    own = any_other = ""
    trace = vars(BaseException)["__traceback__"].__get__(error)  # a class of the tool's own may hide it
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith((_PACKAGE_FOLDER, "<")):
            line = f"{file.rpartition('/')[2]}:{trace.tb_lineno}"
            any_other = any_other or line
            if not file.startswith(_LIBRARY_FOLDER) and "/site-packages/" not in file:
                own = line
        trace = trace.tb_next
    return own or any_other
