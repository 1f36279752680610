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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import NoneType
from typing import Any, NamedTuple

from planner_eval.base.errors import JudgeError, is_number
from planner_eval.benchmarks.datasets.check import is_instruction, read_alternatives
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.functionchat.data import FILES, OUTPUT_TYPES
from planner_eval.benchmarks.functionchat.matching import GOLD_ONLY_DIGEST, digest, is_same_value
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
from planner_eval.benchmarks.judging import Judge, ask
from planner_eval.benchmarks.report import Figure, SampleResults, Scorer, ratio, shared_figures
from planner_eval.benchmarks.turns import dialog_figures
from planner_eval.plan.model import Call

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
    return is_number(value) and is_number(gold) and value == gold and _has_type(value, schema)


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
# FunctionChat-Bench's figures as the paper defines them.
MAX_ATTEMPTS = 3
"""How often a verdict is asked for before an item counts as undecided."""
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
        dataset_part, must_call = sample.extra.get("part"), sample.extra.get("type_of_output") == "call"
        turn = turn_of_dialog(sample)
        return CorrectedOutcome(
            dataset_part, sample.category, called == must_call, verdict, by, reason, error, *turn
        )

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
    # The calls as the endpoint would have them, whatever notation the answer is in.
    arguments = [json.dumps(dict(call.arguments), ensure_ascii=False, default=str) for call in answer.calls]
    calls = [
        {"function": {"name": call.name, "arguments": text}}
        for call, text in zip(answer.calls, arguments, strict=True)
    ]
    return ask(judge, judge_request(sample, message | {"tool_calls": calls}), read_last_word, MAX_ATTEMPTS)


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
    passed = {name: sum(record.ok for record in group) for name, group in groups.items()}
    rates = [ratio(f"{subset} {name} pass rate", passed[name], len(group)) for name, group in groups.items()]
    yield from rates
    total_name = "avg(micro)" if subset == "dialog" else "total_pass_rate"
    yield ratio(f"{subset} {total_name}", sum(passed.values()), len(members))
    if subset == "singlecall":
        yield from total_figures(list(passed.values()))
    else:
        yield macro(f"{subset} avg(macro)", rates)
    right = sum(record.right for record in members)
    note = "a call where a call is expected, text where text is expected; not in the paper"
    yield ratio(f"{subset} call decision", right, len(members), note=note)
    open_items = sum(record.verdict is None for record in members)
    yield ratio(f"{subset} undecided", open_items, len(members), note="items without a verdict; not passed")
