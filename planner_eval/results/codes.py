"""What an outcome or a code of an edit, a remark, a finding or an error means, with an example and a fix."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any

from planner_eval.base.errors import CODES, InputError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.resources import read
from planner_eval.base.text import did_you_mean
from planner_eval.comparison.explanation.edits import EDITS
from planner_eval.comparison.rows import STATES

PAGE = "docs/codes.md"
"""The page of all codes, with an anchor for each."""


class CodeEntry(NamedTuple):
    """One code.

    Args:
        code: The code.
        meanings: What it means: of an edit, and of a plan that is read or checked.
        example: What leads to it, as lines.
        fix: What to do.
    """

    code: str
    meanings: tuple[str, ...]
    example: str
    fix: str


@cache
def code_entries() -> dict[str, CodeEntry]:
    """Every code by its name, in the order of the tables.

    >>> code_entries()["plan.no_call"].meanings
    ('the text calls no tool',)
    """
    table: dict[str, Any] = tomllib.loads(read("data/codes.toml"))
    entries = {}
    for code in {**STATES, **EDITS, **CODES}:
        row = table["code"][code]
        meanings = tuple(meanings[code] for meanings in (STATES, EDITS, CODES) if code in meanings)
        fix = row.get("fix") or table["family"][code.partition(".")[0]]
        entries[code] = CodeEntry(code, meanings, _example_text(row), fix)
    return entries


def _example_text(row: dict[str, str]) -> str:
    if "pred" in row:
        pred, gold = row["pred"].replace("\n", "; "), row["gold"].replace("\n", "; ")
        return f"prediction: {pred}\ngold: {gold}"
    return row.get("case") or row["example"] or "(an empty text)"


def find_codes(name: str) -> list[CodeEntry]:
    """The code of a name, or all codes of a family such as ``check``.

    Raises:
        InputError: there is neither.

    >>> [entry.code for entry in find_codes("label")]
    ['label.duplicate']
    """
    entries = code_entries()
    if name in entries:
        return [entries[name]]
    family = [entry for entry in entries.values() if entry.code.startswith(f"{name}.")]
    if not family:
        hint = did_you_mean(name, entries, "planeval explain lists all codes")
        raise InputError(f"unknown code {name!r}; {hint}")
    return family


def explain_code(entry: CodeEntry) -> str:
    """One code as text.

    >>> print(explain_code(code_entries()["plan.no_call"]))
    plan.no_call: the text calls no tool
      example: There is nothing to do.
      fix: Nothing, if the model was right not to call a tool.
      see docs/codes.md#plan.no_call
    """
    example = entry.example.replace("\n", "\n           ")
    meanings = f"\n{' ' * len(entry.code)}  ".join(entry.meanings)
    return f"{entry.code}: {meanings}\n  example: {example}\n  fix: {entry.fix}\n  see {PAGE}#{entry.code}"
