"""Pairs taken some at a time: the rows of one at a time, and what goes wrong at a pair is that pair's."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from planner_eval.reading.files.record import Record
from planner_eval.results.runs.jobs import MAX_BATCH_PAIRS, MAX_BATCH_SIZE, run_stages
from planner_eval.results.runs.model import Pair, Part
from planner_eval.results.runs.work import run_part

from .engine_jobs import Echo, Sums


def pairs(sources: Iterable[Any]) -> list[Pair]:
    return [(Record("p.jsonl", at, str(at), source), None) for at, source in enumerate(sources)]


class Steps(Echo):
    def rows(self, pairs: Iterable[Pair], fold: Sums) -> Iterator[str]:
        def read(number: int, pair: Pair) -> tuple[int, Any]:
            assert pair[0] is not None
            return number, (pair[0].id, None if pair[0].error else pair[0].source)

        def compare(found: tuple[int, Any]) -> str:
            number, (id, source) = found
            if source == "fails":
                raise ZeroDivisionError
            return f"{number} {id} {source}"

        for row in run_stages(pairs, read, compare, str.upper):
            fold.add(row, False)
            yield row


@pytest.mark.parametrize("place", [0, 5, MAX_BATCH_PAIRS - 1, MAX_BATCH_PAIRS, MAX_BATCH_PAIRS + 7])
def test_a_later_step_that_fails_at_a_pair_costs_that_pair_alone(tmp_path: Path, place: int) -> None:
    count = MAX_BATCH_PAIRS + 20
    told: list[int] = []
    sources = ["fails" if at == place else f"f{at}()" for at in range(count)]
    failed = run_part(Steps(), pairs(sources), Part(0, 0, count), str(tmp_path), watch=told.append)
    lines = (tmp_path / "000000.jsonl").read_text().splitlines()
    assert failed == 1
    wanted = [None if at == place else f"f{at}()".upper() for at in range(count)]
    assert lines == [f"{at} {at} {str(one).upper()}" for at, one in enumerate(wanted)]
    assert told[-1] == -1
    assert {*range(count)} <= {*told}


def test_a_pair_is_told_in_each_step_that_works_on_it(tmp_path: Path) -> None:
    told: list[int] = []
    run_part(Steps(), pairs(["f()"] * 3), Part(0, 0, 3), str(tmp_path), watch=told.append)
    assert told == [0, 1, 2] * 4 + [-1]


@pytest.mark.parametrize("source", ["x" * MAX_BATCH_SIZE, ["x" * MAX_BATCH_SIZE], object()])
def test_large_pairs_and_those_of_unknown_size_are_not_held_together(source: Any) -> None:
    held = most = 0

    def read(_number: int, _pair: Pair) -> None:
        nonlocal held, most
        held += 1
        most = max(most, held)

    for _ in run_stages(pairs([source] * 5), read):
        held -= 1
    assert most <= 2
