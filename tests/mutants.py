"""Small faults planted one at a time in the code, and which of them ``make test`` does not notice.

    python -m tests.mutants [--limit N] [--seed S] [--jobs J] [MODULE…]

First all of ``make test`` runs once, and which lines each test function runs is stored in out/mutants/ for
this state of the code. Then a deterministic sample of mutants is tried: comparisons, ``and`` and ``or``,
``not``, arithmetic, numbers, truth values, returned values, statements left out, entries of module tables
left out. Each is planted in a copy of the tree, where the tests that run its line are started, quick and
close ones first, until one fails or they have had their time: what would be noticed later counts as not
noticed. A test that hangs notices. The laws draw the same examples each time. Survivors are printed as
``file:line: before -> after``. Some are equivalent: no test can tell them.

mutmut was weighed: it puts a call between each function and its caller, which makes the tests of pairing
several times slower, and it leaves module tables alone.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic
from typing import NamedTuple

import coverage

from tests.conftest import ROOT, VARIABLE, reference_folder

STORED = ROOT / "out" / "mutants"
PACKAGE = "planner_eval"
ROOMS = ("plan", "comparison", "reading/dialects", "reading/files", "results/*.py", "results/views")
"""Where faults are planted if no module is named: the rooms whose figures and readings others build on."""

FIRST = 3.0
"""Seconds of tests that are tried in a process of their own first: most mutants are noticed by these."""

SWAPPED: dict[type, str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "*",
}


class Mutant(NamedTuple):
    """One planted fault."""

    file: str
    line: int
    before: str
    after: str
    place: slice
    """Which bytes of the source are replaced."""
    new: str
    lines: range
    """Those that run it; none where it runs at import."""

    def planted(self, source: str) -> str | None:
        """The source with the fault in it; None where that is no Python."""
        text = source.encode()
        changed = (text[: self.place.start] + self.new.encode() + text[self.place.stop :]).decode()
        try:
            compile(changed, self.file, "exec")
        except SyntaxError:
            return None
        return changed


# ---------------------------------------------------------------- planting
def mutants_of(file: str, source: str) -> Iterator[Mutant]:
    """Every fault that may be planted in a module."""
    lines = source.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    text = source.encode()
    tree = ast.parse(source)
    inside = {
        line
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for statement in function.body
        for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    }
    for node, new, shown in _faults(tree):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        before, after = (shown, "left out") if shown else (text[start:end].decode(), new)
        last = (node.end_lineno or node.lineno) if node.lineno in inside else 0
        yield Mutant(file, node.lineno, before, after, slice(start, end), new, range(node.lineno, last + 1))


def _faults(tree: ast.Module) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    """What is put in the place of a node; for a table, the entry that is left out."""
    tables = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value and "__all__" not in ast.unparse(node)
    ]
    for table in tables:
        yield from _shorter(table)
    for node in _walk(tree):
        if isinstance(node, ast.expr):
            for new in _expressions(node):
                yield node, f"({new})", ""
        elif isinstance(node, ast.stmt):
            yield from ((node, new, "") for new in _statements(node))


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Every node but annotations, docstrings, imports, and what stands in formatted texts."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list") or isinstance(node, ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.Import | ast.ImportFrom):
                yield from _walk(child)


def _shorter(table: ast.expr) -> Iterator[tuple[ast.expr, str, str]]:
    """A table of a module with one of its entries left out."""
    if isinstance(table, ast.Call) and table.args:  # frozenset({…})
        table = table.args[0]
    if not isinstance(table, ast.Tuple | ast.List | ast.Set | ast.Dict):
        return
    entries = [*table.keys] if isinstance(table, ast.Dict) else table.elts
    for gone, entry in enumerate(entries) if len(entries) > 1 else ():
        kept = [at for at in range(len(entries)) if at != gone]
        if isinstance(table, ast.Dict):
            new: ast.expr = ast.Dict([table.keys[at] for at in kept], [table.values[at] for at in kept])
        else:
            new = type(table)([table.elts[at] for at in kept])  # type: ignore[call-arg]
        yield table, ast.unparse(ast.fix_missing_locations(new)), ast.unparse(entry) if entry else "**"


def _expressions(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Compare(left, [op], [right]) if type(op) in SWAPPED:
            yield f"{_in(left)} {SWAPPED[type(op)]} {_in(right)}"
        case ast.BoolOp(op, values):
            yield (" or " if isinstance(op, ast.And) else " and ").join(map(_in, values))
        case ast.UnaryOp(ast.Not(), operand):
            yield ast.unparse(operand)
        case ast.BinOp(left, op, right) if type(op) in SWAPPED:
            yield f"{_in(left)} {SWAPPED[type(op)]} {_in(right)}"
        case ast.Constant(bool(value)):
            yield str(not value)
        case ast.Constant(int() | float() as value):
            yield from (repr(value + 1), repr(value - 1))


def _in(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"


def _statements(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.Return(value) if value is not None and not (
            isinstance(value, ast.Constant) and not value.value
        ):
            yield "return None"
        case ast.Expr(ast.Call()) | ast.AugAssign() | ast.Continue() | ast.Break():
            yield "pass"
        case ast.Assign([ast.Attribute() | ast.Subscript()]):
            yield "pass"


# ---------------------------------------------------------------- what each test runs
class Recorded(NamedTuple):
    """The test functions of ``make test``.

    Args:
        lines: What they run, as coverage.py has it: a context is a test function.
        seconds: Processor time of each.
    """

    lines: coverage.CoverageData
    seconds: dict[str, float]

    def of(self, mutant: Mutant, most: float) -> list[str]:
        """Those that run a mutant's code, quick and close ones first, of at most so many seconds together.

        A test is the closer the more lines of the mutant's file it runs. What stands outside all functions
        runs at import: it concerns every test that runs a function of the file.
        """
        by_line = self.lines.contexts_by_lineno(str(ROOT / mutant.file))
        near = Counter(name for names in by_line.values() for name in names)
        names = {name for line in mutant.lines for name in by_line.get(line, ())} if mutant.lines else {*near}
        names &= self.seconds.keys()
        cost = {name: (0.1 + self.seconds[name]) / near[name] for name in names}
        chosen, total = [], 0.0
        for name in sorted(names, key=lambda name: (cost[name], name)):
            total += self.seconds[name]
            if total > most and chosen:
                break
            chosen.append(name)
        return chosen


def record(folder: Path) -> None:
    """Run ``make test`` once and write into the folder what each test function runs."""
    with TemporaryDirectory() as parts:
        command = [sys.executable, "-m", "pytest", "-n", "auto", "-p", "tests.recorder"]
        subprocess.run(command, cwd=ROOT, env={**os.environ, "PLANEVAL_RECORDED": parts}, check=False)
        folder.mkdir(parents=True, exist_ok=True)
        lines = coverage.CoverageData(str(folder / "lines"))
        seconds: dict[str, float] = {}
        for path in sorted(Path(parts).iterdir()):
            if path.suffix == ".json":
                for name, taken in json.loads(path.read_text("utf-8")).items():
                    seconds[name] = seconds.get(name, 0.0) + taken
            else:
                part = coverage.CoverageData(str(path))
                part.read()
                lines.update(part)
        lines.write()
        (folder / "seconds.json").write_text(json.dumps(seconds), "utf-8")


def recorded() -> Recorded:
    """What each test runs in this state of the code, recorded now if it was not before."""
    folder = STORED / digest()
    if not (folder / "seconds.json").exists():
        record(folder)
    lines = coverage.CoverageData(str(folder / "lines"))
    lines.read()
    return Recorded(lines, json.loads((folder / "seconds.json").read_text("utf-8")))


def digest() -> str:
    """A name for this state of the package and its tests."""
    files = sorted(path for folder in (PACKAGE, "tests") for path in (ROOT / folder).rglob("*.py"))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()[:16]


# ---------------------------------------------------------------- trying
def modules(names: Sequence[str]) -> list[str]:
    """The modules of folders and files that are named by where they lie in the package."""
    paths = [path for name in names for path in sorted((ROOT / PACKAGE).glob(name))]
    files = [file for path in paths for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
    return [file.relative_to(ROOT).as_posix() for file in files]


def noticed(tree: Path, tests: Sequence[str], seconds: float) -> bool:
    """Whether a test fails, or hangs, on the tree as it is now: a busy machine is no hanging test."""
    options = ["-x", "-q", "-p", "no:cacheprovider", "--tb=no", "--hypothesis-profile=mutants"]
    most = 20 + round(5 * seconds)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=tree,
            env=os.environ | {"PYTHONPATH": str(tree), VARIABLE: str(reference_folder() or "")},
            capture_output=True,
            timeout=20 * most,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (most, most)),
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


class Trial:
    """Copies of the tree, in each of which one mutant is tried at a time."""

    def __init__(self, folder: Path, tests: Recorded, jobs: int, most: float) -> None:
        self.tests, self.most = tests, most
        self.trees: SimpleQueue[Path] = SimpleQueue()
        files = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        for job in range(jobs):
            for name in filter(None, files.stdout.split("\0")):
                to = folder / str(job) / name
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, to)
            self.trees.put(folder / str(job))

    def survives(self, numbered: tuple[int, Mutant]) -> bool:
        """Whether no test notices the mutant."""
        number, mutant = numbered
        tests, tree = self.tests.of(mutant, self.most), self.trees.get()
        place = tree / mutant.file
        try:
            place.write_text(mutant.planted(place.read_text("utf-8")) or "", "utf-8")
            # Compiled code is stored under its source's time and size: no two mutants may have both the same.
            os.utime(place, (1_000_000_000 + number,) * 2)
            first = len(self.tests.of(mutant, FIRST))
            return not any(self._notice(tree, part) for part in (tests[:first], tests[first:]) if part)
        finally:
            shutil.copy2(ROOT / mutant.file, place)
            self.trees.put(tree)

    def _notice(self, tree: Path, tests: Sequence[str]) -> bool:
        return noticed(tree, tests, sum(self.tests.seconds[name] for name in tests))


def main() -> int:
    """Print the survivors and the share that was noticed; 1 where the share is below 90 %."""
    parser = argparse.ArgumentParser(description="Which planted faults no test notices.")
    parser.add_argument("--limit", type=int, default=150, help="mutants to try (150)")
    parser.add_argument("--seed", type=int, default=0, help="which sample (0)")
    parser.add_argument("--seconds", type=float, default=60, help="of tests that are tried for a mutant (60)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="mutants tried at once")
    parser.add_argument(
        "modules", nargs="*", default=ROOMS, help=f"folders and files in the package ({', '.join(ROOMS)})"
    )
    options = parser.parse_args()
    os.nice(10)
    files = modules(options.modules)
    if not files:
        parser.error(f"{PACKAGE} has no module {', '.join(options.modules)}")
    tests = recorded()
    mutants = [mutant for file in files for mutant in mutants_of(file, (ROOT / file).read_text("utf-8"))]
    Random(options.seed).shuffle(mutants)
    compiling = (mutant for mutant in mutants if mutant.planted((ROOT / mutant.file).read_text("utf-8")))
    sample = list(islice(compiling, options.limit))
    print(f"{len(sample)} of {len(mutants)} mutants of {len(files)} modules, seed {options.seed}", flush=True)
    begin, left = monotonic(), 0
    with TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        trial = Trial(Path(folder), tests, options.jobs, options.seconds)
        for mutant, survived in zip(sample, pool.map(trial.survives, enumerate(sample)), strict=True):
            if survived:
                left += 1
                before, after = (" ".join(text.split()) for text in (mutant.before, mutant.after))
                print(f"{mutant.file}:{mutant.line}: {before} -> {after}", flush=True)
    share = 1 - left / len(sample)
    print(f"{len(sample) - left} of {len(sample)} noticed ({share:.1%}), {monotonic() - begin:.0f} s")
    return int(share < 0.9)


if __name__ == "__main__":
    sys.exit(main())
