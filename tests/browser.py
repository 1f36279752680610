"""A browser for tests of pages: Chromium as the system has it, offline, with an empty profile."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

REQUIRED = "PLANEVAL_BROWSER"
"""Set to ``required`` where a missing browser fails instead of skipping, as .ci/run does."""

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]
ARGUMENTS += ["--disable-background-networking", "--disable-component-update"]


def program() -> str:
    """The browser's program; the test skips without one, and fails where one is required."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        said = f"browser: none of {', '.join(NAMES)} is installed"
        if os.environ.get(REQUIRED) == "required":
            pytest.fail(said)
        pytest.skip(said)
    return found


@contextmanager
def launched(*more: str) -> Iterator[Any]:
    """A browser."""
    found = program()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=[*ARGUMENTS, *more])
        yield browser
        browser.close()


@contextmanager
def opened(browser: Any, file: Path, address: str = "", **look: Any) -> Iterator[Any]:
    """A page, once it is ready; afterwards it must have been quiet, and have asked for nothing but itself."""
    context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **look})
    page, complaints, requests = context.new_page(), list[str](), list[str]()
    page.complaints = complaints  # for tests that provoke some
    page.on("console", lambda said: complaints.append(f"{said.type}: {said.text}"))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda asked: requests.append(asked.url))
    page.goto(file.as_uri() + address)
    page.wait_for_function("document.documentElement.dataset.ready !== undefined")
    try:
        yield page
    finally:
        context.close()
        assert complaints == []
        assert requests[1:] == []
        assert requests[0].startswith("file:")
