"""Bytes with the place of the fault marked in them.

A maker of broken files writes `AT` in front of the field that is wrong, and need not count bytes:

    split(b"\\x02\\x01" + AT + b"\\x00")  ->  (b"\\x02\\x01\\x00", 2)
"""

AT = b"\0<the fault is here>\0"


def split(marked):
    """The bytes without the mark, and where it stood (None: there is none)."""
    before, mark, after = bytes(marked).partition(AT)
    assert AT not in after, "one fault a file"
    return before + after, len(before) if mark else None


def clean_len(marked):
    """How many bytes are left once the mark is gone."""
    return len(split(marked)[0])
