"""Planting one fault that a catalog may show in a plan: in a name, a value or a reference."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random

from planner_eval.catalogs.catalog import Catalog, Tool
from planner_eval.catalogs.check import find_tool
from planner_eval.plan.model import Call, Plan, Ref, Unresolved, Value, references
from planner_eval.reading.dialects.notations.plan import to_data
from planner_eval.reading.dialects.read import parse
from tests.conftest import tables

TABLES = tables(__file__)

SYNONYMS = TABLES["SYNONYMS"]
"""Words that a model may put for others: partly such as the code knows, partly not."""


def typo(text: str, random: Random) -> str:
    """One letter left out, doubled, exchanged with the next, or another."""
    at = random.randrange(len(text))
    kind = random.randrange(4)
    if kind == 0 and len(text) > 3:
        return text[:at] + text[at + 1 :]
    if kind == 1:
        return text[:at] + text[at] + text[at:]
    if kind == 2 and at + 1 < len(text) and text[at] != text[at + 1]:
        return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    return text[:at] + random.choice([c for c in "abcdefghiklmnoprstu" if c != text[at]]) + text[at + 1 :]


def cased(text: str, random: Random) -> str:
    """The same words in another way of writing names."""
    words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", text)] or [text]
    forms = ["_".join(words), words[0] + "".join(word.title() for word in words[1:]), "-".join(words),
             "".join(word.title() for word in words), "".join(words).upper()]  # fmt: skip
    forms = [form for form in forms if form != text]
    return random.choice(forms) if forms else text


def synonym(text: str, random: Random) -> str | None:
    """The name with one word another of the same meaning; None where none is known."""
    hits = [word for word in SYNONYMS if word in text.lower()]
    if not hits:
        return None
    word = max(hits, key=len)
    at = text.lower().index(word)
    return text[:at] + SYNONYMS[word] + text[at + len(word) :]


def _with(plan: Plan, at: int, call: Call) -> Plan:
    """The plan with one call another, its references linked anew."""
    data = to_data(replace(plan, calls=(*plan.calls[:at], call, *plan.calls[at + 1 :])))
    return replace(parse(data, dialect="plan"), dialect=plan.dialect)


def _argument(plan: Plan, random: Random, fits: Callable[[Value], bool]) -> tuple[int, int] | None:
    places = [
        (at, number)
        for at, call in enumerate(plan.calls)
        for number, (_, value) in enumerate(call.arguments)
        if fits(value)
    ]
    return random.choice(places) if places else None


def _set(plan: Plan, place: tuple[int, int], name: str, value: Value) -> Plan:
    at, number = place
    call = plan.calls[at]
    pairs = (*call.arguments[:number], (name, value), *call.arguments[number + 1 :])
    return _with(plan, at, replace(call, arguments=pairs, spans=()))


def _tools(plan: Plan, catalog: Catalog) -> list[Tool | None]:
    return [find_tool(call, catalog) for call in plan.calls]


def _renamed(plan: Plan, random: Random, change: Callable[[str, Random], str | None]) -> Plan | None:
    at = random.randrange(len(plan.calls))
    name = change(plan.calls[at].name, random)
    return _with(plan, at, replace(plan.calls[at], name=name)) if name else None


def app_wrong(plan: Plan, catalog: Catalog, random: Random) -> Plan | None:
    at = random.randrange(len(plan.calls))
    call = plan.calls[at]
    others = [app for app in catalog.apps if app != call.app]
    return _with(plan, at, replace(call, app=random.choice(others))) if call.app and others else None


def app_left_out(plan: Plan, catalog: Catalog, random: Random) -> Plan | None:
    at = random.randrange(len(plan.calls))
    return _with(plan, at, replace(plan.calls[at], app=None)) if plan.calls[at].app else None


def _dropped(plan: Plan, catalog: Catalog, random: Random, *, reference: bool) -> Plan | None:
    tools = _tools(plan, catalog)
    places = [
        (at, number)
        for at, call in enumerate(plan.calls)
        for number, (name, value) in enumerate(call.arguments)
        if (tool := tools[at]) is not None
        and any(each.name == name and each.required for each in tool.parameters)
        and (next(references(value), None) is not None) == reference
    ]
    if not places:
        return None
    at, number = random.choice(places)
    call = plan.calls[at]
    pairs = (*call.arguments[:number], *call.arguments[number + 1 :])
    return _with(plan, at, replace(call, arguments=pairs, spans=()))


def _misnamed(plan: Plan, random: Random, change: Callable[[str, Random], str | None]) -> Plan | None:
    place = _argument(plan, random, lambda value: True)
    if place is None:
        return None
    name, value = plan.calls[place[0]].arguments[place[1]]
    new = change(name, random)
    taken = {key for key, _ in plan.calls[place[0]].arguments}
    return _set(plan, place, new, value) if new and new not in taken else None


def _pointed(plan: Plan, random: Random, change: Callable[[int, Ref], Value | None]) -> Plan | None:
    place = _argument(plan, random, lambda value: isinstance(value, Ref))
    if place is None:
        return None
    name, value = plan.calls[place[0]].arguments[place[1]]
    new = change(place[0], value)
    return _set(plan, place, name, new) if new is not None and new != value else None


def label_broken(plan: Plan, catalog: Catalog, random: Random) -> Plan | None:
    """A label that no call has: a typo of the right one, or the number of another."""
    taken = {call.id for call in plan.calls}

    def change(at: int, ref: Ref) -> Value | None:
        label = plan.calls[ref.call].id
        new = random.choice([typo(label, random), label.rstrip("0123456789") + str(len(plan.calls) + 7)])
        return Unresolved(new, ref.path) if new not in taken else None

    return _pointed(plan, random, change)


def output_broken(plan: Plan, catalog: Catalog, random: Random) -> Plan | None:
    """A name of an output that is none: a typo, another way of writing it, a synonym."""

    def change(at: int, ref: Ref) -> Value | None:
        if not ref.path or not isinstance(ref.path[0], str):
            return None
        how = random.choice([typo, cased, synonym])
        name = how(ref.path[0], random)
        return replace(ref, path=(name, *ref.path[1:])) if name else None

    return _pointed(plan, random, change)


def _elsewhere(plan: Plan, random: Random, places: Callable[[int, int], Sequence[int]]) -> Plan | None:
    """The same way into another call, one of those `places`."""

    def change(at: int, ref: Ref) -> Value | None:
        others = [place for place in places(at, len(plan.calls)) if place != ref.call]
        return replace(ref, call=random.choice(others)) if others else None

    return _pointed(plan, random, change)


def output_wrong(plan: Plan, catalog: Catalog, random: Random) -> Plan | None:
    """Another output that the same call has."""
    tools = _tools(plan, catalog)

    def change(at: int, ref: Ref) -> Value | None:
        tool = tools[ref.call]
        fields = [each.name for each in tool.returns.fields] if tool is not None else []
        others = [name for name in fields if (name,) != ref.path]
        return replace(ref, path=(random.choice(others),)) if others else None

    return _pointed(plan, random, change)


def calls_reordered(plan: Plan, catalog: Catalog, random: Random) -> Plan | None:
    """A call written before one that it needs."""
    if not plan.edges:
        return None
    edge = random.choice(plan.edges)
    data = to_data(plan)
    calls = data["calls"]
    calls.insert(edge.producer, calls.pop(edge.consumer))
    return replace(parse(data, dialect="plan"), dialect=plan.dialect)


def reference_as_text(plan: Plan, catalog: Catalog, random: Random) -> Plan | None:
    def change(at: int, ref: Ref) -> Value | None:
        label = plan.calls[ref.call].id
        whole = ".".join(map(str, (label, *ref.path)))
        forms = [whole, f"${whole}", f"${{{whole}}}", f"{{{{{whole}}}}}"]
        if plan.dialect == "appbench":  # its references are the names of outputs
            forms = [str(ref.path[0])] if ref.path else []
        return random.choice(forms) if forms else None

    return _pointed(plan, random, change)


_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
          "twelve"]  # fmt: skip


def literal_type(plan: Plan, catalog: Catalog, random: Random) -> Plan | None:
    """A literal of another type than the tool takes: text for a number, yes for true, a list for an item …"""
    tools = _tools(plan, catalog)
    place = _argument(plan, random, lambda value: value is not None and next(references(value), None) is None)
    if place is None:
        return None
    name, value = plan.calls[place[0]].arguments[place[1]]
    tool = tools[place[0]]
    kind = next((each.type for each in tool.parameters if each.name == name), None) if tool else None
    return _set(plan, place, name, new) if (new := _retyped(value, kind, random)) is not None else None


def _retyped(value: Value, kind: object, random: Random) -> Value | None:
    listed = getattr(kind, "enum", None)
    made: list[Value] = []
    if isinstance(value, bool):
        made = ["yes" if value else "no", "true" if value else "false", int(value)]
    elif isinstance(value, (int, float)):
        made = [str(value), [value], f"{value} units"]
        made += [_WORDS[value]] if isinstance(value, int) and 0 <= value < len(_WORDS) else []
    elif isinstance(value, list):
        made = [str(value).replace("'", '"'), ", ".join(map(str, value))]
        made += value if len(value) == 1 else []
    elif isinstance(value, dict):
        made = [json.dumps(value)]
    elif isinstance(value, str) and listed:
        made = [value.upper(), value.lower()] + ([typo(value, random)] if len(value) > 3 else [])
    elif isinstance(value, str):
        made = [[value], {"value": value}]
        if value.isdecimal() and int(value) < len(_WORDS):
            made = [_WORDS[int(value)]]
        if value.lower() in ("true", "false"):
            made = ["yes" if value.lower() == "true" else "no"]
    made = [one for one in made if one != value or type(one) is not type(value)]
    return random.choice(made) if made else None


Fault = Callable[[Plan, Catalog, Random], Plan | None]
FAULTS: dict[str, Fault] = {
    "tool_typo": lambda plan, _, random: _renamed(plan, random, typo), "tool_case": lambda plan, _,
    random: _renamed(plan, random, cased), "tool_synonym": lambda plan, _,
    random: _renamed(plan, random, synonym), "app_wrong": app_wrong, "app_left_out": app_left_out,
    "literal_dropped": lambda plan, catalog, random: _dropped(plan, catalog, random, reference=False),
    "reference_dropped": lambda plan, catalog, random: _dropped(plan, catalog, random, reference=True),
    "argument_typo": lambda plan, _, random: _misnamed(plan, random, typo), "argument_case": lambda plan, _,
    random: _misnamed(plan, random, cased), "argument_synonym": lambda plan, _,
    random: _misnamed(plan, random, synonym), "label_broken": label_broken, "output_broken": output_broken,
    "call_wrong": lambda plan, _, random: _elsewhere(plan, random, lambda at, size: range(at)),
    "output_wrong": output_wrong, "reference_forward": lambda plan, _,
    random: _elsewhere(plan, random, lambda at, end: range(at + 1, end)), "reference_self": lambda plan, _,
    random: _elsewhere(plan, random, lambda at, size: [at]), "calls_reordered": calls_reordered,
    "reference_as_text": reference_as_text, "literal_type": literal_type,
}  # fmt: skip


def planted(plan: Plan, catalog: Catalog, random: Random) -> Iterator[tuple[str, Plan]]:
    """The plan with each kind of fault that it has a place for, one at a time."""
    for name, plant in FAULTS.items():
        made = plant(plan, catalog, random)
        if made is not None:
            yield name, made
