"""Whether a question speaks of a flag, by the words of the argument's name, and whether it denies it."""

from __future__ import annotations

import re

from planner_eval.auditing.words import Word, words
from planner_eval.base.limits import Span

OPPOSITE = {"private": "public", "public": "private", "inclusive": "exclusive", "asc": "desc"}
"""Words that say the contrary of another."""
_ON = frozenset(
    (
        *(
            "ha",
            "has",
            "is",
            "are",
            "ar",
            "be",
            "include",
            "includ",
            "add",
            "allow",
            "enable",
            "enabl",
            "use",
        ),
        *("with", "service", "servic", "option", "for", "to", "good", "only", "want", "need", "require"),
        *("requir", "any", "all", "of", "the", "in", "on", "serve", "provide", "additional", "extra"),
    )
)
"""Words of names that say nothing of the matter."""
_NEEDLESS = re.compile(
    r"(?: (?:is|are|was|will be))? ?(?:(?:not|isn['’]t|aren['’]t|isnt|won['’]t be)"
    r" (?:\w{1,12} )?(?:needed|necessary|required|wanted|included|desired|important)|unnecessary)\b",
    re.IGNORECASE,
)
"""What denies the thing before it."""
_NOT = frozenset(
    (
        *("no", "not", "without", "dont", "never", "exclude", "exclud", "skip", "neither", "nor", "avoid"),
        *("decline", "declin", "isnt", "doesnt", "minus", "disable", "disabl", "off", "wont", "cannot"),
    )
)


def telling(name: str) -> list[Word]:
    """The words of a flag's name that say what it is about.

    >>> [word.plain for word in telling("has_laundry_service")]
    ['laundry']
    """
    return [word for word in words(name) if word.form not in _ON and word.plain not in _ON]


def is_denied(text: str, span: Span) -> bool:
    """Whether a word of denial stands shortly before a place, or "off" or "false" behind it.

    >>> is_denied("a car without any insurance", (18, 27)), is_denied("insurance, no luggage", (0, 9))
    (True, False)
    """
    before = [*words(text[max(0, span[0] - 40) : span[0]])][-4:]
    after = [*words(text[span[1] : span[1] + 30])][:2]
    if _NEEDLESS.match(text, span[1]):
        return True
    return any(word.plain in _NOT for word in before) or any(word.plain in ("off", "false") for word in after)
