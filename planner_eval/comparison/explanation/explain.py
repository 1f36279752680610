"""The explanation of a difference: partners as a person takes them, edits, their causes, their sentences."""

from __future__ import annotations

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.explanation.causes import order_by_cause
from planner_eval.comparison.explanation.compound_edits import merge_edits
from planner_eval.comparison.explanation.edits import Draft, Edit, Place, ValueDiff
from planner_eval.comparison.explanation.names import CallNames, no_call_suffix
from planner_eval.comparison.explanation.partners import rematch_for_explanation
from planner_eval.comparison.explanation.primitive_edits import PrimitiveEdits
from planner_eval.comparison.explanation.sentences import Wording
from planner_eval.comparison.gold_alternatives import AcceptedValues, AlternativeValues
from planner_eval.comparison.matching.align import Matching


class Explanation(NamedTuple):
    """What differs between two plans.

    Args:
        matching: The matching, with partners as a person takes them.
        edits: The edits, causes before consequences.
        shortest: Whether the search for partners was not bounded.
    """

    matching: Matching
    edits: tuple[Edit, ...]
    shortest: bool = True


def explain_matching(matching: Matching, alternatives: AlternativeValues) -> Explanation:
    """The explanation of a difference: partners, edits, their causes, and last their sentences.

    Args:
        matching: What figures count.
        alternatives: Values that other gold plans have in the place of this one's, which sentences name.
    """
    matching, shortest = rematch_for_explanation(matching)
    pred, gold, pairs, pairing = matching.pred, matching.gold, matching.alignment.pairs, matching.pairing
    names = CallNames.of(pred, gold, pairs)
    wording = Wording(names, ValueDiff(names.to_gold))
    edits: list[Draft] = []
    if pairing is not None:
        waived = {Place(call) for call in matching.waived}
        accepted = AcceptedValues(matching.policy, matching.terms, alternatives)
        primitive = PrimitiveEdits(pairing, accepted, ordered=matching.policy.order != "free")
        edits = [edit for edit in primitive if edit.code != "call.missing" or edit.gold not in waived]
        edits = merge_edits(edits, names)
        wording.objects = primitive.objects
    edits += [
        Draft("misplaced call", "order.broken", Place(call), Place(image), data=(other, after))
        for call, image, other, after in matching.misplaced
    ]
    written = [wording.write(edit) for edit in order_by_cause(edits, pred, gold, pairs)]
    if written and (suffix := no_call_suffix(pred, gold)):
        written[0] = written[0]._replace(message=written[0].message + suffix)
    return Explanation(matching, tuple(written), shortest)
