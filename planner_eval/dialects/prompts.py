"""Texts that begin with their prompt: which of their turns the assistant wrote."""

from __future__ import annotations

from planner_eval.base.errors import AnswerError
from planner_eval.base.later import later
from planner_eval.base.named import NamedTuple
from planner_eval.dialects.beside import blank
from planner_eval.plan.model import Diagnostic

_TOKENS = later(
    r"\s*+(?:<\|begin_of_text\|>|<bos>|<s>|<｜begin▁of▁sentence｜>)?+\s*+(?:\[INST\]"
    r"|(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>)\s*+(?:system|user|tool|ipython)\b)"
)
"""How a text begins that repeats its prompt in chat tokens."""

_TOKEN = later(
    r"(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>)\s*+(\w++)(?:<\|end_header_id\|>)?"
    r"|(\[INST\])|\[/INST\]|<\|im_end\|>|<\|eot_id\|>|<\|eom_id\|>|<end_of_turn>|</s>"
)
"""Where a turn of such a prompt begins, with who speaks, or ends."""

_NAMES = later(
    r"\s*+(?:System|User|USER|Human)\s*+:\s(?=(?:[^\n]*+\n)*?[ \t]*+(?:Assistant|ASSISTANT|AI)\s*+:\s)"
)
"""How a transcript begins that names its speakers, of whom one is the assistant."""

_NAME = later(r"(?:^|(?<=\n))[ \t]*+(System|User|USER|Human|Assistant|ASSISTANT|AI|Tool)\s*+:(?=\s)()")

_ASSISTANT = frozenset({"assistant", "model", "ai"})


class Answered(NamedTuple):
    """A text of which only the assistant's turns are left, and notes on the others."""

    text: str
    notes: list[Diagnostic]


def answered(source: str) -> Answered:
    r"""A text that begins with its prompt, with all turns but the assistant's as white space, and a note.

    Raises:
        AnswerError: no turn is the assistant's.

    >>> answered("User: f(a=1)?\nAssistant: f(a=2)")[0].split()
    ['f(a=2)']
    >>> answered("f(a=1)")
    Answered(text='f(a=1)', notes=[])
    """
    header = _TOKEN if _TOKENS.match(source) else _NAME if _NAMES.match(source) else None
    if header is None:
        return Answered(source, [])
    parts, at, who = [], 0, "user"
    others: list[str] = []
    answers = False
    for match in header.finditer(source):
        said = source[at : match.start()]
        parts += [said if who in _ASSISTANT else blank(said), blank(match.group())]
        at = match.end()
        who = match[1].lower() if match[1] else "user" if match[2] else "assistant"
        answers = answers or (who in _ASSISTANT and match[1] is not None) or match.group() == "[/INST]"
        others += [] if who in _ASSISTANT else [who]
    last = source[at:]
    parts.append(last if who in _ASSISTANT else blank(last))
    text = "".join(parts)
    if not text.strip() and not answers:
        who = ", ".join(map(repr, dict.fromkeys(others)))
        raise AnswerError(f"no turn is the assistant's: {who} spoke", code="answer.absent")
    start = len(text) - len(text.lstrip())
    note = Diagnostic("find.turn", "the prompt before the answer was ignored", "info", None, None, (0, start))
    return Answered(text, [note])
