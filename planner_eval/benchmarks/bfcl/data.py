"""BFCL v4's questions, right answers and tools, as its package ``bfcl-eval`` holds them.

They lie in an installed ``bfcl_eval``, in any folder that is laid out as its ``data`` is or holds it, or in
the package's wheel, which is unpacked beside itself. No code of the package is imported.

Source: package bfcl-eval 2026.3.23 (repository ShishirPatil/gorilla, folder
berkeley-function-call-leaderboard): ``utils.py``, ``constants/category_mapping.py``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from planner_eval.base.errors import DatasetError
from planner_eval.base.json_files import JsonLine
from planner_eval.base.json_text import fast_json_loads
from planner_eval.benchmarks.datasets.published import Sample, load_json, load_jsonl
from planner_eval.plan.model import Diagnostic

PACKAGE = "bfcl_eval"
"""The package that holds the data."""
VERSION = "BFCL_v4"
"""How the names of its files begin."""


class Category(NamedTuple):
    """A category of questions.

    Args:
        name: Its name.
        group: The group whose score it counts in.
        check: How answers are checked: ``"calls"``, ``"irrelevance"``, ``"relevance"``, ``"multi_turn"``,
            ``"agentic"`` or ``"format"``.
        language: In which language calls are written and their values typed.
    """

    name: str
    group: str
    check: str
    language: str = "python"


CATEGORIES: Mapping[str, Category] = {
    category.name: category
    for category in (
        Category("simple_python", "non_live", "calls"),
        Category("simple_java", "non_live", "calls", "java"),
        Category("simple_javascript", "non_live", "calls", "javascript"),
        Category("multiple", "non_live", "calls"),
        Category("parallel", "non_live", "calls"),
        Category("parallel_multiple", "non_live", "calls"),
        Category("irrelevance", "non_live", "irrelevance"),
        Category("live_simple", "live", "calls"),
        Category("live_multiple", "live", "calls"),
        Category("live_parallel", "live", "calls"),
        Category("live_parallel_multiple", "live", "calls"),
        Category("live_irrelevance", "live", "irrelevance"),
        Category("live_relevance", "live", "relevance"),
        Category("multi_turn_base", "multi_turn", "multi_turn"),
        Category("multi_turn_miss_func", "multi_turn", "multi_turn"),
        Category("multi_turn_miss_param", "multi_turn", "multi_turn"),
        Category("multi_turn_long_context", "multi_turn", "multi_turn"),
        Category("web_search_base", "agentic", "agentic"),
        Category("web_search_no_snippet", "agentic", "agentic"),
        Category("memory_kv", "agentic", "agentic"),
        Category("memory_vector", "agentic", "agentic"),
        Category("memory_rec_sum", "agentic", "agentic"),
        Category("format_sensitivity", "format_sensitivity", "format"),
    )
}
"""The categories by name, in the order in which they are read."""

TOOL_FILES = {
    "GorillaFileSystem": "gorilla_file_system.json",
    "MathAPI": "math_api.json",
    "MessageAPI": "message_api.json",
    "TwitterAPI": "posting_api.json",
    "TicketAPI": "ticket_api.json",
    "TradingBot": "trading_bot.json",
    "TravelAPI": "travel_booking.json",
    "VehicleControlAPI": "vehicle_control.json",
    "WebSearchAPI": "web_search.json",
    "MemoryAPI_kv": "memory_kv.json",
    "MemoryAPI_vector": "memory_vector.json",
    "MemoryAPI_rec_sum": "memory_rec_sum.json",
}
"""The files that describe the tools of a class."""


class Visible(NamedTuple):
    """What a model may see of a question beside its tools.

    Args:
        turns: The messages that begin each turn.
        language: In which language calls are written.
        package: The folder of the package, which holds the published prompts; not shown.
        several: It has several turns, in which calls are made.
        held_back: The tools that a later turn brings, by the turn from 0.
        config: The way of asking, one of :data:`FORMATS`; "" for the usual.
    """

    turns: Sequence[Sequence[Mapping[str, Any]]]
    language: str
    package: str
    several: bool
    held_back: Mapping[int, Sequence[Any]]
    config: str = ""


FORMATS = (
    *(
        f"ret_fmt={answer}&tool_call_tag={tag}&func_doc_fmt={tools}&prompt_fmt=plaintext&style=classic"
        for answer in ("python", "json", "verbose_xml", "concise_xml")
        for tag in ("True", "False")
        for tools in ("python", "xml", "json")
    ),
    "ret_fmt=python&tool_call_tag=False&func_doc_fmt=json&prompt_fmt=markdown&style=classic",
    "ret_fmt=python&tool_call_tag=False&func_doc_fmt=json&prompt_fmt=plaintext&style=experimental",
)
"""The ways of asking that ``format_sensitivity`` tries each of its questions in."""


# ----------------------------------------------------------------------
# Where the files lie.
def installed_folder() -> Path | None:
    """The folder of an installed package; None where there is none. Its code is not imported."""
    try:
        spec = find_spec(PACKAGE)
    except (ImportError, ValueError):
        return None
    locations = list(spec.submodule_search_locations or ()) if spec else []
    return Path(locations[0]) if locations else None


def data_folder(folder: Path) -> Path:
    """The folder of the questions: `folder`, or where it lies in the package, a checkout or a wheel.

    Args:
        folder: What the user named; where it does not exist, that of the installed package.

    Raises:
        DatasetError: there are no questions.
    """
    if not folder.exists():
        installed = installed_folder()
        if installed is None:
            raise DatasetError(
                f"{folder}: no such folder, and {PACKAGE} is not installed: run planeval data fetch bfcl, "
                "or name a folder that holds the data"
            )
        folder = installed
    wheels = sorted(folder.glob(f"{PACKAGE}-*.whl")) if folder.is_dir() else []
    package = _unpack(wheels[-1]) if wheels else folder / PACKAGE
    checkout = folder / "berkeley-function-call-leaderboard" / PACKAGE
    for candidate in (
        folder,
        folder / "data",
        package / "data",
        folder / PACKAGE / "data",
        checkout / "data",
    ):
        if candidate.is_dir() and any(candidate.glob(f"{VERSION}_*.json")):
            return candidate
    raise DatasetError(
        f"{folder}: no BFCL questions here: expected files called {VERSION}_simple_python.json and the like"
    )


def _unpack(wheel: Path) -> Path:
    """The package of a wheel, unpacked beside it when it is read first.

    Raises:
        DatasetError: it is broken, or nothing can be written there.
    """
    target = wheel.parent / wheel.name.removesuffix(".whl") / PACKAGE
    if target.is_dir():
        return target
    import shutil
    import tempfile
    from zipfile import BadZipFile, ZipFile

    partial = None
    try:
        partial = Path(tempfile.mkdtemp(prefix=f"{target.parent.name}.", dir=wheel.parent))
        with ZipFile(wheel) as archive:  # which refuses to write outside of its folder
            archive.extractall(partial, [n for n in archive.namelist() if n.startswith(f"{PACKAGE}/")])
        os.replace(partial, target.parent)
    except (OSError, BadZipFile) as problem:
        if not target.is_dir():
            raise DatasetError(f"{wheel}: the wheel cannot be unpacked beside itself: {problem}") from None
    finally:
        if partial is not None and partial.exists():
            shutil.rmtree(partial, ignore_errors=True)
    return target


# ----------------------------------------------------------------------
# Reading them.
def read_bfcl(folder: Path, *, part: str | None = None) -> Iterator[Sample]:
    """The questions of all categories that the folder holds, or of one.

    ``gold`` is a right answer as plain calls, the first of the accepted values of each argument; for
    multi-turn the texts of the calls. ``tools`` are their descriptions as released, for multi-turn those of
    the first turn. ``extra`` holds ``question`` (the record without its tools), ``ground_truth`` as
    released (None where there is none), ``package`` (its folder, with the stateful tools), ``held_back`` (the
    tools that a later turn brings), the ``config`` of ``format_sensitivity``, what a model may see
    (``visible``), and ``diagnostics``.

    Args:
        folder: Holds the files; see :func:`data_folder`.
        part: One of :data:`CATEGORIES`; None for all that are there.

    Raises:
        DatasetError: there is none of the files, a file cannot be read, or a record has another shape.
    """
    if part is not None and part not in CATEGORIES:
        raise DatasetError(f"BFCL has no category {part!r}; expected one of {', '.join(CATEGORIES)}")
    data = data_folder(folder)
    names = [part] if part else [name for name in CATEGORIES if question_file(data, name).is_file()]
    for name in names:
        yield from read_category(data, name)


def read_answered(folder: Path, ids: Iterable[str]) -> Iterator[Sample]:
    """The questions of the categories of which some were answered; of all, where the ids are of none.

    The published code passes over other categories.

    Args:
        folder: Holds the files; see :func:`data_folder`.
        ids: The questions that were answered.

    Raises:
        DatasetError: as :func:`read_bfcl`.
    """
    data = data_folder(folder)
    categories = set(map(category_of_id, ids))
    answered = [name for name in CATEGORIES if name in categories and question_file(data, name).is_file()]
    for name in answered:
        yield from read_category(data, name)
    if not answered:
        yield from read_bfcl(folder)


def category_of_id(name: str) -> str:
    """The category that a question's id names; it need not be one.

    >>> category_of_id("live_simple_0-0-0"), category_of_id("format_sensitivity_1:a:simple_python_2")
    ('live_simple', 'format_sensitivity')
    """
    return name.split(":")[0].rsplit("_", 1)[0]


def question_file(data: Path, category: str) -> Path:
    """The file of a category's questions, which several categories may share.

    >>> question_file(Path("data"), "memory_kv").name
    'BFCL_v4_memory.json'
    """
    return data / f"{VERSION}_{_shared_name(category)}.json"


def _shared_name(category: str) -> str:
    """Web search and memory ask the same questions of several set-ups."""
    return next((name for name in ("web_search", "memory") if category.startswith(name)), category)


def read_category(data: Path, category: str) -> Iterator[Sample]:
    """The questions of a category.

    Args:
        data: The folder of the questions.
        category: One of :data:`CATEGORIES`.

    Raises:
        DatasetError: a file is missing, cannot be read, or a record has another shape.
    """
    if CATEGORIES[category].check == "format":
        yield from _read_formats(data)
        return
    path, shared = question_file(data, category), _shared_name(category)
    truths, package = None, str(data.parent)
    if CATEGORIES[category].check not in ("irrelevance", "relevance"):
        truths = [line.data for line in _read_lines(data / "possible_answer" / path.name)]
    tools: dict[str, list[Any]] = {}
    for position, line in enumerate(_read_lines(path)):
        try:
            record = dict(line.data)
            if shared != category:
                record["id"] = record["id"].replace(shared, category)
            truth = truths[position]["ground_truth"] if truths is not None else None
            yield _sample(data, category, record, truth, tools, package)
        except (KeyError, TypeError, IndexError, AttributeError, ValueError) as problem:
            what = f"{type(problem).__name__}: {problem}"
            raise DatasetError(f"{path}: line {line.number}: not a record of BFCL ({what})") from None


def _read_lines(path: Path) -> Iterator[JsonLine]:
    """The lines of a file; where one is broken, the careful reader says what is wrong with it."""
    try:
        texts = path.read_text(encoding="utf-8").split("\n")
        lines = [
            JsonLine(number, fast_json_loads(text)) for number, text in enumerate(texts, 1) if text.strip()
        ]
    except (OSError, ValueError, RecursionError):
        return load_jsonl(path)
    return iter(lines)


def _read_formats(data: Path) -> Iterator[Sample]:
    """The questions of ``format_sensitivity``: some of other categories, each asked in all formats."""
    chosen = load_json(data / f"{VERSION}_format_sensitivity.json")
    number = 0
    for category, ids in chosen.items():
        sample_ids = set(ids)
        for sample in read_category(data, category) if sample_ids else ():
            if sample.id not in sample_ids:
                continue
            for config in FORMATS:
                name = f"format_sensitivity_{number}:{config}:{sample.id}"
                visible = sample.extra["visible"]._replace(config=config)
                extra = {**sample.extra, "config": config, "visible": visible, "diagnostics": ()}
                extra["no_plan"] = (
                    f"the question of {sample.id} in another prompt format; its plan is counted there"
                )
                # Without a dialect: statistics of right plans count the question where it is asked first.
                yield Sample(name, sample.query, sample.tools, sample.gold, "", "format_sensitivity", extra)
                number += 1


def _sample(
    data: Path, category: str, record: dict[str, Any], truth: Any, tools: dict[str, list[Any]], package: str
) -> Sample:
    check = CATEGORIES[category].check
    held_back: list[Any] = []
    later: dict[int, list[Any]] = {}
    if check in ("multi_turn", "agentic"):
        missed = {name for names in record.get("missed_function", {}).values() for name in names}
        class_tools = _class_tools(data, record, category, tools)
        functions = [tool for tool in class_tools if tool["name"] not in missed]
        held_back = [tool for tool in class_tools if tool["name"] in missed]
        by_name = {tool["name"]: tool for tool in reversed(held_back)}
        later = {
            int(turn): [by_name[name] for name in names if name in by_name]
            for turn, names in record.get("missed_function", {}).items()
        }
    else:
        functions = record.pop("function")
    extra: dict[str, Any] = {
        "question": record,
        "ground_truth": truth,
        "package": package,
        "held_back": held_back,
        "visible": Visible(
            record["question"], CATEGORIES[category].language, package, check == "multi_turn", later
        ),
        "diagnostics": (),
    }
    gold: Any = []
    dialect = ""
    if check == "calls":
        gold = [{name: _first_values(accepted) for name, accepted in call.items()} for call in truth]
        dialect = "keyed"
        extra["diagnostics"] = tuple(_findings(functions, truth))
    elif check == "multi_turn":
        gold, dialect = [call for turn in truth for call in turn], "call-texts"
    elif check == "irrelevance":
        dialect = "keyed"  # the plan without a call
    elif check == "relevance":
        extra["no_plan"] = "any call of a tool is right"
    elif check == "agentic":
        gold = list(truth)
    messages = [message for turn in record["question"] for message in turn]
    query = "\n".join(str(message["content"]) for message in messages if message["role"] == "user")
    return Sample(str(record["id"]), query, functions, gold, dialect, category, extra)


def _class_tools(
    data: Path, record: Mapping[str, Any], category: str, tools: dict[str, list[Any]]
) -> list[Any]:
    """The tools of a record's classes."""
    functions: list[Any] = []
    for name in record["involved_classes"]:
        class_name = f"MemoryAPI_{category.removeprefix('memory_')}" if name == "MemoryAPI" else name
        if class_name not in tools:
            lines = load_jsonl(data / "multi_turn_func_doc" / TOOL_FILES[class_name])
            tools[class_name] = [line.data for line in lines]
        functions += tools[class_name]
    return functions


def _first_values(arguments: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    firsts = {}
    for name, accepted in arguments.items():
        values = [value for value in accepted if value != ""]
        if values or len(accepted) > 1:  # the empty text says that an argument may be left out
            firsts[name] = _plain(values[0] if values else "")
    return firsts


def _plain(value: Any) -> Any:
    """An accepted value itself: of an object's members the first of the accepted ones."""
    if isinstance(value, dict):
        members = all(isinstance(accepted, list) for accepted in value.values())
        return _first_values(value) if members else value
    if isinstance(value, list):
        return [_plain(item) if isinstance(item, dict) else item for item in value]
    return value


def _findings(functions: Sequence[Mapping[str, Any]], truth: Sequence[Any]) -> Iterator[Diagnostic]:
    """Right calls of tools that are not on offer."""
    names = {function["name"] for function in functions}
    for call in truth:
        for name in call:
            if name not in names:
                yield Diagnostic(
                    "dataset.mismatch", f"the right call, {name}, is not one of the tools", "warning"
                )


def read_category_file(path: Path) -> Iterator[Sample]:
    """The questions of one category, of its file.

    Raises:
        DatasetError: it is not called as one, or cannot be read.
    """
    names = [name for name in CATEGORIES if question_file(path.parent, name) == path]
    if not names:
        raise DatasetError(f"{path}: BFCL's files are called {VERSION}_simple_python.json and the like")
    return (sample for name in names for sample in read_category(path.parent, name))


def is_gold(gold: Any) -> bool:
    """Whether gold is a right answer as :func:`read_bfcl` has it: calls, texts, or nothing.

    >>> is_gold([{"f": {"a": 1}}]), is_gold([]), is_gold({"API": []})
    (True, True, False)
    """
    return isinstance(gold, list) and all(
        isinstance(item, str)
        or (isinstance(item, dict) and len(item) == 1 and isinstance(next(iter(item.values())), dict))
        for item in gold
    )


@lru_cache(8)
def category_sizes(package: str) -> dict[str, int]:
    """How many questions each category has, for categories that were not asked.

    Args:
        package: The folder of the package; it need not be there.
    """
    sizes = {}
    for name in CATEGORIES:
        path = question_file(Path(package) / "data", name)
        if path.is_file() and name != "format_sensitivity":
            sizes[name] = path.read_text(encoding="utf-8").rstrip("\n").count("\n") + 1
    return sizes
