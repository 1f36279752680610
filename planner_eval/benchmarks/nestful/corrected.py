"""NESTful's figures as the paper defines them (section 4.3).

They stand under the published names, beside the published ones. What the published code does otherwise:
its F1 averages over the names that occur in gold, does not see invented ones, and takes values for
parameter names; calls are compared by place, so that one extra call in front loses all, and references
by the name of the tool that is referred to; running ignores parameter names, and a failure equals 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

from planner_eval.base.errors import ParseError
from planner_eval.base.frozen import replace
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.nestful.official import (
    DEFAULT_MODEL,
    absence_note,
    absent_functions,
    is_runner,
)
from planner_eval.benchmarks.nestful.reading import Reading, read_gold, read_prediction, usual_layout
from planner_eval.benchmarks.paired import argument_keys, count_shared, matches_of, pair_calls
from planner_eval.benchmarks.report import Figure, Run, SampleResults, Scorer, f1, ratio, shared_figures
from planner_eval.comparison.matching.likeness import Tool, find_respellings, is_similar_name
from planner_eval.execution.answers import answers_match, is_rounded
from planner_eval.plan.canonical import compare
from planner_eval.plan.model import Call, Plan, Ref, Unresolved, contains_kind


# ----------------------------------------------------------------------
# NESTful's win and its equal calls as the paper defines them.
#
# Source: the paper, section 4.3. The published code passes values by position in written order, takes a
# failed run for the answer False, which equals a gold 0, fails on the older layouts of tool specs, and
# rounds what comes out to the decimals that gold has, so that 0.14 is 0.1.
# ----------------------------------------------------------------------
# NESTful's win as its paper defines it: every call is valid, and running them gives the gold answer.
def is_winning(plan: Plan, sample: Sample, run: Run, gold: Plan | None) -> bool:
    """Whether a plan's calls are all valid and lead to the gold answer.

    The gold answer may be what gold's own calls lead to, rounded as people write it down. Only then may a
    result differ from it: it is what gold's calls lead to, or this rounded to no fewer decimals than gold's.

    Args:
        plan: What the answer says.
        sample: Its ``tools`` are the specs, ``extra["gold_answer"]`` is what must come out.
        run: Runs calls, see :mod:`.win`; values are passed by name. It is given the specs of the tools
            that are called, for most samples have many more.
        gold: The gold plan, run where only rounding makes a result the gold answer; without it none does.

    >>> from planner_eval.reading.dialects.read import parse
    >>> tools = [{"name": "less", "parameters": {"a": {}, "b": {}}, "output_parameters": {"result": {}}}]
    >>> sample = Sample("a", tools=tools, extra={"gold_answer": 0.1})
    >>> def run(calls, sample): return calls[0]["arguments"]["a"] - calls[0]["arguments"]["b"]
    >>> plan, gold = (parse([{"name": "less", "arguments": {"b": 2, "a": a}}]) for a in (2.14, 2.1))
    >>> is_winning(plan, sample, run, gold), is_winning(gold, sample, run, gold)
    (False, True)
    """
    answer, text = sample.extra.get("gold_answer"), sample.extra.get("gold_answer_text")
    value = _run_plan(plan, sample, run)
    if value is _FAILED or not answers_match(value, answer, text):
        return False
    if plan is gold or answers_match(value, answer, text, rounding=False):
        return True
    exact = _FAILED if gold is None else _run_plan(gold, sample, run)
    return exact is not _FAILED and answers_match(exact, answer, text) and is_rounded(value, exact)


_FAILED: Any = object()
"""What calls come to of which one is not valid, or fails."""


def _run_plan(plan: Plan, sample: Sample, run: Run) -> Any:
    """What the calls come to, values passed by name.

    A plain function is taken at its word: how it passes values is its own affair, and as it cannot tell a
    failure from False it never gives False.
    """
    tools, names = sample.tools, {call.name for call in plan.calls}
    if isinstance(tools, list):
        tools = [
            spec
            for spec in tools
            if not isinstance(spec, dict) or type(name := spec.get("name")) is not str or name in names
        ]
    usual = replace(sample, tools=usual_layout(tools))
    calls = executable_calls(plan, usual.tools)
    if not calls:
        return _FAILED
    if is_runner(run):
        outcome = run.outcome(calls, usual, by="name")
        return outcome.value if outcome.failure is None else _FAILED
    value = run(calls, usual)
    return _FAILED if value is False else value


def executable_calls(plan: Plan, tools: Any) -> list[dict[str, Any]] | None:
    """The calls as the executor wants them; None where one is not valid.

    A call is valid when a listed tool of its name takes all its arguments, none is given twice, and each
    reference means the one output of an earlier call as a whole. Whether one is missing the function says.
    """
    listed = tools if isinstance(tools, list) else []
    specs = {str(spec.get("name")): spec for spec in reversed(listed) if isinstance(spec, dict)}
    outputs: list[str] = []
    calls = []
    for position, call in enumerate(plan.calls):
        if call.name not in specs:
            return None
        spec, values = specs[call.name], dict(call.arguments)
        parameters = spec.get("parameters")
        names = set(parameters) if isinstance(parameters, dict) else set()
        if len(values) < len(call.arguments) or not values.keys() <= names:
            return None
        returned = spec.get("output_parameters")
        outputs.append(next(iter(returned)) if isinstance(returned, dict) and len(returned) == 1 else "")
        written = {}
        for name, value in values.items():
            if isinstance(value, Ref):
                output = outputs[value.call] if value.call < position else ""
                if not output or value.path not in ((), (output,)):
                    return None
                value = f"$var_{value.call}.{output}$"
            elif contains_kind(value, (Ref, Unresolved)):
                return None
            written[name] = value
        calls.append({"name": call.name, "label": f"$var_{position}", "arguments": written})
    return calls


# ----------------------------------------------------------------------
# How many calls of an answer are equal to the calls of gold that they stand for.
#
# Which stands for which is for a search, :mod:`planner_eval.comparison.matching.align`; calls of one tool
# stand for one another so that the most calls are equal. The number alone is mostly known without a search.
def count_equal_calls(pred: Plan, gold: Plan) -> int | None:
    r"""How many calls are equal to those of gold that they stand for; None where the plans mean the same.

    Args:
        pred: The prediction.
        gold: What was wanted.

    >>> from planner_eval.reading.dialects.read import parse
    >>> pred, gold = parse("a = f(#x='1')\nb = f(#y=a)"), parse("a = f(#x='2')\nb = f(#y=a)")
    >>> count_equal_calls(pred, gold), count_equal_calls(gold, gold)
    (1, None)
    """
    if not pred.answer and not gold.answer:
        comparison = compare(pred, gold, ordered=False)
        if comparison.same:
            if not _has_early_call(pred) or (_has_early_call(gold) and compare(pred, gold).same):
                return None
            return len(gold)
        number = _count_equal_as_written(pred, gold) if comparison.proved else None
        if number is not None:
            return number
    pairs = pair_calls(pred, gold)
    return None if pairs is None else _maximize_equal_calls(pred, gold, pairs)


_MAX_EXCHANGES = 5_000
"""Exchanges of partners that are tried."""


def _maximize_equal_calls(pred: Plan, gold: Plan, pairs: Sequence[tuple[int, int]]) -> int:
    """The most equal calls of this pairing and of those that exchanging partners of one tool leads to."""
    partners = dict(pairs)
    number = _count_equal(pred, gold, partners)
    if len(pred) * len(gold) > _MAX_EXCHANGES:
        return number
    bound = count_shared(_blank_calls(pred), _blank_calls(gold))
    tools = enumerate(_tools(pred)), enumerate(_tools(gold))
    exchanges = [(p, g) for (p, tool), (g, other) in product(*tools) if tool == other]
    attempts, improved = 0, True
    while improved and number < bound and attempts < _MAX_EXCHANGES:
        improved = False
        for pred_index, gold_index in exchanges:
            if partners.get(pred_index) != gold_index:
                attempts += 1
                changed = _exchange_partners(partners, pred_index, gold_index)
                count = _count_equal(pred, gold, changed)
                if count > number:
                    partners, number, improved = changed, count, True
    return number


def _exchange_partners(partners: dict[int, int], pred: int, gold: int) -> dict[int, int]:
    """The partners where these two are ones; who had gold's gets what the other had."""
    changed = {p: g for p, g in partners.items() if g != gold}
    former = next((p for p, g in partners.items() if g == gold), None)
    if former is not None and pred in partners:
        changed[former] = partners[pred]
    changed[pred] = gold
    return changed


def _count_equal(pred: Plan, gold: Plan, partners: Mapping[int, int]) -> int:
    return sum(match.equal for match in matches_of(pred, gold, partners.items()))


def _blank_calls(plan: Plan) -> list[Any]:
    """The calls with what they refer to left out."""
    blank = [0] * len(plan)
    return [
        (call.app, call.name, frozenset(argument_keys(call.arguments, blank).items())) for call in plan.calls
    ]


def _has_early_call(plan: Plan) -> bool:
    """Whether a call is written before one that it needs, which is wrong unless gold writes it so too."""
    return any(edge.producer > edge.consumer for edge in plan.edges)


def _count_equal_as_written(pred: Plan, gold: Plan) -> int | None:
    """The number for plans of which no order makes one the other, where calls as they are written tell it.

    The search pairs as many calls of one tool as there can be. Of the pairings that do so it finds one of the
    least cost: the number of arguments of pairs that differ, of which one that refers to a call without a
    partner, for gold's of another tool that has none either, counts a quarter. That calls paired as they are
    written cost the least, and that all pairings of that cost have as many equal calls, is seen

    - where nothing differs, and all calls of one plan have partners: then in no such pairing anything does;
    - where one argument differs, and all calls have partners: if none did the plans would be the same, and
      one makes one pair unequal;
    - where all calls of pred have partners, and what differs are values that no call of gold's tool has under
      that name: these differ in every pairing, so in one of that cost nothing else does;
    - where nothing differs but that one call has a name that gold does not know, like that of gold's at its
      place. What refers to it counts a quarter in every pairing, so in one of that cost nothing else differs,
      and gold's refers there to the one call that is left over, which is of that like name. By their names
      these two become partners in the end, so that what refers to them is right.
    """
    pred_tools, gold_tools = _tools(pred), _tools(gold)
    pairs = _positional_pairs(pred, gold)
    renamed = [(pred_tools[p], gold_tools[g]) for p, g in pairs if pred_tools[p] != gold_tools[g]]
    equal_size = len(pred_tools) == len(gold_tools)
    if find_respellings(pred_tools, gold_tools) or (
        renamed and not (equal_size and _is_renamed(renamed, gold_tools))
    ):
        return None
    matches = matches_of(pred, gold, pairs)
    wrong = [match for match in matches if not match.equal]
    if not wrong:
        return len(matches)
    if renamed or len(pred_tools) > len(gold_tools):
        return None
    differing = [{name for name, _ in match.given.items() ^ match.wanted.items()} for match in wrong]
    single_difference = equal_size and sum(map(len, differing)) == 1
    if single_difference or all(
        map(set.issubset, differing, [_unknown_arguments(pred.calls[match.pred], gold) for match in wrong])
    ):
        return len(matches) - len(wrong)
    return None


def _tools(plan: Plan) -> list[Tool]:
    return [Tool(call.app, call.name) for call in plan.calls]


def _positional_pairs(pred: Plan, gold: Plan) -> list[tuple[int, int]]:
    """The calls at like places; what one plan has more stands where the two begin to differ."""
    pred_calls, gold_calls = pred.calls, gold.calls
    common = range(min(len(pred_calls), len(gold_calls)))
    surplus = len(pred_calls) - len(gold_calls)
    if not surplus:
        return list(zip(common, common, strict=True))
    differing = (
        index
        for index in common
        if pred_calls[index].name != gold_calls[index].name
        or pred_calls[index].arguments != gold_calls[index].arguments
    )
    start = next(differing, len(common))
    return [
        (index, index) if index < start else (index + max(0, surplus), index + max(0, -surplus))
        for index in common
    ]


def _is_renamed(renamed: list[tuple[Tool, Tool]], gold_tools: list[Tool]) -> bool:
    """Whether one call is of a name that gold does not know, but like that of gold's at its place."""
    (pred_tool, gold_tool), *remaining = renamed
    return (
        not remaining
        and pred_tool not in gold_tools
        and pred_tool.name != gold_tool.name
        and is_similar_name(pred_tool.name, gold_tool.name)
    )


def _unknown_arguments(call: Call, gold: Plan) -> set[Any]:
    """The arguments of a call whose values, but for what they refer to, no call of gold's tool has there."""
    blank = [0] * len(gold)  # which has no fewer calls than the prediction
    heard = {
        item
        for other in gold.calls
        if (other.app, other.name) == (call.app, call.name)
        for item in argument_keys(other.arguments, blank).items()
    }
    return {name for name, key in argument_keys(call.arguments, blank).items() if (name, key) not in heard}


# ----------------------------------------------------------------------
# NESTful's figures as the paper defines them (section 4.3).
class NestfulCounts(NamedTuple):
    """The counts of one sample, or the sum over a set.

    Args:
        samples: Samples.
        tool_hits: Tool names that prediction and gold share, each as often as both call it.
        tools_predicted: Calls in the prediction.
        tools_gold: Calls in gold.
        key_hits: The same of (tool, parameter name) …
        keys_predicted: …
        keys_gold: …
        partial: Calls of the prediction equal to those of gold that they stand for, of the longer plan.
        full: Samples whose plan means the same as gold's.
        runnable: Samples whose gold calls only functions that the runner has.
        won: Of these, samples whose calls lead to the gold answer.
        unread: Answers that cannot be read.
        winnable: Of the runnable samples, those whose gold answer the calls of gold or of the answer lead to.
    """

    samples: int = 1
    tool_hits: int = 0
    tools_predicted: int = 0
    tools_gold: int = 0
    key_hits: int = 0
    keys_predicted: int = 0
    keys_gold: int = 0
    partial: float = 0.0
    full: int = 0
    runnable: int = 1
    won: int = 0
    unread: int = 0
    winnable: int = 1


UNWINNABLE_NOTE = "gold itself does not win, because its calls do not lead to its answer"
"""What is said of a sample that cannot be won by gold's calls."""


class CorrectedOutcome(NamedTuple):
    """What became of one answer.

    Args:
        counts: Its counts; None where the gold plan cannot be read, so that nothing can be said.
        problem: Why the answer, or the gold plan, cannot be read.
        absent: The functions that gold calls and the runner does not have.
        run: The answer was run, or would have been.
    """

    counts: NestfulCounts | None
    problem: str | None = None
    absent: Sequence[str] = ()
    run: bool = False

    @property
    def ok(self) -> bool:
        """Its calls lead to the gold answer; without a run, its plan means the same as gold's."""
        return self.counts is not None and bool(self.counts.won if self.run else self.counts.full)

    @property
    def error(self) -> str | None:
        """Why it cannot be read, or won."""
        if self.problem is None and self.absent:
            return f"functions that do not exist: {', '.join(self.absent)}"
        unwinnable = self.counts is not None and not self.counts.winnable
        return UNWINNABLE_NOTE if self.problem is None and unwinnable else self.problem

    @shared_figures
    def figures(self) -> Iterator[Figure]:
        """The figures of this answer alone."""
        c = self.counts
        if c is not None:
            yield Figure("partial", c.partial)
            yield Figure("full", float(c.full))
            yield Figure("win", float(c.won) if self.run and c.runnable else None)
            yield Figure("parse_error", c.unread)
            yield f1("f1_intent", c.tool_hits, c.tools_predicted, c.tools_gold)
            yield f1("f1_slot", c.key_hits, c.keys_predicted, c.keys_gold)


def scorer(model: str = DEFAULT_MODEL, run: Run | None = None) -> Scorer:
    """NESTful's figures as the paper defines them, under the published names.

    A sample's ``gold`` is the list of gold calls as released. For the win rate, ``tools`` is the list of tool
    specs and ``extra["gold_answer"]`` the answer. A sample whose gold calls a function that `run` does not
    have is in no win rate, and its row names the function.

    Args:
        model: The model name that chooses the published reader, which is asked where an answer is not
            NESTful's plain JSON.
        run: Runs calls, see :mod:`.win`; without it there is no win rate.

    Source: the paper, section 4.3.

    >>> from planner_eval.benchmarks.nestful import score_corrected
    >>> import json
    >>> calls = [{"name": "now", "label": "$var_1", "arguments": {}}]
    >>> extra = [{"name": "ping", "label": "$var_0", "arguments": {}}, *calls]
    >>> score_corrected([(Sample("a", gold=calls), json.dumps(extra))]).value("accuracy_combined")
    0.5
    """
    figures = partial(_figures, executed=run is not None)
    return Scorer(partial(judge_answer, model=model, run=run), figures, CorrectedOutcome)


def judge_answer(
    sample: Sample, text: str, *, model: str = DEFAULT_MODEL, run: Run | None = None
) -> CorrectedOutcome:
    """What became of one answer: the matter of figures and of figure 6."""
    try:
        gold = read_gold(sample.gold)
    except ParseError as problem:
        return CorrectedOutcome(None, f"gold: {problem.code}")
    reading = read_prediction(text, model, sample.tools)
    absent = absent_functions(run, sample.gold)
    won, winnable = False, not absent
    if run is not None and not absent:
        won = is_winning(reading.plan, sample, run, gold)
        winnable = won or is_winning(gold, sample, run, gold)
    counts = count(reading, gold, won=won, runnable=not absent, winnable=winnable)
    return CorrectedOutcome(counts, reading.error, tuple(absent), run is not None)


def count(
    reading: Reading, gold: Plan, *, won: bool = False, runnable: bool = True, winnable: bool = True
) -> NestfulCounts:
    """The counts of one sample.

    Args:
        reading: What could be read of the answer.
        gold: The gold plan.
        won: Its calls lead to the gold answer.
        runnable: The runner has the functions that gold calls.
        winnable: Gold's own calls, or these, lead to the gold answer.
    """
    pred = reading.plan
    tools, gold_tools = ([call.name for call in plan.calls] for plan in (pred, gold))
    keys, gold_keys = _parameter_keys(pred), _parameter_keys(gold)
    size = max(len(pred), len(gold))
    equal = count_equal_calls(pred, gold)
    full = reading.error is None and equal is None
    right = size if full else equal or 0
    return NestfulCounts(
        tool_hits=count_shared(tools, gold_tools),
        tools_predicted=len(tools),
        tools_gold=len(gold_tools),
        key_hits=count_shared(keys, gold_keys),
        keys_predicted=len(keys),
        keys_gold=len(gold_keys),
        partial=right / size if size else float(reading.error is None),
        full=int(full),
        runnable=int(runnable),
        won=int(won),
        unread=int(reading.error is not None),
        winnable=int(winnable),
    )


def _parameter_keys(plan: Plan) -> list[tuple[str, str]]:
    return [(call.name, name) for call in plan.calls for name, _ in call.arguments]


def _figures(results: SampleResults, *, executed: bool) -> tuple[Figure, ...]:
    counts = (outcome.counts for _, outcome in results if outcome.counts is not None)
    c = NestfulCounts(*map(sum, zip([0] * len(NestfulCounts._fields), *counts, strict=True)))
    absent = list(dict.fromkeys(name for _, outcome in results for name in outcome.absent))
    functions = "function names, summed over samples; invented ones cost precision"
    parameters = "parameter names of each function, without their values"
    partial = "equal calls, as a share of the longer plan's calls; mean over samples"
    won = "valid calls that lead to the gold answer; a failure never wins"
    if executed and c.winnable < c.runnable:
        highest = c.winnable / c.runnable
        reason = "in the rest, gold's own calls fail"
        won = f"at most {c.winnable:,} of {c.runnable:,} ({highest:.4g}) can be won: {reason}; {won}"
    if left := absence_note(c.samples - c.runnable, absent, "left out"):
        won = f"{won}; {left}"
    return (
        ratio("p_intent", c.tool_hits, c.tools_predicted, note=functions),
        ratio("r_intent", c.tool_hits, c.tools_gold, note=functions),
        f1("f1_intent", c.tool_hits, c.tools_predicted, c.tools_gold, note=functions),
        ratio("p_slot", c.key_hits, c.keys_predicted, note=parameters),
        ratio("r_slot", c.key_hits, c.keys_gold, note=parameters),
        f1("f1_slot", c.key_hits, c.keys_predicted, c.keys_gold, note=parameters),
        Figure("num_examples", c.samples),
        ratio("accuracy_combined", c.partial, c.samples, note=partial),
        ratio("percentage_times_full_score", c.full, c.samples, note="plans that mean the same as gold's"),
        ratio("win_rate", c.won, c.runnable, note=won)
        if executed
        else Figure("win_rate", None, note="not run"),
        Figure("num_pred_examples_w_parsing_errors", c.unread, note="answers that cannot be read"),
    )
