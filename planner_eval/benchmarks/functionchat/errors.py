"""Why items of FunctionChat-Bench do not pass, as far as a rule can tell, by the right kind of turn.

Source: paper section 6.2, which names the errors of each kind of turn in words; no code was published. What
only a reading of meaning can tell (a question that leaves out a slot, a result that is altered, a service
that does not exist) is a class of its own: it is for the judge, or for a person.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from planner_eval.benchmarks.functionchat.reading import AssistantTurn, answer_of, read_answer
from planner_eval.benchmarks.functionchat.rules import rule
from planner_eval.datasets.functionchat import OUTPUT_TYPES
from planner_eval.datasets.sample import Sample

if TYPE_CHECKING:
    from planner_eval.benchmarks.score import Scored
    from planner_eval.plan.model import Call

MEANING = "only its meaning can tell"
_HANGUL = re.compile("[\uac00-\ud7a3]")
_CALLS = ("unreadable call", "no call", "more than one call", "other arguments", "other type", "other value")
"""Reasons of :mod:`.rules` that are classes as they are."""


def error_class(sample: Sample, answer: AssistantTurn) -> str:
    """The class of the error of an answer that does not pass.

    Args:
        sample: Of the FunctionChat reader.
        answer: What the model said.

    >>> extra = {"type_of_output": "slot", "messages": [{"role": "user", "content": "Book a table."}]}
    >>> error_class(Sample("s", gold={"content": "For when?"}, extra=extra), read_answer("Book a table."))
    'repeats the conversation'
    """
    if answer.code:
        return "unreadable call"
    if sample.extra["type_of_output"] == "call":
        reason = rule(sample, answer).reason
        if reason == "other function":
            return _choice(sample, answer.calls[0])
        if reason == "no call":
            return "words instead of a call" if answer.content else "nothing said"
        return reason if reason in _CALLS else MEANING
    if answer.calls:
        return _needless(sample, answer.calls)
    return _words(sample, answer.content)


def _choice(sample: Sample, call: Call) -> str:
    return "other function of those on offer" if call.name in offered(sample) else "function not on offer"


def _needless(sample: Sample, calls: Sequence[Call]) -> str:
    """A call where words are due: of no tool, one that was made before, or one with invented values."""
    if any(call.name not in offered(sample) for call in calls):
        return "call of a function not on offer"
    before = {_key(call) for message in sample.extra["messages"] for call in _calls_of(message)}
    if all(_key(call) in before for call in calls):
        return "call made before"
    argument_names = [set(dict(call.arguments)) for call in calls]
    if any(
        needed - names
        for names, needed in zip(argument_names, (_required(sample, c) for c in calls), strict=True)
    ):
        return "call without what it needs"
    slot = sample.extra["type_of_output"] == "slot"
    return "call with values that were not given" if slot else "call instead of words"


def _words(sample: Sample, content: str) -> str:
    if not content:
        return "nothing said"
    contents = [str(message.get("content") or "").strip() for message in sample.extra["messages"]]
    if content in contents:
        return "repeats the conversation"
    if content[:1] in "{[" and _is_json(content):
        return "raw data instead of words"
    gold = sample.gold.get("content") if isinstance(sample.gold, Mapping) else ""
    if _HANGUL.search(str(gold)) and not _HANGUL.search(content):
        return "in another language"
    return MEANING


def offered(sample: Sample) -> dict[str, Mapping[str, Any]]:
    """The parameters of the functions on offer, by name."""
    functions = [tool.get("function") for tool in sample.tools or () if isinstance(tool, Mapping)]
    declared_functions = [function for function in functions if isinstance(function, Mapping)]
    declared = [(str(function.get("name")), function.get("parameters")) for function in declared_functions]
    return {name: schema if isinstance(schema, Mapping) else {} for name, schema in declared}


def _required(sample: Sample, call: Call) -> set[str]:
    needed = offered(sample)[call.name].get("required")
    return set(map(str, needed)) if isinstance(needed, list) else set()


def _calls_of(message: Any) -> tuple[Call, ...]:
    return answer_of(message).calls if isinstance(message, Mapping) and message.get("tool_calls") else ()


def _key(call: Call) -> str:
    return json.dumps([call.name, dict(call.arguments)], sort_keys=True, default=str)


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), (dict, list))
    except (ValueError, RecursionError):
        return False


def error_rows(scored: Scored) -> list[dict[str, Any]]:
    """How many items do not pass under the last variant, a row a class, a column a kind of turn.

    Items without a verdict, which a judge would have to give, are counted as what can be told of them.

    Args:
        scored: What was scored.
    """
    variant, report = list(scored.reports.items())[-1]
    counts_by_error: dict[str, Counter[str]] = {}
    for (sample, text), row in zip(scored.matched.records, report.rows, strict=True):
        kind = sample.extra.get("type_of_output")
        if not row.ok and kind in OUTPUT_TYPES:
            counts_by_error.setdefault(error_class(sample, read_answer(text)), Counter())[kind] += 1
    return list(_rows(counts_by_error, variant))


def _rows(counts_by_error: Mapping[str, Counter[str]], variant: str) -> Iterator[dict[str, Any]]:
    kinds = [kind for kind in OUTPUT_TYPES if any(kind in counts for counts in counts_by_error.values())]
    for name in sorted(
        counts_by_error, key=lambda name: (name == MEANING, -counts_by_error[name].total(), name)
    ):
        yield {f"{variant}: error": name} | {kind: counts_by_error[name][kind] for kind in kinds}
