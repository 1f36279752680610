"""Small files in the many forms in which plans come, drawn at random, and all that is read of them.

What is read of one is one line of tests/cases/formed.jsonl; ``pytest --update-cases`` rewrites the file:
review its diff like code.
"""

import json
from bz2 import compress as bzip2
from collections.abc import Callable
from gzip import compress as gzip
from lzma import compress as xz
from pathlib import Path
from random import Random
from typing import Any

import pytest

from planner_eval.base.errors import PairingError, PlanevalError
from planner_eval.comparison.rows import Evaluation, row_data
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.pairing import format_repeated_ids, pair, refuse_repeated_gold
from planner_eval.reading.files.several import prefix_ids_by_file, read_path
from tests.conftest import ROOT, AsKept

FILE = ROOT / "tests" / "cases" / "formed.jsonl"
SEEDS = range(440)
IDS = ("id", "id", "sample_id", "idx", "key", "custom_id")
GOLDS = ("gold", "ground_truth", "expected_calls", "target", "label")
CONTENTS = ("output", "prediction", "text", "tool_calls", "messages", "calls", "answer", "mine", "outputs")
ODDITIES = ("", "null", "[]", "{}", "7", '"x"', "\ud800", "Error during inference: down", "none was made")


def call(random: Random) -> dict[str, Any]:
    return {"name": random.choice("fg"), "arguments": {"a": random.randint(0, 2)}}


def calls(random: Random) -> list[dict[str, Any]]:
    return [call(random) for _ in range(random.choice((0, 1, 1, 2)))]


def spoken(random: Random) -> dict[str, Any]:
    said: dict[str, Any] = {"role": random.choice(("assistant", "assistant", "assistant", "user", "tool"))}
    if random.random() < 0.8:
        listed = [{"id": f"t{n}", "type": "function", "function": one} for n, one in enumerate(calls(random))]
        said["tool_calls"] = random.choice((listed, listed, listed, None))
    said["content"] = random.choice((None, "", "I call f(#a='1').", json.dumps(calls(random))))
    return said


def answer(random: Random) -> dict[str, Any]:
    reason = random.choice(("stop", "tool_calls", "tool_calls", "length", "content_filter", None))
    return random.choice((
        {"object": "chat.completion", "choices": [{"message": spoken(random), "finish_reason": reason}]},
        {"type": "message", "role": "assistant", "stop_reason": random.choice(("tool_use", "max_tokens")),
         "content": [{"type": "tool_use", "id": "u1", "name": "f", "input": {"a": 1}}]},
        {"output": [{"type": "function_call", "name": "f", "arguments": '{"a": 1}', "call_id": "o1"}]},
        {"error": {"message": "overloaded", "type": "server_error"}},
    ))  # fmt: skip


def span(random: Random, at: int) -> dict[str, Any]:
    kind = random.choice(("execute_tool", "execute_tool", "chat"))
    given = {"gen_ai.tool.name": "f", "gen_ai.tool.call.arguments": json.dumps({"a": at})}
    found = {"name": f"{kind} f", "traceId": f"t{random.randint(0, 1)}", "attributes": given}
    return {**found, "startTimeUnixNano": str(9 - at)}


def plan_in(random: Random, at: int, content: str) -> Any:
    if content == "messages":
        return [{"role": "user", "content": "do it"}, spoken(random)][: random.choice((0, 1, 2, 2, 2))]
    plan: Any = calls(random)
    if random.random() < 0.2:
        plan = {"schema": "planeval.plan/1", "calls": plan}
    written = (plan, plan, plan, json.dumps(plan), f"x = f(#a='{at}')", None, random.choice(ODDITIES))
    return random.choice((*written, {"body": {"choices": [{"message": spoken(random)}]}}))


def record(random: Random, at: int, key: str | None, content: str) -> dict[str, Any]:
    if random.random() < 0.05:
        return call(random)
    found: dict[str, Any] = {}
    if key is not None and random.random() < 0.95:
        found[key] = random.choice((f"q{at}",) * 6 + (at, float(at), "", f"q{at // 2}", None))
    if random.random() < 0.9:
        found[content] = plan_in(random, at, content)
    beside: dict[str, Any] = {
        "finish_reason": random.choice(("length", "stop")), "error": random.choice((None, "timeout", "")),
        "name": "f", "calls": random.choice((None, calls(random))), "gold": calls(random),
        "answer": random.choice(({"out": 1}, "f()")), "response": {"body": {"text": f"f(#a='{at}')"}},
    }  # fmt: skip
    for name in random.sample([*beside], random.choice((0, 0, 0, 0, 1, 2))):
        found.setdefault(name, beside[name])
    return dict(random.sample([*found.items()], len(found)))


def gold_record(random: Random, at: int, key: str | None, content: str) -> dict[str, Any]:
    found: dict[str, Any] = {} if key is None else {key: f"q{at if random.random() < 0.95 else 0}"}
    found[content] = random.choice(([call(random)], [call(random), call(random)]))
    terms = {
        "optional": (["c1"], ["c2"], ["lost"], "c1"), "before": ([["c2", "c1"]], [["c1", "lost"]], [["c1"]]),
        "unordered": ([["c1", "c2"]], [["lost"]], 3),
        "accepted": ({"c1": {"a": [0, 1, 2]}}, {"c2": {"a": 1}}, {"lost": {}}, []),
        "alternatives": ([[call(random)]], [{content: calls(random), "optional": ["c1"]}], ["f("], 1),
    }  # fmt: skip
    for name in random.sample([*terms], random.choice((0, 0, 0, 0, 0, 1, 2))):
        found[name] = random.choice(terms[name][: random.choice((1, 2, 4))])
    return found


def table(random: Random, records: list[dict[str, Any]], delimiter: str) -> str:
    columns = [*dict.fromkeys(key for one in records for key in one)] or ["id"]
    if random.random() < 0.1:
        columns.append(random.choice(("", columns[0])))

    def cell(value: Any) -> str:
        written = value if isinstance(value, str) else "" if value is None else json.dumps(value)
        if any(mark in written for mark in (delimiter, '"', "\n")) or random.random() < 0.2:
            return '"' + written.replace('"', '""') + '"'
        return written

    end = random.choice(("\n", "\n", "\r\n", "\r"))
    rows = [columns, *([one.get(column) for column in columns] for one in records)]
    return end.join(delimiter.join(map(cell, row)) for row in rows) + random.choice(("", end, end + end))


def text_of(random: Random, records: list[Any], form: str) -> str:
    if form == "lines":
        return random.choice(("\n", "\n", "\r\n", "\n\n", ",\n")).join(map(json.dumps, records)) + "\n"
    if form == "objects":
        return random.choice(("\n", "", ",")).join(json.dumps(one, indent=1) for one in records)
    if form == "map":
        return json.dumps({f"q{at}": one for at, one in enumerate(records)})
    if form == "one":
        return json.dumps(records[0], indent=random.choice((None, 1)))
    return json.dumps(records, indent=random.choice((None, 1)))


def faulty(random: Random, text: str) -> str:
    at = random.randint(0, len(text))
    pieces = ('"', "}", "{", "]", ",", "\n", "x", "\ud800", '{"id": "q9"}', "\\", '"\n"')
    return random.choice((
        text[:at] + random.choice(pieces) + text[at:], text[:at] + text[at + random.choice((1, 2, 9)) :],
        text[: max(at, 5)], text + random.choice(("]", "\n]", "x", "\n\n{", "f()", ",")),
    ))  # fmt: skip


def made(random: Random) -> tuple[str, list[Any], list[dict[str, Any]]]:
    key, content = random.choice((*IDS, None)), random.choice(CONTENTS)
    kinds = ("records",) * 5 + ("table",) * 2 + ("answers", "spoken", "spans", "values", "calls")
    kind, count, field = random.choice(kinds), random.choice((1, 2, 3, 4, 5)), random.choice(GOLDS)
    gold = [gold_record(random, at, key, field) for at in range(count)]
    records: list[Any] = [record(random, at, key, content) for at in range(count)]
    if kind == "answers":
        records = [{**({key: f"q{at}"} if key else {}), **answer(random)} for at in range(count)]
    elif kind == "spoken":
        records = [spoken(random) for _ in range(count)]
    elif kind == "spans":
        records = [span(random, at) for at in range(count)]
    elif kind == "values":
        records = [random.choice((calls(random), f"f(#a='{at}')", at, None, {})) for at in range(count)]
    elif kind == "calls":
        records = [random.choice((call(random), {"f": {"a": at}}, {"id": f"q{at}"})) for at in range(count)]
    return kind, records, gold


def drawn(random: Random) -> tuple[str, str, list[dict[str, Any]]]:
    kind, records, gold = made(random)
    if kind == "table":
        end = random.choice((".csv", ".csv", ".tsv", ".CSV"))
        text = table(random, records, "\t" if end == ".tsv" else ",")
        return end, faulty(random, text) if random.random() < 0.5 else text, gold
    form = random.choice(("lines", "lines", "array", "array", "objects", "map", "one"))
    text = text_of(random, records, form)
    for _ in range(random.choice((0, 0, 0, 1, 1, 2))):
        text = faulty(random, text)
    return random.choice((".json", ".json", ".jsonl", ".txt")), text, gold


ENCODINGS: tuple[Callable[[str], bytes], ...] = (
    lambda text: text.encode("utf-8-sig", "surrogatepass"),
    lambda text: text.encode("utf-16", "surrogatepass"),
    lambda text: text.encode("utf-16-le", "surrogatepass"),
    lambda text: text.encode("utf-32", "surrogatepass")[: 4 * len(text) + 1],
    lambda text: text.replace("f", "\xe4", 2).encode("latin-1", "replace"),
    lambda text: text.replace("q", "\xe4").encode("latin-1", "replace"),
    lambda text: gzip(text.encode("utf-8", "replace"), mtime=0),
    lambda text: bzip2(text.encode("utf-8", "replace")),
    lambda text: xz(text.encode("utf-8", "replace"))[:-9],
    lambda text: text.encode("utf-8", "replace") + b"\0",
    lambda text: b"PK\x03\x04" + text.encode("utf-8", "replace"),
)


def written(random: Random, end: str, text: str) -> str:
    """A file, or a folder of two, in the folder one is in; what to call it."""
    encode = ENCODINGS[0] if random.random() < 0.85 else random.choice(ENCODINGS)
    if random.random() < 0.85:
        Path(f"pred{end}").write_bytes(encode(text))
        return f"pred{end}"
    for old in Path("several").glob("*"):
        old.unlink()
    Path("several").mkdir(exist_ok=True)
    for name in random.choice((("a", "b"), ("q0", "q1"), ("a", ".b"), ("a",), ())):
        Path(f"several/{name}{end}").write_bytes(encode(text) if name != "b" else b'{"id": "q1", "plan": []}')
    return random.choice(("several", "several/*"))


def kept(file: PlanFile) -> list[Any]:
    return [
        [one.id, one.position, one.line, one.source, one.error and str(one.error), [*one.fields]]
        for one in file.records
    ]


def said(seed: int) -> dict[str, Any]:
    """All that is read of one file, in the folder one is in."""
    random = Random(f"formed {seed}")
    end, text, golds = drawn(random)
    options = {"role": random.choice(("answer", "answer", "gold", "plan"))}
    if random.random() < 0.08:
        options["text_field"] = random.choice(("mine", "response.body.text", "output", "answer"))
    if random.random() < 0.03:
        options["id_field"] = random.choice(("id", "idx", "note"))
    path = written(random, end, text)
    Path("gold.jsonl").write_text("\n".join(map(json.dumps, golds)), encoding="utf-8")
    found: dict[str, Any] = {"seed": seed, "path": path, "text": text.encode("utf-8", "replace").decode()}
    found |= {"options": options}
    try:
        pred = read_path(path, **options)
        found |= {"said": [pred.said, pred.many, pred.content, pred.id_field, pred.notes], "read": kept(pred)}
        found["twice"] = format_repeated_ids(pred.records)
        gold = read_path("gold.jsonl", role="gold")
        if pred.parts:
            pred, gold = prefix_ids_by_file(pred, gold)
        try:
            pairing = pair(pred, gold, by=random.choice((None, None, None, "id", "position")))
        except PairingError as error:
            found["apart"] = str(error)
            pairing = pair(pred, gold, by="position")
        found["repeated"] = [one.where for one in pairing.repeated]
        repair, places = random.random() < 0.3, {"located": True} if random.random() < 0.3 else {}
        rows = Evaluation(repair=repair, **places).rows(pairing.pairs)
        found["rows"] = [row_data(row, structure=seed % 2 == 0) for row in rows]
        refuse_repeated_gold(pairing, gold.records)
    except PlanevalError as error:
        found["refused"] = str(error)
    return found


def test_what_is_read_of_each_file(as_kept: AsKept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it was, every record a row, and of a file of lines those that are whole."""
    monkeypatch.chdir(tmp_path)
    found = [said(seed) for seed in SEEDS]
    as_kept(FILE, found)
    for one in found:
        if "rows" in one:
            assert len(one["rows"]) + len(one["repeated"]) >= len(one["read"]), one["seed"]
        if one["path"] == "pred.jsonl" and one.get("said", [None, False])[1] and "\r" not in one["text"]:
            whole = sum(map(is_object, filter(str.strip, one["text"].split("\n"))))
            assert sum("no JSON" not in (each[4] or "") for each in one["read"]) >= whole, one["seed"]


def is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
