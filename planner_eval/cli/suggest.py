"""planeval suggest: mends of plans that break their catalog, without gold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.errors import CatalogError, JudgeError
from planner_eval.base.formats import View
from planner_eval.base.json_text import dump_indented
from planner_eval.base.tables import Style
from planner_eval.base.text import encodable, format_count, one_line, printable, to_json
from planner_eval.cli.options import Number, as_command, note, option, refuse_idle
from planner_eval.cli.output import Output, output_options
from planner_eval.cli.sources import (
    RECORD_TOOLS,
    CatalogOptions,
    Input,
    catalog_options,
    endpoint_options,
    input_options,
)
from planner_eval.cli.terminal import Target, count_items
from planner_eval.reading.files.record import format_record_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from planner_eval.benchmarks.judging import Judge, JudgeReply, JudgeRequest
    from planner_eval.curation.suggest.candidates import ToolIndex
    from planner_eval.curation.suggest.suggest import FaultSuggestions, PlanSuggestions
    from planner_eval.models.judges import CountedJudge, Endpoint
    from planner_eval.reading.files.files import PlanFile
    from planner_eval.reading.files.record import Record


_MAX_WIDTH = 300


@as_command("suggest", plans="PRED|DATASET")
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
@endpoint_options(
    option("--model-url URL", "The model's OpenAI-compatible server."),
    option(
        "--model-cache FILE",
        "A file that stores every exchange with the model.",
        type=Target(unless="replay"),
    ),
    option("--replay", "Use only stored answers of the model (--run model-cache=FILE)."),
    option("--prices FILE", "Prices per million tokens of the model: TOML or JSON."),
    prefix="model_",
    deadline=60.0,  # a mend is no more than a help: nobody waits long for a server that fails
    retries=2,
)
@input_options
@output_options("document", "data", "records")
def command(
    plans: str,
    source: Input,
    named_tools: CatalogOptions,
    query: str | None,
    most: int,
    least: float,
    patch: bool,
    model: str | None,
    endpoint: Endpoint,
    output: Output,
) -> int:
    """Suggest fixes for plans that violate their tool catalog, without any gold plan.

    PRED is a plan or a file of records; - is standard input. Each fix was tried: it removes its fault and
    adds no new one. Fixes are ranked, with reasons; a score is not a probability.
    Exit code: 0 no faults; 1 faults or an unreadable plan; 2 usage error; 3 no plan at all.
    """
    from planner_eval.catalogs.record_tools import listed_tools

    waits = "model_url prices silence deadline retries"
    refuse_idle(
        (f"{waits} model_cache replay", model is not None, "with --model NAME"),
        (waits, not endpoint.replay, "without --run replay=yes, which asks nobody"),
        ("form", not patch, "without --patch, which writes JSON"),
    )
    (file,) = source.read(plans)
    tools_of = _tools_reader(named_tools)
    if not named_tools.catalogs and not any(listed_tools(record).tools for record in file.records):
        raise click.UsageError(f"{file.name} has no tools: name them with --catalog")
    judge = None if model is None else _open_judge(model, endpoint)
    question = _question_reader(query, file)
    how = {"judge": judge, "most": most, "least": least, "dialect": source.dialect}
    many = len(file.records) != 1 or file.many
    suggested = (_row(record, question(record), tools_of, how, patch=patch) for record in file.records)
    rows = list(count_items(suggested, len(file.records), "plans"))
    if patch:
        output.emit(_patches(rows, many=many), plain=True)
    else:
        output.emit_view(_view(rows, many=many))
    _say_summary(rows)
    code = int(any(row.get("faults") or row.keys() & {"error", "repaired", "empty"} for row in rows))
    if judge is not None:
        if judge.asked:
            cost = f", cost {judge.cost:,.6f}".rstrip("0").rstrip(".") if endpoint.prices else ""
            note(f"the model was asked {format_count(judge.asked, 'question')}{cost}")
        if judge.failed:
            note(f"it did not answer {judge.failed:,} of {judge.asked:,}: {judge.reason}")
            code = 1
    return 3 if all("error" in row for row in rows) else code


def _tools_reader(named: CatalogOptions) -> Callable[[Record], ToolIndex]:
    """What gives the tools of a record: those that the user names, else those that the record brings.

    It raises CatalogError where a record brings none, or such that cannot be read.
    """
    from planner_eval.catalogs.record_tools import listed_tools
    from planner_eval.curation.suggest.suggest import index_tools, pooling_warnings

    catalog = named.read()
    if catalog is not None:
        index = index_tools(catalog)
        note(*pooling_warnings(named.catalogs, index.catalog))
        return lambda _record: index
    last: tuple[Any, Any] = (None, None)

    def read(record: Record) -> ToolIndex:
        nonlocal last
        listed = listed_tools(record).tools
        if listed is None:
            raise CatalogError("it has no tools: name them with --catalog")
        if listed is not last[0] and listed != last[0]:  # records of one list mostly follow one another
            last = (listed, index_tools(listed))
        tools: ToolIndex = last[1]
        return tools

    return read


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


def _open_judge(model: str, endpoint: Endpoint) -> CountedJudge:
    from pathlib import Path

    from planner_eval.models.judges import CountedJudge, open_judge

    rates = endpoint.rates(model, None)
    judge = open_judge(
        model,
        base_url=endpoint.url,
        cache=Path(endpoint.cache) if endpoint.cache else None,
        replay=endpoint.replay,
        prices=None if rates is None else (rates.model.input, rates.model.output),
        timeout=endpoint.timeout,
        deadline=endpoint.deadline,
        retries=endpoint.retries,
    )
    return CountedJudge(_WarningJudge(judge))


def _question_reader(query: str | None, source: PlanFile) -> Callable[[Record], str | None]:
    """What gives a record's question."""
    from planner_eval.reading.files.context import question_field, question_text

    if query is None:
        return lambda record: question_text(getattr(record.source, "query", None))
    name, notes = question_field(query, source)
    note(*notes)
    return lambda record: question_text(record.fields.get(name)) if name is not None else None


def _row(
    record: Record,
    query: str | None,
    tools_of: Callable[[Record], ToolIndex],
    how: dict[str, Any],
    *,
    patch: bool,
) -> dict[str, Any]:
    """What mends a record's plan, and why it had to be repaired before it could be read at all."""
    row: dict[str, Any] = {"id": record.name}
    try:
        how = {**how, "catalog": tools_of(record), "query": query}
        try:
            suggested = pe.suggest(record, **how)
        except pe.ParseError as error:
            if record.error is not None:
                raise
            try:
                suggested = pe.suggest(record, repair=True, **how)
            except pe.ParseError:
                raise error from None
            row["repaired"] = str(error).splitlines()[0]
    except (pe.ParseError, CatalogError) as error:
        return {"id": record.name, "error": f"{record.where}: {str(error).splitlines()[0]}"}
    if not suggested.plan.calls:
        row["empty"] = "the prediction has no calls, so there is nothing to fix"
    row["faults"] = [_fault_data(faulty, suggested) for faulty in suggested.faults]
    row["left"] = len(suggested.left)
    return row | ({"patch": suggested.patch} if patch else {})


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
    empty = {"record": row["id"]} | dict.fromkeys(("call", "fault", "suggestion", "score", "reason"))
    for key, fault in (("error", "unreadable"), ("repaired", "read after repair"), ("empty", "no call")):
        if key in row:
            yield empty | {"fault": fault, "reason": row[key]}
    for fault in row.get("faults", ()):
        head = empty | {"call": fault["call"], "fault": fault["message"]}
        for suggestion in fault["suggestions"]:
            cells = {"suggestion": suggestion["says"], "score": suggestion["score"]}
            yield head | cells | {"reason": suggestion["reason"]}
        if not fault["suggestions"]:
            yield head | {"reason": _no_fix_reason(fault)}


def _no_fix_reason(fault: dict[str, Any]) -> str:
    return "no fix known" if fault["looked"] else "skipped: the plan has too many faults, or is too long"


def _lines(row: dict[str, Any], *, many: bool) -> Iterator[str]:
    lead = f"{format_record_name(row['id'])}: " if many else ""
    for key, text in (
        ("error", "unreadable: "),
        ("repaired", "read after repair, as planeval convert --patch --repair does: "),
        ("empty", ""),
    ):
        if key in row:
            yield _short_line(f"{lead}{text}{row[key]}")
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
