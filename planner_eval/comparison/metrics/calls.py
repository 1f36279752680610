"""Calls and arguments: names, whole calls, values, and errors in dependent and independent ones apart."""

from __future__ import annotations

from planner_eval.comparison.diff import explain
from planner_eval.comparison.metrics.counts import Counts, Share
from planner_eval.comparison.metrics.facts import Facts


def calls(facts: Facts) -> Counts:
    """Calls of the right tool, paired one to one.

    F1 = 2 · pairs of one app and name / (calls of pred + calls of gold). Empty: None when neither
    plan has calls.

    Source: the F1 of API of AppBench (section 4.2 of its paper), with pairs counted as the text
    says and not as its code does; NESTful's F1 of functions, over calls instead of name sets.
    """
    return Counts(len(facts.same_name), len(facts.pred.calls), facts.gold_calls)


def whole_calls(facts: Facts) -> Counts:
    """Calls right in name and in every argument, references included.

    F1 = 2 · such pairs / (calls of pred + calls of gold). Empty: None when neither plan has calls.

    Source: call accuracy of ComplexFuncBench (section 3.1 of its paper) as an F1.
    """
    return Counts(len(facts.whole_calls), len(facts.pred.calls), facts.gold_calls)


def apps(facts: Facts) -> Counts:
    """Apps that are called, each once.

    F1 = 2 · apps of both / (apps of pred + apps of gold). Empty: None when no call names an app.

    Source: the F1 of App of AppBench (section 4.2 of its paper).
    """
    pred_apps = {call.app for call in facts.pred.calls} - {None}
    gold_apps = {c.app for i, c in enumerate(facts.gold.calls) if i not in facts.waived} - {None}
    return Counts(len(pred_apps & gold_apps), len(pred_apps), len(gold_apps))


def exact(facts: Facts) -> Share:
    """Whether the plan means the same as gold: 1 or 0 a sample.

    Source: success of AppBench and full match of NESTful, on data flow instead of text.
    """
    matching = facts.compared
    if matching.pairing is None:
        return Share(int(not matching.misplaced), 1)
    if matching.pairing.matcher is None and not matching.terms.optional:
        return Share(0, 1)
    return Share(int(explain(matching).same), 1)


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
