"""What is said of two files that share no id, of ids that are none, and of those that are another's name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from planner_eval.base.errors import PairingError, ParseError
from planner_eval.base.text import counted, shown
from planner_eval.records.fields import ABSENT, value_at
from planner_eval.records.files import PlanFile, Record
from planner_eval.records.ids import place_of
from planner_eval.records.plans import read_plan
from planner_eval.records.storing import is_stored


def strangers(pred: PlanFile, gold: PlanFile) -> PairingError:
    """The error of two files that share no id: which ids they have, and whether records are broken.

    Args:
        pred: The predictions.
        gold: The gold plans.

    >>> one = PlanFile("a", (Record("a", 0, "x", "f()"),), True)
    >>> str(strangers(one, PlanFile("b", (Record("b", 0, "y", "f()"),), True))).partition(". --")[0]
    "no id is in both files: a has 'x'; b has 'y'"
    """
    return PairingError(
        f"no id is in both files: {_some(pred, gold)}; {_some(gold, pred)}. --id-field "
        "names the field of the id; --pair position pairs the records in their order"
    )


def no_ids(file: PlanFile, field: str | None = None) -> Iterator[str]:
    """That the field of the id holds in some records what names none: they are as records without an id.

    Args:
        file: The file.
        field: The field of the id, where the file has none of its own.

    >>> made = (Record("a", 0, "x", "f()", 1), Record("a", 1, None, "g()", 2, fields={"id": True}))
    >>> next(no_ids(PlanFile("a", made, True, id_field="id"))).partition(";")[0]
    "a: the 'id' of 1 record names none, the first is line 2, record 2: true"
    """
    field = file.id_field or field
    if field is None or not file.many:
        return
    records: Iterable[Record]
    if is_stored(file.records):
        records = file.records.nameless(field)
    else:
        records = (record for record in file.records if record.id is None)
    count, first, value = 0, None, None
    for record in records:
        field_value = value_at(record.fields, field)
        if field_value is not ABSENT and field_value is not None:
            count += 1
            first, value = (record, field_value) if first is None else (first, value)
    if first is not None:
        where = first.where.removeprefix(f"{file.name}, ")
        yield (
            f"{file.name}: the {field!r} of {counted(count, 'record')} names none, the first is {where}: "
            f"{shown(value, 40)}; expected a text that is not empty, or a whole number. A record without "
            "such an id belongs to none of the other file"
        )


def taken(named: Sequence[Record], lacking: Sequence[Record], kind: str = "record") -> Iterator[str]:
    """That an id is what a record without one is called, of the first that is.

    Args:
        named: Records of which some have ids.
        lacking: Records of which some have none.
        kind: Which these are, as :class:`.ids.Place` says it.

    >>> made = Record("a", 0, "record 2", "f()"), Record("a", 1, None, "g()")
    >>> next(taken(made, made)).partition(":")[0]
    "a, record 2 has no id and is called 'record 2', which is the id of a, record 1 (id record 2)"
    """
    lacking_by_position = (
        {} if is_stored(lacking) else {record.position: record for record in lacking if record.id is None}
    )
    if not (lacking_by_position or is_stored(lacking)):
        return
    for record in _beginning(named, f"{kind} "):
        location = place_of(str(record.id))
        if location is None:
            continue
        if is_stored(lacking):
            other = lacking[location.position] if location.position < len(lacking) else None
        else:
            other = lacking_by_position.get(location.position)
        if other is not None and other.id is None:
            yield (
                f"{other.where} has no id and is called {record.id!r}, which is the id of {record.where}: "
                "both have that name in what is told of them; give each record an id"
            )
            return


def _beginning(records: Sequence[Record], text: str) -> Iterable[Record]:
    """The records whose ids begin with a text."""
    if is_stored(records):
        return records.beginning(text)
    return (record for record in records if record.id is not None and record.id.startswith(text))


def _some(file: PlanFile, other: PlanFile) -> str:
    ids = _first_ids(file.records)
    wrong = next(no_ids(file, other.id_field), None) if not ids else None
    if wrong is not None:
        return wrong
    if not ids and not file.many:
        return f"{file.name} is one plan without an id{_broken(file)}"
    if not ids:
        return f"{file.name} has none{_broken(file)}"
    more = ", …" if len(ids) > 3 else ""
    return f"{file.name} has {', '.join(map(repr, ids[:3]))}{more}{_broken(file)}"


def _first_ids(records: Iterable[Record]) -> list[str]:
    """The first ids, one more than are shown."""
    ids: dict[str, None] = {}
    for record in records:
        if record.id is not None:
            ids[record.id] = None
        if len(ids) > 3:
            break
    return list(ids)


def _broken(file: PlanFile) -> str:
    """That records of a file have no certain id, for they are broken, and why the first of them is."""
    if not file.many:
        return _unread(file.records[0])
    broken = _unreadable(file.records)
    if not broken:
        return ""
    first, reason = broken[0], broken[0].error
    assert reason is not None
    sentence = f"{len(broken):,} of its {counted(len(file.records), 'record')} could not be read"
    return f" ({sentence}; the first is {first.where.removeprefix(file.name + ', ')}: {reason.reason})"


def _unreadable(records: Sequence[Record]) -> Sequence[Record]:
    if is_stored(records):
        return records.broken()
    return [record for record in records if record.is_broken]


def _unread(record: Record) -> str:
    """That a file which is one plan is none that can be read."""
    try:
        read_plan(record)
    except ParseError as error:
        return f" (it could not be read: {error.brief})"
    return ""
