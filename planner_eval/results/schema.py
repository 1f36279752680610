"""What a theme's file has to say, for checking users' files and for editors."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, create_model

from planner_eval.base.schema_models import Described, describe_expected, optional_key
from planner_eval.results.drawing.scene import ROLES

_Attributes = dict[str, str]


class RoleEntry(Described):
    """How the calls and references of one role look."""

    sign: str = optional_key("The sign before labels of this role, one character; empty for none.")
    word: str = optional_key("The role's name in the legend.")
    meaning: str = optional_key("What it means, in the legend.")
    text: str = Field(description="Text colour.")
    ansi: Annotated[
        Annotated[str, Field(pattern=r"^(\d{1,3}(;\d{1,3})*)?$")], describe_expected("numbers such as '1;31'")
    ] = optional_key("SGR parameters of its text in a terminal.")
    box: _Attributes = Field(description="DOT attributes of a call.")
    line: _Attributes = Field(description="DOT attributes of a reference.")


_role_fields: dict[str, Any] = {role: (RoleEntry, ...) for role in ROLES}
Roles = create_model(
    "Roles", __base__=Described, __doc__="The roles that every theme must define.", **_role_fields
)


class ThemeFile(Described):
    """Colours and DOT attributes by role; viz/themes/default.toml is one to copy."""

    width: int = Field(description="Characters of one line in a box.")
    label_width: int = Field(description="Characters of a reference's label.")
    text: str = Field(description="Text colour outside roles.")
    muted: str = Field(description="Colour of secondary text.")
    graph: _Attributes = Field(description="DOT attributes of the drawing.")
    box: _Attributes = Field(description="DOT attributes of every call.")
    line: _Attributes = Field(description="DOT attributes of every reference.")
    cluster: _Attributes = Field(description="DOT attributes of every app.")
    roles: Roles = Field(description="How each role looks.")  # type: ignore[valid-type]
