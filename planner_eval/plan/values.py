"""Every kind of value, taught once: its leaves, the same value with other leaves, and what folds out of it.

A value is JSON data with references in it (:mod:`planner_eval.plan.model`): lists, objects and texts
around references hold values, everything else is a leaf. What only looks, asks :func:`leaves`; what
changes leaves and keeps the rest, :func:`map_leaves`; what makes something else of a value,
:func:`fold`; what only wants to know whether some kind is in it, :func:`contains_kind`. Loops measured to be
hot keep a walk of their own, and ``tests/test_link.py`` holds them equal to these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from planner_eval.base.json_text import map_object_values
from planner_eval.plan.model import Path, RawRef, RawTemplate, Ref, Template, Unresolved, Value

_LEAF_TYPES = frozenset({str, int, float, bool, type(None), Ref, Unresolved, RawRef})
"""What nearly every value is; asked first, for that is the quickest."""


def contains_kind(value: Value, kinds: type | tuple[type, ...]) -> bool:
    """Whether a value, or anything in it, is of one of some kinds.

    Args:
        value: The value.
        kinds: The kinds: of references, of texts around references, of scalars, ``list`` or ``dict``.

    >>> contains_kind({"to": ["Rome", 7]}, int), contains_kind({"to": ["Rome", 7]}, Template)
    (True, False)
    """
    if isinstance(value, kinds):
        return True
    if type(value) in _LEAF_TYPES:
        return False
    if isinstance(value, dict):
        return any(contains_kind(item, kinds) for item in value.values())
    if isinstance(value, (list, tuple)):
        return any(contains_kind(item, kinds) for item in value)
    return isinstance(value, (Template, RawTemplate)) and any(isinstance(p, kinds) for p in value.parts)


def leaves(value: Value, path: Path = ()) -> Iterator[tuple[Path, Value]]:
    """The leaves of a value, linked or not, each with the way to it, in written order.

    Args:
        value: The value.
        path: The way to the value itself, which the ways found start with.

    Returns:
        Scalars, references and the parts of texts around references; a part's place is its position.
        Empty lists and objects have no leaf.

    >>> list(leaves({"to": ["Rome", 7]}))
    [(('to', 0), 'Rome'), (('to', 1), 7)]
    """
    if type(value) in _LEAF_TYPES:
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, (list, tuple)):
        for position, item in enumerate(value):
            yield from leaves(item, (*path, position))
    elif isinstance(value, (Template, RawTemplate)):
        for position, piece in enumerate(value.parts):
            yield (*path, position), piece
    else:
        yield path, value


def map_leaves(change: Callable[[Value], Value], value: Value) -> Value:
    """The value with each leaf changed, in lists, objects and texts around references.

    Args:
        change: From a leaf, or a part of a text, to what stands in its place; a part stays a text or a
            reference.
        value: The value.

    >>> map_leaves(lambda leaf: leaf.upper() if isinstance(leaf, str) else leaf, {"to": ["Rome", 7]})
    {'to': ['ROME', 7]}
    """
    kind = type(value)
    if kind in _LEAF_TYPES:
        return change(value)
    if kind is dict:
        return {key: map_leaves(change, item) for key, item in value.items()}
    if isinstance(value, dict):  # keys that a text repeats are link()'s to report
        return map_object_values(value, partial(map_leaves, change))
    if isinstance(value, (list, tuple)):
        return [map_leaves(change, item) for item in value]
    if isinstance(value, (Template, RawTemplate)):
        return type(value)(tuple(map(change, value.parts)))
    return change(value)


def fold(
    value: Value,
    leaf: Callable[[Value], Any],
    *,
    items: Callable[[list[Any]], Any] = lambda items_made: items_made,
    fields: Callable[[dict[str, Any]], Any] = lambda fields_made: fields_made,
    text: Callable[[tuple[Any, ...]], Any] | None = None,
) -> Any:
    """What becomes of a value when each kind of value becomes something, the innermost first.

    Args:
        value: The value.
        leaf: What a scalar or a reference becomes.
        items: What a list becomes, given what its items became.
        fields: What an object becomes, given what its fields became.
        text: What a text around references becomes, given its parts as they are: texts and references.
            Left out, it is a leaf.

    >>> fold({"to": ["Rome", 7]}, repr, items=" ".join, fields=lambda made: f"<{made['to']}>")
    "<'Rome' 7>"
    """
    if type(value) in _LEAF_TYPES:
        return leaf(value)
    if isinstance(value, dict):
        return fields(
            {key: fold(item, leaf, items=items, fields=fields, text=text) for key, item in value.items()}
        )
    if isinstance(value, (list, tuple)):
        return items([fold(item, leaf, items=items, fields=fields, text=text) for item in value])
    if text is not None and isinstance(value, (Template, RawTemplate)):
        return text(value.parts)
    return leaf(value)
