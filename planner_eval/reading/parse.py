"""Reading what people have: a plan's text or data, a file, a list of records."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from planner_eval.base.errors import (
    FLAG,
    NAME,
    InputError,
    LimitError,
    ParseError,
    expect,
    expect_or_none,
    instance_of,
    one_of,
)
from planner_eval.base.json_text import loads_if_json
from planner_eval.base.limits import DEFAULT_LIMITS, Limits
from planner_eval.base.resources import service
from planner_eval.plan.model import Plan
from planner_eval.reading import dialects
from planner_eval.reading.dialects import read as door
from planner_eval.reading.dialects.conversations.wrappers import to_json_data
from planner_eval.reading.dialects.dialect import TurnChoice, check_turn
from planner_eval.reading.dialects.read import write, write_text
from planner_eval.reading.dialects.round_trip import ConvertedText, write_lossy
from planner_eval.reading.files.fields import PLAN_FIELDS, Role, is_table, table_rows
from planner_eval.reading.files.files import PlanFile, read_data, read_path
from planner_eval.reading.files.items import split_json_value
from planner_eval.reading.files.record import (
    DEFAULT_STORE,
    GOLD_COMPANION_FIELDS,
    Record,
    Store,
    read_answer,
    read_plan,
)
from planner_eval.reading.files.shapes import shape_of
from planner_eval.reading.files.trials import format_ids_repeated_beyond_trials

if TYPE_CHECKING:
    from planner_eval.plan.inference import Signatures
    from planner_eval.plan.statistics import Stats


Source: TypeAlias = Any
"""A plan's text or data, a Plan, a Record, or a path (no text: ``Path("gold.json")``) of a file."""

_SUFFIXES = (
    ".json", ".jsonl", ".ndjson", ".txt", ".csv", ".tsv", ".parquet", ".gz", ".bz2", ".xz", ".zst",
)  # fmt: skip
_NAMES_BY_ROLE: Mapping[Role, str] = {
    "answer": "predictions",
    "gold": "gold",
    "plan": "plans",
    "alone": "plans",
}


def read(  # noqa: PLR0913 - the options of a public function
    source: Source,
    *,
    id_field: str | None = None,
    text_field: str | None = None,
    turn: TurnChoice = None,
    cache: str | None = None,
    folder: str | None = None,
    role: Role = "plan",
    store: Store = DEFAULT_STORE,
) -> PlanFile:
    """Read a file of plans, or the same in memory: one plan, or records of which each holds one.

    Args:
        source: The path of a file (``"-"`` is standard input), of a directory of files, or a pattern such
            as ``"runs/*.json"``; the name of a published data set, e.g. ``"nestful-v2"``; or a list of
            texts, plans or records, a frame of pandas or polars, a Hugging Face data set, an iterable.
        id_field: The field that names a record; recognised when left out.
        text_field: The field that holds its plan; recognised when left out.
        turn: Which turn of the assistant is read of conversations: ``"first"``, ``"last"`` or its number,
            counted from 1; all turns when left out.
        cache: The cache folder of data sets, where it is not the usual one.
        folder: Where a data set's files lie, instead of the cache.
        role: Whether ``"answer"`` or ``"gold"`` is wanted, where a record holds both.
        store: From which size on the records of a file are kept on disk, and where.

    Returns:
        The records, none left out; :func:`parse` gives the plan of each, or the reason why not.

    Raises:
        InputError: the file is missing, the directory empty, a field named is in no record, or two fields
            may hold the plan.

    >>> found = read([{"id": "q1", "output": "f(#x='1')"}, {"id": "q2", "output": "f(#x="}])
    >>> [record.id for record in found.records], parse(found.records[0]).calls[0].name
    (['q1', 'q2'], 'f')
    """
    check_turn(turn)
    expect(one_of(_NAMES_BY_ROLE), role=role)
    file = read_as(source, role, id_field, text_field, folders=(cache, folder), store=store)
    return file.of_turn(turn)


def read_as(
    source: Source,
    role: Role,
    id_field: str | None,
    text_field: str | None,
    spare: tuple[str | None, str | None] = (None, None),
    folders: tuple[str | None, str | None] = (None, None),
    store: Store = DEFAULT_STORE,
) -> PlanFile:
    """Read a file of plans as :func:`read` does, beside another whose fields are `spare`."""
    expect_or_none(NAME, id_field=id_field, text_field=text_field)
    expect(instance_of(Store, "Store(…) of planner_eval.reading.files.record"), store=store)
    if not isinstance(source, (str, os.PathLike, Plan, Record, PlanFile)):
        original, source = source, table_rows(source)
        if source == [] and source is not original:  # a table without rows is no plan without calls
            return empty_plan_file(role)
    if isinstance(source, PlanFile):
        return source
    if isinstance(source, Record):
        return PlanFile(source.file, (source,), False)
    named: Any = {"id_field": id_field, "text_field": text_field, "role": role, "spare": spare}
    if isinstance(source, (str, os.PathLike)):
        return _read_named(os.fspath(source), {**named, "store": store}, folders)
    if isinstance(source, Plan):
        return PlanFile(_NAMES_BY_ROLE[role], (Record(_NAMES_BY_ROLE[role], 0, None, source),), False)
    if isinstance(source, (list, tuple)) and source and all(isinstance(item, Record) for item in source):
        return PlanFile(_NAMES_BY_ROLE[role], tuple(source), True)
    data = list(source) if isinstance(source, tuple) else source
    return _note_repeated_ids(read_data(data, _NAMES_BY_ROLE[role], **named))


def empty_plan_file(role: Role) -> PlanFile:
    """Of many plans none."""
    return PlanFile(_NAMES_BY_ROLE[role], (), True)


def is_empty(source: Source) -> bool:
    """Whether a source is a list of nothing: a plan without calls, or of many plans none."""
    return isinstance(source, (list, tuple)) and not source


def _read_named(name: str, fields: dict[str, Any], folders: tuple[str | None, str | None]) -> PlanFile:
    """The file, the directory, or the data set of a name."""
    hidden = None
    # Files have a suffix or lie somewhere, names of data sets are one word.
    if name != "-" and not any(mark in name for mark in "./\\*?["):
        dataset = service("dataset plans")(name, *folders)
        if dataset is not None:
            return _note_repeated_ids(dataset)
        hidden = service("hidden dataset")(name)
    file = _note_repeated_ids(read_path(name, **fields))
    return file if hidden is None else file._replace(notes=(*file.notes, hidden))


def _note_repeated_ids(file: PlanFile) -> PlanFile:
    return file._replace(notes=(*file.notes, *format_ids_repeated_beyond_trials(file.records)))


def parse(  # noqa: PLR0913 - the options of a public function
    source: Source,
    *,
    dialect: str | None = None,
    turn: TurnChoice = None,
    repair: bool = False,
    compute: str | None = None,
    infer: bool = False,
    reader: str = "fast",
    limits: Limits = DEFAULT_LIMITS,
    tools: Any = None,
) -> Plan:
    """Read a plan.

    Args:
        source: The text; structure that is JSON already (lists, dicts); an answer, a message or a call of
            another package, which gives it (``model_dump()``, ``to_dict()``, ``to_json()``); a record of
            :func:`read`; or the path of a file, ``Path("gold.json")``. A plan is given back as it is. A list
            of texts or calls is one plan, as in a file; to :func:`read`, ``stats``, ``score`` and
            ``evaluate`` a list of texts is many.
        dialect: The dialect's name; without it the notation is recognised, and named in the plan.
        turn: Which turn of the assistant is read where there are several: ``"first"``, ``"last"`` or its
            number, counted from 1; all of them, in order, when left out.
        repair: Mend small faults where strict reading fails; each is a ``repair.*`` diagnostic.
        compute: ``"arithmetic"``: an expression of numbers and + - * / // % ** ( ) becomes the number it
            comes to, within bounds; without it, and where it is something else, its text stands.
        infer: Add edges, marked as inferred, where an argument repeats a value of an earlier result, and
            where `tools`, or the data set, say which earlier call fills a hole such as ``$$$``; steps that
            are written as such become generations. No comparison counts what was inferred.
        reader: ``"fast"``, or ``"grammar"``: the Lark grammar of the notation, which keeps the places of
            calls, arguments and references, and mends nothing; it reads texts of up to 256,000 characters.
        limits: Bounds on size, nesting and the number of calls.
        tools: What types the values of notations that write them without types: tool → parameter →
            JSON type, a catalog, or a catalog's file.

    Returns:
        The linked plan with its diagnostics; one without calls where the text calls no tool.

    Raises:
        ParseError: the text begins like a plan and is none; says where and what was expected.
        AnswerError: an API's answer was cut off, refused or failed, or the conversation has no such turn.
        InputError: unknown notation of that name, or no grammar for it; no such way to compute; the text
            is the name of a file; or the file, or the list, holds many records, which :func:`read` gives.

    >>> plan = parse("Hotels: [h = search(#city='Rome'), book(#name=h)]")
    >>> plan.dialect, [call.tool for call in plan.calls], len(plan.edges)
    ('appbench', ['Hotels.search', 'Hotels.book'], 1)
    >>> parse("gold.json")
    Traceback (most recent call last):
    planner_eval.base.errors.InputError: 'gold.json' is the name of a file, not a plan: \
use pe.parse(Path('gold.json'))
    """
    if isinstance(source, Plan):
        return source
    guess: Any = infer
    if type(guess) is not bool and not hasattr(guess, "takes"):  # what the command line knows of tools has it
        expect(FLAG, infer=guess)
    types = None
    if tools is not None:
        types = types_of(tools)
        if infer and hasattr(tools, "tools"):
            guess = signatures_of(tools)
    read_one: Any = door.parse
    if isinstance(source, str):
        refuse_file_name(source)
    elif isinstance(source, (Record, PlanFile, os.PathLike)) or is_table(source):
        read_one, source = read_answer, only_record(source)
    try:
        plan: Plan = read_one(
            source, dialect=dialect, limits=limits, repair=repair, tools=types, infer=guess, compute=compute,
            reader=reader, turn=turn,
        )  # fmt: skip
        return plan
    except ParseError:
        if isinstance(source, (list, tuple)) and _holds_many_plans(source):
            raise InputError(
                f"a list of {len(source):,} records or plans, expected one plan: pe.read gives the records "
                "of a list, and pe.parse takes each of .records; pe.stats and pe.score take them all"
            ) from None
        raise


def enable_inference(file: PlanFile) -> PlanFile:
    """The same file, with whose plans edges are inferred, by what their data set says of tools."""
    return file.each(partial(_set_signatures, service("signatures of released tools")()))


def _set_signatures(signatures: Any, record: Record) -> Record:
    return record._replace(infer=signatures.of(record.tools))


def signatures_of(catalog: Any) -> Signatures:
    """What a catalog, or a catalog's file, says of its tools to those who infer edges."""
    is_file = isinstance(catalog, (str, os.PathLike))
    signatures: Signatures = service("catalog signatures")(
        service("catalog")(os.fspath(catalog)) if is_file else catalog
    )
    return signatures


def _holds_many_plans(items: Sequence[Any]) -> bool:
    """Whether a list holds plans, records, or objects that hold a plan in a field: many, and not one."""
    return bool(items) and all(
        isinstance(item, (Plan, Record))
        or (isinstance(item, dict) and shape_of(item).holds and not PLAN_FIELDS.isdisjoint(item))
        for item in items
    )


def is_one_plan(source: Source) -> bool:
    """Whether a source is one plan, and neither a file nor a list of records."""
    if isinstance(source, (str, Plan)):
        return True
    return isinstance(source, (list, dict)) and not split_json_value(source).many


def may_hold_many_plans(source: Source) -> bool:
    """Whether a source is a file, a table or a list of records, which may hold many plans."""
    if isinstance(source, (list, tuple)) and source and all(isinstance(item, Record) for item in source):
        return True
    if isinstance(source, (PlanFile, os.PathLike)) or is_table(source):
        return True
    return isinstance(source, (list, tuple)) and split_json_value(list(source)).many


def only_record(source: Source, role: Role = "plan") -> Record:
    """The record of a source that is one plan.

    Raises:
        InputError: it holds many.
    """
    try:
        file = read_as(_convert_foreign_data(text_as_record(source)), role, None, None)
    except ParseError as error:  # out of an object of another package
        return Record(_NAMES_BY_ROLE[role], 0, None, "", error=error)
    if len(file.records) == 1:
        return file.records[0]
    raise InputError(
        f"{file.name} holds {len(file.records):,} records, expected one plan: pe.read gives them all, and "
        "pe.parse takes each of .records"
    )


def _convert_foreign_data(source: Source) -> Source:
    """Data out of messages and answers of other packages; anything else as it is."""
    own_types = (str, os.PathLike, Plan, Record, PlanFile)
    if isinstance(source, own_types) or is_table(source):
        return source
    if isinstance(source, (list, tuple)) and any(isinstance(item, own_types[2:]) for item in source):
        return source
    return to_json_data(source)


def gold_record(source: Source) -> Record:
    """The record of one gold plan: what stands beside the plan says what else is right.

    Args:
        source: A plan, its text or data, a record as data or as JSON text with a field ``gold``, or the path
            of a file.

    Raises:
        InputError: it holds many, or the text is the name of a file.

    >>> gold_record('{"gold": "f()", "alternatives": ["g()"]}').fields["alternatives"]
    ['g()']
    """
    if isinstance(source, str):
        fields = _parse_gold_record(source)
        source = text_as_record(source) if fields is None else fields
    record = only_record(source, "gold")
    inner = _inner_gold_record(record)
    return record if inner is None else only_record(inner, "gold")


def _inner_gold_record(record: Record) -> dict[str, Any] | None:
    """The gold record that stands in a field of another, which says itself nothing of what is right."""
    if not record.fields or any(name in record.fields for name in GOLD_COMPANION_FIELDS):
        return None
    content = record.source
    if isinstance(content, str):
        return _parse_gold_record(content)
    return content if isinstance(content, dict) and "gold" in content else None


def _parse_gold_record(text: str) -> dict[str, Any] | None:
    """The gold record that a text is; None where it is a plan, or anything else."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        values = loads_if_json(text, DEFAULT_LIMITS)
    except LimitError:  # the plan's own reader says so
        return None
    if values is None or len(values) != 1 or not isinstance(values[0], dict):
        return None
    return values[0] if "gold" in values[0] else None


def text_as_record(source: Source) -> Source:
    """A source for :func:`read`, to which a text is a path: a plan's text becomes a record.

    Raises:
        InputError: the text is the name of a file.
    """
    if not isinstance(source, str):
        return source
    refuse_file_name(source)
    return Record("the text", 0, None, source)


def refuse_file_name(text: str) -> None:
    """The name of a file is no plan, though it reads as a text that calls no tool.

    Raises:
        InputError: the text is the name of a file that exists, or looks like one.
    """
    if len(text) > 255 or "\n" in text or any(mark in text for mark in "([{<"):
        return
    if os.path.isfile(text) or (text.lower().endswith(_SUFFIXES) and not any(map(str.isspace, text))):
        raise InputError(f"{text!r} is the name of a file, not a plan: use pe.parse(Path({text!r}))")


def types_of(tools: Any) -> Mapping[str, Mapping[str, str]]:
    """Tool → parameter → JSON type, as :func:`parse` takes it.

    Args:
        tools: That itself, a catalog, or the path of a catalog's file.
    """
    if isinstance(tools, Mapping):
        return tools
    if not isinstance(tools, (str, os.PathLike)) and not hasattr(tools, "tools"):
        raise InputError(f"the tools are {tools!r}, expected a mapping, a catalog or a catalog's file")
    types: dict[str, dict[str, str]] = {}
    catalog = service("catalog")(os.fspath(tools)) if isinstance(tools, (str, os.PathLike)) else tools
    for tool in catalog.tools:
        kinds = {p.name: next((k for k in p.type.kinds if k != "null"), "string") for p in tool.parameters}
        for name in (tool.name, tool.full_name):
            types.setdefault(name, kinds)
    return types


# ----------------------------------------------------------------------
# What a plan's structure is, or that of many plans.
@overload
def stats(plan: Plan | str, *, infer: bool = ...) -> Stats: ...


@overload
def stats(plan: Source, *, infer: bool = ...) -> Any: ...


def stats(plan: Source, *, infer: bool = False) -> Any:
    r"""All structure figures of one plan, or of many summed up.

    Args:
        plan: The plan: itself, its text or data, or the path of its file, ``Path("plan.json")``. Or many: a
            file of records, what :func:`planner_eval.read` gave or takes, a frame, an iterable of records.
        infer: Infer edges first, see :func:`planner_eval.parse`; all figures count them, and written steps
            are generations. A plan that is given as one stays as it is.

    Returns:
        Of one plan its figures. Of many a :class:`planner_eval.plan.statistics.Summary`, which counts the
        plans that could not be read.

    Raises:
        ParseError: the one plan cannot be read.
        InputError: a file or a table cannot be used.

    >>> found = stats("a = f(#x='1')\nb = g(#y=a)")
    >>> found.calls, found.depth, found.width
    (2, 2, 1)
    >>> many = stats([{"id": "a", "output": "f()"}, {"id": "b", "output": "g(#x="}])
    >>> many.plans, many.unread
    (1, 1)
    """
    from planner_eval.plan import statistics

    expect(FLAG, infer=infer)
    if not may_hold_many_plans(plan):
        return statistics.stats(parse(plan, infer=infer))
    file = enable_inference(read(plan)) if infer else read(plan)
    if not file.many:
        return statistics.stats(read_plan(file.records[0]))
    sums = statistics.Sums()
    for record in file.records:
        if (figures := _stats(record)) is None:
            sums.unread += 1
        else:
            sums.add(figures)
    return sums.summary(inferred=infer)


def _stats(record: Record) -> Stats | None:
    from planner_eval.plan.statistics import stats as stats_of

    try:
        return stats_of(read_plan(record))
    except ParseError:
        return None


# ----------------------------------------------------------------------
# Plans written in another notation.
def convert(
    source: Source,
    to: str,
    *,
    dialect: str | None = None,
    repair: bool = False,
    compute: str | None = None,
    tools: Any = None,
    loss: bool = False,
) -> ConvertedText:
    """Write a plan in another notation.

    Args:
        source: The plan: itself, its text or data, or the path of its file, ``Path("plan.json")``.
        to: The notation to write.
        dialect: The notation to read; recognised when left out.
        repair: Mend small faults where strict reading fails.
        compute: ``"arithmetic"``: expressions of numbers become the numbers they come to.
        tools: What types the values of untyped notations, where they are read and where what is written
            will be read; as for :func:`planner_eval.parse`.
        loss: Give up what it cannot say, and say what was lost.

    Returns:
        The text, and the losses; none without `loss`.

    Raises:
        WriteError: the notation cannot say what the plan says.
        ParseError: the plan cannot be read.
        InputError: unknown notation of that name.

    >>> convert("a = f(#x='1')", "json").text
    '[{"name": "f", "arguments": {"x": "1"}}]'
    """
    dialects.get(to)
    types = None if tools is None else types_of(tools)
    plan = parse(source, dialect=dialect, repair=repair, compute=compute, tools=types)
    if loss:
        return write_lossy(plan, to, write_text, tools=types)
    return ConvertedText(write(plan, to, tools=types), ())
