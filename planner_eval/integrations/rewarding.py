"""Rewards for training: what completions are worth beside gold plans, for TRL, verl and others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import isfinite, nan
from typing import Any

from planner_eval.base.errors import (
    COUNT,
    NAME,
    SECONDS,
    InputError,
    LimitError,
    ParseError,
    PlanevalError,
    expect,
    expect_or_none,
    instance_of,
)
from planner_eval.base.limits import Limits
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.diff import diff_any
from planner_eval.comparison.gold_alternatives import Gold, read_gold, read_gold_strictly
from planner_eval.comparison.matching.align import match
from planner_eval.comparison.metrics.facts import Facts
from planner_eval.comparison.metrics.metrics import exact
from planner_eval.comparison.policy.policy import DEFAULT_POLICY, Policy
from planner_eval.comparison.policy.resolve import AnyPolicy, policy_of
from planner_eval.comparison.rows import unread_state
from planner_eval.integrations.reward_parts import (
    DEFAULT_VERDICTS,
    CallReward,
    Verdicts,
    Weights,
    call_rewards,
    has_prose,
    normalize_weights,
    score_parts,
    total_reward,
)
from planner_eval.plan.model import Plan
from planner_eval.reading import dialects
from planner_eval.reading.dialects.finding.answers import is_empty_call_list
from planner_eval.reading.dialects.read import locate, parse
from planner_eval.reading.files.record import Record
from planner_eval.reading.parse import gold_record
from planner_eval.results.runs.model import Running
from planner_eval.results.runs.run import run

# ----------------------------------------------------------------------
# One completion beside its gold plan: read, compared, and worth something whatever it is.
LIMITS = Limits(chars=64_000, depth=64, calls=256, explained=False)
"""What a completion may hold at most: a larger one is unreadable, so that none takes long."""

_GOLD_CACHE_SIZE = 1024
_MIN_ECHO_LENGTH = 20
"""Characters from which on a copy of the prompt's words at the start of a completion is taken out."""


class Judgement(NamedTuple):
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


class RewardSettings(NamedTuple):
    """How completions are judged; see :func:`reward`."""

    weights: Weights
    verdicts: Verdicts
    policy: Policy
    dialect: str | None
    repair: bool
    prose: bool
    unreadable: float
    limits: Limits


def judge_pair(pair: tuple[Record, Record], settings: RewardSettings, *, per_call: bool = False) -> Judgement:
    """What a completion is worth beside its gold plan.

    Args:
        pair: The completion and the gold plan.
        settings: How it is judged.
        per_call: Say what each call is worth, and why.
    """
    pred, gold_record = pair
    gold = _read_gold_plans(gold_record)
    if isinstance(gold, str):
        return Judgement(nan, "gold_unreadable", said=gold)
    try:
        plan, format = _read_completion(pred, settings)
        words = not plan.calls and isinstance(pred.source, str) and not is_empty_call_list(pred.source)
    except ParseError as error:
        state = "too_large" if isinstance(error, LimitError) else unread_state(error)
        return Judgement(settings.unreadable, state, said=str(error).partition("\n")[0])
    except Exception as error:  # whatever a completion is, training goes on
        return Judgement(settings.unreadable, "unreadable", said=f"{type(error).__name__}: {error}")
    return _judge_plans(plan, gold, format, settings, words=words, per_call=per_call)


def _judge_plans(
    plan: Plan, gold: Gold, format: float, settings: RewardSettings, *, words: bool, per_call: bool
) -> Judgement:
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
        calls = call_rewards(comparison, settings.verdicts) if per_call else ()
        message = "; ".join(edit.message for edit in comparison.roots) if per_call else ""
    part_scores = score_parts(matching)
    if words and matching.gold.calls:
        format = 0.0  # to answer in words is no plan, where one is wanted
    value = total_reward(settings.weights, format, part_scores, same=same)
    return Judgement(
        value, "same" if same else "different", {"format": format, **part_scores}, calls, missing, message
    )


def _read_completion(record: Record, settings: RewardSettings) -> tuple[Plan, float]:
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
    return plan, float(settings.prose or not has_prose(plan, source, settings.dialect, settings.limits))


def pair_of(index: int, completion: Any, gold: Any, prompt: Any = None) -> tuple[Record, Record]:
    """A completion and its gold plan as records.

    Args:
        index: Which of the batch it is.
        completion: A text, or a list of a chat's messages.
        gold: The gold plan.
        prompt: The prompt, whose copy at the start of the completion is taken out.
    """
    source = _message_text(completion)
    if isinstance(source, str) and prompt is not None:
        source = _remove_echo(source, prompt)
    return Record("completion", index, None, source), Record("gold", index, None, gold)


def _message_text(completion: Any) -> Any:
    """The text of a chat's one message, where it lists no calls; anything else as it is."""
    match completion:
        case [{"content": str() | None as text, **fields}] if not fields.get("tool_calls") and not fields.get(
            "function_call"
        ):
            return text or ""
    return completion


def _remove_echo(text: str, prompt: Any) -> str:
    """A completion without a copy of the prompt at its start; places stay those of the completion."""
    messages = prompt if isinstance(prompt, (list, tuple)) else ()
    prompt_texts = [prompt] if isinstance(prompt, str) else map(_message_content, messages)
    offset = 0
    for words in (t.strip() for t in prompt_texts):
        start = offset + len(text[offset:]) - len(text[offset:].lstrip())
        if len(words) >= _MIN_ECHO_LENGTH and text.startswith(words, start):
            offset = start + len(words)
    return " " * offset + text[offset:]


def _message_content(message: Any) -> str:
    content = message.get("content") if isinstance(message, Mapping) else None
    return content if isinstance(content, str) else ""


def _read_gold_plans(record: Record) -> Gold | str:
    """The gold plans of a record, or why they cannot be read."""
    source = record.source
    if record.error is not None:
        return str(record.error)
    if isinstance(source, Plan):
        return read_gold(record)
    try:
        return (
            _read_cached_gold(source)
            if isinstance(source, str)
            else _read_cached_gold(json.dumps(source), data=True)
        )
    except (TypeError, ValueError) as error:
        return f"the gold plan is neither text nor JSON data: {error}"


@lru_cache(maxsize=_GOLD_CACHE_SIZE)
def _read_cached_gold(text: str, *, data: bool = False) -> Gold | str:
    """The gold plans of a text, or of JSON data; the completions of one group share them."""
    try:
        return read_gold_strictly(gold_record(json.loads(text) if data else text))
    except (PlanevalError, RecursionError) as error:
        return str(error).partition("\n")[0]


# ----------------------------------------------------------------------
# Rewards for training: what completions are worth beside gold plans, for TRL, verl and others.
def reward(  # noqa: PLR0913 - what a trainer may want to say
    *,
    dialect: str | None = None,
    gold_field: str = "gold",
    repair: bool = False,
    prose: bool = False,
    limits: Limits | None = None,
    policy: AnyPolicy = DEFAULT_POLICY,
    weights: Mapping[str, float] | Weights | None = None,
    per_call: Verdicts = DEFAULT_VERDICTS,
    unreadable: float = 0.0,
    deadline: float | None = None,
    jobs: int | None = None,
    name: str | None = None,
) -> Reward:
    """Make a reward function for training: ``(completions, gold, **columns) -> list[float]``.

    Args:
        dialect: The notation that is asked for; recognised when left out.
        gold_field: The column of the data set that holds the gold plans.
        repair: Mend small faults; a mended completion has no part of the format's share.
        prose: Words around the plan cost nothing; without it they cost the format's share.
        limits: Bounds on size, nesting and calls, narrower than usual when left out; what exceeds them counts
            as unreadable.
        policy: How values compare: a policy, the name of a preset, or a policy's file.
        weights: What ``format``, ``calls``, ``arguments``, ``references`` and ``structure`` are worth
            beside one another.
        per_call: What right and wrong calls, and consequences, are worth: see :meth:`Reward.judge`.
        unreadable: What a completion is worth that cannot be read.
        deadline: Seconds for a completion, which processes of their own keep, also with one job; one that
            takes longer is unreadable.
        jobs: How many processes judge a batch, as many as there are cores with 0; this one when left out.
        name: What trainers call the reward in their logs; planeval when left out.

    Returns:
        A function that trainers take; it can be pickled.

    Raises:
        InputError: a weight, the policy or the dialect is none, or another argument cannot be meant.

    >>> rewards = reward()
    >>> gold = ["f(#x='1')"] * 3
    >>> [round(found, 3) for found in rewards(["f(#x='1')", "f(#x='2')", "f(#x="], gold=gold)]
    [1.0, 0.55, 0.0]
    """
    if dialect is not None:
        dialects.get(dialect)
    if isinstance(unreadable, bool) or not isinstance(unreadable, (int, float)) or not isfinite(unreadable):
        raise InputError(f"unreadable is {unreadable!r}, expected a number")
    if unreadable > 1:
        raise InputError(f"unreadable is {unreadable!r}, expected at most 1, the reward of a right plan")
    expect(instance_of(Verdicts, "Verdicts(right=1, wrong=-1, consequence=0)"), per_call=per_call)
    expect_or_none(instance_of(Limits, "Limits of planner_eval.base.limits"), limits=limits)
    expect_or_none(COUNT, jobs=jobs)
    expect_or_none(NAME, name=name)
    expect_or_none(SECONDS, deadline=deadline)
    settings = RewardSettings(
        normalize_weights(weights),
        per_call,
        policy_of(policy),
        dialect,
        repair,
        prose,
        float(unreadable),
        limits or LIMITS,
    )
    return Reward(settings, gold_field, jobs, deadline, name or "planeval")


class Reward:
    """A reward function as trainers take it: :func:`reward` makes it.

    Whatever a completion is, it raises nothing: it is right, wrong or unreadable.

    Args:
        settings: How completions are judged.
        gold: The column that holds the gold plans.
        jobs: How many processes judge a batch.
        deadline: Seconds for a completion.
        name: What trainers call it.
    """

    def __init__(
        self, settings: RewardSettings, gold: str, jobs: int | None, deadline: float | None, name: str
    ) -> None:
        self.how, self.gold, self.jobs, self.deadline, self.__name__ = settings, gold, jobs, deadline, name

    def __call__(
        self, completions: Sequence[Any], *golds: Any, prompts: Sequence[Any] | None = None, **columns: Any
    ) -> list[float]:
        """What each completion is worth, as TRL asks for it.

        Args:
            completions: Texts, or lists of a chat's messages.
            golds: The gold plans, where they are not among the columns by their name: a list, one each.
            prompts: The prompts: one that is copied at the start of its completion is taken out.
            columns: The other columns of the data set, of which the gold plans are one. TRL's `log_metric`
                is told which share could be read, and which means the same as gold.

        Raises:
            InputError: there is no column of gold plans, or it has another length.
        """
        gold_plans = golds[0] if golds else columns.get(self.gold)
        if gold_plans is None:
            names = ", ".join(sorted(columns)) or "none"
            raise InputError(
                f"there is no column {self.gold!r} of gold plans; the columns are "
                f"{names}: name it with pe.reward(gold_field='NAME')"
            )
        if isinstance(gold_plans, (str, Plan, Mapping)):
            gold_plans = [gold_plans] * len(completions)
        prompt_list = [None] * len(completions) if prompts is None else prompts
        if not len(completions) == len(gold_plans) == len(prompt_list):
            raise InputError(
                f"{len(completions):,} completions, {len(gold_plans):,} gold plans and "
                f"{len(prompt_list):,} prompts: expected as many of each"
            )
        pairs = [
            pair_of(index, *row)
            for index, row in enumerate(zip(completions, gold_plans, prompt_list, strict=True))
        ]
        results = self._many(pairs)
        _log(columns.get("log_metric"), self.__name__, results)
        return [result.reward for result in results]

    def judge(self, completion: Any, gold: Any, prompt: Any = None) -> Judgement:
        r"""What one completion is worth, part by part and call by call, and why.

        Args:
            completion: A text, or a list of a chat's messages.
            gold: The gold plan.
            prompt: The prompt: where it is copied at the start of the completion it is taken out.

        >>> found = reward().judge("g(#y='7')\nh(#x='1')", "a = f()\ng(#y=a)\nh(#x='2')")
        >>> [(call.tool, call.verdict, call.reward) for call in found.calls]
        [('g', 'consequence', 0.0), ('h', 'wrong', -1.0)]
        """
        return judge_pair(pair_of(0, completion, gold, prompt), self.how, per_call=True)

    def compute_score(
        self, data_source: Any, solution_str: Any, ground_truth: Any, extra_info: Any = None, **_more: Any
    ) -> dict[str, Any]:
        """What one completion is worth, as verl asks for it.

        Args:
            data_source: Not looked at.
            solution_str: The completion.
            ground_truth: The gold plan.
            extra_info: Not looked at.

        Returns:
            ``score``, and beside it ``same`` and ``readable`` as 0 or 1 and ``state``, which verl logs.
            Where there is no gold plan that can be read the score is 0 for all completions of a group, which
            teaches nothing, and the state says so.
        """
        result = judge_pair(pair_of(0, solution_str, ground_truth), self.how)
        score = result.reward if isfinite(result.reward) else 0.0
        return {
            "score": score,
            "same": int(result.state == "same"),
            "readable": int(result.readable),
            "state": result.state,
        }

    def _many(self, pairs: list[tuple[Record, Record]]) -> list[Judgement]:
        if self.jobs in (None, 1) and self.deadline is None:
            return [judge_pair(pair, self.how) for pair in pairs]
        job = _RewardJob(self.how)
        try:
            running = Running(1 if self.jobs is None else self.jobs, self.deadline)
            with run(job, pairs, running) as output, open(output.rows) as rows:
                return [Judgement(*json.loads(line)) for line in rows]
        except (PlanevalError, OSError, RuntimeError):  # no process can be started, or no file be written
            return [judge_pair(pair, self.how) for pair in pairs]


class _RewardJob(NamedTuple):
    """Judges pairs in processes."""

    how: RewardSettings
    kind: str = "reward"

    def options(self) -> dict[str, Any]:
        """Nothing: no run of it is kept."""
        return {}

    def fold(self, data: Any = None) -> _NoSums:
        """Sums over nothing."""
        return _NoSums()

    def rows(self, pairs: Iterable[Any], fold: Any) -> Iterator[str]:
        """A line of JSON a pair."""
        for pair in pairs:
            yield json.dumps(judge_pair(pair, self.how)[:3])


class _NoSums:
    def extend(self, other: Any) -> None:
        """Add nothing."""

    def data(self) -> Any:
        """Nothing."""
        return []


def _log(log_metric: Any, name: str, results: Sequence[Judgement]) -> None:
    """Tell a trainer that logs figures which share could be read, and which is right."""
    if not callable(log_metric) or not results:
        return
    log: Callable[[str, float], object] = log_metric
    log(f"{name}/readable", sum(result.readable for result in results) / len(results))
    log(f"{name}/same", sum(result.state == "same" for result in results) / len(results))
