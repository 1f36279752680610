"""Functions that are no tools, by the names that programs have for them."""

from __future__ import annotations

SHOWING = frozenset({
    "print", "pprint", "display", "console.log", "console.error", "console.info", "console.warn",
    "System.out.println", "System.out.print", "System.err.println", "logging.info", "logger.info",
    "final_answer",
})  # fmt: skip
"""Calls that show a value and are looked through; smolagents' final_answer ends a program."""

BUILTINS = frozenset({
    "abs", "all", "any", "bool", "bytes", "callable", "chr", "dict", "dir", "divmod", "enumerate",
    "eval", "exec", "filter", "float", "format", "frozenset", "getattr", "hasattr", "hash", "hex", "id",
    "input", "int", "isinstance", "issubclass", "iter", "len", "list", "locals", "map", "max", "min",
    "next", "oct", "open", "ord", "pow", "range", "repr", "reversed", "round", "set", "setattr",
    "slice", "sorted", "str", "sum", "super", "tuple", "type", "vars", "zip", "JSON.stringify",
    "JSON.parse", "Object.keys", "Object.values", "parseInt", "parseFloat", "String", "Number",
    "Boolean",
})  # fmt: skip
"""Functions of the languages themselves: no tools where a program calls them on its own values."""

OWN = frozenset({"self", "cls", "this", "super"})
"""What a class calls itself: a method of one is no tool."""
