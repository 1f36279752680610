"""Running a plan without its tools: each call yields a term, and equal terms mean equal values.

A term is a call with its references replaced by the producers' terms. It says what a value would be
made of, for every tool that answers equal calls equally. So plans can be compared beyond their form:
work that is done twice, or whose result nobody needs, does not change what comes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from planner_eval.base.text import shorten
from planner_eval.execution.program import producers, running_order, sink_calls
from planner_eval.plan.canonical import Digests, NumberedPlan, same
from planner_eval.plan.graph import reach
from planner_eval.plan.model import Bag, Plan, Ref, Unresolved, Value, fold, references

MAX_TERM_LENGTH = 200
"""The most characters of a term's text; the digest beside it is of the whole term."""


@dataclass(frozen=True, slots=True)
class SymbolicRun:
    """What a plan comes to, without running it.

    Args:
        terms: Each call's term as text, cut to `MAX_TERM_LENGTH` characters.
        keys: Each call's term as 32 hexadecimal digits: equal terms, equal digits, in any plan. A
            call in a circle has the key "".
        final: The calls whose values come out: those that the plan's answer uses, or its last
            call, or those that nobody uses; and calls that act.
        dead: The calls that no final call needs, nor is.
        duplicated: Groups of calls with one term, each group in written order.
        answer: The named answer's term as digits, where the plan names one.
        acting: The calls that act.
    """

    terms: tuple[str, ...]
    keys: tuple[str, ...]
    final: tuple[int, ...]
    dead: tuple[int, ...]
    duplicated: tuple[tuple[int, ...], ...]
    answer: str | None
    acting: tuple[int, ...]

    @property
    def meaning(self) -> tuple[str, ...]:
        """What comes out, in an order of its own: two plans with equal meanings have equal effects."""
        named = self.answer is not None
        outputs = {self.keys[position] for position in (self.acting if named else self.final)}
        return tuple(sorted(outputs if self.answer is None else {self.answer, *outputs}))


def symbolic(
    plan: Plan,
    *,
    answer: str = "sinks",
    acts: Iterable[str] = (),
    independent: Iterable[tuple[str, str]] = (),
) -> SymbolicRun:
    r"""Run a plan symbolically.

    Args:
        plan: The plan.
        answer: What comes out of a plan that names no answer: ``"sinks"``, the values that no call
            uses, or ``"last"``, the value of the last call (NESTful).
        acts: Tools that change something: their calls always count, none of them twice for one, in the
            order in which they run. The other tools of their app (or those without one) find what they left.
        independent: Pairs of tools, at least one of which acts, whose order makes no difference.

    Returns:
        Terms, final and dead calls, and duplicated work.

    >>> from planner_eval.reading.dialects.read import parse
    >>> found = symbolic(parse("a = f(#x='1')\nb = f(#x='1')\ng(#y=a)\nh(#z=b)"), answer="last")
    >>> found.terms[3], found.dead, found.duplicated
    ("h(z=f(x='1').b)", (0, 2), ((0, 1),))
    """
    count = len(plan.calls)
    tools = frozenset(acts)
    acting = [i for i, call in enumerate(plan.calls) if not tools.isdisjoint((call.tool, call.name))]
    numbered = NumberedPlan(_add_run_order(plan, acting, independent) if acting else plan, Digests())
    keys = ["" if key is None else str(key) for key in numbered.numbers]
    needs = producers(plan)
    final = sorted({*_output_calls(plan, answer), *acting})
    alive = reach(final, needs.__getitem__)
    groups: dict[str, list[int]] = {}
    for position in range(count):
        if keys[position] and position not in acting:
            groups.setdefault(keys[position], []).append(position)
    return SymbolicRun(
        _term_texts(plan, needs),
        tuple(keys[:count]),
        tuple(final),
        tuple(position for position in range(count) if position not in alive),
        tuple(tuple(group) for group in groups.values() if len(group) > 1),
        keys[count] if plan.answer else None,
        tuple(acting),
    )


_ORDER_ARGUMENT = "\0after"
"""An argument that no text can name."""


def _add_run_order(plan: Plan, acting: Sequence[int], independent: Iterable[tuple[str, str]]) -> Plan:
    """The plan in which each call also takes the acting calls that ran before it and matter to it."""
    independent_pairs = {frozenset(pair) for pair in independent}
    acts, before = set(acting), list[int]()
    calls = list(plan.calls)
    for position in running_order(plan):
        call = plan.calls[position]
        after: Bag = Bag()
        for earlier in reversed(before):
            other = plan.calls[earlier]
            tools = [frozenset((a, b)) for a in (call.tool, call.name) for b in (other.tool, other.name)]
            if (position in acts or call.app == other.app) and independent_pairs.isdisjoint(tools):
                after.append(Ref(earlier))
                if not independent_pairs:  # the one before takes those before it
                    break
        if after:
            calls[position] = replace(call, arguments=(*call.arguments, (_ORDER_ARGUMENT, after)))
        if position in acts:
            before.append(position)
    return replace(plan, calls=tuple(calls))


def same_meaning(
    pred: Plan,
    gold: Plan,
    *,
    answer: str = "sinks",
    acts: Iterable[str] = (),
    independent: Iterable[tuple[str, str]] = (),
) -> bool:
    """Whether two plans would come to the same, whatever their tools answer.

    Args:
        pred: The prediction.
        gold: What was wanted.
        answer: As for :func:`symbolic`.
        acts: As for :func:`symbolic`.
        independent: As for :func:`symbolic`.

    >>> from planner_eval.plan.model import Call
    >>> once = Plan((Call("a", "f"), Call("c", "g", (("x", Ref(0)), ("y", Ref(0))))))
    >>> twice = Plan((Call("a", "f"), Call("b", "f"), Call("c", "g", (("x", Ref(0)), ("y", Ref(1))))))
    >>> same_meaning(once, twice)
    True
    """
    tools, independent_pairs = frozenset(acts), frozenset(independent)
    pred_terms, gold_terms = (
        symbolic(plan, answer=answer, acts=tools, independent=independent_pairs) for plan in (pred, gold)
    )
    # calls in a circle come to nothing: only their form is left
    if "" in pred_terms.keys or "" in gold_terms.keys:
        return same(pred, gold)
    if pred_terms.meaning != gold_terms.meaning:
        return False
    pred_acts, gold_acts = (
        sorted(terms.keys[position] for position in terms.acting) for terms in (pred_terms, gold_terms)
    )
    return pred_acts == gold_acts


def _output_calls(plan: Plan, answer: str) -> list[int]:
    if plan.answer:
        refs = (ref for _, value in plan.answer for _, ref in references(value))
        return [ref.call for ref in refs if isinstance(ref, Ref)]
    if answer == "last":
        return [len(plan.calls) - 1] if plan.calls else []
    return sink_calls(plan)


# ---------------------------------------------------------------- for people
def _term_texts(plan: Plan, needs: Sequence[Sequence[int]]) -> tuple[str, ...]:
    """Each call's term as text; every text is cut, so that shared producers cannot blow one up."""
    texts: list[str | None] = [None] * len(plan.calls)
    for start in range(len(plan.calls)):
        stack = [start]
        under_way: set[int] = set()
        while stack:
            position = stack[-1]
            lacking = [p for p in needs[position] if texts[p] is None and p not in under_way]
            if texts[position] is None and lacking and position not in under_way:
                under_way.add(position)
                stack += lacking
            else:
                stack.pop()
                under_way.discard(position)
                if texts[position] is None:
                    texts[position] = _format_term(plan, position, texts)
    return tuple(text or "" for text in texts)


def _format_term(plan: Plan, position: int, texts: Sequence[str | None]) -> str:
    call = plan.calls[position]
    arguments = ", ".join(f"{name}={_format_value(value, texts)}" for name, value in call.arguments)
    return shorten(f"{call.tool}({arguments})", MAX_TERM_LENGTH)


def _format_value(value: Value, texts: Sequence[str | None]) -> str:
    def leaf(value: Value) -> str:
        if isinstance(value, Unresolved):
            return f"?{value.name}"
        if not isinstance(value, Ref):
            return repr(value)[:MAX_TERM_LENGTH]
        steps = "".join(f".{step}" if isinstance(step, str) else f"[{step}]" for step in value.path)
        return (texts[value.call] or "⟲") + steps

    def fields(members: dict[str, str]) -> str:
        return (
            "{" + ", ".join(f"{key!r}: {item}" for key, item in list(members.items())[:MAX_TERM_LENGTH]) + "}"
        )

    def text(pieces: tuple[Value, ...]) -> str:
        return "'" + "".join(p if isinstance(p, str) else "{" + leaf(p) + "}" for p in pieces) + "'"

    return str(
        fold(
            value,
            leaf,
            items=lambda items: f"[{', '.join(items[:MAX_TERM_LENGTH])}]",
            fields=fields,
            text=text,
        )
    )
