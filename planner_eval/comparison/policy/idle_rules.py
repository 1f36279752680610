"""Rules of a policy's file that change nothing: they say nothing, never hold, or contradict themselves."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from planner_eval.comparison.policy.policy import fits, has_wildcard
from planner_eval.comparison.policy.rule import NOTHING, Rule

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

    >>> find_idle_rule([Rule(argument="city", compare=("casefold",)), Rule(compare=("numbers",))]).words
    'never holds: rule 2 comes later and fits all that it fits; write it after that'
    """
    # Most rules name what they fit or say "*" of it: those are looked up, and only patterns are gone through.
    indexes: dict[tuple[str, str], list[int]] = {}
    for index, rule in enumerate(rules):
        indexes.setdefault((rule.tool, rule.argument), []).append(index)
    patterns = [
        (i, rule) for i, rule in enumerate(rules) if _is_pattern(rule.tool) or _is_pattern(rule.argument)
    ]
    for index, rule in enumerate(rules):
        if first and index == 0 and rule == Rule(rule.tool, rule.argument):
            return IdleRule(index, f"says nothing; expected {_RULE_SETTINGS}")
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
            reason = f"rule {later + 1} comes later and fits all that it fits"
            return IdleRule(index, f"never holds: {reason}; write it after that")
    return None


def _find_ineffective_words(rule: Rule) -> str | None:
    """What is wrong with a rule of which one word leaves others nothing to do; None where all of it acts."""
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
        words_text = _format_words(other_words) if other_words else "the rest of it"
        return f"{effect}, which leaves {words_text} without effect; take the one or the other out"
    return None


def _format_words(words: set[str]) -> str:
    return ", ".join(map(repr, sorted(words)))


def _is_pattern(text: str) -> bool:
    return text != "*" and has_wildcard(text)


def _covers(first: Rule, second: Rule) -> bool:
    """Whether a rule fits, for certain, all that another fits."""
    pairs = ((first.tool, second.tool), (first.argument, second.argument))
    return all(over in ("*", text) or (not has_wildcard(text) and fits(over, text)) for over, text in pairs)
