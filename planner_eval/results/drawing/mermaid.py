"""From a scene to a Mermaid flowchart, with the same roles as classes, link kinds and signs."""

from __future__ import annotations

import re

from planner_eval.base.text import shorten
from planner_eval.plan.model import Diagnostic
from planner_eval.results.drawing.scene import (
    WHOLE_CALL_ROLES,
    Arrow,
    Box,
    Scene,
    generations,
    group_boxes,
    unconnected_rows,
    vertical_pairs,
)
from planner_eval.results.drawing.themes import Role, Theme

# Mermaid reads entities, HTML, Markdown (emphasis, links, addresses, lists), icons (fa:fa-car),
# directives (%%) and formulas ($$) in a label; what is written as an entity is left alone.
_SPECIAL = re.compile(
    r"[^\w\s.,=()\[\]/:-]|_"
    r"|:(?!\s)|(?<=www)\.|\](?=\()"  # addresses, icons, links
    r"|^[-\d]",  # lists
    re.ASCII,
)
MAX_TEXT = 50_000
MAX_EDGES = 500
"""What Mermaid draws unless its settings maxTextSize and maxEdges say more."""

WRAPPING_DIRECTIVE = '%%{init: {"flowchart": {"wrappingWidth": 420}}}%%'
"""Lets an argument stand on one line; Mermaid breaks lines at 200 pixels otherwise."""

_DASH_PATTERNS = {"dashed": "6 4", "dotted": "2 4"}
_LINK_SYNTAX = {"dashed": "-.->", "dotted": "-.->", "bold": "==>"}


def to_mermaid(scene: Scene, theme: Theme) -> str:
    """The scene as a Mermaid flowchart.

    Args:
        scene: What is drawn.
        theme: Its colours and lines.

    Returns:
        Text for a ``mermaid`` block; the same scene gives the same text.
    """
    direction = dict(scene.layout).get("rankdir") or theme.graph.get("rankdir", "TB")
    lines = [f"flowchart {direction}", f"    {WRAPPING_DIRECTIVE}"]
    number = 0
    for panel, apps in group_boxes(scene.boxes).items():
        inside: list[str] = []
        for app, members in apps.items():
            nodes = [f"    {_node(position, scene.boxes[position], theme)}" for position in members]
            inside += nodes if app is None else _frame(f"app{number}", app, nodes, theme)
            number += app is not None
        lines += _frame(f"panel{number}", panel, inside, theme) if panel else inside
    lines += [f"    {_link(arrow, theme)}" for arrow in scene.arrows]
    hidden = [f"    c{upper} ~~~ c{lower}" for upper, lower in vertical_pairs(unconnected_rows(scene))]
    styles: dict[str, list[int]] = {}
    for number, arrow in enumerate(scene.arrows):
        styles.setdefault(arrow.role, []).append(number)
    lines += [*hidden, *_caption(scene, theme)]
    for name, numbers in styles.items():
        which = ",".join(map(str, numbers))
        lines.append(f"    linkStyle {which} {_line_style(theme.roles[name])}")
    used = dict.fromkeys([*(box.role for box in scene.boxes), *scene.legend])
    lines += [f"    classDef {name} {_box_style(theme.roles[name])}" for name in used]
    return "\n".join(lines) + "\n"


def size_diagnostics(text: str, edges: int) -> tuple[Diagnostic, ...]:
    """Why Mermaid could refuse a flowchart in its usual settings."""
    reasons = []
    if len(text) > MAX_TEXT:
        reasons.append(f"{len(text):,} characters; Mermaid draws {MAX_TEXT:,} unless maxTextSize is raised")
    if edges > MAX_EDGES:
        reasons.append(f"{edges:,} references; Mermaid draws {MAX_EDGES} unless maxEdges is raised")
    return tuple(Diagnostic("render.mermaid", reason) for reason in reasons)


def escape_label(text: str) -> str:
    """Text as it may stand between a Mermaid label's quotes: everything special as an entity.

    >>> escape_label('<b> = "50%"')
    '#60;b#62; = #34;50#37;#34;'
    """
    return _SPECIAL.sub(lambda m: m[0] if m[0] > "\x7f" else f"#{ord(m[0])};", text)


def _frame(name: str, title: str, inside: list[str], theme: Theme) -> list[str]:
    """A subgraph around what is inside."""
    head = f'    subgraph {name}["{escape_label(shorten(title, 2 * theme.width))}"]'
    look = theme.cluster
    fill, stroke = look.get("fillcolor", "none"), look.get("color", "#808080")
    style = f"fill:{fill},stroke:{stroke},color:{look.get('fontcolor', theme.text)}"
    return [head, *(f"    {line}" for line in inside), "    end", f"    style {name} {style}"]


def _node(position: int, box: Box, theme: Theme) -> str:
    role = theme.roles[box.role]
    title = shorten(f"{role.sign} {box.title}".strip(), theme.width) + box.after
    lines = [f"<b>{escape_label(title)}</b>"]
    if box.mark:
        lines.append(f"<i>{escape_label(shorten(box.mark, theme.width))}</i>")
    if box.gold:
        lines.append(escape_label(shorten(f"gold: {box.gold}", theme.width)))
    for row in box.rows:
        sign = theme.roles[row.role].sign if box.role not in WHOLE_CALL_ROLES else ""
        lines.append(escape_label(f"{sign} {shorten(row.text, theme.width)}".strip()))
        if row.gold:
            lines.append(escape_label(shorten(row.gold, theme.width)))
    return f'c{position}["{"<br/>".join(lines)}"]:::{box.role}'


def _link(arrow: Arrow, theme: Theme) -> str:
    role = theme.roles[arrow.role]
    label = escape_label(shorten(f"{role.sign} {arrow.label}".strip(), theme.label_width))
    label_text = f'|"{label}"|' if label else ""
    line = "--x" if arrow.role == "wrong" else _LINK_SYNTAX.get(role.line.get("style", ""), "-->")
    return f"c{arrow.tail} {line}{label_text} c{arrow.head}"


def _caption(scene: Scene, theme: Theme) -> list[str]:
    """The summary, notes and legend in a subgraph of their own."""
    captions = [text for text in (scene.summary, *scene.notes) if text]
    if not captions and not scene.legend:
        return []
    title = escape_label(". ".join([*captions, *["Legend:"] * bool(scene.legend)]))
    below: list[str] = []
    lines = [f'    subgraph legend["{title}"]', "        direction LR"]
    for name in scene.legend:
        role = theme.roles[name]
        lines.append(f'        legend_{name}["{escape_label(f"{role.sign} {role.word}".strip())}"]:::{name}')
    row = " ~~~ ".join(f"legend_{name}" for name in scene.legend)  # unseen links keep them in a row
    lines += [f"        {row}"] if len(scene.legend) > 1 else []
    if scene.boxes:  # below the last call, not beside the first
        below.append(f"    c{generations(scene)[-1][-1]} ~~~ legend")
    return [*lines, "    end", *below, "    style legend fill:none,stroke:none"]


def _box_style(role: Role) -> str:
    box = role.box
    declarations = [
        f"fill:{box.get('fillcolor', '#ffffff')}",
        f"stroke:{box.get('color', '#000000')}",
        f"stroke-width:{box.get('penwidth', '1')}px",
        f"color:{role.text}",
        "text-align:left",
    ]
    dash = next((d for style, d in _DASH_PATTERNS.items() if style in box.get("style", "")), "")
    return ",".join([*declarations, *([f"stroke-dasharray:{dash}"] if dash else [])])


def _line_style(role: Role) -> str:
    line = role.line
    color = line.get("color", "#000000").partition(":")[0]
    declarations = [f"stroke:{color}", f"stroke-width:{line.get('penwidth', '1')}px", f"color:{role.text}"]
    dash = _DASH_PATTERNS.get(line.get("style", ""), "")
    return ",".join([*declarations, *([f"stroke-dasharray:{dash}"] if dash else [])])
