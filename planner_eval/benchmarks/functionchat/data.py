"""FunctionChat-Bench's items: single calls, dialogs, and the decision whether to call.

The folder is laid out as published: ``FunctionChat-Singlecall.jsonl``, ``FunctionChat-Dialog.jsonl``,
``FunctionChat-CallDecision.jsonl`` and ``system_prompt.txt``.

Source: repository kakao/FunctionChat-Bench at cb32af3, folder ``data``; paper section 3. Call decision
was added after the paper.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from planner_eval.base.errors import DatasetError
from planner_eval.base.input_files import read_text
from planner_eval.base.json_files import decode_field
from planner_eval.benchmarks.datasets.check import alternative_findings
from planner_eval.benchmarks.datasets.published import Sample, choose_parts, load_jsonl
from planner_eval.benchmarks.judging import JudgeRequest, PromptFile, make_request
from planner_eval.plan.model import Diagnostic

FILES = {
    "singlecall": "FunctionChat-Singlecall.jsonl",
    "dialog": "FunctionChat-Dialog.jsonl",
    "calldecision": "FunctionChat-CallDecision.jsonl",
}
"""The parts of the benchmark and their files, in the order in which they are read."""
OUTPUT_TYPES = ("call", "completion", "slot", "relevance")


def read_functionchat(folder: Path, *, part: str | None = None) -> Iterator[Sample]:
    """The items of all parts that the folder holds, or of one, in the order of the published code.

    ``gold`` is the right message, or for single calls the right call ``{"name", "arguments"}``; its
    arguments stay JSON text. ``category`` is the kind of tool list, of output or of decision, by which
    the part is tallied. ``extra`` holds ``part``, ``serial_num``, ``type_of_output``, ``messages``
    (system prompt in front), ``acceptable_arguments`` as released and ``diagnostics``; what is irregular
    in a record is said once, with the first of its items.

    Args:
        folder: Holds the files.
        part: One of :data:`FILES`; None for all that are there.

    Raises:
        DatasetError: there is none of the files, a file cannot be read, or a record has another shape.
    """
    names = choose_parts(folder, "FunctionChat-Bench", FILES, part)
    prompt = _system_prompt(folder)
    for name in names:
        reader = _READERS[name]
        for line in load_jsonl(folder / FILES[name]):
            try:
                yield from reader(line.data, prompt)
            except (KeyError, TypeError, IndexError, AttributeError, ValueError) as problem:
                what = f"{type(problem).__name__}: {problem}"
                raise DatasetError(
                    f"{folder / FILES[name]}: line {line.number}: not a {name} record ({what})"
                ) from None


def read_part_file(path: Path) -> Iterator[Sample]:
    """The items of one part, of its file.

    Raises:
        DatasetError: it is not called as one, or cannot be read.
    """
    subsets = [subset for subset, name in FILES.items() if name == path.name]
    if not subsets:
        raise DatasetError(f"{path}: FunctionChat-Bench's files are called {', '.join(FILES.values())}")
    return read_functionchat(path.parent, part=subsets[0])


def _system_prompt(folder: Path) -> list[dict[str, str]]:
    """The system message that goes in front of single calls and dialogs; none without the file."""
    path = folder / "system_prompt.txt"
    if not path.is_file():
        return []
    return [{"role": "system", "content": read_text(path, error=DatasetError).strip()}]


def _read_singlecall(record: Mapping[str, Any], prompt: list[Any]) -> Iterator[Sample]:
    for position, query in enumerate(record["query"]):
        serial = query["serial_num"]
        gold = decode_field(record["ground_truth"][position]["content"])
        acceptable = record["acceptable_arguments"][position]["content"]
        messages = [*prompt, {"role": "user", "content": query["content"]}]
        findings = tuple(alternative_findings(acceptable, gold))
        for tools in record["tools"]:
            extra = _extra("singlecall", serial, "call", messages, acceptable)
            extra |= {"diagnostics": findings, "tools_type": tools["type"]}
            findings = ()
            id_ = f"singlecall-{serial}-{tools['type']}"
            yield Sample(id_, query["content"], tools["content"], gold, "json", tools["type"], extra)


def _read_dialog(record: Mapping[str, Any], prompt: list[Any]) -> Iterator[Sample]:
    for turn in record["turns"]:
        kind, gold, acceptable = turn["type_of_output"], turn["ground_truth"], turn["acceptable_arguments"]
        extra = _extra("dialog", turn["serial_num"], kind, [*prompt, *turn["query"]], acceptable)
        extra |= {"dialog_num": record["dialog_num"], "turn_num": turn["turn_num"]}
        extra["diagnostics"] = (*_message_findings(turn["query"]), *_gold_findings(kind, acceptable, gold))
        query = _last_user_text(turn["query"])
        yield Sample(f"dialog-{turn['serial_num']}", query, record["tools"], gold, "json", kind, extra)


def _read_calldecision(record: Mapping[str, Any], prompt: list[Any]) -> Iterator[Sample]:
    kind, gold, acceptable = record["type_of_output"], record["ground_truth"], record["acceptable_arguments"]
    messages = record["input_messages"]
    extra = _extra("calldecision", record["serial_num"], kind, messages, acceptable)
    extra["diagnostics"] = (*_message_findings(messages), *_gold_findings(kind, acceptable, gold))
    id_ = f"calldecision-{record['serial_num']}"
    query, tools = _last_user_text(messages), record["input_tools"]
    yield Sample(id_, query, tools, gold, "json", record["category"], extra)


_READERS = {"singlecall": _read_singlecall, "dialog": _read_dialog, "calldecision": _read_calldecision}


def _extra(part_name: str, serial: Any, kind: str, messages: list[Any], acceptable: Any) -> dict[str, Any]:
    if kind not in OUTPUT_TYPES:
        raise ValueError(f"type_of_output {kind!r} is not one of {', '.join(OUTPUT_TYPES)}")
    return {
        "part": part_name,
        "serial_num": serial,
        "type_of_output": kind,
        "messages": messages,
        "acceptable_arguments": acceptable,
    }


def _last_user_text(messages: list[Any]) -> str:
    texts = [message["content"] for message in messages if message["role"] == "user"]
    return str(texts[-1]) if texts else ""


def _message_findings(messages: list[Any]) -> Iterator[Diagnostic]:
    for message in messages:
        if message["role"] == "tool" and not _is_json(message["content"]):
            what = f"the result of {message.get('name')} is not JSON; it is kept as text"
            yield Diagnostic("dataset.tool_result", what, "info")


def _is_json(text: Any) -> bool:
    try:
        decode_field(text)
    except (ValueError, TypeError, AttributeError):
        return False
    return True


def _gold_findings(kind: str, acceptable: Any, gold: Mapping[str, Any]) -> Iterator[Diagnostic]:
    if kind == "call":
        yield from alternative_findings(acceptable, gold["tool_calls"][0]["function"])


# ----------------------------------------------------------------------
# What FunctionChat-Bench asks the model under test and the judge.
#
# The prompts are our own; the published files take their place where the user has them
# (:data:`PROMPT_FILES`).
# ----------------------------------------------------------------------
# What FunctionChat-Bench's paper asks a judge for: pass or fail, by kind of turn.
_VERDICT_PROMPT = """You decide whether an assistant's turn in a conversation with tools is right.
{criterion}
Explain your reasoning first, step by step. Then write your decision, pass or fail, on a line of its \
own, and repeat it on the last line, both times without any other character."""

_CRITERIA = {
    "call": """The right turn is a tool call. Pass it if the tool is the one of the reference, spelled \
alike; its arguments are exactly those of the reference; each value has the type that the tool declares; \
and each value is right: equal to the reference, or one of the acceptable alternatives, or, for free \
text, the same content in other words. If the acceptable alternatives say that only the reference \
counts, accept equal values only. Fail it if no tool or another tool is called, if an argument is \
missing or added, or if a value has the wrong type or another meaning.""",
    "completion": """The right turn tells the user what a tool returned. Pass it if it puts the result \
into natural conversation, not raw data, without changing its meaning. The reference is one good \
answer, not the only one; a shorter one is fine. Fail it if the content differs from the tool's result, \
or if it does not report the result.""",
    "slot": """The right turn asks the user for what a suitable tool still needs. Pass it if it asks \
properly for the missing information. Fail it if it calls a tool without that information or with \
values that the user never gave, if it calls another tool, or if it answers from its own knowledge.""",
    "relevance": """No tool fits the user's message. Pass the turn if it chats along where no tool is \
needed, or says that the request is beyond what is on offer. Fail it if it calls a tool, or claims to \
be able to do, or to have done, what only a missing tool could do.""",
}
CRITERIA_TYPES = tuple(_CRITERIA)
"""The four kinds of right answer in FunctionChat-Bench."""
_FIELDS = ("tools", "query", "ground_truth", "response")
PROMPT_FILES = {
    f"functionchat.{kind}": PromptFile(
        f"data/rubric_{kind}.txt", (*_FIELDS, "acceptable_arguments") if kind == "call" else _FIELDS
    )
    for kind in CRITERIA_TYPES
}
"""The published files of prompts, by task."""


def verdict_request(output_type: str, material: Mapping[str, Any], fields: Mapping[str, Any]) -> JudgeRequest:
    """Asks for pass or fail on one turn by the criterion of its output type.

    Args:
        output_type: One of :data:`OUTPUT_TYPES`.
        material: Headings and what stands under them: tools, conversation, reference, answer …
        fields: The same for the published prompts, by the names in their braces.

    Source: FunctionChat-Bench, section 4 and appendix B; temperature as in the published settings.

    >>> verdict_request("slot", {"Answer": "Which city?"}, {"response": "Which city?"}).task
    'functionchat.slot'
    """
    instructions = _VERDICT_PROMPT.format(criterion=_CRITERIA[output_type])
    return make_request(f"functionchat.{output_type}", instructions, material, temperature=0.1, fields=fields)


# ----------------------------------------------------------------------
# The requests that FunctionChat-Bench sends to the model under test, as its code writes them.
#
# Source: repository kakao/FunctionChat-Bench at cb32af3.


def model_request(sample: Sample) -> dict[str, Any]:
    """The request for one sample, keys in the published order."""
    extra = sample.extra
    common = {
        "serial_num": extra["serial_num"],
        "messages": extra["messages"],
        "tools": sample.tools,
        "temperature": 0.1,
        "tool_choice": "auto",
        "ground_truth": sample.gold,
        "acceptable_arguments": acceptable_text(extra["acceptable_arguments"]),
    }
    if extra["part"] == "singlecall":
        return common | {"tools_type": extra["tools_type"]}
    if extra["part"] == "dialog":
        return common | {"type_of_output": extra["type_of_output"]}
    return common | {"category": sample.category, "type_of_output": extra["type_of_output"]}


def acceptable_text(acceptable: Any) -> Any:
    """The alternatives as the request holds them: an object becomes JSON text.

    >>> acceptable_text({"city": "Seoul"})
    '{"city": "Seoul"}'
    """
    return json.dumps(acceptable, ensure_ascii=False) if isinstance(acceptable, dict) else acceptable
