"""A grammar of the plans that a catalog allows, in a notation, for an engine that decodes by it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from planner_eval.base.errors import POSITIVE_COUNT, InputError, expect
from planner_eval.base.text import format_count, format_first, shorten
from planner_eval.catalogs.catalog import Tool
from planner_eval.catalogs.formats import read_catalog
from planner_eval.catalogs.grammars.plans import (
    DIALECTS,
    PlanSpec,
    make_value_rules,
    merge_variants,
    outputs_of,
    plan_rules,
    writable_tool,
)
from planner_eval.catalogs.grammars.rules import TooLargeError, value_form, write_gbnf, write_lark
from planner_eval.catalogs.grammars.schemas import JSON_DIALECTS, SchemaBuilder, explain_not_strict
from planner_eval.catalogs.json_schema.keywords import untyped_keywords

TARGETS = ("json-schema", "lark", "gbnf")
"""The forms of grammars."""

MAX_CHARS = 2_000_000
"""Characters that a grammar may have."""

MAX_CALLS = 64
"""Calls that the plans of a grammar may have at most."""

_FORWARD_REFERENCES = "a reference may point to a later call or to its own, and a label may repeat"
_OUTPUT = "a reference may name an output that its call does not have, or that does not fit"
_PARTS = "of results that their tools do not declare, not every part can be named"
_UNUSED = "unused results are allowed"
_LAYOUT = "arguments come in the catalog's order, in one layout"
_NUMBERS = "numbers have at most 19 digits before the point and 18 after it"
_DOLLARS = "texts that end with a dollar sign, or have one before a name, are left out"
_USED_BEFORE_RETURN = "a name may be used before a call returns it"
_NESTED = "calls nested in others are not counted"
_VALUE_CODES = tuple(
    f"check.{code}"
    for code in (
        *("pattern", "repeated_item", "not_allowed", "out_of_range", "missing_argument"),
        *("unknown_argument", "wrong_type", "enum"),
    )
)


class Limit(NamedTuple):
    """Where a grammar is looser than the catalog, or narrower.

    Args:
        text: What is not enforced, or not allowed, in words.
        codes: The findings of ``planeval check`` and of the reader that a plan of the grammar may have all
            the same; one that ends with a dot stands for all that begin with it. None where it is narrower.
    """

    text: str
    codes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Grammar:
    """A grammar of the plans that a catalog allows.

    Args:
        text: The grammar, as engines read it.
        dialect: The notation of its plans.
        target: Its form, one of :data:`TARGETS`.
        looser: What a plan of the grammar may break.
        narrower: What the grammar does not allow, although the catalog does.
        schema: The schema as data, where it is one.
    """

    text: str
    dialect: str
    target: str
    looser: tuple[Limit, ...]
    narrower: tuple[Limit, ...]
    schema: Mapping[str, Any] | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return self.text

    @property
    def strict(self) -> bool:
        """Whether OpenAI's strict mode takes it."""
        return self.schema is not None and not explain_not_strict(self.schema)

    def may_break(self, code: str) -> bool:
        """Whether a plan of the grammar may have a finding of that code."""
        codes = [code for limit in self.looser for code in limit.codes]
        return any(code == c or (c.endswith(".") and code.startswith(c)) for c in codes)


def refuse_unknown(dialect: str, to: str, max_calls: int) -> None:
    """Refuse what no grammar can be made for.

    Raises:
        InputError: says what is possible.
    """
    if to not in TARGETS:
        raise InputError(f"unknown grammar form {to!r}; expected one of {', '.join(TARGETS)}")
    if dialect not in DIALECTS:
        raise InputError(
            f"there is no grammar for the dialect {dialect!r}; grammars exist for {', '.join(DIALECTS)}"
        )
    if to == "json-schema" and dialect not in JSON_DIALECTS:
        raise InputError(
            f"{dialect} is not JSON, so JSON Schema cannot describe it: use --grammar "
            f"lark or gbnf, or one of {', '.join(JSON_DIALECTS)}"
        )
    expect(POSITIVE_COUNT, max_calls=max_calls)
    if not 1 <= max_calls <= MAX_CALLS:
        raise InputError(f"a plan of a grammar may have 1 to {MAX_CALLS} calls, not {max_calls}")


def _find_unwritable(named: Sequence[Tool], tools: Sequence[Tool], dialect: str) -> list[Limit]:
    """The tools and arguments that a notation cannot write."""
    kept_names = {tool.full_name: {p.name for p in tool.parameters} for tool in tools}
    omitted = [tool.full_name for tool in named if tool.full_name not in kept_names]
    omitted += [
        f"{tool.full_name}'s {parameter.name}"
        for tool in named
        for parameter in tool.parameters
        if tool.full_name in kept_names and parameter.name not in kept_names[tool.full_name]
    ]
    if not omitted:
        return []
    listed = _join_names([repr(name) for name in omitted])
    return [Limit(f"left out, because {dialect} has no way to write it: {listed}")]


def _join_names(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    return format_first([shorten(name, 40) for name in names], 3)


def _layout_limits(named: Sequence[Tool], dialect: str, to: str) -> list[Limit]:
    limits = [] if to == "json-schema" else [Limit(_LAYOUT), Limit(_NUMBERS)]
    if any(tool.open and (tool.parameters or dialect in ("pythonic", "appbench")) for tool in named):
        limits.append(
            Limit("arguments that the catalog does not list are left out, even where a tool takes them")
        )
    return limits


def _notation_limits(dialect: str) -> list[tuple[str, tuple[str, ...]]]:
    """What no grammar of a notation holds."""
    unused = (_UNUSED, ("check.unused_result",))
    limits: dict[str, list[tuple[str, tuple[str, ...]]]] = {
        "json": [],
        "plan": [unused],
        "nestful": [unused],
        "pythonic": [(_NESTED, ()), (_OUTPUT, ("check.output_type",)), unused],
        "appbench": [
            (_USED_BEFORE_RETURN, ("reference.", "plan.cycle", "check.output_type", "check.unknown_output")),
            unused,
            ("numbers may be without quotes", ("argument.bare_number",)),
        ],
    }
    return limits[dialect]


def _write_grammar(
    spec: PlanSpec, to: str, looser: dict[str, tuple[str, ...]], narrower: Sequence[Limit]
) -> Grammar:
    """The grammar of plans; what is found to be looser meanwhile is added.

    Raises:
        TooLargeError: it would be too large.
    """
    schema, values = None, make_value_rules(spec, MAX_CHARS)
    builder = SchemaBuilder(spec=spec, form=value_form(spec.dialect), texts=spec.texts)
    if to == "json-schema":
        schema = builder.plans()
        if len(json.dumps(schema)) > MAX_CHARS:
            raise TooLargeError
    else:
        start = plan_rules(spec, values)
    looser |= builder.loose | values.loose
    loose = tuple(Limit(text, codes) for text, codes in looser.items())
    narrow = (*narrower, *map(Limit, (*builder.narrow, *values.narrow)))
    tools, calls = format_count(len(spec.tools), "tool"), format_count(spec.most, "call")
    head = [f"Plans of {tools} in {spec.dialect}, {calls} at most."]
    head += [f"Looser than the catalog: {limit.text}." for limit in loose]
    head += [f"Narrower than the catalog: {limit.text}." for limit in narrow]
    if schema is None:
        text = (write_lark if to == "lark" else write_gbnf)(values.rules, start, head)
        return Grammar(text, spec.dialect, to, loose, narrow)
    if why := explain_not_strict(schema):
        head.append(f"Not for OpenAI's strict mode: it has {why}.")
    schema = {"$comment": " ".join(head), **schema}
    text = json.dumps(schema, ensure_ascii=False, indent=1) + "\n"
    return Grammar(text, spec.dialect, to, loose, narrow, schema)


def _too_large(spec: PlanSpec) -> str:
    tools, calls = format_count(len(spec.tools), "tool"), format_count(spec.most, "call")
    return (
        f"a grammar of {tools} and {calls} would have more than {MAX_CHARS:,} characters, which no engine "
        "accepts: drop tools, or lower --max-calls"
    )


# ----------------------------------------------------------------------
# Grammars that hold what a model writes to the plans of a catalog.
def grammar(
    catalog: Any, *, dialect: str | None = None, max_calls: int = 8, to: str | None = None
) -> Grammar:
    """A grammar of the plans that a catalog allows, for engines that decode by one.

    It holds names of tools and arguments, types, listed values, what is required, and references to earlier
    calls only. What a form or a notation cannot hold is looser, and said.

    Args:
        catalog: The tools, as for :func:`planner_eval.read_catalog`.
        dialect: The notation of the plans: ``"plan"``, when left out, ``"json"``, ``"nestful"``,
            ``"pythonic"`` or ``"appbench"``.
        max_calls: How many calls a plan may have.
        to: The form that the engine reads: ``"json-schema"``, when left out, ``"lark"`` or ``"gbnf"``.

    Returns:
        The grammar: its ``text``, and in words where it is ``looser`` or ``narrower`` than the catalog.

    Raises:
        CatalogError: the catalog cannot be read.
        InputError: there is no grammar of that form for the notation, no tool that it can call, or it would
            be too large.

    >>> made = grammar([{"name": "now", "parameters": {}}], dialect="pythonic", to="gbnf", max_calls=1)
    >>> print(made.text.splitlines()[-1])
    call-now-1 ::= "now(" ")"
    """
    catalog, dialect, to = read_catalog(catalog), dialect or "plan", to or "json-schema"
    refuse_unknown(dialect, to, max_calls)
    looser: dict[str, tuple[str, ...]] = {}

    def say(text: str, *codes: str) -> None:
        looser[text] = codes

    named = merge_variants(catalog, apps=dialect == "appbench", say=say)
    tools = tuple(tool for candidate in named if (tool := writable_tool(candidate, dialect)) is not None)
    narrower = [*_find_unwritable(named, tools, dialect), *_layout_limits(named, dialect, to)]
    narrower += [Limit(_DOLLARS)] if dialect == "nestful" else []
    has_references = dialect != "json" and max_calls != 1
    narrower += [Limit(_PARTS)] if has_references and outputs_of(tools).free else []
    if not tools:
        raise InputError(f"{catalog.name} has no tool that {dialect} can call")
    if dialect not in ("json", "pythonic", "appbench"):
        say(_OUTPUT, "check.unknown_output", "check.output_type")
    for keyword, names in untyped_keywords(catalog).items():
        say(f"{keyword} is not enforced ({_join_names(names)})", *_VALUE_CODES)
    for text, codes in _notation_limits(dialect):
        say(text, *codes)
    spec = PlanSpec(dialect, tools, catalog.text_values, max_calls)
    for attempt in (spec, replace(spec, unrolled=False)):
        if not attempt.unrolled and dialect in ("plan", "nestful"):
            say(_FORWARD_REFERENCES, "reference.", "plan.", "call.", "label.")
        try:
            return _write_grammar(attempt, to, looser, narrower)
        except TooLargeError:
            continue
    raise InputError(_too_large(spec))
