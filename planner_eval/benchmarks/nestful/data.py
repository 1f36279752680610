"""NESTful's questions: version 1 (three parts, commercial APIs) and version 2 (mathematics and coding).

Version 1 is laid out as published: ``executable/executable-data.json`` with ``executable-spec.json``,
``non-executable/non-executable-glaive-data.json`` … ``-sgd-…``. Version 2 is one file of JSON lines,
``data_v2/nestful_data.jsonl``; copies of it as one JSON list are read too, and result files of the
published evaluation, which keep calls, tools and answer as JSON texts.

Source: repository IBM/NESTFUL, folders ``data`` and ``data_v2``; paper section 3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from planner_eval.base.errors import DatasetError
from planner_eval.base.json_files import decode_field
from planner_eval.benchmarks.datasets.published import (
    Audit,
    Sample,
    ToolSpecs,
    load_json,
    load_jsonl,
    load_records,
)
from planner_eval.benchmarks.python_calls import read_literal
from planner_eval.execution.nestful_basic import OFFICIAL_FUNCTIONS
from planner_eval.plan.model import Diagnostic, fold

VERSION_1_FILES = {
    "executable": "executable/executable",
    "glaive": "non-executable/non-executable-glaive",
    "sgd": "non-executable/non-executable-sgd",
}
"""The parts of version 1: the beginnings of their files' names."""
VERSION_2_FILES = ("data_v2/nestful_data.jsonl", "nestful_data.jsonl", "v2/nestful_data.jsonl")
"""Where version 2 may lie below the folder."""
PARTS = (*VERSION_1_FILES, "v2")
_FINDINGS = "planner_eval.benchmarks.nestful.findings"
_TOOL_LIST = "the tool list"


def read_nestful(source: Path, *, part: str | None = None) -> Iterator[Sample]:
    """The questions of all parts that a folder holds, or of one part, or of one file of version 2.

    ``gold`` is the list of calls, decoded where the file keeps it as text; in version 1 it ends with the
    pseudo call ``var_result``. ``tools`` is the list of tool specs: in version 2 the record's own, in
    version 1 the whole spec file. ``category`` is the part of version 1, and in version 2 ``math`` or
    ``coding``. ``extra`` holds ``diagnostics``, whatever else the record has, and in version 2
    ``gold_answer``; ``gold_answer_text`` is that answer's text where the file keeps it as JSON text.

    Args:
        source: The folder, or a file of version 2.
        part: One of :data:`PARTS`; None for all that are there.

    Raises:
        DatasetError: nothing is there, a file cannot be read, or it is no list of records.
    """
    if part is not None and part not in PARTS:
        raise DatasetError(f"NESTful has no part {part!r}; expected one of {', '.join(PARTS)}")
    if source.is_file():
        yield from _read_version_2(source)
        return
    names = [part] if part else list(PARTS)
    files = [(name, path) for name in names if (path := _find_part_file(source, name)) is not None]
    if not files:
        expected_files = ", ".join(
            VERSION_2_FILES[0] if name == "v2" else f"{VERSION_1_FILES[name]}-data.json" for name in names
        )
        raise DatasetError(f"{source}: no file named {expected_files}")
    for name, path in files:
        yield from _read_version_2(path) if name == "v2" else _read_version_1(path, name)


def read_nestful_file(path: Path) -> Iterator[Sample]:
    """The questions of one file, of either version."""
    for subset, name in VERSION_1_FILES.items():
        if path.name == f"{name.rpartition('/')[2]}-data.json":
            return read_nestful(path.parent.parent, part=subset)
    return read_nestful(path)


def _find_part_file(folder: Path, part_name: str) -> Path | None:
    """Where a part's file lies: below the folder, its ``data`` or its ``v1``."""
    if part_name == "v2":
        candidates = [folder / name for name in VERSION_2_FILES]
    else:
        candidates = [
            folder / below / f"{VERSION_1_FILES[part_name]}-data.json" for below in ("", "data", "v1")
        ]
    return next((path for path in candidates if path.is_file()), None)


def _read_records(path: Path) -> Iterable[Any]:
    return (line.data for line in load_jsonl(path)) if path.suffix == ".jsonl" else load_records(path)


def _read_version_1(path: Path, part_name: str) -> Iterator[Sample]:
    spec_path = path.with_name(path.name.replace("-data.json", "-spec.json"))
    tools = load_json(spec_path)
    specs = ToolSpecs(tools or None, "nestful", _TOOL_LIST, str(spec_path))
    for position, record in enumerate(_read_records(path)):
        fields = record if isinstance(record, dict) else {"output": record}
        gold = fields.get("output")
        audit = Audit(f"{_FINDINGS}:version_1_findings", fields, specs, tools if position == 0 else None)
        yield _sample(fields, f"{part_name}-{position}", part_name, (gold, tools), {"diagnostics": audit})


def _read_version_2(path: Path) -> Iterator[Sample]:
    seen: Counter[str] = Counter()
    for position, record in enumerate(_read_records(path)):
        fields = record if isinstance(record, dict) else {"output": record}
        diagnostics: list[Diagnostic] = []
        gold, tools = decode_if_json(fields.get("output")), decode_if_json(fields.get("tools"))
        identity = str(fields.get("sample_id", position))
        seen[identity] += 1
        if seen[identity] > 1:
            diagnostics.append(Diagnostic("dataset.repeated_id", f"the id {identity} occurs again"))
            identity = f"{identity}#{seen[identity]}"
        extra = _extra(fields, diagnostics)
        specs = ToolSpecs(tools or None, "nestful", _TOOL_LIST, f"{path}, record {position}")
        extra["diagnostics"] = Audit(f"{_FINDINGS}:version_2_findings", fields, diagnostics, gold, specs)
        names = (
            [call.get("name") for call in gold if isinstance(call, dict)] if isinstance(gold, list) else []
        )
        domain = "math" if names and all(name in OFFICIAL_FUNCTIONS for name in names) else "coding"
        yield _sample(fields, identity, domain, (gold, tools), extra)


def _sample(
    fields: Mapping[str, Any], identity: str, category: str, plan: tuple[Any, Any], extra: dict[str, Any]
) -> Sample:
    query = fields.get("input")
    gold, tools = plan
    return Sample(identity, query if isinstance(query, str) else "", tools, gold, "nestful", category, extra)


def decode_if_json(value: Any) -> Any:
    """The field, decoded where the file keeps it as JSON text; a text that is none stays."""
    if isinstance(value, str):
        with suppress(ValueError):
            return decode_field(value)
    return value


def _extra(fields: Mapping[str, Any], diagnostics: list[Diagnostic]) -> dict[str, Any]:
    """The record's other fields, with the gold answer decoded."""
    extra = {
        key: value for key, value in fields.items() if key not in ("input", "output", "tools", "sample_id")
    }
    answer = extra.get("gold_answer")
    if isinstance(answer, str) and isinstance(fields.get("output"), str):
        extra["gold_answer_text"] = answer
        decoded = decode_answer(answer)
        extra["gold_answer"] = decoded.value
        if not decoded.is_json:
            text = f"the gold answer is not JSON, which ends the published scorer's run: {answer[:60]}"
            diagnostics.append(Diagnostic("dataset.answer", text))
    return extra


class GoldAnswer(NamedTuple):
    """A gold answer's value, and whether its text is JSON."""

    value: Any
    is_json: bool = False


def decode_answer(text: str) -> GoldAnswer:
    """A gold answer's value, and whether its text is JSON: others are Python literals, or plain text.

    >>> decode_answer("[1, 2.5]").is_json, decode_answer("('a', True)").value, decode_answer("002").value
    (True, ['a', True], '002')
    """
    with suppress(ValueError):
        return GoldAnswer(decode_field(text), is_json=True)
    try:
        value = fold(
            read_literal(text), _check_json_leaf, fields=lambda data: {str(k): v for k, v in data.items()}
        )
        return GoldAnswer(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return GoldAnswer(text)


def _check_json_leaf(leaf: Any) -> Any:
    if leaf is None or isinstance(leaf, str | int | float):
        return leaf
    raise ValueError(f"{type(leaf).__name__} is not JSON data")
