"""What is to be drawn, before any notation: boxes, arrows, their roles and the legend."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from planner_eval.base.resources import read
from planner_eval.base.text import format_count, printable
from planner_eval.plan import graph
from planner_eval.plan.graph import group_by_level, levels_in_steps
from planner_eval.plan.model import Path, Ref, Unresolved, Value, fold

MAX_BOXES = 300
"""Calls of one drawing, unless more are asked for by force."""

BOXES_PER_ROW = 4
"""Boxes without arrows that stand beside one another, so that letters stay large enough to be read."""

ROLES = ("plain", "kept", "missing", "extra", "changed", "wrong", "inferred", "ok", "failed", "skipped")
"""The roles that every theme must define."""

WHOLE_CALL_ROLES = ("missing", "extra", "ok", "failed", "skipped")
"""Roles of a call that all its arguments share: their signs would only repeat it."""


@dataclass(frozen=True, slots=True)
class ArgumentLine:
    """One argument in a box.

    Args:
        role: The argument's role.
        text: Name and value, e.g. ``city = "Rome"`` or ``hotel ← search.id``.
        gold: What gold has there, where that differs, e.g. ``gold: "Paris"`` or ``gold's name: town``.
    """

    role: str
    text: str
    gold: str = ""


@dataclass(frozen=True, slots=True)
class Box:
    """One call, or one tool of a condensed drawing.

    Args:
        title: The call's name, unique in its scene; of a diff together with its place.
        role: The call's role.
        tool: The tool's name, by which calls are condensed.
        app: The app it belongs to.
        id: The call's id in its plan.
        rows: Its arguments.
        gold: The name gold gives it, where that differs.
        count: How many calls it stands for.
        panel: The panel that the app's frame stands in, of a drawing of several sources.
        place: Which call it is, of two plans, e.g. ``call 2, gold's 3``.
        mark: Whether its mistakes are causes, or follow from others.
    """

    title: str
    role: str
    tool: str
    app: str | None = None
    id: str = ""
    rows: tuple[ArgumentLine, ...] = ()
    gold: str = ""
    count: int = 1
    panel: str = ""
    place: str = ""
    mark: str = ""

    @property
    def after(self) -> str:
        """What stands behind the title: how many calls it stands for, or which call it is."""
        if self.count > 1:
            return f" ×{self.count:,}"
        return f" ({self.place})" if self.place else ""


@dataclass(frozen=True, slots=True)
class Arrow:
    """One reference, or several between two boxes of a condensed drawing.

    Args:
        tail: Position of the producer's box.
        head: Position of the consumer's box.
        role: The reference's role.
        label: ``output → argument``.
        count: How many references it stands for.
    """

    tail: int
    head: int
    role: str
    label: str = ""
    count: int = 1


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that one drawing shows.

    Args:
        boxes: The calls.
        arrows: The references.
        summary: One sentence below the drawing.
        legend: The roles that the legend explains.
        notes: What a reader has to know about the drawing itself.
        layout: DOT attributes of the whole drawing that it asks for, over the theme's.
        steps: The number of each call's written step, where steps are generations.
    """

    boxes: tuple[Box, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    summary: str = ""
    legend: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    layout: tuple[tuple[str, str], ...] = ()
    steps: tuple[int, ...] = ()

    @property
    def crowded(self) -> bool:
        """Whether the layout could take minutes: over 300 boxes, or arrows over twice the boxes + 100."""
        return len(self.boxes) > MAX_BOXES or len(self.arrows) > 2 * len(self.boxes) + 100


def group_boxes(boxes: Sequence[Box]) -> dict[str, dict[str | None, list[int]]]:
    """Panel → app → positions of its boxes, in order of first appearance; those without an app first.

    >>> group_boxes([Box("f", "plain", "f", "A"), Box("g", "plain", "g")])
    {'': {None: [1], 'A': [0]}}
    """
    panels: dict[str, dict[str | None, list[int]]] = {}
    for position, box in enumerate(boxes):
        panels.setdefault(box.panel, {None: []}).setdefault(box.app, []).append(position)
    return {panel: {app: ps for app, ps in apps.items() if ps} for panel, apps in panels.items()}


def unconnected_rows(scene: Scene) -> list[list[int]]:
    """Boxes without arrows in rows, where they are too many for one: those of an app stand together.

    A drawing that asks for a layout of its own is left alone.

    >>> unconnected_rows(Scene(tuple(Box(f"f#{i}", "plain", "f") for i in range(6))))
    [[0, 1, 2, 3], [4, 5]]
    """
    joined = {end for arrow in scene.arrows for end in (arrow.tail, arrow.head)}
    if scene.layout or len(scene.boxes) - len(joined) <= BOXES_PER_ROW:
        return []
    rows: list[list[int]] = []
    room = 0
    for members in (members for apps in group_boxes(scene.boxes).values() for members in apps.values()):
        alone = [position for position in members if position not in joined]
        if len(alone) > room:
            rows += [alone[start : start + BOXES_PER_ROW] for start in range(0, len(alone), BOXES_PER_ROW)]
            room = BOXES_PER_ROW - len(alone)
        elif alone:
            rows[-1] += alone
            room -= len(alone)
    return rows


def vertical_pairs(rows: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """The pairs of boxes of which one stands below the other, so that rows stand below one another."""
    return [
        (upper[min(index, len(upper) - 1)], box)
        for upper, lower in pairwise(rows)
        for index, box in enumerate(lower)
    ]


def unique_titles(tools: Sequence[tuple[str | None, str]]) -> list[str]:
    """A title a call: its name, with the app where only that tells names apart, else with a number.

    Args:
        tools: The app and the name of each call.

    >>> unique_titles([(None, "f"), ("A", "g"), ("B", "g"), ("C", "h"), ("C", "h")])
    ['f', 'A.g', 'B.g', 'h#1', 'h#2']
    """
    by_name = Counter(name for _, name in tools)
    by_tool = Counter(tools)
    apps = Counter(name for _, name in by_tool)
    seen: Counter[str] = Counter()
    titles = []
    for app, name in tools:
        title = name if by_name[name] == 1 or apps[name] == 1 or not app else f"{app}.{name}"
        if by_tool[app, name] > 1:
            seen[title] += 1
            title = f"{title}#{seen[title]}"
        titles.append(title)
    return titles


def condense(scene: Scene) -> Scene:
    """The scene with one box a tool and role, and counted arrows between them.

    >>> calls = tuple(Box(f"f#{i}", "plain", "f") for i in (1, 2))
    >>> condense(Scene(calls, (Arrow(0, 1, "plain", "a → b"),))).boxes[0].count
    2
    """
    groups: dict[tuple[str | None, str, str], list[int]] = {}
    for position, box in enumerate(scene.boxes):
        groups.setdefault((box.app, box.tool, box.role), []).append(position)
    group_of = {position: group for group, positions in enumerate(groups.values()) for position in positions}
    boxes = tuple(
        Box(tool, role, tool, app, count=len(positions)) for (app, tool, role), positions in groups.items()
    )
    arrows = Counter((group_of[a.tail], group_of[a.head], a.role) for a in scene.arrows)
    note = (
        "condensed: each box is a tool, and ×n is how often it is called; in all "
        f"{format_count(len(scene.boxes), 'call')} and "
        f"{format_count(len(scene.arrows), 'reference')}"
    )
    return replace(
        scene,
        boxes=boxes,
        arrows=tuple(Arrow(*key, label=f"×{n}", count=n) for key, n in arrows.items()),
        notes=(*scene.notes, note),
        steps=(),
    )


def generations(scene: Scene) -> list[list[int]]:
    """The boxes in generations: each needs only boxes of earlier ones.

    Two plans laid over one another can make a circle that neither has; then the box that waits for
    the fewest others goes first.

    >>> generations(Scene((Box("f", "plain", "f"), Box("g", "plain", "g")), (Arrow(1, 0, "plain"),)))
    [[1], [0]]
    """
    needs: list[set[int]] = [set() for _ in scene.boxes]
    for arrow in scene.arrows:
        if arrow.tail != arrow.head:
            needs[arrow.head].add(arrow.tail)
    if scene.steps:
        after = (max(scene.steps) + 1,) * (len(scene.boxes) - len(scene.steps))  # the answer
        return group_by_level(
            levels_in_steps([sorted(producers) for producers in needs], scene.steps + after)
        )
    return list(graph.generations(needs, enter=_pick_from_cycle))


def _pick_from_cycle(waiting: list[int]) -> list[int]:
    left = (position for position, count in enumerate(waiting) if count > 0)
    return [min(left, key=lambda position: (waiting[position], position))]


# ----------------------------------------------------------------------
# What stands in a drawing: foreign text made safe, values and references in words.
_ALSO_UNSAFE = re.compile("[\t\n\u061c\ufffe\uffff\U000e0000-\U000e0fff]")
_SCALARS = (str, int, float, bool, type(None))
_encode_json = json.JSONEncoder(ensure_ascii=False).encode


def visible_text(text: str) -> str:
    r"""The text on one line, with everything that would hide, move or break other text as an escape.

    On top of what terminals cannot take, these are the characters that XML cannot.

    >>> visible_text("a\nb\x00c\ud800")
    'a\\nb\\x00c\\ud800'
    """
    if text.isprintable():
        return text
    return _ALSO_UNSAFE.sub(lambda m: ascii(m[0])[1:-1], printable(text))


def name_text(name: str) -> str:
    """A name as it is shown: visible, in quotes where there would be nothing to see.

    >>> name_text("search"), name_text(" ")
    ('search', '" "')
    """
    return visible_text(name) if name.strip() else f'"{visible_text(name)}"'


def path_text(path: Path) -> str:
    """A path as it is written behind a name.

    >>> path_text(("flights", 0, "id"))
    'flights[0].id'
    """
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def reference_text(name: str, path: Path) -> str:
    """A call's output in words.

    >>> reference_text("search", ("flights", 0)), reference_text("search", ())
    ('search.flights[0]', 'search')
    """
    if not path:
        return name
    return f"{name}{'' if isinstance(path[0], int) else '.'}{path_text(path)}"


def value_text(value: Value, name_of: Callable[[int], str]) -> str:
    """A value as JSON on one line, references as ``← producer.output``; nothing is cut.

    Args:
        value: A linked value.
        name_of: The name of the call at a position.

    >>> value_text({"to": [Ref(0, ("city",)), "x"]}, ["search"].__getitem__)
    '{"to": [← search.city, "x"]}'
    """

    def leaf(value: Value) -> str:
        if isinstance(value, Ref):
            return f"← {reference_text(name_of(value.call), value.path)}"
        if isinstance(value, Unresolved):
            return f"← ?{reference_text(value.name, value.path)}"
        return _scalar_text(value) if isinstance(value, _SCALARS) else repr(value)

    def text(pieces: tuple[Value, ...]) -> str:
        texts = (
            _scalar_text(piece)[1:-1] if isinstance(piece, str) else f"{{{leaf(piece)}}}" for piece in pieces
        )
        return f'"{"".join(texts)}"'

    def fields(members: dict[str, str]) -> str:
        return f"{{{', '.join(f'{_scalar_text(key)}: {item}' for key, item in members.items())}}}"

    rendered: str = fold(
        value, leaf, items=lambda elements: f"[{', '.join(elements)}]", fields=fields, text=text
    )
    return visible_text(rendered)


def _scalar_text(value: Value) -> str:
    try:
        return _encode_json(value)
    except ValueError:  # more digits than Python writes in decimal
        return hex(value)


# ----------------------------------------------------------------------
# How wide a text can become, whichever font of a theme's stack a reader has.
#
# Graphviz measures with a font of the machine that draws; an SVG is shown with one of the machine that
# reads. So boxes are made for the widest of the usual fonts, whose advance widths ``viz/fonts`` holds.
WIDTHS_FILE = "viz/fonts/widths.json"
BLANK_WIDTH, WIDE_LETTER_WIDTH, PICTOGRAM_WIDTH, UNKNOWN_WIDTH = 0, 1_000, 1_400, 1_100
"""Thousandths of an em of what the table lacks: marks, East Asian letters, emoji, and all others."""


def text_width(text: str, size: float, *, bold: bool = False) -> int:
    """The room that a text needs in the widest font, in whole points.

    Args:
        text: One line.
        size: The font's size in points.
        bold: Whether it stands in bold.

    >>> text_width("get_rate", 11), text_width("get_rate", 11, bold=True), text_width("예약", 10)
    (47, 53, 20)
    """
    widths = _char_widths(bold)
    total = 0
    for char in text:
        char_width = widths.get(char)
        total += _unlisted_char_width(char) if char_width is None else char_width
    return math.ceil(total * size / 1_000)


@cache
def _char_widths(bold: bool) -> dict[str, int]:
    blocks = json.loads(read(WIDTHS_FILE))["bold" if bold else "regular"]
    return {
        chr(int(first, 16) + k): wide
        for first, widths in blocks.items()
        for k, wide in enumerate(widths)
        if wide is not None
    }


def _unlisted_char_width(char: str) -> int:
    category = unicodedata.category(char)
    if category in ("Mn", "Me", "Cf"):
        return BLANK_WIDTH
    if unicodedata.east_asian_width(char) in "WF":
        return PICTOGRAM_WIDTH if category == "So" else WIDE_LETTER_WIDTH
    return UNKNOWN_WIDTH
