"""A server of chat completions that answers as it is told, and misbehaves as it is told."""

import itertools
import json
import socket
import threading
import time
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Script = Callable[[dict[str, Any], int], "Answer | None"]
"""What a request gets, by its body and its number; None for the usual answer."""


class Answer:
    """One answer: a status, a body, headers; or whatever `act` does with the connection."""

    def __init__(
        self, body: Any = None, status: int = 200, headers: dict[str, str] | None = None,
        act: Callable[[BaseHTTPRequestHandler], None] | None = None, delay: float = 0.0
    ) -> None:  # fmt: skip
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.status, self.headers, self.act, self.delay = status, headers or {}, act, delay


def message(text: Any = "", calls: Any = None, *, finish: str | None = None) -> Answer:
    said: dict[str, Any] = {"role": "assistant", "content": text}
    if calls is not None:
        made = enumerate(({"name": name, "arguments": arguments} for name, arguments in calls), 1)
        said["tool_calls"] = [{"id": f"call_{n}", "type": "function", "function": one} for n, one in made]
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    ended = finish or ("tool_calls" if calls else "stop")
    choice = {"index": 0, "finish_reason": ended, "message": said}
    return Answer({"object": "chat.completion", "model": "served", "choices": [choice], "usage": usage})


def _sends(handler: BaseHTTPRequestHandler, length: int, data: bytes, pause: float = 0.0) -> None:
    """A head that promises so much, then these bytes until the other side ends, or once where it is short."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(length))
    handler.end_headers()
    try:
        times: Iterable[int] = itertools.count() if length > 400 else range(1)
        for _ in times:
            handler.wfile.write(data)
            handler.wfile.flush()
            time.sleep(pause)
    except OSError:
        handler.close_connection = True


def drip(handler: BaseHTTPRequestHandler) -> None:
    _sends(handler, 10**9, b" ", 0.02)


def endless(handler: BaseHTTPRequestHandler) -> None:
    _sends(handler, 10**12, b" " * 65536)


def half(handler: BaseHTTPRequestHandler) -> None:
    """The first half of a body, then the end of the connection."""
    _sends(handler, 400, b'{"choices": [{"message": {"con')
    hang_up(handler)


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


class ModelServer:
    """Serves while it is entered; `bodies` is what was asked, in order of arrival."""

    def __init__(self, script: Script | None = None) -> None:
        self.script = script
        self.answers: list[Answer] = []
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.at_once = self.most_at_once = 0
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                outer._serve(self)

            def log_message(self, *_: Any) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_: Any) -> None:
                pass

        self.http = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        with self._lock:
            number = len(self.bodies)
            self.bodies.append(body)
            self.headers.append(dict(handler.headers))
            self.at_once += 1
            self.most_at_once = max(self.at_once, self.most_at_once)
            listed = self.answers.pop(0) if len(self.answers) > 1 else (self.answers or [None])[0]
        try:
            answer = (self.script(body, number) if self.script else None) or listed or message("ok")
            time.sleep(answer.delay)
        finally:
            with self._lock:
                self.at_once -= 1
        if answer.act is not None:
            answer.act(handler)
            return
        handler.send_response(answer.status)
        for name, value in ({"Content-Type": "application/json"} | answer.headers).items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(answer.body)))
        handler.end_headers()
        handler.wfile.write(answer.body)

    def __enter__(self) -> "ModelServer":
        self._thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.http.shutdown()
        self.http.server_close()
        self._thread.join()
