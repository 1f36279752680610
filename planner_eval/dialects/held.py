"""Values that hold what elsewhere is a thought's tag or a token: they are read character for character.

Outside of values such text is blanked before anything is read, and a notation's opening token counts
wherever it stands. Where one may stand inside a value, the text is read with an opaque sign in its
place, which opens nothing and ends nothing. One that is then found inside a value was the value's own
text and is put back there; one that is not found there is what it is elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from planner_eval.base.later import later
from planner_eval.base.limits import Span
from planner_eval.base.named import NamedTuple
from planner_eval.base.text import INVISIBLE
from planner_eval.dialects.detect import tokens_at
from planner_eval.dialects.table import table
from planner_eval.plan.model import Path, RawCall, RawPlan, RawRef, Value
from planner_eval.plan.walk import map_leaves

_ASIDE = later(
    r"</?(?i:think|thinking|thought|reasoning|scratchpad)>|<\|thought_(?:start|end)\|>|\[/?(?i:THINK)\]"
    r"|<\|channel\|>analysis<\|message\|>|<\|(?:im_start|im_end|im_sep|endoftext|eot_id|eom_id|begin_of_text|"
    r"end_of_text|start_header_id|end_header_id|end)\|>|</?s>|<pad>|<bos>|<eos>|<end_of_turn>|<start_of_turn>"
    r"|\[/?INST\]|\x1b\[[\d;]*+m|<｜(?:begin|end)▁of▁sentence｜>"
)
"""A tag of a thought, a chat token or a terminal's colour: what is blanked outside of values."""
_AROUND = later(r"</?[A-Za-z][\w:.\-]*+|```++|~~~++")
"""What stands around calls: the begin of a tag, which is blanked, too, and a fence."""
_WORD = later(r"\S++")
_LINE = later(
    r"(?m:^)[ \t]*+(?:###[ \t]*+(?:Instruction|Response|Input|Human|Assistant|User|System)\b"
    rf"|(?:System|User|USER|Human|Assistant|ASSISTANT|AI|Tool)(?=\s*+:\s)|[{INVISIBLE}])"
)
"""What begins another turn at a line's start, or is not seen there; values may have several lines."""
_THOUGHT = later(
    r"<(?i:(think|thinking|thought|reasoning|scratchpad))>|(<\|)thought_start|(\[)(?i:THINK)|<\|channel"
)
_PLAIN = later(r"[ \t]{2,}+|[ \t\-]*+[\"']?\w[\w ]{0,40}+[\"']?[ \t]*+:[ \t]")
_TRIPLE = ('"""', "'''")

_FIRST = 0xF0000
"""The first of the signs, of those that Unicode leaves to private use."""
_MOST = 0xFFF0
"""Signs that there are."""
_SIGN = later("([\U000f0000-\U000fffff])\\1*+")
_TRIES = 12
"""How often a text is read, at most, to find out what stands inside values."""
_LONG = 100_000
"""Characters of a text that is read twice at most."""


class Tag(NamedTuple):
    """What may stand inside a value, though elsewhere it is no text.

    Args:
        spans: Where its words stand.
        aside: It is a tag of a thought or a chat token.
        framed: It is blanked, or ends what is read, inside values between tags, too.
    """

    spans: tuple[Span, ...]
    aside: bool
    framed: bool


# ---------------------------------------------------------------- what may stand inside a value
def tags(text: str) -> list[list[Tag]]:
    """What may stand inside values of a text though it is a token elsewhere, both tags of a thought together.

    Most texts have none. It is told by the quotes and tags around them, which reading has to prove.

    >>> [text for text in ("f(a=1)<|im_end|>", "<think>f(a='1')</think>f(a='2')") if tags(text)]
    []
    >>> [[tag.spans[0] for tag in group] for group in tags('f(a="<think>1</think>", b="</s>")')]
    [[(5, 12), (13, 21)], [(27, 31)]]
    """
    found = _found(text)
    if not found or max(text) >= chr(_FIRST):
        return []
    groups = list(_grouped(text, found))
    return groups if sum(map(len, groups)) <= _MOST else []


def _found(text: str) -> list[Tag]:
    """All tags and tokens of a text, in order; of those that overlap the first."""
    found: list[Tag] = []
    if "<" in text or "\x1b" in text or any(map(text.__contains__, ("[/", "[I", "[T", "[t"))):
        found = [Tag((match.span(),), aside=True, framed=True) for match in _ASIDE.finditer(text)]
    asides = len(found)
    found += [Tag(_words(text, match), aside=False, framed=True) for match in tokens_at(text)]
    if len(found) > asides or any(map(text.__contains__, _TRIPLE)):
        found += [Tag(_words(text, match), aside=False, framed=True) for match in _LINE.finditer(text)]
    if "</" in text or "```" in text or "~~~" in text:
        found += [Tag((match.span(),), aside=False, framed=False) for match in _AROUND.finditer(text)]
    if len(found) == asides:
        return found
    kept: list[Tag] = []
    for tag in sorted(found, key=lambda tag: (tag.spans[0][0], not tag.framed, not tag.aside)):
        if not kept or tag.spans[0][0] >= kept[-1].spans[-1][1]:
            kept.append(tag)
    return kept


def _words(text: str, match: re.Match[str]) -> tuple[Span, ...]:
    """The words of a token."""
    return tuple([word.span() for word in _WORD.finditer(text, *match.span())])


def _grouped(text: str, found: list[Tag]) -> Iterator[list[Tag]]:
    """The tags that may stand inside values, those of a thought together; none of a thought outside."""
    around = _Around(text)
    folded = text.lower() if any(tag.aside for tag in found) else ""
    ends = -1
    opened: dict[int, Tag] = {}
    nowhere: set[str] = set()
    for tag in found:
        at, end = tag.spans[0][0], tag.spans[-1][1]
        if at < ends:
            continue
        closing = _closing(text, tag) if tag.aside else None
        close = -1 if closing is None or closing in nowhere else folded.find(closing, end)
        if closing is not None and close < 0:
            nowhere.add(closing)
        if not around.may_hold(tag):
            if closing is not None:
                ends = len(text) if close < 0 else close + len(closing)
        elif close >= 0 and close not in opened:
            opened[close] = tag
        else:
            yield [opened.pop(at), tag] if at in opened else [tag]
    for tag in opened.values():
        yield [tag]


def _closing(text: str, tag: Tag) -> str | None:
    """What closes a thought that a tag opens; None where it opens none."""
    match = _THOUGHT.match(text, *tag.spans[0])
    if match is None:
        return None
    if match[1]:
        return f"</{match[1].lower()}>"
    return "<|thought_end|>" if match[2] else "[/think]" if match[3] else "<|end|>"


class _Around:
    """What stands around the places of a text that are asked for in order, as far as it tells values."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = self.line = 0
        self.stop = -1
        self.last = -1
        self.counts = dict.fromkeys(('"', "'", "\\\\"), 0)
        self.multiple = dict.fromkeys([mark for mark in (*_TRIPLE, "`") if mark in text], 0)
        self.plain = any(map(text.__contains__, ("Action Input", "arguments:", "parameters:", "args:")))
        self.end = len(text.rstrip())
        frames = {(row.parameter[0].split("$")[0], row.parameter[1].split("$")[0].strip())
                  for row in table().values() if row.parameter}  # fmt: skip
        self.frames = {frame: False for frame in sorted(frames) if frame[0] in text}
        self.tagged = bool(self.frames)
        if "(#" in text:
            self.frames["='", "')"] = False
        rows = (row for row in table().values() if row.quote and row.open and row.open[0] in text)
        self.marks = [row.quote for row in rows]
        self.multiple |= dict.fromkeys(self.marks, 0)

    def may_hold(self, tag: Tag) -> bool:
        """Whether a tag may stand inside a value."""
        self._move(tag.spans[0][0])
        if self.tagged and not tag.framed:
            return False  # what stands between tags is read from tag to tag
        double, single, slashes = self.counts['"'], self.counts["'"], self.counts["\\\\"]
        if double % 2 or single % 2 or (double and single) or ((double or single) and slashes):
            return True
        if any(count % 2 for count in self.multiple.values()):
            return True
        if tag.aside and (double or single) and self._quoted_after(tag.spans[0][1]):
            return True
        if (
            tag.framed
            and self.plain
            and not self.frames
            and tag.spans[0][1] < self.end
            and _PLAIN.match(self.text, self.line, tag.spans[0][0])
        ):
            return True
        return tag.framed and any(self.frames.values())

    def _move(self, at: int) -> None:
        """Take in what stands between the last place and this."""
        passed = self.text[self.at : at]
        for mark in self.multiple:
            self.multiple[mark] += passed.count(mark) - (3 * passed.count("```") if mark == "`" else 0)
        for opening, closing in self.frames:
            opens, closes = passed.rfind(opening), passed.rfind(closing)
            if opens != closes:
                self.frames[opening, closing] = opens > closes
        begun = passed.rfind("\n") + 1
        if begun:
            self.line = self.at + begun
            self.counts = dict.fromkeys(self.counts, 0)
        for mark in self.counts:
            self.counts[mark] += passed.count(mark, begun)
        for mark in self.marks:
            self.counts['"'] -= passed.count(mark, begun) * mark.count('"')
        for quote in ('"', "'"):
            self.counts[quote] -= passed.count("\\" + quote, begun)
        self.at = at

    def _quoted_after(self, at: int) -> bool:
        """Whether a quote stands in the rest of a line."""
        if at > self.stop:
            stop = self.text.find("\n", at)
            self.stop = len(self.text) if stop < 0 else stop
            self.last = max(self.text.rfind('"', at, self.stop), self.text.rfind("'", at, self.stop))
        return at <= self.last


# ---------------------------------------------------------------- the proof
class Taken(NamedTuple):
    """Calls whose values hold what they were written with, and what reading gave beside them."""

    raw: RawPlan
    given: Any


def settled(text: str, groups: list[list[Tag]], read: Callable[[str], Taken | None]) -> Taken | None:
    """What a text says where values of its calls hold tags; None where none does.

    Args:
        text: The text.
        groups: What may stand inside values, from :func:`tags`.
        read: Reads a text; None where it cannot be read.
    """
    proven: list[list[Tag]] = []
    found: Taken | None = None
    waiting = [groups]
    for _ in range(_TRIES if len(text) <= _LONG else 2):
        if not waiting:
            break
        part = waiting.pop(0)
        tried = [*proven, *part]
        signs = _Signs(text, tried)
        read_ = read(signs.text)
        raw = None if read_ is None else signs.put_back(read_.raw)
        if read_ is None or raw is None:
            waiting[:0] = _split(part)
            continue
        held = [group for group in tried if all(signs.seen.issuperset(tag.spans) for tag in group)]
        if len(held) == len(tried):
            proven, found = tried, Taken(raw, read_.given)
        elif len(held) > len(proven):
            waiting.insert(0, [group for group in held if group not in proven])
    return found


def _split(groups: list[list[Tag]]) -> list[list[list[Tag]]]:
    """Groups that do not stand inside values together, apart: by kind, else in halves."""
    asides = [group for group in groups if group[0].aside]
    if asides and len(asides) < len(groups):
        return [asides, [group for group in groups if not group[0].aside]]
    half = len(groups) // 2
    return [groups[:half], groups[half:]] if half else []


class _Signs:
    """A text with opaque signs in the place of tags, and what they stand for."""

    def __init__(self, text: str, groups: list[list[Tag]]) -> None:
        parts, at = [], 0
        self.spans: dict[str, Span] = {}
        self.source = text
        self.seen: set[Span] = set()
        self.broken = False
        for i, (start, end) in enumerate(
            sorted(span for group in groups for tag in group for span in tag.spans)
        ):
            sign = chr(_FIRST + i)
            self.spans[sign] = (start, end)
            parts += [text[at:start], sign * (end - start)]
            at = end
        self.text = "".join([*parts, text[at:]])

    def put_back(self, raw: RawPlan) -> RawPlan | None:
        """The calls with the tags in their values; None where one is broken, or stands in a tool's name."""
        if any(_SIGN.search(call.name) for call in raw.calls):
            return None
        calls = tuple(map(self._call, raw.calls))
        answer = raw.answer and tuple((key, self._value(value)) for key, value in raw.answer)
        seen = set(self.seen)
        notes = tuple(note._replace(message=self._text(note.message)) for note in raw.notes)
        self.seen = seen  # a note tells of the text, be it a value's or not
        return None if self.broken else raw._replace(calls=calls, answer=answer, notes=notes)

    def _call(self, call: RawCall) -> RawCall:
        return replace(
            call,
            arguments=tuple([(self._text(key), self._value(value)) for key, value in call.arguments]),
            label=call.label and self._text(call.label),
            binds=tuple([(self._text(name), self._path(path)) for name, path in call.binds]),
            returns=tuple(map(self._text, call.returns)),
            result=self._value(call.result),
        )

    def _value(self, value: Value) -> Value:
        if type(value) is dict:  # one with keys that a text repeats is refused later on
            return {self._text(key): self._value(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._value(item) for item in value]
        return map_leaves(self._leaf, value)

    def _leaf(self, value: Value) -> Value:
        if isinstance(value, RawRef):
            return RawRef(self._text(value.name), self._path(value.path))
        return self._text(value) if isinstance(value, str) else value

    def _path(self, path: Path) -> Path:
        return tuple([self._text(step) if isinstance(step, str) else step for step in path])

    def _text(self, text: str) -> str:
        return text if text.isascii() else _SIGN.sub(self._tag, text)

    def _tag(self, match: re.Match[str]) -> str:
        start, end = self.spans.get(match[1], (0, 0))
        self.broken |= len(match[0]) != end - start
        self.seen.add((start, end))
        return self.source[start:end]
