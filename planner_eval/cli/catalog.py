"""planeval catalog: show tool catalogs, write them in another format, or as a grammar of their plans."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

import planner_eval as pe
from planner_eval.base.errors import CatalogError
from planner_eval.base.output_files import SINGLE_VALUE_FORMATS
from planner_eval.base.tables import table
from planner_eval.base.text import did_you_mean, format_count, printable
from planner_eval.cli.options import dialect_option, emit, format_option, note, output_option, output_options

if TYPE_CHECKING:
    from planner_eval.catalogs.catalog import Tool


_FORMAT_OPTION = click.option(
    "--catalog-format", metavar="FORMAT", help="The file's format; recognised when left out."
)


@click.group("catalog")
def command() -> None:
    """Show a tool catalog, write it in another format, or a grammar of its plans.

    A catalog is a list of tools as OpenAI, Anthropic, Gemini or Bedrock take it, the answer to an MCP
    tools/list, JSON Schemas, a Python file with functions, one of the files of AppBench, NESTful,
    CallNavi, FunctionChat-Bench, ComplexFuncBench, TaskBench, BFCL, UltraTool, Seal-Tools, NesTools or
    ToolAlpaca, or world:NAME for the tools of a simulated world.
    """


@command.command("show")
@click.argument("file")
@click.option("--tool", "wanted", metavar="NAME", help="Show one tool in full.")
@_FORMAT_OPTION
@format_option("text", *SINGLE_VALUE_FORMATS)
@output_option
def show(file: str, wanted: str | None, catalog_format: str | None, form: str, output: str | None) -> int:
    """Show the tools of a catalog, a line each, or one of them in full."""
    catalog = pe.read_catalog(file, catalog_format)
    tools = catalog.tools
    if wanted is not None:
        tools = catalog.find(wanted)
        if not tools:
            hint = did_you_mean(wanted, [tool.full_name for tool in catalog.tools], lead="; ")
            raise CatalogError(f"{catalog.name} has no tool {wanted!r}{hint}")
    if form != "text":
        emit(table([_row(tool) for tool in tools], form), output)
    elif wanted is not None:
        emit(printable("\n\n".join(_tool_text(tool) for tool in tools)), output)
    else:
        emit(printable("\n".join(tool.signature() for tool in tools)), output)
    if not tools:
        note(f"{catalog.name} lists no tools")
    return 0


@command.command("convert")
@click.argument("file")
@click.option(
    "--to",
    "target",
    type=click.Choice(["openai", "anthropic", "gemini", "mcp", "jsonschema", "planeval"]),
    required=True,
    help="The format to write; planeval's own keeps everything.",
)
@_FORMAT_OPTION
@click.option("--loss", is_flag=True, help="Give up what the format cannot say, and say what was lost.")
@output_options("json")
def convert(file: str, target: str, catalog_format: str | None, loss: bool, output: str | None) -> int:
    """Write a catalog in another format, as JSON.

    What the format cannot say is an error; with --loss it is given up, and each loss is listed. A name
    that it cannot hold is written as another, which is said, and comes back where planeval reads it.
    Exit code: 0 written, 2 usage, 3 not written.
    """
    from planner_eval.catalogs.formats import catalog_to_data
    from planner_eval.catalogs.writers import losses, renamed_tools

    catalog = pe.read_catalog(file, catalog_format)
    dropped = losses(catalog, target)
    for dropped_item in dropped:
        note(f"{target} has no place for {dropped_item}" + (": left out" if loss else ""))
    if dropped and not loss:
        note("nothing is written: --loss writes the rest, --to planeval keeps everything")
        return 3
    if new_names := renamed_tools(catalog, target):
        own, name = new_names[0]
        note(
            f"{target} has {format_count(len(new_names), 'tool')} under other names, as {name!r} for {own!r}"
        )
    emit(json.dumps(catalog_to_data(catalog, target), ensure_ascii=False, indent=1), output)
    return 0


@command.command("grammar")
@click.argument("file")
@dialect_option("--dialect", "dialect", help="The notation of the plans.", required=True)
@click.option(
    "--to",
    "target",
    type=click.Choice(["json-schema", "lark", "gbnf"]),
    required=True,
    help="The form that the engine reads.",
)
@click.option(
    "--max-calls",
    metavar="N",
    type=click.IntRange(1, 64),
    default=8,
    show_default=True,
    help="How many calls a plan may have.",
)
@_FORMAT_OPTION
@output_options("json")
def grammar(
    file: str, dialect: str, target: str, max_calls: int, catalog_format: str | None, output: str | None
) -> int:
    """Write a grammar of the plans that a catalog allows, for engines that decode by one.

    What the grammar does not hold is said on standard error and in its first lines; planeval check finds it.
    """
    decoding_grammar = pe.grammar(
        pe.read_catalog(file, catalog_format), dialect=dialect, to=target, max_calls=max_calls
    )
    for difference in decoding_grammar.looser:
        note(f"looser than the catalog: {difference.text}")
    for difference in decoding_grammar.narrower:
        note(f"narrower than the catalog: {difference.text}")
    emit(decoding_grammar.text, output, plain=True)
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
            marks += [f"default {json.dumps(field.default, ensure_ascii=False)}"] if field.has_default else []
            described = f"  {field.description}" if field.description else ""
            lines.append(f"    {field.name} ({', '.join(marks)}){described}")
        if title == "takes" and tool.open:
            lines.append("    and arguments that are not listed")
    return "\n".join(lines)
