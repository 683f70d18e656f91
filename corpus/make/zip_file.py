"""zip archives, from PKWARE's APPNOTE 6.3.

    PK 3 4   version, flags, method, time, date, crc, stored, size, name length, extra length, name, extra
             the data, and (flag bit 3) PK 7 8, crc, stored, size
    PK 1 2   made by, version, flags, method, time, date, crc, stored, size, name, extra and comment length,
             disk, attributes u16 u32, place of the local header, name, extra, comment
    PK 6 6   size of the rest u64, made by, version, disk, disk u32, entries u64 twice, size, place u64
    PK 6 7   disk u32, place of PK 6 6 u64, disks u32
    PK 5 6   disk, disk, entries, entries u16, size, place u32, comment length u16, comment
"""

import struct
import zlib

from marked import AT, clean_len

STORED, DEFLATED = 0, 8
DESCRIBED, UTF_8 = 8, 0x800
DATE = 0x21  # 1980-01-01
WIDE = 0xFFFFFFFF


def deflate(data, level=6):
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


class Archive:
    """Members one after the other. Every field can be said to be other than it is."""

    def __init__(self, start=b""):
        self.data, self.entries = start, []

    def member(
        self, name, content, method=STORED, flags=0, extra=b"", local_extra=None, wide=False, described=False, **said
    ):
        """`said` overrides fields: of both headers, or of one by `local_...` and `entry_...`."""
        raw = name if isinstance(name, bytes) else name.encode()
        flags |= UTF_8 * (not raw.isascii() and isinstance(name, str)) | DESCRIBED * described
        data = said.pop("data", deflate(content) if method == DEFLATED else content)
        true = {"crc": zlib.crc32(content), "stored": len(data), "size": len(content), "at": clean_len(self.data)}

        def fields(which):
            both = {key: said[key] for key in said if not key.startswith(("local_", "entry_"))}
            own = {key.removeprefix(which): said[key] for key in said if key.startswith(which)}
            return true | {"name": raw, "method": method, "flags": flags} | both | own

        self.data += self._local(fields("local_"), extra if local_extra is None else local_extra, wide, described)
        self.data += data
        if "descriptor" in said:
            self.data += said.pop("descriptor")
        elif described:
            self.data += b"PK\x07\x08" + struct.pack("<IQQ" if wide else "<III", *(true[key] for key in ("crc", "stored", "size")))
        self.entries.append((fields("entry_"), extra, wide, said.get("entry_mark", b"")))
        return self

    @staticmethod
    def _local(field, extra, wide, described):
        sizes = [0, 0, 0] if described else [field["crc"], field["stored"], field["size"]]
        if wide:
            extra = struct.pack("<HHQQ", 1, 16, sizes[2], sizes[1]) + extra
            sizes[1:] = [WIDE, WIDE]
        version = 45 if wide else 20
        head = struct.pack("<HHHHHIII", version, field["flags"], field["method"], 0, DATE, *sizes)
        mark = field.get("mark", b"")
        return mark + b"PK\x03\x04" + head + struct.pack("<HH", len(field["name"]), len(extra)) + field["name"] + extra

    def directory(self):
        out = b""
        for field, extra, wide, mark in self.entries:
            sizes, at = [field["stored"], field["size"]], field["at"]
            if wide:
                extra = struct.pack("<HHQQQ", 1, 24, sizes[1], sizes[0], at) + extra
                sizes, at = [WIDE, WIDE], WIDE
            out += mark + b"PK\x01\x02" + struct.pack("<HHHHHH", 0x32D, 45 if wide else 20, field["flags"], field["method"], 0, DATE)
            out += struct.pack("<III", field["crc"], *sizes)
            out += struct.pack("<HHHHHI", len(field["name"]), len(extra), len(field.get("comment", b"")), field.get("disk", 0), 0, 0o100644 << 16)
            out += struct.pack("<I", at) + field["name"] + extra + field.get("comment", b"")
        return out

    def bytes(self, comment=b"", wide=False, behind=b"", mark=b"", more=b"", **said):
        directory = self.directory()
        true = {"disk": 0, "count": len(self.entries), "size": clean_len(directory), "place": clean_len(self.data)}
        said = true | said
        out = self.data + directory + behind
        end = clean_len(out)
        if wide:
            out += b"PK\x06\x06" + struct.pack("<QHHII", 44 + len(more), 45, 45, said["disk"], said["disk"])
            out += struct.pack("<QQQQ", said["count"], said["count"], said["size"], said["place"]) + more
            out += b"PK\x06\x07" + struct.pack("<IQI", 0, said.get("wide_at", end), 1)
            said |= {"count": 0xFFFF, "size": WIDE, "place": WIDE}
        out += mark + b"PK\x05\x06" + struct.pack("<HHHH", said["disk"], said["disk"], said["count"], said["count"])
        out += struct.pack("<IIH", said["size"], said["place"], said.get("comment_len", len(comment))) + comment
        return out


def padding(archive, name, align=64):
    """The extra field that makes the data of the next member begin at a multiple of `align`."""
    at = clean_len(archive.data) + 30 + len(name.encode())
    space = -at % align
    if 0 < space < 6:
        space += align
    return struct.pack("<HHH", 0xD935, space - 4, align) + bytes(space - 6) if space else b""


__all__ = ["AT", "Archive", "DEFLATED", "STORED", "deflate", "padding"]
