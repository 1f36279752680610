"""Values from a seed: the same seed and the same key give the same value, whatever was made before."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import Any, TypeAlias

from planner_eval.base.json_files import decode_field
from planner_eval.execution.worlds.definition import Column, Definition, Table

ValueSampler: TypeAlias = Callable[[str, str, Random], Any]
"""Gives some value that a table's column holds; None when it holds none."""

_PLACEHOLDER = re.compile(r"\{(\w+)\}|#")


@dataclass(frozen=True, slots=True)
class ValueMaker:
    """How a world makes values.

    Args:
        world: The world, for its pools and its date.
        seed: What columns are made from whose value depends on others alone.
        held: Where values of other tables come from.
    """

    world: Definition
    seed: str
    held: ValueSampler

    def value(self, column: Column, row: Mapping[str, Any], random: Random) -> Any:
        """A value for a column as the database holds it; None when the column's values are never made.

        Args:
            column: The column.
            row: The values of the columns before it.
            random: Where chance comes from.
        """
        maker = column.maker
        if maker.kind == "choice":
            return stored_value(random.choice(maker.choices))
        if maker.kind == "pool":
            pool = self.world.pools.get(maker.text)
            if pool is None:  # a column of the row itself
                return row.get(maker.text)
            barred = row.get(maker.other_than) if maker.other_than else None
            return random.choice([v for v in pool if v != barred] or pool)
        if maker.kind == "from":
            table, _, field = maker.text.partition(".")
            return self.held(table, field, random)
        if maker.kind == "template":
            text = _fill_template(maker.text, row, self.world, random)
            return as_json(text) if column.type == "json" else text
        if maker.kind == "range":
            steps = int((maker.high - maker.low) / maker.step + 1e-9)
            return _format_range_value(
                column.type, maker.low + maker.step * random.randrange(steps + 1), self.world
            )
        return None

    def row(
        self,
        table: Table,
        row_values: Mapping[str, Any],
        random: Random,
        *,
        settled_values: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """A whole row around the values that are given.

        Args:
            table: The table.
            row_values: Values by column, as the database holds them.
            random: Where chance comes from.
            settled_values: Values that columns must take because other rows settle them.
        """
        row: dict[str, Any] = {**(settled_values or {}), **row_values}
        for column in table.columns:
            if column.name in row:
                continue
            chance = random
            if column.maker.by:
                key = "/".join(str(row.get(name)).casefold() for name in column.maker.by)
                chance = Random(f"{self.seed}/{column.name}/{key}")
            row[column.name] = self.value(column, row, chance)
        return {column.name: row[column.name] for column in table.columns}


def stored_value(value: Any) -> Any:
    """A value as the database holds it: truth values as 0 and 1."""
    return int(value) if isinstance(value, bool) else value


def as_json(text: str) -> str:
    """The text, if it is JSON; else the JSON of it as a text.

    >>> as_json("[1]"), as_json("one")
    ('[1]', '"one"')
    """
    try:
        decode_field(text)
    except ValueError:
        return json.dumps(text, ensure_ascii=False)
    return text


def _fill_template(template: str, row: Mapping[str, Any], world: Definition, random: Random) -> str:
    def fill(match: re.Match[str]) -> str:
        if match[1] is None:
            return str(random.randrange(10))
        if match[1] in row:
            return str(row[match[1]])
        return str(random.choice(world.pools.get(match[1]) or (match[1],)))

    return _PLACEHOLDER.sub(fill, template)


def _format_range_value(kind: str, value: float, world: Definition) -> Any:
    if kind == "integer":
        return round(value)
    if kind == "date":
        return (date.fromisoformat(world.today) + timedelta(days=round(value))).isoformat()
    if kind == "time":
        return f"{round(value) // 60 % 24:02d}:{round(value) % 60:02d}"
    return round(value, 4)
