"""primitiv files that must be refused. `primitiv.py` holds those that a lenient read takes."""

from marked import AT
from messagepack import ARRAY, BINARY, MAP, STRING, array, binary, f32, head, mapping, string, u32
from primitiv_file import Tensor, entry, header, model, parameter, refuse, refuse_whole, shape, tensor

ONE = Tensor([], [1.0])
TWO = Tensor([2], [1.0, 2.0])
MOST = 2**32 - 1


def make():
    refuse_headers()
    refuse_shapes()
    refuse_data()
    refuse_parameters()
    refuse_models()
    refuse_optimizers()


def refuse_headers():
    def case(name, why, marked, **more):
        refuse_whole(name, why, "tensor", marked, **more)

    body = tensor(TWO)
    case("empty", "no major version", AT)
    case("cut_major", "three bytes of the major version", AT + u32(0)[:3])
    case("cut_before_minor", "no minor version", u32(0) + AT)
    case("cut_type", "four bytes of the type", u32(0) + u32(1) + AT + u32(0x100)[:4])
    case("cut_before_body", "a type and no body", header("tensor") + AT)
    case("version_1_1", "the version is 0.1", AT + u32(1) + u32(1) + u32(0x100) + body, kind="unsupported")
    case("version_0_2", "the version is 0.1", u32(0) + AT + u32(2) + u32(0x100) + body, kind="unsupported")
    case("type_unknown", "types end at 0x400", u32(0) + u32(1) + AT + u32(0x500) + body)
    case("type_between", "types are multiples of 0x100", u32(0) + u32(1) + AT + u32(0x101) + body)
    case("type_not_a_number", "the type is text", u32(0) + u32(1) + AT + string("tensor") + body)
    case("in_an_array", "nothing surrounds the objects", AT + array([u32(0), u32(1), u32(0x100), body]))
    case("type_of_another", "a tensor's body where a model's is due",
         u32(0) + u32(1) + u32(0x300) + AT + body)


def refuse_shapes():
    def case(name, why, body):
        refuse(name, why, "shape", body)

    def size(name, why, wrong):
        case(name, why, array([u32(2), AT + wrong]) + u32(1))

    case("dims_nine", "a shape has at most eight dims", AT + shape([2] * 9))
    case("dims_nine_ones", "a shape has at most eight dims, even of size one", AT + shape([1] * 9))
    case("dims_not_an_array", "dims is a map", AT + mapping([]) + u32(1))
    case("dims_nil", "dims is nil", AT + b"\xc0" + u32(1))
    case("dims_beyond_file", "dims claims 2^32-1 sizes", AT + head(ARRAY, MOST, "32") + u32(1))
    size("dim_0", "a dim is at least 1", u32(0))
    size("dim_negative", "a dim is at least 1", b"\xff")
    size("dim_negative_i8", "a dim is at least 1", b"\xd0\x80")
    size("dim_above_u32", "a dim is below 2^32", b"\xcf\0\0\0\1\0\0\0\0")
    size("dim_float", "a dim is an integer", f32(2.0))
    size("dim_nil", "a dim is an integer", b"\xc0")
    size("dim_bool", "a dim is an integer", b"\xc3")
    size("dim_reserved_byte", "c1 begins nothing in MessagePack", b"\xc1")
    case("batch_0", "a batch is at least 1", array([u32(2)]) + AT + u32(0))
    case("cut_before_dim", "the second size is missing", head(ARRAY, 2) + u32(2) + AT)
    case("cut_dim", "two bytes of a size", head(ARRAY, 1) + AT + b"\xce\0")
    case("cut_before_batch", "no batch", array([u32(2)]) + AT)


def refuse_data():
    def case(name, why, body):
        refuse(name, why, "tensor", body)

    case("data_too_short", "two cells are eight bytes", shape([2]) + AT + binary(bytes(4)))
    case("data_too_long", "two cells are eight bytes", shape([2]) + AT + binary(bytes(12)))
    case("data_not_whole_cells", "two cells are eight bytes", shape([2]) + AT + binary(bytes(7)))
    case("data_empty", "a scalar is four bytes", shape([]) + AT + binary(b""))
    case("data_lacks_batch", "a batch of two is twice as long", shape([2], 2) + AT + binary(bytes(8)))
    case("data_is_array", "data is an array", shape([2]) + AT + array([f32(1.0), f32(2.0)]))
    case("data_is_ext", "data is an ext8", shape([2]) + AT + b"\xc7\x08\x01" + bytes(8))
    case("data_nil", "data is nil", shape([2]) + AT + b"\xc0")
    case("cut_before_data", "no data", shape([2]) + AT)
    case("cut_data", "data of eight bytes has seven", shape([2]) + AT + binary(bytes(8))[:-1])
    case("cut_data_length", "half a bin16 length", shape([2]) + AT + b"\xc5\0")
    case("data_beyond_file", "data claims 4 GiB", shape([2**30 - 1]) + AT + head(BINARY, 2**32 - 4) + bytes(8))
    # primitiv counts cells in 32 bits without looking: 2147483649 x 2 comes to 2, and its data is taken.
    case("cells_wrap_to_2", "2^32 + 2 cells are more than 32 bits count", AT + shape([2**31 + 1, 2]) + binary(bytes(8)))
    case("cells_wrap_to_0", "2^32 cells are more than 32 bits count", AT + shape([65536, 65536]) + binary(b""))
    case("cells_wrap_64_bits", "2^256 cells are more than 64 bits count", AT + shape([MOST] * 8) + binary(bytes(4)))
    # Neither the dims nor the batch alone are too many.
    case("cells_wrap_by_batch", "2^32 cells are more than 32 bits count", shape([65536], 65536) + binary(b""))
    case("cells_beyond_bin", "2^30 cells are longer than any bin", shape([2**30]) + AT + binary(b""))


def refuse_parameters():
    def case(name, why, body):
        refuse(name, why, "parameter", body)

    batch = Tensor([2], [1.0, 2.0, 3.0, 4.0], 2)
    case("value_batch", "the batch of a parameter is 1", array([u32(2)]) + AT + u32(2) + binary(batch.data()) + u32(0))
    case("cut_before_statistics", "no number of statistics", tensor(TWO) + AT)
    case("cut_before_statistic", "the second statistic is missing",
         tensor(TWO) + u32(2) + string("m1") + tensor(TWO) + AT)
    case("cut_statistic_name", "a name of ten bytes has two", tensor(TWO) + u32(1) + AT + head(STRING, 10) + b"m1")
    case("cut_statistic_value", "a statistic without a value", tensor(TWO) + u32(1) + string("m1") + AT)
    case("statistics_beyond_file", "2^32-1 statistics are due, none is there", tensor(TWO) + u32(MOST))
    case("statistics_negative", "a count is not negative", tensor(TWO) + AT + b"\xff")
    case("statistic_name_number", "a name is text", tensor(TWO) + u32(1) + AT + u32(1) + tensor(TWO))
    case("statistic_name_not_utf8", "a name is UTF-8", tensor(TWO) + u32(1) + AT + string(b"m\xff") + tensor(TWO))
    case("statistic_name_beyond_file", "a name longer than the file",
         tensor(TWO) + u32(1) + AT + head(STRING, MOST, "32") + b"m" + tensor(TWO))
    case("statistic_dim_0", "a dim is at least 1",
         tensor(TWO) + u32(1) + string("m1") + array([AT + u32(0)]) + u32(1) + binary(b""))
    case("statistic_too_short", "two cells are eight bytes",
         tensor(TWO) + u32(1) + string("m1") + shape([2]) + AT + binary(bytes(4)))


def refuse_models():
    def case(name, why, body):
        refuse(name, why, "model", body)

    case("cut_before_entry", "the second parameter is missing", u32(2) + entry(["a"], ONE) + AT)
    # What primitiv leaves behind when it meets a parameter that has no value yet.
    case("aborted_save", "the second parameter has a key alone", u32(2) + entry(["a"], ONE) + array([string("b")]) + AT)
    case("cut_key", "a key of two segments has one", u32(1) + head(ARRAY, 2) + string("a") + AT)
    case("entries_beyond_file", "2^32-1 parameters are due, one is there", u32(MOST) + entry(["a"], ONE))
    case("key_not_an_array", "a key is an array", u32(1) + AT + string("a") + parameter(ONE))
    case("key_segment_number", "a segment is text", u32(1) + array([string("a"), AT + u32(1)]) + parameter(ONE))
    case("key_not_utf8", "a segment is UTF-8", u32(1) + array([AT + string(b"\xc3\x28")]) + parameter(ONE))
    case("key_beyond_file", "a key claims 2^32-1 segments",
         u32(1) + head(ARRAY, MOST, "32") + string("a") + parameter(ONE))
    case("model_value_batch", "the batch of a parameter is 1",
         u32(1) + array([string("a")]) + array([]) + AT + u32(2) + binary(bytes(8)) + u32(0))
    case("model_second_too_short", "one cell is four bytes",
         model(entry(["a"], ONE), array([string("b")]) + shape([]) + AT + binary(bytes(3)) + u32(0)))


def refuse_optimizers():
    def case(name, why, body):
        refuse(name, why, "optimizer", body)

    none = mapping([])
    case("configs_not_a_map", "configs are a map", AT + array([]) + none)
    case("cut_before_floats", "no float configs", none + AT)
    case("cut_before_config", "the second config is missing", head(MAP, 2) + string("a") + u32(1) + AT)
    case("cut_config", "a key without a value", head(MAP, 1) + string("a") + AT)
    case("cut_float", "three bytes of a float", none + head(MAP, 1) + string("a") + AT + f32(1.0)[:3])
    case("configs_beyond_file", "2^32-1 configs are due, one is there", head(MAP, MOST, "32") + string("a") + u32(1))
    case("config_key_number", "a key is text", mapping([(AT + u32(1), u32(1))]) + none)
    case("config_key_not_utf8", "a key is UTF-8", mapping([(AT + string(b"\x80"), u32(1))]) + none)
    case("config_uint_is_float", "an integer is due", mapping([(string("a"), AT + f32(1.0))]) + none)
    case("config_uint_negative", "an integer is not negative", mapping([(string("a"), AT + b"\xff")]) + none)
    case("config_uint_above_u32", "an integer is below 2^32",
         mapping([(string("a"), AT + b"\xcf\0\0\0\1\0\0\0\0")]) + none)
    case("config_float_is_text", "a float is due", none + mapping([(string("a"), AT + string("0.5"))]))
    case("config_float_nil", "a float is due", none + mapping([(string("a"), AT + b"\xc0")]))
