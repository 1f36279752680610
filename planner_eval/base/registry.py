"""What upper rooms give to lower ones: a service by its name, imported when it is first asked for.

A room that needs something of a room above it asks here; ``planner_eval/__init__.py``, which stands above all
rooms, says who answers.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's own would add to the time that --version takes

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


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
    from importlib import import_module

    if name not in _TARGETS:
        raise LookupError(f"nobody gives the service {name!r}")
    module, _, function = _TARGETS[name].partition(":")
    provider: Callable[..., Any] = getattr(import_module(module), function)
    return provider
