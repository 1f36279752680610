"""From compared pairs to counts: one scored row a pair, and such rows as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from planner_eval.base.frozen import fast_frozen
from planner_eval.base.text import JsonObject
from planner_eval.comparison.diff import Diff
from planner_eval.comparison.matching.align import match
from planner_eval.comparison.metrics import DEFAULT_METRICS, METRICS, measure, measure_none
from planner_eval.comparison.metrics.facts import Counts, Share, Tally
from planner_eval.comparison.policy.policy import DEFAULT_POLICY, Policy
from planner_eval.comparison.rows import JUDGED_STATES, Row, is_cut
from planner_eval.comparison.turns import TurnComparison, turns_of
from planner_eval.plan.model import Call, Plan, may_tell_unread_call
from planner_eval.plan.structure import depth, nesting_patterns, scope
from planner_eval.reading.files.recorded_runs import COST_NAMES, UNUSABLE, RecordedVerdict

if TYPE_CHECKING:
    from planner_eval.comparison.explanation.edits import Place
    from planner_eval.results.causes import Credits


# ----------------------------------------------------------------------
# From compared pairs to counts: one scored row a pair, whatever became of it.
BREAKDOWN_FIELDS = ("difficulty", "domain", "category")
"""Fields of gold records by which figures are broken down where the records have them."""

STRUCTURE_KEYS = ("calls", "depth", "pattern", "scope")
"""What gold's structure can be broken down by; a plan without apps has no scope."""


Mistake: TypeAlias = tuple[str | None, str | None]
"""Gold's tool and the tool that it was taken for; None where there is none."""


@fast_frozen
class ScoredRow:
    """The counts of one pair.

    Args:
        id: The records' id, or their position counted from 1.
        state: One of :data:`planner_eval.comparison.rows.STATES`.
        tallies: Counts by metric; empty where there is no readable gold plan.
        codes: The codes of the root causes, in topological order.
        reason: The first root cause in words, or why a plan could not be read.
        keys: What figures can be broken down by.
        proved: The pairing of calls is proved optimal.
        repaired: The prediction was readable only after repair.
        choices: The record held several choices or candidates, of which the first was read.
        mistaken: (gold's tool, the prediction's) of calls that another tool was taken for; None for
            a call that was left out, or made too much.
        file: The file of the prediction, or of gold where there is none.
        line: The line there, counted from 1, where it is known.
        repairable: Strict reading refused the prediction, and repair, which was not asked for, would not.
        credits: What its root causes cost, where that is asked for.
        unread: Something in the prediction may be a call that was not read.
        task: The task that it is one of several trials of.
        verdict: What a run recorded of the answer.
        turns: What differs turn by turn, of a conversation of several turns.
        costs: What the run cost, as it was recorded, by the figure's name.
    """

    id: str
    state: str
    tallies: Mapping[str, Tally | None] = field(default_factory=dict)
    codes: tuple[str, ...] = ()
    reason: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)
    proved: bool = True
    repaired: bool = False
    choices: bool = False
    mistaken: tuple[Mistake, ...] = ()
    file: str | None = None
    line: int | None = None
    repairable: bool = False
    credits: Credits | None = None
    unread: bool = False
    task: str | None = None
    verdict: RecordedVerdict | None = None
    turns: TurnComparison | None = None
    costs: Mapping[str, float] = field(default_factory=dict)


_UNREAD_PLAN = Plan((Call("?", "?"),))
"""Stands for a prediction that is absent or unreadable where gold calls nothing."""


def scored_row(
    row: Row,
    metrics: Sequence[str] = DEFAULT_METRICS,
    policy: Policy = DEFAULT_POLICY,
    by: Sequence[str] = (),
    source: tuple[str | None, int | None] = (None, None),
    **facts: Any,
) -> ScoredRow:
    """Count what metrics count in one pair.

    A prediction that is absent or unreadable counts as a plan without calls; where gold calls nothing
    either, so that this would be the right answer, as one call too many. Pairs without a readable gold
    plan have no counts.

    Args:
        row: The compared pair.
        metrics: Names of :data:`planner_eval.comparison.metrics.METRICS`.
        policy: The policy that the pair was compared under.
        by: What to break figures down by: names of :data:`STRUCTURE_KEYS` or of fields of gold records.
        source: The file and the line of the record that the pair is known by.
        facts: What else is known of it: task, verdict, costs, credits.
    """
    name, state, diff, gold = row.id, row.state, row.diff, row.gold
    if state not in JUDGED_STATES or gold is None:
        return ScoredRow(name, state, reason=row.reason, file=source[0], line=source[1], **facts)
    keys = keys_of(by, row)
    if diff is None or diff.matching is None:
        if gold.calls and (not policy.leaves_out_calls or match(Plan(), gold, policy).gold.calls):
            tallies = measure_none(gold, metrics, policy)
        else:  # a call that counts under every policy, for it is none that a policy names
            tallies = measure(match(_UNREAD_PLAN, Plan()), metrics)
        missed: tuple[Mistake, ...] = tuple((c.tool, None) for c in gold.calls)
        helped = row.mended is not None and not is_cut(row.mended)
        return ScoredRow(
            name, state, tallies, (), row.reason, keys, True, False, False, missed, *source, helped, **facts
        )
    roots = diff.roots
    codes = {note.code for note in row.pred.diagnostics} if row.pred is not None else ()
    return ScoredRow(
        name,
        state,
        measure(diff.matching, metrics),
        tuple([edit.code for edit in roots]),
        roots[0].message if roots else "",
        keys,
        diff.proved,
        any(code.startswith("repair.") for code in codes),
        "find.choices" in codes,
        mistaken_tools(diff) if roots else (),
        *source,
        unread=row.pred is not None and any(map(may_tell_unread_call, row.pred.diagnostics)),
        turns=row.turns,
        **facts,
    )


def mistaken_tools(diff: Diff) -> tuple[Mistake, ...]:
    """Which tool was taken for which, from the edits that say so."""
    return tuple(
        (_located_tool(diff.gold, edit.gold), _located_tool(diff.pred, edit.pred))
        for edit in diff.edits
        if edit.code in ("call.replaced", "app.changed", "call.missing", "call.extra", "call.duplicated")
    )


def _located_tool(plan: Plan, place: Place | None) -> str | None:
    return None if place is None or place.call is None else plan.calls[place.call].tool


def keys_of(names: Iterable[str], row: Row) -> dict[str, str]:
    """What a pair belongs to in the breakdowns by some keys, of those that its gold record says."""
    return {name: key for name in names if (key := key_of(name, row)) is not None}


def key_of(name: str, row: Row) -> str | None:
    """What a pair belongs to in a breakdown, whatever was predicted; None where its gold does not say."""
    gold = row.gold if row.main_gold is None else row.main_gold
    if gold is None:
        return None
    if name == "calls":
        return str(len(gold.calls))
    if name == "depth":
        return str(depth(gold))
    if name == "pattern":
        return " ".join(sorted(nesting_patterns(gold))) or "none"
    if name == "scope":
        return scope(gold)
    value = row.fields.get(name)
    return None if value is None else group_name(value)


def group_name(value: Any) -> str:
    """What the group of a field's value is called: a text as it is, another value as JSON writes it.

    A text that another value is written like is in quotes.

    >>> [*map(group_name, ["easy", "1", 1, "true", True, "True"])]
    ['easy', '"1"', '1', '"true"', 'true', 'True']
    """
    try:
        if isinstance(value, str):
            json.loads(value)  # most texts are no JSON
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return str(value)


# ----------------------------------------------------------------------
# Scored pairs as JSON: as reports write them, and as a run keeps them, to be read again.
def json_encoder(between: str, after_key: str) -> Callable[[Any], str]:
    """Encodes data as JSON; the library's encoder makes anew for each text what this has made already.

    Args:
        between: What stands between items.
        after_key: What stands after a key.
    """
    encoder = json.JSONEncoder(ensure_ascii=False, separators=(between, after_key))
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return encoder.encode
    text = json.encoder.encode_basestring
    encode = make(None, encoder.default, text, None, after_key, between, False, False, True)
    return lambda data: "".join(encode(data, 0))


_encode_json = json_encoder(", ", ": ")


ROW_FLAGS = ("repaired", "choices", "unread")
"""What JSON says of a row only where it is so."""

_STORED_FIELDS = ("file", "line", "mistaken")


def row_data(row: ScoredRow) -> JsonObject:
    """A scored pair as JSON data."""
    metrics = {name: tally_data(tally) for name, tally in row.tallies.items()}
    return {"id": row.id, "state": row.state, "metrics": metrics, **_details(row)}


def _details(row: ScoredRow, *, stored: bool = False) -> JsonObject:
    """What is said of a row after its figures; where it is stored, its place and mistaken tools as well."""
    data: JsonObject = {"codes": [*row.codes], "reason": row.reason, "proved": row.proved}
    if row.keys:
        data["keys"] = dict(row.keys)
    data |= {name: True for name in ROW_FLAGS if getattr(row, name)}
    if stored:
        data |= {name: value for name in _STORED_FIELDS if (value := getattr(row, name))}
    if row.credits is not None:
        data["credits"] = row.credits.data()
    if row.task is not None:
        data["task"] = row.task
    if row.verdict is not None:
        data["recorded"] = row.verdict._asdict()
    if row.turns is not None:
        data["turns"] = row.turns.data()
    if row.costs:
        data["costs"] = dict(row.costs)
    return data


def tally_data(tally: Tally | None) -> JsonObject | None:
    """Counts as JSON data."""
    if tally is None:
        return None
    if isinstance(tally, Counts):
        return {"hit": tally.hit, "pred": tally.pred, "gold": tally.gold, "f1": tally.f1}
    return {"part": tally.part, "whole": tally.whole, "value": tally.value}


class RowLineWriter:
    """Scored pairs as lines of a run: what :func:`row_data` says of each, its place, and mistaken tools.

    The text of counts that pairs have in common is made once.

    >>> row = ScoredRow("a", "same", {"exact": Share(1, 1)})
    >>> scored_of(json.loads(RowLineWriter().line(row))).tallies
    {'exact': Share(part=1, whole=1)}
    """

    def __init__(self) -> None:
        self._counts: dict[Any, str] = {}
        self._rows: dict[int, tuple[Mapping[str, Tally | None], str]] = {}

    def line(self, row: ScoredRow) -> str:
        """The line of a pair, without its end."""
        name, details = json.encoder.encode_basestring(row.id), _encode_json(_details(row, stored=True))
        return (
            f'{{"id": {name}, "state": "{row.state}", "metrics": {self._metrics(row.tallies)}, {details[1:]}'
        )

    def _metrics(self, tallies: Mapping[str, Tally | None]) -> str:
        cached = self._rows.get(id(tallies))
        if cached is not None and cached[0] is tallies:
            return cached[1]
        if len(self._counts) > _MAX_CACHED:
            self._counts.clear()
        if len(self._rows) > _MAX_CACHED:
            self._rows.clear()
        texts = self._counts
        items = []
        for name, tally in tallies.items():
            key: Any = name
            if tally.__class__ is Counts:
                key = (name, tally.hit, tally.pred, tally.gold, tally.hit.__class__)
            elif tally.__class__ is Share:
                key = (name, tally.part, tally.whole, tally.part.__class__)
            text = texts.get(key)
            if text is None:
                text = texts[key] = f"{_encode_json(name)}: {_encode_json(tally_data(tally))}"
            items.append(text)
        encoded = f"{{{', '.join(items)}}}"
        self._rows[id(tallies)] = (tallies, encoded)
        return encoded


_MAX_CACHED = 4096
"""Texts that are kept."""


def row_columns(metrics: Sequence[str], by: Sequence[str], *, causes: bool = False) -> JsonObject:
    """The types of what stands in a line, by its keys.

    Args:
        metrics: The metrics that are counted.
        by: What figures are broken down by.
        causes: What root causes cost is kept.
    """
    credited = {}
    if causes:
        from planner_eval.results.causes import COLUMNS

        credited = {"credits": COLUMNS}
    fields = {"counts": ("hit", "pred", "gold", "f1"), "share": ("part", "whole", "value")}
    return {
        **dict.fromkeys(("id", "state"), str),
        "metrics": {name: dict.fromkeys(fields[METRICS[name].kind], float) for name in metrics},
        "codes": [str],
        "reason": str,
        "proved": bool,
        **({"keys": dict.fromkeys(by, str)} if by else {}),
        **dict.fromkeys(ROW_FLAGS, bool),
        "file": str,
        "line": int,
        "mistaken": [[str]],
        **credited,
        "task": str,
        "recorded": {"field": str, "value": float},
        "turns": {
            **dict.fromkeys(("unit", "asked"), str),
            **dict.fromkeys(("total", "late", "first"), int),
            **{name: [int] for name in ("wrong", "follow", "form")},
            "moved": [str],
        },
        "costs": dict.fromkeys((*COST_NAMES, UNUSABLE), float),
    }


def scored_of(data: Mapping[str, Any]) -> ScoredRow:
    """A scored pair from its line's data; null in columns stands for what is not there."""
    credits, recorded = None, data.get("recorded") or {}
    if data.get("credits") is not None:
        from planner_eval.results.causes import Credits

        credits = Credits.of(data["credits"])
    metrics = data["metrics"] if data["state"] in JUDGED_STATES else {}
    return ScoredRow(
        data["id"],
        data["state"],
        {name: _tally(numbers) for name, numbers in metrics.items()},
        tuple(data["codes"]),
        data["reason"],
        _present(data.get("keys")),
        data["proved"],
        mistaken=tuple((gold, pred) for gold, pred in data.get("mistaken") or ()),
        file=data.get("file"),
        line=data.get("line"),
        credits=credits,
        **{name: True for name in ROW_FLAGS if data.get(name)},
        task=data.get("task"),
        verdict=RecordedVerdict(**recorded) if recorded.get("field") is not None else None,
        turns=turns_of(data.get("turns")),
        costs=_present(data.get("costs")),
    )


def _present(values: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (values or {}).items() if value is not None}


def _tally(data: Mapping[str, Any] | None) -> Tally | None:
    if data is None:
        return None
    if "hit" in data:
        return Counts(data["hit"], data["pred"], data["gold"])
    return Share(data["part"], data["whole"])


class StoredRows(Sequence[ScoredRow]):
    """The scored pairs of a run, read from its rows when they are asked for.

    Args:
        read: Reads the rows, from the first, as JSON data.
        count: How many there are.
        keeps: What keeps their file there.
    """

    def __init__(self, read: Callable[[], Iterator[JsonObject]], count: int, keeps: object = None) -> None:
        self.read, self.size, self.keeps = read, count, keeps

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[ScoredRow]:
        return map(scored_of, self.read())

    @overload
    def __getitem__(self, index: int) -> ScoredRow: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[ScoredRow]: ...

    def __getitem__(self, index: int | slice) -> ScoredRow | Sequence[ScoredRow]:
        """A pair by its number, counted from 0, for which those before it are passed over."""
        if not isinstance(index, slice):
            return next(islice(self, range(self.size)[index], None))
        selected = range(self.size)[index]
        forth = selected if selected.step > 0 else selected[::-1]
        rows = tuple(islice(self, forth.start, forth.stop, forth.step)) if selected else ()
        return rows if forth is selected else rows[::-1]
