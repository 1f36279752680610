"""The site of docs/: no page and no name is missing from it, and what it says of the code is true."""

import doctest
import importlib.util
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest
import yaml

import planner_eval as pe
from planner_eval.cli import cli
from tests.conftest import ROOT

DOCS = ROOT / "docs"
LIMIT = re.compile(r"^\| ([^|]+) \| ([\d,]+) ([^|]+) \| ([^|]+) \|$", re.M)
LIMIT_NAMES = (ROOT / "tests" / "limits.txt").read_text(encoding="utf-8").split()
"""What each row of the page of limits is called in the code, below ``planner_eval``."""
VERSIONED = re.compile(r"planeval\.\w+/\d+")


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"site_{name}", DOCS / "site" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pages(nav: list[Any]) -> list[str]:
    found: list[str] = []
    for entry in nav:
        for below in entry.values():
            found += [below] if isinstance(below, str) else pages(below)
    return found


def test_every_page_stands_in_the_navigation_once() -> None:
    named = pages(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    there = [file.relative_to(DOCS).as_posix() for file in DOCS.rglob("*.md") if "examples" not in file.parts]
    assert sorted(named) == sorted(there)


def test_every_public_name_is_described_once() -> None:
    texts = [file.read_text(encoding="utf-8") for file in sorted((DOCS / "api").glob("*.md"))]
    found = re.findall(r"^::: planner_eval\.(\w+)$", "\n".join(texts), re.M)
    assert sorted(found) == sorted(set(pe.__all__) - {"__version__"})


@pytest.mark.parametrize("name", sorted(set(pe.__all__) - {"__version__"}))
def test_every_public_name_shows_an_example(name: str) -> None:
    text = inspect.getdoc(getattr(pe, name)) or ""
    assert re.search(r"^>>> ", text, re.M), f"{name} has no example that runs"


def test_every_example_runs_with_what_its_page_imports() -> None:
    pytest.importorskip("griffe", reason="griffe is not installed (make docs installs it)")
    imports = loaded("docstrings").imports
    runner, wrong = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS), []
    for name in sorted(set(pe.__all__) - {"__version__"}):
        text = inspect.getdoc(getattr(pe, name)) or ""
        example = "".join(imports(text)) + text[text.index(">>> ") :]
        session = doctest.DocTestParser().get_doctest(example, {}, name, None, 0)
        if runner.run(session, out=wrong.append).failed:
            wrong.append(name)
    assert wrong == []


def test_no_page_has_a_tag_that_is_no_code() -> None:
    """What reads Markdown takes ‹call> for HTML, and shows nothing."""
    code = re.compile(r"^(`{3,})[^`\n]*\n.*?^\1$|`+[^`\n]+`+|<!--.*?-->", re.M | re.S)
    for page in [ROOT / "README.md", *DOCS.rglob("*.md")]:
        rest = code.sub("", page.read_text(encoding="utf-8"))
        assert re.findall(r"<[^\s<>][^<>\n]*>?", rest) == [], page.name


def below(context: click.Context) -> list[click.Context]:
    """A command's context, and those of all commands below it."""
    found = [context]
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            assert command is not None
            found += below(click.Context(command, info_name=name, parent=context))
    return found


def test_the_reference_of_the_command_line_has_every_command_and_option() -> None:
    page = loaded("commands").on_page_markdown((DOCS / "cli.md").read_text(encoding="utf-8"))
    parts = dict(re.findall(r"^##+ (planeval[^\n]*)\n(.*?)(?=^##+ |\Z)", page, re.M | re.S))
    contexts = below(click.Context(cli, info_name="planeval"))
    assert list(parts) == [context.command_path for context in contexts]
    for context in contexts:
        part = parts[context.command_path].replace(" / ", ", ")
        for option in context.command.get_params(context):
            if isinstance(option, click.Option) and not option.hidden:
                assert f"`{', '.join(option.opts)}" in part, option.name
        for group, keys in getattr(context.command, "keys", {}).items():
            assert all(f"`{group} {key}=…`" in part for key in keys)
    assert (
        "`--fail-under METRIC=X`\n:   Exit with 1 if a score is below X (above X where lower is better)"
        in page
    )
    made = loaded("commands").on_page_markdown(r"| a | `b=c\|d` |" + "\n" + r"no row: `e\|f`")
    assert made == "| a | `b=c|d` |\n" + r"no row: `e\|f`"


def of_the_code(name: str) -> int | float:
    """The value of a constant, or of a class's field when nothing is said, by its name below planner_eval."""
    module, _, attribute = name.rpartition(".")
    try:
        holder: Any = import_module(f"planner_eval.{module}")
    except ModuleNotFoundError:
        outer, _, kept = module.rpartition(".")
        holder = getattr(import_module(f"planner_eval.{outer}"), kept)
        holder = holder() if isinstance(holder, type) else holder
    value: int | float = getattr(holder, attribute)
    return value


def test_the_page_of_limits_says_what_the_code_holds(request: pytest.FixtureRequest) -> None:
    file = DOCS / "limits.md"
    text = file.read_text(encoding="utf-8")

    names = iter(LIMIT_NAMES)

    def as_it_is(row: re.Match[str]) -> str:
        value = of_the_code(name := next(names))
        assert value == int(value), name
        return f"| {row[1]} | {int(value):,} {row[3]} | {row[4]} |"

    written = LIMIT.sub(as_it_is, text)
    if request.config.getoption("--update-cases"):
        file.write_text(written, encoding="utf-8")
    else:
        assert written == text, "run: pytest tests/test_site.py --update-cases"
    rows = [line for line in text.splitlines() if re.match(r"\| (?!what|--)", line)]
    assert len(rows) == len(LIMIT.findall(text)) == len(LIMIT_NAMES)


def test_the_page_of_changes_names_every_file_with_a_version() -> None:
    sources = (file.read_text(encoding="utf-8") for file in (ROOT / "planner_eval").rglob("*.py"))
    known = {found for text in sources for found in VERSIONED.findall(text)}
    assert set(VERSIONED.findall((DOCS / "stability.md").read_text(encoding="utf-8"))) == known


def build(project: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    recipe = re.search(r"mkdocs (build [^#\n]+)", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert recipe is not None
    command = [sys.executable, "-m", "mkdocs", *recipe[1].split(), "--site-dir", str(folder)]
    return subprocess.run(command, cwd=project, capture_output=True, text=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs", reason="MkDocs is not installed (make docs installs it)")
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.long
def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    loads = re.compile(
        r"""<(?:script|img|iframe|source)\b[^>]*\ssrc=["']?(?:https?:)?//[^>]*>"""
        r"""|<link\b(?=[^>]*rel=["']?(?:stylesheet|preconnect|icon|preload))[^>]*href=["']?(?:https?:)?//[^>]*>"""
    )
    files = sorted(site.rglob("*.html"))
    assert len(files) > 30
    for file in files:
        assert loads.findall(file.read_text(encoding="utf-8")) == [], file.name
    for sheet in site.rglob("*.css"):
        assert re.findall(r"""url\(["']?(?:https?:)?//[^)]*\)""", sheet.read_text(encoding="utf-8")) == []
    made = "".join(file.read_text(encoding="utf-8") for file in (site / "api").glob("*.html"))
    assert [name for name in pe.__all__ if f'id="planner_eval.{name}"' not in made] == ["__version__"]
    commands = (site / "cli.html").read_text(encoding="utf-8")
    for context in below(click.Context(cli, info_name="planeval")):
        assert f'id="{context.command_path.replace(" ", "-")}"' in commands


@pytest.mark.long
def test_pages_open_without_a_network_and_fit_a_telephone(site: Path) -> None:
    from tests.browser import launched

    with launched() as browser:
        context = browser.new_context(viewport={"width": 390, "height": 844})
        asked: list[str] = []
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        for file in sorted(site.rglob("*.html")):
            if file.name == "404.html":
                continue
            page.goto(file.as_uri())
            assert page.locator("h1").count() >= 1, file.name
            assert not page.evaluate("document.documentElement.scrollWidth > innerWidth"), file.name
    assert [address for address in asked if not address.startswith(("file:", "data:"))] == []
