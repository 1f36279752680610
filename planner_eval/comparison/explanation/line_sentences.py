"""Several edits in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any, ClassVar

from planner_eval.comparison.explanation.edits import Edit
from planner_eval.comparison.explanation.names import (
    MAX_LISTED,
    CallNames,
    calls_numbers,
    computation_name,
    cut_list,
    format_list,
    links_of,
    tool_label,
    value_name,
)
from planner_eval.comparison.explanation.sentences import (
    argument_name,
    argument_path_name,
    narrow_difference,
)
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.dialect import DEPENDENCY_ARGUMENT


class LineWording:
    """The words for lines that tell several edits of two plans.

    Args:
        pred: The prediction.
        gold: The gold plan.
        names: How calls are called.
    """

    def __init__(self, pred: Plan, gold: Plan, names: CallNames) -> None:
        self.pred, self.gold, self.names = pred, gold, names

    def write(self, name: str, edits: list[Edit], data: Any) -> str:
        """The sentence of edits that are told together.

        Args:
            name: What they are, by which they have their price.
            edits: The edits.
            data: What the sentence needs beside them.
        """
        return self.SENTENCES[name](self, edits, data)

    def _lookups(self, edits: list[Edit], times: Mapping[str, int]) -> str:
        tools = (f"{tool} ×{count}" if count > 1 else f"{tool}" for tool, count in times.items())
        return f"gold lists none of them: {', '.join(tools)}"

    def _computation(self, edits: list[Edit], data: None) -> str:
        return f"computes {computation_name(self.pred)}, expected {computation_name(self.gold)}"

    def _items(self, edits: list[Edit], data: None) -> str:
        messages = [edit.own or edit.message for edit in edits[1:]]
        return "; ".join(cut_list([edits[0].message, *messages]))

    def _same_value(self, edits: list[Edit], data: None) -> str:
        value = value_name(edits[0].pred_value, self.names.our_number)
        return f"{self._argument(edits[0])} is {value}, expected {self._gold_values(edits)}"

    def _copied_value(self, edits: list[Edit], data: None) -> str:
        names = format_list(repr(edit.pred.argument) for edit in edits[1:] if edit.pred is not None)
        are = "is" if len(edits) == 2 else "are"
        return f"{edits[0].message}; {names}, not in gold, {are} the same"

    def _missing_argument(self, edits: list[Edit], data: None) -> str:
        return f"{self._argument(edits[0])} is missing, expected {self._gold_values(edits)}"

    def _argument(self, edit: Edit) -> str:
        call = edit.pred.call if edit.pred is not None else None
        tool = None if call is None else tool_label(self.pred.calls[call])
        return f"{tool}: argument {argument_name(edit.gold)!r}"

    def _gold_values(self, edits: list[Edit]) -> str:
        return format_list(value_name(edit.gold_value, self.names.their_number) for edit in edits)

    def _links(self, edits: list[Edit], data: None) -> str:
        tools = [tool_label(call) for call in self.gold.calls]
        links = (
            f"{tools[ref.call]} → {tools[edit.gold.call or 0]}"
            for edit in edits
            if edit.gold is not None
            for ref in links_of(DEPENDENCY_ARGUMENT, edit.gold_value)
        )
        return f"the links {format_list(links)} are missing"

    def _repeated_run(self, edits: list[Edit], twins: list[int]) -> str:
        return (
            f"{calls_numbers(edit.pred and edit.pred.call for edit in edits)} repeat {calls_numbers(twins)}"
        )

    def _tries(self, edits: list[Edit], data: tuple[int, list[tuple[int, tuple[str, ...]]]]) -> str:
        near_call, calls = data
        texts = []
        for call, changed in calls:
            args, near_args = (dict(self.pred.calls[position].arguments) for position in (call, near_call))
            changes = []
            for name in changed:
                if name in args:
                    path, value, _ = narrow_difference(args[name], near_args.get(name))
                    text = value_name(value, self.names.our_number)
                    changes.append(f"{argument_path_name(name, path)}={text}")
            change = f"with {', '.join(changes)}" if changes else f"without {', '.join(changed)}"
            texts.append(f"{self.names.our_number(call)} {change}")
        return f"near repeats of {self.names.ours(near_call)}: {format_list(texts)}"

    def _end(self, edits: list[Edit], data: tuple[list[int], int | None]) -> str:
        tail, last = data
        plan = self.pred if last is None else self.gold
        number = self.names.our_number if last is None else self.names.their_number
        runs = [[*run] for _, run in groupby(tail, lambda call: tool_label(plan.calls[call]))]
        texts = [
            f"{tool_label(plan.calls[run[0]])}{_format_arguments(plan, run, number)}"
            for run in runs[:MAX_LISTED]
        ]
        if len(runs) > MAX_LISTED:
            texts.append(f"{sum(map(len, runs[MAX_LISTED:]))} more")
        if last is None:
            return f"the plan goes on with {len(tail)} extra calls: {'; '.join(texts)}"
        missing = f"gold's {'; '.join(texts)} are missing" if len(runs) > 1 else self._run(edits, tail)
        return f"the plan stops after {self.names.our_number(last)}: {missing}"

    def _run(self, edits: list[Edit], calls: list[int]) -> str:
        if edits[0].pred is not None:
            details = _format_arguments(self.pred, calls, self.names.our_number)
            return f"{tool_label(self.pred.calls[calls[0]])} is not in gold{details}"
        ends = {edit.own or "" for edit in edits}
        details = _format_arguments(self.gold, calls, self.names.their_number)
        end = ends.pop() if len(ends) == 1 else ""
        return f"gold's {tool_label(self.gold.calls[calls[0]])} is missing{details}{end}"

    def _other_answer(self, edits: list[Edit], data: None) -> str:
        """The values of either answer by their names."""
        ours, theirs = (
            format_list(f"{name!r} = {value_name(value, number)}" for name, value in plan.answer or ())
            for plan, number in ((self.pred, self.names.our_number), (self.gold, self.names.their_number))
        )
        return f"the answer gives {ours}, expected {theirs}"

    def _missing_answer(self, edits: list[Edit], data: None) -> str:
        names = format_list(repr(argument_name(edit.gold)) for edit in edits)
        return f"the answer lacks {names}"

    SENTENCES: ClassVar[dict[str, Callable[[LineWording, list[Edit], Any], str]]] = {
        "lookup": _lookups, "other computation": _computation, "items": _items, "item": _items,
        "same value": _same_value, "copied value": _copied_value, "missing throughout": _missing_argument,
        "missing together": _items, "other answer": _other_answer, "missing answer": _missing_answer,
        "links": _links, "repeated run": _repeated_run, "tries": _tries, "end": _end, "run": _run,
    }  # fmt: skip
    """The sentence of each line by its name."""


def _format_arguments(plan: Plan, calls: list[int], number: Callable[[int], str]) -> str:
    """What calls of one tool are given: ``, with room="attic" and "hall", each time with floor=1``."""
    texts = [
        {
            name: value_name(value, number)
            for name, value in plan.calls[call].arguments
            if name != DEPENDENCY_ARGUMENT
        }
        for call in calls
    ]
    shared = {
        name: text for name, text in texts[0].items() if all(other.get(name) == text for other in texts)
    }
    own_texts = [{name: text for name, text in given.items() if name not in shared} for given in texts]
    call_texts = [", ".join(f"{name}={text}" for name, text in own.items()) for own in own_texts]
    varying = {name for own in own_texts for name in own}
    if len(varying) == 1 and all(own_texts):
        details = format_list([call_texts[0], *(text for own in own_texts[1:] for text in own.values())])
    else:
        details = "; ".join(cut_list([text or "nothing" for text in call_texts]))
    details = f", with {details}" if varying else ""
    shared_text = ", ".join(f"{name}={text}" for name, text in shared.items())
    if len(calls) == 1:
        return f" with {shared_text}" if shared else ""
    return details + (f", each time with {shared_text}" if shared else "")
