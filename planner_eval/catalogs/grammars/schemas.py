"""Plans of a catalog as JSON Schema, for the notations that are JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.base.frozen import replace
from planner_eval.catalogs.catalog import ANY, Parameter, RecursiveType, Tool, Type
from planner_eval.catalogs.grammars.plans import (
    LABEL_PREFIXES,
    MAX_PATH_STEPS,
    Outputs,
    PlanSpec,
    nestful_reference,
    outputs_of,
    unwritable_text,
)
from planner_eval.catalogs.grammars.rules import FORMATS, WORD, Expr, regex
from planner_eval.catalogs.grammars.values import EVERY_KIND, UNLISTED_FIELDS, TypeWriter
from planner_eval.catalogs.json_schema.types import Schema, WrittenSchema, find_objects, limits_of
from planner_eval.catalogs.type_words import any_item

JSON_DIALECTS = ("plan", "json", "nestful")
"""The notations that are JSON."""

_NO_REFERENCE = r"^([^$]|\$[^A-Za-z_$])*$"
"""NESTful's texts: a dollar sign stands before what begins no name."""
_UNMARKED_NAME = "^[^$].*"
"""Names of fields that mean nothing in a plan; xgrammar wants a pattern for the whole of them."""


@dataclass(slots=True, kw_only=True)
class SchemaBuilder(TypeWriter):
    """Makes the schemas of one grammar.

    Args:
        spec: What the plans may hold.
        defs: What goes under ``$defs``.
    """

    spec: PlanSpec
    defs: dict[str, WrittenSchema] = field(default_factory=dict)
    _outputs: Outputs = field(init=False)
    _again: dict[tuple[int, str], str] = field(default_factory=dict)
    _labels: tuple[str, ...] = LABEL_PREFIXES
    _known: dict[str, str] = field(default_factory=dict)
    _patterns: dict[tuple[int, tuple[str, ...]], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        TypeWriter.__post_init__(self)
        self._outputs = outputs_of(self.spec.tools)

    def plans(self) -> WrittenSchema:
        """The schema of all plans: an object, as servers that take schemas want one."""
        calls = {"calls": self._calls()}
        if self.spec.dialect == "plan":
            calls = {"schema": {"type": "string", "enum": ["planeval.plan/1"]}, **calls}
        schema = closed_object(calls, calls)
        return {**schema, "$defs": self.defs} if self.defs else schema

    def _calls(self) -> WrittenSchema:
        most = self.spec.most
        if self.spec.dialect == "json" or not self.spec.unrolled:
            return {"type": "array", "items": self._call(0), "maxItems": most}
        lengths: list[WrittenSchema] = []
        for label in LABEL_PREFIXES if self.spec.dialect == "nestful" else LABEL_PREFIXES[:1]:
            self._labels = (label,)  # one plan's labels are alike
            calls = [self._call(position) for position in self.spec.places]
            lengths += [] if lengths else [{"type": "array", "items": calls[0], "maxItems": 0}]
            lengths += [
                {"type": "array", "minItems": size, "maxItems": size, "prefixItems": calls[:size]}
                for size in range(1, most + 1)
            ]
        return {"anyOf": lengths}

    def _call(self, position: int) -> WrittenSchema:
        call_schemas = [
            self._shared(f"call_{number}_{position}", call)
            for number, tool in enumerate(self.spec.tools, 1)
            if (call := self._tool(tool, position)) is not None
        ]
        if not call_schemas and position < 2:
            raise InputError(
                f"no tool can be called in {self.spec.dialect}: a required value cannot be written"
            )
        return (
            call_schemas[0]
            if len(call_schemas) == 1
            else self._shared(f"call_{position}", {"anyOf": call_schemas})
        )

    def _tool(self, tool: Tool, position: int) -> WrittenSchema | None:
        positions = (position,) if position else self.spec.producers(0)
        fields: WrittenSchema = {"name": {"type": "string", "enum": [tool.full_name]}}
        if self.spec.dialect == "nestful":
            labels = [f"{label}{p}" for label in self._labels for p in positions]
            labels = [f"${label}" for label in labels if label.startswith("var")] + labels
            fields["label"] = self._shared(f"label_{position}", {"type": "string", "enum": labels})
        elif self.spec.dialect == "plan":
            fields = {"id": {"type": "string", "enum": [f"c{p}" for p in positions]}, **fields}
        free = tool.open and not tool.parameters
        arguments = self._free(position, tool.others) if free else self._fields(tool.parameters, position)
        if arguments is None:
            self.narrow[unwritable_text(tool)] = None
            return None
        fields["arguments"] = self._shared(f"given_{len(self._known)}", arguments)
        return closed_object(fields, fields)

    def _fields(self, fields: Sequence[Parameter], position: int) -> WrittenSchema | None:
        """An object with these fields; None where one that is needed can have no value."""
        properties = {f.name: self.value(f.type, position) for f in fields}
        required = [f.name for f in fields if f.required]
        if any(properties[name] is None for name in required):
            return None
        return closed_object(
            {name: value for name, value in properties.items() if value is not None}, required
        )

    # ------------------------------------------------------------ values
    def value(self, kind: Type, position: int) -> WrittenSchema | None:
        """A value of a type, or a reference, for a call at a place; None where there is none."""
        if kind.again is not None:
            return self._once_more(kind.again, position)
        alternatives = [*self._literals(kind, position), *self._references(position)]
        if len(alternatives) < 2:
            return alternatives[0] if alternatives else None
        return self._shared(f"value_{len(self._known)}", {"anyOf": alternatives})

    def _once_more(self, recursion: RecursiveType, position: int) -> WrittenSchema | None:
        """What leads back to itself, by the name of a definition."""
        number = self._again.setdefault((id(recursion.root), recursion.reference), f"{len(self._again) + 1}")
        name = self._name(f"again_{number}_{position}")
        if name not in self.defs:
            references = self._references(position)
            if not references and not self.can_end(recursion):
                return None
            self.defs[name] = {}  # its own values refer to it
            self.defs[name] = {"anyOf": [*self._literals(recursion.type, position), *references]}
        return {"$ref": f"#/$defs/{name}"}

    def _literals(self, kind: Type, position: int) -> list[WrittenSchema]:
        schemas: list[WrittenSchema | None] = []
        for simple in self.simple(kind):
            if simple.again is not None:
                schemas.append(self._once_more(simple.again, position))
            elif simple.enum is not None:
                constants = [value for value, _ in self.constants(simple)]
                texts = {"type": "string"} if all(isinstance(value, str) for value in constants) else {}
                schemas += [{**texts, "enum": constants}] if constants else []
            elif not simple.kinds:
                schemas.append(self._anything(position))
            else:
                kinds = [name for name in simple.kinds if name != "integer" or "number" not in simple.kinds]
                schemas += [self._of_kind(name, simple, position) for name in kinds]
        return [schema for schema in schemas if schema is not None]

    def _of_kind(self, name: str, kind: Type, position: int) -> WrittenSchema | None:
        schema: WrittenSchema = {"type": name}
        if name in ("integer", "number"):
            schema |= limits_of(kind, name)
        elif name == "string" and (token := FORMATS.get(kind.format or "")):
            schema["pattern"] = token_pattern(token())
        elif name == "string":
            schema |= {"pattern": _NO_REFERENCE} if self.spec.dialect == "nestful" else {}
            schema |= limits_of(kind, name)
        elif name == "array":
            item = self.value(any_item(kind), position)
            bounded = kind if item is not None else replace(kind, size=(kind.size[0], 0))
            schema |= {"items": item or {}} | limits_of(bounded, name)
        elif name == "object" and (kind.fields or not kind.open):
            marks = self.form.marks
            if any(f.required and f.name in marks for f in kind.fields):
                return None
            if kind.open:
                self.narrow[UNLISTED_FIELDS] = None
            return self._fields([f for f in kind.fields if f.name not in marks], position)
        elif name == "object":
            return self._free(position, kind.others)
        return schema

    def _references(self, position: int) -> list[WrittenSchema]:
        producers = [str(p) for p in self.spec.producers(position)]
        if not producers or self.spec.dialect == "json":
            return []
        if self.spec.dialect == "nestful":
            key = (position, self._labels)  # every value of a call may refer to the same calls
            if key not in self._patterns:
                self._patterns[key] = token_pattern(nestful_reference(producers, self._outputs, self._labels))
            schema: WrittenSchema = {"type": "string", "pattern": self._patterns[key]}
            return [self._shared(f"result_{position}", schema)]
        names, any_name = list(self._outputs.names), {"type": "string", "pattern": token_pattern(WORD)}
        deep = self._outputs.deep or self._outputs.free
        steps: list[WrittenSchema] = [{"type": "string", "enum": names}] if names else []
        steps += [any_name, {"type": "integer", "minimum": 0}] if deep else []
        schema = {"$ref": {"type": "string", "enum": [f"c{p}" for p in producers]}}
        if steps:
            step = steps[0] if len(steps) == 1 else {"anyOf": steps}
            schema["path"] = {
                "type": "array",
                "items": step,
                "minItems": 1,
                "maxItems": MAX_PATH_STEPS + 1 if deep else 1,
            }
        return [self._shared(f"result_{position}", closed_object(schema, ["$ref"]))]

    def _anything(self, position: int) -> WrittenSchema:
        name = self._name(f"anything_{position}")
        if name not in self.defs:
            self.defs[name] = {}
            self.defs[name] = {"anyOf": self._literals(Type(EVERY_KIND), position)}
        return {"$ref": f"#/$defs/{name}"}

    def _free(self, position: int, additional: Type | None) -> WrittenSchema:
        """An object that lists no fields: of this type, of any where it is None."""
        value = self.value(additional or ANY, position)
        if value is None:
            return closed_object({}, [])
        if self.spec.dialect == "plan":
            return {
                "type": "object",
                "patternProperties": {_UNMARKED_NAME: value},
                "additionalProperties": False,
            }
        return {"type": "object", "additionalProperties": value}

    def _name(self, name: str) -> str:
        """A definition's name, apart for each way of naming labels but the first."""
        return name if self._labels in (LABEL_PREFIXES, LABEL_PREFIXES[:1]) else f"{name}_{self._labels[0]}"

    def _shared(self, name: str, schema: WrittenSchema) -> WrittenSchema:
        """A definition; what is the same is one."""
        key = json.dumps(schema)
        if key not in self._known:
            self._known[key] = self._name(name)
            self.defs[self._known[key]] = schema
        return {"$ref": f"#/$defs/{self._known[key]}"}


def closed_object(properties: Schema, required: Iterable[str]) -> WrittenSchema:
    """An object with these fields and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def token_pattern(expr: Expr) -> str:
    """A token as a pattern for the whole of a text; without the groups that llama.cpp does not read."""
    return f"^({regex(expr)})$".replace("(?:", "(")


# ----------------------------------------------------------------------
# What OpenAI's strict mode takes of JSON Schema.
def explain_not_strict(schema: Any) -> str:
    """What keeps a schema out of the part that OpenAI's strict mode takes; "" where nothing does.

    >>> fields = {"a": {"type": "string"}}
    >>> explain_not_strict({"type": "object", "properties": fields, "additionalProperties": False})
    'arguments that may be left out'
    """
    for node in find_objects(schema):
        if node.get("prefixItems") is not None:
            return "rules for each call by its position"
        if node.get("type") != "object":
            continue
        if node.get("additionalProperties") is not False or "patternProperties" in node:
            return "objects with any fields"
        if set(node.get("required", ())) != node.get("properties", {}).keys():
            return "arguments that may be left out"
    return ""
