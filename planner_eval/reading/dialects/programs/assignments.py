"""What programs assign, delete and change in place."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from planner_eval.base.text import shorten
from planner_eval.plan.model import RawRef
from planner_eval.reading.dialects.programs.expressions import Machine
from planner_eval.reading.dialects.programs.syntax import constant_step
from planner_eval.reading.dialects.programs.values import (
    SELF_NAMES,
    UNKNOWN,
    ImportedName,
    OpaqueObject,
    UnassignedName,
    Unknown,
    UnsureValue,
    VariableValue,
)

_ORDINALS = frozenset({"First", "Second", "Third", "Fourth", "Fifth", "Next", "Then", "Finally", "Lastly"})


class Assignments(Machine):
    """Follows the assignments of one program."""

    def assign(self, node: ast.Assign | ast.AnnAssign) -> None:
        """Follow an assignment."""
        if node.value is None:
            return
        self.is_program = True
        value = self.hold(node.value)
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            self.target(target, value)

    def augment(self, node: ast.AugAssign) -> None:
        """Follow ``+=`` and its like: what a name holds is changed in place, or anew."""
        self.value(node.value)
        self.altered(node.target)
        if isinstance(node.target, ast.Name):
            self.bind(node.target.id, Unknown((self.found(node.target),)))

    def target(self, target: ast.expr, value: VariableValue) -> None:
        """Assign to a name or to names; anything else only has its calls recorded."""
        if isinstance(target, ast.Name):
            self.bind(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)) and all(isinstance(t, ast.Name) for t in target.elts):
            names = [t.id for t in target.elts if isinstance(t, ast.Name)]
            if len(names) == 2 and self.is_word(names[0]) and names[1].title() not in _ORDINALS:
                self.bind(names[1], value)
                return
            for step, name in zip(getattr(target, "keys", range(len(names))), names, strict=True):
                self.bind(name, _unpacked(self.changes.content(value), step))
            if isinstance(value, RawRef) and self.calls and value.name == self.calls[-1].binds[0][0]:
                self.calls[-1] = replace(self.calls[-1], returns=tuple(names))
        else:
            value = value.text if isinstance(value, UnassignedName) else value
            for node in ast.walk(target):
                if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
                    self.value(node)
                    self.altered(node, value if node is target else UNKNOWN)
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    self.bind(node.id, UNKNOWN)

    def is_word(self, name: str) -> bool:
        """Whether `First` in `First, r = f()` is a word: no other use of it is a variable's."""
        if name not in _ORDINALS:
            return False
        if name not in self.words:
            self.words[name] = self.text.count(name) == self.text.count(f"{name}, ")
        return self.words[name]

    # ------------------------------------------------------------ changes in place
    def altered(
        self,
        target: ast.expr,
        value: VariableValue = UNKNOWN,
        template: str = "an assignment to {} changes it",
    ) -> None:
        """Note a change in place of what a name or a way into it holds.

        Args:
            target: The name, the field or the item.
            value: What it is given, where that is known.
            template: Says what the change is; ``{}`` stands for the target.
        """
        start = self.span(target)[0]
        reason = template.format(repr(shorten(self.source(target), 60)))
        base = target
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            base = target.value
            holder = self.found(base)
            key = constant_step(target)
            if type(holder) is dict and type(key) is str and isinstance(target, ast.Subscript):
                is_sure = not (self.control or self.ways.open or isinstance(value, Unknown))
                if is_sure and self.changes.follow(holder, "update", [{key: value}], {}):
                    return
            elif isinstance(holder, RawRef) and key is not None:
                self.changes.change(RawRef(holder.name, (*holder.path, key)), reason, start)
                return
        root: Any = base
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        if not isinstance(root, ast.Name):
            return
        current = self.found(base)
        if isinstance(current, (RawRef, list, dict, OpaqueObject, UnsureValue)) or (
            isinstance(current, Unknown) and current.of
        ):
            self.changes.change(current, reason, self.span(base)[0])
        elif root.id not in SELF_NAMES | self.defined:
            for name in ast.walk(base):
                if isinstance(name, ast.Name) and not isinstance(self.held.get(name.id), ImportedName):
                    self.bind(name.id, UNKNOWN)

    def found(self, base: ast.expr) -> Any:
        """What a name, or a way into what it holds, gives; itself and no copy."""
        if isinstance(base, ast.Name):
            return self.held.get(base.id, UNKNOWN)
        if not isinstance(base, (ast.Attribute, ast.Subscript)):
            return UNKNOWN
        holder, step = self.found(base.value), constant_step(base)
        if step is not None:
            return self.changes.inside(holder, (step,))
        return holder if isinstance(holder, (RawRef, Unknown)) else Unknown((holder,))

    def deleted(self, target: Any) -> None:
        """Follow ``del``."""
        if isinstance(target, (ast.Delete, ast.Tuple, ast.List)):
            for item in target.targets if isinstance(target, ast.Delete) else target.elts:
                self.deleted(item)
        elif isinstance(target, ast.Name):
            self.bind(target.id, self.unsure(f"'del' takes {target.id!r} away", target))
        else:
            self.value(target)
            self.altered(target, template="'del' removes {} from it")


def _unpacked(value: VariableValue, step: str | int) -> VariableValue:
    if isinstance(value, RawRef):
        return RawRef(value.name, (*value.path, step))
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    return value if isinstance(value, UnsureValue) else Unknown((value,))
