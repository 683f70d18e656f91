"""Zstandard frames (RFC 8878) put together by hand from blocks that need no compressor."""

import struct

MAGIC = b"\x28\xb5\x2f\xfd"
RAW, RLE, COMPRESSED = range(3)


def raw(data):
    """A block stored as it is."""
    return RAW, len(data), data


def rle(byte, count):
    """A block of one byte, `count` times over."""
    return RLE, count, bytes([byte])


def literals(data):
    """A compressed block that is all literals: their head, themselves, and no sequences."""
    assert len(data) < 32
    body = bytes([len(data) << 3]) + data + b"\0"
    return COMPRESSED, len(body), body


def frame(*blocks, content=None, checksum=None):
    """A frame. `content` is the size its header tells, if any; `checksum` the four bytes after its blocks."""
    flags = 0x04 if checksum else 0
    if content is None:
        header = bytes([flags, 0x58])  # a window of 2 MiB, and no content size
    elif content < 256:
        header = bytes([flags | 0x20, content])
    else:
        header = bytes([flags | 0x60]) + struct.pack("<H", content - 256)
    return MAGIC + header + b"".join(map(_block, blocks, _last(blocks))) + (checksum or b"")


def skippable(data):
    """A frame that decoders pass over."""
    return b"\x50\x2a\x4d\x18" + struct.pack("<I", len(data)) + data


def xxh64(data):
    """The checksum of a frame: the low half of XXH64, here of less than 32 bytes."""
    assert len(data) < 32
    state, at = P5 + len(data), 0
    while at + 8 <= len(data):
        state ^= _turn(_word(data, at, 8) * P2, 31) * P1 & MASK
        state, at = _turn(state, 27) * P1 + P4 & MASK, at + 8
    if at + 4 <= len(data):
        state ^= _word(data, at, 4) * P1 & MASK
        state, at = _turn(state, 23) * P2 + P3 & MASK, at + 4
    for byte in data[at:]:
        state = _turn(state ^ byte * P5 & MASK, 11) * P1 & MASK
    state = (state ^ state >> 33) * P2 & MASK
    state = (state ^ state >> 29) * P3 & MASK
    return struct.pack("<Q", state ^ state >> 32)[:4]


P1, P2, P3 = 11400714785074694791, 14029467366897019727, 1609587929392839161
P4, P5 = 9650029242287828579, 2870177450012600261
MASK = 2**64 - 1


def _turn(value, by):
    value &= MASK
    return (value << by | value >> (64 - by)) & MASK


def _word(data, at, size):
    return int.from_bytes(data[at : at + size], "little")


def _block(block, last):
    kind, size, body = block
    return struct.pack("<I", size << 3 | kind << 1 | last)[:3] + body


def _last(blocks):
    return [False] * (len(blocks) - 1) + [True]
