"""Tags and tokens that stand inside values of calls, or in texts and comments of programs.

It goes by the quotes and tags around them. What it takes for one too many costs a reading more, and
changes nothing; what it passes over is taken for what it is outside of values.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from typing import TypeAlias

from planner_eval.base.errors import ParseError
from planner_eval.base.frozen import replace
from planner_eval.base.limits import Span
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import (
    INVISIBLE,
    find_signed,
    group_by_sign,
    lazy_pattern,
    line_end,
    remembered,
)
from planner_eval.plan.model import Path, RawComputed, RawPlan, RawRef, Value, map_leaves
from planner_eval.reading.dialects.detect import find_opening_tokens
from planner_eval.reading.dialects.dialect import RecognisedPlan
from planner_eval.reading.dialects.finding.answers import RESULT_TOKENS
from planner_eval.reading.dialects.finding.segments import FENCE_LABEL, fences
from planner_eval.reading.dialects.finding.speakers import CHAT_TOKENS
from planner_eval.reading.dialects.finding.thought_tokens import THOUGHT_ENDS, THOUGHT_TOKENS
from planner_eval.reading.dialects.programs.syntax import parse_syntax
from planner_eval.reading.dialects.table import Wrapper, custom_rows, table

# ----------------------------------------------------------------------
# Which tags and tokens of a text may stand inside values of its calls: a guess that reading has to prove.
_THOUGHT_OR_CHAT_TOKENS = group_by_sign((
    *(
        f"{re.escape(token[0])}(?i:{re.escape(token[1:])})"
        for pair in (*THOUGHT_TOKENS, *RESULT_TOKENS)
        for token in pair
    ),
    r"<\|channel\|>analysis<\|message\|>", r"<\|start\|>(?!assistant)", r"<\|tool(?:_response)?+\|>",
    *CHAT_TOKENS, "</?s>", "\x1b\\[[\\d;]*+m",
))  # fmt: skip
"""A tag of a thought, a chat token or a terminal's colour: what is blanked outside of values."""
_TAG_OR_FENCE_STARTS = group_by_sign((r"</?(?!node-\w|GENERATED>)[A-Za-z][\w:.\-]*+", "```++", "~~~++"))
"""What stands around calls: the begin of a tag, which is blanked, too, and a fence; references are none."""
_TURN_HEADER = lazy_pattern(
    r"(?m:^)[ \t]*+(?:###[ \t]*+(?:Instruction|Response|Input|Human|Assistant|User|System)\b"
    rf"|(?:System|User|USER|Human|Assistant|ASSISTANT|AI|Tool)(?=\s*+:\s)|[{INVISIBLE}])"
)
"""What begins another turn at a line's start, or is not seen there; values may have several lines."""
_ESCAPED_CHARACTER = lazy_pattern(r"\\.")
_APOSTROPHE = lazy_pattern(r"(?:\w\w|\bI)'(?=\w)")
_WORD = lazy_pattern(r"\S++")
_UNQUOTED_VALUE_LINE = lazy_pattern(r"[ \t]{2,}+|[ \t\-]*+[\"']?\w[\w ]{0,40}+[\"']?[ \t]*+:[ \t]")
"""How a line begins on which a value without quotes may stand."""
_UNQUOTED_VALUE_KEYS = ("Action Input", "arguments:", "parameters:", "args:")
_COMMENT_START = lazy_pattern(r"(?<!\S)#(?!\w++\s*=)")
"""What may begin a comment of Python's; no argument of AppBench's."""
_TRIPLE_QUOTES = ('"""', "'''")


class Tag(NamedTuple):
    """What may stand inside a value, though elsewhere it is no text.

    Args:
        spans: Where its words stand.
        aside: It is a tag of a thought or a chat token.
        framed: It means something inside values between tags, too.
    """

    spans: tuple[Span, ...]
    aside: bool
    framed: bool


class _UnquotedValueFrames(NamedTuple):
    """What stands around values that have no quotes.

    Args:
        between: What opens a value between tags, with what may close it.
        opening: What finds whether any of these opens one.
        quotes: Tokens that stand for quotes, each with the token before a call that has such.
    """

    between: dict[str, tuple[str, ...]]
    opening: re.Pattern[str]
    quotes: tuple[tuple[str, str], ...]


@cache
def _frames(_own: tuple[Wrapper, ...]) -> _UnquotedValueFrames:
    between: dict[str, tuple[str, ...]] = {}
    for row in table().values():
        if row.parameter:
            opening, closing = row.parameter[0].split("$")[0], row.parameter[1].split("$")[0].strip()
            if len(opening) == 1:  # a tag that is called what the parameter is: what stands around them all
                opening, closing = row.call[0].split()[-1], row.call[1].split()[0]
            between[opening] = (*between.get(opening, ()), closing)
    quotes = tuple([(row.quote, row.open[0]) for row in table().values() if row.quote and row.open])
    pattern = re.compile("|".join(map(re.escape, between)) or "(?!)")
    return _UnquotedValueFrames(between, pattern, quotes)


def tags(text: str) -> list[list[Tag]]:
    """What may stand inside values of a text though it is a token elsewhere, the tags of a thought together.

    >>> [text for text in ("f(a=1)<|im_end|>", "<think>f(a='1')</think>f(a='2')") if tags(text)]
    []
    >>> [[tag.spans[0] for tag in group] for group in tags('f(a="<think>1</think>", b="</s>")')]
    [[(5, 12), (13, 21)], [(27, 31)]]
    """
    return _tags(text, custom_rows())


@remembered(20_000)
def _tags(text: str, _own: tuple[Wrapper, ...]) -> list[list[Tag]]:
    all_tags = _find_tags(text)
    return list(_group_tags(text, all_tags)) if all_tags else []


def _remove_escapes(text: str) -> str:
    """A text without what is escaped in it."""
    return _ESCAPED_CHARACTER.sub("", text) if "\\" in text else text


def _count_double_quotes(text: str) -> int:
    """How many double quotes stand in a text, without those that are three."""
    return text.count('"') - 3 * text.count('"""')


def _count_single_quotes(text: str) -> int:
    """How many single quotes stand in a text, without those that are three and the apostrophes in words."""
    if "'" not in text:
        return 0
    return text.count("'") - 3 * text.count("'''") - len(_APOSTROPHE.findall(text))


def _find_tags(text: str) -> list[Tag]:
    """All tags and tokens of a text, in order; of those that overlap the first."""
    candidates = [
        Tag((match.span(),), aside=True, framed=True) for match in find_signed(_THOUGHT_OR_CHAT_TOKENS, text)
    ]
    frames = list(find_opening_tokens(text))
    if frames or any(map(text.__contains__, _TRIPLE_QUOTES)):
        frames += _TURN_HEADER.finditer(text)
    for match in frames:
        words = tuple([word.span() for word in _WORD.finditer(text, *match.span())])
        candidates.append(Tag(words, aside=False, framed=True))
    between, quotes = _frames(custom_rows())[1:]
    if (
        ("</" in text or "```" in text or "~~~" in text)
        and between.search(text) is None  # what stands there is read from tag to tag
        and not any(quote in text and token in text for quote, token in quotes)
    ):
        candidates += [
            Tag((match.span(),), aside=False, framed=False)
            for match in find_signed(_TAG_OR_FENCE_STARTS, text)
        ]
    selected: list[Tag] = []
    for tag in sorted(candidates, key=lambda tag: (tag.spans[0][0], not tag.framed, not tag.aside)):
        if not selected or tag.spans[0][0] >= selected[-1].spans[-1][1]:
            selected.append(tag)
    return selected


def _group_tags(text: str, candidates: list[Tag]) -> Iterator[list[Tag]]:
    """The tags that may stand inside values, those of a thought together; none of a thought outside."""
    around = _TagContext(text)
    folded = ""
    ends = 0
    opened: dict[int, Tag] = {}
    nowhere: set[str] = set()
    for tag in candidates:
        start, end = tag.spans[0][0], tag.spans[-1][1]
        if start < ends:
            continue
        closing = THOUGHT_ENDS.get(text[start:end].lower()) if tag.aside else None
        close = -1
        if closing is not None and closing not in nowhere:
            folded = folded or text.lower()
            close = folded.find(closing, end)
            if close < 0:
                nowhere.add(closing)
        if not around.may_hold(tag):
            if closing is not None:
                ends = len(text) if close < 0 else close + len(closing)
        elif close >= 0 and close not in opened:
            opened[close] = tag
        else:
            yield [opened.pop(start), tag] if start in opened else [tag]
    for tag in opened.values():
        yield [tag]


class _TagContext:
    """What stands around the places of a text, which are asked for in order."""

    def __init__(self, text: str) -> None:
        frames = _frames(custom_rows())
        self.text = text
        self.at = self.line = self.double = self.single = 0
        self.stop = self.last = -1
        self.marks = [quote for quote, token in frames.quotes if token in text]
        marks = [mark for mark in (*_TRIPLE_QUOTES, "`") if mark in text]
        self.counts = dict.fromkeys([*marks, *self.marks], 0)
        self.between = {
            opening: next((closing for closing in closings if closing in text), closings[0])
            for opening, closings in (frames.between.items() if frames.opening.search(text) else ())
            if opening in text
        }
        self.commented = "#" in text
        if self.commented and "(#" in text:
            self.between["='"] = "')"
        self.framed = dict.fromkeys(self.between, False)

    @cached_property
    def plain_end(self) -> int:
        """Where the text ends in which values without quotes may stand; 0 where none may."""
        may_be_plain = self.between.keys() <= {"='"} and any(
            map(self.text.__contains__, _UNQUOTED_VALUE_KEYS)
        )
        return len(self.text.rstrip()) if may_be_plain else 0

    def may_hold(self, tag: Tag) -> bool:
        """Whether a tag may stand inside a value."""
        start, end = tag.spans[0]
        self._move(start)
        if self.commented and _COMMENT_START.search(self.text, self.line, start) is not None:
            return True
        if self.double or self.single:
            odd = self.double % 2 or self.single % 2
            if odd or (self.double and self.single) or (tag.aside and self._quoted_after(end)):
                return True
        if any(count % 2 for count in self.counts.values()):
            return True
        if not tag.framed:
            return False
        if end < self.plain_end and _UNQUOTED_VALUE_LINE.match(self.text, self.line, start):
            return True
        return any(self.framed.values())

    def _move(self, position: int) -> None:
        """Take in what stands between the last place and this."""
        passed = self.text[self.at : position]
        self.at = position
        for mark in self.counts:
            self.counts[mark] += passed.count(mark) - (3 * passed.count("```") if mark == "`" else 0)
        for opening, closing in self.between.items():
            opens, closes = passed.rfind(opening), passed.rfind(closing)
            if opens != closes:
                self.framed[opening] = opens > closes
        line_start = passed.rfind("\n") + 1
        if line_start:
            self.line = position - len(passed) + line_start
            self.double = self.single = 0
            passed = passed[line_start:]
        if '"' not in passed and "'" not in passed:  # as before most tags
            return
        passed = _remove_escapes(passed)
        self.double += _count_double_quotes(passed)
        self.single += _count_single_quotes(passed)
        for mark in self.marks:
            self.double -= passed.count(mark) * mark.count('"')

    def _quoted_after(self, position: int) -> bool:
        """Whether the quotes of a line are no pairs, and one stands in the rest of it."""
        if position > self.stop:
            self.stop = line_end(self.text, position)
            line = self.text[self.line : self.stop]
            plain = _remove_escapes(line)
            odd = _count_double_quotes(plain) % 2 or _count_single_quotes(plain) % 2
            self.last = self.line + max(line.rfind('"'), line.rfind("'")) if odd else -1
        return position <= self.last


# ----------------------------------------------------------------------
# Values that hold what elsewhere is a thought's tag or a token: they are read character for character.
#
# Outside of values such text is blanked before anything is read, and a notation's opening token counts
# wherever it stands. Where one may stand inside a value, the text is read with an opaque sign in its
# place, which opens nothing and ends nothing. One that is then found inside a value was the value's own
# text and is put back there; one that is not found there is what it is elsewhere.
_FIRST_PLACEHOLDER = 0xF0000
"""The first of the signs, of those that Unicode leaves to private use."""
_MAX_PLACEHOLDERS = 0xFFF0
"""How many signs there are."""
_PLACEHOLDER = lazy_pattern("([\U000f0000-\U000fffff])\\1*+")
_MAX_ATTEMPTS = 12
"""How often a text is read, at most, to find out what stands inside values."""
_LONG_TEXT_LENGTH = 100_000
"""Characters of a text that is read twice at most."""


TextReader: TypeAlias = Callable[[str], RecognisedPlan]
"""Reads a text."""


class EmbeddedTagReading(NamedTuple):
    """What a text says whose values hold tags.

    Args:
        plan: What was read, with the tags in the calls' values.
        signs: The text with signs for these tags.
    """

    plan: RecognisedPlan
    signs: TagPlaceholders


def read_embedded_tags(text: str, groups: list[list[Tag]], read: TextReader) -> EmbeddedTagReading | None:
    """What a text says where values of its calls hold tags; None where none does.

    Args:
        text: The text.
        groups: What may stand inside values, from
            :func:`planner_eval.reading.dialects.finding.embedded_tokens.tags`.
        read: Reads a text; what it refuses with a ParseError is read otherwise.
    """
    if not groups or sum(map(len, groups)) > _MAX_PLACEHOLDERS or max(text) >= chr(_FIRST_PLACEHOLDER):
        return None
    seen = _tags_in_programs(TagPlaceholders(text, groups))
    proven = [group for group in groups if all(seen.issuperset(tag.spans) for tag in group)]
    best: EmbeddedTagReading | None = None
    waiting: list[list[list[Tag]]] = [[]] if proven else []
    if len(proven) < len(groups):
        waiting.append([group for group in groups if group not in proven])
    for _ in range(_MAX_ATTEMPTS if len(text) <= _LONG_TEXT_LENGTH else 2):
        if not waiting:
            break
        candidates = waiting.pop(0)
        tried = [*proven, *candidates]
        signs = TagPlaceholders(text, tried)
        try:
            plan = read(signs.text)
        except ParseError:
            if len(proven) == len(groups):
                raise
            waiting[:0] = _split_groups(candidates)
            continue
        put = signs.put_back(plan.raw)
        signs.seen |= seen
        read_groups = [group for group in tried if all(signs.seen.issuperset(tag.spans) for tag in group)]
        if put is None:
            waiting[:0] = _split_groups(candidates)
        elif len(read_groups) == len(tried):
            proven, best = tried, EmbeddedTagReading(plan._replace(raw=put), signs)
        elif len(read_groups) > len(proven):
            unread_groups = [group for group in candidates if group not in read_groups]
            waiting[:0] = [
                [group for group in read_groups if group not in proven],
                *(_split_groups(unread_groups) or [unread_groups]),
            ]
        elif len(_split_by_kind(candidates)) > 1:
            waiting[:0] = _split_by_kind(candidates)
    return best


def _split_groups(groups: list[list[Tag]]) -> list[list[list[Tag]]]:
    """Groups that do not stand inside values together, apart: by kind, else in halves."""
    kinds = _split_by_kind(groups)
    half = len(groups) // 2
    return kinds if len(kinds) > 1 else [groups[:half], groups[half:]] if half else []


def _split_by_kind(groups: list[list[Tag]]) -> list[list[list[Tag]]]:
    """Thoughts and chat tokens, and what else there is."""
    asides = [group for group in groups if group[0].aside]
    return [kind for kind in (asides, [group for group in groups if not group[0].aside]) if kind]


class TagPlaceholders:
    """A text with opaque signs in the place of tags, and what they stand for.

    >>> signs = TagPlaceholders("f(a='</s>')", [[Tag(((5, 9),), aside=True, framed=True)]])
    >>> signs.text.isascii(), signs.whole(signs.text)
    (False, "f(a='</s>')")
    """

    def __init__(self, text: str, groups: list[list[Tag]]) -> None:
        pieces, position = [], 0
        self.spans: dict[str, Span] = {}
        self.source = text
        self.seen: set[Span] = set()
        self.broken = False
        for i, (start, end) in enumerate(
            sorted(span for group in groups for tag in group for span in tag.spans)
        ):
            sign = chr(_FIRST_PLACEHOLDER + i)
            self.spans[sign] = (start, end)
            pieces += [text[position:start], sign * (end - start)]
            position = end
        self.text = "".join([*pieces, text[position:]])

    def put_back(self, raw: RawPlan) -> RawPlan | None:
        """The calls with the tags in their values; None where one is broken, or stands in a tool's name."""
        if any(_PLACEHOLDER.search(call.name) for call in raw.calls):
            return None
        calls = tuple(
            [
                replace(
                    call,
                    arguments=tuple([(self.whole(key), self._value(value)) for key, value in call.arguments]),
                    label=call.label and self.whole(call.label),
                    binds=tuple([(self.whole(name), self._path(path)) for name, path in call.binds]),
                    returns=tuple(map(self.whole, call.returns)),
                    result=self._value(call.result),
                )
                for call in raw.calls
            ]
        )
        answer = raw.answer and tuple((key, self._value(value)) for key, value in raw.answer)
        seen = set(self.seen)
        notes = tuple(note._replace(message=self.whole(note.message)) for note in raw.notes)
        self.seen = seen  # a note tells of the text, be it a value's or not
        return None if self.broken else raw._replace(calls=calls, answer=answer, notes=notes)

    def _value(self, value: Value) -> Value:
        if type(value) is dict:  # one with keys that a text repeats is refused later on
            return {self.whole(key): self._value(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._value(item) for item in value]
        return map_leaves(self._leaf, value)

    def _leaf(self, value: Value) -> Value:
        if isinstance(value, RawRef):
            return RawRef(self.whole(value.name), self._path(value.path))
        if isinstance(value, RawComputed):
            return RawComputed(self.whole(value.text))
        return self.whole(value) if isinstance(value, str) else value

    def _path(self, path: Path) -> Path:
        return tuple([self.whole(step) if isinstance(step, str) else step for step in path])

    def whole(self, text: str) -> str:
        """A text with the tags in the place of their signs."""
        return text if text.isascii() else _PLACEHOLDER.sub(self._tag, text)

    def _tag(self, match: re.Match[str]) -> str:
        start, end = self.spans.get(match[1], (0, 0))
        self.broken |= len(match[0]) != end - start
        self.seen.add((start, end))
        return self.source[start:end]


_CODE = lazy_pattern(r"<((?:\w{1,20}_)?code|execute)>(?P<body>.*?)</\1>", re.S)


def _tags_in_programs(signs: TagPlaceholders) -> set[Span]:
    """The tags in texts and comments of what is a program: elsewhere a sign is none of Python's."""
    text, seen = signs.text, set[Span]()
    pieces = [(0, len(text)), *(piece.span("body") for piece in (*fences(text), *_CODE.finditer(text)))]
    for start, end in pieces:
        label = FENCE_LABEL.match(text, start) if start else None
        program = text[label.end() if label else start : end]
        tree = parse_syntax(program.strip()) if _PLACEHOLDER.search(program) else None
        nodes = [*ast.walk(tree)] if isinstance(tree, ast.Module) else []
        texts = [node.value for node in nodes if isinstance(node, ast.Constant)]
        in_comments = start > 0 and not any(isinstance(t, str) and _PLACEHOLDER.search(t) for t in texts)
        if nodes and (in_comments or any(isinstance(node, ast.Call) for node in nodes)):
            seen |= {span for span in signs.spans.values() if start <= span[0] < end}
    return seen
