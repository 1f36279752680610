"""A list whose order carries no meaning."""

from __future__ import annotations

from typing import Any


class Bag(list[Any]):
    """A list whose order carries no meaning: what stands for it puts what stands for its items in order."""
