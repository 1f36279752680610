"""What may be imported by whom, and when: the order of the rooms, and start-up, which is a feature."""

import ast
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import ROOT, tables, text_case

TABLES = tables(__file__)

PACKAGE = ROOT / "planner_eval"

ROOMS = (
    "base", "plan", "reading", "catalogs", "comparison", "execution", "results", "benchmarks", "models",
    "curation", "integrations", "cli",
)  # fmt: skip
"""Each room may import from those before it."""

DEFERRED: dict[str, str] = TABLES["DEFERRED"]
"""Why an import of a module of ours may stand inside a function, and the modules (with all below them)."""

COMMANDS = "a command's help, and its errors of usage, load nothing of what it runs: 7 to 60 ms each"
"""Why the modules of cli/ import all rooms but base/ and cli/ inside of functions."""

LATE_PACKAGES: dict[str, str] = TABLES["LATE_PACKAGES"]
"""Packages that may be imported inside a function, and about how many ms each takes."""

LATE_IN_WORKERS = "execution"
"""In this room any module may be late: a worker's whole start takes 20 ms."""

HEAVY = {"scipy", "numpy", "networkx", "lark", "pydantic", "graphviz", "yaml", "sqlite3", "openai"}

PRINT_MODULES = text_case("test_imports-PRINT_MODULES.txt")


# ---------------------------------------------------------------- start-up
def third_party(*argv: str) -> set[str]:
    """The packages outside the standard library that one command line imports."""
    code = PRINT_MODULES.format(argv=argv)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in json.loads(done.stdout.splitlines()[-1]) if not name.startswith("_")}


@pytest.mark.parametrize(
    ("argv", "allowed"),
    [
        (("--version",), set()),
        (("--help",), {"click"}),
        (("diff", "data/demo/gold.json", "data/demo/gold.json"), {"click"}),
        # one pair whose structure differs is told by NetworkX
        (("diff", "data/demo/pred.json", "data/demo/gold.json"), {"click", "networkx"}),
        (("score", "data/demo/pred.json", "data/demo/gold.json"), {"click"}),
        (("stats", "data/demo/gold.json"), {"click"}),
    ],
)
def test_a_command_imports_only_what_it_needs(argv: tuple[str, ...], allowed: set[str]) -> None:
    found = third_party(*argv) - {"planner_eval", "runpy", "sitecustomize", "usercustomize"}
    assert found <= allowed | {"mpl_toolkits"}  # matplotlib's .pth file names its namespace at start-up


def test_a_diff_loads_no_openssl() -> None:
    code = PRINT_MODULES.format(argv=("diff", "data/demo/gold.json", "data/demo/gold.json"))
    code = code.replace("names - set(sys.stdlib_module_names)", "names")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert "json" in loaded
    assert "hashlib" not in loaded


def test_the_intervals_of_a_few_pairs_need_no_numpy(tmp_path: Path) -> None:
    few = []
    for side in ("pred", "gold"):
        lines = (ROOT / "data" / "demo" / f"{side}.jsonl").read_text(encoding="utf-8").splitlines()
        few.append(tmp_path / f"{side}.jsonl")
        few[-1].write_text("\n".join(lines[:4]), encoding="utf-8")
    assert third_party("score", *map(str, few)) & HEAVY == set()


def test_importing_the_package_is_light() -> None:
    code = f"import planner_eval, sys; print([m for m in sys.modules if m.partition('.')[0] in {HEAVY}])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_loads() -> None:
    import planner_eval

    for name in planner_eval.__all__:
        assert getattr(planner_eval, name) is not None


# ---------------------------------------------------------------- the imports of a file
class Import(NamedTuple):
    """One import of a module of ours, or of another package; for typing alone, or inside a function."""

    source: str
    target: str
    line: int
    ours: bool
    typing: bool
    deferred: bool


FILES = sorted(PACKAGE.rglob("*.py"))


def module(file: Path) -> str:
    """A file's module below planner_eval; "" for the package itself."""
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module(file): file for file in FILES}


@cache
def syntax(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def targets(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, bool]]:
    """What a statement imports, and whether it is ours."""
    assert isinstance(node, ast.Import) or not node.level, "imports are absolute"
    for alias in node.names:
        whole = alias.name if isinstance(node, ast.Import) else f"{node.module}.{alias.name}"
        package, _, rest = whole.partition(".")
        if package != "planner_eval":
            yield whole if isinstance(node, ast.Import) else str(node.module), False
        else:
            yield rest if rest in MODULES else rest.rpartition(".")[0], True


def walk(node: ast.AST, source: str, typing: bool = False, deferred: bool = False) -> Iterator[Import]:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        for target, ours in targets(node):
            yield Import(source, target, node.lineno, ours, typing, deferred)
        return
    deferred |= isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    typing |= isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    for child in ast.iter_child_nodes(node):
        yield from walk(child, source, typing, deferred)


@cache
def imports() -> tuple[Import, ...]:
    """Every import in the package, in functions and for typing too."""
    return tuple(found for name, file in MODULES.items() for found in walk(syntax(file), name))


def room(name: str) -> str:
    return name.partition(".")[0]


def allowed(name: str) -> set[str]:
    """The rooms that a room may import from: itself, and those before it."""
    return {*ROOMS[: ROOMS.index(name) + 1]}


# ---------------------------------------------------------------- rooms
def test_every_module_is_in_a_room() -> None:
    assert {room(name) for name in MODULES} == {"", "__main__", "_version", *ROOMS}


@pytest.mark.more
@pytest.mark.parametrize("name", ROOMS)
def test_rooms_import_only_from_those_that_they_may(name: str) -> None:
    may = {*allowed(name), "_version"} | ({""} if name in ("cli", "integrations") else set())  # public verbs
    wrong = [i for i in imports() if i.ours and room(i.source) == name and room(i.target) not in may]
    assert wrong == []


@pytest.mark.parametrize("name", ROOMS)
def test_names_of_modules_in_texts_keep_the_order_too(name: str) -> None:
    may = allowed(name)
    for source, file in MODULES.items():
        if room(source) != name:
            continue
        named = re.findall(r"""["']planner_eval\.(\w+)\.[\w.]*(?::\w+)?["']""", file.read_text("utf-8"))
        assert {one for one in named if one in ROOMS} <= {*may}, source


def test_the_root_imports_nothing_before_it_is_asked() -> None:
    found = {i.target for i in imports() if i.source == "" and i.ours and not i.typing}
    assert found == {"_version", "base.resources"}


def test_what_is_registered_is_there() -> None:
    from planner_eval.base import resources

    for name in resources._TARGETS:
        assert callable(resources.service(name))
    named = re.compile(r"""["'](planner_eval\.[\w.]+:\w+)["']""")
    for target in {t for file in FILES for t in named.findall(file.read_text(encoding="utf-8"))}:
        assert resources.load(target) is not None


def test_nothing_beside_the_verbs_has_their_name() -> None:
    import planner_eval

    assert not {room(name) for name in MODULES}.intersection(planner_eval.__all__)


def test_contributing_names_the_rooms_in_their_order_and_files_that_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rooms = re.findall(r"^\| `(\w+)/` \| (.+) \|$", text, re.MULTILINE)
    assert [name for name, _ in rooms] == list(ROOMS)
    folders = [PACKAGE / name / folder for name, words in rooms for folder in re.findall(r"`(\w+)/`", words)]
    assert folders
    assert [str(folder) for folder in folders if not folder.is_dir()] == []
    questions = re.findall(r"^\| ([^|]+\?) \| ([^|]+) \|$", text, re.MULTILINE)
    assert len(questions) >= 20
    for question, answer in questions:
        files = re.findall(r"`([\w/]+\.py)`", answer)
        assert files, question
        assert [file for file in files if not (PACKAGE / file).is_file()] == [], question
    named = re.findall(r"`((?:planner_eval|tests|data|docs|viz|grammars)/[\w/.-]+\w)`", text)
    assert len(named) > 20
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_names_that_messages_and_docstrings_give_are_there() -> None:
    told = re.compile(r"(\w+)\(…\) of planner_eval\.([\w.]+\w)|:\w+:`planner_eval\.([\w.]+)\.(\w+)`")
    names = [found for file in FILES for found in told.findall(file.read_text(encoding="utf-8"))]
    assert len(names) > 100
    wrong = []
    for name, named_module, path, attribute in names:
        module, name = (named_module, name) if name else (path, attribute)
        while module not in MODULES:  # a method: its class stands in the module
            module, _, name = module.rpartition(".")
        holder = importlib.import_module(f"planner_eval.{module}")
        if not hasattr(holder, name) and f"{module}.{name}" not in MODULES:
            wrong.append(f"planner_eval.{module}.{name}")
    assert wrong == []


# ---------------------------------------------------------------- circles
def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """The sets of nodes of which each leads to each other."""
    reach = {node: {node} for node in graph}
    changed = True
    while changed:
        changed = False
        for node, targets_ in graph.items():
            more = set().union(*(reach[t] for t in targets_)) - reach[node]
            if more:
                reach[node] |= more
                changed = True
    rings = {frozenset(b for b in reach[a] if a in reach[b]) for a in graph}
    return [set(ring) for ring in rings if len(ring) > 1]


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"d"}}) == [{"b", "c"}]


def test_no_files_import_one_another_in_a_circle() -> None:
    graph: dict[str, set[str]] = {name: set() for name in MODULES}
    for found in imports():
        if found.ours and not found.typing and found.target in graph:
            graph[found.source].add(found.target)
    assert circles(graph) == []


# ---------------------------------------------------------------- imports inside of functions
def late(target: str) -> str | None:
    """The entry of the list that a module of ours falls under."""
    listed = (name for names in DEFERRED.values() for name in names.split())
    return next((name for name in listed if target == name or target.startswith(f"{name}.")), None)


def deferred() -> list[Import]:
    return [i for i in imports() if i.deferred and not i.typing]


def test_imports_of_ours_stand_at_the_top_but_for_those_listed() -> None:
    wrong = [
        i
        for i in deferred()
        if i.ours
        and not late(i.target)
        and not (room(i.source) == "cli" and room(i.target) not in ("base", "cli"))
    ]
    assert wrong == [], f"at the top, or on the list with its reason and ms; {COMMANDS}"


def test_the_list_names_nothing_that_is_not_late() -> None:
    used = {late(i.target) for i in deferred() if i.ours}
    assert {name for names in DEFERRED.values() for name in names.split()} == used - {None}


def test_other_packages_stand_at_the_top_but_for_those_listed() -> None:
    found = [i for i in deferred() if not i.ours and room(i.source) not in ("", LATE_IN_WORKERS)]
    assert [i for i in found if room(i.target) not in LATE_PACKAGES] == []
    assert {room(i.target) for i in found} >= LATE_PACKAGES.keys() - {"concurrent"}


# ---------------------------------------------------------------- what the library does not do
def called(node: ast.AST) -> set[str]:
    """The functions that are called there by their bare names."""
    calls = (n.func for n in ast.walk(node) if isinstance(n, ast.Call))
    return {function.id for function in calls if isinstance(function, ast.Name)}


RUNNERS = ["__getitem__", "execute_file"]
"""The functions that run a user's own tools."""


def test_the_library_does_not_print_and_evaluates_no_text() -> None:
    evaluate = {"eval", "exec", "compile"}
    for name, file in MODULES.items():
        if re.search(r"\b(print|eval|exec|compile)\(", file.read_text(encoding="utf-8")) is None:
            continue
        wrong = evaluate if room(name) in ("cli", "__main__") else {"print", *evaluate}
        if name == "execution.tool_loading":
            # Loads the user's own tools by path, in the confined worker; no plan's text comes here.
            functions = (n for n in ast.walk(syntax(file)) if isinstance(n, ast.FunctionDef))
            assert sorted(f.name for f in functions if called(f) & evaluate) == RUNNERS
            wrong = {"print"}
        if name == "base.frozen":
            wrong = wrong - {"exec"}  # of functions written out for our own classes, as dataclasses has it
        assert not called(syntax(file)) & wrong, name


def run_time(node: ast.AST) -> Iterator[ast.AST]:
    """What a module evaluates: everything but its annotations, which are texts."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns"):
            continue
        for each in value if isinstance(value, list) else (value,):
            if isinstance(each, ast.AST):
                yield each
                yield from run_time(each)


def test_no_class_of_click_takes_a_parameter_where_it_runs() -> None:
    # ParamType and Choice are generic from click 8.4 and 8.2 on: before, to say so ends every command.
    found = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in FILES
        if "click." in file.read_text(encoding="utf-8")
        for node in run_time(syntax(file))
        if isinstance(node, ast.Subscript)
        and re.fullmatch(r"click(\.\w+)*\.[A-Z]\w*", ast.unparse(node.value))
    ]
    assert found == []
