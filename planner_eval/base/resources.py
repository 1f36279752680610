"""The only place that knows where grammars/, data/ and viz/ lie.

In a wheel they are folders of the package; in a checkout (and so in an editable install) they lie
beside it. An installed copy wins, so that a wheel never reads a checkout that happens to be near.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def folder(name: str) -> Path:
    """The folder `name` of the shipped files.

    Args:
        name: ``"grammars"``, ``"data"`` or ``"viz"``.

    Raises:
        FileNotFoundError: the installation is incomplete.

    >>> folder("grammars").name
    'grammars'
    """
    for place in (_PACKAGE / name, _PACKAGE.parent / name):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"planner_eval is installed without its folder {name!r}: install it again")


def read(name: str) -> str:
    """The text of one shipped file, by its path below the project, e.g. ``"grammars/json.lark"``."""
    top, _, rest = name.partition("/")
    return (folder(top) / rest).read_text(encoding="utf-8")
