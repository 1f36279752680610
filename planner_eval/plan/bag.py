"""A list whose order carries no meaning."""

from __future__ import annotations

from typing import Any


class Bag(list[Any]):
    """A list whose order carries no meaning; its items are kept in an order that depends on them only."""
