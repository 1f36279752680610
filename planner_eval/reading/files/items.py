"""The text of a file of plans as its records, or as one plan: what is an element, a line, a plan.

What is broken is taken apart in :mod:`planner_eval.reading.files.broken_json`.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.json_text import (
    RepeatedKeyDict,
    decode,
    decoding_error,
    skip_whitespace,
    unwrap_single,
)
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import JsonObject, lazy_pattern, one_line_json
from planner_eval.reading.dialects.conversations.messages import (
    find_call_candidates,
    holds_call,
    is_call,
    is_keyed_call_list,
    may_be_keyed_call,
)
from planner_eval.reading.dialects.conversations.spans import (
    QUOTED_SPAN_KEYS,
    are_linked,
    group_by_trace,
    has_agent_run,
    has_tool_run,
    id_of,
    is_span,
    normalize_id,
    spans_in,
    trace_id_of,
)
from planner_eval.reading.dialects.conversations.vendors import ASSISTANT_ROLES
from planner_eval.reading.dialects.conversations.wrappers import drop_metadata, find_marker_key
from planner_eval.reading.dialects.finding.whole_texts import has_too_many_calls, has_too_many_json_calls
from planner_eval.reading.files.broken_json import elements, line_objects, sequence
from planner_eval.reading.files.fields import (
    CALL_LIST_FIELDS,
    HEAD_SIZE,
    ID_FIELDS,
    PLAN_FIELDS,
    TableRow,
    has_field,
    id_text,
)
from planner_eval.reading.files.frameworks import (
    FrameworkRecord,
    are_one_plan,
    field_names,
    group_runs,
    is_trace_record,
    unfold,
)
from planner_eval.reading.files.shapes import RECORD_SHAPE, Item, are_parts, shape_of

# ----------------------------------------------------------------------
# Bytes as text: UTF-8, or what a byte order mark says; a byte that is neither costs its record alone.
BOMS = (  # of UTF-32 first: the mark of UTF-16 begins it
    (BOM_UTF32_LE, "UTF-32"),
    (BOM_UTF32_BE, "UTF-32"),
    (BOM_UTF16_LE, "UTF-16"),
    (BOM_UTF16_BE, "UTF-16"),
)
"""How a text may begin that is no UTF-8."""

INVALID_BYTE = "[\udc80-\udcff]"
"""A byte that is no UTF-8, in a text that was decoded all the same."""


class DecodedText(NamedTuple):
    """A file's text, and whether it has bytes that are no UTF-8."""

    text: str
    odd: bool


def decode_text(data: bytes | bytearray, name: str) -> DecodedText:
    r"""The text, and whether it has bytes that are no UTF-8; those stand in it as lone surrogates.

    Raises:
        InputError: a byte order mark says UTF-16 or UTF-32, and the rest is not.

    >>> decode_text('"ä"'.encode("utf-16"), "p")[0], decode_text(b'"\xe4"', "p").odd
    ('"ä"', True)
    """
    encoding = next((encoding for mark, encoding in BOMS if data.startswith(mark)), None)
    try:
        return DecodedText(data.decode(encoding or "utf-8-sig"), False)
    except UnicodeDecodeError as error:
        if encoding is not None:
            raise InputError(
                f"{name} begins as {encoding}, but is not {encoding} at byte {error.start}: {error.reason}"
            ) from None
    return DecodedText(data.decode("utf-8-sig", "surrogateescape"), True)


def decode_line(raw: bytes) -> tuple[str, bool]:
    """The marked text of a line of UTF-8, see :func:`mark_invalid_bytes`, and whether it has odd bytes."""
    try:
        return str(raw, "utf-8"), False
    except UnicodeDecodeError:
        return mark_invalid_bytes(raw.decode("utf-8", "surrogateescape")), True


def mark_invalid_bytes(text: str) -> str:
    """The text of :func:`decode_text` with a NUL before each odd byte, so that JSON there is broken JSON."""
    return re.sub(INVALID_BYTE, "\0\\g<0>", text)


def explain_items(items: list[Item], name: str) -> list[Item]:
    """The items of a marked text; those that are broken by a byte that is no UTF-8 say so.

    Raises:
        InputError: half of them are, and more than one: the whole file is in another encoding.
    """
    explained_items = [explain_item(item) for item in items]
    odd = [item for item in explained_items if item.error is not None and item.error.code == "parse.encoding"]
    if len(odd) > 1 and len(odd) * 2 >= len(explained_items):
        where = f"line {odd[0].line}: " if odd[0].line is not None else ""
        raise InputError(
            f"{name} is not UTF-8: {len(odd):,} of {len(explained_items):,} records hold other bytes, "
            f"the first in {where}{odd[0].error}"
        )
    return explained_items


def explain_item(item: Item) -> Item:
    """An item of a marked text; one that is broken by a byte that is no UTF-8 says so."""
    if item.error is None or not re.search(INVALID_BYTE, item.text):
        return item
    return item._replace(error=invalid_byte_error(item.text))


def invalid_byte_error(text: str) -> ParseError:
    r"""The error of a text with a byte that is no UTF-8.

    >>> invalid_byte_error("f(x=\udce4)").reason.partition(";")[0]
    'column 5: the byte 0xe4 is not UTF-8 text'
    """
    match = re.search(INVALID_BYTE, text)
    assert match is not None
    before = text[: match.start()]
    row, column = before.count("\n"), len(before.rpartition("\n")[2].replace("\0", ""))
    where = f"line {row + 1}, column {column + 1}" if row else f"column {column + 1}"
    reason = (
        f"{where}: the byte 0x{ord(match.group()) - 0xDC00:02x} is not UTF-8 text; "
        "convert the file to UTF-8 first, e.g. iconv -f WINDOWS-1252 -t UTF-8"
    )
    return ParseError(reason, code="parse.encoding")


LINE_SUFFIXES = (".jsonl", ".ndjson")
"""Names that say that a file holds a record a line, whatever its lines look like."""


class FileItems(NamedTuple):
    """What a file holds.

    Args:
        items: Its records; of a file that is one plan, the value that its text is or begins with.
        many: False for a file that is one plan.
        whole: That value is the whole text.
    """

    items: list[Item]
    many: bool = True
    whole: bool = False


# ---------------------------------------------------------------- from text to items
def split_items(text: str, name: str, text_field: str | None = None) -> FileItems:
    """The records of a file, or its one plan.

    Args:
        text: The file's text.
        name: Its name, whose end may say that it holds a record a line.
        text_field: The field that holds a record's plan, where the user named it.

    >>> found = split_items('[{"id": 1, "plan": "f()"}, {"id": 2, "plan": "g()"}]', "p.json")
    >>> [item.data for item in found.items]
    [{'id': 1, 'plan': 'f()'}, {'id': 2, 'plan': 'g()'}]
    """
    start = skip_whitespace(text, 0)
    first = text[start : start + 1]
    lines = name.endswith(LINE_SUFFIXES)
    worded = first not in ("[", "{", '"') and not lines
    if worded:
        logged = any(
            sign in text for sign in QUOTED_SPAN_KEYS
        )  # what a program prints stands between the spans too
        runs = (
            _split_traces(_split_several_values(text, start, text_field, lines=False) or ())
            if logged
            else None
        )
        return runs or _one_plan(None, text_field)
    if not lines and has_too_many_json_calls(text, DEFAULT_LIMITS):  # data of them all would fill memory
        return _one_plan(None, text_field)
    try:
        data, end = decode(text, start)
        complete = skip_whitespace(text, end) == len(text)
    except (ValueError, RecursionError):
        data, complete = None, False
    if complete:
        if not lines and _is_one_plan(data):
            return _one_plan(data, text_field, whole=True)
        contents = split_json_value(data, text_field, lines=lines)
        are_named = lines and contents.many
        return contents._replace(items=_set_record_naming(contents.items)) if are_named else contents
    if not lines and has_too_many_calls(
        text, DEFAULT_LIMITS
    ):  # no record: an object for each call would fill memory
        return _one_plan(None, text_field)
    items = _split_several_values(text, start, text_field, lines=lines)
    runs = _split_traces(items) if items else None
    if runs is not None:
        return runs
    if items is None:
        return _one_plan(data, text_field)
    records = unfold_items(items, text_field)
    return FileItems(records or (_set_record_naming(items) if lines else items))


def _one_plan(data: Any, text_field: str | None, *, whole: bool = False) -> FileItems:
    """A file that is one plan, and the value that its text is, or begins with."""
    return FileItems([Item(data, shape_of(data, text_field))], many=False, whole=whole)


def _set_record_naming(items: Sequence[Item]) -> list[Item]:
    """Records of lines: also of one that is a lone call the id is the record's."""
    return list(map(name_record, items))


def name_record(item: Item) -> Item:
    """The record of a line."""
    if item.shape.named is isinstance(item.data, dict):
        return item
    return item._replace(shape=item.shape._replace(named=not item.shape.named))


def _split_several_values(text: str, start: int, text_field: str | None, *, lines: bool) -> list[Item] | None:
    """The records of a text that is not one JSON value; None where it is a plan."""
    signed = any(sign in text for sign in QUOTED_SPAN_KEYS)
    lined = _split_lines(text, text_field, lines=lines) if signed else None
    if signed and _are_unlikely_lines(lined):
        spans = line_objects(text, start)
        good = sum(item.error is None for item in spans)
        # Between two objects words are one piece; a lone span may stand in a model's words.
        has_many = good > 1 or (good == 1 and _split_traces(spans) is not None)
        if has_many and good * 2 + 1 >= len(spans) and (_are_spans(spans) or _are_mostly_trace_spans(spans)):
            return spans
    if text[start : start + 1] == "[":
        array = elements(text, start, text_field)
        if array is not None and (_are_records(array) or _are_spans(array)):
            return None if text_field is None and _are_broken_parts(array) else array
    items = lined if signed else _split_lines(text, text_field, lines=lines)
    if (
        _are_unlikely_lines(items)
        and text[start : start + 1] == "{"
        and line_item(1, text[start:].partition("\n")[0]).error
    ):
        # Objects over several lines, or several on one.
        objects = sequence(text, start, text_field)
        faults = sum(item.error is not None for item in objects)
        # Where the name promises lines, few faults must be left before the lines are not taken as such.
        few = faults * 10 <= len(objects) or faults == 1 if lines else True
        items = objects if len(objects) - faults > 1 and few and _are_separate(objects) else items
    return items


_CALL_TEXT = lazy_pattern(r"\s*+[^\W\d][\w.\-]*+\((?:.*\))?\s*+", re.S)


_PLAN_TEXT = lazy_pattern(
    r"\s*+(?:[\[{]|(?:[^\W\d]\w*+\s*+=\s*+)?+(?:await\b\s*+)?+[^\W\d][\w.\-]*+\().*[)\]}]\s*+", re.S
)
"""A text that begins as calls do, and ends as they do."""


def _are_unlikely_lines(items: Sequence[Item] | None) -> bool:
    """Whether a text is more likely something else than these lines."""
    return items is None or sum(item.error is not None for item in items) * 2 > len(items)


def _is_one_plan(data: Any) -> bool:
    """Whether a file is one plan: objects keyed by tools, texts that are calls, LangGraph's pairs."""
    if not isinstance(data, list) or not data:
        return False
    if drop_metadata(data) is not data or all(drop_metadata(item) is not item for item in data):
        return True
    if all(isinstance(item, str) for item in data):
        return all(map(_CALL_TEXT.fullmatch, data))
    remaining, passed = find_call_candidates(data)
    if remaining and all(map(may_be_keyed_call, remaining)):  # one key to a call is an id, not a tool
        return any(is_keyed_call_list([v]) for v in remaining) and not any(
            is_call(v) for item in remaining for v in item.values()
        )
    return bool(passed) and bool(remaining) and all(map(is_call, remaining))


def _are_spans(items: Sequence[Item]) -> bool:
    """Whether all that can be read among items are spans of traces."""
    good = [item.data for item in items if item.error is None]
    return bool(good) and all(isinstance(data, dict) and is_span(data) for data in good)


def _are_broken_parts(items: Sequence[Item]) -> bool:
    """Whether what an array holds is one message's content, of which a part is broken."""
    broken = "".join(item.text for item in items if item.error is not None)
    return are_parts([item for item in items if item.error is None], broken)


def _are_records(items: Sequence[Item]) -> bool:
    """Whether at least half of what was found are records; what is broken counts against it."""
    good = sum(item.error is None and (isinstance(item.data, list) or item.shape.holds) for item in items)
    return good > 0 and good * 2 >= len(items)


def _are_separate(items: Sequence[Item]) -> bool:
    """Whether objects in a row are records, or answers and plans of which each is one by itself."""
    good = [item for item in items if item.error is None]
    return _are_records(items) or (all(item.shape.named for item in good) and not _is_plan(good))


def split_json_value(data: Any, text_field: str | None = None, *, lines: bool = False) -> FileItems:
    """The records of one JSON value, or the one plan that it is.

    Args:
        data: The value.
        text_field: The field that holds a record's plan, where the user named it.
        lines: The file's name says that it holds a record a line.
    """
    inner = data
    if isinstance(data, str) and data[:1] == "{":  # as Google's ADK wrote results, as JSON of JSON
        with suppress(ValueError, RecursionError):
            inner, _ = decode(data, 0)
    items = [Item(value) for value in inner] if isinstance(inner, list) else [Item(inner)]
    records = unfold_items(items, text_field, alone=isinstance(data, dict) and not lines)
    return _split_plain_json_value(data, text_field, lines=lines) if records is None else FileItems(records)


def _split_plain_json_value(data: Any, text_field: str | None, *, lines: bool) -> FileItems:
    """As :func:`split_json_value`, of a value that no framework has written."""
    if isinstance(data, list) and data:
        items = [Item(item, shape_of(item, text_field)) for item in data]
        runs = _split_traces(items)
        if runs is not None and runs.many:
            return runs
        if runs is None and not _is_plan(items) and not (text_field is None and are_parts(items)):
            return FileItems(items)
    root = Item(data, shape_of(data, text_field))
    runs = _split_traces([root]) if isinstance(data, dict) and is_span(data) else None
    if runs is not None and (runs.many or lines):
        return runs
    if isinstance(data, dict) and root.shape.call and lines:
        return FileItems([root])
    if isinstance(data, dict) and not root.shape.call:
        holds = root.shape.holds
        has_plan_field = not PLAN_FIELDS.isdisjoint(data) or has_field(data, text_field)
        if holds and not has_plan_field and not any(key in data for key in ID_FIELDS):
            pairs = data.pairs if isinstance(data, RepeatedKeyDict) else data.items()
            items = [Item(value, shape_of(value, text_field), key=key) for key, value in pairs]
            if _are_plans(items) and field_names().isdisjoint(data) and not _is_notation(data):
                return FileItems(items)
        listed = any(isinstance(data.get(key), list) for key in CALL_LIST_FIELDS) and not has_field(
            data, text_field
        )
        if lines or (holds and has_plan_field and not listed and not has_null_calls(data)):
            return FileItems([root])
    if lines and not isinstance(data, (str, list, dict)):
        return FileItems([root])  # a line of a number or null is a record without a plan, no text
    return FileItems([root], many=False, whole=True)


def unfold_items(items: Sequence[Item], text_field: str | None, *, alone: bool = False) -> list[Item] | None:
    """Items with the records that some of them hold, which a framework has written; None where none is such.

    Args:
        items: The items.
        text_field: The field that holds a record's plan, where the user named it: a record that has it stays.
        alone: They are a whole file; one that is itself a plan is read as one.
    """
    nested = [None if has_field(item.data, text_field) else unfold(item.data) for item in items]
    if alone:
        nested = [None if records and are_one_plan(records) else records for records in nested]
    if all(records is None for records in nested):
        return None
    unfolded: list[Item] = []
    for item, records in zip(items, nested, strict=True):
        if records is not None:
            unfolded += [Item(record, RECORD_SHAPE, item.line) for record in records]
        else:
            unfolded.append(item if item.error else item._replace(shape=shape_of(item.data, text_field)))
    spans, other_items = [], []
    for item in unfolded:
        if isinstance(item.data, FrameworkRecord) and is_trace_record(item.data):
            spans.append(item.data)
        else:
            other_items.append(item)
    return [*(Item(trace, RECORD_SHAPE) for trace in group_runs(spans)), *other_items]


def _is_notation(data: JsonObject) -> bool:
    """Whether an object is as a whole a plan in some notation, TaskBench's nodes and links for one."""
    from planner_eval.reading.dialects.detect import detect_data

    return detect_data(data).dialect != "json"


def _are_plans(items: Sequence[Item]) -> bool:
    """Whether what ids lead to are plans, all data or all texts; a few may be missing, or words."""
    values = [item.data for item in items if item.data not in (None, "")]
    if len(values) > 1 and all(isinstance(value, str) and _PLAN_TEXT.fullmatch(value) for value in values):
        return True
    plans = [item.data for item in items if _looks_like_plan(item)]
    other_values = [item.data for item in items if not _looks_like_plan(item)]
    texts = sum(isinstance(plan, str) for plan in plans)
    certain = bool(texts) or all(isinstance(plan, dict) or holds_call(plan) or plan == [] for plan in plans)
    missing = all(value in (None, "") or (certain and isinstance(value, str)) for value in other_values)
    return len(plans) > len(other_values) and texts in (0, len(plans)) and missing


def _looks_like_plan(item: Item) -> bool:
    data = item.data
    if isinstance(data, dict):
        return not item.shape.holds or any(isinstance(data.get(key), list) for key in CALL_LIST_FIELDS)
    return isinstance(data, list) or (isinstance(data, str) and data.lstrip()[:1] in ("[", "{"))


def _split_lines(text: str, text_field: str | None, *, lines: bool) -> list[Item] | None:
    """JSON lines of records, or None when the text is something else."""
    if "\r" in text:  # in JSON a bare one is white space too; in a file of lines it ends one
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    items = [line_item(n, line, text_field) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    good = [item for item in items if item.error is None]
    if not lines and (len(items) < 2 or len(good) * 2 < len(items)):
        return None
    if not lines and items[0].error is not None and sum(isinstance(i.data, (dict, list)) for i in good) < 2:
        return None
    plan = not lines and bool(good) and _is_plan(good) and not any(is_message(item.data) for item in good)
    return None if plan or not items else items


def line_item(number: int, text: str, text_field: str | None = None) -> Item:
    """The value of one line.

    >>> line_item(3, '{"id": 1,').error.reason
    'the line is not JSON: column 10: expecting property name enclosed in double quotes'
    """
    start = skip_whitespace(text, 0)
    try:
        data, end = decode(text, start)
    except (ValueError, RecursionError) as error:
        return Item(None, line=number, error=decoding_error(error, "the line is not JSON", 0), text=text)
    if end < len(text):
        end = skip_whitespace(text, end)
        if text[end : end + 1] == ",":  # as in an array; the record is there all the same
            end = skip_whitespace(text, end + 1)
    if end < len(text):
        excerpt = text[end : end + 20]
        reason = f"the line is not JSON: column {end + 1}: expected the end of the line, found {excerpt!r}"
        return Item(None, line=number, error=ParseError(reason), text=text)
    return Item(data, shape_of(data, text_field), number)


def _is_plan(items: Sequence[Item]) -> bool:
    """Whether JSON values are the calls or messages of one plan, not records that hold plans."""
    if not all(isinstance(item.data, dict) and not isinstance(item.data, TableRow) for item in items):
        return False
    if all(map(may_be_call, items)):
        speakers = [item.data.get("role", item.data.get("from", item.data.get("type"))) for item in items]
        spoken = [
            item.data
            for item, who in zip(items, speakers, strict=True)
            if not item.shape.call and isinstance(who, str) and who in ASSISTANT_ROLES
        ]
        answers = {id_text(data.get("id")) for data in spoken} - {None}
        # As many models' answers, not one conversation.
        many_answers = (
            len(items) > 1
            and len(spoken) == len(items)
            and (len(answers) == len(items) or all("stop_reason" in data for data in spoken))
        )
        return not (many_answers or all(item.shape.holds for item in items))
    # Among calls, an object without any field that may hold a plan is a broken call.
    return any(item.shape.call for item in items) and PLAN_FIELDS.isdisjoint(
        key for item in items for key in item.data
    )


_MESSAGE_MARKERS = ("from", "data", "kwargs", "parts")
"""By which a message in a framework's form is known."""


def may_be_call(item: Item) -> bool:
    """Whether an object may be a call or a message of a plan."""
    markers = (*_MESSAGE_MARKERS, "raw_item", "type")
    return item.shape.call or "role" in item.data or find_marker_key(item.data) in markers


def is_message(data: JsonObject) -> bool:
    """Whether an object is a message: in lines each is a record."""
    return "role" in data or find_marker_key(data) in _MESSAGE_MARKERS or data.get("type") in ASSISTANT_ROLES


def _split_traces(items: Sequence[Item]) -> FileItems | None:
    """Spans as the plans of their traces; None where the items are no spans, or models' answers alone."""
    if not _are_spans(items) and not _are_mostly_trace_spans(items):
        return None
    span_items = [item for item in items if item.error is None and _is_span(item)]
    other_items = [_reject_non_span(item) for item in items if item.error is not None or not _is_span(item)]
    data = [item.data for item in span_items]
    spans = spans_in(data)
    if not has_tool_run(spans) and not are_linked(spans) and not has_agent_run(data):
        return None
    if other_items and not all(id_of(span) and trace_id_of(span) for span in spans):
        return None  # of what is broken a part may look like a span
    runs: dict[str | None, list[JsonObject]] = {}
    lines: dict[str | None, int | None] = {}
    names: dict[str | None, str | None] = {}
    for item in span_items:
        for name, run in group_by_trace([item.data]).items():
            trace = names.setdefault(normalize_id(name), name)
            runs.setdefault(trace, []).extend(run)
            lines.setdefault(trace, item.line)
    if len(runs) == 1 and not other_items:
        return FileItems([Item(unwrap_single(data))], many=False)
    return FileItems(
        [*(Item(run, line=lines[trace], key=trace) for trace, run in runs.items()), *other_items]
    )


def _is_span(item: Item) -> bool:
    return isinstance(item.data, dict) and is_span(item.data)


def is_trace_span(item: Item) -> bool:
    """Whether a value is a span that names its trace, or holds such."""
    if not _is_span(item):
        return False
    spans = spans_in(item.data)
    return bool(spans) and all(id_of(span) and trace_id_of(span) for span in spans)


def _are_mostly_trace_spans(items: Iterable[Item]) -> bool:
    """Whether at least half of the first values among items are spans of traces; others are none.

    Of a large file no more is looked at, see :mod:`planner_eval.reading.files.items`.
    """
    head = list(islice((item for item in items if item.error is None), HEAD_SIZE))
    return bool(head) and sum(map(is_trace_span, head)) * 2 >= len(head)


def _reject_non_span(item: Item) -> Item:
    """What stands among spans and is none, as a record that cannot be read."""
    if item.error is not None:
        return item
    if isinstance(item.data, dict):
        description = f"an object with {', '.join(map(repr, list(item.data)[:3])) or 'no fields'}"
    else:
        description = one_line_json(item.data, 40)
    error = ParseError(f"found {description} among spans, expected a span of a trace", code="parse.shape")
    named = id_text(item.data.get("id")) if isinstance(item.data, dict) else None
    return Item(None, line=item.line, error=error, key=named)


def has_null_calls(data: Mapping[str, Any]) -> bool:
    """Whether an object lists its calls and has null there: no call was made."""
    return any(key in data and data[key] is None for key in CALL_LIST_FIELDS) and "role" not in data
