"""Sentences drawn out of grammars themselves, and texts held against them: Lark, GBNF and JSON Schema."""

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from lark import Lark
from lark.exceptions import LarkError
from lark.grammar import NonTerminal, Symbol, Terminal

parser: Any = re._parser  # type: ignore[attr-defined]

ALPHABET = "abcXYZ019 _-.,:;)(][}{'\"#=$/\\\t\nöß漢\u2028😀"
"""What texts are drawn of where a class leaves out some characters: all that has a meaning somewhere."""

DEEP = 24
"""Levels of rules after which only what ends soonest is drawn."""

LONG = 120
"""Rules after which only what ends soonest is drawn."""


def drawn(pattern: str, at: random.Random) -> str:
    """A text that the whole of a regular expression matches."""
    return "".join(_pieces(parser.parse(pattern), at))


def _pieces(parsed: Any, at: random.Random) -> Iterator[str]:
    for op, given in parsed:
        match str(op):
            case "LITERAL":
                yield chr(given)
            case "NOT_LITERAL":
                yield at.choice([c for c in ALPHABET if ord(c) != given])
            case "IN":
                yield _one_of(given, at)
            case "MAX_REPEAT":
                least, most, inner = given
                for _ in range(at.randint(least, min(most, least + 4))):
                    yield from _pieces(inner, at)
            case "SUBPATTERN":
                yield from _pieces(given[3], at)
            case "BRANCH":
                yield from _pieces(at.choice(given[1]), at)
            case "AT":
                pass
            case _:
                raise AssertionError(f"a drawer is missing for {op}")


def _one_of(given: Any, at: random.Random) -> str:
    def has(char: str) -> bool:
        pairs = [(one, one) if str(op) == "LITERAL" else one for op, one in given if str(op) != "NEGATE"]
        return any(low <= ord(char) <= high for low, high in pairs)

    if str(given[0][0]) == "NEGATE":
        return at.choice([char for char in ALPHABET if not has(char)])
    op, one = at.choice(given)
    return chr(one) if str(op) == "LITERAL" else chr(at.randint(*one))


class LarkWalk:
    """A grammar that ``lark`` has loaded by LALR, which refuses what the next token cannot decide."""

    def __init__(self, text: str) -> None:
        self.lark = Lark(text, parser="lalr")
        self.patterns = {one.name: one.pattern.to_regexp() for one in self.lark.terminals}
        self.rules: dict[str, list[list[Symbol]]] = {}
        for rule in self.lark.rules:
            self.rules.setdefault(rule.origin.name, []).append(list(rule.expansion))
        self.heights = heights({
            name: [[s.name for s in one if isinstance(s, NonTerminal)] for one in options]
            for name, options in self.rules.items()
        })  # fmt: skip

    def draw(self, at: random.Random) -> str:
        self.left = LONG
        return "".join(self._rule("start", at, DEEP))

    def _rule(self, name: str, at: random.Random, depth: int) -> Iterator[str]:
        options = self.rules[name]
        self.left -= 1
        depth = depth if self.left > 0 else 0
        fit = [one for one in options if self._height(one) < depth]
        chosen = at.choice(fit) if fit else min(options, key=self._height)
        if not chosen and len(fit) > 1 and at.random() < 0.5:
            chosen = at.choice([one for one in fit if one])
        for symbol in chosen:
            if isinstance(symbol, Terminal):
                yield drawn(self.patterns[symbol.name], at)
            else:
                yield from self._rule(symbol.name, at, depth - 1)

    def _height(self, option: list[Symbol]) -> int:
        return max((self.heights[s.name] for s in option if isinstance(s, NonTerminal)), default=0)

    def takes(self, text: str) -> bool:
        try:
            self.lark.parse(text)
        except LarkError:
            return False
        return True


def heights(rules: Mapping[str, list[list[str]]]) -> dict[str, int]:
    """How deep the flattest tree of each rule is."""
    found = dict.fromkeys(rules, 10**6)
    changed = True
    while changed:
        changed = False
        for name, options in rules.items():
            height = 1 + min(max((found[one] for one in option), default=0) for option in options)
            if height < found[name]:
                found[name], changed = height, True
    return found


_GBNF = re.compile(
    r'"((?:[^"\\\n]|\\.)*)"|\[((?:[^\]\\]|\\.)*)\]|([a-z][a-z0-9-]*)|([()|*+?])|\{(\d+)(?:(,)(\d*))?\}|[ ]+'
)
_ESCAPE = re.compile(r"\\(?:x([0-9A-F]{2})|u([0-9A-F]{4})|U([0-9A-F]{8})|(.))")


def _unescaped(text: str) -> str:
    plain = {"n": "\n", "r": "\r", "t": "\t"}
    return _ESCAPE.sub(
        lambda m: chr(int(m[1] or m[2] or m[3], 16)) if m[4] is None else plain.get(m[4], m[4]), text
    )


class GbnfWalk:
    """GBNF as it is documented: one rule a line, read by its text alone."""

    def __init__(self, text: str) -> None:
        lines = [line for line in text.rstrip("\n").split("\n") if not line.startswith("#")]
        pairs = [line.split(" ::= ", 1) for line in lines]
        assert len({name for name, _ in pairs}) == len(pairs), "a rule stands twice"
        self.rules = {name: self._choice(list(self._tokens(body)), [0]) for name, body in pairs}
        used = {one[1] for rule in self.rules.values() for one in _named(rule)}
        assert used <= self.rules.keys(), used - self.rules.keys()

    def _tokens(self, body: str) -> Iterator[Any]:
        at = 0
        while at < len(body):
            found = _GBNF.match(body, at)
            assert found, body[at : at + 40]
            at = found.end()
            literal, chars, name, mark, least, comma, most = found.groups()
            if literal is not None:
                yield ("text", _unescaped(literal))
            elif chars is not None:
                yield ("chars", _classes(chars))
            elif name:
                yield ("rule", name)
            elif mark:
                yield mark
            elif least:
                yield ("times", int(least), int(most) if most else None if comma else int(least))

    def _choice(self, tokens: list[Any], at: list[int]) -> Any:
        options = [self._sequence(tokens, at)]
        while at[0] < len(tokens) and tokens[at[0]] == "|":
            at[0] += 1
            options.append(self._sequence(tokens, at))
        return options[0] if len(options) == 1 else ("alt", options)

    def _sequence(self, tokens: list[Any], at: list[int]) -> Any:
        parts: list[Any] = []
        while at[0] < len(tokens) and tokens[at[0]] not in ("|", ")"):
            token = tokens[at[0]]
            at[0] += 1
            if token == "(":
                parts.append(self._choice(tokens, at))
                assert tokens[at[0]] == ")"
                at[0] += 1
            elif token in ("*", "+", "?") or token[0] == "times":
                times = {"*": (0, None), "+": (1, None), "?": (0, 1)}
                least, most = times[token] if isinstance(token, str) else token[1:]
                parts.append(("repeat", parts.pop(), least, most))
            else:
                parts.append(token)
        return parts[0] if len(parts) == 1 else ("seq", parts)

    def takes(self, text: str) -> bool:
        @cache
        def rule(name: str, start: int) -> frozenset[int]:
            return frozenset(ends(self.rules[name], start))

        def ends(node: Any, start: int) -> set[int]:
            match node:
                case ("text", literal):
                    return {start + len(literal)} if text.startswith(literal, start) else set()
                case ("chars", (negated, ranges)):
                    if start >= len(text):
                        return set()
                    within = any(low <= text[start] <= high for low, high in ranges)
                    return {start + 1} if within != negated else set()
                case ("rule", name):
                    return set(rule(name, start))
                case ("seq", parts):
                    reached = {start}
                    for part in parts:
                        reached = {end for one in reached for end in ends(part, one)}
                    return reached
                case ("alt", options):
                    return {end for one in options for end in ends(one, start)}
                case ("repeat", item, least, most):
                    return repeated(item, least, most, start)
            raise AssertionError(node)

        def repeated(item: Any, least: int, most: int | None, start: int) -> set[int]:
            reached, found, count = {start}, {start} if least == 0 else set(), 0
            while reached and (most is None or count < most):
                count += 1
                reached = {e for r in reached for e in ends(item, r)} - (found if count > least else set())
                found |= reached if count >= least else set()
            return found

        return len(text) in rule("root", 0)


def _classes(text: str) -> tuple[bool, list[tuple[str, str]]]:
    negated = text.startswith("^")
    singles = re.findall(r"\\x..|\\u....|\\U........|\\.|.", text[negated:], re.DOTALL)
    ranges, at = [], 0
    while at < len(singles):
        low = _unescaped(singles[at])
        if singles[at + 1 : at + 2] == ["-"] and at + 2 < len(singles):
            ranges.append((low, _unescaped(singles[at + 2])))
            at += 3
        else:
            ranges.append((low, low))
            at += 1
    return negated, ranges


def _named(node: Any) -> Iterator[Any]:
    """The rules in a node."""
    match node:
        case ("rule", _):
            yield node
        case ("seq", parts) | ("alt", parts):
            for part in parts:
                yield from _named(part)
        case ("repeat", item, _, _):
            yield from _named(item)


class SchemaWalk:
    """A JSON Schema, in the words that planeval writes; ``jsonschema`` holds texts against it."""

    def __init__(self, text: str) -> None:
        from jsonschema import Draft202012Validator

        self.schema = json.loads(text)
        Draft202012Validator.check_schema(self.schema)
        self.valid: Callable[[Any], bool] = Draft202012Validator(self.schema).is_valid

    def draw(self, at: random.Random) -> str:
        return json.dumps(self._draw(self.schema, at, 12), ensure_ascii=False)

    def takes(self, text: str) -> bool:
        try:
            return self.valid(json.loads(text))
        except ValueError:
            return False

    def _draw(self, schema: Any, at: random.Random, depth: int) -> Any:
        assert schema.keys() <= KNOWN, schema.keys() - KNOWN
        if "$ref" in schema:
            return self._draw(self.schema["$defs"][schema["$ref"].removeprefix("#/$defs/")], at, depth)
        if "anyOf" in schema:
            options = schema["anyOf"]
            flat = [one for one in options if one.get("type") not in ("array", "object", None)]
            return self._draw(at.choice(flat if depth < 0 and flat else options), at, depth - 1)
        if "enum" in schema:
            return at.choice(schema["enum"])
        match schema["type"]:
            case "null":
                return None
            case "boolean":
                return at.random() < 0.5
            case "integer" | "number" as kind:
                return self._number(schema, at, whole=kind == "integer")
            case "string":
                return self._text(schema, at)
            case "array":
                return self._array(schema, at, depth)
            case _:
                return self._object(schema, at, depth)

    def _number(self, schema: Any, at: random.Random, *, whole: bool) -> Any:
        low = schema.get("minimum", schema.get("exclusiveMinimum", schema.get("maximum", 0) - 1000))
        high = schema.get("maximum", schema.get("exclusiveMaximum", low + 1000))
        low, high = low + ("exclusiveMinimum" in schema), high - ("exclusiveMaximum" in schema)
        return at.randint(int(low), int(high)) if whole or low > high else at.uniform(low, high)

    def _text(self, schema: Any, at: random.Random) -> str:
        least, most = schema.get("minLength", 0), schema.get("maxLength", 40)
        for _ in range(200):
            if "pattern" in schema:
                text = drawn(schema["pattern"], at)
            else:
                text = "".join(at.choices(ALPHABET, k=at.randint(least, min(most, least + 6))))
            if least <= len(text) <= most:
                return text
        return "a" * least

    def _array(self, schema: Any, at: random.Random, depth: int) -> list[Any]:
        if "prefixItems" in schema:
            return [self._draw(each, at, depth - 1) for each in schema["prefixItems"]]
        least = schema.get("minItems", 0)
        most = min(schema.get("maxItems", least + 3), least + (3 if depth > 0 else 0))
        return [self._draw(schema["items"], at, depth - 1) for _ in range(at.randint(least, most))]

    def _object(self, schema: Any, at: random.Random, depth: int) -> dict[str, Any]:
        needed = set(schema.get("required", ()))
        made = {
            name: self._draw(each, at, depth - 1)
            for name, each in schema.get("properties", {}).items()
            if name in needed or (at.random() < 0.5 and depth > 0)
        }
        free = schema.get("additionalProperties")
        marks = schema.get("patternProperties")
        if depth > 0 and (free or marks):
            value = free or next(iter(marks.values()))
            for _ in range(at.randint(0, 2)):
                name = "".join(at.choices(ALPHABET, k=at.randint(0, 4)))
                if not marks or name[:1] not in ("", "$"):
                    made[name] = self._draw(value, at, depth - 2)
        return made


KNOWN = {
    *("$comment", "$defs", "$ref", "anyOf", "type", "enum", "properties", "required", "pattern", "items"),
    *("additionalProperties", "patternProperties", "prefixItems", "minItems", "maxItems"),
    *("minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
}
"""The keywords that schemas of plans are written with."""

WALKS = {"lark": LarkWalk, "gbnf": GbnfWalk, "json-schema": SchemaWalk}
