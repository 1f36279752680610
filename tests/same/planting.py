"""Faults planted in plans as JSON data, and in texts: what the pairs of ``make same`` are made with.

They know the interchange notation alone, none of our modules: those are what is being compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from random import Random
from typing import Any

Data = dict[str, Any]
Fault = Callable[[Data, Random], bool]
"""Changes a plan in place; false where the plan has no place for it."""
FAULTS: list[Fault] = []


def fault(function: Fault) -> Fault:
    """Enter a fault into the list."""
    FAULTS.append(function)
    return function


def is_reference(value: Any) -> bool:
    return isinstance(value, dict) and "$ref" in value


def arguments(plan: Data, condition: Callable[[Any], bool]) -> list[tuple[Data, str]]:
    """The arguments whose value meets a condition: the object that holds each, and its name."""
    return [
        (call["arguments"], name)
        for call in plan["calls"]
        if isinstance(call["arguments"], dict)
        for name, value in call["arguments"].items()
        if condition(value)
    ]


def literals(plan: Data) -> list[tuple[Data, str]]:
    return arguments(plan, lambda value: not is_reference(value))


def references(plan: Data) -> list[tuple[Data, str]]:
    return arguments(plan, is_reference)


def with_arguments(plan: Data, least: int = 0) -> list[Data]:
    """The calls whose arguments are an object with so many names or more."""
    return [c for c in plan["calls"] if isinstance(c["arguments"], dict) and len(c["arguments"]) >= least]


def rename(mapping: Data, name: str, new: str) -> None:
    """Give a key another name at its place."""
    items = [(new if key == name else key, value) for key, value in mapping.items()]
    mapping.clear()
    mapping.update(items)


def typo(text: str, random: Random) -> str:
    at = random.randrange(len(text)) if text else 0
    return random.choice([text[:at] + text[at + 1 :], text[:at] + "x" + text[at:], text + "s"]) or "x"


def changed_value(value: Any, random: Random) -> Any:
    """Another value of the same type, near to the first or far from it."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return random.choice([value + 1, -value, value * 10, value + 0.5])
    if isinstance(value, str):
        return random.choice(
            [typo(value, random), value.upper(), f" {value} ", "another value", "", value[: len(value) // 2]]
        )
    if isinstance(value, list):
        return random.choice([[*value, "more"], value[1:], value[::-1]])
    if isinstance(value, dict):
        return {**value, "more": 1} if random.random() < 0.5 else dict(list(value.items())[1:])
    return "a value"


def retyped_value(value: Any, random: Random) -> Any:
    """The same value as another type."""
    if isinstance(value, str):
        number = value.lstrip("-").isdecimal() and len(value) < 15
        return random.choice([int(value) if number else [value], [value], {"value": value}, None])
    if isinstance(value, (bool, int, float)):
        return random.choice([str(value), str(value).lower(), [value], float(value)])
    return random.choice([str(value), [value], None])


def join(plans: list[Data]) -> Data:
    """One plan of all calls of several, each label told apart from those of the others."""
    joined: Data = {**plans[0], "calls": []}
    joined.pop("answer", None)
    for number, plan in enumerate(map(deepcopy, plans)):
        for call in plan["calls"]:
            call["id"] = f"p{number}_{call['id']}"
        for holder, name in references(plan):
            holder[name] = {**holder[name], "$ref": f"p{number}_{holder[name]['$ref']}"}
        joined["calls"] += plan["calls"]
    return joined


def with_twins(plan: Data, random: Random) -> Data:
    """A plan in which calls are made again, alike or nearly so: whose partners are hard to tell."""
    plan = deepcopy(plan)
    for _ in range(random.randint(1, 3)):
        call_repeated_for_user(plan, random) or call_repeated(plan, random)
        if random.random() < 0.5:
            value(plan, random)
    return plan


@fault
def value(plan: Data, random: Random) -> bool:
    places = literals(plan)
    if places:
        call, name = random.choice(places)
        call[name] = changed_value(call[name], random)
    return bool(places)


@fault
def value_type(plan: Data, random: Random) -> bool:
    places = literals(plan)
    if places:
        call, name = random.choice(places)
        call[name] = retyped_value(call[name], random)
    return bool(places)


@fault
def value_everywhere(plan: Data, random: Random) -> bool:
    """One wrong literal, repeated in every call that has it."""
    places = literals(plan)
    if places:
        call, name = random.choice(places)
        old = call[name]
        new = changed_value(old, random)
        for arguments_, key in places:
            if arguments_[key] == old:
                arguments_[key] = new
    return bool(places)


@fault
def argument_missing(plan: Data, random: Random) -> bool:
    places = arguments(plan, lambda value: True)
    if places:
        call, name = random.choice(places)
        del call[name]
    return bool(places)


@fault
def argument_extra(plan: Data, random: Random) -> bool:
    calls = with_arguments(plan)
    if calls:
        call = random.choice(calls)["arguments"]
        call[random.choice(["extra", "limit"])] = random.choice(["5", 5, True, None])
    return bool(calls)


@fault
def argument_renamed(plan: Data, random: Random) -> bool:
    places = arguments(plan, lambda value: True)
    if places:
        call, name = random.choice(places)
        new = random.choice([typo(name, random), name.upper(), "renamed"])
        if new in call:
            return False
        rename(call, name, new)
    return bool(places)


@fault
def argument_renamed_everywhere(plan: Data, random: Random) -> bool:
    places = arguments(plan, lambda value: True)
    if places:
        old = random.choice(places)[1]
        for call, name in places:
            if name == old:
                rename(call, name, f"{old}_name")
    return bool(places)


@fault
def values_swapped(plan: Data, random: Random) -> bool:
    calls = [c["arguments"] for c in with_arguments(plan, 2)]
    if calls:
        call = random.choice(calls)
        a, b = random.sample(sorted(call), 2)
        call[a], call[b] = call[b], call[a]
    return bool(calls)


@fault
def arguments_reordered(plan: Data, random: Random) -> bool:
    for call in plan["calls"]:
        if isinstance(call["arguments"], dict):
            items = list(call["arguments"].items())
            random.shuffle(items)
            call["arguments"] = dict(items)
    return True


@fault
def value_moved(plan: Data, random: Random) -> bool:
    """An argument that another call gets."""
    places = literals(plan)
    if len(plan["calls"]) < 2 or not places:
        return False
    call, name = random.choice(places)
    others = [c["arguments"] for c in with_arguments(plan) if c["arguments"] is not call]
    if not others:
        return False
    random.choice(others)[name] = call.pop(name)
    return True


@fault
def reference_call(plan: Data, random: Random) -> bool:
    places = references(plan)
    if places:
        call, name = random.choice(places)
        call[name] = {**call[name], "$ref": random.choice(plan["calls"])["id"]}
    return bool(places)


@fault
def reference_output(plan: Data, random: Random) -> bool:
    places = references(plan)
    if places:
        call, name = random.choice(places)
        path = call[name].get("path") or ["result"]
        call[name] = {
            **call[name],
            "path": random.choice([["other"], [*path, 0], path[:-1], [typo(str(path[0]), random)]]),
        }
        if not call[name]["path"]:
            del call[name]["path"]
    return bool(places)


@fault
def references_swapped(plan: Data, random: Random) -> bool:
    places = references(plan)
    if len(places) < 2:
        return False
    (a, first), (b, second) = random.sample(places, 2)
    a[first], b[second] = b[second], a[first]
    return True


@fault
def reference_literal(plan: Data, random: Random) -> bool:
    places = references(plan)
    if places:
        call, name = random.choice(places)
        label = call[name]["$ref"]
        call[name] = random.choice(["made up", 7, label, f"${label}", f"{{{{{label}.result}}}}", None])
    return bool(places)


@fault
def literal_reference(plan: Data, random: Random) -> bool:
    places = literals(plan)
    if places:
        call, name = random.choice(places)
        call[name] = {"$ref": random.choice(plan["calls"])["id"], "path": ["result"]}
    return bool(places)


@fault
def reference_unknown(plan: Data, random: Random) -> bool:
    places = references(plan)
    if places:
        call, name = random.choice(places)
        call[name] = {**call[name], "$ref": "lost"}
    return bool(places)


@fault
def call_missing(plan: Data, random: Random) -> bool:
    """Without a call; who takes its output refers to nothing, or writes a value of its own."""
    if not plan["calls"]:
        return False
    call = plan["calls"].pop(random.randrange(len(plan["calls"])))
    for arguments_, name in references(plan):
        if arguments_[name]["$ref"] == call["id"] and random.random() < 0.7:
            arguments_[name] = "made up"
    return True


def insert(plan: Data, call: Data, random: Random) -> None:
    labels = {c["id"] for c in plan["calls"]}
    call["id"] = next(label for n in range(len(labels) + 1) if (label := f"new{n}") not in labels)
    plan["calls"].insert(random.randint(0, len(plan["calls"])), call)


@fault
def call_extra(plan: Data, random: Random) -> bool:
    insert(
        plan, {"id": "", "name": random.choice(["unasked", "search"]), "arguments": {"query": "x"}}, random
    )
    return True


@fault
def call_repeated(plan: Data, random: Random) -> bool:
    if plan["calls"]:
        insert(plan, deepcopy(random.choice(plan["calls"])), random)
    return bool(plan["calls"])


@fault
def call_repeated_for_user(plan: Data, random: Random) -> bool:
    """A call made twice, of which another call takes the second one's output."""
    places = references(plan)
    if places:
        arguments_, name = random.choice(places)
        producers = [c for c in plan["calls"] if c["id"] == arguments_[name]["$ref"]]
        if not producers:
            return False
        copy = deepcopy(producers[0])
        insert(plan, copy, random)
        arguments_[name] = {**arguments_[name], "$ref": copy["id"]}
    return bool(places)


@fault
def tool_renamed(plan: Data, random: Random) -> bool:
    if plan["calls"]:
        call = random.choice(plan["calls"])
        call["name"] = random.choice([typo(call["name"], random), call["name"].upper(), "another_tool"])
    return bool(plan["calls"])


@fault
def tool_renamed_everywhere(plan: Data, random: Random) -> bool:
    if plan["calls"]:
        old = random.choice(plan["calls"])["name"]
        new = random.choice([old.replace("_", ""), f"{old}s", f"functions.{old}"])
        for call in plan["calls"]:
            call["name"] = new if call["name"] == old else call["name"]
    return bool(plan["calls"])


@fault
def tools_replaced(plan: Data, random: Random) -> bool:
    """Several calls of tools that the other plan does not call, which write outputs of their own."""
    if len(plan["calls"]) < 2:
        return False
    calls = random.sample(plan["calls"], random.randint(2, min(4, len(plan["calls"]))))
    labels = {call["id"] for call in calls}
    for number, call in enumerate(calls):
        call["name"] = random.choice(["another_tool", f"tool_{number}"])
        if isinstance(call["arguments"], dict) and call["arguments"] and random.random() < 0.5:
            call["arguments"].popitem()
    for holder, name in references(plan):
        if holder[name]["$ref"] in labels and random.random() < 0.5:
            holder[name] = {**holder[name], "path": ["other"]}
    return True


@fault
def tools_swapped(plan: Data, random: Random) -> bool:
    if len(plan["calls"]) < 2:
        return False
    a, b = random.sample(plan["calls"], 2)
    a["name"], b["name"] = b["name"], a["name"]
    return True


@fault
def app_changed(plan: Data, random: Random) -> bool:
    calls = [c for c in plan["calls"] if "app" in c]
    if calls:
        call = random.choice(calls)
        call["app"] = random.choice([c["app"] for c in calls] + ["Other"])
    return bool(calls)


@fault
def calls_shuffled(plan: Data, random: Random) -> bool:
    random.shuffle(plan["calls"])
    return len(plan["calls"]) > 1


@fault
def neighbours_swapped(plan: Data, random: Random) -> bool:
    if len(plan["calls"]) < 2:
        return False
    at = random.randrange(len(plan["calls"]) - 1)
    plan["calls"][at : at + 2] = plan["calls"][at : at + 2][::-1]
    return True


@fault
def labels_renamed(plan: Data, random: Random) -> bool:
    """Other labels, which mean the same."""
    labels = {call["id"]: f"step{n}" for n, call in enumerate(plan["calls"], 1)}
    for call in plan["calls"]:
        call["id"] = labels[call["id"]]
    for arguments_, name in references(plan):
        arguments_[name] = {**arguments_[name], "$ref": labels.get(arguments_[name]["$ref"], "lost")}
    return True


@fault
def call_split(plan: Data, random: Random) -> bool:
    """Two calls of a tool with half of the arguments each."""
    calls = with_arguments(plan, 2)
    if calls:
        call = random.choice(calls)
        half = deepcopy(call)
        names = list(call["arguments"])
        cut = random.randint(1, len(names) - 1)
        call["arguments"] = {n: v for n, v in call["arguments"].items() if n in names[:cut]}
        half["arguments"] = {n: v for n, v in half["arguments"].items() if n in names[cut:]}
        insert(plan, half, random)
    return bool(calls)


@fault
def calls_merged(plan: Data, random: Random) -> bool:
    """One call with the arguments of two."""
    calls = with_arguments(plan)
    if len(calls) < 2:
        return False
    first, second = random.sample(calls, 2)
    first["arguments"] = {**second["arguments"], **first["arguments"]}
    plan["calls"].remove(second)
    for arguments_, name in references(plan):
        if arguments_[name]["$ref"] == second["id"]:
            arguments_[name] = {**arguments_[name], "$ref": first["id"]}
    return True


@fault
def calls_cut(plan: Data, random: Random) -> bool:
    plan["calls"] = plan["calls"][: random.randint(0, len(plan["calls"]))]
    return True


def plant(plan: Data, random: Random) -> tuple[Data, list[str]]:
    """A plan with some faults, more in a larger one, and their names."""
    plan, names = deepcopy(plan), []
    most = random.choices([0, 1, 2, 3, 4], [5, 40, 30, 15, 10])[0]
    for _ in range(most + (most and len(plan["calls"]) // 4)):
        for _ in range(10):
            chosen = random.choice(FAULTS)
            if chosen(plan, random):
                names.append(chosen.__name__)
                break
    return plan, names


def damages(text: str, random: Random) -> Iterator[tuple[str, str]]:
    """A text with each kind of damage to its syntax."""
    at = random.randrange(len(text) + 1)
    marks = [i for i, char in enumerate(text) if char in "\"'{}[](),:"] or [0]
    mark = random.choice(marks)
    yield "cut", text[:at]
    yield "mark lost", text[:mark] + text[mark + 1 :]
    yield "mark doubled", text[:mark] + text[mark : mark + 1] + text[mark:]
    yield "mark replaced", text[:mark] + random.choice("\"'{}[](),:") + text[mark + 1 :]
    yield "comma before an end", text.replace("}", ",}", 1).replace(")", ",)", 1)
    yield "fenced", f"Here is the plan:\n```json\n{text}\n```\nDone."
    yield "with prose", f"First I look at the request.\n\n{text}\n\nThat is all."
    yield "thought about", f"<think>maybe {text[:at]}</think>\n{text}"
    yield "twice", f"{text}\n{text}"
    yield "quotes changed", text.replace('"', "'")
    yield "constants of Python", text.replace("true", "True").replace("null", "None")


def damage(text: str, random: Random) -> tuple[str, str]:
    """A text with one of the damages to its syntax, and the damage's name."""
    name, damaged = random.choice(list(damages(text, random)))
    return damaged, name
