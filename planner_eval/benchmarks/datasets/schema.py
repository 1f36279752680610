"""What data/datasets.json says, to which tests hold it, for it is read unchecked; and what is to be made."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, RootModel

from planner_eval.base.schema_models import Described, Items, optional_key

_Checksum = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class FileEntry(Described):
    """One published file."""

    mapping: ClassVar[str] = "an object"
    path: str = Field(description="The file's path below the data set's folder.")
    url: str | None = Field(
        description="The file's address, or a path below the data set's address; null if it has none."
    )
    bytes: Annotated[int, Field(ge=0)] | None = optional_key("The file's size.")
    sha256: _Checksum | None = optional_key("The file's checksum in hexadecimal.")


class DatasetEntry(Described):
    """One published data set."""

    mapping: ClassVar[str] = "an object"
    name: str = Field(min_length=1, description="The data set's name on the command line.")
    title: str = Field(description="A description in one line.")
    paper: str = Field(description="The paper that published the data set.")
    licence: str = Field(description="The licence as its publishers state it.")
    records: int = Field(ge=0, description="The number of samples.")
    reader: str = Field(description="The module of planner_eval.benchmarks.datasets that reads the data set.")
    benchmark: str | None = Field(
        description="The benchmark that scores answers to the data set, if there is one."
    )
    parts: Items[str] = Field(description="The reader's parts that belong to the data set; empty for all.")
    address: Annotated[str, Field(pattern="^https://")] = Field(
        description="The address of the files, at a fixed version."
    )
    files: Annotated[Items[FileEntry], Field(min_length=1)] = Field(description="The data set's files.")
    note: str = optional_key("What a user should know before fetching the data set.")
    tools: str = optional_key("The built-in tools that run the gold plans; absent if none do.")


class DatasetsFile(RootModel[Items[DatasetEntry]]):
    """The published data sets."""


class SlotToMake(Described):
    """A parameter that no call gives."""

    mapping: ClassVar[str] = "an object"
    tool: str = Field(description="The tool, with its app.")
    parameter: str = Field(description="The tool's parameter.")


class PairToMake(Described):
    """A tool that uses another's output."""

    mapping: ClassVar[str] = "an object"
    producer: str = Field(description="The tool whose output is used.")
    consumer: str = Field(description="The tool that uses the output.")


class EdgeToMake(PairToMake):
    """An output that a parameter takes."""

    output: str = Field(description="The output, as a path into the result; empty for the result itself.")
    parameter: str = Field(description="The parameter that takes the output.")


class ToMakeFile(Described):
    """What no plan of a data set touches: what plans should still be made of."""

    mapping: ClassVar[str] = "an object"
    version: Literal["planeval.to-make/1"] = Field(
        alias="schema", description="The version of this file's format."
    )
    data: str = Field(description="The data set whose plans were examined.")
    catalog: str | None = Field(description="The catalog of tools; null without one.")
    against: str = optional_key("Another data set that was compared with it.")
    tools: Items[str] = Field(description="Tools that no plan calls.")
    parameters: Items[SlotToMake] = Field(description="Parameters that no call gives.")
    pairs: Items[PairToMake] = Field(description="Pairs of tools that could be connected but are not.")
    edges: Items[EdgeToMake] = Field(
        description="Outputs and parameters that could be connected but are not."
    )
    shapes: Items[str] = Field(
        description="Shapes of at most four calls that no plan has, as stats writes them."
    )
    depths: Items[Annotated[int, Field(ge=0)]] = Field(description="Depths that no plan has.")
    kinds: Items[str] = Field(description="Kinds of arguments that no call has, as stats names them.")
