"""Mends of plans that break their catalog, without gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.base.given import FLAG, NAME, NUMBER, SHARE, expect, expect_or_none, of
from planner_eval.base.jsonfile import read_json_lines
from planner_eval.catalogs.catalog import Catalog
from planner_eval.llm.protocol import Judge
from planner_eval.suggesting.asking import asking
from planner_eval.suggesting.mends import Tools
from planner_eval.suggesting.search import LEAST, Suggested, suggested
from planner_eval.verbs.catalogs import read_catalog
from planner_eval.verbs.reading import Source, parse


def suggest(
    plan: Source,
    catalog: Any,
    *,
    query: str | None = None,
    model: Judge | None = None,
    most: int = 3,
    least: float = LEAST,
    dialect: str | None = None,
    repair: bool = False,
) -> Suggested:
    """What may mend a plan that breaks its catalog, found without gold.

    Each mend was tried: it removes its fault and brings no new one. A plan without faults gets none.

    Args:
        plan: The plan: itself, its text or data, or the path of its file, ``Path("plan.json")``.
        catalog: The tools it may call: a catalog, or what :func:`planner_eval.read_catalog` takes.
        query: What the user asked, from which values may be taken.
        model: Who is asked about faults that nothing else mends: anything with ``ask``, as
            :func:`planner_eval.llm.open_judge` gives it.
        most: How many mends a fault are kept.
        least: The least score of a mend that becomes part of the patch.
        dialect: The notation of the plan; recognised when left out.
        repair: Mend small faults of a text that cannot be read strictly.

    Returns:
        The faults by call, each with its mends, the likeliest first; ``patch`` holds the likeliest of all
        together, for :func:`planner_eval.apply`, and ``mended`` is the plan after it.

    Raises:
        CatalogError: the catalog cannot be read.
        InputError: there is no plan, or no catalog.
        JudgeError: the model cannot be asked at all, for want of a key, say; a question that it leaves
            without an answer is no error.
        ParseError: the plan cannot be read.

    >>> tools = [{"name": "search", "parameters": {"properties": {"city": {"type": "string"}}}}]
    >>> found = suggest("serch(#city='Rome')", tools)
    >>> found.mended.calls[0].name, found.faults[0].suggestions[0].says
    ('search', 'call search')
    """
    if plan is None or catalog is None:
        raise InputError("to suggest something takes a plan and a catalog of the tools that it may call")
    expect(NUMBER, most=most)
    expect(SHARE, least=least)
    expect(FLAG, repair=repair)
    expect_or_none(NAME, query=query)
    expect_or_none(of(Judge, "anything with ask(), as open_judge() gives it"), model=model)
    tools = tools_of(catalog)
    ask = asking(model, tools, query or "") if model is not None else None
    read = parse(plan, dialect=dialect, repair=repair)
    return suggested(read, tools, query or "", most=most, least=least, ask=ask)


def tools_of(catalog: Any) -> Tools:
    """A catalog made ready for many plans.

    Args:
        catalog: A catalog, or what :func:`planner_eval.read_catalog` takes.
    """
    return catalog if isinstance(catalog, Tools) else Tools(read_catalog(catalog))


def pooled(files: Sequence[str], catalog: Catalog) -> Iterator[str]:
    """What has to be said of a catalog that is a file of records, each with tools of its own.

    Args:
        files: The names of the catalog's files.
        catalog: What was read of them.
    """
    for name in files:
        if not name.endswith((".jsonl", ".ndjson")):
            continue
        text = Path(name).read_text(encoding="utf-8", errors="replace")
        lines = [line.data for line in read_json_lines(text) if line.error is None]
        brings = sum(isinstance(line, dict) and isinstance(line.get("tools"), list) for line in lines)
        if brings > 1:
            name_counts = Counter((tool.app, tool.name) for tool in catalog.tools)
            differ = sum(count > 1 for count in name_counts.values())
            yield (
                f"{name}: the tools of {brings:,} records are pooled, though none may have been offered all; "
                f"{differ:,} of the same name differ, of which the one counts that a call breaks least"
            )
