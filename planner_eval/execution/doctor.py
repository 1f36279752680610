"""What this installation and this machine can do, the isolation that it offers included."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from typing import NamedTuple

from planner_eval._version import __version__
from planner_eval.base.errors import ExecutionError
from planner_eval.execution.program import compile_plan
from planner_eval.execution.sandbox.sandbox import REQUIRED_LAYERS, Sandbox
from planner_eval.execution.tool_sources import tool_source
from planner_eval.plan.model import Call, Plan

_OPTIONAL_PACKAGES = {
    "pygraphviz": "svg, png and pdf without a dot program (extra: draw)",
    "netext": "boxes in the terminal (extra: terminal)",
    "matplotlib": "plots (extra: plot)",
    "openai": "models that judge or answer (extra: llm)",
    "sentence_transformers": "embeddings (extra: embed)",
    "zstandard": "files packed with zstd, before Python 3.14 (extra: zstd)",
    "pyarrow": "Parquet (extra: parquet)",
    "ray": "runs on many machines (extra: ray)",
}


class DoctorFinding(NamedTuple):
    """One thing that was looked for.

    Args:
        what: A package, a program, a level of isolation, or a layer of one.
        there: Whether it is there, or works.
        found: What was found, or what it is for.
    """

    what: str
    there: bool
    found: str


def doctor() -> tuple[DoctorFinding, ...]:
    """Try what depends on the machine: isolation layer by layer, and the packages that are optional.

    >>> [found.there for found in doctor() if found.what == "planner_eval"]
    [True]
    """
    python = f"{platform.python_implementation()} {platform.python_version()}"
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    dot = shutil.which("dot")
    return (
        DoctorFinding("planner_eval", True, __version__),
        DoctorFinding("Python", True, f"{python} on {system}"),
        *_check_isolation(),
        *(DoctorFinding(name, find_spec(name) is not None, use) for name, use in _OPTIONAL_PACKAGES.items()),
        DoctorFinding("dot", dot is not None, dot or "Graphviz's program; pygraphviz serves as well"),
    )


_LEVEL_NOTES = {
    "strict": "works",
    "process": "works; plans share one interpreter and are not protected from each other",
}


def _check_isolation() -> Iterator[DoctorFinding]:
    """Each level with a small plan run at it, and each layer as it was found."""
    program = compile_plan(Plan((Call("a", "add", (("arg_0", 1), ("arg_1", 2))),)))
    source = replace(tool_source("nestful"), writes=True)  # as most tools are
    for level, note in _LEVEL_NOTES.items():
        with Sandbox(source, level=level, threads=True) as box:
            try:
                ended: object = box.run(program).ended
            except ExecutionError as error:
                ended = error
        yield DoctorFinding(f"isolation {level}", ended is None, note if ended is None else str(ended))
        for layer, available, detail in box.layers:
            is_required = layer in REQUIRED_LAYERS[level]
            requirement = "asked for" if is_required else "used where available"
            yield DoctorFinding(f"  {layer}", available, f"{detail} ({requirement})")
    yield DoctorFinding("isolation inline", True, "no isolation: only for trusted tools")
