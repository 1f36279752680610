"""planeval explain: every code has a meaning, an example that leads to it, a fix, a place in the docs."""

import re
import tomllib
from pathlib import Path

import pytest

import planner_eval as pe
from planner_eval.base.codes import code_meanings
from planner_eval.base.errors import ParseError
from planner_eval.comparison.explanation.edits import EDITS
from planner_eval.comparison.rows import STATES
from planner_eval.results.codes import code_entries, explain_code, find_codes, label_meanings, term_entries
from tests.conftest import ROOT, tabled, tables
from tests.inside import planeval
from tests.test_site import loaded

TABLES = tables(__file__)

TABLE = tomllib.loads((ROOT / "data" / "codes.toml").read_text(encoding="utf-8"))
ROWS = TABLE["code"]


def _read_codes(text: str) -> set[str]:
    """The codes that reading a text leads to, strictly and with repairs."""
    codes = set()
    for repair in (False, True):
        try:
            codes |= {remark.code for remark in pe.parse(text, repair=repair).diagnostics}
        except ParseError as error:
            codes.add(error.code)
    return codes


def test_every_code_has_an_entry_and_every_entry_a_code() -> None:
    assert ROWS.keys() == code_meanings().keys() | EDITS.keys() | STATES.keys()
    assert {code.partition(".")[0] for code, row in ROWS.items() if "fix" not in row} <= TABLE[
        "family"
    ].keys()
    assert all(entry.meanings and entry.fix for entry in code_entries().values())
    assert all(code_entries()[code].example for code in ROWS)


def test_every_code_that_an_error_ends_with_is_explained() -> None:
    dotted = re.compile(r'code(?:: str)? ?= ?"(\w+\.\w+)"|"((?:parse|answer)\.\w+)"')
    files = [path.read_text("utf-8") for path in (ROOT / "planner_eval").rglob("*.py")]
    codes = {first or second for text in files for first, second in dotted.findall(text)}
    assert len(codes) > 12
    assert codes <= code_meanings().keys() | EDITS.keys(), codes - code_meanings().keys() - EDITS.keys()


def test_edits_named_for_other_names_exist() -> None:
    outside = [row for rows in TABLE["outside"].values() for row in rows.values() if isinstance(row, dict)]
    assert {code for row in outside for code in row.get("edits", "").split(", ")} - {""} <= ROWS.keys()


def test_error_types_of_benchmarks_are_explained() -> None:
    kind = re.compile(r"\"([a-z_]+_(?:checker\w*|error|decoder|turn):[a-z_/]+|agentic:[a-z_]+)\"")
    modules = (ROOT / "planner_eval" / "benchmarks" / "bfcl").glob("*.py")
    source = "".join(path.read_text(encoding="utf-8") for path in modules)
    assert set(kind.findall(source)) <= code_entries().keys()


@tabled("typed, codes")
def test_what_outputs_print_is_explained(typed: str, codes: list[str]) -> None:
    assert [entry.code for entry in find_codes(typed)] == codes


@pytest.mark.parametrize("code", [code for code, row in ROWS.items() if "example" in row])
def test_the_example_leads_to_the_code(code: str) -> None:
    assert code in _read_codes(ROWS[code]["example"])


@pytest.mark.parametrize("code", [code for code, row in ROWS.items() if "pred" in row])
def test_the_pair_has_the_edit(code: str) -> None:
    assert code in {edit.code for edit in pe.diff(ROWS[code]["pred"], ROWS[code]["gold"]).edits}


def test_a_code_a_family_and_all_of_them_are_explained(tmp_path: Path) -> None:
    single = planeval("explain", "check.enum")
    assert (single.returncode, single.stdout) == (0, explain_code(code_entries()["check.enum"]) + "\n")
    family = planeval("explain", "check").stdout
    assert [line.partition(":")[0] for line in family.splitlines() if line.startswith("check.")] == [
        code for code in code_meanings() if code.startswith("check.")
    ]
    listed = planeval("explain").stdout
    assert planeval("explain", "-o", str(tmp_path / "codes.txt")).stdout == ""
    assert (tmp_path / "codes.txt").read_text(encoding="utf-8") == listed
    assert all(code in listed for code in code_entries())


def test_every_mark_of_a_page_becomes_a_table_or_a_list() -> None:
    hooks = loaded("commands")
    for page in (ROOT / "docs").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        made = hooks.on_page_markdown(text)
        assert not set(re.findall(r"<!-- \w+ -->", made)) & hooks.GENERATED.keys()
        assert len(made) > len(text) + 200 or not any(mark in text for mark in hooks.GENERATED)


def test_the_page_of_codes_has_an_anchor_for_each() -> None:
    page = loaded("commands").on_page_markdown((ROOT / "docs" / "codes.md").read_text(encoding="utf-8"))
    assert re.findall(r"^### `(.+)` \{ #(.+) \}$", page, re.M) == [
        (entry.code, entry.anchor) for entry in code_entries().values()
    ]


VIEWS = TABLES["VIEWS"]
"""Commands whose tables are for people."""

SYSTEMS = {"pred", "tuned", "week-1", "week-2", "calls", "kind", "--by"}
"""Heads of columns that are names of files, or what the user typed."""


def _heads(text: str) -> set[str]:
    """The heads of the tables of a text, without the number in parentheses."""
    heads = set()
    for block in text.split("\n\n"):
        cells = re.split(r" {2,}", block.strip("\n").partition("\n")[0].strip())
        heads |= {re.sub(r" \(\d+\)$", "", cell) for cell in cells} if len(cells) > 1 else set()
    return heads - SYSTEMS


@pytest.mark.parametrize("command", VIEWS)
def test_heads_of_tables_are_explained(command: str) -> None:
    text = planeval(*command.format(demo="data/demo/", weeks="data/samples/agents/week-").split()).stdout
    tables = "\n\n".join(
        block for block in text.split("\n\n") if "\n" in block and not block.startswith("trip-")
    )
    assert [head for head in sorted(_heads(tables)) if not find_codes(head)] == []


def test_labels_of_the_page_are_explained() -> None:
    source = "".join(
        path.read_text(encoding="utf-8") for path in sorted((ROOT / "viz" / "report").glob("*.js"))
    )
    headings = re.findall(
        r"""(?:card\(|perRun\(|under\(|"h[234]", \{ text: |facetOf\("\w+", |heading = )\s*"([A-Z][^"]+)\"""",
        source,
    )
    headings += re.findall(r'[?:] "([A-Z][a-z\' ]+(?:plan|prediction|drawing|gain|causes))"', source)
    facets = re.findall(r'\["(?:code|tool|argument)", "([A-Z]\w+)"\]', source)
    columns = re.findall(r'\["([a-z%0-9][^"$]*)"(?:, "number[^"]*")?\]', source)
    labels = label_meanings([])
    assert (len(headings) > 12, len(facets)) == (True, 3)
    assert [
        text for text in (*headings, *facets) if re.sub(" of [AB]$", "", text) not in labels["labels"]
    ] == []
    assert set(columns) - {"up", "down", "a"} - labels["columns"].keys() == set()


def test_names_of_lines_are_explained() -> None:
    """What leads a line of ``diff``, of edits and of structure, as golden files have it."""
    lines = "\n".join(
        path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests" / "told").glob("*.txt"))
    )
    leads = set(
        re.findall(
            r"^ +(?:↳ )?([a-z][a-z. ]*?)(?: of pred| of gold)?(?: ×\d+)?(?: \([^)]*\))?: ", lines, re.M
        )
    )
    assert len(leads) > 30
    assert [name for name in sorted(leads) if not find_codes(name)] == []


def test_the_glossary_has_an_anchor_for_each_term() -> None:
    page = loaded("commands").on_page_markdown((ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))
    anchors = re.findall(r'<span id="([^"]+)">', page)
    assert anchors == [*dict.fromkeys(entry.anchor for entry in term_entries())]
