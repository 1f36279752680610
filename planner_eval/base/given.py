"""What callers give, held against what is expected of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import index
from typing import Any, SupportsIndex

from planner_eval.base.errors import InputError
from planner_eval.base.named import NamedTuple
from planner_eval.base.text import shortened


class Kind(NamedTuple):
    """What may be given.

    Args:
        words: What it is, in words.
        fits: Whether something is one.
    """

    words: str
    fits: Callable[[Any], bool]


def _from(least: int) -> Callable[[Any], bool]:
    return lambda one: isinstance(one, SupportsIndex) and not isinstance(one, bool) and index(one) >= least


def _is_time(one: Any) -> bool:
    number = isinstance(one, (int, float)) and not isinstance(one, bool)
    return number and 0 < one < float("inf")  # nan is neither


def _are_paths(given: Any) -> bool:
    listed = isinstance(given, Sequence) and not isinstance(given, (str, bytes))
    return listed and all(isinstance(one, (str, os.PathLike)) for one in given)


def _are_names(given: Any) -> bool:
    return isinstance(given, str) or (
        isinstance(given, Collection) and all(isinstance(one, str) for one in given)
    )


NAME = Kind("a name", lambda one: isinstance(one, str))
NAMES = Kind("a list of names", _are_names)
PATH = Kind("a path", lambda one: isinstance(one, (str, os.PathLike)))
PATHS = Kind("a list of files", _are_paths)
FLAG = Kind("True or False", lambda one: isinstance(one, bool))
COUNT = Kind("a whole number from 0 on", _from(0))
NUMBER = Kind("a whole number from 1 on", _from(1))
SECONDS = Kind("a number of seconds above 0", _is_time)
FUNCTION = Kind("a function", callable)
MAPPING = Kind("a mapping", lambda one: isinstance(one, Mapping))
SEVERAL = Kind("a list", lambda one: isinstance(one, Iterable) and not isinstance(one, (str, bytes)))


def of(kind: type, words: str) -> Kind:
    """What is of a class.

    Args:
        kind: The class.
        words: How it is made.
    """
    return Kind(words, lambda one: isinstance(one, kind))


def one_of(names: Collection[str]) -> Kind:
    """What is one of some names.

    Args:
        names: The names.
    """
    words = " or ".join(filter(None, (", ".join([*map(repr, names)][:-1]), repr([*names][-1]))))
    return Kind(words, lambda one: isinstance(one, str) and one in names)


def expect(kind: Kind, /, **given: Any) -> None:
    """Refuse what is not of a kind.

    Args:
        kind: The kind.
        given: What has to be of it, by the names that the caller knows.

    Raises:
        InputError: names the first that is not.

    >>> expect(COUNT, examples=3)
    >>> expect(COUNT, examples="3")
    Traceback (most recent call last):
    planner_eval.base.errors.InputError: examples is '3', expected a whole number from 0 on
    """
    for name, one in given.items():
        if not kind.fits(one):
            raise InputError(f"{name} is {shortened(repr(one), 40)}, expected {kind.words}")


def expect_or_none(kind: Kind, /, **given: Any) -> None:
    """Refuse what is neither of a kind nor left out.

    Args:
        kind: The kind.
        given: As for :func:`expect`.

    Raises:
        InputError: names the first that is neither.

    >>> expect_or_none(NAME, by=None, query="text")
    """
    expect(kind._replace(words=f"{kind.words}, or None"), **{k: v for k, v in given.items() if v is not None})
