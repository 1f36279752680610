"""The report page in a browser: its size, and how long it takes to be ready, to find and to draw."""

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

from planner_eval.results.page.report import PageSettings, report
from tests.performance.timing import processor_seconds

SIZES = (800, 20_000, 100_000)
WORDS = ("rome", "city 41", "call.missing", "mm-150", "nothing has this")
STEPS = 30


def plan(at: int, edit: int) -> str:
    """Three calls that hang together; an edit changes a value, an output, or leaves a call out."""
    city = f"City {at % 977}"
    date = "2026-05-14" if edit == 1 else "2026-05-04"
    hotel = "price" if edit == 2 else "hotel"
    lines = [
        f"Flights: [flight, fare = searchflight(#origin='Oslo', #destination='{city}', #date='{date}')]",
        f"Hotels: [hotel, price = searchhotel(#city='{city}', #stars='{1 + at % 5}')]",
        f"Trips: [booking = booktrip(#flight=flight, #hotel={hotel}, #guests='{1 + at % 4}')]",
    ]
    return "\n".join(lines[:2] if edit == 3 else lines)


def rows() -> Iterable[tuple[str, str, str]]:
    """The figures of the page."""
    from tests.browser import NAMES, launched

    if not any(map(shutil.which, NAMES)):
        yield "the page in a browser", "no Chromium is installed", ""
        return
    with tempfile.TemporaryDirectory() as folder, launched("--enable-precise-memory-info") as browser:
        for size in SIZES:
            file = Path(folder) / f"{size}.html"
            gold = [plan(at, 0) for at in range(size)]
            start = time.process_time()
            with file.open("w", encoding="utf-8") as out:
                made = report([plan(at, at % 4) for at in range(size)], gold, shown=PageSettings(query=""))
                out.writelines(made.pieces)
            took = time.process_time() - start
            yield f"{size:,} pairs: made", f"{size / took:,.0f} pairs/s of processor time", ""
            yield f"{size:,} pairs: size of the file", f"{file.stat().st_size / size:.0f} bytes a pair", ""
            yield _from_run(Path(folder), size)
            yield from _measured(browser, file, size)


def _from_run(folder: Path, size: int) -> tuple[str, str, str]:
    """A page of what a run of diff keeps, the whole command."""
    run, files = folder / f"run-{size}", [folder / "pred.jsonl", folder / "gold.jsonl"]
    for file, field, edits in zip(files, ("output", "gold"), (4, 1), strict=True):
        rows = ({"id": f"q{at}", field: plan(at, at % edits)} for at in range(size))
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    command = [sys.executable, "-m", "planner_eval"]
    processor_seconds([*command, "diff", *map(str, files), "-o", f"{run}/"])
    made = [*command, "report", str(run), "-o", str(folder / "run.html"), "--jobs", "1"]
    took = min(processor_seconds(made) for _ in range(3))
    goal = "≥ 5,000 pairs/s" if size == 20_000 else ""
    return f"{size:,} pairs: made from a run folder", f"{size / took:,.0f} pairs/s of processor time", goal


def _measured(browser: Any, file: Path, size: int) -> Iterable[tuple[str, str, str]]:
    """Ready, found and drawn, as the page itself measures them: the medians."""
    goals = ("≤ 1,000 ms", "≤ 20 ms", "≤ 30 ms") if size == 20_000 else ("", "", "")
    ready = []
    for _ in range(3):
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(file.as_uri())
        page.wait_for_function("document.documentElement.dataset.ready !== undefined")
        ready.append(float(page.evaluate("document.documentElement.dataset.ready")))
        if len(ready) < 3:
            page.close()
    yield f"{size:,} pairs: ready", f"{median(ready):.0f} ms", goals[0]
    page.evaluate("go({ view: 'pairs' })")
    page.wait_for_timeout(300)
    found = [_search(page, word) for word in WORDS]
    yield f"{size:,} pairs: search of a word", f"{median(found):.1f} ms", goals[1]
    page.evaluate("go({ q: null }), performance.clearMeasures()")
    for _ in range(STEPS):
        page.keyboard.press("j")
        page.wait_for_timeout(30)
    drawn = page.evaluate("performance.getEntriesByName('pair').map(one => one.duration)")
    yield f"{size:,} pairs: one pair drawn", f"{median(drawn):.1f} ms, at most {max(drawn):.0f}", goals[2]
    heap = page.evaluate("performance.memory.usedJSHeapSize")
    yield f"{size:,} pairs: heap", f"{heap / 1e6:.0f} MB", ""
    page.close()


def _search(page: Any, word: str) -> float:
    page.evaluate("performance.clearMeasures(), go({ q: null })")
    page.evaluate("word => go({ q: word })", word)
    return float(page.evaluate("performance.getEntriesByName('filter').at(-1).duration"))
