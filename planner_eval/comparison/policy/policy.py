"""How plans compare, as data: rules for values by tool and argument, and what order and repeats mean.

The default compares values exactly, numbers by value (7 is 7.0), and booleans are not numbers. Rules
say otherwise for the tools and arguments that they name, with wildcards; where several fit, the
last one holds. A rule is :class:`planner_eval.comparison.policy.values.Rule`; files are read by
:mod:`planner_eval.comparison.policy.file`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import PolicyError
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import did_you_mean
from planner_eval.plan.model import Plan, Value

if TYPE_CHECKING:
    from planner_eval.comparison.policy.values import Rule


ORDERS = {
    "data": "only a call before one whose output it needs is an error",
    "free": "order does not matter at all",
    "written": "calls must come in gold's written order",
    "flat": "`written` if gold has no references, because nothing else shows dependencies then; else `data`",
}


NAMES = {
    "exact": "names of tools must be equal",
    "loose": "names of tools may differ in `.`, `_`, `-` and case",
}


COUNTS = {
    "always": "every call counts",
    "if gold calls it": "a call counts if gold calls its tool",
    "never": "a call counts only if a counted call uses its output",
}


CALLS_COUNT = {
    "count": "they count like other calls",
    "free": "they count only if a counted call uses their output",
}
"""How calls of a kind count: those that only read, that failed, that gold or the prediction lacks."""


@fast_frozen
class ToolCount:
    """Whether calls of some tools count.

    Args:
        tool: A name, or ``App.name``; ``*`` and ``?`` are wildcards.
        counts: One of :data:`COUNTS`.
        where: Where the user said so; "" for a row of ours.
    """

    tool: str
    counts: str
    where: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if self.counts not in COUNTS:
            raise PolicyError(format_unknown_name(self.counts, COUNTS))


@fast_frozen
class Policy:
    """Everything a comparison depends on besides the two plans.

    Args:
        name: Its name in reports.
        rules: The rules for values; the last that fits an argument holds.
        order: One of :data:`ORDERS`.
        names: One of :data:`NAMES`.
        answer: Whether the plan's answer is compared.
        inline: Whether a call written as an argument's value is a call of its own.
        repeats: Whether equal calls count as often as they are made; False merges those of tools
            that are not `stateful`.
        stateful: Tools whose repeated calls always count; wildcards as in rules.
        wildcards: Values of gold that accept any value.
        defaults: (tool, argument) → what the tool takes where the argument is left out, as its schema
            says; the tool is a name, or ``App.name``. A rule's own default comes first.
        tools: Tools that are known beside those of the plans → their arguments.
        outputs: Tool → the name of its only output, which equals its whole result; "" for one without.
        unknown: Is told of a rule of the user's own that names what nothing has; None: that is an error.
        counts: Which calls count, by their tools; the last row that fits a tool holds.
        failed: Whether a call counts whose recorded answer says that it failed: one of :data:`CALLS_COUNT`.
        extra: Whether a call of the prediction counts that stands for none of gold's, likewise.
        missing: Whether a call of gold counts that the prediction does not make, likewise.

    >>> from planner_eval.comparison.policy.values import Rule
    >>> Policy(rules=(Rule(argument="city", compare=("casefold",)),)).rule(None, "f", "city").compare
    ('casefold',)
    """

    name: str = "default"
    rules: tuple[Rule, ...] = ()
    order: str = "data"
    names: str = "exact"
    answer: bool = True
    inline: bool = False
    repeats: bool = True
    stateful: tuple[str, ...] = ()
    wildcards: tuple[Value, ...] = ()
    defaults: Mapping[tuple[str, str], Value] = field(default_factory=dict)
    tools: Mapping[str, frozenset[str]] = field(default_factory=dict)
    outputs: Mapping[str, str] = field(default_factory=dict)
    unknown: Callable[[str], object] | None = field(default=None, compare=False, repr=False)
    counts: tuple[ToolCount, ...] = ()
    failed: str = "count"
    extra: str = "count"
    missing: str = "count"

    def __post_init__(self) -> None:
        calls = [(word, CALLS_COUNT) for word in (self.failed, self.extra, self.missing)]
        for word, choices in ((self.order, ORDERS), (self.names, NAMES), *calls):
            if word not in choices:
                raise PolicyError(format_unknown_name(word, choices))

    @property
    def leaves_out_calls(self) -> bool:
        """Whether there may be calls that do not count."""
        return bool(self.counts) or self.failed == "free"

    @property
    def names_tools(self) -> bool:
        """Whether it says something in the user's own words of tools that plans then have to call."""
        return any(rule.where for rule in self.rules) or any(row.where for row in self.counts)

    def rule(self, app: str | None, name: str, argument: str) -> Rule | None:
        """The rule that holds for an argument; None where none fits."""
        for rule in reversed(self.rules):
            if rule.fits(app, name, argument):
                return rule
        return None

    def is_stateful(self, app: str | None, name: str) -> bool:
        """Whether repeated calls of a tool always count."""
        return any(tool_fits(pattern, app, name) for pattern in self.stateful)


DEFAULT_POLICY = Policy()
"""Values exactly, numbers by value, order by data flow."""


def intern_policy(policy: Policy) -> Policy:
    """The policy; :data:`DEFAULT_POLICY` itself for one that is equal to it, as copies from afar are.

    Comparisons under the default policy take short ways, and know it by being the one.

    >>> intern_policy(Policy()) is DEFAULT_POLICY
    True
    """
    return DEFAULT_POLICY if policy == DEFAULT_POLICY else policy


def format_unknown_name(name: str, choices: Mapping[str, object]) -> str:
    """What to say of a name that no rule has."""
    hint = did_you_mean(name, choices, f"expected one of {', '.join(choices)}")
    return f"there is no rule {name!r}; {hint}"


@cache
def _compile_pattern(text: str) -> re.Pattern[str]:
    quoted = re.escape(text).replace(r"\*", ".*").replace(r"\?", ".")
    return re.compile(quoted, re.DOTALL)


def has_wildcard(pattern: str) -> bool:
    """Whether a pattern may name several things."""
    return "*" in pattern or "?" in pattern


def fits(pattern: str, text: str) -> bool:
    """Whether a text is what a pattern names: itself, or with ``*`` and ``?`` for any text and character."""
    return pattern in ("*", text) or (
        has_wildcard(pattern) and _compile_pattern(pattern).fullmatch(text) is not None
    )


def tool_fits(pattern: str, app: str | None, name: str) -> bool:
    """Whether a pattern names a tool, by its name or as ``App.name``."""
    return fits(pattern, name) or (app is not None and fits(pattern, f"{app}.{name}"))


class Terms(NamedTuple):
    """What one gold plan leaves open, by the ids of its calls.

    Args:
        optional: Calls that need not be made.
        before: Pairs (first, then): the one must be written before the other, data flow or not.
        unordered: Groups of calls whose order does not count where the policy's order is "written".
        accepted: Call → argument → values that are right besides gold's.
        omittable: Call → arguments that need not be given.
    """

    optional: frozenset[str] = frozenset()
    before: tuple[tuple[str, str], ...] = ()
    unordered: tuple[frozenset[str], ...] = ()
    accepted: Mapping[str, Mapping[str, tuple[Any, ...]]] = {}
    omittable: Mapping[str, frozenset[str]] = {}

    def merged(self, new_ids: Mapping[str, str]) -> Terms:
        """The same where calls are made once for others: what is open at any of them is open there.

        Args:
            new_ids: Call → the call that is made for it.

        >>> Terms(optional=frozenset("a"), before=(("a", "c"),)).merged({"a": "a", "b": "a", "c": "c"})
        Terms(optional=frozenset(), before=(('a', 'c'),), unordered=(), accepted={}, omittable={})
        """
        needed = {new_id for call, new_id in new_ids.items() if call not in self.optional}
        before = ((new_ids.get(first, first), new_ids.get(then, then)) for first, then in self.before)
        accepted: dict[str, dict[str, tuple[Any, ...]]] = {}
        omittable: dict[str, frozenset[str]] = {}
        for call, arguments in self.accepted.items():
            merged_values = accepted.setdefault(new_ids.get(call, call), {})
            for name, values in arguments.items():
                merged_values[name] = tuple(sorted([*merged_values.get(name, ()), *values], key=repr))
        for call, names in self.omittable.items():
            new_id = new_ids.get(call, call)
            omittable[new_id] = omittable.get(new_id, frozenset()) | names
        return Terms(
            frozenset(new_ids.get(call, call) for call in self.optional) - needed,
            tuple(dict.fromkeys(pair for pair in before if pair[0] != pair[1])),
            tuple(frozenset(new_ids.get(call, call) for call in group) for group in self.unordered),
            accepted,
            omittable,
        )

    def of(self, call: str) -> str:
        """All that is left open at one call, as a text: equal texts, equal terms.

        >>> Terms(optional=frozenset({"c1"})).of("c1") == NO_TERMS.of("c1")
        False
        """
        return repr(
            (
                call in self.optional,
                [(number, pair.index(call)) for number, pair in enumerate(self.before) if call in pair],
                [number for number, group in enumerate(self.unordered) if call in group],
                sorted(self.accepted.get(call, {}).items(), key=itemgetter(0)),
                sorted(self.omittable.get(call, ())),
            )
        )


NO_TERMS = Terms()
"""Nothing is left open."""


# ----------------------------------------------------------------------
# Rules of a policy that name a tool or an argument which nothing has.
_CATALOG_HINT = '; tools that these plans do not call are known from a catalog: catalog = "tools.json"'


class KnownNames:
    """The tools and arguments of the plans that have gone by.

    Args:
        data: Those of earlier plans, as :meth:`data` gave them.
    """

    def __init__(self, data: Iterable[Iterable[Any]] = ()) -> None:
        self.seen: set[tuple[str | None, str, str]] = set(map(tuple, data))

    def add(self, plans: Iterable[Plan | None]) -> None:
        """Note the names of some plans."""
        for plan in plans:
            for call in plan.calls if plan is not None else ():
                self.seen.add((call.app, call.name, ""))
                for name, _ in call.arguments:
                    self.seen.add((call.app, call.name, name))

    def extend(self, other: KnownNames) -> None:
        """Add the names of plans that come next."""
        self.seen |= other.seen

    def data(self) -> list[tuple[str | None, str, str]]:
        """The same as JSON data."""
        return sorted(self.seen, key=lambda name: (name[0] or "", name[0] is None, *name[1:]))

    def check(self, policy: Policy) -> None:
        """Complain about rules of the user's own file that name what neither a plan nor its catalog has.

        Raises:
            PolicyError: names the first such rule's place, what is unknown, and the closest known name;
                ``policy.unknown`` is told of each instead, where it is given.
        """
        for message in self.unknown(policy):
            if policy.unknown is None:
                raise PolicyError(message)
            policy.unknown(message)

    def unknown(self, policy: Policy) -> list[str]:
        """What there is to complain about, a sentence a rule."""
        rules = [rule for rule in policy.rules if rule.where]
        if not policy.names_tools:
            return []
        known_names = self.seen | {
            (None, tool, name) for tool, arguments in policy.tools.items() for name in ("", *arguments)
        }
        nor = " and no catalog has" if policy.tools else ""
        elsewhere = "" if policy.tools else _CATALOG_HINT
        messages = [_format_complaint(rule, known_names, nor, elsewhere) for rule in rules]
        messages += [
            _format_tool_complaint(row, known_names, nor, elsewhere) for row in policy.counts if row.where
        ]
        return [message for message in messages if message is not None]


def _format_complaint(
    rule: Rule, known_names: set[tuple[str | None, str, str]], nor: str, elsewhere: str
) -> str | None:
    called = any(_is_for_tool(rule, app, name) for app, name, _ in known_names)
    if not called:
        return _format_tool_complaint(rule, known_names, nor, elsewhere)
    if has_wildcard(rule.argument) or any(
        argument and _is_for_tool(rule, app, name) and fits(rule.argument, argument)
        for app, name, argument in known_names
    ):
        return None
    of = "" if rule.tool == "*" else f" of {rule.tool!r}"
    names = sorted({name for app, tool, name in known_names if name and _is_for_tool(rule, app, tool)})
    arguments_hint = f"; they give {', '.join(names[:10])}" if names else ""
    hint = did_you_mean(rule.argument, names, arguments_hint or elsewhere, lead="; ")
    return f"{rule.where}: no plan gives{nor} the argument {rule.argument!r}{of}{hint}"


def _format_tool_complaint(
    rule: Rule | ToolCount, known_names: set[tuple[str | None, str, str]], nor: str, elsewhere: str
) -> str | None:
    if has_wildcard(rule.tool) or any(_is_for_tool(rule, app, name) for app, name, _ in known_names):
        return None
    tools = sorted({n for _, n, _ in known_names} | {f"{a}.{n}" for a, n, _ in known_names if a})
    hint = did_you_mean(rule.tool, tools, elsewhere, lead="; ")
    return f"{rule.where}: no plan calls{nor} the tool {rule.tool!r}{hint}"


def _is_for_tool(rule: Rule | ToolCount, app: str | None, name: str) -> bool:
    """Whether a rule is for a tool, which a catalog may name with its app."""
    bare = name.rpartition(".")[2]
    return tool_fits(rule.tool, app, name) or (
        app is None and bare != name and tool_fits(rule.tool, None, bare)
    )
