"""PyTorch's checkpoints: corpus/torch. The examples that are refused are in `torch_bad.py`."""

import math
import struct

import common
import torch_bad
from torch_file import OPAQUE, PARTS, TYPES, Call, File, Global, Kept, Raw, call, opcodes, ordered, pickled, show
from zip_file import DEFLATED, Archive

INF, NAN = math.inf, math.nan
NO_NOTES = {"note_kinds": []}


def good(name, data, shown, **more):
    common.good("torch", f"{name}.pt", data, NO_NOTES | shown, **more)


def some(dtype, count):
    """As many exact, repeatable values."""
    stream = common.lcg(seed=17)
    number = PARTS.get(dtype, dtype)
    if number == "bool":
        one = lambda: next(stream) >> 31
    elif number[0] in "fb":
        one = lambda: (next(stream) >> 25) / 8 - 8
    else:
        bits = int(number[1:])
        low = -(2 ** (bits - 1)) if number[0] == "i" else 0
        one = lambda: low + (next(stream) << 32 | next(stream)) % 2**bits
    return [(one(), one()) if dtype in PARTS else one() for _ in range(count)]


def both(name, build):
    """One content in either layout; `build` gives the root and what is shown of it."""
    file = File()
    root, shown = build(file)
    good(name, file.zip(root), shown)
    good(f"{name}_legacy", file.legacy(root), shown)


def make():
    types()
    places()
    trees()
    plain_values()
    arrays()
    classes()
    archives()
    legacy()
    pickles()
    torch_bad.make()


def types():
    for dtype in TYPES:
        file, values = File(), some(dtype, 6)
        word = TYPES[dtype][0]
        good(f"type_{word}", file.zip({"w": file.tensor(dtype, [2, 3], values)}), show((["w"], dtype, [2, 3], values)))
        file = File(">")
        root = {"w": file.tensor(dtype, [2, 3], values)}
        good(f"big_endian_{word}", file.zip(root), show((["w"], dtype, [2, 3], values)))
        file = File()
        root = {"w": file.tensor(dtype, [2, 3], values)}
        good(f"legacy_{word}", file.legacy(root), show((["w"], dtype, [2, 3], values)))
    for word, layout in OPAQUE.items():
        file = File()
        root = {"w": file.of(file.raw_storage(bytes([1, 127, 128, 255])), [2, 2], dtype=word)}
        good(f"type_{word}", file.zip(root), show(opaque("w", layout, [2, 2], [1, 127, 128, 255])))
    file = File()
    root = {"w": file.of(file.raw_storage(bytes([0x21, 0x43])), [1, 2], dtype="float4_e2m1fn_x2")}
    good("type_float4_e2m1fn_x2", file.zip(root), show(opaque("w", "F4", [1, 4], [0x21, 0x43])))
    file = File()
    root = {"w": file.of(file.raw_storage(bytes(range(6))), [2, 2], [1, 3], 1, dtype="float8_e5m2")}
    good("opaque_strides", file.zip(root), show(opaque("w", "F8_E5M2", [2, 2], [1, 4, 2, 5])))
    file = File()
    special = [NAN, INF, -INF, -0.0, 2.0**-149, 0.1]
    good("specials", file.zip({"w": file.tensor("f32", [6], special)}), show((["w"], "f32", [6], special)))


def opaque(name, layout, shape, data):
    tensor = {"key": [name], "state": None, "name": name, "shape": shape, "dims": common.dims(*shape)}
    part = {"name": "data", "dtype": "u8", "data": data}
    return tensor | {"symmetries": [], "dtype": "u8", "storage": "opaque", "layout": layout, "parts": [part]}


def places():
    """Where tensors lie in their storages."""
    cases = {
        "contiguous": ([3, 4], [4, 1], 0), "offset": ([2, 2], [2, 1], 3), "transposed": ([4, 3], [1, 4], 0),
        "permuted": ([2, 2, 3], [3, 6, 1], 0), "rows": ([2, 4], [8, 1], 0), "columns": ([3, 2], [4, 2], 1),
        "diagonal": ([3], [5], 0), "expanded": ([3, 4], [0, 1], 2), "expanded_last": ([4, 3], [1, 0], 2),
        "one_for_all": ([2, 3, 2], [0, 0, 0], 11), "windows": ([9, 4], [1, 1], 0), "scalar": ([], [], 5),
        "size_one": ([1, 4], [77, 1], 0), "empty": ([0, 4], [4, 1], 12), "empty_inside": ([2, 0, 2], [1, 1, 1], 0),
        "transposed_part": ([2, 2], [1, 4], 1),
    }
    values = some("f32", 12)
    for name, (shape, stride, first) in cases.items():

        def build(file, shape=shape, stride=stride, first=first):
            return {"w": file.of(file.storage("f32", values), shape, stride, first)}, show((["w"], "f32", shape, placed(values, shape, stride, first)))

        both(f"strides_{name}", build)

    def tied(file):
        storage = file.storage("f32", values)
        parts = {"emb.weight": file.of(storage, [3, 4]), "head.weight": file.of(storage, [3, 4])}
        parts |= {"last": file.of(storage, [4], first=8)}
        tensors = [(["emb.weight"], "f32", [3, 4], values), (["head.weight"], "f32", [3, 4], values), (["last"], "f32", [4], values[8:])]
        return parts, show(*tensors, note_kinds=["shared-bytes"] * 2)

    both("tied", tied)

    def halves(file):
        storage = file.storage("f32", values)
        return [file.of(storage, [6]), file.of(storage, [6], first=6)], show(([0], "f32", [6], values[:6]), ([1], "f32", [6], values[6:]))

    both("halves", halves)
    pairs = [(1.5, -2.0), (-0.0, 3.0)]
    for dtype, name, bits, expected in [
        ("c64", "conj", {"conj": True}, [(1.5, 2.0), (-0.0, -3.0)]),
        ("c128", "conj_wide", {"conj": True}, [(1.5, 2.0), (-0.0, -3.0)]),
        ("c64", "conj_neg", {"conj": True, "neg": True}, [(-1.5, -2.0), (0.0, 3.0)]),
        ("c64", "not_conj", {"conj": False}, pairs),
        ("f32", "neg", {"neg": True}, [-1.5, 2.0]),
    ]:
        file = File(">" if "wide" in name else "<")
        stored = pairs if dtype in PARTS else [1.5, -2.0]
        root = {"w": file.of(file.storage(dtype, stored), [2], dtype=dtype, metadata=[bits])}
        good(f"bits_{name}", file.zip(root), show((["w"], dtype, [2], expected)))


def placed(values, shape, stride, first):
    if not shape:
        return [values[first]]
    return [x for at in range(shape[0]) for x in placed(values, shape[1:], stride[1:], first + at * stride[0])]


def trees():
    values = some("f32", 2)

    def nested(file):
        one = lambda: file.tensor("f32", [2], values)
        model = ordered({"fc.weight": one(), "fc.bias": one()})
        optimizer = {"state": {0: {"step": one(), "exp_avg": one()}}, "param_groups": [{"lr": 0.5, "params": [0, 1]}]}
        root = {"model": model, "optimizer": optimizer, "epoch": 7, "layers": [one(), (one(), 3)]}
        paths = [["model", "fc.weight"], ["model", "fc.bias"], ["optimizer", "state", 0, "step"]]
        paths += [["optimizer", "state", 0, "exp_avg"], ["layers", 0], ["layers", 1, 0]]
        tensors = [(path, "f32", [2], values) for path in paths]
        group = {"lr": 0.5, "params": [0, 1]}
        return root, show(*tensors, metadata={"epoch": 7, "optimizer": {"param_groups": [group]}, "layers": {"1": {"1": 3}}})

    both("nested", nested)
    for name, wrap, path in [
        ("lone", lambda tensor: tensor, []),
        ("in_list", lambda tensor: [tensor], [0]),
        ("in_tuple", lambda tensor: (tensor,), [0]),
        ("in_ordered_dict", lambda tensor: ordered({"w": tensor}), ["w"]),
        ("in_ordered_entries", lambda tensor: call("collections.OrderedDict", [["w", tensor]]), ["w"]),
        ("in_default_dict", lambda tensor: call("collections.defaultdict", pairs={"w": tensor}), ["w"]),
        ("by_number", lambda tensor: {-3: tensor}, [-3]),
        ("by_none", lambda tensor: {None: tensor}, ["None"]),
        ("of_state_dict", lambda tensor: ordered({"w": tensor})._replace(state={"_metadata": ordered({"": {"version": 1}})}), ["w"]),
        ("parameter", lambda tensor: {"w": call("torch._utils._rebuild_parameter", tensor, True, ordered({}))}, ["w"]),
        ("parameter_with_state", lambda tensor: {"w": call("torch._utils._rebuild_parameter_with_state", tensor, True, ordered({}), {})}, ["w"]),
        ("old_tensor", lambda tensor: {"w": call("torch._utils._rebuild_tensor", *tensor.args[:4])}, ["w"]),
        ("bare_storage", lambda tensor: {"w": tensor.args[0]}, ["w"]),
    ]:
        both(name, lambda file: (wrap(file.tensor("f32", [2], values)), show((path, "f32", [2], values))))
    subclass = call("torch._tensor._rebuild_from_type_v2", Global("torch._utils", "_rebuild_tensor_v2"), Global("mine", "Tensor"), ())
    file = File()
    tensor = file.tensor("f32", [2], values)
    root = {"w": subclass._replace(args=(*subclass.args[:2], tensor.args, {}))}
    good("of_a_class", file.zip(root), show((["w"], "f32", [2], values), note_kinds=["ignored-field"]))
    good("untyped_storage", *untyped())
    good("nothing", File().zip({}), show())
    good("nothing_legacy", File().legacy([]), show())


def untyped():
    file = File()
    return file.zip({"w": file.raw_storage(b"\1\2\3")}), show((["w"], "u8", [3], [1, 2, 3]))


def plain_values():
    entries = {
        "none": (None, None), "truth": (True, True), "small": (5, 5), "negative": (-70000, -70000),
        "long": (2**40, 2**40), "real": (0.25, 0.25), "text": ("grüße", "grüße"), "bytes": (b"\0\xff", common.b64(b"\0\xff")),
        "list": ([1, [2.5, None]], [1, [2.5, None]]), "tuple": ((1, "a"), [1, "a"]), "dict": ({"a": {"b": 1}}, {"a": {"b": 1}}),
        "empty": ({}, {}), "size": (call("torch.Size", (2, 3)), [2, 3]), "device": (call("torch.device", "cuda", 1), "cuda:1"),
        "dtype": (Global("torch", "bfloat16"), "torch.bfloat16"), "set": (call("builtins.set", [1, 2]), [1, 2]),
        "complex": (call("builtins.complex", 1.5, -2.0), [1.5, -2.0]),
        "namespace": (call("argparse.Namespace", new=True, state={"lr": 0.5, "name": "x"}), {"lr": 0.5, "name": "x"}),
        "latin1": (call("_codecs.encode", "\0\xff", "latin1"), common.b64(b"\0\xff")),
        "scalar": (scalar("f4", "\0\0\x20\x40"), 2.5), "scalar_big": (scalar("i2", "\xff\xfe", ">"), -2),
        "scalar_bool": (scalar("b1", "\1", "|"), True), "scalar_complex": (scalar("c8", "\0\0\x20\x40\0\0\0\0"), [2.5, 0.0]),
    }
    for name, (value, shown) in entries.items():
        file = File()
        root = {name: value, "w": file.tensor("u8", [1], [9])}
        good(f"value_{name}", file.zip(root), show((["w"], "u8", [1], [9]), metadata={name: shown}))
    good("value_alone", File().zip(3), show(metadata={"value": 3}))


def dtype(code, order="<"):
    return call("numpy.dtype", code, False, True, state=(3, order, None, None, None, -1, -1, 0))


def scalar(code, text, order="<"):
    return call("numpy.core.multiarray.scalar", dtype(code, order), call("_codecs.encode", text, "latin1"))


def arrays():
    def array(code, shape, data, fortran=False, order="<", core="_core"):
        made = call(f"numpy.{core}.multiarray._reconstruct", Global("numpy", "ndarray"), (0,), b"b")
        return made._replace(state=(1, tuple(shape), dtype(code, order), fortran, data))

    values = [1, -2, 3, 4, 5, 600]
    little, big = struct.pack("<6h", *values), struct.pack(">6h", *values)
    latin1 = call("_codecs.encode", little.decode("latin1"), "latin1")
    columns = [1, 3, 5, -2, 4, 600]
    for name, made, shown in [
        ("bytes", array("i2", [2, 3], little), values), ("latin1", array("i2", [2, 3], latin1), values),
        ("big", array("i2", [2, 3], big, order=">"), values), ("fortran", array("i2", [2, 3], little, fortran=True), columns),
        ("old_module", array("i2", [2, 3], little, core="core"), values),
    ]:
        good(f"array_{name}", File().zip({"w": made}), show((["w"], "i16", [2, 3], shown)))
    good("array_of_objects", File().zip({"w": array("O8", [1], [None])}), show(note_kinds=["skipped"]))
    sparse()


def sparse():
    layout = lambda name: call("torch.serialization._get_layout", f"torch.{name}")
    cells = [([0, 1], 1.5), ([2, 0], -2.0), ([2, 3], 3.0)]
    shown = {"key": ["w"], "state": None, "name": "w", "shape": [3, 4], "dims": common.dims(3, 4), "symmetries": [], "dtype": "f32"}
    shown |= {"storage": "sparse", "cells": [{"at": at, "data": [value]} for at, value in cells]}

    def coordinates(file):
        indices = file.tensor("i64", [2, 3], [0, 2, 2, 1, 0, 3])
        values = file.tensor("f32", [3], [1.5, -2.0, 3.0])
        return {"w": call("torch._utils._rebuild_sparse_tensor", layout("sparse_coo"), (indices, values, call("torch.Size", (3, 4)), True))}, show(shown)

    def rows(file, dtype="i64"):
        starts, columns = file.tensor(dtype, [4], [0, 1, 1, 3]), file.tensor(dtype, [3], [1, 0, 3])
        values = file.tensor("f32", [3], [1.5, -2.0, 3.0])
        return {"w": call("torch._utils._rebuild_sparse_tensor", layout("sparse_csr"), (starts, columns, values, call("torch.Size", (3, 4))))}, show(shown)

    def repeated(file, flags=(False,)):
        """Values that share a cell add up: the indices are not coalesced."""
        indices = file.tensor("i64", [2, 5], [2, 0, 2, 2, 2, 3, 1, 0, 3, 3])
        values = file.tensor("f32", [5], [1.0, 1.5, -2.0, 1.5, 0.5])
        parts = (indices, values, call("torch.Size", (3, 4)), *flags)
        return {"w": call("torch._utils._rebuild_sparse_tensor", layout("sparse_coo"), parts)}, show(shown, note_kinds=["summed"])

    both("sparse_coo", coordinates)
    both("sparse_coo_repeated", repeated)
    both("sparse_coo_unflagged", lambda file: repeated(file, ()))
    both("sparse_csr", rows)
    both("sparse_csr_i32", lambda file: rows(file, "i32"))
    file = File()
    root = rows(file)[0]
    root["w"] = root["w"]._replace(args=(layout("sparse_csc"), root["w"].args[1]))
    good("sparse_csc", file.zip(root), show(note_kinds=["skipped"]))


def classes():
    def beside(name, value, metadata=None, notes=1, tensors=(), skipped=0):
        file = File()
        root = {"w": file.tensor("u8", [1], [9]), "x": value(file) if callable(value) else value}
        kinds = ["ignored-field"] * notes + ["skipped"] * skipped
        good(f"class_{name}", file.zip(root), show((["w"], "u8", [1], [9]), *tensors, metadata=metadata, note_kinds=kinds))

    beside("call", call("os.system", "rm -rf /"))
    beside("inst", Raw(b"(X\x02\0\0\0lsios\nsystem\n"))
    beside("obj", Raw(b"(cos\nsystem\nX\x02\0\0\0lso"))
    beside("global", Global("mine", "Class"))
    beside("nothing", call("mine.Class", new=True))
    beside("attributes", call("mine.Class", new=True, state={"a": 1}), {"x": {"a": 1}})
    beside("slots", call("mine.Class", new=True, state=({"a": 1}, {"b": 2})), {"x": {"a": 1}})
    beside("dict", call("mine.Dict", new=True, pairs={"a": 1}), {"x": {"a": 1}})
    beside("list", call("mine.List", new=True, items=[1, 2]), {"x": [1, 2]})
    beside("reconstructor", call("copyreg._reconstructor", Global("mine", "Class"), Global("builtins", "object"), None, state={"a": 1}), {"x": {"a": 1}})
    beside("tensor", lambda file: call("mine.Class", new=True, state={"t": file.tensor("u8", [1], [8])}), tensors=[(["x", "t"], "u8", [1], [8])])
    beside("twice", [call("mine.Class", new=True), call("mine.Class", new=True)], {"x": []})
    beside("key", {(1, 2): "left out", "a": 1}, {"x": {"a": 1}})
    beside("loads_bytes", call("torch.storage._load_from_bytes", b"\x80\x02N."), notes=0, skipped=1)
    beside("quantised", lambda file: call("torch._utils._rebuild_qtensor", file.raw_storage(b"\1"), 0, (1,), (1,), (), False, ordered({})), notes=0, skipped=1)
    beside("quantised_storage", lambda file: file.of(quantised(file), [2]), notes=0, skipped=1)
    beside("type_unknown", lambda file: file.of(file.raw_storage(b"\1"), [1], dtype="int3"), notes=0, skipped=1)
    beside("meta_tensor", call("torch._utils._rebuild_meta_tensor_no_storage", Global("torch", "float32"), (2,), (1,), False), notes=0, skipped=1)

    def module(file):
        linear = call("torch.nn.modules.linear.Linear", new=True, state=attributes({"weight": file.tensor("u8", [2], [1, 2]), "bias": None}))
        return call("mine.Net", new=True, state=attributes({}, {"scale": file.tensor("u8", [1], [3])}, {"fc": linear}))

    shown = [(["x", "scale"], "u8", [1], [3]), (["x", "fc", "weight"], "u8", [2], [1, 2])]
    beside("module", module, notes=2, tensors=shown)


def attributes(parameters, buffers=None, modules=None):
    inside = {"_parameters": ordered(parameters), "_buffers": ordered(buffers or {}), "_modules": ordered(modules or {})}
    return {"training": True, "_backward_hooks": ordered({})} | inside


def quantised(file):
    key, count = file.keep(b"\1\2")
    return Kept(("storage", Global("torch", "QUInt8Storage"), key, "cpu", count))


def archives():
    values = some("f32", 4)
    shown = show((["w"], "f32", [4], values))

    def one(**more):
        file = File()
        return file.zip({"w": file.tensor("f32", [4], values)}, **more)

    good("folder_of_another_name", one(folder="résumé/"), shown)
    good("folder_in_a_folder", one(folder="a/b/"), shown)
    good("no_folder", one(folder=""), shown)
    good("wide", one(wide=True), shown)
    good("no_checksums", one(crc=False), shown)
    good("no_byte_order", one(byteorder=None), shown)
    good("deflated_storage", one(method=DEFLATED), shown)
    file = File()
    root = {"w": file.tensor("f32", [4], values)}
    archive = Archive()
    archive.member("archive/version", b"3\n").member("archive/data/0", file.storages[0][1])
    archive.member("archive/data.pkl", pickled(root), method=DEFLATED)
    archive.member("archive/byteorder", b"little", method=DEFLATED)
    good("deflated_pickle_at_the_end", archive.bytes(), shown)
    script = Archive().member("m/data/0", file.storages[0][1]).member("m/data.pkl", pickled(root)).member("m/code/m.py", b"pass")
    script.member("m/constants.pkl", pickled(()))
    code = len(script.data) + 46 + len("m/data/0") + 46 + len("m/data.pkl")
    good("with_code", script.bytes(), shown, gaps=[(code, None)])

    def plain(start=b""):
        return Archive(start).member("a/data.pkl", pickled(root)).member("a/data/0", file.storages[0][1])

    entries = 46 + len("a/data.pkl") + 46 + len("a/data/0")
    good("bytes_before", plain(b"#!/bin/sh\n").bytes(), shown, gaps=[(0, 10)])
    archive = plain()
    end = len(archive.data)
    archive.data += b"between"
    good("bytes_before_directory", archive.bytes(), shown, gaps=[(end, 7)])
    good("comment", plain().bytes(b"remark"), shown, gaps=[(end + entries + 22, 6)])
    archive = plain().member("a/data/1", b"1234")
    good("storage_of_no_tensor", archive.bytes(), shown, gaps=[(len(archive.data) + entries, None)])
    archive = plain().member("b/version", b"3")
    good("member_of_another_folder", archive.bytes(), shown, gaps=[(len(archive.data) + entries, None)])
    about = plain().member("a/.data/serialization_id", b"1" * 40).member("a/.format_version", b"1").member("a/version", b"3\n")
    good("members_about_it", about.member("a/.storage_alignment", b"64").bytes(), shown)


def legacy():
    values = some("f32", 6)
    file = File()
    storage = file.storage("f32", values, view=[("1", 2, 4)])
    root = {"w": file.of(storage, [3], first=1)}
    good("legacy_view", file.legacy(root), show((["w"], "f32", [3], values[3:])))
    file = File()
    root = {"a": file.tensor("f32", [6], values), "b": file.tensor("i16", [2], [1, 2])}
    file.storages.reverse()
    good("legacy_other_order", file.legacy(root), show((["a"], "f32", [6], values), (["b"], "i16", [2], [1, 2])))
    file = File()
    data = file.legacy({"w": file.tensor("f32", [6], values)})
    shown = show((["w"], "f32", [6], values)) | {"note_kinds": ["lenient"]}
    good("legacy_lenient_more", data + b"more", shown, lenient=True, strict_at=len(data))


    file = File()
    linear = Kept(("module", Global("torch.nn.modules.linear", "Linear"), "linear.py", "class Linear: ..."))
    root = Call(linear, (), attributes({"weight": file.tensor("u8", [2], [1, 2])}), new=True)
    good("legacy_module", file.legacy(root), show((["weight"], "u8", [2], [1, 2]), note_kinds=["ignored-field"]))


def pickles():
    """Other opcodes than PyTorch's own."""
    file = File()
    tensor = opcodes(file.tensor("u8", [1], [9]))
    text = lambda word: b"\x8c" + bytes([len(word)]) + word
    stack = tensor.replace(b"ctorch._utils\n_rebuild_tensor_v2\n", text(b"torch._utils") + text(b"_rebuild_tensor_v2") + b"\x93")
    shown = show((["w"], "u8", [1], [9]))
    cases = {
        "protocol_4": b"\x80\x04\x95" + struct.pack("<Q", 9) + b"}\x94(" + text(b"w") + b"\x94" + stack + b"u.",
        "popped": b"\x80\x02N0(NN1}(0(" + opcodes("w") + tensor + b"u.",
        "one_by_one": b"\x80\x02}" + opcodes("w") + tensor + b"s.",
        "python_2": b"\x80\x02}U\x01w" + tensor + b"s.",
        "long_memo": b"\x80\x02}r\xff\xff\xff\xff" + b"0j\xff\xff\xff\xff" + opcodes("w") + tensor + b"s.",
    }
    for name, data in cases.items():
        good(f"pickle_{name}", file.zip(data), shown)
    twice = b"\x80\x02}(" + opcodes("v") + tensor + b"2q\x07" + b"0" + opcodes("w") + b"h\x07u."
    pair = show((["v"], "u8", [1], [9]), (["w"], "u8", [1], [9]), note_kinds=["shared-bytes"])
    good("pickle_memo", file.zip(twice), pair)


if __name__ == "__main__":
    raise SystemExit(common.run(make))
