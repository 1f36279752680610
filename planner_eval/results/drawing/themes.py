"""Themes: colours and DOT attributes by role, as data in ``viz/themes/``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from planner_eval.base.errors import InputError
from planner_eval.base.input_files import read_text
from planner_eval.base.resources import folder
from planner_eval.results.drawing.scene import ROLES

Attributes = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Role:
    """How the calls and references of one role look.

    Args:
        sign: The sign before labels of this role, one character; empty for none.
        word: The role's name in the legend.
        meaning: What it means, in the legend.
        text: Text colour.
        ansi: SGR parameters of its words in a terminal, e.g. ``"31"``.
        box: DOT attributes of a call.
        line: DOT attributes of a reference.
    """

    sign: str
    word: str
    meaning: str
    text: str
    ansi: str
    box: Attributes
    line: Attributes


@dataclass(frozen=True, slots=True, eq=False)
class Theme:
    """A whole look; each is itself alone, so that what is made of it can be kept.

    Args:
        name: The theme's name or file.
        width: Characters of one line in a box.
        label_width: Characters of a reference's label.
        text: Text colour outside roles.
        muted: Colour of secondary text.
        graph: DOT attributes of the drawing.
        box: DOT attributes of every call.
        line: DOT attributes of every reference.
        cluster: DOT attributes of every app.
        roles: How each role looks.
    """

    name: str
    width: int
    label_width: int
    text: str
    muted: str
    graph: Attributes
    box: Attributes
    line: Attributes
    cluster: Attributes
    roles: Mapping[str, Role]


def names() -> list[str]:
    """The themes that are shipped.

    >>> "default" in names()
    True
    """
    return sorted(path.stem for path in (folder("viz") / "themes").glob("*.toml"))


@cache
def theme(name: str) -> Theme:
    """The theme of a name, or of a file.

    Args:
        name: A shipped theme's name, or the path of a file like ``viz/themes/default.toml``.

    Raises:
        InputError: there is no such theme, or the file does not say what a theme has to say.

    >>> theme("default").roles["missing"].line["style"]
    'dashed'
    """
    path = Path(name) if name.endswith(".toml") else folder("viz") / "themes" / f"{name}.toml"
    if name not in names() and not name.endswith(".toml"):
        expected = ", ".join(names())
        raise InputError(f"unknown theme {name!r}: expected {expected}, or a file ending in .toml")
    try:
        data = tomllib.loads(read_text(path))
    except ValueError as error:
        raise InputError(f"theme file {name}: {error}") from None
    if name.endswith(".toml"):
        from planner_eval.results.schema import ThemeFile

        ThemeFile.check(data, f"theme {name}")
    # the data are as they should be: checked, or shipped and so checked by tests
    bare = {"sign": "", "meaning": "", "ansi": ""}
    roles = {role: Role(**{**bare, "word": role, **data["roles"][role]}) for role in ROLES}
    return Theme(**{**data, "name": name, "roles": roles})
