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
    found: Iterable[Record]
    if is_stored(file.records):
        found = file.records.nameless(field)
    else:
        found = (one for one in file.records if one.id is None)
    count, first, value = 0, None, None
    for record in found:
        held = value_at(record.fields, field)
        if held is not ABSENT and held is not None:
            count += 1
            first, value = (record, held) if first is None else (first, value)
    if first is not None:
        place = first.where.removeprefix(f"{file.name}, ")
        yield (
            f"{file.name}: the {field!r} of {counted(count, 'record')} names none, the first is {place}: "
            f"{shown(value, 40)}; expected a text that is not empty, or a whole number. A record without "
            "such an id belongs to none of the other file"
        )


def taken(named: Sequence[Record], lacking: Sequence[Record], side: str = "record") -> Iterator[str]:
    """That an id is what a record without one is called, of the first that is.

    Args:
        named: Records of which some have ids.
        lacking: Records of which some have none.
        side: Which these are, as :class:`.ids.Place` says it.

    >>> made = Record("a", 0, "record 2", "f()"), Record("a", 1, None, "g()")
    >>> next(taken(made, made)).partition(":")[0]
    "a, record 2 has no id and is called 'record 2', which is the id of a, record 1 (id record 2)"
    """
    places = {} if is_stored(lacking) else {one.position: one for one in lacking if one.id is None}
    if not (places or is_stored(lacking)):
        return
    for record in _beginning(named, f"{side} "):
        place = place_of(str(record.id))
        if place is None:
            continue
        if is_stored(lacking):
            other = lacking[place.position] if place.position < len(lacking) else None
        else:
            other = places.get(place.position)
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
    return (one for one in records if one.id is not None and one.id.startswith(text))


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
    found: dict[str, None] = {}
    for record in records:
        if record.id is not None:
            found[record.id] = None
        if len(found) > 3:
            break
    return list(found)


def _broken(file: PlanFile) -> str:
    """That records of a file have no certain id, for they are broken, and why the first of them is."""
    if not file.many:
        return _unread(file.records[0])
    broken = _unreadable(file.records)
    if not broken:
        return ""
    first, reason = broken[0], broken[0].error
    assert reason is not None
    said = f"{len(broken):,} of its {counted(len(file.records), 'record')} could not be read"
    return f" ({said}; the first is {first.where.removeprefix(file.name + ', ')}: {reason.reason})"


def _unreadable(records: Sequence[Record]) -> Sequence[Record]:
    if is_stored(records):
        return records.broken()
    return [one for one in records if one.error and not one.fields and one.error.code != "parse.empty"]


def _unread(record: Record) -> str:
    """That a file which is one plan is none that can be read."""
    try:
        read_plan(record)
    except ParseError as error:
        return f" (it could not be read: {error.brief})"
    return ""
