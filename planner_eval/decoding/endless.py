"""Types that need themselves: no value of one comes to an end, so none can be written."""

from __future__ import annotations

from dataclasses import dataclass, field

from planner_eval.catalogs.catalog import ANY, Again, Type
from planner_eval.decoding.texts import Form


@dataclass(frozen=True, slots=True)
class Ends:
    """Whether values of types come to an end, as a notation writes them.

    Args:
        form: How it writes values.
    """

    form: Form
    _known: set[tuple[int, str]] = field(default_factory=set)

    def __call__(self, kind: Type, inside: tuple[Again, ...] = ()) -> bool:
        """Whether some value of a type ends without a reference in it.

        Args:
            kind: The type.
            inside: What it is a part of, none of which ends that way.

        >>> from planner_eval.catalogs.schema import type_of
        >>> from planner_eval.decoding.texts import form_of
        >>> node = {"type": "object", "properties": {"next": {"$ref": "#/node"}}}
        >>> ends = Ends(form_of("json"))
        >>> ends(type_of({"$ref": "#/node", "node": node}))
        True
        >>> ends(type_of({"$ref": "#/node", "node": {**node, "required": ["next"]}}))
        False
        """
        if kind.again is None:
            return self._ends(kind, inside)
        key = (id(kind.again.root), kind.again.reference)
        if key not in self._known:
            if kind.again in inside or not self._ends(kind.again.type, (*inside, kind.again)):
                return False
            self._known.add(key)
        return True

    def _ends(self, kind: Type, inside: tuple[Again, ...]) -> bool:
        if kind.enum is not None:
            return any(self.form.constant(value) is not None for value in kind.enum)
        if kind.any_of and not kind.kinds:
            return any(self(option, inside) for option in kind.any_of)
        if not kind.kinds or not {"array", "object"}.issuperset(kind.kinds):
            return True
        if "array" in kind.kinds and (not kind.size[0] or self(kind.items or ANY, inside)):
            return True
        needed = [field for field in kind.fields if field.required]
        return (
            self.form.objects
            and "object" in kind.kinds
            and all(f.name not in self.form.marks and self(f.type, inside) for f in needed)
        )
