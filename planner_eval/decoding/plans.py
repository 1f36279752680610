"""Plans of a catalog as rules: a dialect's calls one after the other, each with what it may refer to."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial

from planner_eval.base.errors import InputError
from planner_eval.catalogs.catalog import Tool
from planner_eval.decoding.terms import (
    EMPTY,
    NEVER,
    Expr,
    Named,
    Repeat,
    Rules,
    Text,
    alt,
    chars,
    opt,
    seq,
    words,
)
from planner_eval.decoding.texts import WORD, form_of, quoted
from planner_eval.decoding.values import Values
from planner_eval.decoding.wanted import LABELS, PATH, Outputs, Wanted, outputs_of
from planner_eval.dialects.appbench_terms import LITERALS, NAME

_LINE = "\n  "
"""What may stand before a call of a plan in our own notation, whose writer gives each a line."""


def plans(wanted: Wanted, values: Values) -> Expr:
    """The rules of all plans; they go where those of the values go.

    Args:
        wanted: What the plans may hold.
        values: Makes the values' rules.
    """
    if wanted.dialect == "appbench":
        return _appbench(wanted, values)
    if wanted.dialect == "pythonic":
        return _pythonic(wanted, values)
    return _json(wanted, values)


def unwritable(tool: Tool) -> str:
    """That a tool is left out, in words."""
    return f"{tool.full_name!r:.60} is not called where a required value cannot be written"


def new_values(wanted: Wanted, most: int) -> Values:
    """What makes the rules of the values of such plans, so many characters at most."""
    return Values(Rules(most=most), form_of(wanted.dialect, texts=wanted.texts), wanted.texts)


def _calls(wanted: Wanted, call: Callable[[int], Expr], rules: Rules, between: Expr | str) -> Expr:
    """The calls of a plan, one at least."""
    calls = [call(at) for at in (wanted.places if wanted.unrolled else [0] * wanted.most)]
    if calls[0] == NEVER:
        raise InputError(f"no tool can be called in {wanted.dialect}: a required value cannot be written")
    rest: Expr = EMPTY
    for at, one in reversed(list(enumerate(calls, 1))[1:]):
        rest = rules.rule(f"more_{at}", opt(seq(between, one, rest)))
    return seq(calls[0], rest)


def _json(wanted: Wanted, values: Values) -> Expr:
    rules, outputs, own = values.rules, outputs_of(wanted.tools), wanted.dialect == "plan"
    between = alt((Text(", "), Text(f",{_LINE}"))) if own else Text(", ")
    named: tuple[tuple[str, ...], ...] = ((),)
    if wanted.dialect == "nestful":  # a plan's first label says which names its labels have
        named = tuple((each,) for each in LABELS) if wanted.unrolled else (LABELS,)
    plans = []
    for names in named:
        refers = cache(partial(_reference, wanted, outputs, rules, names))
        # At the first place nothing is referred to, so its rules are the same, whatever follows.
        opened = {key: rule for key, rule in values.opened.items() if key[0] == 1}
        values = replace(values, refers=refers, opened=opened)
        plans.append(_calls(wanted, cache(partial(_json_call, wanted, values, names)), rules, between))
    if not own:
        return seq("[", opt(alt(plans)), "]")
    calls = seq("[", opt(seq(opt(Text(_LINE)), alt(plans), opt(Text("\n")))), "]")
    return seq('{"schema": "planeval.plan/1", "calls": ', calls, "}")


def _json_call(wanted: Wanted, values: Values, names: Sequence[str], at: int) -> Expr:
    """A call at a place, of any tool."""
    rules = values.rules
    places = (at,) if at else wanted.producers(0)
    made = []
    for tool in wanted.tools:
        fields = [(f"{quoted(each.name)}: ", each) for each in tool.parameters]
        given = seq("{", values.ordered(fields, at, f"given_{tool.full_name}"), "}")
        if given == NEVER:
            values.narrow[unwritable(tool)] = None
        if tool.open and not tool.parameters:
            given = seq("{", values.free(at, tool.others), "}")
        given = seq(', "arguments": ', given)
        if names:
            given = _labelled(given, [f"{name}{place}" for name in names for place in places], rules)
        made.append(
            rules.rule(f"call_{tool.full_name}_{at}", seq(f'"name": {quoted(tool.full_name)}', given))
        )
    before = alt(Text(f'"id": "c{place}", ') for place in places) if wanted.dialect == "plan" else EMPTY
    return rules.rule(f"call_{at}", seq("{", before, alt(made), "}"))


def _labelled(given: Expr, labels: Sequence[str], rules: Rules) -> Expr:
    """Arguments with NESTful's label: before them as its data have it, or behind them as our writer does."""
    data = alt(Text(f', "label": "${label}"') for label in labels if label.startswith("var"))
    written = alt(Text(f', "label": "{label}"') for label in labels)
    return alt((seq(rules.rule("label", data), given), seq(given, rules.rule("label", written))))


def _reference(wanted: Wanted, outputs: Outputs, rules: Rules, labels: Sequence[str], at: int) -> Expr:
    """A reference to what an earlier call gives."""
    places = [str(place) for place in wanted.producers(at)]
    if not places or wanted.dialect == "json":
        return NEVER
    if wanted.dialect == "nestful":
        return rules.token(f"result_{at}", seq('"', nestful_reference(places, outputs, labels), '"'))
    name = alt((words(map(quoted, outputs.names)), *([seq('"', WORD, '"')] if outputs.free else [])))
    number = alt((Text("0"), seq(chars("1-9"), Repeat(chars("0-9"), 0, 2))))
    step = seq(", ", alt((seq('"', WORD, '"'), number)))
    further = Repeat(step, 0, PATH) if outputs.deep or outputs.free else EMPTY
    path = opt(seq(', "path": [', name, further, "]"))
    # Its bracket is a token of its own, as any object's: engines do not go back behind a token's begin.
    inner = rules.token(f"result_{at}", seq('"$ref": "c', words(places), '"', path))
    return seq("{", inner, "}")


def nestful_reference(places: Sequence[str], outputs: Outputs, labels: Sequence[str]) -> Expr:
    """NESTful's references to some calls, whose labels begin so."""
    names = words(f".{name}" for name in outputs.names if _is_step(name))
    first = alt((names, *([seq(".", WORD)] if outputs.free else [])))
    index = seq("[", Repeat(chars("0-9"), 1, 3), "]")
    further = Repeat(alt((seq(".", WORD), index)), 0, PATH) if outputs.deep or outputs.free else EMPTY
    return seq("$", words(labels), words(places), opt(seq(first, further)), "$")


def _is_step(name: str) -> bool:
    """Whether NESTful's paths can have a step of that name."""
    return bool(name) and not set(name) & set('$.[]"\\') and name.isprintable()


def _pythonic(wanted: Wanted, values: Values) -> Expr:
    """Lists of calls; what a call refers to stands nested in it, a level less deep."""
    rules = values.rules
    made: dict[int, Expr] = {}

    def nested(at: int) -> Expr:
        if not wanted.unrolled:
            return nest_open
        return made[at - 1] if at > 1 else NEVER

    def call(tool: Tool, at: int) -> Expr:
        fields = [(f"{each.name}=", each) for each in tool.parameters]
        given = values.ordered(fields, at, f"given_{tool.full_name}")
        if given == NEVER:
            values.narrow[unwritable(tool)] = None
        return rules.rule(f"call_{tool.full_name}_{at}", seq(f"{tool.full_name}(", given, ")"))

    nest_open = rules.open("nested") if not wanted.unrolled else NEVER
    values.refers = nested
    for at in wanted.places[:-1] if wanted.unrolled else wanted.places:
        made[at] = rules.rule(f"nested_{at}", alt(seq(call(tool, at), _way(tool)) for tool in wanted.tools))
    if isinstance(nest_open, Named):
        rules.close(nest_open, made[0])
    top = rules.rule("call", alt(call(tool, wanted.places[-1]) for tool in wanted.tools))
    return seq("[", opt(_calls(replace(wanted, unrolled=False), lambda _: top, rules, ", ")), "]")


def _way(tool: Tool) -> Expr:
    """What leads to an output of a call that is nested, or to its whole result."""
    names = [f"[{json.dumps(each.name)}]" for each in tool.returns.fields if each.name.isidentifier()]
    return opt(words(names))


def _appbench(wanted: Wanted, values: Values) -> Expr:
    rules = values.rules
    returned = {
        id(tool): [
            each.name
            for each in tool.returns.fields
            if NAME.fullmatch(each.name) and each.name not in LITERALS and "." not in each.name
        ]
        for tool in wanted.tools
    }
    names = rules.token("returned", words(name for each in returned.values() for name in each))

    def call(at: int) -> Expr:
        values.refers = lambda place: names if place != 1 else NEVER
        made = []
        for tool in wanted.tools:
            fields = [(f"#{each.name}=", each) for each in tool.parameters]
            given = values.ordered(fields, at, f"given_{tool.name}")
            if given == NEVER:
                values.narrow[unwritable(tool)] = None
            called = rules.rule(f"called_{tool.name}_{at}", seq(f"{tool.name}(", given, ")"))
            line = _assigned(rules, returned[id(tool)], called, f"gives_{tool.name}_{at}")
            line = seq(f"{tool.app}: [", line, "]") if tool.app else line
            made.append(rules.rule(f"line_{tool.full_name}_{at}", line))
        return rules.rule(f"line_{at}", alt(made))

    return _calls(wanted, cache(lambda at: call(min(at, 2))), rules, "\n")


def _assigned(rules: Rules, names: Sequence[str], called: Expr, hint: str) -> Expr:
    """A call, with names for its results before it or without.

    The call ends each rule: a reader that looks one token ahead cannot tell at the end of the names
    which tool's they were.
    """
    next_: Expr = NEVER  # a name that stands here or later
    rest = seq(" = ", called)  # the same after a comma
    for name in reversed(names):
        next_ = alt((seq(name, rules.rule(f"{hint}_rest", rest)), rules.rule(f"{hint}_next", next_)))
        rest = alt((seq(", ", next_), seq(" = ", called)))
    return alt((next_, called)) if names else called
