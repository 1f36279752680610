"""Small faults planted one at a time in the code, and which of them ``make test`` does not notice.

    python -m tests.mutants [--limit N] [--seed S…] [--jobs J] [MODULE…]

First all of ``make test`` runs once, and which lines each test function runs is stored in out/mutants/ for
this state of the package; later runs repeat it only for files of tests that have changed (after a change of
what tests share, remove the folder). Then a deterministic sample of mutants is tried: comparisons, ``and``
and ``or``, ``not``, arithmetic, numbers, truth values, returned values, statements left out, entries of
module tables left out. One process collects the tests and forks for each mutant; there the faulty code
takes the place of the function's, or, where it runs at import, the package and the tests are imported anew.
Some seconds of the tests that run its line are started, quick and close ones first and before them those that
have noticed others of its file, until one fails. The mutants that are left are then planted all at once, and
all tests that run a line of theirs are started: where one fails, halves of them are planted until it is clear
whose fault it is. A test that fails without a fault as well is left out, and so is one that only several
faults together fail; one that hangs notices; what only a process notices that a test starts does not count.
The laws draw the same examples each time. Survivors are printed as ``file:line: before -> after``. Some are
equivalent: no test can tell them.

Not planted, since nothing can tell: ``zip(…, strict=True)``, which states what holds; the size of a cache, a
buffer, a block or a batch, and how often something looks at a clock: numbers that are named so change only
when work is done, never what comes out. A number of 1,000 or more is a limit, which one more or less changes
for an input of just that size alone: 0 stands in its place, and where something is compared with it, or with
a clock, ``>=`` stands for ``<``. No fault is planted twice: of whole numbers, ``x > -1`` is ``x >= 0``, which
``x > 0`` becomes already.

mutmut was weighed: it puts a call between each function and its caller, which makes the tests of pairing
several times slower, and it leaves module tables alone.
"""

from __future__ import annotations

import argparse
import ast
import functools
import gc
import hashlib
import importlib
import json
import mmap
import os
import re
import signal
import subprocess
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from importlib.machinery import SourceFileLoader
from itertools import accumulate, islice
from math import inf
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from types import CodeType, FunctionType
from typing import NamedTuple

import coverage
import pytest

from tests.conftest import ROOT
from tests.recorder import function_of

STORED = ROOT / "out" / "mutants"
PACKAGE = "planner_eval"
ROOMS = ("plan", "comparison", "reading/dialects", "reading/files", "results/*.py", "results/views")
"""Where faults are planted if no module is named: the rooms whose figures and readings others build on."""

ANEW = 77
"""What a process ends with whose functions cannot be given the faulty code: the tests must start anew."""

QUIET = ["-q", "--assert=plain", "-p", "no:cacheprovider", "--tb=no", "--no-summary"]
QUIET += ["--hypothesis-profile=mutants"]
SHOWN = os.dup(2)
"""Where what becomes of mutants is written while pytest takes what tests print."""

QUICK = 3.0
"""Seconds of tests that are collected anew by themselves first: most mutants are noticed by these."""

WORTH = 0.2
"""Mutants of a file that a test has noticed in a second, from which on it is tried on all of that file."""

UNSEEN = re.compile(r"(^|_)(CACHED|BLOCK|BUFFER|CHUNK|BATCH|TICK|PIPE)(_|$)")
"""Names of numbers that decide when work is done: of a cache, a buffer, a block, a clock."""

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


NEGATED: dict[type, str] = {ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<"}
"""What stands in the place of a comparison with a large limit."""

SHIFT: dict[type, int] = {ast.Lt: 1, ast.LtE: -1, ast.Gt: -1, ast.GtE: 1}
"""What added to the right of a comparison of whole numbers comes to the same as what is put in its place."""

LARGE = 1000
"""From which number on a limit is large."""

CLOCKS = ("monotonic", "perf_counter", "process_time", "time")


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

    def __str__(self) -> str:
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.file}:{self.line}: {before} -> {after}"

    def fits(self, other: Mutant) -> bool:
        """Whether both may be planted at once."""
        overlap = self.place.start < other.place.stop and other.place.start < self.place.stop
        return bool(self.lines) == bool(other.lines) and not (self.file == other.file and overlap)


def planted(mutants: Iterable[Mutant], source: str) -> str | None:
    """A source with faults in it; None where that is no Python."""
    text = source.encode()
    for mutant in sorted(mutants, key=lambda mutant: mutant.place.start, reverse=True):
        text = text[: mutant.place.start] + mutant.new.encode() + text[mutant.place.stop :]
    try:
        compile(text, "planted", "exec")
    except SyntaxError:
        return None
    return text.decode()


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
        last = node.end_lineno or node.lineno
        breaks = "\n" * (last - node.lineno)  # what follows stays on its line
        new = f"{new[:-1]}{breaks}{new[-1]}" if isinstance(node, ast.expr) else f"{new}{breaks}"
        running = range(node.lineno, (last if node.lineno in inside else 0) + 1)
        yield Mutant(file, node.lineno, before, after, slice(start, end), new, running)


def _faults(tree: ast.Module) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    """What is put in the place of a node; for a table, the entry that is left out."""
    tables = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value and "__all__" not in ast.unparse(node)
    ]
    for table in tables:
        yield from _shorter(table)
    large = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and _is_large(node.value, ())
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in _walk(tree):
        if isinstance(node, ast.expr):
            for new in _expressions(node, large):
                yield node, f"({new})", ""
        elif isinstance(node, ast.stmt):
            yield from ((node, new, "") for new in _statements(node))


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Every node but annotations, imports, what stands in formatted texts, and what nothing can tell."""
    if isinstance(node, ast.keyword) and node.arg in ("strict", "maxsize"):
        return
    if isinstance(node, ast.Assign) and any(UNSEEN.search(ast.unparse(name)) for name in node.targets):
        return
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SHIFT:
        for side, sign in ((node.comparators[0], 1), (node.left, -1)):
            side.planted = sign * SHIFT[type(node.ops[0])]  # type: ignore[attr-defined]
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


def _is_large(node: ast.expr, names: Container[str]) -> bool:
    """Whether it is a large limit, by its number or its name, or what a clock says."""
    match node:
        case ast.Constant(int() | float() as value):
            return abs(value) >= LARGE
        case ast.Call(ast.Name(name) | ast.Attribute(_, name)):
            return name in CLOCKS
    return isinstance(node, ast.Name) and node.id in names


def _expressions(node: ast.expr, large: Container[str]) -> Iterator[str]:
    match node:
        case ast.Compare(left, [op], [right]) if type(op) in SWAPPED:
            negated = type(op) in NEGATED and (_is_large(left, large) or _is_large(right, large))
            yield f"{_in(left)} {(NEGATED if negated else SWAPPED)[type(op)]} {_in(right)}"
        case ast.BoolOp(op, values):
            yield (" or " if isinstance(op, ast.And) else " and ").join(map(_in, values))
        case ast.UnaryOp(ast.Not(), operand):
            yield ast.unparse(operand)
        case ast.BinOp(left, op, right) if type(op) in SWAPPED:
            yield f"{_in(left)} {SWAPPED[type(op)]} {_in(right)}"
        case ast.Constant(bool(value)):
            yield str(not value)
        case ast.Constant(int() | float() as value):
            planted = getattr(node, "planted", 0) if isinstance(value, int) else 0
            yield from ["0"] if _is_large(node, ()) else [repr(value + by) for by in (1, -1) if by != planted]


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
class Recorded:
    """The test functions of ``make test``.

    Args:
        recordings: What they run, as coverage.py has it: a context is a test function. With the test
            functions that count: others were recorded again later.
        seconds: Processor time of each.
    """

    def __init__(
        self, recordings: Sequence[tuple[coverage.CoverageData, Set[str]]], seconds: dict[str, float]
    ) -> None:
        self.recordings, self.seconds = recordings, seconds
        self.contexts = functools.cache(self._contexts)

    def _contexts(self, file: str) -> dict[int, set[str]]:
        """The test functions that run each line of a file; imports are the empty name."""
        by_line: dict[int, set[str]] = {}
        for lines, counting in self.recordings:
            for line, names in lines.contexts_by_lineno(str(ROOT / file)).items():
                by_line.setdefault(line, set()).update(counting.intersection(names))
        return by_line

    def placed(self, mutant: Mutant) -> Mutant:
        """A mutant in a function that only imports run as one that stands outside all functions."""
        by_line = self.contexts(mutant.file)
        contexts = {name for line in mutant.lines for name in by_line.get(line, ())}
        return mutant._replace(lines=range(0)) if contexts == {""} else mutant

    def of(self, mutant: Mutant, most: float) -> list[str]:
        """Those that run a mutant's code, quick and close ones first, of at most so many seconds together.

        A test is the closer the more lines of the mutant's file it runs. What stands outside all functions
        runs at import, and what no test was seen to run may run in a process that one forks: both concern
        every test that runs a function of the file.
        """
        by_line = self.contexts(mutant.file)
        near = Counter(name for names in by_line.values() for name in names)
        names = {name for line in mutant.lines for name in by_line.get(line, ())} & self.seconds.keys()
        names = names or near.keys() & self.seconds.keys()
        cost = {name: (0.1 + self.seconds[name]) / near[name] for name in names}
        chosen, total = [], 0.0
        for name in sorted(names, key=lambda name: (cost[name], name)):
            total += self.seconds[name]
            if total > most and chosen:
                break
            chosen.append(name)
        return chosen


def record(folder: Path, paths: Sequence[str]) -> None:
    """Run tests once and write into the folder what each test function runs."""
    with TemporaryDirectory() as parts:
        command = [sys.executable, "-m", "pytest", "-n", "auto", "-p", "tests.recorder", *paths]
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
        files = {path: digest(ROOT / path) for path in paths}
        (folder / "recorded.json").write_text(json.dumps({"files": files, "seconds": seconds}), "utf-8")


def recorded() -> Recorded:
    """What each test runs in this state of the code, recorded now if it was not before."""
    paths = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "tests").rglob("test_*.py"))]
    now = {path: digest(ROOT / path) for path in (*paths, PACKAGE)}
    folder = STORED / now[PACKAGE]
    last: dict[str, Path] = {}

    def read_all() -> list[tuple[Path, dict[str, float]]]:
        found = []
        for number in range(len([*folder.glob("*/recorded.json")])):
            kept = json.loads((folder / str(number) / "recorded.json").read_text("utf-8"))
            last.update(
                (path, folder / str(number)) for path, name in kept["files"].items() if now.get(path) == name
            )
            found.append((folder / str(number), kept["seconds"]))
        return found

    found = read_all()
    if stale := [path for path in now if path not in last]:
        record(folder / str(len(found)), stale)
        found = read_all()
    recordings, seconds = [], {}
    for part, taken in found:
        counting = {name for name in taken if last.get(_file_of(name)) == part}
        seconds |= {name: taken[name] for name in counting}
        lines = coverage.CoverageData(str(part / "lines"))
        lines.read()
        recordings.append((lines, {*counting, ""}))
    return Recorded(recordings, seconds)


def _file_of(test: str) -> str:
    """The file of a test function; all examples of docstrings are one."""
    file = test.partition("::")[0]
    return PACKAGE if file.startswith(f"{PACKAGE}/") else file


def digest(path: Path) -> str:
    """A name for this state of a file, or of the modules of a folder."""
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()[:16]


# ---------------------------------------------------------------- trying
def modules(names: Sequence[str]) -> list[str]:
    """The modules of folders and files that are named by where they lie in the package."""
    paths = [path for name in names for path in sorted((ROOT / PACKAGE).glob(name))]
    files = [file for path in paths for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
    return [file.relative_to(ROOT).as_posix() for file in files]


def replace_code(functions: Sequence[FunctionType], name: str, source: str, faulty: str) -> bool:
    """Give the functions of a file the faulty code; False where none of them takes it."""
    file = str(ROOT / name)
    before, after = (
        {(code.co_qualname, code.co_firstlineno): code for code in _codes(compile(text, file, "exec"))}
        for text in (source, faulty)
    )
    replaced = False
    for function in functions:
        code = function.__code__
        place = (code.co_qualname, code.co_firstlineno)
        new = after.get(place) if code.co_filename == file else None
        if new and new != before.get(place) and len(new.co_freevars) == len(code.co_freevars):
            function.__code__, replaced = new, True
    return replaced


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def import_anew(sources: Mapping[str, str]) -> None:
    """Forget the package and the tests; what is imported next has these sources."""
    faulty = {str(ROOT / file): source for file, source in sources.items()}
    get_code = SourceFileLoader.get_code

    def get_faulty_code(self: SourceFileLoader, name: str) -> CodeType | None:
        source = faulty.get(self.path)
        return get_code(self, name) if source is None else compile(source, self.path, "exec")

    SourceFileLoader.get_code = get_faulty_code  # type: ignore[method-assign]
    for name in [name for name in sys.modules if name.partition(".")[0] in (PACKAGE, "tests")]:
        del sys.modules[name]


class Watch:
    """A plugin of pytest in a forked process: which test it has begun, and how long that may take.

    Args:
        seconds: Processor time that each test took without fault.
    """

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = seconds
        self.begun = mmap.mmap(-1, 4096)  # the process that forks reads it

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """A test that takes too much processor time ends the process: a busy machine is no hanging test."""
        self.begun[:] = item.nodeid.encode()[:4096].ljust(4096)
        signal.setitimer(signal.ITIMER_PROF, 10 + 3 * self.seconds.get(function_of(item.nodeid), 0.0))

    @property
    def last(self) -> str:
        """The test function that was begun last; empty before the first."""
        return function_of(self.begun[:].rstrip().decode(errors="replace"))


def ended(run: Callable[[], int], watch: Watch) -> int:
    """What a forked process ends with that runs a function; a signal where it gets no further."""
    watch.begun[:] = b" " * 4096
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = run()
        finally:
            os._exit(code)
    begun, end = b"", 0.0
    while not (state := os.waitpid(child, os.WNOHANG))[0]:
        if not end or begun != watch.begun[:]:
            begun, end = watch.begun[:], monotonic() + 120 + 20 * watch.seconds.get(watch.last, 0.0)
        elif monotonic() > end:  # it waits for what never comes
            os.kill(child, signal.SIGKILL)
        sleep(0.02)
    return os.waitstatus_to_exitcode(state[1])


class Trial:
    """A plugin of pytest that, once all tests are collected, tries mutants instead of running them."""

    def __init__(self, sample: Sequence[Mutant], tests: Recorded, jobs: int, first: float) -> None:
        self.sample, self.seconds, self.jobs = [*sample], tests.seconds, jobs
        self.first = [tests.of(mutant, first) for mutant in sample]  # no fork has the database
        self.every = [tests.of(mutant, inf) for mutant in sample]
        self.failed = False
        self.verdicts: dict[int, str] = {}
        self.watch = Watch(tests.seconds)
        self.noticed: Counter[tuple[str, str]] = Counter()  # of a file, by a test
        self.passing: dict[tuple[str, bool], bool] = {}  # without fault, collected or imported anew

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take notice of a failing test."""
        self.failed |= report.failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try the mutants, each job its share of them in a process of its own."""
        self.items: dict[str, list[pytest.Item]] = {}
        for item in session.items:
            self.items.setdefault(function_of(item.nodeid), []).append(item)
        for file in {mutant.file for mutant in self.sample}:  # what is imported later would be without fault
            importlib.import_module(file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
        living = gc.get_objects()
        self.functions = [thing for thing in living if isinstance(thing, FunctionType)]
        self.caches = [thing for thing in living if isinstance(thing, functools._lru_cache_wrapper)]
        del living
        gc.freeze()
        reader, writer = os.pipe()
        for job in range(self.jobs):
            if os.fork() == 0:
                for number, verdict in self.judged(range(job, len(self.sample), self.jobs)):
                    os.write(writer, f"{number} {verdict}\n".encode())
                os._exit(0)
        os.close(writer)
        with open(reader, encoding="utf-8") as lines:
            for line in lines:
                number, _, verdict = line.strip().partition(" ")
                self.verdicts[int(number)] = verdict
                if verdict != "noticed":
                    self.show(int(number), verdict)
        return True

    def show(self, number: int, verdict: str) -> None:
        """Say what becomes of a mutant."""
        os.write(SHOWN, f"{self.sample[number]} ({verdict})\n".encode())

    def judged(self, numbers: Iterable[int]) -> Iterator[tuple[int, str]]:
        """What becomes of mutants: of each by itself, then of those that are left together."""
        groups: list[list[int]] = []
        for number in numbers:
            if not self.first[number]:
                yield number, "no test runs it"
            elif self.is_noticed(number):
                yield number, "noticed"
            else:
                self.show(number, "left for all tests")
                fits = self.sample[number].fits
                fitting = [group for group in groups if all(fits(self.sample[other]) for other in group)]
                if fitting:
                    fitting[0].append(number)
                else:
                    groups.append([number])
        for group in groups:
            noticed = set()
            for number in self.together(group):
                noticed.add(number)
                self.show(number, "noticed after all")
                yield number, "noticed"
            yield from ((number, "survived") for number in group if number not in noticed)

    def is_noticed(self, number: int) -> bool:
        """Whether one of the first tests notices a mutant, or one that has noticed others of its file."""
        file, first = self.sample[number].file, self.first[number]
        worth = {name: self.noticed[file, name] / (1 + self.seconds[name]) for name in self.every[number]}
        worthy = [name for name in worth if worth[name] >= WORTH and name not in first]
        names = sorted([*first, *worthy], key=lambda name: -round(worth[name], 1))
        while (name := self.failing([number], names)) is not None:
            if self.passes(name, number):
                self.noticed[file, name] += 1
                return True
            names = [left for left in names if left != name] if name else []
        return False

    def together(self, group: Sequence[int]) -> Iterator[int]:
        """Those of some mutants that any test notices: all are planted at once."""

        def concerned(numbers: Iterable[int]) -> set[str]:
            return {name for number in numbers for name in self.every[number]}

        left, names = [*group], sorted(concerned(group), key=lambda name: (self.seconds[name], name))
        while names and (name := self.failing(left, names)):
            if name not in names:  # together they fail before a test begins, which no name tells
                halves = left[: len(left) // 2], left[len(left) // 2 :]
                yield from (number for part in halves if halves[0] for number in self.together(part))
                return
            new = self.culprits(left, [name]) if self.passes(name, left[0]) else []
            yield from new
            left = [number for number in left if number not in new]
            wanted = concerned(left)
            names = [other for other in names[names.index(name) + 1 :] if other in wanted]

    def culprits(self, group: Sequence[int], names: Sequence[str]) -> list[int]:
        """Those of some mutants, which together fail tests, that fail them alone."""
        if len(group) == 1:
            return [*group]
        half = len(group) // 2
        halves = (group[:half], group[half:])
        failing = [part for part in halves if self.failing(part, names) is not None]
        return [number for part in failing for number in self.culprits(part, names)]

    def failing(self, group: Sequence[int], names: Sequence[str]) -> str | None:
        """The first test that fails with some mutants planted; empty where none can be collected."""
        mutants = [self.sample[number] for number in group]
        if mutants[0].lines:
            code = ended(lambda: self.in_place(mutants, names), self.watch)
            if code != ANEW:
                return self.watch.last if code else None
            self.sample[group[0]] = mutants[0]._replace(lines=range(0))  # only where it is alone
            return self.failing(group, names)
        taken = [*accumulate(self.seconds[name] for name in names)]
        quick = max(1, bisect_right(taken, QUICK))
        for part in (names[:quick], names[quick:]):
            if part and ended(lambda part=part: self.anew(mutants, part), self.watch):
                return self.watch.last
        return None

    def passes(self, name: str, number: int) -> bool:
        """Whether a test passes without the mutant; if it was not even begun, whether all are collected."""
        anew = not self.sample[number].lines
        if (name, anew) not in self.passing:
            names, options = ([name], ()) if name else (self.first[number], ("--collect-only",))
            run = (lambda: self.anew([], names, *options)) if anew else (lambda: self.in_place([], names))
            self.passing[name, anew] = ended(run, self.watch) == 0
        return self.passing[name, anew]

    def in_place(self, mutants: Sequence[Mutant], names: Sequence[str]) -> int:
        """Run the tests that were collected: 1 if one fails, ANEW where no function takes the faulty code."""
        for file, (source, faulty) in faulty_sources(mutants).items():
            if not replace_code(self.functions, file, source, faulty) and len(mutants) == 1:
                return ANEW  # among several it stays without effect
        for cache in self.caches:
            cache.cache_clear()
        items = [item for name in names for item in self.items.get(name, ())]
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return 1
        return 0

    def anew(self, mutants: Sequence[Mutant], names: Sequence[str], *options: str) -> int:
        """Collect the tests with the faults and run them: 0 if none fails."""
        import_anew({file: faulty for file, (_, faulty) in faulty_sources(mutants).items()})
        return int(pytest.main([*QUIET, "-x", *options, *names], plugins=[self.watch]))


def faulty_sources(mutants: Sequence[Mutant]) -> dict[str, tuple[str, str]]:
    """The source of each file, and that with the faults planted."""
    sources = {mutant.file: (ROOT / mutant.file).read_text("utf-8") for mutant in mutants}
    return {
        file: (source, planted([mutant for mutant in mutants if mutant.file == file], source) or "")
        for file, source in sources.items()
    }


def changed_files() -> list[str]:
    """The files of the tree that are not as they are committed."""
    command = ["git", "status", "--porcelain"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [line[3:] for line in done.stdout.splitlines()]


def main() -> int:
    """Print the survivors and the share that was noticed; 1 where the share is below 90 %."""
    parser = argparse.ArgumentParser(description="Which planted faults no test notices.")
    parser.add_argument("--limit", type=int, default=150, help="mutants to try of each sample (150)")
    parser.add_argument("--seed", type=int, nargs="+", default=[0], help="which samples (0)")
    parser.add_argument("--seconds", type=float, default=4, help="of tests tried on each by itself (4)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="mutants tried at once")
    parser.add_argument(
        "modules", nargs="*", default=ROOMS, help=f"folders and files in the package ({', '.join(ROOMS)})"
    )
    options = parser.parse_args()
    if changed_files():
        parser.error("commit first: a planted fault may write into the tree; what is committed comes back")
    files = modules(options.modules)
    if not files:
        parser.error(f"{PACKAGE} has no module {', '.join(options.modules)}")
    tests = recorded()
    mutants = [mutant for file in files for mutant in mutants_of(file, (ROOT / file).read_text("utf-8"))]
    sample: list[Mutant] = []
    ends: list[int] = []
    for seed in options.seed:
        drawn = Random(seed).sample(mutants, len(mutants))
        compiling = (each for each in drawn if planted([each], (ROOT / each.file).read_text("utf-8")))
        sample += islice(compiling, options.limit)
        ends.append(len(sample))
    print(f"{len(sample)} of {len(mutants)} mutants of {len(files)} modules", flush=True)
    begin = monotonic()
    trial = Trial([*map(tests.placed, sample)], tests, options.jobs, options.seconds)
    pytest.main(QUIET, plugins=[trial, trial.watch])
    for seed, start, end in zip(options.seed, [0, *ends], ends, strict=False):
        count = Counter(trial.verdicts[number] for number in range(start, end))
        print(f"seed {seed}: {', '.join(f'{number} {verdict}' for verdict, number in count.most_common())}")
    share = sum(verdict == "noticed" for verdict in trial.verdicts.values()) / len(sample)
    print(f"noticed {share:.1%} of {len(sample)}, {monotonic() - begin:.0f} s")
    if changed := changed_files():
        print(f"planted faults have written into the tree; look at: {', '.join(changed)}")
    return int(share < 0.9)


if __name__ == "__main__":
    sys.exit(main())
