"""FunctionChat-Bench's scores as its paper defines them.

What is put right, and by which part of the paper:

* The criteria of appendix B decide every item. What they settle without a reading of meaning is settled
  by rule: a missing, unknown or second call, other argument names, other types, words where a call is
  due and the reverse. The judge is asked only where meaning decides, and the published shortcut, which
  looks at the first call only and skips the check of some alternatives, is not taken.
* "Only gold is right" means equal, case and blanks included (appendix B, tool call).
* An integer given as a float is wrong where an integer is declared (section 6.2).
* A verdict is the judge's last line, alone and unmistakable (appendix B); another one is asked for.
* Rates are over all items of a type (section 5, Tables 3 and 4): an undecided item is not passed, and
  the macro average is the mean of the four rates.

Call decision is not in the paper; its categories are treated like the output types.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval.base.errors import JudgeError
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.functionchat.data import FILES, OUTPUT_TYPES
from planner_eval.benchmarks.functionchat.official import (
    FAIL,
    PASS,
    judge_request,
    macro,
    sample_problem,
    total_figures,
    turn_of_dialog,
)
from planner_eval.benchmarks.functionchat.reading import AssistantTurn, answer_of, read_answer
from planner_eval.benchmarks.functionchat.rules import rule_answer
from planner_eval.benchmarks.judging import ask
from planner_eval.benchmarks.report import Figure, ratio
from planner_eval.benchmarks.scoring import SampleResults, Scorer, shared_figures
from planner_eval.benchmarks.turns import dialog_figures

if TYPE_CHECKING:
    from planner_eval.benchmarks.judging import Judge


MAX_ATTEMPTS = 3
"""How often a verdict is asked for before an item counts as undecided."""
_MICRO_NAMES = {"dialog": "avg(micro)"}
_VERDICT_WORDS = {
    "pass": PASS,
    "fail": FAIL,
    "통과": PASS,
    "합격": PASS,
    "성공": PASS,
    "불합격": FAIL,
    "실패": FAIL,
}


class CorrectedOutcome(NamedTuple):
    """What became of an answer.

    Args:
        part: The item's part of the benchmark.
        category: Its category.
        right: The answer calls and a call is due, or neither.
        verdict: None where it is undecided.
        by: Who decided, ``"rule"``, ``"judge"`` or ``"nobody"``.
        reason: Why, in a word or two.
        error: Why there is no verdict.
        dialog: The item's dialog, where it is a turn of one.
        turn: Its number there.
    """

    part: Any
    category: str
    right: bool
    verdict: str | None
    by: str
    reason: str
    error: str | None
    dialog: Any = None
    turn: int = 0

    @property
    def ok(self) -> bool:
        """It passed."""
        return self.verdict == PASS

    @shared_figures
    def figures(self) -> Iterator[Figure]:
        """The verdict, who decided and why, and the turn."""
        yield Figure("verdict", self.verdict)
        yield Figure("by", self.by)
        yield Figure("reason", self.reason)
        if self.dialog is not None:
            yield from dialog_figures(str(self.dialog), self.turn, decided=self.verdict is not None)


def scorer(judge: Judge | None = None) -> Scorer:
    """The paper's figures of each part that the records come from.

    An answer is the JSON of an assistant message, calls in any dialect, or plain words.

    Args:
        judge: Decides where meaning does. Without one such items are undecided, and not passed.

    >>> from planner_eval.benchmarks.functionchat import score_corrected
    >>> gold = {"name": "weather", "arguments": '{"city": "Seoul"}'}
    >>> extra = {"part": "singlecall", "serial_num": 1, "type_of_output": "call", "tools_type": "exact",
    ...     "messages": [], "acceptable_arguments": None}
    >>> sample = Sample("s1", gold=gold, category="exact", extra=extra)
    >>> score_corrected([(sample, json.dumps([gold, gold]))]).rows[0].figures[2].value
    'more than one call'
    """
    golds: dict[int, tuple[Any, AssistantTurn]] = {}  # an item has one gold under all its lists of tools

    def judge_sample(sample: Sample, text: str) -> CorrectedOutcome:
        cached = golds.get(id(sample.gold))
        if cached is None:  # it is held as well, so that no other takes its place
            cached = golds[id(sample.gold)] = (sample.gold, answer_of(sample.gold))
        called, verdict, by, reason, error = _find_verdict(sample, text, judge, cached[1])
        part, must_call = sample.extra.get("part"), sample.extra.get("type_of_output") == "call"
        turn = turn_of_dialog(sample)
        return CorrectedOutcome(part, sample.category, called == must_call, verdict, by, reason, error, *turn)

    return Scorer(judge_sample, _figures, CorrectedOutcome)


def _figures(results: SampleResults) -> Iterator[Figure]:
    for subset in FILES:
        yield from _part_figures(subset, [result for _, result in results if result.part == subset])


def _find_verdict(
    sample: Sample, text: str, judge: Judge | None, gold: AssistantTurn
) -> tuple[bool, str | None, str, str, str | None]:
    """The verdict on one answer: by rule where the criteria settle it, else by the judge.

    Returns:
        Whether it holds a call; the verdict, None where it is undecided; who decided, ``"rule"``, ``"judge"``
        or ``"nobody"``; why, in a word or two; and why there is no verdict.
    """
    problem = sample_problem(sample) or _gold_problem(sample, gold)
    if problem:
        return False, None, "nobody", "no gold", problem
    answer = read_answer(text)
    verdict, reason = rule_answer(sample, answer, gold)
    called = bool(answer.calls) or answer.code is not None
    if verdict is not None:
        return called, verdict, "rule", reason, answer.code
    if judge is None:
        return called, None, "nobody", reason, None
    try:
        verdict = _ask_judge(judge, sample, answer)
    except JudgeError as failure:
        return called, None, "nobody", reason, f"JudgeError: {failure}"
    return called, verdict, "judge" if verdict else "nobody", reason, None


def _gold_problem(sample: Sample, gold: AssistantTurn) -> str | None:
    kind = sample.extra.get("type_of_output")
    if kind not in OUTPUT_TYPES:
        return f"type_of_output {kind!r} is not one of {', '.join(OUTPUT_TYPES)}"
    if kind == "call" and not gold.calls:
        return "a call is expected, but gold has none"
    return None


def _ask_judge(judge: Judge, sample: Sample, answer: AssistantTurn) -> str | None:
    message = answer.message if isinstance(answer.message, dict) else {"tool_calls": answer.message}
    request = judge_request(sample, message | {"tool_calls": _openai_calls(answer)})
    return ask(judge, request, read_last_word, MAX_ATTEMPTS)


def _openai_calls(answer: AssistantTurn) -> list[dict[str, object]]:
    """The calls of an answer in OpenAI's form, whatever form they came in."""
    return [
        {
            "function": {
                "name": c.name,
                "arguments": json.dumps(dict(c.arguments), ensure_ascii=False, default=str),
            }
        }
        for c in answer.calls
    ]


def read_last_word(text: str) -> str | None:
    r"""``"pass"`` or ``"fail"`` if that is all that the last line says.

    >>> [read_last_word(text) for text in ("So it does not pass.\n\nfail\nFail.", "불합격", "pass/fail")]
    ['fail', 'fail', None]
    """
    lines = text.strip().splitlines()
    return _VERDICT_WORDS.get(lines[-1].strip(" .\"'*`").lower()) if lines else None


def _part_figures(subset: str, members: Sequence[CorrectedOutcome]) -> Iterable[Figure]:
    if not members:
        return
    groups: dict[str, list[CorrectedOutcome]] = {}
    for record in members:
        groups.setdefault(record.category, []).append(record)
    passed = {name: _count_passed(group) for name, group in groups.items()}
    rates = [ratio(f"{subset} {name} pass rate", passed[name], len(group)) for name, group in groups.items()]
    yield from rates
    yield ratio(f"{subset} {_MICRO_NAMES.get(subset, 'total_pass_rate')}", sum(passed.values()), len(members))
    if subset == "singlecall":
        yield from total_figures(list(passed.values()))
    else:
        yield macro(f"{subset} avg(macro)", rates)
    right = sum(record.right for record in members)
    note = "a call where a call is expected, text where text is expected; not in the paper"
    yield ratio(f"{subset} call decision", right, len(members), note=note)
    open_items = sum(record.verdict is None for record in members)
    yield ratio(f"{subset} undecided", open_items, len(members), note="items without a verdict; not passed")


def _count_passed(decided: Iterable[CorrectedOutcome]) -> int:
    return sum(record.verdict == PASS for record in decided)
