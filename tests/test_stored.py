"""Records of large files, read by an index on disk: the same, in all that is said of them, as in memory."""

import gzip
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import InputError, PlanevalError
from planner_eval.comparison.evaluate import pair
from planner_eval.comparison.gold_alternatives import gold_warnings
from planner_eval.reading.files import disk_records, field_choice, fields, pairing
from planner_eval.reading.files.files import PlanFile, read_file, read_path
from planner_eval.reading.files.pairing import (
    format_repeated_ids,
    prefix_ids_by_file,
    refuse_repeated_gold,
    warn_doubtful_pairing,
)
from planner_eval.reading.files.record import (
    IN_MEMORY,
    Record,
    Store,
    digest_origin,
    is_stored,
    refuse_changed,
)
from planner_eval.results.runs.model import make_change_check
from tests.conftest import ROOT
from tests.test_formed import CASES

TRIES = 250
STORED, PIECES = Store(limit=0), Store(limit=0, piece=100)
FORMS = (
    "lines", "lines", "lines", "lines", "calls", "texts", "lists", "odd", "spans", "messages", "api", "mixed",
)  # fmt: skip


def value(random: Random, form: str, at: int) -> Any:
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
        given = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"}
        return {"trace_id": f"t{at // 2}", "span_id": f"s{at}", "name": "execute_tool f", "attributes": given}
    if form == "api":
        answer = {"message": {"role": "assistant", "content": f"f(a={at})"}, "finish_reason": "stop"}
        return {"custom_id": name, "choices": [answer] * random.randint(1, 2)}
    plan = random.choice(([call], json.dumps([call]), f"x = f(#a='{at}')", "It is sunny.", None, [], {}))
    field = random.choice(("output",) * 9 + ("prediction", "mine"))
    found = {"id": name, "note": "n", field: plan, "optinal": [], "ground_truth": [{"f": {"a": [1, 2]}}]}
    return dict(random.sample([*found.items()], random.choice((5, 5, 5, 4, 3))))


def damaged(random: Random, line: bytes) -> bytes:
    if random.random() < 0.8:
        return line
    at = random.randrange(len(line) + 1)
    wrong = (b"\xe4", b"\xe2\x82", b"\r", b"\0", b'"', b"}", b",", b" ", b"\xc2\xa0", b"\n", b'{"id": "z"}')
    broken = (line[:at] + random.choice(wrong) + line[at:], line + random.choice(wrong))
    return random.choice((line[:at], *broken, b"", b"  ", b"\x0b"))


def text(random: Random) -> bytes:
    if random.random() < 0.25:
        return random.choice([*random.choice(CASES)["files"].values()] or [""]).encode("latin-1")
    form, harm = random.choice(FORMS), random.random() < 0.6
    places = range(random.choice((1, 2, 3, 5, 8, 12)))
    lines = [json.dumps(value(random, form, at), ensure_ascii=random.random() < 0.5) for at in places]
    raw = [line.encode("utf-8", "surrogatepass") for line in lines]
    if harm:
        raw = [damaged(random, line) for line in raw]
    end = random.choice((b"\n",) * 6 + (b"\r\n", b"\r", b"\n\n"))
    mark = random.choice((b"",) * 8 + (b"\xef\xbb\xbf", b"\xff\xfe"))
    return mark + end.join(raw) + random.choice((b"", end))


Drawn = Iterator[tuple[Random, Path, dict[str, Any]]]


def shown(record: Record | None) -> Any:
    if record is None:
        return None
    error = record.error
    said = None if error is None else (type(error).__name__, str(error), error.code)
    return (*record._replace(error=None), said)


def tried(make: Callable[..., Any], *given: Any, **named: Any) -> Any:
    try:
        return make(*given, **named)
    except PlanevalError as error:
        return (type(error).__name__, str(error))


def told(file: PlanFile) -> Any:
    said = (file.name, file.many, file.content, file.id_field, dict(file.parts), file.notes, file.said)
    also = (
        file.several,
        format_repeated_ids(file.records),
        gold_warnings(file),
        list(map(shown, file.records)),
    )
    return (*said, *also, len(file.records))


def paired(pred: PlanFile, gold: PlanFile, by: str | None) -> Any:
    found = pairing.pair(pred, gold, by=by)
    pairs = [tuple(map(shown, each)) for each in found.pairs]
    said = (found.by, pairs, list(map(shown, found.repeated)), len(found.pairs), len(found.repeated))
    return (*said, tried(refuse_repeated_gold, found, gold.records))


def drawn_files(tmp_path: Path, seed: int) -> Drawn:
    random = Random(seed)
    for number in count():
        path = tmp_path / f"{number}{random.choice(('.jsonl', '.jsonl', '.json', '.txt', '.ndjson'))}"
        path.write_bytes(text(random))
        named: dict[str, Any] = {"role": random.choice(("answer", "gold", "plan"))}
        if random.random() < 0.3:
            named["id_field"] = random.choice(("id", "note", "a.b"))
        if random.random() < 0.3:
            named["text_field"] = random.choice(("output", "mine", "ground_truth"))
        if random.random() < 0.2:
            named["spare"] = random.choice((("id", "mine"), ("note", None), ("nowhere", "output")))
        yield random, path, named


def drawn_folders(tmp_path: Path, seed: int) -> Drawn:
    for random, path, named in drawn_files(tmp_path, seed):
        folder = tmp_path / path.stem
        folder.mkdir()
        path.rename(folder / f"p{path.suffix}")
        for at in range(random.choice((0, 1, 2, 3))):
            raw = random.choice((text, text, lambda _: b"", lambda _: b'[{"name": "f"}]'))(random)
            (folder / f"{at}{random.choice(('.jsonl', '.json', '.txt'))}").write_bytes(raw)
        yield random, folder, named


@pytest.mark.more
@pytest.mark.parametrize(("draw", "head", "prefix"), [
    (drawn_files, 1_000, 1_000_000), (drawn_files, 2, 60), (drawn_folders, 1_000, 1_000_000),
])  # fmt: skip
def test_stored_records_are_those_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, draw: Callable[..., Drawn], head: int, prefix: int
) -> None:
    for module in (fields, field_choice, disk_records):
        monkeypatch.setattr(module, "HEAD_SIZE", head)
    monkeypatch.setattr(disk_records, "_HEAD_BYTES", prefix)
    by_index = 0
    for random, path, named in islice(draw(tmp_path, 1), TRIES):
        store = Store(limit=0, piece=random.choice((1, 40, 300, 100_000)))
        by_index += same_either_way(path, store, **named)
    assert by_index > TRIES / 10


@pytest.mark.parametrize("tries", [TRIES // 2, pytest.param(2 * TRIES, marks=pytest.mark.long)])
@pytest.mark.parametrize("draw", [drawn_files, drawn_folders])
def test_stored_pairs_are_those_in_memory(tmp_path: Path, draw: Callable[..., Drawn], tries: int) -> None:
    by_index = prefixed = 0
    sources = draw(tmp_path, 4)
    for random, pred, named in islice(sources, tries):
        _, gold, other = next(sources)
        if random.random() < 0.2:
            gold, other = pred, random.choice((named, other))
        if pred.is_dir() and random.random() < 0.5:  # the same names in both, as runs of two models have them
            for folder in {gold, pred}:
                for number, file in enumerate(sorted(folder.iterdir())):
                    file.rename(folder / f"{number}{file.suffix}")
        memory: list[PlanFile] = []
        stored: list[PlanFile] = []
        try:
            for each, how in ((pred, named), (gold, other)):
                memory.append(read_path(str(each), store=IN_MEMORY, **how))
                stored.append(read_path(str(each), store=STORED, **how))
        except PlanevalError:
            continue
        by = random.choice((None, None, None, "id", "position"))
        called = prefix_ids_by_file(*memory)
        wanted, unsure = tried(paired, *called, by), list(warn_doubtful_pairing(*called, by=by))
        assert list(map(told, prefix_ids_by_file(*stored))) == list(map(told, called))
        for sides in (stored, [stored[0], memory[1]], [memory[0], stored[1]]):
            assert tried(paired, *prefix_ids_by_file(*sides), by) == wanted
            assert list(warn_doubtful_pairing(*prefix_ids_by_file(*sides), by=by)) == unsure
        by_index += wanted[0] == "id" and all(is_stored(one.records) for one in stored)
        prefixed += called[1] is not memory[1]
    assert by_index > tries / 40
    assert draw is drawn_files or prefixed > tries / 40


def alone(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Code in a process of its own: it forks or is stopped, and this one has threads."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run([sys.executable, "-c", code], cwd=folder, env=env, capture_output=True, text=True)


def test_a_folder_may_hold_more_files_than_a_process_may_have_open(tmp_path: Path) -> None:
    for name, field in (("pred", "output"), ("gold", "gold")):
        (tmp_path / name).mkdir()
        for file in range(80):
            rows = [{"id": f"{file}.{at}", field: f"f(a={at})"} for at in range(3)]
            (tmp_path / name / f"{file}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    code = """
import resource, planner_eval as pe
from pathlib import Path
from planner_eval.reading.files.record import Store, is_sharded
from planner_eval.comparison.evaluate import pair
resource.setrlimit(resource.RLIMIT_NOFILE, (50, 50))
found = pair(Path('pred'), Path('gold'), store=Store(limit=0))
assert is_sharded(found.pred.records)
print(pe.score(found).figure('exact'), len(found.pairs))
"""
    run = alone(code, tmp_path, TMPDIR=str(tmp_path))
    assert (run.stdout, run.stderr) == ("1.0 240\n", "")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["gold", "pred"]


def same_either_way(path: Path, store: Store = PIECES, **named: Any) -> bool:
    """Whether a file is read by an index, and so the same as whole, but for nulls of a table."""
    whole = tried(read_path, str(path), store=IN_MEMORY, **named)
    kept = tried(read_path, str(path), store=store, **named)
    if not isinstance(whole, PlanFile):
        assert kept == whole, path
        return False
    assert isinstance(kept, PlanFile), (kept, path)
    whole = whole._replace(notes=tuple(n for n in whole.notes if "null in an object" not in n))
    assert told(kept) == told(whole), path
    return is_stored(kept.records)


@pytest.mark.more
@pytest.mark.parametrize("packing", ["gz", "bz2", "xz", "zst"])
def test_packed_lines_are_spooled(tmp_path: Path, packing: str) -> None:
    module = {"gz": "gzip", "xz": "lzma", "zst": "zstandard"}.get(packing, packing)
    pack = pytest.importorskip(module).compress
    by_index = 0
    for random, path, named in islice(drawn_files(tmp_path, 3), 90):
        raw = pack(path.read_bytes())
        if random.random() < 0.2:
            raw = raw[: random.randint(8, len(raw))]
        path.with_name(f"{path.name}.{packing}").write_bytes(raw)
        by_index += same_either_way(path.with_name(f"{path.name}.{packing}"), **named)
    assert by_index > 10


def test_a_table_is_spooled(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "p.parquet"
    rows: list[dict[str, Any]] = [
        {"id": "a", "output": "f(a='\u4e2d')", "x": float("nan"), "tools": [{"n": None, "m": b"\xff"}]},
        {"id": "b", "output": None, "x": 1.5, "tools": None},
        {"id": "b", "output": "[]", "x": float("inf"), "tools": []},
    ]
    for held, is_held in (
        (rows * 90, True), (rows[:1], True), ([{"name": "f"}] * 3, True), ([{"x": 1}], False),
    ):  # fmt: skip
        parquet.write_table(pyarrow.Table.from_pylist(held), path, row_group_size=7)
        assert same_either_way(path, role="answer") is is_held
    path.write_bytes(path.read_bytes()[:-20])
    assert not same_either_way(path)


def test_what_a_packed_file_holds_decides_whether_it_is_large(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl.gz"
    ids = (hashlib.sha256(bytes([at])).hexdigest()[:20] for at in range(250))
    text = "".join(f'{{"id": "{one}", "plan": "{one}()"}}\n' for one in ids)
    path.write_bytes(gzip.compress(text.encode()))
    stores = (Store(limit=16_000), Store(limit=17_000), Store())
    assert [is_stored(read_file(str(path), store=one).records) for one in stores] == [True, False, False]


def plain(folder: Path, name: str, count: int, field: str = "output", step: int = 1) -> Path:
    path = folder / name
    order = range(count)[::step]
    path.write_text("".join(json.dumps({"id": f"q{at}", field: f"f(a={at})"}) + "\n" for at in order))
    return path


@pytest.mark.parametrize("store", [IN_MEMORY, STORED])
def test_a_field_that_gives_way_after_the_head_is_told(tmp_path: Path, store: Store) -> None:
    """The first 1,000 records decide; what stands in others in its place is no plan, and the user is told."""
    first = [{"id": at, "answer": "f(a=1)"} for at in range(1_200)]
    later = [{"uuid": at, "output": "f(a=1)"} for at in range(800)]
    path = tmp_path / "p.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in first + later))

    def notes(**named: Any) -> tuple[str, ...]:
        return read_file(str(path), store=store, **named).notes

    content = (
        f"{path}: 'answer', which is used, occurs in 1,200 of 2,000 records; "
        "'output', which is not, in 800 (--field text names the field)"
    )
    id = content.replace("answer", "id").replace("output", "uuid").replace("field text", "field id")
    assert notes(role="answer") == (content, id)
    assert notes(role="gold") == tuple(one.replace("--field ", "--field gold.") for one in (content, id))
    assert notes(role="answer", text_field="answer", id_field="id") == ()
    nulls = [{"id": at, "answer": None, "output": "f(a=1)"} for at in range(800)]
    path.write_text("".join(f"{json.dumps(one)}\n" for one in first + nulls))
    assert notes(role="answer") == (content,)
    listed = first + [{"id": at, "calls": []} for at in range(800)]  # calls are looked at beside any field
    path.write_text("".join(f"{json.dumps(one)}\n" for one in listed))
    assert notes(role="answer") == ()


def test_slices_and_steps(tmp_path: Path) -> None:
    path = str(plain(tmp_path, "p.jsonl", 700))
    whole, kept = read_file(path).records, read_file(path, store=STORED).records
    for part in (slice(3, 9), slice(690, 9_000), slice(None, None, -1), slice(2, 600, 7), slice(5, 2)):
        assert list(kept[part]) == list(whole[part])
        assert len(kept[part]) == len(whole[part])
        assert list(kept[part][1:2]) == list(whole[part][1:2])
    assert (kept[0], kept[-1], kept[699]) == (whole[0], whole[-1], whole[699])
    with pytest.raises(IndexError):
        kept[700]
    turned = read_file(path, store=STORED).of_turn("last").records
    assert [one.turn for one in turned[:2]] == ["last", "last"]


@pytest.mark.parametrize("reading", [pe.Reading(), pe.Reading(by="position", infer=True)])
@pytest.mark.parametrize("few", ["answer", "gold", None])
def test_pairs_of_some_ids_and_slices(tmp_path: Path, reading: pe.Reading, few: str | None) -> None:
    paths = (plain(tmp_path, "p.jsonl", 600, step=-1), plain(tmp_path, "g.jsonl", 620, "gold"))
    sides = zip(paths, ("answer", "gold"), strict=True)
    files = [pe.read(path, role=role, store=IN_MEMORY if role == few else STORED) for path, role in sides]
    whole, kept = pair(*paths, reading=reading, store=IN_MEMORY), pair(*files, reading=reading)
    for part in (slice(5, 9), slice(610, None), slice(None, None, -100)):
        assert list(kept.pairs[part]) == list(whole.pairs[part])
    assert (len(kept.pairs), kept.pairs[-1]) == (len(whole.pairs), whole.pairs[-1])
    some, want = (pair(*each, reading=reading, ids=["q3", "q610"]) for each in (files, paths))
    assert list(some.pairs) == list(want.pairs) != []
    with pytest.raises(InputError, match=r"no record has the id 'q6100'; did you mean 'q610'"):
        pair(*files, ids="q6100")


def test_other_processes_read_the_same(tmp_path: Path) -> None:
    code = """
import multiprocessing
from pathlib import Path
import planner_eval as pe
from planner_eval.reading.files.files import read_file
from planner_eval.reading.files.record import Store
from planner_eval.comparison.evaluate import pair
from tests.test_stored import told
reading = pe.Reading(infer=True, turn="last")
found = pair(Path("p.jsonl"), Path("g.jsonl"), reading=reading, store=Store(limit=0))
first = list(found.pairs[250:350])  # read before the fork as well
for way in ("fork", "spawn"):
    with multiprocessing.get_context(way).Pool(2) as pool:
        assert pool.map(list, [found.pairs[250:350], found.pairs[250:350]]) == [first, first]
        assert pool.map(len, [found.pred.records[1:], found.pairs]) == [599, 620]
        if way == "fork":
            kept = read_file("p.jsonl", store=Store(limit=0, piece=500, spread=pool.imap))
assert list(found.pairs[250:350]) == first
assert told(kept) == told(read_file("p.jsonl"))
print("done")
"""
    plain(tmp_path, "p.jsonl", 600, step=-1)
    plain(tmp_path, "g.jsonl", 620, "gold")
    done = alone(code, tmp_path)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


ENDS = {
    "done": "del found", "exception": "raise SystemError",
    "interrupted": "os.kill(os.getpid(), signal.SIGINT); time.sleep(9)",
    "forked": "pid = os.fork()\nif not pid: sys.exit()\nos.waitpid(pid, 0); found.records[8]",
}  # fmt: skip


@pytest.mark.parametrize("end", ENDS)
def test_the_temporary_folder_is_removed_by_its_owner(tmp_path: Path, end: str) -> None:
    path, kept = plain(tmp_path, "p.jsonl", 9), tmp_path / "kept"
    kept.mkdir()
    code = f"""
import os, signal, sys, time
from planner_eval.reading.files.files import read_file
from planner_eval.reading.files.record import Store
found = read_file({str(path)!r}, store=Store(limit=0))
assert os.listdir({str(kept)!r}), 'it lies there'
{ENDS[end]}
"""
    run = alone(code, ROOT, TMPDIR=str(kept))
    assert (run.returncode == 0) == (end in ("done", "forked")), run.stderr
    assert list(kept.iterdir()) == []


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_an_index_serves_the_same_file_again(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path, folder = tmp_path / "p.jsonl.gz", tmp_path / "kept ?#%"
    path.write_bytes(pack(plain(tmp_path, "q.jsonl", 9).read_bytes()))
    store = Store(limit=0, folder=str(folder))
    whole = told(read_file(str(path)))
    assert told(read_file(str(path), store=store)) == whole
    before = {each.name: each.stat().st_mtime_ns for each in folder.iterdir()}
    assert told(read_file(str(path), store=store)) == whole
    assert {each.name: each.stat().st_mtime_ns for each in folder.iterdir()} == before
    for each in folder.glob("lines-*"):
        each.write_bytes(b"no database")
    assert told(read_file(str(path), store=store)) == whole
    path.write_bytes(pack(plain(tmp_path, "q.jsonl", 8).read_bytes()))
    assert told(read_file(str(path), store=store)) == told(read_file(str(path))) != whole


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = plain(tmp_path, "p.jsonl", 600)
    origin = digest_origin(str(path))
    refuse_changed(origin)
    assert origin.digest == hashlib.blake2b(path.read_bytes(), digest_size=32).hexdigest()
    kept = read_file(str(path), store=STORED)
    make_change_check(kept)()
    assert kept.digested() == read_file(str(path)).digested() == (origin,)
    whole = pe.read(tmp_path)
    make_change_check(whole)()
    assert whole.digested() == (origin,)

    def spread(scan: Callable[[Any], Any], pieces: Iterable[Any]) -> Iterator[Any]:
        for piece in pieces:
            yield scan(piece)
            with path.open("a") as file:
                file.write("{}\n")

    with pytest.raises(InputError, match="changed while it was read"):
        read_file(str(path), store=Store(limit=0, spread=spread))
    with pytest.raises(InputError, match=r"p\.jsonl changed while it was read: .* bytes then"):
        refuse_changed(origin)
    path.write_text("short")
    with pytest.raises(InputError, match="changed while it was read: it became shorter"):
        list(kept.records)
    for found in (kept, whole):
        for asked in (make_change_check(found), found.digested):
            with pytest.raises(InputError, match=r"p\.jsonl changed while it was read: .* 5 now"):
                asked()


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no /proc says how much memory was used")
def test_a_large_file_is_never_held(tmp_path: Path) -> None:
    """Two files of 24 MB, through the usual door; held in memory they take more than 200 MB."""
    for name, field in (("p.jsonl", "output"), ("g.jsonl", "gold")):
        with (tmp_path / name).open("w") as file:
            for at in range(12_000):
                plan = "\n".join(f"f{n}(a='{at}', b='{'x' * 60}')" for n in range(24))
                file.write(json.dumps({"id": f"q{at}", field: plan}) + "\n")
    code = """
import re, planner_eval as pe
from pathlib import Path
pairs = pe.pair(Path('p.jsonl'), Path('g.jsonl')).pairs
assert sum(pred.id == gold.id for pred, gold in pairs) == 12_000
print(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1])
"""
    run = alone(code, tmp_path)
    assert int(run.stdout) < 80_000, run.stderr
