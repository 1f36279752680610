"""The official figures of all five benchmarks on samples of our own: exact, and proved without any download.

`tests/cases/official/` holds what the published code answered to the bundled samples and to cases written by
hand; its README says how. Every figure has to be the same, floats by ``==``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests import own_samples
from tests.own_samples import Cases, Compared, appbench, callnavi, functionchat, nestful
from tests.own_samples_turns import complexfuncbench

SETS: dict[str, tuple[Callable[[], Iterator[Compared]], int]] = {
    "appbench": (appbench, 108 + 73),  # and the lines as both published readers read them
    "nestful": (nestful, 191),
    "callnavi": (callnavi, 190),
    "complexfuncbench": (complexfuncbench, 167 + 58),  # conversations and their sets under two runners
    "functionchat": (functionchat, 156),
}


@pytest.mark.parametrize("name", SETS)
def test_every_official_figure_is_the_published_one(name: str) -> None:
    compare, number = SETS[name]
    rows = list(compare())
    assert [row for row in rows if row.ours != row.theirs] == []
    assert len(rows) == number


def test_a_changed_verdict_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Changed(Cases):
        def __init__(self, name: str) -> None:
            super().__init__(name)
            self.by_id["fc-000"]["official"]["message"] += "."

    monkeypatch.setattr(own_samples, "Cases", Changed)
    assert [row.id for row in functionchat() if row.ours != row.theirs] == ["fc-000"]
