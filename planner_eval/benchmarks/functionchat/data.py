"""FunctionChat-Bench's items: single calls, dialogs, and the decision whether to call.

The folder is laid out as published: ``FunctionChat-Singlecall.jsonl``, ``FunctionChat-Dialog.jsonl``,
``FunctionChat-CallDecision.jsonl`` and ``system_prompt.txt``.

Source: repository kakao/FunctionChat-Bench at cb32af3, folder ``data``; paper section 3. Call decision
was added after the paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from planner_eval.base.errors import DatasetError
from planner_eval.base.json_files import decode_field
from planner_eval.benchmarks.datasets.check import alternative_findings
from planner_eval.benchmarks.datasets.sample import Sample, load_jsonl
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
    if part is not None and part not in FILES:
        raise DatasetError(f"FunctionChat-Bench has no part {part!r}; it has {', '.join(FILES)}")
    names = [part] if part else [name for name in FILES if (folder / FILES[name]).is_file()]
    if not names:
        raise DatasetError(f"{folder}: none of {', '.join(FILES.values())} is here")
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


def _system_prompt(folder: Path) -> list[dict[str, str]]:
    """The system message that goes in front of single calls and dialogs; none without the file."""
    path = folder / "system_prompt.txt"
    if not path.is_file():
        return []
    return [{"role": "system", "content": path.read_text(encoding="utf-8").strip()}]


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
