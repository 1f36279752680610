"""One completion beside its gold plan: read, compared, and worth something whatever it is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import nan
from typing import Any

from planner_eval.base.errors import LimitError, ParseError, PlanevalError
from planner_eval.base.limits import Limits
from planner_eval.base.named import NamedTuple
from planner_eval.comparison.align import match
from planner_eval.comparison.diff import diff_any
from planner_eval.dialects.bare import lists_nothing
from planner_eval.dialects.read import locate, parse
from planner_eval.integrations.reward_parts import CallReward, Verdicts, Weights, calls_of, parts_of, worth
from planner_eval.integrations.reward_words import has_words
from planner_eval.metrics.calls import exact
from planner_eval.metrics.facts import Facts
from planner_eval.plan.model import Plan
from planner_eval.policy import Policy
from planner_eval.records.files import Record
from planner_eval.records.gold import Gold, read_gold, sure_gold
from planner_eval.records.rows import unread_state
from planner_eval.verbs.reading import gold_record

LIMITS = Limits(chars=64_000, depth=64, calls=256, explained=False)
"""What a completion may hold at most: a larger one is unreadable, so that none takes long."""

_GOLDS = 1024
_ECHO = 20
"""Characters from which on a copy of the prompt's words at the start of a completion is taken out."""


class Judged(NamedTuple):
    """What one completion is worth, and why.

    Args:
        reward: What the trainer is given; NaN where there is no gold plan that can be read.
        state: ``"same"``, ``"different"``, ``"unreadable"``, ``"cut"``, ``"too_large"``,
            ``"gold_unreadable"``, and for answers of APIs ``"refused"`` or ``"failed"``.
        parts: What each part is worth, from 0 to 1; None where neither plan has any of it.
        calls: What each call is worth by itself.
        missing: How many calls of gold are not made.
        said: What is wrong, in words.
    """

    reward: float
    state: str
    parts: Mapping[str, float | None] = {}
    calls: tuple[CallReward, ...] = ()
    missing: int = 0
    said: str = ""

    @property
    def readable(self) -> bool:
        """Whether the completion could be read as a plan, be it one without calls."""
        return self.state in ("same", "different")


class How(NamedTuple):
    """How completions are judged; see :func:`reward`."""

    weights: Weights
    verdicts: Verdicts
    policy: Policy
    dialect: str | None
    repair: bool
    prose: bool
    unreadable: float
    limits: Limits


def judged(pair: tuple[Record, Record], settings: How, *, per_call: bool = False) -> Judged:
    """What a completion is worth beside its gold plan.

    Args:
        pair: The completion and the gold plan.
        settings: How it is judged.
        per_call: Say what each call is worth, and why.
    """
    pred, gold_record = pair
    gold = _gold(gold_record)
    if isinstance(gold, str):
        return Judged(nan, "gold_unreadable", said=gold)
    try:
        plan, format = _read(pred, settings)
        words = not plan.calls and isinstance(pred.source, str) and not lists_nothing(pred.source)
    except ParseError as error:
        state = "too_large" if isinstance(error, LimitError) else unread_state(error)
        return Judged(settings.unreadable, state, said=str(error).partition("\n")[0])
    except Exception as error:  # whatever a completion is, training goes on
        return Judged(settings.unreadable, "unreadable", said=f"{type(error).__name__}: {error}")
    return _compared(plan, gold, format, settings, words=words, per_call=per_call)


def _compared(plan: Plan, gold: Gold, format: float, settings: How, *, words: bool, per_call: bool) -> Judged:
    if len(gold.plans) == 1 and not per_call:
        gold_plan, terms = gold.plans[0]
        matching = match(plan, gold_plan, settings.policy, terms)
        same = bool(exact(Facts(matching)).part)
        missing = len(matching.alignment.missing)
        calls: tuple[CallReward, ...] = ()
        message = ""
    else:
        comparison = diff_any(locate(plan) if per_call else plan, gold.plans, settings.policy).diff
        assert comparison.matching is not None
        # As figures count, not as the differences are told.
        matching = comparison.matching.by_name or comparison.matching
        same, missing = comparison.same, len(matching.alignment.missing)
        calls = calls_of(comparison, settings.verdicts) if per_call else ()
        message = "; ".join(edit.message for edit in comparison.roots) if per_call else ""
    part_scores = parts_of(matching)
    if words and matching.gold.calls:
        format = 0.0  # to answer in words is no plan, where one is wanted
    value = worth(settings.weights, format, part_scores, same=same)
    return Judged(
        value, "same" if same else "different", {"format": format, **part_scores}, calls, missing, message
    )


def _read(record: Record, settings: How) -> tuple[Plan, float]:
    """The plan of a completion, and what its format is worth."""
    if record.error is not None:  # it took too long, or ended its process
        raise record.error
    source = record.source
    try:
        plan = parse(source, dialect=settings.dialect, limits=settings.limits)
    except ParseError:
        if not settings.repair:
            raise
        return parse(source, dialect=settings.dialect, limits=settings.limits, repair=True), 0.0
    return plan, float(settings.prose or not has_words(plan, source, settings.dialect, settings.limits))


def pair_of(index: int, completion: Any, gold: Any, prompt: Any = None) -> tuple[Record, Record]:
    """A completion and its gold plan as records.

    Args:
        index: Which of the batch it is.
        completion: A text, or a list of a chat's messages.
        gold: The gold plan.
        prompt: The prompt, whose copy at the start of the completion is taken out.
    """
    source = _words(completion)
    if isinstance(source, str) and prompt is not None:
        source = _without_echo(source, prompt)
    return Record("completion", index, None, source), Record("gold", index, None, gold)


def _words(completion: Any) -> Any:
    """The text of a chat's one message, where it lists no calls; anything else as it is."""
    match completion:
        case [{"content": str() | None as text, **fields}] if not fields.get("tool_calls") and not fields.get(
            "function_call"
        ):
            return text or ""
    return completion


def _without_echo(text: str, prompt: Any) -> str:
    """A completion without a copy of the prompt at its start; places stay those of the completion."""
    prompt_texts = [prompt] if isinstance(prompt, str) else [_content(message) for message in _items(prompt)]
    offset = 0
    for words in (t.strip() for t in prompt_texts):
        start = offset + len(text[offset:]) - len(text[offset:].lstrip())
        if len(words) >= _ECHO and text.startswith(words, start):
            offset = start + len(words)
    return " " * offset + text[offset:]


def _items(prompt: Any) -> Sequence[Any]:
    return prompt if isinstance(prompt, (list, tuple)) else ()


def _content(message: Any) -> str:
    content = message.get("content") if isinstance(message, Mapping) else None
    return content if isinstance(content, str) else ""


def _gold(record: Record) -> Gold | str:
    """The gold plans of a record, or why they cannot be read."""
    source = record.source
    if record.error is not None:
        return str(record.error)
    if isinstance(source, Plan):
        return read_gold(record)
    try:
        return _gold_of(source) if isinstance(source, str) else _gold_of(json.dumps(source), data=True)
    except (TypeError, ValueError) as error:
        return f"the gold plan is no text and no JSON data: {error}"


@lru_cache(maxsize=_GOLDS)
def _gold_of(text: str, *, data: bool = False) -> Gold | str:
    """The gold plans of a text, or of JSON data; the completions of one group share them."""
    try:
        return sure_gold(gold_record(json.loads(text) if data else text))
    except (PlanevalError, RecursionError) as error:
        return str(error).partition("\n")[0]
