"""What a pair may be made smaller for: an edit's code, a command's success, two variants that disagree."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from planner_eval.base.errors import AbsentError, InputError, ParseError, WriteError
from planner_eval.base.json_text import loads_if_json
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import did_you_mean, one_line
from planner_eval.benchmarks.answers import gold_samples, match_answers, read_answers
from planner_eval.benchmarks.benchmark import VARIANTS, Benchmark, benchmark
from planner_eval.benchmarks.compare import FigureDifferences, figure_differences
from planner_eval.benchmarks.datasets.published import Sample, gold_plan
from planner_eval.comparison.diff import diff
from planner_eval.comparison.explanation.edits import EDITS
from planner_eval.comparison.policy.policy import Policy
from planner_eval.curation.shrink.pairs import InputSide, PairSelection, SideFile, read_side, select_one
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.read import parse
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.pairing import refuse_unknown_ids
from planner_eval.reading.files.record import Record
from planner_eval.reading.parse import Source
from planner_eval.reading.settings import Reading

PLACEHOLDERS = ("{pred}", "{gold}")
"""What stands for the two files in a command."""
_MAX_OUTPUT_CHARACTERS = 300
"""How much of what a command says is told, in characters."""


class Goal(NamedTuple):
    """What a pair is made smaller for.

    Args:
        texts: Whether two texts show it.
        said: What that is, in words.
        asked: What may answer now this, now that of one pair, in words; nothing of what cannot.
    """

    texts: Callable[[str, str], bool]
    said: str
    asked: str = ""


# ---------------------------------------------------------------- an edit's code
def refuse_code(code: str) -> None:
    """Refuse a code that no edit has.

    Raises:
        InputError: names the closest codes, or all.
    """
    if code not in EDITS:
        hint = did_you_mean(code, EDITS, f"expected one of {', '.join(EDITS)}")
        raise InputError(f"no edit has the code {code!r}; {hint}")


def goal_of_code(code: str, pred: InputSide, gold: InputSide, policy: Policy) -> Goal:
    """That a pair differs by an edit of a code: a root cause where the given pair has such a one.

    Raises:
        AbsentError: the given pair has no edit of it, or cannot be compared.
    """
    plans = []
    for record, what in ((pred, "the prediction"), (gold, "gold")):
        if record.plan is None:
            raise AbsentError(f"{what} cannot be read, so there are no edits: {record.error}")
        plans.append(record.plan)
    given_diff = diff(plans[0], plans[1], policy)
    root = any(edit.code == code for edit in given_diff.roots)
    codes = dict.fromkeys(edit.code for edit in given_diff.edits)
    if code not in codes:
        hint = f"its edits are {', '.join(codes)}" if codes else "the plans are the same"
        raise AbsentError(f"no edit of this pair is {code}: {hint}")
    readers = lru_cache(maxsize=1)(pred.read), lru_cache(maxsize=1)(gold.read)  # one side mostly stays

    def texts(pred: str, gold: str) -> bool:
        plans = readers[0](pred), readers[1](gold)
        if plans[0] is None or plans[1] is None:
            return False
        new_diff = diff(plans[0], plans[1], policy)
        return any(edit.code == code for edit in (new_diff.roots if root else new_diff.edits))

    return Goal(texts, code if root else f"{code}, a consequence")


# ---------------------------------------------------------------- a command
class CommandResult(NamedTuple):
    """How a command ended: with 0, and in words."""

    fine: bool
    said: str


def goal_of_command(command: str, pred: InputSide, gold: InputSide, seconds: float) -> Goal:
    """That a shell command ends with 0.

    Args:
        command: The command, in which ``{pred}`` and ``{gold}`` stand for the files.
        pred: The prediction as given.
        gold: The gold plan as given.
        seconds: How long it may run.

    Raises:
        InputError: it names neither file, or there is no folder for them.
        AbsentError: it does not end with 0 for the given pair.
    """
    if not any(placeholder in command for placeholder in PLACEHOLDERS):
        raise InputError(
            f"the command names neither {PLACEHOLDERS[0]} nor {PLACEHOLDERS[1]}, so it would not see the "
            f"pair: add both"
        )

    parent = make_plain_folder()

    def ran(texts: tuple[str, str]) -> CommandResult:
        filled = command
        # each run has a folder of its own: what a command does to it, the next one does not see
        with tempfile.TemporaryDirectory(
            prefix="planeval-", dir=parent, ignore_cleanup_errors=True
        ) as folder:
            for placeholder, record, text in zip(PLACEHOLDERS, (pred, gold), texts, strict=True):
                file = record.file(text)
                suffix = file.suffix if _is_plain_path(file.suffix) else ".txt"
                path = Path(folder, placeholder.strip("{}") + suffix)
                path.write_bytes(file.text.encode("utf-8", "surrogatepass"))
                filled = filled.replace(placeholder, str(path))
            return run_command(filled, seconds)

    first = ran((pred.text, gold.text))
    if not first.fine:
        raise AbsentError(f"the command does not exit with 0 for the original pair: {first.said}")
    return Goal(
        lambda pred, gold: ran((pred, gold)).fine, f"the command exits with 0: {command}", asked="the command"
    )


def make_plain_folder() -> str:
    """A folder for temporary files whose path means the same to a shell with quotes around it and without.

    Raises:
        InputError: there is none.
    """
    usual = os.path.abspath(tempfile.gettempdir())
    for folder in (usual, "/tmp", "/var/tmp", "/dev/shm"):
        if _is_plain_path(folder) and os.access(folder, os.W_OK | os.X_OK):
            return folder
    raise InputError(
        f"the folder for temporary files is {usual!r}, which a shell would need to "
        "quote; set TMPDIR to a plain path"
    )


def _is_plain_path(path: str) -> bool:
    """Whether a shell takes a path as it is."""
    return not path or shlex.quote(path) == path


def run_command(command: str, seconds: float) -> CommandResult:
    """Run a shell command for so many seconds at most, and end what it leaves running in its process group.

    Args:
        command: The command.
        seconds: How long it may run.
    """
    with tempfile.TemporaryFile() as stream:  # what it says may be much
        process = subprocess.Popen(
            command,
            shell=True,  # it is the user's own, as they would type it
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # an interrupt is ours: what was found so far is written
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            return CommandResult(False, f"it did not finish within {seconds:g} seconds")
        finally:
            with suppress(ProcessLookupError, PermissionError):  # nothing of it is left, as mostly
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        stream.seek(max(0, stream.seek(0, os.SEEK_END) - _MAX_OUTPUT_CHARACTERS))
        end = stream.read(_MAX_OUTPUT_CHARACTERS).decode("utf-8", "replace").strip()
    output = one_line(end, _MAX_OUTPUT_CHARACTERS)
    ended = f"it exited with {code}" if code >= 0 else f"it was ended by signal {-code}"
    return CommandResult(code == 0, f"{ended}: {output}" if output else ended)


# ---------------------------------------------------------------- two variants
def goal_of_variants(
    name: str,
    score: Callable[[str, str], Mapping[str, tuple[Any, Any]]],
    pred: InputSide,
    gold: InputSide,
    figure: str | None,
) -> Goal:
    """That the two variants of a benchmark disagree in one figure.

    Args:
        name: The benchmark's title.
        score: The figures of two texts in which they disagree.
        pred: The answer as given.
        gold: The gold plan as given.
        figure: The figure; the first in which they disagree when left out.

    Raises:
        AbsentError: they agree.
    """
    figures = score(pred.text, gold.text)
    if not figures:
        raise AbsentError(f"the official and the corrected scores of {name} agree on this answer")
    if figure is not None and figure not in figures:
        raise AbsentError(
            f"the official and the corrected {figure} of {name} agree on this "
            f"answer; they differ in {', '.join(figures)}"
        )
    which = figure or next(iter(figures))
    official, corrected = figures[which]
    message = f"{name}'s {which}: official {_format_value(official)}, corrected {_format_value(corrected)}"
    expected = _compare_values(figures[which])

    def texts(pred: str, gold: str) -> bool:
        new_figures = score(pred, gold)
        return which in new_figures and _compare_values(new_figures[which]) == expected

    return Goal(texts, message)


def _compare_values(values: tuple[Any, Any]) -> Any:
    """Which of two values is the greater; of those that are no numbers, what they are."""
    if all(isinstance(v, (int, float)) for v in values):
        return values[0] > values[1]
    return tuple(value if isinstance(value, str) or value is None else "number" for value in values)


def _format_value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


# ----------------------------------------------------------------------
# An answer and its sample, made smaller while a benchmark's two scores disagree about them.
def read_scored_sides(
    pred: Source,
    gold: Source,
    name: str | None,
    settings: Mapping[str, str],
    selection: PairSelection,
    reading: Reading,
) -> tuple[InputSide, InputSide, Callable[[str, str], FigureDifferences]]:
    """An answer, its sample's gold, and in which figures a benchmark's two scores of them disagree.

    Args:
        pred: The file of answers.
        gold: The benchmark's data.
        name: The benchmark.
        settings: Its own options.
        selection: Which answer, and how it is written.
        reading: The fields of the id and of the answer, and how answers are matched.

    Raises:
        InputError: there is no such file, benchmark, option or sample.
    """
    if name is None:
        raise InputError("--differs compares scores of a benchmark: add --benchmark NAME")
    files: list[str] = []
    for role, source in (("answers", pred), ("gold", gold)):
        if not isinstance(source, (str, os.PathLike)):
            raise InputError(f"the {role} are a {type(source).__name__}, expected the path of a file")
        files.append(os.fspath(source))
    pred_file, gold_file = files
    bench = benchmark(name)
    for variant in VARIANTS:
        bench.checked(variant, settings)
    if bench.several(settings):
        raise InputError(f"{bench.title} scores several answers to a sample together, so there is no pair")
    samples = gold_samples(bench, gold_file, cache=reading.cache)
    answers = read_answers(
        pred_file, id_field=reading.id_field, text_field=reading.text_field, benchmark=bench
    )
    matched = match_answers(answers.found, samples, by=reading.by, nothing=bench.nothing)
    sample, text = _select_answer(matched.records, selection, f"{pred_file} and {gold_file}")
    record = Record(pred_file, 0, sample.id, text)
    pred_record = read_side(
        PlanFile(pred_file, (record,), False), record, {"dialect": reading.dialect}, selection.to, role="pred"
    )
    gold_record = _gold_side(bench, sample)

    def score(pred: str, gold: str) -> FigureDifferences:
        scored_sample = sample if gold == gold_record.text else replace(sample, gold=_parse_json(gold))
        return (
            figure_differences(bench, scored_sample, pred, settings) if bench.fits(scored_sample.gold) else {}
        )

    pred_record = replace(
        pred_record, calling=_has_calls(pred_record), file=lambda text: SideFile(".txt", text)
    )
    return pred_record, replace(gold_record, calling=_has_calls(gold_record)), score


def _parse_json(text: str) -> Any:
    values = loads_if_json(text, DEFAULT_LIMITS) or [None]
    return values[0]


def _has_calls(record: InputSide) -> bool:
    return record.plan is not None and bool(record.plan.calls)


def _select_answer(records: Any, selection: PairSelection, names: str) -> tuple[Sample, str]:
    """The answer that is meant.

    Raises:
        InputError: there are several, or none of this id or number.
    """
    id, number, _ = selection
    answers: list[tuple[Sample, str]] = list(records)
    if id is not None:
        refuse_unknown_ids([id], dict.fromkeys(sample.id for sample, _ in answers), names)
        answers = [answer for answer in answers if answer[0].id == id]
    return select_one(answers, number, names)


def _gold_side(bench: Benchmark, sample: Sample) -> InputSide:
    """A sample's gold as it stands in its record; as it is where it holds more than a plan."""
    text = json.dumps(sample.gold, ensure_ascii=False)

    def parsed(text: str) -> Plan:
        return parse(_parse_json(text), dialect=sample.dialect or None)

    def file(text: str) -> SideFile:
        return SideFile(".json", text)

    side = InputSide(text, None, parsed=parsed, cut=False, file=file)
    try:
        plan = gold_plan(sample)
    except ParseError as error:
        return replace(side, error=str(error).partition("\n")[0])
    if plan is None:
        return replace(side, error="the right answer is free text", parsed=_refuse_reading)
    side = replace(side, plan=plan, dialect=sample.dialect)
    make = bench.gold_of
    if make is None:
        note = f"gold is unchanged: a record of {bench.title} holds more than its plan"
        return replace(side, written=_refuse_writing, notes=(note,))

    def written(plan: Plan) -> str:
        return json.dumps(make(sample, plan), ensure_ascii=False)

    return replace(side, written=written)


def _refuse_writing(_plan: Plan) -> str:
    raise WriteError("it is not written")


def _refuse_reading(_text: str) -> Plan:
    raise ParseError("the right answer is free text")
