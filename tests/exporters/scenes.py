"""Tools and scenes that agents play with a scripted model, and what is to be found in the traces of each."""

from typing import Any

COUNTS: dict[str, int] = {}
"""How often each tool was called in this scene."""


def get_rate(base: str, quote: str) -> dict[str, Any]:
    """The rate of two currencies."""
    if base == "XXX":
        raise ValueError("unknown currency XXX")
    return {"rate": 1.0923, "day": "2026-03-02"}


def job_status(job: str) -> str:
    """The state of a job."""
    COUNTS["job"] = COUNTS.get("job", 0) + 1
    return "finished with 1204 rows" if COUNTS["job"] > 3 else "running"


def scroll() -> str:
    """Scroll down."""
    return "scrolled"


TOOLS = (get_rate, job_status, scroll)

RATE = ("get_rate", {"base": "EUR", "quote": "USD"})
LOST = ("get_rate", {"base": "XXX", "quote": "USD"})
JOB = ("job_status", {"job": "j7"})
SCROLL = ("scroll", {})

SCENES: dict[str, tuple[list[Any], list[str]]] = {
    "right": ([[RATE], "A euro costs 1.0923 dollars."], []),
    "waiting": ([[JOB], [JOB], [JOB], [JOB], "1204 rows."], []),
    "scrolling": ([[SCROLL], [SCROLL], [SCROLL], "I am below."], []),
    "mended": ([[LOST], [RATE], "A euro costs 1.0923 dollars."], []),
    "no tool": (["Hello!"], []),
    "twice": ([[RATE], [RATE], "A euro costs 1.0923 dollars."], ["trace.repeated_call"]),
    "at once": ([[RATE, RATE], "A euro costs 1.0923 dollars."], ["trace.repeated_call"]),
    "loop": ([[RATE], [RATE], [RATE], "A euro costs 1.0923 dollars."], ["trace.loop"]),
    "failing": ([[LOST], [LOST], "I do not know."], ["trace.failed_retry"]),
    "no such tool": ([[("get_rates", {"base": "EUR"})], "I do not know."], ["trace.not_run"]),
}
"""Scene → what the model says, turn by turn (calls, or its last words), and the codes of the warnings."""
