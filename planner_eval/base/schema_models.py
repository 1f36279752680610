"""What people write by hand, described once by a model: it checks their data and is printed as JSON Schema.

Each room keeps the models of its own files in a module of its own, which is imported when a user's file is
read or a schema is asked for: pydantic takes 17 to 66 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, NamedTuple, Self, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, WrapValidator, model_validator
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticCustomError, core_schema

from planner_eval.base.errors import InputError
from planner_eval.base.text import did_you_mean, one_line

DRAFT = "https://json-schema.org/draft/2020-12/schema"

Item = TypeVar("Item")
Items = Annotated[list[Item], Field(strict=False)]
"""A list; data out of Python may give a tuple."""
Pair = Annotated[list[Item], Field(strict=False, min_length=2, max_length=2)]
"""A list of two."""
OneOrMoreTexts = str | Items[str]
"""A text, or a list of texts."""
DataPath: TypeAlias = "tuple[str | int, ...]"
"""The way to a place in data."""
PathFormatter: TypeAlias = Callable[[DataPath], str]
"""From a place in data to what messages call it."""


class Described(BaseModel):
    """Data with known keys and strict types; an unknown key is an error that names the closest one.

    >>> class Room(Described):
    ...     beds: int
    >>> Room.check({"bed": 2}, "room.toml")
    Traceback (most recent call last):
        ...
    planner_eval.base.errors.InputError: room.toml: there is no key 'bed'; did you mean 'beds'?
    """

    model_config = ConfigDict(extra="forbid", strict=True, serialize_by_alias=True)
    mapping: ClassVar[str] = "a table"
    """What the format calls a mapping, in messages."""

    @classmethod
    @cache
    def known_keys(cls) -> tuple[str, ...]:
        """The keys that the data may have."""
        return tuple(field.alias or name for name, field in cls.model_fields.items())

    @model_validator(mode="before")
    @classmethod
    def _know_the_keys(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and cls.model_config["extra"] == "forbid":
            keys = cls.known_keys()
            for key in data:
                if key not in keys:
                    raise PydanticCustomError("unknown_key", "unknown key", {"key": key, "known": keys})
        return data

    @classmethod
    def check(cls, data: Any, where: str | PathFormatter, error: type[InputError] = InputError) -> Self:
        """The data as the model's, when they follow it.

        Args:
            data: Decoded TOML or JSON, or the like out of Python.
            where: What messages call it, e.g. a file's name; or what says so of a place in it.
            error: What is raised.

        Raises:
            InputError: names the key, what was found and what was expected.
        """
        try:
            return cls.model_validate(data)
        except ValidationError as refused:
            steps, sentence = explain_error(refused, data, cls.mapping)
            named = where if isinstance(where, str) else where(steps)
            raise error(f"{named}{sentence}") from None


def optional_key(description: str, **rules: Any) -> Any:
    """A key that may be left out, for the right side of a model's field."""
    return Field(None, description=description, **rules)


class OneOf:
    """Says in an annotation that a text is one of some names."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = list(names)

    def __get_pydantic_core_schema__(self, _source: Any, _handler: Any) -> core_schema.CoreSchema:
        return core_schema.literal_schema(self.names)


def describe_expected(words: str) -> WrapValidator:
    """Says in an annotation what is expected, in words, where the types say less to a person."""

    def validate(value: Any, inner: Any) -> Any:
        try:
            return inner(value)
        except ValidationError:
            raise PydanticCustomError("expecting", "wrong", {"words": words}) from None

    return WrapValidator(validate)


# ---------------------------------------------------------------- messages
_TYPE_WORDS = {
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "list_type": "a list",
}


class _Problem(NamedTuple):
    """One error of pydantic's, with the place in the data alone: without the names of a union's branches."""

    path: tuple[str | int, ...]
    type: str
    found: Any
    context: Mapping[str, Any]
    of_key: bool
    message: str

    @property
    def telling(self) -> float:
        """How much it says: of a union's branches the one that got furthest says most."""
        kind = self.type in (*_TYPE_WORDS, "dict_type", "model_type")
        vague = kind or (self.type == "literal_error" and not isinstance(self.found, str))
        return len(self.path) + (0 if vague else 0.5)


class ErrorExplanation(NamedTuple):
    """An error of what somebody wrote: the way to its place, and what is wrong there, in words."""

    place: DataPath
    words: str


def explain_error(error: ValidationError, data: Any, mapping: str) -> ErrorExplanation:
    """The place of the first error; and where it is, what was found and what was expected, in words.

    The words are to follow a file's name.

    Args:
        error: What pydantic raised.
        data: What it was raised for.
        mapping: What the format calls a mapping.
    """
    problems = [_read_problem(error_data, data) for error_data in error.errors(include_url=False)]
    first = problems[0].path
    group = [p for p in problems if p.path[: len(first)] == first]
    furthest = max(group, key=lambda p: p.telling)
    equal = [p for p in group if (p.path, p.telling) == (furthest.path, furthest.telling)]
    unknown = (furthest.context["key"],) if furthest.type == "unknown_key" else ()
    return ErrorExplanation((*furthest.path, *unknown), _format_problems(equal, mapping))


def _read_problem(error: Any, data: Any) -> _Problem:
    path: list[str | int] = []
    for step in error["loc"]:
        inside = isinstance(data, Mapping) and step in data
        if inside or (isinstance(data, (list, tuple)) and isinstance(step, int) and step < len(data)):
            data = data[step]
            path.append(step)
    if error["type"] == "missing":
        path.append(error["loc"][-1])
    of_key = error["loc"][-1:] == ("[key]",)
    return _Problem(tuple(path), error["type"], error["input"], error.get("ctx", {}), of_key, error["msg"])


def _format_problems(problems: list[_Problem], mapping: str) -> str:
    problem = problems[0]
    if problem.type == "unknown_key":
        names, name = problem.context["known"], problem.context["key"]
        hint = did_you_mean(str(name), names, f"expected one of {', '.join(names)}")
        return f"{_format_location(problem.path)}: there is no key {name!r}; {hint}"
    if problem.type == "union_tag_not_found":
        problem = problem._replace(
            type="missing", path=(*problem.path, problem.context["discriminator"].strip("'"))
        )
    if problem.type == "union_tag_invalid":
        field = problem.context["discriminator"].strip("'")
        problem = problem._replace(path=(*problem.path, field), found=problem.context["tag"])
    # Positions in lists stay with the list's name.
    index = max((i for i, step in enumerate(problem.path) if isinstance(step, str)), default=0)
    container, subject = problem.path[:index], problem.path[index:]
    if problem.type == "missing":
        return f"{_format_location(container)}: {_format_path(subject)!r} is missing"
    expectation = " or ".join(dict.fromkeys(_format_expected(p, mapping) for p in problems))
    actual = (
        "empty"
        if problem.type.endswith("too_short") and not problem.found
        else one_line(repr(problem.found), 60)
    )
    if problem.of_key:
        return f"{_format_location(problem.path[:-1])}: the key is {actual}, expected {expectation}"
    clause = f"{_format_path(subject)} is {actual}" if subject else f"found {actual}"
    return f"{_format_location(container)}: {clause}, expected {expectation}"


def _format_expected(problem: _Problem, mapping: str) -> str:
    """What was expected."""
    context = problem.context
    if problem.type in ("literal_error", "union_tag_invalid"):
        names = context.get("expected", context.get("expected_tags", "")).replace(" or ", ", ")
        choices = [name.strip("'") for name in names.split(", ")]
        hint = did_you_mean(str(context.get("tag", problem.found)), choices, lead="; ")
        return f"one of {', '.join(choices)}{hint}" if len(choices) > 1 else repr(choices[0])
    if problem.type == "expecting":
        return str(context["words"])
    if problem.type in ("dict_type", "model_type", "model_attributes_type"):
        return mapping
    if problem.type in ("too_short", "string_too_short"):
        return "at least one" if context["min_length"] == 1 else f"{context['min_length']} of them"
    if problem.type == "too_long":
        return f"{context['max_length']} of them"
    bounds = {"greater_than_equal": ("ge", "from {} on"), "less_than_equal": ("le", "up to {}")}
    if problem.type in bounds:
        limit, words = bounds[problem.type]
        return f"a number {words.format(f'{context[limit]:g}')}"
    return _TYPE_WORDS.get(problem.type, problem.message.removeprefix("Input should be "))


def _format_path(path: tuple[str | int, ...]) -> str:
    """A place in words, positions counted from 1.

    >>> _format_path(("rule", 0, "compare", 1)), _format_path(("roles", "plain"))
    ('rule 1, compare 2', 'roles.plain')
    """
    text = ""
    for before, step in zip((0, *path), path, strict=False):
        text += (
            f" {step + 1}" if isinstance(step, int) else f"{', ' if isinstance(before, int) else '.'}{step}"
        )
    return text.removeprefix(", ").strip()


def _format_location(path: tuple[str | int, ...]) -> str:
    return f", {_format_path(path)}" if path else ""


# ---------------------------------------------------------------- JSON Schema
class _Generator(GenerateJsonSchema):
    """As pydantic's, without titles that repeat the keys and without null where a key may be left out."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> dict[str, Any]:
        if schema.get("default", ...) is None:
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)

    def dict_schema(self, schema: core_schema.DictSchema) -> dict[str, Any]:
        json_schema = super().dict_schema(schema)
        return json_schema | ({"additionalProperties": False} if "patternProperties" in json_schema else {})


def json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of what a model describes."""
    return {"$schema": DRAFT, **model.model_json_schema(schema_generator=_Generator)}
