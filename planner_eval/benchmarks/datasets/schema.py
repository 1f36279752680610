"""What data/datasets.json says, to which tests hold it, for it is read unchecked; and what is to be made."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, RootModel

from planner_eval.base.schema_models import Described, Items, optional_key

_Checksum = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class FileEntry(Described):
    """One published file."""

    mapping: ClassVar[str] = "an object"
    path: str = Field(description="Where it lies below the data set's folder.")
    url: str | None = Field(
        description="An address, or a path below the data set's; null where there is none."
    )
    bytes: Annotated[int, Field(ge=0)] | None = optional_key("Its size.")
    sha256: _Checksum | None = optional_key("Its checksum in hexadecimal.")


class DatasetEntry(Described):
    """One published data set."""

    mapping: ClassVar[str] = "an object"
    name: str = Field(min_length=1, description="What the command line calls it.")
    title: str = Field(description="One line for a person.")
    paper: str = Field(description="Where it was published.")
    licence: str = Field(description="What its publishers state.")
    records: int = Field(ge=0, description="How many samples its reader gives.")
    reader: str = Field(description="The module of planner_eval.benchmarks.datasets that reads it.")
    benchmark: str | None = Field(description="The benchmark that scores its predictions, if one does.")
    parts: Items[str] = Field(description="The reader's parts that belong to it; all where empty.")
    address: Annotated[str, Field(pattern="^https://")] = Field(description="Where its files lie, pinned.")
    files: Annotated[Items[FileEntry], Field(min_length=1)] = Field(description="Its files.")
    note: str = optional_key("What a user should know before fetching it.")
    tools: str = optional_key(
        "What its gold plans run with, of the tools that come along; none where left out."
    )


class DatasetsFile(RootModel[Items[DatasetEntry]]):
    """The published data sets."""


class SlotToMake(Described):
    """A parameter that no call gives."""

    mapping: ClassVar[str] = "an object"
    tool: str = Field(description="The tool, with its app.")
    parameter: str = Field(description="Its parameter.")


class PairToMake(Described):
    """A tool that uses another's output."""

    mapping: ClassVar[str] = "an object"
    producer: str = Field(description="The tool whose output is used.")
    consumer: str = Field(description="The tool that uses it.")


class EdgeToMake(PairToMake):
    """An output that a parameter takes."""

    output: str = Field(description="The output, as a way into the result; empty for the whole.")
    parameter: str = Field(description="The parameter that takes it.")


class ToMakeFile(Described):
    """What no plan of a data set touches: what plans should still be made of."""

    mapping: ClassVar[str] = "an object"
    version: Literal["planeval.to-make/1"] = Field(alias="schema", description="The form of this file.")
    data: str = Field(description="The data set whose plans were looked at.")
    catalog: str | None = Field(description="The catalog of tools; null without one.")
    against: str = optional_key("Another data set, whose plans touch some of it.")
    tools: Items[str] = Field(description="Tools that no plan calls.")
    parameters: Items[SlotToMake] = Field(description="Parameters that no call gives.")
    pairs: Items[PairToMake] = Field(description="Tools that could be joined and are not.")
    edges: Items[EdgeToMake] = Field(description="The same, output by parameter.")
    shapes: Items[str] = Field(
        description="Shapes of at most four calls that no plan has, as stats writes them."
    )
    depths: Items[Annotated[int, Field(ge=0)]] = Field(description="Depths that no plan has.")
    kinds: Items[str] = Field(description="Kinds of arguments that no call has, as stats names them.")
