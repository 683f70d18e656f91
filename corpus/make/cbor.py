"""CBOR (RFC 8949) items, each in the form asked for: nothing is made shortest or sorted behind one's back."""

import struct

BREAK = b"\xff"
FALSE, TRUE, NULL, UNDEFINED = b"\xf4", b"\xf5", b"\xf6", b"\xf7"
UNSIGNED, NEGATIVE, BYTES, TEXT, ARRAY, MAP, TAG, OTHER = range(8)


def head(major, value, width=None):
    """The head of an item: shortest, or with `width` bytes after the first."""
    major <<= 5
    if value < 24 and width is None:
        return bytes([major | value])
    for code, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if size == width or (width is None and value < 256**size):
            return bytes([major | code]) + value.to_bytes(size, "big")
    raise ValueError(f"no head for {value}")


def integer(value, width=None):
    return head(UNSIGNED, value, width) if value >= 0 else head(NEGATIVE, -1 - value, width)


def text(value):
    raw = value if isinstance(value, bytes) else value.encode()
    return head(TEXT, len(raw)) + raw


def data(value):
    return head(BYTES, len(value)) + value


def array(*items):
    return head(ARRAY, len(items)) + b"".join(items)


def mapping(*pairs):
    return head(MAP, len(pairs)) + b"".join(key + value for key, value in pairs)


def tag(number, item):
    return head(TAG, number) + item


def simple(value):
    return head(OTHER, value)


def half(value):
    return b"\xf9" + struct.pack(">e", value)


def single(value):
    return b"\xfa" + struct.pack(">f", value)


def double(value):
    return b"\xfb" + struct.pack(">d", value)


def open_text(*chunks):
    return b"\x7f" + b"".join(map(text, chunks)) + BREAK


def open_data(*chunks):
    return b"\x5f" + b"".join(map(data, chunks)) + BREAK


def open_array(*items):
    return b"\x9f" + b"".join(items) + BREAK


def open_mapping(*pairs):
    return b"\xbf" + b"".join(key + value for key, value in pairs) + BREAK
