"""Rules of a policy that name a tool or an argument which no plan has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from planner_eval.base.errors import PolicyError
from planner_eval.base.text import did_you_mean
from planner_eval.plan.model import Plan
from planner_eval.policy import Policy, tool_fits

if TYPE_CHECKING:
    from planner_eval.policy.rule import Rule


class Names:
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
        """Complain about a rule of the user's own file that names what no plan has.

        Raises:
            PolicyError: names the rule's place, what is unknown, and the closest known name.
        """
        for rule in policy.rules:
            if rule.where and not _wild(rule.tool) and not self._tool(rule):
                tools = sorted({n for a, n, _ in self.seen} | {f"{a}.{n}" for a, n, _ in self.seen if a})
                hint = did_you_mean(rule.tool, tools, lead="; ")
                raise PolicyError(f"{rule.where}: no plan calls the tool {rule.tool!r}{hint}")
            if rule.where and not _wild(rule.argument) and not self._argument(rule):
                of = "" if rule.tool == "*" else f" of {rule.tool!r}"
                names = sorted({name for _, _, name in self.seen if name})
                raise PolicyError(
                    f"{rule.where}: no plan gives the argument {rule.argument!r}{of}"
                    f"{did_you_mean(rule.argument, names, lead='; ')}"
                )

    def _tool(self, rule: Rule) -> bool:
        return any(tool_fits(rule.tool, app, name) for app, name, _ in self.seen)

    def _argument(self, rule: Rule) -> bool:
        return any(argument and rule.fits(app, name, argument) for app, name, argument in self.seen)


def _wild(text: str) -> bool:
    return "*" in text or "?" in text
