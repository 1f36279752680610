"""Tools of one's own: every public function of the file is a tool."""

RATES = {"USD": 1.25, "JPY": 160.0}


def get_rate(base: str, quote: str) -> dict[str, object]:
    """A tool with a named output: plans refer to `rate`."""
    if quote not in RATES:
        raise LookupError(f"no rate for {quote}")
    return {"base": base, "rate": RATES[quote]}


def ratio(first: float, second: float) -> float:
    """A tool with one output."""
    return first / second
