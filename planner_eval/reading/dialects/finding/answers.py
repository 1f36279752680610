"""What of a text is the answer: no thoughts, chat tokens, other turns; and whether it is an empty plan."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import islice
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import INVISIBLE, lazy_pattern
from planner_eval.plan.model import Diagnostic
from planner_eval.reading.dialects.conversations.messages import CALL_LIST_KEYS, CONTAINER_KEYS, calls_no_tool
from planner_eval.reading.dialects.conversations.prompts import blank_other_turns, headings
from planner_eval.reading.dialects.detect import may_hold_call
from planner_eval.reading.dialects.finding.edited_text import extent
from planner_eval.reading.dialects.finding.segments import blank

THOUGHT = lazy_pattern(
    r"<(think|thinking|thought|reasoning|scratchpad)>(?:[^<]++|<(?!/\1>))*+(?:</\1>|\Z)"
    r"|<\|thought_start\|>(?:[^<]++|<(?!\|thought_end\|>))*+(?:<\|thought_end\|>|\Z)"
    r"|\[THINK\](?:[^\[]++|\[(?!/THINK\]))*+(?:\[/THINK\]|\Z)"
    r"|<\|channel\|>analysis<\|message\|>(?:[^<]++|<(?!\|(?:end|start|channel)\|>))*+",
    re.I,
)
"""A model's thoughts; one that is never closed goes on to the end."""

_THOUGHT_END = lazy_pattern(r"(?:</\w++>|thought_end\|>|\[/THINK\])\Z", re.I)
TOKEN = lazy_pattern(
    r"<\|(?:im_start|im_end|im_sep|endoftext|eot_id|eom_id|begin_of_text|end_of_text|"
    r"start_header_id|end_header_id|end)\|>"
    r"|<(?<![\w'\"]<)/?s>(?![\w'\"])|<pad>|<bos>|<eos>|<end_of_turn>|<start_of_turn>(?:model\n)?|\[/?INST\]|\x1b(?<![\w'\"]\x1b)\[[\d;]*+m|<｜(?:begin|end)▁of▁sentence｜>"
)
"""Chat tokens and a terminal's colours, which mean nothing for the plan. Each branch begins with a letter,
so that a search runs over prose at the speed of a set."""

_HEADING = (
    r"(?m:^)(?:[ \t]*+###\s*+(?:Instruction|Response|Input|Human|Assistant|User|System)\b\s*+:?"
    r"|(?:Human|User|USER)\s*+:\s)"
)
HEADING = lazy_pattern(_HEADING)
"""Where another turn begins in a text without chat tokens, in which a look for them is five times as dear."""

TURN = lazy_pattern(
    r"(?=[ \t#<uastHU])"  # at most places nothing more is asked
    rf"(?:{_HEADING}"
    r"|(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>)\s*+(?:system|user|assistant|tool|ipython|model)\b"
    r"|(?<![\w|])(?:user|assistant|system|tool)<\|end_header_id\|>)"
)
"""Where another turn begins; at the very start of a text it is the header of the first."""

_END_BEFORE_HEADING = lazy_pattern(
    r"<\|(?:endoftext|end_of_text|im_end|eot_id|end)\|>[ \t]*+(?=(?:###|(?:Human|User|USER)\s*+:))"
)
"""A token that ends an answer where another turn's heading follows: what follows is on a line of its own."""

_TURN_TOKENS = ("<|im_start|>", "_header_id|>", "<start_of_turn>")
_HEADING_STARTS = ("###", "Human", "User", "USER")
"""What stands wherever these find something: a look for it is cheap."""


def cut_thoughts(text: str) -> str:
    """A text without its thoughts."""
    if _CLOSED_THOUGHT in text and "<think>" not in text:
        text = text[text.index(_CLOSED_THOUGHT) + len(_CLOSED_THOUGHT) :]
    return THOUGHT.sub("", text)


class AnswerText(NamedTuple):
    """What of a text is the answer itself.

    Args:
        text: The text, with thoughts, chat tokens and others' turns as white space of the same length.
        notes: Remarks on these.
        unclosed: Where a thought begins that is never closed.
    """

    text: str
    notes: list[Diagnostic]
    unclosed: int | None = None


def blank_non_answer_text(source: str) -> AnswerText:
    """What of a text is the answer itself."""
    source, turn_notes = blank_other_turns(source)
    notes, unclosed = [*turn_notes], None
    text = _blank_invisible(_remove_latex_box(source))
    tagged = "<" in text
    if tagged and _CLOSED_THOUGHT in text and "<think>" not in text:  # the prompt opened the thought
        end = text.index(_CLOSED_THOUGHT) + len(_CLOSED_THOUGHT)
        text = blank(text[:end]) + text[end:]
        notes.append(Diagnostic("find.thought", "reasoning was ignored", "info", None, None, (0, end)))
    thoughts = list(THOUGHT.finditer(text)) if tagged or "[T" in text or "[t" in text else []
    for match in thoughts:
        message = f"{match.end() - match.start():,} characters of reasoning were ignored"
        notes.append(Diagnostic("find.thought", message, "info", None, None, match.span()))
        if match.end() == len(text) and not _THOUGHT_END.search(match.group()):
            unclosed = match.start()
    if thoughts:
        text = THOUGHT.sub(_blank_match, text)
    headed = any(map(text.__contains__, _HEADING_STARTS))
    if headed and "|>" in text:
        text = _END_BEFORE_HEADING.sub(lambda m: " " * (len(m.group()) - 1) + "\n", text)
    if tagged and any(map(text.__contains__, _TURN_TOKENS)):
        text = _keep_first_turn(text, headings(TURN, text), notes)
    elif headed:
        text = _keep_first_turn(text, headings(HEADING, text, _HEADING_STARTS), notes)
    if tagged or "INST]" in text or "\x1b" in text:
        text = TOKEN.sub(_blank_match, text)
    return AnswerText(text, notes, unclosed)


def _blank_match(match: re.Match[str]) -> str:
    return blank(match.group())


def _blank_invisible(text: str) -> str:
    """The text with blanks for what has no width at the start of a line: nobody sees it there."""
    if text.isascii() or not any(map(text.__contains__, INVISIBLE)):
        return text
    return _INVISIBLE_START.sub(lambda m: " " * len(m.group()), text)


def _keep_first_turn(text: str, headers: Iterable[re.Match[str]], notes: list[Diagnostic]) -> str:
    """The text without other turns after it, and without headers."""
    turns = list(headers)
    if not turns:
        return text
    text_start = _find_answer_start(text)
    later = (m for m in turns if m.start() > text_start)
    turn = next((m for m in later if TOKEN.sub("", text[: m.start()]).strip()), None)
    if turn is not None:
        message = f"the turn after {turn.group().strip()[:30]!r} was ignored"
        span = (turn.start(), len(text))
        notes.append(Diagnostic("find.turn", message, "info", None, None, span))
        text = text[: turn.start()]
        turns = turns[: turns.index(turn)]
    pieces, offset = [], 0
    for match in turns:
        if match.group()[0] in "<ua":
            pieces += [text[offset : match.start()], blank(match.group())]
            offset = match.end()
    return "".join([*pieces, text[offset:]])


def _find_answer_start(text: str) -> int:
    """The place of the first character that is no white space and of no chat token."""
    offset = 0
    for match in TOKEN.finditer(text):
        if not text[offset : match.start()].isspace() and match.start() > offset:
            break
        offset = match.end()
    return len(text) - len(text[offset:].lstrip())


_INVISIBLE_START = lazy_pattern(rf"(?m)^[ \t]*+[{INVISIBLE}][ \t{INVISIBLE}]*+")
_LATEX_BOX = lazy_pattern(
    r"(?m)^(?:[^\n\"\[({\\]|\\[(\[])*+(?P<mark>\\{1,2}boxed\s*+\{(?:\s*+\\{1,2}(?:text\w*+|mathtt|mathrm)\s*+\{)?+)"
)
"""An answer in LaTeX's box; what stands before it on its line is words, so that it is no argument's text."""


def _remove_latex_box(text: str) -> str:
    r"""The text without the box around an answer, `$\boxed{[f(a=1)]}$`, which has a line of its own then."""
    for match in islice(_LATEX_BOX.finditer(text), 20) if "boxed" in text else ():
        start, inside = match.start("mark"), match.end()
        ends = [extent(text, i) for i in range(start, inside) if text[i] == "{"]
        if all(piece.closed for piece in ends) and may_hold_call(text[inside : ends[-1].end - 1]):
            text = text[:start] + "\n" + blank(text[start + 1 : inside]) + text[inside:]
            for piece in ends:
                text = text[: piece.end - 1] + "\n" + text[piece.end :]
    return text


# ----------------------------------------------------------------------
# What an answer says itself: without thoughts and chat tokens, and whether that is a plan of no calls.
_CLOSED_THOUGHT = "</think>"
_JSON_ANSWER = lazy_pattern(r"\s*+(?:```\w*+)?\s*+([\[{].*[\]}])\s*+(?:```)?\s*+", re.S)


def blank_thoughts_and_tokens(text: str) -> str:
    r"""A text without thoughts and chat tokens; places stay.

    A thought that the prompt began, as chat templates do, ends at the first ``</think>``.

    Args:
        text: The text.

    >>> (
    ...     blank_thoughts_and_tokens("so be it\n</think>\nf()").split(),
    ...     blank_thoughts_and_tokens("<think>f(</think>g()<|im_end|>").split()
    ... )
    (['f()'], ['g()'])
    """
    if _CLOSED_THOUGHT in text and "<think>" not in text:
        end = text.index(_CLOSED_THOUGHT) + len(_CLOSED_THOUGHT)
        text = blank(text[:end]) + text[end:]
    return TOKEN.sub(_blank_match, THOUGHT.sub(_blank_match, text))


def is_empty_call_list(source: Any) -> bool:
    """Whether a text or data that calls nothing says so as a plan, by an empty list where calls would stand.

    A list of steps that all name no tool says so, too. Neither words say so, be they a message's, nor an
    empty object, nor null beside a message's words.

    Args:
        source: A text, or JSON data, that reads as a plan without calls.

    >>> (
    ...     is_empty_call_list("[]"), is_empty_call_list('"[]"'), is_empty_call_list({"tool_calls": []}),
    ...     is_empty_call_list("{}")
    ... )
    (True, True, True, False)
    >>> is_empty_call_list({"messages": [{"role": "assistant", "content": "It is sunny."}]})
    False
    >>> is_empty_call_list({"role": "assistant", "content": "It is sunny.", "tool_calls": []})
    False
    >>> is_empty_call_list({"role": "assistant", "content": "", "tool_calls": []})
    True
    """
    if isinstance(source, str) and source.lstrip().startswith('"'):  # a plan's text as JSON
        try:
            text = json.loads(source)
        except ValueError:
            return False
        return isinstance(text, str) and is_empty_call_list(text)
    if isinstance(source, str):
        match = _JSON_ANSWER.fullmatch(blank_thoughts_and_tokens(source))
        try:
            source = None if match is None else json.loads(match[1])
        except (ValueError, RecursionError):
            return False
    if isinstance(source, list):
        if source and all(
            isinstance(step, dict) and "tool" in step and calls_no_tool(step) for step in source
        ):
            return True
        return not source or any(is_empty_call_list(item) for item in source if not isinstance(item, str))
    if not isinstance(source, dict):
        return False
    # Of a message only what lists calls says so: its annotations, images and the like may be empty, too.
    # Beside its words they say nothing, for many packages write them in any case.
    content = source.get("content")
    if content and not (isinstance(content, str) and (not content.strip() or is_empty_call_list(content))):
        keys: Iterable[str] = ()
    elif "role" in source or "content" in source:
        keys = CALL_LIST_KEYS
    else:
        keys = (key for key in source if key not in CONTAINER_KEYS)
    if any(source.get(key) == [] for key in keys):
        return True
    inside = (source[key] for key in CONTAINER_KEYS if isinstance(source.get(key), (dict, list)))
    return any(value and is_empty_call_list(value) for value in inside)
