"""BFCL's verdict on each answer, with its kind of error and message, and its scores.

Source: package bfcl-eval 2026.3.23, ``eval_checker/eval_runner.py``,
``eval_checker/agentic_eval/agentic_checker.py``.
"""

from __future__ import annotations

import atexit
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

from planner_eval.benchmarks.bfcl.call_check import RAISED, VALID, Check, Verdict, check_calls
from planner_eval.benchmarks.bfcl.data import CATEGORIES, category_sizes
from planner_eval.benchmarks.bfcl.multi_turn import MultiTurnChecker, MultiTurnRecord
from planner_eval.benchmarks.bfcl.reading import (
    NOTHING,
    WrittenAnswer,
    decode_calls,
    decode_step,
    is_empty_step,
    read_text,
)
from planner_eval.benchmarks.bfcl.scores import Judged, score_figures
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.report import Figure, Records, SampleResults, Scorer, shared_figures
from planner_eval.benchmarks.turns import turn_figures
from planner_eval.comparison.turns import TurnComparison

NAMES = ("auto", "underscores", "dots")
"""How names of tools are written where they have a dot."""
UNANSWERED = Verdict(False, "unanswered", ("There is no answer.",))
DECODING_FAILED = "ast_decoder:decoder_failed"
_MAX_CHARS = 16 * 2**20


class Settings(NamedTuple):
    """How answers were asked for.

    Args:
        mode: One of :data:`.reading.MODES`.
        names: One of :data:`NAMES`; with ``"auto"`` function calls have underscores and texts have dots.
    """

    mode: str = "auto"
    names: str = "auto"

    def underscores(self, answer: WrittenAnswer) -> bool:
        """Whether names in an answer have ``_`` for ``.``."""
        return answer.calls if self.names == "auto" else self.names == "underscores"


# ----------------------------------------------------------------------
# Verdicts.
def judge_answers(records: Records, settings: Settings | None = None) -> list[Verdict]:
    """The published verdict on each answer, in order.

    Args:
        records: Samples of the BFCL reader with what a model answered, see :func:`.reading.answer_text`.
        settings: How answers were asked for.
    """
    pairs, settings = list(records), settings or Settings()
    verdicts: list[Verdict | None] = [judge_answer(sample, text, settings) for sample, text in pairs]
    waiting = [position for position, verdict in enumerate(verdicts) if verdict is None]
    for position, verdict in zip(waiting, _judge_turns([pairs[p] for p in waiting], settings), strict=True):
        verdicts[position] = verdict
    return [verdict for verdict in verdicts if verdict is not None]


def judge_answer(sample: Sample, text: str, settings: Settings | None = None) -> Verdict | None:
    """The published verdict on an answer; None for several turns, which :func:`judge_answers` runs.

    Args:
        sample: Of the BFCL reader.
        text: What a model answered.
        settings: How answers were asked for.

    >>> tool = {"name": "f", "parameters": {"properties": {"a": {"type": "integer"}}, "required": ["a"]}}
    >>> extra = {"ground_truth": [{"f": {"a": [1]}}]}
    >>> sample = Sample("1", tools=[tool], category="simple_python", extra=extra)
    >>> judge_answer(sample, "[f(a=1)]").valid, judge_answer(sample, "[f(a=2)]").error_type
    (True, 'value_error:others')
    """
    if text == NOTHING:
        return UNANSWERED
    if len(text) > _MAX_CHARS:
        return Verdict(False, "parse.limit", (f"The answer has {len(text):,} characters.",))
    category = CATEGORIES.get(sample.category)
    if category is None:
        return Verdict(False, "dataset.record", (f"BFCL has no category {sample.category!r}.",))
    if category.check == "multi_turn":
        return None
    settings = settings or Settings()
    answer = read_text(text, settings.mode)
    if category.check in ("irrelevance", "relevance"):
        return judge_relevance(answer, wants_call=category.check == "relevance")
    try:
        if category.check == "agentic":
            return judge_agentic(answer, sample.extra["ground_truth"])
        language, style, tag, name = style_of(sample)
        return judge_calls(
            sample, answer, name, Check(language, settings.underscores(answer)), style, tag=tag
        )
    except Exception as error:
        return Verdict(False, RAISED, (f"{type(error).__name__}: {error}",))


def style_of(sample: Sample) -> tuple[str, str, bool, str]:
    """How an answer is written: language, style, between tags or not; and by which category it is matched.

    Raises:
        ValueError: a question of ``format_sensitivity`` says something else than its ways of asking.
    """
    category = CATEGORIES[sample.category]
    if category.check != "format":
        return category.language, category.language, False, sample.category
    matched = re.match(r"ret_fmt=(\w+)&tool_call_tag=(True|False)&", sample.extra["config"])
    if matched is None:
        raise ValueError(f"Invalid query format: {sample.extra['config']!r}")
    return "python", matched[1], matched[2] == "True", sample.id.split(":")[-1]


def judge_calls(
    sample: Sample, answer: WrittenAnswer, category: str, how: Check, style: str, *, tag: bool = False
) -> Verdict:
    """The verdict on an answer of calls.

    Args:
        sample: Of the BFCL reader.
        answer: The answer.
        category: What decides how calls are matched.
        how: How names and values are written.
        style: How a prompted model was asked to write.
        tag: It was asked to put calls between tags.

    Raises:
        Exception: what the published check raises.
    """
    try:
        calls = decode_calls(answer, style, tag=tag)
    except Exception as error:
        return Verdict(False, DECODING_FAILED, (f"Invalid syntax. Failed to decode AST. {error}",))
    if not are_calls(calls):
        message = (
            "Did not output in the specified format. Note: the model_result is wrapped in a string to ensure "
            "json serializability."
        )
        return Verdict(False, "ast_decoder:decoder_wrong_output_format", (message,))
    return check_calls(sample.tools, calls, sample.extra["ground_truth"], category, how)


def are_calls(calls: Any) -> bool:
    """Whether decoded calls are a list of objects with one name and an object of arguments each.

    >>> are_calls([{"f": {}}]), are_calls([]), are_calls([{"f": 1}])
    (True, True, False)
    """
    return type(calls) is list and all(
        type(call) is dict and len(call) == 1 and type(next(iter(call.values()))) is dict for call in calls
    )


def read_calls(answer: WrittenAnswer, style: str = "python", *, tag: bool = False) -> Any:
    """The calls of an answer as the published code decodes them; None where there are none."""
    try:
        calls = decode_calls(answer, style, tag=tag)
    except Exception:  # as published: whatever it is
        return None
    return calls if are_calls(calls) else None


def judge_relevance(answer: WrittenAnswer, *, wants_call: bool) -> Verdict:
    """The verdict on an answer where a tool is to be called, or none.

    Args:
        answer: The answer.
        wants_call: A tool is to be called; which one does not matter.
    """
    problem = None
    try:
        calls = decode_calls(answer)
        called = are_calls(calls) and len(calls) > 0
    except Exception as error:
        called, problem = False, str(error)
    if called == wants_call:
        return VALID
    if called:
        message = "Valid syntax. Successfully decode AST when it should not."
        return Verdict(False, "irrelevance_error:decoder_success", (message,))
    message = f"Invalid syntax. Failed to decode AST when it should have. {problem}"
    return Verdict(False, "relevance_error:decoder_failed", (message,))


# ----------------------------------------------------------------------
# Web search and memory: whether the last words hold the answer.
_DROPPED = str.maketrans("", "", ",./-_*^()")


def _standard_words(text: str) -> str:
    """A text as such answers are compared: blanks stay."""
    return text.translate(_DROPPED).lower().replace("'", '"')


def judge_agentic(answer: WrittenAnswer, accepted: Sequence[str]) -> Verdict:
    """The verdict on an answer of one turn of several steps, the last of which is to say what is asked.

    Args:
        answer: The answer.
        accepted: Texts one of which it is to hold.

    Raises:
        Exception: what the published check raises.
    """
    content = answer.content
    if type(content) is not list or len(content) != 1:
        message = "Error during inference phase. Model did not output a list of model responses."
        return Verdict(False, "agentic:inference_error", (message,))
    words = None
    for step in content[0]:
        try:
            if not is_empty_step(decode_step(step, calls=answer.calls)):
                continue
        except Exception:
            pass
        words = step
    if not words:
        message = "Cannot find the last chat message that is not a function call."
        return Verdict(False, "agentic:no_last_message", (message,))
    answer_text = words[0] if type(words) is list else words
    answer_text = answer_text if type(answer_text) is str else str(answer_text)
    standard, accepted_words = _standard_words(answer_text), [_standard_words(text) for text in accepted]
    if any(re.search(rf"\b{re.escape(text)}\b", standard) for text in accepted_words):
        return VALID
    return Verdict(
        False,
        "agentic:answer_not_found",
        "None of the expected answers were found in the model response.",
        {
            "model_response": answer_text,
            "possible_answers": list(accepted),
            "standardized_model_response": standard,
            "standardized_possible_answers": accepted_words,
        },
    )


# ----------------------------------------------------------------------
# Several turns: run with the benchmark's own tools.
_SETTLED: dict[tuple[str, str, str], Verdict] = {}
"""Verdicts on answers of several turns; both variants ask for them, and running the tools takes time."""
_MAX_SETTLED = 4_096
_CHECKERS: dict[tuple[int, str], MultiTurnChecker] = {}
"""The checkers of this process that judge answers one by one: to start one takes longer than to judge ten."""


def _kept_checker(package: str) -> MultiTurnChecker:
    """The checker of a package's tools, which lives as long as the process."""
    key = (os.getpid(), package)
    if key not in _CHECKERS:
        _CHECKERS[key] = MultiTurnChecker(package)
        atexit.register(_CHECKERS[key].__exit__)
    return _CHECKERS[key]


def _judge_turns(pairs: Sequence[tuple[Sample, str]], settings: Settings) -> Iterator[Verdict]:
    """The verdicts on answers of several turns, in order."""
    keys = [(f"{sample.extra['package']}:{sample.id}", text, settings.mode) for sample, text in pairs]
    new: dict[str, list[int]] = {}
    for position, key in enumerate(keys):
        if key not in _SETTLED:
            new.setdefault(pairs[position][0].extra["package"], []).append(position)
    settled = {key: _SETTLED[key] for key in keys if key in _SETTLED}

    def records(positions: Iterable[int]) -> Iterator[MultiTurnRecord]:
        for position in positions:
            sample, text = pairs[position]
            answer = read_text(text, settings.mode)
            extra: Mapping[str, Any] = sample.extra
            yield MultiTurnRecord(
                extra["question"],
                extra["ground_truth"],
                answer.content,
                sample.category,
                "function-calling" if answer.calls else "prompt",
            )

    for package, positions in new.items():
        with nullcontext(_kept_checker(package)) if len(pairs) == 1 else MultiTurnChecker(package) as checker:
            for position, verdict in zip(positions, checker.check_many(records(positions)), strict=True):
                settled[keys[position]] = verdict
    if len(_SETTLED) + len(settled) > _MAX_SETTLED:
        _SETTLED.clear()
    _SETTLED.update(settled)
    for key in keys:
        yield settled[key]


# ----------------------------------------------------------------------
# The report.
class BfclOutcome(NamedTuple):
    """What is kept of an answer, under either variant.

    Args:
        category: Its question's category.
        valid: It is right.
        kind: The kind of error; "" where it is right.
        message: What is wrong.
        reason: Why the published verdict is not kept; "" where it is.
        package: Where the questions were read from.
        turns: How many turns its conversation has; 0 where it has one.
        wrong: The wrong ones.
        follow: Those of them that would be right, had those before them been.
    """

    category: str
    valid: bool
    kind: str
    message: str
    reason: str
    package: str
    turns: int
    wrong: tuple[int, ...]
    follow: tuple[int, ...]

    @property
    def ok(self) -> bool:
        """It is right."""
        return self.valid

    @property
    def error(self) -> str | None:
        """What is wrong."""
        return None if self.valid else f"{self.kind}: {self.message}"

    @shared_figures
    def figures(self) -> Iterator[Figure]:
        """The verdict, and what is to be said of it."""
        yield Figure("valid", float(self.valid))
        if self.kind:
            yield Figure("error_type", self.kind)
        if self.kind == DECODING_FAILED:
            yield Figure("parse_error", 1.0)
        if self.reason:
            yield Figure("reason", self.reason)
        if self.turns:
            yield from turn_figures(TurnComparison("turn", self.turns, self.wrong, self.follow))


def store(sample: Sample, verdict: Verdict, reason: str = "") -> BfclOutcome:
    """What is kept of a verdict."""
    message = "" if verdict.valid else first_message(verdict)
    package = str(sample.extra.get("package", ""))
    is_multi_turn = CATEGORIES.get(sample.category, CATEGORIES["simple_python"]).check == "multi_turn"
    first, details = verdict.details.get("turn"), verdict.details
    return BfclOutcome(
        sample.category, verdict.valid, verdict.error_type or "", message, reason, package,
        turns=len(sample.extra["ground_truth"]) if is_multi_turn else 0,
        wrong=() if first is None else (first, *details.get("wrong", ())),
        follow=tuple(details.get("follow", ())),
    )  # fmt: skip


def scorer(mode: str = "auto", names: str = "auto") -> Scorer:
    """The published scores; in parts several turns are run each for itself.

    Args:
        mode: One of :data:`.reading.MODES`.
        names: One of :data:`NAMES`.
    """

    def keep(sample: Sample, _: str, verdict: Verdict) -> BfclOutcome:
        return store(sample, verdict)

    return make_scorer(Settings(mode, names), keep, official_figures)


def make_scorer(
    settings: Settings,
    keep: Callable[[Sample, str, Verdict], BfclOutcome],
    figures: Callable[[SampleResults], Iterable[Figure]],
) -> Scorer:
    """How answers are scored by the published verdicts.

    Args:
        settings: How answers were asked for.
        keep: What is kept of an answer and the verdict on it.
        figures: What all come to.
    """

    def judge_all(pairs: Sequence[tuple[Sample, str]]) -> list[BfclOutcome]:
        verdicts = judge_answers(pairs, settings)
        return [keep(*pair, verdict) for pair, verdict in zip(pairs, verdicts, strict=True)]

    return Scorer(lambda *pair: judge_all([pair])[0], figures, BfclOutcome, judge_all)


def official_figures(results: SampleResults) -> Iterator[Figure]:
    """The published scores; a category that was not run counts as 0."""
    judged = [
        Judged(name, answer.category, answer.valid, answer.message if answer.kind == RAISED else None)
        for name, answer in results
    ]
    packages = {answer.package for _, answer in results}
    return score_figures(judged, category_sizes(next(iter(packages))) if len(packages) == 1 else {})


def first_message(verdict: Verdict) -> str:
    """What is wrong in one line: the first message, for parallel calls what is wrong with the likeliest one.

    >>> first_message(Verdict(False, "x", ("No call.",)))
    'No call.'
    """
    if isinstance(verdict.error, str):
        return verdict.error
    messages = [str(message) for message in verdict.error if not isinstance(message, dict)]
    for detail in verdict.error:
        if isinstance(detail, dict):
            for sub in detail.values():
                if isinstance(sub, dict) and not str(sub.get("sub_error_type")).endswith(":wrong_func_name"):
                    messages += [str(message) for message in sub.get("sub_error", ())]
            if len(messages) > 1:
                break
    return " ".join(messages[:2])
