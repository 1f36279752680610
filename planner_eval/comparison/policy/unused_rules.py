"""Rules of a policy that change nothing, and those that name a tool or an argument which nothing has."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import PolicyError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import did_you_mean
from planner_eval.comparison.policy.policy import Policy, ToolCount, fits, has_wildcard, tool_fits
from planner_eval.plan.model import Plan

if TYPE_CHECKING:
    from planner_eval.comparison.policy.values import Rule

# ----------------------------------------------------------------------
# Rules of a policy's file that change nothing: they say nothing, never hold, or contradict themselves.
_PRESENCE_RULES = frozenset({"any", "optional", "extra"})
_RULE_SETTINGS = "compare, tolerance, relative, accepted, aliases, default, pattern or function"


class IdleRule(NamedTuple):
    """A rule that changes nothing.

    Args:
        at: Its place among the rules, from 0.
        words: What is wrong with it.
    """

    at: int
    words: str


def find_idle_rule(rules: Sequence[Rule], *, first: bool = True) -> IdleRule | None:
    """The first rule of a file that changes nothing, or has words that do not; None where each does.

    Args:
        rules: The rules of one file.
        first: Whether no rule of another file comes before them, which one that says nothing takes back.

    >>> from planner_eval.comparison.policy.values import Rule
    >>> find_idle_rule([Rule(argument="city", compare=("casefold",)), Rule(compare=("numbers",))]).words
    'never applies: rule 2 comes later and covers all that it covers; move it after that one'
    """
    from planner_eval.comparison.policy.values import Rule

    # Most rules name what they fit or say "*" of it: those are looked up, and only patterns are gone through.
    indexes: dict[tuple[str, str], list[int]] = {}
    for index, rule in enumerate(rules):
        indexes.setdefault((rule.tool, rule.argument), []).append(index)
    patterns = [
        (i, rule) for i, rule in enumerate(rules) if _is_pattern(rule.tool) or _is_pattern(rule.argument)
    ]
    for index, rule in enumerate(rules):
        if first and index == 0 and rule == Rule(rule.tool, rule.argument):
            return IdleRule(index, f"sets nothing; expected {_RULE_SETTINGS}")
        if words := _find_ineffective_words(rule):
            return IdleRule(index, words)
        later = indexes[rule.tool, rule.argument][-1]
        if later == index:
            keys = (("*", rule.argument), (rule.tool, "*"), ("*", "*"))
            later_indexes = [
                rule_indexes[n]
                for rule_indexes in map(indexes.get, keys)
                if rule_indexes and (n := bisect_right(rule_indexes, index)) < len(rule_indexes)
            ]
            later_indexes += islice(
                (n for n, other_rule in patterns if n > index and _covers(other_rule, rule)), 1
            )
            later = min(later_indexes, default=index)
        if later > index:
            reason = f"rule {later + 1} comes later and covers all that it covers"
            return IdleRule(index, f"never applies: {reason}; move it after that one")
    return None


def _find_ineffective_words(rule: Rule) -> str | None:
    """What is wrong with a rule of which one word leaves others nothing to do; None where all of it acts."""
    from planner_eval.comparison.policy.values import NOTHING, Rule

    words = {*rule.compare}
    bare = replace(rule, compare=(), default=NOTHING) == Rule(rule.tool, rule.argument)
    if "ignore" in words:
        other_words, has_settings, effect = (
            words - {"ignore"},
            not bare or rule.default is not NOTHING,
            "ignores the argument",
        )
    elif "any" in words:
        other_words, has_settings, effect = words - _PRESENCE_RULES, not bare, "takes any value"
    elif "exact" in words:
        other_words, has_settings, effect = words - _PRESENCE_RULES - {"exact"}, False, "compares exactly"
    else:
        return None
    if other_words or has_settings:
        words_text = _format_words(other_words) if other_words else "the other settings"
        return f"{effect}, which leaves {words_text} without effect; remove one of them"
    return None


def _format_words(words: set[str]) -> str:
    return ", ".join(map(repr, sorted(words)))


def _is_pattern(text: str) -> bool:
    return text != "*" and has_wildcard(text)


def _covers(first: Rule, second: Rule) -> bool:
    """Whether a rule fits, for certain, all that another fits."""
    pairs = ((first.tool, second.tool), (first.argument, second.argument))
    return all(over in ("*", text) or (not has_wildcard(text) and fits(over, text)) for over, text in pairs)


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
