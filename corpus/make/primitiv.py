"""primitiv File Format v0.1: MessagePack objects one after the other, with no container around them.

    Shape     array<u32> dims, u32 batch
    Tensor    Shape, bin                        f32, little-endian, column-major, the batch slowest
    Parameter Tensor value, u32 N, N x (str name, Tensor)
    Model     u32 N, N x (array<str> key, Parameter)
    Optimizer map<str, u32>, map<str, f32>
    a file    u32 0, u32 1, u32 type, one of these

The examples that are refused are in `primitiv_bad.py`.
"""

import math

import common
import primitiv_bad
from marked import AT
from messagepack import array, binary, f32, mapping, string, u32
from primitiv_file import Tensor, configs, entry, file, lenient, model, optimizer, parameter, shape, tensor, whole

ONE = Tensor([], [1.0])
TWO = Tensor([2], [1.0, 2.0])
ADAM = [("Adam.m1", Tensor([2], [0.25, 0.5])), ("Adam.m2", Tensor([2], [0.0, -0.0]))]


def make():
    make_shapes()
    make_tensors()
    make_parameters()
    make_models()
    make_optimizers()
    make_other_forms()
    make_lenient_numbers()
    make_lenient_texts()
    make_lenient_repeats()
    primitiv_bad.make()


def make_shapes():
    def case(name, dims, batch=1, kept=None):
        shown = {"primitiv:dims": dims if kept is None else kept, "primitiv:batch": batch}
        file(name, "shape", shape(dims, batch), meta=shown, canonical=kept is None)

    case("shape_scalar", [])
    case("shape_3", [3])
    case("shape_batch", [2, 3], batch=4)
    case("shape_eight_dims", [1, 2, 3, 4, 5, 6, 7, 8])  # the most there can be
    case("shape_largest_dim", [2**32 - 1])
    case("shape_trailing_ones", [4, 1, 1], kept=[4])  # primitiv does not tell them from none
    case("shape_all_ones", [1, 1], kept=[])


def make_tensors():
    def case(name, *args, canonical=True):
        value = Tensor(*args)
        file(name, "tensor", tensor(value), [([], None, value)], canonical=canonical)

    case("tensor_scalar", [], [42.0])
    case("tensor_vector", [4], [0.0, -0.0, 1.5, -2.5])
    case("tensor_special", [5], [math.inf, -math.inf, math.nan, 2.0**-149, common.f32(0.1)])
    case("tensor_column_major", [2, 3], [11.0, 21.0, 12.0, 22.0, 13.0, 23.0])  # row and column of each
    case("tensor_3d", [2, 3, 2], [float(at) for at in range(12)])
    case("tensor_eight_dims", [1, 2, 1, 2, 1, 2, 1, 2], [float(at) for at in range(16)])
    case("tensor_leading_one", [1, 3], [1.0, 2.0, 3.0])  # only trailing ones are dropped
    case("tensor_trailing_one", [3, 1], [1.0, 2.0, 3.0], canonical=False)
    case("tensor_batch", [2, 2], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], 2)
    case("tensor_batch_scalar", [], [1.0, 2.0, 3.0], 3)
    case("tensor_batch_trailing_one", [2, 1], [1.0, 2.0, 3.0, 4.0], 2, canonical=False)
    # bin8 ends at 255 bytes, bin16 at 65535.
    case("tensor_bin8_most", [63], [float(at) for at in range(63)])
    case("tensor_bin16_least", [64], [float(at) for at in range(64)])
    case("tensor_bin32_least", [16384], [float(at % 10) for at in range(16384)])


def make_parameters():
    def case(name, value, stats=()):
        shown = [([], None, value)] + [([], state, stat) for state, stat in stats]
        file(name, "parameter", parameter(value, stats), shown, canonical=True)

    case("parameter_plain", Tensor([2, 2], [1.0, 2.0, 3.0, 4.0]))
    case("parameter_scalar", ONE)
    case("parameter_adam", TWO, ADAM)
    case("parameter_adam_other_order", TWO, ADAM[::-1])  # any order: it comes out of a hash table
    # Nothing ties the shape of a statistic to its owner's, nor its batch to 1.
    case("parameter_statistic_other_shape", TWO, [("count", Tensor([], [7.0]))])
    case("parameter_statistic_batch", TWO, [("history", Tensor([2], [1.0, 2.0, 3.0, 4.0], 2))])
    # fixstr ends at 31 bytes, str8 at 255.
    case("parameter_statistic_names", TWO, [("n" * 31, ONE), ("n" * 32, ONE), ("n" * 255, ONE), ("n" * 256, ONE)])
    case("parameter_statistic_unicode", TWO, [("Größe", ONE), ("数", ONE)])


def make_models():
    def case(name, *entries, canonical=True):
        shown = [line for key, value, stats in entries
                 for line in [(key, None, value)] + [(key, state, stat) for state, stat in stats]]
        file(name, "model", model(*(entry(*each) for each in entries)), shown, canonical=canonical)

    case("model_empty")
    case("model_one", (["w"], TWO, []))
    case("model_tree", (["b"], ONE, []), (["enc", "l0", "w"], TWO, []), (["enc", "w"], ONE, []))
    case("model_adam", (["enc", "w"], TWO, ADAM), (["out"], ONE, [("Adam.m1", ONE), ("Adam.m2", ONE)]))
    # Sorted by the list of segments: ["enc", "l0"] before ["enc.l0"], and "p10" before "p2".
    case("model_order", (["enc", "l0"], ONE, []), (["enc.l0"], ONE, []), (["p10"], ONE, []), (["p2"], ONE, []))
    case("model_unsorted", (["b"], ONE, []), (["a"], TWO, []), canonical=False)
    # A segment is any text, so the name a user reads needs escapes.
    odd = ["", "\0", "\n\x1b", "a b", "a.b", "a/b", "a@b", "a\\b", "日本"]
    case("model_odd_names", *((["m", segment], ONE, []) for segment in odd))
    case("model_empty_segments", (["", ""], ONE, []), (["", "a"], ONE, []))
    # A segment that merely begins like another is no conflict.
    case("model_prefix_is_no_conflict", (["a"], ONE, []), (["ab", "c"], ONE, []))
    # array16 begins at sixteen segments, str16 at 256 bytes.
    case("model_deep_key", ([str(at) for at in range(16)], ONE, []))
    case("model_long_name", (["n" * 300], ONE, []))
    case("model_tied", (["a", "w"], TWO, []), (["b", "w"], TWO, []))  # stored once a path, no tie is marked


def make_optimizers():
    def case(name, uints, floats, shown_floats=None, form=None, canonical=True):
        shown = configs(uints, shown_floats or floats)
        file(name, "optimizer", optimizer(uints, floats, form), meta=shown, canonical=canonical)

    common_floats = {"Optimizer.lr_scale": 1.0, "Optimizer.l2_strength": 0.0, "Optimizer.clip_threshold": 0.0}
    case("optimizer_empty", {}, {})
    case("optimizer_sgd", {"Optimizer.epoch": 3}, {**common_floats, "SGD.eta": 0.5})
    case("optimizer_adam", {"Optimizer.epoch": 4294967295},
         {**common_floats, "Adam.alpha": 0.001, "Adam.beta1": 0.9, "Adam.beta2": 0.999, "Adam.eps": 1e-8})
    # Programs may add keys of their own, of any name; the two maps are two name spaces.
    case("optimizer_own_keys", {"": 0, "größe": 128, "x": 1}, {"x": -1.5, "\0": 0.25})
    case("optimizer_special", {}, {"a": math.inf, "b": -math.inf, "c": math.nan, "d": -0.0},
         {"a": "Infinity", "b": "-Infinity", "c": "NaN", "d": -0.0})
    sixteen = {f"key{at:02}": at for at in range(16)}
    case("optimizer_map16", sixteen, {})  # fixmap ends at fifteen
    case("optimizer_map16_short", {"a": 1}, {"b": 0.5}, form="16", canonical=False)
    case("optimizer_map32_short", {"a": 1}, {"b": 0.5}, form="32", canonical=False)


def make_other_forms():
    """Heads that are longer than need be, which primitiv reads and never writes."""
    data = TWO.data()
    for form in ("16", "32"):
        body = shape([2]) + binary(data, form)
        file(f"tensor_bin{form}_short", "tensor", body, [([], None, TWO)], canonical=False)
        body = array([u32(2)], form) + u32(1) + binary(data)
        file(f"tensor_array{form}_short", "tensor", body, [([], None, TWO)], canonical=False)
        body = u32(1) + array([string("w")], form) + parameter(TWO)
        file(f"model_array{form}_short", "model", body, [(["w"], None, TWO)], canonical=False)
    for form in ("8", "16", "32"):
        body = u32(1) + array([string("w", form)]) + parameter(TWO)
        file(f"model_str{form}_short", "model", body, [(["w"], None, TWO)], canonical=False)


def make_lenient_numbers():
    """Numbers that mean the same to MessagePack. primitiv itself refuses them."""
    forms = {"fixint": b"\2", "u8": b"\xcc\2", "u16": b"\xcd\0\2", "u64": b"\xcf\0\0\0\0\0\0\0\2",
             "i8": b"\xd0\2", "i16": b"\xd1\0\2", "i32": b"\xd2\0\0\0\2", "i64": b"\xd3\0\0\0\0\0\0\0\2"}
    for form, two in forms.items():
        body = array([AT + two]) + u32(1) + binary(TWO.data())
        lenient(f"lenient_dim_{form}", "tensor", body, [([], None, TWO)])
    lenient("lenient_batch_fixint", "tensor", array([u32(2)]) + AT + b"\1" + binary(TWO.data()), [([], None, TWO)])
    lenient("lenient_statistics_fixint", "parameter", tensor(TWO) + AT + b"\0", [([], None, TWO)])
    lenient("lenient_entries_fixint", "model", AT + b"\1" + entry(["w"], TWO), [(["w"], None, TWO)])
    # What a MessagePack library writes when nobody asks it for u32.
    shown = [([], None, TWO)]
    whole("lenient_header_fixint", "parameter", AT + b"\0\1\xcd\2\0" + parameter(TWO), shown, lenient=True)

    epoch = mapping([(string("epoch"), AT + b"\xcf" + bytes(6) + b"\1\2")])
    lenient("lenient_config_u64", "optimizer", epoch + mapping([]), meta=configs({"epoch": 258}, {}))
    forms = {"f64": (b"\xcb\x3f\xe0" + bytes(6), 0.5), "int": (b"\2", 2.0), "negative": (b"\xfe", -2.0)}
    for form, (spelt, value) in forms.items():
        eta = mapping([(string("eta"), AT + spelt)])
        lenient(f"lenient_config_{form}", "optimizer", mapping([]) + eta, meta=configs({}, {"eta": value}))


def make_lenient_texts():
    shown = [(["w"], None, TWO), (["w"], "m", ONE)]
    stat = u32(1) + string("m") + tensor(ONE)
    lenient("lenient_key_bin", "model", u32(1) + array([AT + binary(b"w")]) + tensor(TWO) + stat, shown)
    stat = u32(1) + AT + binary(b"m") + tensor(ONE)
    lenient("lenient_statistic_bin", "model", u32(1) + array([string("w")]) + tensor(TWO) + stat, shown)
    data = string(TWO.data())
    lenient("lenient_data_fixstr", "tensor", shape([2]) + AT + data, [([], None, TWO)])
    lenient("lenient_data_str8", "tensor", shape([2]) + AT + string(TWO.data(), "8"), [([], None, TWO)])
    lenient("lenient_trailing", "parameter", parameter(TWO) + AT + b"\xc0\0", [([], None, TWO)])
    lenient("lenient_trailing_optimizer", "optimizer", optimizer({}, {}) + AT + b"\n", meta=configs({}, {}))


def make_lenient_repeats():
    """Names that repeat or bar each other: who wins is primitiv's own rule."""
    twice = u32(2) + string("m") + tensor(ONE) + AT + string("m") + tensor(TWO)
    lenient("lenient_statistic_twice", "parameter", tensor(TWO) + twice, [([], None, TWO), ([], "m", ONE)])
    body = u32(2) + entry(["w"], ONE) + AT + entry(["w"], TWO, ADAM)
    shown = [(["w"], None, TWO), (["w"], "Adam.m1", ADAM[0][1]), (["w"], "Adam.m2", ADAM[1][1])]
    lenient("lenient_key_twice", "model", body, shown)
    twice = [(string("a"), u32(1)), (AT + string("a"), u32(2))]
    lenient("lenient_uint_twice", "optimizer", mapping(twice) + mapping([]), meta=configs({"a": 1}, {}))
    twice = [(string("a"), f32(1.5)), (AT + string("a"), f32(2.5))]
    lenient("lenient_float_twice", "optimizer", mapping([]) + mapping(twice), meta=configs({}, {"a": 1.5}))
    # No model can hold these, so primitiv can never load them; their values are sound.
    lenient("lenient_key_empty", "model", u32(1) + AT + entry([], TWO), [([], None, TWO)])
    body = u32(2) + entry(["a"], ONE) + AT + entry(["a", "b"], TWO)
    lenient("lenient_key_conflict", "model", body, [(["a"], None, ONE), (["a", "b"], None, TWO)])
    body = u32(2) + entry(["a", "b", "c"], ONE) + AT + entry(["a"], TWO)
    lenient("lenient_key_conflict_above", "model", body, [(["a", "b", "c"], None, ONE), (["a"], None, TWO)])


if __name__ == "__main__":
    raise SystemExit(common.run(make))
