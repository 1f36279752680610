"""What is found by name: services of lower rooms, imported when they are first asked for, and shipped files.

A room that needs something of a room above it asks here; ``planner_eval/__init__.py``, which stands above all
rooms, says who answers.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any


# ----------------------------------------------------------------------
# What upper rooms give to lower ones: a service by its name, imported when it is first asked for.
_TARGETS: dict[str, str] = {}


def register(name: str, target: str) -> None:
    """Say who gives a service.

    Args:
        name: The service's name.
        target: The function that gives it, as ``"package.module:function"``.
    """
    _TARGETS[name] = target


def service(name: str) -> Callable[..., Any]:
    """The function that gives a service.

    Raises:
        LookupError: nobody gives it.

    >>> service("world catalog").__name__
    'world_catalog'
    """
    if name not in _TARGETS:
        raise LookupError(f"nothing provides the service {name!r}")
    provider: Callable[..., Any] = load(_TARGETS[name])
    return provider


def deferred(target: str) -> Callable[..., Any]:
    """What a module holds, imported when it is first asked for.

    Args:
        target: The module and the name, as ``"package.module:name"``.

    Returns:
        A function that calls what has the name, or gives it where it is no function.

    >>> deferred("math:sqrt")(9.0), deferred("math:tau")()
    (3.0, 6.283185307179586)
    """

    def call(*arguments: Any, **options: Any) -> Any:
        value = load(target)
        return value(*arguments, **options) if callable(value) else value

    return call


def deferred_names(package: str, **modules: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package some of whose names stand in modules that are imported for them.

    Args:
        package: Its name.
        modules: The module of each of these names.
    """

    def attribute(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return load(f"{package}.{modules[name]}:{name}")

    return attribute


def load(target: str) -> Any:
    """What a module holds: ``"package.module:name"``, imported now."""
    from importlib import import_module

    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


# ----------------------------------------------------------------------
# The only place that knows where grammars/, data/ and viz/ lie.
#
# In a wheel they are folders of the package; in a checkout (and so in an editable install) they lie beside
# it. An installed copy wins, so that a wheel never reads a checkout that happens to be near.
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
    raise FileNotFoundError(f"planner_eval is installed without its folder {name!r}: reinstall it")


def read(name: str) -> str:
    """The text of one shipped file, by its path below the project, e.g. ``"grammars/json.lark"``."""
    top, _, below = name.partition("/")
    with open(os.path.join(_find_folder(top), below), encoding="utf-8") as file:
        return file.read()
