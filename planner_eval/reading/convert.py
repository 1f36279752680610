"""Plans written in another notation."""

from __future__ import annotations

from typing import Any

from planner_eval.reading import dialects
from planner_eval.reading.dialects.read import write
from planner_eval.reading.dialects.round_trip import ConvertedText, write_lossy
from planner_eval.reading.parse import Source, parse, types_of


def convert(
    source: Source,
    to: str,
    *,
    loss: bool = False,
    dialect: str | None = None,
    repair: bool = False,
    compute: str | None = None,
    tools: Any = None,
) -> ConvertedText:
    """Write a plan in another notation.

    Args:
        source: The plan: itself, its text or data, or the path of its file, ``Path("plan.json")``.
        to: The notation to write.
        loss: Give up what it cannot say, and say what was lost.
        dialect: The notation to read; recognised when left out.
        repair: Mend small faults where strict reading fails.
        compute: ``"arithmetic"``: expressions of numbers become the numbers they come to.
        tools: What types the values of untyped notations, where they are read and where what is written
            will be read; as for :func:`planner_eval.parse`.

    Returns:
        The text, and the losses; none without `loss`.

    Raises:
        WriteError: the notation cannot say what the plan says.
        ParseError: the plan cannot be read.
        InputError: unknown notation of that name.

    >>> convert("a = f(#x='1')", "json").text
    '[{"name": "f", "arguments": {"x": "1"}}]'
    """
    dialects.get(to)
    types = None if tools is None else types_of(tools)
    plan = parse(source, dialect=dialect, repair=repair, compute=compute, tools=types)
    if loss:
        return write_lossy(plan, to, write, tools=types)
    return ConvertedText(write(plan, to, tools=types), ())
