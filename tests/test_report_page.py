"""The report page and what notebooks show, in a browser: filters, keys, hostile names, two runs, drawings."""

import json
import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.reading.settings import Reading
from planner_eval.results.drawing.overlay import diff_scene
from planner_eval.results.drawing.scene import visible_text
from planner_eval.results.page.page import NOTEBOOK_SCRIPTS as IN_NOTEBOOKS
from planner_eval.results.page.page import SCRIPTS
from planner_eval.results.page.report import PageSettings, report
from tests.browser import launched, opened
from tests.conftest import ROOT, tables, text_case
from tests.render_plans import HOSTILE, no_svg

TABLES = tables(__file__)

DEMO = ROOT / "data" / "demo"
EXAMPLES = ROOT / "docs" / "examples" / "openai"
MARKUP = TABLES["MARKUP"]
NAMES = [*MARKUP, *HOSTILE]
"""35 names and values that would like to be more than text."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as one:
        yield one


def written(file: Path, *given: Any, **how: Any) -> Path:
    file.write_text("".join(report(*given, **how).pieces), encoding="utf-8")
    return file


def lines(file: Path, records: list[Any]) -> Path:
    file.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    command = ("planeval", "diff", "pred it.jsonl", "gold.jsonl", "--id")
    file = tmp_path_factory.mktemp("page") / "demo.html"
    return written(file, DEMO / "pred.jsonl", DEMO / "gold.jsonl", shown=PageSettings(command=command))


@pytest.fixture(scope="module")
def pair_of_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "two.html"
    runs = [EXAMPLES / "small.jsonl", EXAMPLES / "large.jsonl"]
    gold, reading = EXAMPLES / "gold.jsonl", Reading(by="position")
    return written(file, runs, gold, names=["small", "large"], reading=reading)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page whose ids, tools, arguments, values, fields and questions all are hostile."""
    folder = tmp_path_factory.mktemp("hostile")

    def record(at: int, name: str, value: Any) -> dict[str, Any]:
        call = {"name": name, "arguments": {name: value, "z": [{name: value}]}}
        plan = [call, {"name": "next", "arguments": {"x": value}}]
        return {"id": f"{at} {name[:50]}", "output": plan, "query": name, "category": name[:50]}

    pred = lines(folder / "pred.jsonl", [record(at, name, name) for at, name in enumerate(NAMES)])
    gold = lines(folder / "gold.jsonl", [record(at, name, f"not {name}") for at, name in enumerate(NAMES)])
    return written(folder / "page.html", pred, gold, shown=PageSettings(title=MARKUP[1], query="query"))


def found(page: Any) -> str:
    return str(page.locator("#found").inner_text())


def pairs(page: Any) -> int:
    row = page.locator("#list [role=option]").first
    return int(row.get_attribute("aria-setsize")) if row.count() else 0


def address(page: Any) -> str:
    return str(page.evaluate("location.hash"))


def value(page: Any, facet: str, said: str) -> Any:
    return page.locator(f'button.value[data-facet="{facet}"][data-value="{said}"]')


def test_a_click_shows_only_that_and_a_second_one_takes_it_away(browser: Any, demo: Path) -> None:
    with opened(browser, demo, "#view=pairs") as page:
        assert (found(page), pairs(page)) == ("13 pairs", 13)
        button = value(page, "state", "different")
        assert button.locator(".number").inner_text() == "10"
        button.click()
        assert (found(page), pairs(page), address(page)) == ("10 of 13 pairs", 10, "#state=different")
        assert button.get_attribute("aria-pressed") == "true"
        assert value(page, "state", "same").locator(".number").inner_text() == "2", "what a click would show"
        value(page, "code", "call.extra").click()
        assert pairs(page) == int(value(page, "code", "call.extra").locator(".number").inner_text()) == 2
        value(page, "code", "call.extra").click()
        value(page, "state", "different").click()
        assert (pairs(page), address(page)) == (13, "#view=pairs")


def test_keys(browser: Any, demo: Path) -> None:
    with opened(browser, demo, "#view=pairs") as page:
        page.keyboard.press("j")
        page.keyboard.press("j")
        assert address(page) == "#id=trip-missing"
        page.locator("#pair-id", has_text="trip-missing").wait_for()
        page.keyboard.press("k")
        page.locator("#pair-id", has_text="trip-same").wait_for()
        page.locator("#list").focus()
        page.keyboard.press("ArrowDown")
        page.locator("#pair-id", has_text="trip-missing").wait_for()
        marked = page.locator("#list").get_attribute("aria-activedescendant")
        assert page.locator(f"#{marked}").get_attribute("aria-selected") == "true"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "pair-id"
        page.keyboard.press("Escape")
        assert address(page) == "#view=pairs"
        page.keyboard.press("?")
        assert page.locator("#help").is_visible()
        page.keyboard.press("Escape")
        assert not page.locator("#help").is_visible()


def test_links_and_back(browser: Any, demo: Path) -> None:
    with opened(browser, demo, "#id=trip-missing&code=call.missing") as page:
        page.locator("#pair-id", has_text="trip-missing").wait_for()
        assert found(page) == "1 of 13 pairs"
        value(page, "code", "call.missing").click()
        page.locator("#list .id", has_text="trip-order").click()
        assert address(page) == "#id=trip-order"
        page.go_back()
        page.go_back()
        assert (address(page), found(page)) == ("#id=trip-missing&code=call.missing", "1 of 13 pairs")
        page.go_forward()
        assert (address(page), found(page)) == ("#id=trip-missing", "13 pairs")
        page.evaluate("location.hash = '#id=not-there'")
        page.locator("#pair", has_text="There is no pair not-there").wait_for()


def test_one_pair_tells_all_that_is_known(browser: Any, demo: Path) -> None:
    with opened(browser, demo, "#id=trip-missing") as page:
        page.locator("#pair-id").wait_for()
        edits = page.locator("#pair .edits > li")
        assert edits.count() == 1
        assert "gold's Hotels.searchhotel (gold's call 2) with" in edits.inner_text()
        assert "reference.literal" in edits.locator(".follows li").inner_text()
        assert "1 dependency lost" in page.locator("#pair .structure").inner_text()
        marks = page.locator(".texts mark").all_inner_texts()
        assert "#hotel='Hotel Roma'" in marks
        assert page.locator("svg.drawing g.box").count() == 3
    with opened(browser, demo, "#id=alarm-unreadable") as page:
        assert 'found \'"tue"' in page.locator("#pair .error").inner_text()
        assert page.locator("svg.drawing g.box").count() > 0, "gold's plan alone"


def test_the_page_draws_what_planeval_draws(browser: Any, demo: Path) -> None:
    """Roles, places, marks and rows of each box are those of the drawings."""
    rows = [row for row in pe.evaluate(DEMO / "pred.jsonl", DEMO / "gold.jsonl") if row.diff is not None]
    read = """() => [...document.querySelectorAll('#pair .listing > li')].map(one => ({
      role: one.className, place: (one.querySelector(':scope > .place')?.textContent ?? '').trim(),
      mark: (one.querySelector(':scope > .mark')?.textContent ?? '').trim(),
      rows: [...one.querySelectorAll(':scope > ul > li')].map(row => [row.className, row.textContent])}))"""
    with opened(browser, demo) as page:
        for row in rows:
            assert row.diff is not None
            page.evaluate("id => go({ id, view: 'pairs' })", row.id)
            page.locator("#pair-id", has_text=row.id).wait_for()
            apps = {call.app for plan in (row.diff.pred, row.diff.gold) for call in plan.calls if call.app}
            bare = re.compile(r"\b(?:" + "|".join(map(re.escape, apps)) + r")\." if apps else r"(?!)")
            shown = json.loads(bare.sub("", json.dumps(page.evaluate(read))))
            assert shown == [box_data(box) for box in diff_scene(row.diff).boxes], row.id
            drawn = [arrow.role for arrow in diff_scene(row.diff).arrows]
            arrows = [one.get_attribute("class") for one in page.locator("#pair g.arrow").all()]
            assert sorted(str(one).split()[1] for one in arrows) == sorted(drawn), row.id


SIGNS = {"kept": "", "missing": "− ", "extra": "+ ", "changed": "~ ", "wrong": "! "}


def box_data(box: Any) -> dict[str, Any]:
    whole = box.role in ("missing", "extra")

    def said(row: Any) -> str:
        return ("" if whole else SIGNS[row.role]) + row.text + (f" ({row.gold})" if row.gold else "")

    place = f"({box.place})" if box.place else ""
    rows = [[row.role, said(row)] for row in box.rows]
    return {"role": box.role, "place": place, "mark": box.mark, "rows": rows}


LAID = text_case("test_report_page-LAID.txt")


def test_no_arrow_runs_through_a_box(browser: Any, demo: Path) -> None:
    dice = random.Random(5)
    with opened(browser, demo) as page:
        for size in (1, 2, 5, 9, 17, 30, 60):
            boxes = [{"w": dice.randint(72, 260), "h": dice.randint(28, 150)} for _ in range(size)]
            heads = [head for head in range(1, size) for _ in range(dice.randint(0, 2))]
            tails = [dice.randrange(max(0, head - 9), head) for head in heads]
            ends = zip(tails, heads, strict=True)
            edges = [{"tail": tail, "head": head, "w": dice.choice([0, 60, 110])} for tail, head in ends]
            laid = page.evaluate(LAID, [boxes, edges])
            assert laid == {"hits": [], "over": [], "below": True, "wide": True}, size
        circle = [{"tail": tail, "head": head, "w": 50} for tail, head in ((0, 1), (1, 0), (1, 1))]
        laid = page.evaluate(LAID, [[{"w": 90, "h": 40}] * 2, circle])
        assert (laid["hits"], laid["over"], laid["wide"]) == ([], [], True)


def test_two_runs(browser: Any, pair_of_runs: Path) -> None:
    with opened(browser, pair_of_runs, "#view=compare") as page:
        cells = [re.sub(r"\s+", " ", one) for one in page.locator(".quadrant").all_inner_texts()]
        assert [one.split(" ")[0] for one in cells] == ["2", "0", "5", "1"]
        row = page.locator("#compare table.figures tbody tr").first.inner_text()
        assert row.split()[:4] == ["exact", "0.250", "0.875", "+0.625"]
        page.locator(".quadrant.b").click()
        assert (address(page), pairs(page)) == ("#who=b", 5)
        page.keyboard.press("j")
        page.locator("#pair-id").wait_for()
        assert page.locator("#pair .side").count() == 2
        assert page.locator("#pair header .who").inner_text() == "only B right"
        assert page.locator("#pair .chip").all_inner_texts()[1].replace("\n", "") == "Bsame"


def test_hostile_names_stay_text(browser: Any, hostile: Path) -> None:
    back = "at => { state = readState(location.hash); update(); return pane.k === at; }"
    assert len(NAMES) == 35
    with opened(browser, hostile) as page:
        kinds = "[...new Set([...document.querySelectorAll('*')].map(e => e.localName))].sort().join()"
        scripts = page.evaluate("document.scripts.length")
        assert page.locator("h1").inner_text() == MARKUP[1]
        ids = page.evaluate("Array.from({ length: all.n }, (_, k) => idOf(k))")
        assert len(ids) == 35
        for at, one in enumerate(ids):
            page.evaluate("id => go({ id, view: 'pairs' })", one)
            page.wait_for_function("k => pane.k === k && document.querySelector('#pair-id')", arg=at)
            shown = "id => document.querySelector('#pair-id').textContent === visible(id)"
            page.wait_for_function(shown, arg=one)
            assert page.locator("#pair-id").text_content() == visible_text(one)
            assert page.evaluate(back, at), "the address leads back"
        page.evaluate("go({ id: null, fields: { category: all.strings[all.fields.category[1]] } })")
        assert pairs(page) == 1
        page.evaluate("go({ fields: {}, tool: '' })")
        assert (pairs(page), address(page)) == (1, "#tool="), "a name may be empty"
        assert page.evaluate("window.__pwned") is None
        assert page.evaluate("document.scripts.length") == scripts
        assert not set(page.evaluate(kinds).split(",")) & {"img", "iframe", "base", "object", "embed", "font"}
        assert page.evaluate("document.querySelectorAll('style').length") == 1
        assert page.evaluate("Object.keys(Object.prototype).length") == 0


def test_the_page_allows_nothing_but_its_own(browser: Any, hostile: Path) -> None:
    text = hostile.read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert "unsafe" not in policy[1]
    assert policy[1].startswith("default-src 'none'")
    with opened(browser, hostile) as page:
        page.evaluate("""() => { const one = document.createElement('script');
          one.textContent = 'window.__pwned = 1'; document.body.append(one); }""")
        assert page.evaluate("window.__pwned") is None
        assert any("Content Security Policy" in said for said in page.complaints)
        page.complaints.clear()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Any, demo: Path, pair_of_runs: Path, scheme: Any) -> None:
    from axe_playwright_python.sync_playwright import Axe

    views = [(demo, ""), (demo, "#id=trip-output&state=different"), (pair_of_runs, "#view=compare")]
    for file, view in views:
        with opened(browser, file, view, color_scheme=scheme, bypass_csp=True) as page:
            if "id=" in view:
                page.locator("#pair-id").wait_for()
            told = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
            bad = [one for one in told if one["impact"] in ("serious", "critical")]
            assert [(one["id"], one["nodes"][0]["html"][:200]) for one in bad] == [], (file.name, view)


@pytest.mark.more
def test_many_pairs_are_few_elements(browser: Any, tmp_path: Path) -> None:
    golds = [f"f(#x='{at % 9}')" for at in range(3_000)]
    many = written(tmp_path / "many.html", ["f(#x='1')"] * 3_000, golds)
    with opened(browser, many, "#view=pairs") as page:
        assert found(page) == "3,000 pairs"
        assert page.locator("#list .row").count() < 60
        page.locator("#list").focus()
        page.keyboard.press("End")
        page.locator("#pair-id", has_text="3000").wait_for()
        last = page.locator("#list .row.here")
        assert last.get_attribute("aria-posinset") == "3000"
        assert last.is_visible()
        assert page.evaluate("document.querySelectorAll('*').length") < 2_500
    empty = written(tmp_path / "same.html", ["f(#x='1')"], ["f(#x='1')"], shown=PageSettings(failures=True))
    with opened(browser, empty, "#view=pairs") as page:
        assert (found(page), pairs(page)) == ("0 pairs", 0)
        texts = page.evaluate("[figureText(1), figureText(2 / 3), figureText(0.99997), percent(1 / 30000)]")
        assert texts == ["1.000", "0.667", "0.99997", "0.003 %"]
        assert "There are no pairs" in page.locator("#pair").inner_text()


GOLD = "Hotels: [h = search(#city='Rome')]\nHotels: [book(#name=h)]\nTrips: [pay(#by='card')]"
PRED = "Hotels: [h = search(#city='Roma')]\nHotels: [book(#name='h')]"


@pytest.fixture
def no_graphviz(monkeypatch: pytest.MonkeyPatch) -> None:
    no_svg(monkeypatch)


INSERTED = text_case("test_report_page-INSERTED.txt")
"""As notebooks do it: the fragment is set as markup, then its scripts are made anew."""


@pytest.fixture
def notebook(browser: Any, tmp_path: Path, no_graphviz: None) -> Any:
    """Makes a page that holds what notebooks show of some things."""

    def shown(things: list[Any], theme: str = "") -> Any:
        page = browser.new_context(color_scheme="light").new_page()
        page.complaints = []
        page.on("console", lambda said: page.complaints.append(said.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        file = tmp_path / "notebook.html"
        file.write_text(f"<!doctype html><meta charset=utf-8><body {theme}>", encoding="utf-8")
        page.goto(file.as_uri())
        for thing in things:
            page.evaluate(INSERTED, thing._repr_html_())
        return page

    return shown


def test_a_plan_and_a_diff_are_drawn_in_place_of_the_listing(notebook: Any) -> None:
    found, plan = pe.diff(PRED, GOLD), pe.parse(GOLD)
    page = notebook([plan, found])
    assert page.complaints == []
    assert page.locator(".planeval-drawing svg.drawing").count() == 2
    first, second = page.locator(".planeval-drawing").all()
    assert first.locator("g.box.plain").count() == 3
    roles = [one.get_attribute("class") for one in second.locator("g.box").all()]
    assert roles == ["box changed", "box changed", "box missing"]
    assert not page.locator("pre").first.is_visible()
    said = page.evaluate("document.querySelectorAll('.planeval-drawing')[1].shadowRoot.textContent")
    assert [edit.message for edit in found.edits if edit.message not in said] == []
    page.evaluate("text => { document.body.innerHTML = text; }", plan._repr_html_())
    assert page.locator("pre").is_visible(), "without its script the listing stays"
    assert page.locator("pre").inner_text() == str(plan)
    page = notebook([plan], "data-jp-theme-light=false")
    ground = "getComputedStyle(document.querySelector('.planeval-drawing')).backgroundColor"
    assert page.evaluate(ground) == "rgb(13, 17, 23)"


@pytest.mark.parametrize("text", MARKUP)
def test_foreign_text_is_data(notebook: Any, text: str) -> None:
    plan = pe.Plan((pe.Call("a", text, ((text, text),)),))
    page = notebook([plan, pe.diff(plan, pe.Plan((pe.Call("a", text, ((text, "2"),)),)))])
    assert page.complaints == []
    assert page.locator("svg.drawing").count() == 2
    assert page.evaluate("window.__pwned") is None
    assert page.evaluate("document.querySelectorAll('img, iframe, object').length") == 0


FOLDER = ROOT / "viz" / "report"
FILES = sorted(FOLDER.glob("*.js"))
REFUSED = TABLES["REFUSED"]


def test_every_script_is_part_of_the_page_or_of_what_notebooks_show() -> None:
    assert sorted({*SCRIPTS, *IN_NOTEBOOKS}) == [file.name for file in FILES]


@pytest.mark.more
@pytest.mark.parametrize("file", FILES, ids=[file.name for file in FILES])
def test_a_script_makes_no_markup_is_short_and_parses(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    for pattern, why in REFUSED.items():
        found = re.search(pattern, text)
        assert found is None, f"{file.name}: {found and found[0]!r} {why}"
    assert text.count("\n") <= 400
    node = shutil.which("node")
    if node is not None:
        done = subprocess.run([node, "--check", str(file)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
