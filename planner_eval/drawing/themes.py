"""Themes: colours and DOT attributes by role, as data in ``viz/themes/``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.base.resources import folder

ROLES = ("plain", "kept", "missing", "extra", "changed", "wrong", "inferred", "ok", "failed", "skipped")
"""The roles that every theme has to dress."""

Attributes = Mapping[str, str]
_ANSI = re.compile(r"\d{1,3}(;\d{1,3})*")


@dataclass(frozen=True, slots=True)
class Role:
    """How the calls and references of one role look.

    Args:
        sign: One character before a label; empty for what needs no attention.
        word: The role's name in the legend.
        meaning: What it means, in the legend.
        text: Colour of its words.
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
        text: Colour of words that belong to no role.
        muted: Colour of words of second rank.
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
        known = ", ".join(names())
        raise InputError(f"there is no theme {name!r}: expected {known}, or a file ending in .toml")
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"there is no theme file {name}") from None
    except OSError as error:
        raise InputError(f"theme file {name}: {error.strerror or error}") from None
    except ValueError as error:  # broken TOML, or no UTF-8
        raise InputError(f"theme file {name}: {error}") from None
    return _Reader(name, data).theme()


class _Reader:
    """Reads a theme's data and says where it is wrong."""

    def __init__(self, name: str, data: dict[str, Any]) -> None:
        self.name = name
        self.data = data

    def theme(self) -> Theme:
        self.known(self.data, [*Theme.__slots__[1:]], "")
        roles = self.take(self.data, "roles", dict, "")
        self.known(roles, ROLES, "roles.")
        return Theme(
            name=self.name,
            width=self.take(self.data, "width", int, ""),
            label_width=self.take(self.data, "label_width", int, ""),
            text=self.take(self.data, "text", str, ""),
            muted=self.take(self.data, "muted", str, ""),
            graph=self.attributes(self.data, "graph", ""),
            box=self.attributes(self.data, "box", ""),
            line=self.attributes(self.data, "line", ""),
            cluster=self.attributes(self.data, "cluster", ""),
            roles={role: self.role(self.take(roles, role, dict, "roles."), role) for role in ROLES},
        )

    def role(self, data: dict[str, Any], role: str) -> Role:
        at = f"roles.{role}."
        self.known(data, Role.__slots__, at)
        ansi = self.take(data, "ansi", str, at, "")
        if ansi and not _ANSI.fullmatch(ansi):
            raise self.wrong(f"{at}ansi", f"expected numbers such as '1;31', found {ansi!r}")
        return Role(
            sign=self.take(data, "sign", str, at, ""),
            word=self.take(data, "word", str, at, role),
            meaning=self.take(data, "meaning", str, at, ""),
            text=self.take(data, "text", str, at),
            ansi=ansi,
            box=self.attributes(data, "box", at),
            line=self.attributes(data, "line", at),
        )

    def attributes(self, data: dict[str, Any], key: str, at: str) -> Attributes:
        found: dict[str, Any] = self.take(data, key, dict, at)
        for name in found:
            self.take(found, name, str, f"{at}{key}.")
        return found

    def take(self, data: dict[str, Any], key: str, kind: type, at: str, default: Any = None) -> Any:
        value = data.get(key, default)
        if type(value) is not kind:
            words = {str: "a text", int: "a whole number", dict: "a table"}[kind]
            found = "nothing" if value is None else repr(value)
            raise self.wrong(f"{at}{key}", f"expected {words}, found {found}")
        return value

    def known(self, data: dict[str, Any], keys: Any, at: str) -> None:
        for key in data:
            if key not in keys:
                raise self.wrong(f"{at}{key}", f"unknown; expected one of {', '.join(keys)}")

    def wrong(self, place: str, reason: str) -> InputError:
        return InputError(f"theme {self.name}: {place}: {reason}")
