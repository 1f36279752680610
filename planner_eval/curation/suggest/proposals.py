"""What may mend one fault: operations of a patch, with reasons and how likely they are; none is tried yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from planner_eval.base.text import one_line_json
from planner_eval.catalogs.catalog import ANY, Parameter, Tool, Type
from planner_eval.catalogs.value_errors import ValueChecker, format_path, is_compatible
from planner_eval.curation.shrink.steps import replace_values
from planner_eval.curation.suggest.candidates import (
    ExpectedOutput,
    Producers,
    are_opposites,
    name_similarity,
)
from planner_eval.curation.suggest.faults import (
    AS_TEXT,
    NO_APP,
    Fault,
    FaultKey,
    fault_key,
    find_difference,
    find_faults,
    read_text_reference,
    text_reference,
    value_at_path,
)
from planner_eval.curation.suggest.queries import find_named_values, plan_literals
from planner_eval.curation.suggest.tool_names import (
    MAX_NAME_CHARACTERS,
    MAX_TOOLS,
    MIN_LETTER_SIMILARITY,
    ToolIndex,
    are_names_alike,
    argument_fit,
    describe_stray_words,
    find_parameter,
    has_parameter,
    is_meaningless_name,
    is_numbered_otherwise,
    is_other_word,
    name_at_same_position,
    strip_number,
)
from planner_eval.curation.suggest.values import Interpretation, find_interpretations
from planner_eval.plan.graph import generations
from planner_eval.plan.inference import last_name
from planner_eval.plan.model import Arguments, Call, Path, Plan, Ref, Template, Unresolved, Value, references
from planner_eval.reading.dialects.notations.plan import value_data

_MIN_NAME_SIMILARITY = 0.5
"""Names less alike than this share letters by chance."""

_DOUBT_FACTOR = 0.6
"""What a score is times where the names say another thing: it is then less than what a patch takes."""


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
        self.catalog = tools.catalog
        self.parts = ValueChecker(self.catalog.text_values, self.catalog.holes)

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """What is wrong with the plan."""
        return find_faults(self.plan, self.catalog)

    @cached_property
    def counts(self) -> Counter[FaultKey]:
        """How often each fault is there."""
        return Counter(fault_key(self.plan, fault) for fault in self.faults)

    @cached_property
    def producers(self) -> Producers:
        """The outputs of the plan's calls."""
        return Producers(self.plan, self.catalog)

    @cached_property
    def said(self) -> frozenset[str]:
        """The literals of the plan."""
        return plan_literals(self.plan)

    @cached_property
    def order(self) -> list[int] | None:
        """The calls in the order in which they need one another; None where they do so in a circle."""
        needs: list[list[int]] = [[] for _ in self.plan.calls]
        for edge in self.plan.edges:
            needs[edge.consumer].append(edge.producer)
        order = [position for generation in generations(needs, singly=True) for position in generation]
        return order if len(order) == len(needs) else None

    def of(self, fault: Fault) -> list[Fix]:
        """What may mend a fault, the likeliest first.

        Args:
            fault: The fault.
        """
        kinds = _FIX_METHODS.get(fault.code, ())
        if fault.call is not None:
            names = [name for name, _ in self.plan.calls[fault.call].arguments]
            if names.count(fault.argument or "") > 1:  # which of the two is at fault nobody knows
                return []
        if fault.call is None and fault.code.startswith(("reference.", "check.unknown_output")):
            kinds = (_FaultFixes._other_output,)
        mends = [mend for kind in kinds for mend in kind(_FaultFixes(self, fault))]
        return sorted(mends, key=lambda mend: -mend.score)


class _FaultFixes:
    """What may mend one fault.

    Args:
        finder: What is known of its plan.
        fault: The fault.
    """

    def __init__(self, finder: FixFinder, fault: Fault) -> None:
        self.finder, self.fault, self.name = finder, fault, fault.argument or ""
        self.plan, self.tools, self.query = finder.plan, finder.tools, finder.query
        self.catalog, self.parts = finder.catalog, finder.parts
        self.position = len(self.plan.calls) if fault.call is None else fault.call

    @property
    def producers(self) -> Producers:
        """The outputs of the plan's calls."""
        return self.finder.producers

    @property
    def call(self) -> Call:
        """The call concerned; only references of the answer stand in none."""
        return self.plan.calls[self.position]

    @property
    def tool(self) -> Tool | None:
        """The tool that the call means."""
        return None if self.fault.call is None else self.producers.tools[self.position]

    @property
    def parameter(self) -> Parameter | None:
        """What the tool declares for the argument concerned."""
        return find_parameter(self.tool, self.name)

    def _arguments(self) -> Arguments:
        return self.plan.answer or () if self.fault.call is None else self.call.arguments

    def _value(self) -> Value:
        return dict(self._arguments())[self.name]

    def _type(self, path: Path) -> Type:
        return ANY if self.parameter is None else self.parameter.type.at(path) or ANY

    # ------------------------------------------------------------ tools
    def _other_tool(self) -> Iterator[Fix]:
        call = self.call
        used_paths = [edge.path for edge in self.plan.edges if edge.producer == self.position][:MAX_TOOLS]
        for tool in self.tools.near(call):
            name = max(name_similarity(call.name, tool.name), name_similarity(call.tool, tool.full_name))
            fit = argument_fit(call, tool)
            paths = [*used_paths, *((returned,) for returned in call.returns[:MAX_TOOLS])]
            gives = sum(tool.output(path) is not None for path in paths) / len(paths) if paths else 0.5
            app = 0.06 if call.app and tool.app == call.app else 0.0
            score = 0.62 * name + 0.24 * fit + 0.1 * gives + app
            if name < 0.4 and fit < 0.99:
                continue
            reasons = (
                [f"its name is {name:.0%} similar"]
                if name < 1
                else ["it has this name except for case, punctuation or app"]
            )
            if are_opposites(call.name.rpartition(".")[2], tool.name):
                score *= _DOUBT_FACTOR
                reasons += ["but means the opposite"]
            elif name < 1 and (difference := describe_stray_words(call, tool)):
                score *= _DOUBT_FACTOR
                reasons += [difference]
            reasons += ["it has these arguments"] if fit == 1 and call.arguments else []
            reasons += ["it returns the outputs that are used"] if paths and gives == 1 else []
            yield self._renamed(tool, f"call {tool.full_name}", ", ".join(reasons), min(score, 0.97))

    def _other_app(self) -> Iterator[Fix]:
        call = self.call
        bare = call.name.rpartition(".")[2]
        offers = [
            tool for name in dict.fromkeys((call.name, bare)) for tool in self.catalog.named(name) if tool.app
        ]
        apps = {c.app for c in self.plan.calls}
        for tool in offers:
            likeness = name_similarity(call.app or "", tool.app or "")
            score = (
                0.62 + 0.2 * argument_fit(call, tool) + 0.08 * likeness + (0.05 if tool.app in apps else 0.0)
            )
            only = "the only app that offers it" if len(offers) == 1 else "it offers the tool"
            score = max(score, 0.93) if len(offers) == 1 else min(score, 0.92)
            yield self._renamed(tool, f"call the tool of {tool.app}", only, score)

    def _same_name(self) -> Iterator[Fix]:
        """The tool of that name which another app offers, where the arguments are its."""
        call, tool = self.call, self.tool
        if tool is None or tool.app is None or argument_fit(call, tool) == 1:
            return
        # An app that takes all that is given may be the right one, and a value be left out
        score = 0.57 if all(has_parameter(tool, name) for name, _ in call.arguments) else 0.9
        for other in self.catalog.named(call.name):
            if other.app not in (None, tool.app) and argument_fit(call, other) == 1:
                yield self._renamed(other, f"call the tool of {other.app}", "it has these arguments", score)

    def _renamed(self, tool: Tool, says: str, reason: str, score: float) -> Fix:
        call = self.call
        operation = {
            "op": "rename",
            "id": call.id,
            "app": tool.app,
            "name": tool.name,
            "why": self.fault.code,
        }
        return Fix(says, reason, score, "catalog", (operation,))

    # ------------------------------------------------------------ arguments
    def _other_name(self) -> Iterator[Fix]:
        """An argument that the tool does not take, under the name of one that it takes."""
        call, tool, name = self.call, self.tool, self.name
        given_names = [key for key, _ in call.arguments]
        if tool is None or name not in given_names:
            return
        if name in {p.name for p in tool.parameters}:
            yield from self._other_value()
            return
        value = dict(call.arguments)[name]
        needed = [p for p in tool.parameters if p.required and p.name not in given_names]
        misnamed = [key for key in given_names if not has_parameter(tool, key)][:MAX_TOOLS]
        other_misnamed = [key for key in misnamed if key != name]
        free = [p.name for p in tool.parameters if p.name not in given_names][:MAX_TOOLS]
        counted_apart = is_numbered_otherwise(misnamed, free)
        stem = strip_number if counted_apart else str
        targets = free if len(needed) != len(misnamed) else [p.name for p in needed]
        in_place = (
            name_at_same_position(name, misnamed, targets)
            if counted_apart or not are_names_alike(misnamed, targets)
            else None
        )
        renames: list[Fix] = []
        for parameter in tool.parameters[:200]:
            if parameter.name in given_names:
                continue
            likeness = (
                0.0
                if are_opposites(name, parameter.name)
                else name_similarity(stem(name), stem(parameter.name))
            )
            name_score = likeness if likeness >= _MIN_NAME_SIMILARITY else 0.4 * likeness
            score = 0.1 + 0.55 * name_score + (0.18 if parameter.required else 0.0)
            score += 0.1 if [parameter] == needed else 0.0
            if likeness < 0.3 and not parameter.required:
                continue
            if any(
                name_similarity(stem(key), stem(parameter.name)) > max(likeness, _MIN_NAME_SIMILARITY)
                for key in other_misnamed
            ):
                score *= _DOUBT_FACTOR  # another one is rather meant by it
            elif likeness >= MIN_LETTER_SIMILARITY and is_other_word(stem(name), stem(parameter.name)):
                score = min(_DOUBT_FACTOR * score, 0.45)  # return_date is not departure_date
            reason = (
                f"the names are {likeness:.0%} similar"
                if likeness >= MIN_LETTER_SIMILARITY
                else "it is required and missing"
            )
            if parameter.name == in_place:
                score, reason = score + 0.05, f"{reason}, and it has the same position"
            if (
                parameter.required
                and not are_opposites(name, parameter.name)
                and self._is_elsewhere(parameter, value)
            ):
                score, reason = score + 0.25, f"{reason}, and other calls pass {parameter.name} this way"
            renames += self._moved(parameter, value, reason, score)
        yield from renames
        rank = 0.5 if not needed else 0.25
        rank = min([rank, *(0.9 * mend.score for mend in renames)])  # what was chosen is kept where it can be
        if len(set(given_names)) == len(given_names):
            yield self._removed(f"{tool.full_name} has no argument with this name", rank)

    def _removed(self, reason: str, score: float) -> Fix:
        """A call without an argument."""
        unset = {"op": "unset", "id": self.call.id, "argument": self.name, "why": self.fault.code}
        return Fix(f"remove {self.name[:MAX_NAME_CHARACTERS]}", reason, score, "catalog", (unset,))

    def _moved(self, to: Parameter, value: Value, reason: str, score: float) -> Iterator[Fix]:
        """A value under another name, as it is, or as what it may mean where that does not fit."""
        name = self.name
        read = [Interpretation(value, "", 1.0)]
        if isinstance(value, (Ref, Unresolved, Template)):
            score += 0.05
        elif self.parts.wrong(value, to.type):
            read = find_interpretations(value, to.type, self.parts, _parameter_text(to))[:2]
        for reading in read:
            sure = score + (0.0 if isinstance(value, (Ref, Unresolved, Template)) else 0.1 * reading.score)
            pairs = tuple(
                (to.name, reading.value) if key == name else (key, old) for key, old in self.call.arguments
            )
            says, why = f"rename {name[:MAX_NAME_CHARACTERS]} to {to.name}", reason
            if reading.reason:
                says, why = (
                    f"{says}, set {to.name} = {self._told(reading.value)}",
                    f"{reason}; {reading.reason}",
                )
            least = min(sure, 0.97, reading.score)
            yield Fix(says, why, least, "catalog", self._given(pairs, (name, to.name)))

    def _filled(self) -> Iterator[Fix]:
        """A value for an argument that is needed and not given."""
        call, tool, parameter = self.call, self.tool, self.parameter
        if parameter is None or self.name in dict(call.arguments):
            yield from self._other_value()
            return
        misnamed = [key for key, _ in call.arguments if tool is not None and not has_parameter(tool, key)]
        for other in misnamed:  # a misnamed argument is what is missing
            yield from (
                mend
                for mend in _FaultFixes(self.finder, self.fault._replace(argument=other))._other_name()
                if any(operation.get("argument") == self.name for operation in mend.operations)
            )
        less = _DOUBT_FACTOR if misnamed else 1.0  # it leaves what is misnamed as a fault
        yield from (mend._replace(score=less * mend.score) for mend in self._given_anew(parameter))

    def _given_anew(self, parameter: Parameter) -> Iterator[Fix]:
        """A value for an argument that no other argument holds."""
        kind = parameter.type
        for candidate in self.producers.candidates(ExpectedOutput(self.position, self.name, kind))[:8]:
            producer = candidate.unasked
            yield self._set(producer.ref, producer.reason, producer.score, "plan")
        yield from self._same_elsewhere(kind)
        for meaning in self._asked(parameter) if self.query else ():
            yield self._set(meaning.value, meaning.reason, meaning.score, "query")
        for hole in self.catalog.holes:
            yield self._set(hole, "what plans of this catalog write for an unknown value", 0.5)
        if parameter.has_default:
            yield self._set(parameter.default, "the tool uses it by default", 0.55)
        if kind.enum is not None and len(kind.enum) == 1:
            yield self._set(kind.enum[0], "it is the only value allowed", 0.95)

    def _asked(self, parameter: Parameter) -> list[Interpretation]:
        """What the question says of a parameter."""
        tool, arguments = self.tool, dict(self.call.arguments)
        parameter_names = [p.name for p in tool.parameters] if tool is not None else []
        free = [name for name in parameter_names if name != parameter.name and name not in arguments]
        kind, about = parameter.type, parameter.description
        return find_named_values(self.query, kind, parameter.name, self.finder.said, self.parts, about, free)

    def _same_elsewhere(self, kind: Type) -> Iterator[Fix]:
        """What other calls give under this name."""
        seen = self._elsewhere(self.name, kind)
        for value in [*seen.values()][:5]:
            score = 0.86 if len(seen) == 1 else 0.6
            reason = f"other calls pass {self.name[:MAX_NAME_CHARACTERS]} this way"
            yield self._set(value, reason, score, "plan")

    def _is_elsewhere(self, parameter: Parameter, value: Value) -> bool:
        """Whether other calls give a literal under the name of another argument, and no other one."""
        seen = self._elsewhere(parameter.name, parameter.type)
        return isinstance(value, (str, int, float)) and [*seen] == [repr(value)]

    def _elsewhere(self, name: str, kind: Type) -> dict[str, Value]:
        call = self.call
        seen: dict[str, Value] = {}
        if is_meaningless_name(name):
            return seen
        for position, other in enumerate(self.plan.calls[:500]):
            for key, value in (
                other.arguments if position != self.position and other.name != call.name else ()
            ):
                refs = [ref for _, ref in references(value)]
                late = any(not isinstance(ref, Ref) or ref.call >= (self.position) for ref in refs)
                if (
                    key == name
                    and not late
                    and not self.parts.wrong(value, kind)
                    and value not in self.catalog.holes
                ):
                    seen[repr(value)] = value
        return seen

    def _other_value(self) -> Iterator[Fix]:
        """A value that the tool takes, in place of one that it does not."""
        call, parameter = self.call, self.parameter
        if parameter is None or self.name not in dict(call.arguments):
            return
        value = self._value()
        for reading in find_interpretations(value, parameter.type, self.parts, _parameter_text(parameter))[
            :6
        ]:
            yield self._set(reading.value, reading.reason, reading.score)
        if isinstance(value, str):
            ref = text_reference(self.plan, value, self.position, self.catalog, bare=True)
            if ref is not None:
                yield self._set(ref, "the text names an earlier call's output", 0.96, "plan")
            expected = ExpectedOutput(self.position, self.name, parameter.type, *read_text_reference(value))
            for candidate in self.producers.candidates(expected)[:4]:
                reason = f"a reference instead of the text: {candidate.reason}"
                yield self._set(candidate.ref, reason, 0.75 * candidate.unasked.score, "plan")
        if self.query and not isinstance(value, (list, dict)):
            for meaning in self._asked(parameter)[:4]:
                yield self._set(meaning.value, meaning.reason, 0.55 * meaning.score, "query")
        if not parameter.required and len(set(dict(call.arguments))) == len(call.arguments):
            empty = value is None or (isinstance(value, str) and not value.strip())
            reason = "the tool does not require it" + (", and it is empty" if empty else "")
            yield self._removed(reason, 0.9 if empty else 0.2)

    # ------------------------------------------------------------ references
    def _referred(self) -> Iterator[Fix]:
        """A reference in place of a text that names an output."""
        value = self._value()
        ref = text_reference(self.plan, value_at_path(value, self.fault.at), self.position, self.catalog)
        if ref is not None:
            outputs = () if self.producers.has(ref.call, ref.path) else self.producers.outputs(ref.call)
            reason = "the whole text is the name of this output"
            for number, path in enumerate([ref.path, *outputs]):
                if self.producers.has(ref.call, path):
                    referring = replace_values(value, {self.fault.at: replace(ref, path=path)})
                    yield self._set(referring, reason, 0.93 - 0.1 * min(number, 3), "plan")

    def _other_output(self) -> Iterator[Fix]:
        """Another output in place of one that is not there, or does not fit."""
        value = self._value()
        for path, ref in references(value):
            if (
                path != self.fault.at
                if self.fault.code.startswith("reference.")
                else not isinstance(ref, Ref)
            ):
                continue
            inside = isinstance(value_at_path(value, path[:-1]), Template) if path else False
            kind = ANY if inside else self._type(path)
            target = ExpectedOutput(
                self.position,
                self.name,
                kind,
                ref.name if isinstance(ref, Unresolved) else None,
                ref.path,
                ref.call if isinstance(ref, Ref) else None,
            )
            is_named = name_similarity(self.name, last_name(ref.path)) > 0.9
            named = self.fault.code == "check.output_type" and is_named
            if isinstance(ref, Ref) and "array" in kind.unfolded.kinds and not inside:
                output = self.producers.type_of(ref)
                if output not in (None, ANY) and is_compatible(
                    output, kind.items or ANY, texts=self.producers.texts
                ):
                    yield self._set(replace_values(value, {path: [ref]}), "a list of this one output", 0.85)
            for candidate in self.producers.candidates(target)[:10]:
                if self.fault.code == "reference.forward" and self._in_order() is not None:
                    # it is named, and need only be written before
                    candidate = candidate._replace(score=0.6 * candidate.score)
                if named:  # it is the output that is meant, and what the catalog says of its type is doubtful
                    candidate = candidate._replace(score=min(candidate.score, 0.5))
                if isinstance(ref, Unresolved) or (candidate.ref.call, candidate.ref.path) != (
                    ref.call,
                    ref.path,
                ):
                    yield self._set(
                        replace_values(value, {path: candidate.ref}),
                        candidate.reason,
                        candidate.score,
                        "plan",
                    )

    def _in_order(self) -> float | None:
        """How likely it is that the calls only need another order.

        None where there is no such order, or where the call that is named has no such output.
        """
        if self.finder.order is None:
            return None
        ref = dict(references(self._value())).get(self.fault.at)
        if not isinstance(ref, Ref):
            return None
        output = self.producers.type_of(ref)
        good = output is not None and is_compatible(
            output, self._type(self.fault.at), texts=self.producers.texts
        )
        return 0.9 if good else None

    def _other_order(self) -> Iterator[Fix]:
        """The calls in an order in which what is referred to comes first."""
        if self.finder.order is None:
            return
        operation = {
            "op": "order",
            "ids": [self.plan.calls[index].id for index in self.finder.order],
            "why": self.fault.code,
        }
        says = "write the calls in the order of their dependencies"
        reason = "then every reference is to an earlier call"
        yield Fix(says, reason, self._in_order() or 0.5, "plan", (operation,))

    # ------------------------------------------------------------ operations
    def _set(self, value: Value, reason: str, score: float, source: str = "catalog") -> Fix:
        name, arguments = self.name, self._arguments()
        is_given = any(key == name for key, _ in arguments)
        pairs = [(key, value if key == name else old) for key, old in arguments]
        pairs += [] if is_given else [(name, value)]
        path, new_value = find_difference(dict(arguments)[name], value) if is_given else ((), value)
        target = format_path(name[:MAX_NAME_CHARACTERS], path)[: 3 * MAX_NAME_CHARACTERS]
        says = f"{'set' if is_given else 'give'} {target} = {self._told(new_value)}"
        return Fix(says, reason, score, source, self._given(tuple(pairs), (name,)))

    def _told(self, value: Value) -> str:
        if isinstance(value, Ref):
            call = self.plan.calls[value.call]
            return f"{format_path(call.id, value.path)} ({call.name})"
        return one_line_json(value_data(value, self.plan), 60)

    def _given(self, pairs: tuple[tuple[str, Value], ...], names: Iterable[str]) -> Operations:
        """The operations by which a call gets its arguments, of which some are other than they were."""
        if self.fault.call is None:
            data = {key: value_data(value, self.plan) for key, value in pairs}
            return ({"op": "answer", "value": data, "why": self.fault.code},)
        call, arguments = self.call, dict(pairs)
        if len({key for key, _ in call.arguments}) < len(call.arguments) or len(arguments) < len(pairs):
            listed = [[key, value_data(value, self.plan)] for key, value in pairs]
            return ({"op": "arguments", "id": call.id, "arguments": listed, "why": self.fault.code},)
        return tuple(
            {
                "op": "set",
                "id": call.id,
                "argument": name,
                "value": value_data(arguments[name], self.plan),
                "why": self.fault.code,
            }
            if name in arguments
            else {"op": "unset", "id": call.id, "argument": name, "why": self.fault.code}
            for name in names
        )


def _parameter_text(parameter: Parameter) -> str:
    return f"{parameter.name}\n{parameter.description}"


_FixMethod = Callable[[_FaultFixes], Iterator[Fix]]
_FIX_METHODS: dict[str, tuple[_FixMethod, ...]] = {
    "check.unknown_tool": (_FaultFixes._other_tool, _FaultFixes._other_app),
    "check.permission": (_FaultFixes._other_app, _FaultFixes._other_tool),
    "check.ambiguous_tool": (_FaultFixes._other_app,),
    NO_APP: (_FaultFixes._other_app,),
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
