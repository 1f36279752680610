"""Parts of pages that are made of the code, at marks such as ``<!-- commands -->``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import click

MARK = "<!-- commands -->"
_ROW = re.compile(r"^\|.*$", re.M)
_CODE = re.compile(r"`[^`]+`")
_MARKUP = re.compile(r"(`[^`]+`)|([\\`*_\[\]<>|#])")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """What MkDocs calls with each page."""
    # In code in a table a bar is escaped for others; here the backslash would be shown.
    markdown = _ROW.sub(lambda row: _CODE.sub(lambda code: code[0].replace(r"\|", "|"), row[0]), markdown)
    for mark, generated in GENERATED.items():
        if mark in markdown:
            markdown = markdown.replace(mark, generated())
    if MARK not in markdown:
        return markdown
    from planner_eval.cli import cli

    return markdown.replace(MARK, "\n\n".join(_described(click.Context(cli, info_name="planeval"), 2)))


def _dialects() -> str:
    """All notations, with an example of each."""
    from planner_eval.reading.dialects.listing import dialect_tables

    return dialect_tables()


def _terms() -> str:
    """The terms of ``planeval stats``."""
    from planner_eval.base.tables import MARKDOWN
    from planner_eval.plan.statistics import (
        FIGURE_MEANINGS,
        KIND_MEANINGS,
        PATTERNS,
        SCOPES,
        SHAPES,
        explain_words,
    )

    words = explain_words(FIGURE_MEANINGS, KIND_MEANINGS, PATTERNS, shapes=SHAPES, scopes=SCOPES)
    return MARKDOWN.table({"term": f"`{word}`", "meaning": meaning} for word, meaning in words.items())


def _metrics() -> str:
    """The metrics of ``planeval score``."""
    from planner_eval.base.tables import MARKDOWN
    from planner_eval.comparison.metrics import METRICS

    rows = [
        {
            "metric": f"`{metric.name}`",
            "group": metric.group,
            "kind": ("F1" if metric.kind == "counts" else "share") + (" ↓" if metric.lower else ""),
            "what it says": metric.title,
        }
        for metric in METRICS.values()
    ]
    return MARKDOWN.table(rows)


def _frameworks() -> str:
    """The layouts of frameworks' files."""
    from planner_eval.base.tables import MARKDOWN
    from planner_eval.reading.files.frameworks import layout_rows

    return MARKDOWN.table(layout_rows())


def _kinds() -> str:
    """The objects that APIs and libraries dump."""
    from planner_eval.reading.dialects.conversations.wrappers import KINDS

    keys = {"a message, as Anthropic, OpenAI, Gemini, Bedrock and Hugging Face have it": ["`role`"]}
    for kind in KINDS:
        keys.setdefault(kind.what, []).append(f"`{kind.key}`")
    rows = [f"| {what} | {' '.join(dict.fromkeys(named))} |" for what, named in keys.items()]
    return "\n".join(["| an object | is known by |", "|---|---|", *rows])


def _codes() -> Iterator[str]:
    """Each code below its family, with an anchor of its name."""
    from planner_eval.results.codes import code_entries

    family = ""
    for entry in code_entries().values():
        if entry.family != family:
            family = entry.family
            yield f"## {family}"
        yield f"### `{entry.code}` {{ #{entry.anchor} }}"
        sure = f" (confidence: {entry.confidence})" if entry.confidence else ""
        yield _escaped("; ".join(entry.meanings) + sure)
        if entry.example:
            fence = "````" if "```" in entry.example else "```"
            yield f"{fence}text\n{entry.example}\n{fence}"
        yield _escaped(entry.fix)


def _glossary() -> Iterator[str]:
    """Each term in the table of its family, with an anchor of its name."""
    from planner_eval.results.codes import term_entries

    family = ""
    anchors = set()
    for entry in term_entries():
        if entry.family != family:
            family = entry.family
            yield f"\n## {family.removeprefix('terms: ')}\n\n| word | meaning |\n|---|---|"
        anchor = f' id="{entry.anchor}"' * (entry.anchor not in anchors)
        anchors.add(entry.anchor)
        yield f"| <span{anchor}>{_escaped(entry.code)}</span> | {_escaped(entry.meanings[0])} |"


def _described(context: click.Context, level: int) -> Iterator[str]:
    """One command as ``--help`` tells it, then those below it."""
    command = context.command
    yield f"{'#' * min(level, 3)} {context.command_path}"
    for paragraph in (command.help or "").split("\f")[0].split("\n\n"):
        yield _escaped(" ".join(paragraph.split()))
    yield f"```text\n{context.command_path} {' '.join(command.collect_usage_pieces(context))}\n```"
    records = [one.get_help_record(context) for one in command.get_params(context)]
    for name, said in filter(None, records):
        if said:  # arguments are told in the text above
            yield f"`{name}`\n:   {_escaped(said)}"
    options = {flag: one for one in command.params for flag in one.opts}
    for group, keys in getattr(command, "keys", {}).items():
        for key, flag in keys.items():
            yield f"`{group} {key}=…`\n:   {_escaped(options[flag].help or '')}"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None and not below.hidden:
                yield from _described(click.Context(below, info_name=name, parent=context), level + 1)


def _escaped(text: str) -> str:
    """A text that no Markdown changes, but for what it writes as code."""
    return _MARKUP.sub(lambda found: found[1] or f"\\{found[2]}", text)


GENERATED = {
    "<!-- codes -->": lambda: "\n\n".join(_codes()),
    "<!-- dialects -->": _dialects,
    "<!-- frameworks -->": _frameworks,
    "<!-- glossary -->": lambda: "\n".join(_glossary()),
    "<!-- kinds -->": _kinds,
    "<!-- metrics -->": _metrics,
    "<!-- terms -->": _terms,
}
"""What stands at a mark."""
