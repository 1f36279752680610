"""Grammars that hold what a model writes to the plans of a catalog."""

from __future__ import annotations

from typing import Any

from planner_eval.decoding.grammar import Grammar, grammar_of
from planner_eval.verbs.catalogs import read_catalog


def grammar(catalog: Any, *, dialect: str = "plan", to: str = "json-schema", max_calls: int = 8) -> Grammar:
    """A grammar of the plans that a catalog allows, for engines that decode by one.

    It holds names of tools and arguments, types, listed values, what is required, and references to earlier
    calls only. What a form or a notation cannot hold is looser, and said.

    Args:
        catalog: The tools, as for :func:`planner_eval.read_catalog`.
        dialect: The notation of the plans: ``"plan"``, ``"json"``, ``"nestful"``, ``"pythonic"`` or
            ``"appbench"``.
        to: The form that the engine reads: ``"json-schema"``, ``"lark"`` or ``"gbnf"``.
        max_calls: How many calls a plan may have.

    Returns:
        The grammar: its ``text``, and in words where it is ``looser`` or ``narrower`` than the catalog.

    Raises:
        CatalogError: the catalog cannot be read.
        InputError: there is no grammar of that form for the notation, no tool that it can call, or it would
            be too large.

    >>> made = grammar([{"name": "now", "parameters": {}}], dialect="pythonic", to="gbnf", max_calls=1)
    >>> print(made.text.splitlines()[-1])
    call-now-1 ::= "now(" ")"
    """
    return grammar_of(read_catalog(catalog), dialect, to, max_calls)
