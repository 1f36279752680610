"""Records of large files, read by an index on disk: the same, in all that is said of them, as in memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from planner_eval.base.errors import PlanevalError
from planner_eval.records.files import PlanFile, Record, read_file
from planner_eval.records.gold import doubts as gold_doubts
from planner_eval.records.pairing import doubts, pair, refuse_repeated_gold, repeated_ids
from planner_eval.records.storing import IN_MEMORY, Store, is_stored
from tests.test_filed import drawn

TRIES = 400
FORMS = (
    "lines",
    "lines",
    "lines",
    "lines",
    "calls",
    "texts",
    "lists",
    "odd",
    "spans",
    "messages",
    "api",
    "mixed",
)


# ---------------------------------------------------------------- files
def value(random: Random, form: str, at: int) -> Any:
    """What stands on one line of a file."""
    call = {"name": random.choice("fg"), "arguments": {"a": random.randint(0, 2)}}
    name = random.choice((f"q{at}", f"q{at}", f"q{at // 2}", at, None, "", 2.0, "\ud800", True))
    if form == "mixed":
        form = random.choice(FORMS)
    if form == "calls":
        return {**call, "id": name} if random.random() < 0.5 else call
    if form == "texts":
        return f"f(a={at})"
    if form == "lists":
        return [call] * random.randint(0, 2)
    if form == "messages":
        return {"role": random.choice(("user", "assistant")), "content": f"f(a={at})", "id": name}
    if form == "spans":
        return {
            "trace_id": f"t{at // 2}",
            "span_id": f"s{at}",
            "name": "execute_tool f",
            "attributes": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"},
        }
    if form == "api":
        answer = {"message": {"role": "assistant", "content": f"f(a={at})"}, "finish_reason": "stop"}
        return {"custom_id": name, "choices": [answer] * random.randint(1, 2)}
    plan = random.choice(([call], json.dumps([call]), f"x = f(#a='{at}')", "It is sunny.", None, [], {}))
    field = random.choice(("output",) * 9 + ("prediction", "mine"))
    found = {"id": name, "note": "n", field: plan, "optinal": [], "ground_truth": [{"f": {"a": [1, 2]}}]}
    kept = random.sample([*found.items()], random.choice((5, 5, 5, 4, 3)))
    return dict(kept)


def damaged(random: Random, line: bytes) -> bytes:
    """A line, mostly whole."""
    chance = random.random()
    if chance < 0.8:
        return line
    at = random.randrange(len(line) + 1)
    wrong = (b"\xe4", b"\xe2\x82", b"\r", b"\0", b'"', b"}", b",", b" ", b"\xc2\xa0", b"\n", b'{"id": "z"}')
    return random.choice(
        (
            line[:at],
            line[:at] + random.choice(wrong) + line[at:],
            line + random.choice(wrong),
            b"",
            b"  ",
            b"\x0b",
        )
    )


def text(random: Random) -> bytes:
    """The bytes of a file of lines."""
    if random.random() < 0.25:
        return drawn(random)[0].encode("utf-8", "surrogatepass")
    form, harm = random.choice(FORMS), random.random() < 0.6
    count = random.choice((1, 2, 3, 5, 8, 12))
    lines = [json.dumps(value(random, form, at), ensure_ascii=random.random() < 0.5) for at in range(count)]
    raw = [line.encode("utf-8", "surrogatepass") for line in lines]
    if harm:
        raw = [damaged(random, line) for line in raw]
    end = random.choice((b"\n",) * 6 + (b"\r\n", b"\r", b"\n\n"))
    mark = random.choice((b"",) * 8 + (b"\xef\xbb\xbf", b"\xff\xfe"))
    return mark + end.join(raw) + random.choice((b"", end))


# ---------------------------------------------------------------- what is said of them
def shown(record: Record | None) -> Any:
    """All of a record, its error in words."""
    if record is None:
        return None
    error = record.error
    said = None if error is None else (type(error).__name__, str(error), error.code)
    return (*record._replace(error=None), said)


def tried(make: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """What a function gives, or how it refuses."""
    try:
        return make(*given, **named)
    except PlanevalError as error:
        return (type(error).__name__, str(error))


def told(file: PlanFile) -> Any:
    """All that is known of a file."""
    said = (file.name, file.many, file.content, file.id_field, dict(file.parts), file.notes, file.said)
    also = (file.several, repeated_ids(file.records), gold_doubts(file), list(map(shown, file.records)))
    return (*said, *also, len(file.records))


def paired(pred: PlanFile, gold: PlanFile, by: str | None) -> Any:
    """All that is known of how two files are paired."""
    found = pair(pred, gold, by=by)
    pairs = [tuple(map(shown, each)) for each in found.pairs]
    said = (found.by, pairs, list(map(shown, found.repeated)), len(found.pairs), len(found.repeated))
    return (*said, tried(refuse_repeated_gold, found, gold.records))


def drawn_files(tmp_path: Path, seed: int) -> Iterator[tuple[Random, Path, dict[str, Any]]]:
    random = Random(seed)
    while True:
        path = tmp_path / random.choice(("p.jsonl", "p.jsonl", "p.json", "p.txt", "p.ndjson"))
        path.write_bytes(text(random))
        named: dict[str, Any] = {"role": random.choice(("answer", "gold", "plan"))}
        if random.random() < 0.3:
            named["id_field"] = random.choice(("id", "note", "a.b"))
        if random.random() < 0.3:
            named["text_field"] = random.choice(("output", "mine", "ground_truth"))
        if random.random() < 0.2:
            named["spare"] = random.choice((("id", "mine"), ("note", None), ("nowhere", "output")))
        yield random, path, named


def test_stored_records_are_those_in_memory(tmp_path: Path) -> None:
    by_index = 0
    for random, path, named in islice(drawn_files(tmp_path, 1), TRIES):
        store = Store(limit=0, piece=random.choice((1, 40, 300, 100_000)))
        whole = tried(read_file, str(path), store=IN_MEMORY, **named)
        kept = tried(read_file, str(path), store=store, **named)
        if not isinstance(whole, PlanFile):
            assert kept == whole, path.read_bytes()
            continue
        assert isinstance(kept, PlanFile), (kept, path.read_bytes())
        assert told(kept) == told(whole), path.read_bytes()
        by_index += is_stored(kept.records)
    assert by_index > TRIES / 4


def test_stored_pairs_are_those_in_memory(tmp_path: Path) -> None:
    by_index = 0
    files = drawn_files(tmp_path, 2)
    for random, path, named in islice(files, TRIES):
        pred = path.rename(tmp_path / f"pred_{path.name}")
        _, gold, other = next(files)
        if random.random() < 0.15:
            gold = pred
        memory: list[PlanFile] = []
        stored: list[PlanFile] = []
        try:
            for each, how in ((pred, named), (gold, other)):
                memory.append(read_file(str(each), store=IN_MEMORY, **how))
                stored.append(read_file(str(each), store=Store(limit=0), **how))
        except PlanevalError:
            continue
        by = random.choice((None, None, "id", "position"))
        wanted = tried(paired, *memory, by)
        unsure = list(doubts(*memory, by=by))
        for sides in (stored, [stored[0], memory[1]], [memory[0], stored[1]]):
            assert tried(paired, *sides, by) == wanted
            assert list(doubts(*sides, by=by)) == unsure
        by_index += wanted[0] == "id" and all(is_stored(one.records) for one in stored)
    assert by_index > TRIES / 20
