"""A local server of files that can be told to misbehave: the data sets' public addresses in small."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote


@dataclass
class Files:
    """What is served and how."""

    folder: Path
    breaks: list[int] = field(default_factory=list)  # after so many bytes the first requests are hung up
    codes: list[int] = field(default_factory=list)  # the first requests are answered with these instead
    ranges: bool = True
    tag: str = '"v1"'
    spoil: bool = False  # other bytes of the same length
    stall: int | None = None  # so many bytes of the body, then nothing until the server is shut down
    drip: float | None = None  # a byte of the body, again and again after so many seconds
    length: str | None = None  # said instead of the body's
    url: str = ""
    log: list[tuple[str, str | None]] = field(default_factory=list)  # path and range of each request


@contextmanager
def serving(folder: Path) -> Iterator[Files]:
    """Serve a folder on a free local port while the block runs."""
    files = Files(folder)
    ended = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            files.log.append((self.path, wanted))
            path = files.folder / unquote(self.path).lstrip("/")
            if files.codes or not path.is_file():
                self.send_error(files.codes.pop(0) if files.codes else 404)
                return
            body = path.read_bytes()
            if files.spoil:
                body = bytes(byte ^ 1 for byte in body)
            start, said = 0, {"ETag": files.tag}
            if wanted and files.ranges and self.headers.get("If-Range") in (None, files.tag):
                start = int(wanted.removeprefix("bytes=").rstrip("-"))
                beyond = start >= len(body)
                said["Content-Range"] = f"bytes {'*' if beyond else f'{start}-{len(body) - 1}'}/{len(body)}"
                self.send_response(416 if beyond else 206)
            else:
                self.send_response(200)
            rest = body[start:]
            said["Content-Length"] = files.length or str(len(rest))
            for header in said.items():
                self.send_header(*header)
            self.end_headers()
            if files.stall is not None and rest:
                self.wfile.write(rest[: files.stall])
                self.wfile.flush()
                ended.wait(30)
            elif files.drip is not None:
                with suppress(OSError):
                    while not ended.wait(files.drip):
                        self.wfile.write(b"x")
            else:
                self.wfile.write(rest[: files.breaks.pop(0)] if files.breaks and rest else rest)

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
