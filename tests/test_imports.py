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

from tests.conftest import ROOT

PACKAGE = ROOT / "planner_eval"

ROOMS = (
    "base",
    "plan",
    "reading",
    "catalogs",
    "comparison",
    "execution",
    "results",
    "benchmarks",
    "models",
    "curation",
    "integrations",
    "cli",
)
"""Each room may import from those before it."""

DEFERRED: dict[str, str] = {
    "an error that is told with its code alone needs the table: 8 ms": "base.codes",
    "only arguments that a library wrote as Python text need it: 4 ms":
        "reading.dialects.programs.literals",
    "a text in free form alone needs them; finding takes 38 ms":
        "reading.dialects.finding.find reading.dialects.detect reading.dialects.finding.embedded_tokens "
        "reading.dialects.finding.answers",
    "conversations and answers of APIs alone need them: 3 and 40 ms":
        "reading.dialects.conversations.turn_collector reading.dialects.conversations.turns "
        "reading.dialects.conversations.wrappers",
    "notations that are a row of the table; reading JSON or AppBench needs none: 5 ms and the table's text":
        "reading.dialects.table reading.dialects.dialect reading.files.frameworks",
    "a notation is loaded when it is first met: 4 to 15 ms each":
        "reading.dialects.notations.appbench reading.dialects.programs.python_ast "
        "reading.dialects.programs.call_in_name "
        "reading.dialects.programs.javascript reading.dialects.programs.python_calls "
        "reading.dialects.notations.json_rows",
    "only a shell that asks what may stand next needs it: 2 ms": "cli.completion",
    "only conversations of several turns need them: 4 ms each":
        "comparison.turn_by_turn reading.conversation benchmarks.turns results.conversations "
        "results.trials models.predict.trials",
    "only traces need them: 4 ms": "reading.trace_times reading.trace_findings",
    "few ask for these: types, guessed edges, prompts, the grammar, writing and its check; 1 to 4 ms each":
        "plan.inference catalogs.record_tools "
        "reading.dialects.notations.plan "
        "reading.dialects.reference_reading reading.dialects.round_trip",
    "they are made with Lark, which takes 17 ms; errors and places alone need it":
        "base.grammar reading.dialects.programs.grammars base.json_places "
        "reading.dialects.programs.program_grammars",
    "only a policy with rules needs them: 1 and 4 ms of each diff":
        "comparison.matching.rules comparison.policy.values",
    "only plans that differ need them, with what finds words for that: 2 ms of each diff":
        "comparison.explanation.explain",
    "only --structure needs them: 2 ms of each diff": "comparison.structure_diff",
    "only --compute needs it: 1 ms": "plan.arithmetic",
    "only stats needs it: 2 ms of each diff": "plan.statistics",
    "only --gold-doubts needs it: 12 ms of each score, with comparing and drawing": "results.gold_doubts",
    "only scores need them: 5 ms of each diff": "results.scored results.totals",
    "only --differs needs it: 30 ms, with the benchmarks": "curation.shrink.goals",
    "only pairs that processes score, and runs that are kept, need it: 25 ms":
        "benchmarks.runs results.score",
    "only a score by processes, or of a kept run, needs them: 100 ms of each score":
        "results.compare results.runs.folder results.runs.run results.runs.stored",
    "only a finding that a catalog can mend needs it: 10 ms of each audit": "curation.suggest.suggest",
    "only --runs needs it: 15 ms, with runs' folders": "curation.audit.votes",
    "only --patch needs it: 3 ms of each diff": "comparison.patch",
    "only a CI's own forms need it: 5 ms of each diff, with OpenSSL": "results.findings",
    "only --causes needs them: 3 ms of each score with what mends, 1 with what sums":
        "results.causes results.views.report",
    "only tables need it, which diff does not write for people": "base.tables",
    "only a schema that says more than types do needs them: 3 ms, 50 with jsonschema":
        "catalogs.json_schema.validation catalogs.json_schema.vocabulary",
    "readers of a catalog's formats, one of which is wanted: 4 ms each, 66 with pydantic":
        "catalogs.benchmark_formats catalogs.python_functions catalogs.standard_formats catalogs.writers",
    "texts with numbers of a prediction that goes wrong alone may be dates: 2 ms": "comparison.policy.dates",
    "a user's file is checked with pydantic, shipped ones by tests: 60 ms, with the models":
        "base.schema_models comparison.schemas reading.schemas results.schema models.prices "
        "execution.worlds.schema",
    "only a judge behind a server needs it: 3 ms, with what sends": "models.judges",
    "a policy by its name, a catalog's types, a world, where a verb is given one; 3, 4 and 20 ms":
        "catalogs.formats comparison.policy.file execution.worlds.world",
    "only a judge is asked with prompts: 6 ms":
        "benchmarks.callnavi.data benchmarks.functionchat.data benchmarks.judging",
    "one benchmark of six is wanted: 25 to 55 ms each":
        "benchmarks.bfcl benchmarks.complexfuncbench benchmarks.functionchat",
    "files are read without it: 2 ms": "benchmarks.datasets.published",
    "who downloads nothing asks no server: 25 ms, with urllib's": "benchmarks.datasets.fetch",
    "only packed files, and only tables, need them: 1 and 2 ms": "reading.files.tables",
    "only files of many megabytes, and runs that go on, need them: 1 ms, and 8 with SQLite":
        "reading.files.disk_records reading.files.disk_pairs reading.files.record_index",
    "one way of writing a drawing is wanted: 3 to 25 ms each":
        "results.drawing.layout results.drawing.dot results.drawing.mermaid",
    "a worker starts from here, and starts often: 1 to 27 ms each":
        "base.json_files execution.awaiting execution.bind execution.sandbox.server "
        "execution.tool_sources execution.nestful_basic execution.sandbox.wire reading.files.files "
        "reading.files.several execution.worlds.facts execution.worlds.reading",
    "every run of pytest loads the plugin, and few use it: 60 ms":
        "base.output_files integrations.verdict comparison.gold_alternatives base.errors",
    "--version answers without click, and only an error needs to be made printable": "base.text cli",
}  # fmt: skip
"""Why an import of a module of ours may stand inside a function, and the modules (with all below them)."""

COMMANDS = "a command's help, and its errors of usage, load nothing of what it runs: 7 to 60 ms each"
"""Why the modules of cli/ import all rooms but base/ and cli/ inside of functions."""

LATE_PACKAGES = {
    "lark": 17,
    "matplotlib": 250,
    "netext": 45,
    "networkx": 55,
    "numpy": 26,
    "openai": 290,
    "pydantic": 17,
    "pydantic_core": 15,
    "pygraphviz": 15,
    "rich": 7,
    "scipy": 220,
    "pyarrow": 70,
    "sentence_transformers": 1000,
    "yaml": 7,
    "zstandard": 5,
    # of the standard library
    "asyncio": 30,
    "bz2": 0.6,
    "compression": 2,  # since Python 3.14
    "concurrent": 2,
    "csv": 0.3,
    "decimal": 2,
    "difflib": 0.6,
    "email": 5,
    "hashlib": 2,  # with OpenSSL
    "http": 16,
    "importlib": 0.3,  # metadata alone takes 13
    "pathlib": 2,
    "shutil": 2,  # with all that packs files
    "tempfile": 2,
    "tomllib": 1,
    "urllib": 2,  # request alone takes 15
    "xml": 1,
    "zipfile": 4,
    "fnmatch": 0.5,
    "fcntl": 0.1,  # not on every platform
    "glob": 0.5,
    "gzip": 0.6,
    "lzma": 0.9,
}
"""Packages that may be imported inside a function, and about how many ms each takes."""

LATE_IN_WORKERS = "execution"
"""In this room any module may be late: a worker's whole start takes 20 ms."""

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
