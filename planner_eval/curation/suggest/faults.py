"""What is wrong with a plan, as far as its catalog and the plan itself can say: what a mend has to remove."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from planner_eval.catalogs.catalog import ANY, Catalog
from planner_eval.catalogs.check import check_plan, find_tool
from planner_eval.curation.shrink.pairs import items_of
from planner_eval.plan.model import (
    WHOLE_RESULT_NAMES,
    Path,
    Plan,
    Ref,
    Template,
    Unresolved,
    Value,
    leaves,
    references,
)

AS_TEXT = "suggest.as_text"
NO_APP = "suggest.no_app"

_MAX_SHOWN_CHARACTERS = 60
_MAX_REFERENCE_CHARACTERS = 200
_MARKED_REFERENCE = re.compile(
    r"\$\{([^${}]+)\}|\$([^${}]+)\$|\{\{([^{}]+)\}\}|\{([^{}]+)\}|<([^<>]+)>"
    r"|\$([^\W\d][^${}]*)|#([A-Za-z]{1,4}\d+)"
)
"""How models mark a reference; an open ``$5`` is an amount, and an open ``#rome`` a tag."""

_GENERATED_ID = re.compile(r"c\d+(?:_\d+)?")
"""The ids that linking gives to calls without a label."""

_PATH_SEPARATORS = re.compile(r"[.\[\]]+")


class Fault(NamedTuple):
    """One thing that is wrong.

    Args:
        code: What kind it is; the meanings are in ``data/codes.toml``.
        message: One sentence with the names and values found.
        call: The position of the call concerned; None for the answer.
        argument: The name of the argument concerned.
        at: The way into the argument's value, where a reference is wrong.
    """

    code: str
    message: str
    call: int | None = None
    argument: str | None = None
    at: Path = ()


def find_faults(plan: Plan, catalog: Catalog) -> tuple[Fault, ...]:
    r"""What is wrong with a plan, by call.

    Unused results are left out: they are a hint and no fault, and whether they are told hangs on whether the
    plan refers to anything at all.

    Args:
        plan: The plan.
        catalog: The tools it may call.

    >>> from planner_eval.reading.dialects.read import parse
    >>> from planner_eval.catalogs.catalog import Tool
    >>> tools = Catalog((Tool("g"), Tool("h", open=True)))
    >>> [fault.code for fault in find_faults(parse("g()\nh(#x=y)"), tools)]
    ['reference.unresolved']
    """
    plan_faults = [
        Fault(finding.code, finding.message, finding.call, finding.argument)
        for finding in check_plan(plan, catalog, hints=False)
        if finding.code != "check.unused_result"
        and (finding.severity != "info" or finding.code == "check.ambiguous_tool")
    ]
    plan_faults += _find_missing_apps(plan, catalog)
    plan_faults += _find_reference_faults(plan, catalog)
    return tuple(sorted(plan_faults, key=lambda fault: len(plan.calls) if fault.call is None else fault.call))


FaultKey = tuple[str, str | None, str | None]


def fault_key(plan: Plan, fault: Fault) -> FaultKey:
    """What a fault is called in any plan that was made of this one."""
    return fault.code, None if fault.call is None else plan.calls[fault.call].id, fault.argument


def _find_missing_apps(plan: Plan, catalog: Catalog) -> Iterator[Fault]:
    """Calls that name no app in a plan that names apps; which of several is told by ``check`` already."""
    if plan.dialect != "appbench" and not any(call.app for call in plan.calls):
        return
    for position, call in enumerate(plan.calls):
        if call.app is None and "." not in call.name:
            tools = catalog.find(call.name)
            apps = {tool.app for tool in tools}
            if len(apps) == 1 and None not in apps:
                text = f"the call of {call.name} names no app, although others do"
                yield Fault(NO_APP, text, position)


def _find_reference_faults(plan: Plan, catalog: Catalog) -> Iterator[Fault]:
    """References to nothing, to later calls and to the call itself, and texts that name an output."""
    call_names = CallNames(plan, catalog)
    for position, call in enumerate(plan.calls):
        for name, value in call.arguments:
            yield from _find_value_faults(value, position, name)
            for path, text in leaves(value):
                if isinstance(text, str) and call_names.named(text, position) is not None:
                    excerpt = repr(text[:_MAX_SHOWN_CHARACTERS])
                    message = f"{name} is the text {excerpt}, which names an earlier call's output"
                    yield Fault(AS_TEXT, message, position, name, path)
    for name, value in plan.answer or ():
        yield from _find_value_faults(value, None, name)


def _find_value_faults(value: Value, position: int | None, name: str) -> Iterator[Fault]:
    for path, ref in references(value):
        if isinstance(ref, Unresolved):
            text = f"{name} refers to {ref.name[:_MAX_SHOWN_CHARACTERS]!r}, but no call has that label"
            yield Fault("reference.unresolved", text, position, name, path)
        elif position == ref.call:
            yield Fault("reference.self", f"{name} refers to the call itself", position, name, path)
        elif position is not None and ref.call > position:
            text = f"{name} refers to call {ref.call + 1}, which is written later"
            yield Fault("reference.forward", text, position, name, path)


class CallNames:
    """Which names mean a call or its output, for texts that should have been references.

    A call without a label was given one by linking, which no text can mean.

    Args:
        plan: The plan.
        catalog: The tools it may call.
    """

    def __init__(self, plan: Plan, catalog: Catalog) -> None:
        self._plan, self._catalog = plan, catalog
        self._ids = {
            call.id: position
            for position, call in enumerate(plan.calls)
            if not _GENERATED_ID.fullmatch(call.id)
        }
        self._returns: dict[str, list[int]] = {}
        for position, call in enumerate(plan.calls):
            for name in call.returns:
                self._returns.setdefault(name, []).append(position)

    def named(self, text: str, before: int, *, bare: bool = False) -> Ref | None:
        """The earlier call, and the way into its result, that a text names from its first letter to its last.

        Args:
            text: The text.
            before: The position of the call that gives it.
            bare: Whether a label alone will do, which any text may be by chance; otherwise the text has to be
                marked as a reference, or to be a label with an output that its tool has.
        """
        if not text or len(text) > _MAX_REFERENCE_CHARACTERS:
            return None
        signed = _MARKED_REFERENCE.fullmatch(text.strip())
        inner = next(filter(None, signed.groups())) if signed else text
        first, *steps = [step for step in _PATH_SEPARATORS.split(inner.strip()) if step] or [""]
        path: Path = tuple(int(step) if step.isdecimal() and len(step) < 9 else step for step in steps)
        position = self._ids.get(first, before)
        if position < before:
            plain = bare and not path and not first.isdecimal()
            if signed or plain or (path and declares_output(self._plan, position, path, self._catalog)):
                return Ref(position, path)
        positions = [index for index in self._returns.get(first, ()) if index < before]
        # AppBench writes a reference as the bare name of an output
        written = signed or bare or (self._plan.dialect == "appbench" and "_" in first)
        return Ref(positions[-1], (first, *path)) if positions and written else None


def declares_output(plan: Plan, position: int, path: Path, catalog: Catalog) -> bool:
    """Whether a call, or the catalog, says that it has an output, and does not merely leave it open.

    >>> from planner_eval.catalogs.catalog import Parameter, Tool, Type
    >>> from planner_eval.reading.dialects.read import parse
    >>> find = Tool("find", returns=Type(("object",), fields=(Parameter("id"),)))
    >>> [declares_output(parse("find()"), 0, (name,), Catalog((find,))) for name in ("id", "size")]
    [True, False]
    """
    call = plan.calls[position]
    tool = find_tool(call, catalog)
    if path and path[0] in call.returns:
        return True
    if tool is None or tool.returns == ANY:
        return False
    fields = {field.name for field in tool.returns.unfolded.fields}
    named = not path or path[0] in fields or (path[0] in WHOLE_RESULT_NAMES and tool.only_output is not None)
    return named and tool.output(path) is not None


def value_at_path(value: Value, path: Path) -> Value:
    """A part of a value, by the way to it."""
    for step in path:
        value = items_of(value)[step]
    return value


def find_difference(old: Value, new: Value) -> tuple[Path, Value]:
    """The one part of a value that is another, and the way to it; all of it where several are."""
    path: Path = ()
    while type(old) is type(new) and not isinstance(old, Template) and len(path) < 8:
        old_items, new_items = items_of(old), items_of(new)
        changed = [step for step, item in old_items.items() if repr(item) != repr(new_items.get(step))]
        if old_items.keys() != new_items.keys() or len(changed) != 1:
            break
        step = changed[0]
        old, new, path = old_items[step], new_items[step], (*path, step)
    return path, new
