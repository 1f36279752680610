"""When calls are the same calls once more: a model states its plan, and states it again."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

from planner_eval.base.limits import Span
from planner_eval.plan.model import Diagnostic, RawComputed, RawPlan, RawRef
from planner_eval.plan.walk import fold


def _digest(text: str) -> str:
    """A short text for a long one: nested calls would double it at each level."""
    from hashlib import blake2b

    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def signature(raw: RawPlan, before: Mapping[str, str] | None = None) -> list[str]:
    """A text for each call that is equal for equal calls, nested ones included.

    Args:
        raw: The calls.
        before: The same texts of calls that stand before, by the names that these calls have for them.
    """
    made: MutableMapping[str, str] = ChainMap({}, before) if before else {}  # type: ignore[arg-type]
    found = []
    for call in raw.calls:
        given = sorted(f"{key!r}={_shown(value, made)}" for key, value in call.arguments)
        text = _digest(f"{call.app}.{call.name}({','.join(given)})")
        for name, path in call.binds:
            made[name] = f"{text}{path}"
        found.append(text)
    return found


def repeats(runs: Sequence[RawPlan]) -> list[bool]:
    """For each run of one plan's calls, whether each of its calls, under its names, was made before."""
    names = iter(signature(RawPlan(tuple(call for run in runs for call in run.calls))))
    seen: set[tuple[str, tuple[str, ...]]] = set()
    found = []
    for run in runs:
        own = {(next(names), call.returns) for call in run.calls}
        found.append(own <= seen)
        seen |= own
    return found


def note(count: int, span: Span) -> Diagnostic:
    """What is said of calls that count once."""
    message = (
        f"{count} calls were read before and count once"
        if count > 1
        else "a call was read before and counts once"
    )
    return Diagnostic("find.restated", message, "info", None, None, span)


def _shown(value: Any, made: Mapping[str, str]) -> str:
    def leaf(value: Any) -> str:
        if isinstance(value, RawRef):
            return f"<{made.get(value.name, value.name)}{value.path}>"
        return repr(value.text if isinstance(value, RawComputed) else value)

    text: str = fold(
        value,
        leaf,
        items=lambda parts: f"[{','.join(parts)}]",
        fields=lambda parts: f"{{{','.join(f'{key!r}:{part}' for key, part in sorted(parts.items()))}}}",
        text=lambda parts: "+".join(map(leaf, parts)),
    )
    return text
