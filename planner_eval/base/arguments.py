"""What callers give, held against what is expected of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from operator import index
from typing import Any, SupportsIndex

from planner_eval.base.errors import InputError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import shorten


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


def _is_duration(value: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and 0 < value < float("inf")  # nan is neither


def _is_share(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


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
COUNT = ArgumentKind("a whole number from 0 on", _whole_number_from(0))
POSITIVE_COUNT = ArgumentKind("a whole number from 1 on", _whole_number_from(1))
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
    planner_eval.base.errors.InputError: examples is '3', expected a whole number from 0 on
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
