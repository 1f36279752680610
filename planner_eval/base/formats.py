"""The one list of formats that results are written and drawn in, and the suffixes that name them."""

from __future__ import annotations

TYPE_CHECKING = False  # typing's own costs start-up, and every command comes here

if TYPE_CHECKING:
    from collections.abc import Collection


TSV = "tsv"
"""A benchmark's own result file, of tab-separated columns; tables of ours are CSV."""

RECORD_FORMATS = ("json", "jsonl", "csv", "md")
"""Rows for programs and documents; before them stands what is for people, as text or as a table."""

SINGLE_VALUE_FORMATS = ("json", "csv", "md")
"""The same of what is one whole and no list of records: without JSON lines."""

RESULT_FORMATS = ("text", *RECORD_FORMATS, "junit")
"""Results that also test runners read."""

CI_FORMATS = ("github", "sarif")
"""What is wrong as CI servers show it: GitHub's annotations and step summary; code scanning's format."""

TABLE_FORMATS = ("text", "md", "tex", "csv", "svg")
"""A table of systems: for people, for documents, for programs, drawn."""

PICTURE_FORMATS = ("svg", "png", "pdf")
"""Drawings that need Graphviz, and plots."""

DRAWING_FORMATS = (*PICTURE_FORMATS, "dot", "mermaid")
"""Drawings that are files; the others are text for a terminal."""

NOTATION_FORMATS = ("text", "json", "jsonl", "md", "xml")
"""What a plan in a notation may be: whichever the text is, it is no drawing and no table."""

SUFFIX_FORMATS = (
    *RESULT_FORMATS,
    CI_FORMATS[1],
    *DRAWING_FORMATS,
    "tex",
    "html",
    TSV,
    "parquet",
    "gz",
    "bz2",
    "xz",
    "zst",
)
"""What suffixes may name: all that some command writes, and what is read but never written."""

SUFFIX_ALIASES = {"txt": "text", "gv": "dot", "mmd": "mermaid", "xml": "junit"}
"""Suffixes that are not the format's name."""


def format_of_suffix(file: str | None, choices: Collection[str]) -> str | None:
    """The format that a file's suffix names; None where it names none that is known.

    Args:
        file: The file's name; None for no file.
        choices: The formats to choose from.

    >>> (
    ...     format_of_suffix("plan.GV", DRAWING_FORMATS), format_of_suffix("plan.xml", DRAWING_FORMATS),
    ...     format_of_suffix("svg", DRAWING_FORMATS)
    ... )
    ('dot', None, None)
    >>> format_of_suffix("plan.txt", ("table", "json")), format_of_suffix("plan.txt", DRAWING_FORMATS)
    ('table', None)
    """
    suffix = file.rpartition(".")[2].lower() if file and "." in file else ""
    form = SUFFIX_ALIASES.get(suffix, suffix)
    for name in (form, suffix, "table" if form == "text" else form):
        if name in choices:
            return name
    return None
