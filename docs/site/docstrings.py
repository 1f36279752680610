"""How docstrings become Markdown: examples that are run stand in blocks, roles become links."""

from __future__ import annotations

import re
from typing import Any

import griffe

import planner_eval

_ROLE = re.compile(r":(?:func|class|data|meth|mod|attr):`([^`]+)`")
_EXAMPLE = re.compile(r"(?:^>>> (?:.+\n?)+\n*)+\Z", re.M)
_INTO_EXAMPLE = re.compile(r"^(?=.)", re.M)
_CODE = re.compile(r"^(?:>>>|\.\.\.) (.*)$", re.M)
_CALLED = re.compile(r"(?<![\w.])([A-Za-z]\w*)\(")


def _link(role: re.Match[str]) -> str:
    """A role of Sphinx as a link where its target is public, else as code."""
    name = role[1].removeprefix("~").removeprefix("planner_eval.").rpartition(".")[2]
    full = role[1].removeprefix("~")
    short = full.removeprefix("planner_eval.")
    return f"[`{short}`][planner_eval.{name}]" if name in planner_eval.__all__ else f"`{short}`"


def readable(text: str) -> str:
    r"""A docstring as mkdocstrings takes it; its example says what it imports of the package.

    >>> print(readable("See :func:`planner_eval.same`.\n\n>>> same('f()', 'f()')\nTrue"))
    See [`same`][planner_eval.same].
    <BLANKLINE>
    Examples:
        >>> from planner_eval import same
        >>> same('f()', 'f()')
        True
    """
    example = _EXAMPLE.search(text)
    if example is not None:
        shown = "".join(imports(example[0])) + example[0]
        text = f"{text[: example.start()]}Examples:\n{_INTO_EXAMPLE.sub('    ', shown)}"
    return _ROLE.sub(_link, text)


def imports(example: str) -> list[str]:
    """The line that imports what an example calls by its bare name: it runs in the module that it describes."""
    code = "\n".join(_CODE.findall(example))
    names = sorted({*_CALLED.findall(code)} & {*planner_eval.__all__})
    called = [name for name in names if not re.search(rf"import .*\b{name}\b", code)]
    return [f">>> from planner_eval import {', '.join(called)}\n"] if called else []


class Docstrings(griffe.Extension):
    """Has every docstring of the package made readable as it is read."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = readable(obj.docstring.value)

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        """What frozen types are made of are their fields, whose types stand in the class."""
        if cls.docstring is not None and "__init__" not in cls.members:
            cls.docstring.value = re.sub("(?m)^Args:$", "Attributes:", cls.docstring.value)
