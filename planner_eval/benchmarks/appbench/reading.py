"""Plans of AppBench made comparable: what the answer says, apart from spelling that carries no meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from planner_eval.base.errors import ParseError
from planner_eval.base.jsontext import loads
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.benchmarks.paired import with_leaves
from planner_eval.dialects.appbench_lines import read_fast
from planner_eval.dialects.find import without_thoughts
from planner_eval.dialects.read import parse
from planner_eval.plan.model import Call, Plan, Ref, Unresolved, Value
from planner_eval.plan.walk import map_leaves

_BULLET = re.compile(r"\s*(?:[-*•]|\d{1,4}[.)])\s+")
_CALL = re.compile(r"\w\(")
_NAMES = re.compile(r"\s*(\w++)\s*+:\s*+\[[^(=]*+=\s*+([^\W\d][\w.]*+)\(")
_BRACKETS = re.compile(r"\s*\[(.*)\]\s*")
_DOUBLE = re.compile(r'=(\s*)"([^"]*+)"(?=\s*[,)])')
_NO_HASH = re.compile(r"(?<=[(,])(\s*)(?=\w+\s*=)")
_VALUE = re.compile(
    r"(#\w+\s*+=\s*+)(?!['\[])((?:[^#,)]++|#(?!\w++\s*+=)|,(?!\s*+#\w)|\)(?!\s*+(?:[,\]]|\Z)))++)"
)
_WORD = re.compile(r"[^\W\d][\w.]*+|[+-]?\d++(?:\.\d++)?")
_PATIENCE = 100
"""So many unreadable lines are explained in full; after them only lines that begin like a call are tried."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What could be read of an answer.

    Args:
        plan: The calls that could be read.
        unread: Lines that hold a call which cannot be read; each counts as a wrong call.
        mended: Lines that could be read only with other marks, see :func:`mend`, that end inside a call, or
            of which only the names of app and API can be read.
        error: Why nothing at all could be read, a diagnostic code.
    """

    plan: Plan
    unread: int = 0
    mended: int = 0
    error: str | None = None


def read_prediction(text: str) -> Reading:
    r"""Read an answer in AppBench's notation: as a whole, else line by line.

    Thoughts, prose, fences, bullets and numbering around the lines are passed over, and a JSON list of lines
    is those lines. A line is mended only where it cannot be read as it stands; where its call cannot be read,
    but the names of app and API can, it is a call without arguments, and else a wrong one.

    Args:
        text: The whole answer.

    >>> found = read_prediction("Sure:\n- Movies: [x = Movies_buy(#city='Reno')]\nr = ride(#a='x' #b)")
    >>> [call.tool for call in found.plan.calls], found.unread
    (['Movies.Movies_buy'], 1)
    """
    code = None
    text = without_thoughts(text)
    try:
        plan = parse(text, dialect="appbench")
    except ParseError as problem:
        code = problem.code
    else:  # a line that it took for prose may be a call for all that
        if len(plan) >= sum(_NAMES.match(line) is not None for line in text.splitlines()):
            return Reading(plan)
    kept = []
    unread = mended = 0
    for line in _lines(text):
        bare = _BULLET.sub("", line, count=1) if _BULLET.match(line) else line
        if not _CALL.search(bare):
            continue
        if _reads(bare, patient=unread < _PATIENCE):
            kept.append(bare)
        elif changed := next((one for one in _mended(bare) if _reads(one, patient=False)), None):
            kept.append(changed)
            mended += 1
        else:
            unread += 1
    try:
        return Reading(parse("\n".join(kept), dialect="appbench"), unread, mended)
    except ParseError:
        return Reading(Plan(), unread, error=code)


def _lines(text: str) -> list[str]:
    """The lines of an answer, or the texts of a JSON list of lines."""
    if text.lstrip().startswith("["):
        try:
            values = loads(text, DEFAULT_LIMITS)
        except ParseError:
            return text.splitlines()
        if (
            len(values) == 1
            and isinstance(values[0], list)
            and all(isinstance(one, str) for one in values[0])
        ):
            return "\n".join(values[0]).splitlines()
    return text.splitlines()


def _mended(line: str) -> Iterator[str]:
    """The line with the notation's marks, with its call's end, or with the names of app and API alone."""
    yield mend(line)
    head = line.rstrip().rstrip("]")
    if "[" in head and head.endswith(")"):
        yield mend(f"{head}]")
    elif "[" in head:
        for end in (len(head), max(head.rfind(","), 0)):
            yield mend(f"{head[:end]})]")
    if named := _NAMES.match(line):
        yield f"{named[1]}: [{named[2]}()]"


def mend(line: str) -> str:
    """The line with the notation's marks: texts in ``'``, names after ``#``, no brackets without an app.

    One word without quotes stays what the notation takes it for, the name of what an earlier call returns.

    >>> mend('[x, z = buy(city="Reno", #n=y, #at=Main St. 2)]')
    "x, z = buy(#city='Reno', #n=y, #at='Main St. 2')"
    """
    bracketed = _BRACKETS.fullmatch(line)
    head, opening, arguments = (bracketed[1] if bracketed else line).partition("(")
    marked = _NO_HASH.sub(r"\1#", opening + _DOUBLE.sub(r"=\1'\2'", arguments))
    return head + _VALUE.sub(_with_quotes, marked)


def _with_quotes(argument: re.Match[str]) -> str:
    name, value = argument.groups()
    if _WORD.fullmatch(value.strip()):
        return argument[0]
    return f"{name}'{value.strip()}'"


def _reads(line: str, *, patient: bool) -> bool:
    if not patient:
        return read_fast(line) is not None
    try:
        parse(line, dialect="appbench")
    except ParseError:
        return False
    return True


def comparable(plan: Plan) -> Plan:
    """The plan with names, keys and texts in one spelling, and every literal as text.

    Case and outer blanks play no part, nor does the prefix ``App_`` of an API's name, which the prompt
    asks for and the gold lines do not have. The notation knows only texts: 2 is ``'2'``.

    >>> comparable(parse("Movies: [x = Movies_Buy(#City=' RENO', #n=2)]")).calls[0].arguments
    (('city', 'reno'), ('n', '2'))
    """
    return replace(plan, calls=tuple(map(_comparable_call, plan.calls)), diagnostics=(), text=None)


def _comparable_call(call: Call) -> Call:
    app = call.app.strip().casefold() if call.app else None
    name = call.name.casefold()
    if app:
        name = name.removeprefix(f"{app}_").removeprefix(f"{app}.")
    arguments = tuple((key.casefold(), map_leaves(_comparable_leaf, value)) for key, value in call.arguments)
    return Call(call.id, name, arguments, app, call.returns)


def _comparable_leaf(leaf: Value) -> Value:
    return leaf if isinstance(leaf, Ref | Unresolved) else str(leaf).strip().casefold()


def without_late_references(plan: Plan) -> Plan:
    r"""The plan in which a name that no earlier call returns means nothing.

    A reader may link such a name to a later call, to show the data flow; run in order, it has no value.

    >>> without_late_references(parse("f(#x=a)\na = g(#y='1')")).calls[0].arguments
    (('x', Unresolved(name='a', path=())),)
    """
    if all(edge.producer < edge.consumer for edge in plan.edges):
        return plan
    return with_leaves(plan, _early)


def _early(position: int, leaf: Value) -> Value:
    if isinstance(leaf, Ref) and leaf.call >= position:
        name, *path = map(str, leaf.path)
        return Unresolved(name, tuple(path))
    return leaf


def with_outputs(plan: Plan, gold: Plan) -> Plan:
    r"""The plan with outputs for the labels that it chose.

    A returned name that the API defines is that output, wherever it stands. Any other is a label: where
    a call names as many outputs as the API has, in their order, it means the one in its place.

    Args:
        plan: What the answer says.
        gold: Its calls name every output of their APIs in order.

    >>> gold = parse("street, town = find()\nbook(#town=town)")
    >>> with_outputs(parse("a, b = find()\nbook(#town=b)"), gold).calls[1].arguments
    (('town', Ref(call=0, path=('town',))),)
    """
    outputs = {call.name: call.returns for call in gold.calls}
    for call in gold.calls:
        if outputs.get(call.name) != call.returns:  # gold's calls of one API differ: no order can be told
            outputs.pop(call.name, None)
    chosen = [_labels(call.returns, outputs.get(call.name, ())) for call in plan.calls]
    return with_leaves(plan, partial(_output, chosen)) if any(chosen) else plan


def _labels(returns: Sequence[str], outputs: Sequence[str]) -> dict[str, str]:
    """The outputs that the labels among returned names stand for."""
    if len(returns) != len(outputs):
        return {}
    return {label: name for label, name in zip(returns, outputs, strict=True) if label not in outputs}


def _output(chosen: Sequence[Mapping[str, str]], _: int, leaf: Value) -> Value:
    if isinstance(leaf, Ref) and leaf.path and leaf.path[0] in chosen[leaf.call]:
        return Ref(leaf.call, (chosen[leaf.call][str(leaf.path[0])], *leaf.path[1:]))
    return leaf
