"""Schemas that refer to definitions elsewhere, made to carry these with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner_eval.base.errors import CatalogError
from planner_eval.catalogs.catalog import Again
from planner_eval.catalogs.schema import target

_HELD = ("$defs", "definitions")


def self_contained(schema: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    """A schema whose references all lead into itself.

    Args:
        schema: The schema; given back as it is where it has all that it refers to.
        root: The document that it stood in.

    >>> root = {"$defs": {"Day": {"type": "string"}}}
    >>> self_contained({"properties": {"on": {"$ref": "#/$defs/Day"}}}, root)
    {'properties': {'on': {'$ref': '#/$defs/Day'}}, '$defs': {'Day': {'type': 'string'}}}
    """
    if all(_leads(reference, schema) for reference in _references(schema)):
        return dict(schema)
    moved = Moved(schema, root)
    moved_schema: dict[str, Any] = moved.over(
        {key: value for key, value in schema.items() if key not in _HELD}
    )
    return {**moved_schema, "$defs": moved.found} if moved.found else moved_schema


class Moved:
    """Definitions on their way from one document into another."""

    def __init__(self, *roots: Mapping[str, Any]) -> None:
        self.roots = roots
        self.names: dict[str, str] = {}
        self.found: dict[str, Any] = {}

    def again(self, kind: Again) -> dict[str, Any]:
        """What refers to a type inside itself."""
        if kind.root not in self.roots:
            self.roots = (*self.roots, kind.root)
        return {"$ref": self.reference(kind.reference)}

    def over(self, schema: Any) -> Any:
        """The schema with references to what is moved, which is :attr:`found`."""
        if isinstance(schema, list):
            return [self.over(item) for item in schema]
        if not isinstance(schema, Mapping):
            return schema
        copied = {key: self.over(value) for key, value in schema.items() if key != "$ref"}
        reference = schema.get("$ref")
        if reference is not None:
            copied = {"$ref": self.reference(reference), **copied}
        return copied

    def reference(self, reference: Any) -> Any:
        """The new place of what a reference names; itself where it names nothing, which its reader tells."""
        if not isinstance(reference, str):
            return self.over(reference)
        root = next((r for r in self.roots if _leads(reference, r)), None)
        if root is None:
            return reference
        if reference not in self.names:
            name = plain = reference.rpartition("/")[2].strip("#") or "whole"
            number = 2
            while name in self.found:
                name, number = f"{plain}_{number}", number + 1
            self.names[reference] = name
            self.found[name] = {}  # it may lead back to itself
            self.found[name] = self.over(target(reference, root))
        return f"#/$defs/{self.names[reference]}"


def _leads(reference: str, root: Mapping[str, Any]) -> bool:
    try:
        target(reference, root)
    except CatalogError:
        return False
    return True


def _references(schema: Any) -> list[str]:
    references, left = [], [schema]
    while left:
        node = left.pop()
        if isinstance(node, Mapping):
            if isinstance(node.get("$ref"), str):
                references.append(node["$ref"])
            left += node.values()
        elif isinstance(node, list):
            left += node
    return references
