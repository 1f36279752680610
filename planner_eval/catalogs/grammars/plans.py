"""Plans of a catalog as rules, and what the plans of a grammar may hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from keyword import iskeyword

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.limits import Limits
from planner_eval.catalogs.catalog import ANY, Catalog, Tool, Type
from planner_eval.catalogs.grammars.rules import (
    EMPTY,
    NEVER,
    WORD,
    Expr,
    Repeat,
    Rules,
    Symbol,
    Text,
    alt,
    chars,
    one_of_texts,
    opt,
    quote_json,
    seq,
    value_form,
)
from planner_eval.catalogs.grammars.values import MERGED_VARIANT_CODES, ValueRules, merge_parameters
from planner_eval.reading.dialects import get
from planner_eval.reading.dialects.notations.appbench_terms import LITERALS, NAME

# ----------------------------------------------------------------------
# What the plans of a grammar may hold: the tools that a notation can call, and what references lead to.
DIALECTS = ("plan", "json", "nestful", "pythonic", "appbench")
"""The notations that grammars are written for."""

LABEL_PREFIXES = ("var_", "var", "c")
"""What NESTful's labels begin with, before a number: in its data, half of them each, and as we write them."""

MAX_PATH_STEPS = 2
"""Steps behind the name of an output that a reference may take."""


@dataclass(frozen=True, slots=True)
class PlanSpec:
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

    def producers(self, position: int) -> range:
        """The calls that one at a place may refer to, counted from 1; all, where places are one."""
        return range(1, position) if self.unrolled else range(1, self.most + 1)


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
    outputs = Outputs()
    names: dict[str, None] = {}
    for tool in tools:
        fields = tool.returns.fields
        names.update((field.name, None) for field in fields)
        if not fields and tool.only_output == "":
            names["result"] = None
        outputs.free |= not fields and tool.only_output is None
        outputs.deep |= any(_can_hold_others(field.type) for field in fields) or (
            not fields and _can_hold_others(tool.returns)
        )
    outputs.names = tuple(names)
    return outputs


def _can_hold_others(kind: Type) -> bool:
    return not kind.kinds or bool({"array", "object"} & set(kind.kinds))


def merge_variants(catalog: Catalog, *, apps: bool, say: Callable[..., None]) -> tuple[Tool, ...]:
    """The tools of a catalog, variants of a name made one."""
    named: dict[tuple[str, str], list[Tool]] = {}
    for tool in catalog.tools:
        key = (tool.app or "", tool.name) if apps else ("", tool.full_name)
        named.setdefault(key, []).append(tool)
    if any(len(tools) > 1 for tools in named.values()):
        say("a call of a tool with several variants may mix their arguments", *MERGED_VARIANT_CODES)
    return tuple(_merge_tools(tools) for tools in named.values())


def _merge_tools(tools: Sequence[Tool]) -> Tool:
    if len(tools) == 1:
        return tools[0]
    merged_tool = replace(tools[0], parameters=merge_parameters([tool.parameters for tool in tools]))
    returns = [tool.returns for tool in tools]
    return replace(merged_tool, returns=returns[0] if len(set(map(repr, returns))) == 1 else ANY)


def writable_tool(tool: Tool, dialect: str) -> Tool | None:
    """A tool with the arguments that a notation can write; None where it cannot call it.

    What the notation's own reader makes of a call decides.
    """
    if dialect not in ("pythonic", "appbench"):
        return tool
    if not _can_read_back(tool, dialect, None):
        return None
    writable = [p for p in tool.parameters if _can_read_back(tool, dialect, p.name)]
    if any(p.required for p in tool.parameters if p not in writable):
        return None
    return replace(tool, parameters=tuple(writable))


def _can_read_back(tool: Tool, dialect: str, argument: str | None) -> bool:
    name, app = tool.full_name, None
    words = (*name.split("."), argument or "a")
    if dialect == "pythonic" and not all(word.isidentifier() and not iskeyword(word) for word in words):
        return False
    argument_text = "" if argument is None else f"{argument}='1'"
    text = f"[{name}({argument_text})]"
    if dialect == "appbench":
        name, app = tool.name, tool.app
        call = f"{name}({'#' if argument_text else ''}{argument_text})"
        text = f"{app}: [{call}]" if app else call
    try:
        raw = get(dialect).read(text, Limits())
    except (ParseError, ValueError, RecursionError):
        return False
    expected = () if argument is None else ((argument, "1"),)
    return len(raw.calls) == 1 and (raw.calls[0].name, raw.calls[0].app, raw.calls[0].arguments) == (
        name,
        app,
        expected,
    )


# ----------------------------------------------------------------------
# Plans of a catalog as rules: a dialect's calls one after the other, each with what it may refer to.
_LINE = "\n  "
"""What may stand before a call of a plan in our own notation, whose writer gives each a line."""


def plan_rules(spec: PlanSpec, values: ValueRules) -> Expr:
    """The rules of all plans; they go where those of the values go.

    Args:
        spec: What the plans may hold.
        values: Makes the values' rules.
    """
    if spec.dialect == "appbench":
        return _appbench_plans(spec, values)
    if spec.dialect == "pythonic":
        return _pythonic_plans(spec, values)
    return _json_plans(spec, values)


def unwritable_text(tool: Tool) -> str:
    """That a tool is left out, in words."""
    return f"{tool.full_name!r:.60} is not called where a required value cannot be written"


def make_value_rules(spec: PlanSpec, most: int) -> ValueRules:
    """What makes the rules of the values of such plans, so many characters at most."""
    form = value_form(spec.dialect, texts=spec.texts)
    return ValueRules(rules=Rules(most=most), form=form, texts=spec.texts)


def _call_sequence(spec: PlanSpec, call: Callable[[int], Expr], rules: Rules, between: Expr | str) -> Expr:
    """The calls of a plan, one at least."""
    calls = [call(position) for position in (spec.places if spec.unrolled else [0] * spec.most)]
    if calls[0] == NEVER:
        raise InputError(f"no tool can be called in {spec.dialect}: a required value cannot be written")
    following: Expr = EMPTY
    for number, expr in reversed(list(enumerate(calls, 1))[1:]):
        following = rules.rule(f"more_{number}", opt(seq(between, expr, following)))
    return seq(calls[0], following)


def _json_plans(spec: PlanSpec, values: ValueRules) -> Expr:
    rules, outputs, own = values.rules, outputs_of(spec.tools), spec.dialect == "plan"
    between = alt((Text(", "), Text(f",{_LINE}"))) if own else Text(", ")
    named: tuple[tuple[str, ...], ...] = ((),)
    if spec.dialect == "nestful":  # a plan's first label says which names its labels have
        named = tuple((label,) for label in LABEL_PREFIXES) if spec.unrolled else (LABEL_PREFIXES,)
    plans = []
    for names in named:
        refers = cache(partial(_reference, spec, outputs, rules, names))
        # At the first place nothing is referred to, so its rules are the same, whatever follows.
        opened = {key: rule for key, rule in values.opened.items() if key[0] == 1}
        values = replace(values, refers=refers, opened=opened)
        plans.append(_call_sequence(spec, cache(partial(_json_call, spec, values, names)), rules, between))
    if not own:
        return seq("[", opt(alt(plans)), "]")
    calls = seq("[", opt(seq(opt(Text(_LINE)), alt(plans), opt(Text("\n")))), "]")
    return seq('{"schema": "planeval.plan/1", "calls": ', calls, "}")


def _json_call(spec: PlanSpec, values: ValueRules, names: Sequence[str], position: int) -> Expr:
    """A call at a place, of any tool."""
    rules = values.rules
    positions = (position,) if position else spec.producers(0)
    call_rules = []
    for tool in spec.tools:
        given = _arguments(values, tool, position, tool.full_name, lambda name: f"{quote_json(name)}: ")
        if tool.open and not tool.parameters:
            given = values.free(position, tool.others)
        arguments = seq(', "arguments": ', "{", given, "}")
        if names:
            arguments = _add_label(arguments, [f"{name}{p}" for name in names for p in positions], rules)
        call_rules.append(
            rules.rule(
                f"call_{tool.full_name}_{position}", seq(f'"name": {quote_json(tool.full_name)}', arguments)
            )
        )
    before = alt(Text(f'"id": "c{p}", ') for p in positions) if spec.dialect == "plan" else EMPTY
    return rules.rule(f"call_{position}", seq("{", before, alt(call_rules), "}"))


def _arguments(values: ValueRules, tool: Tool, position: int, named: str, key: Callable[[str], str]) -> Expr:
    """What a call of a tool is given, its values each after what `key` writes for their names."""
    fields = [(key(parameter.name), parameter) for parameter in tool.parameters]
    arguments = values.ordered(fields, position, f"given_{named}")
    if arguments == NEVER:
        values.narrow[unwritable_text(tool)] = None
    return arguments


def _add_label(arguments: Expr, labels: Sequence[str], rules: Rules) -> Expr:
    """Arguments with NESTful's label: before them as its data have it, or behind them as our writer does."""
    data = alt(Text(f', "label": "${label}"') for label in labels if label.startswith("var"))
    written = alt(Text(f', "label": "{label}"') for label in labels)
    return alt((seq(rules.rule("label", data), arguments), seq(arguments, rules.rule("label", written))))


def _reference(spec: PlanSpec, outputs: Outputs, rules: Rules, labels: Sequence[str], position: int) -> Expr:
    """A reference to what an earlier call gives."""
    producers = [str(p) for p in spec.producers(position)]
    if not producers or spec.dialect == "json":
        return NEVER
    if spec.dialect == "nestful":
        return rules.token(f"result_{position}", seq('"', nestful_reference(producers, outputs, labels), '"'))
    any_name = seq('"', WORD, '"') if outputs.free else NEVER
    name = alt((one_of_texts(map(quote_json, outputs.names)), any_name))
    number = alt((Text("0"), seq(chars("1-9"), Repeat(chars("0-9"), 0, 2))))
    step = seq(", ", alt((seq('"', WORD, '"'), number)))
    further = Repeat(step, 0, MAX_PATH_STEPS) if outputs.deep or outputs.free else EMPTY
    path = opt(seq(', "path": [', name, further, "]"))
    # Its bracket is a token of its own, as any object's: engines do not go back behind a token's begin.
    inner = rules.token(f"result_{position}", seq('"$ref": "c', one_of_texts(producers), '"', path))
    return seq("{", inner, "}")


def nestful_reference(producers: Sequence[str], outputs: Outputs, labels: Sequence[str]) -> Expr:
    """NESTful's references to some calls, whose labels begin so."""
    steps = [n for n in outputs.names if n and not set(n) & set('$.[]"\\') and n.isprintable()]
    names = one_of_texts(f".{name}" for name in steps)
    first = alt((names, seq(".", WORD) if outputs.free else NEVER))
    index = seq("[", Repeat(chars("0-9"), 1, 3), "]")
    further = (
        Repeat(alt((seq(".", WORD), index)), 0, MAX_PATH_STEPS) if outputs.deep or outputs.free else EMPTY
    )
    return seq("$", one_of_texts(labels), one_of_texts(producers), opt(seq(first, further)), "$")


def _pythonic_plans(spec: PlanSpec, values: ValueRules) -> Expr:
    """Lists of calls; what a call refers to stands nested in it, a level less deep."""
    rules = values.rules
    levels: dict[int, Expr] = {}

    def nested(level: int) -> Expr:
        if not spec.unrolled:
            return nest_open
        return levels[level - 1] if level > 1 else NEVER

    def call(tool: Tool, level: int) -> Expr:
        arguments = _arguments(values, tool, level, tool.full_name, "{}=".format)
        return rules.rule(f"call_{tool.full_name}_{level}", seq(f"{tool.full_name}(", arguments, ")"))

    nest_open = rules.open("nested") if not spec.unrolled else NEVER
    values.refers = nested
    for level in spec.places[:-1] if spec.unrolled else spec.places:
        levels[level] = rules.rule(
            f"nested_{level}", alt(seq(call(tool, level), _output_access(tool)) for tool in spec.tools)
        )
    if isinstance(nest_open, Symbol):
        rules.close(nest_open, levels[0])
    top = rules.rule("call", alt(call(tool, spec.places[-1]) for tool in spec.tools))
    return seq("[", opt(_call_sequence(replace(spec, unrolled=False), lambda _: top, rules, ", ")), "]")


def _output_access(tool: Tool) -> Expr:
    """What leads to an output of a call that is nested, or to its whole result."""
    names = [f"[{json.dumps(field.name)}]" for field in tool.returns.fields if field.name.isidentifier()]
    return opt(one_of_texts(names))


def _appbench_plans(spec: PlanSpec, values: ValueRules) -> Expr:
    rules = values.rules
    returned = {
        id(tool): [
            field.name
            for field in tool.returns.fields
            if NAME.fullmatch(field.name) and field.name not in LITERALS and "." not in field.name
        ]
        for tool in spec.tools
    }
    names = rules.token("returned", one_of_texts(name for outputs in returned.values() for name in outputs))

    def call(position: int) -> Expr:
        values.refers = lambda p: names if p != 1 else NEVER
        lines = []
        for tool in spec.tools:
            arguments = _arguments(values, tool, position, tool.name, "#{}=".format)
            called = rules.rule(f"called_{tool.name}_{position}", seq(f"{tool.name}(", arguments, ")"))
            line = _assign_results(rules, returned[id(tool)], called, f"gives_{tool.name}_{position}")
            line = seq(f"{tool.app}: [", line, "]") if tool.app else line
            lines.append(rules.rule(f"line_{tool.full_name}_{position}", line))
        return rules.rule(f"line_{position}", alt(lines))

    return _call_sequence(spec, cache(lambda p: call(min(p, 2))), rules, "\n")


def _assign_results(rules: Rules, names: Sequence[str], called: Expr, hint: str) -> Expr:
    """A call, with names for its results before it or without.

    The call ends each rule: a reader that looks one token ahead cannot tell at the end of the names
    which tool's they were.
    """
    next_: Expr = NEVER  # a name that stands here or later
    after_comma = seq(" = ", called)  # the same after a comma
    for name in reversed(names):
        next_ = alt((seq(name, rules.rule(f"{hint}_rest", after_comma)), rules.rule(f"{hint}_next", next_)))
        after_comma = alt((seq(", ", next_), seq(" = ", called)))
    return alt((next_, called)) if names else called
