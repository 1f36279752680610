"""Faults planted in plans as JSON data, and in texts: what the pairs of ``make same`` are made with.

They know the interchange notation alone, none of our modules: those are what is being compared.
"""

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial, wraps
from random import Random
from typing import Any

Data = dict[str, Any]
Fault = Callable[[Data, Random], bool]
"""Changes a plan in place; false where the plan cannot express it."""
FAULTS: list[Fault] = []


def fault(function: Fault) -> Fault:
    """Enter a fault into the list."""
    FAULTS.append(function)
    return function


def fault_in(places: Callable[[Data], list[Any]]) -> Callable[[Callable[..., bool | None]], Fault]:
    """Enter a fault of one place of a plan, which takes that before its randomness."""

    def enter(function: Callable[..., bool | None]) -> Fault:
        @wraps(function)
        def planted(plan: Data, random: Random) -> bool:
            found = places(plan)
            return bool(found) and function(plan, random.choice(found), random) is not False

        return fault(planted)

    return enter


def is_reference(value: Any) -> bool:
    return isinstance(value, dict) and "$ref" in value


def with_arguments(plan: Data, least: int = 0) -> list[Data]:
    """The calls whose arguments are an object with so many names or more."""
    return [c for c in plan["calls"] if isinstance(c["arguments"], dict) and len(c["arguments"]) >= least]


def arguments(plan: Data, condition: Callable[[Any], bool] = lambda value: True) -> list[tuple[Data, str]]:
    """The arguments whose value meets a condition: the object that holds each, and its name."""
    held = (call["arguments"] for call in with_arguments(plan))
    return [(given, name) for given in held for name, value in given.items() if condition(value)]


def literals(plan: Data) -> list[tuple[Data, str]]:
    return arguments(plan, lambda value: not is_reference(value))


def references(plan: Data) -> list[tuple[Data, str]]:
    return arguments(plan, is_reference)


def all_calls(plan: Data) -> list[Data]:
    return list(plan["calls"])


def rename(mapping: Data, name: str, new: str) -> None:
    """Give a key another name at its place."""
    items = [(new if key == name else key, value) for key, value in mapping.items()]
    mapping.clear()
    mapping.update(items)


def refer(place: tuple[Data, str], label: str) -> None:
    """Let a reference name another call."""
    holder, name = place
    holder[name] = {**holder[name], "$ref": label}


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
        half = value[: len(value) // 2]
        return random.choice([typo(value, random), value.upper(), f" {value} ", "another value", "", half])
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
            refer((holder, name), f"p{number}_{holder[name]['$ref']}")
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


@fault_in(literals)
def value(plan: Data, place: tuple[Data, str], random: Random) -> None:
    call, name = place
    call[name] = changed_value(call[name], random)


@fault_in(literals)
def value_type(plan: Data, place: tuple[Data, str], random: Random) -> None:
    call, name = place
    call[name] = retyped_value(call[name], random)


@fault_in(literals)
def value_everywhere(plan: Data, place: tuple[Data, str], random: Random) -> None:
    """One wrong literal, repeated in every call that has it."""
    old = place[0][place[1]]
    new = changed_value(old, random)
    for call, name in literals(plan):
        call[name] = new if call[name] == old else call[name]


@fault_in(arguments)
def argument_missing(plan: Data, place: tuple[Data, str], random: Random) -> None:
    del place[0][place[1]]


@fault_in(with_arguments)
def argument_extra(plan: Data, call: Data, random: Random) -> None:
    call["arguments"][random.choice(["extra", "limit"])] = random.choice(["5", 5, True, None])


@fault_in(arguments)
def argument_renamed(plan: Data, place: tuple[Data, str], random: Random) -> bool:
    call, name = place
    new = random.choice([typo(name, random), name.upper(), "renamed"])
    if free := new not in call:
        rename(call, name, new)
    return free


@fault_in(arguments)
def argument_renamed_everywhere(plan: Data, place: tuple[Data, str], random: Random) -> None:
    for call, name in arguments(plan):
        if name == place[1]:
            rename(call, name, f"{name}_name")


@fault_in(partial(with_arguments, least=2))
def values_swapped(plan: Data, call: Data, random: Random) -> None:
    given = call["arguments"]
    a, b = random.sample(sorted(given), 2)
    given[a], given[b] = given[b], given[a]


@fault
def arguments_reordered(plan: Data, random: Random) -> bool:
    for call in with_arguments(plan):
        call["arguments"] = dict(random.sample(list(call["arguments"].items()), len(call["arguments"])))
    return True


@fault_in(literals)
def value_moved(plan: Data, place: tuple[Data, str], random: Random) -> bool:
    """An argument that another call gets."""
    call, name = place
    others = [c["arguments"] for c in with_arguments(plan) if c["arguments"] is not call]
    if others:
        random.choice(others)[name] = call.pop(name)
    return bool(others)


@fault_in(references)
def reference_call(plan: Data, place: tuple[Data, str], random: Random) -> None:
    refer(place, random.choice(plan["calls"])["id"])


@fault_in(references)
def reference_output(plan: Data, place: tuple[Data, str], random: Random) -> None:
    call, name = place
    path = call[name].get("path") or ["result"]
    other = random.choice([["other"], [*path, 0], path[:-1], [typo(str(path[0]), random)]])
    call[name] = {"$ref": call[name]["$ref"], **({"path": other} if other else {})}


@fault
def references_swapped(plan: Data, random: Random) -> bool:
    places = references(plan)
    if len(places) < 2:
        return False
    (a, first), (b, second) = random.sample(places, 2)
    a[first], b[second] = b[second], a[first]
    return True


@fault_in(references)
def reference_literal(plan: Data, place: tuple[Data, str], random: Random) -> None:
    call, name = place
    label = call[name]["$ref"]
    call[name] = random.choice(["made up", 7, label, f"${label}", f"{{{{{label}.result}}}}", None])


@fault_in(literals)
def literal_reference(plan: Data, place: tuple[Data, str], random: Random) -> None:
    place[0][place[1]] = {"$ref": random.choice(plan["calls"])["id"], "path": ["result"]}


@fault_in(references)
def reference_unknown(plan: Data, place: tuple[Data, str], random: Random) -> None:
    refer(place, "lost")


@fault_in(all_calls)
def call_missing(plan: Data, call: Data, random: Random) -> None:
    """Without a call; who takes its output refers to nothing, or writes a value of its own."""
    plan["calls"].remove(call)
    for holder, name in references(plan):
        if holder[name]["$ref"] == call["id"] and random.random() < 0.7:
            holder[name] = "made up"


def insert(plan: Data, call: Data, random: Random) -> None:
    labels = {c["id"] for c in plan["calls"]}
    call["id"] = next(label for n in range(len(labels) + 1) if (label := f"new{n}") not in labels)
    plan["calls"].insert(random.randint(0, len(plan["calls"])), call)


@fault
def call_extra(plan: Data, random: Random) -> bool:
    name = random.choice(["unasked", "search"])
    insert(plan, {"id": "", "name": name, "arguments": {"query": "x"}}, random)
    return True


@fault_in(all_calls)
def call_repeated(plan: Data, call: Data, random: Random) -> None:
    insert(plan, deepcopy(call), random)


@fault_in(references)
def call_repeated_for_user(plan: Data, place: tuple[Data, str], random: Random) -> bool:
    """A call made twice, of which another call takes the second one's output."""
    producers = [c for c in plan["calls"] if c["id"] == place[0][place[1]]["$ref"]]
    for copy in map(deepcopy, producers[:1]):
        insert(plan, copy, random)
        refer(place, copy["id"])
    return bool(producers)


@fault_in(all_calls)
def tool_renamed(plan: Data, call: Data, random: Random) -> None:
    call["name"] = random.choice([typo(call["name"], random), call["name"].upper(), "another_tool"])


@fault_in(all_calls)
def tool_renamed_everywhere(plan: Data, chosen: Data, random: Random) -> None:
    old = chosen["name"]
    new = random.choice([old.replace("_", ""), f"{old}s", f"functions.{old}"])
    for call in plan["calls"]:
        call["name"] = new if call["name"] == old else call["name"]


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


@fault_in(lambda plan: [call for call in plan["calls"] if "app" in call])
def app_changed(plan: Data, call: Data, random: Random) -> None:
    call["app"] = random.choice([c["app"] for c in plan["calls"] if "app" in c] + ["Other"])


@fault
def calls_shuffled(plan: Data, random: Random) -> bool:
    random.shuffle(plan["calls"])
    return len(plan["calls"]) > 1


@fault_in(lambda plan: list(range(len(plan["calls"]) - 1)))
def neighbours_swapped(plan: Data, at: int, random: Random) -> None:
    plan["calls"][at : at + 2] = plan["calls"][at : at + 2][::-1]


@fault
def labels_renamed(plan: Data, random: Random) -> bool:
    """Other labels, which mean the same."""
    labels = {call["id"]: f"step{n}" for n, call in enumerate(plan["calls"], 1)}
    for call in plan["calls"]:
        call["id"] = labels[call["id"]]
    for holder, name in references(plan):
        refer((holder, name), labels.get(holder[name]["$ref"], "lost"))
    return True


@fault_in(partial(with_arguments, least=2))
def call_split(plan: Data, call: Data, random: Random) -> None:
    """Two calls of a tool with half of the arguments each."""
    items = list(call["arguments"].items())
    cut = random.randint(1, len(items) - 1)
    call["arguments"] = dict(items[:cut])
    insert(plan, deepcopy({**call, "arguments": dict(items[cut:])}), random)


@fault
def calls_merged(plan: Data, random: Random) -> bool:
    """One call with the arguments of two."""
    calls = with_arguments(plan)
    if len(calls) < 2:
        return False
    first, second = random.sample(calls, 2)
    first["arguments"] = {**second["arguments"], **first["arguments"]}
    plan["calls"].remove(second)
    for holder, name in references(plan):
        if holder[name]["$ref"] == second["id"]:
            refer((holder, name), first["id"])
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
