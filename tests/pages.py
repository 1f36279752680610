"""A page read again in Python: what is packed in it, back in the shapes that its script sees."""

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

_ELEMENT = re.compile(r'<script type="([^"]+)" id="([^"]+)">([^<]*)</script>')
_MARKS = "\x02\x03\x04\x05\x06\x07\x0e\x0f\x10\x11\x12"


class Page:
    """A page: its head, and its pairs."""

    def __init__(self, text: str) -> None:
        held = {name: said for _, name, said in _ELEMENT.findall(text)}
        self.head: dict[str, Any] = json.loads(held["head"])
        packed = (held[f"pack-{at}"] for at in range(self.head["packs"]))
        packs = [json.loads(gzip.decompress(base64.b64decode(one))) for one in packed]
        self.index, self.packs = packs[0], packs
        self.golds = [self._golds(side["gold"]) for side in self.index["sides"]]
        ids, first = self.index["id"], self.golds[0]
        order = sorted(range(len(ids)), key=lambda at: (first[at], at))
        self.place = {pair: at for at, pair in enumerate(order)}

    @classmethod
    def of(cls, file: Path) -> "Page":
        return cls(file.read_text(encoding="utf-8"))

    @staticmethod
    def _golds(steps: list[int]) -> list[int]:
        found, last = [], -1
        for step in steps:
            last += step + 1
            found.append(last)
        return found

    def states(self, side: int = 0) -> list[str]:
        column = self.index["sides"][side]["state"]
        return [self.index["states"][column[self.place[k]]] for k in range(len(self.index["id"]))]

    def pairs(self, side: int = 0) -> list[dict[str, Any]]:
        return [self.pair(k, side) for k in range(len(self.index["id"]))]

    def pair(self, k: int, side: int = 0) -> dict[str, Any]:
        at, chunk = self.place[k], self.head["chunk"]
        columns = self.packs[1 + at // chunk][side]
        p, text, edits, partners, structure, more = (column[at % chunk] for column in columns)
        gold, said, spans, asked = self._gold(self.golds[side][k])
        pred = None if p is None else _plan(p, gold)
        told = [_edit(self.index["codes"], edit, pred, gold, spans, text) for edit in edits or ()]
        found = {"id": self.index["id"][k], "state": self.states(side)[k], "q": asked, "g": gold, "gt": said}
        return found | {"p": pred, "pt": text, "e": told, "al": partners, "s": structure} | (more or {})

    def _gold(self, number: int) -> tuple[Any, Any, Any, Any]:
        if number < 0:
            return None, None, [], None
        chunk = self.head["chunk"]
        golds, asked = self.packs[1 + self.head["details"] + number // chunk]
        return *(golds[number % chunk] or [None, None, []]), asked[number % chunk]


def _plan(packed: Any, gold: Any) -> Any:
    calls = packed["c"] if isinstance(packed, dict) else packed
    made = []
    for call in calls:
        if isinstance(call, int):
            call = gold["c"][call]
        elif isinstance(call[0], int):
            tool, given = gold["c"][call[0]]
            call = [tool, [given[one] if isinstance(one, int) else one for one in call[1]]]
        made.append(call)
    return {"c": made, **({"a": packed["a"]} if isinstance(packed, dict) else {})}


def _edit(codes: Any, edit: Any, pred: Any, gold: Any, spans: Any, text: Any) -> list[Any]:
    code, words, cause, gold_call, gold_argument, call, argument, *off = edit
    off = [far for far in off if not isinstance(far, list)]  # further places are read by the script alone
    ours, theirs = _Side(call, argument, pred), _Side(gold_call, gold_argument, gold)
    fills = [said for both in zip(ours.fills, theirs.fills, strict=True) for said in both]
    fills.append(f"gold's {gold_call + 1}")
    for mark, said in () if words[0] == "\x01" else zip(_MARKS, fills, strict=True):
        words = words.replace(mark, said)
    words = words.removeprefix("\x01")
    here = [one + far for one, far in zip(ours.guess(text), off, strict=True)] if off else []
    there: list[int] = []
    if gold_call >= 0 and gold_call < len(spans) and spans[gold_call]:
        begin, end, each = spans[gold_call]
        one = isinstance(gold_argument, int) and 0 <= gold_argument < len(each)
        there = each[gold_argument] if one else [begin, end]
    return [codes[code], words, cause, theirs.place(there), ours.place(here)]


class _Side:
    def __init__(self, call: int, argument: Any, plan: Any) -> None:
        self.call, self.plan = call, plan
        self.given = [] if call == -1 else (plan.get("a", []) if call == -2 else plan["c"][call][1])
        whole = call == -1 or argument == -1
        self.argument = None if whole else self.given[argument][0] if isinstance(argument, int) else argument

    @property
    def fills(self) -> list[str]:
        if self.call == -1:
            return [""] * 5
        value = next((_words(said) for name, said in self.given if name == self.argument), "")
        if self.call == -2:
            return ["", "", value, f"'{self.argument}'", ""]
        listed = ", ".join(f"{name}={_words(said)}" for name, said in self.given if self.argument is None)
        return [listed, self.plan["c"][self.call][0], value, f"'{self.argument}'", f"call {self.call + 1}"]

    def place(self, span: list[int]) -> Any:
        return None if self.call == -1 else [None if self.call == -2 else self.call, self.argument, *span]

    def guess(self, text: str) -> tuple[int, int]:
        at = begin = 0
        calls = [call[0].rpartition(".")[2] for call in self.plan["c"]]
        for name in calls[: self.call + 1]:
            begin = max(text.find(name, at), 0)
            at = begin + len(name)
        if self.argument is None:
            after = text.find(calls[self.call + 1], at) if self.call + 1 < len(calls) else -1
            return begin, after if after >= 0 else len(text)
        place = max(text.find(self.argument, at), 0)
        value = next((said for name, said in self.given if name == self.argument), "")
        return place, place + len(self.argument) + (len(value) if isinstance(value, str) else 0)


def _words(value: Any) -> str:
    if isinstance(value, dict) and "$" in value:
        call, path = value["$"]
        way = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
        return f"‹call {call + 1}: {way}›" if way else f"‹call {call + 1}›"
    return "" if isinstance(value, (dict, list)) else json.dumps(value, ensure_ascii=False)
