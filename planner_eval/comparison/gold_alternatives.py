"""Gold that allows more than one answer: alternative plans, optional calls, precedences, more values.

A gold record may have, beside its plan, the fields

    "alternatives": [plan, …]           other plans that are as right, each a plan or a record like this
    "optional": ["c3"]                  calls that need not be made, by id
    "before": [["c1", "c4"]]            the first must be written before the second
    "unordered": [["c1", "c2"]]         groups without order, where the policy asks for written order
    "accepted": {"c1": {"city": [..]}}  values that are right besides gold's own
    "omittable": {"c1": ["unit"]}       arguments that need not be given
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import close_names, did_you_mean, format_count
from planner_eval.comparison.policy.policy import NO_TERMS, Policy, Terms
from planner_eval.plan.canonical import OWN_POSITIONS, value_key
from planner_eval.plan.model import Call, Plan, Value
from planner_eval.reading.dialects.conversations.messages import format_value
from planner_eval.reading.dialects.finding.whole_texts import is_prose
from planner_eval.reading.dialects.read import parse
from planner_eval.reading.files.fields import choose_content, non_null_fields
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.record import (
    GOLD_COMPANION_FIELDS,
    GOLD_TERMS,
    JoinedTurns,
    Record,
    is_stored,
    read_plan,
)

_MISSPELLING_LIKENESS = 0.9
"""How alike a field's name and one of ours are that is meant to be it: ``options`` is another word."""


class Gold(NamedTuple):
    """What counts as right for one sample.

    Args:
        plans: The acceptable plans, each with what it leaves open; the first is the main one.
    """

    plans: tuple[tuple[Plan, Terms], ...]

    @property
    def plan(self) -> Plan:
        """The main plan."""
        return self.plans[0][0]


def gold_warnings(file: PlanFile) -> tuple[str, ...]:
    """What in a file of gold plans may not say what its author meant: words for plans, misspelt fields.

    >>> gold_warnings(PlanFile("g.jsonl", (Record("g.jsonl", 0, None, "It is sunny."),), True, "expected"))
    ('g.jsonl: 1 of 1 gold plans is prose without calls and does not count as a plan; \
the first is record 1, "It is sunny."; choose another field with --field gold.text=NAME',)
    """
    if file.published:
        return ()
    return (*describe_prose_plans(file), *_find_misspelt_fields(file))


def describe_prose_gold(source: Any, plan: Plan) -> str | None:
    """That words which call nothing stand where one plan was wanted; None where they do not.

    Words are an answer that calls nothing, but as gold they may be a slip: an empty list says no call.

    Args:
        source: What the plan was read from.
        plan: The plan.

    >>> describe_prose_gold("to be done", parse("to be done"))
    '"to be done" holds no call: a gold plan without calls is written []'
    >>> describe_prose_gold("[]", parse("[]"))
    """
    if plan.calls or plan.answer is not None or isinstance(source, (Plan, JoinedTurns)):
        return None
    from planner_eval.reading.dialects.finding.answers import is_empty_call_list

    if is_empty_call_list(source):
        return None
    return f"{format_value(_strip_text(source))} holds no call: a gold plan without calls is written []"


def _strip_text(source: Any) -> Any:
    return source.strip() if isinstance(source, str) else source


def is_prose_gold(record: Record) -> bool:
    """Whether words that call nothing stand where a record's gold plan was wanted.

    Args:
        record: The record, whose plan need not be read for this.

    >>> (
    ...     is_prose_gold(Record("g.jsonl", 0, None, "It is sunny.")),
    ...     is_prose_gold(Record("g.jsonl", 0, None, "[]"))
    ... )
    (True, False)
    """
    if not isinstance(record.source, (str, list)) or record.dialect is not None:
        return False
    return is_prose(record.source)


def describe_prose_plans(file: PlanFile, option: str = "--field gold.text") -> Iterator[str]:
    """How many gold plans of a file are words that call nothing, in words; nothing where none is.

    Args:
        file: The file.
        option: The option that names the field of the plans.
    """
    records = file.records.words() if is_stored(file.records) else file.records
    prose_records = (record for record in records if is_prose_gold(record))
    first = next(prose_records, None)
    if first is not None:
        count = 1 + sum(1 for _ in prose_records)
        verbs = ("is", "does") if count == 1 else ("are", "do")
        where = first.where.removeprefix(f"{first.file}, ")
        named = f"; choose another field with {option}=NAME" if file.content else ""
        yield (
            f"{file.name}: {count:,} of {len(file.records):,} gold plans {verbs[0]} prose without "
            f"calls and {verbs[1]} not count as a plan; the first is {where}, "
            f"{format_value(_strip_text(first.source))}{named}"
        )


def _find_misspelt_fields(file: PlanFile) -> Iterator[str]:
    names: Mapping[str, int]
    if is_stored(file.records):
        names = file.records.names()
    else:
        fields = (name for record in file.records for name in non_null_fields(record.fields))
        names = Counter(name for name in fields if isinstance(name, str))
    for name, count in names.items():
        close = _find_intended_field(name)
        if close is not None:
            message = f"the key {name!r} is unknown beside gold ({format_count(count, 'record')})"
            yield f"{file.name}: {message}; did you mean {close!r}?"


def _find_intended_field(name: str) -> str | None:
    """The field beside gold whose name is nearly this one, which says nothing."""
    close = (
        close_names(name, GOLD_COMPANION_FIELDS, 1, cutoff=_MISSPELLING_LIKENESS)
        if name not in GOLD_COMPANION_FIELDS
        else ()
    )
    return close[0] if close else None


def read_gold(
    record: Record, *, dialect: str | None = None, compute: str | None = None, known: Plan | None = None
) -> Gold:
    """The gold plans of a record.

    Args:
        record: The record.
        dialect: As for :func:`planner_eval.reading.dialects.read.parse`.
        compute: Likewise.
        known: The record's own plan, where its text was read already.

    Raises:
        ParseError: the record's own plan, or an alternative, cannot be read, or is words that call nothing.
        InputError: a term names a call that the plan does not have, or is of the wrong shape.
    """
    plan = known if known is not None else read_plan(record, dialect=dialect, compute=compute)
    words = describe_prose_gold(record.source, plan) if record.dialect is None else None
    if words is not None:  # else any words would be right
        raise ParseError(words, code="parse.empty")
    if not any(name in record.fields for name in GOLD_COMPANION_FIELDS):
        return Gold(((plan, NO_TERMS),))
    _check_gold_fields(record.fields, record.where)
    plans = [(plan, terms_of(record.fields, plan, record.where))]
    for number, item in enumerate(record.fields.get("alternatives", ()), 1):
        where = f"{record.where}, alternative {number}"
        field = choose_content(where, [item], "gold") if _is_record(item) else None
        source = item if field is None else item[field]
        try:
            other = parse(source, dialect=dialect, compute=compute, infer=record.infer)
        except ParseError as error:
            error.reason = f"alternative {number}: {error.reason}"
            raise
        words = describe_prose_gold(source, other)
        if words is not None:
            raise ParseError(f"alternative {number}: {words}", code="parse.empty")
        plans.append((other, terms_of(item if isinstance(item, dict) else {}, other, where)))
    return Gold(tuple(plans))


def read_gold_strictly(record: Record) -> Gold:
    """The gold plans of a record where nobody is told of a doubt: what may be a slip is refused.

    Args:
        record: The record.

    Raises:
        ParseError: as for :func:`read_gold`.
        InputError: likewise; or a field's name is nearly one that says what else is right.

    >>> read_gold_strictly(Record("g.jsonl", 0, None, "f()", fields={"gold": "f()", "alternative": ["g()"]}))
    Traceback (most recent call last):
    planner_eval.base.errors.InputError: g.jsonl, record 1: 'alternative' is unknown beside gold; \
did you mean 'alternatives'?
    """
    gold = read_gold(record)
    for name in non_null_fields(record.fields):
        close = _find_intended_field(name)
        if close is not None:
            raise InputError(f"{record.where}: {name!r} is unknown beside gold; did you mean {close!r}?")
    return gold


def _check_gold_fields(fields: Mapping[str, Any], where: str) -> None:
    """Check what stands beside a plan, alternatives and what stands beside them included."""
    gold_fields = {name: fields[name] for name in GOLD_COMPANION_FIELDS if name in fields}
    if gold_fields:
        from planner_eval.reading.schemas import GoldRecord

        GoldRecord.check(gold_fields, where)


def _is_record(item: Any) -> bool:
    return isinstance(item, dict) and "calls" not in item


def _refuse_unknown_arguments(plan: Plan, named: Mapping[str, Iterable[str]], where: str) -> None:
    """Refuse arguments that calls of a plan do not give: nothing would come of them."""
    for call in plan.calls:
        names = [name for name, _ in call.arguments]
        for name in named.get(call.id, ()):
            if name not in names:
                listing = f"the call gives {', '.join(map(repr, names)) or 'none'}"
                hint = did_you_mean(name, names, listing)
                raise InputError(f"{where} names the argument {name!r} of call {call.id!r}; {hint}")


def _is_reference(value: Any, calls: Collection[str]) -> bool:
    """Whether a value beside gold was meant as a reference to one of gold's calls."""
    if isinstance(value, dict):
        return "$ref" in value or any(_is_reference(item, calls) for item in value.values())
    if isinstance(value, list):
        return any(_is_reference(item, calls) for item in value)
    match = _REFERENCE.match(value) if isinstance(value, str) else None
    return match is not None and match[1] in calls


_REFERENCE = re.compile(r"\$\{?(\w+)\b")


def terms_of(fields: Mapping[str, Any], plan: Plan, where: str) -> Terms:
    """What a gold record's fields leave open, which were checked.

    Args:
        fields: The record's fields.
        plan: The plan whose calls they name.
        where: What messages call the record.

    Raises:
        InputError: a field names a call that the plan does not have.

    >>> terms_of({"optional": ["c1"]}, parse("f(#x='1')"), "gold").optional
    frozenset({'c1'})
    """
    if not any(name in fields for name in GOLD_TERMS):
        return NO_TERMS
    call_ids = {call.id for call in plan.calls}

    def named(value: Iterable[str], field: str) -> tuple[str, ...]:
        for item in value:
            if item not in call_ids:
                calls = ", ".join(sorted(call_ids)) or "none"
                raise InputError(f"{where}: {field} names the call {item!r}; the plan's calls are {calls}")
        return tuple(value)

    accepted = fields.get("accepted", {})
    named(accepted, "accepted")
    omittable = fields.get("omittable", {})
    named(omittable, "omittable")
    _refuse_unknown_arguments(plan, accepted, f"{where}: accepted")
    _refuse_unknown_arguments(plan, omittable, f"{where}: omittable")
    for call, values in accepted.items():
        for name, value in values.items():
            if any(
                _is_reference(candidate, call_ids)
                for candidate in (value if isinstance(value, list) else [value])
            ):
                raise InputError(
                    f"{where}: accepted gives call {call!r} a reference for {name!r}, but allows only "
                    "values: write the plan with that reference under 'alternatives'"
                )
    positions = {call.id: position for position, call in enumerate(plan.calls)}
    befores = []
    for first, second in (named(pair, "before") for pair in fields.get("before", ())):
        if positions[first] >= positions[second]:
            raise InputError(
                f"{where}: before asks for {first!r} before {second!r}, which the plan itself does not have"
            )
        befores.append((first, second))
    return Terms(
        optional=frozenset(named(fields.get("optional", ()), "optional")),
        before=tuple(befores),
        unordered=tuple(frozenset(named(group, "unordered")) for group in fields.get("unordered", ())),
        accepted={
            call: {name: tuple(v) if isinstance(v, list) else (v,) for name, v in values.items()}
            for call, values in accepted.items()
        },
        omittable={call: frozenset(names) for call, names in omittable.items()},
    )


# ----------------------------------------------------------------------
# What else would be right: values that gold's terms, a policy or other gold plans allow.
AlternativeValues: TypeAlias = Mapping[tuple[str, str], tuple[Value, ...]]
"""Values by the id of gold's call and the argument."""

NO_ALTERNATIVES: AlternativeValues = {}


class AcceptedValues(NamedTuple):
    """All that says what is right beside gold's own values; false where nothing does.

    Args:
        policy: Its rules may name values.
        terms: What the gold plan leaves open.
        others: What other gold plans have.
    """

    policy: Policy
    terms: Terms
    others: AlternativeValues

    def __bool__(self) -> bool:
        return bool(self.others or self.terms.accepted or self.terms.omittable or self.policy.rules)

    def is_optional(self, call: Call, argument: str) -> bool:
        """Whether gold's terms let an argument be left out.

        Args:
            call: Gold's call.
            argument: The argument.
        """
        return argument in self.terms.omittable.get(call.id, ())

    def values(self, call: Call, argument: str, value: Value) -> list[Value]:
        """The values that would be right besides one.

        Args:
            call: Gold's call.
            argument: The argument.
            value: Gold's value.
        """
        rule = self.policy.rule(call.app, call.name, argument)
        values = {
            value_key(v, OWN_POSITIONS): v
            for v in (
                *(rule.accepted if rule is not None else ()),
                *self.terms.accepted.get(call.id, {}).get(argument, ()),
                *self.others.get((call.id, argument), ()),
            )
        }
        values.pop(value_key(value, OWN_POSITIONS), None)
        if self.is_optional(call, argument):
            values.pop(value_key("", OWN_POSITIONS), None)  # how BFCL writes that an argument may be left out
        return [*values.values()]


def find_alternative_values(gold: Plan, plans: Iterable[Plan]) -> AlternativeValues:
    """The values of plans that differ from gold in one argument of one call, and in nothing else.

    Of plans that differ in more, one value alone is not right.

    Args:
        gold: The gold plan.
        plans: The plans that are as right.
    """
    values: dict[tuple[str, str], tuple[Value, ...]] = {}
    for plan in plans:
        if (changed := _find_single_change(gold, plan)) is not None:
            location, value = changed
            values[location] = (*values.get(location, ()), value)
    return values


def _find_single_change(gold: Plan, plan: Plan) -> tuple[tuple[str, str], Value] | None:
    """Where a plan has another value than gold, and which, if it has so once and is else the same."""
    tools = [[call.tool for call in compared.calls] for compared in (gold, plan)]
    if tools[0] != tools[1] or (gold.answer is None) is not (plan.answer is None):
        return None
    keys, other_keys = (
        [
            {name: value_key(value, OWN_POSITIONS) for name, value in arguments}
            for arguments in (*(call.arguments for call in compared.calls), compared.answer or ())
        ]
        for compared in (gold, plan)
    )
    changed = [position for position, key in enumerate(keys) if key != other_keys[position]]
    if len(changed) != 1 or changed[0] == len(gold.calls):
        return None
    key, other_key = keys[changed[0]], other_keys[changed[0]]
    names = [name for name in key if key[name] != other_key.get(name)]
    if key.keys() != other_key.keys() or len(names) != 1:
        return None
    return (gold.calls[changed[0]].id, names[0]), dict(plan.calls[changed[0]].arguments)[names[0]]
