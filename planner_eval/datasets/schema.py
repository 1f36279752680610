"""What data/datasets.json says; tests hold the shipped table to it, for it is read without a check."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field, RootModel

from planner_eval.base.described import Described, Items, key

_Checksum = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class FileEntry(Described):
    """One published file."""

    mapping: ClassVar[str] = "an object"
    path: str = Field(description="Where it lies below the data set's folder.")
    url: str | None = Field(
        description="An address, or a path below the data set's; null where there is none."
    )
    bytes: Annotated[int, Field(ge=0)] | None = key("Its size.")
    sha256: _Checksum | None = key("Its checksum in hexadecimal.")


class DatasetEntry(Described):
    """One published data set."""

    mapping: ClassVar[str] = "an object"
    name: str = Field(min_length=1, description="What the command line calls it.")
    title: str = Field(description="One line for a person.")
    paper: str = Field(description="Where it was published.")
    licence: str = Field(description="What its publishers state.")
    records: int = Field(ge=0, description="How many samples its reader gives.")
    reader: str = Field(description="The module of planner_eval.datasets that reads it.")
    benchmark: str | None = Field(description="The benchmark that scores its predictions, if one does.")
    parts: Items[str] = Field(description="The reader's parts that belong to it; all where empty.")
    address: Annotated[str, Field(pattern="^https://")] = Field(description="Where its files lie, pinned.")
    files: Annotated[Items[FileEntry], Field(min_length=1)] = Field(description="Its files.")
    note: str = key("What a user should know before fetching it.")


class DatasetsFile(RootModel[Items[DatasetEntry]]):
    """The published data sets."""
