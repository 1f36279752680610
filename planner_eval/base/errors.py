"""The exceptions of planner_eval, and the codes of its diagnostics.

    PlanevalError                 anything this package raises on purpose
    ├── InputError                a file, an option or a record cannot be used (exit code 2)
    │   ├── PairingError          no prediction has a gold plan: nothing can be evaluated (exit code 3)
    │   ├── AbsentError           a pair does not show what it should be made smaller for (exit code 3)
    │   ├── PolicyError           a comparison policy says something impossible
    │   ├── CatalogError          a tool catalog cannot be read
    │   └── DatasetError          a benchmark's data cannot be found, fetched or verified
    ├── ParseError                a text is not a plan; says line, column and what was expected
    │   ├── LimitError            a text is larger, deeper or longer than the limits allow
    │   └── AnswerError           an answer of an API is cut, refused or failed, or there is none
    ├── WriteError                a dialect cannot say what the plan says
    ├── ExecutionError            a plan cannot be run (not: one of its calls failed)
    ├── RenderError               a drawing cannot be made
    └── JudgeError                a model that judges did not answer usefully

Everything that is wrong *inside* a plan that can still be used is no exception but a
:class:`planner_eval.plan.model.Diagnostic` with one of the codes of ``data/codes.toml``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from operator import index
from typing import Any, SupportsIndex, TypeGuard, TypeVar

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import line_and_column, shorten

E = TypeVar("E", bound=BaseException)


def strip_traceback(error: E) -> E:
    """An error that is kept, without the frames that it came through.

    They hold the error in turn, and all that was read on the way: nothing of that would be freed before the
    next collection of garbage, which took a twelfth of the time of a run.

    >>> try:
    ...     raise ValueError("no plan")
    ... except ValueError as error:
    ...     kept = strip_traceback(error)
    >>> kept, kept.__traceback__
    (ValueError('no plan'), None)
    """
    error.__context__ = error.__cause__ = None
    return error.with_traceback(None)


class PlanevalError(Exception):
    """Anything this package raises on purpose; the message is written for the user.

    >>> import planner_eval as pe
    >>> try:
    ...     pe.diff("f()", "f()", policy="nosuch")
    ... except pe.PlanevalError as error:
    ...     print(error.exit_code, str(error).partition(":")[0])
    2 unknown policy 'nosuch'
    """

    exit_code = 2

    @property
    def coded(self) -> str:
        """The message, with its code in brackets where ``planeval explain`` knows it: a dotted one."""
        code = getattr(self, "code", "")
        first, line_end, rest = str(self).partition("\n")
        return f"{first} [{code}]{line_end}{rest}" if "." in code else str(self)


class InputError(PlanevalError):
    """A file, an option or a record cannot be used."""


class PairingError(InputError):
    """No prediction has a gold plan, so nothing can be evaluated."""

    exit_code = 3


class AbsentError(InputError):
    """A pair of plans does not show what it should be made smaller for, so nothing can be done."""

    exit_code = 3


class PolicyError(InputError):
    """A comparison policy says something impossible."""


class CatalogError(InputError):
    """A tool catalog cannot be read."""


class DatasetError(InputError):
    """A benchmark's data cannot be found, fetched or verified."""


class ParseError(PlanevalError):
    """A text is not a plan in the dialect it was read in.

    Args:
        reason: What is wrong, in one sentence without a place.
        text: The whole text that was read.
        offset: Where reading stopped, in characters from the start of `text`.
        code: A stable dotted code, e.g. ``parse.syntax``.
        dialect: The dialect that was tried, when one was.

    >>> import planner_eval as pe
    >>> try:
    ...     pe.parse("f(a=")
    ... except pe.ParseError as error:
    ...     print(error.brief)
    line 1, column 5: cut off at the end, inside a call
    """

    exit_code = 1
    beyond_repair = False
    """Whether it is known that the text is refused with repairs too."""

    def __init__(
        self,
        reason: str,
        *,
        text: str = "",
        offset: int = 0,
        code: str = "parse.syntax",
        dialect: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.text = text
        self.offset = max(0, min(offset, len(text)))
        self.code = code
        self.dialect = dialect

    @property
    def line(self) -> int:
        """The line of the error, counted from 1."""
        return line_and_column(self.text, self.offset)[0]

    @property
    def column(self) -> int:
        """The column of the error in characters, counted from 1."""
        return line_and_column(self.text, self.offset)[1]

    def excerpt(self, width: int = 100) -> str:
        """The line of the error, cut to `width` characters around it, with a caret below."""
        start = self.text.rfind("\n", 0, self.offset) + 1
        end = self.text.find("\n", self.offset)
        line = self.text[start : end if end >= 0 else len(self.text)]
        column = self.offset - start
        left = max(0, min(column - width // 2, len(line) - width))
        visible = line[left : left + width]
        if not visible.isprintable():
            visible = "".join(c if c.isprintable() else "\ufffd" for c in visible)
        return f"{visible}\n{' ' * (column - left)}^"

    @property
    def brief(self) -> str:
        """The place and the reason, without the excerpt."""
        return f"line {self.line}, column {self.column}: {self.reason}" if self.text else self.reason

    def __str__(self) -> str:
        return f"{self.brief}\n{self.excerpt()}" if self.text else self.reason


class LimitError(ParseError):
    """A text is larger, deeper or longer than the limits allow."""

    def __init__(self, reason: str, *, text: str = "", offset: int = 0) -> None:
        super().__init__(reason, text=text, offset=offset, code="parse.limit")


class AnswerError(ParseError):
    """An answer of an API is none that counts: it was cut off, refused, failed, or there is none.

    Args:
        reason: What the API says, in one sentence.
        code: ``answer.cut``, ``answer.refused``, ``answer.failed`` or ``answer.absent``.
        plan: The plan of what there is of the answer; None where that cannot be read.
    """

    def __init__(self, reason: str, *, code: str, plan: object = None) -> None:
        super().__init__(reason, code=code)
        self.plan = plan


class WriteError(PlanevalError):
    """A dialect cannot say what the plan says."""

    exit_code = 1


class ExecutionError(PlanevalError):
    """A plan cannot be run at all."""


class RenderError(PlanevalError):
    """A drawing cannot be made."""


class JudgeError(PlanevalError):
    """A model that judges did not answer usefully.

    Args:
        reason: Why, in words.
        code: ``"missing"`` where nobody can be asked at all: the package or the key is missing, or the key is
            refused; "" otherwise.
    """

    def __init__(self, reason: str, *, code: str = "") -> None:
        super().__init__(reason)
        self.code = code


class ModelError(PlanevalError):
    """A model gave no answer.

    Args:
        reason: Why, in words.
        code: ``"transport"`` where asking again may help, ``"context"`` where the request is too long for
            the model, ``"refused"`` where the server will not answer it, ``"unasked"`` where it was not
            sent, as the server had not answered others, ``"missing"`` where nothing can be asked at all.
    """

    def __init__(self, reason: str, *, code: str = "transport") -> None:
        super().__init__(reason)
        self.code = code


# ----------------------------------------------------------------------
# What callers give, held against what is expected of it.
class ArgumentKind(NamedTuple):
    """What may be given.

    Args:
        words: What it is, in words.
        fits: Whether something is one.
    """

    words: str
    fits: Callable[[Any], bool]


def _whole_number_from(least: int) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, SupportsIndex) and not isinstance(value, bool) and index(value) >= least
    )


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a number, which True is not.

    >>> is_number(1), is_number(0.5), is_number(True)
    (True, True, False)
    """
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_duration(value: Any) -> bool:
    return is_number(value) and 0 < value < float("inf")  # nan is neither


def _is_share(value: Any) -> bool:
    return is_number(value) and 0 <= value <= 1


def _are_names(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, Collection) and all(isinstance(item, str) for item in value)
    )


def _are_paths(value: Any) -> bool:
    is_collection = isinstance(value, Collection) and not isinstance(value, (str, bytes))
    return is_collection and all(isinstance(item, (str, os.PathLike)) for item in value)


NAME = ArgumentKind("a name", lambda value: isinstance(value, str))
NAMES = ArgumentKind("a list of names", _are_names)
PATH = ArgumentKind("a path", lambda value: isinstance(value, (str, os.PathLike)))
PATHS = ArgumentKind("a list of paths", _are_paths)
FLAG = ArgumentKind("True or False", lambda value: isinstance(value, bool))
COUNT = ArgumentKind("a whole number, 0 or more", _whole_number_from(0))
POSITIVE_COUNT = ArgumentKind("a whole number, 1 or more", _whole_number_from(1))
SECONDS = ArgumentKind("a number of seconds above 0", _is_duration)
SHARE = ArgumentKind("a number from 0 to 1", _is_share)
FUNCTION = ArgumentKind("a function", callable)
MAPPING = ArgumentKind("a mapping", lambda value: isinstance(value, Mapping))
LIST = ArgumentKind(
    "a list", lambda value: isinstance(value, Iterable) and not isinstance(value, (str, bytes))
)


def instance_of(kind: type, words: str) -> ArgumentKind:
    """What is of a class.

    Args:
        kind: The class.
        words: How it is made.
    """
    return ArgumentKind(words, lambda value: isinstance(value, kind))


def one_of(names: Collection[str]) -> ArgumentKind:
    """What is one of some names.

    Args:
        names: The names.
    """
    words = " or ".join(filter(None, (", ".join([*map(repr, names)][:-1]), repr([*names][-1]))))
    return ArgumentKind(words, lambda value: isinstance(value, str) and value in names)


def expect(kind: ArgumentKind, /, **arguments: Any) -> None:
    """Refuse what is not of a kind.

    Args:
        kind: The kind.
        arguments: What has to be of it, by the names that the caller knows.

    Raises:
        InputError: names the first that is not.

    >>> expect(COUNT, examples=3)
    >>> expect(COUNT, examples="3")
    Traceback (most recent call last):
    planner_eval.base.errors.InputError: examples is '3', expected a whole number, 0 or more
    """
    for name, value in arguments.items():
        if not kind.fits(value):
            raise InputError(f"{name} is {shorten(repr(value), 40)}, expected {kind.words}")


def expect_or_none(kind: ArgumentKind, /, **arguments: Any) -> None:
    """Refuse what is neither of a kind nor left out.

    Args:
        kind: The kind.
        arguments: As for :func:`expect`.

    Raises:
        InputError: names the first that is neither.

    >>> expect_or_none(NAME, by=None, query="text")
    """
    expect(
        kind._replace(words=f"{kind.words}, or None"), **{k: v for k, v in arguments.items() if v is not None}
    )
