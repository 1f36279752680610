"""What a model thought before its answer; the search for calls is imported where a text may hold such."""

from __future__ import annotations

from planner_eval.reading.dialects.finding.thought_tokens import find_thoughts


def strip_thoughts(text: str) -> str:
    """An answer without what the model thought before it; what values of its calls hold is no thought.

    >>> strip_thoughts("<think>f(a=1)?</think>f(a=2)"), strip_thoughts("f(a=1)?</think>f(a=2)")
    ('f(a=2)', 'f(a=2)')
    >>> strip_thoughts("I see.</think>f(a='<think>')"), strip_thoughts("f(a='</think>')")
    ("f(a='<think>')", "f(a='</think>')")
    """
    if not find_thoughts(text):
        return text
    from planner_eval.reading.dialects.finding.find import cut_marked_thoughts

    return cut_marked_thoughts(text)
