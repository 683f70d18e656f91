"""Files that are no checkpoints of PyTorch, or broken ones: corpus/torch/bad."""

import struct

import common
from marked import AT, split
from torch_file import File, Global, Kept, Raw, call, opcodes, ordered, pickled
from zip_file import DEFLATED, Archive

START = b"\x80\x02"


def bad(name, marked, why, at=None, **more):
    """`AT` in the bytes marks the fault, or `at` says it."""
    data, marked_at = split(marked)
    common.bad("torch", f"{name}.pt", data, at if marked_at is None else marked_at, why, **more)


def of_pickle(name, marked, why, **more):
    """A pickle that is refused, with a storage of four u8 beside it."""
    file = File()
    file.storage("u8", [1, 2, 3, 4])
    bad(name, file.zip(marked), why, **more)


def make():
    ends()
    opcodes_refused()
    stacks()
    memos()
    tensors()
    archives()
    legacy()


def ends():
    file = File()
    whole = file.zip({"w": file.tensor("u8", [2], [1, 2])})
    for length in (0, 3, 4, 40, 200, len(whole) - 1):
        bad(f"cut_at_{length}", whole[:length], "the end is missing")
    old = file.legacy({"w": file.tensor("u8", [2], [1, 2])})
    for length in (15, 21, 60, 130, len(old) - 3, len(old) - 1):
        bad(f"legacy_cut_at_{length}", old[:length], "the end is missing", at=None)
    bad("a_pickle", pickled([1]), "a pickle that is not PyTorch's", at=0)
    tar = bytearray(1024)
    tar[:8], tar[257:262] = b"sys_info", b"ustar"
    bad("tar", tar, "the tar archive of PyTorch before 0.1.10", kind="unsupported")


def opcodes_refused():
    for name, data in {
        "ext1": b"\x82\x01", "ext2": b"\x83\1\0", "ext4": b"\x84\1\0\0\0", "int": b"I1\n", "long": b"L1L\n", "float": b"F1\n",
        "string": b"S'a'\n", "unicode": b"Va\n", "persid": b"Pa\n", "get": b"g0\n", "put": b"p0\n",
        "dict": b"(d", "list": b"(l", "next_buffer": b"\x97", "readonly_buffer": b"\x98",
        "zero": b"\0", "ff": b"\xff",
    }.items():
        place = 1 if data[:1] == b"(" else 0
        of_pickle(f"opcode_{name}", START + data[:place] + AT + data[place:] + b".", "an opcode that is not read")
    of_pickle("protocol_6", AT + b"\x80\x06N.", "protocol 6")
    of_pickle("no_stop", START + b"N" + AT, "the pickle goes on")
    of_pickle("bytes_behind", START + b"N." + AT + b"N.", "something stands behind the pickle")
    of_pickle("empty_pickle", AT, "there is no pickle")


def stacks():
    for name, data in {
        "stop_of_nothing": AT + b".", "pop_of_nothing": AT + b"0", "dup_of_nothing": AT + b"2", "reduce_of_nothing": b"N" + AT + b"R",
        "build_of_nothing": b"N" + AT + b"b", "build_of_none": b"NN" + AT + b"b", "no_mark": b"N" + AT + b"t", "append_to_none": b"NN" + AT + b"a",
        "append_nothing": b"]" + AT + b"a", "set_in_list": b"]NN" + AT + b"s", "key_without_value": b"}(N" + AT + b"u",
        "below_the_mark": b"]N(" + AT + b"a", "tuple3_of_two": b"NN" + AT + b"\x87", "items_of_dict": b"}(N" + AT + b"e",
        "global_of_numbers": b"K\1K\2" + AT + b"\x93", "new_of_nothing": b")" + AT + b"\x81", "persistent_nothing": AT + b"Q",
        "obj_of_nothing": b"(" + AT + b"o", "inst_without_mark": b"N" + AT + b"ios\nsystem\n",
    }.items():
        of_pickle(name, START + data + b".", "the stack does not have what the opcode needs")
    of_pickle("text_beyond", START + b"X" + AT[:0] + struct.pack("<I", 2**31) + AT + b"abc", "a text of 2^31 bytes")
    of_pickle("bytes_beyond", START + b"\x8e" + struct.pack("<Q", 2**63) + AT + b"abc", "2^63 bytes")
    of_pickle("long_beyond", START + b"\x8b" + struct.pack("<I", 2**31) + AT + b"abc", "a number of 2^31 bytes")
    of_pickle("text_not_utf_8", START + AT + b"X\1\0\0\0\xff.", "a text is UTF-8")
    of_pickle("name_without_end", START + AT + b"c" + b"a" * 5000 + b"\n\n.", "a name of 5000 bytes")


def memos():
    of_pickle("get_before_put", START + AT + b"h\0.", "nothing is there")
    of_pickle("list_of_itself", START + AT + b"]q\0h\0a.", "an object that holds itself")
    of_pickle("dict_of_itself", START + AT + b"}q\0" + opcodes("a") + b"h\0s.", "an object that holds itself")
    laughs = b"]q\0(" + b"N" * 10 + b"e"
    for level in range(1, 10):
        laughs += b"]q" + bytes([level]) + b"(" + (b"h" + bytes([level - 1])) * 10 + b"e"
    of_pickle("laughs", START + laughs + b".", "ten thousand million values")
    file = File()
    laughs = b"}q\0(" + b"".join(opcodes(str(n)) + opcodes(file.tensor("u8", [1], [n])) for n in range(10)) + b"u"
    for level in range(1, 10):
        laughs += b"}q" + bytes([level]) + b"(" + b"".join(opcodes(str(n)) + b"h" + bytes([level - 1]) for n in range(10)) + b"u"
    bad("laughs_of_tensors", file.zip(START + laughs + b"."), "ten thousand million tensors")
    long = opcodes("x" * 1000) + b"q\0" + b"0](" + b"h\0" * 3000 + b"e."
    of_pickle("long_text_often", START + long, "a long text, very often")
    deep = START + b"]" * 1000 + b"a" * 999 + b"."
    of_pickle("deep", deep, "a thousand lists in each other", kind="limit")
    of_pickle("key_twice", START + b"}(" + opcodes("a") + b"N" + AT + opcodes("a") + b"Nu.", "a key stands twice")


def tensors():
    def case(name, why, storage=None, shape=(2,), stride=(1,), first=0, dtype="u8", fault=b"R", **more):
        file = File()
        own = file.storage("u8", [1, 2, 3, 4])
        made = opcodes(file.of(storage(own) if storage else own, shape, stride, first, dtype=dtype, metadata=more.pop("metadata", ())))
        marked = made[: -len(fault)] + AT + fault if fault else made
        bad(name, file.zip(START + b"}" + opcodes("w") + marked + b"s."), why, **more)

    case("beyond_storage", "five of four", shape=(5,))
    case("offset_beyond", "from 3 on", first=3)
    case("offset_negative", "an offset of -1", first=-1)
    case("offset_gigantic", "an offset of 2^62", first=2**62)
    case("stride_beyond", "a stride of 4", stride=(4,))
    case("stride_gigantic", "a stride of 2^62", stride=(2**62,))
    case("stride_negative", "a stride of -1", stride=(-1,), fault=b"")
    case("strides_too_few", "one stride", shape=(2, 2))
    case("size_negative", "a size of -1", shape=(-1,), fault=b"")
    case("sizes_overflow", "2^124 cells", shape=(2**62, 2**62), stride=(1, 1))
    case("expanded_far", "2^60 cells of one", shape=(2**60,), stride=(0,), fault=b"", kind="limit")
    case("many_dims", "300 dimensions", shape=(1,) * 300, stride=(1,) * 300, fault=b"", kind="limit")
    case("conj_of_real", "real numbers have no conjugate", metadata=[{"conj": True}])
    case("neg_of_whole", "u8 has no sign", metadata=[{"neg": True}])
    case("storage_of_text", "a storage is a persistent id", storage=lambda own: "0", fault=b"")

    def kept(*parts):
        return lambda own: Kept(parts)

    kind = Global("torch", "ByteStorage")
    for name, storage in {
        "storage_missing": kept("storage", kind, "7", "cpu", 4), "storage_too_long": kept("storage", kind, "0", "cpu", 5),
        "storage_too_short": kept("storage", kind, "0", "cpu", 3), "storage_tag": kept("module", kind, "0", "cpu", 4),
        "storage_parts": kept("storage", kind, "0"), "storage_count_text": kept("storage", kind, "0", "cpu", "4"),
        "storage_key_number": kept("storage", kind, 0, "cpu", 4), "storage_kind_text": kept("storage", "ByteStorage", "0", "cpu", 4),
        "storage_of_another_type": kept("storage", Global("torch", "FloatStorage"), "0", "cpu", 4),
        "view_beyond": kept("storage", kind, "0", "cpu", 4, ("1", 3, 2)), "view_of_text": kept("storage", kind, "0", "cpu", 4, "1"),
    }.items():
        case(name, "no such storage", storage=storage, fault=b"")
    file = File()
    few = call("torch._utils._rebuild_tensor_v2", file.storage("u8", [1]), 0)
    bad("arguments_too_few", file.zip({"w": few}), "a tensor of two arguments")
    bad("parameter_of_none", File().zip({"w": call("torch._utils._rebuild_parameter", None, True)}), "a parameter of nothing")
    odd = call("numpy.core.multiarray._reconstruct", Global("numpy", "ndarray"), (0,), b"b")
    bad("array_without_state", File().zip({"w": odd}), "an array without a shape")
    short = odd._replace(state=(1, (3,), call("numpy.dtype", "f4", False, True), False, b"abc"))
    bad("array_too_short", File().zip({"w": short}), "an array of three bytes")
    sparse()


def sparse():
    layout = call("torch.serialization._get_layout", "torch.sparse_coo")

    def case(name, why, indices, values, size, by="open"):
        file = File()
        parts = (file.tensor("i64", *indices), file.tensor("u8", *values), tuple(size), True)
        bad(name, file.zip({"w": call("torch._utils._rebuild_sparse_tensor", layout, parts)}), why, by=by)

    case("sparse_values_missing", "two values for three", ([1, 3], [0, 1, 2]), ([2], [1, 2]), [4])
    case("sparse_indices_of_three", "three rows for two dimensions", ([3, 1], [0, 1, 2]), ([1], [1]), [4, 4])
    case("sparse_index_beyond", "an index of 4", ([1, 2], [0, 4]), ([2], [1, 2]), [4], by="verify")
    case("sparse_index_negative", "an index of -1", ([1, 2], [0, -1]), ([2], [1, 2]), [4], by="verify")
    case("sparse_index_twice", "one cell twice", ([1, 2], [1, 1]), ([2], [1, 2]), [4], by="verify")


def archives():
    file = File()
    root = {"w": file.tensor("f32", [2], [1.5, 2.5])}
    good = pickled(root)
    no_pickle = Archive().member("archive/data/0", b"abcd").bytes()
    bad("no_pickle", no_pickle, "data.pkl is missing", at=0)
    two = Archive().member("a/data.pkl", good).member("b/data.pkl", good)
    bad("two_pickles", two.bytes(), "two pickles")
    bad("no_storage", Archive().member("a/data.pkl", good).bytes(), "data/0 is missing")
    bad("byte_order", file.zip(root, byteorder=b"middle"), "neither little nor big")
    bad("storage_method", file.zip(root, method=12, data=b"12345678"), "bzip2", kind="unsupported")
    twice = Archive().member("a/data.pkl", good).member("a/data/0", bytes(8)).member("a/data/0", bytes(8))
    bad("storage_twice", twice.bytes(), "a storage stands twice")
    wrong = bytearray(file.zip(root))
    place = bytes(wrong).index(struct.pack("<ff", 1.5, 2.5))
    wrong[place] ^= 1
    bad("checksum", wrong, "a value was changed", at=place, by="verify")
    plain = Archive().member("a/data.pkl", good).member("a/data/0", struct.pack("<ff", 1.5, 2.5))
    at = len(plain.data) + 30 + len("a/version")
    bad("checksum_of_version", plain.member("a/version", b"3\n", crc=7).bytes(), "the version was changed", at=at, by="verify")
    part = File()
    wrong = part.zip({"w": part.of(part.storage("f32", [1.5, 2.5, 3.5]), [2], first=1)})
    place = wrong.index(struct.pack("<fff", 1.5, 2.5, 3.5))
    wrong = wrong[:place] + b"\1" + wrong[place + 1 :]
    bad("checksum_of_part", wrong, "a value of no tensor was changed", at=place, by="verify")
    unused = Archive().member("a/data.pkl", good).member("a/data/0", struct.pack("<ff", 1.5, 2.5))
    at = len(unused.data) + 30 + len("a/data/1")
    bad("checksum_of_no_tensor", unused.member("a/data/1", b"1234", crc=7).bytes(), "a storage of no tensor was changed", at=at, by="verify")
    bad("pickle_checksum", file.zip(root, pickle={"crc": 7}), "the pickle was changed", at=30 + len("archive/data.pkl"))
    cut = Archive().member("a/data.pkl", good, method=DEFLATED, size=len(good) + 1)
    bad("deflated_pickle_too_short", cut.bytes(), "a pickle of one byte less", at=30 + len("a/data.pkl"))
    bomb = Archive().member("a/data.pkl", good, method=DEFLATED, wide=True, size=2**50)
    bad("deflated_pickle_gigantic", bomb.bytes(), "a pickle of 2^50 bytes", kind="limit")


def legacy():
    file = File()
    root = {"w": file.tensor("u8", [4], [1, 2, 3, 4])}
    start = len(pickled(0x1950A86A20F9469CFC6C))
    bad("legacy_version", file.legacy(root, protocol=1002), "version 1002", at=start)
    bad("legacy_version_text", file.legacy(root, protocol="1001"), "a version of text", at=start)
    bad("legacy_keys_no_list", file.legacy(root, keys={}), "the keys are a list")
    bad("legacy_key_number", file.legacy(root, keys=[0]), "keys are texts")
    bad("legacy_key_unknown", file.legacy(root, keys=["7"]), "a storage of no tensor")
    bad("legacy_key_missing", file.legacy(root, keys=[]), "no storage for the tensor")
    bad("legacy_key_twice", file.legacy(root, keys=["0", "0"]) + struct.pack("<q", 0), "a storage stands twice")
    more = file.legacy(root)
    bad("legacy_bytes_behind", more + b"x", "something stands behind", at=len(more), lenient_ok=True)
    gigantic = more[:-12] + AT + struct.pack("<q", 2**62) + more[-4:]
    data, place = split(gigantic)
    bad("legacy_storage_gigantic", data, "a storage of 2^62 elements", at=place + 8)
    negative = more[:-12] + struct.pack("<q", -1) + more[-4:]
    bad("legacy_storage_negative", negative, "a storage of -1 elements")
