"""Random JSON Schemas with every keyword of 2020-12, random values, and values with a reference in them."""

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

from planner_eval.plan.model import Ref

NAMES = ["a", "b", "c", "xa", "xb"]
REPEATED = ["^(a|x)+$", "^(a|aa)+$", "^[a-z]+(_[a-z]+)*$", "^(x?b)+$"]
PATTERNS = ["^a", "b$", "^[0-9]+$", "^x", "a|1", "^.{2,}$", *REPEATED]
KINDS = ["string", "integer", "number", "array", "object", "boolean", "null"]
SEVERAL = [["string", "null"], ["integer", "string"], ["object", "array"]]
HIDDEN = Ref(0)


class Drawn:
    """What is drawn with one generator.

    Args:
        random: The generator.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.used: Counter[str] = Counter()
        self.many = [None, True, False, 0, 1, 3, 10, 2.5, "", "a", "ab", "12", "x1", [], [1], ["a", "b"], {}]
        self.many += [{"a": 1}, {"b": "a", "xa": 2}, {"a": {"b": 1}, "c": None}]

    def pair(self) -> tuple[dict[str, Any], Any]:
        """The schema of a tool's parameters, and a value for the argument v."""
        defs = {
            "any": self.schema(2), "positive": {"type": "integer", "minimum": 1},
            "again": {"type": "object", "properties": {"a": {"$ref": "#/$defs/again"}, "b": self.schema(3)},
             "additionalProperties": self.random.choice([True, False])},
        }  # fmt: skip
        top = {"type": "object", "properties": {"v": self.schema()}, "required": ["v"]}
        return {**top, "additionalProperties": False, "$defs": defs}, self.value()

    def value(self, depth: int = 0) -> Any:
        """JSON data."""
        draw = self.random.choice
        kinds = ["null", "bool", "int", "float", "text", "text", *["list", "dict"] * (3 if depth < 3 else 0)]
        parts = range(self.random.randint(0, 4))
        made: dict[str, Callable[[], Any]] = {
            "null": lambda: None, "bool": lambda: draw([True, False]),
            "int": lambda: draw([0, 1, 2, 3, 4, 6, 10, -1]),
            "float": lambda: draw([0.5, 1.0, 2.5, 3.0, -0.5]),
            "text": lambda: draw(["", "a", "ab", "abc", "1", "12", "x1", "é"]),
            "list": lambda: [self.value(depth + 1) for _ in parts],
            "dict": lambda: {draw(NAMES): self.value(depth + 1) for _ in parts},
        }  # fmt: skip
        return made[draw(kinds)]()

    def schema(self, depth: int = 0) -> Any:
        """A schema with up to three keywords; objects say which others they take."""
        draw = self.random.choice
        if depth > 3 or self.random.random() < 0.05:
            return draw([True, {}, {"type": draw(KINDS)}, draw([False, True, True, True])])
        made: dict[str, Any] = {}
        for keyword in self.random.sample(sorted(self._keywords(0)), self.random.randint(1, 3)):
            self.used[keyword] += 1
            made |= self._keywords(depth + 1)[keyword]()
        if self.random.random() < 0.4:
            made["type"] = draw([*KINDS, *SEVERAL])
        said = {"additionalProperties", "unevaluatedProperties"} & made.keys()
        if "properties" in made and not said:
            made["additionalProperties"] = draw([True, True, False, self.schema(depth + 1)])
        return made

    def _keywords(self, depth: int) -> dict[str, Callable[[], dict[str, Any]]]:
        draw, number = self.random.choice, self.random.randint

        def one() -> Any:
            return self.schema(depth)

        def some(most: int) -> list[Any]:
            return [self.schema(depth) for _ in range(number(1, most))]

        def limits(*keywords: str) -> dict[str, int]:
            return {keyword: number(0, 2) for keyword in keywords if self.random.random() < 0.4}

        plain: dict[str, Callable[[], Any]] = {
            "enum": lambda: [self.value(2) for _ in range(number(1, 4))], "const": lambda: self.value(2),
            "multipleOf": lambda: draw([1, 2, 3, 0.5, 2.5]), "minimum": lambda: draw([0, 1, 2.5]),
            "maximum": lambda: draw([0, 3, 2.5]), "exclusiveMinimum": lambda: draw([0, 1]),
            "exclusiveMaximum": lambda: draw([3, 2.5]),
            **dict.fromkeys(("minLength", "maxLength", "minItems", "minProperties"), lambda: number(0, 2)),
            **dict.fromkeys(("maxItems", "maxProperties"), lambda: number(0, 3)),
            "pattern": lambda: draw(PATTERNS), "uniqueItems": lambda: draw([True, True, False]),
            **dict.fromkeys(("items", "not", "propertyNames", "additionalProperties"), one),
            "prefixItems": lambda: some(3), "required": lambda: self.random.sample(NAMES, number(0, 2)),
            "properties": lambda: {name: one() for name in self.random.sample(NAMES, number(1, 3))},
            "patternProperties": lambda: {draw(["^x", "a", "b$", *REPEATED]): one()},
            "dependentRequired": lambda: {draw(NAMES): [draw(NAMES)]},
            "dependentSchemas": lambda: {draw(NAMES): one()}, "allOf": lambda: some(2),
            **dict.fromkeys(("anyOf", "oneOf"), lambda: some(3)),
            **dict.fromkeys(("unevaluatedProperties", "unevaluatedItems"), lambda: draw([False, one()])),
            "$ref": lambda: draw(["#/$defs/any", "#/$defs/positive", "#/$defs/again"]),
        }  # fmt: skip
        made: dict[str, Callable[[], dict[str, Any]]] = {
            keyword: lambda keyword=keyword, drawn=drawn: {keyword: drawn()}  # type: ignore[misc]
            for keyword, drawn in plain.items()
        }
        made["contains"] = lambda: {"contains": one(), **limits("minContains", "maxContains")}
        made["if"] = lambda: {"if": one(), "then": one(), **({"else": one()} if draw([True, False]) else {})}
        return made

    def hidden(self, value: Any) -> tuple[Any, Any]:
        """A value with a reference for one part, and that part's place; None where it has no parts."""
        if not isinstance(value, (list, dict)) or not value:
            return value, None
        steps = list(value) if isinstance(value, dict) else list(range(len(value)))
        step = self.random.choice(steps)
        inner, at = self.hidden(value[step]) if self.random.random() < 0.5 else (HIDDEN, ())
        inner, at = (HIDDEN, ()) if at is None else (inner, at)
        pairs = {one: inner if one == step else value[one] for one in steps}
        return (pairs if isinstance(value, dict) else list(pairs.values())), (step, *at)

    def instead(self, value: Any, other: Any) -> Any:
        """The value with another in place of the reference."""
        if value is HIDDEN:
            return other
        if isinstance(value, list):
            return [self.instead(each, other) for each in value]
        if isinstance(value, dict):
            return {key: self.instead(each, other) for key, each in value.items()}
        return value
