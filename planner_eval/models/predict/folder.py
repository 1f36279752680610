"""The folder of a run that asked a model: as the engine keeps runs, its parts a journal that only grows."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from planner_eval._version import __version__
from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.output_files import write
from planner_eval.base.text import format_count
from planner_eval.benchmarks.answers import gold_samples
from planner_eval.benchmarks.benchmark import BENCHMARKS
from planner_eval.benchmarks.datasets.published import DATASET_PREFIX, published_datasets
from planner_eval.benchmarks.datasets.sources import plans_of_samples
from planner_eval.models.client import UNASKED
from planner_eval.models.pipelines.pipeline import OWN_TASKS, Failure, Fields, conversation, digest
from planner_eval.models.predict.run import (
    Journal,
    Rows,
    finished_rows,
    has_failed_request,
    read_seconds,
    write_rows,
)
from planner_eval.models.predict.tasks import keep_left_out, numbered_id, read_tasks
from planner_eval.models.replies import Prices
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.conversations.answers import answer_state
from planner_eval.reading.files.context import (
    DEMONSTRATIONS_FIELD,
    REPORT_FILE,
    ROWS_FILE,
    Demonstrations,
    find_mark,
)
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.pairing import format_repeated_ids
from planner_eval.reading.files.record import Record, read_plan
from planner_eval.reading.settings import DEFAULT_READING, Reading
from planner_eval.results.runs.folder import Input, claim, find_difference, run_data
from planner_eval.results.runs.model import StoredRun, open_run
from planner_eval.results.runs.stored import read_stored_run, refuse_damaged, write_run

RUN_KIND = "predict"
"""What such a run is called."""

CACHE_ROLE = "data cache"
"""The role of the cache folder of data sets among the inputs of a run."""

JOURNAL_PATH = "parts/journal.jsonl"
"""What a run has so far; its rows stand in the samples' order in :data:`ROWS` once it is done."""


def describe_asking(
    folder: str,
    source: str,
    jobs: int,
    options: Fields,
    demonstrations: Input | None,
    cache: str | None,
) -> StoredRun:
    """What is asked of whom, over samples; a run with more samples, or with fewer, is the same run.

    Args:
        folder: The run's.
        source: Where the samples come from, in the user's words; "" for nowhere.
        jobs: How many there are.
        options: All that decides what is asked.
        demonstrations: Where demonstrations come from, how many there are, and what tells them from others;
            None without any.
        cache: The cache folder of data sets, where it is not the usual one.
    """
    extra_inputs = [] if demonstrations is None else [demonstrations]
    extra_inputs += [] if cache is None else [Input(CACHE_ROLE, cache, 0, "")]
    inputs = tuple(file._asdict() for file in (Input("samples", source, jobs, ""), *extra_inputs))
    return StoredRun(folder, RUN_KIND, __version__, json.loads(json.dumps(options)), inputs, jobs, part=1)


def _find_difference(run: StoredRun, stored: Fields) -> str | None:
    """What makes it another run than that of a ``run.json``: other tasks, but not more of the same."""
    other = find_difference(run, {**stored, "inputs": run.inputs, "pairs": run.pairs})
    if other is not None:
        return other
    was, now = stored["inputs"][0]["path"], run.inputs[0]["path"]
    return None if _is_same_source(was, now) else f"it asked the samples of {was}, not of {now}"


def _is_same_source(was: str, now: str) -> bool:
    """Whether two names are of one data set, file or folder."""
    if not was or not now or was.removeprefix(DATASET_PREFIX) == now.removeprefix(DATASET_PREFIX):
        return True
    try:
        return os.path.samefile(was, now)
    except OSError:
        return False


@contextmanager
def open_journal(run: StoredRun) -> Iterator[Journal]:
    """The journal of a run's folder, which nobody else works on meanwhile.

    Raises:
        InputError: The folder holds something else, another run, or one that another process works on.
    """
    lock, _ = claim(run, _find_difference)
    try:
        with Journal(Path(run.path) / JOURNAL_PATH) as journal:
            yield journal
    finally:
        if lock is not None:
            os.close(lock)


def finish(run: StoredRun, order: Sequence[str], journal: Journal, rates: Rates | None = None) -> Rows:
    """Write the rows of all that was ever asked, what they come to, and of how many samples it is.

    Args:
        run: What was asked.
        order: The keys of all samples that there are, in their order.
        journal: The run's.
        rates: What tokens cost.
    """
    folder = run.path
    rows = write_rows(Path(folder) / ROWS_FILE, order, journal)
    report = run_totals(finished_rows(order, journal), rates).data()
    tested = ((run.options.get("setup") or {}).get("shots") or {}).get("tested", 0)
    for source in (source for source in run.inputs if source["role"] == DEMONSTRATIONS_FIELD):
        demonstrations = Demonstrations(source["path"], source["size"], tested)
        report[DEMONSTRATIONS_FIELD] = demonstrations.with_rows(rows)._asdict()
    write(os.path.join(folder, REPORT_FILE), json.dumps(report, ensure_ascii=False, indent=1))
    samples = {**run.inputs[0], "size": len(rows)}
    write_run(folder, run_data(run._replace(inputs=(samples, *run.inputs[1:]), pairs=len(rows))))
    return rows


class Rates(NamedTuple):
    """What tokens cost.

    Args:
        model: Of the model.
        router: Of the model that routes; None for the same.
    """

    model: Prices
    router: Prices | None = None

    def cost(self, row: Fields) -> float:
        """The price of a row's requests."""
        return sum(
            (self.router if request.get("router") and self.router else self.model).cost(
                request["usage"]["input"], request["usage"]["output"]
            )
            for request in row["requests"]
        )


class RunTotals(NamedTuple):
    """What a run came to.

    Args:
        samples: How many samples were asked, each as often as it was repeated.
        unasked: How many others were not, as the server had not answered these.
        failed: How many of them have no answer, or none that is whole, by the error's code, or by how the
            answer ended: ``cut``, ``refused``, ``failed``.
        reasons: The first of each code, in words.
        requests: How many requests there were.
        tokens: Read, and made.
        uncounted: How many requests of which the endpoint did not say both counts of tokens.
        cost: Of the tokens; None where no prices were given.
        again: How many samples the same command asks again.
    """

    samples: int
    failed: Mapping[str, int]
    reasons: Mapping[str, str]
    requests: int
    tokens: tuple[int, int]
    uncounted: int = 0
    cost: float | None = None
    again: int = 0
    unasked: int = 0

    @property
    def answered(self) -> int:
        """How many samples were answered."""
        return self.samples - sum(self.failed.values())

    def data(self) -> dict[str, Any]:
        """The same as JSON data."""
        return {**self._asdict(), "answered": self.answered, "tokens": list(self.tokens)}


def run_totals(rows: Iterable[Fields], rates: Rates | None = None) -> RunTotals:
    """What rows come to.

    Args:
        rows: The rows.
        rates: What tokens cost.

    >>> run_totals([{"id": "a", "error": {"code": "transport", "message": "gone"}, "requests": []}]).failed
    {'transport': 1}
    """
    failed: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    row_count = requests = input_tokens = output_tokens = uncounted = to_ask_again = 0
    costs: list[float] = []
    for row in rows:
        row_count += 1
        requests += len(row["requests"])
        usages = [request["usage"] for request in row["requests"]]
        input_tokens += sum(usage["input"] for usage in usages)
        output_tokens += sum(usage["output"] for usage in usages)
        uncounted += sum(  # nothing takes no tokens at all
            not (usage.get("counted", True) and usage["input"] + usage["output"]) for usage in usages
        )
        costs.append(0.0 if rates is None else rates.cost(row))
        to_ask_again += has_failed_request(row)
        if (lack := _find_failure(row)) is not None:
            failed[lack.code] += 1
            reasons.setdefault(lack.code, f"{row['id']}: {lack.message}")
    cost = None if rates is None else math.fsum(costs)
    unasked = failed.pop(UNASKED, 0)
    coded, sorted_reasons = dict(sorted(failed.items())), dict(sorted(reasons.items()))
    return RunTotals(
        row_count - unasked,
        coded,
        sorted_reasons,
        requests,
        (input_tokens, output_tokens),
        uncounted,
        cost,
        to_ask_again,
        unasked,
    )


def _find_failure(row: Fields) -> Failure | None:
    """Why a row holds no whole answer; None where it does."""
    if row["error"] is not None:
        return Failure(row["error"]["code"], row["error"]["message"])
    state = answer_state(row)
    return None if state is None else Failure(state.code.removeprefix("answer."), state.reason)


class PredictedRun(NamedTuple):
    """A run that is done, as it is scored.

    Args:
        folder: Its folder.
        rows: The file of its rows, which are the answers.
        form: The data set; ``"own"`` for tasks of your own.
        source: Where its samples come from, in the user's words; "" for nowhere.
        options: All that decided what was asked.
        ids: The samples that were asked.
        unasked: How many of them have no whole answer the first time.
        repeat: How often each was asked.
        answers: How many answers there are.
        tasks: Of the samples that were asked something, what tells it from another question.
        lost: How many of all their answers are none, or not whole.
        failed: Of how many a request failed, so that there is no answer.
        unsent: How many answers are not there because their requests were not sent.
        mark: What its figures are marked with, see :mod:`planner_eval.reading.files.fields`.
        cache: The cache folder of data sets that its samples came out of, where it was not the usual one.
    """

    folder: str
    rows: str
    form: str
    source: str
    options: Fields
    ids: frozenset[str]
    unasked: int
    repeat: int = 1
    answers: int = 0
    tasks: Mapping[str, str] = MappingProxyType({})
    lost: int = 0
    failed: int = 0
    unsent: int = 0
    mark: str = ""
    cache: str | None = None

    @property
    def dialect(self) -> str | None:
        """The notation that was asked for by name; None where answers are recognised."""
        named = (self.options.get("setup") or {}).get("dialect")
        return str(named) if named and self.form == OWN_TASKS else None

    @property
    def counts_trials(self) -> bool:
        """Whether every answer counts, as a trial of its task: of tasks of your own that were repeated."""
        return self.repeat > 1 and self.form == OWN_TASKS

    def notes(self, *, repeated: bool = False) -> Iterator[str]:
        """What of the answers is lacking or incomplete, and what that counts as.

        Args:
            repeated: All answers to a sample count, as for CallNavi's stability.
        """
        missing, noun, lack = self.unasked, "sample", "without a complete answer"
        if self.repeat > 1 and (repeated or self.counts_trials):
            missing, noun, lack = self.lost, "answer", "incomplete"
        if missing:
            verdict = "wrong" if self.form == OWN_TASKS else "they are"
            yield f"{format_count(missing, noun)} {lack} count as {verdict}"
        if self.unsent:
            noun = "sample" if self.repeat == 1 else "repetition"
            but = ", but in pass^k where other tasks have more" if self.counts_trials else ""
            yield f"{format_count(self.unsent, noun)} never sent: not counted{but}"


def read_predicted_run(folder: str) -> PredictedRun:
    """The answers that a folder keeps.

    Args:
        folder: The run's.

    Raises:
        InputError: it is no such run, or it is not done.
    """
    run = read_stored_run(folder, RUN_KIND)
    ids: set[str] = set()
    tasks: dict[str, str] = {}
    answers = first = lost_count = failed = 0
    try:
        with refuse_damaged(folder):
            for row in Rows(Path(run.rows)):
                answers += 1
                if _find_failure(row) is not None:
                    lost_count += 1
                    first += row["id"] not in ids
                failed += has_failed_request(row)
                ids.add(row["id"])
                tasks |= {row["id"]: row["task"]} if row.get("task") else {}
            source, form = run.inputs[0]["path"], run.options["dataset"]
            repeat = int(run.options.get("repeat", 1))
    except FileNotFoundError:
        message = "the run is not finished: repeat its planeval predict command to resume it"
        raise InputError(f"{folder}: {message}") from None
    except OSError as error:
        raise InputError(f"{run.rows} cannot be read: {error.strerror or error}") from None
    cache = next((str(entry["path"]) for entry in run.inputs if entry.get("role") == CACHE_ROLE), None)
    unsent = max(_read_unsent(folder), repeat * len(ids) - answers)
    counts = first, repeat, answers, tasks, lost_count, failed, unsent, find_mark(run.rows), cache
    return PredictedRun(folder, run.rows, form, source, run.options, frozenset(ids), *counts)


def _read_unsent(folder: str) -> int:
    """How many requests the last command did not send, as its totals say; 0 without any."""
    try:
        return int(json.loads(Path(folder, REPORT_FILE).read_bytes())["unasked"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def run_of_answers(rows: str) -> PredictedRun | None:
    """The run that asked a model for the answers in a file; None of any other file.

    Raises:
        InputError: the run is not done.
    """
    folder = os.path.dirname(rows)
    if os.path.basename(rows) != ROWS_FILE or open_run(folder).kind != RUN_KIND:
        return None
    return read_predicted_run(folder)


def gold_of(run: PredictedRun, named: str | None = None) -> str:
    """The gold of such answers: what the user names, else where the samples came from.

    Args:
        run: The run.
        named: What the user names.

    Raises:
        InputError: the user has to name it: it is not here, or other questions stand there by now.
    """
    if named is not None:
        return named
    name = run.source.removeprefix(DATASET_PREFIX)
    is_published = any(
        name in (data_set.name, data_set.benchmark) for data_set in published_datasets().values()
    )
    if not run.source or not (is_published or os.path.exists(run.source)):
        where = f"{run.source} is missing" if run.source else "its samples came from no file"
        score = f"planeval score {run.folder} GOLD"
        raise InputError(f"{run.folder}: {where}: name the gold, {score}, or with --gold")
    _refuse_changed(run)
    return run.source


def _refuse_changed(run: PredictedRun) -> None:
    """Refuse gold beside questions of one's own that are not those which were asked.

    Raises:
        InputError: says which, and how they are scored all the same.
    """
    if run.form != OWN_TASKS:
        return
    now = {
        sample.id: digest(sample.query, conversation(sample, OWN_TASKS))
        for sample in read_tasks(run.source).samples
    }
    changed = [id for id, task in run.tasks.items() if now.get(id, task) != task]
    if changed:
        raise InputError(
            f"{run.folder}: {format_count(len(changed), 'question')} in {run.source} changed since "
            f"they were asked, {changed[0]!r} first: ask again with another -o, or score "
            f"by the current gold: planeval score {run.folder} {run.source}"
        )


# ----------------------------------------------------------------------
# What of a run that asked a model counts: the first answer to each sample, against the gold asked for.
def read_run_answers(
    answers: PlanFile, run: PredictedRun, reading: Reading = DEFAULT_READING, *, trials: bool = False
) -> PlanFile:
    """The first answer to each sample, read in the notation that was asked for.

    Words in which the run itself took no call hold none, unless the user names a notation.

    Args:
        answers: The rows of the run.
        run: The run.
        reading: How they are read: a notation that the user names instead is told where another was asked
            for; read strictly, calls in another notation are none, else they are recognised, which is told.
        trials: Every answer to a task of one's own is a trial of it.
    """
    every = trials and run.counts_trials
    if seconds := read_seconds(run.rows):
        answers = answers.each(partial(_add_time, seconds))
    first, named = answers if every else _first_answers(answers, run), run.dialect
    dialect = reading.dialect
    if named is None or dialect == named:
        return first if dialect is not None else first.each(_drop_words)
    if dialect is not None:
        note = f"answers requested in {named} are read as {dialect}, as you asked"
        return _add_note(first, run, f"{note}{_other_dialects_note(first, dialect, '; {} not in {}: {}')}")
    if reading.repair is False:
        return first.each(partial(_read_as_named, named))
    if elsewhere := _other_dialects_note(first, named, "{} not in {}, which was requested, and read as {}"):
        first = _add_note(first, run, elsewhere)
    return first.each(partial(_read_as_asked, named))


def _add_time(seconds: Mapping[tuple[str, int], float], record: Record) -> Record:
    duration = seconds.get((record.id or "", record.fields.get("repetition") or 0))
    return record if duration is None else record._replace(fields={**record.fields, "seconds": duration})


def _drop_words(record: Record) -> Record:
    """The record without the words of messages in which the run itself, where it looked, took no call."""
    stages, source = record.fields.get("stages"), record.source
    if not (isinstance(stages, Mapping) and "calls_from" in stages):
        return record
    if isinstance(source, list):
        return record._replace(source=[*map(_without_words, source)])
    return record._replace(source=_without_words(source)) if isinstance(source, dict) else record


def _without_words(message: Mapping[str, Any]) -> Mapping[str, Any]:
    is_words = message.get("role") == "assistant" and not message.get("tool_calls")
    return {**message, "content": None} if is_words else message


def _add_note(answers: PlanFile, run: PredictedRun, note: str) -> PlanFile:
    return answers._replace(notes=(*answers.notes, f"{run.folder}: {note}"))


def _other_dialects_note(answers: PlanFile, dialect: str, template: str) -> str:
    """Words on how many answers call something in other notations only, and in which; "" for none."""
    dialect_counts = Counter(filter(None, (_other_dialect(record, dialect) for record in answers.records)))
    which = ", ".join(f"{name} ({count:,})" for name, count in sorted(dialect_counts.items()))
    count = dialect_counts.total()
    are = f"{format_count(count, 'answer')} {'is' if count == 1 else 'are'}"
    return template.format(are, dialect, which) if dialect_counts else ""


def _read_as_named(dialect: str, record: Record) -> Record:
    """As it was asked for, but words without a call, which no notation has a form for."""
    recognised = _read_plan(record, None) if _read_plan(record, dialect) is None else None
    return record if recognised is not None and not recognised.calls else record._replace(dialect=dialect)


def _read_as_asked(dialect: str, record: Record) -> Record:
    return record if _other_dialect(record, dialect) else _read_as_named(dialect, record)


def _other_dialect(record: Record, dialect: str) -> str | None:
    """The notation of an answer that calls something there, and nothing in the one that was asked for."""
    requested = _read_plan(record, dialect)
    if requested is not None and requested.calls:
        return None
    recognised = _read_plan(record, None)
    return recognised.dialect if recognised is not None and recognised.calls else None


def _read_plan(record: Record, dialect: str | None) -> Plan | None:
    """An answer as it is read in a notation, or recognised; None where it cannot be."""
    try:
        return read_plan(record, dialect=dialect)
    except ParseError:
        return None


def _first_answers(answers: PlanFile, run: PredictedRun) -> PlanFile:
    """The first answer to each sample."""
    if run.repeat == 1:
        return answers
    repeat_notes = format_repeated_ids(answers.records)
    first = tuple(record for record in answers.records if not record.fields.get("repetition"))
    notes = tuple(note for note in answers.notes if note not in repeat_notes)
    return answers._replace(records=first, notes=notes)


def select_asked_golds(golds: PlanFile, run: PredictedRun) -> PlanFile:
    """The gold plans of the samples that were asked; of recorded conversations what was not shown.

    Args:
        golds: All gold plans.
        run: The run.
    """
    if run.form == OWN_TASKS:
        golds = _rename_golds(keep_left_out(golds), run)
    if all(record.id is None or record.id in run.ids for record in golds.records):
        return golds
    return golds._replace(records=tuple(record for record in golds.records if record.id in run.ids))


def _rename_golds(golds: PlanFile, run: PredictedRun) -> PlanFile:
    """Gold plans, of which those without an id are called as the tasks were, where any of these was asked."""
    names = [record.id or numbered_id(number) for number, record in enumerate(golds.records, 1)]
    if not any(
        record.id is None and name in run.ids for record, name in zip(golds.records, names, strict=True)
    ):
        return golds
    named = (record._replace(id=name) for record, name in zip(golds.records, names, strict=True))
    return golds._replace(records=tuple(named))


def repeats_message(run: PredictedRun) -> str | None:
    """Says that answers do not count, where samples were asked several times; None where all count."""
    if run.repeat == 1 or run.counts_trials:
        return None
    samples, extra_answers = len(run.ids), run.answers - len(run.ids)
    message = f"{format_count(samples, 'sample')} asked {run.repeat} times; the scores count the first answer"
    incomplete = f" ({run.lost - run.unasked:,} incomplete)" if run.lost > run.unasked else ""
    further = f"{format_count(extra_answers, 'further one')}{incomplete}"
    return f"{message}, {further} only in pass^k and pass@k of score"


# ----------------------------------------------------------------------
# The gold plans of a run that asked a model.
def read_run_golds(run: PredictedRun, gold: str, reading: Reading) -> PlanFile:
    """The gold plans of a run that asked a model, the published ones as their benchmark reads them.

    Args:
        run: The run.
        gold: The gold; as :func:`planner_eval.models.predict.folder.gold_of` gives it.
        reading: How it is read, where it is plans of the user's own.

    Raises:
        InputError: it is not there, or cannot be read.
    """
    if run.form == OWN_TASKS:
        return keep_left_out(reading.golds(gold))
    own = (reading.gold_dialect, reading.gold_id_field, reading.gold_text_field)
    if any(own) or not os.path.exists(gold):  # fields that the user names, or a data set by its name
        return reading.golds(gold)
    try:
        samples = gold_samples(BENCHMARKS[run.form], gold)
    except InputError:
        if gold == run.source:
            raise
        return reading.golds(gold)  # the user's own plans for published questions
    return reading.golds(plans_of_samples(gold, samples))
