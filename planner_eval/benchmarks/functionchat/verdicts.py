"""Reading pass or fail out of a judge's text, as FunctionChat-Bench does.

Source: repository kakao/FunctionChat-Bench at cb32af3; paper appendix B (how the judge is asked to end).
"""

from __future__ import annotations

PASS, FAIL = "pass", "fail"
_KOREAN_PASS = ("패스", "패쓰", "통과", "합격", "성공")
_POLITE_END = "입니다."


def read_verdict(text: str) -> str:
    r"""``"pass"``, ``"fail"``, or, where neither can be read, the last two lines joined: undecided.

    "pass" anywhere wins over "fail", and 불합격 (failed) holds 합격 (passed).

    >>> read_verdict("because ...\n\nfail\nfail"), read_verdict("does not pass\nfail")
    ('fail', 'pass')
    >>> read_verdict("I cannot say")
    'I cannot say'
    """
    lines = text.strip().split("\n")
    verdict = _decide("".join(lines[-2:]))
    return verdict if verdict != _POLITE_END else _decide("".join(lines[-4:]))


def _decide(text: str) -> str:
    lowered = text.lower()
    if PASS in lowered:
        return PASS
    if FAIL in lowered:
        return FAIL
    return PASS if any(word in text for word in _KOREAN_PASS) else text


def is_decided(verdict: str | None) -> bool:
    """Whether a verdict is pass or fail."""
    return verdict in (PASS, FAIL)
