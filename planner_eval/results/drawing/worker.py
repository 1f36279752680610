"""The child process that lays graphs out: Graphviz in C, which no signal of Python's interrupts.

Run as a file, not imported: it must not load the package, whose modules it does not need.

Frames on standard input: the deadline (big-endian 64 bit float) and two lengths (32 bit), then the format's
name and the DOT text.
Frames on standard output: a flag (0: drawn), two lengths, then the picture and what Graphviz had to
say. The first answer comes unasked: it says which Graphviz draws, or with flag 1 why none does.
"""

from __future__ import annotations

import contextlib
import os
import signal
import struct
import sys
from typing import Any, BinaryIO, NamedTuple

ORPHAN_SECONDS = 30.0
"""Beyond its deadline a layout whose parent has died is ended after this time."""


def load_bindings() -> Any:
    """The bindings of pygraphviz, without the package around them: that takes 20 ms to import."""
    from importlib.util import find_spec, module_from_spec

    spec = find_spec("pygraphviz")
    if spec is None:
        raise ImportError("it is not installed")
    if os.name != "nt":  # there the package has to say where its libraries lie
        sys.modules["pygraphviz"] = module_from_spec(spec)
    from pygraphviz import graphviz

    return graphviz


def open_scratch_file() -> int:
    """A file without a name that lives as long as the process."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("planner_eval")
    import tempfile

    return os.dup(tempfile.TemporaryFile().fileno())


def limit_lifetime(seconds: float) -> None:
    """End this process after so many seconds; 0: never."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


class Picture(NamedTuple):
    """A picture, or nothing and why."""

    data: bytes
    fault: str = ""


class Painter:
    """One Graphviz context, and the files that Graphviz reads from and complains to."""

    mode = "r"  # what pygraphviz asks of a file that it reads

    def __init__(self) -> None:
        self.gv = load_bindings()
        # A pygraphviz built from source finds its plugins itself.
        make = getattr(self.gv, "gvContextWithBuiltins", self.gv.gvContext)
        self.context = make()
        self.source = open_scratch_file()
        os.dup2(open_scratch_file(), 2)

    def fileno(self) -> int:
        """The file that pygraphviz reads."""
        return self.source

    def draw(self, source: bytes, form: bytes, deadline: float) -> Picture:
        """One graph as a picture."""
        os.lseek(self.source, 0, os.SEEK_SET)
        os.ftruncate(self.source, 0)
        written = 0
        while written < len(source):
            written += os.write(self.source, source[written:])
        os.lseek(self.source, 0, os.SEEK_SET)
        limit_lifetime(deadline + ORPHAN_SECONDS)
        try:
            return self._drawn(form)
        finally:
            limit_lifetime(0)

    def _drawn(self, form: bytes) -> Picture:
        try:
            graph = self.gv.agread(self, None)
        except ValueError:
            return Picture(b"", "the graph cannot be read")
        try:
            if self.gv.gvLayout(self.context, graph, b"dot"):
                return Picture(b"", "the layout failed")
            failed, data = self.gv.gvRenderData(self.context, graph, form)
            return Picture(b"", f"{form.decode()} cannot be drawn") if failed else Picture(data)
        finally:
            self.gv.gvFreeLayout(self.context, graph)
            self.gv.agclose(graph)

    def complaints(self) -> bytes:
        """What was written to standard error since the last call."""
        length = os.lseek(2, 0, os.SEEK_CUR)
        if not length:
            return b""
        os.lseek(2, 0, os.SEEK_SET)
        text = os.read(2, min(length, 65_536))
        os.lseek(2, 0, os.SEEK_SET)
        os.ftruncate(2, 0)
        return text


def write_answer(out: BinaryIO, data: bytes, complaints: bytes, *, failed: bool) -> None:
    """Write one frame."""
    out.write(struct.pack(">BII", failed, len(data), len(complaints)) + data + complaints)
    out.flush()


def serve() -> None:
    """Answer requests until standard input ends."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing but frames may reach the parent
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    try:
        painter = Painter()
    except (ImportError, OSError) as error:
        write_answer(out, b"", str(error).encode("utf-8", "replace"), failed=True)
        return
    version = ".".join(
        str(getattr(painter.gv, f"GRAPHVIZ_{level}_VERSION", "?")) for level in ("MAJOR", "MINOR", "PATCH")
    )
    write_answer(out, b"", f"Graphviz {version}".encode(), failed=False)
    while header := sys.stdin.buffer.read(16):
        deadline, form_size, source_size = struct.unpack(">dII", header)
        form = sys.stdin.buffer.read(form_size)
        picture = painter.draw(sys.stdin.buffer.read(source_size), form, deadline)
        complaints = painter.complaints()
        why = picture.fault
        write_answer(
            out, picture.data, f"{why}\n".encode() + complaints if why else complaints, failed=bool(why)
        )


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        serve()
