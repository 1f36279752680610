"""What a row of the table of notations may say, for checking users' own rows and for editors."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from planner_eval.base.described import Described, Items, OneOf, Texts, key
from planner_eval.dialects.shapes import NEEDED, SHAPES


def _needs(schema: dict[str, Any]) -> None:
    """Say which fields a shape needs, each with something in it."""
    schema["allOf"] = [
        {
            "if": {"properties": {"shape": {"const": shape}}, "required": ["shape"]},
            "then": {
                "required": list(fields),
                "properties": {field: {"not": {"enum": ["", []]}} for field in fields},
            },
        }
        for shape, fields in NEEDED.items()
    ]


class Row(Described):
    """One notation: a shape and what is particular to it."""

    model_config = ConfigDict(json_schema_extra=_needs)

    name: str = Field(min_length=1, description="What --from and --to take.")
    title: str = key("One line for a person.")
    example: str = Field(min_length=1, description="A short plan in this notation.")
    shape: Annotated[str, OneOf(SHAPES)] = Field(description="What is read and written by the other fields.")
    rows: Items[int] = key("Numbers of the notations it stands for.")
    status: str = key("V: seen in a server's or framework's source or tests; K: general knowledge.")
    note: str = key("What stays unchecked.")
    references: str = key("The notation of references inside texts.")
    typed: bool = key("False where values are written without types: a tool schema gives them.")
    sign: str = key("A regular expression that a text of it, or the text of its JSON data, holds.")
    known: str = key("What to say of a text with the sign.")
    weak: bool = key("True where prose may hold the sign, too: what then cannot be read is no error.")
    rank: int = key("Where order matters: rows are asked lower ranks first.")
    hints: Items[str] = key(
        "Words of which one stands in all its texts, or JSON data: no other is looked at."
    )
    tool: str = key("The name of a call that no other notation makes.")
    line_start: bool = key("True where its first tokens are ordinary words: they count at a line's start.")
    open: Items[str] = key("Tokens before a call or the list: the first is written, all are read.")
    close: Items[str] = key("Tokens after it.")
    each: bool = key("Whether the tokens stand around each call, not around the list.")
    inner: str = key("The shape inside the tokens.")
    list: bool = key("Whether the calls between the tokens are a list.")
    separator: str = key("What stands between calls.")
    quote: str = key("What stands around a text.")
    around: str = key('JSON around the calls, with "$calls"; "$each" writes the calls one after another.')
    call: Texts = key("A call as JSON with $name, $arguments, $text, $id; or an opening and a closing tag.")
    parameter: Items[str] = key("A parameter's opening and closing tag.")
    head: Items[str] = key("What stands before a call's name.")
    middle: Items[str] = key("What stands between name and arguments.")
    tail: Items[str] = key("What stands after the arguments.")
