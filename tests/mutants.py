"""Small faults planted one at a time in the code, and which of them no test notices.

    python -m tests.mutants [--limit N] [--seed S] [--minutes M] [MODULE…]

A deterministic sample of mutants: comparisons, ``and`` and ``or``, ``not``, arithmetic, numbers, truth
values, returned values, statements left out, entries of module tables left out. Each is tried in a copy of
the tree, by its module's own doctests and the test modules that concern it, up to the first that fails; then
by all other test modules that run this code. One that hangs counts as noticed. The laws draw the same
examples each time. Survivors are printed as ``file:line: before -> after``. Some are equivalent: no test can
tell them.

mutmut was weighed: it puts a call between each function and its caller, which makes the tests of pairing
several times slower, and it leaves module tables alone.
"""

from __future__ import annotations

import argparse
import ast
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic
from typing import NamedTuple

from tests.conftest import ROOT, VARIABLE

FOLDERS = ("planner_eval", "grammars", "data", "viz", "tests", "docs")
FILES = (
    *(
        "pyproject.toml",
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "CITATION.cff",
        "LICENSE",
        "Makefile",
    ),
    *("SECURITY.md", "mkdocs.yml"),
)

LAWS = "property/comparison_laws"
SAID = ("compared", "tangled", "bounds")
PLAN = (*SAID, "structure", "link", "canonical", "walk", "align", "comparison_docs", LAWS, "metrics")
PAIRING = (*SAID, "align", "diff", "policy", "edit_distance", "metrics", LAWS, "structure_diff", "patch")
WORDS = (*SAID, "diff", "policy", "comparison_docs", "patch", LAWS)
FIGURES = (*SAID, "metrics", "edit_distance", "policy", "structure_diff")
STRUCTURE = (*SAID, "structure_diff", "metrics", "comparison_docs")
RECORDS = (
    *("filed", "formed", "bounds", "files", "diff", "one_way", "library", "policy", "schema", "score"),
    *("cli_honest", "door", "opening", "opened", "honest_records"),
)
TESTS: dict[str, tuple[str, ...]] = {
    "planner_eval/plan": PLAN,
    "planner_eval/plan/model.py": (*PLAN, "library", "render_svg"),
    "planner_eval/plan/link.py": ("linked", *PLAN, "dialect_cases"),
    "planner_eval/plan/statistics.py": (*SAID, "structure", "stats_datasets", "comparison_docs"),
    "planner_eval/plan/summary.py": ("tangled", "bounds", "structure", "stats_datasets", "comparison_docs"),
    "planner_eval/plan/digest.py": (*SAID, "linked", "canonical", "policy", LAWS, "stats_datasets"),
    "planner_eval/plan/rewire.py": (*PAIRING, "structure"),
    "planner_eval/plan/bag.py": ("policy", "canonical"),
    "planner_eval/plan/walk.py": ("linked", "walk", *PLAN),
    "planner_eval/plan/arithmetic.py": ("bounds", "linked", "texts"),
    "planner_eval/plan/structure.py": ("linked", *PLAN),
    "planner_eval/plan/topological.py": ("one_way", *PLAN),
    "planner_eval/plan/adjacency.py": ("structure", "structure_diff", "metrics"),
    "planner_eval/comparison": WORDS,
    "planner_eval/comparison/align.py": PAIRING,
    "planner_eval/comparison/matching": PAIRING,
    "planner_eval/comparison/structure_diff.py": STRUCTURE,
    "planner_eval/comparison/structure_figures.py": STRUCTURE,
    "planner_eval/comparison/structure_report.py": STRUCTURE,
    "planner_eval/comparison/structure_words.py": STRUCTURE,
    "planner_eval/metrics": FIGURES,
    "planner_eval/records": RECORDS,
    "planner_eval/records/patches.py": ("patch", *RECORDS),
}
"""Module or folder → the test modules that concern it, quick ones first; a later line has the last word."""

REST = (
    *("dialect_cases", "library", "structure", "walk", "canonical", "link", "stats_datasets", "one_way"),
    *("schema", "files", "vectors", "check", "patch", "score", "benchmark_score", "official_own_samples"),
    *("comparison_docs", "structure_diff", "cli", "cli_check", "cli_render", "docs", "linked", "tangled"),
    *("texts", "json_files", "shapes", "answers", "long_numbers", "honest_records", "opening", "opened"),
)
"""All other test modules that run this code, for those that the first ones let pass."""

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
    source: str


# ---------------------------------------------------------------- planting
def mutants_of(file: str, source: str) -> Iterator[Mutant]:
    """Every fault that can be planted in a module."""
    lines = source.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    text = source.encode()
    for node, new, shown in _faults(ast.parse(source)):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        changed = (text[:start] + new.encode() + text[end:]).decode()
        try:
            compile(changed, file, "exec")
        except SyntaxError:
            continue
        before, after = (shown, "left out") if shown else (text[start:end].decode(), new)
        yield Mutant(file, node.lineno, before, after, changed)


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


# ---------------------------------------------------------------- trying
def modules(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Every module of the table, or those of these names, with the tests that concern it."""
    found = {}
    for where, tests in TESTS.items():
        path = ROOT / where
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            if not names or {file.stem, file.parent.name, where} & set(names):
                found[file.relative_to(ROOT).as_posix()] = tests
    return found


def path(name: str) -> str:
    """The file of a test module."""
    folder, _, stem = name.rpartition("/")
    return f"tests/{folder}/test_{stem}.py" if folder else f"tests/test_{stem}.py"


def noticed(tree: Path, paths: Sequence[str], seconds: int) -> bool:
    """Whether a test fails, or hangs, on the tree as it is now: a busy machine is no hanging test."""
    options = ["-x", "-q", "-p", "no:cacheprovider", "--tb=no", "--hypothesis-profile=mutants"]
    command = [sys.executable, "-m", "pytest", *options, *paths]
    environment = {k: v for k, v in os.environ.items() if k != VARIABLE}
    environment |= {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command,
            cwd=tree,
            env=environment,
            capture_output=True,
            timeout=20 * seconds,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)),
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def copy(to: Path) -> None:
    """Copy all that the tests need."""
    for name in FOLDERS:
        shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, to / name)


def _worked() -> float:
    """Seconds of processor time that all children have taken."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Trial:
    """A copy of the tree in which mutants are tried, one at a time; it learns how long its tests may take."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self.limits: dict[tuple[str, ...], int] = {}
        copy(tree)

    def survives(self, mutant: Mutant, tests: Sequence[str]) -> bool:
        """Whether no test notices the mutant: neither the first ones nor the rest."""
        rest = tuple(name for name in REST if name not in tests)
        return not self._noticed(mutant, tuple(tests), mutant.file) and not self._noticed(mutant, rest)

    def _noticed(self, mutant: Mutant, tests: tuple[str, ...], *own: str) -> bool:
        paths = [*own, *map(path, tests)]
        if tests not in self.limits:
            start = _worked()
            if noticed(self.tree, paths, 900):
                raise SystemExit(f"without any mutant one of these fails: {' '.join(paths)}")
            self.limits[tests] = 10 + round(3 * (_worked() - start))
        place = self.tree / mutant.file
        place.write_text(mutant.source, "utf-8")
        try:
            return noticed(self.tree, paths, self.limits[tests])
        finally:
            shutil.copyfile(ROOT / mutant.file, place)


def main() -> int:
    """Print the survivors and the share that was noticed; 1 where the share is below 90 %."""
    parser = argparse.ArgumentParser(description="Which planted faults no test notices.")
    parser.add_argument("--limit", type=int, default=150, help="mutants to try (150)")
    parser.add_argument("--seed", type=int, default=0, help="which sample (0)")
    parser.add_argument(
        "--minutes", type=float, default=60, help="begin no further mutant after so long (60)"
    )
    parser.add_argument("modules", nargs="*", help="names of modules or folders; all by default")
    asked = parser.parse_args()
    os.nice(10)
    chosen = modules(asked.modules)
    if not chosen:
        parser.error(f"no module {', '.join(asked.modules)}; there are {', '.join(TESTS)}")
    everything = [m for file in chosen for m in mutants_of(file, (ROOT / file).read_text("utf-8"))]
    sample = Random(asked.seed).sample(everything, min(asked.limit, len(everything)))
    print(
        f"{len(sample)} of {len(everything)} mutants of {len(chosen)} modules, seed {asked.seed}", flush=True
    )
    began, tried, survivors = monotonic(), 0, 0
    with TemporaryDirectory() as folder:
        trial = Trial(Path(folder))
        for mutant in sample:
            if monotonic() - began > 60 * asked.minutes:
                break
            tried += 1
            if trial.survives(mutant, chosen[mutant.file]):
                survivors += 1
                before, after = (" ".join(text.split()) for text in (mutant.before, mutant.after))
                print(f"{mutant.file}:{mutant.line}: {before} -> {after}", flush=True)
    share = (tried - survivors) / tried if tried else 0.0
    print(f"{tried - survivors} of {tried} noticed ({share:.1%}), {monotonic() - began:.0f} s")
    return int(share < 0.9)


if __name__ == "__main__":
    sys.exit(main())
