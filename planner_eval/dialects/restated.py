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
    texts_by_name: MutableMapping[str, str] = ChainMap({}, before) if before else {}  # type: ignore[arg-type]
    texts = []
    for call in raw.calls:
        arguments = sorted(f"{key!r}={_shown(value, texts_by_name)}" for key, value in call.arguments)
        text = _digest(f"{call.app}.{call.name}({','.join(arguments)})")
        for name, path in call.binds:
            texts_by_name[name] = f"{text}{path}"
        texts.append(text)
    return texts


def repeats(runs: Sequence[RawPlan]) -> list[bool]:
    """For each run of one plan's calls, whether each of its calls, under its names, was made before."""
    names = iter(signature(RawPlan(tuple(call for run in runs for call in run.calls))))
    seen: set[tuple[str, tuple[str, ...]]] = set()
    repeated = []
    for run in runs:
        own = {(next(names), call.returns) for call in run.calls}
        repeated.append(own <= seen)
        seen |= own
    return repeated


def note(count: int, span: Span) -> Diagnostic:
    """What is said of calls that count once."""
    message = (
        f"{count} calls were read before and count once"
        if count > 1
        else "a call was read before and counts once"
    )
    return Diagnostic("find.restated", message, "info", None, None, span)


def _shown(value: Any, texts_by_name: Mapping[str, str]) -> str:
    def leaf(value: Any) -> str:
        if isinstance(value, RawRef):
            return f"<{texts_by_name.get(value.name, value.name)}{value.path}>"
        return repr(value.text if isinstance(value, RawComputed) else value)

    text: str = fold(
        value,
        leaf,
        items=lambda items: f"[{','.join(items)}]",
        fields=lambda fields: f"{{{','.join(f'{key!r}:{field}' for key, field in sorted(fields.items()))}}}",
        text=lambda pieces: "+".join(map(leaf, pieces)),
    )
    return text
