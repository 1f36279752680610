"""What is decided once a file, from its first records, and how each of its items then becomes a record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, product
from typing import Any, TypeAlias

from planner_eval.base.errors import InputError, ParseError, strip_traceback
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import JsonObject
from planner_eval.reading.dialects.conversations.vendors import JOIN_ADVICE, is_streamed
from planner_eval.reading.files.broken_json import find_id
from planner_eval.reading.files.fields import (
    ABSENT,
    CALL_LIST_FIELDS,
    EXPECTED_CONTENT,
    FIELD_OPTION,
    GOLD_FIELDS,
    HEAD_SIZE,
    ID_FIELDS,
    ID_OPTION,
    Role,
    candidate_fields,
    choose_content,
    choose_id,
    has_field,
    id_text,
    value_at,
)
from planner_eval.reading.files.frameworks import most_common_framework, parse_literal
from planner_eval.reading.files.record import VERDICT_FIELDS, Record
from planner_eval.reading.files.shapes import (
    ChosenFields,
    Item,
    is_answer_beside_gold,
    shape_among,
    take_plan,
)

# ----------------------------------------------------------------------
# Fields that list the values or calls that are right as well.
ACCEPTED_VALUE_FIELDS = ("ground_truth", "possible_answer")
"""The fields that such gold stands in."""

FORM_NOTE = (
    "each argument in {field!r} is a list: read as accepted values, as in BFCL, where an empty text makes "
    "the argument optional; to read lists as they are, rename the field"
)
"""What the user is told of a file of such gold."""
_MAX_OPTIONS = 256
"""How many values one argument may have that are written as lists inside of an object."""


class AcceptedValuesForm(NamedTuple):
    """Whether a file's gold lists accepted values, as most of its records show, and which record breaks that.

    Args:
        lists: Most records that have arguments give a list for each of them.
        listing: How many do.
        broken: How many do not.
        first: The position of the first of these among the records.
    """

    lists: bool
    listing: int
    broken: int
    first: int | None

    def notes(self, field: str) -> Iterator[str]:
        """What the user is told of it.

        Args:
            field: The field of the gold plans.
        """
        if self.lists:
            yield FORM_NOTE.format(field=field)
        if self.lists and self.first is not None:
            verb = "has" if self.broken == 1 else "have"
            yield (
                f"{self.broken:,} of {self.listing + self.broken:,} records {verb} values in {field!r} that "
                f"are not lists (first: record {self.first + 1}): each is taken as the only accepted value"
            )
        elif self.listing and self.broken:
            yield (
                f"{self.listing:,} of {self.listing + self.broken:,} records give a list for each argument "
                f"in {field!r}, as BFCL lists accepted values, but the others do not: all are read as written"
            )


def detect_form(records: Iterable[tuple[int, Mapping[str, Any]]], field: str) -> AcceptedValuesForm:
    """Whether most records of a file that have arguments list the accepted values of each.

    Args:
        records: The file's records, each with its position.
        field: The field of the gold plans.

    >>> detect_form(enumerate([{"gold": [{"f": {"a": [1]}}]}, {"gold": []}]), "gold").lists
    True
    >>> detect_form(enumerate([{"gold": {"f": {"a": [1]}}}] * 2 + [{"gold": {"f": {"a": 1}}}]), "gold")
    AcceptedValuesForm(lists=True, listing=2, broken=1, first=2)
    """
    listing = broken = 0
    first = None
    for position, record in records:
        calls = calls_by_tool(record.get(field))
        values = [value for _, arguments in calls or () for value in arguments.values()]
        if calls is not None and all(isinstance(value, list) for value in values):
            listing += bool(values)
        else:
            broken += 1
            first = position if first is None else first
    return AcceptedValuesForm(listing > broken, listing, broken, first)


def calls_by_tool(value: Any) -> list[tuple[str, JsonObject]] | None:
    """The calls of a plan that are objects from a tool's name to its arguments; None where one is not.

    Args:
        value: The plan as data, or as the text of a cell that holds it.

    >>> calls_by_tool([{"f": {"a": [1]}}]), calls_by_tool("[{'f': {'a': [1]}}]")
    ([('f', {'a': [1]})], [('f', {'a': [1]})])
    """
    calls = []
    value = _cell_data(value)
    for item in value if isinstance(value, list) else [] if value is None else [value]:
        call = _cell_data(item)
        if not isinstance(call, dict) or len(call) != 1:
            return None
        ((name, arguments),) = call.items()
        if not isinstance(arguments, dict):
            return None
        calls.append((name, arguments))
    return calls


def _cell_data(value: Any) -> Any:
    """A value, or the data whose text it is: a cell of a table holds no other."""
    if not (isinstance(value, str) and value.lstrip().startswith(("[", "{"))):
        return value
    data = parse_literal(value)
    return value if data is ABSENT else data


class ExpandedCalls(NamedTuple):
    """Calls with one right value each, and what else is right, as fields of a gold record."""

    calls: list[JsonObject]
    fields: JsonObject


def expand_calls(by_tool: Iterable[tuple[str, JsonObject]]) -> ExpandedCalls:
    """The calls with one right value each, and what else is right, as the fields of a gold record.

    Args:
        by_tool: For each call its tool, and from argument to the list of right values; a value that is no
            list is the only right one.

    Raises:
        ParseError: an argument's nested lists stand for too many values.

    >>> expand_calls([("f", {"a": [1, 2], "b": ["x", ""], "c": 3})])[0]
    [{'name': 'f', 'arguments': {'a': 1, 'b': 'x', 'c': 3}}]
    >>> expand_calls([("f", {"a": [1, 2], "b": ["x", ""]})])[1]
    {'accepted': {'c1': {'a': [2], 'b': ['']}}, 'omittable': {'c1': ['b']}}
    """
    calls: list[JsonObject] = []
    accepted: dict[str, dict[str, list[Any]]] = {}
    omittable: dict[str, list[str]] = {}
    for number, (name, arguments) in enumerate(by_tool, 1):
        chosen = {}
        for key, value in arguments.items():
            values = value if isinstance(value, list) else [value]
            all_values = _expand_values(values, f"{name}: {key}") or [[]]
            first, *alternatives = sorted(all_values, key=lambda v: v == "")
            chosen[key] = first
            if alternatives:
                accepted.setdefault(f"c{number}", {})[key] = alternatives
            if "" in values:
                omittable.setdefault(f"c{number}", []).append(key)
        calls.append({"name": name, "arguments": chosen})
    return ExpandedCalls(calls, {"accepted": accepted, "omittable": omittable})


def _expand_values(values: list[Any], where: str) -> list[Any]:
    """The values that a list of accepted ones stands for, those inside of objects spelled out.

    >>> _expand_values([2, [{"a": [1, 5]}, "b"]], "f: x")
    [2, [{'a': 1}, 'b'], [{'a': 5}, 'b']]
    """
    options = [option for value in values for option in islice(_expand_value(value), _MAX_OPTIONS + 1)]
    if len(options) > _MAX_OPTIONS:
        raise ParseError(f"{where} accepts more than {_MAX_OPTIONS} values", code="parse.limit")
    return options


def _expand_value(value: Any) -> Iterator[Any]:
    if isinstance(value, dict) and value and all(isinstance(item, list) and item for item in value.values()):
        for chosen in product(*(_member_options(value[key]) for key in value)):
            yield {key: member[0] for key, member in zip(value, chosen, strict=True) if member}
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        yield from map(
            list, product(*(list(islice(_expand_value(item), _MAX_OPTIONS + 1)) for item in value))
        )
    else:
        yield value


def _member_options(values: list[Any]) -> list[tuple[Any, ...]]:
    """What may stand under a key: a value, or nothing where the key may be left out."""
    members = [
        (option,)
        for value in values
        if value != ""
        for option in islice(_expand_value(value), _MAX_OPTIONS + 1)
    ]
    return [*members, ()] if "" in values else members


# ----------------------------------------------------------------------
# Which fields are read.
DecisionInputs: TypeAlias = tuple[
    tuple[str | None, str | None], Role, Mapping[str, str] | None, tuple[str | None, str | None]
]
"""What :func:`decide_fields` is told beside a file's name and items."""


class FieldDecision(NamedTuple):
    """Which fields of a file's records are what, and how an item becomes one.

    Args:
        chosen: The fields of the id and of the plan.
        form: Whether the plan of a record lists the values that are right.
        role: What the file is read as; None where a benchmark's code says which field is what.
        id_by_user: The user named the field of the id.
        framework: What the records are by the table of frameworks, in words; empty where they fit no row.
        remarks: What else is not read as it stands there.
    """

    chosen: ChosenFields
    form: AcceptedValuesForm = detect_form((), "")
    role: Role | None = None
    id_by_user: bool = False
    framework: str = ""
    remarks: tuple[str, ...] = ()

    def record(self, name: str, position: int, item: Item) -> Record:
        """The record of an item.

        Args:
            name: The file's name.
            position: The item's place in it, counted from 0.
            item: The item.
        """
        record = _build_record(name, position, item, self.chosen)
        return _expand_accepted_values(record, str(self.chosen.content)) if self.form.lists else record

    def notes(self, name: str, records: int, names: Callable[[], Mapping[str, int]]) -> tuple[str, ...]:
        """What the user is told of it.

        Args:
            name: The file's name.
            records: How many records it has.
            names: Says how many of them have a field of each name; it is counted where that tells something.
        """
        form = (f"{name}: {note}" for note in self.form.notes(str(self.chosen.content)))
        layout = [f"{name}: {self.framework}"] if self.framework else []
        remarks = (f"{name}: {remark}" for remark in self.remarks)
        return (*layout, *remarks, *form, *self._moved(name, records, names))

    def _moved(self, name: str, records: int, count: Callable[[], Mapping[str, int]]) -> Iterator[str]:
        """That a field gives way to another after the head, which decided: such records are read as without.

        Another field is told of where it stands in no more records than lack the one that was chosen.
        """
        if self.role is None:
            return
        chosen, names = self.chosen, count()
        guessed = (
            (chosen.content, chosen.by_user, candidate_fields(self.role), FIELD_OPTION, CALL_LIST_FIELDS),
            (chosen.id, self.id_by_user, ID_FIELDS, ID_OPTION, ()),
        )
        for field, by_user, candidates, option, lists in guessed:
            if field is None or by_user or field not in names:
                continue
            alternatives = [other for other in candidates if other != field]
            lacking = records - names[field] - sum(names.get(other, 0) for other in lists if other != field)
            field_counts = [(names.get(other, 0), other) for other in alternatives]
            phrases = [
                f"{other!r}, which is not, in {count:,}"
                for count, other in field_counts
                if 0 < count <= lacking
            ]
            if phrases:
                yield (
                    f"{name}: {field!r}, which is used, occurs in {names[field]:,} of {records:,} records; "
                    f"{'; '.join(phrases)} ({option[self.role]} names the field)"
                )


def decide_fields(
    name: str,
    items: Iterable[Item],
    named: tuple[str | None, str | None],
    role: Role,
    never: Mapping[str, str] | None,
    spare: tuple[str | None, str | None],
) -> FieldDecision:
    """Decide which fields of a file's records are what, see :func:`.files.read_file`.

    Args:
        name: The file's name.
        items: Its items; they may be read anew each time, so as few as will do are looked at.
        named: The fields of the id and of the plan that the user named.
        role: What the file is read as.
        never: Fields that are not to be taken for the plan.
        spare: The fields of the file beside this one.

    Raises:
        InputError: a field named is in no record, two fields may hold the plan, or none is known to.
    """
    id_field, text_field = named
    plan_records, named_records = partial(_plan_holding_records, items), partial(_named_records, items)
    if _are_stream_pieces(islice(items, HEAD_SIZE)):
        raise InputError(f"{name}: its records are pieces of a stream, not answers: {JOIN_ADVICE}")
    if id_field and not _if_present(id_field, (item.data for item in items)):
        raise InputError(f"{name}: no record has the field {id_field!r} (--field id)")
    if text_field and not _if_present(text_field, plan_records()):
        raise InputError(f"{name}: no record has the field {text_field!r} (--field text)")
    by_layout = text_field is None and never is None
    row = most_common_framework(islice(plan_records(), HEAD_SIZE)) if by_layout else None
    content = row.content(role, islice(plan_records(), HEAD_SIZE)) if row else text_field
    if row and not content:
        raise InputError(
            f"{name}: read as {row.title} ({row.name}), which hold no "
            f"{EXPECTED_CONTENT[role].split(' ', 1)[1]}; name "
            f"its field with {FIELD_OPTION[role]}"
        )
    content = content or choose_content(name, plan_records(), role, never)
    if content is None:
        content = _if_present(spare[1], plan_records())
    if content is None:
        _refuse_unknown(name, items, role)
    key = id_field or _if_present(spare[0], named_records()) or choose_id(named_records())
    # A benchmark's figures are those of its code, which looks at no field beside the answer.
    # In a framework's record `error` may tell of its own checks.
    judged = never is not None or (row is not None and not row.ended)
    answers = role != "gold" and content not in GOLD_FIELDS and not judged
    heads = list(islice(named_records(), HEAD_SIZE))
    scores = tuple(field for field in VERDICT_FIELDS if any(_is_score(head.get(field)) for head in heads))
    chosen = ChosenFields(key, content, text_field is not None, answers, scores)
    may_list = role != "answer" and never is None and content in ACCEPTED_VALUE_FIELDS
    holding = ((position, item.data) for position, item in enumerate(items) if item.shape.holds)
    form = detect_form(holding if may_list else (), str(content))
    framework = f"read as {row.title} ({row.name}){row.describe_unread(heads)}" if row else ""
    remarks = tuple(_remarks(heads, scores if role != "gold" else ()))
    judged_role = role if never is None else None
    return FieldDecision(chosen, form, judged_role, id_field is not None, framework, remarks)


def _remarks(records: Sequence[Mapping[str, Any]], scores: Iterable[str]) -> Iterator[str]:
    """What of records is not read as it stands there."""
    for field in scores:
        yield f"{field!r} holds numbers beyond 0 to 1: none of its values counts as a verdict"
    if any(getattr(record, "lost_nulls", False) for record in records):
        yield "null in an object is read as a missing key: typed columns hold it for both"


def _is_score(value: Any) -> bool:
    """Whether a value is a number that no verdict has.

    >>> [_is_score(value) for value in (5, -1, "3", 0.5, True, "yes", None)]
    [True, True, True, False, False, False, False]
    """
    try:
        number = float(str(value))
    except ValueError:
        return False
    return number < 0 or number > 1


def _if_present(field: str | None, records: Iterable[Any]) -> str | None:
    """A field that one of some records has."""
    return field if field and any(has_field(record, field) for record in records) else None


def _are_stream_pieces(items: Iterable[Item]) -> bool:
    """Whether items are the pieces of a stream, of which there are several; Ollama's last says that it is."""
    count, remaining = 0, iter(items)
    for item in remaining:
        if not is_streamed(item.data):
            is_end = isinstance(item.data, dict) and item.data.get("done") is True
            return count > 0 and is_end and next(remaining, None) is None
        count += 1
    return count > 1


def _plan_holding_records(items: Iterable[Item]) -> Iterator[JsonObject]:
    return (item.data for item in items if item.shape.holds)


def _named_records(items: Iterable[Item]) -> Iterator[JsonObject]:
    return (item.data for item in items if item.shape.named)


def _refuse_unknown(name: str, items: Iterable[Item], role: Role) -> None:
    """Refuse records of which none has a field that is known to hold a plan, and none is one itself."""
    first = next(_plan_holding_records(items), None)
    if first is None or not all(item.shape.holds for item in items):
        return
    if any(map(is_answer_beside_gold, _plan_holding_records(items))):
        return
    fields = ", ".join(map(repr, list(first)[:6])) or "no fields"
    count = sum(1 for _ in items)
    none = f"none of {count:,} records" if count != 1 else "not one record"
    raise InputError(
        f"{name}: {none} has a field known to hold "
        f"{EXPECTED_CONTENT[role]}; the first has {fields}: name it with {FIELD_OPTION[role]}"
    )


def _expand_accepted_values(record: Record, content: str) -> Record:
    """A gold record whose plan lists the values that are right as one with a plan, and with these beside."""
    if record.error is not None or record.source is None or record.fields.get(content) is not record.source:
        return record  # a call, or an answer, among records: it stands as it is
    by_tool = calls_by_tool(record.source)
    if by_tool is None:
        return record
    try:
        calls, fields = expand_calls(by_tool)
    except ParseError as error:
        return record._replace(source=None, error=error)
    return record._replace(source=calls, fields={**record.fields, **fields})


def _build_record(name: str, position: int, item: Item, chosen: ChosenFields) -> Record:
    data, shape, line, error, text, key = item
    if data is None and key is not None and error is None:
        reason = f"there is no plan: {key!r} is null"
        return Record(name, position, key, None, line, ParseError(reason, code="parse.empty"))
    if error is not None:
        return Record(name, position, key or find_id(text, chosen.id), None, line, error)
    shape = shape_among(data, shape, chosen)
    try:
        source = take_plan(data, shape, chosen)
    except ParseError as refusal:
        source, error = None, strip_traceback(refusal)
    if not shape.named:
        return Record(name, position, key, source, line, error)
    id = key or id_text(value_at(data, chosen.id))
    return Record(name, position, id, source, line, error, data, scores=chosen.scores)


def has_several_choices(answer: Mapping[str, Any], depth: int = 3) -> bool:
    """Whether an answer, or one inside of what a batch puts around it, has more than one choice.

    >>> has_several_choices({"response": {"body": {"modelOutput": {"choices": [{}, {}]}}}})
    True
    """
    if any(isinstance(answer.get(key), list) and len(answer[key]) > 1 for key in ("choices", "candidates")):
        return True
    inner = (answer.get(key) for key in ("response", "body", "modelOutput"))
    return depth > 0 and any(
        isinstance(value, dict) and has_several_choices(value, depth - 1) for value in inner
    )
