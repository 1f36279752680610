"""Asking a server that may be slow on purpose: the head of its answer, then its body, come in time or not.

The timeout of a socket is that of one read: a server that sends a byte now and then, or one status line
``100 Continue`` after the other, is never silent that long and would be listened to for ever.
"""

from __future__ import annotations

import io
import socket
import time
from http.client import HTTPConnection, HTTPResponse
from typing import Any
from urllib import request

HEAD = 1 << 18
"""Bytes before the body, with those of what redirects say: servers send some hundreds."""
SLOWEST = 4096
"""Bytes of a body in each such time: a server that sends one now and then is as good as silent."""


class Slow(Exception):
    """A server that does not come to the end of what it says."""


def opened(req: request.Request, seconds: float) -> Any:
    """The answer to a request, its body unread.

    Args:
        req: What to ask for over http or https.
        seconds: In which the head has to be there, and then each `SLOWEST` bytes of the body.

    Raises:
        Slow: it is not; reading the body raises it too.
        OSError: no connection, or the server refuses: as :func:`urllib.request.urlopen`.
    """
    opener = request.OpenerDirector()
    for handler in (request.ProxyHandler, _Http, _Https, request.UnknownHandler):
        opener.add_handler(handler())
    for answered in (
        request.HTTPDefaultErrorHandler,
        request.HTTPRedirectHandler,
        request.HTTPErrorProcessor,
    ):
        opener.add_handler(answered())
    answer = opener.open(req, timeout=seconds)
    answer.paced.begin_body()
    return answer


class _Paced(io.RawIOBase):
    """What a socket brings, as long as it brings enough."""

    def __init__(self, inner: Any, connection: socket.socket) -> None:
        self.inner, self.connection = inner, connection
        self.seconds = connection.gettimeout() or 0.0
        self.most: int | None = HEAD
        self.began, self.came = time.monotonic(), 0

    def begin_body(self) -> None:
        """From here on there may be any number of bytes."""
        self.most, self.began, self.came = None, time.monotonic(), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self.began + self.seconds - time.monotonic()
        if left <= 0 and self.most is None and self.came >= SLOWEST:
            self.begin_body()
            left = self.seconds
        try:
            if left <= 0:
                raise TimeoutError
            self.connection.settimeout(left if self.most or self.came < SLOWEST else self.seconds)
            count: int = self.inner.readinto(buffer)
        except TimeoutError:
            what = "" if self.most is None else ", and not the whole head of its answer"
            raise Slow(f"the server sent {self.came:,} bytes in {self.seconds:g} seconds{what}") from None
        self.came += count
        if self.most is not None and self.came > self.most:
            raise Slow(f"the head of the server's answer is longer than {self.most:,} bytes")
        return count

    def close(self) -> None:
        self.inner.close()
        super().close()


class _Answer(HTTPResponse):
    """An answer that is read at the pace."""

    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.paced = _Paced(self.fp.detach(), sock)
        self.fp = io.BufferedReader(self.paced)


class _Asking:
    def do_open(self, http_class: Any, req: request.Request, **http_conn_args: Any) -> Any:
        def connection(*args: Any, **named: Any) -> HTTPConnection:
            conn: HTTPConnection = http_class(*args, **named)
            conn.response_class = _Answer
            return conn

        return super().do_open(connection, req, **http_conn_args)  # type: ignore[misc]


class _Http(_Asking, request.HTTPHandler):
    pass


class _Https(_Asking, request.HTTPSHandler):
    pass
