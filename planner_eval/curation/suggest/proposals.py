"""What may mend one fault: operations of a patch, with reasons and how likely they are; none is tried yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from planner_eval.base.text import one_line_json, shorten
from planner_eval.catalogs.catalog import ANY, Parameter, Tool, Type
from planner_eval.catalogs.value_errors import ValueChecker, format_path, is_compatible
from planner_eval.curation.shrink.steps import replace_values
from planner_eval.curation.suggest.candidates import (
    MAX_NAME_CHARACTERS,
    MAX_TOOLS,
    MIN_LETTER_SIMILARITY,
    ExpectedOutput,
    Producers,
    ToolIndex,
    are_opposites,
    argument_fit,
    describe_stray_words,
    find_parameter,
    has_parameter,
    is_meaningless_name,
    is_numbered_otherwise,
    is_other_word,
    name_similarity,
    strip_number,
)
from planner_eval.curation.suggest.faults import (
    AS_TEXT,
    NO_APP,
    CallNames,
    Fault,
    FaultKey,
    fault_key,
    find_difference,
    find_faults,
    value_at_path,
)
from planner_eval.curation.suggest.queries import find_named_values, plan_literals
from planner_eval.curation.suggest.values import Interpretation, find_interpretations
from planner_eval.plan import graph
from planner_eval.plan.inference import last_name
from planner_eval.plan.model import Arguments, Call, Path, Plan, Ref, Template, Unresolved, Value, references
from planner_eval.reading.dialects.notations.plan import value_data

_MIN_NAME_SIMILARITY = 0.5
"""Names less alike than this share letters by chance."""

_DOUBT_FACTOR = 0.6
"""What a score is times where the names say another thing: it is then less than what a patch takes."""

_MODEL_SCORE = 0.5
"""A model's fix is behind whatever the catalog shows, and before nothing."""

Operations: TypeAlias = tuple[Mapping[str, Any], ...]
"""What is done, as :mod:`planner_eval.comparison.patch` has it."""


class Fix(NamedTuple):
    """One way to mend a fault.

    Args:
        says: What is done, in words.
        reason: Why it is likely.
        score: How likely it is, from 0 to 1: for ranking; no probability.
        source: Whose it is: ``"catalog"``, ``"plan"``, ``"query"`` or ``"model"``.
        operations: What is done, as a patch has it.
    """

    says: str
    reason: str
    score: float
    source: str
    operations: Operations


class FixFinder:
    """What may mend the faults of one plan.

    Args:
        plan: The plan.
        tools: The tools it may call.
        query: What the user asked; "" where that is not known.
    """

    def __init__(self, plan: Plan, tools: ToolIndex, query: str = "") -> None:
        self.plan, self.tools, self.query = plan, tools, query
        self.checker = ValueChecker(tools.catalog.text_values, tools.catalog.holes)

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """What is wrong with the plan."""
        return find_faults(self.plan, self.tools.catalog)

    @cached_property
    def counts(self) -> Counter[FaultKey]:
        """How often each fault is there."""
        return Counter(fault_key(self.plan, fault) for fault in self.faults)

    @cached_property
    def producers(self) -> Producers:
        """The outputs of the plan's calls."""
        return Producers(self.plan, self.tools.catalog)

    @cached_property
    def call_names(self) -> CallNames:
        """Which names mean a call or its output."""
        return CallNames(self.plan, self.tools.catalog)

    @cached_property
    def literals(self) -> frozenset[str]:
        """The literals of the plan."""
        return plan_literals(self.plan)

    @cached_property
    def order(self) -> list[int] | None:
        """The calls in the order in which they need one another; None where they do so in a circle."""
        needs = graph.producers(self.plan)
        order = [call for calls in graph.generations(needs, singly=True) for call in calls]
        return order if len(order) == len(needs) else None

    def of(self, fault: Fault) -> list[Fix]:
        """What may mend a fault, the likeliest first.

        Args:
            fault: The fault.
        """
        fixes = _FaultFixes(self, fault)
        names = [name for name, _ in fixes.call.arguments]
        if (
            fault.call is not None and names.count(fixes.name) > 1
        ):  # which of the two is at fault nobody knows
            return []
        candidates = (fix for method in _FIX_METHODS.get(fault.code, ()) for fix in method(fixes))
        return sorted(candidates, key=lambda fix: -fix.score)

    def read_answer(self, fault: Fault, key: str, value: Any) -> Fix | None:
        """A model's answer as a fix; None where it does not belong to the fault.

        Args:
            fault: The fault.
            key: What it gives: another ``"tool"``, the name of another ``"argument"``, another ``"value"``.
            value: The name, or the value as JSON data.
        """
        fix = None if fault.call is None else _FaultFixes(self, fault).as_answered(key, value)
        return fix and fix._replace(reason="the model suggests this", score=_MODEL_SCORE, source="model")


class _FaultFixes:
    """What may mend one fault: references of the answer stand in no call, but in one without a tool.

    Args:
        finder: What is known of its plan.
        fault: The fault.
    """

    def __init__(self, finder: FixFinder, fault: Fault) -> None:
        self.finder, self.fault, self.name = finder, fault, fault.argument or ""
        self.plan, self.producers, self.checker = finder.plan, finder.producers, finder.checker
        self.catalog = finder.tools.catalog
        self.position = len(self.plan.calls) if fault.call is None else fault.call
        self.call = (*self.plan.calls, Call("", "", self.plan.answer or ()))[self.position]
        self.tool = None if fault.call is None else self.producers.tools[fault.call]
        self.parameter = find_parameter(self.tool, self.name)
        self.arguments = dict(self.call.arguments)
        self.value = self.arguments.get(self.name)

    def _type(self, path: Path) -> Type:
        return ANY if self.parameter is None else self.parameter.type.at(path) or ANY

    # ------------------------------------------------------------ tools
    def _other_tool(self) -> Iterator[Fix]:
        call = self.call
        used = [edge.path for edge in self.plan.edges if edge.producer == self.position][:MAX_TOOLS]
        paths = [*used, *((output,) for output in call.returns[:MAX_TOOLS])]
        for tool in self.finder.tools.near(call):
            name = max(name_similarity(call.name, tool.name), name_similarity(call.tool, tool.full_name))
            fit = argument_fit(call, tool)
            if name < 0.4 and fit < 0.99:
                continue
            gives = sum(tool.output(path) is not None for path in paths) / len(paths) if paths else 0.5
            score = 0.62 * name + 0.24 * fit + 0.1 * gives
            score += 0.06 if call.app and tool.app == call.app else 0.0
            same = "it has this name except for case, punctuation or app"
            reasons = [f"its name is {name:.0%} similar" if name < 1 else same]
            opposite = are_opposites(call.name.rpartition(".")[2], tool.name)
            doubt = "but means the opposite" if opposite else name < 1 and describe_stray_words(call, tool)
            if doubt:
                score *= _DOUBT_FACTOR
                reasons.append(doubt)
            reasons += ["it has these arguments"] if fit == 1 and call.arguments else []
            reasons += ["it returns the outputs that are used"] if paths and gives == 1 else []
            yield self._renamed(tool, ", ".join(reasons), min(score, 0.97), f"call {tool.full_name}")

    def _other_app(self) -> Iterator[Fix]:
        call, apps = self.call, {c.app for c in self.plan.calls}
        names = dict.fromkeys((call.name, call.name.rpartition(".")[2]))
        offers = [tool for name in names for tool in self.catalog.named(name) if tool.app]
        for tool in offers:
            likeness = name_similarity(call.app or "", tool.app or "")
            score = 0.62 + 0.2 * argument_fit(call, tool) + 0.08 * likeness + 0.05 * (tool.app in apps)
            if len(offers) == 1:
                yield self._renamed(tool, "the only app that offers it", max(score, 0.93))
            else:
                yield self._renamed(tool, "it offers the tool", min(score, 0.92))

    def _same_name(self) -> Iterator[Fix]:
        """The tool of that name which another app offers, where the arguments are its."""
        call, tool = self.call, self.tool
        if tool is None or tool.app is None or argument_fit(call, tool) == 1:
            return
        # An app that takes all that is given may be the right one, and a value be left out
        score = 0.57 if all(has_parameter(tool, name) for name in self.arguments) else 0.9
        for other in self.catalog.named(call.name):
            if other.app not in (None, tool.app) and argument_fit(call, other) == 1:
                yield self._renamed(other, "it has these arguments", score)

    def _renamed(self, tool: Tool, reason: str, score: float, says: str = "") -> Fix:
        rename = self._operation("rename", app=tool.app, name=tool.name)
        return Fix(says or f"call the tool of {tool.app}", reason, score, "catalog", (rename,))

    # ------------------------------------------------------------ arguments
    def _other_name(self) -> Iterator[Fix]:
        """An argument that the tool does not take, under the name of one that it takes."""
        tool, name = self.tool, self.name
        if tool is None or self.parameter is not None or name not in self.arguments:
            yield from self._other_value()
            return
        free = [p for p in tool.parameters if p.name not in self.arguments]
        needed = [p for p in free if p.required]
        misnamed = [key for key in self.arguments if not has_parameter(tool, key)][:MAX_TOOLS]
        free_names = [p.name for p in free][:MAX_TOOLS]
        counted_apart = is_numbered_otherwise(misnamed, free_names)
        stem = strip_number if counted_apart else str
        targets = free_names if len(needed) != len(misnamed) else [p.name for p in needed]
        says_which = any(
            name_similarity(key, target) >= MIN_LETTER_SIMILARITY for key in misnamed for target in targets
        )
        in_place = None  # what stands where the name stands, unless the names themselves say which it is
        if (counted_apart or not says_which) and 1 < len(misnamed) <= len(targets):
            in_place = dict(zip(misnamed, targets, strict=False)).get(name)
        other_names = [stem(key) for key in misnamed if key != name]
        renames: list[Fix] = []
        for parameter in free[:200]:
            score, reason = self._rename_score(parameter, stem, other_names, only=[parameter] == needed)
            if parameter.name == in_place and reason:
                score, reason = score + 0.05, f"{reason}, and it has the same position"
            renames += self._moved(parameter, reason, score) if reason else ()
        yield from renames
        if len(self.arguments) == len(self.call.arguments):  # what was chosen is kept where it can be
            rank = min([0.25 if needed else 0.5, *(0.9 * fix.score for fix in renames)])
            yield self._removed(f"{tool.full_name} has no argument with this name", rank)

    def _rename_score(
        self, parameter: Parameter, stem: Callable[[str], str], other_names: Sequence[str], *, only: bool
    ) -> tuple[float, str]:
        """How likely a parameter is what a name means, and why; no reason where it is not."""
        name, other = stem(self.name), stem(parameter.name)
        opposite = are_opposites(self.name, parameter.name)
        likeness = 0.0 if opposite else name_similarity(name, other)
        if likeness < 0.3 and not parameter.required:
            return 0.0, ""
        score = 0.1 + 0.55 * likeness * (1 if likeness >= _MIN_NAME_SIMILARITY else 0.4)
        score += 0.18 * parameter.required + 0.1 * only
        if any(name_similarity(key, other) > max(likeness, _MIN_NAME_SIMILARITY) for key in other_names):
            score *= _DOUBT_FACTOR  # another one is rather meant by it
        elif likeness >= MIN_LETTER_SIMILARITY and is_other_word(name, other):
            score = min(_DOUBT_FACTOR * score, 0.45)  # return_date is not departure_date
        close = likeness >= MIN_LETTER_SIMILARITY
        reason = f"the names are {likeness:.0%} similar" if close else "it is required and missing"
        elsewhere = self._elsewhere(parameter) if parameter.required and not opposite else {}
        if isinstance(self.value, (str, int, float)) and [*elsewhere] == [repr(self.value)]:
            return score + 0.25, f"{reason}, and other calls pass {parameter.name} this way"
        return score, reason

    def _removed(self, reason: str, score: float) -> Fix:
        """A call without an argument."""
        unset = self._operation("unset", argument=self.name)
        return Fix(f"remove {self.name[:MAX_NAME_CHARACTERS]}", reason, score, "catalog", (unset,))

    def _moved(self, to: Parameter, reason: str, score: float) -> Iterator[Fix]:
        """A value under another name, as it is, or as what it may mean where that does not fit."""
        name, value = self.name, self.value
        readings = [Interpretation(value, "", 1.0)]
        is_reference = isinstance(value, (Ref, Unresolved, Template))
        if not is_reference and self.checker.wrong(value, to.type):
            readings = self._readings(to)[:2]
        for reading in readings:
            pairs = tuple(
                (to.name, reading.value) if key == name else (key, old) for key, old in self.call.arguments
            )
            says, why = f"rename {name[:MAX_NAME_CHARACTERS]} to {to.name}", reason
            if reading.reason:
                says += f", set {to.name} = {self._format_value(reading.value)}"
                why += f"; {reading.reason}"
            sure = score + (0.05 if is_reference else 0.1 * reading.score)
            operations = self._operations(pairs, (name, to.name))
            yield Fix(says, why, min(sure, 0.97, reading.score), "catalog", operations)

    def _filled(self) -> Iterator[Fix]:
        """A value for an argument that is needed and not given."""
        tool, parameter = self.tool, self.parameter
        if parameter is None or tool is None or self.name in self.arguments:
            yield from self._other_value()
            return
        misnamed = [key for key, _ in self.call.arguments if not has_parameter(tool, key)]
        for other in misnamed:  # a misnamed argument is what is missing
            for fix in _FaultFixes(self.finder, self.fault._replace(argument=other))._other_name():
                if any(operation.get("argument") == self.name for operation in fix.operations):
                    yield fix
        for fix in self._given_anew(parameter):  # it leaves what is misnamed as a fault
            yield fix._replace(score=(_DOUBT_FACTOR if misnamed else 1) * fix.score)

    def _given_anew(self, parameter: Parameter) -> Iterator[Fix]:
        """A value for an argument that no other argument holds."""
        kind = parameter.type
        for candidate in self.producers.candidates(ExpectedOutput(self.position, self.name, kind))[:8]:
            yield self._set(candidate.ref, candidate.reason, candidate.unasked, "plan")
        elsewhere = [*self._elsewhere(parameter).values()]
        for value in elsewhere[:5]:
            reason = f"other calls pass {self.name[:MAX_NAME_CHARACTERS]} this way"
            yield self._set(value, reason, 0.86 if len(elsewhere) == 1 else 0.6, "plan")
        for meaning in self._asked(parameter):
            yield self._set(meaning.value, meaning.reason, meaning.score, "query")
        for hole in self.catalog.holes:
            yield self._set(hole, "what plans of this catalog write for an unknown value", 0.5)
        if parameter.has_default:
            yield self._set(parameter.default, "the tool uses it by default", 0.55)
        if kind.enum is not None and len(kind.enum) == 1:
            yield self._set(kind.enum[0], "it is the only value allowed", 0.95)

    def _asked(self, parameter: Parameter) -> list[Interpretation]:
        """What the question says of a parameter."""
        if not self.finder.query or self.tool is None:
            return []
        names = [p.name for p in self.tool.parameters]
        free = [name for name in names if name != parameter.name and name not in self.arguments]
        return find_named_values(self.finder.query, parameter, self.checker, self.finder.literals, free)

    def _elsewhere(self, parameter: Parameter) -> dict[str, Value]:
        """The literals that calls of other tools give under a parameter's name, by how they are written."""
        seen: dict[str, Value] = {}
        if is_meaningless_name(parameter.name):
            return seen
        for call in self.plan.calls[:500]:
            value = dict(call.arguments).get(parameter.name, self)
            if value is self or call.name == self.call.name or value in self.catalog.holes:
                continue
            late = any(not isinstance(ref, Ref) or ref.call >= self.position for _, ref in references(value))
            if not late and not self.checker.wrong(value, parameter.type):
                seen[repr(value)] = value
        return seen

    def _readings(self, parameter: Parameter) -> list[Interpretation]:
        """What the value may mean that stands where a parameter does not take it."""
        about = f"{parameter.name}\n{parameter.description}"
        return find_interpretations(self.value, parameter.type, self.checker, about)

    def _other_value(self) -> Iterator[Fix]:
        """A value that the tool takes, in place of one that it does not."""
        parameter, value = self.parameter, self.value
        if parameter is None or self.name not in self.arguments:
            return
        for reading in self._readings(parameter)[:6]:
            yield self._set(reading.value, reading.reason, reading.score)
        if isinstance(value, str):
            ref = self.finder.call_names.named(value, self.position, bare=True)
            if ref is not None:
                yield self._set(ref, "the text names an earlier call's output", 0.96, "plan")
            first, *steps = value.strip("${}<># ").split(".")
            path = tuple(step for step in steps if step)[:5] or None
            expected = ExpectedOutput(self.position, self.name, parameter.type, first[:80], path)
            for candidate in self.producers.candidates(expected)[:4]:
                reason = f"a reference instead of the text: {candidate.reason}"
                yield self._set(candidate.ref, reason, 0.75 * candidate.unasked, "plan")
        if not isinstance(value, (list, dict)):
            for meaning in self._asked(parameter)[:4]:
                yield self._set(meaning.value, meaning.reason, 0.55 * meaning.score, "query")
        if not parameter.required:
            empty = value is None or (isinstance(value, str) and not value.strip())
            reason = "the tool does not require it" + (", and it is empty" if empty else "")
            yield self._removed(reason, 0.9 if empty else 0.2)

    # ------------------------------------------------------------ references
    def _referred(self) -> Iterator[Fix]:
        """A reference in place of a text that names an output."""
        text = value_at_path(self.value, self.fault.at)
        ref = self.finder.call_names.named(text, self.position) if isinstance(text, str) else None
        if ref is None:
            return
        has = self.producers.has
        outputs = () if has(ref.call, ref.path) else self.producers.outputs(ref.call)
        for number, path in enumerate([ref.path, *outputs]):
            if has(ref.call, path):
                referring = replace_values(self.value, {self.fault.at: Ref(ref.call, path)})
                reason = "the whole text is the name of this output"
                yield self._set(referring, reason, 0.93 - 0.1 * min(number, 3), "plan")

    def _other_output(self) -> Iterator[Fix]:
        """Another output in place of one that is not there, or does not fit."""
        of_reference = self.fault.code.startswith("reference.")
        for path, ref in references(self.value):
            if path == self.fault.at if of_reference else isinstance(ref, Ref):
                yield from self._other_outputs(path, ref)

    def _other_outputs(self, path: Path, ref: Ref | Unresolved) -> Iterator[Fix]:
        value = self.value
        inside = bool(path) and isinstance(value_at_path(value, path[:-1]), Template)
        kind = ANY if inside else self._type(path)
        name, producer = (None, ref.call) if isinstance(ref, Ref) else (ref.name, None)
        output = self.producers.type_of(ref) if isinstance(ref, Ref) else None
        takes_list = "array" in kind.unfolded.kinds and not inside
        if takes_list and output != ANY and self._takes(kind.items or ANY, output):
            yield self._set(replace_values(value, {path: [ref]}), "a list of this one output", 0.85)
        # what is named need only be written before; or what the catalog says of its type is doubtful
        in_order = self.fault.code == "reference.forward" and self._in_order() is not None
        is_named = name_similarity(self.name, last_name(ref.path)) > 0.9
        most = 0.5 if self.fault.code == "check.output_type" and is_named else 1
        target = ExpectedOutput(self.position, self.name, kind, name, ref.path, producer)
        for candidate in self.producers.candidates(target)[:10]:
            if candidate.ref != ref:
                score = min(most, candidate.score * (_DOUBT_FACTOR if in_order else 1))
                other = replace_values(value, {path: candidate.ref})
                yield self._set(other, candidate.reason, score, "plan")

    def _takes(self, kind: Type, output: Type | None) -> bool:
        """Whether an output may go where a type is declared."""
        return output is not None and is_compatible(output, kind, texts=self.producers.texts)

    def _in_order(self) -> float | None:
        """How likely it is that the calls only need another order.

        None where there is no such order, or where the call that is named has no such output.
        """
        ref = dict(references(self.value)).get(self.fault.at)
        if self.finder.order is None or not isinstance(ref, Ref):
            return None
        return 0.9 if self._takes(self._type(self.fault.at), self.producers.type_of(ref)) else None

    def _other_order(self) -> Iterator[Fix]:
        """The calls in an order in which what is referred to comes first."""
        if self.finder.order is None:
            return
        ids = [self.plan.calls[index].id for index in self.finder.order]
        says = "write the calls in the order of their dependencies"
        reason = "then every reference is to an earlier call"
        order = {"op": "order", "ids": ids, "why": self.fault.code}
        yield Fix(says, reason, self._in_order() or 0.5, "plan", (order,))

    # ------------------------------------------------------------ a model's answer
    def as_answered(self, key: str, value: Any) -> Fix | None:
        """What a model's answer makes of the call."""
        name, arguments = self.name, self.arguments
        if key == "tool":
            app, _, bare = value.rpartition(".")
            tool = next(iter(self.catalog.find(value) or self.catalog.find(bare, app or None)), None)
            return None if tool is None else self._renamed(tool, "", 0, f"call {tool.full_name}")
        if self.fault.argument is None or len(arguments) < len(self.call.arguments):
            return None
        if key == "value":
            if name in arguments and self.fault.code == "check.missing_argument":
                return None
            says = (
                f"{'set' if name in arguments else 'give'} {shorten(name, 40)} = {one_line_json(value, 60)}"
            )
            return Fix(says, "", 0, "", (self._operation("set", argument=name, value=value),))
        if name not in arguments or value in arguments:
            return None  # what is given under the other name would be lost
        moved = self._operation("set", argument=value, value=value_data(arguments[name], self.plan))
        says = f"rename {shorten(name, 40)} to {shorten(value, 40)}"
        return Fix(says, "", 0, "", (self._operation("unset", argument=name), moved))

    # ------------------------------------------------------------ operations
    def _set(self, value: Value, reason: str, score: float, source: str = "catalog") -> Fix:
        name, is_given = self.name, self.name in self.arguments
        pairs = tuple((key, value if key == name else old) for key, old in self.call.arguments)
        path, new_value = find_difference(self.value, value) if is_given else ((), value)
        target = format_path(name[:MAX_NAME_CHARACTERS], path)[: 3 * MAX_NAME_CHARACTERS]
        says = f"{'set' if is_given else 'give'} {target} = {self._format_value(new_value)}"
        operations = self._operations(pairs if is_given else (*pairs, (name, value)), (name,))
        return Fix(says, reason, score, source, operations)

    def _format_value(self, value: Value) -> str:
        if isinstance(value, Ref):
            call = self.plan.calls[value.call]
            return f"{format_path(call.id, value.path)} ({call.name})"
        return one_line_json(value_data(value, self.plan), 60)

    def _operation(self, op: str, **fields: Any) -> dict[str, Any]:
        return {"op": op, "id": self.call.id, **fields, "why": self.fault.code}

    def _operations(self, pairs: Arguments, names: Iterable[str]) -> Operations:
        """The operations by which a call gets its arguments, of which some are other than they were."""
        listed = [[key, value_data(value, self.plan)] for key, value in pairs]
        arguments: dict[str, Any] = dict(listed)
        if self.fault.call is None:
            return ({"op": "answer", "value": arguments, "why": self.fault.code},)
        if len(self.arguments) < len(self.call.arguments) or len(arguments) < len(pairs):
            return (self._operation("arguments", arguments=listed),)
        return tuple(
            self._operation("set", argument=name, value=arguments[name])
            if name in arguments
            else self._operation("unset", argument=name)
            for name in names
        )


_FIX_METHODS: dict[str, tuple[Callable[[_FaultFixes], Iterator[Fix]], ...]] = {
    "check.unknown_tool": (_FaultFixes._other_tool, _FaultFixes._other_app),
    "check.permission": (_FaultFixes._other_app, _FaultFixes._other_tool),
    **dict.fromkeys(("check.ambiguous_tool", NO_APP), (_FaultFixes._other_app,)),
    "check.unknown_argument": (_FaultFixes._other_name, _FaultFixes._same_name),
    "check.missing_argument": (_FaultFixes._filled, _FaultFixes._same_name),
    **{
        f"check.{fault}": (_FaultFixes._other_value,)
        for fault in ("wrong_type", "format", "enum", "out_of_range", "pattern", "not_allowed")
    },
    **dict.fromkeys(
        ("check.unknown_output", "check.output_type", "reference.unresolved", "reference.self"),
        (_FaultFixes._other_output,),
    ),
    "reference.forward": (_FaultFixes._other_order, _FaultFixes._other_output),
    AS_TEXT: (_FaultFixes._referred,),
}
