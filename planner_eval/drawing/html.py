"""A report of many compared pairs in one HTML file: drawings, edits, both texts, filters.

The page loads nothing: style, script and drawings are inside. All foreign text is escaped, and the
page's own policy forbids everything but its own style and script.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from planner_eval._version import __version__
from planner_eval.base.resources import read
from planner_eval.base.text import printable
from planner_eval.comparison.contrast import marked
from planner_eval.comparison.diff import Diff
from planner_eval.comparison.habits import told_lines
from planner_eval.comparison.structure_report import structure_lines
from planner_eval.drawing import render, render_many
from planner_eval.drawing.labels import visible
from planner_eval.plan.model import Plan
from planner_eval.records.rows import STATES, Row

MAX_TEXT = 20_000
"""Characters of a prediction or a gold plan that the report shows."""


def report(
    rows: Sequence[Row],
    *,
    title: str,
    theme: str = "default",
    deadline: float = 10.0,
    structure: bool = False,
) -> Iterator[str]:
    """Write the report.

    Args:
        rows: What became of each pair.
        title: The page's heading.
        theme: The drawings' theme.
        deadline: Seconds for the layout of one drawing.
        structure: Tell how the structure of each pair differs, call by call.

    Yields:
        The page in parts; the same rows give the same page.

    Raises:
        InputError: there is no such theme.
    """
    head, foot = _page(rows, title)
    yield head
    drawings = render_many((row.diff for row in rows if row.diff is not None), theme=theme, deadline=deadline)
    for row in rows:
        drawn = ""
        if row.diff is not None:
            drawing = next(drawings)
            drawn = _inline(drawing.data.decode()) if not drawing.error else _listing(row.diff, drawing.error)
        yield _row(row, drawn, structure_lines(row.diff, whole=structure))
    yield foot


def _page(rows: Sequence[Row], title: str) -> tuple[str, str]:
    """The page before and after the rows."""
    states = Counter(row.state for row in rows)
    codes = Counter(edit.code for row in rows if row.diff is not None for edit in row.diff.edits)
    present = [state for state in STATES if states[state]]
    parts = {
        "title": _text(title),
        "total": _text(f"{len(rows):,} pairs: " + ", ".join(f"{states[s]:,} {_words(s)}" for s in present)),
        "bar": "".join(
            f'<span class="{s}" style="flex:{states[s]}" title="{states[s]:,} {_words(s)}"></span>'
            for s in present
        ),
        "states": "".join(
            f'<button type="button" data-state="{s}" aria-pressed="true" title="{_text(STATES[s])}">'
            f"{_words(s)} {states[s]:,}</button>"
            for s in present
        ),
        "codes": "".join(
            f'<option value="{_text(code)}">{_text(code)} ({count:,})</option>'
            for code, count in codes.most_common()
        ),
        "footer": f"planeval {__version__}",
        "style": read("viz/report/style.css"),
        "script": read("viz/report/script.js"),
    }
    head, _, foot = read("viz/report/page.html").partition("{{rows}}")
    return _filled(head, parts), _filled(foot, parts)


def _filled(template: str, parts: dict[str, str]) -> str:
    return re.sub(r"{{(\w+)}}", lambda m: parts[m[1]], template)


def _row(row: Row, drawn: str, structure: str) -> str:
    edits = row.diff.edits if row.diff is not None else ()
    codes = " ".join(dict.fromkeys(_text(edit.code) for edit in edits))
    first = edits[0].message if edits else (row.error or STATES[row.state]).split("\n")[0]
    texts = "".join(
        f"<section><h2>{name}</h2><pre>{_text(said)}</pre></section>"
        for name, plan in (("prediction", row.pred), ("gold", row.gold))
        if (said := _source(plan))
    )
    ran = f"<pre>{_text(row.in_effect)}</pre>" if row.effects is not None else ""
    error = f"<pre>{_text(row.error)}</pre>" if row.error else ""
    shape = f'<pre class="structure">{_text(structure)}</pre>' if structure else ""
    return (
        f'<details class="{row.state}" data-state="{row.state}" data-codes="{codes}">'
        f'<summary><span class="state">{_words(row.state)}</span> <span class="id">{_text(row.id)}</span> '
        f'<span class="first">{_text(first)}</span></summary>'
        f'<div class="body">{error}{ran}{_edits(row.diff)}{shape}<div class="drawing">{drawn}</div>'
        f'<div class="texts">{texts}</div></div></details>\n'
    )


def _edits(diff: Diff | None) -> str:
    """The edits as a list; what follows from another stands under it."""
    parts: list[str] = []
    above = -1
    for line in told_lines(diff) if diff is not None else ():
        parts.append("<ol>" if line.depth > above else "</li>" + "</ol></li>" * (above - line.depth))
        parts.append(f"<li><code>{_text(line.name)}</code>{_text(line.head[len(line.name) :])} ")
        parts += (
            f"<mark>{_text(said)}</mark>" if differs else _text(said) for said, differs in marked(line.said)
        )
        parts.append(_others([diff.edits[at].message for at in line.edits[1:]]) if diff is not None else "")
        above = line.depth
    return "".join(parts) + "</li></ol>" * (above + 1)


def _others(messages: Sequence[str]) -> str:
    """The further edits of a habit, folded away."""
    if not messages:
        return ""
    listed = "".join(f"<li>{_text(message)}</li>" for message in messages)
    return f"<details><summary>{len(messages):,} more</summary><ul>{listed}</ul></details>"


def _inline(svg: str) -> str:
    """An SVG document as part of a page: without its head, and without names that other drawings have."""
    body = svg[svg.index("<svg") :]
    return re.sub(r' id="[^"]*"', "", body).replace("<svg ", '<svg role="img" ', 1)


def _listing(diff: Diff, reason: str) -> str:
    listed = render(diff, format="text").decode()
    return f"<p>{_text(f'not drawn: {reason}')}</p><pre>{_text(listed)}</pre>"


def _source(plan: Plan | None) -> str:
    """The text of a plan, or the plan listed where it was read from structure."""
    if plan is None:
        return ""
    said = plan.text if plan.text is not None else render(plan, format="text").decode()
    cut = len(said) - MAX_TEXT
    return said if cut <= 0 else f"{said[:MAX_TEXT]}\n… and {cut:,} more characters"


def _words(state: str) -> str:
    return state.replace("_", " ")


def _text(text: str) -> str:
    """Foreign text in a page: visible, and nothing but text."""
    return html.escape("\n".join(visible(line) for line in printable(text).split("\n")))
