"""Fetching published files: resumed where they broke off, kept only when their checksum is right."""

from __future__ import annotations

import io
import os
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from urllib import request

from planner_eval._version import __version__
from planner_eval.base.errors import PATH, DatasetError, expect, expect_or_none, instance_of
from planner_eval.benchmarks.datasets.published import (
    CHUNK_BYTES,
    Dataset,
    PublishedFile,
    accept_checksum,
    dataset_folder,
    digest,
    find_dataset,
    read_accepted_checksums,
)

MAX_TRIES = 4
"""How often a broken connection is taken up again before the download is given up."""

TIMEOUT = 30.0
"""Seconds in which the head of an answer has to be there, and then each of some bytes of its body."""
MAX_BYTES = 4 << 30
"""A file of unknown size is not read beyond this."""

Progress = Callable[[str, int, int | None], None]
"""Told the file's path, the bytes there, and how many there will be (None where unknown)."""

Accept = Callable[[PublishedFile, str], bool]
"""Asked whether to keep a file whose checksum is not known; given the computed one."""


@dataclass(frozen=True, slots=True)
class FetchResult:
    """What became of one file.

    Args:
        file: The published file.
        what: ``"present"`` (it was there), ``"fetched"``, ``"copied"``, or ``"absent"`` (it cannot be
            fetched, and is not needed).
        sha256: Its checksum; None where absent.
    """

    file: PublishedFile
    what: str
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """How to fetch.

    Args:
        source: A folder that holds the files already; nothing is downloaded.
        mirror: An address to take instead of the published ones.
        accept: Decides on files whose checksum is not known.
        progress: Is told how far a file has come.
        pause: Seconds before a broken connection is taken up again; doubled each time.
    """

    source: Path | None = None
    mirror: str | None = None
    accept: Accept = lambda file, checksum: False
    progress: Progress = lambda path, received, total: None
    pause: float = 1.0


DEFAULT_OPTIONS = FetchOptions()
_MAX_DIGITS = 18
"""A length of more digits is none: no file is as long, and Python refuses to read thousands of them."""


def fetch(dataset: Dataset, folder: Path, options: FetchOptions = DEFAULT_OPTIONS) -> Iterator[FetchResult]:
    """Bring a data set's files into a folder, one after the other.

    A file that is there with the right checksum is left alone. What an interrupted download has
    brought stays as ``<file>.part`` and is continued the next time.

    Args:
        dataset: What to fetch.
        folder: Where to keep it; made when it is not there.
        options: From where, and who decides.

    Yields:
        What became of each file, as soon as it is known.

    Raises:
        DatasetError: a file cannot be had, or is not the published one.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DatasetError(f"{folder}: the folder cannot be made: {error.strerror}") from None
    accepted_checksums = read_accepted_checksums(folder)
    for file in dataset.files:
        target = folder / file.path
        checksum = file.sha256 or accepted_checksums.get(file.path)
        if target.is_file() and checksum and digest(target) == checksum:
            yield FetchResult(file, "present", checksum)
            continue
        if options.source is not None:
            yield _copy_file(file, target, options, folder, checksum)
        elif file.url is None:
            yield FetchResult(file, "absent")
        else:
            url = dataset.url(file, options.mirror)
            continued = _partial_path(target).exists()
            partial_file = _download(url, file, target, options)
            if continued and checksum and digest(partial_file) != checksum:
                partial_file.unlink()  # what lay there was of another file
                partial_file = _download(url, file, target, options)
            yield FetchResult(file, "fetched", _install(file, partial_file, options, folder, checksum))


# ---------------------------------------------------------------- from a folder
def _copy_file(
    file: PublishedFile, target: Path, options: FetchOptions, folder: Path, checksum: str | None
) -> FetchResult:
    assert options.source is not None
    origin = options.source / file.path
    if not origin.is_file():
        if not file.needed:
            return FetchResult(file, "absent")
        raise DatasetError(f"{origin}: there is no such file")
    if target.exists() and target.samefile(origin):
        raise DatasetError(f"{options.source} is also the folder to copy to: name another with --cache")
    target.parent.mkdir(parents=True, exist_ok=True)
    partial_file = _partial_path(target)
    try:
        shutil.copyfile(origin, partial_file)
    except OSError as problem:
        raise DatasetError(f"{origin}: {problem.strerror}") from None
    if file.needed or checksum:
        return FetchResult(file, "copied", _install(file, partial_file, options, folder, checksum))
    os.replace(partial_file, target)
    return FetchResult(file, "copied", digest(target))


def _partial_path(target: Path) -> Path:
    return target.with_name(f"{target.name}.part")


def _etag_path(partial_file: Path) -> Path:
    """Where the server's name for the version of a part is kept."""
    return partial_file.with_name(f"{partial_file.name}.etag")


def _install(
    file: PublishedFile, partial_file: Path, options: FetchOptions, folder: Path, checksum: str | None
) -> str:
    """Move a complete download to its place, if it is the published file."""
    computed = digest(partial_file)
    if checksum is not None and computed != checksum:
        size = partial_file.stat().st_size
        partial_file.unlink()
        _etag_path(partial_file).unlink(missing_ok=True)
        expected = f"{checksum} ({file.bytes:,} bytes)" if file.bytes is not None else checksum
        raise DatasetError(
            f"{file.path}: the checksum is {computed} ({size:,} bytes), expected {expected}; "
            "the file was not kept: fetch it again; if that does not help, the published file has changed"
        )
    if checksum is None:
        if not options.accept(file, computed):
            raise DatasetError(
                f"{file.path}: its checksum is not known; the computed one is {computed}. "
                "Compare it with another source, then fetch again with --accept-checksum to keep the file"
            )
        accept_checksum(folder, file, computed)
    os.replace(partial_file, folder / file.path)
    _etag_path(partial_file).unlink(missing_ok=True)
    return computed


# ---------------------------------------------------------------- from an address
class _ConnectionBroken(Exception):
    """The connection broke before the file was complete; it can be taken up again."""


def _download(url: str, file: PublishedFile, target: Path, options: FetchOptions) -> Path:
    """Download a file beside its place, continuing what is there; gives the complete part."""
    if not url.startswith(("https://", "http://")):
        raise DatasetError(f"{url}: only http and https addresses are fetched")
    target.parent.mkdir(parents=True, exist_ok=True)
    partial_file = _partial_path(target)
    pause = options.pause
    for attempt in range(MAX_TRIES):
        try:
            _continue_download(url, file, partial_file, options.progress)
            return partial_file
        except _ConnectionBroken as problem:
            if attempt + 1 == MAX_TRIES:
                have = partial_file.stat().st_size if partial_file.exists() else 0
                raise DatasetError(
                    f"{url}: {problem}; {have:,} bytes are kept: fetch again to continue from there"
                ) from None
            time.sleep(pause)
            pause *= 2
    raise AssertionError("the last attempt returns or raises")


def _continue_download(url: str, file: PublishedFile, partial_file: Path, progress: Progress) -> None:
    """One request for what is missing of a file.

    Raises:
        _Broken: the connection broke.
        DatasetError: the server refuses.
    """
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import Request

    have = _count_usable_bytes(file, partial_file)
    if have and have == file.bytes:
        return
    headers = {"User-Agent": f"planner_eval/{__version__}", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
        if _etag_path(partial_file).exists():
            headers["If-Range"] = _etag_path(partial_file).read_text(encoding="latin-1")
    try:
        with open_request(Request(url, headers=headers), TIMEOUT) as answer:
            _receive(answer, file, partial_file, have, progress)
    except HTTPError as problem:
        message = f"the server answered {problem.code} {problem.reason}"
        if problem.code == 416:
            if problem.headers.get("Content-Range", "").endswith(f"/{have}"):
                return  # nothing is missing
            partial_file.unlink(missing_ok=True)
        elif problem.code not in (408, 429, 500, 502, 503, 504):
            raise DatasetError(f"{url}: {message}") from None
        raise _ConnectionBroken(message) from None
    except SlowServer as problem:
        raise _ConnectionBroken(str(problem)) from None
    except URLError as problem:
        raise _ConnectionBroken(f"no connection ({problem.reason})") from None
    except (OSError, HTTPException) as problem:
        raise _ConnectionBroken(f"the connection broke ({problem or type(problem).__name__})") from None


def _count_usable_bytes(file: PublishedFile, partial_file: Path) -> int:
    """How many bytes of a part can be built on; a part that cannot be is deleted.

    Without a checksum in the end, a part is continued only when the server can say whether the file
    has changed in between.
    """
    if not partial_file.exists():
        return 0
    have = partial_file.stat().st_size
    if (file.bytes is not None and have > file.bytes) or (
        file.sha256 is None and not _etag_path(partial_file).exists()
    ):
        partial_file.unlink()
        return 0
    return have


def _receive(answer: Any, file: PublishedFile, partial_file: Path, have: int, progress: Progress) -> None:
    """Write an answer's body to the part; a server that ignores the range starts from the beginning."""
    if answer.status != 206:
        have = 0
    tag = answer.headers.get("ETag")
    if tag and not tag.startswith("W/"):
        _etag_path(partial_file).write_text(tag, encoding="latin-1")
    elif not have:
        _etag_path(partial_file).unlink(missing_ok=True)
    length = answer.headers.get("Content-Length")
    stated = length is not None and length.isdecimal() and len(length) <= _MAX_DIGITS
    announced = have + int(length) if stated else None
    total = announced if announced is not None else file.bytes
    limit = file.bytes if file.bytes is not None else MAX_BYTES
    with partial_file.open("ab" if have else "wb") as stream:
        progress(file.path, have, total)
        while block := answer.read1(CHUNK_BYTES // 16):
            have += len(block)
            if have > limit:
                break
            stream.write(block)
            progress(file.path, have, total)
    if have > limit:
        partial_file.unlink()
        raise DatasetError(f"{file.path}: the server sends more than {limit:,} bytes; not kept")
    if total is not None and have < total:
        raise _ConnectionBroken(f"the connection broke after {have:,} of {total:,} bytes")


# ----------------------------------------------------------------------
# Asking a server that may be slow on purpose: the head of its answer, then its body, come in time or not.
#
# The timeout of a socket is that of one read: a server that sends a byte now and then, or one status line
# ``100 Continue`` after the other, is never silent that long and would be listened to for ever.
MAX_HEAD_BYTES = 1 << 18
"""Bytes before the body, with those of what redirects say: servers send some hundreds."""
MIN_BYTES_PER_TIMEOUT = 4096
"""Bytes of a body in each such time: a server that sends one now and then is as good as silent."""


class SlowServer(Exception):
    """A server that does not come to the end of what it says."""


def open_request(req: request.Request, seconds: float) -> Any:
    """The answer to a request, its body unread.

    Args:
        req: What to ask for over http or https.
        seconds: In which the head has to be there, and then each `MIN_BYTES_PER_TIMEOUT` bytes of the body.

    Raises:
        Slow: it is not; reading the body raises it too.
        OSError: no connection, or the server refuses: as :func:`urllib.request.urlopen`.
    """
    opener = request.OpenerDirector()
    for handler in (request.ProxyHandler, _HttpHandler, _HttpsHandler, request.UnknownHandler):
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


class _PacedStream(io.RawIOBase):
    """What a socket brings, as long as it brings enough."""

    def __init__(self, inner: Any, connection: socket.socket) -> None:
        self.inner, self.connection = inner, connection
        self.seconds = connection.gettimeout() or 0.0
        self.most: int | None = MAX_HEAD_BYTES
        self.began, self.came = time.monotonic(), 0

    def begin_body(self) -> None:
        """From here on there may be any number of bytes."""
        self.most, self.began, self.came = None, time.monotonic(), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self.began + self.seconds - time.monotonic()
        if left <= 0 and self.most is None and self.came >= MIN_BYTES_PER_TIMEOUT:
            self.begin_body()
            left = self.seconds
        try:
            if left <= 0:
                raise TimeoutError
            self.connection.settimeout(
                left if self.most or self.came < MIN_BYTES_PER_TIMEOUT else self.seconds
            )
            count: int = self.inner.readinto(buffer)
        except TimeoutError:
            what = "" if self.most is None else " without completing its header"
            raise SlowServer(
                f"the server sent {self.came:,} bytes in {self.seconds:g} seconds{what}"
            ) from None
        self.came += count
        if self.most is not None and self.came > self.most:
            raise SlowServer(f"the header of the server's answer is longer than {self.most:,} bytes")
        return count

    def close(self) -> None:
        self.inner.close()
        super().close()


class _PacedResponse(HTTPResponse):
    """An answer that is read at the pace."""

    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.paced = _PacedStream(self.fp.detach(), sock)
        self.fp = io.BufferedReader(self.paced)


class _PacedHandler:
    def do_open(self, http_class: Any, req: request.Request, **http_conn_args: Any) -> Any:
        def connection(*args: Any, **named: Any) -> HTTPConnection:
            conn: HTTPConnection = http_class(*args, **named)
            conn.response_class = _PacedResponse
            return conn

        return super().do_open(connection, req, **http_conn_args)  # type: ignore[misc]


class _HttpHandler(_PacedHandler, request.HTTPHandler):
    pass


class _HttpsHandler(_PacedHandler, request.HTTPSHandler):
    pass


# ----------------------------------------------------------------------
# The published data sets brought here.
def fetch_dataset(
    name: str,
    *,
    cache: str | None = None,
    folder: str | None = None,
    fetching: FetchOptions = DEFAULT_OPTIONS,
) -> Iterator[FetchResult]:
    """Bring a data set's files into the cache, one after the other; what is there already is left alone.

    Args:
        name: Its name, e.g. ``"nestful"``.
        cache: The cache folder, where it is not the usual one.
        folder: A folder that holds the files already; nothing is downloaded then.
        fetching: The mirror, who decides on unknown checksums, and who is told how far a file has come.

    Yields:
        What became of each file, as soon as it is known.

    Raises:
        DatasetError: there is no data set of that name; a file cannot be had, or is not the published one.

    >>> import tempfile
    >>> from planner_eval.benchmarks.datasets.fetch import FetchOptions
    >>> how = FetchOptions(accept=lambda file, checksum: True)  # of our own samples none is published
    >>> with tempfile.TemporaryDirectory() as cache:
    ...     samples = "data/samples"
    ...     [one.what for one in fetch_dataset("nestful-v2", cache=cache, folder=samples, fetching=how)]
    ['copied']
    """
    expect_or_none(PATH, cache=cache, folder=folder)
    expected = instance_of(FetchOptions, "FetchOptions(…) of planner_eval.benchmarks.datasets.fetch")
    expect(expected, fetching=fetching)
    dataset = find_dataset(name)
    origin = None if folder is None else dataset_folder(dataset, source=folder)
    return fetch(dataset, dataset_folder(dataset, cache=cache), replace(fetching, source=origin))
