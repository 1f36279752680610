"""NESTful: JSON calls with labels, references `$var_1.result$`, and a closing `var_result`.

Source: NESTful's data files: version 1 writes bare labels (`var1`) and paths with field names,
blanks and indices (`$var1.recipes[0].id$`); version 2 writes the label with a dollar sign
(`$var_1`), a reference adds one only at its end.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from planner_eval.base.errors import WriteError
from planner_eval.base.frozen import replace
from planner_eval.base.json_text import (
    ObjectSpans,
    loads,
    map_object_values,
    object_items,
    parse_located,
    unwrap_single,
)
from planner_eval.base.limits import Limits, check_calls
from planner_eval.base.text import JsonObject, to_json
from planner_eval.plan.model import (
    Arguments,
    Diagnostic,
    Path,
    Plan,
    RawCall,
    RawPlan,
    RawRef,
    RawTemplate,
    Ref,
    Unresolved,
    Value,
    fold,
    read_references_in,
    references,
)
from planner_eval.reading.dialects.conversations.answers import note_repeated_keys
from planner_eval.reading.dialects.conversations.messages import call_items, is_plain_call, plain_call_label
from planner_eval.reading.dialects.dialect import Data, Dialect
from planner_eval.reading.dialects.notations.json_calls import arguments_data, bind_label, read_call

ANSWER_NAME = "var_result"
"""The pseudo call whose arguments name what the user gets; it is no tool."""

REFERENCE = re.compile(r"\$([A-Za-z_]\w*+)((?:\.[^$.\[\]]++|\[\d++\])*+)\$")
_PATH_STEP = re.compile(r"\.([^$.\[\]]++)|\[(\d++)\]")
_UNCLOSED_REFERENCE = re.compile(r"\$([^\s$.\[\]]++)(?:[.\[][^\s$]*+)?")
_BROKEN_REFERENCE = re.compile(r"([A-Za-z_]\w*+)(?:\.[^$.\[\]\s]++)*+\$")


def read(text: str, limits: Limits) -> RawPlan:
    """Read a text of NESTful calls.

    Raises:
        ParseError: the text is not JSON, or its JSON holds something that is no call.

    >>> read('[{"name": "f", "label": "v1", "arguments": {"a": "$v0.x[2]$"}}]', Limits()).calls[0].arguments
    (('a', RawRef(name='v0', path=('x', 2))),)
    """
    values = loads(text, limits, "nestful")
    return read_data(unwrap_single(values), limits, text=text)


def read_data(data: Any, limits: Limits, locations: ObjectSpans | None = None, text: str = "") -> RawPlan:
    """Read NESTful calls from data that is JSON already; see :func:`read`."""
    if locations is None and type(data) is list and data and all(map(is_plain_call, data)):
        return read_plain(data, limits)

    def call(item: JsonObject, position: int, notes: list[Diagnostic]) -> RawCall:
        return read_call(item, position, notes, text=text, locations=locations, convert=read_references)

    return _read_plan(data, limits, text, _TextReaders(call, _strip_label, _find_broken_label))


def read_plain(items: list[JsonObject], limits: Limits) -> RawPlan:
    """What :func:`_read_plan` makes of calls that are a name, arguments and perhaps a label, as most are."""
    check_calls(len(items), limits)
    notes: list[Diagnostic] = []
    closing = items[-1]
    answer = None
    if closing["name"] == ANSWER_NAME and "label" not in closing:
        answer, items = _convert_references(closing, []), items[:-1]
    calls = []
    left: list[str] = []
    for item in items:
        label = plain_call_label(item)
        arguments = _convert_references(item, left)
        if label is None:
            calls.append(RawCall(item["name"], arguments))
        else:
            label = label.strip("$")
            calls.append(RawCall(item["name"], arguments, None, label, ((label, ()),)))
    calls_read = tuple(calls)
    if left:  # a text that ends like a reference and is none is all that there may be to say
        _note_broken(calls_read, notes, _find_broken_label)
    return RawPlan(calls_read, answer, tuple(notes))


def _convert_references(item: JsonObject, left: list[str]) -> Arguments:
    """The arguments of a plain call, their references read; `left` takes texts with a '$' that are none."""
    pairs = object_items(item["arguments"])
    converted: list[tuple[str, Value]] | None = None
    for index, (name, value) in enumerate(pairs):
        if type(value) is str:
            if "$" not in value:
                continue
            reference: Value = _read_text(value)
            if reference is value:
                left.append(value)
                continue
        elif isinstance(value, (list, dict)):
            reference = read_references(value)
        else:
            continue
        if converted is None:
            converted = [*pairs]
        converted[index] = (name, reference)
    return pairs if converted is None else tuple(converted)


def read_grammar(text: str, limits: Limits) -> RawPlan:
    """Read by the Lark grammars, JSON's and that of the texts in it: the reference for :func:`read`.

    Raises:
        ParseError: with the place and what was expected there.

    >>> read_grammar('[{"name": "f", "arguments": {"a": "$v0$"}}]', Limits()).calls[0].arguments[0][1].span
    (35, 39)
    """
    from planner_eval.reading.dialects.programs import grammars

    located = parse_located(text, "nestful")
    locations, subtrees = ObjectSpans(located), grammars.index_by_span(located)

    def call(item: JsonObject, position: int, notes: list[Diagnostic]) -> RawCall:
        read = read_call(item, position, notes, text=text, locations=locations)
        return replace(read, arguments=grammars.read_arguments(read, text, subtrees))

    data = unwrap_single(locations.values)
    return _read_plan(data, limits, text, _TextReaders(call, grammars.read_label, grammars.find_broken_label))


class _TextReaders(NamedTuple):
    """One way to read what stands in NESTful's texts.

    Args:
        call: A call out of its object, its references read; given the position and a list for notes.
        label: A label's name.
        broken: The label of a reference without its first dollar sign; None of other texts.
    """

    call: Callable[[JsonObject, int, list[Diagnostic]], RawCall]
    label: Callable[[str], str]
    broken: Callable[[str], str | None]


def _read_plan(data: Any, limits: Limits, text: str, texts: _TextReaders) -> RawPlan:
    notes: list[Diagnostic] = []
    items = list(call_items(data, text))
    check_calls(len(items), limits)
    answer: Arguments | None = None
    if items and items[-1].get("name") == ANSWER_NAME and "label" not in items[-1]:
        closing = texts.call(items.pop(), len(items), notes)
        answer = closing.arguments
    unbound = (texts.call(item, i, notes) for i, item in enumerate(items))
    calls = tuple(c if c.label is None else bind_label(c, texts.label(c.label)) for c in unbound)
    _note_broken(calls, notes, texts.broken)
    return note_repeated_keys(data, RawPlan(calls, answer, tuple(notes)), limits)


def _note_broken(
    calls: tuple[RawCall, ...], notes: list[Diagnostic], broken: Callable[[str], str | None]
) -> None:
    """Report texts that hold a label as a reference does, but lack one of the two dollar signs."""
    labels = {call.label for call in calls if call.label is not None}
    for i, call in enumerate(calls):
        for k, (argument, value) in enumerate(call.arguments):
            if type(value) is not str or "$" not in (value[:1], value[-1:]):
                continue
            unclosed = _UNCLOSED_REFERENCE.fullmatch(value)
            if (unclosed and unclosed[1] in labels) or (value[-1] == "$" and broken(value) in labels):
                which = "last" if unclosed else "first"
                message = f"{argument!r} of call {i + 1} is {value!r}: a reference without its {which} '$'?"
                span = call.spans[k] if call.spans else None
                notes.append(Diagnostic("reference.malformed", message, "error", i, argument, span))


def _strip_label(text: str) -> str:
    return text.strip("$")


def _find_broken_label(text: str) -> str | None:
    match = _BROKEN_REFERENCE.fullmatch(text)
    return match[1] if match else None


def read_references(value: Value) -> Value:
    """A value with its reference texts turned into RawRefs and RawTemplates, at any depth.

    >>> read_references({"sum": "5 * $var1.Exchange Rate$", "price": "$100-$200"})["sum"].parts
    ('5 * ', RawRef(name='var1', path=('Exchange Rate',)))
    """
    kind = type(value)
    if kind is str:
        return _read_text(value) if "$" in value else value
    if kind is list:
        return [read_references(item) for item in value]
    return map_object_values(value, read_references) if isinstance(value, dict) else value


def _read_text(text: str) -> str | RawRef | RawTemplate:
    whole_match = REFERENCE.fullmatch(text)
    if whole_match:
        name, path_text = whole_match.groups()
        return RawRef(name, _parse_path(path_text))
    return read_references_in(text, REFERENCE, lambda match: RawRef(match[1], _parse_path(match[2])))


def _parse_path(text: str) -> Path:
    """The fields and positions of a way; a position that no list has is a field of that name."""
    if "[" not in text and text.count(".") == 1:  # as most are
        return (text[1:],)
    steps = _PATH_STEP.findall(text) if text else ()
    return tuple((int(index) if len(index) < 10 else index) if index else field for field, index in steps)


def write(plan: Plan) -> str:
    """Write a plan in NESTful's notation; labels are the calls' ids where they are words.

    Raises:
        WriteError: a field name in a path holds '.', '$' or a bracket, or a text in the plan would
            read as a reference.

    >>> from planner_eval.plan.model import Call
    >>> import json
    >>> from planner_eval.plan.model import Call
    >>> text = write(Plan((Call("v1", "f"), Call("v2", "g", (("a", Ref(0, ("x", 1))),)))))
    >>> json.loads(text)[1]
    {'name': 'g', 'arguments': {'a': '$v1.x[1]$'}, 'label': 'v2'}
    """
    labels = labels_of(plan)
    items: list[JsonObject] = []
    for call, label in zip(plan.calls, labels, strict=True):
        arguments = _format_arguments(call.arguments, labels)
        items.append({"name": call.name, "arguments": arguments, "label": label})
        if call.app:
            items[-1] = {"app": call.app, **items[-1]}
    if plan.answer is not None:
        items.append({"name": ANSWER_NAME, "arguments": _format_arguments(plan.answer, labels)})
    return to_json(items)


def labels_of(plan: Plan) -> list[str]:
    """A label for each call: its id where that is a word, else a fresh varN; none names nothing else."""
    values = [v for call in plan.calls for _, v in call.arguments] + [v for _, v in plan.answer or ()]
    unresolved = {ref.name for v in values for _, ref in references(v) if isinstance(ref, Unresolved)}
    used_names = {call.id for call in plan.calls} | unresolved
    labels = []
    for i, call in enumerate(plan.calls):
        label, copy = call.id, i
        while not re.fullmatch(r"[A-Za-z_]\w*", label) or label in unresolved:
            copy += 1
            label = f"var{copy}" if f"var{copy}" not in used_names else call.id
            if label == f"var{copy}":
                used_names.add(label)
                break
        labels.append(label)
    return labels


def _format_arguments(arguments: Arguments, labels: list[str]) -> Any:
    def leaf(value: Value) -> Value:
        if isinstance(value, (Ref, Unresolved)):
            return _format_reference(value, labels)
        if isinstance(value, str) and "$" in value and not isinstance(_read_text(value), str):
            raise WriteError(f"the text {value!r} would be read as a reference in the dialect 'nestful'")
        return value

    def text(pieces: tuple[Any, ...]) -> str:
        return "".join(
            piece if isinstance(piece, str) else _format_reference(piece, labels) for piece in pieces
        )

    return arguments_data(tuple((name, fold(value, leaf, text=text)) for name, value in arguments))


def _format_reference(ref: Ref | Unresolved, labels: list[str]) -> str:
    name = labels[ref.call] if isinstance(ref, Ref) else ref.name
    text = f"${name}{''.join(f'[{s}]' if isinstance(s, int) else f'.{s}' for s in ref.path)}$"
    back = _read_text(text)
    if not (isinstance(back, RawRef) and back.path == ref.path):
        raise WriteError(f"the path {list(ref.path)!r} cannot be expressed in the dialect 'nestful'")
    return text


# ---------------------------------------------------------------- recognition
_SIGN = re.compile(r'"label"\s*+:|\$[A-Za-z_]\w*+(?:\.[^$"]++|\[\d++\])*+\$')


def fits(data: Data) -> str | None:
    """Whether calls have labels, or texts like ``$name$``.

    >>> fits(Data(None, [], [{"name": "f", "arguments": {"a": "$v1.x$"}}], ""))
    'labels or $name$ references'
    """
    for call in data.calls:  # most have a label: a loop is half as dear as any()
        if isinstance(call.get("label"), str) or _has_reference(call):
            return "labels or $name$ references"
    return None


def _has_reference(value: Any) -> bool:
    """Whether a text inside refers; a walk of its own for recognition, four times as fast as leaves()."""
    if isinstance(value, str):
        return "$" in value and _SIGN.search(value) is not None
    if isinstance(value, dict):
        return any(_has_reference(item) for item in value.values())
    return isinstance(value, list) and any(_has_reference(item) for item in value)


DIALECT = Dialect(
    name="nestful",
    title="NESTful: JSON calls with labels and references such as $var_1.result$",
    example='[{"name": "add", "label": "$var_1", "arguments": {"arg_0": 2, "arg_1": 3}}, '
    '{"name": "multiply", "label": "$var_2", "arguments": {"arg_0": "$var_1.result$", "arg_1": 4}}]',
    read=read,
    write=write,
    read_data=read_data,
    read_plain=read_plain,
    reference=read_grammar,
    answers=True,
    sign=rf"(?s)\A\s*+[\[{{].*?(?:{_SIGN.pattern})",
    known="JSON with labels or $name$ references",
    fits=fits,
    references="$var_1.result$",
    note="gold plans of NESTful, versions 1 and 2",
    rows=(41,),
)
