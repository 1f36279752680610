"""Outputs that an argument may be meant to take: by name, type, place, and whether anything takes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from planner_eval.catalogs.catalog import ANY, Catalog, Tool, Type
from planner_eval.catalogs.check import find_tool
from planner_eval.catalogs.value_errors import is_compatible
from planner_eval.curation.suggest.faults import has_declared_output
from planner_eval.curation.suggest.names import name_similarity
from planner_eval.plan.model import WHOLE_RESULT_NAMES, Path, Plan, Ref, references

_MAX_CALLS = 400
"""Earlier calls that are looked at, the nearest first."""

_MAX_OUTPUTS = 60


class ExpectedOutput(NamedTuple):
    """What is known of the output that an argument should take.

    Args:
        call: The position of the call with the argument; the number of calls for the answer.
        argument: The argument's name.
        type: What it takes.
        name: What the broken reference is called; None where there is none.
        path: The way into the result that the broken reference has; None where there is none.
        producer: The call that it names all the same.
    """

    call: int
    argument: str
    type: Type
    name: str | None = None
    path: Path | None = None
    producer: int | None = None


class OutputCandidate(NamedTuple):
    """An output that may be meant.

    Args:
        ref: The reference to it.
        score: How likely it is, from 0 to 1.
        reason: Why.
        free: Whether nothing else uses the call's result.
        told: Whether more than the type speaks for it: a name, or what the reference itself says.
    """

    ref: Ref
    score: float
    reason: str
    free: bool = False
    told: bool = True

    @property
    def unasked(self) -> OutputCandidate:
        """The same where no reference stood: a result that merely fits, as most texts do, is unlikely."""
        return self if self.told else self._replace(score=0.6 * self.score)


class Producers:
    """The outputs of a plan's calls.

    Args:
        plan: The plan.
        catalog: The tools it may call.
    """

    def __init__(self, plan: Plan, catalog: Catalog) -> None:
        self.plan = plan
        self.texts = catalog.text_values
        self.tools: list[Tool | None] = [find_tool(call, catalog) for call in plan.calls]
        self._used: Counter[tuple[int, Path]] = Counter()
        self._taken: Counter[int] = Counter()
        self._paths: list[dict[Path, None]] = [{} for _ in plan.calls]
        named = [
            (position, name, value)
            for position, call in enumerate(plan.calls)
            for name, value in call.arguments
        ]
        for position, _, value in [
            *named,
            *((len(plan.calls), name, value) for name, value in plan.answer or ()),
        ]:
            for _, ref in references(value):
                if isinstance(ref, Ref) and ref.call < position:
                    self._used[ref.call, ref.path] += 1
                    self._taken[ref.call] += 1
                    self._paths[ref.call][ref.path] = None
        whole_paths = Counter(
            ref for call, ref in self._used if len(ref) == 1 and ref[0] in WHOLE_RESULT_NAMES
        )
        self._whole: Path = whole_paths.most_common(1)[0][0] if whole_paths else ()

    def outputs(self, position: int) -> Iterator[Path]:
        """The ways into a call's result that there are: declared by its tool, by the call, or used."""
        tool, call = self.tools[position], self.plan.calls[position]
        paths: dict[Path, None] = {}
        if tool is not None and tool.returns.unfolded.fields:
            paths |= dict.fromkeys((field.name,) for field in tool.returns.unfolded.fields[:_MAX_OUTPUTS])
        else:
            paths |= dict.fromkeys((name,) for name in call.returns[:_MAX_OUTPUTS])
            if tool is None or tool.only_output == "" or not paths:
                paths[self._whole] = None
        paths |= self._paths[position]
        yield from paths

    def candidates(self, target: ExpectedOutput) -> list[OutputCandidate]:
        """What an argument may be meant to take, the likeliest first.

        Args:
            target: What is known of it.
        """
        before = range(min(target.call, len(self.plan.calls)))
        outputs: dict[tuple[int, Path], OutputCandidate] = {}
        for position in [*reversed(before)][:_MAX_CALLS]:
            paths = dict.fromkeys(self.outputs(position))
            if target.path is not None and self._has(position, target.path):
                paths[target.path] = None
            for path in paths:
                output = self._weighed(Ref(position, path), target)
                if output is not None:
                    outputs[position, path] = output
        return sorted(
            outputs.values(), key=lambda output: (-output.score, -output.ref.call, str(output.ref.path))
        )

    def _has(self, position: int, path: Path) -> bool:
        tool = self.tools[position]
        return tool is None or tool.output(path) is not None

    def type_of(self, ref: Ref) -> Type | None:
        """The type of an output; None where there can be none of that name."""
        tool = self.tools[ref.call]
        if tool is None:
            return ANY
        output = tool.output(ref.path)
        fields = tool.returns.fields
        if output is not None and not ref.path and len(fields) == 1:
            return fields[0].type
        return output

    def _weighed(self, ref: Ref, target: ExpectedOutput) -> OutputCandidate | None:
        output = self.type_of(ref)
        if output is None or not is_compatible(output, target.type, texts=self.texts):
            return None
        call = self.plan.calls[ref.call]
        last = next((step for step in reversed(ref.path) if isinstance(step, str)), "")
        generic = not last or last in WHOLE_RESULT_NAMES
        reasons: list[tuple[float, str]] = []
        named = 0.0 if generic else name_similarity(target.argument, last)
        if named > 0.6:
            reasons.append((named, f"{last} is named like the argument"))
        meaning = max(
            0.0 if generic else 0.5 * named,
            0.6 * name_similarity(target.argument, call.name) if generic else 0.0,
        )
        score = 0.22 + (0.25 * named if not generic else 0.08 + 0.12 * meaning)
        score += 0.08 if _has_same_kind(output, target.type) else 0.0
        score += 0.2 if named > 0.99 and not generic else 0.0
        free = not self._taken[ref.call]
        if free:
            score += 0.22
        elif not self._used[ref.call, ref.path]:
            score += 0.03
        score += 0.1 / (target.call - ref.call) if target.call > ref.call else 0.0
        score += self._as_written(ref, target, last, reasons)
        if generic and name_similarity(target.argument, call.name) > 0.6:
            reasons.append((0.65, f"{call.name} is named like the argument"))
        has_evidence = bool(reasons)
        if not self._known(ref):
            score *= 1.0 if has_evidence else 0.75
            reasons.append((0.84, f"nothing is known of what {call.name} returns"))
        elif not has_evidence:
            typed = output.kinds and target.type.kinds
            reasons.append((0.8, "only the type fits" if typed else "nothing speaks against it"))
        if free:
            reasons.append((0.7, "nothing else uses its result"))
        text = ", ".join(text for _, text in sorted(reasons, reverse=True)[:2])
        return OutputCandidate(ref, min(score, 0.97), text, free, has_evidence)

    def _known(self, ref: Ref) -> bool:
        """Whether the catalog, or the call itself, says that there is such an output."""
        tool, call = self.tools[ref.call], self.plan.calls[ref.call]
        return (tool is not None and has_declared_output(tool, ref.path)) or bool(
            ref.path and ref.path[0] in call.returns
        )

    def _as_written(
        self, ref: Ref, target: ExpectedOutput, last: str, reasons: list[tuple[float, str]]
    ) -> float:
        """What the broken reference itself tells."""
        more = 0.0
        call = self.plan.calls[ref.call]
        if target.path is not None:
            if ref.path == target.path:
                is_declared = self._known(ref)
                more += 0.22 if is_declared or not target.path else 0.05
                if target.path and is_declared:
                    reasons.append((0.8, "it has the output that is asked for"))
            elif target.path and last:
                target_name = next((step for step in reversed(target.path) if isinstance(step, str)), "")
                more += 0.18 * name_similarity(target_name, last)
                if name_similarity(target_name, last) > 0.6:
                    reasons.append((0.75, f"{last} is named like what is asked for"))
        if target.producer is not None and target.producer == ref.call:
            more += 0.14
            reasons.append((0.6, "it is the call that is named"))
        if target.name:
            labels = _label_similarity(target.name, call.id)
            tool = 0.9 * name_similarity(target.name, call.name)
            field = name_similarity(target.name, last) if last else 0.0
            more += 0.2 * max(labels, tool if tool > 0.55 else 0.0, field if field > 0.6 else 0.0)
            if max(labels, tool, field) > 0.6:
                what = call.id if labels >= max(tool, field) else call.name if tool >= field else last
                reasons.append((0.85, f"{what} is named like the reference"))
        return more


def _has_same_kind(output: Type, into: Type) -> bool:
    return (
        bool(output.kinds and into.kinds and set(output.kinds) & set(into.kinds))
        and output.format == into.format
    )


def _label_similarity(name: str, label: str) -> float:
    """How alike two labels are: ``var_1`` is ``var1`` and ``Var_1``, and no ``var_2``."""
    close = name_similarity(name, label)
    digits = ["".join(filter(str.isdigit, text)) for text in (name, label)]
    return close if digits[0] == digits[1] else 0.2 * close
