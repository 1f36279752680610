"""Models that agree with one another and not with gold: where several give one plan, gold may be wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import format_count
from planner_eval.comparison.diff import diff
from planner_eval.comparison.policy.policy import DEFAULT_POLICY, Policy, Terms
from planner_eval.plan.model import Plan
from planner_eval.results.findings import Confidence, GoldFinding

CODES = ("gold.outvoted",)


class Answer(NamedTuple):
    """What one run said to a record.

    Args:
        run: The run's name.
        plan: Its plan; None where it gave none that can be read.
        model: What tells models apart; the run's name where that is not known.
    """

    run: str
    plan: Plan | None
    model: str = ""


class AnswerGroup(NamedTuple):
    """Answers that are one plan under a policy.

    Args:
        plan: The first of them.
        answers: All of them.
    """

    plan: Plan
    answers: tuple[Answer, ...]

    @property
    def models(self) -> int:
        """How many different models gave it."""
        return len({answer.model or answer.run for answer in self.answers})


def group_answers(answers: Iterable[Answer], policy: Policy = DEFAULT_POLICY) -> list[AnswerGroup]:
    """The answers that are one plan, those of most models first.

    A plan joins the first camp whose plan it equals, in either direction.

    Args:
        answers: The answers to one record.
        policy: How values compare.

    >>> from planner_eval.reading.dialects.read import parse
    >>> plans = {"one": "f(x=1)", "two": "g(x=1)", "three": "f(x=1)"}
    >>> said = [Answer(run, parse(plan)) for run, plan in plans.items()]
    >>> [[one.run for one in camp.answers] for camp in group_answers(said)]
    [['one', 'three'], ['two']]
    """
    groups: list[list[Answer]] = []
    for answer in answers:
        if answer.plan is None or not answer.plan.calls:
            continue
        for camp in groups:
            if _are_equal(answer.plan, camp[0].plan, policy):
                camp.append(answer)
                break
        else:
            groups.append([answer])
    camp_list = [AnswerGroup(camp[0].plan, tuple(camp)) for camp in groups if camp[0].plan is not None]
    return sorted(camp_list, key=lambda camp: (-camp.models, -len(camp.answers)))


def find_outvoted_gold(
    gold: Plan,
    answers: Sequence[Answer],
    policy: Policy = DEFAULT_POLICY,
    right: Sequence[tuple[Plan, Terms]] = (),
) -> Iterator[GoldFinding]:
    """Whether models agree with one another on a plan that is not gold's.

    Told where two runs or more gave one plan that is not gold's, more models than gave gold's. ``medium``
    where it is the plan of three different models or more, of two in three of all that answered, and nobody
    gave gold's; else ``low``. Never ``high``: models may share a mistake, and runs of one model do.

    Args:
        gold: The gold plan.
        answers: What the runs said.
        policy: How values compare.
        right: What the record says is as right: its plans with what they leave open.

    >>> from planner_eval.reading.dialects.read import parse
    >>> said = [Answer(name, parse("g(x=1)"), name) for name in ("a-7b", "b-9b", "c-70b")]
    >>> for found in find_outvoted_gold(parse("f(x=1)"), said): print(found.confidence, found.message)
    medium 3 of 3 models give one plan that is not gold's: g instead of f (a-7b, b-9b, c-70b)
    """
    usable_answers = [answer for answer in answers if answer.plan is not None and answer.plan.calls]
    if len(usable_answers) < 2:
        return
    plan_camps = group_answers(usable_answers, policy)
    gold_camps = [camp for camp in plan_camps if _is_right(camp.plan, gold, policy, right)]
    for_gold = len({answer.model or answer.run for camp in gold_camps for answer in camp.answers})
    against = next((camp for camp in plan_camps if camp not in gold_camps), None)
    if against is None or len(against.answers) < 2 or against.models <= for_gold:
        return
    model_count = len({answer.model or answer.run for answer in usable_answers})
    many = against.models >= 3 and 3 * against.models >= 2 * model_count and not for_gold
    confidence: Confidence = "medium" if many else "low"
    runs = [answer.run for answer in against.answers]
    who = (
        f"{against.models} of {format_count(model_count, 'model')}"
        if model_count > 1
        else format_count(len(runs), "run") + " of one model"
    )
    names = ", ".join(runs[:4]) + (", …" if len(runs) > 4 else "")
    message = (
        f"{who} give one plan that is not gold's: {_describe_difference(against.plan, gold, policy)} "
        f"({names})"
    )
    yield GoldFinding("gold.outvoted", message, confidence)


def find_outvoted_records(
    gold: Mapping[str, Plan], answers: Mapping[str, Sequence[Answer]], policy: Policy = DEFAULT_POLICY
) -> dict[str, list[GoldFinding]]:
    """:func:`find_outvoted_gold` of all records with gold and answers; those without a finding are left out.

    Args:
        gold: The gold plans by record.
        answers: What the runs said, by record.
        policy: How values compare.

    >>> find_outvoted_records({}, {})
    {}
    """
    findings = {
        record: [*find_outvoted_gold(plan, answers.get(record, ()), policy)] for record, plan in gold.items()
    }
    return {record: record_findings for record, record_findings in findings.items() if record_findings}


def _are_equal(plan: Plan | None, other: Plan | None, policy: Policy) -> bool:
    """Whether two plans are one under a policy, whichever is taken for gold."""
    if plan is None or other is None:
        return False
    return diff(plan, other, policy).same and diff(other, plan, policy).same


def _is_right(plan: Plan, gold: Plan, policy: Policy, right: Sequence[tuple[Plan, Terms]]) -> bool:
    """Whether a plan is gold, or another that its record says is right."""
    return _are_equal(plan, gold, policy) or any(
        diff(plan, alternative, policy, terms).same for alternative, terms in right
    )


def _describe_difference(plan: Plan, gold: Plan, policy: Policy) -> str:
    """In what a plan differs from gold: the first root of the comparison, told with the plans' own names."""
    plan_tools = sorted(call.tool for call in plan.calls)
    gold_tools = sorted(call.tool for call in gold.calls)
    if plan_tools != gold_tools:
        return f"{_format_tools(plan)} instead of {_format_tools(gold)}"
    roots = diff(plan, gold, policy).roots
    return "; ".join(edit.message for edit in roots[:2]) + ("; …" if len(roots) > 2 else "")


def _format_tools(plan: Plan) -> str:
    names = [call.tool for call in plan.calls]
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "") or "no call"
