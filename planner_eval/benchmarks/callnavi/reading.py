"""An answer to CallNavi as a plan, and gold for another plan.

Source: paper section 5.1: an answer that is not valid is repaired before its structure is judged.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator
from types import NoneType
from typing import Any, TypeAlias

from planner_eval.base.errors import ParseError
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.json_text import JSON_WHITESPACE, build_object, object_items
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.benchmarks.callnavi.washing import read_yaml
from planner_eval.benchmarks.datasets.sample import Sample
from planner_eval.plan.model import Call, Plan
from planner_eval.reading.dialects.finding.find import strip_thoughts
from planner_eval.reading.dialects.read import parse, write

# ----------------------------------------------------------------------
# An answer to CallNavi as a plan: strictly where it is what was asked for, else by careful repair.
MAX_LITERAL_CHARS = 256 * 2**10
"""Longer texts are not tried as Python literals: the parser needs 400 times their size."""
_QUOTES = ("'", '"', "`")
_CURLY_QUOTES = (("“", '"'), ("”", '"'), ("‘", "'"), ("’", "'"))
_DECODER = json.JSONDecoder()
_SCAN_JSON = json.JSONDecoder(object_pairs_hook=build_object).scan_once  # type: ignore[attr-defined]
"""Keeps keys that are given twice."""
_FENCE = re.compile(r"```[A-Za-z]*+\n?((?:[^`]++|`(?!``))*+)```")


Calls: TypeAlias = "tuple[list[str], list[dict[str, Any]]]"
"""The names of a plan's calls, and beside them what each is given: the objects as they were decoded."""
_NO_VALUE: Any = object()
"""What a reader gives of a text that it does not read: an answer that is repaired passes several by, and an
exception for each takes longer than the look."""


@fast_frozen
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
        return None if self.calls is None else _plan_from_calls(self.calls)


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
    value = _read_json(text) if notation == "json" else _read_yaml(text)
    if value is _NO_VALUE:
        return _read_repaired(text, tried=text if notation == "json" else None)
    try:
        return PredictedPlan(calls_of(value), isinstance(value, dict))
    except ParseError as problem:
        return PredictedPlan(None, isinstance(value, dict), problem.code)


def _read_json(text: str) -> Any:
    """The one JSON value that a text is."""
    if text[:1] not in _JSON_STARTS or len(text) > DEFAULT_LIMITS.chars:
        return _NO_VALUE
    text = text.strip(JSON_WHITESPACE)
    try:
        value, end = _SCAN_JSON(text, 0)
    except (StopIteration, ValueError, RecursionError):
        return _NO_VALUE
    return value if end == len(text) else _NO_VALUE


_JSON_STARTS = frozenset('{[" \t\r\n-0123456789tfnNI')
"""How JSON begins in Python, blanks included."""


def _read_yaml(text: str) -> Any:
    """The one YAML mapping that a text is."""
    washed = read_yaml(text)
    read = washed.valid and not washed.error and isinstance(washed.value, dict)
    return washed.value if read else _NO_VALUE


def _read_repaired(text: str, tried: str | None) -> PredictedPlan:
    """The calls of a text that is not what was asked for; `tried` is known to be no JSON."""
    text = strip_thoughts(text)
    for candidate in _candidates(text):
        for reader in _READERS[candidate == tried :]:
            value = reader(candidate)
            if value is not _NO_VALUE:
                try:
                    return PredictedPlan(calls_of(value), False)
                except ParseError:
                    continue
    try:
        plan = parse(text)
    except ParseError as problem:
        return PredictedPlan(None, False, problem.code)
    # Every question of the benchmark wants calls: prose without any is what a model is asked to repair.
    return (
        PredictedPlan(_plan_calls(plan), False) if plan.calls else PredictedPlan(None, False, "plan.no_call")
    )


def _candidates(text: str) -> Iterator[str]:
    """What may be the answer in a longer text: a fenced block, the text itself, an object in prose."""
    fenced = _FENCE.search(text)
    if fenced:
        yield fenced[1].strip()
    yield text.strip()
    if not text.isascii():
        straight = text
        for curly, plain in _CURLY_QUOTES:  # a table of characters takes four times as long
            straight = straight.replace(curly, plain)
        if straight != text:
            yield straight.strip()
    start = text.find("{")
    if start >= 0:
        try:
            _, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            return
        yield text[start:end]


def _read_api_yaml(text: str) -> Any:
    """A YAML mapping that names APIs; most prose is YAML too."""
    if (
        "API" not in text
        or _API_FIELD.search(text) is None
        or _API_LINE.search(text) is None
        or (text[:1] == "{" and _is_unclosed(text, "}"))
    ):
        return _NO_VALUE
    value = _read_yaml(text)
    return value if value is _NO_VALUE or "API" in value else _NO_VALUE


_API_FIELD = re.compile(r"(?:\A|[\s\ufeff{,\"'?])API(?=[\s\"':,}]|\Z)|\\")
_API_LINE = re.compile(r"(?:\A|[\n\r\x85\u2028\u2029])(?:API|[^\w\s])")
"""What stands in every YAML mapping with the key API: the key, and a line that begins with it or a sign."""


def _is_unclosed(text: str, closing: str) -> bool:
    """Whether a text does not end as a value between brackets ends; a comment or a mark may follow it."""
    return text[-1:] not in closing and "#" not in text and "..." not in text


_LITERAL_STARTS = ("{", "[", "(", "#", "\\")
"""How lists and dicts begin in Python; a comment or a continued line may stand before."""


def _read_literal(text: str) -> Any:
    """A Python list or dict (single quotes, True, None); parsed into a tree of constants, never evaluated."""
    if len(text) > MAX_LITERAL_CHARS or text[:1] not in _LITERAL_STARTS or _is_unclosed(text, "}])"):
        return _NO_VALUE
    if _is_jsonlike(text):
        try:
            return _DECODER.decode(text.replace("'", '"'))
        except ValueError:
            pass  # a comma at the end, a number of Python's, or no literal
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that Python does not know
            return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return _NO_VALUE


_UNLIKE_PYTHON = re.compile(r"""["\\#]|true|false|null|NaN|Infinity""")
_MAX_BRACKETS = 100
"""Python's parser takes fewer levels than JSON's."""


def _is_jsonlike(text: str) -> bool:
    """Whether a text, if it is JSON once its apostrophes are quotes, is the same literal in Python.

    Apostrophes are around texts alone then: nothing is escaped and no other quotes stand in them. JSON is
    read ten times as fast, and an answer with Python's quotes is often nothing else.
    """
    return (
        text.isascii()
        and _UNLIKE_PYTHON.search(text) is None
        and text.count("[") + text.count("{") < _MAX_BRACKETS
    )


_READERS = (_read_json, _read_literal, _read_api_yaml)


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
    return _plan_from_calls(calls_of(value))


def _plan_from_calls(calls: Calls) -> Plan:
    numbered = enumerate(zip(*calls, strict=True), 1)
    return Plan(tuple([Call(f"c{n}", name, object_items(arguments)) for n, (name, arguments) in numbered]))


def _plan_calls(plan: Plan) -> Calls:
    return [call.name for call in plan.calls], [build_object(list(call.arguments)) for call in plan.calls]


def calls_of(value: Any) -> Calls:
    """The calls of a decoded answer, see :func:`plan_of`, which makes a plan of them.

    Args:
        value: As there.

    Raises:
        ParseError: as there.

    >>> calls_of({"API": ["a", "b"], "parameters": [{"x": 1}]})
    (['a', 'b'], [{'x': 1}, {}])
    """
    if type(value) is dict:  # as it was asked for, which most answers are
        names, entries = value.get("API"), value.get("parameters")
        if (
            type(names) is type(entries) is list
            and len(names) == len(entries)
            and _ARE_NAMES(map(type, names))
            and _ARE_OBJECTS(map(type, entries))
        ):
            return names, entries
    if isinstance(value, list) and value and all(isinstance(call, dict) and "API" in call for call in value):
        value = {"API": [c["API"] for c in value], "parameters": [c.get("parameters", {}) for c in value]}
    if not isinstance(value, dict) or "API" not in value:
        return _plan_calls(parse(value)) if isinstance(value, (dict, list)) else _refuse_shape("no object")
    names, entries = value["API"], value.get("parameters")
    if isinstance(names, str):
        names = [names]
    if entries is None or isinstance(entries, dict):
        entries = [entries]
    if not isinstance(names, list) or [name for name in names if not isinstance(name, str)]:
        _refuse_shape("API is no list of names")
    if not isinstance(entries, list) or [
        entry for entry in entries if not isinstance(entry, (dict, NoneType))
    ]:
        _refuse_shape("parameters is no list of objects")
    if len(entries) > len(names):
        _refuse_shape(f"{len(entries)} parameter objects for {len(names)} APIs")
    missing = len(names) - len(entries)
    return names, [entry or {} for entry in entries + [None] * missing]


_ARE_NAMES, _ARE_OBJECTS = frozenset({str}).issuperset, frozenset({dict}).issuperset


def _strip_quotes(name: str) -> str:
    """A name without the pair of quotes around it."""
    return name[1:-1] if name[:1] in _QUOTES and name[:1] == name[-1:] else name


def _refuse_shape(reason: str) -> Any:
    raise ParseError(reason, code="parse.shape")


def read_route(text: str) -> list[str] | None:
    """The API names of an answer that names APIs only; None where it names none.

    A list in JSON or as a Python literal, fenced or not, or names with commas between them, quoted or not.

    >>> read_route("['pay', 'list']"), read_route("pay, 'list'"), read_route("I would call pay.")
    (['pay', 'list'], ['pay', 'list'], None)
    """
    text = strip_thoughts(text)
    fenced = _FENCE.search(text)
    body = (fenced[1] if fenced else text).strip()
    for reader in (_read_json, _read_literal):
        value = reader(body)
        names = value.get("API") if isinstance(value, dict) else value
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            return names
    names = [_strip_quotes(name.strip()) for name in body.removeprefix("[").removesuffix("]").split(",")]
    return names if all(name.isidentifier() for name in names) else None


# ----------------------------------------------------------------------
# Gold of CallNavi for another plan.
def gold_of(sample: Sample, plan: Plan) -> Any:
    """The gold of a sample whose right answer would be another plan: its APIs and their parameters.

    Args:
        sample: The sample.
        plan: The plan.

    Raises:
        WriteError: its record cannot say what the plan says.
    """
    return json.loads(write(plan, "callnavi"))
