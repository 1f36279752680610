"""What a compared answer is worth, part by part: pure functions over one comparison."""

from __future__ import annotations

import json
import keyword
from collections.abc import Mapping
from math import isfinite
from typing import Any

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.limits import Limits, Span
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import did_you_mean, lazy_pattern
from planner_eval.comparison.diff import Diff
from planner_eval.comparison.matching.align import Matching, match
from planner_eval.comparison.metrics.facts import Counts, Facts
from planner_eval.plan.canonical import value_key
from planner_eval.plan.linking import build_plan, move_arguments, replace_arguments
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.finding.answers import blank_thoughts_and_tokens
from planner_eval.reading.dialects.finding.segments import blank
from planner_eval.reading.dialects.read import locate, parse

# ----------------------------------------------------------------------
# What a compared answer is worth, part by part and call by call: pure functions over one comparison.
MAX_WRONG_REWARD = 0.95
"""What an answer is worth at most that does not mean the same as gold, however little is wrong."""


class Weights(NamedTuple):
    """What the parts of an answer are worth beside one another.

    Args:
        format: It can be read, and is a plan and nothing else.
        calls: The right tools are called: F1 of calls.
        arguments: Their arguments are right in name and value: F1 of arguments.
        references: Outputs of the right calls are taken in the right places: F1 of references.
        structure: Arguments take an output of the right call, whichever, that is there by then: F1 of these.
    """

    format: float = 0.1
    calls: float = 0.3
    arguments: float = 0.3
    references: float = 0.2
    structure: float = 0.1


class Verdicts(NamedTuple):
    """What each call of an answer is worth by itself, for rewards per call.

    Args:
        right: The call is right.
        wrong: A root cause lies in it.
        consequence: Something in it is wrong that follows from another mistake.
    """

    right: float = 1.0
    wrong: float = -1.0
    consequence: float = 0.0


DEFAULT_VERDICTS = Verdicts()
"""What they are worth where nothing is said."""


class CallReward(NamedTuple):
    """One call of an answer.

    Args:
        tool: The tool.
        verdict: ``"right"``, ``"wrong"`` or ``"consequence"``.
        reward: What that is worth.
        span: Where the call stands in the completion, in characters, where that is known.
        said: What is wrong, in words; of a consequence what it follows from.
    """

    tool: str
    verdict: str
    reward: float
    span: Span | None
    said: str


def normalize_weights(weights: Mapping[str, float] | Weights | None) -> Weights:
    """Weights as the user gives them, which add up to 1.

    Args:
        weights: Name → weight; those left out keep their own.

    Raises:
        InputError: there is no such part, or a weight is no number from 0 on, or all are 0.

    >>> normalize_weights({"format": 0, "references": 0, "structure": 0})
    Weights(format=0.0, calls=0.5, arguments=0.5, references=0.0, structure=0.0)
    """
    if not isinstance(weights, (Mapping, Weights, type(None))):
        raise InputError(
            f"the weights are {weights!r}, expected parts and numbers, such as {{'format': 0.2}}"
        )
    chosen: dict[str, Any] = Weights()._asdict()
    for name, value in (weights._asdict() if isinstance(weights, Weights) else weights or {}).items():
        if name not in chosen:
            hint = did_you_mean(str(name), chosen, f"expected one of {', '.join(chosen)}")
            raise InputError(f"the weights name {name!r}, which is not a part of a reward; {hint}")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
            raise InputError(f"the weight of {name} is {value!r}, expected a number, 0 or more")
        chosen[name] = value
    total = sum(chosen.values())
    if not total or not isfinite(total):
        raise InputError(f"the weights add up to {total:g}, expected more than 0")
    return Weights(**{name: value / total for name, value in chosen.items()})


def score_parts(matching: Matching) -> dict[str, float | None]:
    r"""The parts of an answer but its format, each from 0 to 1; None where neither plan has any of it.

    Only calls of gold's own tool earn something. Of equal calls of the prediction as many count as are right,
    else one; the others are too much. So nothing that is added earns but what is right itself.

    Args:
        matching: What :func:`planner_eval.comparison.matching.align.match` gave.

    >>> from planner_eval.comparison.matching.align import match
    >>> from planner_eval.reading.dialects.read import parse
    >>> score_parts(match(parse("f(#x='1')\ng(#y='2')"), parse("f(#x='1')")))
    {'calls': 0.6666666666666666, 'arguments': 0.6666666666666666, 'references': None, 'structure': None}
    """
    facts = Facts(matching)
    surplus = _find_repeated_calls(facts)
    if surplus:  # what is said again changes nothing of what the rest is worth, and counts as too much
        facts = Facts(
            match(_remove_copies(matching.pred, surplus), matching.gold, matching.policy, matching.terms)
        )
    extra = [matching.pred.calls[index] for index in surplus]
    edges = [edge for edge in matching.pred.written.edges if edge.consumer in surplus]
    counted = facts.arguments
    arguments = sum(counted.pred) + sum(len(call.arguments) for call in extra)
    counts = {
        "calls": Counts(len(facts.same_name), len(facts.pred.calls) + len(extra), facts.gold_calls),
        "arguments": Counts(sum(counted.right), arguments, sum(counted.gold)),
        "references": _count_references(facts, len(edges)),
        "structure": _count_structure(facts, len({(e.producer, e.consumer, e.argument) for e in edges})),
    }
    return {name: count.f1 for name, count in counts.items()}


def total_reward(
    weights: Weights, format: float, part_scores: Mapping[str, float | None], *, same: bool
) -> float:
    """One figure from 0 to 1.

    Parts that neither plan has say nothing, and the others take their share; the format keeps its own.

    Args:
        weights: What the parts are worth, adding up to 1.
        format: What the format is worth, from 0 to 1.
        part_scores: What :func:`score_parts` gave.
        same: Whether the answer means the same as gold.

    >>> round(total_reward(normalize_weights(None), 1.0, {"calls": 0.5, "arguments": None}, same=False), 3)
    0.55
    """
    weighted = [(getattr(weights, name), score) for name, score in part_scores.items() if score is not None]
    total = sum(weight for weight, _ in weighted)
    content = 1.0 if same or not total else sum(weight * score for weight, score in weighted) / total
    value = weights.format * format + (1 - weights.format) * content
    return value if same else min(value, MAX_WRONG_REWARD)


def call_rewards(comparison: Diff, verdicts: Verdicts) -> tuple[CallReward, ...]:
    r"""What each call of the prediction is worth by itself.

    Args:
        comparison: The comparison.
        verdicts: What right and wrong calls, and consequences, are worth.

    >>> from planner_eval.comparison.diff import diff
    >>> from planner_eval.reading.dialects.read import parse
    >>> both = parse("g(#y='7')\nh(#x='1')"), parse("a = f()\ng(#y=a)\nh(#x='2')")
    >>> [call.verdict for call in call_rewards(diff(*both), Verdicts())]
    ['consequence', 'wrong']
    """
    outcomes: dict[int, tuple[str, str]] = {}
    for edit in comparison.edits:
        verdict, root = "wrong" if edit.cause is None else "consequence", edit
        while root.cause is not None:
            root = comparison.edits[root.cause]
        for pred, _ in edit.places:
            if pred is None or pred.call is None:
                continue
            if pred.call not in outcomes or (verdict == "wrong" and outcomes[pred.call][0] != "wrong"):
                outcomes[pred.call] = verdict, root.message
    return tuple(
        CallReward(call.tool, verdict, getattr(verdicts, verdict), call.span, message)
        for call, (verdict, message) in (
            (call, outcomes.get(index, ("right", ""))) for index, call in enumerate(comparison.pred.calls)
        )
    )


def _find_repeated_calls(facts: Facts) -> dict[int, int]:
    """Calls of the prediction that only say again what another one says, and that one.

    Of equal calls as many are none as gold makes of them, and one where that is none.
    """
    groups: dict[int, list[int]] = {}
    for index, number in enumerate(_number_equal_calls(facts.pred)):
        groups.setdefault(number, []).append(index)
    many = [group for group in groups.values() if len(group) > 1]
    if not many:
        return {}
    whole_calls, partner = {*facts.whole_calls}, dict(facts.same_name)
    copies: dict[int, int] = {}
    for group in many:
        right = [index for index in group if index in partner and partner[index] in whole_calls] or group[:1]
        copies |= {index: right[0] for index in group if index not in right}
    return copies


def _number_equal_calls(plan: Plan) -> list[int]:
    """A number for each call of a plan, the same for equal ones: what refers to equal calls is equal."""
    numbers = [*range(len(plan.calls))]
    if len({(call.app, call.name) for call in plan.calls}) == len(plan.calls):
        return numbers
    first_numbers: dict[Any, int] = {}
    for index, call in enumerate(plan.calls):
        arguments = sorted(((name, value_key(value, numbers)) for name, value in call.arguments), key=repr)
        numbers[index] = first_numbers.setdefault((call.app, call.name, *arguments), index)
    return numbers


def _remove_copies(plan: Plan, copies: Mapping[int, int]) -> Plan:
    """A plan without copies; what refers to one refers to the call that it is a copy of."""
    remaining = [index for index in range(len(plan.calls)) if index not in copies]
    new_index = {index: new for new, index in enumerate(remaining)}
    new_index |= {index: new_index[original] for index, original in copies.items()}
    calls = [
        replace_arguments(plan.calls[index], move_arguments(plan.calls[index].arguments, new_index))
        for index in remaining
    ]
    return build_plan(calls)


def _count_references(facts: Facts, extra: int) -> Counts:
    """References of the right call to the right output of the right call."""
    partner, pred_edges, gold_edges = dict(facts.same_name), facts.pred_edges, facts.gold_edges
    gold_references = {(e.producer, e.consumer, e.argument, e.at, e.path) for e in gold_edges}
    pred_references = {
        (partner[e.producer], partner[e.consumer], e.argument, e.at, e.path)
        for e in pred_edges
        if e.producer in partner and e.consumer in partner
    }
    return Counts(len(pred_references & gold_references), len(pred_edges) + extra, len(gold_edges))


def _count_structure(facts: Facts, extra: int) -> Counts:
    """Which call's output goes into which argument, whatever the output; not where it is not there yet."""
    partner = dict(facts.same_name)
    pred_edges = {(e.producer, e.consumer, e.argument) for e in facts.pred_edges}
    gold_edges = {(e.producer, e.consumer, e.argument) for e in facts.gold_edges}
    free = facts.matching.policy.order == "free"
    mapped = {
        (partner[p], partner[c], name)
        for p, c, name in pred_edges
        if p in partner and c in partner and (free or p < c or partner[p] >= partner[c])
    }
    return Counts(len(mapped & gold_edges), len(pred_edges) + extra, len(gold_edges))


# ----------------------------------------------------------------------
# Whether words stand around the calls of a completion, however few, and wherever.
_STRICT_NOTATIONS = frozenset(
    {"json", "plan", "hermes", "mistral", "llama-json", "functionary-v3.1", "anthropic-xml", "pythonic"}
)
"""Notations in which nothing but calls, what names their results, and marks has a place. In others words
are part of the notation: thoughts of ReAct, plans of ReWOO, comments of programs."""

_MARKUP = lazy_pattern(r"```\w*+|</?+[\w:|\uff5c\u2581.=+\-]{1,40}+/?+>|\[/?+[A-Z_]{1,40}+\]")
"""A fence, a tag or a token: nothing that could be a sentence, for it holds no space."""

_CALL_PREFIX = lazy_pattern(
    r"(?m)^[ \t]*+(?:[-*]|\d++[.)])?+[ \t]*+(?:[\w.]++[ \t]*+=[ \t]*+)?+(?:await\b)?+|#[^\n]*+"
)
"""What stands before a call on its line, and comments."""

_LETTER = lazy_pattern(r"[^\W\d_]")

_PROSE_LINE = lazy_pattern(r"(?m)^[ \t;*]*+([^\W\d]\w*+(?:[ \t.,:]++[^\W\d]\w*+)*+)[.,!?:*]*+[ \t]*+$")
"""A line of words, which Python may take for an expression: ``Sure.``, ``Yes, done``; bold ones too."""

_ASSIGNED_NAME = lazy_pattern(r"\b([^\W\d]\w*+)[ \t]*+=")


def has_prose(plan: Plan, source: Any, dialect: str | None, limits: Limits) -> bool:
    """Whether words stand around the calls, thoughts and chat tokens aside.

    What a chat's message says beside the calls that it lists is none: APIs give both.

    Args:
        plan: The plan of the completion.
        source: The completion.
        dialect: The notation that is asked for.
        limits: Bounds on what is read.
    """
    noted = _has_text_note(plan)
    if not isinstance(source, str):
        return noted
    text = blank_thoughts_and_tokens(source)
    if noted and _is_text_ignored(text, source, dialect, limits):
        return True
    if not plan.calls or plan.dialect not in (*_STRICT_NOTATIONS, "code"):
        return False
    if plan.dialect == "code":
        return _has_prose_line(_text_outside_calls(plan, text))
    return (
        not _is_json(text)
        and _LETTER.search(_CALL_PREFIX.sub(" ", _text_outside_calls(plan, text))) is not None
    )


def _is_text_ignored(text: str, source: str, dialect: str | None, limits: Limits) -> bool:
    """Whether text is ignored that is no mark, thought or chat token."""
    left = _MARKUP.sub(lambda match: blank(match[0]), text)
    try:
        return left == source or _has_text_note(parse(left, dialect=dialect, limits=limits))
    except ParseError:
        return True


def _has_text_note(plan: Plan) -> bool:
    return any(note.code == "find.text" for note in plan.diagnostics)


def _is_json(text: str) -> bool:
    inside = text.strip().removeprefix("```json").removesuffix("```").strip()
    if inside[:1] not in ("[", "{"):
        return False
    try:
        json.loads(inside)
    except (ValueError, RecursionError):
        return False
    return True


def _text_outside_calls(plan: Plan, text: str) -> str:
    """What stands outside of the calls, without marks; nothing where it is not known where they stand."""
    spans = [call.span for call in plan.calls]
    if None in spans:
        spans = [call.span for call in locate(plan).calls]
    known_spans = sorted(span for span in spans if span is not None)
    if len(known_spans) < len(spans):
        return ""
    segments, position = [], 0
    for start, end in known_spans:
        segments.append(text[position:start])
        position = max(position, end)
    return _MARKUP.sub(" ", ";".join([*segments, text[position:]]))


def _has_prose_line(text: str) -> bool:
    """Whether a line of a program is nothing but words, none of them Python's or the name of a result."""
    bound = set(_ASSIGNED_NAME.findall(text))
    lines = ([word.rstrip(".,:") for word in match[1].split()] for match in _PROSE_LINE.finditer(text))
    return any(
        not any(keyword.iskeyword(word) or word.partition(".")[0] in bound for word in words)
        for words in lines
    )
