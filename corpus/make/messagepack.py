"""MessagePack, as much of it as primitiv files need: each head in its shortest form, or in the form asked for."""

import struct

#       form, length below, lead byte, bytes of length (0: the length is in the lead byte)
STRING = (("fix", 2**5, 0xA0, 0), ("8", 2**8, 0xD9, 1), ("16", 2**16, 0xDA, 2), ("32", 2**32, 0xDB, 4))
BINARY = (("8", 2**8, 0xC4, 1), ("16", 2**16, 0xC5, 2), ("32", 2**32, 0xC6, 4))
ARRAY = (("fix", 2**4, 0x90, 0), ("16", 2**16, 0xDC, 2), ("32", 2**32, 0xDD, 4))
MAP = (("fix", 2**4, 0x80, 0), ("16", 2**16, 0xDE, 2), ("32", 2**32, 0xDF, 4))


def head(forms, count, form=None):
    """The head of something `count` long."""
    for name, below, lead, width in forms:
        if name == form or (form is None and count < below):
            return bytes([lead]) + count.to_bytes(width, "big") if width else bytes([lead | count])
    raise ValueError(f"no form {form} for {count}")


def string(text, form=None):
    raw = text if isinstance(text, bytes) else text.encode()
    return head(STRING, len(raw), form) + raw


def binary(data, form=None):
    return head(BINARY, len(data), form) + data


def array(items, form=None):
    return head(ARRAY, len(items), form) + b"".join(items)


def mapping(pairs, form=None):
    return head(MAP, len(pairs), form) + b"".join(key + value for key, value in pairs)


def u32(value):
    """The only unsigned form primitiv writes or reads, even for 0."""
    return b"\xce" + struct.pack(">I", value)


def f32(value):
    return b"\xca" + struct.pack(">f", value)
