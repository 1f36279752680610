"""planeval check and planeval catalog; catalogs that are none are refused, never taken in silence."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, tabled, tables
from tests.inside import planeval

TABLES = tables(__file__)

CASES = ROOT / "tests" / "cases" / "catalogs"
RATES = str(CASES / "mcp.json")


def check(text: str, *more: str) -> Any:
    return planeval("check", "-", "--catalog", RATES, *more, text=text)


def _catalog(folder: Path, content: Any) -> str:
    file = folder / "tools.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(file)


def _doubling(step: str) -> str:
    """A tool whose 30 definitions each name the next one twice: a thousand million schemas in 30 lines."""
    texts = [step.replace("{}", f'{{"$ref": "#/$defs/d{level}"}}') for level in range(1, 30)]
    definitions = ", ".join(f'"d{level}": {text}' for level, text in enumerate([*texts, "{}"]))
    city = '{"city": {"$ref": "#/$defs/d0"}}'
    return f'[{{"name": "search", "parameters": {{"properties": {city}, "$defs": {{{definitions}}}}}}}]'


NESTED = '{"type": "array", "items": ' * 300 + "{}" + "}" * 300


@tabled("content, key")
def test_a_schema_under_an_unknown_key_is_refused(tmp_path: Path, content: Any, key: str) -> None:
    done = planeval("catalog", _catalog(tmp_path, content))
    assert (done.returncode, done.stdout) == (2, "")
    assert f"the key {key!r} is not read" in done.stderr
    assert "expected its parameters under parameters or inputSchema or input_schema" in done.stderr


@pytest.mark.parametrize(("content", "message"), [
    *TABLES["a_wrong_catalog_is_refused_with_what_was_found"],
    (f'[{{"name": "search", "parameters": {{"properties": {{"city": {NESTED}}}}}}}]',
     "a JSON Schema is nested more than 64 levels deep"),
    (_doubling('{"properties": {"x": {}, "y": {}}}'), "more than 20,000 schemas, with those"),
])  # fmt: skip
def test_a_wrong_catalog_is_refused_with_what_was_found(tmp_path: Path, content: Any, message: str) -> None:
    done = planeval("catalog", _catalog(tmp_path, content))
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@tabled("name, plan, said")
def test_texts_for_numbers_and_nothing_may_be_right(name: str, plan: str, said: str | None) -> None:
    file = Path(__file__).parent / "cases" / "catalogs" / name
    done = planeval("check", "-", "--catalog", file, text=plan)
    assert (done.returncode, (said or "") in done.stdout) == (int(said is not None), True)
