"""An answer to CallNavi as a plan, and gold for another plan.

Source: paper section 5.1: an answer that is not valid is repaired before its structure is judged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from types import NoneType
from typing import Any, TypeAlias

from planner_eval.base.errors import ParseError
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.json_text import JSON_WHITESPACE, build_object, fast_json_loads
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.python_calls import MAX_CHARS, read_literal
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.finding.thoughts import strip_thoughts
from planner_eval.reading.dialects.read import parse, write

# ----------------------------------------------------------------------
# From the text that a model wrote to the data that CallNavi's scorer sees.
#
# Nothing is evaluated and nothing raises: what the published code could not dump is a :class:`WashedAnswer`
# that names the exception.
#
# Source: CallNavi's washing scripts; paper section 5.1 (syntax validity), appendix E.4 (YAML).
MAX_JSON_CHARS = 16 * 2**20
"""Longer JSON texts are refused, and counted as unreadable."""
MAX_YAML_CHARS = 256 * 2**10
"""Longer YAML texts are refused: the YAML parser is a thousand times slower than the JSON parser."""
MAX_YAML_NODES = 1_000_000
"""YAML whose aliases stand for more nodes than this is refused: ten short lines can mean billions."""

Reader = Callable[[str], "WashedAnswer"]
"""What makes data of text: :func:`wash_json`, :func:`read_json` and their YAML twins."""


@fast_frozen
class WashedAnswer:
    """What is left of a prediction after washing.

    Args:
        value: The data; ``{}`` where the text could not be parsed.
        valid: The text could be parsed, so that it counts towards syntax validity.
        error: ``"LimitError: …"`` for a text that is refused, or the exception with which the
            published washing ends on it; None otherwise.
    """

    value: Any
    valid: bool
    error: str | None = None


def wash_json(text: str) -> WashedAnswer:
    r"""Quotes made double, code fences deleted, the rest read as JSON.

    An apostrophe inside a string becomes a quote as well, so correct JSON with one is not valid.

    Args:
        text: A model's answer as written.

    >>> wash_json("```json\n{'API': []}\n```")
    WashedAnswer(value={'API': []}, valid=True, error=None)
    >>> wash_json('Here it is: {}').valid
    False
    """
    return read_json(text.replace("'", '"').replace("```json", "").replace("```", ""))


def read_json(text: str) -> WashedAnswer:
    """The text read as JSON as it stands: how a repaired answer is read."""
    if len(text) > MAX_JSON_CHARS:
        return _refuse_text(f"{len(text)} characters, at most {MAX_JSON_CHARS} are read")
    try:
        return WashedAnswer(fast_json_loads(text.strip(JSON_WHITESPACE)), True)
    except (ValueError, RecursionError):
        return WashedAnswer({}, False)


def wash_yaml(text: str) -> WashedAnswer:
    r"""Quotes made double, the word "yaml" before a line's end and fences deleted, the rest read as YAML.

    Dates become texts and keys are sorted, for the published scripts hand the data on as sorted JSON.

    Args:
        text: A model's answer as written.

    >>> wash_yaml("API:\n- pay\nparameters:\n- {day: 2024-05-01}").value
    {'API': ['pay'], 'parameters': [{'day': '2024-05-01'}]}
    >>> wash_yaml("Sorry, I cannot help.").valid
    True
    """
    return read_yaml(text.replace("'", '"').replace("yaml\n", "").replace("```", ""))


def read_yaml(text: str) -> WashedAnswer:
    """The text read as YAML as it stands: how a repaired answer is read."""
    if len(text) > MAX_YAML_CHARS:
        return _refuse_text(f"{len(text)} characters, at most {MAX_YAML_CHARS} are read")
    import yaml

    try:
        if "*" in text and "&" in text and _count_expanded_nodes(text) > MAX_YAML_NODES:
            return _refuse_text(f"the YAML aliases expand to more than {MAX_YAML_NODES} nodes")
        value = yaml.load(text, Loader=_yaml_loader(text))
    except Exception:  # the YAML parser lets KeyError, IndexError and more out on bad tags
        return WashedAnswer({}, False)
    try:
        return WashedAnswer(json.loads(json.dumps(value, sort_keys=True, default=_as_text)), True)
    except (TypeError, ValueError, RecursionError) as problem:
        # Python's two JSON writers word it differently; the published scripts use the one without modules.
        reason = str(problem).replace("not datetime.", "not ")
        return WashedAnswer({}, True, f"{type(problem).__name__}: {reason}")


def _refuse_text(reason: str) -> WashedAnswer:
    return WashedAnswer({}, False, f"LimitError: {reason}")


_PLAIN_YAML = re.compile(r"""(?:[\n A-Za-z0-9{}\[\],"'\-._/$+()=~;^<]++|:(?![\[\]{},]))*+""")
"""Texts that both of PyYAML's parsers read alike, and refuse alike."""
_MAX_LEVELS = 100


def _yaml_loader(text: str) -> Any:
    """The parser of YAML: the one in C, ten times as fast, where it takes a text as Python's does.

    It reads tabs, byte order marks, tags and block texts otherwise, and goes deeper.
    """
    import yaml

    levels = text.count("[") + text.count("{") + text.count("- -")
    if levels > _MAX_LEVELS or " " * _MAX_LEVELS in text or _PLAIN_YAML.fullmatch(text) is None:
        return yaml.SafeLoader
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _as_text(value: object) -> str:
    """``str(value)``, in a fixed order for a set."""
    if isinstance(value, set):
        return "{" + ", ".join(sorted(map(repr, value))) + "}" if value else "set()"
    return str(value)


def _count_expanded_nodes(text: str) -> int:
    """How many nodes the text stands for once every alias is replaced; stops above the limit."""
    import yaml

    total = 0
    sizes: dict[str, int] = {}
    opened: list[tuple[str | None, int]] = []
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            total += sizes.get(event.anchor or "", 1)
        elif isinstance(event, yaml.ScalarEvent):
            total += 1
            if event.anchor:
                sizes[event.anchor] = 1
        elif isinstance(event, yaml.CollectionStartEvent):
            opened.append((event.anchor, total))
            total += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = opened.pop()
            if anchor:
                sizes[anchor] = total - before
        if total > MAX_YAML_NODES:
            break
    return total


# ----------------------------------------------------------------------
# An answer to CallNavi as a plan: strictly where it is what was asked for, else by careful repair.
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


def read_answer(text: str, *, notation: str = "json") -> PredictedPlan:
    r"""The answer's calls, and whether it is valid as it stands.

    Args:
        text: What the model wrote.
        notation: ``"json"`` or ``"yaml"``.

    >>> read_answer('{"API": ["pay"], "parameters": [{"to": "Ann\'s"}]}').calls
    (['pay'], [{'to': "Ann's"}])
    >>> fenced = read_answer("```json\n{'API': ['pay'], 'parameters': [{}]}\n```")
    >>> fenced.valid, fenced.calls
    (False, (['pay'], [{}]))
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
    if _is_cut_object(text.strip()):
        return PredictedPlan(None, False, "parse.cut")
    try:
        plan = parse(text)
    except ParseError as problem:
        return PredictedPlan(None, False, problem.code)
    # Every question of the benchmark wants calls: prose without any is what a model is asked to repair.
    return (
        PredictedPlan(_plan_calls(plan), False) if plan.calls else PredictedPlan(None, False, "plan.no_call")
    )


def _is_cut_object(text: str) -> bool:
    """Whether a text is the beginning of a JSON object and no more, in which :func:`parse` finds no calls."""
    if text[:1] != "{" or text[-1:] in "}]" or "```" in text or len(text) > MAX_CHARS:
        return False
    try:
        _DECODER.raw_decode(text)
    except json.JSONDecodeError as problem:
        in_string = problem.msg.startswith("Unterminated string")
        return (in_string or problem.pos == len(text)) and text.count("[") + text.count("{") < _MAX_BRACKETS
    except RecursionError:
        pass
    return False


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
    if "API" not in text or _API_FIELD.search(text) is None or _API_LINE.search(text) is None:
        return _NO_VALUE
    if text[:1] == "{" and text[-1:] != "}" and "#" not in text and "..." not in text:
        return _NO_VALUE  # neither a comment nor a mark of the end follows the mapping
    value = _read_yaml(text)
    return value if value is _NO_VALUE or "API" in value else _NO_VALUE


_API_FIELD = re.compile(r"(?:\A|[\s\ufeff{,\"'?])API(?=[\s\"':,}]|\Z)|\\")
_API_LINE = re.compile(r"(?:\A|[\n\r\x85\u2028\u2029])(?:API|[^\w\s])")
"""What stands in every YAML mapping with the key API: the key, and a line that begins with it or a sign."""


_LITERAL_STARTS = ("{", "[", "(", "#", "\\")
"""How lists and dicts begin in Python; a comment or a continued line may stand before."""


def _read_literal(text: str) -> Any:
    """A Python list or dict (single quotes, True, None); parsed into a tree of constants, never evaluated."""
    is_cut = text[-1:] not in "}])" and "#" not in text
    if is_cut or len(text) > MAX_CHARS or text[:1] not in _LITERAL_STARTS:
        return _NO_VALUE
    if text.isascii():
        if (  # Python's reader is needed for other spellings, and for what nests deeply
            _UNLIKE_PYTHON.search(text) is None
            and not ("'" in text and '"' in text)
            and text.count("[") + text.count("{") < _MAX_BRACKETS
        ):
            quoted = text.replace("'", '"')
            if _LAST_COMMA.search(quoted):
                quoted = _TEXT_OR_LAST_COMMA.sub(lambda m: m[1] or m[2], quoted)  # a template is slower
            try:
                return _DECODER.decode(quoted)
            except ValueError:
                pass  # a number of Python's, or no literal
    elif "'" not in text and '"' not in text and "#" not in text:
        return _NO_VALUE  # other signs stand in texts and comments alone
    if _begins_with_json(text):
        return _NO_VALUE
    try:
        return read_literal(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return _NO_VALUE


def _begins_with_json(text: str) -> bool:
    """Whether words follow a JSON value: Python's parser, ten times as slow, refuses such a text."""
    try:
        _, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return False
    return text[end:].lstrip()[:1] not in ("", ",", "#", "\\")


_UNLIKE_PYTHON = re.compile(r"""[\\#]|true|false|null|NaN|Infinity""")
_LAST_COMMA = re.compile(r",\s*+[\]}]")
_TEXT_OR_LAST_COMMA = re.compile(r'("[^"]*+"|[\w\]}]),(?=\s*+[\]}])|("[^"]*+")')
_MAX_BRACKETS = 100
"""Python's parser takes fewer levels than JSON's."""


_READERS = (_read_json, _read_literal, _read_api_yaml)


def _plan_calls(plan: Plan) -> Calls:
    return [call.name for call in plan.calls], [build_object(list(call.arguments)) for call in plan.calls]


def calls_of(value: Any) -> Calls:
    """The calls of a decoded answer: CallNavi's own object, or calls in any structure that is known.

    A missing parameter object, or null in its place, means no parameters; a single object may stand without
    its list, as in the paper's appendix A, and each call may be an object of its own.

    Args:
        value: ``{"API": [name, …], "parameters": [{key: value}, …]}``, or other data.

    Raises:
        ParseError: the data holds no calls.

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
        _refuse_shape("API is not a list of names")
    if not isinstance(entries, list) or [
        entry for entry in entries if not isinstance(entry, (dict, NoneType))
    ]:
        _refuse_shape("parameters is not a list of objects")
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
