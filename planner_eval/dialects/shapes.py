"""The shapes: from a row of the table to a dialect that reads and writes.

Each shape is a module with ``dialect(row)``, imported when a row of it is first used.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from planner_eval.dialects.dialect import Dialect
from planner_eval.dialects.table import SHAPES

if TYPE_CHECKING:
    from planner_eval.dialects.table import Wrapper


@cache
def dialect(row: Wrapper) -> Dialect:
    """The dialect that a row describes.

    >>> from planner_eval.dialects.table import table
    >>> dialect(table()["vercel"]).name
    'vercel'
    """
    made = import_module(f"planner_eval.dialects.{SHAPES[row.shape].module}").dialect(row)
    assert isinstance(made, Dialect)
    return made._replace(typed=row.typed)
