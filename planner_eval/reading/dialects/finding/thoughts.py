"""What a model thought before its answer; the search for calls is imported where a text may hold such."""

from __future__ import annotations


def strip_thoughts(text: str) -> str:
    """An answer without what the model thought before it; what values of its calls hold is no thought.

    >>> strip_thoughts("<think>f(a=1)?</think>f(a=2)"), strip_thoughts("f(a=1)?</think>f(a=2)")
    ('f(a=2)', 'f(a=2)')
    >>> strip_thoughts("I see.</think>f(a='<think>')"), strip_thoughts("f(a='</think>')")
    ("f(a='<think>')", "f(a='</think>')")
    """
    if "<" not in text and "[T" not in text and "[t" not in text:  # as most: no thought begins without
        return text
    from planner_eval.reading.dialects.finding.find import cut_marked_thoughts

    return cut_marked_thoughts(text)
