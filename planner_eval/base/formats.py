"""The formats of results: one table of what each shows of a result, who writes it, and what names it."""

from __future__ import annotations

from functools import cache

from planner_eval.base.errors import InputError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.resources import load

TYPE_CHECKING = False  # typing's own costs start-up, and every command comes here

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from typing import Any

    from planner_eval.base.tables import Style


class Format(NamedTuple):
    """One format.

    Args:
        shows: What it shows of a result: words, one of which a result has to have, see `View`.
        writer: What writes that: ``"module:function"`` of this package.
        suffixes: Words that name it as suffixes of files, what we write first; its own name when left out.
        stamp: What a plot's file says of itself with the time or the program, which ours leave out.
        remarks: Says what is worth knowing of a drawing in it, ``"module:function"``.
    """

    shows: str
    writer: str
    suffixes: str | None = None
    stamp: str = ""
    remarks: str | None = None


FORMATS = {
    "text": Format("document plain", "base.tables:write_text", "txt text"),
    "json": Format("data", "base.tables:write_json"),
    "jsonl": Format("records", "base.tables:write_json_lines"),
    "csv": Format("table", "base.tables:write_csv"),
    "md": Format("document", "base.tables:write_markdown"),
    "junit": Format("cases", "results.views.junit:write_cases", "xml junit"),
    "github": Format("annotations", "results.findings:github_annotations", ""),
    "sarif": Format("findings", "results.findings:sarif"),
    "tsv": Format("result_file", "base.tables:write_whole"),
    "listing": Format("overlay", "results.drawing.terminal:to_text", ""),
    "boxes": Format("overlay boxes", "results.drawing.terminal:to_boxes", ""),
    "svg": Format("picture plot", "results.drawing.layout:draw_many", stamp="Date"),
    "png": Format("picture plot binary bitmap", "results.drawing.layout:draw_many", stamp="Software"),
    "pdf": Format("picture plot binary", "results.drawing.layout:draw_many", stamp="CreationDate"),
    "dot": Format("picture", "results.drawing.dot:to_dot", "dot gv"),
    "mermaid": Format(
        "picture",
        "results.drawing.mermaid:to_mermaid",
        "mmd mermaid",
        remarks="results.drawing.mermaid:size_diagnostics",
    ),
    "tex": Format("paper", "base.tables:write_whole"),
    "html": Format("page", "results.page.page:page"),
}
"""Every format that some command writes, in the order in which help lists them.

What they show beside the fields of `View`: ``plain`` text without markup, ``annotations`` or ``findings`` for
CI, a plan over another (``overlay``) or in ``boxes`` in a terminal, a ``picture`` of plans, a ``plot`` of
figures, a ``page``; ``binary`` for no terminal, and a ``bitmap`` of so many dots an inch.
"""


def suffixes_of(form: str) -> list[str]:
    """The suffixes that name a format, what we write first."""
    words = FORMATS[form].suffixes
    return [form] if words is None else words.split()


DEFAULT, LISTING, PICTURE = "text", "listing", "svg"
"""The format where none is named; what it is called where it would also stand for edits: a drawn listing; and
that of pictures."""

SUMMARY = "md"
"""The format of what CI shows of a whole step."""

SUFFIXES = (
    *(name for name in FORMATS if suffixes_of(name)),
    *("parquet", "gz", "bz2", "xz", "zst"),
)
"""What suffixes may name: formats of results, and what is stored or read but never written as a result."""

NOTATIONS = ("text", "json", "jsonl", "md", "xml")
"""What a plan in a notation may be: whichever the text is, it is no drawing and no table."""


class View(NamedTuple):
    """What a result shows of itself, each made when a format asks for it.

    Args:
        document: Text for people in pieces, as text or as Markdown.
        data: The whole as JSON data, or its text in pieces.
        records: A value a line, or its text.
        table: Rows of equal keys, for programs, or text.
        cases: Test cases, and how many of them have which outcome where that is known before.
        paper: The whole as LaTeX.
        result_file: A benchmark's own file.
    """

    document: Callable[[Style], Iterable[str]] | None = None
    data: Callable[[], Any] | None = None
    records: Callable[[], Iterable[Any]] | None = None
    table: Callable[[], Iterable[Mapping[str, Any] | str]] | None = None
    cases: Callable[[], tuple[Iterable[Any], Mapping[str, int] | None]] | None = None
    paper: Callable[[], str] | None = None
    result_file: Callable[[], str] | None = None

    def write(self, form: str) -> Iterator[str]:
        """The result in a format, in pieces, without a last line end.

        Raises:
            InputError: the result shows nothing that the format shows.
        """
        aspects = {name: make for name, make in self._asdict().items() if make is not None}
        forms = formats_of(*aspects)
        if form not in forms:
            raise InputError(f"unknown format {form!r}: expected one of {', '.join(forms)}")
        pieces: Iterator[str] = load_writer(form)(
            next(aspects[n] for n in FORMATS[form].shows.split() if n in aspects)
        )
        return pieces

    def text(self, form: str = DEFAULT) -> str:
        """The same as one text."""
        return "".join(self.write(form))


def rows_view(rows: Iterable[Mapping[str, Any]], width: int = 60) -> View:
    r"""Rows of equal keys, as each format of lists shows them.

    Args:
        rows: The rows, which text goes through twice.
        width: The widest cell of a table for people.

    >>> rows_view([{"n": 1}]).text("csv")
    'n\n1'
    """
    from planner_eval.base.tables import json_array
    from planner_eval.base.text import to_json

    return View(
        document=lambda style: style.pieces(rows, width),
        data=lambda: json_array(to_json(row, 1) for row in rows),
        records=lambda: rows,
        table=lambda: rows,
    )


def load_writer(form: str) -> Callable[..., Any]:
    """What writes a format, imported when it is called."""
    writer: Callable[..., Any] = load(f"planner_eval.{FORMATS[form].writer}")
    return writer


@cache
def shows(form: str, *aspects: str) -> bool:
    """Whether a format shows one of these aspects of a result.

    >>> shows("md", "document"), shows("csv", "document", "data")
    (True, False)
    """
    return form in formats_of(*aspects)


@cache
def formats_of(*aspects: str) -> tuple[str, ...]:
    """The formats that show one of these aspects of a result.

    >>> formats_of("document", "data"), formats_of("plot")
    (('text', 'json', 'md'), ('svg', 'png', 'pdf'))
    """
    return tuple(name for name, form in FORMATS.items() if not set(aspects).isdisjoint(form.shows.split()))


def format_of_suffix(file: str | None, choices: Collection[str]) -> str | None:
    """The format that a file's suffix names; None where it names none that is known.

    Args:
        file: The file's name; None for no file.
        choices: The formats to choose from.

    >>> [format_of_suffix(name, formats_of("picture")) for name in ("plan.GV", "plan.xml", "svg")]
    ['dot', None, None]
    """
    suffix = file.rpartition(".")[2].lower() if file and "." in file else ""
    named = next((name for name in FORMATS if suffix in suffixes_of(name)), suffix)
    return next((name for name in (named, suffix) if name in choices), None)
