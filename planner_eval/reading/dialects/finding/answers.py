"""What of a text is the answer: no thoughts, chat tokens, other turns; and whether it is an empty plan."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import dropwhile, islice
from typing import Any

from planner_eval.base.limits import Span
from planner_eval.base.text import INVISIBLE, group_by_sign, holds_signed, lazy_pattern
from planner_eval.plan.model import LATER_TURN, UNREAD_CALL, Diagnostic
from planner_eval.reading.dialects.conversations.messages import CALL_LIST_KEYS, CONTAINER_KEYS, calls_no_tool
from planner_eval.reading.dialects.detect import may_hold_call
from planner_eval.reading.dialects.finding.edited_text import extent
from planner_eval.reading.dialects.finding.segments import CALL_LIKE, blank, blank_matches, blank_spans
from planner_eval.reading.dialects.finding.speakers import (
    ASSISTANT_ROLES,
    CHAT_TOKENS,
    HEADER_OF_KNOWN_ROLE,
    HEADER_SIGNS,
    MAX_VALUE_CHECKS,
    AnswerText,
    blank_other_turns,
    headings,
    is_in_multiline_value,
    speaker_of,
)
from planner_eval.reading.dialects.finding.thought_tokens import (
    THOUGHT_END_TOKENS,
    compile_enclosed,
    find_thoughts,
)

_MAX_BROKEN_OBSERVATIONS = 5
"""Answers of tools that are never closed and so go on to the end: of these few it is looked for."""
_OBSERVATION_LINE = lazy_pattern(
    r"(?m)^[ \t]*+\**+Observation(?:[ \t]*+\d{1,4})?+\**+[ \t]*+[:\uff1a]\**+\s*+"
)


def blank_observations(text: str) -> str:
    r"""A text of actions with what the tools answered as white space: the line of each, or the JSON there.

    >>> blank_observations('Action: {"action": "f"}\nObservation: {"name": "Rome"}').split()
    ['Action:', '{"action":', '"f"}']
    """
    if "Observation" not in text:
        return text
    acted = text.find("ction")
    spans: list[Span] = []
    broken = 0
    for match in _OBSERVATION_LINE.finditer(text, acted) if acted >= 0 else ():
        if spans and match.start() < spans[-1][1]:
            continue
        end = text.find("\n", match.end())
        if text.startswith(("{", "["), match.end()) and broken < _MAX_BROKEN_OBSERVATIONS:
            piece = extent(text, match.end())
            broken += not piece.closed
            end = piece.end if piece.closed else end
        spans.append((match.start(), len(text) if end < 0 else end))
    return blank_spans(text, spans)


# ----------------------------------------------------------------------
TOKEN = lazy_pattern(rf"{'|'.join(CHAT_TOKENS)}|\x1b(?<![\w'\"]\x1b)\[[\d;]*+m|<(?<![\w'\"]<)/?s>(?![\w'\"])")
"""Chat tokens and a terminal's colours, which mean nothing for the plan. Each branch begins with a letter,
so that a search runs over prose at the speed of a set."""

_TOKEN_SIGNS = group_by_sign(map(re.escape, ("<", "\x1b", "T]", "S]", "~", "|]")))
"""Of which one stands in each token."""

_HEADING = (
    r"(?m:^)(?:[ \t]*+###\s*+(?:Instruction|Response|Input|Human|Assistant|User|System)\b\s*+:?"
    r"|(?:Human|User|USER)\s*+:\s)"
)
HEADING = lazy_pattern(_HEADING)
"""Where another turn begins in a text without chat tokens, in which a look for them is five times as dear."""

TURN = lazy_pattern(
    r"(?=[ \t#<\[\]uastHU])"  # at most places nothing more is asked
    rf"(?:{_HEADING}|{HEADER_OF_KNOWN_ROLE}|(?<![\w|])(?P<headless>user|assistant|system|tool)<\|end_header_id\|>)"
)
"""Where another turn begins; at the very start of a text it is the header of the first."""

_END_BEFORE_HEADING = lazy_pattern(
    r"<\|(?:endoftext|end_of_text|im_end|eot_id|end)\|>[ \t]*+(?=(?:###|(?:Human|User|USER)\s*+:))"
)
"""A token that ends an answer where another turn's heading follows: what follows is on a line of its own."""

_HEADING_STARTS = ("###", "Human", "User", "USER")
"""What stands wherever a heading does: a look for it is cheap."""
_HEADING_SIGNS = group_by_sign(_HEADING_STARTS)


def blank_non_answer_text(source: str) -> AnswerText:
    """What of a text is the answer itself."""
    source, notes, unclosed = blank_other_turns(source)
    text = _remove_latex_box(source)
    if not text.isascii() and any(map(text.__contains__, INVISIBLE)):  # nobody sees it at a line's start
        text = blank_matches(_INVISIBLE_START, text)
    thoughts = find_thoughts(text)
    for start, end in thoughts:
        message = f"{end - start:,} characters of reasoning were ignored"
        notes.append(Diagnostic("find.thought", message, "info", span=(start, end)))
        if end == len(text) and not text.lower().endswith(THOUGHT_END_TOKENS):
            unclosed = start
    text = blank_spans(text, thoughts)
    text = _blank_tool_results(text, notes)
    if ">>> " in text:
        text = _blank_sessions(text, notes)
    headed = holds_signed(_HEADING_SIGNS, text)
    if headed and "|>" in text:
        text = _END_BEFORE_HEADING.sub(lambda m: " " * (len(m.group()) - 1) + "\n", text)
    if holds_signed(HEADER_SIGNS, text):
        text = _keep_first_turn(text, headings(TURN, text), notes)
    elif headed:
        text = _keep_first_turn(text, headings(HEADING, text, _HEADING_STARTS), notes)
    if holds_signed(_TOKEN_SIGNS, text):
        text = blank_matches(TOKEN, text)
    return AnswerText(text, notes, unclosed)


_SESSION = lazy_pattern(
    r"(?:\A\s*+|(?m:^)(?:```|~~~)\w*+[ \t]*+\n)"
    r"(?P<lines>>>> (?:[^\W\d]\w*+\s*+=\s*+)?+[^\W\d][\w.]*+\([^\n]*+"
    r"(?:\n(?!```|~~~)[^\n]*+)*?\n>>> [^\n]*+(?:\n(?!```|~~~)[^\n]*+)*+)"
)
"""A session of Python's: a text or a fence that begins with a prompt, and has two or more."""


def _blank_sessions(text: str, notes: list[Diagnostic]) -> str:
    """A text without the prompts of Python's sessions, and without what Python printed there."""

    def keep_input(match: re.Match[str]) -> str:
        lines, opened, printed = [], 0, False
        for line in match["lines"].split("\n"):
            if line.startswith(">>>"):
                opened = 0
            if line.startswith((">>> ", "... ")) or line in (">>>", "..."):
                line = blank(line[:4]) + line[4:]
            elif opened <= 0:  # no call goes on
                printed = printed or bool(line.strip())
                line = blank(line)
            opened += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
            lines.append(line)
        if printed:
            message = "what Python printed in a session was ignored"
            notes.append(Diagnostic("find.turn", message, "info", span=match.span("lines")))
        return match.group()[: match.start("lines") - match.start()] + "\n".join(lines)

    return _SESSION.sub(keep_input, text)


RESULT_TOKENS = (
    ("<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"), ("<|START_TOOL_RESULT|>", "<|END_TOOL_RESULT|>"),
    ("[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
)  # fmt: skip
"""What begins and what ends that which a tool gave, in the tokens of chat templates."""
_RESULT = compile_enclosed(RESULT_TOKENS)
_TOOL_RESULT = lazy_pattern(
    r"(?=[ \t<*OR`~])(?:"  # at most places nothing more is asked
    r"(?:(?m:^)[ \t]*+|(?<=</tool_call>)|(?<=</function_calls>))"
    r"<(?P<tag>tool_response|tool_results?|tool_outputs?|function_results?|function_response|observation)>"
    r"(?s:.*?)(?:</(?P=tag)>|\Z)"
    r"|(?m:^)(?P<head>[ \t]*+\**+(?:Output|Result)s?\**+[ \t]*+[:\uff1a]\**+(?:[ \t]*+\n)++)?+"
    r"[ \t]*+(?P<fence>`{3,}+|~{3,}+)[ \t]*+"
    r"(?P<tool>tool_)?(?:(?:output|result|response)s?|(?(head)(?:text)?+|(?!)))[ \t]*+\n"
    r"(?s:.*?)(?:\n[ \t]*+(?P=fence)|\Z)"
    r"|(?m:^)[ \t]*+\**+(?P<label>Observations?|OBSERVATION)\**+[ \t]*+[:\uff1a]"
    r"(?:[^\n]++|\n(?![ \t]*+(?:\**+(?:Thoughts?|Code|Question|Final Answer)\**+[ \t]*+[:\uff1a]|```|~~~"
    r"|<(?:\w{1,20}_)?(?:code|calls?)>)))*+)"
)
"""What a tool gave between tags, in a fence or after a label; one that is never closed goes on to the end."""

_RESULT_SIGNS = group_by_sign((
    "bservation", "OBSERVATION", "Output", "Result", "<tool_", "<function_re", "```tool_", "```output",
    "```re", "~~~",
))  # fmt: skip
"""Of which one stands in each."""

_CODE_BEFORE = lazy_pattern(r"```|~~~|</code>|</tool_code>|</execute>|<end_code>")
"""What ends or begins code; a label or a plain fence after none of these may be the model's own."""


_MAX_BLANKS = 100


def _blank_tool_results(text: str, notes: list[Diagnostic]) -> str:
    """A text without what tools gave between the calls; values of calls are left as they are."""
    spans: list[Span] = []

    def blank_turn(match: re.Match[str]) -> str:
        before = text[max(match.start() - _MAX_BLANKS, 0) : match.start()].rstrip(" ")
        if before[-1:] not in ("", "\n", ">", "]", "}", ")"):  # words that name the token
            return match.group()
        spans.append(match.span())
        return blank(match.group())

    if any(start in text for start, _ in RESULT_TOKENS):
        text = _RESULT.sub(blank_turn, text)
    if holds_signed(_RESULT_SIGNS, text):
        text = _blank_labelled_results(text, spans)
    notes += [
        Diagnostic("find.turn", "what a tool gave was ignored", "info", span=span) for span in spans[:1]
    ]
    return text


def _blank_labelled_results(text: str, spans: list[Span]) -> str:
    """A text without what tools gave between tags, in fences and after labels, whose places are taken."""
    code = _CODE_BEFORE.search(text)
    code_start = code.start() if code is not None else len(text)
    checks = 0

    def blank_result(match: re.Match[str]) -> str:
        nonlocal checks
        labelled = match["label"] or (match["fence"] and not match["tool"])
        if labelled and (code_start >= match.start() or (match["label"] and "Action" in text)):
            return match.group()
        if match["head"] and not CALL_LIKE.search(text, code_start, match.start()):
            return match.group()
        checks += 1
        if checks < MAX_VALUE_CHECKS and is_in_multiline_value(text, match.start()):
            return match.group()
        spans.append(match.span())
        return blank(match.group())

    return _TOOL_RESULT.sub(blank_result, text)


def _keep_first_turn(text: str, headers: Iterable[re.Match[str]], notes: list[Diagnostic]) -> str:
    """The text without other turns after it, and without headers."""
    turns = list(headers)
    if not turns:
        return text
    text_start = _find_answer_start(text)
    later = dropwhile(lambda m: m.start() <= text_start, turns)
    last = max(
        (m.start() for m in (*_ASSISTANT_HEADING.finditer(text), *filter(_is_assistant, turns))), default=-1
    )
    turn = next((m for m in later if may_hold_call(text[: m.start()]) or not _is_own(text, m, last)), None)
    if turn is not None:
        header = repr(turn.group().strip()[:30] or f"<|start|>{turn['channel']}")
        span = turn.start(), len(text)
        notes.append(Diagnostic("find.turn", f"{LATER_TURN} {header} was ignored", "info", span=span))
        if may_hold_call(text[turn.end() :]) and not may_hold_call(text[: turn.start()]):
            message = f"after {header}, which was ignored, stands what {UNREAD_CALL}: save the answer alone"
            notes.append(Diagnostic("find.unread", message, "warning", span=span))
        text = text[: turn.start()]
        turns = turns[: turns.index(turn)]
    return blank_spans(text, [match.span() for match in turns if match.lastgroup])


def _is_own(text: str, header: re.Match[str], last: int) -> bool:
    """Whether the assistant goes on after a header: its own, or a line of its words after its last header."""
    if header.lastgroup:
        return _is_assistant(header)
    is_line = header.group().lstrip()[0] != "#" and last < header.end()
    return is_line or _ASSISTANT_HEADING.match(text, header.start()) is not None


def _is_assistant(header: re.Match[str]) -> bool:
    """Whether a header in chat tokens is the assistant's."""
    return header.lastgroup is not None and speaker_of(header) in ASSISTANT_ROLES


_ASSISTANT_HEADING = lazy_pattern(r"(?m)^[ \t]*+(?:###\s*+)?+(?:Assistant|ASSISTANT|AI|Response|Bot)\b\s*+:")


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
_JSON_ANSWER = lazy_pattern(r"\s*+(?:```\w*+)?\s*+([\[{].*[\]}])\s*+(?:```)?\s*+", re.S)


def blank_thoughts_and_tokens(text: str) -> str:
    r"""A text without thoughts and chat tokens; places stay.

    Args:
        text: The text.

    >>> (
    ...     blank_thoughts_and_tokens("so be it\n</think>\nf()").split(),
    ...     blank_thoughts_and_tokens("<think>f(</think>g()<|im_end|>").split()
    ... )
    (['f()'], ['g()'])
    """
    return blank_matches(TOKEN, blank_spans(text, find_thoughts(text)))


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
