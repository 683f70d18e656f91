"""Files that are no `.npz` archives: corpus/npz/bad."""

import struct
import zlib

import common
from marked import AT, split
from npy_file import array, dictionary, header
from zip_file import DEFLATED, Archive, deflate

DATA = array("f32", [2], [1.5, -2.5])
NAME = "w.npy"
HEAD = 30 + len(NAME)
WHOLE = Archive().member(NAME, DATA).bytes()
DIRECTORY = HEAD + len(DATA)
ENTRY = 46 + len(NAME)
END = DIRECTORY + ENTRY


def bad(name, marked, why, at=None, **more):
    """`AT` in the bytes marks the fault, or `at` says it."""
    data, marked_at = split(marked)
    common.bad("npz", f"{name}.npz", data, at if marked_at is None else marked_at, why, **more)


def one(**more):
    return Archive().member(NAME, DATA, **more)


def make():
    ends()
    directories()
    members()
    arrays()
    checksums()
    damaged()
    lenient()


def ends():
    for length in (0, 4, 21, HEAD, DIRECTORY, END, len(WHOLE) - 1):
        bad(f"cut_at_{length}", WHOLE[:length], "the end is missing", at=length)
    bad("one_byte_more", WHOLE + b"\0", "the comment ends the file", at=len(WHOLE) + 1)
    bad("comment_too_long", one().bytes(b"abc", comment_len=2), "the comment ends the file", at=len(WHOLE) + 3)
    bad("comment_too_short", one().bytes(b"abc", comment_len=4), "the comment ends the file", at=len(WHOLE) + 3)
    bad("disk_1", one().bytes(mark=AT, disk=1), "there is one disk")
    bad("directory_early", one().bytes(mark=AT, place=DIRECTORY - 1), "the directory ends where the end begins")
    bad("directory_long", one().bytes(mark=AT, size=ENTRY + 1), "the directory ends where the end begins")
    bad("directory_far", one().bytes(mark=AT, place=2**31), "the directory is not there")
    bad("bytes_behind_directory", one().bytes(mark=AT, behind=b"xyz"), "nothing stands behind the directory")
    bad("wide_end_elsewhere", one().bytes(wide=True, wide_at=0), "the wide end is not there", at=0)
    bad("wide_end_far", one().bytes(wide=True, wide_at=2**60), "the wide end is not there")
    bad("wide_end_of_many", one().bytes(wide=True, count=2**63), "2^63 members", kind="limit")
    bad("wide_end_of_disks", one().bytes(wide=True, disk=2), "there is one disk", at=END)


def directories():
    bad("one_entry_less", one().bytes(count=0), "bytes behind the last entry", at=DIRECTORY)
    bad("one_entry_more", one().bytes(count=2), "an entry is missing", at=END)
    bad("entry_broken", WHOLE[:DIRECTORY] + AT + b"XX" + WHOLE[DIRECTORY + 2 :], "an entry begins with PK 1 2")
    long_name = WHOLE[: DIRECTORY + 28] + struct.pack("<H", 500) + WHOLE[DIRECTORY + 30 :]
    bad("name_beyond_directory", long_name, "a name of 500 bytes", at=DIRECTORY + 46)
    bad("not_utf_8", Archive().member(b"\xff.npy", DATA, flags=0x800, entry_mark=AT).bytes(), "a name is not UTF-8")
    bad("entry_on_disk_3", one(entry_disk=3, entry_mark=AT).bytes(), "there is one disk")
    missing = one(entry_stored=2**32 - 1, entry_mark=AT).bytes()
    bad("wide_size_missing", missing, "the size is in no field")


def members():
    bad("header_elsewhere", one(entry_at=4).bytes(), "no header there", at=4)
    bad("header_behind", one(entry_at=2**31).bytes(), "no header there")
    for field, value in [("name", b"v.npy"), ("method", DEFLATED), ("flags", 1), ("flags", 8)]:
        bad(f"local_{field}_{value if field != 'name' else 'other'}", one(**{f"local_{field}": value, "local_mark": AT}).bytes(), "the headers differ")
    for field in ("crc", "stored", "size"):
        bad(f"local_{field}", one(**{f"local_{field}": 7, "local_mark": AT}).bytes(), "the headers differ")
    bad("stored_beyond_directory", one(stored=len(DATA) + 1, size=len(DATA) + 1).bytes(), "the data reaches the directory", at=HEAD)
    bad("stored_gigantic", one(wide=True, stored=2**62, size=2**62).bytes(), "2^62 bytes", at=HEAD + 20)
    bad("stored_other_than_size", one(size=len(DATA) - 1, entry_mark=AT).bytes(), "stored is as long as it is")
    overlap = Archive().member(NAME, DATA)
    overlap.entries.append(overlap.entries[0])
    bad("same_member_twice", overlap.bytes(), "members overlap", at=0)
    inner = Archive().member("v.npy", DATA).data
    nested = Archive().member(NAME, DATA + inner)
    field = {"crc": zlib.crc32(DATA), "stored": len(DATA), "size": len(DATA), "at": HEAD + len(DATA)}
    field |= {"name": b"v.npy", "method": 0, "flags": 0}
    nested.entries.append((field, b"", False, b""))
    bad("member_inside_another", nested.bytes(), "members overlap", at=HEAD + len(DATA))


def arrays():
    def broken(name, data, why, at=HEAD, **more):
        bad(name, Archive().member(NAME, data).bytes(), why, at=at, **more)
        bad(f"{name}_deflated", Archive().member(NAME, data, method=DEFLATED).bytes(), why, at=HEAD, **more)

    broken("array_cut", DATA[:-1], "the values need 8 bytes", at=HEAD + len(DATA) - 8)
    broken("array_of_header_alone", DATA[:-8], "the values need 8 bytes", at=HEAD + len(DATA) - 8)
    broken("array_header_cut", DATA[:40], "the header is cut", at=HEAD + 10)
    broken("array_type", header(dictionary("<i3", [2])) + bytes(6), "no such type", at=HEAD + 20)
    text = "{'descr': '<f4', 'fortran_order': False}"
    broken("array_without_shape", header(text), "no shape", at=HEAD + 10)
    huge = header(dictionary("<f8", [2**59])) + bytes(8)
    broken("array_gigantic", huge, "2^62 bytes", at=HEAD + len(huge) - 8)
    long = DATA[:6] + b"\2\0" + struct.pack("<I", 2**31)
    bad("array_header_gigantic", Archive().member(NAME, long + bytes(2000)).bytes(), "2 GiB of header", kind="limit")
    bad("array_header_gigantic_deflated", Archive().member(NAME, long + bytes(2000), method=DEFLATED).bytes(), "2 GiB of header", kind="limit")
    bad("deflate_broken", one(method=DEFLATED, data=b"\xff" * 40).bytes(), "no deflate data", at=HEAD)
    bad("deflate_empty", one(method=DEFLATED, data=b"").bytes(), "much out of nothing", kind="limit")


def checksums():
    def late(name, archive, why, at=HEAD):
        bad(name, archive.bytes(), why, by="verify", at=at)

    late("crc", one(crc=7), "the checksum is that of other bytes", at=DIRECTORY - 8)
    late("crc_deflated", one(crc=7, method=DEFLATED), "the checksum is that of other bytes")
    changed = WHOLE[: DIRECTORY - 1] + b"\x41" + WHOLE[DIRECTORY:]
    bad("value_changed", changed, "a value changed", by="verify", at=DIRECTORY - 8)
    packed = deflate(DATA)
    late("deflate_cut", one(method=DEFLATED, data=packed[:-1]), "the stream has no end")
    late("deflate_goes_on", one(method=DEFLATED, data=packed + b"\0"), "the stream ends before its data")
    late("deflate_too_long", one(method=DEFLATED, data=deflate(DATA + b"\0")), "one byte more comes out")
    short = deflate(DATA[:-1])
    late("deflate_too_short", one(method=DEFLATED, data=short), "one byte less comes out")


def damaged():
    """What is no array, or one of a type that is not known, but had another checksum before it was damaged."""

    def changed(name, before, after, why, **more):
        data = DATA.replace(before, after, 1)
        assert data != DATA and len(data) == len(DATA)
        for suffix, how in (("", {}), ("_deflated", {"method": DEFLATED})):
            archive = Archive().member(NAME, data, crc=zlib.crc32(DATA), **how)
            bad(f"damaged_{name}{suffix}", archive.bytes(), why, at=HEAD, **more)

    changed("version", b"NUMPY\1", b"NUMPY\5", "version 5, and the checksum of another header")
    changed("type", b"<f4", b"<U4", "a type that is not known, and the checksum of another header")
    changed("objects", b"<f4", b"|O4", "a type that is not known, and the checksum of another header")
    changed("magic", b"\x93NUMPY", b"\x92NUMPY", "no array, and the checksum of another")
    readme = Archive().member(NAME, DATA).member("readme.txt", b"no array", crc=7)
    bad("damaged_beside", readme.bytes(), "the checksum is that of other bytes", by="verify", at=DIRECTORY + 30 + len("readme.txt"))
    readme = Archive().member(NAME, DATA).member("readme.txt", b"no array", crc=7, method=DEFLATED)
    bad("damaged_beside_deflated", readme.bytes(), "the checksum is that of other bytes", by="verify", at=DIRECTORY + 30 + len("readme.txt"))
    none = Archive().member("readme.txt", b"no array").member("folder/", b"")
    bad("no_array", none.bytes(), "a zip archive of other files", at=len(none.data))
    false = Archive().member(NAME, b"no array")
    bad("no_array_by_its_content", false.bytes(), "a zip archive of other files", at=len(false.data))


def lenient():
    twice = Archive().member(NAME, DATA).member(NAME, DATA, entry_mark=AT)
    bad("name_twice", twice.bytes(), "a name repeats", lenient_ok=True)
    for method in (1, 9, 12, 14, 93, 99):
        archive = one(method=method, data=DATA)
        bad(f"method_{method}", archive.bytes(), "no such method", kind="unsupported", lenient_ok=True)
    bad("encrypted", one(flags=1).bytes(), "a password is wanted", kind="unsupported", lenient_ok=True)
    bad("encrypted_deflated", one(flags=1, method=DEFLATED).bytes(), "a password is wanted", kind="unsupported", lenient_ok=True)
    more = Archive().member(NAME, DATA + b"\0")
    bad("array_goes_on", more.bytes(), "the values end the member", lenient_ok=True, at=HEAD + len(DATA))
