"""`plan`: the interchange JSON of planner_eval, which can hold every plan.

    {"schema": "planeval.plan/1",
     "calls": [{"id": "c1", "app": "Hotels", "name": "search", "arguments": {"city": "Rome"},
                "returns": ["hotel"]},
               {"id": "c2", "name": "book", "arguments": {"hotel": {"$ref": "c1", "path": ["hotel"]}}}],
     "answer": {"booking": {"$ref": "c2"}}}

``app``, ``returns``, ``result`` and ``answer`` may be left out, and a bare list of calls is a plan too.
Text around references is ``{"$template": ["from ", {"$ref": "c1"}]}``; a literal object that
has one of these keys is wrapped in ``{"$literal": …}``, its values are read as any others. Arguments
of which one repeats are a list of pairs. A reference to no call keeps the name it was written with.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.json_text import (
    ObjectSpans,
    RepeatedKeyDict,
    loads,
    map_object_values,
    object_items,
    unwrap_single,
)
from planner_eval.base.limits import Limits, check_calls
from planner_eval.base.text import JsonObject, to_json
from planner_eval.plan.model import (
    Arguments,
    Diagnostic,
    Plan,
    RawPlan,
    RawRef,
    RawTemplate,
    Ref,
    Unresolved,
    Value,
    fold,
)
from planner_eval.reading.dialects.conversations.answers import note_repeated_keys
from planner_eval.reading.dialects.conversations.messages import call_items
from planner_eval.reading.dialects.dialect import Data, Dialect, json_grammar_reader
from planner_eval.reading.dialects.notations.json_calls import arguments_data, bind_label, read_call

SCHEMA = "planeval.plan/1"
_SPECIAL_KEYS = ("$ref", "$template", "$literal")


def read(text: str, limits: Limits) -> RawPlan:
    """Read a plan in our interchange JSON.

    Raises:
        ParseError: the text is not JSON, or no plan.

    >>> text = '[{"id": "a", "name": "f", "arguments": {"x": {"$ref": "b", "path": [0]}}}]'
    >>> read(text, Limits()).calls[0].arguments
    (('x', RawRef(name='b', path=(0,))),)
    """
    values = loads(text, limits, "plan")
    return read_data(unwrap_single(values), limits, text=text)


def read_data(data: Any, limits: Limits, locations: ObjectSpans | None = None, text: str = "") -> RawPlan:
    """Read a plan from data that is JSON already; see :func:`read`."""
    notes: list[Diagnostic] = []
    answer: Arguments | None = None
    if isinstance(data, dict):
        schema = data.get("schema", SCHEMA)
        if schema != SCHEMA:
            raise ParseError(
                f"the schema is {schema!r}, expected {SCHEMA!r}",
                text=text,
                offset=max(text.find('"schema"'), 0),
                code="parse.shape",
                dialect="plan",
            )
        if isinstance(data.get("answer"), dict):
            answer = tuple((key, _to_raw(value)) for key, value in object_items(data["answer"]))
    listed = data.get("calls", data) if isinstance(data, dict) else data
    items = list(call_items(listed, text))
    check_calls(len(items), limits)
    calls = (
        read_call(item, i, notes, text=text, locations=locations, convert=_to_raw)
        for i, item in enumerate(items)
    )
    labelled = [
        bind_label(call, f"c{i}" if call.label is None else call.label) for i, call in enumerate(calls, 1)
    ]
    return note_repeated_keys(data, RawPlan(tuple(labelled), answer, tuple(notes)), limits)


def _merge_template(pieces: list[Any]) -> Any:
    """Text around references; texts beside one another are one, and without a reference it is all text."""
    merged: list[Any] = []
    for piece in pieces:
        if isinstance(piece, str) and merged and isinstance(merged[-1], str):
            merged[-1] += piece
        elif piece != "":
            merged.append(piece)
    if all(isinstance(piece, str) for piece in merged):
        return "".join(merged)
    return RawTemplate(tuple(merged))


def _to_raw(value: Value) -> Value:
    if isinstance(value, dict):
        if type(value) is RepeatedKeyDict:  # none of our marks: which of the values is meant, nobody knows
            return map_object_values(value, _to_raw)
        if "$ref" in value and value.keys() <= {"$ref", "path"}:
            path = value.get("path", [])
            if not isinstance(path, list) or not all(type(s) in (str, int) for s in path):
                raise ParseError(
                    f"the path of the reference to {value['$ref']!r} is {path!r}, "
                    "expected a list of field names and positions",
                    code="parse.shape",
                    dialect="plan",
                )
            return RawRef(str(value["$ref"]), tuple(path))
        if "$template" in value and len(value) == 1 and isinstance(value["$template"], list):
            pieces = [_to_raw(item) for item in value["$template"]]
            if all(isinstance(piece, (str, RawRef)) for piece in pieces):
                return _merge_template(pieces)
            raise ParseError(
                "a template holds something that is neither a text nor a reference",
                code="parse.shape",
                dialect="plan",
            )
        if "$literal" in value and len(value) == 1:
            inner = value["$literal"]
            if isinstance(inner, dict):
                return map_object_values(inner, _to_raw)
        return {key: _to_raw(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_to_raw(item) for item in value]
    return value


def write(plan: Plan) -> str:
    """Write a plan as interchange JSON, one call a line.

    >>> from planner_eval.plan.model import Call
    >>> print(write(Plan((Call("c1", "f", (("a", 1),)),))))
    {"schema": "planeval.plan/1", "calls": [
      {"id": "c1", "name": "f", "arguments": {"a": 1}}
    ]}
    """
    lines = ",\n".join(f"  {to_json(item)}" for item in to_data(plan)["calls"])
    head = f'{{"schema": "{SCHEMA}", "calls": [' + (f"\n{lines}\n]" if lines else "]")
    if plan.answer is not None:
        head += f', "answer": {to_json(_answer_data(plan))}'
    return head + "}"


def to_data(plan: Plan) -> JsonObject:
    """The plan as the data that :func:`read_data` reads."""
    as_data = _value_converter(plan)
    calls = []
    for call in plan.calls:
        item: JsonObject = {"id": call.id}
        if call.app:
            item["app"] = call.app
        item["name"] = call.name
        written = tuple((key, as_data(value)) for key, value in call.arguments)
        item["arguments"] = arguments_data(written)
        if call.returns:
            item["returns"] = list(call.returns)
        if call.has_result:
            item["result"] = call.result
        calls.append(item)
    data: JsonObject = {"schema": SCHEMA, "calls": calls}
    if plan.answer is not None:
        data["answer"] = _answer_data(plan)
    return data


def _answer_data(plan: Plan) -> JsonObject:
    as_data = _value_converter(plan)
    return {key: as_data(value) for key, value in plan.answer or ()}


def value_data(value: Value, plan: Plan) -> Any:
    """A linked value as interchange JSON.

    >>> from planner_eval.plan.model import Template
    >>> value_data(Template(("at ", Unresolved("v9"))), Plan())
    {'$template': ['at ', {'$ref': 'v9'}]}
    """
    return _value_converter(plan)(value)


def _value_converter(plan: Plan) -> Callable[[Value], Any]:
    def leaf(value: Value) -> Any:
        if not isinstance(value, (Ref, Unresolved)):
            return value
        name = plan.calls[value.call].id if isinstance(value, Ref) else value.name
        return {"$ref": name, "path": list(value.path)} if value.path else {"$ref": name}

    def fields(data: JsonObject) -> JsonObject:
        return {"$literal": data} if any(mark in data for mark in _SPECIAL_KEYS) else data

    def text(pieces: tuple[Any, ...]) -> JsonObject:
        return {"$template": [leaf(piece) for piece in pieces]}

    return partial(fold, leaf=leaf, fields=fields, text=text)


# ---------------------------------------------------------------- recognition
def fits(data: Data) -> str | None:
    """Whether data says our schema, or its calls refer to one another by ``$ref``.

    >>> fits(Data({"schema": "planeval.plan/1"}, [], [], ""))
    'our schema'
    """
    if isinstance(data.value, dict) and str(data.value.get("schema", "")).startswith("planeval.plan/"):
        return "our schema"
    return "$ref references" if any(_has_ref(call) for call in data.calls) else None


def _has_ref(value: Any) -> bool:
    """Whether an object inside refers; a walk of its own for recognition, four times as fast as fold()."""
    if isinstance(value, dict):
        return "$ref" in value or any(_has_ref(item) for item in value.values())
    return isinstance(value, list) and any(_has_ref(item) for item in value)


DIALECT = Dialect(
    name="plan",
    title='the interchange JSON of planner_eval: calls with ids and {"$ref": …} references',
    example='{"schema": "planeval.plan/1", "calls": ['
    '{"id": "c1", "name": "get_rate", "arguments": {"cur": "EUR"}}, '
    '{"id": "c2", "name": "convert", "arguments": {"rate": {"$ref": "c1", "path": ["rate"]}}}]}',
    read=read,
    write=write,
    read_data=read_data,
    reference=json_grammar_reader(
        "plan",
        lambda values, limits, text, locations: read_data(unwrap_single(values), limits, locations, text),
    ),
    answers=True,
    sign=r'(?s)\A\s*+[\[{].*?(?:"\$ref"|"planeval\.plan/)',
    known="JSON with $ref references or our schema",
    fits=fits,
    references='{"$ref": …}',
    note="our own notation, which can hold every plan",
)
