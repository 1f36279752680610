"""BFCL's multi-turn check on tools and records of our own, in the package's layout, and recorded verdicts."""

import gzip
import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from planner_eval.base.errors import DatasetError
from planner_eval.benchmarks.bfcl.data import installed_folder, read_category
from planner_eval.benchmarks.bfcl.multi_turn import NOT_JUDGED, MultiTurnChecker, MultiTurnRecord
from tests.conftest import tabled, tables, text_case

TABLES = tables(__file__)

LAMPS = text_case("test_bfcl_multi_turn-LAMPS.txt")
STATE = {"LampAPI": {"lamps": {"hall": {"level": 0}, "attic": {"level": 0}}}}
QUESTION = {"id": "multi_turn_base_0", "involved_classes": ["LampAPI"], "initial_config": STATE}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    package = tmp_path_factory.mktemp("bfcl")
    place = package / "eval_checker" / "multi_turn_eval" / "func_source_code"
    place.mkdir(parents=True)
    (place / "lamp_api.py").write_text(LAMPS)
    (place / "extras.py").write_text('BULBS = {"cellar": {"level": 9}}\n')
    return package


@pytest.fixture(scope="module")
def checker(folder: Path) -> Iterator[MultiTurnChecker]:
    with MultiTurnChecker(folder, seconds=1.5) as checker:
        yield checker


def record(gold: list[list[str]], answer: Any, category: str = "multi_turn_base") -> MultiTurnRecord:
    return MultiTurnRecord(QUESTION, gold, answer, category)


def step(*calls: tuple[str, Any]) -> list[dict[str, str]]:
    return [{name: json.dumps(arguments)} for name, arguments in calls]


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


DIM, READ = "dim(lamp='hall', level=4)", "read('hall')"
DIMMED, HALL = ("dim", {"lamp": "hall", "level": 4}), ("read", {"lamp": "hall"})
STATE_WRONG, RESULT_WRONG = "multi_turn:instance_state_mismatch", "multi_turn:execution_response_mismatch"
CASES: dict[str, tuple[list[list[str]], Any, str | None, str]] = {
    **TABLES["CASES"],
    "a result of an earlier turn": ([[DIM], [DIM]], [[step(DIMMED, DIMMED)], [step(HALL)]], None, ""),
    "too deep": ([[DIM]], [nested(3000)], NOT_JUDGED, ""),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_an_answer_is_judged_as_published_and_explained(name: str, checker: MultiTurnChecker) -> None:
    gold, answer, error_type, explanation = CASES[name]
    verdict = checker.check(record(gold, answer))
    assert (verdict.valid, verdict.error_type) == (error_type is None, error_type), verdict
    assert explanation in "\n".join(verdict.details.get("explanation", ()))


@tabled("gold, answer, wrong, follow")
def test_turns_after_the_first_wrong_one(
    gold: list[list[str]], answer: Any, wrong: Any, follow: Any, checker: MultiTurnChecker
) -> None:
    """A lamp never dimmed is read as the answer should read it, and what the published code passes over."""
    verdict = checker.check(record(gold, answer))
    found = [verdict.details.get(name) for name in ("turn", "wrong", "follow")]
    assert json.loads(json.dumps(found)) == [1, wrong, follow]
    assert verdict.error_type in (STATE_WRONG, RESULT_WRONG)


def test_a_record_that_hangs_or_ends_the_worker_is_a_row_that_says_so(checker: MultiTurnChecker) -> None:
    right, cut = record([[DIM]], [[step(DIMMED)]]), record([[DIM]], [])
    hang, end = (record([[DIM]], [[step((tool, {}))]]) for tool in ("wait", "end"))
    verdicts = list(checker.check_many([*[cut] * 9, right, hang, right, end, *[right] * 17, cut]))
    kinds = [verdict.error_type for verdict in verdicts]
    ended = "multi_turn:force_terminated"
    assert kinds == [*[ended] * 9, None, NOT_JUDGED, None, NOT_JUDGED, *[None] * 17, ended]
    assert [verdicts[position].details["failure"] for position in (10, 12)] == ["timeout", "worker-died"]


@tabled("name, arguments")
def test_nothing_that_a_model_wrote_is_evaluated(
    name: str, arguments: dict[str, Any], checker: MultiTurnChecker, tmp_path: Path
) -> None:
    path = tmp_path / "written"
    text = json.dumps([[[{name: json.dumps(arguments)}]]]).replace("{path!r}", f"'{path}'")
    verdict = checker.check(record([[READ]], json.loads(text.replace("{path}", str(path)))))
    assert verdict.error_type == RESULT_WRONG
    assert bool(verdict.details.get("refused")) == (name != "write")
    assert not path.exists()


def test_no_record_changes_what_another_begins_with(checker: MultiTurnChecker) -> None:
    dim = record(
        [["dim('cellar', 1)"]], [[step(("dim", {"lamp": "cellar", "level": 1}))]], "multi_turn_long_context"
    )
    read = record([["read('cellar')"]], [[step(("shine", {}))]], "multi_turn_long_context")
    assert [verdict.valid for verdict in checker.check_many([dim, read])] == [True, False]
    other = record([["read('cellar')"]], [[step(HALL)]], "multi_turn_long_context")
    assert '"level": 9}' in checker.check(other).details["explanation"][0]


def test_tools_that_are_not_there(folder: Path, checker: MultiTurnChecker, tmp_path: Path) -> None:
    unknown = record([[DIM]], [[step(DIMMED)]])._replace(
        question={**QUESTION, "involved_classes": ["DoorAPI"]}
    )
    assert checker.check(unknown).details == {"failure": "unknown-class"}
    with pytest.raises(DatasetError, match="no BFCL tools here"):
        MultiTurnChecker(tmp_path).check(record([[DIM]], [[step(DIMMED)]]))


@pytest.mark.parametrize("share", [10, pytest.param(1, marks=pytest.mark.more)])
def test_recorded_verdicts(reference: Path, share: int) -> None:
    package = installed_folder()
    if package is None or find_spec("mpmath") is None:
        pytest.skip("bfcl-eval and mpmath are not installed")
    records, recorded = [], []
    samples: dict[str, Any] = {}
    for path in sorted((reference / "vectors" / "bfcl").glob("*/multi_turn_*.jsonl.gz")):
        category = path.name.removesuffix(".jsonl.gz")
        if category not in samples:
            read = read_category(package / "data", category)
            samples[category] = {sample.id: sample.extra for sample in read}
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            next(lines)
            for line in [*lines][::share]:
                row = json.loads(line)
                extra = samples[category][row["id"]]
                records.append(
                    MultiTurnRecord(extra["question"], extra["ground_truth"], row["result"], category)
                )
                recorded.append((row["valid"], row["error_type"], row["error"]))
    with MultiTurnChecker(package) as checker:
        verdicts = list(checker.check_many(records))
    errors = [[*v.error] or None if isinstance(v.error, tuple) else v.error for v in verdicts]
    judged = [(v.valid, v.error_type, error) for v, error in zip(verdicts, errors, strict=True)]
    assert judged == recorded
    assert len(judged) == 1200 // share
