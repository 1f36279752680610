"""One pair of plans compared, or the pairs of two files: read, paired, a row a pair."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from planner_eval.base.errors import (
    FUNCTION,
    NAMES,
    InputError,
    ParseError,
    expect,
    expect_or_none,
    instance_of,
)
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.diff import Diff, diff_any
from planner_eval.comparison.gold_alternatives import Gold, read_gold
from planner_eval.comparison.matching.align import match
from planner_eval.comparison.policy.policy import DEFAULT_POLICY, NO_TERMS, KnownNames, Policy, Terms
from planner_eval.comparison.policy.resolve import AnyPolicy, policy_of
from planner_eval.comparison.rows import Evaluation, Row
from planner_eval.plan.canonical import outline
from planner_eval.plan.canonical import same as same_plans
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.read import unlinked
from planner_eval.reading.files import pairing
from planner_eval.reading.files.fields import GOLD_FIELDS
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.pairing import prefix_ids_by_file
from planner_eval.reading.files.record import DEFAULT_STORE, Record, Store, have_ids, read_plan
from planner_eval.reading.files.trials import label_trials
from planner_eval.reading.parse import (
    Source,
    empty_plan_file,
    gold_record,
    is_empty,
    only_record,
    parse,
    refuse_file_name,
    text_as_record,
)
from planner_eval.reading.settings import DEFAULT_READING, Reading, check_reading

if TYPE_CHECKING:
    from planner_eval.comparison.structure_diff import StructureDiff


T = TypeVar("T")

Progress: TypeAlias = Callable[..., None]
"""Is told after each pair how many are done, and of how many; by processes also how many failed."""


def diff(pred: Source, gold: Source, policy: AnyPolicy = DEFAULT_POLICY, terms: Terms = NO_TERMS) -> Diff:
    r"""Compare a plan with gold: which call stands for which, what differs, and why.

    Args:
        pred: The prediction: a plan, its text or data, or the path of its file, ``Path("pred.json")``.
        gold: What was wanted, likewise, or a gold record, as data or in a file: its own terms and
            alternatives count where `terms` says nothing.
        policy: How values compare: a policy, the name of a preset, or a policy's file.
        terms: What the gold plan leaves open: optional calls, precedences, further accepted values.

    Returns:
        The difference; ``diff.same`` says whether the plans mean the same, and ``str(diff)`` is what the
        command line shows. Its plans are those that were compared: a policy may take inlined calls out
        or merge repeats.

    Raises:
        ParseError: a plan cannot be read.
        InputError: a file is not there or holds many plans (see :func:`evaluate`), what stands beside a gold
            plan cannot be meant, the terms are none, or there is no such policy.

    >>> found = diff("a = f(#x='1')\ng(#y=a)", "a = f(#x='2')\ng(#y=a)")
    >>> [(edit.code, edit.message) for edit in found.edits]
    [('argument.value', 'f (call 1): argument \'x\' is "1", expected "2"')]
    """
    chosen = policy_of(policy)
    return diff_any(_read_answer(pred), gold_of(gold, terms).plans, chosen).diff


def _read_answer(pred: Source) -> Plan:
    return parse(pred) if not isinstance(pred, os.PathLike) else read_plan(only_record(pred, "answer"))


def gold_of(gold: Source, terms: Terms) -> Gold:
    """The plans that are right, each with what it leaves open: of a gold record also its alternatives.

    Args:
        gold: As for :func:`diff`.
        terms: What the user says that it leaves open, in place of what its record says.

    Raises:
        ParseError: a plan cannot be read.
        InputError: the terms are none, or what stands beside the plan cannot be meant.
    """
    if not isinstance(terms, Terms):
        raise InputError(f"the terms are {terms!r}, expected Terms of planner_eval.comparison.policy.policy")
    if not isinstance(gold, (str, dict, Record, PlanFile, os.PathLike)):
        return Gold(((parse(gold), terms),))
    record = gold_record(gold)
    if terms is NO_TERMS:
        return read_gold(record)
    return Gold(((read_gold(record._replace(fields={})).plan, terms),))


def compare_structure(
    pred: Source, gold: Source, policy: AnyPolicy = DEFAULT_POLICY, terms: Terms = NO_TERMS
) -> StructureDiff:
    r"""Compare the structure of a plan with gold's: which calls hang together, and which needs which.

    Calls are paired as :func:`planner_eval.diff` pairs them; of alternatives in a gold record the one that
    it takes counts. Time grows with the square of the calls.

    Args:
        pred: The prediction: a plan, its text or data, or the path of its file, ``Path("pred.json")``.
        gold: What was wanted, likewise, or a gold record.
        policy: How values compare: a policy, the name of a preset, or a policy's file.
        terms: What the gold plan leaves open; of it, which calls are optional.

    Returns:
        Components, topological generations and longest chains of both, and what was torn apart,
        joined, lost, added and written in the wrong order.

    Raises:
        ParseError: a plan cannot be read.
        InputError: as for :func:`planner_eval.diff`.

    >>> gold = "a = f(#x='1')\nb = g(#y=a)\nh(#z=b)"
    >>> found = compare_structure("a = f(#x='1')\nb = g(#y=a)\nh(#z='2')", gold)
    >>> found.torn, found.edges_lost
    ((((0, 1), (2,)),), (Link(producer=1, consumer=2),))
    >>> found.lost
    (Link(producer=0, consumer=2), Link(producer=1, consumer=2))
    """
    from planner_eval.comparison.structure_diff import structure_of

    chosen, plan, golds = policy_of(policy), _read_answer(pred), gold_of(gold, terms).plans
    gold_plan, left_open = golds[diff_any(plan, golds, chosen).number if len(golds) > 1 else 0]
    return structure_of(match(plan, gold_plan, chosen, left_open))


def same(pred: Source, gold: Source) -> bool:
    """Whether two plans mean the same: same calls, same arguments, same data flow, same answer.

    Labels, the order of independent calls and the order of arguments carry no meaning. A call
    written before one that it needs counts against `pred` unless `gold` is written so too.

    Args:
        pred: The prediction: a plan, its text or data, or the path of its file, ``Path("pred.json")``.
        gold: What was wanted, likewise.

    Raises:
        ParseError: a plan cannot be read.

    >>> same("a = f(#x='1', #y='2')", "b = f(#y='2', #x='1')")
    True
    """
    if isinstance(pred, str) and isinstance(gold, str) and pred != gold:
        return _are_same_texts(pred, gold)
    plan = parse(pred)
    return same_plans(plan, plan if isinstance(pred, str) and isinstance(gold, str) else parse(gold))


def _are_same_texts(pred: str, gold: str) -> bool:
    """:func:`same` of two texts; those whose calls differ beside their references are not linked."""
    refuse_file_name(pred)
    pred_plan = unlinked(pred)
    pred_outline = outline(pred_plan.raw)
    plan = pred_plan.linked() if pred_outline is None else None
    refuse_file_name(gold)
    gold_plan = unlinked(gold)
    gold_outline = None if pred_outline is None else outline(gold_plan.raw)
    if gold_outline is not None and pred_outline != gold_outline:
        return False
    return same_plans(pred_plan.linked() if plan is None else plan, gold_plan.linked())


class PairedFiles(NamedTuple):
    """Two files of plans, and which prediction belongs to which gold plan.

    Args:
        pred: The predictions.
        gold: The gold plans.
        by: ``"id"``, ``"position"`` or ``"file"`` (one plan each).
        pairs: (prediction, gold); None stands for a missing partner. Of large files they are read whenever
            they are asked for; slices too.
        repeated: Records left out because an earlier one has their id.
        reading: How the plans are read.
    """

    pred: PlanFile
    gold: PlanFile
    by: str
    pairs: Sequence[tuple[Record | None, Record | None]]
    repeated: Sequence[Record] = ()
    reading: Reading = DEFAULT_READING

    @property
    def gold_named(self) -> bool:
        """Whether gold's records have ids, so that these name the pairs."""
        return have_ids(self.gold.records)

    @property
    def trials(self) -> bool:
        """Whether records are trials of tasks."""
        return any(record.task is not None for record in islice(self.gold.records, 200))

    @property
    def said(self) -> str:
        """What was read as answers and as gold, in one line."""
        return f"answers: {self.pred.said}; gold: {self.gold.said}"


def pair(
    pred: Source,
    gold: Source,
    *,
    reading: Reading = DEFAULT_READING,
    ids: Collection[str] | None = None,
    store: Store = DEFAULT_STORE,
) -> PairedFiles:
    """Pair predictions with gold plans: by id where either has ids, by position where neither has.

    Args:
        pred: The predictions: the path of a file, what :func:`planner_eval.read` gave, a list, a frame of
            pandas or polars, a Hugging Face data set, or an iterable of records. A list of calls is one plan,
            and so is an empty list beside one plan; beside many it holds none.
        gold: The gold plans, likewise.
        reading: How both are read.
        ids: Keep only the records of these ids, or of one, or those that rows call so; a prediction in a file
            of its own then answers the record of one id.
        store: From which size on the records of a file are kept on disk, and where.

    Raises:
        InputError: a file cannot be used, two gold plans have one id, no record has one of `ids`, one field
            of one file would be both the prediction and gold, or both are empty lists.
        PairingError: pairing is by id, and no id is on both sides.

    >>> pair([{"id": "a", "output": "f()"}], [{"id": "a", "gold": "f()"}]).by
    'id'
    """
    check_reading(reading)
    expect_or_none(NAMES, ids=ids)
    expect(instance_of(Store, "Store(…) of planner_eval.reading.files.record"), store=store)
    left, right = _read_both_files(pred, gold, reading, store)
    return _pair_files(left, right, reading, (ids,) if isinstance(ids, str) else tuple(ids or ()), store)


def pair_systems(preds: Iterable[Source], gold: PlanFile, reading: Reading) -> list[PairedFiles]:
    """The predictions of several systems, each paired with the same gold plans.

    Where one of them has several trials of a task, all are told apart by trial.

    Args:
        preds: The predictions of each system.
        gold: What :func:`read_shared_gold` gave.
        reading: How all are read.
    """
    pairings = [pair(pred, gold, reading=reading) for pred in preds]
    if not any(paired.trials for paired in pairings):
        return pairings
    return [
        paired if paired.trials else _pair_files(paired.pred, gold, reading, (), DEFAULT_STORE, trials=True)
        for paired in pairings
    ]


def _pair_files(
    left: PlanFile,
    right: PlanFile,
    reading: Reading,
    ids: Sequence[str],
    store: Store,
    *,
    trials: bool = False,
) -> PairedFiles:
    _refuse_same_field(left, right, reading)
    left, right = prefix_ids_by_file(left, right)
    if reading.by != "position":  # trials are put beside their gold plans by ids, in whatever order they come
        left, right = label_trials(left, right, single=trials)
    if len(ids) == 1 and not left.many and right.many:
        left = left._replace(records=tuple(record._replace(id=ids[0]) for record in left.records))
    matched = pairing.pair(left, right, by=reading.by, folder=store.folder)
    pairing.refuse_repeated_gold(matched, right.records)
    pairs = matched.pairs
    if ids:
        pairs = pairing.select_pairs(pairs, ids, gold_named=have_ids(right.records))
    if reading.infer:
        pairs = pairing.map_pairs(pairs, _copy_gold_tools)
    return PairedFiles(left, right, matched.by, pairs, matched.repeated, reading)


def _read_both_files(pred: Source, gold: Source, reading: Reading, store: Store) -> tuple[PlanFile, PlanFile]:
    """The predictions and gold plans; an empty list beside many plans is none of them."""
    refuse_empty_lists(pred, gold)
    _refuse_sets(predicted=pred, gold=gold)
    left, right = reading.answers(text_as_record(pred), store), reading.golds(text_as_record(gold), store)
    if is_empty(pred) and right.many:
        left = empty_plan_file("answer")
    if is_empty(gold) and left.many:
        right = empty_plan_file("gold")
    return left, right


def _refuse_sets(**sources: Source) -> None:
    """Plans without an order cannot be paired.

    Raises:
        InputError: names the source that is a set.
    """
    for role, source in sources.items():
        if isinstance(source, (set, frozenset)):
            raise InputError(
                f"the {role} plans are a {type(source).__name__}, which has no order: expected a list"
            )


def refuse_empty_lists(pred: Source, gold: Source) -> None:
    """Two empty lists are no pair of plans without calls.

    Raises:
        InputError: both are empty.
    """
    if is_empty(pred) and is_empty(gold):
        raise InputError("there are no pairs: both lists are empty (a plan without calls is the text '[]')")


def read_shared_gold(gold: Source, reading: Reading) -> PlanFile:
    """The gold plans beside which several systems stand.

    Raises:
        InputError: there are none.
    """
    if is_empty(gold):
        raise InputError("there are no pairs: gold is an empty list (one plan without calls is [[]])")
    _refuse_sets(gold=gold)
    return reading.golds(text_as_record(gold))


def _copy_gold_tools(pair: tuple[Record | None, Record | None]) -> tuple[Record | None, Record | None]:
    """An answer's tools are those of its gold record."""
    pred, gold = pair
    return (pred._replace(infer=gold.infer) if pred and gold else pred, gold)


def _refuse_same_field(pred: PlanFile, gold: PlanFile, reading: Reading) -> None:
    """One field of one file on both sides, unless the user named it, would be right whatever stands there."""
    are_files = os.path.exists(pred.name) and os.path.exists(gold.name)
    is_same_file = (
        os.path.samefile(pred.name, gold.name) if are_files else not pred.parts.keys().isdisjoint(gold.parts)
    )
    if not is_same_file or pred.content != gold.content:
        return
    if pred.content is None:
        _refuse_same_plans(pred)
        return
    sure = reading.gold_text_field is not None or pred.content in GOLD_FIELDS
    if not (reading.text_field is not None and sure):
        option = "--field text" if reading.text_field is None and sure else "--field gold.text"
        what = "prediction" if option == "--field text" else "gold"
        raise InputError(
            f"{pred.name}: both sides read field {pred.content!r} of the same file; name the {what} field "
            f"with {option} (--field text={pred.content} --field gold.text={gold.content} compares it with "
            "itself)"
        )


def _refuse_same_plans(file: PlanFile) -> None:
    """The same object from ids to plans on both sides would be right, too; its ids may be names of fields."""
    if not file.many or file.id_field is not None:
        return
    ids = [record.id for record in islice(file.records, 4)]
    if None not in ids:
        id_list = ", ".join(map(repr, ids[:3])) + (", …" if len(ids) > 3 else "")
        raise InputError(f"{file.name}: both sides read the same plans, under the same ids: {id_list}")


def evaluate(
    pred: Source,
    gold: Source = None,
    *,
    reading: Reading = DEFAULT_READING,
    policy: AnyPolicy = DEFAULT_POLICY,
    located: bool = False,
    progress: Progress | None = None,
) -> Iterator[Row]:
    """Read and compare pairs of records.

    Args:
        pred: The predictions, as for :func:`pair`; or what that gave.
        gold: The gold plans, likewise; nothing beside what :func:`pair` gave.
        reading: How both are read, where they are not yet.
        policy: How values compare: a policy, the name of a preset, or a policy's file.
        located: Find the places of calls and arguments in the texts of plans that differ, which may mean to
            read them twice.
        progress: Is told how many pairs are done.

    Returns:
        One row a pair, in order, whatever became of it; see :class:`planner_eval.comparison.rows.Row`.

    Raises:
        InputError: as for :func:`pair`.

    >>> [row.state for row in evaluate(["f(#x='1')", "g(#x="], ["f(#x='1')", "g(#x='2')"])]
    ['same', 'cut']
    """
    expect_or_none(FUNCTION, progress=progress)
    paired = pred if isinstance(pred, PairedFiles) else pair(pred, gold, reading=reading)
    how, named = paired.reading._asdict(), paired.gold_named
    results = Evaluation.of(how, policy_of(policy), gold_named=named, located=located).rows(paired.pairs)
    return results if progress is None else report_progress(results, len(paired.pairs), progress)


def refuse_unknown_names(paired: PairedFiles, names: KnownNames, policy: Policy) -> None:
    """Look whether the policy's own rules name tools and arguments that there are.

    Args:
        paired: The files, of which more may be known than of the pairs alone.
        names: Those of the pairs' plans; others are added where these are not enough.
        policy: How values compare.

    Raises:
        PolicyError: a rule names what neither a plan of the files nor the policy's catalog has.
    """
    if not policy.names_tools:
        return
    how = paired.reading
    sources = ((paired.pred, how.dialect), (paired.gold, how.gold_dialect or how.dialect))
    if names.unknown(policy):
        for record, dialect in ((r, named) for file, named in sources for r in file.records):
            with suppress(ParseError):
                names.add([read_plan(record, dialect=dialect)])
    names.check(policy)


def report_progress(items: Iterable[T], total: int, progress: Progress) -> Iterator[T]:
    """The same rows or samples; after each `progress` is told."""
    for count, item in enumerate(items, 1):
        yield item
        progress(count, total)
