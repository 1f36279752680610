"""A page read again in Python: what is packed in it, back in the shapes that its script sees."""

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

_ELEMENT = re.compile(r'<script type="([^"]+)" id="([^"]+)">([^<]*)</script>')


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
        gold, said, asked = self._gold(self.golds[side][k])
        pred = None if p is None else _plan(p, gold)
        told = [[self.index["codes"][code], *edit[:4]] for code, *edit in edits or ()]
        found = {"id": self.index["id"][k], "state": self.states(side)[k], "q": asked, "g": gold, "gt": said}
        return found | {"p": pred, "pt": text, "e": told, "al": partners, "s": structure} | (more or {})

    def _gold(self, number: int) -> tuple[Any, Any, Any]:
        if number < 0:
            return None, None, None
        chunk = self.head["chunk"]
        golds, asked = self.packs[1 + self.head["details"] + number // chunk]
        return *(golds[number % chunk] or [None, None]), asked[number % chunk]


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
