"""The page: its template, style and script, a head of figures, and packs of pairs."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import mmap
import re
import weakref
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import count
from typing import Any

from planner_eval.base.errors import RenderError
from planner_eval.base.formats import DEFAULT
from planner_eval.base.resources import read
from planner_eval.base.text import JsonObject, json_safe, printable
from planner_eval.comparison.diff import Diff
from planner_eval.comparison.explanation.edits import EDITS
from planner_eval.comparison.rows import STATES
from planner_eval.plan.model import Plan
from planner_eval.results.codes import label_meanings
from planner_eval.results.drawing import Drawable, render
from planner_eval.results.drawing.scene import visible_text
from planner_eval.results.page.lines import COLUMNS, IndexEntry, pack_edit, plan_data, short_json

# ----------------------------------------------------------------------
# The page: its template, style and script, a head of figures, and packs of pairs.
SCHEMA = "planeval.page/1"

SCRIPTS = (
    "dom.js", "data.js", "state.js", "filter.js", "list.js", "scene.js", "layout.js", "draw.js", "texts.js",
    "verdicts.js", "conversation.js", "pair.js", "overview.js", "compare.js", "pairs.js", "main.js",
)  # fmt: skip
"""The files of the page's script, in their order."""

_FOLDER = "viz/report/"
_PLACEHOLDER = re.compile(r"{{(\w+)}}")
_UNSAFE = re.compile("[<\u2028\u2029\ud800-\udfff]")


def page(head: Mapping[str, Any], packs: Iterable[bytes]) -> Iterator[str]:
    """A page, in pieces: the same head and packs give the same bytes.

    Args:
        head: What the page says before any pair is looked at; its title also names the document.
        packs: What it holds, compressed.

    >>> "".join(page({"title": "a <b>"}, [b"AA=="])).count("<b>")
    0
    """
    template = read(f"{_FOLDER}page.html")
    values = {
        "style": join_page_files("drawing.css", "style.css"),
        "script": join_page_files(*SCRIPTS),
    }
    values |= {f"{name}_hash": _hash(text) for name, text in values.items()}
    head = {**head, "terms": label_meanings(_figure_names(head))}
    values |= {"title": html.escape(visible_text(printable(str(head["title"])))), "head": escape_json(head)}
    before, _, after = template.partition("{{packs}}")
    yield _fill_template(before, values)
    for number, pack in enumerate(packs):
        lead = "\n" if number else ""
        yield f'{lead}<script type="application/octet-stream" id="pack-{number}">{pack.decode()}</script>'
    yield _fill_template(after, values)


def _figure_names(head: Mapping[str, Any]) -> Iterator[str]:
    """The names of the figures that a page shows."""
    for run in head.get("runs", ()):
        yield from (figure["name"] for figure in run.get("figures", ()))
    yield from (figure["name"] for figure in head.get("compare", {}).get("figures", ()))


def join_page_files(*names: str) -> str:
    """Files of the page as one text.

    >>> "sceneView" in join_page_files("scene.js", "draw.js")
    True
    """
    return "\n".join(read(_FOLDER + name) for name in names)


def escape_json(data: Any) -> str:
    r"""Data as JSON that no page takes for markup.

    >>> escape_json({"a": "</script>"})
    '{"a":"\\u003c/script>"}'
    """
    return _UNSAFE.sub(lambda m: f"\\u{ord(m[0]):04x}", json_safe(short_json(data)))


def _fill_template(template: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: values[match[1]], template)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


# ----------------------------------------------------------------------
# Lines of pairs as packs: an index of all, details and gold plans a thousand at a time, each compressed.
PACK_SIZE = 1_000
"""Pairs of a pack."""

_COMPRESSION_LEVEL = 9
_GZIP_WINDOW_BITS = 31
_COLUMN_COUNT = len(COLUMNS)
_parse_json = json.JSONDecoder().decode


class LineSpool:
    """Lines of pairs on their way into a file, and where each begins.

    Args:
        stream: The file, open to be read, and to be written where it is not yet.
        keeps: What keeps the file there.
    """

    def __init__(self, stream: Any, keeps: object = None) -> None:
        self.stream, self.keeps = stream, keeps
        self._mapped: Any = None
        weakref.finalize(self, stream.close)

    def extend(self, lines: Iterable[str]) -> None:
        """Write more lines."""
        for line in lines:
            self.stream.write(line.encode("utf-8", "backslashreplace") + b"\n")

    def heads(self) -> Iterator[tuple[int, bytes, bytes]]:
        """Of each line where it begins, what the index has of it, and its gold plan with the question."""
        self.stream.seek(0)
        offset = 0
        for line in self.stream:
            index, gold, question, _ = line.split(b"\t", 3)
            yield offset, index, gold + b"\t" + question
            offset += len(line)

    def at(self, offset: int) -> list[bytes]:
        """The fields of the line that begins there."""
        if self._mapped is None:  # pairs are asked for in another order: each would be a seek and a read
            self.stream.flush()
            self._mapped = mmap.mmap(self.stream.fileno(), 0, access=mmap.ACCESS_READ)
        self._mapped.seek(offset)
        line: bytes = self._mapped.readline()
        return line.rstrip(b"\n").split(b"\t")

    def counts(self) -> Iterator[bytes]:
        """What metrics counted in each pair, as JSON."""
        self.stream.seek(0)
        for line in self.stream:
            yield line[line.rindex(b"\t") + 1 :]


class SystemIndex:
    """One system's pairs in the page: what the index has of each, by number."""

    def __init__(self) -> None:
        self.places: list[int] = []
        self.golds: list[int] = []
        self.columns: dict[str, list[Any]] = {
            name: [] for name in ("state", "codes", "tools", "arguments", "score", "first")
        }


class Packs:
    """What a page holds of pairs.

    Args:
        sheaves: The lines of one system, or of two.
        failures: Leave out pairs that are the same, in both where there are two.
        limit: How many pairs are taken; all when None.
        states: What can become of a pair; that it is right comes first.
    """

    def __init__(
        self,
        sheaves: Sequence[LineSpool],
        *,
        failures: bool = False,
        limit: int | None = None,
        states: Mapping[str, str] = STATES,
    ) -> None:
        self.sheaves = sheaves
        self.states = states
        numbers = {state: number for number, state in enumerate(states)}
        self.strings: dict[str, int] = defaultdict(count().__next__)
        self.lists: dict[tuple[int, ...], int] = defaultdict(count().__next__)
        self.gold_numbers: dict[bytes, int] = {}
        self.gold_places: list[tuple[LineSpool, int]] = []
        """Where each of the distinct gold plans, with its question, stands first."""
        self.ids: list[str] = []
        self.fields: dict[str, list[int]] = {}
        self.sides = [SystemIndex() for _ in sheaves]
        self.codes = Counter[str]()
        self.taken = [Counter[tuple[str | None, str | None]]() for _ in sheaves]
        """Of each system which tool was taken for which, in how many pairs."""
        self.found = 0
        heads: Sequence[_Head | None]
        for heads in _join_heads(sheaves):
            for counter, head in zip(self.taken, heads, strict=True):
                counter.update(
                    {(gold_tool, pred_tool) for gold_tool, pred_tool in head[1].taken} if head else ()
                )
            states_of_pair = [None if h is None else h[1].state for h in heads]
            if failures and all(state is None or not numbers[state] for state in states_of_pair):
                continue
            self.found += 1
            if limit is None or len(self.ids) < limit:
                self._add(heads, numbers)
        self.order = sorted(range(len(self.ids)), key=lambda i: (self.sides[0].golds[i], i))

    def _add(self, heads: Sequence[_Head | None], numbers: Mapping[str, int]) -> None:
        first_head = next(h for h in heads if h is not None)
        for name, value in first_head[1].fields.items():
            column = self.fields.setdefault(name, [])
            column += [-1] * (len(self.ids) - len(column))
            column.append(self.strings[value])
        self.ids.append(first_head[1].id)
        codes: dict[str, None] = {}
        for system, sheaf, head in zip(self.sides, self.sheaves, heads, strict=True):
            offset, index, gold = head if head is not None else (-1, _ABSENT_ENTRY, b"null\tnull")
            system.places.append(offset)
            system.golds.append(self._number_gold(gold, sheaf, offset))
            lists = [
                self.lists[tuple(self.strings[text] for text in texts)]
                for texts in (index.codes, index.tools, index.arguments)
            ]
            values: tuple[Any, ...] = (numbers[index.state], *lists, index.score, index.first)
            for column, value in zip(system.columns.values(), values, strict=True):
                column.append(value)
            codes.update(dict.fromkeys(index.codes))
        self.codes.update(list(codes))

    def _number_gold(self, text: bytes, sheaf: LineSpool, offset: int) -> int:
        """The number of a gold plan; -1 of none."""
        if text == b"null\tnull":
            return -1
        key = blake2b(text, digest_size=16).digest()
        number = self.gold_numbers.setdefault(key, len(self.gold_places))
        if number == len(self.gold_places):
            self.gold_places.append((sheaf, offset))
        return number

    @property
    def index(self) -> JsonObject:
        """The index of all pairs."""
        for column in self.fields.values():
            column += [-1] * (len(self.ids) - len(column))
        return {
            "codes": list(EDITS),
            "states": list(self.states),
            "strings": list(self.strings),
            "lists": [list(items) for items in self.lists],
            "id": self.ids,
            "fields": self.fields,
            "sides": [
                {
                    "gold": _delta_encode(side.golds),
                    **{name: [column[i] for i in self.order] for name, column in side.columns.items()},
                }
                for side in self.sides
            ],
        }

    @property
    def detail_packs(self) -> int:
        """How many packs hold pairs."""
        return -(-len(self.ids) // PACK_SIZE)

    @property
    def count(self) -> int:
        """How many packs there are."""
        return 1 + self.detail_packs + -(-len(self.gold_places) // PACK_SIZE)

    def __iter__(self) -> Iterator[bytes]:
        """The packs: the index, then those of pairs, then those of gold plans."""
        yield compress_data(short_json(self.index).encode("utf-8", "backslashreplace"))
        for first in range(0, len(self.order), PACK_SIZE):
            chunk = self.order[first : first + PACK_SIZE]
            columns = [_columns(s, sheaf, chunk) for s, sheaf in zip(self.sides, self.sheaves, strict=True)]
            yield compress_data(b"[" + b",".join(columns) + b"]")
        for first in range(0, len(self.gold_places), PACK_SIZE):
            rows = [sheaf.at(offset)[1:3] for sheaf, offset in self.gold_places[first : first + PACK_SIZE]]
            yield compress_data(_join_columns(rows))


_Head = tuple[int, IndexEntry, bytes]
_ABSENT_ENTRY = IndexEntry("", "gold_absent")


def _columns(system: SystemIndex, sheaf: LineSpool, chunk: Sequence[int]) -> bytes:
    """The columns of some pairs as one JSON text."""
    nothing = [b"null"] * _COLUMN_COUNT
    rows = [sheaf.at(offset)[3:-1] if (offset := system.places[i]) >= 0 else nothing for i in chunk]
    return _join_columns(rows)


def _join_columns(rows: Iterable[Sequence[bytes]]) -> bytes:
    return b"[[" + b"],[".join(map(b",".join, zip(*rows, strict=True))) + b"]]"


def _join_heads(sheaves: Sequence[LineSpool]) -> Iterator[tuple[_Head | None, ...]]:
    """The heads of one system's pairs, or of two systems' pairs of one name."""
    if len(sheaves) == 1:
        for alone in _heads(sheaves[0]):
            yield (alone,)
        return
    remaining = {h[1].id: h for h in _heads(sheaves[1])}
    for head in _heads(sheaves[0]):
        yield head, remaining.pop(head[1].id, None)
    for other in remaining.values():
        yield None, other


def _heads(sheaf: LineSpool) -> Iterator[_Head]:
    return ((offset, IndexEntry(*_parse_json(index.decode())), gold) for offset, index, gold in sheaf.heads())


def _delta_encode(numbers: Sequence[int]) -> list[int]:
    """Numbers by how far each is from the one before, plus one: 0 where they count up.

    >>> _delta_encode([0, 1, 2, 0])
    [0, 0, 0, -3]
    """
    return [n - before - 1 for before, n in zip([-1, *numbers], numbers, strict=False)]


def compress_data(data: bytes) -> bytes:
    """Data as a page holds it: gzip without a time, in base64.

    >>> compress_data(b"[]") == compress_data(b"[]")
    True
    """
    squeeze = zlib.compressobj(_COMPRESSION_LEVEL, zlib.DEFLATED, _GZIP_WINDOW_BITS, 9)
    return base64.b64encode(squeeze.compress(data) + squeeze.flush())


# ----------------------------------------------------------------------
# How a notebook and print() show a plan or a diff; they ask by name, for they know nothing of drawing.
def notebook_svg(thing: Drawable) -> str | None:
    """The thing as SVG, or None where nothing can draw it."""
    try:
        return render(thing).decode()
    except RenderError:
        return None


def visible_lines(text: str) -> str:
    r"""A text whose lines stay lines, with everything that would hide or move text as an escape.

    >>> visible_lines("a\nb\u202e")
    'a\nb\\u202e'
    """
    return "\n".join(map(visible_text, text.split("\n")))


def plan_text(thing: Drawable) -> str:
    """The thing as the command line lists it, without a last line end."""
    return render(thing, format=DEFAULT).decode().rstrip("\n")


# ----------------------------------------------------------------------
# How a notebook shows a plan or a diff where Graphviz is missing: drawn by the page's script, or listed.
NOTEBOOK_SCRIPTS = ("dom.js", "scene.js", "layout.js", "draw.js", "notebook.js")
"""The files of the script, in their order."""


def notebook_listing(thing: Plan | Diff) -> str | None:
    """The thing as the command line tells it, with a script that draws it; None where Graphviz draws it.

    What a notebook does not trust it shows without the script: then the listing stays. Foreign text is data:
    markup in it is escaped.
    """
    if notebook_svg(thing) is not None:
        return None
    data = {
        "style": join_page_files("drawing.css"),
        **({"pred": plan_data(thing)} if isinstance(thing, Plan) else _diff_data(thing)),
    }
    return (
        f'<div class="planeval-drawing"><pre>{html.escape(visible_lines(str(thing)))}</pre>'
        f'<script type="application/json">{escape_json(data)}</script>'
        f"<script>(() => {{\n{join_page_files(*NOTEBOOK_SCRIPTS)}}})();</script></div>"
    )


def _diff_data(diff: Diff) -> JsonObject:
    """Both plans, which calls stand for which, and the edits, as the script of a page has them."""
    edits = []
    for edit in diff.edits:
        _, *edit_fields, also = pack_edit(edit) if edit.also else [*pack_edit(edit), []]
        edits.append([edit.code, *edit_fields, also])
    aligned = [[gold, pred] for pred, gold, *_ in diff.alignment.pairs]
    return {"gold": plan_data(diff.gold), "pred": plan_data(diff.pred), "aligned": aligned, "edits": edits}
