"""What a file of prices has to say, for checking users' files and for editors."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from planner_eval.base.schema_models import Described, describe_expected

_Price = Annotated[
    Annotated[float, Field(ge=0, allow_inf_nan=False)], describe_expected("a price, a number of at least 0")
]


class PriceEntry(Described):
    """What a model costs, in any currency."""

    input: _Price = Field(description="A million tokens of questions.")
    output: _Price = Field(description="A million tokens of answers.")


class PricesFile(Described):
    """What models cost."""

    models: dict[str, PriceEntry] = Field(description="The models, by the names that they are asked under.")
