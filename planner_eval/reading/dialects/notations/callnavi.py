"""CallNavi: `{"API": [...], "parameters": [...]}`, its YAML form, and its bare list of names.

``$$$`` stands for a value that is not known yet; nothing says which call fills it, so it stays a text.
Source: CallNavi's data and prompts.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from planner_eval.base.errors import LimitError, ParseError
from planner_eval.base.json_text import ObjectSpans, build_object, check_depth, object_items
from planner_eval.base.limits import Limits, check_calls, long_integer_error
from planner_eval.base.text import JsonObject, to_json
from planner_eval.plan.model import Arguments, Diagnostic, Plan, RawCall, RawPlan
from planner_eval.reading.dialects.conversations.answers import note_repeated_keys
from planner_eval.reading.dialects.conversations.messages import format_value
from planner_eval.reading.dialects.dialect import Data, Dialect
from planner_eval.reading.dialects.programs.syntax import has_leading_zero
from planner_eval.reading.dialects.references import WrittenPlan, refuse_references
from planner_eval.reading.dialects.table import Wrapper, json_dialect

HOLE = "$$$"
MAX_YAML_CHARS = 1_000_000
"""Longer YAML is refused: its reader takes many times the text's size."""


def dialect(row: Wrapper) -> Dialect:
    """The dialect of the shapes ``callnavi`` and ``callnavi-yaml``."""
    if row.shape == "callnavi-yaml":
        return Dialect(row.name, row.title, row.example, read_yaml, write_yaml)
    return json_dialect(row, read_data, write, fits=fits)


def fits(data: Data) -> str | None:
    """Whether data has CallNavi's form."""
    value = data.value
    has_form = isinstance(value, dict) and "API" in value and value.keys() <= {"API", "parameters"}
    return "API and parameters side by side" if has_form else None


def read_data(data: Any, limits: Limits, locations: ObjectSpans | None = None) -> RawPlan:
    """Read names and parameters side by side, or names alone.

    Raises:
        ParseError: it is neither.
    """
    if isinstance(data, list):
        data = {"API": data}
    names = data.get("API") if isinstance(data, dict) else None
    names = [names] if isinstance(names, str) else names
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ParseError(
            f"found {format_value(data)}, expected an object with the lists 'API' and 'parameters'",
            code="parse.shape",
            dialect="callnavi",
        )
    parameters = data.get("parameters") or []
    parameters = [parameters] if isinstance(parameters, dict) else parameters
    if not isinstance(parameters, list):
        raise ParseError(
            f"'parameters' is {format_value(parameters)}, expected a list of objects", code="parse.shape"
        )
    check_calls(len(names), limits)
    notes: list[Diagnostic] = []
    odd = next((key for key in data if "parameters" in key and key != "parameters"), None)
    if odd is not None:
        notes.append(Diagnostic("shape.ignored", f"the key {odd!r} was not read", "warning"))
    if parameters and len(parameters) != len(names):
        message = (
            f"{len(names)} names but {len(parameters)} parameter objects; missing ones mean no parameters"
        )
        notes.append(Diagnostic("shape.length", message, "warning"))
    if len(parameters) > len(names):
        raise ParseError(
            f"{len(names)} names but {len(parameters)} parameter objects; each object needs a name",
            code="parse.shape",
            dialect="callnavi",
        )
    calls = []
    for i, name in enumerate(names):
        entry = parameters[i] if i < len(parameters) else {}
        arguments = _arguments(entry, i)
        span, spans = (locations.span(entry), locations.members(entry)) if locations else (None, ())
        calls.append(RawCall(name, arguments, span=span, spans=spans))
        for key, value in calls[-1].arguments:
            if value == HOLE:
                message = f"{key!r} of call {i + 1} ({name}) is {HOLE}: not known yet"
                notes.append(Diagnostic("value.placeholder", message, "info", i, key))
    return note_repeated_keys(data, RawPlan(tuple(calls), None, tuple(notes)), limits)


def _arguments(entry: Any, position: int) -> Arguments:
    if entry is None:
        return ()
    if not isinstance(entry, dict):
        raise ParseError(
            f"the parameters of call {position + 1} are {format_value(entry)}, expected an object",
            code="parse.shape",
        )
    return object_items(entry)


def read_yaml(text: str, limits: Limits) -> RawPlan:
    """Read the YAML form.

    Raises:
        ParseError: it is no YAML, or not of CallNavi's form.
    """
    try:
        raw = read_data(yaml_data(text, limits), limits)
        return raw._replace(notes=(*raw.notes, *note_octals(text)))
    except ParseError as error:
        error.text = error.text or text
        raise


def yaml_data(text: str, limits: Limits) -> Any:
    """The data of a YAML text, with texts for its keys and its dates.

    Raises:
        ParseError: it is no YAML.
    """
    import yaml

    check_depth(text, limits)
    if len(text) > MAX_YAML_CHARS:
        raise LimitError(
            f"the YAML text has {len(text):,} characters, more than the limit of {MAX_YAML_CHARS:,}"
        )
    deep = re.search(rf"(?:- ){{{limits.depth + 1}}}|\n {{{limits.depth * 4}}}", text)
    if deep:
        raise LimitError(f"the text nests deeper than {limits.depth} levels", text=text, offset=deep.start())
    alias = re.search(r"(?:^|[\s\[,{:])[&*]\w", text)
    if alias:
        raise ParseError(
            "found an anchor or an alias, which plans do not use",
            text=text,
            offset=alias.end() - 2,
            dialect="callnavi-yaml",
        )
    try:
        data = yaml.load(text, Loader=_yaml_loader())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = str(getattr(error, "problem", None) or "this is not YAML")
        raise ParseError(
            reason, text=text, offset=mark.index if mark else 0, dialect="callnavi-yaml"
        ) from None
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        if "integer string conversion" in str(error):
            raise long_integer_error(text) from None
        raise ParseError(f"this is not YAML: {error}", text=text, dialect="callnavi-yaml") from None
    try:
        return _to_json_data(data)
    except ValueError:  # an integer, as a key or as a value, that Python cannot write
        raise long_integer_error(text) from None


@cache
def _yaml_loader() -> Any:
    """The loader that keeps all values of a key which an object repeats, and words and times as texts."""
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        pass

    def read_object(loader: Any, node: Any) -> dict[str, Any]:
        loader.flatten_mapping(node)
        return build_object(
            [(read_key(loader, key), loader.construct_object(value, deep=True)) for key, value in node.value]
        )

    def read_key(loader: Any, key: Any) -> Any:
        is_word = isinstance(key, yaml.ScalarNode)  # `on` names an argument, and is no truth value
        return key.value if is_word else loader.construct_object(key, deep=True)

    Loader.add_constructor("tag:yaml.org,2002:map", read_object)
    Loader.yaml_implicit_resolvers = {
        first: [
            (tag, re.compile(_NO_PLAIN_VALUE + pattern.pattern, re.VERBOSE))
            for tag, pattern in resolvers
            if tag != "tag:yaml.org,2002:timestamp"
        ]
        for first, resolvers in Loader.yaml_implicit_resolvers.items()
    }
    return Loader


_NO_PLAIN_VALUE = r"(?!(?i:y|n|yes|no|on|off)$|[-+\d_]++:)"
"""What is a text in YAML 1.2 and as people mean it: the country NO, the key on, 12:30; dates stay so too."""


_OCTAL = re.compile(r"(?m)(?<=[:\-,\[] )[ \t]*+([+-]?0[0-7]++)(?=[ \t]*+(?:[,}\]]|$))")


def note_octals(text: str) -> Iterator[Diagnostic]:
    """A note on each number with a zero before it, which YAML takes for octal."""
    for match in filter(lambda match: has_leading_zero(match[1]), _OCTAL.finditer(text)):
        message = f"{match[1]} is read as {int(match[1], 8)}: YAML takes it for octal; a code needs quotes"
        yield Diagnostic("value.computed", message, "warning", None, None, match.span(1))


def _to_json_data(value: Any) -> Any:
    """YAML's dates and times as texts, its keys as texts."""
    if isinstance(value, dict):
        doubled = next((key for key in value if isinstance(key, str) and key.endswith(":")), None)
        if doubled is not None:
            raise ParseError(
                f"found two colons after the key {doubled[:-1]!r}, expected one", code="parse.shape"
            )
        return build_object([(str(key), _to_json_data(item)) for key, item in object_items(value)])
    if isinstance(value, set):  # one value, one order
        value = sorted(value, key=lambda item: (type(item).__name__, str(item)))
    if isinstance(value, (list, tuple)):
        return [_to_json_data(item) for item in value]
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    if type(value) is int:
        str(value)  # a ValueError where it is too long
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def write(plan: Plan) -> str:
    """Write names and parameters side by side."""
    return to_json(_plan_data(plan, "callnavi"))


_LINE_WIDTH = 1 << 30
"""A line's width that no text has: where one is broken, the next could begin with what is a token there."""


def write_yaml(plan: Plan) -> str:
    """Write the YAML form.

    A text in which what a chat template writes could stand is put in quotes, where it is the value's own.
    """
    import yaml

    from planner_eval.reading.dialects.detect import find_opening_tokens

    class Dumper(yaml.SafeDumper):
        def represent_str(self, data: str) -> Any:
            quoted = any(sign in data for sign in "<[#\x1b") or find_opening_tokens(data)
            return self.represent_scalar("tag:yaml.org,2002:str", data, style='"' if quoted else None)

    Dumper.add_representer(str, Dumper.represent_str)
    text = yaml.dump(
        _plan_data(plan, "callnavi-yaml"),
        Dumper=Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=_LINE_WIDTH,
    )
    return str(text)


def _plan_data(plan: Plan, dialect: str) -> JsonObject:
    refuse_references(plan, dialect)
    calls = WrittenPlan(plan).calls
    return {"API": [call.name for call in calls], "parameters": [call.arguments for call in calls]}
