"""What a server may say, drawn by chance: heads and bodies, mostly damaged, for the fuzzer of endpoints."""

# ruff: noqa: E501

from __future__ import annotations

import gzip
import json
import random
from typing import Any, NamedTuple

KEY = "sk-0123456789abcdef"
"""What is sent to servers, and may never be shown."""

ODD = [
    "null", "true", "false", "0", "-1", "1.5", "1e999", "NaN", "-Infinity", "9" * 400, "9" * 5000, "-0.0", '""', '" "',
    "[]", "{}", "[[]]", "[{}]", "[null]", '{"":null}', '"\\ud800"', '"\\u0000"', '"\\u001b[2J"', '"\\u202e"', '"a\\nb"',
    '"[f(x=1)]"', '"{\\"name\\": \\"f\\", \\"arguments\\": {\\"x\\": 1}}"', '"' + "x" * 100_000 + '"', "[" * 60 + "]" * 60,
    "[" * 985 + "]" * 985, '{"a":' * 970 + "1" + "}" * 970, "[" * 5000, '{"a":' * 2000, '"{\\"x\\": ' + "9" * 5000 + '}"',
    '"' + "[" * 1200 + '"', '"{\\"x\\": NaN}"', '"{\\"x\\": 1, \\"x\\": 2}"', '"[1]"', '"null"', '"{"', '"stop"', '"length"',
    '"content_filter"', '"tool_calls"', "[" + "0," * 3000 + "0]", '{"text":"f(x=1)"}', '[{"type":"text","text":"f(x=1)"}]',
    '[{"type":"refusal","refusal":"no"}]', '{"name":"f","arguments":"{}"}', '[{"function":{"name":"f","arguments":{"x":1}}}]',
    '[{"function":null}]', '[{"id":7,"function":{"name":null,"arguments":[[]]}}]', '"<!stop>"', '"Final Answer: 1"',
]  # fmt: skip
PIECES = [
    b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\r\n", b"\n", b"\r", b"\r\n\r\n", b'"', b"\\", b"{", b"}", b"[", b"]", b",",
    b":", b"null", b"NaN", b"1e999", b"9" * 5000, b"[" * 3000, b"\\ud800", b"\x1b[2J", b"\x1b]52;c;AA\x07", b"\xe2\x80\xae",
    b"\xed\xa0\x80", b"data: ", b"data: [DONE]\n\n", b"0\r\n\r\n", b"<html>", b"\x1f\x8b", KEY.encode(), b'"error":', b'"choices":',
]  # fmt: skip
STATUS = [
    b"HTTP/1.1 200 OK", b"HTTP/1.0 200 OK", b"HTTP/1.1 200", b"HTTP/1.1 201 Created", b"HTTP/1.1 204 No Content", b"HTTP/1.1 206 Part",
    b"HTTP/1.1 301 Moved", b"HTTP/1.1 302 Found", b"HTTP/1.1 303 See", b"HTTP/1.1 304 Same", b"HTTP/1.1 307 T", b"HTTP/1.1 308 P",
    b"HTTP/1.1 400 Bad", b"HTTP/1.1 401 No", b"HTTP/1.1 403 No", b"HTTP/1.1 404 No", b"HTTP/1.1 408 Late", b"HTTP/1.1 409 C",
    b"HTTP/1.1 413 Large", b"HTTP/1.1 416 Range", b"HTTP/1.1 422 Un", b"HTTP/1.1 429 Many", b"HTTP/1.1 500 E", b"HTTP/1.1 503 E",
    b"HTTP/1.1 599 E", b"HTTP/1.1 999 E", b"HTTP/1.1 099 E", b"HTTP/1.1 000 E", b"HTTP/1.1 -1 E", b"HTTP/1.1 20 OK", b"HTTP/1.1 2000 OK",
    b"HTTP/2 200 OK", b"HTTP/9.9 200 OK", b"HTTP/1.1 " + b"2" * 5000, b"ICY 200 OK", b"", b"SSH-2.0-x", b"HTTP/1.1 200 " + b"a" * 9000,
    b"HTTP/1.1 500 \x1b[2J", b"HTTP/1.1 404 \xff\xfe", b"HTTP/1.1 401 " + KEY.encode(), b"\x16\x03\x01\x02\x00", b"HTTP/1.1 101 Switch",
]  # fmt: skip
HEADERS = [
    b"Content-Length: 0", b"Content-Length: 1", b"Content-Length: -1", b"Content-Length: " + b"9" * 5000, b"Content-Length: 1e3",
    b"Content-Length: 10, 11", b"Content-Length: 99999999999", b"Content-Length:", b"Transfer-Encoding: chunked",
    b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: identity", b"Transfer-Encoding: x", b"Content-Encoding: gzip",
    b"Content-Encoding: br", b"Content-Encoding: zstd", b"Content-Encoding: identity", b"Content-Encoding: IDENTITY, identity",
    b"Content-Encoding: \x1b[2J", b"Content-Type: text/event-stream", b"Content-Type: text/html; charset=utf-16",
    b"Content-Type: application/json; charset=no-such", b"Content-Type: \xff", b"Content-Type: application/json; charset=utf-7",
    b"Location: /v1/chat/completions", b"Location: //other.example/x", b"Location: http://[::1", b"Location: http://a:b/",
    b"Location: \xff\xfe", b"Location: file:///etc/passwd", b"Location: ftp://127.0.0.1:1/", b"Location: ", b"Location: ?" + b"a" * 9000,
    b"Location: http://" + b"a" * 300 + b"/", b"Location: javascript:x", b"Location: http://127.0.0.1:1/\x1b[2J", b"Location: http://\xc3\xa9.example/",
    b"Retry-After: 0", b"Retry-After: nan", b"Retry-After: inf", b"Retry-After: -1", b"Retry-After: 0.01", b"Retry-After: " + b"9" * 5000,
    b"Retry-After: Wed, 21 Oct 99999 07:28:00 GMT", b"Retry-After: \xff", b"retry-after-ms: nan", b"retry-after-ms: " + b"9" * 500,
    b"x-should-retry: true", b"x-request-id: \x1b[2J", b"Connection: close", b"Connection: upgrade", b"Upgrade: h2c",
    b"Set-Cookie: a=b; Domain=\xff; Expires=x", b"X: " + b"y" * 70_000, b": x", b"no colon", b"A B: c", b" folded", b"X: a\r\n folded",
    b"ETag: \"a\"", b"ETag: \xff\x00", b"ETag: W/\"a\"", b"Content-Range: bytes 0-9/x", b"Content-Range: bytes */0", b"Keep-Alive: timeout=-1",
]  # fmt: skip
HOW = ["keep"] * 12 + ["close"] * 6 + ["drip", "stall", "endless", "reset"]


class Answer(NamedTuple):
    """What one request gets.

    Args:
        parts: The bytes that are written.
        how: What follows them: another request ("keep"), the end ("close", "reset"), silence ("stall"), the last part
            again and again ("endless"); "drip" writes them bit by bit.
    """

    parts: tuple[bytes, ...]
    how: str


def completion(chance: random.Random) -> Any:
    """A whole completion; words, calls, a refusal, or the answer of a judge."""
    words: list[Any] = [
        "ok", '[{"name": "f", "arguments": {"x": 1}}]', "[f(x=1)]", "Hotels: [a = search(#city='Rome')]", "", None, "<!stop>",
        '```json\n[{"name": "f", "arguments": {"x": 1}}]\n```', "Thought: a\nAction: f\nAction Input: {\"x\": 1}", "Final Answer: 1",
        '{"API": ["getBalance"], "parameters": []}', "Score: 1", "### Correct\n{\"correctness\": true}", '{"score": 1, "correct": "Pass"}', "pass", "[1, 2]",
        '{"Complete": 2, "Correct": 1}', '["Hotels"]', "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>",
    ]  # fmt: skip
    said: dict[str, Any] = {"role": "assistant", "content": chance.choice(words)}
    if chance.random() < 0.5:
        calls = [
            ("f", '{"x": 1}'), ("f", "{"), ("g", '{"x": {"y": [1]}}'), ("search_hotel", '{"city": "Rome"}')
        ]  # fmt: skip
        said["tool_calls"] = [
            {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": given}}
            for n, (name, given) in enumerate(chance.sample(calls, chance.randint(1, 3)))
        ]
    if chance.random() < 0.1:
        said["refusal"] = "no"
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    ended = chance.choice(["stop", "stop", "tool_calls", "length", "content_filter"])
    return {
        "id": "x", "object": "chat.completion", "created": 1, "model": "served", "usage": usage,
        "choices": [{"index": 0, "finish_reason": ended, "message": said}],
    }  # fmt: skip


def _marked(value: Any, chance: random.Random) -> tuple[Any, list[str]]:
    """The data with some of its parts replaced by marks, and the marks."""
    places: list[tuple[Any, Any]] = []

    def walk(inner: Any) -> None:
        for key in inner if isinstance(inner, dict) else range(len(inner)) if isinstance(inner, list) else ():
            places.append((inner, key))
            walk(inner[key])

    walk(value)
    marks = [f"@mark{n}@" for n in range(chance.choice([0, 1, 1, 1, 2, 4]))]
    for mark, (holder, key) in zip(marks, chance.sample(places, min(len(marks), len(places))), strict=False):
        holder[key] = mark
    return value, marks


def body(chance: random.Random) -> bytes:
    """A body: mostly a completion with some parts replaced, then perhaps damaged."""
    kind = chance.random()
    if kind < 0.08:
        return chance.choice(ODD).encode()
    if kind < 0.14:
        return b'{"error": ' + chance.choice(ODD).encode() + b"}"
    value, marks = _marked(completion(chance), chance)
    text = json.dumps(value, ensure_ascii=chance.random() < 0.8)
    for mark in marks:
        text = text.replace(json.dumps(mark), chance.choice(ODD))
    data = text.encode("utf-8", "surrogatepass")
    if kind < 0.2:
        data = b"".join(b"data: " + data[at : at + 80] + b"\n\n" for at in range(0, min(len(data), 4000), 80))
    if chance.random() < 0.3:
        data = mutated(data, chance)
    if chance.random() < 0.05:
        data = data.decode("utf-8", "replace").encode(
            chance.choice(["utf-16", "utf-8-sig", "utf-7", "utf-32"])
        )
    return gzip.compress(data) if chance.random() < 0.03 else data


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Bytes a few steps away."""
    for _ in range(chance.randint(1, 4)):
        at = chance.randint(0, len(data))
        end = min(len(data), at + chance.choice([1, 1, 2, 5, 20, 100]))
        way = chance.randint(0, 5)
        if way == 0:
            data = data[:at] + data[end:]
        elif way == 1:
            data = data[:at] + chance.choice(PIECES) + data[at:]
        elif way == 2:
            data = data[:at] + chance.choice(PIECES) + data[end:]
        elif way == 3:
            data = data[:at]
        elif way == 4:
            data = data[:at] + bytes([chance.randint(0, 255)]) + data[end:]
        else:
            data = data[:at] + data[at:end] * chance.choice([2, 50, 500]) + data[end:]
    return data


def chunked(data: bytes, chance: random.Random) -> bytes:
    """The body in chunks, sometimes with sizes that are wrong."""
    out, at = [], 0
    while at < len(data):
        piece = data[at : at + chance.choice([1, 10, 100, 5000, 100_000])]
        size = f"{len(piece):x}"
        if chance.random() < 0.05:
            size = chance.choice(
                ["-1", "", "g", "f" * 17, "f" * 300, "0x1", size + ";" + "e" * 100, size.upper() + " "]
            )
        out.append(size.encode() + b"\r\n" + piece + b"\r\n")
        at += len(piece)
    end = chance.choice(
        [b"0\r\n\r\n"] * 6 + [b"0\r\nX: y\r\n\r\n", b"0\r\n" + b"X: y\r\n" * 3000 + b"\r\n", b"", b"0"]
    )
    return b"".join(out) + end


def answer(chance: random.Random) -> Answer:
    """One answer: a head, mostly of a success, and a body."""
    data = body(chance)
    status = STATUS[0] if chance.random() < 0.6 else chance.choice(STATUS)
    heads = [chance.choice(HEADERS) for _ in range(chance.choice([0, 0, 0, 1, 1, 3]))]
    if chance.random() < 0.02:
        heads += [b"X-%d: y" % n for n in range(chance.choice([101, 5000]))]
    named = b" ".join(heads).lower()
    if chance.random() < 0.2 and b"transfer-encoding" not in named:
        heads.append(b"Transfer-Encoding: chunked")
        data = chunked(data, chance)
    elif b"content-length" not in named and chance.random() < 0.95:
        heads.append(b"Content-Length: %d" % (len(data) + chance.choice([0] * 12 + [-1, 1, 10**9])))
    if chance.random() < 0.5:
        heads.append(b"Content-Type: application/json")
    chance.shuffle(heads)
    head = b"\r\n".join([status, *heads]) + b"\r\n\r\n"
    if chance.random() < 0.04:
        head = (
            chance.choice([b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n"])
            * chance.choice([1, 3, 4000])
            + head
        )
    if chance.random() < 0.08:
        head = mutated(head, chance)
    how = chance.choice(HOW)
    if how == "endless" and chance.random() < 0.5:  # the head itself, or its last line, has no end
        return Answer(
            chance.choice([
                (head[:-2], b"X-A: b\r\n"), (head[:-2] + b"X-A: ", b"b"), (b"HTTP/1.1 100 Continue\r\n\r\n",)
            ]),
            how
        )  # fmt: skip
    return Answer((head, data), how)
