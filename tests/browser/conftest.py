"""One browser and one lab per test module; one window per test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from browser_driver import ARGUMENTS, TIMEOUT, WIDE, Lab, Visit, chromium

expect.set_options(timeout=TIMEOUT)


# Module scope: while Playwright is running, no other test of the process can use asyncio.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        yield started
        started.close()


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    started = Lab()
    yield started
    started.stop()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visit]]:
    """Opens windows; at the end checks that no page contacted other hosts or reported errors."""
    visits: list[Visit] = []

    def opened(*hosts: str, expected: str | None = None, **options: Any) -> Visit:
        context = browser.new_context(**{"viewport": WIDE, **options})
        visits.append(Visit(context, context.new_page(), hosts, expected=expected))
        return visits[-1]

    yield opened
    for one in visits:
        one.end()
