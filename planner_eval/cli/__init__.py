"""The command line: one module a command, imported when the command is called.

Exit codes: 0 fine; 1 differences, findings, an unreadable prediction, below a threshold; 2 usage, a
missing file, a file that is no text; 3 nothing could be evaluated; 130 interrupted.
"""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module
from typing import Any

import click

from planner_eval._version import __version__
from planner_eval.base.errors import PlanevalError
from planner_eval.base.output_files import silence
from planner_eval.cli.help import format_shared_options, shared_options
from planner_eval.cli.terminal import interrupt_message, say

COMMANDS: dict[str, tuple[str, str]] = {
    "agree": ("agree", "Measure how well a judge's verdicts agree with a person's."),
    "catalog": ("catalog", "Show a tool catalog, convert it, or write a grammar of its plans."),
    "check": ("check", "Check plans against a tool catalog, without running anything."),
    "compare": ("compare", "Compare two or more systems on the same gold plans."),
    "convert": ("convert", "Convert plans to another notation, or apply patches; list notations."),
    "data": ("data", "Show, fetch, check and export published data sets; make your own."),
    "diff": ("diff", "Show how predicted plans differ from gold plans, and why."),
    "doctor": (
        "reference:doctor_command",
        "Check what works on this machine: isolation and optional packages.",
    ),
    "execute": ("execute", "Run plans with tools in a sandbox."),
    "explain": (
        "reference:explain_command",
        "Explain a code, a metric or a label of an output, with an example.",
    ),
    "parse": ("parse", "Show how plans are read: the notation, the calls, what was ignored."),
    "predict": ("predict", "Ask a model to plan the tasks of a benchmark, or your own."),
    "render": ("render", "Draw a plan."),
    "report": ("report", "Write an HTML page: what is right, what is wrong, and why."),
    "schema": (
        "reference:schema_command",
        "Print the JSON Schema of an input file or a report.",
    ),
    "score": ("score", "Score predictions against gold plans: scores with confidence intervals."),
    "selftest": (
        "reference:selftest_command",
        "Test this or any other scorer on 38 pairs with known verdicts.",
    ),
    "shrink": ("shrink", "Reduce a pair of plans to the smallest one that still fails."),
    "stats": ("stats", "Show the structure of plans: depth, width, patterns, shapes."),
    "suggest": ("suggest", "Suggest fixes for plans that violate a tool catalog, without gold."),
    "table": ("table", "Make a results table of runs, as in a paper."),
}
"""Command → its module here, with its name there unless that is ``command``, and its line in ``--help``."""


COMPLETION_VARIABLE = "_PLANEVAL_COMPLETE"
"""Set by the shell's script when it asks what may stand next."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called; ``--help`` imports none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command = getattr(import_module(f"planner_eval.cli.{module}"), name or "command")
        assert isinstance(command, click.Command)
        if COMPLETION_VARIABLE in os.environ:
            from planner_eval.cli.completion import add_completion

            add_completion(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the closest one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from planner_eval.base.text import closest_name

            close = closest_name(args[0], COMMANDS)
            hint = f" Did you mean {close!r}?" if close else ""
            raise click.UsageError(f"There is no command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Offer the commands from the table, and the group's own options."""
        from planner_eval.cli.completion import complete_commands

        return [
            *complete_commands(COMMANDS, incomplete),
            *click.Command.shell_complete(self, ctx, incomplete),
        ]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, then the options of every command by section."""
        self.format_commands(ctx, formatter)
        format_shared_options(ctx, formatter)


@shared_options
@click.group(
    cls=LazyGroup,
    name="planeval",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="planeval", message="%(prog)s %(version)s")
@click.option(
    "--config",
    metavar="FILE|none",
    help="The settings file, or none (default: the project's planeval.toml or pyproject.toml).",
)
@click.pass_context
def cli(context: click.Context, config: str | None) -> None:
    """Read, compare, draw, score and run the tool-use plans that language models write."""
    from planner_eval.cli.options import Settings

    context.default_map = dict.fromkeys(COMMANDS, Settings(config))


def run() -> int:
    """Run the command line and give the exit code; an error for people never becomes a traceback."""
    stdout = sys.stdout
    try:
        for stream in (sys.stdout, sys.stderr):
            # A lone surrogate out of a plan must not end the program on its way to the terminal.
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        result = cli.main(prog_name="planeval", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.ClickException as error:
        say(_usage_message(error))
        return error.exit_code
    except click.exceptions.Exit as error:
        return error.exit_code
    except (KeyboardInterrupt, click.Abort) as error:
        say(interrupt_message(error))
        return 130
    except PlanevalError as error:
        from planner_eval.base.text import printable

        say(f"planeval: {printable(error.coded)}")
        return error.exit_code
    except SystemExit:
        if sys.stdout is stdout:
            raise
        return 0  # click puts another in its place where the reader of a pipe (head, less) has gone
    except OSError as error:  # a folder that is not there, a full disk: no difference between plans
        if error.filename is None:
            silence(sys.stdout)
        if isinstance(error, BrokenPipeError):
            return 0
        from planner_eval.base.text import printable

        where = error.filename or "standard output"
        say(printable(f"planeval: {where} cannot be written or read: {error.strerror or error}"))
        return 2


def _usage_message(error: click.ClickException) -> str:
    """An error of usage as click shows it, which repeats the words that it was given."""
    from planner_eval.base.text import printable

    buffer = io.StringIO()
    error.show(buffer)
    return printable(buffer.getvalue().rstrip("\n"))
