"""Which dialect a text or some JSON data is in: ranked candidates with a reason each."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from planner_eval.dialects.messages import call_items, is_call, is_definition
from planner_eval.dialects.table import Wrapper, literal, table
from planner_eval.dialects.whole import NESTFUL, Candidate, of_calls

_APPBENCH = re.compile(
    r"\s*+(?:[^\W\d](?:[\w\- ]|\.(?!\s))*+:[ \t]*+\[\s*+)?+"
    r"(?:\w++(?:\s*+,\s*+\w++)*+\s*+=\s*+)?+[^\W\d][\w.\-]*+\s*+\(\s*+(?:#\w|(?<=:\[)\))"
)
_APPBENCH_SECTION = re.compile(
    r"\s*+[^\W\d](?:[\w\- ]|\.(?!\s))*+:[ \t]*+\[\s*+(?:\w++(?:\s*+,\s*+\w++)*+\s*+=\s*+)?+"
    r"[^\W\d][\w.\-]*+\s*+\(\s*+(?:#\w|\))"
)
_SHAPES = (
    (
        "llmcompiler",
        re.compile(r"\s*+(?:(?:Thought|Plan)\b[^\n]*+\n\s*+)?+1[.)][ \t]++[^\W\d][\w.\-]*+\("),
        "numbered calls",
    ),
    ("rewoo", re.compile(r"(?:^|\n)\s*+#E\d++\s*+=\s*+[^\W\d][\w .\-]*+\["), "#E1 = Tool[text] steps"),
    ("t-eval", re.compile(r"(?:^|\n)\s*+Action \d++\s*+:\s*+#E\d++\s*+="), "Action 1: #E1 = f(a) steps"),
    ("worfbench", re.compile(r"\s*+Nodes?\s*+:\s*+\d++\s*+[:.)]"), "numbered nodes and edges"),
    (
        "react",
        re.compile(r"(?:^|\n)\s*+Action\s*+:[^\n]*+\n\s*+Action Input\s*+:"),
        "Action and Action Input lines",
    ),
    ("callnavi-yaml", re.compile(r"\s*+API:[ \t]*+\n\s*+-\s"), "YAML of API and parameters"),
)


def detect(text: str) -> list[Candidate]:
    """The dialects that a text may be in, the likeliest first.

    Args:
        text: The whole text; it is looked at, not parsed.

    Returns:
        At least one candidate; a text that looks like none is taken for JSON calls, whose reader
        says best what is wrong with it.

    >>> detect("a = f(#x='1')")
    [Candidate(dialect='appbench', reason='calls with #name= arguments')]
    """
    found = [Candidate(row.name, f"the token {token.strip()!r}") for row, token in tokens_in(text)]
    if _APPBENCH.match(text) or _APPBENCH_SECTION.match(text):
        found.append(Candidate("appbench", "calls with #name= arguments"))
    found += [Candidate(name, reason) for name, pattern, reason in _SHAPES if pattern.search(text, 0, 20_000)]
    start = text.lstrip()[:1]
    if start in ("[", "{"):
        if '"$ref"' in text or '"planeval.plan/' in text:
            found.append(Candidate("plan", "JSON with $ref references or our schema"))
        if NESTFUL.search(text):
            found.append(Candidate("nestful", "JSON with labels or $name$ references"))
    if start in ("[", "{", '"') or not found:
        found.append(Candidate("json", "JSON"))
    return found


def tokens_in(text: str) -> list[tuple[Wrapper, str]]:
    """The rows whose opening token stands in a text, by the token's place, with the token."""
    places: dict[str, int] = {}
    for match in _openers().finditer(text):
        places.setdefault(_squeezed(match.group()), match.start())
        if len(places) > 40:
            break
    if not places:
        return []
    found = []
    for row in table().values():
        for token in signs(row):
            if _squeezed(token) in places:
                found.append((places[_squeezed(token)], -len(_squeezed(token)), row, token))
                break
    return [(row, token) for _, _, row, token in sorted(found, key=lambda item: item[:2])]


def signs(row: Wrapper) -> tuple[str, ...]:
    """The tokens by which a row is known in a text; none for rows that are known by their shape."""
    if row.shape in ("sections", "gemma"):
        return row.open
    if row.shape == "named":
        return tuple(token for token in (*row.head, *row.open) if token)
    if row.shape == "xml":
        return (*row.open, row.call[0].split("$")[0])
    return ()


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _openers() -> re.Pattern[str]:
    return _compiled(
        tuple(sorted({token for row in table().values() for token in signs(row)}, key=len, reverse=True))
    )


_LINE_START = {"functools": "(?=\\[)", "Call:": "", ">>>": ""}
"""Tokens that are ordinary words elsewhere: they count at a line's start only, with what follows."""


@cache
def _compiled(tokens: tuple[str, ...]) -> re.Pattern[str]:
    def one(token: str) -> str:
        ordinary = _LINE_START.get(token.strip())
        pattern = literal([token.rstrip()])
        return pattern if ordinary is None else rf"(?:(?<=\n)|\A)[ \t]*+{pattern}{ordinary}"

    return re.compile("|".join(one(token) for token in tokens) or "(?!)")


# ---------------------------------------------------------------- data
def detect_data(data: Any) -> Candidate:
    """The dialect of structure that is JSON already.

    >>> detect_data([{"name": "f", "label": "v1", "arguments": {}}]).dialect
    'nestful'
    """
    if isinstance(data, dict):
        if str(data.get("schema", "")).startswith("planeval.plan/"):
            return Candidate("plan", "our schema")
        if "api_results" in data or "decided_api" in data:
            return Candidate("appbench", "a gold or result record of AppBench")
    items = data.get("calls", data) if isinstance(data, dict) else data
    items = items if isinstance(items, list) else [items]
    if items and all(isinstance(item, str) for item in items):
        return _of_texts(items)
    calls = [item for item in items if is_call(item)]
    if calls and len(calls) == len(items) and not ("dep" in calls[0] and "task" in calls[0]):
        return of_calls(calls)
    return _of_structure(data) or of_calls(calls)


def _of_texts(items: list[str]) -> Candidate:
    if all(_APPBENCH.match(item) for item in items):
        return Candidate("appbench", "a list of lines with #name= arguments")
    if all(re.match(r"\s*[^\W\d][\w.\-]*+\(", item) for item in items):
        return Candidate("call-texts", "a list of texts that are calls")
    return Candidate("appbench", "a list of lines")


def _of_structure(data: Any) -> Candidate | None:
    """Dialects known by the structure around or instead of plain calls."""
    from planner_eval.dialects import callnavi, nodes, traces
    from planner_eval.dialects.json_rows import is_keyed

    if callnavi.is_plan(data):
        return Candidate("callnavi", "API and parameters side by side")
    if nodes.is_graph(data):
        return Candidate("taskbench", "nodes and links")
    if nodes.is_tasks(data):
        return Candidate("hugginggpt", "tasks with dep")
    kind = traces.kind_of(data)
    if kind is not None:
        return Candidate(kind, "a trace's spans")
    if is_keyed(data):
        return Candidate("keyed", "objects of one key, the tool's name")
    return None


def name_json(data: Any, text: str) -> Candidate:
    """The row of the table that some JSON calls are written in; `json` where they fit none closer.

    Args:
        data: What ``detect_data`` calls `json`.
        text: The text, for references that only it shows; may be empty.
    """
    from planner_eval.dialects.json_rows import fit

    live = next((name for name, pattern in _LIVE if pattern.search(text)), None)
    if live:
        return Candidate(live, "references to live results")
    items = list(call_items(data))
    if not items:
        return Candidate("json", "JSON")
    if any(item.get("name") == "code_execution" for item in items):
        return Candidate("anthropic-programmatic", "a code_execution block")
    if any(isinstance(item.get("responses"), list) for item in items):
        return Candidate("nestools" if "api_name" in items[0] else "seal-tools", "responses name the results")
    if isinstance(data, list) and any(isinstance(m, dict) and m.get("role") == "observation" for m in data):
        return Candidate("complexfuncbench", "steps with observations")
    best = max(
        (
            (fit(row, items[0]), -place, row.name)
            for place, row in enumerate(table().values())
            if row.shape == "json"
        ),
        default=(0, 0, "json"),
    )
    return (
        Candidate(best[2], f"objects with {best[0]} keys of its form")
        if best[0] > 2
        else Candidate("json", "objects with names and arguments")
    )


_LIVE = (
    ("result-uri", re.compile(r'"\$ref"\s*:\s*"result://')),
    ("result-backtick", re.compile(r"\$`[\w.\-]{1,200}+`")),
    ("result-turn", re.compile(r"\{\{tool\d{1,6}+turn\d{1,6}+\}\}")),
)


def is_schema(data: Any) -> bool:
    """Whether data only describes tools or parameters, and calls nothing.

    >>> is_schema([{"name": "f", "description": "does", "parameters": {"type": "object", "properties": {}}}])
    True
    >>> is_schema({"city": {"type": "string", "description": "where"}, "required": ["city"]})
    True
    """
    if isinstance(data, list):
        return bool(data) and all(is_schema(item) for item in data)
    if not isinstance(data, dict) or not data:
        return False
    if is_definition(data):
        return True
    described = [v for v in data.values() if isinstance(v, dict) and "type" in v]
    rest = [
        v
        for k, v in data.items()
        if not (isinstance(v, dict) and "type" in v) and k not in ("required", "type")
    ]
    return bool(described) and not rest
