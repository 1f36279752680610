"""The codes of remarks, findings and errors, with what ``data/codes.toml`` says of each."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any

from planner_eval.base.resources import read


@cache
def code_table() -> dict[str, Any]:
    """The file: rows of codes, fixes of families of codes, names that are no codes of ours."""
    return tomllib.loads(read("data/codes.toml"))


@cache
def code_meanings() -> dict[str, str]:
    """The meaning of each code, but for edits and outcomes of pairs, which are explained where they are made.

    >>> code_meanings()["plan.no_call"]
    'the text calls no tool'
    """
    return {code: row["means"] for code, row in code_table()["code"].items() if "means" in row}
