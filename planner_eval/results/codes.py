"""What a word in an output means, with an example and a fix: outcomes, codes, error types, metrics, terms."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache

from planner_eval.base.codes import code_meanings, code_table
from planner_eval.base.errors import InputError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.resources import read
from planner_eval.base.text import did_you_mean
from planner_eval.comparison.explanation.edits import EDITS
from planner_eval.comparison.metrics import METRICS
from planner_eval.comparison.rows import STATES
from planner_eval.plan.statistics import FIGURE_MEANINGS, KIND_MEANINGS, PATTERNS, SCOPES, SHAPES
from planner_eval.reading.dialects.listing import entries as dialect_entries

PAGE = "docs/codes.md"
"""The page of all codes, with an anchor for each."""

GLOSSARY = "docs/glossary.md"
"""The page of all terms, with an anchor for each."""

_PAGE_FAMILY, _COLUMN_FAMILIES = "Page", ("Plans", "Scores and runs", "Tables")
"""The terms that are headings of the page, and those that are heads of its columns."""

_NOTATIONS = "notations"
"""The family of names of notations."""

_RECORDED = re.compile(r"(?!pass)\w+?([@^]k| tasks)")
"""A figure of recorded verdicts, which has the name of their field."""

_KIND_FOR_KIND = re.compile(r"(?:text|number|boolean|list) for (?:text|number|boolean|list)")


class CodeEntry(NamedTuple):
    """One code.

    Args:
        code: The code.
        meanings: What it means: of an edit, and of a plan that is read or checked.
        example: What leads to it, as lines; empty for names that benchmarks, tools and models print.
        fix: What to do.
        family: The heading on the page of codes.
        confidence: How sure a finding about gold is; empty for others.
    """

    code: str
    meanings: tuple[str, ...]
    example: str
    fix: str
    family: str
    confidence: str = ""

    @property
    def anchor(self) -> str:
        """Its anchor on the page of codes."""
        return re.sub(r"[^\w.:-]", lambda sign: "-" if sign[0] == " " else f"{ord(sign[0]):x}", self.code)


@cache
def code_entries() -> dict[str, CodeEntry]:
    """Every code by its name, in the order of the tables.

    >>> code_entries()["plan.no_call"].meanings
    ('the text calls no tool',)
    """
    table, known = code_table(), (STATES, EDITS, code_meanings())
    entries = {}
    for code in {**STATES, **EDITS, **code_meanings()}:
        row = table["code"][code]
        meanings = tuple(meanings[code] for meanings in known if code in meanings)
        family = "outcomes" if code in STATES else code.partition(".")[0]
        fix = row.get("fix") or table["family"][family]
        entries[code] = CodeEntry(code, meanings, _example_text(row), fix, family, row.get("confidence", ""))
    for family, rows in table["outside"].items():
        for code, row in rows.items():
            if code != "fix":
                edits = f"`planeval diff` shows it as {row['edits']}. " if "edits" in row else ""
                fix = edits + (row.get("fix") or rows["fix"])
                entries[code] = CodeEntry(code, (row["means"],), "", fix, family)
    for metric in METRICS.values():
        kind = "precision, recall and F1" if metric.kind == "counts" else "the share over all pairs"
        meaning = f"{metric.title.rstrip('.')} ({kind}{', lower is better' if metric.lower else ''})"
        fix = f"`planeval score PRED GOLD --metric {metric.name}`"
        entries[metric.name] = CodeEntry(metric.name, (meaning,), "", fix, f"metrics: {metric.group}")
    return entries


@cache
def term_entries() -> tuple[CodeEntry, ...]:
    """The words that outputs use beside codes, each with its meaning: of plans, tables, pages, statistics.

    >>> [entry.meanings for entry in term_entries() if entry.code == "root cause"]
    [('the first thing that went wrong',)]
    """
    families: dict[str, Mapping[str, str]] = {
        **tomllib.loads(read("data/glossary.toml")),
        "Structure of plans": {**FIGURE_MEANINGS, **KIND_MEANINGS, **PATTERNS, **SHAPES, **SCOPES},
    }
    return tuple(
        CodeEntry(term, (meaning,), "", "", f"terms: {family}")
        for family, terms in families.items()
        for term, meaning in terms.items()
    )


def label_meanings(figures: Iterable[str]) -> dict[str, dict[str, str]]:
    """What the page's headings, heads of columns and figures mean, as it shows them on hover.

    Args:
        figures: The names of the figures that the page shows.
    """
    groups: dict[str, dict[str, str]] = {"labels": {}, "columns": {}, "figures": {}}
    for entry in term_entries():
        family = entry.family.removeprefix("terms: ")
        group = "labels" if family == _PAGE_FAMILY else "columns" if family in _COLUMN_FAMILIES else ""
        if group:
            groups[group][entry.code] = entry.meanings[0]
    groups["figures"] = {name: METRICS[name].title for name in figures if name in METRICS}
    return groups


def _example_text(row: dict[str, str]) -> str:
    if "pred" in row:
        pred, gold = row["pred"].replace("\n", "; "), row["gold"].replace("\n", "; ")
        return f"prediction: {pred}\ngold: {gold}"
    return row.get("case") or row["example"] or "(an empty text)"


def find_codes(name: str) -> list[CodeEntry]:
    """The code of a name, or all codes of a family such as ``check``, or with an ending such as ``enum``.

    Raises:
        InputError: there is none.

    >>> [entry.code for entry in find_codes("label")], [entry.code for entry in find_codes("[enum]")]
    (['label', 'label.duplicate'], ['check.enum', 'gold.enum'])
    """
    entries = code_entries()
    name = name.strip(" []:,")
    if _KIND_FOR_KIND.fullmatch(name):
        name = "number for text"
    elif recorded := _RECORDED.fullmatch(name):
        name = f"reward{recorded[1]}"
    name = re.sub(r"=.*| \(\d+\)$", "", name)  # policy=default, readable (7)
    terms = [entry for entry in term_entries() if entry.code == name]
    notations = (row for row in dialect_entries() if row.name == name)
    terms += [CodeEntry(name, (row.title,), "", "", f"{_NOTATIONS}: {name}") for row in notations]
    if code := next((code for code in (name, name.replace(" ", "_")) if code in entries), None):
        return [entries[code], *terms]
    terms = terms or [entry for entry in term_entries() if entry.code.lower() == name.lower()]
    if group := [entry for entry in entries.values() if entry.family.partition(":")[0] == name]:
        return [*terms, *group]
    for pattern in (rf"{re.escape(name)}[.:]", rf".*[.:]{re.escape(name)}\Z"):
        if family := [entry for code, entry in entries.items() if re.match(pattern, code)]:
            return [*terms, *family]
    if terms:
        return terms
    every_entry = (*entries.values(), *term_entries())
    if alike := [entry for entry in every_entry if _folded(entry.code) == _folded(name)]:
        return alike
    hint = did_you_mean(
        name, [entry.code for entry in every_entry], "planeval explain lists all codes and terms"
    )
    raise InputError(f"unknown code or term {name!r}; {hint}")


def _folded(term: str) -> str:
    """A term without what its forms differ in: case, hyphens, the ending of the plural, k of pass^k."""
    return (
        re.sub(r"(?<=[\^@])\d+\Z", "k", term.lower()).translate(str.maketrans("-_.", "   ")).removesuffix("s")
    )


def explain_code(entry: CodeEntry) -> str:
    """One code as text.

    >>> print(explain_code(code_entries()["plan.no_call"]))
    plan.no_call: the text calls no tool
      example: There is nothing to do.
      fix: Nothing, if the model was right not to call a tool.
      see docs/codes.md#plan.no_call
    >>> print(explain_code(find_codes("nestful")[-1]).rpartition("  ")[2])
    see docs/dialects.md#nestful
    >>> explain_code(term_entries()[0]).rpartition("  ")[2].startswith("see docs/glossary.md#")
    True
    """
    meanings = f"\n{' ' * len(entry.code)}  ".join(entry.meanings)
    example = entry.example.replace("\n", "\n           ")
    shown = f"\n  example: {example}" if example else ""
    sure = f"\n  confidence: {entry.confidence}" if entry.confidence else ""
    if entry.family.startswith(_NOTATIONS):
        return f"{entry.code}: notation: {meanings}\n  see docs/dialects.md#{entry.code.replace('.', '')}"
    if entry.family.startswith("terms"):
        return f"{entry.code}: {meanings}\n  see {GLOSSARY}#{entry.anchor}"
    label = "show" if entry.family.startswith("metrics") else "fix"
    return f"{entry.code}: {meanings}{sure}{shown}\n  {label}: {entry.fix}\n  see {PAGE}#{entry.anchor}"
