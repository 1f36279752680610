"""When calls are the same calls once more: a model states its plan, and states it again."""

from __future__ import annotations

from bisect import bisect_right
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from planner_eval.base.frozen import replace
from planner_eval.base.limits import Span
from planner_eval.base.text import text_hash
from planner_eval.plan.model import Diagnostic, RawComputed, RawPlan, RawRef, fold
from planner_eval.reading.dialects.finding.segments import ReadCalls


@dataclass(slots=True)
class Repeats:
    """Which calls were read before: a model states its plan, and states it again.

    `seen` are the signatures of calls that were read; those of `unsigned` are missing there as yet. `signed`
    are those of all calls, by the names that later pieces have for them, and `first` is the name of the first
    call of a signature; `again` says which call the name of a repeated one means. `unnumbered` is the first
    block, where it has no number. `number` gives a number that no other piece has. `turns` are the places
    where turns of the assistant begin: a call that is made again in another turn is no repetition.
    """

    number: Callable[[], int]
    seen: set[str] = field(default_factory=set)
    unsigned: ReadCalls | None = None
    unnumbered: ReadCalls | None = None
    signed: dict[str, str] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)
    again: dict[str, str] = field(default_factory=dict)
    notes: list[Diagnostic] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)
    turn: int = 0

    def drop(self, read: Iterable[ReadCalls], *, exactly: bool = False) -> list[ReadCalls]:
        """The blocks that do not only repeat calls; `exactly` requires all of those before repeated."""
        retained = []
        for candidate in read:
            turn = bisect_right(self.turns, candidate.span[0])
            if self.unsigned is None and not self.seen:
                self.turn = turn
                self.unsigned = candidate  # in most texts it is all, which repeats nothing
                retained.append(candidate)
                continue
            if self.unsigned is not None:
                self.unnumbered = None if self.unsigned.pieces else self.unsigned
                self.sign(self.unsigned)
                self.unsigned = None
            item = self.numbered(candidate)
            own = call_signatures(item.raw, self.signed)
            if turn != self.turn:
                self.turn, self.seen = turn, set()
            if own and (set(own) == self.seen if exactly else set(own) <= self.seen):
                self.notes.append(repeated_calls_note(len(own), item.span))
                for name, text in _result_names(item, own):
                    self.signed[name] = f"{text}()"
                    self.again[name] = self.first[text]
                continue
            self.sign(item, own)
            retained.append(item)
        return retained

    def numbered(self, item: ReadCalls) -> ReadCalls:
        """A block with a number, by which calls that it repeats are found."""
        return item if item.pieces else replace(item, pieces=((self.number(), 0),))

    def sign(self, item: ReadCalls, own: list[str] | None = None) -> set[str]:
        """Keep the signatures of a block's calls, with the names that later blocks have for these calls."""
        own = call_signatures(item.raw, self.signed) if own is None else own
        for name, text in _result_names(item, own):
            self.signed[name] = f"{text}()"  # as a signature says it of a result as a whole
            self.first.setdefault(text, name)
        self.seen.update(own)
        return set(own)


def _result_names(item: ReadCalls, own: list[str]) -> Iterator[tuple[str, str]]:
    """The names by which later pieces refer to a block's calls, with the calls' signatures."""
    pieces = item.pieces or ((0, 0),)
    ends = [start for _, start in pieces[1:]] + [len(own)]
    for (piece, start), end in zip(pieces, ends, strict=True):
        for index in range(start, end):
            yield f"{index - start}@{piece}", own[index]


def call_signatures(raw: RawPlan, before: Mapping[str, str] | None = None) -> list[str]:
    """A text for each call that is equal for equal calls, nested ones included.

    Args:
        raw: The calls.
        before: The same texts of calls that stand before, by the names that these calls have for them.
    """
    texts_by_name: MutableMapping[str, str] = ChainMap({}, before) if before else {}  # type: ignore[arg-type]
    texts = []
    for call in raw.calls:
        arguments = sorted(f"{key!r}={_format_value(value, texts_by_name)}" for key, value in call.arguments)
        # a short text for a long one: nested calls would double it at each level
        text = text_hash(f"{call.app}.{call.name}({','.join(arguments)})")
        for name, path in call.binds:
            texts_by_name[name] = f"{text}{path}"
        texts.append(text)
    return texts


def find_repeats(runs: Sequence[RawPlan]) -> list[bool]:
    """For each run of one plan's calls, whether each of its calls, under its names, was made before."""
    names = iter(call_signatures(RawPlan(tuple(call for run in runs for call in run.calls))))
    seen: set[tuple[str, tuple[str, ...]]] = set()
    repeated = []
    for run in runs:
        own = {(next(names), call.returns) for call in run.calls}
        repeated.append(own <= seen)
        seen |= own
    return repeated


def repeated_calls_note(count: int, span: Span | None) -> Diagnostic:
    """What is said of calls that count once."""
    message = f"{count} repeated calls count once" if count > 1 else "a repeated call counts once"
    return Diagnostic("find.restated", message, "info", span=span)


def _format_value(value: Any, texts_by_name: Mapping[str, str]) -> str:
    def leaf(value: Any) -> str:
        if isinstance(value, RawRef):
            return f"<{texts_by_name.get(value.name, value.name)}{value.path}>"
        return repr(value.text if isinstance(value, RawComputed) else value)

    text: str = fold(
        value,
        leaf,
        items=lambda items: f"[{','.join(items)}]",
        fields=lambda fields: f"{{{','.join(f'{key!r}:{field}' for key, field in sorted(fields.items()))}}}",
        text=lambda pieces: "+".join(map(leaf, pieces)),
    )
    return text
