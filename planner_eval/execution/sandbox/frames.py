"""How the server of level strict frames what its children wrote, for both ends of the pipe."""

from __future__ import annotations

FRAME_HEAD_SIZE = 24
"""Bytes before a child's output: plan number (4), status (4), microseconds (8), length (8)."""

ENDED, TIMED_OUT, TOO_MUCH_OUTPUT, DISK_FULL, TOO_MANY_TASKS = 0, 1, 2, 3, 4
"""Why a child is gone; statuses above 1000 are 1000 + the signal that killed it."""
