"""A browser for tests of pages: Chromium as the system has it, offline, with an empty profile."""

from __future__ import annotations

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
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


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


class Opened:
    """A page that is open, with what it complained of and what it asked the network for."""

    def __init__(self, browser: Any, file: Path, address: str = "", **look: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **look})
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.complaints = self.complaints  # for tests that provoke some
        self.requests: list[str] = []
        self.page.on("console", lambda said: self.complaints.append(f"{said.type}: {said.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda asked: self.requests.append(asked.url))
        self.page.goto(file.as_uri() + address)
        self.page.wait_for_function("document.documentElement.dataset.ready !== undefined")

    def close(self) -> None:
        """Close it; a page is quiet, and asks for nothing but itself."""
        self.context.close()
        assert self.complaints == []
        assert [url for url in self.requests if not url.startswith("file:")] == []
        assert len(self.requests) == 1, self.requests


@contextmanager
def opened(browser: Any, file: Path, address: str = "", **look: Any) -> Iterator[Any]:
    """A page, once it is ready; afterwards it must have been quiet."""
    one = Opened(browser, file, address, **look)
    try:
        yield one.page
    finally:
        one.close()
