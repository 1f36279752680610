"""What may be imported when: start-up is a feature, and the rooms of the house have an order."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "planner_eval"

# Each room may import from rooms on its own line and the lines above it.
LEVELS = [
    {"_version", "base"},
    {"plan", "llm"},
    {"dialects", "catalogs", "policy"},
    {"comparison"},
    {"metrics", "records", "execution"},
    {"worlds", "drawing"},
    {"datasets"},
    {"scoring"},
    {"benchmarks"},
    {"cli", "__main__"},
]

HEAVY = {"scipy", "numpy", "networkx", "lark", "pydantic", "graphviz", "yaml", "sqlite3", "openai"}

PRINT_MODULES = """
import json, runpy, sys
sys.argv = ["planeval", *{argv!r}]
try:
    runpy.run_module("planner_eval", run_name="__main__")
except SystemExit:
    pass
names = {{name.partition(".")[0] for name in sys.modules}}
print("\\n" + json.dumps(sorted(names - set(sys.stdlib_module_names))))
"""


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
        (("diff", "data/demo/pred.json", "data/demo/gold.json"), {"click"}),
        (("stats", "data/demo/gold.json"), {"click"}),
    ],
)
def test_a_command_imports_only_what_it_needs(argv: tuple[str, ...], allowed: set[str]) -> None:
    found = third_party(*argv) - {"planner_eval", "runpy", "sitecustomize", "usercustomize"}
    assert found <= allowed | {"mpl_toolkits"}  # matplotlib's .pth file names its namespace at start-up


def test_importing_the_package_is_light() -> None:
    code = f"import planner_eval, sys; print([m for m in sys.modules if m.partition('.')[0] in {HEAVY}])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_loads() -> None:
    import planner_eval

    for name in planner_eval.__all__:
        assert getattr(planner_eval, name) is not None


def test_nothing_beside_the_verbs_has_their_name() -> None:
    import planner_eval

    rooms = {room(file) for file in FILES}
    assert not rooms.intersection(planner_eval.__all__)


def module_imports(file: Path) -> set[str]:
    """The rooms of planner_eval that a module imports when it is imported itself."""
    found = set()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in tree.body:
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {n.split(".")[1] for n in names if n.startswith("planner_eval.")}
    return found


def room(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


FILES = sorted(f for f in PACKAGE.rglob("*.py") if f != PACKAGE / "__init__.py")


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(PACKAGE)))
def test_rooms_import_only_from_below(file: Path) -> None:
    level = {name: n for n, names in enumerate(LEVELS) for name in names}
    own = room(file)
    assert own in level, f"{own} has no place in the order of rooms (tests/test_imports.py)"
    for name in module_imports(file):
        assert level[name] <= level[own], f"{file.name} imports planner_eval.{name}, a room above it"


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(PACKAGE)))
def test_the_library_does_not_print(file: Path) -> None:
    if room(file) in ("cli", "__main__"):
        return
    tree = ast.parse(file.read_text(encoding="utf-8"))
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    assert not [n.lineno for n in calls if n.func.id == "print"]


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(PACKAGE)))
def test_nothing_evaluates_text(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    called = {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    if file == PACKAGE / "execution" / "load.py":
        return  # loads the user's own tools by path, in the confined worker; no plan's text comes here
    assert not called & {"eval", "exec", "compile"}
