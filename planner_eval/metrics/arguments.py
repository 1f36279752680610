"""Arguments: names, values, and errors in dependent and independent ones apart."""

from __future__ import annotations

from planner_eval.metrics.counts import Counts, Share
from planner_eval.metrics.facts import Facts


def argument_names(facts: Facts) -> Counts:
    """Argument names that partners share.

    F1 = 2 · shared names / (arguments of pred + arguments of gold), all calls counted, partners or
    not. Empty: None when no call has arguments.

    Source: NESTful's F1 of parameters (section 4.3 of its paper), names one to one.
    """
    counted = facts.arguments
    return Counts(sum(counted.shared), sum(counted.pred), sum(counted.gold))


def argument_values(facts: Facts) -> Counts:
    """Arguments right in name and value, references included.

    F1 = 2 · right arguments / (arguments of pred + arguments of gold). Empty: None when no call has
    arguments.

    Source: the argument F1 of AppBench (section 4.2 of its paper), repeated calls kept apart.
    """
    counted = facts.arguments
    return Counts(sum(counted.right), sum(counted.pred), sum(counted.gold))


def independent_arguments(facts: Facts) -> Counts:
    """Right arguments among those whose values hold no reference. Empty: None when there are none."""
    counted = facts.arguments
    return Counts(counted.right[0], counted.pred[0], counted.gold[0])


def dependent_arguments(facts: Facts) -> Counts:
    """Right arguments among those whose values hold references. Empty: None when there are none."""
    counted = facts.arguments
    return Counts(counted.right[1], counted.pred[1], counted.gold[1])


def independent_errors(facts: Facts) -> Share:
    """Share of gold's literal arguments that partners get wrong or leave out. Empty: None.

    Source: the error analysis of AppBench (section 5.3 of its paper), independent errors.
    """
    counted = facts.arguments
    return Share(counted.wanted[0] - counted.right[0], counted.wanted[0])


def dependent_errors(facts: Facts) -> Share:
    """Share of gold's arguments with references that partners get wrong or leave out. Empty: None.

    Source: the error analysis of AppBench (section 5.3 of its paper), dependent errors.
    """
    counted = facts.arguments
    return Share(counted.wanted[1] - counted.right[1], counted.wanted[1])
