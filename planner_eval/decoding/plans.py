"""Plans of a catalog as rules: a dialect's calls one after the other, each with what it may refer to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from keyword import iskeyword

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.limits import Limits
from planner_eval.catalogs.catalog import ANY, Catalog, Tool, Type
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
from planner_eval.decoding.values import MIXED, Values, merged
from planner_eval.dialects import get
from planner_eval.dialects.appbench_terms import LITERALS, NAME

DIALECTS = ("plan", "json", "nestful", "pythonic", "appbench")
"""The notations that grammars are written for."""

_LINE = "\n  "
"""What may stand before a call of a plan in our own notation, whose writer gives each a line."""

LABELS = ("var_", "var", "c")
"""What NESTful's labels begin with, before a number: in its data, half of them each, and as we write them."""

PATH = 2
"""Steps behind the name of an output that a reference may take."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the plans of a grammar may hold.

    Args:
        dialect: The notation.
        tools: The tools, each name once, with apps where the notation has them.
        texts: Whether the catalog writes every value as text.
        most: How many calls a plan may have.
        unrolled: Whether each place has rules of its own, so that references point backwards.
    """

    dialect: str
    tools: tuple[Tool, ...]
    texts: bool
    most: int
    unrolled: bool = True

    @property
    def places(self) -> range:
        """The places that have rules of their own."""
        return range(1, self.most + 1) if self.unrolled else range(1)

    def producers(self, at: int) -> range:
        """The calls that one at a place may refer to, counted from 1; all, where places are one."""
        return range(1, at) if self.unrolled else range(1, self.most + 1)


@dataclass(slots=True)
class Outputs:
    """What references may lead to.

    Args:
        names: The names of outputs that tools declare.
        free: Some tool does not say what it returns: any name will do.
        deep: Some output holds others.
    """

    names: tuple[str, ...] = ()
    free: bool = False
    deep: bool = False


def outputs_of(tools: Iterable[Tool]) -> Outputs:
    """What references into the results of some tools may lead to.

    >>> outputs_of([Tool("sum", returns=Type(("number",)))]).names
    ('result',)
    """
    found = Outputs()
    names: dict[str, None] = {}
    for tool in tools:
        fields = tool.returns.fields
        names.update((each.name, None) for each in fields)
        if not fields and tool.only_output == "":
            names["result"] = None
        found.free |= not fields and tool.only_output is None
        found.deep |= any(_holds(each.type) for each in fields) or (not fields and _holds(tool.returns))
    found.names = tuple(names)
    return found


def _holds(kind: Type) -> bool:
    return not kind.kinds or bool({"array", "object"} & set(kind.kinds))


# ---------------------------------------------------------------- tools
def one_a_name(catalog: Catalog, *, apps: bool, say: Callable[..., None]) -> tuple[Tool, ...]:
    """The tools of a catalog, variants of a name made one."""
    named: dict[tuple[str, str], list[Tool]] = {}
    for tool in catalog.tools:
        key = (tool.app or "", tool.name) if apps else ("", tool.full_name)
        named.setdefault(key, []).append(tool)
    if any(len(tools) > 1 for tools in named.values()):
        say("a call of a tool with several variants may mix their arguments", *MIXED)
    return tuple(_one(tools) for tools in named.values())


def _one(tools: Sequence[Tool]) -> Tool:
    if len(tools) == 1:
        return tools[0]
    made = replace(tools[0], parameters=merged([tool.parameters for tool in tools]))
    returns = [tool.returns for tool in tools]
    return replace(made, returns=returns[0] if len(set(map(repr, returns))) == 1 else ANY)


def sayable(tool: Tool, dialect: str) -> Tool | None:
    """A tool with the arguments that a notation can write; None where it cannot call it.

    What the notation's own reader makes of a call decides.
    """
    if dialect not in ("pythonic", "appbench"):
        return tool
    if not _reads_back(tool, dialect, None):
        return None
    kept = [each for each in tool.parameters if _reads_back(tool, dialect, each.name)]
    if any(each.required for each in tool.parameters if each not in kept):
        return None
    return replace(tool, parameters=tuple(kept))


def _reads_back(tool: Tool, dialect: str, argument: str | None) -> bool:
    name, app = tool.full_name, None
    if dialect == "pythonic" and not all(_is_name(part) for part in (*name.split("."), argument or "a")):
        return False
    given = "" if argument is None else f"{argument}='1'"
    text = f"[{name}({given})]"
    if dialect == "appbench":
        name, app = tool.name, tool.app
        call = f"{name}({'#' if given else ''}{given})"
        text = f"{app}: [{call}]" if app else call
    try:
        raw = get(dialect).read(text, Limits())
    except (ParseError, ValueError, RecursionError):
        return False
    wanted = () if argument is None else ((argument, "1"),)
    return len(raw.calls) == 1 and (raw.calls[0].name, raw.calls[0].app, raw.calls[0].arguments) == (
        name,
        app,
        wanted,
    )


def _is_name(word: str) -> bool:
    """Whether Python itself takes it as a name; our reader takes more, but not everywhere."""
    return word.isidentifier() and not iskeyword(word)


# ---------------------------------------------------------------- rules
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
            gives = values.listed([(Text(name), False) for name in returned[id(tool)]], f"gives_{tool.name}")
            assigned = opt(seq(gives.item, " = ")) if isinstance(gives, Repeat) else EMPTY
            line = seq(assigned, f"{tool.name}(", given, ")")
            line = seq(f"{tool.app}: [", line, "]") if tool.app else line
            made.append(rules.rule(f"line_{tool.full_name}_{at}", line))
        return rules.rule(f"line_{at}", alt(made))

    return _calls(wanted, cache(lambda at: call(min(at, 2))), rules, "\n")
