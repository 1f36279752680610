"""What makes a run another one than that of a folder, in the words that a user typed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner_eval.engine.folder import Input

_TYPED = {
    **{
        name: f"--{name.replace('_', '-')}"
        for name in (
            "id_field", "text_field", "gold_id_field", "gold_text_field", "turn", "compute", "infer",
            "repair", "policy", "places", "structure", "store", "benchmark", "seed", "isolation", "timeout",
            "concurrency", "retries", "backoff", "trace", "state", "initial", "allow_read", "tools",
            "format",
        )
    },
    "dialect": "--from",
    "gold_dialect": "--gold-from",
    "by": "--pair",
    "ids": "--id",
    "metrics": "--metric",
    "keys": "--by",
    "binding": "--by",
    "compared": "what --policy says",
    "failures": "--only failures",
    "settings": "--set",
    "variants": "--official or --corrected",
    "deadline": "--record-deadline",
    "pairs": "the number of records",
    "spec": "--tools",
    "made_of": "what --tools stands for",
    "arguments": "--trace",
    "drawn": "what is drawn",
    "titles": "the names of the files",
    "about.file": "the name of the predictions",
    "about.read": "what is read of the files",
    "about.pairing": "how records are paired",
    "about.reading": "how plans are read",
    "about": "what is known of the files",
}  # fmt: skip
"""How options are called by those who type them, by their names in a job."""

_STRICT = "score"
"""The kind of run that repairs unless it is told otherwise."""


def typed(name: str, kind: str = "") -> str:
    """An option of a job as it is typed, of an inner name that may go on with dots.

    >>> typed("keys"), typed("by"), typed("settings.task"), typed("repair", "score"), typed("note")
    ('--by', '--pair', '--set task', '--strict', 'note')
    """
    if name == "repair" and kind == _STRICT:
        return "--strict"
    head, dot, suffix = name.partition(".")
    if name in _TYPED or not dot:
        return _TYPED.get(name, name)
    inner = f"{head}.{suffix.partition('.')[0]}"
    if inner in _TYPED:
        return _TYPED[inner]
    return f"{_TYPED[head]} {suffix}" if head == "settings" else _TYPED.get(head, name)


def other_option(previous: Any, current: Mapping[str, Any], kind: str) -> str | None:
    """The first option that is not as it was, and how; None where there is none.

    Args:
        previous: What the options were.
        current: What they are.
        kind: What the run is called.

    >>> other_option({"keys": [], "repair": True}, {"keys": [], "repair": False}, "score")
    '--strict was not given and is given'
    """
    previous = previous or {}
    for name in dict.fromkeys([*previous, *current]):
        if (was := previous.get(name)) != (now := current.get(name)):
            return _difference(name, was, now, kind)
    return None


def other_input(previous: Any, current: Sequence[Input]) -> str | None:
    """The first file that is not as it was, and how; None where there is none.

    Args:
        previous: What the files were, as JSON data.
        current: What they are.
    """
    then = {(file["role"], number): file for number, file in enumerate(previous or ())}
    now = {(file.role, number): file for number, file in enumerate(current)}
    for key in [*then, *now]:
        if key not in then or key not in now:
            return f"it had {len(then):,} input files, now there are {len(now):,}"
        was, file = then[key], now[key]
        if (was["size"], was["digest"]) != (file.size, file.digest):
            changed = "has changed since" if was["path"] == file.path else f"is not {was['path']}"
            return f"the file {file.path} ({file.role}) {changed}"
    return None


def _difference(name: str, was: Any, now: Any, kind: str) -> str:
    """Where two values differ first, and how."""
    if name == "compared":
        return f"{typed(name)} has changed"
    if isinstance(was, dict) and isinstance(now, dict) and was.keys() == now.keys():
        first_key = next(key for key in was if was[key] != now[key])
        return _difference(f"{name}.{first_key}", was[first_key], now[first_key], kind)
    return "{} was {} and is {}".format(*worded(name, was, now, kind))


def worded(name: str, first: Any, second: Any, kind: str) -> tuple[str, str, str]:
    """An option of a job as it is typed, and two values of it in words.

    >>> worded("gold_dialect", None, "json", "diff")
    ('--gold-from', 'not given', '"json"')
    """
    option = typed(name, kind)
    if option == "--strict":
        first, second = not first, not second
    return option, _said(first), _said(second)


def _said(value: Any) -> str:
    if value is None or value is False or value == []:
        return "not given"
    if value is True:
        return "given"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        text = ", ".join(value)
    else:
        text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 200 else f"{text[:200]} …"
