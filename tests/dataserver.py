"""A local server of files that can be told to misbehave: the data sets' public addresses in small."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote


@dataclass
class Files:
    """What is served and how.

    Args:
        folder: Served below ``/``.
        breaks: For the first requests of any file: after how many bytes of the body to hang up.
        codes: For the first requests: answer with this status instead.
        ranges: Whether ranges are honoured.
        tag: The files' version.
        spoil: Send other bytes of the same length.
        drip: Send a byte of the body, again and again after so many seconds.
        length: Say this length instead of the body's.
        stall: Send so many bytes of the body, then nothing until the server is shut down.
    """

    folder: Path
    breaks: list[int] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)
    ranges: bool = True
    tag: str = '"v1"'
    spoil: bool = False
    stall: int | None = None
    drip: float | None = None
    length: str | None = None
    url: str = ""
    log: list[tuple[str, str | None]] = field(default_factory=list)
    """Path and range of each request."""


@contextmanager
def serving(folder: Path) -> Iterator[Files]:
    """Serve a folder on a free local port while the block runs."""
    files = Files(folder)
    ended = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            files.log.append((self.path, wanted))
            if files.codes:
                self.send_error(files.codes.pop(0))
                return
            path = files.folder / unquote(self.path).lstrip("/")
            if not path.is_file():
                self.send_error(404)
                return
            body = path.read_bytes()
            if files.spoil:
                body = bytes(byte ^ 1 for byte in body)
            start = 0
            current = self.headers.get("If-Range") in (None, files.tag)
            if wanted and files.ranges and current:
                start = int(wanted.removeprefix("bytes=").rstrip("-"))
                if start >= len(body):
                    self.send_response(416)
                    self.send_header("Content-Range", f"bytes */{len(body)}")
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            else:
                self.send_response(200)
            self.send_header("ETag", files.tag)
            self.send_header("Content-Length", files.length or str(len(body) - start))
            self.end_headers()
            if files.stall is not None:
                self.wfile.write(body[start : start + files.stall])
                self.wfile.flush()
                ended.wait(30)
                return
            if files.drip is not None:
                with suppress(OSError):
                    while not ended.wait(files.drip):
                        self.wfile.write(b"x")
                return
            stop = start + files.breaks.pop(0) if files.breaks else len(body)
            self.wfile.write(body[start:stop])

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    files.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield files
    finally:
        ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
