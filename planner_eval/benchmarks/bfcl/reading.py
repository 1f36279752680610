r"""BFCL's result files, and what an answer in one of them calls.

A model that calls functions leaves ``[{"f": "{\"a\": 1}"}]``, or its words where it calls none; one that is
prompted leaves text. Which of the two a model is, its files show: it calls functions where one is a list.

Source: package bfcl-eval 2026.3.23, ``model_handler/utils.py``, ``model_handler/parser/`` and
``model_handler/api_inference/openai_completion.py``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError, PairingError, ParseError
from planner_eval.base.json_text import fast_json_loads
from planner_eval.benchmarks.benchmark import as_json
from planner_eval.benchmarks.bfcl.data import CATEGORIES, VERSION, category_of_id
from planner_eval.benchmarks.python_calls import CallReader, read_literal
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.opening import bare_name, open_path
from planner_eval.reading.files.record import Record, current_origins

MODES = ("auto", "calls", "prompt")
"""How answers were asked for: as function calls, as text, or as each answer shows."""
NOTHING = '{"unanswered": []}'
"""Stands for an answer that is not there; an empty one is one."""

_PYTHON_CALLS = CallReader(lambda name, arguments: {name: arguments})
_GROUP_FOLDERS = frozenset({category.group for category in CATEGORIES.values()}) | {
    *("memory", "kv", "vector", "rec_sum"),
}
"""Folders in which the published runner groups a model's result files."""


# ----------------------------------------------------------------------
# An answer as text: JSON is what a model that calls functions left, all else is text of one that is prompted.
class WrittenAnswer(NamedTuple):
    """An answer as the published runner leaves it.

    Args:
        content: A list of calls, of turns of steps, or text.
        calls: The model calls functions; else it is prompted.
    """

    content: Any
    calls: bool


def answer_text(content: Any, calls: bool | None = None) -> str:
    """An answer as text, which :func:`read_text` reads back.

    Args:
        content: What the result file holds.
        calls: Whether the model calls functions; None where the answer itself shows it.

    >>> answer_text([{"f": "{}"}]), answer_text("f()"), answer_text("No.", calls=True)
    ('[{"f": "{}"}]', 'f()', '{"calls": "No."}')
    """
    text = content if isinstance(content, str) else as_json(content)
    if calls is not False and isinstance(content, list) and _shows_calls(content):
        return text
    read = read_text(text)
    if text != NOTHING and read.content == content and calls in (None, read.calls):
        return text
    return as_json(
        {"prompt" if calls is False or (calls is None and isinstance(content, str)) else "calls": content}
    )


def answer_texts(contents: Sequence[Any], modes: Sequence[Any] = ()) -> list[str]:
    """The answers of one model as texts: it calls functions where one of them is a list of calls.

    Args:
        contents: What the records hold.
        modes: Of each what its record says of the model: ``"calls"``, ``"prompt"``, or anything else.

    >>> answer_texts([[{"f": "{}"}], "No."]), answer_texts(["f()", "No."])
    (['[{"f": "{}"}]', '{"calls": "No."}'], ['f()', 'No.'])
    """
    calls = any(map(_shows_calls, contents))
    calls_by_mode = {"calls": True, "prompt": False}
    takes_calls = [calls_by_mode.get(mode, calls) if isinstance(mode, str) else calls for mode in modes]
    return [answer_text(*pair) for pair in zip(contents, takes_calls or [calls] * len(contents), strict=True)]


def read_text(text: str, mode: str = "auto") -> WrittenAnswer:
    """What an answer's text says.

    Args:
        text: Of :func:`answer_text`, or what a model wrote.
        mode: One of :data:`MODES`.

    >>> read_text('[{"f": "{}"}]')
    WrittenAnswer(content=[{'f': '{}'}], calls=True)
    >>> read_text("[f(a=1)]"), read_text("[f(a=1)]", "calls").calls
    (WrittenAnswer(content='[f(a=1)]', calls=False), True)
    """
    content: Any = text
    if text[:1] in ("[", "{"):
        try:
            content = fast_json_loads(text)
        except (ValueError, RecursionError):
            content = text
    if isinstance(content, dict) and len(content) == 1:
        ((key, inner),) = content.items()
        if key in ("calls", "prompt"):
            return WrittenAnswer(inner, key == "calls" if mode == "auto" else mode == "calls")
    if mode == "prompt" and not _is_turns(content):
        return WrittenAnswer(text, calls=False)
    if not isinstance(content, list):
        return WrittenAnswer(text, mode == "calls")
    return WrittenAnswer(content, _shows_calls(content) if mode == "auto" else mode == "calls")


def _is_turns(content: Any) -> bool:
    return isinstance(content, list) and bool(content) and all(isinstance(turn, list) for turn in content)


def _shows_calls(content: Any) -> bool:
    """Whether an answer is one of a model that calls functions: a list, of turns one with a list in it.

    A step that is null says nothing: either kind of model leaves it where it wrote no words.
    """
    if not isinstance(content, list):
        return False
    if not _is_turns(content):
        return True
    return any(isinstance(step, (list, dict)) for turn in content for step in turn)


# ----------------------------------------------------------------------
# Result files.
def find_result_files(path: Path) -> list[Path]:
    """The result files of a model's folder, below it at any depth; the file itself where it is one.

    Args:
        path: A folder or a file; neither has to be one of BFCL's.
    """
    if path.is_dir():
        return sorted(file for file in path.rglob(f"{VERSION}_*_result.json*") if is_result_file(file))
    return [path] if is_result_file(path) else []


def is_result_file(path: Path) -> bool:
    """Whether a path is named like a result file, which may be packed."""
    return bool(_category_of(path))


def _category_of(path: Path) -> str:
    """The category of a result file's name; "" where it is none."""
    matched = re.fullmatch(rf"{VERSION}_(\w+?)_result\.jsonl?", bare_name(path.name))
    return matched.group(1) if matched else ""


def read_results(path: str) -> PlanFile | None:
    """The answers of a model's result files, as texts of :func:`answer_text`.

    Args:
        path: The model's folder (``result/MODEL``), or one of its files.

    Returns:
        The answers; None where it is neither.

    Raises:
        InputError: the folder holds the results of several models, or a file cannot be read.
        PairingError: no answer can be read.
    """
    files = [] if path == "-" else find_result_files(Path(path))
    if not files:
        return None
    _refuse_several_models(Path(path), files)
    notes = []
    unscored = [file for file in files if _category_of(file) not in CATEGORIES]
    if unscored:
        names = ", ".join(file.name for file in unscored)
        notes.append(f"{path}: files of categories that are not scored: {names}")
    origins = tuple(origin for file in files for origin in current_origins(str(file)))
    lines: list[_Line] = []
    for file in files:
        if file not in unscored:
            answers = list(_read_lines(file))
            lines += answers
            if not answers:
                notes.append(f"{file}: no answers; the category does not count")
    if lines and all(line.id is None for line in lines):
        first = lines[0]
        raise PairingError(f"{path}: no answer can be read: {first.file}, line {first.number}: {first.error}")
    if not lines:
        raise PairingError(notes[0])
    contents = [line.content for line in lines if not line.error]
    notes += _misnamed_notes(lines)
    texts = iter(answer_texts(contents))
    kind = "calls functions" if any(map(_shows_calls, contents)) else "is prompted"
    count = len(files) - len(unscored)
    notes.append(f"{path}: {count:,} result file{'s' * (count != 1)} of a model that {kind}")
    records = tuple(
        Record(line.file, position, line.id, None, line.number, ParseError(line.error, code="parse.shape"))
        if line.error
        else Record(line.file, position, line.id, next(texts), line.number)
        for position, line in enumerate(lines)
    )
    return PlanFile(path, records, True, "result", "id", notes=tuple(notes), origins=origins)


def _refuse_several_models(path: Path, files: Sequence[Path]) -> None:
    """Refuse a folder above those of several models, also where each ran other categories."""
    if not path.is_dir():
        return
    folders = [file.relative_to(path).parts[:-1] for file in files]
    owners = {_strip_groups(folder) for folder in folders}
    if len(owners) > 1 or len({file.name for file in files}) < len(files):
        models = sorted({folder[0] for folder in folders if folder})
        raise InputError(
            f"{path} holds the results of several models ({', '.join(models[:3])}): name the folder of one"
        )


def _strip_groups(folder: tuple[str, ...]) -> tuple[str, ...]:
    """The folder of a model, without those that its categories are grouped in."""
    while folder and folder[-1] in _GROUP_FOLDERS:
        folder = folder[:-1]
    return folder


def _misnamed_notes(lines: Sequence[_Line]) -> Iterator[str]:
    """Which files are named for another category than the questions that they answer."""
    counts: Counter[tuple[str, str]] = Counter()
    for line in lines:
        if line.id is not None and (category := category_of_id(line.id)) in CATEGORIES:
            counts[line.file, category] += 1
    for (file, category), count in counts.items():
        if category != _category_of(Path(file)):
            answers = f"{count:,} answer{'s' * (count != 1)}"
            yield (
                f"{file}: {answers} to questions of {category}, scored under that category whatever the "
                "file's name"
            )


class _Line(NamedTuple):
    """A line of a result file: its answer, or why there is none."""

    file: str
    number: int
    id: str | None
    content: Any = None
    error: str = ""


def _read_lines(file: Path) -> Iterator[_Line]:
    """The answers of a file: a line each, or all in one array."""
    try:
        text = bytes(open_path(str(file), "results").data).decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InputError(f"{file}: cannot be read: {problem}") from None
    array = _read_array(text)
    if array is not None:
        for position, record in enumerate(array, 1):
            yield _read_record(_Line(str(file), position, None), record)
        return
    for number, row in enumerate(text.split("\n"), 1):
        if not row.strip():
            continue
        line = _Line(str(file), number, None)
        try:
            record = fast_json_loads(row)
        except (ValueError, RecursionError) as problem:
            yield line._replace(error=f"not JSON: {problem}")
            continue
        yield _read_record(line, record)


def _read_array(text: str) -> list[Any] | None:
    """The records of a file that is one array of them; None of any other."""
    if not text.lstrip().startswith("["):
        return None
    try:
        array = fast_json_loads(text)
    except (ValueError, RecursionError):
        return None
    return array if isinstance(array, list) and all(isinstance(item, dict) for item in array) else None


def _read_record(line: _Line, record: Any) -> _Line:
    if not isinstance(record, dict) or not isinstance(record.get("id"), str):
        return line._replace(error="a record without an id")
    if "result" not in record:
        return line._replace(id=record["id"], error="a record without a result")
    return line._replace(id=record["id"], content=record["result"])


# ----------------------------------------------------------------------
# The calls of an answer to a single turn.
def decode_calls(answer: WrittenAnswer, style: str = "python", *, tag: bool = False) -> Any:
    r"""The calls of an answer, each ``{name: arguments}``, as the published code decodes them.

    Args:
        answer: The answer.
        style: How a prompted model was asked to write: ``"python"``, ``"java"``, ``"javascript"``,
            ``"json"``, ``"verbose_xml"`` or ``"concise_xml"``.
        tag: It was asked to put calls between ``<TOOLCALL>`` and ``</TOOLCALL>``.

    Raises:
        Exception: the published code cannot decode it either, in its words.

    >>> decode_calls(read_text('[{"f": "{\\"a\\": 1}"}]')), decode_calls(read_text("f(a=1)"))
    ([{'f': {'a': 1}}], [{'f': {'a': 1}}])
    """
    if not answer.calls:
        return decode_prompted(answer.content, style, tag=tag)
    calls = []
    for call in answer.content:
        name = list(call.keys())[0]  # noqa: RUF015 - raises as published where there is none
        arguments = call[name]
        calls.append({name: arguments if type(arguments) is dict else fast_json_loads(arguments)})
    return calls


def decode_prompted(text: Any, style: str, *, tag: bool = False) -> Any:
    """The calls of a prompted model's text; see :func:`decode_calls`."""
    text = text.strip("`\n ")
    text = text if text.startswith("[") else "[" + text
    text = text if text.endswith("]") else text + "]"
    if tag:
        tagged = re.search(r"<TOOLCALL>(.*?)</TOOLCALL>", text, re.DOTALL)
        if tagged is None:
            raise ValueError(f"No tool call tag found in input string: {text}")
        text = tagged.group(1).strip()
    if style == "python":
        return _PYTHON_CALLS.read(text.strip().strip("'"))
    if style in ("java", "javascript"):
        from planner_eval.benchmarks.bfcl.program_calls import read_java_call, read_javascript_call

        return (read_java_call if style == "java" else read_javascript_call)(text[1:-1])
    if style == "json":
        return read_json_calls(text)
    return read_xml_calls(text, verbose=style == "verbose_xml")


def read_json_calls(text: str) -> list[dict[str, Any]]:
    """The calls of a JSON list of ``{"function": …, "parameters": …}``; none where the JSON is broken.

    Raises:
        Exception: an object has no such key.

    >>> read_json_calls('So: [{"function": "f", "parameters": {"a": 1}}]')
    [{'f': {'a': 1}}]
    """
    from planner_eval.benchmarks.bfcl.typed_values import GroupList

    first, last = text.find("["), text.rfind("]")
    if -1 < first < last:
        text = text[first : last + 1]
    ends = GroupList("{", "}", "]", across=True).ends(text)
    starts = (matched for matched in re.finditer(r"\[\s*\{", text) if ends[matched.end()] >= 0)
    if (matched := next(starts, None)) is not None:
        text = text[matched.start() : ends[matched.end()]]
    try:
        data = fast_json_loads(text)
    except ValueError:
        return []
    return [{item["function"]: item["parameters"]} for item in data if isinstance(item, dict)]


def read_xml_calls(text: str, *, verbose: bool) -> list[dict[str, Any]]:
    """The calls between ``<functions>`` and ``</functions>``.

    Args:
        text: The text.
        verbose: Values stand in attributes; else they are the parameters' text.

    Raises:
        Exception: the published code cannot read it either, in its words.

    >>> text = '<functions><function name="f"><param name="a" type="integer">1</param></function></functions>'
    >>> read_xml_calls(text, verbose=False)
    [{'f': {'a': 1}}]
    """
    from xml.etree import ElementTree  # no document type stands before the first tag: nothing is expanded

    matched = re.search(r"<functions>.*?</functions>", text, re.DOTALL)
    if matched is None:
        raise ValueError(f"No XML function call found in input string: {text}. Missing <functions> tag.")
    calls = []
    for function in ElementTree.fromstring(matched.group()).findall("function"):
        name = function.attrib["name"]
        container = function.find("params") if verbose else None
        arguments: dict[Any, Any] = {}
        for element in (function if container is None else container).findall("param"):
            key = element.attrib.get("name") if verbose else element.attrib["name"]
            raw = element.attrib.get("value", "") if verbose else (element.text or "").strip()
            arguments[key] = _typed_value(raw, element.attrib.get("type", "string"))
        calls.append({name: arguments})
    return calls


def _typed_value(text: str, type_name: str) -> Any:
    if type_name == "integer":
        return int(text)
    if type_name == "float":
        return float(text)
    if type_name == "boolean":
        return text.lower() == "true"
    if type_name == "null":
        return None
    if type_name in ("array", "tuple", "object", "dict"):
        return read_literal(text)
    return text


# ----------------------------------------------------------------------
# The calls of a step among several, as the texts that would be run.
def decode_step(step: Any, *, calls: bool) -> list[str]:
    """The calls of a step as texts.

    Args:
        step: What the model answered.
        calls: It calls functions; else it is prompted.

    Raises:
        Exception: it calls nothing that can be read.

    >>> decode_step([{"cd": '{"folder": "a"}'}], calls=True), decode_step("cd(folder='a')", calls=False)
    (["cd(folder='a')"], ["cd(folder='a')"])
    """
    if not calls:
        decoded = decode_prompted(step, "python")
        return [
            f"{name}({', '.join(f'{key}={_nested_text(value)}' for key, value in arguments.items())})"
            for call in decoded
            for name, arguments in call.items()
        ]
    texts = []
    for call in [step] if type(step) is dict else step:
        for name, arguments in call.items():
            values = fast_json_loads(arguments) if type(arguments) is str else arguments
            texts.append(f"{name}({','.join([f'{key}={value!r}' for key, value in values.items()])})")
    return texts


def is_empty_step(calls: Sequence[Any]) -> bool:
    """Whether a step calls nothing.

    >>> is_empty_step([]), is_empty_step([""]), is_empty_step(["ls()"])
    (True, True, False)
    """
    return len(calls) == 0 or (len(calls) == 1 and len(calls[0]) == 0)


def _nested_text(value: Any) -> str:
    """A value as it is written in a call: an object of objects is taken for a call, as published."""
    if not isinstance(value, dict):
        return repr(value)
    if all(isinstance(inner, dict) for inner in value.values()):
        name = next(iter(value.keys()), None)
        if name is None:
            raise IndexError("list index out of range")
        arguments: Mapping[Any, Any] = value[name]
        return f"{name}({', '.join(f'{key}={_nested_text(inner)}' for key, inner in arguments.items())})"
    return "{" + ", ".join(f"'{key}': {_nested_text(inner)}" for key, inner in value.items()) + "}"
