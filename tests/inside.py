"""The command line in this process: what a grid of many small calls takes instead of an interpreter each.

``tests/test_cli.py`` and the docs' pages meet it through its real entry point.
"""

import contextlib
import gc
import io
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

from planner_eval.reading.dialects import table
from planner_eval.reading.files import frameworks


def planeval(
    *argv: object, text: str | bytes = "", cwd: Path | None = None, merged: bool = False, **environment: str
) -> subprocess.CompletedProcess[str]:
    """What ``planeval`` of ``tests/test_cli.py`` gives, without a new interpreter; as ``2>&1`` has it."""
    from planner_eval.cli import run

    typed = text if isinstance(text, bytes) else text.encode()
    streams = (sys.argv, sys.stdin, sys.stdout, sys.stderr)
    tables = [(rows, dict(rows)) for rows in (table._added, frameworks._added_frameworks)]
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    # A command hardly collects, for its process ends; this one goes on.
    keeping = mock.patch.multiple(gc, freeze=lambda: None, set_threshold=lambda *_: None)
    with contextlib.chdir(cwd or Path.cwd()), mock.patch.dict(os.environ, environment), keeping:
        sys.argv, sys.stdin = ["planeval", *map(str, argv)], io.TextIOWrapper(io.BytesIO(typed), "utf-8")
        sys.stdout, sys.stderr = out, out if merged else err
        try:
            code = run()
        finally:
            sys.argv, sys.stdin, sys.stdout, sys.stderr = streams
            for rows, added in tables:
                rows.clear()
                rows.update(added)
    said = []
    for stream in (out, err):
        stream.seek(0)  # which writes what it still holds
        said.append(stream.buffer.read().decode(errors="replace"))
    return subprocess.CompletedProcess(argv, code, *said)
