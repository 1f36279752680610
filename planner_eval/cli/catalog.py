"""planeval catalog: show tool catalogs, write them in another format, or as a grammar of their plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

import planner_eval as pe
from planner_eval.base.errors import CatalogError
from planner_eval.base.formats import formats_of
from planner_eval.base.text import did_you_mean, format_count, printable, to_json
from planner_eval.cli.options import as_command, dialect_option, note, option, refuse_idle
from planner_eval.cli.output import LIST_ASPECTS, Output, output_options

if TYPE_CHECKING:
    from planner_eval.catalogs.catalog import Tool


@as_command("catalog", file="FILE")
@option("--tool NAME", "Show one tool in full.", "wanted")
@option(
    "--to [openai|anthropic|gemini|mcp|jsonschema|planeval]",
    "Write the catalog in this format, as JSON; the format planeval loses nothing.",
    "target",
)
@option("--loss", "With --to: drop what the format cannot express, and list it.")
@option(
    "--grammar [json-schema|lark|gbnf]",
    "Write a grammar of the plans that the catalog allows, in an engine's format.",
)
@dialect_option("--dialect", "With --grammar: the notation of the plans.")
@option("--max-calls N", "With --grammar: the most calls of a plan.", type=click.IntRange(1, 64), default=8)
@option("--catalog-format FORMAT")
@output_options(*LIST_ASPECTS, late=True)
def command(
    file: str,
    wanted: str | None,
    target: str | None,
    loss: bool,
    grammar: str | None,
    dialect: str | None,
    max_calls: int,
    catalog_format: str | None,
    output: Output,
) -> int:
    """Show the tools of a catalog, convert it to another format, or write a grammar of the plans it allows.

    A catalog is a list of tools as OpenAI, Anthropic, Gemini or Bedrock take it, an MCP tools/list result,
    JSON Schemas, a Python file with functions, a file of AppBench, NESTful, CallNavi, FunctionChat-Bench,
    ComplexFuncBench, TaskBench, BFCL, UltraTool, Seal-Tools, NesTools or ToolAlpaca, or world:NAME for the
    tools of a simulated world.

    What the --to format cannot express is an error; --loss drops and lists it. Names that the format does
    not allow are changed, with a note, and restored when planeval reads them. What a grammar cannot enforce
    is listed on standard error and in its first lines; planeval check finds it.
    Exit code: 0 written, 2 usage error, 3 not written.
    """
    listing = target is None and grammar is None
    refuse_idle(
        ("wanted form", listing, "without --to and --grammar"),
        ("loss", target is not None, "with --to"),
        ("dialect max_calls", grammar is not None, "with --grammar"),
    )
    if target is not None and grammar is not None:
        raise click.UsageError("--to writes the tools, --grammar a grammar of their plans: use one of them")
    if grammar is not None and dialect is None:
        raise click.UsageError("--grammar needs --dialect: the notation of the plans")
    output = output.choose(*formats_of(*(LIST_ASPECTS if listing else ("data",))))
    catalog = pe.read_catalog(file, catalog_format)
    if target is not None:
        return _write_catalog(catalog, target, loss, output)
    if grammar is not None:
        decoding = pe.grammar(catalog, dialect=dialect or "", to=grammar, max_calls=max_calls)
        note(*(f"looser than the catalog: {difference.text}" for difference in decoding.looser))
        note(*(f"narrower than the catalog: {difference.text}" for difference in decoding.narrower))
        output.emit(decoding.text, plain=True)
        return 0
    tools = catalog.tools
    if wanted is not None and not (tools := catalog.find(wanted)):
        hint = did_you_mean(wanted, [tool.full_name for tool in catalog.tools], lead="; ")
        raise CatalogError(f"{catalog.name} has no tool {wanted!r}{hint}")
    if not output.shows("plain"):
        output.emit_rows([_row(tool) for tool in tools])
    elif wanted is not None:
        output.emit(printable("\n\n".join(map(_tool_text, tools))))
    else:
        output.emit(printable("\n".join(tool.signature() for tool in tools)))
    if not tools:
        note(f"{catalog.name} lists no tools")
    return 0


def _write_catalog(catalog: pe.Catalog, target: str, loss: bool, output: Output) -> int:
    """Write the catalog in another format."""
    from planner_eval.catalogs.formats import catalog_to_data
    from planner_eval.catalogs.writers import losses, renamed_tools

    dropped = losses(catalog, target)
    note(*(f"{target} cannot express {item}" + (": left out" if loss else "") for item in dropped))
    if dropped and not loss:
        note("nothing written: add --loss to write the rest, or use --to planeval, which keeps everything")
        return 3
    if new_names := renamed_tools(catalog, target):
        own, name = new_names[0]
        note(
            f"{target} has {format_count(len(new_names), 'tool')} under other names, as {name!r} for {own!r}"
        )
    output.emit(to_json(catalog_to_data(catalog, target), 1))
    return 0


def _row(tool: Tool) -> dict[str, object]:
    return {
        "tool": tool.full_name,
        "required": ", ".join(p.name for p in tool.parameters if p.required),
        "optional": ", ".join(p.name for p in tool.parameters if not p.required),
        "returns": tool.returned,
        "changes something": tool.action,
        "description": tool.description,
    }


def _tool_text(tool: Tool) -> str:
    """A tool with a line for each argument and each output."""
    lines = [tool.full_name, *([f"  {tool.description}"] if tool.description else [])]
    for title, fields in (("takes", tool.parameters), ("returns", tool.returns.fields)):
        bare = (tool.returned if title == "returns" else "") or "nothing that is declared"
        lines.append(f"  {title}:" + ("" if fields else f" {bare}"))
        for field in fields:
            marks = [str(field.type), *(["optional"] if title == "takes" and not field.required else [])]
            marks += [f"default {to_json(field.default)}"] if field.has_default else []
            described = f"  {field.description}" if field.description else ""
            lines.append(f"    {field.name} ({', '.join(marks)}){described}")
        if title == "takes" and tool.open:
            lines.append("    and arguments that are not listed")
    return "\n".join(lines)
