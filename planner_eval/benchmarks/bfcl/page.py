"""What a page shows of an answer to BFCL: what was called and what is accepted, and the message in full."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError, ParseError
from planner_eval.benchmarks.benchmark import Explanation
from planner_eval.benchmarks.bfcl.call_check import Check, Verdict, check_call
from planner_eval.benchmarks.bfcl.corrected import fit_call
from planner_eval.benchmarks.bfcl.data import CATEGORIES
from planner_eval.benchmarks.bfcl.gold import turn_calls
from planner_eval.benchmarks.bfcl.official import (
    Settings,
    judge_answers,
    read_calls,
    style_of,
)
from planner_eval.benchmarks.bfcl.reading import (
    NOTHING,
    WrittenAnswer,
    decode_step,
    read_text,
)
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.report import Records
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.read import parse

RIGHT, WRONG, UNMARKED = "ok", "wrong", ""
"""How a row or a turn is marked."""
_MAX_VALUE = 600
_MAX_STEPS = 100
_MAX_CALLS = 50
_MAX_MESSAGE = 4_000
_LEFT_OUT = "may be left out"


def explain_answers(records: Records, *, mode: str = "auto", names: str = "auto") -> Iterator[Explanation]:
    """What a page shows of each answer.

    Args:
        records: Samples of the BFCL reader with what a model answered.
        mode: One of :data:`.reading.MODES`.
        names: One of :data:`.official.NAMES`.
    """
    pairs, settings = list(records), Settings(mode, names)
    for (sample, text), verdict in zip(pairs, judge_answers(pairs, settings), strict=True):
        yield explain_answer(sample, text, verdict, settings)


def explain_answer(sample: Sample, text: str, verdict: Verdict, settings: Settings) -> Explanation:
    """What a page shows of one answer; see :func:`explain_answers`.

    >>> tool = {"name": "f", "parameters": {"properties": {"a": {"type": "integer"}}, "required": ["a"]}}
    >>> extra = {"ground_truth": [{"f": {"a": [1]}}]}
    >>> sample = Sample("1", tools=[tool], category="simple_python", extra=extra)
    >>> verdict = Verdict(False, "value_error:others", ("Invalid value.",))
    >>> explain_answer(sample, "[f(a=2)]", verdict, Settings()).sections[0]["rows"]
    [['', 'f'], ['wrong', 'a', '2', '1']]
    """
    category = CATEGORIES.get(sample.category)
    fields = {"error type": verdict.error_type} if verdict.error_type else {}
    shown = Explanation(message=format_error(verdict), fields=fields, question=_question(sample))
    if category is None:
        return shown._replace(reply=text)
    answer = None if text == NOTHING else read_text(text, settings.mode)
    if category.check == "multi_turn":
        return _explain_turns(sample, answer, verdict, shown)
    if category.check == "agentic":
        accepted = {"title": "Accepted", "text": "\n".join(map(str, sample.extra["ground_truth"]))}
        if answer is None:
            return shown._replace(sections=[accepted])
        content = answer.content
        steps = content[0] if isinstance(content, list) and len(content) == 1 else content
        turns = {"title": "What was answered", "turns": [_turn_data("Answer", _steps(answer, steps))]}
        return shown._replace(sections=[accepted, turns], reply="")
    if category.check in ("irrelevance", "relevance"):
        expectation = "a call of a tool" if category.check == "relevance" else "no call of a tool"
        tools = ", ".join(str(tool.get("name")) for tool in sample.tools or ())
        sections = [{"title": "Accepted", "text": f"{expectation}; on offer: {tools or 'none'}"}]
        calls = None if answer is None else read_calls(answer)
        shown = shown._replace(sections=sections, pred=_plan(calls) if calls else None)
    else:
        shown = _explain_calls(sample, answer, shown, settings)
    return shown._replace(reply="" if answer is None else _plain_text(answer))


def format_error(verdict: Verdict) -> str:
    r"""The published message in full; "" where it is one text, which the verdict's row has.

    >>> format_error(Verdict(False, "x", ("No call.", {"f": 1})))
    'No call.\n{"f": 1}'
    """
    if verdict.valid or isinstance(verdict.error, str) or len(verdict.error) < 2:
        return ""
    return _cut("\n".join(map(_text, verdict.error)), _MAX_MESSAGE)


def _question(sample: Sample) -> Any:
    """The messages of the question; its text where it is one of the user's."""
    turns = sample.extra.get("question", {}).get("question") or ()
    messages = [message for turn in turns for message in turn]
    if not messages or (len(messages) == 1 and messages[0].get("role") == "user"):
        return None
    return messages


def _plain_text(answer: WrittenAnswer) -> str:
    return answer.content if isinstance(answer.content, str) else _text(answer.content)


def _text(value: Any) -> str:
    """A text itself, anything else as JSON."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=repr)
    except (TypeError, ValueError):  # Python has keys that JSON has not
        return repr(value)
    except RecursionError:
        return "a value that nests too deeply"


def _cut(text: str, most: int = _MAX_VALUE) -> str:
    return text if len(text) <= most else f"{text[:most]} … {len(text) - most:,} more characters"


# ----------------------------------------------------------------------
# Calls of a single turn.
class _Partner(NamedTuple):
    """A right call with the call that stands for it.

    Args:
        name: The tool's name as the answer would write it.
        accepted: The accepted values of each argument.
        details: How the tool describes its arguments.
        call: The position of the call; None where there is none.
        verdicts: Argument of that call → whether it counts as right, and as meant.
    """

    name: str
    accepted: Mapping[str, Sequence[Any]]
    details: Mapping[str, Any]
    call: int | None = None
    verdicts: Mapping[str, tuple[bool, bool]] = {}


def _explain_calls(
    sample: Sample, answer: WrittenAnswer | None, shown: Explanation, settings: Settings
) -> Explanation:
    truth = sample.extra["ground_truth"]
    try:
        language, style, tag, _ = style_of(sample)
    except ValueError:
        language, style, tag = "python", "python", False
    calls = None if answer is None else read_calls(answer, style, tag=tag)
    underscores = answer is not None and settings.underscores(answer)
    how = Check(language, underscores)
    partners = _find_partners(sample, calls or [], truth, how)
    rows = list(_rows(partners, calls or []))
    section = {"title": "Called and accepted", "heads": ["argument", "called", "accepted"], "rows": rows}
    gold = _plan(
        [_nearest_call(p, calls or [], first) for p, first in zip(partners, sample.gold or (), strict=False)]
    )
    return shown._replace(sections=[section], pred=_plan(calls) if calls else None, gold=gold)


def _plan(calls: Sequence[Any]) -> Plan | None:
    """Calls as a plan; None where a name or a value cannot be one."""
    try:
        return parse(list(calls), dialect="keyed")
    except (ParseError, InputError, TypeError, ValueError, RecursionError):
        return None


def _find_partners(sample: Sample, calls: Sequence[Any], truth: Sequence[Any], how: Check) -> list[_Partner]:
    """For each right call the call of its tool that has most of its values; where none is left, the next."""
    tools = {tool["name"]: tool for tool in sample.tools}
    partners = []
    for right in truth:
        ((name, accepted),) = right.items()
        tool = tools.get(name) or (sample.tools[0] if len(sample.tools) == 1 else {"parameters": {}})
        details = tool["parameters"].get("properties", {})
        partners.append(_Partner(name.replace(".", "_") if how.underscores else name, accepted, details))
    left = list(range(min(len(calls), _MAX_CALLS)))
    for by_name in (True, False):
        for row, partner in enumerate(partners):
            fitting = [i for i in left if not by_name or next(iter(calls[i])) == partner.name]
            if partner.call is not None or not fitting:
                continue
            judged = {
                i: {
                    key: _judge_argument(partner, key, value, how)
                    for key, value in next(iter(calls[i].values())).items()
                }
                for i in fitting
            }
            best = max(fitting, key=lambda i: (sum(as_meant for _, as_meant in judged[i].values()), -i))
            left.remove(best)
            partners[row] = partner._replace(call=best, verdicts=judged[best])
    return partners


def _judge_argument(partner: _Partner, key: str, value: Any, how: Check) -> tuple[bool, bool]:
    if key not in partner.details or key not in partner.accepted:
        return False, False
    tool = {"name": "f", "parameters": {"properties": {key: partner.details[key]}, "required": []}}
    call, right = {"f": {key: value}}, {"f": {key: partner.accepted[key]}}
    verdicts = []
    for judge in (
        lambda: check_call(tool, call, right, how) is None,
        lambda: fit_call(tool, call, right, how),
    ):
        try:
            verdict = judge()
        except Exception:  # as published: whatever it is
            verdict = None
        verdicts.append(verdict not in (None, False))
    return verdicts[0], any(verdicts)


def _rows(partners: Sequence[_Partner], calls: Sequence[Any]) -> Iterator[list[str]]:
    """A line a call, then one an argument: what was called, what is accepted."""
    for partner in partners:
        name, arguments = partner.name, {}
        if partner.call is not None:
            ((name, arguments),) = calls[partner.call].items()
        if name == partner.name and partner.call is not None:
            yield [UNMARKED, name]
        else:
            called = "not called" if partner.call is None else f"called {name}"
            yield [WRONG, f"{partner.name}: {called}"]
        for key in [*partner.accepted, *(key for key in arguments if key not in partner.accepted)]:
            accepted = partner.accepted.get(key)
            accepted_text = "no such argument" if accepted is None else _accepted_text(accepted)
            if key in arguments:
                mark = RIGHT if partner.verdicts[key][0] else WRONG
                yield [mark, key, _cut(_text(arguments[key])), accepted_text]
            else:
                optional = accepted is not None and "" in accepted
                yield [UNMARKED if optional or partner.call is None else WRONG, key, "–", accepted_text]
    chosen = {partner.call for partner in partners}
    extra = [position for position in range(len(calls)) if position not in chosen]
    for position in extra[:_MAX_CALLS]:
        ((name, arguments),) = calls[position].items()
        yield [WRONG, f"{name}: one call too many"]
        for key, value in arguments.items():
            yield [UNMARKED, key, _cut(_text(value)), "–"]
    if len(extra) > _MAX_CALLS:
        yield [WRONG, f"and {len(extra) - _MAX_CALLS:,} more calls"]


def _accepted_text(accepted: Sequence[Any]) -> str:
    """Accepted values in words.

    >>> _accepted_text(["km", "", "kilometres"]), _accepted_text([])
    ('km, or kilometres; may be left out', 'no value')
    """
    values = [_text(value) for value in accepted if value != ""]
    text = ", or ".join(values) or ("" if "" in accepted else "no value")
    left_out = _LEFT_OUT if "" in accepted else ""
    return _cut("; ".join(filter(None, (text, left_out))))


def _nearest_call(partner: _Partner, calls: Sequence[Any], gold_call: Mapping[str, Any]) -> dict[str, Any]:
    """The right call whose accepted values are the answer's where they may be, so that they do not differ."""
    (first,) = gold_call.values()
    if partner.call is None:
        return {partner.name: first}
    ((called, arguments),) = calls[partner.call].items()
    name = called if called.replace(".", "_") == partner.name.replace(".", "_") else partner.name
    nearest = {}
    for key, accepted in partner.accepted.items():
        if key in arguments:
            as_meant = partner.verdicts[key][1]
            if as_meant or key in first:
                nearest[key] = arguments[key] if as_meant else first[key]
        elif "" not in accepted and key in first:
            nearest[key] = first[key]
    return {name: nearest}


# ----------------------------------------------------------------------
# Several turns.
def _explain_turns(
    sample: Sample, answer: WrittenAnswer | None, verdict: Verdict, shown: Explanation
) -> Explanation:
    """The turns: what was asked, called and expected; what is wrong first and what follows from it."""
    question, truth = sample.extra["question"], sample.extra["ground_truth"]
    turns = answer.content if answer is not None and isinstance(answer.content, list) else None
    wrong = verdict.details.get("turn")
    if turns is not None and wrong is None and verdict.error_type == "multi_turn:force_terminated":
        wrong = min(len(turns), len(truth)) + 1
    explanation = [str(line).split(": ", 1)[-1] for line in verdict.details.get("explanation", ())]
    checked = verdict.valid or verdict.details.get("turn") is not None
    later, follow = verdict.details.get("wrong"), verdict.details.get("follow", ())
    views = []
    for position in range(max(len(truth), len(turns or ()))):
        number, gold = position + 1, truth[position] if position < len(truth) else None
        messages = question["question"][position] if position < len(question["question"]) else ()
        notes = _held_back(question, position)
        steps: list[list[str]] = []
        if turns is not None and position < len(turns):
            steps = _steps(answer, turns[position]) if answer is not None else []
        elif turns is not None:
            notes.append("the answer ended before this turn")
        if number == wrong:
            notes += explanation
        is_later = wrong is not None and number > wrong
        is_wrong = number == wrong or number in (later or ())
        mark = WRONG if is_wrong else RIGHT if checked and not (is_later and later is None) else UNMARKED
        title = f"Turn {number} of {len(truth)}"
        if number in follow:
            title += f", wrong as a consequence of turn {wrong}"
        elif is_later:
            title += ", not checked" if later is None else ", wrong on its own" if is_wrong else ""
        requests = [f"{message.get('content')}" for message in messages]
        expected = None if gold is None else [_cut(str(call)) for call in gold[:_MAX_STEPS]]
        views.append(_turn_data(title, steps, mark, asked=requests, accepted=expected, notes=notes))
    refused = [
        f"not run: it is not a call with plain values: {text}" for text in verdict.details.get("refused", ())
    ]
    sections: list[Mapping[str, Any]] = [{"title": "Turn by turn", "turns": views}]
    if refused:
        sections.append({"title": "Refused", "text": _cut("\n".join(map(str, refused)), _MAX_MESSAGE)})
    # Of a wrong answer only the first wrong turn and what follows: what differs in others did no harm.
    drawn = range(len(truth)) if wrong is None else [wrong - 1, *(number - 1 for number in follow)]
    called = [turns[position] for position in drawn if position < len(turns)] if turns is not None else []
    pred = None if answer is None else _plan_of_turns(_turns_texts(answer, called), sample)
    gold = None
    if not verdict.valid:  # another way to the same state is right
        gold = _plan_of_turns([truth[position] for position in drawn if position < len(truth)], sample)
    shown = shown._replace(pred=pred, gold=gold)
    fields = {**shown.fields, **({"wrong turn": str(wrong)} if wrong is not None else {})}
    reply = "" if turns is not None or answer is None else _plain_text(answer)
    return shown._replace(sections=sections, fields=fields, question="", reply=reply)


def _turns_texts(answer: WrittenAnswer, turns: Sequence[Any]) -> list[list[str]]:
    """The calls of each turn; none of a turn of words."""
    return [[text for kind, text in _steps(answer, turn, _MAX_MESSAGE) if kind == "call"] for turn in turns]


def _plan_of_turns(turns: Sequence[Sequence[str]], sample: Sample) -> Plan | None:
    """The calls of all turns as a plan, drawn turn beside turn; None where some cannot be one."""
    try:
        calls = [(call, number) for number, texts in enumerate(turns) for call in turn_calls(texts, sample)]
        plan = _plan([call for call, _ in calls[:_MAX_STEPS]])
    except (SyntaxError, ValueError, TypeError, AttributeError, RecursionError):
        return None
    if plan is None or not calls or len(plan.calls) != len(calls):
        return None
    return replace(plan, steps=tuple(number for _, number in calls))


def _held_back(question: Mapping[str, Any], position: int) -> list[str]:
    """That tools are on offer from a turn on."""
    names = question.get("missed_function", {}).get(str(position))
    return [f"from here on offer: {', '.join(map(str, names))}"] if names else []


def _turn_data(
    title: str, steps: Sequence[Sequence[str]], mark: str = UNMARKED, **more: Any
) -> dict[str, Any]:
    return {"title": title, "mark": mark, "steps": steps, "asked": [], "accepted": None, "notes": []} | more


def _steps(answer: WrittenAnswer, turn: Any, most: int = _MAX_VALUE) -> list[list[str]]:
    """What an answer did in a turn, each a kind, ``call`` or ``words``, and a text."""
    steps = []
    for step in turn if isinstance(turn, list) else [turn]:
        try:
            calls = decode_step(step, calls=answer.calls)
        except Exception:  # as published: whatever it is
            calls = []
        texts = [call for call in calls if call]
        if texts:
            steps += [["call", _cut(text, most)] for text in texts]
        elif step not in ([], "", None):
            steps.append(["words", _cut(_text(step), _MAX_MESSAGE)])
    more = len(steps) - _MAX_STEPS
    return steps if more <= 0 else [*steps[:_MAX_STEPS], ["words", f"… and {more:,} more"]]
