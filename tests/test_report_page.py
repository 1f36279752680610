"""The report page in a browser: filters, keys, links, looks, hostile names, two runs, drawings."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.drawing.labels import visible
from planner_eval.drawing.overlay import diff_scene
from planner_eval.verbs.readings import Reading
from planner_eval.verbs.reporting import Shown, report
from tests.browser import launched, opened
from tests.conftest import ROOT
from tests.render_plans import HOSTILE

DEMO = ROOT / "data" / "demo"
EXAMPLES = ROOT / "docs" / "examples" / "openai"
MARKUP = [
    "<img src=x onerror='window.__pwned=1'>", "</script><script>window.__pwned=1</script>",
    '"><svg onload=window.__pwned=1>', "<!--<script>", "javascript:window.__pwned=1",
    "<style>*{display:none}</style>", "<iframe srcdoc='<script>parent.__pwned=1</script>'></iframe>",
    "<base href='https://example.org/'>", "{{constructor.constructor('window.__pwned=1')()}}", "__proto__",
    "constructor", "#id=x&code=y", "$&$`$'"
]  # fmt: skip
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
    return written(file, DEMO / "pred.jsonl", DEMO / "gold.jsonl", shown=Shown(command=command))


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
    return written(folder / "page.html", pred, gold, shown=Shown(title=MARKUP[1], query="query"))


def found(page: Any) -> str:
    return str(page.locator("#found").inner_text())


def pairs(page: Any) -> int:
    """How many pairs the list says it has."""
    row = page.locator("#list [role=option]").first
    return int(row.get_attribute("aria-setsize")) if row.count() else 0


def address(page: Any) -> str:
    return str(page.evaluate("location.hash"))


def value(page: Any, facet: str, said: str) -> Any:
    return page.locator(f'button.value[data-facet="{facet}"][data-value="{said}"]')


def test_the_overview_says_what_became_of_the_pairs(browser: Any, demo: Path) -> None:
    with opened(browser, demo) as page:
        assert page.locator("#overview").is_visible()
        said = page.locator("#overview .states li").all_inner_texts()
        assert [re.sub(r"\s+", " ", one) for one in said] == [
            "same 2 15 %", "different 10 77 %", "unreadable 1 7.7 %"
        ]  # fmt: skip
        row = page.locator("table.figures tbody tr").first
        assert row.inner_text().split()[:2] == ["exact", "0.154"]
        page.locator("#overview .bars a", has_text="call.missing").first.click()
        assert address(page) == "#code=call.missing"
        assert found(page) == "1 of 13 pairs"


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


def test_words_are_found_in_texts_and_questions(browser: Any, tmp_path: Path) -> None:
    """What differs says nothing of them: they are unpacked with the first search."""
    asked = ["Where is the Kremlin?", "A table for two", [{"role": "user", "content": "Two in Basel"}]]
    preds = [{"id": at, "output": f"f(#x='{at}', #kept='Alpha{at}')"} for at in range(3)]
    golds = [{"id": at, "gold": f"f(#x='9', #kept='alpha{at}')", "question": asked[at]} for at in range(3)]
    pred, gold = lines(tmp_path / "pred.jsonl", preds), lines(tmp_path / "gold.jsonl", golds)
    wanted = {"kremlin": 1, "two": 2, "two basel": 1, "alpha2": 1, "ALPHA": 3, "no": 0}
    with opened(browser, written(tmp_path / "page.html", pred, gold), "#view=pairs") as page:
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.id") == "find"
        for words, count in wanted.items():
            page.locator("#find").fill(words)
            page.wait_for_function("n => list.found.length === n && !byId('deeper').textContent", arg=count)
            assert found(page) == f"{count} of 3 pairs"


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


def test_copying_a_link_and_a_command(browser: Any, demo: Path) -> None:
    with opened(browser, demo, "#id=trip-missing&q=trip") as page:
        page.evaluate("navigator.clipboard.writeText = text => { window.kept = text; }")
        page.get_by_role("button", name="copy link").click()
        assert page.evaluate("window.kept") == f"{demo.as_uri()}#id=trip-missing"
        page.get_by_role("button", name="copy command").click()
        page.wait_for_function("window.kept.startsWith('planeval')")
        assert page.evaluate("window.kept") == "planeval diff 'pred it.jsonl' gold.jsonl --id trip-missing"


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


LAID = """([boxes, edges]) => {
  const found = layout(boxes, edges, 900), hits = [], over = [];
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  const inside = (x, y, at) => { const s = found.spots[at], b = boxes[at];
    return x > s.x + 1 && x < s.x + b.w - 1 && y > s.y + 1 && y < s.y + b.h - 1; };
  found.lines.forEach((line, e) => {
    if (!line) return;
    path.setAttribute("d", line.line);
    for (let d = 0, end = path.getTotalLength(); d <= end; d += 4) {
      const p = path.getPointAtLength(d);
      boxes.forEach((_, at) => { if (inside(p.x, p.y, at)) hits.push([e, at]); });
    }
  });
  boxes.forEach((b, i) => boxes.forEach((c, j) => {
    const s = found.spots[i], t = found.spots[j];
    if (i < j && s.x < t.x + c.w && t.x < s.x + b.w && s.y < t.y + c.h && t.y < s.y + b.h) over.push([i, j]);
  }));
  return { hits, over, below: edges.every(e => found.spots[e.tail].y < found.spots[e.head].y),
    wide: found.spots.every((s, at) => s.x > -0.5 && s.x + boxes[at].w <= found.width + 0.5) };
}"""


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


@pytest.mark.parametrize("view", ["", "#view=pairs", "#id=trip-output"])
def test_nothing_sticks_out_of_a_telephone(browser: Any, demo: Path, view: str) -> None:
    with opened(browser, demo, view, viewport={"width": 390, "height": 844}) as page:
        if "id=" in view:
            page.locator("#pair-id").wait_for()
            assert not page.locator("#list").is_visible()
        elif view:
            assert page.locator("#list").is_visible()
            page.locator("#filters").click()
            value(page, "state", "same").click()
            assert page.locator("#found").text_content() == "2 of 13 pairs"
        wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1]


def test_dark_by_the_system_and_by_the_switch(browser: Any, demo: Path) -> None:
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    with opened(browser, demo, color_scheme="dark") as page:
        assert page.evaluate(ground) == "rgb(13, 17, 23)"
        page.locator("#theme").click()
        assert page.evaluate(ground) == "rgb(255, 255, 255)"
        assert page.locator("#theme").get_attribute("aria-label") == "Colours: light"
    with opened(browser, demo, color_scheme="light") as page:
        assert page.evaluate(ground) == "rgb(255, 255, 255)"


def test_printing(browser: Any, demo: Path) -> None:
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    with opened(browser, demo, "#state=different", color_scheme="dark") as page:
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("#printed tbody tr").count() == 10
        assert page.locator("#printed").is_visible()
        assert not page.locator(".tools").is_visible()
        assert page.evaluate(ground) == "rgb(255, 255, 255)"
        assert page.pdf().startswith(b"%PDF")


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


def test_of_two_runs_the_list_tells_both_and_filters_ask_either(browser: Any, pair_of_runs: Path) -> None:
    with opened(browser, pair_of_runs, "#view=pairs") as page:
        row = page.locator("#list .row").first
        lines = [one.replace("\n", " ") for one in row.locator(".run-line").all_inner_texts()]
        assert [line.split()[0][0] for line in lines] == ["A", "B"]
        counts = "key => Object.fromEntries(last.facets.flatMap((one, at) => one.key === key ? "
        counts += "one.names.map((name, i) => [name, last.counts[at][i]]) : []))"
        either = page.evaluate(counts, "code")
        alone = {}
        for run, column in (("A", "codes_a"), ("B", "codes_b")):
            page.get_by_role("group", name="Differences of").get_by_role("button", name=run).click()
            assert address(page) == f"#of={run.lower()}&view=pairs" or f"of={run.lower()}" in address(page)
            alone[run] = page.evaluate(counts, "code")
            for code, n in alone[run].items():
                found = "all[column].filter(one => one.some(s => all.strings[s] === code)).length"
                assert page.evaluate(f"([column, code]) => {found}", [column, code]) == n
        assert set(either) == set(alone["A"]) | set(alone["B"])
        assert alone["A"] != alone["B"]
        code, n = next(iter(alone["A"].items()))
        page.evaluate("code => go({ of: 'a', code })", code)
        assert pairs(page) == n
        page.evaluate("go({ ...nothing(), of: null, sort: 'alikeb' })")
        scores = page.evaluate("list.found.map(k => scoreOf(k, 1))")
        assert scores == sorted(scores)


def test_what_an_address_asks_for_and_nothing_has_is_said(browser: Any, demo: Path) -> None:
    for asked, said in (
        ("#state=gold+absent", "no pair has “gold absent” as State: there are "),
        ("#f.colour=red", "this report has no “colour” to choose by"),
        ("#sort=size&view=pairs", "there is no order “size”"),
        ("#of=b&view=pairs", "there is no run “b”"),
        ("#stateb=same", "this report has no “stateb” to choose by"),
    ):
        with opened(browser, demo, asked) as page:
            assert said in page.locator("#unknown").inner_text(), asked
    with opened(browser, demo, "#state=different") as page:
        assert not page.locator("#unknown").is_visible()


def test_a_mended_reply_stands_beside_what_was_read_of_it(browser: Any, tmp_path: Path) -> None:
    said = '{"name": "f", "arguments": {"x": "1",}}'
    file = written(tmp_path / "mended.html", [said], ["f(#x='1')"], reading=Reading(repair=True))
    with opened(browser, file, "#id=1") as page:
        page.locator("#pair-id").wait_for()
        assert page.locator("#pair h3", has_text="Repairs").count() == 1
        heads = page.locator("#pair .texts h4").all_inner_texts()
        assert heads == ["Prediction, as it came", "Prediction, as it was mended", "Gold"]
        assert page.locator("#pair .texts pre").all_inner_texts()[:2] == [said, 'f(x = "1")']


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
            assert page.locator("#pair-id").text_content() == visible(one)
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
    empty = written(tmp_path / "same.html", ["f(#x='1')"], ["f(#x='1')"], shown=Shown(failures=True))
    with opened(browser, empty, "#view=pairs") as page:
        assert (found(page), pairs(page)) == ("0 pairs", 0)
        assert "There are no pairs" in page.locator("#pair").inner_text()
