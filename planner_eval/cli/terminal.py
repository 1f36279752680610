"""What a terminal gets and a file or a pipe does not: colours, progress, and results in blocks."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import click

from planner_eval.base.errors import InputError
from planner_eval.base.formats import DEFAULT, FORMATS, SUFFIXES, format_of_suffix, formats_of, shows
from planner_eval.base.output_files import ensure_final_newline, find_write_problem, silence
from planner_eval.base.text import one_line, printable

# ----------------------------------------------------------------------
# Colours put on the lines of a command's text: of states, kinds of edits, severities and headings.
#
# Each function takes text that is made already and gives the same text with colours; what a colour says
# stands
# there in words. A text that only looks like a state is coloured as one, and means nothing more by it.
STATE_COLORS = {
    "same": "32",
    "different": "33",
    "unreadable": "31",
    "cut": "31",
    "refused": "31",
    "failed": "31",
    "absent": "31",
    "gold unreadable": "35",
    "gold absent": "35",
    # of calls that were run, of files of data
    "ok": "32",
    "skipped": "33",
    "differs": "31",
    "missing": "31",
    "error": "31",
    "warning": "33",
    "info": "36",
    "no": "33",
}
"""What became of something, and its colour."""

BOLD, DIM = "1", "2"

_STATE = "|".join(STATE_COLORS)
_CODE = r"[a-z]+\.[a-z_]+"
_EDIT = rf"{_CODE}|[a-z]+ for [a-z]+"
_STATE_COLUMN_HEAD = r"(?:^|(?<=  ))(status|state|severity)(?=  |$)"
"""The head of a column of states."""


def _color(text: str, sgr: str) -> str:
    return f"\x1b[{sgr}m{text}\x1b[0m" if text else ""


def _color_word(match: re.Match[str]) -> str:
    """A state in its colour, and a kind of edit in the one that its role has in a drawing."""
    kind, _, what = match[0].partition(".")
    roles = {"missing": "31", "extra": "34", "duplicated": "34"}
    usual = roles.get(what, "35" if kind == "reference" else "33")
    return _color(match[0], STATE_COLORS.get(match[0], usual))


def _color_pair(line: str) -> str:
    """What ``planeval diff`` says of a pair, of an edit, or of how many pairs are in which state."""
    if re.match(r"[\d,]+ pairs?: ", line):
        return re.sub(rf"(?<=\d )({_STATE})\b", _color_word, line)
    if edit := re.match(rf" +(↳ )?(?:{_EDIT})( ×\d+)?( \([^()]*\))?: ", line):
        from planner_eval.comparison.explanation.sentences import mark_differences

        pieces = mark_differences(line[edit.end() :])
        message = "".join(_color(piece, BOLD) if differs else piece for piece, differs in pieces)
        return re.sub(_EDIT, _color_word, edit[0], count=1) + message
    codes = rf"(?<=different): (?:{_CODE}(?: ×\d+)?(?:, |(?=: )))+"
    match = re.match(rf"(?:.*?  )?({_STATE})(?=: | \(|$)({codes})?", line)
    if match is None:
        return line
    state = _color(match[1], STATE_COLORS[match[1]])
    return line[: match.start(1)] + state + re.sub(_CODE, _color_word, match[2] or "") + line[match.end() :]


def color_finding(line: str) -> str:
    """What ``planeval check`` found: a severity and a code."""
    match = re.fullmatch(r"(.*?: )??(error|warning|info)(: .*?)( \[[a-z_.]+\])?", line)
    if match is None:
        return line
    severity = _color(match[2], STATE_COLORS[match[2]])
    return f"{match[1] or ''}{severity}{match[3]}{_color(match[4] or '', DIM)}"


def _color_reading(line: str) -> str:
    """What ``planeval parse`` read: the head of a plan, its notation, a call, or what was noticed."""
    if re.match(rf"  {_CODE}: |(?:{_STATE}): ", line):
        return _color_pair(line)
    if re.match(r"[a-z][\w.-]*: ", line):
        return re.sub(r"^[^:]+", lambda m: _color(m[0], "36"), line)
    return _color(line, BOLD) if re.match(r"\S.*, (record|line) ", line) else line


def color_tables(text: str) -> str:
    """Tables, with lines of pairs before or between them: heads bold, states in their columns coloured."""
    return "\n\n".join("\n".join(_color_block(block.split("\n"))) for block in text.split("\n\n"))


def _color_block(lines: list[str]) -> Iterator[str]:
    painted = [_color_pair(line) for line in lines]
    if painted[0] != lines[0] or len(lines) == 1 or not re.search(r"\S  +\S", lines[0]):
        yield from painted
        return
    yield _color(lines[0], BOLD)
    head = re.search(_STATE_COLUMN_HEAD, lines[0])  # a second would be moved by the colours of the first
    column = len(lines[0]) if head is None else head.start()
    for line in lines[1:]:
        yield line[:column] + re.sub(rf"^({_STATE})(?=  |$)", _color_word, line[column:])


def dim_codes(text: str) -> str:
    r"""Tables and findings with the code at the end of each line dim.

    >>> dim_codes("call 1: b has no tool 'f' [check.unknown_tool]")
    "call 1: b has no tool 'f'\x1b[2m [check.unknown_tool]\x1b[0m"
    """
    return re.sub(
        rf" \[{_CODE}(?:, share [\d.]+)?\]$", lambda m: _color(m[0], DIM), color_tables(text), flags=re.M
    )


LINE_COLORS: Mapping[str, Callable[[str], str]] = {
    "diff": _color_pair,
    "check": color_finding,
    "parse": _color_reading,
}
"""How each line of a command's text is coloured for itself."""

TEXT_COLORS: Mapping[str, Callable[[str], str]] = {
    **dict.fromkeys(("score", "agree", "compare", "stats", "execute", "convert"), color_tables),
    **dict.fromkeys(("doctor", "selftest", "data show"), color_tables),
    **dict.fromkeys(("data check", "suggest"), dim_codes),
}
"""How the text of other commands is; ``render`` draws in the colours of its theme."""


# ----------------------------------------------------------------------
# What a terminal gets and a file or a pipe does not: colours, and a count of what is done.
T = TypeVar("T")


# ---------------------------------------------------------------- colours
def color_option() -> click.Option:
    """The option ``--color``."""
    return click.Option(
        ["--color"],
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        expose_value=False,
        callback=_set_color,
        help="Coloured text: on a terminal (auto), always, or never.",
    )


def _set_color(context: click.Context, _option: click.Parameter, when: str) -> None:
    """Keep what the user wants where click itself looks for it."""
    context.color = {"always": True, "never": False}.get(when)


def is_colored(output: str | None) -> bool:
    """Whether text gets colours: as ``--color`` says, or where it goes to a terminal that wants them.

    Args:
        output: The file that it goes to; None for standard output.
    """
    context = click.get_current_context(silent=True)
    if context is not None and context.color is not None:
        return context.color
    allowed = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return allowed and output is None and sys.stdout.isatty()


def color_output(pieces: Iterable[str], output: str | None) -> Iterable[str]:
    """A command's text as it goes out: safe for a terminal, and with colours where it is for people.

    Args:
        pieces: The text. Of one that gets colours each line is put together, and tables as a whole.
        output: The file that it goes to; None for standard output.
    """
    if output is None and sys.stdout.isatty():
        pieces = map(printable, pieces)
    context = click.get_current_context(silent=True)
    if context is None or not is_colored(output):
        return pieces
    form = context.params.get("form") or format_of_suffix(output, FORMATS) or DEFAULT
    command = context.command_path.partition(" ")[2]
    if not shows(form, "plain"):
        return pieces
    if paint := TEXT_COLORS.get(command):
        return [paint(printable("".join(pieces)))]
    if paint := LINE_COLORS.get(command):
        lines = (printable(piece).split("\n") for piece in whole_lines(pieces))
        return ("\n".join(map(paint, piece)) for piece in lines)
    return pieces


def whole_lines(pieces: Iterable[str]) -> Iterator[str]:
    r"""The same text, each piece of whole lines, but for the last line's end.

    >>> list(whole_lines(["a", "b\nc", "", "d\n\n", "e"]))
    ['ab\n', 'cd\n\n', 'e']
    """
    pending = ""
    for piece in pieces:
        lines, end, unfinished = piece.rpartition("\n")
        if end:
            yield pending + lines + end
            pending = ""
        pending += unfinished
    if pending:
        yield pending


# ---------------------------------------------------------------- progress
CLEAR_LINE = "\r\x1b[K"
"""Ends a line on a terminal that was not meant to stay."""

_LARGE_BYTES = 4_000_000
"""Files of so many bytes take a second to read."""

_NOTE_SECONDS = 10.0
"""Seconds between the lines that tell of progress where there is no terminal."""

_COUNTERS_KEY = "planeval.counters"


class Counter:
    """How much is done, how fast, and how long it will take; on standard error where that takes a second.

    It is told after each piece, by calling it with how many are done and of how many. What is shown is one
    line that is overwritten, and taken away when something else is written, or at the end.

    Args:
        what: What is counted, in the plural.
        lead: What stands before the numbers.
        scale: How many make one of what is shown: a million bytes a megabyte.
        noted: Where there is no terminal it is said every ten seconds.
    """

    def __init__(self, what: str, lead: str = "", scale: int = 1, *, noted: bool = False) -> None:
        self.what, self.lead, self.scale, self.noted = what, lead, scale, noted
        self.done, self.total = 0, 0
        self.first: int | None = None
        self.begun = self.drawn = time.monotonic()
        self.visible = False
        self.hidden = not sys.stderr.isatty()

    def __call__(self, completed: int, total: int | None, failed: int = 0) -> None:
        """Take note of how many are done; `total` is None where it is not known."""
        self.done, self.total = completed, total or 0
        if self.first is None:  # what an earlier run did tells nothing of the speed
            self.first = completed
        now = time.monotonic()
        if self.hidden and self.noted:
            self.note(now, lambda: self._text(failed, now))
        elif now - self.begun > 1 and (now - self.drawn > 0.1 or completed == self.total):
            self.drawn = now
            self.show(self._text(failed, now))

    def note(self, now: float, text: Callable[[], str], seconds: float = _NOTE_SECONDS) -> None:
        """Say something on a line of its own, unless that was done so many seconds ago."""
        if now - self.drawn > seconds:
            self.drawn = now
            say(printable(text()))

    def _text(self, failed: int, now: float) -> str:
        """All that is said: ``5,000 of 1,000,000 pairs, 2,000/s, 8:17 left, 2 failed``."""
        phrases = [f"{self.lead}{self.said}"]
        rate = (self.done - (self.first or 0)) / self.scale / (now - self.begun)
        if rate > 0:
            phrases.append(f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s")
        if rate > 0 and self.total:
            left = int((self.total - self.done) / self.scale / rate)
            hours, minutes = divmod(left // 60, 60)
            clock = f"{hours}:{minutes:02}" if hours else f"{minutes}"
            phrases.append(f"{clock}:{left % 60:02} left")
        return ", ".join([*phrases, *[f"{failed:,} failed"] * bool(failed)])

    def show(self, text: str) -> None:
        """Write the line over what stands there."""
        if not self.hidden:
            from shutil import get_terminal_size

            width = get_terminal_size().columns - 1  # a line that wraps could not be taken away
            sys.stderr.write(CLEAR_LINE + one_line(text, width))
            sys.stderr.flush()
            self.visible = True

    @property
    def said(self) -> str:
        """How many are done, and of how many."""
        completed, total = (
            f"{number:,}" if self.scale == 1 else f"{number / self.scale:,.1f}"
            for number in (self.done, self.total)
        )
        return f"{completed} of {total} {self.what}" if self.total else f"{completed} {self.what}"

    def clear(self) -> None:
        """Take the line away."""
        if self.visible:
            sys.stderr.write(CLEAR_LINE)
            sys.stderr.flush()
            self.visible = False

    def close(self) -> None:
        """Take the line away; an interrupt learns how much was done."""
        self.clear()
        error = sys.exception()
        told = any(note.startswith("after ") for note in getattr(error, "__notes__", ()))
        if isinstance(error, KeyboardInterrupt) and self.done < self.total and not told:
            error.add_note(f"after {self.said}")


def make_counter(what: str = "pairs", **how: Any) -> Counter:
    """A count for the command that runs; see :class:`Counter`."""
    counter = Counter(what, **how)
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta.setdefault(_COUNTERS_KEY, []).append(counter)
        context.call_on_close(counter.close)
    return counter


def count_items(items: Iterable[T], total: int, what: str = "plans") -> Iterator[T]:
    """The same items, counted; see :class:`Counter`."""
    tell = make_counter(what)
    tell(0, total)
    try:
        for count, item in enumerate(items, 1):
            yield item
            tell(count, total)
    finally:
        tell.clear()


def say_reading(name: str) -> None:
    """Say that a large file is read, of which nothing can be counted before that is done."""
    size = os.path.getsize(name) if os.path.isfile(name) else 0
    if size > _LARGE_BYTES:
        make_counter().show(f"reading {size / 1e6:,.1f} MB of {name}")


def clear_counter_line() -> None:
    """Take away the line of a count, for another line comes; it is drawn again with the next piece."""
    context = click.get_current_context(silent=True)
    for counter in context.meta.get(_COUNTERS_KEY, ()) if context is not None else ():
        counter.clear()


def interrupt_message(error: BaseException) -> str:
    """What is said of an interrupt: how much was done, where it was counted."""
    notes: list[str] = getattr(error.__cause__ or error, "__notes__", [])
    notes = sorted(notes, key=lambda n: n.startswith(";"))
    return "".join(["interrupted", *(n if n.startswith(";") else f" {n}" for n in notes)])


# ----------------------------------------------------------------------
# Standard output: results in blocks, and readers that leave before the end.
_BLOCK_CHARACTERS = 1 << 16
"""Characters that are written at once where no terminal shows them."""


def write_out(data: bytes | Iterable[str]) -> None:
    """Write a result to standard output.

    Args:
        data: Bytes, or a text in pieces, which are written as they come and end with a line end.

    Raises:
        InputError: it cannot be written.
        BrokenPipeError: its reader has gone; nothing more can be written.
    """
    for block in [data] if isinstance(data, bytes) else _merge_pieces(ensure_final_newline(data)):
        clear_counter_line()
        try:
            click.echo(block, nl=False)
        except BrokenPipeError:
            silence(sys.stdout)
            raise
        except OSError as error:
            silence(sys.stdout)
            raise InputError(f"standard output cannot be written: {error.strerror or error}") from None


def _merge_pieces(pieces: Iterable[str]) -> Iterator[str]:
    """The same text in larger pieces, each a call of the system; a terminal gets them as they come."""
    least = 0 if sys.stdout.isatty() else _BLOCK_CHARACTERS
    pending: list[str] = []
    size = 0
    for piece in pieces:
        pending.append(piece)
        size += len(piece)
        if size >= least:
            yield "".join(pending)
            pending, size = [], 0
    if pending:
        yield "".join(pending)


# ----------------------------------------------------------------------
# The files that a command writes: none that cannot be written, and none that it reads.
SETTINGS_FILES = ("planeval.toml", "pyproject.toml")
"""Where a project keeps its settings, which every command may read: of one folder the first that has some."""

READ_METAVARS = frozenset(("FILE", "GOLD", "SPEC", "DIR"))
"""What the metavar of an option says that names something to read, or a file to write."""


class Target(click.ParamType):  # type: ignore[type-arg]  # click takes none before 8.4
    """The type of an option that names a file to write.

    Args:
        folder: Whether it may be a directory.
        unless: An option with which the file is only read.
        aspects: What is written, where a file named as another format than shows that is refused.
    """

    name = "file"

    def __init__(self, *aspects: str, folder: bool = False, unless: str = "") -> None:
        self.folder = folder
        self.unless = unless
        self.forms = formats_of(*aspects)


def refuse_targets(context: click.Context) -> None:
    """Refuse, before anything is done, files that cannot be written or that this command reads.

    Args:
        context: The command's context, whose options are read already.

    Raises:
        InputError: names the option and the file, and says why.
    """
    for option in context.command.params:
        target, file = option.type, context.params.get(option.name or "")
        if not isinstance(target, Target) or not file or context.params.get(target.unless):
            continue
        flag = max(option.opts, key=len)
        if problem := find_write_problem(file, folder=target.folder):
            raise InputError(f"{flag}: {problem}")
        for other, name in _named_files(context, option):
            if _is_read(context, other, name, file):
                what = "written" if isinstance(other.type, Target) else "read"
                raise InputError(f"{flag}: {file} is also {what} by this command ({name}): name another file")
        links = any(is_same_file(name, file) for name in SETTINGS_FILES)
        if os.path.exists(file) and (links or os.path.basename(os.path.realpath(file)) in SETTINGS_FILES):
            raise InputError(f"{flag}: {file} is the project's settings file: name another file")
        named = format_of_suffix(file, SUFFIXES)
        if target.forms and named is not None and not format_of_suffix(file, target.forms):
            written = " or ".join(target.forms)
            raise InputError(f"{flag}: {file} has the suffix of {named}, but {written} is written")


def format_of_file(file: str | None, forms: Collection[str], context: click.Context) -> str | None:
    """The format that a file's suffix names; None where it names none.

    Args:
        file: The file to write; None for standard output.
        forms: The formats that the command writes.
        context: The command's context.

    Raises:
        UsageError: it names one, and the command does not write it.
    """
    form = format_of_suffix(file, forms)
    other = format_of_suffix(file, SUFFIXES) if form is None else None
    if other is not None:
        message = f"{file} has the suffix of {other}, but {context.command.name} writes {', '.join(forms)}"
        if "form" in {option.name for option in context.command.params}:
            message += "; --format chooses one for a file of any name"
        raise click.UsageError(message, context)
    return form


def _named_files(context: click.Context, but: click.Parameter) -> Iterator[tuple[click.Parameter, str]]:
    """What the other arguments and options name that may be files."""
    for option in context.command.params:
        can_name_file = not READ_METAVARS.isdisjoint((option.metavar or "").split("|"))
        if option is but or not (isinstance(option, click.Argument) or can_name_file):
            continue
        value: Any = context.params.get(option.name or "", context.meta.get(option.name or ""))
        for name in (value,) if isinstance(value, str) else value or ():
            yield option, name


def _is_read(context: click.Context, option: click.Parameter, name: str, file: str) -> bool:
    """Whether what an option names is this file, or has it among its own."""
    if isinstance(option.type, Target):
        return os.path.realpath(name) == os.path.realpath(file)
    if not os.path.exists(file):
        return False
    kind, _, remainder = name.partition(":")  # recorded:F, F:NAME
    module = f"{name.replace('.', os.sep)}.py"
    if any(is_same_file(c, file) for c in (name, remainder, name.rpartition(":")[0], module)):
        return True
    reads_folders = isinstance(option, click.Option) or context.params.get("benchmark") is not None
    folders = filter(os.path.isdir, (name, remainder) if reads_folders else ())
    if any(_is_below(folder, file) for folder in folders):
        return True
    if kind == "-" or not (os.path.isdir(name) or any(mark in name for mark in "*?[")):
        from planner_eval.benchmarks.datasets.published import cache_folder

        return not os.path.exists(name) and _is_below(str(cache_folder(context.params.get("cache"))), file)
    from planner_eval.reading.files.files import list_files

    with suppress(InputError):
        listing = list_files(name)
        return listing is not None and any(is_same_file(path, file) for path in listing.files)
    return False


def is_same_file(name: Any, other: str) -> bool:
    """Whether two names are those of one file that is there."""
    try:
        return isinstance(name, str) and os.path.samefile(name, other)
    except OSError:
        return False


def _is_below(folder: str, file: str) -> bool:
    real = os.path.realpath(folder)
    return os.path.realpath(file).startswith(os.path.join(real, ""))


def say(text: str) -> None:
    """Say something on standard error; where that cannot be written, what a command found stands."""
    try:
        click.echo(text, err=True)
    except OSError:
        silence(sys.stderr)
