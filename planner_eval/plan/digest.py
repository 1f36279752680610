"""A short text that all plans of one meaning share, for counting shapes and for caches."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from planner_eval.plan.canonical import Key, Numbered
from planner_eval.plan.isomorphism import consumers
from planner_eval.plan.model import Arguments, Plan, Ref, Value
from planner_eval.plan.walk import fold


def digest(plan: Plan, *, values: bool = True) -> str:
    """32 hexadecimal digits that plans of one meaning share, stable across runs and machines.

    For counting and caching: plans with different digests differ; that plans with one digest are
    the same is a matter for :func:`same`, for this looks at users of calls one step far only.

    Args:
        plan: The plan.
        values: False leaves literal values out, so that plans of one shape share the digest.

    >>> from planner_eval.plan.model import Call, Plan
    >>> digest(Plan((Call("a", "f", (("x", 7),)),))) == digest(Plan((Call("b", "f", (("x", 7.0),)),)))
    True
    """
    numbered = Numbered(plan, _Digests(), None if values else _blank)
    coloured = numbered.coloured(_Digests())
    used = consumers(coloured)
    ends = sorted(
        _hash((colour, sorted([(coloured.colours[user], slot) for user, slot in used[at]])))
        for at, colour in enumerate(coloured.colours)
    )
    return _hash(ends)


class _Digests(dict[Key, Any]):
    """In place of a table of numbers: each key's number is its digest, and nothing is kept."""

    def setdefault(self, key: Key, _default: Any = None) -> str:
        return _hash(key)


def _hash(value: object) -> str:
    return blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _blank(_plan: Plan, _position: int, arguments: Arguments) -> Arguments:
    return tuple((name, _blanked(value)) for name, value in arguments)


def _blanked(value: Value) -> Value:
    """A value whose literals are all alike: references and the containers that hold them remain."""
    return fold(
        value,
        _reference,
        items=lambda made: made if any(item is not None for item in made) else None,
        fields=lambda made: made if any(item is not None for item in made.values()) else None,
        text=lambda parts: [_reference(part) for part in parts],
    )


def _reference(leaf: Value) -> Ref | None:
    return leaf if type(leaf) is Ref else None
