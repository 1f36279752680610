"""How a command writes: the format and the file of its result, thresholds, what CI shows, and drawings."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.errors import InputError, RenderError
from planner_eval.base.formats import (
    DEFAULT,
    SUMMARY,
    format_of_suffix,
    formats_of,
    load_writer,
    rows_view,
    shows,
    suffixes_of,
)
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.output_files import write
from planner_eval.base.text import json_safe, printable
from planner_eval.cli.options import (
    Decorator,
    Seconds,
    add_options,
    bundle_options,
    finite_number,
    note,
    option,
)
from planner_eval.cli.terminal import (
    Target,
    clear_counter_line,
    color_output,
    count_items,
    format_of_file,
    is_colored,
    refuse_targets,
    write_out,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from planner_eval.base.formats import View
    from planner_eval.results.drawing.layout import Drawing
    from planner_eval.results.findings import Finding
    from planner_eval.results.views.junit import Case


# ----------------------------------------------------------------------
# Results as bytes and text, to a file or to standard output.
def emit(data: str | bytes | Iterable[str], output: str | None, *, plain: bool = False) -> None:
    """Write a command's result to a file or to standard output, in colours where they are wanted.

    Where the reader of a pipe has gone (head, less), the rest is let go; the command's code stays the same.

    Args:
        data: The result; a text also in pieces, which are written as they come. The rest of them is not
            asked for where nobody reads it: what else the command says must not hang on them.
        output: The file that it goes to; None for standard output.
        plain: Leave a text as it is, for no person reads it.

    Raises:
        InputError: it cannot be written.
    """
    clear_counter_line()
    if isinstance(data, str):
        data = [data]
    if not isinstance(data, bytes):
        data = _escape_controls(data, people=output is None and sys.stdout.isatty())
        data = data if plain else color_output(data, output)
    with suppress(BrokenPipeError):
        if output is None:
            write_out(data)
        else:
            write(output, data)


def _escape_controls(pieces: Iterable[str], *, people: bool) -> Iterator[str]:
    """A result without what could move a terminal's cursor or hide: JSON says it otherwise, and is the same.

    Another text may be a plan in a notation, which a program is to get as it is.

    Args:
        pieces: The result.
        people: Whether it goes to a terminal.
    """
    shield: Callable[[str], str] | None = None
    for piece in pieces:
        if shield is None and (start := piece.lstrip()[:1]):
            shield = json_safe if start in "{[" else printable if people else str
        yield shield(piece) if shield is not None else piece


def is_folder(file: str | None) -> bool:
    """Whether ``-o`` names a folder: one that is there, or a name with a slash at its end."""
    return file is not None and (file.endswith(("/", os.sep)) or os.path.isdir(file))


# ----------------------------------------------------------------------
# Thresholds of ``--fail-under``: whether figures reach them, as test cases.
class Threshold(NamedTuple):
    """A figure and the number that it must reach, as ``--fail-under`` names them."""

    name: str
    least: float

    def check(self, value: Any, file: str, *, lower: bool = False, of: str = "") -> Case:
        """Whether a figure reaches it, as a test case.

        Args:
            value: The figure; what is no number does not exist.
            file: What it is a figure of.
            lower: Less is better, so that the threshold is the most that is allowed.
            of: What the figure is of, in words.
        """
        from planner_eval.results.contrast import check_threshold
        from planner_eval.results.views.junit import limit_case

        name = f"{self.name} ({of})" if of else self.name
        met, message = check_threshold(name, value, self.least, lower=lower)
        return limit_case(f"{self.name}={self.least:g}", met=met, said=message, file=file)


def _parse_threshold(text: str) -> Threshold:
    """A threshold of ``--fail-under``.

    Raises:
        InputError: it is no ``NAME=NUMBER``, or the number is none that can be reached.
    """
    name, _, value = text.partition("=")
    if (least := finite_number(value)) is None:
        raise InputError(f"--fail-under {text!r}: expected METRIC=NUMBER, e.g. exact=0.9")
    return Threshold(name.strip(), least)


def say_missed(checked: Iterable[Case]) -> bool:
    """Say which figures do not reach their thresholds; whether there are any."""
    missed = [case.message for case in checked if case.outcome != "passed"]
    note(*missed)
    return bool(missed)


def location_phrases(line: int | None, column: int | None, call: int | None, about: str | None) -> list[str]:
    """Where something is wrong, as far as it is known: the place in a text, the call and what it calls."""
    phrases = []
    if line is not None:
        phrases.append(f"line {line}" if column is None else f"line {line}, column {column}")
    if call is not None:
        phrases.append(f"call {call} ({about})" if about else f"call {call}")
    return phrases


def finding_line(where: Sequence[str], message: str, code: str) -> str:
    """Something that is wrong on one line, after where it is and before its code."""
    text = printable(f"{', '.join(where)}{': ' * bool(where)}{message} [{code}]")
    return text.replace("\n", "\\n").replace("\t", "\\t")  # ids and names may hold line ends


# ----------------------------------------------------------------------
# What a command writes.
def findings_in(lines: Iterable[str]) -> list[Finding]:
    """The findings of a job's lines, each a JSON list of them."""
    from planner_eval.results.findings import Finding

    return [Finding(*data) for line in lines if line for data in json.loads(line)]


class Output(NamedTuple):
    """What is written of a result, and where.

    Args:
        form: The format.
        file: The file; None for standard output, a folder for a whole run or many drawings.
        limits: Figures below these make the exit code 1.
        failures: List what is not right.
        doubts: A file of records with doubtful gold: the figures are shown without them too.
    """

    form: str
    file: str | None
    limits: tuple[Threshold, ...] = ()
    failures: bool = False
    doubts: str | None = None

    @property
    def folder(self) -> str | None:
        """The folder; None where there is none."""
        return self.file if is_folder(self.file) else None

    def shows(self, *aspects: str) -> bool:
        """Whether the format shows one of these aspects of a result."""
        return shows(self.form, *aspects)

    def choose(self, *forms: str) -> Output:
        """The same in a format: the one that was named, else by the file's suffix, else the first.

        Raises:
            UsageError: the file is named as another format.
        """
        context = click.get_current_context()
        form = self.form or format_of_file(self.file, forms, context) or forms[0]
        context.params["form"] = form  # colours depend on it
        return self._replace(form=form)

    def emit(self, data: str | bytes | Iterable[str], *, plain: bool = False) -> None:
        """Write it, see :func:`emit`."""
        emit(data, self.file, plain=plain)

    def emit_view(self, view: View) -> None:
        """Write what the format shows of a result."""
        self.emit(view.write(self.form))

    def emit_rows(self, rows: Iterable[dict[str, Any]], width: int = 60) -> None:
        """Write a list, see :func:`.rows_view`."""
        self.emit_view(rows_view(rows, width))

    def emit_findings(self, findings: Sequence[Finding], headline: str) -> None:
        """Write what is wrong as CI servers show it, and of ``github`` the step's summary.

        Args:
            findings: What was found.
            headline: What all is about, in one line.
        """
        root = os.environ.get("GITHUB_WORKSPACE")
        if self.shows("findings"):
            self.emit(load_writer(self.form)(findings, root))
            return
        from planner_eval.results.findings import github_annotations, summary

        self.emit(github_annotations(findings, headline, root))
        _append_summary(summary(findings, headline, click.get_current_context().command_path))

    def emit_result(
        self,
        view: View,
        cases: Callable[[], Iterable[Case]],
        headline: str,
        *,
        limited: bool,
    ) -> None:
        """Write a result; as annotations its test cases that failed, and figures into the step's summary.

        Args:
            view: The result.
            cases: Gives the cases: thresholds and pairs.
            headline: What all is about, in one line.
            limited: Whether thresholds alone decide, so that what else failed is an error; else pairs warn.
        """
        if not self.shows("annotations"):
            self.emit_view(view)
            return
        from planner_eval.results.findings import findings_of_case, github_annotations
        from planner_eval.results.views.junit import NEVER_ALLOWED_STATES

        hard = ("repeated", "threshold", *NEVER_ALLOWED_STATES)
        levels = ((case, "error" if limited or case.code in hard else "warning") for case in cases())
        findings = [f for case, level in levels for f in findings_of_case(case, level=level)]
        self.emit(github_annotations(findings, headline, os.environ.get("GITHUB_WORKSPACE")))
        title = click.get_current_context().command_path
        _append_summary([f"## {title}", "", headline, "", *view.text(SUMMARY).splitlines()])


def _append_summary(lines: Iterable[str]) -> None:
    """Append Markdown to the summary of GitHub's step, where there is one, as far as it may grow."""
    from planner_eval.results.findings import MAX_SUMMARY_BYTES, limit_lines

    file = os.environ.get("GITHUB_STEP_SUMMARY")
    if not file:
        return
    try:
        with open(file, "a", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
            stream.writelines(f"{line}\n" for line in limit_lines(lines, MAX_SUMMARY_BYTES - stream.tell()))
    except OSError as error:
        note(f"{file}, the step summary, cannot be written: {error.strerror or error}")


# ----------------------------------------------------------------------
# The options that say it.
RESULT_ASPECTS = ("document", "data", "records", "table", "cases")
"""What figures and verdicts show of themselves."""

FINDING_ASPECTS = ("annotations", "findings")
"""What is wrong shows of itself to CI servers."""

LIST_ASPECTS = ("document", "data", "table")
"""What a list of things shows of itself."""


def file_option(
    *aspects: str, folder: bool = False, into: str = "one file per record into a directory"
) -> Decorator:
    """Add ``-o/--output FILE``, and have every file that the command writes refused before the work.

    Args:
        aspects: What is shown, in a command without ``--format``, so that suffixes may name its formats.
        folder: Whether it may be a directory, into which many files are written.
        into: What is written there.
    """

    def named(context: click.Context, _option: click.Parameter, file: str | None) -> str | None:
        if aspects:
            format_of_file(file, formats_of(*aspects), context)
        return None if file == "-" else file

    def checked(output: str | None) -> str | None:
        refuse_targets(click.get_current_context())
        return output

    where = f"or {into} (default: standard output)." if folder else "instead of standard output."
    return bundle_options(
        "output",
        checked,
        ["output"],
        option(
            "-o --output FILE",
            f"Write to FILE{',' * folder} {where}",
            type=Target(folder=folder),
            is_eager=True,
            callback=named,
        ),
    )


def output_options(
    *aspects: str,
    help: str = "Output format.",
    late: bool = False,
    figures: Sequence[str] = (),
    **file: Any,
) -> Decorator:
    """Add ``--format`` and ``-o``, which the command takes as ``output``, an `Output`.

    Args:
        aspects: What the result shows of itself, see :mod:`planner_eval.base.formats`.
        help: What ``--format`` does.
        late: Leave the format to :meth:`Output.choose`; else it is by the suffix of ``-o``, or the first.
        figures: Options of figures that say what is written of them.
        file: What else :func:`file_option` takes.
    """
    forms = formats_of(*aspects)

    def chosen(context: click.Context, _option: click.Parameter, value: str | None) -> str:
        return value or format_of_file(context.params.get("output"), forms, context) or forms[0]

    def make(
        form: str | None,
        output: str | None,
        fail_under: Iterable[str] = (),
        only: str | None = None,
        gold_doubts: str | None = None,
    ) -> Output:
        limits = tuple(map(_parse_threshold, fail_under))
        return Output(form or "", output, limits, only is not None, gold_doubts)

    default = f"{help.removesuffix('.')} (default: by the suffix of -o, else {forms[0]})."
    how: dict[str, Any] = {} if late else {"callback": chosen}
    format_option = option("--format", help if late else default, "form", type=click.Choice(forms), **how)
    decorator = bundle_options("output", make, ("form", "output", *figures), format_option)
    return add_options(decorator, file_option(**file))


def picture_option(flag: str, aspect: str, help: str) -> Decorator:
    """Add an option that names a file to draw into, whose suffix is that of a format of pictures or plots."""
    forms = formats_of(aspect)

    def named(context: click.Context, _option: click.Parameter, file: str | None) -> str | None:
        if file is not None and format_of_suffix(file, forms) is None:
            suffixes = ", .".join(forms)
            raise click.UsageError(f"{file}: unknown format; use one of .{suffixes}", context)
        return file

    return option(f"{flag} FILE", help, type=Target(), callback=named)


def picture_format(file: str, aspect: str) -> str:
    """The format that the file of a :func:`picture_option` is named as."""
    form = format_of_suffix(file, formats_of(aspect))
    assert form is not None
    return form


# ----------------------------------------------------------------------
# The options of commands that draw.
class DrawingOptions(NamedTuple):
    """How something is drawn.

    Args:
        theme: A theme's name, or its file.
        deadline: Seconds for the layout of one drawing.
        force: Draw every call, however many there are.
    """

    theme: str
    deadline: float
    force: bool


drawing_options = bundle_options(
    "look",
    DrawingOptions,
    DrawingOptions._fields,
    option("--theme NAME|FILE", default="default"),
    option("--deadline SECONDS", type=Seconds(), default=10.0),
    option("--force"),
)
"""Add ``--theme``, ``--deadline`` and ``--force``; the command takes them as ``look``."""


def draw_one(thing: Any, form: str, look: DrawingOptions, output: str | None) -> bytes:
    """Draw one thing, and say what is worth knowing about it.

    Args:
        thing: What :func:`planner_eval.render` takes.
        form: The format.
        look: How it is drawn.
        output: The file that it is for; None for standard output.

    Raises:
        RenderError: it cannot be drawn.
    """
    drawing = next(pe.render_many([thing], format=form, color=is_colored(output), **look._asdict()))
    note(*_warnings(drawing))
    if drawing.error:
        raise RenderError(drawing.error)
    return drawing.data


class NamedDrawing(NamedTuple):
    """A drawing, or why there is none, and whose it is.

    Args:
        id: The id of what is drawn; "" where it has none.
        where: How it is named in messages.
        drawing: What was drawn.
    """

    id: str
    where: str
    drawing: Drawing


def draw_each(
    items: Iterable[tuple[str, str, Any, str]], form: str, look: DrawingOptions, output: str | None
) -> Iterator[NamedDrawing]:
    """Draw things one after another; of which there is nothing to draw, the reason takes its place.

    Args:
        items: The id of each, how it is named in messages, what is drawn or None, and the reason for None.
        form: The format.
        look: How they are drawn.
        output: The file or folder that they are for; None for standard output.
    """
    from planner_eval.results.drawing.layout import Drawing

    waiting: deque[tuple[str, str, Any, str]] = deque()

    def things() -> Iterator[Any]:
        for item in items:
            waiting.append(item)
            if item[2] is not None:
                yield item[2]

    def missing() -> Iterator[NamedDrawing]:
        while waiting and waiting[0][2] is None:
            id, where, _, reason = waiting.popleft()
            yield NamedDrawing(id, where, Drawing(error=reason))

    for drawing in pe.render_many(things(), format=form, color=is_colored(output), **look._asdict()):
        yield from missing()
        yield NamedDrawing(*waiting.popleft()[:2], drawing)
    yield from missing()


def _warnings(drawing: Drawing) -> list[str]:
    """What a drawing is not as it should be in."""
    return [diagnostic.message for diagnostic in drawing.diagnostics if diagnostic.severity != "info"]


def say_drawing(named: NamedDrawing) -> None:
    """Errors and warnings of one drawing, on standard error."""
    problems = [named.drawing.error, *_warnings(named.drawing)]
    note(*(f"{named.where}: {problem}" for problem in problems if problem))


def write_folder(
    drawn: Iterable[NamedDrawing],
    output: str,
    form: str,
    count: int,
    what: str = "plans",
    *,
    inputs: frozenset[str] = frozenset(),
) -> int:
    """Write a file a drawing, named by its id; what is written stays when this is interrupted.

    Args:
        drawn: The drawings.
        output: The folder; it is made where it is not there.
        form: Their format.
        count: How many there are.
        what: What they are drawings of, in the plural.
        inputs: The files that the command reads, wherever links to them lie.

    Returns:
        How many failed.

    Raises:
        InputError: a drawing would take the place of an input.
    """
    from pathlib import Path

    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    suffix = next(iter(suffixes_of(form) or suffixes_of(DEFAULT)))
    used: set[str] = set()
    failed = 0
    for named in count_items(drawn, count, what):
        say_drawing(named)
        if named.drawing.error:
            failed += 1
            continue
        safe = re.sub(r"[^\w.-]+", "_", named.id, flags=re.ASCII).strip("._")[:100]
        plain = name = safe or f"plan-{len(used) + 1}"
        while name.lower() in used:  # as file systems see it that do not tell A from a
            name = f"{name}-{len(used) + 1}"
        used.add(name.lower())
        if plain != name:
            note(f"{named.where}: drawn into {name}.{suffix}, for {plain}.{suffix} belongs to another record")
        file = folder / f"{name}.{suffix}"
        if os.path.realpath(file) in inputs and not file.is_symlink():
            raise InputError(f"{file} is an input of this command: name another folder")
        write(file, named.drawing.data, follow=False)  # a link in the folder may lead anywhere
    note(f"{len(used):,} of {count:,} {what} drawn into {folder}")
    return failed
