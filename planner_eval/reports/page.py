"""The page: its template, style and script, a head of figures, and packs of pairs."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from planner_eval.base.resources import read
from planner_eval.base.text import json_safe, printable
from planner_eval.drawing.labels import visible
from planner_eval.reports.compact import written

SCHEMA = "planeval.page/1"

SCRIPTS = (
    "dom.js", "data.js", "state.js", "filter.js", "list.js", "scene.js", "layout.js", "draw.js", "texts.js",
    "pair.js", "overview.js", "compare.js", "pairs.js", "main.js",
)  # fmt: skip
"""The files of the page's script, in their order."""

_FOLDER = "viz/report/"
_PLACE = re.compile(r"{{(\w+)}}")
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
        "style": part("drawing.css", "style.css"),
        "script": part(*SCRIPTS),
    }
    values |= {f"{name}_hash": _hash(text) for name, text in values.items()}
    values |= {"title": html.escape(visible(printable(str(head["title"])))), "head": in_page(head)}
    before, _, after = template.partition("{{packs}}")
    yield _filled(before, values)
    for number, pack in enumerate(packs):
        lead = "\n" if number else ""
        yield f'{lead}<script type="application/octet-stream" id="pack-{number}">{pack.decode()}</script>'
    yield _filled(after, values)


def part(*names: str) -> str:
    """Files of the page as one text.

    >>> "sceneView" in part("scene.js", "draw.js")
    True
    """
    return "\n".join(read(_FOLDER + name) for name in names)


def in_page(data: Any) -> str:
    r"""Data as JSON that no page takes for markup.

    >>> in_page({"a": "</script>"})
    '{"a":"\\u003c/script>"}'
    """
    return _UNSAFE.sub(lambda m: f"\\u{ord(m[0]):04x}", json_safe(written(data)))


def _filled(template: str, values: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda match: values[match[1]], template)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
