"""How the gold of each benchmark is taken apart into calls and written down again, and the data at hand."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, zip_longest
from operator import itemgetter
from pathlib import Path
from random import Random
from typing import Any

from planner_eval.base.resources import folder
from planner_eval.benchmarks.benchmark import BENCHMARKS
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.nestful.data import read_nestful
from planner_eval.benchmarks.report import Run
from planner_eval.execution.nestful_basic import OFFICIAL_FUNCTIONS
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.read import parse
from tests.nestful_published import PublishedRunner
from tests.vectors import read

Change = Callable[[Sample, list[Any], Random], "str | None"]


@dataclass(frozen=True, slots=True)
class Notation:
    """How answers to one benchmark are made.

    The figures of a row that go from 0 to 1, the more the better; a sample's gold, call by call; the answer
    that makes these calls; the functions that the gold calls, and its answer where answers are run; the
    answer with other labels, and in another order, None where there is none.
    """

    figures: Sequence[str]
    calls: Callable[[Sample], list[Any]]
    write: Callable[[Sample, list[Any]], str]
    functions: Callable[[Sample], frozenset[str]]
    relabelled: Change
    reordered: Change


@dataclass(frozen=True, slots=True)
class Source:
    """Samples that the laws are tried on, their title in the table, and what runs answers."""

    title: str
    samples: Sequence[Sample]
    run: "Run | None" = None


def sources(name: str, reference: Path | None) -> Iterator[Source]:
    """The data of a benchmark: our own samples, and the published ones at hand."""
    title, run = BENCHMARKS[name].title, PublishedRunner(OFFICIAL_FUNCTIONS) if name == "nestful" else None
    own = list(BENCHMARKS[name].read(folder("data") / "samples" / name))
    yield Source(f"{title}, our own", own, run=run)
    if not reference:
        return
    if name == "complexfuncbench":
        yield Source(f"{title}, vectors", _conversations(reference))
        return
    data = reference / "datasets" / name
    parts: dict[str, list[Sample]] = {}
    both = (data, data / "v2" / "nestful_v2_collected.jsonl")
    for sample in chain(*map(read_nestful, both)) if name == "nestful" else BENCHMARKS[name].read(data):
        group = sample.category if name in ("appbench", "nestful") else ""
        parts.setdefault(sample.extra.get("part", group) if name != "nestful" else group, []).append(sample)
    for part, samples in parts.items():
        yield Source(f"{title}, {part}".removesuffix(", "), samples, run=run if part == "math" else None)


def _conversations(reference: Path) -> list[Sample]:
    cases = read(reference / "vectors/complexfuncbench/cases.jsonl.gz")
    talks = {json.dumps(case["conversations"]): case for case in cases if case["kind"] == "conv"}
    return [
        Sample(one["id"], tools=cases[0]["functions"], gold=one["conversations"], dialect="complexfuncbench")
        for one in talks.values()
    ]


def _shuffled(random: Random, fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: fields[key] for key in random.sample(list(fields), len(fields))}


def _other_order(random: Random, plan: Plan) -> list[int] | None:
    """Another order of a plan's calls, each after those that it refers to; None where there is none."""
    needs = [{e.producer for e in plan.edges if e.consumer == at != e.producer} for at in range(len(plan))]
    order: list[int] = []
    while len(order) < len(plan):
        free = [at for at in range(len(plan)) if at not in order and needs[at] <= set(order)]
        if not free:
            return None  # calls in a circle
        order.append(random.choice(free))
    return order if order != sorted(order) else None


def _lines(sample: Sample) -> list[str]:
    text = BENCHMARKS["appbench"].gold_text(sample)
    return text.split("\n") if text else []


def _other_outputs(sample: Sample, lines: list[str], random: Random) -> str | None:
    """Every returned name, and what refers to it, under another name."""
    plan = parse(sample.gold, dialect="appbench")
    names = sorted({name for call in plan.calls for name in call.returns})
    other = {name: f"own_{number}" for number, name in enumerate(random.sample(names, len(names)))}
    if not other:
        return None
    changed = []
    for line in lines:
        head, call = line.split(" = ", 1)
        app, returned = head.split("[", 1)
        own = ", ".join(other[name.strip()] for name in returned.split(","))
        called = re.sub(r"(#\w+=)(\w+)(?=[,)])", lambda m: m[1] + other.get(m[2], m[2]), call)
        changed.append(f"{app}[{own} = {called}")
    return "\n".join(changed)


def _other_lines(sample: Sample, lines: list[str], random: Random) -> str | None:
    order = _other_order(random, parse(sample.gold, dialect="appbench"))
    return "\n".join(lines[at] for at in order) if order else None


def _labelled(sample: Sample) -> list[Any]:
    return [call for call in sample.gold if call.get("name") != "var_result"]


def _json(_: Sample, value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _other_labels(sample: Sample, calls: list[Any], random: Random) -> str | None:
    labels = sorted({call["label"].strip("$") for call in calls if "label" in call}, key=len, reverse=True)
    if not labels:
        return None
    numbers = random.sample(range(100, 1000), len(labels))
    other = {label: f"var{number}" for label, number in zip(labels, numbers, strict=True)}
    known = re.compile(rf"\$({'|'.join(map(re.escape, labels))})(?=[.\[$])")
    changed = [
        {**call, "label": "$" + other[call["label"].strip("$")]} if "label" in call else call
        for call in calls
    ]
    return known.sub(lambda match: f"${other[match[1]]}", _json(sample, changed))


def _other_calls(sample: Sample, calls: list[Any], random: Random) -> str | None:
    order = _other_order(random, parse(calls, dialect="nestful")) or range(len(calls))
    turned = [{**calls[at], "arguments": _shuffled(random, calls[at]["arguments"])} for at in order]
    return _json(sample, turned)


def _named(sample: Sample) -> list[Any]:
    return list(zip_longest(sample.gold["API"], sample.gold["parameters"], fillvalue={}))


def _as_object(_: Sample, calls: list[Any]) -> str:
    return json.dumps({"API": [name for name, _ in calls], "parameters": [given for _, given in calls]})


def _other_keys(sample: Sample, calls: list[Any], random: Random) -> str | None:
    return _as_object(sample, [(name, _shuffled(random, given)) for name, given in calls])


def _turns(sample: Sample) -> list[Any]:
    said = [message.get("function_call") or [] for message in sample.gold]
    return [(turn, call) for turn, calls in enumerate(said) for call in calls]


def _conversation(sample: Sample, calls: list[Any], *, chat: str = "") -> str:
    """Calls of one turn as one message, then the final text; `chat` begins ids as endpoints have them."""
    messages: list[dict[str, Any]] = []
    for _, found in groupby(calls, key=itemgetter(0)):
        mine = [call for _, call in found]
        if chat:
            shown = [{**call, "arguments": json.dumps(call["arguments"])} for call in mine]
            mine = [{"id": f"{chat}{n}", "type": "function", "function": one} for n, one in enumerate(shown)]
        messages.append({"role": "assistant", "tool_calls" if chat else "function_call": mine})
    last = sample.gold[-1].get("content") if sample.gold else None
    text = last if isinstance(last, str) else ""
    return json.dumps([*messages, {"role": "assistant", "content": text if calls else ""}])


def _other_turns(sample: Sample, calls: list[Any], random: Random) -> str | None:
    mixed = sorted(random.sample(calls, len(calls)), key=itemgetter(0))
    turned = [(turn, {**call, "arguments": _shuffled(random, call["arguments"])}) for turn, call in mixed]
    return _conversation(sample, turned)


def _said(sample: Sample) -> list[Any]:
    if sample.extra["type_of_output"] != "call":
        return [str(sample.gold["content"])]
    calls = sample.gold.get("tool_calls")
    return [one["function"] for one in calls] if "tool_calls" in sample.gold else [sample.gold]


def _message(_: Sample, said: list[Any], *, begin: str = "call_") -> str:
    words = "\n".join(one for one in said if isinstance(one, str)) or None
    calls = [
        {"id": f"{begin}{n}", "type": "function", "function": one}
        for n, one in enumerate(said)
        if not isinstance(one, str)
    ]
    return json.dumps({"role": "assistant", "content": words, "tool_calls": calls or None})


def _other_arguments(sample: Sample, said: list[Any], random: Random) -> str | None:
    if any(isinstance(one, str) for one in said):
        return None
    given = [json.dumps(_shuffled(random, json.loads(one["arguments"]))) for one in said]
    return _message(sample, [{**one, "arguments": text} for one, text in zip(said, given, strict=True)])


def _appbench_functions(sample: Sample) -> frozenset[str]:
    called = {call.tool for call in parse(sample.gold, dialect="appbench").calls}
    return frozenset(called | set(sample.gold["used_app"]))


def _nestful_functions(sample: Sample) -> frozenset[str]:
    answer = sample.extra.get("gold_answer")
    return frozenset(
        {call["name"] for call in _labelled(sample)} | ({repr(answer)} if answer is not None else set())
    )


APPBENCH = (
    "app_hit_f1", "api_hit_f1", "argu_hit_f1", "depend_argu_hit_f1", "non_depend_argu_hit_f1",
    "complete_match", "app.em", "api.em", "succ", "argu.em",
)  # fmt: skip


NOTATIONS: Mapping[str, Notation] = {
    "appbench": Notation(APPBENCH, _lines, lambda _, lines: "\n".join(lines), _appbench_functions,
        _other_outputs, _other_lines),
    "nestful": Notation(("partial", "full", "win", "f1_intent", "f1_slot"), _labelled, _json,
        _nestful_functions, _other_labels, _other_calls),
    "callnavi": Notation(("order", "structure", "ast"), _named, _as_object,
        lambda sample: frozenset(sample.gold["API"]), lambda *_: None, _other_keys),  # it has no labels
    "complexfuncbench": Notation(("Call Accuracy",), _turns, _conversation,
        lambda sample: frozenset(call["name"] for _, call in _turns(sample)),
        lambda sample, calls, random: _conversation(sample, calls, chat=f"id{random.random()}-"),
        _other_turns),
    "functionchat": Notation((), _said, _message,
        lambda sample: frozenset(one if isinstance(one, str) else one["name"] for one in _said(sample)),
        lambda sample, said, random: _message(sample, said, begin=f"id{random.random()}-"), _other_arguments),
}  # fmt: skip
