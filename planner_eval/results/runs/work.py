"""One part of a run: its rows into a file, then its sums into another, which says that it is done."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any, BinaryIO

from planner_eval.base.errors import InputError, ParseError, PlanevalError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.reading.files.record import Record
from planner_eval.results.runs.model import Job, Pair, Pairs, Part, ignore

# ----------------------------------------------------------------------
# Files that take their place when they are whole.
PARTIAL_SUFFIX = ".part"
"""How the names of files end that are being written; of a process that was killed they stay behind."""

_CHUNK = 1 << 16


@contextmanager
def replace_when_complete(name: str) -> Iterator[BinaryIO]:
    """A file that takes its place when it is whole."""
    temporary = f"{name}.{os.urandom(6).hex()}{PARTIAL_SUFFIX}"  # workers may be on several machines
    try:
        with open(temporary, "wb") as stream:
            yield stream
        os.replace(temporary, name)
    finally:
        if os.path.lexists(temporary):
            os.unlink(temporary)


def unwritable_file_error(name: str, error: OSError) -> InputError:
    """What is said of a file that cannot be written."""
    return InputError(f"{name} cannot be written: {error.strerror or error}")


def unusable_folder_error(path: str, error: OSError) -> InputError:
    """What is said of a run's folder in which a file, or another folder, cannot be read or written."""
    name = error.filename or path
    if isinstance(error, IsADirectoryError):
        problem = "is a folder where the run needs a file: remove it, and repeat the command"
        return InputError(f"{name} {problem}")
    return InputError(f"{name} cannot be read or written: {error.strerror or error}")


def digest_of(data: bytes) -> str:
    """A digest of some bytes, as the engine's files give it."""
    return blake2b(data, digest_size=16).hexdigest()


# ----------------------------------------------------------------------
# One part of a run: its rows into a file, then its sums into another, which says that it is done.
PairCallback = Callable[[int], None]
"""Told which pair begins, by its number, and -1 after the last of a part."""


class BrokenPair(NamedTuple):
    """Why a pair is not read again: it ended, or held up, the process that worked on it.

    Args:
        code: ``parse.crash`` or ``parse.deadline``.
        reason: What it did, for the row that takes its place.
        both: Whether its gold plan is left out as well; its prediction alone was not to blame.
    """

    code: str
    reason: str
    both: bool = False

    def instead(self, pair: Pair) -> Pair:
        """The pair as it is worked on now: with an error where a plan was."""
        pred, gold = pair
        if pred is None or self.both:
            gold = gold and self._refused(gold)
        return pred and self._refused(pred), gold

    def _refused(self, record: Record) -> Record:
        return record._replace(source=None, values=None, error=ParseError(self.reason, code=self.code))


class Mark(NamedTuple):
    """What the file of a part's sums says of it.

    Args:
        first: Its first pair.
        end: The pair after its last.
        size: Bytes of its rows.
        digest: BLAKE2b of its rows.
        failed: How many of its pairs are left out as broken.
        check: BLAKE2b of its sums.
        sums: The job's sums over its rows, as JSON.
    """

    first: int
    end: int
    size: int
    digest: str
    failed: int
    check: str
    sums: str


def split_pairs(count: int, size: int) -> Iterator[Part]:
    """Cut pairs into parts of neighbours.

    Args:
        count: How many pairs there are.
        size: How many make a part.

    >>> list(split_pairs(5, 2))
    [Part(number=0, first=0, end=2), Part(number=1, first=2, end=4), Part(number=2, first=4, end=5)]
    """
    for number, first in enumerate(range(0, count, size)):
        yield Part(number, first, min(first + size, count))


def rows_file(folder: str, chunk: Part) -> str:
    """Where the rows of a part stand."""
    return os.path.join(folder, f"{chunk.number:06d}.jsonl")


def mark_file(folder: str, chunk: Part) -> str:
    """Where the sums of a part stand."""
    return os.path.join(folder, f"{chunk.number:06d}.json")


def run_part(
    job: Job,
    pairs: Pairs,
    chunk: Part,
    folder: str,
    broken: Mapping[int, BrokenPair] | None = None,
    watch: PairCallback | None = None,
) -> int:
    """Do one part: write its rows, then its sums as the mark that it is done.

    A pair at which the job raises what it should have put into a row is left out as broken; the job's own
    faults never cost another record.

    Args:
        job: What is done.
        pairs: All pairs of the run.
        chunk: The pairs to do.
        folder: Where parts are written.
        broken: Pairs that are left out, by number.
        watch: Told which pair begins.

    Returns:
        How many pairs were left out as broken.

    Raises:
        InputError: A file cannot be read or written, or the job refuses to go on.
        RuntimeError: The job fails at a pair even when that is left out.
    """
    left_out = {number: why for number, why in (broken or {}).items() if chunk.first <= number < chunk.end}
    name, mark_name = rows_file(folder, chunk), mark_file(folder, chunk)
    lines, sums = _work_rows(job, pairs, chunk, left_out, watch or ignore)
    text = json.dumps(sums.data(), separators=(",", ":")).encode()
    digest = blake2b(digest_size=16)
    for line in lines:
        digest.update(line)
    head = {
        "first": chunk.first,
        "end": chunk.end,
        "size": sum(map(len, lines)),
        "digest": digest.hexdigest(),
        "failed": len(left_out),
        "check": digest_of(text),
    }
    try:
        with replace_when_complete(name) as stream:
            stream.writelines(lines)
        with replace_when_complete(mark_name) as stream:
            stream.write(json.dumps(head).encode() + b"\n" + text)
    except OSError as error:
        raise unwritable_file_error(name, error) from None
    return len(left_out)


def read_mark(folder: str, chunk: Part) -> Mark | None:
    """The mark of a part that is done; None where there is none, or it is damaged or of another cut.

    Raises:
        InputError: it is there and cannot be read.
    """
    name = mark_file(folder, chunk)
    try:
        with open(name, "rb") as stream:
            head, _, sums = stream.read().partition(b"\n")
        mark = Mark(**json.loads(head), sums=sums.decode())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unusable_folder_error(name, error) from None
    except (ValueError, TypeError):
        return None
    is_whole = mark.check == digest_of(sums) and (mark.first, mark.end) == (chunk.first, chunk.end)
    return mark if is_whole else None


def has_marked_rows(stream: BinaryIO, mark: Mark) -> bool:
    """Whether the next bytes of a file are the rows that a mark speaks of."""
    digest, remaining = blake2b(digest_size=16), mark.size
    while remaining and (data := stream.read(min(remaining, _CHUNK))):
        digest.update(data)
        remaining -= len(data)
    return not remaining and digest.hexdigest() == mark.digest


# ---------------------------------------------------------------- the rows
def _work_rows(
    job: Job, pairs: Pairs, chunk: Part, broken: dict[int, BrokenPair], watch: PairCallback
) -> tuple[list[bytes], Any]:
    """The rows of a part as lines, and their sums.

    Where the job fails at a pair, its sums may be half done: the pairs since the last such one are done
    once more, and that one with them, left out. So no pair is done more than a few times.
    """
    total, lines = None, list[bytes]()
    first, end = chunk.first, chunk.end
    while first < chunk.end:
        sums, completed = job.fold(), len(lines)
        feed = _PairFeed(pairs, first, end, broken, watch)
        try:
            lines += map(_encode_row, job.rows(feed, sums))
            watch(-1)
        except Exception as error:
            if _is_fatal(error) or feed.number < first:
                raise _fatal_error(error, feed.number) from error
            broken[feed.number] = _leave_out(broken.get(feed.number), error)
            del lines[completed:]
            end = feed.number + 1
            continue
        if (count := len(lines) - completed) != end - first:
            raise RuntimeError(f"the job {job.kind} gave {count:,} rows for {end - first:,} pairs")
        if total is None:
            total = sums
        else:
            total.extend(sums)
        first, end = end, chunk.end
    return lines, total


def _encode_row(row: str) -> bytes:
    """A row as a line of a file."""
    if "\n" in row:
        raise ValueError("a row holds a line end")
    return row.encode("utf-8", "backslashreplace") + b"\n"


class _PairFeed:
    """The pairs of a part, one after another; knows which was asked for last, or is worked on."""

    def __init__(
        self, pairs: Pairs, first: int, end: int, broken: Mapping[int, BrokenPair], watch: PairCallback
    ) -> None:
        self.pairs, self.first, self.end, self.broken, self.watch = pairs, first, end, broken, watch
        self.number = first - 1

    def __iter__(self) -> Iterator[Pair]:
        watch, broken = self.watch, self.broken
        remaining = iter(self.pairs[self.first : self.end])
        for number in range(self.first, self.end):
            self.number = number
            watch(number)  # before it is read: that may take its time as well
            pair = next(remaining)
            yield broken[number].instead(pair) if number in broken else pair

    def again(self, number: int) -> None:
        """Be told that the job works once more on a pair that it was given."""
        self.number = number
        self.watch(number)


def _is_fatal(error: Exception) -> bool:
    """Whether an error is no fault of a pair: a file, a disk, an option."""
    return isinstance(error, OSError) or (
        isinstance(error, PlanevalError) and not isinstance(error, ParseError)
    )


def _fatal_error(error: Exception, number: int) -> Exception:
    """An error that stops a run, as it is raised."""
    if not isinstance(error, OSError):
        return error
    where = error.filename or f"what pair {number + 1:,} is read from"
    return InputError(f"{where} cannot be read or written: {error.strerror or error}")


def _leave_out(previous: BrokenPair | None, error: Exception) -> BrokenPair:
    """Leave out a pair at which the job failed, or its gold plan too where that was not enough.

    Raises:
        RuntimeError: nothing is left to leave out.
    """
    kind = type(error).__name__
    if previous is not None and previous.both:
        raise RuntimeError(f"the job fails even without the pair: {kind}: {error}") from error
    if previous is not None:
        return previous._replace(both=True)
    message = f"internal error ({kind}): a fault of planeval, not of the plan"
    return BrokenPair("parse.crash", message)
