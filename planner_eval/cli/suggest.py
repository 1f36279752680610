"""planeval suggest: mends of plans that break their catalog, without gold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.errors import CatalogError, JudgeError, ParseError
from planner_eval.base.formats import View, write_view
from planner_eval.base.json_text import dump_indented
from planner_eval.base.tables import Style
from planner_eval.base.text import encodable, format_count, one_line, printable, to_json
from planner_eval.cli.help import Command
from planner_eval.cli.options import (
    Number,
    argument,
    emit,
    format_option,
    note,
    option,
    output_option,
    reading_options,
    refuse_idle,
)
from planner_eval.cli.sources import (
    RECORD_TOOLS,
    CatalogOptions,
    catalog_options,
    dataset_options,
    read_plans,
    wait_options,
)
from planner_eval.cli.terminal import Target, count_items
from planner_eval.reading.files.record import format_record_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from planner_eval.benchmarks.judging import Judge, JudgeReply, JudgeRequest
    from planner_eval.curation.suggest.suggest import FaultSuggestions, PlanSuggestions
    from planner_eval.curation.suggest.tool_names import ToolIndex
    from planner_eval.models.judges import CountedJudge
    from planner_eval.reading.files.files import PlanFile
    from planner_eval.reading.files.record import Record


_MAX_WIDTH = 300
_DEADLINE, _RETRIES = 60.0, 2
"""A mend is no more than a help: who asks for one does not wait long for a server that fails."""


@click.command("suggest", cls=Command)
@argument("plans", "PRED|DATASET")
@catalog_options(RECORD_TOOLS)
@option("--query FIELD", "The field that holds the question, a source of values.")
@option("--most N", "Show at most this many fixes per fault.", type=click.IntRange(min=1, max=10), default=3)
@option(
    "--least SCORE", "With --patch: the lowest score of a fix to include.", type=Number(0, 1), default=0.6
)
@option("--patch", "Write a patch of the likeliest fixes, for convert --patch.")
@option(
    "--model NAME",
    "A model to ask about faults without another fix; OPENAI_API_KEY holds "
    "its server's key (any word if it needs none).",
)
@option("--model-url URL", "The model's OpenAI-compatible server.")
@option(
    "--model-cache FILE", "A file that stores every exchange with the model.", type=Target(unless="replay")
)
@option("--replay", "Use only stored answers of the model (--run model-cache=FILE).")
@option("--prices FILE", "Prices per million tokens of the model: TOML or JSON.")
@wait_options(_DEADLINE, _RETRIES)
@reading_options
@dataset_options
@format_option("document", "data", "records")
@output_option
def command(
    plans: str,
    named_tools: CatalogOptions,
    query: str | None,
    most: int,
    least: float,
    patch: bool,
    model: str | None,
    model_url: str | None,
    model_cache: str | None,
    replay: bool,
    prices: str | None,
    timeout: float,
    deadline: float,
    retries: int,
    dialect: str | None,
    form: str,
    output: str | None,
    **fields: Any,
) -> int:
    """Suggest fixes for plans that violate their tool catalog, without any gold plan.

    PRED is a plan or a file of records; - is standard input. Each fix was tried: it removes its fault and
    adds no new one. Fixes are ranked, with reasons; a score is not a probability.
    Exit code: 0 no faults; 1 faults or an unreadable plan; 2 usage error; 3 no plan at all.
    """
    with_model, waits = model is not None, ("timeout", "deadline", "retries")
    refuse_idle(
        (("model_url", "model_cache", "replay", "prices", *waits), with_model, "with --model NAME"),
        (("model_url", "prices", *waits), not replay, "without --run replay=yes, which asks nobody"),
        ("form", not patch, "without --patch, which writes JSON"),
    )
    source = read_plans([plans], **fields)[0]
    offered = _OfferedTools(named_tools)
    if not named_tools.catalogs and not any(offered.given(record) for record in source.records):
        raise click.UsageError(f"{source.name} has no tools: name them with --catalog")
    patience = {"timeout": timeout, "deadline": deadline, "retries": retries}
    judge = (
        _open_judge(model or "", model_url, model_cache, prices, patience, replay=replay)
        if with_model
        else None
    )
    question = _question_reader(query, source)
    how = {"judge": judge, "most": most, "least": least, "dialect": dialect}
    many = len(source.records) != 1 or source.many
    rows = list(
        count_items(_rows(source.records, question, offered, how, patch=patch), len(source.records), "plans")
    )
    if patch:
        emit(_patches(rows, many=many), output, plain=True)
    else:
        emit(write_view(_view(rows, many=many), form), output)
    _say_summary(rows)
    code = (
        1
        if any(row.get("faults") or "error" in row or "repaired" in row or "empty" in row for row in rows)
        else 0
    )
    if judge is not None:
        code = max(code, _say_model_failures(judge, priced=prices is not None))
    return 3 if all("error" in row for row in rows) else code


class _OfferedTools:
    """The tools of each record: those that the user names, else those that the record brings."""

    def __init__(self, named: CatalogOptions) -> None:
        from planner_eval.curation.suggest.suggest import index_tools, pooling_warnings

        self._make = index_tools
        catalog = named.read()
        self._all = None if catalog is None else index_tools(catalog)
        self._last: tuple[Any, Any] = (None, None)
        if self._all is not None:
            for message in pooling_warnings(named.catalogs, self._all.catalog):
                note(message)

    def given(self, record: Record) -> Any:
        """The list of tools that a record brings; None where it brings none."""
        sample = record.source
        tools = sample.tools if hasattr(sample, "category") else record.fields.get("tools")
        return tools if tools and isinstance(tools, (list, dict)) else None

    def of(self, record: Record) -> ToolIndex:
        """The tools of a record.

        Raises:
            CatalogError: it brings none, or such that cannot be read.
        """
        if self._all is not None:
            return self._all
        record_tools = self.given(record)
        if record_tools is None:
            raise CatalogError("it has no tools: name them with --catalog")
        if record_tools is not self._last[0] and record_tools != self._last[0]:
            self._last = (record_tools, self._make(record_tools))
        tools: ToolIndex = self._last[1]
        return tools


class _WarningJudge:
    """A judge whose first failure is told at once, for the others may take as long."""

    def __init__(self, judge: Judge) -> None:
        self.judge, self._told = judge, False

    def ask(self, request: JudgeRequest) -> JudgeReply:
        try:
            return self.judge.ask(request)
        except JudgeError as problem:
            if not self._told and problem.code != "missing":
                note(f"the model did not answer: {one_line(printable(str(problem)), _MAX_WIDTH)}")
            self._told = True
            raise


def _open_judge(
    model: str,
    url: str | None,
    cache: str | None,
    prices: str | None,
    patience: dict[str, Any],
    *,
    replay: bool,
) -> CountedJudge:
    from pathlib import Path

    from planner_eval.models.judges import CountedJudge, open_judge
    from planner_eval.models.prices import price_of, read_prices

    cost = price_of(model, read_prices(Path(prices)), prices) if prices is not None else None
    judge = open_judge(
        model,
        base_url=url,
        cache=Path(cache) if cache else None,
        replay=replay,
        prices=None if cost is None else (cost.input, cost.output),
        **patience,
    )
    return CountedJudge(_WarningJudge(judge))


def _question_reader(query: str | None, source: PlanFile) -> Callable[[Record], str | None]:
    """What gives a record's question."""
    from planner_eval.reading.files.questions import question_text

    if query is None:
        return lambda record: question_text(getattr(record.source, "query", None))
    from planner_eval.reading.files.questions import question_field

    name, notes = question_field(query, source)
    for message in notes:
        note(message)
    return lambda record: question_text(record.fields.get(name)) if name is not None else None


def _rows(
    records: Sequence[Record],
    question: Callable[[Record], str | None],
    offered: _OfferedTools,
    how: dict[str, Any],
    *,
    patch: bool,
) -> Iterator[dict[str, Any]]:
    """A row a record, none left out."""
    for record in records:
        name = record.name
        try:
            tools = offered.of(record)
            suggested, repaired = _suggest_fixes(record, question(record), how | {"catalog": tools})
        except (ParseError, CatalogError) as error:
            yield {"id": name, "error": f"{record.where}: {str(error).splitlines()[0]}"}
            continue
        row: dict[str, Any] = {"id": name}
        if repaired is not None:
            row["repaired"] = repaired
        if not suggested.plan.calls:
            row["empty"] = "the prediction has no calls, so there is nothing to fix"
        row["faults"] = [_fault_data(faulty, suggested) for faulty in suggested.faults]
        row["left"] = len(suggested.left)
        if patch:
            row["patch"] = suggested.patch
        yield row


def _suggest_fixes(
    record: Record, query: str | None, how: dict[str, Any]
) -> tuple[PlanSuggestions, str | None]:
    """What mends a record's plan, and why it had to be repaired before it could be read at all."""
    try:
        return pe.suggest(record, query=query, **how), None
    except ParseError as error:
        if record.error is not None:
            raise
        try:
            return pe.suggest(record, query=query, repair=True, **how), str(error).splitlines()[0]
        except ParseError:
            raise error from None


def _fault_data(faulty: FaultSuggestions, suggested: PlanSuggestions) -> dict[str, Any]:
    fault = faulty.fault
    return {
        "code": fault.code,
        "message": fault.message,
        "call": None if fault.call is None else fault.call + 1,
        "tool": None if fault.call is None else suggested.plan.calls[fault.call].tool,
        "argument": fault.argument,
        "looked": faulty.looked,
        "tied": faulty.tied,
        "suggestions": [s._asdict() | {"operations": list(s.operations)} for s in faulty.suggestions],
    }


def _patches(rows: list[dict[str, Any]], *, many: bool) -> str:
    """What ``planeval convert --patch`` takes: one patch, or a line a record."""
    if not many and "patch" in rows[0]:
        return dump_indented(rows[0]["patch"])
    lines = [{"id": row["id"]} | row.get("patch", {"error": row.get("error")}) for row in rows]
    return "\n".join(encodable(to_json(line)) for line in lines)


def _view(rows: list[dict[str, Any]], *, many: bool) -> View:
    def document(style: Style) -> Iterator[str]:
        if style.markup:
            yield style.table(line for row in rows for line in _table_rows(row))
        else:
            yield "\n".join(line for row in rows for line in _lines(row, many=many))

    return View(document, data=lambda: rows if many else rows[0], records=lambda: rows)


def _table_rows(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A row of a table a suggestion; a fault without one, and a plan that cannot be read, have their own."""
    empty = {
        "record": row["id"],
        "call": None,
        "fault": None,
        "suggestion": None,
        "score": None,
        "reason": None,
    }
    if "error" in row:
        yield empty | {"fault": "unreadable", "reason": row["error"]}
    if "repaired" in row:
        yield empty | {"fault": "read after repair", "reason": row["repaired"]}
    if "empty" in row:
        yield empty | {"fault": "no call", "reason": row["empty"]}
    for fault in row.get("faults", ()):
        head = empty | {"call": fault["call"], "fault": fault["message"]}
        for suggestion in fault["suggestions"]:
            yield head | {
                "suggestion": suggestion["says"],
                "score": suggestion["score"],
                "reason": suggestion["reason"],
            }
        if not fault["suggestions"]:
            yield head | {"reason": _no_fix_reason(fault)}


def _no_fix_reason(fault: dict[str, Any]) -> str:
    return "no fix known" if fault["looked"] else "skipped: the plan has too many faults, or is too long"


def _lines(row: dict[str, Any], *, many: bool) -> Iterator[str]:
    lead = f"{format_record_name(row['id'])}: " if many else ""
    if "error" in row:
        yield _short_line(f"{lead}unreadable: {row['error']}")
    if "repaired" in row:
        yield _short_line(
            f"{lead}read after repair, as planeval convert --patch --repair does: {row['repaired']}"
        )
    if "empty" in row:
        yield _short_line(f"{lead}{row['empty']}")
    for fault in row.get("faults", ()):
        tool = fault["tool"] or '""'
        location = "the answer" if fault["call"] is None else f"call {fault['call']} ({tool})"
        yield _short_line(f"{lead}{location}: {fault['message']} [{fault['code']}]")
        for suggestion in fault["suggestions"]:
            yield _short_line(f"  {suggestion['score']:.2f} {suggestion['says']}: {suggestion['reason']}")
        if fault["tied"]:
            yield "  the first two are equally likely: --patch takes neither"
        if not fault["suggestions"]:
            yield f"  {_no_fix_reason(fault)}"


def _short_line(text: str) -> str:
    return one_line(printable(text), _MAX_WIDTH)


def _say_summary(rows: list[dict[str, Any]]) -> None:
    read = [row for row in rows if "error" not in row]
    faults = [fault for row in read for fault in row["faults"]]
    mended = sum(bool(fault["suggestions"]) for fault in faults)
    right = sum(not row["faults"] and "empty" not in row for row in read)
    message = f"{format_count(len(read), 'plan')}: {right:,} without faults"
    if faults:
        left = sum(row["left"] for row in read)
        message += f"; {format_count(len(faults), 'fault')}, {mended:,} with suggestions"
        message += f", {left:,} left after the likeliest fixes"
    empty, unread = sum("empty" in row for row in read), len(rows) - len(read)
    repaired = sum("repaired" in row for row in read)
    message += f"; {empty:,} without calls" if empty else ""
    message += f"; {repaired:,} only read after repair" if repaired else ""
    note(message + (f"; {unread:,} unreadable" if unread else ""))


def _say_model_failures(judge: CountedJudge, *, priced: bool) -> int:
    """Say what the model left without an answer; the exit code for that."""
    if judge.asked:
        cost = f", cost {judge.cost:,.6f}".rstrip("0").rstrip(".") if priced else ""
        note(f"the model was asked {format_count(judge.asked, 'question')}{cost}")
    if judge.failed:
        note(f"it did not answer {judge.failed:,} of {judge.asked:,}: {judge.reason}")
    return 1 if judge.failed else 0
