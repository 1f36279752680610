"""What tokens cost: a file of the user's.

    [models."gpt-4.1"]     # the name that the model is asked under; quoted where it has a dot
    input = 2.0            # a million tokens of questions, in any currency
    output = 8.0           # a million tokens of answers

A JSON file has the same structure.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.input_files import read_text
from planner_eval.base.json_files import read_json
from planner_eval.base.schema_models import Described, describe_expected
from planner_eval.base.text import did_you_mean
from planner_eval.models.replies import Prices

_Price = Annotated[
    Annotated[float, Field(ge=0, allow_inf_nan=False)], describe_expected("a price, a number of at least 0")
]


class PriceEntry(Described):
    """What a model costs, in any currency."""

    input: _Price = Field(description="Price of a million input tokens.")
    output: _Price = Field(description="Price of a million output tokens.")


class PricesFile(Described):
    """What models cost."""

    models: dict[str, PriceEntry] = Field(description="The models, by name.")


def read_prices(path: Path) -> dict[str, Prices]:
    """The prices of a TOML or JSON file.

    Raises:
        InputError: the file cannot be read, or says something else; names the place.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "prices.json"
    ...     _ = file.write_text('{"models": {"m": {"input": 2.5, "output": 10}}}')
    ...     read_prices(file)
    {'m': Prices(input=2.5, output=10.0)}
    """
    import tomllib

    try:
        text = read_text(path, advice="expected the prices of models")
        data = read_json(text) if path.suffix == ".json" else tomllib.loads(text)
    except ParseError as problem:
        raise InputError(f"{path}: {problem.brief}") from None
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{path} is not TOML: {problem}") from None
    prices_file = PricesFile.check(data, str(path))
    return {name: Prices(price.input, price.output) for name, price in prices_file.models.items()}


def price_of(model: str, prices: Mapping[str, Prices], where: str) -> Prices:
    """A model's prices.

    Args:
        model: Its name.
        prices: Those that there are.
        where: What messages call them.

    Raises:
        InputError: there are none of this model.

    >>> price_of("m", {"m": Prices(1, 2)}, "prices.toml").output
    2
    """
    if model not in prices:
        hint = did_you_mean(model, prices, f"it has {', '.join(prices) or 'none'}")
        raise InputError(f"{where} has no price of the model {model!r}; {hint}")
    return prices[model]
