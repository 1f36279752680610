"""Bytes as text: UTF-8, or what a byte order mark says; a byte that is neither costs its record alone."""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.reading.files.shapes import Item

BOMS = (  # of UTF-32 first: the mark of UTF-16 begins it
    (BOM_UTF32_LE, "UTF-32"),
    (BOM_UTF32_BE, "UTF-32"),
    (BOM_UTF16_LE, "UTF-16"),
    (BOM_UTF16_BE, "UTF-16"),
)
"""How a text may begin that is no UTF-8."""

INVALID_BYTE = "[\udc80-\udcff]"
"""A byte that is no UTF-8, in a text that was decoded all the same."""


class DecodedText(NamedTuple):
    """A file's text, and whether it has bytes that are no UTF-8."""

    text: str
    odd: bool


def decode_text(data: bytes | bytearray, name: str) -> DecodedText:
    r"""The text, and whether it has bytes that are no UTF-8; those stand in it as lone surrogates.

    Raises:
        InputError: a byte order mark says UTF-16 or UTF-32, and the rest is not.

    >>> decode_text('"ä"'.encode("utf-16"), "p")[0], decode_text(b'"\xe4"', "p").odd
    ('"ä"', True)
    """
    encoding = next((encoding for mark, encoding in BOMS if data.startswith(mark)), None)
    try:
        return DecodedText(data.decode(encoding or "utf-8-sig"), False)
    except UnicodeDecodeError as error:
        if encoding is not None:
            raise InputError(
                f"{name} begins as {encoding}, but is not {encoding} at byte {error.start}: {error.reason}"
            ) from None
    return DecodedText(data.decode("utf-8-sig", "surrogateescape"), True)


def mark_invalid_bytes(text: str) -> str:
    """The text of :func:`decode_text` with a NUL before each odd byte, so that JSON there is broken JSON."""
    return re.sub(INVALID_BYTE, "\0\\g<0>", text)


def explain_items(items: list[Item], name: str) -> list[Item]:
    """The items of a marked text; those that are broken by a byte that is no UTF-8 say so.

    Raises:
        InputError: half of them are, and more than one: the whole file is in another encoding.
    """
    explained_items = [explain_item(item) for item in items]
    odd = [item for item in explained_items if item.error is not None and item.error.code == "parse.encoding"]
    if len(odd) > 1 and len(odd) * 2 >= len(explained_items):
        where = f"line {odd[0].line}: " if odd[0].line is not None else ""
        raise InputError(
            f"{name} is not UTF-8: {len(odd):,} of {len(explained_items):,} records hold other bytes, "
            f"the first in {where}{odd[0].error}"
        )
    return explained_items


def explain_item(item: Item) -> Item:
    """An item of a marked text; one that is broken by a byte that is no UTF-8 says so."""
    if item.error is None or not re.search(INVALID_BYTE, item.text):
        return item
    return item._replace(error=invalid_byte_error(item.text))


def invalid_byte_error(text: str) -> ParseError:
    r"""The error of a text with a byte that is no UTF-8.

    >>> invalid_byte_error("f(x=\udce4)").reason.partition(";")[0]
    'column 5: the byte 0xe4 is not UTF-8 text'
    """
    match = re.search(INVALID_BYTE, text)
    assert match is not None
    before = text[: match.start()]
    row, column = before.count("\n"), len(before.rpartition("\n")[2].replace("\0", ""))
    where = f"line {row + 1}, column {column + 1}" if row else f"column {column + 1}"
    reason = (
        f"{where}: the byte 0x{ord(match.group()) - 0xDC00:02x} is not UTF-8 text; "
        "convert the file to UTF-8 first, e.g. iconv -f WINDOWS-1252 -t UTF-8"
    )
    return ParseError(reason, code="parse.encoding")
