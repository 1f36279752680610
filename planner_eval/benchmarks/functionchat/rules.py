"""What FunctionChat-Bench's criteria decide without a judge, and why items do not pass.

Source: paper section 4 and the criteria of appendix B; section 6.2 on types.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval.benchmarks.benchmark import Details, Table
from planner_eval.benchmarks.datasets.check import is_instruction, read_alternatives
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.functionchat.data import OUTPUT_TYPES
from planner_eval.benchmarks.functionchat.matching import GOLD_ONLY_DIGEST, digest, is_same_value
from planner_eval.benchmarks.functionchat.official import FAIL, PASS
from planner_eval.benchmarks.functionchat.reading import AssistantTurn, answer_of, read_answer
from planner_eval.plan.model import Call

if TYPE_CHECKING:
    from planner_eval.benchmarks.report import Run
    from planner_eval.benchmarks.score import Scored


# ----------------------------------------------------------------------
# What FunctionChat-Bench's criteria decide without a judge, and what they leave to one.
_JSON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (NoneType,),
}


class Ruling(NamedTuple):
    """What the rules say of one answer.

    Args:
        verdict: ``"pass"``, ``"fail"``, or None where meaning decides, which only a judge can tell.
        reason: Why, in a word or two that can be counted.
    """

    verdict: str | None
    reason: str


RIGHT_RULING = Ruling(PASS, "right")


def rule_answer(sample: Sample, answer: AssistantTurn, gold: AssistantTurn | None = None) -> Ruling:
    """What the criterion of the sample's output type says of an answer by itself.

    Args:
        sample: Of the FunctionChat reader.
        answer: What the model said.
        gold: What the sample's gold says, where it has been read already.
    """
    if answer.code:
        return Ruling(FAIL, "unreadable call")
    if sample.extra["type_of_output"] == "call":
        return _rule_call(sample, answer, answer_of(sample.gold) if gold is None else gold)
    return _rule_words(sample, answer)


def _rule_words(sample: Sample, answer: AssistantTurn) -> Ruling:
    """Words are due: a call is wrong, the reference itself is right, a judge reads anything else."""
    if answer.calls:
        return Ruling(FAIL, "call instead of text")
    if not answer.content:
        return Ruling(FAIL, "empty answer")
    if answer.content == str(sample.gold.get("content", "")).strip():
        return Ruling(PASS, "the reference")
    return Ruling(None, "words")


def _rule_call(sample: Sample, answer: AssistantTurn, reference: AssistantTurn) -> Ruling:
    if not answer.calls:
        return Ruling(FAIL, "no call")
    if len(answer.calls) > 1:
        return Ruling(FAIL, "more than one call")
    (call,), gold = answer.calls, reference.calls[0]
    if call.name != gold.name:
        return Ruling(FAIL, "other function")
    pred_names, gold_names = [key for key, _ in call.arguments], [key for key, _ in gold.arguments]
    if pred_names != gold_names and sorted(pred_names) != sorted(gold_names):
        return Ruling(FAIL, "other arguments")
    values = dict(call.arguments)
    if all([_is_equal(values[key], value) for key, value in gold.arguments]):
        return RIGHT_RULING
    schemas = declared_schemas(sample.tools, gold.name)
    released = sample.extra["acceptable_arguments"]
    alternatives, gold_alone = _alternatives(released) if isinstance(released, str) else (released, False)
    if gold_alone:
        right = all(
            is_equal_as_declared(values[key], value, schemas.get(key)) for key, value in gold.arguments
        )
        return RIGHT_RULING if right else Ruling(FAIL, "other value")
    return rule_values(call, gold, alternatives, schemas)


@lru_cache(1024)
def _alternatives(released: str) -> tuple[Any, bool]:
    """The alternatives of a text, which are looked up in and never changed, and whether gold alone is right.

    An item has one such text under all its lists of tools.
    """
    alternatives = read_alternatives(released)
    return alternatives, isinstance(alternatives, str) and digest(alternatives) == GOLD_ONLY_DIGEST


def rule_values(call: Call, gold: Call, alternatives: Any, schemas: Mapping[str, Any]) -> Ruling:
    """Whether the values of a call with the right name and arguments are right.

    Args:
        call: The predicted call.
        gold: The right call, with the same argument names.
        alternatives: By argument; a sentence, which only a judge can follow; or None.
        schemas: The declared schema by argument.

    >>> gold, call = Call("c1", "f", (("city", "Seoul"),)), Call("c1", "f", (("city", "SEOUL"),))
    >>> rule_values(call, gold, None, {}).verdict, rule_values(call, gold, "Say it loudly.", {})
    ('pass', Ruling(verdict=None, reason='other value'))
    """
    pred_arguments, undecided = dict(call.arguments), False
    for key, gold_value in gold.arguments:
        alternative_values = alternatives.get(key) if isinstance(alternatives, dict) else None
        value, schema = pred_arguments[key], schemas.get(key)
        if is_equal_as_declared(value, gold_value, schema) or _is_listed(value, alternative_values, schema):
            continue
        if not _has_type(value, schema):
            return Ruling(FAIL, "other type")
        if is_same_text(value, gold_value) and not isinstance(alternatives, str):
            continue
        if not isinstance(value, str) or not isinstance(gold_value, str):
            return Ruling(FAIL, "other value")
        undecided = True
    return Ruling(None, "other value") if undecided else RIGHT_RULING


def declared_schemas(tools: Any, name: str) -> Mapping[str, Any]:
    """The declared schema of each parameter of a tool in OpenAI's form; {} where it is not on offer.

    >>> parameters = {"type": "object", "properties": {"n": {"type": "integer"}}}
    >>> declared_schemas([{"function": {"name": "f", "parameters": parameters}}], "f")
    {'n': {'type': 'integer'}}
    """
    for tool in tools or ():
        function = tool.get("function") if isinstance(tool, dict) else None
        if isinstance(function, dict) and function.get("name") == name:
            properties = (function.get("parameters") or {}).get("properties")
            return properties if isinstance(properties, dict) else {}
    return {}


def _has_type(value: Any, schema: Any) -> bool:
    """Whether a value has a declared type; a float is no integer (section 6.2), a truth value no number."""
    declared = _schema_keyword(schema, "type")
    kinds = declared if isinstance(declared, list) else [declared]
    if not all(isinstance(kind, str) and kind in _JSON_TYPES for kind in kinds):
        return True
    kinds = kinds if not isinstance(value, bool) else [kind for kind in kinds if kind == "boolean"]
    return any(isinstance(value, _JSON_TYPES[kind]) for kind in kinds)


def _schema_keyword(schema: Any, name: str) -> Any:
    return schema.get(name) if isinstance(schema, dict) else None


def _is_listed(value: Any, alternative_values: Any, schema: Any) -> bool:
    """Whether a value is one of an argument's alternatives; an instruction is none."""
    if alternative_values is None:
        return False
    options = (
        alternative_values
        if isinstance(alternative_values, list)
        else []
        if is_instruction(alternative_values)
        else [alternative_values]
    )
    return any(
        [is_equal_as_declared(value, option, schema) or is_same_text(value, option) for option in options]
    )


def is_equal_as_declared(value: Any, gold: Any, schema: Any) -> bool:
    """Whether a value is gold's: numbers by value, unless an integer is declared and a float given.

    Args:
        value: The predicted value.
        gold: Gold's.
        schema: What is declared of it; None for nothing.

    >>> is_equal_as_declared([100.0], [100], {"items": {"type": "number"}})
    True
    >>> is_equal_as_declared(100.0, 100, {"type": "integer"}), is_equal_as_declared(True, 1, None)
    (False, False)
    """
    if _is_equal(value, gold):
        return True
    if isinstance(value, list) and isinstance(gold, list):
        items = _schema_keyword(schema, "items")
        return len(value) == len(gold) and all(
            is_equal_as_declared(item, other, items) for item, other in zip(value, gold, strict=True)
        )
    if isinstance(value, dict) and isinstance(gold, dict):
        fields = _schema_keyword(schema, "properties")
        return value.keys() == gold.keys() and all(
            is_equal_as_declared(value[key], gold[key], _schema_keyword(fields, key)) for key in gold
        )
    numbers = all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in (value, gold))
    return numbers and bool(value == gold) and _has_type(value, schema)


_SCALAR_TYPES = frozenset({str, int, bool, NoneType})
_PLAIN_TYPES = _SCALAR_TYPES | {float, list, dict}
_encode_sorted = json.JSONEncoder(sort_keys=True, default=repr).encode


def _is_equal(a: Any, b: Any) -> bool:
    """Equality that keeps types apart: 3 is neither 3.0 nor True."""
    kinds = type(a), type(b)
    if kinds[0] in _SCALAR_TYPES and kinds[1] in _SCALAR_TYPES:
        return kinds[0] is kinds[1] and bool(a == b)
    if kinds[0] is not kinds[1] and kinds[0] in _PLAIN_TYPES and kinds[1] in _PLAIN_TYPES:
        return False  # no two kinds of JSON values are written alike
    return _encode_sorted(a) == _encode_sorted(b)


def is_same_text(a: Any, b: Any) -> bool:
    """Whether two texts differ in blanks and case alone.

    >>> is_same_text("New York", "newyork"), is_same_text(3, 3)
    (True, False)
    """
    return isinstance(a, str) and isinstance(b, str) and is_same_value(a, b)


# ----------------------------------------------------------------------
# Why items of FunctionChat-Bench do not pass, as far as a rule can tell, by the right kind of turn.
#
# Source: paper section 6.2, which names the errors of each kind of turn in words; no code was published.
# What only a reading of meaning can tell (a question that leaves out a slot, a result that is altered, a
# service that does not exist) is a class of its own: it is for the judge, or for a person.
MEANING_CLASS = "only its meaning can tell"
_HANGUL = re.compile("[\uac00-\ud7a3]")
_CALL_CLASSES = (
    "unreadable call",
    "no call",
    "more than one call",
    "other arguments",
    "other type",
    "other value",
)
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
        reason = rule_answer(sample, answer).reason
        if reason == "other function":
            return _choice_class(sample, answer.calls[0])
        if reason == "no call":
            return "text instead of a call" if answer.content else "empty answer"
        return reason if reason in _CALL_CLASSES else MEANING_CLASS
    if answer.calls:
        return _needless_call_class(sample, answer.calls)
    return _content_class(sample, answer.content)


def _choice_class(sample: Sample, call: Call) -> str:
    return "another offered function" if call.name in offered_functions(sample) else "function not offered"


def _needless_call_class(sample: Sample, calls: Sequence[Call]) -> str:
    """A call where words are due: of no tool, one that was made before, or one with invented values."""
    if any(call.name not in offered_functions(sample) for call in calls):
        return "call of a function not offered"
    before = {_call_key(call) for message in sample.extra["messages"] for call in _calls_of(message)}
    if all(_call_key(call) in before for call in calls):
        return "call made before"
    argument_names = [set(dict(call.arguments)) for call in calls]
    if any(
        needed - names
        for names, needed in zip(
            argument_names, (_required_parameters(sample, c) for c in calls), strict=True
        )
    ):
        return "call with missing information"
    slot = sample.extra["type_of_output"] == "slot"
    return "call with invented values" if slot else "call instead of text"


def _content_class(sample: Sample, content: str) -> str:
    if not content:
        return "empty answer"
    contents = [str(message.get("content") or "").strip() for message in sample.extra["messages"]]
    if content in contents:
        return "repeats the conversation"
    if content[:1] in "{[" and _is_json(content):
        return "raw data instead of text"
    gold = sample.gold.get("content") if isinstance(sample.gold, Mapping) else ""
    if _HANGUL.search(str(gold)) and not _HANGUL.search(content):
        return "in another language"
    return MEANING_CLASS


def offered_functions(sample: Sample) -> dict[str, Mapping[str, Any]]:
    """The parameters of the functions on offer, by name."""
    functions = [tool.get("function") for tool in sample.tools or () if isinstance(tool, Mapping)]
    declared_functions = [function for function in functions if isinstance(function, Mapping)]
    declared = [(str(function.get("name")), function.get("parameters")) for function in declared_functions]
    return {name: schema if isinstance(schema, Mapping) else {} for name, schema in declared}


def _required_parameters(sample: Sample, call: Call) -> set[str]:
    needed = offered_functions(sample)[call.name].get("required")
    return set(map(str, needed)) if isinstance(needed, list) else set()


def _calls_of(message: Any) -> tuple[Call, ...]:
    return answer_of(message).calls if isinstance(message, Mapping) and message.get("tool_calls") else ()


def _call_key(call: Call) -> str:
    return json.dumps([call.name, dict(call.arguments)], sort_keys=True, default=str)


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), (dict, list))
    except (ValueError, RecursionError):
        return False


def detail_tables(scored: Scored, _run: Run | None) -> Details:
    """Why items do not pass."""
    yield Table("why items do not pass, by the right kind of turn (section 6.2)", error_rows(scored))


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
        counts_by_error, key=lambda name: (name == MEANING_CLASS, -counts_by_error[name].total(), name)
    ):
        yield {f"{variant}: error": name} | {kind: counts_by_error[name][kind] for kind in kinds}
