"""Plans of a catalog as JSON Schema, for the notations that are JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from planner_eval.base.errors import InputError
from planner_eval.catalogs.catalog import ANY, KINDS, Again, Parameter, Tool, Type
from planner_eval.catalogs.values import problem
from planner_eval.decoding.endless import Ends
from planner_eval.decoding.plans import nestful_reference, unwritable
from planner_eval.decoding.terms import Expr
from planner_eval.decoding.texts import FORMATS, WORD, Form, form_of
from planner_eval.decoding.values import ENDLESS, UNLISTED
from planner_eval.decoding.wanted import LABELS, PATH, Outputs, Wanted, outputs_of
from planner_eval.decoding.written import regex

Schema: TypeAlias = dict[str, Any]

WRITTEN = ("plan", "json", "nestful")
"""The notations that are JSON."""

_NO_REFERENCE = r"^([^$]|\$[^A-Za-z_$])*$"
"""NESTful's texts: a dollar sign stands before what begins no name."""
_NO_MARK = "^[^$].*"
"""Names of fields that mean nothing in a plan; xgrammar wants a pattern for the whole of them."""


@dataclass(slots=True)
class Schemas:
    """Makes the schemas of one grammar.

    Args:
        wanted: What the plans may hold.
        defs: What goes under ``$defs``.
        loose: Sentences on what is not held, with the codes of ``planeval check`` that find it.
        narrow: Sentences on what is not allowed, although the catalog does.
    """

    wanted: Wanted
    defs: dict[str, Schema] = field(default_factory=dict)
    loose: dict[str, tuple[str, ...]] = field(default_factory=dict)
    narrow: dict[str, None] = field(default_factory=dict)
    _outputs: Outputs = field(init=False)
    _form: Form = field(init=False)
    _ends: Ends = field(init=False)
    _again: dict[tuple[int, str], str] = field(default_factory=dict)
    _labels: tuple[str, ...] = LABELS
    _known: dict[str, str] = field(default_factory=dict)
    _patterns: dict[tuple[int, tuple[str, ...]], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._outputs = outputs_of(self.wanted.tools)
        self._form = form_of(self.wanted.dialect)
        self._ends = Ends(self._form)

    def plans(self) -> Schema:
        """The schema of all plans: an object, as servers that take schemas want one."""
        calls = {"calls": self._calls()}
        if self.wanted.dialect == "plan":
            calls = {"schema": {"type": "string", "enum": ["planeval.plan/1"]}, **calls}
        made = closed(calls, calls)
        return {**made, "$defs": self.defs} if self.defs else made

    def _calls(self) -> Schema:
        most = self.wanted.most
        if self.wanted.dialect == "json" or not self.wanted.unrolled:
            return {"type": "array", "items": self._call(0), "maxItems": most}
        lengths: list[Schema] = []
        for label in LABELS if self.wanted.dialect == "nestful" else LABELS[:1]:
            self._labels = (label,)  # one plan's labels are alike
            calls = [self._call(at) for at in self.wanted.places]
            lengths += [] if lengths else [{"type": "array", "items": calls[0], "maxItems": 0}]
            lengths += [
                {"type": "array", "minItems": size, "maxItems": size, "prefixItems": calls[:size]}
                for size in range(1, most + 1)
            ]
        return {"anyOf": lengths}

    def _call(self, at: int) -> Schema:
        made = [
            self._shared(f"call_{number}_{at}", call)
            for number, tool in enumerate(self.wanted.tools, 1)
            if (call := self._tool(tool, at)) is not None
        ]
        if not made and at < 2:
            raise InputError(
                f"no tool can be called in {self.wanted.dialect}: a required value cannot be written"
            )
        return made[0] if len(made) == 1 else self._shared(f"call_{at}", {"anyOf": made})

    def _tool(self, tool: Tool, at: int) -> Schema | None:
        places = (at,) if at else self.wanted.producers(0)
        parts: Schema = {"name": {"type": "string", "enum": [tool.full_name]}}
        if self.wanted.dialect == "nestful":
            labels = [f"{label}{place}" for label in self._labels for place in places]
            labels = [f"${label}" for label in labels if label.startswith("var")] + labels
            parts["label"] = self._shared(f"label_{at}", {"type": "string", "enum": labels})
        elif self.wanted.dialect == "plan":
            parts = {"id": {"type": "string", "enum": [f"c{place}" for place in places]}, **parts}
        free = tool.open and not tool.parameters
        given = self._free(at, tool.others) if free else self._fields(tool.parameters, at)
        if given is None:
            self.narrow[unwritable(tool)] = None
            return None
        parts["arguments"] = self._shared(f"given_{len(self._known)}", given)
        return closed(parts, parts)

    def _fields(self, fields: Sequence[Parameter], at: int) -> Schema | None:
        """An object with these fields; None where one that is needed can have no value."""
        made = {each.name: self.value(each.type, at) for each in fields}
        required = [each.name for each in fields if each.required]
        if any(made[name] is None for name in required):
            return None
        return closed({name: value for name, value in made.items() if value is not None}, required)

    # ------------------------------------------------------------ values
    def value(self, kind: Type, at: int) -> Schema | None:
        """A value of a type, or a reference, for a call at a place; None where there is none."""
        if kind.again is not None:
            return self._once_more(kind.again, at)
        made = [*self._literals(kind, at), *self._references(at)]
        if len(made) < 2:
            return made[0] if made else None
        return self._shared(f"value_{len(self._known)}", {"anyOf": made})

    def _once_more(self, again: Again, at: int) -> Schema | None:
        """What leads back to itself, by the name of a definition."""
        number = self._again.setdefault((id(again.root), again.reference), f"{len(self._again) + 1}")
        name = self._name(f"again_{number}_{at}")
        if name not in self.defs:
            references = self._references(at)
            if not references and not self._ends(Type(again=again)):
                self.narrow[ENDLESS] = None
                return None
            self.defs[name] = {}  # its own values refer to it
            self.defs[name] = {"anyOf": [*self._literals(again.type, at), *references]}
        return {"$ref": f"#/$defs/{name}"}

    def _literals(self, kind: Type, at: int) -> list[Schema]:
        kind = kind.unfolded
        if kind.any_of and not kind.kinds and kind.enum is None:
            return [made for each in kind.any_of for made in self._literals(each, at)]
        if kind.any_of:
            self.loose["alternatives beside a type are not held"] = (
                "check.wrong_type", "check.enum", "check.missing_argument", "check.unknown_argument",
            )  # fmt: skip
        if kind.enum is not None:
            plain = Type(kind.kinds, format=kind.format)
            listed = [one for one in kind.enum if problem(one, plain, texts=self.wanted.texts) is None]
            kept = [one for one in listed if self._form.constant(one) is not None]
            texts = {"type": "string"} if all(isinstance(one, str) for one in kept) else {}
            return [{**texts, "enum": kept}] if kept else []
        if not kind.kinds:
            return [self._anything(at)]
        kinds = [each for each in kind.kinds if each != "integer" or "number" not in kind.kinds]
        return [made for each in kinds if (made := self._of_kind(each, kind, at)) is not None]

    def _of_kind(self, name: str, kind: Type, at: int) -> Schema | None:
        made: Schema = {"type": name}
        if name in ("integer", "number"):
            low = "exclusiveMinimum" if kind.exclusive[0] else "minimum"
            high = "exclusiveMaximum" if kind.exclusive[1] else "maximum"
            made |= _given({low: kind.minimum, high: kind.maximum})
        elif name == "string":
            made |= self._text(kind)
        elif name == "array":
            item = self.value(kind.items or ANY, at)
            least, most = kind.size if item is not None else (kind.size[0], 0)
            made |= {"items": item or {}} | _given({"minItems": least, "maxItems": most})
        elif name == "object" and (kind.fields or not kind.open):
            marks = self._form.marks
            if any(each.required and each.name in marks for each in kind.fields):
                return None
            if kind.open:
                self.narrow[UNLISTED] = None
            return self._fields([each for each in kind.fields if each.name not in marks], at)
        elif name == "object":
            return self._free(at, kind.others)
        return made

    def _text(self, kind: Type) -> Schema:
        if kind.format is not None and kind.format in FORMATS:
            return {"pattern": pattern(FORMATS[kind.format]())}
        refers = {"pattern": _NO_REFERENCE} if self.wanted.dialect == "nestful" else {}
        return {**refers, **_given({"minLength": kind.length[0], "maxLength": kind.length[1]})}

    def _references(self, at: int) -> list[Schema]:
        places = [str(place) for place in self.wanted.producers(at)]
        if not places or self.wanted.dialect == "json":
            return []
        if self.wanted.dialect == "nestful":
            key = (at, self._labels)  # every value of a call may refer to the same calls
            if key not in self._patterns:
                self._patterns[key] = pattern(nestful_reference(places, self._outputs, self._labels))
            made: Schema = {"type": "string", "pattern": self._patterns[key]}
            return [self._shared(f"result_{at}", made)]
        names, any_name = list(self._outputs.names), {"type": "string", "pattern": pattern(WORD)}
        deep = self._outputs.deep or self._outputs.free
        steps: list[Schema] = [{"type": "string", "enum": names}] if names else []
        steps += [any_name, {"type": "integer", "minimum": 0}] if deep else []
        made = {"$ref": {"type": "string", "enum": [f"c{place}" for place in places]}}
        if steps:
            step = steps[0] if len(steps) == 1 else {"anyOf": steps}
            made["path"] = {
                "type": "array",
                "items": step,
                "minItems": 1,
                "maxItems": PATH + 1 if deep else 1,
            }
        return [self._shared(f"result_{at}", closed(made, ["$ref"]))]

    def _anything(self, at: int) -> Schema:
        name = self._name(f"anything_{at}")
        if name not in self.defs:
            self.defs[name] = {}
            self.defs[name] = {"anyOf": self._literals(Type(tuple(k for k in KINDS if k != "integer")), at)}
        return {"$ref": f"#/$defs/{name}"}

    def _free(self, at: int, others: Type | None) -> Schema:
        """An object that lists no fields: of this type, of any where it is None."""
        value = self.value(others or ANY, at)
        if value is None:
            return closed({}, [])
        if self.wanted.dialect == "plan":
            return {
                "type": "object",
                "patternProperties": {_NO_MARK: value},
                "additionalProperties": False,
            }
        return {"type": "object", "additionalProperties": value}

    def _name(self, name: str) -> str:
        """A definition's name, apart for each way of naming labels but the first."""
        return name if self._labels in (LABELS, LABELS[:1]) else f"{name}_{self._labels[0]}"

    def _shared(self, name: str, made: Schema) -> Schema:
        """A definition; what is the same is one."""
        key = json.dumps(made)
        if key not in self._known:
            self._known[key] = self._name(name)
            self.defs[self._known[key]] = made
        return {"$ref": f"#/$defs/{self._known[key]}"}


def closed(properties: Mapping[str, Any], required: Sequence[str] | Mapping[str, Any]) -> Schema:
    """An object with these fields and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def pattern(expr: Expr) -> str:
    """A token as a pattern for the whole of a text; without the groups that llama.cpp does not read."""
    return f"^({regex(expr)})$".replace("(?:", "(")


def _given(limits: Mapping[str, Any]) -> Schema:
    return {name: limit for name, limit in limits.items() if limit is not None}
