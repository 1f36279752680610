"""The only place that knows where grammars/, data/ and viz/ lie.

In a wheel they are folders of the package; in a checkout (and so in an editable install) they lie
beside it. An installed copy wins, so that a wheel never reads a checkout that happens to be near.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


_PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def folder(name: str) -> Path:
    """The folder `name` of the shipped files.

    Args:
        name: ``"grammars"``, ``"data"`` or ``"viz"``.

    Raises:
        FileNotFoundError: the installation is incomplete.

    >>> folder("grammars").name
    'grammars'
    """
    from pathlib import Path

    return Path(_find_folder(name))


def _find_folder(name: str) -> str:
    for above in (_PACKAGE, os.path.dirname(_PACKAGE)):
        folder = os.path.join(above, name)
        if os.path.isdir(folder):
            return folder
    raise FileNotFoundError(f"planner_eval is installed without its folder {name!r}: install it again")


def read(name: str) -> str:
    """The text of one shipped file, by its path below the project, e.g. ``"grammars/json.lark"``."""
    top, _, below = name.partition("/")
    with open(os.path.join(_find_folder(top), below), encoding="utf-8") as file:
        return file.read()
