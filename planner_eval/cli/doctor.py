"""planeval doctor: what this installation and this machine can do."""

from __future__ import annotations

import platform
import sys
from typing import Any

import click

from planner_eval._version import __version__
from planner_eval.base.formats import WHOLE
from planner_eval.base.tables import table
from planner_eval.cli.options import emit, output, written


@click.command("doctor")
@written("table", *WHOLE, help="How to write the findings.")
@output
def command(form: str, output: str | None) -> int:
    """Try what depends on the machine: isolation layer by layer, and the packages that are optional.

    Exit code: 0 hostile plans can be run at level strict here, 1 they cannot.
    """
    rows = [*_versions(), *_isolation(), *_packages()]
    emit(table(rows, form, width=100), output)
    return 0 if any(row["what"] == "isolation strict" and row["state"] == "yes" for row in rows) else 1


def _row(what: str, state: str, found: str) -> dict[str, Any]:
    return {"what": what, "state": state, "found": found}


def _versions() -> list[dict[str, Any]]:
    python = f"{platform.python_implementation()} {platform.python_version()}"
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    return [_row("planner_eval", "yes", __version__), _row("Python", "yes", f"{python} on {system}")]


def _isolation() -> list[dict[str, Any]]:
    from planner_eval.execution.doctor import examine

    rows = []
    for level in ("strict", "process"):
        report = examine(level)
        rows.append(_row(f"isolation {level}", "yes" if report.available else "no", report.reason or "works"))
        for layer, held, found in report.layers:
            asked = "asked for" if report.required(layer) else "used where it is"
            rows.append(_row(f"  {layer}", "yes" if held else "no", f"{found} ({asked})"))
    rows.append(_row("isolation inline", "yes", "no isolation: only for tools of your own"))
    return rows


def _packages() -> list[dict[str, Any]]:
    from importlib.util import find_spec
    from shutil import which

    rows = []
    uses = {
        "pygraphviz": "svg, png and pdf without a dot program (extra: draw)",
        "netext": "boxes in the terminal (extra: terminal)",
        "matplotlib": "plots (extra: plot)",
        "openai": "a model that judges (extra: judge)",
        "sentence_transformers": "embeddings (extra: embed)",
    }
    for package, use in uses.items():
        rows.append(_row(package, "yes" if find_spec(package) else "no", use))
    dot = which("dot")
    rows.append(_row("dot", "yes" if dot else "no", dot or "Graphviz's program; pygraphviz serves as well"))
    rows.append(_row("terminal", "yes" if sys.stdout.isatty() else "no", "colours and progress"))
    return rows
