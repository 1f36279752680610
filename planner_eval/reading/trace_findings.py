"""What is wrong with a recorded run by itself, without gold and without a catalog."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from planner_eval.base.text import shorten
from planner_eval.plan.model import Call, Diagnostic, Plan, Value
from planner_eval.reading.conversation import find_conversation_findings
from planner_eval.reading.critical_path import MAX_SHOWN_LENGTH, describe_critical_path, find_trace_defects
from planner_eval.reading.trace_times import Run, Span

MIN_LOOP_ROUNDS = 3
"""How often the same calls in a row are a loop."""

_MAX_LOOP_PERIOD = 20
"""The longest round of a loop that is looked for."""


_MAX_ANCESTORS = 50
"""How many spans around a call are looked at."""

_MAX_NAMED_CALLS = 6
"""How many calls of a loop's round are named."""

_TRANSIENT_FAILURE = re.compile(
    r"time[d ]?-? ?out|rate.?limit|too many requests|\b429\b|\b50[234]\b|unavailable|temporar|overload|"
    r"connection|reset by peer|(?:database|table|file|resource) is (?:locked|busy)|deadlock|"
    r"\b500\b|internal server error|try again",
    re.I,
)
"""Failures that may pass: the same call again is the right answer to them."""

_DONE_WORDS = frozenset(
    {"ok", "okay", "done", "success", "successfully", "has", "been", "was", "the", "is", "it"}
)
"""Words of answers that only say that something was done: another such call may do it again."""

_MAX_OTHER_WORDS = 2
"""With no more other words than that, and no number, an answer proves nothing: "clicked", "vote counted"."""


def findings(
    plan: Plan, run: Run, acting: Collection[str] = (), conversation: Any = None, documented: str = ""
) -> tuple[Diagnostic, ...]:
    """Everything that a trace shows to be wrong, by call.

    Args:
        plan: Its calls.
        run: Its spans, as :func:`planner_eval.reading.trace_times.read_run` gives them for that plan, or
            :func:`planner_eval.reading.trace_times.recorded_run` of a conversation.
        acting: The tools that are known to change something: to call such a one again may be meant.
        conversation: The messages that the calls stand in, where it is one.
        documented: What is said of the tools, in one text.

    >>> from planner_eval.reading.dialects.read import parse
    >>> from planner_eval.reading.trace_times import read_run
    >>> told = {"gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": "1.09"}
    >>> span = {"name": "execute_tool f", "attributes": told}
    >>> trace = [{**span, "startTime": 1}, {**span, "startTime": 2}]
    >>> plan = parse(trace)
    >>> [found.code for found in findings(plan, read_run(trace, plan))]
    ['trace.repeated_call']
    """
    trace = _RecordedCalls(plan, run, acting)
    diagnostics = [*_find_repetitions(trace), *_find_unused_answers(trace), *_find_unrun_requests(run)]
    if conversation is not None:
        diagnostics += find_conversation_findings(plan, conversation, acting, documented)
    if run.timed:
        diagnostics += [*find_trace_defects(run), *describe_critical_path(run)]
    return tuple(sorted(diagnostics, key=lambda finding: (finding.call is None, finding.call or 0)))


class _RecordedCalls:
    """The calls of a run with what tells two apart: what was asked, what came back, whether it failed.

    Where equal calls get other answers in time, somebody waits, or turns pages, and repeats nothing.
    """

    def __init__(self, plan: Plan, run: Run, acting: Collection[str]) -> None:
        self.run = run
        self.acting = acting
        self.calls = plan.calls
        self.spans = run.tools
        self.known = {span.id: span for span in run.spans if span.id is not None}
        blind = {
            diagnostic.call for diagnostic in plan.diagnostics if diagnostic.code == "trace.no_arguments"
        }
        self.asked = [
            _json_key(call.tool, dict(call.arguments)) if index not in blind else f"{index}: not recorded"
            for index, call in enumerate(plan.calls)
        ]
        self.answers = [_json_key(call.result) if call.has_result else None for call in plan.calls]
        self.errors = [self._error(index) for index in range(len(plan.calls))]
        self.silent = [call.tool in acting or _says_done(call) for call in plan.calls]
        self.works: dict[str, int] = {}
        answers: dict[str, set[str]] = {}
        for index, (call_key, answer) in enumerate(zip(self.asked, self.answers, strict=True)):
            if self.errors[index] is None:
                self.works[call_key] = index
                answers.setdefault(call_key, set()).add(answer or "")
        self.changing = {call_key for call_key, outputs in answers.items() if len(outputs) > 1}
        keys = [*zip(self.asked, self.answers, strict=True)]
        self.waited_for = {
            call_key
            for (call_key, answer), (next_key, next_answer) in itertools.pairwise(keys)
            if call_key == next_key and answer != next_answer
        }
        """Calls that were answered otherwise with no other call in between: somebody waited."""

    def _error(self, index: int) -> str | None:
        span = self.spans.get(index)
        return span.error if span is not None else None

    def place(self, index: int) -> str:
        """A call's span, by which people find it in their viewer."""
        span = self.spans.get(index)
        return f" (span {span.id})" if span is not None and span.id is not None else ""

    def may_change(self, first: int, second: int) -> bool:
        """Whether the second of two equal calls may have been made to see whether the answer changed."""
        call_key = self.asked[second]
        if second == first + 1 and self.answers[first] == self.answers[second]:
            return call_key in self.waited_for
        return call_key in self.changing

    def between(self, first: int, second: int) -> bool:
        """Whether another call was made between two equal ones."""
        return any(call_key != self.asked[second] for call_key in self.asked[first + 1 : second])

    def apart(self, first: int, second: int) -> bool:
        """Whether two calls ran in different spans that ran at the same time, as agents beside each other."""
        first_spans, second_spans = (self._above(index) for index in (first, second))
        for depth, span in enumerate(first_spans):
            if span in second_spans:
                return (
                    depth > 0
                    and second_spans.index(span) > 0
                    and _are_concurrent(first_spans[depth - 1], second_spans[second_spans.index(span) - 1])
                )
        return bool(first_spans and second_spans) and _are_concurrent(first_spans[-1], second_spans[-1])

    def _above(self, index: int) -> list[Span]:
        """The spans in which a call ran, the nearest first."""
        ancestors: list[Span] = []
        span = self.spans.get(index)
        while span is not None and len(ancestors) < _MAX_ANCESTORS:
            span = self.known.get(span.parent or "")
            if span is None or span in ancestors:
                break
            ancestors.append(span)
        return ancestors

    def at_once(self, first: int, second: int) -> bool:
        """Whether two calls ran at the same time, so that neither can follow from the other's answer."""
        first_span, second_span = self.spans.get(first), self.spans.get(second)
        return (
            first_span is not None
            and second_span is not None
            and None not in (first_span.end, second_span.start)
            and (second_span.start or 0) < (first_span.end or 0)
        )


def _are_concurrent(first: Span, second: Span) -> bool:
    """Whether two spans ran at the same time."""
    return (
        first != second
        and None not in (first.start, first.end, second.start, second.end)
        and (first.start or 0) < (second.end or 0)
        and (second.start or 0) < (first.end or 0)
    )


def _json_key(*values: Value) -> str:
    return json.dumps(values, sort_keys=True, default=str)


# ---------------------------------------------------------------- calls made again
def _find_repetitions(trace: _RecordedCalls) -> Iterator[Diagnostic]:
    """Loops, failures retried unchanged, and calls whose answer was there already."""
    looping: set[int] = set()
    for start, period, rounds in _find_loops(trace):
        looping.update(range(start, start + period * rounds))
        yield _loop_finding(trace, start, period, rounds)
    last: dict[str, int] = {}
    for index, call_key in enumerate(trace.asked):
        before = last.get(call_key)
        last[call_key] = index
        if before is None:
            continue
        if trace.errors[before] is not None:
            yield from _find_failed_retries(trace, before, index)
        elif index not in looping and trace.errors[index] is None and not trace.may_change(before, index):
            yield _repeated_call_finding(trace, before, index)


def _find_loops(trace: _RecordedCalls) -> Iterator[tuple[int, int, int]]:
    """Where calls go round: from which call on, how many are a round, how many rounds there are.

    A round is the same calls with the same answers, none of which failed or only says that it was done.
    """
    signs = [
        None
        if trace.errors[index] is not None
        or not call.has_result
        or call_key in trace.waited_for
        or trace.silent[index]
        else (call_key, trace.answers[index])
        for index, (call_key, call) in enumerate(zip(trace.asked, trace.calls, strict=True))
    ]
    start = 0
    while start < len(signs):
        period = next(
            (
                p
                for p in range(1, _MAX_LOOP_PERIOD + 1)
                if _count_rounds(signs, start, p) >= MIN_LOOP_ROUNDS
                and (p == 1 or trace.changing.isdisjoint(trace.asked[start : start + p]))
            ),
            None,
        )
        if period is None:
            start += 1
            continue
        rounds = _count_rounds(signs, start, period)
        yield start, period, rounds
        start += period * rounds


def _count_rounds(signs: Sequence[tuple[str, str | None] | None], start: int, period: int) -> int:
    first = signs[start : start + period]
    if len(first) < period or None in first:
        return 0
    rounds = 1
    while signs[start + rounds * period : start + (rounds + 1) * period] == first:
        rounds += 1
    return rounds


def _loop_finding(trace: _RecordedCalls, start: int, period: int, rounds: int) -> Diagnostic:
    named = [
        shorten(call.tool, MAX_SHOWN_LENGTH)
        for call in trace.calls[start : start + min(period, _MAX_NAMED_CALLS)]
    ]
    names = " → ".join(
        [*named, f"… {period - _MAX_NAMED_CALLS} more"] if period > _MAX_NAMED_CALLS else named
    )
    text = (
        f"a loop: {names} {rounds} times in calls {start + 1} to {start + period * rounds}, each round with "
        f"the same outputs{trace.place(start)}; "
        "stop after the first round, or tell the model what it already has"
    )
    return Diagnostic("trace.loop", text, "warning", start)


def _find_failed_retries(trace: _RecordedCalls, before: int, index: int) -> Iterator[Diagnostic]:
    """A call that failed, made again as it was, and failed again; one that then works is right."""
    error = trace.errors[index]
    if error is None or trace.at_once(before, index) or trace.works.get(trace.asked[index], -1) > index:
        return
    words = shorten(error.partition("\n")[0], 2 * MAX_SHOWN_LENGTH)
    passing = _TRANSIENT_FAILURE.search(error) is not None
    between = trace.between(before, index)
    why = "; another tool ran in between, and may have changed it" if between else ""
    text = (
        f"call {before + 1} failed, was retried unchanged and failed again: "
        f"{words!r}{trace.place(index)}{why}; "
        + ("wait longer between tries" if passing else "change the arguments, or give up and say so")
    )
    yield Diagnostic("trace.failed_retry", text, "info" if passing or between else "warning", index)


def _repeated_call_finding(trace: _RecordedCalls, before: int, index: int) -> Diagnostic:
    """A call whose answer was there already."""
    recorded = trace.answers[before] is not None and trace.answers[index] is not None
    between = trace.between(before, index) and not trace.at_once(before, index)
    concurrent = trace.apart(before, index)
    sure = recorded and not concurrent and not trace.silent[index] and not between
    answer_note = "with the same output" if recorded else "and the trace does not record the outputs"
    why = "; another tool ran in between, and may have changed it" if between else ""
    why = (
        "; two agents made them at the same time, perhaps without knowing of each other"
        if concurrent
        else why
    )
    text = (
        f"the same call as call {before + 1}, {answer_note}{trace.place(index)}{why}; "
        "reuse the first output, or drop the second call"
    )
    return Diagnostic("trace.repeated_call", text, "warning" if sure else "info", index)


def _says_done(call: Call) -> bool:
    """Whether an answer, beyond what the call itself said, only says that something was done.

    Such calls are made again with reason, to scroll on or to go up once more, where the answer may be ``{}``;
    one of an answer that tells something is not.
    """
    argument_words = set(_WORD.findall(_json_key(dict(call.arguments)).lower()))
    values = list(call.result.values()) if isinstance(call.result, dict) else [call.result]
    return all(_is_done(value, argument_words) for value in values)


def _is_done(value: Value, argument_words: set[str]) -> bool:
    if not isinstance(value, str):
        return value is None or value is True
    words = [
        word
        for word in _WORD.findall(value[:MAX_SHOWN_LENGTH].lower())
        if word not in argument_words and word not in _DONE_WORDS
    ]
    left = [word for word in words if len(word) > 1 or word.isdigit()]
    return (
        len(value) <= MAX_SHOWN_LENGTH
        and len(left) <= _MAX_OTHER_WORDS
        and not any(map(str.isdigit, "".join(left)))
    )


_WORD = re.compile(r"\w+")


# ---------------------------------------------------------------- answers that nobody used
_TOKEN = re.compile(r"[^\W_]*\d[\d.,:]*[^\W_]*|[^\W\d_]{4,}")
_NEGATION = re.compile(
    r"\b(?:no|not|none|never|without|unknown|missing|error|fail\w*|empty|invalid|false|denied)\b", re.I
)


def _find_unused_answers(trace: _RecordedCalls) -> Iterator[Diagnostic]:
    """Answers of which nothing stands in a later argument, nor in what the model said after.

    A trace that does not record what the model said in the end says nothing of that. It is no proof: an
    answer may have decided what came next, and "about twenty" may stand for 21.4.
    """
    heard = _LastMentions(trace)
    for index, call in enumerate(trace.calls):
        span = trace.spans.get(index)
        if span is None or span.end is None or not call.has_result or trace.errors[index] is not None:
            continue
        text = _json_key(call.result)
        own = _tokens(text) - heard.arguments[index] - _tokens(call.name)
        words_recorded = heard.ends or heard.last_said >= span.end
        if (
            not words_recorded
            or not own
            or _NEGATION.search(text)
            or _says_done(call)
            or call.tool in trace.acting
            or heard.uses(own, span.end)
        ):
            continue
        message = (
            f"nothing from the output of {shorten(call.name, MAX_SHOWN_LENGTH)} appears in a later argument "
            f"or message{trace.place(index)}; drop the call, unless the model used it in other words"
        )
        yield Diagnostic("trace.unused_result", message, "info", index)


class _LastMentions:
    """When each word was last said by the model, or given to a tool."""

    def __init__(self, trace: _RecordedCalls) -> None:
        self.arguments = [_tokens(_json_key(dict(call.arguments))) for call in trace.calls]
        self.latest: dict[str, int] = {}
        self.ends: set[str] = set()
        self.last_said = -1
        for span in trace.run.spans:
            if span.said and span.kind == "model" and span.start is not None:
                self.last_said = max(self.last_said, span.start)
                self._note(_tokens(span.said), span.start)
            elif span.said:
                self.ends |= _tokens(span.said)
        for index, tokens in enumerate(self.arguments):
            start = trace.spans[index].start if index in trace.spans else None
            if start is not None:
                self._note(tokens, start)

    def _note(self, tokens: frozenset[str], when: int) -> None:
        for token in tokens:
            self.latest[token] = max(self.latest.get(token, 0), when)

    def uses(self, tokens: frozenset[str], since: int) -> bool:
        """Whether one of some words was said, or given to a tool, from some time on."""
        return any(token in self.ends or self.latest.get(token, -1) >= since for token in tokens)


def _tokens(text: str) -> frozenset[str]:
    """The numbers and longer words of a text; 1,200.00 and 1200 are one number."""
    return frozenset(_plain_token(token) for token in _TOKEN.findall(text))


_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+")


def _plain_token(token: str) -> str:
    token = token.strip(".,:").lower()
    if _NUMBER.fullmatch(token) is None:
        return token
    token = token.replace(",", "")
    return token.rstrip("0").rstrip(".") if "." in token else token


# ---------------------------------------------------------------- tools that never ran
def _find_unrun_requests(run: Run) -> Iterator[Diagnostic]:
    """Tools that the model asked for and that never ran: refused, where the framework says so."""
    for name, span, refused in run.unheard:
        why = "the framework has no such tool" if refused else "no tool of that name ran in this trace"
        where = f" (span {span})" if span is not None else ""
        advice = (
            "offer it, or remove its name from the prompt"
            if refused
            else "a handoff, or a tool run elsewhere"
        )
        text = f"the model asked for {shorten(name, MAX_SHOWN_LENGTH)!r}, but {why}{where}; {advice}"
        yield Diagnostic("trace.not_run", text, "warning" if refused else "info")
