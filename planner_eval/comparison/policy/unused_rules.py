"""Rules of a policy that name a tool or an argument which nothing has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from planner_eval.base.errors import PolicyError
from planner_eval.base.text import did_you_mean
from planner_eval.comparison.policy.policy import Policy, fits, has_wildcard, tool_fits
from planner_eval.plan.model import Plan

if TYPE_CHECKING:
    from planner_eval.comparison.policy.rule import Rule


_CATALOG_HINT = '; tools that these plans do not call are known from a catalog: catalog = "tools.json"'


class KnownNames:
    """The tools and arguments of the plans that have gone by."""

    def __init__(self) -> None:
        self.seen: set[tuple[str | None, str, str]] = set()

    def add(self, plans: Iterable[Plan | None]) -> None:
        """Note the names of some plans."""
        for plan in plans:
            for call in plan.calls if plan is not None else ():
                self.seen.add((call.app, call.name, ""))
                for name, _ in call.arguments:
                    self.seen.add((call.app, call.name, name))

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
        if not rules:
            return []
        known_names = self.seen | {
            (None, tool, name) for tool, arguments in policy.tools.items() for name in ("", *arguments)
        }
        nor = " and no catalog has" if policy.tools else ""
        elsewhere = "" if policy.tools else _CATALOG_HINT
        return [
            message
            for rule in rules
            if (message := _format_complaint(rule, known_names, nor, elsewhere)) is not None
        ]


def _format_complaint(
    rule: Rule, known_names: set[tuple[str | None, str, str]], nor: str, elsewhere: str
) -> str | None:
    called = any(_is_for_tool(rule, app, name) for app, name, _ in known_names)
    if not called and has_wildcard(rule.tool):
        return None
    if not called:
        tools = sorted({n for _, n, _ in known_names} | {f"{a}.{n}" for a, n, _ in known_names if a})
        hint = did_you_mean(rule.tool, tools, elsewhere, lead="; ")
        return f"{rule.where}: no plan calls{nor} the tool {rule.tool!r}{hint}"
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


def _is_for_tool(rule: Rule, app: str | None, name: str) -> bool:
    """Whether a rule is for a tool, which a catalog may name with its app."""
    bare = name.rpartition(".")[2]
    return tool_fits(rule.tool, app, name) or (
        app is None and bare != name and tool_fits(rule.tool, None, bare)
    )
