"""BFCL's verdicts as its documentation means them: the published ones but where there is a reason to differ.

A category that was not run does not count, where the published scores count it as 0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from planner_eval.benchmarks.bfcl.call_check import Check, Verdict
from planner_eval.benchmarks.bfcl.data import CATEGORIES
from planner_eval.benchmarks.bfcl.meaning import (
    EMBEDDED,
    NOT_OFFERED,
    NUMBERS,
    STRICT,
    TRUTH_VALUES,
    Reasons,
    Strictness,
    fit_calls,
)
from planner_eval.benchmarks.bfcl.official import (
    DECODING_FAILED,
    BfclOutcome,
    Settings,
    make_scorer,
    read_calls,
    store,
    style_of,
)
from planner_eval.benchmarks.bfcl.reading import NOTHING, WrittenAnswer, read_text
from planner_eval.benchmarks.bfcl.scores import Judged, score_figures
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.report import Figure
from planner_eval.benchmarks.scoring import SampleResults, Scorer

OTHERWISE = "judged differently: "
"""How the figures begin that count answers by the reason why the published verdict is not kept."""
_MAX_CANDIDATES = 50
_MAX_CHARS = 100_000


def scorer(mode: str = "auto", names: str = "auto") -> Scorer:
    """The corrected scores.

    Args:
        mode: One of :data:`.reading.MODES`.
        names: One of :data:`.official.NAMES`.
    """
    settings = Settings(mode, names)

    def keep(sample: Sample, text: str, verdict: Verdict) -> BfclOutcome:
        return store(sample, *correct_verdict(sample, text, verdict, settings))

    return make_scorer(settings, keep, corrected_figures)


def corrected_figures(results: SampleResults) -> Iterator[Figure]:
    """The scores of what was run, then how many answers are seen otherwise, by reason."""
    judged = [Judged(name, answer.category, answer.valid) for name, answer in results]
    yield from score_figures(judged, {}, strict=False)
    counts = Counter(answer.reason for _, answer in results if answer.reason)
    for reason, count in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])):
        yield Figure(OTHERWISE + reason, count, count, len(judged))


def correct_verdict(sample: Sample, text: str, verdict: Verdict, settings: Settings) -> tuple[Verdict, str]:
    """The verdict as meant, and the reason why it is not the published one; "" where it is.

    Args:
        sample: Of the BFCL reader.
        text: What a model answered.
        verdict: What the published code says.
        settings: How answers were asked for.
    """
    category = CATEGORIES.get(sample.category)
    if category is None or text == NOTHING or category.check in ("multi_turn", "agentic"):
        return verdict, ""
    answer = read_text(text, settings.mode)
    if category.check in ("irrelevance", "relevance"):
        return _correct_relevance(sample, answer, verdict)
    return _correct_calls(sample, answer, verdict, settings)


# ----------------------------------------------------------------------
# Whether a tool is called.
def _correct_relevance(sample: Sample, answer: WrittenAnswer, verdict: Verdict) -> tuple[Verdict, str]:
    """A call between words is a call; one of a tool that is not on offer is not what is wanted."""
    wants_call = sample.category.endswith("_relevance")
    calls = read_calls(answer)
    embedded = False
    if calls is None and not answer.calls:
        offered = _offered_names(sample)
        call_lists = (
            c
            for c in _embedded_calls(answer, "python")
            if all(name in offered for call in c for name in call)
        )
        calls = next(call_lists, None)
        embedded = calls is not None
    if not calls:
        return verdict, ""
    if embedded:
        if verdict.valid == wants_call:
            return verdict, ""
        if wants_call:
            return Verdict(True), EMBEDDED
        return Verdict(False, "corrected:called", ("A tool is called although none fits.",)), EMBEDDED
    if (
        wants_call
        and verdict.valid
        and not any(name in _offered_names(sample) for call in calls for name in call)
    ):
        return Verdict(
            False, "corrected:not_offered", ("The tool that is called is not offered.",)
        ), NOT_OFFERED
    return verdict, ""


def _offered_names(sample: Sample) -> set[str]:
    names = {tool["name"] for tool in sample.tools}
    return names | {name.replace(".", "_") for name in names}


# ----------------------------------------------------------------------
# Calls.
def _correct_calls(
    sample: Sample, answer: WrittenAnswer, verdict: Verdict, settings: Settings
) -> tuple[Verdict, str]:
    language, style, tag, category = style_of(sample)
    how = Check(language, settings.underscores(answer))
    calls = read_calls(answer, style, tag=tag)
    if verdict.valid:
        # What is right only where texts lose their punctuation, or true is 1, is right by accident.
        for reason, lenient in _ACCIDENTS if _fit(sample, calls, category, how) is None else ():
            if _fit(sample, calls, category, how, lenient) is not None:
                return Verdict(False, "corrected:other_value", (f"Not the same value: {reason}.",)), reason
        return verdict, ""
    if calls is None and verdict.error_type == DECODING_FAILED and not answer.calls:
        for embedded_calls in _embedded_calls(answer, style):
            if _fit(sample, embedded_calls, category, how) is not None:
                return Verdict(True), EMBEDDED
        return verdict, ""
    reasons = None if calls is None else _fit(sample, calls, category, how)
    if not reasons:
        return verdict, ""
    return Verdict(True), "; ".join(sorted(reasons))


def _fit(
    sample: Sample, calls: Any, category: str, how: Check, strict: Strictness = STRICT
) -> Reasons | None:
    """Whether calls mean the right ones; None also where gold is broken."""
    try:
        return fit_calls(sample.tools, calls, sample.extra["ground_truth"], category, how, strict)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, IndexError):
        return None


def _embedded_calls(answer: WrittenAnswer, style: str) -> Iterator[Any]:
    """The lists of calls in a fence or between the words of a prompted answer, the first first."""
    text = answer.content
    if not isinstance(text, str) or len(text) > _MAX_CHARS:
        return
    candidates = [*_between(text, "```", "```"), *_between(text, "<TOOLCALL>", "</TOOLCALL>")]
    candidates = [re.sub(r"^\w*\n", "", candidate) for candidate in candidates] + _bracketed(text)
    for candidate in candidates[:_MAX_CANDIDATES]:
        calls = read_calls(WrittenAnswer(candidate, calls=False), style)
        if calls:
            yield calls


def _between(text: str, opening: str, closing: str) -> Iterator[str]:
    """What stands between marks, one pair after the other."""
    opening_start = text.find(opening)
    while opening_start >= 0:
        end = text.find(closing, opening_start + len(opening))
        if end < 0:
            return
        yield text[opening_start + len(opening) : end]
        opening_start = text.find(opening, end + len(closing))


def _bracketed(text: str) -> list[str]:
    """The outermost parts in brackets, in order; brackets in quotes are none."""
    bracketed, start, depth = [], 0, 0
    for matched in _BRACKETS.finditer(text):
        if matched.group() == "[":
            start = start if depth else matched.start()
            depth += 1
        elif matched.group() == "]" and depth:
            depth -= 1
            if not depth:
                bracketed.append(text[start : matched.end()])
    return bracketed


_BRACKETS = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|(?<!\w)'(?:[^'\\]|\\.)*+'|[\[\]]", re.DOTALL)
_ACCIDENTS = ((NUMBERS, Strictness(numbers=False)), (TRUTH_VALUES, Strictness(truth_values=False)))
