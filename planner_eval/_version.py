"""The version, a constant so that asking for it imports nothing else."""

from __future__ import annotations

__version__ = "0.1.0"
