"""Does the code do what it did? The working tree beside a commit, over the same inputs, byte by byte.

``python -m tests.same COMMIT`` ends with 1 where there are differences or a side fails, with 2 where there is
no such commit; CONTRIBUTING.md says what is compared.
"""

import argparse
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
STORED = ROOT / "out" / "same"
SHIPPED = ("grammars", "data", "viz")
PARTS = ("commands", "texts", "pairs")
PAIRS, DEADLINE = 10_000, 1_800
SHOWN = 20
"""How many differences of one kind are printed; the file has all."""
AROUND = 60
"""Characters of an answer that a difference shows."""
UNTRIED = "commands that are not tried"
FAILURES = ("raised ", "no answer in ")
"""How what a side writes begins where the code gave no answer (side.py)."""

Answer = tuple[str, str]


class Difference(NamedTuple):
    """Where two answers to an input part, and what the base and the working tree say from there on."""

    input: str
    place: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.input}: {self.place} old {self.before} new {self.after}"


def excerpt(text: str | None, start: int) -> str:
    """A little of a text from a place on, in quotes."""
    if text is None:
        return "no answer"
    part = text[start : start + AROUND]
    return json.dumps(part, ensure_ascii=False) + ("…" if start + AROUND < len(text) else "")


def first_difference(name: str, old: str | None, new: str | None) -> Difference | None:
    """Where two answers to one input part; None where they are equal, byte by byte."""
    if old == new:
        return None
    if old is None or new is None:
        return Difference(name, "on one side", excerpt(old, 0), excerpt(new, 0))
    letters = enumerate(zip(old, new, strict=False))
    same = next((i for i, (a, b) in letters if a != b), min(len(old), len(new)))
    byte = len(old[:same].encode(errors="surrogatepass"))
    line = old.count("\n", 0, same) + 1
    start = max(old.rfind("\n", 0, same) + 1, same - 20)
    return Difference(name, f"byte {byte}, line {line}:", excerpt(old, start), excerpt(new, start))


def compare_answers(old: Iterable[Answer], new: Iterable[Answer]) -> Iterator[Difference]:
    """All differences, in the order of the base's inputs; then what only the working tree answers."""
    after = dict(new)
    for name, text in old:
        if difference := first_difference(name, text, after.pop(name, None)):
            yield difference
    for name, text in after.items():
        yield Difference(name, "on one side", "no answer", excerpt(text, 0))


def read_answers(path: Path) -> Iterator[Answer]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            name, text = json.loads(line)
            yield name, text


class SideFailed(Exception):
    """A side that ended before it had answered everything."""


def start(**settings: Any) -> subprocess.Popen[bytes]:
    """Start an interpreter in which ``planner_eval`` is the tree's and this package comes as ``same``."""
    # For the import alone: nothing of tests/ may be found by what is compared.
    folder = str(Path(__file__).resolve().parents[1])
    code = f"import sys; sys.path.append({folder!r}); import same.side; sys.path.pop(); same.side.main()"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PLANEVAL_")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment |= {
        "PYTHONPATH": settings["tree"], "PYTHONHASHSEED": "0", "XDG_CACHE_HOME": f"{settings['work']}/cache",
        "COLUMNS": "100", "TZ": "UTC",
    }  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-P", "-c", code, json.dumps(settings)], env=environment, cwd=settings["work"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


def wait(process: subprocess.Popen[bytes], side: str, deadline: float) -> None:
    try:
        _, errors = process.communicate(timeout=max(1.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise SideFailed(f"the {side} side was not done in {DEADLINE} seconds") from None
    if process.returncode:
        text = errors.decode(errors="replace").strip()
        raise SideFailed(f"the {side} side ended with {process.returncode}:\n{text}")


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a side that is still at work, with what it started."""
    if process.poll() is None:
        os.killpg(process.pid, 9)
        process.wait()


def prepare_work(folder: Path, inputs: Path) -> str:
    """A folder of its own for a side, in which the inputs lie under their names."""
    folder.mkdir()
    for path in inputs.iterdir():
        (folder / path.name).symlink_to(path)
    return str(folder)


def extract(commit: str, folder: Path) -> Path:
    """The tree of a commit."""
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    return folder


def find_commit(name: str) -> str | None:
    """The full id of a commit; None where there is none of that name."""
    command = ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return found.stdout.strip() if found.returncode == 0 else None


def digest(reference: Path | None) -> str:
    """A short name for all that decides the inputs and the base's answers, but for the commit."""
    parts = [reference / "datasets", reference / "vectors"] if reference else []
    files = [path for part in parts for path in sorted(part.rglob("*")) if path.is_file()]
    sizes = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    code = [path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("*.py"))]
    packages = sorted(f"{d.name} {d.version}" for d in distributions())
    decisive = (sizes, code, packages, sys.version, str(reference))
    return hashlib.sha256(repr(decisive).encode()).hexdigest()[:16]


def run_sides(commit: str, reference: Path | None) -> tuple[Path, Path, Path]:
    """The answers of the base and of the working tree, and the inputs' folder."""
    key = f"{commit[:12]}-{digest(reference)}"
    inputs, new = STORED / f"inputs-{key}", STORED / "answers-new.jsonl"
    old, unfinished = STORED / f"answers-{key}.jsonl", STORED / f"answers-{key}.part"
    STORED.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + DEADLINE
    with tempfile.TemporaryDirectory(prefix="same-") as temporary:
        scratch = Path(temporary).resolve()
        tree = scratch / "base"
        if not (inputs.exists() and old.exists()):
            extract(commit, tree)
        shared = {"reference": str(reference) if reference else None, "pairs": PAIRS}
        shared |= {"parts": PARTS, "shipped": SHIPPED}
        of_new = [str(ROOT / part) for part in ("planner_eval", *SHIPPED)]
        old_side: dict[str, Any] = {**shared, "tree": str(tree), "others": of_new}
        new_side: dict[str, Any] = {**shared, "tree": str(ROOT), "others": [str(tree)]}
        processes: list[subprocess.Popen[bytes]] = []
        try:
            if not inputs.exists():
                made = scratch / "inputs"
                made.mkdir()
                processes.append(start(**old_side, task="inputs", inputs=str(made), work=str(scratch)))
                wait(processes[-1], "old", deadline)
                shutil.move(made, inputs)
            sides = [(new_side, "new", new)]
            if not old.exists():
                sides.insert(0, (old_side, "old", unfinished))
            waiting = []
            for side, name, path in sides:
                work = prepare_work(scratch / name, inputs)
                place = {"inputs": str(inputs), "work": work, "answers": str(path)}
                processes.append(start(**side, **place, task="answers"))
                waiting.append((processes[-1], name))
            for process, name in waiting:
                wait(process, name, deadline)
            if not old.exists():
                unfinished.rename(old)
        finally:
            for process in processes:
                stop(process)
    return old, new, inputs


def kind(difference: Difference) -> str:
    """Under what a difference is counted: a command, the pairs of a data set, texts."""
    words = difference.input.split()
    if words[0] == "planeval":
        return " ".join(words[:2])
    return " ".join([words[0], words[1].partition("-")[0] if words[0] == "pair" else "", words[-1]])


def print_differences(differences: list[Difference]) -> None:
    """Print the differences, of each kind the first ones, and how many there are."""
    of_kind = Counter(map(kind, differences))
    printed: Counter[str] = Counter()
    for difference in differences:
        printed[kind(difference)] += 1
        if printed[kind(difference)] <= SHOWN:
            print(difference)
        elif printed[kind(difference)] == of_kind[kind(difference)]:
            print(f"… and {of_kind[kind(difference)] - SHOWN} more: {kind(difference)}")


def remarks(answers: dict[str, str]) -> Iterator[str]:
    """What the comparison cannot see: commands that no line tries, answers that are errors of the program."""
    for name in filter(None, answers.get(UNTRIED, "").split("\n")):
        yield f"not tried: planeval {name}"
    for name, text in answers.items():
        if text.startswith(FAILURES):
            yield f"no answer: {name}: {text.partition(chr(10))[0][:200]}"


def main(arguments: list[str] | None = None) -> int:
    """Run both sides and print what differs."""
    parser = argparse.ArgumentParser("python -m tests.same", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("base", help="the commit that the working tree is held against")
    options = parser.parse_args(arguments)
    commit = find_commit(options.base)
    if commit is None:
        print(f"there is no commit {options.base!r}; name one with BASE=<commit>", file=sys.stderr)
        return 2
    named = os.environ.get("PLANEVAL_REFERENCE")
    reference = Path(named).resolve() if named else None
    begin = time.monotonic()
    try:
        old, new, inputs = run_sides(commit, reference)
    except SideFailed as failure:
        print(failure)
        return 1
    differences = list(compare_answers(read_answers(old), read_answers(new)))
    (STORED / "differences.txt").write_text("".join(f"{d}\n" for d in differences), encoding="utf-8")
    print_differences(differences)
    answers = dict(read_answers(new))
    for remark in remarks(answers):
        print(remark, file=sys.stderr)
    if not reference:
        print("PLANEVAL_REFERENCE is not set: our own samples alone", file=sys.stderr)
    told = f"{len(answers)} answers, {len(differences)} differ from {commit[:12]}"
    spent = f"{time.monotonic() - begin:.0f} s; inputs: {os.path.relpath(inputs)}"
    print(f"{told} ({spent})", file=sys.stderr)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
