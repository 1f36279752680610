"""Tools as the protocol's ``tools``: names that endpoints take, and the way back to the sample's own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner_eval.base.errors import CatalogError, InputError
from planner_eval.catalogs.catalog import Catalog
from planner_eval.prediction.listing import functions_data
from planner_eval.prediction.visible import Task

_OTHER = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST = 64


@dataclass(frozen=True, slots=True)
class Offer:
    """Tools on offer.

    Args:
        tools: As they are sent.
        names: Name as sent → the sample's own.
    """

    tools: tuple[Mapping[str, Any], ...]
    names: Mapping[str, str]


def offer_of(task: Task) -> Offer:
    """A task's tools as endpoints take them.

    Raises:
        InputError: the tools cannot be read.

    >>> offer = offer_of(Task("complexfuncbench", "?", (), [{"name": "Get Room", "parameters": {}}]))
    >>> offer.names, offer.tools[0]["function"]["name"]
    ({'Get-Room': 'Get Room'}, 'Get-Room')
    """
    if task.form == "functionchat":
        return _sent(task.tools)
    if task.form == "complexfuncbench":
        return _sent([{"type": "function", "function": dict(tool)} for tool in task.tools])
    return _sent(
        [{"type": "function", "function": _bare(function)} for function in functions_data(catalog_of(task))]
    )


def catalog_of(task: Task) -> Catalog:
    """A task's tools as a catalog.

    Raises:
        InputError: they cannot be read.
    """
    if isinstance(task.tools, Catalog):
        return task.tools
    from planner_eval.catalogs.formats import from_data

    format = "openai" if task.form in ("functionchat", "complexfuncbench") else task.form
    try:
        return from_data(task.tools, format, name="the tools")
    except CatalogError as problem:
        raise InputError(str(problem)) from None


def _bare(function: Mapping[str, Any]) -> dict[str, Any]:
    """A function as endpoints know it: what it returns is said in its description."""
    sent_function = {key: value for key, value in function.items() if key != "returns"}
    if "type" not in (sent_function.get("parameters") or {"type": "object"}):  # but allOf or a $ref: refused
        sent_function["parameters"] = {"type": "object", **sent_function["parameters"]}
    outputs = (function.get("returns") or {}).get("properties") or {}
    if outputs:
        sent_function["description"] = (
            f"{sent_function.get('description') or ''} Returns: {', '.join(outputs)}.".lstrip()
        )
    return sent_function


def _sent(tools: Sequence[Mapping[str, Any]]) -> Offer:
    """The tools under names that endpoints take; where two would be alike the second gets a number."""
    names: dict[str, str] = {}
    sent = []
    for tool in tools:
        own = str(tool["function"]["name"])
        name = _clean(own, names)
        names[name] = own
        sent.append({**tool, "function": {**tool["function"], "name": name}} if name != own else tool)
    return Offer(tuple(sent), names)


def _clean(own: str, used_names: Mapping[str, str]) -> str:
    name = _OTHER.sub("-", own)[:_LONGEST]
    number = 2
    while used_names.get(name, own) != own:
        name = f"{name[: _LONGEST - 4]}-{number}"
        number += 1
    return name
