"""Plans of AppBench made comparable, and gold rewritten for another plan."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import zip_longest
from typing import Any

from planner_eval.base.errors import ParseError, WriteError
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.json_text import loads
from planner_eval.base.limits import DEFAULT_LIMITS, UNEXPLAINED_LIMITS
from planner_eval.benchmarks.benchmark import as_json
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.paired import change_leaves
from planner_eval.comparison.policy.values import normalise_number
from planner_eval.plan.linking import link
from planner_eval.plan.model import Call, Plan, RawCall, RawPlan, RawRef, Ref, Unresolved, Value, map_leaves
from planner_eval.reading.dialects.finding.thoughts import strip_thoughts
from planner_eval.reading.dialects.notations.appbench import decided_text, first_step_text, read_fast
from planner_eval.reading.dialects.read import parse, write

# ----------------------------------------------------------------------
# Plans of AppBench made comparable: what the answer says, apart from spelling that carries no meaning.
_BULLET = re.compile(r"\s*(?:[-*•]|\d{1,4}[.)])\s+")
_CALL_START = re.compile(r"\w\(")
_APP_AND_API = re.compile(r"\s*(\w++)\s*+:\s*+\[[^(=]*+=\s*+([^\W\d][\w.]*+)\(")
_BRACKETS = re.compile(r"\s*\[(.*)\]\s*")
_DOUBLE_QUOTED = re.compile(r'=(\s*)"([^"]*+)"(?=\s*[,)])')
_MISSING_HASH = re.compile(r"(?<=[(,])(\s*)(?=\w+\s*=)")
_UNQUOTED_VALUE = re.compile(
    r"(#\w+\s*+=\s*+)(?!['\[])((?:[^#,)]++|#(?!\w++\s*+=)|,(?!\s*+#\w)|\)(?!\s*+(?:[,\]]|\Z)))++)"
)
_WORD = re.compile(r"[^\W\d][\w.]*+|[+-]?\d++(?:\.\d++)?")
_APP_LINE = re.compile(r"([^\W\d](?:[\w\- ]|\.(?!\s))*+):[ \t]*+\[[ \t]*+(.*)\][ \t]*+")
_SPEAKERS = frozenset({"System", "User", "USER", "Human"})
_RECORD_FIELDS = frozenset(
    {"used_app", "used_api", "result_arguments", "middle_arguments", "api_results", "user_aware_arguments"}
)
_MAX_CACHED_CHARS, _MAX_CACHED_CALLS = 1_000, 100
"""Lines and plans of at most so many characters and calls are read line by line, each line once."""
_MAX_UNREAD = 100
"""So many unreadable lines are explained in full; after them only lines that begin like a call are tried."""


@fast_frozen
class Reading:
    """What could be read of an answer.

    Args:
        plan: The calls that could be read, made :func:`normalize_plan`.
        unread: Lines that hold a call which cannot be read; each counts as a wrong call.
        mended: Lines that could be read only with other marks, see :func:`repair_line`, that end inside a
            call, or of which only the names of app and API can be read.
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
    (['movies.buy'], 1)
    """
    text = strip_thoughts(text)
    quick = _plain_answer(text)
    if quick is not None:
        return Reading(quick)
    plan = _read(text)
    # A line that it took for prose may be a call for all that.
    if plan is not None and len(plan) >= sum(
        _APP_AND_API.match(line) is not None for line in text.splitlines()
    ):
        return Reading(normalize_plan(plan))
    readable = []
    unread = mended = 0
    for line in _answer_lines(text):
        bare = _BULLET.sub("", line, count=1) if _BULLET.match(line) else line
        if not _CALL_START.search(bare):
            continue
        if (_read if unread < _MAX_UNREAD else read_fast)(bare) is not None:
            readable.append(bare)
        elif changed := next(
            (line for line in _repair_candidates(bare) if read_fast(line) is not None), None
        ):
            readable.append(changed)
            mended += 1
        else:
            unread += 1
    plan = _read("\n".join(readable))
    if plan is not None:
        return Reading(normalize_plan(plan), unread, mended)
    try:
        parse(text, dialect="appbench")
    except ParseError as problem:
        return Reading(Plan(), unread, error=problem.code)
    return Reading(Plan(), unread)


def _read(text: str) -> Plan | None:
    """The plan of a text in AppBench's notation; None where it has none."""
    try:
        return parse(text, dialect="appbench", limits=UNEXPLAINED_LIMITS)
    except ParseError:
        return None


def read_gold(gold: Any) -> Plan:
    """The plan of a gold record's ``output``, made :func:`normalize_plan`.

    Raises:
        ParseError: it cannot be read.

    >>> read_gold({"used_app": ["Movies"], "api_results": ["x = Movies_Buy(#city='Reno')"]}).calls[0].tool
    'movies.buy'
    """
    if isinstance(gold, dict) and gold.keys() <= _RECORD_FIELDS:
        apps, lines = gold.get("used_app"), gold.get("api_results")
        if (
            isinstance(apps, list)
            and isinstance(lines, list)
            and 0 < len(lines) == len(apps) <= _MAX_CACHED_CALLS
        ):
            texts = all(type(text) is str for text in (*apps, *lines))
            quick = _plain_plan(tuple(apps), tuple(lines)) if texts else None
            if quick is not None:
                return quick
    return normalize_plan(parse(gold, dialect="appbench"))


# ---------------------------------------------------------------- a call a line, as most answers have it
def _plain_answer(text: str) -> Plan | None:
    """The plan of an answer that is whole lines ``App: [call]`` and nothing else; None of any other."""
    text = text.strip()
    lines = text.split("\n")
    if len(text) > _MAX_CACHED_CALLS * _MAX_CACHED_CHARS or len(text.splitlines()) != len(lines):
        return None
    matches = list(map(_APP_LINE.fullmatch, lines))
    if None in matches:
        return None
    apps, calls = zip(*(match.groups() for match in matches if match is not None), strict=True)
    return None if _SPEAKERS.intersection(apps) else _plain_plan(apps, calls)


def _plain_plan(apps: tuple[str, ...], lines: tuple[str, ...]) -> Plan | None:
    """:func:`_plan_of_lines`; a right answer is the plan that was read as gold already.

    What is long is not remembered: hostile answers shall not fill the memory.
    """
    if any(len(line) >= _MAX_CACHED_CHARS for line in lines):
        return None
    return (_cached_plan if sum(map(len, (*apps, *lines))) < 10 * _MAX_CACHED_CHARS else _plan_of_lines)(
        apps, lines
    )


def _plan_of_lines(apps: tuple[str, ...], lines: tuple[str, ...]) -> Plan | None:
    """The comparable plan of calls, each alone on its line; None where another reader has to look."""
    calls = []
    for app, line in zip(apps, lines, strict=True):
        call = _plain_call(line)
        if call is None or not app:
            return None
        app = app.strip().casefold()
        name = _strip_app_prefix(call.name, app)
        calls.append(RawCall(name, call.arguments, app or None, None, call.binds, call.returns))
    return replace(link(RawPlan(tuple(calls))), diagnostics=())


_cached_plan = lru_cache(maxsize=1024)(_plan_of_lines)


@lru_cache(maxsize=4096)
def _plain_call(line: str) -> RawCall | None:
    """The one call of a line, but for its app comparable; most lines stand in other answers too."""
    raw = read_fast(line) if len(line.splitlines()) == 1 else None
    if raw is None or len(raw.calls) != 1 or raw.notes or raw.calls[0].app is not None:
        return None
    call = raw.calls[0]
    arguments = tuple((key.casefold(), _normalize_leaf(value)) for key, value in call.arguments)
    return RawCall(call.name.casefold(), arguments, None, None, call.binds, call.returns)


def _strip_app_prefix(name: str, app: str | None) -> str:
    """A name without the prefix that the prompt asks for."""
    return name.removeprefix(f"{app}_").removeprefix(f"{app}.") if app else name


def _answer_lines(text: str) -> list[str]:
    """The lines of an answer, or the texts of a JSON list of lines."""
    if text.lstrip().startswith("["):
        try:
            values = loads(text, DEFAULT_LIMITS)
        except ParseError:
            return text.splitlines()
        if (
            len(values) == 1
            and isinstance(values[0], list)
            and all(isinstance(item, str) for item in values[0])
        ):
            return "\n".join(values[0]).splitlines()
    return text.splitlines()


def _repair_candidates(line: str) -> Iterator[str]:
    """The line with the notation's marks, with its call's end, or with the names of app and API alone."""
    yield repair_line(line)
    head = line.rstrip().rstrip("]")
    if "[" in head and head.endswith(")"):
        yield repair_line(f"{head}]")
    elif "[" in head:
        for end in (len(head), max(head.rfind(","), 0)):
            yield repair_line(f"{head[:end]})]")
    if named := _APP_AND_API.match(line):
        yield f"{named[1]}: [{named[2]}()]"


def repair_line(line: str) -> str:
    """The line with the notation's marks: texts in ``'``, names after ``#``, no brackets without an app.

    One word without quotes stays what the notation takes it for, the name of what an earlier call returns.

    >>> repair_line('[x, z = buy(city="Reno", #n=y, #at=Main St. 2)]')
    "x, z = buy(#city='Reno', #n=y, #at='Main St. 2')"
    """
    bracketed = _BRACKETS.fullmatch(line)
    head, opening, arguments = (bracketed[1] if bracketed else line).partition("(")
    marked = _MISSING_HASH.sub(r"\1#", opening + _DOUBLE_QUOTED.sub(r"=\1'\2'", arguments))
    return head + _UNQUOTED_VALUE.sub(_quote_value, marked)


def _quote_value(argument: re.Match[str]) -> str:
    name, value = argument.groups()
    if _WORD.fullmatch(value.strip()):
        return argument[0]
    return f"{name}'{value.strip()}'"


def normalize_plan(plan: Plan) -> Plan:
    """The plan with names, keys and texts in one spelling, and every literal as text.

    Case and outer blanks play no part, nor does the prefix ``App_`` of an API's name, which the prompt
    asks for and the gold lines do not have. The notation knows only texts: 2 is ``'2'``, and 4.3 ``'4.30'``.

    >>> normalize_plan(parse("Movies: [x = Movies_Buy(#City=' RENO', #n=2, #rating='4.30')]")).calls[
    ...     0].arguments
    (('city', 'reno'), ('n', '2'), ('rating', '4.3'))
    """
    return replace(plan, calls=tuple(map(_normalize_call, plan.calls)), diagnostics=(), text=None)


def _normalize_call(call: Call) -> Call:
    app = call.app.strip().casefold() if call.app else None
    name = _strip_app_prefix(call.name.casefold(), app)
    arguments = tuple((key.casefold(), map_leaves(_normalize_leaf, value)) for key, value in call.arguments)
    return Call(call.id, name, arguments, app, call.returns)


def _normalize_leaf(leaf: Any) -> Any:
    if isinstance(leaf, Ref | Unresolved | RawRef):
        return leaf
    text = str(leaf).strip().casefold()
    number = normalise_number(text)
    return str(int(number) if isinstance(number, float) and number.is_integer() else number)


def drop_late_references(plan: Plan) -> Plan:
    r"""The plan in which a name that no earlier call returns means nothing.

    A reader may link such a name to a later call, to show the data flow; run in order, it has no value.

    >>> drop_late_references(parse("f(#x=a)\na = g(#y='1')")).calls[0].arguments
    (('x', Unresolved(name='a', path=())),)
    """
    if all(edge.producer < edge.consumer for edge in plan.edges):
        return plan
    return change_leaves(plan, _drop_late_reference)


def _drop_late_reference(position: int, leaf: Value) -> Value:
    if isinstance(leaf, Ref) and leaf.call >= position:
        name, *path = map(str, leaf.path)
        return Unresolved(name, tuple(path))
    return leaf


def replace_labels(plan: Plan, gold: Plan) -> Plan:
    r"""The plan with outputs for the labels that it chose.

    A returned name that the API defines is that output, wherever it stands. Any other is a label: where
    a call names as many outputs as the API has, in their order, it means the one in its place.

    Args:
        plan: What the answer says.
        gold: Its calls name every output of their APIs in order.

    >>> gold = parse("street, town = find()\nbook(#town=town)")
    >>> replace_labels(parse("a, b = find()\nbook(#town=b)"), gold).calls[1].arguments
    (('town', Ref(call=0, path=('town',))),)
    """
    outputs = {call.name: call.returns for call in gold.calls}
    for call in gold.calls:
        if outputs.get(call.name) != call.returns:  # gold's calls of one API differ: no order can be told
            outputs.pop(call.name, None)
    chosen = [_match_labels(call.returns, outputs.get(call.name, ())) for call in plan.calls]

    def replace_label(_: int, leaf: Value) -> Value:
        if isinstance(leaf, Ref) and leaf.path and leaf.path[0] in chosen[leaf.call]:
            return Ref(leaf.call, (chosen[leaf.call][str(leaf.path[0])], *leaf.path[1:]))
        return leaf

    return change_leaves(plan, replace_label) if any(chosen) else plan


def _match_labels(returns: Sequence[str], outputs: Sequence[str]) -> dict[str, str]:
    """The outputs that the labels among returned names stand for."""
    if returns == outputs or len(returns) != len(outputs):
        return {}
    return {label: name for label, name in zip(returns, outputs, strict=True) if label not in outputs}


# ----------------------------------------------------------------------
# Gold of AppBench for another plan.
_FIRST_STEP = "first_step_apps"
"""The field of an answer's record that holds the apps which a separate first step chose."""


def answer_text(content: Any) -> str:
    """A structured answer as the text that is scored, with the apps that a separate first step chose."""
    if isinstance(content, dict) and _FIRST_STEP in content:
        return first_step_text(content["text"], content[_FIRST_STEP])
    if isinstance(content, dict) and "decided_api" in content:
        return decided_text(content)
    return as_json(content)


def gold_text(sample: Sample) -> str:
    """The answer that repeats a sample's gold."""
    apps, lines = sample.gold["used_app"], sample.gold["api_results"]
    last = apps[-1] if apps else ""
    pairs = zip_longest(apps[: len(lines)], lines, fillvalue=last)
    return "\n".join(f"{app}: [{line}]" for app, line in pairs)


def gold_of(sample: Sample, plan: Plan) -> dict[str, Any]:
    """The gold of a sample whose right answer would be another plan: its lines, and what stands beside.

    Args:
        sample: The sample.
        plan: The plan.

    Raises:
        WriteError: its record cannot say what the plan says.
    """
    text = write(plan, "appbench") if plan.calls else ""
    lines = text.split("\n") if plan.calls else []
    apps = [call.app or "" for call in plan.calls]
    if len(lines) != len(apps) or not all(apps):
        raise WriteError("the plan cannot be AppBench gold: each call needs an app and a line of its own")
    calls = parse(text, dialect="appbench").calls if plan.calls else ()

    def named(leaf: Any) -> Any:
        return str(leaf.path[0]) if isinstance(leaf, Ref) and leaf.path else leaf

    return {
        **sample.gold,
        "used_app": apps,
        "used_api": [{call.name: {k: map_leaves(named, v) for k, v in call.arguments}} for call in calls],
        "result_arguments": [list(call.returns) for call in calls],
        "api_results": [line[len(app) + 3 : -1] for app, line in zip(apps, lines, strict=True)],
    }
