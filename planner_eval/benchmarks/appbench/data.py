"""AppBench's instructions: one app or several, one API or several (ss, sm, ms, mm).

The folder is laid out as published: ``test_ss.json`` … ``test_mm.json``. A ``catalogue.json`` beside
them, made from the literal descriptions in the published app classes, gives the tools.

Source: repository ruleGreen/AppBench at 81539ee; paper section 3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from planner_eval.base.errors import DatasetError
from planner_eval.benchmarks.datasets.published import (
    Audit,
    Sample,
    ToolSpecs,
    choose_parts,
    load_json,
    load_records,
)

_FILES = {part: f"test_{part}.json" for part in ("ss", "sm", "ms", "mm")}
PARTS = tuple(_FILES)
"""Single or multiple app × single or multiple API, in the order of the paper's tables."""
_FINDINGS = "planner_eval.benchmarks.appbench.findings:findings"


def read_appbench(folder: Path, *, part: str | None = None) -> Iterator[Sample]:
    """The instructions of all parts that the folder holds, or of one, in the order of the paper.

    ``gold`` is the record's ``output`` as released, ``category`` the part, ``id`` the part and the
    record's position (``mm-10``). ``extra`` holds ``diagnostics``: what is irregular in the record, in
    its gold plan, and against the catalogue, looked for when it is asked for.

    Args:
        folder: Holds the files.
        part: One of :data:`PARTS`; None for all that are there.

    Raises:
        DatasetError: none of the files is there, one cannot be read, or is no list of records.
    """
    names = choose_parts(folder, "AppBench", _FILES, part)
    path = folder / "catalogue.json"
    tools = load_json(path) if path.is_file() else None
    specs = ToolSpecs(tools, "appbench", "AppBench's catalogue", str(path))
    for name in names:
        seen: dict[str, str] = {}
        for position, record in enumerate(load_records(folder / _FILES[name])):
            is_object, identity = isinstance(record, dict), f"{name}-{position}"
            gold = record.get("output") if is_object else record
            query = record.get("input") if is_object else None
            first = seen.setdefault(query, identity) if isinstance(query, str) else identity
            audit = Audit(_FINDINGS, gold, query, first if first != identity else None, specs)
            text = query if isinstance(query, str) else ""
            yield Sample(identity, text, tools, gold, "appbench", name, {"diagnostics": audit})


def read_part_file(path: Path) -> Iterator[Sample]:
    """The samples of one part, of its file.

    Raises:
        DatasetError: it is not called as one, or cannot be read.
    """
    name_match = re.fullmatch(r"test_(\w+)\.json", path.name)
    if not name_match:
        raise DatasetError(f"{path}: AppBench's files are called test_ss.json, test_sm.json …")
    return read_appbench(path.parent, part=name_match[1])
