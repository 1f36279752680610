"""What the library says of many texts and pairs, as digests: ``python -m tests.unchanged`` writes them anew.

Lines of ``drawn-*.jsonl`` are texts, pairs and command lines that were drawn at random: golden texts
damaged, words exchanged, programs of a small grammar, faults planted in plans, files of other tests under
every option. Some were kept because they told a fault planted in the code that no line before them told,
the others by chance. Whoever finds an input that tells something new adds a line. The files of command
lines are lines of ``drawn-files.jsonl``, by number.

A digest says that an answer is another one, not which is right: whoever changes an answer on purpose looks
at the change with ``make same BASE=HEAD`` first, then writes the digests anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from hashlib import blake2b
from itertools import chain, groupby
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import planner_eval as pe
from tests.conftest import ROOT, reference_folder
from tests.inside import planeval
from tests.pages import Page
from tests.same.inputs import gold_plans, planted_pairs, raw_texts, read_lines, write_lines
from tests.same.planting import damage
from tests.same.side import (
    VARYING,
    diff_text,
    drawn_text,
    in_time,
    pair_answers,
    raw_answers,
    same_text,
    score_text,
)

FOLDER = ROOT / "tests" / "cases" / "unchanged"
PAIRS = 500
"""Pairs with planted faults, of all data sets together."""
DRAWN = ("texts", "pairs", "commands")
PARTS = 40
"""Into so many parts drawn inputs are split for the tests."""
PLANS = 3
"""Plans of each data set that are written in every notation, whole and damaged."""
CLOCK = re.compile(r"\d{4}-\d\d-\d\dT[0-9:.+-]+")
"""When something was done."""


def digests(answers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """A digest of the answers to each input, which their names begin with (``pair nestful-0007 diff``)."""
    by_input = groupby(answers, key=lambda answer: answer[0].rpartition(" ")[0])
    return {name: blake2b(repr([*group]).encode(), digest_size=5).hexdigest() for name, group in by_input}


def said_of_pairs(data: Path, reference: Path | None) -> dict[str, str]:
    """Of pairs whose predictions have planted faults: plans, differences, figures."""
    with TemporaryDirectory() as folder:
        write_lines(Path(folder) / "pairs.jsonl", planted_pairs(gold_plans(data, reference), PAIRS))
        return digests(pair_answers(Path(folder)))


def said_of_texts(data: Path, reference: Path | None) -> dict[str, str]:
    """Of genuine outputs and examples: how each reads and how it differs from the next."""
    with TemporaryDirectory() as folder:
        write_lines(Path(folder) / "raw.jsonl", raw_texts(data, reference))
        return digests(raw_answers(Path(folder)))


def said_of_damaged_texts(data: Path) -> dict[str, str]:
    """Of plans in every notation, whole and damaged: how each reads, strictly and repaired."""
    return digests(_damaged_answers(data))


def _damaged_answers(data: Path) -> Iterator[tuple[str, str]]:
    names = [entry.name for entry in pe.list_dialects() if entry.written == "yes"]
    plans = [plan for golds in gold_plans(data, None).values() for plan in golds[:PLANS]]
    for name in names:
        for number, plan in enumerate(plans):
            try:
                whole = pe.write(plan, name)
            except pe.PlanevalError:  # what the notation cannot say
                continue
            random = Random(f"{name} {number}")
            for text in (whole, damage(whole, random)[0], damage(damage(whole, random)[0], random)[0]):
                yield f"{name} {number} strict", in_time(partial(drawn_text, text))
                yield f"{name} {number} repaired", in_time(partial(drawn_text, text, repair=True))


def drawn_inputs(kind: str, part: int | None = None) -> dict[str, Any]:
    """Drawn texts, pairs or command lines, all or those of a part, by names made of what they are."""
    rows = [*read_lines(FOLDER / f"drawn-{kind}.jsonl")]
    chosen = rows if part is None else rows[part::PARTS]
    return {
        blake2b(json.dumps(row, sort_keys=True).encode(), digest_size=6).hexdigest(): row for row in chosen
    }


def said_of_drawn(kind: str, part: int | None = None) -> dict[str, str]:
    """Of drawn inputs: all that a reader, a comparison or a command says, but for where and when it ran."""
    answers = {"texts": _of_text, "pairs": _of_pair, "commands": _of_command}[kind]
    places = [(str(ROOT), "ROOT"), (str(Path.home()), "HOME"), (pe.__version__, "VERSION")]

    def said(folder: Path, row: dict[str, Any]) -> Iterator[tuple[str, str]]:
        folder.mkdir()
        for number, function in enumerate(answers(row, folder)):
            text = in_time(function)
            for place, name in ((str(folder), "FOLDER"), *places):
                text = text.replace(place, name)
            yield f"{folder.name} {number}", VARYING.sub(r"\1…", CLOCK.sub("…", text))

    with TemporaryDirectory() as folder:
        rows = drawn_inputs(kind, part).items()
        return digests(chain.from_iterable(said(Path(folder) / name, row) for name, row in rows))


Answers: TypeAlias = Iterator[Callable[[], str]]


def _of_text(row: dict[str, Any], folder: Path) -> Answers:
    text, options = row["text"], row.get("options", {})
    yield partial(drawn_text, text, **options)
    if not options:
        yield partial(drawn_text, text, repair=True, infer=True)
        yield partial(drawn_text, text, reader="grammar")
        yield lambda: pe.write(plan := pe.parse(text, repair=True), plan.dialect or "plan")
        written = [entry.name for entry in pe.list_dialects() if entry.written == "yes"]
        to = written[len(json.dumps(text)) % len(written)]
        yield lambda: str(pe.convert(text, to, loss=True, repair=True))


def _of_pair(row: dict[str, Any], folder: Path) -> Answers:
    policy, plans = row["policy"], []
    if "=" in policy:  # a file's text
        (folder / "policy.toml").write_text(policy, "utf-8")
        policy = str(folder / "policy.toml")

    def read() -> str:
        plans.extend(pe.parse(row[role], repair=True) for role in ("pred", "gold"))
        return ""

    yield read
    if len(plans) < 2:
        return
    pred, gold = plans
    yield partial(diff_text, pred, gold, policy)
    yield partial(diff_text, pred, gold)
    yield partial(diff_text, gold, pred, policy)
    yield partial(score_text, pred, gold, policy)
    yield partial(same_text, pred, gold)
    yield lambda: str(pe.compare_structure(pred, gold, policy))
    for form in ("dot", "mermaid", "text"):
        yield lambda form=form: pe.render(pe.diff(pred, gold, policy), format=form).decode()
        yield lambda form=form: pe.render(gold, format=form).decode()


def _of_command(row: dict[str, Any], folder: Path) -> Answers:
    stored = _stored_files()
    for name, number in row["files"].items():
        path, data = folder / name, stored[number]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes.fromhex(data["hex"]) if isinstance(data, dict) else data.encode())
    line = [re.sub(r"(^|=)ROOT/", rf"\1{ROOT}/", word) for word in row["line"]]
    yield partial(_command_said, folder, line, row["text"])


@cache
def _stored_files() -> list[Any]:
    return [*read_lines(FOLDER / "drawn-files.jsonl")]


def _command_said(folder: Path, line: list[str], text: str) -> str:
    """What a command prints and writes."""
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    done = planeval(*line, text=text, cwd=folder)
    said = [f"exit {done.returncode}", _without_scripts(done.stdout), done.stderr]
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if path.read_bytes() != before.get(path):
            said.append(f"{path.name}: {_without_scripts(path.read_text('utf-8', 'replace'))}")
    return "\n".join(said)


def _without_scripts(text: str) -> str:
    """Of a page what is packed in it, which another version of zlib packs otherwise; other texts whole."""
    try:
        page = Page(text)
    except (KeyError, ValueError):
        return text
    return json.dumps([page.head, page.packs])


def read_digests(name: str) -> dict[str, str]:
    """The digests that are kept under a name."""
    return json.loads((FOLDER / f"{name}.json").read_text("utf-8"))


def main() -> None:
    """Write all digests."""
    data, reference = ROOT / "data", reference_folder()
    tables = {
        "pairs": said_of_pairs(data, None), "texts": said_of_texts(data, None),
        "damaged": said_of_damaged_texts(data),
        **{f"drawn-{kind}": said_of_drawn(kind) for kind in DRAWN},
        "published-pairs": said_of_pairs(data, reference), "published-texts": said_of_texts(data, reference),
    }  # fmt: skip
    FOLDER.mkdir(exist_ok=True)
    for name, table in tables.items():
        (FOLDER / f"{name}.json").write_text(json.dumps(table, indent=0) + "\n", "utf-8")


if __name__ == "__main__":
    main()
