"""What the library says of many texts and pairs, as digests: ``python -m tests.unchanged`` writes them anew.

A digest says that an answer is another one, not which is right: whoever changes an answer on purpose looks
at the change with ``make same BASE=HEAD`` first, then writes the digests anew.
"""

import json
from collections.abc import Iterable, Iterator
from functools import partial
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from random import Random
from shutil import copytree
from tempfile import TemporaryDirectory

import planner_eval as pe
from tests import fuzz_files
from tests.conftest import ROOT, reference_folder
from tests.inside import planeval
from tests.same.commands import command_lines
from tests.same.inputs import POLICIES, gold_plans, planted_pairs, raw_texts, write_lines
from tests.same.planting import damage, damages
from tests.same.side import (
    VARYING,
    commands,
    diff_text,
    drawn_text,
    in_formats,
    in_time,
    pair_answers,
    raw_answers,  # fmt: skip
)
from tests.test_dialect_cases import split

FOLDER = ROOT / "tests" / "cases" / "unchanged"
PAIRS = 500
"""Pairs with planted faults, of all data sets together."""
DAMAGES = 3
"""Damaged texts of each golden case."""
FILES = 160
COMMAND_PAIRS = 50
"""Pairs in the files that commands read."""
COMMANDS = ("diff", "score", "compare", "table", "parse", "convert", "stats", "agree")
PLANS = 3
"""Plans of each data set that are written in every notation, whole and damaged."""


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


def said_of_damaged_cases(folder: Path) -> dict[str, str]:
    """Of the texts of golden cases, damaged, set beside one another and compared with what they were."""
    return digests(_case_answers(folder))


def _case_answers(folder: Path) -> Iterator[tuple[str, str]]:
    before = ""
    for path in sorted(folder.glob("*/*.txt")):
        settings, text, _ = split(path)
        random, name = Random(path.name), f"{path.parent.name}/{path.stem}"
        options = {"dialect": settings["dialect"]} if random.random() < 0.5 and "dialect" in settings else {}
        for number, (_, damaged) in enumerate(random.sample([*damages(text, random)], DAMAGES)):
            read = partial(drawn_text, damaged, repair=number % 2 == 1, **options)
            yield f"{name} {number}", in_time(read)
        yield f"{name} beside", in_time(partial(drawn_text, f"{before}\n\n{text}"))
        yield f"{name} compared", in_time(partial(diff_text, damaged, text, random.choice(POLICIES)))
        before = text


def said_of_files() -> dict[str, str]:
    """Of small files in every form, mostly damaged, by three commands each; none does what none may."""
    printed: dict[str, list[str]] = {}
    with TemporaryDirectory() as name:
        folder = Path(name)
        fuzz_files.prepare(folder)
        for seed in range(FILES):
            texts: list[str] = []
            find = fuzz_files.attempt(seed, None, folder, texts)
            assert find is None, f"seed {seed}: {find}"
            (path,) = folder.glob("file.*")
            if not {".parquet", ".gz", ".bz2", ".xz"}.intersection(path.suffixes):  # other libraries' bytes
                printed[str(seed)] = texts
    return digests((f"{seed} -", text) for seed, texts in printed.items() for text in texts)


def said_by_commands(data: Path) -> dict[str, str]:
    """By command lines over the samples and planted pairs, in all formats that are text."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        copytree(data, folder / "data")
        pairs = [*planted_pairs(gold_plans(data, None), COMMAND_PAIRS)]
        for side in ("pred", "gold"):
            write_lines(folder / f"{side}.jsonl", ({"id": p["id"], "output": p[side]} for p in pairs))
        return digests(_command_answers(folder))


def _command_answers(folder: Path) -> Iterator[tuple[str, str]]:
    found = commands()
    for line in command_lines(folder, None):
        for arguments in in_formats(line, found) if line[0] in COMMANDS else ():
            if arguments[-1] == "html":  # the page's scripts change with every look of it
                continue
            done = planeval(*arguments, cwd=folder, COLUMNS="100", TZ="UTC")
            text = f"{done.returncode}\n{done.stdout}\n{done.stderr}".replace(str(folder), "FOLDER")
            yield f"{' '.join(line)} {arguments[-1]}", VARYING.sub(r"\1…", text)


def read_digests(name: str) -> dict[str, str]:
    """The digests that are kept under a name."""
    return json.loads((FOLDER / f"{name}.json").read_text("utf-8"))


def main() -> None:
    """Write all digests."""
    data, reference = ROOT / "data", reference_folder()
    tables = {
        "pairs": said_of_pairs(data, None), "texts": said_of_texts(data, None),
        "damaged": said_of_damaged_texts(data), "commands": said_by_commands(data), "files": said_of_files(),
        "damaged-cases": said_of_damaged_cases(FOLDER.parent),
        "published-pairs": said_of_pairs(data, reference), "published-texts": said_of_texts(data, reference),
    }  # fmt: skip
    FOLDER.mkdir(exist_ok=True)
    for name, table in tables.items():
        (FOLDER / f"{name}.json").write_text(json.dumps(table, indent=0) + "\n", "utf-8")


if __name__ == "__main__":
    main()
