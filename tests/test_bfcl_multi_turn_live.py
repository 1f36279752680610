"""BFCL's multi-turn check beside the published code, on answers and gold that a seeded generator changes.

Where the published code raises, which ends its evaluation, our row says so.
"""

import ast
import gzip
import json
import random
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from copy import deepcopy
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from planner_eval.benchmarks.bfcl.call_check import RAISED
from planner_eval.benchmarks.bfcl.data import installed_folder, read_category
from planner_eval.benchmarks.bfcl.multi_turn import MultiTurnChecker, MultiTurnRecord
from tests.bfcl_official import official
from tests.conftest import reference_folder, tables

TABLES = tables(__file__)

CATEGORIES = ("multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context")

MODULES = TABLES["MODULES"]


def published_verdict(code: Any, record: MultiTurnRecord) -> tuple[bool, str | None, Any]:
    """The published verdict on one record, on which none before it has an effect."""
    utils, long_context, travel_booking = map(import_module, MODULES)
    for name in [name for name in vars(utils) if name.endswith("_instance")]:
        delattr(utils, name)
    for name in ("CREDIT_CARD_EXTENSION", "BOOKING_RECORD_EXTENSION"):  # which a booking changes
        setattr(travel_booking, name, deepcopy(getattr(long_context, name)))
    question = dict(record.question)
    try:
        with redirect_stdout(StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            entry = code.runner._evaluate_single_multi_turn_entry(
                *(code.handler(calls=record.mode != "prompt"), question["id"], record.answer),
                *(record.ground_truth, question, "model", record.category),
            )
    except Exception as error:
        return False, RAISED, [f"{type(error).__name__}: {error}"]
    if entry["valid"]:
        return True, None, None
    return False, entry["error"]["error_type"], entry["error"]["error_message"]


# ----------------------------------------------------------------------
# The generator.
VALUES: tuple[Any, ...] = (
    *(0, -1, 1.5, 10**20, True, None, "", "a b", "mv(x)", "cd ('x')", "it's", [], [1, "x"], {}, {"a": 1}),
    *({"a": {"b": 1}}, float("nan"), float("-inf"), "\u00e9\n", [[]], "ls()", 7, "3"),
    *("\ud800", "\x00", "'\"\\", "a\\nb", 10**400, -0.0, 1e400, [None], {"": ""}, {"mv(x)": 1}, "x" * 5000),
    *(["a"] * 300, {"a": [1, {"b": None}]}),
)
NAMES = TABLES["NAMES"]
ARGUMENTS = TABLES["ARGUMENTS"]
TEXTS = TABLES["TEXTS"]


def changed_records(seed: int, count: int, records: list[MultiTurnRecord]) -> Iterator[MultiTurnRecord]:
    """Records with changed answers and sometimes changed gold.

    Args:
        seed: For the generator.
        count: How many.
        records: What is changed.
    """
    draw = random.Random(seed)
    for _ in range(count):
        record = draw.choice(records)
        answer, gold = json.loads(json.dumps([record.answer, record.ground_truth]))
        if draw.random() < 0.4:
            gold = _change_gold(draw, gold)
        for _ in range(draw.choice((0, 1, 1, 2, 4))):
            answer = _change_answer(draw, answer, record.mode)
        yield record._replace(answer=answer, ground_truth=gold)


def gold_records(folder: Path, share: int) -> list[MultiTurnRecord]:
    """Questions with gold's calls as their answers, as objects and as text.

    Args:
        folder: The package.
        share: Every so manieth question.
    """
    records = []
    for category in CATEGORIES:
        for sample in islice(read_category(folder / "data", category), 0, None, share):
            question, truth = sample.extra["question"], sample.extra["ground_truth"]
            texts = [[f"[{call}]" for call in turn] for turn in truth]
            names = {tool["name"]: [*tool["parameters"]["properties"]] for tool in sample.tools}
            calls = [[[_object(call, names)] for call in turn] for turn in truth]
            records.append(MultiTurnRecord(question, truth, texts, category, "prompt"))
            records.append(MultiTurnRecord(question, truth, calls, category, "function-calling"))
    return records


def recorded_records(folder: Path, reference: Path) -> list[MultiTurnRecord]:
    """The recorded answers of models.

    Args:
        folder: The package.
        reference: Where the answers lie.
    """
    records = []
    for file in sorted((reference / "vectors" / "bfcl").glob("*/multi_turn_*.jsonl.gz")):
        category = file.name.removesuffix(".jsonl.gz")
        samples = {sample.id: sample.extra for sample in read_category(folder / "data", category)}
        with gzip.open(file, "rt", encoding="utf-8") as stream:
            for answer in map(json.loads, islice(stream, 1, None)):
                question, truth = (samples[answer["id"]][key] for key in ("question", "ground_truth"))
                records.append(
                    MultiTurnRecord(question, truth, answer["result"], category, "function-calling")
                )
    return records


def _object(text: str, names: Mapping[str, list[str]]) -> dict[str, str]:
    call: Any = ast.parse(text, mode="eval").body
    words = dict(zip(names.get(call.func.id, ()), map(ast.literal_eval, call.args), strict=False))
    words |= {word.arg: ast.literal_eval(word.value) for word in call.keywords}
    return {call.func.id: json.dumps(words)}


def _change_gold(draw: random.Random, gold: list[list[str]]) -> list[list[str]]:
    turn = draw.choice(gold)
    kind = draw.randrange(5)
    if kind == 0:
        turn.clear()
    elif kind == 1 and turn:
        turn.remove(draw.choice(turn))
    elif kind == 2 and turn:
        turn.insert(0, turn.pop())
    elif kind == 3 and turn:
        turn.append(draw.choice(turn))
    elif turn:
        position = draw.randrange(len(turn))
        turn[position] = re.sub(r"\d", lambda match: draw.choice("123"), turn[position])
    return gold


def _change_answer(draw: random.Random, answer: Any, mode: str) -> Any:
    if not isinstance(answer, list) or draw.random() < 0.03:
        return draw.choice(("Error during inference: 500", [], [None], None, [*(answer or []), []]))
    if not answer:
        return answer
    position = draw.randrange(len(answer))
    turn = answer[position]
    if not isinstance(turn, list) or draw.random() < 0.05:
        answer[position] = draw.choice(([], "text", {}, [[]], ["text"], None, [None, 3]))
        return answer
    kind = draw.randrange(6)
    if kind == 0 and turn:
        del turn[draw.randrange(len(turn))]
    elif kind == 1 and turn:
        turn.insert(draw.randrange(len(turn)), draw.choice(turn))
    elif kind == 2:
        draw.shuffle(turn)
    elif kind == 3:
        steps: Any = TEXTS if mode == "prompt" else ("text", [], {}, [{}], [{"ls": 3}], [{"ls": "{"}], None)
        turn.insert(draw.randint(0, len(turn)), draw.choice(steps))
    elif turn:
        step = draw.randrange(len(turn))
        change = _change_text if mode == "prompt" else _change_calls
        turn[step] = change(draw, turn[step])
    return answer


def _change_text(draw: random.Random, step: Any) -> Any:
    if not isinstance(step, str):
        return step
    kind = draw.randrange(5)
    if kind == 0:
        return re.sub(r"\d", lambda match: draw.choice("123"), step)
    if kind == 1:
        return re.sub(r"=('[^']*'|\d+)", lambda match: f"={draw.choice(VALUES)!r}", step, count=1)
    if kind == 2:
        return re.sub(r"^\[\w+", lambda match: f"[{draw.choice(NAMES)}", step)
    if kind == 3:
        return draw.choice(("`{}`", "```\n{}\n```", "I call {}", "{} ", "'{}'", "[{}", "{}]")).format(step)
    return step[: draw.randrange(len(step) + 1)]


def _change_calls(draw: random.Random, step: Any) -> Any:
    if not isinstance(step, list) or not step or not all(isinstance(call, dict) for call in step):
        return step
    calls: list[dict[str, Any]] = [dict(call) for call in step]
    call = draw.choice(calls)
    if not call:
        return calls
    name = next(iter(call))
    if draw.random() < 0.15:
        call[name] = draw.choice(ARGUMENTS)
        return draw.choice(
            (calls, call, [*calls, call], [{**call, "ls": "{}"}], [*calls, None], [*calls, ""])
        )
    try:
        words = json.loads(call[name])
        key = draw.choice([*words])
    except (ValueError, TypeError, IndexError):
        return calls
    kind = draw.randrange(6)
    if kind == 0:
        return [*calls, {draw.choice(NAMES): call[name]}]
    if kind == 1:
        call[draw.choice(NAMES)] = call.pop(name)
        return calls
    if kind == 2:
        words[draw.choice((*NAMES, "self", "long_context"))] = words.pop(key)
    elif kind == 3:
        del words[key]
    elif kind == 4 and isinstance(words[key], str):
        words[key] = draw.choice((words[key][::-1], words[key].upper(), f"{words[key]} mv(x) ls()", "."))
    else:
        words[key] = draw.choice(VALUES)
    call[name] = json.dumps(words) if draw.random() < 0.9 else words
    return calls


def differences(code: Any, folder: Path, records: list[MultiTurnRecord]) -> list[Any]:
    """What is judged otherwise than the published code judges it."""
    with MultiTurnChecker(folder) as checker:
        verdicts = list(checker.check_many(records))
    different = []
    for record, verdict in zip(records, verdicts, strict=True):
        error = [*verdict.error] if isinstance(verdict.error, tuple) else verdict.error
        expected = published_verdict(code, record)
        if (verdict.valid, verdict.error_type, error or None) != expected:
            different.append((record, verdict, expected))
    return different


@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.parametrize(
    ("count", "share"),
    [pytest.param(15, 20, id="some"), pytest.param(5_000, 1, id="many", marks=pytest.mark.long)],
)
def test_changed_answers_are_judged_as_the_published_code_judges_them(
    count: int, share: int, category: str
) -> None:
    code, folder = official(), installed_folder()
    if code is None or folder is None or find_spec("mpmath") is None:
        pytest.skip("bfcl-eval and mpmath are not installed")
    records = gold_records(folder, share)
    reference = reference_folder() if count > 100 else None
    if reference is not None:
        records += recorded_records(folder, reference)
    records = [record for record in records if record.category == category]
    assert differences(code, folder, list(changed_records(count, count, records))) == []
