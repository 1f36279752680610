"""An answer to CallNavi as a plan: strictly where it is what was asked for, else by careful repair.

Source: paper section 5.1: an answer that is not valid is repaired before its structure is judged.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from types import NoneType
from typing import Any, TypeAlias

from planner_eval.base.errors import ParseError
from planner_eval.base.jsontext import Repeated, loads_if_json
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.base.quick import quick
from planner_eval.benchmarks.callnavi.washing import read_yaml
from planner_eval.dialects.find import without_thoughts
from planner_eval.dialects.read import parse
from planner_eval.plan.model import Arguments, Call, Plan

MAX_LITERAL_CHARS = 256 * 2**10
"""Longer texts are not tried as Python literals: the parser needs 400 times their size."""
_QUOTES = ("'", '"', "`")
_STRAIGHT = str.maketrans("“”‘’", "\"\"''")
_DECODER = json.JSONDecoder()
_FENCE = re.compile(r"```[A-Za-z]*+\n?(.*?)```", re.DOTALL)


Calls: TypeAlias = "Sequence[tuple[str, Arguments]]"
"""The names of a plan's calls, and what each is given."""


@quick
class PredictedPlan:
    """What an answer says.

    Args:
        calls: Its calls in order; None where it cannot be read as calls.
        valid: The text as a whole is an object of the notation asked for.
        code: Why there are none: the code of a diagnostic.
    """

    calls: Calls | None
    valid: bool
    code: str | None = None

    @property
    def plan(self) -> Plan | None:
        """The calls as a plan."""
        return None if self.calls is None else _as_plan(self.calls)


def read_answer(text: str, *, notation: str = "json") -> PredictedPlan:
    r"""The answer's calls, and whether it is valid as it stands.

    Args:
        text: What the model wrote.
        notation: ``"json"`` or ``"yaml"``.

    >>> read_answer('{"API": ["pay"], "parameters": [{"to": "Ann\'s"}]}').plan.calls[0].arguments
    (('to', "Ann's"),)
    >>> fenced = read_answer("```json\n{'API': ['pay'], 'parameters': [{}]}\n```")
    >>> fenced.valid, [call.name for call in fenced.plan.calls]
    (False, ['pay'])
    """
    try:
        value = _strict(text, notation)
    except ParseError:
        return _repaired(text, tried=text if notation == "json" else None)
    try:
        return PredictedPlan(calls_of(value), isinstance(value, dict))
    except ParseError as problem:
        return PredictedPlan(None, isinstance(value, dict), problem.code)


def _strict(text: str, notation: str) -> Any:
    """The text as one value of the notation."""
    if notation == "yaml":
        washed = read_yaml(text)
        if washed.error or not isinstance(washed.value, dict) or not washed.valid:
            raise ParseError("no YAML mapping")
        return washed.value
    if len(text) > DEFAULT_LIMITS.chars:
        raise ParseError("too long", code="parse.limit")
    values = loads_if_json(text, DEFAULT_LIMITS)
    if values is None or len(values) != 1:
        raise ParseError("no JSON, or several values in a row")
    return values[0]


def _repaired(text: str, tried: str | None) -> PredictedPlan:
    """The calls of a text that is not what was asked for; `tried` is known to be no JSON."""
    text = without_thoughts(text)
    for candidate in _candidates(text):
        for reader in _READERS[candidate == tried :]:
            try:
                return PredictedPlan(calls_of(reader(candidate)), False)
            except ParseError:
                continue
    try:
        plan = parse(text)
    except ParseError as problem:
        return PredictedPlan(None, False, problem.code)
    # Every question of the benchmark wants calls: prose without any is what a model is asked to repair.
    return PredictedPlan(_calls(plan), False) if plan.calls else PredictedPlan(None, False, "plan.no_call")


def _candidates(text: str) -> Iterator[str]:
    """What may be the answer in a longer text: a fenced block, the text itself, an object in prose."""
    fenced = _FENCE.search(text)
    if fenced:
        yield fenced[1].strip()
    yield text.strip()
    if any(quote in text for quote in "“”‘’"):
        yield text.translate(_STRAIGHT).strip()
    start = text.find("{")
    if start >= 0:
        try:
            _, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            return
        yield text[start:end]


def _strict_json(text: str) -> Any:
    return _strict(text, "json")


def _strict_yaml(text: str) -> Any:
    """A YAML mapping that names APIs; most prose is YAML too."""
    if (
        "API" not in text
        or _KEY.search(text) is None
        or _LINE.search(text) is None
        or (text[:1] == "{" and _is_open(text, "}"))
    ):
        _refuse("no API in a YAML mapping")
    value = _strict(text, "yaml")
    return value if "API" in value else _refuse("no API in a YAML mapping")


_KEY = re.compile(r"(?:\A|[\s\ufeff{,\"'?])API(?=[\s\"':,}]|\Z)|\\")
_LINE = re.compile(r"(?:\A|[\n\r\x85\u2028\u2029])(?:API|[^\w\s])")
"""What stands in every YAML mapping with the key API: the key, and a line that begins with it or a sign."""


def _is_open(text: str, closing: str) -> bool:
    """Whether a text does not end as a value between brackets ends; a comment or a mark may follow it."""
    return text[-1:] not in closing and "#" not in text and "..." not in text


_LITERAL = ("{", "[", "(", "#", "\\")
"""How lists and dicts begin in Python; a comment or a continued line may stand before."""


def _literal(text: str) -> Any:
    """A Python list or dict (single quotes, True, None); parsed into a tree of constants, never evaluated."""
    if len(text) > MAX_LITERAL_CHARS:
        raise ParseError("too long for a literal", code="parse.limit")
    if text[:1] not in _LITERAL or _is_open(text, "}])"):
        raise ParseError("no list and no dict")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that Python does not know
            return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise ParseError("no Python literal") from None


_READERS = (_strict_json, _literal, _strict_yaml)


def plan_of(value: Any) -> Plan:
    """The plan of a decoded answer: CallNavi's own object, or calls in any structure that is known.

    A missing parameter object, or null in its place, means no parameters; a single object may stand without
    its list, as in the paper's appendix A, and each call may be an object of its own.

    Args:
        value: ``{"API": [name, …], "parameters": [{key: value}, …]}``, or other data.

    Raises:
        ParseError: the data holds no calls.

    >>> plan_of({"API": ["a"], "parameters": [{"x": 1}]}).calls[0].arguments
    (('x', 1),)
    """
    return _as_plan(calls_of(value))


def _as_plan(calls: Calls) -> Plan:
    return Plan(tuple([Call(f"c{n}", name, arguments) for n, (name, arguments) in enumerate(calls, 1)]))


def _calls(plan: Plan) -> Calls:
    return [(call.name, call.arguments) for call in plan.calls]


def calls_of(value: Any) -> Calls:
    """The calls of a decoded answer, see :func:`plan_of`, which makes a plan of them.

    Args:
        value: As there.

    Raises:
        ParseError: as there.

    >>> [arguments for _, arguments in calls_of({"API": ["a", "b"], "parameters": [{"x": 1}]})]
    [(('x', 1),), ()]
    """
    if isinstance(value, list) and value and all(isinstance(call, dict) and "API" in call for call in value):
        value = {"API": [c["API"] for c in value], "parameters": [c.get("parameters", {}) for c in value]}
    if not isinstance(value, dict) or "API" not in value:
        return _calls(parse(value)) if isinstance(value, (dict, list)) else _refuse("no object")
    names, entries = value["API"], value.get("parameters")
    if isinstance(names, str):
        names = [names]
    if entries is None or isinstance(entries, dict):
        entries = [entries]
    if not isinstance(names, list) or [name for name in names if not isinstance(name, str)]:
        _refuse("API is no list of names")
    if not isinstance(entries, list) or [one for one in entries if not isinstance(one, (dict, NoneType))]:
        _refuse("parameters is no list of objects")
    if len(entries) > len(names):
        _refuse(f"{len(entries)} parameter objects for {len(names)} APIs")
    return [(name, _arguments(entry or {})) for name, entry in zip_longest(names, entries)]


def _arguments(entry: dict[str, Any]) -> Arguments:
    return tuple(entry.pairs if isinstance(entry, Repeated) else entry.items())


def _unquoted(name: str) -> str:
    """A name without the pair of quotes around it."""
    return name[1:-1] if name[:1] in _QUOTES and name[:1] == name[-1:] else name


def _refuse(reason: str) -> Any:
    raise ParseError(reason, code="parse.shape")


def read_route(text: str) -> list[str] | None:
    """The API names of an answer that names APIs only; None where it names none.

    A list in JSON or as a Python literal, fenced or not, or names with commas between them, quoted or not.

    >>> read_route("['pay', 'list']"), read_route("pay, 'list'"), read_route("I would call pay.")
    (['pay', 'list'], ['pay', 'list'], None)
    """
    text = without_thoughts(text)
    fenced = _FENCE.search(text)
    body = (fenced[1] if fenced else text).strip()
    for reader in (_strict_json, _literal):
        try:
            value = reader(body)
        except ParseError:
            continue
        names = value.get("API") if isinstance(value, dict) else value
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            return names
    names = [_unquoted(name.strip()) for name in body.removeprefix("[").removesuffix("]").split(",")]
    return names if all(name.isidentifier() for name in names) else None
